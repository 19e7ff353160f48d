"""The model of a machine, built by calls that a model file makes as well.

Everything is named; a place is the name of a body, of a node, of a mesh's set ("rod:left") or "ground".  Positions are
those of the start; a joint or load point is given in global coordinates of the start and travels with its body.

The numbers are in one consistent set of units, by default SI, as which documents name them; the call
``units`` chooses another set, which messages then name, and the units in which results are shown.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.declarations.declaration import Declaration, flag
from fem_mbs.display import Shown, saved
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.parameters import Parameters
from fem_mbs.late import late
from fem_mbs.model.building import Building
from fem_mbs.model.calls import Built, named, named_calls
from fem_mbs.model.compiled import CompiledModel, Sharing, compile_model
from fem_mbs.model.connections.joint_parts import drivers, node_displacement
from fem_mbs.model.copies.movement import Copy
from fem_mbs.model.fields import check_fields
from fem_mbs.model.geometry import PlacedMesh
from fem_mbs.model.made import MadeCalls
from fem_mbs.model.materials import LinearMaterial, NamedParameter
from fem_mbs.model.parts.grids import Arc, Line, Polyline
from fem_mbs.model.records import Body, InitialSpeed, InitialVelocity, JointCoordinate, Step
from fem_mbs.model.registry import TABLES
from fem_mbs.units import in_units_of_model

__all__ = ["Body", "CompiledModel", "InitialSpeed", "InitialVelocity", "Model", "Step"]

_copies_of = late("fem_mbs.model.copies.copying:copies_of")


@named_calls
class Model(MadeCalls, Shown):
    """A machine: parts, joints, motions, loads, initial velocities, sensors and steps.

    A call that is refused leaves nothing in the model, so it can be made again.  ``copy.copy`` returns a model of its
    own.  Title, gravity, elimination, field names and steps can be set later.

    Args:
        dimension: 2 (plane; x, y and a rotation) or 3.
        title: for reports.
        gravity: acceleration of gravity, (dimension,) [m/s^2].
        elimination: joints of coinciding nodes let these share their unknowns where that is exact, instead of adding
            multipliers.
        fields: what the frames of solid and plane parts hold: some of "stress" (the default) and "strain" at the nodes,
            "shapes" (these also of mode shapes), "points" (at every integration point: much room), "layers" (of
            shells, stresses of all layers in their own axes); see `fem_mbs.analysis.fields`.

    Raises:
        ModelError: from every call, naming the thing, the value and the remedy.
    """

    @named("Model")
    def __init__(
        self,
        dimension: int = 3,
        title: str = "",
        gravity: Sequence[float] | np.ndarray | None = None,
        elimination: bool = True,
        fields: Sequence[str] = ("stress",),
    ) -> None:
        if dimension not in (2, 3):
            raise ModelError(
                f"dimension = {dimension!r} is neither 2 (plane) nor 3 (space)",
                owner=Owner("Model"),
                key="dimension",
                value=dimension,
            )
        self._dimension = dimension
        self._building: Building | None = None
        self._shares = False  # its building has lists and tables in common with that of a copy
        #: the declarations from which the building was made, in this order
        self._made_by: list[Callable[[Building], Any]] = []
        self.specifications: list[Declaration] = []
        #: keys at the top of a model file that had expressions of parameters, as they stood there
        self.expressed: dict[str, Any] = {}
        self.title = title
        self.elimination, self.gravity, self.field_names = elimination, gravity, fields
        self.steps: list[Step] = []
        self._whole = True

    def __repr__(self) -> str:
        steps = ", ".join(step.name for step in self.steps) or "no steps"
        counts = ((len(self.joints), "joints"), (len(self.sensors), "sensors"))
        told = ", ".join([f"{self.n_nodes} nodes", *(f"{count} {what}" for count, what in counts if count)])
        return f"<Model {self.title!r}: {self.dimension} dimensions, {told}; {steps}>"

    def __setattr__(self, name: str, value: Any) -> None:
        """Set what a model has; a wrong name would be dropped in silence."""
        if getattr(self, "_whole", False) and name not in self.__dict__:
            known = [n for n, kind in inspect.getmembers_static(type(self), inspect.isdatadescriptor) if n[0] != "_"]
            known += [n for n in self.__dict__ if n[0] != "_"]
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                raise ModelError(
                    f"{name} cannot be set", owner=Owner("Model"), key=name, value=value,
                    remedy=f'did you mean "{close[0]}"?' if close else "",
                )  # fmt: skip
        object.__setattr__(self, name, value)

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of gravity (dimension,) [m/s^2]; None sets none."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike | None) -> None:
        none = np.zeros(self._dimension)
        self._gravity = none if value is None else self.building.vector(value, "Model", "gravity").copy()

    @property
    def elimination(self) -> bool:
        """Whether joints of coinciding nodes let these share their unknowns where that is exact."""
        return self._elimination

    @elimination.setter
    def elimination(self, value: bool) -> None:
        self._elimination = flag(value, Owner("Model"), "elimination")

    @property
    def field_names(self) -> tuple[str, ...]:
        """Fields that frames hold for solid and plane parts."""
        return self._field_names

    @field_names.setter
    def field_names(self, value: str | Sequence[str]) -> None:
        self._field_names = check_fields(value)

    def __copy__(self) -> Model:
        """Return a model that can be changed without changing this one."""
        other = object.__new__(type(self))
        self._shares = True
        other.__dict__.update(
            self.__dict__,
            _building=copy(self.building),
            _made_by=list(self._made_by),
            specifications=list(self.specifications),
            steps=list(self.steps),
        )
        return other

    @property
    def building(self) -> Building:
        """The arrays of the model, made anew from what was accepted after a call was refused."""
        if self._building is None:
            building = Building(self._dimension)
            for make in self._made_by:
                make(building)
            self._building = building  # whole: who interrupts this gets no part of it
        return self._building

    def amend(self, change: Callable[[Building], Any]) -> None:
        """Change the building by a function of it, ``change``, which is called again where it is made anew."""
        change(self.building)
        self._made_by.append(change)

    @in_units_of_model
    def add(self, declaration: Any, said: Declaration | None = None) -> None:
        """Add a declaration: build it, and keep it, or what was ``said`` where it is what that was worked out to.

        A declaration that is refused leaves nothing in the model.

        Raises:
            ModelError: it does not fit the model.
        """
        made_by, specified = len(self._made_by), len(self.specifications)
        if self._shares:
            self._building, self._shares = None, False
        try:
            if isinstance(declaration, Copy):
                tables = {kind: table.name for table in TABLES for kind in table.declarations}
                known = [(tables.get(type(d), ""), d) for d in self.specifications if not isinstance(d, Copy)]
                for _, made in _copies_of(declaration, known, self.dimension):
                    self.add(made)
            self.amend(declaration.build)
        except BaseException:  # also where a user interrupts the reading of a mesh
            del self._made_by[made_by:], self.specifications[specified:]
            self._building = None  # it may hold a part of what was refused
            raise
        self.specifications.append(declaration if said is None else said)

    @named("Parameter")
    def parameter(self, name: str, value: float | int | str, unit: str = "", text: str = "") -> float | int:
        """Name a number, which the results record, and return it.

        Args:
            name: by which expressions call it.
            value: a number, or an expression of parameters that the model has ("2*a + b/2").
            unit: for reports.
            text: what it is.

        Raises:
            ModelError: the name cannot stand in expressions or is taken; an expression without a value.
        """
        said = NamedParameter(name, value, unit, text)
        if isinstance(value, str):
            known = Parameters(self.building.parameters)
            said = NamedParameter(
                name, **NamedParameter.worked({"value": value}, known, said.thing), unit=unit, text=text
            )
            said.express({"value": value})
        self.add(said)
        return self.building.parameters[name]

    # What the building has.
    dimension = Built()
    n_nodes = Built()
    positions = Built()
    single_elements = Built()
    parameters = Built()
    materials = Built()
    solid_materials = Built()
    solid_groups = Built()
    shell_groups = Built()
    temperatures = Built()
    sections = Built()
    meshes = Built()
    bodies = Built()
    joints = Built()
    named_nodes = Built(settable=True)
    functions = Built()
    groups = Built()
    line_groups = Built()
    sensors = Built()
    checks = Built(settable=True)
    initial_velocities = Built()
    initial_speeds = Built()
    initial_method = Built(settable=True)
    runnings = Built()
    starts_moving = Built()
    assembling = Built()
    shown_units = Built()
    events = Built()
    reserved_loads = Built(settable=True)
    rotors = Built()
    reduced_parts = Built()
    components = Built()
    cyclic = Built()
    warnings = Built(settable=True)
    departures = Built(settable=True)

    @named("Material")
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
        """Define a linear elastic material of solids, isotropic or in material axes.

        Args:
            name: by which parts call it.
            E, nu, G: Young's modulus [Pa], Poisson's ratio and shear modulus [Pa]: numbers, or three of each along and
                across the material axes.
            stiffness: (6, 6) instead of these, or the 21 numbers of its upper triangle [Pa].
            density: [kg/m^3]; None: without mass.
            expansion: coefficient of thermal expansion [1/K]: a number, or one for each axis.

        Raises:
            ModelError: constants that are missing, contradict each other, or whose stiffness is not positive.
        """
        self.add(LinearMaterial(name, E, nu, density, G, expansion, stiffness=stiffness, solid=True))

    @named("Mesh")
    def line(
        self, name: str, start: ArrayLike, end: ArrayLike, n: int, points: Mapping[str, float] | None = None
    ) -> None:
        """Add a straight mesh of n line cells with the sets "all", "start" and "end", and those of ``points``:
        fractions of the way by name."""
        self.add(PlacedMesh(name, line=Line(start, end, n, points)))

    @named("Mesh")
    def polyline(
        self, name: str, points: ArrayLike, n: int | Sequence[int], named: Mapping[str, float] | None = None
    ) -> None:
        """Add straight segments through points (k, dimension), n line cells each (a number or a list): sets "all",
        "segment_1" ..., "start", "end", the points themselves, "corner_1" (the first) ..., and those of ``named``:
        fractions of the whole length by name."""
        self.add(PlacedMesh(name, polyline=Polyline(points, n, named)))

    @named("Mesh")
    def arc(
        self,
        name: str,
        center: ArrayLike,
        radius: float,
        angles: ArrayLike,
        n: int,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        points: Mapping[str, float] | None = None,
    ) -> None:
        """Add n line cells on a circle of a ``radius`` [m] about ``center`` and ``normal``, between two angles [deg];
        sets "all", "start", "end", and those of ``points``: fractions of the angle by name."""
        self.add(PlacedMesh(name, arc=Arc(center, radius, angles, n, normal, points)))

    def position(self, node: int) -> np.ndarray:
        """Return the position of a node (dimension,) [m] at the start."""
        return self.building.position(node)

    def node_name(self, node: int) -> str:
        """Return the name of a node."""
        return self.building.node_name(node)

    def nodes_of(self, place: Any, owner: str = "Model", frames: bool = True) -> np.ndarray:
        """Return node indices (n,) of a place, a list of places or "all"; the index of a node stands for itself, so do
        those of an array.  Messages name the ``owner``.  Without ``frames`` the mean frame of a reduced part is
        refused."""
        return self.building.nodes_of(place, owner, frames)

    def node_of(self, place: str | int, owner: str = "Model") -> int:
        """Return the node of a ``place``: a body, a named node or a set of one node; messages name the ``owner``."""
        return self.building.node_of(place, owner, frames=True)

    def drivers(self) -> list[str]:
        """Return names of the motions and of the joints that functions drive, in the order in which they were made."""
        return drivers(self.building)

    def node_displacement(self, a: int, b: int, direction: np.ndarray) -> JointCoordinate:
        """Return the displacement of node b against node a along a direction fixed in space."""
        return node_displacement(self.building, a, b, direction)

    def save(self, path: str | Path) -> None:
        """Write the model as a model file (TOML) at ``path``, which `fem_mbs.load_model` reads back as the same model.

        Paths of other files are written absolute, meshes of Python with all their nodes and cells.

        Raises:
            ModelError: what a file cannot hold, such as Python functions, or a mesh of Python that is too large.
        """
        saved(self, path)

    # --- to arrays -------------------------------------------------------------------------------------------------
    def compile(self, stepping: bool = True, sharing: Sharing | None = None) -> CompiledModel:
        """Check the whole and make the arrays; without ``stepping`` only those that linear steps need, with ``sharing``
        only those of the elements of this process (`fem_mbs.model.compiled.compile_model`).

        Raises:
            ModelError: no elements, nodes that nothing holds or uses, rotations that do not exist, contradictions.
        """
        return compile_model(self, stepping, sharing)
