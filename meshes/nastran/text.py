"""Nastran files as text: sections, logical lines and the fields of bulk data entries.

- executive control ends with CEND, case control with BEGIN BULK, bulk data with ENDDATA; a file with none of these is
  bulk data
- ``$`` starts a comment; ``INCLUDE 'file'`` stands for the lines of the file
- small fields have 8 columns, large ones (``*`` after the name) 16; a comma makes a line one of free fields
- an entry goes on in lines that begin with a blank, ``+`` or ``*``; a mark in the tenth field names the line that
  follows, which may then stand elsewhere
- ``=`` repeats the field of the entry before, ``*(n)`` or ``*n`` adds n to it, ``==`` repeats all that follow; ``=n``
  alone repeats the increments of the line before n times

All errors are MeshErrors that begin with file and line.
"""

from __future__ import annotations

import re
from dataclasses import field
from pathlib import Path
from typing import NoReturn

from fem_mbs.errors import MeshError
from fem_mbs.late import dataclass
from fem_mbs.meshes.texts import number, short

__all__ = ["Entry", "Line", "Sections", "read_entries", "read_sections", "whole"]

MAX_DEPTH = 9  # of includes
MAX_FILES = 1_000
MAX_LINE = 10_000  # characters
MAX_REPEATED = 1_000_000  # entries of one line
MAX_ID = 2_147_483_647

_ODD = re.compile(rb"[\x00-\x08\x0b\x0e-\x19\x1b-\x1f\x7f]")
_INCLUDE = re.compile(r"\s*INCLUDE\b\s*(.*)", re.IGNORECASE)
_BEGIN = re.compile(r"\s*BEGIN[\s_=]*(BULK)?\s*$", re.IGNORECASE)
_SUPER = re.compile(r"BEGIN[\s_=]*(BULK)?\s*(AUXMODEL|SUPER|MASSID|AFPM|MODULE)", re.IGNORECASE)
_EXECUTIVE = ("ID", "SOL", "APP", "TIME", "DIAG", "NASTRAN", "GEOMCHECK", "ASSIGN")  # where CEND is missing


def whole(text: str) -> int:
    """Return a whole number of at most 32 bits; ValueError for anything else."""
    if not re.fullmatch(r"[+-]?\d{1,10}", text):
        raise ValueError(text)
    value = int(text)
    if abs(value) > MAX_ID:
        raise ValueError(text)
    return value


@dataclass(frozen=True)
class Line:
    """A line without its comment, and where it stands."""

    text: str
    file: str
    line: int

    @property
    def where(self) -> str:
        """File and line, as messages name them."""
        return f"{self.file}, line {self.line}"

    def fail(self, message: str) -> NoReturn:
        """Raise the MeshError of this line."""
        raise MeshError(f"{self.where}: {message}")


@dataclass
class Sections:
    """The lines of a deck by section, blank ones left out; ``files`` that were read; ``end``: where the deck ends."""

    executive: list[Line] = field(default_factory=list)
    case: list[Line] = field(default_factory=list)
    bulk: list[Line] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    end: str = ""


def _load(path: Path, name: str, above: str) -> list[str]:
    place = f"{above}: {name}" if above else name
    try:
        if not path.is_file():
            raise MeshError(f"{place}: there is no such file ({path})")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise MeshError(f"{place}: cannot be read ({error})") from error
    odd = _ODD.search(data)
    if odd:
        line = data.count(b"\n", 0, odd.start()) + 1
        raise MeshError(f"{name}, line {line}: byte {odd[0][0]:#04x} is not text; give a deck in plain text")
    lines = data.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for i, text in enumerate(lines):
        if len(text) > MAX_LINE:
            raise MeshError(f"{name}, line {i + 1}: {len(text)} characters; a line may have {MAX_LINE}")
    return lines


def _without_comment(text: str) -> str:
    if "$" not in text:
        return text.rstrip()
    quoted = False
    for i, c in enumerate(text):
        if c == "'":
            quoted = not quoted
        elif c == "$" and not quoted:
            return text[:i].rstrip()
    return text.split("$", 1)[0].rstrip()  # the quote was never closed


