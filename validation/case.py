"""What a validation file is made of: rows of a table, figures, and the few measures that many cases share.

A validation file is a module of this package with

    docstring    first line the title; then the problem, a sketch, the source
    CAPABILITY   key of `fem_mbs.validation.capabilities.CAPABILITIES`
    CASES        id of the benchmark -> one sentence on what it shows
    DEVIATIONS   sentences on errors of the literature, and on results that differ from it; may be left out
    build()      -> Model; its arguments are the variants of the problem; the report draws that without any
    reference()  -> published and recomputed numbers, by name
    check(f)     runs the models and adds rows and figures to the `Findings` f; ``f.long`` asks for the long runs too

A row passes if |measured - reference| <= tolerance; each states why its tolerance is what it is, and of which kind its
reference is (`fem_mbs.validation.kinds`).  A reference that is
changed carries date and reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from fem_mbs.validation.kinds import PROPERTY, Kind

__all__ = [
    "CONSERVED",
    "Curve",
    "Figure",
    "Findings",
    "Row",
    "constancy",
    "crossings",
    "energy_error",
    "extrapolated",
    "good_pairs",
    "interpolated_extreme",
    "last_order",
    "limit_of",
    "pairs_of",
    "published",
    "published_level",
    "total_energy",
    "turning_time",
]

#: Conservation demanded unless a row says otherwise: energy against its range, momenta against their largest value,
#: constraints against the model's length.
CONSERVED = 1e-10


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    case: str
    quantity: str
    measured: float
    reference: float
    tolerance: float
    reason: str
    kind: Kind

    @property
    def passed(self) -> bool:
        return math.isfinite(self.measured) and abs(self.measured - self.reference) <= self.tolerance


@dataclass(frozen=True)
class Curve:
    """A curve of a figure: x (n,), y (n,), its label, and "-", "--", ":", "o" (points), "o-" or "bar"."""

    x: np.ndarray
    y: np.ndarray
    label: str = ""
    style: str = "-"


def published(source: str, x, y) -> Curve:
    """Return the points of printed numbers, labelled by their source, such as "Chopra (2012)".

    Args:
        source: author and year, or program.
        x: abscissae (n,), or one; numbers, or texts as they are printed.
        y: ordinates (n,), or one, or (n, k), k of them at each abscissa.

    Raises:
        ValueError: not as many ordinates as abscissae, or a text that is no number.
    """
    a, b = (np.atleast_1d(np.array(values, float)) for values in (x, y))
    if a.ndim != 1 or len(b) != len(a):
        raise ValueError(f"{source}: x {a.shape} and y {b.shape} of printed points differ in length")
    per_point = b.size // a.size if a.size else 1
    return Curve(np.repeat(a, per_point), b.ravel(), source, "o")


def published_level(source: str, x, value: float | str) -> Curve:
    """Return a printed number without an abscissa, such as a largest value over time, as a dashed line over x (n,)."""
    ends = np.array([np.min(x), np.max(x)], float)
    return Curve(ends, np.full(2, float(value)), source, "--")


@dataclass(frozen=True)
class Figure:
    """A figure of the report; ``scale`` is "linear", "log" (ordinate) or "loglog"."""

    title: str
    curves: Sequence[Curve]
    x: str
    y: str
    caption: str = ""
    scale: str = "linear"
    equal: bool = False


@dataclass
class Findings:
    """What a case found: rows and figures."""

    long: bool = False
    rows: list[Row] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    def row(
        self,
        case: str,
        quantity: str,
        measured: float,
        reference: float,
        reason: str,
        kind: Kind,
        *,
        tolerance: float | None = None,
        relative: float | None = None,
    ) -> None:
        """Add a row; the tolerance is absolute, or ``relative`` to the reference, of which ``kind`` says what it is."""
        if tolerance is None:
            tolerance = relative * abs(reference)
        self.rows.append(Row(case, quantity, float(measured), float(reference), float(tolerance), reason, kind))

    def digits(
        self, case: str, quantity: str, measured: float, text: str, kind: Kind, *, error: float = 0.0, why: str = ""
    ) -> None:
        """Add a row for a number as it is printed: ``text`` such as "13.701".

        The tolerance is one unit of its last digit, and ``error``, relative to it, for the reason ``why``.
        """
        value, unit = float(text), _last_digit(text)
        reason = "one unit of the last digit" + (f", and {error:g} of the number: {why}" if error else "")
        self.row(case, quantity, measured, value, reason, kind, tolerance=unit + error * abs(value))

    def converged(
        self,
        case: str,
        quantity: str,
        values,
        reference: float,
        kind: Kind,
        *,
        ratio: float = 2.0,
        order: int = 2,
        error: float = 0.0,
        why: str = "",
    ) -> None:
        """Add a row for the limit of the values (m,) of m >= 2 meshes or steps, by `limit_of`.

        The tolerance is the sum of three parts: twice the distance by which the coarsest mesh moves the limit, 1e-12 of
        the largest value for round-off, and ``error``, relative to the reference, for the reason ``why``.  The first
        two do not depend on the reference.
        """
        limit, moved = (float(x) for x in limit_of(values, ratio, order))
        left = 2.0 * moved + 1e-12 * float(np.abs(values).max())
        reason = f"twice the change of the limit by the coarsest of {len(values)} meshes or steps"
        reason += f", and {error:g} of the number: {why}" if error else ""
        self.row(case, quantity, limit, reference, reason, kind, tolerance=left + error * abs(reference))

    def converged_course(
        self,
        case: str,
        quantity: str,
        runs,
        exact,
        kind: Kind,
        *,
        scale: float = 1.0,
        ratio: float = 2.0,
        order: int = 2,
        error: float = 0.0,
        why: str = "",
    ) -> None:
        """Add a row for the largest distance of the limit of runs (m, n) from ``exact`` (n,), over ``scale``.

        The runs have m >= 2 meshes or steps and give values at the same n places or times.  The tolerance is that of
        `converged`, of the place where it is largest, but that ``error`` is relative to ``scale``.
        """
        limit, moved = limit_of(runs, ratio, order)
        left = (2.0 * float(moved.max()) + 1e-12 * float(np.abs(runs).max())) / scale
        reason = f"twice the largest change of the limit by the coarsest of {len(runs)} meshes or steps"
        reason += f", and {error:g}: {why}" if error else ""
        self.zero(case, quantity, float(np.abs(limit - exact).max()) / scale, left + error, reason, kind)

    def zero(
        self, case: str, quantity: str, measured: float, tolerance: float, reason: str, kind: Kind = PROPERTY
    ) -> None:
        """Add a row for something that should vanish; a difference from a reference has the ``kind`` of that."""
        self.row(case, quantity, measured, 0.0, reason, kind, tolerance=tolerance)

    def between(
        self, case: str, quantity: str, measured: float, low: float, high: float, reason: str, kind: Kind = PROPERTY
    ) -> None:
        """Add a row for an inequality low <= measured <= high: reference and tolerance are middle and half width."""
        self.row(case, quantity, measured, 0.5 * (low + high), reason, kind, tolerance=0.5 * (high - low))

    def figure(
        self,
        title: str,
        curves: Sequence[Curve],
        x: str,
        y: str,
        caption: str = "",
        scale: str = "linear",
        equal: bool = False,
    ) -> None:
        self.figures.append(Figure(title, list(curves), x, y, caption, scale, equal))

    def energy_figure(self, steps: Mapping[str, Any], caption: str = "", after: float = 0.0) -> None:
        """Draw the energy error |closing error| / scale against time, one curve per run, on a logarithmic ordinate."""
        curves = [
            Curve(step.time, np.maximum(np.abs(_closing(step, after)) / energy_scale(step, after), 1e-17), label)
            for label, step in steps.items()
        ]
        self.figure("Energy error", curves, "Time [s]", "Energy error / largest kinetic energy [-]", caption, "log")


def _last_digit(text: str) -> float:
    """Return the unit of the last digit of a printed number, 0.001 of "13.701" and 10 of "1.23e3"."""
    mantissa, _, exponent = text.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


# --- measures --------------------------------------------------------------------------------------------------------
def total_energy(step) -> np.ndarray:
    """Return kinetic + strain + potential energy (n,) [J] of a step's rows."""
    return step.ledger("kinetic") + step.ledger("strain") + step.ledger("potential")


