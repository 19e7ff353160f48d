"""Linear models to take away: state space and descriptor form against closed forms, eigenvalues and the full model."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest
import scipy.linalg
from places import SCHEMA
from scipy.sparse import csr_matrix
from test_stability_steps import rotor

from fem_mbs import Model, ModelError, linearise, load_model, run, solve
from fem_mbs.solvers.eigen.complex_modes import complex_modes


def oscillator() -> Model:
    """2 kg on 800 N/m and 3 N s/m, and a pendulum of multipliers on it."""
    m = Model(2, gravity=(0.0, -9.81))
    m.body("b", (0, 0), mass=2.0, inertia=0.1)
    m.nodal_spring("s", "b", "x", 800.0, 3.0)
    m.fix("b", ["y", "rotation"])
    m.force("push", "b", (1.0, 0.0), function="0*t")
    m.sensor("x", "displacement", on="b")
    m.sensor("v", "velocity", on="b")
    m.sensor("hold", "reaction", on="b")
    return m


def test_oscillator_closed_form():
    lin = linearise(oscillator())
    s = lin.state_space("push", ["x", "v", "x''", "hold"])
    np.testing.assert_allclose(s.A, [[0.0, 1.0], [-400.0, -1.5]], rtol=1e-12)
    np.testing.assert_allclose(s.B, [[0.0], [0.5]], rtol=1e-12)
    assert s.inputs == ["push"]
    assert s.outputs[:2] == ["x.x", "x.y"]
    w = 7.0
    H = s.response(1j * w)[:, 0]
    exact = 1.0 / (800.0 - 2.0 * w**2 + 3j * w)
    np.testing.assert_allclose(H[s.outputs.index("x.x")], exact, rtol=1e-12)
    np.testing.assert_allclose(H[s.outputs.index("v.x")], 1j * w * exact, rtol=1e-12)
    np.testing.assert_allclose(H[s.outputs.index("x.x''")], -(w**2) * exact, rtol=1e-12)
    np.testing.assert_allclose(s.response(1j * np.array([1.0, w]))[1, :, 0], H, rtol=1e-12)


def mechanism(driven: str = "", steps: bool = True) -> Model:
    """A flexible arm on a hinge with a spring, a block on a line, loads, a motor; many kinds of sensors."""
    m = Model(2, gravity=(0.0, -9.81))
    m.section("s", "stiffness", EA=1e4, EI=20.0, rhoA=1.0, rhoI=0.001)
    m.line("l", (0, 0), (1, 0), 2)
    m.beams("b", "l", "s", damping=2e-3)
    m.body("block", (1.0, -0.5), mass=0.5, inertia=0.01)
    if driven:
        m.joint("hinge", "revolute", "ground", "l:start", point=(0, 0), function=driven)
    else:
        m.joint("hinge", "revolute", "ground", "l:start", point=(0, 0))
        m.joint_spring("coil", "hinge", 60.0, 0.4)
    m.joint("rail", "point_on_line", "ground", "block", axis=(0, 1), point=(1.0, -0.5))
    m.spring("rod", "block", "l:end", 300.0, 2.0)
    m.force("tip", "l:end", (1.0, 2.0), function="0*t")
    m.nodal_spring("turn", "block", "rotation", 5.0, 0.02)
    m.sensor("tip", "displacement", on="l:end")
    m.sensor("corner", "velocity", on="block", point=(1.1, -0.4))
    m.sensor("gap", "distance", a="block", b="l:end", point_a=(1.1, -0.5))
    m.sensor("turned", "rotation", on="l:end")
    m.sensor("rod", "element", on="rod", quantity="force")
    m.sensor("root", "reaction", on="hinge")
    m.sensor("line", "reaction", on="rail")
    if steps:
        m.static_step(increments=4)
    return m


OUTPUTS = ["tip", "corner", "gap", "turned", "rod", "root", "line"]


def simulated(model: Model, duration: float, h: float, outputs=OUTPUTS) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    model.transient_step(duration, h, rule="generalised-alpha", rho_inf=1.0)
    found = solve(model)
    return found.steps[-1].time, {name: found.steps[-1].series[f"sensor/{name}"] for name in outputs}


def linear_response(s, time: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Outputs (n, k) under inputs (n, m), linear between times: exact by the exponential of the augmented matrix."""
    h, n, m = time[1] - time[0], len(s.A), u.shape[1]
    block = np.zeros((n + 2 * m, n + 2 * m))
    block[:n, :n], block[:n, n : n + m], block[n : n + m, n + m :] = s.A * h, s.B * h, np.eye(m)
    E = scipy.linalg.expm(block)[:n]
    x, out = np.zeros(n), []
    for i in range(len(time)):
        out.append(s.C @ x + s.D @ u[i])
        if i + 1 < len(time):
            x = E @ np.concatenate((x, u[i], u[i + 1] - u[i]))
    return np.array(out)


