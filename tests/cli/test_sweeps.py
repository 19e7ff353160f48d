"""Sweeps: variants side by side, what is kept and what is run again, tables, figures, the command line."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from fem_mbs import Results, SweepTable, load_model, run, sweep
from fem_mbs.cluster import TaskFailure, TaskPool, TaskProgress
from fem_mbs.errors import AnalysisError, InputError, ModelError, ResultsError
from fem_mbs.files import version
from fem_mbs.plot.sweep import plot_sweep
from fem_mbs.results.folder import claim
from fem_mbs.sweeps.quantities import collect
from fem_mbs.sweeps.sweep import _find_others, plan_sweep, run_variant

pytest.importorskip("distributed")

LENGTH, E, DENSITY = 0.8, 2.1e11, 7850.0
BEAM = f"""
title = "A cantilever"
dimension = 2
[material.steel]
E = {E}
nu = 0.3
density = {DENSITY}
[section.rod]
shape = "circle"
diameter = 0.01
[mesh.m]
line = {{ start = [0, 0], end = [{LENGTH}, 0], n = 8 }}
[[beam]]
name = "rod"
on = "m"
section = "rod"
material = "steel"
[[support]]
on = "m:start"
[[force]]
name = "push"
on = "m:end"
vector = [0, 1]
[[sensor]]
name = "tip"
kind = "displacement"
on = "m:end"
[[step]]
type = "modes"
count = 3
[[step]]
type = "linear_static"
"""


@pytest.fixture(scope="module")
def pool():
    with TaskPool(2) as opened:
        yield opened


@pytest.fixture
def model(tmp_path) -> Path:
    path = tmp_path / "model.toml"
    path.write_text(BEAM, encoding="utf-8")
    return path


def seen_by(path: Path) -> float:
    return (path / "results.h5").stat().st_mtime_ns


def test_a_sweep_follows_the_theory(pool, model, tmp_path):
    """First frequency of a slender cantilever, (1.8751/L)^2 sqrt(E I / rho A) / 2 pi, and its tip's displacement under
    a force, F L^3 / 3 E I, over the diameter."""
    table = sweep(model, {"section.rod.diameter": [0.01, 0.02, 0.015]}, tmp_path / "out", scheduler=pool.address)
    d = table.column("diameter")
    assert list(d) == [0.01, 0.02, 0.015]
    expected = (1.87510407 / LENGTH) ** 2 * np.sqrt(E / DENSITY) * d / 4.0 / (2.0 * np.pi)
    assert table.column("modes.frequency_1") == pytest.approx(expected, rel=2e-3)
    expected = LENGTH**3 / (3.0 * E * np.pi * d**4 / 64.0)
    assert table.column("linear_static.largest_displacement") == pytest.approx(expected, rel=2e-3)
    assert [row.status for row in table.rows] == ["done"] * 3
    assert table.units["modes.frequency_1"] == "Hz"
    assert not table.failed
    # a variant's folder is what a run of its file gives
    folder = tmp_path / "out" / table.rows[1].folder
    assert Results.open(folder).status == "done"
    assert json.loads((folder / "summary.json").read_text(encoding="utf-8"))["status"] == "done"
    alone = run(load_model(folder / "variant.toml"), tmp_path / "alone")
    assert table.rows[1].quantities == {name: value for name, value, _ in collect(alone)}


def test_a_variant_can_be_run_again_in_its_place(pool, model, tmp_path, fem_mbs):
    """Beside its own files, which are not removed."""
    table = sweep(model, ["section.rod.diameter=0.01"], tmp_path / "out", scheduler=pool.address)
    folder = tmp_path / "out" / table.rows[0].folder
    assert fem_mbs("run", folder / "variant.toml", "-o", folder, "-q") == (0, "", "")
    assert (folder / "variant.toml").is_file()
    assert (folder / "variant.json").is_file()


def test_only_what_is_missing_or_failed_or_changed_is_run(pool, model, tmp_path):
    out = tmp_path / "out"
    (tmp_path / "rod.csv").write_text("0,0\n1,1\n", encoding="utf-8")
    model.write_text(
        BEAM
        + '[[step]]\ntype = "transient"\nduration = 0.01\nh = 0.001\n[function.f]\nkind = "csv"\nfile = "rod.csv"\n',
        encoding="utf-8",
    )
    first = sweep(model, ["section.rod.diameter=0.01,0.012,-1"], out, scheduler=pool.address)
    assert [row.status for row in first.rows] == ["done", "done", "failed"]
    assert "diameter" in first.rows[2].reason
    assert np.isnan(first.column("modes.frequency_1")[2])
    done = {row.folder: seen_by(out / row.folder) for row in first.rows[:2]}

    # one more value: what is there is kept, what has failed is tried again
    plan = plan_sweep(model, ["section.rod.diameter=0.011,0.01,0.012,-1"], out)
    assert [plan.variants[k].values for k in plan.waiting] == [(0.011,), (-1,)]
    assert plan.notes == ["2 of 4 variants are there already and are kept", "1 failed before and is tried again"]
    told = []
    second = sweep(model, ["section.rod.diameter=0.011,0.01,0.012"], out, scheduler=pool.address, progress=told.append)
    assert told[-1].total == 1
    assert [row.status for row in second.rows] == ["done"] * 3
    assert done == {folder: seen_by(out / folder) for folder in done}
    assert np.all(np.isfinite(second.column("modes.frequency_1")))
    assert (
        "1 variants in the folder have other values"
        in plan_sweep(model, ["section.rod.diameter=0.01,0.011,0.012"], out).notes[-1]
    )

    # nothing to do: no cluster is needed
    third = sweep(model, ["section.rod.diameter=0.011,0.01,0.012"], out, scheduler="tcp://127.0.0.1:9")
    assert third.rows == second.rows

    # a comment changes nothing; a number, or a table that the file names, does
    text = model.read_text(encoding="utf-8")
    model.write_text("# new\n" + text, encoding="utf-8")
    assert not plan_sweep(model, ["section.rod.diameter=0.01"], out).waiting
    (tmp_path / "rod.csv").write_text("0,0\n1,2\n", encoding="utf-8")
    plan = plan_sweep(model, ["section.rod.diameter=0.01,0.012"], out)
    assert len(plan.waiting) == 2
    assert "has changed since 2 of the variants were run: run again" in plan.notes[0]
    (tmp_path / "rod.csv").write_text("0,0\n1,1\n", encoding="utf-8")
    model.write_text(text.replace("count = 3", "count = 2"), encoding="utf-8")
    changed = sweep(model, ["section.rod.diameter=0.01,0.012"], out, scheduler=pool.address)
    assert "modes.frequency_3" not in changed.units
    assert all(seen_by(out / row.folder) > done[row.folder] for row in changed.rows)
    assert len(plan_sweep(model, ["section.rod.diameter=0.01,0.012"], out, again=True).waiting) == 2


def test_variants_of_another_version_are_run_again(pool, model, tmp_path, monkeypatch):
    """One that differs in the third number is kept."""
    out, values = tmp_path / "out", ["section.rod.diameter=0.01"]
    (row,) = sweep(model, values, out, scheduler=pool.address).rows
    first, second, *_ = version().split(".")
    for other, kept in ((f"{first}.{second}.99", True), (f"{first}.{int(second) + 1}.0", False)):
        monkeypatch.setattr("fem_mbs.files.version", lambda other=other: other)
        plan = plan_sweep(model, values, out)
        assert plan.waiting == ([] if kept else [0])
        assert ("another version of fem-mbs than this, " in plan.notes[0]) is not kept
        _find_others(plan)
        assert bool(plan.waiting) is not kept
    monkeypatch.undo()
    record = json.loads((out / row.folder / "variant.json").read_text())
    assert record["version"] == version()


def test_a_variant_that_now_fails_keeps_no_results(pool, model, tmp_path):
    out = tmp_path / "out"
    sweep(model, ["section.rod.diameter=0.01"], out, scheduler=pool.address)
    model.write_text(BEAM.replace('"m:end"\nvector', '"m:middle"\nvector'), encoding="utf-8")
    table = sweep(model, ["section.rod.diameter=0.01"], out, scheduler=pool.address)
    assert 'no set "middle"' in table.rows[0].reason or "middle" in table.rows[0].reason
    names = sorted(p.name for p in (out / table.rows[0].folder).iterdir())
    assert names == ["fem-mbs.json", "variant.json", "variant.toml"]


def killed_once(folder: str, *rest) -> dict:
    """Kill the worker in the middle of the first variant that comes here: at its second report."""
    import fem_mbs.sweeps.sweep as module

    marker, reports = Path(folder).parents[1] / "killed", []

    class Watch(module._Watch):
        def __call__(self, p) -> None:
            reports.append(p)
            if len(reports) == 2 and not marker.exists():
                marker.write_text(str(os.getpid()), encoding="utf-8")
                os.kill(os.getpid(), signal.SIGKILL)

    before, module._Watch = module._Watch, Watch
    try:
        return run_variant(folder, *rest)
    finally:
        module._Watch = before


def test_a_killed_worker_does_not_end_a_sweep(pool, model, tmp_path, monkeypatch):
    """Its variant is run again from the start, over what it has left, and the others go on."""
    model.write_text(BEAM + '[[step]]\ntype = "transient"\nduration = 0.02\nh = 1e-5\n', encoding="utf-8")
    monkeypatch.setattr("fem_mbs.sweeps.sweep.run_variant", killed_once)
    told = []
    table = sweep(
        model, ["section.rod.diameter=0.01,0.012"], tmp_path / "out", scheduler=pool.address, progress=told.append
    )
    assert int((tmp_path / "out" / "killed").read_text(encoding="utf-8")) not in pool._client.run(os.getpid).values()
    assert [row.status for row in table.rows] == ["done"] * 2
    assert [p.failed for p in told] == [0] * len(told)
    assert table.column("transient.energy.closing_error_relative").max() < 1e-9
    assert len(Results.open(tmp_path / "out" / table.rows[0].folder).steps[2].series["time"]) == 2001


def test_a_variant_that_kills_every_worker_is_a_failure(pool, model, tmp_path, monkeypatch):
    settings = ["section.rod.diameter=0.01,0.012"]

    def killing(function, arguments, progress, **options) -> list:
        lost = TaskFailure(1, AnalysisError("the worker process has died in each of 3 attempts"), 3)
        found = [function(*arguments[0]), lost]
        for k, result in enumerate(found):
            progress(TaskProgress(2, 1, k, 0, 1 - k, 1, 0.1, k, result))
        return found

    with monkeypatch.context() as patched:
        patched.setattr("fem_mbs.sweeps.sweep.run_tasks", killing)
        told = []
        table = sweep(model, settings, tmp_path / "out", progress=told.append)
    assert [row.status for row in table.rows] == ["done", "failed"]
    assert "died in each of 3 attempts" in table.rows[1].reason
    assert (told[-1].done, told[-1].failed) == (1, 1)
    plan = plan_sweep(model, settings, tmp_path / "out")
    assert [plan.variants[k].values for k in plan.waiting] == [(0.012,)]
    table = sweep(model, settings, tmp_path / "out", scheduler=pool.address)
    assert [row.status for row in table.rows] == ["done"] * 2


def test_pairs_words_and_places(pool, model, tmp_path):
    """Words, vectors, and lengths of meshes, paired; columns of what is no number."""
    settings = ["section.rod.shape=circle,circle", "mesh.m.line.n=4,8"]
    with pytest.raises(ModelError, match="is given twice"):
        sweep(model, settings, tmp_path / "out", zip=True)
    settings = {"force.push.vector": [[0, 1], [1, 0]], "mesh.m.line.n": [4, 8]}
    table = sweep(model, settings, tmp_path / "out", zip=True, scheduler=pool.address)
    assert table.values("force.push.vector") == [[0, 1], [1, 0]]
    assert list(table.column("model.unknowns")) == [12, 24]
    assert table.column("linear_static.tip.y.absmax")[1] < 1e-6 * table.column("linear_static.tip.y.absmax")[0]
    with pytest.raises(ResultsError, match=r'no parameter "n2"; there are force\.push\.vector, mesh'):
        table.values("n2")
    plot_sweep(table, tmp_path / "a.png")
    again = SweepTable.open(tmp_path / "out")
    assert again.rows == table.rows
    assert again.units == table.units
    assert again.zipped


def test_tables_on_disk(pool, model, tmp_path):
    """Columns are documented in sweep.json; quantities choose those of sweep.csv."""
    chosen = ["modes.frequency_*", "linear_static.tip.y.end"]
    settings = ["section.rod.diameter=0.01,0.02", "mesh.m.line.n=4,8"]
    table = sweep(model, settings, tmp_path / "out", scheduler=pool.address, quantities=chosen)
    value = json.loads((tmp_path / "out" / "sweep.json").read_text(encoding="utf-8"))
    assert value["format"] == "fem-mbs sweep 1"
    assert [p["path"] for p in value["parameters"]] == ["section.rod.diameter", "mesh.m.line.n"]
    assert {c["of"] for c in value["columns"]} == {"parameter", "variant", "quantity"}
    assert {c["name"] for c in value["columns"] if c["of"] == "quantity"} == set(table.names)
    assert [row["values"] for row in value["rows"]] == [[0.01, 4], [0.01, 8], [0.02, 4], [0.02, 8]]
    with (tmp_path / "out" / "sweep.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == [
        "diameter", "n", "folder", "status", "reason", "seconds [s]", "modes.frequency_1 [Hz]",
        "modes.frequency_2 [Hz]", "modes.frequency_3 [Hz]", "linear_static.tip.y.end [m]",
    ]  # fmt: skip
    assert [float(row["modes.frequency_2 [Hz]"]) for row in rows] == list(table.column("modes.frequency_2"))
    assert all((tmp_path / "out" / row["folder"] / "summary.json").is_file() for row in rows)
    with pytest.raises(ResultsError, match=r'no quantity fits "speed"; there are modes'):
        table.choose(["speed"])
    with pytest.raises(ResultsError, match=r'no quantity fits "modes.frequency_\*"; there are modes'):
        table.column("modes.frequency_*")  # names only, no patterns
    assert table.choose(most=3) == ["modes.frequency_1", "modes.frequency_2", "modes.frequency_3"]
    with pytest.raises(ResultsError, match=r"there is no sweep\.json"):
        SweepTable.open(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda out: out.write_text("x", encoding="utf-8"), "this is a file; give a folder"),
        (lambda out: (out.mkdir(), (out / "thesis.txt").write_text("x", encoding="utf-8")), 'holds "thesis.txt"'),
    ],
)
def test_a_folder_of_others_is_left_alone(model, tmp_path, change, message):
    change(tmp_path / "out")
    with pytest.raises(ResultsError, match=message):
        sweep(model, ["section.rod.diameter=0.01"], tmp_path / "out")


def test_the_sweep_of_another_model_is_left_alone(model, tmp_path):
    """Two model files of one name share a default folder; a variant's folder with files of others is a failure."""
    plan = plan_sweep(model, ["section.rod.diameter=0.01"], tmp_path / "out")
    plan.directory.mkdir()
    claim(plan.directory, tmp_path / "other.toml", "", kind="sweep")
    with pytest.raises(ResultsError, match=r'holds sweep of the model "\.\./other\.toml", .* --overwrite'):
        plan_sweep(model, ["section.rod.diameter=0.01"], tmp_path / "out")
    plan_sweep(model, ["section.rod.diameter=0.01"], tmp_path / "out", overwrite=True)


