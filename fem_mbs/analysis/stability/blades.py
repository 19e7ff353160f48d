"""Multi-blade (Coleman) coordinates of a rotor of N >= 3 equal blades.

Blade b stands at the azimuth psi_b = psi + 2 pi b/N.  Its displacements q_b, seen from axes that turn with it, are

    q_b = a_0 + sum_n (a_n cos n psi_b + b_n sin n psi_b) + (-1)^b a_N/2,   n < N/2,

the last one for even N.  With u = R(psi_b) q_b of every blade, u = T(psi) z, and T' = T D with a constant D:
increments u = W(psi) xi, W = T(psi) T(0)^-1 = exp(psi P), have the same form as those of a rotating frame.  What stands
on the axis and what does not turn keep the axes of space.  Where all blades are equal the coefficients of xi are
constant, also on anisotropic supports (Coleman & Feingold 1958, NACA report 1351; Johnson, Helicopter Theory, 1980,
chapter 8).

Theory: docs/theory.md, section 10, "Multi-blade coordinates".
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, identity
from scipy.sparse.csgraph import connected_components

from fem_mbs.analysis.stability.rotation import Rotation, transport
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled

__all__ = ["Blades", "find_blades"]

_NEAR = 1e-6  # of the radius of the rotor: how far equal places may be apart
_MOST = 60  # blades that are looked for


@dataclass(frozen=True, eq=False)
class Blades:
    """Places that a turn by 2 pi/N takes to one another.

    Attributes:
        rotation: steady rotation of the rotor.
        count: N.
        nodes: (m, N) off the axis; each row goes round in the sense of positive speeds.
        scalars: (k, N) dofs of modal coordinates of reduced parts, likewise.
    """

    system: Compiled
    rotation: Rotation
    count: int
    nodes: np.ndarray
    scalars: np.ndarray

    @property
    def on(self) -> np.ndarray:
        """Return (n,) bool: which nodes are in multi-blade coordinates."""
        out = np.zeros(self.system.nodes.x.shape[0], bool)
        out[self.nodes] = True
        return out

    def transport(self) -> csr_matrix:
        """Return P (N, N): rates of displacements that rest in multi-blade coordinates."""
        gap = 2.0 * np.pi * np.arange(self.count) / self.count
        n = np.arange(1, (self.count - 1) // 2 + 1)
        rates = 2.0 / self.count * (n * np.sin(n * (gap[None, :, None] - gap[:, None, None]))).sum(axis=2)
        mixing = self._spread(self.rotation.speed * rates, 0.0)
        return csr_matrix(transport(self.system, self.rotation, self.on) + mixing)

    def turn_matrix(self, angle: float) -> csr_matrix:
        """Return W (N, N): increments after the rotor has turned by an angle [rad], of those that rest in multi-blade
        coordinates."""
        gap = 2.0 * np.pi * np.arange(self.count) / self.count
        n = np.arange(1, (self.count - 1) // 2 + 1)
        shares = 1.0 + 2.0 * np.cos(n * (angle + gap[:, None, None] - gap[None, :, None])).sum(axis=2)
        if self.count % 2 == 0:
            b = np.arange(self.count)
            shares += (-1.0) ** (b[:, None] - b)
        mixed = self._spread(shares / self.count, angle)
        rest = np.ones(self.system.n_dof)
        rest[self._dofs()] = 0.0
        keep = csr_matrix(identity(self.system.n_dof).multiply(rest[:, None]))
        return csr_matrix(keep + mixed)

    def waves(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return components of displacements X (N, k) over the blades: harmonics (N,) from -N/2 to N/2, their
        amplitudes (rows, N, k), and the dofs (rows, N) that each row stands for."""
        gap = 2.0 * np.pi * np.arange(self.count) / self.count
        order = np.arange(self.count) - (self.count - 1) // 2
        fourier = np.exp(-1j * order[:, None] * gap) / self.count  # (harmonic, blade)
        rows, places = [], []
        for place in self._vectors():
            back = self._turn(-gap, place.shape[2])  # (N, d, d)
            own = np.einsum("bij,mbjk->mbik", back, X[place])
            rows.append(np.einsum("hb,mbik->mihk", fourier, own).reshape(-1, self.count, X.shape[1]))
            places.append(place.transpose(0, 2, 1).reshape(-1, self.count))
        for dofs in self._numbers():
            rows.append(np.einsum("hb,mbk->mhk", fourier, X[dofs]))
            places.append(dofs)
        return order, np.concatenate(rows), np.concatenate(places)

    def _vectors(self) -> list[np.ndarray]:
        """Return dofs (m, N, d) of displacements, and of rotation vectors in space, with d components."""
        system, dim = self.system, self.system.dimension
        first = system.offset[self.nodes]
        found = [first[:, :, None] + np.arange(dim)]
        if dim == 3:
            turning = system.nodes.rotational[self.nodes].all(axis=1)
            found.append(first[turning][:, :, None] + 3 + np.arange(3))
        return found

    def _numbers(self) -> list[np.ndarray]:
        """Return dofs (m, N) without direction: angles in the plane, and modal coordinates."""
        system = self.system
        found = [self.scalars] if self.scalars.size else []
        if system.dimension == 2:
            turning = system.nodes.rotational[self.nodes].all(axis=1)
            found.append(system.offset[self.nodes[turning]] + 2)
        return found

    def _dofs(self) -> np.ndarray:
        return np.concatenate([a.ravel() for a in (*self._vectors(), *self._numbers())])

    def _turn(self, angles: np.ndarray, size: int) -> np.ndarray:
        """Return rotation matrices (..., size, size) about the axis."""
        c, s = np.cos(angles)[..., None, None], np.sin(angles)[..., None, None]
        if size == 2:
            return c * np.eye(2) + s * np.array([[0.0, -1.0], [1.0, 0.0]])
        x, y, z = self.rotation.axis
        P = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.eye(3) + s * P + (1.0 - c) * (P @ P)

    def _spread(self, shares: np.ndarray, angle: float) -> csr_matrix:
        """Return a matrix (N, N) with shares (N, N) between blades, each turned by ``angle`` plus the angle from blade
        to blade."""
        gap = 2.0 * np.pi * np.arange(self.count) / self.count
        size = self.system.n_dof
        rows, columns, values = [], [], []
        for place in self._vectors():
            m, N, d = place.shape
            R = shares[:, :, None, None] * self._turn(angle + gap[:, None] - gap, d)
            shape = (m, N, N, d, d)
            rows.append(np.broadcast_to(place[:, :, None, :, None], shape).ravel())
            columns.append(np.broadcast_to(place[:, None, :, None, :], shape).ravel())
            values.append(np.broadcast_to(R, shape).ravel())
        for dofs in self._numbers():
            shape = (*dofs.shape, self.count)
            rows.append(np.broadcast_to(dofs[:, :, None], shape).ravel())
            columns.append(np.broadcast_to(dofs[:, None, :], shape).ravel())
            values.append(np.broadcast_to(shares, shape).ravel())
        found = coo_matrix(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(size, size)
        ).tocsr()
        found.eliminate_zeros()
        return found


