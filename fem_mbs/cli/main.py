"""The command line: `fem-mbs run`, `sweep`, `check`, `compile`, `compare-decks`, `new`, `plot`, `report`, `animate`,
`export`, `mac`, `reduce`, `stresses`, `recover`, `convert`, `modify`, `optimise`, `sensitivities`, `validate`, `list`.

Exit codes: 0 done; 1 an analysis without a valid result, a check or validation that failed, or a full disk; 2 bad
input; 3 an error of the program itself; 130 interrupted.  Heavy libraries are imported inside the commands: the help
appears at once.
"""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from fem_mbs.cli.progress import noted
from fem_mbs.decks.formats import is_deck
from fem_mbs.errors import AnalysisError, DiskFullError, FemMbsError, InputError, ModelError
from fem_mbs.files import no_room

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["app", "main"]

app = typer.Typer(
    name="fem-mbs",
    help="Flexible multibody dynamics with finite elements: mechanisms from meshes, energy-exact in time.",
    epilog="Start with: fem-mbs new part.msh, or one of the examples. Exit codes: 0 done; 1 no valid result, or a "
    "check or validation that failed; 2 bad input.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_SET = typer.Option(
    "--set",
    help="Another value of a parameter, or of any key by its path: a=3, section.rod.diameter=0.01.",
    metavar="PATH=VALUE",
)
_MODEL = typer.Argument(
    help="Model file (TOML), or a deck: Abaqus or CalculiX (.inp), Nastran (.bdf, .nas, .dat).", show_default=False
)
_STRICT = typer.Option("--strict", help="Refuse a deck of which anything is not used.")
_ALLOW = typer.Option(
    "--allow", help="Compute a deck without what is not supported of it: the results are not those of the deck."
)
_UNITS = typer.Option(
    "--units",
    help="Of a deck: units in which results are shown (mm,MPa,speed=rpm), and what its numbers mean (base=mm t s).",
    metavar="UNITS",
    show_default="SI",
)
_BACKEND = typer.Option(
    "--backend",
    help="Where matrices are: local, or petsc: on all processes of mpiexec -n N fem-mbs ...",
    metavar="NAME",
)
_OVERWRITE = typer.Option(
    "--overwrite", help="Take a folder of another model, or with files of others; only what fem-mbs wrote is removed."
)
_REPLACE = typer.Option("--overwrite", help="Replace a file that is there, whatever it is.")
_FOLDER = typer.Argument(help="Folder with the results of a run.", show_default=False)


def main() -> NoReturn:
    """Run the command line with the arguments of the process."""
    arguments = sys.argv[1:]
    debug = "--debug" in arguments

    def work() -> int:
        logging.basicConfig(format="fem-mbs: %(message)s", level=logging.WARNING)
        with noted(quiet=not {"-q", "--quiet"}.isdisjoint(arguments)):
            return app(args=_with_restart_number(arguments), prog_name="fem-mbs", standalone_mode=True)

    code = 0
    try:
        if _all_ranks(arguments):
            from fem_mbs.analysis.distributed.together import together

            code = together(work, lambda error: _ended(error, debug))
        else:
            code = work()
    except Exception as error:
        code = _ended(error, debug)
    except KeyboardInterrupt as error:
        code = _ended(error, debug)
    sys.exit(code or 0)


def _all_ranks(arguments: list[str]) -> bool:
    """Return whether all processes of `mpiexec` run this command together."""
    given = [a.partition("=")[2] for a in arguments if a.startswith("--backend=")]
    given += [b for a, b in zip(arguments, arguments[1:], strict=False) if a == "--backend"]
    return "petsc" in given


