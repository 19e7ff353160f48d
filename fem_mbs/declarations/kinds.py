"""Kinds of values that users give, in a model file or in Python: their names and checks."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable
from typing import Any

from fem_mbs.declarations import texts as of_texts
from fem_mbs.declarations.texts import Worker
from fem_mbs.late import dataclass

__all__ = [
    "ANY", "ANY_TEXT", "CELLS", "CELL_COUNT", "COMPONENT", "COMPONENTS", "COUNTS",
    "COUNT_OF_COPIES", "COUNT_OR_COUNTS", "CURVES",
    "DIMENSION", "FLAG", "FRACTIONS", "GROUPS", "TABLES", "WHOLES",
    "FILE", "FUNCTION", "INERTIA", "Kind", "LAYERS", "MATERIAL_AXES", "MATRIX", "MAX_CELLS", "MAX_NUMBER",
    "NAME", "NUMBER",
    "NUMBERS_NESTED", "NUMBER_OR_EXPRESSION", "NUMBER_OR_INF", "NUMBER_OR_PAIR", "NUMBER_OR_SEVERAL",
    "NUMBER_OR_VECTOR", "ORIENTATION", "PLACE", "PLACES", "POINTS", "RATIOS", "RELEASE_WORDS", "SECTION_NAME", "SHAPES",
    "SPIN", "SQUARE", "STIFFNESS", "STOPS", "TABLE_POINTS", "TERMS", "TEXT", "VECTOR", "VECTOR_ANY", "VELOCITY",
    "NUMBERS_OR_TEXT", "SECTION_TABLE", "SECTION_TABLES", "WHOLE", "WORDS", "shapes_of", "shown",
]  # fmt: skip

MAX_NUMBER = 1e100  # squares of larger numbers overflow
MAX_CELLS = 5_000_000  # of one generated mesh


def shown(value: Any, width: int = 60) -> str:
    """Return a value as a model file has it, cut to ``width`` characters and one line."""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict):
        text = "{" + ", ".join(f"{k} = {shown(v)}" for k, v in list(value.items())[:20]) + "}"
    elif isinstance(value, (list, tuple)):
        text = "[" + ", ".join(shown(v) for v in value[:20]) + ("]" if len(value) <= 20 else ", ...]")
    elif isinstance(value, (datetime.date, datetime.time)):
        text = value.isoformat()
    elif isinstance(value, int) and abs(value) >= 10**width:
        text = "a whole number of too many digits"
    else:
        text = str(value)
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= width else text[: width - 4] + " ..."


@dataclass(frozen=True)
class Kind:
    """A kind of value: ``label`` for the reference, ``check`` returns the value or raises ValueError ("must be").

    ``texts`` works out the expressions of parameters in a value of a model file; None: its texts are words.
    """

    label: str
    check: Callable[[Any], Any]
    texts: Worker | None = None


def _number(value: Any, what: str = "a number", infinite: bool = False) -> float | int:
    """Return the number unchanged (a whole number stays one), so that a file gives what the same call in Python
    gives."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"must be {what}")
    if infinite and value == math.inf:
        return value
    if not abs(value) < MAX_NUMBER:
        raise ValueError(f"must be {what}, finite and smaller than {MAX_NUMBER:g}")
    return value


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"must be a whole number, {low} to {high}")
        return value

    return check


def _counts(value: Any) -> Any:
    count = _whole(1, MAX_CELLS)
    return [count(v) for v in value] if isinstance(value, list) else count(value)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a text")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError("must be a name: a text of one line")
    return value


def _any_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _numbers(value: Any, what: str) -> list[float]:
    if not isinstance(value, list):
        raise ValueError(f"must be {what}")
    for item in value:
        try:
            _number(item)
        except ValueError as error:
            raise ValueError(f"must be {what}; {shown(item)} in it {error}") from None
    return value


def _vector(value: Any) -> list[float]:
    """Return a vector of numbers; the builder checks its length."""
    return _numbers(value, "a list of 2 numbers, in space 3")


def _number_or_vector(value: Any) -> Any:
    what = "a number, in space a list of 3"
    return _numbers(value, what) if isinstance(value, list) else _number(value, what)


