"""Read a model file (TOML) and make the corresponding calls of the builder.

    model = load_model("model.toml")

The tables and their keys are in `fem_mbs.modelfile.schema` and, for people, in docs/model-file.md.  Whatever is wrong
with a file ends in one ModelError (MeshError for a mesh) of one line that names file, table and key.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.decks.formats import is_deck
from fem_mbs.declarations.declaration import Declaration, choose
from fem_mbs.declarations.kinds import FILE, FUNCTION, SHAPES, shown
from fem_mbs.declarations.steps import step_kind
from fem_mbs.errors import InputError, MeshError, ModelError, Owner
from fem_mbs.files import read_file
from fem_mbs.functions.parameters import Parameters
from fem_mbs.late import dataclass, late
from fem_mbs.model.copies.movement import Copy
from fem_mbs.model.geometry import PlacedMesh
from fem_mbs.model.materials import NamedParameter
from fem_mbs.model.model import Model
from fem_mbs.modelfile.paths import refuse_idle, with_values
from fem_mbs.modelfile.schema import TABLES, Document, Table
from fem_mbs.modelfile.sources import with_source
from fem_mbs.parts.part import ReducedPart

__all__ = [
    "MAX_BYTES",
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

_copies_of = late("fem_mbs.model.copies.copying:copies_of")
_BY_NAME = {t.name: t for t in TABLES}


@dataclass(frozen=True)
class Entry:
    """One table of the file: its type, name (of those without one: type and number), keys, and place for messages."""

    type: Table
    name: str
    keys: Any
    place: str


@dataclass(frozen=True)
class ModelFile:
    """A model file that has been read and checked against the schema, not yet built."""

    path: Path
    top: Document
    entries: dict[str, list[Entry]] = field(default_factory=dict)
    parameters: Parameters = field(default_factory=Parameters)

    def error(self, place: str, text: str) -> ModelError:
        return ModelError(text, place=place, file=str(self.path))


def load_model(path: str | Path, values: Mapping[str, Any] | Sequence[str] = ()) -> Model:
    """Return the model that a file describes.

    Args:
        path: of the model file.
        values: other values of parameters by their names, or of any keys by their paths ("section.rod.diameter"); or
            texts "PATH=VALUE" as on the command line.

    Raises:
        ModelError, MeshError: one line that names file, table and key.
    """
    return build_model(read_model_file(path, values))


# ---- reading --------------------------------------------------------------------------------------------------------


def read_model_file(path: str | Path, values: Mapping[str, Any] | Sequence[str] = ()) -> ModelFile:
    """Read a file and check its tables, keys and types of values; ``values`` as of `load_model`.

    Raises:
        ModelError: the file cannot be read, is not TOML, or does not follow the schema; a path that leads nowhere, or
            a parameter that nothing uses.
    """
    path = Path(path)
    data = parse_model_file(path)
    if not values:
        return check_model_data(path, data)
    check_model_data(path, data)
    changed, paths = with_values(data, path, values)
    file = check_model_data(path, changed)
    for name, keys in paths:
        refuse_idle(name, keys, file.parameters)
    return file


def check_model_data(path: Path, data: Mapping[str, Any]) -> ModelFile:
    """Check the tables that a file holds, or might hold: their keys and types of values.

    Raises:
        ModelError: they do not follow the schema.
    """
    listed = {k: v for k, v in data.items() if k in _BY_NAME}
    parameters = _parameters(path, data)
    file = ModelFile(path, Document(), parameters=parameters)
    if "parameters" in listed:  # before what uses them
        _named_entries(file, _BY_NAME["parameters"], listed["parameters"])
    top = {k: v for k, v in data.items() if k not in _BY_NAME}
    file = replace(file, top=_checked(path, "", Document, top, parameters))
    for table in TABLES:
        if table.name in listed:
            check = _named_entries if table.many == "named" else _listed_entries
            file.entries[table.name] = check(file, table, listed[table.name])
    for entry in file.entries.get("copy", []):
        _expand(file, entry)
    return file


def _expand(file: ModelFile, copy: Entry) -> None:
    """Add what a copy makes to the tables of a file."""
    said = [
        (table.name, entry.keys)
        for table in TABLES
        if table.name not in ("step", "copy")
        for entry in file.entries.get(table.name, [])
    ]
    try:
        made = _copies_of(copy.keys, said, file.top.dimension)
    except ModelError as error:
        raise error.at(copy.place, str(file.path)) from None
    for name, declaration in made:
        entries = file.entries.setdefault(name, [])
        label = getattr(declaration, "name", None) or f"{name} {len(entries) + 1}"
        entries.append(Entry(_BY_NAME[name], label, declaration, copy.place))


def _parameters(path: Path, data: Mapping[str, Any]) -> Parameters:
    """Return the parameters of a file, whose names are checked; their own keys and values are when they are read."""
    given, functions = (data.get(name) for name in ("parameters", "function"))
    found = given if isinstance(given, dict) else {}
    try:
        return Parameters(
            {k: v.get("value") if isinstance(v, dict) else v for k, v in found.items()},
            functions if isinstance(functions, dict) else (),
        )
    except ModelError as error:
        raise error.at(_BY_NAME["parameters"].place(error.owner.name), str(path)) from None


def parse_model_file(path: Path) -> dict[str, Any]:
    """Return the tables of a file, unchecked.

    Raises:
        ModelError: the file cannot be read, or is not TOML.
    """

    def error(text: str) -> ModelError:
        remedy = (
            "this is the name of a deck: run it by fem-mbs run, in Python read it by load_deck" if is_deck(path) else ""
        )
        return ModelError(text, file=str(path), remedy=remedy)

    try:
        if path.is_dir():
            raise error("this is a folder; give a model file")
        if path.stat().st_size > MAX_BYTES:
            raise error(f"larger than {MAX_BYTES >> 20} MB; put tables into CSV files and nodes into a mesh file")
        raw = read_file(path)
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


def _named_entries(file: ModelFile, table: Table, value: Any) -> list[Entry]:
    if not isinstance(value, dict):
        raise file.error("", f"{table.name} = {shown(value)} must be a table: write [{table.name}.NAME]")
    entries = []
    for name, keys in value.items():
        place = table.place(name) if name.isprintable() else f"[{table.name}]"
        if not name.strip() or not name.isprintable():
            raise file.error(place, f"the name {shown(name)} must be a text of one line")
        if table.single:  # may be a number or a text as well
            spread = table.declaration.keys()[table.single].kind is not FUNCTION
            if isinstance(keys, (bool, list)) or not isinstance(keys, (int, float, str, dict)):
                what = (
                    "an expression or a table with its value"
                    if spread
                    else "an expression of t or a table with its kind"
                )
                raise file.error(place, f"{shown(keys)} must be a number, {what}")
            if not (spread and isinstance(keys, dict)):
                keys = {table.single: keys}
        elif not isinstance(keys, dict):
            raise file.error(f"[{table.name}]", f"{name} = {shown(keys)} must be a table: write [{table.name}.NAME]")
        entries.append(
            Entry(table, name, _checked(file.path, place, table.declaration, keys, file.parameters, name=name), place)
        )
    return entries


def _listed_entries(file: ModelFile, table: Table, value: Any) -> list[Entry]:
    if table.alone and isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise file.error("", f"{table.name} must be a list of tables: write [[{table.name}]]")
    entries, names = [], set()
    for number, keys in enumerate(value, 1):
        name = keys.get("name")
        named = isinstance(name, str) and name.strip() and name.isprintable()
        place = table.place(name if named else number)
        if table.alone and len(value) == 1:
            place = f"[{table.name}]"
        if table.name == "step":
            checked = _checked_step(file, place, table.declaration, keys)
        else:
            default = {"name": f"{table.name} {number}"} if _names_itself(table) else {}
            declaration = table.declaration if table.kinds is None else _kind_of(file, place, table, keys)
            checked = _checked(file.path, place, declaration, {**default, **keys}, file.parameters)
        if named and name in names:
            raise file.error(place, "the name is already taken; choose another")
        names.add(name)
        entries.append(Entry(table, name or f"{table.name} {number}", checked, place))
    return entries


def _kind_of(file: ModelFile, place: str, table: Table, given: Mapping[str, Any]) -> type[Declaration]:
    """Return the declaration that the kind of an entry chooses."""
    assert table.kinds is not None
    own = table.declaration.in_file()
    head: Any = _checked(
        file.path, place, table.declaration, {k: v for k, v in given.items() if k in own}, file.parameters
    )
    try:
        return choose(table.kinds(), head.kind, head.thing)
    except ModelError as error:
        raise error.at(place, str(file.path)) from None


def _names_itself(table: Table) -> bool:
    """Return whether tables without a name get one: those whose reference shows what it is."""
    said = table.declaration.keys().get("name")
    return said is not None and bool(said.shows)


def _checked(
    path: Path,
    place: str,
    declaration: type[Declaration],
    given: Mapping[str, Any],
    parameters: Parameters,
    **own: Any,
) -> Any:
    """Return the declaration of one table; the first thing that is wrong is reported, unknown keys before what is
    missing."""
    try:
        values = declaration.worked(given, parameters, declaration.owner)
        found = _from_folder(declaration.read(values, declaration.owner, **own), path.parent)
        found.express(_expressed(given, values, path.parent))
        return found
    except ModelError as error:
        if error.key in given and error.key not in declaration.in_file():
            tables = list(_BY_NAME) if declaration is Document else []
            text, remedy = _unknown(error.key, [*declaration.in_file(), *tables])
            error = ModelError(text, owner=error.owner, key=error.key, remedy=remedy)
        raise error.at(place, str(path), inside=_of_parameter(error, own.get("name"))) from None


def _of_parameter(error: InputError, name: Any) -> bool:
    """Return whether an error is that of a parameter that a table uses, not of the table itself."""
    return error.owner.word == NamedParameter.owner and error.owner.name not in ("", name)


def _expressed(given: Mapping[str, Any], values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the keys whose values had expressions of parameters, with the paths of functions from a folder."""
    return {k: _function_from(v, folder) for k, v in given.items() if values[k] != v}


