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
from fem_mbs.validation.kinds import in_ansys_manual
from fem_mbs.validation.shell_grids import on_edge, square

CAPABILITY = "shells"
CASES = {"B-CURVED-BAR": "stresses of a curved bar in pure bending"}

INNER, OUTER, MOMENT = 3.5, 4.5, 100.0


def build(n: int = 32) -> Model:
    """Return a quarter of the bar: its plane of symmetry at angle 0, a linear traction of the moment at 90 degrees."""

    def place(a, b):
        r, t = INNER + (OUTER - INNER) * a, 0.5 * np.pi * b
        return r * np.cos(t), r * np.sin(t)

    model = Model(2, "curved bar")
    model.material("steel", E=30e6, nu=0.0, density=0.0)
    model.mesh("s", square(place, 4, n, "quad8"))
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


def check(f: Findings) -> None:
    model = build()
    stress = np.asarray(solve(model).steps[-1].frames["stress [Pa]"])[-1]
    sets = model.meshes["s"][0].node_sets
    for name, corner in (("inner", "a"), ("outer", "b")):
        f.digits(
            "B-CURVED-BAR", f"stress of a curved bar, {name} edge [psi]", stress[int(sets[corner][0]), 1],
            reference()[name], in_ansys_manual("Timoshenko and Goodier (1970), p. 78", "VM180"), error=5e-3,
            why="4 x 32 quadratic cells, of second order in their angle",
        )  # fmt: skip
    line = sets["bottom"]
    r = model.meshes["s"][0].points[line, 0]
    edges = [model.meshes["s"][0].points[int(sets[corner][0]), 0] for corner in "ab"]
    curves = [
        Curve(r, stress[line, 1], "fem-mbs"),
        published("Timoshenko and Goodier (1970)", edges, list(reference().values())),
    ]
    f.figure("Stress in the plane of symmetry", curves, "r [in]", "Stress [psi]")
