r"""Columns that give way to shear and to thrust, such as helical springs and rubber rods.

        P --> o======================o <-- P        hinged ends, L = EI = 1
             ///                    OOO

With the stiffnesses GA against shear and EA along the axis, and Euler's load P_e = pi^2 EI/L^2, the straight column
buckles where

    P (1 - P/EA + P/GA) = P_e.

Soft in shear, it buckles at the smaller load of Haringx, (sqrt(1 + 4 P_e/GA) - 1) GA/2.  Soft along its axis it gets
shorter and buckles at a larger one, and not at all below EA = 4 P_e.  With EA = GA both effects cancel.

Source: J.A. Haringx, "On highly compressible helical springs and rubber rods, and their application for vibration-free
mountings, I", Philips Research Reports 3 (1948) 401-449; A. Magnusson, M. Ristinmaa, C. Ljung, "Behaviour of the
extensible elastica solution", Int. J. Solids Structures 38 (2001) 8441-8457, doi:10.1016/S0020-7683(01)00089-0.  The
reference is the formula above, which holds for beams whose forces are linear in the strains of Reissner (1972).
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "buckling"
CASES = {"B-SOFT-COLUMN": "buckling loads of columns that are soft in shear, along their axes, or both"}

EULER = np.pi**2
#: EA and GA over Euler's load
SOFT = {
    "soft in shear, GA = P_e": (np.inf, 1.0),
    "soft in shear, GA = 4 P_e": (np.inf, 4.0),
    "soft along the axis, EA = 5 P_e": (5.0, np.inf),
    "soft in both ways, EA = GA = 6 P_e": (6.0, 6.0),
    "soft in both ways, EA = 8 P_e and GA = 2 P_e": (8.0, 2.0),
}
STIFF = 1e5  # instead of infinity along the axis, over Euler's load
MESHES = (6, 12, 24)


def build(n: int = 16, axial: float = STIFF, shear: float = 1.0, until: float = 1.3) -> Model:
    """Return the column of n elements, loaded to ``until`` times Euler's load; stiffnesses over the latter."""
    model = Model(2, "soft column")
    model.section("soft", "stiffness", EA=EULER * axial, EI=1.0, GA=EULER * shear, rhoA=0.0)
    model.line("column", (0.0, 0.0), (1.0, 0.0), n)
    model.beams("column", "column", "soft")
    model.fix("column:start", ["x", "y"])
    model.fix("column:end", ["y"])
    model.force("P", "column:end", (-EULER, 0.0))
    model.static_step(increments=6, until=until, stability=True, tolerance=1e-9)
    return model


def load(axial: float, shear: float) -> float:
    """Return the buckling load over Euler's, the smaller root of P (1 - P/EA + P/GA) = 1; nan if there is none."""
    a = 1.0 / shear - 1.0 / axial
    root = 1.0 + 4.0 * a
    return 2.0 / (1.0 + np.sqrt(root)) if root >= 0.0 else float("nan")


def reference() -> dict[str, float]:
    return {name: load(*stiffness) for name, stiffness in SOFT.items()}


def buckling(n: int, axial: float, shear: float, until: float) -> float:
    step = solve(build(n, axial if np.isfinite(axial) else STIFF, shear, until)).steps[0]
    points = [point for point in step.summary["critical_points"] if point["kind"] == "bifurcation"]
    return points[0]["load_factor"] if points else float("nan")


def check(f: Findings) -> None:
    case, measured = "B-SOFT-COLUMN", {}
    for name, exact in reference().items():
        axial, shear = SOFT[name]
        loads = [buckling(n, axial, shear, 1.2 * exact) for n in MESHES]
        measured[name] = float(extrapolated(loads, 2.0))
        f.converged(case, f"buckling load over Euler's, {name}, h -> 0", loads, exact, CLOSED_FORM, error=1e-5,
                    why="the stiff axis shortens")  # fmt: skip
    none = solve(build(16, 3.9, np.inf, 2.5)).steps[0].summary
    f.zero(case, "negative eigenvalues up to 2.5 times Euler's load, EA = 3.9 P_e",
           len(none["critical_points"]), 0.0, "Below EA = 4 P_e the formula has no root.", CLOSED_FORM)  # fmt: skip
    shears, axials = np.geomspace(0.5, 100.0, 60), np.geomspace(4.001, 100.0, 60)
    along = measured["soft along the axis, EA = 5 P_e"]
    points = np.array([(shear, measured[name]) for name, (axial, shear) in SOFT.items() if not np.isfinite(axial)])
    f.figure(
        "Buckling loads of soft columns",
        [Curve(shears, np.array([load(np.inf, g) for g in shears]), "soft in shear, Haringx"),
         Curve(axials, np.array([load(e, np.inf) for e in axials]), "soft along the axis"),
         Curve(points[:, 0], points[:, 1], "fem-mbs, in shear", "o"),
         Curve(np.array([5.0]), np.array([along]), "fem-mbs, along the axis", "o")],
        "Stiffness over Euler's load [-]", "Buckling load over Euler's [-]", "Abscissa: GA or EA.",
    )  # fmt: skip
