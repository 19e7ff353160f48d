"""A curved bar in pure bending: plane elements.

           .---.
         /   .--.           r = 3.5 to 4.5 in, 1 in thick, M = 100 in lb
        |  /
        |_|                 inner edge pulled

Source: S.P. Timoshenko, J.N. Goodier, "Theory of elasticity", 3rd ed., McGraw-Hill 1970, p. 78.  The stresses were read
in the verification manual of ANSYS Mechanical APDL (problem VM180; inches and pounds), which prints them after this
page.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, in_ansys_manual
from fem_mbs.validation.shell_grids import on_edge, square

CAPABILITY = "shells"
CASES = {"B-CURVED-BAR": "stresses of a curved bar in pure bending"}

INNER, OUTER, MOMENT = 3.5, 4.5, 100.0


def build(n: int = 32) -> Model:
    """Return a quarter of the bar, n cells around and n/8 across: its plane of symmetry at angle 0, a linear traction
    of the moment at 90 degrees."""

    def place(a, b):
        r, t = INNER + (OUTER - INNER) * a, 0.5 * np.pi * b
        return r * np.cos(t), r * np.sin(t)

    model = Model(2, "curved bar")
    model.material("steel", E=30e6, nu=0.0, density=0.0)
    model.mesh("s", square(place, n // 8, n, "quad8"))
    model.planes("bar", on="s", material="steel", kinematics="linear")
    model.fix("s:bottom", ["y"])
    model.fix("s:a", ["x"])
    mesh = model.meshes["s"][0]
    h = OUTER - INNER
    traction = 12.0 * MOMENT / h**3 * (mesh.points[mesh.node_sets["top"], 1] - 0.5 * (INNER + OUTER))
    # the inner edge is pulled, so that the end turns to straighten the bar
    on_edge(model, "top", h * np.column_stack((traction, 0.0 * traction)))
    model.linear_static_step()
    return model


def reference() -> dict[str, str]:
    """Return stresses along the bar [psi]."""
    return {"inner": "655", "outer": "-555"}


def stress_along(r: float) -> float:
    """Return the stress along the bar [psi] at a radius [in] by Airy's function."""
    a, b, M = INNER, OUTER, MOMENT
    N = (b**2 - a**2) ** 2 - (2.0 * a * b * np.log(b / a)) ** 2
    part = -((a * b / r) ** 2) * np.log(b / a) + b**2 * np.log(r / b) + a**2 * np.log(a / r) + b**2 - a**2
    return float(-4.0 * M / N * part)


def check(f: Findings) -> None:
    found = []
    for n in (16, 32, 64):
        model = build(n)
        stress = np.asarray(solve(model).steps[-1].frames["stress [Pa]"], float)[-1]
        sets = model.meshes["s"][0].node_sets
        found.append([stress[int(sets[corner][0]), 1] for corner in "ab"])
    where = in_ansys_manual("Timoshenko and Goodier (1970), p. 78", "VM180")
    for (name, text), r, values in zip(reference().items(), (INNER, OUTER), np.transpose(found), strict=True):
        what = f"stress of a curved bar, {name} edge [psi]"
        f.converged("B-CURVED-BAR", f"{what}, h -> 0", values, stress_along(r), CLOSED_FORM)
        f.digits("B-CURVED-BAR", what, values[-1], text, where)
    line = sets["bottom"]
    r = model.meshes["s"][0].points[line, 0]
    curves = [
        Curve(r, stress[line, 1], "fem-mbs"),
        published("Timoshenko and Goodier (1970)", [INNER, OUTER], list(reference().values())),
    ]
    f.figure("Stress in the plane of symmetry", curves, "r [in]", "Stress [psi]")
