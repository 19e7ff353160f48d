"""Drive the compiled differentiation of time steps: arrays of derivatives, changed states, solutions of sparse systems.

`fem_mbs.solvers.differentiation` describes the method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_array

from fem_mbs import contract as C
from fem_mbs.analysis.sensitivity.alike import alike
from fem_mbs.analysis.transient.alternation import Alternation
from fem_mbs.analysis.transient.chunk import LEDGER_COLUMNS, WORKS, Chunk, Slopes
from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.differentiation import layout as F
from fem_mbs.solvers.differentiation import states, steps
from fem_mbs.solvers.linear.solver import SingularMatrixError
from fem_mbs.solvers.stepping import assembly, gauge, stepper
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled

if TYPE_CHECKING:
    from fem_mbs.analysis.transient.stepping import Stepping

__all__ = ["Changes", "Follower"]

#: First change of positions over the model's length, and of rotations, in a difference.  It is larger with constraints,
#: where round-off of places, over this change and h^2, enters the reactions of the first steps; and in static steps,
#: which try smaller ones.
_MOTION, _LARGE = 3e-7, 6e-6
_FLOOR = 1e-7  # the same change: with constraints, kinks of laws do not make it smaller than this
_SYSTEMATIC = 10.0  # weight of truncation in the choice of their size, where members are strained by it in all steps
_LEFT = 1e-10  # estimated error of the solution of a step, over the solution, that is accepted
#: Iterations with the factors of an earlier tangent, before the tangent is factored anew.
_CHORDS = 10
_CHORD = 1e-6  # relative residual of linear solutions with the factors of the run: later corrections reduce the error
_CLOSE = 1e-11  # last increment over the solution, at which these end
_FAST = 0.2  # contraction, above which they do

#: Largest change of an equilibrium over the one that is wanted in differences, beyond which it is differentiated anew.
_WIDE = 1.5
_SMALLER = 10.0  # ratio of the sizes of differences of an equilibrium that are tried one after the other
_MOST_LEVELS = 5  # number of these sizes
#: Change of the motion over its largest derivative, from one size to the next, at which the larger size serves.
_ALIKE = 1e-7
#: Derivatives and counts that the differentiation of an equilibrium sets.
_STATE = ("dQ", "dD", "dV", "dDD", "dpast", "dreaction", "dwork", "dhist", "kinks")

_OTHER = 1e-8  # change of the residual with other histories over the largest element force, that is none

#: Functions of time of all parameters' changed models: value, weights and functions by parameter.
Functions = Sequence[Sequence[tuple[float, Sequence[Callable]]]]


class Changes:
    """Derivatives of what a model is made of with respect to scaled parameters.

    Attributes:
        par: (n_par, n) parameters of elements, place: (n_par, n_driven) of supports, weight: (n_par, 3) of gravity.
        state: derivatives of the arrays of the state of the start, by their names in `layout.State`.
    """

    def __init__(self, par: np.ndarray, place: np.ndarray, weight: np.ndarray, state: dict[str, np.ndarray]):
        self.par, self.place, self.weight, self.state = par, place, weight, state

    @property
    def nothing(self) -> np.ndarray:
        """Return the parameters (n_par,) bool that change nothing of this."""
        every = (self.par, self.place, self.weight, *self.state.values())
        return ~np.any([np.any(a.reshape(len(a), -1), axis=1) for a in every], axis=0)


class Follower:
    """Derivatives of the state of a run, and the two changed states by which steps are differentiated."""

    def __init__(self, compiled: Compiled, changes: Changes, with_ledger: bool = True) -> None:
        self.compiled, self.n_par = compiled, len(changes.par)
        state = compiled.initial_state()
        N, n_hist, n_fun = state.U.size, compiled.system.hist.size, 1
        n, m = self.n_par, state.D.shape[1:]
        f = np.zeros
        n_eq = compiled.n_equations
        self.arrays = F.Follow(
            flags=f(F.N_FLAGS, np.int64), reals=f(F.N_REALS), motion=np.full(n, _MOTION), size=f(n), force=f(n),
            level=f(n), usual=f(n), probes=f((2, n_eq)), kinks=f(n, np.int64), known=f(n, np.int64),
            order=f(n, np.int64), past_x=f((n, F.N_PAST, n_eq)), total=f(n_eq), x=f(n_eq), zero=f(N),
            Q=f(N), D=f(m), V=f(N), DD=f(m), past=f((4, N)), reaction=f(N),
            work=f(state.work.size), hist=f(n_hist),
            dQ=f((n, N)), dD=f((n, *m)), dV=f((n, N)), dDD=f((n, *m)), dpast=f((n, 4, N)), dreaction=f((n, N)),
            dwork=f((n, state.work.size)), dhist=f((n, n_hist)), dpar=np.ascontiguousarray(changes.par),
            dplace=np.ascontiguousarray(changes.place), dctl=f((n, C.N_CTL)), dfuns=f((n, n_fun, 3)),
            dvalues=f((n, 0, 0)), dledger=f((n, 0, C.N_LEDGER)), fun_plus=f((n_fun, 3)), fun_minus=f((n_fun, 3)),
            ctl_plus=f(C.N_CTL), ctl_minus=f(C.N_CTL),
        )  # fmt: skip
        self.arrays.dctl[:, C.GX : C.GZ + 1] = changes.weight
        for name, own in changes.state.items():
            getattr(self.arrays, f"d{name}")[:] = own
        self.plus, self.minus = _copy(compiled), _copy(compiled)
        self.plus_state = state
        self.minus_state = compiled.initial_state()._replace(
            values=state.values, fe=state.fe, ke=state.ke, pivot=state.pivot
        )
        self.counter = np.zeros(S.N_COUNTER, np.int64)
        self.counter[S.NO_LEDGER] = not with_ledger
        #: whether reactions are differentiated: the works of supports need them, and sensors that record them
        self.with_reactions = with_ledger or bool((compiled.system.record[:, 0] == S.REC_REACTION).any())
        self.one = S.Output(
            ledger=f((2, C.N_LEDGER)), iterations=f(2, np.int32), residuals=f(2),
            values=f((2, compiled.system.record.shape[0])), frame_Q=f((1, N)), frame_V=f((1, N)), frame_D=f((1, *m)),
            frame_out=f((1, state.out.size)), frame_energy=f((1, state.energy.size)), frame_step=f(1, np.int64),
            watched=f((0, 2)),
        )  # fmt: skip
        self.functions: Functions = []
        self.varied = np.zeros(n, bool)  # parameters that change time functions
        self.works = f((n, 3))
        self.alternations: list[Alternation] = []
        self.factorisations = self.solutions = 0
        self.redundant = False
        self._fresh, self._matrix = False, None

    # --- the start of a step of the model ----------------------------------------------------------------------------
    def begin(self, stepping: Stepping, functions: Functions) -> None:
        """Follow the time steps of ``stepping``, which has begun; ``functions`` are those of the changed models."""
        a, state = self.arrays, stepping.state
        self.functions, stepping.follower = functions, self
        self.varied = np.array([any(not alike(given, each[0][1]) for _, given in each[1:]) for each in functions])
        self.works[:] = 0.0
        a.dwork[:] = 0.0
        a.flags[:] = 0
        # errors of positions violate constraints: they enter velocities over h and multipliers over h^2
        static = stepping.counter[S.RULE_KIND] == S.STATIC
        constrained = (self.compiled.system.kind[self.compiled.system.unknown] == S.MULTIPLIER).any()
        a.motion[:] = _LARGE if constrained or static else _MOTION
        if constrained:
            a.reals[F.FLOOR] = _FLOOR
        a.flags[F.REACTIONS] = self.with_reactions
        a.reals[[F.RATE, F.OWN_RATE]], a.reals[F.MEAN] = 1.0, 0.0
        a.reals[F.LEFT] = _LEFT
        strained = any(block.type.prestress is not None for block in self.compiled.blocks)
        a.reals[F.SYSTEMATIC] = _SYSTEMATIC if strained else 1.0
        a.known[:], a.level[:], a.usual[:] = 0, 0.0, 0.0
        if static:
            a.dV[:], a.dpast[:] = 0.0, 0.0
        middle, undamped = stepping.middle_values, stepping.alternation.own.any()
        self.alternations = [Alternation(self.compiled, middle, bool(undamped)) for _ in range(self.n_par)]
        self.start_hist, self.start_dhist = self.compiled.system.hist.copy(), np.zeros_like(a.dhist)
        self.dout = np.zeros((self.n_par, state.out.size))
        self.first_ledger = np.zeros((self.n_par, C.N_LEDGER))
        for p in range(self.n_par):
            self._begin_one(stepping, p)

    def _begin_one(self, stepping: Stepping, p: int) -> None:
        """Differentiate histories as of the report START, and the ledger and the outputs of the row of the start."""
        a, now = self.arrays, np.array([stepping.t0])
        first, later = (now, now, now), (now, now, now + stepping.h)
        values = [(stepping.evaluate(*t)[0], self.slopes_of_functions(stepping, t)[p, 0]) for t in (later, first)]
        found = []
        size = self.spread(stepping, p)
        for shadow, own, e in ((self.plus, self.plus_state, size), (self.minus, self.minus_state, -size)):
            ctl = stepping.ctl + e * a.dctl[p]
            (start, at_start), ledger = (fun + e * slope for fun, slope in values), np.zeros(C.N_LEDGER)
            given = stepping.reports, shadow.system, ctl
            assembly.report(C.START, *given, start, own, ledger, False)
            hist = shadow.system.hist.copy()
            assembly.report(C.LEDGER, *given, at_start, own, ledger, False)
            out = np.zeros(own.out.size)
            for i, block in enumerate(self.compiled.blocks):
                rows = slice(block.first_output, block.first_output + block.size * len(block.type.outputs))
                if block.watched and rows.stop > rows.start:
                    out[rows] = shadow.outputs(i, ctl, at_start, own).ravel()
            found.append((hist, ledger, out))
        hist, ledger, out = ((b - c) / (2.0 * size) for b, c in zip(*found, strict=True))
        a.dhist[p], self.start_dhist[p], self.dout[p], self.first_ledger[p] = hist, hist, out, ledger
        self.first_ledger[p, WORKS] = 0.0

    def spread(self, stepping: Stepping, p: int) -> float:
        """Set both changed states at the start of a step, with both rows alike; return the change of parameter p."""
        self._take_start(stepping)
        a = self.arrays
        size = 1e-6 / max(1e-2, float(np.abs(a.dQ[p]).max()) / self.compiled.length, float(np.abs(a.dD[p]).max()))
        for shadow, own, e in ((self.plus, self.plus_state, size), (self.minus, self.minus_state, -size)):
            states.spread_state(a, self.compiled.system, shadow.system, own, p, e)
            own.Q[1], own.D[1], own.V[1], own.DD[1] = own.Q[0], own.D[0], own.V[0], own.DD[0]
            own.U[:] = 0.0
        return size

    def first_slopes(self, stepping: Stepping) -> Slopes:
        """Return the derivatives of the row of the start."""
        a, record = self.arrays, self.compiled.system.record
        sources = {
            S.REC_Q: a.dQ, S.REC_V: a.dV, S.REC_D: a.dD.reshape(self.n_par, -1), S.REC_REACTION: a.dreaction,
            S.REC_WORK: a.dwork,
        }  # fmt: skip
        found = np.zeros((self.n_par, 1, len(record)))
        for i, (source, k) in enumerate(record):
            found[:, 0, i] = sources.get(source, self.dout)[:, k]
        return Slopes(self._packed(self.first_ledger[:, None], np.zeros((self.n_par, 1, 3))), found)

    # --- time steps --------------------------------------------------------------------------------------------------
    def slopes_of_functions(self, stepping: Stepping, times: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
        """Return the derivatives of the time functions (n_par, n, n_fun, 3) at start, middle and end of steps."""
        out = np.zeros((self.n_par, times[0].size, max(len(stepping.functions), 1), 3))
        for p in map(int, np.flatnonzero(self.varied)):
            out[p] = sum(weight * stepping.evaluate(*times, given) for weight, given in self.functions[p])
        return out

    def prepare(self, stepping: Stepping, times: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        """Take room for the rows of the steps that follow, and evaluate functions at their start, middle and end."""
        self._room(self.slopes_of_functions(stepping, times))

    def _room(self, dfuns: np.ndarray) -> None:
        n, n_fun = dfuns.shape[1:3]
        self.arrays.flags[[F.PHASE, F.NUMBER]] = 0
        self.arrays = self.arrays._replace(
            dfuns=np.ascontiguousarray(dfuns.reshape(self.n_par * n, n_fun, 3)),
            dvalues=np.zeros((self.n_par, n, self.compiled.system.record.shape[0])),
            dledger=np.zeros((self.n_par, n, C.N_LEDGER)),
            fun_plus=np.zeros((n_fun, 3)), fun_minus=np.zeros((n_fun, 3)),
        )  # fmt: skip

    def advance(
        self, stepping: Stepping, kernels: np.ndarray, reports: np.ndarray, system: S.System, state: S.State,
        output: S.Output, ctl: np.ndarray, funs: np.ndarray, counter: np.ndarray, real: np.ndarray,
    ) -> int:  # fmt: skip
        """Make steps and differentiate each; return what `stepper.advance` would."""
        self.redundant |= bool(stepping.redundancy.rank.flags[gauge.MODE] == gauge.DEPENDENT)
        while True:
            answer = steps.advance(
                kernels, reports, system, state, output, ctl, funs, counter, real, stepping.redundancy.rank,
                self.arrays, self.plus.system, self.plus_state, self.minus.system, self.minus_state, self.one,
                self.counter,
            )  # fmt: skip
            if answer == steps.NEED_TANGENT:
                self._fresh = False
                self._matrix = None
            elif answer == steps.NEED_DERIVATIVE:
                self._solve(stepping)
            elif answer == steps.SINGULAR_TANGENT:
                raise self._singular(stepping)
            else:
                return answer

    def _singular(self, stepping: Stepping) -> AnalysisError:
        return AnalysisError(
            f"{stepping.place()}: the tangent at its end is singular: the motion has no derivative there"
        )

    def _solve(self, stepping: Stepping) -> None:
        """Replace ``x``, the right side of a correction, by its solution, with the tangent at the end of the step or
        with the factors that the run has left."""
        a, solver = self.arrays, stepping.solver
        assert solver is not None
        if a.flags[F.OWN]:
            a.x[:] = self._solved(stepping, a.x)
        else:
            a.x[:] = solver.solve(a.x, tolerance=_CHORD)
        stepping.redundancy.balance(a.zero, a.x)
        self.solutions += 1

    def _solved(self, stepping: Stepping, b: np.ndarray) -> np.ndarray:
        """Return the solution of the tangent at the end of a step, with the factors of the run while they serve."""
        solver, redundancy = stepping.solver, stepping.redundancy
        assert solver is not None
        values = self.plus_state.values[:-1]
        if not self._fresh and redundancy.rank.flags[gauge.MODE] == gauge.PLAIN:
            if self._matrix is None:
                indptr, indices = self.compiled.pattern  # type: ignore[misc]
                self._matrix = csc_array((values, indices, indptr), shape=(b.size, b.size))
            x, r, last = np.zeros(b.size), b, np.inf
            for _ in range(_CHORDS):
                dx = solver.solve(r, tolerance=1e-6)
                x = x + dx
                size = float(np.abs(dx).max(initial=0.0))
                if size <= _CLOSE * float(np.abs(x).max(initial=0.0)):
                    return x
                if size > _FAST * last:
                    break
                last, r = size, b - self._matrix @ x
        if not self._fresh:
            try:
                redundancy.factor(solver, values)
            except SingularMatrixError as error:
                raise self._singular(stepping) from error
            self._fresh = True
            self.factorisations += 1
        return solver.solve(b)

    def depends_on_way(self, stepping: Stepping, funs: np.ndarray) -> bool:
        """Return whether the equilibrium at which a static step stands would not be one with the histories of elements
        at the start of the step, as where parts that have yielded are unloaded."""
        system = self.compiled.system
        if not system.hist.size:
            return False
        a, state, own = self.arrays, stepping.state, self.plus_state
        self._take_start(stepping)
        states.spread_state(a, system, self.plus.system, own, 0, 0.0)
        found = []
        for hist in (system.hist, self.start_hist):
            self.plus.system.hist[:] = hist
            own.U[:] = np.where(system.kind == S.MULTIPLIER, stepping.ctl[C.SF] * state.Q[0], 0.0)
            stepper.equilibrium(
                C.FORCE, stepping.kernels, self.plus.system, stepping.ctl, funs[0], own, stepping.real.copy(),
                stepping.counter.copy(),
            )  # fmt: skip
            found.append(own.residual[system.kind != S.MULTIPLIER].copy())
        peak = float(own.peak[[S.POSITION, S.ROTATION]].max())
        return bool(np.abs(found[0] - found[1]).max(initial=0.0) > _OTHER * peak)

    def _take_start(self, stepping: Stepping) -> None:
        """Take the present state as the start of what is differentiated."""
        a, state = self.arrays, stepping.state
        a.Q[:], a.D[:], a.V[:], a.DD[:] = state.Q[0], state.D[0], state.V[0], state.DD[0]
        a.past[:], a.reaction[:], a.work[:] = state.past, state.reaction[0], state.work
        a.hist[:] = self.compiled.system.hist

    def differentiate(self, stepping: Stepping, funs: np.ndarray, dfuns: np.ndarray) -> None:
        """Differentiate the equilibrium at which a static step stands, under functions (1, n_fun, 3) with derivatives
        (n_par, 1, n_fun, 3), from the histories at its start.

        The size of the differences follows from derivatives that are known.  Those of an equilibrium may be far larger
        than the ones before it, which shows once they are found: they are then found anew, by smaller differences.

        Truncation grows with the ratio of a member's stiffnesses along and across it, since states that turn along a
        line strain it by the square of the turn.  So differences are made smaller as long as this changes the motion
        that they give (Ridders 1982, doi:10.1016/S0141-1195(82)80057-0).
        """
        before = [own.copy() for own in self._results()]
        motion, defect = self.arrays.motion.copy(), float(self.arrays.reals[F.DEFECT])
        levels, defects = [], []

        def add(size: np.ndarray) -> None:
            for own, old in zip(self._results(), before, strict=True):
                own[:] = old
            self.arrays.motion[:], self.arrays.reals[F.DEFECT] = size, 0.0
            self._differentiate(stepping, funs, dfuns)
            levels.append([own.copy() for own in (*self._results(), self.arrays.dvalues, self.arrays.dledger)])
            defects.append(float(self.arrays.reals[F.DEFECT]))

        size = motion
        add(size)
        change = self.arrays.size * self._largest()
        if np.any(change > _WIDE * motion):
            size = np.where(change > _WIDE * motion, motion * motion / np.maximum(change, motion), motion)
            levels, defects = [], []
            add(size)
        best, last, going = np.zeros(self.n_par, int), np.full(self.n_par, np.inf), np.ones(self.n_par, bool)
        while going.any() and len(levels) < _MOST_LEVELS:
            k = len(levels)
            size = np.where(going, size / _SMALLER, size)
            add(size)
            changed = self._changed_motion(levels[k - 1])
            unlike = going & (changed > _ALIKE)
            # round-off, which grows as differences become smaller
            noisy = unlike & (changed >= last) & (defects[k - 1] == 0.0)
            best[noisy & (changed >= _SMALLER * last)] = k - 2
            going = unlike & ~noisy
            best[going], last = k, changed
        for i, own in enumerate((*self._results(), self.arrays.dvalues, self.arrays.dledger)):
            for p, k in enumerate(best):
                own[p] = levels[k][i][p]
        self.arrays.motion[:] = motion
        self.arrays.reals[F.DEFECT] = max([defect, *(defects[k] for k in best)])

    def _results(self) -> list[np.ndarray]:
        """Return the arrays (n_par, ...) of derivatives and counts that belong to an equilibrium."""
        return [getattr(self.arrays, name) for name in _STATE]

    def _changed_motion(self, other: list[np.ndarray]) -> np.ndarray:
        """Return by how much (n_par,) the derivatives of the motion differ from ``other``, over the largest."""
        own = dict(zip(_STATE, other, strict=False))
        a, places = self.arrays, self.compiled.system.positions
        apart = self._largest_of(a.dQ[:, places] - own["dQ"][:, places], a.dD - own["dD"])
        size = self._largest()
        changed = np.divide(apart, size, out=np.zeros_like(apart), where=~(size == 0.0))
        return np.nan_to_num(changed, nan=np.inf)

    def _largest(self) -> np.ndarray:
        """Return the largest derivative (n_par,) of positions over the model's length, or of directors."""
        return self._largest_of(self.arrays.dQ[:, self.compiled.system.positions], self.arrays.dD)

    def _largest_of(self, places: np.ndarray, directors: np.ndarray) -> np.ndarray:
        positions = np.abs(places).max(axis=1, initial=0.0) / self.compiled.length
        return np.maximum(positions, np.abs(directors).reshape(self.n_par, -1).max(axis=1, initial=0.0))

    def _differentiate(self, stepping: Stepping, funs: np.ndarray, dfuns: np.ndarray) -> None:
        self._room(dfuns)
        self._take_start(stepping)
        a, state = self.arrays, stepping.state
        a.hist[:], a.dhist[:] = self.start_hist, self.start_dhist
        rows = self.compiled.system.rotations
        if rows.shape[1] == 1:  # any first guess will do, but directors belong to angles, and are orthonormal
            D = state.D[0, : len(rows)]
            a.dD[:, : len(rows)] = a.dQ[:, rows[:, 0], None] * np.column_stack((-D[:, 1], D[:, 0]))
        else:
            a.dD[:] = _tangent(state.D[0], a.dD)
        multiplier = self.compiled.system.kind == S.MULTIPLIER
        here = state._replace(U=np.where(multiplier, stepping.ctl[C.SF] * state.Q[0], 0.0))
        a.flags[F.LONE] = 1
        a.flags[F.PHASE] = F.STEPPING
        counter, output = stepping.counter.copy(), self.one
        answer = self.advance(
            stepping, stepping.kernels, stepping.reports, self.compiled.system, here, output, stepping.ctl, funs,
            counter, stepping.real,
        )  # fmt: skip
        a.flags[F.LONE] = 0
        if answer != S.DONE:
            raise AnalysisError(
                "the tangent at an equilibrium is singular, so that it has no derivative with respect to parameters"
            )

    # --- rows --------------------------------------------------------------------------------------------------------
    def take(self, n: int) -> Slopes:
        """Return the derivatives of the first n rows of the last steps, works summed up from the start."""
        a = self.arrays
        rows = a.dledger[:, :n]
        works = np.cumsum(np.concatenate((self.works[:, None], rows[:, :, WORKS]), axis=1), axis=1)[:, 1:]
        self.works = works[:, -1].copy()
        record = np.array([own.removed(a.dvalues[p, :n]) for p, own in enumerate(self.alternations)])
        return Slopes(self._packed(rows, works), record.copy())

    @staticmethod
    def _packed(rows: np.ndarray, works: np.ndarray) -> np.ndarray:
        """Return derivatives of ledger rows (n_par, n, 13), as `Stepping.pack` does of the rows themselves."""
        out = np.zeros((*rows.shape[:2], len(LEDGER_COLUMNS)))
        out[..., :3] = rows[..., C.KINETIC : C.POTENTIAL + 1]
        out[..., 3:6] = works
        out[..., 7:] = rows[..., C.PX :]
        return out

    def as_one(self, chunk: Chunk, middle: np.ndarray) -> Slopes:
        """Return the derivatives of consecutive equal parts of a step as those of one; see `Stepping`."""
        assert chunk.slopes is not None
        record = chunk.slopes.record[:, -1:].copy()
        record[:, :, middle] = chunk.slopes.record[:, :, middle].mean(axis=1, keepdims=True)
        return Slopes(chunk.slopes.ledger[:, -1:], record)

    def changed(self) -> tuple[np.ndarray, ...]:
        """Return the arrays that a step changes."""
        a = self.arrays
        return a.dQ, a.dD, a.dV, a.dDD, a.dpast, a.dreaction, a.dwork, a.dhist, a.kinks


def _tangent(D: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return derivatives of directors in space (n_par, nr, 9) without what is no rotation of the directors D
    (nr, 9)."""
    R, dR = D.reshape(-1, 3, 3), slopes.reshape(len(slopes), -1, 3, 3)
    W = np.einsum("rki,prkj->prij", R, dR)
    return np.einsum("rik,prkj->prij", R, 0.5 * (W - np.swapaxes(W, 2, 3))).reshape(slopes.shape)


def _copy(compiled: Compiled) -> Compiled:
    """Return the compiled model with parameters, histories and places of supports of its own."""
    own = compiled.with_parameters({})
    return replace(own, system=own.system._replace(driven_reference=own.system.driven_reference.copy()))
