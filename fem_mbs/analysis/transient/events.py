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
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fem_mbs.analysis.loading import chosen
from fem_mbs.analysis.start.initial import consistent_velocities, start_rule
from fem_mbs.analysis.switching.blows import Blow
from fem_mbs.analysis.switching.locks import Switching
from fem_mbs.analysis.switching.watched import Watched, WatchedForce
from fem_mbs.analysis.transient.alternation import of_constraints
from fem_mbs.analysis.transient.chunk import Chunk, LongerParts, joined
from fem_mbs.analysis.transient.rules import NEWMARK, RULES
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.errors import AnalysisError, ModelError, Owner
from fem_mbs.functions.kinds import make_function
from fem_mbs.model.checks import find_column
from fem_mbs.model.model import CompiledModel
from fem_mbs.model.records import Event
from fem_mbs.results.report import EventReport, StartReport
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.units import unit_of

__all__ = ["Events", "run_events"]

_EARLY = 1e-10  # part of a step below which an event lies at its start
_HALF = 0.5  # part of a step from which on its forces of constraints are as exact as those of whole steps
_AT_ONCE = 100  # events one after the other at one time, after which there will be no end


class Events:
    """The state of a model's events during a run: active loads, laws of drivers, locks, and what has happened.

    Raises:
        ModelError: a sensor of several columns, a name that is no load or driver, a driver that is to be turned off.
    """

    def __init__(self, compiled: CompiledModel):
        self.compiled = compiled
        self.acting = np.ones(len(compiled.functions), bool)
        self.happened: list[EventReport] = []
        self.switching = Switching(compiled)
        self.watched: list[Watched] = []
        self._own: list[Watched] = []  # those of the model's events
        self._ended = False
        self._moved = np.zeros(len(compiled.functions), bool)
        self._switched: list[tuple[str, int, float, float]] = []  # functions by events: name, number, time, value
        sensors = compiled.sensors
        for event in compiled.model.events:
            owner = Owner("Event", event.name)
            name, column = find_column(event.sensor, [s.header for s in sensors], owner)
            i = next(i for i, s in enumerate(sensors) if s.name == name)
            mask = np.zeros(len(compiled.functions), bool)
            if event.action in ("on", "off", "switch"):
                mask, weight = chosen(compiled, event.target, owner, "target", motions=event.action == "switch")
                if weight:
                    raise ModelError("target: gravity cannot be switched", owner=owner, remedy="name loads")
            if event.action == "on":
                self.acting &= ~mask
            read = partial(_beyond, sensors[i], column, event.value)
            self._own.append(Watched(read, event.direction, partial(self._happen, event, mask), event.value))
        self.watched = [*self._own, *self.switching.watched]

    def start(self, record: np.ndarray, ledger: np.ndarray, two_state: bool) -> None:
        """Read in the first row what is watched; events look at no mid-step sensors, which have no value there.

        Args:
            two_state: forces belong to the middle of the steps.
        """
        for w in self._own:
            w.begin(record, ledger)
        self.switching.start(record, ledger, two_state)

    def functions(self, given: list[Callable]) -> list[Callable]:
        """Return the time functions, zero for inactive loads."""
        return [f if acts else np.zeros_like for f, acts in zip(given, self.acting, strict=True)]

    def laws(self) -> CompiledModel:
        """Return the compiled model with inactive functions set to zero."""
        silent = make_function(0.0)
        laws = [f if acts else silent for f, acts in zip(self.compiled.functions, self.acting, strict=True)]
        return replace(self.compiled, functions=laws)

    def active(self) -> list[Watched]:
        """Return the conditions that are watched now."""
        return [w for w in self.watched if w.active()]

    def first(self, chunk: Chunk) -> int:
        """Return the first row of a chunk in which an event happens, or -1."""
        rows = [w.passes(w.read(chunk.record, chunk.ledger)) for w in self.active()]
        rows = [row for row in rows if row >= 0]
        return min(rows) if rows else -1

    def stand(self, chunk: Chunk) -> None:
        for w in self.active():
            w.stand(w.read(chunk.record, chunk.ledger))

    def fire(self, hits: list[Watched], stepping: Stepping, record: np.ndarray, t: float) -> tuple[bool, np.ndarray]:
        """Execute events; return whether the step ends, and the drivers' functions (n_fun,) bool that have changed.

        Args:
            record: (1, k), the row in which they happen.
        """
        self._ended = False
        self._moved = np.zeros(len(self.acting), bool)
        for w in hits:
            w.fire(self.compiled, stepping.state, record, t)
            self.happened += self.switching.take_happened()
        if self.switching.struck or self._moved.any():
            self.switching.loosen(self.compiled, stepping.state, t)
        for w in self.watched:
            w.reset()
        return self._ended, self._moved

    def _happen(
        self, event: Event, mask: np.ndarray, compiled: CompiledModel, state: S.State, record: np.ndarray, t: float
    ) -> None:
        """Do what an event of the model asks for."""
        loads = np.asarray(self.compiled.loads, bool)
        self.happened.append(EventReport(name=event.name, time=t, action=event.action))
        self._ended |= event.action == "stop"
        if event.action in ("on", "off"):
            self.acting[mask] = event.action == "on"
        elif event.action == "switch":
            self.acting[mask] = True
            for i in np.flatnonzero(mask).tolist():
                here = 0.0 if loads[i] else float(self.compiled.functions[i](np.float64(t)))
                self._switched.append((event.name, i, t, here))
                self._take_law(event, i, t, here)
            self._moved |= mask & ~loads
        elif event.action != "stop":
            self.switching.act(event.action, event.target, compiled, state, t)

    def _take_law(self, event: Event, index: int, t: float, here: float) -> None:
        """Let a load or driver follow the event's function of the time since the event; for drivers it adds to their
        value ``here`` at the event."""
        assert event.function is not None
        law: dict[str, Any] = {"kind": "scaled", "function": event.function, "delay": t}
        if not self.compiled.loads[index]:
            constant = {"kind": "constant", "value": here - float(event.function(np.float64(0.0)))}
            law = {"kind": "sum", "functions": [law, constant]}
        self.compiled.functions[index] = make_function(law, name=event.name)

    # --- restart ---------------------------------------------------------------------------------------------------
    def story(self) -> dict[str, Any]:
        """Return the data for a restart point in types of JSON."""
        return {
            "acting": self.acting.tolist(), "functions": self._switched, "switching": self.switching.story(),
            "happened": [report.to_json() for report in self.happened],
            "watched": [w.story() for w in self.watched],
        }  # fmt: skip

    def go_on(self, story: dict[str, Any], two_state: bool) -> None:
        """Continue from a restart point; ``two_state``: forces belong to the middle of the steps."""
        self.acting[:] = story["acting"]
        self._switched[:] = [(name, int(i), float(t), float(here)) for name, i, t, here in story["functions"]]
        known = {event.name: event for event in self.compiled.model.events}
        for name, i, t, here in self._switched:
            self._take_law(known[name], i, t, here)
        self.happened[:] = map(EventReport.from_json, story["happened"])
        self.switching.go_on(story["switching"])
        for w, told in zip(self.watched, story["watched"], strict=True):
            if isinstance(w, WatchedForce):
                w.two_state = two_state
            w.go_on(told)


