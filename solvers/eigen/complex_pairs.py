"""Eigenpairs of a quadratic pencil: their improvement, their residuals, and the zeros of rigid-body motions.

Theory: docs/theory.md, section 9, "Pairs".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, identity
from scipy.sparse.csgraph import connected_components

from fem_mbs.errors import AnalysisError
from fem_mbs.late import dataclass
from fem_mbs.solvers.eigen.quadratic_pencil import Inverse, QuadraticPencil, absolutely, times
from fem_mbs.solvers.linear.libraries import Effort
from fem_mbs.solvers.linear.saddle_factors import SingularShift
from fem_mbs.solvers.linear.service import factor

__all__ = [
    "BACKWARD",
    "BESIDE",
    "SAME",
    "ComplexModes",
    "Motions",
    "Pairs",
    "assemble",
    "beside",
    "both_residuals",
    "farthest",
    "improved",
    "null_space_near",
    "rescued",
    "unknown",
    "upper_half",
]

#: Residual, over the absolute values that it cancels from, that cannot be had smaller.
BACKWARD = 1e-12
#: The same over the norms of the matrices.
_ROUNDED = 1e-16
#: Relative distance of equal eigenvalues.
SAME = 1e-7
_CLUSTER = 1e-9  # relative distance within which left vectors are made bi-orthogonal to all right ones of a cluster
_RIGID = 1e-11  # |K x| of a rigid motion over | |K| |x| |
_CORRECTIONS, _LEFT = 12, 0.1  # of rigid motions by nearby factors; part of these forces that they may leave
_COLUMN = 1e-8  # column of K over its largest entry, below which it may be round-off
_REAL = 1e-9  # imaginary part of a real eigenvalue that was found in complex arithmetic
#: Relative distance from an eigenvalue at which its vectors are improved.
BESIDE = 1e-5
_DEFECTIVE = 1e-10  # |w.L'(p) x| over the sizes of its factors, below which a pair is defective


@dataclass(frozen=True)
class ComplexModes:
    """Eigenvalues ``values`` (k,) [1/s] of exp(p t), sorted as asked for, pairs together with positive frequency first.

    The first ``rigid`` ones are zeros, one for every independent rigid-body motion; as eigenvalues these count
    ``zeros`` times (twice per motion where nothing damps or gyroscopically couples it).

    Attributes:
        right (n, k): (p^2 M + p C + K) x + G^T y = 0, G x = 0, largest entry 1.
        left (n, k): w^H (p^2 M + p C + K) = -mu^H G, with w^H (2 p M + C) x = 1 (of unit size for rigid motions and
            where that product vanishes: defective eigenvalues).
        multipliers (m, k): y; those of dependent rows are zero.
        residuals (k,): |(p^2 M + p C + K) x + G^T y| over the sum of the norms of its four terms, of the right or
            the left pair, whichever is larger, in unknowns scaled to unit diagonals (changes of units have no effect);
            for rigid motions over the absolute values it cancels from.
        backward (k,): the same over the absolute values for all; on fine meshes of slender parts ``residuals`` cannot
            be small, since K x cancels from rounded displacements, and this one tells whether a pair is as good as
            can be.
        biorthogonality: largest |w_i^H ((p_i + p_j) M + C) x_j|, i != j, of elastic pairs whose vectors have equal
            lengths and whose product with themselves is one.
        shifts: where the matrices were factored; covered: for right-most ones (reach, width), all eigenvalues
            with |Im p| <= reach and |Re p| <= width have been looked at; effort: counts.
    """

    values: np.ndarray
    right: np.ndarray
    left: np.ndarray
    multipliers: np.ndarray
    residuals: np.ndarray
    backward: np.ndarray
    biorthogonality: float
    rigid: int
    zeros: int
    shifts: tuple[complex, ...]
    covered: tuple[float, float] | None
    effort: Effort


@dataclass
class Pairs:
    """Scaled eigenvalues p (k,), right x (n, k), left w (n, k) without conjugation (w.L(p) = 0), and their multipliers
    y, z (m, k); after `upper_half`, those of the upper half plane stand for their conjugates as well."""

    p: np.ndarray
    x: np.ndarray
    y: np.ndarray
    w: np.ndarray
    z: np.ndarray

    def take(self, some: np.ndarray | Sequence[int]) -> Pairs:
        """Return the pairs ``some``."""
        return Pairs(*(getattr(self, f.name)[..., some] for f in fields(self)))

    @staticmethod
    def join(parts: list[Pairs]) -> Pairs:
        """Return all pairs of several parts."""
        return Pairs(*(np.concatenate([getattr(a, f.name) for a in parts], axis=-1) for f in fields(Pairs)))

    def among(self, pencil: QuadraticPencil, unknowns: np.ndarray, rows: np.ndarray) -> Pairs:
        """Return the pairs of a part of a pencil, with its ``unknowns`` (k,) and constraints ``rows`` (j,), among all
        of these."""
        out = Pairs(self.p, *(np.zeros((n, self.p.size), complex) for n in (pencil.n, pencil.m) * 2))
        out.x[unknowns], out.y[rows], out.w[unknowns], out.z[rows] = self.x, self.y, self.w, self.z
        return out

    @staticmethod
    def none(pencil: QuadraticPencil) -> Pairs:
        """Return no pairs at all."""
        return Pairs(
            *(np.zeros((*rows, 0), complex) for rows in ((), (pencil.n,), (pencil.m,), (pencil.n,), (pencil.m,)))
        )


@dataclass(frozen=True)
class Motions:
    """Rigid-body motions: orthonormal right and left (n, r), scaled, and how many eigenvalues zero they have."""

    right: np.ndarray
    left: np.ndarray
    zeros: int

    @staticmethod
    def of(pencil: QuadraticPencil, R: np.ndarray, L: np.ndarray) -> Motions:
        """Return rigid-body motions with two zeros each, or one where L^T C R, damping or gyroscopic, is regular."""
        coupling = np.linalg.svd(L.T @ (pencil.C @ R), compute_uv=False)
        size = max(float(abs(pencil.C).max()), 1e-300)
        return Motions(R, L, R.shape[1] + int((coupling <= 1e-9 * size).sum()))

    def divided(self, d: np.ndarray) -> Motions:
        """Return the motions with unknowns divided by d (n, 1), orthonormal."""
        return Motions(np.linalg.qr(self.right / d)[0], np.linalg.qr(self.left / d)[0], self.zeros)

    def among(self, pencil: QuadraticPencil, unknowns: np.ndarray) -> Motions:
        """Return the motions of a part of a pencil among all unknowns."""
        right, left = (np.zeros((pencil.n, a.shape[1]), a.dtype) for a in (self.right, self.left))
        right[unknowns], left[unknowns] = self.right, self.left
        return Motions(right, left, self.zeros)

    @staticmethod
    def join(parts: Sequence[Motions]) -> Motions:
        """Return the motions of parts that nothing couples to one another."""
        right, left = (np.hstack([getattr(a, side) for a in parts]) for side in ("right", "left"))
        return Motions(right, left, sum(a.zeros for a in parts))


def null_space_near(inverse: Inverse, vectors: np.ndarray, transposed: bool) -> np.ndarray:
    """Return an orthonormal basis (n, r) of the solutions of K x + G^T y = 0, G x = 0 in the span of the vectors (n,
    k).

    It results from some subspace iterations about the shift; where only the symmetric part has factors, from
    corrections by these, as far as they converge.  ``transposed`` takes K^T.
    """
    pencil, s = inverse.pencil, inverse.s
    if vectors.shape[1] == 0:
        return np.zeros((pencil.n, 0))
    if pencil.real:
        vectors = np.hstack((vectors.real, vectors.imag))
    size = np.linalg.norm(vectors, axis=0)
    u, sizes, _ = np.linalg.svd(vectors[:, size > 0.0] / size[size > 0.0], full_matrices=False)
    X = u[:, sizes > 1e-4 * sizes[0]]
    if inverse.approximate:
        X, force, done = _corrected(inverse, X, transposed)
        if done:
            return _unresisted(pencil, X, force, transposed)
    C, M = (pencil.CT, pencil.MT) if transposed else (pencil.C, pencil.M)
    for _ in range(2 if inverse.approximate else 4):  # the vectors of a Galerkin subspace are good already
        new, _ = inverse.factors.solve(s * (C @ X) + s**2 * (M @ X), transposed)
        force = s * (C @ (X - new)) + s**2 * (M @ (X - new))
        X, triangle = np.linalg.qr(new)
        force = np.linalg.solve(triangle.T, force.T).T
    return _unresisted(pencil, X, force, transposed)


def _corrected(inverse: Inverse, X: np.ndarray, transposed: bool) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return X (n, k) less corrections H^-1 K X until rounding leaves the forces, orthonormal, with its forces K X,
    and whether all of these are small: else some of X are no rigid motions, or H is far from K."""
    K = inverse.pencil.KT if transposed else inverse.pencil.K
    force, before = K @ X, np.inf
    for _ in range(_CORRECTIONS):
        worst = float(np.linalg.norm(force, axis=0).max())
        if worst > 0.5 * before or worst == 0.0:
            break
        X, before = np.linalg.qr(X - inverse.factors.nearly(force))[0], worst
        force = K @ X
    size = np.linalg.norm(absolutely(inverse.pencil.K, np.abs(X), transposed), axis=0)
    return X, force, bool((np.linalg.norm(force, axis=0) <= _LEFT * _RIGID * size).all())