def _points(value: Any) -> list[list[float]]:
    if not isinstance(value, list) or not all(isinstance(v, list) for v in value):
        raise ValueError("must be a list of points, each a list of numbers")
    return [_vector(v) for v in value]


def _inertia(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(v, list) for v in value) and value:
        return [_numbers(v, "a 3x3 list of numbers") for v in value]
    what = "a number, in space a list of 3 or 3x3 numbers"
    return _numbers(value, what) if isinstance(value, list) else _number(value, what)


def _velocity(value: Any) -> list[float | str]:
    if not isinstance(value, list):
        raise ValueError("must be a list of numbers or expressions of x, y, z, one for each dimension")
    for item in value:
        if not isinstance(item, str):
            _number(item, "a list of numbers or expressions")
    return value


def _spin(value: Any) -> Any:
    return value if isinstance(value, str) else _number_or_vector(value)


def _function(value: Any) -> Any:
    """Return a function, which is checked further by `fem_mbs.functions.kinds.make_function`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str, dict)):
        raise ValueError("must be a number, an expression of t, the name of a function or a table with its kind")
    return value


def _place(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError('must be the name of a body, of a node, of a mesh\'s set ("mesh:set") or "ground"')
    return value


def _places(value: Any) -> Any:
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return value
    if isinstance(value, list):
        raise ValueError("must be a place or a list of places")
    return _place(value)


def _cells(value: Any) -> Any:
    if isinstance(value, list):
        if len(value) != 2 or not all(isinstance(v, str) for v in value):
            raise ValueError('must be "mesh:set", "mesh", or a list of two nodes')
        return value
    return _place(value)


def _components(value: Any) -> Any:
    values = [value] if isinstance(value, str) else value
    known = ("x", "y", "z", "rotation", "rotation x", "rotation y", "rotation z")
    if not isinstance(values, list) or not values or not all(isinstance(v, str) and v in known for v in values):
        raise ValueError(f"must be a list of {', '.join(known)}")
    return values


def _matrix(value: Any) -> list[list[float]]:
    if not isinstance(value, list) or len(value) != 6 or not all(isinstance(v, list) and len(v) == 6 for v in value):
        raise ValueError("must be a list of 6 lists of 6 numbers")
    return [_numbers(v, "6 lists of 6 numbers") for v in value]


def _section_name(value: Any) -> Any:
    if isinstance(value, list):
        if len(value) != 2 or not all(isinstance(v, str) for v in value):
            raise ValueError("must be a name, or a list of two names")
        return value
    return _text(value)


def _orientation(value: Any) -> list[float | str]:
    if not isinstance(value, list) or len(value) != 3:
        raise ValueError("must be a list of 3 numbers or expressions of x, y, z")
    for item in value:
        if not isinstance(item, str):
            _number(item, "a list of 3 numbers or expressions")
    return value


def _words(value: Any) -> Any:
    if isinstance(value, list) and not all(isinstance(v, str) for v in value):
        raise ValueError("must be a text or a list of texts")
    return value if isinstance(value, list) else _text(value)


def _releases(value: Any) -> dict[str, Any]:
    what = 'must be a table {start = [...], end = [...]} of "rotation", "rotation x", "rotation y", "rotation z"'
    if not isinstance(value, dict) or not set(value) <= {"start", "end"}:
        raise ValueError(what)
    for words in value.values():
        try:
            _words(words)
        except ValueError:
            raise ValueError(what) from None
    return value


def _number_or_pair(value: Any) -> Any:
    what = "a number or a list of 2"
    return _numbers(value, what) if isinstance(value, list) else _number(value, what)


def _square(value: Any) -> Any:
    what = "a list of 6 numbers or 6x6 numbers, in the plane 3 or 3x3"
    if isinstance(value, list) and value and all(isinstance(v, list) for v in value):
        return [_numbers(v, what) for v in value]
    return _numbers(value, what)


def _table_points(value: Any) -> list[list[float]]:
    what = "a list of points [x, force]"
    if not isinstance(value, list) or not all(isinstance(v, list) and len(v) == 2 for v in value):
        raise ValueError(f"must be {what}")
    return [_numbers(v, what) for v in value]


def _pairs(value: Any) -> list[list[float]]:
    what = "a list of pairs of numbers"
    if not isinstance(value, list) or not all(isinstance(v, list) and len(v) == 2 for v in value):
        raise ValueError(f"must be {what}")
    return [_numbers(v, what) for v in value]


def _stops(value: Any) -> list[float]:
    what = "a list of two numbers, -inf or inf where there is no stop"
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"must be {what}")
    for item in value:
        if not (isinstance(item, float) and math.isinf(item)):
            _number(item, what)
    return value


def _number_or_several(value: Any) -> Any:
    """Return a number of isotropic materials, or a list of those along the axes."""
    return _numbers(value, "a number or a list of numbers") if isinstance(value, list) else _number(value)


def _number_or_expression(value: Any) -> Any:
    return _text(value) if isinstance(value, str) else _number(value, "a number or an expression of x, y, z")


def _stiffness(value: Any) -> Any:
    what = "6x6 numbers, or the 21 of the upper triangle"
    if isinstance(value, list) and value and all(isinstance(v, list) for v in value):
        return [_numbers(v, what) for v in value]
    return _numbers(value, what)


def _material_axes(value: Any) -> Any:
    what = "3 lists of 3 numbers, or a table {axis = [...], point = [...]}"
    if isinstance(value, dict):
        if "axis" not in value or not set(value) <= {"axis", "point"}:
            raise ValueError(f"must be {what}")
        return {k: _numbers(v, what) for k, v in value.items()}
    if not isinstance(value, list) or not all(isinstance(v, list) for v in value):
        raise ValueError(f"must be {what}")
    return [_numbers(v, what) for v in value]


def _terms(value: Any) -> list[dict[str, Any]]:
    what = "a list of tables {on = place, component = text, coefficient = number}"
    if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
        raise ValueError(f"must be {what}")
    for i, term in enumerate(value, 1):
        for key in ("on", "component", "coefficient"):
            if key not in term:
                raise ValueError(f'must be {what}; term {i} has no "{key}"')
        other = next((key for key in term if key not in ("on", "component", "coefficient")), None)
        if other is not None:
            raise ValueError(f"must be {what}; term {i} has an unknown key {shown(other)}")
        if not all(isinstance(term[key], str) and term[key].strip() for key in ("on", "component")):
            raise ValueError(f"must be {what}; on and component of term {i} are texts")
        try:
            _number(term["coefficient"])
        except ValueError as error:
            raise ValueError(f"must be {what}; the coefficient of term {i} {error}") from None
    return value


def _layers(value: Any) -> list[dict[str, Any]]:
    what = "a list of tables {material = name, thickness = number, angle = number}"
    if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
        raise ValueError(f"must be {what}")
    for i, layer in enumerate(value, 1):
        other = next((key for key in layer if key not in ("material", "thickness", "angle")), None)
        if other is not None:
            raise ValueError(f"must be {what}; layer {i} has an unknown key {shown(other)}")
        for key in ("material", "thickness"):
            if key not in layer:
                raise ValueError(f'must be {what}; layer {i} has no "{key}"')
        if not isinstance(layer["material"], str) or not layer["material"].strip():
            raise ValueError(f"must be {what}; material of layer {i} is a text")
        for key in ("thickness", "angle"):
            try:
                _number(layer.get(key, 0.0))
            except ValueError as error:
                raise ValueError(f"must be {what}; the {key} of layer {i} {error}") from None
    return value


#: What each primitive shape needs beside its place.
_SHAPES = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",)}


def shapes_of(value: Any) -> list[dict[str, Any]]:
    """Return shapes that are only looked at as a list of tables: from a file name, a table, or a list of these.

    Raises:
        ValueError: it is none of these, or a table lacks a key, has an unknown one, or a wrong value.
    """
    given = value if isinstance(value, (list, tuple)) else [value]
    if not given:
        raise ValueError("must hold at least one shape")
    return [_shape({"file": item} if isinstance(item, str) else item) for item in given]


def _shape(item: Any) -> dict[str, Any]:
    """Return one shape, checked."""
    if not isinstance(item, dict) or ("file" in item) == ("shape" in item):
        names = ", ".join(f'"{name}"' for name in _SHAPES)
        raise ValueError(f"must be a file, or tables with either file or shape ({names})")
    if "file" in item:
        needed: tuple[str, ...] = ("file",)
        known: tuple[str, ...] = ("file", "scale")
        if not isinstance(item["file"], str) or not item["file"].strip():
            raise ValueError("must name a file by a text")
    else:
        if not isinstance(item["shape"], str) or item["shape"] not in _SHAPES:
            raise ValueError(f"must have a shape of {', '.join(_SHAPES)}, not {shown(item['shape'])}")
        needed = _SHAPES[item["shape"]]
        known = ("shape", *needed)
    for key in needed:
        if key not in item:
            raise ValueError(f'must have "{key}" for a {item["shape"]}')
    for key, given in item.items():
        if key not in (*known, "position", "rotation", "colour"):
            raise ValueError(f"has an unknown key {shown(key)}")
        if key in ("radius", "length", "scale") and not _number(given) > 0.0:
            raise ValueError(f"must have a positive {key}, not {shown(given)}")
        if key in ("size", "position", "rotation"):
            three = list(given) if isinstance(given, (list, tuple)) else []
            if len(three) != 3 or (key == "size" and not all(_number(v) > 0.0 for v in three)):
                raise ValueError(f"must have 3 {'positive ' if key == 'size' else ''}numbers as {key}")
            for number in three:
                _number(number)
        if key == "colour" and not (isinstance(given, str) and re.fullmatch("#[0-9a-fA-F]{6}", given)):
            raise ValueError(f'must have a colour like "#8fb0cf", not {shown(given)}')
    return dict(item)


def _shape_texts(value: Any, texts: of_texts.Texts) -> Any:
    """Return shapes with numbers instead of expressions; a text alone is a file."""
    if isinstance(value, list):
        return [_shape_texts(item, texts) for item in value]
    return _shape_numbers(value, texts) if isinstance(value, dict) else value


_shape_numbers = of_texts.tables(names=("file", "shape", "colour"))

ANY = Kind("of Python", lambda v: v)
NUMBER = Kind("number", _number, of_texts.numbers)
NUMBER_OR_INF = Kind("number", lambda v: _number(v, infinite=True), of_texts.numbers)
WHOLE = Kind("whole number", _whole(0, 2**31 - 1), of_texts.wholes)
COUNT_OF_COPIES = Kind("whole number", _whole(1, 10_000), of_texts.wholes)
CELL_COUNT = Kind("whole number", _whole(1, MAX_CELLS), of_texts.wholes)
DIMENSION = Kind("2 or 3", _whole(2, 3))
TEXT = Kind("text", _text)
FILE = Kind("text", _text)
SHAPES = Kind("file, table or list of tables", shapes_of, _shape_texts)
ANY_TEXT = Kind("text", _any_text)
NAME = Kind("name", _name)
FLAG = Kind("true or false", _flag)
VECTOR = Kind("list of numbers", _vector, of_texts.numbers)
NUMBER_OR_VECTOR = Kind("number or list", _number_or_vector, of_texts.numbers)
POINTS = Kind("list of points", _points, of_texts.numbers)
RATIOS = Kind(
    "number or list",
    lambda v: _numbers(v, "a list of numbers") if isinstance(v, list) else _number(v),
    of_texts.numbers,
)
COUNT_OR_COUNTS = Kind("whole number or list", _counts, of_texts.wholes)
INERTIA = Kind("number or list", _inertia, of_texts.numbers)
VELOCITY = Kind("list of numbers or expressions", _velocity, of_texts.fields)
SPIN = Kind("number, expression or list", _spin, of_texts.fields)
FUNCTION = Kind("function", _function, of_texts.function)
PLACE = Kind("place", _place)
PLACES = Kind("place or list of places", _places)
CELLS = Kind("mesh, set, or two nodes", _cells)
COMPONENTS = Kind("text or list", _components)
MATRIX = Kind("6x6 list of numbers", _matrix, of_texts.numbers)
SECTION_NAME = Kind("text or list of two", _section_name)
ORIENTATION = Kind("list of numbers or expressions", _orientation, of_texts.fields)
WORDS = Kind("text or list", _words)
RELEASE_WORDS = Kind("table", _releases)
NUMBER_OR_PAIR = Kind("number or list of two", _number_or_pair, of_texts.numbers)
TABLE_POINTS = Kind("list of points", _table_points, of_texts.numbers)
PAIRS = Kind("list of pairs", _pairs, of_texts.numbers)
VECTOR_ANY = Kind("list of numbers", lambda v: _numbers(v, "a list of numbers"), of_texts.numbers)


def _nested(value: Any) -> Any:
    """Return a number, or lists of numbers up to three levels deep; the builder checks their shape."""

    def check(item: Any, depth: int) -> None:
        if isinstance(item, list):
            if depth == 3:
                raise ValueError("must be a number, or lists of numbers of at most three levels")
            for part in item:
                check(part, depth + 1)
        else:
            _number(item)

    check(value, 0)
    return value


def _table_of_names(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise ValueError("must be a table of names")
    return value


def _list_of_tables(value: Any) -> Any:
    """Return a list of tables; what they belong to checks their keys."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, dict) for item in value):
        raise ValueError("must be a list of tables")
    return [dict(item) for item in value]


