"""Express values that persist from step to step (supports, loads, temperatures) as functions of total time.

General steps (STATIC, DYNAMIC) pass time one after the other; so does STATIC with PERTURBATION, in which nothing
general changes.  FREQUENCY and BUCKLE pass none, as in CalculiX.  A value given in a step is reached by a ramp over the
step or at once (the step's rule), or follows an amplitude; it stays until a later step gives another one or ends it
with OP=NEW.  Values that have the same
course are one function of time with a factor each (`courses`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import factorial
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.functions.laws import TimeFunction
from fem_mbs.functions.waves import WAVES, Overlaid, Wave
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.deck import Amplitude, Deck, DeckStep

__all__ = ["Course", "Given", "Line", "Reached", "Root", "Timeline", "courses"]


@dataclass(frozen=True, eq=False)
class Line(TimeFunction):
    """Linear between points t (n,), which do not fall; where two have the same time the value jumps after it.

    Constant outside.  At a jump the earlier value counts, since a step ends with it; so the first time has one value.
    """

    t: np.ndarray
    value: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinks", np.unique(self.t))

    def _place(self, x: np.ndarray, side: str) -> tuple[np.ndarray, np.ndarray]:
        at = np.clip(np.searchsorted(self.t, x, side=side) - 1, 0, len(self.t) - 2)
        width = self.t[at + 1] - self.t[at]
        return at, np.where(width > 0.0, width, 1.0)

    def _value(self, t: np.ndarray) -> Any:
        if len(self.t) == 1:
            return np.full(t.shape, self.value[0])
        at, width = self._place(t, "left")
        share = np.clip((t - self.t[at]) / width, 0.0, 1.0)
        return (1.0 - share) * self.value[at] + share * self.value[at + 1]

    def _slopes(self, t: np.ndarray):
        zero = np.zeros(t.shape)
        if len(self.t) == 1:
            return zero, zero
        at, width = self._place(t, "right")
        inside = (t >= self.t[0]) & (t < self.t[-1])
        return np.where(inside, (self.value[at + 1] - self.value[at]) / width, 0.0), zero


@dataclass(frozen=True, eq=False)
class Root(TimeFunction):
    """The square root of a function that is not negative: a speed whose square is given."""

    squared: TimeFunction

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinks", self.squared.kinks)

    def _value(self, t: np.ndarray) -> Any:
        return np.sqrt(np.maximum(self.squared(t), 0.0))

    def _slopes(self, t: np.ndarray):
        value, first, second = self.squared.jet(t)
        root = np.sqrt(np.maximum(value, 1e-300))
        return 0.5 * first / root, 0.5 * second / root - 0.25 * first**2 / root**3


@dataclass(frozen=True, eq=False)
class Reached(TimeFunction):
    """Where velocities (order 1) or accelerations (order 2) lead that are linear between points t (n,), from the place
    ``place`` and the velocity ``speed`` at the first point on; before it the place, after the last point the last value
    stays the velocity or acceleration."""

    t: np.ndarray
    value: np.ndarray
    order: int
    place: float
    speed: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinks", np.unique(self.t))

    def _pieces(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the place and its two derivatives at times (n,)."""
        h = np.diff(self.t)
        slope = np.append(np.diff(self.value) / h, 0.0)
        sums = [self.value]
        for power in range(1, self.order + 1):  # values at the points: integrals over the pieces, one after the other
            first = (self.place, self.speed)[self.order - power]
            terms = [part[:-1] * h**k / factorial(k) for k, part in enumerate(reversed(sums), 1)]
            terms.append(slope[:-1] * h ** (power + 1) / factorial(power + 1))
            sums.append(np.concatenate(([first], first + np.cumsum(sum(terms)))))
        at = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.t) - 1)
        d = np.maximum(t - self.t[at], 0.0)
        found = []
        for top in range(self.order, self.order - 3, -1):
            parts = [sums[k][at] * d ** (top - k) / factorial(top - k) for k in range(top + 1)]
            power = top + 1
            last = slope[at] * d**power / factorial(power) if power >= 0 else np.zeros_like(d)
            found.append(sum(parts, last))
        return found[0], found[1], found[2]

    def _value(self, t: np.ndarray) -> Any:
        return self._pieces(t)[0]

    def _slopes(self, t: np.ndarray) -> tuple[Any, Any]:
        return self._pieces(t)[1:]


