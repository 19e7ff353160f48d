"""The tables of a model file: their keys, kinds of values, and one sentence on each.

`TABLES` lists them in the order in which they are built, which is also the order of the parts in the results.  The
reference `docs/model-file.md` is written from here (`fem_mbs.modelfile.reference`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, create_model

from fem_mbs.declarations.kinds import (
    ANY_TEXT,
    CELL_COUNT,
    CELLS,
    COMPONENT,
    COMPONENTS,
    COUNT_OR_COUNTS,
    DIMENSION,
    FLAG,
    FUNCTION,
    INERTIA,
    MATERIAL_AXES,
    MATRIX,
    NAME,
    NUMBER,
    NUMBER_OR_EXPRESSION,
    NUMBER_OR_INF,
    NUMBER_OR_PAIR,
    NUMBER_OR_SEVERAL,
    NUMBER_OR_VECTOR,
    NUMBERS_NESTED,
    ORIENTATION,
    PLACE,
    PLACES,
    POINTS,
    RATIOS,
    RELEASE_WORDS,
    SECTION_NAME,
    SPIN,
    SQUARE,
    STIFFNESS,
    STOPS,
    TABLE_POINTS,
    TERMS,
    TEXT,
    VECTOR,
    VECTOR_ANY,
    VELOCITY,
    WHOLE,
    WORDS,
    Kind,
    shown,
)  # fmt: skip
from fem_mbs.declarations.steps import step_kinds
from fem_mbs.model.sensors import sensor_kinds
from fem_mbs.properties.sections import SECTION_SHAPES

__all__ = ["TABLES", "Document", "Table", "TableType"]


@dataclass(frozen=True)
class Key:
    """A key of a table: kind of value, meaning, and the builder's default (``shows``: in words, for the reference)."""

    kind: Any
    text: str
    default: Any = None
    required: bool = False
    shows: str = ""

    @property
    def default_text(self) -> str:
        return self.shows or ("" if self.default is None else shown(self.default))


