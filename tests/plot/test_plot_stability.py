"""Figures and tables of complex modes, rotors and stability, from results of models that numpy solves."""

from __future__ import annotations

import io

import numpy as np
import pytest
import stability_results as made
from rich.console import Console

from fem_mbs.analysis.solution import Solution, StepResult
from fem_mbs.analysis.steps.rotors.campbell import CampbellReport
from fem_mbs.analysis.steps.rotors.unbalance import WhirlAmplitude
from fem_mbs.cli.report import print_report
from fem_mbs.errors import ResultsError
from fem_mbs.plot import figures as plot
from fem_mbs.plot.frequency.campbell import UNSTABLE, _choose, _unwound
from fem_mbs.plot.frequency.stability import _through_zero
from fem_mbs.plot.scene import Scene
from fem_mbs.results.modes.eigenvalues import (
    Branches,
    as_complex,
    campbell_branches,
    damping_ratio,
    eigenvalue_path,
    is_damped,
    onsets,
    track,
    unstable,
    untangle,
)
from fem_mbs.results.modes.shapes import amplitudes, largest_excursion, state_of_shapes
from fem_mbs.results.reader import Results
from fem_mbs.results.writer import ResultsWriter
from fem_mbs.rotations import rotation_matrices

Image = pytest.importorskip("PIL.Image")

BLUE, ORANGE = "#0072B2", "#D55E00"


def pixels(path, frame: int = 0) -> np.ndarray:
    with Image.open(path) as image:
        if frame:
            image.seek(frame)
        return np.asarray(image.convert("RGB"), dtype=int)


def count(picture: np.ndarray, colour: str, tolerance: int = 12) -> int:
    wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
    return int((np.abs(picture - wanted).max(axis=2) <= tolerance).sum())


def whole(picture: np.ndarray) -> None:
    """Nothing is cut off, and there is paper between the lines."""
    assert picture[0].min() == picture[-1].min() == picture[:, 0].min() == picture[:, -1].min() == 255


def report(results: Results) -> str:
    console = Console(file=io.StringIO(), width=130)
    print_report(console, results)
    return console.file.getvalue()


# ------------------------------------------------------------------------------------------ eigenvalues in results


def test_eigenvalues_of_a_summary():
    found = as_complex([[-1.0, 2.0], None, [0.5, 0.0], [None, None]])
    assert found[0] == -1 + 2j and found[2] == 0.5 and np.isnan(found[[1, 3]]).all()
    assert as_complex([]).shape == (0,) and as_complex([1j])[0] == 1j
    np.testing.assert_allclose(damping_ratio(np.array([-3 + 4j, 0, 2.0])), [0.6, 0.0, -1.0])
    with pytest.raises(ValueError, match="pairs"):
        as_complex([[1.0, 2.0, 3.0]])


def test_what_counts_as_growth():
    values = np.array([[1e-9 + 5j, 1e-3 + 5j, -1 + 5j, np.nan, 1e-7 + 0j]])
    assert unstable(values).tolist() == [[False, True, False, False, False]]
    assert is_damped(values) and not is_damped(np.array([1e-9 + 5j, 3j, 1e-8]))


def test_branches_are_tracked_through_crossings():
    s = np.linspace(0.0, 1.0, 40)
    true = np.column_stack((1j * (3.0 + 4.0 * s), 1j * (7.0 - 3.0 * s), -0.5 + 1j * (5.0 + s**2), 1j * (9.0 + 0 * s)))
    rng = np.random.default_rng(2)
    mixed = np.array([row[rng.permutation(4)] for row in true])
    mixed[7] = np.nan  # a row without eigenvalues does no harm
    found = track(mixed)
    assert found.shape == (40, 4)
    order = [int(np.nanargmin(np.abs(found[0] - start))) for start in true[0]]
    keep = np.arange(40) != 7
    np.testing.assert_allclose(found[keep][:, order], true[keep])


def test_a_branch_may_begin_and_end():
    values = np.array([[1j, 2j, np.nan], [1.1j, 2.1j, 5j], [1.2j, np.nan, 5.1j]])
    found = track(values)
    assert found.shape == (3, 3)
    assert np.isnan(found).sum(axis=0).tolist() == [0, 1, 1]
    np.testing.assert_allclose(found[1:, 2], [5j, 5.1j])


