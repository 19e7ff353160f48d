"""Equilibria along a path: states at rest with the outputs in given places, and the efforts that hold them."""

from __future__ import annotations

import numpy as np

from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.paths.instants import Instants
from fem_mbs.analysis.paths.places import Efforts, Outputs, projected
from fem_mbs.analysis.paths.zeros import Projected, null_space
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.dense import DenseAssembly
from fem_mbs.system.states import instant, moved

__all__ = ["Equilibrium", "Follower"]

_ITERATIONS = 40
_LARGEST = 0.3  # change in an iteration [rad], or over the model's length
_CONVERGED = 1e-10  # the same


@dataclass(frozen=True)
class Equilibrium:
    """A state at rest, its outputs and efforts (p,), coordinates (p,) of the joints, and matrices about it."""

    state: S.State
    y: np.ndarray
    u: np.ndarray
    q: np.ndarray
    at: Projected


class Follower:
    """Find equilibria one after the other.

    Args:
        compiled: a model of its own, whose functions of the efforts are replaced.
    """

    def __init__(
        self, compiled: CompiledModel, loading: Loading, outputs: Outputs, efforts: Efforts, owner: Owner
    ) -> None:
        self.compiled, self.loading, self.outputs, self.efforts, self.owner = (
            compiled, loading, outputs, efforts, owner,
        )  # fmt: skip
        self.assembly = DenseAssembly(compiled.system)

    def start(self, state: S.State, t: float) -> Equilibrium:
        """Return the equilibrium with the outputs where they are in a state.

        Raises:
            ModelError: efforts or outputs repeat others, or there is no equilibrium.
        """
        system = self.compiled.system
        here = instant(system, state)
        here.V[:] = 0.0
        here.DD[:] = 0.0
        self.efforts.hold(self.compiled, np.zeros(len(self.efforts.motors)))
        lin = self._at(here, t)
        y, Y = self.outputs.at(lin, self.owner)
        if projected(lin, self.outputs, self.efforts, self.owner)[1].size:
            self._refuse(lin, Y[0])
        return self._solve(here, t, y[0], np.zeros(y.shape[1]), "at the start of the path")

    def next(self, last: Equilibrium, t: float, y: np.ndarray, where: str) -> Equilibrium:
        """Return the equilibrium at a time with outputs y (p,), from the last one.

        Raises:
            ModelError: there is none near.
        """
        return self._solve(last.state, t, y, last.u, where)

    def _refuse(self, lin: Instants, Y: np.ndarray) -> None:
        """Raise an error that names an effort or an output of no influence."""
        G, columns = (a[0] for a in lin.dense()[3:])
        rows = {"effort": (self.efforts.at(lin)[0].T, columns.T), "output": (Y[:, lin.dofs], G)}
        names = {"effort": self.efforts.joints, "output": self.outputs.names}
        for word, (own, fixed) in rows.items():
            _, rank = null_space(fixed)
            for i, name in enumerate(names[word]):
                _, more = null_space(np.vstack((fixed, own[: i + 1])))
                if more <= rank:
                    why = "moves nothing that supports and joints leave free, or repeats another effort"
                    if word == "output":
                        why = "is held by supports and joints, or repeats another output"
                    raise ModelError(
                        f'{word}s: the {word} "{name}" {why}', owner=self.owner, key=f"{word}s", value=name,
                        remedy="remove it, or name another one",
                    )  # fmt: skip
                rank = more
        raise ModelError("outputs and efforts do not fit together", owner=self.owner, remedy="name others")

    def _solve(self, state: S.State, t: float, y: np.ndarray, u: np.ndarray, where: str) -> Equilibrium:
        """Newton's method from a state."""
        system = self.compiled.system
        length, u = system.length, u.copy()
        position = system.system.kind == S.POSITION
        size = np.where(position, length, 1.0)
        last = np.inf
        for number in range(_ITERATIONS):
            self.efforts.hold(self.compiled, u)
            state = self.driven(state, t)
            lin = self._at(state, t)
            many, bad = projected(lin, self.outputs, self.efforts, self.owner)
            if bad.size:
                break
            at, found = many[0], self.outputs.at(lin, self.owner)[0][0]
            gap, r = lin.gaps[0], lin.residual[0]
            p = at.P @ np.concatenate((-gap, y - found))
            K = at.L.T @ at.K
            x = p + at.T @ np.linalg.lstsq(K @ at.T, -(at.L.T @ r) - K @ p, rcond=1e-12)[0]
            du = at.U @ (r + at.K @ x)
            step = lin.expand(x)
            change = float(np.abs(step / size).max(initial=0.0))
            if not np.isfinite(change):
                break
            part = min(1.0, _LARGEST / change) if change > 0.0 else 1.0
            u = u + part * du
            # the first iteration has no efforts yet, so its stiffness lacks their share
            if number and (change <= _CONVERGED or (change <= 1e3 * _CONVERGED and change >= last)):
                return Equilibrium(lin.state(0), found, u, self.efforts.coordinates(lin)[0], at)
            last = change
            state = self._moved(lin.state(0), part * step)
        raise ModelError(
            f"the path cannot be followed {where}: no equilibrium was found with "
            + ", ".join(f"{name} = {v:.6g}" for name, v in zip(self.outputs.names, y, strict=True)),
            owner=self.owner, key="outputs",
            remedy="stay within reach, away from places where the mechanism is stretched or jams",
        )  # fmt: skip

    def _at(self, state: S.State, t: float) -> Instants:
        """Return the equations of motion at a state at rest; arrays have a first index of size 1."""
        return Instants(self.compiled, self.assembly, np.array([t]), self.loading, state.Q[:1], state.D[:1])

    def _moved(self, state: S.State, u: np.ndarray) -> S.State:
        """Return the state at rest, displaced by u (N,), with its multipliers."""
        system = self.compiled.system
        here = instant(system, state)
        here.U[system.first_multiplier : -1] = state.U[system.first_multiplier : -1]
        new = moved(system, here, u)
        new.V[:] = 0.0
        new.DD[:] = 0.0
        return new

    def driven(self, state: S.State, t: float) -> S.State:
        """Return the state with what motions move in its place."""
        system = self.compiled.system
        driven = system.driven
        if not len(driven.dofs):
            return state
        values = np.array([float(self.compiled.functions[f](np.float64(t))) for f in driven.functions])
        u = np.zeros(system.n_dof)
        u[driven.dofs] = system.system.driven_reference + values - state.Q[0, driven.dofs]
        return self._moved(state, u) if np.any(u) else state
