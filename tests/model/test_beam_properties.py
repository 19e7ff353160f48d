"""Stiffness, mass, axes and reference strains of spatial beams against closed forms and independent integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad_vec
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from fem_mbs.errors import ModelError
from fem_mbs.properties.beams import (
    Reference,
    SectionLine,
    along_axis,
    arc_length,
    bending_shares,
    element_mass,
    element_stiffness,
    fold,
    line_positions,
    reference_strains,
    section_triads,
    smooth_tangents,
    twisted,
)
from fem_mbs.properties.materials import Material
from fem_mbs.properties.sections import make_section

STEEL = Material("steel", 2.1e11, 0.3, density=7850)
NUMBERS = {"EA": 3e6, "GAy": 8e5, "GAz": 5e5, "GJ": 40.0, "EIy": 70.0, "EIz": 200.0}
DENSITY = {"rhoA": 2.0, "rhoIy": 3e-3, "rhoIz": 5e-3}


def stiff(**more):
    return make_section("s", "stiffness", **{**NUMBERS, **DENSITY, **more})


def uniform(section, material=None, shear=True):
    return SectionLine(section, section, material, shear)


def closed_form(L, EA, GAy, GAz, GJ, EIy, EIz):
    """Meijaard 1993, eq. 6."""
    S = np.zeros((6, 6))
    S[0, 0], S[1, 1] = EA / L, GJ / L**3
    for o, EI, GA in ((2, EIy, GAz), (4, EIz, GAy)):
        phi = 12.0 * EI / (GA * L * L)
        S[o : o + 2, o : o + 2] = EI / ((1.0 + phi) * L**3) * np.array([[4 + phi, phi - 2], [phi - 2, 4 + phi]])
    return S


def same(a, b, tolerance=1e-13):
    """Equal to round-off, rows and columns measured by the diagonal of b."""
    d = np.sqrt(np.abs(np.diagonal(b, axis1=-2, axis2=-1)))
    assert np.abs((a - b) / (d[..., :, None] * d[..., None, :])).max() < tolerance


# --- stiffness -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("L", [0.01, 0.3, 50.0])
def test_prismatic_is_the_closed_form(L):
    same(element_stiffness(uniform(stiff()), [L]), closed_form(L, **NUMBERS)[None], 2e-11 if L < 0.1 else 1e-12)
    unshearable = closed_form(L, **{**NUMBERS, "GAy": np.inf, "GAz": np.inf})
    same(element_stiffness(uniform(stiff(), shear=False), [L]), unshearable[None])
    same(element_stiffness(uniform(stiff(GAy=np.inf, GAz=np.inf)), [L]), unshearable[None])


def test_coupled_section_is_a_line_beside_the_axes():
    """Force and bending act at the centroid, shear and torsion at the shear centre: strains of those lines."""
    L, yc, zc, ys, zs = 0.7, 0.03, -0.02, -0.05, 0.01
    T = np.eye(6)
    T[0, 2:] = zc / L, zc / L, -yc / L, -yc / L
    T[2:, 1] = -ys / L, ys / L, -zs / L, zs / L
    section = stiff(centroid=[yc, zc], shear_centre=[ys, zs])
    expected = T.T @ closed_form(L, **NUMBERS) @ T
    same(element_stiffness(uniform(section), [L, L]), np.array([expected, expected]), 1e-11)
    p = section.properties(None)
    matrix = make_section("m", "matrix", stiffness=p.stiffness.tolist(), mass=np.zeros((6, 6)).tolist())
    same(element_stiffness(uniform(matrix), [L]), expected[None], 1e-10)


def test_turned_axes():
    turned = element_stiffness(uniform(stiff(rotate=90.0)), [0.4])[0]
    other = {**NUMBERS, "GAy": NUMBERS["GAz"], "GAz": NUMBERS["GAy"], "EIy": NUMBERS["EIz"], "EIz": NUMBERS["EIy"]}
    same(turned, closed_form(0.4, **other), 1e-12)
    # the work of a turned beam does not depend on who turns the axes
    angle = np.radians(25.0)
    c, s = np.cos(angle), np.sin(angle)
    T = np.eye(6)
    T[2:, 2:] = np.kron(np.array([[c, s], [-s, c]]), np.eye(2))
    expected = T.T @ closed_form(0.4, **NUMBERS) @ T
    same(element_stiffness(uniform(stiff(rotate=25.0)), [0.4])[0], expected, 1e-12)


def test_taper_by_integration():
    """Between two rectangles: the flexibility of the whole from dimensions at every place; parts add up."""
    a = make_section("a", "rectangle", width=0.02, height=0.05)
    b = make_section("b", "rectangle", width=0.03, height=0.02)
    line, L = SectionLine(a, b, STEEL), 0.6

    def flexibility(xi):
        section = make_section("x", "rectangle", width=0.02 + 0.01 * xi, height=0.05 - 0.03 * xi)
        H = np.zeros((6, 6))
        H[0, 0] = H[1, 4] = H[2, 3] = 1.0
        H[1, 5] = H[2, 2] = -1.0
        H[3, 1], H[4, 2], H[4, 3], H[5, 4], H[5, 5] = L, L * (1 - xi), L * xi, L * (1 - xi), L * xi
        return L * H.T @ section.properties(STEEL).flexibility @ H

    expected = np.linalg.inv(quad_vec(flexibility, 0.0, 1.0, epsrel=1e-12)[0])
    same(element_stiffness(line, [L])[0], expected, 1e-9)
    mass = quad_vec(lambda x: STEEL.density * L * (0.02 + 0.01 * x) * (0.05 - 0.03 * x), 0, 1)[0]
    thirds = np.arange(3) / 3
    M = element_mass("lumped", line, np.full(3, L / 3), thirds, thirds + 1 / 3)
    assert M[:, [0, 4], [0, 4]].sum() == pytest.approx(mass, rel=1e-13)


def test_taper_between_shapes():
    """Matrices are linear in between; moments of mass about the line too."""
    a = stiff(rhoA=1.0, mass_centre=[0.1, 0.0])
    b = make_section("b", "rectangle", width=0.02, height=0.03)
    p, q = a.properties(None), b.properties(STEEL)
    m = SectionLine(a, b, STEEL).at(np.array([0.0, 0.25, 1.0]))
    for part in ("stiffness", "flexibility", "rhoA", "mass_centre", "euler"):
        np.testing.assert_allclose(getattr(m, part)[0], getattr(p, part), rtol=1e-12, atol=1e-16)
        np.testing.assert_allclose(getattr(m, part)[2], getattr(q, part), rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(m.stiffness[1], 0.75 * p.stiffness + 0.25 * q.stiffness, rtol=1e-13)
    with pytest.raises(ModelError, match="must be finite; give both the same shape"):
        SectionLine(stiff(GAy=np.inf), b, STEEL).at(np.array([0.5]))
    with pytest.raises(ModelError, match="GAy is infinite in this section or in"):
        SectionLine(stiff(GAy=np.inf), stiff(), None).at(np.array([0.5]))
    both = SectionLine(stiff(GAy=np.inf, EIz=100.0), stiff(GAy=np.inf, EIz=300.0), None).at(np.array([0.5]))
    assert both.flexibility[0, 1, 1] == 0.0
    assert 1.0 / both.flexibility[0, 5, 5] == pytest.approx(200.0)


def test_infinite_stiffness_needs_a_fixed_strain():
    cases = [({"EA": np.inf}, "extension"), ({"GJ": np.inf}, "torsion")]
    cases += [({"EIy": np.inf, "GAz": np.inf}, "bending y"), ({"EIz": np.inf}, "bending z")]
    for keys, name in cases:
        with pytest.raises(ModelError, match=f'Beam "b": element 0 is infinitely stiff in {name}.*fixed = ."{name}"'):
            element_stiffness(uniform(stiff(**keys)), [1.0], owner='Beam "b"')
    S = element_stiffness(uniform(stiff(EA=np.inf, GJ=np.inf)), [0.5], fixed=(0, 1))[0]
    same(S[2:, 2:], closed_form(0.5, **NUMBERS)[2:, 2:], 1e-12)
    assert not S[:2].any()
    everything = dict.fromkeys(NUMBERS, np.inf)
    assert not element_stiffness(uniform(stiff(**everything)), [0.5], fixed=range(6)).any()


def test_infinite_is_the_limit_of_stiff():
    """What is left free beside a fixed strain, coupled to it by the centroid."""
    places = {"centroid": [0.02, 0.01], "shear_centre": [0.0, 0.03]}
    rigid = element_stiffness(uniform(stiff(EIz=np.inf, **places)), [0.5], fixed=(4, 5))[0]
    near = element_stiffness(uniform(stiff(EIz=1e12, **places)), [0.5], fixed=(4, 5))[0]
    free = [0, 1, 2, 3]
    same(rigid[np.ix_(free, free)], near[np.ix_(free, free)], 1e-6)
    # a fixed strain of finite stiffness changes nothing of S
    same(
        element_stiffness(uniform(stiff(**places)), [0.5], fixed=(0, 3)),
        element_stiffness(uniform(stiff(**places)), [0.5]),
    )


@pytest.mark.parametrize("strains", ["exact", "generalised", "corotational"])
def test_straight_is_a_special_case_of_curved(strains):
    A = Rotation.random(2, random_state=10).as_matrix()
    L = np.array([0.4, 0.7])
    line = uniform(stiff(centroid=[0.03, -0.02], shear_centre=[-0.05, 0.01]))
    straight = Reference(strains, L[:, None] * A[..., 0], A, A, True, bending_shares(line, L))
    same(element_stiffness(line, L, reference=straight), element_stiffness(line, L), 1e-11)


@pytest.mark.parametrize("strains", ["exact", "generalised", "corotational"])
def test_gradients_of_strains(strains):
    chord, A, _, L = bent(0.4)
    shares = np.array([[[0.7, 0.1], [0.1, 0.4]]])
    place, spin = Reference(strains, chord, A[:1], A[1:], True, shares).gradients(L)
    step = 1e-6
    for k, unit in enumerate(np.eye(3)):
        chords = [chord + f * unit for f in (step, -step)]
        plus, minus = (reference_strains(strains, l, A[:1], A[1:], L, True, shares) for l in chords)
        np.testing.assert_allclose(place[..., k], (plus - minus) / (2 * step), atol=1e-9)
        turns = [Rotation.from_rotvec(f * unit).as_matrix() @ A[1:] for f in (step, -step)]
        plus, minus = (reference_strains(strains, chord, A[:1], turn, L, True, shares) for turn in turns)
        np.testing.assert_allclose(spin[..., k], (plus - minus) / (2 * step), atol=1e-9)


# --- mass ------------------------------------------------------------------------------------------------------------
def rigid_energy(M, x, A, v, w):
    """Kinetic energy of ends x (2, 3) with axes A (2, 3, 3) that move as one body."""
    y = np.zeros((2, 4, 3))
    y[:, 0] = v + np.cross(w, x)
    y[:, 1:] = np.cross(w, A.swapaxes(1, 2))
    y = y.reshape(8, 3)
    return 0.5 * np.einsum("ij,ik,jk->", M, y, y)


@pytest.mark.parametrize("kind", ["hermite", "consistent"])
@pytest.mark.parametrize("tapered", [False, True])
def test_mass_of_rigid_motions(kind, tapered):
    """Every rigid motion of a straight element, against fibres of mass summed along it."""
    rng = np.random.default_rng(1)
    places = {"mass_centre": [0.06, -0.04], "rhoIx": 7e-3, "rotate": 20.0}
    a = stiff(**places)
    b = stiff(rhoA=3.0, rhoIy=4e-3, rhoIz=6e-3, mass_centre=[0.01, 0.02], rhoIx=8e-3, rotate=20.0) if tapered else a
    line, L = SectionLine(a, b, None), 0.8
    M = element_mass(kind, line, [L])[0]
    np.testing.assert_allclose(M, M.T, atol=1e-16)
    A = Rotation.random(random_state=2).as_matrix()
    p = rng.normal(size=3)
    x = np.array([p, p + L * A[:, 0]])
    xi, weight = np.polynomial.legendre.leggauss(30)
    xi, weight = 0.5 * (xi + 1.0), 0.5 * L * weight
    section = line.at(xi)
    shape = xi.shape
    rhoA = np.broadcast_to(section.rhoA, shape)
    centre = np.broadcast_to(section.mass_centre, (*shape, 2))
    euler = np.broadcast_to(section.euler, (*shape, 3, 3))
    for v, w in rng.normal(size=(5, 2, 3)):
        r = p + np.outer(xi * L, A[:, 0]) + centre @ A[:, 1:].T
        speed = v + np.cross(w, r)
        turning = np.cross(w, A.T)
        expected = 0.5 * weight @ (rhoA * (speed**2).sum(axis=1) + np.einsum("gij,ik,jk->g", euler, turning, turning))
        assert rigid_energy(M, x, np.array([A, A]), v, w) == pytest.approx(expected, rel=1e-13)


def test_hermite_is_the_matrix_of_the_paper():
    L = 0.8
    M = element_mass("hermite", uniform(stiff(rhoIy=0.0, rhoIz=0.0)), [L])[0]
    table = np.array([[156, 22 * L, 54, -13 * L], [22 * L, 4 * L * L, 13 * L, -3 * L * L], [54, 13 * L, 156, -22 * L]])
    table = np.vstack([table, [-13 * L, -3 * L * L, -22 * L, 4 * L * L]]) * 2.0 * L / 420.0
    np.testing.assert_allclose(M[np.ix_([0, 1, 4, 5], [0, 1, 4, 5])], table, rtol=1e-13)


def test_lumped_mass_keeps_mass_and_centre():
    line, L = uniform(stiff(mass_centre=[0.1, 0.2])), 0.8
    M = element_mass("lumped", line, [L])[0]
    assert M[:4, 4:].sum() == 0.0
    assert M[[0, 4], [0, 4]].sum() == pytest.approx(2.0 * L)
    np.testing.assert_allclose(M[0, 1:4], np.array([0.0, 0.1, 0.2]) * L, rtol=1e-13)
    np.testing.assert_allclose(M[1:4, 1:4].diagonal(), L / 2 * np.array([0, 5e-3 + 0.02, 3e-3 + 0.08]), rtol=1e-13)


def test_folded_mass_is_that_of_the_offset_beam():
    """Offsets and axes in the nodes' bodies: the same energy, so the parallel-axis theorem."""
    rng = np.random.default_rng(3)
    line, L = uniform(stiff(mass_centre=[0.06, -0.04])), 0.8
    R = Rotation.random(2, random_state=4).as_matrix()
    A = Rotation.random(random_state=5).as_matrix()
    ends = rng.normal(size=3) + np.outer([0.0, L], A[:, 0])
    offsets = rng.normal(size=(2, 3))
    nodes = ends - np.einsum("eij,ej->ei", R, offsets)
    triads = R.swapaxes(1, 2) @ A
    M = element_mass("hermite", line, [L])
    folded = fold(M, offsets[None], triads[None])[0]
    for v, w in rng.normal(size=(3, 2, 3)):
        expected = rigid_energy(M[0], ends, np.array([A, A]), v, w)
        assert rigid_energy(folded, nodes, R, v, w) == pytest.approx(expected, rel=1e-12)


