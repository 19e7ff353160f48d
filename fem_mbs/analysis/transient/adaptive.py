"""Adapt the step length to the local error; results stay on an even grid of times.

Every step is made once as a whole and once in two halves.  A third of the difference of the two results estimates the
local error, which is of third order (also that of the decaying rule, whose velocities are less accurate).  The halves
are kept if it is within the tolerance.  So the results consist of plain steps of the rule, with its conservation laws
and a ledger that closes.  The next length comes from a PI controller (Gustafsson, Lundh & Soederlind 1988,
doi:10.1007/BF01934091):

    h_new = h 0.9 (tol/err)^(0.7/3) (err_last/tol)^(0.4/3),   between h/5 and 5 h.

Steps end at the kinks of the time functions, at restart points and at the end.  Rows in between are interpolated:
positions by cubic Hermite polynomials with the velocities of both ends, rotations by one on the Cayley vector of the
step (in body axes u' = (I + u~/2 + u u^T/4) W), joint coordinates by parabolas, energies and works linearly.
Quantities of the middle of steps alternate from one step to the next about the true value; the mean of two equal halves
does not, whatever the steps before were.  It belongs to the middle of both, and rows are interpolated linearly between
these.

Theory: docs/theory.md, section 6, "Adaptive steps".
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from fem_mbs.analysis.transient.chunk import WORKS, Chunk
from fem_mbs.analysis.transient.rules import RULES
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.errors import ConvergenceError
from fem_mbs.solvers.stepping import layout as S

__all__ = ["AdaptiveStepping", "sample"]

_ORDER, _POWER = 2, 1.0 / 3.0
_SAFETY, _LEAST, _MOST = 0.9, 0.2, 5.0
_LARGEST = 0.1  # of the duration: a step must not jump over what it cannot see
_SMALLEST = 2.0**-40  # of the first step
_FLUSH_SECONDS = 0.2


def sample(system: S.System, x: float, h: float, start: Any, end: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions (N,), velocities (N,) and directors (nr, ...) at the fraction x of a step of length h [s].

    ``start`` and ``end`` hold Q (N,), V (N,) and D (nr, 2 or 9) of its ends.
    """
    Q0, V0, D0 = start
    Q1, V1, D1 = end
    Q, V, D = Q0 + x * (Q1 - Q0), V0 + x * (V1 - V0), D0.copy()
    plane = system.rotations.shape[1] == 1
    k = np.concatenate((system.positions, system.rotations[:, 0])) if plane else system.positions
    Q[k], V[k] = _hermite(x, h, Q0[k], V0[k], Q1[k], V1[k])
    n = len(system.rotations)
    if plane and n:
        angle = Q[system.rotations[:, 0]] - Q0[system.rotations[:, 0]]
        c, s = np.cos(angle), np.sin(angle)
        a, b = D0[:n, 0], D0[:n, 1]
        D[:n] = np.column_stack((c * a - s * b, s * a + c * b))
    elif n:
        R0, R1 = D0[:n].reshape(-1, 3, 3), D1[:n].reshape(-1, 3, 3)
        C = np.swapaxes(R0, 1, 2) @ R1
        # C = cay(u1) has 1 + tr C = 4/(1 + |u1|^2/4) and the skew part u1~/(1 + |u1|^2/4)
        trace = np.trace(C, axis1=1, axis2=2)[:, None]
        skew = np.column_stack((C[:, 2, 1] - C[:, 1, 2], C[:, 0, 2] - C[:, 2, 0], C[:, 1, 0] - C[:, 0, 1]))
        u1 = 2.0 * skew / (1.0 + trace)
        W0, W1 = V0[system.rotations], V1[system.rotations]
        rate1 = W1 + 0.5 * np.cross(u1, W1) + 0.25 * u1 * np.sum(u1 * W1, axis=1, keepdims=True)
        u, rate = _hermite(x, h, np.zeros_like(u1), W0, u1, rate1)
        f = 1.0 / (1.0 + 0.25 * np.sum(u * u, axis=1, keepdims=True))
        V[system.rotations] = f * (rate - 0.5 * np.cross(u, rate))
        turned = R0 + f[:, :, None] * (_cross_rows(R0, u) + 0.5 * _cross_rows(_cross_rows(R0, u), u))
        D[:n] = turned.reshape(n, 9)
    return Q, V, D


