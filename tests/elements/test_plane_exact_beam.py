"""The default plane beam against boundary-value solutions of the geometrically exact beam, and its invariants."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_bvp

from fem_mbs import AnalysisError, Model, ModelError, solve

EI, LENGTH = 1.0, 1.0
#: EA, GA, dead force at the tip, moment there.
SOFT = (20.0, 10.0, (-0.5, 2.0), 1.0)
COMPRESSED = (30.0, 8.0, (-3.0, 1.0), 0.0)
PULLED = (10.0, 6.0, (5.0, 2.0), 0.5)
NO_SHEAR = (10.0, None, (3.0, 2.0), 0.5)
SLENDER = (1e6, 5e5, (-0.5, 2.0), 1.0)


def exact(EA, GA, force, moment, line=(0.0, 0.0)):
    """Cantilever x' = (1 + N/EA) d1 + Q/GA d2, theta' = M/EI, M' = -x' x n, n' = -line: x, y, theta, M along it."""
    F, q = np.asarray(force), np.asarray(line)

    def rates(factor):
        def f(s, y):
            n = factor * (F[:, None] + q[:, None] * (LENGTH - s))
            c, v = np.cos(y[2]), np.sin(y[2])
            e = (c * n[0] + v * n[1]) / EA
            g = 0.0 * s if GA is None else (-v * n[0] + c * n[1]) / GA
            xp, yp = (1.0 + e) * c - g * v, (1.0 + e) * v + g * c
            return np.vstack((xp, yp, y[3] / EI, yp * n[0] - xp * n[1]))

        return f

    s = np.linspace(0.0, LENGTH, 101)
    y = np.zeros((4, s.size))
    y[0] = s
    for factor in np.linspace(0.1, 1.0, 10):
        found = solve_bvp(
            rates(factor), lambda a, b, c=factor: np.array([*a[:3], b[3] - c * moment]), s, y,
            tol=1e-9, max_nodes=100000,
        )  # fmt: skip
        assert found.success
        s, y = found.x, found.y
    return y


def cantilever(n, EA, GA, force, moment, **options):
    model = Model(2)
    model.section("s", "stiffness", EA=EA, EI=EI, GA=1.0 if GA is None else GA, rhoA=1.0, rhoI=0.0)
    model.line("l", (0.0, 0.0), (LENGTH, 0.0), n)
    model.beams("b", "l", "s", shear=GA is not None, **options)
    model.fix("l:start")
    if np.any(force):
        model.force("F", "l:end", force)
    if moment:
        model.moment("M", "l:end", moment)
    return model


def static(model, *quantities, element=0):
    for q in quantities:
        model.sensor(q, "element", on="b", element=element, quantity=q)
    model.sensor("x", "position", on="l:end")
    model.sensor("theta", "rotation", on="l:end")
    model.static_step(increments=10)
    found = solve(model)
    end = np.concatenate((found.sensor("x").values[-1], found.sensor("theta").values[-1]))
    return end, np.array([found.steps[-1].series[f"sensor/{q}"][-1, 0] for q in quantities])


def orders(errors):
    return np.log2(errors[:-1] / errors[1:])


@pytest.mark.parametrize("case", [SOFT, COMPRESSED, PULLED, NO_SHEAR], ids=["soft", "compressed", "pulled", "no shear"])
def test_finite_strains_converge_to_the_exact_beam(case):
    y = exact(*case)
    known = np.array([*case[2], y[3, 0]])  # N, Q and M at the clamp, where the section stands upright
    errors, forces = [], []
    for n in (8, 16, 32):
        end, section = static(cantilever(n, *case), "N_p", "Q_p", "M_p")
        errors.append(np.abs(end - y[:3, -1]).max())
        forces.append(np.abs(section - known).max())
    assert np.all(orders(np.array(errors)) > 1.9)
    assert errors[-1] < 2e-4
    # the dead force is that of the clamp at every mesh, the moment follows the place of the tip
    assert np.all(orders(np.array(forces)) > 1.9)
    assert forces[-1] < 5e-4


def test_slender_beams_converge_with_order_four():
    y = exact(*SLENDER)
    errors = np.array([np.abs(static(cantilever(n, *SLENDER))[0] - y[:3, -1]).max() for n in (2, 4, 8, 16)])
    assert np.all(orders(errors) > 3.7)
    assert errors[2] < 5e-6


def test_second_order_terms_are_those_of_the_consistent_geometric_stiffness():
    """A column of one element buckles at 2.486 EI/L^2 (Przemieniecki 1968, chapter 15), the exact load is pi^2/4."""
    factors = []
    for second_order in (True, False):
        model = cantilever(1, 1e9, None, (-1.0, 0.0), 0.0, second_order=second_order)
        model.buckling_step(count=1)
        factors.append(solve(model).summary["steps"][0]["load_factors"][0])
    assert factors[0] == pytest.approx(2.4860, abs=1e-4)
    assert abs(factors[1] - factors[0]) > 0.02


@pytest.mark.parametrize("n", [2, 5])
def test_pure_bending_is_exact_at_every_mesh(n):
    """An end moment of 2 pi EI/L rolls the beam up to a circle, however soft it is against N and Q."""
    model = cantilever(n, 3.0, 2.0, (0.0, 0.0), 2.0 * np.pi * EI / LENGTH)
    end, section = static(model, "N_p", "Q_q", "M_p", "M_q", "strain")
    assert end == pytest.approx([0.0, 0.0, 2.0 * np.pi], abs=1e-9)
    assert section == pytest.approx([0.0, 0.0, 2.0 * np.pi, 2.0 * np.pi, 0.0], abs=1e-9)


