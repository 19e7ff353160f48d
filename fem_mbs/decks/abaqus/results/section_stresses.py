"""Stresses of beams and shells at the integration points of the solids that CalculiX makes of them.

Beams: N/A and the moments over the section, mean shear, and the shear of torsion.  The points of RECT and CIRC are
those of a solid of 8 or 20 nodes whose section is the rectangle, or a quadrilateral of eight nodes on the circle (of
B32R with the further points of Kronrod's rule); those of PIPE are eight on a circle within the wall.  Shells: what
membrane forces and moments make, linear over the thickness; transverse shear is left out.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.decks.abaqus.beams import beam_section, directions
from fem_mbs.decks.abaqus.model import Conversion, Group
from fem_mbs.decks.abaqus.shells import section_axes
from fem_mbs.elements.solids import shapes

__all__ = ["beam_stresses", "shell_stresses", "tensors"]

#: Cells of shells -> solids that stand for them.
_SOLIDS = {"triangle": "wedge", "triangle6": "wedge15", "quad": "hexahedron", "quad8": "hexahedron20"}
#: The outer point of Kronrod's rule of five.
_KRONROD = np.sqrt(6.0 / 7.0)
_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))


def tensors(values: np.ndarray) -> np.ndarray:
    """Return tensors (..., 3, 3) of components (..., 6) xx, yy, zz, xy, yz, zx."""
    T = np.zeros((*values.shape[:-1], 3, 3))
    for k, (i, j) in enumerate(_PAIRS):
        T[..., i, j] = T[..., j, i] = values[..., k]
    return T


# --- beams -----------------------------------------------------------------------------------------------------------
def _points(group: Group) -> tuple[np.ndarray, np.ndarray] | None:
    """Return places (q,) along the element, -1 to 1, and (q, 2) on the section along its directions 1 and 2; None where
    CalculiX has no solid for the section, or another kind of points."""
    _, values, (a, b) = beam_section(group.section)
    shape = group.section.shape
    if shape == "PIPE" and group.type == "B32R":
        # of all circles the one where the second moment of the wall is that of a thin wall
        outer = values["outer_diameter"]
        radius = 0.5 * np.sqrt(0.5 * (outer**2 + (outer - 2.0 * values["thickness"]) ** 2))
        angle = 0.25 * np.pi * np.arange(8)
        ring = radius * np.column_stack((np.sin(angle), -np.cos(angle)))
        return np.repeat([-1.0, 1.0], 8) / np.sqrt(3.0), np.tile(ring, (2, 1))
    if shape not in ("RECT", "CIRC") or (shape == "CIRC" and not group.type.startswith("B32")):
        return None
    g = np.polynomial.legendre.leggauss(3 if group.type == "B32" else 2)[0]
    n = len(g)
    q = np.arange(n**3)
    xi, local = g[q % n], np.column_stack((g[(q // n) % n], g[q // n**2]))
    if shape == "CIRC" and n == 2:  # and those of Kronrod's rule of five points, which has the two of Gauss
        five = np.array([-_KRONROD, g[0], 0.0, g[1], _KRONROD])
        more = np.array([(eta, zeta) for zeta in five for eta in five if not (eta in g and zeta in g)])
        xi = np.concatenate((xi, np.repeat(g, len(more))))
        local = np.concatenate((local, more, more))
    if shape == "RECT":
        return xi, np.column_stack((0.5 * a * local[:, 1], -0.5 * b * local[:, 0]))
    nodes = shapes.local_nodes("quad8")
    circle = 0.5 * a * nodes / np.linalg.norm(nodes, axis=1)[:, None]
    eta, zeta = (shapes.shape_functions("quad8", local) @ circle).T
    return xi, np.column_stack((zeta, -eta))


def beam_stresses(conv: Conversion, group: Group, table: np.ndarray, in_global: bool) -> np.ndarray | None:
    """Return stresses (n, q, 3, 3) of the beams of a group by the outputs (lines, k) of their line cells, in global
    axes or in those of the section (axis, direction 1, direction 2); None for sections without such points."""
    found = _points(group)
    if found is None:
        return None
    along, places = found
    A, I1, I2 = _moments(group)
    per = len(group.lines) // len(group.ids)
    n1 = directions(conv, group)
    x = conv.deck.x[group.lines]
    t = x[:, 1] - x[:, 0]
    t /= np.linalg.norm(t, axis=1)[:, None]
    axes = np.stack((t, n1, np.cross(t, n1)), axis=1)
    N, Vy, Vz, twist, My1, My2, Mz1, Mz2 = table[:, :8].T
    out = np.zeros((len(group.ids), len(along), 3, 3))
    for q, (xi, (y, z)) in enumerate(zip(along, places, strict=True)):
        place = 0.5 * (xi + 1.0) * per
        k = min(int(place), per - 1)
        # CalculiX's solid of a B31 has one curvature along it
        s = 0.5 if group.type.startswith("B31") else place - k
        line = np.arange(len(group.ids)) * per + k
        My, Mz = (1.0 - s) * My1[line] + s * My2[line], (1.0 - s) * Mz1[line] + s * Mz2[line]
        T = out[:, q]
        T[:, 0, 0] = N[line] / A + My * z / I1 - Mz * y / I2
        # torsion: the sections of these solids warp bilinearly, so that its shear is linear over them
        T[:, 0, 1] = T[:, 1, 0] = Vy[line] / A - twist[line] * z / (2.0 * I1)
        T[:, 0, 2] = T[:, 2, 0] = Vz[line] / A + twist[line] * y / (2.0 * I2)
        if in_global:
            B = axes[line]
            out[:, q] = np.swapaxes(B, 1, 2) @ T @ B
    return out


def _moments(group: Group) -> tuple[float, float, float]:
    """Return area and second moments about the directions 1 and 2."""
    from fem_mbs.properties.sections import make_section

    kind, values, (a, b) = beam_section(group.section)
    if group.section.shape == "RECT":
        return a * b, a * b**3 / 12.0, b * a**3 / 12.0
    made = make_section(group.name, kind, **values)
    return made.A, made.Iy, made.Iz


# --- shells ----------------------------------------------------------------------------------------------------------
def shell_stresses(conv: Conversion, group: Group, top: np.ndarray, bottom: np.ndarray, in_global: bool) -> np.ndarray:
    """Return stresses (n, q, 3, 3) of shells of one material by those on their faces at the nodes (n, k, 6), in global
    axes or in those of the section at the start (first axis, second, normal); there are none across."""
    points = _shell_points(group)
    N = shapes.shape_functions(group.cell, points[:, :2])
    share = 0.5 * (1.0 + points[:, 2])[:, None]
    T = tensors(share * np.einsum("qa,nak->nqk", N, top) + (1.0 - share) * np.einsum("qa,nak->nqk", N, bottom))
    if in_global:
        return T
    A = section_axes(conv, group)[:, None]
    return A @ T @ np.swapaxes(A, -1, -2)


def _shell_points(group: Group) -> np.ndarray:
    """Return points (q, 3) of the solid that stands for a shell."""
    if group.type.endswith("4R"):
        return np.zeros((1, 3))
    rule = "reduced" if group.type == "S8R" or group.cell == "triangle" else "full"
    return shapes.rule(_SOLIDS[group.cell], rule)[0]
