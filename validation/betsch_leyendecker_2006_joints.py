"""Every joint between flexible links.

Two bodies on flexible links that a joint connects, in free flight: for each kind of joint in the plane and in space,
and for gears, racks and ropes between three such bodies.  Nothing does work, so energy and both momenta must stay what
they are, and every constraint must hold at the end.

      [A]====beam====(joint)====beam====[B]            [C]--axle--[A]--teeth--[B]--axle--[C]

Source: the requirement of P. Betsch, S. Leyendecker, "The discrete null space method for the energy consistent
integration of constrained mechanical systems. Part II: multibody dynamics", Int. J. Numer. Meth. Engng 67 (2006),
499-552, doi:10.1002/nme.1639 (lower kinematic pairs); the machines are of this project.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Findings, constancy, energy_error

CAPABILITY = "mechanisms"
CASES = {"B-JOINTS": "energy, momenta and constraints of a free machine with flexible links, for every kind of joint"}

STEP = 0.02  # [s]
AXIS, OTHER = (0.2, 0.4, 1.0), (1.0, -0.3, 0.1)
SPACE = {
    "spherical": {},
    "weld": {},
    "revolute": {"axis": AXIS},
    "universal": {"axis": AXIS, "axis_b": OTHER},
    "constant_velocity": {"axis": OTHER, "axis_b": (1.0, 0.2, 0.1)},
    "cylindrical": {"axis": AXIS},
    "screw": {"axis": AXIS, "lead": 0.4},
    "prismatic": {"axis": AXIS},
    "planar": {"axis": AXIS},
    "point_on_line": {"axis": AXIS},
    "point_on_plane": {"axis": AXIS},
    "distance": {"point": (1.2, 0.1, 0.1), "point_b": (1.2, 0.5, 0.4)},
}
PLANE = {
    "pin": {},
    "weld": {},
    "revolute": {},
    "prismatic": {"axis": (0.4, 1.0)},
    "point_on_line": {"axis": (0.4, 1.0)},
    "distance": {"point": (1.2, 0.1), "point_b": (1.2, 0.5)},
}
SLIDING = (
    *((d, kind) for d in (3, 2) for kind in ("along_beam", "prismatic_along_beam")),
    (3, "cylindrical_along_beam"),
)
SHOWN = ("revolute", "constant_velocity", "screw", "point_on_line", "gear")  # as curves
COUPLED = {"gear": ("revolute", "revolute"), "rack": ("revolute", "prismatic"), "rope": ("prismatic", "prismatic")}


def build(kind: str = "spherical", dimension: int = 3, steps: int = 1000) -> Model:
    """Return two links with a body at each outer end, and the joint between their inner ends."""
    space = dimension == 3
    model = Model(dimension, f"links on a {kind} joint")
    stiffness = {"EA": 2e4, "GA": 8e3, "rhoA": 1.1}
    more = {"GJ": 15.0, "EIy": 30.0, "EIz": 20.0, "rhoIy": 4e-3, "rhoIz": 3e-3} if space else {"EI": 20.0, "rhoI": 3e-3}
    model.section("link", "stiffness", **stiffness, **more)
    points = np.array([(0.0, 0.0, 0.0), (1.2, 0.1, 0.1), (1.2, 0.1, 0.1), (2.2, 0.6, -0.2)])[:, :dimension]
    if kind == "distance":
        points[2, 1:] = (0.5, 0.4)[: dimension - 1]
    for k, name in enumerate("AB"):
        model.line(name, points[2 * k], points[2 * k + 1], 3)
        model.beams(f"beam {name}", name, "link")
        inertia = ((0.1, 0.12, 0.15), (0.03, 0.05, 0.04))[k] if space else (0.1, 0.05)[k]
        model.body(f"body {name}", points[3 * k], mass=(1.5, 0.8)[k], inertia=inertia)
        model.joint(f"weld {name}", "weld", f"body {name}", f"{name}:{'end' if k else 'start'}", point=points[3 * k])
    options = (SPACE if space else PLANE)[kind]
    model.joint("joint", kind, "A:end", "B:start", **options)
    model.initial("A", **_flight(space, 0.0))
    model.initial("B", **_flight(space, 1.0))
    model.transient_step(STEP * steps, STEP, frames=0)
    return model


def _flight(space: bool, more: float) -> dict:
    """Return velocities that are not those of one rigid body."""
    if space:
        return {"velocity": (0.3, 0.2 * more, -0.2), "spin": (0.4 * more, 0.3, 0.8 + more)}
    return {"velocity": (0.3, 0.2 * more), "spin": 0.8 + more}


def coupled(kind: str, dimension: int, steps: int) -> Model:
    """Return two bodies on joints of a flexible carrier, in a fixed ratio."""
    space = dimension == 3
    model = Model(dimension, f"a {kind} on a flexible carrier")
    more = {"GJ": 15.0, "EIy": 30.0, "EIz": 20.0, "rhoIy": 4e-3, "rhoIz": 3e-3} if space else {"EI": 20.0, "rhoI": 3e-3}
    model.section("link", "stiffness", EA=2e4, GA=8e3, rhoA=1.1, **more)
    points = np.array([(0.0, 0.0, 0.0), (1.2, 0.1, 0.1)])[:, :dimension]
    model.line("carrier", *points, 4)
    model.beams("carrier", "carrier", "link")
    for k, (joint, end) in enumerate(zip(COUPLED[kind], ("start", "end"), strict=True)):
        inertia = ((0.1, 0.12, 0.15), (0.03, 0.05, 0.04))[k] if space else (0.1, 0.05)[k]
        model.body("AB"[k], points[k], mass=(1.5, 0.8)[k], inertia=inertia)
        axis = (AXIS if k else (0.1, -0.2, 1.0)) if space else (0.4, 1.0)
        options = {} if not space and joint == "revolute" else {"axis": axis}
        model.joint("ab"[k], joint, f"carrier:{end}", "AB"[k], point=points[k], **options)
    model.gear("teeth", "a", "b", -0.7)
    model.initial("carrier", **_flight(space, 0.0))
    model.initial("A", **_flight(space, 1.0))
    model.transient_step(STEP * steps, STEP, frames=0)
    return model


def sliding(dimension: int, steps: int, kind: str = "along_beam") -> Model:
    """Return a body on a spring that slides along a flexible beam, over its elements."""
    space = dimension == 3
    model = Model(dimension, "a body that slides along a beam")
    more = {"GJ": 15.0, "EIy": 30.0, "EIz": 20.0, "rhoIy": 4e-3, "rhoIz": 3e-3} if space else {"EI": 20.0, "rhoI": 3e-3}
    model.section("link", "stiffness", EA=2e4, GA=8e3, rhoA=1.1, **more)
    points = np.array([(0.0, 0.0, 0.0), (2.0, 0.2, 0.1)])[:, :dimension]
    model.line("rail", *points, 6)
    model.beams("rail", "rail", "link")
    model.body("B", points.mean(axis=0), mass=0.8, inertia=(0.03, 0.05, 0.04) if space else 0.05)
    model.joint("joint", kind, "rail", "B", point=points.mean(axis=0))
    model.joint_spring("spring", "joint", 5.0)
    model.initial("rail", **_flight(space, 0.0))
    model.initial("B", **_flight(space, 1.0))
    model.transient_step(STEP * steps, STEP, frames=0)
    return model


def reference() -> dict:
    return {"change": 0.0}


def check(f: Findings) -> None:
    steps = 10_000 if f.long else 1_000
    machines: list[tuple[str, int, Callable[..., Model]]] = [(kind, 3, build) for kind in SPACE]
    machines += [(kind, 2, build) for kind in PLANE]
    machines += [(kind, dimension, coupled) for dimension in (3, 2) for kind in COUPLED]
    ledgers = {}
    for kind, dimension, make in machines:
        step = solve(make(kind, dimension, steps)).steps[0]
        label = f"{kind}, {'space' if dimension == 3 else 'plane'}, {steps} steps"
        f.zero(
            "B-JOINTS",
            f"change of the energy, {label}",
            energy_error(step, constant=True),
            CONSERVED,
            "The rule conserves it exactly; only round-off is left.",
        )
        momenta = max(constancy(step, "linear momentum"), constancy(step, "angular momentum"))
        f.zero(
            "B-JOINTS",
            f"change of the momenta, {label}",
            momenta,
            CONSERVED,
            "The rule conserves it exactly; only round-off is left.",
        )
        f.zero(
            "B-JOINTS",
            f"error of the constraints, {label}",
            step.summary["constraint_error"],
            1e-12,
            "Constraints are satisfied at the end of each step.",
        )
        if dimension == 3 and kind in SHOWN:
            ledgers[kind] = step
    for dimension, kind in SLIDING:
        step = solve(sliding(dimension, steps, kind)).steps[0]
        label = f"{kind}, {'space' if dimension == 3 else 'plane'}, {steps} steps"
        f.zero(
            "B-JOINTS",
            f"change of the energy, {label}",
            energy_error(step, constant=True),
            CONSERVED,
            "The rule conserves it exactly; only round-off is left.",
        )
        f.zero(
            "B-JOINTS",
            f"change of momentum, {label}",
            constancy(step, "linear momentum"),
            CONSERVED,
            "The rule conserves it exactly; only round-off is left.",
        )
        mean = kind == "along_beam"
        turn = STEP * float(np.linalg.norm(_flight(dimension == 3, 0.0)["spin"]))
        f.zero(
            "B-JOINTS", f"change of angular momentum, {label}", constancy(step, "angular momentum"),
            turn**2 / 8.0 if mean else CONSERVED,
            "The mean of two places on a line that turns by w h is (w h)^2/8 off it." if mean
            else "The rule conserves it exactly; only round-off is left.",
        )  # fmt: skip
        f.zero(
            "B-JOINTS",
            f"error of the constraints, {label}",
            step.summary["constraint_error"],
            1e-12,
            "Constraints are satisfied at the end of each step.",
        )
    f.energy_figure(ledgers, f"{steps} steps of 20 ms.")