def energy_scale(step, after: float = 0.0) -> float:
    """Return the scale of energy errors: the range of the total energy, at least the largest kinetic energy."""
    rows = step.time >= after - 1e-9
    return max(float(np.ptp(total_energy(step)[rows])), float(step.ledger("kinetic")[rows].max()))


def _closing(step, after: float) -> np.ndarray:
    rows = step.time >= after - 1e-9
    error = step.ledger("closing error")
    return np.where(rows, error - error[int(np.argmax(rows))], np.nan)


def energy_error(step, after: float = 0.0, constant: bool = False) -> float:
    """Return the largest closing error of the energy ledger over the scale of the energy.

    With ``constant`` it is the largest change of the total energy instead.
    """
    rows = step.time >= after - 1e-9
    error = total_energy(step) if constant else step.ledger("closing error")
    error = error[rows]
    return float(np.abs(error - error[0]).max()) / energy_scale(step, after)


def constancy(step, name: str, after: float = 0.0, scale: float = 0.0) -> float:
    """Return the largest change of a series (n, k) since ``after``, over its largest norm or ``scale``, if larger."""
    rows = step.time >= after - 1e-9
    values = step.series[name][rows]
    size = max(float(np.linalg.norm(values, axis=1).max()), scale)
    return float(np.linalg.norm(values - values[0], axis=1).max()) / size


