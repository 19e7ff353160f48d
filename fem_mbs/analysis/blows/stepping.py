"""Time steps with unilateral contacts: blows where a gap closes, release, slip and stick between them.

A step in which nothing happens is made as ever.  Else the step is made in legs, which end where

    a gap closes          the velocities jump (`fem_mbs.analysis.blows.rounds`)
    N passes zero         the contact opens
    T passes mu_s N       it slips, against the friction that has held it
    the slip passes zero  it sticks

(`fem_mbs.analysis.blows.zeros`), and its row looks like that of one step, so the grid of times, restart points and
events of sensors stay.  Forces belong to the middle of a leg; that N is zero there is its zero in the limit of short
steps, to second order.  The direction of sliding friction is that of the mean slip of the leg, found by repetition.

Blows on one place that follow each other in geometric sequence with the ratio e last e/(1 - e) of the last interval
more.  Where this is less than a thousandth of a step, or the contact separates by less than 1e-9 of the model's length
per step, the blow is made without restitution, and the contact stays closed.

Theory: docs/theory.md, section 3, "Impacts".
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.blows.contacts import Contacts
from fem_mbs.analysis.blows.impulses import Reach
from fem_mbs.analysis.blows.log import BlowLog
from fem_mbs.analysis.blows.rounds import Outcome, hold, resolve
from fem_mbs.analysis.blows.zeros import zero
from fem_mbs.analysis.transient.chunk import Chunk, joined
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.elements.contact import impact
from fem_mbs.errors import AnalysisError
from fem_mbs.late import dataclass
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.units import unit_of

__all__ = ["BlowStepping"]

_WINDOW = 16  # steps that are made at once where nothing happens
_TOUCHES = 1e-9  # gap over the model's length
_SLOW = 1e-9  # speed over the model's length per step
_REST = 1e-3  # of a step, in which the rest of a sequence of blows is not followed
_MOST = 1000  # blows in a step
_LEGS = 300  # changes of status in a step that are followed
_SHORT = 1e-12  # of a step: no leg
_FIRST = 0.02  # of a leg: forces of shorter ones are round-off
_FLIGHTS = (1e-4, 1e-6, 1e-8)  # of a leg: shorter flights than the last are none
_PRECISE = 1e-14  # of a step (of a leg): error of the instant at which something happens
_REPEATS = 15  # of a leg for the direction of its slip
_TURNS = 0.05  # slip across its direction, over the mean slip, up to which slip that ends sticks
_CHUNK = 256  # rows that are handed over together


@dataclass
class _Violation:
    """A condition that a leg violates: its contact, and the change of this: it closes, opens, slips or sticks."""

    contact: int
    kind: str


class BlowStepping(Stepping):
    """`Stepping` of a model with unilateral contacts; see the module."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.contacts = Contacts(self.compiled)
        # every step factors anew, so that results do not depend on which steps were tried together
        self.counter[S.RESTART_EVERY] = 1
        self.touch = _TOUCHES * self.compiled.length
        self.slow = _SLOW * self.compiled.length / self.h
        self.log = BlowLog(self.contacts)
        self.told: dict[str, str] = {}
        self._driven = self.compiled.has_drivers()
        self._looked = b""  # statuses at which the rank of the constraints was found

    # --- the start -------------------------------------------------------------------------------------------------
    def _scaled(self, fun: np.ndarray) -> np.ndarray | None:
        contacts, everything = self.contacts, self.contacts.all()
        contacts.set(impact.STATUS, everything, impact.STICKING)  # constraints are scaled as if all acted
        diagonal = super()._scaled(fun)
        contacts.set(impact.STATUS, everything, impact.OPEN)
        self._close_at_rest()
        return diagonal

    def _close_at_rest(self) -> None:
        """Close the contacts that touch and neither approach nor separate."""
        contacts = self.contacts
        touching = np.flatnonzero(contacts.get(impact.GAP) <= self.touch)
        if not touching.size:
            return
        reach = self._reach(touching, self.t0)
        rests = np.abs(reach.speeds[:, 0]) <= self.slow
        self._set_statuses(reach, rests)
        self._hold(reach)

    def _reach(self, which: np.ndarray, t: float) -> Reach:
        now = np.array([t])
        return Reach.at(self.contacts, self.state, self.evaluate(now, now, now)[0], which)

    # --- steps -----------------------------------------------------------------------------------------------------
    def run(self, n_steps: int, on_chunk: Callable[[Chunk], None]) -> None:
        end, window = self.step + n_steps, _WINDOW
        rows: list[Chunk] = []
        while self.step < end:
            n = min(window, end - self.step)
            if self.restart_every:
                n = min(n, self.restart_every - self.step % self.restart_every)
            before = self._kept()
            self.contacts.set(impact.FLAG, self.contacts.all(), 0.0)
            _done, chunk, problem = self._chunk(n)
            if problem or self.contacts.get(impact.FLAG).any():
                self._return(before)
                if n > 1:
                    window = max(1, n // 2)
                    continue
                chunk = self._careful()
            else:
                window = min(2 * window, _WINDOW)
            rows.append(chunk)
            due = bool(self.restart_every) and self.step % self.restart_every == 0
            if due or self.step == end or sum(len(c.time) for c in rows) >= _CHUNK:
                on_chunk(joined(rows))
                rows = []

    def partial(self, part: float) -> Chunk:
        return self._legs(part, bool(self.frame_every))

    def _careful(self) -> Chunk:
        """Make one step with what happens in it."""
        due = bool(self.frame_every) and (self.step + 1) % self.frame_every == 0
        chunk = self._legs(1.0, due)
        self.step += 1
        return replace(chunk, frame_time=chunk.time[-1:] if due else chunk.frame_time[:0])

    def _legs(self, length: float, frame: bool) -> Chunk:
        """Make the part of the next step up to ``length`` in legs; return its one row."""
        done: list[tuple[float, Chunk]] = []
        at, idle, legs, before = 0.0, 0, 0, self.log.count
        while at < length - _SHORT:
            if self.log.count - before > _MOST:
                raise AnalysisError(
                    f"more than {_MOST} blows in the step at t = {self.time(self.step):.6g} {unit_of('s')} (h = "
                    f"{self.h:.3g} {unit_of('s')}): "
                    "blows without loss follow each other ever faster; take a smaller h, a restitution below 1, or "
                    "give least_speed"
                )
            legs += 1
            changes = legs - (self.log.count - before)
            patient = idle > 2 * int(self._closed().sum()) + 4 or changes > _LEGS
            if patient:
                self._say(
                    "undecided",
                    f"which contacts slide, stick or part at t = {self.time(self.step + at):.6g} {unit_of('s')} could "
                    "not be decided; they stay as they are until the end of the step",
                )
            chunk, part = self._leg(at, length - at, frame, patient)
            idle = 0 if part > 0.0 else idle + 1
            if chunk is not None:
                done.append((part, chunk))
                at += part
        return self._merged(done)

    def _merged(self, legs: list[tuple[float, Chunk]]) -> Chunk:
        """Return the rows of legs, with their lengths, as one row."""
        last = legs[-1][1]
        if len(legs) == 1:
            return last
        shares = np.array([part for part, _ in legs])
        record = last.record.copy()
        means = np.array([chunk.record[-1] for _, chunk in legs])
        record[:, self.middle_values] = (shares @ means[:, self.middle_values]) / shares.sum()
        iterations = np.array([chunk.iterations for _, chunk in legs], np.int32).sum(axis=0, dtype=np.int32)
        iterations = np.asarray(iterations)
        return replace(last, record=record, iterations=iterations)

    # --- one leg ---------------------------------------------------------------------------------------------------
    def _leg(self, at: float, length: float, frame: bool, patient: bool) -> tuple[Chunk | None, float]:
        """Make a leg from ``at`` to the first thing that happens, ``length`` further at most, and let this happen.

        Return its row, None if it has no length, and its length over that of a step.  ``patient``: forces change no
        status.
        """
        start = self._kept()
        gaps = self.contacts.get(impact.GAP)

        last: list[tuple[float, Chunk]] = []

        def attempt(part: float) -> Chunk:
            if not last or last[0][0] != part:  # else the state is that of its end
                self._return(start)
                last[:] = [(part, self._turned_leg(at, part, frame))]
            return last[0][1]

        chunk = attempt(length)
        violated = self._violated(patient)
        if not violated:
            return chunk, length
        part, happens = length, violated[0]
        for i, one in enumerate(violated):
            if i and part > 0.0:
                chunk = attempt(part)
                if not self._is_violated(one):
                    continue
            if part > 0.0:
                part, happens = self._find(one, part, attempt, float(gaps[one.contact])), one
        if part > _SHORT:
            chunk = attempt(part)
            self._happen(happens, at + part, True, self.contacts.get(impact.MEAN, 3)[happens.contact])
            return chunk, part
        if happens.kind == "slips":  # against the friction at the start
            attempt(_FIRST * length)
        mean = self.contacts.get(impact.MEAN, 3)[happens.contact]
        self._return(start)
        self._happen(happens, at, False, mean)
        return None, 0.0

    def _turned_leg(self, at: float, part: float, frame: bool) -> Chunk:
        """Make a leg with friction along the mean slip, by repetition."""
        contacts = self.contacts
        start = self._kept()
        for _ in range(_REPEATS):
            chunk = self.leg(at, part, frame)
            sliding = np.flatnonzero((contacts.get(impact.STATUS) == impact.SLIDING) & contacts.rough)
            if not sliding.size:
                return chunk
            slip, mean = contacts.get(impact.SLIP, 3)[sliding], contacts.get(impact.MEAN, 3)[sliding]
            moving = contacts.get(impact.SPEED)[sliding] > self.slow
            # a slip that has turned round has passed zero
            turned = moving & (np.abs(mean - slip).max(axis=1) > impact.TURNED) & (np.sum(mean * slip, axis=1) > 0.0)
            if not turned.any():
                return chunk
            self._return(start)
            contacts.set(impact.SLIP, sliding[turned], mean[turned])
            start = self._kept()
        return self.leg(at, part, frame)

    def _violated(self, patient: bool) -> list[_Violation]:
        """Return the conditions that the last leg violates."""
        contacts = self.contacts
        status, gap = contacts.get(impact.STATUS), contacts.get(impact.GAP)
        found = [
            _Violation(int(i), "closes") for i in np.flatnonzero((status == impact.OPEN) & (gap < -self._least_gap))
        ]
        if patient:
            return found
        N, T, end = contacts.get(impact.NORMAL), contacts.get(impact.FRICTION), contacts.get(impact.END)
        least = 1e-9 * max(float(np.abs(N).max(initial=0.0)), float(T.max(initial=0.0)))
        found += [_Violation(int(i), "opens") for i in np.flatnonzero((status != impact.OPEN) & (-least > N))]
        slips = (status == impact.STICKING) & (contacts.static * np.maximum(N, 0.0) * (1.0 + 1e-9) + least < T)
        found += [_Violation(int(i), "slips") for i in np.flatnonzero(slips & (-least <= N))]
        sticks = (status == impact.SLIDING) & contacts.rough & (end < -self.slow) & (-least <= N)
        return found + [_Violation(int(i), "sticks") for i in np.flatnonzero(sticks)]

    @property
    def _least_gap(self) -> float:
        return 1e-12 * self.compiled.length

    def _is_violated(self, one: _Violation) -> bool:
        return self._value(one) < (-self._least_gap if one.kind == "closes" else 0.0)

    def _value(self, one: _Violation) -> float:
        """Return the value that passes zero where a condition begins to be violated."""
        contacts, i = self.contacts, one.contact
        if one.kind == "closes":
            return float(contacts.get(impact.GAP)[i])
        if one.kind == "opens":
            return float(contacts.get(impact.NORMAL)[i])
        if one.kind == "slips":
            return float(contacts.static[i] * contacts.get(impact.NORMAL)[i] - contacts.get(impact.FRICTION)[i])
        return float(contacts.get(impact.END)[i])

    def _find(self, one: _Violation, part: float, attempt: Callable[[float], Chunk], gap: float) -> float:
        """Return the length of the leg at whose end a condition begins to be violated, 0 for its start."""

        def value(x: float) -> float:
            attempt(x)
            return self._value(one)

        end = value(part)
        if one.kind == "closes" and gap > self.touch:
            return zero(value, 0.0, gap, part, end, _PRECISE)
        # a flight may be much shorter than the leg, and without loss each of them counts
        lossless = one.kind == "closes" and self.contacts.e[one.contact] == 1.0
        lows = _FLIGHTS if lossless else _FLIGHTS[:1] if one.kind in ("closes", "sticks") else (_FIRST,)
        for low in (part * x for x in lows):
            start = value(low)
            if start > 0.0:
                break
        else:
            return 0.0
        precise = _PRECISE if one.kind in ("closes", "sticks") else 1e-6
        return zero(value, low, start, part, end, precise * part)

    # --- what happens ----------------------------------------------------------------------------------------------
    def _happen(self, one: _Violation, at: float, flight: bool, mean: np.ndarray) -> None:
        """Let a contact change its status at ``at`` of the step.

        Args:
            flight: the leg before has some length.
            mean: direction (3,) of slip of a contact that no longer sticks.
        """
        contacts, which = self.contacts, np.array([one.contact])
        t = float(self.time(self.step + at))
        self.state.past[:] = 0.0
        if one.kind == "closes":
            self._strike(one.contact, t, flight)
        elif one.kind == "opens":
            contacts.set(impact.STATUS, which, impact.OPEN)
            self.log.released(one.contact, t)
        elif one.kind == "slips":
            contacts.set(impact.SLIP, which, mean[None])
            contacts.set(impact.STATUS, which, impact.SLIDING)
        else:
            self._stick(one.contact, t, flight)
        acting = self.contacts.get(impact.STATUS).tobytes()
        if acting != self._looked and self.redundancy.diagonal is not None:  # others may depend on each other now
            self._looked = acting
            now = np.array([t])
            fun = self.evaluate(now, now, now)[0]
            self.redundancy.look(self.ctl, fun, self.state, f"at t = {t:.6g} {unit_of('s')}")

    def _stick(self, contact: int, t: float, flight: bool) -> None:
        """Let a contact whose slip has ended stick, or slip on in another direction if there is much left of it.

        ``flight``: the leg before has some length; else the slip ends at once.
        """
        speed = float(self.contacts.get(impact.SPEED)[contact])
        closed = np.flatnonzero(self._closed())
        reach = self._reach(closed, t)
        k = int(np.flatnonzero(closed == contact)[0])
        if flight and np.linalg.norm(reach.speeds[k, 1:]) > max(_TURNS * speed, self.slow):
            self._slide(reach, k)
            return
        self.contacts.set(impact.STATUS, np.array([contact]), impact.STICKING)
        self._hold(reach)

    def _strike(self, contact: int, t: float, flight: bool) -> None:
        """Make the blows at the instant at which a contact closes.

        Raises:
            AnalysisError: friction lets a blow never end.
        """
        contacts = self.contacts
        was = self._closed()
        touching = was | (contacts.get(impact.GAP) <= self.touch)
        touching[contact] = True
        which = np.flatnonzero(touching)
        reach = self._reach(which, t)
        before = reach.speeds.copy()
        dies = self._dying(which, t)
        stays = (which == contact) & (before[:, 0] >= -self.slow) & (not flight)  # it does not get off
        dies |= stays
        least = np.where(dies, np.inf, np.maximum(contacts.least[which], self.slow))
        try:
            out = resolve(reach.A, before, [contacts.blows[i] for i in which], least)
        except ValueError as error:
            name, a, b = contacts.place(contact)
            raise AnalysisError(
                f'Impact "{name}" of "{b}" on "{a}" at t = {t:.6g} {unit_of("s")}: {error}; take a smaller '
                "coefficient, or "
                'law = "poisson"'
            ) from None
        self._apply(reach, out.impulse)
        struck = out.impulse[:, 0] > 0.0
        closed = (reach.speeds[:, 0] <= self.slow) & (struck | was[which] | (which == contact))
        closed |= stays & ~struck
        self.log.add(reach, out, before, closed, t)
        self._set_statuses(reach, closed)
        self._hold(reach)
        self._tell(reach, out, t)

    def _dying(self, which: np.ndarray, t: float) -> np.ndarray:
        """Return which blows of contacts ``which`` (k,) are the last ones of their sequence."""
        e = self.contacts.e[which]
        since = np.minimum(t - self.log.last[which], 1e300)
        return np.asarray(since * e < _REST * self.h * (1.0 - e))

    def _tell(self, reach: Reach, out: Outcome, t: float) -> None:
        """Warn of blows that gain energy, and of those that did not end."""
        gained = -float(out.loss.sum())
        if gained > 1e-9 * float(np.abs(out.impulse * reach.speeds).sum()):
            name, a, b = self.contacts.place(int(reach.which[np.argmax(out.impulse[:, 0])]))
            self._say(
                f"gain {name}",
                f'impact "{name}" of "{b}" on "{a}" gains {gained:.4g} {unit_of("J")} at t = {t:.6g} {unit_of("s")}: '
                "friction reverses slip, or "
                'restitutions differ at one instant; with friction take law = "poisson"',
            )
        if out.cut:
            self._say(
                "cut",
                f"the blows at t = {t:.6g} {unit_of('s')} did not end; the last ones were made without restitution",
            )

    # --- statuses and velocities -----------------------------------------------------------------------------------
    def _closed(self) -> np.ndarray:
        return self.contacts.get(impact.STATUS) != impact.OPEN

    def _set_statuses(self, reach: Reach, closed: np.ndarray) -> None:
        """Close contacts (k,) bool, sliding or sticking as their speeds tell, and open the others."""
        contacts, which = self.contacts, reach.which
        contacts.set(impact.STATUS, which, impact.OPEN)
        for k in np.flatnonzero(closed):
            if contacts.rough[which[k]] and np.linalg.norm(reach.speeds[k, 1:]) > self.slow:
                self._slide(reach, int(k))
            else:
                rough = bool(contacts.rough[which[k]])
                contacts.set(impact.STATUS, which[k : k + 1], impact.STICKING if rough else impact.SLIDING)
        self.log.opened(which[~closed])

    def _slide(self, reach: Reach, k: int) -> None:
        """Give the contact in place ``k`` the direction of its slip."""
        direction = reach.speeds[k, 1:] @ reach.rows.frame[k, 1:]
        direction = reach.rows.axes[k] @ direction / np.linalg.norm(direction)
        which = reach.which[k : k + 1]
        self.contacts.set(impact.SLIP, which, np.pad(direction, (0, 3 - direction.size))[None])
        self.contacts.set(impact.STATUS, which, impact.SLIDING)

    def _hold(self, reach: Reach) -> None:
        """Take what is left of velocities that the closed contacts do not have; its energy counts as dissipated."""
        status = self.contacts.get(impact.STATUS)[reach.which]
        rows = np.zeros(reach.speeds.shape, bool)
        rows[:, 0] = status != impact.OPEN
        rows[:, 1:] = (status == impact.STICKING)[:, None]
        for _ in range(2):
            p = hold(reach.A, reach.speeds.ravel(), rows.ravel()).reshape(rows.shape)
            self._apply(reach, p)

    def _apply(self, reach: Reach, p: np.ndarray) -> None:
        """Change velocities by impulses (k, dim), and book what they lose."""
        if not p.any():
            return
        after = reach.speeds + (reach.A @ p.ravel()).reshape(p.shape)
        loss = -0.5 * float(np.sum(p * (reach.speeds + after)))
        # velocities of a step satisfy the joints, and match the rates of directors, only to second order in h: so book
        # the change of the kinetic energy of the state, and not the work of the impulses
        change = -float(self.energies(reach.fun)[C.KINETIC])
        reach.strike(p)
        change += float(self.energies(reach.fun)[C.KINETIC])
        self.works[0] += loss if self._driven else -change
        if self._driven:
            self.works[2] += change + loss
        reach.speeds[:] = after

    # --- going back, restart ---------------------------------------------------------------------------------------
    def _kept(self) -> tuple[Any, ...]:
        """Return a snapshot from which `_return` restores the present state."""
        return self._copies(), self.works.copy(), self.step, self.counter.copy(), self.log.mark()

    def _return(self, kept: tuple[Any, ...]) -> None:
        copies, works, self.step, counter, mark = kept
        self._back(copies)
        self.works = works.copy()
        for k in (S.HISTORY, S.SLOW):
            self.counter[k] = counter[k]
        self.counter[S.PHASE], self.counter[S.REFACTOR] = 0, 1
        self.log.back(mark)

    def _say(self, about: str, text: str) -> None:
        self.told.setdefault(about, text)

    @property
    def warnings(self) -> list[str]:
        return [*super().warnings, *self.told.values()]

    def follow(self, other: Stepping) -> None:
        super().follow(other)
        assert isinstance(other, BlowStepping)
        self.log.restore(other.log.snapshot())
        self.told = other.told

    def snapshot(self) -> dict[str, np.ndarray]:
        told = np.frombuffer(json.dumps(self.told).encode(), np.uint8)
        return {**super().snapshot(), **self.log.snapshot(), "told": told}

    def restore(self, data: dict[str, np.ndarray]) -> None:
        super().restore(data)
        self.log.restore(data)
        self.told = json.loads(np.asarray(data["told"], np.uint8).tobytes())

    def entries(self) -> dict[str, Any]:
        """Return the entries of the summary that only these steps have."""
        return {"impacts": self.log.impacts(), "blows": self.log.blows()}
