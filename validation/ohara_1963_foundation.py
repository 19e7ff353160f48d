r"""Equipment on a foundation: a rigid bar with two weights on two springs.

         10 kip      10 kip
        54 in       114 in
      o--[ ]---------[ ]---o  144 in
      /                    /
      \                    \      k = 1.3e6 and 3.9e6 lb/in
      /                    /

Source: G.J. O'Hara, R.O. Belsheim, "Interim design values for shock design of shipboard equipment", NRL Memorandum
Report 1396 (1963), p. 10.  The numbers were read in the verification manual of ANSYS Mechanical APDL (problem VM212),
which prints them after this report.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import in_ansys_manual

CAPABILITY = "modes"
CASES = {"B-EQUIPMENT": "two frequencies and shapes of a rigid bar with weights on springs"}

PLACES, SPRINGS, MASS = (54.0, 114.0), {0.0: 1.3e6, 144.0: 3.9e6}, 10e3 / 386.0


def build() -> Model:
    """Return the bar as a body with the inertia of both weights."""
    middle = float(np.mean(PLACES))
    model = Model(2, "equipment on a foundation")
    model.body("bar", (middle, 0.0), mass=2.0 * MASS, inertia=MASS * sum((x - middle) ** 2 for x in PLACES))
    for k, (x, stiffness) in enumerate(SPRINGS.items()):
        model.spring(f"k{k}", "ground", "bar", stiffness, point_a=(x, -100.0), point_b=(x, 0.0))
    model.fix("bar", ["x"])
    model.modes_step(count=2)
    return model


def reference() -> dict[str, tuple[str, ...]]:
    """Return frequencies [Hz] and displacements of the weights in both modes [sqrt(in/lb)/s]."""
    return {"frequencies": ("46.3", "114.0"), "shapes": ("0.1629", "0.1099", "0.1099", "0.1629")}


def check(f: Findings) -> None:
    known = reference()
    where = in_ansys_manual("O'Hara and Belsheim (1963), p. 10", "VM212")
    step = solve(build()).steps[-1]
    u = np.asarray(step.frames["displacement"])[-2:, 0, 1]
    turn = np.asarray(step.frames["rotation"])[-2:, 0, -1]
    weights = np.array(PLACES) - np.mean(PLACES)
    shapes = u[:, None] + turn[:, None] * weights
    shapes = np.abs(shapes / np.sqrt(MASS * (shapes**2).sum(axis=1))[:, None])
    for k in range(2):
        f.digits("B-EQUIPMENT", f"frequency {k + 1} [Hz]", step.summary["frequencies_hz"][k],
                 known["frequencies"][k], where)  # fmt: skip
        for i in range(2):
            f.digits("B-EQUIPMENT", f"displacement of weight {i + 1} in mode {k + 1}, of unit modal mass",
                     shapes[k, i], known["shapes"][2 * k + i], where)  # fmt: skip
    curves = [Curve(np.array(PLACES), shapes[k], f"mode {k + 1}") for k in range(2)]
    points = np.array(known["shapes"], float).reshape(2, 2).T
    f.figure("Shapes", [*curves, published("O'Hara and Belsheim (1963)", PLACES, points)], "x [in]", "|u|")