# --- places and axes -------------------------------------------------------------------------------------------------
def test_line_positions_in_any_order():
    nodes = np.array([7, 3, 9, 1, 4, 0])
    cells = np.column_stack([nodes[:-1], nodes[1:]])
    length = np.array([1.0, 2.0, 3.0, 4.0, 10.0])
    order = np.array([3, 0, 4, 2, 1])
    start, end, first, last = line_positions(cells[order], length[order], "Beam", "a taper")
    whole = np.cumsum(length) / 20.0
    np.testing.assert_allclose(end, whole[order])
    np.testing.assert_allclose(start, (whole - length / 20.0)[order], atol=1e-16)
    assert (first, last) == (7, 0)
    for bad in (np.array([[0, 1], [1, 2], [2, 0]]), np.array([[0, 1], [0, 2]]), np.array([[0, 1], [2, 3]])):
        with pytest.raises(ModelError, match='Beam "b": a taper needs cells that make one line'):
            line_positions(bad, np.ones(len(bad)), 'Beam "b"', "a taper")


def circle(angles):
    x = np.column_stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)])
    return x, np.column_stack([-np.sin(angles), np.cos(angles), np.zeros_like(angles)])


def test_tangents_and_length_of_an_arc():
    x, tangent = circle(np.linspace(0.3, 2.1, 7))
    cells = np.column_stack([np.arange(6), np.arange(1, 7)])[::-1]
    chords = x[cells[:, 1]] - x[cells[:, 0]]
    tp, tq = smooth_tangents(cells, chords, "Beam")
    np.testing.assert_allclose(tp, tangent[cells[:, 0]], atol=1e-14)
    np.testing.assert_allclose(tq, tangent[cells[:, 1]], atol=1e-14)
    np.testing.assert_allclose(arc_length(chords, tp, tq), 0.3, rtol=1e-13)
    ring = np.column_stack([np.arange(8), np.roll(np.arange(8), -1)])
    x, tangent = circle(np.arange(8) * np.pi / 4)
    tp, tq = smooth_tangents(ring, x[ring[:, 1]] - x[ring[:, 0]], "Beam")
    np.testing.assert_allclose(tp, tangent, atol=1e-14)
    with pytest.raises(ModelError, match="head to tail"):
        smooth_tangents(np.array([[0, 1], [2, 1]]), np.eye(3)[:2], "Beam")
    alone = smooth_tangents(np.array([[0, 1]]), np.array([[0.0, 2.0, 0.0]]), "Beam")
    np.testing.assert_array_equal(alone, np.array([[[0.0, 1.0, 0.0]]] * 2))


