"""The tool for mutants: what it changes, that it notices what tests notice, and that its list of reasons holds."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest

if sys.platform == "win32":
    pytest.skip("needs fork", allow_module_level=True)

from mutants.operators import mutant, mutants, mutate, places
from mutants.reach import IMPORT, Reach

_SOURCE = '''
def mean(x, n: int = 2):
    """Return 1 + 1."""
    if n <= 0 and x:
        raise ValueError(f"{n + 1} things")
    total = 0.0
    for i in range(n):
        total += -x[i, 1] / n
    return total if n > 1 else not total
'''


def _all(source):
    return [mutant(source, place, variant) for place in places("m.py", source) for variant in range(place.count)]


def test_each_operator_changes_what_it_says_and_nothing_else():
    changes = {(m.operator, m.change) for m in _all(_SOURCE)}
    assert {
        ("comparison", "n <= 0 -> n < 0"),
        ("comparison", "n <= 0 -> n > 0"),
        ("logic", "n <= 0 and x -> n <= 0 or x"),
        ("logic", "not total -> total"),
        ("branch", "n <= 0 and x -> not (n <= 0 and x)"),
        ("branch", "total if n > 1 else not total -> not total if n > 1 else total"),
        ("arithmetic", "total += -x[i, 1] / n -> total -= -x[i, 1] / n"),
        ("arithmetic", "-x[i, 1] / n -> -x[i, 1] * n"),
        ("statement", "total += -x[i, 1] / n -> dropped"),
        ("sign", "-x[i, 1] -> x[i, 1]"),
        ("indices", "x[i, 1] -> x[1, i]"),
        ("constant", "0.0 -> 1.0"),
        ("constant", "1 -> 2"),
    } <= changes
    # neither default arguments nor annotations, docstrings and texts of errors
    assert all(place.lines.start not in (2, 3, 5) for place in places("m.py", _SOURCE))
    for m in _all(_SOURCE):
        changed = ast.unparse(mutate(_SOURCE, m))
        assert changed != ast.unparse(ast.parse(_SOURCE)), m
        compile(mutate(_SOURCE, m), "m.py", "exec")


def test_changed_code_computes_something_else():
    def results(tree):
        names = {}
        exec(compile(tree, "m.py", "exec"), names)
        return names["half"](3.0)

    source = "def half(x):\n    return 0.5 * x\n"
    assert results(ast.parse(source)) == 1.5
    found = {m.change: results(mutate(source, m)) for m in _all(source)}
    assert found == {"0.5 * x -> 0.5 / x": 0.5 / 3.0, "0.5 -> 1.5": 4.5, "0.5 -> -0.5": -1.5, "0.5 -> 1.0": 3.0}


def test_the_cheapest_tests_come_first_and_not_many_of_one_function():
    line = 1 << 4
    seconds = {IMPORT: 0.0, "a::f[1]": 0.1, "a::f[2]": 0.1, "a::f[3]": 0.1, "b::g": 0.15, "b::h": 9.0, "b::other": 0.0}
    lines = {"m.py": [(name, 2 if name in (IMPORT, "b::other") else line) for name in seconds]}
    place = next(p for p in places("m.py", _SOURCE) if p.lines.start == 4)
    assert Reach(seconds, lines).tests(place) == ["a::f[1]", "b::g", "a::f[2]", "a::f[3]", "b::h"]
    assert not Reach(seconds, lines).imported(place)


#: Tries mutants of `fem_mbs.elements.duals` in a session of its own, and prints how they end.
_PROGRAM = """
import json, sys
from pathlib import Path
from tests.mutants.plain import use_plain_kernels
use_plain_kernels()
from tests.mutants.operators import mutants
from tests.mutants.session import run_session
from tests.mutants.reach import Tracer
root, file, found, lines = Path.cwd(), "elements/duals.py", [], []

def task(session):
    source = (root / file).read_text()
    tests = [(name, 0.1) for name in session.items]
    session.trace([name for name, _ in tests], ("elements",), 10.0, lambda **entry: lines.append(entry))
    for m in mutants(file, source, {"out[0] = a[0] * b[0]", "out[0] += factor * a[0] * b[0]", "for i in range(w):"}):
        found.append((m.place.function, m.change, session.try_mutant(m, tests)))

code = run_session(root, ("elements/loads",), [sys.argv[1]], task)
print(json.dumps([int(code), found, lines]))
"""
_TESTS = """
import gc
from fem_mbs.elements import duals

gc.freeze()  # as tests/conftest.py does

def test_product():
    out = [0.0, 0.0]
    duals.product(2, [2.0, 1.0], [3.0, 0.5], out)
    assert out == [6.0, 4.0]

def test_scaled_ends():
    out = [1.0]
    duals.add_scaled(0, 2.0, [2.0], out)
    assert out == [1.0]
"""


def test_obvious_mutants_are_killed_and_unseen_ones_survive(checkout, tmp_path):
    (tmp_path / "test_product.py").write_text(_TESTS)
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path / "test_product.py")]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    code, found, lines = json.loads(done.stdout.splitlines()[-1])
    assert code == 0
    ends = {(function, change): end and end[0] for function, change, end in found}
    assert ends["product", "a[0] * b[0] -> a[0] / b[0]"] == "failed"
    assert ends["product", "out[0] = a[0] * b[0] -> dropped"] == "failed"
    # `add_product` is not called
    assert {end for (function, _), end in ends.items() if function == "add_product"} == {None}
    assert len([end for end in ends.values() if end is None]) >= 4
    reached = {entry["test"].partition("::")[2]: int(entry["lines"]["elements/duals.py"], 16) for entry in lines}
    source = (checkout / "elements/duals.py").read_text().splitlines()
    line = source.index("    out[0] = a[0] * b[0]") + 1
    assert [name for name, mask in reached.items() if mask >> line & 1] == ["test_product"]


@pytest.mark.everyday  # any change of a line can make a reason stale
def test_reasons_belong_to_mutants_of_the_source(checkout):
    from mutants.results import read_reasons, stale

    assert stale(read_reasons(), checkout) == []
    assert mutants("m.py", _SOURCE, {"total = 0.0"})[0].change == "0.0 -> 1.0"
