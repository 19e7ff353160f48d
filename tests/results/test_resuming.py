"""Runs that are resumed, and results of processes that are killed at any moment."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from places import TESTS
from written_results import (
    N_STEPS,
    RESTARTS,
    begin,
    check_prefix,
    contents,
    finish_run,
    go_on,
    row,
    whole_run,
)

from fem_mbs.errors import ResultsError
from fem_mbs.results.folder import MARK
from fem_mbs.results.reader import Results, export
from fem_mbs.results.writer import ResultsWriter

h5py = pytest.importorskip("h5py")


# ---------------------------------------------------------------------------------------------- resuming


@pytest.mark.parametrize("state", ["finished", "killed", "failed"])
@pytest.mark.parametrize("point", [-1, 0, 1, 2])
def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path, state, point):
    whole_run(tmp_path / "whole")
    writer = begin(tmp_path / "cut", flush_seconds=0.0)
    go_on(writer)
    if state == "finished":
        finish_run(writer)
    elif state == "failed":
        writer.fail("x")
    else:
        writer._unlock()  # what the system does when the process is killed
    results = Results.open(tmp_path / "cut")
    k = results.restart(point)["k"]
    writer = ResultsWriter.resume(tmp_path / "cut", point)
    assert check_prefix(Results.open(tmp_path / "cut")) == k + 1
    assert Results.open(tmp_path / "cut").status == "running"
    if k < 0:  # the end of the first step
        assert (writer.step_index, writer.rows) == (0, 2)
        writer.end_step({"type": "static"})
        writer.begin_step("swing", "transient", {"h": 0.1})
    else:
        assert (writer.step_index, writer.rows) == (1, k + 1)
        with pytest.raises(ResultsError, match="keep names and sizes"):
            writer.append({"time": [0.0], "other": [1.0]})
    go_on(writer, k + 1)
    finish_run(writer)
    assert contents(tmp_path / "whole" / "results.h5") == contents(tmp_path / "cut" / "results.h5")
    names = [sorted(p.name for p in (tmp_path / name).iterdir()) for name in ("whole", "cut")]
    assert names[0] == names[1]


@pytest.mark.parametrize("end", [16, 17, 20])
@pytest.mark.parametrize("flush_seconds", [0.0, 1e9])
def test_a_point_that_is_not_kept_serves_a_failed_run_alone(tmp_path, flush_seconds, end):
    """It is written when the run fails, in a segment after those that hold the rows before it."""
    for name in ("cut", "done"):
        writer = begin(tmp_path / name, flush_seconds=flush_seconds)
        for k in range(end):
            writer.append(*row(k), keep=k == RESTARTS[0])
        if name == "done":
            go_on_unkept(writer, end)
            finish_run(writer)
            assert [time for _, time in Results.open(tmp_path / "done").restart_points] == [1.0, 0.1 * RESTARTS[0]]
            continue
        writer.fail("x")
    last = max(k for k in RESTARTS if k < end)
    writer = ResultsWriter.resume(tmp_path / "cut")
    assert check_prefix(Results.open(tmp_path / "cut")) == last + 1 == writer.rows
    go_on_unkept(writer, last + 1)
    finish_run(writer)
    assert contents(tmp_path / "done" / "results.h5") == contents(tmp_path / "cut" / "results.h5")


def go_on_unkept(writer: ResultsWriter, first: int) -> None:
    for k in range(first, N_STEPS):
        writer.append(*row(k), keep=False)


def test_resuming_twice_drops_what_came_later(tmp_path):
    whole_run(tmp_path)
    writer = ResultsWriter.resume(tmp_path, 2)
    go_on(writer, 17, 20)
    writer._unlock()
    writer = ResultsWriter.resume(tmp_path, 1)  # inside the segment that the first resume made
    assert check_prefix(Results.open(tmp_path)) == 9
    go_on(writer, 9)
    finish_run(writer)
    assert check_prefix(Results.open(tmp_path)) == N_STEPS


# ---------------------------------------------------------------------------------------------- kills

CHILD = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
import written_results as t
writer = t.begin(Path(sys.argv[1]), flush_seconds=0.0)
for k in range(10**6):
    writer.append(*t.row(k))
    print(k + 1, flush=True)
"""


