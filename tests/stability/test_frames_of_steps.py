"""Multi-blade coordinates and harmonics of the turn in stability maps, unbalance responses and linear models: against
Floquet's theory and solutions of Lagrange's equations by scipy (the rotor of Coleman & Feingold 1958)."""

from __future__ import annotations

import numpy as np
import pytest
import test_periodic_rotors as rotors
from scipy.integrate import solve_ivp
from scipy.sparse import csr_matrix
from test_periodic_rotors import ARM, DAMPER, HINGE, HUB, MASS, SPRING, distances, floquet, helicopter

from fem_mbs import Model, ModelError, run, solve

AMOUNT, PHASE = 0.5, 0.4  # [kg m], [rad]


def bare(blades: int) -> Model:
    model = helicopter(blades, 20.0)
    model.steps.clear()
    return model


# --- stability maps --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("blades", "frame"), [(4, "auto"), (3, "multi-blade"), (2, "periodic")])
def test_a_map_has_the_largest_exponent_of_floquet(blades, frame):
    speeds = [20.0, 40.0]
    model = bare(blades)
    model.stability_map_step({"rotor": "rotor", "values": speeds}, blades + 2, frame=frame)
    step = solve(model).summary["steps"][-1]
    exact = [floquet(blades, speed).real.max() for speed in speeds]
    np.testing.assert_allclose(np.ravel(step["growth"]), exact, atol=1e-6)
    assert np.ravel(step["stable"]).tolist() == [value < 0.0 for value in exact]


def test_a_map_of_periodic_motions_begins_at_rest():
    """At rest the coefficients are constant: the modes are those of the fixed frame."""
    model = bare(2)
    model.stability_map_step({"rotor": "rotor", "values": [0.0, 20.0]}, 4, frame="periodic")
    growth = solve(model).summary["steps"][-1]["growth"][0][0]
    model = bare(2)
    model.complex_modes_step(4)
    p = np.array(solve(model).summary["steps"][-1]["eigenvalues"])
    assert growth == pytest.approx(p[:, 0].max(), rel=1e-9)


def test_harmonics_belong_to_periodic_frames():
    model = bare(3)
    model.stability_map_step({"rotor": "rotor", "values": [10.0, 20.0]}, 3, harmonics=5)
    with pytest.raises(ModelError, match='harmonics = 5 belongs to frame = "periodic"'):
        solve(model)


# --- unbalance -------------------------------------------------------------------------------------------------------
def hub_orbit(blades: int, speed: float) -> np.ndarray:
    """Complex first harmonics (2,) of the hub's steady motion under an unbalance, from Lagrange's equations, by scipy:
    a fixed point of the map over one turn."""
    n, ml = blades + 2, MASS * ARM
    support = rotors.SUPPORT

    def rates(t: float, Y: np.ndarray, forced: bool) -> np.ndarray:
        psi = speed * t + 2.0 * np.pi * np.arange(blades) / blades
        s, c = np.sin(psi), np.cos(psi)
        A, C, K = np.zeros((3, n, n))
        A[:2, :2] = (HUB + 1e-3 + blades * MASS) * np.eye(2)
        C[:2, :2], K[:2, :2] = DAMPER * np.eye(2), np.diag(support)
        A[0, 2:], A[2:, 0], A[1, 2:], A[2:, 1] = -ml * s, -ml * s, ml * c, ml * c
        C[0, 2:], C[1, 2:] = -2.0 * ml * speed * c, -2.0 * ml * speed * s
        K[0, 2:], K[1, 2:] = ml * speed**2 * s, -ml * speed**2 * c
        A[2:, 2:], C[2:, 2:] = (ml * ARM + 1e-9) * np.eye(blades), 10.0 * np.eye(blades)
        K[2:, 2:] = (SPRING + ml * HINGE * speed**2) * np.eye(blades)
        f = np.zeros((n, 1))
        if forced:
            f[:2, 0] = AMOUNT * speed**2 * np.array([np.cos(speed * t + PHASE), np.sin(speed * t + PHASE)])
        return np.vstack((Y[n:], np.linalg.solve(A, f - C @ Y[n:] - K @ Y[:n])))

    T, size = 2.0 * np.pi / speed, 2 * n
    options = {"rtol": 1e-10, "atol": 1e-13}
    start = np.eye(size).ravel()
    map_ = solve_ivp(lambda t, y: rates(t, y.reshape(size, -1), False).ravel(), (0, T), start, **options).y[:, -1]
    run = lambda y0, **more: solve_ivp(  # noqa: E731
        lambda t, y: rates(t, y[:, None], True).ravel(), (0, T), y0, **options, **more
    )
    own = run(np.zeros(size)).y[:, -1]
    y0 = np.linalg.solve(np.eye(size) - map_.reshape(size, size), own)
    t = np.arange(256) * T / 256
    y = run(y0, t_eval=t).y[:2]
    return 2.0 * (y * np.exp(-1j * speed * t)).mean(axis=1)


