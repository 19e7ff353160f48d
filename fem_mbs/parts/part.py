"""A reduced part: a linear part in a few generalised coordinates.

u = T p: displacements and rotations of all nodes from n coordinates p, those of interfaces among them.  Everything that
couplings, modifications and moving bodies need is dense and small; only the recovery of fields is as long as the mesh.
Arrays stand in the axes of the part's model, which are those that the part has in its reference placement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from html import escape
from typing import Any

import numpy as np

from fem_mbs.display import html_table
from fem_mbs.late import dataclass
from fem_mbs.units import Units

__all__ = ["COMPONENTS", "Interface", "LoadMoments", "Moments", "Recovery", "ReducedPart"]

#: Components of motion at an interface, by the dimension of the part's model.
COMPONENTS = {2: ("x", "y", "rotation"), 3: ("x", "y", "z", "rx", "ry", "rz")}


@dataclass(frozen=True)
class Interface:
    """A place where a reduced part is joined to others: it moves like one node.

    ``position`` (dim,) [m]; ``components`` that it has, of `COMPONENTS`; ``nodes`` (k,) of the part's model that are
    tied to it; ``kind``: "node" (it is the node itself), "rigid" (the nodes move with it as a rigid whole, RBE2) or
    "average" (it follows the mean of the nodes, RBE3).
    """

    name: str
    position: np.ndarray
    components: tuple[str, ...]
    nodes: np.ndarray
    kind: str = "node"


@dataclass(frozen=True)
class Moments:
    """Moments of the mass distribution with the position c from ``ReducedPart.origin`` and the shapes Phi(c) (dim, n).

    mass m [kg]; first (dim,) int c dm; second (dim, dim) int c c^T dm; linear (dim, n) int Phi dm; mixed (dim, dim,
    n) int c_a Phi_bk dm; quadratic (dim, dim, n, n) int Phi_ak Phi_bl dm.  With rotary inertia of nodes the integrals
    include what their directors add, so that T = 1/2 int r'.r' dm holds for r = x + sum_a d_a (c_a + Phi_a q) with
    moving directors d_a.  All of Melzer's invariants (1994, table 3) are sums of these: C1 = linear, C2 and C4 the
    parts of mixed, C3_ab = quadratic[a, b].
    """

    mass: float
    first: np.ndarray
    second: np.ndarray
    linear: np.ndarray
    mixed: np.ndarray
    quadratic: np.ndarray

    def matrix(self) -> np.ndarray:
        """Return all of them as one matrix over (1, c_a, Phi_ak), (1 + dim + dim n,) squared; Phi_ak stands at 1 + dim
        + a n + k.
        """
        dim, n = self.linear.shape
        J = np.empty((1 + dim + dim * n,) * 2)
        J[0, 0] = self.mass
        J[0, 1 : 1 + dim] = J[1 : 1 + dim, 0] = self.first
        J[1 : 1 + dim, 1 : 1 + dim] = self.second
        J[0, 1 + dim :] = J[1 + dim :, 0] = self.linear.ravel()
        J[1 : 1 + dim, 1 + dim :] = self.mixed.reshape(dim, dim * n)
        J[1 + dim :, 1 : 1 + dim] = J[1 : 1 + dim, 1 + dim :].T
        J[1 + dim :, 1 + dim :] = self.quadratic.transpose(0, 2, 1, 3).reshape(dim * n, dim * n)
        return J

    def transformed(self, S: np.ndarray) -> Moments:
        """Return the same for shapes Phi S, S (n, k)."""
        return replace(
            self,
            linear=self.linear @ S,
            mixed=self.mixed @ S,
            quadratic=np.einsum("abkl,km,ln->abmn", self.quadratic, S, S, optimize=True),
        )


@dataclass(frozen=True)
class LoadMoments:
    """Moments of a load on a part with positions c from ``ReducedPart.origin``, shapes Phi(c) (dim, n) and rotations
    Psi (r, n) of nodes, r = 1 or 3; all in the axes of the part, which turn with a body in motion.

    ``forces`` (1 + dim + dim n, dim): sum f, sum c_a f, sum Phi_ak f (in row 1 + dim + a n + k) of forces f [N], as
    `Moments.matrix` is ordered; ``couples`` (1 + r n, r): sum m, sum Psi_ak m (in row 1 + a n + k) of moments m [N m]
    at nodes.  Forces do the work sum f.dr for r = x + sum_a d_a (c_a + Phi_a q).
    """

    forces: np.ndarray
    couples: np.ndarray

    def generalised(self) -> np.ndarray:
        """Return generalised forces (n,) on the undeformed part where it stands, T^T f."""
        dim, r = self.forces.shape[1], self.couples.shape[1]
        f = self.forces[1 + dim :].reshape(dim, -1, dim)
        return np.einsum("aka->k", f) + np.einsum("aka->k", self.couples[1:].reshape(r, -1, r))

    def transformed(self, S: np.ndarray) -> LoadMoments:
        """Return the same for shapes Phi S, S (n, k)."""

        def over(rows: np.ndarray) -> np.ndarray:
            b = rows.shape[1]
            return np.einsum("akb,kl->alb", rows.reshape(b, -1, b), S).reshape(-1, b)

        low = 1 + self.forces.shape[1]
        return LoadMoments(
            np.concatenate((self.forces[:low], over(self.forces[low:]))),
            np.concatenate((self.couples[:1], over(self.couples[1:]))),
        )

    def shifted(self, arm: np.ndarray) -> LoadMoments:
        """Return the same with positions counted from a point ``arm`` (dim,) away: c - arm for c."""
        forces = self.forces.copy()
        forces[1 : 1 + arm.size] -= np.outer(arm, forces[0])
        return replace(self, forces=forces)


@dataclass(frozen=True)
class Recovery:
    """Fields of the whole part from p.

    ``x`` (N, dim) nodes [m] with their ``names``; ``displacement`` (N, dim, n) [m per unit of p]; ``turning`` (N_r,)
    nodes with rotations, ``rotation`` (N_r, 1 or 3, n) [rad]; ``cells``: (cell type, nodes (c, k)) to draw it;
    ``stress`` (N_s, 6, n) [N/m^2], xx yy zz xy yz zx, averaged at the nodes ``stressed`` (N_s,), or None; ``rest``
    (N_s, 6), or None: at p = 0; ``heat``: (N_s, 6) there per unit of loads that are heat, by their names.
    """

    x: np.ndarray
    names: tuple[str, ...]
    displacement: np.ndarray
    turning: np.ndarray
    rotation: np.ndarray
    cells: tuple[tuple[str, np.ndarray], ...] = ()
    stress: np.ndarray | None = None
    stressed: np.ndarray | None = None
    rest: np.ndarray | None = None
    heat: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class ReducedPart:
    """A part in n generalised coordinates p.

    ``stiffness``, ``mass`` (n, n) [SI], ``damping`` (n, n) or None; ``boundary`` (b, n): motions of the components of
    all ``interfaces``, one after the other, boundary @ p; ``rigid`` (n, r): p of rigid-body motions, unit
    translations along the axes and unit rotations about them through ``origin`` (dim,); r = 0 where supports hold the
    part; ``gravity`` (n, dim): generalised forces of unit accelerations of gravity; ``loads``: others, by name (n,);
    ``frequencies`` (m,) [Hz] of the component modes that were kept; ``method``, ``info``: how it was made (cut-off,
    errors, source; "base": units of its model, if known; "heat": names of loads that are heat, and
    whether nothing else is in them); ``moments``: of the shapes, for bodies
    in motion; ``stiffening``: geometric stiffness (n, n) per unit of loads, by name; ``load_moments``: what ``loads``
    are to a body in motion, by the same names.
    """

    name: str
    dimension: int
    method: str
    interfaces: tuple[Interface, ...]
    stiffness: np.ndarray
    mass: np.ndarray
    boundary: np.ndarray
    rigid: np.ndarray
    gravity: np.ndarray
    origin: np.ndarray
    frequencies: np.ndarray
    damping: np.ndarray | None = None
    loads: Mapping[str, np.ndarray] = field(default_factory=dict)
    recovery: Recovery | None = None
    moments: Moments | None = None
    stiffening: Mapping[str, np.ndarray] = field(default_factory=dict)
    load_moments: Mapping[str, LoadMoments] = field(default_factory=dict)
    info: Mapping[str, Any] = field(default_factory=dict)

    @property
    def units(self) -> Units:
        """Units of the model that the part was made of; SI where none were told."""
        return Units(self.info.get("base", Units().base))

    def __repr__(self) -> str:
        names = ", ".join(interface.name for interface in self.interfaces[:6])
        more = f" and {len(self.interfaces) - 6} more" if len(self.interfaces) > 6 else ""
        count = len(self.frequencies)
        modes = f"{count} modes up to {self.frequencies.max():.6g} {self.units.of('Hz').unit}" if count else "no modes"
        return f"<ReducedPart {self.name!r}: {self.method}, {self.size} coordinates, {modes}; at {names}{more}>"

    def _repr_html_(self) -> str:
        """Return interfaces and modes as tables of a notebook."""
        interfaces = html_table(
            "Interfaces", ("name", "components"), ((i.name, ", ".join(i.components)) for i in self.interfaces)
        )
        modes = html_table(
            "Modes",
            ("number", f"frequency [{self.units.of('Hz').unit}]"),
            ((k, f"{f:.6g}") for k, f in enumerate(self.frequencies, 1)),
        )
        return f"<p>{escape(repr(self))}</p>{interfaces}{modes}"

    @property
    def size(self) -> int:
        """Number n of generalised coordinates."""
        return self.stiffness.shape[0]

    def interface_rows(self, name: str) -> slice:
        """Return rows of ``boundary`` of an interface; KeyError if there is none of that name."""
        first = 0
        for interface in self.interfaces:
            last = first + len(interface.components)
            if interface.name == name:
                return slice(first, last)
            first = last
        raise KeyError(name)

    def transformed(self, S: np.ndarray, rigid: np.ndarray | None = None) -> ReducedPart:
        """Return the part in other coordinates, p = S p', S (n, k); ``rigid`` (k, r): rigid-body motions in these
        (none: they are sought by least squares, and must lie in the span of S)."""
        if rigid is None:
            rigid = np.linalg.lstsq(S, self.rigid, rcond=None)[0]
        recovery = self.recovery
        if recovery is not None:
            recovery = replace(
                recovery,
                displacement=recovery.displacement @ S,
                rotation=recovery.rotation @ S,
                stress=None if recovery.stress is None else recovery.stress @ S,
            )
        return replace(
            self,
            stiffness=S.T @ self.stiffness @ S,
            mass=S.T @ self.mass @ S,
            damping=None if self.damping is None else S.T @ self.damping @ S,
            boundary=self.boundary @ S,
            rigid=rigid,
            gravity=S.T @ self.gravity,
            loads={name: S.T @ load for name, load in self.loads.items()},
            recovery=recovery,
            moments=None if self.moments is None else self.moments.transformed(S),
            stiffening={name: S.T @ K @ S for name, K in self.stiffening.items()},
            load_moments={name: load.transformed(S) for name, load in self.load_moments.items()},
        )
