"""Content of an Abaqus or CalculiX deck, independent of any solver: the result of
`fem_mbs.meshes.abaqus.reader.read_deck`.

Everything keeps the deck's own numbers and units; in a deck of parts and instances `Deck.numbering` says which numbers
stand for INSTANCE.NUMBER.  Nodes and elements are named by their ids; sets, faces and ranges
are resolved to ids, in the order of the deck (which is the order in which CalculiX prints).  Names are upper case
without blanks.  Directions are numbered 1, 2, 3 (translations) and 4, 5, 6 (rotations), in the axes of
`Deck.transforms` where a node has one.  ``where`` says file and line, for messages.  Data
lines alike that follow each other may be one entry with many nodes.  Arrays are read-only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeVar

import numpy as np

from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.assembly import Numbering
from fem_mbs.meshes.vocabulary import Effect

__all__ = [
    "Amplitude", "BeamSection", "Boundary", "Cload", "ConnectorLaw", "ConnectorSection", "Coupling", "CyclicModel",
    "CyclicTie", "Dashpot", "Deck", "Dload", "Driven", "Dsload", "Elastic", "ElementBlock", "Equation", "Expansion",
    "InitialCondition", "Layer", "Material", "MembraneSection", "Mpc", "Normal", "Orientation", "OutputRequest",
    "PointMass", "RigidBody", "RotaryInertia", "PretensionSection", "Section", "ShellSection", "SolidSection", "Spring",
    "DeckStep", "Submodel", "Surface", "Temperature", "Tie", "Transform", "Unused",
]  # fmt: skip


T = TypeVar("T")


class _Frozen:
    """Makes the arrays of a frozen dataclass read-only, and equality a matter of identity."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False


@dataclass(frozen=True, eq=False)
class ElementBlock(_Frozen):
    """All elements of one type: type as in the deck (C3D20R), shape without variant letters (C3D20), family (solid,
    shell, beam, ...: see `abaqus_elements`); ids (n,) int64; nodes (n, k) int64 node ids in Abaqus's order."""

    type: str
    family: str
    shape: str
    ids: np.ndarray
    nodes: np.ndarray


@dataclass(frozen=True, eq=False)
class Surface(_Frozen):
    """An element surface: elements (m,) ids with faces (m,) labels "S1" ... , "SPOS", "SNEG", "E1" ...; or a node
    surface (both empty).  nodes (k,): all its nodes, also the mid-side ones."""

    name: str
    kind: str  # "element" or "node"
    elements: np.ndarray
    faces: np.ndarray
    nodes: np.ndarray
    where: str


@dataclass(frozen=True, eq=False)
class Elastic(_Frozen):
    """A table over temperature: kind with the columns of constants (m, k), temperature (m,) (NaN where not given).

    isotropic: E, nu
    orthotropic: C1111, C1122, C2222, C1133, C2233, C3333, C1212, C1313, C2323
    engineering constants: E1, E2, E3, nu12, nu13, nu23, G12, G13, G23
    anisotropic: C1111, C1122, C2222, C1133, C2233, C3333, C1112, C2212, C3312, C1212, C1113, C2213, C3313, C1213,
    C1313, C1123, C2223, C3323, C1223, C1323, C2323
    lamina: E1, E2, nu12, G12, G13, G23
    """

    kind: str
    constants: np.ndarray
    temperature: np.ndarray


@dataclass(frozen=True, eq=False)
class Expansion(_Frozen):
    """Thermal expansion: kind isotropic (1), orthotropic (3) or anisotropic (6 columns: 11, 22, 33, 12, 13, 23);
    coefficients (m, k) secant ones from the temperature ``zero``, temperature (m,) (NaN where not given)."""

    kind: str
    coefficients: np.ndarray
    temperature: np.ndarray
    zero: float


@dataclass(frozen=True, eq=False)
class Material(_Frozen):
    """density (m, 2): value and temperature (NaN where not given), or None; damping (alpha, beta) of Rayleigh;
    structural: loss factor; others: the keywords of this material that were not used."""

    name: str
    elastic: Elastic | None
    density: np.ndarray | None
    expansion: Expansion | None
    damping: tuple[float, float]
    others: tuple[str, ...]
    where: str
    structural: float = 0.0