@dataclass(frozen=True)
class Timeline:
    """The general steps of a deck: indices into `Deck.steps`, beginnings and ends in total time; ``times``: total time
    at the end of every step of the deck."""

    steps: tuple[int, ...]
    start: tuple[float, ...]
    end: tuple[float, ...]
    times: tuple[float, ...] = ()

    @classmethod
    def of(cls, deck: Deck) -> Timeline:
        steps, start, end, times, t = [], [], [], [], 0.0
        for i, step in enumerate(deck.steps):
            if is_general(step):
                steps.append(i)
                start.append(t)
                end.append(t + step.duration)
            if passes_time(step):
                t += step.duration
            times.append(t)
        return cls(tuple(steps), tuple(start), tuple(end), tuple(times))

    def time_of(self, index: int) -> float:
        """Return total time at the end of step ``index``; of a step that passes none, of the last one before it that
        does."""
        return self.times[index]


#: Procedures that pass time and leave a state.
_GENERAL = ("STATIC", "DYNAMIC", "MODAL DYNAMIC")


def passes_time(step: DeckStep) -> bool:
    """Return whether total time goes on during a step."""
    return is_general(step) or (step.supported and step.procedure == "STATIC" and step.riks is None)


def is_general(step: DeckStep) -> bool:
    """Return whether a step passes time and leaves its state to the next; a path with RIKS has no time."""
    return step.supported and step.procedure in _GENERAL and not step.perturbation and step.riks is None


@dataclass(frozen=True)
class Given:
    """Values of one entry of a step: values (m,) of quantities ``keys`` (m,), unique whole numbers, and their
    amplitude; order: 0 of displacements and loads, 1 of velocities, 2 of accelerations."""

    keys: np.ndarray
    values: np.ndarray
    amplitude: str | None
    where: str
    order: int = 0


@dataclass(frozen=True)
class Course:
    """Quantities ``keys`` (m,) equal to ``factors`` (m,) times ``function``; ``where``: file and line of its first
    entry.

    active (steps,) bool: the general steps at whose end the quantities are given; ``zero``: the function is.
    """

    keys: np.ndarray
    factors: np.ndarray
    function: TimeFunction
    active: np.ndarray
    where: str


