"""The validation itself: the quick files run and pass, and the runner says what went wrong when one does not."""

from __future__ import annotations

import ast
import gc
import inspect
import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fem_mbs import ModelError, draw_curves, tangent_check
from fem_mbs.validation import report, runner
from fem_mbs.validation.capabilities import CAPABILITIES
from fem_mbs.validation.case import (
    Curve,
    Findings,
    Row,
    crossings,
    interpolated_extreme,
    last_order,
    limit_of,
    published,
    published_level,
    turning_time,
)
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY, printed, totals
from fem_mbs.validation.listing import markdown
from fem_mbs.validation.ma_1993_contact import TABLE_2
from fem_mbs.validation.registry import SECONDS, ValidationFile, find, select
from fem_mbs.validation.runner import run_cases

FILES = {f.name: f for f in find()}
# Numbers of a file that are smaller in its test, by the same rows and tolerances; `fem-mbs validate` takes all.
SHORTER = {
    "dias_pereira_1993_sensitivities": {"TABLE_2": TABLE_2[:1]},  # the other optima follow by similarity
    "betsch_steinmann_2002_flexible_links": {"STEPS": 2000},
    "reissner_1973_random_beams": {"SEEDS": range(2)},
    "lee_1968_frame": {"BEAMS": ((2, "exact"), (3, "corotational"))},
    "macneal_harder_1985_shells": {"MESHES": (8, 16)},  # all cells: the tests of elements have no such benchmarks
    "nafems_1990_shells": {"CELLS": ("quad",)},
    "nafems_1995_laminates": {"CELLS": ("quad",)},
    "timoshenko_1961_plates_and_cylinders": {"CELLS": ("quad",)},
    "simo_tarnow_1994_free_shells": {
        "DURATION": 1.5,
        "RUNS": (("quad", "homogeneous", 0.05), ("triangle", "layers beside the nodes", 0.05)),
    },
    "sze_2004_shells": {"CELLS": ("quad", "quad8")},
    "sze_2004_cylinders": {"KINDS": ("isotropic",), "THICKNESSES": (12.7,), "PINCHED_TO": 0.05},
}