def test_onsets_of_flutter_and_divergence(tmp_path):
    """Ziegler (1952): flutter at 7/2 - sqrt 2; divergence where the stiffness is singular."""
    (flutter,) = onsets(eigenvalue_path(made.write_path(tmp_path / "a", 1.0).steps[0]))
    assert flutter.kind == "flutter"
    assert flutter.at == pytest.approx(3.5 - np.sqrt(2.0), abs=0.005)  # rows are 0.2 apart
    assert flutter.frequency == pytest.approx(made.ziegler(3.5 - np.sqrt(2.0), 1.0)[0].imag / 2 / np.pi, rel=0.005)
    exact = np.sort(np.roots([0.8, -2.4, 1.0]))  # (2 - P)(1 - 0.8 P) + 0.2 P - 1
    for damping in (0.0, 0.03):
        found = onsets(eigenvalue_path(made.write_path(tmp_path / "b", 0.2, damping).steps[0]))
        assert [onset.kind for onset in found] == ["divergence", "divergence"]
        np.testing.assert_allclose([onset.at for onset in found], exact, atol=0.015)
    (slow,) = onsets(eigenvalue_path(made.write_path(tmp_path / "c", 1.0, 0.05).steps[0]))
    grid = np.linspace(1.0, 2.0, 10001)
    true = grid[np.argmax([made.ziegler(load, 1.0, 0.05).real.max() > 0.0 for load in grid[::10]]) * 10]
    assert slow.kind == "flutter" and slow.at == pytest.approx(true, abs=0.03)


@pytest.mark.parametrize(("follows", "damping"), [(1.0, 0.0), (0.2, 0.0), (0.2, 0.3)])
def test_stability_may_return(follows, damping):
    """Backwards the same ends are found, by the same branches."""
    loads = np.linspace(0.0, 2.3, 24)
    rows = np.full((24, 4), complex(np.nan, np.nan))
    for row, load in zip(rows, loads, strict=True):
        found = made.ziegler(load, follows, damping)
        row[: len(found)] = found
    (starts,) = onsets(Branches(loads, "", track(rows)))
    (ends,) = onsets(Branches(loads[::-1], "", track(rows[::-1])))
    assert ends.ends and not starts.ends and ends.kind == starts.kind
    assert (ends.at, ends.frequency) == pytest.approx((starts.at, starts.frequency))
    assert starts.at == pytest.approx(3.5 - np.sqrt(2.0) if follows == 1.0 else 0.5, abs=0.01)


def test_a_pair_on_the_real_axis_pushes_out_the_highest_branch():
    """Two values are sought: both frequencies, then +-r of the first mode (a column by the likeness of shapes)."""
    nan = complex(np.nan, np.nan)
    found = untangle(np.array([[3j, 9j], [1j, 8.9j], [-2, 2], [-3, 3.0]]))
    np.testing.assert_array_equal(found, [[3j, 9j, nan], [1j, 8.9j, nan], [2, nan, -2], [3, nan, -3]])
    (onset,) = onsets(Branches(np.arange(4.0), "", found))
    assert onset.kind == "divergence" and onset.at == pytest.approx(1.2)
    # values of a pair that have changed places go on as they came
    swapped = untangle(np.array([[-2, 2], [2.1, -2.1], [-2.2, 2.2]], complex))
    np.testing.assert_array_equal(swapped[:, 0], [-2, -2.1, -2.2])
    back = untangle(np.array([[-3, 3.0], [-2, 2], [1j, 8.9j], [3j, 9j]]))
    (onset,) = onsets(Branches(np.arange(4.0), "", back))
    assert onset.ends and onset.at == pytest.approx(1.8)


def test_no_eigenvalues_no_path(tmp_path):
    results = made.write_modes(tmp_path, made.Overhung(), 100.0)
    assert eigenvalue_path(results.steps[0]) is None
    with pytest.raises(ResultsError, match="eigenvalues along its way"):
        plot.plot_eigenvalues(results, 0, tmp_path / "a.png")


# ------------------------------------------------------------------------------------------ figures


