"""Ideal rolling of a disc on a plane fixed in space: `disc_touch3` (the disc touches the plane) and `disc_roll3` (it
does not slip).

The disc turns with its node at x: centre c from the node, axis a, radius R to the outside of its tread, whose section
is a circle of the radius rho (0: a knife edge; R: a ball).  The plane goes through p and has the normal n.  With
d = n - (n.a) a and s = |d|, the point of contact is at r = c - (R - rho) d/s - rho n from the node.

``disc_touch3`` is holonomic.  As in `fem_mbs.elements.joints.basic`, its row is the constraint g at the end of the
step, and its forces act along an exact difference quotient G_m (m: mean of both ends; here c0 and c1 are n.a at the
ends, and s1 - s0 = -(c0 + c1)/(s0 + s1) (c1 - c0)):

    g = n.(x + c - p) - (R - rho) s - rho = 0,
    G_m = [n; c_m x n + (R - rho) k a_m x n],   k = (c0 + c1)/(s0 + s1).

``disc_roll3`` is nonholonomic: the material point at the contact has no velocity along the two directions t of
the plane,

    t.(v + w x r) = 0;   two-state rules: t.(dx + theta x r_m) = 0,   forces [t; r_m x t] lambda,

where r_m is r of the mean directors.  The forces do no work in a step, so energy is kept to round-off.  One-state rules
have the row t.(v + w x r)/(dv/du) at the end of the step.  In statics there are no velocities: the row is 0, and its
tangent allows rolling but no sliding in each iteration.

Outputs: the force [N] of the plane on the disc, in global axes, and its moment [N m] about the centre.
Source: Lagrange-d'Alembert principle.  The tests compare with the linear equations of the bicycle in Meijaard,
Papadopoulos, Ruina & Schwab 2007, doi:10.1098/rspa.2007.1857, section 3.
"""

from __future__ import annotations

import math

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import ONE_STATE, OUTPUT, RULE, SF, TANGENT, TWO, WATCH, WV, inner, kernel
from fem_mbs.elements.common import clear
from fem_mbs.elements.kinematics import cayley_tangent, cross, rotate, spin
from fem_mbs.elements.registry import ElementType, Watch

__all__ = ["TYPES"]

# columns of par
SCALE, RING, CROWN, NORMAL, CENTRE, AXIS = 0, 1, 2, 3, 6, 9  # RING: R - rho, CROWN: rho
PLACE = 12  # of `disc_touch3`: a point of the plane
ALONG, ACROSS = 12, 15  # of `disc_roll3`: both directions t in the plane
_SHAPE = (
    "scale", "radius less crown [m]", "crown radius [m]", "nx", "ny", "nz", "cx [m]", "cy [m]", "cz [m]", "ax", "ay",
    "az",
)  # fmt: skip


@inner
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def _means(ctl, D, row, par, e, centre, axis, ends):
    """Fill ``centre`` and ``axis`` (3,) with their means over the step, ends (2, 3) with their values at the end.

    One-state rules have no means: all values are those of the end.  ``row``: row of D with the directors of the node.
    """
    for k in range(2):
        column = CENTRE if k == 0 else AXIS
        mean = centre if k == 0 else axis
        x, y, z = par[e, column], par[e, column + 1], par[e, column + 2]
        rotate(D, 1, row, x, y, z, ends[k])
        for i in range(3):
            mean[i] = ends[k, i]
        if ctl[RULE] != ONE_STATE:
            first = D[0, row]
            for i in range(3):
                mean[i] = 0.5 * (ends[k, i] + first[3 * i] * x + first[3 * i + 1] * y + first[3 * i + 2] * z)


@inner
def _half_turns(ctl, ends, T, C, A):
    """Fill C and A (3, 3) with the derivatives of the mean of centre and axis by the Cayley vector of the step: half of
    those of ``ends``, their values at the end.

    One-state rules need twice these values: the caller multiplies by ctl[TWO], as in all tangents of forces.
    ``T`` (3, 3): tangent of the Cayley map.
    """
    for j in range(3):
        for k in range(2):
            a, M = ends[k], (C if k == 0 else A)
            M[0, j] = 0.5 * (T[1, j] * a[2] - T[2, j] * a[1])
            M[1, j] = 0.5 * (T[2, j] * a[0] - T[0, j] * a[2])
            M[2, j] = 0.5 * (T[0, j] * a[1] - T[1, j] * a[0])


