"""Abaqus and CalculiX decks as text: keywords with their parameters and data lines (cut out by `abaqus_files`).

What counts as a line, a keyword or a number is taken from both programs (Abaqus Keywords Guide, "Input syntax rules";
CalculiX 2.21 manual, chapter 7):

- ``**`` starts a comment, ``*`` a keyword; blank lines mean nothing; upper and lower case are the same
- blanks inside keywords, parameters and names mean nothing (``*NODEFILE`` is ``*NODE FILE``), except inside quotes
- a keyword line that ends in a comma goes on in the next line, if that one looks like parameters
- ``*INCLUDE, INPUT=file`` stands for the lines of the file, which may be data lines of the keyword before it
- numbers may have Fortran's exponents: 1.5D3, 1.5+3

Data lines stay bytes until somebody asks, so that large tables of nodes and elements are parsed in one go by numpy.
All errors are MeshErrors that begin with file and line.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, NoReturn, TypeVar, overload

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.late import dataclass
from fem_mbs.meshes.texts import number, short

if TYPE_CHECKING:
    from fem_mbs.meshes.abaqus.assembly import Instance

__all__ = [
    "MAX_ID", "Card", "Numbers", "Piece", "Row", "decoded", "label", "split_fields",
    "where", "whole",
]  # fmt: skip

T = TypeVar("T")

MAX_ID = 2_147_483_647  # of nodes and elements: both programs use 32-bit integers

# ---- fields ----------------------------------------------------------------------------------------------------------


def split_fields(text: str) -> list[str]:
    """Return fields between commas, stripped; commas inside double quotes do not separate."""
    if '"' not in text:
        return [part.strip() for part in text.split(",")]
    parts, quoted, start = [], False, 0
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif c == "," and not quoted:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def decoded(raw: bytes) -> str:
    """Return text in UTF-8, or in Latin-1 if it is not."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def label(text: str) -> str:
    """Return a name as it is compared: upper case, without blanks; inside quotes blanks count."""
    if '"' not in text:
        return re.sub(r"\s+", "", text).upper()
    return _QUOTED.sub(lambda found: found[1] or "", text).replace('"', "").upper()


_QUOTED = re.compile(r'"([^"]*)"|\s+')


def whole(text: str) -> int:
    """Return a whole number (also as 3. or 3.0); ValueError for anything else."""
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    value = number(text)
    if value != int(value):
        raise ValueError(text)
    return int(value)


# ---- keyword and data ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive lines of one file: ``data`` bytes, comments blanked out, the first line being ``line``."""

    file: str
    line: int
    data: bytes


