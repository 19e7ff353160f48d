"""Run variants of a model file in parallel, show their progress, and print their table (`fem-mbs sweep`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from fem_mbs.cli.report_stability import make_table
from fem_mbs.cluster import TaskFailure, TaskProgress
from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import DiskFullError, ModelError, ResultsError
from fem_mbs.results.folder import take
from fem_mbs.sweeps.sweep import Plan, plan_sweep, run_plan
from fem_mbs.sweeps.table import SweepTable
from fem_mbs.threads import available

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["draw", "run_optimisation", "run_sweep"]

_MOST_ROWS = 60  # printed; all are in sweep.csv
_MOST_COLUMNS = 6  # of quantities, unless they are chosen
_PLAIN_SECONDS = 10.0  # between two plain lines, at most


class Interrupted(Exception):
    """Raised by Ctrl-C after finished variants were kept; its text names them."""


def run_sweep(
    model: Path,
    settings: Sequence[str],
    folder: Path | None,
    console: Console,
    *,
    zipped: bool,
    workers: int | None,
    scheduler: str | None,
    quantities: Sequence[str],
    again: bool,
    overwrite: bool,
    quiet: bool,
) -> SweepTable:
    """Run a sweep and print its table; write sweep.csv, sweep.json and sweep.png.

    Raises:
        InputError, AnalysisError: as `fem_mbs.sweeps.sweep.sweep`.
        Interrupted: by Ctrl-C.
    """
    plan = plan_sweep(model, settings, folder, zip=zipped, again=again, overwrite=overwrite, quantities=quantities)
    waiting = len(plan.waiting)
    if not quiet:
        console.print(_opening(plan), markup=False, soft_wrap=True)
        for note in plan.notes:
            console.print(note, markup=False, soft_wrap=True)
        if waiting and scheduler is None:
            count = min(workers or available(), waiting)
            console.print(f"starting {count} worker{'s' * (count > 1)}", markup=False)
    display = _Live(console) if console.is_terminal and not quiet else _Plain(None if quiet else console)
    try:
        with display:
            table = run_plan(plan, workers=workers, scheduler=scheduler, progress=display)
    except KeyboardInterrupt:
        done = sum(record is not None and record["status"] == "done" for record in plan.records)
        raise Interrupted(
            f"interrupted; {done} of {len(plan.variants)} variants are done and kept in {plan.directory}; the same "
            "command goes on with the others"
        ) from None
    table.write(quantities)
    figure = draw(table, quantities)
    if not quiet:
        _print_table(console, table, quantities)
        drawn = ", sweep.png" if figure else ""
        text = f"table in {table.directory} (sweep.csv, sweep.json{drawn}); results in {table.directory}/variants"
        console.print(text, markup=False, soft_wrap=True)
    return table


def run_optimisation(
    model: Path, vary: Sequence[str], console: Console, quiet: bool, *, method: str | None, gradients: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Run an optimisation, print its trials as they end, and the best one; ``gradients`` asks for a method that takes
    them.

    Raises:
        InputError, AnalysisError: as `fem_mbs.sweeps.optimise.optimise`.
    """
    from fem_mbs.sweeps.optimise import OPTIMUM, WITH_GRADIENTS, optimise

    if gradients and method is not None and method not in WITH_GRADIENTS:
        raise ModelError(
            f'--gradients: the method "{method}" takes none', key="method", value=method,
            remedy=f"take one of {', '.join(WITH_GRADIENTS)}, or leave out --method",
        )  # fmt: skip
    method = method or (WITH_GRADIENTS[0] if gradients else "cobyqa")
    if not quiet and method in WITH_GRADIENTS:
        console.print(f"{method}: gradients from derivatives of the runs", markup=False)

    def told(number: int, row: Any, objective: float) -> None:
        values = ", ".join(f"{path} = {v:.6g}" for path, v in zip(bounds, row.values, strict=True))
        outcome = f"objective {objective:.6g}" if row.status == "done" else f"{row.status}: {row.reason}"
        console.print(f"trial {number}: {values}: {outcome}", markup=False, soft_wrap=True)

    bounds: dict[str, list[float]] = {}
    for path, numbers in map(_bounds, vary):
        if path in bounds:
            raise ModelError(f"{path} is given twice; keep one --vary of it")
        bounds[path] = numbers
    found = optimise(model, bounds, method=method, progress=None if quiet else told, **options)
    if not quiet:
        values = ", ".join(f"{path} = {v:.8g}" for path, v in found.values.items())
        word = "best" if found.converged else "best so far, not converged"
        lines = [
            f"{word} of {len(found.table.rows)} trials: {values}; objective {found.objective:.8g} ({found.message})"
        ]
        lines.append(f"{found.table.directory / OPTIMUM} is the model file; table in sweep.csv, sweep.json beside it")
        for line in lines:
            console.print(line, markup=False, soft_wrap=True)


def _bounds(text: str) -> tuple[str, list[float]]:
    """Return path and numbers of PATH=LOW:HIGH or PATH=LOW:START:HIGH."""
    path, equals, words = text.partition("=")
    try:
        numbers = [float(word) for word in words.split(":")]
    except ValueError:
        numbers = []
    if not equals or len(numbers) not in (2, 3):
        raise ModelError(f'"{text}" does not say what to vary; write PATH=LOW:HIGH or PATH=LOW:START:HIGH')
    return path.strip(), numbers


