"""The model: what is said of a machine, in calls that a model file makes as well.

Everything is named; a place is the name of a body, of a node, of a mesh's set ("rod:left") or "ground".  Positions are
those of the start; a joint or load point is given in global coordinates of the start and travels with its body.

Units are the user's own consistent ones; documents and messages speak of SI.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from fem_mbs.display import Shown
from fem_mbs.errors import ModelError
from fem_mbs.model.builder import Builder
from fem_mbs.model.calls import Built, calls
from fem_mbs.model.compiled import CompiledModel, compile_model
from fem_mbs.model.fields import check_fields
from fem_mbs.model.records import Body, InitialSpeed, InitialVelocity, Step
from fem_mbs.model.step_values import frequencies_of, numbers_of, speeds_of, unbalances_of

__all__ = ["Body", "CompiledModel", "InitialSpeed", "InitialVelocity", "Model", "Step"]


class Model(Shown):
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

    def __init__(
        self,
        dimension: int = 3,
        title: str = "",
        gravity: Sequence[float] | None = None,
        elimination: bool = True,
        fields: Sequence[str] = ("stress",),
    ) -> None:
        if dimension not in (2, 3):
            raise ModelError(f"Model: dimension = {dimension!r} is neither 2 (plane) nor 3 (space)")
        self.building = Builder(dimension)
        self.title, self.elimination = title, bool(elimination)
        self.gravity = np.zeros(dimension) if gravity is None else self.building.vector(gravity, "Model", "gravity")
        self.field_names = check_fields(fields)
        self.steps: list[Step] = []

    def __repr__(self) -> str:
        steps = ", ".join(step.name for step in self.steps) or "no steps"
        counts = ((len(self.joints), "joints"), (len(self.sensors), "sensors"))
        told = ", ".join([f"{self.n_nodes} nodes", *(f"{count} {what}" for count, what in counts if count)])
        return f"<Model {self.title!r}: {self.dimension} dimensions, {told}; {steps}>"

    def __copy__(self) -> Model:
        """Return a model whose attributes, those of its building included, can be set without changing this one."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, building=copy(self.building))
        return other

    # What the building has.
    dimension = Built()
    n_nodes = Built()
    positions = Built()
    position = Built()
    node_name = Built()
    nodes_of = Built()
    node_of = Built()
    node_displacement = Built()
    drivers = Built()
    single_elements = Built()
    materials = Built()
    solid_materials = Built()
    solid_groups = Built()
    temperatures = Built()
    sections = Built()
    meshes = Built()
    bodies = Built()
    joints = Built()
    named_nodes = Built()
    functions = Built()
    groups = Built()
    sensors = Built()
    checks = Built()
    initial_velocities = Built()
    initial_speeds = Built()
    initial_method = Built()
    assembling = Built()
    events = Built()
    reserved_loads = Built()
    rotors = Built()
    reduced_parts = Built()
    components = Built()
    warnings = Built()

    # What can be said of a machine.
    assembly = calls(Builder.assembly)
    initial = calls(Builder.initial)
    initial_speed = calls(Builder.initial_speed)
    sensor = calls(Builder.sensor)
    check = calls(Builder.check)
    event = calls(Builder.event)
    material = calls(Builder.material)
    solid_material = calls(Builder.solid_material)
    section = calls(Builder.section)
    function = calls(Builder.function)
    mesh = calls(Builder.mesh)
    line = calls(Builder.line)
    polyline = calls(Builder.polyline)
    arc = calls(Builder.arc)
    node = calls(Builder.node)
    body = calls(Builder.body)
    reduced_part = calls(Builder.reduced_part)
    tie = calls(Builder.tie)
    beams = calls(Builder.beams)
    trusses = calls(Builder.trusses)
    solids = calls(Builder.solids)
    planes = calls(Builder.planes)
    point_mass = calls(Builder.point_mass)
    disc = calls(Builder.disc)
    nodal_mass = calls(Builder.nodal_mass)
    spring = calls(Builder.spring)
    torsion_spring = calls(Builder.torsion_spring)
    nodal_spring = calls(Builder.nodal_spring)
    fix = calls(Builder.fix)
    motion = calls(Builder.motion)
    joint = calls(Builder.joint)
    gear = calls(Builder.gear)
    equation = calls(Builder.equation)
    equations = calls(Builder.equations)
    coupling = calls(Builder.coupling)
    joint_spring = calls(Builder.joint_spring)
    motor = calls(Builder.motor)
    user_force = calls(Builder.user_force)
    friction = calls(Builder.friction)
    bushing = calls(Builder.bushing)
    bearing = calls(Builder.bearing)
    component = calls(Builder.component)
    rotor = calls(Builder.rotor)
    force = calls(Builder.force)
    moment = calls(Builder.moment)
    line_load = calls(Builder.line_load)
    part_load = calls(Builder.part_load)
    pressure = calls(Builder.pressure)
    traction = calls(Builder.traction)
    temperature = calls(Builder.temperature)
    centrifugal = calls(Builder.centrifugal)
    base_excitation = calls(Builder.base_excitation)

    # --- steps -----------------------------------------------------------------------------------------------------
    # Steps take what they need first (duration and h, increments, count ...), then their name, all else by keyword.
    def transient_step(self, duration: float, h: float, name: str = "transient", **options: Any) -> None:
        """Add a transient of ``duration`` [s] in steps of h; see `fem_mbs.analysis.options.TRANSIENT_OPTIONS`, and
        `fem_mbs.analysis.transient.rules` for ``rule`` ("midpoint", "decaying", "generalised-alpha", "hht", ...)."""
        owner = f'Step "{name}"'
        duration = self.building.number(duration, owner, "duration", 0.0, strict=True)
        h = self.building.number(h, owner, "h", 0.0, strict=True)
        self.steps.append(Step("transient", name, {"duration": duration, "h": h, **options}))

    def inverse_step(self, duration: float, h: float, name: str = "inverse", **options: Any) -> None:
        """Add inverse dynamics: the forces of motions and driven joints that produce their prescribed motion, over
        ``duration`` [s] in steps of h; see `fem_mbs.analysis.options.INVERSE_OPTIONS`.  Every driver so far gets a
        sensor "drive NAME", unless one looks at it already."""
        owner = f'Step "{name}"'
        duration = self.building.number(duration, owner, "duration", 0.0, strict=True)
        h = self.building.number(h, owner, "h", 0.0, strict=True)
        seen = {s.given["on"] for s in self.sensors if s.kind == "drive"}
        names = {s.name for s in self.sensors}
        for driver in self.drivers():
            if driver not in seen and f"drive {driver}" not in names:
                self.sensor(f"drive {driver}", "drive", on=driver)
        self.steps.append(Step("inverse", name, {"duration": duration, "h": h, **options}))

    def static_step(self, increments: int = 1, name: str = "static", **options: Any) -> None:
        """Add a static equilibrium at the present time, reached in load increments; with ``duration`` [s], at times
        that pass over them, all loads, motions and equations following their functions.  For other options see
        `fem_mbs.analysis.statics.steps.STATIC_OPTIONS`."""
        self.steps.append(Step("static", name, {"increments": increments, **options}))

    def linear_static_step(self, name: str = "linear static", **options: Any) -> None:
        """Add linear statics: small displacements about the state that the steps before have left (at first: the
        start), which stays as it is; with a ``duration`` [s] time goes on.  For options see
        `fem_mbs.analysis.steps.linear.LINEAR_STATIC_OPTIONS`."""
        self.steps.append(Step("linear_static", name, options))

    def linear_transient_step(self, duration: float, h: float, name: str = "linear transient", **options: Any) -> None:
        """Add a linear transient: small motions about the state that the steps before have left, which stays as it is;
        for options see `fem_mbs.analysis.linear.transient.LINEAR_TRANSIENT_OPTIONS`."""
        self.steps.append(Step("linear_transient", name, {"duration": duration, "h": h, **options}))

    def modes_step(self, count: int = 10, name: str = "modes", **options: Any) -> None:
        """Add undamped modes about the state that the steps before have left (at first: the start): the ``count``
        lowest, or with ``near`` [Hz] the nearest to a frequency, or all of a ``band`` (low, high) [Hz].

        ``check``: look for modes that the iteration missed by a "probe", prove by "inertia" that there are none, or
        "none"; ``within`` (low, high) [Hz]: keep only those of the modes found; ``preload``: name of a linear static
        step about whose displaced place, with its stresses, the modes are; ``component_cutoff`` [Hz]: by synthesis of
        the model's components (`component`), whose elastic modes up to it are kept."""
        self.steps.append(Step("modes", name, {"count": count, **options}))

    def buckling_step(
        self, count: int = 4, *given: Any, loads: Any = "all", name: str = "buckling", **options: Any
    ) -> None:
        """Add linear buckling about the state that the steps before have left: factors of smallest magnitude by which
        ``loads`` ("all", or names of loads and "gravity") must be added for the model to lose its stability; of both
        signs, or of one ``sign``, "positive" or "negative".

        ``check``: count the factors by the inertia; ``preload``: name of a linear static step whose loads act already,
        and do not grow.

        Raises:
            ModelError: loads or name without their keyword."""
        _by_keyword("buckling_step(count, loads=..., name=...)", given)
        self.steps.append(Step("buckling", name, {"count": count, "loads": loads, **options}))

    def complex_modes_step(self, count: int = 6, name: str = "complex modes", **options: Any) -> None:
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

    def linearise_step(self, name: str = "linearise", **options: Any) -> None:
        """Write the matrices of small motions about the state that the steps before have left to matrices_NAME.npz;
        with ``inputs`` (loads, motions, driven joints, motors) and ``sensors`` also a state-space model, or its
        ``form`` "descriptor" with constraints, to state_space_NAME.npz; ``rotor``, ``speed``, ``frame`` as of
        `complex_modes_step`.  In Python see `fem_mbs.linearise`."""
        self.steps.append(Step("linearise", name, options))

    def stability_map_step(
        self, parameters: Any = (), count: int = 6, name: str = "stability map", **options: Any
    ) -> None:
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

    def harmonic_step(
        self, frequencies: Any = (), name: str = "harmonic", *given: Any, loads: Any = "all", **options: Any
    ) -> None:
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
        found = frequencies_of(self.building, frequencies, f'Step "{name}"')
        self.steps.append(Step("harmonic", name, {"frequencies": found, "loads": loads, **options}))

    def campbell_step(
        self, rotor: str = "", speeds: Any = (), count: int = 6, name: str = "campbell", **options: Any
    ) -> None:
        """Add a Campbell diagram: eigenvalues of a rotor over its speed, about the steady rotation next to the state
        that the steps before have left: branches, senses of whirl, critical speeds.

        Args:
            rotor: name of a rotor.
            speeds: [rad/s], increasing, none negative; or a table {start, end, n} of n equal intervals.
            count: modes to follow, the lowest ones that oscillate.
            orders: of the excitation (``k`` times per turn) for critical speeds; None: unbalance, which is [1] seen
                from outside and [0] in the rotating frame.
            frame: "fixed", "rotating", or "auto": the one in which coefficients are constant, the fixed one if both.
        """
        owner = f'Step "{name}"'
        given = {"rotor": rotor, "speeds": speeds_of(self.building, speeds, owner), "count": count, **options}
        orders = given.get("orders")
        if orders is not None:
            given["orders"] = numbers_of(orders, owner, "orders")
        self.steps.append(Step("campbell", name, given))

    def unbalance_step(
        self, rotor: str = "", speeds: Any = (), unbalances: Any = (), name: str = "unbalance", **options: Any
    ) -> None:
        """Add a steady response to unbalances over the speed, about the steady rotation next to the state that the
        steps before have left.

        Args:
            rotor: name of a rotor.
            speeds: [rad/s], increasing, none negative; or a table {start, end, n} of n equal intervals.
            unbalances: list of tables {at, amount, phase}: a place of one node, mass times distance from the axis
                [kg m], and the angle about the axis [rad] from the first direction across it (y for an axis along x, z
                for y, x for z); all act together.
            at: places whose displacements are wanted; None: those of the unbalances.
            frame: as of `campbell_step`.
        """
        owner = f'Step "{name}"'
        unbalances_of(self.building, unbalances, owner)
        given = {"rotor": rotor, "speeds": speeds_of(self.building, speeds, owner), "unbalances": unbalances, **options}
        self.steps.append(Step("unbalance", name, given))

    # --- to arrays -------------------------------------------------------------------------------------------------
    def compile(self, stepping: bool = True) -> CompiledModel:
        """Check the whole and make the arrays; without ``stepping`` only those that linear steps need.

        Raises:
            ModelError: no elements, nodes that nothing holds or uses, rotations that do not exist, contradictions.
        """
        return compile_model(self, stepping)


def _by_keyword(call: str, given: tuple) -> None:
    """Refuse arguments without their keyword where other steps have another one at their place.

    Raises:
        ModelError: naming the call as it should be.
    """
    if given:
        raise ModelError(f"{call}: {given[0]!r} comes without its keyword; say which argument it is")
