"""Rotors, discs and the frames in which rotating machines have constant coefficients."""

from __future__ import annotations

import numpy as np
import pytest
from solid_meshes import box_mesh

from fem_mbs import Model, ModelError, solve
from fem_mbs.analysis.rotors import rotating
from fem_mbs.analysis.rotors.rotating import (
    CONSTANT,
    choose_frame,
    constant_frames,
    rotation_in_frame,
    rotation_of,
    steady_rotation,
)
from fem_mbs.analysis.stability import linearisation
from fem_mbs.solvers.eigen.complex_modes import complex_modes
from fem_mbs.solvers.linear import saddle_factors
from fem_mbs.solvers.linear.libraries import cholmod_status


def two_discs(stiffness=(0.8e6, 1e6), n=6, section=("circle", {"diameter": 0.05}), axis=(1.0, 0.0, 0.0)):
    """The shaft of two discs of the benchmarks: 1.5 m long, in springs at its ends, along an axis."""
    axis = np.array(axis)
    across = np.roll(axis, 1), np.roll(axis, 2)
    m = Model(3)
    m.material("steel", E=211e9, G=81.2e9, density=7810.0)
    m.section("shaft", section[0], **section[1])
    m.line("shaft", (0, 0, 0), tuple(1.5 * axis), n)
    m.beams("shaft", "shaft", "shaft", "steel", orientation=tuple(across[0]))
    for i in (n // 3, 2 * n // 3):
        m.disc(f"disc {i}", i, 32.5897, 0.32956, 0.17809, axis=tuple(axis))
    for end in ("start", "end"):
        for k, v in zip(stiffness, across, strict=True):
            m.nodal_spring(f"{end} {'xyz'[int(v.argmax())]}", f"shaft:{end}", "xyz"[int(v.argmax())], k)
    m.fix("shaft:start", ["xyz"[int(axis.argmax())]])
    m.rotor("rotor", axis=tuple(axis))
    return m


def turning(m, speed):
    compiled = m.compile()
    rotation = rotation_of(compiled, m.rotors["rotor"], speed)
    return steady_rotation(compiled, compiled.system.initial_state(), rotation)


@pytest.mark.parametrize(
    ("speed", "expected"),
    [(0.0, (91.797, 96.289, 274.566, 296.501)), (100.0, (91.787, 96.296, 274.060, 296.994))],
)
def test_two_discs(speed, expected):
    """Frequencies [rad/s] of the benchmark, whatever the axis is."""
    for axis in np.eye(3):
        lin = choose_frame(turning(two_discs(axis=axis), speed))
        assert lin.frame == "fixed"
        found = complex_modes(lin.M, lin.C, lin.K, lin.G, count=12).values
        bending = found.imag[found.imag > 1.0]
        for p in expected:
            assert np.abs(bending - p).min() < 2e-3


def test_choice_of_frames():
    """Fixed for round shafts, rotating for flat ones in equal springs, refused where both have directions."""
    flat = "rectangle", {"width": 0.05, "height": 0.0501}
    assert choose_frame(turning(two_discs(), 100.0)).frame == "fixed"
    assert choose_frame(turning(two_discs((1e6, 1e6)), 100.0)).frame == "fixed"
    lin = turning(two_discs((1e6, 1e6), section=flat), 100.0)
    assert choose_frame(lin).frame == "rotating"
    with pytest.raises(ModelError, match="not constant in the fixed frame"):
        choose_frame(lin, "fixed")
    both = turning(two_discs(section=flat), 100.0)
    with pytest.raises(ModelError, match="periodic in every frame"):
        choose_frame(both)
    assert choose_frame(turning(two_discs(section=flat), 0.0)).frame == "fixed"


@pytest.mark.skipif(not cholmod_status()[0], reason="scikit-sparse is not installed")
@pytest.mark.parametrize("bearings", [(5e7, 5e7), (5e7, 0.99999 * 5e7)])
def test_frames_by_the_factors_of_the_steady_rotation(monkeypatch, bearings):
    """A flat bar of solids: the motions that these factors give see what those with factors of their own see."""
    monkeypatch.setattr(linearisation, "LARGE", 0)
    monkeypatch.setattr(saddle_factors, "LARGE", 0)
    m = Model(3)
    m.mesh("bar", box_mesh("hexahedron", (6, 2, 2), (1.0, 0.1, 0.08)))
    m.solid_material("steel", E=2.1e11, nu=0.3, density=7850.0)
    m.solids("solid", "bar", "steel")
    for end, face in (("left", "x0"), ("right", "x1")):
        m.node(end, (float(face[1]), 0.05, 0.04))
        m.coupling(f"face {end}", end, f"bar:{face}")
        for axis, k in zip("yz", bearings, strict=True):
            m.nodal_spring(f"bearing {end} {axis}", end, axis, k, 5e3)
    m.fix("left", ["x"])
    m.rotor("rotor", axis=(1.0, 0.0, 0.0), point=(0.0, 0.05, 0.04))
    compiled = m.compile()
    given = compiled, compiled.system.initial_state(), rotation_of(compiled, m.rotors["rotor"], 300.0)
    own = constant_frames(steady_rotation(*given))
    assert own["fixed"] > 1e-3
    monkeypatch.setattr(rotating, "_slow_motions", None)  # no factors of its own
    lin, near = rotating._steady(*given, 0.0, None, None)
    seen = dict(rotating._changes(lin, False, near))
    if bearings[0] == bearings[1]:
        assert rotation_in_frame(*given).frame == "rotating"
        assert max(seen["rotating"], own["rotating"]) < 1e-8
    else:
        assert seen == pytest.approx(own, rel=0.5)
        assert own["rotating"] > CONSTANT
        with pytest.raises(ModelError, match="periodic in every frame"):
            rotation_in_frame(*given)


def test_small_differences_are_seen_on_fine_meshes():
    """A thousandth of a per cent between the springs of a shaft of 96 stiff elements; equal ones leave rounding."""
    seen = constant_frames(turning(two_discs((1e6, 0.99999e6), n=96), 100.0))
    assert seen["rotating"] > CONSTANT and seen["fixed"] < 1e-9
    same = constant_frames(turning(two_discs((1e6, 1e6), n=96), 100.0))
    assert max(same.values()) < 1e-9


def test_states_that_do_not_turn():
    """The weight bends the shaft downwards, wherever it has turned to; along the axis it does not matter."""
    for axis, fits in (((1.0, 0.0, 0.0), False), ((0.0, 0.0, 1.0), True)):
        m = two_discs((1e6, 1e6), axis=axis)
        m.gravity = np.array((0.0, 0.0, -9.81))
        m.static_step()
        m.campbell_step("rotor", [10.0, 50.0], count=2)
        if fits:
            assert solve(m).summary["steps"][-1]["frame"] == "fixed"
        else:
            with pytest.raises(ModelError, match="does not turn with it"):
                solve(m)


def test_frames_agree():
    """Seen from the rotor, modes of whirl have their frequencies moved by the speed."""
    lin = turning(two_discs((1e6, 1e6)), 100.0)
    fixed, seen = (
        complex_modes(a.M, a.C, a.K, a.G, count=16).values.imag for a in (lin, choose_frame(lin, "rotating"))
    )
    whirling = [p for p in fixed if 80.0 < p < 320.0]
    assert len(whirling) >= 4
    for p in whirling:
        assert min(np.abs(np.abs(seen) - abs(p - s)).min() for s in (100.0, -100.0)) < 1e-6


def test_disc_is_a_body():
    """A disc has the inertia that was said, about axes that its node's own ones have turned away from."""
    m = Model(3)
    m.body("hub", (0, 0, 0), mass=1.0, inertia=(1e-9, 1e-9, 1e-9), rotation=(0.3, -0.5, 0.8))
    axis = np.array((1.0, 2.0, -0.5)) / np.linalg.norm((1.0, 2.0, -0.5))
    m.disc("disc", "hub", 3.0, 0.5, 0.3, axis=tuple(axis))
    m.rotor("rotor", axis=(0, 0, 1))
    m.initial(spin=tuple(2.0 * axis))
    m.transient_step(1e-3, 1e-3)
    row = solve(m)
    momentum = row.summary["steps"][0]["angular_momentum"]
    np.testing.assert_allclose(momentum, 2.0 * 0.5 * axis, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: m.rotor("r"), "needs its axis"),
        (lambda m: m.rotor("rotor", axis=[1, 0, 0]), "already taken"),
        (lambda m: m.rotor("r", axis=[1, 0, 0], on="shift"), "shaft"),
        (lambda m: m.rotor("r", axis=[1, 0, 0], on=[]), "no nodes"),
        (lambda m: m.disc("d", "shaft:end", 1.0, 0.5, 0.2, axis=[1, 0, 0]), "more than twice diametral"),
        (lambda m: m.disc("d", "shaft:end", 1.0, 0.5), "needs its axis"),
        (lambda m: m.disc("d", "shaft:end", -1.0, 0.5, axis=[1, 0, 0]), "mass = -1.0"),
    ],
)
def test_wrong_rotors(call, said):
    with pytest.raises(ModelError, match=said):
        call(two_discs())


