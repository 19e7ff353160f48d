"""Full disks, interrupts, lost files and damaged ones: one clear error, and no other values."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from written_results import (
    N_STEPS,
    begin,
    check_prefix,
    finish_run,
    go_on,
    row,
    whole_run,
)

from fem_mbs.errors import DiskFullError, ResultsError
from fem_mbs.files import get_text, put_text
from fem_mbs.results import store as results_store
from fem_mbs.results.reader import Results, export

h5py = pytest.importorskip("h5py")


def test_a_full_disk_is_one_clear_error_and_loses_nothing(tmp_path, monkeypatch):
    writer = begin(tmp_path, flush_seconds=0.0)
    go_on(writer, 0, 5)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(results_store.os, "fsync", full)
        with pytest.raises(ResultsError, match="No space left on device"):
            writer.append(*row(5))
    writer.flush()
    assert check_prefix(Results.open(tmp_path)) == 6
    assert not list(tmp_path.rglob("*.part"))


FULL = """
import resource, sys
from pathlib import Path
import numpy as np
from fem_mbs.errors import DiskFullError
from fem_mbs.hdf5 import create_hdf5
path = Path(sys.argv[1])
data = np.arange(3000.0).reshape(-1, 3)
def write():
    with create_hdf5(path, "Results file") as file:
        for i in range(20):
            group = file.create_group(f"steps/{i}")
            for j in range(8):
                dataset = group.create_dataset(f"{j}", data=data[: 20 * j + 20], chunks=(20, 3), fletcher32=True)
                dataset.attrs["name"] = np.bytes_(b"a name of some length")
        for i in range(20):
            file[f"steps/{i}/5"][3:70] = 1.0
