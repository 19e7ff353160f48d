"""State variables of motors, hydraulic actuators and users' forces in all analyses that know them."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from fem_mbs import AnalysisError, Model, ModelError, linearise, solve
from fem_mbs.analysis.run import run
from fem_mbs.analysis.transient.tangent import tangent_check
from fem_mbs.modelfile.read import load_model
from fem_mbs.modelfile.writer import write_model

J, KP, KI, KD, REFERENCE = 0.3, 40.0, 30.0, 5.0, 0.7


def rotor(dimension=2, **motor):
    """A rotor on a pin with a controller."""
    model = Model(dimension)
    zero, axis = (0.0,) * dimension, {} if dimension == 2 else {"axis": (0.0, 0.0, 1.0)}
    model.body("rotor", zero, 1.0, J if dimension == 2 else (J, J, J))
    model.joint("pin", "revolute", "ground", "rotor", point=zero, **axis)
    model.motor("servo", "pin", position=REFERENCE, **{"kp": KP, "ki": KI, "kd": KD, **motor})
    model.sensor("angle", "joint", on="pin")
    model.sensor("state", "state", on="servo")
    return model


def pi_controlled(t):
    """Return angle, speed and integral of the rotor with a PID controller: J q'' = kp e - kd q' + I, I' = ki e."""
    A = np.zeros((4, 4))
    A[0, 1] = 1.0
    A[1] = -KP / J, -KD / J, 1.0 / J, KP * REFERENCE / J
    A[2] = -KI, 0.0, 0.0, KI * REFERENCE
    return (expm(A * t) @ (0.0, 0.0, 0.0, 1.0))[:3]


def closing(solution):
    return solution.summary["steps"][-1]["energy"]["closing_error_relative"]


@pytest.mark.parametrize("rule", ["midpoint", "newmark", "hht", "generalised-alpha"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_integral_of_a_controller_converges_with_second_order(rule, dimension):
    """Slope and level against the matrix exponential; iterations as of a controller without memory."""
    errors = []
    for h in (0.02, 0.01):
        model = rotor(dimension)
        model.transient_step(2.0, h, frames=0, rule=rule)
        solution = solve(model)
        expected = pi_controlled(2.0)
        angle, integral = (float(solution.sensor(name).values[-1, 0]) for name in ("angle", "state"))
        errors.append(max(abs(angle - expected[0]), abs(integral - expected[2]) / KP))
        assert solution.summary["steps"][-1]["iterations"] < 6 * 2.0 / h
    assert 3.8 < errors[0] / errors[1] < 4.2
    assert errors[1] < {"midpoint": 3e-7, "newmark": 2e-6, "hht": 1e-5, "generalised-alpha": 1e-6}[rule]
    if rule == "midpoint":
        assert closing(solution) < 1e-11


def two_masses(h=None, **motor):
    """Two masses on springs; a PID controller with filter and lag on the first, a hydraulic actuator on the second."""
    model = Model(2)
    for name, mass, x in (("a", 2.0, 1.0), ("b", 1.0, 2.0)):
        model.body(name, (x, 0.0), mass, 0.1)
        model.joint(f"rail {name}", "prismatic", "ground", name, point=(x, 0.0), axis=(1.0, 0.0))
    model.spring("one", "ground", "a", stiffness=300.0, damping=1.0, point_a=(0.0, 0.0))
    model.spring("two", "a", "b", stiffness=150.0)
    given = {"kp": 80.0, "ki": 200.0, "kd": 6.0, "filter_time": 0.05, "lag": 0.03, **motor}
    model.motor("servo", "rail a", **given)
    model.hydraulic(
        "cylinder", "rail b", area=1e-3, capacity=1e-9, gain=1e-6, leakage=1e-9, kp=3.0, kf=1e-7, spool_time=0.01,
        friction=2.0,
    )  # fmt: skip
    model.sensor("ways", "joint", on="rail a")
    model.sensor("way b", "joint", on="rail b")
    model.sensor("servo", "state", on="servo")
    model.sensor("cylinder", "state", on="cylinder")
    return model


def by_hand():
    """Return A (9, 9) of `two_masses`: x_a, x_b, their rates, I, z, a, p, u."""
    A = np.zeros((9, 9))
    A[0, 2] = A[1, 3] = 1.0
    A[2] = -225.0, 75.0, -0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0
    A[3] = 150.0, -150.0, 0.0, -2.0, 0.0, 0.0, 0.0, 1e-3, 0.0
    A[4, 0] = -200.0
    A[5, [0, 5]] = -1.0 / 0.05
    A[6, [0, 4, 5, 6]] = np.array([-80.0 - 6.0 / 0.05, 1.0, -6.0 / 0.05, -1.0]) / 0.03
    A[7, [3, 7, 8]] = np.array([-1e-3, -1e-9, 1e-6]) / 1e-9
    A[8, [1, 7, 8]] = np.array([-3.0, -1e-7, -1.0]) / 0.01
    return A


def test_complex_modes_and_state_space_are_those_of_the_matrix_by_hand():
    """Real eigenvalues of filters and integrators among them, to 1e-9."""
    expected = np.linalg.eigvals(by_hand())
    model = two_masses()
    model.complex_modes_step(9)
    found = [complex(*p) for p in solve(model).steps[-1].report.eigenvalues]
    upper = expected[expected.imag >= 0.0]
    assert len(found) == len(upper)
    for p in found:
        assert np.abs(upper - p).min() < 1e-9 * max(1.0, abs(p))
    system = linearise(two_masses()).state_space()
    assert system.states[-1] == 'state "opening" of "cylinder"'
    np.testing.assert_allclose(
        np.sort_complex(np.linalg.eigvals(system.A)), np.sort_complex(expected), rtol=1e-9, atol=1e-9
    )


def loaded(model, function="sin(5*t)"):
    model.force("push", "b", (1.0, 0.0), function=function)
    return model


def test_responses_of_all_linear_steps_agree():
    """Harmonic response, state space and the matrix by hand; statics, linear and not, and the equilibrium A x = -b."""
    names = ["servo", "ways", "way b", "cylinder"]
    model = loaded(two_masses(), 1.0)
    model.harmonic_step([0.5, 2.0, 3.0], loads=["push"])
    solution = solve(model)
    system = linearise(loaded(two_masses(), 1.0)).state_space(["push"], names)
    A, b = by_hand(), np.eye(9)[3]
    order = [4, 5, 6, 0, 1, 7, 8]
    for i, f in enumerate((0.5, 2.0, 3.0)):
        expected = np.linalg.solve(2j * np.pi * f * np.eye(9) - A, b)[order]
        got = np.concatenate([solution.response(name).values[i] for name in names])
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(system.response(2j * np.pi * f)[:, 0], expected, rtol=1e-9, atol=1e-15)
    expected = np.linalg.solve(A, -b)[order]
    for step in ("static_step", "linear_static_step"):
        model = loaded(two_masses(), 1.0)
        getattr(model, step)()
        solution = solve(model)
        got = np.concatenate([solution.sensor(name).values[-1] for name in names])
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


def test_linear_transients_are_those_of_the_model():
    found = []
    for step in ("transient_step", "linear_transient_step"):
        model = loaded(two_masses(initial_force=2.0))
        getattr(model, step)(0.6, 0.002, frames=0)
        solution = solve(model)
        found.append(np.concatenate([solution.sensor(n).values[-1] for n in ("ways", "way b", "servo", "cylinder")]))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4)


@pytest.mark.parametrize("dimension", [2, 3])
def test_linearisation_of_a_moving_model(dimension):
    """A turning rotor whose valve closes by speed: the matrices about an instant against differences of the rates of
    change of all states, with the flow of the valve, which couples speed and pressure."""
    model = Model(dimension)
    zero, axis = (0.0,) * dimension, {} if dimension == 2 else {"axis": (0.0, 0.0, 1.0)}
    model.body("rotor", zero, 1.0, J if dimension == 2 else (J, J, J))
    model.joint("pin", "revolute", "ground", "rotor", point=zero, **axis)
    gain, kp, kd, supply, p0, w0 = 1e-4, 0.5, 0.2, 1e6, 2e5, 0.8
    model.hydraulic("drive", "pin", area=1e-5, capacity=1e-10, gain=gain, leakage=1e-11, supply=supply, kp=kp, kd=kd,
                    position=1.5, initial_pressure=p0, friction=0.3)  # fmt: skip
    model.initial_speed("rotor", "rotation", w0, **axis)
    model.transient_step(1e-9, 1e-9, frames=0)

    def rates(y):
        q, w, p = y
        u = kp * (1.5 - q) - kd * w
        r = 1.0 - np.sign(u) * p / supply
        flow = gain * u * r / (r * r + 1e-6) ** 0.25
        return np.array([w, (1e-5 * p - 0.3 * w) / J, (flow - 1e-11 * p - 1e-5 * w) / 1e-10])

    y = np.array([0.0, w0, p0])
    steps = np.diag([1e-6, 1e-6, 1.0])
    A = np.column_stack([(rates(y + step) - rates(y - step)) / (2.0 * step.sum()) for step in steps])
    lin = linearise(model)
    assert lin.moving
    found = np.sort_complex(np.linalg.eigvals(lin.state_space().A))
    np.testing.assert_allclose(found, np.sort_complex(np.linalg.eigvals(A)), rtol=1e-5)


def test_lanczos_finds_states_in_a_large_model():
    """A beam of 180 unknowns with a controller at its tip: the recurrence against the dense state space."""
    model = Model(2)
    model.material("steel", E=2e11, density=7800.0, nu=0.3)
    model.section("bar", shape="rectangle", width=0.05, height=0.02)
    model.line("rod", (0.0, 0.0), (2.0, 0.0), 60)
    model.beams("rod", "rod", section="bar", material="steel", damping=1e-5)
    model.fix("rod:start")
    model.motor("servo", a="ground", b="rod:end", point_a=(2.0, -1.0), kp=2e3, ki=1e4, kd=50.0, filter_time=0.02,
                lag=0.01)  # fmt: skip
    expected = np.linalg.eigvals(linearise(model).state_space().A)
    model.complex_modes_step(6)
    report = solve(model).steps[-1].report
    assert report.effort.steps > 0
    for p in (complex(*p) for p in report.eigenvalues):
        assert np.abs(expected - p).min() < 1e-7 * abs(p)


# --- hydraulic actuators ---------------------------------------------------------------------------------------------
AREA, CAPACITY, LEAKAGE, MASS = 2e-3, 5e-13, 1e-12, 50.0


def cylinder(dimension=2, named="pressure", **given):
    model = Model(dimension)
    zero, x = (0.0,) * dimension, (1.0, 0.0, 0.0)[:dimension]
    model.body("block", zero, MASS, 0.1 if dimension == 2 else (0.1, 0.1, 0.1))
    model.joint("rail", "prismatic", "ground", "block", point=zero, axis=x)
    model.hydraulic("cylinder", "rail", **{"area": AREA, "capacity": CAPACITY, "leakage": LEAKAGE, **given})
    model.sensor("way", "joint", on="rail")
    model.sensor("pressure", "state", on="cylinder", state=named)
    return model


def test_locked_oil_is_a_spring():
    """Stiffness A^2/C of a cylinder without leakage: frequency of a mass on it, and no loss."""
    model = cylinder(leakage=0.0)
    model.initial_speed("block", "x", 0.3)
    model.transient_step(0.2, 2e-5, frames=0)
    solution = solve(model)
    w = AREA / np.sqrt(CAPACITY * MASS)
    way = 0.3 / w * np.sin(w * 0.2)  # (the rule delays its phase by w t (w h)^2/12)
    assert float(solution.sensor("way").values[-1, 0]) == pytest.approx(way, abs=5e-4 * 0.3 / w)
    assert closing(solution) < 1e-11
    step = solution.steps[-1]
    total = step.ledger("kinetic") + step.ledger("strain")
    np.testing.assert_allclose(total, total[0], rtol=1e-11)


@pytest.mark.parametrize("supply", [None, 8e6])
def test_valve_and_cylinder_against_an_integration_of_their_equations(supply):
    """A step of the reference: C p' = Q - L p - A v with the flow of the valve; order 2, closed ledger of all parts."""
    gain, kp, spool, friction = 4e-4, 6.0, 0.008, 300.0

    def rates(t, y):
        q, v, p, u = y
        flow = gain * u
        if supply is not None:
            r = 1.0 - np.sign(u) * p / supply
            flow *= r / (r * r + 1e-6) ** 0.25
        return [v, (AREA * p - friction * v) / MASS, (flow - LEAKAGE * p - AREA * v) / CAPACITY,
                (kp * (0.05 - q) - u) / spool]  # fmt: skip

    end = solve_ivp(rates, (0.0, 0.5), [0.0] * 4, method="LSODA", rtol=1e-10, atol=1e-10, max_step=1e-4).y[:, -1]
    errors = []
    for h in (5e-4, 2.5e-4):
        model = cylinder(gain=gain, kp=kp, spool_time=spool, friction=friction, position=0.05, supply=supply)
        model.transient_step(0.5, h, frames=0)
        solution = solve(model)
        errors.append(abs(float(solution.sensor("way").values[-1, 0]) - end[0]))
        assert closing(solution) < 1e-11
        ledger = solution.steps[-1].ledger
        assert ledger("dissipated")[-1] > 0.0 and ledger("load work")[-1] > 0.0
    assert errors[1] < 2e-5
    assert 3.0 < errors[0] / errors[1] < 5.0


