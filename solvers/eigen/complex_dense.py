"""Complex modes of small problems by QZ (Moler & Stewart 1973) on the null space of the constraints, or by QR.

The whole state-space pencil is solved, after rigid-body motions have been removed; where masses are regular, as a
standard eigenproblem of its inverse about a shift.  Every wanted pair is then improved by inverse iteration close to it
on the given matrices.  This method shares with the Lanczos method only the matrices, the factors and the judgement of
pairs, so that each checks the other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix

from fem_mbs.errors import AnalysisError
from fem_mbs.late import dataclass
from fem_mbs.solvers.eigen.complex_pairs import (
    BESIDE,
    ComplexModes,
    Motions,
    Pairs,
    assemble,
    beside,
    both_residuals,
    farthest,
    improved,
)
from fem_mbs.solvers.eigen.quadratic_pencil import QuadraticPencil
from fem_mbs.solvers.linear.saddle import null_space

__all__ = ["dense_modes"]

_NULL = 2e-14  # singular values of K, over the largest, that are zero but for rounding
_SMALL = 1e-5  # times that frequency: its square next to zeros is beyond what the matrices resolve
#: Shift beside zero, times the same frequency, and reciprocal condition numbers from which on it is of use.
_SHIFT, _REGULAR = 1e-3, 1e-9
_FULL = 150  # rows up to which the matrix next to an eigenvalue is factored as a full one
_LARGE = 1e4  # times the median frequency of single unknowns: may be an infinite eigenvalue that rounding has moved


def dense_modes(
    pencil: QuadraticPencil, count: int, near: complex, which: str, reach: float | None, tolerance: float
) -> ComplexModes:
    """Return the modes as `complex_modes` does; ``near`` and ``reach`` are scaled."""
    if pencil.motions is not None:
        return _modes(pencil, Motions.of(pencil, *pencil.motions), False, count, near, which, reach, tolerance)
    pencil, motions = _without_motions(pencil)
    deflate = motions is not None and pencil.motions is None
    try:
        return _modes(pencil, motions, deflate, count, near, which, reach, tolerance)
    except AnalysisError:
        if not deflate:
            raise
    # vectors from the smaller pencils lose digits where gyroscopic forces are large: solve the whole pencil
    return _modes(pencil, motions, False, count, near, which, reach, tolerance)


def _modes(
    pencil: QuadraticPencil,
    motions: Motions | None,
    deflate: bool,
    count: int,
    near: complex,
    which: str,
    reach: float | None,
    tolerance: float,
) -> ComplexModes:
    """Return the modes; ``deflate``: remove the zero eigenvalues of the pencil with their chains before QZ."""

    def key(p):
        return -p.real if which == "rightmost" else np.abs(p - near)

    zeros, *raw = _all(pencil, deflate)
    if motions is not None and zeros > motions.zeros:
        motions = replace(motions, zeros=zeros)
    # rounding has made some zeros finite: remove the eigenvalues nearest to zero
    elif motions is not None and pencil.motions is None:
        raw = [a[..., np.argsort(np.abs(raw[0]))[motions.zeros - zeros :]] for a in raw]
    keep = np.ones(raw[0].size, bool)
    if which == "rightmost" and reach is not None:
        keep &= np.abs(raw[0].imag) <= reach
    if pencil.real:
        keep &= raw[0].imag >= 0.0
    p, x, w = (a[..., keep] for a in raw)
    some = np.flatnonzero(key(p) <= farthest(pencil, p, key, count))
    pairs = (_next_to(pencil, p[[i]], x[:, [i]], w[:, [i]], tolerance, zeros > 0) for i in some)
    found = [Pairs.none(pencil), *(pair for pair in pairs if pair is not None)]
    covered = (np.inf if reach is None else reach / pencil.time, np.inf) if which == "rightmost" else None
    return assemble(
        pencil, improved(pencil, Pairs.join(found), keep=zeros > 0), motions, key, count, tolerance, [], covered
    )


def _all(pencil: QuadraticPencil, deflate: bool) -> list:
    """Return the number of zero eigenvalues, and all other finite ones p (k,), with right and left vectors (n, k).

    Args:
        deflate: K is singular, so remove zero eigenvalues first; otherwise none are removed, and their number is 0.
    """
    Z, W = null_space(pencil.rows), null_space(csr_matrix(pencil.columns.T))
    n = Z.shape[1]
    if n == 0:
        return [0, np.zeros(0, complex), np.zeros((pencil.n, 0)), np.zeros((pencil.n, 0))]
    M, C, K = (W.T @ (a @ Z) for a in (pencil.M, pencil.C, pencil.K))
    one, none = np.eye(n), np.zeros((n, n))
    A, B = np.block([[none, one], [-K, -C]]), np.block([[one, none], [none, M]])
    blocks = _zero_blocks(A, B) if deflate else []
    for block in blocks:
        A, B = block.rest
    if not blocks:
        found = _by_inverse(M, C, K)
        if found is not None:
            p, x, w = found
            return [0, p, Z @ x, W @ w]
    (a, b), vl, vr = scipy.linalg.eig(A, B, left=True, right=True, homogeneous_eigvals=True)
    finite = np.abs(b) > 1e-14 * np.abs(a)
    p, vl, vr = a[finite] / b[finite], vl[:, finite], vr[:, finite]
    for block in reversed(blocks):
        vl, vr = block.expanded(p, vl, vr)
    return [sum(block.size for block in blocks), p, Z @ vr[:n], W @ vl[n:].conj()]


def _by_inverse(M: np.ndarray, C: np.ndarray, K: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return all eigenvalues p (k,) with right and left vectors (n, k), by QR of the inverse of the state-space
    operator about a shift beside zero; None where the matrix there or the mass is nearly singular.

    A third of the work of QZ, which stands where eigenvalues are infinite, or zeros come in chains.
    """
    n, s = len(K), _SHIFT
    N, Cs = K + s * C + s**2 * M, C + 2.0 * s * M
    if min(1.0 / np.linalg.cond(M), 1.0 / np.linalg.cond(N)) < _REGULAR:
        return None
    lu = scipy.linalg.lu_factor(N, check_finite=False)
    by_damping, by_mass = (scipy.linalg.lu_solve(lu, a, check_finite=False) for a in (Cs, M))
    unit = 1.0 / np.sqrt(np.linalg.norm(by_mass, 2))
    A = np.block([[-by_damping, -unit * by_mass], [np.eye(n) / unit, np.zeros((n, n))]])
    theta, vl, vr = scipy.linalg.eig(A, left=True, right=True, check_finite=False)
    w = scipy.linalg.lu_solve(lu, vl[:n].conj(), trans=1, check_finite=False)
    return s + 1.0 / theta, vr[:n], w


