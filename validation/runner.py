"""Run the validation files, print the table, write JSON and the report."""

from __future__ import annotations

import gc
import json
import math
import textwrap
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from fem_mbs import ModelError, run_tasks
from fem_mbs.validation.case import Findings, Row
from fem_mbs.validation.kinds import KINDS, PROPERTY, totals
from fem_mbs.validation.registry import SECONDS, ValidationFile, select
from fem_mbs.validation.report import NO_PICTURES, Pictures, draw_pictures, write_report

__all__ = ["Outcome", "run_cases"]

_WIDTHS = (8, 70, 15, 15, 10)
_SEARCHES = (20_000, 20, 50)  # thresholds of the search for garbage while a file runs


@dataclass
class Outcome:
    """What one validation file gave: its findings, how long it took, what stopped it, if anything did, and the pictures
    for the report, where one is asked for; these hold the figures of the findings."""

    file: ValidationFile
    findings: Findings
    seconds: float
    trouble: str = ""
    pictures: Pictures = NO_PICTURES


def run_cases(
    names: Sequence[str] | None = None,
    long: bool = False,
    json_path: str | Path | None = None,
    report_dir: str | Path | None = None,
    list_only: bool = False,
    out: Callable[[str], object] = print,
    workers: int = 1,
) -> int:
    """Run validation cases and print the table (case, quantity, measured, reference, tolerance, pass).

    Args:
        names: benchmarks ("C5", "B-SPIN") or files ("crisfield_shi_1993_pendulum"); None: all.
        long: also the runs that take minutes.
        json_path: write the rows to this file.
        report_dir: write report.html with problems, sources, tables and figures into this folder.
        list_only: only print what there is.
        out: takes the lines.
        workers: files that run side by side, each in a process (needs dask); their tables then come in the order in
            which the files end, those of the JSON file and of the report as always.

    Returns:
        0 if all rows pass, 1 if one does not (a case that cannot be run counts as one).

    Raises:
        ModelError: an unknown case, or a file that cannot be written.
        InputError: a number of workers below 1, or more than one without dask.
    """
    chosen = select(names)
    if list_only:
        _list(chosen, out)
        return 0
    for path in (json_path, report_dir):
        if path is not None:
            _make_folder(Path(path) if path == report_dir else Path(path).parent)
    out(_line("case", "quantity", "measured", "reference", "tolerance", "pass", "reference is"))
    started = perf_counter()
    outcomes = _run_all(chosen, long, report_dir is not None, out, workers)
    elapsed = perf_counter() - started
    rows = [row for outcome in outcomes for row in outcome.findings.rows]
    failed = [row for row in rows if not row.passed]
    out("")
    for line in _summary(rows):
        out(line)
    out(f"{len(rows) - len(failed)} of {len(rows)} rows pass, {len(outcomes)} files, {elapsed:.1f} s")
    for row in failed:
        numbers = f"{_number(row.measured)}, not {_number(row.reference)} +- {row.tolerance:.3g}"
        out(f"FAILED  {row.case}: {row.quantity}: {numbers}")
    if json_path is not None:
        _write(Path(json_path), json.dumps([_entry(row) for row in rows], indent=1, allow_nan=False) + "\n")
    if report_dir is not None:
        path = Path(report_dir) / "report.html"
        _write(path, write_report(outcomes))
        out(f"Report: {path}")
    return 1 if failed else 0


def _run_all(
    chosen: list[tuple[ValidationFile, set[str]]],
    long: bool,
    drawn: bool,
    out: Callable[[str], object],
    workers: int,
) -> list[Outcome]:
    """Run the files one by one here, or side by side in processes; return their outcomes in the order given."""
    if workers == 1 or len(chosen) == 1:
        outcomes = []
        for file, cases in chosen:
            outcomes.append(_run(file, cases, long, drawn))
            _print(outcomes[-1], out)
        return outcomes
    # The longest first: what begins last is short, and no worker waits long for it.
    order = sorted(range(len(chosen)), key=lambda k: -SECONDS.get(chosen[k][0].name, 0.0))
    ended: dict[int, Outcome] = {}

    def progress(state: Any) -> None:
        if state.index is not None:
            k = order[state.index]
            result = state.result
            ended[k] = result if isinstance(result, Outcome) else _stopped(chosen[k][0], result.reason)
            _print(ended[k], out)

    tasks = [(*chosen[k], long, drawn) for k in order]
    run_tasks(_run, tasks, workers=workers, progress=progress, errors="return")
    return [ended[k] for k in range(len(chosen))]


