"""Stiffness, inertia and stresses of any cross-section by plane finite elements.

The section lies in the plane (y, z) of a prismatic body along x; its material may be anisotropic and differ from cell
to cell.  Displacements are those of the section as a whole plus a warping u(y, z) with three components.  With forces
theta = (N, Vy, Vz, T, My, Mz) whose moments are in balance with the shear forces (Mz' = -Vy, My' = Vz), the strains of
a long body are linear along x: St. Venant's solutions (Giavotto, Borri, Mantegazza, Ghiringhelli, Carmaschi, Maffioli &
Mussi 1983, doi:10.1016/0045-7949(83)90179-7; Blasques, User's manual for BECAS, 2012).  With the strains

    eps = B u + S u' + S Z psi,    psi = (axial strain, shear y, shear z, twist rate, curvature y, curvature z),

E = int B^T Q B, C = int B^T Q S, R = int B^T Q S Z, L = int S^T Q S Z, A = int (S Z)^T Q S Z, two systems follow:

    [E R; R^T A] (u', psi') = (0, theta'),    [E R; R^T A] (u, psi) = ((C^T - C) u' + L psi', theta - L^T u').

The energy of the six solutions is the flexibility of the section.  It holds St. Venant's torsion constant, the shear
centre and the shear stiffness with the effect of Poisson's ratio.  The shear coefficient is that of the energy (Renton
1991; Pilkey 2002, chapter 6), not Cowper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from fem_mbs.elements.solids.shapes import exact_rule, gradients, shape_functions
from fem_mbs.late import dataclass
from fem_mbs.solvers.linear.service import factor

__all__ = ["PlaneSection", "SectionCells"]

#: Strains (xx, xy, xz, yy, zz, yz) of this module in the order (xx, yy, zz, xy, yz, zx) of materials.
_ORDER = np.array([0, 3, 5, 1, 2, 4])
#: theta' = _GROWTH theta: Mz' = -Vy, My' = Vz.
_GROWTH = np.zeros((6, 6))
_GROWTH[4, 2], _GROWTH[5, 1] = 1.0, -1.0


@dataclass(frozen=True, eq=False)
class SectionCells:
    """Cells of one kind: "triangle6" or "quad8", their nodes (e, n), materials (e, 6, 6) [Pa] over (xx, yy, zz, xy, yz,
    zx) in the axes x, y, z, and densities (e,) [kg/m^3]."""

    kind: str
    nodes: np.ndarray
    stiffness: np.ndarray
    density: np.ndarray


class PlaneSection:
    """The six solutions of a section.

    Args:
        points: (n, 2) y and z of the nodes from the beam's line [m].
        cells: all of the section, in one piece.

    Attributes:
        flexibility: (6, 6) over the forces of the line.
        area [m^2]; mass [kg/m]; mass_centre (2,) [m]; second (2, 2) int rho r r^T dA about the mass centre [kg m].
    """

    def __init__(self, points: np.ndarray, cells: Sequence[SectionCells]):
        self.points, self.cells = np.asarray(points, float), list(cells)
        self._parts = [_Assembled(c, self.points) for c in self.cells]
        self._integrals()
        self._solve()

    def _integrals(self) -> None:
        weights = [(p.weight, p.at, np.repeat(c.density[:, None], p.weight.shape[1], axis=1))
                   for p, c in zip(self._parts, self.cells, strict=True)]  # fmt: skip
        w = np.concatenate([a.ravel() for a, _, _ in weights])
        r = np.concatenate([b.reshape(-1, 2) for _, b, _ in weights])
        rho = np.concatenate([c.ravel() for _, _, c in weights])
        self.area = float(w.sum())
        self.area_centre = w @ r / self.area
        self.mass = float(w @ rho)
        self.mass_centre = (w * rho) @ r / self.mass if self.mass else np.array(self.area_centre)
        arm = r - self.mass_centre
        self.second = np.einsum("k,ki,kj->ij", w * rho, arm, arm)

    def _solve(self) -> None:
        n = len(self.points)
        E, C = csr_matrix((3 * n, 3 * n)), csr_matrix((3 * n, 3 * n))
        R, L, A = np.zeros((3 * n, 6)), np.zeros((3 * n, 6)), np.zeros((6, 6))
        M = csr_matrix((3 * n, 3 * n))
        for part in self._parts:
            E, C, M = E + part.matrix("E", n), C + part.matrix("C", n), M + part.matrix("M", n)
            R += part.column("R", n)
            L += part.column("L", n)
            A += part.own["A"].sum(axis=0)
        # u is known up to motions without strain, which one node and the turn about it hold; motions ux = y, z are the
        # same as shear strains of psi, which are left at zero with their two equations
        keep, used = self._held(), np.array([0, 3, 4, 5])
        factors = factor(csc_matrix(E[keep][:, keep]))
        bound = np.zeros((3 * n, 4))
        bound[keep] = factors.solve(R[keep][:, used])
        schur = A[np.ix_(used, used)] - R[:, used].T @ bound

        def solved(force: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            u, psi = np.zeros((3 * n, 6)), np.zeros((6, 6))
            u[keep] = factors.solve(force[keep])
            psi[used] = np.linalg.solve(schur, theta[used] - R[:, used].T @ u)
            return u - bound @ psi[used], psi

        rate, psi_rate = solved(np.zeros((3 * n, 6)), _GROWTH)
        u, psi = solved((C.T - C) @ rate + L @ psi_rate, np.eye(6) - L.T @ rate)
        self.warping, self.warping_rate, self.strains = u, rate, psi
        energy = u.T @ (E @ u) + rate.T @ (M @ rate) + psi.T @ A @ psi
        mixed = u.T @ (C @ rate) + u.T @ (R @ psi) + rate.T @ (L @ psi)
        F = energy + mixed + mixed.T
        self.flexibility = 0.5 * (F + F.T)

    def _held(self) -> np.ndarray:
        """Return the unknowns (3 n - 4,) that remain when no part of the warping is a motion without strain."""
        arm = self.points - self.points[0]
        far = int(np.linalg.norm(arm, axis=1).argmax())
        across = 3 * far + (2 if abs(arm[far, 0]) > abs(arm[far, 1]) else 1)
        return np.setdiff1d(np.arange(3 * len(self.points)), [0, 1, 2, across])

    @cached_property
    def stiffness(self) -> np.ndarray:
        """Return the stiffness (6, 6) over the strains of the line."""
        C = np.linalg.inv(self.flexibility)
        return 0.5 * (C + C.T)

    # --- points of a section -----------------------------------------------------------------------------------------
    @property
    def centroid(self) -> np.ndarray:
        """Return y and z where a pull does not bend, (2,) [m]."""
        F = self.flexibility
        # curvatures by N at the line, taken back by N's moments My = z N, Mz = -y N
        found = np.linalg.solve(F[4:, 4:], -F[4:, 0])
        return np.array([-found[1], found[0]])

    @property
    def shear_centre(self) -> np.ndarray:
        """Return y and z where shear forces do not twist, (2,) [m]."""
        F = self.flexibility
        return np.array([-F[3, 2] / F[3, 3], F[3, 1] / F[3, 3]])

    @property
    def warping_stiffness(self) -> float:
        """Return int E omega^2 dA, Vlasov's warping stiffness about the shear centre [N m^4], E along x."""
        rate = self.strains[3, 3]
        omega = self.warping[0::3, 3] / rate
        y, z = self.points.T
        total = np.zeros((4, 4))
        for part, own in zip(self._parts, self.cells, strict=True):
            columns = np.column_stack((omega, np.ones_like(y), y, z))[own.nodes]
            at = np.einsum("qn,enk->eqk", part.shape, columns)
            modulus = 1.0 / np.linalg.inv(own.stiffness)[:, 0, 0]
            total += np.einsum("eq,e,eqi,eqj->ij", part.weight, modulus, at, at)
        # the part of omega across (1, y, z): about the shear centre, without axial force and bending
        return float(total[0, 0] - total[0, 1:] @ np.linalg.solve(total[1:, 1:], total[1:, 0]))

    # --- stresses ----------------------------------------------------------------------------------------------------
    def stresses(self, points: np.ndarray) -> np.ndarray:
        """Return stresses (k, 6, 6), components (xx, yy, zz, xy, yz, zx) per unit of each force, at points (k, 2).

        A point on the border of cells has the mean of theirs.

        Raises:
            ValueError: a point lies outside of the section.
        """
        total, count = np.zeros((len(points), 6, 6)), np.zeros(len(points))
        for part, own in zip(self._parts, self.cells, strict=True):
            X = self.points[own.nodes]
            low, high = X.min(axis=1), X.max(axis=1)
            slack = 1e-6 * np.ptp(self.points, axis=0).max()
            for k, point in enumerate(points):
                near = np.flatnonzero(((point >= low - slack) & (point <= high + slack)).all(axis=1))
                for e in near:
                    local = _local(own.kind, X[e], point)
                    if local is None:
                        continue
                    total[k] += part.stress_at(int(e), local, self.warping, self.warping_rate, self.strains)
                    count[k] += 1.0
        if (count == 0.0).any():
            raise ValueError(f"point {points[int(np.flatnonzero(count == 0.0)[0])].tolist()} is outside of the section")
        return total / count[:, None, None]


