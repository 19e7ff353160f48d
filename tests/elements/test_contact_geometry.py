"""Gaps and weights of contacts: faces, tubes and balls on surfaces against vectors of numpy."""

from __future__ import annotations

import numpy as np
import pytest

from fem_mbs.elements.contact import faces, touching, tubes
from fem_mbs.elements.contact.jets import JET, SLOPE

REACH = 0.3
SIZES = [SLOPE, JET]


def smooth_step(t):
    t = np.clip(t, 0.0, 1.0)
    return t**3 * (10 - 15 * t + 6 * t * t)


def scalar_products(u, v, w):
    return np.array([u @ u, v @ v, w @ w, u @ v, u @ w, v @ w])


def turned(rng):
    """A random rotation, in which no axis keeps its place."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.sign(np.diag(r)) * np.sign(np.linalg.det(q) * np.prod(np.sign(np.diag(r))))


# --- faces -----------------------------------------------------------------------------------------------------------
def face(corners, ball, widths, shares=(0.0, 0.0, 0.0), size=JET):
    """Penetration and weight of a ball on a triangle."""
    a, b, c = corners
    par = np.zeros((1, 13))
    par[0, faces.REACH], par[0, faces.ACTIVE] = REACH, 1.0
    par[0, faces.WIDTHS : faces.WIDTHS + 3], par[0, faces.CORNERS : faces.CORNERS + 3] = widths, shares
    Y, W = np.full((1, JET), 7.0), np.full((1, JET), 7.0)
    faces.face_terms(size, par, 0, scalar_products(b - a, c - a, ball - a), Y, W)
    return Y[0], W[0]


def height(corners, i):
    """Height [m] of a triangle over the edge opposite to a corner."""
    a, b, c = (corners[(i + k) % 3] for k in range(3))
    edge = (c - b) / np.linalg.norm(c - b)
    return np.linalg.norm((a - b) - edge * ((a - b) @ edge))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("first", range(3))
def test_weights_of_two_faces_add_up_to_one_over_their_edge(first, size):
    """The triangles have different shapes, and the edge is opposite to each of their corners in turn."""
    width = 0.05
    left, right, ends = np.array((-0.9, 0.2, 0.0)), np.array((1.3, 0.4, 0.0)), np.array(((0, -1.0, 0), (0, 1.2, 0)))
    R = turned(np.random.default_rng(first))
    sums = []
    for x in (-0.06, -0.04, -0.01, 0.0, 0.02, 0.045, 0.07):
        total = 0.0
        for apex, others in ((left, ends), (right, ends[::-1])):
            corners = np.roll(np.array((apex, *others)), first, axis=0) @ R.T
            widths = [width / height(corners, i) for i in range(3)]
            y, w = face(corners, R @ (x, 0.1, 0.2), widths, size=size)
            assert y[0] == pytest.approx(REACH - 0.2, abs=1e-12)
            total += w[0]
        sums.append(total)
    assert sums == pytest.approx(np.ones(len(sums)), abs=1e-12)


def test_weight_of_a_face_is_the_product_of_its_steps():
    rng = np.random.default_rng(5)
    widths, shares = np.array((0.2, 0.3, 0.25)), np.array((3.0, 1.0, -0.2))
    seen = []
    for _ in range(40):
        corners = rng.normal(size=(3, 3))
        place = rng.dirichlet((0.6, 0.6, 0.6)) + rng.choice((0.0, 0.1)) * np.array((-1.0, 2.0, -1.0))
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        distance = rng.uniform(0.1, 0.5)
        ball = place @ corners + distance * normal / np.linalg.norm(normal)
        S = smooth_step(0.5 + 0.5 * place / widths)
        bump = 16 * np.roll(S * (1 - S), -1) * np.roll(S * (1 - S), -2)
        y, w = face(corners, ball, widths, shares)
        assert w[0] == pytest.approx(np.prod(S) * np.prod(1 + shares * bump), abs=1e-9)
        assert y[0] == pytest.approx(REACH - distance, abs=1e-9)
        seen.append(w[0])
    assert min(seen) < 0.1 and max(seen) > 0.5


# --- tubes -----------------------------------------------------------------------------------------------------------
SINES = (0.1, 0.4)
SHARES = (0.3, 0.45)  # of a and b


def tube_pair(a1, a2, b1, b2, ends=(0.0, 0.0, 0.0, 0.0), size=JET):
    """Penetrations and weights of two tubes, and the scalar products."""
    par = np.zeros((1, 18))
    par[0, tubes.REACH], par[0, tubes.ACTIVE] = REACH, 1.0
    par[0, tubes.ENDS : tubes.ENDS + 4] = ends
    par[0, tubes.SHARE_A], par[0, tubes.SHARE_B] = SHARES
    par[0, tubes.SINE0], par[0, tubes.SINE1] = SINES
    Y, W = np.zeros((tubes.TERMS, JET)), np.zeros((tubes.TERMS, JET))
    tubes.tube_terms(size, par, 0, scalar_products(a2 - a1, b2 - b1, b1 - a1), Y, W)
    return Y[:, 0], W[:, 0]


def from_segment(p, a, b):
    """Distance [m] of a point from a segment."""
    x = np.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
    return np.linalg.norm(p - a - x * (b - a))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lengths", [(3.0, 2.0), (0.3, 0.2), (5.0, 0.1)])
@pytest.mark.parametrize("angle", [0.1, 0.4, 0.6, 0.9, 1.4, 2.8])
def test_tubes_blend_points_and_lines_by_their_angle(angle, lengths, size):
    """The weights depend on the angle between the axes alone, not on the lengths of the tubes."""
    distance = 0.21
    R = turned(np.random.default_rng(7))
    along_a, along_b = np.array((1.0, 0.0, 0.0)), np.array((np.cos(angle), np.sin(angle), 0.0))
    a1, a2 = (R @ (x * lengths[0] * along_a) for x in (-0.4, 0.6))
    b1, b2 = (R @ (x * lengths[1] * along_b + (0, 0, distance)) for x in (-0.7, 0.3))
    y, w = tube_pair(a1, a2, b1, b2, size=size)
    Z = smooth_step((np.sin(angle) ** 2 - SINES[0]) / (SINES[1] - SINES[0]))
    lines = (1 - Z) * np.repeat((SHARES[1], SHARES[0]), 2)
    assert w == pytest.approx([Z, *lines], abs=1e-9)
    if Z > 0:
        assert y[0] == pytest.approx(REACH - distance, abs=1e-12)
    if Z < 1:
        gaps = [from_segment(p, a1, a2) for p in (b1, b2)] + [from_segment(p, b1, b2) for p in (a1, a2)]
        assert y[1:] == pytest.approx(REACH - np.array(gaps), abs=1e-12)


def between_segments(a1, a2, b1, b2):
    """Distance [m] of two segments that are not parallel."""
    (x, y), *_ = np.linalg.lstsq(np.column_stack((a2 - a1, b1 - b2)), b1 - a1, rcond=None)
    if 0.0 <= x <= 1.0 and 0.0 <= y <= 1.0:
        return np.linalg.norm(a1 + x * (a2 - a1) - b1 - y * (b2 - b1))
    ends = [from_segment(p, b1, b2) for p in (a1, a2)] + [from_segment(p, a1, a2) for p in (b1, b2)]
    return min(ends)


@pytest.mark.parametrize("size", SIZES)
def test_tubes_that_cross_touch_where_their_segments_are_nearest(size):
    """Both inside, an end of one over the other, or two ends."""
    rng = np.random.default_rng(11)
    kinds = set()
    for _ in range(60):
        a1, a2, b1, b2 = rng.uniform(-1.0, 1.0, size=(4, 3))
        a, b = a2 - a1, b2 - b1
        if np.linalg.norm(np.cross(a, b)) ** 2 < (SINES[1] + 0.05) * (a @ a) * (b @ b):
            continue
        y, w = tube_pair(a1, a2, b1, b2, size=size)
        distance = between_segments(a1, a2, b1, b2)
        assert w == pytest.approx([1.0, 0.0, 0.0, 0.0, 0.0], abs=1e-9)
        assert y[0] == pytest.approx(REACH - distance, abs=1e-9)
        of_a, of_b = (
            min(from_segment(p, *q) for p in e) <= distance + 1e-9
            for e, q in (((a1, a2), (b1, b2)), ((b1, b2), (a1, a2)))
        )
        kinds.add((of_a, of_b))
    assert kinds == {(False, False), (True, False), (False, True), (True, True)}


#: Without compilation it is called as it stands, otherwise by its Python function.
_term_places = getattr(tubes.term_places, "py_func", tubes.term_places)


@pytest.mark.parametrize("lengths", [(0.4, 3.0), (3.0, 0.4)])
def test_ends_of_tubes_lie_over_the_other_tube_no_farther_than_its_free_ends(lengths):
    """Ends that go on in another tube, which are not zero, bound nothing; derivatives by the scalar products."""
    rng = np.random.default_rng(5)
    for flags in np.ndindex(2, 2, 2, 2):
        u, v = (length * a / np.linalg.norm(a) for length, a in zip(lengths, rng.normal(size=(2, 3)), strict=True))
        w = rng.normal(size=3)
        par = np.zeros((1, 18))
        par[0, tubes.ENDS : tubes.ENDS + 4] = flags
        products = scalar_products(u, v, w)
        over_a, over_b = (np.array(flags[:2]), np.array(flags[2:]))
        # the ends of b over a, then those of a over b
        points = ((w, u, over_a), (w + v, u, over_a), (-w, v, over_b), (u - w, v, over_b))
        for k, (point, axis, ends) in enumerate(points, 1):
            by = np.zeros((2, 6))
            at = _term_places(par, 0, k, products, *by)
            place = point @ axis / (axis @ axis)
            place = max(place, 0.0) if ends[0] == 0 else place
            place = min(place, 1.0) if ends[1] == 0 else place
            known = (place, float(k == 2)) if k < 3 else (float(k == 4), place)
            assert at == pytest.approx(known, abs=1e-12)
            for i, step in enumerate(1e-6 * np.eye(6)):
                two = [np.array(_term_places(par, 0, k, products + d, *np.zeros((2, 6)))) for d in (-step, step)]
                assert by[:, i] == pytest.approx((two[1] - two[0]) / 2e-6, rel=1e-6, abs=1e-6)


# --- balls on surfaces -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("state", [0, 1])
@pytest.mark.parametrize("dim", [2, 3])
def test_coordinates_of_a_ball_are_those_in_the_axes_of_the_surface(dim, state):
    """Both ends are turned and have offsets, and the parameters begin in a later column."""
    rng = np.random.default_rng(3)
    first, n = 4, 3 * (dim - 1)
    points, axes = rng.normal(size=(2, dim)), rng.normal(size=(dim, dim))  # offsets of a and b; rows: axes of a
    par = np.zeros((2, first + 3 * dim * dim))
    par[1, first:] = np.concatenate([np.concatenate((axis, *points)) for axis in axes])
    Q, D = rng.normal(size=(2, 2 * n)), np.zeros((2, 2, 2 if dim == 2 else 9))
    R = np.zeros((2, dim, dim))
    for k in range(2):
        if dim == 2:
            c, s = np.cos(1.0 + k), np.sin(1.0 + k)
            R[k], D[state, k] = ((c, -s), (s, c)), (c, s)
        else:
            R[k] = turned(rng)
            D[state, k] = R[k].ravel()
    dof, rot = np.tile(np.arange(2 * n), (2, 1)), np.tile((0, 1), (2, 1))
    p, x, y = np.zeros(dim), np.zeros(dim), np.zeros(dim)
    touching.coordinates(Q, D, dof, rot, par, 1, first, state, p, x, y)
    places = [Q[state, n * k : n * k + dim] + R[k] @ points[k] for k in range(2)]
    assert p == pytest.approx((R[0] @ axes.T).T @ (places[1] - places[0]), abs=1e-12)
