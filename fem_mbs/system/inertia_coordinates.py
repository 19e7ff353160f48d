"""Inertia elements as constant mass matrices over positions and directors of two ends.

In space over y = (x_p, d1_p, d2_p, d3_p, x_q, d1_q, d2_q, d3_q), (n, 8, 8); in the plane over (x_p, e_p, x_q, e_q), (n,
4, 4), with the axis e of each element.  One-ended elements have the ground as their second end, without mass.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.elements.paths.hermite import mass_matrix
from fem_mbs.errors import ModelError, Owner
from fem_mbs.system.blocks import GROUND, Block

__all__ = ["constant_mass"]


def constant_mass(block: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return nodes (n, 2), mass matrices, and axes (n, 2) (in space (n, 0)) of an inertia block; None: no inertia."""
    name, n = block.type.name, block.size
    if not block.type.inertia:
        return None
    if name.startswith(("nodal_mass", "turning_mass")):
        raise ModelError(
            "centrifugal loads act on masses with a centre only",
            owner=Owner("Nodal mass" if name.startswith("nodal") else "Mass matrix", block.label(0)),
            remedy="describe it by a body or a point mass with offset",
        )
    if name.startswith("flexible_body"):
        raise ModelError(
            "its mass is no matrix over two nodes, as centrifugal loads, Coriolis matrices and reductions need it",
            owner=Owner("Reduced part", block.label(0)),
            remedy="describe the part by its elements there",
        )
    if name.startswith("translational_mass"):
        return _pairs_of(block)
    nodes = block.nodes if block.type.ends == 2 else np.column_stack((block.nodes[:, 0], np.full(n, GROUND)))
    size = 8 if block.type.dimension == 3 else 4
    M = np.zeros((n, size, size))
    axes = np.zeros((n, 0)) if size == 8 else np.tile((1.0, 0.0), (n, 1))
    mass = block.par[:, block.type.column("mass")]
    q = size // 2
    if name.startswith("linear_mass"):
        M[:, 0, 0] = M[:, q, q] = mass / 3.0
        M[:, 0, q] = M[:, q, 0] = mass / 6.0
    elif name == "director_mass3":
        rows, cols = np.triu_indices(8)
        first = block.type.column("M11")
        M[:, rows, cols] = M[:, cols, rows] = block.par[:, first : first + 36]
    elif name == "hermite2":
        column = [block.par[:, block.type.column(c)] for c in ("mass", "length", "rotary inertia", "ex", "ey")]
        by_entry = np.empty((4, 4, n))
        mass_matrix(*column[:3], by_entry)
        M = np.ascontiguousarray(np.moveaxis(by_entry, -1, 0))
        axes = np.column_stack(column[3:])
    else:
        M[:, 0, 0] = mass
        if name == "rigid3":
            xx, yy, zz, xy, yz, zx = (block.par[:, block.type.column(f"J{c}")] for c in _TENSOR)
            J = np.moveaxis(np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]), -1, 0)
            # Euler tensor of the inertia tensor
            M[:, 1:4, 1:4] = 0.5 * np.trace(J, axis1=1, axis2=2)[:, None, None] * np.eye(3) - J
    return nodes, M, axes


def _pairs_of(block: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the constant mass as `constant_mass` does, for matrices over many nodes, pair by pair."""
    k, dim = block.type.ends, block.type.dimension
    rows, cols = np.triu_indices(k)
    values = block.par[:, 1:].reshape(-1)
    ends = np.where(
        (rows == cols)[:, None], np.column_stack((rows, np.full(len(rows), k))), np.column_stack((rows, cols))
    )
    nodes = np.column_stack((block.nodes, np.full(block.size, GROUND)))[:, ends].reshape(-1, 2)
    size = 8 if dim == 3 else 4
    M = np.zeros((len(nodes), size, size))
    alone = np.tile(rows == cols, block.size)
    M[:, 0, 0] = np.where(alone, values, 0.0)
    M[:, 0, size // 2] = M[:, size // 2, 0] = np.where(alone, 0.0, values)
    return nodes, M, np.zeros((len(nodes), 0)) if dim == 3 else np.tile((1.0, 0.0), (len(nodes), 1))


_TENSOR = ("xx", "yy", "zz", "xy", "yz", "zx")
