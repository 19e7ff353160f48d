"""Results on disk: what is written comes back, whatever happens to the process that writes it."""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import TESTS

from fem_mbs.errors import DiskFullError, ResultsError
from fem_mbs.files import get_text, put_text
from fem_mbs.results import store as results_store
from fem_mbs.results.folder import MARK
from fem_mbs.results.reader import Results, ResultsWriter, export

h5py = pytest.importorskip("h5py")

N_NODES = 5
N_STEPS = 24
RESTARTS = (8, 16)
HEADER = {
    "title": "test",
    "version": "0.1",
    "dimension": 2,
    "nodes": np.column_stack([np.arange(N_NODES), np.zeros(N_NODES)]),
    "node_names": {"tip": 4},
    "model": {"elements": 4},
    "blocks": [
        {"name": "mesh:rod", "type": "beam2d", "connectivity": [[0, 1], [1, 2], [2, 3]], "outputs": ["moment [N m]"]},
        {"name": "cable", "type": "truss", "connectivity": [[3, 4]], "outputs": ["force [N]"]},
    ],
    "bodies": [{"name": "wheel", "node": 4, "points": [[0.0, 0.1, 0.0]]}],
    "sensors": [
        {"name": "tip", "kind": "position", "unit": "m", "columns": ["x", "y"], "mid_step": False},
        {"name": "reaction", "kind": "reaction", "unit": "N", "columns": ["x"], "mid_step": True},
    ],
    "ledger": ["kinetic", "strain", "driver work", "dissipation"],
}


def row(k: int) -> tuple[dict, dict | None, dict | None]:
    """What the test run appends at its row k: series, frames (every second row), restart point (at RESTARTS)."""
    t = 0.1 * k
    series = {
        "time": [t],
        "sensor/tip": [[np.cos(t), np.sin(t)]],
        "sensor/reaction": [[np.nan if k == 0 else 2.0 * t - 0.1 + 5.0 * (-1) ** k]],  # linear in time, ringing by +-5
        "ledger": [[3.0 + t, 1.0 - 2 * t, -0.5 * t, 0.5 * t]],
    }
    frames = None
    if k % 2 == 0:
        frames = {
            "time": [t],
            "displacement": np.full((1, N_NODES, 3), t),
            "mesh:rod/moment [N m]": np.full((1, 3, 2), -t),
            "cable/force [N]": [[t * t]],
        }
    restart = (
        {"time": t, "k": k, "x": np.arange(4.0) / 3 + k, "converged": True, "name": "s"} if k in RESTARTS else None
    )
    return series, frames, restart


def begin(directory: Path, title: str = "test", **options: Any) -> ResultsWriter:
    writer = ResultsWriter(directory, {**HEADER, "title": title}, **options)
    writer.begin_step("preload", "static", {"increments": 1})
    writer.append({"time": [0.0, 1.0], "load": [0.0, 1.0]}, restart={"time": 1.0, "k": -1})
    writer.end_step({"type": "static"})
    writer.begin_step("swing", "transient", {"h": 0.1})
    return writer


def go_on(writer: ResultsWriter, first: int = 0, last: int = N_STEPS) -> None:
    for k in range(first, last):
        writer.append(*row(k))


def finish_run(writer: ResultsWriter) -> None:
    writer.end_step({"n_steps": N_STEPS})
    writer.close({"title": "test", "steps": []})


def whole_run(directory: Path, title: str = "test", **options: Any) -> None:
    writer = begin(directory, title, **options)
    go_on(writer)
    finish_run(writer)


