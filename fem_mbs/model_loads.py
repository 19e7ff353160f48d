"""Loads of the model builder."""

from __future__ import annotations

import numpy as np

from fem_mbs.model_base import ModelBase

__all__ = ["Loads"]


class Loads(ModelBase):
    """Forces and moments."""

    # --- loads -----------------------------------------------------------------------------------------------------
    def force(self, name: str, on: str, vector, function=None, point=None) -> None:
        """A dead force [N] on every node of a place, or at a point of a body: vector * f(t)."""
        owner = self._label("Force", name)
        vector = self._vector(vector, owner, "vector")
        index = self._function(function, owner, load=True)
        if point is None:
            nodes, offset = self.nodes_of(on, owner), np.zeros(self.dimension)
        else:
            node, offset = self._point(on, point, owner)
            nodes = np.array([node])
        names = "xyz"[: self.dimension]
        self._add(
            name,
            f"force{self.dimension}",
            nodes,
            function=float(index),
            **{f"F{c}": v for c, v in zip(names, vector, strict=True)},
            **{f"a{c}": v for c, v in zip(names, offset, strict=True)},
        )

    def moment(self, name: str, on: str, value, function=None) -> None:
        """A dead moment [N m]: in the plane a number, in space a vector fixed in direction."""
        owner = self._label("Moment", name)
        nodes = self.nodes_of(on, owner)
        self._welded_rotation += [(owner, int(n)) for n in nodes]
        index = self._function(function, owner, load=True)
        if self.dimension == 2:
            columns = {"M": self._number(value, owner, "value")}
        else:
            columns = {f"M{c}": v for c, v in zip("xyz", self._vector(value, owner, "value"), strict=True)}
        self._add(name, f"moment{self.dimension}", nodes, function=float(index), **columns)
