"""Complex modes of (p^2 M + p C + K) x + G^T y = 0, G x = 0: damped, gyroscopic, follower-loaded systems with constraints.

The two-sided Lanczos recurrence (`lanczos`) works on the inverse of the state-space operator about a shift
(`quadratic_pencil`): one sparse factorisation gives the eigenvalues nearest to it, with right and left vectors.  Every
pair then gets a step of inverse iteration, its two-sided Rayleigh quotient (the root p of w.L(p) x = 0 nearest to it) and
its residual.  Small problems are solved dense.

- Where K is singular on the null space of G, as for a free body, the shift is moved to the right of zero by about
  half the lowest elastic frequency (Doan, Geradin & Kill, eq. 3.15), or, with a basis of ``rigid_motions`` at hand, those
  are taken out by a projector (eq. 3.14).  Rigid-body motions, p = 0 in chains of two, have no eigenvalues that rounding
  leaves alone (they become +-1e-8 or so); they are found as the null spaces of K and reported apart, as zeros.
- Multiple eigenvalues: after convergence the recurrence goes on with fresh random vectors, bi-orthogonal to all
  that is known, and looks for more (check="probe").
- Right-most eigenvalues: discs about points of the imaginary axis, each the reach of one shift, are laid over the
  frequencies up to ``reach``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix, identity
from scipy.sparse.csgraph import connected_components

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.eigen import null_space
from fem_mbs.solvers.lanczos import TwoSidedLanczos
from fem_mbs.solvers.linear import one_blas_thread
from fem_mbs.solvers.quadratic_pencil import Effort, Inverse, QuadraticPencil, SaddleFactors, SingularShift

__all__ = ["CHECKS", "ComplexModes", "complex_modes"]

#: Ways to look for eigenvalues that the recurrence has missed.
CHECKS = ("none", "probe")
#: Unknowns up to which problems are solved dense.
DENSE = 120
_CONVERGED = 1e-11  # estimate of the error of a Ritz pair in the operator
_BACKWARD = 1e-12  # residual, over the absolute values that it cancels from, that cannot be had smaller
_PROBE = 16
_SAME = 1e-7  # relative distance of equal eigenvalues
_CLUSTER = 1e-9  # relative distance within which left vectors are made bi-orthogonal to all right ones of a cluster
_RIGID = 1e-11  # |K x| of a rigid motion over | |K| |x| |
_ZERO = 2e-3  # eigenvalues nearer to zero than this part of the shift may belong to rigid motions
_GUARD = 6
_ROUNDS = 400  # of extending and condensing the space
_REAL = 1e-11  # imaginary part of a real eigenvalue that was found in complex arithmetic
_DEFECTIVE = 1e-10  # |w.L'(p) x| over the sizes of its factors, below which a pair is defective
_LARGE = 1e4  # times the median frequency of single unknowns: may be an infinite eigenvalue that rounding has moved
_BESIDE = 1e-5  # distance from an eigenvalue at which its vectors are improved
_COVER = 0.8  # part of a disc's radius by which it covers the imaginary axis
_COVER_WIDTH = 0.6  # to both sides of it, then: sqrt(1 - 0.8^2)
_DISCS = 60
_SEED = 7


@dataclass(frozen=True)
class ComplexModes:
    """Eigenvalues ``values`` (k,) [1/s] of exp(p t), sorted as asked for, pairs together with positive frequency first.

    The first ``rigid`` ones are zeros, one for every independent rigid-body motion; as eigenvalues these count ``zeros``
    times (twice per motion where nothing damps or gyroscopically couples it).

    Attributes:
        right (n, k): (p^2 M + p C + K) x + G^T y = 0, G x = 0, largest entry 1.
        left (n, k): w^H (p^2 M + p C + K) = -mu^H G, with w^H (2 p M + C) x = 1 (of unit size for rigid motions and
            where that product vanishes: defective eigenvalues).
        multipliers (m, k): y; those of dependent rows are zero.
        residuals (k,): |(p^2 M + p C + K) x + G^T y| over the sum of the norms of its four terms, of the right or
            the left pair, whichever is larger, in unknowns scaled to unit diagonals (changes of units have no effect);
            for rigid motions over the absolute values it cancels from.
        backward (k,): the same over the absolute values for all; on fine meshes of slender parts ``residuals`` cannot be
            small, since K x cancels from rounded displacements, and this one tells whether a pair is as good as can be.
        biorthogonality: largest |w_i^H ((p_i + p_j) M + C) x_j|, i != j, of elastic pairs whose vectors have equal lengths
            and whose product with themselves is one.
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