@dataclass(frozen=True, eq=False)
class Orientation(_Frozen):
    """Local axes of materials.  system "rectangular": a on the local x axis, b in the local xy plane, seen from the
    origin c; "cylindrical": a and b on the axis of the cylinder.  All (3,).  Then a turn of ``angle`` degrees about the
    local ``axis`` 1, 2 or 3 (0: none).  ``others``: elements (m,) that have points a, b and c of their own; the last
    one counts."""

    name: str
    system: str
    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    axis: int
    angle: float
    where: str
    others: tuple[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], ...] = ()


@dataclass(frozen=True, eq=False)
class Transform(_Frozen):
    """Axes for boundary conditions, loads and equations of nodes (m,): a, b (3,) as for `Orientation` with c = 0."""

    nodes: np.ndarray
    system: str
    a: np.ndarray
    b: np.ndarray
    where: str


@dataclass(frozen=True, eq=False)
class SolidSection(_Frozen):
    """Solids; trusses (value: area) and plane elements (value: thickness), None where not given."""

    elset: str
    elements: np.ndarray
    material: str
    orientation: str | None
    value: float | None
    where: str


@dataclass(frozen=True, eq=False)
class BeamSection(_Frozen):
    """shape and dimensions: RECT (width along local 1, height along 2), CIRC (diameter, with two numbers those of
    an ellipse; Abaqus's radius is doubled in decks that only Abaqus reads), PIPE (outer radius, wall), BOX (a, b,
    t1..t4), I (l, h, b1, b2, t1, t2, t3), L, TRAPEZOID, HEX, ARBITRARY: as given; GENERAL of *BEAM SECTION: area,
    I11, I12, I22, shear coefficient; of *BEAM GENERAL SECTION: area, I11, I12, I22, J, and warping constants
    (``general`` tells them apart: it carries E, G, alpha or is None). n1 (3,) local direction 1, not normalised and
    not made normal to the axis, None where not given; offsets (of the beam's line in parts of the thickness along 1
    and 2); density of a general section; nodal: `Deck.nodal_thickness` counts."""

    elset: str
    elements: np.ndarray
    material: str | None
    shape: str
    dimensions: np.ndarray
    n1: np.ndarray | None
    offsets: tuple[float, float]
    orientation: str | None
    general: tuple[float, ...] | None
    density: float | None
    nodal: bool
    where: str


@dataclass(frozen=True)
class Layer:
    """A layer of a composite shell, from the negative side; angle [deg] about the normal, from the section's axes."""

    thickness: float
    material: str
    orientation: str | None
    angle: float


@dataclass(frozen=True, eq=False)
class ShellSection(_Frozen):
    """thickness with offset (of the reference surface in parts of the thickness towards the normal: 0.5 is the positive
    face); layers of a composite, then material is None and thickness their sum; nodal:
    `Deck.nodal_thickness` counts where it is given; stiffness (6, 6) of forces and moments 11, 22, 12 against strains
    and curvatures, which stands for a material, with density per area; shear: stiffness (11, 22) across, None where not
    given."""

    elset: str
    elements: np.ndarray
    material: str | None
    thickness: float
    offset: float
    orientation: str | None
    layers: tuple[Layer, ...]
    nodal: bool
    where: str
    stiffness: np.ndarray | None = None
    density: float = 0.0
    shear: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class MembraneSection(_Frozen):
    """thickness of membranes."""

    elset: str
    elements: np.ndarray
    material: str
    thickness: float
    orientation: str | None
    where: str

    def of_shell(self) -> ShellSection:
        """Return the section of a shell of this thickness, whose middle is at the nodes."""
        return ShellSection(
            self.elset, self.elements, self.material, self.thickness, 0.0, self.orientation, (), False, self.where
        )


@dataclass(frozen=True, eq=False)
class PointMass(_Frozen):
    """mass of each of the elements (of type MASS)."""

    elset: str
    elements: np.ndarray
    mass: float
    where: str


@dataclass(frozen=True, eq=False)
class RotaryInertia(_Frozen):
    """inertia (6,): I11, I22, I33, I12, I13, I23 of each of the elements (of type ROTARYI)."""

    elset: str
    elements: np.ndarray
    inertia: np.ndarray
    orientation: str | None
    where: str


@dataclass(frozen=True, eq=False)
class Spring(_Frozen):
    """Springs of one element set and type.  dofs: () of SPRINGA (along the line between its nodes), one of SPRING1 (to
    ground), two of SPRING2.  Linear: law (m, 2) stiffness and temperature; nonlinear: (m, 3) force, elongation and
    temperature (NaN where not given)."""

    elset: str
    elements: np.ndarray
    type: str
    dofs: tuple[int, ...]
    linear: bool
    law: np.ndarray
    orientation: str | None
    where: str


