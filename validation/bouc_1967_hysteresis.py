"""Springs with hysteresis: the law of Bouc and Wen, and dry sliders in parallel.

A mass on a spring whose force has a part that remembers, F = a k x + (1 - a) k z,

    z' = x' - (b |x'| z + (1 - b) x' |z|) |z|^(n-1)/y^n,

which tends to the limit z = +-y (A = 1, beta = b/y^n, gamma = (1 - b)/y^n in Wen's letters).  For n = 1, b = 1/2 the
steady loop between x = -X and X is known: from z = -Z it goes back along the slope 1, then z = y (1 - exp(-s/y)), so

    Z = y (1 - exp(-(2 X - Z)/y)),   loss per loop = 2 (1 - a) k (y (2 X - Z) - y Z - Z^2/2).

Springs k_i in series with sliders F_i, side by side, lose 4 F_i (X - F_i/k_i) per loop each, or nothing where X is too
small for that.

        F |     ______
          |   /      /
          |  /      /          R. Bouc, "Forced vibration of mechanical systems with hysteresis", 4th Conf. Nonlinear
       ---+-/------/--- x      Oscillations, Prague 1967; Y.-K. Wen, J. Eng. Mech. Div. ASCE 102, 1976, 249-263;
           /______/            W.D. Iwan, J. Appl. Mech. 33, 1966, 893-900.

Source: the papers named beside the sketch.  The references are the closed forms above, and an integration of the
equations of the forced mass by scipy in this file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT

CAPABILITY = "actuators"
CASES = {"B-HYSTERESIS": "loops, limits and a forced motion with Bouc and Wen's law; loops of sliders"}

STIFFNESS, LIMIT, AMPLITUDE = 200.0, 30.0, 0.5
SLIDERS = ((100.0, 5.0), (80.0, 12.0), (30.0, 20.0))
MASS, DAMPING, HARDENING, EXPONENT, UNLOADING, PUSH, RATE = 2.0, 1.5, 20.0, 1.7, 0.7, 60.0, 5.0
DURATION = 1.5


def build(**spring: Any) -> Model:
    """Return a mass on a spring along x, far from where the spring would turn about; with Bouc and Wen's law, n = 1, if
    nothing else is given."""
    spring = spring or {"stiffness": STIFFNESS, "yield_force": LIMIT, "exponent": 1.0}
    model = Model(2, "hysteresis")
    model.node("end", (1.0, 0.0))
    model.point_mass("mass", "end", MASS)
    model.fix("end", ["y"])
    model.spring("spring", "ground", "end", point_a=(-20.0, 0.0), **spring)
    model.sensor("way", "displacement", on="end")
    model.sensor("force", "element", on="spring", quantity="force")
    if "exponent" in spring:
        model.sensor("z", "element", on="spring", quantity="z")
    return model


def loop(h: float, **spring: Any) -> Any:
    """Return the step of four loops between -X and X."""
    model = build(**spring)
    model.motion("drive", "end", "x", {"kind": "harmonic", "amplitude": AMPLITUDE, "frequency": 1.0})
    model.transient_step(4.0, h, frames=0)
    return solve(model).steps[0]


def steady_loop() -> tuple[float, float]:
    """Return the largest z and the loss of a steady loop of Bouc and Wen's law, n = 1, b = 1/2."""
    y, X = LIMIT / STIFFNESS, AMPLITUDE
    Z = float(brentq(lambda Z: Z - y * (1.0 - np.exp(-(2.0 * X - Z) / y)), 0.0, y))
    return Z, 2.0 * STIFFNESS * (y * (2.0 * X - Z) - y * Z - 0.5 * Z * Z)


def forced() -> np.ndarray:
    """Return way and speed of the mass, and z, at the end of the forced motion, by an integration of their
    equations."""
    y, a = LIMIT / STIFFNESS, HARDENING / STIFFNESS

    def rates(t, u):
        x, v, z = u
        slope = 1.0 - (UNLOADING * np.sign(z * v) + 1.0 - UNLOADING) * abs(z / y) ** EXPONENT
        force = a * STIFFNESS * x + (1.0 - a) * STIFFNESS * z + DAMPING * v
        return [v, (PUSH * np.sin(RATE * t) - force) / MASS, slope * v]

    found = solve_ivp(rates, (0.0, DURATION), [0.0] * 3, method="DOP853", rtol=1e-11, atol=1e-13, max_step=1e-3)
    return found.y[:, -1]