write()
size, before = path.stat().st_size, path.read_bytes()
full = 0
for limit in [*range(0, size, size // 60), size - 1]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        write()
    except DiskFullError as error:
        assert str(path) in str(error) and "free space" in str(error), error
        full += 1
    assert path.read_bytes() == before and not path.with_name(path.name + ".part").exists()
print(full)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of processes")
def test_hdf5_survives_writes_that_fail_anywhere(tmp_path):
    """A limit of the file's size at 62 places: one error each time, no crash or complaint of the library."""
    command = [sys.executable, "-c", FULL, str(tmp_path / "a.h5")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 61


LIMITED = """
import resource, sys
from fem_mbs.cli import main as cli
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), resource.RLIM_INFINITY))
cli.main()
"""
CABLE = """
dimension = 2
gravity = [0.0, -9.81]
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
[[sensor]]
name = "tip"
kind = "position"
on = "cable:end"
[[step]]
type = "transient"
duration = 0.4
h = 0.004
frames = 100
restarts = 5
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of processes")
def test_a_full_disk_ends_a_run_in_one_error_and_it_can_go_on(tmp_path, fem_mbs):
    """Too little room for a file of rows, and for that of all of them: what was written before counts."""
    path = tmp_path / "cable.toml"
    path.write_text(CABLE, encoding="utf-8")
    assert fem_mbs("run", path, "-o", tmp_path / "whole", "-q")[0] == 0
    expected = Results.open(tmp_path / "whole").sensor("tip").values
    size = (tmp_path / "whole" / "results.h5").stat().st_size

    def limited(limit: int, folder: Path) -> str:
        # -B: the limit would cut files of byte code too
        command = [sys.executable, "-B", "-c", LIMITED, str(limit), "run", str(path), "-o", str(folder), "-q"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
        assert "cannot be written (File too large): free space or give another folder" in done.stderr
        return done.stderr

    at_once = tmp_path / "at once"
    assert "segments" in limited(24_000, at_once)
    assert Results.open(at_once).status.startswith("failed: ")
    code, _, err = fem_mbs("plot", at_once)
    assert code == 2 and "it holds no states (status of the run: failed: " in err and err.count("\n") == 1

    late = tmp_path / "late"
    said = limited(size // 2, late)
    assert f'"{late / "results.h5"}"' in said and f'fem-mbs export "{late}" joins its files' in said
    assert f"the results so far are in {late}" in said
    assert np.array_equal(Results.open(late).sensor("tip").values, expected)
    assert fem_mbs("export", late)[0] == 0
    assert (late / "results.h5").exists() and not (late / "segments").exists()
    assert np.array_equal(Results.open(late).sensor("tip").values, expected)


@pytest.mark.parametrize("lost", [2, -1])
def test_a_result_that_has_lost_a_file_is_not_done(tmp_path, monkeypatch, lost):
    """A run that came to its end, but found no room for results.h5."""
    writer = begin(tmp_path, flush_seconds=0.0)
    go_on(writer)
    with monkeypatch.context() as patch:
        patch.setattr("fem_mbs.results.writer.finish", lambda directory: None)
        finish_run(writer)
    assert Results.open(tmp_path).status == "done"
    segments = sorted((tmp_path / "segments").glob("0*.h5"))
    segments[lost].unlink()
    assert Results.open(tmp_path).status == "incomplete"
    export(tmp_path)
    assert not (tmp_path / "results.h5").exists()
    assert len(list((tmp_path / "segments").glob("0*.h5"))) == len(segments) - 1


@pytest.fixture
def interruptible():
    """Python's own handling of interrupts, which a job in the background of a shell does not have."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
def test_an_interrupt_waits_until_a_file_is_whole(tmp_path, interruptible):
    """HDF5 does not survive an exception in its calls for bytes either."""
    with pytest.raises(KeyboardInterrupt), results_store.create_file(tmp_path / "a.h5", "run") as file:
        signal.raise_signal(signal.SIGINT)
        put_text(file, "after", "it")
    with results_store.open_file(tmp_path / "a.h5") as file:
        assert get_text(file, "after") == "it"
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_failed_run_on_a_full_disk_says_what_it_can(tmp_path, monkeypatch):
    """Rows that find no room are lost, with an error; the reason of the failure is still told."""
    writer = begin(tmp_path, flush_seconds=1e9)
    go_on(writer, 0, 11)

    def full(path: Path, what: str) -> None:
        raise DiskFullError(f"{what} {path}: full")

    with monkeypatch.context() as patch:
        patch.setattr("fem_mbs.hdf5.create_hdf5", full)
        with pytest.raises(DiskFullError, match="full"):
            writer.fail("no convergence")
    results = Results.open(tmp_path)
    assert results.status == "failed: no convergence"
    assert check_prefix(results) == 9  # up to the restart point
    assert json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["status"] == "failed: no convergence"


def test_memory_does_not_grow_with_the_result(tmp_path):
    """32 MB of frames through a writer that holds 1 MB: the process may grow by a part of it only."""
    script = """
import resource, sys
import numpy as np
from fem_mbs.results.writer import ResultsWriter
nodes = np.zeros((20_000, 3))
header = {"title": "", "version": "", "dimension": 3, "nodes": nodes}
def run(n):
    writer = ResultsWriter(sys.argv[1], header, flush_bytes=1 << 20)
    writer.begin_step("s", "transient")
    for k in range(n):
        writer.append({"time": [k]}, {"time": [k], "displacement": nodes[None]})
    writer.end_step()
    writer.close()
run(2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run(66)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert grown < 8_000  # kB


# ---------------------------------------------------------------------------------------------- damage

DAMAGE = """
import random, sys
from pathlib import Path
import numpy as np
from fem_mbs.errors import ResultsError
from fem_mbs.results.reader import Results
path, seed = Path(sys.argv[1]), int(sys.argv[2])
def everything():
    results = Results.open(path.parent)
    out = [repr(results.header), repr(results.summary)]
    for step in results.steps:
        out += [repr(np.asarray(kind[name])) for kind in (step.series, step.frames) for name in kind]
    return out + [repr(results.restart(k)) for k in range(len(results.restart_points))]
whole, expected = path.read_bytes(), everything()
rng = random.Random(seed)
refused = 0
for trial in range(60):
    data = bytearray(whole)
    if trial % 4 == 0:
        data = data[: rng.randrange(len(data))]
    else:
        for _ in range(rng.choice((1, 4, 200))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    try:
        assert everything() == expected, "a wrong answer"
    except ResultsError:
        refused += 1
print(refused)
"""


@pytest.mark.parametrize("seed", [1, 2])
def test_damage_is_one_error_and_never_another_answer(tmp_path, seed):
    """Bits that flip anywhere in the file, and files that are cut: no crash of the library, no other values."""
    whole_run(tmp_path)
    command = [sys.executable, "-c", DAMAGE, str(tmp_path / "results.h5"), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 30


def test_a_damaged_result_of_an_older_version_is_tried_in_a_child(tmp_path):
    """Headers without checksums, as they were: the library crashes on some, so it does so elsewhere."""
    whole_run(tmp_path)
    path = tmp_path / "results.h5"
    with h5py.File(path) as source, h5py.File(tmp_path / "old.h5", "w") as file:
        for key, value in source.attrs.items():
            file.attrs[key] = value
        for key in source:
            source.copy(key, file)
    os.replace(tmp_path / "old.h5", path)
    assert check_prefix(Results.open(tmp_path)) == N_STEPS
    whole = path.read_bytes()
    for at in range(100, len(whole), len(whole) // 12):
        path.write_bytes(whole[:at] + bytes(512) + whole[at + 512 :])
        try:
            Results.open(tmp_path).steps[1].frames["displacement"][:]
        except ResultsError:
            continue
