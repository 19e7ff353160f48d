"""Run a model: `fem-mbs new`, `check`, `run`, `compile`, `validate`, `schema`, `list`."""

# No annotations as texts: typer would evaluate those of all commands at each start.

import gc
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from fem_mbs.cli.commands.common import (
    ALLOW,
    BACKEND,
    MODEL,
    OVERWRITE,
    SET,
    STRICT,
    THREADS,
    UNITS,
    complain,
    output_console,
    refuse_set,
)
from fem_mbs.decks.formats import is_deck
from fem_mbs.errors import AnalysisError, DiskFullError, InputError, ModelError
from fem_mbs.units import messages_in, unit_of

__all__ = ["commands"]

commands = typer.Typer()

_PANEL = "Models and runs"


@commands.command(rich_help_panel=_PANEL)
def new(
    mesh: Annotated[Path, typer.Argument(help="Mesh file (fem-mbs list names the formats).", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Model file to write.", show_default="MESH.toml")
    ] = None,
) -> None:
    """Write a commented model file for a mesh, as a start."""
    from fem_mbs.cli.check import explain
    from fem_mbs.modelfile.starter import write_starter

    target = output or mesh.with_suffix(".toml")
    found = write_starter(mesh, target)
    sets = ", ".join(found.set_names) or "none"
    print(f"{target} written; sets in the mesh: {sets}")
    for sentence in found.skipped:
        print(f"not read: {sentence}")
    from fem_mbs.compiling.machine_code import compile_nothing
    from fem_mbs.contract import plain

    try:
        with plain(), compile_nothing():
            explain(target)
    except InputError as error:
        print(f"to do before it runs: {error}")
    else:
        print(f"it can run as it is: fem-mbs run {target}; look for <-- in it first")


@commands.command(rich_help_panel=_PANEL)
def check(
    model: Annotated[Path, MODEL],
    settings: Annotated[list[str] | None, SET] = None,
    strict: Annotated[bool, STRICT] = False,
    allow: Annotated[bool, ALLOW] = False,
    threads: Annotated[str | None, THREADS] = None,
) -> None:
    """Read a model and describe it: parts, masses, mobility, start, steps, doubts; compute no step."""
    refuse_set(model, settings)
    if is_deck(model):
        from fem_mbs.cli.deck import explain_file
        from fem_mbs.decks.notes import Accept

        for line in explain_file(model, Accept.of(strict, allow)):
            print(line)
        return
    from fem_mbs.cli.check import explain
    from fem_mbs.compiling.machine_code import compile_nothing
    from fem_mbs.contract import plain

    with plain(), compile_nothing():
        for line in explain(model, settings or []):
            print(line)


@commands.command(rich_help_panel=_PANEL)
def run(
    model: Annotated[Path, MODEL],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the results.", show_default="MODEL-results")
    ] = None,
    restart: Annotated[
        int | None,
        typer.Option(
            help="Continue the results in the folder from a restart point: 0, 1, ..., without a number the last.",
            metavar="[N]",
        ),
    ] = None,
    overwrite: Annotated[bool, OVERWRITE] = False,
    settings: Annotated[list[str] | None, SET] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")] = False,
    strict: Annotated[bool, STRICT] = False,
    allow: Annotated[bool, ALLOW] = False,
    units: Annotated[str, UNITS] = "",
    backend: Annotated[str, BACKEND] = "local",
    threads: Annotated[str | None, THREADS] = None,
) -> None:
    """Simulate a model and write its results."""
    from fem_mbs.analysis.distributed.backends import backend_named

    distributed = backend_named(backend).distributed
    refuse_set(model, settings)
    if distributed and is_deck(model):
        raise InputError(f"{model}: a deck is not run distributed; write a model file (TOML) of it")
    if distributed and restart is not None:
        raise InputError(f"{model}: distributed runs have no restart points; remove --restart")
    if units and not is_deck(model):
        raise ModelError(
            f"{model}: --units is for decks; a model file has the table [units]: write it, or --set units.length=mm"
        )
    if is_deck(model):
        from fem_mbs.cli.deck import run_file
        from fem_mbs.decks.notes import Accept

        accept = Accept.of(strict, allow)
        run_file(
            model, output or Path(f"{model.stem}-results"), output_console(), restart, quiet, accept, overwrite, units
        )
        return
    from fem_mbs.analysis.distributed.together import meshes_in_common
    from fem_mbs.analysis.run import run as run_model
    from fem_mbs.cli.progress import interruptible, kept, make_progress
    from fem_mbs.input_files import inputs_of
    from fem_mbs.modelfile.read import load_model, locate_error
    from fem_mbs.solvers.memory import keep_freed

    folder = output or Path(f"{model.stem}-results")
    with meshes_in_common(distributed):
        loaded = load_model(model, settings or [])
    skipped = [f'mesh "{name}": {sentence}' for name, (mesh, _) in loaded.meshes.items() for sentence in mesh.skipped]
    console = None if quiet else output_console()
    if console is not None:
        console.print(f"{loaded.title or model.stem}: {loaded.n_nodes} nodes", markup=False, soft_wrap=True)
    progress = make_progress(console)
    try:
        with interruptible(progress) as report:
            options: dict[str, Any] = {
                "progress": report, "skipped": skipped, "source": model, "inputs": inputs_of(model),
                "overwrite": overwrite,
            }  # fmt: skip
            gc.freeze()  # modules and model live to the end: one search for garbage among them takes .15 s
            if not distributed:
                keep_freed(loaded.n_nodes)
            if distributed:
                from fem_mbs.analysis.distributed.run import run_distributed

                results = run_distributed(loaded, folder, backend, **options)
            else:
                results = run_model(loaded, folder, restart=restart, **options)
    except KeyboardInterrupt:
        with messages_in(loaded.shown_units):
            at = f" at t = {progress.last.time:.5g} {unit_of('s')}" if progress.last else ""
        complain(f"interrupted{at}{kept(folder)}")
        raise typer.Exit(130) from None
    except (AnalysisError, DiskFullError) as error:
        raise type(error)(f"{model}: {error}{kept(folder)}") from None
    except InputError as error:
        raise locate_error(model, error) from None
    if results is None:  # the first process tells
        return
    if console is not None:
        from fem_mbs.cli.report import print_report

        print_report(console, results)
    told = results.report
    checks = (told.checks if told else None) or []
    failed = [check.case for check in checks if not check.passed]
    if failed:
        complain(f"{model}: {len(failed)} of {len(checks)} checks failed: {', '.join(failed)}")
    steps = results.failures
    for sentence in steps:
        complain(f"{model}: {sentence}")
    if failed or steps:
        raise typer.Exit(1)