def test_one_sweep_at_a_time_in_a_folder(pool, model, tmp_path):
    def second(_) -> None:
        with pytest.raises(ResultsError, match="another run is writing into it"):
            sweep(model, ["section.rod.diameter=0.02"], tmp_path / "out", workers=1)

    table = sweep(model, ["section.rod.diameter=0.01"], tmp_path / "out", scheduler=pool.address, progress=second)
    assert table.rows[0].status == "done"


def test_decks_and_missing_files(tmp_path):
    with pytest.raises(ModelError, match="a deck has no named values"):
        sweep(tmp_path / "part.inp", ["a.b.c=1"])
    with pytest.raises(InputError, match="there is no such file"):
        sweep(tmp_path / "no.toml", ["a.b.c=1"])


# --- figures ---------------------------------------------------------------------------------------------------------
def made(tmp_path: Path, parameters: dict, function, zipped: bool = False) -> SweepTable:
    """A table without runs: quantities are functions of the values."""
    import itertools

    from fem_mbs.sweeps.table import SweepParameter, SweepRow

    given = [SweepParameter(f"a.b.{name}", name, tuple(values)) for name, values in parameters.items()]
    combinations = zip(*parameters.values()) if zipped else itertools.product(*parameters.values())
    rows = []
    for values in combinations:
        found = function(*values)
        rows.append(SweepRow(values, "x", "done" if found else "failed", "", 1.0, found or {}))
    units = {name: "Hz" for row in rows for name in row.quantities}
    return SweepTable(tmp_path, "made", "model.toml", given, rows, units, zipped)


