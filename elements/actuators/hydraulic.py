"""Hydraulic actuators on lengths, displacements and angles: `hydraulic_length`, `_offset`, `_angle` (2/3).

A cylinder of piston area A (rotary: volume per radian) with the load pressure p of its chambers and a servo valve of
opening u (Leimbach & Hahn 1993, eq. 16, for one actuator):

    C p' = Q(u, p) - L p - A s',   F = A p - c s',

C [m^3/Pa] the capacity of the oil, L [m^3/(s Pa)] the leakage (with the flow-pressure coefficient of the valve), c a
viscous friction.  The flow is Q = K u, or with a supply pressure p_s that of a symmetric valve,

    Q = K u r(1 - sgn(u) p/p_s)

(Merritt 1967, eq. 5-35).  The opening is that of a law, u* (`fem_mbs.elements.actuators.valve`, also for r), at once or
by a spool of first order, T u' = u* - u.

Energy: C p^2/2 is stored, L p^2 and c s'^2 are lost, p Q is fed in.  With the mid-point rule C p_m (p1 - p0) is the
change of what is stored, so the ledger closes to round-off.  State variables: p, u; without T the element does without
u.
"""

from __future__ import annotations

import math

from fem_mbs.contract import inner
from fem_mbs.elements.actuators.valve import COLUMNS, KD, KF, KP, asked, opened, opening_columns
from fem_mbs.elements.joints.state_force import StateLaw, state_types

__all__ = ["TYPES"]

AREA, CAPACITY, GAIN, LEAKAGE, SUPPLY, FRICTION, SPOOL = range(COLUMNS, COLUMNS + 7)  # columns of par
_PRESSURE, _OPENING = range(2)  # state variables


@inner
def _flow(par, e, u, p):
    """Return the flow Q, and its derivatives by u and p."""
    gain, supply = par[e, GAIN], par[e, SUPPLY]
    if not supply < math.inf:
        return gain * u, gain, 0.0
    side = 1.0 if u > 0 else -1.0
    root, slope = opened(u, 1.0 - p / supply, 1.0 + p / supply)
    return gain * u * root, gain * root, -gain * u * side / supply * slope


@inner
def hydraulic_law(par, e, tail, fun, time, hist, s, rate, x, F, Fx, g, gs, gx):
    area, capacity, spool = par[e, AREA], par[e, CAPACITY], par[e, SPOOL]
    p = x[_PRESSURE]
    wanted, passed = asked(par, e, fun, time, s, rate, p)
    F[0], F[1], F[2] = area * p - par[e, FRICTION] * rate, 0.0, -par[e, FRICTION]
    Fx[_PRESSURE], Fx[_OPENING] = area, 0.0
    u = x[_OPENING] if spool > 0 else wanted
    flow, by_u, by_p = _flow(par, e, u, p)
    g[_PRESSURE] = (flow - par[e, LEAKAGE] * p - area * rate) / capacity
    gs[_PRESSURE, 0], gs[_PRESSURE, 1] = 0.0, -area / capacity
    gx[_PRESSURE, _PRESSURE], gx[_PRESSURE, _OPENING] = (by_p - par[e, LEAKAGE]) / capacity, 0.0
    g[_OPENING] = gs[_OPENING, 0] = gs[_OPENING, 1] = gx[_OPENING, _PRESSURE] = gx[_OPENING, _OPENING] = 0.0
    if spool > 0:
        g[_OPENING] = (wanted - u) / spool
        gs[_OPENING, 0], gs[_OPENING, 1] = -passed * par[e, KP] / spool, -passed * par[e, KD] / spool
        gx[_OPENING, _PRESSURE], gx[_OPENING, _OPENING] = -passed * par[e, KF] / spool, -1.0 / spool
        gx[_PRESSURE, _OPENING] = by_u / capacity
        return
    gs[_PRESSURE, 0] -= by_u * passed * par[e, KP] / capacity
    gs[_PRESSURE, 1] -= by_u * passed * par[e, KD] / capacity
    gx[_PRESSURE, _PRESSURE] -= by_u * passed * par[e, KF] / capacity


@inner
def hydraulic_stored(par, e, tail, x):
    return 0.5 * par[e, CAPACITY] * x[_PRESSURE] * x[_PRESSURE]


@inner
def hydraulic_powers(par, e, tail, fun, time, s, rate, x):
    p = x[_PRESSURE]
    u = x[_OPENING] if par[e, SPOOL] > 0 else asked(par, e, fun, time, s, rate, p)[0]
    lost = par[e, LEAKAGE] * p * p + par[e, FRICTION] * rate * rate
    return lost, p * _flow(par, e, u, p)[0], 0.0


_LAW = StateLaw(
    par=lambda s: (
        *opening_columns(s), f"area [{'m^2' if s.unit == 'm' else 'm^3/rad'}]", "capacity [m^3/Pa]", "gain [m^3/s]",
        "leakage [m^3/(s Pa)]", "supply [Pa]", f"friction [{s.force_unit} s/{s.unit}]", "spool time [s]",
    ),
    names=lambda s: ("pressure [Pa]", "opening [-]"),
    law=hydraulic_law,
    stored=hydraulic_stored,
    powers=hydraulic_powers,
)  # fmt: skip

TYPES = state_types("hydraulic", _LAW)
