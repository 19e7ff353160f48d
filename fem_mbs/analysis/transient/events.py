"""Events: a sensor passes a value within a step of a transient; the step ends there, or loads and drivers change.

The rows of a chunk of steps are checked after it is made.  Where a sensor has passed, the state before that step is
restored, and steps of a part of h are tried until the part is known to round-off (Brent 1973).  So an event lies at the
end of a step, and the changes start there.  Loads change forces only, which leaves positions and velocities as they
are. Another law of a driver may need other velocities; a mass-weighted projection sets them at once, as an impact
would, and its energy counts as the driver's work.

Theory: docs/theory.md, section 3, "Events".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from fem_mbs.analysis.loading import chosen
from fem_mbs.analysis.start.initial import consistent_velocities, start_rule
from fem_mbs.analysis.transient.chunk import Chunk, joined
from fem_mbs.analysis.transient.rules import RULES
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.kinds import make_function
from fem_mbs.model.checks import find_column
from fem_mbs.model.model import CompiledModel
from fem_mbs.model.records import Event
from fem_mbs.results.report import EventReport, StartReport
from fem_mbs.solvers.stepping import layout as S

__all__ = ["Events", "run_events"]

_SAME = 1e-12  # a sensor that starts so near to the value does not pass it at the start
_EARLY = 1e-10  # part of a step below which an event lies at its start
_ROUND_OFF = 4.0 * 2.0**-52


@dataclass
class _Watched:
    """An event with the columns of its sensor in the records, what it changes, and the side on which the sensor is."""

    event: Event
    sensor: Any
    column: int
    mask: np.ndarray
    side: int = 0
    value: float = 0.0

    def values(self, record: np.ndarray, ledger: np.ndarray) -> np.ndarray:
        """Return how far (n,) the sensor is beyond the value."""
        rows = self.sensor.evaluate(record[:, self.sensor.first : self.sensor.last], ledger)
        return np.asarray(rows, float)[:, self.column] - self.event.value

    def passes(self, values: np.ndarray) -> int:
        """Return the first row in which the value is passed in the wanted direction, or -1."""
        sides = np.concatenate(([self.side], np.where(values >= 0.0, 1, -1)))
        if sides[0] == 0:
            sides[0] = sides[1]
        up, down = (sides[1:] > sides[:-1]), (sides[1:] < sides[:-1])
        hit = {"rising": up, "falling": down, "both": up | down}[self.event.direction]
        return int(hit.argmax()) if hit.any() else -1

    def stand(self, values: np.ndarray) -> None:
        """Store the side on which the sensor is after these rows."""
        if values.size:
            self.value = float(values[-1])
            self.side = 1 if self.value >= 0.0 else -1


class Events:
    """The state of a model's events during a run: active loads, laws of drivers, and what has happened.

    Raises:
        ModelError: a sensor of several columns, a name that is no load or driver, a driver that is to be turned off.
    """

    def __init__(self, compiled: CompiledModel):
        self.compiled = compiled
        self.acting = np.ones(len(compiled.functions), bool)
        self.happened: list[EventReport] = []
        self.watched: list[_Watched] = []
        loads = np.asarray(compiled.loads, bool)
        sensors = compiled.sensors
        for event in compiled.model.events:
            owner = Owner("Event", event.name)
            name, column = find_column(event.sensor, [s.header for s in sensors], owner)
            i = next(i for i, s in enumerate(sensors) if s.name == name)
            mask = np.zeros(loads.size, bool)
            if event.action != "stop":
                mask, weight = chosen(compiled, event.target, owner, "target", motions=event.action == "switch")
                if weight:
                    raise ModelError("target: gravity cannot be switched", owner=owner, remedy="name loads")
            if event.action == "on":
                self.acting &= ~mask
            self.watched.append(_Watched(event, sensors[i], column, mask))

    def start(self, record: np.ndarray, ledger: np.ndarray) -> None:
        """Read the sensors in the first row; mid-step sensors have no value there."""
        kinds = self.compiled.system.system.record[:, 0]
        for w in self.watched:
            value = float(w.values(record, ledger)[0])
            inside = np.isin(kinds[w.sensor.first : w.sensor.last], (S.REC_OUT, S.REC_REACTION)).any()
            near = not abs(value) > _SAME * max(1.0, abs(w.event.value))
            w.value, w.side = value, 0 if inside or near else (1 if value > 0.0 else -1)

    def functions(self, given: list[Callable]) -> list[Callable]:
        """Return the time functions, zero for inactive loads."""
        return [f if acts else np.zeros_like for f, acts in zip(given, self.acting, strict=True)]

    def laws(self) -> CompiledModel:
        """Return the compiled model with inactive functions set to zero."""
        silent = make_function(0.0)
        laws = [f if acts else silent for f, acts in zip(self.compiled.functions, self.acting, strict=True)]
        return replace(self.compiled, functions=laws)

    def first(self, chunk: Chunk) -> int:
        """Return the first row of a chunk in which an event happens, or -1."""
        rows = [w.passes(w.values(chunk.record, chunk.ledger)) for w in self.watched]
        rows = [row for row in rows if row >= 0]
        return min(rows) if rows else -1

    def stand(self, chunk: Chunk) -> None:
        for w in self.watched:
            w.stand(w.values(chunk.record, chunk.ledger))

    def fire(self, hits: list[_Watched], t: float) -> tuple[bool, np.ndarray]:
        """Execute events; return whether the step ends, and the drivers' functions (n_fun,) bool that have changed."""
        stop = False
        moved = np.zeros(len(self.acting), bool)
        loads = np.asarray(self.compiled.loads, bool)
        for w in hits:
            event = w.event
            self.happened.append(EventReport(name=event.name, time=t, action=event.action))
            stop |= event.action == "stop"
            if event.action in ("on", "off"):
                self.acting[w.mask] = event.action == "on"
            elif event.action == "switch":
                self.acting[w.mask] = True
                for i in np.flatnonzero(w.mask):
                    self.compiled.functions[i] = self._law(event, int(i), bool(loads[i]), t)
                moved |= w.mask & ~loads
        return stop, moved

    def _law(self, event: Event, index: int, load: bool, t: float):
        """Return the event's function of the time since the event; for drivers it adds to their present value."""
        delayed = {"kind": "scaled", "function": event.function, "delay": t}
        if load:
            return make_function(delayed, name=event.name)
        here = float(self.compiled.functions[index](np.float64(t))) - float(event.function(np.float64(0.0)))
        constant = {"kind": "constant", "value": here}
        return make_function({"kind": "sum", "functions": [delayed, constant]}, name=event.name)


