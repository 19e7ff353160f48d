"""Bending with torsion.

A shear-flexible cantilever under a torque and a bending moment at its tip, both fixed in direction.  No force acts, so
that there is no shear force anywhere: shear stiffness must not matter.  Twisting the bent beam moves its tip sideways.

           y
           |__ x                 Mx = 5e5, My = 2e6
      clamp|====================o   L = 2, h = 0.2 (along y), w = 0.4, E = 2.07e11, nu = 0.3
                                    GJ = 0.5768 G (Iy + Iz), shear coefficients 0.8331 and 0.7961

Source: K. Nachbagauer, P. Gruber, J. Gerstmayr, "Structural and continuum mechanics approaches for a 3D shear
deformable ANCF beam finite element: application to static and linearized dynamic examples", J. Comput. Nonlinear Dyn. 8
(2013), 021004, doi:10.1115/1.4006787, table 4: displacements 1.0939e-4, 1.8646e-4, 1.8117e-2 by 40 elements of ANSYS,
as quoted in the test model ANCFBeamTest.py of EXUDYN (github.com/jgerstmayr/EXUDYN).
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated, published
from fem_mbs.validation.exact_beam import cantilever
from fem_mbs.validation.kinds import INDEPENDENT, printed

CAPABILITY = "beams"
CASES = {"B-MXMY": "torque and bending moment on a shear-flexible cantilever: no shear force at any shear stiffness"}

PAPER = printed("Nachbagauer et al. (2013), table 4, as quoted in EXUDYN's test model ANCFBeamTest.py")
LENGTH, HEIGHT, WIDTH, E, NU = 2.0, 0.2, 0.4, 2.07e11, 0.3
MOMENT = (0.5e6, 2.0e6, 0.0)
MESHES = (4, 12, 36)
FACTORS = (1.0, 1e-2, 1e3)  # of the shear stiffness


def stiffness(shear: float) -> dict[str, float]:
    G, A = E / (2.0 * (1.0 + NU)), HEIGHT * WIDTH
    Iy, Iz = HEIGHT * WIDTH**3 / 12.0, WIDTH * HEIGHT**3 / 12.0
    return {
        "EA": E * A,
        "GAy": shear * 0.8331 * G * A,
        "GAz": shear * 0.7961 * G * A,
        "GJ": 0.5768 * G * (Iy + Iz),
        "EIy": E * Iy,
        "EIz": E * Iz,
    }


def build(n: int = 4, shear: float = 1.0, strains: str | None = None) -> Model:
    """Return the cantilever with ``shear`` times the shear stiffness."""
    model = Model(3, "bending with torsion")
    model.section("beam", "stiffness", **stiffness(shear), rhoA=0.0)
    model.line("beam", (0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), n)
    model.beams("beam", "beam", "beam", strains=strains, orientation=(0.0, 1.0, 0.0))
    model.fix("beam:start")
    model.moment("M", "beam:end", MOMENT)
    model.sensor("tip", "displacement", on="beam:end")
    for quantity in ("N", "Vy", "Vz"):
        model.sensor(quantity, "element", on="beam", element=n // 2, quantity=quantity)
    model.static_step(increments=2)
    return model


def reference() -> dict:
    return {"u": np.array([1.0939e-4, 1.8646e-4, 1.8117e-2])}


def exact() -> np.ndarray:
    """Return the displacement of the tip of the exact beam, at any shear stiffness."""
    flexibility = np.diag(1.0 / np.array([stiffness(1.0)[k] for k in ("EA", "GAy", "GAz", "GJ", "EIy", "EIz")]))
    return cantilever(LENGTH, flexibility, moment=MOMENT, intervals=16)[-1].place(LENGTH) - (LENGTH, 0.0, 0.0)


def check(f: Findings) -> None:
    known, whole = reference()["u"], exact()
    curves, ratios = [], []
    for shear in FACTORS:
        found, forces = [], 0.0
        for n in MESHES:
            solution = solve(build(n, shear))
            found.append(solution.sensor("tip").values[-1])
            forces = max(forces, *(abs(solution.steps[-1].series[f"sensor/{q}"][-1, 0]) for q in ("N", "Vy", "Vz")))
        label = f"GA times {shear:g}"
        if shear == 1.0:
            sizes = 1.0 / np.array(MESHES)
            shown = np.abs(np.array(found)) / known
            ratios = [Curve(sizes, shown[:, k], f"|u{axis}|", "o-") for k, axis in enumerate("xyz")]
            ratios.append(published("Nachbagauer et al. (2013)", 0.0, 1.0))
            for k, axis in enumerate("xyz"):
                f.row(
                    "B-MXMY",
                    f"|u{axis}| of the tip, {MESHES[-1]} elements",
                    abs(found[-1][k]),
                    known[k],
                    "ANSYS has 40 elements; the elements of the paper differ from it by 5e-4 as well.",
                    PAPER,
                    relative=5e-4,
                )
        f.zero(
            "B-MXMY", f"limit of the tip against the exact beam over its deflection, {label}",
            np.linalg.norm(extrapolated(found, 3.0) - whole) / np.linalg.norm(whole), 1e-6,
            "The file solves the boundary-value problem; extrapolation of three meshes leaves the rest.", INDEPENDENT,
        )  # fmt: skip
        f.zero(
            "B-MXMY", f"largest N, Vy, Vz at the middle times L / moment, all meshes, {label}",
            forces * LENGTH / np.linalg.norm(MOMENT), 1e-8, "No force acts, so that every mesh is exact.",
        )  # fmt: skip
        errors = np.linalg.norm(np.array(found) - whole, axis=1) / np.linalg.norm(whole)
        curves.append(Curve(1.0 / np.array(MESHES), np.maximum(errors, 1e-14), label))
    f.figure("Tip, GA times 1", ratios, "Element length / length", "Displacement over the printed one [-]")
    f.figure("Error of the tip", curves, "Element length / length", "Error / deflection", "", "loglog")
