"""Steady vibrations (K (1 + i eta) + i w C - w^2 M) q = f of distributed symmetric matrices.

PETSc computes here with real numbers.  With A = K - w^2 M and B = w C + eta K, q = a + i b:

    [ A  -B ] [a]   [ Re f]
    [-B  -A ] [b] = [-Im f]

is symmetric and indefinite; where nothing damps, A alone is factored and solved for both parts.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import bmat, csr_matrix

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.distributed.factors import DistributedFactors, DistributedPencil
from fem_mbs.solvers.distributed.matrix import NOT_SYMMETRIC, DistributedMatrix, united_places
from fem_mbs.solvers.linear.libraries import LinearSolveError
from fem_mbs.solvers.linear.saddle_factors import SINGULAR_GROWTH, SingularShift

__all__ = ["DistributedResponse"]

_REFINEMENTS = 2
_SYMMETRIC = 1e-9  # difference of opposite entries over the largest entry


class DistributedResponse:
    """Solutions with the matrices themselves: K, C, M (n, n) symmetric, ``structural`` eta.

    Raises:
        AnalysisError: a matrix is unsymmetric.
    """

    def __init__(
        self, K: DistributedMatrix, C: DistributedMatrix, M: DistributedMatrix, structural: float, highest: float
    ):
        """Take the largest frequency ``highest`` [rad/s], which sets the scales."""
        self.damped = bool(C.count_nonzero())
        for A, name in ((K, "stiffness"), (C, "damping"), (M, "mass")):
            if A.nnz and abs(A - A.T).max() > _SYMMETRIC * abs(A).max():
                raise AnalysisError(f"the {name} {NOT_SYMMETRIC}")
        size = np.abs(K.diagonal()) + highest * np.abs(C.diagonal()) + highest**2 * np.abs(M.diagonal())
        self.d = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
        self.K, self.M, self.C = K.scaled(self.d), M.scaled(self.d), C.scaled(self.d)
        self.structural = structural

    def solve(self, w: float, f: np.ndarray) -> np.ndarray:
        """Return q (n,) complex at w [rad/s] under forces f (n,) complex.

        Raises:
            SingularShift: the matrix is singular to working precision.
        """
        if not f.size or not np.any(f):
            return np.zeros(f.size, complex)
        n, b = f.size, self.d * f
        A = self.K - self.M * (w * w)
        B = self.K * self.structural
        if self.damped and w:
            B = B + self.C * w
        both = bool(self.structural) or (self.damped and w != 0.0)
        if both:
            A = _real_form(A, B)
            right = np.concatenate((b.real, -b.imag))
        else:
            right = np.column_stack((b.real, b.imag))
        try:
            factors = DistributedFactors(DistributedPencil(A), positive=False)
        except LinearSolveError as error:
            raise SingularShift(str(error)) from None
        x = factors.refined(A, right, _REFINEMENTS)
        if not (abs(A) @ np.abs(x)).max() <= SINGULAR_GROWTH * np.abs(right).max():
            raise SingularShift("The dynamic stiffness is singular to working precision")
        q = x[:n] + 1j * x[n:] if both else x[:, 0] + 1j * x[:, 1]
        return self.d * q


def _real_form(A: DistributedMatrix, B: DistributedMatrix) -> DistributedMatrix:
    """Return [[A, -B], [-B, -A]] of A, B (n, n)."""
    n = A.shape[0]
    places = united_places(A.places, B.places)
    a, b = A.spread(places), B.spread(places)
    rows, columns = (np.concatenate((p, p + n)) for p in places)
    return DistributedMatrix(csr_matrix(bmat([[a, -b], [-b, -a]])), places=(rows, columns), shape=(2 * n, 2 * n))