class Table(BaseModel):
    """One table of a model file; keys that it does not name are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    keys: ClassVar[dict[str, Key]] = {}

    def given(self, *without: str) -> dict[str, Any]:
        """Return the keys that stand in the file, with their values; the builder knows the defaults of the others."""
        return {k: getattr(self, k) for k in self.keys if k in self.model_fields_set and k not in without}


def _table(table_name: str, /, **keys: Key) -> type[Table]:
    """Return a table with these keys, in this order."""
    fields = {
        k: (Annotated[Any, v.kind] if isinstance(v.kind, Kind) else v.kind | None, ... if v.required else v.default)
        for k, v in keys.items()
    }
    made = create_model(table_name, __base__=Table, __module__=__name__, **fields)
    made.keys = keys
    return made


# ---- top level and named tables ------------------------------------------------------------------------------------


Document = _table(
    "Document",
    title=Key(ANY_TEXT, "for reports and figures", ""),
    dimension=Key(DIMENSION, "2: x, y and one rotation; 3: space", 3),
    gravity=Key(VECTOR, "acceleration of gravity [m/s^2]", shows="none"),
    elimination=Key(FLAG, "nodes that a joint makes coincide share their unknowns where that is exact", True),
    fields=Key(
        WORDS,
        'of solid and plane parts in frames: "stress", "strain", "shapes" (stresses of modes too), "points"; '
        "see results.md",
        shows='"stress"',
    ),
)


Material = _table(
    "Material",
    E=Key(
        NUMBER_OR_SEVERAL,
        "Young's modulus [N/m^2]; orthotropic, for solids: [E1, E2, E3]",
        shows="**required**, or stiffness",
    ),
    nu=Key(
        NUMBER_OR_SEVERAL,
        "Poisson's ratio; orthotropic: [nu12, nu13, nu23], strain along the second axis from stress along the first",
        shows="from G, else 0.3",
    ),
    G=Key(NUMBER_OR_SEVERAL, "shear modulus [N/m^2]; orthotropic: [G12, G13, G23]", shows="E / (2 (1 + nu))"),
    stiffness=Key(
        STIFFNESS,
        "instead, for solids: 6x6 matrix or the 21 numbers of its upper triangle over xx, yy, zz, xy, yz, zx, with "
        "engineering shear strains [N/m^2]",
        shows="none",
    ),
    expansion=Key(
        NUMBER_OR_SEVERAL,
        "thermal expansion of solids [1/K]: a number, 3 along the material axes, or the 6 components of the tensor",
        0.0,
    ),
    density=Key(NUMBER, "density [kg/m^3]; 0: without mass", required=True),
)


_SECTION_TEXTS = {
    "width": "along z [m]",
    "height": "along y, the direction of bending in the plane [m]",
    "diameter": "[m]",
    "outer_diameter": "[m]",
    "inner_diameter": "[m], or thickness",
    "thickness": "of all walls [m]",
    "web_thickness": "of the walls along y [m]",
    "flange_thickness": "of the walls along z [m]",
    "root_radius": "of the fillets of an I [m]",
    "A": "area [m^2]",
    "I": "second moment of area for both axes [m^4]",
    "Iy": "integral of z^2 dA [m^4]",
    "Iz": "integral of y^2 dA, bending in the plane [m^4]",
    "J": "torsion constant [m^4]",
    "k": "shear coefficient of both directions; inf: no shear deformation",
    "ky": "shear coefficient along y",
    "kz": "shear coefficient along z",
    "EA": "axial stiffness [N]",
    "EI": "bending stiffness for both axes [N m^2]",
    "EIy": "bending stiffness in the x-z plane [N m^2]",
    "EIz": "bending stiffness in the x-y plane [N m^2]",
    "GA": "shear stiffness of both directions, shear coefficient included [N]; inf: none",
    "GAy": "shear stiffness along y [N]",
    "GAz": "shear stiffness along z [N]",
    "GJ": "torsional stiffness [N m^2]",
    "rhoA": "mass per length [kg/m]",
    "rhoI": "rotary inertia per length for both axes [kg m]",
    "rhoIy": "rotary inertia per length about y [kg m]",
    "rhoIz": "rotary inertia per length about z [kg m]",
    "rhoIx": "rotary inertia per length about the beam [kg m]; the sum of the other two if not given",
    "stiffness": "over axial strain, shear y, shear z, twist rate, curvature y, curvature z of the line",
    "mass": "inertia per length over velocity and angular velocity of the line",
}


Section = _table(
    "Section",
    shape=Key(TEXT, f"one of {', '.join(SECTION_SHAPES)}", required=True),
    **{
        k: Key(MATRIX if k in SECTION_SHAPES["matrix"] else NUMBER_OR_INF, _SECTION_TEXTS[k])
        for k in dict.fromkeys(k for v in SECTION_SHAPES.values() for k in v)
    },
    centroid=Key(VECTOR, "space: [y, z] where axial force and bending act, from the beam's line [m]", shows="the line"),
    shear_centre=Key(VECTOR, "space: [y, z] where shear and torsion act [m]", shows="the centroid"),
    mass_centre=Key(VECTOR, "space: [y, z] of the mass [m]", shows="the centroid"),
    rotate=Key(NUMBER, "space: angle of the shape's axes about the beam's line [deg]", shows="0"),
)


Line = _table(
    "Line",
    start=Key(VECTOR, "first end [m]", required=True),
    end=Key(VECTOR, "second end [m]", required=True),
    n=Key(CELL_COUNT, "number of equal cells", required=True),
)


Polyline = _table(
    "Polyline",
    points=Key(POINTS, "corners [m]; the last equal to the first: closed", required=True),
    n=Key(COUNT_OR_COUNTS, "number of cells of each segment", required=True),
)


Arc = _table(
    "Arc",
    center=Key(VECTOR, "centre of the circle [m]", required=True),
    radius=Key(NUMBER, "[m]", required=True),
    angles=Key(VECTOR, "first and last angle [deg]; 360 apart: a ring", required=True),
    n=Key(CELL_COUNT, "number of equal chords", required=True),
    normal=Key(VECTOR, "axis of the circle", [0.0, 0.0, 1.0]),
)


Mesh = _table(
    "Mesh",
    file=Key(
        TEXT,
        "a Gmsh .msh (2.2 or 4.1), .vtu, .vtk, Exodus .e or .exo, MED .med or Medit .mesh file; a relative path starts "
        "at the model file",
    ),
    line=Key(Line, "instead of file: a straight line; sets all, start, end"),
    polyline=Key(Polyline, "instead of file: straight segments; sets all, segment_1 ..., start, end, corner_1 ..."),
    arc=Key(Arc, "instead of file: an arc or a ring; sets all, start, end"),
    scale=Key(NUMBER, "factor on the coordinates (0.001 for a mesh in mm)", 1.0),
    rotate=Key(NUMBER_OR_VECTOR, "angle, in space axis times angle [deg]", shows="none"),
    translate=Key(VECTOR, "shift, after scale and rotate [m]", shows="none"),
    unused=Key(TEXT, '"error" or "drop": mesh nodes that nothing uses', "error"),
    cells=Key(
        TEXT,
        'of a file: "lines" or "all" (plane and solid cells too); "auto": all where a [[solid]] or [[plane]] names the '
        "mesh",
        "auto",
    ),
)


# ---- lists of tables -----------------------------------------------------------------------------------------------


Node = _table(
    "Node",
    name=Key(NAME, "by which other tables call it", required=True),
    position=Key(VECTOR, "at the start [m]", required=True),
)


Body = _table(
    "Body",
    name=Key(NAME, "by which other tables call it", required=True),
    position=Key(VECTOR, "of the mass centre at the start [m]", required=True),
    mass=Key(NUMBER, "[kg]", required=True),
    inertia=Key(
        INERTIA, "about the mass centre; in space 3 principal or 3x3 moments in body axes [kg m^2]", required=True
    ),
    angle=Key(NUMBER, "plane: rotation of the body axes at the start [rad]", 0.0),
    rotation=Key(VECTOR, "space: axis times angle of the body axes at the start [rad]", shows="none"),
)


Reduction = _table(
    "Reduction",
    interfaces=Key(WORDS, 'places of the part\'s own model, its nodes or sets: "NAME", or "NAME=kind"', required=True),
    kind=Key(TEXT, 'of sets of several nodes: "rigid" or "average"', shows='"rigid"'),
    method=Key(TEXT, '"guyan", "craig_bampton", "macneal", "rubin", "craig_chang" or "herting"', "craig_bampton"),
    modes=Key(WHOLE, "number of component modes, the lowest", shows="20, without a cutoff"),
    cutoff=Key(NUMBER, "component modes up to it [Hz]", shows="none"),
    participation=Key(NUMBER, "least share of a mode at the interfaces", shows="none"),
    stiffening=Key(TEXT, "interface that carries the part, for the stiffening by inertia", shows="none"),
    stress=Key(FLAG, "keep the stresses at the nodes of solid and plane parts, for fem-mbs stresses", False),
    state=Key(TEXT, '"start", or "end": about what the steps of the part\'s model leave', "start"),
    release=Key(FLAG, "take supports and motions of the interfaces away", False),
    material=Key(TEXT, 'of a mesh: "E,nu,density"', shows="none"),
    thickness=Key(NUMBER, "of a plane mesh [m]", 1.0),
)


Part = _table(
    "Part",
    name=Key(NAME, 'of the part; its interfaces are the nodes "name:interface"', required=True),
    file=Key(
        TEXT,
        "a reduced part (.h5, .SID_FEM, a folder), or with reduce a model file, a deck (.inp) or a mesh; a relative "
        "path starts at the model file",
        required=True,
    ),
    reduce=Key(Reduction, "how to reduce the part of a model file, a deck or a mesh"),
    position=Key(VECTOR, "of the origin of the part's own axes at the start [m]", shows="none"),
    rotation=Key(NUMBER_OR_VECTOR, "of these axes: angle, in space axis times angle [rad]", shows="none"),
    modes=Key(COUNT_OR_COUNTS, "how many shapes to keep, or the numbers of those (1 is the lowest)", shows="all"),
    cutoff=Key(NUMBER, "keep shapes up to this frequency [Hz]", shows="none"),
    reference=Key(TEXT, '"mean" (mean axes), or the interface that moves with the frame', "mean"),
    damping=Key(RATIOS, "ratio of critical damping of all shapes, or one for each", shows="that of the part"),
    stiffening=Key(
        TEXT,
        '"none", "interfaces", "centrifugal", "inertia" or "all": what stresses stiffen; see reduction.md',
        "none",
    ),
)


Beam = _table(
    "Beam",
    name=Key(NAME, "of the group of elements", shows='"beam 1", ...'),
    on=Key(CELLS, "line cells of the beams", required=True),
    section=Key(SECTION_NAME, "name of a section; space: two, [start, end], for a taper along the line", required=True),
    material=Key(TEXT, 'name of a material; not needed by sections of shape "stiffness" or "matrix"'),
    mass=Key(TEXT, '"hermite", "consistent" (linear) or "lumped"', "hermite"),
    strains=Key(
        TEXT,
        '"exact" (the geometrically exact beam: Reissner, Simo), "generalised" (Besseling, Meijaard), "natural" or '
        '"corotational" (rotations against the chord)',
        shows='"exact"; "natural" with a `rule` of theirs',
    ),
    rule=Key(TEXT, 'of natural strains: "exact", "accumulated", "geometric", "secant", "gradient"', "exact"),
    second_order=Key(FLAG, "second-order terms of the strains", True),
    shear=Key(FLAG, "shear deformation (Timoshenko), else Kirchhoff", True),
    inextensible=Key(FLAG, 'constant length, by a multiplier; short for fixed = "extension"', False),
    damping=Key(NUMBER, "proportional to the stiffness, beta [s]", 0.0),
    mass_damping=Key(NUMBER, "proportional to the mass, alpha [1/s]", 0.0),
    orientation=Key(
        ORIENTATION,
        "space: vector in the plane of the axes ex (along) and ey (height); may depend on the place",
        shows="ez near global z; of beams along z: ey is y",
    ),
    offset=Key(VECTOR, "space: [x, y, z] of the line from the nodes, in the section's axes, rigid [m]", shows="none"),
    offset_start=Key(VECTOR, "space: the same at the start of the line; linear in between [m]", shows="none"),
    offset_end=Key(VECTOR, "space: at the end of the line [m]", shows="none"),
    releases=Key(
        RELEASE_WORDS,
        'hinges at the ends of the line: {start = [...], end = [...]} of "rotation x", "rotation y", "rotation z" '
        '(section\'s axes) or "rotation"; the beam then ends at a new node "NAME start" or "NAME end"',
        shows="none",
    ),
    fixed=Key(
        WORDS,
        'strains held by multipliers: "extension"; space: "torsion", "bending y", "bending z", "all"',
        shows="none",
    ),
    curved=Key(FLAG, "space: the line is smooth through the nodes and free of stress", False),
    twist=Key(
        NUMBER_OR_PAIR, "space: turn of the section along the line: rate [rad/m], or [start, end] [rad]", shows="0"
    ),
)


Truss = _table(
    "Truss",
    name=Key(NAME, "of the group of elements", shows='"truss 1", ...'),
    on=Key(CELLS, "line cells of the trusses or cables", required=True),
    section=Key(TEXT, "name of a section", required=True),
    material=Key(TEXT, 'name of a material; not needed by sections of shape "stiffness"'),
    strain=Key(TEXT, '"corotational", "green" (total-Lagrangian) or "average" (to compare)', "corotational"),
    tension_only=Key(FLAG, "a cable: no force in compression", False),
    prestress=Key(NUMBER, "axial force at the start [N]", 0.0),
    damping=Key(NUMBER, "of the rate of length [N s/m]", 0.0),
    mass_damping=Key(NUMBER, "proportional to the mass, alpha [1/s]", 0.0),
    mass=Key(TEXT, '"lumped" or "consistent" (linear)', "lumped"),
)


_SOLID_KEYS = {
    "element": Key(
        TEXT,
        '"standard" (full integration), "incompatible" (hexahedra: incompatible modes) or "reduced" (hexahedron20, '
        "quad8, wedge)",
        "standard",
    ),
    "orientation": Key(
        MATERIAL_AXES,
        "material axes in rows; or {axis = [...], point = [...]}: radial, tangential and axial ones about an axis",
        shows="global axes",
    ),
    "kinematics": Key(TEXT, '"nonlinear" (large displacements, total-Lagrangian) or "linear"', "nonlinear"),
    "mass": Key(
        TEXT,
        '"consistent", "lumped" or "reduced" (consistent, with the points of the stiffness); of element = '
        '"incompatible" also "incompatible" (with that of the modes within elements; for linear steps)',
        "consistent",
    ),
    "damping": Key(NUMBER, "proportional to the stiffness, beta [s]", 0.0),
    "mass_damping": Key(NUMBER, "proportional to the mass, alpha [1/s]", 0.0),
}


Solid = _table(
    "Solid",
    name=Key(NAME, "of the part and its results", shows='"solid 1", ...'),
    on=Key(PLACES, "tetrahedra, hexahedra and wedges of a mesh: mesh, mesh:set, or a list of them", required=True),
    material=Key(TEXT, "name of a material", required=True),
    **_SOLID_KEYS,
)


Plane = _table(
    "Plane",
    name=Key(NAME, "of the part and its results", shows='"plane 1", ...'),
    on=Key(PLACES, "triangles and quadrilaterals of a mesh: mesh, mesh:set, or a list of them", required=True),
    material=Key(TEXT, "name of a material", required=True),
    state=Key(TEXT, '"stress", "strain" or "axisymmetric" (about the y axis; forces of the whole ring)', "stress"),
    thickness=Key(NUMBER, "[m]; not of axisymmetric parts", 1.0),
    **_SOLID_KEYS,
)


PointMass = _table(
    "PointMass",
    name=Key(NAME, "", shows='"point_mass 1", ...'),
    at=Key(PLACES, "on each node of it", required=True),
    mass=Key(NUMBER, "[kg]", required=True),
    inertia=Key(
        INERTIA,
        "about the mass centre: plane a number; space 3 principal or 3x3, in the node's axes: the global ones at the "
        "start, of a body its own [kg m^2]",
        0.0,
    ),
    offset=Key(
        VECTOR,
        "space: of the mass centre from the node, in global axes at the start, turning with it [m]",
        shows="none",
    ),
)


Disc = _table(
    "Disc",
    name=Key(NAME, "", shows='"disc 1", ...'),
    at=Key(PLACES, "on each node of it", required=True),
    mass=Key(NUMBER, "[kg]", required=True),
    polar=Key(NUMBER, "moment of inertia about its axis [kg m^2]", required=True),
    diametral=Key(NUMBER, "space: about any axis across [kg m^2]", shows="half of polar"),
    axis=Key(VECTOR, "space: its direction at the start"),
)


Rotor = _table(
    "Rotor",
    name=Key(NAME, "by which steps call it", shows='"rotor 1", ...'),
    axis=Key(VECTOR, "space: direction about which positive speeds turn"),
    point=Key(VECTOR, "of the axis [m]", shows="origin"),
    on=Key(PLACES, "what turns", "all"),
)


NodalMass = _table(
    "NodalMass",
    name=Key(NAME, "", shows='"nodal_mass 1", ...'),
    at=Key(PLACES, "on each node of it", required=True),
    matrix=Key(
        SQUARE,
        "6x6 over velocity and angular velocity in the node's axes, in the plane 3x3; symmetric, positive "
        "[kg, kg m, kg m^2]",
        required=True,
    ),
)


def _law_keys(x: str, stops: str, length: str, force: str) -> dict[str, Key]:
    """Return keys of a spring's law, which all kinds of springs share; stiffness and damping add to what they say."""
    return {
        "cubic": Key(NUMBER, f"k of a force k x^3 [{force}/{length}^3], x {x}", 0.0),
        "preload": Key(NUMBER, f"force at x = 0 [{force}]", 0.0),
        "table": Key(TABLE_POINTS, f"[x, force] [{length}], [{force}]; goes on along its last slopes", shows="none"),
        "interpolation": Key(TEXT, 'of the table: "linear" or "spline" (natural, cubic)', "linear"),
        "damping_table": Key(TABLE_POINTS, f"[rate, force] [{length}/s], [{force}], linear in between", shows="none"),
        "stops": Key(STOPS, f"{stops} [{length}]", shows="none"),
        "stop_stiffness": Key(NUMBER, f"of the stops [{force}/{length}]", shows="required by stops"),
        "stop_damping": Key(NUMBER, f"b of the stops' force k y (1 + b y') with the overlap y [s/{length}]", 0.0),
    }


