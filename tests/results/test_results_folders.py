"""Folders of results: files of others, marks, wrong headers and rows, calls in the wrong order."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from written_results import (
    HEADER,
    N_STEPS,
    RESTARTS,
    begin,
    check_prefix,
    contents,
    finish_run,
    go_on,
    whole_run,
)

from fem_mbs.errors import ResultsError
from fem_mbs.results import store
from fem_mbs.results.folder import MARK
from fem_mbs.results.reader import Results
from fem_mbs.results.writer import ResultsWriter

h5py = pytest.importorskip("h5py")


# ---------------------------------------------------------------------------------------------- one run at a time


def test_a_run_keeps_its_folder_to_itself(tmp_path):
    """From the first file to the last table; a folder into which nothing was written goes."""
    folder = tmp_path / "out"
    with store.held(folder):
        other = store.held(folder, wait=0.05)
        with pytest.raises(ResultsError, match=r'"[^"]*out": another run is writing into it'), other:
            raise AssertionError("two runs in one folder")
        whole_run(folder)
    assert Results.open(folder).complete
    with store.held(folder):
        pass
    assert Results.open(folder).complete
    with pytest.raises(ZeroDivisionError), store.held(tmp_path / "empty"):
        raise ZeroDivisionError
    assert not (tmp_path / "empty").exists()
    (tmp_path / "file").write_text("")
    with store.held(tmp_path / "file" / "out"):  # cannot be made: what writes into it says so
        pass


def test_results_that_another_run_replaces_end_in_one_error(tmp_path):
    whole_run(tmp_path)
    results = Results.open(tmp_path)
    (tmp_path / "results.h5").unlink()
    with pytest.raises(ResultsError, match=r"results\.h5.*(missing|meanwhile).*open the folder again"):
        results.restart()


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
