"""Read the printed listing of MSC Nastran (.f06).

Read are displacements, forces of supports, eigenvalues, and forces in bars and rods.  Tables begin with a title in
spaced letters.  Other tables of the listing are passed over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.meshes.nastran.text import number

__all__ = ["Listing", "ListingTable", "read_f06"]

MAX_SIZE = 1 << 30  # bytes


@dataclass
class ListingTable:
    """A table: quantity as in the ``prints`` of a deck (DISPLACEMENT, SPCFORCES, EIGENVALUES, CROD, CBAR, CBEAM),
    subcase (0: not named), mode (0: none), numbers (n,) and values (n, k)."""

    quantity: str
    subcase: int
    mode: int
    ids: list[int] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)

    @property
    def values(self) -> np.ndarray:
        """Values (n, k)."""
        return np.array(self.rows, float)


@dataclass
class Listing:
    """Tables in their order, those that go on over pages joined; ``fatal`` the first fatal message, "" for none."""

    tables: list[ListingTable]
    fatal: str = ""


#: Titles without blanks -> quantity; "" for tables that are passed over.
_TITLES = (
    (re.compile(r"DISPLACEMENTVECTOR"), "DISPLACEMENT"),
    (re.compile(r"FORCESOFSINGLE-POINTCONSTRAINT"), "SPCFORCES"),
    (re.compile(r"REALEIGENVALUES"), "EIGENVALUES"),
    (re.compile(r"REALEIGENVECTORNO\.(\d+)"), "DISPLACEMENT"),
    (re.compile(r"FORCESINRODELEMENTS\(CROD\)"), "CROD"),
    (re.compile(r"FORCESINBARELEMENTS\(CBAR\)"), "CBAR"),
    (re.compile(r"FORCESINBEAMELEMENTS\(CBEAM\)"), "CBEAM"),
)
_SPACED = re.compile(r"\s*(?:[A-Z\-] ){4,}")
_SUBCASE = re.compile(r"\bSUBCASE\s+(\d+)\s*(?:\*.*)?$")
_EIGENVALUE = re.compile(r"^\s*0?\s*EIGENVALUE\s*=\s*(\S+)")


def _numbers(words: list[str]) -> list[float] | None:
    try:
        return [number(w) for w in words]
    except ValueError:
        return None


def _title(text: str) -> tuple[str, int] | None:
    """Return quantity and mode of a title in spaced letters; None for a line that is no title."""
    if not _SPACED.match(text[1:] if text[:1] in "01" else text):
        return None
    joined = re.sub(r"\s+", "", text.lstrip("01"))
    if joined.startswith("COMPLEX"):
        return "", 0
    for pattern, quantity in _TITLES:
        found = pattern.match(joined)
        if found is not None:
            return quantity, int(found[1]) if pattern.groups else 0
    return "", 0


def read_f06(path: str | Path) -> Listing:
    """Return the tables of a listing.

    Raises:
        MeshError: the file cannot be read.
    """
    path = Path(path)
    try:
        if path.stat().st_size > MAX_SIZE:
            raise MeshError(f"{path.name}: {path.stat().st_size} bytes are too many for a listing")
        lines = path.read_bytes().decode("latin-1").splitlines()
    except OSError as error:
        raise MeshError(f"{path.name}: cannot be read ({error})") from error
    out = Listing([])
    subcase, mode_of, element = 0, 0, 0
    table: ListingTable | None = None
    for text in lines:
        if (root := _EIGENVALUE.match(text)) is not None:
            mode_of = _mode_of(out, root[1])
            continue
        if "FATAL" in text and "***" in text and not out.fatal:
            out.fatal = " ".join(text.split())
        if text.startswith("1 ") and "PAGE" in text:
            subcase, table, mode_of = 0, None, 0
            continue
        found = _SUBCASE.search(text)
        if found is not None:
            subcase, table = int(found[1]), None
            continue
        title = _title(text)
        if title is not None:
            quantity, mode = title
            table, mode = None, mode or mode_of
            if quantity:
                same = [t for t in out.tables if (t.quantity, t.subcase, t.mode) == (quantity, subcase, mode)]
                table = same[-1] if same else ListingTable(quantity, subcase, mode)
                if not same:
                    out.tables.append(table)
            continue
        if table is None:
            continue
        element = _row(table, text, element)
    out.tables = [t for t in out.tables if t.ids]
    return out


def _mode_of(listing: Listing, text: str) -> int:
    """Return the number of the mode that a line of its eigenvalue heads; -1 if the listing has no table of them."""
    value = _numbers([text])
    for table in listing.tables:
        if table.quantity == "EIGENVALUES" and value is not None:
            off = np.abs(table.values[:, 0] - value[0])
            return table.ids[int(off.argmin())]
    return -1


def _row(table: ListingTable, text: str, element: int) -> int:
    """Append a row of a table if the line is one; return the element of beams that the next rows belong to."""
    words = (" " + text[1:] if text[:1] == "0" else text).split()
    if not words:
        return element
    if table.quantity in ("DISPLACEMENT", "SPCFORCES"):
        if len(words) == 8 and words[1] in ("G", "S") and words[0].isdigit():
            values = _numbers(words[2:])
            if values is not None:
                table.ids.append(int(words[0]))
                table.rows.append(values)
        return element
    if table.quantity == "EIGENVALUES":
        values = _numbers(words)
        if len(words) == 7 and values is not None:
            table.ids.append(int(values[0]))
            table.rows.append(values[2:5])
        return element
    values = _numbers(words)
    if values is None or not words[0].isdigit():
        return element
    if table.quantity == "CROD" and len(words) in (3, 6):
        for k in range(0, len(words), 3):
            table.ids.append(int(words[k]))
            table.rows.append(values[k + 1 : k + 3])
    elif table.quantity == "CBAR" and len(words) == 9:
        table.ids.append(int(words[0]))
        table.rows.append(values[1:])
    elif table.quantity == "CBEAM":
        if len(words) == 1:
            return int(words[0])
        if len(words) == 9 and values[1] in (0.0, 1.0):
            table.ids.append(element)
            table.rows.append(values[2:8])
    return element
