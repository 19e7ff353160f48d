"""Two-sided (bi-orthogonal) Lanczos recurrence for a general operator A and its transpose.

    A D = D T + (0 ... 0, d),    A^T G = G T' + (0 ... 0, g),    G^T D = J,    G^T A D = J T

(Lanczos 1950; Doan, Geradin & Kill, eqs. 3.7 to 3.13.)  J = diag(eps_i), eps = +-1 for real operators and of unit
size for complex ones; T is tridiagonal; the right and the left vector of a step are given equal lengths.  Every new
vector is made bi-orthogonal to all earlier ones, twice; without that, copies of converged values appear (Parlett
1980).

All coefficients are kept, not the three of the recurrence, so that T is the projected operator whatever the vectors
are:

- Breakdowns (g.d = 0, or a vector that vanishes because a subspace is invariant) are cured where they occur: the
  offending vector is replaced by a random one, bi-orthogonal to all; what it leaves behind counts in the estimates of
  the errors.  Where nothing is left to go on with, all images are formed and projected anew.
- When the space is full it is condensed to the wanted right and left invariant subspaces of T, and the recurrence
  goes on (two-sided Krylov-Schur: Zwaan & Hochstenbach 2017, SIAM J. Matrix Anal. Appl. 38).  Converged pairs are
  locked: they stay in the basis, so they are deflated, while a fresh random pair of vectors looks for further copies
  of multiple eigenvalues, which one pair of starting vectors cannot find.

Estimates are |A x - t x| / |t x| of Ritz pairs, from the last coefficients alone.

Theory: docs/theory.md, section 9, "The recurrence".
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
import scipy.linalg

from fem_mbs.late import dataclass

__all__ = ["Operator", "Ritz", "TwoSidedLanczos"]

#: Cosine of the angle between the next right and left vector (in the sense of g.d) that is a breakdown: products with
#: vectors of equal lengths lose as many digits as it is small.  Far larger ones are common where pairs are real and
#: opposite, p and -p: with 1e-5 every second step would break down there.
BREAKDOWN = 1e-7
#: Length of a vector, over that before the projection, that is none: the subspace is invariant.
INVARIANT = 1e-11
_EXHAUSTED = 1e-8  # a random vector that lies in the span of the basis to this: nothing more can be found
_DRAWS = 3


class Operator(Protocol):
    """A (size, size), real or complex by ``dtype``: A v, A^T v, and random pairs of starting vectors."""

    size: int
    dtype: np.dtype

    def right(self, v: np.ndarray) -> np.ndarray: ...

    def left(self, v: np.ndarray) -> np.ndarray: ...

    def start(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]: ...


@dataclass(frozen=True)
class Ritz:
    """Eigenvalues ``theta`` (k,) of the projected operator; ``right`` (k, k) and ``left`` (k, k) coefficients of
    vectors in D and G: T r = theta r, and s.T (J T) = theta s.T J with z = G s."""

    theta: np.ndarray
    right: np.ndarray
    left: np.ndarray


class TwoSidedLanczos:
    """The recurrence with at most ``most`` vectors on each side.

    Args:
        operator: what the vectors are multiplied by.
        most: number of vectors on each side.
        rng: source of random vectors.
        start: a right and a left vector (size,); None: random ones.
        full: orthogonalise to all vectors; False, for tests, to the last two only.

    Attributes:
        steps: number k of vectors whose images are known; D, G: bases (size, k), of equal lengths column by column.
        locked: how many of them span converged pairs; eps: (k,); T: projected operator (k, k), all coefficients.
        breakdowns: how many were cured; exhausted: the basis spans all that the operator reaches;
            stuck: no way on was found, a fresh start is needed.
    """

    def __init__(
        self,
        operator: Operator,
        most: int,
        rng: np.random.Generator,
        start: tuple[np.ndarray, np.ndarray] | None = None,
        full: bool = True,
    ):
        self.operator, self.most, self.rng, self.full = operator, most, rng, full
        kind = operator.dtype
        self._D = np.zeros((operator.size, most + 1), kind, order="F")
        self._G = np.zeros((operator.size, most + 1), kind, order="F")
        self._eps = np.ones(most + 1, kind)
        self._T = np.zeros((most, most), kind)
        self.steps = self.locked = self.breakdowns = self.total = 0
        self.exhausted = self.stuck = False
        # A D = D T + (next d) right.T + left behind: sizes of what is not in the span; the same for A^T G
        self._right, self._left = np.zeros(most, kind), np.zeros(most, kind)
        self._lost_right, self._lost_left = np.zeros(most), np.zeros(most)
        d, g = operator.start(rng) if start is None else start
        self._next(np.array(d, kind), np.array(g, kind), 0.0, 0.0)

    @property
    def D(self) -> np.ndarray:
        """Return the right basis (size, k)."""
        return self._D[:, : self.steps]

    @property
    def G(self) -> np.ndarray:
        """Return the left basis (size, k)."""
        return self._G[:, : self.steps]

    @property
    def eps(self) -> np.ndarray:
        """Return the products (k,) of right and left vectors, column by column."""
        return self._eps[: self.steps]

    @property
    def T(self) -> np.ndarray:
        """Return the projected operator (k, k)."""
        return self._T[: self.steps, : self.steps]

    # --- recurrence ------------------------------------------------------------------------------------------------
    def extend(self, steps: int) -> int:
        """Make up to ``steps`` steps, and return how many were made before the space was full or exhausted."""
        made = 0
        while made < steps and self.steps < self.most and not self.exhausted and not self.stuck:
            self._step()
            made += 1
        return made

    def _step(self) -> None:
        k = self.steps
        u, v = self.operator.right(self._D[:, k]), self.operator.left(self._G[:, k])
        before = _length(u), _length(v)
        self.steps = k + 1
        self.total += 1
        first = 0 if self.full else max(k - 1, 0)
        u, h = self._project(u, self._D, self._G, first)
        v, l = self._project(v, self._G, self._D, first)
        # l_j is the coefficient of A^T g_k on g_j, so that g_k.A d_j = l_j eps_j
        self._T[first : k + 1, k] = h
        self._T[k, first:k] = l[:-1] * self._eps[first:k] / self._eps[k]
        self._T[: self.locked, k] = self._T[k, : self.locked] = 0.0  # but for what has not converged in them
        self._lost_right[k] = self._lost_left[k] = 0.0
        self._next(u, v, before[0], before[1])

    def _project(self, u: np.ndarray, basis: np.ndarray, dual: np.ndarray, first: int = 0):
        """Return u less its part in the columns first ... of the basis, and the coefficients of that."""
        some = slice(first, self.steps)
        total = np.zeros(self.steps - first, self._T.dtype)
        for _ in range(2 if self.full else 1):
            h = (dual[:, some].T @ u) / self._eps[some]
            u = u - basis[:, some] @ h
            total += h
        return u, total

    def _fresh(self) -> list[np.ndarray | None]:
        """Return a random right and left vector of unit size, bi-orthogonal to the basis; None where the basis spans
        all."""
        pair: list[np.ndarray | None] = []
        for u, bases in zip(self.operator.start(self.rng), ((self._D, self._G), (self._G, self._D))):
            size = np.linalg.norm(u)
            if self.steps:
                u, _ = self._project(u, *bases)
            length = np.linalg.norm(u)
            pair.append(u / length if length > _EXHAUSTED * size else None)
        return pair

    def _next(self, u: np.ndarray, v: np.ndarray, before_u: float, before_v: float) -> None:
        """Normalise the next vectors u, v (images of sizes before_...), and replace them after a breakdown."""
        k = self.steps
        sizes = [_length(u), _length(v)]
        fresh = [not size > INVARIANT * before for size, before in zip(sizes, (before_u, before_v))]
        pair: list[np.ndarray | None] = [None if f else x / s for f, x, s in zip(fresh, (u, v), sizes)]
        self.breakdowns += sum(fresh)
        if k:
            self._lost_right[k - 1] += sizes[0] * fresh[0]
            self._lost_left[k - 1] += sizes[1] * fresh[1]
        cosine = 0.0
        for draw in range(_DRAWS + 1):
            if pair[0] is None or pair[1] is None:
                pair = [new if old is None else old for old, new in zip(pair, self._fresh())]
            if pair[0] is None or pair[1] is None:
                self.exhausted = True
                self._couple(0.0, 0.0)
                self._reproject()
                return
            cosine = pair[1] @ pair[0]
            if abs(cosine) > BREAKDOWN:
                break
            self.breakdowns += 1
            if not fresh[1] and k:
                self._lost_left[k - 1] += sizes[1]  # the left sequence does not close here
            fresh[1], pair[1] = True, None
            if draw > 0:
                if not fresh[0] and k:
                    self._lost_right[k - 1] += sizes[0]
                fresh[0], pair[0] = True, None
        else:
            self.stuck = True
            self._couple(0.0, 0.0)
            return
        length = np.sqrt(abs(cosine))
        self._eps[k] = cosine / abs(cosine)
        self._D[:, k], self._G[:, k] = pair[0] / length, pair[1] / length
        self._couple(0.0 if fresh[0] else sizes[0] * length, 0.0 if fresh[1] else sizes[1] * length)

    def _couple(self, right: float, left: float) -> None:
        k = self.steps
        if k:
            self._right[: k - 1] = self._left[: k - 1] = 0.0
            self._right[k - 1], self._left[k - 1] = right, left

    def _reproject(self) -> None:
        """Compute T = J^-1 G^T A D from new images within the span of the basis, and the sizes of their parts outside.

        Coefficients of vectors that were replaced come from images of later ones, which may be longer by orders of
        magnitude. Only this computation shows their errors, since no vector comes next.
        """
        for k in range(self.locked, self.steps):
            u, v = self.operator.right(self._D[:, k]), self.operator.left(self._G[:, k])
            h = (self.G.T @ u) / self.eps
            self._T[self.locked : self.steps, k] = h[self.locked :]
            self._lost_right[k] = np.linalg.norm(u - self.D @ h)
            self._lost_left[k] = np.linalg.norm(v - self.G @ ((self.D.T @ v) / self.eps))

    # --- Ritz pairs ------------------------------------------------------------------------------------------------
    def ritz(self) -> Ritz:
        """Return all Ritz values with coefficients of their vectors, by QR of the projected operator; locked ones
        first."""
        k = self.steps
        theta = np.zeros(k, complex)
        right, left = np.zeros((k, k), complex), np.zeros((k, k), complex)
        for part in (slice(0, self.locked), slice(self.locked, k)):
            if part.start < part.stop:
                theta[part], vl, right[part, part] = scipy.linalg.eig(self.T[part, part], left=True, right=True)
                left[part, part] = vl.conj() / self.eps[part, None]
        return Ritz(theta, right, left)

    def estimates(self, ritz: Ritz, some: np.ndarray) -> np.ndarray:
        """Return estimates (j,) of |A x - t x| / |t x| of the pairs ``some`` of ``ritz``, the larger of right and left.

        They are zero for locked pairs.  Where the basis spans everything, they measure the part of images outside of
        it.
        """
        k = self.steps
        out = np.zeros(len(some))
        sides = (
            (self.D, self._right[:k], self._lost_right[:k], ritz.right, self._D),
            (self.G, self._left[:k], self._lost_left[:k], ritz.left, self._G),
        )
        for basis, couple, lost, coefficients, store in sides:
            r = coefficients[:, some]
            off = np.abs(couple @ r) * np.linalg.norm(store[:, k]) + lost @ np.abs(r)
            size = np.abs(ritz.theta[some]) * np.linalg.norm(_product(basis, r), axis=0)
            out = np.maximum(out, off / np.where(size > 0.0, size, 1e-300))
        return np.where(some < self.locked, 0.0, out)

    @property
    def noise(self) -> float:
        """Return the round-off of the estimates: that of numbers of size one over the smallest cosine of two
        vectors."""
        k = self.steps
        return 1e-14 * float((np.linalg.norm(self.D[:, self.locked :], axis=0) ** 2).max(initial=1.0)) if k else 1e-14

    def vectors(self, ritz: Ritz, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return right and left vectors (size, j) of the pairs ``some`` of ``ritz``."""
        return _product(self.D, ritz.right[:, some]), _product(self.G, ritz.left[:, some])

    # --- restart ---------------------------------------------------------------------------------------------------
    def condense(self, ritz: Ritz, some: np.ndarray, fresh: bool = False, seeds: np.ndarray | None = None) -> None:
        """Keep the span of the vectors ``some`` of ``ritz`` (closed under conjugation for real operators) and of locked
        ones.

        The recurrence continues with the vectors that would come next.  With ``fresh`` it locks the kept ones with
        their present estimates, and continues with a new pair of vectors: random ones, or the images of the sums of the
        Ritz vectors ``seeds``.
        """
        new = None
        if seeds is not None and seeds.size:
            pair = (a.sum(axis=1) for a in self.vectors(ritz, seeds))
            pair = (a.real if self._T.dtype == float else a for a in pair)
            new = tuple(f(a) for f, a in zip((self.operator.right, self.operator.left), pair))
        k, lock = self.steps, self.locked
        own = some[some >= lock]
        j = lock + own.size
        if own.size:
            part = slice(lock, k)
            weight = self.eps[part, None]
            Q, P = (self._span(v[part, own], own.size) for v in (ritz.right, ritz.left * self.eps[:, None]))
            turn, sizes, back = np.linalg.svd(P.T @ Q)  # no conjugation: the product is bilinear
            root = 1.0 / np.sqrt(sizes)
            X, Y = Q @ (back.conj().T * root), P @ (turn.conj() * root)
            T = Y.T @ self.T[part, part] @ X
            Y = Y / weight
            D, G = self.D[:, part] @ X, self.G[:, part] @ Y
            right, left = self._right[part] @ X, self._left[part] @ Y
            lost = self._lost_right[part] @ np.abs(X), self._lost_left[part] @ np.abs(Y)
        else:
            T, D, G = np.zeros((0, 0)), self.D[:, :0], self.G[:, :0]
            right = left = np.zeros(0)
            lost = np.zeros(0), np.zeros(0)
        follow = None if self.exhausted or self.stuck else (self._D[:, k].copy(), self._G[:, k].copy(), self._eps[k])
        self._D[:, lock:j], self._G[:, lock:j], self._eps[lock:j] = D, G, 1.0
        self._T[lock:, :] = self._T[:, lock:] = 0.0
        self._T[lock:j, lock:j] = T
        self.steps = j
        for kept, new_lost in zip((self._lost_right, self._lost_left), lost):
            kept[:lock], kept[lock:j] = 0.0, new_lost
        if fresh or follow is None:
            self.locked, self.exhausted, self.stuck = j, False, False
            self._lost_right[:j] = self._lost_left[:j] = 0.0
            cured = self.breakdowns
            if new is None:
                new = (np.zeros(self.operator.size, self._T.dtype),) * 2
            elif j:
                new = self._project(new[0], self._D, self._G)[0], self._project(new[1], self._G, self._D)[0]
            self._next(new[0], new[1], 1e-300, 1e-300)
            self.breakdowns = cured
            return
        self._D[:, j], self._G[:, j], self._eps[j] = follow
        for kept, coupled in ((self._right, right), (self._left, left)):
            kept[:lock], kept[lock:j] = 0.0, coupled

    def _span(self, vectors: np.ndarray, j: int) -> np.ndarray:
        """Return an orthonormal basis (k, j) of j vectors, real for real operators."""
        if not np.issubdtype(self._T.dtype, np.complexfloating):
            vectors = np.hstack((vectors.real, vectors.imag))
        return scipy.linalg.qr(vectors, mode="economic", pivoting=True)[0][:, :j]


def _length(u: np.ndarray) -> float:
    """Return the Euclidean length of a vector (n,), without the choices of `numpy.linalg.norm`."""
    return math.sqrt(np.vdot(u, u).real)


def _product(basis: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return basis (size, k) times complex coefficients (k, j), without a complex copy of a real basis."""
    if np.iscomplexobj(basis):
        return basis @ coefficients
    parts = basis @ np.hstack((coefficients.real, coefficients.imag))
    j = coefficients.shape[1]
    return parts[:, :j] + 1j * parts[:, j:]