def _ended(end: BaseException, debug: bool) -> int:
    """Say what has ended the command and return the exit code; raise an error again with ``debug``."""
    code = 0
    try:
        raise end
    except KeyboardInterrupt:
        _complain("interrupted")
        code = 130
    except FemMbsError as error:
        if debug:
            raise
        _complain(f"error: {error}")
        code = 1 if isinstance(error, (AnalysisError, DiskFullError)) else 2
    except BrokenPipeError:
        # the reader of our output has gone; nothing more can be said there
        sys.stdout = None
        code = 0
    except Exception as error:
        if debug:
            raise
        what = "out of memory" if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"
        if isinstance(error, OSError) and no_room(error):
            file = f'"{error.filename}": ' if error.filename else ""
            _complain(f"error: {file}cannot be written ({error.strerror}): free space or give another folder")
            code = 1
        else:
            _complain(f"unexpected error: {what} (run again with --debug to see where, and report it)")
            code = 3
    return code


def _complain(text: str) -> None:
    print("fem-mbs:", " ".join(text.split()), file=sys.stderr)


def _with_restart_number(arguments: list[str]) -> list[str]:
    """Return the arguments with the last restart point for --restart without a number."""
    out = []
    for i, argument in enumerate(arguments):
        alone = argument == "--restart" and not re.fullmatch(r"-?\d+", "".join(arguments[i + 1 : i + 2]))
        out.append("--restart=-1" if alone else argument)
    return out


def _refuse_set(model: Path, settings: list[str] | None) -> None:
    if settings and is_deck(model):
        raise ModelError(f"{model}: a deck has no named values to set; write a model file (TOML) of it")


def _console() -> Console:
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=140)


def _version(wanted: bool) -> None:
    if wanted:
        from fem_mbs import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    pass


@app.command()
def run(
    model: Annotated[Path, _MODEL],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the results.", show_default="MODEL-results")
    ] = None,
    restart: Annotated[
        int | None,
        typer.Option(
            help="Continue the results in the folder from a restart point (0, 1, ...; alone: the last).", metavar="[N]"
        ),
    ] = None,
    overwrite: Annotated[bool, _OVERWRITE] = False,
    settings: Annotated[list[str] | None, _SET] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing but errors.")] = False,
    strict: Annotated[bool, _STRICT] = False,
    allow: Annotated[bool, _ALLOW] = False,
    units: Annotated[str, _UNITS] = "",
    backend: Annotated[str, _BACKEND] = "local",
) -> None:
    """Simulate a model and write its results."""
    from fem_mbs.analysis.backends import backend_named

    distributed = backend_named(backend).distributed
    _refuse_set(model, settings)
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
        run_file(model, output or Path(f"{model.stem}-results"), _console(), restart, quiet, accept, overwrite, units)
        return
    from fem_mbs.analysis.run import run as run_model
    from fem_mbs.cli.progress import interruptible, kept, make_progress
    from fem_mbs.cli.report import print_report
    from fem_mbs.input_files import inputs_of
    from fem_mbs.modelfile.read import load_model, locate_error

    folder = output or Path(f"{model.stem}-results")
    loaded = load_model(model, settings or [])
    skipped = [f'mesh "{name}": {sentence}' for name, (mesh, _) in loaded.meshes.items() for sentence in mesh.skipped]
    console = _console()
    if not quiet:
        console.print(f"{loaded.title or model.stem}: {loaded.n_nodes} nodes", markup=False, soft_wrap=True)
    progress = make_progress(console, quiet)
    try:
        with interruptible(progress) as report:
            options = {
                "progress": report, "skipped": skipped, "source": model, "inputs": inputs_of(model),
                "overwrite": overwrite,
            }  # fmt: skip
            if distributed:
                from fem_mbs.analysis.distributed.run import run_distributed

                results = run_distributed(loaded, folder, backend, **options)
            else:
                results = run_model(loaded, folder, restart=restart, **options)
    except KeyboardInterrupt:
        at = f" at t = {progress.last.time:.5g} s" if progress.last else ""
        _complain(f"interrupted{at}{kept(folder)}")
        raise typer.Exit(130) from None
    except (AnalysisError, DiskFullError) as error:
        raise type(error)(f"{model}: {error}{kept(folder)}") from None
    except InputError as error:
        raise locate_error(model, error) from None
    if results is None:  # the first process tells
        return
    if not quiet:
        print_report(console, results)
    told = results.report
    checks = (told.checks if told else None) or []
    failed = [check.case for check in checks if not check.passed]
    if failed:
        _complain(f"{model}: {len(failed)} of {len(checks)} checks failed: {', '.join(failed)}")
    steps = results.failures
    for sentence in steps:
        _complain(f"{model}: {sentence}")
    if failed or steps:
        raise typer.Exit(1)


