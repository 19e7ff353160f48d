"""Tables of numbers in text files, with named columns."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from fem_mbs.errors import ModelError, Owner

__all__ = ["read_columns"]

_UNIT = re.compile(r"\s*[\[(].*[\])]\s*$")


def read_columns(path: str | Path, owner: Owner) -> dict[str, np.ndarray]:
    """Return the columns of a table by their names, each (n,), without units in brackets ("EA [N]" is EA).

    The first row has the names.  Columns are separated by semicolons, commas, tabs or blanks; lines that begin with #
    are comments.

    Raises:
        ModelError: the file cannot be read, has no names, rows of different lengths, or cells that are no numbers.
    """
    path = Path(path)

    def error(text: str, remedy: str = "") -> ModelError:
        return ModelError(f'file "{path.name}" {text}', owner=owner, key="file", value=str(path), remedy=remedy)

    try:
        if path.exists() and not path.is_file():  # a device may never end
            raise error("is no file of rows", "name a text file")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else "not a text file in UTF-8"
        raise error(f"cannot be read ({reason})") from None
    lines = [
        (i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(lines) < 2:
        raise error("needs a row of names and rows of numbers")
    mark = next((c for c in ";,\t" if c in lines[0][1]), None)
    rows = [(i, [cell.strip().strip('"') for cell in line.split(mark)]) for i, line in lines]
    names = [_UNIT.sub("", cell) for cell in rows[0][1]]
    if any(_number(name) is not None for name in names) or not all(names):
        raise error("has no names in its first row", "write them above the columns")
    if len(set(names)) < len(names):
        raise error(f'has two columns called "{next(n for n in names if names.count(n) > 1)}"', "rename one")
    found = np.empty((len(rows) - 1, len(names)))
    for k, (line, cells) in enumerate(rows[1:]):
        if len(cells) != len(names):
            raise error(f"line {line} has {len(cells)} cells for {len(names)} columns")
        for j, cell in enumerate(cells):
            value = _number(cell)
            if value is None or not np.isfinite(value):
                raise error(f"line {line}, {names[j]} = {cell} is no finite number")
            found[k, j] = value
    return {name: found[:, j] for j, name in enumerate(names)}


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
