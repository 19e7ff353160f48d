"""Reduce parts of decks, model files or meshes to their interfaces and write them to files (`fem-mbs reduce`)."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.distributed.together import first_rank, meshes_in_common
from fem_mbs.decks.notes import Accept
from fem_mbs.errors import FemMbsError, InputError
from fem_mbs.modelfile.parts import load_part, wanted_of
from fem_mbs.parts.part import COMPONENTS, ReducedPart

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["check_new", "print_part", "reduce_files"]

_SOURCE = "source file"  # key of a part's info: from the folder of its file to what it was reduced from
_MOST_MODES, _MOST_LOADS = 24, 8  # shown


def reduce_files(
    paths: list[Path], interfaces: list[str], kind: str | None, output: Path | None, material: str | None,
    thickness: float | None, console: Console, quiet: bool, accept: Accept, workers: int | None, scheduler: str | None,
    overwrite: bool, backend: str = "local", **options: Any,
) -> None:  # fmt: skip
    """Reduce the parts of files, several of them side by side, write them and print what they are.

    A file that is there is replaced if it is the part of the same source, or with ``overwrite``.

    Raises:
        FemMbsError: as `fem_mbs.reduce_part`, with the file; several parts and one file for them; a file that is
            there.
    """
    from fem_mbs.analysis.distributed.backends import backend_named

    distributed = backend_named(backend).distributed
    if distributed and (len(paths) > 1 or scheduler is not None):
        raise InputError(f"the backend {backend} reduces one part by all processes; give one part, and no --scheduler")
    options["backend"] = backend
    targets = _targets(paths, output)
    if not overwrite:
        for target, path in zip(targets, paths, strict=True):
            check_new(target, _relative(path, target))
    if len(paths) == 1 and scheduler is None:
        found = [_reduced(paths[0], interfaces, kind, material, thickness, accept, options)]
    else:
        from fem_mbs.cluster import run_tasks

        tasks = [(path, interfaces, kind, material, thickness, accept, options) for path in paths]
        found = run_tasks(_reduced, tasks, workers=workers, scheduler=scheduler)
    if distributed and not first_rank():
        return
    for target, path, (part, notes) in zip(targets, paths, found, strict=True):
        _write(target, replace(part, info={**part.info, _SOURCE: _relative(path, target)}), notes, console, quiet)


def check_new(target: Path, source: str | None = None) -> None:
    """Raise InputError if there is something at a target, other than a part that was reduced from ``source``."""
    if not os.path.lexists(target) or (target.is_dir() and not any(target.iterdir())):
        return
    if source is not None and not target.is_symlink():
        from fem_mbs.parts.formats import read_part

        # a file that cannot be read is another program's
        with contextlib.suppress(FemMbsError):
            if read_part(target).info.get(_SOURCE) == source:
                return
    whose = "" if source is None else f", and it is no part that was reduced from {source}"
    raise InputError(f"{target} is there already{whose}; give another name, or --overwrite to replace it")


def _relative(path: Path, target: Path) -> str:
    return os.path.relpath(path.resolve(), target.parent.resolve()).replace(os.sep, "/")


def _targets(paths: list[Path], output: Path | None) -> list[Path]:
    """Return files to write: PART-part.h5 for each, in the folder ``output`` if there are several."""
    names = [f"{path.stem}-part.h5" for path in paths]
    if len(paths) == 1:
        return [output or Path(names[0])]
    if len(set(names)) < len(names):
        raise InputError(f"several parts would be written to {max(names, key=names.count)}; reduce them one by one")
    if output is not None and output.suffix:
        raise InputError(f"--output {output}: several parts need a folder to be written to")
    folder = output or Path()
    folder.mkdir(parents=True, exist_ok=True)
    return [folder / name for name in names]


def _reduced(
    path: Path, interfaces: list[str], kind: str | None, material: str | None, thickness: float | None, accept: Accept,
    options: dict[str, Any],
) -> tuple[ReducedPart, list[str]]:  # fmt: skip
    """Return the reduced part of a file, and the notes of its reader."""
    from fem_mbs.analysis.distributed.backends import backend_named
    from fem_mbs.analysis.reduction.reduce import reduce_part
    from fem_mbs.modelfile.read import load_model

    with meshes_in_common(backend_named(options["backend"]).distributed):
        found = load_part(path, material, thickness, accept, load_model)
    try:
        wanted, given = wanted_of(found, interfaces, kind, options)
        return reduce_part(found.model, wanted, name=found.model.title or path.stem, **given), found.notes
    except FemMbsError as error:
        if path.suffix.lower() == ".toml" and isinstance(error, InputError):
            from fem_mbs.modelfile.read import locate_error

            raise locate_error(path, error) from None
        raise type(error)(f"{path}: {error}") from None


def _write(target: Path, part: ReducedPart, notes: list[str], console: Console, quiet: bool) -> None:
    from fem_mbs.parts.formats import lost_in, write_part

    write_part(target, part)
    if quiet:
        return
    for note in notes:
        console.print(note, markup=False, soft_wrap=True)
    print_part(console, part)
    lost = lost_in(target, part)
    without = f", without {' and '.join(lost)}" if lost else ""
    console.print(f"{target} written{without}", markup=False, soft_wrap=True)


# --- what came of it -------------------------------------------------------------------------------------------------
def print_part(console: Console, part: ReducedPart) -> None:
    """Print interfaces, modes, error indicators, mass and seconds of a reduced part."""
    from fem_mbs.cli.report_stability import make_table

    info = part.info
    length, mass, hertz, turning = (part.units.of(unit).unit for unit in ("m", "kg", "Hz", "kg m^2"))
    whole = (
        f"{info['nodes']} nodes, {info['dofs']} unknowns" if "dofs" in info else f"a part of dimension {part.dimension}"
    )
    held = {0: "held", 3 * part.dimension - 3: "free"}.get(part.rigid.shape[1], "free in part")
    console.print(
        f"{part.name}: {whole} reduced to {part.size} by {part.method}; {held}, "
        f"{part.rigid.shape[1]} rigid-body motions",
        markup=False, soft_wrap=True,
    )  # fmt: skip
    table = make_table("interface", "kind", "nodes", f"place [{length}]", "components")
    for interface in part.interfaces:
        place = " ".join(f"{v:.6g}" for v in interface.position)
        table.add_row(interface.name, interface.kind, str(len(interface.nodes)), place, " ".join(interface.components))
    console.print(table)
    if not part.frequencies.size and info.get("cutoff_hz"):
        console.print(
            f"no component mode up to {info['cutoff_hz']:g} {hertz}: static motions of the interfaces alone",
            soft_wrap=True,
        )
    if part.frequencies.size:
        shares = np.asarray(info.get("shares", np.full(part.frequencies.size, np.nan)))
        table = make_table("component mode", f"frequency [{hertz}]", "share at interfaces")
        for k, (f, share) in enumerate(zip(part.frequencies, shares, strict=True)):
            if k == _MOST_MODES:
                table.add_row("...", f"to {part.frequencies[-1]:.6g}", "")
                break
            table.add_row(str(k + 1), f"{f:.6g}", f"{share:.2%}")
        console.print(table)
        if info.get("complete"):
            console.print(f"all modes up to {info['cutoff_hz']:g} {hertz}, counted")
    if info.get("accuracy"):
        table = make_table("mode of the part, interfaces free", f"frequency [{hertz}]", "estimated error")
        for k, row in enumerate(info["accuracy"]):
            error = f"{row['relative_error']:.2g}" if np.isfinite(row["relative_error"]) else "beyond the modes kept"
            table.add_row(str(k + 1), f"{row['frequency_hz']:.6g}", error)
        console.print(table)
    if "mass" in info:
        center = " ".join(f"{v:.6g}" for v in np.atleast_1d(info["center"]))
        J = np.atleast_2d(info["inertia"])
        axes = ["zz"] if part.dimension == 2 else ["xx", "yy", "zz", "xy", "yz", "zx"]
        at = [(0, 0)] if part.dimension == 2 else [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)]
        J = np.where(np.abs(J) < 1e-12 * np.abs(J).max(), 0.0, J)  # round-off of symmetric parts
        values = ", ".join(f"{a} {J[i, j]:.6g}" for a, (i, j) in zip(axes, at, strict=True))
        console.print(
            f"mass {info['mass']:.6g} {mass}, centre {center} {length}; about it {values} {turning}",
            soft_wrap=True,
        )
    if info.get("effective_mass") is not None and part.frequencies.size:
        names = COMPONENTS[part.dimension]
        share = ", ".join(f"{n} {v:.1%}" for n, v in zip(names, np.asarray(info["effective_mass"]), strict=True))
        console.print(f"share of the mass that the modes move: {share}", soft_wrap=True)
    if part.loads:
        loads = list(part.loads)
        more = f" and {len(loads) - _MOST_LOADS} more" if len(loads) > _MOST_LOADS else ""
        console.print(f"loads kept: {', '.join(loads[:_MOST_LOADS])}{more}", markup=False, soft_wrap=True)
    if part.damping is not None:
        console.print("with damping")
    seconds = info.get("seconds", {})
    if seconds:
        console.print(", ".join(f"{key} {value:.2f} s" for key, value in seconds.items()))
