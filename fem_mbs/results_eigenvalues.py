"""Eigenvalues in results: complex modes, branches over a speed, eigenvalues along a load path or a transient.

Motions go with exp(p t); p = growth rate [1/s] + i circular frequency [rad/s].  Of a conjugate pair only the member
with Im p >= 0 is kept here.  Summaries hold p as [re, im], and null where there is no value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "Branches",
    "Onset",
    "as_complex",
    "campbell_branches",
    "damping_ratio",
    "eigenvalue_path",
    "is_damped",
    "onsets",
    "track",
    "unstable",
    "upper_half",
]

#: Growth rate over |p| that counts as none: what rounding leaves of an undamped eigenvalue with close neighbours.
_ROUNDING = 1e-6
#: Smallest circular frequency over the largest one of a row that counts as motion at all.
_REST = 1e-6


def as_complex(values: Any) -> np.ndarray:
    """Return eigenvalues as complex numbers (...,), given as [re, im] (..., 2) or as complex numbers; null is NaN."""
    array = np.asarray(values)
    if np.iscomplexobj(array):
        return array.astype(complex)
    if not array.size:
        return np.empty(0, complex)
    if array.dtype == object:  # nulls among numbers, or instead of whole pairs
        if array.ndim == 1 and all(item is None or np.shape(item) == (2,) for item in values):
            array = np.array([[None, None] if item is None else item for item in values], object)
        array = np.where(np.equal(array, None), np.nan, array)
    pairs = array.astype(float)
    if pairs.shape[-1] != 2:
        raise ValueError(f"eigenvalues of shape {pairs.shape} are not pairs [re, im]")
    return pairs[..., 0] + 1j * pairs[..., 1]


def upper_half(values: np.ndarray) -> np.ndarray:
    """Return eigenvalues (n, k) with those below the real axis as NaN: their conjugates say the same."""
    return np.where(values.imag < -1e-12 * np.abs(values), np.nan + 0j, values)


def damping_ratio(values: np.ndarray) -> np.ndarray:
    """Return -Re p / |p|, 0 for p = 0; negative where the motion grows."""
    size = np.abs(values)
    return np.where(size > 0.0, -values.real / np.where(size > 0.0, size, 1.0), 0.0)


def unstable(values: np.ndarray) -> np.ndarray:
    """Return which eigenvalues (..., k) grow by more than rounding makes them: Re p > 1e-6 |p|, those nearly at zero
    (1e-6 of the largest of their row) left out, NaN not."""
    size = np.abs(values)
    most = np.max(np.where(np.isnan(size), 0.0, size), axis=-1, keepdims=True)
    return (values.real > _ROUNDING * size) & (size > _REST * most)


def is_damped(values: np.ndarray) -> bool:
    """Return whether any eigenvalue has a growth rate or damping of more than rounding."""
    size = np.abs(values[np.isfinite(values)])
    part = np.abs(values[np.isfinite(values)].real)
    return bool(np.any((part > _ROUNDING * size) & (size > _REST * size.max(initial=0.0))))


@dataclass(frozen=True)
class Branches:
    """Eigenvalues that belong together along a parameter.

    `parameter` (n,), `label` says what it is with its unit; `values` (n, k) complex [1/s], NaN where a branch has none.
    """

    parameter: np.ndarray
    label: str
    values: np.ndarray

    @property
    def frequencies(self) -> np.ndarray:
        """Frequencies (n, k) [Hz]."""
        return self.values.imag / (2.0 * np.pi)


@dataclass(frozen=True)
class Onset:
    """Where a branch becomes unstable: `at` this parameter, by "flutter" (it oscillates) or "divergence"; `frequency`
    [Hz]; `row`: the first unstable one."""

    branch: int
    row: int
    at: float
    kind: str
    frequency: float


def track(values: np.ndarray) -> np.ndarray:
    """Return eigenvalues (n, k) sorted so that each column (m of them) goes on as it came.

    Each row is assigned to the one before as a whole (Kuhn 1955), by the distance in the complex plane to what each
    branch would become if it went on straight.  What finds no partner begins a branch of its own; NaN is no eigenvalue.
    """
    from scipy.optimize import linear_sum_assignment

    n, k = values.shape
    branches = np.full((n, k), np.nan, complex)
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
        # straight on, or as it was: a branch that bends sharply is still the nearest one; of a pair that parts on the
        # real axis the growing one goes on
        cost = np.minimum(
            np.abs(guess[alive, None] - now[None]), np.abs(last[alive, None] - now[None]) + 0.1 * np.abs(now[None])
        ) - 1e-6 * np.clip(now.real, 0.0, None)
        rows, columns = linear_sum_assignment(cost)
        branches[i, alive[rows]] = now[columns]
        for column in np.setdiff1d(np.arange(len(now)), columns):
            free = np.flatnonzero(np.isnan(branches).all(axis=0))
            if not free.size:
                branches = np.column_stack((branches, np.full(n, np.nan, complex)))
                free = np.array([branches.shape[1] - 1])
            branches[i, free[0]] = now[column]
    return branches[:, ~np.isnan(branches).all(axis=0)]


def onsets(branches: Branches) -> list[Onset]:
    """Return where branches pass from stable to unstable, between two rows.

    Where the growth rate changes its sign (damping), it is interpolated; where a frequency goes to zero (divergence),
    its square; where two undamped frequencies meet, nothing can be interpolated and the middle is taken.
    """
    found = []
    values, x = branches.values, branches.parameter
    grows = unstable(values)
    for row, column in zip(*np.nonzero(grows[1:] & ~grows[:-1]), strict=True):
        a, b = values[row, column], values[row + 1, column]
        if np.isnan(a):
            continue
        real = abs(b.imag) <= 1e-3 * abs(b)
        share = 0.5
        if a.real < -_ROUNDING * abs(a) and not (real and abs(a.imag) > abs(a.real)):
            share = a.real / (a.real - b.real)
        elif real:
            before, after = abs(a) ** 2, -(abs(b) ** 2)
            share = before / (before - after)
        at = x[row] + share * (x[row + 1] - x[row])
        frequency = 0.0 if real else float((a.imag + share * (b.imag - a.imag)) / (2.0 * np.pi))
        found.append(Onset(int(column), int(row) + 1, float(at), "divergence" if real else "flutter", frequency))
    return sorted(found, key=lambda onset: onset.row)


def campbell_branches(summary: dict[str, Any]) -> tuple[Branches, np.ndarray]:
    """Return the branches of a step `campbell`, and the whirl of each at each speed (n, k): "forward", "backward",
    "mixed" or ""."""
    speeds = np.asarray(summary["speeds"], float)
    columns = [as_complex(branch["eigenvalues"]) for branch in summary["branches"]]
    values = np.column_stack(columns) if columns else np.empty((len(speeds), 0), complex)
    whirl = np.full(values.shape, "", object)
    for k, branch in enumerate(summary["branches"]):
        said = branch.get("whirl") or ""
        whirl[:, k] = [word or "" for word in ([said] * len(speeds) if isinstance(said, str) else said)]
    return Branches(speeds, "Speed [rad/s]", upper_half(values)), whirl


def eigenvalue_path(step: Any) -> Branches | None:
    """Return the eigenvalues that a step has found along its way, tracked; None if it has looked for none.

    The parameter is the load factor of a step at rest, the time of others.
    """
    if "eigenvalues" not in step.series or step.type not in ("transient", "static", "inverse"):
        return None
    raw = np.asarray(step.series["eigenvalues"])
    if not np.iscomplexobj(raw):
        raw = as_complex(raw.reshape(len(raw), -1, 2))
    raw = upper_half(raw.reshape(len(raw), -1))
    rows = ~np.isnan(raw).all(axis=1)
    if not rows.any():
        return None
    time, label = np.asarray(step.series["time"], float), "Time [s]"
    load = np.asarray(step.series["load factor"], float) if "load factor" in step.series else time
    if step.type == "static" and (np.ptp(load) > 0.0 or not np.ptp(time)):
        time, label = load, "Load factor [-]"
    return Branches(time[rows], label, track(raw[rows]))
