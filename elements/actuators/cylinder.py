"""Hydraulic cylinders with two chambers: `cylinder_length`, `cylinder_offset`, `cylinder_angle` (2/3).

As `fem_mbs.elements.actuators.hydraulic`, with a pressure of each chamber: a pushes the piston so that the coordinate s
grows, b on the side of the rod against it,

    C_a p_a' = Q_a - L (p_a - p_b) - D p_a - A_a s',   F = A_a p_a - A_b p_b - c s',
    C_b p_b' = Q_b + L (p_a - p_b) - D p_b + A_b s',

L the leakage past the piston, D that of each chamber to the tank, at pressure zero.  The valve has four edges: for
u > 0 Q_a = K u r(1 - p_a/p_s) from the supply and Q_b = -K u r(p_b/p_s) to the tank, for u < 0 the other way round
(Merritt 1967, ch. 5); without a supply pressure Q_a = K u = -Q_b.  The load pressure of its law is p_a - p_b A_b/A_a.

Energy: C p^2/2 of both is stored, L (p_a - p_b)^2, D p^2 and c s'^2 are lost, p_a Q_a + p_b Q_b is fed in, without
remainder in the mid-point rule.  State variables: p_a, p_b, u; without a spool the element does without u.  Cavitation
is not described: pressures may fall below zero.
"""

from __future__ import annotations

import math

from fem_mbs.contract import inner
from fem_mbs.elements.actuators.valve import COLUMNS, KD, KF, KP, asked, opened, opening_columns
from fem_mbs.elements.joints.state_force import StateLaw, state_types

__all__ = ["TYPES"]

# columns of par
AREA, AREA_B, CAPACITY, CAPACITY_B, GAIN, LEAKAGE, DRAIN, SUPPLY, FRICTION, SPOOL = range(COLUMNS, COLUMNS + 10)
_A, _B, _OPENING = range(3)  # state variables


@inner
def _flow(par, e, u, p, sign):
    """Return the flow into a chamber and its derivatives by u and p.

    The valve connects the chamber with the supply for u > 0 (``sign`` 1) or for u < 0 (-1)."""
    gain, supply = sign * par[e, GAIN], par[e, SUPPLY]
    if not supply < math.inf:
        return gain * u, gain, 0.0
    root, slope = opened(sign * u, 1.0 - p / supply, p / supply)
    toward = -1.0 if sign * u > 0 else 1.0  # of the difference, by p
    return gain * u * root, gain * root, toward * gain * u * slope / supply


@inner
def _load(par, e, x):
    return x[_A] - x[_B] * par[e, AREA_B] / par[e, AREA]


@inner
def cylinder_law(par, e, tail, fun, time, hist, s, rate, x, F, Fx, g, gs, gx):
    a, b, spool, leakage = par[e, AREA], par[e, AREA_B], par[e, SPOOL], par[e, LEAKAGE]
    wanted, passed = asked(par, e, fun, time, s, rate, _load(par, e, x))
    u = x[_OPENING] if spool > 0 else wanted
    F[0] = a * x[_A] - b * x[_B] - par[e, FRICTION] * rate
    F[1], F[2] = 0.0, -par[e, FRICTION]
    Fx[_A], Fx[_B], Fx[_OPENING] = a, -b, 0.0
    across = leakage * (x[_A] - x[_B])
    for i in range(2):
        sign = 1.0 if i == _A else -1.0
        area, capacity = (a, par[e, CAPACITY]) if i == _A else (b, par[e, CAPACITY_B])
        flow, by_u, by_p = _flow(par, e, u, x[i], sign)
        g[i] = (flow - sign * across - par[e, DRAIN] * x[i] - sign * area * rate) / capacity
        gs[i, 0], gs[i, 1] = 0.0, -sign * area / capacity
        gx[i, i] = (by_p - leakage - par[e, DRAIN]) / capacity
        gx[i, 1 - i] = leakage / capacity
        gx[i, _OPENING] = 0.0
        if spool > 0:
            gx[i, _OPENING] = by_u / capacity
            continue
        gs[i, 0] -= by_u * passed * par[e, KP] / capacity
        gs[i, 1] -= by_u * passed * par[e, KD] / capacity
        gx[i, _A] -= by_u * passed * par[e, KF] / capacity
        gx[i, _B] += by_u * passed * par[e, KF] * b / a / capacity
    g[_OPENING] = gs[_OPENING, 0] = gs[_OPENING, 1] = 0.0
    gx[_OPENING, _A] = gx[_OPENING, _B] = gx[_OPENING, _OPENING] = 0.0
    if spool > 0:
        g[_OPENING] = (wanted - u) / spool
        gs[_OPENING, 0], gs[_OPENING, 1] = -passed * par[e, KP] / spool, -passed * par[e, KD] / spool
        gx[_OPENING, _A], gx[_OPENING, _B] = -passed * par[e, KF] / spool, passed * par[e, KF] * b / a / spool
        gx[_OPENING, _OPENING] = -1.0 / spool


@inner
def cylinder_stored(par, e, tail, x):
    return 0.5 * (par[e, CAPACITY] * x[_A] * x[_A] + par[e, CAPACITY_B] * x[_B] * x[_B])


@inner
def cylinder_powers(par, e, tail, fun, time, s, rate, x):
    u = x[_OPENING] if par[e, SPOOL] > 0 else asked(par, e, fun, time, s, rate, _load(par, e, x))[0]
    lost = par[e, LEAKAGE] * (x[_A] - x[_B]) ** 2 + par[e, DRAIN] * (x[_A] * x[_A] + x[_B] * x[_B])
    lost += par[e, FRICTION] * rate * rate
    return lost, x[_A] * _flow(par, e, u, x[_A], 1.0)[0] + x[_B] * _flow(par, e, u, x[_B], -1.0)[0], 0.0


def _area(s) -> str:
    return "m^2" if s.unit == "m" else "m^3/rad"


_LAW = StateLaw(
    par=lambda s: (
        *opening_columns(s), f"area [{_area(s)}]", f"area b [{_area(s)}]", "capacity [m^3/Pa]",
        "capacity b [m^3/Pa]", "gain [m^3/s]", "leakage [m^3/(s Pa)]", "drain [m^3/(s Pa)]", "supply [Pa]",
        f"friction [{s.force_unit} s/{s.unit}]", "spool time [s]",
    ),
    names=lambda s: ("pressure a [Pa]", "pressure b [Pa]", "opening [-]"),
    law=cylinder_law,
    stored=cylinder_stored,
    powers=cylinder_powers,
)  # fmt: skip

TYPES = state_types("cylinder", _LAW)
