"""The model builder: calls that describe a machine. The model file makes the same calls.

Everything is named; a place is the name of a body, of a node, of a mesh's set ("rod:left") or "ground".  Positions are
those of the start; a joint or load point is given in global coordinates of the start and travels with its body.

Units are the user's own consistent ones; documents and messages speak of SI.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.display import Shown
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
    Parts, Joints, Loads, Frames, Frictions, Solids, Temperatures, NodalSprings, Ties, Rotors, ReducedParts, Components,
    Shown,
):  # fmt: skip
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

    def __repr__(self) -> str:
        steps = ", ".join(step.name for step in self.steps) or "no steps"
        counts = ((len(self.joints), "joints"), (len(self.sensors), "sensors"))
        told = ", ".join([f"{self.n_nodes} nodes", *(f"{count} {what}" for count, what in counts if count)])
        return f"<Model {self.title!r}: {self.dimension} dimensions, {told}; {steps}>"

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

    # --- sensors and steps -----------------------------------------------------------------------------------------
    # Steps take what they need first (duration and h, increments, count ...), then their name, all else by keyword.
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

    def transient_step(self, duration: float, h: float, name: str = "transient", **options) -> None:
        """Add a transient of ``duration`` [s] in steps of h; see `fem_mbs.analysis.options.TRANSIENT_OPTIONS`, and
        `fem_mbs.analysis.transient.rules` for ``rule`` ("midpoint", "decaying", "generalised-alpha", "hht", ...)."""
        owner = f'Step "{name}"'
        duration = self._number(duration, owner, "duration", 0.0, strict=True)
        h = self._number(h, owner, "h", 0.0, strict=True)
        self.steps.append(Step("transient", name, {"duration": duration, "h": h, **options}))

    def inverse_step(self, duration: float, h: float, name: str = "inverse", **options) -> None:
        """Add inverse dynamics: the forces of motions and driven joints that produce their prescribed motion, over
        ``duration`` [s] in steps of h; see `fem_mbs.analysis.options.INVERSE_OPTIONS`.  Every driver so far gets a
        sensor "drive NAME", unless one looks at it already."""
        owner = f'Step "{name}"'
        duration = self._number(duration, owner, "duration", 0.0, strict=True)
        h = self._number(h, owner, "h", 0.0, strict=True)
        seen = {s.given["on"] for s in self.sensors if s.kind == "drive"}
        names = {s.name for s in self.sensors}
        for driver in self.drivers():
            if driver not in seen and f"drive {driver}" not in names:
                self.sensor(f"drive {driver}", "drive", on=driver)
        self.steps.append(Step("inverse", name, {"duration": duration, "h": h, **options}))

    def static_step(self, increments: int = 1, name: str = "static", **options) -> None:
        """Add a static equilibrium at the present time, reached in load increments; with ``duration`` [s], at times
        that pass over them, all loads, motions and equations following their functions.  For other options see
        `fem_mbs.analysis.statics.steps.STATIC_OPTIONS`."""
        self.steps.append(Step("static", name, {"increments": increments, **options}))

    def linear_static_step(self, name: str = "linear static", **options) -> None:
        """Add linear statics: small displacements about the state that the steps before have left (at first: the
        start), which stays as it is; with a ``duration`` [s] time goes on.  For options see
        `fem_mbs.analysis.steps.linear.LINEAR_STATIC_OPTIONS`."""
        self.steps.append(Step("linear_static", name, options))

    def linear_transient_step(self, duration: float, h: float, name: str = "linear transient", **options) -> None:
        """Add a linear transient: small motions about the state that the steps before have left, which stays as it is;
        for options see `fem_mbs.analysis.linear.transient.LINEAR_TRANSIENT_OPTIONS`."""
        self.steps.append(Step("linear_transient", name, {"duration": duration, "h": h, **options}))

    def modes_step(self, count: int = 10, name: str = "modes", **options) -> None:
        """Add undamped modes about the state that the steps before have left (at first: the start): the ``count``
        lowest, or with ``near`` [Hz] the nearest to a frequency, or all of a ``band`` (low, high) [Hz].

        ``check``: look for modes that the iteration missed by a "probe", prove by "inertia" that there are none, or
        "none"; ``within`` (low, high) [Hz]: keep only those of the modes found; ``preload``: name of a linear static
        step about whose displaced place, with its stresses, the modes are; ``component_cutoff`` [Hz]: by synthesis of
        the model's components (`component`), whose elastic modes up to it are kept."""
        self.steps.append(Step("modes", name, {"count": count, **options}))

    def buckling_step(self, count: int = 4, *given, loads="all", name: str = "buckling", **options) -> None:
        """Add linear buckling about the state that the steps before have left: factors of smallest magnitude by which
        ``loads`` ("all", or names of loads and "gravity") must be added for the model to lose its stability; of both
        signs, or of one ``sign``, "positive" or "negative".

        ``check``: count the factors by the inertia; ``preload``: name of a linear static step whose loads act already,
        and do not grow.

        Raises:
            ModelError: loads or name without their keyword."""
        _by_keyword("buckling_step(count, loads=..., name=...)", given)
        self.steps.append(Step("buckling", name, {"count": count, "loads": loads, **options}))

    def complex_modes_step(self, count: int = 6, name: str = "complex modes", **options) -> None:
        """Add damped, gyroscopic and unstable modes exp(p t), p = real + i imaginary [1/s], about the state that the
        steps before have left, at rest or in motion; with a ``rotor``, about the state in which it turns steadily with
        ``speed`` [rad/s] (None: as it does there).

        ``count`` modes (a conjugate pair is one) ``near`` a frequency [Hz] or an eigenvalue [real, imaginary] [1/s],
        or with ``which`` = "rightmost" those of largest real part up to the frequency ``reach`` [Hz]; ``frame``:
        "fixed" or "rotating", where the coefficients must be constant, or "auto".  ``coriolis``: at rest in the frame
        of a centrifugal load, with its Coriolis forces; ``basis``: name of a modal step whose shapes alone span the
        motions; ``preload`` as of `modes_step`.  For the others see
        `fem_mbs.analysis.steps.stability.COMPLEX_MODES_OPTIONS`."""
        self.steps.append(Step("complex_modes", name, {"count": count, **options}))

    def linearise_step(self, name: str = "linearise", **options) -> None:
        """Write the matrices of small motions about the state that the steps before have left to matrices_NAME.npz;
        with ``inputs`` (loads, motions, driven joints, motors) and ``sensors`` also a state-space model, or its
        ``form`` "descriptor" with constraints, to state_space_NAME.npz; ``rotor``, ``speed``, ``frame`` as of
        `complex_modes_step`.  In Python see `fem_mbs.linearise`."""
        self.steps.append(Step("linearise", name, options))

    def stability_map_step(self, parameters=(), count: int = 6, name: str = "stability map", **options) -> None:
        """Add a stability map: largest growth rate and its frequency over one or two parameters; the steps before are
        made anew at every point, and small motions are about the state that they leave (`complex_modes_step`, whose
        options it takes).

        A parameter is a dictionary of ``values`` (rising) and one of

        - ``load``: a name, several, or "all": factors of loads that steps before apply,
        - ``rotor``: speeds of its steady rotation [rad/s],
        - ``element`` (name, or several) and ``number``: a number of these elements, as their type calls it
          ("stiffness", "damping", "mass_damping", "coefficient"); with ``factor`` = true values multiply what it is;

        ``name``: what figures call it.  ``refine``: so many times intervals are halved in which stability is lost; the
        points go to "boundary" of the summary."""
        self.steps.append(Step("stability_map", name, {"parameters": parameters, "count": count, **options}))

    def harmonic_step(self, frequencies=(), name: str = "harmonic", *given, loads="all", **options) -> None:
        """Add a harmonic response: steady vibrations Re(u exp(i 2 pi f t)) about the state that the steps before have
        left, at each of ``frequencies`` f [Hz]: a rising list, or {start, end, n, spacing}, n intervals, "linear" or
        "log".

        ``loads``: "all" (but gravity), or names of loads, "gravity", motions, driven joints and base excitations.  A
        load shakes with the amplitude that its time function has at ``time`` [s] (None: the present time), or that
        ``amplitudes`` {name: value} gives, as amplitude cos(2 pi f t + phase), by ``phases`` {name: degrees}; loads of
        the steps before stay as they are.  ``method``: "direct", "modal" (all modes up to ``cutoff`` [Hz], or as many
        as ``modes``, and what the loads do statically beyond them), or "auto"; ``damping``: ratio of the modes, or a
        list; ``structural``: loss factor of the stiffness; ``preload`` as of `modes_step`.  For the others see
        `fem_mbs.analysis.steps.harmonic.HARMONIC_OPTIONS`.

        Raises:
            ModelError: frequencies that are none, negative, or do not rise; loads without their keyword."""
        _by_keyword("harmonic_step(frequencies, name, loads=...)", given)
        found = self._frequencies(frequencies, f'Step "{name}"')
        self.steps.append(Step("harmonic", name, {"frequencies": found, "loads": loads, **options}))

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


def _by_keyword(call: str, given: tuple) -> None:
    """Refuse arguments without their keyword where other steps have another one at their place.

    Raises:
        ModelError: naming the call as it should be.
    """
    if given:
        raise ModelError(f"{call}: {given[0]!r} comes without its keyword; say which argument it is")