def test_tangents_of_unequal_elements():
    """Exact on a circle; on an ellipse the error falls with the square of the lengths, by 4 when they are halved."""
    errors = []
    for n in (16, 32, 64):
        s = np.linspace(0.0, 1.0, n + 1)
        x, tangent = circle(1.5 * (s + 0.2 * np.sin(3.0 * s)))
        cells = np.column_stack([np.arange(n), np.arange(1, n + 1)])
        tp, _ = smooth_tangents(cells, np.diff(x, axis=0), "Beam")
        np.testing.assert_allclose(tp[1:], tangent[1:n], atol=1e-13)
        stretch = np.array([1.0, 2.0, 1.0])
        tangent = tangent * stretch
        tangent /= np.linalg.norm(tangent, axis=1)[:, None]
        tp, _ = smooth_tangents(cells, np.diff(x * stretch, axis=0), "Beam")
        errors.append(np.abs(tp[1:] - tangent[1:n]).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)
    assert errors[1] / errors[2] == pytest.approx(4.0, abs=0.2)


def test_axes():
    rng = np.random.default_rng(6)
    ex = rng.normal(size=(20, 3))
    ex /= np.linalg.norm(ex, axis=1)[:, None]
    v = rng.normal(size=(20, 3))
    A, B = section_triads(ex, ex, v, v)
    np.testing.assert_array_equal(A, B)
    np.testing.assert_allclose(A.swapaxes(1, 2) @ A, np.broadcast_to(np.eye(3), A.shape), atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(A), 1.0)
    assert (np.einsum("ni,ni->n", A[..., 1], v) > 0).all()
    np.testing.assert_allclose(np.einsum("ni,ni->n", A[..., 2], v), 0.0, atol=1e-14)
    # without orientation: the axes of a plane model, whichever way the beam runs
    angle = np.linspace(0.0, 6.0, 9)
    ex = np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    A, _ = section_triads(ex, ex)
    np.testing.assert_allclose(A[..., 2], np.broadcast_to([0.0, 0.0, 1.0], (9, 3)), atol=1e-15)
    upright = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    np.testing.assert_allclose(section_triads(upright, upright)[0][..., 1], [[0, 1, 0], [0, 1, 0]], atol=1e-15)
    # a curved line through the z axis keeps one rule
    ex = np.column_stack([np.cos(angle), 0.0 * angle, np.sin(angle)])
    A, _ = section_triads(ex, ex, curved=True)
    np.testing.assert_allclose(A[..., 1], np.broadcast_to([0.0, 1.0, 0.0], (9, 3)), atol=1e-15)
    with pytest.raises(ModelError, match=r'Beam "b": orientation \(2, 0, 0\) is parallel to element 0'):
        section_triads(np.eye(3)[:1], np.eye(3)[:1], np.array([2.0, 0, 0]), np.array([2.0, 0, 0]), 'Beam "b"')
    with pytest.raises(ModelError, match="orientation of element 0 has no length"):
        section_triads(np.eye(3)[:1], np.eye(3)[:1], np.zeros(3), np.zeros(3))


