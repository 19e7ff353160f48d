"""Internal unknowns of elements that take part in modes: those of hexahedra with incompatible modes.

Condensed statically they follow the nodes.  zeta, their motion relative to this, has a stiffness of its own and is
coupled with the nodes by masses only (`fem_mbs.elements.solids.condensed`):

    K = [K_u 0; 0 K_z],   M = [M_u C^T; C M_z].

So statics needs none of them, and modes with them are exactly those of the uncondensed elements.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import block_array, block_diag, coo_matrix, csr_matrix

from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.late import dataclass

__all__ = ["Inside", "unknowns_inside"]


@dataclass(frozen=True)
class Inside:
    """m unknowns within elements: ``stiffness`` (m, m), ``mass`` (m, m), ``coupling`` (m, N) with the model's dofs."""

    stiffness: csr_matrix
    mass: csr_matrix
    coupling: csr_matrix

    def problem(self, linear: Linearised, K: csr_matrix, M: csr_matrix) -> tuple[csr_matrix, csr_matrix]:
        """Return the eigenproblem of the nodes' unknowns (n_q), joints eliminated, and of the internal unknowns (m)."""
        C = self.coupling[:, : linear.first] @ linear.elimination.T
        return csr_matrix(block_diag((K, self.stiffness))), self.whole(M, C)

    def mass_of_all(self, linear: Linearised) -> csr_matrix:
        """Return the mass (N + m, N + m) over the dofs of the model and these unknowns."""
        return self.whole(linear.mass_matrix, self.coupling)

    def whole(self, M: csr_matrix, C: csr_matrix) -> csr_matrix:
        """Return the mass of n unknowns with the mass M (n, n) and the coupling C (m, n), and of these unknowns."""
        return csr_matrix(block_array([[M, C.T], [C, self.mass]]))


def unknowns_inside(linear: Linearised) -> Inside | None:
    """Return the internal unknowns of all elements of a model; None if there are none."""
    parts = [(block.dof, *block.type.inside(block.par)) for block in linear.system.blocks if block.type.inside]
    if not parts:
        return None
    stiffness, mass, coupling = [], [], []
    for dof, K, M, C in parts:
        e, m, n = C.shape
        own = np.arange(e * m).reshape(e, m)
        rows, columns = np.repeat(own, m, axis=1).ravel(), np.tile(own, (1, m)).ravel()
        stiffness.append(coo_matrix((K.ravel(), (rows, columns))))
        mass.append(coo_matrix((M.ravel(), (rows, columns))))
        at = np.repeat(own, n, axis=1).ravel(), np.broadcast_to(dof[:, None], C.shape).ravel()
        coupling.append(coo_matrix((C.ravel(), at), shape=(e * m, linear.system.n_dof)).tocsr())
    C = block_array([[c] for c in coupling], format="csr")
    return Inside(csr_matrix(block_diag(stiffness)), csr_matrix(block_diag(mass)), C)
