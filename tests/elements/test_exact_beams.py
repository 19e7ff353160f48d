"""Spatial beams against the geometrically exact beam: closed forms, and its boundary-value problem by collocation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_bvp

from fem_mbs import AnalysisError, Model, solve, tangent_check
from fem_mbs.validation.case import constancy, energy_error

FORCES = ("N", "Vy", "Vz", "T", "My 1", "Mz 1")


def cantilever(n, force=(0, 0, 0), moment=(0, 0, 0), strains=None, length=1.0, increments=4, matrix=None, **stiffness):
    """Tip position and section forces of the first element of a cantilever along x, dead force and axial moment."""
    model = Model(3)
    if matrix is None:
        model.section("s", "stiffness", rhoA=0.0, rhoI=0.0, **stiffness)
    else:
        model.section("s", "matrix", stiffness=matrix.tolist(), mass=np.zeros((6, 6)).tolist())
    model.line("b", (0.0, 0.0, 0.0), (length, 0.0, 0.0), n)
    model.beams("b", "b", "s", strains=strains)
    model.fix("b:start")
    model.force("F", "b:end", force)
    model.moment("M", "b:end", moment)
    model.sensor("x", "position", on="b:end")
    for quantity in FORCES:
        model.sensor(quantity, "element", on="b", element=0, quantity=quantity)
    model.static_step(increments=increments)
    solution = solve(model)
    return solution.sensor("x").values[-1], np.array(
        [float(np.ravel(solution.steps[-1].series[f"sensor/{q}"][-1])[0]) for q in FORCES]
    )


def rotation(q):
    """Matrices (3, 3, n) of unit quaternions (4, n)."""
    w, a, b, c = q
    return np.array(
        [
            [1 - 2 * (b * b + c * c), 2 * (a * b - w * c), 2 * (a * c + w * b)],
            [2 * (a * b + w * c), 1 - 2 * (a * a + c * c), 2 * (b * c - w * a)],
            [2 * (a * c - w * b), 2 * (b * c + w * a), 1 - 2 * (a * a + b * b)],
        ]
    )


def exact(force, moment, C, length=1.0):
    """Tip and clamp moments of the exact beam with the stiffness C (6, 6) by collocation: x' = R (e1 + Gamma),
    R' = R [K], m' + x' x n = 0."""
    n, end, F = np.array(force, float), np.array(moment, float), np.linalg.inv(C)

    def rates(share):
        def f(_, y):
            R = rotation(y[3:7])
            inside = np.vstack([np.einsum("jik,j->ik", R, share * n), np.einsum("jik,jk->ik", R, y[7:])])
            gamma, k = np.split(F @ inside, 2)
            gamma[0] += 1.0
            slope = np.einsum("ijk,jk->ik", R, gamma)
            w, v = y[3], y[4:7]
            turn = 0.5 * np.vstack([-(v * k).sum(axis=0), w * k + np.cross(v.T, k.T).T])
            return np.vstack([slope, turn, -np.cross(slope.T, share * n).T])

        return f

    s, y = np.linspace(0.0, length, 41), np.zeros((10, 41))
    y[0], y[3] = s, 1.0
    for share in np.linspace(0.25, 1.0, 4):
        found = solve_bvp(
            rates(share),
            lambda a, b, f=share: np.r_[a[:3], a[3] - 1.0, a[4:7], b[7:] - f * end],
            s,
            y,
            tol=1e-9,
            max_nodes=100000,
        )
        assert found.success
        s, y = found.x, found.y
    return y[:3, -1], y[7:, 0]


SLENDER = {"EA": 1e6, "GAy": 5e5, "GAz": 5e5, "GJ": 0.7, "EIy": 1.0, "EIz": 1.0}
SOFT = {"EA": 30.0, "GAy": 20.0, "GAz": 10.0, "GJ": 0.7, "EIy": 1.0, "EIz": 2.0}
LOADS = {"force": (0.5, 2.0, 1.5), "moment": (1.0, 0.0, 0.5)}


def coupled():
    """SOFT with every pair of strains coupled by about a fifth."""
    A = np.random.default_rng(2).uniform(-0.2, 0.2, (6, 6))
    size = np.sqrt(list(SOFT.values()))
    return (np.eye(6) + 0.5 * (A + A.T)) * np.outer(size, size)


@pytest.mark.parametrize(
    ("matrix", "order", "level"),
    [(np.diag(list(SLENDER.values())), 4.0, 2e-5), (np.diag(list(SOFT.values())), 2.0, 2e-3), (coupled(), 2.0, 2e-3)],
    ids=["slender", "soft", "coupled"],
)
def test_convergence_to_the_exact_beam(matrix, order, level):
    """Force and moments at the tip, bent and twisted by about a radian; forces at the clamp of the first element."""
    tip, moments = exact(**LOADS, C=matrix)
    errors, forces = [], []
    for n in (8, 16):
        x, f = cantilever(n, **LOADS, matrix=matrix)
        errors.append(np.abs(x - tip).max())
        forces.append(f)
    assert errors[0] < level
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)
    # moments are those at the clamp, forces and torque of the middle of the element: twice as near with half of it
    np.testing.assert_allclose(forces[1][4:], moments[1:], atol=20.0 * level)
    clamp = np.r_[LOADS["force"], moments[0]]
    np.testing.assert_allclose(2.0 * forces[1][:4] - forces[0][:4], clamp, atol=0.03)


