"""Torsional spring-dampers between two ends: `torsion2` (plane), `torsion3` (space, about a common axis).

Formulation: a moment M = k ((phi0 + phi1)/2 - angle) + c dphi/h over the step, M = k (phi - angle) + c phi' at one
state, on the relative angle phi of end b against end a.  M resists: its work over a step is V1 - V0 + c dphi^2/h.

- Plane: phi is the difference of the (unwrapped) rotations; in the vartheta rows M enters times
  ``kappa = dphi/(vartheta_b - vartheta_a)``, so that its work is M dphi and its resultant zero, exactly.
- Space: phi is the angle of b in the plane of u and v; u and v are fixed to end a, b to end b, all three across the
  axis (u, v, axis right-handed and orthonormal).  The exact quotient is that of `fem_mbs.elements.coordinates`; `hist`
  holds phi at the start of the step, so any number of turns counts.

Limits: |dphi| < pi per step; in space b must not line up with the axis (C = S = 0 has no angle).
"""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import (
    COMMIT,
    DECAY,
    DISSIPATED,
    FORCE,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    START,
    STRAIN,
    TANGENT,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.common import clear, spring_prestress
from fem_mbs.elements.coordinates import (
    angle_gradient,
    angle_rows,
    angle_vectors,
    dot,
    end_velocities,
    nearest_angle,
    spring_rows,
)
from fem_mbs.elements.kinematics import relative_angle, spin
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]


# --- plane -----------------------------------------------------------------------------------------------------------
@kernel
def _force2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    h, sf, sk = ctl[H], ctl[SF], ctl[SK]
    one_state = ctl[RULE] == ONE_STATE
    clear(fe, e1 - e0)
    if job == TANGENT:
        clear(ke, e1 - e0)
    for e in range(e0, e1):
        f = fe[e - e0]
        stiffness, rest = par[e, 0], par[e, 2]
        damping = par[e, 1] + ctl[DECAY] * stiffness
        a, b = dof[e, 2], dof[e, 5]
        dphi, kappa, by_b, by_a = relative_angle(U[b], U[a])
        moment = stiffness * (Q[0, b] - Q[0, a] + 0.5 * dphi - rest)
        if one_state:
            moment += damping * (V[1, b] - V[1, a])
            by_rate = damping * ctl[WV] * sf  # also where sk = 0: the mass alone is asked for
        else:
            moment += damping * dphi / h
            by_rate = sk * damping / h
        f[2] = -sf * moment * kappa
        f[5] = sf * moment * kappa
        if job == TANGENT:
            K = ke[e - e0]
            slope = 0.5 * sk * stiffness + by_rate
            kb = slope * kappa / (1 + 0.25 * U[b] * U[b]) + sk * moment * by_b
            ka = -slope * kappa / (1 + 0.25 * U[a] * U[a]) + sk * moment * by_a
            K[2, 2], K[2, 5] = -ka, -kb
            K[5, 2], K[5, 5] = ka, kb