Spring = _table(
    "Spring",
    name=Key(NAME, "", shows='"spring 1", ...'),
    a=Key(PLACE, "one end", required=True),
    b=Key(PLACE, "other end", required=True),
    stiffness=Key(NUMBER, "[N/m]", shows="0"),
    damping=Key(NUMBER, "[N s/m]", 0.0),
    length=Key(NUMBER, "free length [m]", shows="that of the start"),
    point_a=Key(VECTOR, "where on a, in global coordinates of the start [m]", shows="its node"),
    point_b=Key(VECTOR, "where on b [m]", shows="its node"),
    **_law_keys("the length less the free length", "least and largest length, inf for none", "m", "N"),
)


TorsionSpring = _table(
    "TorsionSpring",
    name=Key(NAME, "", shows='"torsion_spring 1", ...'),
    a=Key(PLACE, "one end", required=True),
    b=Key(PLACE, "other end, whose angle against a counts", required=True),
    stiffness=Key(NUMBER, "[N m/rad]", shows="0"),
    damping=Key(NUMBER, "[N m s/rad]", 0.0),
    angle=Key(NUMBER, "relative angle since the start at which it is free [rad]", 0.0),
    axis=Key(VECTOR, "space: its axis at the start", shows="required in space"),
    **_law_keys("the angle less the free angle", "least and largest angle since the start, inf for none", "rad", "N m"),
)