class _Reader:
    """Reads the files of a deck one into the other and sorts the lines into sections."""

    def __init__(self, root: Path) -> None:
        self.folder = root.parent.resolve()
        self.found = Sections()
        self.lines: list[Line] = []

    def read(self, path: Path, name: str, above: list[Path], place: str) -> None:
        """Append the lines of a file and of what it includes."""
        if path.resolve() in above:
            raise MeshError(f"{place}: the file {name} includes itself")
        if len(above) > MAX_DEPTH or len(self.found.files) >= MAX_FILES:
            raise MeshError(f"{place}: more than {MAX_DEPTH} files one in the other, or {MAX_FILES} in all")
        raw = _load(path, name, place)
        self.found.files.append(name)
        i = 0
        while i < len(raw):
            line = Line(_without_comment(raw[i]), name, i + 1)
            i += 1
            include = _INCLUDE.fullmatch(line.text) if "NCLUDE" in line.text.upper() else None
            if include is None:
                if line.text.strip():
                    self.lines.append(line)
                continue
            value = include[1].strip()
            while value[:1] in ("'", '"') and value.count(value[0]) < 2 and i < len(raw):
                value += raw[i].strip()  # a long path goes on in the next line
                i += 1
            target = value.strip("'\" ")
            if not target:
                line.fail("INCLUDE names no file; write INCLUDE 'file'")
            other = Path(target)
            inside = path.parent / other
            if not inside.is_file() and (self.folder / other).is_file():
                inside = self.folder / other
            self.read(inside, target, [*above, path.resolve()], line.where)


def read_sections(path: str | Path) -> Sections:
    """Return the lines of a deck by section.

    Raises:
        MeshError: a file cannot be read, is not text, or includes itself.
    """
    path = Path(path)
    reader = _Reader(path)
    reader.read(path, path.name, [], "")
    out, lines = reader.found, reader.lines
    if not lines:
        raise MeshError(f"{path.name}, line 1: the file is empty; this is not a Nastran deck")
    out.end = lines[-1].where
    words = [re.split(r"[\s,=]", line.text.strip(), maxsplit=1)[0].upper() for line in lines]
    begin = next((i for i, line in enumerate(lines) if _BEGIN.match(line.text)), None)
    cend = next((i for i, word in enumerate(words[:begin]) if word == "CEND"), None)
    if begin is None and cend is None:
        bulk = lines
    else:
        for line, word in zip(lines[:begin], words, strict=False):
            before = cend is not None and line in lines[:cend]
            if before or (cend is None and word in _EXECUTIVE):
                out.executive.append(line)
            elif word != "CEND":
                out.case.append(line)
        bulk = [] if begin is None else lines[begin + 1 :]
    for i, line in enumerate(bulk):
        if _SUPER.match(line.text):
            line.fail("superelements (BEGIN SUPER) are not supported; write the deck as one part")
        if line.text[:7].upper() == "ENDDATA":
            out.end = line.where
            bulk = bulk[:i]
            break
    out.bulk = bulk
    return out


# ---- bulk data -------------------------------------------------------------------------------------------------------