@kernel
def _report2(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    if job != LEDGER and job != OUTPUT:
        return
    for e in range(e0, e1):
        f = fe[e - e0]
        stiffness, rest = par[e, 0], par[e, 2]
        damping = par[e, 1] + ctl[DECAY] * stiffness
        a, b = dof[e, 2], dof[e, 5]
        phi0 = Q[0, b] - Q[0, a]
        if ctl[RULE] == ONE_STATE:
            dphi = Q[1, b] - Q[1, a] - phi0
            phi = phi0 + dphi
            rate = V[1, b] - V[1, a]
            mean_rate = 0.5 * (rate + V[0, b] - V[0, a])
        else:
            dphi = relative_angle(U[b], U[a])[0]
            phi = phi0 + 0.5 * dphi
            rate = mean_rate = dphi / ctl[H]
        if job == LEDGER:
            f[STRAIN] = 0.5 * stiffness * (phi0 + dphi - rest) ** 2
            f[DISSIPATED] = damping * mean_rate * dphi
        else:
            f[0] = stiffness * (phi - rest) + damping * rate
            f[1] = phi0 + dphi


# --- space -----------------------------------------------------------------------------------------------------------
@kernel
def _force3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    one_state = ctl[RULE] == ONE_STATE
    W, T, Z = np.empty((16, 3)), np.empty((2, 3, 3)), np.empty((2, 6))
    row, row1, vel = np.empty(12), np.empty(12), np.empty(12)
    G = np.empty((12, 12))
    for e in range(e0, e1):
        stiffness, rest = par[e, 0], par[e, 2]
        damping = par[e, 1] + ctl[DECAY] * stiffness
        dphi, c1, s1 = angle_rows(job, D, U, dof, rot, e, par, 3, W, T, Z, row, row1, G)
        if one_state:
            end_velocities(V, D, dof, rot, 1, e, vel)
            moment = stiffness * (nearest_angle(c1, s1, hist[e, 0]) - rest) + damping * dot(row, vel)
        else:
            moment = stiffness * (hist[e, 0] + 0.5 * dphi - rest) + damping * dphi / ctl[H]
        spring_rows(job, ctl, stiffness, damping, moment, row, row1, G, vel, fe, ke, e - e0)


@inner
def _rate3(V, D, dof, rot, state, e, W, c, s, x, y):
    """d phi/dt at a state, with (c, s) = (C, S) there."""
    angle_gradient(W, state, c, s, x)
    spin(V, D, dof, rot, state, e, 1, y)
    rate = dot(x, y)
    spin(V, D, dof, rot, state, e, 0, y)
    return rate - dot(x, y)


@kernel
def _report3(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    one_state = ctl[RULE] == ONE_STATE
    W, T, Z = np.empty((16, 3)), np.empty((2, 3, 3)), np.empty((2, 6))
    row, row1 = np.empty(12), np.empty(12)
    G = np.empty((12, 12))
    x, y = np.empty(3), np.empty(3)
    for e in range(e0, e1):
        stiffness, rest = par[e, 0], par[e, 2]
        damping = par[e, 1] + ctl[DECAY] * stiffness
        c0, s0, c1, s1 = angle_vectors(D, rot, par, e, 3, W)
        if job == START:
            hist[e, 0] = nearest_angle(c1, s1, hist[e, 0])  # turns of an earlier analysis count on
            continue
        if one_state:
            phi = phi1 = nearest_angle(c1, s1, hist[e, 0])
            dphi = phi1 - hist[e, 0]
        else:
            dphi, c1, s1 = angle_rows(FORCE, D, U, dof, rot, e, par, 3, W, T, Z, row, row1, G)
            phi = hist[e, 0] + 0.5 * dphi
            phi1 = hist[e, 0] + dphi
        if job == COMMIT:
            hist[e, 0] = nearest_angle(c1, s1, phi1)  # not the sum: round-off must not add up
            continue
        f = fe[e - e0]
        if one_state:
            rate = _rate3(V, D, dof, rot, 1, e, W, c1, s1, x, y)
            mean_rate = 0.5 * (rate + _rate3(V, D, dof, rot, 0, e, W, c0, s0, x, y))
        else:
            rate = mean_rate = dphi / ctl[H]
        if job == LEDGER:
            f[STRAIN] = 0.5 * stiffness * (phi1 - rest) ** 2
            f[DISSIPATED] = damping * mean_rate * dphi
        elif job == OUTPUT:
            f[0] = stiffness * (phi - rest) + damping * rate
            f[1] = phi1


_COMMON = ("stiffness [N m/rad]", "damping [N m s/rad]", "angle [rad]")
_OUTPUTS = ("moment [N m]", "angle [rad]")

TYPES = {
    "torsion2": ElementType(
        name="torsion2",
        dimension=2,
        ends=2,
        rotational=True,
        par=_COMMON,
        outputs=_OUTPUTS,
        force=_force2,
        report=_report2,
        prestress=spring_prestress,
    ),
    "torsion3": ElementType(
        name="torsion3",
        dimension=3,
        ends=2,
        rotational=True,
        par=(*_COMMON, *(f"{v}{c}" for v in ("u", "v", "b") for c in "xyz")),
        hist=1,
        outputs=_OUTPUTS,
        force=_force3,
        report=_report3,
        prestress=spring_prestress,
    ),
}
