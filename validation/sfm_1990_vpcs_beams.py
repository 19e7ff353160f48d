"""Beams of the guide of the French society of mechanics: a tuned mass on a beam, and a mass beside a cantilever's end.

      SDLL04   D: 2.5 m from A                       SDLL15            1 m
           o m_e                                     |=================+--o  1000 kg
           $ k_e                                         10 m, tube of
      =====+===================   10 m                   350 x 15 mm
      A    D                  B   EI = .78 MN m^2
      ^                       ^   78 kg/m            E = 210 GPa, nu = .3, 7800 kg/m^3

      m_e = lambda rho A L; alone on k_e it has the first frequency of the beam

Source: Societe francaise des mecaniciens, "Guide de validation des progiciels de calcul de structures", AFNOR
technique, Paris 1990, sheets SDLL04/89 and SDLL15/89.  The frequencies were read in the validation cases SDLL04 and
SDLL15 of Code_Aster, the equation of SDLL04 in its manual, V2.02.004.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, printed

CAPABILITY = "modes"
CASES = {
    "B-TUNED": "frequencies of a pinned beam with a tuned mass on a spring",
    "B-BESIDE-TUBE": "frequencies of a cantilever with a mass at its end and beside it",
}
DEVIATIONS = (
    "SFM (1990), SDLL04, as the validation case of Code_Aster has it: 6.2336 Hz, mass .001, should read 6.2836; its "
    "manual prints the equation of the frequencies with the other sign of one side.",
)

GYRATION = np.sqrt(0.35**2 + 0.32**2) / 4.0  # of the tube [m]
LENGTH, PLACE, BENDING, LINE_MASS = 10.0, 2.5, 0.78e6, 78.0


def build(ratio: float = 0.01, n: int = 40) -> Model:
    """Return the pinned beam in the plane with its mass on a spring, and its three lowest modes.

    Args:
        ratio: of the mass to that of the beam; 0: none.
        n: number of elements, a multiple of 4.
    """
    model = Model(2, "beam with a tuned mass")
    model.section("bar", "stiffness", EA=2e9, EI=BENDING, GA=np.inf, rhoA=LINE_MASS, rhoI=1e-6)
    model.line("beam", (0.0, 0.0), (LENGTH, 0.0), n)
    model.beams("beam", "beam", "bar")
    model.fix("beam:start", ["x", "y"])
    model.fix("beam:end", ["y"])
    if ratio:
        mass = ratio * LINE_MASS * LENGTH
        model.node("mass", (PLACE, 0.1))
        model.fix("mass", ["x"])
        model.point_mass("mass", "mass", mass)
        model.nodal_spring("spring", "mass", "y", mass * (2.0 * np.pi * exact(0.0)[0]) ** 2,
                           against=f"beam:#{n // 4 + 1}")  # fmt: skip
    model.modes_step(count=3)
    return model


def tube(beside: float, n: int = 20) -> Model:
    """Return the cantilever with its mass so far [m] beside its end, and its ten lowest modes."""
    model = Model(3, "cantilever with a mass")
    model.material("steel", E=210e9, nu=0.3, density=7800.0)
    model.section("tube", "tube", outer_diameter=0.35, thickness=0.015)
    model.line("beam", (0.0, 0.0, 0.0), (10.0, 0.0, 0.0), n)
    model.beams("beam", "beam", "tube", "steel", shear=False)
    model.fix("beam:start")
    model.point_mass("mass", "beam:end", 1000.0, offset=(0.0, beside, 0.0))
    model.modes_step(count=10)
    return model


def reference() -> dict:
    """Return the frequencies [Hz] of the beam by the ratio of masses (of one the misprinted one is
    left out), and of the cantilever by the place of its mass."""
    return {
        "tuned": {
            0.0: ("1.5707", "6.2831"), 0.001: ("1.546", "1.5958", ""), 0.01: ("1.4937", "1.6506", "6.2874"),
        },
        "tube": {
            0.0: ("1.65", "1.65", "16.07", "16.07", "50.02", "50.02", "76.47", "80.47", "103.2", "103.2"),
            1.0: ("1.636", "1.642", "13.460", "13.59", "28.90", "31.96", "61.62"),
        },
    }  # fmt: skip


def exact(ratio: float) -> np.ndarray:
    """Return the three lowest frequencies [Hz] of the beam with a tuned mass on a spring (two without a mass).

    ratio r L (sin ra sin rb/sin rL - sinh ra sinh rb/sinh rL) = 2 (c^2 - w^2)/c^2, with w = c at r L = pi.
    """
    scale = np.sqrt(BENDING / LINE_MASS) / LENGTH**2
    if not ratio:
        return np.array([(k * np.pi) ** 2 * scale / (2.0 * np.pi) for k in (1, 2)])
    a = PLACE / LENGTH

    def sides(r: float) -> float:  # times sin r, so that it has no poles
        wave = np.sin(r * a) * np.sin(r * (1.0 - a)) - np.sin(r) * np.sinh(r * a) * np.sinh(r * (1.0 - a)) / np.sinh(r)
        return float(ratio * r * wave + 2.0 * ((r / np.pi) ** 4 - 1.0) * np.sin(r))

    at = np.linspace(2.5, 6.5, 4001)
    values = np.array([sides(r) for r in at])
    roots = [brentq(sides, at[i], at[i + 1]) for i in np.flatnonzero(values[:-1] * values[1:] < 0.0)]
    return np.array(roots) ** 2 * scale / (2.0 * np.pi)


def check(f: Findings) -> None:
    for ratio, texts in reference()["tuned"].items():
        found = np.array(solve(build(ratio)).steps[-1].summary["frequencies_hz"])
        for k, (text, value) in enumerate(zip(texts, exact(ratio), strict=True)):
            label = f"frequency {k + 1} of the beam, mass {ratio:g} of it [Hz]"
            if text:
                f.digits(
                    "B-TUNED", label, found[k], text,
                    printed("SFM (1990), SDLL04/89, in the validation case SDLL04 of Code_Aster"),
                )  # fmt: skip
            f.row("B-TUNED", f"{label}, equation", found[k], value,
                  "1e-6 of axial motion and of the mesh, (2 pi/40)^4/720.", CLOSED_FORM, relative=2e-6)  # fmt: skip
    curves: list[Curve] = []
    for beside, texts in reference()["tube"].items():
        found = np.array(solve(tube(beside)).steps[-1].summary["frequencies_hz"])
        for k, text in enumerate(texts):
            f.digits(
                "B-BESIDE-TUBE", f"frequency {k + 1} of the cantilever, mass {beside:g} m beside it [Hz]", found[k],
                text, printed("SFM (1990), SDLL15/89, in the validation case SDLL15 of Code_Aster"),
                error=1e-3 + np.pi * float(text) * GYRATION * np.sqrt(7800.0 / 210e9),
                why="rotary inertia, half of w r sqrt(rho/E), which the guide leaves out, and its 10 finite elements",
            )  # fmt: skip
        order = np.arange(1.0, len(texts) + 1.0)
        curves += [Curve(order, found[: len(texts)], f"mass {beside:g} m beside the end", "bar"),
                   published("" if curves else "SFM (1990)", order, texts)]  # fmt: skip
    f.figure("Cantilever with a mass", curves, "Mode", "Frequency [Hz]")
