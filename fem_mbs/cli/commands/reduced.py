"""Reduced parts: `fem-mbs reduce`, `convert`, `recover`."""

# No annotations as texts: typer would evaluate those of all commands at each start.

from pathlib import Path
from typing import Annotated

import typer

from fem_mbs.cli.commands.common import ALLOW, BACKEND, FOLDER, OVERWRITE, REPLACE, STRICT, THREADS, output_console
from fem_mbs.errors import InputError

__all__ = ["commands"]

commands = typer.Typer()

_PANEL = "Reduced parts"


@commands.command("reduce", rich_help_panel=_PANEL)
def reduce_(
    part: Annotated[
        list[Path],
        typer.Argument(
            help="Decks, model files (.toml) or meshes; several are reduced in parallel.", show_default=False
        ),
    ],
    interface: Annotated[
        list[str] | None,
        typer.Option(
            "-i",
            "--interface",
            help="Nodes or sets of the interfaces, separated by commas; NAME=rigid, NAME=average or NAME=node for one.",
            show_default="of decks what *SUBSTRUCTURE GENERATE retains",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Reduction method: guyan, craig_bampton, macneal, rubin, craig_chang or herting.",
            show_default="craig_bampton",
        ),
    ] = None,
    modes: Annotated[
        int | None, typer.Option(min=0, help="Number of component modes.", show_default="20, or by the cut-off")
    ] = None,
    cutoff: Annotated[float | None, typer.Option(help="Keep all component modes up to this frequency [Hz].")] = None,
    participation: Annotated[
        float | None, typer.Option(help="Keep only modes with at least this share at an interface (0 ... 1).")
    ] = None,
    rigid: Annotated[bool, typer.Option("--rigid", help="Interface sets are rigid (the default).")] = False,
    average: Annotated[
        bool, typer.Option("--average", help="Interfaces follow the mean motion of their sets.")
    ] = False,
    damping: Annotated[
        float | None, typer.Option(help="Ratio of critical damping of all modes.", show_default="the model's own")
    ] = None,
    orthonormal: Annotated[
        bool, typer.Option("--orthonormal", help="Take the modes of the reduced part as its coordinates.")
    ] = False,
    check: Annotated[
        str | None,
        typer.Option(
            help="How to look for missed modes: none, probe (random vectors), inertia (count of eigenvalues).",
            show_default="inertia below a cut-off, else probe",
        ),
    ] = None,
    accuracy: Annotated[int, typer.Option(min=0, help="Number of modes whose errors are estimated.")] = 6,
    no_recovery: Annotated[
        bool, typer.Option("--no-recovery", help="Leave the displacements of all nodes out of the file.")
    ] = False,
    stress: Annotated[
        bool, typer.Option("--stress", help="Keep the stresses at the nodes of solid and plane parts.")
    ] = False,
    stiffening: Annotated[
        str | None,
        typer.Option(
            help='Keep geometric stiffness by inertia loads: the interface that carries the frame, or "free".',
            show_default="none",
        ),
    ] = None,
    material: Annotated[str | None, typer.Option(help="Material of a mesh: E,nu,density.")] = None,
    thickness: Annotated[
        float | None, typer.Option(help=r"Thickness of a plane mesh \[m].", show_default="1.0")
    ] = None,
    release: Annotated[bool, typer.Option("--release", help="Remove the supports of interface nodes.")] = False,
    state: Annotated[
        str, typer.Option(help="State about which the part is reduced: start, or end (of the model's steps).")
    ] = "start",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="File to write: .h5, .SID_FEM, .pch, or a folder; for several parts the folder of PART-part.h5.",
            show_default="PART-part.h5",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes for several parts.", show_default="as many as processors")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a running dask cluster to use instead.", metavar="ADDRESS")
    ] = None,
    overwrite: Annotated[bool, REPLACE] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")] = False,
    strict: Annotated[bool, STRICT] = False,
    allow: Annotated[bool, ALLOW] = False,
    backend: Annotated[str, BACKEND] = "local",
    threads: Annotated[str | None, THREADS] = None,
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
        output_console(), quiet, Accept.of(strict, allow), workers, scheduler, overwrite, method=method, modes=modes,
        cutoff=cutoff, participation=participation, damping=damping, orthonormal=orthonormal, check=check,
        accuracy=accuracy, state=state, release=release, recovery="stress" if stress else not no_recovery,
        stiffening=stiffening, backend=backend,
    )  # fmt: skip


@commands.command(rich_help_panel=_PANEL)
def convert(
    part: Annotated[Path, typer.Argument(help="Reduced part: .h5, .SID_FEM, .pch, or a folder.", show_default=False)],
    target: Annotated[Path, typer.Argument(help="File (.h5, .SID_FEM, .pch) or folder to write.", show_default=False)],
    frame: Annotated[
        str | None,
        typer.Option(
            help="For .SID_FEM: interface that carries the frame of the body, or mean.", show_default="by stiffening"
        ),
    ] = None,
    modes: Annotated[
        int | None, typer.Option(min=1, help="For .SID_FEM: number of shapes.", show_default="all")
    ] = None,
    grids: Annotated[
        list[Path] | None, typer.Option(help="For .pch: file with the GRID entries; repeat for several.")
    ] = None,
    overwrite: Annotated[bool, REPLACE] = False,
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


@commands.command(rich_help_panel=_PANEL)
def recover(
    folder: Annotated[Path, FOLDER],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for the results of the whole mesh.", show_default="DIR-recovered"),
    ] = None,
    overwrite: Annotated[bool, OVERWRITE] = False,
    threads: Annotated[str | None, THREADS] = None,
) -> None:
    """Write results with the whole mesh of reduced parts, for plot, animate, export and ParaView."""
    from fem_mbs.analysis.recovery.part_results import recover as recovered
    from fem_mbs.results.reader import Results
    from fem_mbs.results.reader import export as write

    results = recovered(Results.open(folder), output, overwrite)
    write(results.folder())
    print(f"{results.directory} written: {len(results.header['nodes'])} nodes")
