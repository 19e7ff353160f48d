"""Real modes: K x = w^2 M x, or K x + G^T y = w^2 M x with G x = 0 where constraints stay.

Problems of up to 300 unknowns are solved dense, on a basis of the null space of G.  Of larger ones constraints are best
eliminated before (`constraint_equations`); those of large mechanisms, in which everything hangs together, cannot be.

Shift-invert Lanczos: ARPACK (Lehoucq, Sorensen & Yang 1998) iterates on (K - s M)^-1 M with the factors of
`fem_mbs.solvers.linear.factors`; the symbolic work is done once for all shifts.

- The lowest modes need one factorisation of K by L L^T where the part is held; a free one gets a negative shift.
- Modes nearest to a value, and all modes of a band, need L D L^T, whose inertia counts the modes below the shift
  (Sylvester; Wittrick & Williams 1971, doi:10.1093/qjmam/24.3.263): a band is complete or an error.
- Lanczos from one start vector may miss copies of multiple values (Parlett 1980).  A few steps from another one,
  orthogonal to all modes found, look for what was missed (check="probe"); check="inertia" proves that nothing was, at
  the price of a factorisation of an indefinite matrix.

- With constraints, G (m, n) of any rank, the operator is the saddle point [[K - s M, G^T], [G, 0]] (Ericsson & Ruhe
  1980, doi:10.1090/S0025-5718-1980-0583502-2), and a count of the negative eigenvalues of the matrix shifted beyond
  the highest mode tells whether one was missed.

Theory: docs/theory.md, section 8, "At scale".
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from fem_mbs.errors import AnalysisError, LooseError
from fem_mbs.late import dataclass
from fem_mbs.solvers.distributed.factors import DistributedFactors
from fem_mbs.solvers.distributed.matrix import DistributedMatrix, compressed
from fem_mbs.solvers.linear.factors import IndefiniteFactors, PositiveFactors
from fem_mbs.solvers.linear.libraries import Effort, LinearSolveError, NotPositiveDefinite, one_blas_thread
from fem_mbs.solvers.linear.saddle import DENSE, negative_count, null_space, without_reactions
from fem_mbs.solvers.linear.service import factor, pencil_of

__all__ = ["CHECKS", "RealModes", "as_modes", "real_modes", "translates"]

#: Ways to look for modes that the iteration has missed.
CHECKS = ("none", "probe", "inertia")
#: Modes that are sought from one shift.
_MOST = 60
_PROBE = 10
_HELD = 1e-13  # as _RIGID, of modes with constraints, and of dense ones
_FEW, _MANY = 5, 300  # restarts of Lanczos: from a shift that may be too far away, and elsewhere
_SAME = 1e-7  # relative distance of equal eigenvalues
_EDGE = 1e-9  # by which bands are widened, so that modes at their edges belong to them
_RIGID = 2e-15  # strain energy of a rigid mode over the sum of the absolute values it cancels from (5e-17 measured)
_DOUBTFUL = 1e-10  # smallest pivot of K, of unit diagonal, from which on it may be that of a free part
_SEED = 7


class _SlowError(Exception):
    """Lanczos has not converged in a few restarts."""


@dataclass(frozen=True)
class RealModes:
    """Modes in ascending order: ``values`` w^2 (k,), ``vectors`` (n, k) with x.M x = 1, ``residuals`` (k,).

    ``rigid``: how many are rigid-body modes (their values are zero); ``expected``: how many the inertia counts in the
    range they span (None: not asked for); ``shifts``: where K - s M was factored to iterate; ``effort``: counts.

    A residual is |K x - w^2 M x| over |K x| + |w^2 M x|, for rigid modes over | |K| |x| |.  Slender parts with fine
    meshes cannot have small ones, since the strains of a low mode cancel from displacements rounded to 16 digits;
    ``backward`` (k,), the same over | |K| |x| | + w^2 | |M| |x| |, tells whether they are solved to that round-off.
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    backward: np.ndarray
    rigid: int
    expected: int | None
    shifts: tuple[float, ...]
    effort: Effort


