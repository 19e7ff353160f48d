"""Closing of joints, initial velocities, sensors, checks and events of the model builder."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.functions.expressions import compile_expression
from fem_mbs.functions.kinds import make_function
from fem_mbs.model.checks import Check
from fem_mbs.model.connections.joints import Joints
from fem_mbs.model.records import Assembling, Event, InitialSpeed, InitialVelocity
from fem_mbs.model.sensors import make_sensor
from fem_mbs.system.compile import GROUND

__all__ = ["Beginnings"]


class Beginnings(Joints):
    """How the machine begins, and what is looked at."""

    # --- assembly --------------------------------------------------------------------------------------------------
    def assembly(self, hold: Any = None) -> None:
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
    def initial(
        self, on: Any = "all", velocity: Any = None, spin: Any = None, centre: Any = None, method: str | None = None
    ) -> None:
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
            return np.full(len(nodes), self.number(value, owner, key))

        v = np.zeros((len(nodes), self.dimension))
        if velocity is not None:
            if isinstance(velocity, str) or np.ndim(velocity) != 1 or len(velocity) != self.dimension:
                raise ModelError(f"{owner}: velocity = {velocity!r} must be {self.dimension} numbers or expressions")
            v = np.column_stack([evaluate(c, "velocity") for c in velocity])
        if self.dimension == 2:
            w = np.zeros(len(nodes)) if spin is None else evaluate(spin, "spin")
            if centre is not None:
                arm = x - self.vector(centre, owner, "centre")
                v = v + w[:, None] * np.column_stack((-arm[:, 1], arm[:, 0]))
        else:
            w = np.zeros((len(nodes), 3)) + (0.0 if spin is None else self.vector(spin, owner, "spin"))
            if centre is not None:
                v = v + np.cross(w, x - self.vector(centre, owner, "centre"))
        self.initial_velocities.append(InitialVelocity(nodes, v, w))

    def initial_speed(self, on: str, component: str, value: float, against: str = "ground", axis: Any = None) -> None:
        """Set the speed of one coordinate at the start; everything else follows from joints, motions and `initial`.

        Args:
            component: "x", "y", "z" [m/s] or "rotation" [rad/s].
            against: for "rotation": the place that the rotation is counted from, as in the joint between the two.
            axis: for "rotation" in space.
        """
        owner = f'Initial speed of "{on}"'
        value = self.number(value, owner, "value")
        if component != "rotation":
            k = self._component(owner, component)
            if against != "ground" or axis is not None:
                raise ModelError(f'{owner}: against and axis belong to the component "rotation"; remove them')
            self.initial_speeds.append(InitialSpeed(on, self.node_of(on, owner), k, None, GROUND, value))
            return
        node, other = self.turning_node(on, owner), self.turning_node(against, owner)
        if node == other:
            raise ModelError(f'{owner}: "{on}" does not turn against itself; name another place in against')
        if self.dimension == 2:
            direction = np.array([1.0])
        elif axis is None:
            raise ModelError(f"{owner}: in space a rotation needs its axis; add axis = [...]")
        else:
            direction = self.axis(axis, owner)
        self.initial_speeds.append(InitialSpeed(on, node, None, direction, other, value))

    # --- sensors and steps -----------------------------------------------------------------------------------------

    def sensor(self, name: str, kind: str, **options: Any) -> None:
        """Add a named quantity written at every step; see `fem_mbs.model.sensors` for the kinds and their options."""
        self.new_name("Sensor", name, {s.name for s in self.sensors})
        self.sensors.append(make_sensor(self, name, kind, options))

    def check(
        self,
        name: str,
        sensor: str,
        reference: float,
        tolerance: float,
        quantity: str | None = None,
        at: float | None = None,
        source: str = "",
    ) -> None:
        """Add a value that a run should reproduce: a quantity of a sensor, or its value at a time; see
        `fem_mbs.model.checks`."""
        self.new_name("Check", name, {c.name for c in self.checks})
        if quantity is None and at is not None:
            quantity = "at"
        if not any(str(sensor) == s.name or str(sensor).startswith(f"{s.name}.") for s in self.sensors):
            self.find("sensor", sensor, {s.name: s for s in self.sensors}, f'Check "{name}"')
        self.checks.append(Check(name, sensor, reference, tolerance, quantity, at, source))

    def event(
        self,
        name: str,
        sensor: str,
        value: float = 0.0,
        direction: str = "both",
        action: str = "stop",
        target: Any = None,
        function: Any = None,
    ) -> None:
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
        owner = f'Event "{self.new_name("Event", name, {e.name for e in self.events})}"'
        found = next((s for s in self.sensors if str(sensor) == s.name or str(sensor).startswith(f"{s.name}.")), None)
        if found is None:
            self.find("sensor", sensor, {s.name: s for s in self.sensors}, owner)
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
        value = self.number(value, owner, "value")
        self.events.append(Event(name, str(sensor), value, direction, action, targets, law))
