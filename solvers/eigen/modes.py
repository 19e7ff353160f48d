"""Real modes: K x = w^2 M x, or K x + G^T y = w^2 M x with G x = 0 where constraints stay.

Problems of up to 300 unknowns are solved dense, on a basis of the null space of G.  Of larger ones constraints are best
eliminated before (`constraint_equations`); those of large mechanisms, in which everything hangs together, cannot be.

Shift-invert Lanczos in blocks (`fem_mbs.solvers.eigen.block_lanczos`) iterates on (K - s M)^-1 M with the factors of
`fem_mbs.solvers.linear.factors`; the symbolic work is done once for all shifts.

- The lowest modes need one factorisation of K by L L^T where the part is held; a free one gets a negative shift.
- All modes of a band are found from a shift below all modes where not too many lie below its upper end.  The number
  below that is counted by a second L L^T, of the part held at some more dofs (`fem_mbs.solvers.linear.pinned`); so is
  that of check="inertia".  Bands far above the lowest modes, and modes nearest to a value, need L D L^T, whose inertia
  counts the modes below the shift (Sylvester; Wittrick & Williams 1971, doi:10.1093/qjmam/24.3.263).  A band is
  complete or an error.
- Lanczos may miss copies of multiple values (Parlett 1980), a block finds as many as it has columns.  Some more random
  columns, orthogonal to all vectors of the basis, look for what was missed (check="probe"); check="inertia" proves that
  nothing was, at the price of another factorisation.

- With constraints, G (m, n) of any rank, the operator is the saddle point [[K - s M, G^T], [G, 0]] (Ericsson & Ruhe
  1980, doi:10.1090/S0025-5718-1980-0583502-2), and a count of the negative eigenvalues of the matrix shifted beyond
  the highest mode tells whether one was missed.

Theory: docs/theory.md, section 8, "At scale".
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix

from fem_mbs.errors import AnalysisError, LooseError
from fem_mbs.late import dataclass
from fem_mbs.solvers.distributed.factors import DistributedFactors
from fem_mbs.solvers.distributed.matrix import DistributedMatrix, compressed
from fem_mbs.solvers.eigen import CHECKS
from fem_mbs.solvers.eigen.block_lanczos import BlockLanczos, SlowError, largest
from fem_mbs.solvers.eigen.constrained_modes import constrained_modes, dense_modes
from fem_mbs.solvers.eigen.real_results import (
    RealModes,
    as_modes,
    is_rigid,
    lowest_elastic,
    mode_results,
    translates,
    without_zeros,
)
from fem_mbs.solvers.linear.factors import IndefiniteFactors, PositiveFactors
from fem_mbs.solvers.linear.libraries import LinearSolveError, NotPositiveDefinite, one_blas_thread
from fem_mbs.solvers.linear.pinned import choose_pins, count_negative
from fem_mbs.solvers.linear.saddle import DENSE
from fem_mbs.solvers.linear.service import factor, pencil_of

__all__ = ["RealModes", "as_modes", "real_modes", "translates"]

#: Modes that are sought from one shift, and those from below all modes.
_MOST, _LOW = 60, 200
_PROBE = 10  # steps of the search for missed modes of distributed matrices
#: Columns of a block, random ones that look for missed modes, and bytes for a basis that is not condensed.
_BLOCK, _COPIES, _ROOM = 8, 4, 1e9
_FEW, _MANY = 5, 300  # restarts of distributed Lanczos: from a shift that may be too far away, and elsewhere
_FEW_STEPS, _MANY_STEPS = 30, 2000  # and applications of the operator to a block
_SHARP = 0.03  # relative residual of Ritz pairs that say where a part is soft
_SAME = 1e-7  # relative distance of equal eigenvalues
_EDGE = 1e-9  # by which bands are widened, so that modes at their edges belong to them
_DOUBTFUL = 1e-10  # smallest pivot of K, of unit diagonal, from which on it may be that of a free part
_SEED = 7


@dataclass(frozen=True)
class _Space:
    """Eigenpairs near a shift: ``t`` = 1/(w^2 - s) (m,) by falling magnitude, ``vectors`` (n, m), x.M x = 1.

    The first ``count`` have converged, the others more or less.
    """

    t: np.ndarray
    vectors: np.ndarray
    count: int
    shift: float

    @property
    def found(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the values w^2 and the vectors of converged pairs."""
        return self.shift + 1.0 / self.t[: self.count], self.vectors[:, : self.count]


