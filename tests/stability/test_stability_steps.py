"""Steps of complex modes: closed forms, states at rest and in motion, rotors, results, messages."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest
from places import SCHEMA

from fem_mbs import AnalysisError, Model, ModelError, Results, load_model, run, solve


def oscillator(damping: float = 3.0) -> Model:
    """2 kg on 800 N/m along x and 5000 N/m along y."""
    m = Model(2)
    m.body("b", (0, 0), mass=2.0, inertia=0.1)
    m.nodal_spring("x", "b", "x", 800.0, damping)
    m.nodal_spring("y", "b", "y", 5000.0)
    m.nodal_spring("r", "b", "rotation", 4.0)
    return m


def test_damped_oscillators_closed_form():
    m = oscillator()
    m.complex_modes_step(3)
    (step,) = solve(m).steps
    p = np.array(step.summary["eigenvalues"]) @ [1.0, 1j]
    r = np.roots([2.0, 3.0, 800.0])
    expected = [1j * np.sqrt(4.0 / 0.1), r[r.imag > 0.0][0], 1j * np.sqrt(2500.0)]
    np.testing.assert_allclose(p, sorted(expected, key=abs), rtol=1e-12, atol=1e-12)
    k = int(np.argmin(abs(p - expected[1])))
    assert step.summary["damping_ratios"][k] == pytest.approx(3.0 / (2.0 * np.sqrt(2.0 * 800.0)), rel=1e-12)
    assert step.summary["frequencies_hz"][k] == pytest.approx(expected[1].imag / (2.0 * np.pi), rel=1e-12)
    assert step.summary["stable"] is True
    assert max(step.summary["residuals"]) < 1e-12
    assert step.summary["biorthogonality"] < 1e-10


def test_overdamped_oscillator_counts_each_real_eigenvalue():
    m = oscillator(damping=100.0)
    m.complex_modes_step(4)
    p = np.array(solve(m).steps[0].summary["eigenvalues"]) @ [1.0, 1j]
    real = np.sort(p[p.imag == 0.0].real)
    np.testing.assert_allclose(real, np.sort(np.roots([2.0, 100.0, 800.0])), rtol=1e-12)
    assert len(p) == 4


def test_inverted_pendulum_falls():
    """p^2 = m g l/(J + m l^2); a joint of multipliers is between, and bears the weight."""
    m = Model(2, gravity=(0.0, -9.81))
    m.body("b", (0, 0.5), mass=2.0, inertia=0.1)
    m.joint("j", "revolute", "b", "ground", point=(0, 0))
    m.static_step()
    m.complex_modes_step(2, which="rightmost")
    s = solve(m).steps[1].summary
    assert s["stable"] is False
    rate = np.sqrt(2.0 * 9.81 * 0.5 / (0.1 + 2.0 * 0.25))
    np.testing.assert_allclose(s["eigenvalues"], [[rate, 0.0], [-rate, 0.0]], rtol=1e-12)
    assert s["warnings"] == []


def beam(**options) -> Model:
    m = Model(2, gravity=(0.0, -9.81))
    m.section("s", "stiffness", EA=1e6, EI=20.0, rhoA=1.0)
    m.line("l", (0, 0), (1, 0), 6)
    m.beams("b", "l", "s", **options)
    m.fix("l:start")
    m.static_step()
    return m


def test_modes_about_a_static_state_are_those_of_the_modal_step():
    m = beam()
    m.complex_modes_step(3)
    m.modes_step(3)
    steps = solve(m).steps
    np.testing.assert_allclose(
        steps[1].summary["frequencies_hz"], steps[2].summary["frequencies_hz"], rtol=1e-9
    )  # fmt: skip
    near = steps[2].summary["frequencies_hz"][1]
    m = beam()
    m.complex_modes_step(1, near=near)
    assert solve(m).steps[1].summary["frequencies_hz"] == pytest.approx([near], rel=1e-9)


def test_eigenvalue_is_the_free_decay_of_a_transient():
    """A small motion of the damped beam in its lowest mode goes as exp(p t)."""
    m = beam(damping=2e-3)
    m.complex_modes_step(1)
    found = solve(m)
    p = complex(*found.steps[1].summary["eigenvalues"][0])
    assert p.real < -0.1
    y0 = found.steps[0].frames["displacement"][-1, -1, 1]
    m = beam(damping=2e-3)
    m.sensor("tip", "displacement", on="l:end")
    m.force("pull", "l:end", (0.0, -1e-3), function={"kind": "step", "start": 1e-6, "start_value": 1, "end_value": 0})
    m.static_step(name="pulled")
    period = 2.0 * np.pi / p.imag
    m.transient_step(4.0 * period, period / 400.0)
    result = solve(m)
    t, y = result.steps[-1].time, result.steps[-1].series["sensor/tip"][:, 1] - y0
    low = np.flatnonzero((y[1:-1] < y[:-2]) & (y[1:-1] <= y[2:])) + 1
    decay = np.log(y[low[0]] / y[low[2]]) / (t[low[2]] - t[low[0]])
    assert t[low[2]] - t[low[0]] == pytest.approx(2.0 * period, rel=3e-3)
    assert decay == pytest.approx(-p.real, rel=0.02)


def rotor(ky: float, kz: float) -> Model:
    """Nelson-McVaugh's shaft, coarse: two discs on two springs."""
    m = Model(3)
    m.material("s", E=211e9, nu=211 / 81.2 / 2 - 1, density=7810.0)
    m.section("b", "circle", diameter=0.05)
    names = [f"n{i}" for i in range(7)]
    for i, name in enumerate(names):
        m.node(name, (0.25 * i, 0, 0))
    for i in range(6):
        m.beams(f"b{i}", names[i : i + 2], "b", "s")
    for k in (2, 4):
        m.point_mass(f"disc{k}", names[k], 32.5897, inertia=(0.32956, 0.17809, 0.17809))
    for e in ("n0", "n6"):
        m.nodal_spring(f"{e}y", e, "y", ky)
        m.nodal_spring(f"{e}z", e, "z", kz)
    m.fix("n0", ["x"])
    m.rotor("shaft", axis=(1, 0, 0))
    return m


