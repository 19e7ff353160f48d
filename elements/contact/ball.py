"""Contact of a ball or point with a surface of a body, with friction: `contact2` (plane), `contact3` (space).

End a carries the surface (`fem_mbs.elements.contact.surface`), end b the ball, whose centre may be eccentric.  With the
penetration y = -s of the gap s and its exact quotient row.U = s1 - s0 over a step act

    rows += -SF N row,           N = N(y0, y1, (y1 - y0)/h) of `fem_mbs.elements.contact.law`,
    rows += SF R^T T,            T = N m(|w|) w/|w|,   w = (I - n n^T/n^2) R U/h,

n the direction of the normal force on b, R U the displacement over the step of the point of b that touches relative to
that of a: the point at r below the mean centre, on both parts.  The work of N is the change of the stored energy and
what `law` loses, that of T a loss.  Resultant and moment of both vanish.  The coefficient m(w) is that of
`fem_mbs.elements.joints.friction`; below its smoothing speed the surfaces creep.

One-state rules take gradient, rate and sliding velocity of the state; statics have no friction.  Outputs: N, T, the gap
at the end, and |w|.
"""

from __future__ import annotations

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    COMMIT,
    DISSIPATED,
    FORCE,
    LEDGER,
    LOAD_WORK,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    START,
    STRAIN,
    TANGENT,
    WA,
    WATCH,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.common import clear
from fem_mbs.elements.contact.crossing import crossed_core
from fem_mbs.elements.contact.law import APPROACH, DEEPEST, LAW_COLUMNS, decay_force, normal_energy, normal_force
from fem_mbs.elements.contact.surface import (
    BALL,
    DEEP,
    SURFACE_COLUMNS,
    gap,
    gap_apart,
    gap_depth,
    gap_rows,
    nothing_kept,
)
from fem_mbs.elements.contact.touching import (
    arm_slopes,
    arms,
    coordinates,
    lever,
    row_derivative,
    slip_speed,
    slip_velocity,
    spins_of,
    tangential,
    turn,
)
from fem_mbs.elements.coordinates import offset_rate, offset_rows
from fem_mbs.elements.kinematics import P0, R0, R1, cross, spin
from fem_mbs.elements.laws import friction_slopes
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES", "contact_type"]

#: Names of the columns of friction, which come after those of the surface.
FRICTION_COLUMNS = ("coefficient", "static coefficient", "Stribeck speed [m/s]", "smoothing speed [m/s]")


