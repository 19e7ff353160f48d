"""Rotors with discs on isotropic, anisotropic and damped bearings, and an overhung one.

A steel shaft of 1.5 m, 50 mm thick, carries discs 70 mm wide and runs on two bearings; frequencies at rest and at
4000 rpm.

          280     350 mm                                     350 mm
           ||      ||                                          ||
      ===========================          ======================     overhung: bearings of 10 MN/m at 0 and 1 m
      A    ||      ||           A          A            A      ||

Source: M.I. Friswell, J.E.T. Penny, S.D. Garvey, A.W. Lees, "Dynamics of rotating machines", Cambridge University Press
2010, examples 5.9.1, 5.9.2, 5.9.5 and 5.9.9.  The numbers are those of the tests of ROSS (github.com/petrobras/ross,
ross/tests/test_examples.py), which name these examples; a mode of torsion among them shows that they are results of
ROSS.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import program

CAPABILITY = "rotors"
CASES = {"B-DISCS": "frequencies of rotors with discs on four kinds of bearings, at rest and at 4000 rpm"}

VERSION = "2.3.0"
AXIS, DENSITY = (1.0, 0.0, 0.0), 7810.0
#: places of the discs and their diameters [m], places of the bearings [m], their keys
MACHINES: dict[str, tuple] = {
    "5.9.1": (((0.5, 0.28), (1.0, 0.35)), (0.0, 1.5), {"stiffness": 1e6}),
    "5.9.2": (((0.5, 0.28), (1.0, 0.35)), (0.0, 1.5), {"stiffness": [1e6, 0.8e6]}),
    "5.9.5": (((0.5, 0.28), (1.0, 0.35)), (0.0, 1.5), {"stiffness": 1e6, "damping": 3e3}),
    "5.9.9": (((1.5, 0.35),), (0.0, 1.0), {"stiffness": 1e7}),
}


def build(name: str = "5.9.1", rpm: float = 0.0, elements: int = 6) -> Model:
    """Return a rotor with its complex modes at a speed."""
    discs, bearings, keys = MACHINES[name]
    model = Model(3, "rotor")
    model.material("steel", E=211e9, G=81.2e9, density=DENSITY)
    model.section("shaft", "circle", diameter=0.05)
    for i in range(elements + 1):
        model.node(f"n{i}", (1.5 * i / elements, 0.0, 0.0))
    for i in range(elements):
        model.beams(f"b{i}", [f"n{i}", f"n{i + 1}"], "shaft", "steel")
    for k, (x, outer) in enumerate(discs):
        mass = DENSITY * np.pi * (outer**2 - 0.05**2) / 4.0 * 0.07
        polar = mass * (outer**2 + 0.05**2) / 8.0
        model.disc(f"disc {k}", f"n{round(x * elements / 1.5)}", mass, polar=polar,
                   diametral=0.5 * polar + mass * 0.07**2 / 12.0, axis=AXIS)  # fmt: skip
    for k, x in enumerate(bearings):
        model.bearing(f"bearing {k}", f"n{round(x * elements / 1.5)}", axis=AXIS, **keys)
    model.fix("n0", ["x"])
    model.rotor("rotor", axis=AXIS)
    model.complex_modes_step(count=8, rotor="rotor", speed=rpm * np.pi / 30.0, frame="fixed")
    return model


def reference() -> dict[str, dict[float, dict[str, tuple[float, ...]]]]:
    """Return |p| and Im p by example and speed [rpm], in rad/s, of 5.9.5 in Hz."""
    return {
        "5.9.1": {
            0.0: {"|p|": (86.66, 86.66, 274.31, 274.31, 650.41, 716.78)},
            4000.0: {"|p|": (85.39, 87.80, 251.78, 294.71, 600.18, 650.41)},
        },
        "5.9.2": {
            0.0: {"|p|": (82.65, 86.66, 254.52, 274.31, 650.41, 679.49)},
            4000.0: {"|p|": (82.33, 86.86, 239.64, 287.25, 583.49, 650.41)},
        },
        "5.9.9": {
            0.0: {"|p|": (90.14, 90.14, 630.73, 630.73, 830.43, 830.43)},
            4000.0: {"|p|": (76.19, 103.91, 565.99, 634.23, 647.75, 1174.2)},
        },
        "5.9.5": {
            0.0: {"|p|": (13.91, 13.91, 48.18, 48.18, 137.06, 137.06),
                  "Im p": (13.89, 13.89, 46.54, 46.54, 103.22, 103.22)},
            4000.0: {"|p|": (13.70, 14.09, 43.61, 52.18, 103.52, 122.37),
                     "Im p": (13.68, 14.07, 41.98, 50.65, 103.52, 104.25)},
        },
    }  # fmt: skip


def eigenvalues(name: str, rpm: float, elements: int = 6) -> np.ndarray:
    p = np.array(solve(build(name, rpm, elements)).steps[-1].summary["eigenvalues"]) @ (1.0, 1j)
    p = p[p.imag > 1.0]
    return p[np.argsort(np.abs(p))]


def check(f: Findings) -> None:
    for name, table in reference().items():
        where = program(f"ROSS {VERSION}, tests of example {name} of Friswell et al. (2010)")
        unit = 2.0 * np.pi if name == "5.9.5" else 1.0
        for rpm, parts in table.items():
            p, fine = (eigenvalues(name, rpm, elements) / unit for elements in (6, 12))
            for part, numbers in parts.items():
                values, finer = (np.sort(np.abs(x) if part == "|p|" else x.imag) for x in (p, fine))
                for k, number in enumerate(numbers):
                    # the list of 5.9.5 at rest leaves torsion out
                    found = float(values[np.argmin(np.abs(values - number))])
                    moved = abs(found - float(finer[np.argmin(np.abs(finer - found))]))
                    f.row(
                        "B-DISCS", f"{part} {k + 1}, example {name}, {rpm:g} rpm", found, number,
                        "One unit of the last digit, and what 6 elements leave: 4/3 of the change to 12.", where,
                        tolerance=(0.01 if number < 1000.0 else 0.1) + 4.0 / 3.0 * moved,
                    )  # fmt: skip
    speeds = np.linspace(0.0, 4000.0, 5)
    curves = np.array([np.abs(eigenvalues("5.9.1", s))[:4] for s in speeds])
    table = reference()["5.9.1"]
    points = published("ROSS", list(table), [parts["|p|"][:4] for parts in table.values()])
    f.figure(
        "Example 5.9.1", [*(Curve(speeds, curves[:, k], f"mode {k + 1}") for k in range(4)), points], "Speed [rpm]",
        "[rad/s]",
    )  # fmt: skip
