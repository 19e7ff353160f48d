"""Optimisation over a model file: optima in closed form, the trials that are kept, mistakes."""

import math

import numpy as np
import pytest

from fem_mbs import AnalysisError, ModelError, Results, ResultsError, load_model, run, sensitivities
from fem_mbs.analysis.transient.stepping import Stepping
from fem_mbs.files import version
from fem_mbs.plot.figures import plot_all
from fem_mbs.sweeps.optimise import optimise

#: An oscillator whose mass grows with its stiffness: f^2 (2 pi)^2 = k/(2 + k/10^4).
MODEL = """
[parameters]
k = 1000.0
mass = "2 + k/1e4"
[[node]]
name = "n"
position = [0, 0, 0]
[[point_mass]]
name = "p"
at = "n"
mass = "mass"
[[support]]
on = "n"
components = ["y", "z"]
[[nodal_spring]]
name = "s"
on = "n"
component = "x"
stiffness = "k"
[[step]]
type = "modes"
count = 1
"""
BEST = 2.0 * (6.0 * math.pi) ** 2 / (1.0 - (6.0 * math.pi) ** 2 / 1e4)  # of 3 Hz


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(MODEL, encoding="utf-8")
    return path


def test_an_aim_is_met_and_trials_are_kept(file, tmp_path):
    seen = []
    found = optimise(
        file, {"k": (100.0, 2000.0)}, "({modes.frequency_1} - 3)**2", output=tmp_path / "out",
        progress=lambda number, row, value: seen.append((number, row.values, value)),
    )  # fmt: skip
    assert found.converged and found.message.startswith("converged: ")
    assert found.values["k"] == pytest.approx(BEST, rel=1e-4)
    assert found.row.quantities["modes.frequency_1"] == pytest.approx(3.0, rel=1e-4)
    assert len(seen) == len(found.table.rows) < 40
    assert min(value for _, _, value in seen) == found.objective
    best = load_model(tmp_path / "out" / "optimum.toml")
    assert best.parameters["k"] == found.values["k"]
    stamps = {p: p.stat().st_mtime_ns for p in (tmp_path / "out" / "variants").rglob("variant.json")}
    again = optimise(file, {"k": (100.0, 2000.0)}, "({modes.frequency_1} - 3)**2", output=tmp_path / "out")
    assert again.values == found.values
    assert stamps == {p: p.stat().st_mtime_ns for p in (tmp_path / "out" / "variants").rglob("variant.json")}
    for path in stamps:  # those of an older version are run again
        path.write_text(path.read_text().replace(f'"version": "{version()}"', '"version": "0.0.1"'))
    optimise(file, {"k": (100.0, 2000.0)}, "({modes.frequency_1} - 3)**2", output=tmp_path / "out")
    assert all(f'"version": "{version()}"' in path.read_text() for path in stamps)


def test_a_constraint_is_active_at_the_optimum(file, tmp_path):
    """The lightest oscillator of at least 3 Hz; the objective is a parameter that depends on the varied one."""
    found = optimise(
        file, {"parameters.k": (100.0, 1500.0, 2000.0)}, "parameter.mass", subject=["modes.frequency_1 >= 3"],
        output=tmp_path / "out",
    )  # fmt: skip
    assert found.values["parameters.k"] == pytest.approx(BEST, rel=1e-4)
    assert found.objective == pytest.approx(2.0 + BEST / 1e4, rel=1e-6)
    assert found.table.column("modes.frequency_1").size == len(found.table.rows)
    with pytest.raises(AnalysisError, match=r"none of .* trials fulfils"):
        optimise(
            file, {"k": (100.0, 200.0)}, "parameter.mass", subject=["modes.frequency_1 >= 3"],
            output=tmp_path / "none", trials=4,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("vary", "options", "message"),
    [
        ({"k": (1.0, 2.0)}, {}, "either minimise or maximise"),
        ({"q": (1.0, 2.0)}, {"minimise": "parameter.mass"}, "has no 'q'"),
        ({"k": (2.0, 1.0)}, {"minimise": "parameter.mass"}, "two rising numbers"),
        ({"k": (1.0, 2.0)}, {"minimise": "{a} +"}, "invalid syntax"),
        ({"k": (1.0, 2.0)}, {"minimise": "modes.frequency_9"}, 'no quantity "modes.frequency_9"; there are modes'),
        ({"k": (1.0, 2.0)}, {"minimise": "a", "subject": ["b = 3"]}, "must be a quantity, <= or >=, and a number"),
        ({"k": (1.0, 2.0)}, {"minimise": "a", "method": "newton"}, "must be one of cobyqa"),
        ({"k": (1.0, 2.0)}, {"minimise": "a", "method": "nelder-mead", "subject": ["b <= 1"]}, "no constraints"),
    ],
    ids=range(8),
)
def test_mistakes(vary, options, message, file, tmp_path):
    with pytest.raises(ModelError, match=message):
        optimise(file, vary, output=tmp_path / "out", **options)


