"""Drive the compiled step: chunks of steps, halved steps, external sparse solvers, the running energy ledger.

Results do not depend on how the steps are cut into chunks, so that a run continued from a restart point gives the same
bits as one that was never stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs import contract as C
from fem_mbs.analysis.start.redundancy import Redundancy
from fem_mbs.analysis.transient.alternation import Alternation
from fem_mbs.analysis.transient.chunk import LEDGER_COLUMNS, WORKS, Chunk
from fem_mbs.analysis.transient.failures import failure
from fem_mbs.analysis.transient.part_frames import PartFrames
from fem_mbs.analysis.transient.rules import CHAIN, EXPLICIT, MIDPOINT, NEWMARK, RULES, Weights, weights
from fem_mbs.analysis.transient.settings import PREDICTORS, Settings
from fem_mbs.analysis.transient.watch import Watcher
from fem_mbs.errors import ModelError, Owner
from fem_mbs.solvers.linear.solver import CholmodSolver, LinearSolver, SingularMatrixError, make_solver
from fem_mbs.solvers.stepping import assembly, explicit, gauge, side_by_side, stepper
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.pairing import has_pairs, pair_up, pairs_serve, restore_pairs, snapshot_pairs
from fem_mbs.system.tangent import control
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis.sensitivity.follower import Follower

__all__ = ["Stepping"]

_ENERGIES = slice(C.KINETIC, C.POTENTIAL + 1)
#: Relative residual of the sparse solvers.  Newton-Raphson corrects what is left, but slowly where soft motions of
#: stiff parts, as the swing of a solid about a hinge, are small beside the rest: 1e-8 would be too much for them.
_LINEAR_TOLERANCE = 1e-12
#: Rotation of a node in a step [rad] beyond which a warning calls the steps long.
_LONG_TURN = 1.0
_ROUND_OFF = 8.0 * 2.0**-52  # of coordinates, over the model's size
_CHUNK_SECONDS = 0.2
#: Steps in which increments are not extrapolated after a step that converged from its velocities alone.
_BY_VELOCITY = 8
#: Kinds of rules in the compiled loop.
_LOOPS = {MIDPOINT: S.MIDPOINT, NEWMARK: S.NEWMARK, EXPLICIT: S.EXPLICIT, CHAIN: S.CHAIN}
_CHUNK_BYTES = 32e6


class Stepping:
    """One analysis in steps of ``h`` from ``t0``: holds state, counters, ledger.

    ``functions`` is the list of time functions; ``evaluate(k0, k1)`` is cut from it.  Loads, motions and everything
    else are in the compiled model.  ``follower`` differentiates every step, where a run asks for it.  Chunks end at
    every ``restart_every``-th step, if it ``pauses`` there.
    """

    def __init__(
        self,
        compiled: Compiled,
        functions: Sequence[Callable[[np.ndarray], np.ndarray]],
        state: S.State,
        gravity: np.ndarray,
        *,
        rule: str,
        t0: float,
        h: float,
        settings: Settings,
        frame_every: int = 0,
        restart_every: int = 0,
        pauses: bool = True,
    ):
        self.pairs = has_pairs(compiled)
        if state.values.size != compiled.n_values + 1:  # other pairs than at the start have other entries
            state = state._replace(values=np.zeros(compiled.n_values + 1))
        self.compiled, self.functions, self.state, self.settings = compiled, functions, state, settings
        self.rule, self.t0, self.h = rule, t0, h
        self.follower: Follower | None = None
        self.step = 0
        self.frame_every, self.restart_every, self.pauses = frame_every, restart_every, pauses
        self.gravity = np.zeros(3)
        self.gravity[: len(gravity)] = gravity
        self.counter = np.zeros(S.N_COUNTER, np.int64)
        c = self.counter
        c[S.BANDED] = compiled.banded
        c[S.KL] = c[S.KU] = compiled.bandwidth
        c[S.FULL] = settings.newton == "full"
        c[S.MAX_ITERATIONS] = settings.max_iterations
        static = rule == "static"
        self.two_state = not static and RULES[rule].two_state
        self.overshoots = not static and RULES[rule].overshoots
        self.weights = Weights() if static else weights(rule, settings)
        c[S.RULE_KIND] = S.STATIC if static else _LOOPS[RULES[rule].kind]
        self.explicit = c[S.RULE_KIND] == S.EXPLICIT
        c[S.PREDICTOR] = PREDICTORS[settings.predictor]
        c[S.RESTART_EVERY] = restart_every
        c[S.USER] = bool(compiled.callbacks) or self.pairs
        c[S.READS] = any(block.type.reads for block in compiled.blocks)
        self.real = np.zeros(S.N_REAL)
        self.real[S.RTOL], self.real[S.CTOL] = settings.rtol, settings.ctol
        self.real[[S.BETA, S.GAMMA, S.ALPHA_M, S.ALPHA_F]] = self.weights[:4]
        self.real[S.LENGTH] = compiled.length
        self.real[S.ETOL] = settings.energy_tolerance
        self.memory = self.real[S.MEMORY]
        self.solver = self._new_solver()
        self.ctl = self.control(h)
        self.works = np.zeros(3)
        self.initial_energy: float | None = None
        self.halved_steps = self.turned_steps = 0
        self.by_velocity = 0  # steps to come whose first guess is that by velocities
        self.watcher = Watcher(compiled)
        self._lengths = compiled.driven_lengths()
        self.redundancy = Redundancy(compiled)
        record = compiled.system.record
        self.middle_values = np.isin(record[:, 0], (S.REC_REACTION, S.REC_OUT)) & ~compiled.at_end
        w = self.weights
        undamped = c[S.RULE_KIND] == S.NEWMARK and w.gamma == 0.5 and w.am == w.af
        self.alternation = Alternation(compiled, self.middle_values, bool(undamped))

    def _new_solver(self) -> LinearSolver | None:
        """Return a solver for the pattern of the matrix; None: it is banded."""
        compiled = self.compiled
        self._part_frames: PartFrames | None = None
        if compiled.banded:
            return None
        indptr, indices = compiled.pattern
        kind = compiled.system.kind[compiled.system.unknown]
        prefer = self.settings.solver if self.settings.solver in ("cholmod", "superlu") else "auto"
        if prefer == "auto" and any(block.pressed for block in compiled.blocks):
            # contact gives massless nodes a little stiffness that comes and goes: LDL without pivoting loses digits
            prefer = "superlu"
        solver = make_solver(
            compiled.n_equations, indptr, indices, kind == S.MULTIPLIER, prefer=prefer, apart=kind == S.STATE
        )
        turning = self.pairs or compiled.system.part.size > 1
        if turning and self.rule != "static" and isinstance(solver, CholmodSolver) and solver.keeps:
            self._part_frames = PartFrames(compiled)
            solver.take_frames(self._part_frames.nodes)
        return solver

    def renew_pairs(self, anyway: bool = False) -> None:
        """Find the pairs of parts that may touch anew where those at hand do not serve the present iterate.

        Raises:
            AnalysisError: there are more than there is room for.
        """
        static = self.rule == "static"
        if not self.pairs or (not anyway and pairs_serve(self.compiled, self.state, static)):
            return
        pair_up(self.compiled, self.state, static)
        self._take_pattern()

    def _take_pattern(self) -> None:
        """Take the values of the matrix and a solver for the places that the present pairs have given it."""
        if not self.compiled.banded:
            self.state = self.state._replace(values=np.zeros(self.compiled.n_values + 1))
            self.solver = self._new_solver()
        self.counter[S.REFACTOR] = 1

    # --- controls --------------------------------------------------------------------------------------------------
    def control(self, h: float) -> np.ndarray:
        """Return the control values of a step of length h."""
        w = self.weights
        decay = w.decay * h  # sigma = S [(1/2 + a) e_1 + (1/2 - a) e_0] is damping by a h S de/dt
        if self.explicit:  # a tangent is the mass
            return control(mass=1.0, gravity=self.gravity, joints=2.0, h=h, decay=decay)
        if self.rule == "static":
            return control(2.0, gravity=self.gravity, h=h, decay=decay)
        factor = 0.5 * h * h
        if self.two_state:
            return control(1.0, gravity=self.gravity, h=h, factor=factor, rule=C.TWO_STATE, decay=decay)
        velocity = w.gamma / (w.beta * h)
        mass = (1.0 - w.am) / ((1.0 - w.af) * w.beta * h * h)
        return control(2.0, velocity, mass, self.gravity, h=h, factor=factor, decay=decay)

    def evaluate(
        self, t0: np.ndarray, tm: np.ndarray, t1: np.ndarray, functions: Sequence[Callable] | None = None
    ) -> np.ndarray:
        """Return the values of all time functions, or of others in their places, at start, middle and end of the steps,
        (n, n_fun, 3)."""
        funs = np.empty((t0.size, max(len(self.functions), 1), 3))
        for i, f in enumerate(self.functions if functions is None else functions):
            funs[:, i, C.T0] = f(t0)
            funs[:, i, C.T1] = funs[:, i, C.T0] if t1 is t0 else f(t1)
            # a one-state rule takes the loads at the end of the step, the explicit one at its start
            sampled = funs[:, i, C.T0 if self.explicit else C.T1]
            funs[:, i, C.TM] = f(tm) if self.two_state else sampled
            if not np.isfinite(funs[:, i]).all():
                step, column = np.argwhere(~np.isfinite(funs[:, i]))[0]
                raise ModelError(
                    f"its function is {funs[step, i, column]:g} at t = {(t0, tm, t1)[column][step]:g} {unit_of('s')}",
                    owner=self.compiled.function_owner(i),
                    key="function",
                    remedy="use one that is defined over the whole step",
                )
        for i, length, name in self._lengths:
            bad = np.argwhere(length + funs[:, i] <= 0.0)
            if bad.size:
                step, column = bad[0]
                raise ModelError(
                    f"at t = {(t0, tm, t1)[column][step]:g} {unit_of('s')} its distance would be "
                    f"{length + funs[step, i, column]:g} {unit_of('m')}, but a distance is greater than zero",
                    owner=Owner("Joint", name),
                    remedy="change its function",
                )
        return funs

    def time(self, step: ArrayLike) -> np.ndarray:
        return self.t0 + self.h * np.asarray(step)

    # --- the kernels, which are compiled when they are first needed ------------------------------------------------
    @cached_property
    def _addresses(self) -> tuple[np.ndarray, np.ndarray]:
        return self.compiled.kernels()

    @property
    def kernels(self) -> np.ndarray:
        """Addresses of the force kernels of the blocks."""
        return self._addresses[0]

    @property
    def reports(self) -> np.ndarray:
        """Addresses of the report kernels of the blocks."""
        return self._addresses[1]

    def _report(self, job: int, fun: np.ndarray, ledger: np.ndarray) -> None:
        """Let the elements start their histories (START), or add their energies to a row (LEDGER)."""
        if C.is_plain():
            self.compiled.report_plainly(job, self.ctl, fun, self.state, ledger)
        else:
            keep = job == C.LEDGER
            assembly.report(job, self.reports, self.compiled.system, self.ctl, fun, self.state, ledger, keep)

    # --- the start -------------------------------------------------------------------------------------------------
    def begin(self) -> None:
        """Initialise element histories, constraint scales and the energy."""
        state = self.state
        for a in (state.Q, state.D, state.V, state.DD):
            a[1] = a[0]
        self.renew_pairs(anyway=True)
        state = self.state
        state.U[:], state.work[:] = 0.0, 0.0
        now = np.array([self.t0])
        fun = self.evaluate(now, now, now + self.h)[0]
        self._report(C.START, fun, np.zeros(C.N_LEDGER))
        diagonal = self._scaled(fun)
        self.redundancy.start(diagonal, self.ctl, fun, state)
        row = self.energies(self.evaluate(now, now, now)[0])  # energies that follow time count at the start
        self.initial_energy = float(row[_ENERGIES].sum())
        self.memory[:] = 0.0
        self.real[[S.ENERGY, S.LOWEST, S.HIGHEST]] = self.initial_energy
        self.real[S.LARGEST_KINETIC] = row[C.KINETIC]
        self.first_row = self.pack(row[None, :], np.zeros((1, 3)))[0]
        self._start_coordinates()

    def _scaled(self, fun: np.ndarray) -> np.ndarray | None:
        """Set the scales of the constraints; return the diagonal of the stiffness (N,), None without constraints."""
        return self.compiled.set_scales(self.ctl, fun, self.state)

    def follow(self, other: Stepping) -> None:
        """Take over from the stepping before an event what the state does not tell."""
        self.watcher, self.halved_steps, self.turned_steps = other.watcher, other.halved_steps, other.turned_steps
        self.real[S.TURN] = other.real[S.TURN]
        self.real[S.CLOSING] += other.real[S.CLOSING]
        self.real[S.LARGEST_KINETIC] = max(self.real[S.LARGEST_KINETIC], other.real[S.LARGEST_KINETIC])
        self.redundancy.earlier = other.redundancy.warnings
        for k in (S.TOTAL_ITERATIONS, S.FACTORISATIONS):
            self.counter[k] = other.counter[k]

    def book_blow(self, before: float) -> None:
        """Let the step begin with the energy ``before`` [J], what it has less is the work of drivers."""
        assert self.initial_energy is not None
        self.works[2] += self.initial_energy - before
        self.first_row[LEDGER_COLUMNS.index("driver work")] += self.initial_energy - before
        self.initial_energy = before

    def _start_coordinates(self) -> None:
        """Evaluate the outputs that belong to an end of a step, such as coordinates of joints, for the row of the
        start."""
        record, now = self.compiled.system.record, np.array([self.t0])
        watched = record[self.compiled.at_end & (record[:, 0] == S.REC_OUT), 1]
        if not watched.size:
            return
        fun = self.evaluate(now, now, now)[0]
        for i, block in enumerate(self.compiled.blocks):
            outputs = slice(block.first_output, block.first_output + block.size * len(block.type.outputs))
            if ((watched >= outputs.start) & (watched < outputs.stop)).any():
                self.state.out[outputs] = self.compiled.outputs(i, self.ctl, fun, self.state).ravel()

    def round_off(self) -> float:
        """Return the energy [J] of round-off of the coordinates, in strains and, over a step, in speeds."""
        system, now = self.compiled.system, np.array([self.t0])
        fun = self.evaluate(now, now, now)[0]
        # of a tangent h^2/2 K + M ..; that of the explicit rule is M alone
        over = 0.5 * self.h**2 if self.explicit else self.ctl[C.SF]
        size = np.where(system.kind == S.POSITION, self.compiled.length, 1.0) * _ROUND_OFF
        total = 0.0
        for block, _fe, ke in self.compiled.element_arrays(C.TANGENT, self.ctl, fun, self.state):
            nd = block.type.node_dofs
            diagonal = np.abs(np.einsum("eii->ei", ke)[:, :nd])
            total += float((diagonal * size[block.dof[:, :nd]] ** 2).sum())
        return total / over

    def energies(self, fun: np.ndarray) -> np.ndarray:
        """Return the ledger row of the present state (row 0)."""
        state = self.state
        for a in (state.Q, state.D, state.V, state.DD):
            a[1] = a[0]
        state.U[self.compiled.system.kind != S.MULTIPLIER] = 0.0
        row, work = np.zeros(C.N_LEDGER), state.work.copy()
        self._report(C.LEDGER, fun, row)
        row[WORKS], state.work[:] = 0.0, work
        return row

    def pack(self, rows: np.ndarray, works: np.ndarray) -> np.ndarray:
        """Return ledger rows, completed by works since the start and the closing error."""
        out = np.zeros((rows.shape[0], len(LEDGER_COLUMNS)))
        out[:, 0:3] = rows[:, _ENERGIES]
        out[:, 3:6] = works
        dissipated, load, driver = works.T
        out[:, 6] = out[:, 0:3].sum(axis=1) + dissipated - load - driver - self.initial_energy
        out[:, 7:] = rows[:, C.PX :]
        return out

    # --- steps -----------------------------------------------------------------------------------------------------
    def buffers(self, n_steps: int, n_frames: int) -> S.Output:
        state = self.state
        N, D = state.Q.shape[1], state.D.shape[1:]
        m = max(n_frames, 1)
        return S.Output(
            ledger=np.zeros((n_steps, C.N_LEDGER)),
            iterations=np.zeros(n_steps, np.int32),
            residuals=np.zeros(n_steps),
            values=np.zeros((n_steps, self.compiled.system.record.shape[0])),
            frame_Q=np.zeros((m, N)),
            frame_V=np.zeros((m, N)),
            frame_D=np.zeros((m, *D)),
            frame_out=np.zeros((m, state.out.size)),
            frame_energy=np.zeros((m, state.energy.size)),
            frame_step=np.zeros(m, np.int64),
            watched=self.watcher.table(),
        )

    def chunk_length(self, seconds_per_step: float, remaining: int) -> int:
        """Return the number of steps of the next chunk.

        A chunk takes a fraction of a second and bounded memory, and does not pass a restart point.
        """
        n = 1 if self.pairs and self.explicit else remaining
        if seconds_per_step > 0.0:
            n = min(n, max(1, int(_CHUNK_SECONDS / seconds_per_step)))
        else:
            n = min(n, 8)
        row = 8 * (C.N_LEDGER + self.compiled.system.record.shape[0] + 6 * max(len(self.functions), 1) + 2)
        n = min(n, max(1, int(_CHUNK_BYTES / row)))
        if self.frame_every:
            state = self.state
            frame = 8 * (2 * state.Q.shape[1] + state.D[0].size + state.out.size + state.energy.size)
            n = min(n, max(1, int(_CHUNK_BYTES / frame)) * self.frame_every)
        if self.restart_every and self.pauses:
            n = min(n, self.restart_every - self.step % self.restart_every)
        return max(n, 1)

    def run(self, n_steps: int, on_chunk: Callable[[Chunk], None]) -> None:
        """Make ``n_steps`` steps and hand over the results chunk by chunk.

        Raises:
            ConvergenceError: a step failed, also when halved ``settings.halvings`` times.
            AnalysisError: the system matrix is singular.
        """
        end = self.step + n_steps
        pace = 0.0
        while self.step < end:
            n = self.chunk_length(pace, end - self.step)
            started = perf_counter()
            done, chunk, problem = self._chunk(n)
            if done:
                on_chunk(chunk)
                pace = (perf_counter() - started) / done
            if problem and self.explicit:
                self._fail(problem)
            if problem:
                on_chunk(self._halved_step(problem))

    def single(self, on_chunk: Callable[[Chunk], None], funs: np.ndarray | None = None) -> None:
        """Make one step, not halved when it fails: for load increments, which their caller cuts; ``funs`` (1, n_fun, 3)
        are values of the time functions other than those of the time."""
        _done, chunk, problem = self._chunk(1, funs)
        if problem:
            self._fail(problem)
        on_chunk(chunk)

    def partial(self, part: float) -> Chunk:
        """Make a part of the next step, 0 < part <= 1, from a first guess by the velocities; the count of steps stays.

        Where a node turns too far in it, it is made in smaller parts; the results look like those of one.

        Raises:
            ConvergenceError, AnalysisError: it failed.
        """
        return self.leg(0.0, part, bool(self.frame_every))

    def leg(self, begin: float, length: float, frame: bool) -> Chunk:
        """Make the part of the next step that begins at ``begin`` and is ``length`` of it long, as `partial` does.

        ``frame``: keep a frame of its end.
        """
        before = self._copies()
        first = self._halvings_of_turn(length)
        answer = 0
        for k in range(first, max(first, self.settings.halvings) + 1):
            if answer:
                self._back(before)
            parts = 2**k
            self.counter[S.REFACTOR] = 1
            output, t, answer = self._parts(length, parts, "velocity", frame, begin)
            if answer != S.TURNED:
                break
        if answer:
            self._fail(answer)
        chunk = self._as_one(self.take(output, parts, t[1:]))
        return replace(chunk, frame_time=t[-1:] if frame else t[:0])

    def _copies(self) -> list[np.ndarray]:
        """Return copies of the arrays that a step changes."""
        return [a.copy() for a in self._changed()]

    def _back(self, copies: list[np.ndarray]) -> None:
        """Restore the arrays of `_copies`."""
        for a, b in zip(self._changed(), copies, strict=True):
            a[:] = b

    def _changed(self) -> tuple[np.ndarray, ...]:
        s = self.state
        own = (s.Q, s.D, s.V, s.DD, s.U, s.past, s.reaction, s.work, self.compiled.system.hist, self.alternation.recent,
               self.memory)  # fmt: skip
        return own if self.follower is None else (*own, *self.follower.changed())

    def _halvings_of_turn(self, part: float = 1.0) -> int:
        """Return the number of halvings of the next step, or a part of it, for no node to turn by more than a quarter
        of a turn at the present speeds."""
        rotations = self.compiled.system.rotations
        if not rotations.size:
            return 0
        speed = float(np.sqrt((self.state.V[0][rotations] ** 2).sum(axis=1).max()))
        turns = speed * self.h * part / (0.5 * np.pi)
        return min(int(np.ceil(np.log2(turns))), self.settings.halvings) if 1.0 < turns < np.inf else 0

    def _parts(
        self, length: float, parts: int, predictor: str, frame: bool, begin: float = 0.0
    ) -> tuple[S.Output, np.ndarray, int]:
        """Make ``parts`` steps of total length ``length`` times h from ``begin`` times h after the last step; return
        rows, times (parts + 1,), and 0 or a failure's code.

        ``frame``: keep a frame of the end.
        """
        c = self.counter
        t = self.time(self.step + begin + length * np.arange(parts + 1) / parts)
        middle = self.time(self.step + begin + length * (np.arange(parts) + 0.5) / parts)
        output = self.buffers(parts, 1)
        c[S.STEP], c[S.N_FRAMES], c[S.STEP_OFFSET] = 0, 0, 0
        c[S.FRAME_EVERY] = parts if frame else 0
        c[S.HISTORY], c[S.PREDICTOR] = 0, PREDICTORS[predictor]
        self._ends = t[1:]
        times = t[:-1], middle, t[1:]
        answer = self._advance(output, self.control(self.h * length / parts), self.evaluate(*times), times)
        c[S.PREDICTOR] = PREDICTORS[self.settings.predictor]
        if answer == 0:
            c[S.HISTORY] = 0
            c[S.REFACTOR] = 1
        return output, t, answer

    def _as_one(self, chunk: Chunk) -> Chunk:
        """Return the results of consecutive equal parts of a step as those of one."""
        record = chunk.record[-1:].copy()
        middle = self.middle_values & self.two_state
        if middle.any():  # quantities in the middle of the parts: their mean is that of the whole
            record[:, middle] = chunk.record[:, middle].mean(axis=0)
        return replace(
            chunk, time=chunk.time[-1:], ledger=chunk.ledger[-1:], iterations=chunk.iterations.sum(keepdims=True),
            residual=chunk.residual[-1:], record=record,
            slopes=None if self.follower is None else self.follower.as_one(chunk, middle),
        )  # fmt: skip

    def _chunk(self, n: int, funs: np.ndarray | None = None):
        if self.by_velocity:
            n = min(n, self.by_velocity)
        number = self.step + np.arange(n)
        times = self.time(number), self.time(number + 0.5), self.time(number + 1)
        t1 = times[2]
        if funs is None:
            funs = self.evaluate(*times)
        frames = (self.step + n) // self.frame_every - self.step // self.frame_every if self.frame_every else 0
        output = self.buffers(n, frames)
        c = self.counter
        c[S.STEP], c[S.N_FRAMES], c[S.STEP_OFFSET] = 0, 0, self.step
        c[S.FRAME_EVERY] = self.frame_every
        c[S.PREDICTOR] = PREDICTORS["velocity" if self.by_velocity else self.settings.predictor]
        self._ends = t1
        problem = self._advance(output, self.ctl, funs, times)
        done = int(c[S.STEP])
        self.by_velocity = max(self.by_velocity - done, 0)
        chunk = self.take(output, done, t1) if done else None
        self.step += done
        return done, chunk, problem

    def _loop(self, output: S.Output, ctl: np.ndarray, funs: np.ndarray) -> int:
        """Run the compiled loop of the rule until it asks for something; return what for."""
        if self.explicit:
            self.renew_pairs()  # (a chunk is one step)
        self.counter[S.PATIENT] = self._patient
        given = (self.kernels, self.reports, self.compiled.system, self.state, output, ctl, funs, self.counter,
                 self.real)  # fmt: skip
        if self.explicit:
            return explicit.advance(*given)
        if self.follower is not None:
            return self.follower.advance(self, *given)
        return stepper.advance(*given, self.redundancy.rank)

    def assemble(self, job: int, ctl: np.ndarray, fun: np.ndarray) -> None:
        """Assemble residual, and matrix values for a TANGENT, at the present iterate by several threads."""
        s = self.state
        at = (s.Q, s.D, s.V, s.DD, s.U) if self.two_state else (s.Qw, s.Dw, s.V, s.DD, s.Uw)
        side_by_side.assemble(job, self.kernels, self.compiled.system, ctl, fun, *at, s)

    def _advance(
        self, output: S.Output, ctl, funs, times: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    ) -> int:
        """Run the compiled loop and serve its requests for the sparse solver; return 0 or the code of the failure.

        ``times`` are start, middle and end (n,) of the steps, for their derivatives.
        """
        redundancy = self.redundancy
        if self.follower is not None and times is not None:
            self.follower.prepare(self, times)
        self.counter[S.OUTSIDE] = self.follower is None and side_by_side.threads_for(self.compiled.system.table) > 1
        while True:
            answer = self._loop(output, ctl, funs)
            state = self.state
            if answer == S.NEED_ASSEMBLY:
                tangent = self.counter[S.REFACTOR] == 1 or self.counter[S.FULL] == 1
                self.assemble(C.TANGENT if tangent else C.FORCE, ctl, funs[self.counter[S.STEP]])
            elif answer == S.NEED_USER:
                self.renew_pairs()
                state = self.state
                slopes = bool(self.counter[S.REFACTOR] or self.counter[S.FULL])
                self.compiled.serve(ctl, funs[self.counter[S.STEP]], state, slopes)
            elif answer in (S.NEED_FACTOR, S.NEED_SOLVE):
                try:
                    state.rhs[:] = self._increment(answer == S.NEED_FACTOR)
                    redundancy.balance(state.U, state.rhs)
                except SingularMatrixError as error:
                    if error.index is not None and error.index >= 0:
                        self.counter[S.WORST] = self.compiled.system.unknown[error.index]
                    self.counter[S.PHASE] = 0
                    self.counter[S.REFACTOR] = 1
                    return S.SINGULAR
            elif answer == S.DONE and redundancy.rank.flags[gauge.SMALL]:
                self._look_again(funs[self.counter[S.STEP] - 1])
                if self.counter[S.STEP] == len(funs):
                    return 0
            else:
                redundancy.rank.flags[gauge.SMALL] = 0
                return 0 if answer == S.DONE else answer

    def _increment(self, factor: bool) -> np.ndarray:
        """Return the increment (n,) for the right side of the state, with factors of its matrix or those at hand."""
        solver, redundancy, state = self.solver, self.redundancy, self.state
        assert solver is not None
        if self._part_frames is None or not isinstance(solver, CholmodSolver):
            if factor:
                redundancy.factor(solver, state.values[:-1])
            return solver.solve(state.rhs, tolerance=_LINEAR_TOLERANCE)
        rotations = self._part_frames.at(state, self.two_state)
        if factor:
            redundancy.factor(solver, state.values[:-1], rotations)
        if self._patient and self.counter[S.SLOW] == 0 and self.counter[S.FULL] == 0:
            return solver.approximate(state.rhs, rotations, factor or self.counter[S.ITERATION] == 0)
        return solver.solve(state.rhs, tolerance=_LINEAR_TOLERANCE)

    @property
    def _patient(self) -> bool:
        """Return whether factors are taken along by parts that turn, over many iterations and steps."""
        return self._part_frames is not None and self.follower is None and self.redundancy.mode == gauge.PLAIN

    def _look_again(self, fun: np.ndarray) -> None:
        """Find the rank of the constraints at the end of a step, with its time functions (n_fun, 3)."""
        end = self._ends[self.counter[S.STEP] - 1]
        if self.redundancy.look(
            self.ctl, np.repeat(fun[:, [C.T1]], 3, axis=1), self.state, f"at t = {end:.6g} {unit_of('s')}"
        ):
            self.counter[S.REFACTOR] = 1

    def take(self, output: S.Output, n: int, t1: np.ndarray) -> Chunk:
        """Return the first n steps of the buffers, which end at t1 (n,), with the works summed up from the start."""
        rows = output.ledger[:n]
        self.watcher.look(output.watched, t1[:n], self.state.D[0])
        # a running sum that does not depend on the chunks
        works = np.cumsum(np.vstack((self.works, rows[:, WORKS])), axis=0)[1:]
        self.works = works[-1].copy()
        f = int(self.counter[S.N_FRAMES])
        return Chunk(
            time=t1[:n],
            ledger=self.pack(rows, works),
            iterations=output.iterations[:n],
            residual=output.residuals[:n],
            record=self.alternation.removed(output.values[:n]),
            frame_time=self.time(output.frame_step[:f]),
            frames={
                "Q": output.frame_Q[:f],
                "V": output.frame_V[:f],
                "D": output.frame_D[:f],
                "out": output.frame_out[:f],
                "energy": output.frame_energy[:f],
            },
            slopes=None if self.follower is None else self.follower.take(n),
        )

    def _halved_step(self, problem: int) -> Chunk:
        """Try a step again with new tangents, from other first guesses and in 2, 4, 8 ... parts.

        Where a node has turned too far in it, start from rest, which finds solutions near by, then go on in parts.

        The results look like those of one step.
        """
        c, state, redundancy = self.counter, self.state, self.redundancy
        far = problem == S.TURNED
        # a tangent that is singular at once is the model's fault, not the iterate's, unless joints are in question
        at_once = problem == S.SINGULAR and c[S.ITERATION] == 0
        if at_once and redundancy.diagonal is None:
            self._fail(problem)
        before = self._copies()
        worst = int(c[S.WORST]), float(self.real[S.WORST_VALUE])
        fighting = None if far else redundancy.contradiction(state.residual, self.compiled.system.row_scale)
        modes = [redundancy.mode]
        if redundancy.diagonal is not None and not far:
            start = np.array([self.time(self.step)])
            fun = self.evaluate(start, start, start)[0]
            redundancy.look(self.ctl, fun, state, f"at t = {start[0]:.6g} {unit_of('s')}")
            modes = list(dict.fromkeys((redundancy.mode, *modes, gauge.NEAR, gauge.PLAIN)))
        first, others = modes[0], modes[1:]
        guesses = ("none",) if far else ("velocity", "none")
        attempts = [(first, p, 1) for p in guesses if p != self.settings.predictor]
        attempts += [(m, p, 1) for m in others for p in ("velocity", self.settings.predictor)]
        if not at_once:
            least = max(1, self._halvings_of_turn()) if far else 1
            attempts += [(first, "velocity", 2**k) for k in range(least, self.settings.halvings + 1)]
        c[S.FULL] = 1
        for mode, predictor, parts in attempts:
            if mode != redundancy.mode:
                redundancy.use(mode)
            self._back(before)
            due = bool(self.frame_every) and (self.step + 1) % self.frame_every == 0
            output, t, answer = self._parts(1.0, parts, predictor, frame=due)
            if answer == 0:
                c[S.FULL] = self.settings.newton == "full"
                chunk = self._as_one(self.take(output, parts, t[1:]))
                if mode != first:
                    self._look_again(self.evaluate(*[t[-1:]] * 3)[0])
                    if redundancy.mode == first:
                        redundancy.use(mode)  # the mode that has just failed is not tried again
                if predictor == "velocity" and parts == 1:
                    self.by_velocity = _BY_VELOCITY
                self.step += 1
                self.halved_steps += parts > 1
                self.turned_steps += far and parts > 1
                return replace(chunk, frame_time=chunk.time[-1:] if due else chunk.frame_time)
        c[S.WORST], self.real[S.WORST_VALUE] = worst
        self._fail(problem, fighting)

    @property
    def warnings(self) -> list[str]:
        """Return sentences on steps, constraints and elements, for the summary."""
        turn = 2.0 * np.arctan(0.5 * float(self.real[S.TURN]))
        own = []
        if self.turned_steps:
            own.append(
                f"{self.turned_steps} steps were made in parts, since a node would have turned by more than a quarter "
                "of a turn in them; take a smaller h"
            )
        if turn > _LONG_TURN:
            own.append(
                f"nodes turn by up to {np.rad2deg(turn):.0f} degrees in a step (h = {self.h:.3g} {unit_of('s')}): "
                "motions of this speed are coarse; compare with a smaller h"
            )
        return [*self.redundancy.warnings, *self.watcher.warnings, *own]

    def span(self) -> tuple[float, float]:
        """Return start and length of the next step."""
        return float(self.time(self.step)), self.h

    def place(self) -> str:
        """Return the name of the next step, for messages."""
        t, h = self.span()
        return f"{self.rule} step {self.step + 1} at t = {t:.6g} {unit_of('s')} (h = {h:.3g} {unit_of('s')})"

    def _fail(self, problem: int, fighting: str | None = None) -> NoReturn:
        """Raise what says why a step failed with the code ``problem``; ``fighting`` names constraints that are known
        to contradict each other."""
        raise failure(self, problem, fighting)

    # --- restart ---------------------------------------------------------------------------------------------------
    def entries(self) -> dict[str, Any]:
        """Return the entries of the summary that only this kind of steps has."""
        return {}

    def snapshot(self) -> dict[str, np.ndarray]:
        """Return all data that the next step depends on."""
        s = self.state
        return {
            "step": np.int64(self.step),
            "Q": s.Q[0].copy(),
            "D": s.D[0].copy(),
            "V": s.V.copy(),
            "DD": s.DD[0].copy(),
            "U": s.U.copy(),
            "past": s.past.copy(),
            "reaction": s.reaction[0].copy(),
            "work": s.work.copy(),
            "hist": self.compiled.system.hist.copy(),
            "par": self.compiled.system.par.copy(),
            "out": s.out.copy(),
            "energy": s.energy.copy(),
            "row_scale": self.compiled.system.row_scale.copy(),
            "works": self.works.copy(),
            "initial_energy": np.float64(self.initial_energy),
            "history": self.counter[[S.HISTORY, S.SLOW]].copy(),
            "halved_steps": np.int64(self.halved_steps),
            "by_velocity": np.int64(self.by_velocity),
            "turned": np.array([self.turned_steps, self.real[S.TURN]]),
            "memory": self.memory.copy(),
            "recent": self.alternation.recent.copy(),
            **self.redundancy.snapshot(),
            **snapshot_pairs(self.compiled),
        }

    def restore(self, data: dict[str, np.ndarray]) -> None:
        """Continue from a snapshot."""
        s = self.state
        self.step = int(data["step"])
        s.Q[0], s.D[0], s.DD[0], s.reaction[0] = data["Q"], data["D"], data["DD"], data["reaction"]
        s.V[:], s.U[:], s.past[:], s.work[:] = data["V"], data["U"], data["past"], data["work"]
        self.compiled.system.hist[:] = data["hist"]
        s.out[:], s.energy[:] = data["out"], data["energy"]
        self.compiled.system.par[:] = data["par"]  # the blocks view it
        self.compiled.system.row_scale[:] = data["row_scale"]
        self.works = np.array(data["works"])
        self.initial_energy = float(data["initial_energy"])
        self.counter[[S.HISTORY, S.SLOW]] = data["history"]
        self.counter[S.REFACTOR] = 1
        self.halved_steps = int(data["halved_steps"])
        self.by_velocity = int(data.get("by_velocity", 0))  # points of earlier versions have none
        self.turned_steps, self.real[S.TURN] = int(data["turned"][0]), float(data["turned"][1])
        self.memory[:] = data.get("memory", 0.0)  # points of earlier versions have none
        self.alternation.recent = np.array(data["recent"])
        if self.pairs:
            s.Q[1] = s.Q[0]
            restore_pairs(self.compiled, s, data)
            self._take_pattern()
        self.redundancy.restore(data)
