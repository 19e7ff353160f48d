"""Real modes of a structure of N equal sectors, from the matrices of one sector.

The shapes of a wheel with the nodal diameter n are waves: what sector j does is what sector 0 does, turned by j sectors
and multiplied by exp(i j n 2 pi/N) (Thomas 1979, doi:10.1016/0022-460X(79)90382-8).  So the nodes of one face of the
sector follow those of the other face:

    near u + exp(+- i phase) far u = 0,    phase = n 2 pi/N

This leaves a Hermitian problem of the sector alone.  It is solved as the real problem of twice its size in the real and
imaginary parts (a, b) of u = a + i b.  With (a, b) also (-b, a) is a solution, which is the same wave i u, so that each
wave comes twice.  Where the phase is 0 or pi, the coefficients are real, and the problem keeps its size.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import block_array, block_diag, csr_matrix, diags, vstack

from fem_mbs.late import dataclass
from fem_mbs.solvers.eigen.modes import real_modes
from fem_mbs.solvers.linear.constraint_equations import eliminate
from fem_mbs.solvers.linear.libraries import Effort

__all__ = ["CyclicModes", "SectorMatrices", "sector_modes"]

#: Sine of a phase that is 0 or pi.
_REAL = 1e-9
#: Relative distance of eigenvalues that are copies of one another.
_SAME = 1e-6
#: Rounding of the terms of an equation, over the largest of them.
_DUST = 1e-14
#: Share of a vector that is not among the multiples i x of others: 2 of a pair, 1 of a vector whose partner is missing.
_NEW = 0.5


@dataclass(frozen=True)
class SectorMatrices:
    """Matrices of one sector over its n dofs.

    Attributes:
        K, M: (n, n) stiffness and mass, symmetric.
        rows: (m, n) constraints inside of the sector, and ``preferred`` (m,) dofs that they make dependent (-1: any).
        near, far: (f, n) terms of the two faces in the equations above, with the ``sign`` (f,) of the phase and the
            dofs ``own`` (f,) that they make dependent (-1: any).
        held: (h,) dofs at rest.
        scale: (n,) usual sizes of the dofs; see `eliminate`.
    """

    K: csr_matrix
    M: csr_matrix
    rows: csr_matrix
    preferred: np.ndarray
    near: csr_matrix
    far: csr_matrix
    sign: np.ndarray
    own: np.ndarray
    held: np.ndarray
    scale: np.ndarray


@dataclass(frozen=True)
class CyclicModes:
    """Modes of one nodal diameter, ascending: ``values`` w^2 (k,), ``vectors`` (n, k) complex, ``residuals`` (k,).

    Vectors have x^H M x = 1 over the sector; residuals are those of `RealModes`.  ``rigid``: how many are rigid-body
    modes; ``copies``: how many modes of the wheel each stands for (2: a wave in both directions); ``equations``: of
    the real problem.
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    rigid: int
    copies: int
    equations: int
    effort: Effort


def sector_modes(sector: SectorMatrices, phase: float, count: int, check: str = "probe") -> CyclicModes:
    """Return the ``count`` lowest modes at a phase [rad] between the faces.

    Args:
        check: as of `real_modes`.

    Raises:
        AnalysisError: as of `real_modes`.
    """
    c, s = np.cos(phase), np.sin(phase)
    near, far, n = sector.near, sector.far, sector.K.shape[0]
    if abs(s) < _REAL:
        A = vstack((sector.rows, _sum(near, np.sign(c) * far)), format="csr")
        K, M, held, scale = sector.K, sector.M, sector.held, sector.scale
        preferred = np.concatenate((sector.preferred, sector.own))
        copies = 1
    else:
        both, cross = _sum(near, c * far), diags(s * sector.sign) @ far
        blocks = [[sector.rows, None], [None, sector.rows], [both, -cross], [cross, both]]
        A = block_array(blocks, format="csr")
        K, M = (csr_matrix(block_diag((B, B))) for B in (sector.K, sector.M))
        held, scale = np.concatenate((sector.held, n + sector.held)), np.tile(sector.scale, 2)
        own = (sector.preferred, _shifted(sector.preferred, n), sector.own, _shifted(sector.own, n))
        preferred = np.concatenate(own)
        copies = 2
    found = eliminate(A, None, preferred, held, scale=scale)
    K, M = found.reduce(K), found.reduce(M)
    modes = real_modes(csr_matrix(0.5 * (K + K.T)), csr_matrix(0.5 * (M + M.T)), copies * count, check=check)
    vectors = found.T @ modes.vectors
    if copies == 1:
        return CyclicModes(
            modes.values, vectors.astype(complex), modes.residuals, modes.rigid, 1, K.shape[0], modes.effort
        )
    values, waves, residuals, rigid = _waves(modes.values, vectors[:n] + 1j * vectors[n:], modes.residuals, sector)
    few = slice(0, count)
    return CyclicModes(
        values[few], waves[:, few], residuals[few], min(rigid, count), 2, K.shape[0], modes.effort
    )  # fmt: skip


def _sum(near: csr_matrix, far: csr_matrix) -> csr_matrix:
    """Return near + far without what rounding leaves beside the largest term of each row: the terms of a node on the
    axis, which belongs to both faces, cancel, and their rounding would hold it."""
    out = csr_matrix(near + far)
    largest = (abs(near) + abs(far)).max(axis=1).toarray().ravel()
    out.data[np.abs(out.data) <= np.repeat(_DUST * largest, np.diff(out.indptr))] = 0.0
    out.eliminate_zeros()
    return out


def _shifted(dofs: np.ndarray, n: int) -> np.ndarray:
    return np.where(dofs >= 0, dofs + n, -1)


def _waves(
    values: np.ndarray, X: np.ndarray, residuals: np.ndarray, sector: SectorMatrices
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return values, vectors, residuals and the number of rigid ones of the waves among vectors X (n, m) that hold each
    of them twice: x and i x.

    In a group of equal values X^H M X has the eigenvalue 2 for each wave, and 0 for its copy.
    """
    size = np.abs(values)
    jumps = np.diff(values) > _SAME * np.maximum(size[1:], size[:-1])
    first = np.concatenate(([0], 1 + np.flatnonzero(jumps), [len(values)]))
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    rigid = 0
    for a, b in zip(first[:-1], first[1:], strict=True):
        own = X[:, a:b]
        share, turn = np.linalg.eigh(own.conj().T @ (sector.M @ own))
        kept = share > _NEW
        Y = own @ (turn[:, kept] / np.sqrt(share[kept]))
        w2, turn = np.linalg.eigh(Y.conj().T @ (sector.K @ Y))
        k = len(w2)
        if not values[a:b].any():
            rigid, w2 = rigid + k, np.zeros(k)
        elif k == 1:
            w2 = np.array([values[a:b].mean()])
        found.append((w2, Y @ turn, np.full(k, residuals[a:b].max())))
    w2, Y, left = (np.concatenate([part[i] for part in found], axis=-1) for i in range(3))
    return w2, Y, left, rigid
