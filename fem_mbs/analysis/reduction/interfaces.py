"""Interfaces of a part to be reduced: their motions x replace some of the part's unknowns.

    q = S (x, z):  q the unknowns of a linearised model, z those of them that stay

- "node": x are the displacements and rotations of a node, unknowns already.
- "rigid" (RBE2): the nodes move with x as one rigid whole, q_F = R x; their unknowns are gone.
- "average" (RBE3): x is the weighted mean motion of the nodes, which keep their freedom,

      x = B q_F,   translation: sum w_i (u_i - theta x (x_i - x_P)),   theta = I_w^-1 sum w_i s_i x u_i

  with s_i the nodes about their mean; q_F = X x + Z z', where Z is a sparse orthonormal basis of what moves no mean
  (`fem_mbs.solvers.reduction.sparse_complement`).  That is exact, and the matrices stay sparse.

A node whose displacements depend on others (of a tie, of a coupling, of a reduced part) is treated like a mean:
x = T_i q.  Interfaces of nodes and means that depend on the same unknowns, as those of a reduced part in the part, are
one such set of means.

Theory: docs/theory.md, section 11, "Interfaces".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import block_diag, bmat, csc_matrix, csr_matrix, vstack
from scipy.sparse.csgraph import connected_components

from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.parts.part import COMPONENTS, Interface
from fem_mbs.solvers.distributed.matrix import DistributedMatrix
from fem_mbs.solvers.reduction.fixed_interface import inner
from fem_mbs.solvers.reduction.sparse_complement import sparse_complement

__all__ = ["KINDS", "Boundary", "make_boundary"]

KINDS = ("node", "rigid", "average")
_KEYS = ("on", "kind", "point", "components", "weights")
#: Singular values of interface motions, over the largest, below which a component moves nothing.
_LOST = 1e-9


@dataclass(frozen=True)
class Boundary:
    """Interfaces and q = S (x, z), z = (z_k, z_w): q[special] = X x + Z z_w, q[kept] = z_k.

    ``special`` (s,) and ``kept`` (n_k,): unknowns, ascending; ``X`` (s, b) and ``Z`` (s, n_w) sparse, Z^T Z = 1 and
    Z^T X = 0; ``center`` (b, dim) [m]: places of the interfaces of the components, ``component`` (b,) their numbers
    among translations and rotations.
    """

    interfaces: tuple[Interface, ...]
    special: np.ndarray
    kept: np.ndarray
    X: csr_matrix
    Z: csr_matrix
    center: np.ndarray
    component: np.ndarray

    @property
    def size(self) -> int:
        """Number b of components of all interfaces."""
        return self.X.shape[1]

    @property
    def inner(self) -> int:
        """Number n_z of unknowns z."""
        return self.kept.size + self.Z.shape[1]

    def split(self, A: Any) -> tuple[np.ndarray, csr_matrix, Any]:
        """Return parts (bb dense, zb, zz) of S^T A S, A (n_q, n_q) symmetric; of a distributed A only zz is."""
        if isinstance(A, DistributedMatrix):
            bb, zb, zz = self.split(A.spread())
            return A.ranks.sum(bb), DistributedMatrix(zb).gathered(), DistributedMatrix(zz)
        rows = A[self.special]
        A_ss, A_ks = rows[:, self.special], csr_matrix(rows[:, self.kept].T)
        A_sX = A_ss @ self.X
        bb = (self.X.T @ A_sX).toarray()
        zb, zz = A_ks @ self.X, inner(A, self.kept)
        if self.Z.shape[1]:
            side = A_ks @ self.Z
            zb = vstack((zb, self.Z.T @ A_sX))
            own = self.Z.T @ (A_ss @ self.Z)
            zz = bmat([[zz, side], [side.T, 0.5 * (own + own.T)]])
        return 0.5 * (bb + bb.T), csr_matrix(zb), csr_matrix(zz)

    def expand(self, T: np.ndarray) -> np.ndarray:
        """Return q (n_q, n) of (x, z) = T (b + n_z, n)."""
        q = np.empty((self.special.size + self.kept.size, T.shape[1]))
        middle = self.size + self.kept.size
        q[self.kept] = T[self.size : middle]
        q[self.special] = self.X @ T[: self.size] + self.Z @ T[middle:]
        return q

    def project(self, f: np.ndarray) -> np.ndarray:
        """Return S^T f (b + n_z, ...) of forces f (n_q, ...)."""
        own = f[self.special]
        return np.concatenate((self.X.T @ own, f[self.kept], self.Z.T @ own))

    def inside(self, q: np.ndarray) -> np.ndarray:
        """Return z (n_z, n) of q (n_q, n)."""
        return np.concatenate((q[self.kept], self.Z.T @ q[self.special]))

    def rigid_motions(self, origin: np.ndarray) -> np.ndarray:
        """Return x (b, 3 or 6) of unit translations and rotations through a point (dim,) of the whole part."""
        dim = self.center.shape[1]
        return motions(self.center - origin)[np.arange(self.size), self.component] if dim else np.zeros((0, 0))


def motions(r: np.ndarray) -> np.ndarray:
    """Return displacements and rotations (n, 3, 3) in the plane, (n, 6, 6) in space, of places r (n, dim) from the axes
    under unit translations and rotations (last index)."""
    n, dim = r.shape
    m = 3 if dim == 2 else 6
    R = np.tile(np.eye(m), (n, 1, 1))
    if dim == 2:
        R[:, 0, 2], R[:, 1, 2] = -r[:, 1], r[:, 0]
    else:
        for axis in range(3):
            R[:, :3, 3 + axis] = np.cross(np.eye(3)[axis], r)
    return R


@dataclass
class _Piece:
    """One interface and the ``unknowns`` (s,) of the part that it depends on.

    Of nodes and means x = ``means`` q with means (k, n_q).  Of nodes that are tied rigidly q[unknowns] = ``motions`` x
    with motions (s, k).  The other one of both is None.
    """

    interface: Interface
    numbers: list[int]
    unknowns: np.ndarray
    means: csr_matrix | None = None
    motions: np.ndarray | None = None

    @property
    def owner(self) -> Owner:
        """The interface in messages."""
        return Owner("Interface", self.interface.name)


def make_boundary(linear: Linearised, interfaces: Mapping[str, Any]) -> Boundary:
    """Return interfaces of a linearised model.

    Args:
        interfaces: name -> a place (one node, or many, which are tied rigidly), or a mapping with "on" (a place or a
            list of places), "kind" (of `KINDS`), "point" [m] (None: the mean of the nodes), "components" and
            "weights" (of averages, one per node).

    Raises:
        ModelError: naming the interface, what is wrong, and the remedy.
    """
    if not isinstance(interfaces, Mapping) or not interfaces:
        raise ModelError('interfaces must name at least one, such as {"left": "part:left"}', owner=Owner("Reduction"))
    pieces = [_piece(linear, name, spec) for name, spec in interfaces.items()]
    columns = np.cumsum([0, *(len(piece.numbers) for piece in pieces)])
    special, moved, rest = [], [], []
    for group in _groups(linear, pieces):
        unknowns, X, Z = _together(linear, [pieces[k] for k in group])
        special.append(unknowns)
        moved.append((X, np.concatenate([np.arange(columns[k], columns[k + 1]) for k in group])))
        rest.append(Z)
    order = np.argsort(np.concatenate(special))
    X = csr_matrix(block_diag([X for X, _ in moved], format="csr"))
    X = X[:, np.argsort(np.concatenate([own for _, own in moved]))]
    taken = np.concatenate(special)[order]
    dim = linear.system.dimension
    center = [np.tile(piece.interface.position, (len(piece.numbers), 1)) for piece in pieces]
    return Boundary(
        tuple(piece.interface for piece in pieces), taken,
        np.setdiff1d(np.arange(linear.elimination.free.size), taken), X[order],
        csr_matrix(block_diag(rest, format="csr"))[order], np.concatenate(center).reshape(-1, dim),
        np.concatenate([piece.numbers for piece in pieces]).astype(int),
    )  # fmt: skip


def _groups(linear: Linearised, pieces: list[_Piece]) -> list[list[int]]:
    """Return groups of pieces, as their numbers; pieces that have unknowns in common are in one group.

    Raises:
        ModelError: a set that is tied rigidly has unknowns in common with another interface.
    """
    sizes = [piece.unknowns.size for piece in pieces]
    of = np.repeat(np.arange(len(pieces)), sizes)
    unknowns = np.concatenate([piece.unknowns for piece in pieces])
    by = csr_matrix((np.ones(of.size), (of, unknowns)), (len(pieces), linear.elimination.free.size))
    count, labels = connected_components(by @ by.T, directed=False)
    groups = [np.flatnonzero(labels == k).tolist() for k in range(count)]
    for group in groups:
        stiff = next((k for k in group if pieces[k].means is None), None)
        if len(group) == 1 or stiff is None:
            continue
        other, shared = next(
            (k, common) for k in group
            if k != stiff and (common := np.intersect1d(pieces[k].unknowns, pieces[stiff].unknowns)).size
        )  # fmt: skip
        first, last = sorted((stiff, other))
        raise ModelError(
            f"it shares {linear.system.name_of(int(linear.elimination.free[shared[0]]))} with interface "
            f'"{pieces[first].interface.name}"',
            owner=pieces[last].owner,
            remedy='leave it out of one of them, or take kind = "average"',
        )
    return groups


def _together(linear: Linearised, pieces: list[_Piece]) -> tuple[np.ndarray, csr_matrix, csr_matrix]:
    """Return q[special] = X x + Z z of pieces that depend on the same unknowns.

    Raises:
        ModelError: the motion of one follows from those before.
    """
    if pieces[0].motions is not None:
        (piece,) = pieces
        return piece.unknowns, csr_matrix(piece.motions), csr_matrix((piece.unknowns.size, 0))
    columns = np.unique(np.concatenate([piece.unknowns for piece in pieces]))
    dense = vstack([piece.means for piece in pieces], format="csr")[:, columns].toarray()
    known = COMPONENTS[linear.system.dimension]
    begin = len(pieces[0].numbers)  # whose rank is checked
    for k, piece in enumerate(pieces[1:], 1):
        end = begin + len(piece.numbers)
        lost = _lost(dense[:end])[begin:]
        if lost.any():
            names = ", ".join(f'"{before.interface.name}"' for before in pieces[:k])
            raise ModelError(
                f'its "{known[piece.numbers[int(lost.argmax())]]}" follows from the motions of {names}, by nodes or '
                "constraints that they share",
                owner=piece.owner,
                remedy="leave it out, or name fewer components",
            )
        begin = end
    if (np.count_nonzero(dense, axis=1) == 1).all() and columns.size == dense.shape[0]:
        at = np.abs(dense).argmax(axis=1)
        X = csr_matrix(np.diag(1.0 / dense[np.arange(at.size), at]))
        return columns[at], X, csr_matrix((at.size, 0))
    system = linear.system
    node = np.searchsorted(system.offset, linear.elimination.free[columns], side="right") - 1
    places = linear.state.Q[0][system.offset[node][:, None] + np.arange(system.dimension)]
    X, Z = sparse_complement(dense, places)
    return columns, csr_matrix(X), Z


def _piece(linear: Linearised, name: str, spec: Any) -> _Piece:
    owner = Owner("Interface", name)
    model, system = linear.compiled.model, linear.system
    given = dict(spec) if isinstance(spec, Mapping) else {"on": spec}
    unknown = [key for key in given if key not in _KEYS]
    if unknown or "on" not in given:
        what = f"unknown key {shown(unknown[0])}; it has" if unknown else "it needs a place, on = ...; its keys are"
        raise ModelError(f"{what} {', '.join(_KEYS)}", owner=owner)
    on = given["on"]
    found = np.asarray(model.nodes_of(on, owner, frames=False))
    if not found.size:
        raise ModelError(f"{shown(on)} has no nodes", owner=owner)
    nodes, place = np.unique(found, return_inverse=True)
    kind = given.get("kind") or ("node" if nodes.size == 1 else "rigid")
    if kind not in KINDS:
        raise ModelError(f"kind = {shown(kind)} must be one of {', '.join(KINDS)}", owner=owner, key="kind", value=kind)
    if kind == "node" and nodes.size > 1:
        raise ModelError(f"it has {nodes.size} nodes", owner=owner, remedy='tie them by kind = "rigid" or "average"')
    if kind != "node" and nodes.size == 1:
        raise ModelError("it has one node, which is no set to tie", owner=owner, remedy='take kind = "node"')
    weights = _weights(owner, given.get("weights"), kind, found.size, place.ravel())
    known = COMPONENTS[system.dimension]
    components = given.get("components")
    if components is not None:
        components = [components] if isinstance(components, str) else list(components)
        for c in components:
            if c not in known:
                raise ModelError(f"component {shown(c)} must be one of {', '.join(known)}", owner=owner)
        components = [c for c in known if c in components]
        if not components:
            raise ModelError(
                "components = [] joins nothing", owner=owner, remedy="name some, or remove the key for all"
            )
        if kind == "rigid" and len(components) < len(known):
            raise ModelError(
                "nodes that are tied rigidly have all components", owner=owner, remedy='take kind = "average"'
            )
    x = linear.state.Q[0][system.offset[nodes][:, None] + np.arange(system.dimension)]
    point = given.get("point")
    if point is None:
        point = weights @ x
    elif kind == "node":
        raise ModelError("a node stands where it is", owner=owner, remedy="remove point")
    else:
        point = np.asarray(model.building.vector(point, owner, "point"))
    place = np.asarray(point, float)
    if kind == "rigid":
        unknowns, R = _of_rigid(linear, owner, nodes, x - point)
        return _Piece(Interface(name, place, tuple(known), nodes, kind), [*range(len(known))], unknowns, motions=R)
    if kind == "node":
        numbers, G = _of_node(linear, owner, int(nodes[0]), components)
    else:
        numbers = [known.index(c) for c in components or known]
        G = _of_average(linear, owner, nodes, weights, x - point, numbers)
    G.sum_duplicates()
    G.eliminate_zeros()
    unknowns = np.unique(G.indices).astype(np.int64)
    _check_rank(owner, G[:, unknowns].toarray(), [known[k] for k in numbers])
    return _Piece(Interface(name, place, tuple(known[k] for k in numbers), nodes, kind), numbers, unknowns, G)


def _weights(owner: str, given, kind: str, n: int, place: np.ndarray) -> np.ndarray:
    """Return (nodes,), of sum one."""
    if given is None:
        w = np.ones(place.max() + 1)
    else:
        if kind != "average":
            raise ModelError('weights belong to kind = "average"', owner=owner, remedy="remove them")
        w = np.asarray(given, float)
        if w.shape != (n,) or not np.isfinite(w).all():
            raise ModelError(f"weights must be {n} numbers, one per node", owner=owner)
        w = np.bincount(place, weights=w)
    if not w.sum() > 0.0:
        raise ModelError(f"the sum of the weights must be positive, not {w.sum():g}", owner=owner)
    return w / w.sum()


def _dofs(linear: Linearised, node: int) -> np.ndarray:
    """Return dofs of a node: displacements, then rotations if it has any."""
    system = linear.system
    count = system.dimension + (system.rotation_dofs if system.nodes.rotational[node] else 0)
    return system.offset[node] + np.arange(count)


def _of_node(linear: Linearised, owner: str, node: int, components):
    system, known = linear.system, COMPONENTS[linear.system.dimension]
    dofs = _dofs(linear, node)
    name = system.nodes.names[node]
    wanted = [known.index(c) for c in components] if components else list(range(dofs.size))
    if max(wanted) >= dofs.size:
        raise ModelError(
            f'node "{name}" has no rotation',
            owner=owner,
            remedy='leave it out, or tie several nodes by kind = "rigid" or "average"',
        )
    free = linear.elimination.T[dofs].getnnz(axis=1) > 0
    numbers = [k for k in wanted if free[k]]
    if not numbers or (components and len(numbers) < len(wanted)):
        held = next(k for k in wanted if not free[k])
        raise ModelError(
            f'"{known[held]}" of node "{name}" is held by a support', owner=owner, remedy="leave it out, or remove that"
        )
    return numbers, csr_matrix(linear.elimination.T[dofs[numbers]])


def _of_rigid(linear: Linearised, owner: str, nodes: np.ndarray, r: np.ndarray):
    """Return unknowns (s,) of nodes that follow x, and how, (s, b)."""
    system, dim = linear.system, linear.system.dimension
    m = 3 if dim == 2 else 6
    turning = system.nodes.rotational[nodes]
    present = np.ones((nodes.size, m), bool)
    present[~turning, dim:] = False
    R = motions(r)[present]
    T = csr_matrix(linear.elimination.T[(system.offset[nodes][:, None] + np.arange(m))[present]])
    counts = np.diff(T.indptr)
    if (counts != 1).any():
        bad = (system.offset[nodes][:, None] + np.arange(m))[present][int(np.flatnonzero(counts != 1)[0])]
        held = counts.min() == 0
        what = "is held by a support or motion" if held else "depends on others by a constraint"
        raise ModelError(
            f"{system.name_of(int(bad))} {what}, so that the nodes cannot move as a rigid whole",
            owner=owner,
            remedy='leave that node out, remove that (release = True takes supports away), or take kind = "average"',
        )
    columns, first, back = np.unique(T.indices, return_index=True, return_inverse=True)
    R = R / T.data[:, None]
    if np.abs(R - R[first][back]).max() > 1e-9 * np.abs(R).max():
        raise ModelError(
            "a joint makes nodes of it move alike that a rigid whole does not",
            owner=owner,
            remedy="leave one of them out",
        )
    _check_rank(owner, R[first].T, COMPONENTS[dim])
    return columns.astype(np.int64), R[first]


def _of_average(linear: Linearised, owner: str, nodes: np.ndarray, w: np.ndarray, r: np.ndarray, numbers: list[int]):
    system, dim = linear.system, linear.system.dimension
    mean = w @ r
    s = r - mean
    turns = 1 if dim == 2 else 3
    rows = np.zeros((dim + turns, nodes.size, dim))
    if dim == 2:
        moment = np.array([[w @ (s * s).sum(axis=1)]])
        arms = np.stack((-s[:, 1], s[:, 0]), axis=1)[None]
    else:
        moment = float(w @ (s * s).sum(axis=1)) * np.eye(3) - np.einsum("n,ni,nj->ij", w, s, s)
        arms = np.cross(np.eye(3)[:, None], s[None])
    values, axes = np.linalg.eigh(moment)
    good = values > _LOST * max(values[-1], float((r * r).sum(axis=1).max()) * 1e-6)
    lost = axes[:, ~good]
    bad = [k for k in numbers if k >= dim and np.abs(lost[k - dim]).max(initial=0.0) > 1e-6]
    if bad or (lost.size and np.abs(mean).max() > 1e-9 * np.abs(r).max()):
        rest = [COMPONENTS[dim][k] for k in numbers if k not in bad]
        raise ModelError(
            "its nodes stand in a line, which defines no rotation about it",
            owner=owner,
            remedy=f"name nodes beside it, or leave that rotation out (components = {rest}), at the mean of the nodes",
        )
    inverse = (axes[:, good] / values[good]) @ axes[:, good].T
    rows[dim:] = np.einsum("ij,n,jnk->ink", inverse, w, arms)
    # the reference moves with the mean, u_P = sum w_i u_i - theta x mean
    rows[:dim] = w[None, :, None] * np.eye(dim)[:, None, :]
    if dim == 2:
        rows[:dim] -= np.array([-mean[1], mean[0]])[:, None, None] * rows[dim]
    else:
        rows[:dim] -= np.einsum("jnk,ji->ink", rows[dim:], np.cross(np.eye(3), mean))
    rows = rows[numbers].reshape(len(numbers), -1)
    dofs = (system.offset[nodes][:, None] + np.arange(dim)).ravel()
    T = csr_matrix(linear.elimination.T[dofs])
    held = np.flatnonzero(T.getnnz(axis=1) == 0)
    if held.size == dofs.size:
        raise ModelError("all of its nodes are held by supports", owner=owner, remedy="it cannot move")
    return csr_matrix(rows @ csc_matrix(T))


def _lost(rows: np.ndarray) -> np.ndarray:
    """Return which rows depend linearly on others."""
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    lost = size[:, 0] <= _LOST * size.max(initial=0.0)
    if not lost.any():
        U, values, _ = np.linalg.svd(rows / size, full_matrices=False)
        # rows that take part in the null space; a single vector of a space of several would be arbitrary
        lost = np.linalg.norm(U[:, values <= _LOST * values[0]], axis=1) > 0.1
        lost |= rows.shape[0] > rows.shape[1]
    return lost


def _check_rank(owner: str, rows: np.ndarray, components) -> None:
    """Check that the components, a row each, are linearly independent."""
    lost = _lost(rows)
    if lost.any():
        raise ModelError(
            f'its nodes define no "{components[int(lost.argmax())]}" of its own: they stand in a line, or a '
            "constraint ties them",
            owner=owner,
            remedy='name more nodes, or fewer components (of kind = "average")',
        )
