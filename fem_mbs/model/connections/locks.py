"""Declarations of locks, latches and brakes on coordinates of joints, and of limits at which joints and supports
break."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import FLAG, FUNCTION, NAME, NUMBER, TEXT
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.actuators.coordinates import law_of_time
from fem_mbs.model.connections.joint_parts import drive, joint_coordinate
from fem_mbs.model.records import Breaking, LockData

__all__ = ["Lock", "breaking"]


@dataclass(frozen=True, eq=False)
class Lock(Declaration):
    """Locks, latches and brakes: coordinates of joints that are held, and released again.

    Hold a coordinate of a joint by a constraint that events close and open (actions "lock" and "release").

    Four laws exist. A plain lock closes where it is when an event says so. A latch (``value``, not ``locked``)
    closes by itself as the coordinate passes a value. A brake (``limit``) holds up to a force or moment; beyond it
    slips with dry friction, and holds again as soon as the motion stops; ``factor`` changes both in time. A pin
    (``breaks_at``) opens for good beyond a force or moment. Where a lock closes on a motion, velocities change as
    in a plastic blow with all joints; the loss is booked as dissipated. A brake that closes on a motion slips until
    it stops. Limits are looked at in transients; a static step whose equilibrium needs more ends in an error, and
    in all other analyses a closed lock holds whatever it takes.

    Args:
        value: coordinate since the start, which a lock that is ``locked`` has at the start (an assembly brings it
            there).
    """

    owner = "Lock"

    name: str = key(NAME, "in messages and results", shows='"lock 1", ...')
    joint: str = key(TEXT, "name of a joint")
    coordinate: str | None = key(
        TEXT,
        '"angle", "displacement"; of a universal joint "angle" (about its axis in a), "angle_b"',
        None,
        shows="the first",
    )
    locked: bool | None = key(FLAG, "at the start", None, shows="true; false with value")
    value: float | None = key(
        NUMBER, "coordinate since the start at which it holds; it closes as the coordinate passes this", None,
        shows="that where it closes", unit="rad or m",
    )  # fmt: skip
    ready: bool = key(
        FLAG, "an open lock with a value closes there; false: only after an event with the action lock", True
    )
    limit: float | None = key(
        NUMBER, "of a brake: the largest force or moment that it holds", None, shows="none", unit="N m or N"
    )
    slip: float | None = key(
        NUMBER, "of a brake: its force or moment while it slips, at most the limit", None, shows="limit",
        unit="N m or N",
    )  # fmt: skip
    factor: Any = key(
        FUNCTION, "of a brake: a function of time that multiplies limit and slip; negative values count as zero", None,
        shows="1", unit="-",
    )  # fmt: skip
    breaks_at: float | None = key(
        NUMBER, "force or moment beyond which it opens for good", None, shows="never", unit="N m or N"
    )

    def build(self, building: Building) -> None:
        owner = building.label("Lock", self.name)
        key_, c = joint_coordinate(building, self.joint, self.coordinate, owner)
        driver = building.joints[self.joint].driven.get(key_)
        if driver is not None:
            raise ModelError(
                f'the {key_} of "{self.joint}" follows "{driver}", so that nothing is left to lock', owner=owner,
                key="joint", value=self.joint, remedy="switch the function of the driver by an event instead",
            )  # fmt: skip
        taken = next((d for d in building.locks.values() if (d.joint, d.key) == (self.joint, key_)), None)
        if taken is not None:
            raise ModelError(
                f'"{taken.name}" locks the {key_} of "{self.joint}" already', owner=owner, key="joint",
                value=self.joint, remedy="keep one of them",
            )  # fmt: skip
        data = self._data(building, owner, key_, c)
        building.locks[self.name] = data
        drive(building, self.name, data.held, -1)
        kind = f"brake_{'angle' if c.angular else 'offset'}{building.dimension}"
        state = {"force": 0.0, "state": float(data.locked), "impulse": 0.0}
        state |= {"limit": data.limit or 0.0, "factor": float(data.factor)}
        building.add_block(self.name, kind, [c.nodes], **state, **c.columns)

    def _data(self, building: Building, owner: Owner, key_: str, c: Any) -> LockData:
        """Return the checked data of the lock.

        Raises:
            ModelError: keys that do not belong together, a limit that is not greater than zero.
        """
        limits = {
            word: None if value is None else building.number(value, owner, word, 0.0, strict=word != "slip")
            for word, value in (("limit", self.limit), ("slip", self.slip), ("breaks_at", self.breaks_at))
        }
        limit, slip, breaks_at = limits.values()
        value = None if self.value is None else building.number(self.value, owner, "value")
        if slip is not None and limit is None:
            raise ModelError("slip belongs to a brake", owner=owner, key="slip", value=slip, remedy="add limit")
        if limit is not None and slip is not None and slip > limit:
            raise ModelError(
                f"slip = {slip:g} is more than the limit {limit:g}, at which it would not slip", owner=owner,
                key="slip", value=slip, remedy="take at most the limit",
            )  # fmt: skip
        if limit is not None and value is not None:
            raise ModelError(
                "a brake holds where it stops, at no value", owner=owner, key="value", value=value,
                remedy="remove value or limit",
            )  # fmt: skip
        if limit is not None and breaks_at is not None:
            raise ModelError(
                "a brake slips at its limit, and breaks at no other", owner=owner, key="breaks_at", value=breaks_at,
                remedy="remove breaks_at or limit",
            )  # fmt: skip
        if self.factor is not None and limit is None:
            raise ModelError(
                "factor belongs to a brake", owner=owner, key="factor", value=self.factor, remedy="add limit"
            )
        factor = -1
        if self.factor is not None:
            factor = building.function_index(law_of_time(building, self.factor, owner), owner, load=False)
        locked = value is None if self.locked is None else self.locked
        if not self.ready and (locked or value is None):
            raise ModelError(
                "ready belongs to an open lock with a value", owner=owner, key="ready", value=self.ready,
                remedy="remove it",
            )  # fmt: skip
        return LockData(
            self.name, self.joint, key_, c, locked, value, self.ready and value is not None,
            limit, limit if slip is None else slip, breaks_at, factor,
        )  # fmt: skip


def breaking(
    building: Building, owner: Owner, force: Any, moment: Any, kind: str, pairs: Iterable[tuple[int, int]] = ()
) -> Breaking:
    """Return the checked limits of a joint or support that breaks.

    Raises:
        ModelError: a force or moment that is not greater than zero.
    """

    def limit(value: Any, word: str) -> float | None:
        return None if value is None else building.number(value, owner, word, 0.0, strict=True)

    at = limit(force, "breaks_at"), limit(moment, "breaks_at_moment")
    return Breaking(owner.name, kind, *at, tuple(pairs))
