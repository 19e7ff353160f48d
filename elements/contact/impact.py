"""Unilateral constraint of a ball or point on a surface of a body, with friction: `impact2` (plane), `impact3` (space).

End a carries the surface (`fem_mbs.elements.contact.surface`), end b the ball.  The status of the contact, which the
steps set between blows (`fem_mbs.analysis.blows`), stands in ``hist``:

open      no force; the multipliers are zero
sliding   s1 = 0, a multiplier Lambda of the gap s, N = -lambda;  rows += s s_m^T Lambda - sf N mu R^T d,
          d = sum c_k e_k the direction of slip, constant in the axes e_k of the surface
sticking  s1 = 0, and R U = 0 along the axes of the surface but the one nearest to the normal, each with a multiplier

R U is the displacement over the step of the point of b that touches relative to that of a.  The normal force acts
through the exact quotient of the gap and sticking through the row that it keeps, so neither does work; sliding friction
loses mu N d.R U.  Resultant and moment vanish.

An accepted step leaves in ``hist`` what decides on the next status: forces, gap, the slip at its end and its mean
direction.  FLAG stays 1 once a condition of the status is violated.  Statics and starts have no friction.
Outputs: N, T, the gap at the end, the sliding speed, and the sums of normal and tangential impulses of all blows.
"""

from __future__ import annotations

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    COMMIT,
    DISSIPATED,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    START,
    TANGENT,
    TWO,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.common import clear
from fem_mbs.elements.contact.surface import BALL, SURFACE_COLUMNS, gap, gap_rows
from fem_mbs.elements.contact.touching import (
    arm_slopes,
    arms,
    coordinates,
    lever,
    relative_velocity,
    row_derivative,
    slip_speed,
    slip_velocity,
    spins_of,
    tangential,
)
from fem_mbs.elements.contact.triangles import TRIANGLE, TRIANGLE_COLUMNS, mesh_gap, mesh_quotient
from fem_mbs.elements.coordinates import end_velocities, offset_rows, rate_row
from fem_mbs.elements.kinematics import P0, R1
from fem_mbs.elements.registry import ElementType

__all__ = ["OPEN", "SLIDING", "STICKING", "TYPES"]

OPEN, SLIDING, STICKING = 0.0, 1.0, 2.0
# columns of par before those of the surface; the fifth counts the pieces of a table, of which there is none
SCALE, RESTITUTION, LAW, LEAST = range(4)
_FIRST = ("scale", "restitution", "restitution law", "least speed [m/s]", "pieces")
_FRICTION = ("coefficient", "static coefficient", "gap tolerance [m]", "tangential restitution")
# columns of hist: sum of the normal impulses of all blows, the status, the axis of the surface that is nearest to its
# normal, the direction of slip
IMPULSE, STATUS, AXIS, SLIP = 0, 1, 2, 3
# and of the last step: its mean direction of slip (where it sticks: against the friction), the sum of the friction
# impulses, forces, gap, mean slip, slip at the end along the direction
MEAN, RUBBED, NORMAL, FRICTION, GAP, SPEED, END, FLAG = 6, 9, 10, 11, 12, 13, 14, 15
_N_HIST = 16
# columns of par after those of friction's coefficient
STATIC, GAP_TOLERANCE = 1, 2
#: Change of the direction of slip in a step beyond which the step is made again.
TURNED = 1e-9


@inner
def _row(tau, L, row):
    """Fill row (2 n,) with the displacement along tau (dim,) of the points that touch; L (2, dim, rotations)."""
    dim, turns = L.shape[1], L.shape[2]
    n = dim + turns
    for k in range(2):
        sign = 1.0 if k == 1 else -1.0
        for i in range(dim):
            row[n * k + i] = sign * tau[i]
        for t in range(turns):
            row[n * k + dim + t] = 0.0
            for i in range(dim):
                row[n * k + dim + t] += sign * L[k, i, t] * tau[i]


@inner
def _row_slopes(tau, dtau, arm, L, change, x, row, S):
    """Fill S (2 n, 2 n) with the derivative of `_row`; ``dtau`` (dim, n) is that of tau by the dofs of end a, ``arm``
    those of the arms; change (dim, rotations), x (dim,) and row (2 n,) are work arrays."""
    dim, turns = L.shape[1], L.shape[2]
    n = dim + turns
    for j in range(2 * n):
        for i in range(2 * n):
            S[i, j] = 0.0
        for k in range(2):
            sign = 1.0 if k == 1 else -1.0
            for i in range(dim):
                x[i] = arm[k, i, j]
            lever(x, change)
            for t in range(turns):
                for i in range(dim):
                    S[n * k + dim + t, j] += sign * change[i, t] * tau[i]
        if dim <= j < n:
            for i in range(dim):
                x[i] = dtau[i, j]
            _row(x, L, row)
            for i in range(2 * n):
                S[i, j] += row[i]


