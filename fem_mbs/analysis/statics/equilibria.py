"""Static steps: load increments in compiled code, or an equilibrium path point by point.

A static step varies a load factor on chosen loads (or motions) and leaves them there; loads that no step has varied do
not act yet.  With a duration, time passes over the increments, and whatever is not varied follows its function of time.
Plain load control runs as compiled increments.  Displacement control, arc length, and everything that looks at
stability follow the path with `fem_mbs.solvers.equilibria.continuation`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.context import RunContext
from fem_mbs.analysis.eigenvalue_paths import EigenvaluePath
from fem_mbs.analysis.loading import Loading, chosen
from fem_mbs.analysis.statics.problem import COUNTED, UNSYMMETRIC, Problem
from fem_mbs.analysis.transient.chunk import Chunk
from fem_mbs.analysis.transient.settings import settings_of
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.declarations.steps import PlannedStep
from fem_mbs.errors import AnalysisError, ConvergenceError, ModelError
from fem_mbs.model.model import Model
from fem_mbs.solvers.equilibria.continuation import follow
from fem_mbs.solvers.equilibria.critical_points import branching
from fem_mbs.solvers.equilibria.descent import descend
from fem_mbs.solvers.equilibria.path_steps import Critical, PathSettings, Point
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.passages import may_pass, refuse_passages
from fem_mbs.units import unit_of

#: Load factor, time, and part of the step that has passed.
Level = tuple[float, float, float]

__all__ = ["check_levels", "controlled", "run_static", "varied"]

_SMALLEST = 2.0**-12  # of an increment's size
_PATH_RTOL = 1e-10
_SNAP = 2.0**-9  # of an increment's size, below which a jump is one
_HARD = 2.0**-3  # of an increment's size, above which what Newton-Raphson does not find is cut
_STRETCH = 3.0  # times the reach of the tangents, beyond which equilibria do not join
_TINY = 1e-9  # displacements over the model's size, and rotations, that are no jump
_FALL = 0.2  # the same, beyond which a step to an unstable equilibrium is taken again
_MANY = 50  # increments, within which eigenvalues are counted where this is quick, and at the end
_ROUND_OFF = 1e-8  # residual over the largest forces of elements, below which iterations that go no further have met it
_OUT_OF_BALANCE = 1e-6  # displacement over the model's size, or rotation, by which a start is beside its equilibrium


def varied(step: PlannedStep) -> Any:
    """Return the names of the loads and motions that the load factor of a static step multiplies.

    While time passes these are only the loads that are asked for.
    """
    return [] if step.options.duration and "vary" not in step.given else step.options.vary


def check_levels(loading: Loading, mask: np.ndarray, weight: bool, owner: str) -> set[float]:
    """Return the factors of loads (n_fun,) bool and perhaps of the weight, at most one; NaN is an unknown factor.

    Raises:
        ModelError: they have different factors.
    """
    levels = set(loading.factors[mask].tolist()) | ({loading.weight} if weight else set())
    if len(levels) > 1 and not np.isnan(list(levels)).any():
        raise ModelError(
            f"vary: the loads stand at different factors {sorted(levels)}", owner=owner, remedy="vary them one by one"
        )
    return levels


def controlled(model: Model, system: Compiled, options: Any, owner: str) -> tuple[int, int, int]:
    """Return node, dof and equation of the displacement that ``on`` and ``component`` name.

    Raises:
        ModelError: there is no such node, or it is held or driven there.
    """
    on, component = options.on, options.component
    node = model.node_of(on, owner)
    dof = int(system.offset[node]) + "xyz".index(component)
    equation = int(system.system.equation[dof])
    if equation < 0:
        raise ModelError(
            f'"{on}" is held or driven along {component}', owner=owner, remedy="choose a displacement that is free"
        )
    return node, dof, equation


def run_static(step: PlannedStep, context: RunContext) -> dict[str, Any]:
    """Make a static step of a run; return the entries of its report.

    Raises:
        ModelError, ConvergenceError, AnalysisError: the step cannot be made, or not to its end.
    """
    owner, options, settings = step.owner, step.options, settings_of(step.options)
    mask, weight = chosen(context.compiled, varied(step), owner, "vary", motions=True)
    loading = context.loading
    if options.duration:
        loading.all_on(mask, weight)
    levels = check_levels(loading, mask, weight, owner)
    start = levels.pop() if levels else 0.0
    motions = bool((mask & ~np.asarray(context.compiled.loads, bool)).any())
    if motions:
        start = 0.0
    if not options.ramp and start == 0.0:
        start = options.until
    loading.set(mask, weight, start)
    path = options.control != "load" or options.stability or options.line_search
    if path and settings.rtol < _PATH_RTOL:
        settings = replace(settings, rtol=_PATH_RTOL)
    stepping = Stepping(
        context.system, loading.functions(), context.state, context.model.gravity, rule="static",
        t0=context.time, h=0.0, settings=settings, frame_every=1,
    )  # fmt: skip
    loading.gravity(stepping.ctl)
    context.state.V[:] = 0.0
    context.state.past[:] = 0.0
    stepping.begin()
    if context.derivatives is not None:
        context.derivatives.begin_static(step, stepping, path)
    job = _Static(context, step, stepping, loading, mask, weight, start, motions)
    t0 = context.time
    found = job.path() if path else job.increments()
    return {
        "name": step.name, "t_start": t0, "t_end": context.time, **found,
        "load_factor": float(job.factor),
        "eigenvalues": None if job.eigenvalues is None else job.eigenvalues.report(),
        "warnings": [*stepping.redundancy.warnings, *found.get("warnings", []), *stepping.watcher.warnings],
    }  # fmt: skip


def _rubbed(system: Compiled) -> str:
    """Return a hint on friction where no equilibrium is found: its smooth law has no force at rest."""
    names = [label for b in system.blocks if b.type.name.startswith("friction_") for label, _, _ in b.groups]
    if not names:
        return ""
    return (
        f"; friction ({', '.join(names)}) holds nothing at rest in a static step: where it shall stick, lock the "
        "coordinate of the joint, or take a transient"
    )


class _Static:
    """Holds a static step while it runs."""

    def __init__(
        self, context: RunContext, step: PlannedStep, stepping: Stepping, loading: Loading, mask: np.ndarray,
        weight: bool, start: float, motions: bool,
    ):  # fmt: skip
        self.context, self.step, self.options = context, step, step.options
        self.stepping, self.loading = stepping, loading
        self.part = 0.0  # of the step that has passed
        self.mask, self.weight, self.factor, self.motions = mask, weight, start, motions
        self.applied = start  # load factor that is set
        self.chunk: Chunk  # of the last equilibrium, after the first
        self.points = self.iterations = 0
        self.slope: float | None = None  # reach of the tangent at the last equilibrium per load factor, if it is known
        self.tried = np.inf  # reach of the tangent at the last one that was found
        self.fell = False  # whether a way down has led away, from the last equilibrium
        self.snaps: list[tuple[float, float]] = []  # places between which an equilibrium does not join the last one
        self.unstable: list[tuple[float, float | None]] = []  # first and last places of unstable equilibria
        wanted = step.options.eigenvalues
        self.rough: Level | None = None  # level from which on residuals end at round-off
        self.undecided = False  # whether the last count is none, but 1 where the determinant is negative
        self.loads_without_potential = False
        self.eigenvalues = EigenvaluePath(context, step.owner, wanted) if wanted is not None else None

    def set(self, factor: float) -> None:
        self.applied = factor
        self.loading.set(self.mask, self.weight, factor)
        self.loading.gravity(self.stepping.ctl)

    def functions(self) -> np.ndarray:
        """Return values (1, n_fun, 3) of the time functions at the present time and level."""
        now = np.array([self.stepping.t0])
        return self.stepping.evaluate(now, now, now)

    def record(self, chunk: Chunk, **extra: float) -> None:
        """Record a row and a frame of an equilibrium."""
        context = self.context
        chunk.time[:] = context.time
        rows = context.rows.series(chunk.time, chunk.ledger, chunk.iterations, chunk.residual, chunk.record)
        rows |= {name.replace("_", " "): np.array([value]) for name, value in extra.items()}
        rows |= self.along(self.points + 1, **extra)
        # frames are ordered by what grows: time, the length of a path, else the load factor
        place = context.time if self.options.duration else extra.get("path_length", extra["load_factor"])
        context.recorder.append(rows, context.rows.frames(chunk.frames, np.array([place])))
        if context.derivatives is not None:
            context.derivatives.equilibrium(self.stepping, chunk, self.functions(), self.applied)
        self.chunk = chunk
        self.points += 1
        if context.events is not None:
            where = (
                f"t = {context.time:.6g} {unit_of('s')}" if self.options.duration else f"load factor {self.applied:.6g}"
            )
            context.events.switching.check_limits(chunk.record, chunk.ledger, self.step.owner, where)

    def along(self, point: int, **place: float) -> dict[str, np.ndarray]:
        """Return the series of eigenvalues in a row, if it is wanted; they are computed every few points."""
        if self.eigenvalues is None:
            return {}
        if point % self.eigenvalues.every:
            return {"eigenvalues": self.eigenvalues.none()}
        self.set(place["load_factor"])
        keep = ("load_factor", "path_length")
        return {
            "eigenvalues": self.eigenvalues.here(time=self.context.time, **{k: place[k] for k in keep if k in place})
        }

    # --- load increments in compiled code --------------------------------------------------------------------------
    def increments(self) -> dict[str, Any]:
        """Yield equilibria at rising levels, each connected to the last one, and whether they are known to be
        stable."""
        context, stepping, options = self.context, self.stepping, self.options
        t0, duration = context.time, options.duration
        context.rows.first(
            stepping, context.recorder, place=np.array([t0]) if duration else None,
            columns={"load factor": np.array([self.factor]), **self.along(0, load_factor=self.factor)},
        )  # fmt: skip
        if context.derivatives is not None:
            context.derivatives.first_row(stepping, False, self.factor)
        start, span = self.factor, options.until - self.factor
        self.problem = problem = Problem(context.compiled, stepping, self.set, self.motions)
        change = context.switched
        if change is not None:
            change.measure(problem, start)
        nothing = span == 0.0 and not duration and not (change is not None and change.moves)
        whole = 1.0 if nothing else 1.0 / options.increments
        reached, size, cuts, easy = 0.0, whole, 0, 0
        count = self.count()
        while reached < 1.0 - 1e-12:
            part = min(1.0, reached + size)
            if 1.0 - part < 1e-9 * size:
                part = 1.0
            target = options.until if part == 1.0 else start + part * span
            level = target, t0 + part * duration, part
            token = self.token()
            try:
                chunk, after, trouble = self.increment(level, count, size / whole)
            except AnalysisError as error:
                chunk, trouble = None, str(error)
            if chunk is None:
                self.back(token)
                cuts, easy = cuts + 1, 0
                if size < _SMALLEST:
                    where = f"t = {context.time:g} {unit_of('s')}" if duration else f"load factor {self.factor:g}"
                    turns = "" if duration else '; a path that turns back needs control = "arc"'
                    raise ConvergenceError(f"{self.step.owner} at {where}: {trouble}{turns}{_rubbed(context.system)}")
                size *= 0.5
                continue
            self.follow_stability(level, count, after)
            if trouble:
                self.snaps.append((self.place(), self.place(level)))
            rise = abs(target - self.factor)
            plain = rise > 0.0 and not duration and (change is None or not change.moves)
            self.slope = self.tried / rise if plain and np.isfinite(self.tried) else None
            self.fell = False
            reached, (self.factor, context.now.time, self.part), count = part, level, after
            problem.restart()
            self.record(chunk, load_factor=target)
            self.progress(reached)
            easy += 1
            if easy >= 2:  # the cause of short increments may be over
                size = min(2.0 * size, whole)
        return {
            "increments": self.points, "cut_increments": cuts,
            "iterations": int(stepping.counter[S.TOTAL_ITERATIONS]) + self.iterations,
            "strain_energy": float(self.chunk.ledger[-1, 1]),
            "negative_eigenvalues": None if self.undecided else count,
            "snap_through": [list(pair) for pair in self.snaps],
            "warnings": self.said(count),
        }  # fmt: skip

    def increment(self, level: Level, count: int | None, cut: float):
        """Return the equilibrium at a level (load factor, time, part of the step): rows, negative eigenvalues, and a
        sentence on what is wrong.

        Newton-Raphson finds it from the last one.  An equilibrium is connected to that one where it is no farther from
        it than the tangents at both predict.  Others are refused until increments are ``cut`` to a small part.  Where
        the model has unconstrained motions, or snaps however short the increment, the step descends to the next stable
        equilibrium.

        Raises:
            AnalysisError: none was found, or none that is connected.
        """
        problem = self.problem
        here = self.factor, self.context.time, self.part
        token = self.token()
        self.go(here)
        before = self.functions()[:, :, C.T1]
        if self.slope is None:
            reach = problem.reach(self.factor, lambda part: self.go(here, level, part), self.sampled)
        else:  # the tangent is that of the end of the last increment
            reach = self.slope * abs(level[0] - here[0])
        self.tried = np.inf
        self.go(level)
        if np.isfinite(reach):
            chunks: list[Chunk] = []
            funs = self.functions()
            funs[:, :, C.T0] = before  # works go from the last equilibrium to this one
            try:
                self.newton(chunks.append, funs, level)
            except AnalysisError:
                if cut > (_SNAP if self.fell else _HARD):
                    raise
            else:
                after, trouble = self.judged(here, level, reach, problem.size(), count)
                if not trouble:
                    return chunks[0], after, ""
                if cut > _SNAP:
                    raise ConvergenceError(trouble)
        self.back(token)
        self.go(level)
        problem.take_force(level[0])
        problem.before = before
        try:
            iterations, moved = descend(problem, level[0], self.stepping.settings.max_iterations)
        except AnalysisError:
            # loads without a potential lead down nowhere: what Newton-Raphson finds from here is judged as it is
            self.back(token)
            self.go(level)
            found: list[Chunk] = []
            funs = self.functions()
            funs[:, :, C.T0] = before
            self.single(found.append, funs)
            after, trouble = self.judged(here, level, reach if np.isfinite(reach) else 0.0, problem.size(), count)
            if trouble and cut > _SNAP:
                raise ConvergenceError(trouble) from None
            return found[0], after, trouble
        self.iterations += iterations
        if self.points == 0 and not np.isfinite(reach):  # parts that hang loose as they are drawn
            return problem.chunk, self.count(), ""
        # where the tangent was singular, at a critical point, that of the end decides
        after, trouble = self.judged(here, level, reach if np.isfinite(reach) else 0.0, moved, count)
        self.fell = bool(trouble)
        if trouble and cut > _SNAP:
            raise ConvergenceError(trouble)
        return problem.chunk, after, trouble

    def single(self, take: Callable[[Chunk], None], funs: np.ndarray) -> None:
        """Make the increment by Newton-Raphson.

        Raises:
            AnalysisError: none was found, or parts of a contact pass through each other on the way there.
        """
        stepping = self.stepping
        state = stepping.state
        before = (state.Q[0].copy(), state.D[0].copy()) if may_pass(stepping.compiled) else None
        stepping.single(take, funs)
        if before is not None:
            refuse_passages(stepping.compiled, before, (state.Q[0], state.D[0]), "in an increment")

    def newton(self, take: Callable[[Chunk], None], funs: np.ndarray, level: Level) -> None:
        """Find the equilibrium at a level by Newton-Raphson.

        Where elements are soft in some motion, as bricks with reduced integration can be, the round-off of their forces
        moves the model along it, and iterations come no further. They then end at that round-off, with a warning.

        Raises:
            AnalysisError: none was found.
        """
        stepping, token = self.stepping, self.token()
        try:
            self.single(take, funs)
        except ConvergenceError:
            rest = float(stepping.real[S.WORST_VALUE] * stepping.real[S.RTOL])
            if not rest <= 10.0 * _ROUND_OFF or stepping.real[S.RTOL] >= _ROUND_OFF:
                raise
            self.back(token)
            self.go(level)
            before, stepping.real[S.RTOL] = stepping.real[S.RTOL], _ROUND_OFF
            try:
                self.single(take, funs)
            except AnalysisError:
                stepping.real[S.RTOL] = before
                raise
            self.rough = level

    def judged(self, here, level, reach: float, moved: float, count: int | None) -> tuple[int | None, str]:
        """Return the negative eigenvalues at a new equilibrium, and a sentence if it is not connected to the last one.

        The model has ``moved`` from the last one, which had the given ``reach`` and ``count``.
        """
        problem = self.problem
        problem.restart()
        after = self.count(count)
        back = problem.reach(level[0], lambda part: self.go(level, here, part), self.sampled)
        self.tried = back
        self.go(level)
        # springs that yield are softer in the step than the tangents at its ends tell
        yields = any(block.type.path for block in self.context.system.blocks)
        joined = yields or moved <= _STRETCH * max(reach, back) + _TINY
        fallen = after and not count and moved > _FALL
        if joined and not fallen:
            return after, ""
        return after, f"no equilibrium near by; the next one is {moved:.3g} of the model's size away"

    def go(self, level: Level, other: Level | None = None, part: float = 0.0) -> float:
        """Set loads, time and supports to a level, or to a part of the way to another; return the load factor."""
        factor, time, passed = (
            level if other is None else (a + part * (b - a) for a, b in zip(level, other, strict=True))
        )
        self.stepping.t0 = time
        if self.context.switched is not None:
            self.context.switched.set(passed)
        self.set(factor)
        return factor

    @property
    def sampled(self) -> float:
        """Return the part of an increment over which the change of the loads is taken: all of it, except where parts
        are driven."""
        driven = self.motions or (self.options.duration and not np.asarray(self.context.compiled.loads, bool).all())
        change = self.context.switched
        return 1e-4 if driven or (change is not None and change.gap.any()) else 1.0

    def place(self, level: Level | None = None) -> float:
        """Return the load factor, or the time where time passes."""
        factor, time, _ = level or (self.factor, self.context.time, self.part)
        return float(time if self.options.duration else factor)

    def token(self) -> Any:
        s = self.stepping
        return self.problem.save(), s.works.copy(), s.step, s.t0, dict(s.watcher.worst)

    def back(self, token: Any) -> None:
        s = self.stepping
        state, s.works, s.step, s.t0, worst = token
        s.works, s.watcher.worst = s.works.copy(), dict(worst)
        self.problem.restore(state)
        if self.context.switched is not None:
            self.context.switched.set(self.part)
        self.set(self.factor)

    def count(self, last: int | None = None) -> int | None:
        """Return the number of negative eigenvalues of the stiffness at the last equilibrium, None where it is
        expensive.

        Where the count costs as much as an increment, it returns the ``last`` number for many increments.
        """
        if self.context.system.n_equations > COUNTED:
            return None
        many = self.options.increments > _MANY and not self.problem.quick
        if last is not None and many and self.applied != self.options.until:
            return last
        problem = self.problem
        try:
            found = problem.falling(self.applied)
            self.undecided = bool(found) and problem.skew > UNSYMMETRIC
            if not self.undecided:
                return found
            # of loads without a potential the symmetric part proves nothing, a negative determinant does
            self.loads_without_potential = True
            return int(problem.diverging())
        except AnalysisError:
            return None

    def follow_stability(self, level: Level, before: int | None, after: int | None) -> None:
        """Note where unstable equilibria begin and end, from the negative eigenvalues on both sides of an increment.

        The state at the start of a step need not be an equilibrium (a transient leaves none): where it has negative
        eigenvalues, unstable equilibria begin with the first one that is found.
        """
        unstable = bool(self.unstable) and self.unstable[-1][1] is None
        if after and not unstable:
            self.unstable.append((self.place(level if before else None), None))
        elif unstable and not after:
            self.unstable[-1] = self.unstable[-1][0], self.place(level)

    def said(self, count: int | None) -> list[str]:
        """Return sentences on jumps and unstable equilibria."""
        what = "t =" if self.options.duration else "load factor"
        unit = " s" if self.options.duration else ""
        found = [
            f"snap-through between {what} {a:.6g} and {b:.6g}{unit}: the equilibrium does not go on there, and a far "
            "one was found, to which the motion may not lead"
            + ("" if self.options.duration else '; control = "arc" follows the path')
            for a, b in self.snaps
        ]
        if self.rough is not None:
            found.append(
                f"from {what} {self.place(self.rough):.6g}{unit} on residuals end at {_ROUND_OFF:g} of the forces of "
                "elements: round-off moves the model along a motion that is nearly free; hold it better, or take full "
                "integration, if displacements look odd"
            )
        if self.loads_without_potential:
            found.append(
                "loads have no potential (the stiffness is unsymmetric): unless said here, a static step does not tell "
                "whether equilibria are stable; a complex_modes step about the state does"
            )
        proof = (
            "the determinant of the unsymmetric stiffness is negative"
            if self.undecided
            else f"{count} negative eigenvalues of the stiffness"
        )
        for a, b in self.unstable:
            end = "the end" if b is None else f"{b:.6g}{unit}"
            found.append(
                f"equilibria are unstable from {what} {a:.6g}{unit} to {end}: the least push makes the model leave them"
                + (f" ({proof} at the end)" if b is None else "")
            )
        return found

    def progress(self, part: float) -> None:
        if self.context.progress is not None:
            iterations = float(self.chunk.iterations[-1])
            total = max(self.points, round(self.points / part)) if part > 0.0 else self.points
            self.context.tell(self.step, self.points, total, iterations=iterations, load_factor=float(self.factor))

    # --- a path ----------------------------------------------------------------------------------------------------
    def path(self) -> dict[str, Any]:
        """Follow the path of equilibria to its end; return entries of the report."""
        context, o = self.context, self.options
        problem = Problem(context.compiled, self.stepping, self.set, self.motions)
        begun = self.balanced_start(problem) if o.control != "load" else []
        settings = self.path_settings()
        size = context.system.length
        problem.before = self.functions()[:, :, C.T1]
        count = problem.negative(self.factor) if settings.stability else -1
        start = {"load factor": self.factor, "path length": 0.0, "negative eigenvalues": float(count)}
        context.rows.first(
            self.stepping, context.recorder,
            columns={
                **{k: np.array([v]) for k, v in start.items()},
                **self.along(0, load_factor=self.factor, path_length=0.0),
            },
        )  # fmt: skip

        last = Point(self.factor, 0.0, 0, count)

        def on_point(point: Point) -> None:
            nonlocal last
            last = point
            self.factor = point.factor
            problem.chunk.iterations[:] = point.iterations
            self.record(
                problem.chunk, load_factor=point.factor, path_length=point.length * size,
                negative_eigenvalues=float(point.negative),
            )  # fmt: skip
            self.progress(self.points / settings.points)

        if o.control == "load" and settings.end is not None:
            settings = self.loose_start(problem, settings, on_point)
        criticals: list[Critical] = []
        account: dict[str, Any] = {
            "cuts": 0, "iterations": 0, "left": 0, "notes": [], "ended": True, "limit": False,
        }  # fmt: skip
        try:
            if settings.end is None or self.factor != settings.end:
                self.factor, criticals, account = follow(problem, self.factor, settings, on_point)
        except ConvergenceError as error:
            raise ConvergenceError(f"{self.step.owner}: {error}") from None
        self.set(self.factor)
        failures = self.path_failures(settings, criticals, account)
        return {
            "increments": self.points, "cut_increments": account["cuts"],
            "iterations": account["iterations"] + self.iterations,
            **({"failures": failures} if failures else {}),
            "strain_energy": float(self.chunk.ledger[-1, 1]),
            "critical_points": [
                {
                    "kind": c.kind, "load_factor": c.factor, "path_length": c.length * size, "error": float(c.error),
                    "negative_before": c.before, "negative_after": c.after,
                }
                for c in criticals
            ],
            "warnings": [*begun, *account["notes"], *self.path_warnings(settings, problem, account, last)],
        }  # fmt: skip

    def path_settings(self) -> PathSettings:
        """Return how the path is followed.

        Raises:
            ModelError: it ends where it starts.
        """
        context, o = self.context, self.options
        component, place = -1, 0.0
        if o.on:
            node, dof, component = controlled(context.model, context.system, o, self.step.owner)
            place = float(context.state.Q[0, dof] - context.system.nodes.x[node, "xyz".index(o.component)])
        arc = (o.size or 0.02) * 1.0
        first = {
            "load": abs(o.until - self.factor) / o.increments,
            "displacement": abs(o.displacement - place) / o.increments,
            "arc": arc,
        }[o.control]
        if first == 0.0:
            raise ModelError("its end is where it starts", owner=self.step.owner, remedy="change until or displacement")
        return PathSettings(
            control=o.control, size=first, smallest=first * _SMALLEST,
            largest=(o.largest or 10.0 * arc) if o.control == "arc" else first,
            spherical=o.spherical, rise=abs(o.until - self.factor) / o.increments or np.inf,
            component=component, start_displacement=place,
            end=None if o.control == "displacement" and o.until == 1.0 else o.until,
            end_displacement=o.displacement if o.displacement else None,
            points=o.points, stability=o.stability or bool(o.branch), tolerance=o.tolerance,
            branch=o.branch, branch_size=o.branch_size, line_search=o.line_search,
            iterations=self.stepping.settings.max_iterations,
        )  # fmt: skip

    def path_failures(self, settings: PathSettings, criticals: list[Critical], account: dict[str, Any]) -> list[str]:
        """Return sentences on goals that the path has not reached."""
        failures = []
        branch, bifurcations = self.options.branch, branching(criticals)
        if bifurcations < branch:
            failures.append(
                f"branch = {branch}: the path has {bifurcations or 'no'} bifurcation{'s' * (bifurcations != 1)} "
                f"up to load factor {self.factor:.6g}; give the number of one that is there, or follow the path farther"
            )
        if account["limit"]:
            failures.append(
                f"load control ends at load factor {self.factor:.6g}, short of until = {settings.end:g}: the path has "
                f'a limit point at {criticals[-1].factor:.6g}; control = "arc" follows it beyond'
            )
        elif not account["ended"] and not (settings.end == np.inf and settings.end_displacement is None):
            wanted = []
            if settings.end not in (None, np.inf):
                wanted.append(f"until = {settings.end:g}")
            if settings.end_displacement is not None:
                wanted.append(f"displacement = {settings.end_displacement:g}")
            failures.append(
                f"the path ends at load factor {self.factor:.6g} after points = {settings.points}, short of "
                f"{' and '.join(wanted)}; take more points, or larger steps"
            )
        return failures

    def path_warnings(
        self, settings: PathSettings, problem: Problem, account: dict[str, Any], last: Point
    ) -> list[str]:
        """Return warnings on the path and on the equilibrium at its end."""
        warnings = []
        if account["left"]:
            warnings.append(
                f"{account['left']} steps led away from the path and were refused; what was found is in one piece"
            )
        if settings.stability and last.negative > 0:
            warnings.append(
                f"the equilibrium at the end, load factor {self.factor:.6g}, is unstable ({last.negative} negative "
                "eigenvalues of the stiffness)"
            )
        if settings.stability and problem.asymmetry > UNSYMMETRIC:
            warnings.append(
                f"the stiffness is unsymmetric by {problem.asymmetry:.2g}: loads without a potential; counts of "
                "negative eigenvalues are those of its symmetric part"
            )
        return warnings

    def balanced_start(self, problem: Problem) -> list[str]:
        """Descend to the next equilibrium where the model is out of balance at the start of a path; return a
        sentence on it."""
        try:
            problem.factorise(self.factor)
            r, small = problem.residual(self.factor)
            if small:
                return []
            x = problem.solve(-r)
        except AnalysisError:  # loose at the start: the loads of the first step decide
            return []
        far = float((np.abs(x) * np.sqrt(problem.weight)).max(initial=0.0))
        if not far > _OUT_OF_BALANCE:
            return []
        problem.take_force(self.factor)
        try:
            self.iterations, way = descend(problem, self.factor, self.stepping.settings.max_iterations)
        except AnalysisError as error:
            raise ConvergenceError(
                f"{self.step.owner}: the model is out of balance at the start, load factor {self.factor:g}, and "
                f"{error}; put a static step before it, which brings it to rest"
            ) from None
        problem.restart()
        return [
            f"the model is out of balance at the start, load factor {self.factor:g}: the path begins at the next "
            f"equilibrium, {way:.3g} of the model's size away"
        ]

    def loose_start(self, problem: Problem, settings: PathSettings, on_point: Callable[[Point], None]) -> PathSettings:
        """Minimise the potential in the first step of load control if the model has unconstrained motions."""
        here = self.factor, self.context.time, 0.0
        assert settings.end is not None  # load control
        rise = settings.end - self.factor
        first = self.factor + np.sign(rise) * min(settings.size, abs(rise)), self.context.time, 0.0
        if np.isfinite(problem.reach(self.factor, lambda part: self.go(here, first, part), self.sampled)):
            return settings
        problem.take_force(first[0])
        try:
            self.iterations, way = descend(problem, first[0], self.stepping.settings.max_iterations)
        except AnalysisError as error:
            raise ConvergenceError(f"{self.step.owner} at load factor {self.factor:g}: {error}") from None
        self.go(first)
        count = problem.negative(first[0]) if settings.stability else -1
        on_point(Point(first[0], way, self.iterations, count))
        return replace(settings, points=max(settings.points - 1, 1))
