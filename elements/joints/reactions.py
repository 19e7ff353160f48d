"""Functions for the reports of joints: the arm of a force on a node, and its moment about the node."""

from __future__ import annotations

from fem_mbs.contract import ONE_STATE, RULE, inner

__all__ = ["NODE_MOMENT", "mean_arm", "node_moment"]

#: Names of the outputs of `node_moment`, by the dimension.
NODE_MOMENT = {2: ("node moment [N m]",), 3: tuple(f"node moment {c} [N m]" for c in "xyz")}


@inner
def mean_arm(ctl, D, row, par, e, column, out):
    """Fill out (3,) with the arm of an offset in global axes: the mean over the step, in one-state rules that of the
    end.

    par[e, column:] holds the offset in body axes of the director row ``row``.
    """
    first = 1 if ctl[RULE] == ONE_STATE else 0
    out[0] = out[1] = out[2] = 0.0
    for state in range(first, 2):
        part = 1.0 if first == 1 else 0.5
        if D.shape[2] == 2:
            c, s = D[state, row, 0], D[state, row, 1]
            out[0] += part * (c * par[e, column] - s * par[e, column + 1])
            out[1] += part * (s * par[e, column] + c * par[e, column + 1])
        else:
            x, y, z = par[e, column], par[e, column + 1], par[e, column + 2]
            for i in range(3):
                j = 3 * i
                out[i] += part * (D[state, row, j] * x + D[state, row, j + 1] * y + D[state, row, j + 2] * z)


@inner
def node_moment(arm, force, out):
    """Write arm x force to out: (1,) for a force (2,) of the plane, (3,) for a force (3,); further entries stay
    unchanged."""
    if out.shape[0] < 3:
        out[0] = arm[0] * force[1] - arm[1] * force[0]
        return
    out[0] = arm[1] * force[2] - arm[2] * force[1]
    out[1] = arm[2] * force[0] - arm[0] * force[2]
    out[2] = arm[0] * force[1] - arm[1] * force[0]
