"""A rigid ball is pressed into an elastic half-space of solid elements, whose nodes touch it.

        (   ball, R   )
         \\     |     /          force F at the approach d,
    ______'-.__v__.-'______      contact radius a = sqrt(R d)
    |  solids, graded      |
    |  to the contact      |

A quarter of a block of 4 R has even cells of .028 R in and about the contact, and cells that grow from there on.  Its
nodes are points that touch the ball, with a stiffness that adds nothing to the approach.

Source: H. Hertz, J. reine angew. Math. 92 (1882), 156-171.  Reference, closed form:

    F = 4/3 E' sqrt(R) d^(3/2),   E' = E/(1 - nu^2),   a^2 = R d.

Two effects are known in closed form.  The edge of the contact lies between nodes, at c = a (1 + e), e of half a cell:
the ball presses F = 2 E' (d c - c^3/(3 R)), which is largest at c = a and about (3 e^2 + |e|^3)/2 less there.  The
block ends at the distance S: there the surface of the half-space sinks by F/(pi E' S), which is 4 a/(3 pi S) of the
approach, and 3/2 of this of the force.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from fem_mbs import Mesh, Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "contact"
CASES = {"B-HERTZ": "force of a ball on a half-space of solids at two approaches"}

RADIUS, E, NU, APPROACH, SIZE = 1.0, 1e6, 0.3, 0.02, 4.0
CELL, EVEN, GROWING = 0.028, 5, 6  # length of the cells of the contact, their number, and that of the others


def lines() -> np.ndarray:
    """Return the distances (n + 1,) of the mesh's lines from the middle of the contact."""
    powers = np.arange(1, GROWING + 1)
    growth = brentq(lambda q: CELL * (EVEN + (q**powers).sum()) - SIZE, 1.0, 10.0)
    return np.concatenate((CELL * np.arange(EVEN + 1), CELL * (EVEN + np.cumsum(growth**powers))))


def build() -> Model:
    """Return a quarter of the ball above the block."""
    model = Model(3, "ball on a half-space")
    x, n = lines(), EVEN + GROWING
    number = np.indices((n + 1,) * 3).reshape(3, -1)  # of each node's lines along x, y and into the depth
    stride = np.array([(n + 1) ** 2, n + 1, 1])
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    corners = np.array([(*p, z) for z in (1, 0) for p in square])  # the lower ones first: z is a depth here
    cells = (stride @ number[:, (number < n).all(axis=0)])[:, None] + corners @ stride
    planes = {"left": (0, 0), "front": (1, 0), "bottom": (2, n)}
    sides = {name: np.flatnonzero(number[axis] == line) for name, (axis, line) in planes.items()}
    top = np.flatnonzero((number[2, cells] == 0).any(axis=1))  # face S2 is the upper one
    blocks: Any = [("hexahedron", cells)]
    faces = [(0, top, np.ones(len(top), int))]
    model.mesh("half", Mesh(x[number.T] * (1.0, 1.0, -1.0), blocks, sides, facet_sets={"top": faces}))
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
    step = solve(build()).steps[0]
    force = np.interp([*known], APPROACH * step.time, step.series["sensor/force"].ravel())
    for (d, exact), measured in zip(known.items(), force, strict=True):
        a = np.sqrt(RADIUS * d)
        e = 0.5 * CELL / a
        edge, block = 0.5 * (3.0 * e**2 + e**3), 2.0 * a / (np.pi * SIZE)
        f.row(
            "B-HERTZ", f"force of a quarter at the approach {d:g} R [N]", float(measured), exact,
            f"The edge of the contact, known to half a cell: {edge:.3f}, and the end of the block: {block:.3f}.",
            CLOSED_FORM, relative=edge + block,
        )  # fmt: skip
    way = np.linspace(0.0, APPROACH, 60)
    f.figure(
        "Force of a quarter of the ball",
        [Curve(way, E / (1.0 - NU**2) * np.sqrt(RADIUS) * way**1.5 / 3.0, "Hertz"),
         Curve(np.array([*known]), force, "solids", "o")],
        "Approach [m]", "Force [N]",
    )  # fmt: skip
