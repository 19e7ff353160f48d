"""Bathe's pendulum: a stiff bar with a tip mass.

A bar hangs from a hinge; its tip mass starts from the lowest position with the speed that just carries it to the
horizontal.  Large rotations, an axial frequency 2000 times that of the swing: the standard trap for integrators.

           o  hinge
           |
           |  bar: length 304.43 cm, EA = 1e10 kg cm/s2, no mass
           |
          (m) --> v0 = 772.5 cm/s       m = 10 kg, g = 980 cm/s2

Source: M.A. Crisfield, J. Shi, "An energy conserving co-rotational procedure for non-linear dynamics with finite
elements", in: Computer Aided Analysis of Rigid and Flexible Mechanical Systems, NATO ASI, Troia 1993, example 1
(figs 2-4), after K.J. Bathe, "Finite Element Procedures".  Units kg, cm, s.
The mid-point rule (eqs 1-24) swings for ever with every step size; Newmark's average acceleration gains energy and
"locks".  Periods and amplitudes were recomputed independently (mean of the upward zero crossings, linear
interpolation); the exact period of the rigid pendulum is 4 sqrt(l/g) K(k), k = sin(amplitude/2) = v0/(2 sqrt(g l)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, crossings, energy_error, last_order
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY, RECOMPUTED

CAPABILITY = "integration"
CASES = {
    "C3": "energy of the mid-point rule at every step size",
    "C4": "amplitude of the mid-point rule: no locking",
    "C5": "period of the mid-point rule",
    "C6": "Newmark's rule at h = 0.1 s gains energy without bound",
    "C7": "Newmark's rule at h = 0.025 s is still good",
    "C13": "total-Lagrangian bar: exact; mean unit vectors: nearly, and not exactly, conserving",
}

LENGTH, MASS, GRAVITY, EA, SPEED = 304.43, 10.0, 980.0, 1e10, 772.5


def build(
    h: float = 0.025,
    duration: float = 60.0,
    rule: Any = "midpoint",
    strain: Any = "corotational",
    prestress: float = 0.0,
    **options,
) -> Model:
    """Return the pendulum; ``prestress`` is the axial force at the start [kg cm/s2]."""
    model = Model(2, "Bathe's pendulum", gravity=(0.0, -GRAVITY))
    model.section("bar", "stiffness", EA=EA, rhoA=0.0)
    model.line("bar", (0.0, 0.0, 0.0), (0.0, -LENGTH, 0.0), 1)
    model.trusses("bar", "bar", "bar", strain=strain, prestress=prestress)
    model.point_mass("mass", "bar:end", MASS)
    model.fix("bar:start")
    model.initial("bar:end", velocity=(SPEED, 0.0))
    model.sensor("tip", "displacement", on="bar:end")
    model.transient_step(round(duration / h) * h, h, rule=rule, frames=0, **options)
    return model


def reference() -> dict:
    """Return mean periods [s] by step size, exact period of the rigid pendulum, displacements at full seconds (h =
    0.1)."""
    from scipy.special import ellipk

    k = SPEED / (2.0 * np.sqrt(GRAVITY * LENGTH))
    return {
        "periods": {0.025: 4.13457, 0.05: 4.13742, 0.1: 4.14882, 0.2: 4.19402, 0.5: 4.50129},
        "exact period": 4.0 * np.sqrt(LENGTH / GRAVITY) * ellipk(k * k),
        "u(1 ... 10 s)": (304.429, 56.521, -304.370, -110.172, 303.960, 158.504, -302.626, -199.809, 299.514, 233.254),
    }


def check(f: Findings) -> None:
    _midpoint(f)
    _newmark(f)
    _variants(f)


def _midpoint(f: Findings) -> None:
    known = reference()
    duration = 5000.0 if f.long else 60.0
    steps, curves = {}, []
    means: list[float] = []
    for h, period in known["periods"].items():
        solution = solve(build(h, duration))
        step, tip = solution.steps[0], solution.sensor("tip").values[:, 0]
        first = step.time <= 60.0 + 1e-9
        t, u = step.time[first], tip[first]
        many = f"{len(step.time) - 1} steps of h = {h:g} s"
        steps[f"h = {h:g} s"] = step
        f.zero(
            "C3",
            f"energy error, {many}",
            energy_error(step, constant=True),
            CONSERVED,
            "The rule conserves it exactly; only round-off is left.",
        )
        # near the horizontal the bar turns with g/l, so that u falls by l (g t^2/(2 l))^2/2 within half a step t
        vibration = 2.0 * MASS * (SPEED**2 / LENGTH + GRAVITY) * LENGTH / EA
        sampled = GRAVITY**2 * h**4 / (128.0 * LENGTH)
        f.row(
            "C4", f"amplitude [cm], {many}", np.abs(tip).max(), LENGTH,
            "Samples are half a step off the top at most, g^2 h^4/(128 l); the bar stretches.",
            PROPERTY, tolerance=sampled + vibration,
        )  # fmt: skip
        mean = float(np.diff(crossings(t, u)).mean())
        # u'' = -w^2 u between two samples about a zero: the line through them is off by w^2 h^3/16 at both ends
        w, count = 2.0 * np.pi / period, len(crossings(t, u)) - 1
        f.row("C5", f"mean period [s], h = {h:g} s", mean, period,
              "One unit of the last digit, and linear interpolation: (w h)^2 h/8 over the number of periods.",
              RECOMPUTED, tolerance=1e-5 + (w * h) ** 2 * h / (8.0 * count))  # fmt: skip
        means.append(mean)
        if h == 0.1:
            seconds = np.array([u[round(k / h)] for k in range(1, 11)])
            off = np.abs(seconds - known["u(1 ... 10 s)"]).max()
            f.zero(
                "C5",
                "largest deviation of u at 1, 2 ... 10 s [cm], h = 0.1 s",
                off,
                1e-3 + vibration,
                "One unit of the last digit; the axial vibration of the unstretched start, twice its static stretch.",
                RECOMPUTED,
            )
        if h in (0.1, 0.5):
            curves.append(Curve(t[t <= 12.0], u[t <= 12.0], f"mid-point rule, h = {h:g} s", "-" if h == 0.1 else "--"))
    f.converged(
        "C5", "mean period [s], h -> 0, against the exact one", means[2::-1], known["exact period"], CLOSED_FORM,
        error=6e-6, why="zeros interpolated at the coarsest step, (w h)^2 h/8 over 14 periods",
    )  # fmt: skip
    t = np.linspace(0.0, 12.0, 400)
    curves.append(Curve(t, _rigid(t), "rigid pendulum, exact", ":"))
    f.figure(
        "Horizontal displacement of the tip",
        curves,
        "Time [s]",
        "u [cm]",
        "The period grows with h, the amplitude stays.",
    )
    f.energy_figure(steps, "Mid-point rule: round-off at every step size.")


def _rigid(t: np.ndarray) -> np.ndarray:
    """Return u(t) of the rigid pendulum from its lowest position."""
    from scipy.special import ellipj

    k = SPEED / (2.0 * np.sqrt(GRAVITY * LENGTH))
    sn, _cn, dn, _ = ellipj(np.sqrt(GRAVITY / LENGTH) * t, k * k)
    return 2.0 * LENGTH * k * sn * dn


def _newmark(f: Findings) -> None:
    centripetal = MASS * (SPEED**2 / LENGTH + GRAVITY)
    kinetic = 0.5 * MASS * SPEED**2
    curves = []
    for start, prestress in (("pre-stretched", centripetal), ("unstretched", 0.0)):
        step = solve(build(0.1, 6.0, rule="newmark", prestress=prestress)).steps[0]
        error = np.abs(step.ledger("closing error")) / kinetic
        passed = np.flatnonzero(error > 0.1)
        time = step.time[passed[0]] if passed.size else np.nan
        f.between(
            "C6",
            f"Newmark, h = 0.1 s, {start} bar: time when the energy error passes 10 % [s]",
            time,
            0.0,
            6.0,
            "The growth before 6 s is asserted; the path itself is chaotic.",
        )
        curves.append(Curve(step.time, np.maximum(error, 1e-12), f"Newmark, h = 0.1 s, {start}"))
    sizes, errors = (0.025, 0.0125), []
    for h in sizes:
        solution = solve(build(h, 12.0, rule="newmark", prestress=centripetal))
        last = np.abs(solution.steps[0].ledger("closing error")) / kinetic
        errors.append(float(last.max()))
        if h == sizes[0]:
            step, error = solution.steps[0], last
    f.row(
        "C7", "Newmark, h = 0.025 and 0.0125 s: order of the largest energy error in 12 s", last_order(sizes, errors),
        2.0, "Newmark's rule is of second order where it is still good; at h = 0.1 s it fails.", PROPERTY,
        tolerance=0.1,
    )  # fmt: skip
    tip = solution.sensor("tip").values[:, 0]
    # as of the mid-point rule: samples off the top, and the stretch of the bar
    vibration = 2.0 * centripetal * LENGTH / EA
    f.row(
        "C7", "Newmark, h = 0.0125 s: amplitude [cm] in 12 s", np.abs(tip).max(), LENGTH,
        "Samples are half a step off the top at most, g^2 h^4/(128 l); the bar stretches.", PROPERTY,
        tolerance=GRAVITY**2 * sizes[1] ** 4 / (128.0 * LENGTH) + vibration,
    )  # fmt: skip
    curves.append(Curve(step.time, np.maximum(error, 1e-12), "Newmark, h = 0.025 s"))
    step = solve(build(0.1, 12.0)).steps[0]
    error = np.abs(step.ledger("closing error")) / kinetic
    curves.append(Curve(step.time, np.maximum(error, 1e-17), "mid-point rule, h = 0.1 s"))
    f.figure(
        "Energy error of the two rules",
        curves,
        "Time [s]",
        "Energy error / kinetic energy at the start [-]",
        "The same input: Newmark's rule gains energy until it locks.",
        "log",
    )


def _variants(f: Findings) -> None:
    green = solve(build(0.1, 12.0, strain="green")).steps[0]
    f.zero(
        "C13",
        "Green's strain (eqs 25-28), h = 0.1 s: energy error",
        energy_error(green, constant=True),
        1e-9,
        "The formulation is exact, as in C3; only round-off is left.",
    )
    errors = [energy_error(solve(build(h, 60.0, strain="average")).steps[0], constant=True) for h in (0.1, 0.05, 0.025)]
    f.converged("C13", "mean unit vectors (eqs 29-30): energy error, h -> 0", errors, 0.0, PROPERTY)
    strain = 0.5 * (MASS * (SPEED**2 / LENGTH + GRAVITY)) ** 2 * LENGTH / EA
    f.between(
        "C13", "mean unit vectors (eqs 29-30), h = 0.1 s: energy error", errors[0], CONSERVED,
        strain / (0.5 * MASS * SPEED**2), "It is not zero, and below the energy that the bar stores.",
    )  # fmt: skip
