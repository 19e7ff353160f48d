"""Find values of a model file's parameters for which something is best: `optimise`.

    found = optimise("model.toml", {"height": (0.02, 0.2)}, "parameter.mass", subject=["modes.frequency_1 >= 5"])
    found.values, found.table

Every trial is a variant as of a sweep, with a folder of its own, and the table is that of a sweep: trials are kept,
and the same call goes on from them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.cluster import TaskFailure, refuse_in_workers, run_tasks
from fem_mbs.decks.formats import is_deck
from fem_mbs.declarations.kinds import shown
from fem_mbs.display import html_table
from fem_mbs.errors import AnalysisError, ModelError, Owner, ResultsError
from fem_mbs.files import release
from fem_mbs.functions.expressions import Expression, compile_expression
from fem_mbs.input_files import digest_of
from fem_mbs.late import dataclass
from fem_mbs.modelfile.read import check_model_data, parse_model_file
from fem_mbs.modelfile.writer import model_text
from fem_mbs.results import store
from fem_mbs.results.folder import examine
from fem_mbs.sweeps.gradients import Gradients, slopes_of
from fem_mbs.sweeps.parameters import Parameter, Variant, changed, folder_name, make_parameters
from fem_mbs.sweeps.sweep import (
    OWN,
    VARIANTS,
    Plan,
    arguments_of,
    check_quantities,
    opened,
    read_record,
    record_of,
    run_variant,
    table_of,
    tables_in,
)
from fem_mbs.sweeps.table import SweepRow, SweepTable

if TYPE_CHECKING:
    import pandas

__all__ = ["METHODS", "WITH_GRADIENTS", "Optimum", "optimise"]

#: Methods of scipy.optimize, and what they are.
METHODS = {
    "cobyqa": "quadratic models in a trust region (Ragonneau 2022): smooth dependence, constraints",
    "nelder-mead": "simplex (Nelder and Mead 1965): no constraints",
    "evolution": "differential evolution (Storn and Price 1997): several valleys, trials side by side, constraints",
    "slsqp": "quadratic programs (Kraft 1988) with gradients: smooth dependence, constraints",
    "trust-constr": "trust region (Byrd, Hribar and Nocedal 1999) with gradients: smooth dependence, constraints",
    "l-bfgs-b": "quasi-Newton (Byrd, Lu, Nocedal and Zhu 1995) with gradients: no constraints",
}
#: Those that take gradients, which trials with transients have (`fem_mbs.sensitivities`).
WITH_GRADIENTS = ("slsqp", "trust-constr", "l-bfgs-b")
_WITHOUT_CONSTRAINTS = ("nelder-mead", "l-bfgs-b")
OPTIMUM = "optimum.toml"
_NAME = re.compile(r"\{([^{}]+)\}")
_RULE = re.compile(r"(.+?)\s*(<=|>=)\s*([^<>=]+)")
_POOR = 1e30  # objective of a trial that has failed
_SLACK = 1e-6  # relative violation of a constraint that still counts as none


@dataclass(frozen=True)
class Measure:
    """A number of a trial: an expression of its quantities."""

    text: str
    names: tuple[str, ...]
    expression: Expression

    def of(self, quantities: Mapping[str, float]) -> float:
        """Return the number; NaN where the trial lacks a quantity.

        Raises:
            ModelError: no trial can have the quantity.
        """
        values = [quantities.get(name, math.nan) for name in self.names]
        return float(self.expression(*values))


@dataclass(frozen=True)
class Rule:
    """A constraint: a measure that must not exceed a limit (sign 1), or fall below it (sign -1)."""

    measure: Measure
    sign: float
    limit: float

    @property
    def scale(self) -> float:
        """Return the factor on the measure in its excess."""
        return self.sign / (abs(self.limit) or 1.0)

    def excess(self, quantities: Mapping[str, float]) -> float:
        """Return the violation relative to the limit; negative where the rule holds."""
        return self.scale * (self.measure.of(quantities) - self.limit)


@dataclass
class Optimum:
    """Result of a search.

    ``values`` are those of the best trial by path, ``row`` its row in the ``table`` of all trials, ``objective`` the
    number that was minimised or maximised there.  ``converged``: the method has ended by its tolerance, not by the
    number of trials; ``message`` is its own.
    """

    values: dict[str, float]
    objective: float
    row: SweepRow
    table: SweepTable
    converged: bool
    message: str

    def __repr__(self) -> str:
        best = ", ".join(f"{path} = {value:.6g}" for path, value in self.values.items())
        end = "converged" if self.converged else "not converged"
        return f"<Optimum {best}: objective {self.objective:.6g} after {len(self.table.rows)} trials; {end}>"

    def _repr_html_(self) -> str:
        """Return the best values and the history as tables of a notebook."""
        best = html_table("Best values", ("parameter", "value"), ((k, f"{v:.6g}") for k, v in self.values.items()))
        return f"<p>{escape(repr(self))}</p>{best}{self.table._repr_html_()}"

    def to_dataframe(self, patterns: Sequence[str] | None = None, base: bool = False) -> pandas.DataFrame:
        """Return the history of the search, a row per trial in the order in which they ran.

        Arguments ``patterns`` and ``base``, and errors, are those of `fem_mbs.SweepTable.to_dataframe`.
        """
        return self.table.to_dataframe(patterns, base)


@dataclass
class _Search:
    """Trials of a plan, run and remembered by their values."""

    plan: Plan
    objective: Measure
    sign: float
    rules: list[Rule]
    workers: int | None
    most: int
    progress: Callable[[int, SweepRow, float], None] | None
    token: tuple[Path, str] = (Path(), "")
    known: dict[tuple[float, ...], int] = field(default_factory=dict)
    digests: dict[Path, str] = field(default_factory=dict)

    @property
    def measures(self) -> list[Measure]:
        """The objective and the limited quantities of the rules."""
        return [self.objective, *(rule.measure for rule in self.rules)]

    def run(self, points: Sequence[tuple[float, ...]]) -> None:
        """Run the trials of points that are not known yet.

        Raises:
            AnalysisError: workers do not start, or the very first trial has failed.
        """
        plan, waiting = self.plan, []
        new = [values for values in dict.fromkeys(points) if values not in self.known]
        for values in new:
            k = self.known[values] = len(plan.variants)
            plan.variants.append(Variant(folder_name(plan.parameters, values), values))
            plan.digests.append(digest_of(changed(plan.data, plan.parameters, values), plan.file.parent, self.digests))
            record = read_record(plan.directory / VARIANTS / plan.variants[k].name)
            kept = (
                record is not None and record["digest"] == plan.digests[k] and release(record["version"]) == release()
                and record["status"] == "done"
            )  # fmt: skip
            plan.records.append(record if kept else None)
            if not kept:
                waiting.append(k)
        tasks = [arguments_of(plan, k, *self.token) for k in waiting]
        if len(tasks) > 1 and self.workers != 1:
            results = run_tasks(run_variant, tasks, workers=self.workers, errors="return")
        else:
            results = [run_variant(*task) for task in tasks]
        for k, result in zip(waiting, results, strict=True):
            plan.records[k] = record_of(plan, k, result)
        for values in new:
            self._first(values)
            if self.progress is not None:
                row = self.row(values)
                self.progress(self.known[values] + 1, row, self.objective.of(row.quantities))

    def _first(self, values: tuple[float, ...]) -> None:
        """Refuse a search whose start fails, or lacks a quantity."""
        if self.known[values] > 0:
            return
        row = self.row(values)
        if row.status == "failed":
            raise AnalysisError(f"the first trial has failed: {row.reason}", owner=Owner("Optimisation"))
        for measure in self.measures:
            for name in measure.names:
                if name not in row.quantities:
                    known = ", ".join([*row.quantities][:40])
                    raise ModelError(f'no quantity "{name}"', owner=Owner("Optimisation"), remedy=f"there are {known}")

    def row(self, values: tuple[float, ...]) -> SweepRow:
        """Return the row of known values."""
        record = self.plan.records[self.known[values]]
        folder = f"{VARIANTS}/{self.plan.variants[self.known[values]].name}"
        if record is None or isinstance(record, TaskFailure):
            return SweepRow(values, folder, "missing")
        found = {name: value for name, value, _ in record["quantities"]}
        return SweepRow(values, folder, record["status"], record["reason"], record["seconds"], found)

    def cost(self, values: tuple[float, ...]) -> float:
        """Return the objective to minimise; for a failed trial a large number."""
        row = self.row(values)
        found = self.sign * self.objective.of(row.quantities)
        return found if row.status == "done" and math.isfinite(found) else _POOR

    def excesses(self, values: tuple[float, ...]) -> np.ndarray:
        """Return by how much each rule is violated."""
        row = self.row(values)
        found = np.array([rule.excess(row.quantities) for rule in self.rules])
        return np.where(np.isfinite(found), found, _POOR)

    @cached_property
    def gradients(self) -> Gradients:
        """The gradients of all quantities that the search looks at."""
        names = [name for measure in self.measures for name in measure.names]
        return Gradients(self.plan.file, [p.path for p in self.plan.parameters], list(dict.fromkeys(names)))

    def slopes(self, values: tuple[float, ...], measure: Measure) -> np.ndarray:
        """Return the gradient (n_varied,) of a measure; zero where the trial has failed.

        Raises:
            ModelError, AnalysisError: there is none.
        """
        row, k = self.row(values), self.known[values]
        if row.status != "done":
            return np.zeros(len(values))
        folder = self.plan.directory / VARIANTS / self.plan.variants[k].name
        found = self.gradients.at(values, folder, self.plan.digests[k])
        return slopes_of(measure.expression, measure.names, row.quantities, found)

    def best(self) -> tuple[float, ...]:
        """Return the values of the best trial that violates nothing.

        Raises:
            AnalysisError: there is none.
        """
        good = [v for v in self.known if self.cost(v) < _POOR and (self.excesses(v) <= _SLACK).all()]
        if not good:
            told = ", ".join(rule.measure.text for rule in self.rules) or "they failed"
            raise AnalysisError(
                f"none of {len(self.known)} trials fulfils what it must ({told}); widen the bounds, allow more trials, "
                'or take method = "evolution"',
                owner=Owner("Optimisation"),
            )
        return min(good, key=self.cost)


class _Enough(Exception):
    """Ends a method that knows no limit of trials."""


def optimise(
    model: str | Path,
    vary: Mapping[str, Sequence[float]],
    minimise: str = "",
    maximise: str = "",
    subject: Sequence[str] = (),
    output: str | Path | None = None,
    *,
    method: str = "cobyqa",
    trials: int = 100,
    tolerance: float = 1e-4,
    workers: int | None = None,
    seed: int = 1,
    overwrite: bool = False,
    progress: Callable[[int, SweepRow, float], None] | None = None,
) -> Optimum:
    """Vary numbers of a model file until a quantity of its results is smallest or largest.

    Args:
        model: model file (TOML).
        vary: bounds (low, high) by path as of `fem_mbs.sweeps.sweep.sweep`; or (low, start, high).  Without a start
            the middle.
        minimise, maximise: one of them: a quantity ("modes.frequency_1", "parameter.mass"), or an expression of
            quantities in braces ("({modes.frequency_1} - 5)**2 + {static.tip.y.absmax}").
        subject: constraints on quantities or expressions: "modes.frequency_1 >= 5".
        output: folder, by default STEM-optimum; trials that it has are kept.
        method: one of `METHODS`.
        trials: most trials.
        tolerance: of the values, relative to their bounds.
        workers: processes of "evolution", as of `fem_mbs.cluster.run_tasks`; 1: none beside this one.
        seed: of "evolution".
        overwrite: take a folder of another model's trials, or one with other files in it, too.
        progress: called after every trial with their number, its row and its objective.

    Raises:
        ModelError: of the file, the paths, bounds, quantities or constraints.
        ResultsError: the folder cannot be used.
        AnalysisError: the first trial fails, or none fulfils the constraints.
    """
    refuse_in_workers()
    owner = Owner("Optimisation")
    if bool(minimise) == bool(maximise):
        raise ModelError("say either minimise or maximise", owner=owner, remedy="give one quantity")
    if method not in METHODS:
        raise ModelError(f"method = {shown(method)} must be one of {', '.join(METHODS)}", owner=owner, key="method")
    if method in _WITHOUT_CONSTRAINTS and subject:
        raise ModelError(
            f'"{method}" takes no constraints', owner=owner, remedy='take "cobyqa", "slsqp" or "evolution"'
        )
    if trials < 2 or not 0.0 < tolerance < 1.0:
        raise ModelError("trials must be at least 2, tolerance between 0 and 1", owner=owner)
    plan, low, start, high = _plan(Path(model), vary, output, overwrite)
    search = _Search(
        plan, _measure(minimise or maximise), 1.0 if minimise else -1.0, [_rule(text) for text in subject], workers,
        trials, progress,
    )  # fmt: skip
    first = Variant("start", tuple(float(v) for v in start))
    names = [name for measure in search.measures for name in measure.names]
    check_quantities(plan.file, plan.data, plan.parameters, [first], names, owner)
    span = high - low

    def values_at(u: np.ndarray) -> tuple[float, ...]:
        return tuple(float(v) for v in low + np.clip(u, 0.0, 1.0) * span)

    with opened(plan) as search.token:
        search.run([first.values])
        converged, message = _minimise(method, search, values_at, (start - low) / span, span, tolerance, seed)
        best = search.best()
        table = table_of(plan)
        text = f"# The best of {len(plan.variants)} trials of {plan.file.name}\n\n"
        store.write_atomic(plan.directory / OPTIMUM, text + model_text(tables_in(plan.directory, plan, best)))
    row = search.row(best)
    values = {p.path: v for p, v in zip(plan.parameters, best, strict=True)}
    return Optimum(values, search.objective.of(row.quantities), row, table, converged, message)


def _minimise(
    method: str,
    search: _Search,
    values_at: Callable[[np.ndarray], tuple[float, ...]],
    start: np.ndarray,
    span: np.ndarray,
    tolerance: float,
    seed: int,
) -> tuple[bool, str]:
    """Run a method of scipy over the unit cube, whose sides are ``span``; return whether it has converged, and its
    message."""
    from scipy.optimize import NonlinearConstraint, differential_evolution, minimize

    def seen(u: np.ndarray) -> tuple[float, ...]:
        values = values_at(u)
        if values not in search.known and len(search.known) >= search.most:
            raise _Enough
        search.run([values])
        return values

    bounds = [(0.0, 1.0)] * len(start)
    limits = [NonlinearConstraint(lambda u: search.excesses(seen(u)), -np.inf, 0.0)] if search.rules else []
    try:
        if method == "cobyqa":
            options: dict[str, Any] = {"initial_tr_radius": 0.25, "final_tr_radius": tolerance, "maxfev": search.most}
            found = minimize(
                lambda u: search.cost(seen(u)), start, method="COBYQA", bounds=bounds, constraints=limits,
                options=options,
            )  # fmt: skip
        elif method == "nelder-mead":
            options = {"xatol": tolerance, "fatol": 0.0, "maxfev": search.most}
            simplex = np.vstack([start, *(start + step * (1.0 if start[i] < 0.75 else -1.0)
                                          for i, step in enumerate(0.25 * np.eye(len(start))))])  # fmt: skip
            options["initial_simplex"] = simplex
            options["fatol"] = np.inf
            found = minimize(
                lambda u: search.cost(seen(u)), start, method="Nelder-Mead", bounds=bounds, options=options
            )
        elif method in WITH_GRADIENTS:
            found = _descend(method, search, seen, start, span, tolerance)
        else:

            def side_by_side(function: Callable[[np.ndarray], Any], many: Any) -> list[Any]:
                many = [np.asarray(u) for u in many]
                new = [v for v in dict.fromkeys(map(values_at, many)) if v not in search.known]
                if len(search.known) + len(new) > search.most:
                    raise _Enough
                search.run(new)
                return [function(u) for u in many]

            found = differential_evolution(
                lambda u: search.cost(seen(u)), bounds, constraints=limits or (), x0=start, tol=tolerance, seed=seed,
                updating="deferred", workers=side_by_side, polish=False, popsize=8,
            )  # fmt: skip
    except _Enough:
        return False, f"ended after {len(search.known)} trials"
    ended = bool(found.success)
    told = f"; {search.gradients.runs} runs for gradients" if method in WITH_GRADIENTS else ""
    if ended and method in ("cobyqa", "nelder-mead"):  # whose messages speak of the radius or simplex instead
        return ended, f"converged: values are within {tolerance:g} of their bounds' distance"
    return ended, f"{found.message}{told}"


def _descend(
    method: str, search: _Search, seen: Callable[[np.ndarray], tuple[float, ...]], start: np.ndarray, span: np.ndarray,
    tolerance: float,
) -> Any:  # fmt: skip
    """Run a method of scipy that takes gradients; return its result.

    The objective is divided by its first gradient, so that tolerances mean the same in all units.
    """
    from scipy.optimize import NonlinearConstraint, minimize

    first = float(np.abs(search.slopes(seen(start), search.objective) * span).max())
    size = max(first, 1e-12 * abs(search.cost(seen(start))), 1e-300)

    def cost(u: np.ndarray) -> float:
        return min(search.cost(seen(u)) / size, _POOR)

    def slope(u: np.ndarray) -> np.ndarray:
        return search.sign * search.slopes(seen(u), search.objective) * span / size

    def rules(u: np.ndarray) -> np.ndarray:
        return np.array([rule.scale * search.slopes(seen(u), rule.measure) * span for rule in search.rules])

    limits = [NonlinearConstraint(lambda u: search.excesses(seen(u)), -np.inf, 0.0, jac=rules)] if search.rules else []
    options: dict[str, Any] = {"maxiter": search.most}
    if method == "trust-constr":
        options |= {"xtol": 1e-3 * tolerance, "gtol": 1e-4 * tolerance, "barrier_tol": 1e-2 * tolerance}
    else:
        options["ftol"] = tolerance**2
    return minimize(
        cost, start, jac=slope, method={"slsqp": "SLSQP", "l-bfgs-b": "L-BFGS-B"}.get(method, method),
        bounds=[(0.0, 1.0)] * len(start), constraints=limits, options=options,
    )  # fmt: skip


def _plan(
    file: Path, vary: Mapping[str, Sequence[float]], output: str | Path | None, overwrite: bool
) -> tuple[Plan, np.ndarray, np.ndarray, np.ndarray]:
    """Return a plan without trials, and the bounds and the start of the values."""
    if is_deck(file):
        raise ModelError(f"{file}: a deck has no named values to vary; write a model file (TOML) of it")
    data = parse_model_file(file)
    checked = check_model_data(file, data)
    lists: dict[str, list[float]] = {}
    for path, given in vary.items():
        numbers = [float(v) for v in given if isinstance(v, (int, float)) and math.isfinite(v)]
        if len(numbers) != len(given) or len(numbers) not in (2, 3) or not np.all(np.diff(numbers) > 0.0):
            raise ModelError(f"{path}: bounds {shown(list(given))} must be two rising numbers, or low, start, high")
        lists[path] = numbers if len(numbers) == 3 else [numbers[0], sum(numbers) / 2.0, numbers[1]]
    parameters: list[Parameter] = make_parameters(file, data, lists)
    directory = Path(output) if output is not None else Path(f"{file.stem}-optimum")
    if directory.exists() and not directory.is_dir():
        raise ResultsError(f'Optimisation "{directory}": this is a file; give a folder')
    if directory.is_dir():
        examine(directory, file, "", **OWN, overwrite=overwrite)
    title = checked.top.title or file.stem
    plan = Plan(file, title, data, parameters, [], [], directory, True, [], [], overwrite)
    low, start, high = (np.array(v) for v in zip(*lists.values(), strict=True))
    return plan, low, start, high


def _measure(text: str) -> Measure:
    """Return the measure that a text says: a quantity, or an expression of quantities in braces."""
    names = list(dict.fromkeys(_NAME.findall(text)))
    if not names:
        return Measure(text, (text.strip(),), compile_expression("q0", ["q0"]))
    written = _NAME.sub(lambda m: f"q{names.index(m[1])}", text)
    try:
        found = compile_expression(written, [f"q{i}" for i in range(len(names))])
    except ModelError as error:
        raise ModelError(f"{shown(text)}: {error.text}", owner=Owner("Optimisation")) from None
    return Measure(text, tuple(names), found)


def _rule(text: str) -> Rule:
    """Return the constraint that a text says."""
    found = _RULE.fullmatch(text.strip())
    try:
        limit = float(found[3]) if found else math.nan
    except ValueError:
        limit = math.nan
    if found is None or not math.isfinite(limit):
        raise ModelError(
            f"constraint {shown(text)} must be a quantity, <= or >=, and a number", owner=Owner("Optimisation"),
            remedy='write "modes.frequency_1 >= 5"',
        )  # fmt: skip
    return Rule(_measure(found[1]), 1.0 if found[2] == "<=" else -1.0, limit)
