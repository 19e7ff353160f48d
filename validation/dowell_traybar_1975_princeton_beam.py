"""Princeton beam.

A thin cantilever under a dead load at its tip, its section turned against the load: bending about both axes twists it.

           y                         load P at the angle beta from the stiff direction y:
           |__ x                     P (-cos(beta) ey + sin(beta) ez)
      clamp|=======================o
             508 mm, section 12.3777 (along y) x 3.2024 mm, E = 71.7 GPa, nu = 0.31

Source: E.H. Dowell, J.J. Traybar, "An experimental study of the nonlinear stiffness of a rotor blade undergoing flap,
lag and twist deformations", AMS Reports 1194 and 1257, Princeton University, 1975: problem and loads.  The numbers
are those of beam elements of ANSYS in L. Obrezkov, A. Mikkola, M.K. Matikainen et al., "Performance review of locking
alleviation methods for continuum ANCF beam elements", Nonlinear Dynamics 109 (2022), as quoted in the test model
ANCFBeamTest.py of EXUDYN (github.com/jgerstmayr/EXUDYN).  The torsion constant of their section is not told.  It is
identified from one of their numbers by the exact beam (a boundary-value problem in this file): all others must follow.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated, published
from fem_mbs.validation.exact_beam import cantilever
from fem_mbs.validation.kinds import INDEPENDENT, program

CAPABILITY = "beams"
CASES = {"B-PRINCETON": "thin cantilever, bent about both axes and twisted by one oblique load"}
DEVIATIONS = (
    "The torsion constant of the section behind the published results of the Princeton beam is not told; their uy at "
    "8.896 N and 75 degrees is that of the exact beam with 1.034 of the constant of a rectangle, with which all "
    "others agree to 1.4e-5 of the length.  With the rectangle's constant uy differs by up to 1.2 %.",
)

LENGTH, HEIGHT, WIDTH, E, NU = 0.508, 12.3777e-3, 3.2024e-3, 71.7e9, 0.31
LOADS = (8.896, 13.345)
ANGLES = (0, 15, 30, 45, 60, 75, 90)
MESHES = (6, 18, 54)


def stiffness(torsion: float = 1.0) -> dict[str, float]:
    """Return the stiffnesses EA, GA [N], GJ and EI [N m^2] of the section.

    J is ``torsion`` times that of a rectangle, by the first terms of St. Venant's series (Timoshenko & Goodier).
    """
    G, A, q = E / (2.0 * (1.0 + NU)), HEIGHT * WIDTH, WIDTH / HEIGHT
    return {
        "EA": E * A,
        "GAy": G * A * 5.0 / 6.0,
        "GAz": G * A * 5.0 / 6.0,
        "GJ": torsion * G * HEIGHT * WIDTH**3 * (1.0 / 3.0 - 0.21 * q * (1.0 - q**4 / 12.0)),
        "EIy": E * HEIGHT * WIDTH**3 / 12.0,
        "EIz": E * WIDTH * HEIGHT**3 / 12.0,
    }


def load(force: float, beta: float) -> np.ndarray:
    angle = np.radians(beta)
    return force * np.array([0.0, -np.cos(angle), np.sin(angle)])


def build(
    force: float = 8.896, beta: float = 45.0, n: int = 20, strains: str | None = None, torsion: float = 1.0
) -> Model:
    model = Model(3, "Princeton beam")
    model.section("blade", "stiffness", **stiffness(torsion), rhoA=0.0)
    model.line("blade", (0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), n)
    model.beams("blade", "blade", "blade", strains=strains, orientation=(0.0, 1.0, 0.0))
    model.fix("blade:start")
    model.force("P", "blade:end", load(force, beta))
    model.sensor("tip", "displacement", on="blade:end")
    model.static_step(increments=4)
    return model


def reference() -> dict:
    return {
        # -uy and uz of the tip at the angles
        8.896: (
            (1.071417630e-2, 1.061328706e-2, 1.011169630e-2, 8.837226265e-3, 6.604665004e-3, 3.538889001e-3, 0.0),
            (0.0, 4.208232124e-2, 7.939482948e-2, 0.108987937, 0.129887616, 0.142194370, 0.146245978),
        ),
        13.345: (
            (1.606423724e-2, 1.645825752e-2, 1.665873206e-2, 1.518618440e-2, 1.157837500e-2, 6.248967384e-3, 0.0),
            (0.0, 6.435812858e-2, 0.117735994, 0.156467239, 0.181861627, 0.196097131, 0.200677707),
        ),
    }


def exact(force: float, beta: float, torsion: float = 1.0) -> np.ndarray:
    """Return the displacement of the tip of the exact beam."""
    known = stiffness(torsion)
    flexibility = np.diag(1.0 / np.array([known[k] for k in ("EA", "GAy", "GAz", "GJ", "EIy", "EIz")]))
    tip = cantilever(LENGTH, flexibility, load(force, beta), intervals=16)[-1].place(LENGTH)
    return tip - (LENGTH, 0.0, 0.0)


def identified() -> float:
    """Return the torsion constant of the published results over that of a rectangle, from one uy."""
    force, k = LOADS[0], ANGLES.index(75)
    known = reference()[force][0][k]
    return float(brentq(lambda torsion: -exact(force, ANGLES[k], torsion)[1] - known, 0.9, 1.1, xtol=1e-6))


def own_error() -> float:
    """Return the largest deviation [m] of the published results from the exact beam where torsion has no part."""
    return max(
        float(abs(sign * exact(force, beta)[k] - reference()[force][k - 1][ANGLES.index(beta)]))
        for force in LOADS
        for k, sign, beta in ((1, -1.0, 0), (2, 1.0, 90))
    )


def check(f: Findings) -> None:
    known, torsion, left = reference(), identified(), 2.0 * own_error()
    curves = []
    for force in LOADS:
        tips = np.array([_limit(force, beta, (8, 24), torsion) for beta in ANGLES])
        for k, (name, sign) in enumerate((("-uy", -1.0), ("uz", 1.0)), 1):
            for beta, tip, ansys in zip(ANGLES, tips, known[force][k - 1], strict=True):
                if ansys and (force, beta, k) != (LOADS[0], 75, 1):  # which tells the torsion constant
                    f.row(
                        "B-PRINCETON", f"{name} of the tip, {force} N at {beta} deg [m]", sign * tip[k], ansys,
                        "Twice what ANSYS's elements are off the exact beam at 0 and 90 degrees, without torsion.",
                        tolerance=left,
                        kind=program("ANSYS beams, by Obrezkov et al. (2022), in EXUDYN's ANCFBeamTest.py"),
                    )  # fmt: skip
            curves.append(Curve(np.array(ANGLES), sign * tips[:, k], f"{name}, {force} N"))
            points = [(beta, u) for beta, u in zip(ANGLES, known[force][k - 1], strict=True) if u]
            curves.append(published("" if len(curves) > 1 else "ANSYS", *zip(*points, strict=True)))
        for beta in (30, 60):
            f.zero(
                "B-PRINCETON", f"limit of the tip against the exact beam over the length, {force} N at {beta} deg",
                np.linalg.norm(_limit(force, beta, MESHES) - exact(force, beta)) / LENGTH, 1e-6,
                "The file solves the boundary-value problem; extrapolation of three meshes leaves the rest.",
                kind=INDEPENDENT,
            )  # fmt: skip
    f.figure("Princeton beam", curves, "Angle of the load [deg]", "Displacement of the tip [m]")


def _limit(force: float, beta: float, meshes: tuple[int, ...], torsion: float = 1.0) -> np.ndarray:
    """Return the displacement (3,) [m] of the tip in the limit of meshes that are three times as fine in turn."""
    return extrapolated([solve(build(force, beta, n, torsion=torsion)).sensor("tip").values[-1] for n in meshes], 3.0)
