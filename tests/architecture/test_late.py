"""What is made or loaded late (`fem_mbs.late`) is there, and is what `dataclasses` makes at once."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pickle
import threading
import time

import pytest
from late_classes import Frozen, Ordered, Plain, Unhashable
from places import syntax
from test_architecture import SOURCES

from fem_mbs.late import default, finish, late, late_module


def test_every_dataclass_can_be_made():
    """In all modules that have dataclasses made late; `inspect` evaluates their signatures."""
    modules = [m for m, p in SOURCES.items() if "from fem_mbs.late import dataclass" in p.read_text("utf-8")]
    assert len(modules) > 10
    for module in modules:
        loaded = importlib.import_module(module)
        for value in vars(loaded).values():
            if isinstance(value, type) and value.__module__ == loaded.__name__:
                finish(value)
                if dataclasses.is_dataclass(value):
                    inspect.signature(value)


def _places() -> list[tuple[str, str]]:
    found = []
    for module, path in SOURCES.items():
        for node in syntax(path.read_text("utf-8")):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id in ("late", "late_module"):
                found += [(module, a.value) for a in node.args if isinstance(a, ast.Constant)]
    return found


def test_late_places_are_there():
    places = _places()
    assert len(places) > 10
    for module, place in places:
        name, _, attribute = place.partition(":")
        assert not attribute or hasattr(importlib.import_module(name), attribute), f"{module}: {place}"


def test_late_functions_and_modules():
    assert late("math:hypot")(3.0, 4.0) == 5.0
    stands = late_module("fractions")
    assert stands.Fraction(1, 2) + stands.Fraction(1, 2) == 1
    with pytest.raises(AttributeError, match="nothing_such"):
        stands.nothing_such  # noqa: B018


def _fresh(kind: type) -> type:
    """Return a class like another one that is not made yet."""
    return kind.made()


@pytest.mark.parametrize("kind", [Plain, Frozen, Ordered, Unhashable])
def test_a_late_class_is_the_dataclass(kind):
    """Whatever is asked first: instances, comparison, text, fields, signature, assignment, hash, also of a subclass."""
    expected, given = kind.made(dataclasses.dataclass), kind.values
    asked = [
        lambda c: repr(c(*given)).split(".")[-1],
        lambda c: c(*given) == c(*given),
        lambda c: [(f.name, f.default, f.kw_only) for f in dataclasses.fields(c)],
        lambda c: str(inspect.signature(c)),
        lambda c: c.__match_args__,
        lambda c: _outcome(lambda: setattr(c(*given), "a", 5)),
        lambda c: _outcome(lambda: hash(c(*given)) == hash(c(*given))),
        lambda c: _outcome(lambda: c(*given) < c(*given)),
        lambda c: dataclasses.asdict(dataclasses.replace(c(*given), a=7)),
        lambda c: repr(type("Derived", (c,), {})(*given)).split(".")[-1],
        lambda c: _outcome(lambda: repr(c()).split(".")[-1]),
        lambda c: default(c, "b"),
    ]
    for question in asked:
        assert question(_fresh(kind)) == question(expected)


def _outcome(call):
    try:
        return call()
    except (TypeError, dataclasses.FrozenInstanceError) as error:
        return type(error), str(error).split(".")[-1]


def test_instances_that_no_constructor_made():
    """A copy by pickle in a process that has made none: equal, and as frozen as the original."""
    state = pickle.dumps(Frozen(1, "x"))
    kind = Frozen.made()
    other = object.__new__(kind)
    other.__dict__.update(pickle.loads(state).__dict__)
    assert other == kind(1, "x") and other.b == "x"
    third = object.__new__(Frozen.made())
    with pytest.raises(dataclasses.FrozenInstanceError):
        third.a = 2


def test_threads_find_all_of_a_class_that_another_one_makes(monkeypatch):
    """A thread that made an instance meanwhile found no `__init__`."""
    made, began, real = _fresh(Frozen), threading.Event(), dataclasses.dataclass

    def slow(*given, **options):
        began.set()
        time.sleep(0.05)
        return real(*given, **options)

    monkeypatch.setattr(dataclasses, "dataclass", slow)
    other = threading.Thread(target=finish, args=(made,))
    other.start()
    assert began.wait(10.0)
    assert made(*Frozen.values) == made(*Frozen.values)
    other.join()
