"""Forces from users' Python functions: evaluated at every iterate, passed to the compiled elements as a linear law.

The job SAMPLE of the elements (`fem_mbs.elements.actuators.user`) returns the arguments of the functions..  The forces
and their derivatives, from the user's tangent or from central differences, go into the history of the elements.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass, late_module
from fem_mbs.solvers.stepping.layout import State
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from fem_mbs.elements.actuators import user, user_point_states, user_states
else:
    user = late_module("fem_mbs.elements.actuators.user")
    user_point_states = late_module("fem_mbs.elements.actuators.user_point_states")
    user_states = late_module("fem_mbs.elements.actuators.user_states")

__all__ = ["Callback", "serve"]

_STEP = 6e-6  # of central differences: the cube root of the round-off


@dataclass(frozen=True)
class Callback:
    """A user's function and its tangent; ``dimension`` 0: on a coordinate, else on points of space; ``states``: number
    of state variables, whose rates the function returns too, and ``sizes`` of their values."""

    owner: str
    function: Callable
    tangent: Callable | None
    dimension: int
    states: int = 0
    sizes: tuple[float, ...] = ()

    def fingerprint(self) -> bytes:
        """Return a digest of code, constants, defaults and closure values of the function and its tangent.

        It does not cover objects, global variables and other data that the functions read.
        """
        text = [self.owner]
        for f in (self.function, self.tangent):
            code = getattr(f, "__code__", None)
            text += [getattr(f, "__qualname__", type(f).__name__), _plain(getattr(f, "__defaults__", None) or ())]
            if code is not None:
                text += [code.co_code.hex(), _plain(code.co_consts), repr(code.co_names)]
                text += [_plain([c.cell_contents for c in getattr(f, "__closure__", None) or ()])]
        return hashlib.sha256("\n".join(text).encode()).digest()

    def _ask(
        self, what: str, function: Callable, q, v, t: float, shapes: list[tuple[int, ...]], x: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """Call a function of the user, with its state variables x if it has any; refuse results that are not finite
        numbers of the given shapes."""
        place = f"at t = {t:.6g} {unit_of('s')}"
        if not self.dimension:
            place += f", coordinate {float(q[0]):.6g}, rate {float(v[0]):.6g}"
        if x is not None:
            place += f", states {np.array2string(x, precision=6)}" if not self.dimension else ""
        try:
            # copies: the function may change its arguments
            arguments = (q.copy(), v.copy()) if self.dimension else (float(q[0]), float(v[0]))
            answer = function(*arguments, t) if x is None else function(*arguments, t, x.copy())
        except Exception as error:
            raise ModelError(
                f"its {what} failed {place}: {type(error).__name__}: {error}",
                owner=self.owner,
                remedy=f"mend the {what}",
            ) from error
        answers = (answer,) if len(shapes) == 1 else answer
        try:
            values = [np.array(a, float) for a in answers]
            good = (
                answer is not None
                and len(values) == len(shapes)
                and all(a.shape == s for a, s in zip(values, shapes, strict=True))
            )
        except (TypeError, ValueError):
            good, values = False, []
        if not good:
            wanted = " and ".join(f"an array {s}" if s else "a number" for s in shapes)
            raise ModelError(
                f"its {what} returned {_short(answer)} {place}", owner=self.owner, remedy=f"it must return {wanted}"
            )
        if not all(np.isfinite(a).all() for a in values):
            raise ModelError(
                f"its {what} returned {_short(answer)} {place}", owner=self.owner, remedy="it must be finite everywhere"
            )
        return values

    def force(self, q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        """Return force (1,) at coordinate and rate (1,), or (n, dim) at positions and velocities (n, dim)."""
        shape = q.shape if self.dimension else ()
        return self._ask("function", self.function, q, v, t, [shape])[0].reshape(q.shape)

    def force_and_rates(self, q: np.ndarray, v: np.ndarray, t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return forces (n, d) and rates (n, m) of the state variables at coordinates or positions (n, d), their rates,
        and state variables x (n, m); d and n are 1 on a coordinate."""
        m, points = self.states, self.dimension > 0
        shapes: list[tuple[int, ...]] = [q.shape, (len(q), m)] if points else [(), (m,)]
        force, rates = self._ask("function", self.function, *self._plainly(q, v), t, shapes, self._own(x))
        return force.reshape(q.shape), rates.reshape(len(q), m)

    def _plainly(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (q, v) if self.dimension else (q.ravel(), v.ravel())

    def _own(self, x: np.ndarray) -> np.ndarray:
        return x if self.dimension else x.ravel()

    def all_slopes(self, q: np.ndarray, v: np.ndarray, t: float, x: np.ndarray) -> list[np.ndarray]:
        """Return derivatives of the forces by q (n, d, d), v (n, d, d) and x (n, d, m), and of the rates by q
        (n, m, d), v (n, m, d) and x (n, m, m)."""
        n, d, m = len(q), q.shape[1], self.states
        shapes: list[tuple[int, ...]] = [(n, a, b) for a in (d, m) for b in (d, d, m)]
        if self.tangent is not None:
            single: list[tuple[int, ...]] = [(), (), (m,), (m,), (m,), (m, m)]
            wanted = shapes if self.dimension else single
            found = self._ask("tangent", self.tangent, *self._plainly(q, v), t, wanted, self._own(x))
            return [a.reshape(shape) for a, shape in zip(found, shapes, strict=True)]
        given, out = (q, v, x), [np.empty(shape) for shape in shapes]
        least = (np.ones(d), np.ones(d), np.array(self.sizes))
        for k, at in enumerate(given):
            for j in range(at.shape[1]):
                ends = []
                for sign in (1.0, -1.0):
                    moved = [a.copy() for a in given]
                    moved[k][:, j] += sign * _STEP * np.maximum(least[k][j], np.abs(at[:, j]))
                    ends.append((moved[k][:, j], *self.force_and_rates(moved[0], moved[1], t, moved[2])))
                way = (ends[0][0] - ends[1][0])[:, None]
                out[k][:, :, j] = (ends[0][1] - ends[1][1]) / way
                out[3 + k][:, :, j] = (ends[0][2] - ends[1][2]) / way
        return out

    def slopes(self, q: np.ndarray, v: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Return derivatives (1, 1, 1), or (n, dim, dim), of the force by coordinate or position, and by rate."""
        d = max(self.dimension, 1)
        shape = (len(q), d, d)
        if self.tangent is not None:
            wanted = shape if self.dimension else ()
            one, two = self._ask("tangent", self.tangent, q, v, t, [wanted, wanted])
            return one.reshape(shape), two.reshape(shape)
        q, v = q.reshape(-1, d), v.reshape(-1, d)
        by_q, by_v = np.empty(shape), np.empty(shape)
        for j in range(d):
            for x, out in ((q, by_q), (v, by_v)):
                step = np.zeros_like(x)
                step[:, j] = _STEP * np.maximum(1.0, np.abs(x[:, j]))
                plus, minus = ((q + k * step, v) if x is q else (q, v + k * step) for k in (1.0, -1.0))
                later, earlier = (
                    self.force(*((a, b) if self.dimension else (a.ravel(), b.ravel())), t) for a, b in (plus, minus)
                )
                change = later - earlier
                out[:, :, j] = change.reshape(-1, d) / (2.0 * step[:, j, None])
        return by_q, by_v


def _plain(values) -> str:
    """Return the text of the numbers, strings and arrays among the values; texts of other objects are addresses."""
    kinds = (bool, int, float, complex, str, np.ndarray, np.generic)
    return repr([v.tolist() if isinstance(v, np.ndarray) else v for v in values if isinstance(v, kinds)])


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:56] + " ..."


def serve(
    block: Any,
    hist: np.ndarray,
    callbacks: list[Callback],
    ctl: np.ndarray,
    fun: np.ndarray,
    state: State,
    slopes: bool = True,
) -> None:
    """Evaluate the functions of a block of users' forces at the present iterate; write the forces to ``hist``.

    ``hist`` has the shape (n, n_hist).  Without ``slopes`` its derivatives stay unchanged.

    Raises:
        ModelError: a function failed or returned no finite force; the message names it.
    """
    points = block.type.ends == 1
    dim, n = block.type.dimension, block.size
    d = dim if points else 1
    m = block.type.scalars
    sample = np.zeros((n, 2 * d + m + 1))
    C.runner(block.type.report, n * block.type.local_dofs**2)(
        C.SAMPLE, 0, n, ctl, block.par, block.dof, block.rot, hist, fun,
        state.Q, state.D, state.V, state.DD, state.U, sample, np.zeros((0, 0, 0)),
    )  # fmt: skip
    if not np.isfinite(sample).all():
        return  # a diverged iterate: Newton-Raphson finds its residual not finite
    which = block.par[:, block.type.column("callback")].astype(int)
    q, v = sample[:, :d], sample[:, d : 2 * d]
    if m:
        for i in np.unique(which):
            rows = np.flatnonzero(which == i)
            own = hist[rows]
            t, x = float(sample[rows[0], -1]), sample[rows, 2 * d : -1]
            _serve_states(callbacks[i], own, q[rows], v[rows], t, x, slopes)
            hist[rows] = own
        return
    if not points:
        for e in range(n):
            callback, t = callbacks[which[e]], float(sample[e, 2])
            at = hist[e, user.FORCE_AT :]
            at[0], at[1], at[2] = callback.force(q[e], v[e], t)[0], q[e, 0], v[e, 0]
            if slopes:
                at[3], at[4] = (float(a.ravel()[0]) for a in callback.slopes(q[e], v[e], t))
        return
    for i in np.unique(which):
        rows = np.flatnonzero(which == i)
        t = float(sample[rows[0], 2 * d])
        hist[rows, :d] = callbacks[i].force(q[rows], v[rows], t)
        hist[rows, d : 2 * d], hist[rows, 2 * d : 3 * d] = q[rows], v[rows]
        if slopes:
            by_q, by_v = callbacks[i].slopes(q[rows], v[rows], t)
            hist[rows, 3 * d : 3 * d + d * d] = by_q.reshape(len(rows), -1)
            hist[rows, 3 * d + d * d :] = by_v.reshape(len(rows), -1)


def _serve_states(
    callback: Callback, hist: np.ndarray, q: np.ndarray, v: np.ndarray, t: float, x: np.ndarray, slopes: bool
) -> None:
    """Write the laws of forces with state variables to their histories (n, n_hist), in the orders of
    `fem_mbs.elements.actuators.user_point_states` and `fem_mbs.elements.actuators.user_states`."""
    force, rates = callback.force_and_rates(q, v, t, x)
    by = callback.all_slopes(q, v, t, x) if slopes else [None] * 6
    if callback.dimension:
        parts = [force, q, v, x, *by[:3], rates, *by[3:]]
        sizes = [int(np.prod(s)) for s in user_point_states.law_arrays(q.shape[1], callback.states)]
        at = 0
    else:
        m = callback.states
        parts = [force, q, v, by[0], by[1], x, by[2], rates, *by[3:]]
        sizes = [1, 1, 1, 1, 1, m, m, m, m, m, m * m]
        at = user_states.FORCE_AT
    for part, size in zip(parts, sizes, strict=True):
        if part is not None:
            hist[:, at : at + size] = part.reshape(len(hist), size)
        at += size
