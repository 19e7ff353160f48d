"""The content of a model while it is built: names, places, materials, sections, functions, meshes, blocks of
elements."""

from __future__ import annotations

import difflib
from bisect import bisect_right
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.kinds import make_function
from fem_mbs.functions.laws import TimeFunction
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.model.checks import Check
from fem_mbs.model.records import (
    Assembling,
    Body,
    Breaking,
    Component,
    Event,
    InitialSpeed,
    InitialVelocity,
    JointCoordinate,
    JointData,
    LockData,
    RunningStart,
    StateVariable,
)
from fem_mbs.properties.materials import Material
from fem_mbs.properties.sections import Section
from fem_mbs.properties.shells import ShellGroup
from fem_mbs.properties.solids import CellGroup, SolidGroup, SolidMaterial
from fem_mbs.properties.stations import SectionTable
from fem_mbs.properties.stresses import LineGroup
from fem_mbs.rotations import rotation_matrices
from fem_mbs.system.blocks import GROUND, Block, make_block
from fem_mbs.system.callbacks import Callback
from fem_mbs.units import Units

__all__ = ["Building"]


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
        if not 0 <= index < self.size:
            raise IndexError(index)
        start, name, ids = self.parts[bisect_right(self.parts, index, key=lambda part: part[0]) - 1]
        return name if ids is None else f"{name} {ids[index - start]}"


