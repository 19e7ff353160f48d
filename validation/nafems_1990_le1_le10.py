"""Elliptic membrane and thick plate.

Two of NAFEMS's standard benchmarks of linear elasticity, quarters of an ellipse with an elliptic hole.

        y
    2.75|A..
        |    ''.        LE1:  plane stress, thickness 0.1 m, 10 MPa outwards on the outer edge AB,
       1|D.     '.            symmetry on AD and BC; sigma_yy at C
        |  '.     .     LE10: 0.6 m thick, 1 MPa on the top, symmetry on AD and BC, the outer face held in
        |____C_____B__x       the plane, its middle line upwards; sigma_yy at C on the top
             2    3.25        E = 210 GPa, nu = 0.3

Source: NAFEMS, "The standard NAFEMS benchmarks", TSNB, Rev. 3 (1990), tests LE1 (sigma_yy = 92.7 MPa) and LE10
(sigma_yy = -5.38 MPa).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from fem_mbs import Mesh, Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import printed

CAPABILITY = "shells"
CASES = {
    "B-LE1": "stress at the hole of an elliptic membrane, plane stress elements",
    "B-LE10": "stress at the hole of a thick plate in bending, solid elements",
}

_QUAD = ((0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1))
_HEX = [(*p, z) for z in (0, 2) for p in _QUAD[:4]] + [(*p, z) for z in (0, 2) for p in _QUAD[4:]]
_HEX += [(*p, 1) for p in _QUAD[:4]]
_TRIANGLES = [((0, 0), (2, 0), (2, 2), (1, 0), (2, 1), (1, 1)), ((0, 0), (2, 2), (0, 2), (1, 1), (1, 2), (0, 1))]


def grid(kind: str, counts) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes (n, dim) of the unit square or cube in ``counts`` cells along its axes, and cells (e, k)."""
    dim = len(counts)
    n = 2 * np.array(counts) + 1
    stride = np.cumprod([1, *n[::-1]])[:dim][::-1]
    local = {"quad8": [_QUAD], "quad": [_QUAD[:4]], "hexahedron20": [_HEX], "triangle6": _TRIANGLES}.get(kind)
    if kind == "wedge15":
        local = [
            [(*p, z) for z in (0, 2) for p in t[:3]] + [(*p, z) for z in (0, 2) for p in t[3:]]
            + [(*p, 1) for p in t[:3]] for t in _TRIANGLES
        ]  # fmt: skip
    first = np.array(list(product(*(range(c) for c in counts)))) * 2 @ stride
    cells = np.concatenate([first[:, None] + np.array(nodes) @ stride for nodes in local])
    used = np.unique(cells)
    place = np.full(int(np.prod(n)), -1)
    place[used] = np.arange(len(used))
    X = np.stack(np.unravel_index(used, n), axis=1) / (n - 1)
    return X, place[cells]