@app.command()
def sweep(
    model: Annotated[Path, typer.Argument(help="Model file (TOML).", show_default=False)],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="What is changed, KIND.NAME.KEY=VALUES: section.rod.diameter=0.01,0.012 or "
            "point_mass.tip.mass=0:20:5 (STOP included).",
            metavar="PATH=VALUES",
        ),
    ] = None,
    zipped: Annotated[bool, typer.Option("--zip", help="Pair the values instead of all with all.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for all variants.", show_default="MODEL-sweep")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes side by side.", show_default="as many as processors")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a running dask cluster to use instead.", metavar="ADDRESS")
    ] = None,
    quantity: Annotated[
        list[str] | None, typer.Option(help="Quantity of the table and the figure, also with * and ?.", metavar="NAME")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also run the variants that are finished.")] = False,
    overwrite: Annotated[bool, _OVERWRITE] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing but errors.")] = False,
) -> None:
    """Run variants of a model side by side; a second call runs what is missing."""
    from fem_mbs.cli.sweep import Interrupted, run_sweep

    try:
        table = run_sweep(
            model, settings or [], output, _console(), zipped=zipped, workers=workers, scheduler=scheduler,
            quantities=quantity or [], again=again, overwrite=overwrite, quiet=quiet,
        )  # fmt: skip
    except Interrupted as end:
        _complain(str(end))
        raise typer.Exit(130) from None
    if table.failed:
        _complain(
            f"{model}: {len(table.failed)} of {len(table.rows)} variants failed; the same command tries them again"
        )
        raise typer.Exit(1)


@app.command()
def optimise(
    model: Annotated[Path, typer.Argument(help="Model file (TOML).", show_default=False)],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            help="What is varied and its bounds: height=0.02:0.2, or with a start LOW:START:HIGH; any number of times.",
            metavar="PATH=LOW:HIGH",
        ),
    ] = None,
    minimise: Annotated[
        str, typer.Option(help="Quantity, or expression of quantities in braces.", metavar="QUANTITY")
    ] = "",
    maximise: Annotated[str, typer.Option(help="Likewise.", metavar="QUANTITY")] = "",
    subject: Annotated[
        list[str] | None,
        typer.Option(help='Constraint: "modes.frequency_1 >= 5"; any number of times.', metavar="CONSTRAINT"),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for all trials.", show_default="MODEL-optimum")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="cobyqa, nelder-mead or evolution; with gradients slsqp, trust-constr or l-bfgs-b.",
            show_default="cobyqa",
        ),
    ] = None,
    gradients: Annotated[
        bool, typer.Option("--gradients", help="Take gradients from derivatives of the transients (slsqp).")
    ] = False,
    trials: Annotated[int, typer.Option(min=2, help="Most trials.")] = 100,
    tolerance: Annotated[float, typer.Option(help="Of the values, relative to their bounds.")] = 1e-4,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes side by side, of evolution.")] = None,
    overwrite: Annotated[bool, _OVERWRITE] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing but errors.")] = False,
) -> None:
    """Vary numbers of a model until a quantity of its results is best; a second call goes on."""
    from fem_mbs.cli.sweep import run_optimisation

    run_optimisation(
        model, vary or [], _console(), quiet, minimise=minimise, maximise=maximise, subject=subject or [],
        output=output, method=method, gradients=gradients, trials=trials, tolerance=tolerance, workers=workers,
        overwrite=overwrite,
    )  # fmt: skip


