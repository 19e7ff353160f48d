"""Dense mass matrices over several nodes, from a finite element program, a reduction, or measured added masses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import FILE, NAME, NUMBERS_NESTED, PLACES
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass, late_module
from fem_mbs.model.building import Building
from fem_mbs.model.connections.forces import checked_symmetric

if TYPE_CHECKING:
    from scipy import io
else:
    io = late_module("scipy.io")

__all__ = ["MassMatrix"]

#: Nodes above which an element would have more than 10 million entries.
_MOST_NODES = 500
#: Difference over the largest entry up to which a matrix counts as the same in all directions.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class MassMatrix(Declaration):
    """Dense mass matrices over several nodes.

    Add a mass matrix over n nodes, by one row per

    - node: T = sum m_ij v_i.v_j/2, the same in all directions [kg];
    - translation x, y (, z) of node after node: m_ij times the unit matrix, the same in all directions [kg];
    - translation and rotation of node after node (3 in the plane, 6 in space): T = sum (v, omega)_i.M_ij (v, omega)_j/2
      with velocities in the axes of each node, with which the matrix turns (Zahariev, eq 4) [kg, kg m, kg m^2].

    Energy and both momenta are kept exactly.  The axes of a node are the global ones at the start, unless it is a
    turned body's.  The weight is that of the sums of the rows, at the nodes; a matrix whose sum differs by direction
    (added masses) has none.

    Args:
        on: the nodes, in the order of the rows.
        matrix: symmetric, positive semidefinite; or ``file``, in the format of Matrix Market (.mtx).

    Raises:
        ModelError: the size does not fit, the matrix is not symmetric or has a negative eigenvalue, or one over
            translations differs by direction.
    """

    owner = "Mass matrix"

    name: str = key(NAME, "in messages and results", shows='"mass_matrix 1", ...')
    on: Any = key(PLACES, "nodes in the order of the rows")
    matrix: Any = key(
        NUMBERS_NESTED, "rows by nodes, by their translations, or by translations and rotations; symmetric", None,
        shows="none", unit="kg, kg m, kg m^2",
    )  # fmt: skip
    file: Any = key(FILE, "Matrix Market file (.mtx) of it", None, shows="none")

    def build(self, building: Building) -> None:
        owner = building.label("Mass matrix", self.name)
        nodes = building.nodes_of(self.on, owner)
        n, dim = len(nodes), building.dimension
        if n == 0 or len(set(nodes.tolist())) < n or n > _MOST_NODES:
            raise ModelError(
                f"on has {n} nodes", owner=owner, key="on", value=self.on,
                remedy=f"name 1 to {_MOST_NODES} nodes, each once",
            )  # fmt: skip
        M = self._given(owner)
        size = 3 * (dim - 1)
        if M.shape not in ((n, n), (n * dim, n * dim), (n * size, n * size)):
            raise ModelError(
                f"the matrix is {' x '.join(str(k) for k in M.shape)}", owner=owner, key="matrix",
                remedy=f"{n} nodes need {n} rows (the same in all directions), {n * dim} (translations) or {n * size} "
                "(with rotations), and as many columns",
            )  # fmt: skip
        M = checked_symmetric(M, owner, "matrix")
        if len(M) == n * size:
            self._turning(building, nodes, M, owner)
            return
        if len(M) == n * dim:
            M = _isotropic(M, n, dim, owner)
        columns = {f"M{i + 1} {j + 1}": float(M[i, j]) for i in range(n) for j in range(i, n)}
        building.add_block(self.name, f"translational_mass{dim}_{n}", [nodes], mass=float(M.sum()), **columns)

    def _given(self, owner: Owner) -> np.ndarray:
        if (self.matrix is None) == (self.file is None):
            raise ModelError("it needs either a matrix or a file", owner=owner, remedy="give one of them")
        if self.file is None:
            try:
                M = np.asarray(self.matrix, float)
            except (TypeError, ValueError):
                M = np.empty(0)
        else:
            try:
                M = io.mmread(Path(self.file))
            except (OSError, ValueError, TypeError, StopIteration, OverflowError) as exc:
                raise ModelError(
                    f'file "{self.file}" cannot be read as a matrix ({exc})', owner=owner, key="file", value=self.file,
                    remedy="write it in the format of Matrix Market",
                ) from None  # fmt: skip
            M = M.toarray() if issparse(M) else np.asarray(M)
        if M.ndim != 2 or M.dtype.kind not in "fiu" or not np.isfinite(M).all():
            raise ModelError("matrix must be rows of finite numbers", owner=owner, key="matrix")
        return M.astype(float)

    def _turning(self, building: Building, nodes: np.ndarray, M: np.ndarray, owner: Owner) -> None:
        n, dim = len(nodes), building.dimension
        building.rotational.update(int(node) for node in nodes)
        size = len(M) // n
        A = M.reshape(n, size, n, size)[:, :dim, :, :dim]
        whole = A.sum(axis=(0, 2))
        mass = float(np.trace(whole)) / dim
        weights = np.zeros(n)
        if np.abs(whole - mass * np.eye(dim)).max() <= 1e-6 * abs(mass):
            weights = np.trace(A.sum(axis=2), axis1=1, axis2=2) / dim
        columns = {f"M{i + 1} {j + 1}": float(M[i, j]) for i in range(len(M)) for j in range(i, len(M))}
        columns |= {f"weight {k + 1}": float(w) for k, w in enumerate(weights)}
        building.add_block(self.name, f"turning_mass{dim}_{n}", [nodes], **columns)


def _isotropic(M: np.ndarray, n: int, dim: int, owner: Owner) -> np.ndarray:
    """Return the masses m_ij (n, n) of a matrix over translations that is m_ij times the unit matrix."""
    blocks = np.moveaxis(M.reshape(n, dim, n, dim), 2, 1)
    m = np.trace(blocks, axis1=2, axis2=3) / dim
    off = np.abs(blocks - m[..., None, None] * np.eye(dim))
    if off.max() > _SAME * np.abs(M).max():
        i, j, a, b = np.unravel_index(int(off.argmax()), off.shape)
        raise ModelError(
            f"entry ({i * dim + a + 1}, {j * dim + b + 1}) makes it differ by direction. Over translations alone "
            "it would stay with the global axes when the model turns, and gain angular momentum",
            owner=owner, key="matrix", remedy="give rows of the rotations as well (zeros where they have no mass): "
            "then it turns with the nodes",
        )  # fmt: skip
    return m
