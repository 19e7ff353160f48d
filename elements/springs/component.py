"""Springs and dashpots on single displacements: `component_spring2` (plane), `component_spring3` (space).

The elongation is a difference of displacements along directions that are fixed in space,

    e = n_a . (x_a - X_a) - n_b . (x_b - X_b),   F = k e + c e',   V = k e^2/2

(SPRING1 and SPRING2, DASHPOT1 and DASHPOT2 of Abaqus and CalculiX).  e is linear in the positions, so its mean over a
step is an exact quotient.  An end at the ground does not move, so its direction has no effect.  Ends need no rotation:
the element fits nodes of solids and trusses.  The forces of a spring between two nodes balance where n_a = n_b; their
moment does not, unless the line between the nodes has that direction.

Outputs: force (positive for e > 0) and elongation.
"""

from __future__ import annotations

from fem_mbs.contract import (
    DECAY,
    DISSIPATED,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    STRAIN,
    TANGENT,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.common import DAMPING, FREE, STIFFNESS, spring_prestress
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

DIRECTIONS = 3  # column of par after those of `fem_mbs.elements.common`


@inner
def _along(p, x, dof, dim):
    """Return n_a . x_a - n_b . x_b."""
    s = 0.0
    for i in range(dim):
        s += p[DIRECTIONS + i] * x[dof[i]] - p[DIRECTIONS + dim + i] * x[dof[dim + i]]
    return s


@kernel
def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    sf, sk = ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    for e in range(e0, e1):
        p = par[e]
        damping = p[DAMPING] + ctl[DECAY] * p[STIFFNESS]
        F = p[STIFFNESS] * (0.5 * (_along(p, Q[0], dof[e], dim) + _along(p, Q[1], dof[e], dim)) - p[FREE])
        F += damping * (_along(p, V[1], dof[e], dim) if one_state else _along(p, U, dof[e], dim) / ctl[H])
        for i in range(2 * dim):
            s = 1.0 if i < dim else -1.0
            fe[e - e0, i] = sf * F * s * p[DIRECTIONS + i]
        if job == TANGENT:
            c = 0.5 * sk * p[STIFFNESS] + sf * damping * (ctl[WV] if one_state else 1.0 / ctl[H])
            for i in range(2 * dim):
                s = c if i < dim else -c
                for j in range(2 * dim):
                    t = s if j < dim else -s
                    ke[e - e0, i, j] = t * p[DIRECTIONS + i] * p[DIRECTIONS + j]


@kernel
def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER and job != OUTPUT:
        return
    dim = 2 if D.shape[2] == 2 else 3
    one_state = ctl[RULE] == ONE_STATE
    for e in range(e0, e1):
        p, f = par[e], fe[e - e0]
        damping = p[DAMPING] + ctl[DECAY] * p[STIFFNESS]
        start, end = _along(p, Q[0], dof[e], dim) - p[FREE], _along(p, Q[1], dof[e], dim) - p[FREE]
        if one_state:
            rate = _along(p, V[1], dof[e], dim)
            mean, change, elongation = 0.5 * (rate + _along(p, V[0], dof[e], dim)), end - start, end
        else:
            change = _along(p, U, dof[e], dim)
            rate = change / ctl[H]
            mean, elongation = rate, 0.5 * (start + end)
        if job == LEDGER:
            f[STRAIN] = 0.5 * p[STIFFNESS] * end * end
            f[DISSIPATED] = damping * mean * change
        else:
            f[0] = p[STIFFNESS] * elongation + damping * rate
            f[1] = end


def _type(dim):
    directions = tuple(f"n{c}_{end}" for end in "ab" for c in "xyz"[:dim])
    return ElementType(
        name=f"component_spring{dim}",
        dimension=dim,
        ends=2,
        rotational=False,
        par=("stiffness [N/m]", "damping [N s/m]", "free [m]", *directions),
        outputs=("force [N]", "elongation [m]"),
        force=force,
        report=report,
        prestress=spring_prestress,
    )


TYPES = {f"component_spring{dim}": _type(dim) for dim in (2, 3)}