@app.command()
def identify(
    model: Annotated[Path, typer.Argument(help="Model file (TOML), with start values.", show_default=False)],
    results: Annotated[Path, typer.Argument(help="Results of a step with restarts.", show_default=False)],
    of: Annotated[
        list[str] | None,
        typer.Option(help="What is sought: section.rod.EI, a parameter; any number of times.", metavar="PATH"),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the values to this file.")] = None,
) -> None:
    """Find masses, densities and stiffnesses from the energy of a run."""
    from fem_mbs.cli.identify import identify_file

    identify_file(model, results, of or [], _console(), json)


@app.command()
def sensitivities(
    model: Annotated[Path, typer.Argument(help="Model file (TOML).", show_default=False)],
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of",
            metavar="PATH",
            help="Number of the model by which is differentiated: section.rod.diameter, or a parameter; any number of "
            "times.",
        ),
    ] = None,
    quantity: Annotated[
        list[str] | None,
        typer.Option(
            help="What is differentiated: transient.tip.y.absmax, also .integral and @TIME; any number of times.",
            metavar="NAME",
            show_default="largest and last values of all sensors",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for table, series, figure.", show_default="MODEL-sensitivities"),
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing but errors.")] = False,
) -> None:
    """Run a model once and find the derivatives of its transients with respect to its numbers."""
    from fem_mbs.cli.sensitivities import run_sensitivities

    run_sensitivities(model, of or [], quantity or [], output, _console(), quiet)


@app.command("compare-decks")
def compare_decks(
    folder: Annotated[Path, typer.Argument(help="Folder with decks and results of their program.", show_default=False)],
    decks: Annotated[list[str] | None, typer.Argument(help="Decks, without their endings.", show_default="all")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the table to this file.")] = None,
) -> None:
    """Run the decks of a folder and compare with the results beside them: of CalculiX (NAME.dat.ref or NAME.dat), of
    Nastran (NAME.f06)."""
    from fem_mbs.cli.deck import compare

    raise typer.Exit(compare(folder, decks or [], json))


@app.command()
def check(
    model: Annotated[Path, _MODEL],
    settings: Annotated[list[str] | None, _SET] = None,
    strict: Annotated[bool, _STRICT] = False,
    allow: Annotated[bool, _ALLOW] = False,
) -> None:
    """Read a model, try its start, and explain what it means."""
    _refuse_set(model, settings)
    if is_deck(model):
        from fem_mbs.cli.deck import explain_file
        from fem_mbs.decks.notes import Accept

        for line in explain_file(model, Accept.of(strict, allow)):
            print(line)
        return
    from fem_mbs.cli.check import explain
    from fem_mbs.contract import plain
    from fem_mbs.machine_code import compile_nothing

    with plain(), compile_nothing():
        for line in explain(model, settings or []):
            print(line)


@app.command("compile")
def compile_(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Model files or decks, element types, modules or folders of elements, or solvers.",
            metavar="[NAME|MODEL]...",
            show_default="all",
        ),
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="Name the kernels, compile none.")] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes side by side.", show_default="as many as processors")
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing but errors.")] = False,
) -> None:
    """Compile kernels in advance, so that no run waits for them."""
    from fem_mbs.cli.compile import compile_named, list_named

    if show_list:
        list_named(names or [], _console())
        return
    try:
        compile_named(names or [], workers, _console(), quiet)
    except KeyboardInterrupt:
        _complain("interrupted; the kernels that were ready are kept")
        raise typer.Exit(130) from None


