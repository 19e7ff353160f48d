"""Forces and moments that stresses carry through surfaces of solids: *SECTION PRINT.

The stresses of the integration points are extrapolated to the nodes, averaged over all cells that meet there, and
integrated over the faces with the points that CalculiX takes (`printoutface.f` of CalculiX 2.x):

    SOF     force (fx, fy, fz)
    SOM     moment about the origin (mx, my, mz)
    SOCG    centre of gravity of the surface (x, y, z) and mean normal (nx, ny, nz), which is shorter than 1 where the
            surface is not flat
    SOMCG   moment about that centre (mx, my, mz)
    SOAREA  area, normal force (positive: tension), shear force, torque and bending moment about the mean normal
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from fem_mbs.analysis.fields import STRESS
from fem_mbs.decks.abaqus.loads import surface_facets
from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.elements.solids import shapes
from fem_mbs.elements.solids.recovery import extrapolation
from fem_mbs.errors import ModelError
from fem_mbs.meshes.abaqus.deck import OutputRequest

__all__ = ["SECTION_COLUMNS", "nodal_stresses", "section_tables", "surface_tables"]

#: Tables of a surface -> names of their columns.
SECTION_COLUMNS = {
    "SOF": ("fx", "fy", "fz"),
    "SOM": ("mx", "my", "mz"),
    "SOCG": ("x", "y", "z", "nx", "ny", "nz"),
    "SOMCG": ("mx", "my", "mz"),
    "SOAREA": ("area", "normal force", "shear force", "torque", "bending moment"),
}
_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))


def surface_tables(
    conv: Conversion, request: OutputRequest, frame: Mapping[str, np.ndarray], moves: bool
) -> dict[str, np.ndarray] | None:  # fmt: skip
    """Return the tables of the surface of a request, by a frame of results; None unless all elements are solids.

    ``moves``: whether displacements change the geometry.

    Raises:
        ModelError: a surface of nodes, or one that is not known.
    """
    if request.set_name is None or not all(g.kind == "solid" and not g.state for g in conv.groups):
        return None
    if conv.deck.surfaces[request.set_name].kind != "element":
        raise ModelError(
            f"{request.set_name} is a surface of nodes", place=request.where, remedy="give one of element faces"
        )
    faces = surface_facets(conv, request.set_name, request.where)
    parts = ((g.cell, g.rule, g.nodes, _tensors(frame[f"{g.name}/points {STRESS}"])) for g in conv.groups)
    x = conv.deck.x + frame["displacement"] if moves else conv.deck.x
    on = [(g.cell, g.rule, g.nodes[rows], local) for g, rows, local in faces]
    return section_tables(on, x, nodal_stresses(parts, len(x)))


def _tensors(values: np.ndarray) -> np.ndarray:
    """Return tensors (e, q, 3, 3) of components (e, q, 6) xx, yy, zz, xy, yz, zx."""
    T = np.zeros((*values.shape[:2], 3, 3))
    for k, (i, j) in enumerate(_PAIRS):
        T[..., i, j] = T[..., j, i] = values[..., k]
    return T


def nodal_stresses(parts: Iterable[tuple[str, str, np.ndarray, np.ndarray]], n: int) -> np.ndarray:
    """Return tensors (n, 3, 3) [Pa] at the nodes, means over all cells that meet there.

    Args:
        parts: cell, integration rule, nodes (e, k) and tensors (e, q, 3, 3) at the integration points.
        n: number of nodes; those without a cell get zeros.
    """
    total, count = np.zeros((n, 9)), np.zeros(n)
    for cell, rule, nodes, stress in parts:
        local = extrapolation(cell, rule) @ stress.reshape(*stress.shape[:2], 9)
        np.add.at(total, nodes.ravel(), local.reshape(-1, 9))
        count += np.bincount(nodes.ravel(), minlength=n)
    return (total / np.maximum(count, 1.0)[:, None]).reshape(n, 3, 3)


def section_tables(
    faces: Iterable[tuple[str, str, np.ndarray, np.ndarray]], x: np.ndarray, stress: np.ndarray
) -> dict[str, np.ndarray]:  # fmt: skip
    """Return the tables of a surface, each a row.

    Args:
        faces: cell, integration rule, nodes (m, k) of its elements and their local faces (m,) from 0.
        x: places (n, 3) of all nodes [m].
        stress: tensors (n, 3, 3) at the nodes [Pa].
    """
    area, first, normal, force, moment = 0.0, np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    for cell, rule, nodes, local in faces:
        for face in np.unique(local):
            kind, corners = shapes.FACES[cell][face]
            reduced = kind == "quad8" and (rule == "reduced" or cell == "wedge15")
            points, weights = shapes.rule(kind, "reduced" if reduced else "full")
            on = nodes[local == face][:, list(corners)]
            J = shapes.jacobians(kind, x[on], points)
            N = shapes.shape_functions(kind, points)
            dA = np.cross(J[..., 0], J[..., 1]) * weights[:, None]
            place = np.einsum("qn,eni->eqi", N, x[on])
            df = np.einsum("qn,enij,eqj->eqi", N, stress[on], dA)
            size = np.linalg.norm(dA, axis=2)
            area += float(size.sum())
            first += np.einsum("eq,eqi->i", size, place)
            normal += dA.sum(axis=(0, 1))
            force += df.sum(axis=(0, 1))
            moment += np.cross(place, df).sum(axis=(0, 1))
    centre, mean = first / area, normal / area
    about = moment - np.cross(centre, force)
    along, torque = float(force @ mean), float(about @ mean)
    shear, bending = np.linalg.norm(force - along * mean), np.linalg.norm(about - torque * mean)
    return {
        "SOF": force, "SOM": moment, "SOCG": np.concatenate((centre, mean)), "SOMCG": about,
        "SOAREA": np.array([area, along, shear, torque, bending]),
    }  # fmt: skip
