"""Many runs of a model: `fem-mbs sweep`, `optimise`, `sensitivities`, `identify`, `modify`, `compare-decks`."""

# No annotations as texts: typer would evaluate those of all commands at each start.

from pathlib import Path
from typing import Annotated

import typer

from fem_mbs.cli.commands.common import OVERWRITE, complain, output_console

__all__ = ["commands"]

commands = typer.Typer()

_PANEL = "Studies"


@commands.command(rich_help_panel=_PANEL)
def sweep(
    model: Annotated[Path, typer.Argument(help="Model file (TOML).", show_default=False)],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Key and its values, KIND.NAME.KEY=VALUES: section.rod.diameter=0.01,0.012 or "
            "point_mass.tip.mass=0:20:5 (STOP included).",
            metavar="PATH=VALUES",
        ),
    ] = None,
    zipped: Annotated[
        bool, typer.Option("--zip", help="Pair the values of several --set; else all combinations.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for all variants.", show_default="MODEL-sweep")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of parallel processes.", show_default="as many as processors")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a running dask cluster to use instead.", metavar="ADDRESS")
    ] = None,
    quantity: Annotated[
        list[str] | None,
        typer.Option(
            help="Quantity for the table and the figure, also with * and ?; repeat for several.", metavar="NAME"
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Run finished variants again.")] = False,
    overwrite: Annotated[bool, OVERWRITE] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")] = False,
) -> None:
    """Run variants of a model in parallel; a second call runs those that are missing."""
    from fem_mbs.cli.sweep import Interrupted, run_sweep

    try:
        table = run_sweep(
            model, settings or [], output, output_console(), zipped=zipped, workers=workers, scheduler=scheduler,
            quantities=quantity or [], again=again, overwrite=overwrite, quiet=quiet,
        )  # fmt: skip
    except Interrupted as end:
        complain(str(end))
        raise typer.Exit(130) from None
    if table.failed:
        complain(
            f"{model}: {len(table.failed)} of {len(table.rows)} variants failed; the same command tries them again"
        )
        raise typer.Exit(1)


@commands.command(rich_help_panel=_PANEL)
def optimise(
    model: Annotated[Path, typer.Argument(help="Model file (TOML).", show_default=False)],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            help="Parameter or key and its bounds: height=0.02:0.2, or LOW:START:HIGH; repeat for several.",
            metavar="PATH=LOW:HIGH",
        ),
    ] = None,
    minimise: Annotated[
        str, typer.Option(help="Quantity to minimise, or an expression of quantities in braces.", metavar="QUANTITY")
    ] = "",
    maximise: Annotated[
        str, typer.Option(help="Quantity or expression to maximise, instead of --minimise.", metavar="QUANTITY")
    ] = "",
    subject: Annotated[
        list[str] | None,
        typer.Option(help='Constraint: "modes.frequency_1 >= 5"; repeat for several.', metavar="CONSTRAINT"),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for all trials.", show_default="MODEL-optimum")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Method: cobyqa, nelder-mead or evolution; with gradients slsqp, trust-constr or l-bfgs-b.",
            show_default="cobyqa",
        ),
    ] = None,
    gradients: Annotated[
        bool, typer.Option("--gradients", help="Take gradients from derivatives of the transients (slsqp).")
    ] = False,
    trials: Annotated[int, typer.Option(min=2, help="Largest number of trials.")] = 100,
    tolerance: Annotated[float, typer.Option(help="Accuracy of the values, over the distance of their bounds.")] = 1e-4,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of parallel processes of the method evolution.")
    ] = None,
    overwrite: Annotated[bool, OVERWRITE] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")] = False,
) -> None:
    """Vary numbers of a model until a quantity of its results is smallest or largest; a second call continues."""
    from fem_mbs.cli.sweep import run_optimisation

    run_optimisation(
        model, vary or [], output_console(), quiet, minimise=minimise, maximise=maximise, subject=subject or [],
        output=output, method=method, gradients=gradients, trials=trials, tolerance=tolerance, workers=workers,
        overwrite=overwrite,
    )  # fmt: skip


@commands.command(rich_help_panel=_PANEL)
def sensitivities(
    model: Annotated[Path, typer.Argument(help="Model file (TOML).", show_default=False)],
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of",
            metavar="PATH",
            help="Key or parameter with respect to which derivatives are taken: section.rod.diameter; repeat for "
            "several.",
        ),
    ] = None,
    quantity: Annotated[
        list[str] | None,
        typer.Option(
            help="Quantity to differentiate: transient.tip.y.absmax, also .integral and @TIME; repeat for several.",
            metavar="NAME",
            show_default="largest and last values of all sensors",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Folder for results, table, series, figure.", show_default="MODEL-sensitivities"
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")] = False,
) -> None:
    """Run a model once and find the derivatives of its transients with respect to its numbers."""
    from fem_mbs.cli.sensitivities import run_sensitivities

    run_sensitivities(model, of or [], quantity or [], output, output_console(), quiet)


@commands.command(rich_help_panel=_PANEL)
def identify(
    model: Annotated[Path, typer.Argument(help="Model file (TOML), with start values.", show_default=False)],
    results: Annotated[Path, typer.Argument(help="Results of a step with restarts.", show_default=False)],
    of: Annotated[
        list[str] | None,
        typer.Option(help="Key or parameter to identify: section.rod.EI; repeat for several.", metavar="PATH"),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the values to this file.")] = None,
) -> None:
    """Find masses, densities and stiffnesses from the energy of a run."""
    from fem_mbs.cli.identify import identify_file

    identify_file(model, results, of or [], output_console(), json)


@commands.command(rich_help_panel=_PANEL)
def modify(
    model: Annotated[Path, typer.Argument(help=r"Model file (TOML) with \[\[component]].", show_default=False)],
    mode: Annotated[list[int], typer.Option("--mode", help="Number of the mode to move, from 1; repeat for several.")],
    to: Annotated[list[float], typer.Option("--to", help="Frequency wanted for the mode [Hz]; once for each --mode.")],
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            help="Parameter that may change, KIND:TARGET: density, modulus, thickness, stiffness, mass or a key of a "
            "section, of a component or group; repeat for several.",
            show_default="density and modulus of components, springs, masses",
        ),
    ] = None,
    cutoff: Annotated[
        float | None,
        typer.Option(help="Keep modes of components up to this frequency [Hz].", show_default="3 times the frequency"),
    ] = None,
    modes: Annotated[
        int | None, typer.Option(help="Number of elastic modes of every component, instead of --cutoff.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check every answer by the modes of the whole model.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="Write the tables to this file.")] = None,
) -> None:
    """Find which parameters of components move a mode to a wanted frequency, and by how much."""
    from fem_mbs.cli.modify import modify_file

    modify_file(model, output_console(), mode, to, parameter or [], cutoff, modes, verify, json)


@commands.command("compare-decks", rich_help_panel=_PANEL)
def compare_decks(
    folder: Annotated[Path, typer.Argument(help="Folder with decks and results of their program.", show_default=False)],
    decks: Annotated[list[str] | None, typer.Argument(help="Decks, without their endings.", show_default="all")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the table to this file.")] = None,
) -> None:
    """Run the decks of a folder and compare with the results beside them: of CalculiX (NAME.dat.ref or NAME.dat), of
    Nastran (NAME.f06)."""
    from fem_mbs.cli.deck import compare

    raise typer.Exit(compare(folder, decks or [], json))