@dataclass(eq=False)
class Card:
    """One keyword with its parameters and data lines.

    ``keyword`` upper case with blanks as written by the table of known keywords; ``params`` name -> raw value, or None
    for a parameter without "="; what `get` and `flag` hand out is ticked off in ``taken``.  ``instance``: to which the
    keyword belongs, None in the assembly and in decks without parts.  ``made``: the numbers of a keyword that another
    one generated, in place of data lines.
    """

    keyword: str
    params: dict[str, str | None]
    file: str
    line: int
    pieces: list[Piece] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    instance: Instance | None = None
    made: Numbers | None = None

    # -- parameters

    def _find(self, name: str) -> str | None:
        """Return the given parameter that means this one: itself, an abbreviation of 3 letters or more, or a longer
        word."""
        key = name.replace(" ", "")
        if key in self.params:
            return key
        for given in self.params:
            if given not in self.taken and len(given) >= 3 and len(key) >= 4 and key.startswith(given):
                return given
        return None

    def has(self, name: str) -> bool:
        """Return whether the card has a parameter, or an abbreviation of it; it stays unread."""
        return self._find(name) is not None

    @overload
    def get(self, name: str) -> str | None: ...

    @overload
    def get(self, name: str, default: str) -> str: ...

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return the parameter's value as a name (see `label`), or the default."""
        key = self._find(name)
        if key is None:
            return default
        self.taken.add(key)
        value = self.params[key]
        if value is None or not value.strip('" '):
            self.fail(f"parameter {name} has no value; write {name}=...")
        return label(value)

    def need(self, name: str) -> str:
        """Return the parameter's value as a name, or an error if it is not there."""
        value = self.get(name)
        if value is None:
            self.fail(f"parameter {name} is missing; write *{self.keyword}, {name}=...")
        return value

    def flag(self, name: str) -> bool:
        """Return whether the parameter is given, and not as =NO."""
        key = self._find(name)
        if key is None:
            return False
        self.taken.add(key)
        value = self.params[key]
        return value is None or label(value) not in ("NO", "OFF")

    def number(self, name: str, default: float) -> float:
        """Return the parameter's value as a number."""
        value = self.get(name)
        if value is None:
            return default
        try:
            return number(value)
        except ValueError:
            self.fail(f"{name}={value} is not a number")

    def count(self, name: str, default: int) -> int:
        """Return the parameter's value as a whole number >= 0."""
        value = self.get(name)
        if value is None:
            return default
        try:
            found = whole(value)
        except ValueError:
            self.fail(f"{name}={value} is not a whole number")
        if not 0 <= found <= MAX_ID:
            self.fail(f"{name}={value} is out of range")
        return found

    def choice(self, name: str, options: dict[str, T], default: T) -> T:
        """Return the value among options (beginning of the word -> meaning), as CalculiX compares them."""
        value = self.get(name)
        if value is None:
            return default
        for begin, meaning in options.items():
            if value.startswith(begin):
                return meaning
        self.fail(f"{name}={value} is not known; known are {', '.join(options)}")

    # -- data lines

    def rows(self, blank: bool = False) -> Iterator[tuple[Row, list[str]]]:
        """Yield place and fields of each data line; skip blank lines unless requested."""
        for piece in self.pieces:
            for k, raw in enumerate(piece.data.split(b"\n")):
                text = decoded(raw).strip()
                if text or blank:
                    fields = split_fields(text)
                    while len(fields) > 1 and not fields[-1]:
                        fields.pop()
                    yield Row(self, piece.file, piece.line + k), fields

    def table(self) -> Numbers:
        """Return all data as numbers, for large tables."""
        return Numbers.of(self) if self.made is None else self.made

    def fail(self, message: str) -> NoReturn:
        """Raise the MeshError of this keyword."""
        raise MeshError(f"{self.file}, line {self.line}: *{self.keyword}: {message}")


@dataclass(frozen=True, eq=False)
class Row:
    """The place of one data line, and how to read its fields with errors that name it."""

    card: Card
    file: str
    line: int

    @property
    def instance(self) -> Instance | None:
        """The instance to which the keyword belongs."""
        return self.card.instance

    def fail(self, message: str) -> NoReturn:
        """Raise the MeshError of this line."""
        raise MeshError(f"{self.file}, line {self.line}: *{self.card.keyword}: {message}")

    def number(self, fields: list[str], i: int, what: str, default: float | None = None) -> float:
        """Return field i as a number; an empty or missing field is the default, or an error without one."""
        text = fields[i] if i < len(fields) else ""
        if not text:
            if default is None:
                self.fail(f"entry {i + 1} ({what}) is missing")
            return default
        try:
            return number(text)
        except ValueError:
            self.fail(f"entry {i + 1} ({what}) is {short(text)}, which is not a number")

    def numbers(self, fields: list[str], what: str, least: int = 0, most: int | None = None) -> list[float]:
        """Return all fields as numbers, empty ones as 0."""
        if len(fields) < least:
            self.fail(f"{len(fields)} entries; {what} needs {least}")
        values = [self.number(fields, i, what, 0.0) for i in range(len(fields))]
        if most is not None and len(values) > most:
            self.fail(f"{len(values)} entries; {what} takes {most}")
        return values

    def whole(self, fields: list[str], i: int, what: str, default: int | None = None) -> int:
        """Return field i as a whole number."""
        text = fields[i] if i < len(fields) else ""
        if not text:
            if default is None:
                self.fail(f"entry {i + 1} ({what}) is missing")
            return default
        try:
            value = whole(text)
        except (ValueError, OverflowError):
            self.fail(f"entry {i + 1} ({what}) is {short(text)}, which is not a whole number")
        if abs(value) > MAX_ID:
            self.fail(f"entry {i + 1} ({what}) is {value}, beyond {MAX_ID}")
        return value

    def identity(self, text: str) -> int | str:
        """Return a node or element number, or the name of a set."""
        if text.isascii() and text.lstrip("+-").isdigit() and text.rfind("-") <= 0 and text.rfind("+") <= 0:
            value = int(text) if len(text) < 12 else MAX_ID + 1
            if not 1 <= value <= MAX_ID:
                self.fail(f"the number {short(text)} is not between 1 and {MAX_ID}")
            return value
        return label(text)


