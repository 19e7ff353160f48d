"""The number of negative eigenvalues of A = K - s M by L L^T of a positive definite neighbour, A + E T E^T.

CHOLMOD's supernodal factors, which BLAS makes fast, exist for positive definite matrices only; L D L^T of an indefinite
matrix takes five to ten times as long.  A part with k modes below s has A indefinite; held by springs at enough dofs it
has none, and A + E T E^T has such factors, on the pattern of A.  E (n, p) are columns of the identity, T > 0 the
stiffnesses.  By the additivity of inertia (Haynsworth 1968, doi:10.1016/0024-3795(68)90050-5), applied to
[[A + E T E^T, E], [E^T, T^-1]] from either end, with A + E T E^T positive definite::

    negative eigenvalues of A  =  those of the dense  D = T^-1 - E^T (A + E T E^T)^-1 E    (p, p)

Solutions X of (A + E T E^T) X = E with residuals R give E^T X + X^T R, whose error is of second order in R; what
rounding leaves of R is below eps |A| |X|.  An eigenvalue of D that is not larger than X^T times that means that s is an
eigenvalue of the part: no count is given.

Where to hold the part is found from its modes: the softest motion of the part that is held so far gets a spring where
it moves most.  The part gives way locally at a spring.  This is measured at some of them, by solutions with the factors
from which the modes were found.  Where that was not enough, since springs close to each other hold less than each of
them alone, it is measured at all, and more are added until the part, as far as the modes describe it, is held.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from fem_mbs.solvers.linear.factors import Pencil, PositiveFactors
from fem_mbs.solvers.linear.libraries import LinearSolveError

__all__ = ["choose_pins", "count_negative"]

#: Stiffness of a spring, in a matrix with unit diagonal.
STIFFNESS = 10.0
#: Local compliance at a spring, there, before it is measured; how much larger it is taken afterwards.
_COMPLIANCE, _CAUTION = 3.0, 1.15
#: Least x.A x over x.B x of the held part, B = K - s' M the factored matrix below all modes.
_HELD = 0.05
#: Springs: the most, over those of one mode and in all; soft motions that get one at a time.
_MOST, _LIMIT, _AT_ONCE = 60, 3000, 4
_SAMPLE = 16  # springs at which the compliance is measured first
_COLUMNS = 32  # right sides solved at a time
_ROUNDING = 4.0 * np.finfo(float).eps


def choose_pins(
    below: PositiveFactors, vectors: np.ndarray, part: np.ndarray, measured: bool = False
) -> np.ndarray | None:
    """Return dofs (p,) where springs make A = K - s M positive definite, as far as modes describe it; None: too many.

    Args:
        below: factors of B = K - s' M, positive definite.
        vectors: (n, m), x.B x = 1: the eigenvectors of A x = g B x with negative g, and more with small g.
        part: g = x.A x (m,).
        measured: whether what gives way at springs is measured at all of them.
    """
    scale, n = below.pencil.scale, vectors.shape[0]
    limit = min(_MOST * max(int((part < 0.0).sum()), 1), _LIMIT, n)
    pins = np.zeros(0, dtype=np.int64)
    solved = np.zeros((n, 0))
    guess, held = _COMPLIANCE, np.diag(part)
    if not measured:
        new = _softest(held, vectors, scale, pins, guess, limit)
        if new is None or not new.size:
            return new
        some = new[:: -(-new.size // _SAMPLE)]
        own = _solutions(below, some)[some, np.arange(some.size)] - ((vectors[some] / scale[some, None]) ** 2).sum(
            axis=1
        )
        found = _CAUTION * float(np.median(own))
        return new if found <= guess else _softest(held, vectors, scale, pins, found, limit)
    while True:
        new = _softest(held, vectors, scale, pins, guess, limit - pins.size)
        if new is None:
            return None
        if not new.size:
            return pins
        X = _solutions(below, new)
        pins, solved = np.concatenate((pins, new)), np.hstack((solved, X))
        rows = vectors[pins] / scale[pins, None]
        compliance = 0.5 * (solved[pins] + solved[pins].T) - rows @ rows.T
        springs = compliance + np.eye(pins.size) / STIFFNESS
        try:
            held = np.diag(part) + rows.T @ scipy.linalg.solve(springs, rows, assume_a="pos")
        except np.linalg.LinAlgError:  # the modes are not sharp enough
            return None
        guess = _CAUTION * float(np.median(np.diag(compliance)))


def _softest(held, vectors, scale, pins, guess: float, most: int) -> np.ndarray | None:
    """Return further dofs for springs, by the matrix (m, m) of the part held so far; None: more than ``most``."""
    held = held.copy()
    new: list[int] = []
    taken = np.zeros(vectors.shape[0], bool)
    taken[pins] = True
    spring = 1.0 / (max(guess, 0.0) + 1.0 / STIFFNESS)
    while True:
        g, q = np.linalg.eigh(held)
        soft = q[:, : min(int((g < _HELD).sum()), _AT_ONCE)]
        if not soft.shape[1]:
            return np.array(new, dtype=np.int64)
        if len(new) >= most:
            return None
        for motion in (np.abs(vectors @ soft) / scale[:, None]).T:
            motion[taken] = -1.0
            at = int(motion.argmax())
            taken[at] = True
            new.append(at)
            row = vectors[at] / scale[at]
            held += spring * np.outer(row, row)


def _solutions(factors: PositiveFactors, pins: np.ndarray) -> np.ndarray:
    """Return the columns ``pins`` (n, p) of the inverse, in scaled unknowns."""
    X = np.empty((factors.pencil.n, pins.size), order="F")
    for first in range(0, pins.size, _COLUMNS):
        some = pins[first : first + _COLUMNS]
        E = np.zeros((factors.pencil.n, some.size), order="F")
        E[some, np.arange(some.size)] = 1.0
        X[:, first : first + some.size] = factors.solve_scaled(E)
    return X


def count_negative(pencil: Pencil, shift: float, pins: np.ndarray) -> int:
    """Return the number of negative eigenvalues of K - s M, which is positive definite with springs at ``pins`` (p,).

    Raises:
        NotPositiveDefinite: the springs do not hold the part.
        LinearSolveError: the shift is an eigenvalue, as far as rounding can tell.
    """
    if not pins.size:
        PositiveFactors(pencil, shift)
        return 0
    X = _solutions(PositiveFactors(pencil, shift, pins, STIFFNESS), pins)
    A = pencil.at(shift)
    flexible = X[pins]
    for first in range(0, pins.size, _COLUMNS):
        some = slice(first, first + _COLUMNS)
        R = -(A @ X[:, some])
        R[pins] -= STIFFNESS * X[pins, some]
        R[pins[some], np.arange(pins[some].size)] += 1.0
        flexible[:, some] += X.T @ R
    D = np.eye(pins.size) / STIFFNESS - 0.5 * (flexible + flexible.T)
    values = np.linalg.eigvalsh(D)
    largest = float(np.add.reduceat(np.abs(A.data), A.indptr[:-1]).max()) + STIFFNESS
    least = _ROUNDING * (largest * float(np.einsum("ik,ik->", X, X)) + 1.0 / STIFFNESS)
    if not np.abs(values).min() > least:
        raise LinearSolveError(f"An eigenvalue lies at the shift {shift:.10g}: the modes below cannot be counted")
    return int((values < 0.0).sum())