NodalSpring = _table(
    "NodalSpring",
    name=Key(NAME, "", shows='"nodal_spring 1", ...'),
    on=Key(PLACES, "nodes, each with a spring", required=True),
    component=Key(
        COMPONENT,
        '"x", "y", "z", a direction [...] of any length, or "rotation", in space "rotation x", "rotation y", '
        '"rotation z"',
        required=True,
    ),
    stiffness=Key(NUMBER, "[N/m], of rotations [N m/rad]", 0.0),
    damping=Key(NUMBER, "[N s/m], [N m s/rad]", 0.0),
    against=Key(PLACES, "as many nodes, or one", "ground"),
    other=Key(COMPONENT, "component of the nodes of against", shows="the same"),
)


Support = _table(
    "Support",
    on=Key(PLACES, "nodes that are held where they are", required=True),
    components=Key(
        COMPONENTS,
        'of "x", "y", "z", "rotation", in space "rotation x", "rotation y", "rotation z"',
        shows="all that a node has",
    ),
)


Motion = _table(
    "Motion",
    name=Key(NAME, "", shows='"motion 1", ...'),
    on=Key(PLACES, "driven nodes or body", required=True),
    component=Key(TEXT, '"x", "y", "z" or (plane) "rotation"', required=True),
    function=Key(FUNCTION, "displacement [m] or angle [rad] since the start", required=True),
)


