"""Read a model file (TOML) and make the corresponding calls of the builder.

    model = load_model("model.toml")

The tables and their keys are in `fem_mbs.modelfile.schema` and, for people, in docs/model-file.md.  Whatever is wrong
with a file ends in one ModelError (MeshError for a mesh) of one line that names file, table and key.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from fem_mbs.declarations.kinds import shown
from fem_mbs.declarations.steps import step_kind
from fem_mbs.errors import InputError, MeshError, ModelError
from fem_mbs.functions.kinds import TimeFunction, make_function
from fem_mbs.meshes.formats.reader import read_mesh
from fem_mbs.meshes.generate import arc, line, polyline
from fem_mbs.model.model import Model
from fem_mbs.modelfile.parts import part_of
from fem_mbs.modelfile.schema import TABLES, Document, Table, TableType

__all__ = [
    "Entry",
    "ModelFile",
    "build_model",
    "check_model_data",
    "load_model",
    "locate_error",
    "parse_model_file",
    "read_model_file",
]

MAX_BYTES = 16 << 20  # long tables belong in CSV files, meshes in mesh files

_BY_NAME = {t.name: t for t in TABLES}


@dataclass(frozen=True)
class Entry:
    """One table of the file: its type, name (of those without one: type and number), keys, and place for messages."""

    type: TableType
    name: str
    keys: Any
    place: str


@dataclass(frozen=True)
class ModelFile:
    """A model file that has been read and checked against the schema, not yet built."""

    path: Path
    top: Table
    entries: dict[str, list[Entry]] = field(default_factory=dict)

    def error(self, place: str, text: str, kind: type[InputError] = ModelError) -> InputError:
        return kind(f"{self.path}, {place}: {text}" if place else f"{self.path}: {text}")


def load_model(path: str | Path) -> Model:
    """Return the model that a file describes.

    Raises:
        ModelError, MeshError: one line that names file, table and key.
    """
    return build_model(read_model_file(path))


# ---- reading --------------------------------------------------------------------------------------------------------


def read_model_file(path: str | Path) -> ModelFile:
    """Read a file and check its tables, keys and types of values.

    Raises:
        ModelError: the file cannot be read, is not TOML, or does not follow the schema.
    """
    path = Path(path)
    return check_model_data(path, parse_model_file(path))


def check_model_data(path: Path, data: Mapping[str, Any]) -> ModelFile:
    """Check the tables that a file holds, or might hold: their keys and types of values.

    Raises:
        ModelError: they do not follow the schema.
    """
    listed = {k: v for k, v in data.items() if k in _BY_NAME}
    file = ModelFile(path, _checked(path, "", Document, {k: v for k, v in data.items() if k not in _BY_NAME}))
    for table in TABLES:
        if table.name in listed:
            check = _named_entries if table.many == "named" else _listed_entries
            file.entries[table.name] = check(file, table, listed[table.name])
    return file


def parse_model_file(path: Path) -> dict[str, Any]:
    """Return the tables of a file, unchecked.

    Raises:
        ModelError: the file cannot be read, or is not TOML.
    """

    def error(text: str) -> ModelError:
        return ModelError(f"{path}: {text}")

    try:
        if path.is_dir():
            raise error("this is a folder; give a model file")
        if path.stat().st_size > MAX_BYTES:
            raise error(f"larger than {MAX_BYTES >> 20} MB; put tables into CSV files and nodes into a mesh file")
        raw = path.read_bytes()
    except FileNotFoundError:
        raise error("there is no such file") from None
    except (OSError, ValueError) as exc:
        raise error(f"cannot be read ({getattr(exc, 'strerror', None) or exc})") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        row = raw[: exc.start].count(b"\n") + 1
        raise error(f"line {row} is not UTF-8 text; save the file in this encoding") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        reason = str(exc)
        raise error(f"not valid TOML: {reason[:1].lower()}{_one_line(reason[1:])}") from None
    except RecursionError:
        raise error("not valid TOML: lists or tables are nested too deeply") from None
    except ValueError:  # Python refuses to read whole numbers of thousands of digits
        found = re.search(r"\d{4000,}", text)
        where = f" in line {text[: found.start()].count(chr(10)) + 1}" if found else ""
        raise error(f"a number{where} has too many digits") from None


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _named_entries(file: ModelFile, table: TableType, value: Any) -> list[Entry]:
    if not isinstance(value, dict):
        raise file.error("", f"{table.name} = {shown(value)} must be a table: write [{table.name}.NAME]")
    entries = []
    for name, keys in value.items():
        place = table.place(name) if name.isprintable() else f"[{table.name}]"
        if not name.strip() or not name.isprintable():
            raise file.error(place, f"the name {shown(name)} must be a text of one line")
        if table.keys is None:  # functions may be a number or a text as well
            if isinstance(keys, (bool, list)) or not isinstance(keys, (int, float, str, dict)):
                raise file.error(place, f"{shown(keys)} must be a number, an expression of t or a table with its kind")
        else:
            if not isinstance(keys, dict):
                raise file.error(
                    f"[{table.name}]", f"{name} = {shown(keys)} must be a table: write [{table.name}.NAME]"
                )
            keys = _checked(file.path, place, table.keys, keys)
        entries.append(Entry(table, name, keys, place))
    return entries


def _listed_entries(file: ModelFile, table: TableType, value: Any) -> list[Entry]:
    if table.name in ("initial", "assembly") and isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise file.error("", f"{table.name} must be a list of tables: write [[{table.name}]]")
    entries, names = [], set()
    assert table.keys is not None
    for number, keys in enumerate(value, 1):
        name = keys.get("name")
        named = isinstance(name, str) and name.strip() and name.isprintable()
        place = table.place(name if named else number)
        if table.name in ("initial", "assembly") and len(value) == 1:
            place = f"[{table.name}]"
        if table.name == "step":
            checked = _checked_step(file, place, table.keys, keys)
        else:
            checked = _checked(file.path, place, table.keys, keys)
        if named and name in names:
            raise file.error(place, "the name is already taken; choose another")
        names.add(name)
        entries.append(Entry(table, name or f"{table.name} {number}", checked, place))
    return entries


def _checked(path: Path, place: str, keys: type[Table], given: Mapping[str, Any]) -> Any:
    """Return the keys of one table; the first thing that is wrong is reported, unknown keys before what is missing."""
    try:
        return keys.model_validate(dict(given))
    except ValidationError as exc:
        errors = sorted(exc.errors(include_url=False), key=lambda e: e["type"] != "extra_forbidden")
        where = f"{path}, {place}" if place else f"{path}"
        raise ModelError(f"{where}: {_explain(errors[0], keys)}") from None


def _explain(error: Any, keys: type[Table]) -> str:
    *parents, name = [str(part) for part in error["loc"]] or ["?"]
    for parent in parents:
        keys = keys.keys[parent].kind
    dotted = ".".join([*parents, name])
    if error["type"] == "extra_forbidden":
        tables = list(_BY_NAME) if keys is Document else []
        return _unknown(name, dotted, [*keys.keys, *tables])
    if error["type"] == "missing":
        return f'"{dotted}" is missing'
    value = error["input"]
    if error["type"] == "value_error":
        return f"{dotted} = {shown(value)} {error['ctx']['error']}"
    return f"{dotted} = {shown(value)} must be a table with the keys {', '.join(keys.keys[name].kind.keys)}"


def _unknown(name: str, dotted: str, known: list[str]) -> str:
    text = f"unknown key {shown(dotted)}"
    close = difflib.get_close_matches(name, known, n=1)
    if name in Document.keys and name not in known:
        return f"{text} here; it belongs to the top of the file, before the first table"
    if close and close[0] in _BY_NAME and close[0] not in Document.keys and "name" not in known:
        return f"{text}; did you mean {_BY_NAME[close[0]].place('NAME').split(' ')[0]}?"
    return f'{text}; did you mean "{close[0]}"?' if close else f"{text}; there are {', '.join(known)}"


def _checked_step(file: ModelFile, place: str, keys: type[Table], given: Mapping[str, Any]) -> Any:
    """Check a step: its own keys, and the options of the kind that its type names."""
    checked = _checked(file.path, place, keys, {k: v for k, v in given.items() if k in keys.keys})
    try:
        kind = step_kind(checked.type)
    except ModelError as error:
        raise error.at(f"{file.path}, {place}") from None
    options = {k: v for k, v in given.items() if k not in keys.keys}
    known = kind.Options.keys()
    for key in options:
        if key not in known:
            raise file.error(place, _unknown(key, key, [*keys.keys, *known]))
    kind.Options.read(options, f"{file.path}, {place}")
    return kind.name, checked.name or kind.name, options


# ---- building -------------------------------------------------------------------------------------------------------


def build_model(file: ModelFile) -> Model:
    """Make the calls of the builder, table by table in the order of `fem_mbs.modelfile.schema.TABLES`.

    Raises:
        ModelError, MeshError: a place, set, name or value that the model cannot use.
    """
    # Extreme numbers overflow somewhere; what comes of it is found not finite and reported.
    parts = [e.keys.on for table in ("solid", "plane") for e in file.entries.get(table, [])]
    solid = {p.partition(":")[0] for on in parts for p in ([on] if isinstance(on, str) else on)}
    with np.errstate(all="ignore"):
        with _located(file, None):
            model = Model(**{"dimension": 3, **file.top.given()})
        for table in TABLES:
            entries = file.entries.get(table.name, [])
            for entry in _ordered_functions(file, entries) if table.name == "function" else entries:
                with _located(file, entry):
                    _add(model, entry, file.path.parent, solid)
    return model


@contextmanager
def _located(file: ModelFile, entry: Entry | None) -> Iterator[None]:
    """Turn an error of the builder into one that names the place in the file."""
    try:
        yield
    except (ModelError, MeshError) as exc:
        owner = entry.type.owner if entry else "Model"
        text = re.sub(rf'^{owner}(?: on| of)?(?: "[^"]*")?: ', "", _one_line(str(exc)))
        raise file.error(entry.place if entry else "", text, type(exc)) from None


def locate_error(path: str | Path, error: InputError) -> InputError:
    """Return an error of a model that came from a file, with the file and the table in front (`Joint "hip": ...`)."""
    text = _one_line(str(error))
    if text.startswith(f"{path}"):
        return error
    for table in TABLES:
        found = re.match(rf'{table.owner} "([^"]*)": ', text)
        if found:
            return type(error)(f"{path}, {table.place(found[1])}: {text[found.end() :]}")
    return type(error)(f"{path}: {text}")


def _ordered_functions(file: ModelFile, entries: list[Entry]) -> list[Entry]:
    """Return functions after those that they are made of."""
    by_name = {e.name: e for e in entries}
    order: dict[str, Entry] = {}

    def visit(entry: Entry, above: tuple[str, ...]) -> None:
        if entry.name in order:
            return
        if entry.name in above:
            loop = " -> ".join([*above[above.index(entry.name) :], entry.name])
            raise file.error(entry.place, f"it is made of itself ({loop})")
        for name in _references(entry.keys, 0):
            if name in by_name:
                visit(by_name[name], (*above, entry.name))
        order[entry.name] = entry

    try:
        for entry in entries:
            visit(entry, ())
    except RecursionError:
        raise file.error("[function]", "functions are made of each other over too many levels") from None
    return list(order.values())


def _references(spec: Any, depth: int) -> Iterator[str]:
    """Yield texts in a function that may be names of others."""
    if isinstance(spec, str):
        yield spec
    elif isinstance(spec, dict) and depth < 50:
        yield from _references(spec.get("function"), depth + 1)
        inner = spec.get("functions")
        for part in inner if isinstance(inner, list) else ():
            yield from _references(part, depth + 1)


def _function(model: Model, spec: Any, folder: Path) -> TimeFunction:
    """Return a function that stands in another table; paths of CSV files start at the model file."""
    try:
        return make_function(spec, folder=folder, functions=model.functions)
    except ModelError as exc:
        text = str(exc).removeprefix("Function")
        raise ModelError(f"function{text}") from None


#: Keys that hold functions: of all tables but some, and of these.
_FUNCTION_KEYS = ("function", "displacement", "speed", "acceleration")
_OWN_FUNCTION_KEYS = {
    "joint": ("function", "displacement"),
    "motor": ("force", "speed", "position"),
    "friction": ("normal", "speed"),
}


def _add(model: Model, entry: Entry, folder: Path, solid: set[str]) -> None:
    """Make the call; ``solid``: meshes whose plane and solid cells are wanted."""
    table, name, keys = entry.type.name, entry.name, entry.keys
    if table == "function":
        model.function(name, keys, folder=folder)
        return
    if table == "step":
        kind, title, options = keys
        getattr(model, f"{kind}_step")(name=title, **options)
        return
    given = keys.given("name")
    for key in _OWN_FUNCTION_KEYS.get(table, _FUNCTION_KEYS):
        if key in given:
            given[key] = _function(model, given[key], folder)
    if table == "mesh":
        _add_mesh(model, name, keys, folder, name in solid)
    elif table == "material":
        _add_material(model, name, given)
    elif table == "support":
        model.fix(**given)
    elif table in ("assembly", "initial", "initial_speed"):
        getattr(model, table)(**given)
    elif table == "joint":
        model.joint(name, given.pop("type"), **given)
    elif table == "part":
        _add_part(model, name, keys, folder)
    elif table == "check":
        _add_check(model, name, keys)
    else:
        method = {"beam": "beams", "truss": "trusses", "solid": "solids", "plane": "planes"}.get(table, table)
        getattr(model, method)(name, **given)


def _add_material(model: Model, name: str, given: dict[str, Any]) -> None:
    if "E" not in given and "stiffness" not in given:
        raise ModelError('"E" is missing')
    anisotropic = any(isinstance(given.get(key), list) for key in ("E", "nu", "G", "stiffness", "expansion"))
    (model.solid_material if anisotropic or "E" not in given else model.material)(name, **given)


def _add_mesh(model: Model, name: str, keys: Any, folder: Path, solid: bool) -> None:
    sources = [k for k in ("file", "line", "polyline", "arc") if k in keys.model_fields_set]
    if len(sources) != 1:
        both = f"not {' and '.join(sources)}" if sources else "one of them is missing"
        raise ModelError(f"give either file, line, polyline or arc; {both}")
    if sources == ["file"]:
        if "\0" in keys.file:
            raise ModelError(f"file = {shown(keys.file)} is not a path")
        if keys.cells not in ("auto", "lines", "all"):
            raise ModelError(f'cells = {shown(keys.cells)} must be "auto", "lines" or "all"')
        every = keys.cells == "all" or (keys.cells == "auto" and solid)
        mesh = read_mesh(folder / keys.file, "all" if every else "lines")
    elif sources == ["line"]:
        mesh = line(**keys.line.given())
    elif sources == ["polyline"]:
        mesh = polyline(keys.polyline.points, keys.polyline.n)
    else:
        mesh = arc(**keys.arc.given())
    model.mesh(name, mesh, **keys.given(*sources, "cells"))


def _add_part(model: Model, name: str, keys: Any, folder: Path) -> None:
    if "\0" in keys.file:
        raise ModelError(f"file = {shown(keys.file)} is not a path")
    part = part_of(folder / keys.file, None if keys.reduce is None else keys.reduce.given(), load_model)
    model.reduced_part(name, part, **keys.given("name", "file", "reduce"))


def _add_check(model: Model, name: str, keys: Any) -> None:
    given = keys.given("name", "relative_tolerance")
    relative = keys.relative_tolerance
    if (relative is None) == (keys.tolerance is None):
        raise ModelError("give either tolerance or relative_tolerance")
    if relative is not None:
        given["tolerance"] = relative * abs(keys.reference)
    model.check(name, **given)
