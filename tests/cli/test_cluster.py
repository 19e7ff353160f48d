"""Tasks in worker processes: order, threads, what dies and what fails."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fem_mbs import Model, ModelError, reduce_part, reduce_parts, run_tasks
from fem_mbs.cluster import TaskFailure, TaskPool, TaskProgress
from fem_mbs.errors import AnalysisError, InputError
from fem_mbs.threads import available

pytest.importorskip("distributed")


def square(x: float, wait: float = 0.0) -> float:
    time.sleep(wait)
    return x * x


def meet(path: str, number: int, last: int) -> int:
    """Task 0 waits until the last one has begun."""
    if number == last:
        Path(path).touch()
    end = time.monotonic() + 120.0
    while number == 0 and not Path(path).exists() and time.monotonic() < end:
        time.sleep(0.01)
    return number


def blas_threads() -> set[int]:
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    return {entry["num_threads"] for entry in threadpool_info() if entry["user_api"] == "blas"}


def worker_of(wait: float) -> int:
    time.sleep(wait)
    return os.getpid()


def die(marker: str, times: int) -> int:
    """Kill the worker in the first ``times`` attempts; the attempts are counted in a file."""
    path = Path(marker)
    before = len(path.read_text(encoding="utf-8")) if path.exists() else 0
    path.write_text("x" * (before + 1), encoding="utf-8")
    if before < times:
        os.kill(os.getpid(), signal.SIGKILL)
    return before + 1


def mixed(kind: str, marker: str) -> str:
    if kind == "raises":
        raise AnalysisError("no equilibrium")
    if kind == "wrong":
        raise KeyError("a mistake")
    if kind == "dies":
        die(marker, 99)
    return kind


@pytest.fixture(scope="module")
def pool():
    with TaskPool(2) as opened:
        yield opened


def test_results_in_order(pool, tmp_path):
    """The first task ends after the second, which the other worker does meanwhile, and still comes first."""
    seen: list[TaskProgress] = []
    tasks = [(str(tmp_path / "met"), k, 6) for k in range(7)]
    found = pool.run(meet, tasks, progress=seen.append)
    assert found == list(range(7))
    assert all(p.done + p.failed + p.running + p.waiting == p.total == 7 for p in seen)
    assert max(p.running for p in seen) <= 2
    ended = [p.index for p in seen if p.index is not None]
    assert sorted(ended) == list(range(7))
    assert ended.index(0) > ended.index(1)
    assert {p.index: p.result for p in seen if p.index is not None} == dict(enumerate(found))
    assert seen[-1].done == 7


def test_one_thread_in_a_worker(pool):
    (threads,) = pool.run(blas_threads, [()])
    assert threads == {1}


def test_a_dead_worker_costs_an_attempt(pool, tmp_path):
    assert pool.run(die, [(str(tmp_path / "marker"), 2)]) == [3]


def test_a_worker_that_dask_gives_up_is_replaced(pool):
    """As after a death while the worker was being started: both, so that nothing could go on."""
    from distributed.core import Status

    nannies = list(pool._mend.cluster.workers.values())
    before = {nanny.pid for nanny in nannies}
    for nanny in nannies:
        nanny.status = Status.starting
        os.kill(nanny.pid, signal.SIGKILL)
    found = pool.run(worker_of, [(0.2,)] * 4)
    assert set(found).isdisjoint(before)
    assert {nanny.pid for nanny in pool._mend.cluster.workers.values()} >= set(found)


def test_what_fails_stays_in_its_place(pool, tmp_path):
    kinds = ["good", "raises", "dies", "wrong", "good"]
    seen: list[TaskProgress] = []
    found = pool.run(
        mixed, [(kind, str(tmp_path / "m")) for kind in kinds], attempts=2, errors="return", progress=seen.append
    )
    assert [f.index if isinstance(f, TaskFailure) else f for f in found] == ["good", 1, 2, 3, "good"]
    assert found[1].reason == "no equilibrium"
    assert found[1].deaths == 0
    assert "died in each of 2 attempts" in found[2].reason
    assert len((tmp_path / "m").read_text(encoding="utf-8")) == found[2].deaths == 2
    assert found[3].reason == "KeyError: 'a mistake'"
    assert (seen[-1].done, seen[-1].failed) == (2, 3)


def test_the_first_failure_is_raised(pool, tmp_path):
    with pytest.raises(AnalysisError, match="no equilibrium"):
        pool.run(mixed, [("raises", ""), ("good", "")])
    with pytest.raises(AnalysisError, match="died in each of 1 attempts"):
        pool.run(mixed, [("dies", str(tmp_path / "m"))], attempts=1)
    assert pool.run(square, [(2.0,)]) == [4.0]  # the pool goes on


def test_a_running_cluster_is_joined(pool):
    assert run_tasks(square, [(2.0,), (3.0,)], scheduler=pool.address) == [4.0, 9.0]


def test_nothing_of_it_stays_in_this_process(pool, capfd):
    """Neither variables of the environment nor messages: pools of their own open and close, and a worker dies."""
    before = dict(os.environ)
    with TaskPool(1) as other, pytest.raises(AnalysisError):
        other.run(mixed, [("dies", os.devnull)], attempts=1)
    assert dict(os.environ) == before
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers = 0 must be a whole number"),
        ({"workers": 1.5}, "workers = 1.5 must be a whole number"),
        ({"workers": 1, "scheduler": "tcp://h:1"}, "give either workers"),
        ({"scheduler": "somewhere"}, "is not an address"),
        ({"workers": 1, "errors": "ignore"}, 'must be "raise" or "return"'),
        ({"workers": 1, "attempts": 0}, "attempts = 0 must be a whole number"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(InputError, match=message):
        run_tasks(square, [(1.0,)], **options)


def test_nobody_answers():
    with pytest.raises(InputError, match=r"no answer .* start one with: dask scheduler"):
        TaskPool(scheduler="tcp://127.0.0.1:9", timeout=0.3).__enter__()


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r'not installed .* pip install "fem-mbs\[cluster\]"'):
        run_tasks(square, [(1.0,)])


def test_no_tasks_need_no_workers():
    assert run_tasks(square, []) == []
    assert available() >= 1


@pytest.mark.parametrize(
    "text",
    [
        "from fem_mbs import run_tasks\nrun_tasks(abs, [(1,)], workers=1)\n",
        "from fem_mbs import sweep\nsweep('model.toml', {'step.1.h': 0.1}, workers=1)\n",
    ],
)
def test_a_script_without_a_guard_is_told(tmp_path, text):
    """Workers import the script that starts them; it must not start workers again."""
    (tmp_path / "script.py").write_text(text, encoding="utf-8")
    (tmp_path / "model.toml").write_text('[[step]]\ntype = "transient"\nduration = 1\nh = 0.1\n', encoding="utf-8")
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert 'needs its calls under: if __name__ == "__main__":' in done.stderr
    assert done.stderr.count("Traceback") == 1


def bar(modulus: float, n: int = 6) -> Model:
    model = Model(3, title="bar")
    model.material("steel", E=modulus, nu=0.3, density=7850.0)
    model.section("round", "circle", diameter=0.02)
    model.line("line", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), n)
    model.beams("bar", "line", "round", "steel")
    return model


def test_a_model_takes_no_compiled_code_along():
    """A worker would compile it again; types that the registry does not have travel as they are."""
    model = bar(7e10)
    sent = pickle.loads(pickle.dumps(model))
    here, there = ([block.type for block in m.compile().system.blocks] for m in (model, sent))
    assert here and all(a is b for a, b in zip(here, there, strict=True))
    own = replace(here[0], name="mine", force=None, report=None, watches=())
    assert pickle.loads(pickle.dumps(own)) == own


def test_parts_reduced_side_by_side_are_those_reduced_alone(pool):
    ends = {"a": "line:start", "b": "line:end"}
    given = {f"bar {k}": {"model": bar(k * 7e10), "interfaces": ends, "modes": 4} for k in (1, 3)}
    # first alone: then the workers find compiled code on disk
    alone = {name: reduce_part(**options, name=name) for name, options in given.items()}
    found = reduce_parts(given, scheduler=pool.address)
    assert list(found) == ["bar 1", "bar 3"]
    for name, part in found.items():
        assert part.name == name
        for key in ("stiffness", "mass", "boundary", "rigid", "gravity", "frequencies"):
            np.testing.assert_array_equal(getattr(part, key), getattr(alone[name], key))


def test_wrong_part_is_named(pool):
    wrong = {"bar": {"model": bar(7e10), "interfaces": {"a": "nowhere"}}}
    with pytest.raises(ModelError, match=r'Part "bar": .*nowhere'):
        reduce_parts(wrong, scheduler=pool.address)
    with pytest.raises(ModelError, match='"interfaces" is missing'):
        reduce_parts({"bar": {"model": bar(7e10)}})
    with pytest.raises(ModelError, match=r'Part "bar": .*cut'):
        reduce_parts({"bar": {"model": bar(7e10), "interfaces": {"a": "line:end"}, "cut": 3.0}}, scheduler=pool.address)