Joint = _table(
    "Joint",
    name=Key(NAME, "", shows='"joint 1", ...'),
    type=Key(
        TEXT,
        '"pin" or "spherical", "weld", "revolute", "universal", "cylindrical", "prismatic", "planar", "screw", '
        '"constant_velocity", "point_on_line", "point_on_plane", "along_beam", "distance", "slider", '
        '"position" (driven), "angle" (driven)',
        required=True,
    ),
    a=Key(PLACE, "one part (along_beam: the name of a beam or truss)", required=True),
    b=Key(PLACE, "other part", "ground"),
    point=Key(
        VECTOR,
        "where, in global coordinates of the start [m]; required between bodies, or a body and the ground, which have "
        "many points",
        shows="the node of a or b",
    ),
    axis=Key(
        VECTOR,
        "at the start: of rotation or sliding; of a universal or constant-velocity joint the one in a; of a planar one "
        "or a plane its normal",
    ),
    axis_b=Key(
        VECTOR,
        "the axis in b: of a universal or constant-velocity joint, or where parts stand askew and are to be assembled",
    ),
    lead=Key(NUMBER, "of a screw: slide per turn [m]"),
    speed=Key(NUMBER, "of a driven joint that moves steadily, instead of its function [rad/s] or [m/s]"),
    function=Key(
        FUNCTION,
        "drives the angle [rad] (revolute, cylindrical, planar, screw, angle), the displacement [m] (prismatic, "
        "position, point_on_line) or the distance [m], since the start",
    ),
    displacement=Key(FUNCTION, "drives the displacement of a cylindrical joint [m], since the start"),
    point_b=Key(
        VECTOR,
        "the point in b: of a distance, or where parts stand apart and are to be assembled [m]",
        shows="point; of a distance: the node of b",
    ),
)


JointSpring = _table(
    "JointSpring",
    name=Key(NAME, "", shows='"joint_spring 1", ...'),
    joint=Key(TEXT, "name of a joint", required=True),
    stiffness=Key(NUMBER, "[N m/rad] on an angle, [N/m] on a displacement", shows="0"),
    damping=Key(NUMBER, "[N m s/rad] or [N s/m]", 0.0),
    free=Key(NUMBER, "coordinate since the start at which it is free [rad] or [m]", 0.0),
    coordinate=Key(
        TEXT,
        '"angle", "displacement"; of a universal joint "angle" (about its axis in a), "angle_b"',
        shows="the first",
    ),
    **_law_keys(
        "the coordinate less its free value (on an angle: N m, rad)",
        "least and largest coordinate since the start, inf for none", "m", "N",
    ),
)  # fmt: skip


Motor = _table(
    "Motor",
    name=Key(NAME, "", shows='"motor 1", ...'),
    joint=Key(TEXT, "name of a joint; or a and b", shows="none"),
    coordinate=Key(TEXT, "of the joint, as of a joint_spring", shows="the first"),
    a=Key(PLACE, "instead of joint: one end of a distance", shows="none"),
    b=Key(PLACE, "its other end", shows="none"),
    point_a=Key(VECTOR, "where on a, in global coordinates of the start [m]", shows="its node"),
    point_b=Key(VECTOR, "where on b [m]", shows="its node"),
    force=Key(FUNCTION, "force [N] or moment [N m] in the direction in which the coordinate grows", shows="none"),
    speed=Key(FUNCTION, "instead: rate of the coordinate [m/s] or [rad/s], whatever force that takes", shows="none"),
    position=Key(FUNCTION, "a controller's reference r of the coordinate since the start [m], [rad]", shows="0"),
    kp=Key(NUMBER, "gain of r - q [N/m] or [N m/rad]", 0.0),
    kd=Key(NUMBER, "gain of r' - q' [N s/m] or [N m s/rad]", 0.0),
    limit=Key(NUMBER_OR_INF, "largest magnitude of force and controller together", shows="none"),
)


Friction = _table(
    "Friction",
    name=Key(NAME, "", shows='"friction 1", ...'),
    joint=Key(
        TEXT,
        "name of a joint: pin (plane), revolute, prismatic, slider, point_on_line, point_on_plane, planar, along_beam; "
        "its force presses; or a and b",
        shows="none",
    ),
    coefficient=Key(NUMBER, "mu", required=True),
    smoothing=Key(NUMBER, "sliding speed up to which the force rises, like tanh(w/smoothing) [m/s]", required=True),
    radius=Key(NUMBER, "of the bearing, of pin and revolute joints [m]", shows="none"),
    static=Key(NUMBER, "coefficient at small speeds", shows="coefficient"),
    stribeck=Key(NUMBER, "with static: speed w_0 of its decay, exp(-(w/w_0)^2) [m/s]", shows="none"),
    normal=Key(FUNCTION, "normal force, with a joint in addition to its own; a load [N]", shows="none"),
    speed=Key(FUNCTION, "of a running surface of a along the coordinate [m/s]", shows="0"),
    a=Key(PLACE, "instead of joint: the part with the surface", shows="none"),
    b=Key(PLACE, "the part whose point slides on it", shows="none"),
    point=Key(VECTOR, "where on b, in global coordinates of the start [m]", shows="its node"),
    axis=Key(VECTOR, "normal of the surface", shows="none"),
    direction=Key(VECTOR, "space: where a running surface runs to", shows="none"),
)


Bushing = _table(
    "Bushing",
    name=Key(NAME, "", shows='"bushing 1", ...'),
    a=Key(PLACE, "one part", required=True),
    b=Key(PLACE, "other part", "ground"),
    stiffness=Key(
        SQUARE,
        "diagonal or matrix over displacements and rotations, 6 or 6x6, in the plane 3 or 3x3 (x, y, rotation) "
        "[N/m, N/rad, N m/rad]",
        shows="none",
    ),
    damping=Key(SQUARE, "likewise, over their rates", shows="none"),
    point=Key(VECTOR, "where both frames are, in global coordinates of the start [m]", shows="the nodes"),
    point_a=Key(VECTOR, "where on a [m]", shows="point"),
    point_b=Key(VECTOR, "where on b [m]", shows="point"),
    rotation=Key(
        NUMBER_OR_VECTOR, "of the axes at the start: angle; space: axis times angle [rad]", shows="global axes"
    ),
    frame=Key(TEXT, 'of the displacements: "first" (moves with a) or "mean" (half-way between both)', "first"),
    preload=Key(VECTOR_ANY, "forces and moments at the start, in the frame [N, N m]", shows="none"),
)


