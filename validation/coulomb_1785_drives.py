"""Friction in machine elements: a rope over a drum, a screw, gears, a ball and a universal joint.

Two weights hang on a rope over a fixed drum, which holds it by friction, or lets it slide:

         ____
        / mu \\      T_2/T_1 = e^(mu phi)      phi = pi
       |      |     sliding: a = g (m_2 - m_1 e)/(m_2 + m_1 e), e = e^(mu phi)
       |      |
      m_1    m_2

A screw of the mean radius r and the lead angle alpha lifts a weight F, or lets it down: the moments on it are
F r tan(alpha + rho) and F r tan(alpha - rho), tan(rho) = mu.

Source: L. Euler, "Remarques sur l'effet du frottement dans l'equilibre", Mem. Acad. Sci. Berlin 18 (1762, printed
1769), 265-278 (the rope); C.A. Coulomb, "Theorie des machines simples", Mem. Math. Phys. Acad. Sci. 10 (1785),
161-332 (the law); the moments of the screw are the balance of forces on the unrolled thread.  All references are closed
forms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.integrate import trapezoid

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "contact"
CASES = {
    "B-ROPE": "a rope on a drum: holds, slides either way",
    "B-SCREW": "moments that lift and lower a weight by a screw, self-locking",
    "B-GEAR": "power through a gear, either way",
    "B-PIVOT": "friction of a ball joint under load, and of a universal joint",
}

G, MU, WRAP = 9.81, 0.3, math.pi
LIGHT, SMOOTHING = 1.0, 1e-4
WEIGHT, RADIUS, INERTIA = 500.0, 0.02, 0.003


def build(heavy: float = 2.6, duration: float = 0.2, h: float = 2e-4) -> Model:
    """Return two weights on a rope over a drum."""
    model = Model(2, "rope on a drum", gravity=(0.0, -G))
    for name, x, mass in (("light", -0.1, LIGHT), ("heavy", 0.1, heavy)):
        model.body(name, (x, 0.0), mass, 0.01)
        model.joint(f"line {name}", "prismatic", "ground", name, point=(x, 0.0), axis=(0.0, 1.0))
        model.sensor(f"v {name}", "velocity", on=name)
        model.sensor(f"x {name}", "displacement", on=name)
    model.gear("rope", "line light", "line heavy", ratio=-1.0)
    model.friction("drum", "rope", coefficient=MU, wrap=WRAP, smoothing=SMOOTHING)
    model.transient_step(duration, h, frames=0)
    return model


def _rope(f: Findings) -> None:
    e = math.exp(MU * WRAP)
    curves = []
    for ratio in (1.02, 1.5, 4.0, 1.0 / 4.0):
        heavy = LIGHT * (ratio * e if ratio > 1.0 else ratio / e)
        step = solve(build(heavy)).steps[0]
        v = step.series["sensor/v heavy"][:, 1]
        # what drives pulls e times as much as what is driven
        a = (
            G * (heavy - LIGHT * e) / (heavy + LIGHT * e)
            if ratio > 1.0
            else -G * (LIGHT - heavy * e) / (LIGHT + heavy * e)
        )
        late = step.time > 0.1
        found = -float(np.polyfit(step.time[late], v[late], 1)[0])
        f.row(
            "B-ROPE",
            f"acceleration of m2 = {heavy / LIGHT:.4g} m1 [m/s^2]",
            found,
            a,
            "Euler's closed form is exact; from .1 s on the rope slides at 90 smoothing speeds: full friction.",
            CLOSED_FORM,
            relative=1e-9,
        )
        f.zero(
            "B-ROPE",
            f"closing error of the energy, m2 = {heavy / LIGHT:.4g} m1",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
        curves.append(Curve(step.time, -v, f"m2 = {heavy / LIGHT:.3g} m1"))
    heavy = 0.9 * e * LIGHT
    step = solve(build(heavy)).steps[0]
    v = -step.series["sensor/v heavy"][-1, 1]
    t = math.tanh(0.5 * MU * WRAP)
    # at rest (m2 - m1) g = t L (2 tanh) and m2 g + m1 g = 2 L: tanh(v/v_s) = (m2 - m1)/(t (m2 + m1))
    creep = SMOOTHING * math.atanh((heavy - LIGHT) / (t * (heavy + LIGHT)))
    f.row(
        "B-ROPE", "creep speed of a rope that holds [m/s]", v, creep,
        "The closed form of the smooth law is exact; the start-up has decayed to round-off.", CLOSED_FORM,
        relative=1e-10,
    )  # fmt: skip
    f.figure("Two weights on a rope", curves, "Time [s]", "Speed of m2 [m/s]", "Beyond e^(mu phi) the rope slides.")


def screw(lead: float, mu: float, speed: float, duration: float = 0.02, h: float = 2e-4) -> Model:
    """Return a nut of the weight `WEIGHT` that a driven screw moves up (speed > 0) or down."""
    model = Model(3, "screw", gravity=(0.0, 0.0, -G))
    model.body("nut", (0.0, 0.0, 0.0), WEIGHT / G, (1.0, 1.0, 1.0))
    model.joint("screw", "screw", "ground", "nut", point=(0.0,) * 3, axis=(0.0, 0.0, 1.0), lead=lead)
    model.friction("thread", "screw", coefficient=mu, smoothing=SMOOTHING, radius=RADIUS)
    model.moment("twist", "nut", (0.0, 0.0, speed))
    model.sensor("spin", "angular velocity", on="nut")
    model.transient_step(duration, h, frames=0)
    return model


def _screw(f: Findings) -> None:
    for lead, mu in ((0.01, 0.15), (0.06, 0.15), (0.01, 0.05)):
        alpha, rho = math.atan(lead / (2.0 * math.pi * RADIUS)), math.atan(mu)
        label = f"lead {lead:g} m, mu = {mu:g}"
        pitch = lead / (2.0 * math.pi)
        for way in (1.0, -1.0):
            moment = 40.0 * way
            step = solve(screw(lead, mu, moment)).steps[0]
            # M - F' r tan(alpha + way rho) = J w', F' = W + m p w'
            hold = RADIUS * math.tan(alpha + way * rho)
            expected = (moment - WEIGHT * hold) / (1.0 + WEIGHT / G * pitch * hold)
            w = step.series["sensor/spin"].reshape(len(step.time), -1)[:, -1]
            late = step.time > 0.5 * step.time[-1]
            found = float(np.polyfit(step.time[late], w[late], 1)[0])
            f.row(
                "B-SCREW",
                f"angular acceleration {'up' if way > 0 else 'down'}, {label} [rad/s^2]",
                found,
                expected,
                "The closed form F r tan(alpha +- rho) is exact, and so is the rule at a constant acceleration: "
                "the smooth law is within 2 exp(-2 v/v_s) = 1e-9 of its limit.",
                CLOSED_FORM,
                relative=1e-9,
            )
            f.zero(
                "B-SCREW",
                f"closing error of the energy, {way:+g}, {label}",
                energy_error(step),
                CONSERVED,
                "Theory gives this value exactly; only round-off is left.",
            )
        step = solve(screw(lead, mu, 0.0, duration=0.4, h=1e-3)).steps[0]
        w = -step.series["sensor/spin"].reshape(len(step.time), -1)[:, -1]
        if mu > math.tan(alpha):
            # the smooth law balances the weight where mu tanh(v/v_s) = tan(alpha), v along the thread
            creep = SMOOTHING * math.atanh(math.tan(alpha) / mu) * math.cos(alpha) / RADIUS
            f.row(
                "B-SCREW", f"creep without a moment, self-locking, {label} [rad/s]", float(w[-1]), creep,
                "The closed form of the smooth law is exact; the start-up has decayed to round-off.", CLOSED_FORM,
                relative=1e-10,
            )  # fmt: skip
            continue
        hold = RADIUS * math.tan(alpha - rho)
        late = step.time > 0.5 * step.time[-1]
        f.row(
            "B-SCREW", f"angular acceleration without a moment, {label} [rad/s^2]",
            float(np.polyfit(step.time[late], w[late], 1)[0]), WEIGHT * hold / (1.0 + WEIGHT / G * pitch * hold),
            "The closed form F r tan(alpha - rho) is exact; rounding of the start at rest leaves 1e-6.", CLOSED_FORM,
            relative=1e-6,
        )  # fmt: skip


def gears(eta: float, driver: str, ratio: float = -2.5, h: float = 5e-4) -> Model:
    """Return two wheels, of which the moment 3 N m drives one."""
    model = Model(2, "gears")
    for i, name in enumerate("ab"):
        model.body(name, (float(i), 0.0), 1.0, INERTIA)
        model.joint(f"shaft {name}", "revolute", "ground", name, point=(float(i), 0.0))
        model.sensor(f"w {name}", "angular velocity", on=name)
    model.gear("teeth", "shaft a", "shaft b", ratio=ratio)
    model.friction("loss", "teeth", efficiency=eta, smoothing=1e-3)
    model.moment("drive", driver, 3.0)
    model.transient_step(0.05, h, frames=0)
    return model


def _gears(f: Findings) -> None:
    eta, ratio = 0.8, -2.5
    for driver, i in (("a", ratio), ("b", 1.0 / ratio)):
        rates = []
        for h in (1e-3, 5e-4, 2.5e-4):
            step = solve(gears(eta, driver, h=h)).steps[0]
            w = step.series[f"sensor/w {driver}"].ravel()
            late = step.time > 0.02
            rates.append(float(np.polyfit(step.time[late], w[late], 1)[0]))
        expected = 3.0 / (INERTIA * (1.0 + i * i / eta))
        # power into the other wheel is eta of what the driver gives: 3 - J w' = i^2 J w'/eta
        f.converged("B-GEAR", f"angular acceleration, driven at {driver} [rad/s^2]", rates, expected, CLOSED_FORM)
        f.zero(
            "B-GEAR",
            f"closing error of the energy, driven at {driver}",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )


def ball(kind: Any = "spherical", h: float = 1e-3) -> Model:
    """Return a round body that spins about its centre in a ball joint (universal: about one axis of it)."""
    model = Model(3, kind, gravity=(0.0, 0.0, -G))
    model.body("ball", (0.0,) * 3, 2.0, (INERTIA,) * 3)
    if kind == "spherical":
        model.joint("seat", kind, "ground", "ball", point=(0.0,) * 3)
        axis = (0.6, 0.0, 0.8)
    else:
        axis = (1.0, 0.0, 0.0)
        model.joint("seat", kind, "ground", "ball", point=(0.0,) * 3, axis=axis, axis_b=(0.0, 1.0, 0.0))
    model.friction("rub", "seat", coefficient=MU, smoothing=1e-3, radius=RADIUS)
    model.initial("ball", spin=tuple(20.0 * np.array(axis)))
    model.sensor("w", "angular velocity", on="ball")
    model.transient_step(0.2, h, frames=0)
    return model


def _pivots(f: Findings) -> None:
    slope = RADIUS * MU * 2.0 * G / INERTIA
    for kind in ("spherical", "universal"):
        slowed, lost = [], []
        for h in (2e-3, 1e-3, 5e-4):
            step = solve(ball(kind, h)).steps[0]
            w = step.series["sensor/w"].reshape(len(step.time), 3)
            speed = np.linalg.norm(w, axis=1)
            slowed.append(float(speed[0] - speed[-1]) / step.time[-1])
            turned = float(trapezoid(speed, step.time)) / (2.0 * math.pi)
            lost.append(float(step.ledger("dissipated")[-1]) / turned)
        f.converged("B-PIVOT", f"angular deceleration, {kind} [rad/s^2]", slowed, slope, CLOSED_FORM)
        f.converged("B-PIVOT", f"loss per turn, {kind} [J]", lost, 2.0 * math.pi * RADIUS * MU * 2.0 * G, CLOSED_FORM)
        f.zero(
            "B-PIVOT",
            f"closing error of the energy, {kind}",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )


def reference() -> dict:
    """Return the ratio of the forces in the rope, and the lead angle [rad] up to which the screw holds itself."""
    return {"ratio": math.exp(MU * WRAP), "friction angle": math.atan(MU)}


def check(f: Findings) -> None:
    _rope(f)
    _screw(f)
    _gears(f)
    _pivots(f)
