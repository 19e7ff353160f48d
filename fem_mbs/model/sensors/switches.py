"""Constraints of a compiled model that can be switched during a run: locks, and joints and supports that break."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.records import Breaking, LockData
from fem_mbs.model.sensors.locks import LockState
from fem_mbs.model.sensors.reactions import Reaction
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest
from fem_mbs.solvers.stepping.layout import REC_REACTION
from fem_mbs.system.compile import multipliers_of_name

__all__ = ["Magnitude", "Reading", "Switch", "kept_joints", "make_switches", "open_locks"]


@dataclass(frozen=True)
class Magnitude:
    """The length of a vector whose components are sums of recorded values, ``groups`` of columns of the record."""

    groups: tuple[tuple[int, ...], ...]
    mid_step: bool = True

    def evaluate(self, record: np.ndarray, ledger: np.ndarray) -> np.ndarray:
        """Return the length (n, 1) in rows of the record (n, k)."""
        parts = [record[:, list(group)].sum(axis=1) for group in self.groups]
        return np.sqrt(sum(part * part for part in parts))[:, None]


@dataclass(frozen=True)
class Reading:
    """A sensor beside those of the model, read from rows of the record."""

    sensor: Sensor

    @property
    def mid_step(self) -> bool:
        return self.sensor.mid_step

    def evaluate(self, record: np.ndarray, ledger: np.ndarray) -> np.ndarray:
        """Return the columns (n, m) of the sensor in rows of the record (n, k)."""
        return self.sensor.evaluate(record[:, self.sensor.first : self.sensor.last], ledger)


@dataclass
class Switch:
    """A lock, or a joint or support that can break.

    Attributes:
        said: what the model says of it.
        multipliers: dofs (k,) of its constraints, held: dofs (k,) of the nodes that only it holds.
        watches: what is watched, by what it measures.
    """

    said: LockData | Breaking
    multipliers: np.ndarray
    held: np.ndarray
    watches: dict[str, Magnitude | Reading] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.said.name


def open_locks(building: Any) -> list[str]:
    """Return the names of locks that are open at the start."""
    return [lock.name for lock in building.locks.values() if not lock.locked]


def kept_joints(building: Any) -> set[str]:
    """Return the names of locks and joints that must keep their multipliers."""
    return {*building.locks, *building.breakings}


def make_switches(building: Any, compiled: Any, first: int) -> tuple[list[Switch], list[tuple[int, int]], list[bool]]:
    """Return the switches of a compiled model, the records that they watch from column ``first`` on, and whether these
    belong to the end of a step."""
    system = compiled.system
    record: list[tuple[int, int]] = []
    at_end: list[bool] = []

    def bound(said: SensorRequest) -> Sensor:
        """Return a sensor of the compiled model, after its records are taken."""
        made, own = type(said).sensor(building, said).bound(compiled, first + len(record))
        record.extend(own)
        at_end.extend([not made.mid_step] * len(own))
        return made

    none = np.empty(0, np.int64)
    found: list[Switch] = []
    for lock in building.locks.values():
        wanted = {"coordinate": lock.value is not None, "speed": lock.limit is not None}
        wanted["force"] = lock.limit is not None or lock.breaks_at is not None
        wanted["limit"] = lock.limit is not None
        watches = {w: Reading(bound(LockState(lock.name, on=lock.name, quantity=w))) for w in wanted if wanted[w]}
        found.append(Switch(lock, multipliers_of_name(system.blocks, lock.name), none, dict(watches)))
    for said in building.breakings.values():
        held, multipliers, components = none, none, list[tuple[str, tuple[int, ...]]]()
        if said.kind == "support":
            held, own, components = _support(building, system, said, first + len(record))
            record.extend(own)
            at_end.extend([False] * len(own))
        else:
            multipliers = multipliers_of_name(system.blocks, said.name)
            if said.force is not None or said.moment is not None:
                made: Any = bound(Reaction(said.name, on=said.name))
                words = [column.removeprefix(f"{said.name}.") for column in made.columns]
                components = [
                    (word, tuple(range(made.first + a, made.first + b)))
                    for word, (a, b) in zip(words, made.groups, strict=True)
                ]
        lengths = {
            what: _length(said, what, components)
            for what, limit in (("force", said.force), ("moment", said.moment)) if limit is not None
        }  # fmt: skip
        found.append(Switch(said, multipliers, held, dict(lengths)))
    return found, record, at_end


def _length(said: Breaking, what: str, components: list[tuple[str, tuple[int, ...]]]) -> Magnitude:
    """Return the length of the force or moment of a joint or support, of its components and their columns.

    Raises:
        ModelError: it has none.
    """
    groups = tuple(columns for word, columns in components if word.partition(" ")[0] == what and columns)
    if not groups:
        key = "breaks_at" if what == "force" else "breaks_at_moment"
        raise ModelError(
            f"it has no {what} that could break it", owner=Owner(said.kind.capitalize(), said.name), key=key,
            remedy=f"remove {key}",
        )  # fmt: skip
    return Magnitude(groups)


def _support(
    building: Any, system: Any, said: Breaking, first: int
) -> tuple[np.ndarray, list[tuple[int, int]], list[tuple[str, tuple[int, ...]]]]:
    """Return the dofs that only this support holds, records of the reactions of all that it holds, and their columns
    from ``first`` on by the component to which they belong.

    Raises:
        ModelError: it moves with a base excitation.
    """
    dim = building.dimension
    holds = Counter((i, abs(k)) for i, k in building.fixed)
    pairs = sorted({(i, abs(k)) for i, k in said.pairs if abs(k) < dim or system.nodes.rotational[i]})
    dofs = {pair: int(system.offset[pair[0]] + pair[1]) for pair in pairs}
    alone = np.array([dof for pair, dof in dofs.items() if holds[pair] == 1], np.int64)
    shaken = np.setdiff1d(alone, system.fixed)
    if shaken.size:
        raise ModelError(
            f"{system.name_of(int(shaken[0]))} follows a base excitation, and does not break",
            owner=Owner("Support", said.name), remedy="hold it by a joint that breaks instead",
        )  # fmt: skip
    groups: dict[int, list[int]] = {}
    for column, (_, k) in enumerate(pairs):
        groups.setdefault(k, []).append(first + column)
    components = [(f"{'force' if k < dim else 'moment'} {k}", tuple(columns)) for k, columns in groups.items()]
    return alone, [(REC_REACTION, dof) for dof in dofs.values()], components