def contents(path: Path) -> dict[str, object]:
    """Every dataset and attribute of an HDF5 file but the identity of the run."""
    found: dict[str, object] = {}

    def visit(name: str, item: object) -> None:
        for key, value in item.attrs.items():
            found[f"{name}@{key}"] = value
        if isinstance(item, h5py.Dataset):
            value = item[()]
            found[name] = value if isinstance(value, bytes) else (value.dtype.str, value.shape, value.tobytes())

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def check_prefix(results: Results) -> int:
    """Check that the transient step holds the first rows of the test run, none missing; return how many."""
    if len(results.steps) < 2:
        return 0
    step = results.steps[1]
    if not len(step.series):
        assert not len(step.frames)
        return 0
    n = len(step.series["time"])
    for name, expected in row(0)[0].items():
        want = np.concatenate([row(k)[0][name] for k in range(n)])
        np.testing.assert_array_equal(step.series[name], want, err_msg=f"{name}, {np.shape(expected)}")
    frames = [row(k)[1] for k in range(n) if row(k)[1] is not None]
    for name in frames[0]:
        np.testing.assert_array_equal(step.frames[name][:], np.concatenate([frame[name] for frame in frames]))
    points = [k for k in RESTARTS if k < n]
    assert results.restart_points == [(0, 1.0)] + [(1, 0.1 * k) for k in points]
    for number, k in enumerate(points):
        state = results.restart(number + 1)
        assert (state["k"], state["converged"], state["name"], state["time"]) == (k, True, "s", 0.1 * k)
        assert state["x"].tobytes() == (np.arange(4.0) / 3 + k).tobytes()
    return n


# ---------------------------------------------------------------------------------------------- reading back


