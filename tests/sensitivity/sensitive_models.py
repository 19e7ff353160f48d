"""Models as functions of their parameters, for tests of derivatives."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from fem_mbs import Model, reduce_part
from tests.solid_meshes import box_mesh


def oscillator(m=2.0, k=50.0, c=0.7, v0=0.1, push=0.0, h=0.01, duration=3.0, **options):
    """A mass at a spring and a damper, along x."""
    model = Model(2, "oscillator")
    model.node("a", (0.0, 0.0))
    model.point_mass("m", "a", m)
    model.fix("a", ["y"])
    model.nodal_spring("s", "a", "x", k, c)
    model.initial("a", velocity=(v0, 0.0))
    if push:
        model.force("push", "a", (push, 0.0), {"kind": "expression", "expression": "sin(3*t)"})
    model.sensor("x", "displacement", on="a")
    model.sensor("v", "velocity", on="a")
    model.transient_step(duration, h, frames=0, **options)
    return model


def pendulum(length=1.0, g=9.81, angle=0.5, mass=1.0, inertia=0.02, h=2e-3, duration=2.0, **options):
    """A rigid bar at a pin, from rest at an angle [rad]."""
    model = Model(2, "pendulum", gravity=(0.0, -g))
    model.body("bob", (length * np.sin(angle), -length * np.cos(angle)), mass, inertia, angle=angle)
    model.joint("pin", "revolute", "ground", "bob", point=(0.0, 0.0))
    model.sensor("angle", "joint", on="pin")
    model.sensor("force", "reaction", on="pin")
    model.transient_step(duration, h, frames=0, **options)
    return model


def beam(
    length=1.0, E=2.1e11, diameter=0.01, density=7850.0, g=9.81, tip=0.5, load=30.0, dim=2, n=6, h=0.005, duration=0.4,
    static=True, **options,
):  # fmt: skip
    """A cantilever under its weight, with a mass and a force at its end."""
    space = dim == 3
    model = Model(dim, "cantilever", gravity=(0.0, 0.0, -g) if space else (0.0, -g))
    model.material("steel", E=E, nu=0.3, density=density)
    model.section("rod", shape="circle", diameter=diameter)
    rest = (0.0,) * (dim - 1)
    model.line("arm", (0.0, *rest), (length, *rest), n)
    model.beams("arm", "arm", "rod", material="steel", **({"orientation": (0.0, 0.0, 1.0)} if space else {}))
    model.fix("arm:start")
    model.point_mass("tip", "arm:end", tip)
    vector = (0.0, 0.3 * load, load) if space else (0.0, load)
    model.force("push", "arm:end", vector, {"kind": "expression", "expression": "sin(8*t)"})
    model.sensor("tip", "position", on="arm:end")
    model.sensor("root", "reaction", on="arm:start")
    model.sensor("energy", "energy", quantity="total")
    if static:
        model.static_step(3, vary="gravity")
    model.transient_step(duration, h, frames=0, **options)
    return model


def four_bar(
    crank=0.2, rod=0.7, rocker=0.5, speed=6.0, mass=2.0, stiffness=20.0, dim=2, h=0.005, duration=0.6, **options
):
    """A four-bar linkage; its crank is driven, a spring holds its rocker."""
    space = dim == 3
    model = Model(dim, "four-bar", gravity=(0.0, -9.81, 0.0)[:dim])
    kind = {"kind": "revolute", "axis": (0.0, 0.0, 1.0)} if space else {"kind": "revolute"}

    def at(x, y):
        return (x, y, 0.0)[:dim]

    # the coupler's far end, by the cosine rule
    d, base = 0.6, np.hypot(0.6, crank)
    turn = np.arctan2(-crank, d) + np.arccos((base**2 + rod**2 - rocker**2) / (2.0 * base * rod))
    ends = {
        "crank": ((0.0, 0.0), (0.0, crank)),
        "rod": ((0.0, crank), (rod * np.cos(turn), crank + rod * np.sin(turn))),
    }
    ends["rocker"] = ((d, 0.0), ends["rod"][1])
    for name, (a, b) in ends.items():
        length, middle = np.hypot(b[0] - a[0], b[1] - a[1]), 0.5 * np.add(a, b)
        own = mass * length**2 / 12.0
        model.body(name, at(*middle), mass, (own, own, own) if space else own)
    for name, a, b, point in (
        ("A", "ground", "crank", ends["crank"][0]), ("B", "crank", "rod", ends["crank"][1]),
        ("C", "rod", "rocker", ends["rod"][1]), ("D", "ground", "rocker", ends["rocker"][0]),
    ):  # fmt: skip
        drive = {"function": {"kind": "constant_speed", "rate": speed}} if name == "A" else {}
        model.joint(name, a=a, b=b, point=at(*point), **kind, **drive)
    model.joint_spring("spring", "D", stiffness, 0.5)
    model.sensor("C", "position", on="rocker", point=at(*ends["rod"][1]))
    model.sensor("swing", "joint", on="D")
    model.sensor("drive", "drive", on="A")
    model.transient_step(duration, h, frames=0, **options)
    return model


def hinge(yield_angle=0.0873, yield_moment=4644.7, inertia=30.0, speed=10.0, h=1e-3, duration=0.4, **options):
    """Dias and Pereira's plastic hinge at a rigid bar, as in `fem_mbs.validation.dias_1993_plastic_hinge`."""
    model = Model(2, "plastic hinge")
    model.body("bar", (0.5, 0.0), mass=60.0, inertia=inertia - 60.0 * 0.25)
    model.joint("hinge", "revolute", "ground", "bar", point=(0.0, 0.0))
    model.joint_spring("spring", "hinge", yield_moment / yield_angle, yield_force=yield_moment)
    model.initial("bar", velocity=(0.0, 0.5 * speed), spin=speed)
    model.sensor("angle", "joint", on="hinge")
    model.sensor("set", "element", on="spring", quantity="plastic angle")
    model.transient_step(duration, h, frames=0, **options)
    return model


