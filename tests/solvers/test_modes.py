"""Modal and buckling steps of models against closed forms."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fem_mbs import AnalysisError, Model, ModelError, run, solve


def frequencies(model: Model, step: int = 0) -> np.ndarray:
    """Circular frequencies [rad/s]."""
    return 2.0 * np.pi * np.array(solve(model).steps[step].summary["frequencies_hz"])


def beam(dimension: int = 2, n: int = 8, strains: str | None = None, **section) -> Model:
    model = Model(dimension)
    data = {"EA": 1e6, "EI": 1.0, "GA": np.inf, "GJ": 1.0, "rhoA": 1.0, "rhoI": 1e-6, **section}
    model.section("beam", "stiffness", **data)
    model.line("beam", np.zeros(dimension), np.eye(dimension)[0], n)
    model.beams("beam", "beam", "beam", strains=strains)
    return model


# --- modes -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("strains", ["natural", "generalised"])
def test_free_beam_in_the_plane(strains):
    model = beam(2, 8, strains)
    model.modes_step(count=5)
    summary = solve(model).steps[0].summary
    assert summary["rigid_body_modes"] == 3
    assert summary["frequencies_hz"][:3] == [0.0, 0.0, 0.0]
    w = 2.0 * np.pi * np.array(summary["frequencies_hz"][3:])
    assert w == pytest.approx([22.3733, 61.6728], rel=2e-3)
    assert max(summary["residuals"]) < 1e-8
    assert not summary["warnings"]


def test_order_of_convergence():
    errors = []
    for n in (2, 4):
        model = beam(2, n)
        model.fix("beam:start")
        model.modes_step(count=1)
        errors.append(frequencies(model)[0] / 3.5160152685 - 1.0)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.2)
    assert 0.0 < errors[0] < 6e-4


def test_square_section_has_double_frequencies():
    model = beam(3, 8)
    model.fix("beam:start")
    model.modes_step(count=4)
    w = frequencies(model)
    assert w[0] == pytest.approx(w[1], rel=1e-9)
    assert w == pytest.approx([3.5160, 3.5160, 22.0345, 22.0345], rel=1e-3)


def test_double_pendulum_about_its_rest():
    """Two rods of mass 1 and length 1: w^2 of the linearised equations."""
    g = 9.81
    model = Model(3, gravity=(0.0, 0.0, -g))
    for k in (1, 2):
        model.body(f"rod {k}", (0.0, 0.0, 0.5 - k), mass=1.0, inertia=(1.0 / 12.0, 1.0 / 12.0, 1e-3))
    model.joint("top", "revolute", "ground", "rod 1", point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    model.joint("elbow", "revolute", "rod 1", "rod 2", point=(0.0, 0.0, -1.0), axis=(0.0, 1.0, 0.0))
    model.static_step()
    model.modes_step(count=2)
    M = np.array([[4.0 / 3.0, 0.5], [0.5, 1.0 / 3.0]])
    K = np.diag([1.5 * g, 0.5 * g])
    exact = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real))
    assert frequencies(model, 1) == pytest.approx(exact, rel=1e-10)


def test_body_on_springs():
    model = Model(2)
    model.body("body", (0.0, 0.0), mass=2.0, inertia=0.5)
    for x in (-1.0, 1.0):
        model.spring(f"spring {x}", "body", "ground", 100.0, point_a=(x, 0.0), point_b=(x, -1.0))
    model.joint("guide", "slider", "body", axis=(0.0, 1.0))
    model.modes_step(count=2)
    assert frequencies(model) == pytest.approx([np.sqrt(200.0 / 2.0), np.sqrt(200.0 / 0.5)], rel=1e-10)


def test_string_under_prestress():
    """w_k = k pi sqrt(N/rhoA)/L, and the lumped chain's own."""
    n = 20
    model = Model(2)
    model.section("wire", "stiffness", EA=1e5, rhoA=0.3)
    model.line("wire", (0.0, 0.0), (1.0, 0.0), n)
    model.trusses("wire", "wire", "wire", prestress=12.0)
    model.fix("wire:start")
    model.fix("wire:end")
    model.modes_step(count=3)
    k = np.arange(1, 4)
    exact = 2.0 * n * np.sqrt(12.0 / 0.3) * np.sin(k * np.pi / (2 * n))
    assert frequencies(model) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("load", [-0.6, 0.8])