class Building:
    """The arrays of a model while they are made: positions, names, blocks, labels, groups, joints, functions.

    Declarations are built into it (`fem_mbs.model.model.Model.building`).
    """

    def __init__(self, dimension: int):
        self.dimension = dimension
        self.parameters: dict[str, float | int] = {}
        self.materials: dict[str, Material] = {}
        self.solid_materials: dict[str, SolidMaterial] = {}
        self.solid_groups: dict[str, SolidGroup] = {}
        self.shell_groups: dict[str, ShellGroup] = {}
        self.temperatures: dict[str, tuple[int, TimeFunction]] = {}
        self.sections: dict[str, Section] = {}
        self.section_tables: dict[str, SectionTable] = {}
        self.meshes: dict[str, tuple[Mesh, int]] = {}
        self.bodies: dict[str, Body] = {}
        self.joints: dict[str, JointData] = {}
        self.curves: dict[str, Any] = {}  # splines of tracks and profiles, in global axes of the start
        self.joint_curves: list[tuple[str, int]] = []  # curves, and the nodes of the parts to which joints fix them
        self.named_nodes: dict[str, int] = {}
        self.functions: dict[str, TimeFunction] = {}
        self.groups: dict[str, np.ndarray] = {}
        self.line_groups: dict[str, LineGroup] = {}  # sections of beams and trusses
        self.sensors: list[Any] = []
        self.sensor_names: set[str] = set()
        self.checks: list[Check] = []
        self.initial_velocities: list[InitialVelocity] = []
        self.initial_speeds: list[InitialSpeed] = []
        self.initial_method = "auto"
        self.runnings: list[RunningStart] = []
        self.assembling: Assembling | None = None
        self.shown_units: Units | None = None
        self.bases: dict[Owner, str] = {}  # by the names of things that have taken numbers of SI: the base at that time
        self.events: list[Event] = []
        self.locks: dict[str, LockData] = {}
        self.breakings: dict[str, Breaking] = {}  # joints and supports that can break
        #: names of loads that act only in steps that name them, whatever "all" is elsewhere
        self.reserved_loads: list[str] = []
        self._x = np.zeros((0, dimension))  # positions, and room for more
        self._n_placed = 0
        self.names = _Names()
        self.rotational: set[int] = set()
        self.rotations: dict[int, Any] = {}
        self.blocks: list[Block] = []
        self.labels: set[str] = set()
        self.fixed: list[tuple[int, int]] = []
        #: the same of supports that only some steps have, by the names of their groups
        self.step_supports: dict[str, list[tuple[int, int]]] = {}
        self.driven: list[tuple[int, int, int, Owner]] = []
        #: motions that act in some steps only, by the names of their groups, whose dofs are in `step_supports` as well
        self.step_motions: dict[str, list[tuple[int, int, int, Owner]]] = {}
        self.used_functions: list[tuple[TimeFunction, bool]] = []
        self.callbacks: list[Callback] = []
        self.clock: TimeFunction | None = None
        self.droppable: list[tuple[int, int]] = []
        self.needs_rotation: list[tuple[str, int]] = []
        self.couplings: list[Any] = []
        self.scalars: list[str] = []  # names of coordinates that belong to no node
        #: state variables of elements: number among the scalars -> its name, unit and start
        self.states: dict[int, StateVariable] = {}
        self.path_nodes: list[int] = []  # nodes that are coordinates along lines, not places
        self.components: dict[str, Component] = {}
        self.warnings: list[str] = []  # sentences on parts of the model that may be unintended
        self.departures: list[str] = []  # sentences on content of the deck that the model lacks
        self.rotors: dict[str, Any] = {}
        self.reduced_parts: dict[str, Any] = {}
        self.surfaces: dict[str, np.ndarray] = {}  # of reduced parts that touch: place -> nodes (n,)
        self.rotating: Any = None
        self.shakings: list[Any] = []
        #: groups of supports that hold dofs where the step before has left them
        self.keeping: set[str] = set()
        #: pre-tension sections: name, pairs (n, 2) of nodes on both sides, direction
        self.pretensions: list[Any] = []
        self.cyclic: list[Any] = []  # faces of sectors that meet in the wheel
        self.spare_nodes: list[tuple[str, np.ndarray]] = []  # mesh, its nodes that only plane and solid cells use

    def scratch(self, sections: Mapping[str, Section], without: set[str]) -> Building:
        """Return a building of the same places and names with other ``sections``, to build a declaration again.

        What is built there goes to lists and tables of its own.  Nodes and joints called ``without`` do not exist.
        """
        other = copy(self)
        other.sections = {**self.sections, **sections}
        other.blocks, other.labels, other.groups, other.line_groups = [], set(), {}, {}
        other._x, other.needs_rotation = self.positions, list(self.needs_rotation)
        other.names = copy(self.names)
        other.names.parts = list(self.names.parts)
        other.rotational, other.rotations = set(self.rotational), dict(self.rotations)
        other.named_nodes = {k: v for k, v in self.named_nodes.items() if k not in without}
        other.joints = {k: v for k, v in self.joints.items() if k not in without}
        other.used_functions, other.callbacks = list(self.used_functions), list(self.callbacks)
        return other

    def turn_nodes(self, nodes: Iterable[int]) -> None:
        """Give nodes rotations."""
        self.rotational.update(nodes)

    def move_nodes(self, nodes: np.ndarray, x: np.ndarray) -> None:
        """Move nodes (n,) to positions (n, dimension)."""
        self._x = self.positions.copy()
        self._x[nodes] = x

    def grow_mesh(self, name: str, mesh: Mesh) -> None:
        """Replace a mesh by one with more points at its end.

        Nodes behind it get higher numbers, also where what was built before names them.
        """
        old, start = self.meshes[name]
        at, more = start + len(old.points), len(mesh.points) - len(old.points)

        def later(node: int) -> int:
            return node + more if node >= at else node

        x = self.positions
        self._x = np.concatenate((x[:start], mesh.points[:, : self.dimension], x[at:]))
        self._n_placed += more
        names, self.names = self.names, _Names()
        for k, (first, label, ids) in enumerate(names.parts):
            size = (names.parts[k + 1][0] if k + 1 < len(names.parts) else names.size) - first
            self.names.add(label, *((mesh.point_ids, len(mesh.points)) if first == start else (ids, size)))
        self.meshes = {k: (mesh if k == name else m, later(first)) for k, (m, first) in self.meshes.items()}
        self.named_nodes = {k: later(node) for k, node in self.named_nodes.items()}
        self.droppable = [(first, later(last)) if first == start else (later(first), later(last))
                          for first, last in self.droppable]  # fmt: skip
        self.fixed = [(later(i), k) for i, k in self.fixed]
        self.step_supports = {g: [(later(i), k) for i, k in pairs] for g, pairs in self.step_supports.items()}
        self.breakings = {
            name: replace(b, pairs=tuple((later(i), k) for i, k in b.pairs)) for name, b in self.breakings.items()
        }
        self.driven = [(later(i), k, number, owner) for i, k, number, owner in self.driven]
        self.step_motions = {
            g: [(later(i), k, number, owner) for i, k, number, owner in entries]
            for g, entries in self.step_motions.items()
        }
        self.needs_rotation = [(owner, later(i)) for owner, i in self.needs_rotation]
        for block in self.blocks:
            block.nodes = np.where(block.nodes >= at, block.nodes + more, block.nodes)
            if block.pairing is not None:
                block.pairing.renumbered(lambda nodes: np.where(nodes >= at, nodes + more, nodes))
            if block.preferred is not None:
                block.preferred[:, 0] += np.where(block.preferred[:, 0] >= at, more, 0)

    @property
    def eventful(self) -> bool:
        """Return whether something can be switched within a transient: by events, locks, or because it breaks."""
        broken = any(b.force is not None or b.moment is not None for b in self.breakings.values())
        return bool(self.events) or broken or any(lock.moves_by_itself for lock in self.locks.values())

    # --- names and places ------------------------------------------------------------------------------------------
    @property
    def n_nodes(self) -> int:
        return self.names.size

    @property
    def positions(self) -> np.ndarray:
        """Return the node positions (n, dimension) [m] at the start, as they are now: read-only, without a copy."""
        x = self._x[: self._n_placed]
        x.flags.writeable = False
        return x

    def keep_positions(self, made_once: Callable[[Callable[[], np.ndarray]], np.ndarray]) -> None:
        """Keep the positions as ``made_once`` returns them, which processes of a machine have in common."""
        self._x = made_once(lambda: self.positions)

    @property
    def cell_groups(self) -> list[CellGroup]:
        """All groups of elements on plane and solid cells of meshes."""
        return [*self.solid_groups.values(), *self.shell_groups.values()]

    def position(self, node: int) -> np.ndarray:
        if not 0 <= node < self._n_placed:
            raise IndexError(node)
        return self._x[node].copy()

    def node_name(self, node: int) -> str:
        return self.names[node]

    def new_name(self, kind: str, name: str, known: Any) -> str:
        """Return a new name of a thing of a ``kind``.

        Raises:
            ModelError: it is no text, or one of the ``known`` names.
        """
        if not isinstance(name, str) or not name.strip():
            raise ModelError(
                f"{shown(name)} is not a name", owner=Owner(kind), key="name", value=name, remedy="give a text"
            )
        if name in known:
            raise ModelError(
                "the name is already taken", owner=Owner(kind, name), key="name", value=name, remedy="choose another"
            )
        return name

    def new_place(self, kind: str, name: str) -> None:
        """Register a new name among those of places."""
        self.new_name(kind, name, ChainMap({"ground": None}, self.bodies, self.named_nodes, self.meshes))
        if ":" in name:
            raise ModelError(
                'a name must not hold ":", which separates a mesh from its set',
                owner=Owner(kind, name),
                key="name",
                value=name,
            )

    def find(self, what: str, name: str, table: dict, owner: str) -> Any:
        """Return the entry of a ``table`` of things called ``what``, by its name.

        Raises:
            ModelError: there is none; the message of ``owner`` names the nearest or all names.
        """
        if name in table:
            return table[name]
        close = difflib.get_close_matches(str(name), list(table), n=1)
        known = f"there are {', '.join(table)}" if table else "none exists"
        remedy = f'did you mean "{close[0]}"?' if close else known
        raise ModelError(f'no {what} "{name}"', owner=owner, value=name, remedy=remedy)

    @property
    def starts_moving(self) -> bool:
        """Return whether velocities of the start are given."""
        return bool(self.initial_velocities or self.initial_speeds or self.runnings)

    def vector(self, value: Any, owner: str, key: str) -> np.ndarray:
        """Return the value of a key as a vector (dimension,).

        Raises:
            ModelError: it is not that many finite numbers.
        """
        try:
            v = np.asarray(value, float)
        except (TypeError, ValueError):
            v = np.empty(0)
        if v.shape != (self.dimension,) or not np.isfinite(v).all():
            raise ModelError(
                f"{key} = {shown(value)} must be {self.dimension} finite numbers", owner=owner, key=key, value=value
            )
        return v

    def number(self, value: Any, owner: str, key: str, low: float | None = None, strict: bool = False) -> float:
        """Return the value of a key as a number of at least ``low`` (``strict``: greater than it).

        Raises:
            ModelError: it is no finite number, or out of range.
        """
        try:
            v = float(value)
        except (TypeError, ValueError):
            raise ModelError(f"{key} = {shown(value)} must be a number", owner=owner, key=key, value=value) from None
        if not np.isfinite(v) or (low is not None and (v < low or (strict and v == low))):
            bound = "" if low is None else f" {'greater than' if strict else 'of at least'} {low:g}"
            raise ModelError(
                f"{key} = {shown(value)} must be a finite number{bound}", owner=owner, key=key, value=value
            )
        return v

    def nodes_of(self, place: Any, owner: str = "Model", frames: bool = False) -> np.ndarray:
        """Return node indices (n,) of a place, a list of places or "all"; the index of a node stands for itself, so do
        those of an array.

        With ``frames`` the name of a reduced part may stand for its mean frame, which is no point of the part: for
        those that look at nodes, or move the part as a whole.
        """
        if isinstance(place, np.ndarray):
            if place.dtype.kind in "iu" and place.ndim == 1 and (place >= 0).all() and (place < self.n_nodes).all():
                return place.astype(np.int64)
            raise ModelError(f"an array of nodes must hold whole numbers from 0 to {self.n_nodes - 1}", owner=owner)
        if isinstance(place, (int, np.integer)) and not isinstance(place, bool) and 0 <= place < self.n_nodes:
            return np.array([place])
        if isinstance(place, (list, tuple)):
            return np.concatenate([self.nodes_of(p, owner, frames) for p in place]) if place else np.empty(0, np.int64)
        if not isinstance(place, str):
            raise ModelError(
                f"{shown(place)} is no place",
                owner=owner,
                value=place,
                remedy=f"name a body, a node, a mesh or mesh:set, or a number from 0 to {self.n_nodes - 1}",
            )
        if place == "all":
            return np.arange(self.n_nodes)
        if place in self.bodies:
            return np.array([self.bodies[place].node])
        placed = self.reduced_parts
        if place in placed and placed[place].reference == "mean" and not frames:
            names = " or ".join(f'"{place}:{interface}"' for interface in placed[place].interfaces)
            raise ModelError(
                f'"{place}" is the mean frame of a reduced part, not a point of it',
                owner=owner,
                remedy=f"name {names}, or make one of them the part's reference",
            )
        if place in self.surfaces:
            return self.surfaces[place]
        if place in self.named_nodes:
            return np.array([self.named_nodes[place]])
        mesh, _, name = place.partition(":")
        if mesh in self.meshes:
            part, first = self.meshes[mesh]
            return first + (part.nodes_of(name) if name else np.arange(len(part.points)))
        table = {**self.bodies, **self.named_nodes, **self.meshes}
        if mesh in placed:
            names = ", ".join(f'"{mesh}:{interface}"' for interface in placed[mesh].interfaces)
            raise ModelError(
                f'reduced part "{mesh}" has no interface "{name}"', owner=owner, remedy=f"there are {names or 'none'}"
            )
        if mesh in table:
            raise ModelError(
                f'"{mesh}" is a body or a node, it has no set "{name}"', owner=owner, remedy=f'write "{mesh}"'
            )
        what = "a joint" if mesh in self.joints else "elements" if self._names_elements(mesh) else ""
        if not what:
            return self.find("body, node or mesh", mesh, table, owner)
        raise ModelError(
            f'"{mesh}" is the name of {what}, not of a place',
            owner=owner,
            value=place,
            remedy="name a body, a node, a mesh, or mesh:set",
        )

    def each_of(self, place: Any, owner: str = "Model", frames: bool = False) -> np.ndarray:
        """Return node indices (n,) of a place or of a list of places in their order, each once: what acts on each node
        of several sets acts once where these overlap.  An array of indices is as it is given."""
        nodes = self.nodes_of(place, owner, frames)
        if not isinstance(place, (list, tuple)) or len(place) < 2:
            return nodes
        return nodes[np.sort(np.unique(nodes, return_index=True)[1])]

    def _names_elements(self, name: str) -> bool:
        """Return whether elements have a name, as those of a beam, a spring or a point mass."""
        return any(name == group for block in self.blocks for group, *_ in block.groups)

    def node_of(self, place: str | int, owner: str = "Model", frames: bool = False) -> int:
        """Return the node of a body, of a named node or of a set of one node; ``frames`` as in `nodes_of`."""
        mesh, colon, name = str(place).partition(":")
        if mesh in self.meshes and colon:
            part, first = self.meshes[mesh]
            return first + part.node(name)
        nodes = self.nodes_of(place, owner, frames)
        if len(nodes) != 1:
            raise ModelError(
                f'"{place}" has {len(nodes)} nodes where one is needed', owner=owner, remedy="name a set of one point"
            )
        return int(nodes[0])

    def rotation_matrix(self, node: int) -> np.ndarray:
        if self.dimension == 3:
            return self.rotations.get(node, np.eye(3))
        angle = self.rotations.get(node, 0.0)
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, -s], [s, c]])

    def rotation_matrices(self, nodes: np.ndarray) -> np.ndarray:
        """Return rotations (n, dim, dim) of nodes at the start; see `rotation_matrix`."""
        R = np.tile(np.eye(self.dimension), (len(nodes), 1, 1))
        for node in self._turned(nodes):
            R[nodes == node] = self.rotation_matrix(node)
        return R

    def start_angles(self, nodes: np.ndarray) -> np.ndarray:
        """Return angles (n,) [rad] of nodes in the plane at the start."""
        angles = np.zeros(len(nodes))
        for node in self._turned(nodes):
            angles[nodes == node] = self.rotations[node]
        return angles

    def _turned(self, nodes: np.ndarray) -> set[int]:
        """Return those of the nodes that have a rotation of their own at the start."""
        return self.rotations.keys() & set(nodes.tolist()) if self.rotations else set()

    def point(
        self, place: str | int, point: Any, owner: str, frames: bool = False, key: str = "point"
    ) -> tuple[int, np.ndarray]:
        """Return node and offset in its axes of a point given in global coordinates (None: the node itself);
        ``frames`` as in `nodes_of`, ``key``: what gives the point."""
        if place == "ground":
            if point is None:
                raise ModelError('a point of "ground" needs its coordinates', owner=owner, remedy=f"add {key} = [...]")
            return GROUND, self.vector(point, owner, key)
        node = self.node_of(place, owner, frames)
        if point is None:
            return node, np.zeros(self.dimension)
        offset = self.rotation_matrix(node).T @ (self.vector(point, owner, key) - self.position(node))
        if np.linalg.norm(offset) <= 1e-12 * max(1.0, np.abs(self.position(node)).max()):
            return node, np.zeros(self.dimension)
        if place in self.bodies:
            self.bodies[place].points.append(offset)
        else:
            self.needs_rotation.append((owner, node))
        return node, offset

    def function_index(self, spec: Any, owner: str, load: bool) -> int:
        """Return index of a time function among those in use; -1 for none."""
        if spec is None:
            spec = 1.0 if load else 0.0
        function = (
            make_function(spec, owner=owner, functions=self.functions) if not isinstance(spec, TimeFunction) else spec
        )
        for i, (known, role) in enumerate(self.used_functions):
            if known is function and role == load:
                return i
        return self.add_function(function, load)

    def add_function(self, function: TimeFunction, load: bool) -> int:
        """Put a time function that is not in use yet among those, and return its index."""
        self.used_functions.append((function, load))
        return len(self.used_functions) - 1

    @property
    def single_elements(self) -> dict[str, str]:
        """Return the types of springs, motors and other single elements with outputs, that are no joints, by their
        names."""
        return {
            name: block.type.name
            for block in self.blocks
            if block.type.outputs and not block.type.multipliers
            for name, first, last in block.groups
            if last - first == 1 and name in self.labels and name not in self.groups
        }

    @property
    def pair_counts(self) -> dict[str, int]:
        """Return the numbers of pairs of impacts, by their names."""
        return {
            name: last - first for block in self.blocks if block.type.unilateral for name, first, last in block.groups
        }

    def add_nodes(self, x: np.ndarray) -> int:
        """Add nodes at positions (n, dimension or 3) and return the number of the first."""
        first, self._n_placed = self._n_placed, self._n_placed + len(x)
        if not first and not x.flags.writeable and x.shape[1] == self.dimension:
            self._x = x  # of a mesh, which processes of a machine may have in common
            return first
        if self._n_placed > len(self._x):
            room = np.zeros((max(self._n_placed, 3 * first // 2), self.dimension))
            room[:first] = self._x[:first]
            self._x = room
        self._x[first : self._n_placed] = x[:, : self.dimension]
        return first

    def label(self, kind: str, name: str) -> Owner:
        """Register a new name among those of elements and conditions, and return the owner of their messages."""
        self.labels.add(self.new_name(kind, name, self.labels))
        return Owner(kind, name)

    def hold_in_steps(
        self, group: str, pairs: list[tuple[int, int]], owner: str, present: bool = False
    ) -> list[tuple[int, int]]:  # fmt: skip
        """Let a group of supports hold nodes and components (n, 2) in the steps that name it; return all of the group.

        Raises:
            ModelError: some of the group hold the present place, others that at the start.
        """
        if group in self.step_supports and present != (group in self.keeping):
            raise ModelError(
                f'the supports of group "{group}" hold the present place, or that at the start', owner=owner,
                key="present", remedy="give all of a group the same",
            )  # fmt: skip
        if present:
            self.keeping.add(group)
        held = self.step_supports.setdefault(group, [])
        held += pairs
        return held

    def add_block(self, label: str, type_name: str, nodes: Any, table: Any = (), **columns: Any) -> Block:
        self.blocks.append(make_block(label, type_name, nodes, table, **columns))
        return self.blocks[-1]

    def add_states(self, block: Block, *elements: Sequence[StateVariable | None]) -> None:
        """Give the elements of a block their state variables; None where one does without one of its type."""
        block.scalars = np.full((block.size, block.type.scalars), -1, np.int64)
        for e, states in enumerate(elements):
            block.par[e, -len(states) :] = [1.0 if state is None else state.size for state in states]
            for k, state in enumerate(states):
                if state is not None:
                    block.scalars[e, k] = len(self.scalars)
                    self.states[len(self.scalars)] = state
                    self.scalars.append(f'state "{state.name}" of "{state.of}"')

    def plain_material(self, owner: str, name: str) -> Material:
        """Return an isotropic material by its name, as beams and trusses need it."""
        if name in self.solid_materials:
            raise ModelError(
                f'material "{name}" is for solids', owner=owner, remedy='give a `material`, or a section "matrix"'
            )
        return self.find("material", name, self.materials, owner)

    def line_cells(self, owner: str, on: Any) -> np.ndarray:
        """Return line cells (n, 2) of "mesh", "mesh:set", or of a list [place, place]."""
        if isinstance(on, (list, tuple)):
            if len(on) != 2:
                raise ModelError(f"on = {shown(on)} must be a mesh's set or two nodes", owner=owner, key="on", value=on)
            cells = np.array([[self.node_of(p, owner) for p in on]])
        else:
            mesh, _, name = str(on).partition(":")
            part, first = self.find("mesh", mesh, self.meshes, owner)
            cells = first + part.lines(name or None)
        if len(cells) == 0:
            raise ModelError(f'"{on}" has no line cells', owner=owner)
        x = self.positions
        length = np.linalg.norm(x[cells[:, 1]] - x[cells[:, 0]], axis=1)
        if (length == 0.0).any():
            i = int(np.flatnonzero(length == 0.0)[0])
            a, b = (self.node_name(k) for k in cells[i])
            raise ModelError(
                f'element {i} between nodes "{a}" and "{b}" has no length',
                owner=owner,
                remedy="move or merge its nodes",
            )
        return cells

    # --- points and axes ------------------------------------------------------------------------------------------
    def global_point(self, node: int, offset: np.ndarray) -> np.ndarray:
        return offset if node == GROUND else self.position(node) + self.rotation_matrix(node) @ offset

    def start_angle(self, node: int) -> float:
        return 0.0 if node == GROUND else self.rotations.get(node, 0.0)

    def turning_node(self, place: str | int, owner: str, frames: bool = False) -> int:
        """Return node of a place that must have a rotation; ground has one.  ``frames`` as in `nodes_of`."""
        if place == "ground":
            return GROUND
        node = self.node_of(place, owner, frames)
        self.needs_rotation.append((owner, node))
        return node

    def triad(self, owner: str, axis: Any) -> np.ndarray:
        """Return right-handed triad (columns u, v, axis)."""
        axis = self.axis(axis, owner)
        u = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
        u /= np.linalg.norm(u)
        return np.column_stack((u, np.cross(axis, u), axis))

    def turned_axes(self, rotation: Any, owner: str) -> np.ndarray:
        """Return axes (dim, dim), in columns, turned from the global ones by an angle; in space by axis times angle."""
        if self.dimension == 2:
            angle = 0.0 if rotation is None else self.number(rotation, owner, "rotation")
            return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        if rotation is None:
            return np.eye(3)
        return rotation_matrices(self.vector(rotation, owner, "rotation"))

    def axis(self, axis: Any, owner: str, key: str = "axis") -> np.ndarray:
        if axis is None:
            where = "in space " if self.dimension == 3 else ""
            raise ModelError(f"{where}it needs its {key}", owner=owner, remedy=f"add {key} = [...]")
        v = self.vector(axis, owner, key)
        length = np.linalg.norm(v)
        if length == 0.0:
            raise ModelError(f"{key} {tuple(float(x) for x in v)} has no length", owner=owner)
        return v / length

    def relative_angle(
        self, owner: str, nodes: Any, axis: Any, pointer: Any = None, turn: Any = None
    ) -> JointCoordinate:
        """Return the angle by which the second of two nodes turns more than the first, in space about an axis of the
        first.

        ``pointer`` (space) is the direction, fixed in the second node, whose angle counts; None: the twist about the
        axis counts.
        ``turn`` is the rotation by which the second stands off the place where the angle is zero: an angle in the
        plane, in space a matrix.
        """
        a, b = nodes
        if self.dimension == 2:
            return JointCoordinate(True, (a, b), {}, self.start_angle(b) - self.start_angle(a) + (turn or 0.0))
        u, v, n = self.triad(owner, axis).T
        if pointer is None:
            pointer, across = u, v
        else:
            across = np.zeros(3)
            u = pointer - (pointer @ n) * n
            u /= np.linalg.norm(u)
            v = np.cross(n, u)
        Ra, Rb = self.rotation_matrix(a), self.rotation_matrix(b)
        if turn is not None:
            Rb = turn @ Rb
        vectors = (("u", Ra.T @ u), ("v", Ra.T @ v), ("b", Rb.T @ pointer), ("c", Rb.T @ across))
        columns = {f"{key}{c}": float(x) for key, w in vectors for c, x in zip("xyz", w, strict=True)}
        return JointCoordinate(True, (a, b), columns)
