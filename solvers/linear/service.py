"""The interface to the factors of a sparse matrix: `factor(A, constraints, kind)`.

Only a step loop, which factors matrices of one pattern again and again, has a service of its own
(`fem_mbs.solvers.linear.solver.make_solver`).
"""

from __future__ import annotations

from typing import Any, Literal, overload

from scipy.sparse import csc_matrix, csr_matrix

from fem_mbs.solvers.distributed.factors import DistributedFactors, DistributedPencil
from fem_mbs.solvers.distributed.matrix import DistributedMatrix
from fem_mbs.solvers.linear.factors import IndefiniteFactors, Pencil, PositiveFactors
from fem_mbs.solvers.linear.libraries import Effort, lu_factors
from fem_mbs.solvers.linear.saddle import Saddle
from fem_mbs.solvers.linear.saddle_factors import SaddleFactors

__all__ = ["factor", "pencil_of"]


def pencil_of(K: Any, M: Any = None) -> Any:
    """Return K - s M for any s, of matrices of this process or of distributed ones."""
    return DistributedPencil(K, M) if isinstance(K, DistributedMatrix) else Pencil(K, M)


@overload
def factor(
    A: Any, constraints: None = None, kind: Literal["positive"] = ..., *, shift: float = 0.0
) -> PositiveFactors: ...
@overload
def factor(
    A: Any, constraints: None = None, *, kind: Literal["symmetric"], shift: float = 0.0
) -> IndefiniteFactors: ...
@overload
def factor(A: Any, constraints: Any = None, *, kind: Literal["saddle"], **options: Any) -> Saddle: ...
@overload
def factor(A: Any, constraints: Any, kind: Literal["saddle"], **options: Any) -> Saddle: ...
@overload
def factor(A: Any, constraints: Any = None, *, kind: Literal["general"], **options: Any) -> SaddleFactors: ...
@overload
def factor(A: Any, constraints: Any, kind: Literal["general"], **options: Any) -> SaddleFactors: ...
@overload
def factor(A: Any, constraints: None = None, *, kind: Literal["plain"]) -> Any: ...
def factor(A: Any, constraints: Any = None, kind: str = "positive", **options: Any) -> Any:
    """Return factors of a sparse matrix A (n, n), with ``constraints`` G (m, n) those of [[A, G^T], [G, 0]].

    Every answer has ``solve``.  The kinds, and what they take besides:

    - "positive": L L^T of a symmetric positive definite A, or of a `Pencil` at a ``shift``, by CHOLMOD where it is
      installed (`PositiveFactors`); no constraints.
    - "symmetric": L D L^T of a symmetric A, or of a `Pencil` at a ``shift``, with the number of ``negative``
      eigenvalues (`IndefiniteFactors`); no constraints.
    - "saddle": symmetric A with constraints of any rank; ``columns``, ``least``, ``damping``, ``judged`` (`Saddle`).
    - "general": unsymmetric A, real or complex, with independent constraints or none, for solutions with the matrix
      and with its transpose; ``effort``, ``columns``, ``limit``, ``movable`` (`SaddleFactors`).
    - "plain": L U of a matrix that is known to be regular, by SuperLU; ``solve(b, "T")`` with its transpose.

    Distributed matrices have the kinds "positive" and "symmetric", by MUMPS.

    Raises:
        LinearSolveError: the matrix has no such factors (`NotPositiveDefinite`, `ExactlySingular`).
        SingularShift: a matrix of kind "general" is singular to working precision.
        ValueError: constraints or options that the kind does not take.
    """
    if kind in ("positive", "symmetric", "plain") and constraints is not None:
        raise ValueError(f'Factors of kind "{kind}" take no constraints; ask for "saddle" or "general"')
    if isinstance(A, (DistributedMatrix, DistributedPencil)):
        if kind not in ("positive", "symmetric"):
            raise ValueError(f'Distributed matrices have no factors of kind "{kind}", only positive or symmetric ones')
        pencil = DistributedPencil(A) if isinstance(A, DistributedMatrix) else A
        return DistributedFactors(pencil, positive=kind == "positive", **options)
    if kind == "positive":
        return PositiveFactors(A if isinstance(A, Pencil) else Pencil(A), **options)
    if kind == "symmetric":
        return IndefiniteFactors(A if isinstance(A, Pencil) else Pencil(A), **options)
    if kind == "plain":
        return lu_factors(csc_matrix(A))
    none = csr_matrix((0, A.shape[0]))
    G = none if constraints is None else constraints
    if kind == "saddle":
        return Saddle(A, G, **options)
    if kind == "general":
        return SaddleFactors(A, G, options.pop("effort", None) or Effort(), **options)
    raise ValueError(f'Factors of kind "{kind}" are not known; choose positive, symmetric, saddle, general or plain')