def bodies(dim, mu, gap, quotient, apart, remember, depth):
    """Return the functions that do both kernels' work for one element; ``mu`` is the column of friction, the rest
    functions of the surface (`contact_type`).

    Both take the row e of ``par`` and ``hist`` with law and surface, and the row d of ``dof``, ``rot`` and ``frame``
    with the ends; frame[d, at:] holds for each axis of the surface the axis, its origin and the centre of the ball.
    ``arm`` is the distance from the centre to where friction acts.  They write to row k of ``fe`` and ``ke``.
    """
    n = 3 * (dim - 1)  # dofs of an end
    m = 2 * n
    turns = n - dim
    tail = mu + len(FRICTION_COLUMNS) + 3 * dim * dim

    @inner
    def friction_tangent(
        sf, by_x, one_state, r, N, g, curve, along, size, direction, q, w, normal, total, rho, spins, L, J, X, K
    ):
        """Add the tangent of the friction N g w at the arms rho (2, dim) to K.

        ``normal`` (2 n,) is the derivative of N, ``total`` that of the rows of the normal, ``by_x`` that of velocities
        by displacements; ``g`` = m/|w|, ``curve`` its derivative by |w| over |w|; ``along`` = q.n, ``size`` = n.n.
        """
        dq, dT, turning = scratch(dim, m), scratch(dim, m), scratch(dim, m)
        arm, change, x = scratch(2, dim, m), scratch(dim, turns), scratch(dim)
        two = 2.0 if one_state else 1.0
        # derivatives of the arms, of the relative velocity q and of its part w across the normal
        arm_slopes(r, two, J, total, arm)
        for i in range(dim):
            for j in range(m):
                turning[i, j] = total[n + i, j]  # of the direction
        for j in range(m):
            for i in range(dim):
                dq[i, j] = 0.0
            for k in range(2):
                sign = 1.0 if k == 1 else -1.0
                for i in range(dim):
                    x[i] = arm[k, i, j]
                turn(spins[k], x, X[0])
                for i in range(dim):
                    dq[i, j] += sign * X[0, i]
        for k in range(2):
            sign = 1.0 if k == 1 else -1.0
            for i in range(dim):
                dq[i, n * k + i] += sign * by_x
                for j in range(turns):
                    dq[i, n * k + dim + j] += sign * by_x * L[k, i, j]
            if one_state and dim == 3:  # the spin turns with its axes: d theta x spin
                for j in range(3):
                    for i in range(3):
                        x[i] = 0.0
                    x[j] = 1.0
                    cross(x, spins[k], X[0])
                    cross(X[0], rho[k], X[1])
                    for i in range(3):
                        dq[i, n * k + 3 + j] += sign * X[1, i]
        for j in range(m):
            turned = across = slid = 0.0
            for i in range(dim):
                turned += direction[i] * turning[i, j]
                across += turning[i, j] * q[i] + direction[i] * dq[i, j]
            for i in range(dim):
                x[i] = (
                    dq[i, j]
                    - (turning[i, j] * along + direction[i] * across) / size
                    + 2 * direction[i] * along * turned / (size * size)
                )
                slid += w[i] * x[i]
            for i in range(dim):
                dT[i, j] = normal[j] * g * w[i] + N * (g * x[i] + curve * slid * w[i])
        for k in range(2):
            sign = sf if k == 1 else -sf
            for j in range(m):
                for i in range(dim):
                    K[n * k + i, j] += sign * dT[i, j]
                    for t in range(turns):
                        K[n * k + dim + t, j] += sign * L[k, i, t] * dT[i, j]
                for i in range(dim):
                    x[i] = arm[k, i, j]
                lever(x, change)
                for i in range(dim):
                    for t in range(turns):
                        K[n * k + dim + t, j] += sign * N * g * change[i, t] * w[i]

    @inner
    def force_of(job, d, e, ctl, par, frame, at, arm, dof, rot, hist, Q, D, V, U, fe, ke, slot):
        P, B, J = scratch(3, 5, dim), scratch(3, dim, n), scratch(3, dim, n)
        rows, ends, G = scratch(dim, m), scratch(dim, m), scratch(dim, m, m)
        row, row1, total = scratch(m), scratch(m), scratch(m, m)
        p0, p1, dp, rates = scratch(dim), scratch(dim), scratch(dim), scratch(2, dim)
        grad, grad1, bend = scratch(dim), scratch(dim), scratch(dim, dim)
        X, normal, normal_rate = scratch(4, dim), scratch(m), scratch(m)
        rho, spins, L = scratch(2, dim), scratch(2, turns), scratch(2, dim, turns)
        direction, q, w, x = scratch(dim), scratch(dim), scratch(dim), scratch(dim)
        one_state = ctl[RULE] == ONE_STATE
        two = 2.0 if one_state else 1.0  # derivatives of means over two equal states count twice
        coordinates(Q, D, dof, rot, frame, d, at, 0, p0, q, w)
        coordinates(Q, D, dof, rot, frame, d, at, 1, p1, q, w)
        if apart(par, e, hist, p0, p1, grad):
            return
        f = fe[slot]
        for k in range(dim):
            column = at + 3 * dim * k
            p0[k], p1[k] = offset_rows(job, Q, D, U, dof, rot, d, frame, column, P, B, J, rows[k], ends[k], G[k])
            dp[k] = 0.0
            for i in range(m):
                dp[k] += rows[k, i] * U[dof[d, i]]
            for state in range(2):
                rates[state, k] = offset_rate(V, D, dof, rot, state, d, P, X[:2], X[2:])
        approach = rate = ds = 0.0
        s0 = gap(par, e, p0, grad)
        for k in range(dim):
            approach -= grad[k] * rates[0, k]
        s1 = gap(par, e, p1, grad1)
        quotient(par, e, p0, p1, dp, grad, bend)
        for k in range(dim):
            ds += grad[k] * dp[k]
            rate -= grad1[k] * rates[1, k] if one_state else grad[k] * dp[k] / ctl[H]
        for i in range(m):
            row[i] = row1[i] = 0.0
            for k in range(dim):
                row[i] += grad[k] * rows[k, i]
                if job == TANGENT:
                    row1[i] += grad1[k] * ends[k, i]
        y0 = -s0
        N, _, by_y, by_rate = normal_force(
            ctl, par, e, tail, hist, y0, -s1 if one_state else y0 - ds, rate, rate if one_state else approach
        )
        if N == 0:
            return
        # the force added by the rule presses no friction, so that it always dissipates
        more, more_by_y = decay_force(ctl, par, e, tail, hist, y0, y0 - ds)
        pushes = 1.0 if N + more > 0 else 0.0
        for i in range(m):
            f[i] = -ctl[SF] * pushes * (N + more) * row[i]
        rubs = par[e, mu] > 0 or par[e, mu + 1] > 0
        if one_state and ctl[WV] == 0 and ctl[WA] == 0:
            rubs = False
        if rubs:
            for i in range(dim):
                direction[i] = row[n + i]
            arms(P, arm, direction, 2, rho)
            spins_of(ctl, V, D, dof, rot, U, d, 1, spins)
            slip_velocity(ctl, V, U, dof, d, 1, spins, rho, q, x)
            along, size = tangential(q, direction, w)
            rubs = size > 0  # (in the core of a surface nothing has a direction)
            g, _, curve = friction_slopes(par, e, mu, slip_speed(w))
            for k in range(2):
                lever(rho[k], L[k])
                for i in range(dim):
                    force_i = (N * g if k == 1 else -N * g) * ctl[SF] * w[i]
                    f[n * k + i] += force_i
                    for j in range(turns):
                        f[n * k + dim + j] += L[k, i, j] * force_i
        if job != TANGENT:
            return
        K = ke[slot]
        # derivative of row, in one-state rules of the gradient at the state; of the normal force in ``normal``
        row_derivative(grad, bend, rows, ends, G, two, total)
        _rate_derivative(ctl, row, row1, total, V, D, dof, rot, d, x, q, one_state, normal_rate)
        if rubs:  # (``x`` and ``q`` were overwritten)
            slip_velocity(ctl, V, U, dof, d, 1, spins, rho, q, x)
        for j in range(m):
            normal[j] = -two * by_y * row1[j] - by_rate * normal_rate[j]
            for i in range(m):
                K[i, j] -= ctl[SF] * pushes * (N + more) * total[i, j]
        for i in range(m):
            for j in range(m):
                K[i, j] -= ctl[SF] * pushes * row[i] * (normal[j] - more_by_y * row1[j])
        if not rubs:
            return
        by_x = ctl[WV] if one_state else 1 / ctl[H]
        friction_tangent(
            ctl[SF], by_x, one_state, arm, N, g, curve, along, size, direction, q, w, normal, total, rho,
            spins, L, J, X, K,
        )  # fmt: skip

    @inner
    def report_of(job, d, e, ctl, par, frame, at, arm, dof, rot, hist, Q, D, V, U, fe, slot):
        P, B, J = scratch(3, 5, dim), scratch(3, dim, n), scratch(3, dim, n)
        rows, ends, G = scratch(m), scratch(m), scratch(m, m)
        p0, p1, dp, rates = scratch(dim), scratch(dim), scratch(dim), scratch(2, dim)
        grad, bend, X = scratch(3, dim), scratch(dim, dim), scratch(4, dim)
        axes, rho, spins = scratch(3, dim, dim), scratch(2, dim), scratch(2, turns)
        direction, q, w, x = scratch(dim), scratch(dim), scratch(dim), scratch(dim)
        forces, slid = scratch(3, 3), scratch(3)
        one_state = ctl[RULE] == ONE_STATE
        f = fe[slot]
        if job != OUTPUT:
            coordinates(Q, D, dof, rot, frame, d, at, 1, p1, q, w)
            if job == WATCH:
                f[0] = depth(par, e, p1, w)
                return
            coordinates(Q, D, dof, rot, frame, d, at, 0, p0, q, w)
            if job == COMMIT or job == START:
                remember(par, e, hist, p1, w)
            if apart(par, e, hist, p0, p1, w):
                if job == COMMIT or job == START:
                    hist[e, APPROACH] = hist[e, DEEPEST] = 0.0
                return
        for k in range(dim):
            p0[k], p1[k] = offset_rows(FORCE, Q, D, U, dof, rot, d, frame, at + 3 * dim * k, P, B, J, rows, ends, G)
            dp[k] = 0.0
            for i in range(m):
                dp[k] += rows[i] * U[dof[d, i]]
            for state in range(2):
                rates[state, k] = offset_rate(V, D, dof, rot, state, d, P, X[:2], X[2:])
            for i in range(dim):
                axes[0, k, i], axes[1, k, i], axes[2, k, i] = P[2, R0, i], P[2, R1, i], P[2, P0, i]
        y0, y1 = -gap(par, e, p0, grad[0]), -gap(par, e, p1, grad[1])
        rate0 = rate1 = ds = 0.0
        if not one_state:
            quotient(par, e, p0, p1, dp, grad[2], bend)
        for k in range(dim):
            rate0 -= grad[0, k] * rates[0, k]
            rate1 -= grad[1, k] * rates[1, k]
            ds += grad[2, k] * dp[k] if not one_state else 0.0
        if job == START:
            _keep(hist, e, y1, rate1 if hist[e, DEEPEST] <= 0 else 0.0)
            return
        rate = rate1 if one_state else -ds / ctl[H]
        approach = rate1 if one_state else max(rate0, rate)
        if job == COMMIT:
            _keep(hist, e, y1, approach if y0 <= 0 else 0.0)
            return
        if job != LEDGER and job != OUTPUT:
            return
        # forces (total, conservative, sliding) of the step, or of both ends in one-state rules
        first = 0 if one_state else 2
        last = 2 if one_state else 3
        for state in range(first, last):
            a, b = (y0, y0) if state == 0 else ((y1, y1) if state == 1 else (y0, y0 - ds))
            speed = rate0 if state == 0 else rate
            N, mean, _, _ = normal_force(ctl, par, e, tail, hist, a, b, speed, rate0 if state == 0 else approach)
            more = max(decay_force(ctl, par, e, tail, hist, a, b)[0], -N) if state == 2 else 0.0
            forces[state, 0], forces[state, 1], forces[state, 2], slid[state] = N + more, mean, 0.0, 0.0
            if N == 0 or (one_state and ctl[WV] == 0 and ctl[WA] == 0):
                continue
            for i in range(dim):
                direction[i] = 0.0
                for k in range(dim):
                    direction[i] += grad[state, k] * axes[state, k, i]
            arms(P, arm, direction, state, rho)
            end = 0 if state == 0 else 1
            spins_of(ctl, V, D, dof, rot, U, d, end, spins)
            slip_velocity(ctl, V, U, dof, d, end, spins, rho, q, x)
            tangential(q, direction, w)
            slid[state] = slip_speed(w)
            forces[state, 2] = N * friction_slopes(par, e, mu, slid[state])[1]
        if job == OUTPUT:
            f[0] = forces[last - 1, 0]
            f[1] = forces[last - 1, 2]
            f[2] = -y1
            f[3] = slid[last - 1]
            return
        after, lost = normal_energy(par, e, tail, y1, hist[e, DEEPEST])
        f[STRAIN] = after
        lost -= normal_energy(par, e, tail, y0, hist[e, DEEPEST])[1]
        if one_state:
            work = 0.5 * (forces[0, 0] - forces[0, 1] + forces[1, 0] - forces[1, 1]) * (y1 - y0)
            rubbed = 0.5 * ctl[H] * (forces[0, 2] * slid[0] + forces[1, 2] * slid[1])
        else:
            work = -(forces[2, 0] - forces[2, 1]) * ds
            rubbed = ctl[H] * forces[2, 2] * slid[2]
        if one_state and ctl[WV] == 0 and ctl[WA] == 0:  # statics has no time: what indents counts as work of loads
            f[LOAD_WORK] = -lost
        else:
            f[DISSIPATED] = work + rubbed + lost

    return force_of, report_of


