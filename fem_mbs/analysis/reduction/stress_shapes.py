"""Stresses at the nodes of solid and plane parts per unit of generalised coordinates, averaged as results do.

Linear in the displacements, so they are those of the shapes: nothing but a product is left when a motion is known.
Green's strain and the stresses of it are quadratic in the displacements, so that a central difference has no error but
round-off.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.analysis.fields import fields_of
from fem_mbs.analysis.linear.linearised import Linearised

__all__ = ["StressShapes"]

_SMALL = 1e-3  # of displacements in differences, over the size of the model


class StressShapes:
    """Stresses (N_s, 6) [N/m^2], xx yy zz xy yz zx, at ``nodes`` (N_s,) about the state of a model; a node where parts
    touch comes once for each, with the average of that part's cells."""

    def __init__(self, linear: Linearised):
        self.linear, self.fields = linear, fields_of(linear.compiled)
        system = linear.system
        self._count = len(system.nodes.x)
        self._x = linear.state.Q[0][system.offset[: self._count, None] + np.arange(system.dimension)]
        regions = sorted({part.region for part in self.fields.parts})
        self._groups = [[part for part in self.fields.parts if part.region == region] for region in regions]
        self._members = [np.unique(np.concatenate([part.nodes.ravel() for part in group])) for group in self._groups]
        self.nodes = np.concatenate(self._members) if self._members else np.zeros(0, np.int64)
        names = {part.type_name for part in self.fields.parts}
        self._blocks = [i for i, block in enumerate(system.blocks) if block.type.name in names]

    def of(self, U: np.ndarray) -> np.ndarray:
        """Return stresses (N_s, 6, n) per unit of displacements U (N, n)."""
        linear = self.linear
        found = np.zeros((len(self.nodes), 6, U.shape[1]))
        size = np.abs(U).max(axis=0, initial=0.0) / linear.system.length
        for k in np.flatnonzero(size):
            e = _SMALL / size[k]
            above, below = (linear.outputs(linear.moved(s * e * U[:, k]), self._blocks) for s in (1.0, -1.0))
            found[:, :, k] = self._averaged({i: (above[i] - below[i]) / (2.0 * e) for i in self._blocks})
        return found

    def at_rest(self) -> np.ndarray:
        """Return the stresses of the state."""
        return self._averaged(self.linear.outputs(self.linear.state, self._blocks))

    def of_load(self, function: int) -> np.ndarray:
        """Return the stresses of heat at rest per unit of the time function number ``function``."""
        linear = self.linear
        mask = np.arange(linear.loads.size) == function
        level = linear.level(mask, np.ones(mask.size))
        hot, cold = linear.outputs(linear.state, self._blocks, level), linear.outputs(linear.state, self._blocks)
        return self._averaged({i: hot[i] - cold[i] for i in self._blocks})

    def _averaged(self, tables: dict[int, np.ndarray]) -> np.ndarray:
        out, X = np.zeros_like(self.linear.state.out), self.fields.X
        for i, table in tables.items():
            first, whole = self.linear.system.blocks[i].first_output, self.linear.table_everywhere(i, table)
            out[first : first + whole.size] = whole.ravel()
        found = [np.zeros((0, 6))]
        for group, own in zip(self._groups, self._members, strict=True):
            total, count = np.zeros((self._count, group[0].components)), np.zeros(self._count)
            for part in group:
                stress, _ = part.table(out)
                if not np.array_equal(self._x, X):
                    stress = part.true_stresses(stress, X, self._x)
                part.add_at_nodes(stress, total, count)
            found.append(np.zeros((len(own), 6)))
            found[-1][:, : total.shape[1]] = total[own] / count[own, None]
        return np.concatenate(found)
