"""Nonlinear spring-dampers with stops, on lengths, displacements and angles: `nonlinear_spring`, `_slide`, `_torsion`.

On a coordinate s of two ends (`fem_mbs.elements.joints.coordinate`), x = s - free, r its rate, acts

    F = preload + mean F(x) + D(r) + k (mean <s - upper>) <1 + b r> - k (mean <lower - s>) <1 - b r>,   <y> = max(y, 0)

against its growth, means over the step (exact difference quotients of the potentials, `fem_mbs.elements.laws`), r =
(s1 - s0)/h; one-state rules: the values at the state.  F(x), D(r) are piecewise cubics: tables, splines, polynomials.
The stops are penalties, with the damping of Hunt & Crossley (1975), F = k y (1 + b y'), which starts and ends at zero
and, cut off at zero, never pulls.  The work over a step is V1 - V0 plus the dissipation; resultant and moment vanish.

Parameters go on with the pieces of F and of D, 6 numbers each.  Outputs: F, and s at the end of the step.
"""

from __future__ import annotations

from fem_mbs.contract import COMMIT, DECAY, DISSIPATED, LEDGER, ONE_STATE, OUTPUT, RULE, START, STRAIN, H, inner, kernel
from fem_mbs.elements.coordinates import dot, end_velocities, spring_rows
from fem_mbs.elements.joints.coordinate import (
    ANGLE,
    LENGTH,
    OFFSET,
    coordinate_columns,
    coordinate_count,
    coordinate_rate,
    coordinate_rows,
    coordinate_step,
    coordinate_turns,
    workspace,
)
from fem_mbs.elements.laws import ROW, hinge_mean, piecewise_at, piecewise_energy, piecewise_mean
from fem_mbs.elements.registry import ElementType

__all__ = ["TYPES"]

# columns after those of the coordinate
_FREE, _PRELOAD, _LOWER, _UPPER, _STIFF, _DAMP, _N_FORCE, _N_RATE, _TABLE = range(9)


@inner
def _conservative(par, e, c, s0, s1):
    """Means over the step: spring force, forces of the upper and the lower stop; and their derivatives by s1."""
    free = par[e, c + _FREE]
    n = int(par[e, c + _N_FORCE])
    force, slope = piecewise_mean(par, e, c + _TABLE, n, s0 - free, s1 - free)
    k = par[e, c + _STIFF]
    up, by_up = hinge_mean(s0 - par[e, c + _UPPER], s1 - par[e, c + _UPPER])
    low, by_low = hinge_mean(par[e, c + _LOWER] - s0, par[e, c + _LOWER] - s1)
    return force + par[e, c + _PRELOAD], k * up, k * low, slope, k * by_up, k * by_low


@inner
def _loss(par, e, c, up, low, rate):
    """The part of the force that dissipates, its derivative by the rate, and the factors of the stops' slopes."""
    n = int(par[e, c + _N_RATE])
    table = c + _TABLE + ROW * int(par[e, c + _N_FORCE])
    force, by_rate = piecewise_at(par, e, table, n, rate)
    b = par[e, c + _DAMP]
    # never below zero: a stop does not pull
    up_factor, low_factor = max(1 + b * rate, 0.0), max(1 - b * rate, 0.0)
    if up_factor > 0:
        by_rate += b * up
    if low_factor > 0:
        by_rate += b * low
    return force + up * (up_factor - 1) - low * (low_factor - 1), by_rate, up_factor, low_factor


@inner
def _elastic(par, e, c, s):
    """Force of spring and stops at s, and its slope."""
    force, slope = piecewise_at(par, e, c + _TABLE, int(par[e, c + _N_FORCE]), s - par[e, c + _FREE])
    k = par[e, c + _STIFF]
    up, low = s - par[e, c + _UPPER], par[e, c + _LOWER] - s
    if up > 0:
        force, slope = force + k * up, slope + k
    if low > 0:
        force, slope = force - k * low, slope + k
    return force, slope


@inner
def _decay(ctl, par, e, c, s0, s1, ds):
    """What a decaying rule adds, a (F1 - F0), and its slope; nothing where the law falls, since that would gain."""
    if ctl[DECAY] == 0:
        return 0.0, 0.0
    a = ctl[DECAY] / ctl[H]
    after, slope = _elastic(par, e, c, s1)
    change = after - _elastic(par, e, c, s0)[0]
    return (a * change, a * slope) if change * ds > 0 else (0.0, 0.0)


