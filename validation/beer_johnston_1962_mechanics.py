r"""A cable with hanging loads, a block that drops on a scale, a crane boom that is raised on a turning cab.

      cable   20 ft .             scale   25 lb on 100 lb/in; 50 lb fall 71.75 in      boom   40 ft at 30 degrees,
            .  4 kip               [__]   and stay on it                                  .5 rad/s up, .3 rad/s about
      o  12 kip                    /\/\                                                  the vertical
       6 kip

Source: F.P. Beer, E.R. Johnston, "Vector mechanics for engineers: statics and dynamics", McGraw-Hill 1962.  The numbers
were read in the verification manual of ANSYS Mechanical APDL (problems VM31, 83, 131), which prints them after the
problems named.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published_level
from fem_mbs.validation.kinds import Kind, in_ansys_manual

CAPABILITY = "mechanisms"
CASES = {"B-BEER": "a cable with hanging loads, a block on a scale, the acceleration of a crane boom"}


def source(where: str, problem: int) -> Kind:
    return in_ansys_manual(f"Beer and Johnston (1962), {where}", f"VM{problem}")


def reference() -> dict[str, tuple[str, ...]]:
    """Return forces [kip], displacements [in], accelerations [ft/s^2]."""
    return {"cable": ("18.000", "5.0000", "24.762"), "scale": ("-7.7",), "boom": ("-11.78", "-5", "6")}


def build() -> Model:
    """Return the cable through the places where its loads hang."""
    model = Model(2, "cable")
    model.section("cable", "stiffness", EA=2e6, rhoA=0.0)
    places = ((0.0, 0.0), (20.0, -5.56), (30.0, -5.0), (45.0, 5.83), (60.0, 20.0))
    for i, place in enumerate(places):
        model.node(f"n{i}", place)
    for i in range(4):
        model.trusses(f"c{i}", [f"n{i}", f"n{i + 1}"], "cable", prestress=1e-3)
    for i, load in enumerate((6.0, 12.0, 4.0), 1):
        model.force(f"F{i}", f"n{i}", (0.0, -load))
    for end in ("n0", "n4"):
        model.fix(end)
    model.sensor("support", "reaction", on="n0")
    model.sensor("N", "element", on="c3", element=0, quantity="N")
    model.static_step(increments=4)
    return model


def check(f: Findings) -> None:
    known = reference()
    solution = solve(build())
    x, y = solution.sensor("support").values[-1]
    where = source("p. 260, problem 7.8", 31)
    why = "places of the loads of three digits"
    for quantity, value, text in (
        ("horizontal reaction of a cable [kip]", abs(x), known["cable"][0]),
        ("vertical reaction of a cable [kip]", abs(y), known["cable"][1]),
        ("largest tension of a cable [kip]", solution.sensor("N").values[-1, 0], known["cable"][2]),
    ):
        f.digits("B-BEER", quantity, value, text, where, error=2e-3, why=why)
    _scale(f, known["scale"][0])
    _boom(f, known["boom"])


def _scale(f: Findings, text: str) -> None:
    # a perfectly plastic blow: both go on with the mean speed
    g, pan, block, k, height = 386.0, 25.0, 50.0, 100.0, 72.0 - 0.25
    speed = block / (pan + block) * np.sqrt(2.0 * g * height)
    model = Model(2, "scale", gravity=(0.0, -g))
    model.node("pan", (0.0, 0.0))
    model.point_mass("both", "pan", (pan + block) / g)
    model.fix("pan", ["x"])
    model.spring("k", "ground", "pan", k, point_a=(0.0, -10.0), preload=-pan)
    model.initial("pan", velocity=(0.0, -speed))
    model.sensor("u", "displacement", on="pan")
    model.transient_step(0.2, 1e-4, frames=0)
    step = solve(model).steps[-1]
    u = step.series["sensor/u"][:, 1]
    f.digits("B-BEER", "largest deflection of a scale under a block that falls on it [in]", u.min() - pan / k, text,
             source("p. 531, problem 14.6", 83))  # fmt: skip
    curves = [Curve(step.time, u - pan / k, "fem-mbs"), published_level("Beer and Johnston (1962)", step.time, text)]
    f.figure("A block on a scale", curves, "Time [s]", "Displacement from the free spring [in]")


def _boom(f: Findings, texts: tuple[str, ...]) -> None:
    h = 1e-4
    model = Model(3, "crane boom")
    angle = np.radians(30.0)
    model.body("cab body", (0.0, 0.0, 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.body("boom", (40.0 * np.cos(angle), 40.0 * np.sin(angle), 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint("slew", "revolute", "ground", "cab body", point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0),
                function={"kind": "constant_speed", "rate": 0.3})  # fmt: skip
    model.joint("luff", "revolute", "cab body", "boom", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0),
                function={"kind": "constant_speed", "rate": 0.5})  # fmt: skip
    model.sensor("a", "acceleration", on="boom")
    model.transient_step(10.0 * h, h, frames=0)
    a = solve(model).steps[-1].series["sensor/a"]
    for k, text in enumerate(texts):
        f.digits("B-BEER", f"acceleration of the tip of a boom along {'xyz'[k]} [ft/s^2]", a[1, k], text,
                 source("p. 616, problem 15.13", 131))  # fmt: skip
