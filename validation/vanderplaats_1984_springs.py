"""Two springs of unequal stiffness under an oblique force: large displacements.

          o 20 cm        k = 8 N/cm            /  5 N up and 5 N to the right
          |                                   o
          o--> F    10   k = 1 N/cm         / |     equilibrium at 8.631, 14.533
          |                               /   |
          o 0                            o    o

Source: G.N. Vanderplaats, "Numerical optimization techniques for engineering design", McGraw-Hill 1984, pp. 72-73.  The
numbers were read in the verification manual of ANSYS Mechanical APDL (problem VM9), which prints them after these
pages.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import root

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import INDEPENDENT, in_ansys_manual

CAPABILITY = "actuators"
DEVIATIONS = (
    "Vanderplaats (1984), as in VM9: displacements of 8.631 and 4.533 cm, found by a search for the least energy; the "
    "springs balance the force at 8.632 and 4.532 cm.",
)
CASES = {"B-TWO-SPRINGS": "place and energy of two springs under a force"}


def build() -> Model:
    model = Model(2, "two springs")
    model.node("a", (0.0, 10.0))
    for name, y, k in (("lower", 0.0, 1.0), ("upper", 20.0, 8.0)):
        model.spring(name, "ground", "a", k, point_a=(0.0, y))
    model.force("F", "a", (5.0, 5.0))
    model.sensor("u", "displacement", on="a")
    model.static_step(increments=20)
    return model


def reference() -> dict[str, str]:
    """Return displacements [cm] and strain energy [N cm], as printed."""
    return {"x": "8.631", "y": "4.533", "energy": "24.01"}


def energy(u) -> float:
    """Return the strain energy [N cm] at the displacement u (2,) [cm]."""
    return sum(0.5 * k * (np.hypot(u[0], 10.0 + u[1] - y) - 10.0) ** 2 for k, y in ((1.0, 0.0), (8.0, 20.0)))


def exact() -> np.ndarray:
    """Return the displacement (2,) [cm] at which both springs balance the force."""

    def unbalanced(u):
        total = np.array((5.0, 5.0))
        for k, y in ((1.0, 0.0), (8.0, 20.0)):
            arm = np.array((u[0], 10.0 + u[1] - y))
            length = np.hypot(*arm)
            total -= k * (length - 10.0) * arm / length
        return total

    return root(unbalanced, (8.0, 4.0), tol=1e-14).x


def check(f: Findings) -> None:
    step = solve(build()).steps[-1]
    u = step.series["sensor/u"]
    where = in_ansys_manual("Vanderplaats (1984), pp. 72-73", "VM9")
    u_exact = exact()
    true = {"x": u_exact[0], "y": u_exact[1], "energy": energy(u_exact)}
    for name, value in (("x", u[-1, 0]), ("y", u[-1, 1]), ("energy", energy(u[-1]))):
        f.row("B-TWO-SPRINGS", f"{name} of two springs, balance of forces", value, true[name],
              "Two equations of equilibrium by scipy; only Newton's tolerance is left.", INDEPENDENT,
              relative=1e-9)  # fmt: skip
        if name == "energy":  # the displacements are deviations
            f.digits("B-TWO-SPRINGS", f"{name} of two springs", value, reference()[name], where)
    known = reference()
    curves = [
        Curve(u[:, 0], u[:, 1], "fem-mbs"), Curve(u_exact[:1], u_exact[1:], "balance of forces", "o"),
        published("Vanderplaats (1984)", known["x"], known["y"]),
    ]  # fmt: skip
    f.figure("Path of the loaded point", curves, "x [cm]", "y [cm]")