def courses(
    deck: Deck,
    timeline: Timeline,
    given: Sequence[Iterable[Given]],
    ended: Sequence[bool],
    before: Iterable[Given] = (),
    sums: bool = False,
) -> tuple[list[Course], list[str]]:
    """Return functions of total time of all quantities that the general steps give values.

    Args:
        given: of each general step, in order, its entries; ``ended``: whether it ends the entries of earlier steps.
        before: entries outside of steps, which hold from the start.
        sums: values of one quantity in one step add up, as loads do; else the last one counts.

    Returns:
        the courses, and places of entries whose quantities had another value in the same step already.

    Raises:
        UnsupportedError: values that add up have different amplitudes.
    """
    rows: list[tuple[int, Given]] = [(-1, g) for g in before]
    for s, of_step in enumerate(given):
        rows += [(s, g) for g in of_step]
    if not rows:
        return [], []
    keys = np.unique(np.concatenate([g.keys for _, g in rows]))
    names = [None, *deck.amplitudes]
    n = len(timeline.steps)
    value, law = np.full((n + 1, len(keys)), np.nan), np.zeros((n + 1, len(keys)), int)
    entry, twice = np.full((n + 1, len(keys)), -1), []
    orders = np.zeros((n + 1, len(keys)), int)
    k = 0
    for s in range(-1, n):
        row = s + 1
        if row:
            if not ended[s]:
                value[row], law[row], entry[row] = value[row - 1], law[row - 1], entry[row - 1]
                orders[row] = orders[row - 1]
        new = np.zeros(len(keys), bool)
        while k < len(rows) and rows[k][0] == s:
            g = rows[k][1]
            at = np.searchsorted(keys, g.keys)
            again, other = new[at], law[row, at] != names.index(g.amplitude)
            if sums and (again & other).any():
                raise UnsupportedError(
                    "a load adds to another one of the same step that has another amplitude", place=g.where,
                    remedy="give it a step of its own, or the amplitude of the other one",
                )  # fmt: skip
            if not sums and (again & ((value[row, at] != g.values) | other)).any():
                twice.append(g.where)
            new[at], orders[row, at] = True, g.order
            added = np.where(again, value[row, at], 0.0) if sums else 0.0
            value[row, at], law[row, at], entry[row, at] = g.values + added, names.index(g.amplitude), k
            k += 1
    # quantities with the same course: the same laws, and values in the same ratios
    held = np.isfinite(value)
    filled = np.where(held, value, 0.0)
    size = np.abs(filled).max(axis=0)
    first = np.argmax(np.abs(filled) == size, axis=0)
    factor = np.where(size > 0.0, filled[first, np.arange(len(keys))], 1.0)
    ratio = np.round(filled / factor, 12) + 0.0
    began = np.array([s for s, _ in rows])[entry]  # -1 stands for the last row: such entries are not held
    fresh = (began == np.arange(-1, n)[:, None]) | (began < 0)
    signature = np.vstack((ratio, np.where(held, law, -1), np.where(law > 0, fresh, False), np.where(held, orders, 0)))
    patterns, which = np.unique(signature, axis=1, return_inverse=True)
    which = which.ravel()
    found = []
    for p in range(patterns.shape[1]):
        mine = np.flatnonzero(which == p)
        column = mine[0]
        where = rows[int(entry[entry[:, column] >= 0, column][0])][1].where
        of_one = (v[:, column] for v in (ratio, law, held, fresh, orders))
        function = _function(deck, timeline, *of_one)
        found.append(Course(keys[mine], factor[mine] * 1.0, function, held[1:, column].copy(), where))
    begun = np.where(entry >= 0, entry, len(rows)).min(axis=0)
    order = np.argsort([int(begun[which == p].min()) for p in range(len(found))], kind="stable")
    return [found[i] for i in order], list(dict.fromkeys(twice))