def test_rotor_in_both_frames():
    """Isotropic: whirling at p in the fixed frame is p -+ i Omega in the rotating one."""
    omega = 100.0
    m = rotor(1e6, 1e6)
    m.complex_modes_step(4, "fixed", rotor="shaft", speed=omega, frame="fixed")
    m.complex_modes_step(4, "rotating", rotor="shaft", speed=omega, frame="rotating")
    m.complex_modes_step(4, "auto", rotor="shaft", speed=omega)
    fixed, rotating, auto = (np.array(s.summary["eigenvalues"])[1:, 1] for s in solve(m).steps)
    assert solve(m).steps[2].summary["frame"] == "fixed"
    np.testing.assert_allclose(auto, fixed, rtol=1e-9)
    # backward, forward, backward, forward
    seen = np.sort(np.abs(fixed - np.array([-1, 1, -1, 1]) * omega))
    np.testing.assert_allclose(rotating, seen, rtol=1e-7)


def test_rotor_on_anisotropic_supports_is_seen_from_the_fixed_frame():
    m = rotor(8e5, 1e6)
    m.complex_modes_step(4, rotor="shaft", speed=100.0)
    s = solve(m).steps[0].summary
    assert (s["frame"], s["rotor"], s["speed"]) == ("fixed", "shaft", 100.0)
    np.testing.assert_allclose(np.array(s["eigenvalues"])[1:, 1], [91.787, 96.296, 274.06, 296.99], rtol=2e-5)
    m = rotor(8e5, 1e6)
    m.complex_modes_step(4, rotor="shaft", speed=100.0, frame="rotating")
    with pytest.raises(ModelError, match="not constant in the rotating frame"):
        solve(m)


