"""Which lines of which modules a test runs, and how long it takes.

The table is a file with a line of JSON per test: its name, its processor time, and for each module a number whose bit n
is set if line n ran.  The line of `IMPORT` has the lines that run when modules are imported.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from .operators import Place

__all__ = ["IMPORT", "Reach", "Tracer", "append", "read_reach"]

IMPORT = "import"
_CALLS = 30  # of a function whose lines a test records; further calls run at full speed


class Tracer:
    """Record the lines that run in modules below a folder; ``calls`` bounds the recorded calls of each function."""

    def __init__(self, root: Path, folders: tuple[str, ...], calls: int = _CALLS) -> None:
        self.root, self.calls = root, calls
        self.starts = tuple(str(root / folder) for folder in folders)
        self.seen: dict[int, int] = {}
        self.lines: dict[str, set[int] | None] = {}
        self.locals: dict[str, Any] = {}

    def _new_file(self, file: str) -> set[int] | None:
        lines: set[int] | None = set() if file.startswith(self.starts) else None
        self.lines[file] = lines
        if lines is not None:
            add = lines.add

            def local(frame: FrameType, event: str, argument: object) -> Any:
                add(frame.f_lineno)
                return local

            self.locals[file] = local
        return lines

    def _call(self, frame: FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        file = code.co_filename
        lines = self.lines[file] if file in self.lines else self._new_file(file)
        if lines is None:
            return None
        calls = self.seen.get(id(code), 0)
        if calls >= self.calls:
            return None
        self.seen[id(code)] = calls + 1
        return self.locals[file]

    @contextmanager
    def on(self) -> Iterator[None]:
        """Record within the block."""
        former = sys.gettrace()
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(former)

    def masks(self) -> dict[str, int]:
        """Return a number for each module with recorded lines; bit n is line n."""
        masks = {}
        for file, lines in self.lines.items():
            if lines:
                mask = 0
                for line in lines:
                    mask |= 1 << line
                masks[str(Path(file).relative_to(self.root))] = mask
        return masks


def append(path: Path, **entry: object) -> None:
    """Add a line to a file of JSON lines."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def entries(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file of JSON lines; a last line that was cut off does not count."""
    found = []
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found


@dataclass(frozen=True)
class Reach:
    """Lines of tests.

    Attributes:
        seconds: processor time of each test that passes; lines: for each module (test, mask) of those that enter it.
    """

    seconds: dict[str, float]
    lines: dict[str, list[tuple[str, int]]]

    def _covering(self, file: str, lines: range) -> list[str]:
        wanted = sum(1 << line for line in lines)
        return [test for test, mask in self.lines.get(file, ()) if mask & wanted]

    def imported(self, place: Place) -> bool:
        """Return whether the import of the package runs the lines of a place."""
        return IMPORT in self._covering(place.file, place.lines)

    def tests(self, place: Place) -> list[str]:
        """Return the tests that run the lines of a place, cheap ones first, those of one function not in a row.

        Tests of the whole module take their place if the lines run at import only.
        """
        for lines in (place.lines, range(place.statement, place.statement + 1)):
            found = [test for test in self._covering(place.file, lines) if test != IMPORT]
            if found:
                break
        else:
            found = (
                [test for test, _ in self.lines.get(place.file, ()) if test != IMPORT] if self.imported(place) else []
            )
        found.sort(key=lambda test: self.seconds[test])
        taken: dict[str, int] = {}
        ranks = {}
        for test in found:
            function = test.partition("[")[0]
            ranks[test] = taken[function] = taken.get(function, 0) + 1
        return sorted(found, key=lambda test: (self.seconds[test] + 0.02) * ranks[test])


def read_reach(path: Path) -> Reach:
    """Read the table of the tests that pass."""
    seconds: dict[str, float] = {}
    lines: dict[str, list[tuple[str, int]]] = {}
    for entry in entries(path):
        if entry["passed"] and entry["test"] not in seconds:
            seconds[entry["test"]] = entry["seconds"]
            for file, mask in entry["lines"].items():
                lines.setdefault(file, []).append((entry["test"], int(mask, 16)))
    return Reach(seconds, lines)