def _beyond(sensor: Any, column: int, value: float, record: np.ndarray, ledger: np.ndarray) -> np.ndarray:
    """Return how far (n,) a column of a sensor is beyond a value."""
    rows = sensor.evaluate(record[:, sensor.first : sensor.last], ledger)
    return np.asarray(rows, float)[:, column] - value


def run_events(
    events: Events,
    stepping: Stepping,
    t_end: float,
    on_chunk: Callable[[Chunk], None],
    anew: Callable[[float, float], Stepping],
    most: Callable[[], int],
    h: float,
) -> tuple[Stepping, float]:
    """Make steps to ``t_end`` or to an event that stops them; return the last stepping and the time reached.

    Args:
        h: length of a step; those after an event are as near to it as they fit into the time that is left.
        anew: ``anew(t0, h)`` makes the stepping after an event, of the constraints that act then, not yet begun.
        most: ``most()`` returns the largest number of steps after which the state must be that of the last
            row handed over.

    Raises:
        AnalysisError: events follow each other without end at one time.
    """
    remaining = round((t_end - stepping.t0) / stepping.h) - stepping.step
    at_once = 0
    while remaining > 0:
        chunks: list[Chunk] = []
        token = stepping.snapshot()
        n = stepping.chunk_length(0.0, remaining) * 16
        stepping.run(min(n, remaining, most()), chunks.append)
        whole = joined(chunks)
        row = events.first(whole)
        if row < 0:
            at_once = 0
            events.stand(whole)
            for chunk in chunks:
                on_chunk(chunk)
            remaining -= len(whole.time)
            continue
        stepping.restore(token)
        if row > 0:
            at_once = 0
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
        if part > _EARLY:
            events.stand(chunk)
            at_once = 0
            on_chunk(chunk)
        else:  # the row is that of a step which is not made: it is nothing to those that have not passed yet
            for w in hits:
                w.stand(w.read(chunk.record, chunk.ledger))
        at_once += 1
        if at_once > _AT_ONCE:
            raise AnalysisError(
                f'at t = {t:.6g} {unit_of("s")} events follow each other without end ("{events.happened[-1].name}" is '
                "the last): they undo each other; give them values further apart"
            )
        stop, moved = events.fire(hits, stepping, chunk.record, t)
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