@inner
def _touching_point(par, e, centre, axis, C, A, r, B):
    """Fill r (3,) with the vector [m] from the node to the point of contact, and B (3, 3) with its derivative by the
    Cayley vector, from the derivatives C of the centre and A of the axis."""
    n = par[e, NORMAL : NORMAL + 3]
    d = scratch(3)
    ring = par[e, RING]
    c = _dot(n, axis)
    for i in range(3):
        d[i] = n[i] - c * axis[i]
    s = max(math.sqrt(_dot(d, d)), 1e-12)
    for i in range(3):
        d[i] /= s
        r[i] = centre[i] - ring * d[i] - par[e, CROWN] * n[i]
    for j in range(3):
        dc = n[0] * A[0, j] + n[1] * A[1, j] + n[2] * A[2, j]
        along = 0.0
        for i in range(3):
            along -= d[i] * (dc * axis[i] + c * A[i, j])
        for i in range(3):
            B[i, j] = C[i, j] - ring / s * (-dc * axis[i] - c * A[i, j] - along * d[i])


# --- touching --------------------------------------------------------------------------------------------------------
@inner
def _sine(c):
    return math.sqrt(max(1.0 - c * c, 1e-24))


@kernel
def _touch(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    centre, axis, first = scratch(3), scratch(3), scratch(3)
    cn, an, v, w = scratch(3), scratch(3), scratch(3), scratch(3)
    ends = scratch(2, 3)
    T, C, A = scratch(3, 3), scratch(3, 3), scratch(3, 3)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        n = par[e, NORMAL : NORMAL + 3]
        scale, ring = par[e, SCALE], par[e, RING]
        multiplier = scale * U[dof[e, 6]]
        _means(ctl, D, rot[e, 0], par, e, centre, axis, ends)
        rotate(D, 0, rot[e, 0], par[e, AXIS], par[e, AXIS + 1], par[e, AXIS + 2], first)
        c1 = _dot(n, ends[1])
        c0 = c1 if ctl[RULE] == ONE_STATE else _dot(n, first)
        s0, s1 = _sine(c0), _sine(c1)
        k = (c0 + c1) / (s0 + s1)
        cross(centre, n, cn)
        cross(axis, n, an)
        g = -ring * s1 - par[e, CROWN]
        for i in range(3):
            f[i] = multiplier * n[i]
            f[3 + i] = multiplier * (cn[i] + ring * k * an[i])
            g += n[i] * (Q[1, dof[e, i]] + ends[0, i] - par[e, PLACE + i])
        f[6] = scale * g
        if job != TANGENT:
            continue
        K = ke[e - e0]
        cayley_tangent(U[dof[e, 3]], U[dof[e, 4]], U[dof[e, 5]], T)
        _half_turns(ctl, ends, T, C, A)
        for j in range(3):
            dc1 = 2.0 * (n[0] * A[0, j] + n[1] * A[1, j] + n[2] * A[2, j])
            dk = dc1 / (s0 + s1) + k / (s0 + s1) * c1 / s1 * dc1
            for i in range(3):
                v[i] = C[i, j] + ring * k * A[i, j]
            cross(v, n, w)
            for i in range(3):
                K[3 + i, 3 + j] = ctl[TWO] * multiplier * (w[i] + ring * dk * an[i])
            K[6, j] = scale * n[j]
            K[j, 6] = scale * n[j]
            K[3 + j, 6] = scale * (cn[j] + ring * k * an[j])
            turned = 2.0 * (n[0] * C[0, j] + n[1] * C[1, j] + n[2] * C[2, j])
            K[6, 3 + j] = scale * (turned + ring * c1 / s1 * dc1)


# --- rolling ---------------------------------------------------------------------------------------------------------
@kernel
def _roll(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    centre, axis, r = scratch(3), scratch(3), scratch(3)
    force, moment, step, turn, v, w, u = (
        scratch(3), scratch(3), scratch(3), scratch(3), scratch(3), scratch(3), scratch(3),
    )  # fmt: skip
    ends = scratch(2, 3)
    T, C, A, B = scratch(3, 3), scratch(3, 3), scratch(3, 3), scratch(3, 3)
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        scale = par[e, SCALE]
        one = ctl[RULE] == ONE_STATE
        moves = one and ctl[WV] != 0.0
        _means(ctl, D, rot[e, 0], par, e, centre, axis, ends)
        cayley_tangent(U[dof[e, 3]], U[dof[e, 4]], U[dof[e, 5]], T)
        _half_turns(ctl, ends, T, C, A)
        _touching_point(par, e, centre, axis, C, A, r, B)
        weight = 1.0 / ctl[WV] if moves else 1.0
        if moves:
            spin(V, D, dof, rot, 1, e, 0, turn)
        for i in range(3):
            force[i] = scale * (U[dof[e, 6]] * par[e, ALONG + i] + U[dof[e, 7]] * par[e, ACROSS + i])
            if moves:
                step[i] = V[1, dof[e, i]]
            else:
                step[i] = 0.0 if one else U[dof[e, i]]
                turn[i] = 0.0 if one else U[dof[e, 3 + i]]
        cross(r, force, moment)
        cross(turn, r, v)
        for i in range(3):
            f[i], f[3 + i] = force[i], moment[i]
        for k in range(2):
            t = par[e, ALONG + 3 * k : ALONG + 3 * k + 3]
            f[6 + k] = scale * weight * (_dot(t, step) + _dot(t, v))
        if job != TANGENT:
            continue
        K = ke[e - e0]
        for j in range(3):
            for i in range(3):
                v[i] = B[i, j]
            cross(v, force, w)
            for i in range(3):
                K[3 + i, 3 + j] = ctl[TWO] * w[i]
        for k in range(2):
            t = par[e, ALONG + 3 * k : ALONG + 3 * k + 3]
            cross(r, t, v)
            cross(t, turn, u)
            factor = ctl[TWO] * weight  # of the derivatives B of r
            for j in range(3):
                K[j, 6 + k] = K[6 + k, j] = scale * t[j]
                K[3 + j, 6 + k] = scale * v[j]
                K[6 + k, 3 + j] = scale * (v[j] + factor * (u[0] * B[0, j] + u[1] * B[1, j] + u[2] * B[2, j]))
            if moves:  # spins are kept in body axes, so a rotation phi changes w by phi x w
                cross(turn, v, w)
                for j in range(3):
                    K[6 + k, 3 + j] += scale * weight * w[j]


# --- reports ---------------------------------------------------------------------------------------------------------
@inner
def _report(job, rolls, e0, e1, ctl, par, dof, rot, D, U, fe):
    if job != OUTPUT:  # ideal contacts do no work: nothing to book
        return
    centre, axis, r = scratch(3), scratch(3), scratch(3)
    ends = scratch(2, 3)
    C, A, B = scratch(3, 3), scratch(3, 3), scratch(3, 3)
    for i in range(3):
        for j in range(3):
            C[i, j] = A[i, j] = 0.0
    for e in range(e0, e1):
        f = fe[e - e0]
        _means(ctl, D, rot[e, 0], par, e, centre, axis, ends)
        _touching_point(par, e, centre, axis, C, A, r, B)
        for i in range(3):
            if rolls:
                f[i] = U[dof[e, 6]] * par[e, ALONG + i] + U[dof[e, 7]] * par[e, ACROSS + i]
            else:
                f[i] = U[dof[e, 6]] * par[e, NORMAL + i]
            f[i] *= -par[e, SCALE] / ctl[SF]
            r[i] -= centre[i]
        cross(r, f[:3], f[3:])


@inner
def _look(e0, e1, par, rot, D, fe):
    """Write the angles [rad] by which discs lean from the upright position; 0 for balls."""
    axis = scratch(3)
    for e in range(e0, e1):
        rotate(D, 1, rot[e, 0], par[e, AXIS], par[e, AXIS + 1], par[e, AXIS + 2], axis)
        sine = 0.0
        for i in range(3):
            sine += par[e, NORMAL + i] * axis[i]
        fe[e - e0, 0] = math.asin(min(abs(sine), 1.0)) if par[e, RING] > 0.0 else 0.0


@kernel
def _report_touch(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job == WATCH:
        _look(e0, e1, par, rot, D, fe)
    _report(job, False, e0, e1, ctl, par, dof, rot, D, U, fe)


@kernel
def _report_roll(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    _report(job, True, e0, e1, ctl, par, dof, rot, D, U, fe)


_LEANS = Watch(
    1.55, 1.5706, "lean of the disc", "a disc that lies flat touches in no one point; stop before", kind="Joint"
)
_OUT = (*(f"force {c} [N]" for c in "xyz"), *(f"moment {c} [N m]" for c in "xyz"))
TYPES = {
    "disc_touch3": ElementType(
        name="disc_touch3", dimension=3, ends=1, rotational=True, par=(*_SHAPE, "px [m]", "py [m]", "pz [m]"),
        force=_touch, report=_report_touch, multipliers=1, outputs=_OUT, scale=SCALE, watches=(_LEANS,),
    ),
    "disc_roll3": ElementType(
        name="disc_roll3", dimension=3, ends=1, rotational=True,
        par=(*_SHAPE, "tx", "ty", "tz", "ux", "uy", "uz"),
        force=_roll, report=_report_roll, multipliers=2, outputs=_OUT, scale=SCALE, nonholonomic=True,
    ),
}  # fmt: skip
