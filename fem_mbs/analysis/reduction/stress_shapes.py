"""Stresses at the nodes of solid and plane parts per unit of generalised coordinates, averaged as results do.

Linear in the displacements, so they are those of the shapes: nothing but a product is left when a motion is known.
Green's strain and the stresses of it are quadratic in the displacements, so that a central difference has no error but
round-off.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.analysis.fields import fields_of
from fem_mbs.analysis.linear.linearised import Linearised

__all__ = ["stress_shapes"]

_SMALL = 1e-3  # of displacements in differences, over the size of the model


def stress_shapes(linear: Linearised, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes (N_s,), and their stresses (N_s, 6, n) [N/m^2 per unit], xx yy zz xy yz zx, of displacements U (N,
    n) about the state of a model; a node where parts touch comes once for each, with the average of that part's
    cells."""
    system = linear.system
    fields = fields_of(linear.compiled)
    nodes, n = len(system.nodes.x), U.shape[1]
    x = linear.state.Q[0][system.offset[:nodes, None] + np.arange(system.dimension)]
    at_rest = np.array_equal(x, fields.X)
    regions = sorted({part.region for part in fields.parts})
    groups = [[part for part in fields.parts if part.region == region] for region in regions]
    members = [np.unique(np.concatenate([part.nodes.ravel() for part in group])) for group in groups]
    found = [np.zeros((len(own), 6, n)) for own in members]
    names = {part.type_name for part in fields.parts}
    blocks = [i for i, block in enumerate(system.blocks) if block.type.name in names]
    out = np.zeros_like(linear.state.out)
    size = np.abs(U).max(axis=0, initial=0.0) / system.length
    for k in np.flatnonzero(size):
        e = _SMALL / size[k]
        above, below = (linear.outputs(linear.moved(s * e * U[:, k]), blocks) for s in (1.0, -1.0))
        for i in blocks:
            first, table = system.blocks[i].first_output, (above[i] - below[i]) / (2.0 * e)
            whole = linear.table_everywhere(i, table)
            out[first : first + whole.size] = whole.ravel()
        for group, own, target in zip(groups, members, found, strict=True):
            total, count = np.zeros((nodes, group[0].components)), np.zeros(nodes)
            for part in group:
                stress, _ = part.table(out)
                if not at_rest:
                    stress = part.true_stresses(stress, fields.X, x)
                part.add_at_nodes(stress, total, count)
            target[:, : total.shape[1], k] = total[own] / count[own, None]
    if not groups:
        return np.zeros(0, np.int64), np.zeros((0, 6, n))
    return np.concatenate(members), np.concatenate(found)
