"""Beck's column: flutter under a force that follows the tip.

A cantilever is pressed by a force at its end that stays tangential to it.  It has no other equilibrium at any load, so
no static criterion finds its limit: two frequencies approach each other, meet at 20.05 EI/L^2 and part as a complex
pair, one of which grows.  With internal damping of the material, however small, flutter begins much earlier.

      ||                                          EI = rho A = L = 1
      ||=================================<-- P    P stays tangential to the end
      ||

Source: M. Beck, "Die Knicklast des einseitig eingespannten, tangential gedrueckten Stabes", Z. angew. Math. Phys. 3
(1952), 225-228: 20.05 EI/L^2.  Its characteristic equation for y'''' (1 + c p) + P y'' + p^2 y = 0 with y(0) = y'(0) =
y''(1) = y'''(1) = 0 (c: Kelvin-Voigt damping [s]) was solved anew here: 20.05095 without damping, where frequencies
coalesce, at w = 11.0156; 10.94 in the limit of small damping (V.V. Bolotin, N.I. Zhinzher, Int. J. Solids Struct. 5
(1969), 965-989).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY, quoted

CAPABILITY = "buckling"
CASES = {"B-BECK": "column under a follower force: coalescence of two modes, flutter, damping that destabilises"}

DAMPING = 1e-3  # [s]


def build(load: float = 19.5, n: int = 10, damping: float = 0.0, count: int = 2) -> Model:
    """Return the column of n elements under its load."""
    model = Model(2, "Beck's column")
    model.section("column", "stiffness", EA=1e8, EI=1.0, rhoA=1.0, rhoI=0.0)
    model.line("column", (0.0, 0.0), (1.0, 0.0), n)
    model.beams("column", "column", "column", damping=damping)
    model.fix("column:start")
    model.force("P", "column:end", (-load, 0.0), follower=True)
    model.static_step()
    model.complex_modes_step(count=count)
    return model


def characteristic(p: complex, load: float, damping: float) -> complex:
    """Return the determinant of the boundary conditions, over what it is for a beam without motion."""
    stiffness = 1.0 + damping * p
    root = np.sqrt(complex((load / stiffness) ** 2 - 4.0 * p**2 / stiffness))
    a, b = np.sqrt((-load / stiffness + root) / 2.0), np.sqrt((-load / stiffness - root) / 2.0)
    # y = A (cosh ax - cosh bx) + B (sinh ax / a - sinh bx / b)
    rows = (
        (a**2 * np.cosh(a) - b**2 * np.cosh(b), a * np.sinh(a) - b * np.sinh(b)),
        (a**3 * np.sinh(a) - b**3 * np.sinh(b), a**2 * np.cosh(a) - b**2 * np.cosh(b)),
    )
    return (rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]) / (a**2 - b**2) ** 2


def newton(function, x: np.ndarray, steps: int = 40) -> np.ndarray:
    """Return the roots of as many real functions as there are unknowns (k,), by differences."""
    for _ in range(steps):
        value = function(x)
        e = 1e-6 * np.maximum(np.abs(x), 1e-3)
        slope = np.column_stack([(function(x + d) - function(x - d)) / (2.0 * s) for d, s in zip(np.diag(e), e)])
        change = np.linalg.solve(slope, value)
        x = x - change
        if np.abs(change).max() < 1e-13 * np.abs(x).max():
            break
    return x


def reference() -> dict:
    """Return load and frequency where two roots coalesce (f = df/dw = 0), and where a damped root is imaginary."""

    def double(x):
        f = partial(characteristic, load=x[1], damping=0.0)
        e = 1e-4
        return np.array([f(1j * x[0]).real, (f(1j * (x[0] + e)) - f(1j * (x[0] - e))).real / (2.0 * e)])

    def marginal(x, damping):
        value = characteristic(1j * x[0], x[1], damping)
        return np.array([value.real, value.imag])

    undamped = newton(double, np.array([11.0, 20.0]))
    damped = newton(partial(marginal, damping=DAMPING), np.array([5.4, 10.9]))
    return {
        "paper": 20.05,
        "frequency": undamped[0],
        "load": undamped[1],
        "damped": tuple(damped),
    }


def flutter(x: np.ndarray) -> np.ndarray:
    """Return the characteristic equation at p = x0 + i x1 under P = 21."""
    value = characteristic(complex(*x), 21.0, 0.0)
    return np.array([value.real, value.imag])


def eigenvalues(summary: dict) -> np.ndarray:
    p = np.array(summary["eigenvalues"]) @ (1.0, 1j)
    return p[np.lexsort((p.real, np.abs(p)))]


def discriminant(load: float, n: int) -> tuple[float, float]:
    """Return (w1^2 - w2^2)^2 of the two lowest modes, which passes zero where they meet, and their mean w^2."""
    squares = -(eigenvalues(solve(build(load, n)).steps[-1].summary) ** 2)
    part = squares.real if np.ptp(squares.real) > np.ptp(squares.imag) else squares.imag
    one, two = squares[np.argmin(part)], squares[np.argmax(part)]
    return float(((one - two) ** 2).real), float(np.mean(squares).real)


def coalescence(n: int) -> tuple[float, float]:
    """Return the load and frequency at which the two modes meet, by the secant rule."""
    a, b = 19.5, 20.4
    fa, _ = discriminant(a, n)
    for _ in range(8):
        fb, square = discriminant(b, n)
        if abs(fb) < 1e-3 or fa == fb:
            break
        a, b, fa = b, b - fb * (b - a) / (fb - fa), fb
    return b, np.sqrt(square)


def check(f: Findings) -> None:
    known = reference()
    meshes = (4, 8, 16)
    met_loads, met_frequencies = (list(values) for values in zip(*(coalescence(n) for n in meshes), strict=True))
    load, errors = met_loads[-1], np.array(met_loads) - known["load"]
    f.converged("B-BECK", "load at which two modes meet", met_loads, known["load"], CLOSED_FORM, order=4)
    f.converged("B-BECK", "their frequency there", met_frequencies, known["frequency"], CLOSED_FORM, order=4)
    source = quoted("Beck (1952)")
    f.row(
        "B-BECK",
        "load at which two modes meet, 16 elements, against the paper",
        load,
        known["paper"],
        "Half a unit of the last digit.",
        source,
        tolerance=5e-3,
    )
    f.row(
        "B-BECK", "order of that load, 4 to 8 elements", np.log2(errors[0] / errors[1]), 4.0,
        "Hermite masses make the order 4; two coarse meshes show it within .2.",
        PROPERTY, tolerance=0.2,
    )  # fmt: skip
    model = build(0.0)
    model.steps.clear()
    model.force("path", "column:end", (-1.0, 0.0), follower=True)
    model.static_step(increments=24, until=24.0, eigenvalues={"every": 1, "count": 2})
    path = solve(model).steps[-1].summary["eigenvalues"]
    loads = np.array(path["load_factor"])
    p = np.array(path["values"]) @ (1.0, 1j)
    growth = p.real.max(axis=1)
    f.zero(
        "B-BECK",
        "largest growth below it [1/s]",
        growth[loads < known["load"]].max(),
        1e-7,
        "Below the load of flutter all frequencies are real.",
    )
    f.row(
        "B-BECK", "first load of 24 with growth", path["unstable_from"]["load_factor"], 21.0,
        "The first load with growth is the next integer above the critical one.",
        PROPERTY, tolerance=1e-9,
    )  # fmt: skip
    value = p[np.isclose(loads, 21.0)][0]
    root = newton(flutter, np.array([-abs(value[0].real), value[0].imag]))
    rates = [eigenvalues(solve(build(21.0, n)).steps[-1].summary).real.max() for n in meshes]
    f.converged(
        "B-BECK", "growth at P = 21 [1/s], against the characteristic equation", rates, abs(root[0]), CLOSED_FORM,
        order=4,
    )  # fmt: skip
    summaries = [solve(build(load)).steps[-1].summary for load in (5.0, 15.0, 19.0, 21.0, 24.0)]
    limits, damped = [], []
    for n in meshes:
        pair = [
            solve(build(load, n, DAMPING)).steps[-1].summary for load in np.array((0.9999, 1.0001)) * known["damped"][1]
        ]
        rate = [max(p[0] for p in s["eigenvalues"]) for s in pair]
        limits.append(known["damped"][1] * (0.9999 - 0.0002 * rate[0] / (rate[1] - rate[0])))
        damped += pair
    load = limits[-1]
    f.converged(
        "B-BECK", f"load of flutter with damping {DAMPING:g} s", limits, known["damped"][1], CLOSED_FORM, order=4,
        error=2e-8, why="growth is taken as linear over 1e-4 of the load to either side",
    )  # fmt: skip
    source = quoted("Bolotin and Zhinzher (1969)")
    f.row(
        "B-BECK",
        "the same against the limit of small damping",
        load,
        10.94,
        "One unit of the last digit.",
        source,
        tolerance=1e-2,
    )
    good_pairs(f, "B-BECK", "all loads", *summaries, *damped)
    frequencies = np.sort(np.abs(p.imag), axis=1)
    met = Curve(np.array([known["load"]]), np.array([known["frequency"]]), "exact", "o")
    f.figure(
        "Frequencies of Beck's column",
        [Curve(loads, frequencies[:, 0], "first"), Curve(loads, frequencies[:, 1], "second"),
         Curve(loads, growth, "growth", "--"), met],
        "P L^2 / EI", "Im p, Re p", "10 elements; EI = rho A = L = 1.",
    )  # fmt: skip