@kernel
def _force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    P, B, J, W, T, Z, X, row, row1, vel, G = workspace(dim)
    for e in range(e0, e1):
        c = coordinate_count(int(par[e, 0]), dim)
        s0, s1, ds = coordinate_rows(job, ctl, Q, D, U, dof, rot, hist, e, par, P, B, J, W, T, Z, X, row, row1, G)
        if ctl[RULE] == ONE_STATE:
            end_velocities(V, D, dof, rot, 1, e, vel)
            rate = dot(row, vel)
        else:
            rate = ds / ctl[H]
        force, up, low, slope, by_up, by_low = _conservative(par, e, c, s0, s1)
        loss, by_rate, up_factor, low_factor = _loss(par, e, c, up, low, rate)
        extra, by_extra = _decay(ctl, par, e, c, s0, s1, ds)
        slope += by_up * up_factor + by_low * low_factor + by_extra
        force += up - low + loss + extra
        spring_rows(job, ctl, 2 * slope, by_rate, force, row, row1, G, vel, fe, ke, e - e0)


@kernel
def _report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
    dim = 2 if D.shape[2] == 2 else 3
    P, B, J, W, T, Z, X, row, row1, _, G = workspace(dim)
    for e in range(e0, e1):
        if job == START or job == COMMIT:
            coordinate_turns(job == START, D, U, dof, rot, hist, e, par, W, T, Z, row, row1, G, ctl)
            continue
        f = fe[e - e0]
        c = coordinate_count(int(par[e, 0]), dim)
        s0, s1, ds = coordinate_step(ctl, Q, D, U, dof, rot, hist, e, par, P, B, J, W, T, Z, X, row, row1, G)
        if ctl[RULE] == ONE_STATE:  # the force of the end; work by the trapezoidal rule
            rate = coordinate_rate(V, D, dof, rot, 0, e, par, P, W, Z, X)
            force, up, low, _, _, _ = _conservative(par, e, c, s0, s0)
            before = _loss(par, e, c, up, low, rate)[0]
            rate = coordinate_rate(V, D, dof, rot, 1, e, par, P, W, Z, X)
            force, up, low, _, _, _ = _conservative(par, e, c, s1, s1)
            loss = _loss(par, e, c, up, low, rate)[0]
            dissipated = 0.5 * (before + loss) * ds
        else:
            rate = ds / ctl[H]
            force, up, low, _, _, _ = _conservative(par, e, c, s0, s1)
            loss = _loss(par, e, c, up, low, rate)[0] + _decay(ctl, par, e, c, s0, s1, ds)[0]
            dissipated = loss * ds
        if job == LEDGER:
            x = s1 - par[e, c + _FREE]
            beyond = max(s1 - par[e, c + _UPPER], 0.0) ** 2 + max(par[e, c + _LOWER] - s1, 0.0) ** 2
            f[STRAIN] = par[e, c + _PRELOAD] * x + 0.5 * par[e, c + _STIFF] * beyond
            f[STRAIN] += piecewise_energy(par, e, c + _TABLE, int(par[e, c + _N_FORCE]), x)
            f[DISSIPATED] = dissipated
        elif job == OUTPUT:
            f[0] = force + up - low + loss
            f[1] = s1


def _type(kind, dimension):
    name, force, length, rate = {
        LENGTH: ("spring", "force [N]", "length [m]", "[s/m]"),
        OFFSET: ("slide", "force [N]", "displacement [m]", "[s/m]"),
        ANGLE: ("torsion", "moment [N m]", "angle [rad]", "[s/rad]"),
    }[kind]
    first = coordinate_columns(kind, dimension)
    at = len(first) + _PRELOAD

    def prestress(par, outputs, factor):
        """Parameters with the force outputs[:, 0] times ``factor`` more, as preload."""
        par = par.copy()
        par[:, at] += factor * outputs[:, 0]
        return par

    unit = length.partition(" ")[2]
    stiff = f"{force.partition(' ')[2][:-1]}/{unit[1:]}"
    return ElementType(
        name=f"nonlinear_{name}{dimension}",
        dimension=dimension,
        ends=2,
        rotational=True,
        par=(
            *first,
            f"free {unit}", f"preload {force.partition(' ')[2]}", f"lower {unit}", f"upper {unit}",
            f"stop stiffness {stiff}", f"stop damping {rate}", "pieces", "rate pieces",
        ),
        hist=1,
        outputs=(force, length),
        force=_force,
        report=_report,
        prestress=prestress,
        tables=True,
    )  # fmt: skip


TYPES = {t.name: t for t in (_type(kind, d) for kind in (LENGTH, OFFSET, ANGLE) for d in (2, 3))}