def test_equilibrium_of_a_cylinder_under_a_load():
    """A p = F in statics, with leakage Q = L p: the valve stands open by L p/K, the controller off by that over kp."""
    gain, kp = 4e-4, 6.0
    model = cylinder(gain=gain, kp=kp)
    model.force("load", "block", (-1e4, 0.0))
    model.static_step()
    solution = solve(model)
    pressure = 1e4 / AREA
    assert float(solution.sensor("pressure").values[-1, 0]) == pytest.approx(pressure, rel=1e-9)
    assert float(solution.sensor("way").values[-1, 0]) == pytest.approx(-LEAKAGE * pressure / gain / kp, rel=1e-9)


# --- users' forces ---------------------------------------------------------------------------------------------------
def law(q, rate, t, x):
    return -3.0 * q - 2.0 * x[0] + np.sin(3.0 * t), [
        x[1] + 0.3 * rate, -4.0 * x[0] - 5.0 * x[0] ** 3 - 0.5 * x[1] + 2.0 * q
    ]  # fmt: skip


def slopes(q, rate, t, x):
    return -3.0, 0.0, [-2.0, 0.0], [0.0, 2.0], [0.3, 0.0], [[0.0, 1.0], [-4.0 - 15.0 * x[0] ** 2, -0.5]]


