"""Tapered beam, orthotropic block, two pipes and three bars that flow: problems of a textbook.

      tapered support   3 in to 9 in deep over 50 in, 2 in thick, 4000 lb at its end
      block             a unit cube of an orthotropic material under 100 psi along x and 200 psi along y
      pipes             steel and aluminium, pressed together, 10 in long: both yield
      three bars        hung up at 30 degrees, the middle one 100 in long: it flows at 30 000 psi and is then unloaded

Source: S.H. Crandall, N.C. Dahl, "An introduction to the mechanics of solids", McGraw-Hill 1959.  The numbers were read
in the verification manual of ANSYS Mechanical APDL (problems VM5, 7, 11, 145; pounds and inches), which prints them
after the pages named.  (Its 7407 psi at the clamp of the support are those of beam theory; in the plane this corner is
singular.)
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated, published
from fem_mbs.validation.kinds import CLOSED_FORM, Kind, in_ansys_manual
from fem_mbs.validation.shell_grids import square

CAPABILITY = "shells"
CASES = {
    "B-TAPERED": "stresses of a tapered support",
    "B-BLOCK": "an orthotropic block",
    "B-FLOW": "bars that flow: a load at given displacements, residual stress",
}


def source(where: str, problem: int) -> Kind:
    return in_ansys_manual(f"Crandall and Dahl (1959), {where}", f"VM{problem}")


def reference() -> dict:
    """Return the printed numbers: stresses [psi], displacements [in], loads [lb] by the displacement [in]."""
    return {
        "tapered": {50.0: "8333"},
        "block": (".9e-5", ".95e-5", "-.175e-5"),
        "pipes": {0.032: "1024400", 0.05: "1262000", 0.1: "1262000"},
        "bars": ("-.07533", "-5650"),
    }


def build(n: int = 16) -> Model:
    """Return the support in plane stress, its axis at the top, x from 25 to 75."""

    def place(a, b):
        x = 25.0 + 50.0 * a
        return x, (b - 1.0) * 0.12 * x

    model = Model(2, "tapered support")
    model.material("steel", E=30e6, nu=0.0, density=0.0)
    model.mesh("s", square(place, n, n // 4, "quad8"))
    model.planes("p", on="s", material="steel", thickness=2.0)
    model.fix("s:right")
    model.force("F", "s:d", (0.0, -4000.0))
    model.linear_static_step()
    return model


def wedge(x: float) -> float:
    """Return the stress [psi] on top of the support at x: the plane wedge under a force and a moment at its apex.

    Timoshenko and Goodier, Theory of Elasticity: s_r = (a cos(t) + b sin(t))/r + c sin(2 t)/r^2, t from the bisector.
    The force of the problem, at x = 25, has this moment about the apex; how it is spread dies out within a depth.
    """
    force, place, thickness = 4000.0, 25.0, 2.0
    whole = float(np.arctan(0.12))
    half = 0.5 * whole
    along, across, moment = force * np.sin(half), -force * np.cos(half), -force * place
    by_force = -2.0 * along * np.cos(half) / (whole + np.sin(whole))
    by_force -= 2.0 * across * np.sin(half) / (whole - np.sin(whole))
    by_moment = 2.0 * moment * np.sin(whole) / (np.sin(whole) - whole * np.cos(whole))
    return float(by_force / x + by_moment / x**2) / thickness


def check(f: Findings) -> None:
    _tapered(f)
    _block(f)
    _pipes(f)
    _bars(f)


def _tapered(f: Findings) -> None:
    x, text = next(iter(reference()["tapered"].items()))
    values = []
    for n in (8, 16, 32):
        model = build(n)
        stress = np.asarray(solve(model).steps[-1].frames["stress [Pa]"], float)[-1]
        mesh = model.meshes["s"][0]
        node = int(np.argmin(np.abs(mesh.points - (x, 0.0, 0.0)).sum(axis=1)))
        values.append(abs(stress[node, 0]))
    exact = wedge(x)
    f.converged("B-TAPERED", f"stress on top at x = {x:g} in [psi], h -> 0, against a wedge", values, exact,
                CLOSED_FORM)  # fmt: skip
    f.digits(
        "B-TAPERED", f"stress on top at x = {x:g} in [psi], h -> 0", float(extrapolated(values, 2.0)), text,
        source("p. 342, problem 7.18", 5), error=abs(exact / float(text) - 1.0),
        why="beam theory, against the closed form of a plane wedge",
    )  # fmt: skip
    top = mesh.node_sets["top"]
    known = reference()["tapered"]
    curves = [
        Curve(mesh.points[top, 0], stress[top, 0], "fem-mbs"),
        published("Crandall and Dahl (1959)", list(known), list(known.values())),
    ]
    f.figure("Stress on top of a tapered support", curves, "x [in]", "[psi]")


def _block(f: Findings) -> None:
    model = Model(3, "orthotropic block")
    # compliances -nu12/E1 = -.5e-8, -nu13/E1 = -.75e-8, -nu23/E2 = -.5e-8
    model.material("block", E=[10e6, 20e6, 40e6], nu=[0.05, 0.075, 0.1], G=[10e6, 10e6, 10e6], density=0.0)
    model.grid("s", "box", size=(1.0, 1.0, 1.0), n=(1, 1, 1))
    model.solids("p", on="s", material="block", kinematics="linear")
    for side, axis in (("left", "x"), ("front", "y"), ("bottom", "z")):
        model.fix(f"s:{side}", [axis])
    model.force("Fx", "s:right", (25.0, 0.0, 0.0))
    model.force("Fy", "s:back", (0.0, 50.0, 0.0))
    model.linear_static_step()
    u = np.asarray(solve(model).steps[-1].frames["displacement"])[-1]
    corner = int(np.argmax(model.positions.sum(axis=1)))
    for k, text in enumerate(reference()["block"]):
        f.digits("B-BLOCK", f"displacement of an orthotropic block along {'xyz'[k]} [in]", u[corner, k], text,
                 source("p. 225", 145))  # fmt: skip


def loaded(model: Model, node: str, times: list[float], values: list[float]) -> Model:
    """Add a downward force that follows ``values`` [lb] at ``times``, and statics over these times, and return it."""
    model.force("F", node, (0.0, -1.0), function={"kind": "table", "times": times, "values": values})
    model.static_step(increments=40, duration=times[-1])
    return model


def _pipes(f: Findings) -> None:
    # mean diameters of 4.4563384 and 7.639437 in, .5 in thick
    areas = np.pi * 0.5 * np.array((4.4563384, 7.639437))
    moduli, limits = (26.875e6, 11e6), (86000.0, 55000.0)
    known, forces = reference()["pipes"], []
    for displacement, text in known.items():
        model = Model(2, "pipes")
        model.node("top", (0.0, 10.0))
        model.fix("top", ["x"])
        for k in range(2):
            model.spring(f"pipe {k}", "ground", "top", moduli[k] * areas[k] / 10.0, point_a=(0.0, 0.0),
                         yield_force=limits[k] * areas[k])  # fmt: skip
            model.sensor(f"F{k}", "element", on=f"pipe {k}", quantity="force")
        model.motion("press", "top", "y", {"kind": "ramp", "duration": 1.0, "end_value": -displacement})
        model.static_step(increments=10, duration=1.0)
        solution = solve(model)
        force = -sum(solution.sensor(f"F{k}").values[-1, 0] for k in range(2))
        forces.append(force)
        f.digits("B-FLOW", f"load of two pipes pressed by {displacement:g} in [lb]", force, text,
                 source("p. 180, example 5.1", 7))  # fmt: skip
    curves = [
        Curve(np.array(list(known)), np.array(forces), "fem-mbs"),
        published("Crandall and Dahl (1959)", list(known), list(known.values())),
    ]
    f.figure("Two pipes that are pressed", curves, "Displacement [in]", "Load [lb]")


def bars(E: float = 30e6) -> Model:
    """Return three bars of 1 in^2 that meet in the loaded node."""
    model = Model(2, "three bars")
    model.node("load", (0.0, -100.0))
    side = 100.0 * np.tan(np.pi / 6.0)
    for k, x in enumerate((-side, 0.0, side)):
        length = float(np.hypot(x, 100.0))
        model.spring(f"bar {k}", "ground", "load", E / length, point_a=(x, 0.0), yield_force=30000.0)
    model.sensor("u", "displacement", on="load")
    model.sensor("middle", "element", on="bar 1", quantity="force")
    return model


def _bars(f: Findings) -> None:
    where = source("p. 234, problem 5.31", 11)
    known = reference()["bars"]
    elastic = solve(loaded(bars(), "load", [0.0, 1.0], [0.0, 51961.5])).sensor("u").values[-1, 1]
    f.digits("B-FLOW", "deflection of three bars under 51 961.5 lb [in]", elastic, known[0], where)
    # the stress that is left does not depend on the modulus as long as displacements are small: it is 1000 times larger
    solution = solve(loaded(bars(30e9), "load", [0.0, 1.0, 2.0], [0.0, 81961.5, 0.0]))
    stress = solution.sensor("middle").values[-1, 0]
    f.digits("B-FLOW", "residual stress in the middle of three bars after 81 961.5 lb [psi]", stress, known[1], where,
             error=1e-5, why="displacements of 2e-6 of the length, whose effect is a few times as large")  # fmt: skip