def tip(*values: float | str) -> dict[str, float]:
    x = sum(len(v) if isinstance(v, str) else v for v in values)
    return {"static.tip.x.absmax": float((1.0 + x) ** 2)}


def frequencies(*values: float) -> dict[str, float]:
    return {f"modes.frequency_{k}": k * (1.0 + 0.1 * sum(values)) for k in (1, 2, 3)} | tip(*values)


FIGURES = {
    "a list of frequencies in one panel": ({"d": range(5)}, frequencies, {}, 2),
    "words": ({"kind": ["one", "two", "three"]}, tip, {}, 1),
    "lines": ({"d": range(5), "e": [1, 2]}, frequencies, {}, 4),
    "many lines": ({"d": range(40), "kind": [f"k{n}" for n in range(30)]}, tip, {}, 1),
    "maps": ({"d": range(6), "e": range(7)}, tip, {}, 1),
    "three parameters": ({"d": range(4), "e": [1, 2], "f": ["a", "b"]}, tip, {}, 1),
    "one variant": ({"d": [1.0]}, tip, {}, 1),
    "a parameter with one value": ({"d": range(5), "e": [2]}, frequencies, {}, 2),
    "pairs": ({"d": range(5), "e": range(5)}, tip, {"zipped": True}, 1),
    "failures": ({"d": range(5)}, lambda d: tip(d) if d != 2 else None, {}, 1),
    "failures in a map": ({"d": range(6), "e": range(6)}, lambda d, e: tip(d, e) if d != e else None, {}, 1),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures(tmp_path, monkeypatch, name):
    parameters, function, options, panels = FIGURES[name]
    table = made(tmp_path, parameters, function, **options)
    kept = []
    import fem_mbs.plot.sweep as module

    before = module.save_figure
    monkeypatch.setattr(module, "save_figure", lambda figure, path: kept.append(figure) or before(figure, path))
    assert plot_sweep(table, tmp_path / "a.png").stat().st_size > 5000
    used = [axes for axes in kept[0].axes if axes.axison and axes.get_title(loc="left")]
    assert len(used) == panels
    if name == "lines":
        x, y = used[0].lines[1].get_data()  # of e = 2
        assert list(x) == [0, 1, 2, 3, 4]
        assert list(y) == pytest.approx([1.0 + 0.1 * (d + 2) for d in range(5)])
    if name == "maps":
        shown = used[0].collections[0].get_array().reshape(7, 6)
        assert shown[3, 2] == pytest.approx((1.0 + 5.0) ** 2)
    if name == "failures":
        assert np.isnan(used[0].lines[0].get_ydata()[2])
        assert list(used[0].lines[-1].get_xdata()) == [2]


def test_nothing_to_draw(tmp_path):
    table = made(tmp_path, {"d": range(3)}, lambda d: None)
    with pytest.raises(ResultsError, match="has a quantity that varies"):
        plot_sweep(table, tmp_path / "a.png")
    with pytest.raises(ResultsError, match='no variant is done, so there is no quantity "f" yet'):
        plot_sweep(table, tmp_path / "a.png", ["f"])


def test_parameters_are_quantities(model, tmp_path):
    """They were refused, although the table has them."""
    text = f'parameters = {{ d = 0.01, half = "d/2" }}\n{model.read_text()}'
    file = model.with_name("named.toml")
    file.write_text(text.replace("diameter = 0.01", 'diameter = "d"'), encoding="utf-8")
    for name in ("parameter.half", "parameter.*"):
        plan_sweep(file, ["d=0.01,0.02"], tmp_path / "out", quantities=[name])
    with pytest.raises(ModelError, match=r'no quantity fits "parameter\.quarter"'):
        plan_sweep(file, ["d=0.01,0.02"], tmp_path / "out", quantities=["parameter.quarter"])


# --- the command line ------------------------------------------------------------------------------------------------
@pytest.mark.everyday
def test_the_command(pool, model, tmp_path, fem_mbs):
    out = tmp_path / "out"
    settings = ["--set", "section.rod.diameter=0.01:0.03:0.01", "--scheduler", pool.address, "-o", out]
    code, text, err = fem_mbs("sweep", model, *settings)
    assert (code, err) == (0, "")
    assert "A cantilever: 3 variants of section.rod.diameter = 0.01, 0.02, 0.03" in text
    assert "3 of 3 done" in text
    assert "frequency_1 [Hz]" in text
    assert {p.name for p in out.iterdir()} == {"fem-mbs.json", "sweep.csv", "sweep.json", "sweep.png", "variants"}
    table = SweepTable.open(out)
    assert f"{table.column('modes.frequency_1')[1]:.6g}" in text
    # chosen quantities, from what is there
    code, text, err = fem_mbs("sweep", model, *settings, "--quantity", "*.tip.y.end")
    assert (code, err) == (0, "")
    assert "3 of 3 variants are there already and are kept" in text
    assert "frequency_1" not in text
    assert "tip.y.end" in text
    assert fem_mbs("sweep", model, *settings, "-q") == (0, "", "")
    code, _, err = fem_mbs("sweep", model, *settings, "--quantity", "speed")
    assert code == 2
    assert 'no quantity fits "speed"; there are modes' in err
    # the figure again
    (out / "sweep.png").unlink()
    code, text, _ = fem_mbs("plot", out, "--quantity", "modes.frequency_2")
    assert code == 0
    assert Path(text.strip()).is_file()
    # options that would do nothing
    code, _, err = fem_mbs("plot", out, "--transfer", "tip:tip")
    assert (code, "--transfer is of a run" in err) == (2, True)
    code, _, err = fem_mbs("plot", out / "variants" / "diameter=0.01", "--quantity", "tip")
    assert (code, "--quantity is of a sweep" in err) == (2, True)
    # failures
    code, text, err = fem_mbs("sweep", model, "--set", "section.rod.diameter=0.01,-2", *settings[2:])
    assert code == 1
    assert "failed: [section.rod]" in text
    assert "1 of 2 variants failed; the same command tries them again" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing is swept; give PATH=VALUES"),
        (("--set", "section.rod.diametr=1"), 'unknown key "diametr"; did you mean "diameter"?'),
        (("--set", "section.rod.diameter=1:0:1"), "has no values; its step must lead from 1 to 0"),
        (("--set", "section.rod.diameter=1", "--workers", "1", "--scheduler", "tcp://h:1"), "give either workers"),
    ],
)
def test_wrong_commands(model, tmp_path, fem_mbs, arguments, message):
    code, _, err = fem_mbs("sweep", model, "-o", tmp_path / "out", *arguments)
    assert code == 2
    assert message in err
    assert err.startswith("fem-mbs: error: ")
    assert err.count("\n") == 1


