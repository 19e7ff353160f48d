"""The calls of the builder that add steps: one ``NAME_step`` for every kind that is registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fem_mbs.declarations.steps import StepKind, on_registration
from fem_mbs.errors import Owner
from fem_mbs.model.records import Step

__all__ = ["StepCalls"]


class StepCalls:
    """Calls that add steps, in the order in which they run.

    Arguments that a step needs come first, then its name; all others need their keyword.  `help` of a call shows its
    options.
    """

    steps: list[Step]

    if TYPE_CHECKING:  # the calls are made below, from the registry

        def __getattr__(self, name: str) -> Callable[..., None]: ...


def _add_call(kind: StepKind) -> None:
    def call(self: Any, *given: Any, **options: Any) -> None:
        name, found = kind.arguments(given, options)
        owner = Owner("Step", name)
        kept = kind.prepare(self, found, owner)
        kind.Options.read(kept, owner)  # refuses wrong values here, where they are given
        self.steps.append(Step(kind.name, name, kept))

    call.__name__ = f"{kind.name}_step"
    call.__qualname__ = f"{StepCalls.__qualname__}.{call.__name__}"
    call.__doc__ = kind.docstring()
    call.__signature__ = kind.signature()  # type: ignore[attr-defined]
    setattr(StepCalls, call.__name__, call)


on_registration(_add_call)