def complex_modes(
    M,
    C,
    K,
    G=None,
    count: int = 6,
    near: complex = 0.0,
    which: str = "nearest",
    shift: complex | None = None,
    reach: float | None = None,
    rigid_motions: np.ndarray | None = None,
    check: str = "probe",
    tolerance: float = 1e-8,
    most_steps: int | None = None,
) -> ComplexModes:
    """The ``count`` eigenvalues p nearest to ``near`` (0: the lowest), or right-most, with right and left vectors.

    One more is given where a conjugate pair would be torn; fewer where the problem has no more finite ones.  Zeros of
    rigid-body motions come in addition.

    Args:
        M, C, K: sparse or dense (n, n) [kg, N s/m, N/m or the like], real or complex, of any symmetry; G (m, n), real, of
            any rank, None for no constraints.
        which: "nearest" or "rightmost" (largest real part among |Im p| <= ``reach``; ``near`` is not used).
        shift: where the matrices are factored, if not near ``near``.
        reach: frequency [rad/s] up to which right-most ones are sought; None: the frequencies of the 2 ``count`` + 10
            lowest ones.
        rigid_motions: (n, r) all motions with K x = 0, C x = 0, G x = 0; taken out by a projector, so that no shift is
            needed.
        check: "probe" looks for missed copies of multiple eigenvalues, "none" does not.
        tolerance: largest residual accepted.
        most_steps: size of the space of the recurrence before it is condensed; None: by ``count``.

    Raises:
        ValueError: arguments that do not fit.
        AnalysisError: nothing has a mass, the pencil is singular, or not all pairs converge.
    """
    if which not in ("nearest", "rightmost"):
        raise ValueError(f'which must be "nearest" or "rightmost", not {which!r}')
    if check not in CHECKS:
        raise ValueError(f"check must be one of {', '.join(CHECKS)}, not {check!r}")
    if not (isinstance(count, (int, np.integer)) and count > 0):
        raise ValueError(f"count must be a positive integer, not {count!r}")
    if not np.isfinite(near) or (shift is not None and not np.isfinite(shift)):
        raise ValueError(f"near and shift must be finite, not {near!r} and {shift!r}")
    if reach is not None and not (np.isfinite(reach) and reach > 0.0):
        raise ValueError(f"reach must be a positive frequency, not {reach!r}")
    if most_steps is not None and most_steps < 2 * count + 8:
        raise ValueError(f"most_steps must be at least 2 count + 8 = {2 * count + 8}, not {most_steps}")
    M, C, K = (a if hasattr(a, "tocsr") else np.atleast_2d(a) for a in (M, C, K))
    with one_blas_thread():
        pencil = QuadraticPencil(M, C, K, G)
        if pencil.real:  # conjugates come along
            near, shift = (a if a is None else complex(a.real, abs(a.imag)) for a in map(_complex, (near, shift)))
        if rigid_motions is not None:
            pencil = pencil.without(rigid_motions)
        work = _Work(pencil, check, tolerance, most_steps)
        to = pencil.time
        if pencil.n - pencil.m <= DENSE or 2 * count >= pencil.n - pencil.m:
            return work.dense(count, near * to, which, None if reach is None else reach * to)
        if which == "rightmost":
            return work.rightmost(count, None if reach is None else reach * to)
        return work.nearest(count, near * to, None if shift is None else shift * to)


