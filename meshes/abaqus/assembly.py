"""Parts, instances and the assembly of a deck, as Abaqus/CAE writes them, brought into one flat list of keywords.

    *PART ... *END PART            keywords that every instance of the part has: nodes, elements, sets, sections
    *ASSEMBLY ... *END ASSEMBLY    instances of parts, and sets, surfaces, constraints over several instances
    *INSTANCE ... *END INSTANCE    places a part: a translation, then a rotation about an axis; more keywords of its own

Every instance gets copies of its part's keywords that know it as their ``instance``.  Its nodes and elements, sets,
surfaces and orientations are named INSTANCE.NAME from outside, NAME by its own keywords.  Numbers of nodes and elements
count in each instance anew; `Numbering` makes numbers of the model of them.

Source: Abaqus Analysis User's Guide, "Assembly definition".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.errors import MeshError
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.text import Card, Row

__all__ = ["ASSEMBLY_KEYWORDS", "Instance", "Numbering", "flattened", "motion"]

ASSEMBLY_KEYWORDS = {
    **dict.fromkeys(("PART", "END PART"), "a mesh with sets, surfaces and sections, which instances place"),
    **dict.fromkeys(("ASSEMBLY", "END ASSEMBLY"), "the instances of parts, with sets and constraints over several"),
    **dict.fromkeys(("INSTANCE", "END INSTANCE"), "a part moved and turned to its place"),
}


@dataclass(frozen=True, eq=False)
class Instance:
    """A part of the ``assembly``: x (in the part) is at rotation (3, 3) . x + shift (3,) in the model."""

    name: str
    rotation: np.ndarray
    shift: np.ndarray
    assembly: str = ""

    def place(self, x: np.ndarray) -> np.ndarray:
        """Return positions (..., 3) in the model of points of the part."""
        return x @ self.rotation.T + self.shift

    def turn(self, v: np.ndarray) -> np.ndarray:
        """Return directions (..., 3) in the model of directions of the part."""
        return v @ self.rotation.T


def place(at: Card | Row, x: np.ndarray) -> np.ndarray:
    """Return positions (..., 3) in the model of points that a keyword gives."""
    instance = at.instance
    return x if instance is None else instance.place(x)


def turn(at: Card | Row, v: np.ndarray) -> np.ndarray:
    """Return directions (..., 3) in the model of those that a keyword gives."""
    instance = at.instance
    return v if instance is None else instance.turn(v)


@dataclass(frozen=True)
class Numbering:
    """Numbers of the model for numbers that count in each instance anew.

    Number n of the k-th of ``names`` (instances, then "", the assembly) is k * width + n; ``width`` is a power of ten,
    so that the last digits are those of the deck.  A deck without parts has no names and keeps its numbers.
    """

    names: tuple[str, ...] = ()
    width: int = 0

    @classmethod
    def of(cls, names: Sequence[str], largest: int) -> Numbering:
        """Return the numbering of instances whose ``largest`` number is given."""
        return cls((*names, ""), 10 ** len(str(largest))) if names else cls()

    def offset(self, instance: Instance | None) -> int:
        """Return the offset of the numbers of an instance, or of the assembly."""
        if not self.names:
            return 0
        return self.width * self.names.index("" if instance is None else instance.name)

    def place(self, numbers: ArrayLike, instance: Instance | None) -> np.ndarray:
        """Return numbers of the model for ``numbers`` of an instance, or of the assembly.

        Those that are larger than any of an instance stand behind all others, where nothing is defined.
        """
        given = np.asarray(numbers)
        if not self.names:
            return given
        return given + np.where(given < self.width, self.offset(instance), self.width * len(self.names))

    def label(self, number: int) -> str:
        """Return the number in the deck, INSTANCE.NUMBER of nodes and elements of instances."""
        if not self.names or number < 0:
            return str(number)
        k, own = divmod(int(number), self.width)
        if k >= len(self.names):  # not that of any instance
            return str(int(number) - self.width * len(self.names))
        name = self.names[k]
        return f"{name}.{own}" if name else str(own)


def motion(card: Card, turns: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation (3, 3) and shift (3,) from the data lines of *INSTANCE: a translation, then two points on an axis
    and an angle in degrees, by which the translated part is turned, ``turns`` times."""
    R, shift = np.eye(3), np.zeros(3)
    for k, (row, fields) in enumerate(card.rows()):
        if k == 0:
            v = row.numbers(fields, "a translation", 0, 3)
            shift[: len(v)] = v
        elif k == 1:
            v = row.numbers(fields, "a rotation (two points and an angle)", 7, 7)
            a, b, angle = np.array(v[:3]), np.array(v[3:6]), np.deg2rad(turns * v[6])
            length = float(np.linalg.norm(b - a))
            if not length > 0.0:
                row.fail("both points of the axis are the same; give two different ones")
            n = (b - a) / length
            N = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
            R = np.eye(3) + np.sin(angle) * N + (1.0 - np.cos(angle)) * N @ N
            shift = R @ (shift - a) + a
        else:
            row.fail("there are two data lines: the translation and the rotation")
    return R, shift