def reference() -> dict:
    """Return limit and loss of the steady loop, and the motion of the forced mass."""
    return {"steady loop": steady_loop(), "forced": forced()}


def check(f: Findings) -> None:
    curves = []
    largest, exact = steady_loop()
    of_sliders = sum(4.0 * F * max(0.0, AMPLITUDE - F / k) for k, F in SLIDERS)
    for h in (4e-3, 2e-3):
        # largest part of the way that is lost where it turns between two steps
        missed = AMPLITUDE * (2.0 * np.pi * h) ** 2 / 8.0
        step = loop(h, stiffness=STIFFNESS, yield_force=LIMIT, exponent=1.0)
        lost = step.ledger("dissipated")
        n = round(1.0 / h)
        why = "4 k y X (w h)^2/8, as steps miss turning points by X (w h)^2/8; and as much for the rule."
        f.row("B-HYSTERESIS", f"loss of a loop [J], h = {h:g} s", lost[-1] - lost[-1 - n], exact, why,
              CLOSED_FORM, tolerance=8.0 * LIMIT * missed)  # fmt: skip
        f.zero(
            "B-HYSTERESIS",
            f"closing error, h = {h:g} s",
            energy_error(step),
            CONSERVED,
            "All energy is booked; only round-off is left.",
        )
    way, force = (step.series[f"sensor/{name}"] for name in ("way", "force"))
    f.row("B-HYSTERESIS", "largest z of a loop [m]", float(np.max(step.series["sensor/z"][-n:])), largest,
          "Steps miss a turning point by up to X (w h)^2/8.", CLOSED_FORM, tolerance=missed)  # fmt: skip
    curves.append(Curve(way[1:, 0], np.ravel(force)[1:], "Bouc and Wen, n = 1"))
    step = loop(0.01, stiffness=10.0, sliders=[list(pair) for pair in SLIDERS])
    lost = step.ledger("dissipated")
    f.row("B-HYSTERESIS", "loss of a loop of three sliders [J], h = 0.01 s", lost[-1] - lost[-101], of_sliders,
          "The closed form is exact, as is the mean force of a step.", CLOSED_FORM, relative=1e-12)  # fmt: skip
    f.zero(
        "B-HYSTERESIS",
        "closing error, sliders",
        energy_error(step),
        CONSERVED,
        "All energy is booked; only round-off is left.",
    )
    curves.append(Curve(step.series["sensor/way"][1:, 0], np.ravel(step.series["sensor/force"])[1:], "three sliders"))
    expected = forced()
    ways: list[float] = []
    for h in (4e-3, 2e-3, 1e-3):
        model = build(stiffness=STIFFNESS, damping=DAMPING, yield_force=LIMIT, hardening=HARDENING, exponent=EXPONENT,
                      unloading=UNLOADING)  # fmt: skip
        model.force("push", "end", (PUSH, 0.0), function=f"sin({RATE}*t)")
        model.transient_step(DURATION, h, frames=0)
        solution = solve(model)
        ways.append(float(solution.sensor("way").values[-1, 0]))
        if len(ways) > 1:
            f.row(
                "B-HYSTERESIS",
                f"way of the forced mass [m], h = {h:g} s",
                ways[-1],
                expected[0],
                "The change since h = 4 ms; errors at the turns are not regular.",
                INDEPENDENT,
                tolerance=abs(ways[-1] - ways[0]),
            )
        f.zero("B-HYSTERESIS", f"closing error, forced, h = {h:g} s", energy_error(solution.steps[0]), CONSERVED,
               "All energy is booked; only round-off is left.")  # fmt: skip
    f.figure("Loops", curves, "Way [m]", "Force [N]", "Steady loops between -0.5 m and 0.5 m.")