@inner
def _direction(hist, e, axes, out):
    """Fill out (dim,) with the direction of slip in the present ``axes`` (dim, dim) of the surface."""
    for i in range(out.shape[0]):
        out[i] = 0.0
        for k in range(out.shape[0]):
            out[i] += hist[e, SLIP + k] * axes[k, i]


@inner
def _nearest_axis(hist, e, grad):
    """Keep the axis that is nearest to the gradient; the one before stays while it is as good as half of that."""
    best = 0
    for k in range(grad.shape[0]):
        if abs(grad[k]) > abs(grad[best]):
            best = k
    if not abs(grad[int(hist[e, AXIS])]) > 0.5 * abs(grad[best]):
        hist[e, AXIS] = float(best)


def _kernels(dim, mu, gap, quotient):
    """Return both kernels; ``mu`` is the column of friction, ``gap`` and ``quotient`` are functions of the surface."""
    n = 3 * (dim - 1)  # dofs of an end
    m = 2 * n
    turns = n - dim
    axes_at = mu + len(_FRICTION)

    @kernel
    def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        P, B, J = scratch(3, 5, dim), scratch(3, dim, n), scratch(3, dim, n)
        rows, ends, G = scratch(dim, m), scratch(dim, m), scratch(dim, m, m)
        row, row1, total, S = scratch(m), scratch(m), scratch(m, m), scratch(m, m)
        p0, p1, dp, grad, grad1, bend = (
            scratch(dim), scratch(dim), scratch(dim), scratch(dim), scratch(dim), scratch(dim, dim),
        )  # fmt: skip
        axes, daxes, tau, dtau = scratch(dim, dim), scratch(dim, dim, n), scratch(dim), scratch(dim, n)
        rho, spins, L, arm = scratch(2, dim), scratch(2, turns), scratch(2, dim, turns), scratch(2, dim, m)
        direction, q, x, change, work = scratch(dim), scratch(dim), scratch(dim), scratch(dim, turns), scratch(m)
        one_state = ctl[RULE] == ONE_STATE
        rubs = not (one_state and ctl[WV] == 0)
        clear(fe, e1 - e0)
        if job == TANGENT:
            clear(ke, e1 - e0)
        for e in range(e0, e1):
            f, status, scale = fe[e - e0], hist[e, STATUS], par[e, SCALE]
            for k in range(dim):
                # idle multipliers are zero
                if status == OPEN or (k > 0 and not (status == STICKING and rubs)):
                    f[m + k] = scale * U[dof[e, m + k]]
                    if job == TANGENT:
                        ke[e - e0, m + k, m + k] = scale
            if status == OPEN:
                continue
            coordinates(Q, D, dof, rot, par, e, axes_at, 0, p0, q, x)
            coordinates(Q, D, dof, rot, par, e, axes_at, 1, p1, q, x)
            for k in range(dim):
                column = axes_at + 3 * dim * k
                # always with derivatives, which friction needs for its arms
                p0[k], p1[k] = offset_rows(TANGENT, Q, D, U, dof, rot, e, par, column, P, B, J, rows[k], ends[k], G[k])
                dp[k] = 0.0
                for i in range(m):
                    dp[k] += rows[k, i] * U[dof[e, i]]
                for i in range(dim):
                    axes[k, i] = P[2, P0, i]
                    for j in range(n):
                        daxes[k, i, j] = 0.5 * J[2, i, j] if j >= dim else 0.0
            s1 = gap(par, e, p1, grad1)
            quotient(par, e, p0, p1, dp, grad, bend)
            for i in range(m):
                row[i] = row1[i] = 0.0
                for k in range(dim):
                    row[i] += grad[k] * rows[k, i]
                    row1[i] += grad1[k] * ends[k, i]
            normal = scale * U[dof[e, m]]
            f[m] = scale * s1
            for i in range(m):
                f[i] = normal * row[i]
            if job == TANGENT:
                K = ke[e - e0]
                row_derivative(grad, bend, rows, ends, G, 1.0, total)
                for i in range(m):
                    K[i, m] = scale * row[i]
                    K[m, i] = scale * row1[i]
                    for j in range(m):
                        K[i, j] = ctl[TWO] * normal * total[i, j]
            if not rubs or (status == SLIDING and par[e, mu] == 0):
                continue
            for i in range(dim):
                direction[i] = row[n + i]
            arms(P, par[e, BALL], direction, 2, rho)
            for k in range(2):
                lever(rho[k], L[k])
            if job == TANGENT:
                arm_slopes(par[e, BALL], 1.0, J, total, arm)
            if status == SLIDING:
                _direction(hist, e, axes, tau)
                _row(tau, L, row)
                for i in range(m):
                    f[i] -= par[e, mu] * normal * row[i]
                if job != TANGENT:
                    continue
                for i in range(dim):
                    for j in range(n):
                        dtau[i, j] = 0.0
                        for k in range(dim):
                            dtau[i, j] += hist[e, SLIP + k] * daxes[k, i, j]
                _row_slopes(tau, dtau, arm, L, change, x, work, S)
                K = ke[e - e0]
                for i in range(m):
                    K[i, m] -= par[e, mu] * scale * row[i]
                    for j in range(m):
                        K[i, j] -= ctl[TWO] * par[e, mu] * normal * S[i, j]
                continue
            spins_of(ctl, V, D, dof, rot, U, e, 1, spins)
            slip_velocity(ctl, V, U, dof, e, 1, spins, rho, q, x)
            time = 1 / ctl[WV] if one_state else ctl[H]
            at = m
            for k in range(dim):
                if k == int(hist[e, AXIS]):
                    continue
                at += 1
                held = scale * U[dof[e, at]]
                _row(axes[k], L, row)
                f[at] = 0.0
                for i in range(dim):
                    f[at] += scale * axes[k, i] * q[i] * time
                for i in range(m):
                    f[i] += held * row[i]
                if job != TANGENT:
                    continue
                _row_slopes(axes[k], daxes[k], arm, L, change, x, work, S)
                K = ke[e - e0]
                for i in range(m):
                    K[i, at] = scale * row[i]
                    K[at, i] = scale * row[i]
                    for j in range(m):
                        K[i, j] += ctl[TWO] * held * S[i, j]
                if one_state:
                    end_velocities(V, D, dof, rot, 1, e, work)
                    rate_row(ctl, row, S, work, row1)
                    for j in range(m):
                        K[at, j] = scale * time * row1[j]
                else:
                    for i in range(m):
                        for j in range(m):
                            K[at, j] += scale * U[dof[e, i]] * S[i, j]

    @kernel
    def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        P, B, J = scratch(3, 5, dim), scratch(3, dim, n), scratch(3, dim, n)
        rows, ends, G = scratch(dim, m), scratch(m), scratch(m, m)
        p0, p1, dp, grad, grad1, bend = (
            scratch(dim), scratch(dim), scratch(dim), scratch(dim), scratch(dim), scratch(dim, dim),
        )  # fmt: skip
        axes, last, rho, spins = scratch(dim, dim), scratch(dim, dim), scratch(2, dim), scratch(2, turns)
        direction, end, q, w, x, T, tau = (
            scratch(dim), scratch(dim), scratch(dim), scratch(dim), scratch(dim), scratch(dim), scratch(dim),
        )  # fmt: skip
        one_state = ctl[RULE] == ONE_STATE
        rubs = not (one_state and ctl[WV] == 0)
        for e in range(e0, e1):
            f, status = fe[e - e0], hist[e, STATUS]
            if job == LEDGER and (status != SLIDING or par[e, mu] == 0 or not rubs):
                continue
            coordinates(Q, D, dof, rot, par, e, axes_at, 1, p1, q, w)
            s1 = gap(par, e, p1, grad1)
            if job == START or job == COMMIT:
                if job == COMMIT or status == OPEN:
                    _nearest_axis(hist, e, grad1)
                hist[e, GAP] = s1
                hist[e, NORMAL] = hist[e, FRICTION] = hist[e, SPEED] = hist[e, END] = 0.0
                if status == OPEN and job == COMMIT and s1 < -par[e, mu + GAP_TOLERANCE]:
                    hist[e, FLAG] = 1.0
            if job == START or (status == OPEN and job == COMMIT):
                continue
            if job == OUTPUT:
                f[2], f[4], f[5] = s1, hist[e, IMPULSE], hist[e, RUBBED]
                if status == OPEN:
                    continue
            coordinates(Q, D, dof, rot, par, e, axes_at, 0, p0, q, w)
            for k in range(dim):
                column = axes_at + 3 * dim * k
                p0[k], p1[k] = offset_rows(job, Q, D, U, dof, rot, e, par, column, P, B, J, rows[k], ends, G)
                dp[k] = 0.0
                for i in range(m):
                    dp[k] += rows[k, i] * U[dof[e, i]]
                for i in range(dim):
                    axes[k, i] = P[2, P0, i]
                    last[k, i] = P[2, R1, i]
            quotient(par, e, p0, p1, dp, grad, bend)
            for i in range(dim):
                direction[i] = end[i] = 0.0
                for k in range(dim):
                    direction[i] += grad[k] * axes[k, i]
                    end[i] += grad1[k] * last[k, i]
            arms(P, par[e, BALL], direction, 2, rho)
            spins_of(ctl, V, D, dof, rot, U, e, 1, spins)
            slip_velocity(ctl, V, U, dof, e, 1, spins, rho, q, x)
            if job == LEDGER and one_state:  # the mean of both ends
                spins_of(ctl, V, D, dof, rot, U, e, 0, spins)
                slip_velocity(ctl, V, U, dof, e, 0, spins, rho, w, x)
                for i in range(dim):
                    q[i] = 0.5 * (q[i] + w[i])
            tangential(q, direction, w)
            size = slip_speed(w)
            factor = -par[e, SCALE] / ctl[SF]
            N = factor * U[dof[e, m]]
            # the friction force on b against T
            along = 0.0
            if status == SLIDING:
                _direction(hist, e, axes, tau)
                for i in range(dim):
                    T[i] = par[e, mu] * N * tau[i] if rubs else 0.0
                    along += tau[i] * q[i]
            else:
                at = m
                for i in range(dim):
                    x[i] = 0.0
                for k in range(dim):
                    if k != int(hist[e, AXIS]):
                        at += 1
                        for i in range(dim):
                            x[i] -= factor * U[dof[e, at]] * axes[k, i] if rubs else 0.0
                share, square = tangential(x, direction, T)
                N -= share / square
            friction = slip_speed(T)
            if job == LEDGER:
                f[DISSIPATED] = ctl[H] * par[e, mu] * N * along
                continue
            if job == OUTPUT:
                f[0], f[1], f[3] = N, friction, size
                continue
            hist[e, NORMAL], hist[e, FRICTION], hist[e, SPEED] = N, friction, size
            turned = 0.0
            for k in range(dim):
                hist[e, MEAN + k] = hist[e, SLIP + k]
                if (status == SLIDING and size > 0) or (status == STICKING and friction > 0):
                    hist[e, MEAN + k] = 0.0
                    for i in range(dim):
                        part = w[i] / size if status == SLIDING else T[i] / friction
                        hist[e, MEAN + k] += part * axes[k, i]
                turned = max(turned, abs(hist[e, MEAN + k] - hist[e, SLIP + k]))
            arms(P, par[e, BALL], end, 1, rho)
            relative_velocity(V, D, dof, rot, 1, e, rho, spins, q, x)
            for k in range(dim):
                for i in range(dim):
                    hist[e, END] += hist[e, SLIP + k] * last[k, i] * q[i]
            rough = par[e, mu] > 0
            if N < 0 or (rough and status == STICKING and friction > par[e, mu + STATIC] * N):
                hist[e, FLAG] = 1.0
            if rough and status == SLIDING and (hist[e, END] < 0 or turned > TURNED):
                hist[e, FLAG] = 1.0

    return force, report