def stop(stiffness=685.7, damping=9428.6, speed=0.5, mass=6.0, h=2e-3, duration=1.2, **options):
    """A mass that meets the stop of Ma, Menon and Lankarani (table 2)."""
    model = Model(3, "stop")
    model.body("mass", (0.0, 0.0, 0.0), mass=mass, inertia=np.ones(3))
    model.initial("mass", velocity=(0.0, 0.0, -speed))
    model.contact(
        "stop", "ground", "mass", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), stiffness=stiffness,
        damping=damping / stiffness,
    )  # fmt: skip
    model.sensor("force", "element", on="stop", quantity="normal force")
    model.sensor("place", "position", on="mass")
    model.transient_step(duration, h, frames=0, **options)
    return model


def bounce(height=0.2, stiffness=1e4, restitution=0.5, h=5e-4, duration=0.6, **options):
    """A ball that falls on a floor several times; the contact keeps the speed of each approach."""
    model = Model(2, "bouncing ball", gravity=(0.0, -9.81))
    model.node("ball", (0.0, height))
    model.point_mass("mass", "ball", 1.0)
    model.contact(
        "floor", "ground", "ball", point=(0.0, 0.0), axis=(0.0, 1.0), stiffness=stiffness, restitution=restitution
    )
    model.sensor("place", "position", on="ball")
    model.transient_step(duration, h, frames=0, **options)
    return model


def stick_slip(belt=0.2, friction=0.3, stiffness=40.0, static=0.5, h=1e-3, duration=3.0, **options):
    """A mass at a spring on a running belt: it sticks, and slips back, again and again."""
    model = Model(2, "stick and slip")
    model.body("mass", (0.0, 0.0), 1.0, 0.01)
    model.joint("guide", "prismatic", "ground", "mass", point=(0.0, 0.0), axis=(1.0, 0.0))
    model.joint_spring("spring", "guide", stiffness, 0.1)
    belt_speed = {"kind": "constant", "value": belt}
    normal = {"kind": "constant", "value": 9.81}
    model.friction(
        "belt", "guide", coefficient=friction, smoothing=0.02, static=static, stribeck=0.1, normal=normal,
        speed=belt_speed,
    )  # fmt: skip
    model.sensor("place", "displacement", on="mass")
    model.transient_step(duration, h, frames=0, **options)
    return model


def held_pendulum(length=1.0, lock=None, breaks_at=None):
    """A rigid bar at a pin that may break, perhaps held by a lock."""
    model = Model(2, "held pendulum", gravity=(0.0, -9.81))
    model.body("bar", (length, 0.0), 1.0, 0.02)
    broken = {"breaks_at": breaks_at} if breaks_at else {}
    model.joint("pin", "revolute", "ground", "bar", point=(0.0, 0.0), **broken)
    if lock is not None:
        model.lock("catch", "pin", **lock)
    model.sensor("place", "position", on="bar")
    model.transient_step(1.0, 1e-3, frames=0)
    return model


def block(E=1e6, density=1000.0, load=20.0, width=0.1, n=4, h=0.005, duration=0.1, **options):
    """A block of solids, held at one end: its system is solved by a sparse solver."""
    model = Model(3, "block")
    mesh = box_mesh("hexahedron", (6, n, n), (0.6, width, width))
    mesh = replace(mesh, node_sets={**mesh.node_sets, "end": mesh.node_sets["x1"][:1]})
    model.mesh("block", mesh)
    model.solid_material("rubber", E, 0.3, density=density)
    model.solids("block", "block", "rubber")
    model.fix("block:x0")
    model.force("push", "block:x1", (0.0, 0.0, load / (n + 1) ** 2))
    model.sensor("end", "position", on="block:end")
    model.transient_step(duration, h, frames=0, **options)
    return model


@cache
def _rod():
    """A free rod in the plane in the motions of its ends and four shapes."""
    own = Model(2)
    own.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    own.section("rod", shape="circle", diameter=0.01)
    own.line("rod", (0.0, 0.0), (1.0, 0.0), 6)
    own.beams("rod", "rod", "rod", material="steel")
    return reduce_part(own, {"left": "rod:start", "right": "rod:end"}, modes=4)


