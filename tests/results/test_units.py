"""Units of display: conversion against exact definitions, and what a model, its files and its tables make of them."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

import fem_mbs
from fem_mbs.errors import ModelError
from fem_mbs.modelfile.read import load_model
from fem_mbs.modelfile.writer import write_model
from fem_mbs.plot import series
from fem_mbs.plot.axes import pretty
from fem_mbs.results.reader import Results
from fem_mbs.units import BASES, QUANTITIES, Shown, Units

SI = "m kg s"


@pytest.mark.parametrize(
    ("chosen", "declared", "unit", "factor"),
    [
        ({"length": "mm"}, "m", "mm", 1e3),
        ({"length": "mm"}, "m/s", "mm/s", 1e3),
        ({"length": "mm", "velocity": "km/h"}, "m/s", "km/h", 3.6),
        ({"length": "mm"}, "m^4", "mm^4", 1e12),
        ({"force": "kN", "length": "mm"}, "N m", "kN mm", 1.0),
        ({"force": "kN", "moment": "N m"}, "N m", "N m", 1.0),
        ({"force": "kN", "length": "mm"}, "N/m", "kN/mm", 1e-6),
        ({"stress": "MPa", "length": "mm"}, "Pa", "MPa", 1e-6),
        ({"stress": "psi"}, "Pa", "psi", 1.0 / 6894.757293168361),  # NIST SP 811
        ({"speed": "rpm"}, "rad/s", "rpm", 30.0 / np.pi),
        ({"angle": "deg"}, "rad/s", "deg/s", 180.0 / np.pi),
        ({"angle": "deg"}, "N m/rad", "N m/deg", np.pi / 180.0),
        ({"mass": "t", "length": "mm"}, "kg m^2", "t mm^2", 1e3),
        ({"energy": "kJ", "force": "kN"}, "J", "kJ", 1e-3),
        ({"time": "ms"}, "s", "ms", 1e3),
        ({"time": "ms"}, "m/s", "m/s", 1.0),
        ({"acceleration": "g"}, "m/s^2", "g", 1.0 / 9.80665),
        ({"length": "mm", "angle": "deg"}, "m, rad", "m, rad", 1.0),  # either: it cannot be converted
        ({"length": "mm", "force": "kN"}, "(m)/(N)", "(mm)/(kN)", 1e6),  # of a transfer function
        ({"acceleration": "g"}, "(1)/(m/s^2)", "(1)/(g)", 9.80665),
        ({"length": "mm"}, "-", "-", 1.0),
        ({"length": "mm"}, "", "", 1.0),
    ],
)
def test_declared_units_take_the_chosen_ones(chosen, declared, unit, factor):
    shown = Units(SI, chosen).of(declared)
    assert shown.unit == unit
    assert shown.factor == pytest.approx(factor, rel=1e-12)
    assert shown(2.0) == pytest.approx(2.0 * factor, rel=1e-12)


def test_bases_name_their_own_units_and_convert_from_them():
    own = {base: [Units(base).of(unit).unit for unit in ("m", "N", "Pa", "J", "Hz")] for base in BASES}
    assert own["mm t s"] == ["mm", "N", "MPa", "mJ", "Hz"]
    assert own["mm kg ms"] == ["mm", "kN", "GPa", "J", "kHz"]
    assert own["in lbf s"] == ["in", "lbf", "psi", "lbf in", "Hz"]
    assert all(Units(base).of(unit).factor == 1.0 for base in BASES for unit in ("m", "N", "Pa", "N m", "kg m^2"))
    assert Units("mm t s").of("(m)/(N)") == Shown("(mm)/(N)")
    tonnes = Units("mm t s", {"length": "m", "stress": "Pa", "mass": "kg", "energy": "J"})
    assert [tonnes.of(unit).factor for unit in ("m", "Pa", "kg", "J", "m/s")] == pytest.approx(
        [1e-3, 1e6, 1e3, 1e-3, 1e-3], rel=1e-12
    )


def test_every_quantity_converts_there_and_back():
    for key, quantity in QUANTITIES.items():
        for name, size in quantity.choices.items():
            assert Units(SI, {key: name}).of(quantity.declared).factor == pytest.approx(1.0 / size, rel=1e-12)


def test_headers_hold_units_and_older_ones_are_si():
    units = Units("mm t s", {"angle": "deg"})
    assert Units.of_header({"units": units.to_json()}) == units
    assert Units.of_header({}) == Units()
    assert pretty("kg m^2/s^-1") == "kg m²/s⁻¹"


FILE = """
title = "Spring"
dimension = 2
[units]
length = "mm"
force = "kN"
[[node]]
name = "wall"
position = [0.0, 0.0]
[[node]]
name = "mass"
position = [1.0, 0.0]
[[point_mass]]
name = "mass"
at = "mass"
mass = 2.0
[[spring]]
name = "spring"
a = "wall"
b = "mass"
stiffness = 8e5
[[support]]
on = "wall"
[[support]]
on = "mass"
components = ["y"]
[[force]]
name = "push"
on = "mass"
vector = [4000.0, 0.0]
[[sensor]]
name = "place"
kind = "displacement"
on = "mass"
[[sensor]]
name = "hold"
kind = "reaction"
on = "wall"
[[step]]
type = "static"
name = "pull"
increments = 4
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("units") / "model.toml"
    path.write_text(FILE)
    return fem_mbs.run(load_model(path), path.parent / "out").folder()


