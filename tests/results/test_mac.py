"""How alike shapes are: of a result with itself, of another mesh, of turned and mixed shapes; what is said of steps."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from fem_mbs import Model, ResultsError, mac, run
from fem_mbs.cli.main import app
from fem_mbs.cli.report import _counted, _findings, _steps
from fem_mbs.results.reader import Results
from fem_mbs.results.report import CountCheck
from fem_mbs.results.writer import ResultsWriter

X = np.column_stack((np.linspace(0.0, 1.0, 21), np.zeros(21), np.zeros(21)))


def shape(x: np.ndarray, k: int) -> np.ndarray:
    u = np.zeros((len(x), 3))
    u[:, 1 + k % 2] = np.sin((k + 1) * np.pi * x[:, 0])
    return u


def write(directory, nodes=X, shapes=None, base=None, name="modes", summary=None, kind="modes") -> Results:
    header = {"title": "", "version": "", "dimension": 3, "nodes": nodes}
    cells = np.column_stack((np.arange(len(nodes) - 1), np.arange(1, len(nodes))))
    writer = ResultsWriter(directory, {**header, "blocks": [{"name": "b", "type": "beam", "connectivity": cells}]})
    if base is not None:
        writer.begin_step("load", "static")
        writer.append({"time": [1.0]}, {"time": [1.0], "displacement": base[None]})
        writer.end_step()
    shapes = np.array([shape(nodes, k) for k in range(4)]) if shapes is None else shapes
    if base is not None:
        shapes = shapes + base
    writer.begin_step(name, kind)
    time = np.arange(1.0, len(shapes) + 1)
    writer.append({"time": time}, {"time": time, "displacement": shapes})
    writer.end_step(
        summary or {"frequencies_hz": (10.0 * time).tolist(), "rigid_body_modes": 0, "residuals": [1e-12] * 4}
    )
    writer.close({"steps": []})
    return Results.open(directory)


def test_a_result_is_like_itself_and_its_shapes_are_not_like_each_other(tmp_path):
    a = write(tmp_path / "a")
    found = mac(a, a)
    assert found.matrix.shape == (4, 4) and found.nodes == 21 and found.largest_distance == 0.0
    np.testing.assert_allclose(found.matrix, np.eye(4), atol=1e-14)
    assert found.frequencies_a.tolist() == [10.0, 20.0, 30.0, 40.0] and found.quantity == "frequency [Hz]"
    assert found.pairs == [(k, k, pytest.approx(1.0)) for k in range(4)]


def test_sign_and_size_do_not_count_but_mixing_does(tmp_path):
    a = write(tmp_path / "a")
    s, c = np.sin(0.1), np.cos(0.1)
    own = [shape(X, k) for k in range(4)]
    mixed = np.array([-3.0 * own[0], c * own[1] + s * own[3], c * own[3] - s * own[1]])
    b = write(tmp_path / "b", shapes=mixed, summary={"frequencies_hz": [1.0, 2.0, 3.0]})
    want = [[1, 0, 0], [0, c * c, s * s], [0, 0, 0], [0, s * s, c * c]]
    np.testing.assert_allclose(mac(a, b).matrix, want, atol=1e-14)


def test_a_turned_shape_stays_nearly_the_same(tmp_path):
    angle = np.deg2rad(2.0)
    R = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
    turned = np.array([shape(X, k) @ R.T for k in range(4)])
    found = mac(write(tmp_path / "a"), write(tmp_path / "b", shapes=turned))
    np.testing.assert_allclose(np.diag(found.matrix), np.cos(angle) ** 2, rtol=1e-12)


def test_the_state_that_shapes_swing_about_is_taken_off(tmp_path):
    base = np.zeros_like(X)
    base[:, 2] = 5.0 * X[:, 0] ** 2
    found = mac(write(tmp_path / "a"), write(tmp_path / "b", base=base))
    np.testing.assert_allclose(found.matrix, np.eye(4), atol=1e-12)


def test_other_meshes_are_compared_at_the_nearest_nodes(tmp_path):
    fine = np.column_stack((np.linspace(0.0, 1.0, 101), np.zeros(101), np.zeros(101)))
    a, b = write(tmp_path / "a"), write(tmp_path / "b", nodes=fine)
    found = mac(a, b)
    assert found.nodes == 21 and found.largest_distance < 1e-12
    np.testing.assert_allclose(found.matrix, np.eye(4), atol=1e-12)
    reordered = write(tmp_path / "c", nodes=X[::-1])
    np.testing.assert_allclose(mac(a, reordered).matrix, np.eye(4), atol=1e-12)
    shifted = write(tmp_path / "d", nodes=fine + (0.003, 0.0, 0.0))
    with pytest.raises(ResultsError, match=r"0 of 21 nodes .* within 1e-06 m .* nearest half lies within 0.003 m"):
        mac(a, shifted)
    found = mac(a, shifted, tolerance=0.0035)
    assert 0.0029 < found.largest_distance < 0.0035 and found.matrix.diagonal().min() > 0.998


def test_what_cannot_be_compared_is_refused(tmp_path):
    a = write(tmp_path / "a", name="first")
    with pytest.raises(ResultsError, match=r"no step 'last' with shapes: there are \"first\""):
        mac(a, a, "last")
    still = write(tmp_path / "b", shapes=np.zeros((2, 21, 3)), summary={"frequencies_hz": [1.0, 2.0]})
    with pytest.raises(ResultsError, match='in shape 1 of step "modes" none of the nodes moves'):
        mac(a, still)


@pytest.mark.everyday
def test_modes_of_a_beam_with_two_meshes(tmp_path):
    results = []
    for n in (8, 16):
        m = Model(dimension=2)
        m.material("steel", E=2.1e11, nu=0.3, density=7850)
        m.section("rod", "circle", diameter=0.02)
        m.line("arm", (0, 0), (1, 0), n=n)
        m.beams("arm", on="arm", section="rod", material="steel")
        m.fix("arm:start")
        m.modes_step(count=4)
        results.append(run(m, tmp_path / str(n)))
    found = mac(*results)
    assert found.nodes == 9 and found.matrix.diagonal().min() > 0.9999
    # the command: table and figure
    done = CliRunner().invoke(app, ["mac", str(tmp_path / "8"), str(tmp_path / "16")])
    assert done.exit_code == 0, done.output
    assert "compared at 9 nodes" in done.output and "1.000" in done.output
    figure = tmp_path / "8" / "figures" / "mac.png"
    assert figure.is_file() and figure.stat().st_size > 10_000
    run(m, tmp_path / "8")  # the folder is still ours


# ---------------------------------------------------------------------------------------------- reports


def text(table) -> str:
    from rich.console import Console

    console = Console(width=160, highlight=False)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_report_of_effective_masses(tmp_path):
    participation = {
        "directions": ["x", "y", "rz"],
        "factors": [[0.0] * 3] * 4,
        "effective_mass": [[0.0, 0.0, 0.0], [0.5, 0.0, 1.0], [0.0, 0.0, 2.0], [1.0, 0.0, 0.0]],
        "total": [2.0, 0.0, 4.0],
        "sums": [0.75, 0.0, 0.75],
    }
    summary = {"type": "modes", "frequencies_hz": [0.0, 5.0, 6.0, 7.5], "rigid_body_modes": 1, "residuals": [1e-9] * 4}
    (table,) = _findings(write(tmp_path, summary={**summary, "participation": participation}).steps[0])
    shown = text(table)
    assert "x [%]" in shown and "rz [%]" in shown and "y [%]" not in shown
    rows = [line.split() for line in shown.splitlines()]
    assert ["2", "5", "31.4159", "1.0e-09", "25.00", "25.00"] in rows
    assert ["all", "75.00", "75.00"] in rows
    # without them, and without residuals
    (table,) = _findings(
        write(tmp_path, summary={"frequencies_hz": [5.0], "type": "modes"}, shapes=np.ones((1, 21, 3))).steps[0]
    )
    assert "5" in text(table) and "%" not in text(table)


def test_report_of_buckling_linear_statics_and_counts(tmp_path):
    summary = {"type": "buckling", "load_factors": [2.5, -3.0]}
    (table,) = _findings(write(tmp_path, summary=summary, kind="buckling").steps[0])
    assert "2.5" in text(table) and "-3" in text(table)
    reactions = {"force": [0.0, 0.0, -12.5], "moment": [1.0, 2.0, 3.0]}
    summary = {"type": "static", "linear": True, "largest_displacement": 0.00123, "reactions": reactions}
    results = write(tmp_path, summary=summary, kind="linear_static")
    (table,) = _findings(results.steps[0])
    assert "displacement [m]" in text(table) and "0.00123" in text(table) and "-12.5" in text(table)
    assert "linear static" in text(_steps(results))
    for energy, said in (({}, "FAILED"), ({"closing_error_relative": 0.25}, "2.50e-01 FAILED")):
        summary = {"type": "transient", "failures": ["it ends short"], "energy": energy}
        failed = write(tmp_path, summary=summary, kind="transient")
        assert said in text(_steps(failed)) and "[" not in text(_steps(failed)).splitlines()[-2]
    assert "no mode is missing (4)" in _counted("m", CountCheck(expected=4, found=4))
    assert "5 modes lie up to the highest one, 4 were found" in _counted("m", CountCheck(expected=5, found=4))