def _locate(events: Events, stepping: Stepping) -> tuple[float, list[Watched], Chunk]:
    """Return the part of the next step at whose end the first event happens, the events there, and that part's rows.

    The state is that of this end, just beyond the event, or of the start of the step where that is nearer than 1e-10 h.
    """
    token = stepping.snapshot()

    def attempt(part: float) -> Chunk:
        stepping.restore(token)
        return stepping.partial(part)

    def value(w: Watched, part: float) -> float:
        tried = attempt(part)
        return float(w.read(tried.record, tried.ledger)[0])

    chunk = attempt(1.0)
    parts: list[tuple[float, Watched]] = []
    for w in events.active():
        values = w.read(chunk.record, chunk.ledger)
        if w.passes(values) == 0:
            parts.append((w.part(float(values[0]), partial(value, w)), w))
    best = min((part for part, _ in parts), default=1.0)
    if best > _EARLY:
        # velocities at the ends of steps violate constraints by an error of second order, and a part of a step takes it
        # back by forces of that error over the length of the part: a short part gets forces and rates from longer ones
        whole, half = chunk, attempt(_HALF) if best < _HALF else None
        chunk = attempt(best)
        hits = [
            w for part, w in parts
            if (part <= best if isinstance(w, WatchedForce) else w.passes(w.read(chunk.record, chunk.ledger)) == 0)
        ]  # fmt: skip
        if half is not None:
            longer = LongerParts(best, (half.time, half.record), (whole.time, whole.record))
            own = of_constraints(stepping.compiled, stepping.middle_values)
            chunk.record[:, own] = longer.of(lambda time, record: record)[:, own]
            chunk = replace(chunk, longer=longer)
    else:
        hits = [w for part, w in parts if part <= _EARLY]
        stepping.restore(token)
    return best, hits, chunk


def _go_on(events: Events, old: Stepping, new: Stepping, moved: np.ndarray) -> Stepping:
    """Begin the stepping after an event with the ledger of the one before; ``moved`` (n_fun,): the drivers' functions
    that have changed."""
    work = new.state.work.copy()
    energy = float(old.energies(old.evaluate(*[np.array([new.t0])] * 3)[0])[:3].sum())
    struck = events.switching.struck or bool(moved.any())
    closing = events.switching.take_closing()
    blow = None
    report = StartReport()
    if closing:
        before = new.state.V[0].copy()
        report = consistent_velocities(events.compiled, new.state, new.t0, current=True)
        blow = Blow(events.compiled, new.state, new.t0, before)
    elif moved.any():
        report = consistent_velocities(events.compiled, new.state, new.t0, current=True)
    if closing or moved.any():
        events.switching.turn(events.compiled, new.state, struck)
    new.state.past[:] = 0.0
    new.redundancy.when = f"at t = {new.t0:.6g} {unit_of('s')}"
    new.begin()
    if RULES[new.rule].kind == NEWMARK:
        start_rule(events.laws(), new.state, new.t0, new.h, new.weights)
    new.works, new.state.work[:] = old.works.copy(), work
    assert new.initial_energy is not None
    gain = new.initial_energy - energy
    if blow is not None and not moved.any():
        lost = blow.loss if blow.driven else -gain
        new.works[0] += lost
        new.works[2] += gain + lost
        events.happened += blow.book(events.switching, closing, new.state, report.largest_change, lost)
    elif moved.any():
        # energy of the blow of a driver; the shares of several drivers at once are unknown
        new.works[2] += gain
        of = _entries(new, moved)
        new.state.work[of] += gain / len(of)  # at least one: functions without a joint or motion are those of loads
        events.happened[-1] = replace(events.happened[-1], velocity_change=report.largest_change)
        if blow is not None:
            events.happened += blow.book(events.switching, closing, None, report.largest_change, blow.loss)
    events.happened += events.switching.take_happened()
    new.initial_energy = old.initial_energy
    new.follow(old)
    return new