@dataclass(frozen=True, eq=False)
class Dashpot(_Frozen):
    """Like `Spring`: law (m, 2) coefficient and temperature, or nonlinear (m, 3) force, speed and temperature."""

    elset: str
    elements: np.ndarray
    type: str
    dofs: tuple[int, ...]
    linear: bool
    law: np.ndarray
    orientation: str | None
    where: str


@dataclass(frozen=True, eq=False)
class ConnectorSection(_Frozen):
    """Connections of two nodes each: one or two types (JOIN, HINGE, SLOT ...), axes by an orientation at the first
    node, None for those of the model; behavior: name of its laws in `Deck.behaviors`."""

    elset: str
    elements: np.ndarray
    types: tuple[str, ...]
    orientation: str | None
    behavior: str | None
    where: str


@dataclass(frozen=True, eq=False)
class ConnectorLaw(_Frozen):
    """Force of a component (1 to 6) of relative motion: a spring or, with ``damping``, a damper; law (1, 1) its
    coefficient, or (n, 2) motions, or rates, and forces."""

    component: int
    damping: bool
    law: np.ndarray
    where: str


Section = (
    ConnectorSection
    | SolidSection
    | BeamSection
    | ShellSection
    | MembraneSection
    | PointMass
    | RotaryInertia
    | Spring
    | Dashpot
)


@dataclass(frozen=True, eq=False)
class Normal(_Frozen):
    """Normals of shells, or directions 1 of beams, at nodes of elements: elements (m,), nodes (m,), vectors (m, 3)."""

    elements: np.ndarray
    nodes: np.ndarray
    vectors: np.ndarray
    where: str


@dataclass(frozen=True, eq=False)
class Equation(_Frozen):
    """sum of coefficients (m,) times the displacements of nodes (m,) in dofs (m,) is zero; the first is dependent.
    ``until``: number of the step that removes it, 0: none."""

    nodes: np.ndarray
    dofs: np.ndarray
    coefficients: np.ndarray
    where: str
    until: int = 0


@dataclass(frozen=True, eq=False)
class Mpc(_Frozen):
    """A multiple point constraint by name (BEAM, STRAIGHT, PLANE, PIN, TIE, LINK, MEANROT, ...) on the nodes (m,) in
    the order of the deck; of pairs (BEAM, PIN, TIE, LINK) the first follows the second."""

    kind: str
    nodes: np.ndarray
    where: str


@dataclass(frozen=True, eq=False)
class RigidBody(_Frozen):
    """nodes (m,) that move with ref_node; rotation_node carries the three rotations as its translations (CalculiX; 0:
    none given, then the rotations of ref_node are meant)."""

    nodes: np.ndarray
    elements: np.ndarray
    ref_node: int
    rotation_node: int
    where: str


@dataclass(frozen=True, eq=False)
class Coupling(_Frozen):
    """kinematic: the dofs of nodes (m,) move rigidly with ref_node; distributing: ref_node moves with the weighted mean
    of the nodes (weights (m,)).  dofs in the axes of the orientation, if one is given; ``surface``: whose nodes these
    are, "" if they are given one by one."""

    kind: str
    name: str
    ref_node: int
    nodes: np.ndarray
    weights: np.ndarray
    dofs: tuple[int, ...]
    orientation: str | None
    where: str
    surface: str = ""


@dataclass(frozen=True)
class Tie:
    """The surface ``slave`` is glued to ``master``; tolerance None: the program's own; adjust: move slaves first;
    free_rotation: rotations are not tied."""

    name: str
    slave: str
    master: str
    tolerance: float | None
    adjust: bool
    where: str
    free_rotation: bool = False


@dataclass(frozen=True)
class CyclicTie:
    """The surfaces ``slave`` and ``master`` are the two faces of a sector; tolerance None: the program's own."""

    name: str
    slave: str
    master: str
    tolerance: float | None
    where: str


@dataclass(frozen=True, eq=False)
class CyclicModel(_Frozen):
    """A wheel of equal sectors about the axis through the points a (3,) and b (3,), whose faces are those of the cyclic
    ``tie`` ("": the only one)."""

    sectors: int
    a: np.ndarray
    b: np.ndarray
    tie: str
    where: str


@dataclass(frozen=True, eq=False)
class PretensionSection(_Frozen):
    """A cut along the faces of a surface, or instead of a beam ``element`` (the other is "" or None); the first
    direction of ``node`` is its shortening along the normal (3,), None: that of the surface, or of the beam."""

    surface: str
    element: int | None
    node: int
    normal: np.ndarray | None
    where: str


