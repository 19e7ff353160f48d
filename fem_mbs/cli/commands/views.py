"""Look at models and results: `fem-mbs show`, `plot`, `animate`, `report`, `export`, `mac`, `stresses`."""

# No annotations as texts: typer would evaluate those of all commands at each start.

from pathlib import Path
from typing import Annotated, Any

import typer

from fem_mbs.cli.commands.common import ALLOW, FOLDER, STRICT, output_console
from fem_mbs.errors import InputError

__all__ = ["commands"]

commands = typer.Typer()

_PANEL = "Views of results"


@commands.command(rich_help_panel=_PANEL)
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
        int | None,
        typer.Option(help="Show only this step, counted from 0; -1: the last.", show_default="all with frames"),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the page in a browser.")] = False,
    strict: Annotated[bool, STRICT] = False,
    allow: Annotated[bool, ALLOW] = False,
    window: Annotated[bool, typer.Option("--window", help="Open a window of pyvista (extra: window).")] = False,
) -> None:  # fmt: skip
    """Show a model before its run, or results, in space: one page that turns, zooms and plays, with all names."""
    from fem_mbs.cli.show import show_file
    from fem_mbs.decks.notes import Accept

    written = show_file(path, output, png, step, not no_open, Accept.of(strict, allow), window)
    if written is not None:
        print(written)


@commands.command(rich_help_panel=_PANEL)
def plot(
    folder: Annotated[Path, FOLDER],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the figures.", show_default="DIR/figures")
    ] = None,
    quantity: Annotated[
        list[str] | None,
        typer.Option(help="For a sweep: quantity to draw, also with * and ?; repeat for several.", metavar="NAME"),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="Format of the files: png, svg or pdf.", metavar="FORMAT")
    ] = "png",
    transfer: Annotated[
        list[str] | None,
        typer.Option(
            help="Draw only H1 and coherence of a sensor to an excitation (another sensor); repeat for several.",
            metavar="SENSOR:EXCITATION[:COLUMN]",
        ),
    ] = None,
) -> None:
    """Draw the figures of a run: energy ledger, momenta, sensors, shapes, Campbell diagrams, maps of stability; or the
    figure of a sweep."""
    from fem_mbs.results.folder import take

    is_sweep = (folder / "sweep.json").is_file()
    if transfer if is_sweep else quantity:
        option, kind = ("--transfer", "run") if is_sweep else ("--quantity", "sweep")
        raise InputError(f"{option} is of a {kind}, and {folder} holds none; leave it out")
    if is_sweep:
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


@commands.command(rich_help_panel=_PANEL)
def animate(
    folder: Annotated[Path, FOLDER],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File to write, .gif or .mp4.", show_default="DIR/animation.gif"),
    ] = None,
    fps: Annotated[int, typer.Option(min=1, max=100, help="Pictures per second.")] = 25,
    seconds: Annotated[float, typer.Option(min=0.1, max=600.0, help=r"Largest length \[s].")] = 8.0,
    quantity: Annotated[
        str | None,
        typer.Option(
            help='Output of elements or field of parts that colours the model, or "none".',
            show_default="von Mises stress, bending moment, or energy",
        ),
    ] = None,
    trail: Annotated[str | None, typer.Option(help="Node whose path is drawn.", show_default="none")] = None,
    follow: Annotated[
        str | None, typer.Option(help="Node or body that the view follows.", show_default="the view stands")
    ] = None,
    step: Annotated[
        int | None, typer.Option(help="Step to show, counted from 0; -1: the last.", show_default="the last that moves")
    ] = None,
    mode: Annotated[
        int | None,
        typer.Option(help="Mode, complex mode or buckling shape to show, counted from 1.", show_default="the first"),
    ] = None,
    magnify: Annotated[float, typer.Option(help="Factor on displacements.")] = 1.0,
) -> None:
    """Write an animation of a run."""
    from fem_mbs.plot.figures import animate as write
    from fem_mbs.results.folder import take
    from fem_mbs.results.reader import Results

    results = Results.open(folder)
    target = output or folder / "animation.gif"
    take(folder, [target])
    shown: dict[str, Any] = {
        "step": step,
        "trail": trail,
        "follow": follow,
        "seconds": seconds,
        "mode": mode,
        "magnify": magnify,
    }
    print(write(results, target, quantity=quantity, fps=fps, **shown))


@commands.command(rich_help_panel=_PANEL)
def report(
    folder: Annotated[Path, FOLDER],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write.", show_default="DIR/report.html")
    ] = None,
) -> None:
    """Write the report of a run, one HTML file: model, steps, tables, figures, warnings, how to reproduce."""
    from fem_mbs.results.reader import Results

    print(Results.open(folder).write_report(output))


@commands.command(rich_help_panel=_PANEL)
def export(
    folder: Annotated[Path, FOLDER],
    vtu: Annotated[bool, typer.Option("--vtu", help="Also write the frames as VTU files into DIR/vtu.")] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="VTU files show the whole wheel of a sector (cyclic symmetry).")
    ] = False,
) -> None:
    """Write the XDMF files and the sensor tables again, also for a run that was killed or is still running.

    ParaView opens results*.xdmf, or the .pvd files in DIR/vtu.
    """
    from fem_mbs.results.export.vtu import write_vtu_files
    from fem_mbs.results.modes.shapes import whole_wheel
    from fem_mbs.results.reader import Results
    from fem_mbs.results.reader import export as write

    for path in write(folder):
        print(path)
    if not vtu and not whole:
        return
    results: Results = Results.open(folder)
    paths = write_vtu_files(whole_wheel(results) if whole else results)
    listed = {path.stem for path in paths if path.suffix == ".pvd"}
    frames = [path for path in paths if path.suffix != ".pvd" and path.stem.rpartition("-")[0] in listed]
    for path in paths:
        if path not in frames:
            print(path)
    if frames:
        print(f"{len(frames)} frames in {frames[0].parent}, which the .pvd files list")


@commands.command(rich_help_panel=_PANEL)
def mac(
    first: Annotated[Path, FOLDER],
    second: Annotated[Path, typer.Argument(help="Folder with the results to compare with.", show_default=False)],
    step: Annotated[
        str | None, typer.Option(help="Step of modes, name or number from 0.", show_default="the first with shapes")
    ] = None,
    step_b: Annotated[
        str | None, typer.Option(help="Step of the second result.", show_default="of the same name")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help=r"Largest distance of two nodes that are compared \[m].", show_default="1e-6 of the size"),
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
    print_mac(output_console(), found)
    target = output or first / "figures" / "mac.png"
    take(first, [target])
    print(plot_mac(found, target, (str(first), str(second))))


@commands.command(rich_help_panel=_PANEL)
def stresses(
    folder: Annotated[Path, FOLDER],
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="Number of places to list.")] = 10,
    apart: Annotated[
        float | None, typer.Option(help=r"Least distance of two places \[m].", show_default="1/20 of the part")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Table to write.", show_default="DIR/stresses.csv")
    ] = None,
) -> None:
    """List where and when the stresses of reduced parts are largest: table, CSV and figures."""
    from fem_mbs.cli.stresses import report_stresses

    report_stresses(folder, number, apart, output, output_console())
