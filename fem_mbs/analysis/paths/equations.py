"""The equations of motion of all steps of a window at once, and their solution by Newton's method.

The unknowns are the states q[n] at the ends of steps.  Velocities and accelerations follow from them by compact
differences (`motions.rates`), and at every step the nonlinear equations of motion hold with the outputs on the path.
Newton's method solves one banded system of all steps (`window`) per iteration; its boundary conditions are those of
stable inversion (Devasia, Chen & Paden 1996): what decays begins at rest, what grows ends at rest, and what does
neither counts as decaying.  It converges quadratically, with or without damping.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.analysis.context import RunContext
from fem_mbs.analysis.paths.equilibria import Equilibrium, Follower
from fem_mbs.analysis.paths.instants import Instant
from fem_mbs.analysis.paths.motions import Motion, rates
from fem_mbs.analysis.paths.places import Efforts, Outputs
from fem_mbs.analysis.paths.window import Window
from fem_mbs.analysis.paths.zeros import WEIGHT, Projected, project
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.states import moved

__all__ = ["TAIL", "Equations", "averaged", "state_at"]

#: Steps that are solved beyond the window and not used: in the last ones differences are one-sided.
TAIL = 16
#: Changes over the model's length [rad] of which matrices take no notice: a bar that is taken for turned by d resists
#: rotations with EA d^2/L.
_SAME = 1e-4
_ITERATIONS = 25
_CONVERGED = 1e-10  # change in an iteration over the size of the path
_SMALL = 1e-6  # the same, below which an iteration that stands still has reached round-off
_ROUND_OFF = 1e-12  # change that counts as none [rad], or over the model's length
_LARGEST = 0.5  # the same: more is divided
_WORSE = 4.0  # change over the one before at which the iteration is given up
_QUICK = 0.1  # change over the one before with which the matrices are kept


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
        self.size = np.where(compiled.system.system.kind == S.POSITION, compiled.system.length, 1.0)

    def solve(self, motion: Motion, u: np.ndarray) -> tuple[Motion, np.ndarray, Window] | None:
        """Return the motion with the outputs on the path, the efforts (n + 1, p) at the ends of steps, and the linear
        equations about it; None where Newton's method finds none.

        Args:
            motion, u: from which it begins.
        """
        window, change, last = None, np.inf, np.inf
        length = max(self.compiled.system.length, 1e-300)
        moves = min(1.0, float((np.ptp(self.path, axis=0) / length).max()))
        for number in range(_ITERATIONS):
            try:
                window, wanted, residual = self._about(motion, u, None if change > _QUICK * last else window)
                more = np.array([a.U @ r for a, r in zip(window.at, residual, strict=True)])
                stalls = change <= _SMALL * moves and change > 0.5 * last
                if stalls or change <= max(_CONVERGED * moves, _ROUND_OFF):
                    return motion, u + more, window
                # efforts leave no force along them at any step
                residual -= np.array([a.B @ d for a, d in zip(window.at, more, strict=True)])
                x, _ = window.solve(wanted, averaged(residual, WEIGHT))
            except (ModelError, AnalysisError):
                if number:
                    return None  # the iteration has left the places where the path can be followed
                raise
            last, change = change, float((np.abs(self._expanded(x)) / self.size)[:-TAIL].max())
            if not change <= _WORSE * last:
                return None
            motion, u = self._moved(motion, x * min(1.0, _LARGEST / max(change, _LARGEST))), u + more
        return None

    def linear(self, motion: Motion, u: np.ndarray) -> tuple[Motion, np.ndarray, Window]:
        """Return the same of the equations linear about a motion."""
        window, wanted, residual = self._about(motion, u, None)
        x, more = window.solve(wanted, residual)
        return self._moved(motion, x), u + more, window

    def window(self, motion: Motion, u: np.ndarray) -> Window:
        """Return the linear equations of the window about a motion."""
        return self._about(motion, u, None)[0]

    def coordinates(self, motion: Motion, u: np.ndarray) -> np.ndarray:
        """Return the coordinates (n + 1, p) of the joints along a motion."""
        self.efforts.put(self.compiled, self.times, u)
        state = state_at(self.compiled, self.start.state)
        instants = (self._instant(motion, n, state) for n in range(len(self.times)))
        return np.array([self.efforts.coordinates(lin.tangent) for lin in instants])

    def _expanded(self, x: np.ndarray) -> np.ndarray:
        """Return increments (n + 1, N) of all dofs from those of the unknowns (n + 1, n)."""
        system = self.compiled.system
        out = np.zeros((len(x), system.n_dof))
        out[:, np.flatnonzero(system.system.equation[: system.first_multiplier] >= 0)] = x
        return out

    def _moved(self, motion: Motion, x: np.ndarray) -> Motion:
        """Return the motion displaced by increments (n + 1, n), with what motions move in its place."""
        system, state = self.compiled.system, state_at(self.compiled, self.start.state)
        Q, D = motion.Q.copy(), motion.D.copy()
        for n, step in enumerate(self._expanded(x)):
            motion.put(n, state)
            state.V[:] = 0.0
            new = self.follower.driven(moved(system, state, step), float(self.times[n]))
            Q[n], D[n] = new.Q[0], new.D[0]
        return self.motion(Q, D)

    def motion(self, Q: np.ndarray, D: np.ndarray) -> Motion:
        """Return the motion through states, with rates by compact differences."""
        V, A = rates(self.compiled.system, Q, D, self.h, WEIGHT)
        return Motion(Q, D, V, A)

    def _instant(self, motion: Motion, n: int, state: S.State) -> Instant:
        """Return the forces and matrices of a step; ``state`` is a buffer."""
        motion.put(n, state)
        return Instant(self.compiled, state, float(self.times[n]), self.context.loading, motion.A[n])

    def _about(self, motion: Motion, u: np.ndarray, known: Window | None) -> tuple[Window, np.ndarray, np.ndarray]:
        """Return the linear equations about a motion, increments (n + 1, n_q) that bring outputs to the path and close
        gaps, and forces (n + 1, n_q) out of balance.

        Args:
            known: equations that serve; None: those about this motion.
        """
        self.efforts.put(self.compiled, self.times, u)
        state = state_at(self.compiled, self.start.state)
        wanted, residual = (np.zeros((len(self.times), len(self.start.at.M))) for _ in range(2))
        found: list[Projected] = []
        last = -1
        for n in range(len(self.times)):
            lin = self._instant(motion, n, state)
            y, Y = self.outputs.at(lin, self.owner)
            if known is not None:
                at = known.at[n]
            elif last >= 0 and self._near(motion, n, last):
                at = found[-1]
            else:
                at, last = self._projected(lin, Y, n), n
            found.append(at)
            wanted[n] = at.P @ np.concatenate((-lin.gaps, self.path[n] - y))
            residual[n] = lin.residual
        return known or Window(found, (self.start.at, self.end.at), self.h, self.owner), wanted, residual

    def _projected(self, lin: Instant, Y: np.ndarray, n: int) -> Projected:
        at = project(*lin.dense(), self.efforts.at(lin), Y[:, lin.dofs])
        if at is None or at.T.shape != self.start.at.T.shape:
            raise ModelError(
                f"at {self.times[n] - self.path_start:.4g} s of the path the efforts have no influence on one of the "
                "outputs",
                owner=self.owner, key="outputs",
                remedy="stay away from places where the mechanism is stretched or jams",
            )  # fmt: skip
        return at

    def _near(self, motion: Motion, n: int, last: int) -> bool:
        """Return whether the matrices of one step serve another, since next to nothing has moved in between."""
        system = self.compiled.system
        size = np.where(system.system.kind == S.POSITION, system.length, 1.0)
        first, duration = system.first_multiplier, self.duration
        there = np.abs(motion.D[n] - motion.D[last]).max(initial=0.0) <= _SAME
        for a, unit in ((motion.Q, 1.0), (motion.V, 1.0 / duration), (motion.A, 1.0 / duration**2)):
            there = there and (np.abs(a[n] - a[last])[:first] <= _SAME * unit * size[:first]).all()
        return bool(there)


def averaged(a: np.ndarray, w: float) -> np.ndarray:
    """Return w a[n-1] + (1 - 2 w) a[n] + w a[n+1] (n + 1, ...), where a stays as it is before and after the window."""
    wide = np.concatenate((a[:1], a, a[-1:]))
    return a + w * (wide[2:] - 2.0 * a + wide[:-2])


def state_at(model: CompiledModel, state: S.State) -> S.State:
    """Return a state at rest with the places of another, for a run of its own."""
    system = model.system
    new = system.initial_state()
    new.Q[:], new.D[:] = state.Q[0], state.D[0]
    new.Q[:, system.first_multiplier : -1] = state.U[system.first_multiplier : -1]
    return new
