"""Compute the moments of the mass distribution and shapes of a part, which define the inertia of a moving body.

Every inertia element of the package has a constant matrix of scalar masses over positions x_n and directors d_n,k of
nodes (`fem_mbs.system.inertia_coordinates`, cells of solids: their nodes): T = 1/2 sum_ij m_ij y_i'.y_j'.  So the
integrals over the body are sums over one sparse matrix m of the whole part,

    int f g dm = f^T m g,

with the columns f that a function has over (x_n, d_n,k): 1 is (1, 0); the coordinate c_a is (c_n,a, d_n,k,a); a shape
Phi_a is (Phi_n,a, (theta_n x d_n,k)_a).  With these r = x + R (c + Phi q) has exactly the kinetic energy of the
elements at any x, R and, but for rotations of nodes of second order, any q.  The condensed mass of hexahedra with
incompatible modes counts the mean motion of its inside, Z u, as one point more.

Theory: docs/theory.md, section 11, "Moments of mass".
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix

from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.elements.solids import condensed as solid_condensed
from fem_mbs.elements.solids import mass as solid_mass
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.parts.part import Moments
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.inertia_coordinates import constant_mass

__all__ = ["InertiaCoordinates", "directors_of", "inertia_coordinates", "moments"]


@dataclass(frozen=True)
class InertiaCoordinates:
    """Scalar masses ``M`` (n_y, n_y) [kg] over the coordinates y of a part, those of the elements of this process.

    y holds positions of nodes (n), then their directors (n_r, dim of each), then inner points (n_i).  ``shift`` (dim
    n_y, N): change dy = shift @ u of all coordinates by displacements of all dofs, component a of coordinate i in row
    a n_y + i.  ``one`` (n_y,), ``place`` (n_y, dim): what 1 and the position are.
    """

    M: csr_matrix
    shift: csr_matrix
    one: np.ndarray
    place: np.ndarray


def moments(linear: Linearised, T: np.ndarray, origin: np.ndarray | None = None) -> Moments:
    """Return the moments of the mass of a model at a state with the shapes T.

    Args:
        linear: the model at the state from which positions count.
        T: (N, n) displacements and rotations of all dofs, or of those of nodes, per unit of n coordinates.
        origin: (dim,) point from which positions count [m]; None: that of the model's axes.

    Raises:
        ModelError: a mass without such coordinates (nodal mass, axisymmetric part), naming it.
    """
    y = inertia_coordinates(linear)
    dim = y.place.shape[1]
    T = np.asarray(T, float)
    first = linear.first
    if T.ndim != 2 or T.shape[0] < first:
        raise ModelError(
            f"shapes have the form {T.shape}",
            owner=Owner("Moments"),
            remedy=f"they need a row for each of the {first} dofs",
        )
    start = np.zeros(dim) if origin is None else np.asarray(origin, float)
    place = y.place - y.one[:, None] * start
    rigid = np.column_stack((y.one, place))
    massive = np.flatnonzero(np.diff(y.M.indptr))  # others, as the nodes of other processes, count nothing
    M, rigid = y.M[massive][:, massive], rigid[massive]
    weighed = M @ rigid
    low = linear.summed(weighed.T @ rigid)
    low = 0.5 * (low + low.T)
    rows = (np.arange(dim)[:, None] * y.one.size + massive).ravel()
    size, n = massive.size, T.shape[1]
    shapes = (y.shift[rows][:, :first] @ T[:first]).reshape(dim, size, n)
    linear_ = np.empty((dim, n))
    mixed = np.empty((dim, dim, n))
    quadratic = np.empty((dim, dim, n, n))
    for b in range(dim):
        linear_[b] = weighed[:, 0] @ shapes[b]
        mixed[:, b] = weighed[:, 1:].T @ shapes[b]
        heavy = M @ shapes[b]
        for a in range(b + 1):
            quadratic[a, b] = shapes[a].T @ heavy
            quadratic[b, a] = quadratic[a, b].T
        quadratic[b, b] = 0.5 * (quadratic[b, b] + quadratic[b, b].T)
    linear_, mixed, quadratic = (linear.summed(values) for values in (linear_, mixed, quadratic))
    return Moments(float(low[0, 0]), low[0, 1:], low[1:, 1:], linear_, mixed, quadratic)


def inertia_coordinates(linear: Linearised) -> InertiaCoordinates:
    """Return positions, directors and inner points of a model at a state, and their masses.

    Raises:
        ModelError: a mass without such coordinates (nodal mass, axisymmetric part), naming it.
    """
    system = linear.system
    dim, nodes = system.dimension, system.nodes.x.shape[0]
    for block in system.blocks:
        if block.type.name.startswith("axisymmetric") and block.type.prestress is not None:
            raise ModelError(
                f'"{block.label(0)}" is axisymmetric',
                owner=Owner("Moments"),
                remedy="its nodes are rings, which do not turn with a plane body; make the part of plane or "
                "solid cells",
            )
        if block.type.inertia and block.type.name.startswith(("nodal_mass", "turning_mass")):
            word = "nodal mass" if block.type.name.startswith("nodal") else "mass matrix"
            raise ModelError(
                f'{word} "{block.label(0)}" is a matrix without a centre, which no distribution of mass has',
                owner=Owner("Moments"),
                remedy="describe it by a body or a point mass with offset",
            )
    directors = int(system.nodes.rotational.sum()) * dim
    entries, inner = [], []
    n_inner = 0
    for block in linear.own_elements():
        if not block.type.inertia:
            continue
        if block.type.name in solid_condensed.TYPES:
            entries.append(_with_inside(block, nodes + directors + n_inner))
            inner.append(_inside_rows(block, n_inner))
            n_inner += block.size
        elif block.type.name in solid_mass.TYPES:
            entries.append((block.nodes, solid_mass.masses_of(block.par, block.type.ends)))
        else:
            entries.append(_with_directors(system, block, nodes))
    size = nodes + directors + n_inner
    one = np.zeros(size)
    one[:nodes] = 1.0
    place = np.zeros((size, dim))
    Q, D = linear.state.Q[0], linear.state.D[0]
    place[:nodes] = Q[system.offset[:nodes][:, None] + np.arange(dim)]
    place[nodes : nodes + directors] = directors_of(D[: directors // dim]).reshape(-1, dim)
    shift = _shift(system, place[nodes : nodes + directors], size, inner, nodes + directors)
    return InertiaCoordinates(_assembled(entries, size), shift, one, place)


def _assembled(entries: list[tuple[np.ndarray, np.ndarray]], size: int) -> csr_matrix:
    """Return the sum of matrices (e, k, k) at their places (e, k); places -1 count nothing."""
    rows, columns, values = [], [], []
    for at, M in entries:
        k = at.shape[1]
        r, c = np.repeat(at, k, axis=1).ravel(), np.tile(at, (1, k)).ravel()
        kept = (r >= 0) & (c >= 0) & (M.ravel() != 0.0)
        rows.append(r[kept])
        columns.append(c[kept])
        values.append(M.ravel()[kept])
    if not rows:
        return csr_matrix((size, size))
    shape = (size, size)
    return coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape).tocsr()


def directors_of(D: np.ndarray) -> np.ndarray:
    """Return directors (n_r, dim, dim), (node, which, component), of rows of the contract's director arrays."""
    if D.shape[1] == 9:
        return np.swapaxes(D.reshape(-1, 3, 3), 1, 2)
    c, s = D[:, 0], D[:, 1]
    return np.moveaxis(np.array([[c, s], [-s, c]]), -1, 0)