def flattened(cards: list[Card]) -> tuple[list[Card], list[Instance]]:
    """Return the keywords with those of parts copied to their instances, and the instances.

    Raises:
        MeshError: parts and instances that are not closed, do not exist or stand twice.
    """
    if not any(card.keyword in ASSEMBLY_KEYWORDS for card in cards):
        return cards, []
    parts: dict[str, list[Card]] = {}
    instances: dict[str, Instance] = {}
    out: list[Card] = []
    part: Card | None = None
    assembly: Card | None = None
    instance: Card | None = None
    within: Instance | None = None
    for card in cards:
        if card.keyword not in ASSEMBLY_KEYWORDS:
            if part is not None:
                parts[part.need("NAME")].append(card)
            else:
                out.append(card if within is None else replace(card, instance=within))
            continue
        open_ = instance or part or assembly
        if card.keyword.startswith("END "):
            what = card.keyword[4:]
            if open_ is None or open_.keyword != what:
                card.fail(f"there is no open *{what} before it" + (f", but a *{open_.keyword}" if open_ else ""))
            if what == "PART":
                part = None
            elif what == "INSTANCE":
                instance = within = None
            else:
                assembly = None
            continue
        if card.keyword == "INSTANCE":
            if assembly is None:
                card.fail("it stands outside of the assembly; put it between *ASSEMBLY and *END ASSEMBLY")
            if instance is not None:
                card.fail(f"the instance of line {instance.line} has no *END INSTANCE")
            if "LIBRARY" in card.params or "INSTANCE" in card.params:
                card.fail("an instance from the results of another analysis is not read; give its part")
            name, of = card.need("NAME"), card.need("PART")
            if name in instances:
                card.fail(f"the instance {name} is defined twice")
            if of not in parts:
                card.fail(f"the part {of!r} is not defined; there are {', '.join(parts) or 'none'}")
            within = instances[name] = Instance(name, *motion(card), assembly.get("NAME", ""))
            instance = card
            out += [replace(own, instance=within, taken=set(own.taken)) for own in parts[of]]
            continue
        if open_ is not None:
            open_.fail(f"no *END {open_.keyword} follows before the *{card.keyword} in line {card.line}")
        if card.keyword == "PART":
            name = card.need("NAME")
            if name in parts:
                card.fail(f"the part {name} is defined twice")
            part, parts[name] = card, []
        else:
            assembly = card
    open_ = instance or part or assembly
    if open_ is not None:
        open_.fail(f"no *END {open_.keyword} follows; the file may have been cut off")
    if not instances:
        first = next(card for card in cards if card.keyword in ASSEMBLY_KEYWORDS)
        raise MeshError(
            f"{first.file}, line {first.line}: *{first.keyword}: the deck has no *INSTANCE; add an assembly with "
            "instances of its parts"
        )
    return out, list(instances.values())
