"""Lines on which joints slide: through the nodes of beams, trusses or a list, as cubics between neighbours."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import breadth_first_order

from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_parts import JointRequest
from fem_mbs.units import unit_of

__all__ = ["Line", "find_place", "line_at", "line_of", "smoothed"]

#: Angle [deg] between neighbours above which a line has a corner, and a section a step in its twist.
_MOST_TURN = 45.0


@dataclass(frozen=True)
class Line:
    """Pieces of a line in their order.

    Attributes:
        nodes: (n, 2) both ends.
        length: (n,) [m].
        cubic: False: straight from point to point.
        offsets, axes, sections: (2, n, dim) points, tangents and directions of the section of both ends, in the axes of
            their nodes.
    """

    nodes: np.ndarray
    length: np.ndarray
    cubic: bool
    offsets: np.ndarray
    axes: np.ndarray
    sections: np.ndarray

    @property
    def start(self) -> np.ndarray:
        """The places (n + 1,) of the nodes."""
        return np.concatenate(([0.0], np.cumsum(self.length)))


def line_of(building: Building, j: JointRequest) -> Line:
    """Return the line of a joint: of a beam or truss, through the interfaces of a reduced part, or through nodes."""
    if isinstance(j.a, str) and j.a in building.groups:
        return _line_of_elements(building, j)
    if isinstance(j.a, str) and j.a in building.reduced_parts:
        names = building.reduced_parts[j.a].interfaces
        return _line_of_nodes(building, j, [f"{j.a}:{name}" for name in names])
    if isinstance(j.a, (list, tuple)):
        return _line_of_nodes(building, j, list(j.a))
    known = ", ".join((*building.groups, *building.reduced_parts)) or "none"
    raise ModelError(
        f'a = "{j.a}" is no beam or truss', owner=j.owner, key="a", value=j.a,
        remedy=f"there are {known}; or give a list of nodes",
    )  # fmt: skip


def _line_of_elements(building: Building, j: JointRequest) -> Line:
    own = [b for b in building.blocks if b.groups[0][0] == j.a and b.type.outputs]
    block = next((b for b in own if "length" in b.type.parameters), None)
    if block is None:
        raise ModelError(f'"{j.a}" is no beam or truss', owner=j.owner, key="a", value=j.a)
    cells = block.nodes
    order, forward = _path(j, cells)
    n, dim = len(cells), building.dimension
    rows = np.arange(n)[order]
    nodes = np.where(forward[:, None], cells[rows], cells[rows, ::-1])
    column = block.type.column
    axes, offsets, sections = np.zeros((3, 2, n, dim))
    cubic = not block.type.name.startswith("truss")
    if cubic:
        for k, end in enumerate("pq"):
            for i, c in enumerate("xyz"[:dim]):
                axes[k, :, i] = block.par[:, column(f"A{i + 1}1_{end}" if dim == 3 else f"e{c}")]
                if dim == 3:
                    offsets[k, :, i] = block.par[:, column(f"a{c}_{end}")]
                    sections[k, :, i] = block.par[:, column(f"A{i + 1}2_{end}")]
    turn = forward[:, None]
    pick = [
        np.array((np.where(turn, v[0, rows], sign * v[1, rows]), np.where(turn, v[1, rows], sign * v[0, rows])))
        for v, sign in ((offsets, 1.0), (axes, -1.0), (sections, 1.0))
    ]
    return Line(nodes, block.par[rows, column("length")], cubic, *pick)


def _line_of_nodes(building: Building, j: JointRequest, places: list) -> Line:
    """Return the line through nodes in the given order, with tangents of the curve through their places."""
    nodes = np.concatenate([building.nodes_of(place, j.owner) for place in places]) if places else np.empty(0, int)
    if len(nodes) < 2 or len(set(nodes.tolist())) < len(nodes):
        raise ModelError(
            f"a line needs two different nodes or more, not {len(nodes)}", owner=j.owner, key="a",
            remedy="name them in their order, each once",
        )  # fmt: skip
    building.needs_rotation += [(j.owner, int(node)) for node in nodes]
    x = building.positions[nodes]
    chords = np.diff(x, axis=0)
    length = np.linalg.norm(chords, axis=1)
    if (length == 0.0).any():
        k = int(length.argmin())
        raise ModelError(
            f'nodes "{building.node_name(nodes[k])}" and "{building.node_name(nodes[k + 1])}" coincide', owner=j.owner,
            key="a", remedy="leave one out",
        )  # fmt: skip
    dim, n = building.dimension, len(length)
    R = building.rotation_matrices(nodes)
    directions = chords / length[:, None]
    cells = np.column_stack((nodes[:-1], nodes[1:]))
    pair = np.array((np.arange(n), np.arange(1, n + 1)))
    axes = np.einsum("knji,nj->kni", R[pair], directions)
    line = smoothed(building, j, Line(cells, length, True, np.zeros((2, n, dim)), axes, np.zeros((2, n, dim))))
    if dim == 2:
        return line
    # directions of the section: carried along the line without twist
    tangents = np.einsum("nij,nj->ni", R, np.vstack((line.axes[0], line.axes[1, -1:])))
    w = np.empty((n + 1, 3))
    guess = np.eye(3)[np.abs(tangents[0]).argmin()]
    for i, t in enumerate(tangents):
        w[i] = guess - (guess @ t) * t
        guess = w[i] = w[i] / np.linalg.norm(w[i])
    local = np.einsum("nji,nj->ni", R, w)
    return Line(line.nodes, line.length, True, line.offsets, line.axes, local[pair])


def smoothed(building: Building, j: JointRequest, line: Line) -> Line:
    """Return the line with one tangent and one direction of the section per node, and arc lengths of its pieces.

    The tangents are those of parabolas through neighbours.

    Raises:
        ModelError: it has a corner, or its section turns by steps.
    """
    if not line.cubic:
        raise ModelError(
            f'"{j.a}" is a truss, whose nodes do not turn', owner=j.owner, key="a", remedy='use "along_beam", or beams'
        )
    n = len(line.length)
    R = [building.rotation_matrices(line.nodes[:, k]) for k in range(2)]
    points = _points(building, line)
    chords = points[1] - points[0]
    chord = np.linalg.norm(chords, axis=1)
    t = chords / chord[:, None]
    nodal = np.empty((n + 1, building.dimension))
    nodal[1:-1] = (t[:-1] * chord[1:, None] + t[1:] * chord[:-1, None]) / (chord[1:] + chord[:-1])[:, None]
    _check_turn(building, j, line, (t[:-1] * t[1:]).sum(axis=1), "has a corner")
    nodal[1:-1] /= np.linalg.norm(nodal[1:-1], axis=1)[:, None]
    nodal[0] = 2.0 * (t[0] @ nodal[1]) * t[0] - nodal[1] if n > 1 else t[0]
    nodal[-1] = 2.0 * (t[-1] @ nodal[-2]) * t[-1] - nodal[-2] if n > 1 else t[-1]
    bend = 0.5 * np.arccos(np.clip((nodal[:-1] * nodal[1:]).sum(axis=1), -1.0, 1.0))
    length = chord * np.where(bend > 1e-6, bend / np.sin(np.where(bend > 1e-6, bend, 1.0)), 1.0)
    w = np.array([np.einsum("nij,nj->ni", R[k], line.sections[k]) for k in range(2)])
    if w.any():
        _check_turn(building, j, line, (w[1, :-1] * w[0, 1:]).sum(axis=1), "has sections that turn by a step")
        both = w[1, :-1] + w[0, 1:]
        w[1, :-1] = w[0, 1:] = both / np.linalg.norm(both, axis=1)[:, None]
    axes = np.array((np.einsum("nji,nj->ni", R[0], nodal[:-1]), np.einsum("nji,nj->ni", R[1], nodal[1:])))
    sections = np.array([np.einsum("nji,nj->ni", R[k], w[k]) for k in range(2)])
    return Line(line.nodes, length, True, line.offsets, axes, sections)


def _check_turn(building: Building, j: JointRequest, line: Line, cosines: np.ndarray, what: str) -> None:
    if len(cosines) and cosines.min() < np.cos(np.radians(_MOST_TURN)):
        k = int(cosines.argmin())
        angle = np.degrees(np.arccos(np.clip(cosines[k], -1.0, 1.0)))
        raise ModelError(
            f'its line {what} of {angle:.0f} degrees at node "{building.node_name(int(line.nodes[k, 1]))}"',
            owner=j.owner, remedy="give a line that turns little from node to node",
        )  # fmt: skip


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


def find_place(building: Building, j: JointRequest, line: Line, point: np.ndarray, near: float) -> float:
    """Return the place s of the line's point next to a point, by Newton's rule from the nearest of many.

    Args:
        near: distance [m] up to which the point counts as on the line.

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
    if gap > max(near, 1e-9 * max(float(line.start[-1]), float(np.abs(point).max()))):
        what = f'"{j.a}"' if isinstance(j.a, str) else "its nodes"
        raise ModelError(
            f"its point is {gap:g} {unit_of('m')} off the line of {what}",
            owner=j.owner,
            remedy="move it, or give the point that slides",
        )
    return float(line.start[e] + x * line.length[e])


