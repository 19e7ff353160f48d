"""Solve K q = f with the stiffness of a `Linearised`, and say why one cannot be solved with."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import proxy

import numpy as np
from scipy.sparse import diags

from fem_mbs.errors import AnalysisError, LooseError
from fem_mbs.solvers.linear.factors import Pencil, PositiveFactors
from fem_mbs.solvers.linear.libraries import LinearSolveError, NotPositiveDefinite
from fem_mbs.solvers.linear.redundancy import independent_rows
from fem_mbs.solvers.linear.saddle_factors import SaddleFactors, SingularShift
from fem_mbs.solvers.linear.service import factor, pencil_of
from fem_mbs.solvers.stepping import layout as S

if TYPE_CHECKING:
    from fem_mbs.analysis.linear.linearised import Linearised
    from fem_mbs.analysis.linear.spurious import Unseen

__all__ = ["LOOSE", "REFINEMENTS", "Equilibrium"]

#: Corrections of a solution.
REFINEMENTS = 2
#: Message where the stiffness has no factors because a motion is free.
LOOSE = "the model is loose: it can move without strain, as a rigid body or a mechanism; add supports"


class Equilibrium:
    """Displacements under forces, over the unknowns of problems of a `Linearised`; factors are kept.

    Attributes:
        unseen: motions without energy of elements with reduced integration, None where there are none.
    """

    def __init__(self, linear: Linearised) -> None:
        # no strong reference back, by which matrices and factors would live until the collector of cycles runs
        self.linear: Linearised = proxy(linear)
        self.unseen: Unseen | None = None
        self._positive: PositiveFactors | None = None
        self._lu: SaddleFactors | None = None

    def solve(self, f: np.ndarray, owner: str) -> np.ndarray:
        """Solve K q = f by L L^T, refined; of unsymmetric matrices by L U."""
        if not f.size:  # everything is prescribed
            return f
        if self.linear.unsymmetric:
            return self.solve_whole(f, owner)[0]
        K, factors = self.linear.whole_stiffness, self._factors(owner)
        if self.unseen is not None:
            self.unseen.check(f, owner)
        q = factors.solve(f)
        for _ in range(REFINEMENTS):
            q = q + factors.solve(f - K @ q)
        return q

    def solve_whole(self, f: np.ndarray, owner: str) -> tuple[np.ndarray, np.ndarray]:
        """Return q and y (m,) of K q + G^T y = f, G q = 0, with the unsymmetric K; redundant rows of G get y = 0."""
        K, G = self.linear.whole_stiffness, self.linear.rows
        keep = independent_rows(G, np.ones(K.shape[0])) if G.shape[0] else np.zeros(0, bool)
        if self._lu is None:
            try:
                self._lu = factor(K, G[np.flatnonzero(keep)], "general")
            except SingularShift:
                raise LooseError(LOOSE, owner=owner) from None
        q, some = self._lu.solve(f)
        y = np.zeros(keep.size)
        y[keep] = some
        return q, y

    def _factors(self, owner: str) -> PositiveFactors | Unseen:
        if self.unseen is not None:
            return self.unseen
        if self._positive is None:
            pencil = pencil_of(self.linear.stiffness)
            try:
                self._positive = factor(pencil, kind="positive")
            except NotPositiveDefinite:
                self.unseen = self.unseen_motions()
                if self.unseen is None:
                    raise self.refused(owner) from None
                return self.unseen
            except LinearSolveError as error:
                raise AnalysisError(f"{owner}: the stiffness cannot be factored: {error}") from None
        return self._positive

    def unseen_motions(self) -> Unseen | None:
        """Return the motions without energy that elements with reduced integration leave, if there are any."""
        from fem_mbs.analysis.linear.spurious import unseen_motions

        return unseen_motions(self.linear)

    def refused(self, owner: str) -> AnalysisError:
        """Return the error of an indefinite or singular stiffness: a free motion, or an unstable state."""
        K = self.linear.stiffness
        if K.shape[0] == 0:
            return LooseError(LOOSE, owner=owner)
        D = diags(np.where(K.diagonal() > 0.0, K.diagonal(), 1.0))
        pencil = Pencil(K, D)
        x = np.random.default_rng(7).standard_normal(K.shape[0])
        negative = False
        for shift in (-1e-9, -1e-6, -1e-3, -1.0):
            try:
                factors = factor(pencil, kind="positive", shift=shift)
            except NotPositiveDefinite:
                negative = True  # there is an eigenvalue below the shift; the iteration may not come near it
                continue
            except LinearSolveError:
                continue
            for _ in range(12):
                x = factors.solve(D @ x)
                x /= np.abs(x).max()
            value = float(x @ (K @ x)) / float(x @ (D @ x))
            size = np.abs(self.linear.expand(x)[: self.linear.first])
            size[self.linear.system.system.kind[: self.linear.first] != S.POSITION] *= 1e-3 * self.linear.system.length
            name = self.linear.system.name_of(int(size.argmax()))
            if negative or value < -1e-9:
                why = f"the state is unstable already (most of all {name} moves away); lower the loads before"
                return AnalysisError(why, owner=owner)
            return LooseError(f"{LOOSE}; a free motion shows at {name}", owner=owner)
        return LooseError(LOOSE, owner=owner)
