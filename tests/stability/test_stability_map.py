"""Stability maps and friction about sliding: closed forms, states of their own at every point, summary, messages."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest
import scipy.linalg
from places import SCHEMA

from fem_mbs import Model, ModelError, Results, load_model, run, solve
from fem_mbs.analysis.run import run_to_end
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.analysis.stability.state_space import descriptor, state_space
from fem_mbs.analysis.stability_points import Points
from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.eigen import complex_modes as cm


def inverted(spring: float = 5.0, damping: float = 0.3) -> Model:
    """A pendulum that stands on a torsion spring: J p^2 + d p + k - m g l = 0 with J = 0.6 about the pivot."""
    m = Model(2, gravity=(0.0, -9.81))
    m.body("b", (0.0, 0.5), mass=2.0, inertia=0.1)
    m.joint("j", "revolute", "ground", "b", point=(0.0, 0.0))
    m.joint_spring("s", "j", spring, damping)
    m.static_step()
    return m


def roots(k, d, weight=1.0):
    return np.roots([0.6, d, k - weight * 9.81])


def test_two_numbers_of_elements():
    """Growth rate and frequency in closed form; the boundary k = m g l is found to round-off of the halvings."""
    stiffness, damping = [5.0, 9.0, 12.0, 20.0], [0.1, 0.4, 2.0]
    m = inverted()
    m.stability_map_step(
        [
            {"element": "s", "number": "stiffness", "values": stiffness},
            {"element": "s", "number": "damping", "values": damping},
        ],
        count=2, refine=30,
    )  # fmt: skip
    s = solve(m).steps[-1].summary
    jsonschema.validate({"steps": [s]}, {**SCHEMA, "required": ["steps"]})
    p = [[max(roots(k, d), key=lambda z: z.real) for d in damping] for k in stiffness]
    np.testing.assert_allclose(s["growth"], np.real(p), rtol=1e-10)
    np.testing.assert_allclose(s["frequency"], np.abs(np.imag(p)) / (2.0 * np.pi), rtol=1e-10, atol=1e-12)
    assert s["stable"] == [[k > 9.81] * 3 for k in stiffness]
    np.testing.assert_allclose(s["boundary"], [[9.81, d] for d in damping], rtol=1e-6)


def test_boundary_next_to_points_without_a_state(monkeypatch):
    """Where a halving meets a point without modes, nothing is said of the boundary there."""
    found = Points.eigenvalues

    def fails(self, values):
        if 9.5 < values[0] < 11.0:
            self.failed.append("no equilibrium there")
            return np.zeros(0, complex)
        return found(self, values)

    monkeypatch.setattr(Points, "eigenvalues", fails)
    m = inverted()
    m.stability_map_step([{"element": "s", "number": "stiffness", "values": [5.0, 9.0, 12.0]}], count=2, refine=10)
    s = solve(m).steps[-1].summary
    assert s["boundary"] == []
    assert any("left out in 1 interval," in text and "no equilibrium there" in text for text in s["warnings"])


def test_factors_and_loads():
    """Values as factors of a number; gravity as a load, also with a state that moves away with it."""
    m = inverted(10.0)
    m.stability_map_step(
        [{"element": "s", "number": "stiffness", "factor": True, "values": [0.5, 1.5]},
         {"load": "gravity", "values": [0.1, 1.0]}], count=2,
    )  # fmt: skip
    s = solve(m).steps[-1].summary
    p = [[roots(k, 0.3, g).real.max() for g in (0.1, 1.0)] for k in (5.0, 15.0)]
    np.testing.assert_allclose(s["growth"], p, rtol=1e-10)
    assert s["parameters"][1]["name"] == "load gravity"


def test_state_is_found_anew():
    """A loaded pendulum stands aslant: k phi = F l cos phi; its stiffness there is k + F l sin phi."""
    m = Model(2)
    m.body("b", (1.0, 0.0), mass=2.0, inertia=0.1)
    m.joint("j", "revolute", "ground", "b", point=(0.0, 0.0))
    m.joint_spring("s", "j", 5.0)
    m.force("F", "b", (0.0, 1.0))
    m.static_step()
    values = [0.5, 2.0, 6.0]
    m.stability_map_step([{"load": "F", "values": values}], count=1)
    solution = solve(m)
    found = np.array(solution.steps[-1].summary["frequency"])[:, 0]
    for F, f in zip(values, found, strict=True):
        phi = 0.5
        for _ in range(50):
            phi -= (5.0 * phi - F * np.cos(phi)) / (5.0 + F * np.sin(phi))
        assert f == pytest.approx(np.sqrt((5.0 + F * np.sin(phi)) / 2.1) / (2.0 * np.pi), rel=1e-10)


def test_run_stays_in_its_state():
    """Steps after a map go on from where it stood, with the numbers of the model."""
    found = []
    for mapped in (False, True):
        m = inverted(20.0)
        m.sensor("a", "joint", on="j")
        if mapped:
            m.stability_map_step([{"element": "s", "number": "stiffness", "values": [1.0, 30.0]}])
        m.initial_speed("b", "rotation", 0.4)
        m.transient_step(0.2, 0.01, frames=0)
        found.append(solve(m).steps[-1].series["sensor/a"])
    np.testing.assert_array_equal(*found)


def test_speeds_of_a_rotor():
    """A mass in a rotating, anisotropically sprung frame: unstable between both natural frequencies."""
    m = Model(3)
    m.body("disc", (0.0, 0.0, 0.0), 1.0, (0.1, 0.1, 0.2))
    m.body("frame", (0.0, 0.0, 0.0), 1.0, (0.1, 0.1, 0.2))
    m.joint("bearing", "revolute", "ground", "frame", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.bushing("shaft", "frame", "disc", stiffness=[400.0, 900.0, 1e4, 1e3, 1e3, 1e3])
    m.rotor("rotor", axis=(0.0, 0.0, 1.0), on=["disc", "frame"])
    m.stability_map_step([{"rotor": "rotor", "values": [10.0, 25.0, 40.0]}], count=4, near=2.0, frame="rotating")
    s = solve(m).steps[-1].summary
    for speed, growth in zip((10.0, 25.0, 40.0), np.array(s["growth"])[:, 0], strict=True):
        # p^4 + p^2 (a + b + 2 W^2) + (a - W^2)(b - W^2) = 0 in the rotating frame
        a, b, W2 = 400.0, 900.0, speed**2
        p = np.sqrt(np.roots([1.0, a + b + 2.0 * W2, (a - W2) * (b - W2)]).astype(complex))
        assert growth == pytest.approx(np.abs(p.real).max(), rel=1e-6, abs=1e-6)


def test_results_and_model_file(tmp_path):
    """The file makes the same call; series and summary are on disk."""
    (tmp_path / "m.toml").write_text(
        """
        dimension = 2
        [[body]]
        name = "b"
        position = [0, 0]
        mass = 2.0
        inertia = 0.1
        [[support]]
        on = "b"
        components = ["y", "rotation"]
        [[nodal_spring]]
        name = "x"
        on = "b"
        component = "x"
        stiffness = 800
        damping = 4
        [[step]]
        type = "stability_map"
        count = 1
        parameters = [{element = "x", number = "damping", values = [-4, 4, 8]}]
        """
    )
    run(load_model(tmp_path / "m.toml"), tmp_path / "out")
    results = Results.open(tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())["steps"][0]
    np.testing.assert_allclose(np.array(summary["growth"])[:, 0], [1.0, -1.0, -2.0], rtol=1e-12)
    assert results is not None


GOOD = {"element": "s", "number": "stiffness", "values": [1.0, 2.0]}
BAD = [
    ((), "one or two tables"),
    ([GOOD] * 3, "one or two tables"),
    ([GOOD, GOOD], "vary two different ones"),
    ([{**GOOD, "values": [1.0]}], "at least two finite numbers, rising"),
    ([{**GOOD, "values": [2.0, 1.0]}], "at least two finite numbers, rising"),
    ([{**GOOD, "number": "stiffnes"}], "has .*stiffness"),
    ([{**GOOD, "element": "t"}], "t"),
    ([{**GOOD, "load": "gravity"}], "give one of"),
    ([{**GOOD, "valeus": [1.0]}], "unknown key"),
    ([{"load": 3, "values": [1.0, 2.0]}], "load = 3"),
    ([{"rotor": "r", "values": [1.0, 2.0]}], "rotor"),
    ([{"load": "gravity", "number": "x", "values": [1.0, 2.0]}], "number belongs to element"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD)
def test_messages(parameters, message):
    m = inverted()
    with pytest.raises(ModelError, match=message):  # some at the call, some when the model is known
        m.stability_map_step(parameters)
        solve(m)


def test_loads_must_act():
    m = inverted()
    m.steps.clear()
    m.stability_map_step([{"load": "gravity", "values": [0.5, 1.0]}])
    with pytest.raises(ModelError, match="put a static step before"):
        solve(m)


# --- friction about sliding -------------------------------------------------------------------------------------------
def sliding() -> Linearisation:
    """A block that slides askew over a plane that runs, and turns."""
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.body("block", (0.0, 0.0, 0.0), 2.0, (0.1, 0.2, 0.15))
    m.joint("rail", "point_on_plane", "ground", "block", point=(0.02, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    law = {"coefficient": 0.3, "static": 0.5, "stribeck": 0.8, "smoothing": 0.3}
    m.friction("drag", "rail", speed=0.5, direction=(1.0, 1.0, 0.0), **law)
    m.initial("block", velocity=(1.2, 0.3, 0.0), spin=(0.0, 0.0, 3.0))
    m.transient_step(0.02, 0.002, frames=0)
    end = run_to_end(m)
    return Linearisation(end.compiled, end.state, end.time, end.loading)


def test_columns_of_multipliers_are_those_of_the_forces():
    """They equal differences of the forces by the multipliers, differ from G^T, and the state is in balance."""
    lin = sliding()
    assert np.abs(lin.residual).max() < 1e-10
    columns = lin.columns.toarray()
    y = lin.state.U
    for j in range(columns.shape[1]):
        k, e = lin.first + j, 1e-3 * abs(y[lin.first : -1]).max()
        forces = []
        for sign in (1.0, -1.0):
            y[k] += sign * e
            forces.append(lin.force()[lin.dofs])
            y[k] -= sign * e
        np.testing.assert_allclose((forces[0] - forces[1]) / (2.0 * e), columns[:, j], atol=1e-8 * abs(columns).max())
    assert np.abs(columns - lin.G.toarray().T).max() > 0.1 * abs(columns).max()


def test_damping_of_friction_about_sliding():
    """C of a point that slides over a plane: N m(w)/w across the motion, N m'(w) along it."""
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.body("block", (0.0, 0.0, 0.0), 2.0, (0.1, 0.2, 0.15))
    m.joint("rail", "planar", "ground", "block", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.friction("drag", "rail", coefficient=0.3, smoothing=0.5)
    m.initial("block", velocity=(0.6, 0.8, 0.0))
    m.transient_step(0.002, 0.001, frames=0)
    end = run_to_end(m)
    lin = Linearisation(end.compiled, end.state, end.time, end.loading)
    v = lin.velocity()[lin.dofs[:2]]
    w = np.linalg.norm(v)
    t, N = np.tanh(w / 0.5), 2.0 * 9.81
    C = lin.C.toarray()[:2, :2]
    along, across = v / w, np.array((-v[1], v[0])) / w
    assert along @ C @ along == pytest.approx(0.3 * N * (1.0 - t * t) / 0.5, rel=1e-8)
    assert across @ C @ across == pytest.approx(0.3 * N * t / w, rel=1e-8)


@pytest.mark.parametrize("dense", [True, False])
def test_complex_modes_with_columns_of_their_own(dense, monkeypatch):
    """Against elimination by bases of both null spaces; left vectors satisfy the columns, right ones the rows."""
    rng = np.random.default_rng(3)
    n, m = 60, 9
    M = np.diag(rng.uniform(1.0, 2.0, n))
    A = rng.normal(size=(n, n))
    K = A @ A.T + n * np.eye(n)
    C = 0.05 * K + 0.3 * (A - A.T)
    G = rng.normal(size=(m, n))
    H = G.T + 0.2 * rng.normal(size=(n, m))
    if not dense:
        monkeypatch.setattr(cm, "DENSE", 5)
    modes = cm.complex_modes(M, C, K, G, 8, columns=H)
    Z, W = (np.linalg.svd(B)[2][m:].T for B in (G, H.T))
    reduced = [W.T @ B @ Z for B in (M, C, K)]
    k = n - m
    I = np.eye(k)
    state = np.block(
        [[np.zeros((k, k)), I], [-np.linalg.solve(reduced[0], reduced[2]), -np.linalg.solve(*reduced[:2])]]
    )
    p = np.linalg.eigvals(state)
    expected = p[np.argsort(np.abs(p))][: modes.values.size]
    np.testing.assert_allclose(np.sort(np.abs(modes.values)), np.sort(np.abs(expected)), rtol=1e-9)
    assert modes.residuals.max() < 1e-8
    assert modes.biorthogonality < 1e-8
    assert np.abs(G @ modes.right).max() < 1e-9
    assert np.abs(modes.left.conj().T @ H).max() < 1e-9 * np.abs(modes.left).max()


def test_columns_are_checked():
    I = np.eye(3)
    with pytest.raises(ValueError, match="columns has shape"):
        cm.complex_modes(I, I, I, I[:1], 1, columns=I[:, :2])
    G = np.vstack((I[:1], I[:1]))
    H = G.T + np.array([[0.0, 0.0], [0.0, 0.3], [0.0, 0.0]])
    with pytest.raises(AnalysisError, match="that others repeat"):
        cm.complex_modes(I, I, I, G, 1, columns=H)


def test_jammed_joint_is_told():
    """A ladder that jams itself: mu a > 1 leaves no acceleration."""
    m = Model(2, gravity=(0.0, -9.81))
    m.body("rod", (0.3, 0.5), 2.0, 0.01)
    m.joint("rail", "point_on_line", "ground", "rod", point=(0.0, 0.0), axis=(1.0, 0.0))
    m.friction("drag", "rail", coefficient=3.0, smoothing=1e-3)
    m.initial("rod", velocity=(-1.0, 0.0))
    m.transient_step(0.01, 0.001, rule="generalised-alpha")
    with pytest.raises((ModelError, AnalysisError)):
        solve(m)


@pytest.mark.parametrize("form", ["state_space", "descriptor"])
def test_linear_models_of_sliding_friction(form):
    """State space and descriptor have the eigenvalues of the pencil with columns of its own."""
    m = Model(2, gravity=(0.0, -9.81))
    m.body("a", (0.0, 0.0), 2.0, 0.1)
    m.body("b", (0.3, 0.4), 1.0, 0.05)
    m.joint("rail", "point_on_line", "ground", "a", point=(0.0, 0.0), axis=(1.0, 0.0))
    m.joint("pin", "pin", "a", "b", point=(0.0, 0.0))
    m.joint_spring("s", "pin", 40.0, 0.2)
    m.nodal_spring("r", "a", "rotation", 60.0)
    m.nodal_spring("x", "a", "x", 90.0)
    m.friction("drag", "rail", coefficient=0.5, smoothing=0.01, speed=0.7)
    m.static_step()
    end = run_to_end(m)
    lin = Linearisation(end.compiled, end.state, end.time, end.loading)
    assert lin.pressed
    modes = cm.complex_modes(lin.M, lin.C, lin.K, lin.G, 6, columns=lin.columns)
    if form == "state_space":
        p = np.linalg.eigvals(state_space(lin).A)
    else:
        d = descriptor(lin)
        a, b = scipy.linalg.eig(d.A.toarray(), d.E.toarray(), right=False, homogeneous_eigvals=True)
        p = a[np.abs(b) > 1e-8 * np.abs(a)] / b[np.abs(b) > 1e-8 * np.abs(a)]
    for value in modes.values:
        assert np.abs(p - value).min() < 1e-6 * abs(value)
    symmetric = cm.complex_modes(lin.M, lin.C, lin.K, lin.G, 6)
    assert np.abs(np.sort_complex(symmetric.values) - np.sort_complex(modes.values)).max() > 1e-3


def test_state_of_a_transient():
    """A map about an instant of a motion: the free spin of a pendulum without weight changes nothing but its place."""
    m = inverted(20.0, 0.5)
    m.steps.clear()
    m.initial_speed("b", "rotation", 0.3)
    m.transient_step(0.1, 0.01, frames=5, restarts=1)
    m.stability_map_step([{"element": "s", "number": "damping", "values": [0.2, 0.8]}], count=2)
    m.sensor("a", "joint", on="j")
    solution = solve(m)
    growth = np.array(solution.steps[-1].summary["growth"])[:, 0]
    for d, g in zip((0.2, 0.8), growth, strict=True):
        mine = inverted(20.0, d)
        mine.steps.clear()
        mine.initial_speed("b", "rotation", 0.3)
        mine.sensor("a", "joint", on="j")
        mine.transient_step(0.1, 0.01, frames=0)
        a = solve(mine).steps[-1].series["sensor/a"][-1, 0]
        p = np.roots([0.6, d, 20.0 - 9.81 * np.cos(a)])
        assert g == pytest.approx(p.real.max(), rel=1e-9)
    assert "moves" in solution.steps[-1].summary["warnings"][0]


def test_damping_of_strains_is_not_that_of_masses():
    """A beam has two numbers called damping: beta [s] of its strains, and alpha [1/s] of its masses."""
    found = {}
    for number in ("damping", "mass_damping"):
        m = Model(2)
        m.section("s", "stiffness", EA=1e4, EI=1.0, GA=np.inf, rhoA=1.0, rhoI=0.0)
        m.line("l", (0, 0), (1, 0), 1)
        m.beams("b", "l", "s")
        m.fix("l:start")
        m.stability_map_step([{"element": "b", "number": number, "values": [1e-3, 2e-3]}], count=1)
        s = solve(m).steps[-1].summary
        w = 2.0 * np.pi * np.array(s["frequency"])[:, 0]
        found[number] = np.array(s["growth"])[:, 0] / w**2, np.array(s["growth"])[:, 0]
    np.testing.assert_allclose(found["damping"][0], [-5e-4, -1e-3], rtol=1e-4)
    np.testing.assert_allclose(found["mass_damping"][1], [-5e-4, -1e-3], rtol=1e-4)


@pytest.mark.parametrize(("number", "values"), [("mass", [-1.0, 1.0]), ("length", [0.0, 1.0])])
def test_numbers_that_no_body_has(number, values):
    m = Model(2)
    m.section("s", "stiffness", EA=1e4, EI=1.0, GA=np.inf, rhoA=1.0, rhoI=0.0)
    m.line("l", (0, 0), (1, 0), 1)
    m.beams("b", "l", "s")
    m.fix("l:start")
    m.stability_map_step([{"element": "b", "number": number, "values": values}])
    with pytest.raises(ModelError, match="must be positive"):
        solve(m)
