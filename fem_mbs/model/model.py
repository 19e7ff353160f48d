"""The model: what is said of a machine, in calls that a model file makes as well.

Everything is named; a place is the name of a body, of a node, of a mesh's set ("rod:left") or "ground".  Positions are
those of the start; a joint or load point is given in global coordinates of the start and travels with its body.

Units are the user's own consistent ones; documents and messages speak of SI.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from fem_mbs.display import Shown
from fem_mbs.errors import ModelError
from fem_mbs.model.builder import Builder
from fem_mbs.model.calls import Built, calls
from fem_mbs.model.compiled import CompiledModel, compile_model
from fem_mbs.model.fields import check_fields
from fem_mbs.model.records import Body, InitialSpeed, InitialVelocity, Step
from fem_mbs.model.steps import StepCalls

__all__ = ["Body", "CompiledModel", "InitialSpeed", "InitialVelocity", "Model", "Step"]


class Model(StepCalls, Shown):
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

    # --- to arrays -------------------------------------------------------------------------------------------------
    def compile(self, stepping: bool = True) -> CompiledModel:
        """Check the whole and make the arrays; without ``stepping`` only those that linear steps need.

        Raises:
            ModelError: no elements, nodes that nothing holds or uses, rotations that do not exist, contradictions.
        """
        return compile_model(self, stepping)