def draw(table: SweepTable, quantities: Sequence[str], path: Path | None = None) -> Path | None:
    """Write the figure, sweep.png; None if no variant has anything to draw."""
    from fem_mbs.plot.sweep import plot_sweep

    target = path or table.directory / "sweep.png"
    take(table.directory, [target])
    try:
        return plot_sweep(table, target, quantities)
    except ResultsError as error:
        if quantities or isinstance(error, DiskFullError):
            raise
        return None


def _opening(plan: Plan) -> str:
    told = []
    for p in plan.parameters:
        values = [v if isinstance(v, str) else shown(v, 30) for v in p.values]
        listed = ", ".join(values) if len(values) <= 6 else f"{values[0]}, {values[1]} ... {values[-1]} ({len(values)})"
        told.append(f"{p.path} = {listed}")
    count = len(plan.variants)
    return f"{plan.title}: {count} variant{'s' * (count > 1)} of " + ("; " if plan.zipped else " x ").join(told)


# --- while it runs ---------------------------------------------------------------------------------------------------
def _state(p: TaskProgress) -> str:
    failed = f", {p.failed} failed" if p.failed else ""
    return f"{p.done} of {p.total} done{failed}, {p.running} running on {p.workers} worker{'s' * (p.workers != 1)}"


def _left(p: TaskProgress) -> float | None:
    ended = p.done + p.failed
    return p.seconds * (p.total - ended) / ended if ended else None


def _reason(result: Any) -> str | None:
    if isinstance(result, TaskFailure):
        return result.reason
    return result["reason"] if isinstance(result, dict) and result["status"] == "failed" else None


class _Plain:
    """Print a line at every quarter and failure, and at least every ten seconds while variants end."""

    def __init__(self, console: Console | None) -> None:
        self._console, self._quarter, self._when = console, 0, monotonic()

    def __enter__(self) -> _Plain:
        return self

    def __exit__(self, *details: object) -> None:
        pass

    def __call__(self, p: TaskProgress) -> None:
        if self._console is None or p.index is None:
            return
        reason = _reason(p.result)
        quarter, now = 4 * (p.done + p.failed) // p.total, monotonic()
        if reason is None and quarter == self._quarter and now - self._when < _PLAIN_SECONDS:
            return
        self._quarter, self._when = quarter, now
        left = _left(p)
        tail = f", {left:.0f} s left" if left and p.done + p.failed < p.total else ""
        self._console.print(_state(p) + tail, markup=False, soft_wrap=True)
        if reason is not None:
            self._console.print(f"failed: {reason}", markup=False, soft_wrap=True)


class _Live:
    """One bar."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._console = console
        self._bars = Progress(
            TextColumn("sweep"), BarColumn(bar_width=20), TextColumn("{task.fields[text]}"),
            TimeRemainingColumn(compact=True), console=console,
        )  # fmt: skip
        self._task = self._bars.add_task("sweep", total=None, text="starting")

    def __enter__(self) -> _Live:
        self._bars.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._bars.stop()

    def __call__(self, p: TaskProgress) -> None:
        self._bars.update(self._task, total=p.total, completed=p.done + p.failed, text=_state(p))
        reason = _reason(p.result) if p.index is not None else None
        if reason is not None:
            self._console.print(f"failed: {reason}", markup=False, soft_wrap=True)


# --- at the end ------------------------------------------------------------------------------------------------------
def _print_table(console: Console, table: SweepTable, quantities: Sequence[str]) -> None:
    names = table.choose(quantities, None if quantities else _MOST_COLUMNS) if table.units else []
    varied = table.varied
    cells = [[row.values[k] if isinstance(row.values[k], str) else shown(row.values[k], 30) for k in varied]
             for row in table.rows]  # fmt: skip
    heads = [table.parameters[k].label for k in varied]
    columns = [(head, [line[k] for line in cells]) for k, head in enumerate(heads)]
    columns += [
        (_head(n, table.unit(n).unit), [_number(table.unit(n)(row.quantities.get(n)), ".6g") for row in table.rows])
        for n in names
    ]
    columns.append(("seconds", [_number(row.seconds, ".2f") for row in table.rows]))
    columns.append(("status", [row.status for row in table.rows]))
    if not quantities:  # as many of them as fit
        first, last = len(heads), len(heads) + len(names)
        while last > first + 1 and sum(map(_width, columns)) > console.width:
            last -= 1
            del columns[last]
    out = make_table(*(head for head, _ in columns))
    for k in range(min(len(table.rows), _MOST_ROWS)):
        out.add_row(*(column[k] for _, column in columns))
    console.print(out)
    if len(table.rows) > _MOST_ROWS:
        console.print(f"and {len(table.rows) - _MOST_ROWS} more variants, see sweep.csv", markup=False)
    for row in table.failed[:20]:
        told = ", ".join(f"{p.label} = {v}" for p, v in zip(table.parameters, row.values))
        console.print(f"failed: {told}: {row.reason}", markup=False, soft_wrap=True)
    if len(table.failed) > 20:
        console.print(f"and {len(table.failed) - 20} more that failed, see sweep.csv", markup=False)
    if table.units and not quantities:
        console.print(f"{len(table.units)} quantities are in sweep.csv; choose with --quantity NAME", markup=False)


def _head(name: str, unit: str) -> str:
    """Return a column heading in two lines: the step, and the quantity."""
    step, dot, rest = name.partition(".")
    text = f"{rest} [{unit}]" if unit else rest
    return f"{step}\n{text}" if dot else name


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _width(column: tuple[str, list[str]]) -> int:
    head, cells = column
    return max(map(len, [*head.split("\n"), *cells])) + 3
