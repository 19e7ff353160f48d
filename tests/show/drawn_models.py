"""A small model for each kind of declaration that has symbols."""

from __future__ import annotations

import numpy as np
from solid_meshes import box_mesh

from fem_mbs import Model

X = (1.0, 0.0, 0.0)


def frame() -> Model:
    """A clamped rod of beams with the bodies "one" and "two", joined by the hinge "pivot"."""
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.material("steel", 2e11, 0.3, 7800.0)
    m.section("tube", "circle", diameter=0.02)
    m.line("rod", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 4)
    m.beams("rod", "rod", section="tube", material="steel")
    m.fix("rod:start")
    m.body("one", (2.0, 0.0, 0.0), 1.0, (1.0, 1.0, 1.0))
    m.body("two", (3.0, 0.0, 0.0), 1.0, (1.0, 1.0, 1.0), rotation=(0.0, 0.0, 0.5))
    m.joint("pivot", "revolute", "one", "two", point=(2.5, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    m.joint("base", "revolute", "one", "ground", point=(2.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    return m


def block(held: bool = True) -> Model:
    """A box of solid cells, held at x = 0; surface set "x1 faces"."""
    m = Model(3)
    m.material("steel", 2e11, 0.3, 7800.0)
    m.mesh("body", box_mesh("hexahedron", (2, 1, 1), (2.0, 1.0, 1.0)))
    m.solids("body", "body", material="steel")
    if held:
        m.fix("body:x0")
    return m


def tie() -> Model:
    m = block()
    m.mesh("cap", box_mesh("hexahedron", (1, 2, 2), (1.0, 1.0, 1.0), place=(2.0, 0.0, 0.0)))
    m.tie("tie", "cap:x0", "body:x1 faces")
    m.solids("cap", "cap", material="steel")
    return m


def pretension() -> Model:
    m = Model(3)
    m.material("steel", 2e11, 0.3, 7800.0)
    m.mesh("body", box_mesh("hexahedron", (2, 1, 1), (2.0, 1.0, 1.0)))
    m.pretension("thing", "body", (1.0, 0.0, 0.0), (1.0, 0.0, 0.0), force=10.0)
    m.solids("body", "body", material="steel")
    m.fix("body:x0")
    return m


def ring() -> Model:
    m = Model(2)
    m.material("steel", 2e11, 0.3, 7800.0)
    m.section("bar", "rectangle", width=0.1, height=0.1)
    m.arc("rim", (0.0, 0.0), 1.0, (0.0, 45.0), 3)
    m.beams("rim", "rim", section="bar", material="steel")
    m.cyclic_symmetry("cyclic", "rim:end", "rim:start", 8)
    return m


def part_load() -> Model:
    from fem_mbs import reduce_part

    own = block(held=False)
    own.pressure("push", "body:x1 faces", 1e5)
    part = reduce_part(own, {"end": "body:x1"})
    m = Model(3)
    m.reduced_part("part", part)
    m.part_load("load", "part", "push")
    return m


def submodel() -> Model:
    from fem_mbs import read_global_motion, solve

    whole = block()
    whole.linear_static_step()
    m = block(held=False)
    m.submodel("thing", "body:x1", read_global_motion(solve(whole)))
    return m


def _with(call: str, *args, **options):
    def make() -> Model:
        m = frame()
        getattr(m, call)(*args, **options)
        return m

    return make


def _on_block(call: str, *args, **options):
    def make() -> Model:
        m = block()
        getattr(m, call)(*args, **options)
        return m

    return make


def _velocity(m: Model) -> Model:
    m.initial("rod", velocity=("0", "0", "x"))
    return m


def _speed(m: Model) -> Model:
    m.initial_speed("one", "rotation", 2.0, axis=(0.0, 1.0, 0.0))
    return m


def _running(m: Model) -> Model:
    m.running("one", velocity=(3.0, 0.0, 0.0), spin=(0.0, 0.0, 0.5))
    return m


def _sliding(m: Model) -> Model:
    m.joint("rail", "prismatic", "ground", "rod:end", point=(1.0, 0.0, 0.0), axis=X)
    m.friction("thing", "rail", coefficient=0.1, smoothing=0.01)
    return m


def _curve(m: Model) -> Model:
    m.curve("thing", points=[(2.0, 0.0, 1.0), (4.0, 0.0, 1.0)])
    m.joint("bore", "point_on_curve", "one", "two", point=(3.0, 0.0, 1.0), curve="thing")
    return m


def _gear(m: Model) -> Model:
    m.gear("thing", "base", "pivot", -2.0)
    return m


def _user(m: Model) -> Model:
    m.user_force("thing", "pivot", lambda q, rate, t: -q)
    return m


#: Name of a declaration -> a model with one, called "thing" where it has a name, and the number of its symbols.
CASES = {
    "Tie": (tie, 9, "tie"),
    "Spring": (_with("spring", "thing", "rod:end", "one", 10.0, 1.0), 1, "thing"),
    "TorsionSpring": (_with("torsion_spring", "thing", "one", "two", 10.0, axis=X), 1, "thing"),
    "NodalSpring": (_with("nodal_spring", "thing", "rod", "z", 10.0), 5, "thing"),
    "JointSpring": (_with("joint_spring", "thing", "pivot", 10.0), 1, "thing"),
    "Bushing": (_with("bushing", "thing", "rod:end", "one", np.ones(6), point=(1.5, 0.0, 0.0)), 1, "thing"),
    "Bearing": (_with("bearing", "thing", "rod:end", stiffness=10.0, axis=X), 1, "thing"),
    "Motor": (_with("motor", "thing", "pivot", force=1.0), 1, "thing"),
    "HydraulicActuator": (
        _with("hydraulic", "thing", "pivot", area=1e-4, capacity=1e-12, gain=1e-5, opening=1.0),
        1,
        "thing",
    ),
    "Friction": (lambda: _sliding(frame()), 1, "thing"),
    "Impact": (
        _with("impact", "thing", "ground", "two", point=(0.0, 0.0, -9.0), axis=(0.0, 0.0, 1.0), restitution=0.5),
        2,
        "thing",
    ),
    "Contact": (
        _with("contact", "thing", "ground", "two", point=(0.0, 0.0, -9.0), axis=(0.0, 0.0, 1.0), stiffness=1e4),
        2,
        "thing",
    ),
    "Tyre": (
        _with(
            "tyre",
            "thing",
            "two",
            axis=(0.0, 1.0, 0.0),
            radius=1.0,
            road=(0.0, 0.0, -2.0),
            stiffness=1e4,
            slip_stiffness=1e4,
        ),
        25,
        "thing",
    ),
    "UserForce": (lambda: _user(frame()), 1, "thing"),
    "Gear": (lambda: _gear(frame()), 1, "thing"),
    "Lock": (_with("lock", "thing", "pivot", limit=2.0), 1, "thing"),
    "Curve": (lambda: _curve(frame()), 60, "thing"),
    "MassMatrix": (_with("mass_matrix", "thing", ["rod:start", "rod:end"], np.eye(2)), 2, "thing"),
    "Coupling": (_with("coupling", "thing", "one", ["rod:end"]), 1, "thing"),
    "Equation": (_with("equation", "thing", [("one", "x", 1.0), ("rod:end", "x", -1.0)]), 1, "thing"),
    "EquationRows": (_with("equations", "thing", [0, 0], [4, 5], [0, 0], [1.0, -1.0]), 1, "thing"),
    "CyclicSymmetry": (ring, 3, "cyclic"),
    "Motion": (_with("motion", "thing", "rod:end", "z", "0*t"), 1, "thing"),
    "Submodel": (submodel, 4, "thing"),
    "BaseExcitation": (_on_block("base_excitation", "thing", X, displacement="0*t"), 4, "thing"),
    "Force": (_with("force", "thing", "two", (0.0, 1.0, 0.0), point=(3.0, 1.0, 0.0), follower=True), 1, "thing"),
    "Moment": (_with("moment", "thing", "two", (0.0, 1.0, 0.0), kind="follower"), 1, "thing"),
    "LineLoad": (_with("line_load", "thing", "rod", (0.0, 0.0, -1.0)), 8, "thing"),
    "Pressure": (_on_block("pressure", "thing", "body:x1 faces", 1e5), 1, "thing"),
    "Traction": (_on_block("traction", "thing", "body:x1 faces", (0.0, 1.0, 0.0)), 1, "thing"),
    "PartLoad": (part_load, 1, "load"),
    "Pretension": (pretension, 1, "thing"),
    "Centrifugal": (_on_block("centrifugal", "thing", 10.0, axis=X), 1, "thing"),
    "RotorAxis": (_with("rotor", "thing", X, on="rod"), 1, "thing"),
    "Initial": (lambda: _velocity(frame()), 4, ""),
    "StartSpeed": (lambda: _speed(frame()), 1, ""),
    "Running": (lambda: _running(frame()), 2, ""),
    "SensorRequest": (_with("sensor", "thing", "distance", a="rod:end", b="one"), 1, "thing"),
}
