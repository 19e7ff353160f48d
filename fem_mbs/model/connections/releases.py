"""Forces that stand for supports which a static step releases: they begin as the reactions, and fade over the step.

A compiled model has such forces at the nodes of every group of supports that a nonlinear static step lacks and an
earlier nonlinear step has.  They are zero except during that step.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fem_mbs.declarations.steps import step_kind
from fem_mbs.functions.laws import TimeFunction
from fem_mbs.late import dataclass
from fem_mbs.system.blocks import Block, make_block
from fem_mbs.system.compiled import Compiled

__all__ = ["Release", "faded_groups", "release_blocks"]

#: Label of the blocks of these forces.
_LABEL = "released supports"


class Release(TimeFunction):
    """The level of the forces of released supports: 1 where the step begins, 0 at its end and in all other steps."""

    def __init__(self) -> None:
        self.level = 0.0

    def _value(self, t: np.ndarray) -> Any:
        return np.full(t.shape, self.level)

    def _slopes(self, t: np.ndarray) -> tuple[Any, Any]:
        return np.zeros(t.shape), np.zeros(t.shape)

    def set_forces(self, system: Compiled, forces: np.ndarray) -> None:
        """Store the forces (N,) at full level."""
        dim = system.dimension
        for block in system.blocks:
            for label, first, last in block.groups:
                if label != _LABEL:
                    continue
                base = system.offset[block.nodes[first:last, 0]]
                turns = block.type.name.startswith("moment")
                count = system.rotation_dofs if turns else dim
                for i in range(count):
                    block.par[first:last, 1 + i] = forces[base + (dim if turns else 0) + i]


@dataclass(frozen=True)
class _Held:
    """The groups of supports of a nonlinear step, and whether the step is static."""

    groups: frozenset[str]
    static: bool


def faded_groups(steps: Iterable[Any]) -> list[str]:
    """Return the groups that a nonlinear static step of a model lacks and the nonlinear step before it has."""
    held: list[_Held] = []
    for step in steps:
        kind = step_kind(step.kind)
        if kind.linear or "supports" not in kind.Options.keys():  # noqa: SIM118 - a method of the options
            continue
        names = step.options.get("supports") or ()
        held.append(_Held(frozenset([names] if isinstance(names, str) else names), kind.equilibrium))
    pairs = zip(held, held[1:], strict=False)
    return sorted({name for before, now in pairs if now.static for name in before.groups - now.groups})


def release_blocks(dimension: int, pairs: Iterable[tuple[int, int]], function: int) -> list[Block]:
    """Return forces and moments, zero as yet, at the nodes of ``pairs`` of a node and a component."""
    pairs = set(pairs)
    found = []
    for name, turns in ((f"force{dimension}", False), (f"moment{dimension}", True)):
        nodes = sorted({i for i, k in pairs if (k >= dimension) == turns})
        if nodes:
            found.append(make_block(_LABEL, name, nodes, function=float(function)))
    return found
