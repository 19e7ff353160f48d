"""Element types as data: the description that the assembler reads, and the registry with one line per type."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any

from fem_mbs.late import dataclass

__all__ = ["ElementType", "Watch", "element_type", "element_types"]


@dataclass(frozen=True)
class Watch:
    """Describes a quantity that limits the validity of an element.

    The job WATCH of the report kernel writes it, in the order of the type's watches.  ``warn`` and ``limit`` are the
    bounds of a warning and of an error, ``what`` names the quantity, ``remedy`` completes the message.
    ``from_start``: the value that an element has at the start (curved beams) does not count.  ``history``: column of
    the history variables that holds the largest value of all steps so far, -1: the job WATCH writes the present one.
    """

    warn: float
    limit: float
    what: str
    remedy: str
    kind: str = "Beam"
    unit: str = "rad"
    from_start: bool = False
    history: int = -1


@dataclass(frozen=True)
class ElementType:
    """Describes one element type: names, sizes and its two kernels.

    ``par``, ``outputs``  names of the columns of the parameter table and of the OUTPUT job, units in square brackets
    ``tables``       True: after the columns that ``par`` names, the rows of the parameter table hold tables
    ``shared``       of types with one table for all elements of a block: the table lies in the last columns of their
                     rows, in parts of a multiple of this; the columns "row" and "width" say where (`deal` of
                     `fem_mbs.system.blocks`).  Such blocks are not merged
    ``hist``         number of history variables
    ``turns``        True: ``hist`` holds relative rotations with their full turns; the job START keeps the turns
    ``multipliers``  number of constraint rows, after the node dofs
    ``nonholonomic`` True: the constraints are G v = 0 on velocities, not on places.  Their rows are G times the
                     motion of the step, in one-state rules G v/(dv/du); where dv/du is 0 (statics) the rows are
                     0, and their tangent is G
    ``unilateral``   True: constraints that act while they press; ``hist`` says which do (`elements/contact/impact.py`)
    ``scale``        parameter column of the scale of the multipliers (joints only, else -1)
    ``angular``      True: the constraints are angles, not lengths
    ``scalars``      number of coordinates that belong to no node (modal ones), local unknowns after those of the ends
    ``states``       True: the scalars are state variables x with equations of first order, x' = g, and no mass
    ``at_end``       names of outputs that belong to the end of a step, not to its middle
    ``path``         True: the forces depend on the path, so the tangent of a state may be stiffer than that of the step
                     from it
    ``reads``        number of multipliers of another joint that the forces depend on: the last local unknowns, with
                     their scales in the last columns of ``par``
    ``reads_moments``  True: the element reads the moments that align the axes of this joint, after its forces
    ``inertia``      True: the element has mass
    ``linear(par)``  returns whether the forces of all elements with these parameters are linear in displacements and
                     velocities with constant coefficients, at any state; without it they may not be
    ``watches``      limits of validity
    ``crossed(block, before, after)``  returns the numbers (m,) of the elements whose parts pass through each other
                     between two states (coordinates, directors); without it none can, or ``pairing`` of the block finds
                     them
    ``prestress(par, outputs, factor)``  returns parameters with added stresses, a table times a factor, for linear
                     buckling: a table of the job STRESSES with ``stresses`` columns, or of OUTPUT where these are 0
    ``inside(par)``  returns stiffness, mass (n, m, m) and coupling masses (n, m, node dofs) of m unknowns within
                     elements; only eigenvalue analyses use them
    ``sections``     True: the rows of the job OUTPUT hold on entry the forces on the node dofs from loads and inertia
                     that act along the element
    """

    name: str
    dimension: int
    ends: int
    rotational: bool
    par: tuple[str, ...]
    force: Any
    report: Any
    hist: int = 0
    multipliers: int = 0
    outputs: tuple[str, ...] = ()
    scale: int = -1
    inertia: bool = False
    angular: bool = False
    prestress: Any = None
    watches: tuple[Watch, ...] = ()
    crossed: Any = None
    tables: bool = False
    shared: int = 0
    reads: int = 0
    reads_moments: bool = False
    inside: Any = None
    linear: Any = None
    scalars: int = 0
    stresses: int = 0
    sections: bool = False
    turns: bool = False
    unilateral: bool = False
    nonholonomic: bool = False
    states: bool = False
    path: bool = False
    at_end: tuple[str, ...] = ()

    @property
    def end_dofs(self) -> int:
        """Return the number of dofs of one end: dx, and the rotation where the type uses it."""
        return self.dimension + ((1 if self.dimension == 2 else 3) if self.rotational else 0)

    @property
    def node_dofs(self) -> int:
        """Return the number of local unknowns without multipliers: those of the ends, then scalar ones."""
        return self.ends * self.end_dofs + self.scalars

    @property
    def watched(self) -> int:
        """Return the number of quantities that the job WATCH writes."""
        return sum(watch.history < 0 for watch in self.watches)

    @property
    def local_dofs(self) -> int:
        return self.node_dofs + self.multipliers + self.reads

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameter columns, without units."""
        return tuple(entry.split(" [")[0] for entry in self.par)

    @property
    def quantities(self) -> tuple[str, ...]:
        """Return the names of the outputs, without units."""
        return tuple(entry.split(" [")[0] for entry in self.outputs)

    def column(self, name: str) -> int:
        """Return the number of the parameter column with a name (without the unit).

        Raises:
            KeyError: the type has no such parameter.
        """
        if name not in self._columns:
            raise KeyError(f"element type {self.name!r} has no parameter {name!r}; it has {', '.join(self.par)}")
        return self._columns[name]

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {name: column for column, name in enumerate(self.parameters)}


