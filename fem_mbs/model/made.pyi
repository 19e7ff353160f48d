"""Types and docstrings of the calls of a model: written by `python -m fem_mbs.model.stubs`, not by hand."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Required, TypeAlias, TypedDict, overload

from numpy import floating, integer
from numpy.typing import NDArray

from fem_mbs.analysis.steps.common.options import Along
from fem_mbs.declarations.declaration import Declaration
from fem_mbs.functions.laws import TimeFunction
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.model.copies.movement import Turned
from fem_mbs.model.geometry import Mirror
from fem_mbs.model.loads.submodels import GlobalMotion
from fem_mbs.model.parts.grids import Arc
from fem_mbs.model.parts.grids import Block
from fem_mbs.model.parts.grids import Box
from fem_mbs.model.parts.grids import Inline
from fem_mbs.model.parts.grids import Line
from fem_mbs.model.parts.grids import Patch
from fem_mbs.model.parts.grids import Polyline
from fem_mbs.model.parts.grids import Rectangle
from fem_mbs.model.parts.grids import Ring
from fem_mbs.model.parts.grids import Tube
from fem_mbs.model.parts.reduced import Reduction
from fem_mbs.model.records import Step
from fem_mbs.parts.part import ReducedPart

Number: TypeAlias = float | floating[Any]
Whole: TypeAlias = int | integer[Any]
Vector: TypeAlias = Sequence[Number] | NDArray[Any]
Rows: TypeAlias = Sequence[Vector] | NDArray[Any]
Fields: TypeAlias = Sequence[Number | str] | NDArray[Any]
Place: TypeAlias = str | Whole
Places: TypeAlias = str | Whole | Sequence[str | Whole] | NDArray[Any]
Function: TypeAlias = Number | str | Mapping[str, Any] | TimeFunction

DECLARED: Mapping[str, type[Declaration]]
CHOOSING: Mapping[str, tuple[str, Callable[[], Mapping[str, type[Declaration]]]]]

class LineTable(TypedDict, total=False):
    """A straight line of equal cells."""
    start: Required[Vector]
    """first end [m]"""
    end: Required[Vector]
    """second end [m]"""
    n: Required[Whole]
    """number of equal cells"""
    points: Mapping[str, Number] | None
    """points by fractions of the way, 0 to 1: sets of one node; between nodes they divide a cell (default none)"""

class PolylineTable(TypedDict, total=False):
    """Straight segments through points."""
    points: Required[Rows]
    """corners [m]; the last equal to the first: closed"""
    n: Required[Whole | Sequence[Whole] | NDArray[Any]]
    """number of cells of each segment"""
    named: Mapping[str, Number] | None
    """points by fractions of the way, 0 to 1: sets of one node; between nodes they divide a cell, of the whole length
    (default none)
    """

class ArcTable(TypedDict, total=False):
    """Chords of an arc or a ring."""
    center: Required[Vector]
    """centre of the circle [m]"""
    radius: Required[Number]
    """[m]"""
    angles: Required[Vector]
    """first and last angle [deg]; 360 apart: a ring"""
    n: Required[Whole]
    """number of equal chords"""
    normal: Vector
    """axis of the circle (default [0.0, 0.0, 1.0])"""
    points: Mapping[str, Number] | None
    """points by fractions of the way, 0 to 1: sets of one node; between nodes they divide a cell, of the angle (default
    none)
    """

class RectangleTable(TypedDict, total=False):
    """Plane cells in a rectangle along x and y."""
    size: Required[Vector]
    """width and height [m]"""
    n: Required[Sequence[Whole] | NDArray[Any]]
    """numbers of cells along x and y"""
    start: Vector
    """lower left corner [m] (default [0.0, 0.0])"""
    kind: Literal["triangle", "triangle6", "quad", "quad8"]
    """of the cells: "triangle", "triangle6", "quad", "quad8" (default "quad")"""
    grading: Number | Vector | Rows
    """length of the last cell by that of the first: one ratio, or one for each direction (default 1.0)"""

class PatchTable(TypedDict, total=False):
    """Plane cells between four edges."""
    corners: Required[Rows]
    """four, in turn [m]; bottom goes from the first to the second"""
    n: Required[Sequence[Whole] | NDArray[Any]]
    """numbers of cells along bottom and left"""
    kind: Literal["triangle", "triangle6", "quad", "quad8"]
    """of the cells: "triangle", "triangle6", "quad", "quad8" (default "quad")"""
    grading: Number | Vector | Rows
    """length of the last cell by that of the first: one ratio, or one for each direction (default 1.0)"""
    edges: Mapping[str, Rows] | None
    """points inside of curved edges, by "bottom", "right", "top", "left" (left to right, upwards) [m]; one: an arc of a
    circle, several: a cubic spline (default straight)
    """

class BoxTable(TypedDict, total=False):
    """Solid cells in a box along x, y and z."""
    size: Required[Vector]
    """lengths along x, y and z [m]"""
    n: Required[Sequence[Whole] | NDArray[Any]]
    """numbers of cells along x, y and z"""
    start: Vector
    """corner of the smallest coordinates [m] (default [0.0, 0.0, 0.0])"""
    kind: Literal["tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15"]
    """of the cells: "tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15" (default "hexahedron")"""
    grading: Number | Vector | Rows
    """length of the last cell by that of the first: one ratio, or one for each direction (default 1.0)"""

class BlockTable(TypedDict, total=False):
    """Solid cells between eight corners."""
    corners: Required[Rows]
    """four of the bottom, counter-clockwise from above, and those above them [m]"""
    n: Required[Sequence[Whole] | NDArray[Any]]
    """numbers of cells from the first corner to the second, to the fourth, to the fifth"""
    kind: Literal["tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15"]
    """of the cells: "tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15" (default "hexahedron")"""
    grading: Number | Vector | Rows
    """length of the last cell by that of the first: one ratio, or one for each direction (default 1.0)"""

class RingTable(TypedDict, total=False):
    """A sector of an annulus, or with a height of a hollow cylinder."""
    radii: Required[Vector]
    """inner and outer radius [m]"""
    n: Required[Sequence[Whole] | NDArray[Any]]
    """numbers of cells along the radius, around, and along the height"""
    angles: Vector
    """first and last angle [deg]; 360 apart: a whole ring (default [0.0, 360.0])"""
    height: Number | None
    """of solid cells, along the normal [m] (default plane cells)"""
    center: Vector
    """centre of the bottom [m] (default [0.0, 0.0])"""
    normal: Vector
    """axis (default [0.0, 0.0, 1.0])"""
    kind: Literal["triangle", "triangle6", "quad", "quad8", "tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15"] | None
    """of the cells, as of rectangle or box: "triangle", "triangle6", "quad", "quad8", "tetra", "tetra10", "hexahedron",
    "hexahedron20", "wedge", "wedge15" (default "quad" or "hexahedron")
    """
    grading: Number | Vector | Rows
    """length of the last cell by that of the first: one ratio, or one for each direction (default 1.0)"""

class TubeTable(TypedDict, total=False):
    """A sector of the surface of a cylinder, for shells; normals point outwards."""
    radius: Required[Number]
    """[m]"""
    height: Required[Number]
    """along the normal [m]"""
    n: Required[Sequence[Whole] | NDArray[Any]]
    """numbers of cells around and along the height"""
    angles: Vector
    """first and last angle [deg]; 360 apart: a whole tube (default [0.0, 360.0])"""
    center: Vector
    """centre of the bottom [m] (default [0.0, 0.0, 0.0])"""
    normal: Vector
    """axis (default [0.0, 0.0, 1.0])"""
    kind: Literal["triangle", "triangle6", "quad", "quad8"]
    """of the cells: "triangle", "triangle6", "quad", "quad8" (default "quad")"""
    grading: Number | Vector | Rows
    """length of the last cell by that of the first: one ratio, or one for each direction (default 1.0)"""

class InlineTable(TypedDict, total=False):
    """Nodes and cells that stand in the file itself."""
    nodes: Required[Rows]
    """coordinates [m]"""
    cells: Sequence[Mapping[str, Any]]
    """tables {kind, nodes = [[...]]}, of line2, line3, triangle, triangle6, quad, quad8, tetra, tetra10, hexahedron,
    hexahedron20, wedge, wedge15; with `numbers` where not 1, 2 ... (default [])
    """
    numbers: Sequence[Whole] | NDArray[Any] | None
    """of the nodes, by which cells and sets call them (default 1, 2 ...)"""
    node_sets: Mapping[str, Sequence[Any] | NDArray[Any]] | None
    """numbers of nodes by name (default none)"""
    cell_sets: Mapping[str, Sequence[Any] | NDArray[Any]] | None
    """numbers of cells by name (default none)"""
    facet_sets: Mapping[str, Sequence[Any] | NDArray[Any]] | None
    """[number of a cell, its facet from 1 as Abaqus counts] by name (default none)"""

class MirrorTable(TypedDict, total=False):
    """A plane on which things are reflected; in plane models a line."""
    normal: Required[Vector]
    """across the plane"""
    point: Vector | None
    """of the plane [m] (default the origin)"""

class ReductionTable(TypedDict, total=False):
    """How a part is reduced that a model file, a deck or a mesh describes."""
    interfaces: str | Sequence[str] | None
    """places of the part's own model, its nodes or sets: "NAME", or "NAME=kind" (default those that a deck retains
    (*SUBSTRUCTURE GENERATE))
    """
    kind: str | None
    """of sets of several nodes: "rigid" or "average" (default "rigid")"""
    method: str | None
    """"guyan", "craig_bampton", "macneal", "rubin", "craig_chang" or "herting" (default "craig_bampton", or as the deck
    has it)
    """
    modes: Whole | None
    """number of component modes, the lowest (default 20, without a cutoff)"""
    cutoff: Number | None
    """component modes up to it [Hz] (default none)"""
    participation: Number | None
    """least share of a mode at the interfaces (default none)"""
    stiffening: str | None
    """interface that carries the part, for the stiffening by inertia (default none)"""
    stress: bool
    """keep the stresses at the nodes of solid and plane parts, for fem-mbs stresses (default false)"""
    state: str
    """"start", or "end": about what the steps of the part's model leave (default "start")"""
    release: bool
    """take supports and motions of the interfaces away (default false)"""
    material: str | None
    """of a mesh: "E,nu,density" (default none)"""
    thickness: Number | None
    """of a plane mesh [m] (default 1.0)"""

class TurnedTable(TypedDict, total=False):
    """A turn about an axis."""
    angle: Required[Number]
    """by the right hand [deg]"""
    axis: Vector | None
    """space: its direction (default z)"""
    point: Vector | None
    """of the axis [m] (default the origin)"""

class AlongTable(TypedDict, total=False):
    """Complex modes along a step."""
    every: Whole
    """steps, increments or points from one computation to the next (default 10)"""
    count: Whole
    """of modes; a conjugate pair is one (default 5)"""
    near: Number | Vector
    """as of `complex_modes` (default 0.0)"""
    which: Literal["nearest", "rightmost"]
    """as of `complex_modes`: "nearest", "rightmost" (default "nearest")"""
    reach: Number | None
    """as of `complex_modes` [Hz]"""
    check: Literal["none", "probe"]
    """as of `complex_modes`: "none", "probe" (default "probe")"""

