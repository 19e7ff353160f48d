"""A spring in series with a dry slider, with kinematic hardening (Jenkins 1962): its flow, and its mean force over a
step.

The force is k e with the elastic part e = x - p of the elongation x.  The plastic part p flows where |k e - H p| = F_y.
"""

from __future__ import annotations

from fem_mbs.contract import DISSIPATED, LOAD_WORK, ONE_STATE, RULE, STRAIN, WV, inner

__all__ = ["book", "flow", "mean_force"]


@inner
def book(ctl, f, stored, loss, lost):
    """Write the energy stored, and the losses of a step by dampers, ``loss``, and by yielding, ``lost``, to a row of
    the ledger; statics has no time: what yields counts as work of loads."""
    f[STRAIN] = stored
    if ctl[RULE] == ONE_STATE and ctl[WV] == 0:
        f[LOAD_WORK] = -lost
    else:
        f[DISSIPATED] = loss + lost


@inner
def flow(k, hardening, limit, p, x):
    """Return the plastic part at the elongation x, which is reached from the plastic part p in one go."""
    over = k * (x - p) - hardening * p
    if abs(over) <= limit * (1 + 1e-13):  # round-off on the yield surface does not flow
        return p
    if over > limit:
        return p + (over - limit) / (k + hardening)
    return p + (over + limit) / (k + hardening)


@inner
def mean_force(k, hardening, limit, p, x0, dx):
    """Return the mean of the force over the path from x0 to x0 + dx, and its derivative by dx; p at x0.

    The path is an elastic part, then a plastic one.
    """
    e0 = x0 - p
    limit = limit if dx >= 0 else -limit
    left = (limit + hardening * p) / k - e0  # of elastic path
    if left * dx <= 0 and left != 0 and dx != 0:  # on the yield surface but for round-off
        left = 0.0
    if abs(dx) <= abs(left):
        return k * (e0 + 0.5 * dx), 0.5 * k
    tangent = k * hardening / (k + hardening)
    rest = dx - left
    mean = (left * k * (e0 + 0.5 * left) + rest * (k * (e0 + left) + 0.5 * tangent * rest)) / dx
    slope = (0.5 * k * left * left + tangent * left * rest + 0.5 * tangent * rest * rest) / (dx * dx)
    return mean, slope
