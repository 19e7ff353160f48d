"""Springs, torsion springs, joints and loads: closed forms, signs of the outputs, degenerate states, many turns.

What all element types share is in test_element_contract; the states come from there.
"""

from __future__ import annotations

import numpy as np
import pytest
from contract_cases import Case
from test_element_contract import cay, make_state, turn2

from fem_mbs.contract import (
    COMMIT,
    DISSIPATED,
    DRIVER_WORK,
    LEDGER,
    LOAD_WORK,
    OUTPUT,
    SF,
    STRAIN,
    T0,
    T1,
    TANGENT,
    TM,
    H,
)


def at_rest(type_name, par, h=0.1):
    """One element whose ends stand at the origin, unturned and at rest, before a step of no movement."""
    s = make_state(type_name, Case(lambda rng: par), np.random.default_rng(0), h=h)
    s.Q[:], s.V[:], s.U[:], s.hist[:] = 0, 0, 0, 0
    s.D[:] = s.D[:, -1:]
    s.DD[:] = 0
    s.fun[:] = 0
    return s.advance(s.U.copy()).start()


# --- springs ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dim", [2, 3])
def test_spring_closed_form(dim):
    """A spring on the x axis drawn from 2 m to 3 m: mean force, work, dissipation; outputs in tension are positive."""
    k, c, rest, h = 7.0, 0.5, 1.5, 0.1
    s = at_rest(f"spring{dim}", (k, c, rest, *np.zeros(2 * dim)), h)
    b = s.type.end_dofs
    s.Q[0, b] = 2.0
    U = np.zeros_like(s.U)
    U[b] = 1.0
    s.advance(U)
    force = k * (2.5 - rest) + c * 1.0 / h
    fe = s.force()[0] / s.ctl[SF]
    assert fe[b] == pytest.approx(force)
    assert fe[0] == pytest.approx(-force)
    assert s.report(OUTPUT)[0] == pytest.approx([force, 3.0])
    ledger = s.report(LEDGER)[0]
    assert ledger[STRAIN] == pytest.approx(k * 1.5**2 / 2)
    assert ledger[DISSIPATED] == pytest.approx(c * 1.0 / h)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("rest", [0.0, 1.0])
@pytest.mark.parametrize("rule", ["two", "one"])
def test_spring_between_coincident_points(dim, rest, rule):
    """No length at either end of a step: no force, no NaN; with no length at rest the stiffness stays."""
    s = at_rest(f"spring{dim}", (7.0, 0.5, rest, *np.ones(2 * dim)))
    if rule == "one":
        s = s.one_state()
    fe, ke = s.force(TANGENT)
    assert np.all(fe == 0)
    assert np.isfinite(ke).all()
    assert ke[0, 0, 0] == pytest.approx(0.5 * 7.0 * s.ctl[2])
    assert np.all(s.report(OUTPUT)[0, 1:] == 0)
    assert np.isfinite(s.report(LEDGER)).all()


@pytest.mark.parametrize("dim", [2, 3])
def test_spring_through_zero_length(dim):
    """A step from x = 1 through zero to x = -1 keeps the length: no work, no force along the way."""
    s = at_rest(f"spring{dim}", (7.0, 0.5, 0.4, *np.zeros(2 * dim)))
    b = s.type.end_dofs
    s.Q[0, b] = 1.0
    U = np.zeros_like(s.U)
    U[b] = -2.0
    s.advance(U)
    assert np.all(s.force()[0] == 0)
    assert s.report(LEDGER)[0, DISSIPATED] == 0


