"""Results have one interface, whether the run kept them in memory or wrote them into a folder."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from fem_mbs import Model, Results, ResultsError, run, solve

STEP = 0.01


def crank() -> Model:
    """A beam that a driven crank turns, then swings; sensors of all kinds of time: rows, mid-step, drive, response."""
    m = Model(2, "crank", gravity=(0, -9.81))
    m.section("s", "stiffness", EA=1e4, EI=20.0, rhoA=1.0)
    m.line("a", (0, 0), (1, 0), 2)
    m.beams("a", "a", "s")
    m.joint("hinge", "revolute", "ground", "a:start", function="0.2*t**2")
    m.force("push", "a:end", (0.0, 1.0))
    m.sensor("tip", "displacement", on="a:end")
    m.sensor("turn", "joint", on="hinge")
    m.sensor("pin", "reaction", on="hinge")
    m.static_step(2, name="sag")
    m.inverse_step(0.05, STEP, name="drive", restarts=1)
    m.transient_step(0.06, STEP, name="swing", frames=3)
    m.modes_step(2)
    m.harmonic_step([1.0, 2.0, 4.0], name="shake", loads="push")
    return m


@pytest.fixture(scope="module", params=["memory", "folder"])
def results(request, tmp_path_factory) -> Results:
    if request.param == "memory":
        return solve(crank())
    return run(crank(), tmp_path_factory.mktemp("crank") / "out")


def test_what_a_run_is(results):
    assert isinstance(results, Results)
    assert results.status == "done" and results.complete and results.failures == []
    assert [(s.number, s.name, s.type) for s in results.steps] == [
        (0, "sag", "static"), (1, "drive", "inverse"), (2, "swing", "transient"), (3, "modes", "modes"),
        (4, "shake", "harmonic"),
    ]  # fmt: skip
    assert all(step.ended for step in results.steps)
    assert results.header["title"] == "crank" and results.node("a:end") == 2
    assert [s["name"] for s in results.header["sensors"]][:3] == ["tip", "turn", "pin"]
    assert results.summary["status"] == "done" and results.report.title == "crank"
    assert [r.name for r in results.report.steps] == ["sag", "drive", "swing", "modes", "shake"]
    assert results.steps[3].report.frequencies_hz == pytest.approx(results.steps[3].series["frequency"], rel=1e-15)


def test_sensor(results):
    tip = results.sensor("tip")
    assert (tip.name, tip.columns, tip.unit, tip.units) == ("tip", ["tip.x", "tip.y"], "m", ["m", "m"])
    np.testing.assert_allclose(tip.t, np.r_[np.arange(6), np.arange(5, 12)] * STEP, atol=1e-14)
    t, values, columns = results.sensor("tip")
    assert t is not tip.t and np.array_equal(t, tip.t) and columns == tip.columns
    assert np.array_equal(values, np.vstack([results.steps[k].series["sensor/tip"] for k in (1, 2)]))
    for step in (2, -3, "swing"):
        one = results.sensor("tip", step)
        assert np.array_equal(one.t, results.steps[2].time) and np.array_equal(one.values, values[6:])
    assert "tip.x, tip.y [m]; 13 rows" in repr(tip)


def test_mid_step_sensor(results):
    raw, mean = results.sensor("pin", "swing", raw=True), results.sensor("pin", "swing")
    np.testing.assert_allclose(raw.t, 0.05 + (np.arange(6) + 0.5) * STEP, atol=1e-14)
    assert np.array_equal(raw.values, results.steps[2].series["sensor/pin"][1:])
    np.testing.assert_allclose(mean.t, 0.05 + np.arange(1, 6) * STEP, atol=1e-14)
    np.testing.assert_allclose(mean.values, 0.5 * (raw.values[1:] + raw.values[:-1]))
    assert mean.unit == "N, N m" and mean.units[0] == "N"


def test_energy(results):
    energy = results.energy("swing")
    ledger = results.ledger(2)
    assert energy.columns == [k for k in ledger if k != "time"] and energy.unit == "J"
    for column, values in zip(energy.columns, energy.values.T, strict=True):
        assert np.array_equal(values, ledger[column])
    final = results.steps[2].report.energy.final
    assert energy.values[-1, energy.columns.index("kinetic")] == final["kinetic"] > 0.0


def test_response(results):
    shake = results.response("tip")
    assert shake.along == ("frequency", "Hz") and shake.unit == "m"
    assert shake.t.tolist() == [1.0, 2.0, 4.0] and shake.values.dtype == complex
    peak = results.steps[4].report.peaks[1]
    assert (peak.column, peak.unit) == ("tip.y", "m")
    assert peak.amplitude == pytest.approx(np.abs(shake.values[:, 1]).max(), rel=1e-12)
    assert np.array_equal(shake.values, results.response("tip", "shake").values)


def test_drives(results):
    drives = results.drives("drive")
    assert drives.labels == ["drive hinge [N m]"] and drives.unit == "N m"
    assert np.array_equal(drives.t, results.steps[1].time) and drives.values.shape == (6, 1)
    assert np.array_equal(drives["drive hinge"], drives.values[:, 0])
    # about the static moment of weight and load
    assert np.all(np.abs(drives.values) > 1.0)
    with pytest.raises(ResultsError, match='no drive "motor": there are drive hinge'):
        drives["motor"]


def test_frames(results):
    swing = results.steps[2]
    assert len(swing.frame_times) == len(swing.frames["displacement"]) >= 3
    last = swing.frames["displacement"][-1]
    assert last.shape == (3, 3)
    np.testing.assert_allclose(last[2, :2], results.sensor("tip", 2).values[-1], atol=1e-14)
    assert results.steps[3].frames["displacement"].shape == (2, 3, 3)


def test_restart_points(results):
    (number, time), *more = results.restart_points
    assert (number, more) == (1, []) and 0.0 < time < 0.05
    assert results.restart(0)["time"] == time
    with pytest.raises(ResultsError, match="1 restart points, no number 3"):
        results.restart(3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: r.sensor("no"), 'no sensor "no": there are tip, turn, pin'),
        (lambda r: r.sensor("tip", 9), "5 steps, no number 9"),
        (lambda r: r.sensor("tip", "no"), 'no step "no": there are "sag", "drive"'),
        (lambda r: r.sensor("tip", "modes"), 'no step holds "sensor/tip" yet'),
        (lambda r: r.response("tip", "swing"), 'no step holds "response/tip" yet'),
        (lambda r: r.node("no"), 'no node "no"'),
        (lambda r: r.steps[0].series["no"], 'no (series|quantity) "no": there are'),
    ],
)
def test_wrong_names(results, call, words):
    with pytest.raises(ResultsError, match=words):
        call(results)


def test_tables(results, tmp_path):
    first, *_ = results.write_sensors_csv(tmp_path)
    assert first.read_text(encoding="utf-8").startswith("time [s],load factor [-],tip tip.x [m],tip tip.y [m]")
    (shake,) = results.write_response_csv(tmp_path)
    assert shake.read_text(encoding="utf-8").count("\n") == 4


def test_results_in_memory_have_no_folder():
    solution = solve(crank())
    assert solution.directory is None and "in memory" in repr(solution)
    with pytest.raises(ResultsError, match="they have no folder to write into"):
        solution.write_sensors_csv()


# --- what calls once gave ---------------------------------------------------------------------------------------------
def test_arrays_of_a_solution():
    """A series in memory acts as the array that it once was; where that is something else, it says so."""
    solution = solve(crank())
    rows = solution.steps[0].series["sensor/tip"]
    tip = solution.sensor("tip", 0)
    assert np.array_equal(tip[-1], rows[-1]) and np.array_equal(tip[:, 1], rows[:, 1]) and tip.shape == rows.shape
    assert np.array_equal(2.0 * tip - rows, rows) and np.abs(tip).max() == np.abs(rows).max()
    assert np.array_equal(np.linalg.norm(tip, axis=1), np.linalg.norm(rows, axis=1))
    mid = solution.steps[2].series["sensor/pin"]
    with pytest.warns(DeprecationWarning, match=r"take .values of sensor\(name, step, raw=True\)"):
        assert np.array_equal(solution.sensor("pin", 2)[1:], mid[1:])
    with pytest.warns(DeprecationWarning, match="is no array"):  # two steps in time: of old the last one of all
        assert np.array_equal(np.asarray(solution.sensor("pin", 2)), mid, equal_nan=True)
    with pytest.warns(DeprecationWarning, match=r"drives\(\) is no tuple"):
        t, by_sensor = solution.drives(1)
    assert np.array_equal(t, solution.steps[1].time) and list(by_sensor) == ["drive hinge"]


def test_tuples_of_a_folder(tmp_path):
    results = run(crank(), tmp_path / "out")
    tip = results.sensor("tip")
    with pytest.warns(DeprecationWarning, match=r"take .t, .values or .columns"):
        assert tip[1] is tip.values
    drives = results.drives(1)
    with pytest.warns(DeprecationWarning, match=r"drives\(\) is no tuple"):
        t, names, values = drives
    assert (t is drives.t, names, values is drives.values) == (True, drives.labels, True)


# --- other libraries --------------------------------------------------------------------------------------------------
def test_to_dataframe(results):
    pytest.importorskip("pandas")
    table = results.sensor("tip").to_dataframe()
    assert list(table.columns) == ["tip.x [m]", "tip.y [m]"] and table.index.name == "time [s]"
    assert table.attrs["units"] == {"tip.x [m]": "m", "tip.y [m]": "m"}
    np.testing.assert_array_equal(table.to_numpy(), results.sensor("tip").values)
    assert results.response("tip").to_dataframe().index.name == "frequency [Hz]"


def test_to_xarray(results):
    pytest.importorskip("xarray")
    array = results.sensor("tip").to_xarray()
    assert array.dims == ("time", "column") and array.name == "tip"
    assert float(array.sel(column="tip.y")[-1]) == results.sensor("tip").values[-1, 1]


@pytest.mark.parametrize(("library", "call"), [("pandas", "to_dataframe"), ("xarray", "to_xarray")])
def test_a_missing_library_is_named_with_its_extra(results, monkeypatch, library, call):
    monkeypatch.setitem(sys.modules, library, None)  # what import does for a module that is not there
    with pytest.raises(ResultsError, match=rf"{library} is not installed: .* pip install 'fem-mbs\[tables\]'"):
        getattr(results.sensor("tip"), call)()


# --- notebooks --------------------------------------------------------------------------------------------------------
def test_results_in_a_notebook(results):
    page = results._repr_html_()
    assert page.startswith('<div class="fem-mbs"><h4>crank</h4>') and "data:image/png;base64," in page
    for title in ("Steps", "Sensors", "Energies at the end [J]"):
        assert f"<caption>{title}</caption>" in page
    tip = results.sensor("tip").values[:, 1]
    cells = "".join(f"<td>{v:.6g}</td>" for v in (tip[0], tip.min(), tip.max(), tip[-1]))
    assert f"<td>tip.y</td><td>m</td>{cells}" in page
    assert f"<td>{results.report.steps[2].energy.final['kinetic']:.6g}</td>" in page


def test_model_in_a_notebook():
    model = crank()
    page = model._repr_html_()
    assert "data:image/png;base64," in page and "<td>hinge</td><td>revolute</td>" in page
    assert "<td>swing</td><td>transient</td><td>frames = 3, duration = 0.06, h = 0.01</td>" in page
    assert repr(model).startswith("<Model 'crank': 2 dimensions, 3 nodes, 1 joints, 4 sensors; sag, drive, swing")


def test_a_page_never_ends_a_session(monkeypatch):
    """A model that cannot be compiled yet has no picture; where the page itself fails, the text is shown."""
    empty = Model(3, "<b>")
    assert "<h4>&lt;b&gt;</h4>" in empty._repr_html_() and "<img" not in empty._repr_html_()
    broken = Model(2)
    broken.node("a", (0, 0))
    broken.node("b", (1, 0))
    broken.transient_step(1.0, 0.1)
    assert "2 nodes" in broken._repr_html_()
    monkeypatch.setattr("fem_mbs.plot.notebook.page", lambda thing: 1 / 0)
    assert empty._repr_html_().startswith("<pre>&lt;Model ")


# --- both stores alike ------------------------------------------------------------------------------------------------
def test_a_series_in_memory_survives_pickling():
    series = solve(crank()).sensor("tip")
    again = pickle.loads(pickle.dumps(series))
    assert np.array_equal(again.values, series.values) and np.array_equal(again.array, series.array, equal_nan=True)


def test_old_uses_are_told_at_the_line_of_the_caller(tmp_path):
    solution = solve(crank())
    pin, tip = solution.sensor("pin", 2), run(crank(), tmp_path / "out").sensor("tip")
    for use in (lambda: np.abs(pin), lambda: pin + 1.0, lambda: tip[1]):
        with pytest.warns(DeprecationWarning, match="fem-mbs: ") as told:
            use()
        assert [warning.filename for warning in told] == [__file__]


def test_checks_are_the_same_in_memory(tmp_path):
    model = crank()
    model.check("reach", "tip.x", quantity="maximum", reference=0.0, tolerance=10.0)
    in_memory, in_folder = solve(model), run(model, tmp_path / "out")
    assert in_memory.report.checks == in_folder.report.checks and len(in_memory.report.checks) == 1


def test_objects_show_themselves_in_one_line_and_in_tables(results):
    """Lines are short and hold what one looks for; tables hold numbers in units of display."""
    step, tip = results.step_at("swing"), results.sensor("tip")
    assert repr(step) == f"<Step 2 'swing' (transient): {len(step.time)} rows, {len(step.frame_times)} frames; done>"
    assert "<td>displacement</td><td>4 x 3 x 3</td>" in step._repr_html_()
    modes = results.steps[3].report
    told = "<ModesReport 'modes': 1 warnings; 2 frequencies_hz, the first "  # the state before moves
    assert repr(modes).startswith(told) and len(repr(modes)) < 300
    page = tip._repr_html_()
    assert f"<caption>tip: {len(tip.t)} rows</caption>" in page and "<th>tip.y [m]</th>" in page
    assert f"<td>({len(tip.t) - 10} more)</td>" in page and f"<td>{tip.values[-1, 1]:.6g}</td>" in page
    assert "<td>" in results.response("tip")._repr_html_() and "j</td>" in results.response("tip")._repr_html_()
    section = crank().sections["s"]
    assert repr(section).startswith("<Section 's': stiffness, EA = 10000, EIy = 20, EIz = 20, ")
    assert "<td>10000</td>" in section._repr_html_()