def _from_folder(declaration: Declaration, folder: Path) -> Declaration:
    """Return a declaration whose relative paths start at a folder."""
    changes: dict[str, Any] = {}
    for name, said in declaration.keys().items():
        value = getattr(declaration, name)
        if said.kind is FUNCTION and isinstance(value, dict):
            changes[name] = _function_from(value, folder)
        elif said.kind is FILE and isinstance(value, str):
            changes[name] = str(folder / value)
        elif said.kind is SHAPES and value is not None:
            changes[name] = [{**v, "file": str(folder / v["file"])} if "file" in v else v for v in value]
    return replace(declaration, **changes) if changes else declaration  # type: ignore[type-var]


def _function_from(spec: Any, folder: Path, depth: int = 0) -> Any:
    """Return a function whose files' relative paths start at a folder."""
    if isinstance(spec, list):
        return [_function_from(part, folder, depth + 1) for part in spec]
    if not isinstance(spec, dict) or depth > 50:
        return spec
    own = {k: _function_from(v, folder, depth + 1) if k in ("function", "functions") else v for k, v in spec.items()}
    if isinstance(own.get("file"), str):
        own["file"] = str(folder / own["file"])
    return own


_MOST_KEYS = 40  # in one message


def _unknown(name: str, known: list[str]) -> tuple[str, str]:
    """Return text and remedy of an unknown key."""
    text = f"unknown key {shown(name)}"
    close = difflib.get_close_matches(name, known, n=1)
    top = Document.keys()
    if name in top and name not in known:
        return f"{text} here", "it belongs to the top of the file, before the first table"
    if close and close[0] in _BY_NAME and close[0] not in top and "name" not in known:
        return text, f"did you mean {_BY_NAME[close[0]].place('NAME').split(' ')[0]}?"
    if close:
        return text, f'did you mean "{close[0]}"?'
    more = f" and {len(known) - _MOST_KEYS} more (docs/model-file.md)" if len(known) > _MOST_KEYS else ""
    return text, f"there are {', '.join(known[:_MOST_KEYS])}{more}"