def test_constant_strains_are_exact_with_one_element():
    """Extension and shear of any size, of a beam that cannot bend."""
    EA, GA, N, Q = 3.0, 2.0, 1.5, 0.8
    model = Model(2)
    model.section("s", "stiffness", EA=EA, EI=1e9, GA=GA, rhoA=1.0, rhoI=0.0)
    model.line("l", (0.0, 0.0), (LENGTH, 0.0), 1)
    model.beams("b", "l", "s")
    model.fix("l:start")
    model.force("F", "l:end", (N, Q))
    end, section = static(model, "N", "Q")
    assert section == pytest.approx([N, Q], rel=1e-8)
    assert end == pytest.approx([LENGTH * (1.0 + N / EA), LENGTH * Q / GA, 0.0], abs=1e-7)


def spinning(**options):
    model = Model(2)
    model.section("s", "stiffness", EA=40.0, GA=15.0, EI=2.0, rhoA=1.0, rhoI=0.02)
    model.line("l", (0.0, 0.0), (2.0, 0.0), 3)
    model.beams("b", "l", "s", **options)
    pulse = {"kind": "table", "times": [0.0, 0.5, 1.0, 1e3], "values": [0.0, 1.0, 0.0, 0.0]}
    model.force("F", "l:end", (3.0, 6.0), function=pulse)
    model.moment("M", "l:start", 4.0, function=pulse)
    return model


@pytest.mark.parametrize("mass", ["hermite", "consistent", "lumped"])
def test_energy_and_momenta_are_exact_in_free_flight(mass):
    model = spinning(mass=mass)
    model.transient_step(4.0, 0.05)
    found = solve(model)
    step = found.steps[0]
    free = step.time > 1.05
    energy = step.series["ledger"][free, :3].sum(axis=1)
    assert np.ptp(energy) < 1e-10 * energy.mean()
    for name in ("linear momentum", "angular momentum"):
        values = step.series[name][free]
        assert np.abs(values).max() > 0.1
        assert np.ptp(values, axis=0).max() < 1e-10 * np.abs(values).max()
    assert np.abs(step.ledger("closing error")).max() < 1e-10 * energy.mean()


def test_damping_and_held_extension():
    damped = spinning(damping=0.05)
    damped.transient_step(4.0, 0.05)
    found = solve(damped)
    ledger = found.steps[0].series["ledger"]
    assert ledger[-1, 3] > 0.05 * ledger[-1, :3].sum()
    assert np.abs(ledger[:, 6]).max() < 1e-10 * ledger[:, :3].sum(axis=1).max()
    held = spinning(inextensible=True)
    held.sensor("strain", "element", on="b", element=1, quantity="strain")
    held.transient_step(4.0, 0.05)
    found = solve(held)
    assert np.abs(found.steps[-1].series["sensor/strain"][1:]).max() < 1e-11
    ledger = found.steps[0].series["ledger"]
    assert np.abs(ledger[:, 6]).max() < 1e-9 * ledger[:, :3].sum(axis=1).max()


def test_a_node_may_turn_many_times():
    """Ten turns of the whole beam about its clamp leave no stress."""
    model = Model(2)
    model.section("s", "stiffness", EA=20.0, EI=EI, GA=10.0, rhoA=1e-6, rhoI=0.0)
    model.line("l", (0.0, 0.0), (LENGTH, 0.0), 2)
    model.beams("b", "l", "s")
    model.fix("l:start", ["x", "y"])
    model.motion("turn", "l:start", "rotation", "t")
    model.sensor("M", "element", on="b", element=0, quantity="M_p")
    model.sensor("theta", "rotation", on="l:end")
    model.static_step(increments=40, duration=20.0 * np.pi)
    found = solve(model)
    assert found.sensor("theta").values[-1, 0] == pytest.approx(20.0 * np.pi)
    assert np.abs(found.steps[-1].series["sensor/M"][1:]).max() < 1e-9


def test_elements_bent_too_far_are_refused():
    model = cantilever(1, 1e4, 1e4, (0.0, 0.0), 6.2 * EI / LENGTH)
    model.static_step(increments=20)
    with pytest.raises(AnalysisError, match=r'Beam "b": the angle between its end sections .* use more elements'):
        solve(model)


def test_beams_at_turned_bodies_are_refused_and_welds_are_right():
    """A beam's rotation counts from where it is straight: at a body with an angle it would be bent by that."""
    model = Model(2)
    model.section("s", "stiffness", EA=1e4, GA=1e4, EI=10.0, rhoA=1.0, rhoI=0.01)
    model.body("hub", (0.0, 0.0), mass=1.0, inertia=0.1, angle=0.5)
    model.node("end", (1.0, 0.0))
    with pytest.raises(ModelError, match=r'Beam "b": body "hub" has an angle of 0\.5 rad.* weld joint'):
        model.beams("b", ["hub", "end"], "s")
    model.node("root", (0.0, 0.0))
    model.beams("arm", ["root", "end"], "s")
    model.joint("clamp", "weld", "hub", "root")
    model.fix("hub")
    model.sensor("x", "displacement", on="end")
    model.static_step()
    assert solve(model).sensor("x").values[-1] == pytest.approx([0.0, 0.0], abs=1e-12)