@app.command()
def new(
    mesh: Annotated[Path, typer.Argument(help="Mesh file (fem-mbs list names the formats).", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Model file to write.", show_default="MESH.toml")
    ] = None,
) -> None:
    """Write a commented model file to start from, for a mesh."""
    from fem_mbs.cli.check import explain
    from fem_mbs.modelfile.starter import write_starter

    target = output or mesh.with_suffix(".toml")
    found = write_starter(mesh, target)
    sets = ", ".join(found.set_names) or "none"
    print(f"{target} written; sets in the mesh: {sets}")
    for sentence in found.skipped:
        print(f"not read: {sentence}")
    from fem_mbs.contract import plain
    from fem_mbs.machine_code import compile_nothing

    try:
        with plain(), compile_nothing():
            explain(target)
    except InputError as error:
        print(f"to do before it runs: {error}")
    else:
        print(f"it can run as it is: fem-mbs run {target}; look for <-- in it first")


@app.command()
def schema(
    summary: Annotated[bool, typer.Option("--summary", help="That of summary.json of results instead.")] = False,
) -> None:
    """Print the JSON schema of model files, by which editors complete and check them."""
    from fem_mbs.modelfile.json_schema import schema_text
    from fem_mbs.results.summary_schema import text

    sys.stdout.write(text() if summary else schema_text())


@app.command()
def show(
    path: Annotated[
        Path,
        typer.Argument(
            help="Model file (TOML), deck, or folder with results.", metavar="MODEL|RESULTS", show_default=False
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Page (.html) or picture (.png, .svg, .pdf) to write.",
            show_default="MODEL-view.html, DIR/view.html",
        ),
    ] = None,
    png: Annotated[bool, typer.Option("--png", help="Write a still picture instead of a page.")] = False,
    step: Annotated[
        int | None, typer.Option(help="Only this step of results, counted from 0.", show_default="all with frames")
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the page in a browser.")] = False,
    strict: Annotated[bool, _STRICT] = False,
    allow: Annotated[bool, _ALLOW] = False,
    window: Annotated[bool, typer.Option("--window", help="Open a window of pyvista (extra: window).")] = False,
) -> None:  # fmt: skip
    """Show a model before its run, or results, in space: one page that turns, zooms and plays, with all names."""
    from fem_mbs.cli.show import show_file
    from fem_mbs.decks.notes import Accept

    written = show_file(path, output, png, step, not no_open, Accept.of(strict, allow), window)
    if written is not None:
        print(written)


@app.command()
def plot(
    folder: Annotated[Path, _FOLDER],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the figures.", show_default="DIR/figures")
    ] = None,
    quantity: Annotated[
        list[str] | None, typer.Option(help="Of a sweep: quantity to draw, also with * and ?.", metavar="NAME")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="Of the files: png, svg or pdf.", metavar="FORMAT")] = "png",
    transfer: Annotated[
        list[str] | None,
        typer.Option(
            help="Draw only H1 and coherence from one sensor to another; any number of times.",
            metavar="SENSOR:EXCITATION[:COLUMN]",
        ),
    ] = None,
) -> None:
    """Draw the figures of a run: energy ledger, momenta, sensors, shapes, Campbell diagrams, maps of stability; or the
    figure of a sweep."""
    from fem_mbs.results.folder import take

    if (folder / "sweep.json").is_file():
        from fem_mbs.plot.sweep import plot_sweep
        from fem_mbs.sweeps.table import SweepTable

        table, target = SweepTable.open(folder), (output or folder) / f"sweep.{form}"
        take(folder, [target])
        print(plot_sweep(table, target, quantity))
        return
    from fem_mbs.plot.figures import nothing_drawn, plot_all
    from fem_mbs.results.reader import Results

    results = Results.open(folder)
    if transfer:
        from fem_mbs.plot.figures import plot_transfers

        for path in plot_transfers(results, transfer, output, form):
            print(path)
        return
    for line in [*map(str, plot_all(results, output, form))] or [nothing_drawn(results)]:
        print(line)


@app.command()
def report(
    folder: Annotated[Path, _FOLDER],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write.", show_default="DIR/report.html")
    ] = None,
) -> None:
    """Write the report of a run, one HTML file: model, steps, tables, figures, warnings, how to reproduce."""
    from fem_mbs.results.reader import Results

    print(Results.open(folder).write_report(output))