def _checked_step(file: ModelFile, place: str, keys: type[Declaration], given: Mapping[str, Any]) -> Any:
    """Check a step: its own keys, and the options of the kind that its type names."""
    checked = _checked(file.path, place, keys, {k: v for k, v in given.items() if k in keys.in_file()}, file.parameters)
    try:
        kind = step_kind(checked.type)
    except ModelError as error:
        raise error.at(place, str(file.path)) from None
    options = {k: v for k, v in given.items() if k not in keys.in_file()}
    known = kind.Options.keys()
    for key in options:
        if key not in known:
            text, remedy = _unknown(key, [*keys.in_file(), *known])
            raise ModelError(
                text,
                owner=Owner("Step", checked.name or kind.name),
                key=key,
                place=place,
                file=str(file.path),
                remedy=remedy,
            )
    owner = Owner("Step", checked.name or kind.name)
    try:
        values = kind.Options.worked(options, file.parameters, owner)
        kind.Options.read(values, owner)
    except ModelError as error:
        raise error.at(place, str(file.path), inside=_of_parameter(error, "")) from None
    return kind.name, checked.name or kind.name, values, {k: v for k, v in options.items() if values[k] != v}


# ---- building -------------------------------------------------------------------------------------------------------


def build_model(file: ModelFile) -> Model:
    """Make the calls of the builder, table by table in the order of `fem_mbs.modelfile.schema.TABLES`, or in that which
    the key ``order`` of the file says.

    Raises:
        ModelError, MeshError: a place, set, name or value that the model cannot use.
    """
    # Extreme numbers overflow somewhere; what comes of it is found not finite and reported.
    parts = [e.keys.on for table in ("solid", "plane", "shell") for e in file.entries.get(table, [])]
    solid = {p.partition(":")[0] for on in parts for p in ([on] if isinstance(on, str) else on)}
    with np.errstate(all="ignore"):
        with _located(file, None):
            model = Model(**{"dimension": 3, **file.top.given("order")})
            model.expressed = dict(file.top.expressed)
        reduced: dict[tuple[str, str], ReducedPart] = {}
        for entry in _in_order(file):
            with _located(file, entry):
                _add(model, entry, solid, reduced)
    idle = [name for name in file.parameters if name not in file.parameters.used]
    if idle:
        model.warnings = [*model.warnings, f"parameters that nothing uses: {', '.join(idle)}"]
    return model


