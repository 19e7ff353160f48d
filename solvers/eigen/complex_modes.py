"""Complex modes of (p^2 M + p C + K) x + G^T y = 0, G x = 0: damped, gyroscopic, follower-loaded systems with
constraints.

The two-sided Lanczos recurrence (`lanczos`) works on the inverse of the state-space operator about a shift
(`quadratic_pencil`): one sparse factorisation gives the eigenvalues nearest to it, with right and left vectors.  For
large parts, where only the symmetric part of that matrix has fast factors, a Galerkin subspace takes its place
(`complex_subspace`).  Every pair then gets a step of inverse iteration, its two-sided Rayleigh quotient (the root p of
w.L(p) x = 0 nearest to it) and its residual.  Small problems are solved dense.

- Where K is singular on the null space of G, as for a free body, the shift is moved to the right of zero by about
  half the lowest elastic frequency (Doan, Geradin & Kill, eq. 3.15), or, with a basis of ``rigid_motions`` at hand,
  those are taken out by a projector (eq. 3.14).  Rigid-body motions, p = 0 in chains of two, have no eigenvalues that
  rounding leaves alone (they become +-1e-8 or so); they are found as the null spaces of K and reported apart, as
  zeros.
- Multiple eigenvalues: after convergence the recurrence goes on with fresh random vectors, bi-orthogonal to all
  that is known, and looks for more (check="probe").
- Right-most eigenvalues: discs about points of the imaginary axis, each the reach of one shift, are laid over the
  frequencies up to ``reach``.

Theory: docs/theory.md, section 9.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.eigen.complex_dense import apart, dense_modes
from fem_mbs.solvers.eigen.complex_pairs import (
    BACKWARD,
    SAME,
    ComplexModes,
    Motions,
    Pairs,
    assemble,
    both_residuals,
    improved,
    null_space_near,
    rescued,
    unknown,
    upper_half,
)
from fem_mbs.solvers.eigen.complex_subspace import GalerkinSubspace
from fem_mbs.solvers.eigen.lanczos import TwoSidedLanczos
from fem_mbs.solvers.eigen.quadratic_pencil import Inverse, QuadraticPencil, Repeats, absolutely, inexact
from fem_mbs.solvers.linear.libraries import one_blas_thread
from fem_mbs.solvers.linear.saddle_factors import SingularShift

__all__ = ["CHECKS", "ComplexModes", "complex_modes"]

#: Ways to look for eigenvalues that the recurrence has missed.
CHECKS = ("none", "probe")
#: Unknowns up to which problems are solved dense.
DENSE = 100
_CONVERGED = 1e-12  # estimates of the errors of Ritz pairs, ...
_ROUGH = 1e-8  # ... or what rounding allows, up to this: every pair is improved after that, and judged
_NOISY = 1e-9  # rounding error of the recurrence from which on it is better condensed
_FAIR = 1e-2  # estimates of those that may help
_PROBE = 16
_GUARD = 6
_ROUNDS = 400  # of extending and condensing the space
_ZERO = 0.5  # eigenvalues nearer to zero than this part of the shift may belong to rigid motions, ...
_STRAIN = 1e-14  # ... and do if |p|^2 |x|.|M||x| is a smaller part of |x|.|K||x| than this (rounding leaves 1e-16)
_COVER, _WIDTH = 0.8, 0.6  # parts of a disc's radius by which it covers the imaginary axis, and to both sides of it
_DISCS = 60
_POLISH = 4
_TRIAL, _FINE = (16, 28, 40), 5000  # steps about a trial shift; unknowns from which on it is nearer to zero
#: Of the Galerkin subspace: columns of its random start over the count; columns of a probe, which finds as many copies
#: at a time, and its blocks; vectors at most over the count, and the least of these; rounds after which the recurrence
#: takes over.
_WIDTH_OF_START, _COLUMNS_OF_PROBE, _BLOCKS_OF_PROBE, _MOST, _LEAST, _GALERKIN_ROUNDS = 4, 8, 3, 12, 120, 40
_CLOSE = 1e3  # times what is wanted: residuals from which on their rounding is looked at
#: Of the largest residual, a round before: where it shrinks less, rounding leaves no less, or it does not converge; how
#: often that may be, and what rounding may leave, times what is wanted.
_SLOW, _STALLS, _LEFT = 0.5, 4, 1e2
_SEED = 7


def complex_modes(
    M: csr_matrix,
    C: csr_matrix,
    K: csr_matrix,
    G: csr_matrix | None = None,
    count: int = 6,
    near: complex = 0.0,
    which: str = "nearest",
    shift: complex | None = None,
    reach: float | None = None,
    rigid_motions: np.ndarray | None = None,
    check: str = "probe",
    tolerance: float = 1e-8,
    most_steps: int | None = None,
    columns: csr_matrix | None = None,
    repeats: Repeats | None = None,
) -> ComplexModes:
    """Return the ``count`` eigenvalues p nearest to ``near`` (0: the lowest), or right-most, with right and left
    vectors.

    One more is returned where the count would split a conjugate pair, and all conjugates in addition where ``near`` is
    not real; fewer where the problem has no more finite ones.  Zeros of rigid-body motions come in addition.

    Args:
        M, C, K: sparse or dense (n, n) [kg, N s/m, N/m or the like], real or complex, of any symmetry; G (m, n),
            real, of any rank, None for no constraints.
        which: "nearest" or "rightmost" (largest real part among |Im p| <= ``reach``; ``near`` is not used).
        shift: where the matrices are factored, if not near ``near``.
        reach: frequency [rad/s] up to which right-most ones are sought; None: the frequencies of the 2 ``count`` + 10
            lowest ones.
        rigid_motions: (n, r) all motions with K x = 0, C x = 0, G x = 0; a projector removes them, so that no shift is
            needed.
        check: "probe" looks for missed copies of multiple eigenvalues, "none" does not.
        tolerance: largest residual accepted.
        columns: (n, m) instead of G^T, where forces depend on multipliers, as friction does.
        most_steps: size of the space of the recurrence before it is condensed; None: by ``count``.
        repeats: what calls for similar matrices have in common.

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
    if most_steps is not None and most_steps < 2 * count + 24:
        raise ValueError(f"most_steps must be at least 2 count + 24 = {2 * count + 24}, not {most_steps}")
    M, C, K = (a if hasattr(a, "tocsr") else np.atleast_2d(a) for a in (M, C, K))
    with one_blas_thread():
        pencil = QuadraticPencil(M, C, K, G, columns)
        pencil.repeats = repeats or pencil.repeats
        if pencil.real:  # conjugates come along
            near, shift = (a if a is None else complex(a.real, abs(a.imag)) for a in map(_complex, (near, shift)))
        if rigid_motions is not None:
            pencil = pencil.without(rigid_motions)
        work = _ComplexProblem(pencil, check, tolerance, most_steps)
        to = pencil.time
        free = min(pencil.n - pencil.m, pencil.moving)
        if free <= DENSE or 2 * count >= free:
            return dense_modes(pencil, count, near * to, which, None if reach is None else reach * to, tolerance)
        if which == "rightmost":
            return work.rightmost(count, None if reach is None else reach * to)
        return work.nearest(count, near * to, None if shift is None else shift * to)


