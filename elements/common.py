"""Small compiled helpers that several element modules share: time functions, zeroing, rows of points."""

from __future__ import annotations

from fem_mbs.contract import ONE_STATE, RULE, SF, inner

__all__ = [
    "DAMPING",
    "FREE",
    "STIFFNESS",
    "add_arm_tangent",
    "add_force",
    "clear",
    "spring_prestress",
    "step_multiplier",
    "time_value",
]

STIFFNESS, DAMPING, FREE = range(3)  # first columns of par of linear springs


@inner
def clear(block, rows):
    """Zero the first ``rows`` rows of `fe` (2-D) or `ke` (3-D), since kernels must write every entry of their rows."""
    flat = block.reshape(block.shape[0], -1)
    for i in range(rows):
        for j in range(flat.shape[1]):
            flat[i, j] = 0.0


@inner
def time_value(fun, index, column, default):
    """Return the value of the time function ``index`` in a column of ``fun``, or ``default`` for a negative index.

    The index is a parameter of the element, hence a float.
    """
    if index < 0:
        return default
    return fun[int(index), column]


@inner
def step_multiplier(ctl, Q, U, scale, index):
    """Return the multiplier for the work over the step: that of the step, or the mean of both ends for one-state
    rules."""
    if ctl[RULE] == ONE_STATE:
        return 0.5 * scale * (Q[0, index] + Q[1, index])
    return scale / ctl[SF] * U[index]


@inner
def add_force(fe, factor, force, B, k):
    """Add factor * B^T force to fe (n_loc,) in the rows of end k: the generalised forces of a force on a point of
    the end."""
    n = B.shape[1]
    for j in range(n):
        total = 0.0
        for i in range(B.shape[0]):
            total += B[i, j] * force[i]
        fe[k * n + j] += factor * total


@inner
def add_arm_tangent(ke, factor, force, J, k):
    """Add factor * d(B^T force)/dU at constant force to ke (n_loc, n_loc).

    The derivative comes from the rotation of the mean arm, d r_m = d r1/2.
    """
    if J.shape[0] == 2:
        ke[3 * k + 2, 3 * k + 2] += 0.5 * factor * (J[0, 2] * force[1] - J[1, 2] * force[0])
        return
    r = 6 * k + 3
    for j in range(3):
        x, y, z = J[0, 3 + j], J[1, 3 + j], J[2, 3 + j]
        ke[r, r + j] += 0.5 * factor * (y * force[2] - z * force[1])
        ke[r + 1, r + j] += 0.5 * factor * (z * force[0] - x * force[2])
        ke[r + 2, r + j] += 0.5 * factor * (x * force[1] - y * force[0])


def spring_prestress(par, outputs, factor):
    """Return parameters of linear springs whose force is greater by ``factor`` times outputs[:, 0] at the same
    coordinate.

    The free coordinate changes; springs without stiffness keep theirs.
    """
    par = par.copy()
    stiff = par[:, STIFFNESS] > 0.0
    par[stiff, FREE] -= factor * outputs[stiff, 0] / par[stiff, STIFFNESS]
    return par