def test_campbell_diagram(tmp_path):
    results = made.write_campbell(tmp_path / "a", made.Overhung())
    picture = pixels(plot.plot_campbell(results, 0, tmp_path / "a.png"))
    whole(picture)
    assert count(picture, BLUE) > 3000 and count(picture, ORANGE) > 3000  # forward, backward
    assert count(picture, "#009E73") == 0
    faint = "#EFC0D1"  # the halo on paper
    assert count(picture, faint, 4) == 0
    results = made.write_campbell(tmp_path / "a", made.Overhung(60.0, 90.0))
    damped = pixels(plot.plot_campbell(results, 0, tmp_path / "b.png"))
    assert damped.shape[0] > picture.shape[0]  # a second panel
    assert count(damped, faint, 4) > 3000
    anisotropic = made.write_campbell(tmp_path / "a", made.Overhung(softer=0.5))
    assert count(pixels(plot.plot_campbell(anisotropic, 0, tmp_path / "c.png")), "#009E73") > 50  # mixed at rest
    assert plot.plot_all(anisotropic, tmp_path / "d")


def test_what_grows_without_oscillating_is_shown_by_its_rate(tmp_path):
    """A flat shaft, seen from the rotor: between its two critical speeds it diverges; there is no damping."""
    speeds = np.linspace(0.2, 20.2, 81)
    # M = 1, 2 P, K - Omega^2: (9^2 - Omega^2 + p^2)(11^2 - Omega^2 + p^2) + 4 Omega^2 p^2 = 0
    found = []
    for w in speeds:
        K, P = np.diag([81.0 - w * w, 121.0 - w * w]), np.array([[0.0, -2.0 * w], [2.0 * w, 0.0]])
        p = made.eigenvalues(np.eye(2), P, K)[0]
        low, high = np.abs(p).min(), p[p.imag.argmax()]
        found.append([max(p[np.abs(p) <= 1.001 * low + 1e-6], key=lambda v: v.real), high])
    branches = [{"eigenvalues": made.pairs(np.array(found)[:, k]), "whirl": "forward"} for k in range(2)]
    summary = {"speeds": speeds.tolist(), "branches": branches, "frame": "rotating", "critical_speeds": []}
    results = made.write_campbell(tmp_path, made.Overhung(), **summary)
    picture = pixels(plot.plot_campbell(results, 0, tmp_path / "figures" / "campbell-a.png"))
    whole(picture)
    lower = picture[int(0.7 * picture.shape[0]) :]
    rows = np.flatnonzero((np.abs(lower - [0xC2, 0x18, 0x5B]).max(axis=2) <= 12).any(axis=1))
    assert np.ptp(rows) > 80  # a hump as high as the panel
    start, end = onsets(campbell_branches(results.steps[0].report)[0])
    assert (start.ends, end.ends) == (False, True)
    assert (start.at, end.at) == pytest.approx((9.0, 11.0), abs=0.03)  # rows are 0.25 apart
    assert "divergence from speed" in report(results)


def test_a_branch_at_rest_has_the_whirl_of_the_next_speed(tmp_path):
    speeds, still = [0.0, 10.0, 20.0], [[0.0, 5.0]] * 3
    rows = [
        (["none", "forward", "forward"], ["forward"] * 3),
        (["none", "none", "backward"], ["none", "none", "backward"]),
    ]
    branches = [{"eigenvalues": still, "whirl": given} for given, _ in rows]
    _, whirl = campbell_branches(CampbellReport.from_json({"speeds": speeds, "branches": branches}))
    assert whirl.T.tolist() == [wanted for _, wanted in rows]


def test_many_responses_are_drawn_by_their_long_half_axes():
    rows = [
        WhirlAmplitude(at=f"n{k}", direction=d, amplitude=[0.0, k * size], phase=None if d == "major" else [0.0, 1.0])
        for k in range(12)
        for d, size in (("y", 1.0), ("z", 0.5), ("major", 1.1))
    ]
    chosen, left_out = _choose(rows)
    assert [row.at for row in chosen] == [f"n{k}" for k in range(4, 12)] and left_out == 4
    assert {row.direction for row in chosen} == {"major"}
    assert _choose(rows[:6]) == (rows[3:6], 3)  # the first place does not move