class _ComplexProblem:
    """Holds the scaled pencil of one problem and the options of the search."""

    def __init__(self, pencil: QuadraticPencil, check: str, tolerance: float, most: int | None):
        self.pencil, self.check, self.tolerance, self.most = pencil, check, tolerance, most
        self.rng = np.random.default_rng(_SEED)
        self.shifts: list[complex] = []
        self.begun: TwoSidedLanczos | None = None  # about the shift that has just been found
        self.space: GalerkinSubspace | None = None  # the same, where only the symmetric part has factors
        self.motions = None if pencil.motions is None else Motions.of(pencil, *pencil.motions)
        self.polished = False  # whether the last pairs have been found to have the residuals that are wanted
        self.others = np.zeros(0)  # distances of eigenvalues of parts that are solved apart, rising

    # --- nearest ---------------------------------------------------------------------------------------------------
    def nearest(self, count: int, near: complex, shift: complex | None) -> ComplexModes:
        distance = lambda p: np.abs(p - near)  # noqa: E731
        whole = self.pencil
        pairs, motions, *left = apart(whole, near, count)
        if pairs.p.size == 0:
            return self._result(self._nearest(count, near, shift), distance, count)
        pairs = improved(whole, pairs)
        if left[0].size:
            self.pencil = whole.part(*left)
            self.others = np.sort(distance(np.concatenate((pairs.p, pairs.p[pairs.p.imag > 0.0].conj()))))
            pairs = Pairs.join([pairs, self._nearest(count, near, shift).among(whole, *left)])
            if self.motions is not None:
                motions = [*motions, self.motions.among(whole, left[0])]
            self.pencil = whole
        self.motions = Motions.join(motions) if motions else None
        return self._result(pairs, distance, count)

    def _nearest(self, count: int, near: complex, shift: complex | None = None) -> Pairs:
        inverse = self._inverse(near, shift, count)
        self.shifts.append(inverse.s)
        distance = lambda p: np.abs(p - near)  # noqa: E731
        self.polished = False
        pairs = self._search_space(inverse, count, distance) if inverse.approximate else None
        self.space = None
        pairs = self._search(inverse, count, distance) if pairs is None else pairs
        if self.pencil.motions is None:
            pairs = self._without_zeros(inverse, pairs)
        pairs = upper_half(pairs, inverse)
        pairs = pairs if self.polished else rescued(self.pencil, pairs, self.tolerance)
        return improved(self.pencil, pairs)

    def _result(self, pairs: Pairs, key, count: int, covered=None) -> ComplexModes:
        return assemble(self.pencil, pairs, self.motions, key, count, self.tolerance, self.shifts, covered)

    def _inverse(self, near: complex, shift: complex | None, count: int) -> Inverse:
        """Return the operator about a shift, given or at ``near``, or beside it where the matrix is singular there."""
        if shift is not None:
            try:
                return Inverse(self.pencil, shift)
            except SingularShift:
                given = shift / self.pencil.time
                raise AnalysisError(f"Complex modes: the shift {given} is an eigenvalue; move it a little") from None
        if near == 0.0 and inexact(self.pencil):  # no second factorisation, should there be rigid motions
            return self._beside_zero(count)
        for move in (0.0, 1e-3, 7e-3, 3e-2) if near != 0.0 else (0.0,):
            try:
                return Inverse(self.pencil, near * (1.0 + move), movable=near == 0.0)
            except SingularShift:
                continue
        if near != 0.0:
            raise self._singular()
        return self._beside_zero(count)

    @staticmethod
    def _singular() -> AnalysisError:
        return AnalysisError(
            "Complex modes: the matrices are singular at every shift; an unknown has neither stiffness nor mass"
        )

    def _beside_zero(self, count: int) -> Inverse:
        """Return a positive shift of about half the lowest elastic frequency.

        Seen from a shift farther away all low modes look alike; from a nearer one rigid motions hide the others by
        rounding.
        """
        # frequencies of single unknowns, the unit of time, grow with the fineness of a mesh, those of modes do not
        s, inverse, regular = 1e-3 * min(1.0, (_FINE / self.pencil.n) ** (1.0 / 3.0)), None, 0.0
        for _ in range(8):
            inverse = lanczos = None  # two would take much memory
            try:
                inverse = Inverse(self.pencil, s)
                regular = s
            except SingularShift:
                s *= 0.73 if regular else 1.37
                continue
            if inverse.approximate:
                elastic, rigid = self._trial_space(inverse, count)
                if _serves(s, elastic) or (not rigid and s < elastic < np.inf):
                    return inverse
            else:
                lanczos, elastic = self._trial(inverse, count)
                if _serves(s, elastic) or (lanczos.exhausted and not np.isfinite(elastic)):
                    self.begun = lanczos
                    return inverse
                self._count(lanczos)
            s = 0.5 * elastic if np.isfinite(elastic) and elastic > 1e-3 * s else s / 30.0
        if inverse is None and not regular:
            raise self._singular()
        return Inverse(self.pencil, regular) if inverse is None else inverse

    def _trial(self, inverse: Inverse, count: int) -> tuple[TwoSidedLanczos, float]:
        """Return a recurrence begun about a shift, and its rough estimate of the lowest elastic frequency."""
        lanczos, n = self._lanczos(inverse, count), self.pencil.n
        elastic = np.inf
        for steps in _TRIAL:
            lanczos.extend(min(steps, lanczos.most) - lanczos.steps)
            ritz = lanczos.ritz()
            p, some = _finite(ritz.theta, inverse.s)
            zero = self._zeros(inverse, p, lambda i: lanczos.D[:n] @ ritz.right[:, some[i]])  # noqa: B023
            fair = (lanczos.estimates(ritz, some) < _FAIR) & ~zero
            elastic = float(np.abs(p[fair]).min(initial=np.inf))
            # few steps tell only where nothing is nearer to zero: rigid motions may still come out of there
            if _serves(float(np.real(inverse.s)), elastic) and elastic <= np.abs(p[~zero]).min():
                break
        return lanczos, elastic

    def _trial_space(self, inverse: Inverse, count: int) -> tuple[float, bool]:
        """Begin the Galerkin subspace about a shift, and return its rough estimate of the lowest elastic frequency, and
        whether there are zeros of rigid motions."""
        space = self._space(inverse, count)
        space.explore(count + _WIDTH_OF_START)
        ritz = space.ritz()
        some = np.argsort(np.abs(ritz.p))[: count + _WIDTH_OF_START]
        zero = self._zeros(inverse, ritz.p[some], lambda i: space.vectors(ritz.right[:, some[i]]))
        return float(np.abs(ritz.p[some][~zero]).min(initial=np.inf)), bool(zero.any())

    def _space(self, inverse: Inverse, count: int) -> GalerkinSubspace:
        """Return the subspace about a shift: what another shift has left of it, which is as good about this one."""
        if self.space is None:
            self.space = GalerkinSubspace(self.pencil, self.rng)
        self.space.about(inverse.s.real, inverse.factors.nearly)
        return self.space

    def _lanczos(self, inverse: Inverse, count: int) -> TwoSidedLanczos:
        """Return a recurrence with the space that ``count`` pairs need."""
        total = 2 * (self.pencil.n - self.pencil.m)
        return TwoSidedLanczos(inverse, min(total + 2, self.most or 3 * count + 60), self.rng)

    def _count(self, lanczos: TwoSidedLanczos) -> None:
        self.pencil.effort.steps += lanczos.total
        self.pencil.effort.breakdowns += lanczos.breakdowns

    def _search(self, inverse: Inverse, count: int, distance) -> Pairs:
        """Return the ``count`` pairs nearest by ``distance``(p), whole conjugate pairs, and all zeros on the way."""
        lanczos, self.begun = self.begun or self._lanczos(inverse, count), None
        most, chunk = lanczos.most, max(8, count // 2)
        lanczos.extend(min(most, 2 * count + 10) - lanczos.steps)
        known, before = None, np.inf
        effort = self.pencil.effort
        for _ in range(_ROUNDS):
            ritz = lanczos.ritz()
            p, some = _finite(ritz.theta, inverse.s)
            order = np.lexsort((-p.imag, distance(p)))
            p, some = p[order], some[order]
            zero = self._zeros(inverse, p, lambda i: lanczos.D[: self.pencil.n] @ ritz.right[:, some[i]])  # noqa: B023
            need, complete = self._need(p, zero, count, inverse, distance)
            errors = lanczos.estimates(ritz, some[:need])
            done = errors < max(_CONVERGED, min(lanczos.noise, _ROUGH))
            full = lanczos.steps == most
            spoilt = (
                full and errors.max(initial=0.0) > 0.1 * before
            )  # no progress since the space was full the last time
            spoilt |= lanczos.noise > _NOISY and lanczos.steps - lanczos.locked > need + 2 * chunk
            if lanczos.exhausted or (complete and done.all()):  # no more pairs can be found; they are judged later
                found = np.where(zero, 0.0, p)[:need]
                if (self.check == "none" and not zero.any()) or self._same(known, found, inverse.s):
                    self._count(lanczos)
                    return self._polished(inverse, p[:need], *lanczos.vectors(ritz, some[:need]))
                known = found
                lanczos.condense(ritz, self._closed(inverse, p, some, min(need, most - _PROBE)), fresh=True)
                lanczos.extend(_PROBE)
                effort.restarts += 1
            elif lanczos.stuck or spoilt:
                # rounding has spoilt the recurrence: keep what is good, and begin again from the rest
                others = np.concatenate((some[:need][~done], some[need : need + _GUARD]))
                lanczos.condense(ritz, some[:need][done], fresh=True, seeds=None if lanczos.stuck else others)
                lanczos.extend(chunk)
                effort.restarts += 1
                before = np.inf
            elif full:
                before = errors.max(initial=0.0)
                keep = min((need + most) // 2, most - chunk)
                lanczos.condense(ritz, self._closed(inverse, p, some, keep))
                lanczos.extend(chunk)
                effort.restarts += 1
            else:
                lanczos.extend(chunk)
        self._count(lanczos)
        raise AnalysisError(
            f"Complex modes: {int(done.sum())} of {need} have converged after {effort.steps} steps; ask for fewer, "
            "give a shift nearer to them, or more steps (most_steps).  Damping by b K crowds eigenvalues at -1/b: keep "
            "away from there"
        )

    def _search_space(self, inverse: Inverse, count: int, distance) -> Pairs | None:
        """Return what `_search` does, from a Galerkin subspace with solutions by the symmetric part alone; None where
        that does not converge."""
        space = self._space(inverse, count)
        if space.size == 0:
            space.explore(count + _WIDTH_OF_START)
        known, before, stalls = None, np.inf, 0
        for _ in range(_GALERKIN_ROUNDS):
            self.pencil.effort.steps += 1
            ritz = space.ritz()
            order = np.lexsort((-ritz.p.imag, distance(ritz.p)))
            p, right, left = ritz.p[order], ritz.right[:, order], ritz.left[:, order]
            zero = self._zeros(inverse, p, lambda i: space.vectors(right[:, i]))  # noqa: B023
            need, complete = self._need(p, zero, count, inverse, distance)
            if not complete:
                return None  # few modes: the recurrence finds all that there are
            upper = np.flatnonzero(~zero[:need] & (p[:need].imag >= 0.0))
            r, l, off = self._off(space, p[upper], right[:, upper], left[:, upper])
            going, worst = off > 1.0, float(off.max(initial=0.0))
            stalls = stalls + 1 if worst > _SLOW * before else 0
            if not going.any() or (stalls and worst <= _LEFT):
                found = np.where(zero, 0.0, p)[:need]
                if (self.check == "none" and not zero.any()) or self._same(known, found, inverse.s):
                    x, w = space.vectors(right[:, :need]), space.vectors(left[:, :need])
                    none = np.zeros((0, need), complex)
                    return Pairs(p[:need], x, none, w, none)
                known, before, stalls = found, np.inf, 0
                space.explore(_COLUMNS_OF_PROBE, _BLOCKS_OF_PROBE)
                self.pencil.effort.restarts += 1
                continue
            before = worst
            if stalls > _STALLS:
                return None
            if space.size > max(_MOST * count, _LEAST):
                some = self._closed(inverse, p, np.arange(p.size), need + _GUARD)
                space.condense(right[:, some], left[:, some])
                self.pencil.effort.restarts += 1
            if space.correct(r[:, going], l[:, going]) == 0:
                return None
        return None

    def _off(
        self, space: GalerkinSubspace, p: np.ndarray, right: np.ndarray, left: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return right and left residuals (n, j) of pairs by their coefficients, and their sizes (j,) over those
        wanted, by one measure or the other."""
        r, l, sizes = space.residuals(p, right, left)
        off = sizes / (1e-2 * self.tolerance)
        near = np.flatnonzero(off > 1.0)
        if near.size and off.max() < _CLOSE:  # perhaps all that rounding leaves
            both = space.cancelled(p[near], right[:, near], left[:, near])
            backward = [np.linalg.norm(a[:, near], axis=0) / size for a, size in zip((r, l), both, strict=True)]
            off[near] = np.minimum(off[near], np.maximum(*backward) / (1e-2 * BACKWARD))
        return r, l, off

    def _polished(self, inverse: Inverse, p, v, z) -> Pairs:
        """Return pairs by subspace iteration from Ritz vectors v, z (2n, k) until residuals are small, or the best of
        some."""
        best, least, before = None, np.inf, np.inf
        for _ in range(_POLISH):
            p, v, z, *rest = inverse.pairs(p, v, z)
            pairs = Pairs(p, *rest)
            far = ~self._zeros(inverse, p, lambda i: pairs.x[:, i])  # noqa: B023
            residuals, backward = both_residuals(self.pencil, pairs)
            # relative to what is wanted, by one measure or the other
            off = np.minimum(residuals / (1e-2 * self.tolerance), backward / (1e-2 * BACKWARD))
            worst = off[far].max(initial=0.0)
            if worst < least:
                best, least, before = pairs, worst, least
            self.polished = least <= 1.0
            if self.polished or worst > 0.5 * before:
                break
        return best

    def _zeros(self, inverse: Inverse, p: np.ndarray, vectors) -> np.ndarray:
        """Return which p (k,) are zero but for rounding, those of rigid-body motions; ``vectors``(i) gives x (n, j)."""
        zero = np.abs(p) < _ZERO * abs(inverse.s)
        some = np.flatnonzero(zero)
        if some.size:
            x = np.abs(vectors(some))
            kinetic, strain = (np.einsum("ik,ik->k", x, absolutely(a, x)) for a in (self.pencil.M, self.pencil.K))
            zero[some] = np.abs(p[some]) ** 2 * kinetic <= _STRAIN * strain
        return zero

    def _need(self, p: np.ndarray, zero: np.ndarray, count: int, inverse: Inverse, distance) -> tuple[int, bool]:
        """Return how many of the sorted values hold, with those of other parts, ``count`` elastic ones and whole pairs;
        whether there are that many."""
        elastic = np.cumsum(~zero) + np.searchsorted(self.others, distance(p))
        need = int(np.searchsorted(elastic, count)) + 1
        if need > p.size:
            return p.size, False
        while inverse.dtype == float and need < p.size and _torn(p[:need]):
            need += 1
        return need, True

    @staticmethod
    def _closed(inverse: Inverse, p: np.ndarray, some: np.ndarray, keep: int) -> np.ndarray:
        """Return the first ``keep`` of the sorted Ritz values; fewer where that would split a conjugate pair."""
        keep = min(keep, p.size)
        while inverse.dtype == float and _torn(p[:keep]):
            keep -= 1
        return some[:keep]

    @staticmethod
    def _same(known: np.ndarray | None, p: np.ndarray, s: complex) -> bool:
        """Return whether a probe has confirmed the values known before."""
        if known is None or known.size != p.size:
            return False
        away = np.abs(known - s)
        return bool((np.abs(np.abs(p - s) - away) <= SAME * away).all() and ((p == 0.0) == (known == 0.0)).all())

    # --- rigid-body motions ----------------------------------------------------------------------------------------
    def _without_zeros(self, inverse: Inverse, pairs: Pairs) -> Pairs:
        """Remove the eigenvalues of rigid-body motions, and keep the motions as ``motions``."""
        zero = self._zeros(inverse, pairs.p, lambda i: pairs.x[:, i])
        if self.motions is not None or not zero.any():  # known from another shift
            return pairs.take(~zero)
        if self.pencil.real and inverse.dtype != float:
            inverse = Inverse(self.pencil, abs(inverse.s))  # real motions
        R = null_space_near(inverse, pairs.x[:, zero], False)
        L = null_space_near(inverse, pairs.w[:, zero], True)
        r = min(R.shape[1], L.shape[1])
        if r == 0:
            return pairs
        found = Motions.of(self.pencil, R[:, :r], L[:, :r])
        self.motions = replace(found, zeros=max(found.zeros, int(zero.sum())))
        return pairs.take(~zero)

    # --- right-most ------------------------------------------------------------------------------------------------
    def rightmost(self, count: int, reach: float | None) -> ComplexModes:
        each = 2 * count + 10
        found = [self._nearest(each, 0.0)]
        radius = float(np.abs(found[0].p).max(initial=0.0))
        reach = radius if reach is None else reach
        width = _WIDTH * radius
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
                    radius = float(np.abs(pairs.p - near).max(initial=0.0))
                    found.append(unknown(pairs, np.concatenate([f.p for f in found])))
                    if centre - _COVER * radius <= done:
                        break
                    centre = done + _COVER * radius
                done, width = centre + _COVER * radius, min(width, _WIDTH * radius)
            radius = float(np.abs(found[0].p).max(initial=0.0))
        pairs = Pairs.join(found)
        pairs = pairs.take(np.flatnonzero(np.abs(pairs.p.imag) <= reach * (1.0 + 1e-9)))
        covered = reach / self.pencil.time, width / self.pencil.time
        return self._result(pairs, lambda p: -p.real, count, covered)


def _serves(s: float, elastic: float) -> bool:
    """Return whether a shift beside zero suits a lowest elastic frequency."""
    return 0.02 * elastic <= s <= 2.0 * elastic


def _complex(a: complex | None) -> complex | None:
    return None if a is None else complex(a)


def _torn(p: np.ndarray) -> bool:
    """Return whether one of a conjugate pair is missing."""
    return not (p.conj()[:, None] == p).any(axis=1).all()


def _finite(theta: np.ndarray, s: complex) -> tuple[np.ndarray, np.ndarray]:
    """Return p = s + 1 / theta and the indices of those that are not infinite."""
    size = np.abs(theta)
    some = np.flatnonzero(size > 1e-13 * size.max(initial=0.0))
    return s + 1.0 / theta[some], some
