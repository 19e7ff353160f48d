"""Eigenvalues in results: complex modes, branches over a speed, eigenvalues along a load path or a transient.

Motions go with exp(p t); p = growth rate [1/s] + i circular frequency [rad/s].  Of a conjugate pair only the member
with Im p >= 0 is kept here.  Summaries hold p as [re, im], and null where there is no value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.declarations.steps import recorded_kind
from fem_mbs.late import dataclass
from fem_mbs.results.report import EigenvaluesAlong

if TYPE_CHECKING:
    from fem_mbs.analysis.steps.rotors.campbell import CampbellReport
    from fem_mbs.analysis.steps.stability_map import MapParameter

__all__ = [
    "Branches",
    "NEUTRAL",
    "Onset",
    "as_complex",
    "campbell_branches",
    "damping_ratio",
    "growth_rates",
    "eigenvalue_path",
    "is_damped",
    "onsets",
    "parameter_label",
    "track",
    "unstable",
    "untangle",
    "upper_half",
]

#: No eigenvalue.
NONE = complex(np.nan, np.nan)
#: Growth rate over |p| that counts as none: what rounding leaves of an undamped eigenvalue with close neighbours.
NEUTRAL = 1e-6
#: Smallest circular frequency over the largest one of a row that counts as motion at all.
_REST = 1e-6
#: Distance over |p| up to which eigenvalues count as one that rounding has split: a double one without two vectors
#: (free motions seen from a turning frame) moves by the root of the rounding, the mean of its parts by that alone.
_SPLIT = 2e-5


def as_complex(values: Any) -> np.ndarray:
    """Return eigenvalues as complex numbers (...,), given as [re, im] (..., 2) or as complex numbers; null is NaN."""
    if isinstance(values, (list, tuple)):
        values = [(None, None) if item is None else item for item in values]  # null instead of a whole pair
    if not len(values):
        return np.empty(0, complex)
    if np.iscomplexobj(values):
        return np.asarray(values, complex)
    pairs = np.array(values, float)  # None becomes NaN
    if pairs.shape[-1] != 2:
        raise ValueError(f"eigenvalues of shape {pairs.shape} are not pairs [re, im]")
    return pairs[..., 0] + 1j * pairs[..., 1]


def upper_half(values: np.ndarray) -> np.ndarray:
    """Return eigenvalues (n, k) with those below the real axis as NaN: they are conjugates of others."""
    return np.where(np.isnan(values) | (values.imag < -1e-12 * np.abs(values)), NONE, values)


def damping_ratio(values: np.ndarray) -> np.ndarray:
    """Return -Re p / |p|, 0 for p = 0; negative where the motion grows."""
    size = np.abs(values)
    return np.where(size > 0.0, -values.real / np.where(size > 0.0, size, 1.0), 0.0)


def growth_rates(values: np.ndarray) -> np.ndarray:
    """Return the real parts of eigenvalues (..., k); eigenvalues that rounding has split get the mean of their
    group."""
    size = np.abs(values)[..., :, None]
    near = np.abs(values[..., :, None] - values[..., None, :]) <= _SPLIT * size
    count = near.sum(axis=-1)
    total = np.where(near, values.real[..., None, :], 0.0).sum(axis=-1)
    return np.where(count > 1, total / np.maximum(count, 1), values.real)


def unstable(values: np.ndarray) -> np.ndarray:
    """Return which eigenvalues (..., k) grow by more than rounding makes them: Re p > 1e-6 |p|, those nearly at zero
    (1e-6 of the largest of their row) left out, NaN not."""
    size = np.abs(values)
    most = np.max(np.where(np.isnan(size), 0.0, size), axis=-1, keepdims=True)
    return (growth_rates(values) > NEUTRAL * size) & (size > _REST * most)


def is_damped(values: np.ndarray) -> bool:
    """Return whether any eigenvalue has a growth rate or damping of more than rounding."""
    size = np.abs(values[np.isfinite(values)])
    part = np.abs(values[np.isfinite(values)].real)
    return bool(np.any((part > NEUTRAL * size) & (size > _REST * size.max(initial=0.0))))


@dataclass(frozen=True)
class Branches:
    """Hold eigenvalues joined to continuous branches over a parameter.

    `parameter` (n,), `label` its name with unit; `values` (n, k) complex [1/s], NaN where a branch has none.
    """

    parameter: np.ndarray
    label: str
    values: np.ndarray

    @property
    def frequencies(self) -> np.ndarray:
        """Return the frequencies (n, k) [Hz]."""
        return self.values.imag / (2.0 * np.pi)


@dataclass(frozen=True)
class Onset:
    """Where a branch becomes unstable, or (`ends`) stable again: `at` this parameter, by "flutter" (it oscillates) or
    "divergence"; `frequency` [Hz] there; `row`: the first one behind it; `partner`: the branch that it meets there, -1
    if none."""

    branch: int
    row: int
    at: float
    kind: str
    frequency: float
    partner: int = -1
    ends: bool = False


def track(values: np.ndarray) -> np.ndarray:
    """Return eigenvalues (n, k) sorted into m columns, each of which is a continuous branch.

    Each row is assigned to the one before as a whole (Kuhn 1955), by the distance in the complex plane to what each
    branch would become by linear extrapolation.  An eigenvalue without a partner begins a new branch; NaN is none.
    """
    from scipy.optimize import linear_sum_assignment

    n, k = values.shape
    branches = np.full((n, k), NONE)
    where = [i for i in range(n) if not np.isnan(values[i]).all()]
    for number, i in enumerate(where):
        now = values[i][~np.isnan(values[i])]
        if number == 0:
            branches[i, : len(now)] = now
            continue
        last = branches[where[number - 1]]
        before = branches[where[number - 2]] if number > 1 else last
        guess = np.where(np.isnan(before), last, 2.0 * last - before)
        alive = np.flatnonzero(~np.isnan(last))
        # straight on, or as it was: a branch that bends sharply is still the nearest one
        cost = np.minimum(
            np.abs(guess[alive, None] - now[None]), np.abs(last[alive, None] - now[None]) + 0.1 * np.abs(now[None])
        )
        rows, columns = linear_sum_assignment(cost)
        rows = _growing_came_before(last[alive], now[columns], rows)
        now, columns = _growing_goes_on(last[alive[rows]], now, columns)
        branches[i, alive[rows]] = now[columns]
        for column in np.setdiff1d(np.arange(len(now)), columns):
            free = np.flatnonzero(np.isnan(branches).all(axis=0))
            if not free.size:
                branches = np.column_stack((branches, np.full(n, NONE)))
                free = np.array([branches.shape[1] - 1])
            branches[i, free[0]] = now[column]
    return branches[:, ~np.isnan(branches).all(axis=0)]


def untangle(values: np.ndarray) -> np.ndarray:
    """Return branches (n, k) in which the two real values of a former pair do not replace another branch.

    A pair that parts on the real axis has two values from then on.  Where as many are sought as before, they push out
    the branch of the highest frequency; that ends there, and the second real value begins one.
    """
    forth = _untangle(values)
    return _untangle(forth[::-1])[::-1]


def _untangle(values: np.ndarray) -> np.ndarray:
    from scipy.optimize import linear_sum_assignment

    branches = values.copy()
    for i in range(1, len(branches)):
        before, now = branches[i - 1], branches[i]
        real = np.flatnonzero(_on_axis(before) & _on_axis(now))
        if len(real) > 1:  # shapes do not tell one value of a pair from the other
            _, order = linear_sum_assignment(np.abs(before[real, None] - now[real]))
            branches[i:, real] = branches[i:, real[order]]
            now = branches[i]
        turned = np.flatnonzero((before.imag > 1e-9 * np.abs(before)) & _on_axis(now))
        if len(turned) < 2:
            continue
        turned = turned[np.argsort(np.abs(before[turned]))]
        kept, others = np.split(turned, [(len(turned) + 1) // 2])
        for keep, other in zip(kept, others, strict=False):
            if now[other].real > now[keep].real:
                branches[i:, [keep, other]] = branches[i:, [other, keep]]
        begun = np.full((len(branches), len(others)), NONE)
        begun[i:] = branches[i:, others]
        branches[i:, others] = NONE
        branches = np.column_stack((branches, begun))
    return branches


def _on_axis(values: np.ndarray) -> np.ndarray:
    """Return which eigenvalues are real; NaN is not."""
    return np.abs(values.imag) <= 1e-9 * np.abs(values)


def _growing_came_before(last: np.ndarray, now: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Let a pair that arises from two real eigenvalues continue the branch with the larger growth rate."""
    real = _on_axis(last)
    left = [int(r) for r in np.setdiff1d(np.arange(len(last)), rows) if real[r]]
    rows = rows.copy()
    for k, after in enumerate(now):
        if left and real[rows[k]] and after.imag > 1e-9 * abs(after):
            other = min(left, key=lambda r: abs(last[r] - after))
            if last[other].real > last[rows[k]].real:
                left.remove(other)
                rows[k] = other
    return rows