def _cross_rows(R: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return R u~ (n, 3, 3): each row r of R becomes r x u."""
    return np.cross(R, u[:, None, :])


def _hermite(x: float, h: float, a, da, b, db):
    """Return value and rate at the fraction x of the cubic through a and b with the rates da and db."""
    p, m = x * x * (3.0 - 2.0 * x), x * (1.0 - x)
    value = a + p * (b - a) + h * m * ((1.0 - x) * da - x * db)
    rate = 6.0 * m * (b - a) / h + (1.0 - x) * (1.0 - 3.0 * x) * da + x * (3.0 * x - 2.0) * db
    return value, rate


class AdaptiveStepping(Stepping):
    """`Stepping` with a step control: rows every ``h``, which is also the first step, local errors of at most
    ``tolerance`` (displacements over the model's length, rotations in radians)."""

    def __init__(self, *args: Any, tolerance: float, duration: float, **options: Any):
        super().__init__(*args, **options)
        self.tolerance, self.duration = tolerance, duration
        assert RULES[self.rule].two_state
        self.t, self.size, self.last = self.t0, self.h, tolerance
        self.accepted = self.rejected = self.computed = 0
        self.smallest, self.largest = np.inf, 0.0
        self.middle: list[tuple[float, np.ndarray, np.ndarray]] = []  # times, recorded values and outputs there
        record = self.compiled.system.record
        self.coordinates = (record[:, 0] == S.REC_OUT) & self.compiled.at_end
        self.counter[S.RESTART_EVERY] = 0

    def begin(self) -> None:
        super().begin()
        self.row = self.first_row.copy()
        self.energy = self.state.energy.copy()
        record = self.compiled.system.record
        self.taken = np.zeros(len(record))
        self.taken[self.coordinates] = self.state.out[record[self.coordinates, 1]]

    def span(self) -> tuple[float, float]:
        return self.t, self.size

    # --- one step --------------------------------------------------------------------------------------------------
    def _make(self, h: float, parts: int) -> tuple[int, S.Output]:
        """Make ``parts`` steps of total length h from the present state; return 0 or the code of the failure."""
        c = self.counter
        t = self.t + h * np.arange(parts + 1) / parts
        funs = self.evaluate(t[:-1], 0.5 * (t[:-1] + t[1:]), t[1:])
        output = self.buffers(parts, parts)
        c[S.STEP] = c[S.N_FRAMES] = c[S.STEP_OFFSET] = c[S.HISTORY] = c[S.PHASE] = c[S.SLOW] = 0
        c[S.FRAME_EVERY] = 1
        problem = self._advance(output, self.control(h / parts), funs)
        self.used += int(output.iterations.sum())
        self.computed += parts
        return problem, output

    def _error(self, Q: np.ndarray, D: np.ndarray) -> float:
        """Estimate the local error from positions and state variables after the whole step and after the halves."""
        s, system = self.state, self.compiled.system
        error = float(np.abs(Q[system.positions] - s.Q[0, system.positions]).max(initial=0.0)) / self.compiled.length
        if system.rotations.shape[1] == 1:
            k = system.rotations[:, 0]
            error = max(error, float(np.abs(Q[k] - s.Q[0, k]).max(initial=0.0)))
        else:
            change = np.linalg.norm(D - s.D[0], axis=1) / np.sqrt(2.0)
            error = max(error, float(change.max(initial=0.0)))
        x, whole = s.Q[0, system.states], Q[system.states]
        error = max(error, float((np.abs(whole - x) / np.maximum(1.0, np.abs(x))).max(initial=0.0)))
        return error / (2**_ORDER - 1)

    def _step(self, limit: float) -> tuple[float, S.Output, Any]:
        """Return one accepted step to ``limit`` at most: its length, the rows of its halves, the state of its start."""
        state, c = self.state, self.counter
        arrays = (state.Q, state.D, state.V, state.DD, state.U, state.past, state.reaction, state.work)
        arrays += (self.compiled.system.hist, self.memory)
        before = [a.copy() for a in arrays]
        growth = _MOST
        while True:
            h = min(self.size, limit - self.t)
            if self.t + 1.1 * h >= limit:
                h = limit - self.t
            problem, _ = self._make(h, 1)
            worst = int(c[S.WORST]), float(self.real[S.WORST_VALUE])
            error = np.inf
            if not problem:
                whole = state.Q[0].copy(), state.D[0].copy()
                for a, b in zip(arrays, before, strict=True):
                    a[:] = b
                problem, output = self._make(h, 2)
                error = np.inf if problem else self._error(*whole)
            if problem == S.SINGULAR and c[S.ITERATION] == 0:
                self._fail(problem)
            if error <= self.tolerance:
                break
            for a, b in zip(arrays, before, strict=True):
                a[:] = b
            self.rejected += 1
            self.size = h * (0.25 if problem else max(_LEAST, _SAFETY * (self.tolerance / error) ** _POWER))
            growth = 1.0
            if self.size < _SMALLEST * self.h:
                if problem:
                    c[S.WORST], self.real[S.WORST_VALUE] = worst
                    self._fail(problem)
                raise ConvergenceError(
                    f"{self.place()}: the local error stays above adaptive = {self.tolerance:g} in ever shorter "
                    "steps; something jumps there, or the tolerance is too small"
                )
        ratio = self.tolerance / max(error, 1e-6 * self.tolerance)
        factor = _SAFETY * ratio ** (0.7 * _POWER) * (self.last / self.tolerance) ** (0.4 * _POWER)
        full = h >= 0.5 * self.size  # a step that was cut to land somewhere says little about the next one
        next_size = h * min(growth, max(_LEAST, factor))
        self.size = min(next_size if full else max(next_size, self.size), _LARGEST * self.duration)
        self.last = max(error, 1e-3 * self.tolerance)
        self.accepted += 1
        self.smallest, self.largest = min(self.smallest, h), max(self.largest, h)
        return h, output, (before[0][0], before[2][0], before[1][0])

    # --- rows ------------------------------------------------------------------------------------------------------
    def _fill(self, landed: bool) -> None:
        """Complete rows with the quantities of the middle of steps, once the following step is made; at once if none
        follows."""
        if len(self.middle) < 2 and not landed:
            return
        times = np.array([m[0] for m in self.middle])
        while self.waiting and (landed or self.waiting[0][0] <= times[-1]):
            t, values, out = self.waiting.pop(0)
            j = max(min(int(np.searchsorted(times, t)), len(times) - 1), 1)
            (ta, va, oa), (tb, vb, ob) = self.middle[j - 1], self.middle[min(j, len(times) - 1)]
            x = (t - ta) / (tb - ta) if tb > ta else 0.0
            own = self.middle_values
            values[own] = va[own] + x * (vb - va)[own]
            if out is not None:
                out[:] = oa + x * (ob - oa)
        del self.middle[:-2]

    def _sample(
        self, t: float, ta: float, h: float, start: Any, end: Any, rows: Any, energy: Any, half: int, record: Any
    ) -> None:
        """Add the row at the time t of the step of length h that starts at ta, one of two halves; ``record`` holds the
        recorded values at the start, the middle and the end of both."""
        x = min(max((t - ta) / h, 0.0), 1.0)
        system = self.compiled.system
        Q, V, D = sample(system, x, h, start, end)
        values = np.zeros(len(system.record))
        for source, data in ((S.REC_Q, Q), (S.REC_V, V), (S.REC_D, D.ravel())):
            chosen = system.record[:, 0] == source
            values[chosen] = data[system.record[chosen, 1]]
        chosen = system.record[:, 0] == S.REC_WORK
        values[chosen] = (record[half] + x * (record[half + 1] - record[half]))[chosen]
        chosen, y = self.coordinates, 0.5 * (half + x)
        weights = ((1.0 - y) * (1.0 - 2.0 * y), 4.0 * y * (1.0 - y), y * (2.0 * y - 1.0))
        values[chosen] = sum(w * r for w, r in zip(weights, record, strict=True))[chosen]
        self.rows["time"].append(t)
        self.rows["ledger"].append(rows[0] + x * (rows[1] - rows[0]))
        self.rows["iterations"].append(self.used)
        self.rows["residual"].append(self.real[S.WORST_VALUE])
        self.rows["record"].append(values)
        self.used = 0
        self.step += 1
        out = None
        if self.frame_every and self.step % self.frame_every == 0:
            self.frames["time"].append(t)
            for name, value in zip("QVD", (Q, V, D), strict=True):
                self.frames[name].append(value)
            out = np.empty_like(self.state.out)
            self.frames["out"].append(out)
            self.frames["energy"].append(energy[0] + x * (energy[1] - energy[0]))
        self.waiting.append((t - 0.5 * self.h, values, out))

    def _chunk_of_rows(self) -> Chunk:
        """Return the rows that are complete."""
        n = len(self.rows["time"]) - len(self.waiting)
        m = len(self.frames["time"]) - sum(out is not None for _, _, out in self.waiting)
        rows, frames = ({k: v[:i] for k, v in table.items()} for table, i in ((self.rows, n), (self.frames, m)))
        chunk = Chunk(
            time=np.array(rows["time"]),
            ledger=np.array(rows["ledger"]),
            iterations=np.array(rows["iterations"], np.int32),
            residual=np.array(rows["residual"]),
            record=np.array(rows["record"]).reshape(len(rows["time"]), -1),
            frame_time=np.array(frames["time"]),
            frames={k: np.array(v) for k, v in frames.items() if k != "time"},
        )
        for table, i in ((self.rows, n), (self.frames, m)):
            for values in table.values():
                del values[:i]
        return chunk

    def _clear(self) -> None:
        self.rows: dict[str, list] = {k: [] for k in ("time", "ledger", "iterations", "residual", "record")}
        self.frames: dict[str, list] = {k: [] for k in ("time", "Q", "V", "D", "out", "energy")}
        #: Times, recorded values and outputs (None: no frame) of rows that lack what belongs to the middle of steps.
        self.waiting: list[tuple[float, np.ndarray, np.ndarray | None]] = []

    def run(self, n_steps: int, on_chunk: Callable[[Chunk], None]) -> None:
        """Make ``n_steps`` rows and hand over the results chunk by chunk.

        Raises:
            ConvergenceError: a step failed or missed the tolerance at any length.
            AnalysisError: the system matrix is singular.
        """
        last_row = self.step + n_steps
        end = float(self.time(last_row))
        self._clear()
        self.used = 0
        flushed = perf_counter()
        while self.step < last_row:
            until = self.step - self.step % self.restart_every + self.restart_every if self.restart_every else last_row
            until = min(until, last_row)
            target = end if until == last_row else float(self.time(until))
            limit = min([target, *(k for f in self.functions for k in self._kinks(f, target)[:1])])
            h, output, start = self._step(limit)
            ta, energy = self.t, self.energy
            self.t = limit if h == limit - self.t else self.t + h
            middle = 0.5 * (output.values[0] + output.values[1]), 0.5 * (output.frame_out[0] + output.frame_out[1])
            self.middle.append((ta + 0.5 * h, *middle))
            record = self.taken, output.values[0], output.values[1]
            for i in range(2):
                final = (output.frame_Q[i], output.frame_V[i], output.frame_D[i])
                works = self.works + output.ledger[i, WORKS]
                row = self.pack(output.ledger[i : i + 1], works[None, :])[0]
                now = output.frame_energy[i]
                tb = self.t if i == 1 else ta + 0.5 * h
                while self.step < until and self.time(self.step + 1) <= tb + 1e-9 * self.h:
                    t = float(self.time(self.step + 1))
                    self._sample(t, ta, tb - ta, start, final, (self.row, row), (energy, now), i, record)
                self.works, self.row, start, energy, ta = works, row, final, now, tb
            self.taken = output.values[1].copy()
            self.energy = energy.copy()
            self.watcher.look(output.watched, np.array([self.t - 0.5 * h, self.t]), self.state.D[0])
            landed = self.step == until
            self._fill(landed)
            if landed:
                self.middle.clear()  # data that restart points do not hold
            if len(self.rows["time"]) > len(self.waiting) and (landed or perf_counter() - flushed > _FLUSH_SECONDS):
                on_chunk(self._chunk_of_rows())
                flushed = perf_counter()

    def _kinks(self, function: Any, end: float) -> np.ndarray:
        """Return the kinks ahead, without one at the present time up to round-off."""
        between = getattr(function, "kinks_between", None)
        return between(self.t + 1e-9 * self.h, end) if between else np.empty(0)

    # --- restart, summary ------------------------------------------------------------------------------------------
    def snapshot(self) -> dict[str, np.ndarray]:
        control = [
            self.t,
            self.size,
            self.last,
            self.accepted,
            self.rejected,
            self.smallest,
            self.largest,
            self.computed,
        ]
        return {
            **super().snapshot(),
            "adaptive": np.array(control),
            "row": self.row.copy(),
            "element energy": self.energy.copy(),
            "last record": self.taken.copy(),
        }

    def restore(self, data: dict[str, np.ndarray]) -> None:
        super().restore(data)
        control = list(map(float, data["adaptive"]))
        self.t, self.size, self.last = control[:3]
        self.accepted, self.rejected, self.computed = int(control[3]), int(control[4]), int(control[7])
        self.smallest, self.largest = control[5:7]
        self.row = np.array(data["row"])
        self.energy, self.taken = np.array(data["element energy"]), np.array(data["last record"])

    def report(self) -> dict[str, Any]:
        """Return the statistics of the step control for the summary."""
        return {
            "tolerance": self.tolerance,
            "accepted": self.accepted,
            "rejected": self.rejected,
            "computed": self.computed,
            "smallest_step": float(self.smallest),
            "largest_step": float(self.largest),
        }
