"""Read entries of Nastran bulk data: small, large and free field, continuations, and Nastran's number forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass

__all__ = ["Entry", "bulk_entries", "bulk_number"]

_REAL = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[EDed]?([+-]\d+)|[EDed](\d+))?$")


@dataclass(frozen=True)
class Entry:
    """An entry: its name, its data fields (continuations follow on), the line where it begins, and the file."""

    name: str
    fields: tuple[str, ...]
    line: int
    path: Path

    def error(self, what: str) -> ModelError:
        return ModelError(f"{self.path}, line {self.line}: {self.name}: {what}")

    def field(self, i: int) -> str:
        """Return field i, from 0 (the second of the entry); blank if it is not there."""
        return self.fields[i] if i < len(self.fields) else ""

    def integer(self, i: int, default: int | None = None) -> int:
        """Return field i as a number without a point."""
        text = self.field(i)
        if not text and default is not None:
            return default
        try:
            return int(text)
        except ValueError:
            raise self.error(f"field {i + 2} is {text!r}; it must be a whole number") from None

    def real(self, i: int, default: float | None = None) -> float:
        """Return field i as a number."""
        text = self.field(i)
        if not text and default is not None:
            return default
        value = bulk_number(text)
        if value is None:
            raise self.error(f"field {i + 2} is {text!r}; it must be a number")
        return value


def bulk_number(text: str) -> float | None:
    """Return a number as bulk data write it (1.5-3 and 1.5D-3 are 1.5e-3); None: it is none."""
    match = _REAL.match(text.strip())
    if match is None:
        return None
    return float(f"{match[1]}e{match[2] or match[3] or 0}")


def bulk_entries(path: Path, text: str) -> Iterator[Entry]:
    """Yield entries of a file from BEGIN BULK (or the start) to ENDDATA."""
    lines = text.splitlines()
    begin = next((i + 1 for i, line in enumerate(lines) if line.strip().upper().startswith("BEGIN BULK")), 0)
    name, first = "", 0
    fields: list[Any] = []
    for number, line in enumerate(lines[begin:], begin + 1):
        line = line.split("$", 1)[0].rstrip().expandtabs(8)
        if not line.strip():
            continue
        if line.strip().upper() == "ENDDATA":
            break
        head, cells = _cells(line)
        if head.rstrip("*") and not head.startswith("+"):
            if name:
                yield Entry(name, tuple(fields), first, path)
            name, fields, first = head.rstrip("*").upper(), [], number
        elif not name:
            raise ModelError(f"{path}, line {number}: a continuation without an entry before it")
        fields += cells
    if name:
        yield Entry(name, tuple(fields), first, path)


def _cells(line: str) -> tuple[str, list[str]]:
    """Return the first field, and the data fields of a line: eight, of large fields four."""
    if "," in line:
        head, *cells = [cell.strip() for cell in line.split(",")]
        count = 4 if "*" in head else 8
    else:
        head = line[:8].strip()
        width = 16 if "*" in head else 8
        count = 64 // width
        cells = [line[8 + k * width : 8 + (k + 1) * width].strip() for k in range(count)]
    return head, (cells + [""] * count)[:count]
