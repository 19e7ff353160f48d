"""Sections of solids, beams, shells and membranes: one function per keyword.

Data lines after the Abaqus Keywords Guide and the CalculiX 2.21 manual, chapter 7.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.meshes.abaqus.assembly import turn
from fem_mbs.meshes.abaqus.deck import BeamSection, Layer, MembraneSection, ShellSection, SolidSection
from fem_mbs.meshes.abaqus.text import Card, Row, label, where
from fem_mbs.meshes.texts import is_number
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from fem_mbs.meshes.abaqus.reader import Reading

__all__ = ["SECTION_KEYWORDS", "members", "orientation_of", "section_not_used"]


def members(deck: Reading, card: Card, families: tuple[str, ...]) -> tuple[str, np.ndarray]:
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


def orientation_of(deck: Reading, card: Card) -> str | None:
    """Return the name of the orientation of a section, which must be defined; None without one."""
    name = card.get("ORIENTATION")
    return None if name is None else deck.refer(card, "orientation", name)


_LEAVES = ("distributing coupling", "heat", "acoustic", "fluid", "network", "user", "cohesive", "gap", "surface")
_LUMPED = ("mass", "rotary inertia", "spring", "dashpot", "distributing coupling", "gap", "connector")
_SOLIDS = ("solid", "continuum shell", "plane stress", "plane strain", "axisymmetric", "truss", *_LEAVES)


def solid_section(deck: Reading, card: Card) -> None:
    """Give solids, plane elements and trusses their material."""
    name, ids = members(deck, card, _SOLIDS)
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
        SolidSection(name, ids, _material_of(deck, card), orientation_of(deck, card), value, where(card))
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
    name, ids = members(deck, card, ("beam", "user"))
    given = card.get("SECTION", "GENERAL") if general else card.need("SECTION")
    shape = next((s for s in _SHAPES if given == s or (len(s) > 3 and given.startswith(s))), None)
    if shape is None:
        card.fail(f"SECTION={given} is not known; known are {', '.join(_SHAPES)}")
    material_name = None if general else _material_of(deck, card)
    offsets = (card.number("OFFSET1", 0.0), card.number("OFFSET2", 0.0))
    nodal = card.flag("NODAL THICKNESS")
    if card.get("TEMPERATURE") is not None:
        deck.log.add("parameter", f"{card.keyword}, TEMPERATURE", card, Effect.NONE)
    orient = orientation_of(deck, card)
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
    name, ids = members(deck, card, ("shell", "continuum shell", "plane stress", *_LEAVES))
    for passed in _OF_SHELLS:
        card.get(passed)
    _keeps_size(deck, card)
    offset = card.get("OFFSET", "0")
    sides = {"SPOS": 0.5, "SNEG": -0.5}
    shift = sides[offset] if offset in sides else card.number("OFFSET", 0.0)
    orient, nodal = orientation_of(deck, card), card.flag("NODAL THICKNESS")
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
            if local is not None and is_number(fields[3]):  # Abaqus takes a turn about the normal as well
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
    name, ids = members(deck, card, ("shell", "continuum shell", *_LEAVES))
    orient, density_ = orientation_of(deck, card), card.number("DENSITY", 0.0)
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
    name, ids = members(deck, card, ("membrane", "shell"))
    row, fields = deck.only_line(card, "the thickness")
    deck.surplus(row, fields, 1)
    deck.sections.append(
        MembraneSection(
            name, ids, _material_of(deck, card), _thickness(row, fields), orientation_of(deck, card), where(card)
        )
    )


def section_not_used(deck: Reading, card: Card) -> None:
    """Note sections of elements that are not supported."""
    deck.cover(card.keyword, deck.mesh.elset(card, card.need("ELSET")))
    card.taken.update(card.params)
    deck.log.add("keyword", card.keyword, card)


def nodal_thickness(deck: Reading, card: Card) -> None:
    """Read thicknesses at nodes."""
    for row, fields in card.rows():
        if len(fields) < 2:
            row.fail("give a node or set and its thickness")
        values = tuple(row.numbers(fields[1:], "a nodal thickness", 1, 2))
        deck.nodal_thickness.update(dict.fromkeys(deck.mesh.nodes(row, fields[0]).tolist(), values))


SECTION_KEYWORDS = {
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
    "SHELL GENERAL SECTION": shell_general_section,
    "TRANSVERSE SHEAR STIFFNESS": transverse_shear,
    "GAP": section_not_used,
    "NODAL THICKNESS": nodal_thickness,
}