def _function(
    deck: Deck, timeline: Timeline, ratio: np.ndarray, law: np.ndarray, held: np.ndarray, fresh: np.ndarray,
    orders: np.ndarray,
) -> TimeFunction:  # fmt: skip
    """Return the course of values ``ratio`` (steps + 1,) by the amplitudes ``law`` (0: the rule of the step); an
    amplitude of the time of a step ends with the step that was given it (``fresh``), the value stays. Velocities and
    accelerations (``orders``) lead on from the place, and the velocity, at the beginning of the step."""
    names = list(deck.amplitudes)
    t, v = [0.0], [float(ratio[0]) if held[0] and not orders[0] else 0.0]
    last: Reached | None = None
    spans: list[tuple[float, float, TimeFunction]] = []
    for s, (start, end) in enumerate(zip(timeline.start, timeline.end, strict=True)):
        step = deck.steps[timeline.steps[s]]
        if start > t[-1]:  # nothing changes in steps that are not general
            t.append(start)
            v.append(v[-1])
        target = float(ratio[s + 1]) if held[s + 1] else 0.0
        amplitude = deck.amplitudes[names[law[s + 1] - 1]] if held[s + 1] and law[s + 1] else None
        if held[s + 1] and orders[s + 1]:
            speed = float(last.jet(np.array([start]))[1][0]) if last is not None and last.order == 2 else 0.0
            last = _reached(amplitude, target, start, end, int(orders[s + 1]), v[-1], speed, bool(fresh[s + 1]))
            spans.append((start, end if s + 1 < len(timeline.end) else np.inf, last))
            t += [start, end]
            v += [v[-1], float(last(np.array([end]))[0])]
            continue
        last = None
        if amplitude is not None and not (fresh[s + 1] or amplitude.total_time):
            points, values = np.array([start, end]), np.array([v[-1], v[-1]])
        elif amplitude is not None:
            points, values = amplitude_points(amplitude, start, end)
            values = target * values
            if amplitude.definition in WAVES:
                spans.append((start, end, _wave(amplitude, target, start)))
        elif step.amplitude == "STEP" and (target != v[-1]):
            points, values = np.array([start, end]), np.array([target, target])
        else:
            points, values = np.array([start, end]), np.array([v[-1], target])
        if values[0] == v[-1] or s == 0:
            v[-1] = float(values[0])  # at the very start there is nothing before
            points, values = points[1:], values[1:]
        t += points.tolist()
        v += values.tolist()
    times, line = np.array(t), np.array(v)
    inner = np.ones(len(times), bool)  # points on the line between their neighbours say nothing
    inner[1:-1] = ~((line[1:-1] == line[:-2]) & (line[1:-1] == line[2:]))
    found = Line(times[inner], line[inner])
    return Overlaid(found, tuple(spans)) if spans else found


def _reached(
    amplitude: Amplitude | None, target: float, start: float, end: float, order: int, place: float, speed: float,
    fresh: bool,
) -> Reached:  # fmt: skip
    """Return where a velocity or an acceleration leads in a step; without an amplitude it acts in full from the start
    on, one of an earlier step stays what it was at its end.

    Raises:
        UnsupportedError: an amplitude that is no table.
    """
    points, values = np.array([start, end]), np.ones(2)
    if amplitude is not None and amplitude.definition != "TABULAR":
        raise UnsupportedError(
            f"velocities and accelerations of supports with an amplitude DEFINITION={amplitude.definition} are not "
            "supported", place=amplitude.where, remedy="give the amplitude as a table",
        )  # fmt: skip
    if amplitude is not None and (fresh or amplitude.total_time):
        points, values = amplitude_points(amplitude, start, end)
    elif amplitude is not None:
        values = np.full(2, amplitude.value[-1])
    return Reached(points, target * values, order, place, speed)


def _wave(amplitude: Amplitude, factor: float, start: float) -> Wave:
    """Return ``factor`` times an amplitude in a step that begins at ``start``."""
    data = np.column_stack((amplitude.t, amplitude.value)).ravel() if len(amplitude.t) else amplitude.data
    return Wave(amplitude.definition, data, factor, 0.0 if amplitude.total_time else start)


def amplitude_points(amplitude: Amplitude, start: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points of an amplitude over a step, in total time, with its ends.

    Raises:
        ModelError: definitions that are no functions of time.
    """
    if amplitude.definition in WAVES:
        points = np.array([start, end])
        return points, _wave(amplitude, 1.0, start)(points)
    if amplitude.definition != "TABULAR":
        raise ModelError(
            f"the amplitude {amplitude.name} has DEFINITION={amplitude.definition}",
            place=amplitude.where,
            remedy="give it as a table of times and values, SMOOTH STEP, PERIODIC, MODULATED or DECAY",
        )
    t = amplitude.t + (0.0 if amplitude.total_time else start)
    inside = (t > start) & (t < end)
    points = np.concatenate(([start], t[inside], [end]))
    return points, np.concatenate(
        ([np.interp(start, t, amplitude.value)], amplitude.value[inside], [np.interp(end, t, amplitude.value)])
    )