def test_frequency_under_axial_load(load):
    """Pinned beam: w = w0 sqrt(1 + P/P_cr)."""
    model = beam(2, 8)
    model.fix("beam:start", ["x", "y"])
    model.fix("beam:end", ["y"])
    model.force("P", "beam:end", (load * np.pi**2, 0.0))
    model.static_step()
    model.modes_step(count=1)
    assert frequencies(model, 1)[0] == pytest.approx(np.pi**2 * np.sqrt(1.0 + load), rel=1e-4)


def test_unstable_state_says_so():
    model = beam(2, 8)
    model.fix("beam:start", ["x", "y"])
    model.fix("beam:end", ["y"])
    model.force("P", "beam:end", (-1.5 * np.pi**2, 0.0))
    model.static_step(increments=3)
    model.modes_step(count=2)
    summary = solve(model).steps[1].summary
    assert summary["frequencies_hz"][0] < 0.0
    assert "the state is unstable" in summary["warnings"][0]


# --- buckling --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("dimension", "strains", "options"),
    [(2, "natural", {}), (2, "generalised", {}), (2, "natural", {"inextensible": True}), (3, "generalised", {}),
     (3, "corotational", {}), (3, "generalised", {"fixed": "extension"})],
)  # fmt: skip
@pytest.mark.parametrize(("second", "ratios"), [(True, (1.007522, 1.000512)), (False, (1.215854, 1.052387))])
def test_euler_column(dimension, strains, options, second, ratios):
    """Clamped-free columns of 1 and 2 elements, with and without second-order terms."""
    for n, ratio in zip((1, 2), ratios, strict=True):
        model = Model(dimension)
        model.section("beam", "stiffness", EA=1e6, EI=1.0, GA=np.inf, GJ=1.0, rhoA=0.0, rhoI=0.0)
        model.line("beam", np.zeros(dimension), np.eye(dimension)[0], n)
        model.beams("beam", "beam", "beam", strains=strains, second_order=second, **options)
        model.fix("beam:start")
        model.force("P", "beam:end", -np.eye(dimension)[0])
        model.buckling_step(count=1)
        if options and not second:
            continue  # an inextensible beam without second-order terms is another model
        factor = solve(model).steps[0].summary["load_factors"][0]
        assert factor / (0.25 * np.pi**2) == pytest.approx(ratio, rel=2e-5)


def test_both_signs():
    """Two columns in a row, one pressed by the load and one pulled: the weak one buckles for the other sign."""
    model = Model(2)
    for name, EI in (("left", 1.0), ("right", 0.5)):
        model.section(name, "stiffness", EA=1e8, EI=EI, GA=np.inf, rhoA=0.0, rhoI=0.0)
    model.polyline("line", [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)], 8)
    model.beams("left", "line:segment_1", "left")
    model.beams("right", "line:segment_2", "right")
    model.fix("line:start")
    model.fix("line:end")
    model.fix("line:corner_2", ["y", "rotation"])
    model.force("P", "line:corner_2", (-2.0, 0.0))
    model.buckling_step(count=2)
    assert solve(model).steps[0].summary["load_factors"] == pytest.approx([-2.0 * np.pi**2, 4.0 * np.pi**2], rel=1e-3)


