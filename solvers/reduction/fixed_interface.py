"""Reduction of a part to its boundary, and to its modes with the boundary held: Guyan, Craig and Bampton.

    u_b = x,   u_i = B x + Phi q,        B = -K_ii^-1 K_ib,   K_ii Phi = M_ii Phi diag(w^2),   Phi^T M_ii Phi = 1

(Guyan 1965, doi:10.2514/3.2874; Craig & Bampton 1968, doi:10.2514/3.4741).  B and Phi are orthogonal in K, so that

    K_red = [K_bb + K_bi B, 0; 0, diag(w^2)],    M_red = [M_B, M_q^T; M_q, 1],
    M_q = Phi^T (M_ib + M_ii B),                 M_B = M_bb + M_bi B + B^T (M_ib + M_ii B)

need no product with the whole basis.  K_bb + K_bi B + B^T (K_ib + K_ii B) is what is computed for the first block: the
last term is a residual, with which the block is symmetric and its error of second order in that of B.

One L L^T of K_ii serves the constraint modes, solved many at a time, and Lanczos's iteration for the others.

Theory: docs/theory.md, section 11, "Held interfaces".
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse import csc_matrix, csr_matrix

from fem_mbs.errors import AnalysisError
from fem_mbs.late import dataclass
from fem_mbs.solvers.distributed.matrix import DistributedMatrix
from fem_mbs.solvers.eigen import CHECKS
from fem_mbs.solvers.eigen.modes import real_modes
from fem_mbs.solvers.linear.factors import PositiveFactors
from fem_mbs.solvers.linear.libraries import Effort, LinearSolveError, one_blas_thread
from fem_mbs.solvers.linear.saddle import DENSE
from fem_mbs.solvers.linear.service import factor, pencil_of

__all__ = ["FixedInterface", "fixed_interface", "fixed_interface_parts", "inner", "without_strain"]

_BLOCK = 64  # right sides that are solved at a time
_FIRST = 20  # modes that are sought first below a cut-off
_MOST = 2000  # modes below a cut-off without a count of them
_EDGE = 2e-5  # relative distance from the cut-off of a mode that its count may mean


@dataclass(frozen=True)
class FixedInterface:
    """A part in the motions x (b,) of its boundary and the amplitudes q (k,) of its modes with the boundary held.

    ``boundary`` (b,), ``interior`` (n_i,): dofs; ``static`` (n_i, b): constraint modes B; ``values`` (k,) w^2,
    ``vectors`` (n_i, k) Phi; ``stiffness``, ``mass`` (b + k, b + k), symmetric to the last bit; ``complete``: whether
    the modes are known to be all below a cut-off; ``factors`` of K_ii (None: nothing lies inside); ``effort``: counts.
    """

    boundary: np.ndarray
    interior: np.ndarray
    static: np.ndarray
    values: np.ndarray
    vectors: np.ndarray
    stiffness: np.ndarray
    mass: np.ndarray
    complete: bool
    factors: PositiveFactors | None
    effort: Effort

    @property
    def guyan_stiffness(self) -> np.ndarray:
        """Return the stiffness (b, b) of the boundary alone."""
        b = self.boundary.size
        return self.stiffness[:b, :b]

    @property
    def guyan_mass(self) -> np.ndarray:
        """Return the mass (b, b) of the boundary alone."""
        b = self.boundary.size
        return self.mass[:b, :b]

    @property
    def coupling(self) -> np.ndarray:
        """Return M_q^T (b, k): forces on the held boundary per acceleration of each mode."""
        b = self.boundary.size
        return self.mass[:b, b:]

    @cached_property
    def basis(self) -> np.ndarray:
        """Return T (n, b + k) of u = T (x, q)."""
        b, k = self.boundary.size, self.values.size
        T = np.zeros((b + self.interior.size, b + k))
        T[self.boundary, np.arange(b)] = 1.0
        T[self.interior, :b] = self.static
        T[self.interior, b:] = self.vectors
        return T

    def kept(self, which: np.ndarray) -> FixedInterface:
        """Return the reduced part with some of the modes, (k',) indices in ascending order."""
        b = self.boundary.size
        rows = np.concatenate((np.arange(b), b + np.asarray(which, np.int64)))
        at = np.ix_(rows, rows)
        return FixedInterface(
            self.boundary, self.interior, self.static, self.values[which], self.vectors[:, which], self.stiffness[at],
            self.mass[at], False, self.factors, self.effort,
        )  # fmt: skip


def fixed_interface(
    K: csr_matrix,
    M: csr_matrix,
    boundary: np.ndarray,
    *,
    count: int | None = None,
    cutoff: float | None = None,
    check: str | None = None,
    rigid: np.ndarray | None = None,
) -> FixedInterface:
    """Return constraint modes, and the ``count`` lowest modes with the boundary held or all with w^2 <= ``cutoff``.

    Args:
        K, M: symmetric, sparse (n, n); K_ii positive definite, M positive semi-definite.
        boundary: (b,) dofs, each once.
        count: modes; with a cut-off: the most that are kept of them; None without a cut-off: none (Guyan).
        check: for modes that Lanczos missed: "none", "probe", or "inertia", a count that proves them complete and
            costs another factorisation.  None: "inertia" below a cut-off, else "probe".
        rigid: (n, r) rigid-body motions of a part that nothing else holds: those of the boundary give them to the last
            digits and strain nothing.

    Raises:
        NotPositiveDefinite: the part can move with its boundary held.
        AnalysisError: modes cannot be found.
        ValueError: shapes, a dof out of range or named twice.
    """
    K, M = csr_matrix(K), csr_matrix(M)
    n = K.shape[0]
    b = np.asarray(boundary, dtype=np.int64)
    if K.shape != (n, n) or M.shape != (n, n) or b.ndim != 1:
        raise ValueError("K and M must be square and of one size, boundary (b,)")
    if b.size and (b.min() < 0 or b.max() >= n or np.unique(b).size < b.size):
        raise ValueError(f"boundary dofs must be in 0 ... {n - 1}, each once")
    i = np.setdiff1d(np.arange(n), b)
    parts = []
    for A in (K, M):
        rows = A[b]
        parts.append((rows[:, b].toarray(), rows[:, i].T, inner(A, i)))
    known = None if rigid is None else (rigid[b], rigid[i])
    return fixed_interface_parts(*parts, count=count, cutoff=cutoff, check=check, rigid=known, dofs=(b, i))


def fixed_interface_parts(
    K: tuple, M: tuple, *, count: int | None = None, cutoff: float | None = None, check: str | None = None,
    rigid: tuple[np.ndarray, np.ndarray] | None = None, dofs: tuple[np.ndarray, np.ndarray] | None = None,
) -> FixedInterface:  # fmt: skip
    """Return what `fixed_interface` returns, from matrices in parts.

    The parts are bb (b, b) dense, ib (n_i, b) sparse, ii (n_i, n_i) csr or distributed, likewise ``rigid`` (x (b, r),
    u_i (n_i, r)), and ``dofs``, boundary (b,) and interior (n_i,); None: the boundary comes first.
    """
    check = check or ("probe" if cutoff is None else "inertia")
    if check not in CHECKS:
        raise ValueError(f"check must be one of {', '.join(CHECKS)}, not {check!r}")
    (K_bb, K_ib, K_ii), (M_bb, M_ib, M_ii) = K, M
    n, size = K_ib.shape
    b, i = dofs if dofs is not None else (np.arange(size), size + np.arange(n))
    if not n:
        none = np.zeros((0, size)), np.zeros(0), np.zeros((0, 0))
        return FixedInterface(b, i, *none, _symmetric(K_bb), _symmetric(M_bb), True, None, Effort())
    rigid = rigid if rigid is not None and rigid[0].shape[1] else None
    with one_blas_thread():
        pencil, below = pencil_of(K_ii, M_ii), None
        counted = cutoff is not None and check == "inertia" and n > DENSE and np.any(M_ii.diagonal() != 0.0)
        if counted and cutoff is not None and isinstance(K_ii, DistributedMatrix):
            below = _count_below(pencil, cutoff)  # before the other factors, which take much memory too
        factors = factor(pencil, kind="positive")
        B = _static(factors, csc_matrix(K_ib))
        if rigid is not None:
            B += (rigid[1] - B @ rigid[0]) @ np.linalg.pinv(rigid[0])
        values, vectors, complete = _modes(K_ii, M_ii, factors, count, cutoff, check, below)
        K_B, M_B, M_q = np.array(K_bb), np.array(M_bb), np.zeros((values.size, size))
        K_ib, M_ib = csc_matrix(K_ib), csc_matrix(M_ib)
        for first in range(0, size, _BLOCK):  # some columns at a time: B itself is large enough
            c = slice(first, first + _BLOCK)
            left = np.asarray(K_ib[:, c] + K_ii @ B[:, c])  # round-off, taken along
            K_B[:, c] += K_ib.T @ B[:, c] + B.T @ left
            MB = np.asarray(M_ib[:, c] + M_ii @ B[:, c])
            M_B[:, c] += M_ib.T @ B[:, c] + B.T @ MB
            M_q[:, c] = vectors.T @ MB
        K_B, M_B = _symmetric(K_B), _symmetric(M_B)
    if rigid is not None:
        K_B = without_strain(K_B, rigid[0])
    return FixedInterface(
        b, i, B, values, vectors, scipy.linalg.block_diag(K_B, np.diag(values)),
        np.block([[M_B, M_q.T], [M_q, np.eye(values.size)]]), complete, factors, factors.pencil.effort,
    )  # fmt: skip


def without_strain(K: np.ndarray, rigid: np.ndarray) -> np.ndarray:
    """Return K (n, n) without the round-off by which motions ``rigid`` (n, r) strain it: P^T K P, P rigid = 0, P
    orthogonal where stiffnesses are one."""
    scale = np.sqrt(np.abs(K.diagonal()))
    scale[scale == 0.0] = 1.0
    Y = scipy.linalg.orth(scale[:, None] * rigid)
    A = K / np.outer(scale, scale)
    A = A - Y @ (Y.T @ A)
    A = A - (A @ Y) @ Y.T
    return _symmetric(A * np.outer(scale, scale))


def inner(A: csr_matrix, i: np.ndarray) -> csr_matrix:
    """Return A[i][:, i] of ascending i, in one pass over the entries."""
    if i.size == A.shape[0]:
        return A
    number = np.full(A.shape[0], -1, A.indices.dtype)
    number[i] = np.arange(i.size)
    columns = number[A.indices]
    keep = columns >= 0
    keep &= np.repeat(number >= 0, np.diff(A.indptr))
    sums = np.concatenate(([0], np.cumsum(keep)))
    indptr = np.append(sums[A.indptr[:-1]][i], sums[-1])
    return csr_matrix((A.data[keep], columns[keep], indptr), shape=(i.size, i.size))


def _static(factors: PositiveFactors, K_ib) -> np.ndarray:
    """Return B = -K_ii^-1 K_ib, some columns at a time."""
    n, b = K_ib.shape
    B = np.empty((n, b), order="F")
    for first in range(0, b, _BLOCK):
        side = K_ib[:, first : first + _BLOCK].toarray(order="F")
        B[:, first : first + _BLOCK] = -factors.solve(side)
    return B


def _count_below(pencil: Any, cutoff: float) -> int:
    """Return the number of modes with w^2 <= cutoff, by Sylvester's law of inertia."""
    for move in (1e-9, 1e-8, 1e-7, 1e-6, 1e-5):
        try:
            return factor(pencil, kind="symmetric", shift=cutoff * (1.0 + move)).negative
        except LinearSolveError as error:
            message = str(error)
    raise AnalysisError(f"Reduction: modes below the cut-off cannot be counted: {message}")


def _modes(K, M, factors, count, cutoff, check, below) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return values, vectors, and whether all modes below the cut-off are known to be among them.

    ``below`` is the number of modes below the cut-off, where it was counted before.
    """
    n = K.shape[0]
    nothing = np.zeros(0), np.zeros((n, 0)), False
    if (not count and cutoff is None) or count == 0 or not np.any(M.diagonal() != 0.0):
        return nothing
    if cutoff is None:
        found = real_modes(K, M, min(count, n), check=check, factors=factors)
        return found.values, found.vectors, False
    if below is not None:
        if below == 0:
            return *nothing[:2], True
        kept = below if count is None else min(below, count)
        found = real_modes(K, M, kept, factors=factors)
        if found.values[-1] > cutoff * (1.0 + _EDGE):
            few = int((found.values <= cutoff * (1.0 + _EDGE)).sum())
            raise AnalysisError(f"Reduction: {below} modes lie below the cut-off, but only {few} were found")
        return found.values, found.vectors, kept == below
    if check == "inertia":
        found = real_modes(K, M, band=(0.0, cutoff), factors=factors)
        values, vectors, complete = found.values, found.vectors, True
    else:
        wanted = _FIRST
        while True:
            found = real_modes(K, M, min(wanted, n), check=check, factors=factors)
            if wanted >= n or found.values[-1] > cutoff:
                break
            if wanted > _MOST:
                raise AnalysisError(f"Reduction: more than {_MOST} modes lie below the cut-off; take a lower one")
            wanted *= 2
        keep = found.values <= cutoff
        values, vectors, complete = found.values[keep], found.vectors[:, keep], False
    if count is not None and values.size > count:
        values, vectors, complete = values[:count], vectors[:, :count], False
    return values, vectors, complete


def _symmetric(A: np.ndarray) -> np.ndarray:
    return 0.5 * (A + A.T)
