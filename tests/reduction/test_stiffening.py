"""Geometric stiffness per unit of inertia and interface loads: closed forms, virials, frequencies in rotation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from solid_meshes import box_mesh

from fem_mbs import Model, solve
from fem_mbs.analysis.reduction.reduce import reduce_part
from fem_mbs.errors import ModelError
from fem_mbs.parts.sid import body_data

LENGTH, RHO_A = 10.0, 1.2


def beam(n, dim=3, EA=2.8e7):
    m = Model(dimension=dim)
    if dim == 3:
        m.section("s", "stiffness", EA=EA, EI=14000.0, GJ=1e4, GA=np.inf, rhoA=RHO_A, rhoI=1e-7)
        m.line("b", (0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), n)
        m.beams("b", "b", "s", orientation=(0.0, 1.0, 0.0))
    else:
        m.section("s", "stiffness", EA=EA, EI=14000.0, rhoA=RHO_A)
        m.line("b", (0.0, 0.0), (LENGTH, 0.0), n)
        m.beams("b", "b", "s")
    return m


def beam_part(n, dim=3, frame="root", **options):
    """The beam in all of its coordinates."""
    ends = {"root": "b:start", "tip": "b:end"}
    modes = (6 if dim == 3 else 3) * (n - 1)
    return reduce_part(beam(n, dim, **options), ends, modes=modes, stiffening=frame, accuracy=0)


def parabola(part, axis):
    """p of the deflection x^2/L along an axis."""
    recovery = part.recovery
    x = recovery.x[:, 0]
    A = np.concatenate((recovery.displacement.reshape(-1, part.size), recovery.rotation.reshape(-1, part.size)))
    u, turn = np.zeros((len(x), part.dimension)), np.zeros((len(x), recovery.rotation.shape[1]))
    u[:, axis] = x**2 / LENGTH
    if part.dimension == 2:
        turn[:, 0] = 2.0 * x / LENGTH
    else:
        turn[:, 3 - axis] = (1.0 if axis == 1 else -1.0) * 2.0 * x / LENGTH
    p = np.linalg.lstsq(A, np.concatenate((u.ravel(), turn.ravel())), rcond=None)[0]
    np.testing.assert_allclose(A @ p, np.concatenate((u.ravel(), turn.ravel())), atol=1e-9)
    return p


# int N G dx with the slopes G = (2 x/L)^2 (Melzer 1994, table 2): N = -rhoA (L - x), rhoA (L^2 - x^2)/2, 1
TABLE = {
    "ax": -RHO_A * LENGTH**2 / 3.0,
    "centrifugal": RHO_A * LENGTH**3 * (2.0 / 3.0 - 2.0 / 5.0),
    "tip.x": 4.0 * LENGTH / 3.0,
}


@pytest.mark.parametrize(("dim", "axis"), [(2, 1), (3, 1), (3, 2)])
def test_closed_forms_of_a_straight_beam(dim, axis):
    """Exact for few elements: what forces constant in an element miss the turning of inertia on directors makes up."""
    part = beam_part(4, dim)
    p = parabola(part, axis)
    found = {name: float(p @ K @ p) for name, K in part.stiffening.items()}
    for name, wanted in TABLE.items():
        for key in (("wz2",) if dim == 2 else ("wy2", "wz2")) if name == "centrifugal" else (name,):
            assert found[key] == pytest.approx(wanted, rel=1e-8), key
    for key in ("alphaz", "wx2", "wxwy", "tip.y"):  # no axial force
        assert abs(found.get(key, 0.0)) < 1e-8 * TABLE["centrifugal"]


def test_frequencies_of_a_turning_beam():
    """K + W^2 (K_wz2 - int Phi_x Phi_x + Phi_y Phi_y dm) is the whole model under its centrifugal load."""
    n, W = 16, 8.0
    part = beam_part(n, EA=2.8e9)  # (so stiff that the place of the stretched beam does not matter)
    m = beam(n, EA=2.8e9)
    m.fix("b:start")
    m.centrifugal("turn", W, axis=(0.0, 0.0, 1.0))
    m.static_step()
    m.modes_step(6)
    whole = np.array(solve(m).steps[-1].summary["frequencies_hz"])
    S = np.eye(part.size)[:, 6:]  # clamped at the root: its six motions are the first coordinates
    own = part.transformed(S, np.zeros((S.shape[1], 0)))
    softening = own.moments.quadratic[0, 0] + own.moments.quadratic[1, 1]
    K = own.stiffness + W**2 * (own.stiffening["wz2"] - softening)
    found = np.sqrt(eigh(K, own.mass, eigvals_only=True)[:6]) / (2.0 * np.pi)
    still = np.sqrt(eigh(own.stiffness, own.mass, eigvals_only=True)[:6]) / (2.0 * np.pi)
    np.testing.assert_allclose(found, whole, rtol=1e-5)
    assert found[1] > 2.0 * still[1]


def block(**options):
    m = Model(dimension=3)
    m.material("steel", E=2.1e11, nu=0.3, density=7850)
    m.mesh("box", box_mesh("hexahedron", (6, 2, 2), (1.2, 0.1, 0.2)))
    m.solids("box", on="box", material="steel", **options)
    return m


VOLUME_MASS = 7850 * 1.2 * 0.1 * 0.2


def block_part(frame):
    ends = {"left": "box:x0", "right": "box:x1"}
    return reduce_part(block(), ends, modes=8, stiffening=frame, accuracy=0, origin=(0.0, 0.05, 0.1))


@pytest.mark.parametrize("frame", ["left", "free"])
def test_virials(frame):
    """In a rigid rotation theta the stresses resist as much as dead loads f at c lose: -f.(theta x (theta x c))."""
    part = block_part(frame)
    turn = part.rigid[:, 5]  # about z, through the middle of the left face
    L, m = 1.2, VOLUME_MASS

    def virial(name):
        return float(turn @ part.stiffening[name] @ turn) if name in part.stiffening else 0.0

    inertia_x = m * L**2 / 3.0
    inertia_y = m * 0.1**2 / 12.0
    if frame == "left":  # what is out of balance is held at x = 0
        assert virial("right.x") == pytest.approx(L, rel=1e-9)
        assert virial("ax") == pytest.approx(-m * L / 2.0, rel=1e-9)
        assert virial("wz2") == pytest.approx(inertia_x + inertia_y, rel=1e-6)
        assert virial("wy2") == pytest.approx(inertia_x, rel=1e-9)
        assert not any(name.startswith("left.") for name in part.stiffening)
    else:  # the part accelerates by f/m: -f/m int x dm is half of it away
        assert virial("right.x") == pytest.approx(L / 2.0, rel=1e-9)
        assert virial("left.x") == pytest.approx(-L / 2.0, rel=1e-9)
        assert virial("ax") == pytest.approx(0.0, abs=1e-6)
        assert virial("wy2") == pytest.approx(m * L**2 / 12.0, rel=1e-9)


def test_mean_interfaces():
    """Forces on means, and one that carries the frame: virials as of rigid sets, whose arms turn with them."""
    for kinds, frame in (
        (("rigid", "average"), "left"),
        (("average", "rigid"), "left"),
        (("average", "average"), "free"),
    ):
        ends = {name: {"on": place, "kind": kind} for (name, place), kind in
                zip((("left", "box:x0"), ("right", "box:x1")), kinds, strict=True)}  # fmt: skip
        part = reduce_part(block(), ends, "rubin", modes=8, stiffening=frame, accuracy=0, origin=(0.0, 0.05, 0.1))
        turn = part.rigid[:, 5]
        wanted = 1.2 if frame == "left" else 0.6
        assert float(turn @ part.stiffening["right.x"] @ turn) == pytest.approx(wanted, rel=1e-8)


def test_both_frames_say_the_same_of_a_motion():
    """A pull F at the right, -F + m a at the left: stresses do not depend on what holds the part in mind."""
    held, free = block_part("left"), block_part("free")
    F, a = 3e4, 20.0
    one = F * held.stiffening["right.x"] + a * held.stiffening["ax"]
    other = F * free.stiffening["right.x"] + (VOLUME_MASS * a - F) * free.stiffening["left.x"]
    assert np.abs(one - other).max() < 1e-7 * np.abs(one).max()


def test_flexible_body_data_carry_them():
    part = beam_part(4)
    data = body_data(part, "root", count=6)
    K = data.stiffening()
    assert {"ax", "wy2", "wz2", "tip.x", "tip.y"} <= set(K)
    S = np.random.default_rng(2).normal(size=6)
    # what stands in Oe beyond the softening of the shapes is the stiffness of the modes
    from fem_mbs.parts.sid import body_frame

    modes = body_frame(part, "root")[0][:, :6]
    wanted = modes.T @ part.stiffening["wz2"] @ modes
    np.testing.assert_allclose(K["wz2"] @ S, wanted @ S, atol=1e-9 * np.abs(wanted).max())


def test_frames_that_are_none():
    with pytest.raises(ModelError, match='frame = "middle" is no interface'):
        beam_part(2, frame="middle")
    with pytest.raises(ModelError, match="does not hold the part"):
        reduce_part(block(), {"left": {"on": "box:x0", "kind": "average", "components": ["x", "y", "z"]}},
                    "rubin", modes=3, stiffening="left", accuracy=0)  # fmt: skip