@dataclass(frozen=True, eq=False)
class Amplitude(_Frozen):
    """A factor of time: definition TABULAR (t (m,), value (m,), linear between, constant outside) or SMOOTH STEP (with
    quintic steps between); PERIODIC, MODULATED, DECAY and others as given in ``data``.  total_time: t counts from the
    beginning of the first step, else from that of the present one."""

    name: str
    definition: str
    t: np.ndarray
    value: np.ndarray
    total_time: bool
    data: np.ndarray
    where: str


@dataclass(frozen=True, eq=False)
class InitialCondition(_Frozen):
    """kind DISPLACEMENT or VELOCITY (dof 1..6) or TEMPERATURE (dof 0): value at nodes (m,)."""

    kind: str
    nodes: np.ndarray
    dof: int
    value: float
    where: str


@dataclass(frozen=True, eq=False)
class Boundary(_Frozen):
    """nodes (m,) in dofs get ``value`` (displacement, or the kind's: VELOCITY, ACCELERATION) times the amplitude;
    fixed: stay where they are at the beginning of the step (value 0 has no meaning then)."""

    nodes: np.ndarray
    dofs: tuple[int, ...]
    value: float
    amplitude: str | None
    kind: str
    fixed: bool
    where: str
    imaginary: bool = False


@dataclass(frozen=True, eq=False)
class Cload(_Frozen):
    """A force (dof 1..3) or moment (4..6) at each of the nodes (m,)."""

    nodes: np.ndarray
    dof: int
    value: float
    amplitude: str | None
    follower: bool
    where: str
    imaginary: bool = False


@dataclass(frozen=True, eq=False)
class Dload(_Frozen):
    """A distributed load on elements (m,): label as in the deck.

    kind "pressure" (positive into the element): face 1..6, or 0 for P of shells, and line loads P1, P2 of beams;
    "gravity": value along ``direction`` (3,); "centrifugal": value omega^2 about the line through ``point`` (3,) along
    ``direction`` (3,); "body": force per volume (BX, BY, BZ) or length (PX, PY, PZ) along the direction; "other": raw.
    parameters: the numbers of the line after the label.
    """

    elements: np.ndarray
    label: str
    kind: str
    face: int
    value: float
    direction: np.ndarray
    point: np.ndarray
    parameters: np.ndarray
    amplitude: str | None
    where: str
    imaginary: bool = False


@dataclass(frozen=True, eq=False)
class Dsload(_Frozen):
    """A distributed load on a surface: P (pressure), TRVEC (traction, direction (3,)), TRSHR (its part along the
    surface has the value) ...; ``follows``: a traction turns with the surface."""

    surface: str
    label: str
    value: float
    direction: np.ndarray
    amplitude: str | None
    where: str
    follows: bool = True
    imaginary: bool = False


@dataclass(frozen=True, eq=False)
class BaseMotion(_Frozen):
    """All supports in direction dof (1 to 3) move by an amplitude: kind DISPLACEMENT, VELOCITY or ACCELERATION;
    given: whether the card says which."""

    dof: int
    amplitude: str
    kind: str
    given: bool
    where: str


@dataclass(frozen=True, eq=False)
class Temperature(_Frozen):
    """value at the nodes (m,) at the end of the step, or times the amplitude; gradient along the normals of shells."""

    nodes: np.ndarray
    value: float
    amplitude: str | None
    where: str
    gradient: float = 0.0


@dataclass(frozen=True, eq=False)
class Submodel(_Frozen):
    """Nodes (m,) that follow the results ``file`` of a global model, in its elements (None: all); a node outside of
    them is nearer than ``relative`` times the size of an element, or than ``absolute``, None: the program's own."""

    nodes: np.ndarray
    file: str
    elements: np.ndarray | None
    relative: float | None
    absolute: float | None
    where: str


@dataclass(frozen=True, eq=False)
class Driven(_Frozen):
    """Nodes (m,) that have the displacements in the directions ``dofs`` (none: the temperatures) of the global model in
    its step ``step``."""

    nodes: np.ndarray
    dofs: tuple[int, ...]
    step: int
    where: str