def test_twisted_axes():
    A = Rotation.random(3, random_state=7).as_matrix()
    angle = np.array([0.3, -0.2, 2.0])
    expected = A @ Rotation.from_rotvec(np.column_stack([angle, 0 * angle, 0 * angle])).as_matrix()
    np.testing.assert_allclose(twisted(A, angle), expected, atol=1e-15)


# --- reference strains -----------------------------------------------------------------------------------------------
def bent(epsilon, seed=8):
    """A chord along x and end axes that are turned by rotation vectors of size epsilon."""
    rng = np.random.default_rng(seed)
    L = 0.7
    turns = epsilon * rng.normal(size=(2, 3))
    A = Rotation.from_rotvec(turns).as_matrix()
    return np.array([[L * (1.0 + 0.1 * epsilon**2), 0.0, 0.0]]), A, turns, np.array([L])


@pytest.mark.parametrize("strains", ["exact", "generalised", "corotational"])
def test_strains_are_rotations_to_first_order(strains):
    chord, A, t, L = bent(1e-5)
    e = reference_strains(strains, chord, A[:1], A[1:], L)[0] / L
    p, q = t
    expected = [0.0, q[0] - p[0], -p[1], q[1], -p[2], q[2]]
    np.testing.assert_allclose(e[1:], expected[1:], atol=1e-9)