@inner
def _keep(hist, e, y1, approach):
    """Keep the largest penetration, and the speed of approach of a contact that begins, also of one that begins with
    the run; forget both where the gap is open."""
    if y1 <= 0:
        hist[e, APPROACH] = hist[e, DEEPEST] = 0.0
        return
    if hist[e, APPROACH] <= 0:
        hist[e, APPROACH] = max(approach, 0.0)
    hist[e, DEEPEST] = max(hist[e, DEEPEST], y1)


@inner
def _rate_derivative(ctl, row, row1, total, V, D, dof, rot, e, x, y, one_state, out):
    """Fill out (2 n,) with the derivative of the rate of the gap: of the step, or of a state in one-state rules."""
    m = row.shape[0]
    if not one_state:
        for j in range(m):
            out[j] = row1[j] / ctl[H]
        return
    n = m // 2
    dim = x.shape[0]
    for j in range(m):
        out[j] = ctl[WV] * row1[j]
    for k in range(2):
        for i in range(dim):
            v = V[1, dof[e, n * k + i]]
            for j in range(m):
                out[j] += v * total[n * k + i, j]
        if dim == 2:
            v = V[1, dof[e, n * k + 2]]
            for j in range(m):
                out[j] += v * total[n * k + 2, j]
            continue
        spin(V, D, dof, rot, 1, e, k, x)
        for i in range(3):
            for j in range(m):
                out[j] += x[i] * total[n * k + 3 + i, j]
            y[i] = row1[n * k + 3 + i]
        # the spin turns with its axes: row.(d theta x w) = d theta.(w x row)
        out[n * k + 3] += x[1] * y[2] - x[2] * y[1]
        out[n * k + 4] += x[2] * y[0] - x[0] * y[2]
        out[n * k + 5] += x[0] * y[1] - x[1] * y[0]