def test_driven_rotor_is_seen_from_the_rotating_frame():
    """A blade that a motor turns: what the motor's joint holds at rest moves by rounding only, which is no reason to
    refuse a frame.  Flapping of Wright et al. (1982), 4.1373 at 2 rad/s."""
    m = Model(3)
    m.section("s", "stiffness", EA=1e8, EI=1.0, GJ=1e4, GA=np.inf, rhoA=1.0, rhoI=1e-9)
    m.line("l", (0, 0, 0), (1, 0, 0), 4)
    m.beams("b", "l", "s")
    m.joint("motor", "revolute", "ground", "l:start", point=(0, 0, 0), axis=(0, 0, 1), function="2*t")
    m.rotor("blade", axis=(0, 0, 1))
    m.complex_modes_step(2, rotor="blade", speed=2.0)
    s = solve(m).steps[0].summary
    assert s["frame"] == "rotating"
    assert s["eigenvalues"][1][1] == pytest.approx(4.1373, rel=2e-4)


@pytest.mark.parametrize("speed", [0.0, 900.0])
def test_damping_of_a_straight_shaft_turns_with_it(speed):
    """A disc on a light damped shaft: m p^2 + c p + k - i c Omega = 0, though nothing is strained as long as the shaft
    is straight; at rest both values are equal and their vectors bi-orthogonal."""
    m = Model(3)
    m.section("s", "stiffness", EA=1e7, EI=1e3, GJ=1e3, GA=np.inf, rhoA=1e-8, rhoI=1e-11)
    m.line("l", (0, 0, 0), (1, 0, 0), 2)
    m.beams("b", "l", "s", damping=1e-4)
    m.disc("disc", m.nodes_of("l")[[1]], 2.0, polar=0.04, axis=(1, 0, 0))
    m.fix("l:start", ["x", "y", "z"])
    m.fix("l:end", ["y", "z"])
    m.rotor("shaft", axis=(1, 0, 0))
    m.complex_modes_step(4, rotor="shaft", speed=speed, frame="fixed")
    s = solve(m).steps[0].summary
    k, c = 48e3, 4.8
    exact = np.roots([2.0, c, k - 1j * c * speed])
    found = np.array(s["eigenvalues"])[1:3] @ (1.0, 1j)
    for p in exact:
        p = p if p.imag > 0.0 else p.conj()
        assert np.abs(found - p).min() < 1e-8 * abs(p)
    assert s["stable"] == (speed == 0.0)
    assert s["biorthogonality"] < 1e-10


def test_speed_of_a_rotor_comes_from_the_state():
    m = rotor(1e6, 1e6)
    m.initial(spin=(37.0, 0.0, 0.0), centre=(0, 0, 0))
    m.transient_step(0.002, 0.001)
    m.complex_modes_step(2, rotor="shaft")
    assert solve(m).steps[1].summary["speed"] == pytest.approx(37.0, rel=1e-9)


def test_free_body_reports_rigid_motions():
    m = Model(2)
    m.body("a", (0, 0), mass=1.0, inertia=0.1)
    m.body("b", (1, 0), mass=1.0, inertia=0.1)
    m.spring("s", "a", "b", 100.0)
    m.complex_modes_step(1)
    s = solve(m).steps[0].summary
    assert s["rigid_body_modes"] == 5
    assert s["zeros"] == 10
    assert s["eigenvalues"][:5] == [[0.0, 0.0]] * 5
    assert s["frequencies_hz"][5] == pytest.approx(np.sqrt(200.0) / (2.0 * np.pi), rel=1e-10)


def test_results_folder_and_schema(tmp_path):
    m = beam(damping=1e-3)
    m.complex_modes_step(3)
    m.transient_step(0.01, 0.005)
    run(m, tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, SCHEMA)
    assert [s["type"] for s in summary["steps"]] == ["static", "complex_modes", "transient"]
    step = Results.open(tmp_path / "out").steps[1]
    shape = step.frames["displacement"][:] + 1j * step.frames["displacement imaginary"][:]
    assert shape.shape == (3, 7, 3)
    assert np.linalg.norm(shape, axis=2).max() <= 0.1 * 1.0 * (1.0 + 1e-9) * np.sqrt(2.0)
    assert (np.linalg.norm(shape.real, axis=(1, 2)) > np.linalg.norm(shape.imag, axis=(1, 2))).all()
    assert step.frames["state displacement"][0, -1, 1] < -1e-3  # it hangs through
    np.testing.assert_allclose(step.series["frequency"], step.summary["frequencies_hz"])


