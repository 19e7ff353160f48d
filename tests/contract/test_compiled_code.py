"""Compiled code on disk: its key changes with every source file that it is made of, and with no other."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import numpy as np
from numba.core import event

from fem_mbs import contract
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