def test_small_motions_of_a_mechanism_are_those_of_the_full_model():
    size = 1e-4
    s = linearise(mechanism()).state_space("tip", OUTPUTS)
    m = mechanism(steps=False)
    law = f"{size}*sin(9*t)"
    m.force("moved", "l:end", (1.0, 2.0), function=law)
    m.static_step(increments=4)
    time, found = simulated(m, 0.5, 0.00125)
    y = linear_response(s, time, size * np.sin(9.0 * time)[:, None])
    assert_same(found, y + s.start, 2e-3)


def assert_same(found: dict[str, np.ndarray], y: np.ndarray, tolerance: float) -> None:
    """Sensors of a transient and columns y (n, k) of a linear response, over the change of each sensor."""
    at = 0
    for name, full in found.items():
        mine = y[:, at : at + full.shape[1]]
        at += full.shape[1]
        scale = np.abs(mine - mine[0]).max()
        assert np.abs(full - mine)[1:].max() < tolerance * scale, name
    assert at == y.shape[1]


def pendulum(steps: bool = True) -> Model:
    """A body in space on a ball joint, in a mount, with sensors of points and rotations."""
    m = Model(3, gravity=(0.0, 0.0, -9.81))
    m.body("a", (0.3, 0.1, 0.0), mass=2.0, inertia=(0.1, 0.15, 0.2), rotation=(0.1, 0.2, 0.3))
    m.joint("ball", "spherical", "ground", "a", point=(0, 0, 0))
    m.bushing("mount", "a", "ground", [300.0] * 3 + [20.0, 30.0, 40.0], [0.5] * 3 + [0.1] * 3, point=(0.5, 0.1, 0.1))
    m.force("f", "a", (1.0, 2.0, 3.0), function="0*t", point=(0.4, 0.2, 0.1))
    m.sensor("place", "position", on="a", point=(0.6, 0.2, 0.3))
    m.sensor("speed", "velocity", on="a", point=(0.6, 0.2, 0.3))
    m.sensor("turned", "rotation", on="a")
    m.sensor("mount", "element", on="mount", quantity="force z")
    m.sensor("ball", "reaction", on="ball")
    if steps:
        m.static_step(increments=4)
    return m


def test_small_motions_in_space():
    outputs = ["place", "speed", "turned", "mount", "ball"]
    s = linearise(pendulum()).state_space("f", outputs)
    m = pendulum(steps=False)
    m.force("moved", "a", (1.0, 2.0, 3.0), function="2e-3*sin(9*t)", point=(0.4, 0.2, 0.1))
    m.static_step(increments=4)
    time, found = simulated(m, 0.5, 0.00125, outputs)
    assert_same(found, linear_response(s, time, 2e-3 * np.sin(9.0 * time)[:, None]) + s.start, 3e-3)


def test_driven_joint_as_input_with_its_derivatives():
    """A drive that starts with zero speed and acceleration, 1e-3 t^3."""
    s = linearise(mechanism("0*t")).state_space("hinge", OUTPUTS)
    assert s.inputs == ["hinge", "hinge'", "hinge''"]
    time, found = simulated(mechanism("1e-3*t**3"), 0.5, 0.00125)
    u = 1e-3 * np.column_stack((time**3, 3.0 * time**2, 6.0 * time))
    assert_same(found, linear_response(s, time, u) + s.start, 3e-3)


@pytest.mark.parametrize("driven", ["", "0.1*sin(3*t)"])
def test_eigenvalues_are_those_of_complex_modes_and_of_the_descriptor(driven):
    m = mechanism(driven)
    lin = linearise(m)
    m.complex_modes_step(3)
    p = np.array(solve(m).steps[-1].summary["eigenvalues"]) @ [1.0, 1j]
    s = lin.state_space()
    own = np.linalg.eigvals(s.A)
    for value in p:
        assert np.abs(own - value).min() < 1e-8 * abs(value)
    d = lin.descriptor("tip", ["tip", "rod", "line", "root"])
    a, b = scipy.linalg.eig(d.A.toarray(), d.E.toarray(), right=False, homogeneous_eigvals=True)
    finite = np.abs(b) > 1e-9 * np.abs(a)
    for value in p:
        assert np.abs(a[finite] / b[finite] - value).min() < 1e-4 * abs(value)
    # transfer functions of both forms
    s = lin.state_space("tip", ["tip", "rod", "line", "root"])
    w = 6.0
    x = np.linalg.solve(1j * w * d.E.toarray() - d.A.toarray(), d.B.toarray())
    np.testing.assert_allclose(d.C @ x + d.D.toarray(), s.response(1j * w), rtol=1e-7, atol=1e-10)