def _impact_type(name, dimension, columns, gap, quotient, **more):
    """Return the element type of a unilateral constraint on one kind of surface; see
    `fem_mbs.elements.contact.ball.contact_type`."""
    frame = tuple(
        name
        for k in range(1, dimension + 1)
        for name in (
            *(f"e{k}{c}" for c in "xyz"[:dimension]), *(f"a{c}_a {k} [m]" for c in "xyz"[:dimension]),
            *(f"a{c}_b {k} [m]" for c in "xyz"[:dimension]),
        )
    )  # fmt: skip
    force, report = _kernels(dimension, len(_FIRST) + len(columns), gap, quotient)
    return ElementType(
        name=name,
        dimension=dimension,
        ends=2,
        rotational=True,
        par=(*_FIRST, *columns, *_FRICTION, *frame),
        hist=_N_HIST,
        multipliers=dimension,
        scale=SCALE,
        unilateral=True,
        outputs=(
            "normal force [N]", "friction force [N]", "gap [m]", "sliding speed [m/s]", "normal impulse [N s]",
            "friction impulse [N s]",
        ),
        force=force,
        report=report,
        **more,
    )  # fmt: skip


TYPES = {
    **{f"impact{d}": _impact_type(f"impact{d}", d, SURFACE_COLUMNS, gap, gap_rows) for d in (2, 3)},
    "mesh_impact3": _impact_type(
        "mesh_impact3", 3, TRIANGLE_COLUMNS, mesh_gap, mesh_quotient, tables=True, shared=TRIANGLE
    ),
}
