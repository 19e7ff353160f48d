"""The model builder: what an engineer says of a machine, in the calls that the model file makes too.

Everything is named; a place is the name of a body, of a node, of a mesh's set ("rod:left") or "ground".  Positions are
those of the start; a joint or load point is given in global coordinates of the start and travels with its body.

Units are the user's own consistent ones; documents and messages speak of SI.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.assembly import GROUND, Block, Compiled, Nodes, compile_system, make_block, merge_blocks
from fem_mbs.checks import Check
from fem_mbs.errors import ModelError
from fem_mbs.expressions import compile_expression
from fem_mbs.functions import TimeFunction, make_function
from fem_mbs.meshes.generate import line as line_mesh
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.sections import Material, Section, make_section
from fem_mbs.sensors import Sensor, make_sensor

__all__ = ["Body", "InitialSpeed", "InitialVelocity", "Model", "Step"]

BEAM_STRAINS = {"natural": "beam2", "generalised": "strain_beam2"}
BEAM_RULES = {"exact": 0, "accumulated": 1, "geometric": 2, "secant": 3, "gradient": 4}
TRUSS_STRAINS = {"corotational": 0, "green": 1, "average": 2}
MASSES = ("hermite", "consistent", "lumped")


@dataclass
class Body:
    """A rigid body: node at its mass centre, ``points`` (body axes) where joints and loads act, for drawing."""

    name: str
    node: int
    points: list[np.ndarray] = field(default_factory=list)


@dataclass(frozen=True)
class InitialVelocity:
    """Velocities of some nodes at the start: v = velocity + spin x (x - centre), per node or the same for all."""

    nodes: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray


@dataclass(frozen=True)
class InitialSpeed:
    """A given speed at the start: of a coordinate (0, 1, 2 for x, y, z), or of a rotation about ``axis`` against
    another node."""

    place: str
    node: int
    coordinate: int | None
    axis: np.ndarray | None
    against: int
    value: float


@dataclass(frozen=True)
class Step:
    """An analysis step; ``options`` are the keyword arguments of `fem_mbs.analysis.run`'s settings."""

    kind: str
    name: str
    options: dict[str, Any]


class _Names(Sequence):
    """Names of nodes without a string per mesh node."""

    def __init__(self):
        self.parts: list[tuple[int, str, np.ndarray | None]] = []
        self.size = 0

    def add(self, name: str, ids: np.ndarray | None, count: int) -> None:
        self.parts.append((self.size, name, ids))
        self.size += count

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index):
        for start, name, ids in reversed(self.parts):
            if index >= start:
                return name if ids is None else f"{name} {ids[index - start]}"
        raise IndexError(index)


@dataclass
class CompiledModel:
    """A model ready to run: arrays for the solvers, time functions and what to look at."""

    model: Model
    system: Compiled
    functions: list[TimeFunction]
    loads: np.ndarray
    sensors: list[Sensor]


