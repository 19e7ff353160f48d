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
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, Kind, in_ansys_manual
from fem_mbs.validation.shell_grids import on_edge, quarter_disc, shell, square

CAPABILITY = "beams"
CASES = {
    "B-TIE": "a tie rod under a lateral load, with and without its tension, and a column",
    "B-FOUNDATION": "the end of a long beam on an elastic foundation",
    "S-DISCS": "circular plates under pressure and a force, an annular plate under an edge moment",
    "S-LONG": "bending of a long plate whose edges may not approach, linear and nonlinear",
}
DEVIATIONS = (
    "Timoshenko (1956), p. 80: 11240 and 25280 psi from curves; the equations give 11281 and 25268 psi.",
    "Timoshenko (1956), p. 111: a deflection of .049064 in; equations (e) and (f) give .049058 in.",
)

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
        "annular": ".0045089",
        "strip": "108000",
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


def tie(force: float, strained: bool = True, side: float = 2.5, span: float = 200.0) -> tuple[float, ...]:
    """Return deflection [in], slope and moment [in lb] of the tie rod, with or without the strain of its tension."""
    stretch = 1.0 + force / (E * side**2) if strained else 1.0
    EI, q = E * side**4 / 12.0 / stretch, 1.79253 * stretch
    u = max(0.5 * span * np.sqrt(force / EI), 1e-2)
    return (
        q * span**4 / (16.0 * EI * u**4) * (1.0 / np.cosh(u) - 1.0 + 0.5 * u**2),
        q * span**3 / (8.0 * EI * u**3) * (u - np.tanh(u)) / stretch,
        q * span**2 / (4.0 * u**2) * (1.0 - 1.0 / np.cosh(u)),
    )


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
        strain = np.subtract(tie(force), tie(force, strained=False))
        for quantity, value, text in zip(
            ("deflection [in]", "slope", "moment [in lb]"), found - strain, known[name], strict=True
        ):
            f.digits(
                "B-TIE", f"{quantity} of a tie rod, F = {force:g} lb, less what its strain adds", value, text, where,
                error=float(known[name][1]) ** 2, why="the square of the slope, which the textbook leaves out",
            )  # fmt: skip
    model = build(-1.0, 10, 0.5)
    model.buckling_step(1, sign="positive")
    load = solve(model).steps[-1].summary["load_factors"][0]
    f.digits(
        "B-TIE", "buckling load of a pinned column [lb]", load, known["column"], source("p. 148", 127), error=2e-5,
        why="10 cubic elements, (pi/10)^4/720",
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


def disc(edge: str, n: int = 8, h: float = 1.0) -> Model:
    """Return a quarter of a circular plate of thickness h [in] whose rim is "clamped" or "supported"."""
    model = shell(quarter_disc(40.0, n, "quad8"), E, 0.3, h)
    model.fix("s", ["x", "y", "rotation z"])
    model.fix("s:y = 0", ["rotation x"])
    model.fix("s:x = 0", ["rotation y"])
    model.fix("s:rim", ["z"] if edge == "supported" else ["z", "rotation x", "rotation y"])
    model.linear_static_step()
    return model


def loaded_disc(edge: str, load: str, n: int, h: float = 1.0) -> tuple[float, float]:
    """Return deflection [in] and largest stress [psi] of a disc of 2 n cells along its radius.

    The load is that of the source times h^3, so that bending makes the same deflection with any thickness.
    """
    model = disc(edge, n, h)
    if load == "force":
        model.force("F", "s:centre", (0.0, 0.0, -7539.82 / 4.0 * h**3))
    else:
        model.pressure("p", on="s:body", value=(6.0 if edge == "clamped" else 1.5) * h**3)
    step = solve(model).steps[-1]
    sets = model.meshes["s"][0].node_sets
    centre, rim = int(sets["centre"][0]), int(sets["A"][0])
    place = rim if edge == "clamped" else centre
    u, stress = (np.asarray(step.frames[name])[-1] for name in ("displacement", "stress [Pa]"))
    return abs(u[centre, 2]), abs(stress[place, 0])


def _discs(f: Findings) -> None:
    known = reference()
    for name, page in (("clamped, pressure", "p. 96, article 19"), ("clamped, force", "p. 103, article 21"),
                       ("supported, pressure", "p. 97, article 19")):  # fmt: skip
        edge, load = name.split(", ")
        found = [loaded_disc(edge, load, n) for n in (4, 8, 16)]
        where, what = source(page, 15), f"deflection of a circular plate, {name} [in]"
        if load == "force":
            # shear adds a logarithm of the cells' size times h^2
            thin = loaded_disc(edge, load, 16, 0.1)[0]
            u = (thin - 0.01 * found[-1][0]) / (1.0 - 0.01)
            f.digits("S-DISCS", f"{what}, without that of shear by h and h/10", u, known[name][0], where)
        else:
            # the shear q a^2/(4 k G h) of the plate, which the formula leaves out
            shear = (6.0 if edge == "clamped" else 1.5) * 40.0**2 / (4.0 * 5.0 / 6.0 * E / 2.6)
            f.digits("S-DISCS", f"{what}, less that of shear", found[-1][0] - shear, known[name][0], where)
        f.converged("S-DISCS", f"its largest stress, {name} [psi], h -> 0", [stress for _, stress in found],
                    float(known[name][1]), where)  # fmt: skip
    deflections, slopes = np.transpose([annular(n) for n in (4, 8, 16)])
    D = E * 0.25**3 / (12.0 * (1.0 - 0.3**2))
    # slopes c r + d/r: none at 10 in, the moment D (slope' + nu slope/r) of 10 at 30 in
    c, d = np.linalg.solve([[10.0, 0.1], [1.3, -0.7 / 30.0**2]], [0.0, 10.0 / D])
    exact = c * (30.0**2 - 10.0**2) / 2.0 + d * np.log(3.0)
    where = source("p. 111, eqs. (e), (f)", 39)
    f.converged("S-DISCS", "deflection [in] of an annular plate at its edge, h -> 0", deflections, exact, CLOSED_FORM)
    f.digits("S-DISCS", "slope of an annular plate at its edge", slopes[-1], known["annular"], where)


def annular(n: int) -> tuple[float, float]:
    """Return deflection [in] and slope at the edge of an annular plate of n cells along its radius."""

    def place(a, b):
        r, t = 10.0 + 20.0 * a, 0.5 * np.pi * b
        return r * np.cos(t), r * np.sin(t), 0.0 * a

    model = shell(square(place, n, 3 * n // 2, "quad8"), E, 0.3, 0.25)
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
    frames = step.frames
    return abs(float(np.asarray(frames["displacement"])[-1, b, 2])), abs(
        float(np.asarray(frames["rotation"])[-1, b, 1])
    )


def membrane() -> tuple[float, float]:
    """Return membrane and largest stress [psi] of the long plate: its stretch is that of the deflection's slope."""
    h, plate, span, q = 0.375, E / (1.0 - 0.3**2), 45.0, 10.0
    D = plate * h**3 / 12.0
    x, weights = np.polynomial.legendre.leggauss(60)
    x, weights = 0.5 * span * (1.0 + x), 0.5 * span * weights

    def gap(u):
        bent = -q * span**3 / (8.0 * u**3 * D) * np.sinh(u * (1.0 - 2.0 * x / span)) / np.cosh(u)
        slope = bent + q * span**2 / (8.0 * u**2 * D) * (span - 2.0 * x)
        return 4.0 * u**2 * D / span**2 * span / (plate * h) - 0.5 * (weights * slope**2).sum()

    u = float(brentq(gap, 0.1, 50.0, xtol=1e-14))
    moment = 0.25 * q * span**2 * (1.0 - 1.0 / np.cosh(u)) / u**2
    stress = 4.0 * u**2 * D / span**2 / h
    return stress, stress + 6.0 * moment / h**2


def long_plate(n: int) -> np.ndarray:
    """Return bending stress of small deflections, membrane and largest stress of large ones [psi] in the middle.

    In cylindrical bending a strip is a beam of the plate's stiffness.
    """
    h, plate = 0.375, E / (1.0 - 0.3**2)
    model = Model(2, "long plate")
    model.section("strip", "stiffness", EA=plate * h, EI=plate * h**3 / 12.0, GA=np.inf, rhoA=0.0)
    model.line("strip", (0.0, 0.0), (45.0, 0.0), n)
    model.beams("strip", "strip", "strip")
    model.fix("strip:start", ["x", "y"])
    model.fix("strip:end", ["x", "y"])
    model.line_load("p", "strip", (0.0, -10.0))
    model.sensor("N", "element", on="strip", element=n // 2, quantity="N")
    model.sensor("M", "element", on="strip", element=n // 2, quantity="M_p")
    model.linear_static_step()
    model.static_step(increments=4)
    linear, large = solve(model).steps
    bending = [abs(step.series["sensor/M"][-1, 0]) * 6.0 / h**2 for step in (linear, large)]
    middle = large.series["sensor/N"][-1, 0] / h
    return np.array((bending[0], middle, middle + bending[1]))


def _strip(f: Findings) -> None:
    found = np.transpose([long_plate(n) for n in (16, 32, 64)])
    f.digits("S-LONG", "stress of a long plate, small deflections [psi]", found[0, -1], reference()["strip"],
             source("p. 80", 139))  # fmt: skip
    for quantity, values, exact in zip(("membrane", "largest"), found[1:], membrane(), strict=True):
        f.converged("S-LONG", f"{quantity} stress, large deflections [psi], h -> 0", values, exact, CLOSED_FORM,
                    error=2.0 * membrane()[0] * (1.0 - 0.3**2) / E,
                    why="the mean square of the slope, which the formula leaves out")  # fmt: skip
