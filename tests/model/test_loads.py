"""Loads as a user gives them: line loads, follower forces, moments of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs import Model, ModelError, solve
from fem_mbs.analysis.run import inspect
from fem_mbs.validation.case import energy_error

EI, LENGTH = 20.0, 2.0


def cantilever(dimension: int, n: int = 1, mass: float = 0.0, offset=None) -> Model:
    model = Model(dimension)
    model.section("beam", "stiffness", EA=1e5, EI=EI, GA=np.inf, GJ=8.0, rhoA=mass, rhoI=1e-3 * mass)
    model.line("beam", np.zeros(dimension), LENGTH * np.eye(dimension)[0], n)
    model.beams("beam", "beam", "beam", **({} if offset is None else {"offset": offset}))
    model.fix("beam:start")
    model.sensor("tip", "displacement", on="beam:end")
    return model


# --- line loads ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("axes", ["global", "local"])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("n", [1, 3])
def test_uniform_load_is_exact_at_the_nodes(dimension, n, axes):
    q = 1e-5
    model = cantilever(dimension, n)
    vector = [0.0, q, -2.0 * q][:dimension]
    model.line_load("load", "beam", vector, axes=axes)
    model.static_step()
    solution = solve(model)
    w = q * LENGTH**4 / (8.0 * EI)
    slope = q * LENGTH**3 / (6.0 * EI)
    tip, turn = solution.sensor("tip").values[-1], solution.steps[0].frames["rotation"][-1, -1]
    assert tip[1] == pytest.approx(w, rel=1e-6)
    assert turn[2] == pytest.approx(slope, rel=1e-6)
    if dimension == 3:
        assert tip[2] == pytest.approx(-2.0 * w, rel=1e-6)
        assert turn[1] == pytest.approx(2.0 * slope, rel=1e-6)


def test_triangular_load_by_expression():
    """q0 (1 - x/L) on a cantilever: w = q0 L^4/(30 EI)."""
    model = cantilever(3, 2)
    model.line_load("load", "beam", ["0", f"1e-5*(1 - x/{LENGTH})", "0"])
    model.static_step()
    assert solve(model).sensor("tip").values[-1, 1] == pytest.approx(1e-5 * LENGTH**4 / (30.0 * EI), rel=1e-6)


def test_line_load_on_eccentric_beams_has_its_moment():
    """A load beside the nodes' line twists the cantilever: torque q e (L - x), twist q e L^2/(2 GJ)."""
    q, e = 1e-6, 0.3
    model = cantilever(3, 4, offset=(0.0, e, 0.0))
    model.line_load("load", "beam", (0.0, 0.0, q))
    model.static_step()
    # the beam itself lies at e, so that nothing twists it: the node turns with it only by bending
    solution = solve(model)
    assert abs(solution.steps[0].frames["rotation"][-1, -1, 0]) < 1e-6 * q * LENGTH**3 / EI
    assert solution.sensor("tip").values[-1, 2] == pytest.approx(q * LENGTH**4 / (8.0 * EI), rel=1e-5)


@pytest.mark.parametrize("dimension", [2, 3])
def test_line_load_on_trusses(dimension):
    model = Model(dimension)
    model.section("rod", "stiffness", EA=1e4, rhoA=0.0)
    model.line("rod", np.zeros(dimension), np.eye(dimension)[0], 2)
    model.trusses("rod", "rod", "rod")
    model.fix("rod:start")
    model.fix("rod", ["y", "z"][: dimension - 1])
    model.line_load("load", "rod", [3.0, 0.0, 0.0][:dimension])
    model.sensor("tip", "displacement", on="rod:end")
    model.static_step()
    assert solve(model).sensor("tip").values[-1, 0] == pytest.approx(3.0 / 2e4, rel=1e-3)


# --- dynamics: every load's work is booked ---------------------------------------------------------------------------
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("kind", ["line", "local", "force", "moment"])
def test_ledger_closes(dimension, kind):
    model = cantilever(dimension, 3, mass=1.0)
    law = "sin(4*t)**2"
    vector = [1.0, 6.0, -4.0][:dimension]
    if kind == "line":
        model.line_load("load", "beam", vector, function=law)
    elif kind == "local":
        model.line_load("load", "beam", vector, function=law, axes="local")
    elif kind == "force":
        model.force("load", "beam:end", vector, function=law, follower=True)
    elif dimension == 2:
        model.moment("load", "beam:end", 6.0, function=law)
    else:
        for name in ("axial", "follower", "semitangential"):
            model.moment(name, "beam:end", (0.4, 2.0, -1.0), function=law, kind=name)
    model.transient_step(1.5, 0.01, frames=0)
    step = solve(model).steps[0]
    assert step.summary["halved_steps"] == 0
    assert energy_error(step) < 1e-11
    assert abs(step.ledger("load work")).max() > 1e-2


