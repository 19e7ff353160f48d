"""Controllers with memory on lengths, displacements and angles: `servo_length`, `servo_offset`, `servo_angle` (2/3).

A motor (`fem_mbs.elements.actuators.motor`) whose controller integrates, filters its derivative, and acts through a
lag. With q = s - start and the error e = r(t) - q, the command

    c = f(t) + kp e + I + kd d,

has the integral part I' = ki e + (sat c - c)/T_t, sat c = c limited to -limit .. limit, and d = e', or with a filter
d = (e - z)/T_f, z' = (e - z)/T_f.  The force is sat c, or with a lag a' = (sat c - a)/T_a the actuator force a.  The
tracking time T_t stops the integral while the command is cut off (back-calculation, Astrom & Hagglund 1995, ch. 3.5).

The force acts through the discrete gradient of the coordinate; the ledger books its work as that of loads.  State
variables: I, z, a; an element does without those whose ki, T_f or T_a is zero.
"""

from __future__ import annotations

from fem_mbs.contract import inner
from fem_mbs.elements.common import time_value
from fem_mbs.elements.joints.state_force import StateLaw, no_power, nothing_stored, state_types

__all__ = ["TYPES"]

START, FUNCTION, REFERENCE, REFERENCE_RATE, KP, KI, KD, LIMIT, FILTER, LAG, TRACKING = range(11)  # columns of par
_INTEGRAL, _FILTERED, _ACTUATOR = range(3)  # state variables


@inner
def servo_law(par, e, tail, fun, time, hist, s, rate, x, F, Fx, g, gs, gx):
    kp, kd, limit, filtering = par[e, KP], par[e, KD], par[e, LIMIT], par[e, FILTER]
    error = time_value(fun, par[e, REFERENCE], time, 0.0) - (s - par[e, START])
    command = time_value(fun, par[e, FUNCTION], time, 0.0) + kp * error + x[_INTEGRAL]
    by_s, by_rate, by_filtered = -kp, 0.0, 0.0
    if filtering > 0:
        command += kd * (error - x[_FILTERED]) / filtering
        by_s -= kd / filtering
        by_filtered = -kd / filtering
    else:
        command += kd * (time_value(fun, par[e, REFERENCE_RATE], time, 0.0) - rate)
        by_rate = -kd
    cut = min(max(command, -limit), limit)
    passed = 1.0 if cut == command else 0.0
    for i in range(3):
        Fx[i] = g[i] = gs[i, 0] = gs[i, 1] = 0.0
        for j in range(3):
            gx[i, j] = 0.0
    g[_INTEGRAL], gs[_INTEGRAL, 0] = par[e, KI] * error, -par[e, KI]
    if par[e, TRACKING] > 0:
        g[_INTEGRAL] += (cut - command) / par[e, TRACKING]
        back = (passed - 1.0) / par[e, TRACKING]
        gs[_INTEGRAL, 0] += back * by_s
        gs[_INTEGRAL, 1] = back * by_rate
        gx[_INTEGRAL, _INTEGRAL], gx[_INTEGRAL, _FILTERED] = back, back * by_filtered
    if filtering > 0:
        g[_FILTERED] = (error - x[_FILTERED]) / filtering
        gs[_FILTERED, 0] = gx[_FILTERED, _FILTERED] = -1.0 / filtering
    lag = par[e, LAG]
    if lag > 0:
        F[0], F[1], F[2] = x[_ACTUATOR], 0.0, 0.0
        Fx[_ACTUATOR] = 1.0
        g[_ACTUATOR] = (cut - x[_ACTUATOR]) / lag
        gs[_ACTUATOR, 0], gs[_ACTUATOR, 1] = passed * by_s / lag, passed * by_rate / lag
        gx[_ACTUATOR, _INTEGRAL], gx[_ACTUATOR, _FILTERED] = passed / lag, passed * by_filtered / lag
        gx[_ACTUATOR, _ACTUATOR] = -1.0 / lag
        return
    F[0], F[1], F[2] = cut, passed * by_s, passed * by_rate
    Fx[_INTEGRAL], Fx[_FILTERED] = passed, passed * by_filtered


_LAW = StateLaw(
    par=lambda s: (
        f"start [{s.unit}]", "function", "reference", "reference rate", f"kp [{s.force_unit}/{s.unit}]",
        f"ki [{s.force_unit}/({s.unit} s)]", f"kd [{s.force_unit} s/{s.unit}]", f"limit [{s.force_unit}]",
        "filter time [s]", "lag [s]", "tracking time [s]",
    ),
    names=lambda s: (f"integral [{s.force_unit}]", f"filtered [{s.unit}]", f"actuator [{s.force_unit}]"),
    law=servo_law,
    stored=nothing_stored,
    powers=no_power,
)  # fmt: skip

TYPES = state_types("servo", _LAW)
