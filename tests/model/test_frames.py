"""Frames that turn or shake: centrifugal loads, base excitation, and the integral behind it."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, solve
from fem_mbs.functions.kinds import make_function
from fem_mbs.functions.laws import DoubleIntegral
from fem_mbs.validation.case import energy_error


# --- centrifugal loads -----------------------------------------------------------------------------------------------
def rod(kind: str, dimension: int, mass: str, n: int = 16) -> Model:
    model = Model(dimension)
    model.section("rod", "stiffness", EA=1e4, EI=1.0, GA=np.inf, GJ=1.0, rhoA=2.0, rhoI=0.0)
    model.line("rod", np.zeros(dimension), np.eye(dimension)[0], n)
    if kind == "truss":
        model.trusses("rod", "rod", "rod", mass=mass)
        model.fix("rod", ["y", "z"][: dimension - 1])
    else:
        model.beams("rod", "rod", "rod", mass=mass)
    model.fix("rod:start")
    model.sensor("tip", "displacement", on="rod:end")
    return model


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize(
    ("kind", "mass"),
    [("truss", "lumped"), ("truss", "consistent"), ("beam", "hermite"), ("beam", "consistent"), ("beam", "lumped")],
)
def test_rotating_rod(kind, dimension, mass):
    """u = rho A w^2 L^3/(3 EA), small; the load factor multiplies the square of the speed."""
    model = rod(kind, dimension, mass)
    axis = {} if dimension == 2 else {"axis": (0.0, 0.0, 2.0)}
    model.centrifugal("spin", 0.5, **axis)
    model.static_step(increments=2)
    step = solve(model).steps[0]
    u = step.series["sensor/tip"][:, 0]
    assert u[-1] == pytest.approx(2.0 * 0.25 / 3.0e4, rel=2e-3)
    assert u[1] == pytest.approx(0.5 * u[-1], rel=1e-4)


@pytest.mark.parametrize("strains", ["generalised", "corotational"])
def test_flapping_of_a_rotating_cantilever(strains):
    """Published frequencies at Omega = 2, 6, 12; in the plane of rotation w^2 is less by Omega^2."""
    for omega, flap in ((2.0, (4.1373, 22.6149)), (6.0, (7.3604, 26.809)), (12.0, (13.170, 37.603))):
        for axis, part in (((0.0, 0.0, 1.0), "flap"), ((0.0, 1.0, 0.0), "flap")):
            model = Model(3)
            model.section("beam", "stiffness", EA=1e8, EI=1.0, GA=np.inf, GJ=1e3, rhoA=1.0, rhoI=0.0)
            model.line("beam", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 16)
            model.beams("beam", "beam", "beam", strains=strains)
            model.fix("beam:start")
            model.centrifugal("spin", omega, axis=axis)
            model.static_step()
            model.modes_step(count=4)
            w = 2.0 * np.pi * np.array(solve(model).steps[1].summary["frequencies_hz"])
            expected = sorted([*flap, *np.sqrt(np.square(flap) - omega**2)])
            assert w == pytest.approx(expected, rel=1e-3), part


def test_centrifugal_force_of_a_body():
    """A rigid body on a slide: k u = m w^2 (r + u)."""
    model = Model(3)
    model.body("body", (1.0, 0.0, 0.0), mass=2.0, inertia=(0.1, 0.2, 0.3))
    model.joint("rail", "prismatic", "ground", "body", point=(1.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0))
    model.joint_spring("spring", "rail", 50.0)
    model.centrifugal("spin", 3.0, axis=(0.0, 0.0, 1.0), point=(0.2, 0.0, 0.0))
    model.sensor("body", "displacement", on="body")
    model.static_step()
    assert solve(model).sensor("body").values[-1, 0] == pytest.approx(18.0 * 0.8 / (50.0 - 18.0), rel=1e-10)


def test_centrifugal_loads_are_not_for_transients():
    model = rod("beam", 3, "hermite")
    model.centrifugal("spin", 1.0, axis=(0.0, 0.0, 1.0))
    model.transient_step(1.0, 0.1)
    with pytest.raises(ModelError, match="centrifugal loads belong to static"):
        solve(model)
    with pytest.raises(ModelError, match="has no length"):
        rod("beam", 3, "hermite").centrifugal("spin", 1.0, axis=(0.0, 0.0, 0.0))
    with pytest.raises(ModelError, match="needs its axis"):
        rod("beam", 3, "hermite").centrifugal("spin", 1.0)
    with pytest.raises(ModelError, match="remove axis"):
        rod("beam", 2, "hermite").centrifugal("spin", 1.0, axis=(0.0, 1.0))


# --- base excitation -------------------------------------------------------------------------------------------------
def oscillator(h: float = 0.002, **excitation) -> Model:
    """Mass 1 on a spring of 100 N/m above a moving support, along y."""
    model = Model(2)
    model.node("base", (0.0, 0.0))
    model.node("mass", (0.0, 1.0))
    model.point_mass("m", "mass", 1.0)
    model.point_mass("base mass", "base", 1.0)
    model.spring("spring", "base", "mass", 100.0)
    model.fix("base")
    model.fix("mass", ["x"])
    model.base_excitation("shake", direction=(0.0, 1.0), **excitation)
    model.sensor("mass", "displacement", on="mass")
    model.sensor("base", "displacement", on="base")
    model.transient_step(2.0, h, frames=0)
    return model


def test_step_of_the_bases_acceleration():
    """Relative motion -a (1 - cos w t)/w^2 on top of a t^2/2."""
    solution = solve(oscillator(acceleration=0.3))
    t, x, base = solution.steps[0].time, solution.sensor("mass").values[:, 1], solution.sensor("base").values[:, 1]
    assert base == pytest.approx(0.15 * t**2, abs=1e-14)
    exact = 0.15 * t**2 - 0.003 * (1.0 - np.cos(10.0 * t))
    assert np.abs(x - exact).max() < 2e-6
    assert energy_error(solution.steps[0]) < 1e-11


def test_harmonic_displacement_and_second_order():
    errors = []
    for h in (0.004, 0.002):
        solution = solve(oscillator(h, displacement="0.01*(1 - cos(4*t))"))
        t, x = solution.steps[0].time, solution.sensor("mass").values[:, 1]
        exact = 0.01 * (1.0 - (100.0 * np.cos(4.0 * t) - 16.0 * np.cos(10.0 * t)) / 84.0)
        errors.append(np.abs(x - exact).max())
        assert energy_error(solution.steps[0]) < 1e-11
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_supports_move_together():
    model = Model(3)
    model.section("beam", "stiffness", EA=1e4, EI=10.0, GA=np.inf, GJ=8.0, rhoA=1.0, rhoI=1e-3)
    model.line("beam", (0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 4)
    model.beams("beam", "beam", "beam")
    model.fix("beam:start")
    model.fix("beam:end", ["y", "z"])
    model.base_excitation(
        "quake",
        direction=(0.0, 1.0, 0.5),
        acceleration={"kind": "hat", "start": 0.0, "duration": 0.4, "peak": 0.2, "value": 3.0},
    )
    for place in ("start", "end"):
        model.sensor(place, "displacement", on=f"beam:{place}")
    model.transient_step(1.0, 0.01, frames=0)
    solution = solve(model)
    start, end = solution.steps[-1].series["sensor/start"], solution.steps[-1].series["sensor/end"]
    assert np.abs(start[:, 1:] - end[:, 1:]).max() < 1e-14
    assert start[:, 2] == pytest.approx(0.5 * start[:, 1], abs=1e-14)
    assert start[-1, 1] == pytest.approx(0.6 * (1.0 - 0.2), rel=1e-12)  # impulse 0.6 about the middle of the hat
    assert energy_error(solution.steps[0]) < 1e-11


def test_double_integral_of_a_table():
    times, values = np.array([0.0, 0.3, 0.9, 1.4]), np.array([0.0, 2.0, -1.0, 0.5])
    law = make_function({"kind": "table", "times": times.tolist(), "values": values.tolist()})
    twice = DoubleIntegral(law)
    t = np.linspace(0.0, 1.4, 29)
    fine = np.linspace(0.0, 1.4, 140001)
    a = np.interp(fine, times, values)
    v = np.concatenate(([0.0], np.cumsum(0.5 * (a[1:] + a[:-1]) * np.diff(fine))))
    s = np.concatenate(([0.0], np.cumsum(v[:-1] * np.diff(fine) + (2 * a[:-1] + a[1:]) * np.diff(fine) ** 2 / 6.0)))
    f, f1, f2 = twice.jet(t)
    assert f == pytest.approx(np.interp(t, fine, s), abs=1e-9)
    assert f1 == pytest.approx(np.interp(t, fine, v), abs=1e-9)
    assert f2 == pytest.approx(np.interp(t, times, values), abs=1e-14)
    sine = DoubleIntegral(make_function("sin(40*t)"))
    assert sine(t) == pytest.approx(t / 40.0 - np.sin(40.0 * t) / 1600.0, abs=1e-15)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"direction": (0.0, 0.0), "displacement": 0.0}, "has no length"),
        ({"direction": (1.0, 0.0)}, "give either displacement or acceleration"),
        ({"direction": (1.0, 0.0), "displacement": "t", "acceleration": "t"}, "give either"),
        ({"direction": (1.0, 0.0), "displacement": "t", "on": "top"}, '"top"'),
    ],
)
def test_wrong_excitation(options, text):
    model = rod("beam", 2, "hermite")
    with pytest.raises(ModelError, match=text):
        model.base_excitation("shake", **options)


@pytest.mark.parametrize("kind", ["pin", "slider", "position", "spring"])
def test_the_ground_does_not_move_along(kind):
    """Whatever else ends at the ground is refused, or stays where it is if places are named."""
    for on in (None, "rod:start"):
        model = rod("beam", 2, "hermite")
        if kind == "spring":
            model.spring("held", "rod:end", "ground", 1.0, point_b=(2.0, 1.0))
        else:
            options = {"pin": {}, "slider": {"axis": (1, 0)}, "position": {"axis": (1, 0), "function": 0.0}}[kind]
            model.joint("held", kind, "rod:end", **options)
        model.base_excitation("shake", direction=(0.0, 1.0), displacement="0.01*t**2", on=on)
        model.transient_step(0.1, 0.01)
        if on is None:
            with pytest.raises(ModelError, match='Base excitation "shake": "held" ends at the ground'):
                solve(model)
        else:
            assert energy_error(solve(model).steps[0]) < 1e-11


def test_wrong_excitations_as_a_whole():
    def shaken(**options):
        model = rod("beam", 2, "hermite")
        model.base_excitation("shake", **{"direction": (0.0, 1.0), "displacement": "t**2", **options})
        model.transient_step(0.1, 0.01)
        return model

    with pytest.raises(ModelError, match='Base excitation "shake": no support holds a position'):
        solve(shaken(on="rod:end"))
    with pytest.raises(ModelError, match='Base excitation "shake": it asks for 1 at t = 0 s'):
        solve(shaken(displacement="cos(t)"))
    model = shaken()
    model.base_excitation("more", direction=(0.0, 1.0), displacement="t**2", on="rod:start")
    with pytest.raises(ModelError, match=r'"more": node "rod .*" is moved in y by "shake" already'):
        solve(model)


def test_one_frame_turns():
    model = rod("beam", 2, "hermite")
    model.centrifugal("spin", 1.0)
    with pytest.raises(ModelError, match='the frame turns by "spin" already'):
        model.centrifugal("more", 1.0)
    model.modes_step(count=1)
    assert any("Coriolis" in text for text in solve(model).steps[0].summary["warnings"])
    model = Model(2)
    for name, x in (("a", 0.0), ("b", 1.0)):
        model.node(name, (x, 0.0))
    model.spring("k", "a", "b", 1.0)
    model.fix("a")
    model.centrifugal("spin", 1.0)
    model.static_step()
    with pytest.raises(ModelError, match='Centrifugal load "spin": the model has no mass'):
        solve(model)


def test_double_integrals_do_not_depend_on_the_company():
    """A continued run gives the same bits."""
    law = make_function("sin(5*t)")
    t = np.linspace(0.0, 7.0, 101)
    whole = DoubleIntegral(law)(t)
    one_by_one = DoubleIntegral(law)
    assert [float(one_by_one(t[k : k + 1])[0]) for k in range(t.size)] == whole.tolist()


@pytest.mark.parametrize("step", ["transient", "linear", "modal", "given"])
def test_a_base_that_starts_with_a_speed(step):
    """The mass goes along with the base, or starts from rest: v (t - sin(w t)/w)."""
    speed, w, t = 0.3, 10.0, 0.2
    m = Model(3)
    m.node("a", (0.0, 0.0, 0.0))
    m.node("b", (1.0, 0.0, 0.0))
    m.point_mass("mass", "b", 2.0)
    m.spring("spring", "a", "b", 2.0 * w * w)
    m.fix("a", ["x", "y", "z"])
    m.fix("b", ["y", "z"])
    m.base_excitation("base", (1.0, 0.0, 0.0), displacement=f"{speed}*t", on="a")
    m.sensor("u", "displacement", on="b")
    if step == "given":
        m.initial(method="given")
    if step in ("transient", "given"):
        m.transient_step(t, 1e-3)
    else:
        m.linear_transient_step(t, 1e-3, modes=1 if step == "modal" else None)
    there = speed * (t - np.sin(w * t) / w) if step == "given" else speed * t
    assert solve(m).sensor("u").values[-1, 0] == pytest.approx(there, rel=1e-4 if step == "given" else 1e-9)