@app.command()
def animate(
    folder: Annotated[Path, _FOLDER],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File to write, .gif or .mp4.", show_default="DIR/animation.gif"),
    ] = None,
    fps: Annotated[int, typer.Option(min=1, max=100, help="Pictures per second.")] = 25,
    seconds: Annotated[float, typer.Option(min=0.1, max=600.0, help="Length at most.")] = 8.0,
    quantity: Annotated[
        str | None,
        typer.Option(
            help='Output of elements or field of parts shown by colour, or "none".',
            show_default="von Mises stress, bending moment, or energy",
        ),
    ] = None,
    trail: Annotated[str | None, typer.Option(help="Node whose path is drawn.", show_default="none")] = None,
    step: Annotated[int | None, typer.Option(help="Step, counted from 0.", show_default="the last that moves")] = None,
    mode: Annotated[
        int | None,
        typer.Option(help="Mode, complex mode or buckling shape to show, counted from 1.", show_default="the first"),
    ] = None,
    magnify: Annotated[float, typer.Option(help="By which displacements are enlarged.")] = 1.0,
) -> None:
    """Write an animation of a run."""
    from fem_mbs.plot.figures import animate as write
    from fem_mbs.results.folder import take
    from fem_mbs.results.reader import Results

    results = Results.open(folder)
    target = output or folder / "animation.gif"
    take(folder, [target])
    shown: dict[str, Any] = {"step": step, "trail": trail, "seconds": seconds, "mode": mode, "magnify": magnify}
    print(write(results, target, quantity=quantity, fps=fps, **shown))


@app.command()
def export(
    folder: Annotated[Path, _FOLDER],
    vtu: Annotated[bool, typer.Option("--vtu", help="Also write the frames as VTU files into DIR/vtu.")] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="VTU files show the whole wheel of a sector (cyclic symmetry).")
    ] = False,
) -> None:
    """Write results.xdmf and the tables of the sensors anew, also of a run that was killed or still goes on."""
    from fem_mbs.results.export.vtu import write_vtu_files
    from fem_mbs.results.modes.shapes import whole_wheel
    from fem_mbs.results.reader import Results
    from fem_mbs.results.reader import export as write

    for path in write(folder):
        print(path)
    if not vtu and not whole:
        return
    results: Results = Results.open(folder)
    for path in write_vtu_files(whole_wheel(results) if whole else results):
        print(path)


@app.command()
def mac(
    first: Annotated[Path, _FOLDER],
    second: Annotated[Path, typer.Argument(help="Folder with the results to compare with.", show_default=False)],
    step: Annotated[str | None, typer.Option(help="Step of modes.", show_default="the first with shapes")] = None,
    step_b: Annotated[
        str | None, typer.Option(help="Step of the second result.", show_default="of the same name")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help=r"Largest distance of two nodes taken for one \[m].", show_default="1e-6 of the size"),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Figure to write.", show_default="DIR/figures/mac.png")
    ] = None,
) -> None:
    """Compare the mode shapes of two results: table and figure of the modal assurance criterion."""
    from fem_mbs.cli.report import print_mac
    from fem_mbs.plot.figures import plot_mac
    from fem_mbs.results.folder import take
    from fem_mbs.results.modes.mac import mac as compare
    from fem_mbs.results.reader import Results

    a, b = Results.open(first), Results.open(second)
    found = compare(a, b, step, step_b, tolerance)
    print_mac(_console(), found)
    target = output or first / "figures" / "mac.png"
    take(first, [target])
    print(plot_mac(found, target, (str(first), str(second))))


