"""A rigid ball is pressed into an elastic half-space of solid elements, whose nodes touch it.

        (   ball, R   )
         \\     |     /          force F at the approach d,
    ______'-.__v__.-'______      contact radius a = sqrt(R d)
    |  solids, graded      |
    |  to the contact      |

A quarter of a block of 2 R is refined to cells of a fifth of the contact radius.  Its nodes are points that touch the
ball, with a stiffness that adds nothing to the approach.

Source: H. Hertz, J. reine angew. Math. 92 (1882), 156-171.  Reference, closed form:

    F = 4/3 E/(1 - nu^2) sqrt(R) d^(3/2).
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "contact"
CASES = {"B-HERTZ": "force of a ball on a half-space of solids at two approaches"}

RADIUS, E, NU, APPROACH, SIZE = 1.0, 1e6, 0.3, 0.02, 2.0


def build(n: int = 9, grading: float = 30.0) -> Model:
    """Return a quarter of the ball above n^3 cells, whose lengths grow away from the contact by ``grading``."""
    model = Model(3, "ball on a half-space")
    model.mesh(
        "half", box={"size": (SIZE,) * 3, "n": (n,) * 3, "start": (0.0, 0.0, -SIZE),
                     "grading": (grading, grading, 1.0 / grading)},
    )  # fmt: skip
    model.solid_material("half", E, NU, density=1000.0)
    model.solids("half", "half", "half")
    model.fix("half:bottom", ["x", "y", "z"])
    model.fix("half:left", ["x"])
    model.fix("half:front", ["y"])
    model.body("ball", (0.0, 0.0, RADIUS), mass=1.0, inertia=np.ones(3))
    model.fix("ball", ["x", "y", "rotation x", "rotation y", "rotation z"])
    model.motion("press", "ball", "z", f"-{APPROACH}*t")
    model.contact("touch", "ball", "half:top", surface="sphere", radius=RADIUS, stiffness=1e7, exponent=1.0)
    model.sensor("force", "contact", on="touch")
    model.static_step(increments=2, duration=1.0)
    return model


def reference() -> dict[float, float]:
    """Return Hertz's force of a quarter of the ball [N] by the approach [m]."""
    return {d: E / (1.0 - NU**2) * np.sqrt(RADIUS) * d**1.5 / 3.0 for d in (0.5 * APPROACH, APPROACH)}


def check(f: Findings) -> None:
    known = reference()
    force = solve(build()).steps[0].series["sensor/force"].ravel()[1:]
    for (d, exact), measured in zip(known.items(), force, strict=True):
        f.row(
            "B-HERTZ",
            f"force of a quarter at the approach {d:g} R [N]",
            float(measured),
            exact,
            "Eleven nodes and more touch, and the error swings as their number jumps.",
            CLOSED_FORM,
            tolerance=0.05 * exact,
        )
    way = np.linspace(0.0, APPROACH, 60)
    f.figure(
        "Force of a quarter of the ball",
        [Curve(way, E / (1.0 - NU**2) * np.sqrt(RADIUS) * way**1.5 / 3.0, "Hertz"),
         Curve(np.array([*known]), force, "solids", "o")],
        "Approach [m]", "Force [N]",
    )  # fmt: skip
