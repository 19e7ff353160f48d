"""Describe cells and nodal fields of parts in a results header.

Blocks of solid and plane cells carry ``cell`` (names and node order of meshio, as in `fem_mbs.elements.solids.shapes`),
``group`` (their part; a part with several cell kinds is one block per kind) and ``region``.  Values like
stresses jump from part to part: they are averaged over the cells of one part only.  Parts that share no node are in one
*region* and share one column of the frames; where parts touch, there is a column per region.  The header's ``fields``
names them: ``{"name": "stress [Pa]", "components": ["xx", ...]}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.dataframes import dataframe
from fem_mbs.elements.solids.shapes import CELLS, n_nodes
from fem_mbs.errors import ResultsError
from fem_mbs.units import split_unit

if TYPE_CHECKING:
    import pandas

    from fem_mbs.results.reader import Results, Step

__all__ = [
    "HEAT",
    "LINES",
    "MODAL",
    "cell_kind",
    "field_key",
    "is_continuum",
    "is_nodal",
    "node_frame",
    "owner_of",
    "part_file",
    "regions",
    "split_key",
]

_AXES = ("x", "y", "z", "rotation x", "rotation y", "rotation z")
_TENSOR = ("xx", "yy", "zz", "xy", "yz", "zx")
#: Fields of frames whose names do not tell their unit.
_UNITS = {"displacement": "m", "rotation": "rad", "velocity": "m/s"}

#: Column of the frames with the coordinates of a reduced part, after its name and a slash.
MODAL = "modal [m]"
#: That with the levels of the loads that heat it, in the order of its file.
HEAT = "heat"

#: Cells of blocks that do not say theirs, by the nodes of an element.
LINES = {1: "vertex", 2: "line", 3: "line3"}


def cell_kind(block: dict[str, Any]) -> str:
    """Return meshio's name of the cells of a block, "polyline" for lines of more than three nodes."""
    return block.get("cell") or LINES.get(block["connectivity"].shape[1], "polyline")


def is_continuum(block: dict[str, Any]) -> bool:
    """Return whether a block has cells with an area or a volume."""
    cell = block.get("cell")
    return cell in CELLS and CELLS[cell][0] > 1


def check_cell(block: dict[str, Any]) -> str:
    """Return an error text for the cells of a block, "" if they are valid."""
    cell = block.get("cell")
    if cell is None or cell in LINES.values():
        return ""
    if cell not in CELLS:
        return f'has cells "{cell}": give one of {", ".join([*LINES.values(), *CELLS])}'
    size = np.shape(block["connectivity"])[1]
    return "" if size == n_nodes(cell) else f"has {size} nodes per {cell}: give {n_nodes(cell)}"


def field_key(name: str, region: int) -> str:
    """Return the column of the frames that holds a field in a region."""
    return name if region == 0 else f"region {region + 1}/{name}"


def split_key(key: str) -> tuple[str, int]:
    """Split a column name made by `field_key` into field and region."""
    word, slash, name = key.partition("/")
    number = word.removeprefix("region ")
    if slash and word.startswith("region ") and number.isdigit():
        return name, int(number) - 1
    return key, 0


def owner_of(key: str, blocks: Iterable[str]) -> str | None:
    """Return which of the blocks called so a column of the frames belongs to, None if it belongs to none of them.

    Names may contain slashes: "a/b/N [N]" belongs to "a/b", where "a" is a block as well.
    """
    return max((block for block in blocks if key.startswith(block + "/")), key=len, default=None)


def is_nodal(key: str, shape: Sequence[int], n: int) -> bool:
    """Return whether a column of the frames, of this shape, has a value for each of the n nodes.

    The size alone does not tell: a ring of beams has as many elements as nodes. Columns of elements and of reduced
    parts have the name of their owner and a slash before that of the quantity.
    """
    return tuple(shape[1:2]) == (n,) and "/" not in split_unit(split_key(key)[0])[0]


def regions(parts: Sequence[np.ndarray], n: int) -> list[int]:
    """Return a region for each part, given the nodes of each as arrays of numbers below n: parts with a common node get
    different ones, and each gets the first that is free (greedy colouring, largest part first)."""
    order = sorted(range(len(parts)), key=lambda k: -parts[k].size)
    taken: list[np.ndarray] = []
    found = [0] * len(parts)
    for k in order:
        nodes = np.asarray(parts[k]).ravel()
        region = next((r for r, used in enumerate(taken) if not used[nodes].any()), len(taken))
        if region == len(taken):
            taken.append(np.zeros(n, bool))
        taken[region][nodes] = True
        found[k] = region
    return found


def part_file(number: int) -> str:
    """Return the file of a results folder with the shapes of a reduced part, by its number."""
    return f"part-{number + 1}.h5"


def node_frame(results: Results, step: Step, frame: int, base: bool) -> pandas.DataFrame:
    """Return the table of `Results.nodes_to_dataframe`."""
    count, places = len(step.frame_times), results.header["nodes"]
    if not -count <= frame < count:
        raise ResultsError(f'{results.where}: step "{step.name}" has {count} frames, no number {frame}')
    named = [("node", ""), *((axis, "m") for axis in "xyz")]
    columns: list[Any] = [np.arange(len(places)), *np.asarray(places).T]
    for name in step.frames:
        text, unit = split_unit(name)
        unit = unit or _UNITS.get(text.removesuffix(" imaginary").removeprefix("state "), "")
        if not is_nodal(name, step.frames[name].shape, len(places)):
            continue
        values = np.asarray(step.frames[name][frame % count])
        if values.ndim == 1:
            named.append((text, unit))
            columns.append(values)
        elif values.ndim == 2:
            # forces and moments of supports stand in one array
            tensor = values.shape[1] == 6 and text != "reaction"
            parts = (_TENSOR if tensor else _AXES)[: values.shape[1]]
            turned = ["N"] * 3 + ["N m"] * 3 if text == "reaction" else [unit] * len(parts)
            named += [(f"{text} {part}", u) for part, u in zip(parts, turned, strict=False)]
            columns += list(values.T)
    return dataframe(named, columns, results.units.told(base), f"{step.name}, frame {frame % count}")
