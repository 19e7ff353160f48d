"""Static steps: load increments in compiled code, or an equilibrium path point by point.

A static step varies a load factor on chosen loads (or motions) and leaves them there; loads that no step has varied do
not act yet.  With a duration, time passes over the increments, and whatever is not varied follows its function of time.
Plain load control runs as compiled increments.  Displacement control, arc length, and everything that looks at
stability follow the path with `fem_mbs.solvers.stepping.continuation`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgbtrf, dgbtrs, dpbtrf
from scipy.sparse import csc_matrix, csr_matrix, diags

from fem_mbs import contract as C
from fem_mbs.analysis.loading import Loading, chosen
from fem_mbs.analysis.steps.eigenvalue_paths import EigenvaluePath
from fem_mbs.analysis.transient.stepping import Chunk, Settings, Stepping
from fem_mbs.errors import AnalysisError, ConvergenceError, ModelError
from fem_mbs.model.model import CompiledModel, Model, Step
from fem_mbs.solvers.linear.saddle import negative_count, negative_determinant
from fem_mbs.solvers.linear.solver import SingularMatrixError
from fem_mbs.solvers.stepping import stepper as S
from fem_mbs.solvers.stepping.continuation import Critical, PathSettings, Point, branching, follow
from fem_mbs.solvers.stepping.descent import descend

__all__ = ["STATIC_OPTIONS", "check_levels", "check_options", "controlled", "run_static", "varied"]

#: Options of a static step and their defaults, besides those of Newton-Raphson; an empty text or 0 means: not given.
STATIC_OPTIONS: dict[str, Any] = {
    "increments": 1,  # of load or displacement control; of arc length: so many steps at least to reach ``until``
    "duration": 0.0,  # [s] that passes over the increments; 0: none
    "ramp": True,  # False: the loads act at once
    "vary": "all",  # loads (and motions) that the load factor multiplies; with a duration none, if not given
    "until": 1.0,  # load factor at the end
    "control": "load",  # or "displacement", "arc"
    "on": "",  # place of the displacement that is controlled or that ends a path
    "component": "",  # "x", "y" or "z" of it
    "displacement": 0.0,  # its value at the end [m]
    "size": 0.0,  # first arc length, over the model's size; 0: 1/50
    "largest": 0.0,  # arc length; 0: ten times the first
    "spherical": 0.0,  # weight of the load factor in the arc length
    "points": 200,  # of a path, at most
    "stability": False,  # count negative eigenvalues in every point, find critical points
    "tolerance": 1e-6,  # of the load factor of critical points
    "branch": 0,  # number of the bifurcation or jump from which the path follows the other branch
    "branch_size": 0.01,  # first step onto it, over the model's size; negative: to the other side
    "line_search": False,
    "eigenvalues": None,  # along it: a table of fem_mbs.analysis.steps.eigenvalue_paths.EIGENVALUES_OPTIONS
}
_SMALLEST = 2.0**-12  # of an increment's size
_DIFFERENCE = 1e-5  # of the load factor, where motions follow it
_PATH_RTOL = 1e-10
_ROUND_OFF = 8.0 * 2.0**-52
_SNAP = 2.0**-9  # of an increment's size, below which a jump is one
_HARD = 2.0**-3  # of an increment's size, above which what Newton-Raphson does not find is cut
_STRETCH = 3.0  # times the reach of the tangents, beyond which equilibria do not join
_TINY = 1e-9  # displacements over the model's size, and rotations, that are no jump
_FALL = 0.2  # the same, beyond which a step to an unstable equilibrium is taken again
_LOOSE = 1e-13  # stiffness against the load, over that of the parts, that counts as none
_MANY = 50  # increments, within which eigenvalues are counted where this is quick, and at the end
_COUNTED = 5000  # equations up to which negative eigenvalues are counted unasked
_DENSE = 40  # equations up to which all eigenvalues are found for that
_FAR = 10.0  # displacement over the model's size, or rotation, beyond which a tangent has nothing to say
_UNSYMMETRIC = 1e-6  # share of the stiffness that is skew, from which on it is told
_OUT_OF_BALANCE = 1e-6  # displacement over the model's size, or rotation, by which a start is beside its equilibrium
_NEAR = 1e-3  # displacement over the model's size, or rotation, beyond which a tangent does not tell the round-off
_ZERO = 1e-12  # eigenvalue of the scaled stiffness that counts as zero


def check_options(owner: str, options: dict[str, Any], model: Model) -> None:
    """Say what is wrong with the options of a static step.

    Raises:
        ModelError: naming the option, its value and the remedy.
    """
    control = options["control"]
    if control not in ("load", "displacement", "arc"):
        raise ModelError(f"{owner}: control = {control!r} must be one of load, displacement, arc")
    if not 0.0 <= options["duration"] < np.inf:
        raise ModelError(f"{owner}: duration = {options['duration']!r} must be a number of at least 0 [s]")
    if options["duration"] and (control != "load" or options["stability"] or options["line_search"]):
        raise ModelError(
            f"{owner}: duration = {options['duration']:g}: time passes under load control only; remove control, "
            "stability and line_search, or the duration"
        )
    given = bool(options["on"]) or bool(options["component"]) or options["displacement"] != 0.0
    if control == "displacement" and not (options["on"] and options["component"] and options["displacement"] != 0.0):
        raise ModelError(f'{owner}: control = "displacement" needs on, component and displacement')
    if given and not (options["on"] and options["component"]):
        raise ModelError(f"{owner}: on, component and displacement belong together; give all of them or none")
    if given and options["component"] not in "xyz"[: model.dimension]:
        raise ModelError(
            f"{owner}: component = {options['component']!r} must be one of {', '.join('xyz'[: model.dimension])}"
        )
    for key, low in (("size", 0.0), ("largest", 0.0), ("spherical", 0.0)):
        if not 0.0 <= options[key] < np.inf:
            raise ModelError(f"{owner}: {key} = {options[key]!r} must be a number of at least {low:g}")
    if not 0.0 < options["tolerance"] < 0.1:
        raise ModelError(f"{owner}: tolerance = {options['tolerance']!r} must lie between 0 and 0.1")
    if options["branch"] and control == "load":
        raise ModelError(f'{owner}: branch = {options["branch"]} needs control = "arc" or "displacement"')
    if options["branch"] and not options["branch_size"]:
        raise ModelError(f"{owner}: branch_size = 0 does not lead anywhere; give a small number")


def varied(step: Step, options: dict[str, Any]):
    """Return names of what the load factor of a static step multiplies; while time passes, nothing that is not asked
    for."""
    return [] if options["duration"] and "vary" not in step.options else options["vary"]


def check_levels(loading: Loading, mask: np.ndarray, weight: bool, owner: str) -> set[float]:
    """Return the factors at which loads (n_fun,) bool and perhaps the weight stand, at most one; NaN is one that is not
    known.

    Raises:
        ModelError: they stand at different ones.
    """
    levels = set(loading.factors[mask].tolist()) | ({loading.weight} if weight else set())
    if len(levels) > 1 and not np.isnan(list(levels)).any():
        raise ModelError(f"{owner}: vary: the loads stand at different factors {sorted(levels)}; vary them one by one")
    return levels


def controlled(model: Model, system, options: dict[str, Any], owner: str) -> tuple[int, int, int]:
    """Return node, dof and equation of the displacement that ``on`` and ``component`` name.

    Raises:
        ModelError: there is no such node, or it is held or driven there.
    """
    on, component = options["on"], options["component"]
    node = model.node_of(on, owner)
    dof = int(system.offset[node]) + "xyz".index(component)
    equation = int(system.system.equation[dof])
    if equation < 0:
        raise ModelError(f'{owner}: "{on}" is held or driven along {component}; choose a displacement that is free')
    return node, dof, equation


def run_static(run, step: Step, options: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Make a static step of a run (`fem_mbs.analysis.run`); its summary.

    Raises:
        ModelError, ConvergenceError, AnalysisError: the step cannot be made, or not to its end.
    """
    owner = f'Step "{step.name}"'
    mask, weight = chosen(run.compiled, varied(step, options), owner, "vary", motions=True)
    loading: Loading = run.loading
    if options["duration"]:
        loading.all_on(mask, weight)
    levels = check_levels(loading, mask, weight, owner)
    start = levels.pop() if levels else 0.0
    motions = bool((mask & ~np.asarray(run.compiled.loads, bool)).any())
    if motions:
        start = 0.0
    if not options["ramp"] and start == 0.0:
        start = options["until"]
    loading.set(mask, weight, start)
    path = options["control"] != "load" or options["stability"] or options["line_search"]
    if path and settings.rtol < _PATH_RTOL:
        settings = Settings(**{**settings.__dict__, "rtol": _PATH_RTOL})
    stepping = Stepping(
        run.system, loading.functions(), run.state, run.model.gravity, rule="static", t0=run.t, h=0.0,
        settings=settings, frame_every=1,
    )  # fmt: skip
    loading.gravity(stepping.ctl)
    run.state.V[:] = 0.0
    run.state.past[:] = 0.0
    stepping.begin()
    job = _Static(run, step, options, stepping, loading, mask, weight, start, motions)
    t0 = run.t
    summary = job.path() if path else job.increments()
    return {
        "type": "static", "name": step.name, "t_start": t0, "t_end": run.t, **summary, "load_factor": float(job.factor),
        **(job.eigenvalues.summary() if job.eigenvalues is not None else {}),
        "warnings": [*stepping.redundancy.warnings, *summary.get("warnings", []), *stepping.watcher.warnings],
    }  # fmt: skip