def test_files_hold_everything(tmp_path):
    lin = linearise(oscillator())
    s = lin.state_space("push", "x")
    with np.load(s.save(tmp_path / "s.npz")) as data:
        np.testing.assert_array_equal(data["A"], s.A)
        assert list(data["outputs"]) == ["x.x", "x.y"]
    d = lin.descriptor("push", "x")
    with np.load(d.save(tmp_path / "d.npz")) as data:
        assert tuple(data["E_shape"]) == d.E.shape


@pytest.mark.parametrize(
    ("inputs", "sensors", "message"),
    [
        ("pull", "x", 'inputs: there is no .* "pull"'),
        ("push", "y", 'there is no sensor "y"; there are x, v, hold'),
        ("push", "x'''", "derived 3 times"),
        ("push", "x'''", "at most two"),
    ],
)
def test_wrong_names(inputs, sensors, message):
    with pytest.raises(ModelError, match=message):
        linearise(oscillator()).state_space(inputs, sensors)


def test_work_is_refused():
    m = oscillator()
    m.sensor("w", "work", on="push")
    with pytest.raises(ModelError, match="not linear in small motions"):
        linearise(m).state_space("push", "w")


def test_gravity_is_an_input():
    """Static gain of the weight: displacement per unit of its factor."""
    m = Model(2, gravity=(0.0, -9.81))
    m.body("b", (0, 0), mass=2.0, inertia=0.1)
    m.nodal_spring("s", "b", "y", 800.0, 3.0)
    m.fix("b", ["x", "rotation"])
    m.sensor("y", "displacement", on="b")
    s = linearise(m).state_space("gravity", "y")
    assert s.response(0.0)[1, 0] == pytest.approx(-2.0 * 9.81 / 800.0, rel=1e-12)


def test_massless_unknown_is_condensed():
    """Two springs in series with a massless node between."""
    m = Model(2)
    m.body("b", (2, 0), mass=2.0, inertia=0.1)
    m.node("n", (1, 0))
    m.node("o", (0, 0))
    m.spring("s1", "o", "n", 300.0)
    m.spring("s2", "n", "b", 600.0)
    m.fix("o")
    m.fix("n", ["y"])
    m.fix("b", ["y", "rotation"])
    m.force("f", "n", (1.0, 0.0))
    m.sensor("n", "displacement", on="n")
    s = linearise(m).state_space("f", "n")
    assert len(s.A) == 2
    np.testing.assert_allclose(np.linalg.eigvals(s.A).imag.max(), np.sqrt(200.0 / 2.0), rtol=1e-12)
    assert s.response(0.0)[0, 0].real == pytest.approx(1.0 / 300.0, rel=1e-10)


def test_step_writes_matrices_and_a_model(tmp_path):
    m = mechanism()
    m.linearise_step("at rest", inputs=["tip"], sensors=["tip", "rod"])
    m.linearise_step("sparse", inputs="tip", sensors="tip", form="descriptor")
    m.linearise_step("matrices")
    steps = run(m, tmp_path / "out").steps
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, SCHEMA)
    assert steps[1].summary["files"] == ["matrices_at_rest.npz", "state_space_at_rest.npz"]
    assert steps[3].summary["files"] == ["matrices_matrices.npz"]
    lin = linearise(mechanism())
    with np.load(tmp_path / "out" / "matrices_at_rest.npz") as data:
        K = csr_matrix((data["K_data"], data["K_indices"], data["K_indptr"]), shape=data["K_shape"])
        np.testing.assert_array_equal(K.toarray(), lin.K.toarray())
        assert list(data["names"]) == lin.names
    with np.load(tmp_path / "out" / "state_space_at_rest.npz") as data:
        np.testing.assert_allclose(data["A"], lin.state_space().A, rtol=1e-9, atol=1e-9)
        assert list(data["outputs"]) == ["tip.x", "tip.y", "rod"]
    with np.load(tmp_path / "out" / "state_space_sparse.npz") as data:
        assert "E_data" in data
    run(m, tmp_path / "out")  # its own files may be replaced