def _director_places(system: Compiled, node: np.ndarray, nodes: int) -> np.ndarray:
    """Return places (e, dim) of the directors of nodes (e,); -1 where a node has none (or is the ground)."""
    row = np.cumsum(system.nodes.rotational) - 1
    there = (node >= 0) & system.nodes.rotational[node]
    first = np.where(there, nodes + system.dimension * row[node], -1)
    return np.where(there[:, None], first[:, None] + np.arange(system.dimension), -1)


def _with_directors(system: Compiled, block: Block, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return places (e, k) and masses (e, k, k) of beams, bodies and points."""
    ends, M, axes = constant_mass(block)
    place = [
        np.column_stack((np.where(ends[:, a] >= 0, ends[:, a], -1), _director_places(system, ends[:, a], nodes)))
        for a in range(2)
    ]
    if system.dimension == 3:
        return np.concatenate(place, axis=1), M
    # the director of a beam is ex d1 + ey d2 of its node
    B = np.zeros((len(M), 4, 6))
    for a in range(2):
        B[:, 2 * a, 3 * a] = 1.0
        B[:, 2 * a + 1, 3 * a + 1 : 3 * a + 3] = axes
    M = np.einsum("eia,eij,ejb->eab", B, M, B)
    if "inertia" in block.type.parameters:
        half = 0.5 * block.par[:, block.type.column("inertia")]  # d1'.d1' = d2'.d2' = w^2
        M[:, 1, 1] += half
        M[:, 2, 2] += half
    return np.concatenate(place, axis=1), M


def _with_inside(block: Block, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return places (e, 9) and masses (e, 9, 9) of hexahedra with the mean motion of their inside."""
    masses = solid_mass.masses_of(block.par[:, : solid_condensed.INSIDE], block.type.ends)
    k = block.type.ends
    M = np.zeros((block.size, k + 1, k + 1))
    M[:, :k, :k] = masses
    M[:, k, :k] = M[:, :k, k] = masses.sum(axis=2)
    M[:, k, k] = masses.sum(axis=(1, 2))
    return np.column_stack((block.nodes, first + np.arange(block.size))), M


def _inside_rows(block: Block, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inner points (e,), dofs (e, 24) and Z (e, 3, 24) of z = Z u."""
    Z = block.par[:, solid_condensed.INSIDE : solid_condensed.SPRING].reshape(block.size, 3, -1)
    return first + np.arange(block.size), block.dof, Z


def _shift(system: Compiled, directors: np.ndarray, size: int, inner: list, first_inner: int) -> csr_matrix:
    """Return dy = shift @ u; see `InertiaCoordinates`."""
    dim, nodes = system.dimension, system.nodes.x.shape[0]
    rows, columns, values = [], [], []

    def add(a: int, at, dof, value) -> None:
        rows.append(np.broadcast_to(a * size + at, np.shape(dof)).ravel())
        columns.append(np.ravel(dof))
        values.append(np.broadcast_to(value, np.shape(dof)).ravel())

    for a in range(dim):
        add(a, np.arange(nodes), system.offset[:nodes] + a, 1.0)
    turn = system.offset[np.flatnonzero(system.nodes.rotational)] + dim
    turn = np.repeat(turn, dim)  # each director's
    at = nodes + np.arange(len(directors))
    if dim == 2:
        add(0, at, turn, -directors[:, 1])
        add(1, at, turn, directors[:, 0])
    else:
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3  # (theta x d)_a = theta_b d_c - theta_c d_b
            add(a, at, turn + b, directors[:, c])
            add(a, at, turn + c, -directors[:, b])
    for points, dof, Z in inner:
        for a in range(dim):
            add(a, (first_inner + points)[:, None], dof, Z[:, a])
    return coo_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(dim * size, system.n_dof)
    ).tocsr()