Bearing = _table(
    "Bearing",
    name=Key(NAME, "", shows='"bearing 1", ...'),
    a=Key(PLACE, "node of the shaft", required=True),
    b=Key(PLACE, "node of the housing, which does not turn", "ground"),
    stiffness=Key(
        NUMBERS_NESTED,
        "number, 2 (both directions), 4 (row by row) or 2x2, which may be unsymmetric; with speeds a list of these "
        "[N/m]",
        shows="none",
    ),
    damping=Key(NUMBERS_NESTED, "likewise [N s/m]", shows="none"),
    axis=Key(VECTOR, "space: about which the speed counts"),
    direction=Key(
        VECTOR, "space: first direction across; the second is axis x first", shows="y for x, z for y, x for z"
    ),
    speeds=Key(
        VECTOR_ANY,
        "of a less b [rad/s], increasing: where the tables stand; linear between, constant beyond",
        shows="none",
    ),
)


Component = _table(
    "Component",
    name=Key(NAME, "", shows='"component 1", ...'),
    groups=Key(WORDS, "names of beams, trusses, solids, plane parts, bodies, masses, springs", required=True),
    modes=Key(WHOLE, "number of elastic modes that are kept; or", shows="what the analysis says"),
    cutoff=Key(NUMBER, "frequency up to which they are kept [Hz]", shows="what the analysis says"),
)


Gear = _table(
    "Gear",
    name=Key(NAME, "", shows='"gear 1", ...'),
    a=Key(TEXT, "name of a joint", required=True),
    b=Key(TEXT, "name of a joint", required=True),
    ratio=Key(NUMBER, "what b's coordinate moves over what a's moves: [-], [m/rad] (rack) or [rad/m]", required=True),
    coordinate_a=Key(TEXT, '"angle" or "displacement" of a', shows="the first"),
    coordinate_b=Key(TEXT, '"angle" or "displacement" of b', shows="the first"),
)


Equation = _table(
    "Equation",
    name=Key(NAME, "", shows='"equation 1", ...'),
    terms=Key(
        TERMS,
        "each {on = place, component, coefficient}, component one of x, y, z, rx, ry, rz, in the plane x, y, rotation; "
        "places of several nodes give as many equations, node by node; linear analyses make the first term the "
        "dependent one",
        required=True,
    ),
    value=Key(NUMBER, "right side [m] or [rad]", 0.0),
    function=Key(FUNCTION, "factor on it", shows="1"),
)


Coupling = _table(
    "Coupling",
    name=Key(NAME, "", shows='"coupling 1", ...'),
    reference=Key(PLACE, "node or body; it gets a rotation", required=True),
    nodes=Key(PLACES, "what moves with it, or what it follows", required=True),
    kind=Key(
        TEXT,
        '"rigid" (one rigid body) or "distributing" (the reference follows the weighted mean of the nodes and the '
        "rotation that fits them best, and adds no stiffness)",
        "rigid",
    ),
    components=Key(WORDS, "of x, y, z, rx, ry, rz, rotation, what is coupled", shows="all"),
    weights=Key(VECTOR_ANY, "of a distributing coupling, one per node", shows="equal"),
)


Tie = _table(
    "Tie",
    name=Key(NAME, "", shows='"tie 1", ...'),
    slave=Key(PLACES, "whose nodes stay on the surface", required=True),
    master=Key(
        PLACES, "the surface: a facet set, or lines, plane cells (in the plane their outline) or solids", required=True
    ),
    tolerance=Key(NUMBER, "nodes farther away stay free [m]", shows="1/20 of the nearest facet"),
    adjust=Key(FLAG, "move the nodes onto the surface first", False),
)


Force = _table(
    "Force",
    name=Key(NAME, "", shows='"force 1", ...'),
    on=Key(PLACES, "on each node of it", required=True),
    vector=Key(VECTOR, "[N], in global axes", required=True),
    function=Key(FUNCTION, "factor on it", 1.0),
    point=Key(VECTOR, "of a body, in global coordinates of the start [m]", shows="its node"),
    follower=Key(FLAG, "turns with its node; vector is that of the start", False),
)


Moment = _table(
    "Moment",
    name=Key(NAME, "", shows='"moment 1", ...'),
    on=Key(PLACES, "on each node of it", required=True),
    value=Key(NUMBER_OR_VECTOR, "[N m]; in space the vector of the start", required=True),
    function=Key(FUNCTION, "factor on it", 1.0),
    kind=Key(
        TEXT, 'space: "axial" (fixed in direction), "follower" (turns with the body), "semitangential" (half each)',
        "axial",
    ),
)  # fmt: skip


LineLoad = _table(
    "LineLoad",
    name=Key(NAME, "", shows='"line load 1", ...'),
    on=Key(TEXT, "name of a group of beams or trusses", required=True),
    vector=Key(VELOCITY, "[N/m] per undeformed length; expressions of x, y, z of the nodes", required=True),
    function=Key(FUNCTION, "factor on it", 1.0),
    axes=Key(TEXT, '"global" (fixed in direction) or "local" (turns with the sections of beams)', "global"),
)


PartLoad = _table(
    "PartLoad",
    name=Key(NAME, "", shows='"part load 1", ...'),
    part=Key(TEXT, "name of a reduced part", required=True),
    load=Key(
        WORDS, "name of a load in the part's own model or deck, or a list of them, which act together", required=True
    ),
    function=Key(FUNCTION, "factor on what it is there per unit of its function", 1.0),
    factor=Key(NUMBER, "times this", 1.0),
    follower=Key(FLAG, "its forces turn with the part; false: they keep their directions at the start", True),
)


Pressure = _table(
    "Pressure",
    name=Key(NAME, "", shows='"pressure 1", ...'),
    on=Key(PLACES, "mesh:set of faces of solids or edges of plane parts, or a list of them", required=True),
    value=Key(
        NUMBER_OR_EXPRESSION,
        "[Pa] against the outward normal, which it follows; expressions of x, y, z of the middle of a face",
        required=True,
    ),
    function=Key(FUNCTION, "factor on it", 1.0),
    integration=Key(TEXT, '"exact", or "reduced": on faces of solids with the few points that CalculiX takes', "exact"),
)


