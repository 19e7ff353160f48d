"""Matrices of small motions about single instants of a motion, many times over: dense, and for small models quick.

They are those of `fem_mbs.analysis.stability.linearisation.Linearisation`, with accelerations from the motion itself.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix, hstack

from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.start.initial import function_jets
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.blocks import Block
from fem_mbs.system.states import instant, moved
from fem_mbs.system.tangent import Tangent, constraint_rows, matrices_of

__all__ = ["Instant"]

_BALANCED = 5  # iterations for multipliers that forces depend on


class Instant:
    """A state at a time, its equations of motion, and multipliers that balance it as well as they can.

    Attributes:
        state: with multipliers in its unknowns; ``dofs`` (n,) the unknowns that supports and motions leave.
        residual: (n,) forces out of balance, inertia and multipliers included; ``gaps`` (m,) of the constraints.
        M, C, K: (n, n), G: (m, n), columns: (n, m) forces of the multipliers; dense.

    Args:
        state: its rows 0; acceleration: (N,) as states keep it, None: at rest, whatever the velocities.
    """

    frame = "fixed"

    def __init__(
        self, compiled: CompiledModel, state: S.State, t: float, loading: Loading,
        acceleration: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.compiled, self.system, self.first = compiled, compiled.system, compiled.system.first_multiplier
        system = self.system
        self._matrices = matrices_of(system)
        if acceleration is None:
            state = state._replace(V=np.zeros_like(state.V))
        self.state = instant(system, state)
        if acceleration is not None:
            self.state.V[2] = acceleration
        self.level = loading.level(function_jets(compiled, t)[:, 0])
        self.dofs = np.flatnonzero(system.system.equation[: self.first] >= 0)
        self._sharing = csr_matrix(system.sharing())
        self._balance()

    def _balance(self) -> None:
        pressing = any(block.type.reads for block in self.system.blocks)
        y = self.state.U[self.first : -1]
        for _ in range(_BALANCED if pressing else 1):
            here = Tangent(self.system, self.state, self.level, self._matrices)
            force = here.force()[: self.first]
            if pressing:
                forces = csr_matrix(here.K[: self.first, self.first : -1])
            else:
                rows = constraint_rows(self.system, here.control(2.0), here.functions, self.state, scaled=True)
                forces = csr_matrix(rows[:, : self.first].T)
            all_forces = hstack((forces, self._sharing[:, : self.first].T)).tocsr()[self.dofs].toarray()
            if all_forces.shape[1]:
                found = np.linalg.lstsq(all_forces, -force[self.dofs], rcond=1e-12)[0]
                y += found[: y.size]
                self._of_shared = all_forces[:, y.size :] @ found[y.size :]
            else:
                self._of_shared = np.zeros(self.dofs.size)

    @cached_property
    def tangent(self) -> Tangent:
        """Return the equations over all dofs."""
        return Tangent(self.system, self.state, self.level, self._matrices)

    @property
    def constraints(self) -> csr_matrix:
        """Return the constraints (m, N) over all dofs, in the model's scales."""
        return self.tangent.G

    @property
    def speed(self) -> float:
        """Return a scale of the angular velocities [rad/s]."""
        return self.tangent.speed

    def force(self) -> np.ndarray:
        """Return the forces (N,) out of balance, and gaps of joints."""
        return self.tangent.force()

    @cached_property
    def residual(self) -> np.ndarray:
        return self.force()[self.dofs] + self._of_shared

    @cached_property
    def gaps(self) -> np.ndarray:
        out = np.zeros(self.constraints.shape[0])
        own = self.force()[self.first : -1]
        out[: own.size] = own
        return out

    def whole(self) -> tuple[csr_matrix, csr_matrix, csr_matrix]:
        """Return M, C and K over all dofs (N, N)."""
        return self.tangent.M, self.tangent.C, self.tangent.K

    def dense(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return M, C, K, G and the columns of the multipliers over the unknowns."""
        M, C, K = (A.toarray()[np.ix_(self.dofs, self.dofs)] for A in self.whole())
        G = self.constraints.toarray()[:, self.dofs]
        columns = G.T
        if self.pressed:
            forces = self.tangent.K[: self.first, self.first : -1]
            columns = hstack((forces, self._sharing[:, : self.first].T)).tocsr()[self.dofs].toarray()
        return M, C, K, G, columns

    @property
    def pressed(self) -> bool:
        """Return whether forces depend on multipliers."""
        return any(block.owners is not None and (block.owners >= 0).any() for block in self.system.blocks)

    def forces_of(self, functions: list[int], blocks: list[Block]) -> np.ndarray:
        """Return the forces (n, k) per unit of functions that only loads in ``blocks`` follow."""
        here = self.tangent
        none = np.zeros_like(here.functions)
        ctl = here.control(2.0)
        base = self._matrices.force(ctl, none, self.state, blocks)
        columns = []
        for i in functions:
            one = none.copy()
            one[i] = 1.0
            columns.append(base - self._matrices.force(ctl, one, self.state, blocks))
        return np.column_stack(columns)[self.dofs]

    def expand(self, q: np.ndarray) -> np.ndarray:
        """Return increments (N,) of all dofs from those of the unknowns (n,)."""
        out = np.zeros(self.system.n_dof)
        out[self.dofs] = q
        return out

    def moved(self, u: np.ndarray) -> S.State:
        """Return the state at rest, displaced by u (N,): positions, and rotations by their Cayley vectors."""
        return moved(self.system, self.state, u)
