"""Conditions that a transient watches for: quantities that pass a value, at the end of steps or in the middle of them.

A quantity of the end of a step (`Watched`) passes its value within the step, and parts of the step are tried until the
part is known to round-off.  A force belongs to the middle of its step (`WatchedForce`): between the middles of two
steps it is taken as linear, so that a ramp is met exactly, any other course with an error of the order h^2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from fem_mbs.late import dataclass

__all__ = ["Watched", "WatchedForce"]

#: ``read(record, ledger)`` -> how far (n,) a quantity is beyond its value in rows of the record.
Read = Callable[[np.ndarray, np.ndarray], np.ndarray]

_SAME = 1e-12  # a quantity that starts so near to the value does not pass it at the start
_ROUND_OFF = 4.0 * 2.0**-52
_SHORT = 1e-4  # part of a step that is not worth a step of its own: its force would be round-off


def _always() -> bool:
    return True


@dataclass(eq=False)
class Watched:
    """A quantity of the end of steps.

    Attributes:
        read: how far it is beyond the value.
        direction: in which it passes: "rising", "falling" or "both".
        fire: what happens then; it is called by whoever watches.
        size: of the value, with which round-off is compared.
        active: whether it is watched now.
        side: on which it is: 1, -1, 0 where it is not known yet; value: how far it was at the end of the last row.
    """

    read: Read
    direction: str
    fire: Callable[..., None]
    size: float = 1.0
    active: Callable[[], bool] = field(default=_always)
    side: int = 0
    value: float = 0.0

    def begin(self, record: np.ndarray, ledger: np.ndarray) -> None:
        """Read it in the first row."""
        value = float(self.read(record, ledger)[0])
        near = not abs(value) > _SAME * max(1.0, abs(self.size))
        self.value, self.side = value, 0 if near else (1 if value > 0.0 else -1)

    def reset(self) -> None:
        """Prepare for what follows an event."""

    def passes(self, values: np.ndarray) -> int:
        """Return the first row in which the value is passed in the wanted direction, or -1."""
        sides = np.concatenate(([self.side], np.where(values >= 0.0, 1, -1)))
        if sides[0] == 0:
            sides[0] = sides[1]
        up, down = (sides[1:] > sides[:-1]), (sides[1:] < sides[:-1])
        hit = {"rising": up, "falling": down, "both": up | down}[self.direction]
        return int(hit.argmax()) if hit.any() else -1

    def part(self, value: float, at: Callable[[float], float]) -> float:
        """Return at which part of a step it passes, just beyond it (Brent 1973).

        Args:
            value: of the whole step; ``at(part)`` returns that of a part of it.
        """
        from scipy.optimize import brentq

        if self.value == 0.0:
            return 0.0
        ends = {0.0: self.value, 1.0: value}
        root = brentq(lambda x: ends[x] if x in ends else at(x), 0.0, 1.0, xtol=1e-15, rtol=_ROUND_OFF)
        # to the far side of it, which the quantity has reached
        beyond = (root + k * 1e-15 for k in (0, 1, 4, 16, 100, 1e4, 1e8))
        return next((x for x in beyond if 0.0 < x < 1.0 and self.passes(np.array([at(x)])) == 0), 1.0)

    def stand(self, values: np.ndarray) -> None:
        """Store where it is after these rows."""
        if values.size:
            self.value = float(values[-1])
            self.side = 1 if self.value >= 0.0 else -1

    def story(self) -> list[Any]:
        """Return the data for a restart point."""
        return [self.side, self.value]

    def go_on(self, story: list[Any]) -> None:
        """Continue from a restart point."""
        self.side, self.value = int(story[0]), float(story[1])


@dataclass(eq=False)
class WatchedForce(Watched):
    """A force that exceeds its value; ``two_state``: it belongs to the middle of steps, else to their ends.

    ``before`` is how far it was beyond the value in the last row; None: the row is the first after a change.
    """

    two_state: bool = True
    before: float | None = None

    def begin(self, record: np.ndarray, ledger: np.ndarray) -> None:
        self.before = None

    def reset(self) -> None:
        self.before = None

    def passes(self, values: np.ndarray) -> int:
        ends = values.copy()
        if self.two_state:
            first = values[:1] if self.before is None else [self.before]
            ends += 0.5 * np.diff(values, prepend=first)
        hit = ends >= 0.0
        return int(hit.argmax()) if hit.any() else -1

    def part(self, value: float, at: Callable[[float], float]) -> float:
        if self.before is not None:
            slope = value - self.before
            start = 0.5 * (value + self.before) if self.two_state else self.before
        elif self.two_state:
            slope = 4.0 * (value - at(0.5))
            start = value - 0.5 * slope
        else:
            return 0.0
        part = -start / slope if slope > 0.0 else 0.0
        return 0.0 if part < _SHORT else 1.0 if part > 1.0 - _SHORT else part

    def stand(self, values: np.ndarray) -> None:
        if values.size:
            self.before = float(values[-1])

    def story(self) -> list[Any]:
        return [self.before]

    def go_on(self, story: list[Any]) -> None:
        self.before = None if story[0] is None else float(story[0])
