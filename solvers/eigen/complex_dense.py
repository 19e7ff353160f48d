"""Complex modes of small problems by QZ (Moler & Stewart 1973) on the null space of the constraints.

The whole state-space pencil is solved, after rigid-body motions have been removed; every wanted pair is then improved
by inverse iteration close to it on the given matrices.  This method shares with the Lanczos method only the matrices,
the factors and the judgement of pairs, so that each checks the other.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.eigen.complex_pairs import ComplexModes, Motions, Pairs, assemble, beside, farthest, improved
from fem_mbs.solvers.eigen.quadratic_pencil import QuadraticPencil
from fem_mbs.solvers.linear.saddle import null_space

__all__ = ["dense_modes"]

_NULL = 2e-14  # singular values of K, over the largest, that are zero but for rounding
_LARGE = 1e4  # times the median frequency of single unknowns: may be an infinite eigenvalue that rounding has moved


def dense_modes(
    pencil: QuadraticPencil, count: int, near: complex, which: str, reach: float | None, tolerance: float
) -> ComplexModes:
    """Return the modes as `complex_modes` does; ``near`` and ``reach`` are scaled."""
    motions = None if pencil.motions is None else Motions.of(pencil, *pencil.motions)
    if motions is None:
        pencil, motions = _without_motions(pencil)

    def key(p):
        return -p.real if which == "rightmost" else np.abs(p - near)

    raw = _all(pencil)
    if motions is not None and pencil.motions is None:
        raw = [a[..., np.argsort(np.abs(raw[0]))[motions.zeros :]] for a in raw]
    keep = np.ones(raw[0].size, bool)
    if which == "rightmost" and reach is not None:
        keep &= np.abs(raw[0].imag) <= reach
    if pencil.real:
        keep &= raw[0].imag >= 0.0
    p, x, w = (a[..., keep] for a in raw)
    some = np.flatnonzero(key(p) <= farthest(pencil, p, key, count))
    pairs = (_next_to(pencil, p[[i]], x[:, [i]], w[:, [i]], tolerance) for i in some)
    found = [Pairs.none(pencil), *(pair for pair in pairs if pair is not None)]
    covered = (np.inf if reach is None else reach / pencil.time, np.inf) if which == "rightmost" else None
    return assemble(pencil, improved(pencil, Pairs.join(found)), motions, key, count, tolerance, [], covered)


def _all(pencil: QuadraticPencil) -> list[np.ndarray]:
    """Return all finite eigenvalues p (k,), with right and left vectors (n, k)."""
    Z, W = null_space(pencil.rows), null_space(csr_matrix(pencil.columns.T))
    n = Z.shape[1]
    if n == 0:
        return [np.zeros(0, complex), np.zeros((pencil.n, 0)), np.zeros((pencil.n, 0))]
    M, C, K = (W.T @ (a @ Z) for a in (pencil.M, pencil.C, pencil.K))
    one, none = np.eye(n), np.zeros((n, n))
    A, B = np.block([[none, one], [-K, -C]]), np.block([[one, none], [none, M]])
    (a, b), vl, vr = scipy.linalg.eig(A, B, left=True, right=True, homogeneous_eigvals=True)
    finite = np.abs(b) > 1e-14 * np.abs(a)
    return [a[finite] / b[finite], Z @ vr[:n, finite], W @ vl[n:, finite].conj()]


def _without_motions(pencil: QuadraticPencil) -> tuple[QuadraticPencil, Motions | None]:
    """Return the rigid-body motions from the null spaces of K, removed where C does not act on them."""
    Z, W = null_space(pencil.rows), null_space(csr_matrix(pencil.columns.T))
    u, sizes, vt = np.linalg.svd(W.T @ (pencil.K @ Z))
    r = int((sizes <= _NULL * sizes.max(initial=0.0)).sum())
    if r == 0:
        return pencil, None
    R, L = Z @ vt[sizes.size - r :].conj().T, W @ u[:, sizes.size - r :].conj()
    motions = Motions.of(pencil, R, L)
    acting = max(np.abs(W.T @ (pencil.C @ R)).max(), np.abs(L.T @ pencil.C @ Z).max())
    mass = np.linalg.svd(L.T @ (pencil.M @ R), compute_uv=False)
    if acting <= 1e-11 * abs(pencil.C).max() and mass.min() > 1e-12 * abs(pencil.M).max():
        return pencil.take_out(R, L), motions
    return pencil, motions


def _next_to(pencil: QuadraticPencil, p: np.ndarray, x: np.ndarray, w: np.ndarray, tolerance: float) -> Pairs | None:
    """Return one pair after inverse iteration, None for an infinite eigenvalue that rounding has made finite."""
    pair = beside(pencil, p, x, w)
    large = abs(p[0]) > _LARGE
    if pair is None and not large:
        raise AnalysisError(f"Complex modes: the matrices are singular next to p = {p[0] / pencil.time:.6g}")
    if pair is not None and large and pencil.residuals(p, pair.x, pair.y)[0][0] > tolerance:
        return None
    return pair