# What the project promised to reproduce: none may get lost.
PROMISED = {
    *(f"C{i}" for i in range(1, 15)),
    *(f"M{i}" for i in range(8, 15)),
    *(f"R{i}" for i in range(1, 6)),
    *("B-SPIN", "B-SPAG", "B-FREE", "B-CABLE", "B-MIX", "B-NEWTON", "B-ORDER", "B-RULES"),
    *("B-SPAG3", "B-PEND2", "B-ROBOT", "B-4BAR", "M15", "M3", "M4", "M5", "M6", "M7", "D6", "B-LINKS"),
    *("B-ELASTICA", "B-ROLL", "B-BEND45", "B-FRAME", "B-LEE", "B-EULER", "B-GREENHILL", "B-STRIP", "B-MODES"),
    *("B-DUFFING", "B-STOP", "B-PD", "B-JOINTS"),
    *("B-BRICARD", "B-4BARS", "B-CHAIN", "B-LE1", "B-LE10"),
    *("D1", "D2", "D3", "D4", "D5", "B-INV", "B-FLAP", "B-ROTOR", "B-BECK", "B-SPRING", "B-CRANK", "B-JEFFCOTT"),
    *("B-ZIEGLER", "B-FRICTION"),
    *("B-SID", "B-KG"),
    *("B-TELESCOPE", *(f"H{i}" for i in range(1, 10))),
    *("S-SHEAR", "S-ROLL", "S-SLIT", "S-HEMISPHERE"),
    *("S-LE2", "S-LE3", "S-LE5", "S-FV12", "S-FV15", "S-FV16", "S-FV22", "S-FV32"),
    *("S-BRYAN", "S-PANEL", "S-TUBE", "S-FREE", "S-ANNULUS", "S-STRIP", "S-WRAPPED", "S-SANDWICH"),
    *("S-PULL", "S-PINCH", "S-HALF", "S-HINGED"),
    *("S-PATCH", "S-STRAIGHT", "S-CURVED", "S-TWISTED", "S-PLATES", "S-ROOF", "S-HOLE"),
    *("B-RANDOM", "B-PRINCETON", "B-GERADIN", "B-SHEAR", "B-MXMY", "B-HELIX", "B-ARCH", "B-TOGGLE"),
    *("B-AISC", "S-BARTON", "B-BEER", "B-PIPING", "B-BIGGS", "B-TAUT-STRING", "S-ROUND", "B-BLADE", "S-COOK"),
    *("B-TAPERED", "B-BLOCK", "B-FLOW", "S-SAW", "B-TURNING-MASS", "B-DISCS", "B-HARRIS", "S-SPINNING"),
    *("B-LOGAN", "B-SPRINGS", "B-SETTLEMENT", "B-WHIRL", "B-EQUIPMENT", "S-DOME", "S-CROSS-PLY", "B-ROARK"),
    *("S-BIMETAL", "B-RELEASED", "B-PUSHED", "B-SWING", "B-MASSES", "B-TORSION", "B-LINES", "B-BARS", "B-BENT"),
    *("B-ECCENTRIC", "B-COMPRESSED", "B-WEDGE-MODES", "B-HOOP", "B-HARD-SPRING", "B-STOPPED", "B-TIE"),
    *("B-FOUNDATION", "S-DISCS", "S-LONG", "S-LARGE", "B-BUCKLED", "B-CURVED-BAR", "B-COULOMB"),
    *("B-TWO-SPRINGS", "B-VIERCK", "B-FORCED", "S-FORCED", "B-DOUBLE-TAPER", "B-GYROSCOPIC", "B-INNER-DAMPING"),
    *("B-CROSS", "B-BESIDE", "S-ANNULAR", "S-FV41", "S-FV42", "B-RING-SPLIT", "B-THREE-DISCS", "B-DEEP"),
    *("B-TUNED", "B-BESIDE-TUBE", "B-SWEPT", "B-LEIPHOLZ", "B-TRUSS-SYNTHESIS", "B-TEN-CELLS", "S-HINGED-SQUARE"),
    *("B-SPEED-BEARINGS", "B-PRESS", "B-CARDAN", "B-Z", "B-LATERAL", "S-SHALLOW", "B-GOVERNOR", "B-ROD-WALL"),
    *("B-TWO-BARS", "B-SOFT-COLUMN", "B-DIAMOND", "B-SHAKEN", "B-SHAKING-PLANE", "B-SWING-BEAM", "B-LIFTED-BEAM"),
    *("B-MISES", "B-BENNETT", "B-PORTAL", "B-CLAMPED", "B-SLIDER-CRANK", "B-FAST-TOP"),
    *("B-STRING", "B-WEDGE", "B-TOP", "B-TWO-LINKS", "B-SPINNING-DISC", "B-CRANK-BLOW", "B-FRICTION-BLOW"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.long) if n in SECONDS else n for n in sorted(FILES)]
)
def test_case(name, monkeypatch):
    for constant, value in SHORTER.get(name, {}).items():
        monkeypatch.setattr(f"fem_mbs.validation.{name}.{constant}", value)
    findings = Findings()
    FILES[name].check(findings)
    failed = [
        f"{r.case}: {r.quantity}: {r.measured!r}, not {r.reference!r} +- {r.tolerance!r}"
        for r in findings.rows
        if not r.passed
    ]
    assert not failed, "\n".join(failed)
    assert {row.case for row in findings.rows} == set(FILES[name].cases), (
        "a case without a row, or a row without a case"
    )
    assert all(row.reason for row in findings.rows)
    for figure in findings.figures:
        assert all(np.shape(c.x) == np.shape(c.y) for c in figure.curves), f"{figure.title}: x and y differ in length"
    assert findings.figures or name in ("crisfield_shi_1993_truss", "meijaard_1993_mass_matrix")


def test_no_promised_case_is_lost():
    assert {case for f in FILES.values() for case in f.cases} >= PROMISED


def test_every_case_has_an_id_of_its_own():
    """An id names the case of one file: it selects one in `validate`, and rows of reports are told by it."""
    files: dict[str, list[str]] = {}
    for file in FILES.values():
        for case in file.cases:
            files.setdefault(case, []).append(file.name)
    assert {case: names for case, names in files.items() if len(names) > 1} == {}


