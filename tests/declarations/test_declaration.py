"""Declarations: keys, their checks, and errors that carry owner, key, value, place and remedy."""

import pickle
import re
import sys
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import FLAG, NUMBER, TEXT, VECTOR
from fem_mbs.declarations.steps import step_kinds
from fem_mbs.errors import MeshError, ModelError
from fem_mbs.modelfile.schema import TABLES


@dataclass(frozen=True, eq=False)
class Inner(Declaration):
    owner = "Inner"

    n: int = key(NUMBER, "number of cells")


@dataclass(frozen=True, eq=False)
class Thing(Declaration):
    owner = "Thing"

    mass: float = key(NUMBER, "how heavy it is", unit="kg")
    axis: list = key(VECTOR, "direction", [0.0, 0.0, 1.0])
    rule: str = key(TEXT, "how it acts", "soft", choices=("soft", "hard"))
    law: object = key(TEXT, "expression, or a function", None, objects=(type(len),))
    inner: Inner | None = key(Inner, "a table within", None)
    on: bool = key(FLAG, "acts", True)


def read(**given):
    return Thing.read(given, 'Thing "a"')


def test_a_declaration_keeps_what_differs_from_the_defaults():
    thing = read(mass=2.0, axis=[1.0, 0.0, 0.0], inner={"n": 3})
    assert thing.given("mass") == {"axis": [1.0, 0.0, 0.0], "inner": Inner(3)}
    assert thing.as_table() == {"mass": 2.0, "axis": [1.0, 0.0, 0.0], "inner": {"n": 3}}
    assert Thing.read(thing.as_table(), "Thing") == thing
    assert read(mass=2.0, axis=[0.0, 0.0, 1.0]) == read(mass=2.0)
    with pytest.raises(FrozenInstanceError):
        thing.mass = 1.0


def test_python_gives_arrays_and_objects():
    assert read(mass=np.float64(2.0), axis=np.array([1.0, 0.0, 0.0])).as_table()["axis"] == [1.0, 0.0, 0.0]
    thing = read(mass=1, law=len)
    assert thing.law is len
    with pytest.raises(ModelError, match="law is a builtin_function_or_method, which a model file cannot hold"):
        thing.as_table()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mass": 1.0, "mas": 1.0}, 'Thing "a": unknown key "mas"; did you mean "mass"?'),
        ({}, 'Thing "a": "mass" is missing; add mass = ...'),
        ({"mass": "heavy"}, 'Thing "a": mass = "heavy" must be a number'),
        ({"mass": 1.0, "rule": "sof"}, 'Thing "a": rule = "sof" must be one of "soft", "hard"; did you mean "soft"?'),
        ({"mass": 1.0, "inner": 3}, 'Thing "a": inner = 3 must be a table with the keys n'),
        ({"mass": 1.0, "inner": {"m": 3}}, 'Thing "a": unknown key "inner.m"; there are n'),
        ({"mass": None}, 'Thing "a": mass = None must be a number'),
    ],
)
def test_a_wrong_key_is_one_error(given, message):
    with pytest.raises(ModelError) as caught:
        read(**given)
    assert str(caught.value) == message


def test_an_error_carries_its_parts():
    with pytest.raises(ModelError) as caught:
        read(mass="heavy")
    error = caught.value
    assert (error.owner, error.key, error.value) == ('Thing "a"', "mass", "heavy")
    there = error.at("model.toml, [[thing]]")
    assert str(there) == 'model.toml, [[thing]]: mass = "heavy" must be a number'
    for one in (error, there, MeshError("no such set", owner="Mesh", remedy="name another")):
        copy = pickle.loads(pickle.dumps(one))
        assert (str(copy), copy.owner, copy.place) == (str(one), one.owner, one.place)


def test_a_default_list_is_not_shared():
    assert Thing(1.0).axis is not Thing(1.0).axis


#: A unit in brackets, as a list of units that "," or "or" separates.
_BRACKETS = re.compile(r"\[(?:(?:1(?=/)|-|%|m|mm|rad|deg|s|h|N|kg|t|Hz|Pa|K|J|W)(?:\^\d)?(?:[ /]|, | or |(?=\])))+\]")
#: Units that no other word looks like.
_UNITS = re.compile(r"(?<![\w/])(?:rad|1/s|m/s|N/m|Hz|N m|kg|deg|Pa)(?![\w])")


def _declarations(base: type[Declaration]) -> Iterator[type[Declaration]]:
    for found in base.__subclasses__():
        if found is getattr(sys.modules[found.__module__], found.__name__, None):  # no copy (`fem_mbs.late.finish`)
            yield found
            yield from _declarations(found)


def test_units_stand_in_their_own_field():
    """A quantity has its unit as ``unit``, which the reference, the schema and the starter file show."""
    assert TABLES
    assert step_kinds()
    own = [found for found in _declarations(Declaration) if found.__module__.startswith("fem_mbs.")]
    texts = {f"{found.__name__}.{name}": said.text for found in own for name, said in found.keys().items()}
    assert len(texts) > 400
    assert not {name: text for name, text in texts.items() if _BRACKETS.search(text) or _UNITS.search(text)}


@pytest.mark.parametrize(
    "text",
    [
        "the angle [rad]",
        "its ratio [-], [m/rad] (rack)",
        "[N/m], of rotations",
        "[kg, kg m, kg m^2]",
        "in rad/s",
        "in N m",
    ],
)
def test_units_in_texts_are_found(text):
    assert _BRACKETS.search(text) or _UNITS.search(text)


@pytest.mark.parametrize(
    "text",
    ["two, [start, end], for a taper", "space: [y, z] of the mass", "[x, force]", "[E1, E2]", "[1] in the frame"],
)
def test_other_brackets_are_no_units(text):
    assert not (_BRACKETS.search(text) or _UNITS.search(text))
