"""Results of elements of a Nastran deck in a state of small displacements: outputs of the model, and tables of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.analysis.header import find_group
from fem_mbs.decks.nastran.model import Conversion, Group
from fem_mbs.late import dataclass

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.analysis.fields import SolidPart
    from fem_mbs.analysis.linear.linearised import Linearised

__all__ = ["ElementState", "ElementTable", "changed_outputs"]


@dataclass(frozen=True)
class ElementTable:
    """A table: quantity, names of its columns with what they are in brackets, numbers of the elements (n,), values (n,
    k), and points (n,) beside the numbers: grid points of corners with 0 for the middle, ends of beams, or plies."""

    quantity: str
    columns: tuple[str, ...]
    ids: np.ndarray
    values: np.ndarray
    points: np.ndarray | None = None


@dataclass
class ElementState:
    """Elements in a state: all outputs of the model (n_out,), displacements (n, 6) of the grid points along the global
    axes, forces (m, 12) of loads along bars by the number of the group, and whether temperatures act."""

    conv: Conversion
    job: RunContext
    out: np.ndarray
    u: np.ndarray
    fixed: Mapping[int, np.ndarray] = field(default_factory=dict)
    heated: bool = False

    def column(self, name: str, label: str) -> np.ndarray:
        """Return an output of the elements (n,) of a group of the model; zeros if it has no such elements."""
        found = [np.zeros(0)]
        count = len(self.job.compiled.model.groups.get(name, ()))
        for block, first in find_group(self.job.compiled.system, name):
            if label not in block.type.outputs:
                continue
            width = len(block.type.outputs)
            at = block.first_output + first * width
            table = self.out[at : at + count * width].reshape(count, width)
            found.append(table[:, block.type.outputs.index(label)])
        return np.concatenate(found)

    @cached_property
    def parts(self) -> dict[str, SolidPart]:
        """Cells of solids and shells by the names of the deck's groups."""
        return {part.group: part for part in self.job.rows.fields.parts}

    def part(self, group: Group) -> SolidPart:
        """Return the cells of a group of solids or shells, in the order of the deck's elements."""
        return self.parts[group.name]


def changed_outputs(linear: Linearised, u: np.ndarray) -> np.ndarray:
    """Return the outputs (n_out,) that small displacements u (N,) add to the state."""
    out = np.zeros(linear.state.out.size)
    for i, table in linear.output_changes(u).items():
        first = linear.system.blocks[i].first_output
        out[first : first + table.size] = table.ravel()
    return out