Traction = _table(
    "Traction",
    name=Key(NAME, "", shows='"traction 1", ...'),
    on=Key(PLACES, "mesh:set of faces of solids or edges of plane parts, or a list of them", required=True),
    vector=Key(
        VELOCITY,
        "[Pa] per undeformed area, fixed in direction; expressions of x, y, z of the middle of a face",
        required=True,
    ),
    function=Key(FUNCTION, "factor on it", 1.0),
)


Temperature = _table(
    "Temperature",
    name=Key(NAME, "", shows='"temperature 1", ...'),
    on=Key(
        PLACE,
        "solid or plane part, or cells of a mesh: these elements; or a set of nodes: elements take what follows "
        "between them and the others, which keep the reference",
        required=True,
    ),
    value=Key(NUMBER_OR_EXPRESSION, "[K]; expressions of x, y, z of the nodes", required=True),
    reference=Key(NUMBER, "temperature without strain [K]", 0.0),
    function=Key(FUNCTION, "factor on the change", 1.0),
)


Centrifugal = _table(
    "Centrifugal",
    name=Key(NAME, "", shows='"centrifugal 1", ...'),
    speed=Key(FUNCTION, "of the turning frame [rad/s]; the load factor multiplies its square", required=True),
    axis=Key(VECTOR, "space: direction of the axis"),
    point=Key(VECTOR, "of the axis [m]", shows="origin"),
    spin=Key(FLAG, "a transient after a static step starts with this rotation, which goes on steadily", False),
)


BaseExcitation = _table(
    "BaseExcitation",
    name=Key(NAME, "", shows='"base excitation 1", ...'),
    direction=Key(VECTOR, "factors on the movement, by axis", required=True),
    displacement=Key(FUNCTION, "[m], starts at zero"),
    acceleration=Key(FUNCTION, "[m/s^2], instead of displacement; starts at rest"),
    on=Key(PLACES, "whose held positions move", shows="all supports"),
)


Assembly = _table(
    "Assembly",
    hold=Key(PLACES, "what must not move, beside what supports hold", shows="none"),
)


Initial = _table(
    "Initial",
    on=Key(PLACES, "nodes that get the velocity", "all"),
    velocity=Key(VELOCITY, "[m/s]; expressions of x, y, z of the start", shows="none"),
    spin=Key(SPIN, "angular velocity [rad/s]; plane: also an expression of x, y", shows="none"),
    centre=Key(VECTOR, "point about which the spin turns the nodes [m]", shows="nodes spin in place"),
    method=Key(
        TEXT,
        'how velocities are made to fit joints and motions: "strain-free", "projection", "given" or "auto"',
        "auto",
    ),
)


InitialSpeed = _table(
    "InitialSpeed",
    on=Key(PLACE, "node or body", required=True),
    component=Key(TEXT, '"x", "y", "z" or "rotation"', required=True),
    value=Key(NUMBER, "speed [m/s], [rad/s]", required=True),
    against=Key(PLACE, "for a rotation: the part that it is counted from", "ground"),
    axis=Key(VECTOR, "for a rotation in space: its axis", shows="required in space"),
)


Sensor = _table(
    "Sensor",
    name=Key(NAME, "of its columns in the results", required=True),
    kind=Key(TEXT, f"one of {', '.join(sensor_kinds())}", required=True),
    on=Key(PLACE, "what is looked at: a place; of elements and reactions their name"),
    a=Key(PLACE, "first place"),
    b=Key(PLACE, "second place"),
    point=Key(VECTOR, "of a body, in global coordinates of the start [m]; else its node"),
    point_a=Key(VECTOR, "of a [m]"),
    point_b=Key(VECTOR, "of b [m]"),
    element=Key(WHOLE, "number of the element in its group, from 0"),
    quantity=Key(TEXT, "output of an element, coordinate or driver of a joint, or column of the energy ledger"),
    relative=Key(FLAG, "divided by the distance of a and b at the start"),
    mode=Key(WHOLE, "number of a shape of a reduced part, 1 is the lowest"),
)


Event = _table(
    "Event",
    name=Key(NAME, "for reports", shows='"event 1", ...'),
    sensor=Key(TEXT, 'a sensor, or one of its columns ("tip.y")', required=True),
    value=Key(NUMBER, "that it passes", 0.0),
    direction=Key(TEXT, '"rising", "falling" or "both"', "both"),
    action=Key(
        TEXT,
        '"stop" (ends the step), "on", "off" (loads; what is to be turned on does not act before) or "switch" (loads '
        "and drivers get another function)",
        "stop",
    ),
    target=Key(
        PLACES, 'names of loads and motors; of "switch" also motions, driven joints and equations', shows="none"
    ),
    function=Key(FUNCTION, 'of "switch": of the time since the event', shows="none"),
)


def _alternatives(words: Iterable[str]) -> str:
    """Return words in quotes, as alternatives."""
    *first, last = (f'"{word}"' for word in words)
    return f"{', '.join(first)} or {last}"


Step = _table(
    "Step",
    type=Key(TEXT, _alternatives(step_kinds()), required=True),
    name=Key(NAME, "for reports", shows="the type"),
)


Check = _table(
    "Check",
    name=Key(NAME, "for the report", shows='"check 1", ...'),
    sensor=Key(TEXT, 'a sensor, or one of its columns ("tip.x")', required=True),
    quantity=Key(
        TEXT,
        '"first maximum", "first minimum", "maximum", "minimum", "extreme" (largest magnitude) or "final"; or give at',
        shows="none",
    ),
    at=Key(NUMBER, "instead of quantity: the time of the value [s]", shows="none"),
    reference=Key(NUMBER, "the value that is expected", required=True),
    tolerance=Key(NUMBER, "largest difference, in the unit of the sensor", shows="or:"),
    relative_tolerance=Key(NUMBER, "largest difference over the reference", shows="or: tolerance"),
    source=Key(ANY_TEXT, "where the reference comes from", ""),
)