@pytest.mark.parametrize("second_order", [False, True])
def test_strains_do_not_see_rigid_rotations(second_order):
    chord, A, _, L = bent(0.4)
    R = Rotation.random(random_state=9).as_matrix()
    for strains in ("exact", "generalised", "corotational"):
        e = reference_strains(strains, chord, A[:1], A[1:], L, second_order)
        turned = reference_strains(strains, chord @ R.T, R @ A[:1], R @ A[1:], L, second_order)
        np.testing.assert_allclose(turned, e, atol=1e-15)


def test_strains_agree_to_second_order():
    """Without shear and extension all kinds with their second-order terms differ by terms of third order only: by 8
    when everything is halved."""
    gaps = []
    for epsilon in (0.08, 0.04, 0.02):
        chord, A, _, L = bent(epsilon)
        kinds = ("exact", "generalised", "corotational")
        e = [reference_strains(s, chord, A[:1], A[1:], L) for s in kinds]
        gaps.append([np.abs(e[0] - e[1]).max(), np.abs(e[1] - e[2]).max()])
    ratios = np.array(gaps[:-1]) / gaps[1:]
    assert (ratios > 7.0).all()


def test_shares_of_bending():
    """Of a prismatic section 1/(1 + 12 EI/(GA L^2)) per plane, in turned axes the same in others; limits 1 and 0."""
    L = np.array([0.3, 0.8])
    y, z = (1.0 / (1.0 + 12.0 * NUMBERS[i] / (NUMBERS[g] * L**2)) for i, g in (("EIz", "GAy"), ("EIy", "GAz")))
    shares = bending_shares(uniform(stiff()), L)
    same(shares[:, [0, 1], [0, 1]], np.stack([y, z], axis=1), 1e-12)
    assert not shares[:, [0, 1], [1, 0]].any()
    angle = np.radians(25.0)
    T = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    same(bending_shares(uniform(stiff(rotate=25.0)), L), T @ shares @ T.T, 1e-12)
    np.testing.assert_allclose(bending_shares(uniform(stiff(), shear=False), L), np.array([np.eye(2)] * 2), atol=1e-14)
    assert not bending_shares(uniform(stiff(EIy=np.inf, EIz=np.inf)), L).any()


