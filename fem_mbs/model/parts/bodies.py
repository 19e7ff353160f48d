"""Flexible parts, rigid bodies, masses and springs of the model builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.model.building import remembered
from fem_mbs.model.connections.spring_laws import spring_law
from fem_mbs.model.parts.beams import Beams, director_columns
from fem_mbs.model.records import Body
from fem_mbs.system.compile import GROUND

__all__ = ["Parts"]

TRUSS_STRAINS = {"corotational": 0, "green": 1, "average": 2}


def inertia_columns(J: np.ndarray) -> dict[str, float]:
    return {f"J{c}": J["xyz".index(c[0]), "xyz".index(c[1])] for c in ("xx", "yy", "zz", "xy", "yz", "zx")}


class Parts(Beams):
    """Beams, trusses, bodies, point masses and springs."""

    # method of `Joints`, which `Model` adds
    _spring: Callable[..., Any]

    @remembered
    def trusses(
        self,
        name: str,
        on: Any,
        section: str,
        material: str | None = None,
        strain: str = "corotational",
        tension_only: bool = False,
        prestress: float = 0.0,
        damping: float = 0.0,
        mass_damping: float = 0.0,
        mass: str = "lumped",
    ) -> None:
        """Add trusses, or with ``tension_only`` cables, on line cells; see `fem_mbs.elements.springs.truss`.

        Args:
            strain: "corotational", "green" (total-Lagrangian) or "average" (mean unit vectors, for comparison).
            prestress: axial force at the start [N].
            damping: of the rate of length [N s/m].
            mass_damping: proportional to the mass, alpha [1/s].
            mass: "lumped" or "consistent" (linear).
        """
        owner = self.label("Truss", name)
        if strain not in TRUSS_STRAINS:
            raise ModelError(f"{owner}: strain = {strain!r} must be one of {', '.join(TRUSS_STRAINS)}")
        if mass not in ("lumped", "consistent"):
            raise ModelError(f'{owner}: mass = {mass!r} must be "lumped" or "consistent"')
        s = self._stiffness(owner, material, section, "truss")
        cells = self.line_cells(owner, on)
        x = self.positions
        length = np.linalg.norm(x[cells[:, 1]] - x[cells[:, 0]], axis=1)
        self.add_block(
            name,
            f"truss{self.dimension}",
            cells,
            EA=s.EA,
            length=length,
            strain=float(TRUSS_STRAINS[strain]),
            tension_only=float(tension_only),
            prestress=self.number(prestress, owner, "prestress"),
            damping=self.number(damping, owner, "damping", 0.0),
        )
        self.groups[name] = cells
        if s.rhoA > 0.0:
            alpha = self.number(mass_damping, owner, "mass_damping", 0.0)
            self._line_mass(name, cells, s.rhoA * length, np.zeros_like(length), mass, alpha)

    # --- bodies, masses, springs -----------------------------------------------------------------------------------
    def body(
        self, name: str, position: Any, mass: float, inertia: Any, angle: float = 0.0, rotation: Any = None
    ) -> None:
        """Add a rigid body with its node at the mass centre.

        Args:
            inertia: plane: about the mass centre; space: (3,) principal or (3, 3), in body axes [kg m^2].
            angle: plane: rotation of the body axes at the start [rad].
            rotation: space: axis times angle of the body axes at the start, (3,) [rad].
        """
        self.new_place("Body", name)
        owner = self.label("Body", name)
        x = self.vector(position, owner, "position")
        mass = self.number(mass, owner, "mass", 0.0)
        node = self.add_nodes(x[None, :])
        self.names.add(name, None, 1)
        self.bodies[name] = Body(name, node)
        self.rotational.add(node)
        if self.dimension == 2:
            self.rotations[node] = self.number(angle, owner, "angle")
            inertia = self.number(inertia, owner, "inertia", 0.0)
            self.add_block(name, "mass2", [[node]], mass=mass, inertia=inertia)
            return
        from scipy.spatial.transform import Rotation

        J = self._inertia_matrix(inertia, owner)
        if rotation is not None:
            self.rotations[node] = Rotation.from_rotvec(self.vector(rotation, owner, "rotation")).as_matrix()
        self.add_block(name, "rigid3", [[node]], mass=mass, **inertia_columns(J))

    def _inertia_matrix(self, inertia, owner: str) -> np.ndarray:
        try:
            J = np.asarray(inertia, float)
        except (TypeError, ValueError):
            J = np.empty(0)
        J = np.diag(J) if J.shape == (3,) else J
        if J.shape != (3, 3) or not np.isfinite(J).all() or not np.allclose(J, J.T):
            raise ModelError(f"{owner}: inertia = {inertia!r} must be 3 numbers or a symmetric 3x3 matrix")
        a, b, c = np.linalg.eigvalsh(J)
        if a < 0.0 or c > (a + b) * (1.0 + 1e-9):
            raise ModelError(
                f"{owner}: principal moments of inertia ({a:g}, {b:g}, {c:g}) belong to no mass distribution; each "
                "must be positive and at most the sum of the other two"
            )
        return J

    def point_mass(self, name: str, at: Any, mass: float, inertia: Any = 0.0, offset: Any = None) -> None:
        """Add a mass at a node or at each node of a set.

        Args:
            inertia: about the mass centre, where the node rotates: plane a number; space (3,) principal or (3, 3), in
                the node's body axes (the global ones at the start, unless the node is a turned body's) [kg m^2].
            offset: space: of the mass centre from the node, global axes of the start, turning with the node [m].
        """
        owner = self.label("Point mass", name)
        nodes = self.nodes_of(at, owner)
        mass = self.number(mass, owner, "mass", 0.0)
        if self.dimension == 2:
            if offset is not None:
                raise ModelError(f"{owner}: an offset is for space; in the plane use a body joined by a weld")
            self.add_block(name, "mass2", nodes, mass=mass, inertia=self.number(inertia, owner, "inertia", 0.0))
            return
        if np.ndim(inertia) == 0:
            if self.number(inertia, owner, "inertia") != 0.0:
                raise ModelError(f"{owner}: inertia = {inertia!r} is for the plane; in space give 3 numbers or 3x3")
            J = np.zeros((3, 3))
        else:
            J = self._inertia_matrix(inertia, owner)
        arm = np.zeros(3) if offset is None else self.vector(offset, owner, "offset")
        if not J.any() and not arm.any():
            self.add_block(name, "mass3", nodes, mass=mass)
            return
        self.needs_rotation += [(owner, int(node)) for node in nodes]
        if not arm.any():
            self.add_block(name, "rigid3", nodes, mass=mass, **inertia_columns(J))
            return
        self._add_eccentric(name, nodes, mass, np.array([self.rotation_matrix(int(node)).T @ arm for node in nodes]), J)

    def _add_eccentric(self, name: str, nodes, mass: float, a: np.ndarray, J: np.ndarray) -> None:
        """Add masses at the offsets a (n, 3) (body axes), with the inertia J about them.

        Mass centre x + R a, Euler tensor of the directors; the other end is the ground, which takes no part.
        """
        M = np.zeros((len(nodes), 8, 8))
        place = np.concatenate([np.ones((len(nodes), 1)), a], axis=1)
        M[:, :4, :4] = mass * place[:, :, None] * place[:, None, :]
        M[:, 1:4, 1:4] += 0.5 * np.trace(J) * np.eye(3) - J
        ends = np.column_stack([nodes, np.full(len(nodes), GROUND)])
        self.add_block(name, "director_mass3", ends, mass=mass, **director_columns(M))

    def spring(
        self,
        name: str,
        a: str,
        b: str,
        stiffness: float | None = None,
        damping: float = 0.0,
        length: float | None = None,
        point_a: Any = None,
        point_b: Any = None,
        *,
        cubic: float = 0.0,
        preload: float = 0.0,
        table: Any = None,
        interpolation: str = "linear",
        damping_table: Any = None,
        stops: Any = None,
        stop_stiffness: float | None = None,
        stop_damping: float = 0.0,
    ) -> None:
        """Add a spring-damper between two points: stiffness [N/m], damping [N s/m], free length (None: that of the
        start).

        Args:
            cubic: k3 [N/m^3] of a force k3 x^3, x = length - free length, which adds to the others.
            preload: force at x = 0 [N], tension positive.
            table: (k, 2), x [m], rising, and force [N]; beyond its ends it goes on along its last slopes.
            interpolation: of the table, "linear" or "spline" (natural, cubic).
            damping_table: (k, 2), rate [m/s] and force [N], linear in between.
            stops: least and largest length [m], -inf or inf where there is none.
            stop_stiffness: of the stops [N/m].
            stop_damping: b [s/m] of their force k y (1 + b y'), y the overlap (Hunt & Crossley 1975); never below zero.
        """
        owner = self.label("Spring", name)
        node_a, off_a = self.point(a, point_a, owner)
        node_b, off_b = self.point(b, point_b, owner)
        if node_a == node_b and np.allclose(off_a, off_b):
            raise ModelError(f'{owner}: both ends are the same point of "{a}"')
        if length is None:
            length = float(np.linalg.norm(self.global_point(node_b, off_b) - self.global_point(node_a, off_a)))
        length = self.number(length, owner, "length", 0.0)
        names = "xyz"[: self.dimension]
        columns = {
            f"a{c}_{end}": float(v)
            for end, offset in (("a", off_a), ("b", off_b))
            for c, v in zip(names, offset, strict=True)
        }
        found = spring_law(
            self, owner, stiffness=stiffness, damping=damping,
            cubic=cubic, preload=preload, table=table, interpolation=interpolation, damping_table=damping_table,
            stops=stops, stop_stiffness=stop_stiffness, stop_damping=stop_damping,
        )  # fmt: skip
        nodes = [[node_a, node_b]]
        if found.linear:
            kind = f"spring{self.dimension}"
            self.add_block(
                name, kind, nodes, stiffness=found.stiffness, damping=found.damping, length=length, **columns
            )
            return
        kind = f"nonlinear_spring{self.dimension}"
        self.add_block(name, kind, nodes, found.table, free=length, **columns, **found.columns)

    def torsion_spring(
        self,
        name: str,
        a: str,
        b: str,
        stiffness: float | None = None,
        damping: float = 0.0,
        angle: float = 0.0,
        axis: Any = None,
        *,
        cubic: float = 0.0,
        preload: float = 0.0,
        table: Any = None,
        interpolation: str = "linear",
        damping_table: Any = None,
        stops: Any = None,
        stop_stiffness: float | None = None,
        stop_damping: float = 0.0,
    ) -> None:
        """Add a torsional spring-damper [N m/rad], [N m s/rad] on the angle by which b turns more than a since the
        start.

        ``angle`` is the relative angle at which it is free [rad]; ``axis`` (space only) its axis at the start; the
        others as for `spring`, over the angle less the free one [rad]; ``stops`` are angles since the start.
        """
        owner = self.label("Torsion spring", name)
        nodes = [self.turning_node(p, owner) for p in (a, b)]
        if nodes[0] == nodes[1]:
            raise ModelError(f'{owner}: both ends are "{a}"; join two different places')
        turn = self.relative_angle(owner, nodes, axis)
        found = spring_law(
            self, owner, start=turn.start, stiffness=stiffness, damping=damping,
            cubic=cubic, preload=preload, table=table, interpolation=interpolation, damping_table=damping_table,
            stops=stops, stop_stiffness=stop_stiffness, stop_damping=stop_damping,
        )  # fmt: skip
        self.spring_on(name, turn, found, self.number(angle, owner, "angle"))
