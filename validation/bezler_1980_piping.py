"""A piping of two elbows with lumped masses: benchmark problem 1 of the Nuclear Regulatory Commission.

A pipe of 7.289 in, .241 in thick, is clamped at both ends; its elbows are more flexible in bending than their straight
pipe by 1.65/h, h = t R/r^2, which follows from the ovalisation of the section.

           5---6---7           elbows of R = 36.3 in (4, 8: their middles), from y to x and from x to z
         4           8         masses at 2 to 10
         3             9
         2               10
      ///1                 11///

Source: P. Bezler, M. Hartzman, M. Reich, "Piping benchmark problems", NUREG/CR-1677, vol. I, 1980, problem 1.  The
targets were read in the verification manual of ANSYS Mechanical APDL (problem VM-NR1677-01-1a, github.com/ansys/
pymapdl-examples), which names this report; they may be results of its elbow elements, so no row compares with them.
Rows compare with the numbers of the report itself, by the program EPIPE with the same factor of flexibility, from
memory.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import quoted

CAPABILITY = "modes"
CASES = {"B-PIPING": "frequencies of a piping with elbows"}
DEVIATIONS = (
    "ANSYS, verification manual, VM-NR1677-01-1a: its targets are 1 to 2 % above what elbows by the factor 1.65/h "
    "give.",
)

BEND, OUTER, WALL, E, NU = 36.3, 7.289, 0.241, 24e6, 0.3
MASSES = (0.03988, 0.05032, 0.02088, 0.01698, 0.01307, 0.01698, 0.01044, 0.01795, 0.01501)


def places() -> dict[str, np.ndarray]:
    """Return the numbered points of the centre line [in]."""
    c = BEND * (1.0 - np.sqrt(0.5))
    table = {
        "1": (0, 0, 0), "2": (0, 54.45, 0), "3": (0, 108.9, 0), "4": (c, 108.9 + BEND - c, 0), "5": (36.3, 145.2, 0),
        "6": (54.15, 145.2, 0), "7": (72, 145.2, 0), "8": (72 + BEND - c, 145.2, c), "9": (108.3, 145.2, 36.3),
        "10": (108.3, 145.2, 56.8), "11": (108.3, 145.2, 77.3),
    }  # fmt: skip
    return {name: np.array(place, float) for name, place in table.items()}


def build(pieces: int = 12) -> Model:
    """Return the piping; every half of an elbow is made of ``pieces`` straight beams of E I h/1.65."""
    inner, middle = OUTER - 2.0 * WALL, 0.5 * (OUTER - WALL)
    area, inertia = np.pi * (OUTER**2 - inner**2) / 4.0, np.pi * (OUTER**4 - inner**4) / 64.0
    factor = 1.65 / (WALL * BEND / middle**2)
    G = E / (2.0 * (1.0 + NU))
    model = Model(3, "piping")
    for name, soft in (("pipe", 1.0), ("elbow", factor)):
        model.section(name, "stiffness", EA=E * area, GA=0.5 * G * area, EI=E * inertia / soft, GJ=2.0 * G * inertia,
                      rhoA=0.0, rhoI=0.0)  # fmt: skip
    point = places()
    for name, place in point.items():
        model.node(name, place)
    centres = {("3", "4"): (BEND, 108.9, 0.0), ("7", "8"): (72.0, 145.2, BEND)}
    centres |= {("4", "5"): centres["3", "4"], ("8", "9"): centres["7", "8"]}
    for a, b in zip(list(point)[:-1], list(point)[1:], strict=True):
        if (a, b) not in centres:
            model.beams(f"{a} to {b}", [a, b], "pipe")
            continue
        centre = np.array(centres[a, b])
        start, end, last = point[a] - centre, point[b] - centre, a
        for k in range(1, pieces + 1):
            t = k / pieces
            # both radii are 45 degrees apart
            place = (np.sin((1.0 - t) * np.pi / 4.0) * start + np.sin(t * np.pi / 4.0) * end) * np.sqrt(2.0)
            name = b if k == pieces else f"{a} {k}"
            if k < pieces:
                model.node(name, centre + place)
            model.beams(f"{a} to {b}, {k}", [last, name], "elbow")
            last = name
    for name, mass in zip(list(point)[1:-1], MASSES, strict=True):
        model.point_mass(f"mass {name}", name, mass)
    model.fix("1")
    model.fix("11")
    model.modes_step(count=5)
    return model


def reference() -> dict[str, tuple]:
    """Return frequencies [Hz]: of the manual, and of the report by memory."""
    return {
        "manual": (28.515, 56.441, 82.947, 144.140, 166.260),
        "report": ("28.53", "55.77", "81.50", "141.7", "162.8"),
    }


def check(f: Findings) -> None:
    known = reference()
    found = np.array(solve(build()).steps[-1].summary["frequencies_hz"])
    report = "Bezler, Hartzman and Reich, NUREG/CR-1677 I (1980), problem 1"
    for k in range(5):
        f.digits(
            "B-PIPING", f"frequency {k + 1}, with the factor of flexibility [Hz]", found[k], known["report"][k],
            quoted(report), error=0.5 * 0.0005 / WALL, why="half of the error of a wall of three digits",
        )  # fmt: skip
    modes = np.arange(1.0, 6.0)
    f.figure(
        "Frequencies",
        [Curve(modes, found, "fem-mbs", "bar"), published("Bezler (1980)", modes, known["report"]),
         published("manual of ANSYS", modes, known["manual"])],
        "Mode [-]", "Frequency [Hz]",
    )  # fmt: skip