def test_exact_strains_of_a_helix():
    """Ends of a line with constant strains, by the exponential of its motion: the strains are those, however large."""
    L = np.array([0.7])
    for seed in range(5):
        rng = np.random.default_rng(seed)
        stretch, psi = np.eye(3)[0] + rng.uniform(-0.5, 0.5, 3), rng.uniform(-1.5, 1.5, 3)
        motion = np.zeros((4, 4))
        motion[:3, :3] = np.cross(np.eye(3), psi)
        motion[:3, 3] = L[0] * stretch
        motion = expm(motion)
        e = reference_strains("exact", motion[None, :3, 3], np.eye(3)[None], motion[None, :3, :3], L, False)
        _, d, _ = along_axis(np.zeros((1, 6, 6)), e, ())
        np.testing.assert_allclose(d[0] / L, np.r_[stretch - np.eye(3)[0], psi], atol=1e-14)


def test_natural_strains_measure_angles():
    """Twist about the chord and bending in one plane are the angles themselves, however large."""
    L = np.array([0.7])
    chord = np.array([[0.7, 0.0, 0.0]])
    A = Rotation.from_rotvec([[0.0, 0.0, -1.1], [0.0, 0.0, 0.8]]).as_matrix()
    e = reference_strains("corotational", chord, A[:1], A[1:], L, False)[0] / L
    np.testing.assert_allclose(e, [0.0, 0.0, 0.0, 0.0, 1.1, 0.8], atol=1e-15)
    A = Rotation.from_rotvec([[0.0, 0.0, 0.0], [2.5, 0.0, 0.0]]).as_matrix()
    e = reference_strains("corotational", chord, A[:1], A[1:], L, False)[0] / L
    np.testing.assert_allclose(e, [0.0, 2.5, 0.0, 0.0, 0.0, 0.0], atol=1e-15)