def test_model_file_makes_the_same_calls(tmp_path):
    text = """
dimension = 2
gravity = [0, -9.81]
[section.s]
shape = "stiffness"
EA = 1e6
EI = 20.0
rhoA = 1.0
[mesh.l]
line = {start = [0, 0], end = [1, 0], n = 6}
[[beam]]
name = "b"
on = "l"
section = "s"
[[support]]
on = "l:start"
[[step]]
type = "static"
[[step]]
type = "complex_modes"
name = "complex modes"
count = 2
near = [0.0, 90.0]
"""
    path = tmp_path / "m.toml"
    path.write_text(text, encoding="utf-8")
    m = beam()
    m.complex_modes_step(2, near=[0.0, 90.0])
    given, made = solve(load_model(path)).steps[1].summary, solve(m).steps[1].summary
    assert given["eigenvalues"] == made["eigenvalues"]
    path.write_text(text.replace("[0.0, 90.0]", "[1.0]"), encoding="utf-8")
    with pytest.raises(ModelError, match="near = "):
        load_model(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"near": "low"}, r'near = "low" must be a frequency \[Hz\], or a list of two'),
        ({"shift": [1.0, 2.0, 3.0]}, "shift = .* must be a number"),
        ({"which": "lowest"}, 'which = "lowest" must be one of "nearest", "rightmost"'),
        ({"check": "inertia"}, 'check = "inertia" must be one of'),
        ({"frame": "moving"}, 'frame = "moving" must be one of'),
        ({"frame": "rotating"}, "needs a rotor"),
        ({"speed": 3.0}, "speed = 3.0 needs a rotor"),
        ({"rotor": "none"}, 'no rotor "none"'),
        ({"reach": 10.0}, "reach = 10 belongs to"),
        ({"near": 5.0, "which": "rightmost"}, 'near = 5.0 belongs to which = "nearest"'),
        ({"shift": [1.0, 2.0], "which": "rightmost"}, r'shift = \[1.0, 2.0\] belongs to which = "nearest"'),
        ({"reach": -1.0, "which": "rightmost"}, "reach = -1.0 must be a positive frequency"),
        ({"count": 0}, "count = 0 must be a whole number"),
        ({"number": 3}, 'unknown key "number"'),
    ],
)
def test_wrong_options(options, message):
    m = oscillator()
    with pytest.raises(ModelError, match=message):
        m.complex_modes_step(**options)
        solve(m)


@pytest.mark.parametrize(("mu", "belt"), [(0.3, 1.0), (0.3, -1.0), (1.0, 1.0)])
def test_a_mass_that_a_belt_rubs(mu, belt):
    """Springs couple the way along the belt with the pressure on it, and friction the pressure with the way: undamped
    modes flutter at a large coefficient (Hoffmann et al. 2002)."""
    kx, oblique, press, c = 150.0, 200.0, 120.0, 0.2
    m = Model(2)
    m.body("mass", (0, 0.1), 1.0, 1e3)
    m.nodal_spring("turn", "mass", "rotation", 1e7)
    m.nodal_spring("along", "mass", "x", kx, c)
    m.nodal_spring("across", "mass", "y", 0.0, c)
    m.nodal_spring("oblique", "mass", (-1, 1), oblique)
    m.force("press", "mass", (0, -60.0))
    m.body("belt", (0, 0), 1e3, 1e3)
    m.joint("guide", "prismatic", "ground", "belt", point=(0, 0), axis=(1, 0), function=f"{belt}*t")
    m.contact(
        "rub", "belt", "mass", point=(0, 0), axis=(0, 1), ball=0.1, stiffness=press, exponent=1.0, coefficient=mu,
        smoothing=1e-4,
    )  # fmt: skip
    m.transient_step(0.02, 0.001)
    m.complex_modes_step(2)
    found = np.array(solve(m).summary["steps"][-1]["eigenvalues"]) @ [1.0, 1j]
    K = np.diag([kx, press]) + 0.5 * oblique * np.array([[1.0, -1.0], [-1.0, 1.0]])
    K[0, 1] += mu * np.sign(belt) * press  # the belt pulls with mu times the pressure
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-K, -c * np.eye(2)]])
    exact = np.linalg.eigvals(A)
    exact = exact[exact.imag > 0.0]
    found, exact = (p[np.argsort(p.imag + p.real)] for p in (found, exact))
    np.testing.assert_allclose(found, exact, rtol=1e-6)
    assert (exact.real.max() > 0.1) == (mu > 0.5)


