"""Sections of thin straight walls, open, closed or with several cells, given by their middle lines.

Torsion and shear are problems along the middle line: the warping w(s) with the shear flow q = G t (w' + r kappa), r the
distance of the wall's line from the point about which the section turns (Vlasov; Megson, Aircraft structures).
Elements with cubic polynomials are exact for straight walls.  Flows in closed cells need no cuts: that w has one value
at a joint is Bredt's condition.  Open walls add sum G s t^3/3 to the torsional stiffness.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from fem_mbs.late import dataclass
from fem_mbs.properties.materials import Material

__all__ = ["SolvedWalls", "ThinWalls"]

#: Gauss points on (0, 1), and cubic shape functions with nodes at 0, 1/3, 2/3, 1 and their slopes there.
_AT, _WEIGHT = (a for a in np.polynomial.legendre.leggauss(5))
_AT, _WEIGHT = 0.5 * (_AT + 1.0), 0.5 * _WEIGHT
_NODES = np.array([0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0])
_POWERS = np.linalg.inv(_NODES[:, None] ** np.arange(4))


def _shape(s: np.ndarray) -> np.ndarray:
    return (s[:, None] ** np.arange(4)) @ _POWERS


def _slope(s: np.ndarray) -> np.ndarray:
    k = np.arange(1, 4)
    return (k * s[:, None] ** (k - 1)) @ _POWERS[1:]


@dataclass(frozen=True, eq=False)
class ThinWalls:
    """Straight walls: ends (n, 2, 2) [y, z], thickness (n,), number of their material among ``known`` (-1: the
    beam's)."""

    ends: np.ndarray
    thickness: np.ndarray
    which: np.ndarray
    known: list[Material]

    @property
    def needs_material(self) -> bool:
        """Return whether some walls take the beam's material."""
        return bool((self.which < 0).any())

    def moved(self, origin: np.ndarray, angle: float) -> ThinWalls:
        """Return the section with ``origin`` on the line, then turned about the line by an angle [rad]."""
        c, s = math.cos(angle), math.sin(angle)
        return ThinWalls((self.ends - origin) @ np.array([[c, s], [-s, c]]), self.thickness, self.which, self.known)

    def solve(self, material: Material | None) -> SolvedWalls:
        """Return the stiffnesses of the section; ``material`` is that of the beam."""
        known = [*self.known, *([] if material is None else [material])]
        E, G, rho = (np.array([getattr(m, key) for m in known])[self.which] for key in ("E", "G", "density"))
        return SolvedWalls(self, E, G, rho)

    @property
    def outline(self) -> np.ndarray:
        """Return points (k, 2) of the middle lines: ends, quarters and middles of the walls."""
        s = np.linspace(0.0, 1.0, 5)[:, None]
        return np.unique((self.ends[:, None, 0] * (1.0 - s) + self.ends[:, None, 1] * s).reshape(-1, 2), axis=0)


class SolvedWalls:
    """Stiffness, inertia and stresses of thin walls; attributes as `fem_mbs.properties.section_solver.PlaneSection`."""

    def __init__(self, walls: ThinWalls, E: np.ndarray, G: np.ndarray, rho: np.ndarray):
        self.walls, self.E, self.G = walls, E, G
        self.way = walls.ends[:, 1] - walls.ends[:, 0]
        self.length = np.linalg.norm(self.way, axis=1)
        self.tangent = self.way / self.length[:, None]
        self.t = walls.thickness
        # (n, g, 2) points, and weights of integrals over the area
        self.at = walls.ends[:, None, 0] + _AT[:, None] * self.way[:, None]
        self.weight = self.t[:, None] * self.length[:, None] * _WEIGHT
        self.r = walls.ends[:, 0, 0] * self.tangent[:, 1] - walls.ends[:, 0, 1] * self.tangent[:, 0]
        self._integrals(rho)
        self._flows()

    def _integrals(self, rho: np.ndarray) -> None:
        w, r = self.weight, self.at
        self.area = float(w.sum())
        self.area_centre = np.einsum("ng,ngi->i", w, r) / self.area
        mass = w * rho[:, None]
        self.mass = float(mass.sum())
        self.mass_centre = np.einsum("ng,ngi->i", mass, r) / self.mass if self.mass else np.array(self.area_centre)
        arm = r - self.mass_centre
        # a wall's own moment across its thickness, t^2/12 per area along its normal
        normal = np.stack((-self.tangent[:, 1], self.tangent[:, 0]), axis=-1)
        across = np.einsum("n,ni,nj->nij", self.t**2 / 12.0, normal, normal)
        self.second = np.einsum("ng,ngi,ngj->ij", mass, arm, arm) + np.einsum("ng,nij->ij", mass, across)
        z = np.stack((np.ones_like(r[..., 0]), r[..., 1], -r[..., 0]), axis=-1)  # strains of e, ky, kz
        self.axial = np.einsum("ng,n,ngi,ngj->ij", w, self.E, z, z)
        self.line = self.axial.copy()  # of the middle lines alone, with which flows are in balance
        bend = np.einsum("ng,n,nij->ij", w, self.E, across)
        self.axial[1, 1] += bend[1, 1]
        self.axial[2, 2] += bend[0, 0]
        self.axial[1, 2] -= bend[0, 1]
        self.axial[2, 1] -= bend[0, 1]

    def _flows(self) -> None:
        """Find the flows of unit shear forces and of a unit torque, and the flexibility."""
        n = len(self.t)
        size = float(np.ptp(self.walls.ends.reshape(-1, 2), axis=0).max())
        keys = np.round(self.walls.ends.reshape(-1, 2) / (1e-7 * size))
        _, joint = np.unique(keys, axis=0, return_inverse=True)
        joint = joint.reshape(n, 2)
        joints = int(joint.max()) + 1
        dof = np.column_stack((joint[:, 0], joints + 2 * np.arange(n), joints + 2 * np.arange(n) + 1, joint[:, 1]))
        total = joints + 2 * n
        N, dN = _shape(_AT), _slope(_AT)
        gt = self.G * self.t
        K = np.zeros((total, total))
        own = np.einsum("n,g,gi,gj->nij", gt / self.length, _WEIGHT, dN, dN)
        np.add.at(K, (dof[:, :, None], dof[:, None, :]), own)
        # rates of the axial stress by Vy and Vz: Mz' = -Vy, My' = Vz
        F, line = np.linalg.inv(self.axial), np.linalg.inv(self.line)
        growth = np.array([[0.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
        z = np.stack((np.ones_like(self.at[..., 0]), self.at[..., 1], -self.at[..., 0]), axis=-1)
        rate = np.einsum("n,ngi,ij->ngj", self.E, z, line @ growth)
        right = np.zeros((total, 3))
        for column in range(2):
            np.add.at(right[:, column], dof, np.einsum("ng,ng,gi->ni", self.weight, rate[..., column], N))
        np.add.at(right[:, 2], dof, -np.einsum("n,g,gi->ni", gt * self.r, _WEIGHT, dN))
        bound = np.zeros((1, total))
        bound[0, :joints] = float(np.abs(np.diag(K)).mean())
        system = np.block([[K, bound.T], [bound, np.zeros((1, 1))]])
        w = np.linalg.solve(system, np.vstack((right, np.zeros((1, 3)))))[:total]
        slope = np.einsum("gi,nik->ngk", dN, w[dof]) / self.length[:, None, None]
        flow = gt[:, None, None] * slope
        flow[..., 2] += (gt * self.r)[:, None]
        self.warping, self.dof = w, dof
        ds = self.length[:, None] * _WEIGHT
        closed = float(np.einsum("ng,ng,n->", ds, flow[..., 2], self.r))  # per unit of twist
        opened = float(np.sum(self.G * self.length * self.t**3) / 3.0)
        self.twisting = closed + opened
        # shear forces alone may twist: flows at no twist have a torque about the line, which the twist takes back
        torque = np.einsum("ng,ngk,n->k", ds, flow[..., :2], self.r)
        self.flow = flow.copy()
        self.flow[..., :2] = flow[..., :2] - flow[..., 2:] * (torque / self.twisting)
        self.flow[..., 2] = flow[..., 2] / self.twisting
        self.twist = np.append(-torque, 1.0) / self.twisting  # of Vy, Vz at the line, and of T
        shear = np.einsum("ng,n,ngi,ngj->ij", ds, 1.0 / gt, self.flow, self.flow)
        shear += opened * np.outer(self.twist, self.twist)
        self.flexibility = np.zeros((6, 6))
        rows = np.array([1, 2, 3])
        self.flexibility[rows[:, None], rows] = 0.5 * (shear + shear.T)
        rows = np.array([0, 4, 5])
        self.flexibility[rows[:, None], rows] = F

    @cached_property
    def stiffness(self) -> np.ndarray:
        """Return the stiffness (6, 6) over the strains of the line."""
        C = np.linalg.inv(self.flexibility)
        return 0.5 * (C + C.T)

    @property
    def centroid(self) -> np.ndarray:
        """Return y and z where a pull does not bend, (2,) [m]."""
        return np.array([-self.axial[0, 2], self.axial[0, 1]]) / self.axial[0, 0]

    @property
    def shear_centre(self) -> np.ndarray:
        """Return y and z where shear forces do not twist, (2,) [m]."""
        F = self.flexibility
        return np.array([-F[3, 2] / F[3, 3], F[3, 1] / F[3, 3]])

    @property
    def warping_stiffness(self) -> float:
        """Return int E omega^2 dA about the shear centre, of the middle lines alone [N m^4]."""
        w = np.einsum("gi,ni->ng", _shape(_AT), self.warping[self.dof, 2])
        columns = np.stack((w, np.ones_like(w), self.at[..., 0], self.at[..., 1]), axis=-1)
        total = np.einsum("ng,n,ngi,ngj->ij", self.weight, self.E, columns, columns)
        return float(total[0, 0] - total[0, 1:] @ np.linalg.lstsq(total[1:, 1:], total[1:, 0], rcond=None)[0])

    def stresses(self, points: np.ndarray) -> np.ndarray:
        """Return stresses (k, 6, 6), components (xx, yy, zz, xy, yz, zx) per unit of each force, at points (k, 2) of
        walls; at a face that of open walls, G t kappa, is added to the flow.

        Raises:
            ValueError: a point lies outside of the walls.
        """
        out = np.zeros((len(points), 6, 6))
        F = np.linalg.inv(self.axial)
        for k, point in enumerate(np.asarray(points, float)):
            arm = point - self.walls.ends[:, 0]
            s = np.einsum("ni,ni->n", arm, self.tangent) / self.length
            off = arm[:, 1] * self.tangent[:, 0] - arm[:, 0] * self.tangent[:, 1]  # along the normal (-tz, ty)
            slack = 1e-6 * self.length.max()
            beyond = np.maximum(0.0, np.maximum(-s, s - 1.0)) * self.length
            gap = np.maximum(np.abs(off) - 0.5 * self.t, 0.0) + np.maximum(beyond - 0.5 * self.t, 0.0)
            e = int(np.lexsort((np.abs(off) + beyond, gap))[0])
            if gap[e] > slack:
                raise ValueError(f"point {point.tolist()} is outside of the section")
            at = np.clip(s[e : e + 1], 0.0, 1.0)
            flow = self._flow_at(e, at) / self.t[e]
            flow = flow - 2.0 * self.G[e] * off[e] * self.twist
            out[k, 0, [0, 4, 5]] = self.E[e] * np.array([1.0, point[1], -point[0]]) @ F
            out[k, 3, 1:4] = flow * self.tangent[e, 0]
            out[k, 5, 1:4] = flow * self.tangent[e, 1]
        return out

    def _flow_at(self, e: int, s: np.ndarray) -> np.ndarray:
        """Return the flows (3,) at s (1,) of a wall: the parabola through those at the Gauss points."""
        powers = np.linalg.lstsq(_AT[:, None] ** np.arange(3), self.flow[e], rcond=None)[0]
        return ((s[:, None] ** np.arange(3)) @ powers)[0]