_SOLIDS = ("tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15")
_PLANES = ("triangle", "triangle6", "quad", "quad8")
_MEMBRANES = ("triangle", "quad")

# One line per type: name -> module that defines `TYPES`.  Modules load when a model asks for the type.
_MODULES = {
    "truss2": "springs.truss",
    "truss3": "springs.truss",
    "beam2": "beams.beam2d",
    "beam2_inextensible": "beams.beam2d",
    "exact_beam2": "beams.beam2d_exact",
    "exact_beam2_inextensible": "beams.beam2d_exact",
    "strain_beam2": "beams.beam2d_strains",
    "strain_beam2_inextensible": "beams.beam2d_strains",
    "strain_beam3": "beams.beam3d",
    **{f"strain_beam3_fixed{m}": "beams.beam3d" for m in range(1, 7)},
    "corotational_beam3": "beams.beam3d",
    **{f"corotational_beam3_fixed{m}": "beams.beam3d" for m in range(1, 7)},
    "exact_beam3": "beams.beam3d_exact",
    **{f"exact_beam3_fixed{m}": "beams.beam3d_exact" for m in range(1, 7)},
    "spring2": "springs.spring",
    "spring3": "springs.spring",
    "component_spring2": "springs.component",
    "component_spring3": "springs.component",
    "torsion2": "springs.linear",
    "torsion3": "springs.linear",
    "mass2": "masses.lumped",
    "mass3": "masses.lumped",
    "linear_mass2": "masses.lumped",
    "linear_mass3": "masses.lumped",
    "hermite2": "paths.hermite",
    "director_mass3": "masses.director_mass",
    "rigid3": "joints.rigid",
    "point2": "joints.basic",
    "point3": "joints.basic",
    "position2": "joints.basic",
    "position3": "joints.basic",
    "angle2": "joints.basic",
    "orientation3": "joints.basic",
    "direction3": "joints.relative",
    "offset2": "joints.relative",
    "offset3": "joints.relative",
    "hinge3": "joints.relative",
    "distance2": "joints.length",
    "distance3": "joints.length",
    "constant_velocity3": "joints.length",
    "coupling2": "joints.coupled",
    "coupling3": "joints.coupled",
    "pulley2": "joints.coupled",
    "pulley3": "joints.coupled",
    "equation2": "joints.equation",
    "equation3": "joints.equation",
    "mean_rotation2": "loads.mean_rotation",
    "mean_rotation3": "loads.mean_rotation",
    "beam_slide2": "paths.beam_slide",
    "beam_slide3": "paths.beam_slide",
    "prismatic_slide2": "paths.oriented_slide",
    "prismatic_slide3": "paths.oriented_slide",
    "cylindrical_slide3": "paths.oriented_slide",
    "point_on_curve2": "paths.curve",
    "point_on_curve3": "paths.curve",
    "curve_on_curve2": "paths.curve",
    "contact2": "contact.ball",
    "contact3": "contact.ball",
    "mesh_contact3": "contact.mesh",
    "line_contact2": "contact.line",
    "line_contact3": "contact.line",
    "line_mesh_contact3": "contact.line",
    "tube_pair2": "contact.pair",
    "tube_pair3": "contact.pair",
    "rubbing_tube_pair2": "contact.pair",
    "rubbing_tube_pair3": "contact.pair",
    "face_pair3": "contact.pair",
    "face_line_pair3": "contact.pair",
    "tyre3": "tyres.tyre",
    "relaxing_tyre3": "tyres.tyre",
    "disc_touch3": "tyres.disc",
    "disc_roll3": "tyres.disc",
    "impact2": "contact.impact",
    "impact3": "contact.impact",
    "mesh_impact3": "contact.impact",
    "slide2": "springs.linear",
    "slide3": "springs.linear",
    "force2": "loads.nodal",
    "force3": "loads.nodal",
    "moment2": "loads.nodal",
    "moment3": "loads.nodal",
    "follower2": "loads.nodal",
    "follower3": "loads.nodal",
    "line_load2": "loads.nodal",
    "line_load3": "loads.nodal",
    "centrifugal2": "masses.centrifugal",
    "centrifugal3": "masses.centrifugal",
    **{f"nonlinear_{kind}{d}": "springs.nonlinear" for kind in ("spring", "slide", "torsion") for d in (2, 3)},
    **{f"plastic_{kind}{d}": "springs.plastic" for kind in ("spring", "slide", "torsion") for d in (2, 3)},
    **{f"bouc_wen_{kind}{d}": "springs.bouc_wen" for kind in ("spring", "slide", "torsion") for d in (2, 3)},
    "nodal_mass2": "masses.nodal_mass",
    "nodal_mass3": "masses.nodal_mass",
    "bushing2": "springs.bushing",
    "bushing3": "springs.bushing",
    **{f"motor_{kind}{d}": "actuators.motor" for kind in ("length", "offset", "angle") for d in (2, 3)},
    **{f"servo_{kind}{d}": "actuators.servo" for kind in ("length", "offset", "angle") for d in (2, 3)},
    **{f"hydraulic_{kind}{d}": "actuators.hydraulic" for kind in ("length", "offset", "angle") for d in (2, 3)},
    **{f"cylinder_{kind}{d}": "actuators.cylinder" for kind in ("length", "offset", "angle") for d in (2, 3)},
    **{f"friction_{kind}": "joints.friction" for kind in ("offset2", "offset3", "angle2", "angle3", "ball3")},
    **{f"friction_{kind}": "joints.friction_surfaces" for kind in ("plane3", "cylinder3", "disc3")},
    **{f"brake_{kind}{d}": "joints.brake" for kind in ("offset", "angle") for d in (2, 3)},
    **{f"user_{kind}{d}": "actuators.user" for kind in ("length", "offset", "angle", "point") for d in (2, 3)},
    **{f"solid_{cell}": "solids.space" for cell in _SOLIDS},
    **{f"solid_{form}_{cell}": "solids.mass" for form in ("mass", "lumped") for cell in (*_SOLIDS, *_MEMBRANES)},
    "solid_condensed_hexahedron": "solids.condensed",
    **{f"plane_{form}_{cell}": "solids.mass" for form in ("mass", "lumped") for cell in _PLANES},
    **{f"solid_centrifugal_{cell}": "solids.centrifugal" for cell in (*_SOLIDS, *_MEMBRANES)},
    **{f"plane_centrifugal_{cell}": "solids.centrifugal" for cell in _PLANES},
    **{f"{family}_{cell}": "solids.plane" for family in ("plane", "axisymmetric") for cell in _PLANES},
    **{f"{family}_quad8_reduced": "solids.plane" for family in ("plane", "axisymmetric")},
    **{f"{load}_{face}": "solids.loads" for load in ("pressure", "traction") for face in (*_PLANES, "line", "line3")},
    **{f"axisymmetric_pressure_{face}": "solids.loads" for face in ("line", "line3")},
    **{f"pressure_{face}_reduced": "solids.loads" for face in ("triangle6", "quad", "quad8")},
    "solid_hexahedron_incompatible": "solids.space",
    **{f"shell_{cell}": "shells.shell" for cell in ("triangle", "quad")},
    **{f"membrane_{cell}": "shells.membrane" for cell in ("triangle", "quad")},
    **{f"shell_{cell}": "shells.quadratic" for cell in ("triangle6", "quad8")},
    "bearing2": "springs.bearing",
    "bearing3": "springs.bearing",
    "solid_hexahedron20_reduced": "solids.space",
    "solid_wedge_reduced": "solids.space",
}