class _Static:
    """A static step during its run."""

    def __init__(self, run, step, options, stepping, loading, mask, weight, start, motions):
        self.run, self.step, self.options, self.stepping, self.loading = run, step, options, stepping, loading
        self.mask, self.weight, self.factor, self.motions = mask, weight, start, motions
        self.applied = start  # load factor that is set
        self.chunk: Chunk | None = None
        self.points = self.iterations = 0
        self.slope: float | None = None  # reach of the tangent at the last equilibrium per load factor, if it is known
        self.tried = np.inf  # reach of the tangent at the last one that was found
        self.fell = False  # whether a way down has led away, from the last equilibrium
        self.snaps: list[tuple[float, float]] = []  # places between which an equilibrium does not join the last one
        self.unstable: list[tuple[float, float | None]] = []  # first and last places of unstable equilibria
        wanted = options["eigenvalues"]
        self.undecided = False  # whether the last count is none, but 1 where the determinant is negative
        self.loads_without_potential = False
        self.eigenvalues = EigenvaluePath(run, f'Step "{step.name}"', wanted) if wanted is not None else None

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
        run = self.run
        chunk.time[:] = run.t
        rows = run.series(chunk.time, chunk.ledger, chunk.iterations, chunk.residual, chunk.record)
        rows |= {name.replace("_", " "): np.array([value]) for name, value in extra.items()}
        rows |= self.along(self.points + 1, **extra)
        # frames are ordered by what grows: time, the length of a path, else the load factor
        place = run.t if self.options["duration"] else extra.get("path_length", extra["load_factor"])
        run.recorder.append(rows, run.frames(chunk.frames, np.array([place])))
        self.chunk = chunk
        self.points += 1

    def along(self, point: int, **place: float) -> dict[str, np.ndarray]:
        """Return the series of eigenvalues in a row, if it is wanted; computed at every so many points."""
        if self.eigenvalues is None:
            return {}
        if point % self.eigenvalues.every:
            return {"eigenvalues": self.eigenvalues.none()}
        self.set(place["load_factor"])
        keep = ("load_factor", "path_length")
        return {"eigenvalues": self.eigenvalues.here(time=self.run.t, **{k: place[k] for k in keep if k in place})}

    # --- load increments in compiled code --------------------------------------------------------------------------
    def increments(self) -> dict[str, Any]:
        """Return equilibria at rising levels, each joined to the last one, and known to be stable or not."""
        run, stepping, options = self.run, self.stepping, self.options
        t0, duration = run.t, options["duration"]
        run._first_rows(
            stepping, place=np.array([t0]) if duration else None,
            **{"load factor": np.array([self.factor])}, **self.along(0, load_factor=self.factor),
        )  # fmt: skip
        start, span = self.factor, options["until"] - self.factor
        whole = 1.0 if span == 0.0 and not duration else 1.0 / options["increments"]
        reached, size, cuts, easy = 0.0, whole, 0, 0
        self.problem = problem = _Problem(run.compiled, stepping, self.set, self.motions)
        count = self.count()
        while reached < 1.0 - 1e-12:
            part = min(1.0, reached + size)
            if 1.0 - part < 1e-9 * size:
                part = 1.0
            target = options["until"] if part == 1.0 else start + part * span
            level = target, t0 + part * duration
            token = self.token()
            try:
                chunk, after, trouble = self.increment(level, count, size / whole)
            except AnalysisError as error:
                chunk, trouble = None, str(error)
            if chunk is None:
                self.back(token)
                cuts, easy = cuts + 1, 0
                if size < _SMALLEST:
                    where = f"t = {run.t:g} s" if duration else f"load factor {self.factor:g}"
                    turns = "" if duration else '; a path that turns back needs control = "arc"'
                    raise ConvergenceError(f'Step "{self.step.name}" at {where}: {trouble}{turns}')
                size *= 0.5
                continue
            if after and not count:
                self.unstable.append((self.place(), None))
            elif count and not after:
                self.unstable[-1] = self.unstable[-1][0], self.place(level)
            if trouble:
                self.snaps.append((self.place(), self.place(level)))
            rise = abs(target - self.factor)
            self.slope = self.tried / rise if rise > 0.0 and not duration and np.isfinite(self.tried) else None
            self.fell = False
            reached, (self.factor, run.t), count = part, level, after
            problem.restart()
            self.record(chunk, load_factor=target)
            self.progress(reached)
            easy += 1
            if easy >= 2:  # what made increments short may be over
                size = min(2.0 * size, whole)
        return {
            "increments": self.points, "cut_increments": cuts,
            "iterations": int(stepping.counter[S.TOTAL_ITERATIONS]) + self.iterations,
            "strain_energy": float(self.chunk.ledger[-1, 1]),
            "negative_eigenvalues": None if self.undecided else count,
            "snap_through": [list(pair) for pair in self.snaps],
            "warnings": self.said(count),
        }  # fmt: skip

    def increment(self, level: tuple[float, float], count: int | None, cut: float):
        """Return the equilibrium at a level (load factor, time): rows, negative eigenvalues, and what is wrong with it.

        Newton-Raphson finds it from the last one.  An equilibrium joins that one where it is no farther from it than
        the tangents at both say; what does not is refused until increments are ``cut`` to a small part.  Where the
        model is loose, or jumps however short the increment, it goes down to the next equilibrium that is stable.

        Raises:
            AnalysisError: none was found, or none that joins.
        """
        stepping, problem = self.stepping, self.problem
        here = self.factor, self.run.t
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
                stepping.single(chunks.append, funs)
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
            stepping.single(found.append, funs)
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

    def judged(self, here, level, reach: float, moved: float, count: int | None) -> tuple[int | None, str]:
        """Return negative eigenvalues at a new equilibrium, and a sentence if it does not join the last one, from which
        it has ``moved``, and which had the given ``reach`` and ``count``."""
        problem = self.problem
        problem.restart()
        after = self.count(count)
        back = problem.reach(level[0], lambda part: self.go(level, here, part), self.sampled)
        self.tried = back
        self.go(level)
        joined = moved <= _STRETCH * max(reach, back) + _TINY
        fallen = after and not count and moved > _FALL
        if joined and not fallen:
            return after, ""
        return after, f"no equilibrium near by; the next one is {moved:.3g} of the model's size away"

    def go(self, level: tuple[float, float], other: tuple[float, float] | None = None, part: float = 0.0) -> float:
        """Set loads and time to a level (load factor, time), or to a part of the way to another; its load factor."""
        factor, time = level
        if other is not None:
            factor, time = factor + part * (other[0] - factor), time + part * (other[1] - time)
        self.stepping.t0 = time
        self.set(factor)
        return factor

    @property
    def sampled(self) -> float:
        """Part of an increment over which the change of the loads is taken: all of it, but where parts are driven."""
        driven = self.motions or (self.options["duration"] and not np.asarray(self.run.compiled.loads, bool).all())
        return 1e-4 if driven else 1.0

    def place(self, level: tuple[float, float] | None = None) -> float:
        """Return the load factor, or the time where this passes."""
        factor, time = level or (self.factor, self.run.t)
        return float(time if self.options["duration"] else factor)

    def token(self) -> Any:
        s = self.stepping
        return self.problem.save(), s.works.copy(), s.step, s.t0, dict(s.watcher.worst)

    def back(self, token: Any) -> None:
        s = self.stepping
        state, s.works, s.step, s.t0, worst = token
        s.works, s.watcher.worst = s.works.copy(), dict(worst)
        self.problem.restore(state)
        self.set(self.factor)

    def count(self, last: int | None = None) -> int | None:
        """Return negative eigenvalues of the stiffness at the last equilibrium; None where this is not cheap, and the
        ``last`` number within many increments where it costs as much as they do."""
        if self.run.system.n_equations > _COUNTED:
            return None
        many = self.options["increments"] > _MANY and not self.problem.quick
        if last is not None and many and self.applied != self.options["until"]:
            return last
        problem = self.problem
        try:
            found = problem.falling(self.applied)
            self.undecided = bool(found) and problem.skew > _UNSYMMETRIC
            if not self.undecided:
                return found
            # of loads without a potential the symmetric part proves nothing, a negative determinant does
            self.loads_without_potential = True
            return int(problem.diverging())
        except AnalysisError:
            return None

    def said(self, count: int | None) -> list[str]:
        """Return sentences on jumps and unstable equilibria."""
        what = "t =" if self.options["duration"] else "load factor"
        unit = " s" if self.options["duration"] else ""
        found = [
            f"snap-through between {what} {a:.6g} and {b:.6g}{unit}: the equilibrium does not go on there, and a far "
            "one was found, to which the motion may not lead"
            + ("" if self.options["duration"] else '; control = "arc" follows the path')
            for a, b in self.snaps
        ]
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
        from fem_mbs.analysis.solution import Progress

        if self.run.progress:
            iterations = float(self.chunk.iterations[-1])
            total = max(self.points, round(self.points / part)) if part > 0.0 else self.points
            self.run.progress(
                Progress(self.step.name, self.points, total, self.run.t, iterations, 0.0, float(self.factor))
            )  # fmt: skip

    # --- a path ----------------------------------------------------------------------------------------------------
    def path(self) -> dict[str, Any]:
        run, o = self.run, self.options
        problem = _Problem(run.compiled, self.stepping, self.set, self.motions)
        begun = self.balanced_start(problem) if o["control"] != "load" else []
        component, place = -1, 0.0
        if o["on"]:
            node, dof, component = controlled(run.model, run.system, o, f'Step "{self.step.name}"')
            place = float(run.state.Q[0, dof] - run.system.nodes.x[node, "xyz".index(o["component"])])
        size = run.system.length
        arc = (o["size"] or 0.02) * 1.0
        first = {
            "load": abs(o["until"] - self.factor) / o["increments"],
            "displacement": abs(o["displacement"] - place) / o["increments"],
            "arc": arc,
        }[o["control"]]
        if first == 0.0:
            raise ModelError(f'Step "{self.step.name}": its end is where it starts; change until or displacement')
        settings = PathSettings(
            control=o["control"], size=first, smallest=first * _SMALLEST,
            largest=(o["largest"] or 10.0 * arc) if o["control"] == "arc" else first,
            spherical=o["spherical"], rise=abs(o["until"] - self.factor) / o["increments"] or np.inf,
            component=component, start_displacement=place,
            end=None if o["control"] == "displacement" and o["until"] == 1.0 else o["until"],
            end_displacement=o["displacement"] if o["displacement"] else None,
            points=o["points"], stability=o["stability"] or bool(o["branch"]), tolerance=o["tolerance"],
            branch=o["branch"], branch_size=o["branch_size"], line_search=o["line_search"],
            iterations=self.stepping.settings.max_iterations,
        )  # fmt: skip
        problem.before = self.functions()[:, :, C.T1]
        count = problem.negative(self.factor) if settings.stability else -1
        start = {"load factor": self.factor, "path length": 0.0, "negative eigenvalues": float(count)}
        run._first_rows(
            self.stepping, **{k: np.array([v]) for k, v in start.items()},
            **self.along(0, load_factor=self.factor, path_length=0.0),
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

        if o["control"] == "load" and settings.end is not None:
            settings = self.loose_start(problem, settings, on_point)
        criticals: list[Critical] = []
        account: dict[str, Any] = {
            "cuts": 0, "iterations": 0, "left": 0, "notes": [], "ended": True, "limit": False,
        }  # fmt: skip
        try:
            if settings.end is None or self.factor != settings.end:
                self.factor, criticals, account = follow(problem, self.factor, settings, on_point)
        except ConvergenceError as error:
            raise ConvergenceError(f'Step "{self.step.name}": {error}') from None
        self.set(self.factor)
        failures = []
        bifurcations = branching(criticals)
        if bifurcations < o["branch"]:
            failures.append(
                f"branch = {o['branch']}: the path has {bifurcations or 'no'} bifurcation{'s' * (bifurcations != 1)} "
                f"up to load factor {self.factor:.6g}; give the number of one that is there, or follow the path farther"
            )
        if account["limit"]:
            failures.append(
                f"load control ends at load factor {self.factor:.6g}, short of until = {settings.end:g}: the path has "
                f'a limit point at {criticals[-1].factor:.6g}; control = "arc" follows it beyond'
            )
        elif not account["ended"]:
            wanted = []
            if settings.end is not None:
                wanted.append(f"until = {settings.end:g}")
            if settings.end_displacement is not None:
                wanted.append(f"displacement = {settings.end_displacement:g}")
            failures.append(
                f"the path ends at load factor {self.factor:.6g} after points = {settings.points}, short of "
                f"{' and '.join(wanted)}; take more points, or larger steps"
            )
        warnings = [*begun, *account["notes"]]
        if account["left"]:
            warnings.append(
                f"{account['left']} steps led away from the path and were refused; what was found is in one piece"
            )
        if settings.stability and last.negative > 0:
            warnings.append(
                f"the equilibrium at the end, load factor {self.factor:.6g}, is unstable ({last.negative} negative "
                "eigenvalues of the stiffness)"
            )
        if settings.stability and problem.asymmetry > _UNSYMMETRIC:
            warnings.append(
                f"the stiffness is unsymmetric by {problem.asymmetry:.2g}: loads without a potential; counts of "
                "negative eigenvalues are those of its symmetric part"
            )
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
            "warnings": warnings,
        }  # fmt: skip

    def balanced_start(self, problem: _Problem) -> list[str]:
        """Where the model is out of balance at the start of a path, go down to the next equilibrium; what is to be said
        of that."""
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
                f'Step "{self.step.name}": the model is out of balance at the start, load factor {self.factor:g}, and '
                f"{error}; put a static step before it, which brings it to rest"
            ) from None
        problem.restart()
        return [
            f"the model is out of balance at the start, load factor {self.factor:g}: the path begins at the next "
            f"equilibrium, {way:.3g} of the model's size away"
        ]

    def loose_start(self, problem: _Problem, settings: PathSettings, on_point: Callable[[Point], None]) -> PathSettings:
        """Minimise the potential in the first step of load control if the model has unconstrained motions."""
        here = self.factor, self.run.t
        rise = settings.end - self.factor
        first = self.factor + np.sign(rise) * min(settings.size, abs(rise)), self.run.t
        if np.isfinite(problem.reach(self.factor, lambda part: self.go(here, first, part), self.sampled)):
            return settings
        problem.take_force(first[0])
        try:
            self.iterations, way = descend(problem, first[0], self.stepping.settings.max_iterations)
        except AnalysisError as error:
            raise ConvergenceError(f'Step "{self.step.name}" at load factor {self.factor:g}: {error}') from None
        self.go(first)
        count = problem.negative(first[0]) if settings.stability else -1
        on_point(Point(first[0], way, self.iterations, count))
        return replace(settings, points=max(settings.points - 1, 1))


