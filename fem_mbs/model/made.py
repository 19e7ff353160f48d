"""Calls of a model that are made from declarations: one of each table of the registry, of steps, sensors and grids.

Editors and type checkers read their arguments in `made.pyi`, which `python -m fem_mbs.model.stubs` writes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from fem_mbs.declarations.declaration import Declaration, choose, kept_copy
from fem_mbs.declarations.docstrings import with_arguments
from fem_mbs.declarations.steps import StepKind, on_registration, step_kind
from fem_mbs.errors import Owner
from fem_mbs.model.calls import LateCall, adds
from fem_mbs.model.connections.actuators.user_forces import UserForce
from fem_mbs.model.connections.equations import EquationRows
from fem_mbs.model.geometry import PlacedMesh
from fem_mbs.model.parts.grids import GRIDS
from fem_mbs.model.records import Step
from fem_mbs.model.registry import TABLES
from fem_mbs.model.sensors.kinds import on_sensor, sensor_docstring, sensor_kind, sensor_kinds

__all__ = ["CHOOSING", "DECLARED", "MadeCalls"]

#: Names of the calls that add one declaration each, which their arguments make.
DECLARED: Mapping[str, type[Declaration]] = {
    **{table.method: table.declaration for table in TABLES if table.kinds is None},
    "equations": EquationRows,
    "user_force": UserForce,
}


class MadeCalls:
    """Calls that add things to a model, with the arguments that their declarations have.

    The calls of steps add these in the order in which they run: arguments that a step needs come first, then its name;
    all others need their keyword.
    """

    if TYPE_CHECKING:
        steps: list[Step]

        def add(self, declaration: Any, said: Declaration | None = None) -> None: ...


def _set(name: str, make: Callable[[], Callable[..., None]]) -> None:
    """Make the function that ``make`` returns a method of the models, when it is first asked for."""
    call = LateCall(make)
    call.__set_name__(MadeCalls, name)
    setattr(MadeCalls, name, call)


def _step_call(kind: StepKind) -> Callable[..., None]:
    def call(self: Any, *given: Any, **options: Any) -> None:
        name, found = kind.arguments(given, options)
        owner = Owner("Step", name)
        kept = kind.prepare(self, found, owner)
        kind.Options.read(kept, owner)  # refuses wrong values here, where they are given
        self.steps.append(Step(kind.name, name, kept_copy(kept)))

    call.__doc__ = kind.docstring()
    call.__signature__ = kind.signature()  # type: ignore[attr-defined]
    return call


#: Calls whose other keywords depend on a word: name -> (argument with the word, what the words choose among).
CHOOSING: Mapping[str, tuple[str, Callable[[], Mapping[str, type[Declaration]]]]] = {
    "sensor": ("kind", sensor_kinds),
    "grid": ("shape", lambda: GRIDS),
}


def _sensor_call() -> Callable[..., None]:
    def call(self: Any, name: str, kind: str, **options: Any) -> None:
        self.add(sensor_kind(kind, Owner("Sensor", name)).call((name,), options))

    return _described(call, "sensor", sensor_docstring())


def _grid_call() -> Callable[..., None]:
    def call(self: Any, name: str, shape: str, **options: Any) -> None:
        source = choose(GRIDS, shape, Owner("Mesh", name))
        given: dict[str, Any] = {shape: source.call((), options)}
        self.add(PlacedMesh(name, **given))

    return _described(call, "grid", _grid_docstring())


def _described(call: Callable[..., None], name: str, docstring: str) -> Callable[..., None]:
    """Give a call that chooses a declaration one signature with the keywords of all of them, and a docstring."""
    word, kinds = CHOOSING[name]
    ordinary, only = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    found = {
        n: inspect.Parameter(n, ordinary, annotation=t)
        for n, t in (("self", inspect.Parameter.empty), ("name", "str"), (word, "str"))
    }
    for declaration in kinds().values():
        for key, said in declaration.keys().items():
            if key not in found:
                default = None if said.required else said.default
                found[key] = inspect.Parameter(key, only, default=default)
    call.__signature__ = inspect.Signature(list(found.values()), return_annotation=None)  # type: ignore[attr-defined]
    call.__doc__ = docstring
    return call


def _grid_docstring() -> str:
    lines = [
        "Add a structured mesh of plane or solid cells, called by its `name`, of a `shape`.",
        "",
        "Shapes and their keys:",
    ]
    for name, source in GRIDS.items():
        text = with_arguments(source.__doc__, source.keys()).splitlines()
        lines += [f"    {name}: {text[0]}", *(f"    {line}".rstrip() for line in text[1:] if line and line != "Args:")]
    return "\n".join(lines)


for _name, _declaration in DECLARED.items():
    _set(_name, partial(adds, _declaration))
on_registration(lambda name: _set(f"{name}_step", lambda: _step_call(step_kind(name))))
on_sensor(lambda: _set("sensor", _sensor_call))
_set("grid", _grid_call)
