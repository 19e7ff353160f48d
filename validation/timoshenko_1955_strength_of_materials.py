"""Bars, beams and columns: problems of a textbook, part I.

Two bars that carry a load in the middle, a hinged support, two columns of beams, a curved bar out of its plane, a beam
with overhangs, a shaft that is bent and twisted, and an eccentric column.

      10 |_ 1000 lb     hinged support          overhangs                   curved bar
       7 |_            o             o      10 kip/ft        10 kip/ft      /```.
       4 |_  500 lb      \\30     30/       _____           _____           A    . r = 100
       0 |_                 \\   /          =====^===========^=====         F up at the end
                              o 5000 lb     10 ft    20 ft    10 ft

Source: S. Timoshenko, "Strength of materials", part I, 3rd ed., Van Nostrand 1955.  The numbers were read in the
verification manual of ANSYS Mechanical APDL (problems VM1, 2, 4, 12, 14, 18; pounds and inches), which prints them
after the pages named.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import Kind, in_ansys_manual

CAPABILITY = "beams"
CASES = {
    "B-BARS": "a bar between two supports, a hinged support",
    "B-BENT": "a beam with overhangs, a curved bar, a shaft that is bent and twisted",
    "B-ECCENTRIC": "an eccentrically loaded column in large displacement",
}

E = 30e6


def source(where: str, problem: int) -> Kind:
    return in_ansys_manual(f"Timoshenko, Strength of materials I (1955), {where}", f"VM{problem}")


def reference() -> dict[str, tuple[str, ...]]:
    """Return the printed numbers: forces [lb], stresses [psi], displacements [in]."""
    return {
        "bar": ("900", "600"),
        "hinged": ("10000", "-.120"),
        "overhangs": ("1.14e4", ".182"),
        "curved": ("2.648", "6366", "3183"),
        "twisted": ("7527", "3777"),
        "column": (".1086", "1803.63", "-2394.53"),
    }


def statics(model: Model):
    model.linear_static_step()
    return solve(model)


def hinged() -> Model:
    """Return two bars at 30 degrees that carry 5000 lb."""
    model = Model(2, "hinged support")
    length = 180.0
    x, y = length * np.cos(np.pi / 6.0), -length * np.sin(np.pi / 6.0)
    for name, place in (("a", (0.0, 0.0)), ("load", (x, y)), ("b", (2.0 * x, 0.0))):
        model.node(name, place)
    model.section("bar", "stiffness", EA=0.5 * E, rhoA=0.0)
    model.trusses("left", ["a", "load"], "bar")
    model.trusses("right", ["load", "b"], "bar")
    model.fix("a")
    model.fix("b")
    model.force("F", "load", (0.0, -5000.0))
    model.sensor("u", "displacement", on="load")
    model.sensor("N", "element", on="left", element=0, quantity="N")
    return model


def build(n: int = 24) -> Model:
    """Return a quarter of a ring of n straight beams, clamped, under a force of 50 lb out of its plane."""
    model = Model(3, "curved bar")
    model.material("steel", E=E, nu=0.3, density=0.0)
    model.section("round", "circle", diameter=2.0)
    angles = np.linspace(0.0, 0.5 * np.pi, n + 1)
    names = [f"n{i}" for i in range(n + 1)]
    for name, a in zip(names, angles, strict=True):
        model.node(name, (100.0 * np.cos(a), 100.0 * np.sin(a), 0.0))
    for i in range(n):
        model.beams(f"b{i}", names[i : i + 2], "round", "steel", shear=False)
    model.fix("n0")
    model.force("F", names[-1], (0.0, 0.0, -50.0))
    model.sensor("u", "displacement", on=names[-1])
    model.sensor("clamp", "reaction", on="n0")
    return model


def straight(length: float, n: int, area: float, inertia: float) -> Model:
    """Return a plane beam along x, "beam"."""
    model = Model(2, "beam")
    model.section("beam", "stiffness", EA=E * area, EI=E * inertia, GA=np.inf, rhoA=0.0)
    model.line("beam", (0.0, 0.0), (length, 0.0), n)
    model.beams("beam", "beam", "beam")
    return model


def check(f: Findings) -> None:
    _bars(f)
    _bent(f)
    _column(f)


def _bars(f: Findings) -> None:
    known = reference()
    model = Model(2, "bar")
    model.section("bar", "stiffness", EA=E, rhoA=0.0)
    for i, y in enumerate((0.0, 4.0, 7.0, 10.0)):
        model.node(f"n{i}", (0.0, y))
        model.fix(f"n{i}", ["x"])
    for i in range(3):
        model.trusses(f"b{i}", [f"n{i}", f"n{i + 1}"], "bar")
        model.sensor(f"N{i}", "element", on=f"b{i}", element=0, quantity="N")
    for end in ("n0", "n3"):
        model.fix(end, ["y"])
    model.force("F1", "n1", (0.0, -500.0))
    model.force("F2", "n2", (0.0, -1000.0))
    solution = statics(model)
    for name, sign, text in (("N2", 1.0, known["bar"][0]), ("N0", -1.0, known["bar"][1])):
        f.digits(
            "B-BARS", f"reaction of a bar between two supports, {name} [lb]",
            sign * solution.sensor(name).values[-1, 0], text, source("p. 26, problem 10", 1),
        )  # fmt: skip
    solution = statics(hinged())
    where = source("p. 10, problem 2", 4)
    f.digits("B-BARS", "stress of a hinged support [psi]", solution.sensor("N").values[-1, 0] / 0.5, known["hinged"][0],
             where)  # fmt: skip
    f.digits("B-BARS", "its displacement [in]", solution.sensor("u").values[-1, 1], known["hinged"][1], where)


def _bent(f: Findings) -> None:
    known = reference()
    inertia = 7892.0  # of an I section of 30 in
    model = Model(2, "overhangs")
    model.section("beam", "stiffness", EA=E * 50.0, EI=E * inertia, GA=np.inf, rhoA=0.0)
    for i in range(5):
        model.node(f"n{i}", (120.0 * i, 0.0))
    for i in range(4):
        model.beams(f"b{i}", [f"n{i}", f"n{i + 1}"], "beam")
    for i in (0, 3):
        model.line_load(f"p{i}", f"b{i}", (0.0, -10e3 / 12.0))
    model.fix("n1", ["x", "y"])
    model.fix("n3", ["y"])
    model.sensor("u", "displacement", on="n2")
    model.sensor("M", "element", on="b1", element=0, quantity="M_q")
    solution = statics(model)
    where = source("p. 98, problem 4", 2)
    stress = abs(solution.sensor("M").values[-1, 0]) * 15.0 / inertia
    f.digits("B-BENT", "largest stress of a beam with overhangs [psi]", stress, known["overhangs"][0], where)
    f.digits("B-BENT", "its deflection in the middle [in]", solution.sensor("u").values[-1, 1], known["overhangs"][1],
             where)  # fmt: skip
    where, why = source("p. 412, eq. 241", 18), "24 straight elements, (angle/24)^2/24 and less"
    meshes = np.array([4, 8, 16, 24])
    runs = [statics(build(int(n))) for n in meshes]
    tips = np.array([-r.sensor("u").values[-1, 2] for r in runs])
    f.digits("B-BENT", "deflection of a curved bar [in]", tips[-1], known["curved"][0], where, error=5e-4, why=why)
    moment = np.abs(runs[-1].sensor("clamp").values[-1, 3:])
    for quantity, value, text in (
        ("bending", 32.0 * moment[0] / (np.pi * 8.0), known["curved"][1]),
        ("torsional", 16.0 * moment[1] / (np.pi * 8.0), known["curved"][2]),
    ):
        f.digits("B-BENT", f"its largest {quantity} stress [psi]", value, text, where)
    curves = [Curve(1.0 / meshes, tips, "fem-mbs", "o-"), published("Timoshenko (1955)", 0.0, known["curved"][0])]
    f.figure("Deflection of a curved bar", curves, "1/elements", "Deflection [in]")
    model = Model(3, "shaft")
    model.material("steel", E=E, nu=0.3, density=0.0)
    model.section("round", "circle", diameter=4.67017)
    model.line("shaft", (0.0, 0.0, 0.0), (0.0, 0.0, 300.0), 2)
    model.beams("shaft", "shaft", "round", "steel")
    model.fix("shaft:start")
    model.force("F", "shaft:end", (-250.0, 0.0, 0.0))
    model.moment("M", "shaft:end", (0.0, 0.0, 9000.0))
    model.sensor("clamp", "reaction", on="shaft:start")
    moment = np.abs(statics(model).sensor("clamp").values[-1, 3:])
    bending, torsion = moment[1], moment[2]
    whole = np.hypot(bending, torsion)
    scale = 16.0 / (np.pi * 4.67017**3)
    where = source("p. 299, problem 2", 12)
    f.digits("B-BENT", "largest principal stress of a shaft [psi]", scale * (bending + whole), known["twisted"][0],
             where)  # fmt: skip
    f.digits("B-BENT", "its largest shear stress [psi]", scale * whole, known["twisted"][1], where)


def _column(f: Findings) -> None:
    # a channel, whose centroid is .6465 in from the line of the force
    known = reference()["column"]
    area = 2.0 * 2.26 * 0.39 + (8.0 - 0.78) * 0.22
    centre = (2.0 * 2.26 * 0.39 * 1.13 + (8.0 - 0.78) * 0.22 * 0.11) / area
    inertia = (2.0 * 0.39 * 2.26**3 + (8.0 - 0.78) * 0.22**3) / 3.0 - area * centre**2
    model = straight(60.0, 16, area, inertia)
    model.fix("beam:start")
    model.force("F", "beam:end", (-4000.0, 0.0))
    model.moment("M", "beam:end", 4000.0 * 0.6465)
    model.sensor("u", "displacement", on="beam:end")
    model.sensor("M", "element", on="beam", element=0, quantity="M_p")
    model.static_step(increments=4)
    solution = solve(model)
    where = source("p. 263, problem 1", 14)
    moment = abs(solution.sensor("M").values[-1, 0])
    for quantity, found, text in zip(
        ("deflection of an eccentric column [in]", "its largest stress [psi]", "its least stress [psi]"),
        (
            abs(solution.sensor("u").values[-1, 1]),
            moment * (2.26 - centre) / inertia - 4000.0 / area,
            -moment * centre / inertia - 4000.0 / area,
        ),
        known,
        strict=True,
    ):
        f.digits("B-ECCENTRIC", quantity, found, text, where, error=3e-3,
                 why="A and I of the channel follow from dimensions of three digits")  # fmt: skip
