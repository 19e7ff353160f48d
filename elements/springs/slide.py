"""Spring-dampers on the displacement of a sliding joint: `slide2` (plane), `slide3` (space).

Formulation: s = (P_b - P_a).e with e fixed in end a and points eccentric in both ends, a bilinear coordinate whose
quotient is exact (`fem_mbs.elements.coordinates`); over the step the force F = k ((s0 + s1)/2 - s_free) + c ds/h acts
along it, at one state F = k (s - s_free) + c s'.  It resists: its work is V1 - V0 + c ds^2/h, resultant and moment
vanish.  Without stiffness and damping it only measures s.

Ends a, b: dx and rotation each.  Outputs: F, and s at the end of the step.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import (
    DECAY,
    DISSIPATED,
    FORCE,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    STRAIN,
    H,
    kernel,
)
from fem_mbs.elements.common import spring_prestress
from fem_mbs.elements.coordinates import dot, end_velocities, offset_rate, offset_rows, spring_rows
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    P, B, J = np.empty((3, 5, dim)), np.empty((3, dim, n)), np.empty((3, dim, n))
    row, row1, vel = np.empty(2 * n), np.empty(2 * n), np.empty(2 * n)
    G = np.empty((2 * n, 2 * n))
    for e in range(e0, e1):
        stiffness, free = par[e, 0], par[e, 2]
        damping = par[e, 1] + ctl[DECAY] * stiffness
        s0, s1 = offset_rows(job, Q, D, U, dof, rot, e, par, 3, P, B, J, row, row1, G)
        if ctl[RULE] == ONE_STATE:
            end_velocities(V, D, dof, rot, 1, e, vel)
            force = stiffness * (s1 - free) + damping * dot(row, vel)
        else:
            force = stiffness * (0.5 * (s0 + s1) - free)
            if damping != 0:
                for i in range(2 * n):
                    force += damping / ctl[H] * row[i] * U[dof[e, i]]
        spring_rows(job, ctl, stiffness, damping, force, row, row1, G, vel, fe, ke, e - e0)


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER and job != OUTPUT:
        return
    dim = 2 if D.shape[2] == 2 else 3
    n = 3 * (dim - 1)
    P, B, J = np.empty((3, 5, dim)), np.empty((3, dim, n)), np.empty((3, dim, n))
    row, row1 = np.empty(2 * n), np.empty(2 * n)
    v, c = np.empty((2, dim)), np.empty((2, dim))
    G = np.empty((2 * n, 2 * n))
    for e in range(e0, e1):
        f = fe[e - e0]
        stiffness, free = par[e, 0], par[e, 2]
        damping = par[e, 1] + ctl[DECAY] * stiffness
        s0, s1 = offset_rows(FORCE, Q, D, U, dof, rot, e, par, 3, P, B, J, row, row1, G)
        if ctl[RULE] == ONE_STATE:  # the force of the end; work by the trapezoidal rule
            s, ds = s1, s1 - s0
            rate = offset_rate(V, D, dof, rot, 1, e, P, v, c)
            mean_rate = 0.5 * (rate + offset_rate(V, D, dof, rot, 0, e, P, v, c))
        else:
            s, ds = 0.5 * (s0 + s1), 0.0
            for i in range(2 * n):
                ds += row[i] * U[dof[e, i]]
            rate = mean_rate = ds / ctl[H]
        if job == LEDGER:
            f[STRAIN] = 0.5 * stiffness * (s1 - free) ** 2
            f[DISSIPATED] = damping * mean_rate * ds
        else:
            f[0] = stiffness * (s - free) + damping * rate
            f[1] = s1


def _type(dimension):
    axes = "xyz"[:dimension]
    return ElementType(
        name=f"slide{dimension}",
        dimension=dimension,
        ends=2,
        rotational=True,
        par=(
            *("stiffness [N/m]", "damping [N s/m]", "displacement [m]"),
            *(f"e{c}" for c in axes),
            *(f"a{c}_{end} [m]" for end in "ab" for c in axes),
        ),
        outputs=("force [N]", "displacement [m]"),
        force=_force,
        report=_report,
        prestress=spring_prestress,
    )


TYPES = {t.name: t for t in (_type(2), _type(3))}