def line_at(building: Building, line: Line, s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return point, tangent (derivative by s) and section direction (dim,) at a place of the line at the start."""
    e = min(int(np.searchsorted(line.start, s, side="right")) - 1, len(line.length) - 1)
    x = (s - line.start[e]) / line.length[e]
    y = _start_line(building, line)[e]
    r, d = (np.einsum("jk,jd->d", _shapes(np.array([x]), m), y) for m in range(2))
    w = [building.rotation_matrices(line.nodes[[e], k])[0] @ line.sections[k, e] for k in range(2)]
    return r, d / line.length[e], (1.0 - x) * w[0] + x * w[1]


def _points(building: Building, line: Line) -> np.ndarray:
    """Return points (2, n, dim) of both ends of the pieces at the start."""
    found = np.empty((2, len(line.length), building.dimension))
    for k in range(2):
        R = building.rotation_matrices(line.nodes[:, k])
        found[k] = building.positions[line.nodes[:, k]] + np.einsum("nij,nj->ni", R, line.offsets[k])
    return found


def _start_line(building: Building, line: Line) -> np.ndarray:
    """Return coordinates (n, 4, dim) of the shape functions at the start: ends, and axes times length."""
    y = np.zeros((len(line.length), 4, building.dimension))
    points = _points(building, line)
    for k in range(2):
        R = building.rotation_matrices(line.nodes[:, k])
        y[:, 2 * k] = points[k]
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