@contextmanager
def _little_garbage() -> Iterator[None]:
    """Search for garbage only among what is made meanwhile: among all that is loaded it takes a third of a second."""
    if gc.get_freeze_count():  # a caller does so already
        yield
        return
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*max(before, _SEARCHES))
    try:
        yield
    finally:
        gc.collect()
        gc.unfreeze()
        gc.set_threshold(*before)


@_little_garbage()
def _run(file: ValidationFile, cases: set[str], long: bool, drawn: bool) -> Outcome:
    findings, trouble = Findings(long=long), ""
    started = perf_counter()
    try:
        file.check(findings)
    except Exception as error:  # one case that breaks must not hide what the others find
        trouble = "".join(traceback.format_exception(error))
        cases = cases | {_add_stop(file, findings, f"{type(error).__name__}: {error}")}
    findings.rows = [row for row in findings.rows if row.case in cases]
    seconds = perf_counter() - started
    pictures = draw_pictures(file, findings.figures) if drawn else NO_PICTURES
    findings.figures = []
    return Outcome(file, findings, seconds, trouble, pictures)


def _stopped(file: ValidationFile, reason: str) -> Outcome:
    """Return the outcome of a file whose process has ended without one."""
    findings = Findings()
    _add_stop(file, findings, reason)
    return Outcome(file, findings, 0.0, reason)


def _add_stop(file: ValidationFile, findings: Findings, reason: str) -> str:
    """Add the row that fails because a file did not run to its end; return its case."""
    case = next(iter(file.cases))
    findings.row(case, f"runs to its end ({reason})", math.nan, 1.0, "it stopped", PROPERTY, tolerance=0.0)
    return case


def _print(outcome: Outcome, out: Callable[[str], object]) -> None:
    file = outcome.file
    out("")
    out(f"{file.title}  ({file.name}, {outcome.seconds:.1f} s)")
    for row in outcome.findings.rows:
        for line in _lines(row):
            out(line)
    if outcome.trouble:
        out(textwrap.indent(outcome.trouble, "    "))


def _list(chosen: list[tuple[ValidationFile, set[str]]], out: Callable[[str], object]) -> None:
    for file, cases in chosen:
        out(f"{file.name}: {file.title}")
        for case, text in file.cases.items():
            if case in cases:
                out(f"    {case:<8} {text}")


def _number(value: float) -> str:
    return "none" if math.isnan(value) else f"{value:.9g}"


def _line(*cells: str) -> str:
    case, quantity, *numbers, passed, kind = cells
    start = f"{case:<{_WIDTHS[0]}} {quantity:<{_WIDTHS[1]}}"
    return start + "".join(f" {n:>{w}}" for n, w in zip(numbers, _WIDTHS[2:], strict=True)) + f"  {passed:<4}  {kind}"


def _lines(row: Row) -> list[str]:
    """Return a row of the table; a long quantity goes on in the next line."""
    first, *rest = textwrap.wrap(row.quantity, _WIDTHS[1], break_long_words=True) or [""]
    numbers = (_number(row.measured), _number(row.reference), f"{row.tolerance:.3g}")
    return [
        _line(row.case, first, *numbers, "yes" if row.passed else "NO", row.kind.word),
        *(f"{'':<{_WIDTHS[0]}}   {r}" for r in rest),
    ]


def _entry(row: Row) -> dict[str, object]:
    """Return JSON knows no NaN: a quantity that could not be measured is null."""
    return {
        "case": row.case,
        "quantity": row.quantity,
        "measured": row.measured if math.isfinite(row.measured) else None,
        "reference": row.reference,
        "tolerance": row.tolerance,
        "pass": row.passed,
        "kind": row.kind.word,
        "where": row.kind.where,
    }


def _summary(rows: Sequence[Row]) -> list[str]:
    """Return the numbers of rows that pass by kind, those of independent references first."""
    passed = totals(row.kind for row in rows if row.passed)
    independent = [kind.word for kind in KINDS if kind.independent]
    parts = {
        True: ", ".join(f"{passed[word]} {word}" for word in independent),
        False: ", ".join(f"{n} {word}" for word, n in passed.items() if word not in independent),
    }
    sources = {row.kind.where for row in rows if row.passed and row.kind.where and row.kind.independent}
    return [
        f"independent of the package: {sum(passed[word] for word in independent)} rows pass ({parts[True]}; "
        f"{len(sources)} places named)",
        f"others: {sum(n for word, n in passed.items() if word not in independent)} rows pass ({parts[False]})",
    ]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(f'Folder "{folder}": cannot be made ({error}); give another path') from None


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ModelError(f'File "{path}": cannot be written ({error}); give another path') from None
