"""A bar that closes a gap when heated, a tapered plate and a tapered bar: problems of a textbook.

      gap      3 in of aluminium, .002 in from a rigid wall, 100 F warmer        wedge  20 in long, 3 in wide at the
      pull     a bar of 10 in, 2 x 2 in at one end and 1 x 1 in at the other,           clamp, .5 in thick, 10 lb
               under 10 000 psi at the thin end

Source: C.O. Harris, "Introduction to stress analysis", Macmillan 1959.  The numbers were read in the verification
manual of ANSYS Mechanical APDL (problems VM27, 34, 37; pounds and inches), which prints them after the pages named.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated, published
from fem_mbs.validation.kinds import Kind, in_ansys_manual

CAPABILITY = "shells"
CASES = {"B-HARRIS": "a bar that closes a gap, a tapered plate, a tapered bar"}


def source(where: str, problem: int) -> Kind:
    return in_ansys_manual(f"Harris (1959), {where}", f"VM{problem}")


def reference() -> dict[str, tuple[str, ...]]:
    """Return the printed numbers: stresses [psi], deflections [in]."""
    return {"gap": ("-6125",), "plate": (".042667", "1600"), "bar": (".0048077", "4444")}


def build(n: int = 16) -> Model:
    """Return the plate as a beam whose width grows from nothing to 3 in."""
    model = Model(3, "tapered plate")
    model.material("steel", E=30e6, nu=0.0, density=0.0)
    model.section("tip", "rectangle", width=3e-4, height=0.5)
    model.section("root", "rectangle", width=3.0, height=0.5)
    model.line("plate", (0.0, 0.0, 0.0), (20.0, 0.0, 0.0), n)
    model.beams("plate", "plate", ["tip", "root"], "steel", shear=False, orientation=(0.0, 0.0, 1.0))
    model.fix("plate:end")
    model.force("F", "plate:start", (0.0, 0.0, -10.0))
    model.sensor("u", "displacement", on="plate:start")
    model.sensor("clamp", "reaction", on="plate:end")
    model.linear_static_step()
    return model


def pulled(n: int) -> Model:
    """Return a quarter of the tapered bar of solids, from its thick end at z = 0."""
    model = Model(3, "tapered bar")
    model.material("aluminium", E=10.4e6, nu=0.3, density=0.0)
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 10), (0.5, 0, 10), (0.5, 0.5, 10), (0, 0.5, 10)]
    model.grid("s", "block", corners=[list(map(float, c)) for c in corners], n=(2, 2, n), kind="hexahedron20")
    model.solids("bar", on="s", material="aluminium", kinematics="linear")
    x = model.positions
    for axis in range(3):
        for node in np.flatnonzero(np.abs(x[:, axis]) < 1e-9):
            model.fix(int(node), ["xyz"[axis]])
    model.pressure("p", "s:top", -10000.0)
    model.linear_static_step()
    return model


def cone(half: float, nu: float = 0.3) -> float:
    """Return the stress on the axis over the mean one of a cone with the half angle [rad], pulled at its apex by F.

    Michell, with c = cos(half): the stress along R is F (2 (2 - nu) cos(t) - (1 - 2 nu) (1 + c)) over
    2 pi R^2 (1 - c^3 - (1 - 2 nu) c (1 - c)).
    """
    c = np.cos(half)
    on_axis = 2.0 * (2.0 - nu) - (1.0 - 2.0 * nu) * (1.0 + c)
    return float(0.5 * np.tan(half) ** 2 * on_axis / (1.0 - c**3 - (1.0 - 2.0 * nu) * c * (1.0 - c)))


def check(f: Findings) -> None:
    known = reference()
    # a plane bar of unit area, which springs with a gap stop
    model = Model(2, "gap")
    model.material("aluminium", E=10.5e6, nu=0.0, density=0.0, expansion=12.5e-6)
    model.grid("s", "rectangle", size=(3.0, 1.0), n=(4, 1), kind="quad8")
    model.planes("bar", on="s", material="aluminium", kinematics="linear")
    model.fix("s:left", ["x"])
    model.fix("s", ["y"])
    for k, node in enumerate(model.nodes_of("s:right")):
        model.spring(f"gap {k}", int(node), "ground", 0.0, point_b=(4.0, float(model.positions[node, 1])), length=1.0,
                     stops=[0.998, 9.0], stop_stiffness=1e12)  # fmt: skip
    model.temperature("heat", "s", value=100.0)
    model.static_step(increments=4)
    stress = np.asarray(solve(model).steps[-1].frames["stress [Pa]"])[-1, :, 0].mean()
    f.digits("B-HARRIS", "stress of a bar that closes a gap [psi]", stress, known["gap"][0],
             source("p. 58, problem 8", 27))  # fmt: skip
    meshes = np.array([2, 4, 8, 16])
    runs = [solve(build(int(n))) for n in meshes]
    tips = np.array([-r.sensor("u").values[-1, 2] for r in runs])
    where = source("p. 114, problem 61", 34)
    tip = 1e-4  # width over that of the clamp; x^2/(x + tip) in place of x makes 2 of it in the deflection
    f.digits("B-HARRIS", "deflection of a tapered plate [in], h -> 0", float(extrapolated(tips, 2.0)),
             known["plate"][0], where, error=2.0 * tip, why="the width of the tip")  # fmt: skip
    moment = abs(runs[-1].sensor("clamp").values[-1, 4])
    f.digits("B-HARRIS", "its largest stress [psi]", moment * 6.0 / (3.0 * 0.25), known["plate"][1], where)
    curves = [Curve(1.0 / meshes, tips, "fem-mbs", "o-"), published("Harris (1959)", 0.0, known["plate"][0])]
    f.figure("Tapered plate", curves, "1/elements", "Deflection [in]")
    model = pulled(14)
    step = solve(model).steps[-1]
    u = np.asarray(step.frames["displacement"])[-1]
    middle = int(np.argmin(np.abs(model.positions - (0.0, 0.0, 5.0)).sum(axis=1)))
    for quantity, value, text in (
        ("extension of a tapered bar [in]", u[model.nodes_of("s:top"), 2].mean(), known["bar"][0]),
        ("stress in its middle [psi]", np.asarray(step.frames["stress [Pa]"])[-1, middle, 2], known["bar"][1]),
    ):
        f.digits("B-HARRIS", quantity, value, text, source("p. 237, problem 4", 37),
                 error=cone(float(np.arctan(0.05 * np.sqrt(2.0)))) - 1.0,
                 why="theory of bars; the stress on the axis of a cone about it exceeds the mean")  # fmt: skip