def real_modes(
    K: csr_matrix,
    M: csr_matrix,
    count: int | None = None,
    near: float | None = None,
    band: tuple[float, float] | None = None,
    free: bool | None = None,
    check: str = "probe",
    factors: PositiveFactors | None = None,
    G: csr_matrix | None = None,
) -> RealModes:
    """Return the ``count`` lowest modes, those nearest to w^2 = ``near``, or all with a <= w^2 <= b of a ``band`` (a,
    b).

    Args:
        K, M: symmetric, sparse (n, n), M positive semi-definite; distributed ones are iterated by SLEPc.
        count: number of modes; for a band: the most that are wanted.
        free: whether the part has rigid-body modes; None: find out (this costs a factorisation in vain where a free
            part is not recognised at once).
        check: "none", "probe" or "inertia"; see above.  A band is always counted.
        factors: those of K itself (shift 0, of a pencil with this M), where they exist already: the part is held, and
            another factorisation of K is saved.
        G: constraints, sparse (m, n), of any rank.  Their modes are the lowest ones, always counted; rigid-body motions
            come first.

    Raises:
        AnalysisError: nothing has a mass, the iteration fails, more than ``count`` modes in a band, or not all found.
        ValueError: arguments that do not belong together.
    """
    if (count is None) == (band is None) and band is None:
        raise ValueError("Ask for a count of modes or for a band")
    if band is not None and (near is not None or not band[0] < band[1]):
        raise ValueError("A band is (a, b) with a < b, without a value to be near to")
    if check not in CHECKS:
        raise ValueError(f"check must be one of {', '.join(CHECKS)}, not {check!r}")
    if factors is not None and (factors.shift != 0.0 or factors.pencil.n != K.shape[0] or factors.pencil.mass_free):
        raise ValueError("Given factors must be those of K (n, n), from a pencil with its mass")
    K, M = compressed(K), compressed(M)
    if not np.any(M.diagonal() != 0.0):
        raise AnalysisError("Modes: nothing that can move has a mass; give the parts a density or add masses")
    n = K.shape[0]
    if G is not None and G.shape[0]:
        if count is None or band is not None or near is not None or factors is not None:
            raise ValueError("Modes with constraints are the lowest ones: eliminate the constraints for others")
        with one_blas_thread():
            return _constrained(K, M, csr_matrix(G), count)
    with one_blas_thread():
        if n <= DENSE or (count is not None and count >= n // 2):
            K, M = (A.gathered() if isinstance(A, DistributedMatrix) else A for A in (K, M))
            return _dense(K, M, count, near, band)
        work = _RealProblem(K, M, factors)
        if band is not None:
            return work.band(*band, count)
        return work.lowest(count, free, check) if near is None else work.nearest(count, near, check)


class _RealProblem:
    """Holds the matrices, the pencil and the random numbers of one problem."""

    def __init__(self, K, M, given: PositiveFactors | None = None):
        self.K, self.M, self.n = K, M, K.shape[0]
        self.given = given  # of K itself
        self.pencil = pencil_of(K, M) if given is None else given.pencil
        self.rng = np.random.default_rng(_SEED)
        self.scale = float(np.abs(K.diagonal()).sum() / M.diagonal().sum())
        self.shifts: list[float] = []

    # --- lowest ----------------------------------------------------------------------------------------------------
    def lowest(self, count: int, free: bool | None, check: str) -> RealModes:
        factors, shift = self.given, -1e-7 * self.scale
        if factors is not None:
            free = False
        if free is None:
            free = translates(self.K)
        if not free and factors is None:
            factors = self._positive(0.0)
        if factors is None:
            factors, values, vectors = self._approach(shift, count)
        else:
            values, vectors = self._lanczos(factors, count)
        if factors.shift == 0.0 and factors.weakest < _DOUBTFUL and _rigid(self.K, vectors).any():
            factors = None  # two would take much memory
            factors, values, vectors = self._approach(shift, count)  # round-off had let it pass as held
        for _ in range(2):
            near = _lowest_elastic(values)
            if factors.shift == 0.0 or not np.isfinite(near) or values.min() < -1e-6 * np.abs(values).max():
                break  # (an unstable part: the shift must stay below all)
            if 1e-3 * near <= -factors.shift <= 1e2 * near:
                break
            # too far away: slow and inexact; too close: rigid modes drown the others
            factors = None
            factors = self._below_all(-0.1 * near)
            values, vectors = self._lanczos(factors, count)
        expected = None
        if check == "probe":
            values, vectors = self._probe(factors, values, vectors, count)
        elif check == "inertia":
            del factors
            top = values.max()
            expected = self._inertia(top + 1e-6 * max(abs(top), 1e-9 * self.scale), 1.0).negative
        return self._result(values, vectors, expected)

    def _approach(self, shift: float, count: int) -> tuple[PositiveFactors, np.ndarray, np.ndarray]:
        """Return factors and modes of a part whose lowest elastic value is not known.

        The shift comes nearer while Lanczos is slow, since all low modes look alike from a distant shift.
        """
        for _ in range(4):
            factors = self._below_all(shift)
            try:
                return factors, *self._lanczos(factors, count, restarts=_FEW)
            except _SlowError:
                shift = 1e-2 * factors.shift
                del factors  # their memory, before there are others
        factors = self._below_all(shift)
        return factors, *self._lanczos(factors, count)

    def _below_all(self, shift: float) -> PositiveFactors:
        """Return factors at a shift below the lowest eigenvalue."""
        for _ in range(14):
            try:
                return factor(self.pencil, kind="positive", shift=shift)
            except NotPositiveDefinite:
                shift *= 10.0
            except LinearSolveError as error:
                raise AnalysisError(f"Modes: the shifted stiffness cannot be factored: {error}") from None
        raise LooseError("Modes: K - s M is not positive for any shift; a massless part of the model is loose")

    # --- interior --------------------------------------------------------------------------------------------------
    def nearest(self, count: int, near: float, check: str) -> RealModes:
        factors = self._inertia(near, -1.0)
        values, vectors = self._lanczos(factors, count)
        if check == "probe":
            values, vectors = self._probe(factors, values, vectors, count)
        expected = None
        if check == "inertia":
            del factors
            gap = 1e-6 * max(np.abs(values).max(), 1e-9 * self.scale)
            expected = self._inertia(values.max() + gap, 1.0).negative
            expected -= self._inertia(values.min() - gap, -1.0).negative
        return self._result(values, vectors, expected)

    def band(self, a: float, b: float, most: int | None) -> RealModes:
        a, b = a - _EDGE * abs(a), b + _EDGE * abs(b)
        factors = self._inertia(b, 1.0)
        high, above = factors.shift, factors.negative
        del factors  # they take much memory
        # a band that holds the lowest modes needs no other indefinite matrix: L L^T exists, so nothing lies below
        lowest = None
        if a <= 0.0:
            lowest = self.given or self._positive(min(a, -1e-2 * abs(b)))
        if lowest is not None:
            low, below = lowest.shift, 0
        else:
            factors = self._inertia(a, -1.0)
            low, below = factors.shift, factors.negative
            del factors
        if most is not None and above - below > most:
            raise AnalysisError(f"Modes: {above - below} lie in the band, more than {most}; take a narrower band")
        found = self._part(low, below, high, above, lowest)
        values = np.concatenate([f[0] for f in found]) if found else np.zeros(0)
        vectors = np.column_stack([f[1] for f in found]) if found else np.zeros((self.n, 0))
        keep = values >= a
        if not keep.all():  # between L L^T and the band: rigid modes at an edge of zero belong to it, unstable ones not
            keep |= _rigid(self.K, vectors) & (a <= 0.0)
        return self._result(values[keep], vectors[:, keep], above - below - int((~keep).sum()))

    def _positive(self, shift: float) -> PositiveFactors | None:
        """Return factors, if all modes lie above the shift."""
        try:
            return factor(self.pencil, kind="positive", shift=shift)
        except NotPositiveDefinite:
            return None

    def _part(self, low: float, below: int, high: float, above: int, lowest: PositiveFactors | None = None) -> list:
        """Return all modes between two shifts with known counts; the range is halved while it holds many.

        With factors at ``lowest``, below all modes, the iteration starts from there.
        """
        inside = above - below
        if inside == 0:
            return []
        factors: PositiveFactors | IndefiniteFactors
        if lowest is not None and inside <= _MOST:
            factors = lowest
        else:
            factors, lowest = self._inertia(0.5 * (low + high), 1.0), None
        middle = factors.shift
        wide = high - low > _SAME * max(abs(low), abs(high))
        if inside > _MOST and wide and not isinstance(factors, PositiveFactors):
            n = factors.negative
            del factors
            return self._part(low, below, middle, n) + self._part(middle, n, high, above)
        values, vectors = np.zeros(0), np.zeros((self.n, 0))
        for _ in range(4):
            more = inside - values.size
            new, x = self._lanczos(factors, min(more, self.n - 2), vectors)
            keep = (new >= low) & (new <= high)
            values, vectors = np.concatenate((values, new[keep])), np.column_stack((vectors, x[:, keep]))
            if values.size >= inside:
                return [(values[:inside], vectors[:, :inside])]
        raise AnalysisError(
            f"Modes: {inside} lie between {low:.6g} and {high:.6g}, but only {values.size} were found; split the band"
        )

    def _inertia(self, shift: float, side: float) -> IndefiniteFactors:
        """Return factors at a shift, or very little to one side where that is an eigenvalue."""
        unit = max(abs(shift), 1e-10 * self.scale)
        message = ""
        for move in (0.0, 1e-9, 1e-7, 1e-6, 1e-5):
            try:
                factors = factor(self.pencil, kind="symmetric", shift=shift + side * move * unit)
            except LinearSolveError as error:
                message = str(error)
                continue
            return factors
        raise AnalysisError(f"Modes: K - s M cannot be factored near s = {shift:.6g}: {message}")

    # --- iteration -------------------------------------------------------------------------------------------------
    def _lanczos(
        self, factors, count: int, known: np.ndarray | None = None, restarts: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the modes nearest to the shift of the factors, M-orthogonal to ``known`` (n, j) ones.

        Raises:
            _SlowError: not converged after ``restarts``, if they are limited.
        """
        self.shifts.append(factors.shift)
        M, n = self.M, self.n
        image = M @ known if known is not None and known.shape[1] else None

        def solve(b: np.ndarray) -> np.ndarray:
            if image is None or known is None:
                return factors.solve(b)
            x = factors.solve(b - image @ (known.T @ b))
            return x - known @ (image.T @ x)

        start = solve(M @ self.rng.standard_normal(n))
        if isinstance(factors, DistributedFactors):
            found = factors.nearest(count, start, known, restarts)
            if found is None:
                raise _SlowError
            return found
        operator = LinearOperator((n, n), matvec=solve, dtype=float)
        options = {"v0": start, "ncv": min(n - 1, max(2 * count + 1, 20)), "tol": 1e-13, "maxiter": restarts or _MANY}
        try:
            return eigsh(self.K, count, M, sigma=factors.shift, OPinv=operator, **options)
        except ArpackError as error:
            if restarts is not None and isinstance(error, ArpackNoConvergence):
                raise _SlowError from None
            raise AnalysisError(f"Modes: Lanczos iteration failed: {error}") from None

    def _probe(self, factors, values, vectors, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Add the modes nearer to the shift that a few steps from another vector, orthogonal to all, find; keep
        ``count``."""
        for _ in range(count):
            farthest = np.abs(values - factors.shift).max()
            theta = self._ritz(factors, vectors, _PROBE)
            if not theta > (1.0 + _SAME) / farthest:
                break
            new, x = self._lanczos(factors, max(count // 4, 1), vectors)
            values, vectors = np.concatenate((values, new)), np.column_stack((vectors, x))
            keep = np.argsort(np.abs(values - factors.shift), kind="stable")[:count]
            values, vectors = values[keep], vectors[:, keep]
        return values, vectors

    def _ritz(self, factors, known: np.ndarray, steps: int) -> float:
        """Return the largest |1/(w^2 - s)| that ``steps`` of Lanczos, M-orthogonal to ``known``, find."""
        M = self.M
        image = M @ known
        V: list[tuple[np.ndarray, np.ndarray]] = []
        alpha: list[float] = []
        beta: list[float] = []
        x = factors.solve(M @ self.rng.standard_normal(self.n))
        for _ in range(min(steps, self.n - known.shape[1])):
            for _ in range(2):  # once is not enough (Kahan and Parlett)
                x = x - known @ (image.T @ x)
                for v, Mv in V:
                    x = x - v * (Mv @ x)
            Mx = M @ x
            size = np.sqrt(max(float(x @ Mx), 0.0))
            if V:
                beta.append(size)
            if not size > 1e-14 * max(map(abs, alpha), default=0.0):
                break
            v, Mv = x / size, Mx / size
            V.append((v, Mv))
            x = factors.solve(Mv)
            alpha.append(float(Mv @ x))
        ritz = scipy.linalg.eigvalsh_tridiagonal(np.array(alpha), np.array(beta[: len(alpha) - 1]))
        return float(np.abs(ritz).max(initial=0.0))

    # --- answers ---------------------------------------------------------------------------------------------------
    def _result(self, values, vectors, expected: int | None) -> RealModes:
        return _result(self.K, self.M, values, vectors, expected, tuple(self.shifts), self.pencil.effort)


def as_modes(K: csr_matrix, M: csr_matrix, vectors: np.ndarray, rigid: int) -> RealModes:
    """Return given modes (n, k) in ascending order, with their Rayleigh quotients and residuals.

    The first ``rigid`` are rigid-body motions.
    """
    found = _result(csr_matrix(K), csr_matrix(M), None, vectors, None, (), Effort())
    values = np.where(np.arange(found.values.size) < rigid, 0.0, found.values)
    return replace(found, values=values, rigid=rigid)


def _result(K, M, values, vectors, expected, shifts, effort) -> RealModes:
    KX, MX = K @ vectors, M @ vectors
    mass = np.einsum("ik,ik->k", vectors, MX)
    norm = np.sqrt(np.where(mass > 0.0, mass, 1.0))
    vectors, KX, MX = vectors / norm, KX / norm, MX / norm
    values = np.einsum("ik,ik->k", vectors, KX)
    strained, moved = abs(K) @ np.abs(vectors), abs(M) @ np.abs(vectors)
    rigid = np.abs(values) <= _RIGID * np.einsum("ik,ik->k", np.abs(vectors), strained)
    values = np.where(rigid, 0.0, values)
    left = np.linalg.norm(KX - MX * values, axis=0)
    most = np.linalg.norm(strained, axis=0) + np.linalg.norm(moved * values, axis=0)
    size = np.where(rigid, most, np.linalg.norm(KX, axis=0) + np.linalg.norm(MX * values, axis=0))
    left_over = [left / np.where(a > 0.0, a, 1.0) for a in (size, most)]
    k = np.argsort(values, kind="stable")
    residuals, backward = (r[k] for r in left_over)
    return RealModes(values[k], vectors[:, k], residuals, backward, int(rigid.sum()), expected, shifts, effort)


def _rigid(K, vectors, tolerance: float = _RIGID) -> np.ndarray:
    """Return which vectors (n, k) cause no strain beyond round-off."""
    bound = np.einsum("ik,ik->k", np.abs(vectors), abs(K) @ np.abs(vectors))
    return np.abs(np.einsum("ik,ik->k", vectors, K @ vectors)) <= tolerance * bound


# --- constraints and small problems --------------------------------------------------------------------------------
def _constrained(K, M, G, count: int) -> RealModes:
    """Return the ``count`` lowest modes (fewer, if the masses have fewer) of K x + G^T y = w^2 M x, G x = 0."""
    n, m = K.shape[0], G.shape[0]
    effort = Effort()
    shifts: list[float] = []
    if n <= DENSE or count >= n - m - 1:
        values, vectors = _dense_modes(K, M, G, count)
    else:
        values, vectors = _sparse_modes(K, M, G, count, shifts, effort)
    if values.size == 0:
        raise AnalysisError("Modes: no mass can move; remove a support or give the parts a density")
    order = np.argsort(values)
    values, vectors = values[order], vectors[:, order]
    rigid = _rigid(K, vectors, _HELD)
    left_over = _mode_residuals(K, M, G, values, vectors, rigid)
    first = np.argsort(~rigid, kind="stable")  # rigid ones first
    values = np.where(rigid, 0.0, values)
    expected = None
    if count < n - m - 1:
        # count the eigenvalues below a shift just above the highest found
        top = values[-1]
        shift = top + 1e-6 * max(abs(top), 1e-300)
        expected = negative_count(K - shift * M, G) if shift > 0.0 else None
    residuals, backward = (r[first] for r in left_over)
    return RealModes(
        values[first], vectors[:, first], residuals, backward, int(rigid.sum()), expected, tuple(shifts), effort
    )


def _mode_residuals(K, M, G, values, vectors, rigid) -> tuple[np.ndarray, np.ndarray]:
    """Return `RealModes.residuals` and `RealModes.backward` of each pair, with the best multipliers."""
    KX, MX = K @ vectors, (M @ vectors) * values
    left = np.linalg.norm(without_reactions(KX - MX, G), axis=0)
    strained = np.linalg.norm(abs(K) @ np.abs(vectors), axis=0)
    size = np.where(rigid, strained, np.linalg.norm(KX, axis=0) + np.linalg.norm(MX, axis=0))
    most = strained + np.linalg.norm((abs(M) @ np.abs(vectors)) * values, axis=0)
    # where nothing resists at all, nothing is out of balance
    return tuple(left / np.where(a > 0.0, a, 1.0) for a in (size, most))


def _dense_modes(K, M, G, count):
    Z = null_space(G)
    Kz, Mz = Z.T @ (K @ Z), Z.T @ (M @ Z)
    Kz, Mz = 0.5 * (Kz + Kz.T), 0.5 * (Mz + Mz.T)
    shift = -1e-6 * np.trace(np.abs(Kz)) / np.trace(Mz) or -1.0
    closer = True
    for _ in range(60):
        # w^2 = s + 1/t of M z = t (K - s M) z: masses may be singular, K - s M is positive for s low enough
        try:
            t, z = scipy.linalg.eigh(Mz, Kz - shift * Mz)
        except np.linalg.LinAlgError:
            shift *= 10.0
            closer = False
            continue
        keep = np.flatnonzero(t > 1e-12 * t[-1])[::-1]
        values = shift + 1.0 / t[keep]
        near = _lowest_elastic(values[: count + 6])
        if closer and np.isfinite(near) and not 1e-2 * near <= -shift <= 1e2 * near:
            shift, closer = -near, False  # values far from the shift lose digits
            continue
        return _normalised(Z @ z[:, keep[:count]], K, M)
    raise LooseError("Modes: K - s M is not positive for any shift; a massless part of the model is unstable")


def _sparse_modes(K, M, G, count, shifts: list[float], effort: Effort):
    n = K.shape[0]
    scale = float(np.abs(K.diagonal()).sum() / M.diagonal().sum())
    shift = -1e-9 * scale
    rng = np.random.default_rng(_SEED)
    values, vectors = np.zeros(0), np.zeros((n, 0))
    for _ in range(3):
        try:
            saddle = factor(K - shift * M, G, "saddle")
        except LinearSolveError as error:
            raise AnalysisError(f"Modes: the shifted stiffness cannot be factored: {error}") from None
        shifts.append(shift)
        effort.factorisations += 1

        def solve(b: np.ndarray, saddle=saddle) -> np.ndarray:
            effort.solves += 1
            return saddle.solve(b)[0]

        operator = LinearOperator((n, n), matvec=solve, dtype=float)
        start = saddle.solve(M @ rng.standard_normal(n))[0]
        wanted = min(n - 2, count + 4)
        try:
            values, vectors = eigsh(
                K, wanted, M, sigma=shift, OPinv=operator, v0=start, ncv=min(n - 1, max(2 * wanted + 1, 20)), tol=1e-14
            )  # fmt: skip
        except ArpackError as error:
            raise AnalysisError(f"Modes: Lanczos iteration failed: {error}") from None
        near = _lowest_elastic(values)
        if not np.isfinite(near) or 1e-4 * near <= -shift <= 1e2 * near:
            break
        shift = -0.1 * near  # too far away: slow and inexact; too close: rigid modes drown the others
    keep = np.argsort(values)[:count]
    return _normalised(vectors[:, keep], K, M)


def _normalised(vectors, K, M):
    """Return the Rayleigh quotients of the vectors, and the vectors with x.M x = 1."""
    mass = np.einsum("ik,ik->k", vectors, M @ vectors)
    vectors = vectors / np.sqrt(np.where(mass > 0.0, mass, 1.0))
    return np.einsum("ik,ik->k", vectors, K @ vectors), vectors


def _dense(K, M, count, near, band) -> RealModes:
    """Return the wanted modes of a small problem, selected from all of them."""
    n = K.shape[0]
    every = _constrained(K, M, csr_matrix((0, n)), n)
    values = every.values
    if band is not None:
        tiny = 1e-12 * np.abs(values).max(initial=0.0)
        keep = np.flatnonzero((values >= band[0] - tiny) & (values <= band[1] + tiny))
        if count is not None and keep.size > count:
            raise AnalysisError(f"Modes: {keep.size} lie in the band, more than {count}; take a narrower band")
    else:
        keep = np.argsort(values if near is None else np.abs(values - near), kind="stable")[:count]
    return _result(K, M, values[keep], every.vectors[:, keep], keep.size, (), Effort())


def translates(K: csr_matrix) -> bool:
    """Return whether a translation causes no strain, for dofs numbered node by node; then the part is free."""
    n = K.shape[0]
    size = abs(K)
    for stride in (3, 6, 2, 1):
        if n % stride == 0:
            v = np.zeros(n)
            v[::stride] = 1.0
            if np.all(np.abs(K @ v) <= 1e-11 * (size @ v)):
                return True
    return False


def _lowest_elastic(values) -> float:
    """Return the smallest magnitude among values that are not those of rigid modes; infinite if there is none."""
    size = np.abs(values)
    return float(size[size > 1e-6 * size.max(initial=0.0)].min(initial=np.inf))
