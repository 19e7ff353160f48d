"""The rotations of parts of solid or plane elements, by which factors of their matrices are taken along.

Only the way to the solution depends on them: Newton-Raphson ends where the residual says.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.solvers.linear.frames import NodeFrames
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled

__all__ = ["PartFrames"]

#: Second singular value of a part's places over the first one, below which it is a line, which has no rotation about
#: itself.
_LINE = 1e-6


class PartFrames:
    """Best-fit rotations of the parts since their places in the model (Kabsch 1976, doi:10.1107/S0567739476001873)."""

    def __init__(self, compiled: Compiled):
        assert compiled.pattern is not None
        system, self._dim = compiled.system, compiled.dimension
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []
        equations, part = [], []
        for begin, end in zip(system.part[:-1], system.part[1:], strict=True):
            dofs = system.part_dofs[begin:end].astype(np.int64)[:, None] + np.arange(self._dim)
            x = compiled.nodes.x[np.searchsorted(compiled.offset, dofs[:, 0]), : self._dim]
            arms = x - x.mean(axis=0)
            sizes = np.linalg.svd(arms.T @ arms, compute_uv=False)
            if not sizes[1] > _LINE**2 * sizes[0]:
                continue
            equations.append(system.equation[dofs])
            part.append(np.full(len(dofs), len(self._parts)))
            self._parts.append((dofs, arms))
        self._none = np.zeros((0, self._dim, self._dim))
        self.nodes = NodeFrames(
            np.concatenate([np.zeros((0, self._dim), np.int64), *equations]),
            np.concatenate([np.zeros(0, np.int64), *part]),
            *compiled.pattern,
        )

    def at(self, state: S.State, two_state: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the rotations (p, d, d) in the middle and at the end of a step; of one-state rules both at the end."""
        if not self._parts:
            return self._none, self._none
        last = np.array([self._fit(dofs, arms, state.Q[1]) for dofs, arms in self._parts])
        if not two_state:
            return last, last
        before = np.array([self._fit(dofs, arms, state.Q[0]) for dofs, arms in self._parts])
        return np.array([_rotation(m) for m in before + last]), last

    @staticmethod
    def _fit(dofs: np.ndarray, arms: np.ndarray, Q: np.ndarray) -> np.ndarray:
        return _rotation(Q[dofs].T @ arms)  # (the arms sum to zero, so the mean of the places has no part in it)


def _rotation(H: np.ndarray) -> np.ndarray:
    """Return the rotation R (d, d) with the largest trace of R^T H."""
    if not np.isfinite(H).all():
        return np.eye(len(H))
    u, _, v = np.linalg.svd(H)
    u[:, -1] *= np.linalg.det(u) * np.linalg.det(v)
    return np.asarray(u @ v)