@pytest.mark.parametrize("name", sorted(FILES))
def test_file_is_complete(name):
    """Problem, sketch and source in the text; build and reference beside check."""
    module = __import__(f"fem_mbs.validation.{name}", fromlist=["build"])
    assert "Source:" in FILES[name].text
    assert any(line.startswith("      ") for line in FILES[name].text.splitlines()), "no sketch"
    inspect.signature(module.build).bind()  # the report draws the model of no arguments
    assert isinstance(module.reference(), dict)
    assert FILES[name].capability in CAPABILITIES
    assert all(text[0].isupper() and text.endswith(".") for text in FILES[name].deviations)


def test_list_of_benchmarks_is_up_to_date(checkout):
    text = (checkout / "docs" / "validation-cases.md").read_text(encoding="utf-8")
    assert text == markdown(), "run make generated"


def test_limits_of_meshes_tell_their_own_error():
    """The tolerance comes from the meshes alone: a limit that is off by more than they leave fails."""
    h = np.array([0.4, 0.2, 0.1])
    findings = Findings()
    for power, reference in ((2, 1.0), (4, 1.0), (2, 1.001)):
        values = 1.0 + 0.3 * h**power + 0.2 * h ** (power + 2) - 0.1 * h ** (power + 4)
        findings.converged("X1", f"order {power}", values, reference, CLOSED_FORM, order=power)
    findings.converged("X1", "exact", np.ones(3), 1.0, CLOSED_FORM)
    findings.converged("X1", "allowed", np.ones(3), 1.001, CLOSED_FORM, error=2e-3, why="shear")
    assert [row.passed for row in findings.rows] == [True, True, False, True, True]
    assert findings.rows[0].tolerance < 1e-3
    assert findings.rows[-1].reason.endswith("and 0.002 of the number: shear")
    limit, moved = limit_of(np.column_stack((1.0 + h**2, 2.0 - h**2 + h**4)))
    np.testing.assert_allclose(limit, (1.0, 2.0), rtol=1e-14)
    assert moved[0] < 1e-14 < moved[1]


def test_limits_of_courses_tell_their_own_error():
    t = np.linspace(0.0, 1.0, 5)
    runs = [np.sin(t) * (1.0 + 0.3 * h**2 - 0.1 * h**4 + 0.01 * h**6) for h in (0.4, 0.2, 0.1)]
    findings = Findings()
    for factor in (1.0, 1.001):
        findings.converged_course("X1", "a sine", runs, factor * np.sin(t), CLOSED_FORM, scale=0.5)
    findings.converged_course("X1", "allowed", runs, 1.001 * np.sin(t), CLOSED_FORM, error=2e-3, why="shear")
    assert [row.passed for row in findings.rows] == [True, False, True]
    assert findings.rows[1].measured == pytest.approx(2.0 * 1e-3 * np.sin(1.0), rel=0.02)
    assert findings.rows[-1].reason.endswith("and 0.002: shear")


def test_turning_points_between_samples_and_orders():
    t = np.linspace(0.0, 3.0, 61)
    assert abs(turning_time(t, np.sin(t)) - 0.5 * np.pi) < 1e-10
    assert abs(turning_time(t, -np.cos(t - 2.01), np.argmin) - 2.01) < 1e-10
    assert last_order((0.4, 0.2, 0.1), (5.0, 0.8, 0.1)) == pytest.approx(3.0)


# --- the runner ------------------------------------------------------------------------------------------------------
def _fake(monkeypatch, check, text="A plane.\n\n      o===o  1 m\n\nSource: none."):
    file = ValidationFile(
        "nobody_1900_nothing", "Nothing at all", text,
        {"X1": "nothing", "X2": "less"}, check, FILES["geradin_2001_double_pendulum"].build, "contact",
        ("Nobody (1900), page 1: a sign is wrong.",),
    )  # fmt: skip
    monkeypatch.setattr("fem_mbs.validation.registry.find", lambda: [file])


def _one_bad(f):
    f.row("X1", "right", 1.0, 1.1, "generous", CLOSED_FORM, tolerance=0.2)
    f.row("X2", "wrong", 1.0, 2.0, "tight", printed("table 1"), relative=0.1)
    f.figure("Curve", [Curve(np.arange(3.0), np.arange(3.0), "line")], "x", "y")


