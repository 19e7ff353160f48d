"""Where linear steps and reductions get their matrices: of this process, or of all processes of a run."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from fem_mbs.errors import InputError
from fem_mbs.late import dataclass

__all__ = ["BACKENDS", "Backend", "backend_named"]


@dataclass(frozen=True)
class Backend:
    """What makes the matrices of a model at a state ("module:class", see `fem_mbs.analysis.linear.linearised`), and
    what shares its elements out, where all processes of the run take part ("module:function"; "": one process)."""

    name: str
    linearised: str
    shared_out: str = ""

    @property
    def distributed(self) -> bool:
        """Return whether all processes of the run take part."""
        return bool(self.shared_out)

    @property
    def make(self) -> Callable[..., Any]:
        return _named(self.linearised)

    @property
    def sharing(self) -> Callable[..., Any] | None:
        """Return the distribution of elements for `fem_mbs.model.model.Model.compile`."""
        return _named(self.shared_out) if self.shared_out else None


def _named(place: str) -> Callable[..., Any]:
    module, name = place.split(":")
    return getattr(import_module(module), name)


#: All backends by their names.
BACKENDS = {
    backend.name: backend
    for backend in (
        Backend("local", "fem_mbs.analysis.linear.linearised:Linearised"),
        Backend(
            "petsc",
            "fem_mbs.analysis.distributed.linearised:DistributedLinearised",
            "fem_mbs.analysis.distributed.share:shared_out",
        ),
    )
}


def backend_named(name: str) -> Backend:
    """Return a backend by its name.

    Raises:
        InputError: it is none, or its libraries are not installed.
    """
    if name not in BACKENDS:
        raise InputError(f'backend "{name}" must be one of {", ".join(BACKENDS)}')
    if BACKENDS[name].distributed:
        from fem_mbs.solvers.distributed.ranks import ranks

        ranks()  # tells what is not installed
    return BACKENDS[name]
