"""Compiled code on disk: its key changes with every source file that it is made of, and with no other."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numba
import numpy as np
from numba.core import event

from fem_mbs import contract
from fem_mbs.compiling.linking import compiled
from fem_mbs.elements.beams import beam3d
from fem_mbs.elements.joints import equation
from fem_mbs.elements.springs import truss
from fem_mbs.solvers.stepping import stepper


def names(dispatcher) -> set[str]:
    return {path.name for path in contract.sources(dispatcher.py_func)}


def test_sources_hold_direct_and_indirect_imports():
    found = names(beam3d.force_natural)
    assert {"beam3d.py", "beam3d_natural.py", "kinematics.py", "contract.py"} <= found
    assert not {"truss.py", "stepper.py", "bushing.py"} & found
    # a module that is imported under another name
    assert {"stepper.py", "gauge.py", "banded.py"} <= names(stepper.advance)
    assert "beam3d.py" not in names(truss.TYPES["truss3"].force) | names(stepper.advance)


def test_sources_of_a_made_kernel_hold_those_of_what_it_was_made_with():
    def make(inner):
        def outer(x):
            return inner(x)

        return outer

    made = make(equation.TYPES["equation3"].force.py_func)
    assert {"test_compiled_code.py", "equation.py"} <= {path.name for path in contract.sources(made)}


def test_settings_of_numba_stay_as_the_user_has_them(tmp_path):
    """Neither the import of all kernels nor a compilation changes a setting; a user's kernel stays beside its file."""
    (tmp_path / "kernels.py").write_text("""
import numba

@numba.njit(cache=True)
def twice(x):
    return 2.0 * x
""")
    code = """
import numba
def settings():
    return {name: value for name, value in vars(numba.config).items() if name.isupper()}
given = settings()
import fem_mbs.solvers.stepping.stepper
from fem_mbs.elements.registry import element_types
element_types()
assert settings() == given
import kernels
assert kernels.twice(1.5) == 3.0
"""
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), environment.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "__pycache__").glob("kernels.twice*.nbc"))


def test_what_kernels_call_is_compiled_once():
    """Whoever calls it, with constants or not; callers give the right values and hold the machine code."""

    @contract.inner
    def shifted(x, k):
        return x[k] + 10.0 * k

    @contract.inline
    def doubled(x, k):
        return 2.0 * shifted(x, k) + shifted(x, 1)

    @numba.njit(error_model="numpy")
    def first(x, k):
        return doubled(x, 0) + shifted(x, k)

    @numba.njit(error_model="numpy", no_cpython_wrapper=False, nogil=True)
    def second(x):
        return doubled(x, 1)

    x = np.array([3.0, 5.0])
    with event.install_recorder("numba:compile") as recorder:
        assert first(x, 1) == 2.0 * 3.0 + 15.0 + 15.0
        assert second(x) == 2.0 * 15.0 + 15.0
    begun = [e.data["dispatcher"].py_func for _, e in recorder.buffer if e.is_start]
    assert [begun.count(f) for f in (first.py_func, second.py_func)] == [1, 1]
    assert [begun.count(f) for f in (shifted, doubled)] == [1, 1]
    assert shifted([3.0, 5.0], 1) == 15.0


def entries(a, b, c, n, x):
    """Return sums over entries, parts and ranges in every way that `fem_mbs.compiling.lowering` shortens."""
    out = np.zeros(16)
    out[0] = a[-1] + a[n - 3] + a[2] * x
    out[-1] = b[1, -2] + b[n, n - 4] - b[-1, 0]
    out[2] = c[1, 2, n] / c[-2, -1, 0]
    row, plane = b[1], c[-1]
    for i in range(row.shape[0]):
        out[3] += row[i] * plane[1, i]
    plane[0, 0] += 7.0
    out[4] = c[1, 0, 0] + c[1][n - 2][2]
    for i in range(2, n):
        for j in range(i):
            out[5] += i * b[0, j]
    for i in range(n, 2):
        out[6] = 1.0 + i
    for i in range(3, -n, -2):
        out[7] += i * i
    zero = 0.0 * x
    nan = zero / zero
    out[8] = x / zero
    out[9] = (nan == nan) + 2 * (nan != nan) + 4 * (nan < x) + 8 * (x >= 1) + 16 * (n - 5 < -1)
    pair = (n, x, b)
    out[10] = pair[0] * pair[1] + pair[-1][0, 1]
    out[n + 8] = 1 - n
    count = 0
    while count < n:
        count += 2
        out[12] -= count * 0.1
    out[13] = n // 2 + n % 2 + x**2 + n**2
    last = n
    for i in range(n):
        last = i
    out[14] = last
    return out


def test_short_code_computes_as_python_does():
    """Negative indices count from the end, parts share memory, ranges may be empty, NaN is unequal to itself."""
    a, c = np.arange(5.0), np.arange(24.0).reshape(2, 3, 4) + 0.25
    b = np.arange(16.0).reshape(4, 4) ** 1.5
    made = compiled(entries, error_model="numpy")
    with np.errstate(all="ignore"):
        for rows in (b, np.asfortranarray(b), b[::-1, ::-1]):
            given, expected = c.copy(), c.copy()
            result = made(a, rows, given, 3, np.float64(1.5))
            np.testing.assert_array_equal(result, entries(a, rows, expected, 3, np.float64(1.5)))
            np.testing.assert_array_equal(given, expected)


def test_functions_with_closures_take_all_passes():
    """A comprehension and a closure are no numbers and arrays, and compile all the same."""

    def squares(n):
        def square(i):
            return i * i

        return np.array([square(i) for i in range(n)])

    np.testing.assert_array_equal(compiled(squares)(4), [0, 1, 4, 9])


def test_kernels_can_be_sent_to_other_processes():
    kernel = truss.TYPES["truss3"].force
    sent = pickle.loads(pickle.dumps(kernel))
    assert sent.py_func.__qualname__ == kernel.py_func.__qualname__
    assert sent.py_func.__code__.co_code == kernel.py_func.__code__.co_code
