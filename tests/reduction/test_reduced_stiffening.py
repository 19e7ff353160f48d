"""Geometric stiffening of bodies: exact books and tangents over several steps, frames elsewhere, what it does."""

from __future__ import annotations

import re

import numpy as np
import pytest
from contract_cases import CASES
from flexible_parts import beam
from test_element_contract import compare_blocks, differences, make_state, small

from fem_mbs import Model, reduce_part, solve
from fem_mbs.contract import (
    COMMIT,
    DISSIPATED,
    DRIVER_WORK,
    KINETIC,
    LEDGER,
    LOAD_WORK,
    POTENTIAL,
    SF,
    STRAIN,
    TANGENT,
)
from fem_mbs.errors import ModelError
from fem_mbs.model.parts.reduced import moved_loads


@pytest.mark.parametrize("name", ["flexible_body2_2", "flexible_body3_2"])
def test_the_second_step(name):
    """Loads are means with those of the last step from there on: work and tangent stay exact."""
    s = make_state(name, CASES[name]["stiffened"], np.random.default_rng(3), turn=100)
    s.report(COMMIT)
    s.Q[0], s.D[0], s.V[0], s.DD[0] = s.Q[1], s.D[1], s.V[1], s.DD[1]
    rng = np.random.default_rng(4)
    U = np.zeros_like(s.U)
    U[:-1] = 0.3 * rng.normal(size=U.size - 1)
    s.advance(U)
    s.Q[1, s.dof[:, s.multipliers]] = U[s.dof[:, s.multipliers]] / s.ctl[SF]
    fe, ke = (a[0] for a in s.force(TANGENT))
    compare_blocks(ke, differences(lambda d: s.copy().advance(U + d).force()[0], s), s, 1e-7)
    start = s.at_start()
    before, after = start.report(LEDGER)[0], s.report(LEDGER)[0]
    local, m = U[s.dof[0]], s.multipliers
    work = fe[s.nodes] @ local[s.nodes] / s.ctl[SF]
    constraint = local[m] @ (fe[m] - start.force()[0][m]) / s.ctl[SF]
    energy = (after - before)[[KINETIC, STRAIN, POTENTIAL]].sum()
    booked = after[DISSIPATED] - after[LOAD_WORK] - after[DRIVER_WORK]
    small(work - energy - booked - constraint, np.abs(fe[s.nodes] * local[s.nodes]).sum() / s.ctl[SF], 1e-12)
    assert after[LOAD_WORK] != 0.0


def test_loads_of_a_frame_elsewhere():
    """Accelerations of the reference point from those of a frame: sum lambda_j K_j is the same."""
    rng = np.random.default_rng(5)
    names = ("ax", "ay", "az", "alphax", "alphay", "alphaz", "wx2", "wy2", "wz2", "wxwy", "wywz", "wxwz")
    K = {name: rng.normal(size=(2, 2)) for name in names}
    arm, a, alpha, w = rng.normal(size=(4, 3))

    def total(K, a):
        products = (w * w, (w[0] * w[1], w[1] * w[2], w[0] * w[2]))
        return sum(v * K[name] for name, v in zip(names, np.concatenate((a, alpha, *products)), strict=True))

    at_point = a - np.cross(alpha, arm) - np.cross(w, np.cross(w, arm))
    np.testing.assert_allclose(total(moved_loads(K, arm), a), total(K, at_point), atol=1e-12)


def blade(stiffening, h=0.01, duration=4.0):
    """A slender blade on a shaft that comes to one and a half times its lowest frequency."""
    own = beam(6, dimension=2, length=1.0, height=0.004)
    part = reduce_part(own, {"root": "rod:start", "tip": "rod:end"}, modes=15, stiffening="root")
    m = Model(dimension=2)
    if stiffening == "beam":
        m = own
        root, tip = "rod:start", "rod:end"
    else:
        m.reduced_part("blade", part, reference="root", cutoff=400.0, stiffening=stiffening)
        root, tip = "blade:root", "blade:tip"
    m.fix(root, ["x", "y"])
    m.motion("shaft", root, "rotation", {"kind": "spin_up", "rate": 30.0, "duration": 3.0})
    m.sensor("tip", "position", on=tip)
    m.transient_step(duration, h)
    return m


