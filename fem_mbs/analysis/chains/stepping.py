"""Time steps of trees of rigid bodies in joint coordinates and conjugate momenta."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.chains.tree import Tree
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.solvers.chains import midpoint
from fem_mbs.solvers.chains.follow import follow
from fem_mbs.solvers.chains.layout import make_work
from fem_mbs.solvers.stepping import layout as S

__all__ = ["ChainStepping"]

#: Second angle [rad] of three turns beyond which the coordinates begin anew: near a right angle they are singular.
_BENT = 0.7


class ChainStepping(Stepping):
    """Steps of a tree by `fem_mbs.solvers.chains.midpoint`; every one is entered in the model's state.

    The coordinates begin at zero in the state that the steps start from, at restart points, after a step that has
    failed, and where the second of three turns comes near a right angle.
    """

    def __init__(self, *arguments: Any, tree: Tree, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.tree = tree
        n = len(tree.segments)
        self._work = make_work(n)
        self._vectors, self._matrices = np.zeros((8, n)), np.zeros((4, n, n))
        self._middle = np.array([segment.middle for segment in tree.segments], bool)
        self._fresh = False

    def restore(self, data: dict[str, np.ndarray]) -> None:
        super().restore(data)
        self._fresh = False

    def _back(self, copies: list[np.ndarray]) -> None:
        super()._back(copies)
        self._fresh = False

    def _begin_coordinates(self, fun: np.ndarray) -> None:
        """Let the coordinates begin at zero in the present state."""
        tree, state = self.tree, self.state
        for a in (state.Q, state.D, state.V, state.DD):
            a[1] = a[0]
        state.U[:] = 0.0
        stretches = [
            float(self.compiled.outputs(s.block, self.ctl, fun, state, s.element, s.element + 1, acting=False)[0, 1])
            for s in tree.springs
        ]
        self._chain, hinges = tree.chain(state, self.gravity, stretches)
        places, axes = tree.frames(state)
        velocities, spins = tree.speeds(state, axes)
        n = len(tree.segments)
        moving = [(i, body.segment) for i, body in enumerate(tree.bodies) if body.segment >= 0]
        own = np.array([i for i, _ in moving])
        segments = np.array([k for _, k in moving])
        centre = (hinges + self._chain.centre)[segments]
        of_segment = np.zeros((2, n, 3))
        of_segment[0, segments] = spins[own]
        of_segment[1, segments] = velocities[own] + np.cross(spins[own], centre - places[own])
        self._q, self._p = np.zeros(n), np.zeros(n)
        midpoint.conjugate(self._chain, self._work, self._q, of_segment[0], of_segment[1], self._p)
        dofs = np.array([*tree.dofs()], np.int64)[own]
        self._bodies = np.ascontiguousarray(np.column_stack((segments, dofs)))
        self._offsets = places[own] - centre
        self._frames = np.ascontiguousarray(axes[own].reshape(-1, 9))
        self._fresh = True

    def _advance(
        self, output: S.Output, ctl: np.ndarray, funs: np.ndarray,
        times: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    ) -> int:  # fmt: skip
        """Make the steps of ``funs``; return 0 or the code of the failure."""
        if self.restart_every and self.step % self.restart_every == 0:
            self._fresh = False
        made = 0
        while made < len(funs):
            if not self._fresh:
                self._begin_coordinates(funs[made])
            m, n = len(funs) - made, len(self._q)
            q, p, iterations = np.zeros((m + 1, n)), np.zeros((m + 1, n)), np.zeros(m, np.int64)
            q[0], p[0] = self._q, self._p
            done = midpoint.advance(
                self._chain, self._work, q, p, ctl[C.H], self.compiled.length, self._vectors, self._matrices, iterations
            )
            bent = np.flatnonzero((np.abs(q[1 : done + 1, self._middle]) > _BENT).any(axis=1))
            taken = int(bent[0]) + 1 if bent.size else done
            answer = self._enter(output, ctl, funs, q[1 : taken + 1], p[1 : taken + 1], iterations[:taken])
            if answer:
                self._fresh = False
                return answer
            self._q, self._p = q[taken].copy(), p[taken].copy()
            made += taken
            self._fresh = not bent.size
            if taken == done < m and self._fresh:
                self._fresh = False
                self.counter[S.WORST] = int(self._bodies[0, 1])
                return S.NOT_CONVERGED
        return 0

    def _enter(
        self, output: S.Output, ctl: np.ndarray, funs: np.ndarray, q: np.ndarray, p: np.ndarray, iterations: np.ndarray
    ) -> int:
        """Enter steps in the state and the buffers; return 0 or the code of the failure."""
        m, n = q.shape
        turns, vectors = np.zeros((m, n, 9)), np.zeros((3, m, n, 3))
        midpoint.states(self._chain, self._work, q, p, turns, *vectors)
        return follow(
            self.kernels, self.reports, self.compiled.system, self.state, output, ctl, funs, self.counter, self.real,
            self._bodies, self._offsets, self._frames, iterations, turns, *vectors,
        )  # fmt: skip