def _growing_goes_on(last: np.ndarray, now: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Let the real eigenvalue with the larger growth rate continue the branch of a pair that becomes two real ones."""
    real = _on_axis(now)
    new = [int(c) for c in np.setdiff1d(np.arange(len(now)), columns) if real[c]]
    now = now.copy()
    for before, column in zip(last, columns, strict=True):
        if real[column] and new and before.imag > 1e-9 * abs(before):
            other = min(new, key=lambda c: abs(abs(now[c] - before) - abs(now[column] - before)))
            new.remove(other)
            if now[other].real > now[column].real:
                now[[column, other]] = now[[other, column]]
    return now, columns


def onsets(branches: Branches) -> list[Onset]:
    """Return where branches pass from stable to unstable or back, between two rows.

    With damping, interpolate the zero of the growth rate.  Without damping, interpolate the zero of |p|^2 (divergence),
    or of the squared difference of the two squares that coincide (flutter).
    """
    found = []
    values, x = branches.values, branches.parameter
    grows = unstable(values)
    for row, column in zip(*np.nonzero(grows[1:] != grows[:-1]), strict=True):
        ends = bool(grows[row, column])
        stable, beyond = (row + 1, row) if ends else (row, row + 1)
        a, b = values[stable, column], values[beyond, column]
        if np.isnan(a) or np.isnan(b):
            continue
        still = abs(b.imag) <= 1e-3 * abs(b)
        parted = still and abs(a.imag) > abs(a.real)  # the pair has met on the real axis in between
        partner, share, frequency = -1, 0.5, None
        if parted:
            share = _from_flat(a, b)
        elif a.real < -NEUTRAL * abs(a):
            share = a.real / (a.real - b.real)
        elif still:
            share = 0.0  # it is at zero already
        else:
            partner = _partner(values[[stable, beyond]], int(column))
            if partner >= 0:
                (a2, c2), (b2, d2) = values[[stable, beyond]][:, [column, partner]] ** 2
                before, after = ((a2 - c2) ** 2).real, ((b2 - d2) ** 2).real
                share = before / (before - after)
                mean = -((1.0 - share) * (a2 + c2).real + share * (b2 + d2).real) / 2.0
                frequency = float(np.sqrt(max(mean, 0.0)) / (2.0 * np.pi))
        share = float(np.clip(share, 0.0, 1.0)) if np.isfinite(share) else 0.5
        if frequency is None:
            frequency = 0.0 if still else float((a.imag + share * (b.imag - a.imag)) / (2.0 * np.pi))
        at = float(x[stable] + share * (x[beyond] - x[stable]))
        kind = "divergence" if still else "flutter"
        found.append(Onset(int(column), int(row) + 1, at, kind, frequency, partner, ends))
    return sorted(found, key=lambda onset: onset.row)


def _from_flat(a: complex, b: complex) -> float:
    """Return the fraction at which |p|^2 = s passes zero, between an oscillating p = a and a growing one b.

    The eigenvalues satisfy p^2 + 2 d p + s = 0 with the damping d of a.
    """
    d = -a.real
    before, after = abs(a) ** 2, -(b.real**2 + 2.0 * d * b.real)
    return before / (before - after)


def _partner(values: np.ndarray, column: int) -> int:
    """Return the branch that in the second of two rows (2, k) has the same frequency and the opposite growth rate."""
    mirror = -np.conj(values[1, column])
    distance = np.abs(values[1] - mirror)
    distance[column] = np.nan
    distance[np.isnan(values[0])] = np.nan
    if np.isnan(distance).all():
        return -1
    best = int(np.nanargmin(distance))
    return best if distance[best] <= 1e-4 * abs(mirror) else -1


def campbell_branches(report: CampbellReport) -> tuple[Branches, np.ndarray]:
    """Return the branches of a step `campbell`, and the whirl of each at each speed (n, k): "forward", "backward",
    "mixed" or "none".  At rest, where whirl has no sense, a branch takes that of the next speed."""
    speeds = np.asarray(report.speeds, float)
    columns = [as_complex(branch.eigenvalues) for branch in report.branches]
    values = np.column_stack(columns) if columns else np.empty((len(speeds), 0), complex)
    whirl = np.full(values.shape, "none", object)
    for k, branch in enumerate(report.branches):
        said = branch.whirl or "none"
        whirl[:, k] = [word or "none" for word in ([said] * len(speeds) if isinstance(said, str) else said)]
    if len(speeds) > 1 and speeds[0] == 0.0:
        whirl[0] = np.where(whirl[0] == "none", whirl[1], whirl[0])
    return Branches(speeds, "Speed [rad/s]", upper_half(values)), whirl


def parameter_label(parameter: MapParameter) -> str:
    """Return the name of a parameter of a stability map with its unit."""
    name, unit = parameter.name, parameter.unit
    return f"{name[:1].upper()}{name[1:]}" + (f" [{unit}]" if unit else "")


def eigenvalue_path(step: Any) -> Branches | None:
    """Return the branches of eigenvalues that a step has computed along its path; None if it computed none.

    The parameter is the load factor of a step at rest, that of a stability map over one, the time of others.
    """
    kind = recorded_kind(step.type)
    if "eigenvalues" not in step.series or kind.branches not in ("along", "parameter"):
        return None
    raw = np.asarray(step.series["eigenvalues"])
    if not np.iscomplexobj(raw):
        raw = as_complex(raw.reshape(len(raw), -1, 2))
    raw = upper_half(raw.reshape(len(raw), -1))
    rows = ~np.isnan(raw).all(axis=1)
    if kind.branches == "parameter":
        parameters = getattr(step.report, "parameters", None) or []
        if len(parameters) != 1 or len(parameters[0].values) != len(raw):
            return None
        x, label = np.asarray(parameters[0].values, float), parameter_label(parameters[0])
    else:
        x, label = np.asarray(step.series["time"], float), "Time [s]"
        load = np.asarray(step.series["load factor"], float) if "load factor" in step.series else x
        if kind.path and (np.ptp(load) > 0.0 or not np.ptp(x)):
            x, label = load, "Load factor [-]"
    if not rows.any():
        return None
    # columns that the run has followed by their shapes are branches already
    followed = isinstance(getattr(step.report, "eigenvalues", None), EigenvaluesAlong)
    return Branches(x[rows], label, untangle(raw[rows] if followed else track(raw[rows])))