def test_a_diagram_with_gaps_in_the_rotating_frame(tmp_path):
    rotor = made.Overhung()
    speeds = np.linspace(0.0, 300.0, 12)
    values, _ = rotor.branches(speeds)
    branches = [{"eigenvalues": made.pairs(values[:, k]), "whirl": "forward"} for k in range(4)]
    branches[1]["eigenvalues"][5] = None
    branches.append({"eigenvalues": [[-900.0, 0.0]] * 12, "whirl": None})  # overdamped
    criticals = [{"speed": 100.0, "whirl": "forward", "order": 2}, {"speed": 200.0, "whirl": "backward", "order": 1}]
    summary = {"branches": branches, "frame": "rotating", "orders": [1, 2], "critical_speeds": criticals}
    results = made.write_campbell(tmp_path / "a", rotor, 300.0, 12, **summary)
    picture = pixels(plot.plot_campbell(results, 0, tmp_path / "a.png"))
    whole(picture)
    assert count(picture, BLUE) > 3000


def test_figures_of_a_solution_in_memory(tmp_path):
    """`solve` gives results in memory."""
    results = made.write_campbell(tmp_path / "a", made.Overhung(60.0, 90.0))
    solution = Solution()
    solution.header = {"title": "Overhung rotor"}
    solution.steps = [StepResult(s.name, s.type, dict(s.series), summary=s.summary, ended=True) for s in results.steps]
    for draw, number in ((plot.plot_campbell, 0), (plot.plot_unbalance, 1), (plot.plot_roots, 0)):
        one = draw(results, number, tmp_path / "one.png").read_bytes()
        assert draw(solution, number, tmp_path / "two.png").read_bytes() == one
    with pytest.raises(ResultsError, match="Results in memory: step 0"):
        plot.plot_unbalance(solution, 0, tmp_path / "a.png")


def test_unbalance_response(tmp_path):
    results = made.write_campbell(tmp_path / "a", made.Overhung(60.0), n=201)
    picture = pixels(plot.plot_unbalance(results, 1, tmp_path / "a.png"))
    whole(picture)
    assert picture.shape[0] > 1100  # lengths, angles and phases are panels of their own
    assert all(count(picture, colour) > 1000 for colour in (BLUE, ORANGE, "#009E73"))


def test_angles_are_cut_where_they_jump():
    x, y = _unwound(np.arange(5.0), np.array([170.0, 190.0, 200.0, -20.0, 350.0]))
    np.testing.assert_allclose(y[~np.isnan(y)], [170.0, -170.0, -160.0, -20.0, -10.0])
    assert np.flatnonzero(np.isnan(y)).tolist() == [1] and np.isnan(x[1])


def test_roots(tmp_path):
    stable = pixels(
        plot.plot_roots(made.write_modes(tmp_path / "a", made.Overhung(60.0), 400.0), 0, tmp_path / "a.png")
    )
    unsteady = made.write_modes(tmp_path / "a", made.Overhung(60.0, 90.0), 400.0)
    grows = pixels(plot.plot_roots(unsteady, 0, tmp_path / "b.png"))
    for picture in (stable, grows):
        whole(picture)
    assert count(grows, UNSTABLE) > count(stable, UNSTABLE) + 60  # a cross beside the word
    turning = made.write_campbell(tmp_path / "a", made.Overhung(60.0, 90.0))
    locus = pixels(plot.plot_roots(turning, 0, tmp_path / "c.png"))
    assert count(locus, "#fde725") > 100 and count(locus, "#440154") > 50  # the ends of the colours of speed


def test_frequencies_along_a_path(tmp_path):
    undamped = pixels(plot.plot_eigenvalues(made.write_path(tmp_path / "a", 1.0, load=1.8), 0, tmp_path / "a.png"))
    flutter = pixels(plot.plot_eigenvalues(made.write_path(tmp_path / "a", 1.0), 0, tmp_path / "b.png"))
    for picture in (undamped, flutter):
        whole(picture)
        assert count(picture, BLUE) > 1000 and count(picture, ORANGE) > 1000
    assert flutter.shape[0] > undamped.shape[0]  # growth rates in a panel of their own
    assert count(undamped, "#EFC0D1", 4) == 0


