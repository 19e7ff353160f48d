"""The active loads and their levels, which static steps raise one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy

import numpy as np

from fem_mbs import contract as C
from fem_mbs.errors import ModelError
from fem_mbs.model.model import CompiledModel
from fem_mbs.system.tangent import Level

__all__ = ["Loading", "chosen", "reference_rates", "references", "without_rates"]


#: End of the names of controllers' references.
_REFERENCE = ".reference"


class Loading:
    """Factors of the time functions of a model, (n_fun,), and of its weight.

    A factor is 0 until a step applies a load, then 1, or the value at the end of a static step.  Motions follow their
    functions, factor 1, unless a step varies them.
    """

    def __init__(self, compiled: CompiledModel):
        self.compiled = compiled
        self.factors = np.where(np.asarray(compiled.loads, bool), 0.0, 1.0)
        self.reserved = _reserved(compiled)
        self.weight = 0.0

    def all_on(self, but: np.ndarray | None = None, weight: bool = False) -> None:
        """Set all loads to their full level, as in a transient; reserved loads stay off.

        In a static step with time, the loads ``but`` (n_fun,) bool that its load factor multiplies are excepted, and
        the weight if it is one of them.
        """
        self.factors[~self.reserved if but is None else ~self.reserved & ~but] = 1.0
        self.weight = self.weight if weight else 1.0

    def in_motion(self) -> Loading:
        """Return the loading of a model in motion, in which it turns itself in place of a centrifugal load; reserved
        loads are off."""
        out = copy(self)
        out.factors = np.where(self.reserved, 0.0, self.factors)
        frame = self.compiled.model.building.rotating
        if frame is not None:
            out.factors[frame.function] = 0.0
        return out

    def functions(self) -> list[Callable]:
        """Return the model's time functions times their present factors."""

        def scaled(i: int, f):
            return lambda t: self.factors[i] * f(t)

        return [scaled(i, f) for i, f in enumerate(self.compiled.functions)]

    def set(self, mask: np.ndarray, weight: bool, factor: float) -> None:
        """Set the factor of the loads of ``mask`` (n_fun,), and of the weight."""
        self.factors[mask] = factor
        if weight:
            self.weight = factor

    def level(self, values: np.ndarray) -> Level:
        """Return the level of loads with these values (n_fun,) of the time functions."""
        return Level(self.factors * values, self.weight * np.asarray(self.compiled.model.gravity, float))

    def gravity(self, ctl: np.ndarray) -> None:
        """Write the weight into the control values of a step."""
        g = self.compiled.model.gravity
        ctl[C.GX : C.GZ + 1] = 0.0
        ctl[C.GX : C.GX + len(g)] = self.weight * g


def _reserved(compiled: CompiledModel) -> np.ndarray:
    """Return functions (n_fun,) bool of loads that act only in steps that name them, `Model.reserved_loads`."""
    names = compiled.model.reserved_loads
    if not names:
        return np.zeros(len(compiled.loads), bool)
    return chosen(compiled, names, "Model", "reserved loads")[0]


def references(compiled: CompiledModel) -> dict[str, tuple[int, int]]:
    """Return the time functions of controllers' references and of their rates (-1: the controller uses no rate), by
    names "CONTROLLER.reference"."""
    found: dict[str, tuple[int, int]] = {}
    for block in compiled.system.blocks:
        if "reference" not in block.type.par:
            continue
        value, rate = (block.par[:, block.type.column(name)].astype(int) for name in ("reference", "reference rate"))
        found |= {label + _REFERENCE: (int(value[i]), int(rate[i])) for label, i, _ in block.groups if value[i] >= 0}
    return found


def without_rates(compiled: CompiledModel, values: np.ndarray) -> np.ndarray:
    """Return changes of functions (n_fun,) without those of references' rates, which follow from the references."""
    out = values.copy()
    out[[rate for _, rate in references(compiled).values() if rate >= 0]] = 0.0
    return out


def reference_rates(compiled: CompiledModel, rates: np.ndarray) -> np.ndarray:
    """Return the values (n_fun,) of the functions that are rates of references, where these have ``rates`` (n_fun,)."""
    out = np.zeros(len(compiled.loads))
    for value, rate in references(compiled).values():
        if rate >= 0:
            out[rate] = rates[value]
    return out


def chosen(
    compiled: CompiledModel, names: str | Iterable[str], owner: str, key: str, motions: bool = False,
    controlled: bool = False,
) -> tuple[np.ndarray, bool]:  # fmt: skip
    """Return time functions (n_fun,) bool that loads use, by names of loads or "all" (but reserved ones), and whether
    the weight is among them.

    ``motions``: names of motions and driven joints count too ("all" means loads only); ``controlled``: those of
    controllers' references, whose rates come along.

    Raises:
        ModelError: an unknown name, no load, or a load that shares its function with one that is not chosen.
    """
    loads = np.asarray(compiled.loads, bool)
    has_weight = bool(np.any(compiled.model.gravity))
    if isinstance(names, str) and names == "all":
        return loads & ~_reserved(compiled), has_weight
    names = [names] if isinstance(names, str) else list(names)
    heated = {*compiled.model.solid_groups, *compiled.model.shell_groups}  # their functions are those of temperatures
    users: dict[str, set[int]] = {}
    for block in compiled.system.blocks:
        if "function" not in block.type.par or (block.type.multipliers and not motions):
            continue
        column = block.type.column("function")
        for label, first, last in block.groups:
            found = block.par[first:last, column].astype(int)
            if (found >= 0).any() and label not in heated:
                users.setdefault(label, set()).update(found[found >= 0].tolist())
    for name, (index, _) in compiled.model.temperatures.items():
        users.setdefault(name, set()).add(index)
    if motions:
        driven = compiled.system.driven
        for label, index in zip(driven.names, driven.functions, strict=True):
            users.setdefault(label, set()).add(int(index))
    if controlled:
        for label, pair in references(compiled).items():
            users[label] = {i for i in pair if i >= 0}
    known = [*users, *(["gravity"] if has_weight and key != "target" else [])]  # which no event can switch
    picked: set[int] = set()
    for name in names:
        if name == "gravity" and has_weight:
            continue
        if name not in users:
            what = "load, motion, driven joint or equation" if motions else "load"
            if controlled and name.endswith(_REFERENCE):
                what = "position of a controller, which is its reference,"
            there = f"there {'is only' if len(known) == 1 else 'are'} {', '.join(known)}" if known else "there is none"
            raise ModelError(f'{key}: there is no {what} "{name}"', owner=owner, remedy=f"{there}")
        picked |= users[name]
    for label, functions in users.items():
        if label not in names and functions & picked:
            raise ModelError(
                f'{key}: "{label}" shares the function of a chosen load',
                owner=owner,
                remedy="give it a function of its own",
            )
    mask = np.zeros(loads.size, bool)
    mask[sorted(picked)] = True
    return mask, "gravity" in names