@pytest.mark.parametrize(
    ("blades", "frame", "speed"),
    [(3, "auto", 15.0), (4, "multi-blade", 25.0), (3, "periodic", 15.0), (2, "periodic", 15.0)],
)
def test_the_orbit_under_an_unbalance_is_that_of_lagranges_equations(blades, frame, speed):
    model = bare(blades)
    model.unbalance_step(
        "rotor", [0.0, speed], [{"at": "disc", "amount": AMOUNT, "phase": PHASE}], at="hub", frame=frame
    )
    step = solve(model).summary["steps"][-1]
    found = {r["direction"]: r["amplitude"][1] * np.exp(1j * r["phase"][1]) for r in step["response"] if r["phase"]}
    exact = hub_orbit(blades, speed)
    assert step["frame"] == ("multi-blade" if frame == "auto" else frame)
    np.testing.assert_allclose([found["x"], found["y"]], exact, rtol=1e-6)
    assert abs(abs(exact[0]) - abs(exact[1])) > 0.05 * abs(exact).max()  # uneven supports: an ellipse
    assert step["warnings"] == []


def test_places_on_blades_need_the_periodic_frame():
    """With equal blades both frames agree at the hub; an unbalance on a blade is not at rest in multi-blade
    coordinates."""
    for key, at in (("unbalance", "hub"), ("displacement", "b1")):
        model = bare(3)
        where = "b1" if key == "unbalance" else "disc"
        model.unbalance_step("rotor", [15.0], [{"at": where, "amount": AMOUNT}], at=at)
        with pytest.raises(ModelError, match=f'the {key} at "b1" is on a blade.*frame = "periodic"'):
            solve(model)


def test_a_free_rotor_responds_to_an_unbalance_by_harmonics():
    """Nothing drives the disc: its turn is held by its inertia, as in multi-blade coordinates."""
    found = []
    for frame in ("multi-blade", "periodic"):
        model = helicopter(3, 20.0, driven=False)
        model.steps.clear()
        model.unbalance_step("rotor", [15.0], [{"at": "disc", "amount": AMOUNT}], at="hub", frame=frame)
        found.append([r["amplitude"][0] for r in solve(model).summary["steps"][-1]["response"]])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-7)


def test_a_free_rotor_with_hinged_blades_responds_as_a_driven_one_in_the_rotating_frame(monkeypatch):
    """The forces of hinges turn with a rotor that turns on, and resist nothing; 15 rad/s is no critical speed."""
    monkeypatch.setattr("test_periodic_rotors.SUPPORT", (7e4, 7e4))
    found = []
    for driven in (False, True):
        model = helicopter(3, 20.0, driven=driven)
        model.steps.clear()
        model.unbalance_step("rotor", [15.0], [{"at": "disc", "amount": AMOUNT}], at="hub", frame="rotating")
        found.append([r["amplitude"][0] for r in solve(model).summary["steps"][-1]["response"]])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


# --- linear models ---------------------------------------------------------------------------------------------------
def test_matrices_in_multi_blade_coordinates_have_the_exponents_of_floquet(tmp_path):
    speed = 20.0
    model = bare(3)
    model.force("push", "hub", vector=(1.0, 0.0))
    model.sensor("x", "displacement", on="hub")
    model.linearise_step(rotor="rotor", speed=speed, inputs="push", sensors="x", name="lin")
    step = run(model, tmp_path / "out").summary["steps"][-1]
    assert step["frame"] == "multi-blade"
    stored = np.load(tmp_path / "out" / "state_space_lin.npz")
    p = np.linalg.eigvals(stored["A"])
    p = p[(p.imag >= 0.0) & (np.abs(p) < 1e6)]
    assert distances(p, floquet(3, speed), speed).max() < 1e-6
    matrices = np.load(tmp_path / "out" / "matrices_lin.npz")
    M = csr_matrix(tuple(matrices[f"M_{k}"] for k in ("data", "indices", "indptr")), matrices["M_shape"])
    assert M.shape[0] == step["equations"]


def test_ports_on_single_blades_are_refused():
    for word, what in (("input", "acts on single blades"), ("sensor", "sees single blades")):
        model = bare(3)
        model.force("push", "b1" if word == "input" else "hub", vector=(1.0, 0.0))
        model.sensor("x", "displacement", on="b1" if word == "sensor" else "hub")
        model.linearise_step(rotor="rotor", speed=20.0, inputs="push", sensors="x")
        with pytest.raises(ModelError, match=what):
            solve(model)


def test_linear_models_have_no_periodic_frame():
    with pytest.raises(ModelError, match="multi-blade"):
        bare(3).linearise_step(rotor="rotor", speed=20.0, frame="periodic")
    model = bare(2)
    model.linearise_step(rotor="rotor", speed=20.0)
    with pytest.raises(ModelError, match='frame = "periodic" of steps `complex_modes`, `campbell`'):
        solve(model)
