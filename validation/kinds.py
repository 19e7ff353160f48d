"""Kinds of references: what a row of the validation compares with, and what its agreement is worth.

Printed numbers, other programs, closed forms and independent computations know nothing of this package: these four are
independent of it.  The others are useful as well, but agreement with them proves less.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "CLOSED_FORM",
    "INDEPENDENT",
    "KINDS",
    "PROPERTY",
    "RECOMPUTED",
    "SELF",
    "Kind",
    "in_ansys_manual",
    "printed",
    "program",
    "quoted",
    "totals",
]


@dataclass(frozen=True)
class Kind:
    """A kind of reference.

    Attributes:
        word: its name in tables.
        independent: whether the reference knows nothing of this package.
        meaning: one sentence on it.
        where: of printed and quoted numbers the source, table or equation and page; of a program name and version.
    """

    word: str
    independent: bool
    meaning: str
    where: str = ""

    def __str__(self) -> str:
        return f"{self.word}: {self.where}" if self.where else self.word


_PRINTED = Kind("printed", True, "a number that the source prints, in the table, equation or page named")
_PROGRAM = Kind("program", True, "a result of another program, of the version named")
#: A formula, evaluated in the validation file.
CLOSED_FORM = Kind("closed form", True, "a formula, evaluated in the validation file")
#: Another method or formulation in the validation file: scipy's solvers, quadrature, equations of motion by hand.
INDEPENDENT = Kind("independent", True, "a computation in the validation file that shares nothing with the package")
_QUOTED = Kind("quoted", False, "a number from memory of its source, which was not at hand")
#: A number that this project computed once, outside of the package, and wrote into the file.
RECOMPUTED = Kind("recomputed", False, "a number that this project computed outside of the package and wrote down")
#: Conservation, symmetry, an order of convergence, an inequality: a value that theory demands without a computation.
PROPERTY = Kind("property", False, "a value that theory demands: conservation, symmetry, an order of convergence")
#: Two ways of the package itself.
SELF = Kind("self", False, "another result of the package itself: a finer mesh, another element, another step")

KINDS = (_PRINTED, _PROGRAM, CLOSED_FORM, INDEPENDENT, _QUOTED, RECOMPUTED, PROPERTY, SELF)


def printed(where: str) -> Kind:
    """Return the kind of a printed number: "Meijaard (1996), table 3"."""
    return _at(_PRINTED, where)


def in_ansys_manual(where: str, problem: str) -> Kind:
    """Return the kind of a target that ANSYS's verification manual prints after a book or paper.

    Its decks are public: github.com/ansys/pymapdl, src/ansys/mapdl/core/examples/verif.
    """
    return printed(f"{where}, in the verification manual of ANSYS Mechanical APDL, {problem}")


def program(where: str) -> Kind:
    """Return the kind of a result of another program: "CalculiX 2.20"."""
    return _at(_PROGRAM, where)


def quoted(where: str) -> Kind:
    """Return the kind of a number from memory of a source."""
    return _at(_QUOTED, where)


def _at(kind: Kind, where: str) -> Kind:
    if not where:
        raise ValueError(f"a {kind.word} reference names where it stands")
    return Kind(kind.word, kind.independent, kind.meaning, where)


def totals(kinds: Iterable[Kind]) -> dict[str, int]:
    """Return the number of rows of each kind, by its word, in the order of `KINDS`."""
    found = {kind.word: 0 for kind in KINDS}
    for kind in kinds:
        found[kind.word] += 1
    return found