def test_mechanism():
    """Two rigid links with a torsion spring k at the middle hinge: P = k (1/a + 1/b)."""
    model = Model(2)
    a, b, k = 1.0, 1.5, 3.0
    model.body("left", (0.5 * a, 0.0), mass=1.0, inertia=0.1)
    model.body("right", (a + 0.5 * b, 0.0), mass=1.0, inertia=0.1)
    model.joint("pin", "pin", "left", point=(0.0, 0.0))
    model.joint("hinge", "pin", "left", "right", point=(a, 0.0))
    model.joint("slider", "slider", "right", point=(a + b, 0.0), axis=(1.0, 0.0))
    model.torsion_spring("spring", "left", "right", k)
    model.force("P", "right", (-1.0, 0.0), point=(a + b, 0.0))
    model.buckling_step(count=1)
    assert solve(model).steps[0].summary["load_factors"][0] == pytest.approx(k * (1.0 / a + 1.0 / b), rel=1e-10)


def test_preload_and_chosen_loads():
    """A dead load of half Euler's leaves the other half to the live one."""
    model = beam(2, 8, rhoA=0.0, rhoI=0.0)
    model.fix("beam:start")
    critical = 0.25 * np.pi**2
    model.force("dead", "beam:end", (-0.5 * critical, 0.0))
    model.force("live", "beam:end", (-1.0, 0.0))
    model.static_step(vary="dead")
    model.buckling_step(count=1, loads="live")
    model.buckling_step(count=1, loads=["dead"], name="dead alone")
    steps = solve(model).steps
    assert steps[1].summary["load_factors"][0] == pytest.approx(0.5 * critical, rel=1e-4)
    assert steps[2].summary["load_factors"][0] == pytest.approx(1.0, rel=1e-4)


# --- results ---------------------------------------------------------------------------------------------------------
def test_shapes_on_disk(tmp_path):
    model = beam(3, 4)
    model.fix("beam:start")
    model.force("P", "beam:end", (-1.0, 0.0, 0.0))
    model.modes_step(count=3)
    model.buckling_step(count=2)
    results = run(model, tmp_path / "out")
    modes, buckling = results.steps
    shape = modes.frames["displacement"][:]
    assert shape.shape == (3, 5, 3)
    assert np.abs(shape).max(axis=(1, 2)) == pytest.approx(0.1)
    assert (shape[:, 0] == 0.0).all()
    assert list(modes.frame_times) == [1.0, 2.0, 3.0]
    assert len(buckling.frame_times) == 2
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [s["type"] for s in summary["steps"]] == ["modes", "buckling"]


# --- wrong input -----------------------------------------------------------------------------------------------------
def test_no_mass():
    model = beam(2, 2, rhoA=0.0, rhoI=0.0)
    model.fix("beam:start")
    model.modes_step()
    with pytest.raises(AnalysisError, match="nothing that can move has a mass"):
        solve(model)


def test_loose_model():
    model = beam(2, 2)
    model.force("P", "beam:end", (-1.0, 0.0))
    model.buckling_step()
    with pytest.raises(AnalysisError, match=r"loose|unstable"):
        solve(model)


@pytest.mark.parametrize(
    ("step", "options", "text"),
    [
        ("buckling", {}, "no load acts"),
        ("buckling", {"loads": ["P"]}, 'there is no load "P"'),
        ("modes", {"count": 0}, "count = 0 must be a whole number"),
    ],
)
def test_wrong_options(step, options, text):
    model = beam(2, 2)
    model.fix("beam:start")
    with pytest.raises(ModelError, match=text):
        getattr(model, f"{step}_step")(**options)
        solve(model)


def test_a_mechanism_without_stiffness():
    """A body on a hinge: one rigid mode, with a residual."""
    model = Model(2)
    model.body("a", (0.0, 0.0), 1.0, 0.1)
    model.joint("pin", "pin", "ground", "a", point=(0.0, 0.0))
    model.modes_step(3)
    summary = solve(model).steps[0].summary
    assert summary["frequencies_hz"] == [0.0]
    assert summary["residuals"] == [0.0]