@pytest.mark.parametrize("damping", [0.0, 0.05])
def test_the_boundary_of_a_map_lies_where_stability_ends(tmp_path, damping):
    results = made.write_map(tmp_path / "a", damping)
    summary = results.steps[0].summary
    loads, follows = (np.array(p["values"]) for p in summary["parameters"])
    growth = np.array(summary["growth"])
    field, bend = _through_zero(np.where(np.abs(growth) < 1e-6, 0.0, growth))
    assert ((field > 0.0) == (growth > 1e-6)).all()  # it moves no point to the other side
    assert np.all(np.diff(bend(np.linspace(-1.0, 1.0, 9))) > 0.0)
    for share in (0.0, 0.3, 0.9):
        k = int(np.argmin(np.abs(follows - share)))
        row = int(np.argmax(field[:, k] > 0.0))
        at = np.interp(0.0, field[row - 1 : row + 1, k], loads[row - 1 : row + 1])
        fine = np.linspace(loads[row - 1], loads[row], 2001)
        true = fine[np.argmax([made.ziegler(load, follows[k], damping).real.max() > 1e-6 for load in fine])]
        assert at == pytest.approx(true, abs=0.25 * (loads[1] - loads[0]))


def test_stability_map(tmp_path):
    picture = pixels(plot.plot_stability_map(made.write_map(tmp_path / "a"), 0, tmp_path / "a.png"))
    whole(picture)
    height, width = picture.shape[:2]
    assert count(picture, "#dbe9f6", 3) > 0.1 * height * width  # stable
    assert (picture[..., 0] - picture[..., 2] > 60).sum() > 0.15 * height * width  # grows
    assert count(picture, "#7a1240") > 1000  # hatched: divergence


def map_of(directory, growth, frequency=None, values=((0.0, 1.0, 2.0), (2.0, 1.0, 0.0)), what="growth") -> Results:
    writer = ResultsWriter(directory, {"title": "", "version": "0", "dimension": 2, "nodes": np.zeros((1, 2))})
    writer.begin_step("map", "stability_map")
    parameters = [{"name": name, "values": list(v)} for name, v in zip("ab", values, strict=False)]
    found = {"growth": growth, "frequency": frequency, "what": what, "boundary": [[0.5, 1.0]]}
    writer.end_step({"type": "stability_map", "parameters": parameters, **found})
    writer.close()
    return Results.open(directory)


def test_maps_with_holes_and_of_one_kind(tmp_path):
    stable = [[-1.0, -2.0, -1.0], [-3.0, None, -2.0], [-1.0, -0.5, -0.1]]
    picture = pixels(plot.plot_stability_map(map_of(tmp_path, stable), 0, tmp_path / "figures" / "stability-x.png"))
    assert (picture[..., 2] - picture[..., 0] > 60).sum() > 10_000  # blues
    unstable_ = [[1.0, 2.0, 1.0]] * 3
    plot.plot_stability_map(map_of(tmp_path, unstable_, [[0.0] * 3] * 3), 0, tmp_path / "figures" / "stability-x.png")
    plot.plot_stability_map(map_of(tmp_path, [[0.0] * 3] * 3), 0, tmp_path / "figures" / "stability-x.png")
    by_frequency = map_of(tmp_path, unstable_, [[1.0] * 3] * 3, what="frequency")
    plot.plot_stability_map(by_frequency, 0, tmp_path / "figures" / "stability-x.png")
    with pytest.raises(ResultsError, match="no eigenvalue at any point"):
        plot.plot_stability_map(map_of(tmp_path, [[None] * 3] * 3), 0, tmp_path / "a.png")
    with pytest.raises(ResultsError, match="a map needs two parameters"):
        plot.plot_stability_map(map_of(tmp_path, [[1.0, 2.0]] * 3), 0, tmp_path / "a.png")