def test_files_and_calls_of_python_say_the_same(tmp_path):
    (tmp_path / "model.toml").write_text(FILE)
    model = load_model(tmp_path / "model.toml")
    assert model.shown_units == Units(SI, {"length": "mm", "force": "kN"})
    write_model(model, tmp_path / "again.toml")
    assert load_model(tmp_path / "again.toml").shown_units == model.shown_units


def test_results_stay_in_the_base_and_tables_are_in_units_of_display(folder):
    results = Results.open(folder)
    assert results.units == Units(SI, {"length": "mm", "force": "kN"})
    place = results.sensor("place", "pull")
    assert place.units == ["m", "m"] and place.values[-1, 0] == pytest.approx(4000.0 / 8e5, rel=1e-9)
    with next(folder.glob("sensors-*.csv")).open() as file:
        head, *rows = csv.reader(file)
    last = dict(zip(head, map(float, rows[-1]), strict=True))
    told = {re.sub(r".* \[", "[", name) for name in head}
    assert told == {"[s]", "[-]", "[mm]", "[kN]"}
    assert next(v for name, v in last.items() if name.startswith("place") and "x [mm]" in name) == pytest.approx(
        5.0, rel=1e-9
    )
    assert max(abs(v) for name, v in last.items() if "[kN]" in name) == pytest.approx(4.0, rel=1e-9)


def test_the_summary_tells_the_base_of_its_numbers(folder, tmp_path):
    """Its units are named in SI; without the base nobody could know that m stands for mm."""
    assert Results.open(folder).report.units == {"base": SI, "length": "mm", "force": "kN"}
    (tmp_path / "model.toml").write_text(FILE.replace('length = "mm"', 'base = "mm kg ms"'))
    found = fem_mbs.run(load_model(tmp_path / "model.toml"), tmp_path / "out")
    assert found.summary["units"]["base"] == "mm kg ms"
    (tmp_path / "model.toml").write_text(FILE.replace('[units]\nlength = "mm"\nforce = "kN"\n', ""))
    assert "units" not in fem_mbs.run(load_model(tmp_path / "model.toml"), tmp_path / "out").summary


def test_axes_of_figures_have_round_numbers_of_the_unit_of_display(folder, monkeypatch, tmp_path):
    figures = []
    monkeypatch.setattr(series, "save_figure", lambda figure, path: figures.append(figure) or path)
    results = Results.open(folder)
    (page,) = series.sensor_pages(results)
    series.plot_sensor_page(results, page, tmp_path / "a.png")
    place = figures[0].axes[0]
    figures[0].canvas.draw()
    assert [axes.get_ylabel() for axes in figures[0].axes] == ["Displacement [mm]", "Reaction [kN]"]
    assert [axes.get_title(loc="left") for axes in figures[0].axes] == ["place", "hold"]
    assert figures[0].axes[-1].get_xlabel() == "Load factor [-]"
    shown = {text.get_text(): y for text, y in zip(place.get_yticklabels(), place.get_yticks(), strict=True)}
    shared = [text.get_text() for text in figures[0].axes[-1].get_xticklabels()]
    assert {"0.0", "1.0"} <= set(shared)
    assert shown["2"] == pytest.approx(0.002) and shown["4"] == pytest.approx(0.004)
    np.testing.assert_allclose(place.lines[0].get_ydata()[-1], 0.005, rtol=1e-9)  # drawn in the base


def test_a_wrong_unit_is_an_error_that_lists_the_choices(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text('[units]\nlength = "yd"\n')
    with pytest.raises(ModelError, match=r'\[units\]: length = "yd" must be one of "m", "mm"'):
        load_model(path)
    path.write_text('[units]\nlenght = "mm"\n')
    with pytest.raises(ModelError, match='did you mean "length"'):
        load_model(path)
    model = fem_mbs.Model(dimension=2)
    model.units(base="mm t s")
    with pytest.raises(ModelError, match="keep one"):
        model.units(length="m")