def _unresisted(pencil: QuadraticPencil, X: np.ndarray, force: np.ndarray, transposed: bool) -> np.ndarray:
    """Return those (n, r) of the span of X (n, k), orthonormal, whose share of the forces K X is rounding."""
    _, sizes, turn = np.linalg.svd(force, full_matrices=False)
    X = (X @ turn.conj().T)[:, ::-1]
    return X[:, sizes[::-1] <= _RIGID * np.linalg.norm(absolutely(pencil.K, np.abs(X), transposed), axis=0)]


def upper_half(pairs: Pairs, inverse: Inverse) -> Pairs:
    """Return of each conjugate pair of a real pencil the one with positive imaginary part; all pairs of a complex
    pencil."""
    p = pairs.p
    if not inverse.pencil.real:
        return pairs
    if inverse.dtype == float:
        return pairs.take(np.flatnonzero(p.imag >= 0.0))
    real = np.abs(p.imag) <= _REAL * (np.abs(p) + np.abs(p - inverse.s))
    p = np.where(real, p.real, p)
    below = p.imag < 0.0
    pairs = Pairs(p, pairs.x, pairs.y, pairs.w, pairs.z)
    pairs = Pairs(*(np.where(below, a.conj(), a) for a in (pairs.p, pairs.x, pairs.y, pairs.w, pairs.z)))
    return Pairs.join([pairs.take(~below), unknown(pairs.take(below), pairs.p[~below])])


