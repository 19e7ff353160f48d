"""Beams from a handbook: a cantilever of plane elements, pipes under their weight, strips of two layers, a hole.

      cantilever  10 x 2 x 1 in, end moment of 2000 in lb, or 300 lb       pipes   200 and 250 in, clamped, own weight
      strips      10 x .05 + .05 in, two metals, 100 F; 8 x .2 + .1 in, two materials, 100 F and a moment of 10 in lb
      hole        1 in wide in a wide plate under 1000 psi                   ring    4.12 to 4.32 in, .1 in, a quarter

Source: R.J. Roark, "Formulas for stress and strain", 4th ed., McGraw-Hill 1965, and R.J. Roark, W.C. Young, 5th ed.,
1975.  The numbers were read in the verification manual of ANSYS Mechanical APDL (problems VM16, 35, 43, 44, 142, 144,
187; pounds and inches), which prints them after the pages named.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated
from fem_mbs.validation.kinds import CLOSED_FORM, Kind, in_ansys_manual
from fem_mbs.validation.shell_grids import on_edge, square

CAPABILITY = "shells"
CASES = {
    "B-ROARK": "a cantilever in plane stress, pipes under their weight, a curved strip, a hole in a plate",
    "S-BIMETAL": "strips of two layers that are heated and bent",
}
DEVIATIONS = (
    "Roark (1965), p. 384: 3018 psi at a hole in a strip 12 times as wide; plane elements have 3026 psi in one.",
    "Roark (1965), p. 104, in VM16: 4050 psi 1 in from the clamp; plane elements have 4053 psi there, where the clamp "
    "holds the warping of the section.",
)


def source(where: str, problem: int) -> Kind:
    return in_ansys_manual(f"Roark, Formulas for stress and strain, {where}", f"VM{problem}")


def reference() -> dict:
    """Return the printed numbers: deflections [in], stresses [psi]."""
    return {
        "moment": (".00500", "3000"),
        "force": (".00500", "2250"),
        "thick pipe": ".12524",
        "thin pipe": (".19062", "3074.3"),
        "ring": ".08854",
        "bimetal": (".750", ".015", "7500"),
        "composite": (".832", "2258", "1731"),
    }


def build(load: str = "moment", n: int = 10) -> Model:
    """Return the cantilever of plane elements with one of its loads."""
    model = Model(2, "cantilever")
    model.material("steel", E=30e6, nu=0.0, density=0.0)
    model.mesh("s", square(lambda a, b: (10.0 * a, 2.0 * b), n, 2, "quad8"))
    model.planes("p", on="s", material="steel", kinematics="linear")
    model.fix("s:left")
    mesh = model.meshes["s"][0]
    if load == "moment":
        # stresses linear over the edge, of the moment 2000 in lb: 3000 psi at y = 0 and 2
        y = mesh.points[mesh.node_sets["right"], 1]
        on_edge(model, "right", 2.0 * np.column_stack((3000.0 * (1.0 - y), 0.0 * y)))
    else:
        on_edge(model, "right", (0.0, 300.0))
    model.linear_static_step()
    return model


def pipe(length: float, outer: float, inner: float) -> tuple[float, float]:
    """Return deflection in the middle [in] and bending stress at the end [psi] of a clamped pipe under its weight."""
    model = Model(3, "pipe", gravity=(0.0, -386.0, 0.0))
    model.material("steel", E=30e6, nu=0.0, density=0.00073)
    model.section("pipe", "tube", outer_diameter=outer, inner_diameter=inner)
    model.line("pipe", (0.0, 0.0, 0.0), (length, 0.0, 0.0), 16)
    model.beams("pipe", "pipe", "pipe", "steel", shear=False)
    model.fix("pipe:start")
    model.fix("pipe:end")
    model.sensor("u", "displacement", on=8)
    model.sensor("clamp", "reaction", on="pipe:start")
    model.linear_static_step()
    solution = solve(model)
    moment = np.abs(solution.sensor("clamp").values[-1, 3:]).max()
    return -solution.sensor("u").values[-1, 1], moment * 32.0 * outer / (np.pi * (outer**4 - inner**4))


def layered(length: float, width: float, moduli, expansions, thicknesses) -> Model:
    """Return a half of a strip of two layers along x, clamped but free to bend across, 100 F warmer."""
    model = Model(3, "two layers")
    for k in range(2):
        model.material(f"m{k}", E=moduli[k], nu=0.0, density=0.0, expansion=expansions[k])
    model.mesh("s", square(lambda a, b: (length * a, width * b, 0.0 * a), 8, 1, "quad8"))
    model.shells("shell", on="s", layers=[{"material": f"m{k}", "thickness": thicknesses[k]} for k in range(2)])
    model.fix("s:left", ["x", "z", "rotation y"])
    model.fix("s:a", ["y"])
    model.fix("s", ["rotation z", "rotation x"])
    model.temperature("heat", "s", value=100.0)
    model.sensor("u", "displacement", on="s:b")
    return model


def check(f: Findings) -> None:
    _plane(f)
    _beams(f)
    _layers(f)


def _plane(f: Findings) -> None:
    known = reference()
    for load, where in (("moment", "4th ed., p. 106, no. 9"), ("force", "4th ed., p. 104, no. 1")):
        model = build(load)
        step = solve(model).steps[-1]
        sets = model.meshes["s"][0].node_sets
        u = np.asarray(step.frames["displacement"])[-1, int(sets["c"][0]), 1]
        stress = np.asarray(step.frames["stress [Pa]"])[-1]
        node = int(np.argmin(np.abs(model.positions - (5.0, 0.0)).sum(axis=1)))
        kind = source(where, 16)
        # the shear 1.2 F L/(G A) is not in the formula
        shear = 0.0 if load == "moment" else 1.2 * 300.0 * 10.0 / (15e6 * 2.0)
        f.digits("B-ROARK", f"deflection of a cantilever, {load}, less that of shear [in]", u - shear, known[load][0],
                 kind)  # fmt: skip
        # quadratic cells are exact for stresses linear along the beam
        if load == "moment":
            f.digits("B-ROARK", f"its bending stress, {load} [psi]", abs(stress[node, 0]), known[load][1], kind)
        else:
            found = [in_the_middle(n) for n in (10, 20, 40)]
            f.converged("B-ROARK", f"its bending stress in the middle, {load} [psi], h -> 0", found,
                        float(known[load][1]), CLOSED_FORM, error=3e-7, why="stresses of single precision")  # fmt: skip
    found = []
    for n in (8, 16, 32):
        model = hole(n)
        mesh = model.meshes["s"][0]
        stress = np.asarray(solve(model).steps[-1].frames["stress [Pa]"], float)[-1]
        found.append(stress[int(mesh.node_sets["d"][0]), 0])
    f.converged("B-ROARK", "largest stress at a hole in a plate [psi], h -> 0", found, 3000.0, CLOSED_FORM)
    edge = mesh.node_sets["left"]
    angle = np.arctan2(mesh.points[edge, 1], mesh.points[edge, 0])
    # by the stress 1000 - 2000 cos 2t around the hole
    exact = (1000.0 - 2000.0 * np.cos(2.0 * angle)) * np.sin(angle) ** 2
    curves = [
        Curve(np.degrees(angle), stress[edge, 0], "fem-mbs"),
        Curve(np.degrees(angle), exact, "Kirsch (1898)", "o"),
    ]
    f.figure("Stress at the hole along the pull", curves, "Angle [deg]", "Stress [psi]")


def in_the_middle(n: int) -> float:
    """Return the bending stress [psi] in the middle of the cantilever under a force, n cells along it."""
    model = build("force", n)
    stress = np.asarray(solve(model).steps[-1].frames["stress [Pa]"], float)[-1]
    return abs(stress[int(np.argmin(np.abs(model.positions - (5.0, 0.0)).sum(axis=1))), 0])


def hole(n: int) -> Model:
    """Return a quarter of a disc of 12 in with a hole; at its rim act the stresses of a wide plate pulled along x."""
    small, large = 0.5, 6.0

    def place(a, b):
        t = 0.5 * np.pi * b
        r = small * (large / small) ** a
        return r * np.cos(t), r * np.sin(t)

    model = Model(2, "hole")
    model.material("steel", E=30e6, nu=0.3, density=0.0)
    model.mesh("s", square(place, n, n, "quad8"))
    model.planes("p", on="s", material="steel", kinematics="linear")
    mesh = model.meshes["s"][0]
    x, y = mesh.points[mesh.node_sets["right"], :2].T
    t, k = np.arctan2(y, x), (small / large) ** 2
    radial = 500.0 * (1.0 - k + (1.0 - 4.0 * k + 3.0 * k**2) * np.cos(2.0 * t))
    shear = -500.0 * (1.0 + 2.0 * k - 3.0 * k**2) * np.sin(2.0 * t)
    tractions = np.column_stack((radial * np.cos(t) - shear * np.sin(t), radial * np.sin(t) + shear * np.cos(t)))
    on_edge(model, "right", 0.5 * np.pi * large * tractions)
    model.fix("s:bottom", ["y"])
    model.fix("s:top", ["x"])
    model.linear_static_step()
    return model


def _beams(f: Findings) -> None:
    known = reference()
    f.digits("B-ROARK", "deflection of a thick pipe [in]", pipe(200.0, 2.0, 1.0)[0], known["thick pipe"],
             source("4th ed., p. 112, no. 33, thick pipe", 43))  # fmt: skip
    deflection, stress = pipe(250.0, 2.1, 1.9)
    where = source("4th ed., p. 112, no. 33, thin pipe", 44)
    f.digits("B-ROARK", "deflection of a thin pipe [in]", deflection, known["thin pipe"][0], where)
    f.digits("B-ROARK", "its largest stress [psi]", stress, known["thin pipe"][1], where)


def ring(n: int = 24) -> float:
    """Return the deflection [in] of a quarter of a ring of n beams, clamped at one end, under 1 lb in its plane."""
    model = Model(2, "curved strip")
    model.material("strip", E=1e7, nu=0.25, density=0.0)
    model.section("strip", "rectangle", width=0.1, height=0.2)
    for i, a in enumerate(np.linspace(0.0, 0.5 * np.pi, n + 1)):
        model.node(f"n{i}", (4.22 * np.cos(a), 4.22 * np.sin(a)))
    for i in range(n):
        model.beams(f"b{i}", [f"n{i}", f"n{i + 1}"], "strip", "strip")
    model.fix("n0")
    model.force("F", f"n{n}", (0.0, 1.0))
    model.sensor("u", "displacement", on=f"n{n}")
    model.linear_static_step()
    return solve(model).sensor("u").values[-1, 1]


def _layers(f: Findings) -> None:
    known = reference()
    limit = float(extrapolated([ring(n) for n in (12, 24, 48)], 2.0))
    # stretch and shear (Cowper, 1966), which the formula of thin bars leaves out
    quarter, area = 0.25 * np.pi * 4.22, 0.1 * 0.2
    more = quarter / (1e7 * area) + quarter / (10.0 * 1.25 / (12.0 + 11.0 * 0.25) * 4e6 * area)
    f.digits("B-ROARK", "deflection of a curved strip, h -> 0, less that of stretch and shear [in]", limit - more,
             known["ring"], source("4th ed., curved beam", 187))  # fmt: skip
    for name, model, moment, where in (
        ("bimetal", layered(10.0, 0.5, (3e7, 3e7), (1e-5, 2e-5), (0.05, 0.05)), 0.0,
         source("5th ed., pp. 113-114", 35)),
        ("composite", layered(8.0, 0.5, (1.2e6, 0.4e6), (1.8e-4, 0.6e-4), (0.2, 0.1)), 10.0,
         source("5th ed., composite beams", 144)),
    ):  # fmt: skip
        if moment:
            on_edge(model, "right", (0.0, moment, 0.0), "moment")
        model.linear_static_step()
        solution = solve(model)
        u = solution.sensor("u").values[-1]
        frames = solution.steps[-1].frames
        node = int(np.argmin(np.abs(model.positions[:, 0] - 5.0)))
        top, bottom = (np.abs(np.asarray(frames[s])[-1, node, 0]) for s in ("stress [Pa]", "stress bottom [Pa]"))
        found = {"deflection [in]": abs(u[2]), "extension [in]": u[0], "stress on top [psi]": top,
                 "stress at the bottom [psi]": bottom}  # fmt: skip
        if name == "bimetal":
            found.pop("stress at the bottom [psi]")
        else:
            found.pop("extension [in]")
        for (quantity, value), text in zip(found.items(), known[name], strict=True):
            f.digits("S-BIMETAL", f"{quantity} of a strip of two layers, {name}", value, text, where)
