"""Static steps: load increments in compiled code, or an equilibrium path point by point.

A static step varies a load factor on chosen loads (or motions) and leaves them there; loads that no step has varied do
not act yet.  With a duration, time passes over the increments, and whatever is not varied follows its function of time.
Plain load control runs as compiled increments.  Displacement control, arc length, and everything that looks at
stability follow the path with `fem_mbs.solvers.continuation`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dgbtrf, dgbtrs
from scipy.sparse import csc_matrix, csr_matrix

from fem_mbs import contract as C
from fem_mbs.analysis.eigenvalue_paths import EigenvaluePath
from fem_mbs.analysis.loading import Loading, chosen
from fem_mbs.analysis.stepping import Chunk, Settings, Stepping
from fem_mbs.errors import AnalysisError, ConvergenceError, ModelError
from fem_mbs.model import CompiledModel, Model, Step
from fem_mbs.solvers import stepper as S
from fem_mbs.solvers.continuation import PathSettings, Point, follow
from fem_mbs.solvers.eigen import negative_count
from fem_mbs.solvers.linear import SingularMatrixError

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
    "branch": 0,  # number of the bifurcation from which the path follows the other branch
    "branch_size": 0.01,  # first step onto it, over the model's size; negative: to the other side
    "line_search": False,
    "eigenvalues": None,  # along it: a table of fem_mbs.analysis.eigenvalue_paths.EIGENVALUES_OPTIONS
}
_SMALLEST = 2.0**-12  # of an increment's size
_DIFFERENCE = 1e-5  # of the load factor, where motions follow it
_PATH_RTOL = 1e-10
_ROUND_OFF = 8.0 * 2.0**-52
_SETTLING = 60  # iterations of a stiffened increment


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
    """Names of what the load factor of a static step multiplies; while time passes, nothing that is not asked for."""
    return [] if options["duration"] and "vary" not in step.options else options["vary"]


def check_levels(loading: Loading, mask: np.ndarray, weight: bool, owner: str) -> set[float]:
    """The factors at which loads (n_fun,) bool and perhaps the weight stand, at most one; NaN is one that is not known.

    Raises:
        ModelError: they stand at different ones.
    """
    levels = set(loading.factors[mask].tolist()) | ({loading.weight} if weight else set())
    if len(levels) > 1 and not np.isnan(list(levels)).any():
        raise ModelError(f"{owner}: vary: the loads stand at different factors {sorted(levels)}; vary them one by one")
    return levels


def controlled(model: Model, system, options: dict[str, Any], owner: str) -> tuple[int, int, int]:
    """Node, dof and equation of the displacement that ``on`` and ``component`` name.

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
    """A static step under way."""

    def __init__(self, run, step, options, stepping, loading, mask, weight, start, motions):
        self.run, self.step, self.options, self.stepping, self.loading = run, step, options, stepping, loading
        self.mask, self.weight, self.factor, self.motions = mask, weight, start, motions
        self.chunk: Chunk | None = None
        self.points = 0
        wanted = options["eigenvalues"]
        self.eigenvalues = EigenvaluePath(run, f'Step "{step.name}"', wanted) if wanted is not None else None

    def set(self, factor: float) -> None:
        self.loading.set(self.mask, self.weight, factor)
        self.loading.gravity(self.stepping.ctl)

    def functions(self) -> np.ndarray:
        """Values (1, n_fun, 3) of the time functions at the present time and level."""
        now = np.array([self.stepping.t0])
        return self.stepping.evaluate(now, now, now)

    def record(self, chunk: Chunk, **extra: float) -> None:
        """A row and a frame of an equilibrium."""
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
        """The series of eigenvalues in a row, if it is wanted; computed at every so many points."""
        if self.eigenvalues is None:
            return {}
        if point % self.eigenvalues.every:
            return {"eigenvalues": self.eigenvalues.none()}
        self.set(place["load_factor"])
        keep = ("load_factor", "path_length")
        return {"eigenvalues": self.eigenvalues.here(time=self.run.t, **{k: place[k] for k in keep if k in place})}

    # --- load increments in compiled code --------------------------------------------------------------------------
    def increments(self) -> dict[str, Any]:
        run, stepping, options = self.run, self.stepping, self.options
        t0, duration = run.t, options["duration"]
        run._first_rows(
            stepping, place=np.array([t0]) if duration else None,
            **{"load factor": np.array([self.factor])}, **self.along(0, load_factor=self.factor),
        )  # fmt: skip
        start, span = self.factor, options["until"] - self.factor
        chunks: list[Chunk] = []
        reached, size, cuts = 0.0, 1.0 / options["increments"], 0
        if span == 0.0 and not duration:
            size = 1.0
        before = self.functions()[:, :, C.T1]
        while reached < 1.0 - 1e-12:
            part = min(1.0, reached + size)
            if 1.0 - part < 1e-9 * size:
                part = 1.0
            target = options["until"] if part == 1.0 else start + part * span
            self.set(target)
            stepping.t0 = t0 + part * duration
            multipliers = run.state.U.copy()
            try:
                try:
                    funs = self.functions()
                    funs[:, :, C.T0] = before  # works go from the last equilibrium to this one
                    stepping.single(chunks.append, funs)
                except AnalysisError:
                    run.state.U[:] = multipliers
                    chunks.append(self.settled(target))
            except AnalysisError as error:
                run.state.U[:] = multipliers
                cuts += 1
                if size < _SMALLEST:
                    where = f"t = {run.t:g} s" if duration else f"load factor {self.factor:g}"
                    turns = "" if duration else '; a path that turns back needs control = "arc"'
                    raise ConvergenceError(f'Step "{self.step.name}" at {where}: {error}{turns}') from None
                size *= 0.5
                continue
            reached, self.factor, run.t, before = part, target, stepping.t0, funs[:, :, C.T1]
            self.record(chunks.pop(), load_factor=target)
            self.progress(reached)
        return {
            "increments": int(stepping.step), "cut_increments": cuts,
            "iterations": int(stepping.counter[S.TOTAL_ITERATIONS]),
            "strain_energy": float(self.chunk.ledger[-1, 1]),
        }  # fmt: skip

    def settled(self, factor: float) -> Chunk:
        """An increment with a tangent that is stiffened at first.

        A mechanism under loads, such as a hanging pendulum, has no stiffness before the multipliers bear the loads: the
        first tangents are singular, later ones are not (Levenberg 1944: K + mu W, mu shrinking with the residual).

        Raises:
            AnalysisError: no equilibrium was found.
        """
        problem = _Problem(self.run.compiled, self.stepping, self.set, self.motions)
        token = problem.save()
        stiffen = 1.0
        for _ in range(_SETTLING):
            _, small = problem.residual(factor)
            if small:
                problem.accept(factor)
                return problem.chunk
            try:
                problem.factorise(factor, stiffen)
                x = problem.solve(-problem.residual(factor)[0])
            except AnalysisError:
                break
            if not np.isfinite(x).all():
                break
            problem.move(x)
            stiffen *= 0.1 if stiffen > 1e-9 else 0.0
        where = problem.blame()
        problem.restore(token)
        raise ConvergenceError(f"no equilibrium was found, worst residual at {where}")

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
        count = problem.negative(self.factor) if settings.stability else -1
        start = {"load factor": self.factor, "path length": 0.0, "negative eigenvalues": float(count)}
        run._first_rows(
            self.stepping, **{k: np.array([v]) for k, v in start.items()},
            **self.along(0, load_factor=self.factor, path_length=0.0),
        )  # fmt: skip

        def on_point(point: Point) -> None:
            self.factor = point.factor
            problem.chunk.iterations[:] = point.iterations
            self.record(
                problem.chunk, load_factor=point.factor, path_length=point.length * size,
                negative_eigenvalues=float(point.negative),
            )  # fmt: skip
            self.progress(self.points / settings.points)

        try:
            self.factor, criticals, counts = follow(problem, self.factor, settings, on_point)
        except ConvergenceError as error:
            raise ConvergenceError(f'Step "{self.step.name}": {error}') from None
        self.set(self.factor)
        warnings = []
        if problem.asymmetry > 1e-6:
            warnings.append(
                f"the stiffness is unsymmetric by {problem.asymmetry:.2g}: loads without a potential; counts of "
                "negative eigenvalues are those of its symmetric part"
            )
        return {
            "increments": self.points, "cut_increments": counts["cuts"], "iterations": counts["iterations"],
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


class _Problem:
    """A compiled model as `fem_mbs.solvers.continuation` sees it: unknowns are the equations of the system."""

    def __init__(self, compiled: CompiledModel, stepping: Stepping, set_factor, motions: bool):
        self.system, self.stepping, self.state = compiled.system, stepping, stepping.state
        self.set, self.motions = set_factor, motions
        arrays = self.system.system
        self.unknown = arrays.unknown
        kind = arrays.kind[self.unknown]
        self.node = kind != S.MULTIPLIER
        self.weight = np.select([kind == S.POSITION, kind == S.ROTATION], [self.system.length**-2, 1.0], 0.0)
        self.asymmetry = 0.0
        self.chunk: Chunk | None = None
        state = self.state
        state.U[arrays.kind != S.MULTIPLIER] = 0.0
        mult = arrays.kind == S.MULTIPLIER
        state.U[mult] = state.Q[0, mult]
        self._lu: Any = None
        self._noise = np.zeros(self.unknown.size)
        self._none = np.zeros(self.system.n_dof)

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
        """Factor the tangent, with ``stiffen`` times the largest load per size of the model added to its diagonal."""
        self._assemble(C.TANGENT, factor)
        system = self.system
        if stiffen > 0.0:
            force = float(self.state.peak[S.POSITION]) or 1.0
            values = stiffen * force * system.length * self.weight
            self.state.values[system.diagonal] += values
        band, n = system.bandwidth, system.n_equations
        if system.banded:
            table = self.state.values[: n * (3 * band + 1)].reshape(n, 3 * band + 1)
            size = np.abs(table).max(axis=1)
        else:
            size = np.maximum.reduceat(np.abs(self.state.values[:-1]), system.pattern[0][:-1])
        # what round-off of the coordinates leaves: beyond it a residual has nothing to say
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

    def accept(self, factor: float) -> None:
        """Commit the configuration; the rows of it stay in ``chunk``."""
        self._assemble(C.FORCE, factor)
        s = self.stepping
        output = s.buffers(1, 1)
        c = s.counter
        c[S.STEP], c[S.N_FRAMES], c[S.STEP_OFFSET], c[S.FRAME_EVERY] = 0, 0, 0, 1
        S.accept(s.reports, self.system.system, self.state, output, s.ctl, self._funs[0], c, s.real)
        self.chunk = s._take(output, 1, np.array([s.t0]))
        s.step += 1
        self.state.U[self.unknown[self.node]] = 0.0
        self.state.U[self.system.system.driven] = 0.0

    def negative(self, factor: float) -> int:
        self._assemble(C.TANGENT, factor)
        A = self._matrix()
        K, G = A[self.node][:, self.node], A[~self.node][:, self.node]
        skew = abs(K - K.T)
        if K.nnz:
            self.asymmetry = max(self.asymmetry, float(skew.max() / abs(K).max()))
        return negative_count(0.5 * (K + K.T), G)

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
