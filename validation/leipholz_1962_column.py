"""Leipholz's column: flutter under loads that are spread over the column and follow it.

A cantilever is pressed by a load per length that stays tangential to it, uniform or growing from the tip to the clamp.
Like Beck's column it never buckles statically: two frequencies meet and part as a complex pair.

      ||   <-  <-  <-  <-  <-                     EI = rho A = L = 1
      ||=================================        q uniform (Leipholz), or q (1 - x) (Hauger)
      ||   <-  <-  <-  <-  <-

Source: H. Leipholz, "Die Knicklast des einseitig eingespannten Stabes mit gleichmaessig verteilter, tangentialer
Laengsbelastung", Z. angew. Math. Phys. 13 (1962), 581-589: q L^3 = 40.05 EI, from memory; W. Hauger, "Die Knicklasten
elastischer Staebe unter gleichmaessig verteilten und linear veraenderlichen, tangentialen Druckkraeften", Ing.-Archiv
35 (1966), 221-229, for the second load.  y'''' + N(x) y'' + p^2 y = 0 with the thrust N, y(0) = y'(0) = y''(1) =
y'''(1) = 0, is solved here by collocation at Chebyshev points.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, limit_of, published
from fem_mbs.validation.chebyshev import differentiation
from fem_mbs.validation.kinds import INDEPENDENT, PROPERTY, quoted

CAPABILITY = "buckling"
CASES = {"B-LEIPHOLZ": "flutter loads of columns under distributed loads that follow them"}

MESHES = (10, 20, 40)
#: load per length over q as an expression of x, thrust over q as a function of x
LOADS = {
    "uniform": ("1", lambda x: 1.0 - x),
    "linear": ("(1 - x)", lambda x: 0.5 * (1.0 - x) ** 2),
}


def build(load: str = "uniform", q: float = 35.0, n: int = 20) -> Model:
    """Return the column of n elements under its load, with its two lowest modes about the pressed state."""
    model = Model(2, "Leipholz's column")
    model.section("column", "stiffness", EA=1e8, EI=1.0, GA=np.inf, rhoA=1.0, rhoI=0.0)
    model.line("column", (0.0, 0.0), (1.0, 0.0), n)
    model.beams("column", "column", "column")
    model.fix("column:start")
    model.line_load("q", "column", (f"-{q!r}*{LOADS[load][0]}", "0"), axes="local")
    model.static_step()
    model.complex_modes_step(count=2)
    return model


def reference() -> dict[str, str]:
    """Return the load q L^3/EI at which two frequencies meet."""
    return {"uniform": "40.05"}


def squares(load: str, q: float, n: int = 24) -> np.ndarray:
    """Return the two smallest squares -p^2 by collocation at n + 1 Chebyshev points."""
    x, d = differentiation(n)  # the tip is the first point
    second = d @ d
    left = second @ second + (q * LOADS[load][1](x))[:, None] * second
    right = np.eye(n + 1)
    left[[0, 1, -2]] = second[0], (d @ second)[0], d[-1]
    right[[0, 1, -2]] = 0.0
    found = scipy.linalg.eigvals(left[:-1, :-1], right[:-1, :-1])
    found = found[np.isfinite(found)]
    return found[np.argsort(np.abs(found))[:2]]


def modes(load: str, q: float, n: int = 20) -> np.ndarray:
    """Return the two smallest squares -p^2 of the model."""
    p = np.array(solve(build(load, q, n)).steps[-1].summary["eigenvalues"]) @ (1.0, 1j)
    values = -(p**2)
    values = values[np.argsort(np.abs(values))]
    # a pair p, -p of real squares, or a complex pair of squares
    kept: list[complex] = []
    for value in values:
        if all(abs(value - other) > 1e-7 * abs(value) for other in kept):
            kept.append(complex(value))
    return np.array(kept[:2])


def meeting(pair, a: float, b: float) -> tuple[float, float]:
    """Return the load where the two squares that ``pair(q)`` gives meet, and the frequency there (secant rule)."""

    def gap(q: float) -> tuple[float, float]:
        one, two = pair(q)
        return float(((one - two) ** 2).real), float(0.5 * (one + two).real)

    fa = gap(a)[0]
    for _ in range(20):
        fb, mean = gap(b)
        if abs(fb) < 1e-4 * mean or fa == fb:
            break
        a, b, fa = b, b - fb * (b - a) / (fb - fa), fb
    return b, float(np.sqrt(mean))


def _growth(pair: np.ndarray) -> float:
    """Return the largest growth rate [1/s] of two squares -p^2."""
    return float(np.sqrt(-pair.astype(complex)).real.max())


def check(f: Findings) -> None:
    curves: list[Curve] = []
    for load, start in (("uniform", (38.0, 39.5)), ("linear", (145.0, 149.0))):
        exact, frequency = meeting(lambda q, load=load: squares(load, q), *start)
        meshes = np.array([meeting(lambda q, load=load, n=n: modes(load, q, n), *start) for n in MESHES])
        limit, moved = limit_of(meshes)
        found = limit[0]
        for what, value, true, error in zip(("load", "frequency"), limit, (exact, frequency), moved, strict=True):
            f.row(
                "B-LEIPHOLZ", f"{what} at which two modes meet, {load}, limit of 10 to 40 elements", value, true,
                "The change of the limit by the coarsest mesh.", INDEPENDENT, tolerance=error,
            )  # fmt: skip
        if load == "linear":
            errors = np.abs(meshes[:, 0] - exact)
            f.row("B-LEIPHOLZ", "order of the error of the load, linear, 20 to 40 elements",
                  np.log2(errors[1] / errors[2]), 2.0, "Lumping shifts the loads of an element by h^2.", PROPERTY,
                  tolerance=0.1)  # fmt: skip
        if load in reference():
            f.digits("B-LEIPHOLZ", f"load at which two modes meet, {load}", found, reference()[load],
                     quoted("Leipholz (1962)"))  # fmt: skip
        # growth goes with the root of the distance to the limit of the same mesh
        coarse, fine = (
            _growth(modes(load, 1.02 * float(q), n)) for n, q in zip(MESHES[1:], meshes[1:, 0], strict=True)
        )
        f.row("B-LEIPHOLZ", f"growth at 1.02 of the load, {load}, 40 elements [1/s]", fine,
              _growth(squares(load, 1.02 * exact)), "The change from half as many elements.", INDEPENDENT,
              tolerance=abs(fine - coarse))  # fmt: skip
        q = np.linspace(0.2, 0.99, 5) * exact
        frequencies = np.array([np.sort(np.sqrt(modes(load, float(v)).real)) for v in q])
        curves += [Curve(q / exact, frequencies[:, k], f"{load}, mode {k + 1}", "o-") for k in range(2)]
        if load == "uniform":
            curves.append(published("Leipholz (1962)", 40.05 / exact, limit[1]))
    f.figure("Frequencies against the load", curves, "Load over that of flutter", "[rad/s]")
