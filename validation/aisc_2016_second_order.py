"""Columns of second order: the two benchmark problems of the American specification for steel buildings.

A pinned column under a thrust and a uniform lateral load, and a cantilever under a thrust and a lateral force at its
top; W14x48 of 28 ft, bent about its strong axis, without shear deformation.

        P                 P
        |                 |
       _v_               _v_--> 1 kip      E = 29 000 ksi, I = 484 in^4, A = 14.1 in^2
        |  <- .2 kip/ft   |
        |                 |
       _^_               _|_

Source: ANSI/AISC 360, "Specification for structural steel buildings", commentary on chapter C, benchmark cases 1 and 2
(the numbers without shear deformation).  They were read in the tests of Pynite (github.com/JWock82/Pynite,
Testing/test_AISC_PDelta_benchmarks.py), which prints them as AISC's.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import printed

CAPABILITY = "buckling"
CASES = {"B-AISC": "moments and deflections of columns of second order"}

E, AREA, INERTIA, LENGTH = 29000.0, 14.1, 484.0, 336.0


def build(case: int = 1, thrust: float = 150.0, n: int = 8) -> Model:
    """Return a column along y [kip, in] with a thrust."""
    model = Model(2, "column")
    model.section("W14x48", "stiffness", EA=E * AREA, EI=E * INERTIA, GA=np.inf, rhoA=0.0)
    model.line("column", (0.0, 0.0), (0.0, LENGTH), n)
    model.beams("column", "column", "W14x48")
    model.fix("column:start", ["x", "y"] if case == 1 else None)
    if case == 1:
        model.fix("column:end", ["x"])
        model.line_load("lateral", "column", (0.2 / 12.0, 0.0))
    else:
        model.force("lateral", "column:end", (1.0, 0.0))
    if thrust:
        model.force("thrust", "column:end", (0.0, -thrust))
    model.sensor("u", "displacement", on=f"column:#{n // 2 + 1}" if case == 1 else "column:end")
    model.sensor("M", "element", on="column", element=n // 2 if case == 1 else 0, quantity="M_p")
    model.static_step(increments=2)
    return model


def reference() -> dict[int, dict[float, tuple[str, str]]]:
    """Return the largest moment [kip in] and deflection [in] by case and thrust [kip]."""
    return {
        1: {0.0: ("235", ".197"), 150.0: ("269", ".224"), 300.0: ("313", ".261"), 450.0: ("375", ".311")},
        2: {0.0: ("336", ".901"), 100.0: ("469", "1.33"), 150.0: ("598", "1.75"), 200.0: ("848", "2.56")},
    }


def check(f: Findings) -> None:
    curves = []
    for case, table in reference().items():
        where = printed(f"ANSI/AISC 360, commentary on chapter C, case {case}, in the tests of Pynite")
        moments = []
        for thrust, (moment, deflection) in table.items():
            solution = solve(build(case, thrust))
            moments.append(abs(solution.sensor("M").values[-1, 0]))
            what = f"case {case}, P = {thrust:g} kip"
            f.digits("B-AISC", f"largest moment, {what} [kip in]", moments[-1], moment, where)
            f.digits("B-AISC", f"deflection, {what} [in]", abs(solution.sensor("u").values[-1, 0]), deflection, where)
        curves.append(Curve(np.array(list(table)), np.array(moments), f"case {case}", "o-"))
    for case, table in reference().items():
        moments = [moment for moment, _ in table.values()]
        curves.append(published("AISC 360" if case == 1 else "", list(table), moments))
    f.figure("Largest moment against the thrust", curves, "Thrust [kip]", "Moment [kip in]")
