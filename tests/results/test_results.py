"""Results on disk: what is written comes back, as arrays, tables and for ParaView."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from written_results import (
    HEADER,
    N_NODES,
    N_STEPS,
    begin,
    check_prefix,
    contents,
    finish_run,
    go_on,
    row,
    whole_run,
)

from fem_mbs.errors import ResultsError
from fem_mbs.results import store
from fem_mbs.results.folder import MARK
from fem_mbs.results.reader import Results, export
from fem_mbs.results.writer import ResultsWriter

h5py = pytest.importorskip("h5py")


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
    monkeypatch.setattr("fem_mbs.results.export.tables._CSV_ROWS", rows_at_once)
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


# ---------------------------------------------------------------------------------------------- ParaView


def xdmf_arrays(directory: Path, name: str = "results.xdmf") -> list[dict]:
    """Read an XDMF file with the standard XML parser; follow every reference into the HDF5 files."""
    found = []
    root = ElementTree.parse(directory / name).getroot()
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
                    whole = data = item.find("DataItem")
                    part = None
                    if data.get("ItemType") == "HyperSlab":
                        part, whole = data.findall("DataItem")
                    name, path = whole.text.split(":")
                    with h5py.File(directory / name, "r") as file:
                        array = file[path][()]
                    size = [int(number) for number in whole.get("Dimensions").split()]
                    assert np.prod(size) == array.size and array.dtype.itemsize == int(whole.get("Precision"))
                    if part is not None:
                        assert tuple(size) == array.shape
                        start, stride, count = np.array(part.text.split(), dtype=int).reshape(3, -1)
                        array = array[tuple(map(slice, start, start + stride * count, stride))][0]
                        assert np.prod([int(n) for n in data.get("Dimensions").split()]) == array.size
                    entry[item.get("Name") or item.tag] = array
                found.append(entry)
    return found


@pytest.mark.parametrize("state", ["finished", "with many frames", "killed"])
def test_xdmf_points_to_the_right_data(tmp_path, state, monkeypatch):
    if state == "with many frames":
        monkeypatch.setattr(store, "SPLIT_LIMIT", 0)
    writer = begin(tmp_path, flush_seconds=0.0)
    go_on(writer)
    if state != "killed":
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


def several_steps(directory: Path) -> None:
    """Write a static step whose load factors turn back, and one of modes without velocities; both have frames."""
    line = {"name": "rod", "type": "truss", "cell": "line", "connectivity": [[0, 1]]}
    with ResultsWriter(directory, {**HEADER, "nodes": np.eye(2, 3), "blocks": [line], "bodies": []}) as writer:
        for kind, times, names in (
            ("static", (0.0, 0.5, 0.25), ("displacement", "velocity")),
            ("modal", (1.0, 2.0), ()),
        ):
            writer.begin_step(kind, kind)
            values = np.tile(np.reshape(times, (-1, 1, 1)), (1, 2, 3))
            writer.append({"time": times}, {"time": times} | dict.fromkeys({"displacement", *names}, values))
            writer.end_step()
        writer.close()


def test_each_step_with_frames_has_a_file_for_paraview(tmp_path):
    several_steps(tmp_path)
    names = ["results-1-static.xdmf", "results-2-modal.xdmf"]
    assert sorted(path.name for path in tmp_path.glob("*.xdmf")) == names
    static, modal = (xdmf_arrays(tmp_path, name) for name in names)
    assert [grid["time"] for grid in static] == [0.0, 1.0, 2.0]  # ParaView needs times that increase
    assert [grid["displacement"][0, 0] for grid in static] == [0.0, 0.5, 0.25]
    assert [grid["time"] for grid in modal] == [1.0, 2.0]
    assert "velocity" in static[0] and "velocity" not in modal[0]
