"""Materials, orientations and sections of a deck, point masses, springs and dashpots: one function per keyword.

Data lines after the Abaqus Keywords Guide and the CalculiX 2.21 manual, chapter 7.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.meshes.abaqus.assembly import place, turn
from fem_mbs.meshes.abaqus.deck import (
    BeamSection,
    ConnectorLaw,
    ConnectorSection,
    Dashpot,
    Elastic,
    Expansion,
    Layer,
    Material,
    MembraneSection,
    Normal,
    Orientation,
    PointMass,
    RotaryInertia,
    ShellSection,
    SolidSection,
    Spring,
)
from fem_mbs.meshes.abaqus.text import Card, Row, label, number
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from fem_mbs.meshes.abaqus.reader import Reading

__all__ = ["MATERIAL_KEYWORDS", "PROPERTY_KEYWORDS", "MaterialDraft"]


# ---- materials -------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class MaterialDraft:
    """A material while its keywords are read."""

    name: str
    card: Card
    elastic: Elastic | None = None
    density: np.ndarray | None = None
    expansion: Expansion | None = None
    damping: tuple[float, float] = (0.0, 0.0)
    structural: float = 0.0
    others: list[str] = field(default_factory=list)

    def done(self) -> Material:
        """Return the finished material."""
        return Material(
            self.name,
            self.elastic,
            self.density,
            self.expansion,
            self.damping,
            tuple(self.others),
            where(self.card),
            self.structural,
        )


def where(at: Card | Row) -> str:
    """Return file and line, for messages."""
    return f"{at.file}, line {at.line}"


def material(deck: Reading, card: Card) -> None:
    """Begin a material."""
    name = card.need("NAME")
    if any(m.name == name for m in deck.materials):
        card.fail(f"the material {name} is defined twice")
    deck.materials.append(MaterialDraft(name, card))


# columns of constants
_ELASTIC = {
    "ISO": ("isotropic", 2),
    "ORTHO": ("orthotropic", 9),
    "ENGINEERING": ("engineering constants", 9),
    "ANISO": ("anisotropic", 21),
    "LAMINA": ("lamina", 6),
}
_EXPANSION = {"ISO": ("isotropic", 1), "ORTHO": ("orthotropic", 3), "ANISO": ("anisotropic", 6)}


def _temperature_table(card: Card, n: int, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of n constants and a temperature, eight entries to a line: (m, n) and (m,) with NaN for none
    given."""
    lines = list(card.rows())
    per_row = -(-(n + 1) // 8)  # lines of one row
    if not lines:
        card.fail(f"no data; give {n} {what} (and a temperature)")
    values, temperature = [], []
    for start in range(0, len(lines), per_row):
        group = lines[start : start + per_row]
        row = group[0][0]
        # a line that is not the last of its row is full, also if trailing entries were left empty
        flat = [f for _, fields in group[:-1] for f in (*fields, *[""] * (8 - len(fields)))] + group[-1][1]
        if len(group) < per_row or len(flat) < n:
            row.fail(f"{sum(len(f) for _, f in group)} entries; give {n} {what} (and a temperature)")
        if len(flat) > n + 1:
            if any(flat[n + 1 :]):
                row.fail(f"{len(flat)} entries; give {n} {what} and a temperature")
            flat = flat[: n + 1]
        values.append([row.number(flat, i, what) if flat[i] else 0.0 for i in range(n)])
        temperature.append(row.number(flat, n, "temperature", np.nan))
    t = np.array(temperature)
    if len(t) > 1 and not (np.diff(t) > 0).all():
        card.fail("the temperatures of the table must be given and increase")
    return np.array(values), t


def elastic(deck: Reading, card: Card) -> None:
    """Read isotropic, orthotropic or anisotropic elasticity, over temperature."""
    kind = card.get("TYPE", "ISO")
    for begin, (name, n) in _ELASTIC.items():
        if kind.startswith(begin):
            deck.material(card).elastic = Elastic(name, *_temperature_table(card, n, "elastic constants"))
            return
    deck.material(card).others.append(f"ELASTIC, TYPE={kind}")


def density(deck: Reading, card: Card) -> None:
    """Read mass per volume, over temperature."""
    values, t = _temperature_table(card, 1, "density")
    if (values < 0.0).any():
        row = next(row for row, fields in card.rows() if row.number(fields, 0, "density", 0.0) < 0.0)
        row.fail(f"the density is {values.min():g}; give 0 or more")
    deck.material(card).density = np.column_stack([values[:, 0], t])


def expansion(deck: Reading, card: Card) -> None:
    """Read thermal expansion, over temperature."""
    name, n = card.choice("TYPE", _EXPANSION, _EXPANSION["ISO"])
    zero = card.number("ZERO", 0.0)
    deck.material(card).expansion = Expansion(name, *_temperature_table(card, n, "expansion coefficients"), zero)


def damping(deck: Reading, card: Card) -> None:
    """Read ALPHA and BETA of Rayleigh's damping of a material, and the loss factor STRUCTURAL."""
    if not deck.materials or deck.steps:
        deck.log.add("keyword", card.keyword, card)
        return
    material = deck.material(card)
    material.damping = (card.number("ALPHA", 0.0), card.number("BETA", 0.0))
    material.structural = card.number("STRUCTURAL", 0.0)
    if material.structural < 0.0:
        card.fail(f"STRUCTURAL={material.structural:g}; give 0 or more")


def other_of_material(deck: Reading, card: Card) -> None:
    """Record a law that is not supported; sections with its material are refused."""
    deck.material(card).others.append(card.keyword)
    card.taken.update(card.params)


def other_field_of_material(deck: Reading, card: Card) -> None:
    """Note a law of heat, flow or electricity."""
    card.taken.update(card.params)
    reason = f"of the material {deck.material(card).name}, is not used"
    deck.log.add("keyword", card.keyword, card, Effect.NONE, reason)


# ---- orientations ----------------------------------------------------------------------------------------------------


def orientation(deck: Reading, card: Card) -> None:
    """Read rectangular or cylindrical axes of materials, with a turn."""
    definition = card.get("DEFINITION", "COORDINATES")
    if definition != "COORDINATES":
        card.fail(f"DEFINITION={definition} is not read; give the coordinates of points")
    name = deck.named(card, "orientation")
    if name in deck.orientations:
        card.fail(f"the orientation {name} is defined twice")
    system = card.choice("SYSTEM", {"RECT": "rectangular", "CYL": "cylindrical"}, "rectangular")
    rows = list(card.rows())
    if not rows:
        card.fail("no data; give the points a and b")
    row, fields = rows[0]
    others: list[tuple] = []
    if len(fields) == 1 and fields[0] and not _is_number(fields[0]):
        (a, b, c), others = _distributed(deck, row, fields[0], system)
    else:
        a, b, c = _points(row, fields, system)
    axis, angle = 0, 0.0
    if len(rows) > 1:
        row, fields = rows[1]
        axis = row.whole(fields, 0, "axis", 1)
        angle = row.number(fields, 1, "angle", 0.0)
        if axis not in (1, 2, 3):
            row.fail(f"the axis is {axis}; give 1, 2 or 3")
    for row, _ in rows[2:]:
        row.fail("an orientation has one or two lines")
    deck.orientations[name] = Orientation(name, system, a, b, c, axis, angle, where(card), tuple(others))


def distribution(deck: Reading, card: Card) -> None:
    """Read axes of an *ORIENTATION by elements; other tables act where something refers to them."""
    for name in ("NAME", "LOCATION", "TABLE"):
        card.get(name)


def _points(row: Row, fields: list[str], system: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the points a, b and c (3,) of a line."""
    v = np.array(row.numbers(fields, "an orientation (points a and b)", 6, 9) + [0.0] * 9)[:9]
    a, b, c = place(row, v[:3]), place(row, v[3:6]), place(row, v[6:])
    check_axes(row, system, a - c if system == "rectangular" else a, b - c if system == "rectangular" else b)
    return a, b, c


def _distributed(deck: Reading, row: Row, name: str, system: str) -> tuple[tuple, list[tuple]]:
    """Return the points of a *DISTRIBUTION for all elements, and those of elements of their own."""
    name = label(name)
    card = deck.distributions.get(deck.mesh.name_of(row, name))
    if card is None:
        there = ", ".join(deck.distributions) or "none"
        row.fail(f"the *DISTRIBUTION {name} is not defined; there are {there}")
    default: tuple[np.ndarray, ...] | None = None
    others: list[tuple] = []
    for line, fields in card.rows():
        if not fields[0]:
            default = _points(line, fields[1:], system)
        else:
            others.append((deck.mesh.elements(line, fields[0]), *_points(line, fields[1:], system)))
    if default is None:
        card.fail("the line of all other elements is missing; begin it with a comma")
    return default, others


def check_axes(row: Row, system: str, a: np.ndarray, b: np.ndarray) -> None:
    """Refuse two points that define no axes."""
    if system == "rectangular" and np.linalg.norm(np.cross(a, b)) <= 1e-12 * np.linalg.norm(a) * np.linalg.norm(b):
        row.fail("a and b lie on one line through the origin; they give no axes")
    if system == "cylindrical" and np.array_equal(a, b):
        row.fail("a and b are one point; they give no axis")


# ---- sections --------------------------------------------------------------------------------------------------------


def _members(deck, card: Card, families: tuple[str, ...]) -> tuple[str, np.ndarray]:
    """Return the element set of a section, checked for families that cannot have it."""
    name = deck.mesh.name_of(card, card.need("ELSET"))
    ids = deck.mesh.elset(card, name)
    for block in deck.mesh.blocks:
        if block.family not in families:
            wrong = ids[np.isin(ids, block.ids)] if len(ids) else ids
            if len(wrong) and block.family in _LUMPED:
                # a set of everything may hold these too; they have keywords of their own
                deck.log.add("entry", f"{card.keyword} of {block.type}", card, Effect.NONE, count=len(wrong))
                ids = ids[~np.isin(ids, wrong)]
            elif len(wrong):
                element = deck.mesh.label("element", wrong[0])
                card.fail(f"element {element} of the set {name} is of type {block.type} ({block.family})")
    deck.cover(card.keyword, ids)
    return name, ids


def _material_of(deck: Reading, card: Card) -> str:
    return deck.refer(card, "material", card.need("MATERIAL"))


def _orientation_of(deck: Reading, card: Card) -> str | None:
    name = card.get("ORIENTATION")
    return None if name is None else deck.refer(card, "orientation", name)


_LEAVES = ("distributing coupling", "heat", "acoustic", "fluid", "network", "user", "cohesive", "gap", "surface")
_LUMPED = ("mass", "rotary inertia", "spring", "dashpot", "distributing coupling", "gap", "connector")
_SOLIDS = ("solid", "continuum shell", "plane stress", "plane strain", "axisymmetric", "truss", *_LEAVES)


def solid_section(deck: Reading, card: Card) -> None:
    """Give solids, plane elements and trusses their material."""
    name, ids = _members(deck, card, _SOLIDS)
    card.get("CONTROLS")  # of *SECTION CONTROLS, which speaks for itself
    flat = [np.isin(ids, b.ids).any() for b in deck.mesh.blocks if b.family in ("plane stress", "plane strain")]
    if any(flat) and card.has("OFFSET"):
        card.get("OFFSET")
        deck.log.add("parameter", "SOLID SECTION, OFFSET", card, Effect.NONE, "a plane model has no place across")
    value = None
    if any(any(fields) for _, fields in card.rows()):
        row, fields = deck.only_line(card, "the area or thickness")
        deck.surplus(row, fields, 1)
        if fields[0]:
            value = row.number(fields, 0, "area or thickness")
            if value <= 0:
                row.fail(f"the area or thickness is {value:g}; give a positive number")
    deck.sections.append(
        SolidSection(name, ids, _material_of(deck, card), _orientation_of(deck, card), value, where(card))
    )


def section_controls(deck: Reading, card: Card) -> None:
    """Read hourglass control, of which bricks with one point take the enhanced one."""
    name, kind = card.need("NAME"), card.get("HOURGLASS", "ENHANCED")
    factors = [row.numbers(fields, "scale factors") for row, fields in card.rows()]
    if kind != "ENHANCED" or any(f not in (0.0, 1.0) for row in factors for f in row):
        deck.log.add(
            "keyword", f"SECTION CONTROLS, NAME={name}", card, Effect.DIFFERS,
            f"hourglass control is ENHANCED with factors 1, not {kind}",
        )  # fmt: skip


# least and most numbers of the dimensions line
_SHAPES = {
    "RECT": (2, 2), "CIRC": (1, 2), "PIPE": (2, 2), "BOX": (6, 6), "I": (7, 7), "L": (4, 4), "HEX": (2, 2),
    "TRAPEZOID": (4, 4), "GENERAL": (4, 7), "ARBITRARY": (5, 1000),
}  # fmt: skip


def beam_section(deck: Reading, card: Card) -> None:
    """Give beams their section: RECT, CIRC, PIPE, BOX, I, GENERAL."""
    general = card.keyword == "BEAM GENERAL SECTION"
    name, ids = _members(deck, card, ("beam", "user"))
    given = card.get("SECTION", "GENERAL") if general else card.need("SECTION")
    shape = next((s for s in _SHAPES if given == s or (len(s) > 3 and given.startswith(s))), None)
    if shape is None:
        card.fail(f"SECTION={given} is not known; known are {', '.join(_SHAPES)}")
    material_name = None if general else _material_of(deck, card)
    offsets = (card.number("OFFSET1", 0.0), card.number("OFFSET2", 0.0))
    nodal = card.flag("NODAL THICKNESS")
    if card.get("TEMPERATURE") is not None:
        deck.log.add("parameter", f"{card.keyword}, TEMPERATURE", card, Effect.NONE)
    orient = _orientation_of(deck, card)
    density_ = card.number("DENSITY", np.nan) if general else np.nan
    if density_ < 0.0:
        card.fail(f"DENSITY={density_:g}; give 0 or more")
    _keeps_size(deck, card)
    if card.has("LUMPED"):
        card.get("LUMPED")
        deck.log.add("parameter", f"{card.keyword}, LUMPED", card, Effect.DIFFERS, "masses of beams are consistent")
    rows = list(card.rows(blank=True))
    while rows and not any(rows[-1][1]):
        rows.pop()
    rows = rows[next((i for i, r in enumerate(rows) if any(r[1])), 0) :]
    if not rows:
        card.fail(f"no data; give the dimensions of {shape}")
    row, fields = rows.pop(0)
    least, most = _SHAPES[shape]
    if general and shape == "GENERAL":
        least = 5
    if shape == "ARBITRARY":
        while rows and len(rows[0][1]) != 3:
            fields = [*fields, *rows.pop(0)[1]]
    dimensions = np.array(row.numbers(fields, f"a section {shape}", least, most))
    if shape not in ("GENERAL", "ARBITRARY", "L", "I") and (dimensions[: 2 if shape != "CIRC" else 1] <= 0).any():
        row.fail("a dimension of the section is not positive")
    if shape == "GENERAL" and dimensions[0] <= 0:
        row.fail(f"the area is {dimensions[0]:g}; give a positive number")
    if shape == "CIRC" and deck.of_abaqus:  # which gives the radius
        dimensions = 2.0 * dimensions
    n1, constants = None, None
    if rows:
        row, fields = rows.pop(0)
        if any(fields):
            n1 = np.array(row.numbers(fields, "direction 1", 3, 3))
            if not np.linalg.norm(n1) > 0:
                row.fail("direction 1 has no length")
            n1 = turn(card, n1)
    if n1 is None and card.instance is not None:
        n1 = turn(card, np.array([0.0, 0.0, -1.0]))  # the default, in the axes of the part
    if general and rows:
        row, fields = rows.pop(0)
        constants = tuple(row.numbers(fields, "E and G", 2))
    elif general:
        card.fail("the line with E and G is missing")
    for row, fields in rows:
        if any(fields):
            deck.log.add("entry", f"{card.keyword}, further data", row, Effect.NONE, "integration points")
    deck.sections.append(
        BeamSection(
            name,
            ids,
            material_name,
            shape,
            dimensions,
            n1,
            offsets,
            orient,
            constants,
            None if np.isnan(density_) else density_,
            nodal,
            where(card),
        )
    )


def _keeps_size(deck: Reading, card: Card) -> None:
    """Note POISSON of a section, by which its size changes with its strain in steps with NLGEOM."""
    if card.number("POISSON", 0.0):
        deck.log.add(
            "parameter", f"{card.keyword}, POISSON", card, Effect.DIFFERS,
            "the section keeps its size in steps with NLGEOM",
        )  # fmt: skip


#: Parameters of shells that change no result, or concern elements of other families.
_OF_SHELLS = ("CONTROLS", "LAYUP", "SECTION INTEGRATION", "STACK DIRECTION", "TEMPERATURE", "THICKNESS MODULUS")


def shell_section(deck: Reading, card: Card) -> None:
    """Read thickness or layers of shells; SYMMETRIC layers are followed by their mirror image."""
    name, ids = _members(deck, card, ("shell", "continuum shell", "plane stress", *_LEAVES))
    for passed in _OF_SHELLS:
        card.get(passed)
    _keeps_size(deck, card)
    offset = card.get("OFFSET", "0")
    sides = {"SPOS": 0.5, "SNEG": -0.5}
    shift = sides[offset] if offset in sides else card.number("OFFSET", 0.0)
    orient, nodal = _orientation_of(deck, card), card.flag("NODAL THICKNESS")
    rows = list(card.rows())
    if not rows:
        card.fail("no data; give the thickness")
    layers = []
    if card.flag("COMPOSITE"):
        for row, fields in rows:
            t = _thickness(row, fields)
            if len(fields) < 3 or not fields[2]:
                row.fail("the third entry (material of the layer) is missing")
            local = label(fields[3]) if len(fields) > 3 and fields[3] else None
            angle = 0.0
            if local is not None and _is_number(fields[3]):  # Abaqus takes a turn about the normal as well
                local, angle = None, row.number(fields, 3, "angle")
            elif local is not None:
                local = deck.refer(row, "orientation", local)
            if fields[1]:
                deck.log.add("entry", f"{card.keyword}, integration points", row, Effect.NONE)
            deck.surplus(row, fields, 4, Effect.NONE)
            layers.append(Layer(t, deck.refer(row, "material", label(fields[2])), local, angle))
        if card.flag("SYMMETRIC"):
            layers += layers[::-1]
        material_name, t = None, sum(layer.thickness for layer in layers)
    else:
        material_name, t = _material_of(deck, card), _thickness(*rows[0])
        deck.surplus(*rows[0], 1, Effect.NONE)  # the number of points through the thickness
        for row, _ in rows[1:]:
            row.fail("a shell section that is not COMPOSITE has one line")
    deck.sections.append(ShellSection(name, ids, material_name, t, shift, orient, tuple(layers), nodal, where(card)))


def shell_general_section(deck: Reading, card: Card) -> None:
    """Read shells with a MATERIAL, COMPOSITE, or a stiffness of their own; USER is refused."""
    if card.has("MATERIAL") or card.has("COMPOSITE"):
        shell_section(deck, card)
        return
    if card.flag("USER"):
        deck.cover(card.keyword, deck.mesh.elset(card, card.need("ELSET")))
        card.taken.update(card.params)
        deck.log.add("keyword", card.keyword, card, reason="a subroutine gives the stiffness of the section")
        return
    name, ids = _members(deck, card, ("shell", "continuum shell", *_LEAVES))
    orient, density_ = _orientation_of(deck, card), card.number("DENSITY", 0.0)
    if density_ < 0.0:
        card.fail(f"DENSITY={density_:g}; give 0 or more")
    _keeps_size(deck, card)
    flat: list[float] = []
    last: Card | Row = card
    for row, fields in card.rows(blank=True):
        if len(flat) < 21:
            flat += row.numbers([f or "0" for f in fields], "a stiffness", 1, 8)
            last = row
        elif any(fields):
            deck.log.add("entry", f"{card.keyword}, lines after the stiffness", row)
    if len(flat) != 21:
        last.fail(f"{len(flat)} numbers; give the 21 of the upper triangle of the stiffness, column by column")
    stiffness = np.zeros((6, 6))
    columns, rows = np.tril_indices(6)
    stiffness[rows, columns] = stiffness[columns, rows] = flat
    size = np.sqrt(np.abs(np.diag(stiffness)))
    if not (np.diag(stiffness) > 0.0).all() or not np.linalg.eigvalsh(stiffness / np.outer(size, size))[0] > 0.0:
        last.fail("the stiffness of the section is not positive definite")
    thickness = float(np.sqrt(12.0 * stiffness[3, 3] / stiffness[0, 0]))
    deck.sections.append(
        ShellSection(name, ids, None, thickness, 0.0, orient, (), False, where(card), stiffness, density_)
    )


def transverse_shear(deck: Reading, card: Card) -> None:
    """Read the stiffness across of the shells whose section stands before; beams and layers are refused."""
    section = deck.sections[-1] if deck.sections else None
    row, fields = deck.only_line(card, "K11, K22 (and K12)")
    values = row.numbers(fields, "a stiffness", 1, 3)
    if not isinstance(section, ShellSection) or section.layers:
        deck.log.add("keyword", card.keyword, card, reason="it is read after shells of one material or stiffness")
        return
    k11, k22, k12 = [*values, *[values[0], 0.0][len(values) - 1 :]]
    if min(k11, k22) <= 0.0 or k12:
        row.fail("give a positive K11 and K22, and no K12")
    deck.sections[-1] = replace(section, shear=(k11, k22))


def _is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True


def _thickness(row: Row, fields: list[str]) -> float:
    t = row.number(fields, 0, "thickness")
    if t <= 0:
        row.fail(f"the thickness is {t:g}; give a positive number")
    return t


def membrane_section(deck: Reading, card: Card) -> None:
    """Read the thickness of membranes."""
    if card.number("OFFSET", 0.0):
        card.fail("OFFSET of membranes is not read; move their nodes")
    _keeps_size(deck, card)
    card.get("CONTROLS")
    name, ids = _members(deck, card, ("membrane", "shell"))
    row, fields = deck.only_line(card, "the thickness")
    deck.surplus(row, fields, 1)
    deck.sections.append(
        MembraneSection(
            name, ids, _material_of(deck, card), _thickness(row, fields), _orientation_of(deck, card), where(card)
        )
    )


def section_not_used(deck: Reading, card: Card) -> None:
    """Note sections of elements that are not supported."""
    deck.cover(card.keyword, deck.mesh.elset(card, card.need("ELSET")))
    card.taken.update(card.params)
    deck.log.add("keyword", card.keyword, card)


# ---- masses, springs, dashpots ---------------------------------------------------------------------------------------


def mass(deck: Reading, card: Card) -> None:
    """Read masses of nodes."""
    name, ids = _members(deck, card, ("mass",))
    row, fields = deck.only_line(card, "the mass")
    deck.surplus(row, fields, 1)
    value = row.number(fields, 0, "mass")
    if value < 0:
        row.fail(f"the mass is {value:g}; give a positive number")
    deck.sections.append(PointMass(name, ids, value, where(card)))


def rotary_inertia(deck: Reading, card: Card) -> None:
    """Read moments of inertia of nodes."""
    name, ids = _members(deck, card, ("rotary inertia",))
    row, fields = deck.only_line(card, "I11, I22, I33, I12, I13, I23")
    values = np.array(row.numbers(fields, "a rotary inertia", 3, 6) + [0.0] * 3)[:6]
    orient = _orientation_of(deck, card)
    if orient is None and card.instance is not None:
        (xx, yy, zz, xy, xz, yz), R = values, card.instance.rotation
        J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        values = np.array([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
    deck.sections.append(RotaryInertia(name, ids, values, orient, where(card)))


def spring(deck: Reading, card: Card) -> None:
    """Read stiffness of springs, as a number or a table."""
    name, ids = _members(deck, card, ("spring",))
    _law(deck, card, Spring, name, ids, "stiffness")


def dashpot(deck: Reading, card: Card) -> None:
    """Read coefficients of dashpots, as a number or a table."""
    name, ids = _members(deck, card, ("dashpot",))
    _law(deck, card, Dashpot, name, ids, "damping coefficient")


def _law(deck, card: Card, make, name: str, ids: np.ndarray, what: str) -> None:
    """Read the line of directions (SPRING1 and SPRING2; empty or left out for SPRINGA), then the law.

    CalculiX tells the two apart by the decimal point: a first line without one holds directions.
    """
    nonlinear, orient = card.flag("NONLINEAR"), _orientation_of(deck, card)
    rows = list(card.rows(blank=True))
    while rows and not any(rows[-1][1]):
        rows.pop()
    if not rows:
        card.fail(f"no data; give the {what}")
    types = sorted({b.type for b in deck.mesh.blocks if np.isin(b.ids, ids).any()}) or ["SPRINGA"]
    first, fields = rows[0]
    dofs: list[int] = []
    if not any(fields):
        rows = rows[1:]
    elif types[0].endswith(("1", "2")) or (len(rows) > 1 and not any("." in f for f in fields) and len(fields) < 3):
        n = {"1": 1, "2": 2}.get(types[0][-1], 0)
        if n and any("." in f for f in fields):
            first.fail(f"the first line must hold the {n} direction{'s' * (n > 1)} of {types[0]}, as whole numbers")
        given = [first.whole(fields, i, "direction") for i in range(n)]
        for d in given:
            if not 1 <= d <= 6:
                first.fail(f"the direction is {d}; give 1 to 6")
        dofs, rows = given, rows[1:]
    if types[0][-1] in "12" and not dofs:
        first.fail(f"the line with the direction of {types[0]} is empty; give 1 to 6")
    if len(types) > 1:
        card.fail(f"the set {name} mixes {' and '.join(types)}; give each its own set")
    rows = [r for r in rows if any(r[1])]
    if not rows:
        card.fail(f"the {what} is missing")
    values = []
    for row, fields in rows:
        if len(fields) > 3:
            row.fail(f"{len(fields)} entries; give three at most")
        v = [row.number(fields, 0, "force" if nonlinear else what)]
        if nonlinear:
            v.append(row.number(fields, 1, "elongation"))
        elif row.number(fields, 1, "frequency", 0.0):
            deck.log.add("entry", f"{card.keyword}, frequency", row)
        values.append([*v, row.number(fields, 2, "temperature", np.nan)])
    law = np.array(values)
    if nonlinear:
        if len(law) < 2:
            rows[0][0].fail("a nonlinear law needs two points at least")
        same = law[1:, 2] == law[:-1, 2]
        same |= np.isnan(law[1:, 2]) & np.isnan(law[:-1, 2])
        back = np.flatnonzero(same & (np.diff(law[:, 1]) <= 0))
        if len(back):
            rows[back[0] + 1][0].fail("the second entry must increase from line to line")
    deck.sections.append(make(name, ids, types[0], tuple(dofs), not nonlinear, law, orient, where(card)))


def connector_section(deck: Reading, card: Card) -> None:
    """Read types of connections and the axes at their first nodes."""
    name, ids = _members(deck, card, ("connector",))
    rows = list(card.rows())
    if not rows:
        card.fail("no data; give one or two types of connections, for example HINGE")
    row, fields = rows[0]
    deck.surplus(row, fields, 2)
    types = tuple(label(f) for f in fields[:2] if f)
    orient = None
    if len(rows) > 1:
        row, fields = rows[1]
        names = [label(f) for f in fields[:2]]
        if names[0]:
            orient = deck.refer(row, "orientation", names[0])
        if len(names) > 1 and names[1] not in ("", names[0]):
            row.fail("axes of its own at the second node are not read; give both nodes the same orientation")
    deck.sections.append(ConnectorSection(name, ids, types, orient, card.get("BEHAVIOR"), where(card)))


def connector_behavior(deck: Reading, card: Card) -> None:
    """Begin the laws of connectors."""
    deck.behavior = card.need("NAME")
    deck.behaviors[deck.behavior] = []


def connector_elasticity(deck: Reading, card: Card) -> None:
    """Read the spring of a component of connectors, linear or a table; coupled and rigid ones are refused."""
    _connector_law(deck, card, False)


def connector_damping(deck: Reading, card: Card) -> None:
    """Read the damper of a component of connectors, linear or a table; coupled ones are refused."""
    _connector_law(deck, card, True)


def _connector_law(deck: Reading, card: Card, damping: bool) -> None:
    if deck.behavior is None:
        card.fail("it stands outside of a behavior; put *CONNECTOR BEHAVIOR, NAME=... before it")
    component, nonlinear = card.count("COMPONENT", 0), card.flag("NONLINEAR")
    if component > 6:
        card.fail(f"COMPONENT={component} must be from 1 to 6")
    if not component:
        deck.log.add("parameter", f"{card.keyword} without COMPONENT", card, reason="components are not coupled")
        return
    rows = list(card.rows())
    if not rows or (nonlinear and len(rows) < 2):
        card.fail("no data; give the coefficient, with NONLINEAR two lines or more of force and motion")
    values = []
    for row, fields in rows:
        deck.surplus(row, fields, 1 + nonlinear)
        first = row.number(fields, 0, "force" if nonlinear else "coefficient")
        values.append([row.number(fields, 1, "motion"), first] if nonlinear else [first])
        if nonlinear and len(values) > 1 and values[-1][0] <= values[-2][0]:
            row.fail("the second entry must increase from line to line")
    for row, _ in () if nonlinear else rows[1:]:
        deck.log.add("entry", f"{card.keyword}, lines after the first", row)
    law = np.array(values if nonlinear else values[:1])
    deck.behaviors[deck.behavior].append(ConnectorLaw(component, damping, law, where(card)))


# ---- at nodes --------------------------------------------------------------------------------------------------------


def normal(deck: Reading, card: Card) -> None:
    """Read normals of shells and directions of beams."""
    elements, nodes, vectors = [], [], []
    for row, fields in card.rows():
        if len(fields) < 5:
            row.fail(f"{len(fields)} entries; give element, node and three components")
        deck.surplus(row, fields, 5)
        v = [row.number(fields, i, "component", 0.0) for i in (2, 3, 4)]
        if not any(v):
            row.fail("the normal has no length")
        v = turn(row, np.array(v)).tolist()
        for element in deck.mesh.elements(row, fields[0]):
            for node in deck.mesh.nodes(row, fields[1]):
                elements.append(element)
                nodes.append(node)
                vectors.append(v)
    if elements:
        deck.normals.append(Normal(np.array(elements), np.array(nodes), np.array(vectors), where(card)))


def nodal_thickness(deck: Reading, card: Card) -> None:
    """Read thicknesses at nodes."""
    for row, fields in card.rows():
        if len(fields) < 2:
            row.fail("give a node or set and its thickness")
        values = tuple(row.numbers(fields[1:], "a nodal thickness", 1, 2))
        deck.nodal_thickness.update(dict.fromkeys(deck.mesh.nodes(row, fields[0]).tolist(), values))


# Laws of materials that are not used; they belong to the material before them.
_LAWS = (
    "PLASTIC", "HYPERELASTIC", "HYPERFOAM", "CREEP", "CYCLIC HARDENING", "DEFORMATION PLASTICITY", "DEPVAR",
    "VISCOELASTIC", "USER MATERIAL", "MOHR COULOMB", "MOHR COULOMB HARDENING", "RATE DEPENDENT", "POTENTIAL",
    "CONCRETE",
    "BRITTLE CRACKING", "NO COMPRESSION", "NO TENSION", "FAIL STRAIN", "FAIL STRESS", "MULLINS EFFECT",
    "DAMAGE INITIATION", "DAMAGE EVOLUTION", "CONCRETE DAMAGED PLASTICITY", "DRUCKER PRAGER", "POROUS ELASTIC",
    "SWELLING",
    "HYSTERESIS", "ANISOTROPIC HYPERELASTIC",
)  # fmt: skip
# Of other fields than displacements.
_OTHER_FIELDS = (
    "CONDUCTIVITY", "SPECIFIC HEAT", "ELECTRICAL CONDUCTIVITY", "MAGNETIC PERMEABILITY", "FLUID CONSTANTS",
    "SPECIFIC GAS CONSTANT", "LATENT HEAT", "ACOUSTIC MEDIUM",
)  # fmt: skip

MATERIAL_KEYWORDS = {
    "ELASTIC": elastic,
    "DENSITY": density,
    "EXPANSION": expansion,
    "DAMPING": damping,
    **dict.fromkeys(_LAWS, other_of_material),
    **dict.fromkeys(_OTHER_FIELDS, other_field_of_material),
}
PROPERTY_KEYWORDS = {
    "MATERIAL": material,
    "ORIENTATION": orientation,
    "DISTRIBUTION": distribution,
    "SOLID SECTION": solid_section,
    "SECTION CONTROLS": section_controls,
    "BEAM SECTION": beam_section,
    "BEAM GENERAL SECTION": beam_section,
    "SHELL SECTION": shell_section,
    "MEMBRANE SECTION": membrane_section,
    "FLUID SECTION": section_not_used,
    "COHESIVE SECTION": section_not_used,
    "SURFACE SECTION": section_not_used,
    "USER SECTION": section_not_used,
    "CONNECTOR SECTION": connector_section,
    "CONNECTOR BEHAVIOR": connector_behavior,
    "CONNECTOR ELASTICITY": connector_elasticity,
    "CONNECTOR DAMPING": connector_damping,
    "SHELL GENERAL SECTION": shell_general_section,
    "TRANSVERSE SHEAR STIFFNESS": transverse_shear,
    "GAP": section_not_used,
    "MASS": mass,
    "ROTARY INERTIA": rotary_inertia,
    "SPRING": spring,
    "DASHPOT": dashpot,
    "NORMAL": normal,
    "NODAL THICKNESS": nodal_thickness,
}