@pytest.mark.parametrize("EA", [1e2, 1e4, 1e8])
def test_pure_bending_knows_no_axial_force(EA):
    """Bent to a full turn by an end moment: the tip returns to the root whatever EA is, with no axial force."""
    x, f = cantilever(5, moment=(0, 0, 20 * math.pi), length=10.0, increments=8, EA=EA, GA=1e4, GJ=100.0, EI=100.0)
    assert np.abs(x).max() < 1e-8
    assert np.abs(f - np.r_[np.zeros(5), 20 * math.pi]).max() < 1e-8 + 1e-15 * EA  # strains have round-off


def test_states_of_constant_strains_are_exact():
    """Extension, and a line beside the centroid bent to a quarter of a circle, with one and with three elements."""
    for n in (1, 3):
        x, f = cantilever(n, force=(20.0, 0, 0), **SOFT)
        assert x == pytest.approx([1.0 + 20.0 / SOFT["EA"], 0.0, 0.0], abs=1e-12)
        assert f[0] == pytest.approx(20.0)
        kappa, arm = 0.5 * math.pi, 0.1
        x, f = cantilever(n, moment=(0, 0, 2.0 * kappa), centroid=(arm, 0.0), **SOFT)
        radius = (1.0 + arm * kappa) / kappa
        assert x == pytest.approx([radius, radius, 0.0], abs=1e-10)
        assert f == pytest.approx([0, 0, 0, 0, 0, 2.0 * kappa], abs=1e-9)


@pytest.mark.parametrize("strains", ["exact", "corotational"])
def test_torsion_with_bending_makes_no_shear(strains):
    """Under end moments alone there is no shear force, so that its stiffness does not matter (second order: the shear
    strain would be (K_x M_y - K_y M_x)/GA, at every mesh)."""
    moments = (0.05, 0.1, 0.0)
    tips = []
    for GA in (2.0, 2e6):
        stiffness = {**SLENDER, "GAy": GA, "GAz": GA, "GJ": 0.5}
        x, f = cantilever(8, moment=moments, strains=strains, increments=1, **stiffness)
        assert np.abs(f[:3]).max() < 1e-8  # EA = 1e6 times round-off
        tips.append(x)
    wrong = (moments[0] / 0.5 * moments[1] - moments[1] * moments[0]) / 2.0
    assert np.abs(tips[0] - tips[1]).max() < 0.01 * wrong


def test_shear_force_at_a_clamp_under_torque():
    """Tip force with a torque: V at the clamp is the force, for all strains and meshes."""
    for strains in ("exact", "generalised", "corotational"):
        _, f = cantilever(32, (0.0, 0.0, 0.2), (0.4, 0.0, 0.4), strains, **{**SLENDER, "GJ": 0.77})
        assert f[2] == pytest.approx(0.2, rel=1e-3)
        assert np.abs(f[:2]).max() < 0.005


def test_axes_of_the_section_do_not_matter():
    """Principal axes that stand askew in the section's axes: the same deflection as in axes of their own."""
    tips = []
    for rotate, towards in ((0.0, (0.0, math.cos(0.4), math.sin(0.4))), (math.degrees(0.4), (0.0, 1.0, 0.0))):
        model = Model(3)
        model.section("s", "stiffness", rhoA=0.0, rhoI=0.0, rotate=rotate, **SOFT)
        model.line("b", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 4)
        model.beams("b", "b", "s", orientation=towards)
        model.fix("b:start")
        model.force("F", "b:end", LOADS["force"])
        model.sensor("x", "position", on="b:end")
        model.static_step(increments=4)
        tips.append(solve(model).steps[-1].series["sensor/x"][-1])
    assert np.abs(tips[0] - tips[1]).max() < 1e-12


def test_large_steps_conserve():
    """Free flight with bends of half a radian per element and turns of half a radian per step."""
    model = Model(3)
    model.section("s", "stiffness", rhoA=1.0, rhoI=1e-3, **SOFT)
    model.line("b", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 3)
    model.beams("b", "b", "s")
    model.initial("b", velocity=("0", "6*x**2 - 3*x", "4*x"), spin=(6.0, 1.0, -2.0), centre=(0.5, 0.0, 0.0))
    model.transient_step(5.0, 0.04, frames=0)
    step = solve(model).steps[0]
    assert step.summary["halved_steps"] == 0
    assert energy_error(step, constant=True) < 1e-12
    assert constancy(step, "linear momentum") < 1e-12
    assert constancy(step, "angular momentum") < 1e-12
    assert tangent_check(model, h=0.04, size=0.1).error < 1e-8


def test_bend_warns_and_stops():
    """From 1.5 rad between the ends of an element a run warns, at 2.5 rad it stops; up to there it is exact."""

    def bent(angle):
        model = Model(3)
        # stiff in torsion and the other bending, so that it does not leave its plane
        model.section("s", "stiffness", rhoA=0.0, rhoI=0.0, **{**SOFT, "GJ": 1e3, "EIy": 1e3})
        model.line("b", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 2)
        model.beams("b", "b", "s")
        model.fix("b:start")
        model.moment("M", "b:end", (0.0, 0.0, 2.0 * angle * SOFT["EIz"]))
        model.sensor("x", "position", on="b:end")
        model.static_step(increments=8)
        return solve(model)

    def said(solution):
        return [w for w in solution.steps[0].summary["warnings"] if "rotation between the ends" in w]

    assert not said(bent(1.4))
    solution = bent(2.4)
    assert "rotation between the ends reached 2.4 rad" in said(solution)[0]
    expected = [math.sin(4.8) / 4.8, (1.0 - math.cos(4.8)) / 4.8, 0.0]
    np.testing.assert_allclose(solution.steps[-1].series["sensor/x"][-1], expected, atol=1e-10)
    with pytest.raises(AnalysisError, match="take more elements"):
        bent(2.6)
