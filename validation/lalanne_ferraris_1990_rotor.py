"""A rotor with three discs on two anisotropic bearings: frequencies at rest and at 25 000 rpm.

A steel shaft carries three discs between its bearings, which differ in their two directions and damp a little.

             1     2              3
             ||   ||||           ||||         1.3 m, 100 mm thick; discs at .2, .5 and 1 m
      =======||===||||===========||||======   bearings: 50 and 70 MN/m, 500 and 700 N s/m
      A      ||   ||||           ||||     A   E = 200 GPa, nu = .3, 7800 kg/m^3, k = .9 of shear

Source: M. Lalanne, G. Ferraris, "Rotordynamics prediction in engineering", Wiley 1990, the example of a rotor with
three discs, 13 elements of .1 m.  The frequencies were read in the validation case SDLL140 of Code_Aster, the places in
SDLL126, which names the book.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs, published
from fem_mbs.validation.kinds import printed

CAPABILITY = "rotors"
CASES = {"B-THREE-DISCS": "frequencies of a rotor with three discs on anisotropic bearings, at rest and at 25 000 rpm"}

AXIS = (1.0, 0.0, 0.0)
RPM = np.pi / 30.0
SPEED = 25000.0
#: place [m], mass [kg], polar and diametral inertia [kg m^2] of the discs
DISCS = ((0.2, 14.580130, 0.1232021, 0.06463858), (0.5, 45.945793, 0.97634809, 0.4977460),
         (1.0, 55.134951, 1.1716177, 0.6023493))  # fmt: skip


#: shear coefficients of a circle in use: from the energy of parabolic stresses, and Cowper's (1966)
COEFFICIENTS = (0.9, 6.0 * 1.3 / (7.0 + 6.0 * 0.3))


def build(n: int = 26, coefficient: float = COEFFICIENTS[0]) -> Model:
    """Return the rotor of n elements, a multiple of 13, without steps."""
    model = Model(3, "rotor with three discs")
    E, nu, area, inertia = 200e9, 0.3, 0.25 * np.pi * 0.1**2, np.pi * 0.1**4 / 64.0
    G = 0.5 * E / (1.0 + nu)
    model.section("shaft", "stiffness", EA=E * area, EI=E * inertia, GA=coefficient * G * area, GJ=2.0 * G * inertia,
                  rhoA=7800.0 * area, rhoI=7800.0 * inertia)  # fmt: skip
    model.line("shaft", (0.0, 0.0, 0.0), (1.3, 0.0, 0.0), n)
    model.beams("shaft", "shaft", "shaft", orientation=(0.0, 1.0, 0.0))
    for k, (x, mass, polar, diametral) in enumerate(DISCS, start=1):
        node = f"shaft:#{round(x / 1.3 * n) + 1}"
        model.disc(f"disc {k}", node, mass, polar=polar, diametral=diametral, axis=AXIS)
    for end in ("start", "end"):
        model.bearing(end, f"shaft:{end}", stiffness=[5e7, 7e7], damping=[5e2, 7e2], axis=AXIS)
    model.fix("shaft:start", ["x"])
    model.rotor("rotor", axis=AXIS)
    return model


def reference() -> dict:
    """Return the frequencies of bending [Hz] by the speed [rpm]."""
    return {
        0.0: ("60.618", "63.029", "169.513", "185.584", "329.613", "362.089", "529.291", "557.549", "831.111",
              "846.013"),
        SPEED: ("55.408", "67.209", "157.904", "193.706", "249.898", "407.619", "446.622", "622.654"),
    }  # fmt: skip


def eigenvalues(speed: float, summaries: list[dict], *variant: Any) -> np.ndarray:
    """Return the eigenvalues [1/s] with positive imaginary part at a speed [rpm], of a ``variant`` of `build`."""
    model = build(*variant)
    model.complex_modes_step(count=14, rotor="rotor", speed=speed * RPM, frame="fixed")
    summary = solve(model).steps[-1].summary
    summaries.append(summary)
    p = np.array(summary["eigenvalues"]) @ (1.0, 1j)
    p = p[p.imag > 1.0]
    return p[np.argsort(p.imag)]


def check(f: Findings) -> None:
    where = printed("Lalanne and Ferraris (1990), in the validation case SDLL140 of Code_Aster")
    summaries: list[dict] = []
    for speed, texts in reference().items():
        # modes of torsion and of stretching lie between those of bending
        found, coarse, other = (
            np.array([near[np.argmin(np.abs(near - float(text)))] for text in texts])
            for near in (eigenvalues(speed, summaries, *variant).imag / (2.0 * np.pi)
                         for variant in ((26, COEFFICIENTS[0]), (13, COEFFICIENTS[0]), (26, COEFFICIENTS[1])))
        )  # fmt: skip
        for k, text in enumerate(texts):
            change = abs(coarse[k] - found[k]) + abs(other[k] - found[k])
            f.digits(
                "B-THREE-DISCS", f"frequency {k + 1} at {speed:g} rpm [Hz]", found[k], text, where,
                error=change / found[k], why="what the book's 13 elements and Cowper's shear coefficient change",
            )  # fmt: skip
    good_pairs(f, "B-THREE-DISCS", "both speeds", *summaries)
    speeds = np.linspace(0.0, SPEED, 4)
    table = np.array([eigenvalues(float(s), []).imag[:4] for s in speeds]) / (2.0 * np.pi)
    points = published("Lalanne, Ferraris (1990)", [0.0, SPEED],
                       [reference()[0.0][:2], reference()[SPEED][:2]])  # fmt: skip
    f.figure(
        "Frequencies of the first two modes",
        [*(Curve(speeds, table[:, k], f"mode {k + 1}", "o-") for k in range(2)), points], "Speed [rpm]",
        "Frequency [Hz]",
    )  # fmt: skip