@dataclass(frozen=True, eq=False)
class OutputRequest(_Frozen):
    """kind "node print", "el print", "node file", "el file", "section print", ...; variables upper case (U, RF, S,
    EVOL, ...); set_name None: the whole model; ids (m,) its nodes or elements; frequency: every n-th increment, 0
    never; totals "no", "yes", "only"; global_axes None where not given; options: other parameters as written."""

    kind: str
    variables: tuple[str, ...]
    set_name: str | None
    ids: np.ndarray
    frequency: int
    totals: str
    global_axes: bool | None
    options: Mapping[str, str]
    where: str


@dataclass(frozen=True, eq=False)
class Imperfection(_Frozen):
    """Nodes that stand elsewhere than *NODE has them.

    modes: numbers and factors of shapes of the step number ``step`` of the deck ``file``, of the nodes (m,) or, where
    there are none, of all; without a file vectors (m, 3) by which the nodes are moved.
    """

    file: str
    step: int
    modes: tuple[tuple[int, float], ...]
    nodes: np.ndarray
    vectors: np.ndarray
    where: str


@dataclass(frozen=True, eq=False)
class Riks(_Frozen):
    """Where a STATIC step with RIKS ends: at the load factor max_factor (infinite where it is not given), or where the
    node (0: none) is displaced in direction dof by ``displacement``; first: of its load, as it begins."""

    first: float
    max_factor: float
    node: int
    dof: int
    displacement: float


@dataclass(frozen=True, eq=False)
class DeckStep(_Frozen):
    """One step.

    What a deck says holds on in the steps after it: supports, loads and temperatures until the same node and direction
    (or element and label) gets another value or the kind is in ``new``; prints until the next request of their kind.
    This list has what the step itself says.  The loads of earlier steps do not act in a perturbation step; what they
    did is the state about which it is linear.

    procedure: STATIC, FREQUENCY, BUCKLE, DYNAMIC, COMPLEX FREQUENCY, ..., as the deck names it; supported: whether its
    data were read into the fields below (the others keep ``data``, the numbers of the procedure's lines).
    nlgeom: as given, else that of the step before: in both programs it stays on.  amplitude of loads and supports that
    name none: "RAMP" over the step, or "STEP" at once, which is the rule of dynamic steps.
    perturbation: linear about the state at the end of the last general step.  direct: fixed increments.  Increments and
    duration of STATIC and DYNAMIC; alpha of DYNAMIC (-1/3..0; the default of the programs is -0.05).  n_modes, lower,
    upper: number and bounds [cycles/time] of FREQUENCY (upper infinite where not given) and its nodal_diameters of a
    wheel (first, last or None for all; None: no waves), number of factors and tolerance of BUCKLE; coriolis: of COMPLEX
    FREQUENCY; data: frequencies of STEADY STATE DYNAMICS, direct or by the modes of the last FREQUENCY step, and with
    ``between`` (number, bias) the ends of a range in which so many lie between neighbouring natural ones; scaled:
    whether their scale is given; modal_damping: first, last mode (0: the highest) and ratio; rayleigh: first, last
    mode, alpha and beta.  new: kinds ("BOUNDARY", "CLOAD", "DLOAD", "TEMPERATURE") whose entries of earlier steps end.
    retained: nodes (m,), directions 1 to 6 and line of what a SUBSTRUCTURE GENERATE step retains; retained_mass:
    whether its masses are asked for; retained_modes: how many of its lowest modes with these held it has.  driven: what
    follows the global model of a `Submodel`.  riks: the path of a STATIC step with RIKS.
    """

    number: int
    procedure: str
    supported: bool
    title: str
    nlgeom: bool
    perturbation: bool
    max_increments: int
    amplitude: str
    direct: bool
    explicit: bool
    increment: float
    duration: float
    min_increment: float
    max_increment: float
    alpha: float
    n_modes: int
    lower: float
    upper: float
    tolerance: float
    coriolis: bool
    nodal_diameters: tuple[int, int | None] | None
    modal_damping: tuple[tuple[int, int, float], ...]
    rayleigh: tuple[int, int, float, float]
    options: Mapping[str, str]
    data: np.ndarray
    boundaries: tuple[Boundary, ...]
    cloads: tuple[Cload, ...]
    dloads: tuple[Dload, ...]
    dsloads: tuple[Dsload, ...]
    temperatures: tuple[Temperature, ...]
    outputs: tuple[OutputRequest, ...]
    base_motions: tuple[BaseMotion, ...]
    between: tuple[int, float] | None
    scaled: bool
    new: frozenset[str]
    where: str
    retained: tuple[tuple[np.ndarray, tuple[int, ...], str], ...] = ()
    retained_mass: bool = False
    driven: tuple[Driven, ...] = ()
    retained_modes: int = 0
    riks: Riks | None = None


