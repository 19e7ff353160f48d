"""Linear terms between displacements and rotations of nodes, of which equations, ties and mean couplings are made.

Numbers are checked here, and turned into elements `equation2` and `equation3`, one per equation and node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.errors import ModelError
from fem_mbs.model.building import Building
from fem_mbs.parts.part import COMPONENTS
from fem_mbs.system.blocks import Block, make_block

__all__ = [
    "add_rows", "component_numbers", "floats", "names_of_equations", "node_dofs", "nodes_at", "rows_of_names",
    "term_block",
]  # fmt: skip


def add_rows(
    building: Building,
    name: str,
    owner: str,
    rows: ArrayLike,
    nodes: ArrayLike,
    components: ArrayLike,
    coefficients: ArrayLike,
    value: ArrayLike,
    function: Any,
    first: ArrayLike = True,
    reported: np.ndarray | None = None,
) -> None:
    """Add equations from their terms; see `Model.equations`.  Reactions are those on the nodes ``reported`` (None:
    all)."""
    r, n, k = (_whole(owner, key, a) for key, a in (("rows", rows), ("nodes", nodes), ("components", components)))
    c = floats(owner, "coefficients", coefficients)
    if not len(r) == len(n) == len(k) == len(c):
        raise ModelError(
            f"rows, nodes, components and coefficients have {len(r)}, {len(n)}, {len(k)} and {len(c)} entries",
            owner=owner,
            remedy="give one of each per term",
        )
    if not len(r):
        raise ModelError("it has no terms", owner=owner, remedy="add some, or remove it")
    m = int(r.max()) + 1
    _check_terms(building, owner, r, n, k, m)
    v = floats(owner, "value", value, () if np.ndim(value) == 0 else (m,))
    v = np.broadcast_to(v, m)
    if function is not None and not v.any():
        raise ModelError(
            "its function multiplies value = 0", owner=owner, remedy="give the value, or remove the function"
        )
    dim = building.dimension
    turning = k >= 3 if dim == 3 else k == 5
    building.needs_rotation += [(owner, int(i)) for i in np.unique(n[turning])]
    _, begin = np.unique(r, return_index=True)
    dof = np.where(turning & (dim == 2), 2, k)
    preferred = np.column_stack((n[begin], dof[begin]))
    preferred[~np.broadcast_to(np.asarray(first, bool), m)] = -1
    # coefficients of each equation of the order of one, so that its error is a length
    size = np.zeros(m)
    x = building.positions
    length = float(np.ptp(x, axis=0).max()) or 1.0
    np.maximum.at(size, r, np.abs(c) / np.where(turning, length, 1.0))
    if not size.all():
        raise ModelError(f"row {int(np.flatnonzero(size == 0.0)[0])}: all its coefficients are zero", owner=owner)
    # one element per equation and node
    key, term = np.unique(r * building.n_nodes + n, return_inverse=True)
    joint, node = key // building.n_nodes, key % building.n_nodes
    values = np.zeros((len(key), 6))
    np.add.at(values, (term.ravel(), k), c / size[r])
    share = np.zeros(len(key))
    share[np.flatnonzero(np.diff(joint, prepend=-1))] = v / size  # the first of each
    index = -1
    if v.any():
        index = building.function_index(1.0 if function is None else function, owner, load=False)
    turns = values[:, 5:] if dim == 2 else values[:, 3:]
    seen = 1.0 if reported is None else np.isin(node, reported).astype(float)
    terms = term_block(building,
        name, joint, node, values[:, :dim], turns, preferred,
        value=share, function=float(index), reported=seen,
    )  # fmt: skip
    building.blocks.append(terms)


def _check_terms(building: Building, owner: str, r: np.ndarray, n: np.ndarray, k: np.ndarray, m: int) -> None:
    missing = np.flatnonzero(np.bincount(r, minlength=m) == 0) if r.min() >= 0 else np.array([int(r.min())])
    if missing.size:
        what = "is no number of a row" if missing[0] < 0 else "has no terms"
        raise ModelError(f"row {int(missing[0])} {what}", owner=owner, remedy="rows count from 0 without gaps")
    node_indices(building, owner, n)
    allowed = component_numbers(building.dimension).values()
    bad = np.flatnonzero(~np.isin(k, list(allowed)))
    if bad.size:
        i = int(bad[0])
        raise ModelError(
            f"row {int(r[i])}: component {int(k[i])} must be one of {', '.join(map(str, allowed))}", owner=owner
        )


def node_indices(building: Building, owner: str, nodes: ArrayLike) -> np.ndarray:
    """Return node indices (n,) of numbers, each of which must be that of a node."""
    n = _whole(owner, "nodes", nodes)
    bad = np.flatnonzero((n < 0) | (n >= building.n_nodes))
    if bad.size:
        raise ModelError(
            f"node {int(n[bad[0]])} does not exist, there are {building.n_nodes}",
            owner=owner,
            remedy="take indices from nodes_of",
        )
    return n


def nodes_at(building: Building, owner: str, place: Any) -> np.ndarray:
    """Return node indices (n,) of places, or of an array of node numbers."""
    return node_indices(building, owner, place if isinstance(place, np.ndarray) else building.nodes_of(place, owner))


def component_numbers(dimension: int) -> dict[str, int]:
    """Return the components of a node by their names: 0, 1, 2 displacements, 3, 4, 5 rotations about x, y, z."""
    return dict(zip(COMPONENTS[dimension], (0, 1, 5) if dimension == 2 else range(6), strict=True))


def node_dofs(nodes: np.ndarray, components: Iterable[int]) -> np.ndarray:
    """Return (n m, 2): node and component, component fastest."""
    k = np.asarray(list(components), np.int64)
    return np.column_stack((np.repeat(nodes, k.size), np.tile(k, len(nodes))))


def _whole(owner: str, key: str, values: ArrayLike) -> np.ndarray:
    """Return whole numbers (k,)."""
    try:
        a = np.atleast_1d(np.asarray(values))
        b = a.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{key} must be whole numbers, one per term", owner=owner) from None
    if a.ndim != 1 or a.dtype.kind not in "iuf" or (a.dtype.kind == "f" and not (a == b).all()):
        raise ModelError(f"{key} must be whole numbers, one per term", owner=owner)
    return b


def term_block(
    building: Building,
    label: str,
    joint: ArrayLike,
    nodes: np.ndarray,
    n: np.ndarray,
    turns: np.ndarray,
    preferred: ArrayLike,
    arms: np.ndarray | None = None,
    **columns: Any,
) -> Block:
    """Return elements of equations with the numbers ``joint``: coefficients n (k, dim) of the positions and turns
    (k, 1 or 3) of the rotations, or of points at the offsets ``arms`` (k, dim) in body axes."""
    dim = building.dimension
    names = "xyz"[:dim]
    x = building.positions[nodes]
    columns = {"reported": 1.0, "function": -1.0, **columns}
    columns |= {f"n{c}": n[:, i] for i, c in enumerate(names)} | {c: x[:, i] for i, c in enumerate(names)}
    if dim == 2:
        columns |= {"c": turns[:, 0], "angle": building.start_angles(nodes)}
        if arms is not None:  # n.R a = p cos + q sin
            columns["p"] = n[:, 0] * arms[:, 0] + n[:, 1] * arms[:, 1]
            columns["q"] = n[:, 1] * arms[:, 0] - n[:, 0] * arms[:, 1]
    else:
        R = building.rotation_matrices(nodes)
        L = 0.5 * np.swapaxes(np.cross(turns[:, None, :], np.swapaxes(R, 1, 2)), 1, 2)  # columns c x D_k / 2
        if arms is not None:
            L = L + n[:, :, None] * arms[:, None, :]
        columns["small"] = np.where(np.any(turns != 0.0, axis=1), 1.0, 0.0)
        for i in range(3):
            for k in range(3):
                columns[f"l{i + 1}{k + 1}"], columns[f"r{i + 1}{k + 1}"] = L[:, i, k], R[:, i, k]
    block = make_block(label, f"equation{dim}", nodes, **columns)
    block.joint = np.asarray(joint, np.int64)
    block.preferred = np.asarray(preferred, np.int64)
    return block


def floats(owner: str, key: str, values: ArrayLike, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Return finite numbers (k,), or of a shape."""
    try:
        a = np.asarray(values, float)
    except (TypeError, ValueError):
        raise ModelError(f"{key} must be numbers", owner=owner) from None
    a = np.atleast_1d(a) if shape is None else a
    if (a.ndim != 1 if shape is None else a.shape != shape) or not np.isfinite(a).all():
        wanted = "finite numbers, one per term" if shape is None else f"finite, of shape {shape}"
        raise ModelError(f"{key} must be {wanted}", owner=owner)
    return a


def rows_of_names(system: Any, names: Collection[str]) -> np.ndarray:
    """Return the constraints of a compiled system that have these names, by their numbers among all."""
    found = [
        block.dof[first:last, block.type.node_dofs :].ravel() - system.first_multiplier
        for block in system.blocks
        if block.type.multipliers
        for label, first, last in block.groups
        if label in names
    ]
    return np.unique(np.concatenate([np.empty(0, np.int64), *found]))


def names_of_equations(system: Any) -> list[str]:
    """Return the names of all equations, ties and means of a compiled system."""
    blocks = (block for block in system.blocks if block.type.name in ("equation2", "equation3"))
    return list(dict.fromkeys(label for block in blocks for label, _, _ in block.groups))
