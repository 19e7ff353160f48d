"""Point masses, springs, dashpots and connectors of a deck: one function per keyword.

Data lines after the Abaqus Keywords Guide and the CalculiX 2.21 manual, chapter 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.meshes.abaqus.deck import ConnectorLaw, ConnectorSection, Dashpot, PointMass, RotaryInertia, Spring
from fem_mbs.meshes.abaqus.properties.sections import members, orientation_of
from fem_mbs.meshes.abaqus.text import Card, label, where

if TYPE_CHECKING:
    from fem_mbs.meshes.abaqus.reader import Reading

__all__ = ["LUMPED_KEYWORDS"]


def mass(deck: Reading, card: Card) -> None:
    """Read masses of nodes."""
    name, ids = members(deck, card, ("mass",))
    row, fields = deck.only_line(card, "the mass")
    deck.surplus(row, fields, 1)
    value = row.number(fields, 0, "mass")
    if value < 0:
        row.fail(f"the mass is {value:g}; give a positive number")
    deck.sections.append(PointMass(name, ids, value, where(card)))


def rotary_inertia(deck: Reading, card: Card) -> None:
    """Read moments of inertia of nodes."""
    name, ids = members(deck, card, ("rotary inertia",))
    row, fields = deck.only_line(card, "I11, I22, I33, I12, I13, I23")
    values = np.array(row.numbers(fields, "a rotary inertia", 3, 6) + [0.0] * 3)[:6]
    orient = orientation_of(deck, card)
    if orient is None and card.instance is not None:
        (xx, yy, zz, xy, xz, yz), R = values, card.instance.rotation
        J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        values = np.array([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
    deck.sections.append(RotaryInertia(name, ids, values, orient, where(card)))


def spring(deck: Reading, card: Card) -> None:
    """Read stiffness of springs, as a number or a table."""
    name, ids = members(deck, card, ("spring",))
    _law(deck, card, Spring, name, ids, "stiffness")


def dashpot(deck: Reading, card: Card) -> None:
    """Read coefficients of dashpots, as a number or a table."""
    name, ids = members(deck, card, ("dashpot",))
    _law(deck, card, Dashpot, name, ids, "damping coefficient")


def _law(deck, card: Card, make, name: str, ids: np.ndarray, what: str) -> None:
    """Read the line of directions (SPRING1 and SPRING2; empty or left out for SPRINGA), then the law.

    CalculiX tells the two apart by the decimal point: a first line without one holds directions.
    """
    nonlinear, orient = card.flag("NONLINEAR"), orientation_of(deck, card)
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
    name, ids = members(deck, card, ("connector",))
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


LUMPED_KEYWORDS = {
    "CONNECTOR SECTION": connector_section,
    "CONNECTOR BEHAVIOR": connector_behavior,
    "CONNECTOR ELASTICITY": connector_elasticity,
    "CONNECTOR DAMPING": connector_damping,
    "MASS": mass,
    "ROTARY INERTIA": rotary_inertia,
    "SPRING": spring,
    "DASHPOT": dashpot,
}