def test_finished_run_is_one_file(tmp_path):
    whole_run(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [MARK, "results.h5", "results.xdmf", "summary.json"]
    results = Results.open(tmp_path)
    assert results.status == "done" and results.complete
    assert check_prefix(results) == N_STEPS
    assert [(s.name, s.type, s.ended) for s in results.steps] == [
        ("preload", "static", True),
        ("swing", "transient", True),
    ]
    assert results.steps[1].info == {"h": 0.1} and results.steps[1].summary == {"n_steps": N_STEPS}
    assert json.loads((tmp_path / "summary.json").read_text())["status"] == "done"
    assert results.header["nodes"].shape == (N_NODES, 3)
    assert results.header["blocks"][0]["connectivity"].tolist() == [[0, 1], [1, 2], [2, 3]]
    assert results.node("tip") == 4
    np.testing.assert_allclose(results.steps[1].frame_times, 0.1 * np.arange(0, N_STEPS, 2))


def test_running_and_failed_results_are_readable(tmp_path):
    writer = begin(tmp_path, flush_seconds=0.0)
    go_on(writer, 0, 10)
    assert Results.open(tmp_path).status == "running"
    assert check_prefix(Results.open(tmp_path)) == 10
    with pytest.raises(ResultsError, match="another run is writing"):
        ResultsWriter(tmp_path, HEADER)
    with pytest.raises(ResultsError, match="another run is writing"):
        ResultsWriter.resume(tmp_path)
    writer.fail("step 11 did not converge")
    results = Results.open(tmp_path)
    assert results.status == "failed: step 11 did not converge" and not results.complete
    assert not results.steps[1].ended
    assert check_prefix(results) == 10
    assert json.loads((tmp_path / "summary.json").read_text())["status"] == results.status


def test_an_exception_makes_the_result_a_failed_one(tmp_path):
    with pytest.raises(ZeroDivisionError), begin(tmp_path) as writer:
        go_on(writer, 0, 3)
        raise ZeroDivisionError("no")
    assert Results.open(tmp_path).status == "failed: ZeroDivisionError: no"
    assert check_prefix(Results.open(tmp_path)) == 3


@pytest.mark.parametrize("options", [{"flush_seconds": 0.0}, {"flush_bytes": 700}, {"flush_seconds": 1e9}])
def test_the_final_file_does_not_depend_on_the_segments(tmp_path, options):
    whole_run(tmp_path / "a")
    whole_run(tmp_path / "b", **options)
    assert contents(tmp_path / "a" / "results.h5") == contents(tmp_path / "b" / "results.h5")


@pytest.mark.parametrize(
    "key",
    [0, -1, slice(None), slice(3, 9), slice(9, 3), slice(None, None, 3), slice(None, None, -2), [5, 1], (2, 1, 0)],
)
@pytest.mark.parametrize("finished", [True, False])
def test_frames_index_like_arrays(tmp_path, key, finished):
    writer = begin(tmp_path, flush_seconds=0.0)
    go_on(writer)
    if finished:
        finish_run(writer)
    column = Results.open(tmp_path).steps[1].frames["displacement"]
    want = np.concatenate([row(k)[1]["displacement"] for k in range(0, N_STEPS, 2)])
    assert column.shape == want.shape == np.asarray(column).shape
    np.testing.assert_array_equal(column[key], want[key])
    with pytest.raises(IndexError):
        column[len(want)]


def test_appended_arrays_are_copied(tmp_path):
    writer = ResultsWriter(tmp_path, HEADER, flush_seconds=1e9)
    writer.begin_step("a", "transient")
    data = np.zeros(1)
    for k in range(3):
        data[:] = k
        writer.append({"time": data})
    writer.end_step()
    writer.close()
    assert Results.open(tmp_path).steps[0].series["time"].tolist() == [0.0, 1.0, 2.0]


def test_names_of_any_kind(tmp_path):
    names = ["a/b", "a b", "a.b", "a_b", "µ [N/m]", ".", "sensor/x:y"]
    writer = ResultsWriter(tmp_path, HEADER)
    writer.begin_step("a/b: ü", "transient")
    writer.append({"time": [1.0], **{name: [float(k)] for k, name in enumerate(names)}})
    writer.end_step()
    writer.close()
    step = Results.open(tmp_path).steps[0]
    assert step.name == "a/b: ü"
    assert [step.series[name][0] for name in names] == list(range(len(names)))


def test_restart_values_keep_type_and_bits(tmp_path):
    state = {"time": 0.1, "n": 3, "flag": False, "text": "ä", "nan": float("nan"), "np": np.float64(1 / 3)}
    state |= {
        "a": np.array([1.0, -0.0, np.nan]),
        "i": np.arange(3, dtype=np.int32),
        "b": np.array([True]),
        "zero": np.array(2.0),
    }
    state |= {"empty": np.empty((0, 3))}
    writer = ResultsWriter(tmp_path, HEADER)
    writer.begin_step("s", "transient")
    writer.append(restart=state)
    writer.end_step()
    for _ in range(2):
        back = Results.open(tmp_path).restart(0)
        assert back.keys() == state.keys()
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                assert isinstance(back[name], np.ndarray) and back[name].dtype == value.dtype
                assert back[name].shape == value.shape and back[name].tobytes() == value.tobytes()
            else:
                assert isinstance(back[name], (bool, int, float, str)) and repr(back[name]) == repr(
                    getattr(value, "item", lambda v=value: v)()
                )
        if writer.directory.joinpath("segments").exists():
            writer.close()


# ---------------------------------------------------------------------------------------------- derived quantities


def test_mid_step_sensors_are_averaged_unless_raw(tmp_path):
    whole_run(tmp_path)
    results = Results.open(tmp_path)
    t, values, columns = results.sensor("reaction")
    assert columns == ["x"]
    np.testing.assert_allclose(t, 0.1 * np.arange(1, N_STEPS - 1))
    np.testing.assert_allclose(values[:, 0], 2 * t, atol=1e-14)  # the ringing is gone
    t, values, _ = results.sensor("reaction", raw=True)
    np.testing.assert_allclose(t, 0.1 * np.arange(1, N_STEPS) - 0.05)
    np.testing.assert_allclose(values[:, 0], 2 * t + 5 * (-1.0) ** np.arange(1, N_STEPS))
    t, values, columns = results.sensor("tip")
    assert len(t) == N_STEPS and columns == ["x", "y"] and values.shape == (N_STEPS, 2)


def test_step_size_places_the_middle_of_a_step(tmp_path):
    writer = ResultsWriter(tmp_path, HEADER)
    writer.begin_step("s", "transient")
    writer.append({"time": [0.0, 1.0, 3.0], "step size": [0.0, 0.5, 0.2], "sensor/reaction": [[np.nan], [1.0], [2.0]]})
    writer.end_step()
    writer.begin_step("conventional rule", "transient", {"mid_step": False})
    writer.append({"time": [4.0], "sensor/reaction": [[7.0]]})
    writer.end_step()
    writer.close()
    results = Results.open(tmp_path)
    t, values, _ = results.sensor("reaction", raw=True)
    np.testing.assert_allclose(t, [0.75, 2.9, 4.0])
    np.testing.assert_allclose(values[:, 0], [1, 2, 7])
    assert results.sensor("reaction", step=1).t.tolist() == [4.0]


def test_ledger_closes_by_name_of_the_columns(tmp_path):
    whole_run(tmp_path)
    ledger = Results.open(tmp_path).ledger()
    assert list(ledger) == ["time", "kinetic", "strain", "driver work", "dissipation", "total", "closing error"]
    t = ledger["time"]
    np.testing.assert_allclose(ledger["total"], 4.0 - t)
    np.testing.assert_allclose(ledger["closing error"], -t + 0.5 * t + 0.5 * t, atol=1e-14)
    wrong = {**HEADER, "ledger": ["kinetic", "strain", "driver work", "closing error"]}  # the run's own column counts
    writer = ResultsWriter(tmp_path, wrong)
    writer.begin_step("s", "transient")
    writer.append({"time": [0.0], "ledger": [[1.0, 2.0, 3.0, 0.25]]})
    writer.end_step()
    writer.close()
    ledger = Results.open(tmp_path).ledger()
    assert ledger["closing error"].tolist() == [0.25] and ledger["total"].tolist() == [3.0]


def test_works_go_on_from_step_to_step(tmp_path):
    """Of several steps one after another works and losses count on, energies and closing errors are as they are."""
    header = {**HEADER, "ledger": ["kinetic", "load work", "dissipated", "closing error"]}
    writer = ResultsWriter(tmp_path, header)
    for i in range(2):
        writer.begin_step(f"s{i}", "transient")
        writer.append({"time": [i, i + 1.0], "ledger": [[5.0 + i, 0.0, 0.0, 0.0], [6.0 + i, 3.0, 2.0, 1e-9]]})
        writer.end_step()
    writer.close()
    results = Results.open(tmp_path)
    ledger = results.ledger()
    assert ledger["load work"].tolist() == [0.0, 3.0, 3.0, 6.0]
    assert ledger["dissipated"].tolist() == [0.0, 2.0, 2.0, 4.0]
    assert ledger["kinetic"].tolist() == [5.0, 6.0, 6.0, 7.0]
    assert ledger["closing error"].tolist() == [0.0, 1e-9, 0.0, 1e-9]
    assert results.ledger(1)["load work"].tolist() == [0.0, 3.0]


@pytest.mark.parametrize("rows_at_once", [1, 3, 20_000])
def test_sensor_tables(tmp_path, monkeypatch, rows_at_once):
    monkeypatch.setattr("fem_mbs.results.reader._CSV_ROWS", rows_at_once)
    whole_run(tmp_path)
    (path,) = Results.open(tmp_path).write_sensors_csv()
    assert path.name == "sensors-2-swing.csv"
    with path.open(newline="", encoding="utf-8") as stream:
        head, *rows = csv.reader(stream)
    assert head == ["time [s]", "tip x [m]", "tip y [m]", "reaction x [N]"]
    assert len(rows) == N_STEPS
    assert rows[0][3] == rows[-1][3] == ""  # no second neighbour there
    table = np.array([[float(cell) for cell in line] for line in rows[1:-1]])
    np.testing.assert_array_equal(table[:, 1], np.cos(0.1 * np.arange(1, N_STEPS - 1)))
    np.testing.assert_allclose(table[:, 3], 2 * table[:, 0], atol=1e-13)


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
sys.path[:0] = [sys.argv[2], sys.argv[2] + "/results"]
from pathlib import Path
import test_results as t
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kill_at_every_change_of_the_disk(tmp_path):
    """A run that replaces an old result: at every moment there is the old one, a prefix of the new one, or none."""
    directory = tmp_path / "out"
    short_run(tmp_path / "old", "old")
    seen = set()
    for number in range(1, 1000):
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("finished", [True, False])
def test_kill_at_every_change_of_the_disk_while_resuming(tmp_path, finished):
    directory = tmp_path / "out"
    short_run(tmp_path / "whole", "test")
    writer = begin(tmp_path / "start")
    go_on(writer)
    finish_run(writer) if finished else writer._unlock()
    for number in range(1, 1000):
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


# ---------------------------------------------------------------------------------------------- ParaView


def xdmf_arrays(directory: Path) -> list[dict]:
    """Read results.xdmf with the standard XML parser; follow every reference into the HDF5 files."""
    found = []
    root = ElementTree.parse(directory / "results.xdmf").getroot()
    for collection in root.find("Domain"):
        assert collection.get("CollectionType") == "Temporal"
        for frame in collection:
            for grid in frame.findall("Grid"):
                entry = {
                    "step": collection.get("Name"),
                    "time": float(frame.find("Time").get("Value")),
                    "grid": grid.get("Name"),
                }
                for item in grid:
                    data = item.find("DataItem")
                    name, path = data.text.split(":")
                    with h5py.File(directory / name, "r") as file:
                        array = file[path][()]
                    size = [int(number) for number in data.get("Dimensions").split()]
                    assert np.prod(size) == array.size and array.dtype.itemsize == int(data.get("Precision"))
                    entry[item.get("Name") or item.tag] = array
                found.append(entry)
    return found


@pytest.mark.parametrize("state", ["finished", "killed"])
def test_xdmf_points_to_the_right_data(tmp_path, state):
    writer = begin(tmp_path, flush_seconds=0.0)
    go_on(writer)
    if state == "finished":
        finish_run(writer)
    else:
        writer._unlock()
        assert [path.name for path in export(tmp_path)] == ["results.xdmf", "sensors-2-swing.csv"]
    grids = xdmf_arrays(tmp_path)
    assert [grid["grid"] for grid in grids[:3]] == ["mesh:rod", "cable", "bodies"]
    assert len(grids) == 3 * N_STEPS // 2 and {grid["step"] for grid in grids} == {"2 swing"}
    for number, grid in enumerate(grids):
        t = 0.1 * 2 * (number // 3)
        assert grid["time"] == pytest.approx(t)
        np.testing.assert_allclose(grid["displacement"], np.full((N_NODES, 3), t))
        np.testing.assert_array_equal(grid["Geometry"][:, 0], np.arange(N_NODES))
    np.testing.assert_allclose(grids[-3]["moment [N m]"], np.full((3, 2), -2.2))
    np.testing.assert_allclose(grids[-2]["force [N]"], [2.2**2])
    assert grids[-1]["Topology"].tolist() == [[4]]
    assert "moment [N m]" not in grids[-2]


# ---------------------------------------------------------------------------------------------- wrong use


@pytest.mark.parametrize("name", ["thesis.docx", "figures/mine.png", "part-a.h5", "sensors-9-a.csv", "vtu/1-a.vtu"])
def test_files_of_others_are_left_alone(tmp_path, name):
    """Also those whose names look like names of ours: what counts is the list in the mark."""
    mine = tmp_path / name
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    with pytest.raises(ResultsError, match=f"holds .*{name.split('/')[0]}.*, not written by fem-mbs"):
        ResultsWriter(tmp_path, HEADER)
    assert [path.name for path in tmp_path.iterdir()] == [name.split("/")[0]]
    writer = begin(tmp_path, overwrite=True)
    go_on(writer)
    finish_run(writer)
    Results.open(tmp_path).write_sensors_csv()
    whole_run(tmp_path)  # the folder has a mark now
    assert not list(tmp_path.glob("sensors-2*"))
    writer = ResultsWriter.resume(tmp_path)
    go_on(writer, RESTARTS[-1] + 1)
    finish_run(writer)
    assert mine.read_text() == "mine"
    assert check_prefix(Results.open(tmp_path)) == N_STEPS


def test_no_product_replaces_a_file_of_others(tmp_path):
    whole_run(tmp_path)
    mine = tmp_path / "sensors-2-swing.csv"
    mine.write_text("mine")
    with pytest.raises(ResultsError, match=r"sensors-2-swing\.csv.* was not written by fem-mbs"):
        Results.open(tmp_path).write_sensors_csv()
    whole_run(tmp_path)
    assert mine.read_text() == "mine"
    mine.unlink()
    for _ in range(2):  # its own is written again
        Results.open(tmp_path).write_sensors_csv()


def test_strange_files_among_the_segments_are_refused(tmp_path):
    whole_run(tmp_path)
    (tmp_path / "segments").mkdir()
    (tmp_path / "segments" / "notes.txt").write_text("mine")
    for begin_again in (lambda: ResultsWriter(tmp_path, HEADER), lambda: ResultsWriter.resume(tmp_path)):
        with pytest.raises(ResultsError, match="not written by fem-mbs"):
            begin_again()
    assert (tmp_path / "segments" / "notes.txt").read_text() == "mine"
    assert check_prefix(Results.open(tmp_path)) == N_STEPS


@pytest.mark.parametrize("by", ["file", "title"])
def test_the_folder_of_another_model_is_refused(tmp_path, by):
    """Two models of one stem share a default folder."""
    first, second = ({"source": tmp_path / d / "rod.toml"} if by == "file" else {} for d in "ab")
    folder = tmp_path / "rod-results"
    titles = ("rod", "rod") if by == "file" else ("rod", "other rod")
    for _ in range(2):
        whole_run(folder, titles[0], **first)
    before = contents(folder / "results.h5")
    with pytest.raises(ResultsError, match=r"holds results of the model .*-o, or --overwrite"):
        ResultsWriter(folder, {**HEADER, "title": titles[1]}, **second)
    assert contents(folder / "results.h5") == before
    whole_run(folder, titles[1], **second, overwrite=True)
    with pytest.raises(ResultsError, match="holds results of the model"):
        ResultsWriter(folder, {**HEADER, "title": titles[0]}, **first)


def test_results_move_with_their_model(tmp_path):
    whole_run(tmp_path / "a" / "out", source=tmp_path / "a" / "rod.toml")
    (tmp_path / "a").rename(tmp_path / "b")
    whole_run(tmp_path / "b" / "out", source=tmp_path / "b" / "rod.toml")


def test_a_list_that_leads_out_of_the_folder_removes_nothing(tmp_path):
    folder = tmp_path / "out"
    whole_run(folder)
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.png").write_text("mine")
    (folder / "figures").symlink_to(tmp_path / "elsewhere")
    mark = json.loads((folder / MARK).read_text())
    mark["files"] += ["../mine.txt", str(tmp_path / "mine.txt"), "figures/a.png", "figures/../../mine.txt"]
    (folder / MARK).write_text(json.dumps(mark))
    whole_run(folder)
    assert (tmp_path / "mine.txt").exists()
    assert (tmp_path / "elsewhere" / "a.png").exists()


def test_inputs_of_the_model_are_not_removed(tmp_path):
    whole_run(tmp_path)
    table = Results.open(tmp_path).write_sensors_csv()[0]
    with pytest.raises(ResultsError, match=f"the model reads .*{table.name}"):
        ResultsWriter(tmp_path, HEADER, inputs=[table])
    assert table.exists()
    assert Results.open(tmp_path).complete


@pytest.mark.parametrize("text", ["", "[]", '{"format": "fem-mbs folder", "version": 1}', '{"format": "other"}'])
def test_a_damaged_mark_is_refused(tmp_path, text):
    whole_run(tmp_path)
    (tmp_path / MARK).write_text(text)
    with pytest.raises(ResultsError, match=r"mark of fem-mbs|cannot be read"):
        ResultsWriter(tmp_path, HEADER)
    assert Results.open(tmp_path).complete


def test_a_result_without_a_mark_can_be_continued(tmp_path):
    whole_run(tmp_path / "old")
    (tmp_path / "new").mkdir()
    shutil.copy(tmp_path / "old" / "results.h5", tmp_path / "new")
    writer = ResultsWriter.resume(tmp_path / "new")
    go_on(writer, RESTARTS[-1] + 1)
    finish_run(writer)
    assert check_prefix(Results.open(tmp_path / "new")) == N_STEPS
    (tmp_path / "new" / MARK).unlink()
    (tmp_path / "new" / "sensors-1.csv").write_text("mine")
    with pytest.raises(ResultsError, match=r"sensors-1\.csv"):
        ResultsWriter.resume(tmp_path / "new")


def test_a_file_put_among_the_segments_stays(tmp_path):
    writer = begin(tmp_path)
    go_on(writer)
    (tmp_path / "segments" / "notes.txt").write_text("mine")
    finish_run(writer)
    assert [path.name for path in (tmp_path / "segments").iterdir()] == ["notes.txt"]
    assert check_prefix(Results.open(tmp_path)) == N_STEPS


@pytest.mark.parametrize("kind", ["text", "hdf5"])
def test_a_strange_results_file_is_refused(tmp_path, kind):
    path = tmp_path / "results.h5"
    if kind == "text":
        path.write_text("not ours")
    else:
        h5py.File(path, "w").close()
    with pytest.raises(ResultsError, match="not written by fem-mbs"):
        ResultsWriter(tmp_path, HEADER)
    with pytest.raises(ResultsError, match=r"results\.h5"):
        Results.open(tmp_path)


def test_a_result_of_another_version_is_not_read_but_replaced(tmp_path):
    whole_run(tmp_path)
    with h5py.File(tmp_path / "results.h5", "a") as file:
        file.attrs["format_version"] = 999
    with pytest.raises(ResultsError, match="format 999"):
        Results.open(tmp_path)
    whole_run(tmp_path)
    assert Results.open(tmp_path).complete


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": None}, "nodes missing"),
        ({"nodes": np.zeros(3)}, "nodes has the shape"),
        ({"blocks": [{"name": "a", "type": "t", "connectivity": [[0, 9]]}]}, 'block "a"'),
        ({"blocks": [{"name": "a", "type": "t", "connectivity": [[0, 1]]}] * 2}, 'two blocks are called "a"'),
        ({"sensors": [{"name": "s"}] * 2}, 'two sensors are called "s"'),
        ({"bodies": [{"name": "b", "node": 7}]}, 'body "b" names node 7'),
    ],
)
def test_wrong_headers(tmp_path, change, message):
    header = {key: value for key, value in {**HEADER, **change}.items() if value is not None}
    with pytest.raises(ResultsError, match=message):
        ResultsWriter(tmp_path / "out", header)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"series": {"x": [1.0]}}, 'no "time"'),
        ({"series": {"time": [1.0], "x": [1.0, 2.0]}}, '"x" has 2 rows'),
        ({"series": {"time": 1.0}}, '"time" is not an array'),
        ({"series": {"time": [1.0], "x": ["a"]}}, '"x" is not an array of real numbers'),
        ({"series": {"time": [1.0], "load": [1]}}, '"load" was'),
        ({"series": {"time": [1.0]}}, '"load" was'),
        ({"restart": {"x": 1}}, 'no entry "time"'),
        ({"restart": {"time": 1.0, "x": [1]}}, '"x" is a list'),
    ],
)
def test_wrong_rows_change_nothing(tmp_path, given, message):
    writer = ResultsWriter(tmp_path, HEADER)
    writer.begin_step("s", "transient")
    writer.append({"time": [0.0], "load": [0.0]})
    with pytest.raises(ResultsError, match=message):
        writer.append(**given)
    writer.append({"time": [1.0], "load": [1.0]})
    writer.end_step()
    writer.close()
    step = Results.open(tmp_path).steps[0]
    assert step.series["time"].tolist() == step.series["load"].tolist() == [0.0, 1.0]


