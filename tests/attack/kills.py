"""Cases of killed processes: SIGKILL at a random instant of runs, reductions and sweeps.  No stored row may be lost,
and a repeated or continued process must give the same bits as one that was never stopped."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fem_mbs.errors import ModelError, ResultsError

from . import seeds
from .guard import Attack, Case, Wrong

__all__ = ["ATTACKS", "CABLE"]

CABLE = """
title = "cable"
dimension = 2
gravity = [0.0, -9.81]
[parameters]
load = 1.0
[mesh.cable]
line = {start = [0.0, 0.0], end = [10.0, 0.0], n = 40}
[section.rope]
shape = "stiffness"
EA = 1e4
rhoA = 1.0
[[truss]]
name = "cable"
on = "cable"
section = "rope"
[[support]]
on = "cable:start"
[[force]]
on = "cable:end"
vector = ["load", 0]
[[sensor]]
name = "tip"
kind = "position"
on = "cable:end"
[[step]]
type = "transient"
duration = 1.6
h = 0.004
frames = 100
restarts = 8
"""
_KILLS = 3  # largest number of kills, one after another, before the run may end


def killed_after(work: Callable[[], object], seconds: float | None) -> bool:
    """Do ``work`` in a forked process that is killed after ``seconds`` (None: never); return whether it was killed.

    Raises:
        Wrong: the process has ended by itself with an error.
    """
    pid = os.fork()
    if not pid:
        code = 1
        with contextlib.suppress(BaseException):
            work()
            code = 0
        os._exit(code)
    if seconds is not None:
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    how = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if how not in (0, -signal.SIGKILL):
        raise Wrong(f"what follows a kill ends with {how}")
    return how != 0


def _rows(folder: Path) -> dict[str, np.ndarray]:
    """Return series and frames of all steps."""
    from fem_mbs.results.reader import Results

    steps = Results.open(folder).steps
    return {
        f"{step.number} {kind} {name}": np.asarray(getattr(step, kind)[name])
        for step in steps
        for kind in ("series", "frames")
        for name in getattr(step, kind)
    }


def _check_prefix(folder: Path, whole: dict[str, np.ndarray]) -> int:
    """Check that the rows of a killed run are the first ones of the whole run, and return their number."""
    try:
        found = _rows(folder)
    except ResultsError as error:
        if "no result in it" in str(error) or "no such folder" in str(error):
            return 0
        raise Wrong(f"after a kill: {error}") from error
    for name, values in found.items():
        if not np.array_equal(values, whole[name][: len(values)], equal_nan=True):
            raise Wrong(f"after a kill {name} has other rows")
    return max((len(values) for values in found.values()), default=0)


def _runs(folder: Path) -> Case:
    from fem_mbs.analysis.run import run
    from fem_mbs.modelfile.read import load_model
    from fem_mbs.results.reader import Results

    path = folder / "cable.toml"
    path.write_text(CABLE)
    began = time.monotonic()
    run(load_model(path), folder / "first", source=path)
    began, _ = time.monotonic(), run(load_model(path), folder / "whole", source=path)
    usual = time.monotonic() - began
    whole = _rows(folder / "whole")
    work = folder / "work"

    def go_on() -> None:
        with contextlib.suppress(ResultsError):
            Results.open(work)
            run(load_model(path), work, source=path, restart=-1)
            return
        run(load_model(path), work, source=path)

    def case(seed: int) -> str:
        rng = random.Random(seed)
        shutil.rmtree(work, ignore_errors=True)
        kills = left = 0
        for _ in range(rng.randint(1, _KILLS)):
            kills += killed_after(go_on, rng.uniform(0.0, 1.1) * usual)
            rows = _check_prefix(work, whole)
            if rows < left:
                raise Wrong(f"{left} rows were there before a kill, {rows} after it")
            try:  # a continued run drops what follows its last restart point
                points = Results.open(work).restart_points
            except ResultsError:
                points = []
            left = 1 if points else 0
        status = ""
        with contextlib.suppress(ResultsError):
            status = Results.open(work).status
        if status != "done":
            killed_after(go_on, None)
        found = _rows(work)
        if found.keys() != whole.keys() or not all(np.array_equal(found[k], whole[k], equal_nan=True) for k in whole):
            raise Wrong("the continued run has other rows than one that was never stopped")
        return f"whole after {kills} kills"

    return case


def _reductions(folder: Path) -> Case:
    from test_convert_parts import block

    from fem_mbs.analysis.reduction.reduce import reduce_part
    from fem_mbs.parts.formats import read_part, write_part

    ends = {"left": "box:x0", "right": "box:x1"}
    old, new = (reduce_part(block(), ends, modes=n) for n in (2, 4))
    began = time.monotonic()
    reduce_part(block(), ends, modes=4)
    write_part(folder / "time.h5", new)
    usual = time.monotonic() - began

    def case(seed: int) -> str:
        rng = random.Random(seed)
        place = folder / rng.choice(("a.h5", "parts"))
        shutil.rmtree(place, ignore_errors=True)
        place.unlink(missing_ok=True)
        write_part(place, old)
        late = rng.random() < 0.5  # kill during writing only, or at any time

        def work() -> None:
            write_part(place, new if late else reduce_part(block(), ends, modes=4))

        writing = 0.3 if late else 1.1
        killed = killed_after(work, rng.uniform(0.0, writing) * usual)
        try:
            sizes = {read_part(place).size}
        except ModelError as error:
            if place.suffix == ".h5":
                raise Wrong(f"after a kill: {error}") from error
            sizes = set()  # a folder without part.json is not a part yet
        if not sizes <= {old.size, new.size}:
            raise Wrong(f"a part of {sizes} coordinates")
        killed_after(work, None)
        if not np.array_equal(read_part(place).stiffness, new.stiffness):
            raise Wrong("the part that was written again differs")
        return "whole after 1 kills" if killed else "ended before the kill"

    return case


def _sweeps(folder: Path) -> Case:
    path = folder / "cable.toml"
    path.write_text(CABLE)

    def sweep(out: Path) -> subprocess.Popen:
        command = [sys.executable, "-m", "fem_mbs", "sweep", path, "--set", "load=1:6:6", "-o", out, "--workers", "2"]
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([str(word) for word in command], **quiet, start_new_session=True, cwd=seeds.ROOT)

    def ended(process: subprocess.Popen) -> None:
        _, err = process.communicate()
        if process.returncode:
            raise Wrong(f"a sweep ends with {process.returncode}: {err.decode(errors='replace')[-300:]}")

    def columns(out: Path) -> list[list[str]]:
        lines = (out / "sweep.csv").read_text(encoding="utf-8").splitlines()
        timed = [k for k, name in enumerate(lines[0].split(",")) if "seconds" in name]
        return [[v for k, v in enumerate(line.split(",")) if k not in timed] for line in lines]

    began = time.monotonic()
    ended(sweep(folder / "whole"))
    usual = time.monotonic() - began
    whole = columns(folder / "whole")

    def case(seed: int) -> str:
        rng = random.Random(seed)
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        process = sweep(out)
        time.sleep(rng.uniform(0.0, 1.0) * usual)
        killed = process.poll() is None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        ended(sweep(out))
        if columns(out) != whole:
            raise Wrong("the sweep that went on has another table")
        return "whole after 1 kills" if killed else "ended before the kill"

    return case


_TRIED = "SIGKILL at random instants of"
ATTACKS = {
    "killed-runs": Attack("killed-runs", f"{_TRIED} runs, up to {_KILLS} before each goes on", _runs, 60.0, False),
    "killed-reductions": Attack(
        "killed-reductions", f"{_TRIED} reductions that replace a part", _reductions, 60.0, False
    ),
    "killed-sweeps": Attack("killed-sweeps", f"{_TRIED} sweeps with all their workers", _sweeps, 300.0, False, False),
}  # fmt: skip
