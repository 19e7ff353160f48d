"""Springs that remember: the law of Bouc and Wen, and sliders in parallel, over time and in statics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from fem_mbs import AnalysisError, Model, ModelError, linearise, solve

STIFFNESS, LIMIT = 200.0, 30.0
Y = LIMIT / STIFFNESS
SLIDERS = [[100.0, 5.0], [80.0, 12.0], [30.0, 20.0]]


def stretched(kind="spring", dimension=2, **law):
    """A mass on a spring along x; the spring's other end is far away, or it acts on the coordinate of a joint."""
    zero = (0.0,) * dimension
    model = Model(dimension)
    model.body("mass", zero, 2.0, 0.1 if dimension == 2 else (0.1, 0.1, 0.1))
    axis = (1.0, 0.0, 0.0)[:dimension]
    model.joint("rail", "prismatic", "ground", "mass", point=zero, axis=axis)
    if kind == "spring":
        model.spring("link", "ground", "mass", point_a=(-20.0, 0.0, 0.0)[:dimension], **law)
    else:
        model.joint_spring("link", "rail", **law)
    model.sensor("way", "joint", on="rail")
    model.sensor("force", "element", on="link", quantity="force")
    return model


def closing(solution):
    return solution.summary["steps"][-1]["energy"]["closing_error_relative"]


@pytest.mark.parametrize("kind", ["spring", "joint_spring"])
@pytest.mark.parametrize("rule", ["midpoint", "newmark"])
@pytest.mark.parametrize(("exponent", "unloading"), [(1.0, None), (1.7, 0.7), (4.0, 1.3)])
def test_forced_motion_against_an_integration(kind, rule, exponent, unloading):
    """Way, speed and z of the forced mass by scipy; a closed ledger and a loss that grows, whatever the exponent."""
    share, b = 0.1, 0.5 if unloading is None else unloading

    def rates(t, u):
        x, v, z = u
        slope = 1.0 - (b * np.sign(z * v) + 1.0 - b) * abs(z / Y) ** exponent
        force = share * STIFFNESS * x + (1.0 - share) * STIFFNESS * z + 1.5 * v
        return [v, (60.0 * np.sin(5.0 * t) - force) / 2.0, slope * v]

    end = solve_ivp(rates, (0.0, 1.5), [0.0] * 3, method="DOP853", rtol=1e-10, atol=1e-12, max_step=2e-3).y[:, -1]
    model = stretched(kind, 2, stiffness=STIFFNESS, damping=1.5, yield_force=LIMIT, hardening=share * STIFFNESS,
                      exponent=exponent, unloading=unloading)  # fmt: skip
    model.sensor("z", "element", on="link", quantity="z")
    model.force("push", "mass", (60.0, 0.0), function="sin(5*t)")
    model.transient_step(1.5, 2e-3, frames=0, rule=rule)
    solution = solve(model)
    assert float(solution.sensor("way").values[-1, 0]) == pytest.approx(end[0], abs=5e-4)
    assert float(solution.sensor("z").values[-1, 0]) == pytest.approx(end[2], abs=5e-4)
    assert closing(solution) < (1e-11 if rule == "midpoint" else 1e-9)
    lost = solution.steps[-1].ledger("dissipated")
    assert (np.diff(lost) >= -1e-12 * lost[-1]).all()


@pytest.mark.parametrize("dimension", [2, 3])
def test_virgin_curve_in_statics(dimension):
    """x over F of the first loading, n = 1: F = a k x + (1 - a) k y (1 - exp(-x/y)); order 2 over the increments."""
    share = 0.05
    end = brentq(lambda x: share * STIFFNESS * x + 0.95 * STIFFNESS * Y * (1.0 - np.exp(-x / Y)) - 40.0, 0.0, 5.0)
    errors = []
    for increments in (40, 80):
        model = stretched("spring", dimension, stiffness=STIFFNESS, yield_force=LIMIT, hardening=share * STIFFNESS,
                          exponent=1.0)  # fmt: skip
        model.force("push", "mass", (40.0, 0.0, 0.0)[:dimension])
        model.static_step(increments=increments)
        solution = solve(model)
        errors.append(abs(float(solution.sensor("way").values[-1, 0]) - end))
        assert not any("snap" in w for w in solution.summary["steps"][-1]["warnings"])
    assert errors[1] < 1e-4 * end
    assert 3.0 < errors[0] / errors[1] < 5.5


def test_unloading_of_any_exponent_is_the_integral_of_the_law():
    """From z0 back to zero: x = integral of dz/(1 + (2 b - 1) (z/y)^n), a driven path and scipy's quadrature."""
    n, b, top = 2.3, 0.9, 0.25
    ramps = {"kind": "table", "times": [0.0, 1.0, 2.0], "values": [0.0, top, 0.0]}
    model = Model(2)
    model.node("end", (1.0, 0.0))
    model.point_mass("mass", "end", 1.0)
    model.fix("end", ["y"])
    model.motion("pull", "end", "x", ramps)
    model.spring("link", "ground", "end", STIFFNESS, point_a=(-20.0, 0.0), yield_force=LIMIT, exponent=n, unloading=b)
    model.sensor("z", "element", on="link", quantity="z")
    model.sensor("way", "displacement", on="end")
    model.transient_step(2.0, 1e-3, frames=0)
    solution = solve(model)
    z, way = solution.sensor("z").values[:, 0], solution.sensor("way").values[:, 0]
    peak = int(way.argmax())
    loading = quad(lambda w: 1.0 / (1.0 - (w / Y) ** n), 0.0, z[peak])[0]
    assert loading == pytest.approx(top, abs=2e-5)
    zero = int(np.flatnonzero(z[peak:] < 0.0)[0]) + peak
    back = way[zero] - z[zero] * (way[zero] - way[zero - 1]) / (z[zero] - z[zero - 1])
    unloading = quad(lambda w: 1.0 / (1.0 + (2.0 * b - 1.0) * (w / Y) ** n), 0.0, z[peak])[0]
    assert top - back == pytest.approx(unloading, abs=2e-5)