def reduced_pendulum(g=9.81, tip=0.5, stiffness=2.0, h=0.002, duration=0.4, **options):
    """A reduced rod at a pin with a spring, and a mass at its end."""
    model = Model(2, "reduced rod", gravity=(0.0, -g))
    model.reduced_part("rod", _rod())
    model.joint("pin", "revolute", "ground", "rod:left")
    model.joint_spring("spring", "pin", stiffness)
    model.point_mass("tip", "rod:right", tip)
    model.sensor("tip", "position", on="rod:right")
    model.sensor("shape", "modal", on="rod", mode=1)
    model.transient_step(duration, h, frames=0, **options)
    return model


def assembled(rod=0.7, gap=0.02, speed=6.0, h=0.005, duration=0.4, **options):
    """A slider-crank that is drawn with a gap in its joint, and closed by an assembly."""
    model = Model(2, "assembled slider-crank", gravity=(0.0, -9.81))
    model.body("crank", (0.0, 0.1), 1.0, 0.01)
    reach = np.sqrt(rod**2 - 0.04)
    angle = np.arctan2(-0.2, reach)
    model.body("rod", (0.5 * reach, 0.1), 2.0, 0.08, angle=angle)
    drive = {"kind": "constant_speed", "rate": speed}
    model.joint("A", "revolute", "ground", "crank", point=(0.0, 0.0), function=drive)
    model.joint("B", "revolute", "crank", "rod", point=(0.0, 0.2), point_b=(gap, 0.2))
    model.joint("C", "slider", "rod", point=(reach, 0.0), axis=(1.0, 0.0))
    model.assembly()
    model.sensor("C", "position", on="rod", point=(reach, 0.0))
    model.transient_step(duration, h, frames=0, **options)
    return model


def spinning(speed=80.0, length=0.3, mass=1.0, h=0.02, duration=0.2, **options):
    """A pendulum that turns so fast that its steps are made in parts."""
    model = Model(2, "spinning", gravity=(0.0, -9.81))
    model.body("bob", (length, 0.0), mass, 0.01)
    model.joint("pin", "revolute", "ground", "bob", point=(0.0, 0.0))
    model.initial("bob", velocity=(0.0, speed * length), spin=speed)
    model.sensor("angle", "joint", on="pin")
    model.sensor("place", "position", on="bob")
    model.transient_step(duration, h, frames=0, **options)
    return model


def stiff_arm(size=1.0, EA=1e9, h=0.005, duration=0.5, **options):
    """An arm on a soft hinge, which a force turns; along its axis it is EA/80 times stiffer."""
    model = Model(2, "stiff arm")
    model.material("steel", E=2e9, density=3000.0)
    model.section("bar", "stiffness", EA=EA, EI=1e8, GA=1e8, rhoA=1.0, rhoI=1.0)
    model.line("arm", (0.0, 0.0), (1.0, 0.0), 1)
    model.beams("arm", "arm", "bar")
    model.joint("hinge", "revolute", "ground", "arm:start")
    model.joint_spring("spring", "hinge", stiffness=80.0)
    model.force("push", "arm:end", (0.0, 16.0 * size))
    model.sensor("turn", "joint", on="hinge")
    model.transient_step(duration, h, frames=0, **options)
    return model


def every_kind():
    """A bar on a beam with springs, laws, tables and functions: numbers of every kind."""
    model = Model(2, "every kind", gravity=(0.0, -9.81))
    model.material("steel", E=2.1e9, nu=0.3, density=2000.0)
    model.section("rod", shape="rectangle", width=0.02, height=0.03)
    model.line("arm", (0.0, 0.0), (1.0, 0.0), 4)
    model.beams("arm", "arm", "rod", material="steel")
    model.body("bob", (1.0, -0.4), 1.5, 0.05)
    model.joint("root", "revolute", "ground", "arm:start", point=(0.0, 0.0))
    model.joint("pin", "revolute", "arm:end", "bob", point=(1.0, 0.0))
    model.joint_spring("stop", "root", 200.0, 1.0, free=0.05)
    law = [(-1.0, -6.0), (-0.2, -1.0), (0.0, 0.0), (0.3, 2.0), (1.0, 8.0)]
    model.joint_spring("law", "pin", table=law, interpolation="spline")
    model.node("far", (1.5, 0.8))
    model.fix("far")
    model.spring("link", "far", "bob", stiffness=30.0, damping=0.5, length=0.9, cubic=20.0)
    model.initial("bob", velocity=(0.3, 0.1), spin=0.5)
    harmonic = {"kind": "harmonic", "amplitude": 1.5, "frequency": 1.3, "phase": 0.2}
    model.force("push", "bob", (2.0, 1.0), harmonic)
    table = {"kind": "table", "times": [0.0, 0.13, 0.37, 1.0], "values": [0.0, 2.0, -1.0, 0.0]}
    model.force("load", "arm:end", (0.0, 1.0), table)
    model.sensor("bob", "position", on="bob")
    model.sensor("rate", "velocity", on="bob")
    model.transient_step(0.4, 2e-3, frames=0)
    return model
