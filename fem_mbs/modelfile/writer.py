"""Models and the tables of model files as TOML text (comments are not kept)."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, plain
from fem_mbs.declarations.kinds import FILE, FUNCTION, PLACE, PLACES, SHAPES, TERMS, shapes_of
from fem_mbs.errors import ModelError, Owner
from fem_mbs.files import write_atomic
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.model.building import Building
from fem_mbs.model.copies.movement import Copy
from fem_mbs.model.geometry import PlacedMesh
from fem_mbs.model.model import Model
from fem_mbs.model.parts.grids import inline_of
from fem_mbs.modelfile.read import MAX_BYTES, load_model
from fem_mbs.modelfile.schema import TABLES, Document
from fem_mbs.modelfile.sources import with_source
from fem_mbs.parts.part import ReducedPart

__all__ = ["model_data", "model_text", "toml_value", "write_model"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_model(model: Model, path: str | Path) -> None:
    """Write a model as a model file, with paths of other files absolute.

    Raises:
        ModelError: parts of the model that a file cannot hold, such as Python functions and elements without a table,
            or a mesh of Python that is too large.
    """
    text = model_text(model_data(model))
    if len(text.encode()) > MAX_BYTES:
        raise ModelError(
            f"its model file would be larger than {MAX_BYTES >> 20} MB, more than is read",
            owner=Owner("Model"),
            remedy="give its meshes as files (`model.mesh(name, path)`)",
        )
    write_atomic(Path(path), text, "Model file")


def model_data(model: Model) -> dict[str, Any]:
    """Return the tables of a model file that describes a model, from its declarations.

    Reading them back makes equal declarations in the same order, and so the same arrays.  A file is built table by
    table; where Python calls came in another order, its key ``order`` says which.

    Raises:
        ModelError: parts of the model that a file cannot hold, such as Python functions and elements without a table.
    """
    top = Document(model.title, model.dimension, None, model.elimination, list(model.field_names))
    data = top.as_table()
    if model.gravity.any():
        data["gravity"] = model.gravity.tolist()
    data |= model.expressed
    tables = {declaration: table for table in TABLES for declaration in table.declarations}
    numbers: dict[str, int] = {}
    order, labels = [], []
    for said in model.specifications:
        table = tables.get(type(said))
        if table is None:
            raise ModelError(f"a {type(said).__name__} of Python has no table in a model file", owner=said.owner)
        entry = {} if said.made else _entry(said) | _places(model.building, said)
        if said.made:  # by a copy, which is written instead
            pass
        elif table.many == "named":
            named = data.setdefault(table.name, {})
            alone = table.single and [*entry] == [table.single]
            named[said.name] = entry[table.single] if alone else entry  # type: ignore[attr-defined]
        else:
            data.setdefault(table.name, []).append(entry)
        if isinstance(said, Copy):
            continue
        numbers[table.name] = numbers.get(table.name, 0) + 1
        name = getattr(said, "name", None) or f"{table.name} {numbers[table.name]}"
        labels.append(f"{table.name}.{name}")
        order.append(TABLES.index(table))
    if order != sorted(order):
        data["order"] = labels
    _check_complete(model)
    for i, step in enumerate(model.steps):
        options = {k: plain(v) for k, v in step.options.items() if v is not None}
        name = {} if step.name == step.kind else {"name": step.name}  # which a step without a name gets
        if name and any(other.name == step.name for other in model.steps[:i]):
            raise ModelError(
                "two steps of this name cannot stand in one model file",
                owner=Owner("Step", step.name),
                remedy="give each a name of its own",
            )
        data.setdefault("step", []).append({"type": step.kind, **name, **options, **step.expressed})
    return data


def _entry(said: Declaration) -> dict[str, Any]:
    """Return the keys of one table."""
    if isinstance(said, PlacedMesh) and isinstance(said.mesh, (str, Path)):
        said = replace(said, mesh=None, file=str(said.mesh))
    if isinstance(said, PlacedMesh) and isinstance(said.mesh, Mesh):
        said = replace(said, mesh=None, inline=inline_of(said.mesh))
    for name, given in said.keys().items():
        if given.file is None and name != "name":
            value = getattr(said, name)
            if value is not given.default and value is not None:
                owner = f'{said.owner} "{getattr(said, "name", "")}"'
                raise ModelError(f"{name} is a {type(value).__name__}, which a model file cannot hold", owner=owner)
    entry = said.as_table()
    for name, (field, given) in said.in_file().items():
        if name in entry and given.kind in (FILE, FUNCTION, SHAPES):
            value = plain(getattr(said, field))
            entry[name] = _absolute(shapes_of(value) if given.kind is SHAPES else value, given.kind is FILE)
    known = said.in_file()
    for name, value in said.expressed.items():  # a file stays one of its parameters
        if name in known and known[name][1].kind is not SHAPES:
            entry[name] = _absolute(value, False) if known[name][1].kind is FUNCTION else value
    return entry


def _places(building: Building, said: Declaration) -> dict[str, Any]:
    """Return the keys whose places are nodes by their indices, with the names of these nodes."""
    found: dict[str, Any] = {}
    for name, (field, given) in said.in_file().items():
        value = getattr(said, field)
        many = not isinstance(value, (str, int, np.integer)) and value is not None
        if given.kind in (PLACE, PLACES) and any(
            isinstance(v, (int, np.integer)) for v in (value if many else [value])
        ):
            names = [
                _place_of(building, v, said) if not isinstance(v, str) else v for v in (value if many else [value])
            ]
            found[name] = names if many else names[0]
        elif given.kind is TERMS:
            found[name] = [_term(building, term, said) for term in value]
    return found


def _term(building: Building, term: Any, said: Declaration) -> dict[str, Any]:
    """Return a term of an equation as a table, with the name of its place."""
    table = dict(term) if isinstance(term, dict) else dict(zip(("on", "component", "coefficient"), term, strict=True))
    if not isinstance(table["on"], str):
        table["on"] = _place_of(building, table["on"], said)
    return table


def _place_of(building: Building, node: Any, said: Declaration) -> str:
    """Return the name of a node: of a body, a single node, or of a mesh by its number there."""
    for named in (building.named_nodes, {name: body.node for name, body in building.bodies.items()}):
        for name, index in named.items():
            if index == node:
                return name
    for name, (mesh, first) in building.meshes.items():
        if first <= node < first + len(mesh.points):
            return f"{name}:#{mesh.point_ids[int(node) - first]}"
    raise ModelError(f"node {node} has no name that a model file could use", owner=said.thing, remedy="name a place")


def _absolute(value: Any, file: bool) -> Any:
    """Return a path, or a function, whose files have absolute paths."""
    if isinstance(value, str):
        return str(Path(value).absolute()) if file else value
    if isinstance(value, list):
        return [_absolute(v, False) for v in value]
    if isinstance(value, dict):
        return {k: _absolute(v, k == "file") if k in ("file", "function", "functions") else v for k, v in value.items()}
    return value


def _check_complete(model: Model) -> None:
    """Refuse a model that holds more than its declarations make."""
    again = Building(model.dimension)
    parts: dict[tuple[str, str], ReducedPart] = {}
    for said in model.specifications:
        with_source(said, load_model, parts).build(again)
    for mine, made in zip(_content(model.building), _content(again), strict=True):
        if mine != made:
            raise ModelError(
                "it holds elements or conditions that no declaration describes",
                owner=Owner("Model"),
                remedy="a deck or calls of its building made them, which a model file cannot hold",
            )


def _content(building: Building) -> tuple[Any, ...]:
    """Return counts and names that are equal for two buildings with the same content."""
    return (
        [(block.type.name, block.size, block.label(0)) for block in building.blocks],
        len(building.fixed),
        len(building.driven),
        {group: len(entries) for group, entries in building.step_motions.items()},
        building.initial_method,
        building.reserved_loads,
    )


def model_text(data: Mapping[str, Any]) -> str:
    """Return TOML that reads back as ``data``: tables of two levels ([material.steel], [[joint]]), all below them
    inline."""
    plain = {k: v for k, v in data.items() if not isinstance(v, dict) and not _is_list_of_tables(v)}
    parts = [_lines(plain)] if plain else []
    for name, value in data.items():
        if name in plain:
            continue
        head = _key(name)
        if isinstance(value, list):
            parts += [f"[[{head}]]\n{_lines(entry)}" for entry in value]
            continue
        single = [not isinstance(v, dict) for v in value.values()]
        if sorted(single, reverse=True) != single:  # tables would come behind them, in another order
            parts.append(f"[{head}]\n{_lines(value)}")
            continue
        own = {k: v for k, v in value.items() if not isinstance(v, dict)}
        if own or not value:
            parts.append(f"[{head}]\n{_lines(own)}")
        parts += [f"[{head}.{_key(k)}]\n{_lines(v)}" for k, v in value.items() if isinstance(v, dict)]
    return "\n".join(parts)


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(k)} = {toml_value(v)}\n" for k, v in table.items())


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_value(value: Any) -> str:
    """Return a value as it stands in a model file.

    Raises:
        ModelError: a value that no file can hold.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)  # inf, -inf and nan are TOML
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {toml_value(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    raise ModelError(f"a {type(value).__name__} cannot stand in a model file; give what it is made of")
