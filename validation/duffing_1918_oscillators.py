"""Duffing's oscillator, a mass between stops, an impact, a controlled joint: forces on joint coordinates, closed forms.

A body slides without friction on a rail, held by a nonlinear spring, by stops alone, or thrown against one; a rotor on
a hinge in space is driven by a controller.

        |          ____                     |  gap d   ____   gap d  |            kp, kd
        |--/\\/\\--| m  |---> x               |<------->| m  |<------>|        r(t) ====> ( I ) q(t)
        |__________o__o______               |__________o__o_________|                  hinge

B-DUFFING  k x + c x^3, released at the amplitude A: T = 4 K(p)/W, W^2 = (k + c A^2)/m, p = c A^2/(2 m W^2), hardening
           and softening; the same from a spline through points of the cubic, which is not exact.
B-STOP     stops of stiffness k at +-d, speed v in between: T = 4 d/v + 2 pi sqrt(m/k); the gap as a table likewise.
           An impact with the damping of Hunt & Crossley, F = k y (1 + b y'): phi(u) = u/b - ln(1 + b u)/b^2 has the
           same value before and after, phi(v) = phi(-v').
B-PD       I q'' = kp (r - q) + kd (r' - q'): with r = W t from rest the error is (W/wd) exp(-z w t) sin(wd t), through
           ten turns; with r = a sin(s t) the transfer function (kp + i kd s)/(kp - I s^2 + i kd s).

Source: G. Duffing, Erzwungene Schwingungen bei veraenderlicher Eigenfrequenz, Vieweg 1918; the period by elliptic
integrals is in A. H. Nayfeh & D. T. Mook, Nonlinear Oscillations, Wiley 1979, ch. 2.  K. H. Hunt & F. R. E. Crossley,
Coefficient of restitution interpreted as damping in vibroimpact, J. Appl. Mech. 42 (1975) 440-445.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipk

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY

CAPABILITY = "actuators"
CASES = {
    "B-DUFFING": "period of Duffing's oscillator",
    "B-STOP": "period between stops, rebound of a damped stop",
    "B-PD": "response of a controlled joint",
}

MASS, STIFFNESS, CUBIC, AMPLITUDE = 2.0, 50.0, 400.0, 0.5
GAP, SPEED, STOP = 0.3, 2.0, 8000.0
IMPACT_DAMPING = 0.15
DUFFING = {"stiffness": STIFFNESS, "cubic": CUBIC}
INERTIA, KP, KD = 0.3, 60.0, 1.8
TURNING, AMPLITUDE_R, OMEGA_R = 30.0, 0.5, 12.0


def build(
    h: float = 0.01,
    duration: float = 10.0,
    law: Mapping[str, Any] = DUFFING,
    free: float = 0.0,
    speed: float = 0.0,
) -> Model:
    """Return the body on its rail; x is counted from the start, the law from ``free``."""
    model = Model(2, "oscillator")
    model.body("mass", (0.0, 0.0), MASS, 1.0)
    model.joint("rail", "prismatic", "ground", "mass", point=(0.0, 0.0), axis=(1.0, 0.0))
    model.joint_spring("spring", "rail", free=free, **law)
    model.initial_speed("mass", "x", speed)
    model.sensor("x", "joint", on="rail")
    model.sensor("v", "velocity", on="mass")
    model.transient_step(duration, h, frames=0)
    return model


def build_rotor(h: float, duration: float, reference) -> Model:
    """Return the rotor on a skew hinge in space."""
    model = Model(3, "controlled rotor")
    model.body("rotor", (0.0, 0.0, 0.0), 1.0, (INERTIA, INERTIA, INERTIA))
    model.joint("hinge", "revolute", "ground", "rotor", point=(0.0, 0.0, 0.0), axis=(1.0, 2.0, -0.5))
    model.motor("drive", "hinge", position=reference, kp=KP, kd=KD)
    model.sensor("q", "joint", on="hinge")
    model.transient_step(duration, h, frames=0)
    return model


def duffing_period(cubic: float) -> float:
    W2 = (STIFFNESS + cubic * AMPLITUDE**2) / MASS
    return float(4.0 * ellipk(cubic * AMPLITUDE**2 / (2.0 * MASS * W2)) / np.sqrt(W2))


def rebound(v: float, b: float) -> float:
    """Return speed after the impact."""

    def phi(u):
        return u / b - np.log1p(b * u) / b**2

    return float(-brentq(lambda u: phi(u) - phi(v), -(1.0 - 1e-12) / b, -1e-12, xtol=1e-14))


def reference() -> dict:
    w, z = np.sqrt(KP / INERTIA), 0.5 * KD / np.sqrt(KP * INERTIA)
    s = 1j * OMEGA_R
    return {
        "T hardening": duffing_period(CUBIC),
        "T softening": duffing_period(-0.4 * CUBIC),
        "T between stops": 4.0 * GAP / SPEED + 2.0 * np.pi * np.sqrt(MASS / STOP),
        "rebound": rebound(SPEED, IMPACT_DAMPING),
        "w, z": (w, z),
        "transfer": (KP + KD * s) / (KP + INERTIA * s**2 + KD * s),
    }


def _period(t: np.ndarray, x: np.ndarray, v: np.ndarray, whole: int) -> float:
    """Return mean period between rising passages through zero, from Hermite cubics of x and v."""
    times = []
    for i in np.flatnonzero((x[:-1] < 0.0) & (x[1:] >= 0.0)):
        h = t[i + 1] - t[i]
        a, b, c, d = x[i], h * v[i], x[i + 1], h * v[i + 1]
        times.append(t[i] + h * brentq(
            lambda s, a=a, b=b, c=c, d=d: a + s * (b + s * (3 * (c - a) - 2 * b - d + s * (2 * (a - c) + b + d))),
            0.0, 1.0,
        ))  # fmt: skip
    return (times[whole] - times[0]) / whole


def check(f: Findings) -> None:
    known = reference()
    _duffing(f, known)
    _stops(f, known)
    _control(f, known)


def _duffing(f: Findings, known: dict) -> None:
    curves = []
    for name, cubic in (("hardening", CUBIC), ("softening", -0.4 * CUBIC)):
        exact = known[f"T {name}"]
        periods, errors = {}, 0.0
        for h in (0.01, 0.005, 0.0025):
            law = {"stiffness": STIFFNESS, "cubic": cubic}
            solution = solve(build(h, round(11 * exact / h) * h, law, free=-AMPLITUDE))
            step = solution.steps[0]
            x, v = solution.sensor("x").values[:, 0] + AMPLITUDE, solution.sensor("v").values[:, 0]
            periods[h] = _period(step.time, x, v, 9)
            errors = max(errors, energy_error(step, constant=True))
            if h == 0.01:
                curves.append(Curve(x[: int(2.2 * exact / h)], v[: int(2.2 * exact / h)], f"{name}, h = 0.01 s"))
        coarse, middle, fine = (periods[h] for h in (0.01, 0.005, 0.0025))
        f.row(
            "B-DUFFING",
            f"period, {name}, h = 0.0025 s",
            fine,
            exact,
            "The error is of second order in h.",
            CLOSED_FORM,
            relative=2e-4,
        )
        f.row(
            "B-DUFFING",
            f"period, {name}, extrapolated",
            (4.0 * fine - middle) / 3.0,
            exact,
            "The extrapolation leaves an error of fourth order in h.",
            CLOSED_FORM,
            relative=1e-6,
        )
        slope = float(np.log2((coarse - exact) / (middle - exact)))
        f.row(
            "B-DUFFING",
            f"order of the period, {name}",
            slope,
            2.0,
            "The error is of second order in h.",
            PROPERTY,
            tolerance=0.1,
        )
        f.zero(
            "B-DUFFING",
            f"change of the energy, {name}",
            errors,
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
    x = np.linspace(-1.2 * AMPLITUDE, 1.2 * AMPLITUDE, 41)
    law = {"table": np.column_stack((x, STIFFNESS * x + CUBIC * x**3)), "interpolation": "spline"}
    h = 0.0025
    solution = solve(build(h, round(11 * known["T hardening"] / h) * h, law, free=-AMPLITUDE))
    t, x, v = solution.steps[0].time, solution.sensor("x").values[:, 0] + AMPLITUDE, solution.sensor("v").values[:, 0]
    f.row(
        "B-DUFFING", "period, hardening, spline through 41 points", _period(t, x, v, 9), known["T hardening"],
        "The error is of second order in h, and the spline within 1e-4.", CLOSED_FORM, relative=4e-4,
    )  # fmt: skip
    f.zero(
        "B-DUFFING",
        "change of the energy, spline",
        energy_error(solution.steps[0], constant=True),
        1e-11,
        "Theory gives this value exactly; only round-off is left.",
    )
    f.figure(
        "Duffing's oscillator", curves, "x [m]", "Velocity [m/s]", "Two periods in the phase plane: closed curves."
    )


def _stops(f: Findings, known: dict) -> None:
    exact = known["T between stops"]
    far = GAP + 1.0
    table = [(-far, -STOP), (-GAP, 0.0), (GAP, 0.0), (far, STOP)]
    laws = {"stops": {"stops": [-GAP, GAP], "stop_stiffness": STOP}, "table": {"table": table}}
    h = 0.001
    for name, law in laws.items():
        solution = solve(build(h, round(11 * exact / h) * h, law, speed=SPEED))
        t, x, v = solution.steps[0].time, solution.sensor("x").values[:, 0], solution.sensor("v").values[:, 0]
        f.row(
            "B-STOP",
            f"period, {name}, h = {h:g} s",
            _period(t, x, v, 9),
            exact,
            "The error is of second order in h.",
            CLOSED_FORM,
            relative=1e-4,
        )
        f.zero(
            "B-STOP",
            f"change of the energy, {name}",
            energy_error(solution.steps[0], constant=True),
            1e-11,
            "Theory gives this value exactly; only round-off is left.",
        )
    speeds, curves = [], []
    for h in (2e-4, 1e-4):
        law = {"stops": [-np.inf, GAP], "stop_stiffness": STOP, "stop_damping": IMPACT_DAMPING}
        solution = solve(build(h, 0.25, law, speed=SPEED))
        step = solution.steps[0]
        speeds.append(-float(solution.sensor("v").values[-1, 0]))
        curves.append(Curve(step.time, solution.sensor("v").values[:, 0], f"h = {h:g} s"))
        f.zero(
            "B-STOP",
            f"closing error with damping, h = {h:g} s",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
        loss = 0.5 * MASS * (SPEED**2 - speeds[-1] ** 2)
        f.row(
            "B-STOP", f"dissipation over the loss of kinetic energy, h = {h:g} s",
            step.ledger("dissipated")[-1] / loss, 1.0,
            "The ledger books the loss exactly.", PROPERTY, tolerance=1e-10,
        )  # fmt: skip
    f.row(
        "B-STOP",
        "rebound speed, h = 1e-4 s [m/s]",
        speeds[-1],
        known["rebound"],
        "The error is of second order in h.",
        CLOSED_FORM,
        relative=1e-4,
    )
    f.figure("Impact on a damped stop", curves, "Time [s]", "Velocity [m/s]", "It leaves with 83 % of its speed.")


def _control(f: Findings, known: dict) -> None:
    w, z = known["w, z"]
    wd = w * np.sqrt(1.0 - z * z)
    worst, curves = [], []
    for h in (0.005, 0.0025):
        solution = solve(build_rotor(h, 2.5, {"kind": "constant_speed", "rate": TURNING}))
        t, q = solution.steps[0].time, solution.sensor("q").values[:, 0]
        error = TURNING * t - q
        exact = TURNING / wd * np.exp(-z * w * t) * np.sin(wd * t)
        worst.append(float(np.abs(error - exact).max()))
        curves.append(Curve(t[t < 1.5], error[t < 1.5], f"h = {h:g} s"))
        f.zero(
            "B-PD",
            f"closing error, h = {h:g} s",
            energy_error(solution.steps[0]),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
    curves.append(Curve(t[t < 1.5], exact[t < 1.5], "closed form", ":"))
    f.between("B-PD", "turns of the rotor", q[-1] / (2.0 * np.pi), 11.0, 12.5, "The rotor must turn many times.")
    f.zero(
        "B-PD",
        "error of the response over its amplitude, h = 0.0025 s",
        worst[1] * wd / TURNING,
        2e-3,
        "The error is of second order in h.",
        CLOSED_FORM,
    )
    f.row(
        "B-PD",
        "order",
        float(np.log2(worst[0] / worst[1])),
        2.0,
        "The error is of second order in h.",
        PROPERTY,
        tolerance=0.1,
    )
    h = 0.0025
    solution = solve(build_rotor(h, 8.0, f"{AMPLITUDE_R}*sin({OMEGA_R}*t)"))
    t, q = solution.steps[0].time, solution.sensor("q").values[:, 0]
    late = t > 8.0 - 6.0 * np.pi / OMEGA_R * 2.0
    basis = np.column_stack((np.sin(OMEGA_R * t[late]), np.cos(OMEGA_R * t[late])))
    a, b = np.linalg.lstsq(basis, q[late], rcond=None)[0]
    f.row(
        "B-PD", "amplitude over that of the reference", np.hypot(a, b) / AMPLITUDE_R, abs(known["transfer"]),
        "The error is of second order in h; the start has died down to 1e-10.", CLOSED_FORM, relative=2e-3,
    )  # fmt: skip
    f.row(
        "B-PD",
        "phase [rad]",
        np.arctan2(b, a),
        float(np.angle(known["transfer"])),
        "The error is of second order in h.",
        CLOSED_FORM,
        tolerance=2e-3,
    )
    f.figure(
        "A controller that starts to turn", curves, "Time [s]", "r - q [rad]", "The error dies down within a second."
    )
