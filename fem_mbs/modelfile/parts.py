"""Reduced parts of a model file: read from a file of their own, or reduced on the fly from what describes them."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.decks.formats import deck_format
from fem_mbs.decks.notes import Accept
from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import FemMbsError, MeshError, ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.model import Model
from fem_mbs.parts.part import ReducedPart

__all__ = ["LoadedPart", "find_interfaces", "load_part", "part_of", "wanted_of"]

#: Files of parts that are being read now: a model file may have parts that are model files.
_reading: ContextVar[tuple[Path, ...]] = ContextVar("_reading", default=())


def part_of(path: Path, reduce: dict[str, Any] | None, load_model: Callable[[Path], Model]) -> ReducedPart:
    """Return the reduced part of a file of one (`fem_mbs.parts.formats`), or of a model file, a deck or a mesh and how
    it is to be reduced: ``interfaces``, ``kind``, ``material`` and ``thickness`` as `load_part` and `find_interfaces`
    take them, ``stress`` for recovery = "stress", the others as `fem_mbs.reduce_part`.  ``load_model`` reads a
    model file.

    Raises:
        ModelError, MeshError: the file cannot be used, or cannot be reduced so.
    """
    if path.resolve() in _reading.get():
        raise ModelError(f"{path}: the file is a part of itself; name another")
    token = _reading.set((*_reading.get(), path.resolve()))
    try:
        return _part_of(path, reduce, load_model)
    except FemMbsError as error:
        if isinstance(error, (ModelError, MeshError)):
            raise
        raise ModelError(str(error)) from None
    finally:
        _reading.reset(token)


def _part_of(path: Path, reduce: dict[str, Any] | None, load_model: Callable[[Path], Model]) -> ReducedPart:
    from fem_mbs.analysis.reduction.reduce import reduce_part
    from fem_mbs.parts.formats import is_part, read_part

    if is_part(path):
        if reduce is not None:
            raise ModelError(f"{path.name} is reduced already; remove reduce")
        return read_part(path)
    if reduce is None:
        raise ModelError(
            f"{path.name} is no reduced part (.h5, .SID_FEM, a folder); add reduce = {{interfaces = [...]}}"
        )
    own = dict(reduce)
    if own.pop("stress", False):
        own["recovery"] = "stress"
    found = load_part(path, own.pop("material", None), own.pop("thickness", None), Accept.NORMAL, load_model)
    words = own.pop("interfaces", None) or []
    wanted, own = wanted_of(found, [words] if isinstance(words, str) else list(words), own.pop("kind", None), own)
    part = reduce_part(found.model, wanted, name=found.model.title or path.stem, **own)
    return replace(part, info={**part.info, "notes": found.notes}) if found.notes else part


@dataclass(frozen=True)
class LoadedPart:
    """The model of a part that is to be reduced.

    sets: nodes by names beside those of the model; notes: what the reader has to say; own: what the file itself says
    of its reduction, keywords of `fem_mbs.reduce_part` with ``interfaces``.
    """

    model: Model
    sets: Callable[[], dict[str, np.ndarray]] = dict
    notes: list[str] = field(default_factory=list)
    own: dict[str, Any] = field(default_factory=dict)


def wanted_of(
    part: LoadedPart, words: list[str], kind: str | None, options: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the interfaces that ``words`` name, and the options of `reduce_part`; without words those that the file
    itself says, with its method and modes where ``options`` (None: not given) say nothing else.

    Raises:
        ModelError: an unknown name; no words, and a file that says nothing.
    """
    given = {key: value for key, value in options.items() if value is not None}
    own = dict(part.own)
    if words or not own:
        return find_interfaces(part.model, words, kind, part.sets), given
    interfaces = own.pop("interfaces")
    if given.keys() & {"method", "modes", "cutoff", "participation"}:
        own = {}
    return interfaces, {**own, **given}


def load_part(
    path: Path, material: str | None, thickness: float | None, accept: Accept, load_model: Callable[[Path], Model]
) -> LoadedPart:
    """Return the model of a deck, a model file or a mesh (which needs a ``material`` "E,nu,density", and of plane cells
    may have a ``thickness``, else 1 m).  ``load_model`` reads model files."""
    form = deck_format(path)
    if form is None and path.suffix.lower() != ".toml":
        return _of_mesh(path, material, thickness)
    if material is not None:
        raise ModelError(f"{path}: a material belongs to meshes; this file says itself what its parts are made of")
    if thickness is not None:
        raise ModelError(f"{path}: a thickness belongs to plane meshes; this file says itself what its parts are")
    if form is None:
        model = load_model(path)
        if model.shown_units is None:
            model.units()  # a model file without [units] is in SI; the part records this for the model that takes it
        return LoadedPart(model)
    from fem_mbs.meshes.vocabulary import Effect

    converted = form.convert(form.read(path), part=True, accept=accept)
    notes = [note.line for note in converted.notes if note.effect is not Effect.NONE]
    return LoadedPart(converted.model, lambda: form.named_nodes(converted), notes, form.own_reduction(converted))