class MadeCalls:
    """Calls that add things to a model, with the arguments that their declarations have.

    The calls of steps add these in the order in which they run: arguments that a step needs come first, then its name;
    all others need their keyword."""

    steps: list[Step]

    def add(self, declaration: Any, said: Declaration | None = None) -> None: ...
    def units(
        self,
        *,
        base: Literal["m kg s", "mm t s", "mm kg ms", "mm g ms", "in lbf s", "ft lbf s"] = "m kg s",
        length: Literal["m", "mm", "um", "cm", "km", "in", "ft"] | None = None,
        angle: Literal["rad", "deg", "mrad", "turns"] | None = None,
        time: Literal["s", "ms", "us", "min", "h"] | None = None,
        mass: Literal["kg", "g", "t", "lbf s^2/in", "slug"] | None = None,
        force: Literal["N", "kN", "MN", "mN", "lbf"] | None = None,
        moment: Literal["N m", "N mm", "kN m", "kN mm", "MN m", "lbf in", "lbf ft"] | None = None,
        stress: Literal["Pa", "kPa", "MPa", "GPa", "N/mm^2", "bar", "psi", "ksi", "lbf/ft^2"] | None = None,
        energy: Literal["J", "mJ", "kJ", "MJ", "lbf in", "lbf ft"] | None = None,
        power: Literal["W", "mW", "kW", "MW", "lbf in/s", "lbf ft/s"] | None = None,
        velocity: Literal["m/s", "mm/s", "km/h", "in/s", "ft/s"] | None = None,
        acceleration: Literal["m/s^2", "mm/s^2", "g", "in/s^2", "ft/s^2"] | None = None,
        speed: Literal["rad/s", "rpm", "deg/s", "Hz"] | None = None,
        frequency: Literal["Hz", "kHz", "MHz", "1/min"] | None = None,
    ) -> None:
        """Units in which figures, tables, CSV files and reports show results. The run computes in the units of the model,
        its base, and stores its results in them.

        Choose the units in which results are shown; the model computes in its base.

        Args:
            base: what the numbers of the model mean: its units of length, mass (with "lbf" of force) and time.
            length: places, displacements, distances: "m", "mm", "um", "cm", "km", "in", "ft" (default that of the
                base); unit of this quantity; None: it follows from those of length, mass, force and angle, else that of
                the base.
            angle: angles and rotations: "rad", "deg", "mrad", "turns" (default that of the base); unit of this
                quantity; None: it follows from those of length, mass, force and angle, else that of the base.
            time: times: "s", "ms", "us", "min", "h" (default that of the base); unit of this quantity; None: it follows
                from those of length, mass, force and angle, else that of the base.
            mass: masses: "kg", "g", "t", "lbf s^2/in", "slug" (default that of the base); unit of this quantity; None:
                it follows from those of length, mass, force and angle, else that of the base.
            force: forces: "N", "kN", "MN", "mN", "lbf" (default that of the base); unit of this quantity; None: it
                follows from those of length, mass, force and angle, else that of the base.
            moment: moments: "N m", "N mm", "kN m", "kN mm", "MN m", "lbf in", "lbf ft" (default that of the base); unit
                of this quantity; None: it follows from those of length, mass, force and angle, else that of the base.
            stress: stresses and pressures: "Pa", "kPa", "MPa", "GPa", "N/mm^2", "bar", "psi", "ksi", "lbf/ft^2"
                (default that of the base); unit of this quantity; None: it follows from those of length, mass, force
                and angle, else that of the base.
            energy: energies and works: "J", "mJ", "kJ", "MJ", "lbf in", "lbf ft" (default that of the base); unit of
                this quantity; None: it follows from those of length, mass, force and angle, else that of the base.
            power: powers: "W", "mW", "kW", "MW", "lbf in/s", "lbf ft/s" (default that of the base); unit of this
                quantity; None: it follows from those of length, mass, force and angle, else that of the base.
            velocity: velocities: "m/s", "mm/s", "km/h", "in/s", "ft/s" (default that of the base); unit of this
                quantity; None: it follows from those of length, mass, force and angle, else that of the base.
            acceleration: accelerations: "m/s^2", "mm/s^2", "g", "in/s^2", "ft/s^2" (default that of the base); unit of
                this quantity; None: it follows from those of length, mass, force and angle, else that of the base.
            speed: angular velocities, speeds of rotors: "rad/s", "rpm", "deg/s", "Hz" (default that of the base); unit
                of this quantity; None: it follows from those of length, mass, force and angle, else that of the base.
            frequency: frequencies: "Hz", "kHz", "MHz", "1/min" (default that of the base); unit of this quantity; None:
                it follows from those of length, mass, force and angle, else that of the base.
        """

    def material(
        self,
        name: str,
        E: Number | Vector | Rows | None = None,
        nu: Number | Vector | Rows | None = None,
        density: Number | None = None,
        G: Number | Vector | Rows | None = None,
        expansion: Number | Vector | Rows = 0.0,
        *,
        stiffness: Vector | Rows | None = None,
        solid: bool = False,
    ) -> None:
        """Linear elastic materials; beams need isotropic ones.

        An isotropic material has numbers E and nu, or G.  Solids take orthotropic ones, in material axes
        (``orientation``
        of the part): E = (E1, E2, E3), nu = (nu12, nu13, nu23), G = (G12, G13, G23), or a matrix ``stiffness``.

        Args:
            name: by which parts call it
            E: Young's modulus [N/m^2]; orthotropic, for solids: [E1, E2, E3] (default **required**, or stiffness)
            nu: Poisson's ratio; orthotropic: [nu12, nu13, nu23], strain along the second axis from stress along the
                first (default from G, else 0.3)
            density: density [kg/m^3]; 0: without mass
            G: shear modulus [N/m^2]; orthotropic: [G12, G13, G23] (default E / (2 (1 + nu)))
            expansion: thermal expansion of solids: a number, 3 along the material axes, or the 6 components of the
                tensor [1/K] (default 0.0)
            stiffness: instead, for solids: 6x6 matrix or the 21 numbers of its upper triangle over xx, yy, zz, xy, yz,
                zx, with engineering shear strains [N/m^2] (default none)
            solid: of solids alone, as an anisotropic one always is (default false)

        Raises:
            ModelError: constants that are missing, contradict each other, or whose stiffness is not positive.
        """

    def section(
        self,
        name: str,
        shape: Literal["rectangle", "circle", "tube", "I", "box", "general", "stiffness", "matrix", "mesh", "thin_walled", "laminated_tube"],
        *,
        width: Number | None = None,
        height: Number | None = None,
        diameter: Number | None = None,
        outer_diameter: Number | None = None,
        inner_diameter: Number | None = None,
        thickness: Number | None = None,
        web_thickness: Number | None = None,
        flange_thickness: Number | None = None,
        root_radius: Number | None = None,
        A: Number | None = None,
        I: Number | None = None,
        Iy: Number | None = None,
        Iz: Number | None = None,
        Iyz: Number | None = None,
        J: Number | None = None,
        k: Number | None = None,
        ky: Number | None = None,
        kz: Number | None = None,
        EA: Number | None = None,
        EI: Number | None = None,
        EIy: Number | None = None,
        EIz: Number | None = None,
        GA: Number | None = None,
        GAy: Number | None = None,
        GAz: Number | None = None,
        GJ: Number | None = None,
        rhoA: Number | None = None,
        rhoI: Number | None = None,
        rhoIx: Number | None = None,
        rhoIy: Number | None = None,
        rhoIz: Number | None = None,
        stiffness: Rows | None = None,
        mass: Rows | None = None,
        centroid: Vector | None = None,
        shear_centre: Vector | None = None,
        mass_centre: Vector | None = None,
        rotate: Number | None = None,
        file: str | None = None,
        position: str = "position",
        scale: Number | None = None,
        regions: Mapping[str, str] | None = None,
        patches: Sequence[Mapping[str, Any]] | None = None,
        walls: Sequence[Mapping[str, Any]] | None = None,
        plies: Sequence[Mapping[str, Any]] | None = None,
        origin: str | Vector | None = None,
    ) -> None:
        """Cross-sections; the keys depend on the shape.

        `fem_mbs.properties.sections.make_section` describes the shapes and their dimensions.

        Args:
            name: by which beams call it
            shape: one of the shapes below: "rectangle", "circle", "tube", "I", "box", "general", "stiffness", "matrix",
                "mesh", "thin_walled", "laminated_tube"
            width: along z [m]
            height: along y, the direction of bending in the plane [m]
            diameter: [m]
            outer_diameter: [m]
            inner_diameter: or thickness [m]
            thickness: of all walls [m]
            web_thickness: of the walls along y [m]
            flange_thickness: of the walls along z [m]
            root_radius: of the fillets of an I [m]
            A: area [m^2]
            I: second moment of area for both axes [m^4]
            Iy: integral of z^2 dA [m^4]
            Iz: integral of y^2 dA, bending in the plane [m^4]
            Iyz: space: product of inertia, integral of y z dA [m^4]; beams take the principal axes
            J: torsion constant [m^4]
            k: shear coefficient of both directions; inf: no shear deformation
            ky: shear coefficient along y
            kz: shear coefficient along z
            EA: axial stiffness [N]
            EI: bending stiffness for both axes [N m^2]
            EIy: bending stiffness in the x-z plane [N m^2]
            EIz: bending stiffness in the x-y plane [N m^2]
            GA: shear stiffness of both directions, shear coefficient included [N]; inf: none
            GAy: shear stiffness along y [N]
            GAz: shear stiffness along z [N]
            GJ: torsional stiffness [N m^2]
            rhoA: mass per length [kg/m]
            rhoI: rotary inertia per length for both axes [kg m]
            rhoIx: rotary inertia per length about the beam [kg m]; the sum of the other two if not given
            rhoIy: rotary inertia per length about y [kg m]
            rhoIz: rotary inertia per length about z [kg m]
            stiffness: over axial strain, shear y, shear z, twist rate, curvature y, curvature z of the line
            mass: inertia per length over velocity and angular velocity of the line
            centroid: space: [y, z] where axial force and bending act, from the beam's line [m] (default the line)
            shear_centre: space: [y, z] where shear and torsion act [m] (default the centroid)
            mass_centre: space: [y, z] of the mass [m] (default the centroid)
            rotate: space: angle of the shape's axes about the beam's line [deg] (default 0)
            file: of shape "mesh": plane cells, whose x is z of the section and whose y is y; of other shapes, in space:
                a table (CSV) of sections along the beams instead of dimensions, a column for each dimension of the
                shape, centroid_y, centroid_z ...; from the start of the line to its end, linear between rows
            position: of a table: column of the places along the line, in any unit (default "position")
            scale: of a mesh file: factor on the coordinates (default 1)
            regions: of a mesh file: {set of cells = material}; other cells take the beam's material (default none)
            patches: of a mesh: four-sided parts, each {corners = [[y, z], ... 4 around it], n = [cells along the first
                and second side], material = a name or that of the beam, angle = of its first axis against the beam, in
                the plane of the second side}; sides that touch are divided alike
            walls: middle lines of thin walls, each {points = [[y, z], ...], thickness, material = a name or that of the
                beam}; they meet where points are equal
            plies: of a tube, from the inside: each {material, thickness, angle = that of its first axis against the
                beam, 0}
            origin: point of a mesh or of walls on the beam's line: [y, z], "centroid" or "shear_centre" [m] (default
                [0, 0])

        Raises:
            ModelError: dimensions that the shape does not have, or that are missing.
        """

    def function(
        self,
        name: str,
        spec: Function,
        folder: str | Path | None = None,
    ) -> None:
        """Functions of time.

        A number, an expression of t, or a table with its kind; see `fem_mbs.functions.kinds.make_function`.

        Args:
            name: by which others call it
            spec: a number, an expression of t, or a table with its kind
            folder: where paths of CSV files start
        """

    def mesh(
        self,
        name: str,
        mesh: Mesh | str | Path | None = None,
        scale: Number = 1.0,
        rotate: Number | Vector | Rows | None = None,
        translate: Vector | None = None,
        unused: Literal["error", "drop"] = "error",
        cells: Literal["auto", "lines", "all"] = "auto",
        *,
        file: str | None = None,
        line: Line | LineTable | None = None,
        polyline: Polyline | PolylineTable | None = None,
        arc: Arc | ArcTable | None = None,
        rectangle: Rectangle | RectangleTable | None = None,
        patch: Patch | PatchTable | None = None,
        box: Box | BoxTable | None = None,
        block: Block | BlockTable | None = None,
        ring: Ring | RingTable | None = None,
        tube: Tube | TubeTable | None = None,
        inline: Inline | InlineTable | None = None,
        mirror: Mirror | MirrorTable | None = None,
    ) -> None:
        """Nodes, cells and named sets, from a file or generated.

        They are placed at translate + scale * R x.

        Args:
            name: by which other tables call it
            mesh: a `Mesh`, or the path of a mesh file; or one of file, line, polyline, arc, rectangle, patch, box,
                block, ring, tube and inline.
            file: a mesh file (Gmsh .msh, VTK XML .vtu, legacy VTK .vtk, Exodus II .e, MED .med, I-DEAS universal .unv,
                Abaqus .inp, Nastran bulk data .bdf, Medit .mesh); a relative path starts at the model file
            line: instead of file: a straight line; sets all, start, end
            polyline: instead of file: straight segments; sets all, segment_1 ..., start, end, corner_1 ...
            arc: instead of file: an arc or a ring; sets all, start, end
            rectangle: instead of file: plane cells; sides left, right, bottom, top
            patch: instead of file: plane cells between four edges; sides left, right, bottom, top
            box: instead of file: solid cells; sides left, right, front, back, bottom, top
            block: instead of file: solid cells between eight corners
            ring: instead of file: annulus or hollow cylinder; sides inner, outer, start, end, bottom, top
            tube: instead of file: surface of a cylinder; sides start, end, bottom, top
            inline: instead of file: nodes and cells in the model file
            scale: factor on the coordinates (0.001 for a mesh in mm) (default 1.0)
            rotate: angle in the plane [deg], or in space axis times angle, (3,) [deg].
            translate: shift, after scale and rotate [m] (default none)
            mirror: reflect on a plane, after rotate and translate
            unused: "error" or "drop": what to do with mesh nodes that no element, body or joint uses.
            cells: of a file: "lines", "all" (plane and solid cells too), or "auto": all, and where no solids, plane
                elements or shells come on the mesh, nodes that only their cells use are left out.
        """

    def imperfection(
        self,
        on: Places = "all",
        displacement: Fields | Callable[[NDArray[Any]], NDArray[Any]] | None = None,
        results: str | None = None,
        step: str = "1",
        mode: Whole = 1,
        factor: Number = 1.0,
    ) -> None:
        """Nodes that stand elsewhere than the mesh has them: a shape times a factor. Several add up.

        Move nodes of a mesh by a shape times a factor, before parts are made of them; later calls add to earlier ones.

        Args:
            on: nodes that are moved (default "all")
            displacement: (dimension,) numbers or expressions of x, y, z; or one row per node, (n, dimension). [m]
            results: instead of displacement: a results folder of the same mesh, ``step`` of it by its name (or number),
                and ``mode`` by its number; shapes of modes and of buckling have 1 as their largest component.
            step: name of a step of `results`, or its number (default "1")
            mode: number of its shape, whose largest component is 1; 0: displacements at the end of a step with states
                (default 1)
            factor: that multiplies the shape (default 1.0)
        """

    def pretension(
        self,
        name: str,
        on: str,
        point: Vector | None = None,
        direction: Vector | None = None,
        force: Number | None = None,
        shortening: Number | None = None,
        function: Function | None = None,
    ) -> None:
        """Bolts that are drawn together in a cut (made after its mesh, before parts).

        Cut a body of plane or solid cells, or a shell, and draw both sides over each other along one direction.

        The nodes on the cut get doubles, which the cells behind it have.  A double moves as its node, and along the
        direction by the shortening q in addition, which is positive in tension.  A node of the section's name holds q
        as
        its displacement x.  ``force`` acts on q, as the tension in the section; ``shortening`` prescribes q.  Without
        either q is free, or loads and motions name the node.  Steps that name the section in ``supports`` lock it: q
        stays
        as the step before has left it.  The direction stays fixed in space.

        Args:
            name: also of the node that holds the shortening
            on: "mesh:set" of facets inside of the body, which may belong to cells of either side; or with ``point``
                "mesh" or "mesh:set" of cells, which the plane through the point across the direction cuts between
                cells.
            point: of a plane across `direction`, which cuts between cells [m] (default on is the cut)
            direction: (dimension,); None: the mean normal of the facets.
            force: tension in the section [N] (default none); times f(t).
            shortening: by which the sides are drawn over each other [m] (default it is free); times f(t).
            function: factor on force or shortening (default 1)

        Raises:
            ModelError: there are parts already, the cut does not go through the body, or does so at its outside.
        """

    def node(
        self,
        name: str,
        position: Vector,
    ) -> None:
        """Single nodes.

        Args:
            name: by which other tables call it
            position: at the start [m]
        """

    def body(
        self,
        name: str,
        position: Vector,
        mass: Number,
        inertia: Number | Vector | Rows,
        angle: Number = 0.0,
        rotation: Vector | None = None,
        *,
        visual: str | Path | Mapping[str, Any] | Sequence[str | Path | Mapping[str, Any]] | None = None,
    ) -> None:
        """Rigid bodies.

        Add a rigid body with its node at the mass centre.

        Args:
            name: by which other tables call it
            position: of the mass centre at the start [m]
            mass: [kg]
            inertia: plane: about the mass centre; space: (3,) principal or (3, 3), in body axes [kg m^2].
            angle: plane: rotation of the body axes at the start [rad].
            rotation: space: axis times angle of the body axes at the start, (3,) [rad].
            visual: surfaces that are drawn, without any effect on the motion: a file, a table, or a list of them.
        """

    def reduced_part(
        self,
        name: str,
        part: ReducedPart | None = None,
        position: Vector | None = None,
        rotation: Number | Vector | Rows | None = None,
        *,
        file: str | None = None,
        reduce: Reduction | ReductionTable | None = None,
        modes: Whole | Sequence[Whole] | NDArray[Any] | None = None,
        cutoff: Number | None = None,
        reference: str = "mean",
        damping: Number | Vector | Rows | None = None,
        stiffening: Literal["none", "interfaces", "centrifugal", "inertia", "all"] = "none",
    ) -> None:
        """Flexible parts that are reduced to their interfaces and few shapes, and move as bodies.

        Add a reduced part in motion: large motion of its frame, small deformations in it.

        Its interfaces become the nodes "NAME:INTERFACE", where joints, loads, springs and sensors act as on any node; a
        node NAME is its frame (mean axes are no material point: for sensors only).  Modal coordinates (sensors "modal")
        are in metres: of each the root of the mean square displacement of the part, or the largest displacement of an
        interface, if that is more.

        Args:
            name: of the part; its interfaces are the nodes "name:interface"
            part: free; without ``moments`` (DMIG files) or by MacNeal's method its mass matrix stands for them, exact
                in small motions (`fem_mbs.parts.moments`).
            file: a reduced part (.h5, .SID_FEM, a folder), or with reduce a model file, a deck (.inp) or a mesh; a
                relative path starts at the model file
            reduce: how to reduce the part of a model file, a deck or a mesh
            position: (dimension,) of the origin of the axes of the part's own model [m]; None: as that has it.
            rotation: of these axes at the start: plane an angle [rad], space axis times angle (3,) [rad].
            modes: how many shapes to keep, the lowest, or the numbers of those (1 is the lowest); None: all of them.
            cutoff: keep shapes up to this frequency [Hz] only.
            reference: "mean" (mean axes, at the mass centre) or the name of an interface with rotations, which then
                moves with the frame as a rigid whole, as cantilevers are reduced.
            damping: ratio of critical damping of all shapes, or one for each; None: the damping matrix of the part. It
                acts on the deformation alone; a warning says so where that matrix resists rigid motions.
            stiffening: what stresses of the motion stiffen: "none" (linear bodies: right while they turn slowly beside
                their frequencies, and carry little), "interfaces" (forces at interfaces, by displacements of second
                order there; energy stays exact), "centrifugal" (products of the frame's angular velocities, of a part
                whose carrier stands on the axis), "inertia" (accelerations and weight too) or "all".  Loads of the
                frame have no potential: their work is booked with that of loads.  The part must have been reduced with
                ``stiffening`` = the interface that carries it.

        Raises:
            ModelError: the part is held, of another dimension; wrong numbers; a mass and moments that
                do not belong together.
        """

    def tie(
        self,
        name: str,
        slave: Places,
        master: Places,
        tolerance: Number | None = None,
        adjust: bool = False,
    ) -> None:
        """Nodes that stay on the surface of another part (made before the parts).

        Tie nodes to the nearest points of a surface: u = sum N_i u_i with its shape functions there.

        Nodes on the surface are held exactly, at any size of displacements and rotations.  One that stands off it keeps
        this gap in direction and length, while the surface turns: two forces at a distance, which resist a rotation by
        the order of the gap, also in linear steps.  ``adjust`` moves such nodes onto the surface; the parts that use
        them must be made afterwards.

        Args:
            name: in messages and results
            slave: places whose nodes are tied; those of the surface itself do not count.
            master: "mesh:set" (or a list of them) of a facet set, or of lines, of plane cells (in space themselves, in
                the plane their outline), of solids (their outer faces); or "mesh".
            tolerance: [m] nodes farther away are left free, which `warnings` tells; None: 1/20 of the size of the
                nearest facet.
            adjust: move the nodes onto the surface first (default false)

        Raises:
            ModelError: no node is near enough, ``adjust`` where elements already use a node.
        """

    def beams(
        self,
        name: str,
        on: str | Sequence[str | Whole],
        section: str | Sequence[str],
        material: str | None = None,
        mass: Literal["hermite", "consistent", "lumped"] = "hermite",
        strains: str | None = None,
        rule: Literal["exact", "accumulated", "geometric", "secant", "gradient"] = "exact",
        second_order: bool = True,
        shear: bool = True,
        inextensible: bool = False,
        damping: Number = 0.0,
        mass_damping: Number = 0.0,
        orientation: Fields | Callable[[NDArray[Any]], NDArray[Any]] | None = None,
        offset: Vector | None = None,
        offset_start: Vector | None = None,
        offset_end: Vector | None = None,
        releases: Mapping[str, Any] | None = None,
        fixed: str | Sequence[str] | None = None,
        curved: bool = False,
        twist: Number | Vector | None = None,
        *,
        default_axes: Rows | None = None,
    ) -> None:
        """Beams on the line cells of a mesh.

        Add beams on line cells.

        In space ex goes along an element, ey lies in the plane of ex and ``orientation``, and without that ez is as
        near to the global z axis as it can be (for elements along z: ey is y), so that beams in the x-y plane have the
        axes of plane models. What speaks of a start and an end, or of a place along the beams, needs cells that make
        one line, head to tail.

        Args:
            name: of the group of elements
            on: "mesh:set", "mesh", or two nodes.
            section: name; in space also [start, end] for members that taper linearly along the line.
            material: name of a material; not needed by sections of shape "stiffness" or "matrix"
            mass: "hermite" (consistent, director velocities), "consistent" (linear, lumped rotary inertia) or "lumped".
            strains: "exact" (the geometrically exact beam: Reissner, Simo), "generalised" (Besseling, Meijaard),
                "natural" or "corotational" (rotations against the chord), which tend to different theories
                (docs/theory.md, section 4); None: "exact", in the plane "natural" where a ``rule`` is named that only
                natural strains have.
            rule: mid-step rule of natural strains in the plane; see `fem_mbs.elements.beams.beam2d`.
            second_order: second-order terms of the strains (Meijaard).
            shear: shear deformation (Timoshenko), else Kirchhoff.
            inextensible: short for fixed = "extension".
            damping: stiffness-proportional, beta [s].
            mass_damping: mass-proportional, alpha [1/s].
            orientation: space: (3,) vector in the plane of ex and ey, numbers or expressions of x, y, z of the node, or
                a function of positions (n, 3) that returns vectors (n, 3), or an array (cells, 3), one vector per cell.
            default_axes: space: three axes that take the place of the global ones where there is no orientation
                (default the global ones)
            offset: space: [x, y, z] of the line from the nodes, in the section's axes, rigid [m] (default none); space:
                [x, y, z] of the beam's line from the nodes in the section's axes (before ``twist``), everywhere or at
                the ends of the line and linear between them, rigid [m].
            offset_start: space: the same at the start of the line [m]; linear in between (default none); space: [x, y,
                z] of the beam's line from the nodes in the section's axes (before ``twist``), everywhere or at the ends
                of the line and linear between them, rigid [m].
            offset_end: space: at the end of the line [m] (default none); space: [x, y, z] of the beam's line from the
                nodes in the section's axes (before ``twist``), everywhere or at the ends of the line and linear between
                them, rigid [m].
            releases: {"start": [...], "end": [...]} of "rotation x", "rotation y", "rotation z" (section's axes) or
                "rotation": hinges at the first and last node of the line, between it and a new node "NAME start" or
                "NAME end" that belongs to the beam.
            fixed: strains held by multipliers, of "extension", "torsion", "bending y", "bending z" or "all"; in the
                plane "extension" only.
            curved: space: the line is smooth through the nodes; elements are bent at the start and free of stress.
            twist: space: turn of the section's axes along the line: a rate [rad/m] from the start on, or [start, end]
                [rad].
        """

    def trusses(
        self,
        name: str,
        on: str | Sequence[str | Whole],
        section: str,
        material: str | None = None,
        strain: Literal["corotational", "green", "average"] = "corotational",
        tension_only: bool = False,
        prestress: Number = 0.0,
        damping: Number = 0.0,
        mass_damping: Number = 0.0,
        mass: Literal["lumped", "consistent"] = "lumped",
    ) -> None:
        """Trusses and cables on the line cells of a mesh.

        Add trusses, or with ``tension_only`` cables, on line cells; see `fem_mbs.elements.springs.truss`.

        Args:
            name: of the group of elements
            on: line cells of the trusses or cables
            section: name of a section
            material: name of a material; not needed by sections of shape "stiffness"
            strain: "corotational", "green" (total-Lagrangian) or "average" (mean unit vectors, for comparison).
            tension_only: a cable: no force in compression (default false)
            prestress: axial force at the start [N].
            damping: of the rate of length [N s/m].
            mass_damping: proportional to the mass, alpha [1/s].
            mass: "lumped" or "consistent" (linear).
        """

    def solids(
        self,
        name: str,
        on: Places,
        material: str,
        *,
        element: Literal["standard", "incompatible", "reduced"] = "standard",
        orientation: Rows | Mapping[str, Any] | None = None,
        kinematics: Literal["nonlinear", "linear"] = "nonlinear",
        mass: Literal["consistent", "lumped", "reduced", "incompatible"] = "consistent",
        damping: Number = 0.0,
        mass_damping: Number = 0.0,
    ) -> None:
        """Solid elements on the cells of a mesh.

        Add solid elements on the tetrahedra, hexahedra and wedges of a mesh.

        Args:
            name: of the part and its results
            on: "mesh", "mesh:set", or a list of them.
            material: name of a `material` or a `solid_material`.
            element: "standard", "incompatible" or "reduced"; see `fem_mbs.model.parts.solids`.
            orientation: material axes in the rows of (3, 3), or of (n, 3, 3), one per element in the order of the cells
                (sets in the order given, blocks of the mesh in order); or {"axis": (3,), "point": (3,)}: radial,
                tangential and axial ones about a line, at the middles of the elements; None: the global axes.
            kinematics: "nonlinear" (total-Lagrangian, large displacements) or "linear" (small ones).
            mass: "consistent", "lumped", or "reduced": consistent, with the integration points of the stiffness, as
                CalculiX integrates all its solids (singular in parts with fewer points than nodes); of element =
                "incompatible" also "incompatible": with that of the modes within elements, as CalculiX has, for linear
                steps (see `fem_mbs.elements.solids.condensed`); other cells of the part have "reduced".
            damping: proportional to stiffness, beta [s] (Kelvin-Voigt).
            mass_damping: proportional to mass, alpha [1/s].

        The group of results has the name of the part; a part of several kinds of cells has one per kind, "NAME kind".

        Raises:
            ModelError: no such material or cells, cells that belong to another part, or are flat or inside out (named
                by their number in the mesh), orientation without right angles.
        """

    def planes(
        self,
        name: str,
        on: Places,
        material: str,
        *,
        state: Literal["stress", "strain", "axisymmetric"] = "stress",
        thickness: Number = 1.0,
        element: Literal["standard", "incompatible", "reduced"] = "standard",
        orientation: Rows | Mapping[str, Any] | None = None,
        kinematics: Literal["nonlinear", "linear"] = "nonlinear",
        mass: Literal["consistent", "lumped", "reduced", "incompatible"] = "consistent",
        damping: Number = 0.0,
        mass_damping: Number = 0.0,
    ) -> None:
        """Elements of plane stress, plane strain or rotational symmetry.

        Add elements of plane stress, plane strain or rotational symmetry on triangles and quadrilaterals.

        Args:
            name: of the part and its results
            on: triangles and quadrilaterals of a mesh: mesh, mesh:set, or a list of them
            material: name of a material
            state: "stress", "strain" or "axisymmetric" (about the y axis, x the radius; forces and masses are those of
                the whole ring).
            thickness: [m], a number or one per element; not of axisymmetric parts.
            element: "standard" (full integration), "incompatible" (hexahedra: incompatible modes) or "reduced"
                (hexahedron20, quad8, wedge) (default "standard")
            orientation: material axes in rows; or {axis = [...], point = [...]}: radial, tangential and axial ones
                about an axis (default global axes)
            kinematics: "nonlinear" (large displacements, total-Lagrangian) or "linear" (default "nonlinear")
            mass: "consistent", "lumped" or "reduced" (consistent, with the points of the stiffness); of element =
                "incompatible" also "incompatible" (with that of the modes within elements; for linear steps) (default
                "consistent")
            damping: proportional to the stiffness, beta [s] (default 0.0)
            mass_damping: proportional to the mass, alpha [1/s] (default 0.0)

        The others as for `solids`; the plane must be a plane of symmetry of the material.
        """

    def shells(
        self,
        name: str,
        on: Places,
        material: str | None = None,
        thickness: Number | str | None = None,
        *,
        layers: Sequence[Mapping[str, Any]] | None = None,
        offset: Number | str = 0.0,
        orientation: Fields | Callable[[NDArray[Any]], NDArray[Any]] | None = None,
        shear_correction: Number | Vector | Rows | None = None,
        bending_factor: Number = 1.0,
        bending_material: str | None = None,
        element: Literal["standard", "membrane", "residual"] = "standard",
        mass: Literal["consistent", "lumped"] = "consistent",
        damping: Number = 0.0,
        mass_damping: Number = 0.0,
    ) -> None:
        """Shells on triangles and quadrilaterals of a mesh in space.

        Add shells on the triangles (of 3 or 6 nodes) and quadrilaterals (of 4 or 8) of a mesh in space; nodes have
        positions and rotations.  The normal of an element follows from the order of its nodes by the right hand.

        Args:
            name: of the part and its results
            on: "mesh", "mesh:set", or a list of them.
            material: name of a material; of one layer.
            thickness: [m], a number, an expression of x, y, z of the nodes, one per element (n,), or one per node of
                every element (n, 3 to 8); linear between the nodes.
            layers: tables {"material", "thickness" [m], "angle" [degrees]}, from the bottom to the top along the
                normal; the angle turns the first axis of the material from that of the element about the normal.
            offset: distance [m] of the middle of the thickness from the nodes along the normal: a number, an
                expression, or one per element.
            orientation: direction whose projection is the first axis of the element, three numbers or expressions of x,
                y, z of the middle of the element, or (n, 3); None: the x axis, where that is the normal the y axis.
            shear_correction: factor on the transverse shear stiffness, one or one per axis; None: from equilibrium, 5/6
                of a homogeneous section.
            bending_factor: on the bending stiffness of one material, 12 I/h^3, of plates whose core only holds their
                faces apart; stresses are those of the strains, linear over the thickness.
            bending_material: name of the material that resists curvatures, where it is another one than that of the
                membrane (homogenised ribs, holes); stresses are those of the first by the strains of the middle, and of
                this by the rest.
            element: "standard"; "membrane": without stiffness against bending and transverse shear, nodes have
                positions alone; "residual": quadrilaterals of 4 nodes have residual bending flexibility, as MSC
                Nastran's CQUAD4 (`fem_mbs.properties.shells.residual_flexibility`), others are standard.
            mass: "consistent" or "lumped" (at the nodes).
            damping: proportional to stiffness, beta [s] (Kelvin-Voigt).
            mass_damping: proportional to mass, alpha [1/s].

        The group of results has the name of the part; a part of several kinds of cells has one for each, "NAME
        triangle",
        "NAME quad", "NAME triangle6" and "NAME quad8".

        Raises:
            ModelError: no such material or cells, cells of other kinds or of another part, cells that are flat or fold
                over
                themselves, values that are not positive.
        """

    def point_mass(
        self,
        name: str,
        at: Places,
        mass: Number,
        inertia: Number | Vector | Rows = 0.0,
        offset: Vector | None = None,
    ) -> None:
        """Masses at nodes.

        Add a mass at a node or at each node of a set.

        Args:
            name: in messages and results
            at: on each node of it
            mass: [kg]
            inertia: about the mass centre, where the node rotates: plane a number; space (3,) principal or (3, 3), in
                the node's body axes (the global ones at the start, unless the node is a turned body's) [kg m^2].
            offset: space: of the mass centre from the node, global axes of the start, turning with the node [m].
        """

    def disc(
        self,
        name: str,
        at: Places,
        mass: Number,
        polar: Number,
        diametral: Number | None = None,
        axis: Vector | None = None,
    ) -> None:
        """Rigid discs on nodes.

        Add a rigid disc on a node, or on each node of a place, with its centre there.

        Args:
            name: in messages and results
            at: on each node of it
            mass: [kg]
            polar: moment of inertia about its axis [kg m^2].
            diametral: about any axis across, in space; None: half of ``polar``, a thin disc. [kg m^2]
            axis: in space its direction at the start.

        Raises:
            ModelError: moments of inertia that no body has; no axis in space.
        """

    def nodal_mass(
        self,
        name: str,
        at: Places,
        matrix: Vector | Rows,
    ) -> None:
        """Dense mass matrices that turn with their nodes.

        Add a dense mass matrix that turns with each node of a place: T = (v, omega).M (v, omega)/2 in the node's
        axes.

        Args:
            name: in messages and results
            at: on each node of it
            matrix: (6, 6), in the plane (3, 3): velocity, then angular velocity; symmetric positive definite, in the
                node's body axes (the global ones at the start, unless the node is a turned body's) [kg, kg m, kg m^2].

        A matrix of a rigid body (A = m I, skew coupling, admissible inertia) is taken as that, in directors; any other,
        of added or condensed masses, by Kirchhoff's equations (`fem_mbs.elements.masses.nodal_mass`).  Where A = m I,
        gravity acts on m at the centre that the coupling's skew part says; where it is not, the matrix has no weight.
        """

    def mass_matrix(
        self,
        name: str,
        on: Places,
        matrix: Number | Vector | Rows | None = None,
        file: str | None = None,
    ) -> None:
        """Dense mass matrices over several nodes.

        Add a mass matrix over n nodes, by one row per

        - node: T = sum m_ij v_i.v_j/2, the same in all directions [kg];
        - translation x, y (, z) of node after node: m_ij times the unit matrix, the same in all directions [kg];
        - translation and rotation of node after node (3 in the plane, 6 in space): T = sum (v, omega)_i.M_ij (v,
        omega)_j/2
          with velocities in the axes of each node, with which the matrix turns (Zahariev, eq 4) [kg, kg m, kg m^2].

        Energy and both momenta are kept exactly.  The axes of a node are the global ones at the start, unless it is a
        turned body's.  The weight is that of the sums of the rows, at the nodes; a matrix whose sum differs by
        direction
        (added masses) has none.

        Args:
            name: in messages and results
            on: the nodes, in the order of the rows.
            matrix: symmetric, positive semidefinite; or ``file``, in the format of Matrix Market (.mtx). [kg, kg m, kg
                m^2]
            file: Matrix Market file (.mtx) of it (default none)

        Raises:
            ModelError: the size does not fit, the matrix is not symmetric or has a negative eigenvalue, or one over
                translations differs by direction.
        """

    def spring(
        self,
        name: str,
        a: Place,
        b: Place,
        stiffness: Number | None = None,
        damping: Number = 0.0,
        length: Number | None = None,
        point_a: Vector | None = None,
        point_b: Vector | None = None,
        *,
        cubic: Number = 0.0,
        preload: Number = 0.0,
        table: Rows | None = None,
        interpolation: Literal["linear", "spline"] = "linear",
        damping_table: Rows | None = None,
        stops: Vector | None = None,
        stop_stiffness: Number | None = None,
        stop_damping: Number = 0.0,
        yield_force: Number | None = None,
        hardening: Number = 0.0,
        exponent: Number | None = None,
        unloading: Number | None = None,
        sliders: Rows | None = None,
    ) -> None:
        """Spring-dampers between two points.

        Add a spring-damper between two points: stiffness [N/m], damping [N s/m], free length (None: that of the
        start).

        Args:
            name: in messages and results
            a: one end
            b: other end
            stiffness: [N/m] (default 0)
            damping: [N s/m] (default 0.0)
            length: free length [m] (default that of the start)
            point_a: where on a, in global coordinates of the start [m] (default its node)
            point_b: where on b [m] (default its node)
            cubic: k3 [N/m^3] of a force k3 x^3, x = length - free length, which adds to the others.
            preload: force at x = 0 [N], tension positive.
            table: (k, 2), x [m], rising, and force [N]; beyond its ends it goes on along its last slopes.
            interpolation: of the table, "linear" or "spline" (natural, cubic).
            damping_table: (k, 2), rate [m/s] and force [N], linear in between.
            stops: least and largest length [m], -inf or inf where there is none.
            stop_stiffness: of the stops [N/m].
            stop_damping: b [s/m] of their force k y (1 + b y'), y the overlap (Hunt & Crossley 1975); never below zero.
            yield_force: the force [N] beyond which the spring flows; what flows is lost, and the rest springs back.
            hardening: tangent stiffness [N/m] beyond it, less than the stiffness (kinematic hardening).
            exponent: n >= 1 of the law of Bouc & Wen, with which the force approaches the yield force smoothly; None:
                the spring yields at once.
            unloading: beta/(beta + gamma) of that law, at least 1/2, where it unloads along its stiffness.
            sliders: pairs (n, 2) of stiffness [N/m] and yield force [N] of springs that slip, in parallel to the
                stiffness (Iwan 1966).
        """

    def torsion_spring(
        self,
        name: str,
        a: Place,
        b: Place,
        stiffness: Number | None = None,
        damping: Number = 0.0,
        angle: Number = 0.0,
        axis: Vector | None = None,
        *,
        cubic: Number = 0.0,
        preload: Number = 0.0,
        table: Rows | None = None,
        interpolation: Literal["linear", "spline"] = "linear",
        damping_table: Rows | None = None,
        stops: Vector | None = None,
        stop_stiffness: Number | None = None,
        stop_damping: Number = 0.0,
        yield_force: Number | None = None,
        hardening: Number = 0.0,
        exponent: Number | None = None,
        unloading: Number | None = None,
        sliders: Rows | None = None,
    ) -> None:
        """Torsional spring-dampers between two parts.

        Add a torsional spring-damper [N m/rad], [N m s/rad] on the angle by which b turns more than a since the
        start.

        ``angle`` is the relative angle at which it is free [rad]; ``axis`` (space only) its axis at the start; the
        others as for `spring`, over the angle less the free one [rad]; ``stops`` are angles since the start.

        In space the angle is the twist about the axis: b stands in a as if it had first turned about the axis by this
        angle, and then tilted about a direction across it.  Its moment is along the mean of the axis in a and in b, so
        it
        also bends parts that tilt.  Tilting by half a turn is the limit.

        Args:
            name: in messages and results
            a: one end
            b: other end, whose angle against a counts
            stiffness: [N m/rad] (default 0)
            damping: [N m s/rad] (default 0.0)
            angle: relative angle since the start at which it is free [rad] (default 0.0)
            axis: space: its axis at the start, fixed in both parts (default required in space)
            cubic: k of a force k x^3, x the angle less the free angle [N m/rad^3] (default 0.0)
            preload: force at x = 0 [N m] (default 0.0)
            table: [x, force] [rad, N m]; goes on along its last slopes (default none)
            interpolation: of the table: "linear" or "spline" (natural, cubic) (default "linear")
            damping_table: [rate, force], linear in between [rad/s, N m] (default none)
            stops: least and largest angle since the start, inf for none [rad] (default none)
            stop_stiffness: of the stops [N m/rad] (default required by stops)
            stop_damping: b of the stops' force k y (1 + b y') with the overlap y [s/rad] (default 0.0)
            yield_force: beyond which it flows: a plastic hinge, a spring in series with dry friction [N m] (default
                none)
            hardening: tangent stiffness beyond the yield force (kinematic hardening) [N m/rad] (default 0.0)
            exponent: n of the law of Bouc & Wen, at least 1: the yield force is approached smoothly (default it yields
                at once)
            unloading: beta/(beta + gamma) of that law, at least 1/2, where it unloads along its stiffness (default 1/2)
            sliders: pairs [stiffness, yield force] of springs that slip, in parallel to the stiffness (Iwan) [N m/rad,
                N m] (default none)
        """

    def nodal_spring(
        self,
        name: str,
        on: Places,
        component: str | Vector,
        stiffness: Number = 0.0,
        damping: Number = 0.0,
        *,
        against: Places = "ground",
        other: str | Vector | None = None,
    ) -> None:
        """Spring-dampers on single displacements, along directions fixed in space, or on rotations of nodes.

        Add a linear spring-damper on one displacement or rotation of each node of a place, against the ground or
        against nodes: force k (u_on - u_against), [N/m], [N s/m]; of rotations [N m/rad], [N m s/rad].

        Args:
            name: in messages and results
            on: nodes, each with a spring
            component: "x", "y", "z", a direction (dimension,) of any length, or "rotation" (plane), in space "rotation
                x", "rotation y", "rotation z" (of nodes that rotate), about the global axes of the start.
            stiffness: [N/m or N m/rad] (default 0.0)
            damping: [N s/m or N m s/rad] (default 0.0)
            against: "ground", or a place of as many nodes as ``on``, or of one.
            other: component of the nodes of ``against``; None: the same.

        Raises:
            ModelError: unknown components, numbers of nodes that do not fit, a spring without a force.
        """

    def fix(
        self,
        on: Places,
        components: str | Sequence[str] | None = None,
        group: str = "",
        present: bool = False,
        name: str = "",
        breaks_at: Number | None = None,
        breaks_at_moment: Number | None = None,
    ) -> None:
        """Nodes that do not move.

        Hold nodes where they are; ``components`` of "x", "y", "z", "rotation" (None: all that a node has), in space
        also "rotation x", "rotation y", "rotation z", about the global axes.  Supports with a ``group`` hold only in
        the
        steps that name it in ``supports``: where the step finds the nodes (``present``), else at their places of the
        start,
        to which a static step brings them in proportion.

        Args:
            on: nodes that are held where they are
            components: of "x", "y", "z", "rotation", in space "rotation x", "rotation y", "rotation z" (default all
                that a node has)
            group: they hold only in steps that name the group in `supports` (default they hold in all steps)
            present: of a group: they hold where the step before has left the nodes, else where these are at the start,
                to which a static step brings them in proportion and a transient in its first time step (default false)
            name: by which events that break it call it; needed where it breaks (default "")
            breaks_at: sum of the forces on its nodes beyond which it is gone, in transients [N] (default never)
            breaks_at_moment: sum of its moments about its nodes beyond which it is gone, in transients [N m] (default
                never)
        """

    def motion(
        self,
        name: str,
        on: Places,
        component: str,
        function: Function,
        group: str = "",
    ) -> None:
        """Coordinates that follow a function of time.

        Prescribe a motion: a coordinate of nodes or a body follows its start value + f(t).  Motions with a ``group`` do
        so
        only in the steps that name it in ``supports``.

        Args:
            name: in messages and results
            on: driven nodes or body
            component: "x", "y", "z" or (plane) "rotation"
            function: displacement or angle since the start [m or rad]
            group: it acts only in statics and transients that name the group in `supports`: a static step brings the
                nodes from where it finds them to the function in proportion, a transient in its first time step
                (default it acts in all steps)
        """

    def submodel(
        self,
        name: str,
        on: Places,
        source: GlobalMotion | None = None,
        *,
        file: str | None = None,
        step: str = "",
        components: str | Sequence[str] | None = None,
        function: Function | None = None,
        tolerance: Number | None = None,
    ) -> None:
        """Nodes of a detail that move as those places of a whole model do.

        Impose displacements that the results of another, global model have at these nodes, so that a detail of it can
        be
        computed on a finer mesh (submodelling).

        They are interpolated by the shape functions of the solid, plane or shell cells that contain the nodes; a node
        outside of all cells takes the closest point of their surface, within ``tolerance``.  A node off a shell moves
        with
        the rotation there, so that solids may be cut from shells.  Results of a step that passes time are followed in
        time, by splines through the frames (linear ones through fewer than 4); their time is that of this model, and
        ends
        with them.

        Args:
            name: in messages and results
            on: nodes that move so, as a rule those of the cut
            source: of `fem_mbs.read_global_motion`.
            file: results folder of the whole model, or results file of CalculiX (.frd); a relative path starts at the
                model file
            step: of these results: its name, or its number from 1 in quotes (default the last one with displacements)
            components: None: the displacements, and the rotations where nodes and results have them.
            function: of results of one state, a factor over time.
            tolerance: [m] None: 1/20 of the size of the cell.

        Raises:
            ModelError: a node is farther from the cells than the tolerance, or a component is not known there.
        """

    def assembly(
        self,
        hold: Places | None = None,
    ) -> None:
        """Asks that joints which stand open be closed before the first step, by the least change of positions and
        rotations, weighted with the masses. Parts of elements keep their shape; displacements, rotations and joint
        coordinates count from the given positions.

        Before the first step, close open joints and move driven coordinates to the start values of their functions,
        by the least change of positions and rotations (weighted with masses and inertias).

        Parts of elements keep the shape that the model gives them and move as rigidly as they can; displacements,
        rotations and joint coordinates count from the given positions.  Call it before joints between nodes that stand
        apart.

        Args:
            hold: a place, or a list of places, that must not move beside what supports hold.
        """

    def curve(
        self,
        name: str,
        points: Rows | None = None,
        file: str | None = None,
        x: Number | str | None = None,
        y: Number | str | None = None,
        z: Number | str | None = None,
        range: Vector | None = None,
        closed: bool = False,
        position: Vector | None = None,
        rotation: Number | Vector | Rows | None = None,
    ) -> None:
        """Curves of tracks, slots and cams, for the joints `point_on_curve`, `curve_on_curve`, `rolling_curves`.

        Add a curve in global coordinates of the start; a joint fixes it to its part.  It is smooth: the cubic spline of
        its
        arc length through ``points`` or the rows of ``file``, or of a function, refined until it is within 1e-11 of its
        size (1e-6 where the curvature of a function jumps).

        Args:
            name: of joints on it
            points: (n, dimension) [m], two for a straight line; not more than 60 degrees apart where it bends.
            file: of a table with the columns x, y (and z).
            x: of a parameter t [m] (default the parameter itself); y (and z) as expressions of x; or all as expressions
                of a parameter t (no time), over ``range``.
            y: of x, or with x given of a parameter t [m] (default none); y (and z) as expressions of x; or all as
                expressions of a parameter t (no time), over ``range``.
            z: the same, in space [m] (default none); y (and z) as expressions of x; or all as expressions of a
                parameter t (no time), over ``range``.
            range: of x or the parameter t (default none)
            closed: the end is the start; joints may go round it.
            position: of its own origin [m] (default the origin); moves the curve from its own axes to the model's:
                shift [m], and turn about the own origin [rad] (in space axis times angle).
            rotation: of its own axes [rad] (default none); moves the curve from its own axes to the model's: shift [m],
                and turn about the own origin [rad] (in space axis times angle).

        Raises:
            ModelError: none or several of points, file and functions; a kink; points that coincide.
        """

    def joint(
        self,
        name: str,
        kind: Literal["pin", "spherical", "weld", "revolute", "universal", "cylindrical", "prismatic", "planar", "screw", "constant_velocity", "point_on_line", "point_on_plane", "distance", "along_beam", "cylindrical_along_beam", "prismatic_along_beam", "point_on_curve", "curve_on_curve", "cam", "rolling_curves", "rolling_disc", "slider", "position", "angle"],
        a: Places,
        b: Place = "ground",
        point: Vector | None = None,
        axis: Vector | None = None,
        function: Function | None = None,
        displacement: Function | None = None,
        axis_b: Vector | None = None,
        point_b: Vector | None = None,
        lead: Number | None = None,
        speed: Number | None = None,
        *,
        curve: str | None = None,
        curve_b: str | None = None,
        radius: Number | None = None,
        crown: Number | None = None,
        breaks_at: Number | None = None,
        breaks_at_moment: Number | None = None,
    ) -> None:
        """Joints between two parts, or a part and the ground.

        Add a joint between two places.

        Kinds:
            "pin" or "spherical": the point of a and the point of b coincide.
            "weld": and no relative rotation.
            "revolute": b turns against a about ``axis`` (in the plane: a pin); function: drives this angle.
            "universal": b turns about ``axis``, fixed in a, and about ``axis_b``, fixed in b, both through the point.
            "cylindrical": b turns about ``axis`` and slides along it; function: drives the angle, displacement: the
                slide.
            "prismatic": b slides along ``axis`` of a without turning; function: drives the slide.
            "planar": b slides and turns on the plane of a with the normal ``axis``; function: drives the angle.
            "screw": "cylindrical", and b slides by ``lead`` [m] per turn; function: drives the angle.
            "constant_velocity": the shafts, along ``axis`` in a and ``axis_b`` in b (None: the same), turn by the same
                angle through any bend.
            "point_on_line": the point of b runs along ``axis`` of a; function: drives its path length.
            "point_on_plane": the point of b stays on the plane of a with the normal ``axis``.
            "along_beam": the point of b slides along the elastic line of a, the name of a beam or truss, of a reduced
                part (through its interfaces) or a list of nodes; function: drives its path length along it.
            "cylindrical_along_beam": and b has an axis along the tangent, about which it turns.
            "prismatic_along_beam": and b turns with the tangent; in space it does not turn against the sections.
            "point_on_curve": the point of b moves along ``curve``, fixed in a; with ``radius`` a roller on it, whose
                axis
                the point is; function: drives its path length.
            "curve_on_curve" or "cam": ``curve``, fixed in a, and ``curve_b``, fixed in b, touch and slide; function:
                drives
                the place of contact on ``curve``.
            "rolling_curves": they roll without slip.
            "rolling_disc": the wheel a is a disc of ``radius`` with the centre ``point`` and the ``axis`` of its spin.
                It
                rolls without slip on a plane of the ground and cannot leave it.  ``point_b`` is a point of the plane
                (None:
                where the wheel touches at the start), ``axis_b`` the normal of the plane towards the wheel (None: z).
            "distance": the points ``point`` of a and ``point_b`` of b keep their distance; function: changes it [m].
            "slider": the point of a moves along ``axis`` through its place at the start (b must be "ground").
            "position": the point of a moves by f(t) along ``axis`` (b must be "ground").
            "angle": b turns by f(t) more than a (in space about ``axis``).

        Args:
            name: in messages and results
            kind: what it leaves free: "pin", "spherical", "weld", "revolute", "universal", "cylindrical", "prismatic",
                "planar", "screw", "constant_velocity", "point_on_line", "point_on_plane", "distance", "along_beam",
                "cylindrical_along_beam", "prismatic_along_beam", "point_on_curve", "curve_on_curve", "cam",
                "rolling_curves", "rolling_disc", "slider", "position", "angle"
            a: one part (along beams: the name of a beam, truss or reduced part, or a list of nodes in their order)
            b: other part (default "ground")
            point: where the joint is, in global coordinates of the start; None: the node of a or b. [m]
            axis: at the start: of rotation or sliding; of a universal or constant-velocity joint the one in a; of a
                planar one or a plane its normal; of a rolling_disc the axis of its spin
            function: drives the angle (revolute, cylindrical, planar, screw, angle), the displacement (prismatic,
                position, point_on_line) or the distance, since the start [rad or m]; angle [rad] or displacement [m]
                since the start; any number of turns.
            displacement: drives the displacement of a cylindrical joint, since the start [m]; angle [rad] or
                displacement [m] since the start; any number of turns.
            axis_b: the axis in b: of a universal or constant-velocity joint, of a rolling_disc the normal of the plane,
                or where parts stand askew and are to be assembled; where point and axis are in b, for parts that stand
                apart or askew and that `assembly` brings together (b as it stands in the model; of the ground where
                they shall be).
            point_b: the point in b: of a distance, of a rolling_disc a point of the plane, or where parts stand apart
                and are to be assembled [m] (default point; of a distance: the node of b); where point and axis are in
                b, for parts that stand apart or askew and that `assembly` brings together (b as it stands in the model;
                of the ground where they shall be).
            lead: of a screw: slide per turn [m]
            curve: name of the curve that is fixed in a (default none); names of curves (`Model.curve`).  ``point`` of
                two profiles: near their contact, where they are nearest at several places.
            curve_b: of two profiles: name of the curve that is fixed in b (default none); names of curves
                (`Model.curve`).  ``point`` of two profiles: near their contact, where they are nearest at several
                places.
            radius: of a roller or a wheel [m].
            crown: radius [m] of the section of the wheel's tread; 0: a sharp edge; equal to ``radius``: a ball.
            speed: [rad/s] or [m/s], instead of a function: it grows steadily.
            breaks_at: force of the joint beyond which its parts come apart, in transients [N] (default never); what
                acts on its coordinates (springs, motors, friction, gears) stays, but locks.
            breaks_at_moment: moment of the joint about its point in a beyond which its parts come apart, in transients
                [N m] (default never); what acts on its coordinates (springs, motors, friction, gears) stays, but locks.
        """

    def gear(
        self,
        name: str,
        a: str,
        b: str,
        ratio: Number,
        coordinate_a: str | None = None,
        coordinate_b: str | None = None,
    ) -> None:
        """Gears, racks and pulleys: coordinates of two joints in a fixed ratio.

        Couple the coordinates of two joints: the change of b since the start is ``ratio`` times that of a.

        Two angles: a pair of gears; an angle and a displacement: pinion and rack, ratio the pitch radius [m/rad]; two
        displacements: a rope over pulleys.  Without play; friction and loss are those of `Friction` on the gear's name:
        the joints stand for the bearings, the gear for the teeth.

        Args:
            name: in messages and results
            a: name of a joint; names of joints.
            b: name of a joint; names of joints.
            ratio: change of b's coordinate over change of a's; negative where they go opposite ways. [-, m/rad (rack)
                or rad/m]
            coordinate_a: "angle" or "displacement" of a (default the first); "angle" or "displacement"; None: the
                joint's first one.
            coordinate_b: "angle" or "displacement" of b (default the first); "angle" or "displacement"; None: the
                joint's first one.

        Raises:
            ModelError: no such joint or coordinate, the same coordinate twice, ratio = 0.
        """

    def lock(
        self,
        name: str,
        joint: str,
        coordinate: str | None = None,
        locked: bool | None = None,
        value: Number | None = None,
        ready: bool = True,
        limit: Number | None = None,
        slip: Number | None = None,
        factor: Function | None = None,
        breaks_at: Number | None = None,
    ) -> None:
        """Locks, latches and brakes: coordinates of joints that are held, and released again.

        Hold a coordinate of a joint by a constraint that events close and open (actions "lock" and "release").

        Four laws exist. A plain lock closes where it is when an event says so. A latch (``value``, not ``locked``)
        closes by itself as the coordinate passes a value. A brake (``limit``) holds up to a force or moment; beyond it
        slips with dry friction, and holds again as soon as the motion stops; ``factor`` changes both in time. A pin
        (``breaks_at``) opens for good beyond a force or moment. Where a lock closes on a motion, velocities change as
        in a plastic blow with all joints; the loss is booked as dissipated. A brake that closes on a motion slips until
        it stops. Limits are looked at in transients; a static step whose equilibrium needs more ends in an error, and
        in all other analyses a closed lock holds whatever it takes.

        Args:
            name: in messages and results
            joint: name of a joint
            coordinate: "angle", "displacement"; of a universal joint "angle" (about its axis in a), "angle_b" (default
                the first)
            locked: at the start (default true; false with value)
            value: coordinate since the start, which a lock that is ``locked`` has at the start (an assembly brings it
                there). [rad or m]
            ready: an open lock with a value closes there; false: only after an event with the action lock (default
                true)
            limit: of a brake: the largest force or moment that it holds [N m or N] (default none)
            slip: of a brake: its force or moment while it slips, at most the limit [N m or N] (default limit)
            factor: of a brake: a function of time that multiplies limit and slip [-]; negative values count as zero
                (default 1)
            breaks_at: force or moment beyond which it opens for good [N m or N] (default never)
        """

    def equation(
        self,
        name: str,
        terms: Sequence[Mapping[str, Any]],
        value: Number = 0.0,
        function: Function | None = None,
    ) -> None:
        """Linear equations between displacements and small rotations.

        Add one linear equation between displacements, or one per node of sets, from names instead of arrays.

        Args:
            name: in messages and results
            terms: each (place, component, coefficient) or a dict with the keys on, component, coefficient; component
                "x", "y", "z", "rx", "ry", "rz", in the plane "x", "y", "rotation".  Places of several nodes, all of as
                many, give an equation per node, in the order of the nodes; a place of one node stands in all of them.
            value: right side [m or rad] (default 0.0); right side value x f(t), as for `equations`.
            function: factor on it (default 1); right side value x f(t), as for `equations`.
        """

    def coupling(
        self,
        name: str,
        reference: Place,
        nodes: Places,
        kind: Literal["rigid", "distributing"] = "rigid",
        components: str | Sequence[str] | None = None,
        weights: Vector | None = None,
    ) -> None:
        """A reference that moves with many nodes.

        Couple a reference node to many nodes, at any size of displacements and rotations.

        Kinds:
            "rigid": the nodes move with the reference as one rigid body; nodes with rotations turn with it, others are
                points of it.
            "distributing": the reference follows the nodes, which keep their freedom: its place is that of the point
                fixed to their weighted mean, its rotation the one that fits them best
                (`fem_mbs.elements.loads.mean_rotation`).  What acts on the reference acts on the nodes as forces that
                are statically equivalent to it.

        Args:
            name: in messages and results
            reference: a node or body; it gets a rotation.
            nodes: a place or a list of places; the reference does not count among them.
            kind: "rigid" (one rigid body) or "distributing" (the reference follows the weighted mean of the nodes and
                the rotation that fits them best, and adds no stiffness) (default "rigid")
            components: of "x", "y", "z", "rx", "ry", "rz", in the plane "x", "y", "rotation" ("rotation" in space: all
                three), what is coupled; None: all.  Rigid: along axes that turn with the reference, rotations about
                single axes as cosines of the relative rotation.  Distributing: of the reference.
            weights: (n,) of a distributing coupling, one per node (None: equal); only their ratios matter.  Those of
                areas are negative at the corners of quadrilaterals with eight nodes.

        Raises:
            ModelError: unknown names, no nodes, weights that do not fit; at `compile`: nodes in one line, which define
                no rotation about it, or no node with a rotation that shall be coupled.
        """

    def cyclic_symmetry(
        self,
        name: str,
        face: Places,
        other: Places,
        sectors: Whole,
        axis: Vector | None = None,
        point: Vector | None = None,
        tolerance: Number | None = None,
    ) -> None:
        """A sector that stands for a wheel of equal ones (made after its parts).

        Let the nodes of one face of a sector follow those of the other face, as if equal sectors closed the wheel.

        Static steps and all others but `cyclic_modes` compute what is equal in all sectors (nodal diameter 0): loads
        act on
        every sector, and forces, masses and energies are those of one.  The equations hold exactly at any size of the
        displacements; rotations of nodes in space count as small ones, as those of `equations` do.  Nodes that are at
        no
        place of a node of the other face follow the shape functions of its facets.

        Args:
            name: in messages and results
            face: places whose nodes follow.
            other: places of the other face, which is ``face`` turned by one sector about the axis, in either direction.
            sectors: number of sectors of the wheel.
            axis: direction of the axis; none in the plane, where it is across.
            point: (dimension,) on the axis; None: the origin. [m]
            tolerance: [m] within which the faces must meet after the turn; None: 1/20 of the size of the nearest facet.

        What has a direction across the axis in space (weight, base excitation, another centrifugal axis) is refused.
        Nodes
        on the axis should be named in a face, with their share of what the wheel has there; else each sector has its
        own.

        Raises:
            ModelError: the faces do not meet, or another cyclic symmetry has other sectors or another axis.
        """

    def joint_spring(
        self,
        name: str,
        joint: str,
        stiffness: Number | None = None,
        damping: Number = 0.0,
        free: Number = 0.0,
        coordinate: str | None = None,
        *,
        cubic: Number = 0.0,
        preload: Number = 0.0,
        table: Rows | None = None,
        interpolation: Literal["linear", "spline"] = "linear",
        damping_table: Rows | None = None,
        stops: Vector | None = None,
        stop_stiffness: Number | None = None,
        stop_damping: Number = 0.0,
        yield_force: Number | None = None,
        hardening: Number = 0.0,
        exponent: Number | None = None,
        unloading: Number | None = None,
        sliders: Rows | None = None,
    ) -> None:
        """Spring-dampers on the coordinate of a joint.

        Add a spring-damper on a coordinate of a joint: [N m/rad], [N m s/rad] on an angle, [N/m], [N s/m] on a
        slide.

        Args:
            name: in messages and results
            joint: name of a joint
            stiffness: [N m/rad or N/m] (default 0)
            damping: [N m s/rad or N s/m] (default 0.0)
            free: value of the coordinate, zero at the start, at which the spring is free [rad] or [m].
            coordinate: "angle" or "displacement", of a universal joint also "angle_b"; None: the joint's first one.
            cubic: k of a force k x^3, x the coordinate less its free value [N/m^3 or N m/rad^3] (default 0.0)
            preload: force at x = 0 [N] (default 0.0)
            table: [x, force] [m, N]; goes on along its last slopes (default none)
            interpolation: of the table: "linear" or "spline" (natural, cubic) (default "linear")
            damping_table: [rate, force], linear in between [m/s, N] (default none)
            stops: values of the coordinate; they and the rest as for `spring`, over the coordinate less ``free``. [m]
            stop_stiffness: of the stops [N/m] (default required by stops)
            stop_damping: b of the stops' force k y (1 + b y') with the overlap y [s/m] (default 0.0)
            yield_force: beyond which it flows: a plastic hinge, a spring in series with dry friction [N m or N]
                (default none)
            hardening: tangent stiffness beyond the yield force (kinematic hardening) [N m/rad or N/m] (default 0.0)
            exponent: n of the law of Bouc & Wen, at least 1: the yield force is approached smoothly (default it yields
                at once)
            unloading: beta/(beta + gamma) of that law, at least 1/2, where it unloads along its stiffness (default 1/2)
            sliders: pairs [stiffness, yield force] of springs that slip, in parallel to the stiffness (Iwan) [N/m, N or
                N m/rad, N m] (default none)
        """

    def motor(
        self,
        name: str,
        joint: str | None = None,
        coordinate: str | None = None,
        *,
        force: Function | None = None,
        speed: Function | None = None,
        position: Function | None = None,
        kp: Number = 0.0,
        kd: Number = 0.0,
        ki: Number = 0.0,
        filter_time: Number | None = None,
        lag: Number | None = None,
        limit: Number | None = None,
        tracking_time: Number | None = None,
        initial_integral: Number = 0.0,
        initial_force: Number = 0.0,
        a: Place | None = None,
        b: Place | None = None,
        point_a: Vector | None = None,
        point_b: Vector | None = None,
    ) -> None:
        """Motors and controllers on coordinates of joints, or between points (laws as Python functions:
        `Model.user_force`).

        Add a motor on a coordinate of a joint, or (a, b) on the distance of two points; positive where it grows.

        Args:
            name: in messages and results
            joint: name of a joint; or a and b (default none)
            coordinate: as for `joint_spring`.
            force: f(t), a force [N] or moment [N m]; a load.
            speed: instead: the rate of the coordinate as a function of time [m/s], [rad/s], whatever force that takes.
            position: a controller's reference r(t) for the coordinate, counted from the start [m], [rad]; it gives kp
                (r - q) + kd (r' - q') + the integral of ki (r - q); without it r = 0.
            kp: gain of r - q [N/m or N m/rad] (default 0.0); gains [N/m], [N s/m] or [N m/rad], [N m s/rad].
            kd: gain of r' - q' [N s/m or N m s/rad] (default 0.0); gains [N/m], [N s/m] or [N m/rad], [N m s/rad].
            ki: gain of the integral of r - q [N/(m s)], [N m/(rad s)].
            filter_time: time constant T [s] of the derivative: kd acts on z' instead of r' - q', T z' = r - q - z.
            lag: time constant [s] of the actuator: its force follows what the controller asks for.
            limit: largest magnitude of the whole force; None: none.
            tracking_time: time [s] in which the integral gives back what the limit cuts off; None: it goes on growing.
            initial_integral: integral part at the start [N or N m] (default 0.0)
            initial_force: force of an actuator with a lag at the start [N or N m] (default 0.0)
            a: instead of joint: one end of a distance (default none)
            b: its other end (default none)
            point_a: where on a, in global coordinates of the start [m] (default its node)
            point_b: where on b [m] (default its node)

        The integral part, the filter and the actuator are state variables (`integral`, `filtered`, `actuator`, of
        sensors
        of the kind "state").  Static steps find their equilibrium, in which an integral has brought r - q to zero.
        """

    def hydraulic(
        self,
        name: str,
        joint: str | None = None,
        coordinate: str | None = None,
        *,
        area: Number,
        capacity: Number,
        gain: Number = 0.0,
        area_b: Number | None = None,
        capacity_b: Number | None = None,
        leakage: Number = 0.0,
        drain: Number = 0.0,
        supply: Number | None = None,
        friction: Number = 0.0,
        opening: Function | None = None,
        position: Function | None = None,
        kp: Number = 0.0,
        kd: Number = 0.0,
        kf: Number = 0.0,
        limit: Number | None = None,
        spool_time: Number | None = None,
        initial_pressure: Number = 0.0,
        initial_pressure_b: Number = 0.0,
        initial_opening: Number = 0.0,
        a: Place | None = None,
        b: Place | None = None,
        point_a: Vector | None = None,
        point_b: Vector | None = None,
    ) -> None:
        """Hydraulic cylinders and rotary actuators with servo valves, whose pressure is a state variable.

        Add a hydraulic actuator on a coordinate of a joint, or (a, b) on the distance of two points; positive pressure
        lets
        it grow.

        Args:
            name: in messages and results
            joint: name of a joint; or a and b (default none)
            coordinate: as for `joint_spring`.
            area: of the piston [m^2]; rotary: volume per radian [m^3].
            capacity: volume of oil per load pressure [m^3/Pa]; of a symmetric cylinder in its middle V/(4 E), V the
                volume of both chambers and E the bulk modulus.  With area_b that of chamber a alone, V_a/E.
            gain: flow per opening of the valve, without load [m^3/s].  Of two chambers with a supply, flow through one
                edge at the whole supply pressure: a cylinder of two equal areas without load, with half of the supply
                pressure in both chambers, moves by gain/sqrt(2).
            area_b: of the piston on the side of the rod, which pulls; the chambers then have a pressure each. [m^2 or
                m^3/rad]
            capacity_b: V_b/E of that chamber; None: as of the other one. [m^3/Pa]
            leakage: flow per load pressure, with the flow-pressure coefficient of the valve [m^3/(s Pa)]; of two
                chambers per difference of their pressures.
            drain: flow of each of two chambers per pressure to the tank [m^3/(s Pa)].
            supply: pressure [Pa] from which the flow decreases with the load, as that of a symmetric valve; None: the
                flow is gain times opening.
            friction: viscous [N s/m], [N m s/rad].
            opening: of the valve, u(t) [-]; a load.
            position: a controller's reference r(t) for the coordinate, counted from the start: the valve opens by kp (r
                - q) + kd (r' - q') as well; without it r = 0. [m or rad]
            kp: opening per r - q [1/m or 1/rad] (default 0.0)
            kd: opening per r' - q' [s/m or s/rad] (default 0.0)
            kf: feedback of the pressure, which closes the valve [1/Pa]; of two chambers of p_a - p_b area_b/area.
            limit: largest opening. [-]
            spool_time: time constant [s] with which the valve opens; None: at once.
            initial_pressure: at the start [Pa] (default 0.0)
            initial_pressure_b: at the start, of the chamber on the side of the rod [Pa] (default 0.0)
            initial_opening: at the start, with spool_time [-] (default 0.0)
            a: instead of joint: one end of a distance (default none)
            b: its other end (default none)
            point_a: where on a, in global coordinates of the start [m] (default its node)
            point_b: where on b [m] (default its node)

        C p' = Q - leakage p - area q', force = area p - friction q' (Leimbach & Hahn 1993, eq. 16).  The state
        variables
        are `pressure` and `opening`; of two chambers (`fem_mbs.elements.actuators.cylinder`) `pressure a`, `pressure b`
        and
        `opening`.  What the oil stores, C p^2/2, counts as strain energy, p Q as work of loads.
        """

    def friction(
        self,
        name: str,
        joint: str | None = None,
        *,
        coefficient: Number | None = None,
        smoothing: Number,
        radius: Number | None = None,
        inner_radius: Number | None = None,
        length: Number | None = None,
        efficiency: Number | None = None,
        wrap: Number | None = None,
        static: Number | None = None,
        stribeck: Number | None = None,
        normal: Function | None = None,
        speed: Function | None = None,
        a: Place | None = None,
        b: Place | None = None,
        point: Vector | None = None,
        axis: Vector | None = None,
        direction: Vector | None = None,
    ) -> None:
        """Dry friction in joints and between points.

        Add Coulomb friction in a joint, or (a, b) where a point of b slides on a surface of a.

        The force coefficient N tanh(w/smoothing) acts against the sliding velocity w; N is the size of the joint's
        constraint force at every instant, and what ``normal`` adds.  In a pin or revolute joint it is a moment, with
        ``radius`` as its arm, in a universal joint one about each axis, in a ball joint ("spherical", in space "pin")
        one
        against the relative angular velocity.  In a screw it acts along the thread.  In joints that guide points
        ("prismatic", "slider", "point_on_line", "point_on_plane", "planar", along beams and on curves) it acts at the
        point; moments that a prismatic joint bears do not press.

        A cylindrical joint slips along its axis and about it at once, by |(v, ``radius`` w)|: a bush that spins slides
        more
        easily. With ``length``, both ends of the bush press, from the joint's force and moment; the middle of the bush
        is
        the joint's point in b. A planar joint with a ``radius`` is a disc of uniform pressure, with ``inner_radius``
        as well a ring: the force and the moment of its friction depend on both sliding and spin, and both motions end
        at
        the same time. Profiles ("curve_on_curve", "cam") have friction at their point of contact.

        Gears and racks lose the part 1 - ``efficiency`` of the power that goes through them, whichever coordinate
        drives.
        In a rope over pulleys (a gear of two displacements) ``coefficient`` and ``wrap`` say the ratio of the forces,
        e^(coefficient wrap).  Such a loss is two elements, called NAME:a and NAME:b, on both coordinates; that of a
        screw
        NAME:angle and NAME:displacement, of a universal joint NAME:angle and NAME:angle_b.

        Args:
            name: in messages and results
            joint: name of a joint: pin, spherical, revolute, universal, screw, cylindrical, prismatic, slider,
                point_on_line, point_on_plane, planar, along_beam and its kin, point_on_curve, curve_on_curve, cam, or
                of a gear; its force presses; or a and b (default none)
            coefficient: mu, of Coulomb's law; with gears and racks give ``efficiency`` instead.
            smoothing: sliding speed [m/s] up to which the force rises (to 76 % of mu N); below it surfaces creep.  In a
                gear it is a rate of the coordinate a [rad/s or m/s].
            radius: of pin, ball, revolute and cylindrical joints, of the pins of universal joints, mean one of a
                screw's thread, of a round contact in a planar joint [m].
            inner_radius: of a planar joint whose contact is a ring [m]; less than ``radius``.
            length: of the bush of a cylindrical joint [m]; without it only the force of the joint presses, not its
                moment.
            efficiency: of a gear, a rack or a rope, power out over power in, in (0, 1].
            wrap: of a rope, the angle by which it wraps its pulleys or drums [rad].
            static: coefficient at small speeds (default coefficient); coefficient at small speeds, which goes over to
                ``coefficient`` like exp(-(w/stribeck)^2).
            stribeck: with static: speed w_0 of its decay, exp(-(w/w_0)^2) [m/s] (default none); coefficient at small
                speeds, which goes over to ``coefficient`` like exp(-(w/stribeck)^2).
            normal: normal force as a function of time, a load [N]; with joints in addition to their own.
            speed: of a running surface of a along the coordinate, function of time [m/s]: a belt, a disc; what moves it
                gives energy to the model, booked as that of drivers.
            a: instead of joint: the part with the surface (default none); without a joint: the surface of a with the
                normal ``axis``, the point of b (global coordinates of the start; None: its node).
            b: the part whose point slides on it (default none); without a joint: the surface of a with the normal
                ``axis``, the point of b (global coordinates of the start; None: its node).
            point: where on b, in global coordinates of the start [m] (default its node); without a joint: the surface
                of a with the normal ``axis``, the point of b (global coordinates of the start; None: its node).
            axis: normal of the surface (default none); without a joint: the surface of a with the normal ``axis``, the
                point of b (global coordinates of the start; None: its node).
            direction: in space, on surfaces that run: where to.
        """

    def contact(
        self,
        name: str,
        a: Places,
        b: Places,
        *,
        surface: Literal["plane", "sphere", "cylinder", "capsule", "box", "triangles", "beams", "faces"] = "plane",
        point: Vector | None = None,
        axis: Vector | None = None,
        rotation: Number | Vector | Rows | None = None,
        radius: Number | None = None,
        length: Number | None = None,
        size: Vector | None = None,
        triangles: str | Path | Mapping[str, Any] | Sequence[str | Path | Mapping[str, Any]] | None = None,
        facets: str | None = None,
        depth: Number | None = None,
        inside: bool = False,
        ball: Number = 0.0,
        stiffness: Number | None = None,
        exponent: Number = 1.5,
        modulus: Number | None = None,
        table: Rows | None = None,
        damping: Number = 0.0,
        restitution: Number | None = None,
        restitution_model: Literal["gonthier", "flores", "lankarani", "indentation"] = "gonthier",
        approach: Number | None = None,
        coefficient: Number = 0.0,
        smoothing: Number | None = None,
        static: Number | None = None,
        stribeck: Number | None = None,
        overlap: Number = 0.0,
        along: bool = False,
        both: bool = False,
        spacing: Number | None = None,
        margin: Number | None = None,
        pairs: Whole | None = None,
    ) -> None:
        """Contact of balls, points and lengths of beams with surfaces, and of balls and beams with each other, in large
        motion.

        Add a contact: the nodes of b are balls (or points), or its beams are tubes, a carries a surface that moves with
        it.

        The normal force is stiffness y^exponent of the penetration y, a table, or Hertz's of an effective modulus;
        elastic
        contact conserves energy at any step size.  The loss of a blow follows from ``damping`` (Hunt & Crossley) or
        ``restitution``, and is booked as dissipated.  Friction acts at the point that touches, against sliding, and
        turns
        balls that rotate.  Steps must be short against a blow to follow it; longer ones miss fast passages.

        Args:
            name: in messages and results
            a: what carries the surface; of several nodes each carries one.  Where a and b are the same place, its balls
                touch each other, each pair once.
            b: whose nodes are balls or points; if it is a, its balls touch each other
            surface: "plane" (the half-space that axis points out of), "sphere", "cylinder" (without ends, along axis),
                "capsule" (a cylinder of ``length`` between two half-spheres), "box" (edges ``size``, rounded by
                ``radius``), "triangles" (in space: ``triangles`` or ``facets``; a ball touches the nearest face, edge
                or corner). The balls are outside of a closed surface of triangles, however these are turned, and on the
                side of the normals of an open one: right-handed about each triangle.  "beams": a is groups of beams,
                trusses or cables, tubes of ``radius`` between their nodes, which deform; b are balls, or lines with
                ``along``, also a itself.  Which parts are near each other is found in the run.  "faces": a is faces of
                solids ("mesh:set"), shells, or a reduced part ("part:surface", or interfaces with all nodes of faces,
                "part:interface"), which deform; b are balls, nodes ("part:surface" too) or lines with ``along``, with a
                radius ``ball``, and ``radius`` is half the thickness; they touch from both sides.  Friction of beams
                acts at their surfaces, so it also gives moments on beams and bodies.  Friction of faces acts at the
                axis of lines and at the centre of nodes, without a moment on them.
            point: a point of the plane, the centre of other surfaces, the origin of triangles, in global coordinates of
                the start. [m]
            axis: plane: the normal out of it; cylinder, capsule: their axis (default none)
            rotation: of a box or triangles at the start: angle [rad]; space: axis times angle (default global axes)
            radius: of the sphere, the cylinder, the capsule or the beams [m]; box: of its rounded edges, beyond size;
                faces: half their thickness (default none)
            length: capsule: between the centres of its ends [m] (default none)
            size: box: its edges [m] (default none)
            triangles: the surface: an STL or OBJ file, or tables, as of ``visual`` of bodies, in axes turned by
                ``rotation``. Its parts must not overlap.
            facets: instead: "mesh:set", plane cells or faces of a mesh that no elements use, where they are at the
                start; quadratic faces count by their corners.
            depth: of an open surface: centres that are deeper behind it have passed it, and nothing holds them. [m]
            inside: the balls are in a hollow sphere, a bore or a hollow capsule.
            ball: radius of the balls. [m]
            stiffness: K of K y^exponent [N/m^exponent] (default none)
            exponent: of the penetration; 1.5: Hertz (default 1.5)
            modulus: instead of stiffness: 1/((1 - nu_a^2)/E_a + (1 - nu_b^2)/E_b) of both materials, of balls with
                planes and spheres: K = 4/3 modulus sqrt(R), 1/R = 1/R_b + 1/R_a. [Pa]
            table: instead: points [penetration, force] from [0, 0] on, straight between them and beyond the last.
            damping: b of F (1 + b y'). [s/m]
            restitution: coefficient e in 0 .. 1, with ``restitution_model`` "gonthier" (exact for a free blow),
                "flores" or "lankarani" (approximations, the second for e near 1), or "indentation": the surface keeps a
                part of each indentation until the contact ends.  With "beams" and "faces" it is a damping with this
                coefficient in a free blow at the speed ``approach``; slower blows have a greater coefficient.
            restitution_model: of what restitution says: "gonthier", "flores", "lankarani", "indentation" (default
                "gonthier")
            approach: of beams and faces: speed of a free blow that has the coefficient restitution [m/s] (default none)
            coefficient: of friction (default 0.0); of friction, as of ``friction``.
            smoothing: sliding speed up to which friction rises, like tanh(w/smoothing) [m/s] (default none); of
                friction, as of ``friction``.
            static: coefficient at small speeds (default coefficient); of friction, as of ``friction``.
            stribeck: with static: speed w_0 of its decay, exp(-(w/w_0)^2) [m/s] (default none); of friction, as of
                ``friction``.
            overlap: penetration that is accepted at the start [m]; more is an error.
            along: b is groups of beams, trusses or cables that touch along their length, as tubes of the radius
                ``ball``. The stiffness is that of a point, as where beams cross; a length of beam that lies on
                something counts as one point per diameter (the mean of both), whatever the mesh.  On surfaces of bodies
                and on faces it touches at places not more than ``spacing`` apart; on beams at their nearest points,
                parallel ones at their nodes.
            both: b are faces, too; its nodes touch the faces of a and those of a its faces, with half the stiffness
                each.
            spacing: along, of the places that touch a surface or faces; sharper edges may pass between them. [m]
            margin: with "beams" and "faces", by which parts may move until near ones are found anew. [m]
            pairs: with "beams" and "faces", room for pairs of parts that are near each other.
        """

    def impact(
        self,
        name: str,
        a: Places,
        b: Places,
        *,
        surface: Literal["plane", "sphere", "cylinder", "capsule", "box", "triangles"] = "plane",
        point: Vector | None = None,
        axis: Vector | None = None,
        rotation: Number | Vector | Rows | None = None,
        radius: Number | None = None,
        length: Number | None = None,
        size: Vector | None = None,
        triangles: str | Path | Mapping[str, Any] | Sequence[str | Path | Mapping[str, Any]] | None = None,
        facets: str | None = None,
        depth: Number | None = None,
        inside: bool = False,
        ball: Number = 0.0,
        restitution: Number,
        law: Literal["poisson", "stronge", "newton"] = "poisson",
        coefficient: Number = 0.0,
        static: Number | None = None,
        tangential: Number = 0.0,
        least_speed: Number = 0.0,
    ) -> None:
        """Blows with restitution between balls or points and surfaces, and rigid contact after them, in transients.

        Add an impact: the nodes of b are balls (or points), a carries a surface that moves with it, as of ``contact``.

        Where a gap closes, the velocities of the whole model jump: joints and flexible parts take part by their masses
        and
        constraints, and the loss is booked as dissipated. Blows that follow each other ever faster end in contact
        without
        deformation, which slides or sticks and opens when its force would pull. The gap is looked at at the ends of
        steps,
        so these must be short against the time between blows. The summary lists all blows. For the steps of the rules
        "midpoint" and "decaying" of transients; other steps refuse the model.

        Args:
            name: in messages and results
            a: what carries the surface; of several nodes each carries one.  Where a and b are the same place, its balls
                touch each other, each pair once.
            b: whose nodes are balls or points; if it is a, its balls touch each other
            surface: as of ``contact``: "plane", "sphere", "cylinder", "capsule", "box" or "triangles".
            point: a point of the plane, the centre of other surfaces, the origin of triangles, in global coordinates of
                the start. [m]
            axis: plane: the normal out of it; cylinder, capsule: their axis (default none)
            rotation: of a box or triangles at the start: angle [rad]; space: axis times angle (default global axes)
            radius: of the sphere, the cylinder or the capsule [m]; box: of its rounded edges, beyond size (default
                none)
            length: capsule: between the centres of its ends [m] (default none)
            size: box: its edges [m] (default none)
            triangles: of triangles: a file, or tables, as of `visual` of bodies (default none)
            facets: triangles: instead, "mesh:set" of a mesh (default none)
            depth: open triangles: how far behind them centres of balls are pushed back [m] (default ball)
            inside: the balls are in a hollow sphere, a bore or a hollow capsule.
            ball: radius of the balls. [m]
            restitution: coefficient e in 0 .. 1; 0: no separation, 1: no loss without friction.
            law: "poisson" (the impulse of restitution is e times that of compression, and slip may end, stick and
                reverse within the blow), "stronge" (likewise, with e^2 of the work) or "newton" (v_n+ = -e v_n-, and
                one direction of slip; with friction it may gain energy). Without friction they are the same for one
                blow at a time.
            coefficient: of friction in blows and in contact.
            static: coefficient up to which what touches does not begin to slip.
            tangential: coefficient e_t of tangential restitution in 0 .. 1: if friction is large enough to stick, the
                slip after the blow is -e_t times that before it (superball: near 1).
            least_speed: speed of separation below which a blow ends in contact; 0: found from the step. [m/s]
        """

    def tyre(
        self,
        name: str,
        wheel: Place,
        *,
        axis: Vector,
        radius: Number,
        point: Vector | None = None,
        crown: Number = 0.0,
        rolling_radius: Number | None = None,
        road: Vector | None = None,
        normal: Vector | None = None,
        profile: Function | None = None,
        along: Vector | None = None,
        length: Number | None = None,
        spacing: Number | None = None,
        stiffness: Number | None = None,
        table: Rows | None = None,
        damping: Number = 0.0,
        slip_law: Literal["linear", "brush", "magic"] = "linear",
        friction: Number | Vector = 1.0,
        slip_stiffness: Number | Vector | None = None,
        peak_load: Number | None = None,
        magic_x: Vector | None = None,
        magic_y: Vector | None = None,
        camber_thrust: Number = 0.0,
        trail: Number = 0.0,
        rolling_resistance: Number = 0.0,
        relaxation: Number | Vector | None = None,
        retardation: Number = 0.0,
        slip_speed: Number | None = None,
        largest_slip: Number = 2.0,
    ) -> None:
        """Tyres: wheels that roll and slip on a road, with normal, longitudinal and lateral force and aligning moment.

        Add a tyre: the wheel is a disc about ``axis``, which turns with its node, and the road is fixed in space.

        The normal force is stiffness times the penetration of the lowest point of the disc, or a table, with damping;
        it
        never pulls.  Forward is axis x normal: a wheel with the axis y and the normal z rolls along x with a positive
        spin.
        Slips are those of the contact: kappa = -V_sx/|V_x|, tan(alpha) = -V_sy/|V_x|; positive slips give positive
        forces.
        A steady wheel turns with V = r_e spin, where r_e is the rolling radius.

        With ``relaxation`` the slips follow the motion over a length of rolling, and a wheel that stands is held by the
        deflection of its carcass, up to the friction. Without, forces at rest are those of a damper (``slip_speed``): a
        wheel on a slope creeps. Statics know no tangential forces.

        Args:
            name: in messages and results
            wheel: a body or a node with rotations.
            axis: spin axis at the start, in global axes.
            radius: of the unloaded wheel. [m]
            point: centre of the wheel, in global coordinates of the start. [m]
            crown: radius of the tread across the wheel, as of motorcycles. [m]
            rolling_radius: r_e of free rolling, V = r_e spin [m] (default radius less a third of the penetration)
            road: a point of the road [m] (default the origin); a point of the road and its normal, out of it.
            normal: of the road, out of it (default [0, 0, 1]); a point of the road and its normal, out of it.
            profile: height over the distance from ``road`` along ``along``: a function (of the distance in place of the
                time), level beyond 0 and ``length``; between places ``spacing`` apart a cubic spline. [m]
            along: profile: direction of its distance (default forward)
            length: profile: its length [m] (default none)
            spacing: profile: of the places of its heights [m] (default length/500)
            stiffness: of the normal force [N/m] (default none)
            table: instead: points [penetration, force] from [0, 0] on (default none)
            damping: b of N (1 + b y'). [s/m]
            slip_law: "linear" up to the friction, "brush" (parabolic pressure; theoretical slips kappa/(1 + kappa)
                ...), or "magic": sin(C atan(B s - E (B s - atan(B s)))) times friction times normal force.
            friction: one coefficient, or two: along and across.
            slip_stiffness: of linear and brush: forces per slip and per slip angle at zero slip. [N, N/rad]
            peak_load: normal force of the largest slip stiffness, which is slip_stiffness sin(2 atan(N/peak_load)). [N]
            magic_x: magic: [B, C, E] along the wheel (default none); [B, C, E] along and across the wheel.
            magic_y: magic: [B, C, E] across the wheel (default none); [B, C, E] along and across the wheel.
            camber_thrust: side force per camber over side force per slip angle.
            trail: pneumatic trail at zero slip; it falls as that of the brush model. [m]
            rolling_resistance: its coefficient (default 0.0)
            relaxation: one length, or two: along and across. [m]
            retardation: with relaxation, time constant of the damping of the carcass of a wheel that stands or creeps.
                [s]
            slip_speed: speed below which slip forces are those of dampers, with relaxation those of springs, and
                rolling resistance falls [m/s] (default 0.1 m/s)
            largest_slip: slips beyond count as this one.
        """

    def bushing(
        self,
        name: str,
        a: Place,
        b: Place = "ground",
        stiffness: Vector | Rows | None = None,
        damping: Vector | Rows | None = None,
        *,
        point: Vector | None = None,
        point_a: Vector | None = None,
        point_b: Vector | None = None,
        rotation: Number | Vector | Rows | None = None,
        frame: Literal["first", "mean"] = "first",
        preload: Vector | None = None,
    ) -> None:
        """Elastic mounts: matrices between frames of two parts.

        Add an elastic mount: stiffness and damping matrices between frames of two parts, alike at the start.

        Args:
            name: in messages and results
            a: one part
            b: other part (default "ground")
            stiffness: diagonal or matrix over displacements and rotations, 6 or 6x6, in the plane 3 or 3x3 (x, y,
                rotation) [N/m, N/rad, N m/rad] (default none); n diagonal entries or (n, n), symmetric, positive
                semidefinite; n = 6, displacements then rotations [N/m, N/rad, N m/rad]; in the plane 3: x, y, rotation.
            damping: damping coefficients in the same form, over the rates of displacements and rotations [N s/m, N
                s/rad, N m s/rad] (default none); n diagonal entries or (n, n), symmetric, positive semidefinite; n = 6,
                displacements then rotations [N/m, N/rad, N m/rad]; in the plane 3: x, y, rotation.
            point: where both frames are, in global coordinates of the start; or point_a and point_b; None: the nodes.
                [m]
            point_a: where on a [m] (default point)
            point_b: where on b [m] (default point)
            rotation: of the frame's axes at the start: plane an angle, space axis times angle, (3,) [rad]; None: the
                global axes.
            frame: of the displacements: "first", which moves with a, or "mean", half-way between both.
            preload: n forces and moments at the start, in the frame, positive as stiffness times strain. [N, N m]

        In space the rotations are the rotation vector of b against a; more than 4.7 rad end the analysis.  Reported
        moments act on b about its point (frame "mean": about the middle of both points).
        """

    def bearing(
        self,
        name: str,
        a: Place,
        b: Place = "ground",
        stiffness: Number | Vector | Rows | None = None,
        damping: Number | Vector | Rows | None = None,
        axis: Vector | None = None,
        direction: Vector | None = None,
        speeds: Vector | None = None,
    ) -> None:
        """Bearings of rotors: forces across an axis by 2x2 matrices, which may depend on the speed.

        Add a bearing: a force across an axis, linear in the relative displacement of two nodes and in its rate, with
        matrices that may be unsymmetric and depend on the relative spin of the two.

        Its directions stay in space: the housing must not turn.  The nodes are where they are unloaded at the start.

        Args:
            name: in messages and results
            a: node of the shaft; the shaft's node and the housing's, or "ground".
            b: node of the housing, which does not turn (default "ground"); the shaft's node and the housing's, or
                "ground".
            stiffness: number, 2 (both directions), 4 (row by row) or 2x2, which may be unsymmetric [N/m]; with speeds a
                list of these (default none); a number (the same in all directions), 2 (both directions), 4 (row by row)
                or (2, 2) [N/m], [N s/m]; the force on the housing is stiffness times displacement plus damping times
                rate.
            damping: damping coefficients in the same form [N s/m] (default none); a number (the same in all
                directions), 2 (both directions), 4 (row by row) or (2, 2) [N/m], [N s/m]; the force on the housing is
                stiffness times displacement plus damping times rate.
            axis: in space, about which the speed counts.
            direction: the first of the two directions across, made perpendicular to the axis; None: y for an axis along
                x, z for y, x for z, in between the next one after the nearest.  The second is axis x first; in the
                plane they are x and y.
            speeds: (k,) [rad/s], increasing: stiffness and damping are lists of k of the above, linear in between,
                constant beyond; a single number serves all speeds.  The speed is that of a less that of b.

        Raises:
            ModelError: no force, tables that do not fit, nodes without rotation where the speed counts.
        """

    def component(
        self,
        name: str,
        groups: str | Sequence[str],
        modes: Whole | None = None,
        cutoff: Number | None = None,
    ) -> None:
        """Substructures for component mode synthesis and `fem-mbs modify`. Dofs that several use are their interface;
        elements of none belong to the component that has all their nodes, or join several.

        Define a component for component mode synthesis and modification: groups of elements (beams, trusses, solids,
        plane parts, bodies, masses, springs) by their names.

        Dofs that several components use are their interface.  Elements of no component (springs, masses) belong to
        the one that has all their nodes, or join several; joints and equations work within a component or between them.

        Args:
            name: in messages and results
            groups: name of a group, or a list of names.
            modes: number of elastic modes that are kept; or
            cutoff: frequency up to which they are kept [Hz]; None: what the analysis says.

        Raises:
            ModelError: a group that does not exist, is a joint, or belongs to another component; numbers that make no
                sense.
        """

    def force(
        self,
        name: str,
        on: Places,
        vector: Vector,
        function: Function | None = None,
        point: Vector | None = None,
        follower: bool = False,
    ) -> None:
        """Forces.

        Apply a force [N] on every node of a place, or at a point of a body: vector * f(t).

        Args:
            name: in messages and results
            on: on each node of it
            vector: in global axes of the start; or one per node, (n, dimension), without a point. [N]
            function: factor on it (default 1.0)
            point: of a body, in global coordinates of the start [m] (default its node)
            follower: the force turns with its node (which must have a rotation); else its direction stays.
        """

    def moment(
        self,
        name: str,
        on: Places,
        value: Number | Vector | Rows,
        function: Function | None = None,
        kind: Literal["axial", "follower", "semitangential"] = "axial",
    ) -> None:
        """Moments.

        Apply a moment [N m]: in the plane a number, in space a vector in global axes of the start, or one per node
        (n, 3).

        Args:
            name: in messages and results
            on: on each node of it
            value: in space the vector of the start [N m]
            function: factor on it (default 1.0)
            kind: in space: "axial" (fixed in direction), "follower" (turns with the body) or "semitangential" (the mean
                of both, with a symmetric load stiffness).
        """

    def line_load(
        self,
        name: str,
        on: str,
        vector: Fields | Callable[[NDArray[Any]], NDArray[Any]],
        function: Function | None = None,
        axes: Literal["global", "local"] = "global",
        *,
        moment: Fields | Callable[[NDArray[Any]], NDArray[Any]] | None = None,
    ) -> None:
        """Distributed loads on beams, trusses and edges of shells.

        Apply a distributed load [N/m] on a group of beams or trusses, or on edges of shells, per length of the
        undeformed
        element.

        Args:
            name: in messages and results
            on: name of the group, as given to `beams` or `trusses`; or "mesh:set", a set of edges of shells.
            vector: (dimension,) numbers or expressions of x, y, z; between the nodes of an element it varies linearly.
                [N/m]
            function: factor on it (default 1.0)
            axes: "global": fixed in direction, work-equivalent to the elastic line of the beams; "local": in the
                section's axes of beams (the plane: along and across), with which it turns; lumped to the ends.  On
                edges of shells "local" is along the edge (counter-clockwise about the normal), outwards across it, and
                along the normal, and turns with the nodes.
            moment: on edges of shells, moment per length [N m/m], 3 numbers or expressions, in the same axes.

        Sides of triangles of three nodes bulge with the rotations about the normal; forces on edges have moments about
        it,
        which cancel but at the ends.
        """

    def pressure(
        self,
        name: str,
        on: Places,
        value: Number | str,
        function: Function | None = None,
        integration: Literal["exact", "reduced"] = "exact",
    ) -> None:
        """Pressures on faces of solids, edges of plane parts and shells.

        Apply a pressure [Pa] on faces of solids or edges of plane parts, against the outward normal, or on shells,
        against
        their normal, which it follows: value * f(t).

        Args:
            name: in messages and results
            on: "mesh:set" of a facet set, of shells a set of cells, or a list of them; the cells must have elements.
            value: a number, an expression of x, y, z of the middle of the face, or one number per face. [Pa]
            function: factor on it (default 1.0)
            integration: "exact", or "reduced": on faces of solids with the few points that CalculiX takes for elements
                like theirs, which differs where faces are distorted or curved.

        Raises:
            ModelError: no such facet set, faces of cells without elements, values that are not finite.
        """

    def part_load(
        self,
        name: str,
        part: str,
        load: str | Sequence[str],
        function: Function | None = None,
        follower: bool = True,
        factor: Number = 1.0,
    ) -> None:
        """Loads that reduced parts have in their own models, on their surface or inside, in motion.

        Apply a load of a reduced part's own model (pressures, tractions, line loads, forces inside), in motion:
        factor * f(t) times what it is per unit of its function there, at its places in the deformed part.

        Args:
            name: in messages and results
            part: a reduced part of this model, reduced with the load in its model.
            load: its name there (``part.load_moments``; loads that shared a function have one name, joined by " + "),
                or several, which then act together.
            function: factor on the load of the part per unit of its own function (default 1.0)
            follower: forces turn with the part's frame, as pressures do; else they keep the directions that they have
                in the part's placement at the start.  Neither turns with its deformation.  Heat always turns with the
                part.
            factor: times this (default 1.0)

        Raises:
            ModelError: no such part or load, a part of a format without loads; a factor that is no number; loads in
                fixed
                directions that hold heat besides.
        """

    def traction(
        self,
        name: str,
        on: Places,
        vector: Fields | Callable[[NDArray[Any]], NDArray[Any]],
        function: Function | None = None,
    ) -> None:
        """Dead loads on faces of solids, edges of plane parts and shells.

        Apply a traction [Pa] on faces of solids, edges of plane parts or shells, constant in direction: vector * f(t),
        per
        area of the undeformed face.

        Args:
            name: in messages and results
            on: mesh:set of faces of solids, edges of plane parts or cells of shells, or a list of them
            vector: (dimension,) numbers, expressions of x, y, z of the middle of the face, or numbers per face. [Pa]
            function: factor on it (default 1.0)

        The others as for `pressure`.
        """

    def temperature(
        self,
        name: str,
        on: Place,
        value: Number | str,
        reference: Number = 0.0,
        function: Function | None = None,
        *,
        gradient: Number | str = 0.0,
    ) -> None:
        """Temperatures of solid and plane parts and of shells; those of one element add up and follow one function. In
        solid and plane parts of nonlinear kinematics alpha dT is a Green strain: a free length grows by
        sqrt(1 + 2 alpha dT) - 1, and by alpha dT with the change dT (1 + alpha dT/2).

        Apply a change of temperature, (value - reference) * f(t) [K], of solids, plane parts or shells.

        Args:
            name: in messages and results
            on: a part, or cells "mesh" or "mesh:set": these elements get it; or a set of nodes, "mesh:set": nodes get
                it, and elements what follows between these and the others, which keep the reference.
            value: [K] at the nodes: a number, an expression of x, y, z, or an array over the nodes of ``on`` (NaN: this
                node keeps the reference); of shells in the middle of the thickness.
            reference: temperature without strain [K].
            function: factor on the change (default 1.0)
            gradient: of shells, change [K/m] along the normal, times f(t) too: as ``value`` at the nodes.

        Within an element the change is interpolated from the nodes: by the shape functions; constant in a hexahedron of
        full integration and a quad, in a hexahedron20 and a quad8 of full integration linear along each axis through
        the
        values at 2 x 2 x 2 (2 x 2) Gauss points, where their strains could not follow more (so does CalculiX); constant
        in
        the surface of shells of 3 and 4 nodes.
        Several temperatures of one element add up, and share one function.

        Raises:
            ModelError: no such part, a material without expansion, values that are not finite, a second function, a
                gradient in parts that are no shells or do not bend.
        """

    def centrifugal(
        self,
        name: str,
        speed: Function,
        axis: Vector | None = None,
        point: Vector | None = None,
        spin: bool = False,
    ) -> None:
        """Centrifugal forces in a frame that turns at constant speed, for static, modal and buckling steps, or to trim a
        rotor whose transient follows.

        Add centrifugal forces on every mass of the model, seen from a frame that turns at constant speed.

        For static, modal and buckling steps; the load factor multiplies the force, so the square of the speed.
        Coriolis forces are not among them: modes are right for motions that the spin does not couple, such as flapping.
        With ``spin`` a transient may follow a static step: the forces then end, and the model starts from its
        equilibrium with the velocities of the rotation, omega x r, which goes on steadily (docs/theory.md, section 3).

        Args:
            name: in messages and results
            speed: [rad/s], a number or a function of time.
            axis: in space the direction of the axis; in the plane the axis is across it, and that of axisymmetric parts
                (given before) is y.
            point: of the axis, (dimension,); None: the origin. [m]
            spin: the whole model turns at the start of the first transient; its joints and motions must allow it.
        """

    def base_excitation(
        self,
        name: str,
        direction: Vector,
        displacement: Function | None = None,
        acceleration: Function | None = None,
        on: Places | None = None,
    ) -> None:
        """Supports that move together.

        Move held positions together: direction * s(t), in inertial coordinates.

        Args:
            name: in messages and results
            direction: (dimension,), of any length: a factor on s.
            displacement: s [m], a function that starts at 0.  Where it starts with a speed, the model starts with it
                too; with ``initial(method="given")`` a transient starts from rest, and the supports jerk it.
            acceleration: s'' [m/s^2] instead; s and s' start at 0.
            on: places whose held positions move; None: all supports.
        """

    def rotor(
        self,
        name: str,
        axis: Vector | None = None,
        point: Vector | None = None,
        on: Places = "all",
        blades: Whole | None = None,
    ) -> None:
        """Parts that turn steadily about an axis, for steps that ask how they then vibrate; it sets nothing in motion.

        Define parts that rotate steadily about an axis, for steps that compute their vibrations.

        It adds nothing to the model and sets nothing in motion; steps name it and its speed.

        Args:
            name: by which steps call it
            axis: in space its direction, about which positive speeds turn; in the plane it is across the plane.
            point: of the axis, (dimension,) [m]; None: the origin.
            on: places whose nodes turn, reduced parts with their interfaces; "all": every node of the model so far.
            blades: number of equal blades, for multi-blade coordinates; None: the largest number of equal sectors, 3 or
                more, that the nodes off the axis have.

        Raises:
            ModelError: no axis in space, or one in the plane; a place without nodes.
        """

    def initial(
        self,
        on: Places = "all",
        velocity: Fields | Callable[[NDArray[Any]], NDArray[Any]] | None = None,
        spin: Number | str | Vector | None = None,
        centre: Vector | None = None,
        method: Literal["auto", "strain-free", "projection", "given"] | None = None,
    ) -> None:
        """Velocities at the start; several tables add up.

        Set velocities at the start: a rigid motion of the whole model, or of a place; later calls add to earlier
        ones.

        Args:
            on: nodes that get the velocity (default "all")
            velocity: (dimension,) numbers [m/s], or expressions of x, y, z.
            spin: angular velocity [rad/s]: plane: a number or an expression; space: (3,) numbers.
            centre: with it, the nodes also turn about this point: v += spin x (x - centre). [m]
            method: how velocities are made consistent with joints, motions and given speeds: "strain-free" (least
                strain rates), "projection" (mass-weighted), "given" (as they are; an error if they are not consistent),
                "auto" (strain-free where only joints, motions and given speeds move the model, else projection).
        """

    def initial_speed(
        self,
        on: Place,
        component: str,
        value: Number,
        against: Place = "ground",
        axis: Vector | None = None,
    ) -> None:
        """Given speeds at the start, as of a joint.

        Set the speed of one coordinate at the start; everything else follows from joints, motions and `initial`.

        Args:
            on: node or body
            component: "x", "y", "z" [m/s] or "rotation" [rad/s].
            value: speed [m/s or rad/s]
            against: for "rotation": the place that the rotation is counted from, as in the joint between the two.
            axis: for "rotation" in space.
        """

    def running(
        self,
        on: Place,
        velocity: Vector,
        spin: Number | str | Vector | None = None,
        centre: Vector | None = None,
    ) -> None:
        """Vehicles that run at the start: velocities of all their parts, and spins of wheels that roll without slip.

        Start with a mechanism that runs: everything that joints, couplings and springs connect to a body gets the
        velocity
        of that body, as a rigid motion, and wheels get the spins with which they roll.

        The body moves as given.  Tyres have no longitudinal slip; joints, gears, curves that roll and motions hold.
        All
        else departs least from the rigid motion: first in its strain rates, then in its velocities, weighted with the
        masses.  So suspensions are at rest, and shafts, gears and engines turn with the wheels.  Parts that only the
        ground
        connects do not belong to the mechanism.  `initial` velocities are added before.

        Args:
            on: a body of the mechanism, or a node with rotations.
            velocity: (dimension,) numbers, of the body, or with a centre of the point there. [m/s]
            spin: angular velocity: plane: a number; space: (3,) numbers. [rad/s]
            centre: point about which the mechanism turns with the spin; None: the place of the body at the start. [m]
        """

    def copy(
        self,
        of: str | Sequence[str],
        prefix: str = "",
        suffix: str | None = None,
        count: Whole = 1,
        mirror: Mirror | MirrorTable | None = None,
        rotate: Turned | TurnedTable | None = None,
        translate: Vector | None = None,
        share: str | Sequence[str] | None = None,
    ) -> None:
        """Copies of other tables: shifted, turned or mirrored things under other names.

        Tables between copied things refer to the copies; what they refer to beside these is shared with the original.
        Materials, sections and functions are shared.

        Args:
            of: names of things, all those of a name; or "TABLE.NAME", "TABLE.NUMBER"
            prefix: before the names of the copies; {i} is the number of the copy (default "")
            suffix: behind them (default " copy", of several " copy {i}")
            count: how many copies, each moved from the one before (default 1)
            mirror: reflect on a plane, first
            rotate: turn about an axis, second
            translate: shift, last [m] (default none)
            share: places of one node of the originals with rotations (`mesh:set`, nodes): their copies are welded to
                them (default none)
        """

    def event(
        self,
        name: str,
        sensor: str,
        value: Number = 0.0,
        direction: Literal["rising", "falling", "both"] = "both",
        action: Literal["stop", "on", "off", "switch", "lock", "release", "break"] = "stop",
        target: Places | None = None,
        function: Function | None = None,
    ) -> None:
        """An action in a transient when a sensor passes a value.

        Add an event: an action in a transient when a sensor passes a value; its time is found to round-off.

        Args:
            name: for reports
            sensor: a sensor of positions, velocities, joint coordinates, energies ..., or one of its columns ("tip.y").
            value: that it passes (default 0.0); what is passed, "rising", "falling" or "both" ways.
            direction: "rising", "falling" or "both" (default "both"); what is passed, "rising", "falling" or "both"
                ways.
            action: "stop" ends the step; "on" and "off" let loads act, or not (what is to be turned on does not act
                before); "switch" gives loads and drivers another function, of the time since the event (drivers go on
                from where they are; a jump of their speed acts on the model as a blow); "lock" closes locks and brakes,
                or lets latches close at their value, and "release" opens them; "break" removes joints and supports with
                a name for good.
            target: name, or list of names, of loads and motors, of "switch" also of motions, driven joints and
                equations; of locks; of joints or supports.
            function: of "switch".
        """

    def check(
        self,
        name: str,
        sensor: str,
        reference: Number,
        tolerance: Number | None = None,
        quantity: Literal["first maximum", "first minimum", "maximum", "minimum", "extreme", "final", "at"] | None = None,
        at: Number | None = None,
        source: str = "",
        *,
        relative_tolerance: Number | None = None,
    ) -> None:
        """Values that the results are compared with after a run.

        Add a value that a run should reproduce: a quantity of a sensor, or its value at a time; see
        `fem_mbs.model.checks`.

        Args:
            name: for the report
            sensor: a sensor, or one of its columns ("tip.x")
            reference: the value that is expected
            tolerance: largest difference, in the unit of the sensor (default or:)
            quantity: "first maximum", "first minimum", "maximum", "minimum", "extreme" (largest magnitude), "final" or
                "at" (at the time `at`) (default none)
            at: instead of quantity: the time of the value [s] (default none)
            source: where the reference comes from (default "")
            relative_tolerance: largest difference over the reference (default or: tolerance)
        """

    def equations(
        self,
        name: str,
        rows: Any,
        nodes: Any,
        components: Any,
        coefficients: Any,
        value: Any = 0.0,
        function: Any | None = None,
        preferred: Any = True,
    ) -> None:
        """Add linear equations between displacements: sum of coefficient x displacement = value x f(t), row by row.

        The terms are parallel arrays (k,), in any order; several of one node and component add up.  An equation of
        displacements alone holds exactly at any size of the motion; rotations in space count as small ones (sin of the
        angle times the axis, 1.5 % off at the limit of 0.3 rad, at which nonlinear steps refuse to go on; linear steps
        have no limit).

        Args:
            name: by which reactions and messages call them
            rows: (k,) number of the equation that each term belongs to, 0 .. m - 1.
            nodes: (k,) node indices, as `nodes_of` gives them.
            components: (k,) 0, 1, 2 for x, y, z, 3, 4, 5 for rotations about them; the plane has 0, 1 and 5.
            coefficients: (k,) of the displacements since the start [m] and rotations [rad].  The first term of a row is
                the dof that linear analyses prefer to make the dependent one.
            value: right side, a number or (m,).
            function: f(t) of the right side; None: 1 at all times.
            preferred: whether the first term of a row is the dependent one, else the analysis chooses; bool or (m,).

        Raises:
            ModelError: arrays that do not fit, an unknown node or component, a rotation that the node does not have (at
                `compile`), an equation without terms.
        """

    def user_force(
        self,
        name: str,
        joint: str | None = None,
        function: Callable[..., Any] | None = None,
        tangent: Callable[..., Any] | None = None,
        *,
        states: Any | None = None,
        initial: Any | None = None,
        sizes: Any | None = None,
        coordinate: str | None = None,
        at: Any | None = None,
        point: Any | None = None,
        a: Any | None = None,
        b: Any | None = None,
        point_a: Any | None = None,
        point_b: Any | None = None,
    ) -> None:
        """Add a force by a Python function, on a coordinate of a joint, on the distance of two points, or on points.

        Args:
            name: of the force
            joint: name of a joint; or a and b
            function: on a coordinate ``f(q, rate, t)`` -> force or moment in the direction of its growth; q counts from
                the start [m], [rad] (of a distance: the length itself).  On points (``at``) ``f(x, v, t)`` -> (n, dim)
                [N] with positions and velocities (n, dim) of the n points in global axes; the force on a point may
                depend on this point only.  With ``states`` ``f(q, rate, t, z)`` -> force and rates (m,) of the state
                variables z (m,); on points ``f(x, v, t, z)`` -> (n, dim) and rates (n, m) of z (n, m), those of each
                point.
            tangent: the same arguments -> derivatives by q and by the rate; on points two arrays (n, dim, dim), the
                last index that of the derivative; None: central differences.  With ``states`` six derivatives: of the
                force by q, rate and z (m,), of the rates by q (m,), by the rate (m,), by z (m, m); on points arrays (n,
                dim or m, dim or m).
            states: names of m state variables of the force's own, x' = rates (sensors of the kind "state").
            initial: their values (m,) at the start; None: zero.
            sizes: sizes (m,) of their values, by which the tolerance of the iteration counts where they are small;
                None: 1.
            coordinate: of the joint, as of a joint_spring
            at: place or list of places; ``point`` of a body, in global coordinates of the start.
            point: where, in global coordinates of the start [m]
            a: instead of joint: one end
            b: its other end
            point_a: where on a [m]
            point_b: where on b [m]

        It is asked in every iteration, with the state of the middle of the step (Newmark and statics: of its end), and
        must depend on its arguments only.  Its work is booked as that of loads.  State variables take part in the rule
        of
        the step; static steps find their equilibrium, rates = 0.

        Raises:
            ModelError: also while running, if the function fails or returns no finite force.
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["position"],
        *,
        on: Place,
        point: Vector | None = None,
        axes: Place | None = None,
        relative_to: Place | None = None,
    ) -> None:
        """Of a node, or of a point of a body [m]; relative to a body: from its node.

        Args:
            name: of its columns in the results
            on: what is looked at
            point: of a body, in global coordinates of the start [m]; else its node
            axes: node or body in whose axes, which turn with it, the components are; else global ones
            relative_to: node or body with which the observer moves and turns; else the ground
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["displacement"],
        *,
        on: Place,
        point: Vector | None = None,
        axes: Place | None = None,
        relative_to: Place | None = None,
    ) -> None:
        """Since the start [m]; relative to a body: from the place to which the body alone would have carried it.

        Args:
            name: of its columns in the results
            on: what is looked at
            point: of a body, in global coordinates of the start [m]; else its node
            axes: node or body in whose axes, which turn with it, the components are; else global ones
            relative_to: node or body with which the observer moves and turns; else the ground
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["velocity"],
        *,
        on: Place,
        point: Vector | None = None,
        axes: Place | None = None,
        relative_to: Place | None = None,
    ) -> None:
        """Of a node, or of a point of a body [m/s]; relative to a body: as an observer who turns with it sees it.

        Args:
            name: of its columns in the results
            on: what is looked at
            point: of a body, in global coordinates of the start [m]; else its node
            axes: node or body in whose axes, which turn with it, the components are; else global ones
            relative_to: node or body with which the observer moves and turns; else the ground
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["acceleration"],
        *,
        on: Place,
        point: Vector | None = None,
        axes: Place | None = None,
        relative_to: Place | None = None,
    ) -> None:
        """Of a node, or of a point of a body [m/s^2]: its velocity's change over a time step, in the middle of the step;
        relative to a body: as an observer who turns with it sees it.

        Args:
            name: of its columns in the results
            on: what is looked at
            point: of a body, in global coordinates of the start [m]; else its node
            axes: node or body in whose axes, which turn with it, the components are; else global ones
            relative_to: node or body with which the observer moves and turns; else the ground
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["rotation"],
        *,
        on: Place,
    ) -> None:
        """Since the start: angle, in space rotation vector [rad].

        Args:
            name: of its columns in the results
            on: what is looked at
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["angular velocity"],
        *,
        on: Place,
        axes: Place | None = None,
        relative_to: Place | None = None,
    ) -> None:
        """Of a node or body [rad/s]; relative to a body: less that of the body.

        Args:
            name: of its columns in the results
            on: what is looked at
            axes: node or body in whose axes, which turn with it, the components are; else global ones
            relative_to: node or body with which the observer moves and turns; else the ground
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["angular acceleration"],
        *,
        on: Place,
        axes: Place | None = None,
        relative_to: Place | None = None,
    ) -> None:
        """Of a node or body [rad/s^2]: its angular velocity's change over a time step, in the middle of the step; relative
        to a body: as an observer who turns with it sees it.

        Args:
            name: of its columns in the results
            on: what is looked at
            axes: node or body in whose axes, which turn with it, the components are; else global ones
            relative_to: node or body with which the observer moves and turns; else the ground
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["distance"],
        *,
        a: Place,
        b: Place,
        point_a: Vector | None = None,
        point_b: Vector | None = None,
    ) -> None:
        """Between two places [m].

        Args:
            name: of its columns in the results
            a: first place, or "ground"
            b: second place, or "ground"
            point_a: of a body or of "ground", in global coordinates of the start [m]; else its node
            point_b: of a body or of "ground", in global coordinates of the start [m]; else its node
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["deflection"],
        *,
        on: Place,
        a: Place,
        b: Place,
        point: Vector | None = None,
        point_a: Vector | None = None,
        point_b: Vector | None = None,
        relative: bool = False,
        axes: Place | None = None,
    ) -> None:
        """Distance of a point from the chord between a and b, in the plane positive to its left [m]; with axes the
        components of the way across the chord, with their signs; relative = true: over the length of the chord at the
        start.

        Args:
            name: of its columns in the results
            on: what is looked at
            a: first place, or "ground"
            b: second place, or "ground"
            point: of a body, in global coordinates of the start [m]; else its node
            point_a: of a body or of "ground", in global coordinates of the start [m]; else its node
            point_b: of a body or of "ground", in global coordinates of the start [m]; else its node
            relative: divided by the distance of a and b at the start (default false)
            axes: node or body in whose axes, which turn with it, the components x, y, z are given, "ground": global
                ones; else the distance alone
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["angle"],
        *,
        a: Place,
        b: Place,
    ) -> None:
        """By which b has turned more than a [rad].

        Args:
            name: of its columns in the results
            a: first place
            b: second place
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["element"],
        *,
        on: str,
        element: Whole = 0,
        quantity: str | None = None,
    ) -> None:
        """An output of one element of a group, by name: of plane beams `N`, `Q`, `M_p`, `M_q`, `N_p`, `N_q`, `Q_p`, `Q_q`
        (_p at the start, _q at the end, N, Q their means), `strain`; of beams in space `N`, `Vy`, `Vz`, `T`, `My 1`,
        `My 2`, `Mz 1`, `Mz 2`, `N 1` ..., `strain`, `twist` (N pulls, M = EI theta', theory, section 4); of a spring,
        motor
        or bushing: `force` or `moment`, of a bushing `force x`, `displacement x` ..., of a bearing `force u`, `force v`
        (along its two directions), `displacement u`, `displacement v`, `speed`.

        Args:
            name: of its columns in the results
            on: group of elements, or spring, motor or bushing
            element: number of the element in its group, from 0 (default 0)
            quantity: output of the element
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["layer stress"],
        *,
        on: str,
        element: Whole = 0,
        layer: Whole = 1,
        at: Literal["bottom", "middle", "top"] = "middle",
    ) -> None:
        """Stresses 11, 22, 12 of a layer of a shell in the middle of an element, in the axes of the layer [Pa].

        Args:
            name: of its columns in the results
            on: shell; of a part of two kinds of cells one of its groups
            element: number of the element in its group, from 0 (default 0)
            layer: number of the layer, from 1 at the bottom (default 1)
            at: "bottom", "middle" or "top" of the layer (default "middle")
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["stress"],
        *,
        on: str,
        element: Whole | None = None,
        at: Number | None = None,
        along: Number | None = None,
        fibre: str | Vector | None = None,
        component: Literal["normal", "axial", "bending", "xy", "xz", "shear", "torsion", "transverse shear", "von Mises"] = "normal",
    ) -> None:
        """Stress at a fibre of one station of a beam or truss [Pa], from the forces of its section.

        Args:
            name: of its columns in the results
            on: beam or truss
            element: number of the element in its group, from 0 (default 0)
            at: station along the element, from 0 to 1 (default 0.5)
            along: instead of both: station along the line of all elements, from 0 to 1
            fibre: point of the section: a name ("top" is +y, "right" +z, "bottom", "left", "top right" ..., "centre",
                of an I "web top" [m]; those of the shape are in the message of an error), or [y, z] from the beam's
                line (default needed by beams)
            component: "normal": axial and bending, N/A + My z/Iy - Mz y/Iz; "axial": N/A; "bending": without N/A; "xy":
                shear along y, of torque and shear forces; "xz": shear along z; "shear": size of the shear, sqrt(xy^2 +
                xz^2); "torsion": size of the shear of the torque alone; "transverse shear": size of the shear of the
                shear forces alone; "von Mises": sqrt(normal^2 + 3 shear^2) (default "normal")
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["stress envelope"],
        *,
        on: str,
        component: Literal["normal", "axial", "bending", "xy", "xz", "shear", "torsion", "transverse shear", "von Mises"] = "normal",
        fibres: Sequence[str | Vector] | None = None,
        stations: Whole = 3,
    ) -> None:
        """Largest and smallest stress of a beam or truss over all elements, stations and fibres [Pa], and where: number of
        the element, station along it (0 to 1), and the fibre's y and z from the line.

        Args:
            name: of its columns in the results
            on: beam or truss
            component: "normal": axial and bending, N/A + My z/Iy - Mz y/Iz; "axial": N/A; "bending": without N/A; "xy":
                shear along y, of torque and shear forces; "xz": shear along z; "shear": size of the shear, sqrt(xy^2 +
                xz^2); "torsion": size of the shear of the torque alone; "transverse shear": size of the shear of the
                shear forces alone; "von Mises": sqrt(normal^2 + 3 shear^2) (default "normal")
            fibres: list of names or [y, z] as of a stress; else all named ones of the shape, of round ones 72 around
                them (default all)
            stations: number of stations in each element, both ends included (default 3)
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["largest stress"],
        *,
        on: str,
        component: Literal["von Mises", "principal", "compression"] = "von Mises",
    ) -> None:
        """Largest stress at the nodes of a solid, plane part or shell [Pa], as the frames have it (means of the cells at a
        node), and where: number and place of the node at the start; of a shell over the bottom, middle and top of all
        layers, with the number of the layer from 1 at the bottom and the height over the thickness, -1/2 to 1/2.

        Args:
            name: of its columns in the results
            on: solid, plane part or shell
            component: "von Mises": the von Mises stress; "principal": the largest principal stress; "compression": the
                smallest principal stress, of the largest pressure (default "von Mises")
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["largest displacement"],
        *,
        on: Places,
        component: Literal["size", "x", "y", "z"] = "size",
        relative_to: Place | None = None,
    ) -> None:
        """Largest displacement of the nodes of a set or part since the start [m], and where: number of the node and its
        place at the start; relative to a body: from where the body alone would have carried the nodes, in its axes.

        Args:
            name: of its columns in the results
            on: set of nodes, or name of a part
            component: "size", or "x", "y" or "z" with its sign (default "size")
            relative_to: node or body with which the observer moves and turns; else the ground
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["strain"],
        *,
        on: str,
        element: Whole = 0,
    ) -> None:
        """Axial strain of one element.

        Args:
            name: of its columns in the results
            on: group of elements
            element: number of the element in its group, from 0 (default 0)
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["force"],
        *,
        on: str,
        element: Whole = 0,
    ) -> None:
        """Axial force of one element [N].

        Args:
            name: of its columns in the results
            on: group of elements
            element: number of the element in its group, from 0 (default 0)
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["reaction"],
        *,
        on: Place,
    ) -> None:
        """Force and moment [N], [N m] in global axes that supports or motions of a place exert on the model, or what a
        joint, gear, coupling, tie or equation exerts (below).

        Args:
            name: of its columns in the results
            on: place, or name of a joint, gear, coupling, tie or equation
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["contact"],
        *,
        on: str,
        quantity: Literal["force", "friction force", "gap", "touching", "place"] = "force",
    ) -> None:
        """What a contact does, over all that touch in it: the sum of normal forces, of friction forces (their sizes), the
        smallest gap (negative: penetration; nan: nothing is near), the number of elements that press, or, of beams and
        faces that deform, the place where the force is largest: numbers of both parts, and the places on them from 0 to
        1
        (of faces the area coordinates of the second and third corner).

        Args:
            name: of its columns in the results
            on: contact
            quantity: what is measured: "force", "friction force", "gap", "touching", "place" (default "force")
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["tyre"],
        *,
        on: str,
        quantity: Literal["normal force", "longitudinal force", "lateral force", "aligning moment", "slip", "slip angle", "camber", "sliding speed x", "sliding speed y", "loaded radius", "penetration", "deflection x", "deflection y"] = "normal force",
    ) -> None:
        """What a tyre does: forces on the wheel in the frame of the contact (x forward, y = normal x x), the aligning
        moment about the normal, the slips that forces follow (slip kappa, slip angle alpha), camber, the sliding speeds
        of
        the contact, the distance of the centre from the road within the plane of the wheel (loaded radius),
        penetration,
        and with relaxation the deflections of the carcass.

        Args:
            name: of its columns in the results
            on: tyre
            quantity: what is measured: "normal force", "longitudinal force", "lateral force", "aligning moment",
                "slip", "slip angle", "camber", "sliding speed x", "sliding speed y", "loaded radius", "penetration",
                "deflection x", "deflection y" (default "normal force")
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["joint"],
        *,
        on: str,
        quantity: str | None = None,
    ) -> None:
        """Of the joint called so: a coordinate since the start, "angle" or "angle_b" [rad], "displacement" [m] (the first,
        if there is no quantity), or what drives it, "drive moment" [N m], "drive force" [N].

        Args:
            name: of its columns in the results
            on: joint
            quantity: coordinate or driver of the joint
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["drive"],
        *,
        on: str,
    ) -> None:
        """What the motion or driven joint called so does on its coordinate [N], [N m]: positive where it does positive
        work
        as the coordinate grows.

        Args:
            name: of its columns in the results
            on: motion or driven joint
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["lock"],
        *,
        on: str,
        quantity: Literal["force", "coordinate", "speed", "state", "impulse", "limit"] = "force",
    ) -> None:
        """Of the lock or brake called so: its "force" [N], [N m] on the coordinate, positive with its growth (that of a
        brake while it slips, too); the "coordinate" since the start [m], [rad] and its "speed"; its "state": 0 open, 1
        closed, 2 slipping; the sum of the "impulse"s [N s], [N m s] with which it has closed; the "limit" of a brake
        [N], [N m], multiplied by its factor.

        Args:
            name: of its columns in the results
            on: lock
            quantity: quantity of the lock: "force", "coordinate", "speed", "state", "impulse", "limit" (default
                "force")
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["effort"],
        *,
        on: str,
    ) -> None:
        """The force of the motor called so as its function says it, at the ends of steps [N], [N m]: what a path step has
        found, without what gains and limits do.

        Args:
            name: of its columns in the results
            on: motor
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["work"],
        *,
        on: str,
    ) -> None:
        """What the load, motor, driven joint or motion called so has given to the model since the start of the step; a
        damper's is negative, an ideal joint's zero [J].

        Args:
            name: of its columns in the results
            on: load, motor, spring, motion or joint
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["modal"],
        *,
        on: str,
        mode: Whole | None = None,
    ) -> None:
        """Coordinates of a reduced part [m]: of one shape (`mode`, 1 is the lowest), or of all.

        Args:
            name: of its columns in the results
            on: reduced part
            mode: number of a shape, 1 is the lowest
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["state"],
        *,
        on: str,
        state: str | None = None,
    ) -> None:
        """State variables of a motor (`integral`, `filtered`, `actuator`), a hydraulic actuator (`pressure`, `opening`) or
        a user's force: one, or all.

        Args:
            name: of its columns in the results
            on: motor, hydraulic actuator or user's force
            state: name of the state variable (default all)
        """

    @overload
    def sensor(
        self,
        name: str,
        kind: Literal["energy"],
        *,
        quantity: Literal["kinetic", "strain", "potential", "dissipated", "load work", "driver work", "closing error", "total"] = "total",
    ) -> None:
        """"total" (kinetic, strain and potential), or a column of the energy ledger [J]; works and losses since the start
        of the step.

        Args:
            name: of its columns in the results
            quantity: one of: "kinetic", "strain", "potential", "dissipated", "load work", "driver work", "closing
                error", "total" (default "total")
        """

    @overload
    def grid(
        self,
        name: str,
        shape: Literal["rectangle"],
        *,
        size: Vector,
        n: Sequence[Whole] | NDArray[Any],
        start: Vector = ...,
        kind: Literal["triangle", "triangle6", "quad", "quad8"] = "quad",
        grading: Number | Vector | Rows = 1.0,
    ) -> None:
        """Plane cells in a rectangle along x and y.

        Args:
            size: width and height [m]
            n: numbers of cells along x and y
            start: lower left corner [m] (default [0.0, 0.0])
            kind: of the cells: "triangle", "triangle6", "quad", "quad8" (default "quad")
            grading: length of the last cell by that of the first: one ratio, or one for each direction (default 1.0)
        """

    @overload
    def grid(
        self,
        name: str,
        shape: Literal["patch"],
        *,
        corners: Rows,
        n: Sequence[Whole] | NDArray[Any],
        kind: Literal["triangle", "triangle6", "quad", "quad8"] = "quad",
        grading: Number | Vector | Rows = 1.0,
        edges: Mapping[str, Rows] | None = None,
    ) -> None:
        """Plane cells between four edges.

        Args:
            corners: four, in turn [m]; bottom goes from the first to the second
            n: numbers of cells along bottom and left
            kind: of the cells: "triangle", "triangle6", "quad", "quad8" (default "quad")
            grading: length of the last cell by that of the first: one ratio, or one for each direction (default 1.0)
            edges: points inside of curved edges, by "bottom", "right", "top", "left" (left to right, upwards) [m]; one:
                an arc of a circle, several: a cubic spline (default straight)
        """

    @overload
    def grid(
        self,
        name: str,
        shape: Literal["box"],
        *,
        size: Vector,
        n: Sequence[Whole] | NDArray[Any],
        start: Vector = ...,
        kind: Literal["tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15"] = "hexahedron",
        grading: Number | Vector | Rows = 1.0,
    ) -> None:
        """Solid cells in a box along x, y and z.

        Args:
            size: lengths along x, y and z [m]
            n: numbers of cells along x, y and z
            start: corner of the smallest coordinates [m] (default [0.0, 0.0, 0.0])
            kind: of the cells: "tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15" (default
                "hexahedron")
            grading: length of the last cell by that of the first: one ratio, or one for each direction (default 1.0)
        """

    @overload
    def grid(
        self,
        name: str,
        shape: Literal["block"],
        *,
        corners: Rows,
        n: Sequence[Whole] | NDArray[Any],
        kind: Literal["tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15"] = "hexahedron",
        grading: Number | Vector | Rows = 1.0,
    ) -> None:
        """Solid cells between eight corners.

        Args:
            corners: four of the bottom, counter-clockwise from above, and those above them [m]
            n: numbers of cells from the first corner to the second, to the fourth, to the fifth
            kind: of the cells: "tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15" (default
                "hexahedron")
            grading: length of the last cell by that of the first: one ratio, or one for each direction (default 1.0)
        """

    @overload
    def grid(
        self,
        name: str,
        shape: Literal["ring"],
        *,
        radii: Vector,
        n: Sequence[Whole] | NDArray[Any],
        angles: Vector = ...,
        height: Number | None = None,
        center: Vector = ...,
        normal: Vector = ...,
        kind: Literal["triangle", "triangle6", "quad", "quad8", "tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15"] | None = None,
        grading: Number | Vector | Rows = 1.0,
    ) -> None:
        """A sector of an annulus, or with a height of a hollow cylinder.

        Args:
            radii: inner and outer radius [m]
            n: numbers of cells along the radius, around, and along the height
            angles: first and last angle [deg]; 360 apart: a whole ring (default [0.0, 360.0])
            height: of solid cells, along the normal [m] (default plane cells)
            center: centre of the bottom [m] (default [0.0, 0.0])
            normal: axis (default [0.0, 0.0, 1.0])
            kind: of the cells, as of rectangle or box: "triangle", "triangle6", "quad", "quad8", "tetra", "tetra10",
                "hexahedron", "hexahedron20", "wedge", "wedge15" (default "quad" or "hexahedron")
            grading: length of the last cell by that of the first: one ratio, or one for each direction (default 1.0)
        """

    @overload
    def grid(
        self,
        name: str,
        shape: Literal["tube"],
        *,
        radius: Number,
        height: Number,
        n: Sequence[Whole] | NDArray[Any],
        angles: Vector = ...,
        center: Vector = ...,
        normal: Vector = ...,
        kind: Literal["triangle", "triangle6", "quad", "quad8"] = "quad",
        grading: Number | Vector | Rows = 1.0,
    ) -> None:
        """A sector of the surface of a cylinder, for shells; normals point outwards.

        Args:
            radius: [m]
            height: along the normal [m]
            n: numbers of cells around and along the height
            angles: first and last angle [deg]; 360 apart: a whole tube (default [0.0, 360.0])
            center: centre of the bottom [m] (default [0.0, 0.0, 0.0])
            normal: axis (default [0.0, 0.0, 1.0])
            kind: of the cells: "triangle", "triangle6", "quad", "quad8" (default "quad")
            grading: length of the last cell by that of the first: one ratio, or one for each direction (default 1.0)
        """

    def transient_step(
        self,
        duration: Number,
        h: Number,
        name: str = "transient",
        *,
        rule: Literal["midpoint", "decaying", "generalised-alpha", "hht", "newmark", "explicit", "hamiltonian"] = "midpoint",
        frames: Whole = 100,
        restarts: Whole | None = None,
        adaptive: Number = 0.0,
        eigenvalues: Along | AlongTable | None = None,
        energy_tolerance: Number = 0.0,
        supports: str | Sequence[str] = "",
        decay: Number = 0.1,
        beta: Number = 0.25,
        gamma: Number = 0.5,
        alpha: Number = -0.1,
        rho_inf: Number = 0.8,
        rtol: Number = 1e-12,
        ctol: Number = 1e-14,
        max_iterations: Whole = 25,
        newton: Literal["chord", "full"] = "chord",
        predictor: Literal["none", "velocity", "increment", "extrapolation"] = "extrapolation",
        halvings: Whole = 10,
        solver: Literal["auto", "cholmod", "superlu"] = "auto",
    ) -> None:
        """Add a transient of ``duration`` [s] in steps of h.

        Args:
            name: of the step, in messages and results (default "transient")
            duration: of the step [s]
            h: time step [s]; the duration is a whole number of them
            rule: integration rule, one of the list below: "midpoint", "decaying", "generalised-alpha", "hht",
                "newmark", "explicit", "hamiltonian" (default "midpoint")
            frames: states kept for pictures and ParaView, evenly spread; 0: none (default 100)
            restarts: points from which `fem-mbs run --restart` can continue, evenly spread, kept in the results; not
                given: 20 while the run goes on, for a run into a folder that is interrupted (none with events or
                adaptive steps); 0: none
            adaptive: largest local error of a step: displacements over the model's length, rotations in radians; h is
                then the first step, and the interval of the results; 0: all steps are h (default 0.0)
            eigenvalues: complex modes along it, a table {every = 10, count = 5}: every so many steps, increments or
                points that many modes; also `near`, `which`, `reach`, `check` as of `complex_modes`
            energy_tolerance: accuracy to which a step is iterated: the error of the energy over the energy that parts
                and loads exchange; 0: to round-off. The notes below say more (default 0.0)
            supports: groups of `[[support]]`, `[[motion]]` and `[[pretension]]` that hold in this step. What the
                nonlinear step before has held and this one lacks is released at once, without work; what this one takes
                on stops velocities as a plastic blow, whose energy is work of drivers (default none)
            decay: of `rule = "decaying"`: a in sigma = S [(1/2 + a) e_1 + (1/2 - a) e_0], 0 (the mid-point rule) to 1
                (default 0.1)
            beta: of Newmark's rule, 1/12 to 1 (default 0.25)
            gamma: of Newmark's rule, 1/2 to 1 (default 0.5)
            alpha: of `rule = "hht"`: -1/3 (most damping) to 0 (none: Newmark's average acceleration) (default -0.1)
            rho_inf: of `rule = "generalised-alpha"`: spectral radius at infinite frequency, 0 (most damping) to 1
                (default 0.8)
            rtol: largest residual over the largest element contribution of its kind, at most 1e-3 (default 1e-12)
            ctol: constraint error over the length of the model, at most 1e-6 (default 1e-14)
            max_iterations: of Newton-Raphson in a step (default 25)
            newton: "chord" (one tangent per step while it contracts well) or "full" (default "chord")
            predictor: "none", "velocity", "increment" or "extrapolation" (default "extrapolation")
            halvings: how often a step that does not converge is halved (default 10)
            solver: "auto", "cholmod" or "superlu", of models that are not banded (default "auto")
        """

    def inverse_step(
        self,
        duration: Number,
        h: Number,
        name: str = "inverse",
        *,
        dynamic: bool = True,
        frames: Whole = 100,
        restarts: Whole | None = None,
        eigenvalues: Along | AlongTable | None = None,
        rtol: Number = 1e-12,
        ctol: Number = 1e-14,
        max_iterations: Whole = 25,
        newton: Literal["chord", "full"] = "chord",
        predictor: Literal["none", "velocity", "increment", "extrapolation"] = "extrapolation",
        halvings: Whole = 10,
        solver: Literal["auto", "cholmod", "superlu"] = "auto",
    ) -> None:
        """Add inverse dynamics: the forces of motions and driven joints that produce their prescribed motion, over
        ``duration`` [s] in steps of h.  Every driver so far gets a sensor "drive NAME", unless one looks at it
        already.

        Args:
            name: of the step, in messages and results (default "inverse")
            duration: of the step [s]
            h: time step [s]; the duration is a whole number of them
            dynamic: false: quasi-static, an equilibrium at every time without inertia (default true)
            frames: states kept for pictures and ParaView, evenly spread; 0: none (default 100)
            restarts: points from which `fem-mbs run --restart` can continue, evenly spread, kept in the results; not
                given: 20 while the run goes on, for a run into a folder that is interrupted (none with events or
                adaptive steps); 0: none
            eigenvalues: complex modes along it, a table {every = 10, count = 5}: every so many steps, increments or
                points that many modes; also `near`, `which`, `reach`, `check` as of `complex_modes`
            rtol: largest residual over the largest element contribution of its kind, at most 1e-3 (default 1e-12)
            ctol: constraint error over the length of the model, at most 1e-6 (default 1e-14)
            max_iterations: of Newton-Raphson in a step (default 25)
            newton: "chord" (one tangent per step while it contracts well) or "full" (default "chord")
            predictor: "none", "velocity", "increment" or "extrapolation" (default "extrapolation")
            halvings: how often a step that does not converge is halved (default 10)
            solver: "auto", "cholmod" or "superlu", of models that are not banded (default "auto")
        """

    def inverse_path_step(
        self,
        duration: Number,
        h: Number,
        name: str = "inverse path",
        *,
        outputs: Mapping[str, Any],
        efforts: str | Sequence[str],
        before: Number | None = None,
        after: Number | None = None,
        tolerance: Number = 0.0001,
        runs: Whole = 25,
        frames: Whole = 100,
        restarts: Whole | None = None,
        rtol: Number = 1e-12,
        ctol: Number = 1e-14,
        max_iterations: Whole = 25,
        newton: Literal["chord", "full"] = "chord",
        predictor: Literal["none", "velocity", "increment", "extrapolation"] = "extrapolation",
        halvings: Whole = 10,
        solver: Literal["auto", "cholmod", "superlu"] = "auto",
    ) -> None:
        """Add inverse dynamics of a path: the efforts on joints that move ``outputs``, columns of sensors, along a
        path of ``duration`` [s], in steps of h, with pre-action and post-action where they need it.  Every effort
        gets a motor and a sensor "effort JOINT".

        Args:
            name: of the step, in messages and results (default "inverse path")
            outputs: columns of sensors of positions, displacements and angles, each with the function of its change
                since the step began, of the time since the path began; from rest to rest
            efforts: joints without drivers on whose coordinates the efforts act, "JOINT" or "JOINT.COORDINATE"; as many
                as outputs
            duration: of the step [s]
            h: time step [s]; the duration is a whole number of them
            before: time before the path in which efforts may act [s] (default 10 h, and as long as growing zeros need)
            after: time after the path in which efforts go on [s] (default as long as decaying zeros need)
            tolerance: largest error of an output over the size of its path (default 0.0001)
            runs: forward runs until the outputs follow the path (default 25)
            frames: states kept for pictures and ParaView, evenly spread; 0: none (default 100)
            restarts: points from which `fem-mbs run --restart` can continue, evenly spread, kept in the results; not
                given: 20 while the run goes on, for a run into a folder that is interrupted (none with events or
                adaptive steps); 0: none
            rtol: largest residual over the largest element contribution of its kind, at most 1e-3 (default 1e-12)
            ctol: constraint error over the length of the model, at most 1e-6 (default 1e-14)
            max_iterations: of Newton-Raphson in a step (default 25)
            newton: "chord" (one tangent per step while it contracts well) or "full" (default "chord")
            predictor: "none", "velocity", "increment" or "extrapolation" (default "extrapolation")
            halvings: how often a step that does not converge is halved (default 10)
            solver: "auto", "cholmod" or "superlu", of models that are not banded (default "auto")
        """

    def static_step(
        self,
        increments: Whole = 1,
        name: str = "static",
        *,
        duration: Number = 0.0,
        ramp: bool = True,
        vary: str | Sequence[str] = "all",
        until: Number = 1.0,
        control: Literal["load", "displacement", "arc"] = "load",
        on: str = "",
        component: str = "",
        displacement: Number = 0.0,
        size: Number = 0.0,
        largest: Number = 0.0,
        spherical: Number = 0.0,
        points: Whole = 200,
        stability: bool = False,
        tolerance: Number = 1e-06,
        branch: Whole = 0,
        branch_size: Number = 0.01,
        line_search: bool = False,
        eigenvalues: Along | AlongTable | None = None,
        supports: str | Sequence[str] = "",
        rtol: Number = 1e-12,
        ctol: Number = 1e-14,
        max_iterations: Whole = 25,
        newton: Literal["chord", "full"] = "chord",
        predictor: Literal["none", "velocity", "increment", "extrapolation"] = "extrapolation",
        halvings: Whole = 10,
        solver: Literal["auto", "cholmod", "superlu"] = "auto",
    ) -> None:
        """Add a static equilibrium at the present time, reached in load increments; with ``duration`` [s], at times
        that pass over them, all loads, motions and equations following their functions.

        Args:
            name: of the step, in messages and results (default "static")
            increments: of load or displacement control, cut where Newton-Raphson does not converge; of arc length: so
                many steps at least to reach `until` (default 1)
            duration: that passes over the increments: all that `vary` does not name follows its function of time (loads
                act in full), and the next step goes on from its end [s]; 0: none (default 0.0)
            ramp: false: the loads act at once (default true)
            vary: "all" loads (and gravity, under that name), or a list of loads, motions and equations, which the load
                factor multiplies; loads that no step has varied do not act yet; with a duration none, if not given
                (default "all")
            until: load factor at the end; inf, along an arc: that after `points` (default 1.0)
            control: "load", "displacement" or "arc" (arc length) (default "load")
            on: place of the displacement that is controlled, or that ends the path (default "")
            component: "x", "y" or "z" of it (default "")
            displacement: its value at the end [m] (default 0.0)
            size: first arc length: displacements over the model's size and rotations, root of the sum of squares; 0:
                1/50 (default 0.0)
            largest: arc length; 0: ten times the first (default 0.0)
            spherical: weight of the load factor in the arc length; 0: cylindrical (default 0.0)
            points: of a path, at most (default 200)
            stability: count negative eigenvalues in every point, find limit points, bifurcations and jumps (default
                false)
            tolerance: of the load factor of critical points, relative (default 1e-06)
            branch: number of the bifurcation or jump from which the path follows the other branch; 0: none (default 0)
            branch_size: first step onto the branch, as `size`; negative: to the other side (default 0.01)
            line_search: in every iteration; else only after a failure (default false)
            eigenvalues: complex modes along it, a table {every = 10, count = 5}: every so many steps, increments or
                points that many modes; also `near`, `which`, `reach`, `check` as of `complex_modes`
            supports: groups of `[[support]]`, `[[motion]]` and `[[pretension]]` that hold in this step. What the
                nonlinear step before has held and this one lacks is released: its reactions fade over the step in
                proportion (default none)
            rtol: largest residual over the largest element contribution of its kind, at most 1e-3 (default 1e-12)
            ctol: constraint error over the length of the model, at most 1e-6 (default 1e-14)
            max_iterations: of Newton-Raphson in a step (default 25)
            newton: "chord" (one tangent per step while it contracts well) or "full" (default "chord")
            predictor: "none", "velocity", "increment" or "extrapolation" (default "extrapolation")
            halvings: how often a step that does not converge is halved (default 10)
            solver: "auto", "cholmod" or "superlu", of models that are not banded (default "auto")
        """

    def steady_running_step(
        self,
        efforts: str | Sequence[str] = "",
        name: str = "steady running",
    ) -> None:
        """Add the steady motion of the running start of the model, straight ahead or in a curve, under all forces,
        also those that depend on velocities; the functions of ``efforts`` get the values that keep it steady.

        Args:
            name: of the step, in messages and results (default "steady running")
            efforts: motors, loads and driven joints whose functions get the constant values that keep the motion
                steady, at most 3: the first balances the forces along the way, the second those across it (steering),
                the third those along the normal of both (default none)
        """

    def linear_static_step(
        self,
        name: str = "linear static",
        *,
        loads: str | Sequence[str] = "all",
        time: Number | None = None,
        without: str | Sequence[str] = "",
        duration: Number = 0.0,
        report: Literal["total", "increment"] = "total",
        supports: str | Sequence[str] = "",
        preload: str = "",
    ) -> None:
        """Add linear statics: small displacements about the state that the steps before have left (at first: the
        start), which stays as it is; with a ``duration`` [s] time goes on.

        Args:
            name: of the step, in messages and results (default "linear static")
            loads: "all", or a list of loads (and "gravity"), motions and references of controllers ("MOTOR.reference"):
                they act in addition to what the state carries (default "all")
            time: at which functions are taken, else the present time [s]; loads that the state carries change to their
                values there as well, whether `loads` names them or not
            without: names of `[[equation]]` and `[[tie]]` that do not act in this step (default none)
            duration: that passes: functions are taken at its end, where the next step begins [s]; loads that the state
                carries change to their values there as well, whether `loads` names them or not; 0: none (default 0.0)
            report: "total" (sensors, frames and prints are those of the state and the step together) or "increment"
                (what the step adds to the state alone) (default "total")
            supports: groups of `[[support]]` that hold in this step besides those without a group, and `[[pretension]]`
                that it locks (default none)
            preload: name of a linear static step before, about whose displaced place the step is linear, with its
                stresses and loads, which stay constant (default "")
        """

    def linear_transient_step(
        self,
        duration: Number,
        h: Number,
        name: str = "linear transient",
        *,
        alpha: Number = -0.05,
        rule: Literal["midpoint", "newmark", "hht", "generalised-alpha"] = "midpoint",
        loads: str | Sequence[str] = "all",
        time: Number | None = None,
        start: str = "",
        report: Literal["total", "increment"] = "total",
        supports: str | Sequence[str] = "",
        without: str | Sequence[str] = "",
        modes: Whole | None = None,
        damping: Number | Vector | Rows | None = None,
        rayleigh: Vector | None = None,
        frames: Whole = 100,
        beta: Number = 0.25,
        gamma: Number = 0.5,
        rho_inf: Number = 0.8,
        preload: str = "",
    ) -> None:
        """Add a linear transient: small motions about the state that the steps before have left, which stays as it is;
        time goes on.  After a transient they begin with the velocities that this has left, without ``start``.

        Args:
            name: of the step, in messages and results (default "linear transient")
            duration: of the step [s]
            h: time step [s]; the duration is a whole number of them
            alpha: of `rule = "hht"`: -1/3 (most damping) to 0 (none); half of the default of a transient, -0.1, since
                eliminated constraints have no oscillating multipliers that it must damp (default -0.05)
            rule: integration rule, one of the list below: "midpoint", "newmark", "hht", "generalised-alpha" (default
                "midpoint")
            loads: "all", or a list of loads (and "gravity"), motions and references of controllers ("MOTOR.reference"):
                they act in addition to what the state carries (default "all")
            time: at which it starts and functions are taken, else the present time [s]
            start: name of a linear static step or linear transient before, from whose end it goes on: displacements, of
                a transient velocities too; after a static step it is at rest but for given velocities and what is
                driven (default "")
            report: "total" (sensors, frames and prints are those of the state and the step together) or "increment"
                (what the step adds to the state alone) (default "total")
            supports: groups of `[[support]]` and `[[pretension]]` that hold in this step, those with `present` where
                `start` has left them; what `start` has held and this one lacks is released at once (default none)
            without: names of `[[equation]]` and `[[tie]]` that do not act in this step (default none)
            modes: by so many of the lowest modes alone, each integrated exactly under loads linear over the time steps;
                `rule` then has no meaning. What further modes would add, static deflections too, is left out
            damping: ratio of all modes, or a list of ratios, its last one for all further modes; with `modes`
            rayleigh: alpha and beta: damping alpha + beta w^2 of modes with the circular frequencies w, added to
                `damping` [1/s, s]; with `modes`
            frames: states kept for pictures and ParaView, evenly spread; 0: none (default 100)
            beta: of Newmark's rule, 1/12 to 1 (default 0.25)
            gamma: of Newmark's rule, 1/2 to 1 (default 0.5)
            rho_inf: of `rule = "generalised-alpha"`: spectral radius at infinite frequency, 0 (most damping) to 1
                (default 0.8)
            preload: name of a linear static step before, about whose displaced place the step is linear, with its
                stresses and loads, which stay constant (default "")
        """

    def modes_step(
        self,
        count: Whole = 10,
        name: str = "modes",
        *,
        without: str | Sequence[str] = "",
        near: Number | None = None,
        band: Vector | None = None,
        within: Vector | None = None,
        check: Literal["none", "probe", "inertia"] = "probe",
        component_cutoff: Number | None = None,
        masters: Sequence[Mapping[str, Any]] | None = None,
        held_modes: Whole = 0,
        supports: str | Sequence[str] = "",
        preload: str = "",
    ) -> None:
        """Add undamped modes about the state that the steps before have left (at first: the start): the ``count``
        lowest, or with ``near`` [Hz] those of the nearest squares of frequencies, or all of a ``band`` (low, high)
        [Hz].

        Args:
            name: of the step, in messages and results (default "modes")
            count: of modes (default 10)
            without: names of `[[equation]]` and `[[tie]]` that do not act in this step (default none)
            near: frequency that the modes are to be nearest to, by the squares of frequencies, else the lowest [Hz]
            band: [low, high]: all modes between them, proved to be complete [Hz]; `count` does not matter
            within: [low, high]: of the modes found only those between them are kept [Hz]; `left_out` of the summary
                counts the others
            check: "probe" (look from another start for what was missed), "inertia" (count them by a factorisation) or
                "none" (default "probe")
            component_cutoff: by synthesis of the `[[component]]`s, whose elastic modes up to this frequency are kept
                (where they say nothing else) [Hz]; about the start, without loads; none: of the whole model
            masters: {on = place, components = [...]}: displacements that keep their inertia and carry that of all
                others, which follow them as in statics (Guyan) (default none: no reduction)
            held_modes: of a reduction to `masters`: lowest modes with these held that are kept besides (Craig, Bampton)
                (default 0)
            supports: groups of `[[support]]` that hold in this step besides those without a group, and `[[pretension]]`
                that it locks (default none)
            preload: name of a linear static step before, about whose displaced place the step is linear, with its
                stresses and loads, which stay constant (default "")
        """

    def cyclic_modes_step(
        self,
        count: Whole = 10,
        name: str = "cyclic modes",
        *,
        nodal_diameters: Sequence[Whole] | NDArray[Any] | None = None,
        check: Literal["probe", "none"] = "probe",
        supports: str | Sequence[str] = "",
        preload: str = "",
    ) -> None:
        """Add undamped modes of a wheel by nodal diameters, from one sector with a `cyclic_symmetry`, about the state
        that the steps before have left (at first: the start): the ``count`` lowest of each of ``nodal_diameters``.

        Args:
            name: of the step, in messages and results (default "cyclic modes")
            count: of modes of each nodal diameter; waves in both directions are one (default 10)
            nodal_diameters: those wanted, from 0 to half of the sectors (default all, from 0 to half of the sectors)
            check: "probe" (look from another start for what was missed) or "none" (default "probe")
            supports: groups of `[[support]]` that hold in this step besides those without a group, and `[[pretension]]`
                that it locks (default none)
            preload: name of a linear static step before, about whose displaced place the step is linear, with its
                stresses and loads, which stay constant (default "")
        """

    def buckling_step(
        self,
        count: Whole = 4,
        *,
        name: str = "buckling",
        loads: str | Sequence[str] = "all",
        sign: Literal["both", "positive", "negative"] = "both",
        check: bool = False,
        supports: str | Sequence[str] = "",
        preload: str = "",
    ) -> None:
        """Add linear buckling about the state that the steps before have left: factors of smallest magnitude by which
        ``loads`` must be added for the model to lose its stability.

        Args:
            name: of the step, in messages and results (default "buckling")
            count: of load factors (default 4)
            loads: "all", or a list of loads (and "gravity"): they act in addition to what the state carries, and grow
                until the model buckles (default "all")
            sign: "both", "positive" or "negative" factors (default "both")
            check: count the factors by the inertia (default false)
            supports: groups of `[[support]]` that hold in this step besides those without a group, and `[[pretension]]`
                that it locks (default none)
            preload: name of a linear static step before, about whose displaced place the step is linear, with its
                stresses and loads, which stay constant (default "")
        """

    def campbell_step(
        self,
        rotor: str,
        speeds: Vector | Mapping[str, Any],
        count: Whole = 6,
        name: str = "campbell",
        *,
        orders: Number | Vector | Rows | None = None,
        frame: Literal["auto", "fixed", "rotating", "multi-blade", "periodic"] = "auto",
        harmonics: Whole | None = None,
    ) -> None:
        """Add a Campbell diagram: eigenvalues of a rotor over its speed, about the steady rotation next to the state
        that the steps before have left: branches, senses of whirl, critical speeds.

        Args:
            name: of the step, in messages and results (default "campbell")
            rotor: name of the rotor that turns
            speeds: an increasing list, or {start, end, n}, n equal intervals [rad/s]
            count: of modes to follow, the lowest that oscillate (default 6)
            orders: list of k, for critical speeds where a mode oscillates k times per turn; none: unbalance, [1] in the
                fixed frame and [0] in the rotating one
            frame: in which small motions are seen: "fixed", "rotating" or "multi-blade" (Coleman coordinates of three
                or more equal blades); their coefficients must be constant there; "auto" takes the first for which they
                are; "periodic": by harmonics of the turn of the rotor, where no frame makes them constant (two blades,
                unequal blades) (default "auto")
            harmonics: of the turn of the rotor in the motions, of frame = "periodic" (default as many as needed)
        """

    def unbalance_step(
        self,
        rotor: str,
        speeds: Vector | Mapping[str, Any],
        unbalances: Sequence[Mapping[str, Any]],
        name: str = "unbalance",
        *,
        at: Places | None = None,
        frame: Literal["auto", "fixed", "rotating", "multi-blade", "periodic"] = "auto",
    ) -> None:
        """Add a steady response to unbalances over the speed, about the steady rotation next to the state that the
        steps before have left.

        Args:
            name: of the step, in messages and results (default "unbalance")
            unbalances: list of {at, amount, phase}: a place, mass times distance from the axis, and angle about the
                axis, from y for an axis along x, z for y, x for z [kg m and rad]; all act together
            rotor: name of the rotor that turns
            speeds: an increasing list, or {start, end, n}, n equal intervals [rad/s]
            at: places whose displacements are wanted; none: those of the unbalances
            frame: in which small motions are seen: "fixed", "rotating" or "multi-blade" (Coleman coordinates of three
                or more equal blades); their coefficients must be constant there; "auto" takes the first for which they
                are; "periodic": by harmonics of the turn of the rotor, where no frame makes them constant (two blades,
                unequal blades) (default "auto")
        """

    def complex_modes_step(
        self,
        count: Whole = 6,
        name: str = "complex modes",
        *,
        frame: Literal["auto", "fixed", "rotating", "multi-blade", "periodic"] = "auto",
        harmonics: Whole | None = None,
        coriolis: bool = False,
        basis: str = "",
        preload: str = "",
        rotor: str = "",
        speed: Number | None = None,
        near: Number | Vector = 0.0,
        which: Literal["nearest", "rightmost"] = "nearest",
        reach: Number | None = None,
        shift: Number | Vector | None = None,
        check: Literal["none", "probe"] = "probe",
    ) -> None:
        """Add damped, gyroscopic and unstable modes exp(p t), p = real + i imaginary [1/s], about the state that the
        steps before have left, at rest or in motion; with a ``rotor``, about the state in which it turns steadily
        with ``speed`` [rad/s] (None: as it does there).

        Args:
            name: of the step, in messages and results (default "complex modes")
            frame: in which small motions are seen: "fixed", "rotating" or "multi-blade" (Coleman coordinates of three
                or more equal blades); their coefficients must be constant there; "auto" takes the first for which they
                are; "periodic": by harmonics of the turn of the rotor, where no frame makes them constant (two blades,
                unequal blades) (default "auto")
            harmonics: of the turn of the rotor in the motions, of frame = "periodic" (default as many as needed)
            coriolis: at rest in the frame of a centrifugal load: with its Coriolis forces (default false)
            basis: name of a modal step before, whose shapes alone span the motions (as CalculiX does); none: all
                motions (default "")
            preload: name of a linear static step before, about whose displaced place the step is linear, with its
                stresses and loads, which stay constant (default "")
            rotor: name of the rotor that turns (default "")
            speed: of the rotor, else the one that it has in the state [rad/s]
            count: of modes; a conjugate pair is one, rigid-body motions come in addition (default 6)
            near: frequency that they are to be nearest to, 0: the lowest, or [real, imaginary], the eigenvalue p of
                exp(p t) [Hz or 1/s] (default 0.0)
            which: "nearest", or "rightmost": the largest real parts (default "nearest")
            reach: frequency up to which those of `which = "rightmost"` are sought, else those of the 2 count + 10
                lowest [Hz]
            shift: where the matrices are factored, or [real, imaginary] [1/s]; else near `near`
            check: "probe" (look from another start for copies of multiple eigenvalues) or "none" (default "probe")
        """

    def linearise_step(
        self,
        name: str = "linearise",
        *,
        inputs: str | Sequence[str] = ...,
        sensors: str | Sequence[str] = ...,
        form: Literal["state space", "descriptor"] = "state space",
        rotor: str = "",
        speed: Number | None = None,
        frame: Literal["auto", "fixed", "rotating", "multi-blade"] = "auto",
    ) -> None:
        """Write the matrices of small motions about the state that the steps before have left to matrices_NAME.npz;
        with ``inputs`` and ``sensors`` also a state-space model, or its ``form`` "descriptor" with constraints, to
        state_space_NAME.npz.  In Python see `fem_mbs.linearise`.

        Args:
            name: of the step, in messages and results (default "linearise")
            inputs: names of loads (and "gravity"), motions, driven joints, motors and references of controllers
                ("MOTOR.reference") that drive a state-space model (default [])
            sensors: names of the sensors that are its outputs, with ' or '' for their derivatives by time (default [])
            form: "state space": dense, of minimal coordinates; "descriptor": sparse, with constraints (default "state
                space")
            rotor: name of the rotor that turns (default "")
            speed: of the rotor, else the one that it has in the state [rad/s]
            frame: in which small motions are seen: "fixed", "rotating" or "multi-blade" (Coleman coordinates of three
                or more equal blades); their coefficients must be constant there; "auto" takes the first for which they
                are (default "auto")
        """

    def stability_map_step(
        self,
        parameters: Sequence[Mapping[str, Any]],
        count: Whole = 6,
        name: str = "stability map",
        *,
        check: Literal["none", "probe"] = "none",
        frame: Literal["auto", "fixed", "rotating", "multi-blade", "periodic"] = "auto",
        harmonics: Whole | None = None,
        refine: Whole = 0,
        what: Literal["growth", "frequency"] = "growth",
        rotor: str = "",
        speed: Number | None = None,
        near: Number | Vector = 0.0,
        which: Literal["nearest", "rightmost"] = "nearest",
        reach: Number | None = None,
        shift: Number | Vector | None = None,
    ) -> None:
        """Add a stability map: largest growth rate and its frequency over one or two parameters; the steps before are
        made anew at every point, and small motions are about the state that they leave (`complex_modes_step`).

        Args:
            name: of the step, in messages and results (default "stability map")
            parameters: one or two tables: `values` (rising), and `load` (a name, a list or "all": factors), `rotor`
                (speeds), or `element` and `number` (a number of elements as their type calls it: stiffness, damping,
                mass_damping, coefficient ... [speeds: rad/s]; with `factor = true` values multiply it); `name` for
                figures
            check: "none", or "probe" (look for copies of multiple eigenvalues) (default "none")
            frame: in which small motions are seen: "fixed", "rotating" or "multi-blade" (Coleman coordinates of three
                or more equal blades); their coefficients must be constant there; "auto" takes the first for which they
                are; "periodic": by harmonics of the turn of the rotor, where no frame makes them constant (two blades,
                unequal blades) (default "auto")
            harmonics: of the turn of the rotor in the motions, of frame = "periodic" (default as many as needed)
            refine: so many times intervals in which stability is lost are halved: `boundary` of the summary (default 0)
            what: "growth" or "frequency": what figures show (default "growth")
            rotor: name of the rotor that turns (default "")
            speed: of the rotor, else the one that it has in the state [rad/s]
            count: of modes; a conjugate pair is one, rigid-body motions come in addition (default 6)
            near: frequency that they are to be nearest to, 0: the lowest, or [real, imaginary], the eigenvalue p of
                exp(p t) [Hz or 1/s] (default 0.0)
            which: "nearest", or "rightmost": the largest real parts (default "nearest")
            reach: frequency up to which those of `which = "rightmost"` are sought, else those of the 2 count + 10
                lowest [Hz]
            shift: where the matrices are factored, or [real, imaginary] [1/s]; else near `near`
        """

    def harmonic_step(
        self,
        frequencies: Vector | Mapping[str, Any],
        name: str = "harmonic",
        *,
        loads: str | Sequence[str] = "all",
        amplitudes: Mapping[str, Any] | None = None,
        phases: Mapping[str, Any] | None = None,
        spectra: Mapping[str, Any] | None = None,
        method: Literal["auto", "direct", "modal"] = "auto",
        modes: Whole | None = None,
        cutoff: Number | None = None,
        damping: Number | Vector | Rows | None = None,
        rayleigh: Vector | None = None,
        structural: Number = 0.0,
        coriolis: bool = False,
        intervals: Mapping[str, Any] | None = None,
        residual: bool = True,
        frames: Whole = 20,
        time: Number | None = None,
        preload: str = "",
    ) -> None:
        """Add a harmonic response: steady vibrations Re(u exp(i 2 pi f t)) about the state that the steps before have
        left, at each of ``frequencies`` f [Hz].  A load shakes with the amplitude that its time function has at
        ``time`` [s], or that ``amplitudes`` {name: value} gives, as amplitude cos(2 pi f t + phase), by ``phases``
        {name: degrees}; ``spectra`` {name: [[f, amplitude, phase], ...]} change with the
        frequency; loads of the steps before stay as they are.

        Args:
            name: of the step, in messages and results (default "harmonic")
            frequencies: a rising list, or {start, end, n, spacing}, n intervals, equal ("linear") or of equal ratio
                ("log") [Hz]
            loads: "all" (but gravity and centrifugal loads), or a list of loads, "gravity", motions, driven joints,
                base excitations and references of controllers ("MOTOR.reference", with an amplitude where position = 0)
                (default "all")
            amplitudes: values that the functions of loads have as amplitudes, by their names (of gravity: a factor; of
                what is given by an acceleration or speed: of that; of a centrifugal load: of the square of the speed);
                of those it does not name the function's value at `time`
            phases: table of phases by the names of loads: amplitude cos(2 pi f t + phase) [degrees]; others have none
            spectra: amplitudes that change with the frequency, by the names of loads: rows [frequency, amplitude,
                phase], or without phase, amplitude and phase linear between them [Hz, degrees]; instead of `amplitudes`
                and `phases`
            method: "direct" (a factorisation per frequency), "modal", or "auto": modal for large models without damping
                or where one of the keys of modes is given (default "auto")
            modes: so many of the lowest, instead of `cutoff`
            cutoff: all modes up to this frequency are taken, beyond it the static deflections of the loads [Hz]; none:
                twice the highest frequency
            damping: ratio of all modes, or a list of ratios, its last one for all further modes
            rayleigh: alpha and beta: damping alpha + beta w^2 of modes with the circular frequencies w, added to
                `damping` [1/s, s]
            structural: loss factor eta of the stiffness, K (1 + i eta) (default 0.0)
            coriolis: in the frame of a centrifugal load: with its Coriolis forces (default false)
            intervals: table {n, bias}: of `frequencies` the first and the last one count, and there are n in each
                interval between them and the natural ones, the ends included; a bias above 1 (by default 3) draws them
                to the ends; by modes only
            residual: whether modes are joined by static deflections of the loads; those of what is prescribed always
                are (default true)
            frames: shapes kept, evenly spread over the frequencies, in the size that they have; 0: none (default 20)
            time: at which functions are taken, else the present time [s]
            preload: name of a linear static step before, about whose displaced place the step is linear, with its
                stresses and loads, which stay constant (default "")
        """

