"""Read CalculiX's printed results (.dat): tables of prints, eigenvalues, buckling factors, participation.

The layout is that of CalculiX 2.x (*NODE PRINT, *EL PRINT, *FREQUENCY, *BUCKLE, *COMPLEX FREQUENCY): a heading, then
rows of numbers up to the next heading.  Rows begin with the node, the element, or the element and its integration
point, as the heading says; sums have none of them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.files import read_file
from fem_mbs.late import dataclass
from fem_mbs.meshes.texts import number, short

__all__ = ["DatFile", "Modes", "Print", "read_dat"]


@dataclass(frozen=True, eq=False)
class Print:
    """One printed table.

    quantity: the deck's name (U, RF, S, E, V, ENER, EVOL, ...), with T added for sums over the set (RFT, EVOLT, ...),
    or "" for headings that are not known; heading: as printed; set_name; time: total time; step, increment (0: none
    printed); mode: the number of the mode that it shows, 0 for a state; columns: names of the values as printed, ()
    where none are; ids (n,) int64 nodes or elements (empty for sums), points (n,) integration points (empty where there
    are none); values (n, k).
    """

    quantity: str
    heading: str
    set_name: str
    time: float
    step: int
    increment: int
    mode: int
    columns: tuple[str, ...]
    ids: np.ndarray
    points: np.ndarray
    values: np.ndarray
    line: int


@dataclass(frozen=True, eq=False)
class Modes:
    """The table of one step.

    kind "frequency": eigenvalue (n,) omega^2, omega (n,) complex [rad/time], frequency (n,) [cycles/time];
    "complex": omega, the imaginary part positive for growing modes as printed; "buckling": factor (n,).  What a kind
    does not have is empty.  participation, effective_mass (n, 6): translations and rotations about x, y, z;
    total_mass (6,), all NaN where they are not printed.  diameter (n,): nodal diameters of waves, else empty.
    """

    kind: str
    step: int
    mode: np.ndarray
    eigenvalue: np.ndarray
    omega: np.ndarray
    frequency: np.ndarray
    factor: np.ndarray
    participation: np.ndarray
    effective_mass: np.ndarray
    total_mass: np.ndarray
    line: int
    diameter: np.ndarray


@dataclass(frozen=True, eq=False)
class DatFile:
    """All tables in the order of the file; skipped: headings whose tables are not read, with their lines."""

    source: str
    prints: tuple[Print, ...] = ()
    modes: tuple[Modes, ...] = ()
    skipped: tuple[str, ...] = ()

    def find(self, quantity: str, set_name: str | None = None, time: float | None = None) -> list[Print]:
        """Return prints of a quantity (upper case), of a set and at a time if given (to 1e-6 relative)."""
        return [
            p
            for p in self.prints
            if p.quantity == quantity
            and (set_name is None or p.set_name == set_name)
            and (time is None or abs(p.time - time) <= 1e-6 * max(abs(time), abs(p.time)))
        ]


# Heading without its parentheses -> name in the deck.
_QUANTITIES = {
    "displacements": "U",
    "velocities": "V",
    "forces": "RF",
    "total force": "RFT",
    "temperatures": "NT",
    "structural temperatures": "NT",
    "heat generation": "RFL",
    "total heat generation": "RFLT",
    "stresses": "S",
    "strains": "E",
    "mechanical strains": "ME",
    "equivalent plastic strain": "PEEQ",
    "creep equivalent strain": "CEEQ",
    "internal state variables": "SDV",
    "heat flux": "HFL",
    "internal energy density": "ENER",
    "internal energy": "ELSE",
    "total internal energy": "ELSET",
    "kinetic energy": "ELKE",
    "total kinetic energy": "ELKET",
    "volume": "EVOL",
    "total volume": "EVOLT",
    "mass": "EMAS",
    "total mass": "EMAST",
    "mass moment of inertia": "EMASI",
    "total mass moment of inertia": "EMASIT",
    "center of gravity": "COG",
    "total mass moment of inertia about the center ofgravity": "EMASICT",
    "total mass moment of inertia about the center of gravity": "EMASICT",
    "contact spring energy": "CELS",
    "centrifugal force": "CENTRIF",
    "body heating": "EBHE",
    "total body heating": "EBHET",
    "section forces": "SF",
}
_HEADING = re.compile(r"^\s*([A-Za-z][^(]*?)\s*(?:\(([^)]*)\)\s*)?for set (.*?)\s+and time\s+(\S+)\s*$")
# section forces through a surface: sub-headings without their parentheses -> quantities with their columns
_STATISTICS = re.compile(r"^\s*statistics for surface set (.*?)\s+and time\s+(\S+)\s*$")
_SURFACE_TABLES = {
    "total surface force": (("SOF", 3), ("SOM", 3)),
    "center of gravity and mean normal": (("SOCG", 6),),
    "moment about the center of gravity": (("SOMCG", 3),),
    "area, normal force": (("SOAREA", 5),),
}
_USER_ELEMENT = re.compile(r"^\s*\*USER ELEMENT[ ,]*NODES=\s*(\d+)[ ,]*LINEAR")
_STEP = re.compile(r"^\s*S T E P\s+(\d+)")
# titles of columns, and the sums below the effective masses
_TITLES = re.compile(r"^\s*(TOTAL\b|MODE\b|X-COMP|FACTOR|REAL|\(RAD|\(CYCLES)")
_MODE = re.compile(r"^\s*E I G E N V A L U E\s+N U M B E R\s+(\d+)")
_INCREMENT = re.compile(r"^\s*INCREMENT\s+(\d+)")


def _value(text: str) -> float:
    if text.lower().strip("+-") in ("nan", "inf", "infinity"):
        return float(text)
    if text.strip("*") == "":
        return np.nan  # Fortran's way to say that the number is too wide
    return number(text)


def _row(text: str, leading: int) -> list[float] | None:
    """Return numbers of a line; names after them (of local axes) are left out; None if it does not begin with
    numbers."""
    out: list[float] = []
    for word in text.split():
        try:
            out.append(_value(word))
        except ValueError:
            # columns without a blank between them: 0.1E+01-0.2E+01
            parts = re.findall(r"[+-]?(?:\d+\.\d*|\.\d+)(?:[EeDd][+-]?\d+)?", word)
            if parts and "".join(parts) == word and len(parts) > 1:
                out += [number(part) for part in parts]
            elif len(out) > leading:
                break
            else:
                return None
    return out or None


@dataclass
class _Lines:
    """The file, with the place."""

    name: str
    text: list[str]
    at: int = 0

    def table(self, leading: int) -> tuple[list[list[float]], int]:
        """Return rows of numbers from here, passing over blank lines before them; stops at the first other line."""
        rows: list[list[float]] = []
        while self.at < len(self.text):
            line = self.text[self.at]
            if not line.strip():
                if rows:
                    break
                self.at += 1
                continue
            row = _row(line, leading)
            if row is None:
                first, *more = line.split()
                if more and re.fullmatch(r"[+-]?[\d.]+", first):
                    self.fail(f"{short(more[0])} is not a number")
                break
            if rows and len(row) != len(rows[0]):
                self.fail(
                    f"{len(row)} numbers where the rows above have {len(rows[0])}; the file may have been cut off"
                )
            rows.append(row)
            self.at += 1
        return rows, self.at

    def fail(self, message: str) -> NoReturn:
        raise MeshError(f"{self.name}, line {self.at + 1}: {message}")


def read_dat(path: str | Path) -> DatFile:
    """Return the tables of a .dat file (an empty file has none); MeshError if it cannot be read or a table is
    broken."""
    path = Path(path)
    try:
        data = read_file(path)
    except (OSError, ValueError) as error:
        raise MeshError(f"{path.name}: cannot be read ({error})") from error
    if b"\0" in data:
        raise MeshError(f"{path.name}: byte 0x00 is not text; give a .dat file of CalculiX")
    lines = _Lines(path.name, data.decode("utf-8", errors="replace").splitlines())
    modes: list[dict] = []
    skipped: list[str] = []
    step = increment = mode = 0
    alone = _assembled_matrix(lines)
    if alone is not None:
        return DatFile(str(path), (alone,))
    prints: list[Print] = []
    vibrating = False
    vibration: set[tuple[str, str, float]] = set()  # tables of a frequency: the second of equal ones is imaginary
    while lines.at < len(lines.text):
        text = lines.text[lines.at]
        here = lines.at + 1
        lines.at += 1
        if not text.strip():
            continue
        squeezed = re.sub(r"\s+", "", text).upper()
        if match := _STEP.match(text):
            step, increment, mode, vibrating = int(match[1]), 0, 0, False
        elif match := _INCREMENT.match(text):
            increment, mode = int(match[1]), 0
        elif match := _MODE.match(text):
            mode = int(match[1])
        elif squeezed.startswith("PARTICIPATIONFACTORSFORFREQUENCY"):
            vibrating, vibration = True, set()
        elif match := _USER_ELEMENT.match(text):
            prints.append(_user_element(lines, int(match[1]), here))
        elif match := _STATISTICS.match(text):
            prints += _statistics(lines, match, (step, increment, mode), here)
        elif match := _HEADING.match(text):
            found = _print(lines, match, (step, increment, mode), here)
            key = (found.quantity, found.set_name, found.time)
            if vibrating and key in vibration:
                found = replace(found, quantity=f"{found.quantity}I")
            vibration.add(key)
            prints.append(found)
        elif squeezed in ("EIGENVALUEOUTPUT", "BUCKLINGFACTOROUTPUT"):
            modes.append(_modes(lines, squeezed, step, here))
        elif squeezed in ("PARTICIPATIONFACTORS", "EFFECTIVEMODALMASS", "TOTALEFFECTIVEMASS") and modes:
            _participation(lines, squeezed, modes[-1])
        elif _row(text, 0) is None and not _TITLES.match(text):
            skipped.append(f"line {here}: {short(text.strip())}")
    return DatFile(str(path), tuple(prints), tuple(_finish(m) for m in modes), tuple(skipped))


def _print(lines: _Lines, match: re.Match, state: tuple[int, int, int], here: int) -> Print:
    heading, inside, set_name, time = match.groups()
    heading = " ".join(heading.split())
    columns = [c.strip() for c in inside.split(",")] if inside else []
    lead = 0
    if columns and columns[0].startswith("elem"):
        lead = 2 if len(columns) > 1 and columns[1].startswith("integ") else 1
        columns = columns[lead:]
    sums = heading.lower().startswith(("total", "center"))
    if not lead and not sums:
        lead = 1
    try:
        t = _value(time)
    except ValueError:
        lines.at = here - 1
        lines.fail(f"the time {short(time)} is not a number")
    rows, _ = lines.table(lead)
    values = np.array(rows, dtype=float).reshape(len(rows), -1) if rows else np.empty((0, lead + len(columns)))
    if values.shape[1] < lead + (1 if rows else 0):
        lines.at = here - 1
        lines.fail(f"the table of {heading} has rows without values")
    head = values[:, :lead]
    if not (head == np.floor(head)).all() or not (np.abs(head) < 2**53).all():
        lines.at = here - 1
        lines.fail(f"the table of {heading} has numbers of nodes or elements that are not whole")
    whole = head.astype(np.int64)
    if len(columns) != values.shape[1] - lead:
        columns = []
    empty = np.empty(0, np.int64)
    return Print(
        _QUANTITIES.get(heading.lower(), ""),
        heading,
        set_name.strip(),
        t,
        *state,
        tuple(columns),
        whole[:, 0] if lead else empty,
        whole[:, 1] if lead == 2 else empty,
        values[:, lead:],
        here,
    )


def _statistics(lines: _Lines, match: re.Match, state: tuple[int, int, int], here: int) -> list[Print]:
    """Return the tables of a surface, up to the next heading of another kind."""
    set_name, time = match.groups()
    try:
        t = _value(time)
    except ValueError:
        lines.at = here - 1
        lines.fail(f"the time {short(time)} is not a number")
    found: list[Print] = []
    empty = np.empty(0, np.int64)
    while lines.at < len(lines.text):
        text = lines.text[lines.at].strip()
        tables = next((t for title, t in _SURFACE_TABLES.items() if text.startswith(title)), None)
        if text and tables is None:
            break
        lines.at += 1
        if tables is None:
            continue
        rows, _ = lines.table(0)
        width = sum(n for _, n in tables)
        if len(rows) != 1 or len(rows[0]) != width:
            lines.fail(f"the table of {text.split('(')[0].strip()} needs one row of {width} numbers")
        values, at = np.array(rows), 0
        for quantity, n in tables:
            part = values[:, at : at + n]
            found.append(Print(quantity, text, set_name.strip(), t, *state, (), empty, empty, part, here))
            at += n
    if len({p.quantity for p in found}) < sum(map(len, _SURFACE_TABLES.values())):
        lines.fail(f"tables of the surface {set_name.strip()} are missing; the file may have been cut off")
    return found


def _user_element(lines: _Lines, n: int, here: int) -> Print:
    """Return the stiffness (n, n) of *USER ELEMENT, as *SUBSTRUCTURE GENERATE writes it: nodes in a comment, lines of a
    number and a direction, and the lower triangle by rows."""
    text = "\n".join(lines.text[lines.at :])
    matrix = re.search(r"^\s*\*MATRIX[ ,]*TYPE=STIFFNESS\s*$", text, re.MULTILINE)
    head, tail = (text[: matrix.start()], text[matrix.end() :]) if matrix else (text, "")
    numbers = [w for line in head.splitlines() if line.startswith("**") for w in re.findall(r"\d+", line)]
    dofs = [int(line.split()[-1]) for line in head.splitlines() if re.fullmatch(r"[\s\d]*\d\s*", line)]
    values = [_value(w) for w in re.findall(r"[+-]?\d\.\d+E[+-]\d+", tail)]
    if len(numbers) != n or len(dofs) != n or len(values) != n * (n + 1) // 2:
        lines.fail(f"the substructure needs {n} nodes, directions and rows; the file may have been cut off")
    lines.at = len(lines.text)
    A = np.zeros((n, n))
    A[np.tril_indices(n)] = values
    A += np.tril(A, -1).T
    return Print("K", "*USER ELEMENT", "", 1.0, 1, 0, 0, (), np.array(numbers, int), np.array(dofs), A, here)


def _assembled_matrix(lines: _Lines) -> Print | None:
    """Return the matrix of a file that holds nothing else: lines of node, direction, node, direction and value of the
    lower triangle; None for other files."""
    rows = [line.replace(",", " ").split() for line in lines.text if line.strip()]
    if not rows or not all(len(row) == 5 and all(w.isdigit() for w in row[:4]) for row in rows):
        return None
    pairs = [((int(a), int(b)), (int(c), int(d))) for a, b, c, d, _ in rows]
    order = {pair: i for i, pair in enumerate(dict.fromkeys(p for p, _ in pairs))}
    A = np.zeros((len(order), len(order)))
    for (p, q), row in zip(pairs, rows, strict=True):
        if q not in order:
            lines.fail(f"the row of node {q[0]}, direction {q[1]} is missing")
        A[order[p], order[q]] = A[order[q], order[p]] = _value(row[4])
    ids, dofs = np.array(list(order), int).T
    return Print("K", "matrix", "", 1.0, 1, 0, 0, (), ids, dofs, A, 1)


def _skip_titles(lines: _Lines) -> None:
    """Skip the column titles to the first row of numbers."""
    for k in range(lines.at, min(lines.at + 12, len(lines.text))):
        text = lines.text[k]
        if text.strip() and _row(text, 0) is not None:
            lines.at = k
            return


def _modes(lines: _Lines, kind: str, step: int, here: int) -> dict:
    start = lines.at
    _skip_titles(lines)
    titles = " ".join(lines.text[start : lines.at]).upper()
    rows, _ = lines.table(0)
    table = np.array(rows, dtype=float).reshape(len(rows), -1) if rows else np.empty((0, 0))
    if kind.startswith("BUCKLING"):
        width, name = 2, "buckling"
    elif "EIGENVALUE" in titles and "DIAMETER" in titles:  # by nodal diameters, in a column more
        width, name = 6, "frequency"
    elif "EIGENVALUE" in titles:
        width, name = 5, "frequency"
    else:
        width, name = 4, "complex"
    if rows and table.shape[1] != width:
        lines.at = here - 1
        lines.fail(f"the table of {name} modes has {table.shape[1]} columns; {width} are expected")
    table = table.reshape(len(rows), width)
    found = {"kind": name, "step": step, "table": table, "line": here}
    return found if width < 6 else {**found, "table": table[:, 1:], "diameter": table[:, 0].astype(int)}


def _participation(lines: _Lines, kind: str, modes: dict) -> None:
    _skip_titles(lines)
    rows, _ = lines.table(0)
    values = np.array(rows, dtype=float).reshape(len(rows), -1) if rows else np.empty((0, 0))
    if kind == "TOTALEFFECTIVEMASS":
        if values.shape == (1, 6):
            modes["total"] = values[0]
    elif rows and values.shape[1] == 7:
        shown = np.isin(values[:, 0], modes["table"][:, :1])  # here stand those outside of the bounds, too
        if shown.sum() == len(modes["table"]):
            modes["participation" if kind.startswith("PART") else "mass"] = values[shown, 1:]


def _finish(m: dict) -> Modes:
    table, n, none = m["table"], len(m["table"]), np.empty(0)
    eigenvalue = omega = frequency = factor = none
    if m["kind"] == "buckling":
        factor = table[:, 1]
    elif m["kind"] == "frequency":
        eigenvalue, omega, frequency = table[:, 1], table[:, 2] + 1j * table[:, 4], table[:, 3]
    else:
        omega, frequency = table[:, 1] + 1j * table[:, 3], table[:, 2]
    nan = np.full((n, 6), np.nan)
    return Modes(
        m["kind"],
        m["step"],
        table[:, 0].astype(int),
        eigenvalue,
        omega,
        frequency,
        factor,
        m.get("participation", nan),
        m.get("mass", nan),
        m.get("total", np.full(6, np.nan)),
        m["line"],
        m.get("diameter", np.empty(0, int)),
    )
