"""Data frames hold the numbers of results in the units that their labels name."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from test_both_stores import crank

from fem_mbs import ModelError, Results, ResultsError, SweepTable, mac, run, solve
from fem_mbs.cli.main import main
from fem_mbs.model.fields import units_of_text
from fem_mbs.results.series import Series
from fem_mbs.sweeps.table import SweepParameter, SweepRow
from fem_mbs.units import Units

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    model = crank()
    model.units(length="mm", force="kN", time="ms", frequency="1/min")
    return run(model, tmp_path_factory.mktemp("frames") / "out")


def test_a_series_is_in_units_of_display(results):
    series = results.sensor("tip")
    table = series.to_dataframe()
    assert (list(table.columns), table.index.name) == (["tip.x [mm]", "tip.y [mm]"], "time [ms]")
    np.testing.assert_allclose(table.to_numpy(), 1e3 * series.values, rtol=1e-15)
    np.testing.assert_allclose(table.index, 1e3 * series.t, rtol=1e-15)
    assert table.attrs == {"name": "tip", "units": {"tip.x [mm]": "mm", "tip.y [mm]": "mm"}}
    base = series.to_dataframe(base=True)
    assert (list(base.columns), base.index.name) == (["tip.x [m]", "tip.y [m]"], "time [s]")
    np.testing.assert_array_equal(base.to_numpy(), series.values)


def test_other_series(results):
    energy = results.energy().to_dataframe()
    assert "total [N mm]" not in energy and "total [J]" in energy
    response = results.response("tip").to_dataframe()
    assert response.index.name == "frequency [1/min]" and response.to_numpy().dtype == complex
    np.testing.assert_allclose(response.index, [60.0, 120.0, 240.0])
    assert all(label.endswith("]") for label in results.drives("drive").to_dataframe().columns)


def test_spectral_densities_change_with_the_square_of_the_unit():
    t = np.arange(64) / 64.0
    series = Series("a", t, np.sin(40.0 * t)[:, None], ["a"], ["m"], shown=Units("m kg s", {"length": "mm"}))
    density = series.psd()
    table = density.to_dataframe()
    assert list(table.columns) == ["a [(mm)^2/Hz]"]
    np.testing.assert_allclose(table.to_numpy(), 1e6 * density.values)
    kilo = Series("a", t, density.values[:1].repeat(64, 0), ["a"], ["(m)^2/Hz"], shown=Units("mm kg ms")).to_dataframe()
    assert list(kilo.columns) == ["a [(mm)^2/kHz]"]


def test_the_table_of_a_step_is_that_of_its_csv_file(results, tmp_path):
    paths = {path.name: path for path in results.write_sensors_csv(tmp_path)}
    with paths["sensors-3-swing.csv"].open(newline="") as file:
        head, *rows = csv.reader(file)
    table = results.to_dataframe("swing")
    assert [table.index.name, *table.columns] == head
    found = np.array([[float(cell or "nan") for cell in row] for row in rows])
    np.testing.assert_array_equal(np.column_stack((table.index, table.to_numpy())), found)
    with pytest.raises(ResultsError, match=r'step "modes" \(modes\) has no rows of sensors'):
        results.to_dataframe("modes")


def test_rows_of_a_path_go_by_the_load_factor(results):
    table = results.to_dataframe("sag")
    assert table.index.name == "load factor [-]" and table.columns[0] == "time [ms]"
    np.testing.assert_array_equal(table.index, results.steps[0].series["load factor"])


def test_frames_have_a_row_per_node(results):
    table = results.nodes_to_dataframe("swing", -1)
    assert table.index.name == "node" and list(table.columns[:6]) == [
        "x [mm]", "y [mm]", "z [mm]", "displacement x [mm]", "displacement y [mm]", "displacement z [mm]",
    ]  # fmt: skip
    u = results.steps[2].frames["displacement"][-1]
    np.testing.assert_allclose(table["displacement y [mm]"], 1e3 * u[:, 1], rtol=1e-12)
    np.testing.assert_allclose(table["x [mm]"], 1e3 * results.header["nodes"][:, 0])
    assert "rotation z [rad]" in table
    with pytest.raises(ResultsError, match="has 4 frames, no number 7"):
        results.nodes_to_dataframe("swing", 7)


def test_modes(results):
    table = results.modes_to_dataframe()
    report = results.steps[3].report
    assert table.index.name == "mode" and list(table.index) == [1, 2]
    np.testing.assert_allclose(table["frequency [1/min]"], 60.0 * np.array(report.frequencies_hz))
    part = report.participation
    np.testing.assert_allclose(table[f"effective mass {part.directions[0]} [kg]"], np.array(part.effective_mass)[:, 0])
    turn = part.directions.index("rz")
    np.testing.assert_allclose(table["effective mass rz [kg mm^2]"], 1e6 * np.array(part.effective_mass)[:, turn])
    assert results.modes_to_dataframe("modes", base=True).columns[0] == "frequency [Hz]"
    with pytest.raises(ResultsError, match=r'step "swing" \(transient\) has modes'):
        results.modes_to_dataframe("swing")
    assurance = mac(results, results).to_dataframe()
    assert list(assurance.index) == [1, 2] and assurance.loc[1, 1] == pytest.approx(1.0)


def sweep(tmp_path: Path, shown: Units) -> SweepTable:
    rows = [
        SweepRow((0.1,), "v/1", "done", "", 1.0, {"static.largest_displacement": 0.002, "modes.frequency_1": 5.0}),
        SweepRow((0.2,), "v/2", "failed", "no", 1.0, {}),
        SweepRow((0.3,), "v/3", "missing"),
    ]
    units = {"static.largest_displacement": "m", "modes.frequency_1": "Hz"}
    return SweepTable(tmp_path, "s", "m.toml", [SweepParameter("a.b", "b", (0.1, 0.2, 0.3))], rows, units, shown=shown)


def test_tables_of_sweeps_are_in_units_of_display(tmp_path):
    table = sweep(tmp_path, Units("m kg s", {"length": "mm"}))
    frame = table.to_dataframe()
    assert list(frame.columns) == ["variant", "static.largest_displacement [mm]", "modes.frequency_1 [Hz]"][1:]
    assert frame.index.names == ["b"] and list(frame.index) == [0.1, 0.2]  # the third has not run
    assert frame.iloc[0].tolist() == [2.0, 5.0] and frame.iloc[1].isna().all()
    assert table.to_dataframe(["*displacement"], base=True).columns.tolist() == ["static.largest_displacement [m]"]
    table.write()
    head, first, *_ = (tmp_path / "sweep.csv").read_text().splitlines()
    assert head.endswith("seconds [s],static.largest_displacement [mm],modes.frequency_1 [Hz]")
    assert first.endswith("1.0,2.0,5.0")
    again = SweepTable.open(tmp_path)
    assert again.shown == table.shown and again.column("static.largest_displacement")[0] == 0.002
    assert repr(again) == "<SweepTable 's': 1 of 3 done, over b; 2 quantities>"


# --- units of decks ---------------------------------------------------------------------------------------------------
def test_units_as_text():
    assert units_of_text("mm, MPa,speed=rpm, base=mm t s") == {
        "length": "mm", "stress": "MPa", "speed": "rpm", "base": "mm t s",
    }  # fmt: skip
    with pytest.raises(ModelError, match="say which: mass=g or acceleration=g"):
        units_of_text("g")
    with pytest.raises(ModelError, match='"mmm" is no unit of display; there are m, mm'):
        units_of_text("mmm")
    with pytest.raises(ModelError, match="length is given twice"):
        units_of_text("mm,length=m")


DECK = """\
*NODE, NSET=ALL
1, 0, 0, 0
2, 100, 0, 0
*ELEMENT, TYPE=B31, ELSET=E
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
210000, 0.3
*BEAM SECTION, ELSET=E, MATERIAL=M, SECTION=RECT
10, 10
0, 0, 1
*BOUNDARY
1, 1, 6
*STEP
*STATIC
*CLOAD
2, 1, 2100
*NODE PRINT, NSET=ALL
U
*END STEP
"""


def call(monkeypatch, *words: str) -> int:
    """Return the exit code of a command."""
    monkeypatch.setattr("sys.argv", ["fem-mbs", *words])
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_decks_take_units_of_display(tmp_path, monkeypatch, capsys):
    """A bar of 100 mm and 100 mm^2 under 2100 N grows by F L/(E A) = 0.01 mm, which is 1e-5 m."""
    monkeypatch.chdir(tmp_path)
    Path("bar.inp").write_text(DECK)
    Path("m.toml").write_text("dimension = 2\n")
    assert call(monkeypatch, "run", "bar.inp", "-q", "--units", "m,kN,base=mm t s") == 0
    found = Results.open("bar-results")
    assert found.units == Units("mm t s", {"length": "m", "force": "kN"})
    table = found.nodes_to_dataframe()
    assert table["displacement x [m]"].tolist() == pytest.approx([0.0, 1e-5])
    assert found.nodes_to_dataframe(base=True)["displacement x [mm]"].tolist() == pytest.approx([0.0, 0.01])
    assert call(monkeypatch, "run", "m.toml", "--units", "mm") != 0
    assert "--units is for decks" in capsys.readouterr().err


def test_results_in_memory_have_the_same_tables():
    model = crank()
    model.units(length="mm")
    found = solve(model)
    assert list(found.to_dataframe("swing").columns)[:2] == ["tip tip.x [mm]", "tip tip.y [mm]"]
    assert found.sensor("tip").to_dataframe().columns[0] == "tip.x [mm]"
    assert found.nodes_to_dataframe("modes", 0).columns[3] == "displacement x [mm]"


def test_sweeps_and_assurance_show_themselves_in_tables(results, tmp_path):
    table = sweep(tmp_path, Units("m kg s", {"length": "mm"}))
    table.rows[2] = SweepRow((0.3,), "v/3", "done", "", 1.0, {"static.largest_displacement": 0.004})
    page = table._repr_html_()
    assert "<th>static.largest_displacement [mm]</th>" in page and "<td>0.1</td><td>done</td><td>2</td>" in page
    found = mac(results, results)
    assert "<td>1.00</td>" in found._repr_html_() and repr(found).startswith("<Mac of 2 shapes of 'modes' and 2 of")