class Model:
    """A machine: parts, joints, motions, loads, initial velocities, sensors and steps.

    Args:
        dimension: 2 (plane; x, y and a rotation) or 3.
        title: for reports.
        gravity: acceleration of gravity, (dimension,) [m/s^2].

    Raises:
        ModelError: from every call, naming the thing, the value and the remedy.
    """

    def __init__(self, dimension: int = 3, title: str = "", gravity: Sequence[float] | None = None):
        if dimension not in (2, 3):
            raise ModelError(f"Model: dimension = {dimension!r} is neither 2 (plane) nor 3 (space)")
        self.dimension, self.title = dimension, title
        self.gravity = np.zeros(dimension) if gravity is None else self._vector(gravity, "Model", "gravity")
        self.materials: dict[str, Material] = {}
        self.sections: dict[str, Section] = {}
        self.meshes: dict[str, tuple[Mesh, int]] = {}
        self.bodies: dict[str, Body] = {}
        self.named_nodes: dict[str, int] = {}
        self.functions: dict[str, TimeFunction] = {}
        self.groups: dict[str, np.ndarray] = {}
        self.steps: list[Step] = []
        self.sensors: list[Sensor] = []
        self.checks: list[Check] = []
        self.initial_velocities: list[InitialVelocity] = []
        self.initial_speeds: list[InitialSpeed] = []
        self.initial_method = "auto"
        self._x: list[np.ndarray] = []
        self._names = _Names()
        self._rotational: set[int] = set()
        self._rotation: dict[int, Any] = {}
        self._blocks: list[Block] = []
        self._labels: set[str] = set()
        self._fixed: list[tuple[int, int]] = []
        self._driven: list[tuple[int, int, int, str]] = []
        self._used_functions: list[tuple[TimeFunction, bool]] = []
        self._droppable: list[tuple[int, int]] = []
        self._welded_rotation: list[tuple[str, int]] = []

    # --- names and places ------------------------------------------------------------------------------------------
    @property
    def n_nodes(self) -> int:
        return self._names.size

    @property
    def positions(self) -> np.ndarray:
        """Node positions (n, dimension) [m] at the start."""
        return np.concatenate(self._x) if self._x else np.zeros((0, self.dimension))

    def position(self, node: int) -> np.ndarray:
        start = 0
        for part in self._x:
            if node < start + len(part):
                return part[node - start]
            start += len(part)
        raise IndexError(node)

    def node_name(self, node: int) -> str:
        return self._names[node]

    def _new(self, kind: str, name: str, known) -> str:
        if not isinstance(name, str) or not name.strip():
            raise ModelError(f"{kind}: {name!r} is not a name; give a text")
        if name in known:
            raise ModelError(f'{kind} "{name}": the name is already taken; choose another')
        return name

    def _place_name(self, kind: str, name: str) -> None:
        """A new name among those that a place may have."""
        self._new(kind, name, {"ground", *self.bodies, *self.named_nodes, *self.meshes})
        if ":" in name:
            raise ModelError(f'{kind} "{name}": a name must not hold ":", which separates a mesh from its set')

    def _find(self, what: str, name: str, table: dict, owner: str):
        if name in table:
            return table[name]
        close = difflib.get_close_matches(str(name), list(table), n=1)
        hint = (
            f'; did you mean "{close[0]}"?'
            if close
            else (f"; there are {', '.join(table)}" if table else "; none exists")
        )
        raise ModelError(f'{owner}: no {what} "{name}"{hint}')

    def _vector(self, value, owner: str, key: str) -> np.ndarray:
        try:
            v = np.asarray(value, float)
        except (TypeError, ValueError):
            v = np.empty(0)
        if v.shape != (self.dimension,) or not np.isfinite(v).all():
            raise ModelError(f"{owner}: {key} = {value!r} must be {self.dimension} finite numbers")
        return v

    def _number(self, value, owner: str, key: str, low: float | None = None, strict: bool = False) -> float:
        try:
            v = float(value)
        except (TypeError, ValueError):
            raise ModelError(f"{owner}: {key} = {value!r} must be a number") from None
        if not np.isfinite(v) or (low is not None and (v < low or (strict and v == low))):
            bound = "" if low is None else f" {'greater than' if strict else 'of at least'} {low:g}"
            raise ModelError(f"{owner}: {key} = {value!r} must be a finite number{bound}")
        return v

    def nodes_of(self, place, owner: str = "Model") -> np.ndarray:
        """Node indices (n,) of a place, a list of places or "all"."""
        if isinstance(place, (list, tuple)):
            return np.concatenate([self.nodes_of(p, owner) for p in place]) if place else np.empty(0, np.int64)
        if place == "all":
            return np.arange(self.n_nodes)
        if place in self.bodies:
            return np.array([self.bodies[place].node])
        if place in self.named_nodes:
            return np.array([self.named_nodes[place]])
        mesh, _, name = str(place).partition(":")
        if mesh in self.meshes:
            part, first = self.meshes[mesh]
            return first + (part.nodes_of(name) if name else np.arange(len(part.points)))
        table = {**self.bodies, **self.named_nodes, **self.meshes}
        if mesh in table:
            raise ModelError(f'{owner}: "{mesh}" is a body or a node, it has no set "{name}"; write "{mesh}"')
        return self._find("body, node or mesh", mesh, table, owner)

    def node_of(self, place: str, owner: str = "Model") -> int:
        """The node of a body, of a named node or of a set of one node."""
        mesh, colon, name = str(place).partition(":")
        if mesh in self.meshes and colon:
            part, first = self.meshes[mesh]
            return first + part.node(name)
        nodes = self.nodes_of(place, owner)
        if len(nodes) != 1:
            raise ModelError(f'{owner}: "{place}" has {len(nodes)} nodes where one is needed; name a set of one point')
        return int(nodes[0])

    def _rotation_matrix(self, node: int) -> np.ndarray:
        if self.dimension == 3:
            return self._rotation.get(node, np.eye(3))
        angle = self._rotation.get(node, 0.0)
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, -s], [s, c]])

    def _point(self, place: str, point, owner: str) -> tuple[int, np.ndarray]:
        """Node and offset in its axes of a point given in global coordinates (None: the node itself)."""
        if place == "ground":
            if point is None:
                raise ModelError(f'{owner}: a point of "ground" needs its coordinates; add point = [...]')
            return GROUND, self._vector(point, owner, "point")
        node = self.node_of(place, owner)
        if point is None:
            return node, np.zeros(self.dimension)
        offset = self._rotation_matrix(node).T @ (self._vector(point, owner, "point") - self.position(node))
        if np.linalg.norm(offset) <= 1e-12 * max(1.0, np.abs(self.position(node)).max()):
            return node, np.zeros(self.dimension)
        if place in self.bodies:
            self.bodies[place].points.append(offset)
        else:
            self._welded_rotation.append((owner, node))
        return node, offset

    def _function(self, spec, owner: str, load: bool) -> int:
        """Index of a time function among those in use; -1 for none."""
        if spec is None:
            spec = 1.0 if load else 0.0
        name = owner
        function = (
            make_function(spec, name=name, functions=self.functions) if not isinstance(spec, TimeFunction) else spec
        )
        for i, (known, role) in enumerate(self._used_functions):
            if known is function and role == load:
                return i
        self._used_functions.append((function, load))
        return len(self._used_functions) - 1

    def _add_nodes(self, x: np.ndarray) -> int:
        first = sum(len(p) for p in self._x)
        self._x.append(np.ascontiguousarray(x[:, : self.dimension], float))
        return first

    def _label(self, kind: str, name: str) -> str:
        self._labels.add(self._new(kind, name, self._labels))
        return f'{kind} "{name}"'

    def _add(self, label: str, type_name: str, nodes, **columns) -> None:
        self._blocks.append(make_block(label, type_name, nodes, **columns))

    # --- materials, sections, functions ----------------------------------------------------------------------------
    def material(
        self, name: str, E: float, nu: float | None = None, density: float | None = None, G: float | None = None
    ):
        """A linear elastic material: E, G [N/m^2], density [kg/m^3]."""
        self._new("Material", name, self.materials)
        self.materials[name] = Material(name, E, nu, density=density, G=G)

    def section(self, name: str, shape: str, **dimensions) -> None:
        """A cross-section; see `fem_mbs.sections.make_section` for shapes and their dimensions."""
        self._new("Section", name, self.sections)
        self.sections[name] = make_section(name, shape, **dimensions)

    def function(self, name: str, spec, folder: str | Path | None = None) -> None:
        """A named function of time; see `fem_mbs.functions.make_function`."""
        self._new("Function", name, self.functions)
        self.functions[name] = make_function(spec, name=name, folder=folder, functions=self.functions)

    # --- geometry --------------------------------------------------------------------------------------------------
    def mesh(
        self, name: str, mesh: Mesh | str | Path, scale: float = 1.0, rotate=None, translate=None, unused: str = "error"
    ):
        """Nodes and named sets of a mesh (or of a mesh file), placed at translate + scale * R x.

        Args:
            rotate: angle in the plane [deg], or in space axis times angle, (3,) [deg].
            unused: "error" or "drop": what to do with mesh nodes that no element, body or joint uses.
        """
        self._place_name("Mesh", name)
        owner = f'Mesh "{name}"'
        if not isinstance(mesh, Mesh):
            from fem_mbs.meshes.reader import read_mesh

            mesh = read_mesh(mesh)
        if unused not in ("error", "drop"):
            raise ModelError(f'{owner}: unused = {unused!r} must be "error" or "drop"')
        rotation = None
        if rotate is not None:
            from scipy.spatial.transform import Rotation

            if self.dimension == 2:
                vector = np.array([0.0, 0.0, self._number(rotate, owner, "rotate")])
            else:
                vector = self._vector(rotate, owner, "rotate")
            rotation = Rotation.from_rotvec(np.deg2rad(vector)).as_matrix()
        mesh = mesh.transformed(scale, rotation, translate)
        if self.dimension == 2 and np.abs(mesh.points[:, 2]).max(initial=0.0) > 0.0:
            i = int(np.abs(mesh.points[:, 2]).argmax())
            raise ModelError(
                f"{owner}: node {mesh.point_ids[i]} has z = {mesh.points[i, 2]:g}, but the model is plane; "
                "use dimension = 3 or a mesh in the x-y plane"
            )
        first = self._add_nodes(mesh.points)
        self._names.add(name, mesh.point_ids, len(mesh.points))
        self.meshes[name] = (mesh, first)
        if unused == "drop":
            self._droppable.append((first, first + len(mesh.points)))

    def line(self, name: str, start, end, n: int) -> None:
        """A straight mesh of n line cells with the sets "all", "start" and "end"."""
        self.mesh(name, line_mesh(start, end, n))

    def node(self, name: str, position) -> None:
        """A single named node."""
        self._place_name("Node", name)
        x = self._vector(position, f'Node "{name}"', "position")
        self.named_nodes[name] = self._add_nodes(x[None, :])
        self._names.add(name, None, 1)

    def _cells(self, owner: str, on) -> np.ndarray:
        """Line cells (n, 2) of "mesh", "mesh:set", or of a list [place, place]."""
        if isinstance(on, (list, tuple)):
            if len(on) != 2:
                raise ModelError(f"{owner}: on = {on!r} must be a mesh's set or two nodes")
            cells = np.array([[self.node_of(p, owner) for p in on]])
        else:
            mesh, _, name = str(on).partition(":")
            part, first = self._find("mesh", mesh, self.meshes, owner)
            cells = first + part.lines(name or None)
        if len(cells) == 0:
            raise ModelError(f'{owner}: "{on}" has no line cells')
        x = self.positions
        length = np.linalg.norm(x[cells[:, 1]] - x[cells[:, 0]], axis=1)
        if (length == 0.0).any():
            i = int(np.flatnonzero(length == 0.0)[0])
            a, b = (self.node_name(k) for k in cells[i])
            raise ModelError(
                f'{owner}: element {i + 1} between nodes "{a}" and "{b}" has no length; move or merge its nodes'
            )
        return cells

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
            EA=s.EA, S11=(4.0 + phi) * unit, S12=(2.0 - phi) * unit, length=length, ex=ex, ey=ey,
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

    def _global(self, node: int, offset: np.ndarray) -> np.ndarray:
        return offset if node == GROUND else self.position(node) + self._rotation_matrix(node) @ offset

    def torsion_spring(
        self, name: str, a: str, b: str, stiffness: float, damping: float = 0.0, angle: float = 0.0, axis=None
    ) -> None:
        """A torsional spring-damper [N m/rad], [N m s/rad] on the angle by which b turns more than a since the start.

        ``angle`` is the relative angle at which it is free [rad]; ``axis`` (space only) its axis at the start.
        """
        owner = self._label("Torsion spring", name)
        nodes = [self._turning(p, owner) for p in (a, b)]
        columns = {
            "stiffness": self._number(stiffness, owner, "stiffness", 0.0),
            "damping": self._number(damping, owner, "damping", 0.0),
            "angle": self._number(angle, owner, "angle"),
        }
        if self.dimension == 2:
            columns["angle"] += self._start_angle(nodes[1]) - self._start_angle(nodes[0])
        else:
            u, v, _ = self._triad(owner, axis).T
            Ra, Rb = (np.eye(3) if n == GROUND else self._rotation_matrix(n) for n in nodes)
            for key, vector in (("u", Ra.T @ u), ("v", Ra.T @ v), ("b", Rb.T @ u)):
                columns.update({f"{key}{c}": x for c, x in zip("xyz", vector, strict=True)})
        self._add(name, f"torsion{self.dimension}", [nodes], **columns)

    def _start_angle(self, node: int) -> float:
        return 0.0 if node == GROUND else self._rotation.get(node, 0.0)

    def _turning(self, place: str, owner: str) -> int:
        """Node of a place that must have a rotation; ground has one."""
        if place == "ground":
            return GROUND
        node = self.node_of(place, owner)
        self._welded_rotation.append((owner, node))
        return node

    def _triad(self, owner: str, axis) -> np.ndarray:
        """Right-handed triad (columns u, v, axis)."""
        if axis is None:
            raise ModelError(f"{owner}: in space it needs its axis; add axis = [...]")
        axis = self._axis(axis, owner)
        u = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
        u /= np.linalg.norm(u)
        return np.column_stack((u, np.cross(axis, u), axis))

    def _axis(self, axis, owner: str) -> np.ndarray:
        v = self._vector(axis, owner, "axis")
        length = np.linalg.norm(v)
        if length == 0.0:
            raise ModelError(f"{owner}: axis {tuple(float(x) for x in v)} has no length")
        return v / length

    # --- supports, motions, joints ---------------------------------------------------------------------------------
    def _component(self, owner: str, component: str) -> int:
        names = ("x", "y", "rotation") if self.dimension == 2 else ("x", "y", "z")
        if component not in names:
            raise ModelError(f"{owner}: component {component!r} must be one of {', '.join(names)}")
        return names.index(component)

    def fix(self, on, components: Sequence[str] | None = None) -> None:
        """Hold nodes where they are; ``components`` of "x", "y", "z", "rotation" (None: all that a node has)."""
        owner = f'Support on "{on}"'
        nodes = self.nodes_of(on, owner)
        if isinstance(components, str):
            components = [components]
        for component in components or (["x", "y", "z"][: self.dimension]):
            if component == "rotation" and self.dimension == 3:
                self._fixed += [(int(n), 3 + k) for n in nodes for k in range(3)]
                continue
            k = self._component(owner, component)
            if component == "rotation":
                self._welded_rotation += [(owner, int(n)) for n in nodes]
            self._fixed += [(int(n), k) for n in nodes]
        if components is None:
            rotations = [2] if self.dimension == 2 else [3, 4, 5]
            self._fixed += [(int(n), -k) for n in nodes for k in rotations]  # where the node turns out to have them

    def motion(self, name: str, on: str, component: str, function) -> None:
        """Prescribed motion: a coordinate of nodes or a body follows its start value + f(t)."""
        owner = self._label("Motion", name)
        k = self._component(owner, component)
        index = self._function(function, owner, load=False)
        for node in self.nodes_of(on, owner):
            if component == "rotation":
                self._welded_rotation.append((owner, int(node)))
            self._driven.append((int(node), k, index, name))

    def joint(self, name: str, kind: str, a: str, b: str = "ground", point=None, axis=None, function=None) -> None:
        """A joint between two places.

        Kinds:
            "pin" or "spherical": the point of a and the point of b coincide.
            "weld": and no relative rotation.
            "slider": the point of a moves along ``axis`` through its place at the start (b must be "ground").
            "position": the point of a moves by f(t) along ``axis`` (b must be "ground").
            "angle": b turns by f(t) more than a (in space about ``axis``).
        """
        owner = self._label("Joint", name)
        kinds = {
            "pin": self._pin, "spherical": self._pin, "weld": self._weld,
            "slider": self._slider, "position": self._driven_position, "angle": self._driven_angle,
        }  # fmt: skip
        if kind not in kinds:
            close = difflib.get_close_matches(str(kind), list(kinds), n=1)
            hint = f'; did you mean "{close[0]}"?' if close else ""
            raise ModelError(f"{owner}: unknown type {kind!r}{hint}; there are {', '.join(kinds)}")
        for key, value, users in (
            ("axis", axis, ("slider", "position", "angle")),
            ("function", function, ("position", "angle")),
        ):
            if value is not None and kind not in users:
                raise ModelError(f'{owner}: a "{kind}" joint has no {key}; remove it')
        kinds[kind](owner, name, a, b, point, axis, function)

    def _meeting_point(self, owner: str, a: str, b: str, point):
        """Where two places meet: the given point, or the node of a place that is not a body."""
        if point is not None:
            return self._vector(point, owner, "point")
        found = [self.position(self.node_of(p, owner)) for p in (a, b) if p != "ground" and p not in self.bodies]
        if not found:
            raise ModelError(f"{owner}: rigid bodies have many points; say where the joint is with point = [...]")
        if len(found) == 2:
            gap = float(np.linalg.norm(found[1] - found[0]))
            if gap > 1e-9 * max(1.0, float(np.abs(found[0]).max())):
                raise ModelError(
                    f'{owner}: "{a}" and "{b}" are {gap:g} m apart; move one, or give the point of the joint'
                )
        return found[0]

    def _pin(self, owner, name, a, b, point, axis, function) -> None:
        where = self._meeting_point(owner, a, b, point)
        node_a, off_a = self._point(a, where, owner)
        node_b, off_b = self._point(b, where, owner)
        if node_a == node_b:
            raise ModelError(f'{owner}: both ends are "{a}"; join two different places')
        names = "xyz"[: self.dimension]
        self._add(
            name,
            f"point{self.dimension}",
            [[node_a, node_b]],
            **{f"a{c}_a": v for c, v in zip(names, off_a, strict=True)},
            **{f"a{c}_b": v for c, v in zip(names, off_b, strict=True)},
        )

    def _weld(self, owner, name, a, b, point, axis, function) -> None:
        self._pin(owner, name, a, b, point, axis, function)
        self._relative_rotation(owner, name, a, b, np.array([0.0, 0.0, 1.0]), -1)

    def _relative_rotation(self, owner, name, a, b, axis, index: int) -> None:
        nodes = [self._turning(p, owner) for p in (a, b)]
        if self.dimension == 2:
            angle = self._start_angle(nodes[1]) - self._start_angle(nodes[0])
            self._add(name, "angle2", [nodes], angle=angle, function=float(index))
            return
        u, v, n = self._triad(owner, axis).T
        triad = np.column_stack((n, u, v))  # the driven turn is about the first vector
        columns = {}
        for key, node in zip("ab", nodes, strict=True):
            local = (np.eye(3) if node == GROUND else self._rotation_matrix(node)).T @ triad
            columns.update({f"{key}{i + 1}{j + 1}": local[i, j] for i in range(3) for j in range(3)})
        self._add(name, "orientation3", [nodes], function=float(index), **columns)

    def _driven_angle(self, owner, name, a, b, point, axis, function) -> None:
        if function is None:
            raise ModelError(f'{owner}: an "angle" joint needs the function of its angle; add function = ...')
        if point is not None:
            raise ModelError(f'{owner}: an "angle" joint has no point; add a "pin" for that')
        self._relative_rotation(owner, name, a, b, axis, self._function(function, owner, load=False))

    def _along(self, owner, a, b, point, axis):
        if b != "ground":
            raise ModelError(f'{owner}: this type works against "ground" only, not "{b}"')
        if axis is None:
            raise ModelError(f"{owner}: it needs its direction; add axis = [...]")
        node, offset = self._point(a, point, owner)
        return node, offset, self._axis(axis, owner), self._global(node, offset)

    def _hold(self, name, node, offset, direction, x, index) -> None:
        names = "xyz"[: self.dimension]
        self._add(
            name,
            f"position{self.dimension}",
            [[node]],
            function=float(index),
            position=float(direction @ x),
            **{f"n{c}": v for c, v in zip(names, direction, strict=True)},
            **{f"a{c}": v for c, v in zip(names, offset, strict=True)},
        )

    def _slider(self, owner, name, a, b, point, axis, function) -> None:
        node, offset, n, x = self._along(owner, a, b, point, axis)
        across = [np.array([-n[1], n[0]])] if self.dimension == 2 else list(self._triad(owner, n).T[:2])
        for direction in across:
            self._hold(name, node, offset, direction, x, -1)

    def _driven_position(self, owner, name, a, b, point, axis, function) -> None:
        if function is None:
            raise ModelError(f'{owner}: a "position" joint needs the function of its displacement; add function = ...')
        node, offset, n, x = self._along(owner, a, b, point, axis)
        self._hold(name, node, offset, n, x, self._function(function, owner, load=False))

    # --- loads -----------------------------------------------------------------------------------------------------
    def force(self, name: str, on: str, vector, function=None, point=None) -> None:
        """A dead force [N] on every node of a place, or at a point of a body: vector * f(t)."""
        owner = self._label("Force", name)
        vector = self._vector(vector, owner, "vector")
        index = self._function(function, owner, load=True)
        if point is None:
            nodes, offset = self.nodes_of(on, owner), np.zeros(self.dimension)
        else:
            node, offset = self._point(on, point, owner)
            nodes = np.array([node])
        names = "xyz"[: self.dimension]
        self._add(
            name,
            f"force{self.dimension}",
            nodes,
            function=float(index),
            **{f"F{c}": v for c, v in zip(names, vector, strict=True)},
            **{f"a{c}": v for c, v in zip(names, offset, strict=True)},
        )

    def moment(self, name: str, on: str, value, function=None) -> None:
        """A dead moment [N m]: in the plane a number, in space a vector fixed in direction."""
        owner = self._label("Moment", name)
        nodes = self.nodes_of(on, owner)
        self._welded_rotation += [(owner, int(n)) for n in nodes]
        index = self._function(function, owner, load=True)
        if self.dimension == 2:
            columns = {"M": self._number(value, owner, "value")}
        else:
            columns = {f"M{c}": v for c, v in zip("xyz", self._vector(value, owner, "value"), strict=True)}
        self._add(name, f"moment{self.dimension}", nodes, function=float(index), **columns)

    # --- initial velocities ----------------------------------------------------------------------------------------
    def initial(self, on="all", velocity=None, spin=None, centre=None, method: str | None = None) -> None:
        """Velocities at the start: a rigid motion of the whole model, or of a place; later calls add to earlier ones.

        Args:
            velocity: (dimension,) numbers [m/s], or expressions of x, y, z.
            spin: angular velocity [rad/s]: plane: a number or an expression; space: (3,) numbers.
            centre: with it, the nodes also turn about this point: v += spin x (x - centre).
            method: how velocities are made consistent with joints, motions and given speeds: "strain-free" (least
            strain
                rates), "projection" (mass-weighted), "given" (as they are; an error if they are not consistent), "auto"
                (strain-free where only joints, motions and given speeds move the model, else projection).
        """
        owner = "Initial velocity"
        if method is not None:
            methods = ("auto", "strain-free", "projection", "given")
            if method not in methods:
                raise ModelError(f"{owner}: method = {method!r} must be one of {', '.join(methods)}")
            self.initial_method = method
        if velocity is None and spin is None:
            return
        nodes = self.nodes_of(on, owner)
        x = self.positions[nodes]
        columns = {c: x[:, i] for i, c in enumerate("xyz"[: self.dimension])}

        def evaluate(value, key):
            if isinstance(value, str):
                v = compile_expression(value, tuple(columns))(*columns.values())
                v = np.broadcast_to(np.asarray(v, float), len(nodes)).copy()
                if not np.isfinite(v).all():
                    bad = self.node_name(int(nodes[np.flatnonzero(~np.isfinite(v))[0]]))
                    raise ModelError(f'{owner}: {key} = {value!r} is not finite at node "{bad}"')
                return v
            return np.full(len(nodes), self._number(value, owner, key))

        v = np.zeros((len(nodes), self.dimension))
        if velocity is not None:
            if isinstance(velocity, str) or np.ndim(velocity) != 1 or len(velocity) != self.dimension:
                raise ModelError(f"{owner}: velocity = {velocity!r} must be {self.dimension} numbers or expressions")
            v = np.column_stack([evaluate(c, "velocity") for c in velocity])
        if self.dimension == 2:
            w = np.zeros(len(nodes)) if spin is None else evaluate(spin, "spin")
            if centre is not None:
                arm = x - self._vector(centre, owner, "centre")
                v = v + w[:, None] * np.column_stack((-arm[:, 1], arm[:, 0]))
        else:
            w = np.zeros((len(nodes), 3)) + (0.0 if spin is None else self._vector(spin, owner, "spin"))
            if centre is not None:
                v = v + np.cross(w, x - self._vector(centre, owner, "centre"))
        self.initial_velocities.append(InitialVelocity(nodes, v, w))

    def initial_speed(self, on: str, component: str, value: float, against: str = "ground", axis=None) -> None:
        """The speed of one coordinate at the start; everything else follows from joints, motions and `initial`.

        Args:
            component: "x", "y", "z" [m/s] or "rotation" [rad/s].
            against: for "rotation": the place that the rotation is counted from, as in the joint between the two.
            axis: for "rotation" in space.
        """
        owner = f'Initial speed of "{on}"'
        value = self._number(value, owner, "value")
        if component != "rotation":
            k = self._component(owner, component)
            if against != "ground" or axis is not None:
                raise ModelError(f'{owner}: against and axis belong to the component "rotation"; remove them')
            self.initial_speeds.append(InitialSpeed(on, self.node_of(on, owner), k, None, GROUND, value))
            return
        node, other = self._turning(on, owner), self._turning(against, owner)
        if node == other:
            raise ModelError(f'{owner}: "{on}" does not turn against itself; name another place in against')
        if self.dimension == 2:
            direction = np.array([1.0])
        elif axis is None:
            raise ModelError(f"{owner}: in space a rotation needs its axis; add axis = [...]")
        else:
            direction = self._axis(axis, owner)
        self.initial_speeds.append(InitialSpeed(on, node, None, direction, other, value))

    # --- sensors and steps -----------------------------------------------------------------------------------------
    def sensor(self, name: str, kind: str, **options) -> None:
        """A named quantity written at every step; see `fem_mbs.sensors` for the kinds and their options."""
        self._new("Sensor", name, {s.name for s in self.sensors})
        self.sensors.append(make_sensor(self, name, kind, options))

    def check(
        self, name: str, sensor: str, reference: float, tolerance: float, quantity: str | None = None,
        at: float | None = None, source: str = "",
    ) -> None:  # fmt: skip
        """A value that a run should give: a quantity of a sensor, or its value at a time; see `fem_mbs.checks`."""
        self._new("Check", name, {c.name for c in self.checks})
        if quantity is None and at is not None:
            quantity = "at"
        if not any(str(sensor) == s.name or str(sensor).startswith(f"{s.name}.") for s in self.sensors):
            self._find("sensor", sensor, {s.name: s for s in self.sensors}, f'Check "{name}"')
        self.checks.append(Check(name, sensor, reference, tolerance, quantity, at, source))

    def transient_step(self, duration: float, h: float, name: str = "transient", **options) -> None:
        """A transient of ``duration`` [s] in steps of h; see `fem_mbs.analysis.run.TRANSIENT_OPTIONS`."""
        owner = f'Step "{name}"'
        duration = self._number(duration, owner, "duration", 0.0, strict=True)
        h = self._number(h, owner, "h", 0.0, strict=True)
        self.steps.append(Step("transient", name, {"duration": duration, "h": h, **options}))

    def static_step(self, increments: int = 1, name: str = "static", **options) -> None:
        """Static equilibrium at the present time, reached in load increments."""
        self.steps.append(Step("static", name, {"increments": increments, **options}))

    # --- to arrays -------------------------------------------------------------------------------------------------
    def compile(self) -> CompiledModel:
        """Check the whole and make the arrays.

        Raises:
            ModelError: no elements, nodes that nothing holds or uses, rotations that do not exist, contradictions.
        """
        if not self._blocks:
            raise ModelError("Model: it has no elements; add beams, trusses, bodies or masses")
        blocks = merge_blocks(self._blocks)
        n = self.n_nodes
        used = np.zeros(n, bool)
        for block in blocks:
            used[block.nodes[block.nodes >= 0]] = True
        keep = np.ones(n, bool)
        for first, last in self._droppable:
            keep[first:last] &= used[first:last]
        loose = np.flatnonzero(keep & ~used)
        if loose.size:
            names = ", ".join(f'"{self.node_name(int(i))}"' for i in loose[:5])
            more = f" and {loose.size - 5} more" if loose.size > 5 else ""
            raise ModelError(
                f"Model: no element, body or joint uses node {names}{more}; connect or remove them "
                '(a mesh with unused = "drop" leaves them out)'
            )
        rotational = np.zeros(n, bool)
        rotational[list(self._rotational)] = True
        for owner, node in self._welded_rotation:
            if not rotational[node]:
                raise ModelError(
                    f'{owner}: node "{self.node_name(node)}" has no rotation (only trusses or point masses end there); '
                    "use its position, or a beam or body"
                )
        fixed = [(i, abs(k)) for i, k in self._fixed if k >= 0 or rotational[i]]
        fixed = [(i, k) for i, k in fixed if k < self.dimension or rotational[i]]
        for i in np.flatnonzero(~keep):
            fixed += [(int(i), k) for k in range(self.dimension)]
        if self.dimension == 2:
            rotation = np.zeros(n)
        else:
            rotation = np.broadcast_to(np.eye(3), (n, 3, 3)).copy()
        for node, value in self._rotation.items():
            rotation[node] = value
        nodes = Nodes(self.positions, rotational, rotation, self._names)
        system = compile_system(self.dimension, nodes, blocks, np.array(fixed, np.int64).reshape(-1, 2), self._driven)
        functions = [f for f, _ in self._used_functions]
        loads = np.array([load for _, load in self._used_functions], bool)
        compiled = CompiledModel(self, system, functions, loads, list(self.sensors))
        record = []
        for sensor in self.sensors:
            sensor.first = len(record)
            record += sensor.bind(compiled)
        system.system = system.system._replace(record=np.array(record, np.int32).reshape(-1, 2))
        return compiled