def run_events(
    events: Events,
    stepping: Stepping,
    t_end: float,
    on_chunk: Callable[[Chunk], None],
    anew: Callable[[float, float], Stepping],
    most: Callable[[], int],
) -> tuple[Stepping, float]:
    """Make steps to ``t_end`` or to an event that stops them; return the last stepping and the time reached.

    Args:
        anew: ``anew(t0, h)`` makes the stepping after an event, not yet begun.
        most: ``most()`` returns the largest number of steps after which the state must be that of the last
            row handed over.
    """
    h, remaining = stepping.h, round((t_end - stepping.t0) / stepping.h)
    while remaining > 0:
        chunks: list[Chunk] = []
        token = stepping.snapshot()
        n = stepping.chunk_length(0.0, remaining) * 16
        stepping.run(min(n, remaining, most()), chunks.append)
        whole = joined(chunks)
        row = events.first(whole)
        if row < 0:
            events.stand(whole)
            for chunk in chunks:
                on_chunk(chunk)
            remaining -= len(whole.time)
            continue
        stepping.restore(token)
        if row > 0:
            before: list[Chunk] = []
            stepping.run(row, before.append)
            for chunk in before:
                events.stand(chunk)
                on_chunk(chunk)
            remaining -= row
        part, hits, chunk = _locate(events, stepping)
        if not hits:  # round-off decided otherwise this time
            events.stand(chunk)
            on_chunk(chunk)
            stepping.step += 1
            remaining -= 1
            continue
        t = float(stepping.time(stepping.step + part))
        events.stand(chunk)
        if part > _EARLY:
            on_chunk(chunk)
        stop, moved = events.fire(hits, t)
        left = t_end - t
        if stop or left <= 1e-9 * h:
            return stepping, t
        remaining = max(1, int(np.ceil(left / h - 1e-9)))
        stepping = _go_on(events, stepping, anew(t, left / remaining), moved)
    return stepping, t_end


