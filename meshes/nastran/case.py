"""Case control: subcases, their commands, and sets of numbers."""

from __future__ import annotations

import re

from fem_mbs.meshes.nastran.deck import Command, Subcase
from fem_mbs.meshes.nastran.text import Line
from fem_mbs.meshes.texts import short

__all__ = ["read_case"]

#: Abbreviations of commands -> their names (by the letters that they begin with, the longest first).
_NAMES = (
    ("SPCF", "SPCFORCES"), ("MPCF", "MPCFORCES"), ("DISP", "DISPLACEMENT"), ("VECT", "DISPLACEMENT"),
    ("PRES", "DISPLACEMENT"), ("ELFO", "FORCE"), ("FORC", "FORCE"), ("STRE", "STRESS"),
    ("ELSTRN", "STRAIN"), ("ELST", "STRESS"), ("STRA", "STRAIN"),
    ("OLOA", "OLOAD"), ("GPFO", "GPFORCE"), ("SUBT", "SUBTITLE"), ("TITL", "TITLE"), ("LABE", "LABEL"),
    ("METH", "METHOD"), ("CMET", "CMETHOD"), ("TEMP", "TEMPERATURE"), ("FREQ", "FREQUENCY"), ("ACCE", "ACCELERATION"),
    ("VELO", "VELOCITY"), ("SDAM", "SDAMPING"), ("TSTE", "TSTEP"), ("STAT", "STATSUB"), ("AUTO", "AUTOSPC"),
    ("LOADS", "LOADSET"), ("NLPA", "NLPARM"), ("DEFO", "DEFORM"),
)  # fmt: skip
#: Commands that select a set of the bulk data by its number; NONE selects none.
_SELECTING = (
    "SPC", "MPC", "LOAD", "METHOD", "CMETHOD", "STATSUB", "TEMPERATURE", "DLOAD", "LOADSET", "FREQUENCY", "TSTEP",
    "SDAMPING", "NLPARM",
)  # fmt: skip
_COMMAND = re.compile(r"([A-Z][A-Z0-9_]*)\s*(?:\(([^)]*)\)?)?\s*(?:=?\s*(.*))?", re.IGNORECASE)
_LARGEST_SET = 10_000_000


def _name(word: str) -> str:
    word = word.upper()
    return next((name for begin, name in _NAMES if word.startswith(begin) and len(word) >= 4), word)


def _set(line: Line, text: str) -> set[int] | None:
    """Return the numbers of a set; None for all."""
    words = text.upper().replace(",", " ").split()
    out: set[int] = set()
    last, k, excluded = 0, 0, False
    while k < len(words):
        word = words[k]
        if word == "ALL":
            return None
        if word == "EXCEPT":
            excluded = True
        elif word == "THRU" and k + 1 < len(words):
            k += 1
            if not words[k].isdigit() or not last <= int(words[k]) <= last + _LARGEST_SET:
                line.fail(f"THRU {short(words[k])} ends no range")
            out |= set(range(last, int(words[k]) + 1))
        elif word.isascii() and word.isdigit() and len(word) < 10:
            last = int(word)
            (out.discard if excluded else out.add)(last)
        elif re.fullmatch(r"[+-]?[\d.]+(E[+-]?\d+)?", word) or "/" in word:
            return None  # of frequencies or components, for output
        else:
            line.fail(f"{short(word)} is no member of a set")
        k += 1
    return out


def _only_plots(lines: list[Line], kind: str) -> None:
    """Check the lines after OUTPUT(...), which speak of plots to the end of the section.

    Raises:
        MeshError: subcases, and selections of sets, which would be lost.
    """
    for line in lines:
        match = _COMMAND.fullmatch(line.text.strip())
        if match is not None and (match[1].upper() == "SUBCASE" or _name(match[1]) in _SELECTING):
            line.fail(f"{match[1].upper()} stands behind OUTPUT({kind}), where commands of plots stand; move it before")


def read_case(lines: list[Line]) -> tuple[list[Subcase], dict[int, set[int] | None]]:
    """Return the subcases, at least one, and the sets.

    Raises:
        MeshError: lines that are no commands, subcases without a number, selections that are no numbers or stand among
            plots.
    """
    common: dict[str, Command] = {}
    subcases: list[Subcase] = []
    sets: dict[int, set[int] | None] = {}
    k = 0
    while k < len(lines):
        line = lines[k]
        text = line.text.strip()
        k += 1
        while text.endswith(",") and k < len(lines):
            text += " " + lines[k].text.strip()
            k += 1
        match = _COMMAND.fullmatch(text)
        if match is None:
            line.fail(f"{short(text)} is no case control command")
        word, options, value = match[1].upper(), (match[2] or "").upper(), (match[3] or "").strip()
        if word not in ("TITLE", "SUBTITLE", "LABEL"):
            value = value.upper()
        if word == "OUTPUT":
            if options:
                _only_plots(lines[k:], options)
                break
            continue  # heads the requests of results
        if word == "SET":
            found = re.fullmatch(r"(\d{1,9})\s*=?\s*(.*)", value)
            if found is None:
                line.fail(f"{short(text)} defines no set; write SET n = ...")
            sets[int(found[1])] = _set(line, found[2])
            continue
        if word == "SUBCASE":
            if not re.fullmatch(r"\d{1,9}", value):
                line.fail(f"SUBCASE {short(value)} has no number")
            if any(s.number == int(value) for s in subcases):
                line.fail(f"there are two subcases {value}")
            subcases.append(Subcase(int(value), dict(common), line.where))
            continue
        name = _name(word)
        command = Command(name, tuple(o.strip() for o in options.split(",") if o.strip()), value, line.where)
        if name in _SELECTING and command.number is None and value != "NONE":
            line.fail(f"{name} selects a set by its number, and {short(value) if value else 'a blank'} is none")
        key = name
        if name == "TEMPERATURE":  # with LOAD, INITIAL and MATERIAL it is a command of its own each
            kinds = [o[:4] for o in command.options]
            own = next((kind for kind in ("INITIAL", "LOAD", "MATERIAL") if kind[:4] in kinds), "")
            key = f"{name}({own})" if own else name
        target = subcases[-1].commands if subcases else common
        target[key] = command
        if subcases:
            subcases[-1].own[key] = command
    if not subcases:
        where = lines[0].where if lines else ""
        subcases = [Subcase(1, common, where, dict(common))]
    return subcases, sets