def _in_order(file: ModelFile) -> list[Entry]:
    """Return the entries in the order in which they are built: that of the tables, or what the file says of it."""
    found: list[Entry] = []
    for table in TABLES:
        entries = file.entries.get(table.name, [])
        found += _ordered_functions(file, entries) if table.name == "function" else entries
    if file.top.order is None:
        return found
    order = [file.top.order] if isinstance(file.top.order, str) else file.top.order
    places = {label: i for i, label in enumerate(order)}
    steps = [e for e in found if e.type.name in ("copy", "step")]
    labels = {f"{e.type.name}.{e.name}": e for e in found if e not in steps}
    missing = [label for label in labels if label not in places]
    unknown = [label for label in order if label not in labels]
    if missing or unknown or len(places) < len(order):
        what = (
            f"names {shown(unknown[0])}, which no table is"
            if unknown
            else f"lacks {shown(missing[0])}"
            if missing
            else f"names {shown(next(label for label in places if order.count(label) > 1))} twice"
        )
        raise ModelError(
            f"order {what}", key="order", file=str(file.path), remedy="name all tables but steps once, or remove order"
        )
    return [*(labels[label] for label in order), *steps]


@contextmanager
def _located(file: ModelFile, entry: Entry | None) -> Iterator[None]:
    """Turn an error of the builder into one that names the place in the file."""
    try:
        yield
    except (ModelError, MeshError) as exc:
        word = entry.type.owner if entry else Document.owner
        raise exc.at(entry.place if entry else "", str(file.path), inside=exc.owner.word != word) from None


def locate_error(path: str | Path, error: InputError) -> InputError:
    """Return an error of a model that came from a file, with the file and the table in front (`Joint "hip": ...`)."""
    if error.where:
        return error
    table = next((t for t in TABLES if t.owner == error.owner.word), None)
    if table is not None and error.owner.name:
        return error.at(table.place(error.owner.name), str(path))
    return error.at("", str(path), inside=True)


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
        for name in _references(entry.keys.spec, 0):
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


def _add(model: Model, entry: Entry, solid: set[str], parts: dict[tuple[str, str], ReducedPart]) -> None:
    """Add the declaration; ``solid``: meshes whose plane and solid cells are wanted; ``parts``: those that have been
    read or reduced, by their files and how, which copies share."""
    said = entry.keys
    if isinstance(said, Copy):
        model.specifications.append(said)
    elif entry.type.name == "step":
        kind, title, options, expressed = said
        getattr(model, f"{kind}_step")(name=title, **options)
        model.steps[-1] = replace(model.steps[-1], expressed=expressed)
    elif isinstance(said, PlacedMesh) and said.file is not None and said.cells == "auto":
        placed = replace(said, cells="all" if entry.name in solid else "lines")
        placed.express(said.expressed)
        if said.made:
            placed.mark_made()
        model.add(placed)
    else:
        model.add(with_source(said, load_model, parts), said)