def test_step_in_a_model_file(tmp_path):
    text = """
dimension = 2
[[body]]
name = "b"
position = [0, 0]
mass = 2.0
inertia = 0.1
[[nodal_spring]]
name = "s"
on = "b"
component = "x"
stiffness = 800.0
damping = 3.0
[[support]]
on = "b"
components = ["y", "rotation"]
[[force]]
name = "push"
on = "b"
vector = [1.0, 0.0]
[[sensor]]
name = "x"
kind = "displacement"
on = "b"
[[step]]
type = "linearise"
inputs = "push"
sensors = ["x"]
"""
    path = tmp_path / "m.toml"
    path.write_text(text, encoding="utf-8")
    run(load_model(path), tmp_path / "out")
    with np.load(tmp_path / "out" / "state_space_linearise.npz") as data:
        np.testing.assert_allclose(data["A"], [[0.0, 1.0], [-400.0, -1.5]], rtol=1e-12)
    path.write_text(text.replace('inputs = "push"', 'inputs = "pull"'), encoding="utf-8")
    with pytest.raises(ModelError, match=r'there is no load.*"pull"'):
        run(load_model(path), tmp_path / "out2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "dense"}, 'form = "dense" must be one of "state space", "descriptor"'),
        ({"inputs": 3}, "inputs = 3 must be a name or a list of names"),
        ({"speed": 1.0}, "speed = 1.0 needs a rotor"),
    ],
)
def test_wrong_options_of_the_step(options, message):
    m = oscillator()
    with pytest.raises(ModelError, match=message):
        m.linearise_step(**options)
        solve(m)


def double_pendulum() -> Model:
    m = Model(2, gravity=(0.0, -9.81))
    m.body("a", (0.5, 0), mass=2.0, inertia=0.1)
    m.body("b", (1.3, 0), mass=1.0, inertia=0.05)
    m.joint("j", "revolute", "ground", "a", point=(0, 0))
    m.joint("k", "revolute", "a", "b", point=(1.0, 0))
    m.force("f", "b", (1.0, 2.0), function="0*t", point=(1.6, 0.0))
    m.sensor("tip", "velocity", on="b", point=(1.6, 0.0))
    return m


def lagrange(q: np.ndarray, w: np.ndarray, f: float) -> np.ndarray:
    """Angular accelerations of the double pendulum from Lagrange's equations, with f times the force of the model."""
    c, s = np.cos(q[0] - q[1]), np.sin(q[0] - q[1])
    coupled = 1.0 * 1.0 * 0.3
    M = np.array([[0.1 + 2.0 * 0.25 + 1.0, coupled * c], [coupled * c, 0.05 + 0.09]])
    right = np.array([-coupled * s * w[1] ** 2, coupled * s * w[0] ** 2])
    right -= 9.81 * np.array([(2.0 * 0.5 + 1.0) * np.cos(q[0]), 0.3 * np.cos(q[1])])
    arms = np.array([1.0, 0.6])
    right += f * arms * (-np.sin(q) * 1.0 + np.cos(q) * 2.0)
    return np.linalg.solve(M, right)


def places(q: np.ndarray) -> np.ndarray:
    """x, y, angle of both bodies."""
    a = np.array([np.cos(q[0]), np.sin(q[0])])
    b = np.array([np.cos(q[1]), np.sin(q[1])])
    return np.concatenate((0.5 * a, [q[0]], a + 0.3 * b, [q[1]]))