def test_kill_at_random_moments(tmp_path):
    seed = 20240
    rng = random.Random(seed)
    command = [sys.executable, "-c", CHILD, str(tmp_path), str(TESTS)]
    for _ in range(3):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            seen = child.stdout.readline()
            time.sleep(rng.uniform(0.0, 0.15))
            child.send_signal(signal.SIGKILL)
            child.wait()
            seen = int((seen + child.stdout.read()).split()[-1])
        results = Results.open(tmp_path)
        assert results.status == "incomplete"
        assert check_prefix(results) in (seen, seen + 1)  # nothing acknowledged is lost
        assert [p.name for p in tmp_path.glob("*.json")] == [MARK] and not list(tmp_path.glob("results.*"))


#: The suite kills at every third change, HYPOTHESIS_PROFILE=thorough at every one.
STRIDE = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 3


def killed_at_call(number: int, task) -> bool:
    """Run `task` in a child that is killed at its `number`-th call that changes the disk; return whether it was."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of forks in processes with threads
        pid = os.fork()
    if pid == 0:
        count = 0

        def dying(function):
            def call(*args, **options):
                nonlocal count
                count += 1
                if count == number:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*args, **options)

            return call

        for name in ("fsync", "replace", "unlink", "rmdir", "mkdir"):
            setattr(os, name, dying(getattr(os, name)))
        try:
            task()
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def short_run(directory: Path, title: str) -> None:
    writer = begin(directory, title, flush_seconds=1e9, overwrite=True)
    go_on(writer)
    finish_run(writer)


def resumed_run(directory: Path) -> None:
    writer = ResultsWriter.resume(directory, 1, flush_seconds=1e9)
    go_on(writer, RESTARTS[0] + 1)
    finish_run(writer)


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kill_at_every_change_of_the_disk(tmp_path):
    """A run that replaces an old result: at every moment there is the old one, a prefix of the new one, or none."""
    directory = tmp_path / "out"
    short_run(tmp_path / "old", "old")
    seen = set()
    for number in range(1, 1000, STRIDE):
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(tmp_path / "old", directory)
        if not killed_at_call(number, lambda: short_run(directory, "new")):
            break
        if not has_result(directory):
            seen.add("none")
            continue
        results = Results.open(directory)
        n = check_prefix(results)
        state = (results.header["title"], results.status)
        seen.add(state)
        assert state in {("old", "done"), ("old", "incomplete"), ("new", "incomplete"), ("new", "done")}
        assert results.status == "incomplete" or n == N_STEPS
        if results.header["title"] == "new" and (directory / "summary.json").exists():
            assert json.loads((directory / "summary.json").read_text())["status"] == "done" == results.status
        if state == ("new", "done"):
            export(directory)
            assert not (directory / "segments").exists()
        if results.header["title"] == "new" and len(results.restart_points) > 1 and number % 4 == 1:
            resumed_run(directory)
            assert check_prefix(Results.open(directory)) == N_STEPS
    else:
        pytest.fail("the run never ended")
    assert {"none", ("old", "done"), ("new", "incomplete"), ("new", "done")} <= seen
    assert Results.open(directory).complete


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("finished", [True, False])
def test_kill_at_every_change_of_the_disk_while_resuming(tmp_path, finished):
    directory = tmp_path / "out"
    short_run(tmp_path / "whole", "test")
    writer = begin(tmp_path / "start")
    go_on(writer)
    finish_run(writer) if finished else writer._unlock()
    for number in range(1, 1000, STRIDE):
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(tmp_path / "start", directory)
        killed = killed_at_call(number, lambda: resumed_run(directory))
        results = Results.open(directory)  # never lost
        n = check_prefix(results)
        assert n >= RESTARTS[0] + 1
        assert results.status == "incomplete" or n == N_STEPS
        if number % 4 == 1 or not killed:
            resumed_run(directory)
            assert contents(directory / "results.h5") == contents(tmp_path / "whole" / "results.h5")
        if not killed:
            break
    else:
        pytest.fail("the run never ended")


def has_result(directory: Path) -> bool:
    try:
        Results.open(directory)
    except ResultsError as exc:
        assert "no result" in str(exc) or "no such folder" in str(exc)
        return False
    return True