# Families of types that share their code, one type per number n of modal coordinates or of nodes: prefix -> module that
# defines `make_type(name, dimension, n)`.
_FAMILIES = {
    **{f"flexible_body{d}_": "flexible.body" for d in (2, 3)},
    **{f"flexible_point{d}_": "flexible.tie" for d in (2, 3)},
    **{f"flexible_orientation{d}_": "flexible.tie" for d in (2, 3)},
    **{f"flexible_load{d}_": "flexible.load" for d in (2, 3)},
    **{f"translational_mass{d}_": "masses.matrix" for d in (2, 3)},
    **{f"turning_mass{d}_": "masses.matrix" for d in (2, 3)},
    **{f"iwan_{kind}{d}_": "springs.iwan" for kind in ("spring", "slide", "torsion") for d in (2, 3)},
    **{f"user_states_point{d}_": "actuators.user_point_states" for d in (2, 3)},
    **{f"user_states_{kind}{d}_": "actuators.user_states" for kind in ("length", "offset", "angle") for d in (2, 3)},
}
_MADE: dict[str, ElementType] = {}


def element_types() -> tuple[str, ...]:
    """Return the names of all registered element types; each family is represented by its type of two coordinates."""
    return (*_MODULES, *(f"{prefix}2" for prefix in _FAMILIES))


def element_type(name: str) -> ElementType:
    """Return the element type of a name, and load its module.

    Raises:
        KeyError: no type has this name.
    """
    prefix, _, number = name.rpartition("_")
    family = _FAMILIES.get(f"{prefix}_")
    if family is not None and number.isdecimal():
        if name not in _MADE:
            make = import_module(f"fem_mbs.elements.{family}").make_type
            _MADE[name] = make(name, int(prefix[-1]), int(number))
        return _MADE[name]
    if name not in _MODULES:
        raise KeyError(f"no element type {name!r}; there are {', '.join(_MODULES)}")
    return import_module(f"fem_mbs.elements.{_MODULES[name]}").TYPES[name]