@pytest.mark.parametrize(
    ("names", "code", "expected"), [(None, 1, ["X1", "X2"]), (["x1"], 0, ["X1"]), (["X2"], 1, ["X2"])]
)
def test_exit_code_and_json(monkeypatch, tmp_path, names, code, expected):
    _fake(monkeypatch, _one_bad)
    lines = []
    assert run_cases(names, json_path=tmp_path / "a" / "v.json", out=lines.append) == code
    rows = json.loads((tmp_path / "a" / "v.json").read_text())
    assert [row["case"] for row in rows] == expected
    assert all(
        list(row) == ["case", "quantity", "measured", "reference", "tolerance", "pass", "kind", "where"] for row in rows
    )
    assert any("FAILED  X2: wrong: 1, not 2 +- 0.2" in line for line in lines) == (code == 1)


def test_garbage_of_a_file_is_searched_for_apart_from_what_is_loaded(monkeypatch):
    """While a file runs nothing that was there before is searched; after it, also after an error, all is as it was."""
    seen, given, before = [], gc.get_threshold(), (700, 10, 10)

    def check(f):
        seen.extend((gc.get_freeze_count(), gc.get_threshold()))
        raise ZeroDivisionError

    _fake(monkeypatch, check)
    frozen = gc.get_freeze_count()  # by the tests themselves
    gc.unfreeze()
    gc.set_threshold(*before)
    try:
        assert run_cases(out=lambda _: None) == 1
        assert seen[0] > 10_000 and seen[1][0] > before[0]
        assert gc.get_freeze_count() == 0 and gc.get_threshold() == before
    finally:
        gc.set_threshold(*given)
        if frozen:
            gc.freeze()


def test_a_case_that_breaks_is_a_failure_and_hides_nothing(monkeypatch, tmp_path):
    def check(f):
        f.row("X1", "right", 1.0, 1.0, "exact", PROPERTY, tolerance=0.0)
        raise ZeroDivisionError("by zero")

    _fake(monkeypatch, check)
    lines = []
    assert run_cases(json_path=tmp_path / "v.json", report_dir=tmp_path / "r", out=lines.append) == 1
    rows = json.loads((tmp_path / "v.json").read_text())
    assert [(row["case"], row["measured"], row["pass"]) for row in rows] == [("X1", 1.0, True), ("X1", None, False)]
    assert "ZeroDivisionError: by zero" in "\n".join(lines)
    assert "What stopped it" in (tmp_path / "r" / "report.html").read_text()


def test_sketch_at_the_beginning_keeps_its_lines(monkeypatch, tmp_path):
    """The first line of a docstring after the title may be that of a sketch, and a sketch may be all there is."""
    sketch = "      o===o  1 m\n      |   |"
    _fake(monkeypatch, _one_bad, f"{sketch}\n\nSource: none.")
    run_cases(report_dir=tmp_path, out=lambda _line: None)
    assert "<pre>o===o  1 m\n|   |</pre>" in (tmp_path / "report.html").read_text()
    assert FILES["gonzalez_2005_flyball_governor"].text.startswith("          hinge o==o hinge")


def test_report_is_one_page_with_its_figures(monkeypatch, tmp_path):
    _fake(monkeypatch, _one_bad)
    run_cases(report_dir=tmp_path, out=lambda _line: None)
    text = (tmp_path / "report.html").read_text()
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert text.count('<svg viewBox="') == text.count('role="img"') == 2  # the model and the curve
    assert text.count('id="DVS-14"') == 1  # each letter once
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids)) and set(re.findall(r'(?:url\(|href=")#([^)"]+)', text)) <= set(ids)
    assert "<pre>o===o  1 m</pre>" in text and "<p>A plane.</p>" in text and "<p>none.</p>" in text
    assert "Nobody (1900), page 1: a sign is wrong." in text
    assert text.count("Contact, impact, friction and locks") == 2  # of the capabilities, and the problems of this one
    assert "Rotors" not in text
    assert "1 of 2 fail" in text
    assert "tight" in text
    assert "http" not in text.replace("http-equiv", "")