def test_plane_rotors():
    m = Model(2)
    m.node("n", (0, 0))
    with pytest.raises(ModelError, match="in the plane the axis"):
        m.rotor("r", axis=[0, 1])
    with pytest.raises(ModelError, match="diametral is for space"):
        m.disc("d", "n", 1.0, 0.1, 0.05)
    m.disc("e", "n", 1.0, 0.1)
    m.rotor("r", on="n")
    assert m.rotors["r"].nodes.tolist() == [0] and m.rotors["r"].axis.tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("frame", ["fixed", "rotating"])
@pytest.mark.parametrize("speed", [0.0, 80.0, 200.0])
def test_damping_of_the_shaft_drives_the_forward_whirl(speed, frame):
    """A straight shaft that spins has no rates of strain, but gets some as soon as it is bent: beta k turns with it,
    and forward whirl grows beyond the critical speed (Jeffcott rotor; Tondl 1965).

    Of a disc m in the middle of a shaft k on bearings K, c at both ends, the forward roots of y + i z are those of
    m p^2 (S + B) + S B, S = k + beta k (p - i Omega), B = 2 (K + c p); backward ones have -Omega.
    """
    m = Model(3)
    m.section("shaft", "stiffness", EA=1e8, EI=2000.0, GA=np.inf, GJ=1600.0, rhoA=1e-6, rhoI=1e-9)
    m.line("shaft", (0, 0, 0), (1, 0, 0), 4)
    beta, k, mass, K, c = 1e-3, 48.0 * 2000.0, 10.0, 1e6, 50.0
    m.beams("shaft", "shaft", "shaft", damping=beta)
    m.disc("disc", 2, mass, 0.2, 0.1, axis=(1, 0, 0))
    for end in ("start", "end"):
        m.bearing(end, f"shaft:{end}", stiffness=K, damping=c, axis=(1, 0, 0))
    m.fix("shaft:start", "x")
    m.rotor("rotor", axis=(1, 0, 0))
    m.complex_modes_step(count=2, rotor="rotor", speed=speed, frame=frame)
    found = solve(m).steps[0].summary["eigenvalues"]
    found = np.array([complex(*p) for p in found if p[1] != 0.0])
    expected = []
    for turn in (speed, -speed):
        S, B = np.array([beta * k, k - 1j * beta * k * turn]), 2.0 * np.array([c, K])
        roots = np.roots(np.polyadd(np.polymul([mass, 0, 0], np.polyadd(S, B)), np.polymul(S, B)))
        p = roots[(roots.imag > 0) & (np.abs(roots) < 200.0)][0]
        expected.append(p - 1j * turn * (frame == "rotating"))
    for p in expected:
        p = complex(p.real, abs(p.imag))
        assert np.abs(found - p).min() < 2e-6 * abs(p)
    assert (max(p.real for p in expected) > 0.0) == (speed > 100.0)