@pytest.mark.parametrize(
    "options",
    [{"minimise": "mode.frequency_1"}, {"minimise": "parameter.mass", "subject": ["{mode.frequency_1}**2 >= 1"]}],
    ids=["objective", "constraint"],
)
def test_a_quantity_that_no_trial_can_have_is_refused_before_the_first(options, file, tmp_path):
    with pytest.raises(ModelError, match=r'no quantity fits "mode\.frequency_1"; near ones are .*modes\.frequency_1'):
        optimise(file, {"k": (1.0, 2.0)}, output=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_bounds_that_are_given_twice(file, tmp_path):
    """The last ones counted in silence."""
    from typer.testing import CliRunner

    from fem_mbs.cli.main import app

    result = CliRunner().invoke(
        app, ["optimise", str(file), "--vary", "k=1:2", "--vary", "k=700:750", "--maximise", "modes.frequency_1",
              "-o", str(tmp_path / "out")],
    )  # fmt: skip
    assert isinstance(result.exception, ModelError)
    assert "k is given twice; keep one --vary of it" in str(result.exception)


@pytest.mark.everyday
def test_the_command(file, tmp_path):
    from typer.testing import CliRunner

    from fem_mbs.cli.main import app

    result = CliRunner().invoke(
        app, ["optimise", str(file), "--vary", "k=700:750", "--maximise", "modes.frequency_1", "--trials", "8",
              "-o", str(tmp_path / "out")],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "k = 750" in result.output
    assert "trial 1: k = 725: objective " in result.output and "trust-region" not in result.output
    assert (tmp_path / "out" / "sweep.csv").is_file()
    run = CliRunner().invoke(app, ["run", str(file), "--set", "k=800", "-q", "-o", str(tmp_path / "results")])
    assert run.exit_code == 0, run.output
    assert '"k": 800' in (tmp_path / "results" / "summary.json").read_text(encoding="utf-8")


#: A free oscillation without damping: the amplitude is v0 sqrt(m/k).
SWING = """
dimension = 2
[parameters]
k = 50.0
m = 2.0
[[node]]
name = "a"
position = [0, 0]
[[point_mass]]
name = "p"
at = "a"
mass = "m"
[[support]]
on = "a"
components = ["y"]
[[nodal_spring]]
name = "s"
on = "a"
component = "x"
stiffness = "k"
[[initial]]
on = "a"
velocity = [0.1, 0]
[[sensor]]
name = "x"
kind = "displacement"
on = "a"
[[step]]
type = "transient"
duration = 1.0
h = 1e-3
frames = 0
"""


@pytest.fixture
def swing(tmp_path):
    path = tmp_path / "swing.toml"
    path.write_text(SWING, encoding="utf-8")
    return path


@pytest.mark.parametrize("method", ["slsqp", "trust-constr"])
def test_gradients_lead_to_a_constrained_optimum(method, swing, tmp_path):
    """The softest spring that stops the mass within 15 mm: k = m v0^2/0.015^2."""
    found = optimise(
        swing, {"k": (20.0, 150.0, 300.0)}, "parameter.k", subject=["transient.x.x.absmax <= 0.015"], method=method,
        output=tmp_path / "out",
    )  # fmt: skip
    assert found.converged
    # (a method of inner points ends beside the constraint)
    near = 2e-4 if method == "slsqp" else 2e-3
    assert found.values["k"] == pytest.approx(2.0 * 0.1**2 / 0.015**2, rel=near)
    assert "runs for gradients" in found.message
    assert len(found.table.rows) < (12 if method == "slsqp" else 60)


def test_gradients_are_kept(swing, tmp_path):
    """l-bfgs-b with an expression of two quantities; the second call makes no run."""
    aim = "({transient.x.x.absmax} - 0.015)**2*1e4 + 1e-9*{parameter.m}"
    options = {"method": "l-bfgs-b", "output": tmp_path / "out", "tolerance": 1e-5}
    found = optimise(swing, {"k": (20.0, 150.0, 300.0), "m": (1.0, 2.0)}, aim, **options)
    assert found.row.quantities["transient.x.x.absmax"] == pytest.approx(0.015, rel=1e-3)
    again = optimise(swing, {"k": (20.0, 150.0, 300.0), "m": (1.0, 2.0)}, aim, **options)
    assert again.values == found.values
    assert "; 0 runs for gradients" in again.message


def test_gradients_that_there_are_not(file, swing, tmp_path):
    with pytest.raises(ModelError, match=r'"modes\.frequency_1" is no quantity .* "cobyqa"|no sensors.*"cobyqa"'):
        optimise(file, {"k": (100.0, 2000.0)}, "modes.frequency_1", method="slsqp", output=tmp_path / "a")
    with pytest.raises(ModelError, match=r'"transient\.iterations" is no quantity that has a derivative.*"cobyqa"'):
        optimise(swing, {"k": (20.0, 300.0)}, "transient.iterations", method="slsqp", output=tmp_path / "b")
    with pytest.raises(ModelError, match='"l-bfgs-b" takes no constraints'):
        optimise(
            swing, {"k": (20.0, 300.0)}, "parameter.k", subject=["parameter.k >= 1"], method="l-bfgs-b",
            output=tmp_path / "c",
        )  # fmt: skip


@pytest.mark.everyday
def test_commands_with_derivatives(swing, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from fem_mbs.cli.main import app

    out = tmp_path / "out"
    told = CliRunner().invoke(
        app, ["optimise", str(swing), "--vary", "k=20:150:300", "--minimise", "parameter.k", "--subject",
              "transient.x.x.absmax <= 0.015", "--gradients", "-o", str(out)],
    )  # fmt: skip
    assert told.exit_code == 0, told.output
    assert "slsqp: gradients from derivatives of the runs" in told.output
    wrong = CliRunner().invoke(
        app, ["optimise", str(swing), "--vary", "k=20:300", "--minimise", "parameter.k", "--gradients", "--method",
              "evolution", "-o", str(out)],
    )  # fmt: skip
    assert wrong.exit_code != 0

    # the clock cuts runs into chunks, whose factors derivatives reuse: the same chunks give the same bits
    monkeypatch.setattr(Stepping, "chunk_length", lambda self, pace, remaining: min(100, remaining))
    folder = tmp_path / "slopes"
    told = CliRunner().invoke(
        app, ["sensitivities", str(swing), "--of", "k", "--of", "m", "--quantity", "transient.x.x.absmax", "--quantity",
              "transient.x.x@0.5", "-o", str(folder)],
    )  # fmt: skip
    assert told.exit_code == 0, told.output
    written = {path.name for path in folder.iterdir()}
    assert {"sensitivities.json", "sensitivities.csv", "sensitivity_series.csv", "sensitivities.png"} <= written
    rows = (folder / "sensitivities.csv").read_text(encoding="utf-8").splitlines()
    relative = [float(v) for v in rows[1].split(",")[3:]]
    # absmax = v0 sqrt(m/k)
    assert relative[0] * 50.0 / 0.02 == pytest.approx(-0.5, rel=2e-3)
    assert relative[1] * 2.0 / 0.02 == pytest.approx(0.5, rel=2e-3)

    results = Results.open(folder)
    assert results.status == "done"
    plain = run(load_model(swing), tmp_path / "plain run")
    assert results.steps[0].summary["energy"] == plain.steps[0].summary["energy"]
    assert results.summary["sensors"] == plain.summary["sensors"]
    assert results.sensitivity_parameters == {"k": 50.0, "m": 2.0}
    own = sensitivities(swing, ["k", "m"])
    found = results.sensitivity("x", "k")
    np.testing.assert_array_equal(found.values[:, 0], own.series("transient.x.x", "k").values[:, 0])
    np.testing.assert_array_equal(own.solution.sensitivity("x", "k").values, found.values)
    assert [path.name for path in plot_all(results) if path.name == "sensitivities.png"]
    with pytest.raises(ResultsError, match=r'"c".*there are k, m'):
        results.sensitivity("x", "c")
    again = CliRunner().invoke(app, ["sensitivities", str(swing), "--of", "k", "-o", str(folder)])
    assert again.exit_code == 0, again.output
    assert Results.open(folder).sensitivity_parameters == {"k": 50.0}


def test_results_without_derivatives_say_so(swing, tmp_path):
    results = run(load_model(swing), tmp_path / "plain")
    assert results.sensitivity_parameters == {}
    with pytest.raises(ResultsError, match="no derivatives; run fem-mbs sensitivities"):
        results.sensitivity("x", "k")


def test_the_file_of_the_optimum_finds_the_files_of_the_model(file, tmp_path):
    """A function in a table beside the model file, which stands elsewhere than the optimum."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "push.csv").write_text("0;0\n1;3\n", encoding="utf-8")
    push = '[[force]]\non = "n"\nvector = [1, 0, 0]\nfunction = { kind = "csv", file = "tables/push.csv" }\n'
    sensor = '[[sensor]]\nname = "x"\nkind = "displacement"\non = "n"\n'
    step = '[[step]]\ntype = "linear_static"\ntime = 0.5\n'
    file.write_text(MODEL.replace("[[step]]", push + sensor + "[[step]]", 1) + step, encoding="utf-8")
    found = optimise(
        file, {"k": (100.0, 2000.0)}, "parameter.mass", subject=["linear_static.x.x.end <= 0.01"],
        output=tmp_path / "some" / "out", trials=20,
    )  # fmt: skip
    again = run(load_model(tmp_path / "some" / "out" / "optimum.toml"), tmp_path / "again")
    x = again.sensor("x", 1).values[-1, 0]
    assert x == found.row.quantities["linear_static.x.x.end"] == pytest.approx(1.5 / found.values["k"], rel=1e-9)