@pytest.mark.parametrize("name", ["s", "[/] [red]s"])
def test_a_map_over_one_parameter(tmp_path, name):
    """A pendulum on a spring and a damper, upside down: J p^2 + d p + k - 9.81 = 0; names keep their brackets."""
    stiffness = np.linspace(5.0, 20.0, 16)
    roots = [np.roots([0.6, 0.3, k - 9.81]) for k in stiffness]
    writer = ResultsWriter(tmp_path, {"title": "", "version": "0", "dimension": 2, "nodes": np.zeros((1, 2))})
    writer.begin_step("map", "stability_map")
    flat = np.full((16, 4), np.nan)
    for row, p in zip(flat, roots, strict=True):
        row[: 2 * (p.imag >= 0.0).sum()] = np.column_stack((p.real, p.imag))[p.imag >= 0.0].ravel()
    writer.append({"time": np.arange(16.0), "eigenvalues": flat})
    parameter = {"name": f"stiffness of {name}", "unit": "N m/rad", "values": stiffness.tolist()}
    writer.end_step({
        "type": "stability_map", "parameters": [parameter],
        "growth": [[max(p.real)] for p in roots], "frequency": [[abs(p[0].imag) / 2 / np.pi] for p in roots],
    })  # fmt: skip
    writer.close()
    results = Results.open(tmp_path)
    branches = eigenvalue_path(results.steps[0])
    assert branches.label == f"Stiffness of {name} [N m/rad]"
    (end,) = onsets(branches)
    assert end.ends and end.at == pytest.approx(9.81, abs=1e-6)
    assert f"divergence up to stiffness of {name} 9.81 N m/rad" in report(results)
    assert [path.name for path in plot.plot_all(results)] == ["stability-1-map.png"]


# ------------------------------------------------------------------------------------------ shapes


def test_complex_shapes_swing_about_their_state(tmp_path):
    results = made.write_modes(tmp_path, made.Overhung(60.0), 400.0, bent=0.8)
    step = results.steps[0]
    scene = Scene(results, step)
    u = step.frames["displacement"][1] + 1j * step.frames["displacement imaginary"][1]
    r = step.frames["rotation"][1] + 1j * step.frames["rotation imaginary"][1]
    state, turned = step.frames["state displacement"][0], step.frames["state rotation"][0]
    np.testing.assert_allclose(scene.state(None)[0], scene.nodes + state)
    for phase in (0.0, 0.7, np.pi / 2):
        scene.magnify(1.5, phase)
        position, rotation = scene.state(1)
        np.testing.assert_allclose(position, scene.nodes + state + 1.5 * (u * np.exp(1j * phase)).real, atol=1e-14)
        small = rotation_matrices(1.5 * (r * np.exp(1j * phase)).real)
        np.testing.assert_allclose(rotation, small @ rotation_matrices(turned), atol=1e-14)
    scene.magnify(1.0)
    turns = np.linspace(0.0, 2 * np.pi, 200)
    ways = scene.orbits(1, np.arange(made.N), turns)
    np.testing.assert_allclose(ways[:, 50], (scene.nodes + state) + (u * np.exp(1j * turns[50])).real, atol=1e-14)
    scene.swings = True
    low, high = scene.extent([1])
    assert np.all(low <= ways.min(axis=(0, 1)) + 0.002) and np.all(high >= ways.max(axis=(0, 1)) - 0.002)
    far = np.linalg.norm(ways - (scene.nodes + state)[:, None], axis=2).max(axis=1)
    np.testing.assert_allclose(amplitudes(results, step, 1), far, rtol=1e-3, atol=1e-12)


def test_the_long_half_axis_of_an_ellipse():
    a, b = np.array([3.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    for phase in (0.0, 0.4, 2.0):
        assert largest_excursion((a + 1j * b) * np.exp(1j * phase)) == pytest.approx(3.0)


def write_real_modes(directory, bent: float) -> Results:
    """A bent cantilever (a static step) and one mode about it, as modal steps store it: the state's part included."""
    s = np.linspace(0.0, 0.5, made.N)
    header = made.shaft_header("Cantilever", 2)
    header["bodies"] = []
    state, turned = np.zeros((made.N, 3)), np.zeros((made.N, 3))
    state[:, 0], state[:, 1], turned[:, 2] = np.sin(bent * s) / bent - s, (1.0 - np.cos(bent * s)) / bent, bent * s
    writer = ResultsWriter(directory, header)
    writer.begin_step("load", "static")
    writer.append({"time": [1.0]}, {"time": [1.0], "displacement": state[None], "rotation": turned[None]})
    writer.end_step({})
    writer.begin_step("modes", "modes")
    shape, turn = state.copy(), turned.copy()
    shape[:, 1] += 0.1 * s**2
    turn[:, 2] += 0.2 * s
    writer.append({"time": [1.0]}, {"time": [1.0], "displacement": shape[None], "rotation": turn[None]})
    writer.end_step({"frequencies_hz": [3.0]})
    writer.close()
    return Results.open(directory)


def test_real_modes_swing_about_their_state_too(tmp_path):
    """The displacements of the loaded state are not magnified, nor is their sign changed."""
    results = write_real_modes(tmp_path, 2.0)
    scene = Scene(results, results.steps[1])
    rest = scene.nodes + state_of_shapes(results, results.steps[1])[0]
    np.testing.assert_allclose(rest, scene.nodes + results.steps[0].frames["displacement"][-1])
    s = scene.nodes[:, 0]
    for scale in (1.0, -1.0, 3.0):
        scene.magnify(scale)
        position, rotation = scene.state(0)
        np.testing.assert_allclose(position[:, 1] - rest[:, 1], 0.1 * scale * s**2, atol=1e-14)
        np.testing.assert_allclose(position[:, 0], rest[:, 0], atol=1e-14)
        angle = np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])
        np.testing.assert_allclose(angle, 2.0 * s + 0.2 * scale * s, atol=1e-13)
    np.testing.assert_allclose(amplitudes(results, results.steps[1], 0), 0.1 * s**2, atol=1e-15)