def swinging(dimension=2, tangent=None, **given):
    model = Model(dimension)
    zero, axis = (0.0,) * dimension, {} if dimension == 2 else {"axis": (0.0, 0.0, 1.0)}
    model.body("rotor", zero, 1.0, J if dimension == 2 else (J, J, J))
    model.joint("pin", "revolute", "ground", "rotor", point=zero, **axis)
    model.user_force("own", "pin", law, tangent, states=["a", "b"], initial=[0.2, -0.1], **given)
    model.initial_speed("rotor", "rotation", 1.0, **axis)
    model.sensor("angle", "joint", on="pin")
    model.sensor("state", "state", on="own")
    return model


@pytest.mark.parametrize(
    ("dimension", "tangent", "sizes"), [(2, None, None), (2, slopes, [0.1, 1e-3]), (3, slopes, None)]
)
def test_users_states_against_an_integration(dimension, tangent, sizes):
    """Order 2, whatever the sizes of the state variables are said to be."""

    def rates(t, y):
        force, own = law(y[0], y[1], t, y[2:])
        return [y[1], force / J, *own]

    end = solve_ivp(rates, (0.0, 3.0), [0.0, 1.0, 0.2, -0.1], method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    errors = []
    for h in (0.02, 0.01):
        model = swinging(dimension, tangent, sizes=sizes)
        model.transient_step(3.0, h, frames=0)
        solution = solve(model)
        y = [*solution.sensor("angle").values[-1], *solution.sensor("state").values[-1]]
        errors.append(np.abs(np.array(y) - end[[0, 2, 3]]).max())
        assert closing(solution) < 1e-12
    assert errors[1] < 3e-4
    assert 3.9 < errors[0] / errors[1] < 4.1
    model.steps.clear()
    assert tangent_check(model, h=0.01).error < 1e-6


def soft(x, v, t, z):
    """Springs to the origin, a part of which relaxes: z' = (x - z)/T in both directions, and a push."""
    force = -30.0 * x - 2.0 * v - 20.0 * (x - z)
    force[:, 0] += np.cos(2.0 * t)
    return force, (x - z) / 0.4 - 0.3 * z**3


def slopes_of_soft(x, v, t, z):
    n, unit = len(x), np.eye(x.shape[1])
    return [np.tile(a * unit, (n, 1, 1)) for a in (-50.0, -2.0, 20.0, 2.5, 0.0)] + [
        np.array([np.diag(-2.5 - 0.9 * row**2) for row in z])
    ]  # fmt: skip


@pytest.mark.parametrize(("dimension", "tangent"), [(2, None), (3, slopes_of_soft)])
def test_users_states_of_points(dimension, tangent):
    """Two masses, each with state variables of its own: order 2 against scipy, and the ledger of the work closes."""
    starts = np.array([[1.0, 0.2, -0.4], [-0.5, 0.7, 0.3]])[:, :dimension]
    masses = (2.0, 1.0)

    def rates(t, y):
        x, v, z = y.reshape(3, 2, dimension)
        force, own = soft(x, v, t, z)
        return np.stack((v, force / np.array(masses)[:, None], own)).ravel()

    begin = np.stack((starts, 0.0 * starts, 0.1 + 0.0 * starts)).ravel()
    end = solve_ivp(rates, (0.0, 1.5), begin, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    end = end.reshape(3, 2, dimension)
    names = ["a", "b", "c"][:dimension]
    errors = []
    for h in (0.02, 0.01):
        model = Model(dimension)
        for name, place, mass in zip(("one", "two"), starts, masses, strict=True):
            model.node(name, tuple(place))
            model.point_mass(f"mass {name}", name, mass)
            model.sensor(f"place {name}", "position", on=name)
        model.user_force(
            "own", function=soft, tangent=tangent, at=["one", "two"], states=names, initial=[0.1] * dimension
        )
        model.sensor("states", "state", on="own")
        model.transient_step(1.5, h, frames=0)
        solution = solve(model)
        places = [solution.sensor(f"place {name}").values[-1, :dimension] for name in ("one", "two")]
        states = solution.sensor("states").values[-1].reshape(2, dimension)
        errors.append(max(np.abs(places - end[0]).max(), np.abs(states - end[2]).max()))
        assert closing(solution) < 1e-12
    assert errors[1] < 5e-4
    assert 3.8 < errors[0] / errors[1] < 4.2
    model.steps.clear()
    assert tangent_check(model, h=0.01).error < 1e-6


def test_given_and_differenced_tangents_agree():
    found = []
    for tangent in (None, slopes):
        model = swinging(2, tangent)
        model.steps.clear()
        found.append(np.sort_complex(np.linalg.eigvals(linearise(model).state_space().A)))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-7)
    A = [[0, 1, 0, 0], [-3 / J, 0, -2 / J, 0], [0, 0.3, 0, 1], [2, 0, -4 - 15 * 0.04, -0.5]]
    np.testing.assert_allclose(found[1], np.sort_complex(np.linalg.eigvals(A)), rtol=1e-9)


# --- what a controller does ------------------------------------------------------------------------------------------
def test_tracking_ends_the_growth_of_the_integral():
    """A limit below what the load needs: the integral settles at force + ki e T_t with tracking, and grows without."""
    found = []
    for tracking in (None, 0.2):
        model = rotor(limit=1.0, tracking_time=tracking)
        model.torsion_spring("spring", "ground", "rotor", stiffness=10.0, damping=3.0)
        model.transient_step(12.0, 0.02, frames=0)
        solution = solve(model)
        found.append(solution.sensor("state").values[:, 0])
        error = REFERENCE - float(solution.sensor("angle").values[-1, 0])
    assert error == pytest.approx(REFERENCE - 0.1, abs=1e-6)
    # at rest ki e = (kp e + I - limit)/T_t
    assert found[1][-1] == pytest.approx(1.0 - KP * error + 0.2 * KI * error, rel=1e-4)
    assert found[0][-1] > 10.0 * found[1][-1]


def test_adaptive_steps_see_the_states():
    model = rotor(lag=0.004)
    model.transient_step(1.0, 0.05, frames=0, adaptive=1e-6)
    solution = solve(model)
    fine = rotor(lag=0.004)
    fine.transient_step(1.0, 0.0005, frames=0)
    expected = solve(fine).sensor("state").values[-1]
    np.testing.assert_allclose(solution.sensor("state").values[-1], expected, rtol=1e-4, atol=5e-5)


# --- files, copies, restarts -----------------------------------------------------------------------------------------
def test_a_written_model_gives_the_same_bits(tmp_path):
    model = two_masses(initial_force=2.0)
    model.transient_step(0.2, 0.01, frames=0)
    write_model(model, tmp_path / "model.toml")
    first, second = solve(model), solve(load_model(tmp_path / "model.toml"))
    for name in ("servo", "cylinder", "ways"):
        assert np.array_equal(first.sensor(name).values, second.sensor(name).values)


@pytest.mark.parametrize("mirrored", [False, True])
def test_copies_have_states_of_their_own(mirrored):
    """The copy of a rotor with a controller and a cylinder; in a mirror its angle, and all that goes with it, is the
    negative."""
    model = Model(2)
    model.body("rotor", (1.0, 0.0), 1.0, J)
    model.joint("pin", "revolute", "ground", "rotor", point=(1.0, 0.0))
    model.motor("servo", "pin", position=REFERENCE, kp=KP, ki=KI, kd=KD, lag=0.02, initial_force=3.0,
                initial_integral=1.0)  # fmt: skip
    model.hydraulic("wing", "pin", area=1e-4, capacity=1e-9, gain=1e-5, leakage=1e-9, opening="cos(9*t)",
                    initial_pressure=2e3, spool_time=0.01, initial_opening=0.3)  # fmt: skip
    movement = {"mirror": {"normal": (1.0, 0.0)}} if mirrored else {"translate": (0.0, 3.0)}
    model.copy(["rotor", "pin", "servo", "wing"], suffix=" 2", **movement)
    names = [name for name in model.building.joints if name != "pin"]
    sign = -1.0 if mirrored else 1.0
    model.sensor("angle", "joint", on="pin")
    model.sensor("image", "joint", on=names[0])
    owners = list(dict.fromkeys(s.of for s in model.building.states.values()))
    assert len(owners) == 4
    for number, owner in enumerate(owners):
        model.sensor(f"state {number}", "state", on=owner)
    model.transient_step(0.5, 0.01, frames=0)
    solution = solve(model)
    assert np.ptp(solution.sensor("angle").values) > 0.1
    np.testing.assert_allclose(solution.sensor("image").values, sign * solution.sensor("angle").values, atol=1e-12)
    for number in (0, 1):
        first, second = (solution.sensor(f"state {number + k}").values for k in (0, 2))
        np.testing.assert_allclose(second, sign * first, rtol=1e-11, atol=1e-11 * np.abs(first).max())


@pytest.mark.parametrize("rule", ["midpoint", "generalised-alpha"])
@pytest.mark.parametrize("make", [two_masses, swinging])
def test_restart_gives_the_same_bits(tmp_path, rule, make):
    def model():
        made = make()
        made.transient_step(0.4, 0.01, frames=4, restarts=3, rule=rule)
        return made

    whole = run(model(), tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "copy")
    again = run(model(), tmp_path / "copy", restart=1)
    for name in ("servo", "cylinder", "ways") if make is two_masses else ("angle", "state"):
        assert np.array_equal(whole.sensor(name).values, again.sensor(name).values)
    assert whole.summary["steps"][0]["energy"] == again.summary["steps"][0]["energy"]


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("step", "options", "words"),
    [
        (
            "modes_step",
            {"count": 2},
            'state "integral" of "servo" has an equation of first order, which undamped modes do',
        ),
        ("transient_step", {"duration": 0.1, "h": 0.01, "rule": "explicit"}, 'rule = "explicit"'),
    ],
)
def test_steps_that_do_not_know_states(step, options, words):
    model = rotor()
    getattr(model, step)(**options)
    with pytest.raises(ModelError, match=words):
        solve(model)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kd": 0.0, "filter_time": 0.1}, "filter_time = 0.1 belongs to kd; add kd"),
        ({"tracking_time": 0.1}, "tracking_time = 0.1 belongs to limit"),
        ({"ki": 0.0, "initial_integral": 2.0}, "initial_integral = 2 belongs to ki"),
        ({"initial_force": 2.0}, "initial_force = 2 belongs to lag"),
        ({"lag": 0.0}, "lag = 0.0 must be a finite number greater than 0"),
        ({"ki": -1.0}, "ki = -1.0 must be"),
    ],
)
def test_wrong_motors(given, words):
    with pytest.raises(ModelError, match=words):
        rotor(**given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"gain": 1e-4}, "nothing opens its valve"),
        ({"opening": 1.0}, "its valve opens without any flow"),
        ({"gain": 1e-4, "opening": 1.0, "position": 1.0}, "position is a controller's reference"),
        ({"capacity": 0.0}, "capacity = 0.0 must be a finite number greater than 0"),
        ({"initial_opening": 0.3}, "initial_opening = 0.3 belongs to spool_time"),
        ({"drain": 1e-12}, "drain = 1e-12 belongs to area_b"),
    ],
)
def test_wrong_hydraulics(given, words):
    with pytest.raises(ModelError, match=words):
        cylinder(**given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"states": ["a", "a"]}, "must be different names"),
        ({"states": ["a"], "initial": [1.0, 2.0]}, "initial = .* must be 1 finite numbers"),
        ({"states": ["a"], "sizes": [0.0]}, "must be 1 finite positive numbers"),
        ({"initial": [1.0]}, "initial belongs to states"),
    ],
)
def test_wrong_users_states(given, words):
    model = rotor()
    with pytest.raises(ModelError, match=words):
        model.user_force("own", **{"joint": "pin", "function": law, **given})


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda q, v, t, x: -q, "returned .* must return a number and an array"),
        (lambda q, v, t, x: (-q, [1.0, 2.0]), "must return a number and an array"),
        (lambda q, v, t, x: (-q, [np.nan]), "must be finite"),
        (lambda q, v, t: -q, "its function failed .* states"),
    ],
)
def test_wrong_answers_of_users_functions(function, words):
    model = rotor()
    model.user_force("own", "pin", function, states=["a"])
    model.transient_step(0.1, 0.01)
    with pytest.raises(ModelError, match=words):
        solve(model)


