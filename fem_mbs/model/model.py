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

from fem_mbs.declarations.declaration import Declaration
from fem_mbs.display import Shown
from fem_mbs.errors import ModelError
from fem_mbs.model.building import Building
from fem_mbs.model.calls import Built, adds
from fem_mbs.model.compiled import CompiledModel, compile_model
from fem_mbs.model.components import Substructure
from fem_mbs.model.connections.couplings import Coupling
from fem_mbs.model.connections.equations import Equation, EquationRows
from fem_mbs.model.connections.forces import Bushing, Motor, NodalMass, UserForce
from fem_mbs.model.connections.friction import Friction
from fem_mbs.model.connections.joint_parts import drivers, node_displacement
from fem_mbs.model.connections.joints import Gear, Joint, JointSpring, Motion, Support
from fem_mbs.model.connections.nodal_springs import NodalSpring
from fem_mbs.model.connections.ties import Tie
from fem_mbs.model.fields import check_fields
from fem_mbs.model.geometry import Arc, Line, NamedNode, PlacedMesh, Polyline
from fem_mbs.model.initial import Assembly, Initial, StartSpeed
from fem_mbs.model.loads.forces import Force, LineLoad, Moment
from fem_mbs.model.loads.frames import BaseExcitation, Centrifugal
from fem_mbs.model.loads.temperature import Temperature
from fem_mbs.model.materials import CrossSection, LinearMaterial, NamedFunction
from fem_mbs.model.parts.beams import Beam
from fem_mbs.model.parts.bodies import PointMass, RigidBody, Spring, TorsionSpring, Truss
from fem_mbs.model.parts.reduced import MovingPart, PartLoad
from fem_mbs.model.parts.rotors import Bearing, Disc, RotorAxis
from fem_mbs.model.parts.solids import Plane, Pressure, Solid, Traction
from fem_mbs.model.records import Body, InitialSpeed, InitialVelocity, JointCoordinate, Step
from fem_mbs.model.step_values import frequencies_of, numbers_of, speeds_of, unbalances_of
from fem_mbs.model.watching import CheckRequest, EventRule, SensorRequest

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
        self.building = Building(dimension)
        self.specifications: list[Declaration] = []
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
        other.__dict__.update(self.__dict__, building=copy(self.building), specifications=list(self.specifications))
        return other

    def add(self, declaration: Any, said: Declaration | None = None) -> None:
        """Add a declaration: build it, and keep it, or what was ``said`` where it is what that was worked out to.

        Raises:
            ModelError: it does not fit the model.
        """
        declaration.build(self.building)
        self.specifications.append(declaration if said is None else said)

    # What the building has.
    dimension = Built()
    n_nodes = Built()
    positions = Built()
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
    assembly = adds(Assembly)
    initial = adds(Initial)
    initial_speed = adds(StartSpeed)
    check = adds(CheckRequest)
    event = adds(EventRule)
    material = adds(LinearMaterial)
    section = adds(CrossSection)
    function = adds(NamedFunction)
    mesh = adds(PlacedMesh)
    node = adds(NamedNode)
    body = adds(RigidBody)
    reduced_part = adds(MovingPart)
    tie = adds(Tie)
    beams = adds(Beam)
    trusses = adds(Truss)
    solids = adds(Solid)
    planes = adds(Plane)
    point_mass = adds(PointMass)
    disc = adds(Disc)
    nodal_mass = adds(NodalMass)
    spring = adds(Spring)
    torsion_spring = adds(TorsionSpring)
    nodal_spring = adds(NodalSpring)
    fix = adds(Support)
    motion = adds(Motion)
    joint = adds(Joint)
    gear = adds(Gear)
    equation = adds(Equation)
    equations = adds(EquationRows)
    coupling = adds(Coupling)
    joint_spring = adds(JointSpring)
    motor = adds(Motor)
    user_force = adds(UserForce)
    friction = adds(Friction)
    bushing = adds(Bushing)
    bearing = adds(Bearing)
    component = adds(Substructure)
    rotor = adds(RotorAxis)
    force = adds(Force)
    moment = adds(Moment)
    line_load = adds(LineLoad)
    part_load = adds(PartLoad)
    pressure = adds(Pressure)
    traction = adds(Traction)
    temperature = adds(Temperature)
    centrifugal = adds(Centrifugal)
    base_excitation = adds(BaseExcitation)

    def sensor(self, name: str, kind: str, **options: Any) -> None:
        """Add a named quantity written at every step; see `fem_mbs.model.sensors` for the kinds and their options."""
        self.add(SensorRequest.of(name, kind, options))

    def solid_material(
        self,
        name: str,
        E: Any = None,
        nu: Any = None,
        G: Any = None,
        *,
        stiffness: Any = None,
        density: float | None = None,
        expansion: Any = 0.0,
    ) -> None:
        """Define a linear elastic material of solids; see `fem_mbs.model.materials.LinearMaterial`."""
        self.add(LinearMaterial(name, E, nu, density, G, expansion, stiffness=stiffness, solid=True))

    def line(self, name: str, start: Sequence[float], end: Sequence[float], n: int) -> None:
        """Add a straight mesh of n line cells with the sets "all", "start" and "end"."""
        self.add(PlacedMesh(name, line=Line(start, end, n)))

    def polyline(self, name: str, points: Sequence[Sequence[float]], n: int | Sequence[int]) -> None:
        """Add straight segments through points (k, dimension), n line cells each (a number or a list): sets "all",
        "segment_1" ..., "start", "end", and the points themselves, "corner_1" (the first) ..."""
        self.add(PlacedMesh(name, polyline=Polyline(points, n)))

    def arc(
        self,
        name: str,
        center: Sequence[float],
        radius: float,
        angles: Sequence[float],
        n: int,
        normal: Sequence[float] = (0.0, 0.0, 1.0),
    ) -> None:
        """Add n line cells on a circle about ``normal``, between two angles [deg]; sets "all", "start", "end"."""
        self.add(PlacedMesh(name, arc=Arc(center, radius, angles, n, normal)))

    def position(self, node: int) -> np.ndarray:
        """Return the position of a node (dimension,) [m] at the start."""
        return self.building.position(node)

    def node_name(self, node: int) -> str:
        """Return the name of a node."""
        return self.building.node_name(node)

    def nodes_of(self, place: Any, owner: str = "Model") -> np.ndarray:
        """Return node indices (n,) of a place, a list of places or "all"; the index of a node stands for itself, so do
        those of an array."""
        return self.building.nodes_of(place, owner)

    def node_of(self, place: str, owner: str = "Model") -> int:
        """Return the node of a body, of a named node or of a set of one node."""
        return self.building.node_of(place, owner)

    def drivers(self) -> list[str]:
        """Return names of the motions and of the joints that functions drive, in the order in which they were made."""
        return drivers(self.building)

    def node_displacement(self, a: int, b: int, direction: np.ndarray) -> JointCoordinate:
        """Return the displacement of node b against node a along a direction fixed in space."""
        return node_displacement(self.building, a, b, direction)

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