def crossings(t: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return times at which u passes zero upwards, by linear interpolation."""
    k = np.flatnonzero((u[:-1] < 0.0) & (u[1:] >= 0.0))
    return t[k] - u[k] * (t[k + 1] - t[k]) / (u[k + 1] - u[k])


def interpolated_extreme(t: np.ndarray, u: np.ndarray, best: Callable = np.argmin) -> tuple[float, float]:
    """Return (time, value) of the largest or smallest value, by the parabola through it and its neighbours."""
    i = int(np.clip(best(u), 1, len(u) - 2))
    a, b, c = u[i - 1], u[i], u[i + 1]
    curvature = a - 2.0 * b + c
    x = 0.5 * (a - c) / curvature if curvature else 0.0
    return float(t[i] + x * (t[i + 1] - t[i])), float(b - 0.25 * (a - c) * x)


def turning_time(t: np.ndarray, u: np.ndarray, best: Callable = np.argmax) -> float:
    """Return the time at which u (n,) is largest or smallest, by the polynomial through seven samples: error h^6."""
    i = int(np.clip(best(u), 3, len(u) - 4))
    near = slice(i - 3, i + 4)
    slope = np.polynomial.Polynomial.fit(t[near] - t[i], u[near], 6).deriv()
    return float(t[i] + min((x.real for x in slope.roots() if abs(x.imag) < 1e-9), key=abs))


def extrapolated(values, ratio: float, order: int = 2) -> np.ndarray:
    """Return the limit of values (m, ...) of m meshes, each ``ratio`` times as fine as the one before.

    Romberg's scheme takes out m - 1 terms of the error: h^p, h^(p + 2) ..., where p is the ``order``.
    """
    rows = list(np.asarray(values, float))
    power = ratio ** (order - 2)
    while len(rows) > 1:
        power *= ratio**2
        rows = [b + (b - a) / (power - 1.0) for a, b in pairwise(rows)]
    return rows[0]


def last_order(sizes, errors) -> float:
    """Return the order of convergence between the two smallest of the steps ``sizes``, given in descending order."""
    return float(np.log(errors[-2] / errors[-1]) / np.log(sizes[-2] / sizes[-1]))


def limit_of(values, ratio: float = 2.0, order: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return the limit of values (m, ...) of m >= 2 meshes by `extrapolated`, and how far the coarsest one moves it."""
    limit = extrapolated(values, ratio, order)
    return limit, np.abs(limit - extrapolated(values[1:], ratio, order))


def good_pairs(f: Findings, case: str, label: str, *summaries: Mapping) -> None:
    """Add rows on the worst residual and bi-orthogonality of pairs.

    Args:
        summaries: of steps of complex modes, or "eigenvalues" (n, 2), "residuals" (n,) and "biorthogonality".
    """
    f.zero(
        case, f"largest residual of a pair, {label}", max(max(s["residuals"]) for s in summaries), 1e-8,
        "Every pair must have so small a residual.",
    )  # fmt: skip
    f.zero(
        case, f"bi-orthogonality of right and left vectors, {label}", max(s["biorthogonality"] for s in summaries),
        max(1e-10, *map(_from_residuals, summaries)),
        "Products of two pairs are residuals over the distance of their eigenvalues; 1e-10 is left for round-off.",
    )  # fmt: skip


def pairs_of(modes: Any) -> dict[str, Any]:
    """Return eigenvalues, residuals and bi-orthogonality of `fem_mbs.complex_modes` as a summary has them."""
    return {
        "eigenvalues": np.column_stack((modes.values.real, modes.values.imag)),
        "residuals": modes.residuals, "biorthogonality": modes.biorthogonality,
    }  # fmt: skip


def _from_residuals(summary: Mapping) -> float:
    """Return the largest product of left and right vectors of two pairs that their residuals leave.

    From r_j = Q(p_j) x_j and s_i^H = w_i^H Q(p_i) follows
    w_i^H ((p_i + p_j) M + C) x_j = (w_i^H r_j - s_i^H x_j)/(p_j - p_i).
    """
    p, left = np.array(summary["eigenvalues"]) @ (1.0, 1j), np.array(summary["residuals"])
    i, j = np.triu_indices(len(p), 1)
    i, j = (k[p[i] != p[j]] for k in (i, j))
    return float(((left[i] + left[j]) * (np.abs(p[i]) + np.abs(p[j])) / np.abs(p[i] - p[j])).max(initial=0.0))
