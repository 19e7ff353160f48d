"""The sliding joint of the model builder: a point of one part on the elastic line of beams or trusses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import breadth_first_order

from fem_mbs.errors import ModelError
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_parts import JointRequest, add_coordinate
from fem_mbs.model.records import JointCoordinate
from fem_mbs.system.blocks import GROUND

__all__ = ["along_beam"]


@dataclass(frozen=True)
class _Line:
    """Elements of a line in their order: nodes (n, 2), lengths, whether they are cubic; offsets and axes (2, n, dim) of
    both ends in the axes of their nodes."""

    nodes: np.ndarray
    length: np.ndarray
    cubic: bool
    offsets: np.ndarray
    axes: np.ndarray


def along_beam(building: Building, j: JointRequest) -> None:
    """Add a joint along a beam. Its path coordinate is a node of its own, so drivers and springs act on it as on
    any slide."""
    line = _path_line(building, j)
    node, offset = building.point(j.b, j.point, j.owner)
    if node == GROUND and j.point is None:
        raise ModelError('a point of "ground" needs its coordinates', owner=j.owner, remedy="add point = [...]")
    if (line.nodes == node).any():
        raise ModelError(f'"{j.b}" is a node of the line itself', owner=j.owner, remedy="join another part")
    start = np.concatenate(([0.0], np.cumsum(line.length)))
    s = _find_place(building, j, line, start, building.global_point(node, offset))
    at = np.zeros(building.dimension)
    at[0] = s
    way = building.add_nodes(at[None, :])
    building.names.add(f"{j.name}: way", None, 1)
    building.fixed += [(way, k) for k in range(1, building.dimension)]
    building.path_nodes.append(way)
    n = len(line.length)
    names = "xyz"[: building.dimension]
    columns = {f"a{c}_b": float(v) for c, v in zip(names, offset, strict=True)}
    for k, end in enumerate("pq"):
        columns.update({f"a{c}_{end}": line.offsets[k, :, i] for i, c in enumerate(names)})
        columns.update({f"e{c}_{end}": line.axes[k, :, i] for i, c in enumerate(names)})
    first, last = np.zeros(n), np.zeros(n)
    first[0] = last[-1] = 1.0
    nodes = np.column_stack((np.full(n, node), line.nodes, np.full(n, way)))
    block = building.add_block(
        j.name, f"beam_slide{building.dimension}", nodes, start=start[:-1], length=line.length,
        cubic=float(line.cubic), first=first, last=last, **columns,
    )  # fmt: skip
    block.joint = np.zeros(n, np.int64)
    direction = {f"e{c}": float(c == "x") for c in names}
    offsets = {f"a{c}_{end}": s * (end == "a" and c == "x") for end in "ab" for c in names}
    coordinate = JointCoordinate(False, (GROUND, way), {**direction, **offsets})
    add_coordinate(building, j, "displacement", coordinate, j.function)


def _path_line(building: Building, j: JointRequest) -> _Line:
    """Return the elements of the beam or truss a, from one end to the other."""
    if j.a not in building.groups:
        known = ", ".join(building.groups) or "none"
        raise ModelError(f'a = "{j.a}" is no beam or truss', owner=j.owner, remedy=f"there are {known}")
    own = [b for b in building.blocks if b.groups[0][0] == j.a and b.type.outputs]
    block = next(b for b in own if "length" in b.type.parameters)
    cells = block.nodes
    order, forward = _path(j, cells)
    n, dim = len(cells), building.dimension
    rows = np.arange(n)[order]
    nodes = np.where(forward[:, None], cells[rows], cells[rows, ::-1])
    column = block.type.column
    axes, offsets = np.zeros((2, n, dim)), np.zeros((2, n, dim))
    cubic = not block.type.name.startswith("truss")
    if cubic:
        for k, end in enumerate("pq"):
            for i, c in enumerate("xyz"[:dim]):
                axes[k, :, i] = block.par[:, column(f"A{i + 1}1_{end}" if dim == 3 else f"e{c}")]
                if dim == 3:
                    offsets[k, :, i] = block.par[:, column(f"a{c}_{end}")]
    turn = forward[:, None]
    pick = [
        (np.where(turn, v[0, rows], sign * v[1, rows]), np.where(turn, v[1, rows], sign * v[0, rows]))
        for v, sign in ((offsets, 1.0), (axes, -1.0))
    ]
    return _Line(nodes, block.par[rows, column("length")], cubic, np.array(pick[0]), np.array(pick[1]))


def _path(j: JointRequest, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of the cells (n,) along their line, and whether each points forwards."""
    nodes, local = np.unique(cells, return_inverse=True)
    local = local.reshape(cells.shape)
    degree = np.bincount(local.ravel(), minlength=len(nodes))
    ends = np.flatnonzero(degree == 1)
    if len(ends) != 2 or degree.max() > 2:
        raise ModelError(f'the elements of "{j.a}" are not one open line', owner=j.owner, remedy="give a beam that is")
    start = local[0, 0] if degree[local[0, 0]] == 1 else int(ends[0])
    graph = coo_matrix((np.ones(len(cells)), local.T), shape=(len(nodes), len(nodes)))
    along = breadth_first_order(graph, start, directed=False, return_predecessors=False)
    if len(along) != len(nodes):
        raise ModelError(f'the elements of "{j.a}" are not one open line', owner=j.owner, remedy="give a beam that is")
    place = np.empty(len(nodes), np.int64)
    place[along] = np.arange(len(nodes))
    begin, end = place[local[:, 0]], place[local[:, 1]]
    return np.argsort(np.minimum(begin, end)), (begin < end)[np.argsort(np.minimum(begin, end))]