def _of_mesh(path: Path, material: str | None, thickness: float | None) -> LoadedPart:
    """Return a part of all cells of a mesh: solids, or plane stress where there are none."""
    from fem_mbs.meshes.formats.reader import read_mesh

    if material is None:
        raise ModelError(
            f"{path}: a mesh has no material; add --material E,nu,density, in a model file material = "
            '"E,nu,density", such as 2.1e11,0.3,7850'
        )
    try:
        E, nu, density = (float(v) for v in material.split(","))
    except ValueError:
        raise ModelError(f"{path}: material {shown(material)} must be three numbers E,nu,density") from None
    mesh = read_mesh(path, "all")
    kinds = {block.kind for block in mesh.blocks}
    solid = any(kind.startswith(("tetra", "hexa", "wedge")) for kind in kinds)
    plane = any(kind.startswith(("tri", "quad")) for kind in kinds)
    if not solid and not plane:
        raise ModelError(f"{path}: the mesh has no solid or plane cells; describe beams in a model file")
    if solid and thickness is not None:
        raise ModelError(f"{path}: a thickness belongs to plane meshes, and this one has solid cells; remove it")
    model = Model(3 if solid else 2, title=path.stem)
    model.material("part", E=E, nu=nu, density=density)
    model.mesh("part", mesh, unused="drop")
    if solid:
        model.solids("part", on="part", material="part")
    else:
        model.planes("part", on="part", material="part", thickness=1.0 if thickness is None else thickness)
    return LoadedPart(model, notes=[f"not read: {sentence}" for sentence in mesh.skipped])


def find_interfaces(
    model: Model, wanted: list[str], kind: str | None, sets: Callable[[], dict[str, np.ndarray]] = dict
) -> dict[str, dict[str, Any]]:
    """Return interfaces of words "NAME" or "NAME=kind", several of them joined by commas; NAME is a place of the model,
    a set of one of its meshes, or one of the deck's.

    Raises:
        ModelError: an unknown name, or one that several meshes have.
    """
    words = [word.strip() for text in wanted for word in text.split(",") if word.strip()]
    if not words:
        raise ModelError(
            "no interface is named", owner=Owner("Reduction"), remedy="name some, as in --interface left,right"
        )
    extra = sets()
    found: dict[str, dict[str, Any]] = {}
    for word in words:
        name, _, own = word.partition("=")
        if name in found:
            raise ModelError("it is named twice", owner=Owner("Interface", name), remedy="remove one")
        nodes = _place(model, name, extra)
        spec: dict[str, Any] = {"on": nodes}
        many = np.unique(nodes).size > 1
        if own or (kind and many):
            spec["kind"] = own or kind
        found[name] = spec
    return found


def _place(model: Model, name: str, extra: dict[str, np.ndarray]) -> np.ndarray:
    owner = Owner("Interface", name)
    if name in extra:
        return np.asarray(extra[name], np.int64)
    upper = {key.upper(): key for key in extra}
    if name.upper() in upper:
        return np.asarray(extra[upper[name.upper()]], np.int64)
    if name in model.bodies or name in model.named_nodes or name.partition(":")[0] in model.meshes:
        return model.nodes_of(name, owner, frames=False)
    holders = [mesh for mesh, (data, _) in model.meshes.items() if name in data.set_names]
    if len(holders) == 1:
        return model.nodes_of(f"{holders[0]}:{name}", owner, frames=False)
    if holders:
        raise ModelError(
            f"meshes {', '.join(holders)} have this set", owner=owner, remedy=f'write "{holders[0]}:{name}"'
        )
    known = [*extra, *model.bodies, *model.named_nodes]
    known += [key for data, _ in model.meshes.values() for key in data.set_names]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f'did you mean "{close[0]}"?' if close else f"there are {', '.join(dict.fromkeys(known)) or 'none'}"
    raise ModelError("there is no such node or set", owner=owner, remedy=f"{hint}")
