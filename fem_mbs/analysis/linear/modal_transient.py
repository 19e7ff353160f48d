"""Linear transients by modes, each integrated exactly under loads that are linear between the times of the steps.

With u = T (Phi y) + S s(t), where S are the static displacements per unit of what moves as prescribed and Phi the
lowest modes, of unit modal mass, with all constraints eliminated,

    y'' + Cm y' + W^2 y = Phi^T T^T (f(t) - M S s'' - D S s'),     Cm = Phi^T T^T D T Phi + 2 Z W + alpha + beta W^2

is solved by the exponential of its matrix, augmented by the load and its rate (Van Loan 1978,
doi:10.1109/TAC.1978.1101743).  Steps are divided at the kinks of time functions.  Where the rates of what is prescribed
jump, so do those of the modes, by the impulse of the inertia forces.

Theory: docs/theory.md, section 8, "Linear transients".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.linear.transient import LinearTransient
from fem_mbs.analysis.start.initial import function_jets
from fem_mbs.analysis.transient.rules import Weights
from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.eigen.modes import real_modes
from fem_mbs.solvers.linear.libraries import LinearSolveError, one_blas_thread
from fem_mbs.solvers.linear.service import factor

__all__ = ["ModalTransient"]

#: Squares of natural frequencies over the largest, below which a mode is a free motion; entries of the damping between
#: modes over the largest, below which modes are independent; kinks nearer to a step's end than this part of it.
_FREE, _COUPLED, _NEAR = 1e-12, 1e-12, 1e-9


class ModalTransient(LinearTransient):
    """One transient in the span of the ``options.modes`` lowest modes; else as `LinearTransient`.

    Attributes:
        frequencies: of the modes [rad/s], (m,).

    Raises:
        AnalysisError: nothing has a mass, or the state is unstable.
    """

    def __init__(
        self, linear: Linearised, options: Any, weights: Weights, name: str, h: float,
        velocity: np.ndarray, start: np.ndarray | None, kept: np.ndarray | None = None,
    ):  # fmt: skip
        self.count, self._ratios = options.modes, np.atleast_1d(np.asarray(options.damping or [0.0], float))
        self._rayleigh = options.rayleigh or (0.0, 0.0)
        super().__init__(linear, options, weights, name, h, velocity, start, kept)
        if linear.unsymmetric:
            self.warnings = [
                f"the stiffness is unsymmetric by {linear.asymmetry:.2g} of its largest entry; modes are of its "
                "symmetric part, a step without modes takes it whole"
            ]

    def _prepare(self) -> None:
        found = self.linear.elimination
        K, M = (found.reduce(A) for A in (self.K, self.M))
        K, M = 0.5 * (K + K.T), 0.5 * (M + M.T)
        modes = real_modes(K, M, min(self.count, K.shape[0]))
        values = modes.values.copy()
        values[np.abs(values) < _FREE * np.abs(values).max(initial=0.0)] = 0.0
        if (values < 0.0).any():
            raise AnalysisError(
                f"{self.owner}: the state is unstable: a square of a natural frequency is negative; lower the loads"
            )
        self.frequencies = w = np.sqrt(values)
        self.shapes = self.T @ modes.vectors
        self._static = self._statics(K)
        ratios = self._ratios[np.minimum(np.arange(w.size), self._ratios.size - 1)]
        alpha, beta = self._rayleigh
        #: Forces of ratios and Rayleigh damping per unit rate of the modes: as their elastic and their inertia forces.
        stiff = np.divide(2.0 * ratios, w, out=np.zeros(w.size), where=w > 0.0) + beta
        self._pull = self.K @ (self.shapes * stiff) + alpha * (self.M @ self.shapes)
        C = self.shapes.T @ (self.D @ self.shapes) + np.diag(2.0 * ratios * w + alpha + beta * values)
        off = np.abs(C - np.diag(np.diag(C))).max(initial=0.0)
        #: Independent modes are groups of one, else all are one group.
        self._group = 1 if off <= _COUPLED * np.abs(C).max(initial=0.0) else w.size
        self._C = C
        self._kept: dict[float, np.ndarray] = {}
        self._push = [self.shapes.T @ (A @ self._static) for A in (self.D, self.M)]

    def _statics(self, K: Any) -> np.ndarray:
        """Return static displacements (first, k + 1) per unit of prescribed functions, and those with all at zero."""
        ways = np.column_stack((self.ways, self.rest))
        right = self.T.T @ (self.K @ ways)
        if not right.any():
            return ways
        try:
            return ways - self.T @ factor(K, kind="positive").solve(np.ascontiguousarray(right)).reshape(right.shape)
        except LinearSolveError as error:
            raise AnalysisError(
                f"{self.owner}: what is prescribed leaves the model free to move, so that it has no static "
                f"displacements; take a step without modes: {error}"
            ) from None

    def _moved(self, t: float) -> np.ndarray:
        """Return values, rates and second derivatives (3, k + 1) of what is prescribed, at last of the rest."""
        jets = function_jets(self.linear.compiled, t)[self.functions].T
        return np.column_stack((jets[:3], (1.0, 0.0, 0.0)))

    def _modal_force(self, f: np.ndarray, s: np.ndarray) -> np.ndarray:
        damping, mass = self._push
        return self.shapes.T @ (f - self.K @ (self._static @ s[0])) - damping @ s[1] - mass @ s[2]

    def _begin(self, t0: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        after = float(np.nextafter(t0, np.inf))
        s = self._moved(after)
        self._jump(t0, *self._prescribed(after)[:2])
        free = self.linear.elimination.free
        mass = self.linear.elimination.reduce(self.M)
        shapes = self.shapes[free]
        x, v = ((a[free] - self._static[free] @ b) for a, b in ((self.u, s[0]), (self.v, s[1])))
        self.y, self.rate = shapes.T @ (mass @ x), shapes.T @ (mass @ v)
        self._time, self._last = t0, s
        f = self._force(after)
        return self._whole(s, self._modal_force(f, s)), f, self._prescribed(after)[0]

    def _whole(self, s: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Set displacements and velocities of all dofs under the modal loads p; return accelerations."""
        second = p - self._C @ self.rate - self.frequencies**2 * self.y
        self.u = self._static @ s[0] + self.shapes @ self.y
        self.v = self._static @ s[1] + self.shapes @ self.rate
        return self._static @ s[2] + self.shapes @ second

    def _advance(self, t: float, a0: np.ndarray, r0: np.ndarray, f: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        near = _NEAR * (t - self._time)
        ends = self._time - 2.0 * near, t + near
        functions: list[Any] = self.linear.compiled.functions
        kinks = np.unique(np.concatenate([np.zeros(0), *(f.kinks_between(*ends) for f in functions)]))

        def beside(at: float, way: float) -> float:
            """Return a time just after (way inf) or before (-inf) a time and the kinks that rounding sets beside it."""
            close = [at, *kinks[np.abs(kinks - at) <= near]]
            return float(np.nextafter(max(close) if way > 0.0 else min(close), way))

        inner = kinks[(kinks > self._time + near) & (kinks < t - near)]
        p, s = np.zeros(0), self._last
        for b in (*inner.tolist(), t):
            after = beside(self._time, np.inf)
            begun = self._moved(after)
            self.y = self.y - self._push[1] @ (begun[0] - self._last[0])
            self.rate = self.rate - self._push[1] @ (begun[1] - self._last[1])
            s = self._moved(beside(b, -np.inf))
            p = self._modal_force(f if b == t else self._force(b), s)
            self._step(b - self._time, self._modal_force(self._force(after), begun), p)
            self._time, self._last = b, s
        return self._whole(s, p)

    def _damping(self) -> np.ndarray:
        return np.asarray(self._pull @ self.rate)

    def _step(self, h: float, p0: np.ndarray, p1: np.ndarray) -> None:
        """Solve the modal equations over h [s] with loads linear from p0 to p1 (m,)."""
        n, g = self.frequencies.size, self._group
        if not n:
            return
        key = round(h / self.h, 9)
        if key not in self._kept:
            self._kept[key] = self._exponential(h)
        size = np.maximum(self.frequencies, 1.0 / h)
        state = np.stack((size * self.y, self.rate, h * p0, h * (p1 - p0)))  # (4, n)
        state = state.reshape(4, n // g, g).transpose(1, 0, 2).reshape(n // g, 4 * g)
        out = np.einsum("kij,kj->ki", self._kept[key], state).reshape(n // g, 4, g).transpose(1, 0, 2).reshape(4, n)
        self.y, self.rate = out[0] / size, out[1]

    def _exponential(self, h: float) -> np.ndarray:
        """Return the matrices (groups, 4 g, 4 g) of h, of the states size y, y', h p and h times its change."""
        n, g = self.frequencies.size, self._group
        size = np.maximum(self.frequencies, 1.0 / h)
        A = np.zeros((n // g, 4, g, 4, g))
        groups = np.arange(n).reshape(-1, g)
        at = np.arange(g)
        A[:, 0, at, 1, at] = h * size[groups]
        A[:, 1, at, 0, at] = -h * (self.frequencies**2 / size)[groups]
        A[:, 1, :, 1, :] = -h * self._C[groups[:, :, None], groups[:, None, :]]
        A[:, 1, at, 2, at] = 1.0
        A[:, 2, at, 3, at] = 1.0
        with one_blas_thread():
            return np.asarray(scipy.linalg.expm(A.reshape(n // g, 4 * g, 4 * g)))

    @property
    def n_equations(self) -> int:
        """Number of modes."""
        return self.frequencies.size