def test_a_stretched_rotor_spins_freely():
    """Centrifugal forces stretch a bar of solids; what Newton's last increment leaves of them would hold its spin."""
    m = Model(3)
    m.material("s", E=2.1e11, nu=0.3, density=7850.0)
    m.mesh("bar", box_mesh("hexahedron", (6, 2, 2), (1.0, 0.05, 0.05)))
    m.solids("bar", "bar", "s")
    m.node("A", (0, 0.025, 0.025))
    m.coupling("grip", "A", "bar:x0")
    m.bearing("b", "A", stiffness=1e6, axis=(1, 0, 0))
    m.fix("A", "x")
    m.rotor("rotor", axis=(1, 0, 0), point=(0, 0.025, 0.025))
    lin = turning(m, 200.0).seen_from("rotating")
    spin = lin.velocity()[lin.dofs] / 200.0
    rounding = 1e-15 * (np.abs(spin) @ (abs(lin.K) @ np.abs(spin)))
    assert abs(spin @ (lin.K @ spin)) < rounding


def test_a_support_in_the_way_of_a_rotation_is_found_before_the_run():
    """The check of a model, which computes no step, already refuses a shaft whose turn is held."""
    from fem_mbs.analysis.run import inspect

    def held(m):
        m.campbell_step("rotor", [10.0, 50.0], count=2)
        m.fix("shaft:end", ["rotation x"])
        return m

    free = two_discs()
    free.campbell_step("rotor", [10.0, 50.0], count=2)
    inspect(free)
    with pytest.raises(ModelError, match="rotation x is held, but would move by the rotation; leave it out of the"):
        inspect(held(two_discs()))
    later = two_discs()
    later.static_step(name="settle")  # a state in between may move nodes: their run compares
    inspect(held(later))
