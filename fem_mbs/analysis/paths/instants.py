"""Equations of motion at many instants of a given motion at once, with multipliers of least residual."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.start.initial import function_jets
from fem_mbs.functions.laws import TimeFunction
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.blocks import Block
from fem_mbs.system.dense import DenseAssembly, DenseTangents, states_of

__all__ = ["Instants", "values_of"]

_BALANCED = 5  # iterations for multipliers that forces depend on


class Instants:
    """The equations of motion at s given states, linear about each.  Multipliers are those with the least residual.

    Attributes:
        tangents: forces and matrices over all dofs.
        dofs: (n,) numbers of the unknown dofs: those that neither supports nor motions prescribe.
        residual: (s, n) unbalanced forces [N], moments [N m], with inertia and constraint forces.
        gaps: (s, m) values of the constraints.

    Args:
        assembly: of the model.
        times: (s,) [s].
        Q, D: (s, N) coordinates, (s, nr, w) directors, as in a state.
        V, A: (s, N) velocities and accelerations; None: at rest.
    """

    def __init__(
        self, compiled: CompiledModel, assembly: DenseAssembly, times: np.ndarray, loading: Loading,
        Q: np.ndarray, D: np.ndarray, V: np.ndarray | None = None, A: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.compiled, self.system = compiled, compiled.system
        self.first, self.times = self.system.first_multiplier, times
        none = np.zeros_like(Q)
        level = loading.level(values_of(compiled, times))
        states = states_of(
            self.system, Q, D, none if V is None else V, none if A is None else A, np.asarray(level.values)
        )
        self.tangents = DenseTangents(assembly, states, np.asarray(level.gravity, float))
        self.dofs = np.flatnonzero(self.system.system.equation[: self.first] >= 0)
        self._sharing = self.system.sharing()[:, : self.first].toarray()[:, self.dofs]
        self._balance()

    def _balance(self) -> None:
        system = self.system
        joints = [block for block in system.blocks if block.type.multipliers]
        pressing = any(block.type.reads for block in system.blocks)
        for _ in range(_BALANCED if pressing else 1):
            here = self.tangents
            force = here.force()
            A = here.damped[1] if pressing else here.tangent(here.control(2.0), joints).swapaxes(1, 2)
            forces = self._with_sharing(A[:, self.dofs, self.first :])
            found = -np.einsum("snm,sn->sm", np.linalg.pinv(forces, rcond=1e-12).swapaxes(1, 2), force[:, self.dofs])
            n = len(system.silent)
            U = here.states.U.copy()
            U[:, self.first : -1] += found[:, :n]
            self._of_shared = np.einsum("snm,sm->sn", forces[:, :, n:], found[:, n:])
            self.tangents = here.under(here.states._replace(U=U))

    def _with_sharing(self, columns: np.ndarray) -> np.ndarray:
        """Return the columns (s, n, m) of multipliers, and after them those of the conditions of dofs that share an
        unknown."""
        shared = np.broadcast_to(self._sharing.T, (len(columns), *self._sharing.T.shape))
        return np.concatenate((columns, shared), axis=2)

    @cached_property
    def _force(self) -> np.ndarray:
        return self.tangents.force()

    @cached_property
    def residual(self) -> np.ndarray:
        return self._force[:, self.dofs] + self._of_shared

    @cached_property
    def gaps(self) -> np.ndarray:
        return np.hstack((self._force[:, self.first :], np.zeros((len(self.times), len(self._sharing)))))

    def dense(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return M, C, K (s, n, n), G (s, m, n) and the columns (s, n, m) of the multipliers over the unknowns."""
        C, K = self.tangents.damped
        own = np.ix_(np.arange(len(K)), self.dofs, self.dofs)
        shared = np.broadcast_to(self._sharing, (len(K), *self._sharing.shape))
        G = np.concatenate((K[:, self.first :, self.dofs], shared), axis=1)
        columns = self._with_sharing(K[:, self.dofs, self.first :]) if self._pressed else G.swapaxes(1, 2)
        return self.tangents.M[own], C[own], K[own], G, columns

    @property
    def _pressed(self) -> bool:
        """Return whether forces depend on multipliers."""
        return any(block.owners is not None and (block.owners >= 0).any() for block in self.system.blocks)

    def forces_of(self, functions: list[int], blocks: list[Block]) -> np.ndarray:
        """Return the forces (s, n, k) on the unknowns per unit of the value of each function; only loads in ``blocks``
        use these functions."""
        here = self.tangents
        fun = np.zeros_like(here.states.fun)
        base = here.under(here.states._replace(fun=fun)).force(blocks)
        columns = []
        for i in functions:
            one = fun.copy()
            one[:, i] = 1.0
            columns.append(base - here.under(here.states._replace(fun=one)).force(blocks))
        return np.stack(columns, axis=2)[:, self.dofs]

    def expand(self, q: np.ndarray) -> np.ndarray:
        """Return increments (..., N) of all dofs from those q (..., n) of the unknowns."""
        out = np.zeros((*q.shape[:-1], self.system.n_dof))
        out[..., self.dofs] = q
        return out

    def state(self, number: int) -> S.State:
        """Return the state ``number`` with its multipliers, at rest."""
        new, here = self.system.initial_state(), self.tangents.states
        new.Q[:], new.D[:], new.U[:] = here.Q[number], here.D[number], here.U[number]
        new.V[:] = new.DD[:] = 0.0
        return new


def values_of(compiled: CompiledModel, times: np.ndarray) -> np.ndarray:
    """Return the values (s, n_fun) of all time functions.

    Raises:
        ModelError: one of them is not finite, naming the load, motion or joint.
    """
    out = np.zeros((len(times), len(compiled.functions)))
    f: Any  # a TimeFunction, or a function of the user of one instant
    for i, f in enumerate(compiled.functions):
        out[:, i] = f(times) if isinstance(f, TimeFunction) else [float(f(np.float64(t))) for t in times]
    bad = ~np.isfinite(out).all(axis=1)
    if bad.any():
        function_jets(compiled, float(times[bad.argmax()]))
    return out
