"""Sensor of the forces and moments that supports, motions, joints and other conditions exert."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import PLACE, shown
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest, kind_key
from fem_mbs.solvers.stepping.layout import REC_OUT, REC_REACTION
from fem_mbs.system.blocks import GROUND

__all__ = ["Reaction"]


class _Reaction(Sensor):
    """Forces [N] and moments [N m] in global axes, always in the order "force x" ... "moment z" (plane: "force x",
    "force y", "moment").

    - A place: what its supports and motions exert on the model ("x" ... "mz"; moments about each node, summed up).
    - A joint: what it exerts on its part a, about the joint's point in a (`slider`, `position`: on their only part).
      It holds the joint's own driver, but no motors, springs and friction.  Along beams and on curves it is about the
      point on the line or curve, and holds all forces along it, those of springs and friction too. A distance joint
      has its "tension" too, a screw what its thread does on both coordinates, "thread force" and "thread moment",
      with the signs of drives.
    - A gear (also rack, rope): "force a" and "force b" [N] or [N m] act on the coordinates of its joints a and b, with
      the signs of drives; "a force x" ... "a moment z" on part a of its joint a, about the point there, "b force x" ...
      on part a of its joint b.
    - A coupling: on its reference, about it.
    - Equations and ties: over all their nodes, of ties over the tied ones; moments about the origin.
    """

    unit, mid_step = "N", True

    def prepare(self, on):
        if isinstance(on, (list, tuple, np.ndarray)):
            raise ModelError(
                f"on = {shown(on)} must be one place or name", owner=self.owner, key="on", value=on,
                remedy="give each place a sensor",
            )  # fmt: skip
        self.on = on
        self.joint = on in self.model.labels and on not in self.model.bodies and on not in self.model.groups
        if not self.joint:
            self.nodes = self.model.nodes_of(on, self.owner, frames=True)

    def bind(self, compiled):
        system = compiled.system
        if self.joint:
            return self._joint_records(system)
        held = system.system.equation < 0
        for dofs in compiled.step_supports.values():
            held[dofs] = True
        components = ["x", "y", "z"][: self.model.dimension]
        rotations = ["moment"] if self.model.dimension == 2 else ["mx", "my", "mz"]
        self.columns, self.unit, self.groups, records = [], [], [], []
        for i, name in enumerate(components + rotations):
            dofs = []
            for n in self.nodes:
                if i < self.model.dimension or system.nodes.rotational[n]:
                    dof = int(system.offset[n]) + i
                    if held[dof]:
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
                coupled = joint is not None and joint.kind == "gear"
                if not coupled and np.isin(block.nodes[first:last], [GROUND, *self.model.path_nodes]).all():
                    continue  # drives or couples places along lines: the wrench is that of the slide
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


@dataclass(frozen=True, eq=False)
class Reaction(SensorRequest):
    """Force and moment [N], [N m] in global axes that supports or motions of a place exert on the model, or what a
    joint, gear, coupling, tie or equation exerts (below)."""

    sensor = _Reaction

    kind: str = kind_key("reaction")
    on: Any = key(PLACE, "place, or name of a joint, gear, coupling, tie or equation", kw_only=True)