@dataclass
class _Pairs:
    """Eigenvalues (k,) with right x (n, k), left w (n, k) (w.L(p) = 0), multipliers y (m, k) and residuals, scaled; for
    real pencils those of the upper half plane stand for their conjugates as well."""

    p: np.ndarray
    x: np.ndarray
    w: np.ndarray
    y: np.ndarray
    residuals: np.ndarray
    backward: np.ndarray

    def take(self, some) -> _Pairs:
        """The pairs ``some``."""
        return _Pairs(
            self.p[some], self.x[:, some], self.w[:, some], self.y[:, some], self.residuals[some], self.backward[some]
        )

    @staticmethod
    def join(parts: list[_Pairs]) -> _Pairs:
        """All pairs of several parts."""
        return _Pairs(
            *(np.concatenate([getattr(a, name) for a in parts], axis=-1) for name in _Pairs.__dataclass_fields__)
        )


class _Work:
    """One problem: its scaled pencil and the options of the search."""

    def __init__(self, pencil: QuadraticPencil, check: str, tolerance: float, most: int | None):
        self.pencil, self.check, self.tolerance, self.most = pencil, check, tolerance, most
        self.rng = np.random.default_rng(_SEED)
        self.shifts: list[complex] = []
        self.zeros = 0  # eigenvalues of rigid-body motions
        self.motions = pencil.motions
        if self.motions is not None:
            self.zeros = 2 * self.motions[0].shape[1]

    # --- nearest ---------------------------------------------------------------------------------------------------
    def nearest(self, count: int, near: complex, shift: complex | None) -> ComplexModes:
        return self._result(self._nearest(count, near, shift), lambda p: np.abs(p - near), count)

    def _nearest(self, count: int, near: complex, shift: complex | None = None) -> _Pairs:
        inverse = self._inverse(near, shift)
        self.shifts.append(inverse.s)
        p, x, w = self._search(inverse, count, lambda p: np.abs(p - near))
        if self.motions is None:
            p, x, w = self._without_zeros(inverse, p, x, w)
        return self._finish(inverse, p, x, w)

    def _inverse(self, near: complex, shift: complex | None) -> Inverse:
        """The operator about a shift, given or at ``near``, or beside it where the matrix is singular there."""
        if shift is not None:
            try:
                return Inverse(self.pencil, shift)
            except SingularShift:
                given = shift / self.pencil.time
                raise AnalysisError(f"Complex modes: the shift {given} is an eigenvalue; move it a little") from None
        for move in (0.0, 1e-3, 7e-3, 3e-2) if near != 0.0 else (0.0,):
            try:
                return Inverse(self.pencil, near * (1.0 + move))
            except SingularShift:
                continue
        if near != 0.0:
            raise self._singular()
        return self._beside_zero()

    @staticmethod
    def _singular() -> AnalysisError:
        return AnalysisError(
            "Complex modes: the matrices are singular at every shift; an unknown has neither stiffness nor mass"
        )

    def _beside_zero(self) -> Inverse:
        """A positive shift of about half the lowest elastic frequency: from farther away all low modes look alike, from
        nearer by rigid motions drown the others."""
        s, inverse = 1e-3, None
        for _ in range(8):
            try:
                inverse = Inverse(self.pencil, s)
            except SingularShift:
                s *= 1.37 if inverse is None else 0.73
                continue
            lanczos = self._lanczos(inverse, min(40, 2 * (self.pencil.n - self.pencil.m)))
            lanczos.extend(lanczos.most)
            ritz = lanczos.ritz()
            p, some = _finite(ritz.theta, s)
            fair = lanczos.estimates(ritz, some) < 1e-2
            size = np.abs(p[fair])
            elastic = size[size > 1e-4 * s].min(initial=np.inf)
            self._count(lanczos)
            if 0.02 * elastic <= s <= 2.0 * elastic or (lanczos.exhausted and not np.isfinite(elastic)):
                return inverse
            s = 0.5 * elastic if np.isfinite(elastic) and elastic > 1e-3 * s else s / 30.0
        if inverse is None:
            raise self._singular()
        return inverse

    def _lanczos(self, inverse: Inverse, most: int) -> TwoSidedLanczos:
        return TwoSidedLanczos(inverse, most, self.rng)

    def _count(self, lanczos: TwoSidedLanczos) -> None:
        self.pencil.effort.steps += lanczos.total
        self.pencil.effort.breakdowns += lanczos.breakdowns

    def _search(self, inverse: Inverse, count: int, distance) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values p, right and left vectors x, w (n, k) of the ``count`` pairs nearest by ``distance``(p), and of all zeros."""
        total = 2 * (self.pencil.n - self.pencil.m)
        most = min(total + 2, self.most or 3 * count + 60)
        chunk = max(8, count // 2)
        lanczos = self._lanczos(inverse, most)
        lanczos.extend(min(most, 2 * count + 10))
        known, spent = None, 0
        effort = self.pencil.effort
        for _ in range(_ROUNDS):
            ritz = lanczos.ritz()
            p, some = _finite(ritz.theta, inverse.s)
            order = np.argsort(distance(p), kind="stable")
            p, some = p[order], some[order]
            need, complete = self._need(p, count, inverse)
            done = lanczos.estimates(ritz, some[:need]) < _CONVERGED
            if (complete or lanczos.exhausted) and done.all():
                zeros = self._is_zero(p[:need], inverse).any()
                if (self.check == "none" and not zeros) or (known is not None and self._same(known, p[:need], inverse)):
                    self._count(lanczos)
                    x, w = lanczos.vectors(ritz, some[:need])
                    return p[:need], x[: self.pencil.n], inverse.left_vector(w)
                known = p[:need]
                lanczos.condense(ritz, self._closed(p, some, min(need, most - _PROBE)), fresh=True)
                lanczos.extend(_PROBE)
                effort.restarts += 1
            elif lanczos.exhausted or lanczos.steps == most:
                spent += lanczos.exhausted
                if spent > 3:
                    break
                keep = min(max(need + _GUARD, (need + most) // 2), most - chunk, len(some))
                lanczos.condense(ritz, self._closed(p, some, keep), fresh=lanczos.exhausted)
                lanczos.extend(chunk)
                effort.restarts += 1
            else:
                lanczos.extend(chunk)
        self._count(lanczos)
        raise AnalysisError(
            f"Complex modes: {int(done.sum())} of {need} have converged after {effort.steps} steps; ask for fewer, "
            "give a shift nearer to them, or more steps (most_steps)"
        )

    def _is_zero(self, p: np.ndarray, inverse: Inverse) -> np.ndarray:
        return np.abs(p) < _ZERO * abs(inverse.s)

    def _need(self, p: np.ndarray, count: int, inverse: Inverse) -> tuple[int, bool]:
        """How many of the sorted values hold ``count`` elastic ones and whole pairs; whether there are that many."""
        elastic = np.cumsum(~self._is_zero(p, inverse))
        need = int(np.searchsorted(elastic, count)) + 1
        if need > p.size:
            return p.size, False
        if inverse.dtype == float and need < p.size and p[need - 1].imag > 0.0 and p[need] == p[need - 1].conj():
            need += 1
        return need, True

    @staticmethod
    def _closed(p: np.ndarray, some: np.ndarray, keep: int) -> np.ndarray:
        """The first ``keep`` of the sorted Ritz values; one less where that would tear a pair."""
        keep = min(keep, p.size)
        if 0 < keep < p.size and p[keep - 1].imag > 0.0 and p[keep] == p[keep - 1].conj():
            keep -= 1
        return some[:keep]

    def _same(self, known: np.ndarray, p: np.ndarray, inverse: Inverse) -> bool:
        """Whether a probe has confirmed the values known before."""
        if known.size != p.size:
            return False
        zero = self._is_zero(p, inverse)
        if (zero != self._is_zero(known, inverse)).any():
            return False
        away = np.abs(known - inverse.s)
        return bool((zero | (np.abs(np.abs(p - inverse.s) - away) <= _SAME * away)).all())

    # --- rigid-body motions ----------------------------------------------------------------------------------------
    def _without_zeros(self, inverse: Inverse, p, x, w):
        """Take the eigenvalues of rigid-body motions out; the motions become ``motions``."""
        zero = self._is_zero(p, inverse)
        R = self._null_space(inverse, x[:, zero], False)
        L = self._null_space(inverse, w[:, zero], True)
        r = min(R.shape[1], L.shape[1])
        if r == 0:
            return p, x, w
        self._take_motions(R[:, :r], L[:, :r])
        near = np.flatnonzero(zero)
        near = near[np.argsort(np.abs(p[near]))]
        self.zeros = max(self.zeros, int((np.abs(p) < 1e-2 * _ZERO * abs(inverse.s)).sum()))
        keep = np.setdiff1d(np.arange(p.size), near[: self.zeros])
        return p[keep], x[:, keep], w[:, keep]

    def _take_motions(self, R: np.ndarray, L: np.ndarray) -> None:
        """Zeros of a motion are two, or one where L^T C R, damping or gyroscopic, is regular."""
        self.motions = (R, L)
        coupling = np.linalg.svd(L.T @ (self.pencil.C @ R), compute_uv=False)
        size = max(float(abs(self.pencil.C).max()), 1e-300)
        self.zeros = R.shape[1] + int((coupling <= 1e-9 * size).sum())

    def _null_space(self, inverse: Inverse, vectors: np.ndarray, transposed: bool) -> np.ndarray:
        """Orthonormal basis (n, r) of K x + G^T y = 0, G x = 0 (K^T if ``transposed``) in the span of the vectors, after
        some subspace iterations about the shift."""
        pencil, s = self.pencil, inverse.s
        if vectors.shape[1] == 0:
            return np.zeros((pencil.n, 0))
        if pencil.real:
            vectors = np.hstack((vectors.real, vectors.imag))
        size = np.linalg.norm(vectors, axis=0)
        u, sizes, _ = np.linalg.svd(vectors[:, size > 0.0] / size[size > 0.0], full_matrices=False)
        X = u[:, sizes > 1e-4 * sizes[0]]
        K, C, M = (pencil.KT, pencil.CT, pencil.MT) if transposed else (pencil.K, pencil.C, pencil.M)
        for _ in range(4):
            new, _ = inverse.factors.solve(s * (C @ X) + s**2 * (M @ X), transposed)
            force = s * (C @ (X - new)) + s**2 * (M @ (X - new))
            X, triangle = np.linalg.qr(new)
            force = np.linalg.solve(triangle.T, force.T).T
        _, sizes, turn = np.linalg.svd(force, full_matrices=False)
        X = (X @ turn.conj().T)[:, ::-1]
        return X[:, sizes[::-1] <= _RIGID * np.linalg.norm(abs(K) @ np.abs(X), axis=0)]

    # --- pairs -----------------------------------------------------------------------------------------------------
    def _finish(self, inverse: Inverse, p, x, w) -> _Pairs:
        """Improved pairs from Ritz pairs; of conjugate ones that of the upper half plane."""
        if self.pencil.real:
            if inverse.dtype != float:
                real = np.abs(p.imag) <= _REAL * (np.abs(p) + np.abs(p - inverse.s))
                p = np.where(real, p.real, p)
                below = p.imag < 0.0
                p, x, w = (np.where(below, a.conj(), a) for a in (p, x, w))
                twice = [i for i in np.flatnonzero(below) if (np.abs(p[~below] - p[i]) <= _SAME * np.abs(p[i])).any()]
                keep = np.setdiff1d(np.arange(p.size), twice)
            else:
                keep = np.flatnonzero(p.imag >= 0.0)
            p, x, w = p[keep], x[:, keep], w[:, keep]
        x, y = inverse.improve(p, x)
        w, z = inverse.improve(p, w, transposed=True)
        return self._judge(p, x, w, y, z)

    def _judge(self, p, x, w, y, z) -> _Pairs:
        """Bi-orthogonal left vectors in clusters, two-sided Rayleigh quotients, residuals; all vectors of unit size."""
        pencil = self.pencil
        p = np.array(p, complex)
        for cluster in _clusters(p):
            product = pencil.products(p[cluster], w[:, cluster], x[:, cluster])
            sizes = np.linalg.svd(product, compute_uv=False)
            if sizes[-1] > _DEFECTIVE * sizes[0]:
                turn = np.linalg.inv(product).T
                w[:, cluster], z[:, cluster] = w[:, cluster] @ turn, z[:, cluster] @ turn
        size = np.linalg.norm(w, axis=0)
        w, z = w / size, z / size
        k, c, m = (np.einsum("ik,ik->k", w, a @ x) for a in (pencil.K, pencil.C, pencil.M))
        for _ in range(2):
            slope = 2.0 * p * m + c
            usable = np.abs(slope) > _DEFECTIVE * (np.abs(2.0 * p * m) + np.abs(c))
            change = np.where(usable, (p * (p * m + c) + k) / np.where(usable, slope, 1.0), 0.0)
            p = p - np.where(np.abs(change) <= 1e-4 * np.abs(p), change, 0.0)
        if pencil.real:
            alone = (np.abs(x.imag).max(axis=0, initial=0.0) == 0.0) & (np.abs(w.imag).max(axis=0, initial=0.0) == 0.0)
            p = np.where(alone, p.real, p)
        right, left = pencil.residuals(p, x, y), pencil.residuals(p, w, z, transposed=True)
        return _Pairs(p, x, w, y, np.maximum(right[0], left[0]), np.maximum(right[1], left[1]))

    def _result(self, pairs: _Pairs, key, count: int, covered=None) -> ComplexModes:
        """The first ``count`` by ``key``(p), with conjugates, in given units, after the rigid-body motions."""
        pencil = self.pencil
        order = np.argsort(key(pairs.p), kind="stable")
        twice = (pairs.p[order].imag > 0.0) & pencil.real
        enough = np.cumsum(1 + twice) >= count
        order = order[: int(enough.argmax()) + 1 if enough.any() else order.size]
        pairs = pairs.take(order)
        bad = (pairs.residuals > self.tolerance) & (pairs.backward > _BACKWARD)
        if bad.any():
            p = pairs.p[bad][0] / pencil.time
            raise AnalysisError(
                f"Complex modes: {int(bad.sum())} of {bad.size} pairs have residuals above {self.tolerance:.0e}, the "
                f"largest {pairs.residuals[bad].max():.1e} (first at p = {p:.6g}); give a shift nearer to them"
            )
        conjugate = np.repeat(np.arange(order.size), 1 + twice[: order.size])
        second = np.r_[False, conjugate[1:] == conjugate[:-1]] if conjugate.size else np.zeros(0, bool)
        pairs = pairs.take(conjugate)
        p, x, w, y = (np.where(second, a.conj(), a) for a in (pairs.p, pairs.x, pairs.w, pairs.y))
        product = pencil.products(p, w, x)
        own = np.diag(product).copy()
        regular = np.abs(own) > _DEFECTIVE * np.linalg.norm((pencil.M @ x) * (2.0 * p) + pencil.C @ x, axis=0)
        own[~regular] = 1.0
        root = np.sqrt(np.abs(own))
        off = np.abs(product / (root[:, None] * root[None, :]))[np.ix_(regular, regular)]
        np.fill_diagonal(off, 0.0)

        R, L = (np.zeros((pencil.n, 0)),) * 2 if self.motions is None else self.motions
        r = R.shape[1]
        size = np.linalg.norm(abs(pencil.K) @ np.abs(R), axis=0), np.linalg.norm(abs(pencil.KT) @ np.abs(L), axis=0)
        loose = [
            np.linalg.norm(self._balanced(a @ X), axis=0) / np.where(b > 0.0, b, 1.0)
            for a, X, b in ((pencil.K, R, size[0]), (pencil.KT, L, size[1]))
        ]
        values = np.concatenate((np.zeros(r), p)) / pencil.time
        right, left = (np.hstack((a, b)) * pencil.d[:, None] for a, b in ((R, x), (L, w)))
        largest = right[np.abs(right).argmax(axis=0), np.arange(r + p.size)] if r + p.size else np.ones(0)
        right = right / largest
        y = np.hstack((np.zeros((pencil.m, r)), y)) / largest
        left[:, r:] *= np.where(regular, largest[r:] / (own * pencil.time), 1.0)
        left[:, :r] /= np.linalg.norm(left[:, :r], axis=0)
        own_residuals = np.maximum(*loose) if r else np.zeros(0)
        return ComplexModes(
            values=values,
            right=right,
            left=left.conj(),
            multipliers=pencil.multipliers(y),
            residuals=np.concatenate((own_residuals, pairs.residuals)),
            backward=np.concatenate((own_residuals, pairs.backward)),
            biorthogonality=float(off.max(initial=0.0)),
            rigid=r,
            zeros=self.zeros,
            shifts=tuple(complex(s / pencil.time) for s in self.shifts),
            covered=covered,
            effort=pencil.effort,
        )

    def _balanced(self, force: np.ndarray) -> np.ndarray:
        """Forces less what the constraints carry."""
        pencil = self.pencil
        if pencil.constraints == 0 or force.shape[1] == 0:
            return force
        unit = identity(pencil.n, format="csc")
        return SaddleFactors(unit, pencil.rows[: pencil.constraints], pencil.effort).solve(force)[0]

    # --- right-most ------------------------------------------------------------------------------------------------
    def rightmost(self, count: int, reach: float | None) -> ComplexModes:
        each = 2 * count + 10
        found = [self._nearest(each, 0.0)]
        radius = float(np.abs(found[0].p).max(initial=0.0))
        reach = radius if reach is None else reach
        width = _COVER_WIDTH * radius
        for side in (1.0,) if self.pencil.real else (1.0, -1.0):
            done, radius = _COVER * radius, radius
            while done < reach:
                centre = done + _COVER * radius
                while True:
                    if len(self.shifts) >= _DISCS:
                        raise AnalysisError(
                            f"Complex modes: {_DISCS} shifts cover frequencies up to {done / self.pencil.time:.6g} "
                            f"of {reach / self.pencil.time:.6g} only; take a lower reach or a larger count"
                        )
                    near = 1j * side * centre
                    pairs = self._nearest(each, near)
                    radius = float(np.abs(pairs.p - near).max())
                    found.append(self._new(pairs, found))
                    if centre - _COVER * radius <= done:
                        break
                    centre = done + _COVER * radius
                done, width = centre + _COVER * radius, min(width, _COVER_WIDTH * radius)
            radius = float(np.abs(found[0].p).max(initial=0.0))
        pairs = _Pairs.join(found)
        pairs = pairs.take(np.flatnonzero(np.abs(pairs.p.imag) <= reach * (1.0 + 1e-9)))
        covered = reach / self.pencil.time, width / self.pencil.time
        return self._result(pairs, lambda p: -p.real, count, covered)

    @staticmethod
    def _new(pairs: _Pairs, found: list[_Pairs]) -> _Pairs:
        """Those that were not found before, copies of multiple ones counted."""
        old = np.concatenate([f.p for f in found])
        free = np.ones(old.size, bool)
        keep = []
        for i, p in enumerate(pairs.p):
            same = np.flatnonzero(free & (np.abs(old - p) <= _SAME * np.abs(p)))
            free[same[:1]] = False
            if same.size == 0:
                keep.append(i)
        return pairs.take(np.array(keep, int))

    # --- dense -----------------------------------------------------------------------------------------------------
    def dense(self, count: int, near: complex, which: str, reach: float | None) -> ComplexModes:
        """By QZ on the null space of the constraints, rigid-body motions taken out before; every pair improved on the
        sparse matrices."""
        if self.motions is None:
            self._dense_motions()
        pencil = self.pencil
        right, left = null_space(pencil.rows), null_space(csr_matrix(pencil.columns.T))
        n = right.shape[1]
        key = (lambda p: -p.real) if which == "rightmost" else (lambda p: np.abs(p - near))
        M, C, K = (left.T @ (a @ right) for a in (pencil.M, pencil.C, pencil.K))
        one, none = np.eye(n), np.zeros((n, n))
        pairs = []
        if n:
            A, B = np.block([[none, one], [-K, -C]]), np.block([[one, none], [none, M]])
            (a, b), vl, vr = scipy.linalg.eig(A, B, left=True, right=True, homogeneous_eigvals=True)
            finite = np.abs(b) > 1e-14 * np.abs(a)
            p = a[finite] / b[finite]
            x, w = right @ vr[:n, finite], left @ vl[n:, finite].conj()
            if self.zeros and self.motions is not pencil.motions:
                keep = np.argsort(np.abs(p))[self.zeros :]
                p, x, w = p[keep], x[:, keep], w[:, keep]
            keep = np.ones(p.size, bool) if reach is None or which != "rightmost" else np.abs(p.imag) <= reach
            if pencil.real:
                keep &= p.imag >= 0.0
            p, x, w = p[keep], x[:, keep], w[:, keep]
            got = 0
            for i in np.argsort(key(p), kind="stable"):
                if got >= count:
                    break
                pair = self._improved(p[i], x[:, [i]], w[:, [i]])
                if pair is not None:
                    pairs.append(pair)
                    got += 2 if pencil.real and p[i].imag > 0.0 else 1
        if pairs:
            joined = self._judge(*(np.concatenate(a, axis=-1) for a in zip(*pairs)))
        else:
            joined = _Pairs(*(np.zeros(s, complex) for s in (0, (pencil.n, 0), (pencil.n, 0), (pencil.m, 0))),
                            *np.zeros((2, 0)))  # fmt: skip
        covered = None
        if which == "rightmost":
            covered = (np.inf if reach is None else reach / pencil.time, np.inf)
        return self._result(joined, key, count, covered)

    def _dense_motions(self) -> None:
        """Find rigid-body motions from the null spaces of K, and take them out where C does not act on them."""
        pencil = self.pencil
        Z = null_space(pencil.rows)
        u, sizes, vt = np.linalg.svd(Z.T @ (pencil.K @ Z))
        r = int((sizes <= 1e-13 * max(sizes.max(initial=0.0), 1e-300)).sum()) if abs(pencil.K).max() else sizes.size
        if r == 0:
            return
        R, L = Z @ vt[sizes.size - r :].conj().T, Z @ u[:, sizes.size - r :].conj()
        self._take_motions(R, L)
        C, M = pencil.C, pencil.M
        acting = max(np.abs(Z.T @ (C @ R)).max(), np.abs(L.T @ C @ Z).max())
        mass = np.linalg.svd(L.T @ (M @ R), compute_uv=False)
        if acting <= 1e-11 * max(abs(C).max(), 1e-300) and mass.min() > 1e-12 * abs(M).max():
            self.pencil = pencil.take_out(R, L)
            self.motions = self.pencil.motions

    def _improved(self, p: complex, x: np.ndarray, w: np.ndarray):
        """p, x, w, y, z after two steps of inverse iteration next to p; None for infinite eigenvalues in disguise."""
        offset = _BESIDE * max(abs(p), 1e-6)
        p = np.array([p if p.imag != 0.0 or not self.pencil.real else p.real])
        for part in (1.0, 1.3, 0.7):
            try:
                inverse = Inverse(self.pencil, p[0] + part * offset)
                break
            except SingularShift:
                if abs(p[0]) > _LARGE:
                    return None
        else:
            raise AnalysisError(f"Complex modes: the matrices are singular next to p = {p[0] / self.pencil.time:.6g}")
        for _ in range(2):
            x, y = inverse.improve(p, x)
            w, z = inverse.improve(p, w, transposed=True)
        if abs(p[0]) > _LARGE and max(self.pencil.residuals(p, x, y)[0].max(), 0.0) > self.tolerance:
            return None
        return p, x, w, y, z


def _clusters(p: np.ndarray) -> list[np.ndarray]:
    """Indices of eigenvalues that are equal but for rounding, where there is more than one."""
    if p.size < 2:
        return []
    same = np.abs(p[:, None] - p[None, :]) <= _CLUSTER * np.abs(p)[:, None]
    number, of = connected_components(csr_matrix(same), directed=False)
    groups = (np.flatnonzero(of == i) for i in range(number))
    return [g for g in groups if g.size > 1]


def _complex(a: complex | None) -> complex | None:
    return None if a is None else complex(a)


def _finite(theta: np.ndarray, s: complex) -> tuple[np.ndarray, np.ndarray]:
    """p = s + 1 / theta and the indices of those that are not infinite."""
    size = np.abs(theta)
    some = np.flatnonzero(size > 1e-13 * size.max(initial=0.0))
    return s + 1.0 / theta[some], some