@dataclass(frozen=True)
class Unused:
    """An entry of the deck that the description does not hold: kind "keyword", "parameter", "element type", "set
    member", "section", "entry"; name; where (file and line of the first, how many); effect on the answer."""

    kind: str
    name: str
    file: str
    line: int
    count: int
    effect: Effect
    reason: str = ""

    def __str__(self) -> str:
        times = f" ({self.count} times)" if self.count > 1 else ""
        return (
            f"{self.file}, line {self.line}: {self.kind} {self.name}{times}{': ' if self.reason else ''}{self.reason}"
        )


@dataclass(frozen=True, eq=False)
class Deck(_Frozen):
    """A whole deck; see the module's docstring and the classes of its entries.

    node_ids (n,) int64 in the order of the deck, x (n, 3) coordinates.  sections: all that gives properties to
    elements, also masses, springs and dashpots, in the order of the deck; `section_of` says which one counts for an
    element.
    """

    source: str
    files: tuple[str, ...]
    title: tuple[str, ...]
    node_ids: np.ndarray
    x: np.ndarray
    blocks: tuple[ElementBlock, ...]
    nsets: Mapping[str, np.ndarray]
    elsets: Mapping[str, np.ndarray]
    surfaces: Mapping[str, Surface]
    materials: Mapping[str, Material]
    orientations: Mapping[str, Orientation]
    amplitudes: Mapping[str, Amplitude]
    sections: tuple[Section, ...] = ()
    normals: tuple[Normal, ...] = ()
    nodal_thickness: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    transforms: tuple[Transform, ...] = ()
    equations: tuple[Equation, ...] = ()
    mpcs: tuple[Mpc, ...] = ()
    rigid_bodies: tuple[RigidBody, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    ties: tuple[Tie, ...] = ()
    cyclic_ties: tuple[CyclicTie, ...] = ()
    cyclic_models: tuple[CyclicModel, ...] = ()
    pretensions: tuple[PretensionSection, ...] = ()
    initial_conditions: tuple[InitialCondition, ...] = ()
    submodels: tuple[Submodel, ...] = ()
    boundaries: tuple[Boundary, ...] = ()
    steps: tuple[DeckStep, ...] = ()
    unused: tuple[Unused, ...] = ()
    end: str = ""  # file and line of the last line
    #: of "node" and "element": their names INSTANCE.NUMBER in a deck of parts and instances
    numbering: Mapping[str, Numbering] = field(default_factory=dict)
    of_abaqus: bool = False
    behaviors: Mapping[str, tuple[ConnectorLaw, ...]] = field(default_factory=dict)
    imperfections: tuple[Imperfection, ...] = ()

    @property
    def assembled(self) -> bool:
        """Whether the deck is made of instances of parts, in which numbers count anew."""
        return any(n.names for n in self.numbering.values())

    def node_name(self, number: int) -> str:
        """Return the deck's name of a node: its number, INSTANCE.NUMBER in an instance."""
        return self.numbering["node"].label(number) if "node" in self.numbering else str(number)

    def element_name(self, number: int) -> str:
        """Return the deck's name of an element: its number, INSTANCE.NUMBER in an instance."""
        return self.numbering["element"].label(number) if "element" in self.numbering else str(number)

    def of_type(self, kind: type[T]) -> tuple[T, ...]:
        """Return the sections of one class, for example ``deck.of_type(BeamSection)``."""
        return tuple(s for s in self.sections if isinstance(s, kind))

    def section_index(self, ids: np.ndarray) -> np.ndarray:
        """Return for each of these elements the index (m,) of its valid entry in ``sections``: of the last that names
        it, or -1."""
        out = np.full(len(ids), -1)
        for k, entry in enumerate(self.sections):
            out[np.isin(ids, entry.elements)] = k
        return out

    def section_of(self, ids: np.ndarray) -> list[Section | None]:
        """Return the entries of ``sections`` that count for these elements, None for an element without one."""
        return [self.sections[k] if k >= 0 else None for k in self.section_index(ids).tolist()]

    def nodes_in(self, ids: np.ndarray) -> np.ndarray:
        """Return indices (m,) into node_ids and x of these node ids, all of which must exist."""
        order = np.argsort(self.node_ids, kind="stable")
        return order[np.searchsorted(self.node_ids, ids, sorter=order)]
