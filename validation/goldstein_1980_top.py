"""Heavy symmetric top.

A symmetric body with a fixed point on its axis, spinning fast under gravity.  With its axis horizontal and the right
precession it precesses without nutation; let go without precession it nutates between two angles.

             _\\_ |
            \\   \\|           J = diag(.1, .1, .02) kg m2 about the mass centre, m = 1 kg
             \\___\\             centre .3 m from the pivot, spin 100 rad/s about the axis, g = 9.81 m/s2
                  \\
                   o  pivot (spherical joint)

Source: H. Goldstein, "Classical Mechanics", 2nd edition (1980), section 5-7.  With J1 about the pivot, J3 w3 = L3 and
the angle theta from the vertical, steady precession has J3 w3 P - J1 P^2 cos(theta) = m g l; with a horizontal axis
P = m g l/(J3 w3) exactly, and to first order at every angle.  Released at theta0 with P = 0 the height u = cos(theta)
swings between its start and the root u1 of (1 - u^2)(2 m g l/J1) = (L3/J1)^2 (u0 - u), with the period of the elliptic
integral of du/sqrt(f(u)), f = (2 m g l/J1)(u0 - u)(1 - u^2) - (L3/J1)^2 (u0 - u)^2; the first order is 2 pi J1/L3.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY
from fem_mbs.validation.simo_wong_1991_rigid_body import orthonormality, rotations

CAPABILITY = "mechanisms"
CASES = {"B-TOP": "steady precession and nutation of a symmetric top on a spherical joint"}

MASS, ARM, GRAVITY, SPIN = 1.0, 0.3, 9.81, 100.0
J = np.array([0.1, 0.1, 0.02])
J1 = J[0] + MASS * ARM**2
L3 = J[2] * SPIN


def build(
    theta: float = 0.5 * np.pi, precession: float = 1.4715, h: float = 0.001, duration: float = 5.0, **options
) -> Model:
    """Return the top, inclined by ``theta`` [rad] from the vertical towards x, precessing about the vertical
    [rad/s]."""
    model = Model(3, "heavy top", gravity=(0.0, 0.0, -GRAVITY))
    axis = np.array([np.sin(theta), 0.0, np.cos(theta)])
    model.body("top", ARM * axis, mass=MASS, inertia=J, rotation=(0.0, theta, 0.0))
    model.joint("pivot", "spherical", "top", "ground", point=(0.0, 0.0, 0.0))
    # body spin about the axis: SPIN, of which the precession makes precession * cos(theta)
    w = (SPIN - precession * np.cos(theta)) * axis + np.array([0.0, 0.0, precession])
    model.initial("top", spin=w, velocity=np.cross(w, ARM * axis))
    model.sensor("centre", "position", on="top")
    R = np.column_stack(((np.cos(theta), 0.0, -np.sin(theta)), (0.0, 1.0, 0.0), axis))
    for i, name in enumerate("XYZ"):
        model.sensor(name, "position", on="top", point=ARM * axis + R[:, i])
    model.sensor("pivot", "position", on="top", point=(0.0, 0.0, 0.0))
    model.transient_step(duration, h, frames=0, **options)
    return model


def nutation_period(theta: float) -> tuple[float, float]:
    """Return period [s] of the nutation after a release without precession, and the lowest cos(theta)."""
    from scipy.special import ellipk

    u0, a, b = np.cos(theta), 2.0 * MASS * GRAVITY * ARM / J1, (L3 / J1) ** 2
    # f(u) = (u0 - u) (a (1 - u^2) - b (u0 - u)): a cubic with roots u1 < u0 < u2
    u1, u2 = np.sort(np.roots([-a, b, a - b * u0]).real)
    # integral of du/sqrt(a (u - u1)(u0 - u)(u2 - u)) from u1 to u0, there and back
    k2 = (u0 - u1) / (u2 - u1)
    return float(4.0 * ellipk(k2) / np.sqrt(a * (u2 - u1))), float(u1)


def reference() -> dict:
    period, lowest = nutation_period(np.deg2rad(60.0))
    return {
        "precession": MASS * GRAVITY * ARM / L3,
        "nutation period": period,
        "lowest cos(theta)": lowest,
    }


def check(f: Findings) -> None:
    known = reference()
    # steady precession, axis horizontal
    rates, heights = [], []
    for h in (4e-3, 2e-3, 1e-3):
        steady = solve(build(0.5 * np.pi, known["precession"], h, 5.0))
        centre = steady.sensor("centre").values
        angle = np.unwrap(np.arctan2(centre[:, 1], centre[:, 0]))
        rates.append(angle[-1] / 5.0)
        heights.append(np.abs(centre[:, 2]).max() / ARM)
    f.converged(
        "B-TOP", "top, axis horizontal: rate of precession [rad/s], h -> 0", rates, known["precession"], CLOSED_FORM
    )
    f.converged(
        "B-TOP", "top, axis horizontal: largest height of the centre over its arm, h -> 0", heights, 0.0, PROPERTY
    )
    # release without precession at 60 deg, two step sizes
    periods, lowest = [], []
    errors, curves, ledgers = [], [], {"steady precession": steady.steps[0]}
    theta = np.deg2rad(60.0)
    for h in (2e-3, 1e-3, 5e-4):
        solution = solve(build(theta, 0.0, h, 6.0))
        step = solution.steps[0]
        u = solution.sensor("centre").values[:, 2] / ARM
        low = np.flatnonzero((u[1:-1] < u[:-2]) & (u[1:-1] <= u[2:])) + 1
        a, b, c = u[low - 1], u[low], u[low + 1]
        lows = step.time[low] + 0.5 * (a - c) / (a - 2.0 * b + c) * h
        period = (lows[-1] - lows[0]) / (len(lows) - 1)
        errors.append(period / known["nutation period"] - 1.0)
        ledgers[f"nutation, h = {h:g} s"] = step
        periods.append(period)
        lowest.append((b - 0.125 * (a - c) ** 2 / (a - 2.0 * b + c)).min())
        if h == 5e-4:
            curves.append(Curve(step.time[step.time < 3.0], np.degrees(np.arccos(u[step.time < 3.0])), "h = 5e-4 s"))
            curves.append(
                Curve(
                    np.array([0.0, 3.0]),
                    np.full(2, np.degrees(np.arccos(known["lowest cos(theta)"]))),
                    "exact lowest angle",
                    ":",
                )
            )
    what = "top released at 60 deg:"
    f.converged("B-TOP", f"{what} period of the nutation [s], h -> 0", periods, known["nutation period"], CLOSED_FORM)
    f.converged("B-TOP", f"{what} lowest cos(theta), h -> 0", lowest, known["lowest cos(theta)"], CLOSED_FORM)
    f.row(
        "B-TOP",
        "order of the error of this period",
        np.log2(errors[0] / errors[1]),
        2.0,
        "The error is of second order; two steps show it within .1.",
        PROPERTY,
        tolerance=0.1,
    )
    for label, step in ledgers.items():
        f.zero(
            "B-TOP",
            f"change of the energy, top, {label}",
            energy_error(step, constant=True),
            1e-12,
            "The rule conserves it exactly; only round-off is left.",
        )
        vertical = step.series["angular momentum"][:, 2]
        f.zero(
            "B-TOP",
            f"change of the vertical angular momentum, top, {label}",
            np.abs(vertical / vertical[0] - 1.0).max() if abs(vertical[0]) > 1e-6 else np.abs(vertical).max() / L3,
            CONSERVED,
            "The rule conserves it exactly; only round-off is left.",
        )
    R = rotations(steady, centre="centre")
    f.zero(
        "B-TOP",
        "orthonormality of the rotation of the top",
        orthonormality(R),
        1e-13,
        "Rotations stay orthonormal; 1e-13 is demanded.",
    )
    off = np.abs(steady.sensor("pivot").values).max() / ARM
    f.zero(
        "B-TOP",
        "gap of the spherical joint over the arm",
        off,
        1e-12,
        "Constraints are satisfied at the end of each step.",
    )
    f.figure("Nutation of the top", curves, "Time [s]", "Angle from the vertical [deg]", "Released without precession.")