@pytest.mark.parametrize("stiffening", ["centrifugal", "inertia", "all"])
def test_spin_up(stiffening):
    """As a beam of many elements within a few parts in a thousand of the length; the books close."""
    t = np.arange(401) * 0.01
    wanted = solve(blade("beam")).sensor("tip").values
    solution = solve(blade(stiffening))
    found = solution.sensor("tip").values
    assert len(found) == len(t)
    assert np.abs(found - wanted).max() < 0.02
    assert solution.steps[0].summary["energy"]["closing_error_relative"] < 1e-10


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("pull", [150.0, -60.0])
def test_pulled_and_pressed(dim, pull):
    """A cantilever under a force along it bends less or more, as the beam does; without it, the same as always."""
    found = {}
    for kind in ("beam", "none", "interfaces"):
        own = beam(6, dimension=dim)
        m, ends = own, ("rod:start", "rod:end")
        if kind != "beam":
            part = reduce_part(own, {"left": ends[0], "right": ends[1]}, modes=15 * (dim - 1), stiffening="left")
            m, ends = Model(dimension=dim), ("rod:left", "rod:right")
            m.reduced_part("rod", part, reference="left", stiffening=kind)
        m.fix(ends[0])
        m.force("tip", ends[1], (pull, 1.0, 0.5)[:dim])
        m.sensor("tip", "displacement", on=ends[1])
        m.static_step()
        found[kind] = solve(m).steps[-1].series["sensor/tip"][-1]
    np.testing.assert_allclose(found["interfaces"][1:], found["beam"][1:], rtol=2e-4)
    assert np.abs(found["none"][-1] / found["beam"][-1] - 1.0) > 0.015
    # what bending shortens
    stretch = found["none"][0]
    np.testing.assert_allclose(found["interfaces"][0] - stretch, found["beam"][0] - stretch, rtol=0.02)


def test_a_heavy_tip_keeps_the_energy():
    """A pendulum with a mass at its tip: forces at the interface stiffen it, nothing is lost."""
    part = reduce_part(
        beam(6, dimension=2, height=0.004), {"left": "rod:start", "right": "rod:end"}, modes=6, stiffening="left"
    )
    m = Model(dimension=2, gravity=(0.0, -9.81))
    m.reduced_part("rod", part, reference="left", cutoff=400.0, stiffening="interfaces")
    m.joint("hinge", "pin", "ground", "rod:left", point=(0.0, 0.0))
    m.point_mass("bob", "rod:right", 1.0)
    m.transient_step(2.0, 2e-3)
    energy = solve(m).steps[0].summary["energy"]
    assert energy["closing_error_relative"] < 1e-10


@pytest.mark.parametrize("reference", ["root", "mean", "tip"])
def test_centrifugal_loads_are_those_about_the_carrier_wherever_the_frame_stands(reference):
    """The root of a blade stands on the axis: its frequencies are those of the beam, to what 15 shapes leave of them at
    rest, and to the stretch r w^2 L^2/2E of the arm, which the undeformed blade lacks, twice for squares."""
    options = {"dimension": 3, "height": 0.004}
    part = reduce_part(beam(8, **options), {"root": "rod:start", "tip": "rod:end"}, modes=15, stiffening="root")

    def frequencies(kind, speed=30.0):
        m, root = beam(8, **options), "rod:start"
        if kind != "beam":
            m, root = Model(3), "blade:root"
            m.reduced_part("blade", part, reference=reference, stiffening=kind)
        m.fix(root, ["x", "y", "z", "rotation x", "rotation z"])
        m.point_mass("hub", root, 1.0, inertia=(1e4, 1e4, 1e4))
        m.rotor("shaft", axis=(0.0, 1.0, 0.0))
        m.complex_modes_step(4, rotor="shaft", speed=speed, frame="rotating")
        return np.array(solve(m).summary["steps"][-1]["frequencies_hz"])[-4:]

    exact, found = frequencies("beam"), frequencies("centrifugal")
    at_rest = frequencies("beam", 0.0)
    left = np.abs(frequencies("centrifugal", 0.0) / at_rest - 1.0)
    stretch = 7850.0 * 30.0**2 / (2.0 * 2.1e11)
    assert (exact / at_rest - 1.0)[0] > 0.15
    assert (np.abs(found / exact - 1.0) < left + 2.0 * stretch).all()


def test_without_it_the_blade_flies_away():
    found = solve(blade("none", duration=3.5)).sensor("tip").values
    assert np.abs(np.linalg.norm(found, axis=1) - 1.0).max() > 1.0


def test_mistakes():
    part = reduce_part(beam(4, dimension=2), {"root": "rod:start"}, modes=4)
    m = Model(dimension=2)
    with pytest.raises(ModelError, match='stiffening = "much" must be one of "none", "interfaces", "centrifugal"'):
        m.reduced_part("a", part, stiffening="much")
    with pytest.raises(ModelError, match="the part has no geometric stiffness; reduce it with"):
        m.reduced_part("b", part, stiffening="all")


@pytest.mark.parametrize(
    ("kind", "frame", "told"),
    [("inertia", "free", True), ("centrifugal", "free", True), ("all", "free", False), ("inertia", "root", False)],
)
def test_inertia_alone_of_a_free_body_is_told(kind, frame, told):
    """A blade on a shaft at one and a half times its lowest frequency bent away without the pull at its root."""
    part = reduce_part(beam(4, dimension=2), {"root": "rod:start"}, modes=4, stiffening=frame)
    m = Model(dimension=2)
    m.reduced_part("blade", part, reference="root", stiffening=kind)
    text = f'"blade": the geometric stiffness of the part is that of a free body.*"{kind}" lacks the forces'
    assert any(re.search(text, warning) for warning in m.warnings) == told