def test_follower_force_turns_with_its_body():
    """Thrust on a spinning body: its direction turns, so the body circles."""
    model = Model(3)
    model.body("body", (0.0, 0.0, 0.0), mass=2.0, inertia=(1.0, 1.0, 1.0), rotation=(0.0, 0.0, 0.7))
    model.force("thrust", "body", (4.0, 0.0, 0.0), follower=True)
    model.initial("body", spin=(0.0, 0.0, 2.0))
    model.sensor("body", "velocity", on="body")
    model.transient_step(1.0, 0.001, frames=0)
    v = solve(model).sensor("body").values[-1]
    assert v == pytest.approx([np.sin(2.0), 1.0 - np.cos(2.0), 0.0], abs=1e-5)


# --- moments ---------------------------------------------------------------------------------------------------------
def skew_part(kind: str) -> np.ndarray:
    """Skew part of the load stiffness of a unit moment about x on a free body at its reference, spins as unknowns."""
    from fem_mbs.analysis.linear.linearised import Linearised
    from fem_mbs.analysis.loading import Loading

    model = Model(3)
    model.body("body", (0.0, 0.0, 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.moment("load", "body", (1.0, 0.0, 0.0), kind=kind)
    model.static_step()
    begun = inspect(model)
    compiled, state = begun.compiled, begun.state
    loading = Loading(compiled)
    loading.all_on()
    K = Linearised(compiled, state, 0.0, loading).tangent.toarray()[3:6, 3:6]
    return 0.5 * (K - K.T)


def test_load_stiffness_of_moments():
    """Second derivatives on the rotation group have the skew part -f~/2 (f: moment on the model with the sign of a
    residual, -1 about x): a semitangential moment has just that, the others half a unit more and less."""
    half = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -0.5], [0.0, 0.5, 0.0]])
    assert skew_part("axial") == pytest.approx(0.0 * half)
    assert skew_part("semitangential") == pytest.approx(half)
    assert skew_part("follower") == pytest.approx(2.0 * half)


def test_torsional_buckling_depends_on_the_kind():
    """Clamped-free shaft: semitangential pi EI/L; axial and follower torques have no static buckling load at all."""

    def factors(kind):
        model = cantilever(3, 8)
        model.moment("torque", "beam:end", (1.0, 0.0, 0.0), kind=kind)
        model.buckling_step(count=2)
        return [x for x in solve(model).steps[0].summary["load_factors"] if abs(x) < 1e4]

    assert max(factors("semitangential")) == pytest.approx(np.pi * EI / LENGTH, rel=1e-3)
    assert not factors("axial")
    assert not factors("follower")


# --- wrong input -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda m: m.moment("m", "beam:end", (1.0, 0.0, 0.0), kind="tangential"), 'kind = "tangential" must be one of'),
        (
            lambda m: m.line_load("q", "bean", (0.0, 1.0, 0.0)),
            'no group of beams or trusses "bean"; did you mean "beam"',
        ),
        (lambda m: m.line_load("q", "beam", (0.0, 1.0)), "must be 3 numbers or expressions"),
        (lambda m: m.line_load("q", "beam", ("0", "1/x", "0")), "not finite"),
        (lambda m: m.line_load("q", "beam", (0.0, 1.0, 0.0), axes="beam"), 'axes = "beam" must be one of'),
    ],
)
def test_wrong_input(call, text):
    model = cantilever(3, 2)
    with pytest.raises(ModelError, match=text):
        call(model)


def test_wrong_input_in_the_plane():
    model = cantilever(2)
    with pytest.raises(ModelError, match="all moments are alike"):
        model.moment("m", "beam:end", 1.0, kind="follower")
    model.node("a", (0.0, 1.0))
    model.node("b", (1.0, 1.0))
    model.section("rod", "stiffness", EA=1.0, rhoA=1.0)
    model.trusses("rod", ["a", "b"], "rod")
    with pytest.raises(ModelError, match="have no section axes"):
        model.line_load("q", "rod", (0.0, 1.0), axes="local")


@pytest.mark.parametrize("value", [-9.81, (0.0, -9.81), (0.0, 0.0, np.nan), "g"])
def test_gravity_that_is_set_later_is_checked(value):
    model = Model(3)
    with pytest.raises(ModelError, match=r"gravity = .* must be 3 finite numbers"):
        model.gravity = value
    assert not model.gravity.any()


def test_gravity_that_is_set_as_a_list_acts_in_statics():
    model = Model(3)
    model.node("n", (0.0, 0.0, 0.0))
    model.point_mass("m", "n", 2.0)
    for c in "xyz":
        model.nodal_spring(c, "n", c, 100.0)
    model.gravity = [1.0, 2.0, -10.0]
    model.sensor("d", "displacement", on="n")
    model.static_step()
    np.testing.assert_allclose(solve(model).sensor("d").values[-1], [0.02, 0.04, -0.2], rtol=1e-12)
