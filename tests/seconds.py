"""What tests take, and which of them count as long: `seconds.json` by files, and `kernel_users.json` beside it.

A test takes its own seconds of a processor with compiled kernels, and its share of the compilation of these: the
everyday tests that need a kernel of an element share what it takes to compile, in equal parts.  So a test of something
common pays for itself alone, and one of something rare for its kernels too.  Tests that are marked `everyday` stay with
the everyday tests; what they need costs the others nothing.
"""

from __future__ import annotations

import functools
import json
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

__all__ = ["LONG", "SECONDS", "Measured", "Seconds", "by_files", "seconds", "share_out"]

SECONDS = Path(__file__).with_name("seconds.json")
_USERS = Path(__file__).with_name("kernel_users.json")
#: What a long test takes at least [s].
LONG = 0.1


def _table(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def _write(path: Path, table: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(dict(sorted(table.items())), indent=0) + "\n", "utf-8")


def seconds() -> dict[str, float]:
    """Return the tests that take long, with what they take."""
    return {f"{file}::{test}": own for file, tests in _table(SECONDS).items() for test, own in tests.items()}


def by_files(taken: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return the seconds of tests in one table for each file."""
    tables: dict[str, dict[str, float]] = {}
    for name in sorted(taken):
        file, _, test = name.partition("::")
        tables.setdefault(file, {})[test] = taken[name]
    return tables


def share_out(
    taken: Mapping[str, float],
    needed: Mapping[str, Sequence[str]],
    cost: Mapping[str, float],
    users: Mapping[str, int],
    staying: Collection[str] = (),
) -> tuple[dict[str, float], dict[str, int]]:
    """Return the tests that take long with what they take, and how many everyday tests need each kernel.

    A kernel that is left with fewer users costs each of them more, so tests are left out until none takes long.

    Args:
        taken: seconds of tests without compilation.
        needed: kernels that the tests need.
        cost: seconds of kernels.
        users: how many everyday tests need the kernels, as far as it is known.
        staying: tests that are everyday tests whatever they take.
    """
    paid = {kernel for name in staying for kernel in needed[name]}
    long: dict[str, float] = {}
    while True:
        everyday = [name for name in taken if name not in long]
        count = Counter(kernel for name in everyday for kernel in needed[name]) | Counter(users)
        shares = {kernel: 0.0 if kernel in paid else cost[kernel] / n for kernel, n in count.items() if kernel in cost}
        whole = {name: taken[name] + sum(shares[k] for k in needed[name]) for name in everyday if name not in staying}
        longer = {name: both for name, both in whole.items() if both >= LONG}
        if not longer:
            return long, dict(count)
        long |= longer


@functools.cache
def _kernels() -> dict[str, Any]:
    """Return the kernels of all element types by their names; none if they are not compiled."""
    from fem_mbs.contract import kernel_of
    from fem_mbs.elements.registry import element_type, element_types

    functions = [f for name in element_types() for f in (element_type(name).force, element_type(name).report)]
    return {entry.name: f for f in functions if (entry := kernel_of(f)) is not None}


def _processor() -> float:
    """Seconds of a processor that this process and the processes it has waited for have taken."""
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


class Measured:
    """A plugin of every process that runs tests: add to the report of a test what it has taken and needed."""

    def __init__(self) -> None:
        self._began = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        for kernel in _kernels().values():
            vars(kernel).pop("address", None)  # who calls it looks it up again
        self._began = _processor()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        if report.when == "teardown":
            report.processor_seconds = _processor() - self._began
            report.kernels = [name for name, kernel in _kernels().items() if "address" in vars(kernel)]
        return report


class Seconds:
    """A plugin of the first process: collect what tests have taken, and write it to the files at the end."""

    def __init__(self, all_tests: bool) -> None:
        self._all_tests = all_tests
        self._taken: dict[str, float] = {}
        self._marked: dict[str, float] = {}  # tests that are marked as long in their modules
        self._needed: dict[str, list[str]] = {}
        self._staying: set[str] = set()

    def pytest_runtest_logreport(self, report):
        if report.when == "teardown":
            (self._marked if "long" in report.keywords else self._taken)[report.nodeid] = report.processor_seconds
            self._needed[report.nodeid] = report.kernels
            if "everyday" in report.keywords:
                self._staying.add(report.nodeid)

    def pytest_sessionfinish(self):
        from fem_mbs.compiling.machine_code import costs

        names = sorted({kernel for kernels in self._needed.values() for kernel in kernels})
        cost = dict(zip(names, costs(names), strict=True))
        known = {} if self._all_tests else _table(_USERS)
        long, users = share_out(self._taken, self._needed, cost, known, self._staying & self._taken.keys())
        long |= {name: own for name, own in self._marked.items() if own >= LONG}
        measured = {*self._taken, *self._marked}
        kept = {name: own for name, own in seconds().items() if name not in measured}
        _write(SECONDS, by_files(kept | {name: round(both, 1) for name, both in long.items()}))
        _write(_USERS, users)
