"""Axes of materials, and normals of shells and beams: one function per keyword.

Data lines after the Abaqus Keywords Guide and the CalculiX 2.21 manual, chapter 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.meshes.abaqus.assembly import place, turn
from fem_mbs.meshes.abaqus.deck import Normal, Orientation
from fem_mbs.meshes.abaqus.text import Card, Row, label, where
from fem_mbs.meshes.texts import is_number

if TYPE_CHECKING:
    from fem_mbs.meshes.abaqus.reader import Reading

__all__ = ["ORIENTATION_KEYWORDS", "check_axes"]


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
    if len(fields) == 1 and fields[0] and not is_number(fields[0]):
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


ORIENTATION_KEYWORDS = {
    "ORIENTATION": orientation,
    "DISTRIBUTION": distribution,
    "NORMAL": normal,
}