@app.command("reduce")
def reduce_(
    part: Annotated[
        list[Path],
        typer.Argument(help="Deck, model file (.toml) or mesh; several side by side.", show_default=False),
    ],
    interface: Annotated[
        list[str] | None,
        typer.Option(
            "-i",
            "--interface",
            help="Nodes or sets, joined by commas; NAME=rigid, NAME=average or NAME=node for one.",
            show_default="of decks what *SUBSTRUCTURE GENERATE retains",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="guyan, craig_bampton, macneal, rubin, craig_chang or herting.", show_default="craig_bampton"
        ),
    ] = None,
    modes: Annotated[
        int | None, typer.Option(min=0, help="Number of component modes.", show_default="20, or by the cut-off")
    ] = None,
    cutoff: Annotated[float | None, typer.Option(help="All component modes up to this frequency [Hz].")] = None,
    participation: Annotated[
        float | None, typer.Option(help="Of these only modes with this share at an interface (0 ... 1).")
    ] = None,
    rigid: Annotated[bool, typer.Option("--rigid", help="Sets move as rigid wholes (the default).")] = False,
    average: Annotated[bool, typer.Option("--average", help="Interfaces are the mean motions of their sets.")] = False,
    damping: Annotated[
        float | None, typer.Option(help="Ratio of critical damping of all modes.", show_default="the model's own")
    ] = None,
    orthonormal: Annotated[
        bool, typer.Option("--orthonormal", help="Take the modes of the reduced part as its coordinates.")
    ] = False,
    check: Annotated[
        str | None,
        typer.Option(
            help="For missed modes: none, probe, inertia.", show_default="inertia below a cut-off, else probe"
        ),
    ] = None,
    accuracy: Annotated[int, typer.Option(min=0, help="Modes whose errors are estimated.")] = 6,
    no_recovery: Annotated[
        bool, typer.Option("--no-recovery", help="Leave the displacements of all nodes out of the file.")
    ] = False,
    stress: Annotated[
        bool, typer.Option("--stress", help="Keep the stresses at the nodes of solid and plane parts too.")
    ] = False,
    stiffening: Annotated[
        str | None,
        typer.Option(
            help='Geometric stiffness by the loads of motion; the interface with the frame, or "free".',
            show_default="none",
        ),
    ] = None,
    material: Annotated[str | None, typer.Option(help="Of a mesh: E,nu,density.")] = None,
    thickness: Annotated[float, typer.Option(help=r"Of a plane mesh \[m].")] = 1.0,
    release: Annotated[bool, typer.Option("--release", help="Take supports of nodes of the interfaces away.")] = False,
    state: Annotated[str, typer.Option(help="Reduce at the start, or at the end of the model's steps.")] = "start",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="File to write: .h5, .SID_FEM, .pch, or a folder; of several parts the folder for PART-part.h5.",
            show_default="PART-part.h5",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes for several parts.", show_default="as many as processors")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a running dask cluster to use instead.", metavar="ADDRESS")
    ] = None,
    overwrite: Annotated[bool, _REPLACE] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing but errors.")] = False,
    strict: Annotated[bool, _STRICT] = False,
    allow: Annotated[bool, _ALLOW] = False,
    backend: Annotated[str, _BACKEND] = "local",
) -> None:
    """Reduce parts to their interfaces and a few modes, and write each to a file."""
    from fem_mbs.cli.reduce import reduce_files
    from fem_mbs.decks.notes import Accept

    if stress and no_recovery:
        raise InputError("--stress and --no-recovery exclude each other; remove one")
    if rigid and average:
        raise InputError("--rigid and --average exclude each other; give NAME=rigid or NAME=average for single sets")
    reduce_files(
        part, interface or [], "average" if average else "rigid" if rigid else None, output, material, thickness,
        _console(), quiet, Accept.of(strict, allow), workers, scheduler, overwrite, method=method, modes=modes,
        cutoff=cutoff, participation=participation, damping=damping, orthonormal=orthonormal, check=check,
        accuracy=accuracy, state=state, release=release, recovery="stress" if stress else not no_recovery,
        stiffening=stiffening, backend=backend,
    )  # fmt: skip


@app.command()
def stresses(
    folder: Annotated[Path, _FOLDER],
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="Places to name.")] = 10,
    apart: Annotated[
        float | None, typer.Option(help=r"Least distance of two places \[m].", show_default="1/20 of the part")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Table to write.", show_default="DIR/stresses.csv")
    ] = None,
) -> None:
    """Tell where and when the stresses of reduced parts are largest: table, CSV and figures."""
    from fem_mbs.cli.stresses import report_stresses

    report_stresses(folder, number, apart, output, _console())


