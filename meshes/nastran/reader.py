"""Read a Nastran deck: `read_bulk`, or its mesh: `read_bulk_mesh`."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from fem_mbs.errors import MeshError
from fem_mbs.meshes.nastran.cards import CARDS, Card, anything, read_card
from fem_mbs.meshes.nastran.case import read_case
from fem_mbs.meshes.nastran.deck import BulkDeck, Command, Parameter
from fem_mbs.meshes.nastran.text import Entry, Line, read_entries, read_sections
from fem_mbs.meshes.texts import short

__all__ = ["SOLUTIONS", "read_bulk", "read_bulk_mesh"]

#: Names of solutions -> numbers.
SOLUTIONS = {
    "SESTATIC": 101, "SESTATICS": 101, "SEMODES": 103, "SEBUCKL": 105, "SEDCEIG": 107, "SEDFREQ": 108, "SEDTRAN": 109,
    "SEMCEIG": 110, "SEMFREQ": 111, "SEMTRAN": 112, "NLSTATIC": 106, "STATIC": 101, "STATICS": 101, "MODES": 103,
    "BUCKLING": 105, "NONLINEAR": 106, "SEFLUTTR": 145, "SEAERO": 146, "DESOPT": 200, "NLTRAN": 129,
}  # fmt: skip
#: Rigid formats of COSMIC Nastran and MYSTRAN, of MSC Nastran before its structured solutions -> numbers of today.
_RIGID_FORMATS = {
    1: 101, 24: 101, 61: 101, 3: 103, 25: 103, 63: 103, 5: 105, 65: 105, 66: 106, 7: 107, 28: 107, 67: 107, 8: 108,
    26: 108, 68: 108, 9: 109, 27: 109, 69: 109, 10: 110, 29: 110, 70: 110, 11: 111, 30: 111, 71: 111, 12: 112, 31: 112,
    72: 112,
}  # fmt: skip


def _executive(lines: list[Line]) -> tuple[int, str, list[Command]]:
    """Return the solution, where it stands, and all statements."""
    sol, where, out = 0, "", []
    for line in lines:
        words = line.text.strip().upper().replace(",", " ").replace("=", " ").split()
        if not words:
            continue
        out.append(Command(words[0], (), " ".join(words[1:]), line.where))
        if words[0] == "SOL":
            name = words[1] if len(words) > 1 else ""
            if re.fullmatch(r"\d{1,4}", name):
                sol = _RIGID_FORMATS.get(int(name), int(name))
            elif name in SOLUTIONS:
                sol = SOLUTIONS[name]
            else:
                line.fail(f"SOL {short(name)} is no solution that is known")
            where = line.where
    return sol, where, out


def _parameter(entry: Entry) -> tuple[str, Parameter]:
    name, *values = entry.fields
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,7}", name):
        entry.fail(f"{short(name)} is no name of a parameter")
    there = [k for k, v in enumerate(values) if v]
    if not there:
        entry.fail(f"the parameter {name.upper()} has no value")
    found = values[there[0] : there[-1] + 1]
    return name.upper(), Parameter(tuple(anything(v) if v else None for v in found), entry.where)


def _numbered(cards: dict[str, list[Card]]) -> None:
    """Refuse numbers that are given twice.

    Raises:
        MeshError: with file and line of the second.
    """
    for names, what in _UNIQUE:
        seen: dict[int, Card] = {}
        for card in (c for name in names for c in cards.get(name, ())):
            number = card.id
            if number <= 0:
                raise MeshError(f"{card.where}: {card.name}: the number {number} is not positive")
            before = seen.get(number)
            if before is not None:
                if before.values == card.values and card.name in ("GRID", "CORD2R", "CORD2C", "CORD2S"):
                    continue
                raise MeshError(f"{card.where}: {what} {number} is there already ({before.where})")
            seen[number] = card


#: Entries whose numbers must differ, and what they are.
_UNIQUE = (
    (("GRID",), "the grid point"),
    (("CORD1R", "CORD1C", "CORD1S", "CORD2R", "CORD2C", "CORD2S"), "the coordinate system"),
    (("MAT1", "MAT2", "MAT8", "MAT9"), "the material"),
    (("PBAR", "PBARL"), "the property of bars"),
    (("PBEAM", "PBEAML"), "the property of beams"),
    (("PROD",), "the property of rods"),
    (("PTUBE",), "the property of tubes"),
    (("PSHELL", "PCOMP", "PCOMPG"), "the property of shells"),
    (("PSHEAR",), "the property of panels"),
    (("CSHEAR",), "the panel"),
    (("PSOLID",), "the property of solids"),
    (("PBUSH",), "the property of bushes"),
    (("CBAR", "CBEAM"), "the bar"),
    (("CROD", "CONROD", "CTUBE"), "the rod"),
    (("CQUAD4", "CQUADR", "CTRIA3", "CTRIAR", "CQUAD8", "CTRIA6"), "the shell"),
    (("CHEXA", "CPENTA", "CTETRA"), "the solid"),
    (("CONM1", "CONM2"), "the mass"),
    (("CMASS1", "CMASS2", "CMASS3", "CMASS4"), "the scalar mass"),
    (("CBUSH",), "the bush"),
    (("CELAS1", "CELAS2", "CELAS3", "CELAS4"), "the spring"),
    (("CDAMP1", "CDAMP2", "CDAMP3", "CDAMP4", "CVISC"), "the damper"),
    (("RBE2", "RBE3", "RBAR"), "the rigid element"),
    (("EIGRL", "EIGR", "EIGB"), "the method"),
    (("EIGC",), "the method of complex modes"),
)


_SUBCASE = re.compile(r"\s*SUBCASE\b", re.IGNORECASE)


def read_bulk_mesh(path: str | Path, names: Collection[str]) -> BulkDeck:
    """Return the entries of these ``names`` of a deck and its sets; the rest is not looked at.

    Raises:
        MeshError: files that cannot be read, such entries that are wrong, with file and line.
    """
    path = Path(path)
    sections = read_sections(path)
    of_sets: list[Line] = []
    goes_on = False
    for line in sections.case:
        words = line.text.split("$")[0].upper().split()
        if goes_on or (words and words[0] == "SET"):
            of_sets.append(line)
            goes_on = bool(words) and words[-1].endswith(",")
    _, sets = read_case(of_sets)
    cards: dict[str, list[Card]] = {}
    unknown: list[Entry] = []
    for entry in read_entries(sections.bulk):
        if entry.name in names:
            cards.setdefault(entry.name, []).append(read_card(entry, CARDS[entry.name]))
        else:
            unknown.append(entry)
    _numbered(cards)
    return BulkDeck(path.name, sections.files, 0, "", "", [], sets, {}, cards, unknown, [], sections.end)


def read_bulk(path: str | Path) -> BulkDeck:
    """Return the content of a Nastran deck.

    Raises:
        MeshError: files that cannot be read, entries that are wrong, with file and line.
    """
    path = Path(path)
    sections = read_sections(path)
    sol, where, executive = _executive(sections.executive)
    given = [line for line in sections.case if line.text.lstrip()[:5].upper() == "PARAM"]
    subcases, sets = read_case([line for line in sections.case if line not in given])
    cards: dict[str, list[Card]] = {}
    unknown: list[Entry] = []
    params: dict[str, Parameter] = {}
    disputed: dict[str, Parameter] = {}

    def enter(name: str, value: Parameter) -> None:
        if params.setdefault(name, value).values != value.values:
            disputed[name] = value

    first = next((k for k, line in enumerate(sections.case) if _SUBCASE.match(line.text)), None)
    of_subcases = [] if first is None or len(subcases) < 2 else sections.case[first:]
    for line in given:  # of case control, which may stand anywhere in its line
        entry = read_entries([Line(line.text.strip(), line.file, line.line)])[0]
        if entry.name != "PARAM":
            entry.fail("a parameter is written PARAM,NAME,VALUE")
        name, value = _parameter(entry)
        enter(name, value)
        if line in of_subcases:
            disputed[name] = value
    for entry in read_entries(sections.bulk):
        if entry.name == "PARAM":
            enter(*_parameter(entry))
        elif entry.name in CARDS:
            cards.setdefault(entry.name, []).append(read_card(entry, CARDS[entry.name]))
        else:
            unknown.append(entry)
    _numbered(cards)
    title = next((s.commands["TITLE"].value for s in subcases if "TITLE" in s.commands), "")
    return BulkDeck(
        path.name, sections.files, sol, where, title, subcases, sets, params, cards, unknown, executive, sections.end,
        disputed,
    )  # fmt: skip
