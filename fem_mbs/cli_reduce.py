"""`fem-mbs reduce`: a part of a deck, a model file or a mesh, reduced to its interfaces and written to a file."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import FemMbsError, InputError, ModelError
from fem_mbs.model import Model
from fem_mbs.reduced_part import ReducedPart

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["find_interfaces", "load_part", "print_part", "reduce_file"]

_MOST_MODES, _MOST_LOADS = 24, 8  # shown
_NAMES_2D, _NAMES_3D = ("x", "y", "rotation"), ("x", "y", "z", "rx", "ry", "rz")


def reduce_file(
    path: Path, interfaces: list[str], kind: str | None, output: Path | None, material: str | None, thickness: float,
    console: Console, quiet: bool, strict: bool, **options: Any,
) -> None:  # fmt: skip
    """Reduce the part of a file, write it and print what it is.

    Raises:
        FemMbsError: as `fem_mbs.reduce_part`, with the file.
    """
    from fem_mbs.analysis.reduction import reduce_part
    from fem_mbs.results_part import write_part

    model, sets, notes = load_part(path, material, thickness, strict)
    target = output or Path(f"{path.stem}-part.h5")
    try:
        wanted = find_interfaces(model, interfaces, kind, sets)
        if not quiet:
            for note in notes:
                console.print(note, markup=False, soft_wrap=True)
        part = reduce_part(model, wanted, name=model.title or path.stem, **options)
    except FemMbsError as error:
        if path.suffix.lower() == ".toml" and isinstance(error, InputError):
            from fem_mbs.modelfile import locate_error

            raise locate_error(path, error) from None
        raise type(error)(f"{path}: {error}") from None
    write_part(target, part)
    if not quiet:
        print_part(console, part)
        console.print(f"{target} written", markup=False, soft_wrap=True)


# --- what is reduced -------------------------------------------------------------------------------------------------
def load_part(
    path: Path, material: str | None, thickness: float, strict: bool
) -> tuple[Model, Callable[[], dict[str, np.ndarray]], list[str]]:
    """The model of a deck, a model file or a mesh (which needs a ``material`` "E,nu,density"); sets of nodes that have
    names beside those of the model; what the reader has to say."""
    suffix = path.suffix.lower()
    if suffix not in (".inp", ".toml"):
        return _of_mesh(path, material, thickness)
    if material is not None:
        raise ModelError(f"{path}: --material belongs to meshes; this file says itself what its parts are made of")
    if suffix == ".toml":
        from fem_mbs.modelfile import load_model

        return load_model(path), dict, []
    from fem_mbs.deck_run import convert, strictly
    from fem_mbs.meshes.abaqus import read_deck

    deck = read_deck(path)
    converted = convert(deck)
    strictly(converted, strict)

    def sets() -> dict[str, np.ndarray]:
        found = {name: surface.nodes for name, surface in deck.surfaces.items()}
        found |= dict(deck.nsets)
        return {name: deck.nodes_in(np.asarray(ids)) for name, ids in found.items()}

    return converted.model, sets, [f"warning: {note}" for note in converted.notes if note.changes]


def _of_mesh(path: Path, material: str | None, thickness: float):
    """A part of all cells of a mesh: solids, or plane stress where there are none."""
    from fem_mbs.meshes.reader import read_mesh

    if material is None:
        raise ModelError(f"{path}: a mesh has no material; add --material E,nu,density, such as 2.1e11,0.3,7850")
    try:
        E, nu, density = (float(v) for v in material.split(","))
    except ValueError:
        raise ModelError(f"{path}: --material {material!r} must be three numbers E,nu,density") from None
    mesh = read_mesh(path, "all")
    kinds = {block.kind for block in mesh.blocks}
    solid = any(kind.startswith(("tetra", "hexa", "wedge")) for kind in kinds)
    plane = any(kind.startswith(("tri", "quad")) for kind in kinds)
    if not solid and not plane:
        raise ModelError(f"{path}: the mesh has no solid or plane cells; describe beams in a model file")
    model = Model(3 if solid else 2, title=path.stem)
    model.material("part", E=E, nu=nu, density=density)
    model.mesh("part", mesh, unused="drop")
    if solid:
        model.solids("part", on="part", material="part")
    else:
        model.planes("part", on="part", material="part", thickness=thickness)
    return model, dict, [f"not read: {sentence}" for sentence in mesh.skipped]


def find_interfaces(model: Model, wanted: list[str], kind: str | None, sets=dict) -> dict[str, dict[str, Any]]:
    """Interfaces of words "NAME" or "NAME=kind", several of them joined by commas; NAME is a place of the model, a set
    of one of its meshes, or one of the deck's.

    Raises:
        ModelError: an unknown name, or one that several meshes have.
    """
    words = [word.strip() for text in wanted for word in text.split(",") if word.strip()]
    if not words:
        raise ModelError("Reduction: no interface is named; add --interface left,right")
    extra = sets()
    found: dict[str, dict[str, Any]] = {}
    for word in words:
        name, _, own = word.partition("=")
        if name in found:
            raise ModelError(f'Interface "{name}": it is named twice; remove one')
        nodes = _place(model, name, extra)
        spec: dict[str, Any] = {"on": nodes}
        many = np.unique(nodes).size > 1
        if own or (kind and many):
            spec["kind"] = own or kind
        found[name] = spec
    return found


def _place(model: Model, name: str, extra: dict[str, np.ndarray]) -> np.ndarray:
    owner = f'Interface "{name}"'
    if name in extra:
        return np.asarray(extra[name], np.int64)
    upper = {key.upper(): key for key in extra}
    if name.upper() in upper:
        return np.asarray(extra[upper[name.upper()]], np.int64)
    if name in model.bodies or name in model.named_nodes or name.partition(":")[0] in model.meshes:
        return model.nodes_of(name, owner)
    holders = [mesh for mesh, (data, _) in model.meshes.items() if name in data.set_names]
    if len(holders) == 1:
        return model.nodes_of(f"{holders[0]}:{name}", owner)
    if holders:
        raise ModelError(f'{owner}: meshes {", ".join(holders)} have this set; write "{holders[0]}:{name}"')
    known = [*extra, *model.bodies, *model.named_nodes]
    known += [key for data, _ in model.meshes.values() for key in data.set_names]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f'did you mean "{close[0]}"?' if close else f"there are {', '.join(dict.fromkeys(known)) or 'none'}"
    raise ModelError(f"{owner}: there is no such node or set; {hint}")


# --- what came of it -------------------------------------------------------------------------------------------------
def print_part(console: Console, part: ReducedPart) -> None:
    """Print interfaces, modes, error indicators, mass and seconds of a reduced part."""
    from fem_mbs.cli_report_stability import make_table

    info = part.info
    whole = (
        f"{info['nodes']} nodes, {info['dofs']} unknowns" if "dofs" in info else f"a part of dimension {part.dimension}"
    )
    held = {0: "held", 3 * part.dimension - 3: "free"}.get(part.rigid.shape[1], "free in part")
    console.print(
        f"{part.name}: {whole} reduced to {part.size} by {part.method}; {held}, "
        f"{part.rigid.shape[1]} rigid-body motions",
        markup=False, soft_wrap=True,
    )  # fmt: skip
    table = make_table("interface", "kind", "nodes", "place [m]", "components")
    for interface in part.interfaces:
        place = " ".join(f"{v:.6g}" for v in interface.position)
        table.add_row(interface.name, interface.kind, str(len(interface.nodes)), place, " ".join(interface.components))
    console.print(table)
    if part.frequencies.size:
        shares = np.asarray(info.get("shares", np.full(part.frequencies.size, np.nan)))
        table = make_table("component mode", "frequency [Hz]", "share at interfaces")
        for k, (f, share) in enumerate(zip(part.frequencies, shares, strict=True)):
            if k == _MOST_MODES:
                table.add_row("...", f"to {part.frequencies[-1]:.6g}", "")
                break
            table.add_row(str(k + 1), f"{f:.6g}", f"{share:.2%}")
        console.print(table)
        if info.get("complete"):
            console.print(f"all modes up to {info['cutoff_hz']:g} Hz, counted")
    if info.get("accuracy"):
        table = make_table("mode of the part, interfaces free", "frequency [Hz]", "estimated error")
        for k, row in enumerate(info["accuracy"]):
            error = f"{row['relative_error']:.2g}" if np.isfinite(row["relative_error"]) else "beyond the modes kept"
            table.add_row(str(k + 1), f"{row['frequency_hz']:.6g}", error)
        console.print(table)
    if "mass" in info:
        center = " ".join(f"{v:.6g}" for v in np.atleast_1d(info["center"]))
        J = np.atleast_2d(info["inertia"])
        axes = ["zz"] if part.dimension == 2 else ["xx", "yy", "zz", "xy", "yz", "zx"]
        at = [(0, 0)] if part.dimension == 2 else [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)]
        values = ", ".join(f"{a} {J[i, j]:.6g}" for a, (i, j) in zip(axes, at, strict=True))
        console.print(f"mass {info['mass']:.6g} kg, centre {center} m; about it {values} kg m^2", soft_wrap=True)
    if info.get("effective_mass") is not None and part.frequencies.size:
        names = _NAMES_2D if part.dimension == 2 else _NAMES_3D
        share = ", ".join(f"{n} {v:.1%}" for n, v in zip(names, np.asarray(info["effective_mass"]), strict=True))
        console.print(f"share of the mass that the modes move: {share}", soft_wrap=True)
    if part.loads:
        names = list(part.loads)
        more = f" and {len(names) - _MOST_LOADS} more" if len(names) > _MOST_LOADS else ""
        console.print(f"loads kept: {', '.join(names[:_MOST_LOADS])}{more}", markup=False, soft_wrap=True)
    if part.damping is not None:
        console.print("with damping")
    seconds = info.get("seconds", {})
    if seconds:
        console.print(", ".join(f"{key} {value:.2f} s" for key, value in seconds.items()))