@dataclass(frozen=True)
class TableType:
    """A table of the file: ``name``; ``many`` how it is written ("named": [material.steel], "list": [[joint]]); its
    keys; the word that messages of the builder begin with; what it is for."""

    name: str
    many: str
    keys: type[Table] | None
    owner: str
    text: str

    def place(self, which: str | int | None) -> str:
        """Return the name of one of these tables in messages: by name, or counted from 1."""
        if self.many == "named":
            return f"[{self.name}.{which}]"
        return f'[[{self.name}]] "{which}"' if isinstance(which, str) else f"[[{self.name}]] number {which}"


TABLES: Sequence[TableType] = (
    TableType("material", "named", Material, "Material", "Linear elastic materials; beams need isotropic ones."),
    TableType("section", "named", Section, "Section", "Cross-sections; the keys depend on the shape."),
    TableType("function", "named", None, "Function", "Functions of time."),
    TableType("mesh", "named", Mesh, "Mesh", "Nodes, cells and named sets, from a file or generated."),
    TableType("node", "list", Node, "Node", "Single nodes."),
    TableType("body", "list", Body, "Body", "Rigid bodies."),
    TableType(
        "part",
        "list",
        Part,
        "Reduced part",
        "Flexible parts that are reduced to their interfaces and few shapes, and move as bodies.",
    ),
    TableType("tie", "list", Tie, "Tie", "Nodes that stay on the surface of another part (made before the parts)."),
    TableType("beam", "list", Beam, "Beam", "Beams on the line cells of a mesh."),
    TableType("truss", "list", Truss, "Truss", "Trusses and cables on the line cells of a mesh."),
    TableType("solid", "list", Solid, "Solid", "Solid elements on the cells of a mesh."),
    TableType("plane", "list", Plane, "Plane part", "Elements of plane stress, plane strain or rotational symmetry."),
    TableType("point_mass", "list", PointMass, "Point mass", "Masses at nodes."),
    TableType("disc", "list", Disc, "Disc", "Rigid discs on nodes."),
    TableType("nodal_mass", "list", NodalMass, "Nodal mass", "Dense mass matrices that turn with their nodes."),
    TableType("spring", "list", Spring, "Spring", "Spring-dampers between two points."),
    TableType("torsion_spring", "list", TorsionSpring, "Torsion spring", "Torsional spring-dampers between two parts."),
    TableType(
        "nodal_spring",
        "list",
        NodalSpring,
        "Nodal spring",
        "Spring-dampers on single displacements, along directions fixed in space, or on rotations of nodes.",
    ),
    TableType("support", "list", Support, "Support", "Nodes that do not move."),
    TableType("motion", "list", Motion, "Motion", "Coordinates that follow a function of time."),
    TableType(
        "assembly",
        "list",
        Assembly,
        "Assembly",
        "Asks that joints which stand open be closed before the first step, by the least change of positions and "
        "rotations, weighted with the masses. Parts of elements keep their shape; displacements, rotations and joint "
        "coordinates count from the given positions.",
    ),
    TableType("joint", "list", Joint, "Joint", "Joints between two parts, or a part and the ground."),
    TableType("gear", "list", Gear, "Gear", "Gears, racks and pulleys: coordinates of two joints in a fixed ratio."),
    TableType("equation", "list", Equation, "Equation", "Linear equations between displacements and small rotations."),
    TableType("coupling", "list", Coupling, "Coupling", "A reference that moves with many nodes."),
    TableType("joint_spring", "list", JointSpring, "Joint spring", "Spring-dampers on the coordinate of a joint."),
    TableType(
        "motor",
        "list",
        Motor,
        "Motor",
        "Motors and controllers on coordinates of joints, or between points (laws as Python functions: "
        "`Model.user_force`).",
    ),
    TableType("friction", "list", Friction, "Friction", "Dry friction in joints and between points."),
    TableType("bushing", "list", Bushing, "Bushing", "Elastic mounts: matrices between frames of two parts."),
    TableType(
        "bearing",
        "list",
        Bearing,
        "Bearing",
        "Bearings of rotors: forces across an axis by 2x2 matrices, which may depend on the speed.",
    ),
    TableType(
        "component",
        "list",
        Component,
        "Component",
        "Substructures for component mode synthesis and `fem-mbs modify`. Dofs that several use are their interface; "
        "elements of none belong to the component that has all their nodes, or join several.",
    ),
    TableType("force", "list", Force, "Force", "Forces."),
    TableType("moment", "list", Moment, "Moment", "Moments."),
    TableType("line_load", "list", LineLoad, "Line load", "Distributed loads on beams and trusses."),
    TableType("pressure", "list", Pressure, "Pressure", "Pressures on faces of solids and edges of plane parts."),
    TableType(
        "part_load",
        "list",
        PartLoad,
        "Part load",
        "Loads that reduced parts have in their own models, on their surface or inside, in motion.",
    ),
    TableType("traction", "list", Traction, "Traction", "Dead loads on faces of solids and edges of plane parts."),
    TableType(
        "temperature",
        "list",
        Temperature,
        "Temperature",
        "Temperatures of solid and plane parts; those of one element add up and follow one function.",
    ),
    TableType(
        "centrifugal",
        "list",
        Centrifugal,
        "Centrifugal load",
        "Centrifugal forces in a frame that turns at constant speed, for static, modal and buckling steps, "
        "or to trim a rotor whose transient follows.",
    ),
    TableType("base_excitation", "list", BaseExcitation, "Base excitation", "Supports that move together."),
    TableType(
        "rotor",
        "list",
        Rotor,
        "Rotor",
        "Parts that turn steadily about an axis, for steps that ask how they then vibrate; it sets nothing in motion.",
    ),
    TableType("initial", "list", Initial, "Initial velocity", "Velocities at the start; several tables add up."),
    TableType("initial_speed", "list", InitialSpeed, "Initial speed", "Given speeds at the start, as of a joint."),
    TableType("sensor", "list", Sensor, "Sensor", "Quantities written at every time step."),
    TableType("event", "list", Event, "Event", "What happens in a transient when a sensor passes a value."),
    TableType("step", "list", Step, "Step", "What is computed, one after the other."),
    TableType("check", "list", Check, "Check", "Values that the results are compared with after a run."),
)
