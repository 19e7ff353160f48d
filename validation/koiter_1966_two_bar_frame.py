r"""Two-bar frame that buckles in an asymmetric way: the load falls as its corner turns to one side.

                 | P
       corner ___v____________
             |                o  hinged support      two equal bars, L = EI = 1, which do not stretch,
             |                                       joined stiffly at the corner
             o  hinged support

The column buckles at P L^2/EI = x^2, where the turning stiffness of its top and of the beam cancel:
x^2/(1 - x cot x) + 3 = 0, x = 3.72638.  Behind that point the load is P = P_c (1 - .3805 a + ...) with the angle a by
which the corner turns, the column outwards and the beam upwards.

Source: W.T. Koiter, "Post-buckling analysis of a simple two-bar frame", in: Recent progress in applied mechanics, The
Folke Odqvist volume, Almqvist & Wiksell, Stockholm 1966, 337-354 (the slope .3805 from memory); J. Roorda, "Stability
of structures with small imperfections", J. Eng. Mech. Div. ASCE 91 (1965) 87-106.  References: the equation above, and
the boundary-value problem of both elastic lines at given angles, solved in this file.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.integrate import solve_bvp
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, quoted

CAPABILITY = "buckling"
CASES = {"B-TWO-BARS": "buckling load of a two-bar frame, and the falling load behind it"}

ANGLES = np.array([0.05, 0.1, 0.15, 0.2])
MESHES = (8, 16, 32)


def build(n: int = 32) -> Model:
    """Return the frame of 2 n elements without a step, a unit load on its corner."""
    model = Model(2, "two-bar frame")
    model.section("bar", "stiffness", EA=1e7, EI=1.0, GA=np.inf, rhoA=0.0)
    model.polyline("frame", [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)], n)
    model.beams("frame", "frame", "bar")
    for end in ("start", "end"):
        model.fix(f"frame:{end}", ["x", "y"])
    model.force("P", "frame:corner_2", (0.0, -1.0))
    model.sensor("corner", "rotation", on="frame:corner_2")
    return model


def path(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return angles of the corner [rad] and loads along the path."""
    model = build(n)
    # bars that are stiff along their axes and soft across them leave more of the forces to round-off
    model.static_step(increments=3, until=13.0, rtol=1e-9)
    arc = 7e-3 * np.sqrt(n)  # sums over the nodes
    model.static_step(name="path", control="arc", until=np.inf, size=0.5 * arc, largest=arc, points=42, rtol=1e-9)
    series = solve(model).steps[-1].series
    return series["sensor/corner"].ravel(), series["load factor"].ravel()


def elastica(angles: np.ndarray) -> np.ndarray:
    """Return the loads (n,) at angles of the corner: two inextensible lines, P and the force of the column unknown."""

    def rates(_, y, p):
        a, b = p[0], p[1]  # force in the column; that in the beam is (a, b + P)
        column, beam = y[0], y[4]
        return np.array([y[1], a * np.sin(column) - b * np.cos(column), np.cos(column), np.sin(column),
                         y[5], a * np.sin(beam) - (b + p[2]) * np.cos(beam), np.cos(beam), np.sin(beam)])  # fmt: skip

    def ends(y0, y1, p, angle):
        return np.array([y0[1], y0[2], y0[3], y1[0] - y0[4] - 0.5 * np.pi, y1[1] - y0[5], y1[2] - y0[6],
                         y1[3] - y0[7], y1[5], y1[6] - 1.0, y1[7] - 1.0, y0[4] - angle])  # fmt: skip

    s = np.linspace(0.0, 1.0, 41)
    x = reference_root()
    shape = np.sin(x * s) / np.sin(x) - s  # deflection of the column as it buckles
    slope = x * np.cos(x * s) / np.sin(x) - 1.0
    scale = angles[0] / slope[-1]  # the column turns as the beam does
    # fmt: off
    y = np.array([0.5 * np.pi + scale * slope, -scale * x**2 * np.sin(x * s) / np.sin(x), -scale * shape, s,
                  angles[0] * (1.0 - 3.0 * s + 1.5 * s**2), angles[0] * (3.0 * s - 3.0), s, np.ones_like(s)])
    # fmt: on
    p, loads = np.array([0.0, -(x**2), x**2]), []
    for angle in angles:
        found = solve_bvp(rates, partial(ends, angle=angle), s, y, p, tol=1e-9, max_nodes=20000)
        if not found.success:
            raise RuntimeError(found.message)
        s, y, p = found.x, found.y, found.p
        loads.append(p[2])
    return np.array(loads)


def reference_root() -> float:
    """Return x of the buckling load x^2."""
    return brentq(lambda x: 3.0 + x**2 / (1.0 - x / np.tan(x)), 3.5, 4.2)


def reference() -> dict:
    """Return the buckling load and the loads at `ANGLES`, times L^2/EI, and Koiter's slope."""
    return {"buckling": reference_root() ** 2, "loads": elastica(ANGLES), "slope": -0.3805}


def check(f: Findings) -> None:
    case, known = "B-TWO-BARS", reference()
    found = []
    for n in MESHES:
        model = build(n)
        model.buckling_step(count=2, sign="positive")
        found.append(solve(model).steps[0].summary["load_factors"][0])
    f.converged(case, "linear buckling load, h -> 0", found, known["buckling"], CLOSED_FORM, error=1.4e-6,
                why="the bars stretch")  # fmt: skip
    paths = [path(n) for n in MESHES]
    loads = []
    for angle, load in paths:
        behind = angle > 0.6 * ANGLES[0]
        fit = np.polynomial.Polynomial.fit(angle[behind], load[behind], 8)
        loads.append(fit(ANGLES))
    for angle, values, exact in zip(ANGLES, np.transpose(loads), known["loads"], strict=True):
        # the secant is off by the stretch over the angle of the corner
        stretch = float(f"{1.4e-6 / angle:.2g}")
        f.converged(
            case, f"load at the angle {angle:g} of the corner, h -> 0", values, exact, INDEPENDENT, error=stretch,
            why="bars that stretch by 1.4e-6 turn the corner by as much",
        )  # fmt: skip
    slopes = (extrapolated(loads, 2.0) / known["buckling"] - 1.0) / ANGLES
    start = np.polynomial.Polynomial.fit(ANGLES, slopes, 2)(0.0)
    f.row(case, "slope of the load over the buckling load at the angle 0", start, known["slope"],
          "A parabola through the secants to three angles and more leaves their third order.",
          quoted("Koiter (1966)"), tolerance=2e-3)  # fmt: skip
    angle, load = paths[-1]
    f.figure(
        "Load of the two-bar frame",
        [Curve(angle, load, f"{MESHES[-1]} elements per bar"), Curve(ANGLES, known["loads"], "elastic lines", "o"),
         Curve(ANGLES, known["buckling"] * (1.0 + known["slope"] * ANGLES), "Koiter (1966), tangent", "--")],
        "Angle of the corner [rad]", "P L^2/EI [-]",
    )  # fmt: skip