class _Problem:
    """A compiled model as `fem_mbs.solvers.stepping.continuation` sees it: unknowns are the equations of the system."""

    def __init__(self, compiled: CompiledModel, stepping: Stepping, set_factor, motions: bool):
        self.system, self.stepping, self.state = compiled.system, stepping, stepping.state
        self.set, self.motions = set_factor, motions
        arrays = self.system.system
        self.unknown = arrays.unknown
        kind = arrays.kind[self.unknown]
        self.node = kind != S.MULTIPLIER
        self.weight = np.select([kind == S.POSITION, kind == S.ROTATION], [self.system.length**-2, 1.0], 0.0)
        self.asymmetry = self.skew = 0.0  # largest so far, and of the last count
        self.force = 1.0
        self.before: np.ndarray | None = None  # time functions (1, n_fun) at the last equilibrium
        self.chunk: Chunk | None = None
        self.restart()
        self._lu: Any = None
        self._noise = np.zeros(self.unknown.size)
        self._none = np.zeros(self.system.n_dof)

    def restart(self) -> None:
        """Restart the increments from the present start of the step."""
        state, mult = self.state, self.system.system.kind == S.MULTIPLIER
        state.U[~mult] = 0.0
        state.U[mult] = state.Q[0, mult]

    def _assemble(self, job: int, factor: float) -> bool:
        self.set(factor)
        now = np.array([self.stepping.t0])
        self._funs = self.stepping.evaluate(now, now, now)
        s = self.stepping
        if self.system.callbacks:  # they are asked at the configuration, which the first call makes
            S.equilibrium(
                C.FORCE, s.kernels, self.system.system, s.ctl, self._funs[0], self.state, s.real, s.counter
            )  # fmt: skip
            self.system.serve(s.ctl, self._funs[0], self.state, slopes=job == C.TANGENT)
        return S.equilibrium(
            job, s.kernels, self.system.system, s.ctl, self._funs[0], self.state, s.real, s.counter
        )  # fmt: skip

    def residual(self, factor: float) -> tuple[np.ndarray, bool]:
        small = self._assemble(C.FORCE, factor)
        r = self.state.residual[self.unknown].copy()
        return r, bool(small or (np.abs(r) <= self._noise).all())

    def factorise(self, factor: float, stiffen: float = 0.0) -> None:
        """Factor the tangent with the springs of ``held``."""
        self._assemble(C.TANGENT, factor)
        system = self.system
        if stiffen > 0.0:
            self.state.values[system.diagonal] += self.held(stiffen)
        band, n = system.bandwidth, system.n_equations
        if system.banded:
            table = self.state.values[: n * (3 * band + 1)].reshape(n, 3 * band + 1)
            size = np.abs(table).max(axis=1)
        else:
            size = np.maximum.reduceat(np.abs(self.state.values[:-1]), system.pattern[0][:-1])
        self._diagonal = np.where(self.node, size, 0.0)
        # what round-off of the coordinates leaves near by: beyond it a residual has nothing to say
        self._noise = _ROUND_OFF * system.length * size
        redundancy = self.stepping.redundancy
        if not system.banded:
            try:
                redundancy.factor(self.stepping.solver, self.state.values[:-1])
            except SingularMatrixError as error:
                raise AnalysisError(str(error)) from None
            return
        self.state.values[system.diagonal] -= redundancy.share
        lu, pivots, info = dgbtrf(np.array(table.T, order="F"), band, band)
        if info != 0:
            raise AnalysisError(f"the tangent is singular at {system.name_of(int(self.unknown[max(info - 1, 0)]))}")
        self._lu = lu, pivots, band
        redundancy.find_null(self._solve)

    def _solve(self, b: np.ndarray) -> np.ndarray:
        if not self.system.banded:
            return self.stepping.solver.solve(b)
        lu, pivots, band = self._lu
        return dgbtrs(lu, band, band, b, pivots)[0]

    def solve(self, b: np.ndarray) -> np.ndarray:
        x = self._solve(b)
        self.stepping.redundancy.balance(self._none, x)  # least increments of multipliers that are not determined
        return x

    def load(self, factor: float) -> np.ndarray:
        d = _DIFFERENCE if self.motions else 0.5
        after = self.residual(factor + d)[0]
        before = self.residual(factor - d)[0]
        self.set(factor)
        return (after - before) / (2.0 * d)

    def move(self, x: np.ndarray) -> bool:
        self.state.rhs[:] = x
        size_x, size_t = S.compose(self.system.system, self.state)
        if not max(size_x / self.system.length, size_t) <= _NEAR:
            self._noise[:] = 0.0
        return size_x <= 1e-13 * self.system.length and size_t <= 1e-13

    def increment(self) -> np.ndarray:
        return np.where(self.node, self.state.U[self.unknown], 0.0)

    def save(self) -> Any:
        s = self.state
        return [a.copy() for a in (s.Q, s.D, s.U, s.past, s.reaction, s.work, self.system.system.hist)]

    def restore(self, token: Any) -> None:
        s = self.state
        for a, b in zip((s.Q, s.D, s.U, s.past, s.reaction, s.work, self.system.system.hist), token, strict=True):
            a[:] = b
        self._noise[:] = 0.0

    def accept(self, factor: float) -> None:
        """Commit the configuration; the rows of it stay in ``chunk``.  Works go from the last equilibrium to it."""
        self._assemble(C.FORCE, factor)
        s = self.stepping
        now = self._funs[:, :, C.T1].copy()
        self._funs[:, :, C.T0] = now if self.before is None else self.before
        self.before = now
        output = s.buffers(1, 1)
        c = s.counter
        c[S.STEP], c[S.N_FRAMES], c[S.STEP_OFFSET], c[S.FRAME_EVERY] = 0, 0, 0, 1
        S.accept(s.kernels, s.reports, self.system.system, self.state, output, s.ctl, self._funs[0], c, s.real)
        self.chunk = s.take(output, 1, np.array([s.t0]))
        s.step += 1
        self.state.U[self.unknown[self.node]] = 0.0
        self.state.U[self.system.system.driven] = 0.0

    # --- how far loads move, and whether an equilibrium stays ------------------------------------------------------
    def take_force(self, factor: float) -> None:
        """Remember the largest force of an element at the present configuration, by which `held` is measured; moments
        count over the model's size."""
        self.residual(factor)
        peak = self.state.peak
        self.force = float(max(peak[S.POSITION], peak[S.ROTATION] / self.system.length)) or 1.0

    def held(self, stiffen: float) -> np.ndarray:
        """Return stiffness (n,) of springs that hold the nodes: ``stiffen`` times the largest force over the model's
        size."""
        return stiffen * self.force * self.system.length * self.weight

    def size(self) -> float:
        """Return largest displacement over the model's size, or rotation, since the last equilibrium."""
        return float((np.abs(self.increment()) * np.sqrt(self.weight)).max(initial=0.0))

    def reach(self, factor: float, level: Callable[[float], float], sampled: float) -> float:
        """Return the motion by an increment of the loads that the tangent at the present configuration predicts (as
        `size`); infinite where it says nothing, since the model is loose or at a critical point.

        ``level(part)`` sets the loads to a part of the increment and returns their factor.
        """
        if not self.node.any():
            return 0.0
        try:
            here = self.residual(level(0.0))[0]
            # with what is out of balance there, as at the start of parts with prestress
            change = here + (self.residual(level(sampled))[0] - here) / sampled
            level(0.0)
            self.factorise(factor)
            forces = np.where(self.node, change, 0.0)
            x = self.solve(-forces)
            soft, stiff = abs(float(x @ forces)), float((self._diagonal * x * x).sum())
            if not np.isfinite(stiff) or soft < _LOOSE * stiff:
                return np.inf
            if not self.node.all():  # what constraints move, they move however loose the model is
                x += self.solve(forces - change)
        except AnalysisError:
            return np.inf
        finally:
            level(0.0)
        x[~self.node] = 0.0
        far = float((np.abs(x) * np.sqrt(self.weight)).max(initial=0.0))
        return far if far <= _FAR else np.inf

    def definite(self, factor: float, stiffen: float) -> bool:
        """Return whether the tangent with the springs of ``held`` has positive eigenvalues only; taken for granted of
        large models."""
        return self.system.n_equations > _COUNTED or self.falling(factor, stiffen) == 0

    def falling(self, factor: float, stiffen: float = 0.0) -> int:
        """Return negative eigenvalues of the tangent with the springs of ``held``, on the null space of the
        constraints; zeros, of directions in which a model is free, do not count."""
        if not self.node.any():
            return 0
        self._assemble(C.TANGENT, factor)
        self.state.values[self.system.diagonal] += self.held(stiffen)
        if self.quick and self._positive():
            return 0
        K, G = self._parts()
        return negative_count(K + diags(_ZERO * abs(K).max(axis=1).toarray().ravel()), G, _DENSE)

    @property
    def quick(self) -> bool:
        """Whether a Cholesky factorisation of the band tells that no eigenvalue is negative."""
        return bool(self.system.banded and self.node.all())

    def diverging(self) -> bool:
        """Return whether the determinant of the tangent that `falling` has assembled is negative on the null space of
        the constraints: the equilibrium is unstable with any mass."""
        K, G = self._parts(whole=True)
        return negative_determinant(K + diags(_ZERO * abs(K).max(axis=1).toarray().ravel()), G)

    def _positive(self) -> bool:
        """Return whether the symmetric part of the assembled band, with zeros moved up a little, is positive
        definite."""
        band, n = self.system.bandwidth, self.system.n_equations
        table = self.state.values[: n * (3 * band + 1)].reshape(n, 3 * band + 1)
        lower = np.zeros((band + 1, n))
        for d in range(band + 1):  # entry (j + d, j) stands in column j, (j, j + d) in column j + d
            lower[d, : n - d] = 0.5 * (table[: n - d, 2 * band + d] + table[d:, 2 * band - d])
        lower[0] += _ZERO * np.abs(table).max(axis=1)
        return dpbtrf(lower, lower=1)[1] == 0

    def negative(self, factor: float) -> int:
        self._assemble(C.TANGENT, factor)
        return negative_count(*self._parts())

    def reverses(self, count: int) -> bool:
        return self.diverging() if self.skew > _UNSYMMETRIC else bool(count % 2)

    def _parts(self, whole: bool = False) -> tuple[csr_matrix, csr_matrix]:
        """Return symmetric part of the stiffness, or all of it, and the constraints' gradient."""
        A = self._matrix()
        K, G = A[self.node][:, self.node], A[~self.node][:, self.node]
        skew = abs(K - K.T)
        if K.nnz:
            self.skew = float(skew.max() / abs(K).max())
            self.asymmetry = max(self.asymmetry, self.skew)
        return (K if whole else 0.5 * (K + K.T)), G

    def _matrix(self) -> csr_matrix:
        system, n = self.system, self.system.n_equations
        if not system.banded:
            indptr, indices = system.pattern
            return csc_matrix((self.state.values[:-1], indices, indptr), shape=(n, n)).tocsr()
        band = system.bandwidth
        table = self.state.values[: n * (3 * band + 1)].reshape(n, 3 * band + 1)[:, band:]
        column = np.repeat(np.arange(n), 2 * band + 1)
        row = (np.arange(n)[:, None] + np.arange(-band, band + 1)).ravel()
        inside = (row >= 0) & (row < n) & (table.ravel() != 0.0)
        return csr_matrix((table.ravel()[inside], (row[inside], column[inside])), shape=(n, n))

    def blame(self) -> str:
        worst = int(self.stepping.counter[S.WORST])
        return self.system.name_of(worst) if worst >= 0 else "an unknown place"