def test_state_space_in_motion_is_the_derivative_of_the_equations_of_motion():
    """A = df/dx, B = df/du of x' = f(x, u) of a double pendulum that swings, in the coordinates that were chosen."""
    m = double_pendulum()
    m.transient_step(0.3, 0.0005)
    lin = linearise(m)
    model = lin.state_space("f", "tip")
    V = lin.state.V[0][: lin.first]
    q0, w0 = lin.state.Q[0][[2, 5]], V[[2, 5]]
    assert np.abs(w0).max() > 1.0
    every = [f'node "{b}", {c}' for b in "ab" for c in ("x", "y", "rotation")]
    chosen = [every.index(name) for name in model.states[:2]]

    def derivative(f, x, e=1e-3):
        steps = np.eye(len(x)) * e
        return np.column_stack([(8 * (f(x + d) - f(x - d)) - (f(x + 2 * d) - f(x - 2 * d))) / (12 * e) for d in steps])

    def rates(s, f):
        """x' of x = (places, their rates), from angles and angular velocities s = (q, w)."""
        q, w = s[:2], s[2:]
        J = derivative(places, q)[chosen]
        bend = derivative(lambda p: derivative(places, p)[chosen] @ w, q) @ w
        return np.concatenate((J @ w, J @ lagrange(q, w, f) + bend))

    s0 = np.concatenate((q0, w0))
    X = derivative(lambda s: np.concatenate((places(s[:2])[chosen], derivative(places, s[:2])[chosen] @ s[2:])), s0)
    A = derivative(lambda s: rates(s, 0.0), s0) @ np.linalg.inv(X)
    np.testing.assert_allclose(model.A, A, rtol=0, atol=2e-4 * np.abs(A).max())
    B = derivative(lambda f: rates(s0, f[0]), np.zeros(1))
    np.testing.assert_allclose(model.B, B, rtol=0, atol=2e-4 * np.abs(B).max())

    def tip(s):
        q, w = s[:2], s[2:]
        return np.array(
            [-np.sin(q[0]) * w[0] - 0.6 * np.sin(q[1]) * w[1], np.cos(q[0]) * w[0] + 0.6 * np.cos(q[1]) * w[1]]
        )

    C = derivative(tip, s0) @ np.linalg.inv(X)
    np.testing.assert_allclose(model.C, C, rtol=0, atol=2e-4 * np.abs(C).max())


def test_constraint_rates_are_differences_along_the_motion():
    m = double_pendulum()
    m.transient_step(0.3, 0.001)
    lin = linearise(m)
    G0, G1, G2 = (G.toarray() for G in lin.constraint_rates())
    v, a = lin.velocity(), lin.acceleration
    # the point of a joint in body axes is at (-.5, 0): G turns with the body
    w, turn = v[2], a[2]
    row = np.flatnonzero((G0[:, 2] != 0.0) & (G0[:, 5] == 0.0))[0]
    angle = lin.state.Q[0][2]
    scale = np.abs(G0[row]).max() / max(0.5 * abs(np.sin(angle)), 1.0, 0.5 * abs(np.cos(angle)))
    wave = np.array([np.sin(angle), np.cos(angle)])
    of = int(np.argmin(np.abs(np.abs(G0[row, 2]) - 0.5 * scale * np.abs(wave))))
    sign = np.sign(G0[row, 2] * wave[of])
    slope = np.array([np.cos(angle), -np.sin(angle)])[of]
    assert G1[row, 2] == pytest.approx(sign * 0.5 * scale * slope * w, rel=1e-7)
    assert G2[row, 2] == pytest.approx(sign * 0.5 * scale * (slope * turn - wave[of] * w**2), rel=1e-5)


@pytest.mark.parametrize("frame", ["fixed", "rotating"])
def test_rotor_in_steady_rotation(frame):
    """Eigenvalues of both forms are those of the matrices of the frame; velocities and accelerations are seen from
    outside."""
    m = rotor(1e6, 1e6)
    m.force("push", "n3", (0.0, 1.0, 0.0), function="0*t")
    m.sensor("place", "displacement", on="n3")
    m.sensor("speed", "velocity", on="n3")
    m.sensor("acceleration", "acceleration", on="n3")
    lin = linearise(m, rotor="shaft", speed=100.0, frame=frame)
    assert lin.frame == frame
    s = lin.state_space("push", ["place", "speed"])
    p = complex_modes(lin.M, lin.C, lin.K, lin.G, 6).values
    own = np.linalg.eigvals(s.A)
    for value in p[np.abs(p) > 1.0]:
        assert np.abs(own - value).min() < 1e-7 * abs(value)
    d = lin.descriptor("push", ["place", "speed"])
    w = 37.0
    x = np.linalg.solve(1j * w * d.E.toarray() - d.A.toarray(), d.B.toarray())
    H = s.response(1j * w)
    np.testing.assert_allclose(d.C @ x, H, rtol=1e-6, atol=1e-9 * np.abs(H).max())
    place, speed = H[:3, 0], H[3:, 0]
    turn = 100.0 * np.array([0.0, -place[2], place[1]]) if frame == "rotating" else 0.0
    np.testing.assert_allclose(speed, 1j * w * place + turn, rtol=1e-8, atol=1e-10 * np.abs(speed).max())
    again = lin.state_space("push", ["speed", "acceleration"]).response(1j * w)[:, 0]
    turn = 100.0 * np.array([0.0, -speed[2], speed[1]]) if frame == "rotating" else 0.0
    np.testing.assert_allclose(again[3:], 1j * w * speed + turn, rtol=1e-7, atol=1e-9 * np.abs(again).max())
