"""Named sensors: quantities over time, computed from values that the compiled step records.

Kinds and their options (places as in `fem_mbs.model.model`):

    position, displacement, velocity   on, point        [m], [m/s]; a point in global coordinates of the start
    rotation                           on               [rad] since the start: unwrapped angle, in space a vector
    distance                           a, b, point_a, point_b    [m]
    angle                              a, b             [rad]: b against a, unwrapped; in space its absolute value
    deflection                         on, a, b, relative   distance of a point from the chord a-b [m], over |a-b| at
                                       the start if relative; signed in the plane (left of the chord is positive)
    element                            on, element, quantity   an output of one element of a group (0 is the first), or
                                       of a spring, motor, bushing or user's force
    strain, force                      on, element      axial strain [-], axial force [N] of one element
    reaction                           on               force [N] and moment [N m], in global axes: of supports or
                                       prescribed motions of a place on the model; see `_Reaction` for joints, gears,
                                       couplings, ties and equations
    joint                              on, quantity     a coordinate of a joint since the start, unwrapped: "angle"
                                       [rad], "displacement" [m]; or what drives it: "drive moment", "drive force"
    drive                              on               [N m], [N] with which a motion or a driven joint drives its
                                       coordinate: positive where it does positive work as the coordinate grows
    modal                              on, mode         coordinates of a reduced part [m]: one shape (1 is the lowest),
                                       or all
    energy                             quantity         a column of the ledger, or "total"

Values that belong to the middle of a step (forces, strains, reactions) are marked ``mid_step``; readers average two
consecutive ones by default (docs/theory.md, section 3).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.model.connections.joint_parts import drivers, joint_coordinate, measure_joint
from fem_mbs.solvers.stepping.stepper import REC_D, REC_OUT, REC_Q, REC_REACTION, REC_V, REC_WORK

__all__ = ["Sensor", "check_options", "make_sensor", "node_values", "sensor_kinds"]


def node_values(time: np.ndarray, values: np.ndarray, mid_step: bool) -> np.ndarray:
    """Return values (n, k) of a sensor at the times of its rows.

    Those that belong to the middle of steps (row i: between row i - 1 and i) become means of two consecutive ones,
    which takes out what alternates from step to step; at both ends the parabola through the next three means goes on
    (the nearest one where there are fewer).  Second order in the time step.
    """
    if not mid_step:
        return values
    out = np.full(values.shape, np.nan)
    out[1:-1] = 0.5 * (values[1:-1] + values[2:])
    if len(out) >= 5:
        out[0] = 3.0 * out[1] - 3.0 * out[2] + out[3]
        out[-1] = 3.0 * out[-2] - 3.0 * out[-3] + out[-4]
    else:
        out[0], out[-1] = values[min(1, len(values) - 1)], values[-1]
    return out


class Sensor:
    """A sensor of a model: `bound` makes that of a compiled model, whose ``evaluate`` turns recorded values (n, k) into
    columns.

    Attributes:
        first, last: of a bound sensor, the range of its values in a row of the record.
    """

    kind: str  # the name under which it is registered
    on: Any  # of most kinds: the place, as given
    unit: str | list[str] = "m"  # a list: one for each column
    mid_step = False
    options: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    needs_ledger = False

    def __init__(self, model, name: str, options: dict[str, Any]):
        self.model, self.name = model, name
        self.owner = Owner("Sensor", name)
        self.first = self.last = 0
        self.columns: list[str] = [name]
        check_options(name, self.kind, options)
        for key in self.required:
            if options.get(key) is None:
                raise ModelError(f'"{key}" is missing', owner=self.owner)
        self.given = options
        self.prepare(**options)

    def prepare(self, **options: Any) -> None:
        """Resolve places."""

    def bound(self, compiled: Any, first: int) -> tuple[Sensor, list[tuple[int, int]]]:
        """The sensor of a compiled model, and what it records there from column ``first`` on: pairs of a source (REC_Q
        ... of the stepper) and an index.  The sensor of the model stays as it is.

        Raises:
            ModelError: the compiled model has no such quantity.
        """
        own = copy(self)
        records = own.bind(compiled)
        own.first, own.last = first, first + len(records)
        return own, records

    def bind(self, compiled: Any) -> list[tuple[int, int]]:
        """What to record of a compiled model.  Columns and units that depend on it are set: `bound` calls this on a
        copy."""
        raise NotImplementedError

    def evaluate(self, values: np.ndarray, ledger: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def vector(self, values: np.ndarray) -> np.ndarray | None:
        """Return the vector whose length is the value, (n, m) [m] or [rad]; else None.

        Where it is zero the value has no derivative, but the vector has."""
        return None

    @property
    def header(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "unit": self.unit,
            "columns": self.columns,
            "mid_step": self.mid_step,
        }


class _Point:
    """A point of a node or body: its records and its position from them."""

    def __init__(self, model, place: str, point, owner: str):
        if place == "ground":
            raise ModelError('"ground" does not move', owner=owner, remedy="name a node or body")
        if point is None:
            self.node, self.offset = model.node_of(place, owner, frames=True), np.zeros(model.dimension)
        else:
            self.node, self.offset = model.point(place, point, owner, frames=True)
        self.eccentric = bool(np.any(self.offset))
        self.dim = model.dimension
        self.start = model.global_point(self.node, self.offset)

    def bind(self, system) -> list[tuple[int, int]]:
        records = [(REC_Q, int(k)) for k in system.position_dofs(self.node)]
        if self.eccentric:
            width = 2 if self.dim == 2 else 9
            row = int(system.rot_row[self.node])
            records += [(REC_D, row * width + i) for i in range(width)]
        return records

    @property
    def size(self) -> int:
        """Number of records."""
        return self.dim + self.eccentric * (2 if self.dim == 2 else 9)

    def arm(self, values: np.ndarray) -> np.ndarray:
        """Return R a (n, dim) from the records of this point."""
        d = values[:, self.dim :]
        if self.dim == 2:
            (c, s), (a, b) = d[:, :2].T, self.offset
            return np.column_stack((c * a - s * b, s * a + c * b))
        return d[:, :9].reshape(-1, 3, 3) @ self.offset

    def position(self, values: np.ndarray) -> np.ndarray:
        x = values[:, : self.dim]
        return x + self.arm(values) if self.eccentric else x


class _Position(Sensor):
    kind, required, options = "position", ("on",), ("point",)

    def prepare(self, on, point=None):
        self.point = _Point(self.model, on, point, self.owner)
        self.columns = [f"{self.name}.{c}" for c in "xyz"[: self.model.dimension]]

    def bind(self, compiled):
        return self.point.bind(compiled.system)

    def evaluate(self, values, ledger):
        return self.point.position(values)


class _Displacement(_Position):
    kind = "displacement"

    def evaluate(self, values, ledger):
        return self.point.position(values) - self.point.start


class _Velocity(_Position):
    kind, unit = "velocity", "m/s"

    def bind(self, compiled):
        system, p = compiled.system, self.point
        records = p.bind(system)
        self.split = len(records)
        records += [(REC_V, int(k)) for k in system.position_dofs(p.node)]
        if p.eccentric:
            first = system.offset[p.node] + p.dim
            records += [(REC_V, int(first) + i) for i in range(1 if p.dim == 2 else 3)]
        return records

    def evaluate(self, values, ledger):
        p, dim = self.point, self.point.dim
        v = values[:, self.split : self.split + dim]
        if not p.eccentric:
            return v
        w = values[:, self.split + dim :]
        if dim == 2:
            arm = p.arm(values)
            return v + w * np.column_stack((-arm[:, 1], arm[:, 0]))
        R = values[:, dim : dim + 9].reshape(-1, 3, 3)
        return v + np.einsum("nij,nj->ni", R, np.cross(w, p.offset))


class _Rotation(Sensor):
    kind, unit, required = "rotation", "rad", ("on",)

    def prepare(self, on):
        self.node = self.model.turning_node(on, self.owner, frames=True)
        if self.node < 0:
            raise ModelError('"ground" does not turn', owner=self.owner, remedy="name a node or body")
        self.columns = [self.name] if self.model.dimension == 2 else [f"{self.name}.{c}" for c in "xyz"]

    def bind(self, compiled):
        return _rotation_records(compiled.system, self.node)

    def evaluate(self, values, ledger):
        if self.model.dimension == 2:
            return values - self.model.start_angle(self.node)
        from scipy.spatial.transform import Rotation

        start = self.model.rotation_matrix(self.node)
        return Rotation.from_matrix(values.reshape(-1, 3, 3) @ start.T).as_rotvec()


def _rotation_records(system, node: int) -> list[tuple[int, int]]:
    if system.dimension == 2:
        return [(REC_Q, int(system.offset[node]) + 2)]
    row = int(system.rot_row[node])
    return [(REC_D, 9 * row + i) for i in range(9)]


class _Distance(Sensor):
    kind, required, options = "distance", ("a", "b"), ("point_a", "point_b")

    def prepare(self, a, b, point_a=None, point_b=None):
        self.points = [_Point(self.model, a, point_a, self.owner), _Point(self.model, b, point_b, self.owner)]

    def bind(self, compiled):
        return [r for p in self.points for r in p.bind(compiled.system)]

    def split(self, values):
        at, out = 0, []
        for p in self.points:
            out.append(p.position(values[:, at : at + p.size]))
            at += p.size
        return out

    def vector(self, values):
        a, b = self.split(values)
        return b - a

    def evaluate(self, values, ledger):
        return np.linalg.norm(self.vector(values), axis=1)[:, None]


class _Deflection(_Distance):
    kind, required, options = "deflection", ("on", "a", "b"), ("relative",)

    def prepare(self, on, a, b, relative=False):
        self.points = [_Point(self.model, place, None, self.owner) for place in (on, a, b)]
        chord = float(np.linalg.norm(self.points[2].start - self.points[1].start))
        if chord == 0.0:
            raise ModelError(f'"{a}" and "{b}" are at the same place, there is no chord between them', owner=self.owner)
        self.factor = 1.0 / chord if relative else 1.0
        self.unit = "-" if relative else "m"

    def vector(self, values):
        if self.model.dimension == 2:
            return None
        p, a, b = self.split(values)
        chord = b - a
        return self.factor * np.cross(chord, p - a) / np.linalg.norm(chord, axis=1)[:, None]

    def evaluate(self, values, ledger):
        if self.model.dimension == 3:
            return np.linalg.norm(self.vector(values), axis=1)[:, None]
        p, a, b = self.split(values)
        chord = b - a
        w = (chord[:, 0] * (p - a)[:, 1] - chord[:, 1] * (p - a)[:, 0]) / np.linalg.norm(chord, axis=1)
        return (self.factor * w)[:, None]


class _Angle(Sensor):
    kind, unit, required = "angle", "rad", ("a", "b")

    def prepare(self, a, b):
        self.nodes = [self.model.turning_node(place, self.owner, frames=True) for place in (a, b)]

    def bind(self, compiled):
        return [r for n in self.nodes if n >= 0 for r in _rotation_records(compiled.system, n)]

    def evaluate(self, values, ledger):
        if self.model.dimension == 3:
            return np.linalg.norm(self.vector(values), axis=1)[:, None]
        angles, at = [], 0
        for n in self.nodes:
            angles.append(values[:, at] - self.model.start_angle(n) if n >= 0 else 0.0)
            at += n >= 0
        return np.reshape(angles[1] - angles[0], (-1, 1))

    def vector(self, values):
        if self.model.dimension == 2:
            return None
        from scipy.spatial.transform import Rotation

        turned, at = [], 0
        for n in self.nodes:
            if n >= 0:
                R = values[:, at : at + 9].reshape(-1, 3, 3)
                turned.append(R @ self.model.rotation_matrix(n).T)
                at += 9
            else:
                turned.append(np.broadcast_to(np.eye(3), (len(values), 3, 3)))
        relative = np.einsum("nij,nik->njk", turned[0], turned[1])
        return Rotation.from_matrix(relative).as_rotvec()


class _Element(Sensor):
    kind, mid_step, required, options = "element", True, ("on",), ("element", "quantity")
    default = None

    def prepare(self, on, element=0, quantity=None):
        singles = self.model.single_elements
        if on not in self.model.groups and on not in singles:
            self.model.find("group of elements", on, {**self.model.groups, **singles}, self.owner)
        count = len(self.model.groups.get(on, [0]))
        if isinstance(element, bool) or not isinstance(element, int) or not 0 <= element < count:
            raise ModelError(
                f"element = {element!r}",
                owner=self.owner,
                key="element",
                value=element,
                remedy=f'"{on}" has elements 0 to {count - 1}',
            )
        self.group, self.element, self.count = on, element, count
        self.quantity = quantity or self.default

    def bind(self, compiled):
        found = []
        for block in compiled.system.blocks:
            for name, first, last in block.groups:
                if name == self.group and block.type.outputs and last - first == self.count:
                    found.append((block, first))
        block, first = found[0]
        names = [o.split(" [")[0] for o in block.type.outputs]
        if self.quantity not in names:
            raise ModelError(
                f"quantity = {self.quantity!r}",
                owner=self.owner,
                key="quantity",
                value=self.quantity,
                remedy=f"its elements have {', '.join(names)}",
            )
        column = names.index(self.quantity)
        self.unit = block.type.outputs[column].partition(" [")[2].rstrip("]") or "-"
        compiled.system.watch(block)
        return [(REC_OUT, block.first_output + (first + self.element) * len(names) + column)]

    def evaluate(self, values, ledger):
        return values


class _Strain(_Element):
    kind, unit, options, default = "strain", "-", ("element",), "strain"


class _Force(_Element):
    kind, unit, options, default = "force", "N", ("element",), "N"


class _Reaction(Sensor):
    """Forces [N] and moments [N m] in global axes, always in the order "force x" ... "moment z" (plane: "force x",
    "force y", "moment").

    - A place: what its supports and motions exert on the model ("x" ... "mz"; moments about each node, summed up).
    - A joint: what it exerts on its part a, about the joint's point in a (`along_beam`: about the point on the beam;
      `slider`, `position`: on their only part).  It holds the joint's own driver, but no motors, springs and friction.
      A distance joint has its "tension" too, a screw what its thread does on both coordinates, "thread force" and
      "thread moment", with the signs of drives.
    - A gear (also rack, rope): "force a" and "force b" [N] or [N m] act on the coordinates of its joints a and b, with
      the signs of drives; "a force x" ... "a moment z" on part a of its joint a, about the point there, "b force x" ...
      on part a of its joint b.
    - A coupling: on its reference, about it.
    - Equations and ties: over all their nodes, of ties over the tied ones; moments about the origin.
    """

    kind, unit, mid_step, required = "reaction", "N", True, ("on",)

    def prepare(self, on):
        self.on = on
        self.joint = on in self.model.labels and on not in self.model.bodies and on not in self.model.groups
        if not self.joint:
            self.nodes = self.model.nodes_of(on, self.owner, frames=True)

    def bind(self, compiled):
        system = compiled.system
        if self.joint:
            return self._joint_records(system)
        components = ["x", "y", "z"][: self.model.dimension]
        rotations = ["moment"] if self.model.dimension == 2 else ["mx", "my", "mz"]
        self.columns, self.unit, self.groups, records = [], [], [], []
        for i, name in enumerate(components + rotations):
            dofs = []
            for n in self.nodes:
                if i < self.model.dimension or system.nodes.rotational[n]:
                    dof = int(system.offset[n]) + i
                    if system.system.equation[dof] < 0:
                        dofs.append(dof)
            if dofs:
                self.groups.append((len(records), len(records) + len(dofs)))
                records += [(REC_REACTION, d) for d in dofs]
                self.columns.append(f"{self.name}.{name}")
                self.unit.append("N" if i < self.model.dimension else "N m")
        if not records:
            raise ModelError(f'nothing holds or drives "{self.on}", so it has no reaction', owner=self.owner)
        return records

    def _joint_records(self, system):
        """Return force and moment of all elements of the joint together, from those of their outputs that say so."""
        dim = self.model.dimension
        wrench = {f"force {c}": "N" for c in "xyz"[:dim]}
        wrench |= {"moment": "N m"} if dim == 2 else {f"moment {c}": "N m" for c in "xyz"}
        joint = self.model.joints.get(self.on)
        parts: dict[str, tuple[str, list[int]]] = {}
        if joint is None or joint.kind != "gear":
            parts = {name: (unit, []) for name, unit in wrench.items()}
        found = False
        for block in system.blocks:
            t = block.type
            if not t.multipliers:
                continue
            names = [o.partition(" [")[0] for o in t.outputs]
            for first, last in ((first, last) for name, first, last in block.groups if name == self.on):
                if t.ends == 2 and np.isin(block.nodes[first:last], self.model.path_nodes).any():
                    continue  # drives the place along a beam: its share of the wrench is that of the slide
                found = True
                system.watch(block)
                elements = block.first_output + np.arange(first, last) * len(names)
                for name, (unit, sources) in self._sources(block, first, joint, wrench).items():
                    column = parts.setdefault(name, (unit, []))[1]
                    for source in sources:
                        if source in names:
                            column.extend((elements + names.index(source)).tolist())
        if not found:
            raise ModelError(f'"{self.on}" is no joint, and no place that is held', owner=self.owner)
        self.columns = [f"{self.name}.{quantity}" for quantity in parts]
        self.unit = [unit for unit, _ in parts.values()]
        self.groups, records = [], []
        for _, outputs in parts.values():
            self.groups.append((len(records), len(records) + len(outputs)))
            records += [(REC_OUT, k) for k in outputs]
        return records

    def _sources(self, block, e: int, joint, wrench: dict[str, str]) -> dict[str, tuple[str, list[str]]]:
        """Return columns with their units, and the outputs of elements of a block that belong to them; e is one of
        these."""
        kind = block.type.name
        if kind.startswith(("coupling", "pulley")):
            angular = [block.par[e, block.type.column(f"angular_{k}")] != 0.0 for k in "ab"]
            units = ["N m" if a else "N" for a in angular]
            if joint.kind == "gear":
                own = {f"force {k}": (unit, [f"force {k}"]) for k, unit in zip("ab", units, strict=True)}
                return own | {f"{k} {c}": (unit, [f"{c} {k}"]) for k in "ab" for c, unit in wrench.items()}
            own = {c: (unit, [f"{c} a", f"{c} b"]) for c, unit in wrench.items()}
            return own | {"thread moment": ("N m", ["force a"]), "thread force": ("N", ["force b"])}
        if joint is not None:
            own = {c: (unit, [c]) for c, unit in wrench.items()}
            return own | ({"tension": ("N", ["tension"])} if kind.startswith("distance") else {})
        # forces at points of a reference have their moments about it; terms of equations about the origin
        coupled = any(c.name == self.on for c in self.model.couplings)
        node = coupled and kind.startswith(("point", "offset"))
        prefix = "node " if node else ("origin " if not coupled and kind.startswith("equation") else "")
        about = {c: [prefix + c] + ([f"{c} z"] if c == "moment" else []) for c in wrench if "moment" in c}
        return {c: (unit, about.get(c, [c])) for c, unit in wrench.items()}

    def evaluate(self, values, ledger):
        return np.column_stack([values[:, a:b].sum(axis=1) for a, b in self.groups])


class _Joint(Sensor):
    kind, required, options = "joint", ("on",), ("quantity",)
    drives: ClassVar[dict[str, bool]] = {"drive moment": True, "drive force": False}  # angular or not

    def prepare(self, on, quantity=None):
        self.on, self.quantity, self.plane = on, quantity, None
        if quantity in self.drives:
            self.model.find("joint", on, self.model.joints, self.owner)
            self.label, self.mid_step = on, True
            self.unit = "N m" if self.drives[quantity] else "N"
            return
        key, c = joint_coordinate(self.model, on, quantity, self.owner)
        self.unit = "rad" if c.angular else "m"
        self.quantity = "angle" if c.angular else "displacement"
        if c.angular and self.model.dimension == 2:
            self.plane = c
        else:
            self.label = measure_joint(self.model, on, key)

    def bind(self, compiled):
        if self.plane is not None:
            return [r for n in self.plane.nodes if n >= 0 for r in _rotation_records(compiled.system, n)]
        labels = {self.label, *(self.model.joints[self.on].driven.values() if self.mid_step else ())}
        for block in compiled.system.blocks:
            names = [o.split(" [")[0] for o in block.type.outputs]
            if self.quantity not in names:
                continue
            for label, first, _ in block.groups:
                driven = not self.mid_step or block.par[first, block.type.column("function")] >= 0.0
                if label in labels and driven:
                    compiled.system.watch(block)
                    return [(REC_OUT, block.first_output + first * len(names) + names.index(self.quantity))]
        raise ModelError(f'"{self.on}" has no {self.quantity}', owner=self.owner, remedy="see its reaction")

    def evaluate(self, values, ledger):
        if self.plane is None:
            return values
        a, b = self.plane.nodes
        angle = (values[:, -1] if b >= 0 else 0.0) - (values[:, 0] if a >= 0 else 0.0)
        return np.reshape(angle - self.plane.start, (-1, 1))


class _Drive(Sensor):
    """The driving force on the coordinate of a motion or a driven joint, positive with its growth."""

    kind, mid_step, required = "drive", True, ("on",)

    def prepare(self, on):
        known = dict.fromkeys(drivers(self.model))
        self.model.find("motion or driven joint", on, known, self.owner)
        self.on = on

    def bind(self, compiled):
        system = compiled.system
        parts: dict[str, list[tuple[int, int]]] = {}
        for owner, dof in zip(system.driven.owners, system.driven.dofs, strict=True):
            if owner.name == self.on:
                node = int(np.searchsorted(system.offset, dof, side="right") - 1)
                angular = dof - system.offset[node] >= system.dimension
                parts.setdefault("moment" if angular else "force", []).append((REC_REACTION, int(dof)))
        for block in system.blocks:
            names = [o.split(" [")[0] for o in block.type.outputs]
            if not block.type.multipliers or "function" not in block.type.par:
                continue
            for label, first, last in block.groups:
                for e in range(first, last if label == self.on else first):
                    if block.par[e, block.type.column("function")] < 0.0:
                        continue
                    system.watch(block)
                    moment = "drive moment" in names
                    at = block.first_output + e * len(names) + names.index("drive moment" if moment else "drive force")
                    parts.setdefault("moment" if moment else "force", []).append((REC_OUT, at))
        self.unit = ["N m" if key == "moment" else "N" for key in parts]
        self.columns = [self.name] if len(parts) == 1 else [f"{self.name}.{key}" for key in parts]
        self.groups, records = [], []
        for found in parts.values():
            self.groups.append((len(records), len(records) + len(found)))
            records += found
        return records

    def evaluate(self, values, ledger):
        return np.column_stack([values[:, a:b].sum(axis=1) for a, b in self.groups])


class _Work(Sensor):
    kind, unit, required = "work", "J", ("on",)

    def prepare(self, on):
        self.on = on
        if on not in self.model.labels:
            raise ModelError(f'"{on}" is no load, motor, spring, motion or joint', owner=self.owner, remedy="name one")

    def bind(self, compiled):
        system = compiled.system
        records = []
        for block in system.blocks:
            for name, first, last in block.groups:
                if name == self.on:
                    records += [(REC_WORK, block.first_element + e) for e in range(first, last)]
        elements = sum(block.size for block in system.blocks)
        records += [(REC_WORK, elements + i) for i, name in enumerate(system.driven.names) if name == self.on]
        return records

    def evaluate(self, values, ledger):
        return values.sum(axis=1, keepdims=True)


class _Modal(Sensor):
    kind, required, options = "modal", ("on",), ("mode",)

    def prepare(self, on, mode=None):
        placed = self.model.find("reduced part", on, self.model.reduced_parts, self.owner)
        count = len(placed.scalars)
        if mode is not None and (isinstance(mode, bool) or not isinstance(mode, int) or not 1 <= mode <= count):
            raise ModelError(
                f'mode = {mode!r} must be a whole number from 1 to {count}, as "{on}" has',
                owner=self.owner,
                key="mode",
                value=mode,
            )
        self.scalars = placed.scalars if mode is None else placed.scalars[[mode - 1]]
        self.columns = [f"{self.name}.{k + 1}" for k in range(count)] if mode is None else [self.name]

    def bind(self, compiled):
        return [(REC_Q, compiled.system.first_scalar + int(k)) for k in self.scalars]

    def evaluate(self, values, ledger):
        return values


class _Energy(Sensor):
    kind, unit, options = "energy", "J", ("quantity",)

    def prepare(self, quantity="total"):
        names = ("kinetic", "strain", "potential", "dissipated", "load work", "driver work", "closing error", "total")
        if quantity not in names:
            raise ModelError(
                f"quantity = {quantity!r} must be one of {', '.join(names)}",
                owner=self.owner,
                key="quantity",
                value=quantity,
            )
        self.quantity = quantity
        self.index = names.index(quantity)

    def bind(self, compiled):
        return []

    def evaluate(self, values, ledger):
        return (ledger[:, :3].sum(axis=1) if self.quantity == "total" else ledger[:, self.index])[:, None]


_KINDS = {
    c.kind: c
    for c in (
        _Position, _Displacement, _Velocity, _Rotation, _Distance, _Deflection, _Angle, _Element, _Strain, _Force,
        _Reaction, _Joint, _Drive, _Work, _Modal, _Energy,
    )
}  # fmt: skip


def sensor_kinds() -> dict[str, tuple[str, ...]]:
    """Return the kinds and their options."""
    return {name: (*c.required, *c.options) for name, c in _KINDS.items()}


def check_options(name: str, kind: str, options: Mapping[str, Any]) -> None:
    """Refuse an unknown kind of sensor, and keys that its kind does not have.

    Raises:
        ModelError: the kind or key, and what there is.
    """
    owner = Owner("Sensor", name)
    if kind not in _KINDS:
        close = difflib.get_close_matches(str(kind), _KINDS, n=1)
        hint = f'; did you mean "{close[0]}"?' if close else f"; there are {', '.join(_KINDS)}"
        raise ModelError(f"unknown kind {kind!r}{hint}", owner=owner)
    known = (*_KINDS[kind].required, *_KINDS[kind].options)
    for word in options:
        if word not in known:
            close = difflib.get_close_matches(word, known, n=1)
            hint = f'; did you mean "{close[0]}"?' if close else f"; it takes {', '.join(known)}"
            raise ModelError(f'unknown key "{word}"{hint}', owner=owner)


def make_sensor(model: Any, name: str, kind: str, options: dict[str, Any]) -> Sensor:
    """Return a sensor of a model.

    Raises:
        ModelError: unknown kind, key or place.
    """
    check_options(name, kind, {})
    return _KINDS[kind](model, name, options)
