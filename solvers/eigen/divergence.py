"""Linear buckling under loads without a potential: (K + f K_g) x + G^T y = 0, G x = 0, K or K_g unsymmetric.

Real factors are loads of divergence.  The problem does not tell whether flutter, growing vibration, comes before.
Small problems are solved by QZ on a basis of the null space of G, large ones by the two-sided Lanczos recurrence
(`lanczos`) on K^-1 K_g, which finds the factors nearest to zero first.

Theory: docs/theory.md, section 8.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix

from fem_mbs.errors import AnalysisError, LooseError
from fem_mbs.late import dataclass
from fem_mbs.solvers.eigen import SIGNS
from fem_mbs.solvers.eigen.lanczos import TwoSidedLanczos
from fem_mbs.solvers.linear.libraries import one_blas_thread
from fem_mbs.solvers.linear.redundancy import independent_rows
from fem_mbs.solvers.linear.saddle import DENSE, null_space, without_reactions
from fem_mbs.solvers.linear.saddle_factors import SingularShift
from fem_mbs.solvers.linear.service import factor

__all__ = ["Divergence", "unsymmetric_buckling"]

_SEED = 7
_REAL = 1e-7  # imaginary part of a real factor, over its size
_NONE = 1e-12  # reciprocal of a factor, over the largest, that is round-off of K_g
#: Of the two-sided recurrence: errors of converged pairs, or what rounding allows up to the next; steps of a look for
#: more, rounds of extending and condensing, and steps after which no more copies are sought.
_CONVERGED, _ROUGH, _PROBE, _ROUNDS, _STEPS = 1e-11, 1e-8, 12, 200, 2000


@dataclass(frozen=True)
class Divergence:
    """Real load factors (k,) sorted by magnitude, ``vectors`` (n, k) with largest entry 1, ``residuals`` (k,):
    |K x + f K_g x + G^T y| over |K x|, and how many ``complex`` factors, which are no loads, were met among them."""

    factors: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    complex: int


def unsymmetric_buckling(K: csr_matrix, Kg: csr_matrix, G: csr_matrix, count: int, sign: str = "both") -> Divergence:
    """Return the real load factors f of smallest magnitude with (K + f Kg) x + G^T y = 0, G x = 0, of any symmetry.

    Args:
        K, Kg: sparse (n, n); G: sparse (m, n), of any rank.
        count: how many at most; of large problems (more than 300 unknowns) fewer may be found where complex factors
            are among the lowest.
        sign: "both", "positive" or "negative" factors.

    Raises:
        AnalysisError: K is singular on the null space of G, its determinant there is negative (the state has diverged
            already), or the iteration fails.
        ValueError: another sign.
    """
    if sign not in SIGNS:
        raise ValueError(f"sign must be one of {', '.join(SIGNS)}, not {sign!r}")
    K, Kg, G = (csr_matrix(a) for a in (K, Kg, G))
    n = K.shape[0]
    if not Kg.nnz or not np.any(Kg.data):
        return Divergence(np.zeros(0), np.zeros((n, 0)), np.zeros(0), 0)
    with one_blas_thread():
        f, x = _dense_divergence(K, Kg, G) if n <= DENSE else _sparse_divergence(K, Kg, G, count, sign)
    order = np.argsort(np.abs(f), kind="stable")
    f, x = f[order], x[:, order]
    real = np.abs(f.imag) <= _REAL * np.abs(f)
    keep = real.copy()
    if sign != "both":
        keep &= (f.real > 0.0) == (sign == "positive")
    keep = np.flatnonzero(keep)[:count]
    factors, vectors = f[keep].real, x[:, keep]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(keep.size)] if keep.size else 1.0
    vectors = (vectors / largest).real
    last = np.abs(factors).max(initial=0.0) if keep.size == count else np.inf
    R = K @ vectors + (Kg @ vectors) * factors
    size = np.linalg.norm(K @ vectors, axis=0)
    residuals = np.linalg.norm(without_reactions(R, G), axis=0) / np.where(size > 0.0, size, 1.0)
    return Divergence(factors, vectors, residuals, int((~real & (np.abs(f) <= last)).sum()))


def _dense_divergence(K, Kg, G) -> tuple[np.ndarray, np.ndarray]:
    """Return all finite factors (k,) complex with vectors (n, k), by QZ."""
    Z = null_space(G)
    Kz, Gz = Z.T @ (K @ Z), Z.T @ (Kg @ Z)
    d = np.sqrt(np.abs(np.diag(Kz)))
    d = 1.0 / np.where(d > 0.0, d, 1.0)
    Kz, Gz = Kz * np.outer(d, d), Gz * np.outer(d, d)
    sizes = np.linalg.svd(Kz, compute_uv=False)
    if not sizes[-1] > 1e-13 * sizes[0]:
        raise LooseError("Buckling: the model is loose; hold it, so that every motion strains something")
    if np.linalg.slogdet(Kz)[0] < 0.0:
        raise AnalysisError("Buckling: the state is unstable already; the determinant of its stiffness is negative")
    (a, b), z = scipy.linalg.eig(Kz, -Gz, right=True, homogeneous_eigvals=True)
    # factors beyond all reason are round-off of Kg
    finite = np.abs(b) > 1e-12 * np.abs(a) * np.abs(b / np.where(a == 0.0, 1.0, a)).max(initial=0.0)
    return a[finite] / b[finite], Z @ (d[:, None] * z[:, finite])


class _Inverse:
    """The operator v -> -K^-1 Kg v on the null space of G, whose eigenvalues are 1/f, and its transpose."""

    dtype = np.dtype(float)

    def __init__(self, K, Kg, G):
        self.size, self.Kg, self.KgT = K.shape[0], Kg, csr_matrix(Kg.T)
        keep = independent_rows(G, np.ones(self.size)) if G.shape[0] else np.zeros(0, bool)
        try:
            self.factors = factor(K, G[np.flatnonzero(keep)], "general")
        except SingularShift:
            raise LooseError("Buckling: the model is loose; hold it, so that every motion strains something") from None

    def right(self, v: np.ndarray) -> np.ndarray:
        return -self.factors.solve(self.Kg @ v)[0]

    def left(self, v: np.ndarray) -> np.ndarray:
        return -(self.KgT @ self.factors.solve(v, transposed=True)[0])

    def start(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return self.right(rng.standard_normal(self.size)), self.left(rng.standard_normal(self.size))


def _sparse_divergence(K, Kg, G, count: int, sign: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest factors (k,) complex with vectors (n, k), by the two-sided Lanczos recurrence.

    Fresh vectors look for further copies of multiple factors until no more are found.
    """
    inverse = _Inverse(K, Kg, G)
    lanczos = TwoSidedLanczos(inverse, 3 * count + 80, np.random.default_rng(_SEED))
    most, known = lanczos.most, -1
    lanczos.extend(2 * count + 10)
    for _ in range(_ROUNDS):
        ritz = lanczos.ritz()
        size = np.abs(ritz.theta)
        order = np.lexsort((-ritz.theta.imag, -size))
        order = order[size[order] > _NONE * size.max()]
        theta = ritz.theta[order]
        wanted = np.abs(theta.imag) <= _REAL * np.abs(theta)
        if sign != "both":
            wanted &= (theta.real > 0.0) == (sign == "positive")
        found = np.cumsum(wanted)
        enough = found.size > 0 and found[-1] >= count
        need = min(int(np.searchsorted(found, count)) + 1 if enough else order.size, most - 2 * _PROBE)
        need += int(need < order.size and theta[need - 1].imag > 0.0)  # whole pairs
        errors = lanczos.estimates(ritz, order[:need])
        done = errors < max(_CONVERGED, min(lanczos.noise, _ROUGH))
        settled = done.all() and (enough or need >= most - 2 * _PROBE)
        if lanczos.exhausted or settled:
            if known == need or lanczos.total > _STEPS:
                vectors = lanczos.vectors(ritz, order[:need][done])[0]
                # once more: combinations of a basis have lost the digits by which K x cancels
                vectors = np.column_stack([inverse.right(x.real) + 1j * inverse.right(x.imag) for x in vectors.T])
                return 1.0 / theta[:need][done], vectors
            known = need
            lanczos.condense(ritz, order[:need], fresh=True)
            lanczos.extend(_PROBE)
        elif lanczos.stuck:
            lanczos.condense(ritz, order[:need][done], fresh=True)
            lanczos.extend(_PROBE)
        elif lanczos.steps == most:
            keep = min((need + most) // 2, most - _PROBE, order.size)
            keep -= int(0 < keep < order.size and theta[keep - 1].imag > 0.0)
            lanczos.condense(ritz, order[:keep])
            lanczos.extend(_PROBE)
        else:
            lanczos.extend(_PROBE)
    raise AnalysisError(f"Buckling: {int(done.sum())} of {need} factors have converged; ask for fewer")