@commands.command("compile", rich_help_panel=_PANEL)
def compile_(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Model files or decks, element types, modules or folders of elements, or solvers.",
            metavar="[NAME|MODEL]...",
            show_default="all",
        ),
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the kernels, compile none.")] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes side by side.", show_default="as many as processors")
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")] = False,
) -> None:
    """Compile kernels in advance, so that no run waits for them."""
    from fem_mbs.cli.compile import compile_named, list_named

    if show_list:
        list_named(names or [], output_console())
        return
    try:
        compile_named(names or [], workers, output_console(), quiet)
    except KeyboardInterrupt:
        complain("interrupted; the kernels that were ready are kept")
        raise typer.Exit(130) from None


@commands.command(rich_help_panel=_PANEL)
def validate(
    cases: Annotated[list[str] | None, typer.Argument(help="Names of cases.", show_default="all")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the table to this file.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report with figures into this folder.")] = None,
    long: Annotated[bool, typer.Option("--long", help="Run the cases that take minutes, too.")] = False,
    show_list: Annotated[bool, typer.Option("--list", help="List the cases, run none.")] = False,
    workers: Annotated[int, typer.Option("-j", "--workers", min=1, help="Number of files that run in parallel.")] = 1,
) -> None:
    """Compare with published benchmarks."""
    from importlib import import_module

    # The cases use the public names, as any user does, and so stand above this module.
    runner = import_module("fem_mbs.validation.runner")
    code = runner.run_cases(
        cases or None, long=long, json_path=json, report_dir=report, list_only=show_list, workers=workers
    )
    raise typer.Exit(code)


@commands.command(rich_help_panel=_PANEL)
def schema(
    summary: Annotated[
        bool, typer.Option("--summary", help="Print the schema of summary.json of results instead.")
    ] = False,
) -> None:
    """Print the JSON schema of model files, with which editors complete and check keys."""
    from fem_mbs.modelfile.json_schema import schema_text
    from fem_mbs.results.summary_schema import text

    sys.stdout.write(text() if summary else schema_text())


@commands.command("list", rich_help_panel=_PANEL)
def list_(
    of: Annotated[
        str, typer.Argument(help="Topic to describe, one of those listed without it, or all.", show_default=False)
    ] = "",
) -> None:
    """List elements, joints, functions, sections, sensors, steps, solvers and formats by name."""
    from fem_mbs.cli.listing import overview, topic

    for line in topic(of) if of else overview():
        print(line)