@dataclass(frozen=True)
class _ZeroBlock:
    """Zero eigenvalues of a pencil A - p B, and ``rest``: the matrices of the smaller pencil without them.

    R is a basis of the null space of A.  With orthonormal Q = [R, Q2] and P = [P1, P2], where P2^T B R = 0, the pencil
    P^T (A - p B) Q is [[-p P1^T B R, P1^T (A - p B) Q2], [0, P2^T (A - p B) Q2]]: the lower right block is ``rest``.

    Attributes:
        corner: P1^T B R; sides: P1^T A Q2 and P1^T B Q2.
    """

    R: np.ndarray
    Q2: np.ndarray
    P2: np.ndarray
    corner: np.ndarray
    sides: tuple[np.ndarray, np.ndarray]
    rest: tuple[np.ndarray, np.ndarray]

    @property
    def size(self) -> int:
        return self.R.shape[1]

    def expanded(self, p: np.ndarray, vl: np.ndarray, vr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return left and right vectors (n, k) of the pencil A - p B from those of ``rest``, for eigenvalues p (k,) !=
        0."""
        first = np.linalg.solve(self.corner, self.sides[0] @ vr / p - self.sides[1] @ vr)
        return self.P2 @ vl, self.R @ first + self.Q2 @ vr


def _zero_blocks(A: np.ndarray, B: np.ndarray) -> list[_ZeroBlock]:
    """Return blocks of zero eigenvalues, each found in the ``rest`` of the one before.

    Zeros form chains of vectors A x_1 = 0, A x_2 = B x_1, ...: the first block holds the first member of each chain,
    the second the second one, and so on.  Without this, rounding turns a chain of k zeros into p ~ eps^(1/k).
    """
    blocks: list[_ZeroBlock] = []
    # where gyroscopic forces are large, A has small singular values of the size K/C, which are not zero
    n = A.shape[0] // 2
    K, C = A[n:, :n], A[n:, n:]
    scale = float(np.linalg.norm(K, 2)) / max(1.0, float(np.linalg.norm(C, 2))) if n else 0.0
    while A.shape[0]:
        _, sizes, vt = np.linalg.svd(A)
        r = int((sizes <= _NULL * scale).sum())
        if r == 0:
            break
        R, Q2 = vt[sizes.size - r :].T.conj(), vt[: sizes.size - r].T.conj()
        P, corner = scipy.linalg.qr(B @ R)
        P1, P2, corner = P[:, :r], P[:, r:], corner[:r]
        if np.linalg.svd(corner, compute_uv=False).min() <= _NULL * np.linalg.norm(B, 2):
            break  # a singular pencil: `beside` reports it
        sides = P1.T.conj() @ A @ Q2, P1.T.conj() @ B @ Q2
        A, B = P2.T.conj() @ A @ Q2, P2.T.conj() @ B @ Q2
        blocks.append(_ZeroBlock(R, Q2, P2, corner, sides, (A, B)))
    return blocks


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


def _next_to(
    pencil: QuadraticPencil, p: np.ndarray, x: np.ndarray, w: np.ndarray, tolerance: float, zeros: bool
) -> Pairs | None:
    """Return one pair after inverse iteration, None for an infinite eigenvalue that rounding has made finite.

    Where the pencil has ``zeros``, its matrix close to zero may be singular to rounding: then the vectors x and w are
    kept if their residual is smaller than after the iteration.

    Raises:
        AnalysisError: the matrices are singular at p, whatever the vectors.
    """
    pair = _beside(pencil, p, x, w) if pencil.n + pencil.m <= _FULL else None
    pair = beside(pencil, p, x, w) if pair is None else pair
    large = abs(p[0]) > _LARGE
    if large:
        return None if pair is None or pencil.residuals(p, pair.x, pair.y, pencil.absolute)[0][0] > tolerance else pair
    if pair is None and not (zeros and abs(p[0]) < _SMALL):
        raise AnalysisError(f"Complex modes: the matrices are singular next to p = {p[0] / pencil.time:.6g}")
    if pair is not None and (not zeros or both_residuals(pencil, pair)[0][0] <= 1e-2 * tolerance):
        return pair
    x, w = x / np.linalg.norm(x), w / np.linalg.norm(w)
    plain = Pairs(p, x, _reactions(pencil, p, x, False), w, _reactions(pencil, p, w, True))
    if pair is None or both_residuals(pencil, plain)[0][0] < both_residuals(pencil, pair)[0][0]:
        return plain
    return pair


def _beside(pencil: QuadraticPencil, p: np.ndarray, x: np.ndarray, w: np.ndarray) -> Pairs | None:
    """Return what `beside` does, by factors of a full matrix; None where these find it singular."""
    n, m = pencil.n, pencil.m
    s = p[0] + BESIDE * max(abs(p[0]), 1e-6)
    q = p[0] - s
    M, C, K, G, H = pencil.full
    N = np.zeros((n + m, n + m), complex)
    N[:n, :n] = K + s * (C + s * M)
    N[:n, n:], N[n:, :n] = H, G
    lu, pivots, info = scipy.linalg.lapack.zgetrf(N)
    if info:
        return None
    found = []
    for v, transposed in ((x, 0), (w, 1)):
        for _ in range(2):
            right = np.zeros((n + m, 1), complex)
            Mv, Cv = (M.T @ v, C.T @ v) if transposed else (M @ v, C @ v)
            right[:n] = -q * (Cv + (2.0 * s + q) * Mv)
            v, y = np.split(scipy.linalg.lapack.zgetrs(lu, pivots, right, trans=transposed)[0], [n])
            size = np.linalg.norm(v)
            if not np.isfinite(size) or size == 0.0:
                return None
            v, y = v / size, y / size
        found += [v, y]
    return Pairs(p, *found)


def _reactions(pencil: QuadraticPencil, p: np.ndarray, x: np.ndarray, transposed: bool) -> np.ndarray:
    """Return the multipliers (m, 1) that give the least residual with the vector x (n, 1)."""
    columns = (pencil.rows.T if transposed else pencil.columns).toarray()
    return -np.linalg.lstsq(columns, sum(pencil.forces(p, x, transposed)), rcond=None)[0]