def _local(kind: str, X: np.ndarray, point: np.ndarray) -> np.ndarray | None:
    """Return the local coordinates of a point in a cell with nodes X (n, 2); None outside."""
    triangle = kind == "triangle6"
    local = np.full((1, 2), 1.0 / 3.0) if triangle else np.zeros((1, 2))
    for _ in range(25):
        gap = point - (shape_functions(kind, local) @ X)[0]
        step = np.linalg.solve(X.T @ gradients(kind, local)[0].T, gap)
        local = local + step
        if np.abs(step).max() < 1e-12:
            break
    r, s = local[0]
    e = 1e-6
    inside = (r >= -e and s >= -e and r + s <= 1.0 + e) if triangle else max(abs(r), abs(s)) <= 1.0 + e
    return local if inside else None


class _Assembled:
    """Element matrices of cells of one kind, over local unknowns node by node (ux, uy, uz)."""

    def __init__(self, cells: SectionCells, points: np.ndarray):
        self.cells, self.points = cells, points
        self.Q = cells.stiffness[:, _ORDER[:, None], _ORDER]
        at, w = exact_rule(cells.kind)
        X = points[cells.nodes]
        self.shape = shape_functions(cells.kind, at)
        B, SN, SZ, det = self._operators(X, at, slice(None))
        self.weight = w * det
        self.at = np.einsum("qn,eni->eqi", self.shape, X)
        Qw = self.Q[:, None] * self.weight[..., None, None]
        QB, QS, QZ = Qw @ B, Qw @ SN, Qw @ SZ
        Bt, St, Zt = (a.swapaxes(-1, -2) for a in (B, SN, SZ))
        self.own = {
            "E": (Bt @ QB).sum(axis=1), "C": (Bt @ QS).sum(axis=1), "M": (St @ QS).sum(axis=1),
            "R": (Bt @ QZ).sum(axis=1), "L": (St @ QZ).sum(axis=1), "A": (Zt @ QZ).sum(axis=1),
        }  # fmt: skip
        self.dofs = (3 * cells.nodes[..., None] + np.arange(3)).reshape(len(cells.nodes), -1)

    def _operators(self, X: np.ndarray, at: np.ndarray, which) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return B, S N (e, q, 6, 3 n), S Z (e, q, 6, 6) and the determinants (e, q) at local points (q, 2)."""
        N, dN = shape_functions(self.cells.kind, at), gradients(self.cells.kind, at)
        J = np.einsum("eni,qkn->eqik", X, dN)
        slope = np.linalg.inv(J).swapaxes(-1, -2) @ dN  # (e, q, 2, n)
        e, q, n = len(X), len(at), X.shape[1]
        B, SN, SZ = np.zeros((e, q, 6, n, 3)), np.zeros((e, q, 6, n, 3)), np.zeros((e, q, 6, 6))
        by_y, by_z = slope[:, :, 0], slope[:, :, 1]
        B[:, :, 1, :, 0], B[:, :, 2, :, 0] = by_y, by_z
        B[:, :, 3, :, 1], B[:, :, 4, :, 2] = by_y, by_z
        B[:, :, 5, :, 1], B[:, :, 5, :, 2] = by_z, by_y
        for k in range(3):
            SN[:, :, k, :, k] = N
        y, z = np.moveaxis(np.einsum("qn,eni->eqi", N, X), -1, 0)
        SZ[:, :, 0, 0] = SZ[:, :, 1, 1] = SZ[:, :, 2, 2] = 1.0
        SZ[:, :, 0, 4], SZ[:, :, 0, 5] = z, -y
        SZ[:, :, 1, 3], SZ[:, :, 2, 3] = -z, y
        return B.reshape(e, q, 6, -1), SN.reshape(e, q, 6, -1), SZ, np.linalg.det(J)

    def matrix(self, name: str, n: int) -> csr_matrix:
        """Return the sum of element matrices (3 n, 3 n)."""
        values, k = self.own[name], self.dofs.shape[1]
        rows = np.repeat(self.dofs, k, axis=1).ravel()
        return csr_matrix((values.ravel(), (rows, np.tile(self.dofs, k).ravel())), shape=(3 * n, 3 * n))

    def column(self, name: str, n: int) -> np.ndarray:
        """Return the sum (3 n, 6) of element columns."""
        out = np.zeros((3 * n, 6))
        np.add.at(out, self.dofs.ravel(), self.own[name].reshape(-1, 6))
        return out

    def stress_at(self, e: int, local: np.ndarray, u: np.ndarray, rate: np.ndarray, psi: np.ndarray) -> np.ndarray:
        """Return stresses (6, 6) over (xx, yy, zz, xy, yz, zx) per unit of each force at a local point of a cell."""
        X = self.points[self.cells.nodes[e]][None]
        B, SN, SZ, _ = self._operators(X, local, None)
        dofs = self.dofs[e]
        strain = B[0, 0] @ u[dofs] + SN[0, 0] @ rate[dofs] + SZ[0, 0] @ psi
        out = np.empty((6, 6))
        out[_ORDER] = self.Q[e] @ strain
        return out