def test_pictures_of_complex_shapes(tmp_path):
    for dimension in (2, 3):
        results = made.write_modes(tmp_path / "a", made.Overhung(60.0), 400.0, bent=0.8, dimension=dimension)
        picture = pixels(plot.plot_shapes(results, 0, tmp_path / "a.png"))
        whole(picture)
        shape, later, ways = (count(picture, colour) for colour in (BLUE, "#9cc3e0", ORANGE))
        assert shape > 1500 and later > 1500 and ways > 1500


def test_a_single_shape_in_the_plane(tmp_path):
    results = made.write_modes(tmp_path / "a", made.Overhung(60.0), 400.0, dimension=2)
    for most in (1, 2):
        picture = pixels(plot.plot_shapes(results, 0, tmp_path / "a.png", most=most))
        whole(picture)  # title and legend too
        assert (picture[:60].min(axis=(1, 2)) < 100).any()  # the title


def test_a_complex_mode_goes_round(tmp_path):
    results = made.write_modes(tmp_path / "a", made.Overhung(60.0), 400.0)
    path = plot.animate(results, tmp_path / "a.gif", fps=8, seconds=1.0, size=(360, 260), mode=2)
    with Image.open(path) as movie:
        assert movie.n_frames == 8
    frames = [pixels(path, k) for k in range(8)]
    blues = [np.argwhere((f[..., 2] - f[..., 0]) > 100) for f in frames]
    assert min(map(len, blues)) > 100
    ends = np.array([b[np.argmax(b[:, 1])] for b in blues])  # rows and columns of the free end
    assert np.ptp(ends[:, 0]) > 10  # it never stands still, not even half a period after its largest displacement
    steps = [np.abs(frames[k] - frames[k - 1]).max(axis=2).astype(bool).sum() for k in range(8)]
    assert min(steps) > 60
    with pytest.raises(ResultsError, match="no mode 9"):
        plot.animate(results, tmp_path / "a.gif", mode=9)


def test_discs_are_circles_that_turn_with_their_nodes(tmp_path):
    from fem_mbs import Model
    from fem_mbs.analysis.header import make_header

    m = Model(3)
    m.material("s", E=2.1e11, nu=0.3, density=7850.0)
    m.section("b", "circle", diameter=0.02)
    m.line("l", (0, 0, 0), (2.0, 0, 0), 4)
    m.beams("b", "l", "b", "s")
    m.point_mass("disc", "l:end", 8.0, inertia=(0.09, 0.045, 0.045))  # radius 0.15
    m.point_mass("ball", "l:start", 8.0, inertia=(0.09, 0.09, 0.09))
    (disc,) = make_header(m.compile())["discs"]
    assert disc["node"] == 4 and disc["radius"] == pytest.approx(0.15)
    assert np.abs(disc["normal"]).round(12).tolist() == [1.0, 0.0, 0.0]
    header = {**made.shaft_header(), "discs": [{"node": made.N - 1, "normal": [1.0, 0.0, 0.0], "radius": 0.1}]}
    writer = ResultsWriter(tmp_path, header)
    writer.begin_step("s", "transient")
    turned = np.zeros((1, made.N, 3))
    turned[0, -1, 2] = np.pi / 6
    writer.append({"time": [0.0]}, {"time": [0.0], "displacement": np.full((1, made.N, 3), 0.01), "rotation": turned})
    writer.end_step({})
    writer.close()
    results = Results.open(tmp_path)
    (ring,) = Scene(results, results.steps[0]).rings(0)
    arms = ring - (np.array([0.5, 0.0, 0.0]) + 0.01)
    np.testing.assert_allclose(np.linalg.norm(arms, axis=1), 0.1)
    np.testing.assert_allclose(arms @ [np.cos(np.pi / 6), np.sin(np.pi / 6), 0.0], 0.0, atol=1e-15)
    plot.plot_deformed(results, tmp_path / "figures" / "deformed.png")


