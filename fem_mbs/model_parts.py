"""Flexible parts, rigid bodies, masses and springs of the model builder."""

from __future__ import annotations

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.model_base import Body, ModelBase

__all__ = ["Parts"]

BEAM_STRAINS = {"natural": "beam2", "generalised": "strain_beam2"}
BEAM_RULES = {"exact": 0, "accumulated": 1, "geometric": 2, "secant": 3, "gradient": 4}
TRUSS_STRAINS = {"corotational": 0, "green": 1, "average": 2}
MASSES = ("hermite", "consistent", "lumped")


class Parts(ModelBase):
    """Beams, trusses, bodies, point masses and springs."""

    def _stiffness(self, owner: str, material: str | None, section: str, needs: str):
        cross = self._find("section", section, self.sections, owner)
        stuff = self._find("material", material, self.materials, owner) if material is not None else None
        return cross.stiffness(stuff, needs)

    # --- flexible parts --------------------------------------------------------------------------------------------
    def beams(
        self,
        name: str,
        on,
        section: str,
        material: str | None = None,
        mass: str = "hermite",
        strains: str = "natural",
        rule: str = "exact",
        second_order: bool = True,
        shear: bool = True,
        inextensible: bool = False,
        damping: float = 0.0,
    ) -> None:
        """Plane beams on line cells.

        Args:
            on: "mesh:set", "mesh", or two nodes.
            mass: "hermite" (consistent, director velocities), "consistent" (linear, lumped rotary inertia) or "lumped".
            strains: "natural" (local rotations against the chord) or "generalised" (Besseling, Meijaard).
            rule: mid-step rule of natural strains; see `fem_mbs.elements.beam2d`.
            second_order: second-order terms of the axial strain (Meijaard).
            shear: shear deformation (Timoshenko), else Kirchhoff.
            damping: stiffness-proportional, beta [s].
        """
        owner = self._label("Beam", name)
        if self.dimension != 2:
            raise ModelError(f"{owner}: beams need dimension = 2; in space there are trusses, cables and rigid bodies")
        if mass not in MASSES:
            raise ModelError(f"{owner}: mass = {mass!r} must be one of {', '.join(MASSES)}")
        if rule not in BEAM_RULES:
            raise ModelError(f"{owner}: rule = {rule!r} must be one of {', '.join(BEAM_RULES)}")
        if strains not in BEAM_STRAINS:
            raise ModelError(f"{owner}: strains = {strains!r} must be one of {', '.join(BEAM_STRAINS)}")
        if rule != "exact" and (inextensible or strains != "natural"):
            what = "inextensible beams" if inextensible else f"beams with {strains} strains"
            raise ModelError(f'{owner}: {what} have the rule "exact" only, not {rule!r}')
        s = self._stiffness(owner, material, section, "plane beam")
        cells = self._cells(owner, on)
        x = self.positions
        chord = x[cells[:, 1]] - x[cells[:, 0]]
        length = np.linalg.norm(chord, axis=1)
        ex, ey = (chord / length[:, None]).T
        phi = 12.0 * s.EIz / (s.GAy * length**2) if shear else np.zeros_like(length)
        unit = s.EIz / ((1.0 + phi) * length)
        self._add(
            name,
            BEAM_STRAINS[strains] + ("_inextensible" if inextensible else ""),
            cells,
            EA=s.EA,
            S11=(4.0 + phi) * unit,
            S12=(2.0 - phi) * unit,
            length=length,
            ex=ex,
            ey=ey,
            second_order=float(second_order),
            damping=self._number(damping, owner, "damping", 0.0),
            **({"rule": float(BEAM_RULES[rule])} if strains == "natural" else {}),
        )
        self.groups[name] = cells
        self._rotational.update(np.unique(cells).tolist())
        if s.rhoA > 0.0 or s.rhoIz > 0.0:
            if mass == "hermite":
                columns = {"mass": s.rhoA * length, "length": length, "rotary inertia": s.rhoIz * length}
                self._add(name, "hermite2", cells, **columns, ex=ex, ey=ey)
            else:
                self._line_mass(name, cells, s.rhoA * length, 0.5 * s.rhoIz * length, mass)

    def _line_mass(self, name: str, cells, mass, rotary, kind: str) -> None:
        """Lumped masses (with rotary inertia per end), or linear-consistent ones and the rotary inertia lumped."""
        nodes, inverse = np.unique(cells, return_inverse=True)
        inverse = inverse.reshape(cells.shape)
        if kind == "consistent":
            self._add(name, f"linear_mass{self.dimension}", cells, mass=mass)
        lump, inertia = np.zeros(len(nodes)), np.zeros(len(nodes))
        for end in range(2):
            np.add.at(lump, inverse[:, end], 0.5 * mass)
            np.add.at(inertia, inverse[:, end], rotary)
        if kind == "lumped" or inertia.any():
            columns = {"mass": lump if kind == "lumped" else 0.0}
            if self.dimension == 2:
                columns["inertia"] = inertia
            self._add(name, f"mass{self.dimension}", nodes, **columns)

    def trusses(
        self,
        name: str,
        on,
        section: str,
        material: str | None = None,
        strain: str = "corotational",
        tension_only: bool = False,
        prestress: float = 0.0,
        damping: float = 0.0,
        mass: str = "lumped",
    ) -> None:
        """Trusses, or with ``tension_only`` cables, on line cells; see `fem_mbs.elements.truss`.

        Args:
            strain: "corotational", "green" (total-Lagrangian) or "average" (mean unit vectors, for comparison).
            prestress: axial force at the start [N].
            damping: of the rate of length [N s/m].
            mass: "lumped" or "consistent" (linear).
        """
        owner = self._label("Truss", name)
        if strain not in TRUSS_STRAINS:
            raise ModelError(f"{owner}: strain = {strain!r} must be one of {', '.join(TRUSS_STRAINS)}")
        if mass not in ("lumped", "consistent"):
            raise ModelError(f'{owner}: mass = {mass!r} must be "lumped" or "consistent"')
        s = self._stiffness(owner, material, section, "truss")
        cells = self._cells(owner, on)
        x = self.positions
        length = np.linalg.norm(x[cells[:, 1]] - x[cells[:, 0]], axis=1)
        self._add(
            name,
            f"truss{self.dimension}",
            cells,
            EA=s.EA,
            length=length,
            strain=float(TRUSS_STRAINS[strain]),
            tension_only=float(tension_only),
            prestress=self._number(prestress, owner, "prestress"),
            damping=self._number(damping, owner, "damping", 0.0),
        )
        self.groups[name] = cells
        if s.rhoA > 0.0:
            self._line_mass(name, cells, s.rhoA * length, np.zeros_like(length), mass)

    # --- bodies, masses, springs -----------------------------------------------------------------------------------
    def body(self, name: str, position, mass: float, inertia, angle: float = 0.0, rotation=None) -> None:
        """A rigid body with its node at the mass centre.

        Args:
            inertia: plane: about the mass centre; space: (3,) principal or (3, 3), in body axes [kg m^2].
            angle: plane: rotation of the body axes at the start [rad].
            rotation: space: axis times angle of the body axes at the start, (3,) [rad].
        """
        self._place_name("Body", name)
        owner = self._label("Body", name)
        x = self._vector(position, owner, "position")
        mass = self._number(mass, owner, "mass", 0.0)
        node = self._add_nodes(x[None, :])
        self._names.add(name, None, 1)
        self.bodies[name] = Body(name, node)
        self._rotational.add(node)
        if self.dimension == 2:
            self._rotation[node] = self._number(angle, owner, "angle")
            inertia = self._number(inertia, owner, "inertia", 0.0)
            self._add(name, "mass2", [[node]], mass=mass, inertia=inertia)
            return
        from scipy.spatial.transform import Rotation

        J = self._inertia_matrix(inertia, owner)
        if rotation is not None:
            self._rotation[node] = Rotation.from_rotvec(self._vector(rotation, owner, "rotation")).as_matrix()
        columns = {"Jxx": J[0, 0], "Jyy": J[1, 1], "Jzz": J[2, 2], "Jxy": J[0, 1], "Jyz": J[1, 2], "Jzx": J[0, 2]}
        self._add(name, "rigid3", [[node]], mass=mass, **columns)

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

    def point_mass(self, name: str, at: str, mass: float, inertia: float = 0.0) -> None:
        """A point mass at a node or at each node of a set; in the plane with an inertia where the node rotates."""
        owner = self._label("Point mass", name)
        nodes = self.nodes_of(at, owner)
        columns = {"mass": self._number(mass, owner, "mass", 0.0)}
        inertia = self._number(inertia, owner, "inertia", 0.0)
        if self.dimension == 2:
            columns["inertia"] = inertia
        elif inertia:
            raise ModelError(f"{owner}: in space a point mass has no inertia; use a body joined by a weld")
        self._add(name, f"mass{self.dimension}", nodes, **columns)

    def spring(
        self, name: str, a: str, b: str, stiffness: float, damping: float = 0.0, length: float | None = None,
        point_a=None, point_b=None,
    ) -> None:  # fmt: skip
        """A spring-damper between two points: stiffness [N/m], damping [N s/m], free length (None: that of the
        start)."""
        owner = self._label("Spring", name)
        node_a, off_a = self._point(a, point_a, owner)
        node_b, off_b = self._point(b, point_b, owner)
        if node_a == node_b and np.allclose(off_a, off_b):
            raise ModelError(f'{owner}: both ends are the same point of "{a}"')
        if length is None:
            length = float(np.linalg.norm(self._global(node_b, off_b) - self._global(node_a, off_a)))
        names = "xyz"[: self.dimension]
        self._add(
            name,
            f"spring{self.dimension}",
            [[node_a, node_b]],
            stiffness=self._number(stiffness, owner, "stiffness", 0.0),
            damping=self._number(damping, owner, "damping", 0.0),
            length=self._number(length, owner, "length", 0.0),
            **{f"a{c}_a": v for c, v in zip(names, off_a, strict=True)},
            **{f"a{c}_b": v for c, v in zip(names, off_b, strict=True)},
        )

    def torsion_spring(
        self, name: str, a: str, b: str, stiffness: float, damping: float = 0.0, angle: float = 0.0, axis=None
    ) -> None:
        """A torsional spring-damper [N m/rad], [N m s/rad] on the angle by which b turns more than a since the start.

        ``angle`` is the relative angle at which it is free [rad]; ``axis`` (space only) its axis at the start.
        """
        owner = self._label("Torsion spring", name)
        nodes = [self._turning(p, owner) for p in (a, b)]
        if nodes[0] == nodes[1]:
            raise ModelError(f'{owner}: both ends are "{a}"; join two different places')
        turn = self._angle(owner, nodes, axis)
        self._add(
            name,
            f"torsion{self.dimension}",
            [nodes],
            stiffness=self._number(stiffness, owner, "stiffness", 0.0),
            damping=self._number(damping, owner, "damping", 0.0),
            angle=turn.start + self._number(angle, owner, "angle"),
            **turn.columns,
        )
