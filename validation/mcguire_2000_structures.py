"""A beam on an elastic foundation, as springs at its nodes, and a continuous beam whose supports settle.

      40 kip                                        2 kip/ft
        v                                        ===================
      ====================  240 in, 17 nodes     ^  5/8  ^  3/2 ^ 3/4    20 ft each, E I = 29 000 ksi x 7800 in^4
      ^ s s s s s s s s s ^                          in     in     in

Source: W. McGuire, R.H. Gallagher, R.D. Ziemian, "Matrix structural analysis", 2nd ed., Wiley 2000, example 4.15; A.
Kassimali, "Structural analysis", 3rd ed., Thomson 2005, example 13.14.  The numbers were read in the tests of Pynite
(github.com/JWock82/Pynite, Testing/test_spring_support.py and test_support_settlement.py).  (Their deflection of
.238 in is P beta/2k, that of a beam of infinite length.)
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, printed

CAPABILITY = "beams"
CASES = {
    "B-SPRINGS": "a beam on springs at its nodes",
    "B-SETTLEMENT": "reactions of a continuous beam whose supports settle",
}
DEVIATIONS = (
    "Pynite, test of example 4.15 of McGuire et al. (2000): .238 in is P beta/2k of a beam of infinite length; "
    "that of 240 in has .246 in.",
    "Kassimali (2005), example 13.14, in a test of Pynite: -1.098, 122.373, -61.451 and 60.176 kip; the equation of "
    "three moments gives -1.181, 122.542, -61.540 and 60.180 kip.",
)


def line(length: float, n: int, EA: float, EI: float) -> Model:
    """Return a beam along x [kip, in], held at its start."""
    model = Model(2, "beam")
    model.section("beam", "stiffness", EA=EA, EI=EI, GA=np.inf, rhoA=0.0)
    model.line("beam", (0.0, 0.0), (length, 0.0), n)
    model.beams("beam", "beam", "beam")
    model.fix("beam:start", ["x", "y"])
    return model


def build() -> Model:
    """Return the beam on springs."""
    model = line(240.0, 16, 29000.0 * 10.3, 29000.0 * 128.5)
    model.fix("beam:end", ["y"])
    for i in range(1, 16):
        model.nodal_spring(f"k{i}", f"beam:#{i + 1}", "y", 22.5)
    model.force("F", "beam:#9", (0.0, -40.0))
    model.sensor("M", "element", on="beam", element=8, quantity="M_p")
    model.linear_static_step()
    return model


def reference() -> dict:
    """Return the moment [kip in] and the reactions [kip]."""
    return {"foundation": "547", "settlement": (-1.098, 122.373, -61.451, 60.176)}


def settled() -> np.ndarray:
    """Return the reactions [kip] of the beam whose supports settle, by the equation of three moments."""
    EI, span, q = 29000.0 * 7800.0, 240.0, 2.0 / 12.0
    depth = np.array([0.0, 5.0 / 8.0, 1.5, 0.75])
    kinks = (depth[:-2] - 2.0 * depth[1:-1] + depth[2:]) / span
    inner = np.linalg.solve(span * np.array([[4.0, 1.0], [1.0, 4.0]]), -0.5 * q * span**3 - 6.0 * EI * kinks)
    M = np.array([0.0, *inner, 0.0])
    reactions = np.array([0.5, 1.0, 1.0, 0.5]) * q * span
    tilt = np.diff(M) / span
    reactions[:-1] += tilt
    reactions[1:] -= tilt
    return reactions


def check(f: Findings) -> None:
    known = reference()
    solution = solve(build())
    u = np.asarray(solution.steps[-1].frames["displacement"])[-1, :, 1]
    where = printed("McGuire, Gallagher and Ziemian (2000), example 4.15, in the tests of Pynite")
    f.digits("B-SPRINGS", "largest moment of a beam on springs [kip in]", abs(solution.sensor("M").values[-1, 0]),
             known["foundation"], where)  # fmt: skip
    f.figure("Beam on springs", [Curve(15.0 * np.arange(17), u, "", "o-")], "x [in]", "Deflection [in]")
    model = line(720.0, 3, 29000.0 * 20.0, 29000.0 * 7800.0)
    model.line_load("q", "beam", (0.0, -2.0 / 12.0))
    for node in range(4):
        model.sensor(f"R{node}", "reaction", on=node)
    for node, depth in ((1, 5.0 / 8.0), (2, 1.5), (3, 0.75)):
        model.motion(f"settle {node}", node, "y", {"kind": "ramp", "duration": 1.0, "end_value": -depth})
    model.static_step(increments=2, duration=1.0)
    solution = solve(model)
    reactions = [solution.sensor(f"R{i}").values[-1, -1] for i in range(4)]
    places = 240.0 * np.arange(4)
    f.figure(
        "Reactions of a beam whose supports settle",
        [
            Curve(places, np.array(reactions), "fem-mbs", "bar"),
            published("Kassimali (2005)", places, known["settlement"]),
        ],
        "x [in]", "Reaction [kip]",
    )  # fmt: skip
    for k, exact in enumerate(settled()):
        f.row(
            "B-SETTLEMENT", f"reaction {k + 1} of a beam whose supports settle [kip]", reactions[k], exact,
            "Large displacements: the square of the slope 1.5/240 of the largest reaction.", CLOSED_FORM,
            tolerance=(1.5 / 240.0) ** 2 * max(abs(r) for r in known["settlement"]),
        )  # fmt: skip
