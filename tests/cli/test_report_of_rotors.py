"""What the terminal shows of steps without time and frames."""

from io import StringIO

import pytest
from rich.console import Console

from fem_mbs import Model, run
from fem_mbs.cli.report import print_report
from fem_mbs.errors import ResultsError
from fem_mbs.plot.figures import animate


@pytest.fixture(scope="module", params=["rpm", "rad/s"])
def rotor(request, tmp_path_factory):
    m = Model(3, title="rotor")
    m.units(speed=request.param)
    m.material("steel", E=2.1e11, nu=0.3, density=7850.0)
    m.section("shaft", "circle", diameter=0.03)
    m.line("shaft", (0, 0, 0), (1, 0, 0), 4)
    m.beams("shaft", "shaft", "shaft", "steel")
    for end in ("start", "end"):
        m.bearing(end, f"shaft:{end}", stiffness=(1e7, 2e7), axis=(1, 0, 0))
    m.fix("shaft:start", ["x"])
    m.rotor("rotor", axis=(1, 0, 0))
    m.campbell_step("rotor", [0.0, 400.0], count=2)
    return request.param, run(m, tmp_path_factory.mktemp("rotor") / "out")


def test_speeds_stand_once_in_each_unit(rotor):
    unit, results = rotor
    screen = StringIO()
    print_report(Console(file=screen, width=200), results)
    head = next(line for line in screen.getvalue().splitlines() if "critical speed" in line)
    assert head.count("[rpm]") == 1 and head.count("[rad/s]") == (unit == "rad/s")


def test_only_what_there_is_is_named(rotor):
    _, results = rotor
    screen = StringIO()
    print_report(Console(file=screen, width=200), results)
    text = screen.getvalue()
    assert "(summary.json, results.h5)" in text and "animate" not in text
    assert "iterations per step" not in text and "energy closing error" not in text
    with pytest.raises(ResultsError, match="no frames with displacements; steps of modes keep them"):
        animate(results, results.folder() / "a.gif")