@pytest.mark.long
def test_interrupted(model, tmp_path):
    """Ctrl-C, which reaches the workers too: it ends soon, keeps what is done, and the same command goes on."""
    model.write_text(BEAM + '[[step]]\ntype = "transient"\nduration = 0.1\nh = 2e-5\n', encoding="utf-8")
    out = tmp_path / "out"
    # (a shell's job in the background is born deaf to Ctrl-C, and so would be what it starts)
    code = (
        "import signal\nfrom fem_mbs.cli.main import main\n"
        "if __name__ == '__main__':\n    signal.signal(signal.SIGINT, signal.default_int_handler)\n    main()"
    )
    command = [sys.executable, "-c", code, "sweep", str(model), "--set", "section.rod.diameter=0.01:0.06:0.001"]
    process = subprocess.Popen(
        [*command, "-o", str(out), "--workers", "2"], start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 120.0
    while not list(out.glob("variants/*/variant.json")) and time.monotonic() < end:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    began = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - began < 10.0
    assert "of 51 variants are done and kept" in err
    assert "Traceback" not in err
    table = SweepTable.open(out)
    status = [row.status for row in table.rows]
    assert 1 <= status.count("done") < 51
    assert status.count("missing") == 51 - status.count("done")
    plan = plan_sweep(model, ["section.rod.diameter=0.01:0.06:0.001"], out)
    assert len(plan.waiting) == status.count("missing")


def test_a_wrong_quantity_ends_before_the_first_run(model, tmp_path):
    """Names are declared by steps and sensors; a near one is named, and nothing is written."""
    settings = ["section.rod.diameter=0.01,0.02"]
    for asked, near in (
        ("linear_static.tip.y.absmx", "linear_static.tip.y.absmax"), ("modes.frequencie_2", "modes.frequency_1"),
        ("*.tip.w.max", "linear_static.tip.y.max"),
    ):  # fmt: skip
        with pytest.raises(ModelError, match="no quantity fits") as error:
            plan_sweep(model, settings, tmp_path / "out", quantities=["modes.*", asked])
        assert near in str(error.value)
    good = ["modes.frequency_17", "*.tip.y.rms", "linear_static.reaction_force.x", "linear_static.*", "model.unknowns"]
    plan_sweep(model, settings, tmp_path / "out", quantities=good)
    assert not (tmp_path / "out").exists()