class _Crowded(Exception):
    """More modes lie below the upper end of a band than are sought from one shift."""


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
            return constrained_modes(K, M, csr_matrix(G), count)
    with one_blas_thread():
        if n <= DENSE or (count is not None and count >= n // 2):
            K, M = (A.gathered() if isinstance(A, DistributedMatrix) else A for A in (K, M))
            return dense_modes(K, M, count, near, band)
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

    @cached_property
    def inertia(self):
        """Return M without the zeros it stores; made beside the factors, whose making takes the most memory."""
        return without_zeros(self.M)

    # --- lowest ----------------------------------------------------------------------------------------------------
    def lowest(self, count: int, free: bool | None, check: str) -> RealModes:
        factors, shift = self.given, -1e-7 * self.scale
        if factors is not None:
            free = False
        if free is None:
            free = translates(self.K)
        if not free and factors is None:
            factors = self._positive(0.0)
        probe = check == "probe"
        if factors is None:
            factors, space = self._approach(shift, count, probe)
        else:
            space = self._lanczos(factors, count, probe=probe)
        if factors.shift == 0.0 and factors.weakest < _DOUBTFUL and is_rigid(self.K, space.found[1]).any():
            del factors, space  # two would take much memory
            factors, space = self._approach(shift, count, probe)  # round-off had let it pass as held
        for _ in range(2):
            values, _ = space.found
            near = lowest_elastic(values)
            if factors.shift == 0.0 or not np.isfinite(near) or values.min() < -1e-6 * np.abs(values).max():
                break  # (an unstable part: the shift must stay below all)
            if 1e-3 * near <= -factors.shift <= 1e2 * near:
                break
            # too far away: slow and inexact; too close: rigid modes drown the others
            del factors, space
            factors = self._below_all(-0.1 * near)
            space = self._lanczos(factors, count, probe=probe)
        values, vectors = space.found
        expected = None
        if probe and isinstance(factors, DistributedFactors):
            values, vectors = self._probe(factors, values, vectors, count)
        vectors = np.array(vectors)
        if check == "inertia":
            top = values.max()
            top += 1e-6 * max(abs(top), 1e-9 * self.scale)
            pins = self._pins(factors, space, top)
            factors = None
            expected, _ = self._count(pins, space, top)
        del factors, space  # their memory
        return self._result(vectors, expected)

    def _approach(self, shift: float, count: int, probe: bool) -> tuple[PositiveFactors, _Space]:
        """Return factors and modes of a part whose lowest elastic value is not known.

        The shift comes nearer while Lanczos is slow, since all low modes look alike from a distant shift.
        """
        for _ in range(4):
            factors = self._below_all(shift)
            try:
                return factors, self._lanczos(factors, count, few=True, probe=probe)
            except SlowError:
                shift = 1e-2 * factors.shift
                del factors  # their memory, before there are others
        factors = self._below_all(shift)
        return factors, self._lanczos(factors, count, probe=probe)

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
        values, vectors = self._lanczos(factors, count, probe=check == "probe").found
        if check == "probe" and isinstance(factors, DistributedFactors):
            values, vectors = self._probe(factors, values, vectors, count)
        expected = None
        if check == "inertia":
            del factors
            gap = 1e-6 * max(np.abs(values).max(), 1e-9 * self.scale)
            expected = self._inertia(values.max() + gap, 1.0).negative
            expected -= self._inertia(values.min() - gap, -1.0).negative
        return self._result(vectors, expected)

    def band(self, a: float, b: float, most: int | None) -> RealModes:
        a, b = a - _EDGE * abs(a), b + _EDGE * abs(b)
        # a band that holds the lowest modes needs no other indefinite matrix: L L^T exists, so nothing lies below
        shift = min(a, -1e-2 * abs(b)) if a <= 0.0 else 0.0
        lowest, nothing_below = None, False
        if not isinstance(self.K, DistributedMatrix):
            found, nothing_below = self._from_below(a, b, most, shift)
            if found is not None:
                return found
        elif a <= 0.0:
            lowest = self.given or self._positive(shift)
            nothing_below = lowest is not None
        factors = self._inertia(b, 1.0)
        high, above = factors.shift, factors.negative
        del factors  # they take much memory
        if a <= 0.0 and nothing_below:
            low, below = (shift if lowest is None else lowest.shift), 0
        else:
            factors = self._inertia(a, -1.0)
            low, below = factors.shift, factors.negative
            del factors
        self._not_more(above - below, most)
        parts = self._part(low, below, high, above, lowest)
        values = np.concatenate([f[0] for f in parts]) if parts else np.zeros(0)
        vectors = np.column_stack([f[1] for f in parts]) if parts else np.zeros((self.n, 0))
        keep = self._in_band(values, vectors, a)
        return self._result(vectors[:, keep], above - below - int((~keep).sum()))

    def _from_below(self, a: float, b: float, most: int | None, shift: float) -> tuple[RealModes | None, bool]:
        """Return the modes of a band by an iteration from below all modes, counted at its upper end.

        They are None where too many modes lie below the upper end, or the iteration has missed some.  The second answer
        is whether all modes lie above the shift.
        """
        factors = self.given or self._positive(shift)
        if factors is None:
            return None, False
        try:
            space = self._below(factors, b)
        except _Crowded:
            return None, True
        pins = self._pins(factors, space, b)
        factors = None  # its memory
        count, high = self._count(pins, space, b)
        values, vectors = space.found
        keep = values <= high
        if int(keep.sum()) != count:
            return None, True
        values, vectors = values[keep], vectors[:, keep]
        keep = self._in_band(values, vectors, a)
        self._not_more(int(keep.sum()), most)
        return self._result(vectors[:, keep], int(keep.sum())), True

    def _below(self, factors: PositiveFactors, b: float) -> _Space:
        """Return all modes below b that the iteration finds, and the next one."""
        least = 1.0 / (b - factors.shift)

        def leading(t: np.ndarray, left: np.ndarray) -> int:
            if int((t > least).sum()) > _LOW:
                raise _Crowded  # (at least so many eigenvalues are as large as these Ritz values)
            return min(int((t + left > least).sum()) + 1, self.n)

        return self._iterated(factors, leading, _LOW, _MANY_STEPS, _COPIES)

    def _in_band(self, values: np.ndarray, vectors: np.ndarray, a: float) -> np.ndarray:
        """Return which modes do not lie below a band that begins at ``a``."""
        keep = values >= a
        if not keep.all():  # between L L^T and the band: rigid modes at an edge of zero belong to it, unstable ones not
            keep |= is_rigid(self.K, vectors) & (a <= 0.0)
        return keep

    @staticmethod
    def _not_more(count: int, most: int | None) -> None:
        if most is not None and count > most:
            raise AnalysisError(f"Modes: {count} lie in the band, more than {most}; take a narrower band")

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
            new, x = self._lanczos(factors, min(more, self.n - 2), vectors).found
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

    def _pins(self, factors, space: _Space, shift: float, measured: bool = False) -> np.ndarray | None:
        """Return dofs at which springs hold the part below a shift (`choose_pins`); None: not found.

        ``factors`` are those from which the modes of ``space`` were found; the modes tell where to hold the part.
        """
        if not isinstance(factors, PositiveFactors):
            return None
        above = space.t > 0.0
        t = space.t[above]
        given = 1.0 - (shift - factors.shift) * t
        return choose_pins(factors, space.vectors[:, above] * np.sqrt(t), given, measured)

    def _count(self, pins: np.ndarray | None, space: _Space | None, shift: float) -> tuple[int, float]:
        """Return the number of modes below a shift, or very little beyond it, and the shift itself.

        Springs that do not hold the part are chosen again with more care by the modes of a ``space``, if there is one.
        """
        unit = max(abs(shift), 1e-10 * self.scale)
        for move in (0.0, 1e-9, 1e-7, 1e-6):
            if pins is None:
                break
            moved = shift + move * unit
            try:
                return count_negative(self.pencil, moved, pins), moved
            except NotPositiveDefinite:
                if space is None:
                    break
                pins = self._pins(self.given or self._positive(space.shift), space, shift, measured=True)
                return self._count(pins, None, shift)
            except LinearSolveError:
                continue  # an eigenvalue lies there
        found = self._inertia(shift, 1.0)
        return found.negative, found.shift

    # --- iteration -------------------------------------------------------------------------------------------------
    def _lanczos(
        self, factors, count: int, known: np.ndarray | None = None, few: bool = False, probe: bool = False
    ) -> _Space:
        """Return the modes nearest to the shift of the factors, M-orthogonal to ``known`` (n, j) ones.

        Raises:
            SlowError: not converged after a ``few`` steps.
        """
        if isinstance(factors, DistributedFactors):
            self.shifts.append(factors.shift)
            start = self._solution(factors, known)(self.M @ self.rng.standard_normal(self.n))
            found = factors.nearest(count, start, known, _FEW if few else None)
            if found is None:
                raise SlowError
            return _Space(1.0 / (found[0] - factors.shift), found[1], found[0].size, factors.shift)
        steps = _FEW_STEPS if few else _MANY_STEPS
        return self._iterated(factors, lambda t, left: count, count, steps, _COPIES if probe else 0, known)

    def _solution(self, factors, known: np.ndarray | None):
        """Return a function that solves for vectors M-orthogonal to ``known`` ones."""
        if known is None or not known.shape[1]:
            return factors.solve
        image = self.inertia @ known

        def solve(b: np.ndarray) -> np.ndarray:
            x = factors.solve(b - image @ (known.T @ b))
            return x - known @ (image.T @ x)

        return solve

    def _iterated(self, factors, leading, most: int, steps: int, probe: int, known=None) -> _Space:
        """Return the eigenpairs for which ``leading`` asks (`largest`), ``most`` at the most."""
        self.shifts.append(factors.shift)
        M, n, solve = self.inertia, self.n, self._solution(factors, known)
        room = max(2 * most + 4 * _BLOCK, min(int(_ROOM / (8 * n)), 4 * most + 12 * _BLOCK))
        lanczos = BlockLanczos(
            lambda X, MX: solve(np.asfortranarray(MX)), M,
            lambda k: solve(np.asfortranarray(M @ self.rng.standard_normal((n, k)))), min(n, room), _BLOCK,
        )  # fmt: skip
        try:
            t, left, S, count = largest(lanczos, leading, steps, probe=probe)
        except SlowError:
            if steps == _MANY_STEPS:
                raise AnalysisError(f"Modes: Lanczos iteration failed: not converged after {steps} steps") from None
            raise
        size = np.abs(t)
        good = size > 1e-14 * size.max(initial=0.0)
        good[count:] &= left[count:] <= _SHARP * size[count:]
        return _Space(t[good], lanczos.rotate(S[:, good]), int(good[:count].sum()), factors.shift)

    def _probe(self, factors, values, vectors, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Add the modes nearer to the shift that a few steps from another vector, orthogonal to all, find; keep
        ``count``."""
        for _ in range(count):
            farthest = np.abs(values - factors.shift).max()
            theta = self._ritz(factors, vectors, _PROBE)
            if not theta > (1.0 + _SAME) / farthest:
                break
            new, x = self._lanczos(factors, max(count // 4, 1), vectors).found
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
    def _result(self, vectors, expected: int | None) -> RealModes:
        return mode_results(self.K, self.inertia, vectors, expected, tuple(self.shifts), self.pencil.effort)
