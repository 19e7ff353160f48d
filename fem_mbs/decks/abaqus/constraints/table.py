"""Equations of a deck, gathered row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.errors import ModelError

__all__ = ["DIRECTIONS", "EquationTable", "direction_name"]

#: The rotation of nodes of the plane.
_TURN = "rotation"
#: Directions 1 to 6 of a node, as supports of the model name them.
DIRECTIONS = ("x", "y", "z", "rotation x", "rotation y", "rotation z")


def direction_name(conv: Conversion, k: int) -> str:
    """Return the name of direction k (from 0) in supports of the model; the plane has one rotation."""
    return _TURN if conv.plane and k == 5 else DIRECTIONS[k]


class EquationTable:
    """Terms of equations, row by row, and which dofs depend on others."""

    def __init__(self, conv: Conversion):
        self.conv = conv
        self.terms: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
        self.rows = 0
        self.preferred: list[bool] = []
        self.until: list[int] = []
        self.dependent = conv.dependent

    def depend(self, node: int, component: int, where: str) -> None:
        """Note a dependent dof.

        Raises:
            ModelError: it depends on others already.
        """
        key = (node, component)
        if key in self.dependent:
            raise ModelError(
                f"direction {component + 1} of node {self.conv.name_of(node)} is the dependent one already "
                f"in {self.dependent[key]}",
                place=where,
                remedy="begin the equation with another node or direction",
            )
        self.dependent[key] = where

    def add(
        self, nodes: ArrayLike, components: ArrayLike, coefficients: ArrayLike, where: str, preferred: bool = True,
        until: int = 0,
    ) -> None:  # fmt: skip
        """Add one equation: terms (k,) of nodes of the model, components 0..5 and coefficients; ``until``: number of
        the step of the deck that removes it, 0: none."""
        n, k, c = np.asarray(nodes), np.asarray(components), np.asarray(coefficients, float)
        if preferred:
            self.depend(int(n[0]), int(k[0]), where)
        self.terms.append((np.full(len(n), self.rows), n, k, c))
        self.rows += 1
        self.preferred.append(preferred)
        self.until.append(until)

    def finish(self, name: str) -> None:
        """Make equations of the model; those that a step removes have a name of their own."""
        if not self.terms:
            return
        rows, nodes, components, coefficients = (np.concatenate(part) for part in zip(*self.terms, strict=True))
        self.conv.equated.append((nodes, components))
        until, preferred = np.array(self.until), np.array(self.preferred)
        for step in np.unique(until).tolist():
            mine = until == step
            of = mine[rows]
            number = np.cumsum(mine) - 1
            own = f"{name} until step {step}" if step else name
            if step:
                self.conv.removed[own] = step
            self.conv.model.equations(
                own, number[rows[of]], nodes[of], components[of], coefficients[of], preferred=preferred[mine].tolist()
            )