@pytest.mark.long
def test_files_side_by_side_give_the_same_rows(tmp_path):
    """In processes: the JSON file holds the same bytes, the tables come in the order in which the files end."""
    names, paths, lines = ["goldstein_1980_top", "C5", "M14"], [tmp_path / "one.json", tmp_path / "two.json"], []
    for path, workers in zip(paths, (1, 2), strict=True):
        assert run_cases(names, json_path=path, out=lines.append, workers=workers) == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert all(sum(f"({file.name}, " in line for line in lines) == 2 for file, _ in select(names))


def test_the_longest_files_begin_first_and_a_lost_process_is_a_failure(monkeypatch, tmp_path):
    build = FILES["geradin_2001_double_pendulum"].build
    files = [
        ValidationFile(f"nobody_190{k}_file", "A file", "Source: none.", {f"X{k}": "x"}, _one_bad, build, "contact")
        for k in (0, 1)
    ]
    monkeypatch.setattr("fem_mbs.validation.registry.find", lambda: files)
    monkeypatch.setattr("fem_mbs.validation.runner.SECONDS", {"nobody_1901_file": 9})

    def run_tasks(function, tasks, *, workers, progress, errors):
        assert [task[0].name for task in tasks] == ["nobody_1901_file", "nobody_1900_file"]
        for index in range(2):
            progress(SimpleNamespace(index=index, result=SimpleNamespace(reason="its process was killed")))
        progress(SimpleNamespace(index=None, result=None))

    monkeypatch.setattr("fem_mbs.validation.runner.run_tasks", run_tasks)
    lines = []
    assert run_cases(json_path=tmp_path / "v.json", out=lines.append, workers=2) == 1
    rows = json.loads((tmp_path / "v.json").read_text())
    assert [(row["case"], row["measured"]) for row in rows] == [("X0", None), ("X1", None)]
    assert sum("runs to its end (its process was killed)" in line for line in lines) == 4


def test_long_files_are_files():
    assert set(SECONDS) <= set(FILES)


def test_list_only_runs_nothing(monkeypatch):
    def check(f):
        raise AssertionError("it ran")

    _fake(monkeypatch, check)
    lines = []
    assert run_cases(list_only=True, out=lines.append) == 0
    assert lines == ["nobody_1900_nothing: Nothing at all", "    X1       nothing", "    X2       less"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("crisfield_shi_1993_pendulun", 'did you mean "crisfield_shi_1993_pendulum"'),
        ("C99", "there is none of this name"),
        ("", "there is none of this name"),
    ],
)
def test_unknown_case(name, message):
    with pytest.raises(ModelError, match=message):
        run_cases([name])


def test_select_by_benchmark_takes_the_file_that_shows_it():
    assert select(["b-top"]) == [(FILES["goldstein_1980_top"], {"B-TOP"})]
    assert select(["C4", "c3"]) == [(FILES["crisfield_shi_1993_pendulum"], {"C3", "C4"})]


def test_unwritable_json(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="give another path"):
        run_cases(["M14"], json_path=tmp_path / "file" / "v.json", out=lambda _line: None)


# --- rows and measures -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("measured", "passed"), [(1.1, True), (0.89, False), (math.nan, False), (math.inf, False), (-math.inf, False)]
)
def test_row(measured, passed):
    assert Row("X", "q", measured, 1.0, 0.1000001, "r", PROPERTY).passed is passed


def test_measures():
    t = np.linspace(0.0, 7.0, 701)
    np.testing.assert_allclose(crossings(t, np.sin(t - 0.5)), [0.5, 0.5 + 2.0 * np.pi], atol=1e-6)
    at, value = interpolated_extreme(t, np.cos(t - 0.123))
    assert at == pytest.approx(np.pi + 0.123, abs=1e-6)
    assert value == pytest.approx(-1.0, abs=1e-9)


@pytest.mark.parametrize("value", [0.0, -1.5, 1e-12, -3.25e7, 123456.789, math.nan])
def test_numbers_of_the_report_are_numbers(value):
    text = report._number(value).replace("\u2212", "-").replace("\u00b710<sup>", "e").replace("</sup>", "")
    assert text == "none" if math.isnan(value) else float(text) == pytest.approx(value, rel=5e-3)