def test_differences_are_of_the_size_of_the_states():
    """A state variable of 1e-9 in a law that is steep there: the differenced tangent is that of the function."""

    def steep(q, rate, t, x):
        return -q - 1e9 * x[0], [-x[0] - 1e9 * x[0] ** 2 + 1e-9 * rate]

    def slope(q, rate, t, x):
        return -1.0, 0.0, [-1e9], [0.0], [1e-9], [[-1.0 - 2e9 * x[0]]]

    found = []
    for tangent in (None, slope):
        model = rotor(lag=0.1)
        model.user_force("own", "pin", steep, tangent, states=["a"], initial=[2e-9], sizes=[1e-9])
        found.append(np.sort_complex(np.linalg.eigvals(linearise(model).state_space().A)))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def test_states_alone():
    """A controller on a rotor that is held: its lag is the only eigenvalue; statics find the force it would give."""
    model = Model(2)
    model.body("rotor", (0.0, 0.0), 1.0, J)
    model.fix("rotor")
    model.joint("pin", "revolute", "ground", "rotor", point=(0.0, 0.0))
    model.motor("servo", "pin", position=REFERENCE, kp=KP, lag=0.25)
    model.sensor("force", "state", on="servo", state="actuator")
    model.static_step()
    model.complex_modes_step(1)
    solution = solve(model)
    assert solution.steps[-1].report.eigenvalues == [[pytest.approx(-4.0, rel=1e-12), 0.0]]
    assert float(solution.sensor("force", 0).values[-1, 0]) == pytest.approx(KP * REFERENCE, rel=1e-12)


