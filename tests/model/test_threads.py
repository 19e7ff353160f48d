"""Threads: the same bits for any number, the numbers that are taken, errors and interruptions in threads, BLAS."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import threadpoolctl

from fem_mbs import AnalysisError, Model, reduce_part, solve, use_threads
from fem_mbs.errors import InputError
from fem_mbs.solvers.stepping import pattern, side_by_side
from fem_mbs.threads import MOST, VARIABLE, analysis, one_blas_thread, share_processors, thread_count
from fem_mbs.threads import side_by_side as call_side_by_side
from fem_mbs.validation.shell_grids import shell, square

NUMBERS = (1, 2, 3)


@pytest.fixture
def eager(monkeypatch):
    """Let several threads take small models too, in small pieces and several batches."""
    for name, value in (("PAYS", 0), ("PAYS_ADDING", 0), ("OUTSIDE", 0), ("PIECE", 700), ("TOGETHER", 9000)):
        monkeypatch.setattr(side_by_side, name, value)
    monkeypatch.setattr("fem_mbs.system.tangent.TOGETHER", 9000)
    monkeypatch.setattr(pattern, "SMALL", -1)


@pytest.fixture
def used(monkeypatch):
    """The threads that calls side by side ran in."""
    seen = set()

    def spied(call, count):
        def noted(i):
            seen.add(threading.get_ident())
            time.sleep(0.0)
            return call(i)

        call_side_by_side(noted, count)

    monkeypatch.setattr(side_by_side, "side_by_side", spied)
    return seen


def block(n=(6, 3, 2), kind="hexahedron"):
    model = Model(3, gravity=(0.0, 0.0, -9.81))
    model.mesh("m", box={"size": (0.6, 0.3, 0.1), "n": n, "kind": kind})
    model.solid_material("soft", 1e7, 0.3, density=1000.0)
    model.solids("block", "m", "soft")
    return model


def modes_of_solids():
    model = block(kind="tetra10")
    model.fix("m:left")
    model.modes_step(6)
    return model


def statics_of_solids():
    model = block()
    model.fix("m:left")
    model.static_step(increments=2)
    return model


def swinging_solid():
    model = block()
    model.fix("m:left")
    model.sensor("tip", "position", on="m:top_back_right")
    model.transient_step(0.02, 2e-3, frames=2)
    return model


def beams(rule="midpoint", h=2.5e-3):
    model = Model(3, gravity=(0.0, 0.0, -9.81))
    model.section("rod", "circle", diameter=0.02)
    model.line("rod", (0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 30)
    model.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    model.beams("rod", "rod", "rod", material="steel")
    if rule == "explicit":
        model.fix("rod:start")
    else:
        model.joint("hinge", "revolute", "ground", "rod:start", axis=(0.0, 1.0, 0.0))
    model.sensor("tip", "position", on="rod:end")
    model.transient_step(20 * h, h, frames=2, rule=rule)
    return model


def pinned_beams():
    """Dofs of both beams share an equation, whose row belongs to one thread."""
    model = Model(2, gravity=(0.0, -9.81))
    model.section("rod", "stiffness", EA=1e4, EI=10.0, rhoA=1.0)
    for name, start in (("a", 0.0), ("b", 1.0), ("c", 1.0)):
        model.line(name, (start, 0.0), (start + 1.0, 0.3 * start * (name == "c")), 12)
        model.beams(name, name, "rod")
    model.fix("a:start", ["x", "y"])
    model.joint("pin", "pin", "a:end", "b:start")
    model.joint("other pin", "pin", "a:end", "c:start")
    model.transient_step(0.05, 2.5e-3, frames=2)
    assert model.compile().system.system.shared.size
    return model


def shells():
    model = shell(square(lambda u, v: (u, v, 0.1 * u * v), 5, 5, "quad"), 2.1e11, 0.3, 0.01, 7850.0)
    model.fix("s:left")
    model.static_step(increments=1)
    model.modes_step(4)
    model.transient_step(4e-4, 1e-4, frames=1)
    return model


def contact():
    model = block((3, 2, 1))
    model.body("ball", (0.3, 0.15, 0.16), mass=0.2, inertia=np.full(3, 1e-4))
    model.initial("ball", velocity=(0.5, 0.1, -1.0))
    model.contact("touch", "m:top", "ball", surface="faces", ball=0.05, stiffness=1e5)
    model.sensor("force", "contact", on="touch")
    model.transient_step(0.03, 1e-3, frames=2)
    return model


def digests(solution):
    """Return all rows, frames and numbers of the summaries, without times by the clock."""
    found = {}
    for step in solution.steps:
        for kind in (step.series, step.frames):
            found |= {(step.name, name): np.asarray(value).tobytes() for name, value in kind.items()}
        told = {name: value for name, value in step.summary.items() if "second" not in name and "_s" not in name}
        found[step.name] = repr(told)
    return found


MODELS = {
    "modes of solids": modes_of_solids, "statics of solids": statics_of_solids, "solids": swinging_solid,
    "beams": beams, "beams by Newmark": lambda: beams("newmark"), "explicit beams": lambda: beams("explicit", h=2e-6),
    "pinned beams": pinned_beams, "shells": shells, "contact": contact,
}  # fmt: skip


def test_a_reduced_part_is_the_same_bits(eager, used):
    parts = []
    for number in NUMBERS:
        with use_threads(number):
            parts.append(reduce_part(block(), {"a": "m:left", "b": "m:right"}, modes=4, recovery="stress"))
    for other in parts[1:]:
        for name in ("mass", "stiffness", "frequencies", "gravity"):
            assert np.array_equal(getattr(parts[0], name), getattr(other, name))
        for name in ("displacement", "stress"):
            assert np.array_equal(getattr(parts[0].recovery, name), getattr(other.recovery, name))
    assert len(used) > 1


@pytest.mark.parametrize("name", MODELS)
def test_results_are_the_same_bits(name, eager, used):
    """One thread runs the loops in compiled code; several threads get the elements in pieces."""
    found = {}
    for number in NUMBERS:
        found[number] = digests(solve(MODELS[name](), threads=number))
    assert found[1] == found[2] == found[3]
    assert len(found[1]) > 2
    assert threading.get_ident() in used


def test_a_run_goes_on_in_other_threads(eager, tmp_path):
    """A restart with another number of threads gives the bits of a run that was not stopped."""
    from fem_mbs import run

    def stopped(context, recorder):
        del context
        rows = recorder.append

        def append(series=None, frames=None, restart=None, **more):
            rows(series, frames, restart, **more)
            if restart is not None:
                raise KeyboardInterrupt

        recorder.append = append
        return recorder

    def model():
        made = swinging_solid()
        made.steps[-1].options["restarts"] = 2
        return made

    whole = run(model(), tmp_path / "whole", threads=1)
    with pytest.raises(KeyboardInterrupt):
        run(model(), tmp_path / "parts", threads=2, watch=stopped)
    parts = run(model(), tmp_path / "parts", threads=3, restart=-1)
    for name in ("ledger", "sensor/tip"):
        assert np.array_equal(whole.steps[0].series[name][:], parts.steps[0].series[name][:])


# --- the number ------------------------------------------------------------------------------------------------------
def test_who_sets_the_number(monkeypatch):
    """A call counts before the variable, and both before the processors."""
    monkeypatch.delenv(VARIABLE)
    allowed = {0, 1, 2, 3, 4, 5}
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: allowed, raising=False)
    assert thread_count() == 6
    share_processors(4)
    assert thread_count() == 1
    share_processors(1)
    monkeypatch.setenv(VARIABLE, " 3 ")
    assert thread_count() == 3
    with use_threads(2):
        assert thread_count() == 2
        with use_threads(4), analysis(5):
            assert thread_count() == 5
        assert thread_count() == 2
        with use_threads(None):
            assert thread_count() == 3
    assert thread_count() == 3


@pytest.mark.parametrize("value", [0, -1, MOST + 1, 2.0, 1.5, True, "two", "", "1e1", "²", float("nan"), [2]])
def test_numbers_that_are_none(value, monkeypatch):
    with pytest.raises(InputError, match=rf"^threads = .* must be a whole number from 1 to {MOST}; leave it"):
        solve(block(), threads=value)
    if isinstance(value, str) and value:
        monkeypatch.setenv(VARIABLE, value)
        with pytest.raises(InputError, match=rf"^{VARIABLE} = {value} must be a whole number"):
            solve(block())


# --- calls -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("number", [1, 2, 3, 8])
def test_every_call_is_made_once(number):
    for count in (0, 1, 2, 7, 100):
        made = []
        with use_threads(number):
            call_side_by_side(made.append, count)
        assert sorted(made) == list(range(count))


def test_calls_within_calls():
    """Threads that wait for their own kind would never end."""
    made = []
    with use_threads(3):
        call_side_by_side(lambda i: call_side_by_side(lambda j: made.append((i, j)), 4), 5)
    assert sorted(made) == [(i, j) for i in range(5) for j in range(4)]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_first_error_is_the_one(number):
    """Not the one that came first, but that of the first call: the same for any number of threads."""
    made = []

    def call(i):
        made.append(i)
        if i == 5:
            time.sleep(0.01)
        if i >= 5:
            raise AnalysisError(f"call {i}")

    for _ in range(5):
        with use_threads(number), pytest.raises(AnalysisError, match=r"^call 5$"):
            call_side_by_side(call, 1000)
    assert max(made) < 5 + number


@pytest.mark.parametrize("number", NUMBERS)
def test_an_interruption_ends_all_threads(number):
    """Python interrupts its main thread; no call is running when the error arrives, and none begins afterwards."""
    running, made = set(), []

    def call(i):
        made.append(i)
        running.add(i)
        time.sleep(2e-3)
        running.discard(i)
        if threading.current_thread() is threading.main_thread() and i > 3:
            raise KeyboardInterrupt

    with use_threads(number), pytest.raises(KeyboardInterrupt):
        call_side_by_side(call, 10_000)
    assert not running
    done = len(made)
    time.sleep(0.01)
    assert len(made) == done < 100


def test_errors_of_models_are_those_of_one_thread(eager):
    """A step that does not converge ends with the same words."""
    told = []
    for number in NUMBERS:
        model = swinging_solid()
        model.steps[-1].options.update(max_iterations=1, halvings=0)
        with pytest.raises(AnalysisError) as error:
            solve(model, threads=number)
        told.append(str(error.value))
    assert told[0] == told[1] == told[2]


# --- BLAS ------------------------------------------------------------------------------------------------------------
def blas_numbers():
    return {entry["num_threads"] for entry in threadpoolctl.threadpool_info() if entry["user_api"] == "blas"}


def test_blas_has_one_thread_in_an_analysis():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        with one_blas_thread():
            with one_blas_thread():
                assert blas_numbers() == {1}
            assert blas_numbers() == {1}
        assert blas_numbers() == {2}
        seen = []
        model = block()
        model.fix("m:left")
        model.modes_step(2)
        solve(model, watch=lambda _, recorder: seen.append(blas_numbers()) or recorder)
        assert seen == [{1}]
        assert blas_numbers() == {2}


def test_a_library_that_comes_later_is_limited_too():
    """CHOLMOD brings its own BLAS, and is loaded with the first matrix that needs it."""
    pytest.importorskip("sksparse")
    code = """
from threadpoolctl import threadpool_info
from fem_mbs.threads import one_blas_thread
from fem_mbs.solvers.linear.libraries import has_cholmod
count = lambda: sorted(e["num_threads"] for e in threadpool_info() if e["user_api"] == "blas")
with one_blas_thread():
    before = count()
    assert has_cholmod()
    print(set(before), set(count()), len(count()) >= len(before))
print(min(count()))
"""
    environment = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "{1} {1} True"
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert int(done.stdout.splitlines()[1]) == min(processors, int(done.stdout.splitlines()[1]))
    if processors > 1:
        assert int(done.stdout.splitlines()[1]) > 1
