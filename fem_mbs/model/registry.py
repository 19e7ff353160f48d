"""The registry of declarations: tables of a model file, and calls of a model, in the order in which files are built.

The order is also that of the parts in the results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fem_mbs.declarations.declaration import Declaration
from fem_mbs.late import dataclass
from fem_mbs.model.components import Substructure
from fem_mbs.model.connections.actuators.hydraulic import HydraulicActuator
from fem_mbs.model.connections.actuators.motors import Motor
from fem_mbs.model.connections.couplings import Coupling
from fem_mbs.model.connections.cyclic import CyclicSymmetry
from fem_mbs.model.connections.equations import Equation
from fem_mbs.model.connections.forces import Bushing, NodalMass
from fem_mbs.model.connections.joints import Gear, Joint, JointSpring, Motion, Support
from fem_mbs.model.connections.locks import Lock
from fem_mbs.model.connections.nodal_springs import NodalSpring
from fem_mbs.model.connections.paths.curves import Curve
from fem_mbs.model.connections.pretension import Pretension
from fem_mbs.model.connections.surfaces.contact import Contact
from fem_mbs.model.connections.surfaces.friction import Friction
from fem_mbs.model.connections.surfaces.impact import Impact
from fem_mbs.model.connections.surfaces.tyres import Tyre
from fem_mbs.model.connections.ties import Tie
from fem_mbs.model.copies.movement import Copy
from fem_mbs.model.fields import DisplayUnits
from fem_mbs.model.geometry import NamedNode, PlacedMesh
from fem_mbs.model.initial import Assembly, Initial, Running, StartSpeed
from fem_mbs.model.loads.forces import Force, LineLoad, Moment
from fem_mbs.model.loads.frames import BaseExcitation, Centrifugal
from fem_mbs.model.loads.submodels import Submodel
from fem_mbs.model.loads.temperature import Temperature
from fem_mbs.model.materials import CrossSection, LinearMaterial, NamedFunction, NamedParameter
from fem_mbs.model.parts.beams import Beam
from fem_mbs.model.parts.bodies import PointMass, RigidBody, Spring, TorsionSpring, Truss
from fem_mbs.model.parts.imperfections import Imperfection
from fem_mbs.model.parts.mass_matrix import MassMatrix
from fem_mbs.model.parts.reduced import MovingPart, PartLoad
from fem_mbs.model.parts.rotors import Bearing, Disc, RotorAxis
from fem_mbs.model.parts.shells import Shell
from fem_mbs.model.parts.solids import Plane, Pressure, Solid, Traction
from fem_mbs.model.sensors.kinds import sensor_kinds
from fem_mbs.model.sensors.sensor import SensorRequest
from fem_mbs.model.watching import CheckRequest, EventRule

__all__ = ["TABLES", "Table"]


@dataclass(frozen=True)
class Table:
    """A table of model files: its name, the declaration that it makes, how it is written ("named": [material.steel],
    "list": [[joint]]), and the call of `fem_mbs.Model` that makes the same declaration.

    ``single`` is the key whose value an entry is, where it is no table of keys.  ``kinds`` are the declarations, all
    derived from ``declaration``, that the key "kind" of an entry chooses among.  ``alone``: one table of the list may
    also be written with single brackets, as [initial].
    """

    name: str
    declaration: type[Declaration]
    call: str = ""
    many: str = "list"
    single: str = ""
    kinds: Callable[[], Mapping[str, type[Declaration]]] | None = None
    alone: bool = False

    @property
    def method(self) -> str:
        return self.call or self.name

    @property
    def owner(self) -> str:
        """Return the word with which messages begin."""
        return self.declaration.owner

    @property
    def declarations(self) -> Sequence[type[Declaration]]:
        """Return the declarations that the entries of the table make."""
        return [self.declaration] if self.kinds is None else list(self.kinds().values())

    @property
    def text(self) -> str:
        """Return the purpose of the table: the first paragraph of the declaration's docstring."""
        return self.declaration.purpose()

    def place(self, which: str | int | None) -> str:
        """Return the name of one of these tables in messages: by name, or counted from 1."""
        if self.many == "named":
            return f"[{self.name}.{which}]"
        return f'[[{self.name}]] "{which}"' if isinstance(which, str) else f"[[{self.name}]] number {which}"


TABLES: Sequence[Table] = (
    Table("units", DisplayUnits, alone=True),
    Table("parameters", NamedParameter, "parameter", many="named", single="value"),
    Table("material", LinearMaterial, many="named"),
    Table("section", CrossSection, many="named"),
    Table("function", NamedFunction, many="named", single="spec"),
    Table("mesh", PlacedMesh, many="named"),
    Table("imperfection", Imperfection),
    Table("pretension", Pretension),
    Table("node", NamedNode),
    Table("body", RigidBody),
    Table("part", MovingPart, "reduced_part"),
    Table("tie", Tie),
    Table("beam", Beam, "beams"),
    Table("truss", Truss, "trusses"),
    Table("solid", Solid, "solids"),
    Table("plane", Plane, "planes"),
    Table("shell", Shell, "shells"),
    Table("point_mass", PointMass),
    Table("disc", Disc),
    Table("nodal_mass", NodalMass),
    Table("mass_matrix", MassMatrix),
    Table("spring", Spring),
    Table("torsion_spring", TorsionSpring),
    Table("nodal_spring", NodalSpring),
    Table("support", Support, "fix"),
    Table("motion", Motion),
    Table("submodel", Submodel),
    Table("assembly", Assembly, alone=True),
    Table("curve", Curve),
    Table("joint", Joint),
    Table("gear", Gear),
    Table("lock", Lock),
    Table("equation", Equation),
    Table("coupling", Coupling),
    Table("cyclic_symmetry", CyclicSymmetry),
    Table("joint_spring", JointSpring),
    Table("motor", Motor),
    Table("hydraulic", HydraulicActuator),
    Table("friction", Friction),
    Table("contact", Contact),
    Table("impact", Impact),
    Table("tyre", Tyre),
    Table("bushing", Bushing),
    Table("bearing", Bearing),
    Table("component", Substructure),
    Table("force", Force),
    Table("moment", Moment),
    Table("line_load", LineLoad),
    Table("pressure", Pressure),
    Table("part_load", PartLoad),
    Table("traction", Traction),
    Table("temperature", Temperature),
    Table("centrifugal", Centrifugal),
    Table("base_excitation", BaseExcitation),
    Table("rotor", RotorAxis),
    Table("initial", Initial, alone=True),
    Table("initial_speed", StartSpeed),
    Table("running", Running),
    Table("copy", Copy),
    Table("sensor", SensorRequest, kinds=sensor_kinds),
    Table("event", EventRule),
    Table("check", CheckRequest),
)