NUMBERS_NESTED = Kind("number or lists", _nested, of_texts.numbers)
SQUARE = Kind("list of numbers or of lists", _square, of_texts.numbers)
STOPS = Kind("list of two numbers", _stops, of_texts.numbers)
NUMBER_OR_EXPRESSION = Kind("number or expression", _number_or_expression, of_texts.fields)
NUMBER_OR_SEVERAL = Kind("number or list", _number_or_several, of_texts.numbers)
STIFFNESS = Kind("list of numbers or of lists", _stiffness, of_texts.numbers)
COMPONENT = Kind("text or direction", lambda v: _vector(v) if isinstance(v, list) else _text(v), of_texts.mixed)
MATERIAL_AXES = Kind("3x3 list of numbers, or table", _material_axes, of_texts.tables())
TERMS = Kind("list of tables", _terms, of_texts.tables(names=("on", "component")))
SECTION_TABLE = Kind("table of names", _table_of_names)
SECTION_TABLES = Kind("list of tables", _list_of_tables, of_texts.tables(names=("material",)))


def _fibres(value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise ValueError("must be a list of names or [y, z]")
    what = "a list of names or [y, z]"
    return [_text(v) if isinstance(v, str) else _numbers(list(v) if isinstance(v, tuple) else v, what) for v in value]


FIBRES = Kind("list of names or [y, z]", _fibres, of_texts.places)
NUMBERS_OR_TEXT = Kind(
    "text or list of numbers", lambda v: _text(v) if isinstance(v, str) else _numbers(v, "a list"), of_texts.mixed
)
LAYERS = Kind("list of tables", _layers, of_texts.tables(names=("material",)))


def _wholes(value: Any) -> list[int]:
    count = _whole(0, 2**53)
    if not isinstance(value, list):
        raise ValueError("must be a list of whole numbers")
    return [count(v) for v in value]


def _cell_counts(value: Any) -> list[int]:
    if not isinstance(value, list) or not 2 <= len(value) <= 3:
        raise ValueError("must be a list of 2 or 3 whole numbers")
    return [_whole(1, MAX_CELLS)(v) for v in value]


def _by_name(what: str, check: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    """Return a check of a table whose values are of one kind."""

    def checked(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError(f"must be a table of {what} by name")
        for name, item in value.items():
            try:
                check(item)
            except ValueError as error:
                raise ValueError(f"must be a table of {what} by name; {name} = {shown(item)} {error}") from None
        return value

    return checked


def _fraction(value: Any) -> float:
    if not 0.0 <= _number(value) <= 1.0:
        raise ValueError("must be a number from 0 to 1")
    return value


def _groups(value: Any) -> list[Any]:
    """Return whole numbers, or lists of them."""
    if not isinstance(value, list):
        raise ValueError("must be a list of whole numbers, or of pairs")
    return [_wholes(v) if isinstance(v, list) else _whole(0, 2**53)(v) for v in value]


def _tables(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise ValueError("must be a list of tables")
    return value


WHOLES = Kind("list of whole numbers", _wholes, of_texts.wholes)
COUNTS = Kind("list of whole numbers", _cell_counts, of_texts.wholes)
FRACTIONS = Kind("table of numbers", _by_name("numbers", _fraction), of_texts.tables())
CURVES = Kind("table of lists of points", _by_name("lists of points", _points), of_texts.tables())
GROUPS = Kind("table of lists", _by_name("lists of numbers", _groups), of_texts.tables())
TABLES = Kind("list of tables", _tables, of_texts.tables(names=("kind",)))