def _find_place(building: Building, j: JointRequest, line: _Line, start: np.ndarray, point: np.ndarray) -> float:
    """Return the place s of a point on the line, by Newton's rule from the nearest of many.

    Raises:
        ModelError: the point is not on it.
    """
    y = _start_line(building, line)
    xi = np.linspace(0.0, 1.0, 33)
    sampled = np.einsum("jk,njd->nkd", _shapes(xi), y)
    distance = np.linalg.norm(sampled - point, axis=2)
    e, k = np.unravel_index(int(distance.argmin()), distance.shape)
    x = float(xi[k])
    for _ in range(50):
        r, d, dd = (np.einsum("jk,jd->d", _shapes(np.array([x]), m), y[e]) for m in range(3))
        step = float((r - point) @ d) / float(d @ d + (r - point) @ dd)
        x -= step
        if abs(step) < 1e-15:
            break
    x = min(max(x, 0.0), 1.0)
    gap = float(np.linalg.norm(np.einsum("jk,jd->d", _shapes(np.array([x])), y[e]) - point))
    if gap > 1e-9 * max(float(start[-1]), float(np.abs(point).max())):
        raise ModelError(
            f'its point is {gap:g} m off the line of "{j.a}"',
            owner=j.owner,
            remedy="move it, or give the point that slides",
        )
    return float(start[e] + x * line.length[e])


def _start_line(building: Building, line: _Line) -> np.ndarray:
    """Return coordinates (n, 4, dim) of the shape functions at the start: ends, and axes times length."""
    y = np.zeros((len(line.length), 4, building.dimension))
    for k in range(2):
        R = building.rotation_matrices(line.nodes[:, k])
        y[:, 2 * k] = building.positions[line.nodes[:, k]] + np.einsum("nij,nj->ni", R, line.offsets[k])
        y[:, 2 * k + 1] = np.einsum("nij,nj->ni", R, line.axes[k]) * line.length[:, None]
    if not line.cubic:
        chord = y[:, 2] - y[:, 0]
        y[:, 1] = y[:, 3] = chord
    return y


def _shapes(xi: np.ndarray, derivative: int = 0) -> np.ndarray:
    """Return cubic shape functions (4, n) of end, direction, end, direction, or their derivatives by xi."""
    coefficients = np.array(
        [[1.0, 0.0, -3.0, 2.0], [0.0, 1.0, -2.0, 1.0], [0.0, 0.0, 3.0, -2.0], [0.0, 0.0, -1.0, 1.0]]
    )
    for _ in range(derivative):
        coefficients = coefficients[:, 1:] * np.arange(1, coefficients.shape[1])
    return coefficients @ np.vander(xi, coefficients.shape[1], increasing=True).T