# ------------------------------------------------------------------------------------------ together


def test_plot_all_and_a_new_run(tmp_path):
    results = made.write_campbell(tmp_path, made.Overhung(60.0, 90.0))
    assert [p.name for p in plot.plot_all(results)] == [
        "campbell-1-whirl.png",
        "roots-1-whirl.png",
        "unbalance-2-unbalance.png",
    ]
    results = made.write_modes(tmp_path, made.Overhung(), 400.0)  # makes room in the folder
    assert [p.name for p in plot.plot_all(results)] == ["shapes-1-modes.png", "roots-1-modes.png"]
    results = made.write_path(tmp_path / "path", 1.0)
    assert [p.name for p in plot.plot_all(results)] == ["eigenvalues-1-loading.png", "roots-1-loading.png"]
    results = made.write_map(tmp_path / "map", n=(9, 7))
    assert [p.name for p in plot.plot_all(results)] == ["stability-1-map.png"]


def test_tables(tmp_path):
    text = report(made.write_modes(tmp_path / "damped", made.Overhung(60.0, 90.0), 400.0))
    assert "damping ratio" in text and "26.9057" in text and "1 mode grows" in text and "400 rad/s" in text
    assert "no mode grows" in report(made.write_modes(tmp_path / "plain", made.Overhung(), 400.0))
    text = report(made.write_campbell(tmp_path / "campbell", made.Overhung(60.0, 90.0)))
    assert "131.55" in text and "backward" in text and "flutter at" in text and "disc y" in text and "[rad/s]" in text
    assert "stable over all speeds" in report(made.write_campbell(tmp_path / "stable", made.Overhung()))
    text = report(made.write_path(tmp_path / "path", 0.2, 0.03))
    assert "divergence from load factor" in text and "0.0614787" in text
    text = report(made.write_map(tmp_path / "map", n=(9, 7)))
    assert "63" in text and "largest growth rate" in text


def test_vtu_of_complex_shapes(tmp_path):
    from fem_mbs.results.export.vtu import write_vtu_files

    results = made.write_modes(tmp_path / "a", made.Overhung(), 400.0)
    (path,) = write_vtu_files(results, tmp_path / "vtu")
    text = path.read_text(encoding="utf-8", errors="replace")
    for name in ("mode 1: ", "imaginary", "state displacement"):
        assert name in text


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r, p: plot.plot_campbell(r, 1, p), "of type unbalance, not campbell; of that are 0"),
        (lambda r, p: plot.plot_unbalance(r, 7, p), "2 steps, no number 7"),
        (lambda r, p: plot.plot_stability_map(r, 0, p), "not stability_map; of that are none"),
        (lambda r, p: plot.plot_roots(r, 1, p), "no eigenvalues to draw"),
    ],
)
def test_wrong_requests(tmp_path, ask, message):
    results = made.write_campbell(tmp_path, made.Overhung())
    with pytest.raises(ResultsError, match=message):
        ask(results, tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


def test_a_step_that_failed_has_no_figure(tmp_path):
    writer = ResultsWriter(tmp_path, made.shaft_header())
    writer.begin_step("whirl", "campbell")
    writer.append({"time": [0.0]})
    writer.fail("no convergence")
    results = Results.open(tmp_path)
    with pytest.raises(ResultsError, match="has not come to its end"):
        plot.plot_campbell(results, 0, tmp_path / "a.png")
    assert plot.plot_all(results) == []