# --- torsion springs -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["torsion2", "torsion3"])
@pytest.mark.parametrize("turn", [2.9, -1.7])
def test_torsion_counts_turns(name, turn):
    """Eight large steps: moment and energy of the total angle, although the directors have forgotten the turns."""
    k = 3.0
    axes = np.eye(3)
    par = (k, 0.0, 0.5) if name == "torsion2" else (k, 0.0, 0.5, *axes[0], *axes[1], *axes[0], *axes[1])
    s = at_rest(name, par)
    b = s.type.end_dofs + s.type.dimension
    U = np.zeros_like(s.U)
    U[b + (2 if name == "torsion3" else 0)] = 2 * np.tan(turn / 2)
    for i in range(8):
        s.advance(U)
        assert s.report(OUTPUT)[0] == pytest.approx([k * ((i + 0.5) * turn - 0.5), (i + 1) * turn], rel=1e-13)
        assert s.report(LEDGER)[0, STRAIN] == pytest.approx(k * ((i + 1) * turn - 0.5) ** 2 / 2, rel=1e-13)
        s.report(COMMIT)
        s.Q[0], s.D[0], s.V[0], s.DD[0] = s.Q[1], s.D[1], s.V[1], s.DD[1]
    one = s.one_state()
    assert one.report(OUTPUT)[0] == pytest.approx([k * (8 * turn - 0.5), 8 * turn], rel=1e-13)
    row = one.force()[0, b - s.type.dimension :]
    assert np.abs(row).max() == pytest.approx(abs(one.ctl[SF] * k * (8 * turn - 0.5)), rel=1e-13)


@pytest.mark.parametrize("tilt", [(0.7, 0.0), (0.7, -0.4)])
def test_torsion3_sees_the_turn_about_its_axis_only(tilt):
    """A tilt of end b about a direction across the axis is no twist."""
    axes = np.eye(3)
    s = at_rest("torsion3", (3.0, 0.0, 0.0, *axes[0], *axes[1], *axes[0], *axes[1]))
    U = np.zeros_like(s.U)
    U[9:11] = tilt
    s.advance(U)
    assert np.abs(s.force()).max() == pytest.approx(0, abs=1e-16)


# --- joints ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dim", [2, 3])
def test_point_output_is_the_force_on_a(dim):
    """fe is what the model must balance: the joint acts on a with minus the rows of a, its force and its moment."""
    s = make_state(f"point{dim}", Case(lambda rng: (1.7, *rng.normal(size=2 * dim))), np.random.default_rng(1))
    rows = {2: 3, 3: 6}[dim]
    assert s.report(OUTPUT)[0] == pytest.approx(-s.force()[0, :rows] / s.ctl[SF])


def test_moment_outputs_act_on_a():
    triads = (*np.eye(3).ravel(), *cay(np.array([0.3, -0.2, 0.9])).ravel())
    s = make_state("orientation3", Case(lambda rng: (1.7, 0, *triads)), np.random.default_rng(1))
    assert s.report(OUTPUT)[0, :3] == pytest.approx(-s.force()[0, 3:6] / s.ctl[SF])
    s = make_state("angle2", Case(lambda rng: (1.7, 0.2, 0)), np.random.default_rng(1), turn=1e-6)
    assert s.report(OUTPUT)[0, 0] == pytest.approx(-s.force()[0, 2] / s.ctl[SF])


@pytest.mark.parametrize("dim", [2, 3])
def test_driver_work_of_a_position(dim):
    """A point pushed along x by 0.3 m with a force of 5 N on it: the driver gives 1.5 J."""
    direction = np.eye(dim)[0]
    s = at_rest(f"position{dim}", (2.0, 0, 0.0, *direction, *np.zeros(dim)))
    U = np.zeros_like(s.U)
    U[0] = 0.3
    U[s.dof[0, -1]] = -5.0 * s.ctl[SF] / 2.0  # lambda = -(force on the point)
    s.fun[0] = 0.0, 0.15, 0.3
    s.advance(U)
    fe = s.force()[0]
    assert fe[-1] == pytest.approx(0, abs=1e-15)
    assert s.report(OUTPUT)[0, 0] == pytest.approx(5.0)
    assert s.report(LEDGER)[0, DRIVER_WORK] == pytest.approx(1.5)


