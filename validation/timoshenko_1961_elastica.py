"""The elastica: a clamped column far beyond its buckling load.

            |  F = 1.015 ... 1.884 F_cr
            v
            o  .     E I = 3e7 x .5^4/12, 100 in long, clamped at the bottom
            |   \\
            |    |   y along the column, x across
          --+----+--

Source: S.P. Timoshenko, J.M. Gere, "Theory of elastic stability", 2nd ed., McGraw-Hill 1961, p. 78, table 2-4.  The
numbers were read in the verification manual of ANSYS Mechanical APDL (problem VM136; inches and pounds), which prints
them after this page.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import in_ansys_manual

CAPABILITY = "buckling"
CASES = {"B-BUCKLED": "place and slope of the end of a column beyond its buckling load"}

CRITICAL, LENGTH, BENDING = 38.553, 100.0, 3e7 * 0.5**4 / 12.0


def build(ratio: float = 1.518, n: int = 20) -> Model:
    """Return the column along y: first a lateral force pushes it aside, then the thrust alone holds it there."""
    model = Model(2, "elastica")
    model.section("bar", "stiffness", EA=3e7 * 0.25, EI=BENDING, GA=np.inf, rhoA=0.0)
    model.line("bar", (0.0, 0.0), (0.0, LENGTH), n)
    model.beams("bar", "bar", "bar")
    model.fix("bar:start")
    model.force("thrust", "bar:end", (0.0, -ratio * CRITICAL), function={"kind": "ramp", "duration": 1.0})
    push = {"kind": "table", "times": [0.0, 1.0, 2.0, 9.0], "values": [0.0, 1.0, 0.0, 0.0]}
    model.force("aside", "bar:end", (20.0, 0.0), function=push)
    model.sensor("u", "displacement", on="bar:end")
    model.sensor("turn", "rotation", on="bar:end")
    model.static_step(increments=20, duration=2.0)
    return model


def reference() -> dict[float, tuple[str, str, str]]:
    """Return slope [deg] and displacements across and along [in] of the end, by the load over the buckling load."""
    return {
        1.152: ("60", "59.3", "25.9"),
        1.293: ("80", "71.9", "44.0"),
        1.518: ("100", "79.2", "65.1"),
        1.884: ("120", "80.3", "87.7"),
    }


def check(f: Findings) -> None:
    places = []
    for ratio, texts in reference().items():
        solution = solve(build(ratio))
        u = solution.sensor("u").values[-1]
        turn = np.degrees(solution.sensor("turn").values[-1, 0])
        places.append(u)
        for quantity, value, text in zip(
            ("slope [deg]", "displacement across [in]", "displacement along [in]"),
            (abs(turn), abs(u[0]), abs(u[1])), texts, strict=True,
        ):  # fmt: skip
            # F/F_cr has four digits: .05 % of the load, which moves the end by much more near F_cr
            f.digits("B-BUCKLED", f"{quantity} of the end, F = {ratio:g} F_cr", value, text,
                     in_ansys_manual("Timoshenko and Gere (1961), p. 78, table 2-4", "VM136"), error=2e-3,
                     why="F/F_cr of four digits")  # fmt: skip
    x, y = np.array(places).T
    table = np.array(list(reference().values()), float)
    curves = [
        Curve(np.abs(x), LENGTH + y, "fem-mbs"),
        published("Timoshenko and Gere (1961)", table[:, 1], LENGTH - table[:, 2]),
    ]
    f.figure("Path of the end", curves, "x [in]", "y [in]", equal=True)
