"""Mass matrix of the plane beam in rigid motion.

The cubic elastic line with directors as velocities must give a beam's whole mass, its first moment and its moment of
inertia about an end exactly, since a rigid motion is in the span of its shape functions.

      o=====================o        length l, mass m      T = m v^2/2 in translation
      end                            T = (m l^2/3) w^2/2,  L = (m l^2/3) w in rotation about the end

Source: J.P. Meijaard, NATO ASI, Troia 1993, eqs 17-19.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Findings
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "flexible"
CASES = {"M14": "mass, first moment and moment of inertia about the end"}

LENGTH, DENSITY, DIRECTION = 1.7, 2.3, 0.4


def build(elements: int = 1, velocity=(0.0, 0.0), spin: float = 0.0, mass: str = "hermite") -> Model:
    """Return a free beam from the origin in a rigid motion; one short step, whose first row is the start."""
    model = Model(2, "rigid motion of a beam")
    model.section("beam", "stiffness", EA=1e3, EI=10.0, rhoA=DENSITY)
    model.line("beam", (0.0, 0.0, 0.0), (LENGTH * np.cos(DIRECTION), LENGTH * np.sin(DIRECTION), 0.0), elements)
    model.beams("beam", "beam", "beam", mass=mass)
    model.initial("beam", velocity=velocity, spin=spin, centre=(0.0, 0.0))
    model.transient_step(1e-3, 1e-3, frames=0)
    return model


def reference() -> dict:
    """Return mass, first moment and moment of inertia about the end."""
    m = DENSITY * LENGTH
    return {"mass": m, "first moment": 0.5 * m * LENGTH, "inertia": m * LENGTH**2 / 3.0}


def check(f: Findings) -> None:
    known = reference()
    for elements in (1, 3):
        moving = solve(build(elements, velocity=(3.0, -4.0))).steps[0]
        turning = solve(build(elements, spin=2.0)).steps[0]
        many = f"{elements} element" + "s" * (elements > 1)
        for name, value, exact in (
            ("mass from the momentum", np.linalg.norm(moving.series["linear momentum"][0]) / 5.0, known["mass"]),
            ("mass from the kinetic energy", moving.ledger("kinetic")[0] / 12.5, known["mass"]),
            ("first moment", np.linalg.norm(turning.series["linear momentum"][0]) / 2.0, known["first moment"]),
            ("inertia about the end from the energy", turning.ledger("kinetic")[0] / 2.0, known["inertia"]),
            (
                "inertia about the end from the momentum",
                turning.series["angular momentum"][0, 0] / 2.0,
                known["inertia"],
            ),
        ):
            f.row(
                "M14",
                f"{name}, {many}",
                value,
                exact,
                "The matrix is exact in rigid motion; only round-off is left.",
                CLOSED_FORM,
                relative=1e-12,
            )
    lumped = solve(build(1, spin=2.0, mass="lumped")).steps[0]
    f.row(
        "M14",
        "lumped masses, 1 element: inertia about the end (for comparison)",
        lumped.ledger("kinetic")[0] / 2.0,
        0.5 * known["mass"] * LENGTH**2,
        "Half of the mass lies at the other end, so that the inertia is m l^2/2.",
        CLOSED_FORM,
        relative=1e-12,
    )
