"""Which tests count as long: those that take long by themselves, or with their share of rare kernels."""

from __future__ import annotations

import pytest
from seconds import LONG, by_files, seconds, share_out


def test_tests_share_the_compilation_of_their_kernels():
    """Ten users of a common kernel stay; one that also needs a rare one goes, and one that takes long by itself."""
    taken = {f"test {i}": 0.1 * LONG for i in range(10)} | {"slow": 1.1 * LONG, "rare": 0.0}
    needed = {name: ["common"] for name in taken} | {"rare": ["common", "rare"]}
    cost = {"common": 8.0 * LONG, "rare": 2.0 * LONG}
    long, users = share_out(taken, needed, cost, {})
    assert set(long) == {"slow", "rare"}
    assert long["rare"] == pytest.approx(8.0 * LONG / 12 + 2.0 * LONG)
    assert users == {"common": 10}


def test_tests_are_left_out_until_none_takes_long():
    """Two go first; what is left of the users would take long then."""
    taken = {"a": 0.0, "b": 0.0, "c": 0.9 * LONG, "d": 0.9 * LONG}
    needed = {name: ["kernel"] for name in taken}
    long, users = share_out(taken, needed, {"kernel": 3.0 * LONG}, {})
    assert long == pytest.approx({"c": 1.65 * LONG, "d": 1.65 * LONG, "a": 1.5 * LONG, "b": 1.5 * LONG})
    assert users == {}


def test_a_part_of_the_tests_shares_with_all_others():
    """Of a kernel that fifty tests need the two that were measured pay little."""
    taken, needed = {"a": 0.0, "b": 0.0}, {"a": ["kernel"], "b": ["kernel", "new"]}
    long, users = share_out(taken, needed, {"kernel": 10.0 * LONG, "new": 0.5 * LONG}, {"kernel": 50})
    assert long == {}
    assert users == {"kernel": 50, "new": 1}


def test_what_stays_pays_for_its_kernels():
    taken = {"stays": 9.0 * LONG, "a": 0.0, "b": 0.0}
    needed = {"stays": ["rare"], "a": ["rare"], "b": ["other"]}
    long, users = share_out(taken, needed, {"rare": 9.0 * LONG, "other": 9.0 * LONG}, {}, ["stays"])
    assert set(long) == {"b"}
    assert users == {"rare": 2}


def test_the_list_has_a_table_for_each_file():
    """A name of a test may have two colons after that of its file, for a class or in its parameters."""
    taken = {"b.py::test": 2.0, "a.py::Class::test": 1.0, "a.py::test[x::y]": 3.0}
    assert by_files(taken) == {"a.py": {"Class::test": 1.0, "test[x::y]": 3.0}, "b.py": {"test": 2.0}}
    kept = seconds()
    assert kept
    assert all(file.startswith("tests/") and file.endswith(".py") for file in by_files(kept))
    assert {f"{file}::{test}": own for file, tests in by_files(kept).items() for test, own in tests.items()} == kept