def carousel() -> Model:
    """A mass of 1 kg that slides along an arm of a heavy hub on a spring of 100 N/m, under the load of 4 rad/s."""
    m = Model(2)
    m.body("hub", (0, 0), 1.0, 1e9)
    m.joint("axle", "revolute", "ground", "hub", point=(0, 0))
    m.body("mass", (0.5, 0), 1.0, 1e-3)
    m.joint("arm", "prismatic", "hub", "mass", point=(0.5, 0), axis=(1, 0))
    m.joint_spring("spring", "arm", stiffness=100.0)
    m.rotor("rotor")
    m.centrifugal("load", 4.0, spin=True)
    m.static_step()
    return m


@pytest.mark.parametrize("kind", ["complex_modes", "linearise", "stability_map"])
def test_a_centrifugal_load_does_not_count_while_the_model_turns_itself(kind):
    """w^2 = 100 - 4^2; the load would soften by 4^2 once more.  Motions of the model have none of it; beside a rotor of
    a state at rest it is refused."""
    m = carousel()
    options = (
        {"parameters": [{"rotor": "rotor", "values": [2.0, 4.0]}]} if kind == "stability_map" else {"rotor": "rotor"}
    )
    getattr(m, f"{kind}_step")(**options)
    with pytest.raises(ModelError, match='centrifugal load "load" would count twice'):
        solve(m)
    m = carousel()
    m.transient_step(2e-4, 1e-4, eigenvalues={"every": 1, "count": 1})
    m.complex_modes_step(1, rotor="rotor")
    found = solve(m)
    assert found.summary["steps"][-1]["eigenvalues"][-1][1] == pytest.approx(np.sqrt(84.0), rel=1e-6)
    # the same motion without the load
    m = Model(2)
    m.body("hub", (0, 0), 1.0, 1e9)
    m.joint("axle", "revolute", "ground", "hub", point=(0, 0))
    m.body("mass", (0.5 / 0.84, 0), 1.0, 1e-3)
    m.joint("arm", "prismatic", "hub", "mass", point=(0.5 / 0.84, 0), axis=(1, 0))
    m.joint_spring("spring", "arm", stiffness=100.0)
    m.motor("pull", "arm", force=-100.0 * (0.5 / 0.84 - 0.5))
    m.initial(spin=4.0, centre=(0, 0))
    m.transient_step(2e-4, 1e-4, eigenvalues={"every": 1, "count": 1})
    plain = solve(m)
    for row in (0, -1):
        one, two = (r.steps[k].series["eigenvalues"][row, 0] for r, k in ((found, 1), (plain, 0)))
        assert one == pytest.approx(two, rel=1e-6, abs=1e-6)


def test_a_rotor_at_rest_whose_velocities_come_later_is_told():
    m = Model(2)
    m.body("hub", (0, 0), 1.0, 1.0)
    m.nodal_spring("x", "hub", "x", 100.0)
    m.nodal_spring("y", "hub", "y", 100.0)
    m.rotor("rotor")
    m.initial(spin=3.0)
    m.complex_modes_step(1, rotor="rotor")
    m.transient_step(0.01, 0.01)
    m.complex_modes_step(1, "turning", rotor="rotor")
    before, _, after = solve(m).summary["steps"]
    assert before["speed"] == 0.0 and before["warnings"][0].startswith("velocities of the start come with the first")
    assert after["speed"] == pytest.approx(3.0) and not after["warnings"]