@app.command()
def recover(
    folder: Annotated[Path, _FOLDER],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for the results of the whole mesh.", show_default="DIR-recovered"),
    ] = None,
    overwrite: Annotated[bool, _OVERWRITE] = False,
) -> None:
    """Write results with the whole mesh of reduced parts, for plot, animate, export and ParaView."""
    from fem_mbs.analysis.recovery.part_results import recover as recovered
    from fem_mbs.results.reader import Results
    from fem_mbs.results.reader import export as write

    results = recovered(Results.open(folder), output, overwrite)
    write(results.folder())
    print(f"{results.directory} written: {len(results.header['nodes'])} nodes")


@app.command()
def convert(
    part: Annotated[Path, typer.Argument(help="Reduced part: .h5, .SID_FEM, .pch, or a folder.", show_default=False)],
    target: Annotated[Path, typer.Argument(help="File (.h5, .SID_FEM, .pch) or folder to write.", show_default=False)],
    frame: Annotated[
        str | None,
        typer.Option(help="Of .SID_FEM: interface with the body's frame, or mean.", show_default="by stiffening"),
    ] = None,
    modes: Annotated[int | None, typer.Option(min=1, help="Of .SID_FEM: number of shapes.", show_default="all")] = None,
    grids: Annotated[list[Path] | None, typer.Option(help="Of .pch: file with the GRID entries.")] = None,
    overwrite: Annotated[bool, _REPLACE] = False,
) -> None:
    """Convert a reduced part: HDF5, Matrix Market folder, DMIG of Nastran, flexible body data."""
    from fem_mbs.cli.reduce import check_new
    from fem_mbs.parts.formats import lost_in, read_part, write_part

    found = read_part(part, grids or ())
    if not overwrite:
        check_new(target)
    written = write_part(target, found, frame, modes)
    lost = lost_in(target, found)
    print(f"{written} written" + (f", without {' and '.join(lost)}" if lost else ""))


@app.command()
def modify(
    model: Annotated[Path, typer.Argument(help=r"Model file (TOML) with \[\[component]].", show_default=False)],
    mode: Annotated[list[int], typer.Option("--mode", help="Number of the mode to move, from 1; repeat for several.")],
    to: Annotated[list[float], typer.Option("--to", help="Frequency that it is to have [Hz].")],
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            help="What may change, KIND:TARGET: density, modulus, thickness, stiffness, mass or a key of a section, of "
            "a component or group; repeat for several.",
            show_default="density and modulus of components, springs, masses",
        ),
    ] = None,
    cutoff: Annotated[
        float | None,
        typer.Option(help="Up to which modes of components are kept [Hz].", show_default="3 times the frequency"),
    ] = None,
    modes: Annotated[int | None, typer.Option(help="Number of elastic modes of every component instead.")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Solve the whole model for every answer.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the tables to this file.")] = None,
) -> None:
    """Tell which parameters of components bring a mode to a frequency, and by how much."""
    from fem_mbs.cli.modify import modify_file

    modify_file(model, _console(), mode, to, parameter or [], cutoff, modes, verify, json)


@app.command()
def validate(
    cases: Annotated[list[str] | None, typer.Argument(help="Cases.", show_default="all")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the table to this file.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report with figures into this folder.")] = None,
    long: Annotated[bool, typer.Option("--long", help="Also the cases that take minutes.")] = False,
    show_list: Annotated[bool, typer.Option("--list", help="Name the cases, run none.")] = False,
) -> None:
    """Compare with published benchmarks."""
    from importlib import import_module

    # The cases use the public names, as any user does, and so stand above this module.
    runner = import_module("fem_mbs.validation.runner")
    code = runner.run_cases(cases or None, long=long, json_path=json, report_dir=report, list_only=show_list)
    raise typer.Exit(code)


@app.command("list")
def list_(
    of: Annotated[str, typer.Argument(help="Of one topic, or of all: more than names.", show_default=False)] = "",
) -> None:
    """Name what there is: elements, joints, functions, sections, sensors, solvers, formats."""
    from fem_mbs.cli.listing import overview, topic

    for line in topic(of) if of else overview():
        print(line)


if __name__ == "__main__":  # python -m fem_mbs.cli.main
    main()