def ellipses(s: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return points (n, 2): s from the inner ellipse to the outer, t from the x axis to the y axis.

    Cells are narrow at the inner ellipse, where stresses change most; otherwise finer meshes tend to the limit so late
    that it cannot be extrapolated.
    """
    inner = np.column_stack((2.0 * np.cos(np.pi / 2 * t), 1.0 * np.sin(np.pi / 2 * t)))
    outer = np.column_stack((3.25 * np.cos(np.pi / 2 * t), 2.75 * np.sin(np.pi / 2 * t)))
    return inner + s[:, None] ** 2 * (outer - inner)


def build(case: str = "LE1", kind: str = "quad8", element: Any = "standard", counts=(6, 8)) -> Model:
    """Return the membrane (quad, quad8, triangle6; counts across and around) or the plate (hexahedron20, wedge15;
    through)."""
    X, cells = grid(kind, counts)
    s, t = X[:, 0], X[:, 1]
    points = ellipses(s, t)
    sets = {"on x": np.flatnonzero(t == 0), "on y": np.flatnonzero(t == 1), "C": np.flatnonzero((s == 0) & (t == 0))}
    corners = cells[:, : {"quad8": 4, "quad": 4, "triangle6": 3, "hexahedron20": 8, "wedge15": 6}[kind]]
    model = Model(2 if case == "LE1" else 3, case)
    model.material("steel", E=210e9, nu=0.3, density=7850.0)
    if case == "LE1":
        # edges in the order of the corners: edge k from corner k to the next
        loaded = (s[corners] == 1) & (s[np.roll(corners, -1, axis=1)] == 1)
        model.mesh("m", Mesh(points, [(kind, cells)], sets, facet_sets={"loaded": [(0, *np.nonzero(loaded))]}))
        model.planes("part", "m", "steel", thickness=0.1, element=element, kinematics="linear")
        model.pressure("p", "m:loaded", -10e6)
    else:
        z = X[:, 2]
        points = np.column_stack((points, 0.6 * z - 0.3))
        sets["C"] = np.flatnonzero((s == 0) & (t == 0) & (z == 1))
        sets |= {"outside": np.flatnonzero(s == 1), "middle": np.flatnonzero((s == 1) & (z == 0.5))}
        top = np.flatnonzero((z[corners] == 1).any(axis=1))  # face S2 is the upper one
        faces = [(0, top, np.ones(len(top), int))]
        model.mesh("m", Mesh(points, [(kind, cells)], sets, facet_sets={"top": faces}))
        model.solids("part", "m", "steel", element=element, kinematics="linear")
        model.pressure("p", "m:top", 1e6)
        model.fix("m:outside", components=["x", "y"])
        model.fix("m:middle", components=["z"])
    model.fix("m:on x", components=["y"])
    model.fix("m:on y", components=["x"])
    model.linear_static_step()
    return model


def reference() -> dict[str, str]:
    """Return the targets [MPa], as printed."""
    return {"LE1": "92.7", "LE10": "-5.38"}


def stress(model: Model) -> float:
    """Return sigma_yy at C [MPa], the mean of the elements there."""
    frames = solve(model).steps[-1].frames
    return 1e-6 * float(frames["stress [Pa]"][-1][int(model.nodes_of("m:C")[0]), 1])


def check(f: Findings) -> None:
    known = reference()
    _membrane(f, known["LE1"])
    where = printed("NAFEMS TSNB, Rev. 3 (1990), test LE10")
    for kind, element in (("hexahedron20", "standard"), ("hexahedron20", "reduced"), ("wedge15", "standard")):
        coarse, fine = (stress(build("LE10", kind, element, (4 * k, 6 * k, 2 * k))) for k in (1, 2))
        first, second = 2.0 * fine - coarse, (4.0 * fine - coarse) / 3.0
        f.row(
            "B-LE10", f"sigma_yy at C, limit of two meshes, {kind}, {element} [MPa]", 0.5 * (first + second),
            float(known["LE10"]),
            "Stresses at nodes are of the order 1 to 2: half of the distance between the limits of either order, and "
            "half a unit of the last digit.",
            where, tolerance=0.5 * abs(second - first) + 0.005,
        )  # fmt: skip


def _membrane(f: Findings, target: str) -> None:
    """Add rows and figures of the membrane."""
    n = np.array([4, 8, 16, 32])
    curves: list[Curve] = []
    stresses: list[Curve] = []
    for kind, element in (("quad", "standard"), ("quad8", "standard"), ("quad8", "reduced"), ("triangle6", "standard")):
        values = np.array([stress(build("LE1", kind, element, (k, 2 * k))) for k in n])
        # stresses at nodes are of second order; three meshes give two limits
        before, limit = (4.0 * values[-2:] - values[-3:-1]) / 3.0
        f.digits(
            "B-LE1", f"sigma_yy at C, limit of 16 x 32 and 32 x 64 {kind}, {element} [MPa]", limit, target,
            printed("NAFEMS TSNB, Rev. 3 (1990), test LE1"), error=abs(limit - before) / float(target),
            why="the change from the limit of meshes twice as coarse",
        )  # fmt: skip
        curves.append(Curve(1.0 / n, np.abs(values / float(target) - 1.0), f"{kind}, {element}"))
        stresses.append(Curve(1.0 / n, values, f"{kind}, {element}", "o-"))
    stresses.append(published("NAFEMS (1990)", 0.0, target))
    f.figure("LE1", stresses, "Element length / width", "Stress at C [MPa]")
    caption = "LE1: the reference has three digits, so errors below 5e-4 say nothing."
    f.figure("Stress at the hole", curves, "Element length / width", "Relative error", caption, "loglog")
