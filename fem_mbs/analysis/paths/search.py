"""Search for the efforts that move outputs along a path: forward runs, corrected by the linear problem of the window.

The equations linear about the equilibria along the path (`equilibria`) give a first guess.  Every iteration runs the
model forward with the efforts found so far, linearises it about the states of this motion, and solves the linear
problem of the whole window (`window`) for changes that bring the outputs where they should be; the forward run itself
judges the result.  First, motors with gains hold the joints near the guess, so that a mechanism that falls over does
no harm; feedback from the joints of the efforts changes no zero.  In the end the efforts alone act.

Ledesma & Bayo (1993) iterate in the same way between the bounded solution of linear equations, there with constant
coefficients in the frequency domain, and a forward run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d

from fem_mbs.analysis.context import RunContext
from fem_mbs.analysis.march import transient_functions
from fem_mbs.analysis.paths.equations import TAIL, Equations, state_at
from fem_mbs.analysis.paths.equilibria import Equilibrium, Follower
from fem_mbs.analysis.paths.motions import Motion, interpolated, spline_through
from fem_mbs.analysis.paths.places import Efforts, Outputs
from fem_mbs.analysis.paths.window import Window, check_size
from fem_mbs.analysis.paths.zeros import WEIGHT, decay_time, null_space, oscillation, zeros_of
from fem_mbs.analysis.start.initial import consistent_velocities
from fem_mbs.analysis.transient.chunk import Chunk
from fem_mbs.analysis.transient.settings import Settings
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.errors import AnalysisError, ConvergenceError, ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.units import unit_of

__all__ = ["Found", "Request", "search"]

_LONGEST = 4.0  # post-action over the duration, as far as it is chosen automatically
#: Steps before the path and its pre-action: what begins there leaves oscillations from step to step before it, which
#: decay by `oscillation(WEIGHT)` per step; where they are cut off, the run begins with an impulse, and drifts.
_LEAD = int(np.ceil(np.log(1e-3) / np.log(oscillation(WEIGHT))))
_MOST_STEPS = 200_000
_SLOW = 1e-3  # real parts of zeros over their size that count as none
_SEEN = 0.5  # zeros times h that steps resolve
_ALIKE = 5.0  # ratio of the slowest growing zeros at both ends of a path
_POINTS = 64  # equilibria along the path
_STIFF = 12.0  # bandwidth of the motors that hold the joints, over 2 pi/duration
_NEAR = 2e-2  # error at which the motors let go, over the size of the path
#: Steps over which errors are averaged: only what steps resolve is corrected, or what
#: the equations of the window and of
#: the run see with other frequencies would grow from run to run.
_WIDTH = 2.0
_WORSE = 3.0  # error over the smallest one at which the iteration is given up
_QUICK = 0.5  # change of the error in an iteration with which the linear problem is kept
_LEFT = 1e-2  # of the largest change of an effort that may be left at an end of the window


@dataclass(frozen=True)
class Request:
    """The request: path, its ``duration`` and steps ``h`` [s], times ``before`` and ``after`` (None: automatic),
    ``tolerance`` of the outputs over the size of the path, and the largest number of forward runs."""

    outputs: Outputs
    efforts: Efforts
    duration: float
    h: float
    before: float | None
    after: float | None
    tolerance: float
    runs: int
    settings: Settings
    owner: Owner


@dataclass(frozen=True)
class Found:
    """The efforts and what is known of them.

    Attributes:
        times (n + 1,) of the ends of steps [s]; efforts (n + 1, p) there.
        start: the equilibrium from which the steps begin.
        before, after: [s] of the window before and after the path.
        zeros: (k,) finite zeros at the start [1/s]; infinite: number of those at infinity.
        growing: numbers of zeros with positive real parts at the start.
        errors: largest error of the outputs over the size of the path in each forward run.
        output_errors: (p,) largest errors of the last run [m], [rad].
        left: (2,) what is left of the efforts at the ends of the window, over their largest change.
    """

    times: np.ndarray
    efforts: np.ndarray
    start: Equilibrium
    before: float
    after: float
    zeros: np.ndarray
    infinite: int
    growing: int
    errors: list[float]
    output_errors: np.ndarray
    left: tuple[float, float]
    warnings: list[str]


def search(request: Request, context: RunContext, told: Callable[[int, float], None]) -> Found:
    """Return efforts that move the outputs along the path from the present state, which is not changed.

    Args:
        told: is called with the number of every forward run and its error.

    Raises:
        ModelError: the path cannot be followed.
        ConvergenceError: the iteration does not converge.
    """
    return _Search(request, context, told).found()


class _Search:
    def __init__(self, request: Request, context: RunContext, told: Callable[[int, float], None]) -> None:
        self.asked, self.context, self.told = request, context, told
        system = context.compiled.system
        # functions and parameters of its own
        self.compiled = replace(
            context.compiled, system=system.with_parameters({}), functions=list(context.compiled.functions)
        )
        self.window: Window | None = None
        self.t0, self.h, self.owner = context.now.time, request.h, request.owner
        self.follower = Follower(self.compiled, context.loading, request.outputs, request.efforts, request.owner)
        self.warnings: list[str] = []
        self.errors: list[float] = []

    def found(self) -> Found:
        asked, outputs = self.asked, self.asked.outputs
        self.start = self.follower.start(self.context.state, self.t0)
        zeros, infinite = zeros_of(self.start.at)
        growing = _growing(zeros)
        check_size(self.start.at.T.shape[1], max(round(asked.duration / self.h), 1), self.owner)
        self.before = self._whole(asked.before, zeros[growing] if growing.any() else None)
        if asked.before is None:
            self.before += _LEAD * self.h
        if growing.any():
            for word in ("before", "after"):
                given, rate = getattr(asked, word), float(zeros[growing].real.min())
                if given is not None and given * rate < -np.log(_LEFT):
                    raise ModelError(
                        f"the window is too short: {word} = {given:g} {unit_of('s')} leaves "
                        f"{100.0 * np.exp(-given * rate):.3g} % of a motion with the zero {rate:.4g} {unit_of('1/s')}",
                        owner=self.owner, key=word, value=given,
                        remedy=f"take {decay_time(zeros[growing]):.3g} {unit_of('s')}, or leave it out",
                    )  # fmt: skip
        rests = self._equilibria()
        last, _ = zeros_of(rests[-1][1].at)
        slowest = [z.real[_growing(z)].min(initial=np.inf) for z in (zeros, last)]
        if min(slowest) * self.h < _SEEN and max(slowest) > _ALIKE * min(slowest):
            told = [f"{v:.4g} {unit_of('1/s')}" if np.isfinite(v) else "none" for v in slowest]
            raise ModelError(
                f"the slowest zero with a positive real part is {told[0]} at the start of the path, {told[1]} at its "
                "end: the bounded solution changes its kind on the way",
                owner=self.owner, remedy="divide the path, or take other outputs",
            )  # fmt: skip
        self.after = self._whole(asked.after, self._stable(last), _LONGEST * asked.duration)
        n = round((self.before + asked.duration + self.after) / self.h)
        if n > _MOST_STEPS:
            raise ModelError(
                f"the window of {self.before:.4g} {unit_of('s')} before, {asked.duration:g} {unit_of('s')} of the path "
                f"and {self.after:.4g} {unit_of('s')} "
                f"after it has {n} steps of h = {self.h:g} {unit_of('s')}, more than {_MOST_STEPS}",
                owner=self.owner, remedy="give before and after, or take a larger h",
            )  # fmt: skip
        check_size(self.start.at.T.shape[1], n, self.owner)
        self.steps = n
        self.times = self.t0 + self.h * np.arange(n + TAIL + 1)
        self.path = self.start.y + outputs.changes(self.times - self.t0 - self.before, asked.duration)
        self.size = outputs.sizes(asked.duration)
        if not self.size.all():
            raise ModelError(
                "outputs: nothing moves along the path", owner=self.owner, key="outputs",
                remedy="give one of them a function that is not constant",
            )  # fmt: skip
        self.equations = Equations(
            self.compiled, self.context, self.follower, self.times, self.t0 + self.before, asked.duration, self.path,
            (self.start, rests[-1][1]),
        )  # fmt: skip
        efforts, e = self._iterate(rests)
        self.times, efforts = self.times[: n + 1], efforts[: n + 1]
        off = np.abs(e[: n + 1]).max(axis=0)
        left = self._left(efforts, rests[-1][1], bool(growing.any()), last)
        return Found(
            self.times, efforts, self.start, self.before, self.after, zeros, infinite,
            int(np.count_nonzero(growing)), self.errors, off, left, self.warnings,
        )  # fmt: skip

    # --- the window ------------------------------------------------------------------------------------------------
    def _whole(self, given: float | None, zeros: np.ndarray | None, most: float = np.inf) -> float:
        """Return a time [s] before or after the path, in whole steps: the given one, else that in which motions with
        these zeros [1/s] fade, but at most ``most``."""
        if given is not None:
            return round(given / self.h) * self.h
        if zeros is None:
            return 0.0
        return float(np.ceil(min(decay_time(zeros), most) / self.h - 1e-9) * self.h)

    @staticmethod
    def _stable(zeros: np.ndarray) -> np.ndarray | None:
        decaying = zeros.real < -_SLOW * np.abs(zeros)
        return zeros[decaying] if decaying.any() else None

    def _left(self, efforts: np.ndarray, end: Equilibrium, growing: bool, zeros: np.ndarray) -> tuple[float, float]:
        """Return what is left of the efforts at both ends, over their largest change; refuse a window that is too
        short."""
        rest = np.array([self.start.u, end.u])
        middle = rest[0] + np.linspace(0.0, 1.0, len(efforts))[:, None] * (rest[1] - rest[0])
        size = np.abs(efforts - middle).max(axis=0)
        size = np.where(size > 0.0, size, 1.0)
        left = [float((np.abs(efforts[i] - rest[i]) / size).max()) for i in (0, -1)]
        told = (
            f"{{}} % of the largest effort is left at the {{}} of the window ({self.before:.4g} {unit_of('s')} before, "
        )
        told += f"{self.after:.4g} {unit_of('s')} after the path)"
        if left[0] > _LEFT and growing:
            raise ModelError(
                f"the window is too short: {told.format(f'{100 * left[0]:.3g}', 'start')}", owner=self.owner,
                key="before", remedy="take a longer time before",
            )  # fmt: skip
        slow = ~(zeros.real < -_SLOW * np.abs(zeros)) & ~_growing(zeros)
        if left[1] > _LEFT and self.asked.after is not None and not slow.any():
            raise ModelError(
                f"the window is too short: {told.format(f'{100 * left[1]:.3g}', 'end')}", owner=self.owner,
                key="after", remedy="take a longer time after",
            )  # fmt: skip
        if left[1] > _LEFT:
            self.warnings.append(
                f"{told.format(f'{100 * left[1]:.3g}', 'end')}: zeros without damping, or with little, let motions "
                "besides the path go on"
            )
        return left[0], left[1]

    # --- equilibria along the path ---------------------------------------------------------------------------------
    def _equilibria(self) -> list[tuple[float, Equilibrium]]:
        """Return equilibria along the path by the times since it began."""
        asked = self.asked
        steps = round(asked.duration / self.h)
        every = np.unique(np.round(np.linspace(0, steps, min(steps, _POINTS) + 1)).astype(int))
        times = every * self.h
        rests, last = [(0.0, self.start)], self.start
        changes = asked.outputs.changes(times, asked.duration)
        for t, change in zip(times[1:], changes[1:] - changes[0], strict=True):
            last = self.follower.next(
                last, self.t0 + self.before + t, self.start.y + change, f"at {t:.4g} {unit_of('s')} of it"
            )
            rests.append((float(t), last))
        return rests

    # --- the equations of all steps --------------------------------------------------------------------------------
    def _guess(self, rests: list[tuple[float, Equilibrium]]) -> tuple[np.ndarray, np.ndarray, bool]:
        """Return efforts and coordinates (n + 1, p) of the joints with the outputs on the path, and whether the
        equations of motion hold, and not only those linear about the equilibria."""
        now = np.clip(self.times - self.t0 - self.before, 0.0, rests[-1][0])
        times = np.array([t for t, _ in rests])
        system = self.compiled.system
        motion = self.equations.motion(*interpolated(system, times, [rest.state for _, rest in rests], now))
        u = CubicSpline(times, np.array([r.u for _, r in rests]), bc_type="clamped")(now)
        solved = self.equations.solve(motion, u)
        motion, efforts, self.window = solved or self.equations.linear(motion, u)
        q = self.equations.coordinates(motion, efforts)
        angles = [i for i, unit in enumerate(self.asked.efforts.units) if unit == "N m"]
        q[:, angles] = np.unwrap(q[:, angles], axis=0)
        return spline_through(efforts), q, solved is not None

    def _turned(self, x: np.ndarray) -> np.ndarray:
        """Return changes (n + 1, p) of the coordinates of the joints for increments (n + 1, n)."""
        assert self.window is not None
        return np.einsum("snp,sn->sp", self.window.at.B, x)

    @property
    def _fading(self) -> np.ndarray:
        """Return the share (n + 1,) of errors that is corrected besides the last one.

        It fades in the second half of the post-action, so that corrections end at rest: one that breaks off at a
        velocity needs efforts before its end.
        """
        left = (
            (self.times[self.steps] - self.times) / (0.5 * self.after) if self.after > 0.0 else np.ones(len(self.times))
        )
        return 0.5 - 0.5 * np.cos(np.pi * np.clip(left, 0.0, 1.0))

    def _gains(self) -> tuple[np.ndarray, np.ndarray]:
        """Return gains (p,) of motors that hold the joints, against the inertia of slow motions at the start."""
        at = self.start.at
        free, _ = null_space(at.G)
        k, p = free.shape[1], at.B.shape[1]
        force = free.T @ at.B
        # the motion in equilibrium that belongs to a unit of one coordinate
        A = np.block([[free.T @ at.K @ free, -force], [force.T, np.zeros((p, p))]])
        x = free @ np.linalg.lstsq(A, np.vstack((np.zeros((k, p)), np.eye(p))), rcond=1e-12)[0][:k]
        inertia = np.abs(np.einsum("ij,ij->j", x, at.M @ x))
        w = 2.0 * np.pi * _STIFF / self.asked.duration
        return w**2 * inertia, 1.4 * w * inertia

    # --- forward runs ----------------------------------------------------------------------------------------------
    def _iterate(self, rests: list[tuple[float, Equilibrium]]) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts (n + 1, p) and the errors (n + 1, p) of the outputs when they act."""
        asked = self.asked
        efforts, q, solved = self._guess(rests)
        kp, kd = self._gains()
        held, smallest = not solved, np.inf
        before = np.inf  # the error at which the linear problem was solved last
        for _ in range(asked.runs):
            gains = (kp, kd) if held else (0.0 * kp, 0.0 * kd)
            forces = efforts + gains[0] * q + gains[1] * np.gradient(q, self.h, axis=0)
            motion, y, acting = self._forward(forces, gains)
            e = self.path - y
            e[self.steps :] = e[self.steps]  # efforts in the steps beyond the window are not used
            error = float((np.abs(e[: self.steps + 1]).max(axis=0) / self.size).max())
            self.errors.append(error)
            self.told(len(self.errors), error)
            if not held and error <= asked.tolerance:
                return efforts, e
            if solved and len(self.errors) == 1:
                held = True  # the model does not stay on the path without the motors
                continue
            smallest = min(smallest, np.inf if held else error)
            if not error <= _WORSE * smallest:
                break
            if held and error <= _NEAR:
                # a motion in balance, next to the path: a better start for Newton's method than equilibria
                found = None if solved else self.equations.solve(motion, _at_ends(acting))
                if found is None:
                    held, efforts = False, _at_ends(acting)
                else:
                    self.window, held, efforts = found[2], False, spline_through(found[1])
                continue
            if self.window is None or error > _QUICK * before:
                self.window = self.equations.window(motion, _at_ends(acting))
            before = error
            slow = gaussian_filter1d(e, _WIDTH, axis=0, mode="nearest")
            slow = slow[-1] + self._fading[:, None] * (slow - slow[-1])
            wanted = np.einsum("snp,sp->sn", self.window.at.P[:, :, -e.shape[1] :], slow)
            x, more = self.window.solve(wanted, np.zeros_like(wanted))
            if held:
                q, efforts = np.vstack((q[:1], self._places)) + self._turned(x), _at_ends(acting)
            efforts = efforts + more
        e = e[: self.steps + 1]
        worst = int((np.abs(e).max(axis=0) / self.size).argmax())
        at = int(np.abs(e[:, worst]).argmax())
        unit = asked.outputs.unit(worst)
        raise ConvergenceError(
            f'{self.owner}: output "{asked.outputs.names[worst]}" does not converge to its path: after '
            f"{len(self.errors)} forward runs it is {abs(e[at, worst]):.3g} {unit} off at "
            f"{self.times[at] - self.t0 - self.before:.4g} {unit_of('s')} of the path ({error:.2g} of its size, "
            "tolerance "
            f"{asked.tolerance:g}); take a smaller h, a smoother or slower path, a longer time before, or more damping"
        )

    def _forward(
        self, forces: np.ndarray, gains: tuple[np.ndarray, np.ndarray]
    ) -> tuple[Motion, np.ndarray, np.ndarray]:
        """Return the motion under forces (n + 1, p) at the ends of steps and motors with gains, its outputs (n + 1, p),
        and what forces and motors did together in the middle of steps (n, p)."""
        model = self.asked.efforts.with_gains(self.compiled, *gains)
        self.asked.efforts.put(model, self.times, forces)
        state = state_at(model, self.start.state)
        consistent_velocities(model, state, self.t0)
        run = Stepping(
            model.system, transient_functions(replace(self.context, compiled=model, events=None)), state,
            self.context.model.gravity, rule="midpoint", t0=self.t0, h=self.h, settings=self.asked.settings,
            frame_every=1,
        )  # fmt: skip
        run.begin()
        Q, D = [state.Q[:1].copy()], [state.D[:1].copy()]
        record, out = [self.context.rows.present(run)[0]], []

        def keep(chunk: Chunk) -> None:
            Q.append(chunk.frames["Q"])
            D.append(chunk.frames["D"])
            out.append(chunk.frames["out"])
            record.append(chunk.record)

        try:
            run.run(len(self.times) - 1, keep)
        except AnalysisError as error:
            raise ConvergenceError(
                f"{self.owner}: forward run {len(self.errors) + 1} of the search failed ({error})"
            ) from None
        acting = self.asked.efforts.forces(model.system, np.concatenate(out))
        self._places = self.asked.efforts.places_of(model.system, np.concatenate(out))
        motion = self.equations.motion(np.concatenate(Q), np.concatenate(D))
        return motion, self.asked.outputs.read(np.vstack(record)), acting


def _growing(zeros: np.ndarray) -> np.ndarray:
    """Return which zeros have a positive real part that is no round-off."""
    return zeros.real > _SLOW * np.abs(zeros)


def _at_ends(forces: np.ndarray) -> np.ndarray:
    """Return forces (n + 1, p) at the ends of steps from those in the middle (n, p)."""
    inner = 0.5 * (forces[1:] + forces[:-1])
    return np.vstack((1.5 * forces[:1] - 0.5 * forces[1:2], inner, 1.5 * forces[-1:] - 0.5 * forces[-2:-1]))