def test_calls_in_the_wrong_order(tmp_path):
    writer = ResultsWriter(tmp_path, HEADER)
    with pytest.raises(ResultsError, match="call begin_step first"):
        writer.append({"time": [0.0]})
    writer.begin_step("s", "transient")
    with pytest.raises(ResultsError, match="call end_step first"):
        writer.begin_step("t", "transient")
    with pytest.raises(ResultsError, match="call end_step first"):
        writer.close()
    writer.end_step()
    writer.close()
    with pytest.raises(ResultsError, match="is closed"):
        writer.begin_step("t", "transient")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.sensor("nose"), 'no sensor "nose": there are tip, reaction'),
        (lambda r: r.sensor("tip", step=0), 'no step holds "sensor/tip"'),
        (lambda r: r.sensor("tip", step=9), "2 steps, no number 9"),
        (lambda r: r.restart(7), "3 restart points, no number 7"),
        (lambda r: r.node("nose"), 'no node "nose"'),
        (lambda r: r.node(99), 'no node "99"'),
        (lambda r: r.steps[1].frames["velocity"], 'no frames "velocity": there are'),
        (lambda r: ResultsWriter.resume(r.directory, 5), "3 restart points, no number 5"),
    ],
)
def test_asking_for_what_is_not_there(tmp_path, ask, message):
    whole_run(tmp_path)
    with pytest.raises(ResultsError, match=message):
        ask(Results.open(tmp_path))
    assert Results.open(tmp_path).complete


def test_no_result(tmp_path):
    with pytest.raises(ResultsError, match="no such folder"):
        Results.open(tmp_path / "nowhere")
    with pytest.raises(ResultsError, match="no result in it"):
        Results.open(tmp_path)


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
        command = [sys.executable, "-c", LIMITED, str(limit), "run", str(path), "-o", str(folder), "-q"]
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
from fem_mbs.results.reader import ResultsWriter
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
