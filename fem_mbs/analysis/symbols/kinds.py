"""The registry of symbols: each kind of declaration has a function that makes its symbols, or a reason for having none.

Figures, animations and the pages of `show` draw these symbols and the other lists of a results header.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fem_mbs.analysis.symbols import links, loads
from fem_mbs.analysis.symbols.drawing import Drawing, told
from fem_mbs.analysis.symbols.symbol import LAYERS, Symbol
from fem_mbs.declarations.declaration import Declaration
from fem_mbs.late import dataclass
from fem_mbs.model.components import Substructure
from fem_mbs.model.connections.actuators.hydraulic import HydraulicActuator
from fem_mbs.model.connections.actuators.motors import Motor
from fem_mbs.model.connections.actuators.user_forces import UserForce
from fem_mbs.model.connections.couplings import Coupling
from fem_mbs.model.connections.cyclic import CyclicSymmetry
from fem_mbs.model.connections.equations import Equation, EquationRows
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
from fem_mbs.model.sensors.sensor import SensorRequest
from fem_mbs.model.watching import CheckRequest, EventRule

__all__ = ["DRAWN", "JOINT_GLYPHS", "Elsewhere", "NotDrawn", "drawn_as", "symbols_in"]

Maker = Callable[[Any, Drawing], Iterator[Symbol]]

#: Symbols of one layer in a header; a deck with a load on every node would hide the model.
MOST_OF_LAYER = 1500


@dataclass(frozen=True)
class Elsewhere:
    """Drawn from another list of the header: "blocks", "bodies", "supports", "joints", "masses", "node_names"."""

    entries: str


@dataclass(frozen=True)
class NotDrawn:
    """Has no symbol, for this reason."""

    reason: str


def sensor(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    """Yield the symbol of a sensor of any kind: between its two places, or at its place, joint or element."""
    building = drawing.building
    text = f"{said.kind}{', ' if told(said, 'kind') else ''}{told(said, 'kind')}"
    on = getattr(said, "on", None)
    if isinstance(on, (list, tuple)):  # several places: at the first
        on = on[0] if on else None
    if on is None:
        if hasattr(said, "a") and hasattr(said, "b"):
            ends = drawing.join(said.a, said.b, getattr(said, "point_a", None), getattr(said, "point_b", None))
            yield Symbol("sensors", "dimension", said.name, "sensor", text, ends)
        return
    place = drawing.joint(on)
    if place is not None:
        yield Symbol("sensors", "sensor", said.name, "sensor", text, [place[0]])
        return
    if on in building.groups:
        cells = building.groups[on]
        nodes = cells[min(int(getattr(said, "element", 0) or 0), len(cells) - 1)]
        middle = drawing.x[nodes].mean(axis=0)[: drawing.dimension]
        yield Symbol("sensors", "sensor", said.name, "sensor", text, [drawing.end(int(nodes[0]), middle)])
        return
    if isinstance(on, str) and on.partition(":")[0] in {**building.bodies, **building.named_nodes, **building.meshes}:
        for node in drawing.nodes(on)[:8].tolist():
            end = drawing.end(node, getattr(said, "point", None))
            yield Symbol("sensors", "sensor", said.name, "sensor", text, [end])
        return
    for block, rows in drawing.elements(str(on)):  # a spring, a load
        nodes = block.nodes[rows[0]]
        if (nodes >= 0).any():
            end = drawing.end(int(nodes[nodes >= 0][0]))
            yield Symbol("sensors", "sensor", said.name, "sensor", text, [end])
            return


#: Kind of declaration -> what makes its symbols, where else it is drawn, or why not.
DRAWN: dict[type[Declaration], Maker | Elsewhere | NotDrawn] = {
    DisplayUnits: NotDrawn("units have no place"),
    Copy: NotDrawn("what it makes is drawn"),
    NamedParameter: NotDrawn("a parameter has no place"),
    LinearMaterial: NotDrawn("a material has no place"),
    CrossSection: NotDrawn("a section has no place"),
    NamedFunction: NotDrawn("a function has no place"),
    PlacedMesh: Elsewhere("blocks"),
    NamedNode: Elsewhere("node_names"),
    RigidBody: Elsewhere("bodies"),
    MovingPart: Elsewhere("blocks"),
    Beam: Elsewhere("blocks"),
    Truss: Elsewhere("blocks"),
    Solid: Elsewhere("blocks"),
    Plane: Elsewhere("blocks"),
    Shell: Elsewhere("blocks"),
    PointMass: Elsewhere("masses"),
    Disc: Elsewhere("masses"),
    NodalMass: Elsewhere("masses"),
    MassMatrix: links.mass_matrix,
    Support: Elsewhere("supports"),
    Joint: Elsewhere("joints"),
    Curve: links.curve,
    Tie: links.tie,
    Spring: links.spring,
    TorsionSpring: links.torsion_spring,
    NodalSpring: links.nodal_spring,
    JointSpring: links.joint_spring,
    Bushing: links.bushing,
    Bearing: links.bearing,
    Motor: links.motor,
    HydraulicActuator: links.hydraulic,
    Friction: links.friction,
    Contact: links.contact,
    Impact: links.contact,
    Tyre: links.tyre,
    UserForce: links.user_force,
    Gear: links.gear,
    Lock: links.lock,
    Coupling: links.coupling,
    Equation: links.equation,
    EquationRows: links.equation_rows,
    CyclicSymmetry: links.cyclic_symmetry,
    Motion: loads.motion,
    Submodel: loads.submodel,
    BaseExcitation: loads.base_excitation,
    Force: loads.force,
    Moment: loads.moment,
    LineLoad: loads.line_load,
    Pressure: loads.pressure,
    Traction: loads.traction,
    PartLoad: loads.part_load,
    Pretension: loads.pretension,
    Centrifugal: loads.centrifugal,
    RotorAxis: loads.rotor,
    Initial: loads.initial,
    StartSpeed: loads.start_speed,
    Running: loads.running,
    SensorRequest: sensor,
    Temperature: NotDrawn("a temperature is a field of its part"),
    Imperfection: NotDrawn("nodes are drawn where it has moved them"),
    Assembly: NotDrawn("the model is shown as it is written, before its joints are closed"),
    Substructure: NotDrawn("a component is a choice of groups, which are drawn"),
    EventRule: NotDrawn("an event is a rule over a sensor, which is drawn"),
    CheckRequest: NotDrawn("a check is a comparison of a sensor, which is drawn"),
}

#: Kind of joint -> its glyph; kinds from outside of the package are drawn as a ball.
JOINT_GLYPHS = {
    "pin": "ball",
    "spherical": "ball",
    "weld": "weld",
    "revolute": "hinge",
    "universal": "cross",
    "cylindrical": "sleeve",
    "prismatic": "slide",
    "planar": "plate",
    "screw": "screw",
    "constant_velocity": "rings",
    "point_on_line": "rail",
    "point_on_plane": "plate",
    "distance": "rod",
    "along_beam": "bead",
    "cylindrical_along_beam": "sleeve",
    "prismatic_along_beam": "slide",
    "point_on_curve": "bead",
    "curve_on_curve": "bead",
    "cam": "bead",
    "rolling_curves": "gear",
    "rolling_disc": "rings",
    "slider": "rail",
    "position": "rail",
    "angle": "turn",
    "gear": "gear",
}


def drawn_as(kind: type[Declaration]) -> Maker | Elsewhere | NotDrawn:
    """Return the entry of a kind of declaration: its own, or that of its nearest base; kinds from outside of the
    package have none and are not drawn."""
    return next((DRAWN[base] for base in kind.__mro__ if base in DRAWN), NotDrawn("a kind from outside"))


def symbols_in(compiled: Any, joints: Sequence[dict[str, Any]]) -> list[Symbol]:
    """Return the symbols of all declarations of a compiled model but those that other lists of the header hold.

    Args:
        compiled: the model.
        joints: the header's entries of joints.
    """
    drawing = Drawing(compiled, joints)
    left = dict.fromkeys(LAYERS, MOST_OF_LAYER)
    found: list[Symbol] = []
    for said in compiled.model.specifications:
        maker = drawn_as(type(said))
        if isinstance(maker, (Elsewhere, NotDrawn)) or not any(left.values()):
            continue
        for symbol in maker(said, drawing):
            if left[symbol.layer] > 0:
                left[symbol.layer] -= 1
                found.append(symbol)
    return found