def test_unknown_states_of_sensors():
    model = rotor()
    with pytest.raises(ModelError, match='no state variable of "servo": "pressure"'):
        model.sensor("p", "state", on="servo", state="pressure")
    with pytest.raises(ModelError, match="no motor, actuator or force with state variables"):
        model.sensor("p", "state", on="pin")


def test_integrals_that_statics_cannot_settle_are_named():
    """A held rotor leaves the integral of its controller without an equilibrium."""
    model = rotor()
    model.fix("rotor")
    model.static_step()
    with pytest.raises(AnalysisError, match='nothing settles state "integral" of "servo"'):
        solve(model)


# --- two chambers ----------------------------------------------------------------------------------------------------
ROD, DRAIN, SUPPLY = 1.2e-3, 5e-13, 8e6


@pytest.mark.parametrize("supply", [None, SUPPLY])
def test_two_chambers_against_an_integration_of_their_equations(supply):
    """A cylinder with a rod, four edges of the valve and a load: order 2, and the ledger of both chambers closes."""
    gain, kp, friction, other = 4e-4, 6.0, 300.0, 4e-13

    def edge(y):
        return y / (y * y + 1e-6) ** 0.25

    def rates(t, y):
        q, v, a, b = y
        u = kp * (0.05 - q)
        into, out = gain * u, gain * u
        if supply is not None:
            into *= edge(1.0 - a / supply if u > 0.0 else a / supply)
            out *= edge(b / supply if u > 0.0 else 1.0 - b / supply)
        across = LEAKAGE * (a - b)
        return [v, (AREA * a - ROD * b - friction * v - 2000.0) / MASS,
                (into - across - DRAIN * a - AREA * v) / CAPACITY,
                (-out + across - DRAIN * b + ROD * v) / other]  # fmt: skip

    start = [0.0, 0.0, 2.0e6, 1.5e6]
    end = solve_ivp(rates, (0.0, 0.3), start, method="LSODA", rtol=1e-9, atol=1e-9, max_step=2e-4).y[:, -1]
    errors = []
    for h in (2e-4, 1e-4):
        model = cylinder(area_b=ROD, capacity_b=other, drain=DRAIN, gain=gain, kp=kp, friction=friction,
                         position=0.05, supply=supply, initial_pressure=start[2], initial_pressure_b=start[3],
                         named="pressure a")  # fmt: skip
        model.force("load", "block", (-2000.0, 0.0))
        model.transient_step(0.3, h, frames=0)
        solution = solve(model)
        errors.append(abs(float(solution.sensor("way").values[-1, 0]) - end[0]))
        assert closing(solution) < 1e-11
    assert errors[1] < 2e-6
    assert 2.5 < errors[0] / errors[1] < 6.0