@pytest.mark.parametrize("name", ["angle2", "orientation3"])
def test_driven_rotation(name):
    """End b turned by the driver from 0.2 to 1.3 rad satisfies the conditions; the work is moment times angle."""
    f0, f1, moment = 0.2, 1.3, 4.0
    par = (2.0, 0.0, 0) if name == "angle2" else (2.0, 0, *np.eye(3).ravel(), *np.eye(3).ravel())
    s = at_rest(name, par)
    s.fun[0] = f0, 0.5 * (f0 + f1), f1
    U = np.zeros_like(s.U)
    if name == "angle2":
        s.Q[0, 5] = f0
        s.D[0, 1] = turn2(f0)[:, 0]
        U[5] = 2 * np.tan((f1 - f0) / 2)
    else:
        R = np.eye(3)
        R[1:, 1:] = turn2(f0)
        s.D[0, 1] = R.ravel()
        U[9] = 2 * np.tan((f1 - f0) / 2)
    s.advance(U)
    mult = s.multipliers
    assert np.abs(s.force()[0, mult]).max() < 1e-15
    assert np.abs(s.at_start().force()[0, mult]).max() < 1e-15
    # a multiplier that turns b onwards (a2'.b3 = -sin of what b is ahead): the work of the rows is the driver's
    index, sign = (0, -1) if name == "angle2" else (1, 1)
    U[s.dof[0, mult[index]]] = sign * moment * s.ctl[SF] / 2.0
    s.advance(U)
    fe = s.force()[0]
    work = -(fe[s.nodes] @ U[s.dof[0, s.nodes]]) / s.ctl[SF]
    assert s.report(LEDGER)[0, DRIVER_WORK] == pytest.approx(work, rel=1e-14)
    assert work > 0
    if name == "angle2":
        assert work == pytest.approx(moment * (f1 - f0), rel=1e-14)


# --- loads -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "arm"), [("force2", 0.0), ("force2", 0.5), ("force3", 0.5)])
def test_load_work_and_time_function(name, arm):
    """F f(t_m) times the way of its point: a quarter turn of an arm along x moves its tip by (-arm, arm)."""
    dim = int(name[-1])
    s = at_rest(name, (0, 2.0, 3.0, *np.zeros(dim - 2), arm, *np.zeros(dim - 1)))
    s.fun[0, [T0, TM, T1]] = 1.0, 4.0, 9.0
    U = np.zeros_like(s.U)
    U[s.type.end_dofs - 1] = 2.0  # 2 tan(45 deg) about z
    U[0] = 0.2
    s.advance(U)
    movement = np.array([0.2 - arm, arm])
    assert s.report(LEDGER)[0, LOAD_WORK] == pytest.approx(4.0 * movement @ [2.0, 3.0])
    # one-state rules: the mean of both ends
    s.ctl[3] = 1.0
    assert s.report(LEDGER)[0, LOAD_WORK] == pytest.approx(5.0 * movement @ [2.0, 3.0])


def test_moment2_does_the_work_of_the_angle():
    s = at_rest("moment2", (-1, 6.0))
    U = np.zeros_like(s.U)
    U[2] = 2 * np.tan(2.5 / 2)
    s.advance(U)
    assert s.report(LEDGER)[0, LOAD_WORK] == pytest.approx(6.0 * 2.5, rel=1e-15)
    assert -s.force()[0, 2] * U[2] / s.ctl[SF] == pytest.approx(6.0 * 2.5, rel=1e-15)


def test_free_rotation_keeps_energy_and_momentum():
    """A free body about its middle axis (Dzhanibekov's flips): 400 large steps solved by Newton's iteration."""
    J = (1.0, 2.0, 3.0, 0.0, 0.0, 0.0)
    s = at_rest("rigid3", (1.0, *J), h=0.2)
    s.ctl[6:9] = 0
    s.V[0, 3:6] = 0.01, 3.0, 0.02
    s.advance(np.append(s.ctl[H] * s.V[0, :-1], 0.0))
    start = s.at_start().report(LEDGER)[0]
    lowest = 3.0
    for _ in range(400):
        U = s.U.copy()
        iterations = 0
        while True:
            fe, ke = s.force(TANGENT)
            if np.abs(fe).max() < 1e-15:
                break
            U[:6] -= np.linalg.solve(ke[0], fe[0])
            s.advance(U)
            iterations += 1
            assert iterations <= 7
        assert s.report(LEDGER)[0] == pytest.approx(start, rel=1e-11, abs=1e-11)
        lowest = min(lowest, s.V[1, 4])
        s.Q[0], s.D[0], s.V[0] = s.Q[1], s.D[1], s.V[1]
        s.advance(U)
    assert lowest < -2.9  # it flipped