def unknown(pairs: Pairs, known: np.ndarray) -> Pairs:
    """Return the pairs whose eigenvalues are not among the known ones; every known eigenvalue accounts for one copy."""
    free = np.ones(known.size, bool)
    keep = []
    for i, p in enumerate(pairs.p):
        same = np.flatnonzero(free & (np.abs(known - p) <= SAME * np.abs(p)))
        free[same[:1]] = False
        if same.size == 0:
            keep.append(i)
    return pairs.take(np.array(keep, int))


def _quotients(pencil: QuadraticPencil, p: np.ndarray, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the roots (k,) of w.L(p) x = 0 nearest to p, for vectors x, w (n, k); p where there is none."""
    k, c, m = (np.einsum("ik,ik->k", w, times(A, x)) for A in pencil.operators[::-1])
    for _ in range(2):
        slope = 2.0 * p * m + c
        usable = np.abs(slope) > _DEFECTIVE * (np.abs(2.0 * p * m) + np.abs(c))
        change = np.where(usable, (p * (p * m + c) + k) / np.where(usable, slope, 1.0), 0.0)
        p = p - np.where(np.abs(change) <= 1e-4 * np.abs(p), change, 0.0)
    return p


def improved(pencil: QuadraticPencil, pairs: Pairs, keep: bool = False) -> Pairs:
    """Return pairs with vectors of unit size, left ones bi-orthogonal to right ones in clusters, and Rayleigh
    quotients.

    Args:
        keep: keep an eigenvalue if the quotient has a much larger residual; this happens for vectors with large rigid
            motions, whose terms in the quotient cancel.
    """
    x, y, w, z = (np.array(a) for a in (pairs.x, pairs.y, pairs.w, pairs.z))
    # equal values may come with errors that part them
    p = _quotients(pencil, np.array(pairs.p, complex), x, w / np.linalg.norm(w, axis=0))
    for cluster in _clusters(p):
        product = pencil.products(p[cluster], w[:, cluster], x[:, cluster])
        sizes = np.linalg.svd(product, compute_uv=False)
        if sizes[-1] > _DEFECTIVE * sizes[0]:
            turn = np.linalg.inv(product).T
            w[:, cluster], z[:, cluster] = w[:, cluster] @ turn, z[:, cluster] @ turn
    size = np.linalg.norm(w, axis=0)
    w, z = w / size, z / size
    p = _quotients(pencil, p, x, w)
    if pencil.real:
        p = np.where(pairs.p.imag == 0.0, p.real, p)
    if keep:
        before, after = (both_residuals(pencil, Pairs(q, x, y, w, z))[0] for q in (pairs.p, p))
        p = np.where(before < 0.1 * after, pairs.p, p)
    return Pairs(p, x, y, w, z)


def beside(pencil: QuadraticPencil, p: np.ndarray, x: np.ndarray, w: np.ndarray) -> Pairs | None:
    """Return one pair, p (1,), x, w (n, 1), after two steps of inverse iteration close to it, by factors of its own.

    Return None where the matrices are singular there.
    """
    for part in (1.0, 1.3, 0.7):
        try:
            inverse = Inverse(pencil, p[0] + part * BESIDE * max(abs(p[0]), 1e-6), limit=1e18)
        except SingularShift:
            continue
        for _ in range(2):
            x, y = inverse.improve(p, x)
            w, z = inverse.improve(p, w, transposed=True)
        return Pairs(p, x, y, w, z)
    return None


def rescued(pencil: QuadraticPencil, pairs: Pairs, tolerance: float) -> Pairs:
    """Return the pairs, those with large residuals replaced by the results of inverse iteration close to them.

    This is needed where eigenvalues are so much farther from the shift than others that rounding hides them.
    """
    residuals, backward = both_residuals(pencil, pairs)
    bad = (residuals > tolerance) & (backward > BACKWARD)
    if not bad.any():
        return pairs
    out = []
    for i in range(pairs.p.size):
        pair = pairs.take([i])
        better = beside(pencil, pair.p, pair.x, pair.w) if bad[i] else None
        if better is not None and both_residuals(pencil, better)[0][0] < residuals[i]:
            pair = better
        out.append(pair)
    return Pairs.join(out)


def both_residuals(pencil: QuadraticPencil, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the larger of right and left residuals (k,), over the sum of the terms, and over absolute values."""
    absolute = pencil.absolute
    right = pencil.residuals(pairs.p, pairs.x, pairs.y, absolute)
    left = pencil.residuals(pairs.p, pairs.w, pairs.z, absolute, transposed=True)
    return np.maximum(right[0], left[0]), np.maximum(right[1], left[1])


def _clusters(p: np.ndarray) -> list[np.ndarray]:
    """Return the indices of each group of eigenvalues that are equal up to rounding."""
    if p.size < 2:
        return []
    same = np.abs(p[:, None] - p[None, :]) <= _CLUSTER * np.abs(p)[:, None]
    if same.sum() == p.size:
        return []
    number, of = connected_components(csr_matrix(same), directed=False)
    groups = (np.flatnonzero(of == i) for i in range(number))
    return [g for g in groups if g.size > 1]


def farthest(pencil: QuadraticPencil, p: np.ndarray, key: Callable[..., Any], count: int) -> float:
    """Return the largest ``key`` among the first ``count`` eigenvalues.

    p holds eigenvalues of the upper half plane, which stand for their conjugates as well.
    """
    keys = np.sort(np.concatenate((key(p), key(p[p.imag > 0.0].conj()) if pencil.real else [])))
    edge = float(keys[min(count, keys.size) - 1]) if keys.size else 0.0
    return edge + 1e-12 * abs(edge)


def assemble(
    pencil: QuadraticPencil,
    pairs: Pairs,
    motions: Motions | None,
    key: Callable[..., Any],
    count: int,
    tolerance: float,
    shifts: list[complex],
    covered: tuple[float, float] | None = None,
) -> ComplexModes:
    """Return the first ``count`` pairs by ``key``(p) and their conjugates, in given units, after the rigid-body
    motions.

    Raises:
        AnalysisError: residuals above the tolerance.
    """
    pairs = pairs.take(np.argsort(key(pairs.p), kind="stable"))
    pairs = pairs.take(key(pairs.p) <= farthest(pencil, pairs.p, key, count))
    copies = 1 + ((pairs.p.imag > 0.0) & pencil.real)
    residuals, backward = both_residuals(pencil, pairs)
    bad = (residuals > tolerance) & (backward > BACKWARD)
    if bad.any():  # eigenvalues next to zero: exact ones of matrices that differ by less than rounding
        sizes = [float(abs(A).sum(axis=1).max()) for A in (pencil.K, pencil.C, pencil.M)]
        p = np.abs(pairs.p)
        terms = sum(np.linalg.norm(f, axis=0) for f in pencil.forces(pairs.p, pairs.x, False))
        whole = (sizes[0] + p * sizes[1] + p**2 * sizes[2]) * np.linalg.norm(pairs.x, axis=0)
        bad &= residuals * terms > _ROUNDED * whole
    if bad.any():
        raise AnalysisError(
            f"Complex modes: {int(bad.sum())} of {bad.size} pairs have residuals above {tolerance:.0e}, the largest "
            f"{residuals[bad].max():.1e} (p = {pairs.p[bad][0] / pencil.time:.6g}); give a shift nearer to them"
        )
    which = np.repeat(np.arange(copies.size), copies)
    second = np.r_[False, which[1:] == which[:-1]][: which.size]
    pairs = pairs.take(which)
    p, x, y, w = (np.where(second, a.conj(), a) for a in (pairs.p, pairs.x, pairs.y, pairs.w))
    product = pencil.products(p, w, x)
    own = np.diag(product).copy()
    regular = np.abs(own) > _DEFECTIVE * np.linalg.norm((pencil.M @ x) * (2.0 * p) + pencil.C @ x, axis=0)
    own[~regular] = 1.0
    root = np.sqrt(np.abs(own))
    off = np.abs(product / (root[:, None] * root[None, :]))[np.ix_(regular, regular)]
    np.fill_diagonal(off, 0.0)

    none = np.zeros((pencil.n, 0))
    R, L = (none, none) if motions is None else (motions.right, motions.left)
    r = R.shape[1]
    some = slice(pencil.constraints)
    loose = np.maximum(_held(pencil.K, pencil.columns[:, some].T, R), _held(pencil.KT, pencil.rows[some], L))
    right, left = (np.hstack((a, b)).astype(complex) * pencil.d[:, None] for a, b in ((R, x), (L, w)))
    largest = right[np.abs(right).argmax(axis=0), np.arange(right.shape[1])]
    left[:, r:] *= np.where(regular, largest[r:] / (own * pencil.time), 1.0)
    alone = np.r_[np.ones(r, bool), ~regular]
    left[:, alone] /= np.linalg.norm(left[:, alone], axis=0)
    return ComplexModes(
        values=np.concatenate((np.zeros(r), p)) / pencil.time,
        right=right / largest,
        left=left.conj(),
        multipliers=pencil.multipliers(np.hstack((np.zeros((pencil.m, r)), y)) / largest),
        residuals=np.concatenate((loose, residuals[which])),
        backward=np.concatenate((loose, backward[which])),
        biorthogonality=float(off.max(initial=0.0)),
        rigid=r,
        zeros=0 if motions is None else motions.zeros,
        shifts=tuple(complex(s / pencil.time) for s in shifts),
        covered=covered,
        effort=pencil.effort,
    )


def _held(K, G, X: np.ndarray) -> np.ndarray:
    """Return |K x + G^T y| over | |K| |x| | (r,), with the best y, of rigid-body motions X (n, r)."""
    if not X.shape[1]:
        return np.zeros(0)
    force = K @ X
    if G.shape[0]:
        force, _ = factor(identity(X.shape[0], format="csc"), csr_matrix(G), "general").solve(force)
    size = np.linalg.norm(abs(K) @ np.abs(X), axis=0)
    least = _COLUMN * float(abs(K).max()) * np.linalg.norm(X, axis=0)
    return np.linalg.norm(force, axis=0) / np.maximum(size, np.where(least > 0.0, least, 1.0))