def test_what_a_state_is_not_is_told():
    m = beam()
    m.complex_modes_step(1)
    m.force("late", "l:end", (0.0, 5.0))
    m.static_step(name="half", until=0.5, vary="late")
    m.complex_modes_step(1, "loaded")
    m.transient_step(0.001, 0.001)
    m.complex_modes_step(1, "in motion")
    steps = {s.name: s.summary["warnings"] for s in solve(m).steps}
    assert steps["complex modes"] == steps["loaded"] == []
    assert any("the state moves" in w for w in steps["in motion"])
    m = Model(2)
    m.body("b", (0, 0.5), mass=2.0, inertia=0.1)
    m.nodal_spring("s", "b", "y", 800.0)
    m.nodal_spring("r", "b", "rotation", 4.0)
    m.nodal_spring("x", "b", "x", 800.0)
    m.force("f", "b", (1.0, 0.0))
    m.transient_step(0.01, 0.01)
    m.static_step()
    m.complex_modes_step(1)
    assert solve(m).steps[2].summary["warnings"] == []
    m = oscillator()
    m.initial(velocity=(1.0, 0.0))
    m.complex_modes_step(1)
    assert any("velocities of the start" in w for w in solve(m).steps[0].summary["warnings"])
    m = oscillator()
    m.force("f", "b", (1.0, 0.0))
    m.static_step(until=0.5)
    m.complex_modes_step(1)
    assert solve(m).steps[1].summary["warnings"] == []


def oblique_shaft(axis=(0.48, 0.64, 0.6)) -> Model:
    axis = np.array(axis)
    m = Model(3)
    m.material("s", E=211e9, nu=0.3, density=7810.0)
    m.section("b", "circle", diameter=0.05)
    m.line("b", (0, 0, 0), 1.5 * axis, 6)
    m.beams("b", "b", "b", "s")
    for k in (2, 4):
        m.disc(f"disc{k}", k, 32.6, 0.33, 0.178, axis=axis)
    for e in ("start", "end"):
        for c in "xyz":
            m.nodal_spring(f"{e}{c}", f"b:{e}", c, 4e5)
    m.rotor("shaft", axis=axis)
    return m


def test_modes_of_lost_digits_are_told():
    """Gyroscopic forces that are 1e10 times the others leave no digits of these where they mix in all unknowns: the
    shaft is oblique to the axes of the model."""
    speeds = {1e4: False, 1e6: False, 1e7: True, 1e8: True, 1e9: True}
    for speed, told in speeds.items():
        m = oblique_shaft()
        m.complex_modes_step(2, rotor="shaft", speed=speed)
        warnings = solve(m).steps[-1].summary["warnings"]
        assert any("digits are lost" in text for text in warnings) == told


def test_campbell_diagrams_of_lost_digits_are_told():
    for speeds, told in (([9e4, 1e5], False), ([9e6, 1e7], True)):
        m = oblique_shaft()
        m.campbell_step("shaft", speeds, 2)
        warnings = solve(m).steps[-1].summary["warnings"]
        assert any("at 1e+07 rad/s rounding of gyroscopic" in text for text in warnings) == told


def test_campbell_diagrams_pass_critical_speeds_at_which_rounding_throws_an_oblique_shaft_out():
    """Those of its mesh, at 6e5 rad/s, were errors of the whole diagram: no steady rotation was found there."""
    found = []
    for axis in ((1.0, 0.0, 0.0), (0.48, 0.64, 0.6)):
        m = oblique_shaft(axis)
        m.campbell_step("shaft", [1e5, 3e5, 1e6, 3e6], 4)
        found.append(solve(m).steps[-1])
    along, oblique = (np.sort(step.series["frequency"], axis=1) for step in found)
    np.testing.assert_allclose(oblique, along, rtol=1e-3)  # from where on lost digits are told
    speeds = [[c["speed"] for c in step.summary["critical_speeds"]] for step in found]
    assert len(speeds[0]) == 2
    np.testing.assert_allclose(speeds[1], speeds[0], rtol=1e-9)
    for c in found[1].summary["critical_speeds"]:
        assert c["eigenvalue"][1] == pytest.approx(c["speed"], rel=1e-9)


