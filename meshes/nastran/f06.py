"""Read the printed listing of MSC Nastran (.f06), of NX Nastran, and of MYSTRAN.

Read are displacements, forces of supports, eigenvalues, and forces, stresses and strains of elements; of MYSTRAN those
of bars, rods, springs and shells.  Tables begin with a title in spaced letters.  Other tables of the listing are passed
over.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from pathlib import Path

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.files import read_file
from fem_mbs.late import dataclass
from fem_mbs.meshes.texts import number

__all__ = ["Listing", "ListingTable", "read_f06"]

MAX_SIZE = 1 << 30  # bytes


@dataclass
class ListingTable:
    """A table: quantity as in the ``prints`` of a deck (DISPLACEMENT, SPCFORCES, EIGENVALUES, CROD, STRESS CBAR ...),
    subcase (0: not named), mode (0: none), numbers (n,), points beside them (0 where there are none) and values (n,
    k); ``named`` are words of its heading."""

    quantity: str
    subcase: int
    mode: int
    ids: list[int] = field(default_factory=list)
    rows: list[list[float]] = field(default_factory=list)
    points: list[int] = field(default_factory=list)
    named: set[str] = field(default_factory=set)

    def add(self, id_: int, values: list[float], point: int = 0) -> None:
        """Append a row."""
        self.ids.append(id_)
        self.points.append(point)
        self.rows.append(values)

    def drop_parts(self) -> None:
        """Remove rows of which the listing lacks lines, as at its end."""
        width = max(map(len, self.rows))
        kept = [k for k, row in enumerate(self.rows) if len(row) == width]
        self.ids, self.points = [self.ids[k] for k in kept], [self.points[k] for k in kept]
        self.rows = [self.rows[k] for k in kept]

    @property
    def key(self) -> tuple[str, int, int]:
        """Key that distinguishes the table from others."""
        return self.quantity, self.subcase, self.mode

    @property
    def values(self) -> np.ndarray:
        """Values (n, k)."""
        return np.array(self.rows, float)


@dataclass
class Listing:
    """Tables in their order, those that go on over pages joined; ``fatal`` the first fatal message, "" for none."""

    tables: list[ListingTable]
    fatal: str = ""


_SHELL = r"(?:QUADRILATERAL|TRIANGULAR)ELEMENTS\((QUAD4|QUAD8|QUADR|TRIA3|TRIA6|TRIAR)\)"
#: Titles without blanks -> quantity, with what the first group of the pattern names.
_TITLES = (
    (re.compile(r"DISPLACEMENTVECTOR"), "DISPLACEMENT"),
    (re.compile(r"FORCESOFSINGLE-POINTCONSTRAINT"), "SPCFORCES"),
    (re.compile(r"REALEIGENVALUES"), "EIGENVALUES"),
    (re.compile(r"COMPLEXEIGENVALUESUMMARY"), "COMPLEX EIGENVALUES"),
    (re.compile(r"REALEIGENVECTORNO\.(\d+)"), "DISPLACEMENT"),
    (re.compile(r"FORCESIN(?:ROD|BAR|BEAM|BUSH)ELEMENTS\((CROD|CONROD|CBAR|CBEAM|CBUSH)\)"), "{}"),
    (re.compile(r"FORCESIN" + _SHELL), "C{}"),
    (re.compile(r"STRESSESIN(?:ROD|BAR|BEAM|BUSH)ELEMENTS\((CROD|CONROD|CBAR|CBEAM|CBUSH)\)"), "STRESS {}"),
    (re.compile(r"STRAINSIN(?:ROD|BAR|BEAM|BUSH)ELEMENTS\((CROD|CONROD|CBAR|CBEAM|CBUSH)\)"), "STRAIN {}"),
    (re.compile(r"STRESSESIN" + _SHELL), "STRESS C{}"),
    (re.compile(r"STRAINSIN" + _SHELL), "STRAIN C{}"),
    (re.compile(r"STRESSESIN\w+SOLIDELEMENTS\(C?(HEXA|PENTA|TETRA)\)"), "STRESS C{}"),
    (re.compile(r"STRAINSIN\w+SOLIDELEMENTS\(C?(HEXA|PENTA|TETRA)\)"), "STRAIN C{}"),
    (re.compile(r"STRESSESINLAYEREDCOMPOSITEELEMENTS\((QUAD4|QUAD8|TRIA3|TRIA6)\)"), "PLY STRESS C{}"),
    (re.compile(r"STRAINSINLAYEREDCOMPOSITEELEMENTS\((QUAD4|QUAD8|TRIA3|TRIA6)\)"), "PLY STRAIN C{}"),
)
#: Titles of MYSTRAN; of elements the type follows on the next line.
_MYSTRAN = (
    (re.compile(r"DISPLACEMENTS$|EIGENVECTOR$"), "DISPLACEMENT"),
    (re.compile(r"SPCFORCES$"), "SPCFORCES"),
    (re.compile(r"ELEMENTENGINEERINGFORCES$"), "{}"),
    (re.compile(r"ELEMENTSTRESSESINLOCALELEMENTCOORDINATESYSTEM$"), "STRESS {}"),
)
_TYPE = re.compile(r"FORELEMENTTYPE(BAR|ROD|ELAS1|ELAS2|QUAD4|TRIA3)$")
_OUTPUT = re.compile(r"^\s*OUTPUT FOR (SUBCASE|EIGENVECTOR)\s+(\d+)\s*$")
#: Words of headings that say what the columns hold.
_NAMED = {
    "VON MISES": "VON MISES", "MAX SHEAR": "MAX SHEAR", "OCTAHEDRAL": "OCTAHEDRAL", "CURVATURE": "CURVATURE",
    "MATERIAL COORD": "MATERIAL", "GRID-ID": "CORNER", "BEFORE AUGMENTATION": "BEFORE AUGMENTATION",
}  # fmt: skip
#: Lines at the beginning among which the program is named.
_HEAD = 60
#: What heads modes of a basis before and after residual vectors join it.
_BEFORE, _AFTER = "BEFORE AUGMENTATION", "AFTER AUGMENTATION"
_SPACED = re.compile(r"\s*(?:[A-Z\-] ){4,}")
_LETTERS = re.compile(r"\s*(?:[A-Z]\s+){6,}")
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
    if joined.startswith("COMPLEX") and not joined.startswith("COMPLEXEIGENVALUE"):
        return "", 0
    for pattern, quantity in _TITLES:
        found = pattern.match(joined)
        if found is not None:
            word = found[1] if pattern.groups else ""
            return quantity.format(word), int(word) if word.isdigit() else 0
    return "", 0


def _title_of_mystran(text: str, pending: str) -> tuple[str, str] | None:
    """Return the quantity and the one that waits for its type of element; None for a line that is no title."""
    if not _LETTERS.match(text):
        return None
    joined = re.sub(r"\s+", "", text)
    found = _TYPE.match(joined)
    if found is not None:
        return pending.format(f"C{found[1]}"), ""
    for pattern, quantity in _MYSTRAN:
        if pattern.match(joined):
            return ("", quantity) if "{}" in quantity else (quantity, "")
    return "", ""


def read_f06(path: str | Path) -> Listing:
    """Return the tables of a listing.

    Raises:
        MeshError: the file cannot be read.
    """
    path = Path(path)
    try:
        if path.stat().st_size > MAX_SIZE:
            raise MeshError(f"{path.name}: {path.stat().st_size} bytes are too many for a listing")
        lines = read_file(path).decode("latin-1").splitlines()
    except OSError as error:
        raise MeshError(f"{path.name}: cannot be read ({error})") from error
    out = Listing([])
    mystran = any("MYSTRAN" in text for text in lines[:_HEAD])
    (_read_mystran if mystran else _read_nastran)(out, lines)
    out.tables = [t for t in out.tables if t.ids]
    whole = {t.key for t in out.tables if _BEFORE not in t.named}
    # modes of held masters are left out where those of the model follow
    out.tables = [t for t in out.tables if _BEFORE not in t.named or t.key not in whole]
    for t in out.tables:
        t.drop_parts()
    return out


def _table_of(out: Listing, quantity: str, subcase: int, mode: int) -> ListingTable:
    """Return the table that goes on, or a new one."""
    same = [t for t in out.tables if t.key == (quantity, subcase, mode) and _BEFORE not in t.named]
    if not same:
        out.tables.append(ListingTable(quantity, subcase, mode))
    return same[-1] if same else out.tables[-1]


def _read_nastran(out: Listing, lines: list[str]) -> None:
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
            table = _table_of(out, quantity, subcase, mode or mode_of) if quantity else None
            continue
        if table is not None and _AFTER in text:
            table = None  # modes and residual vectors
        if table is None:
            continue
        table.named |= {word for found, word in _NAMED.items() if found in text}
        element = _row(table, text, element)


def _read_mystran(out: Listing, lines: list[str]) -> None:
    subcase, mode, element, pending = 0, 0, 0, ""
    table: ListingTable | None = None
    for text in lines:
        if "FATAL" in text and not out.fatal:
            out.fatal = " ".join(text.split())
        found = _OUTPUT.match(text)
        if found is not None:
            subcase, mode = (int(found[2]), 0) if found[1] == "SUBCASE" else (0, int(found[2]))
            table = None
            continue
        if re.sub(r"\s+", "", text) == "REALEIGENVALUES":
            table = _table_of(out, "EIGENVALUES", 0, 0)
            continue
        title = _title_of_mystran(text, pending)
        if title is not None:
            quantity, pending = title
            table = _table_of(out, quantity, subcase, mode) if quantity else None
            continue
        if table is not None:
            table.named.add("MYSTRAN")
            words = [word for word in text.split() if word not in ("CENTER", "Anywhere", "in", "elem")]
            if table.quantity.startswith("STRESS CQUAD4") or table.quantity.startswith("STRESS CTRIA3"):
                words = words[:9] if words and words[0].isdigit() else words[:8]
            element = _row(table, " " + " ".join(words), element)


def _mode_of(listing: Listing, text: str) -> int:
    """Return the number of the mode that a line of its eigenvalue heads; -1 if the listing has no table of them."""
    value = _numbers([text])
    for table in listing.tables:
        if table.quantity == "EIGENVALUES" and value is not None:
            off = np.abs(table.values[:, 0] - value[0])
            return table.ids[int(off.argmin())]
    return -1


def _row(table: ListingTable, text: str, element: int) -> int:
    """Append a row of a table if the line is one; return the element that the next rows belong to."""
    words = (" " + text[1:] if text[:1] == "0" else text).split()
    if not words:
        return element
    read = _READERS.get(table.quantity)
    if read is None:
        kind, _, type_ = table.quantity.rpartition(" ")
        if kind.startswith("PLY"):
            read = _ply_row
        elif type_ in ("CHEXA", "CPENTA", "CTETRA"):
            return _solid_row(table, text, words, element)
        else:
            read = _shell_stress_row if kind else _shell_force_row
    return read(table, words, element)


def _nodal_row(table: ListingTable, words: list[str], element: int) -> int:
    kinds = words[1] in ("G", "S") or ("MYSTRAN" in table.named and words[1].isdigit()) if len(words) == 8 else False
    if kinds and words[0].isdigit():
        values = _numbers(words[2:])
        if values is not None:
            table.add(int(words[0]), values)
    return element


def _root_row(table: ListingTable, words: list[str], element: int) -> int:
    values = _numbers(words)
    if len(words) == 7 and values is not None and "." in words[2]:  # not a trailer of a data block
        table.add(int(values[0]), values[2:5])
    return element


def _complex_root_row(table: ListingTable, words: list[str], element: int) -> int:
    values = _numbers(words)
    if len(words) == 6 and values is not None:
        table.add(int(values[0]), values[2:6])
    return element


def _elements(count: int, most: int) -> Callable[[ListingTable, list[str], int], int]:
    """Return the reader of lines that hold up to ``most`` elements: the number of each, then ``count`` values."""

    def read(table: ListingTable, words: list[str], element: int) -> int:
        values, width = _numbers(words), count + 1
        whole = len(words) % width == 0 and len(words) <= most * width
        if values is not None and whole and all(word.isdigit() for word in words[::width]):
            for k in range(0, len(words), width):
                table.add(int(words[k]), values[k + 1 : k + width])
        return element

    return read


_rod_force_row = _elements(2, 2)
_bar_force_row = _elements(8, 1)
_spring_row = _elements(1, 4)
_bush_row = _elements(6, 1)


def _rod_stress_row(table: ListingTable, words: list[str], element: int) -> int:
    """Read one or two elements of two values each, with margins of safety in two digits behind some of these."""
    kept = [word for word in words if word.isdigit() or word == "0.0" or len(word) > len("-1.6E-01")]
    return _rod_force_row(table, kept, element)


def _bar_stress_row(table: ListingTable, words: list[str], element: int) -> int:
    """Read the two lines of a bar: bending at end A, axial, extremes at A; bending and extremes at end B."""
    mystran = "MYSTRAN" in table.named
    if mystran:
        words = [word for word in words if not _MARGIN.match(word)]
    values = _numbers(words)
    if not words or values is None:
        return element
    if words[0].isdigit() and len(words) in (8, 9):
        table.add(int(words[0]), values[1:8])
        return int(words[0])
    axial = 1 if mystran and len(words) == 7 else 0  # some versions print it on both lines
    if table.ids and table.ids[-1] == element and len(table.rows[-1]) == 7 and len(words) - axial in (6, 7):
        table.rows[-1] += [*values[:4], *values[4 + axial : 6 + axial]]
    return element


def _beam_row(table: ListingTable, words: list[str], element: int) -> int:
    """Read an element, or one of its ends; stations between the ends are passed over."""
    values = _numbers(words)
    if values is None or not words[0].isdigit():
        return element
    if len(words) == 1:
        return int(words[0])
    if len(words) >= 8 and values[1] in (0.0, 1.0):
        table.add(element, values[2:8], 1 + int(values[1]))
    return element


def _shell_force_row(table: ListingTable, words: list[str], element: int) -> int:
    """Read the middle of an element, or a corner."""
    point = 0
    if len(words) > 1 and words[1].startswith("CEN/") and words[0].isdigit():
        element, words = int(words[0]), words[2:]
    elif len(words) == 9 and words[0].isdigit():
        if "CORNER" in table.named:
            point = int(words[0])
        else:
            element = int(words[0])
        words = words[1:]
    else:
        return element
    if len(words) > 8 and words[0].isdigit():
        words = words[1:]
    values = _numbers(words)
    if values is not None and len(values) == 8:
        table.add(element, values, point)
    return element


def _shell_stress_row(table: ListingTable, words: list[str], element: int) -> int:
    """Read one of the two lines of the middle of an element, or of a corner."""
    point = 0
    if len(words) == 10 and words[1].startswith("CEN/") and words[0].isdigit():
        element, words = int(words[0]), words[2:]
    elif len(words) == 9 and words[0].isdigit():
        if "CORNER" in table.named:
            point = int(words[0])
        else:
            element = int(words[0])
        words = words[1:]
    elif len(words) != 8 or not table.rows or len(table.rows[-1]) != 8:
        return element
    else:
        values = _numbers(words)
        if values is not None:
            table.rows[-1] += values
        return element
    values = _numbers(words)
    if values is not None and len(values) == 8:
        table.add(element, values, point)
    return element


def _ply_row(table: ListingTable, words: list[str], element: int) -> int:
    values = _numbers(words)
    if values is not None and len(words) == 11 and words[0].isdigit() and words[1].isdigit():
        table.add(int(words[0]), values[2:], int(words[1]))
    return element


#: Margins of safety of MYSTRAN, in three digits.
_MARGIN = re.compile(r"-?\d\.\d\dE[+-]\d\d\*?$")
_SOLID = re.compile(
    r"^.{16,26}?(CENTER|\d+)?\s+([XYZ])\s+(\S+)\s+(XY|YZ|ZX)\s+(\S+)\s+[ABC]\s+(\S+)\s+L[XYZ][\s\d.\-]{15}(.*)$"
)


def _solid_row(table: ListingTable, text: str, words: list[str], element: int) -> int:
    """Read one of the three lines of the middle of an element, or of a corner, or the line that begins an element."""
    if "GRID CS" in text or text.rstrip().endswith("GP"):
        return int(words[0]) if words[0].isdigit() else element
    found = _SOLID.match(text)
    if found is None:
        return element
    values = _numbers([found[3], found[5], found[6], *found[7].split()])
    if values is None:
        return element
    if found[2] == "X" and found[1] and len(values) == 5:
        # X, XY, A, pressure, von Mises, until the other lines follow
        table.add(element, values, 0 if found[1] == "CENTER" else int(found[1]))
    elif table.rows and found[2] == "Y" and len(table.rows[-1]) == 5:
        table.rows[-1] += values
    elif table.rows and found[2] == "Z" and len(table.rows[-1]) == 8:
        x, xy, A, pressure, mises, y, yz, B = table.rows[-1]
        z, zx, C = values
        table.rows[-1] = [x, y, z, xy, yz, zx, A, B, C, pressure, mises]
    return element


_READERS = {
    "DISPLACEMENT": _nodal_row, "SPCFORCES": _nodal_row, "EIGENVALUES": _root_row,
    "COMPLEX EIGENVALUES": _complex_root_row, "CROD": _rod_force_row,
    "CONROD": _rod_force_row, "CBAR": _bar_force_row, "CBUSH": _bush_row, "STRESS CBUSH": _bush_row,
    "STRAIN CBUSH": _bush_row, "CBEAM": _beam_row, "STRESS CBEAM": _beam_row, "STRAIN CBEAM": _beam_row,
    "STRESS CBAR": _bar_stress_row, "STRAIN CBAR": _bar_stress_row, "STRESS CROD": _rod_stress_row,
    "CELAS1": _spring_row, "CELAS2": _spring_row, "STRESS CELAS1": _spring_row, "STRESS CELAS2": _spring_row,
    "STRAIN CROD": _rod_stress_row, "STRESS CONROD": _rod_stress_row, "STRAIN CONROD": _rod_stress_row,
}  # fmt: skip
