"""Springs in a row and a gabled frame: problems of a first course.

      |-1000-o-2000-o-3000-|        30 kip     30 kip
                 --> 5000 lb           ________
                                     /          \\       A = 12 in^2, I = 200 in^4, E = 30 000 ksi
                                    |            |      bents of 30 + 10 ft, 15 + 20 + 15 ft
                                  --+--        --+--

Source: D.L. Logan, "A first course in the finite element method", 4th ed., Thomson 2007, example 2.1 and problem 5.30.
The numbers were read in the tests of Pynite (github.com/JWock82/Pynite, Testing/test_springs.py, test_2D_frames.py).
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import printed

CAPABILITY = "beams"
CASES = {"B-LOGAN": "springs in a row, reactions and deflection of a gabled frame"}

PLACES = 12.0 * np.array(((0, 0), (0, 30), (15, 40), (35, 40), (50, 30), (50, 0)), float)


def build() -> Model:
    """Return the frame [kip, in]."""
    model = Model(2, "gabled frame")
    model.section("frame", "stiffness", EA=30000.0 * 12.0, EI=30000.0 * 200.0, GA=np.inf, rhoA=0.0)
    for i, place in enumerate(PLACES):
        model.node(f"n{i}", place)
    for i in range(5):
        model.beams(f"b{i}", [f"n{i}", f"n{i + 1}"], "frame")
    for foot in ("n0", "n5"):
        model.fix(foot)
        model.sensor(f"R {foot}", "reaction", on=foot)
    for node in ("n2", "n3"):
        model.force(f"F {node}", node, (0.0, -30.0))
    model.sensor("u", "displacement", on="n2")
    model.linear_static_step()
    return model


def reference() -> dict:
    """Return displacements [in], reactions [kip, kip in]."""
    return {"springs": (10.0 / 11.0, 15.0 / 11.0), "frame": ("11.6877", "30.", "-1810.0745"), "deflection": "-6.666757"}


def check(f: Findings) -> None:
    known = reference()
    model = Model(2, "springs")
    for i, k in enumerate((1000.0, 2000.0)):
        model.node(f"n{i}", (10.0 + 10.0 * i, 0.0))
        model.fix(f"n{i}", ["y"])
        model.sensor(f"u{i}", "displacement", on=f"n{i}")
        model.nodal_spring(f"k{i}", f"n{i}", "x", k, against="n0" if i else "ground")
    model.nodal_spring("k2", "n1", "x", 3000.0)
    model.force("F", "n1", (5000.0, 0.0))
    model.linear_static_step()
    solution = solve(model)
    where = printed("Logan (2007), example 2.1, in the tests of Pynite")
    for i in range(2):
        f.row("B-LOGAN", f"displacement {i + 1} of springs in a row [in]", solution.sensor(f"u{i}").values[-1, 0],
              known["springs"][i], "round-off: a fraction is printed", where, relative=1e-12)  # fmt: skip
    solution = solve(build())
    where = printed("Logan (2007), problem 5.30, in the tests of Pynite")
    for foot, sign in (("n0", 1.0), ("n5", -1.0)):
        r = solution.sensor(f"R {foot}").values[-1] * np.array((sign, 1.0, sign))
        for quantity, value, text in zip(("x [kip]", "y [kip]", "z [kip in]"), r, known["frame"], strict=True):
            f.digits("B-LOGAN", f"reaction of a gabled frame at {foot}, {quantity}", value, text, where)
    f.digits("B-LOGAN", "deflection of a gabled frame [in]", solution.sensor("u").values[-1, 1], known["deflection"],
             where)  # fmt: skip
    u = np.asarray(solution.steps[-1].frames["displacement"])[-1, :, :2]
    after = np.asarray(PLACES) + 5.0 * u
    curves = [
        Curve(PLACES[:, 0], PLACES[:, 1], "before", "o-"),
        Curve(after[:, 0], after[:, 1], "after, 5 times", "o-"),
    ]
    f.figure("Gabled frame", curves, "x [in]", "y [in]", equal=True)