def where(at: Card | Row) -> str:
    """Return file and line, for messages."""
    return f"{at.file}, line {at.line}"


# ---- numbers in bulk -------------------------------------------------------------------------------------------------

_BLANKS = bytes.maketrans(b",Dd\r\t", b" ee  ")
_CHUNK = 1 << 22


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers of a card's data lines.

    values (n,) float64 in reading order; counts (lines,) how many of each line that is not blank; lines (lines,) their
    numbers in the file; files (lines,) index into names.
    """

    values: np.ndarray
    counts: np.ndarray
    lines: np.ndarray
    files: np.ndarray
    names: list[str]

    @classmethod
    def of(cls, card: Card) -> Numbers:
        """Parse by numpy, and line by line only where a chunk has empty fields, other spellings or errors."""
        values, counts, lines, files, names = [], [], [], [], []
        for piece in card.pieces:
            names.append(piece.file)
            start, line = 0, piece.line
            while start < len(piece.data):
                stop = piece.data.find(b"\n", min(start + _CHUNK, len(piece.data)))
                stop = len(piece.data) if stop < 0 else stop + 1
                chunk = piece.data[start:stop]
                part = _fast(chunk)
                if part is None:
                    part = _slow(Card(card.keyword, {}, card.file, card.line, [Piece(piece.file, line, chunk)]))
                values.append(part[0])
                at = np.flatnonzero(part[1])
                counts.append(part[1][at])
                lines.append(at + line)
                files.append(np.full(len(at), len(names) - 1))
                line += chunk.count(b"\n")
                start = stop

        def join(parts, dtype):
            return np.concatenate(parts).astype(dtype) if parts else np.empty(0, dtype)

        return cls(join(values, float), join(counts, int), join(lines, int), join(files, int), names)

    def at(self, card: Card, row: int) -> Row:
        """Return the place of the row-th line."""
        return Row(card, self.names[self.files[row]], int(self.lines[row]))

    def padded(self, width: int) -> np.ndarray:
        """Return (lines, width): the first numbers of each line, zero where there are fewer."""
        if len(self.counts) and (self.counts == width).all():
            return self.values.reshape(-1, width)
        out = np.zeros((len(self.counts), width))
        ends = np.cumsum(self.counts)
        row = np.repeat(np.arange(len(self.counts)), self.counts)
        column = np.arange(len(self.values)) - np.repeat(ends - self.counts, self.counts)
        keep = column < width
        out[row[keep], column[keep]] = self.values[keep]
        return out


def _fast(chunk: bytes) -> tuple[np.ndarray, np.ndarray] | None:
    """Return numbers and how many on each line, or None if the chunk is not made of plain numbers between commas."""
    if not chunk.strip(b" ,\t\r\n"):
        return None  # of which numpy would make a -1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            values = np.fromstring(chunk.translate(_BLANKS), sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    if not np.isfinite(values).all():
        return None
    raw = np.frombuffer(chunk if chunk.endswith(b"\n") else chunk + b"\n", np.uint8)
    at = np.flatnonzero((raw > 32) | (raw == 10))
    seen = raw[at]  # without blanks
    ends = np.flatnonzero(seen == 10)
    before = np.where(ends > 0, seen[ends - 1], 10)  # last character of each line
    commas = np.diff(np.cumsum(seen == 44)[ends], prepend=0)
    counts = np.where(before == 10, 0, commas + 1 - (before == 44))
    # "1,,2" has fewer numbers than fields; of "1 2" the blank stands between two characters that are no separators
    if counts.sum() != len(values):
        return None
    gap = np.flatnonzero(np.diff(at) > 1)
    left, right = seen[gap], seen[gap + 1]
    if ((left != 44) & (left != 10) & (right != 44) & (right != 10)).any():
        return None
    return values, counts


def _slow(card: Card) -> tuple[np.ndarray, np.ndarray]:
    """Return the same, line by line with Python; here every error has its line."""
    values: list[float] = []
    counts: list[int] = []
    what = {"NODE": "number or coordinate", "ELEMENT": "element or node"}.get(card.keyword, "number")
    for row, fields in card.rows(blank=True):
        if fields == [""]:
            counts.append(0)
            continue
        values += row.numbers(fields, what)
        counts.append(len(fields))
    return np.array(values, dtype=float), np.array(counts, dtype=int)
