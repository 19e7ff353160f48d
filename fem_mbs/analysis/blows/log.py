"""Record of the blows of a run: the list of the summary, and its place in snapshots."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.analysis.blows.contacts import Contacts
from fem_mbs.analysis.blows.impulses import Reach
from fem_mbs.analysis.blows.laws import FRICTIONLESS, REVERSE, SLIP, STICK
from fem_mbs.analysis.blows.rounds import Outcome
from fem_mbs.elements.contact import impact
from fem_mbs.results.report import BlowReport, ImpactReport

__all__ = ["BlowLog"]

_MODES = (FRICTIONLESS, STICK, SLIP, REVERSE)
# columns of the table of blows
_TIME, _CONTACT, _MODE, _NORMAL, _TANGENTIAL, _APPROACH, _SEPARATION, _LOSS, _RESTS = range(9)


class BlowLog:
    """Blows in the order of time, what joints carry in them, the times of the last blows and of rest of the contacts.

    Attributes:
        last: times (k,) of the last blow or release of each contact [s], -inf: none.
        rests: since when each contact stays closed after its blows [s], NaN: not so.
    """

    def __init__(self, contacts: Contacts):
        self.contacts = contacts
        self.last = np.full(contacts.count, -np.inf)
        self.rests = np.full(contacts.count, np.nan)
        self._blows: list[list[float]] = []
        self._carried: list[list[float]] = []  # blow, joint, impulse
        self._joints = contacts.joint_names()

    @property
    def count(self) -> int:
        return len(self._blows)

    def add(self, reach: Reach, out: Outcome, before: np.ndarray, rests: np.ndarray, t: float) -> None:
        """Keep the blows of an instant, and add their impulses to the outputs of the elements.

        Args:
            before: speeds (k, dim) before.
            rests: (k,) bool, contacts that stay closed.
        """
        contacts = self.contacts
        carried = reach.carried(out.impulse)
        for k in np.flatnonzero(out.impulse[:, 0] > 0.0):
            i = int(reach.which[k])
            pushed = float(np.linalg.norm(out.impulse[k, 1:]))
            for name, value in carried.items():
                self._carried.append([float(self.count), float(self._joints.index(name)), value])
            self._blows.append(
                [t, i, _MODES.index(out.modes[k]), out.impulse[k, 0], pushed, before[k, 0], reach.speeds[k, 0],
                 out.loss[k], float(rests[k])]
            )  # fmt: skip
            one = np.array([i])
            contacts.set(impact.IMPULSE, one, contacts.get(impact.IMPULSE)[i] + out.impulse[k, 0])
            contacts.set(impact.RUBBED, one, contacts.get(impact.RUBBED)[i] + pushed)
            self.last[i] = t
            if rests[k]:
                self.rests[i] = t

    def released(self, contact: int, t: float) -> None:
        self.last[contact], self.rests[contact] = t, np.nan

    def opened(self, which: np.ndarray) -> None:
        self.rests[which] = np.nan

    # --- snapshots -------------------------------------------------------------------------------------------------
    def mark(self) -> tuple[Any, ...]:
        """Return a mark to which `back` returns."""
        return self.last.copy(), self.rests.copy(), len(self._blows), len(self._carried)

    def back(self, mark: tuple[Any, ...]) -> None:
        self.last, self.rests = mark[0].copy(), mark[1].copy()
        del self._blows[mark[2] :], self._carried[mark[3] :]

    def snapshot(self) -> dict[str, np.ndarray]:
        return {
            "blows": np.array(self._blows).reshape(-1, 9), "blows carried": np.array(self._carried).reshape(-1, 3),
            "last blows": self.last.copy(), "rests": self.rests.copy(),
        }  # fmt: skip

    def restore(self, data: dict[str, Any]) -> None:
        self._blows, self._carried = np.asarray(data["blows"]).tolist(), np.asarray(data["blows carried"]).tolist()
        self.last, self.rests = np.array(data["last blows"]), np.array(data["rests"])

    # --- reports ---------------------------------------------------------------------------------------------------
    def blows(self) -> list[BlowReport]:
        """Return all blows for the summary."""
        carried: dict[int, dict[str, float]] = {}
        for blow, joint, value in self._carried:
            carried.setdefault(int(blow), {})[self._joints[int(joint)]] = value
        found = []
        for number, row in enumerate(self._blows):
            name, a, b = self.contacts.place(int(row[_CONTACT]))
            found.append(
                BlowReport(
                    time=row[_TIME], impact=name, surface=a, ball=b, mode=_MODES[int(row[_MODE])],
                    normal_impulse=row[_NORMAL], friction_impulse=row[_TANGENTIAL], approach=-row[_APPROACH],
                    separation=row[_SEPARATION], loss=row[_LOSS], rests=bool(row[_RESTS]),
                    joint_impulses=carried.get(number),
                )
            )  # fmt: skip
        return found

    def impacts(self) -> list[ImpactReport]:
        """Return the sums over the pairs that have met."""
        rows = np.array(self._blows).reshape(-1, 9)
        closed = self.contacts.get(impact.STATUS) != impact.OPEN
        found = []
        for i in np.union1d(np.flatnonzero(closed), rows[:, _CONTACT].astype(int)):
            own = rows[rows[:, _CONTACT] == i]
            name, a, b = self.contacts.place(int(i))
            rests = float(self.rests[i])
            found.append(
                ImpactReport(
                    impact=name, surface=a, ball=b, blows=len(own), normal_impulse=float(own[:, _NORMAL].sum()),
                    friction_impulse=float(own[:, _TANGENTIAL].sum()), loss=float(own[:, _LOSS].sum()),
                    closed=bool(closed[i]), rests_from=rests if np.isfinite(rests) else None,
                )
            )  # fmt: skip
        return found