def _kernels(dim, mu, force_of, report_of):
    """Return both kernels of balls at nodes; see `bodies`."""
    axes_at = mu + len(FRICTION_COLUMNS)

    @kernel
    def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        clear(fe, e1 - e0)
        if job == TANGENT:
            clear(ke, e1 - e0)
        for e in range(e0, e1):
            force_of(
                job, e, e, ctl, par, par, axes_at, par[e, BALL], dof, rot, hist, Q, D, V, U, fe, ke, e - e0
            )  # fmt: skip

    @kernel
    def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        for e in range(e0, e1):
            report_of(job, e, e, ctl, par, par, axes_at, par[e, BALL], dof, rot, hist, Q, D, V, U, fe, e - e0)

    return force, report


def contact_type(
    name, dimension, columns, gap, quotient, apart, remember, depth, crossed, kernels=_kernels, centre=None, **more
):  # fmt: skip
    """Return the element type of contact with one kind of surface.

    Args:
        columns: names of the columns of the surface; the first is the radius of the ball.
        gap: ``gap(par, e, p, grad)`` returns the gap at the coordinates p (dim,) of the centre, and fills its gradient.
        quotient: ``quotient(par, e, p0, p1, dp, grad, bend)`` fills the exact quotient, and its derivative by p1.
        apart: ``apart(par, e, hist, p0, p1, work)`` returns whether both gaps are open.
        remember: ``remember(par, e, hist, p, work)`` updates what ``apart`` reads of hist at an accepted state.
        depth: ``depth(par, e, p, work)`` returns the penetration over that at which the force loses its direction.
        crossed: entry of the type (`fem_mbs.elements.registry.ElementType`).
        kernels: ``kernels(dim, mu, force_of, report_of)`` makes both kernels of the functions of `bodies`.
        centre: names of the columns that say where the centre of the ball is, once per axis; None: an offset of end b.
        more: further entries of the type.
    """
    axes = "xyz"[:dimension]
    centre = centre or tuple(f"a{c}_b" for c in axes)
    frame = tuple(
        name
        for k in range(1, dimension + 1)
        for name in (
            *(f"e{k}{c}" for c in axes), *(f"a{c}_a {k} [m]" for c in axes), *(f"{c} {k} [m]" for c in centre),
        )
    )  # fmt: skip
    mu = len(LAW_COLUMNS) + len(columns)
    force, report = kernels(dimension, mu, *bodies(dimension, mu, gap, quotient, apart, remember, depth))
    entries = {"ends": 2, "hist": 2, "tables": True, "crossed": crossed} | more
    return ElementType(
        name=name,
        dimension=dimension,
        rotational=True,
        par=(*LAW_COLUMNS, *columns, *FRICTION_COLUMNS, *frame),
        outputs=("normal force [N]", "friction force [N]", "gap [m]", "sliding speed [m/s]"),
        force=force,
        report=report,
        **entries,
    )


TYPES = {
    f"contact{dimension}": contact_type(
        f"contact{dimension}",
        dimension,
        SURFACE_COLUMNS,
        gap,
        gap_rows,
        gap_apart,
        nothing_kept,
        gap_depth,
        crossed_core,
        watches=(DEEP,),
    )
    for dimension in (2, 3)
}
