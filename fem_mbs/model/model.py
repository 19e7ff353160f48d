"""The model builder: calls that describe a machine. The model file makes the same calls.

Everything is named; a place is the name of a body, of a node, of a mesh's set ("rod:left") or "ground".  Positions are
those of the start; a joint or load point is given in global coordinates of the start and travels with its body.

Units are the user's own consistent ones; documents and messages speak of SI.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.functions.expressions import compile_expression
from fem_mbs.functions.kinds import TimeFunction, make_function
from fem_mbs.model.base import Assembling, Body, Event, InitialSpeed, InitialVelocity, Step
from fem_mbs.model.checks import Check
from fem_mbs.model.components import Components
from fem_mbs.model.connections.friction import Frictions
from fem_mbs.model.connections.joints import Joints
from fem_mbs.model.connections.nodal_springs import NodalSprings
from fem_mbs.model.connections.ties import Ties
from fem_mbs.model.frames import Frames
from fem_mbs.model.loads import Loads
from fem_mbs.model.parts import Parts
from fem_mbs.model.reduced import ReducedParts
from fem_mbs.model.rotors import Rotors
from fem_mbs.model.sensors import Sensor, make_sensor
from fem_mbs.model.solids import Solids
from fem_mbs.model.steps import StepCalls
from fem_mbs.model.temperature import Temperatures
from fem_mbs.system.compile import GROUND, Compiled, Nodes, compile_system, merge_blocks
from fem_mbs.system.elimination import shared_coordinates

__all__ = ["Body", "CompiledModel", "InitialSpeed", "InitialVelocity", "Model", "Step"]


@dataclass
class CompiledModel:
    """A compiled model: arrays for the solvers, time functions and sensors. ``merged_joints`` holds name and one
    node of each joint that is modelled by shared unknowns of its nodes."""

    model: Model
    system: Compiled
    functions: list[TimeFunction]
    loads: np.ndarray
    sensors: list[Sensor]
    merged_joints: list[tuple[str, int]]


class Model(
    Parts,
    Joints,
    Loads,
    Frames,
    Frictions,
    Solids,
    Temperatures,
    NodalSprings,
    Ties,
    Rotors,
    ReducedParts,
    Components,
    StepCalls,
):
    """A machine: parts, joints, motions, loads, initial velocities, sensors and steps.

    Args:
        dimension: 2 (plane; x, y and a rotation) or 3.
        title: for reports.
        gravity: acceleration of gravity, (dimension,) [m/s^2].
        elimination: joints of coinciding nodes let these share their unknowns where that is exact, instead of adding
            multipliers.
        fields: what the frames of solid and plane parts hold: some of "stress" (the default) and "strain" at the nodes,
            "shapes" (these also of mode shapes), "points" (at every integration point: much room); see
            `fem_mbs.analysis.fields`.

    Raises:
        ModelError: from every call, naming the thing, the value and the remedy.
    """

    # --- assembly --------------------------------------------------------------------------------------------------
    def assembly(self, hold=None) -> None:
        """Before the first step, close open joints and move driven coordinates to the start values of their functions,
        by the least change of positions and rotations (weighted with masses and inertias).

        Parts of elements keep the shape that the model gives them and move as rigidly as they can; displacements,
        rotations and joint coordinates count from the given positions.  Call it before joints between nodes that stand
        apart.

        Args:
            hold: a place, or a list of places, that must not move beside what supports hold.
        """
        if self.assembling is not None:
            raise ModelError("Assembly: it has been asked for already; keep one")
        places = (hold,) if isinstance(hold, str) else tuple(hold or ())
        self.assembling = Assembling(places)

    # --- initial velocities ----------------------------------------------------------------------------------------
    def initial(self, on="all", velocity=None, spin=None, centre=None, method: str | None = None) -> None:
        """Set velocities at the start: a rigid motion of the whole model, or of a place; later calls add to earlier
        ones.

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
        """Set the speed of one coordinate at the start; everything else follows from joints, motions and `initial`.

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

    # --- sensors, checks and events --------------------------------------------------------------------------------
    def sensor(self, name: str, kind: str, **options) -> None:
        """Add a named quantity written at every step; see `fem_mbs.model.sensors` for the kinds and their options."""
        self._new("Sensor", name, {s.name for s in self.sensors})
        self.sensors.append(make_sensor(self, name, kind, options))

    def check(
        self, name: str, sensor: str, reference: float, tolerance: float, quantity: str | None = None,
        at: float | None = None, source: str = "",
    ) -> None:  # fmt: skip
        """Add a value that a run should reproduce: a quantity of a sensor, or its value at a time; see
        `fem_mbs.model.checks`."""
        self._new("Check", name, {c.name for c in self.checks})
        if quantity is None and at is not None:
            quantity = "at"
        if not any(str(sensor) == s.name or str(sensor).startswith(f"{s.name}.") for s in self.sensors):
            self._find("sensor", sensor, {s.name: s for s in self.sensors}, f'Check "{name}"')
        self.checks.append(Check(name, sensor, reference, tolerance, quantity, at, source))

    def event(
        self, name: str, sensor: str, value: float = 0.0, direction: str = "both", action: str = "stop", target=None,
        function=None,
    ) -> None:  # fmt: skip
        """Add an event: an action in a transient when a sensor passes a value; its time is found to round-off.

        Args:
            sensor: a sensor of positions, velocities, joint coordinates, energies ..., or one of its columns ("tip.y").
            value, direction: what is passed, "rising", "falling" or "both" ways.
            action: "stop" ends the step; "on" and "off" let loads act, or not (what is to be turned on does not act
                before); "switch" gives loads and drivers another function, of the time since the event (drivers go on
                from where they are; a jump of their speed acts on the model as a blow).
            target: name, or list of names, of loads and motors, of "switch" also of motions, driven joints and
                equations.
            function: of "switch".
        """
        owner = f'Event "{self._new("Event", name, {e.name for e in self.events})}"'
        found = next((s for s in self.sensors if str(sensor) == s.name or str(sensor).startswith(f"{s.name}.")), None)
        if found is None:
            self._find("sensor", sensor, {s.name: s for s in self.sensors}, owner)
        elif found.mid_step:
            raise ModelError(
                f'{owner}: "{sensor}" belongs to the middle of time steps, where no step can end; look at a position, '
                "velocity, joint coordinate or energy"
            )
        words = {
            "direction": (direction, ("rising", "falling", "both")),
            "action": (action, ("stop", "on", "off", "switch")),
        }
        for key, (given, allowed) in words.items():
            if given not in allowed:
                raise ModelError(f"{owner}: {key} = {given!r} must be one of {', '.join(allowed)}")
        targets = (target,) if isinstance(target, str) else tuple(target or ())
        if (action == "stop") == bool(targets):
            raise ModelError(
                f'{owner}: "stop" has no target; remove it'
                if targets
                else f'{owner}: action = "{action}" needs a target'
            )
        if (action == "switch") != (function is not None):
            raise ModelError(f'{owner}: function belongs to the action "switch", which needs one')
        law = None if function is None else make_function(function, name=owner, functions=self.functions)
        value = self._number(value, owner, "value")
        self.events.append(Event(name, str(sensor), value, direction, action, targets, law))

    # --- to arrays -------------------------------------------------------------------------------------------------
    def compile(self, stepping: bool = True) -> CompiledModel:
        """Check the whole and make the arrays; without ``stepping`` only those that linear steps need.

        Raises:
            ModelError: no elements, nodes that nothing holds or uses, rotations that do not exist, contradictions.
        """
        if not self._blocks:
            raise ModelError("Model: it has no elements; add beams, trusses, bodies or masses")
        self._check_ways()
        self._check_masses()
        blocks = merge_blocks(self._blocks + self._centrifugal_blocks(self._blocks) + self._coupling_blocks())
        n = self.n_nodes
        used = np.zeros(n, bool)
        for block in blocks:
            used[block.nodes[block.nodes >= 0]] = True
        keep = np.ones(n, bool)
        for first, last in self._droppable:
            keep[first:last] &= used[first:last]
        for mesh, spare in self._spare:
            if not any(group.on(mesh) for group in self.solid_groups.values()):
                spare = self.meshes[mesh][1] + spare
                keep[spare] &= used[spare]
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
        dropped = np.flatnonzero(~keep)
        fixed += [(i, k) for k in range(self.dimension) for i in dropped.tolist()]
        fixed, shaken = self._shake(fixed)
        if self.dimension == 2:
            rotation = np.zeros(n)
        else:
            rotation = np.broadcast_to(np.eye(3), (n, 3, 3)).copy()
        for node, value in self._rotation.items():
            rotation[node] = value
        nodes = Nodes(self.positions, rotational, rotation, self._names, self._scalars)
        held = np.array(fixed, np.int64).reshape(-1, 2)
        driven = self._driven + shaken
        shared = None
        merged: list[Any] = []
        if self.elimination and not self.assembling:
            taken = np.zeros((n, self.dimension + (1 if self.dimension == 2 else 3)), bool)
            taken[held[:, 0], held[:, 1]] = True
            for node, component, _, _ in driven:
                taken[node, component] = True
            kept = {sensor.on for sensor in self.sensors if sensor.kind in ("reaction", "joint")}
            kept.update(name for block in blocks for name in block.reads or ())
            blocks, shared, merged = shared_coordinates(blocks, nodes, taken, kept)
        system = compile_system(self.dimension, nodes, blocks, held, driven, shared, stepping)
        system.callbacks = list(self._callbacks)
        functions = [f for f, _ in self._used_functions]
        loads = np.array([load for _, load in self._used_functions], bool)
        compiled = CompiledModel(self, system, functions, loads, [], merged)
        record: list[Any] = []
        at_end: list[Any] = []
        for sensor in self.sensors:
            bound, own = sensor.bound(compiled, len(record))
            compiled.sensors.append(bound)
            record += own
            at_end += [not bound.mid_step] * len(own)
        system.at_end = np.array(at_end, bool)
        system.system = system.system._replace(record=np.array(record, np.int32).reshape(-1, 2))
        return compiled
