"""Dry friction between surfaces whose slip is a vector: they slide in two directions, or slide and turn at once.

Element types: `friction_plane3`, `friction_cylinder3`, `friction_disc3`.

The components of the slip are rates of displacements s_k of a point along directions fixed in end a, and r times the
rate of the angle phi about the common axis,

    w = (s_1', .., r phi') - v(t)        (v: speed of a running surface along the first direction),

and with the normal force N the forces on these coordinates are N f(w), along their exact difference quotients:

``plane``     two displacements, a point on a plane: f = m(|w|) w/|w|
``cylinder``  one displacement along the axis, and the angle: f = m(|w|) w/|w|, since all points of the surface slip by
              |w|.  Sliding reduces the resistance to turning, and the reverse: along the axis the friction is
              N m(|w|) v/sqrt(v^2 + (r phi')^2).  Let F be the joint's force and M its moment across the axis n about
              the middle of the bearing, a point of b.  The two ends of a bearing of the length l bear F/2 -+ n x M/l,
              and N is the sum of the sizes of both.  l = inf: N = |F|
``disc``      two displacements, and the angle: a ring r_0 < rho < r (disc: r_0 = 0) with the uniform pressure N/A.  Let
              x = (x, y) be the position on the ring over r, V the speed of the centre and W = r phi',

                  f_V = int g (V - W y) dA/A,   f_W = int g (W |x|^2 - V y) dA/A,   g = m(|s|)/|s|,
                  s = (V - W y, W x)

              (Farkas, Bartels, Unger & Wolf, Phys. Rev. Lett. 90, 248302, 2003, for m = mu).  The integrals are sums
              over Gauss points that are dense about the centre of rotation (0, V/W), where s changes its direction.
              For m = mu their error is 2e-5 mu (measured against a rule of 80 000 points)

with m(w) of `fem_mbs.elements.joints.friction`.  A given force f(t) is added to N.  A plane and a disc read
up to three multipliers lambda of the joint, N = |lambda|.  A cylinder reads four: those of both guides, and those of
the two conditions that align the axes.  The loss N f.w h >= 0 and the work of the drive of a running surface are
booked.

Outputs: force (with two displacements its size) and moment against the motion, N and sliding speed (disc: V; others:
|w|) of the step, in one-state rules at its end; displacements and angle at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    COMMIT,
    FORCE,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    START,
    T0,
    T1,
    TANGENT,
    TM,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.common import clear, time_value
from fem_mbs.elements.coordinates import end_velocities, offset_rate, offset_rows, rate_row
from fem_mbs.elements.joints.coordinate import ANGLE, coordinate
from fem_mbs.elements.joints.pressing import READS, book_friction
from fem_mbs.elements.laws import friction_slopes
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

# columns of par: the law, then SIZE (inner radius of a disc, length of a cylinder, unused by a plane), the vectors of
# the displacements and of the angle, and the scales of the multipliers
MU, RADIUS, FUNCTION, SPEED, SIZE, _OFFSETS = 0, 4, 5, 6, 7, 8
_VECTORS = 9  # columns of the three vectors of a displacement
_MOST = 3  # components of the slip
_MOST_READS = 4  # multipliers that an element reads
_TURN = _MOST_READS  # index of the derivative of N by the angle, after those by the multipliers
_ANGLE = coordinate(ANGLE, 3)

# Gauss points of a disc, along a radius and over a quarter of a turn: both dense at their start (first point of a
# panel, direction of the centre of rotation)
_POINTS, _POINT_WEIGHTS = np.polynomial.legendre.leggauss(6)
_ALONG, _ALONG_WEIGHTS = (0.5 * (_POINTS + 1.0)) ** 2, 0.5 * (_POINTS + 1.0) * _POINT_WEIGHTS
_TURNS, _TURN_WEIGHTS = np.polynomial.legendre.leggauss(8)
# components x and y of unit vectors at an angle from the y axis, on which the centre of rotation lies
_COS = np.sin(0.5 * np.pi * (0.5 * (_TURNS + 1.0)) ** 2)
_SIN = np.cos(0.5 * np.pi * (0.5 * (_TURNS + 1.0)) ** 2)
_AROUND_WEIGHTS = 0.5 * (_TURNS + 1.0) * _TURN_WEIGHTS  # each for the two points y and -y; their sum is 1


# --- laws: friction over normal force, as functions of the slip ------------------------------------------------------
@inner
def _surface_law(par, e, w, f, S):
    """Fill f (2,) and its derivatives S (2, 2) by the slip w (2,) [m/s] of a surface all of whose points slip by
    |w|."""
    g, _, bend = friction_slopes(par, e, MU, math.hypot(w[0], w[1]))
    for i in range(2):
        f[i] = g * w[i]
        for j in range(2):
            S[i, j] = bend * w[i] * w[j] + (g if i == j else 0.0)


@inner
def _disc_law(par, e, w, f, S):
    """Fill f (3,) and its derivatives S (3, 3) by the slip w (3,) [m/s]: velocity of the centre, r times angular
    speed."""
    slide, rim = math.hypot(w[0], w[1]), abs(w[2])
    hole = par[e, SIZE] / par[e, RADIUS]
    centre = min(max(slide / rim, hole), 1.0) if slide < rim else 1.0  # of rotation, where the panels meet
    fv = fw = vv = vw = ww = 0.0
    for panel in range(2):
        first, last = (centre, hole) if panel == 0 else (centre, 1.0)
        for i in range(_ALONG.shape[0]):
            rho = first + (last - first) * _ALONG[i]
            ring = 2 * rho * abs(last - first) * _ALONG_WEIGHTS[i] / (1 - hole * hole)
            for j in range(_COS.shape[0]):
                weight = 0.5 * ring * _AROUND_WEIGHTS[j]
                x = rho * _COS[j]
                for side in range(2):  # both points in one sum: odd terms cancel to round-off
                    y = rho * (_SIN[j] if side == 0 else -_SIN[j])
                    sx, sy = slide - rim * y, rim * x
                    g, _, bend = friction_slopes(par, e, MU, math.hypot(sx, sy))
                    t = sy * x - sx * y  # s.ds/dW
                    fv += weight * g * sx
                    fw += weight * g * t
                    vv += weight * (g + bend * sx * sx)
                    vw += weight * (bend * sx * t - g * y)
                    ww += weight * (g * rho * rho + bend * t * t)
    n = scratch(2)
    n[0], n[1] = 1.0, 0.0
    if slide > 0.0:
        n[0], n[1] = w[0] / slide, w[1] / slide
    least = 1e-6 * max(rim, par[e, MU + 3])
    across = fv / slide if slide > least else vv  # vv is the limit of fv/slide at slide = 0
    sign = 1.0 if w[2] >= 0.0 else -1.0
    f[2], S[2, 2] = sign * fw, ww
    for i in range(2):
        f[i] = fv * n[i]
        S[i, 2] = S[2, i] = sign * vw * n[i]
        for j in range(2):
            S[i, j] = (vv - across) * n[i] * n[j] + (across if i == j else 0.0)


# --- normal forces ---------------------------------------------------------------------------------------------------
@inner
def _norm(par, e, x, phi0, phi1, by):
    """Return N = |x| of the multipliers x (3,) [N]; fill by (5,) with its derivatives: by x in by[:3], by the angle
    phi1 (zero) in by[4]."""
    N = math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    for k in range(READS):
        by[k] = x[k] / N if N > 0.0 else 0.0
    by[_TURN] = 0.0
    return N


@inner
def _two_ends(par, e, x, phi0, phi1, by):
    """Return N [N], the sum of the forces that both ends of a cylinder bear; fill by (5,) with its derivatives: by the
    multipliers x (4,) in by[:4], by the angle phi1 at the end of the step in by[4].

    x[:2] [N] are the forces F along the vectors u_a, v_a of end a.  x[2:] [N m] are the moments of the two conditions
    that keep the axis normal to the vectors u_b, v_b of end b.  In the step these vectors turn from phi0 to phi1
    against those of a.  With their means and L = (x_2 u_b + x_3 v_b)/l the two ends bear F/2 + L and F/2 - L.
    """
    c = 0.5 * (math.cos(phi0) + math.cos(phi1)) / par[e, SIZE]
    s = 0.5 * (math.sin(phi0) + math.sin(phi1)) / par[e, SIZE]
    dc, ds = -0.5 * math.sin(phi1) / par[e, SIZE], 0.5 * math.cos(phi1) / par[e, SIZE]
    N = 0.0
    for k in range(_TURN + 1):
        by[k] = 0.0
    for end in range(2):
        sign = 1.0 if end == 0 else -1.0
        pu = 0.5 * x[0] + sign * (c * x[2] - s * x[3])
        pv = 0.5 * x[1] + sign * (s * x[2] + c * x[3])
        size = math.hypot(pu, pv)
        N += size
        if size > 0.0:
            by[0] += 0.5 * pu / size
            by[1] += 0.5 * pv / size
            by[2] += sign * (c * pu + s * pv) / size
            by[3] += sign * (c * pv - s * pu) / size
            by[_TURN] += sign * (pu * (dc * x[2] - ds * x[3]) + pv * (ds * x[2] + dc * x[3])) / size
    return N


@inner
def _read(ctl, par, dof, U, e, reads, x):
    """Fill x (reads,) with the multipliers of the iterate: forces [N], then moments [N m]."""
    for k in range(reads):
        x[k] = par[e, par.shape[1] - reads + k] * U[dof[e, dof.shape[1] - reads + k]] / ctl[SF]


@inner
def _read_at(par, dof, Q, e, reads, state, x):
    """Fill x (reads,) with the multipliers at the end ``state`` (0 or 1) of a step of a one-state rule."""
    for k in range(reads):
        x[k] = par[e, par.shape[1] - reads + k] * Q[state, dof[e, dof.shape[1] - reads + k]]


# --- kernels ---------------------------------------------------------------------------------------------------------
def _force(slides: int, turning: bool, reads: int, law, pressing) -> Callable:
    """Return the force kernel.

    Args:
        slides: number of displacements in the slip; turning: whether the angle is in it.
        reads: number of multipliers that the element reads.
        law: fills f and its derivatives from the slip; pressing: returns N from the multipliers.
    """
    slips = slides + turning
    workspace, angle_rows = _ANGLE.workspace, _ANGLE.rows

    @kernel
    def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        P, B, J = scratch(3, 5, 3), scratch(3, 3, 6), scratch(3, 3, 6)
        rows, ends, bends = np.zeros((_MOST, 12)), np.zeros((_MOST, 12)), np.zeros((_MOST, 12, 12))
        vel, w, f, S, along, turned = scratch(12), scratch(3), scratch(3), scratch(3, 3), scratch(12), scratch(12)
        x, by = scratch(4), scratch(5)
        work = workspace(3)
        angle_column = _OFFSETS + _VECTORS * slides
        one_state = ctl[RULE] == ONE_STATE
        clear(fe, e1 - e0)
        if job == TANGENT:
            clear(ke, e1 - e0)
        for e in range(e0, e1):
            for k in range(slides):
                offset_rows(
                    job, Q, D, U, dof, rot, e, par, _OFFSETS + _VECTORS * k, P, B, J, rows[k], ends[k], bends[k]
                )
            phi0 = phi1 = 0.0
            if turning:
                phi0, phi1, _ = angle_rows(
                    job, ctl, Q, D, U, dof, rot, hist, e, par, angle_column, work, rows[slides], ends[slides],
                    bends[slides],
                )  # fmt: skip
                for i in range(12):
                    rows[slides, i] *= par[e, RADIUS]
            if one_state:
                end_velocities(V, D, dof, rot, 1, e, vel)
            for k in range(slips):
                w[k] = 0.0
                for i in range(12):
                    w[k] += rows[k, i] * (vel[i] if one_state else U[dof[e, i]] / ctl[H])
            w[0] -= time_value(fun, par[e, SPEED], TM, 0.0)
            law(par, e, w, f, S)
            _read(ctl, par, dof, U, e, reads, x)
            N = time_value(fun, par[e, FUNCTION], TM, 0.0) + pressing(par, e, x, phi0, phi1, by)
            for i in range(12):
                along[i] = 0.0
                for k in range(slips):
                    along[i] += f[k] * rows[k, i]
                fe[e - e0, i] = ctl[SF] * N * along[i]
            if job != TANGENT:
                continue
            K = ke[e - e0]
            for i in range(12):
                turned[i] = 0.0
                if turning:
                    turned[i] = ends[slides, i]
                    ends[slides, i] *= par[e, RADIUS]
                    for j in range(12):
                        bends[slides, i, j] *= par[e, RADIUS]
            if one_state:
                for k in range(slips):
                    rate_row(ctl, rows[k], bends[k], vel, ends[k])
            # in one-state rules ``ends`` holds derivatives of rates, which take the factor of the rows
            factor = ctl[SF] if one_state else ctl[SK] / ctl[H]
            for i in range(12):
                for j in range(12):
                    total = ctl[SK] * by[_TURN] * along[i] * turned[j]
                    for k in range(slips):
                        for p in range(slips):
                            total += factor * N * S[k, p] * rows[k, i] * ends[p, j]
                        total += ctl[SK] * N * f[k] * bends[k, i, j]
                    K[i, j] = total
                for k in range(reads):
                    K[i, 12 + k] = par[e, par.shape[1] - reads + k] * by[k] * along[i]

    return force


def _report(slides: int, turning: bool, reads: int, law, pressing) -> Callable:
    """Return the kernel that books work and loss and gives the outputs; arguments as of `_force`."""
    slips = slides + turning
    workspace, angle_step, angle_rate, turns = _ANGLE.workspace, _ANGLE.step, _ANGLE.rate, _ANGLE.turns

    @kernel
    def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        P, B, J = scratch(3, 5, 3), scratch(3, 3, 6), scratch(3, 3, 6)
        row, row1, G = np.zeros(12), np.zeros(12), np.zeros((12, 12))
        X, ds, s1, w, f, S = scratch(4, 3), scratch(3), scratch(3), scratch(2, 3), scratch(3), scratch(3, 3)
        x, by = scratch(4), scratch(5)
        work = workspace(3)
        angle_column = _OFFSETS + _VECTORS * slides
        one_state = ctl[RULE] == ONE_STATE
        for e in range(e0, e1):
            if job == START or job == COMMIT:
                if turning:
                    turns(job == START, ctl, D, U, dof, rot, hist, e, par, angle_column, work, row, row1, G)
                continue
            if job != LEDGER and job != OUTPUT:
                continue
            for k in range(slides):
                column = _OFFSETS + _VECTORS * k
                s0, s1[k] = offset_rows(FORCE, Q, D, U, dof, rot, e, par, column, P, B, J, row, row1, G)
                ds[k] = s1[k] - s0
                if one_state:
                    for state in range(2):
                        w[state, k] = offset_rate(V, D, dof, rot, state, e, P, X[:2], X[2:])
                    continue
                ds[k] = 0.0
                for i in range(12):
                    ds[k] += row[i] * U[dof[e, i]]
                w[0, k] = w[1, k] = ds[k] / ctl[H]
            r, phi0, phi1 = par[e, RADIUS], 0.0, 0.0
            if turning:
                phi0, phi1, turn = angle_step(ctl, Q, D, U, dof, rot, hist, e, par, angle_column, work, row, row1, G)
                s1[slides], ds[slides] = phi1, r * turn
                for state in range(2):
                    rate = angle_rate(V, D, dof, rot, state, e, work) if one_state else turn / ctl[H]
                    w[state, slides] = r * rate
            work_done = moved = N = 0.0
            for state in range(2):
                time, first, last = TM, phi0, phi1
                if one_state:
                    time, last = (T0, phi0) if state == 0 else (T1, phi1)
                    first = last
                    _read_at(par, dof, Q, e, reads, state, x)
                else:
                    _read(ctl, par, dof, U, e, reads, x)
                v = time_value(fun, par[e, SPEED], time, 0.0)
                w[state, 0] -= v
                law(par, e, w[state], f, S)
                N = time_value(fun, par[e, FUNCTION], time, 0.0) + pressing(par, e, x, first, last, by)
                for k in range(slips):
                    work_done += 0.5 * N * f[k] * ds[k]
                moved -= 0.5 * N * f[0] * v * ctl[H]
            out = fe[e - e0]
            if job == LEDGER:
                book_friction(ctl, out, work_done, moved)
                continue
            out[0] = N * (f[0] if slides == 1 else math.hypot(f[0], f[1]))
            if turning:
                out[1] = r * N * f[slides]
            out[1 + turning] = N
            out[2 + turning] = math.hypot(w[1, 0], w[1, 1])
            for k in range(slips):
                out[3 + turning + k] = s1[k]

    return report


def _type(name: str, slides: int, turning: bool, reads: int, law, pressing, size: str) -> ElementType:
    points = tuple(f"a{c}_{end}" for end in "ab" for c in "xyz")
    offsets = tuple(
        f"{column}{mark} [m]" if column[0] == "a" else f"{column}{mark}"
        for mark in ("", "2")[:slides]
        for column in ("ex", "ey", "ez", *points)
    )
    law_columns = (
        "coefficient", "static coefficient", "Stribeck speed [m/s]", "smoothing speed [m/s]", "radius [m]", "function",
        "reference rate",
    )  # fmt: skip
    angle = _ANGLE.columns if turning else ()
    displacements = ("displacement [m]",) if slides == 1 else ("displacement 1 [m]", "displacement 2 [m]")
    return ElementType(
        name=name,
        dimension=3,
        ends=2,
        rotational=True,
        par=(*law_columns, size, *offsets, *angle, *(f"scale {k + 1}" for k in range(reads))),
        hist=1 if turning else 0,
        turns=turning,
        outputs=(
            "force [N]", *(("moment [N m]",) if turning else ()), "normal force [N]", "sliding speed [m/s]",
            *displacements, *(("angle [rad]",) if turning else ()),
        ),
        force=_force(slides, turning, reads, law, pressing),
        report=_report(slides, turning, reads, law, pressing),
        reads=reads,
        reads_moments=reads > READS,
    )  # fmt: skip


TYPES = {
    t.name: t
    for t in (
        _type("friction_plane3", 2, False, READS, _surface_law, _norm, "along"),
        _type("friction_cylinder3", 1, True, _MOST_READS, _surface_law, _two_ends, "length [m]"),
        _type("friction_disc3", 2, True, READS, _disc_law, _norm, "inner radius [m]"),
    )
}
