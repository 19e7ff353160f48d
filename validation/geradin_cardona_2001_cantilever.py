"""Cantilever under a large transverse force.

A straight cantilever bends by 38 degrees under a dead force at its tip.

           z
           |__ x
      clamp|===================o          L = 5, EA = 4.8e8, GA = 3.231e8, GJ = 1e6, EI = 9.346e6
                               | F = 600 kN, along -z
                               v

Source: M. Geradin, A. Cardona, "Flexible multibody dynamics: a finite element approach", Wiley, 2001: tip deflection
2.159, rotation 0.6720, as quoted in the documentation of SHARPy (installation.md, tests/xbeam;
github.com/ImperialCollegeLondon/sharpy), which takes them, and the shortening 0.596, from R.J. Simpson, R. Palacios,
"Numerical aspects of nonlinear flexible aircraft flight dynamics modeling", AIAA 2013-1634.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated
from fem_mbs.validation.exact_beam import cantilever
from fem_mbs.validation.kinds import INDEPENDENT, quoted

CAPABILITY = "beams"
CASES = {"B-GERADIN": "cantilever under a large tip force: place, rotation and section forces"}

LENGTH, EA, GA, GJ, EI, FORCE = 5.0, 4.8e8, 3.231e8, 1.0e6, 9.346e6, 6.0e5
MESHES = (6, 18, 54)


def build(n: int = 20, dimension: int = 3, strains: str | None = None) -> Model:
    """Return the cantilever along x; the force acts along -z, in the plane along -y."""
    model = Model(dimension, "cantilever under a tip force")
    model.section("beam", "stiffness", EA=EA, GA=GA, GJ=GJ, EI=EI, rhoA=0.0)
    model.line("beam", np.zeros(dimension), LENGTH * np.eye(dimension)[0], n)
    model.beams("beam", "beam", "beam", strains=strains)
    model.fix("beam:start")
    model.force("F", "beam:end", -FORCE * np.eye(dimension)[-1])
    model.sensor("tip", "displacement", on="beam:end")
    model.sensor("turn", "rotation", on="beam:end")
    model.sensor("M", "element", on="beam", element=0, quantity="M_p" if dimension == 2 else "My 1")
    model.static_step(increments=5)
    return model


def reference() -> dict:
    return {"u": 0.596, "w": 2.159, "turn": 0.6720}


def measured(n: int, dimension: int, strains: str | None = None) -> np.ndarray:
    """Return shortening and deflection of the tip, its rotation, bending moment at the clamp."""
    solution = solve(build(n, dimension, strains))
    tip, turn = solution.sensor("tip").values[-1], solution.sensor("turn").values[-1]
    return np.array(
        [-tip[0], -tip[-1], abs(turn[1 if dimension == 3 else 0]), abs(solution.steps[-1].series["sensor/M"][-1, 0])]
    )


def exact() -> np.ndarray:
    """Return the same of the exact beam."""
    flexibility = np.diag(1.0 / np.array([EA, GA, GA, GJ, EI, EI]))
    solution = cantilever(LENGTH, flexibility, (0.0, 0.0, -FORCE), intervals=16)[-1]
    tip, R = solution.place(LENGTH), solution.rotation(LENGTH)
    return np.array([LENGTH - tip[0], -tip[2], np.arctan2(-R[2, 0], R[0, 0]), abs(solution.forces(0.0)[4])])


def check(f: Findings) -> None:
    known, whole = reference(), exact()
    curves = []
    for dimension, where in ((3, "space"), (2, "plane")):
        found = np.array([measured(n, dimension) for n in MESHES])
        finest = found[-1]
        for k, (name, digits) in enumerate((("u", 1e-3), ("w", 1e-3), ("turn", 1e-4))):
            label = {"u": "shortening", "w": "deflection", "turn": "rotation"}[name]
            f.row(
                "B-GERADIN", f"{label} of the tip, {MESHES[-1]} elements in the {where}", finest[k], known[name],
                "The quoted number has these digits.", tolerance=digits,
                kind=quoted("Geradin & Cardona (2001), in the documentation of SHARPy"),
            )  # fmt: skip
        size = np.array([LENGTH, LENGTH, 1.0, whole[3]])
        f.zero(
            "B-GERADIN", f"limit of place, rotation and clamping moment against the exact beam, {where}",
            np.abs((extrapolated(found, 3.0) - whole) / size).max(), 1e-6,
            "The file solves the boundary-value problem; extrapolation of three meshes leaves the rest.",
            kind=INDEPENDENT,
        )  # fmt: skip
        errors = np.abs((found - whole) / size).max(axis=1)
        f.between(
            "B-GERADIN", f"order of convergence, {MESHES[1]} to {MESHES[2]} elements, {where}",
            np.log(errors[1] / errors[2]) / np.log(3.0), 1.8, 5.0, "The order is 2, or 4 for a slender beam.",
        )  # fmt: skip
        curves.append(Curve(1.0 / np.array(MESHES), errors, where))
    f.figure("Largest relative error", curves, "Element length / length", "Error", "", "loglog")
