"""Decks on the command line: run, check, compare with the results of their own program."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import typer

from fem_mbs.cli.progress import interruptible, kept, make_progress
from fem_mbs.decks.formats import AnyConverted, need_format
from fem_mbs.decks.notes import Accept
from fem_mbs.errors import AnalysisError, DiskFullError, ModelError, Owner
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["compare", "explain_file", "run_file"]


def run_file(
    path: Path,
    folder: Path,
    console,
    restart: int | None,
    quiet: bool,
    accept: Accept,
    overwrite: bool,
    units: str = "",
) -> None:
    """Run a deck into a folder and report; ``units`` are those of display, as text of the command line.

    Raises:
        ModelError: also for a restart, which decks do not have, and for units that there are not.
    """
    from fem_mbs.cli.report import print_report
    from fem_mbs.model.fields import DisplayUnits, units_of_text
    from fem_mbs.solvers.memory import keep_freed

    if restart is not None:
        raise ModelError(f"{path}: decks have no restart points; run it from its start")

    said: set[str] = set()
    chosen = DisplayUnits.read(units_of_text(units), Owner("Units")) if units else None

    def told(converted: AnyConverted) -> None:
        keep_freed(converted.model.n_nodes)
        if chosen is not None:
            converted.model.add(chosen)
        if quiet:
            return
        model = converted.model
        console.print(f"{model.title}: {model.n_nodes} nodes", markup=False, soft_wrap=True)
        for note in converted.notes:  # the report names the others
            if note.effect is not Effect.NONE:
                said.add(note.text)
                console.print(note.line, markup=False, soft_wrap=True)

    progress = make_progress(None if quiet else console)
    try:
        with interruptible(progress) as report:
            results = need_format(path).run(
                path, folder, progress=report, accept=accept, told=told, overwrite=overwrite
            )
    except KeyboardInterrupt:
        print(f"fem-mbs: interrupted{kept(folder)}", file=sys.stderr)
        raise typer.Exit(130) from None
    except (AnalysisError, DiskFullError) as error:
        raise type(error)(f"{path}: {error}{kept(folder)}") from None
    failures = results.failures
    if not quiet:
        print_report(console, results, said)
        _count_prints(console, results, folder)
    for sentence in failures:
        print(f"fem-mbs: {path}: {sentence}", file=sys.stderr)
    if failures:
        raise typer.Exit(1)


def _count_prints(console, results, folder: Path) -> None:
    tables = sum(len(step.report.prints or ()) for step in results.steps if step.report)
    if tables:
        text = f"{tables} printed table{'s' * (tables > 1)} in {folder / 'summary.json'}"
        console.print(text, markup=False, soft_wrap=True)


def explain_file(path: Path, accept: Accept) -> list[str]:
    """Describe the content of a deck and its model, line by line.

    Raises:
        MeshError, ModelError: the deck cannot be used.
    """
    from fem_mbs.analysis.run import inspect
    from fem_mbs.compiling.machine_code import compile_nothing
    from fem_mbs.contract import plain

    form = need_format(path)
    converted = form.convert(form.read(path), accept=accept)
    with plain(), compile_nothing():
        inspect(converted.model)
    return form.describe(converted) + [n.line for n in converted.notes]


def compare(folder: Path, decks: list[str], target: Path | None) -> int:
    """Print the table of `fem_mbs.decks.comparison`; 1 if a difference is outside of its margin or a result missing."""
    from fem_mbs.decks.comparison import as_json, compare_folder, count_decks, table

    rows = compare_folder(folder, decks)
    for line in table(rows):
        print(line)
    if target is not None:
        target.write_text(json.dumps(as_json(rows), indent=1) + "\n", encoding="utf-8")
    bad = [r for r in rows if r.status in ("outside", "missing")]
    compared = sum(r.status == "ok" for r in rows) + sum(r.status == "outside" for r in rows)
    print(f"{compared} comparisons, {sum(r.status == 'outside' for r in rows)} outside of their margin, "
          f"{sum(r.status == 'missing' for r in rows)} missing")  # fmt: skip
    print("decks: " + ", ".join(f"{n} {kind}" for kind, n in count_decks(rows).items()))
    return 1 if bad else 0