@dataclass
class Entry:
    """One bulk data entry: its name in upper case, its data fields (eight per line, without name and marks) and the
    places of its lines."""

    name: str
    fields: list[str]
    place: Line
    lines: list[int] = field(default_factory=list)
    #: increments *(n) of its first line by field
    increments: dict[int, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """File and line of the first line."""
        return self.place.where

    def fail(self, message: str) -> NoReturn:
        """Raise the MeshError of this entry."""
        raise MeshError(f"{self.where}: {self.name}: {message}")


def _mark(text: str) -> str:
    """Return a continuation mark without its first letter; "" for none."""
    text = text.strip().upper()
    return text[1:].strip() if text[:1] in ("+", "*") else text


def _split(line: Line) -> tuple[str, list[str], str, bool]:
    """Return first field, data fields, tenth field of a line, and whether its fields are large."""
    text = line.text
    if "," in text:
        parts = [p.strip() for p in text.split(",")]
        head, data = parts[0], parts[1:]
        large = head.endswith("*") or head.startswith("*")
        width = 4 if large else 8
        tail = ""
        last = next((i for i in range(len(data) - 1, -1, -1) if data[i]), -1)
        marked = last >= 0 and re.fullmatch(r"[+*](?![\d.]).*", data[last]) is not None
        if marked or (last == width and data[last][:1] in ("+", "*")):
            tail, data = data[last], data[:last]  # a mark, after the last field that is given
        while len(data) > width and not data[-1]:
            data.pop()
        width *= max(1, -(-len(data) // width))  # more fields go on as those of the next line
        bad = next((p for p in data if len(p) > 64), None)
        if bad is not None:
            line.fail(f"the field {short(bad)} is too long")
        return head, data + [""] * (width - len(data)), tail, large
    if "\t" in text:
        text = text.expandtabs(8)
    head = text[:8].strip()
    large = head.endswith("*") or head.startswith("*")
    width, count = (16, 4) if large else (8, 8)
    data = [text[8 + width * k : 8 + width * (k + 1)].strip() for k in range(count)]
    return head, data, text[72:80].strip(), large


def _increased(line: Line, old: str, by: str) -> str:
    """Return the field of the entry before plus an increment *(n)."""
    step = by.strip("*=()").strip()
    for read in (whole, number):
        try:
            return str(read(old) + read(step)) if read is whole else repr(read(old) + read(step))
        except ValueError:
            continue
    line.fail(f"the increment {short(by)} of {short(old)} is no number")


def _increment(text: str) -> bool:
    """Return whether a field is an increment, ``*(n)``, ``*n`` or ``=(n)``."""
    return text.startswith(("*(", "=(")) or re.fullmatch(r"\*[+-]?[.\d][^*]*", text) is not None


def _repeated(line: Line, head: str, data: list[str], before: Entry | None) -> tuple[str, list[str]]:
    """Resolve ``=`` (the field of the entry before), ``*(n)`` or ``*n`` (that plus n) and ``==`` (all that follow)."""
    if head.startswith("=") and head not in ("=", "=="):
        line.fail(f"the repetition {short(head)} repeats no entry with increments; write the entries out")
    repeats = head.startswith("=")
    marks = any(text in ("=", "==") or text.startswith(("*(", "=(")) for text in data)
    if not (repeats or marks):
        return head, data
    if before is None:
        line.fail("= repeats an entry, but none stands before it")
    name = before.name if head.startswith("=") else head
    if head == "==":
        return name, before.fields[:8]
    out = list(data)
    old = before.fields + [""] * 8
    for i, text in enumerate(data):
        if text == "==":
            out[i:] = old[i:8]
            break
        if text == "=":
            out[i] = old[i]
        elif _increment(text):
            out[i] = _increased(line, old[i], text)
    return name, out


def _repetitions(line: Line, head: str, data: list[str], entries: list[Entry]) -> list[Entry]:
    """Return the entries of ``=n``: the entry before once more, n times, with the increments of its line."""
    count = int(head[1:].strip("()"))
    last = entries[-1]
    if not last.increments or len(last.lines) > 1 or any(data):
        line.fail(f"{short(head)} repeats the increments of the line before, which has none; write the entries out")
    if count > MAX_REPEATED:
        line.fail(f"{count} repetitions; at most {MAX_REPEATED} are read")
    out = []
    for _ in range(count):
        fields = list(last.fields)
        for at, by in last.increments.items():
            fields[at] = _increased(line, fields[at], by)
        last = Entry(last.name, fields, line, [line.line], last.increments)
        out.append(last)
    return out


_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,7}")


def read_entries(lines: list[Line]) -> list[Entry]:
    """Return the bulk data entries of lines, in the order of their first lines.

    Raises:
        MeshError: a continuation without its entry, names and fields that are none.
    """
    entries: list[Entry] = []
    open_marks: dict[str, Entry] = {}
    waiting: dict[str, tuple[Line, list[str], str, bool]] = {}
    for line in lines:
        first = line.text[:1]
        head, data, tail, large = _split(line)
        if first in ("+", "*") or (not head and first in (" ", ",", "\t")):
            mark = _mark(head)
            entry = open_marks.pop(mark, None) if mark else None
            if entry is None:
                if not entries:
                    line.fail("a continuation without an entry before it")
                entry = entries[-1]
                wanted = next((m for m, e in open_marks.items() if e is entry), "")
                if mark and wanted and wanted != mark:
                    if mark in waiting:
                        line.fail(f"the continuation mark {short('+' + mark)} is given twice")
                    waiting[mark] = (line, data, tail, large)
                    continue
                open_marks.pop(wanted, None)
            _continue(entry, line, data, tail, large, open_marks)
        else:
            if entries and re.fullmatch(r"=\(?\d{1,7}\)?", head):
                entries += _repetitions(line, head, data, entries)
                continue
            given = data
            name, data = _repeated(line, head.rstrip("*").upper(), data, entries[-1] if entries else None)
            if not _NAME.fullmatch(name):
                line.fail(f"{short(name)} is no name of a bulk data entry")
            entry = Entry(name, data, line, [line.line])
            entry.increments = {i: text for i, text in enumerate(given) if _increment(text)}
            entries.append(entry)
            if _mark(tail):
                open_marks[_mark(tail)] = entry
        for m in [m for m, e in open_marks.items() if e is entry and m in waiting] if waiting else ():
            del open_marks[m]
            _continue(entry, *waiting.pop(m), open_marks)
    for line, *_ in waiting.values():
        line.fail("no entry names this continuation")
    return entries


def _continue(
    entry: Entry, line: Line, data: list[str], tail: str, large: bool, open_marks: dict[str, Entry]
) -> None:  # fmt: skip
    """Append the fields of a continuation to an entry."""
    if not large and len(entry.fields) % 8:
        entry.fields += [""] * (8 - len(entry.fields) % 8)
    if len(entry.fields) > 8 * 20_000:
        line.fail(f"{entry.name} has more lines than an entry may have")
    entry.fields += data
    entry.lines.append(line.line)
    if _mark(tail):
        open_marks[_mark(tail)] = entry