def test_unknown_without_mass_and_stiffness():
    m = Model(2)
    m.body("b", (0, 0), mass=2.0, inertia=0.1)
    m.node("n", (1, 0))
    m.spring("s", "b", "n", 10.0)
    m.complex_modes_step(1)
    with pytest.raises(ModelError, match=r'complex modes": node "n".* has neither mass nor stiffness'):
        solve(m)


@pytest.mark.parametrize("preload", ["", "on"])
def test_masses_that_joints_hold_make_no_modes(preload):
    """As the modal step says too: no list without an entry, and no word on stability."""
    m = Model(2)
    m.section("beam", "stiffness", EA=1e6, EI=1.0, rhoA=0.0, rhoI=0.0)
    m.line("beam", (0, 0), (1, 0), 3)
    m.beams("beam", "beam", "beam")
    m.body("b", (0, 0), mass=1.0, inertia=0.1)
    m.joint("held", "weld", "b", "ground", point=(0, 0))
    m.joint("joined", "weld", "b", "beam:start", point=(0, 0))
    if preload:
        m.linear_static_step(name=preload)
    m.complex_modes_step(preload=preload)
    with pytest.raises(AnalysisError, match="nothing that can move has a mass"):
        solve(m)


def test_forces_of_shared_nodes_are_in_balance():
    """Nodes that a pin makes coincide share unknowns, and what they do on each other is no lack of balance."""
    m = Model(2, gravity=(0, -9.81))
    m.section("s", "stiffness", EA=1e5, EI=10.0, GA=np.inf, rhoA=1.0, rhoI=1e-3)
    m.line("rod", (0, 0), (1, 0), 2)
    m.beams("rod", "rod", "s")
    m.body("bob", (1.0, 0.0), 2.0, 0.1)
    m.joint("pin", "pin", "rod:end", "bob", point=(1.0, 0.0))
    m.joint("hinge", "pin", "ground", "rod:start", point=(0.0, 0.0))
    m.transient_step(0.1, 0.002, frames=0)
    m.complex_modes_step(count=2)
    warnings = solve(m).steps[-1].summary["warnings"]
    assert len(warnings) == 1
    assert "moves" in warnings[0]


def test_free_motions_seen_from_a_turning_frame_do_not_grow():
    """Straight and steady motions are p = +-i Omega in pairs there, with one vector each: rounding splits such pairs by
    its root, 1e-5 of them, which is no growth.  Damping drives a spin about the least moment of inertia out."""
    m = Model(3)
    m.section("s", "stiffness", EA=1e6, EI=200.0, GA=np.inf, GJ=150.0, rhoA=0.4, rhoI=1e-4)
    m.body("hub", (0, 0, 0), 100.0, (20.0, 30.0, 40.0))
    for name, side in (("a", 1.0), ("b", -1.0)):
        m.line(name, (0.5 * side, 0, 0), (4.5 * side, 0, 0), 4)
        m.beams(name, name, "s", damping=1e-3)
        m.joint(f"weld {name}", "weld", "hub", f"{name}:start", point=(0.5 * side, 0, 0))
    for name, axis in (("most", (0, 0, 1)), ("least", (1, 0, 0))):
        m.rotor(name, axis=axis)
        m.complex_modes_step(6, name=name, rotor=name, speed=2.0, frame="rotating")
    most, least = (s.summary for s in solve(m).steps)
    assert most["stable"]
    assert not least["stable"]
    # nutation of the stiffened body: Omega ((C - A) (C - B)/(A B))^(1/2), with what booms bend below 1 %
    A, B, C = 20.0, 30.0 + 0.8 * (4.5**3 - 0.5**3) / 3.0, 40.0 + 0.8 * (4.5**3 - 0.5**3) / 3.0
    nutation = min(most["eigenvalues"], key=lambda p: p[1] if p[1] > 0.1 else np.inf)
    assert nutation[1] == pytest.approx(2.0 * np.sqrt((C - A) * (C - B) / (A * B)), rel=1e-2)
    assert nutation[0] < 0.0
