"""A model at a state as `fem_mbs.analysis.linear.linearised` has it, with matrices that are spread over the processes.

Vectors, constraints and their elimination u = T q are on every rank; T^T K T is the sum of T^T K_e T over the elements
e of the ranks, so that constraints are eliminated before anything is added up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from scipy.sparse import csr_matrix, vstack

from fem_mbs.analysis.distributed.assembly import PartMatrices
from fem_mbs.analysis.linear.equilibrium import LOOSE, REFINEMENTS, Equilibrium
from fem_mbs.analysis.linear.linearised import SYMMETRIC, Linearised, unit_factors
from fem_mbs.errors import AnalysisError, LooseError, ModelError, Owner
from fem_mbs.solvers.distinct import distinct
from fem_mbs.solvers.distributed.factors import DistributedFactors
from fem_mbs.solvers.distributed.matrix import NOT_SYMMETRIC, DistributedMatrix, united
from fem_mbs.solvers.distributed.ranks import ranks
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.tangent import constraint_rows

__all__ = ["DistributedLinearised"]

Found = TypeVar("Found")


class DistributedLinearised(Linearised):
    """As `Linearised`; all ranks make it, and call its methods, at the same time.

    Raises:
        ModelError: what the model has is not distributed.
    """

    matrices: PartMatrices

    def assembler(self, system: Compiled) -> PartMatrices:
        refusal = None
        if system.silent.any():
            refusal = "constraints that do not act"
        elif system.callbacks:
            refusal = "forces of users' functions"
        if refusal is not None:
            raise ModelError(
                f"{refusal} are not distributed", owner=Owner("Backend", "petsc"), remedy="run it without --backend"
            )
        return PartMatrices(system)

    def made_once(self, make: Callable[[], Found]) -> Found:
        return ranks().made_once(make)

    @property
    def writes(self) -> bool:
        return ranks().rank == 0

    def constraint_rows(self) -> csr_matrix:
        rows = constraint_rows(self.system, self.here.control(2.0), self.here.functions, self.state, scaled=True)
        return csr_matrix(vstack((rows, self.system.sharing()))[:, : self.first])

    def joint_rows(self) -> csr_matrix:
        return constraint_rows(self.system, self.here.control(2.0), self.here.functions, self.state, scaled=True)

    def reduce(self, A: DistributedMatrix) -> DistributedMatrix:
        """Return T^T A T of a matrix (N, N)."""
        if not self.eliminated:
            raise AnalysisError("a mechanism that keeps its constraints is not distributed; run it without --backend")
        found = self.elimination
        made = self._joined(A) if found.dependent.size else self.matrices.submatrix(A, found.free)
        known = self.__dict__.setdefault("_laid_out", made)
        return made if made is known else made.laid_out(known)

    def _joined(self, A: DistributedMatrix) -> DistributedMatrix:
        """Return T^T A T in the dofs that this rank has entries of, and those that equations connect with them."""
        found, A = self.elimination, self._node_part(A)
        T, free, at = found.T, found.free, united(*A.places)
        following = at[np.isin(at, found.dependent)]
        at = united(at, distinct(free[T[following].indices]))
        here = np.flatnonzero(np.isin(at, free))
        number = np.searchsorted(free, at[here])
        rows = T[at]
        T = csr_matrix((rows.data, np.searchsorted(number, rows.indices), rows.indptr), shape=(at.size, number.size))
        dependent = np.flatnonzero(np.isin(at, found.dependent))
        own = replace(found, T=T, free=here, dependent=dependent).reduce(A.spread((at, at)))
        return DistributedMatrix(own, places=(number, number), shape=(free.size, free.size))

    def _node_part(self, A: DistributedMatrix) -> DistributedMatrix:
        return A[: self.first, : self.first]

    def whole_table(self, number: int, table: np.ndarray) -> np.ndarray:
        """Return the whole table on the first rank, where results are written, and no rows on others."""
        share = self.system.blocks[number].share
        return table if share is None else self.matrices.ranks.collected(table, share.elements, share.count)

    def table_everywhere(self, number: int, table: np.ndarray) -> np.ndarray:
        share = self.system.blocks[number].share
        if share is None:
            return table
        whole = np.zeros((share.count, *table.shape[1:]))
        whole[share.elements] = table
        return self.matrices.ranks.sum(whole)

    def own_elements(self) -> list[Block]:
        return self.matrices.elements.blocks

    def summed(self, values: np.ndarray) -> np.ndarray:
        return self.matrices.ranks.sum(values)

    def total(self, number: int, value: float) -> float:
        if self.system.blocks[number].share is None:
            return value
        return float(self.matrices.ranks.sum(np.array([value]))[0])

    @cached_property
    def stiffness(self) -> DistributedMatrix:
        """Return the symmetric part of `whole_stiffness`; all of it where the model is ``unsymmetric``."""
        if self.eliminated:
            self.elimination  # noqa: B018 (what it takes to find it comes before the matrices)
        K = self.whole_stiffness
        if not self.here.skewed or not K.nnz:
            return K
        skew = K - K.T
        self.asymmetry = float(abs(skew).max() / max(abs(K).max(), 1e-300))
        self._unsymmetric = abs(skew.scaled(unit_factors(K.diagonal()))).max() > SYMMETRIC
        return 0.5 * (K + K.T)

    @cached_property
    def equilibrium(self) -> Equilibrium:
        """Return a solver for the stiffness that keeps its factors."""
        return _Equilibrium(self)


class _Equilibrium(Equilibrium):
    """Solves with the factors of MUMPS."""

    def solve(self, f: np.ndarray, owner: str) -> np.ndarray:
        """Solve K q = f by L D L^T, refined."""
        if not f.size:  # everything is prescribed
            return f
        if self.linear.unsymmetric:
            return self.solve_whole(f, owner)[0]
        factors = cast(DistributedFactors, self._factors(owner))
        return factors.refined(self.linear.whole_stiffness, f, REFINEMENTS)

    def unseen_motions(self) -> None:
        """Return that none are known: they are looked for with matrices of one process."""

    def solve_whole(self, f: np.ndarray, owner: str) -> tuple[np.ndarray, np.ndarray]:
        """Refuse an unsymmetric stiffness.

        Raises:
            AnalysisError: always.
        """
        raise AnalysisError(f"the stiffness {NOT_SYMMETRIC}", owner=owner)

    def refused(self, owner: str) -> AnalysisError:
        """Return the error of a stiffness that is not positive definite, with a dof that nothing holds."""
        linear = self.linear
        empty = np.flatnonzero(linear.stiffness.diagonal() <= 0.0)
        at = f"; it shows at {linear.system.name_of(int(linear.elimination.free[empty[0]]))}" if empty.size else ""
        return LooseError(f"{LOOSE}, or the state is unstable already{at}", owner=owner)
