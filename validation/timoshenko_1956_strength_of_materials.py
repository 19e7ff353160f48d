"""A tie rod, a column, a beam on an elastic foundation and plates: problems of a textbook, part II.

      tie rod     F <-===================-> F     200 in, 2.5 x 2.5 in, p = 1.79253 lb/in, F = 21 972.6 lb and 0
      column      pinned, 200 in, .5 x .5 in
      foundation  a half-infinite beam on springs under a force and a moment at its end
      plates      circular, a = 40 in, h = 1 in, clamped and supported; annular, clamped inside, under an edge moment
      strip       a long plate of 45 in, 9 in wide strip of it, h = 3/8 in, whose edges may not approach

Source: S. Timoshenko, "Strength of materials", part II, 3rd ed., Van Nostrand 1956.  The numbers were read in the
verification manual of ANSYS Mechanical APDL (problems VM15, 21, 39, 127, 135, 139; pounds, inches), which prints them
after the pages named.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import Kind, in_ansys_manual
from fem_mbs.validation.shell_grids import on_edge, quarter_disc, shell, square

CAPABILITY = "beams"
CASES = {
    "B-TIE": "a tie rod under a lateral load, with and without its tension, and a column",
    "B-FOUNDATION": "the end of a long beam on an elastic foundation",
    "S-DISCS": "circular plates under pressure and a force, an annular plate under an edge moment",
    "S-LONG": "bending of a long plate whose edges may not approach, linear and nonlinear",
}

E = 30e6


def source(where: str, problem: int) -> Kind:
    return in_ansys_manual(f"Timoshenko, Strength of materials II (1956), {where}", f"VM{problem}")


def reference() -> dict:
    """Return the printed numbers: displacements [in], slopes, moments [in lb], stresses [psi], forces [lb]."""
    return {
        "tie": (".19945", ".0032352", "4580.1"),
        "rod": (".38241", ".0061185", "8962.7"),
        "column": "38.553",
        "foundation": "-.03762",
        "clamped, pressure": (".08736", "7200"),
        "clamped, force": (".08736", "3600"),
        "supported, pressure": (".08904", "2970"),
        "annular": (".049064", ".0045089"),
        "strip": ("108000", "11240", "25280"),
    }


def build(force: float = 0.0, n: int = 16, side: float = 2.5, length: float = 200.0) -> Model:
    """Return a pinned beam of a square section along x under a lateral load and a tension."""
    model = Model(2, "tie rod")
    model.section("beam", "stiffness", EA=E * side**2, EI=E * side**4 / 12.0, GA=np.inf, rhoA=0.0)
    model.line("beam", (0.0, 0.0), (length, 0.0), n)
    model.beams("beam", "beam", "beam")
    model.fix("beam:start", ["x", "y"])
    model.fix("beam:end", ["y"])
    model.sensor("u", "displacement", on=f"beam:#{n // 2 + 1}")
    model.sensor("slope", "rotation", on="beam:start")
    model.sensor("M", "element", on="beam", element=n // 2, quantity="M_p")
    if force:
        model.force("F", "beam:end", (force, 0.0))
    return model


def check(f: Findings) -> None:
    _tie(f)
    _foundation(f)
    _discs(f)
    _strip(f)


def _tie(f: Findings) -> None:
    known = reference()
    where = source("p. 42, article 6", 21)
    for name, force in (("tie", 21972.6), ("rod", 0.0)):
        model = build(force)
        model.line_load("p", "beam", (0.0, -1.79253))
        model.static_step(increments=2)
        solution = solve(model)
        found = [abs(solution.sensor(s).values[-1, k]) for s, k in (("u", 1), ("slope", 0), ("M", 0))]
        for quantity, value, text in zip(
            ("deflection [in]", "slope", "moment [in lb]"), found, known[name], strict=True
        ):
            f.digits(
                "B-TIE", f"{quantity} of a tie rod, F = {force:g} lb", value, text, where, error=2e-4,
                why="16 elements, and large displacements of 1e-3 of the length",
            )  # fmt: skip
    model = build(-1.0, 10, 0.5)
    model.buckling_step(1, sign="positive")
    load = solve(model).steps[-1].summary["load_factors"][0]
    f.digits(
        "B-TIE", "buckling load of a pinned column [lb]", load, known["column"], source("p. 148", 127), error=2e-5,
        why="10 cubic elements",
    )  # fmt: skip


def _foundation(f: Findings) -> None:
    n, length = 208, 286.0
    model = Model(2, "beam on a foundation")
    model.section("beam", "stiffness", EA=E * 21.12, EI=E * 44.0, GA=np.inf, rhoA=0.0)
    model.line("beam", (0.0, 0.0), (length, 0.0), n)
    model.beams("beam", "beam", "beam")
    model.fix("beam:start", ["x"])
    for i in range(n + 1):
        model.nodal_spring(f"k{i}", f"beam:#{i + 1}", "y", 1515.15 * length / n * (0.5 if i in (0, n) else 1.0))
    model.force("F", "beam:start", (0.0, -1000.0))
    model.moment("M", "beam:start", 10000.0)
    model.linear_static_step()
    u = np.asarray(solve(model).steps[-1].frames["displacement"])[-1, :, 1]
    f.digits(
        "B-FOUNDATION", "deflection of the end of a beam on an elastic foundation [in]", u[0],
        reference()["foundation"], source("p. 12", 135), error=4e-4, why="springs at 209 nodes, (beta h)^2/3",
    )  # fmt: skip
    curves = [
        Curve(np.linspace(0.0, length, n + 1), u, "fem-mbs"),
        published("Timoshenko (1956)", 0.0, reference()["foundation"]),
    ]
    f.figure("Beam on an elastic foundation", curves, "x [in]", "Deflection [in]")


def disc(edge: str, n: int = 8) -> Model:
    """Return a quarter of a circular plate whose rim is "clamped" or "supported"."""
    model = shell(quarter_disc(40.0, n, "quad8"), E, 0.3, 1.0)
    model.fix("s", ["x", "y", "rotation z"])
    model.fix("s:y = 0", ["rotation x"])
    model.fix("s:x = 0", ["rotation y"])
    model.fix("s:rim", ["z"] if edge == "supported" else ["z", "rotation x", "rotation y"])
    model.linear_static_step()
    return model


def loaded_disc(edge: str, load: str, n: int) -> tuple[float, float]:
    """Return deflection [in] and largest stress [psi] of a disc of 2 n cells along its radius."""
    model = disc(edge, n)
    if load == "force":
        model.force("F", "s:centre", (0.0, 0.0, -7539.82 / 4.0))
    else:
        model.pressure("p", on="s:body", value=6.0 if edge == "clamped" else 1.5)
    step = solve(model).steps[-1]
    sets = model.meshes["s"][0].node_sets
    centre, rim = int(sets["centre"][0]), int(sets["A"][0])
    place = rim if edge == "clamped" else centre
    u, stress = (np.asarray(step.frames[name])[-1] for name in ("displacement", "stress [Pa]"))
    return abs(u[centre, 2]), abs(stress[place, 0])


def _discs(f: Findings) -> None:
    known = reference()
    why = "the change from quadratic cells of a/8 to a/16"
    for name, page in (("clamped, pressure", "p. 96, article 19"), ("clamped, force", "p. 103, article 21"),
                       ("supported, pressure", "p. 97, article 19")):  # fmt: skip
        edge, load = name.split(", ")
        (_, before), (u, stress) = (loaded_disc(edge, load, n) for n in (4, 8))
        where, what = source(page, 15), f"deflection of a circular plate, {name} [in]"
        if load == "force":
            f.digits("S-DISCS", what, u, known[name][0], where, error=0.01,
                     why="shear under a point force, which grows by 1e-3 as cells halve")  # fmt: skip
        else:
            # the shear q a^2/(4 k G h) of the plate, which the formula leaves out
            shear = (6.0 if edge == "clamped" else 1.5) * 40.0**2 / (4.0 * 5.0 / 6.0 * E / 2.6)
            f.digits("S-DISCS", f"{what}, less that of shear", u - shear, known[name][0], where)
        f.digits("S-DISCS", f"its largest stress, {name} [psi]", stress, known[name][1], where,
                 error=abs(stress - before) / stress, why=why)  # fmt: skip

    def place(a, b):
        r, t = 10.0 + 20.0 * a, 0.5 * np.pi * b
        return r * np.cos(t), r * np.sin(t), 0.0 * a

    model = shell(square(place, 8, 12, "quad8"), E, 0.3, 0.25)
    mesh = model.meshes["s"][0]
    model.fix("s", ["x", "y", "rotation z"])
    model.fix("s:left")
    model.fix("s:bottom", ["rotation x"])
    model.fix("s:top", ["rotation y"])
    x, y, _ = mesh.points[mesh.node_sets["right"]].T
    # 10 in lb/in about the tangent
    on_edge(model, "right", 10.0 * 0.5 * np.pi * np.column_stack((y, -x, 0.0 * x)), "moment")
    model.linear_static_step()
    step = solve(model).steps[-1]
    b = int(mesh.node_sets["b"][0])
    where = source("p. 111, eqs. (e), (f)", 39)
    for quantity, frame, k, text in (
        ("deflection [in]", "displacement", 2, known["annular"][0]),
        ("slope", "rotation", 1, known["annular"][1]),
    ):
        value = abs(np.asarray(step.frames[frame])[-1, b, k])
        f.digits("S-DISCS", f"{quantity} of an annular plate at its edge", value, text, where, error=2e-3,
                 why="8 x 12 quadratic cells, shear flexibility of h/a = 1/120")  # fmt: skip


def _strip(f: Findings) -> None:
    # cylindrical bending: a beam of the plate's stiffness
    known, h, plate = reference()["strip"], 0.375, E / (1.0 - 0.3**2)
    model = Model(2, "long plate")
    model.section("strip", "stiffness", EA=plate * h, EI=plate * h**3 / 12.0, GA=np.inf, rhoA=0.0)
    model.line("strip", (0.0, 0.0), (45.0, 0.0), 32)
    model.beams("strip", "strip", "strip")
    model.fix("strip:start", ["x", "y"])
    model.fix("strip:end", ["x", "y"])
    model.line_load("p", "strip", (0.0, -10.0))
    model.sensor("N", "element", on="strip", element=16, quantity="N")
    model.sensor("M", "element", on="strip", element=16, quantity="M_p")
    model.linear_static_step()
    model.static_step(increments=4)
    linear, large = solve(model).steps
    where = source("p. 80", 139)
    bending = [abs(step.series["sensor/M"][-1, 0]) * 6.0 / h**2 for step in (linear, large)]
    middle = large.series["sensor/N"][-1, 0] / h
    why = "the textbook reads functions of its parameter from a curve"
    for quantity, value, text in (
        ("stress of a long plate, small deflections [psi]", bending[0], known[0]),
        ("membrane stress, large deflections [psi]", middle, known[1]),
        ("largest stress, large deflections [psi]", middle + bending[1], known[2]),
    ):
        f.digits("S-LONG", quantity, value, text, where, error=5e-3, why=why)