def test_poles_of_two_locked_chambers():
    """Stiffness A^2/C_a + B^2/C_b, and two zeros of the trapped oil."""
    model = cylinder(area_b=ROD, leakage=0.0, named="pressure b")
    found = np.sort(np.abs(np.linalg.eigvals(linearise(model).state_space().A)))
    w = np.sqrt((AREA**2 + ROD**2) / CAPACITY / MASS)
    np.testing.assert_allclose(found[-2:], [w, w], rtol=1e-9)
    assert (found[:2] < 1e-4 * w).all()


@pytest.mark.parametrize("spool", [None, 1e-3])
@pytest.mark.parametrize("rod", [True, False])
def test_linear_steps_about_a_closed_valve_take_the_mean_of_both_sides(rod, spool):
    """The flow has a corner there, where u > 0 opens other edges than u < 0; round-off chose the side."""
    supply, a, capacity, gain, kp, mass, c, pa = 1e7, 1e-3, 1e-12, 1e-4, 50.0, 20.0, 200.0, 3e6
    b = 0.6 * a if rod else 0.0
    pb = pa * a / b if rod else 0.0
    m = Model(3)
    m.body("mass", (0.0, 0.0, 1.0), mass=mass, inertia=np.ones(3))
    m.joint("guide", "prismatic", a="ground", b="mass", axis=(0.0, 0.0, 1.0), point=(0.0, 0.0, 1.0))
    if not rod:
        m.force("weight", "mass", (0.0, 0.0, -pa * a))
    two = {"area_b": b, "initial_pressure_b": pb} if rod else {}
    m.hydraulic(
        "cylinder", joint="guide", area=a, capacity=capacity, gain=gain, supply=supply, friction=c, kp=kp,
        initial_pressure=pa, spool_time=spool, **two,
    )  # fmt: skip
    m.complex_modes_step(count=4)
    found = {complex(*p) for p in solve(m).steps[0].report.eigenvalues}
    slope_a = 0.5 * gain * (np.sqrt(1 - pa / supply) + np.sqrt(pa / supply if rod else 1 + pa / supply))
    slope_b = 0.5 * gain * (np.sqrt(pb / supply) + np.sqrt(1 - pb / supply))
    # of the position, the speed, both pressures, and the opening
    A = np.array([
        [0, 1, 0, 0, 0], [0, -c / mass, a / mass, -b / mass, 0], [0, -a / capacity, 0, 0, slope_a / capacity],
        [0, b / capacity, 0, 0, -slope_b / capacity], [-kp, 0, 0, 0, -1],
    ])  # fmt: skip
    if spool:
        A[4] /= spool
    else:
        A = A[:4, :4] - np.outer(A[:4, 4], [kp, 0, 0, 0])
    if not rod:
        A = np.delete(np.delete(A, 3, 0), 3, 1)
    known = np.linalg.eigvals(A)
    for p in found:  # r(y) is sqrt(y) but for (1e-3/y)^2/4
        assert np.abs(known - p).min() < 1e-5 * np.abs(known).max()
    assert len(found) == sum(known.imag >= 0.0)