def find_blades(system: Compiled, rotation: Rotation, state: S.State) -> Blades | None:
    """Return the blades of a rotor: the largest N >= 3 for which a turn by 2 pi/N takes its nodes off the axis to one
    another.  None: there is no such N, or nothing is off the axis.

    Nodes at one place are taken in the order in which they were made.

    Raises:
        ModelError: the rotor says how many blades it has, and that turn does not take them to one another.
    """
    from scipy.spatial import cKDTree

    dim = system.dimension
    some = np.flatnonzero(rotation.nodes)
    place = system.offset[some][:, None] + np.arange(dim)
    x = np.zeros((some.size, 3))
    x[:, :dim] = state.Q[0, place] - rotation.point
    axis = rotation.axis
    radius = np.linalg.norm(x - (x @ axis)[:, None] * axis, axis=1)
    near = _NEAR * radius.max(initial=0.0)
    off = radius > near
    given = rotation.blades
    if not off.any():
        if given is not None:
            raise ModelError(
                f"blades = {given}, but all nodes that turn are on the axis", owner=rotation.owner, key="blades",
                value=given, remedy="remove blades, or name the blades in on",
            )  # fmt: skip
        return None
    some, x = some[off], x[off]
    tree = cKDTree(x)
    pairs = tree.query_pairs(near, output_type="ndarray")
    link = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(some.size,) * 2)
    places, label = connected_components(link, directed=False)
    sizes = np.bincount(label)
    # members of each place: those with rotations first, then as they were made
    order = np.lexsort((some, ~system.nodes.rotational[some], label))
    rank = np.empty(some.size, int)
    rank[order] = np.arange(some.size) - np.repeat(np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    by_place = np.full((places, sizes.max()), -1)
    by_place[label, rank] = some
    count_at = [given] if given is not None else [N for N in range(min(_MOST, places), 2, -1) if places % N == 0]
    for N in count_at:
        turned = x @ _about(axis, 2.0 * np.pi / N).T
        distance, there = tree.query(turned)
        rotational = system.nodes.rotational
        alike = (distance <= near) & (sizes[label] == sizes[label[there]])
        if alike.all():
            mapping = np.empty(places, int)
            mapping[label] = label[there]
            rows = _cycles(mapping, N)
            if rows is not None:
                nodes = by_place[rows].transpose(0, 2, 1).reshape(-1, N)
                nodes = nodes[nodes[:, 0] >= 0]
                if (rotational[nodes] == rotational[nodes[:, :1]]).all():
                    return Blades(system, rotation, N, nodes, _scalars(system, nodes))
        elif given is not None:
            worst = int(some[int(np.flatnonzero(~alike)[0])])
            raise ModelError(
                f'blades = {given}, but node "{system.nodes.names[worst]}" has no counterpart a {given}th of a turn '
                "further",
                owner=rotation.owner, key="blades", value=given,
                remedy='make the blades equal, or take frame = "periodic"',
            )  # fmt: skip
    return None


def _about(axis: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = axis
    P = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * P + (1.0 - np.cos(angle)) * (P @ P)


def _cycles(mapping: np.ndarray, count: int) -> np.ndarray | None:
    """Return cycles (m, count) of a permutation (n,), each once; None where some are shorter or longer."""
    if np.unique(mapping).size != mapping.size:
        return None
    rows = np.empty((mapping.size, count), int)
    at = np.arange(mapping.size)
    for b in range(count):
        rows[:, b] = at
        at = mapping[at]
    if (at != np.arange(mapping.size)).any():
        return None
    return rows[rows[:, 0] == rows.min(axis=1)]


def _scalars(system: Compiled, nodes: np.ndarray) -> np.ndarray:
    """Return dofs (k, N) of the modal coordinates of reduced parts whose frames are rows of nodes (m, N)."""
    own: dict[int, np.ndarray] = {}
    for block in system.blocks:
        t = block.type
        if t.scalars and t.inertia:
            dofs = block.dof[:, t.ends * t.end_dofs : t.node_dofs]
            own.update(zip(block.nodes[:, 0].tolist(), dofs, strict=True))
    rows = [[own.get(int(node)) for node in row] for row in nodes] if own else []
    found = []
    for row in rows:
        parts = [a for a in row if a is not None]
        if len(parts) == len(row) and len({a.size for a in parts}) == 1:
            found.append(np.column_stack(parts))
    return np.concatenate(found) if found else np.zeros((0, nodes.shape[1]), int)
