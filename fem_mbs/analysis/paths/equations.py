"""The equations of motion of all steps of a window at once, and their solution by Newton's method.

The unknowns are the states q[n] at the ends of steps.  Velocities and accelerations follow from them by compact
differences (`motions.rates`), and at every step the nonlinear equations of motion hold with the outputs on the path.
Newton's method solves one banded system of all steps (`window`) per iteration; its boundary conditions are those of
stable inversion (Devasia, Chen & Paden 1996): what decays begins at rest, what grows ends at rest, and what does
neither counts as decaying.  It converges quadratically, with or without damping.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fem_mbs.analysis.context import RunContext
from fem_mbs.analysis.paths.equilibria import Equilibrium, Follower
from fem_mbs.analysis.paths.instants import Instants, values_of
from fem_mbs.analysis.paths.motions import Motion, rates, spline_through
from fem_mbs.analysis.paths.places import Efforts, Outputs
from fem_mbs.analysis.paths.steps import midpoint_forces
from fem_mbs.analysis.paths.window import Rows, Window
from fem_mbs.analysis.paths.zeros import WEIGHT, project
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.states import moved_all
from fem_mbs.units import unit_of

__all__ = ["TAIL", "Equations", "state_at"]

#: Steps that are solved beyond the window and not used: in the last ones differences are one-sided.
TAIL = 16
_ITERATIONS = 25
_CONVERGED = 1e-10  # change in an iteration over the size of the path
_SMALL = 1e-6  # the same, below which an iteration that stands still has reached round-off
_ROUND_OFF = 1e-12  # change that counts as none [rad], or over the model's length
_LARGEST = 0.5  # the same: more is divided
_FAR = 10.0  # largest displacement of the linear equations over the model's length that is accepted
_WORSE = 4.0  # ratio of two successive changes, both with new matrices, above which the iteration is given up
_QUICK = 0.1  # change over the one before with which the matrices are kept
_ENTRIES = 1 << 22  # matrix entries of the states that are assembled at a time


class Equations:
    """The equations of a window.

    Args:
        compiled: a model of its own, whose functions of the efforts are replaced.
        times: (n + 1,) ends of steps [s]; path_start: [s].
        path: (n + 1, p) outputs there.
        start, end: equilibria before and after the window.
    """

    def __init__(
        self, compiled: CompiledModel, context: RunContext, follower: Follower, times: np.ndarray, path_start: float,
        duration: float, path: np.ndarray, ends: tuple[Equilibrium, Equilibrium],
    ) -> None:  # fmt: skip
        self.compiled, self.context, self.follower, self.times = compiled, context, follower, times
        self.outputs: Outputs = follower.outputs
        self.efforts: Efforts = follower.efforts
        self.owner, self.path_start, self.duration, self.path = follower.owner, path_start, duration, path
        self.start, self.end = ends
        self.h = float(times[1] - times[0])
        # the unbalance of the equilibrium is round-off: at all steps it moves nothing, at the first one it would
        # be an impulse, which chains of masses amplify
        self.efforts.hold(compiled, self.start.u)
        state = self.start.state
        lin = Instants(compiled, follower.assembly, times[:1], context.loading, state.Q[:1], state.D[:1])
        self._rest = lin.residual[0]
        self._share: np.ndarray | None = None  # forces (n + 1, n_q) that a deferred correction adds
        system = compiled.system
        self.dofs = np.flatnonzero(system.system.equation[: system.first_multiplier] >= 0)
        self.size = np.where(system.system.kind[self.dofs] == S.POSITION, system.length, 1.0)

    def solve(self, motion: Motion, u: np.ndarray) -> tuple[Motion, np.ndarray, Window] | None:
        """Return the motion with the outputs on the path, the efforts (n + 1, p) at the ends of steps, and the linear
        equations about it; None where Newton's method finds none.

        Args:
            motion, u: from which it begins.
        """
        self._share = None
        found = self._solved(motion, u, None)
        if found is None:
            return None
        # solve again with the forces of the mid-point rule, so that a forward run by this rule stays on the path
        share = self._deferred(*found[:2])
        if not np.isfinite(share).all():
            return found  # steps turn too far
        self._share = share
        better = self._solved(*found)
        self._share = None
        return better or found

    def _deferred(self, motion: Motion, u: np.ndarray) -> np.ndarray:
        """Return forces (n + 1, n_q) by which those of the mid-point rule differ from those at the ends of steps."""
        self.efforts.put(self.compiled, self.times, u)
        pairs = [(lin.residual, lin.tangents.states.U) for lin in self._instants(motion)]
        own, multipliers = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        self.efforts.put(self.compiled, self.times, spline_through(u))
        middle = 0.5 * (self.times[1:] + self.times[:-1])
        levels = [self.context.loading.level(values_of(self.compiled, times)) for times in (self.times, middle)]
        forces = midpoint_forces(self.follower.assembly, motion, multipliers, (levels[0], levels[1]), self.h, WEIGHT)
        return forces[:, self.dofs] - (own - self._rest)

    def _solved(
        self, motion: Motion, u: np.ndarray, window: Window | None
    ) -> tuple[Motion, np.ndarray, Window] | None:  # fmt: skip
        """Return motion, efforts and linear equations as `solve` does, with ``_share`` added to the forces, if set.

        Args:
            window: linear equations that the first iterations use; None: they are formed about the motion.
        """
        change, own = np.inf, np.inf  # last change; last one that was found with new matrices
        length = max(self.compiled.system.length, 1e-300)
        moves = min(1.0, float((np.ptp(self.path, axis=0) / length).max()))
        for number in range(_ITERATIONS):
            known = window
            try:
                window, wanted, residual = self._about(motion, u, known)
                more = np.einsum("spn,sn->sp", window.at.U, residual)
                # efforts leave no force along them at any step
                residual -= np.einsum("snp,sp->sn", window.at.B, more)
                x, _ = window.solve(wanted, residual)
            except (ModelError, AnalysisError):
                if number:
                    return None  # the iteration has left the places where the path can be followed
                raise
            last, new = change, float((np.abs(x) / self.size)[:-TAIL].max())
            stalls = new <= _SMALL * moves and new > 0.5 * last
            if known is not None and not stalls and new > _QUICK * last:
                window = None  # the matrices have served too long
                continue
            if known is None:
                if not new <= _WORSE * own:
                    return None
                own = new
            change = new
            motion, u = self._moved(motion, x * min(1.0, _LARGEST / max(change, _LARGEST))), u + more
            if stalls or change <= max(_CONVERGED * moves, _ROUND_OFF):
                return motion, u, window
            if change > _QUICK * last or not np.isfinite(last):
                window = None
        return None

    def linear(self, motion: Motion, u: np.ndarray) -> tuple[Motion, np.ndarray, Window]:
        """Return the same of the equations linear about a motion."""
        window, wanted, residual = self._about(motion, u, None)
        x, more = window.solve(wanted, residual)
        moves = float((np.abs(x) / self.size)[:-TAIL].max())
        if not moves <= _FAR:
            raise ModelError(
                f"outputs: small motions about equilibria would be {moves:.3g} times the size of the model: between "
                "efforts and outputs lie so many flexible or massive parts that the efforts follow high derivatives of "
                "the path",
                owner=self.owner, key="outputs",
                remedy="take fewer elements or masses between them, a smoother or slower path, or a larger h",
            )  # fmt: skip
        return self._moved(motion, x), u + more, window

    def window(self, motion: Motion, u: np.ndarray) -> Window:
        """Return the linear equations of the window about a motion."""
        return self._about(motion, u, None)[0]

    def coordinates(self, motion: Motion, u: np.ndarray) -> np.ndarray:
        """Return the coordinates (n + 1, p) of the joints along a motion."""
        self.efforts.put(self.compiled, self.times, u)
        return np.concatenate([self.efforts.coordinates(lin) for lin in self._instants(motion)])

    def _moved(self, motion: Motion, x: np.ndarray) -> Motion:
        """Return the motion displaced by increments (n + 1, n), with what motions move in its place."""
        system = self.compiled.system
        step = np.zeros_like(motion.Q)
        step[:, np.flatnonzero(system.system.equation[: system.first_multiplier] >= 0)] = x
        Q, D = moved_all(system, motion.Q, motion.D, step)
        if len(system.driven.dofs):
            dofs = system.driven.dofs
            values = np.stack([self.compiled.functions[f](self.times) for f in system.driven.functions], axis=1)
            step[:] = 0.0
            step[:, dofs] = system.system.driven_reference + values - Q[:, dofs]
            Q, D = moved_all(system, Q, D, step)
        return self.motion(Q, D)

    def motion(self, Q: np.ndarray, D: np.ndarray) -> Motion:
        """Return the motion through states, with rates by compact differences."""
        return Motion(Q, D, *rates(self.compiled.system, Q, D, self.h, WEIGHT))

    def _instants(self, motion: Motion) -> Iterator[Instants]:
        """Yield the equations of motion at all ends of steps, a limited number at a time."""
        step = max(1, _ENTRIES // self.compiled.system.n_dof**2)
        for first in range(0, len(self.times), step):
            own = slice(first, first + step)
            yield Instants(
                self.compiled, self.follower.assembly, self.times[own], self.context.loading,
                motion.Q[own], motion.D[own], motion.V[own], motion.A[own],
            )  # fmt: skip

    def _about(self, motion: Motion, u: np.ndarray, known: Window | None) -> tuple[Window, np.ndarray, np.ndarray]:
        """Return the linear equations about a motion, increments (n + 1, n_q) that bring outputs to the path and close
        gaps, and forces (n + 1, n_q) out of balance.

        Args:
            known: equations that serve; None: those about this motion.
        """
        self.efforts.put(self.compiled, self.times, u)
        found, apart, residual, outputs = [], [], [], []
        for lin in self._instants(motion):
            y, Y = self.outputs.at(lin, self.owner)
            if known is None:
                found.append(self._rows(lin, Y))
            outputs.append(y)
            apart.append(-lin.gaps)
            residual.append(lin.residual)
        window = known or Window(Rows.joined(found), (self.start.at, self.end.at), self.h, self.owner)
        wrong = np.hstack((np.concatenate(apart), self.path - np.concatenate(outputs)))
        forces = np.concatenate(residual)
        forces -= self._rest
        if self._share is not None:
            forces += self._share
        return window, np.einsum("snm,sm->sn", window.at.P, wrong), forces

    def _rows(self, lin: Instants, Y: np.ndarray) -> Rows:
        at, bad = project(*lin.dense(), self.efforts.at(lin), Y[:, :, lin.dofs])
        if not bad.size and at.T.shape[1:] != self.start.at.T.shape:
            bad = np.zeros(1, int)
        if bad.size:
            raise ModelError(
                f"at {lin.times[bad[0]] - self.path_start:.4g} {unit_of('s')} of the path the efforts have no "
                "influence on one of the outputs",
                owner=self.owner, key="outputs",
                remedy="stay away from places where the mechanism is stretched or jams",
            )  # fmt: skip
        return Rows.of(at)


def state_at(model: CompiledModel, state: S.State) -> S.State:
    """Return a state at rest with the places of another, for a run of its own."""
    system = model.system
    new = system.initial_state()
    new.Q[:], new.D[:] = state.Q[0], state.D[0]
    new.Q[:, system.first_multiplier : -1] = state.U[system.first_multiplier : -1]
    return new
