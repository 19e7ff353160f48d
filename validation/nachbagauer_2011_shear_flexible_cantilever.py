"""Short cantilever under a large transverse force.

A cantilever of a quarter of its length in height, bent by 20 degrees: shear deformation is a good part of it.

           y
           |__ x               ^ F = 5e8 h^3
      clamp|===================o     L = 2, h = 0.5 (along y), w = 0.1, E = 2.07e11, nu = 0.3
                                     shear coefficient 10 (1 + nu)/(12 + 11 nu)

Source: K. Nachbagauer, A.S. Pechstein, H. Irschik, J. Gerstmayr, "A new locking-free formulation for planar, shear
deformable, linear and quadratic beam finite elements based on the absolute nodal coordinate formulation", Multibody
System Dynamics 26 (2011), 245-263: ux 0.15097103, uy 0.71056837 with 1024 linear elements that converge with h^2, as
quoted in the test model ANCFBeamTest.py of EXUDYN (github.com/jgerstmayr/EXUDYN).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated, published
from fem_mbs.validation.exact_beam import cantilever
from fem_mbs.validation.kinds import INDEPENDENT, printed

CAPABILITY = "beams"
CASES = {"B-SHEAR": "short cantilever under a large tip force, with shear deformation"}

PAPER = printed("Nachbagauer et al. (2011), as quoted in EXUDYN's test model ANCFBeamTest.py")
LENGTH, HEIGHT, WIDTH, E, NU = 2.0, 0.5, 0.1, 2.07e11, 0.3
FORCE = 5.0e8 * HEIGHT**3
MESHES = (6, 18, 54)


def stiffness() -> dict[str, Any]:
    G, A = E / (2.0 * (1.0 + NU)), HEIGHT * WIDTH
    EIz = E * WIDTH * HEIGHT**3 / 12.0
    # nothing twists or bends it the other way
    return {"EA": E * A, "GA": 10.0 * (1.0 + NU) / (12.0 + 11.0 * NU) * G * A, "GJ": EIz, "EI": EIz}


def build(n: int = 54, dimension: int = 3, strains: str | None = None) -> Model:
    model = Model(dimension, "short cantilever")
    model.section("beam", "stiffness", **stiffness(), rhoA=0.0)
    model.line("beam", np.zeros(dimension), LENGTH * np.eye(dimension)[0], n)
    model.beams("beam", "beam", "beam", strains=strains)
    model.fix("beam:start")
    model.force("F", "beam:end", FORCE * np.eye(dimension)[1])
    model.sensor("tip", "displacement", on="beam:end")
    for quantity, name in (
        ("N", "N"),
        ("V", "Q" if dimension == 2 else "Vy"),
        ("M", "M_p" if dimension == 2 else "Mz 1"),
    ):
        model.sensor(quantity, "element", on="beam", element=n // 6 // 2, quantity=name)
    model.static_step(increments=5)
    return model


def reference() -> dict:
    return {"ux": 0.15097103, "uy": 0.71056837}


def measured(n: int, dimension: int, strains: str | None = None) -> np.ndarray:
    """Return -ux and uy of the tip; N and V in the middle of the first of six equal pieces."""
    solution = solve(build(n, dimension, strains))
    tip = solution.sensor("tip").values[-1]
    return np.array(
        [-tip[0], tip[1], solution.steps[-1].series["sensor/N"][-1, 0], solution.steps[-1].series["sensor/V"][-1, 0]]
    )


def exact() -> np.ndarray:
    """Return the same of the exact beam."""
    s = stiffness()
    flexibility = np.diag(1.0 / np.array([s["EA"], s["GA"], s["GA"], s["GJ"], s["EI"], s["EI"]]))
    solution = cantilever(LENGTH, flexibility, (0.0, FORCE, 0.0), intervals=24)[-1]
    tip = solution.place(LENGTH)
    return np.array([LENGTH - tip[0], tip[1], *solution.forces(LENGTH / 12.0)[:2]])


def check(f: Findings) -> None:
    known, whole = reference(), exact()
    curves, tips = [], []
    for dimension, where in ((3, "space"), (2, "plane")):
        found = np.array([measured(n, dimension) for n in MESHES])
        tips.append(Curve(1.0 / np.array(MESHES), found[:, 1], where, "o-"))
        end = extrapolated(found, 3.0)
        for k, name in enumerate(("ux", "uy")):
            f.row(
                "B-SHEAR", f"{name} of the tip, extrapolated, {where}", end[k], known[name],
                "1024 elements leave 2.3e-7 of uy.", PAPER, tolerance=3e-7,
            )  # fmt: skip
        size = np.array([LENGTH, LENGTH, FORCE, FORCE])
        f.zero(
            "B-SHEAR", f"limit of the tip and of N and V near the clamp against the exact beam, {where}",
            np.abs((end - whole) / size).max(), 1e-6,
            "The file solves the boundary-value problem; extrapolation of three meshes leaves the rest.",
            INDEPENDENT,
        )  # fmt: skip
        errors = np.abs((found - whole) / size).max(axis=1)
        f.between(
            "B-SHEAR", f"order of convergence, {MESHES[1]} to {MESHES[2]} elements, {where}",
            np.log(errors[1] / errors[2]) / np.log(3.0), 1.8, 5.0, "The order is 2 at least.",
        )  # fmt: skip
        curves.append(Curve(1.0 / np.array(MESHES), errors, where))
    tips.append(published("Nachbagauer et al. (2011)", 0.0, known["uy"]))
    f.figure("Deflection of the tip", tips, "Element length / length", "uy [m]")
    f.figure("Largest relative error", curves, "Element length / length", "Error", "", "loglog")