@pytest.mark.parametrize("rule", ["midpoint", "newmark"])
def test_sliders_against_return_mapping(rule):
    """Forces at the end of steps (Newmark) by return mapping in numpy; the loss of a loop in closed form."""
    model = Model(2)
    model.node("end", (1.0, 0.0))
    model.point_mass("mass", "end", 1.0)
    model.fix("end", ["y"])
    model.motion("pull", "end", "x", {"kind": "harmonic", "amplitude": 0.5, "frequency": 1.0})
    model.spring("link", "ground", "end", 10.0, point_a=(-20.0, 0.0), sliders=SLIDERS)
    model.sensor("force", "element", on="link", quantity="force")
    model.sensor("slipping", "element", on="link", quantity="slipping")
    model.sensor("way", "displacement", on="end")
    model.transient_step(2.0, 0.01, frames=0, rule=rule)
    solution = solve(model)
    step = solution.steps[-1]
    lost = step.ledger("dissipated")
    assert lost[-1] - lost[100] == pytest.approx(sum(4.0 * F * max(0.0, 0.5 - F / k) for k, F in SLIDERS), rel=1e-12)
    assert closing(solution) < 1e-12 if rule == "midpoint" else True
    way, force = step.series["sensor/way"][:, 0], np.ravel(step.series["sensor/force"])
    p, expected = np.zeros(3), []
    k, F = np.array(SLIDERS).T
    for x in way:
        trial = k * (x - p)
        p += np.where(np.abs(trial) > F, (trial - np.sign(trial) * F) / k, 0.0)
        expected.append(10.0 * x + (k * (x - p)).sum())
    if rule == "newmark":
        np.testing.assert_allclose(force[1:], expected[1:], atol=1e-9)
    assert set(np.ravel(step.series["sensor/slipping"])[1:]) <= {0.0, 1.0, 2.0, 3.0}


def test_tangent_about_a_hysteretic_state_is_the_mean_of_both_ways():
    """dz/dx = 1 - (1 - b)(z/y)^n without a path: frequencies after a static step."""
    model = stretched(stiffness=STIFFNESS, yield_force=LIMIT, hardening=20.0, exponent=1.0)
    model.sensor("z", "element", on="link", quantity="z")
    model.force("push", "mass", (25.0, 0.0))
    model.static_step(increments=50)
    z = float(solve(model).sensor("z").values[-1, 0])
    found = np.abs(np.linalg.eigvals(linearise(model).state_space().A)).max()
    tangent = 20.0 + 0.9 * STIFFNESS * (1.0 - 0.5 * z / Y)
    assert found == pytest.approx(np.sqrt(tangent / 2.0), rel=1e-8)


def test_long_paths_of_a_step_end_the_run():
    model = stretched(stiffness=STIFFNESS, yield_force=LIMIT, hardening=1.0, exponent=2.0)
    model.initial_speed("mass", "x", 40.0)
    model.transient_step(0.1, 0.01, frames=0)
    with pytest.raises(AnalysisError, match='Spring "link": the path in one step, over the elongation at which'):
        solve(model)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ({"exponent": 2.0}, "exponent belongs to yield_force"),
        ({"unloading": 0.7}, "unloading belongs to yield_force"),
        ({"yield_force": 5.0, "unloading": 0.7}, "unloading belongs to exponent"),
        ({"yield_force": 5.0, "exponent": 0.5}, "exponent = 0.5 must be a finite number of at least 1"),
        ({"yield_force": 5.0, "exponent": 1.0, "unloading": 0.2}, "unloading = 0.2 must be a finite number"),
        ({"yield_force": 5.0, "exponent": 1.0, "cubic": 3.0}, "a spring that yields has no cubic"),
        ({"sliders": [[1.0, 2.0]], "yield_force": 5.0}, "a spring with sliders has no yield_force"),
        ({"sliders": [[1.0, -2.0]]}, "stiffness and yield force of number 1, [1.0, -2.0], must be positive"),
        ({"sliders": []}, "sliders must be a list of pairs"),
        ({"sliders": [[1.0, 2.0, 3.0]]}, "must be a list of pairs"),
    ],
)  # fmt: skip
def test_wrong_laws(law, message):
    model = Model(2)
    model.node("end", (1.0, 0.0))
    with pytest.raises(ModelError, match='Spring "link"') as error:
        model.spring("link", "ground", "end", **{"stiffness": STIFFNESS, "point_a": (0.0, 0.0), **law})
    assert message in str(error.value)