def _entries(stepping: Stepping, mask: np.ndarray) -> list[int]:
    """Return the places in `State.work` of the elements that follow the functions of ``mask`` (n_fun,): joints, then
    motions."""
    found = []
    for block in stepping.compiled.blocks:
        if block.type.multipliers and "function" in block.type.par:
            index = block.par[:, block.type.column("function")].astype(int)
            rows = np.flatnonzero((index >= 0) & mask[index])
            found += (block.first_element + rows).tolist()
    elements = stepping.state.energy.size
    return found + (elements + np.flatnonzero(mask[stepping.compiled.driven.functions])).tolist()


def _locate(events: Events, stepping: Stepping) -> tuple[float, list[_Watched], Chunk]:
    """Return the part of the next step at whose end the first event happens, the events there, and that part's rows.

    The state is that of this end, just beyond the event, or of the start of the step where that is nearer than 1e-10 h.
    """
    token = stepping.snapshot()

    def attempt(part: float) -> Chunk:
        stepping.restore(token)
        return stepping.partial(part)

    chunk = attempt(1.0)
    found = [w for w in events.watched if w.passes(w.values(chunk.record, chunk.ledger)) == 0]
    best = 1.0
    for w in found:

        def distance(part: float, w: _Watched = w) -> float:
            tried = attempt(part)
            return float(w.values(tried.record, tried.ledger)[0])

        here = float(w.values(chunk.record, chunk.ledger)[0])
        ends = {0.0: w.value, 1.0: here}
        root = brentq(lambda x, d=distance, e=ends: e[x] if x in e else d(x), 0.0, 1.0, xtol=1e-15, rtol=_ROUND_OFF)
        # to the far side of it, which the sensor has reached
        beyond = (root + k * 1e-15 for k in (0, 1, 4, 16, 100, 1e4, 1e8))
        part = next((x for x in beyond if 0.0 < x < 1.0 and w.passes(np.array([distance(x)])) == 0), 1.0)
        best = min(best, part)
    chunk = attempt(best)
    hits = [w for w in found if w.passes(w.values(chunk.record, chunk.ledger)) == 0]
    if best <= _EARLY and hits:
        stepping.restore(token)
    return best, hits, chunk


def _go_on(events: Events, old: Stepping, new: Stepping, moved: np.ndarray) -> Stepping:
    """Begin the stepping after an event with the ledger of the one before; ``moved`` (n_fun,): the drivers' functions
    that have changed."""
    work = new.state.work.copy()
    energy = float(old.energies(old.evaluate(*[np.array([new.t0])] * 3)[0])[:3].sum())
    report = StartReport()
    if moved.any():
        report = consistent_velocities(events.compiled, new.state, new.t0, current=True)
    new.state.past[:] = 0.0
    new.begin()
    if RULES[new.rule].kind == S.NEWMARK:
        start_rule(events.laws(), new.state, new.t0, new.h, new.weights)
    new.works, new.state.work[:] = old.works.copy(), work
    if moved.any():
        # what the blow of a driver gives or takes; of several drivers at once nothing tells the shares
        new.works[2] += new.initial_energy - energy
        of = _entries(new, moved)
        new.state.work[of] += (new.initial_energy - energy) / max(len(of), 1)
        events.happened[-1] = replace(events.happened[-1], velocity_change=report.largest_change)
    new.initial_energy = old.initial_energy
    new.follow(old)
    return new