def test_table_lines_keep_their_width():
    row = Row(
        "B-SPIN",
        "a quantity that needs many words to be told from all the others of its kind, and more",
        1.0,
        1.0,
        0.1,
        "r",
        printed("table 1"),
    )
    first, *rest = runner._lines(row)
    assert first.split()[-2:] == ["yes", "printed"]
    assert len(rest) == 1
    assert " ".join([first[9:79].strip(), rest[0].strip()]) == row.quantity


def test_totals_lead_with_the_independent_kinds(monkeypatch):
    _fake(monkeypatch, _one_bad)
    lines = []
    run_cases(["x1"], out=lines.append)
    first = next(i for i, line in enumerate(lines) if line.startswith("independent of the package: 1 rows pass"))
    assert "0 printed" in lines[first] and "1 closed form" in lines[first]
    assert lines[first + 1].startswith("others: 0 rows pass (0 quoted, 0 recomputed, 0 property, 0 self)")
    assert sum(totals([CLOSED_FORM, PROPERTY, printed("a")]).values()) == 3
    with pytest.raises(ValueError, match="names where it stands"):
        printed("")


@pytest.mark.parametrize("name", sorted(FILES))
def test_no_row_says_printed_that_is_not(name):
    """A reason calls a number printed only where its row has that kind, with the place."""
    module = __import__(f"fem_mbs.validation.{name}", fromlist=["build"])
    for call in ast.walk(ast.parse(Path(module.__file__).read_text())):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "row":
            kind = call.args[5] if len(call.args) > 5 else next(k.value for k in call.keywords if k.arg == "kind")
            if isinstance(kind, ast.Name) and kind.id in (
                "CLOSED_FORM",
                "INDEPENDENT",
                "RECOMPUTED",
                "PROPERTY",
                "SELF",
            ):
                assert "printed" not in ast.unparse(call.args[4]), f"line {call.lineno}"


@pytest.mark.parametrize(
    ("curves", "scale", "message"),
    [
        ([(np.arange(3.0), np.arange(2.0), "a", "-")], "linear", "give equal lengths"),
        ([(np.arange(3.0), np.arange(3.0), "a", "x")], "linear", "style 'x'"),
        ([], "cubic", "scale 'cubic'"),
    ],
)
def test_draw_curves_refuses(curves, scale, message):
    with pytest.raises(ModelError, match=message):
        draw_curves("T", curves, "x", "y", scale)


def test_tangent_check_refuses_large_models():
    module = __import__("fem_mbs.validation.tomaszewski_2006_falling_chain", fromlist=["build"])
    with pytest.raises(ModelError, match="too many"):
        tangent_check(module.build(1000), h=0.01)


def test_published_points():
    """Points of printed numbers, from numbers or texts, several at an abscissa; a level spans the abscissae."""
    points = published("Chopra (2012)", ["1", "2"], ["0.5", "0.7"])
    assert (points.label, points.style) == ("Chopra (2012)", "o")
    assert points.x.tolist() == [1.0, 2.0] and points.y.tolist() == [0.5, 0.7]
    several = published("", [1.0, 2.0], [[3.0, 4.0], [5.0, 6.0]])
    assert several.x.tolist() == [1.0, 1.0, 2.0, 2.0] and several.y.tolist() == [3.0, 4.0, 5.0, 6.0]
    with pytest.raises(ValueError, match="differ in length"):
        published("x", [1.0, 2.0], [1.0])
    level = published_level("Rao (2011)", [3.0, 1.0, 2.0], "0.25")
    assert level.x.tolist() == [1.0, 3.0] and level.y.tolist() == [0.25, 0.25]


def test_shells_without_temperatures_compute_no_free_strains(monkeypatch):
    from fem_mbs import solve
    from fem_mbs.validation.macneal_harder_1985_shells import patch, reference

    def refused(*_):
        raise AssertionError("strains of temperatures")

    monkeypatch.setattr("fem_mbs.properties.shell_recovery.free_strains", refused)
    model, _ = patch("membrane", "quad8")
    stress = np.asarray(solve(model).steps[0].frames["stress [Pa]"][-1])[:, [0, 1, 3]]
    np.testing.assert_allclose(stress, np.broadcast_to(reference()["membrane"], stress.shape), rtol=1e-5)
