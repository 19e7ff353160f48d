"""The unilateral contacts of a compiled model as one table, and their rows at a state.

Statuses and what the last step has measured stand in the histories of the elements
(`fem_mbs.elements.contact.impact`), so they are part of snapshots.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs import contract as C
from fem_mbs.analysis.blows.laws import LAWS, Blow
from fem_mbs.analysis.start.redundancy import constraint_labels
from fem_mbs.elements.contact import impact
from fem_mbs.late import dataclass
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.blocks import GROUND
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.states import instant
from fem_mbs.system.tangent import control, function_table, matrices_of

__all__ = ["Contacts", "Rows"]


@dataclass(frozen=True)
class Rows:
    """Relative motion of the points that touch at k contacts: ``G`` (k dim, N) gives their velocities, the normal
    first, from velocities with spins in spatial axes; ``frame`` (k, dim, dim) holds normal and tangents in global
    axes, ``axes`` (k, dim, dim) the axes of the surface, both in rows."""

    G: csr_matrix
    frame: np.ndarray
    axes: np.ndarray


class Contacts:
    """All pairs of ``[[impact]]``, in the order of their blocks.

    Attributes:
        blows: the law of each (k,).
        count: their number.
    """

    def __init__(self, compiled: Compiled):
        self.compiled = compiled
        self.blocks = [block for block in compiled.blocks if block.type.unilateral]
        sizes = [block.size for block in self.blocks]
        self.first = np.concatenate(([0], np.cumsum(sizes))).astype(int)
        self.count = int(self.first[-1])
        names = (
            "restitution law", "restitution", "coefficient", "static coefficient", "tangential restitution",
            "least speed",
        )  # fmt: skip
        law, e, mu, static, back, self.least = (self._parameter(name) for name in names)
        self.static, self.rough = static, (mu > 0.0) | (static > 0.0)
        self.e = e
        self.blows = [Blow(LAWS[int(a)], *map(float, rest)) for a, *rest in zip(law, e, mu, static, back, strict=True)]
        self.matrices = matrices_of(compiled)  # kept, so that their pattern is found once
        for block in self.blocks:
            block.par[:, block.type.column("gap tolerance")] = 1e-12 * compiled.length

    def _parameter(self, name: str) -> np.ndarray:
        return np.concatenate([block.par[:, block.type.column(name)] for block in self.blocks])

    def get(self, column: int, width: int = 0) -> np.ndarray:
        """Return a column (k,) of the histories, or some (k, width)."""
        last = column + max(width, 1)
        found = np.concatenate([self.compiled.block_history(block)[:, column:last] for block in self.blocks])
        return found if width else found[:, 0]

    def set(self, column: int, which: np.ndarray, value: np.ndarray | float) -> None:
        """Set a column of the histories of contacts ``which``, or some if ``value`` is (k, width)."""
        value = np.asarray(value, float)
        last = column + (value.shape[1] if value.ndim == 2 else 1)
        value = np.broadcast_to(value if value.ndim == 2 else value.reshape(-1, 1), (len(which), last - column))
        for block, first in zip(self.blocks, self.first, strict=False):
            mine = (which >= first) & (which < first + block.size)
            if mine.any():
                self.compiled.block_history(block)[which[mine] - first, column:last] = value[mine]

    def all(self) -> np.ndarray:
        return np.arange(self.count)

    def place(self, i: int) -> tuple[str, str, str]:
        """Return the name of a contact and those of the nodes of its surface and its ball."""
        k = int(np.searchsorted(self.first, i, "right")) - 1
        block, e = self.blocks[k], i - int(self.first[k])
        names = self.compiled.nodes.names
        a, b = ("ground" if n == GROUND else names[int(n)] for n in block.nodes[e])
        return block.label(e), a, b

    def joint_rows(self) -> list[tuple[str, int]]:
        """Return names and rows (from the first multiplier) of the joints' constraints that are lengths."""
        compiled, labels = self.compiled, constraint_labels(self.compiled)
        return [
            (str(labels[row]), int(row))
            for block in compiled.blocks
            if block.type.multipliers and not block.type.angular and not block.type.unilateral
            for row in np.unique(block.dof[:, block.type.node_dofs :]) - compiled.first_multiplier
        ]

    def joint_names(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self.joint_rows()))

    def rows(self, state: S.State, values: np.ndarray, which: np.ndarray) -> Rows:
        """Return the rows of contacts ``which`` (k,) at row 0 of a state, with values (n_fun,) of the time
        functions."""
        compiled = self.compiled
        dim, k = compiled.dimension, len(which)
        statuses = self.get(impact.STATUS)
        self.set(impact.STATUS, self.all(), impact.OPEN)
        self.set(impact.STATUS, which, impact.STICKING)
        here = instant(compiled, state)
        ctl, fun = control(damping=1.0, joints=0.0), function_table(values)
        oblique, dofs, axis = [], [], []
        n = 3 * (dim - 1)
        for number, (block, _fe, ke) in enumerate(compiled.element_arrays(C.TANGENT, ctl, fun, here, self.blocks)):
            mine = which[(which >= self.first[number]) & (which < self.first[number + 1])] - self.first[number]
            nd = block.type.node_dofs
            # the columns of the multipliers: rows are those of rates, with derivatives of the geometry
            oblique.append(np.swapaxes(ke[mine, :nd, nd:], 1, 2) / block.par[mine, block.type.scale][:, None, None])
            dofs.append(block.dof[mine, :nd])
            axis.append(compiled.block_history(block)[mine, impact.AXIS])
        self.set(impact.STATUS, self.all(), statuses)
        rows, dof, nearest = np.concatenate(oblique), np.concatenate(dofs), np.concatenate(axis).astype(int)
        vectors = rows[:, :, n : n + dim]  # normal, then the axes of the surface but the nearest one
        frame = _frames(vectors[:, 0])
        turned = np.linalg.solve(vectors, rows)  # along global axes
        rows = frame @ turned
        place = np.repeat(np.arange(k * dim), 2 * n), np.repeat(dof, dim, axis=0).ravel()
        G = csr_matrix((rows.reshape(-1), place), shape=(k * dim, compiled.n_dof))
        return Rows(G, frame, _all_axes(vectors[:, 1:], nearest))


def _frames(normal: np.ndarray) -> np.ndarray:
    """Return normals and tangents (k, dim, dim) in rows."""
    normal = normal / np.linalg.norm(normal, axis=1)[:, None]
    if normal.shape[1] == 2:
        return np.stack((normal, np.column_stack((-normal[:, 1], normal[:, 0]))), axis=1)
    other = np.eye(3)[np.abs(normal).argmin(axis=1)]
    first = np.cross(normal, other)
    first /= np.linalg.norm(first, axis=1)[:, None]
    return np.stack((normal, first, np.cross(normal, first)), axis=1)


def _all_axes(known: np.ndarray, nearest: np.ndarray) -> np.ndarray:
    """Return right-handed axes (k, dim, dim) in rows from all but the one of number ``nearest`` (k,)."""
    k, dim = len(known), known.shape[2]
    axes = np.empty((k, dim, dim))
    for i in range(k):
        j = int(nearest[i])
        others = [m for m in range(dim) if m != j]
        axes[i, others] = known[i]
        if dim == 3:
            axes[i, j] = np.cross(axes[i, (j + 1) % 3], axes[i, (j + 2) % 3])
        else:
            x, y = known[i, 0]
            axes[i, j] = (-y, x) if j == 1 else (y, -x)
    return axes
