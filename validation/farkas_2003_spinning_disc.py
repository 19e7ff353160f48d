"""A disc that slides and spins on a table: its friction and its torque end in the same moment.

        ____
       /    \\\\  w        the disc of radius R presses evenly on the table; its points slip by v + w x r
      |  ->  |  v        eps = v/(R w)
       \\____/            friction F(eps) and torque T(eps) depend on the ratio alone (Coulomb)

Each of both motions makes the other one easier: a disc that spins fast slides against little friction.  Integrals over
the disc give, with complete elliptic integrals K, E of the modulus eps < 1,

    F/(mu N)   = 4/(3 pi eps) ((eps^2 + 1) E + (eps^2 - 1) K)
    T/(mu N R) = 4/(9 pi) ((4 - 2 eps^2) E + (eps^2 - 1) K)

and for eps > 1 likewise with the modulus 1/eps.  The equations of motion of a homogeneous disc have one direction that
stays, f = 2 eps t: eps tends to 0.653 from every start, and both speeds vanish together.

Source: Z. Farkas, G. Bartels, T. Unger & D.E. Wolf, "Frictional coupling between sliding and spinning motion", Phys.
Rev. Lett. 90 (2003), 248302.  The integrals are evaluated here; the paper was not at hand, its limit 0.653 is quoted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, quoted

CAPABILITY = "contact"
CASES = {
    "B-SPINNING-DISC": "force and torque of discs and rings that slide and spin, paths to rest",
}

MASS, RADIUS, MU, G = 2.0, 0.1, 0.3, 9.81
HOLE = 0.6  # inner radius of the ring over the outer one
SMOOTHING = 1e-4
QUADRATURE = "closed form; the sum of the element is within 2e-5 mu N"


def build(eps: float = 0.653, spin: float = 10.0, duration: float = 0.3, h: float = 1e-3, inner: float = 0.0,
          smoothing: float = SMOOTHING) -> Model:  # fmt: skip
    """Return a homogeneous disc, or a ring on its rim, with v = eps R w on a table."""
    model = Model(3, "disc on a table", gravity=(0.0, 0.0, -G))
    J = 0.5 * MASS * RADIUS**2
    model.body("disc", (0.0, 0.0, 0.0), MASS, (0.5 * J, 0.5 * J, J))
    model.joint("table", "planar", "ground", "disc", point=(0.0,) * 3, axis=(0.0, 0.0, 1.0))
    ring: dict[str, Any] = {"inner_radius": inner} if inner else {}
    model.friction("rub", "table", coefficient=MU, smoothing=smoothing, radius=RADIUS, **ring)
    model.initial("disc", velocity=(eps * RADIUS * spin, 0.0, 0.0), spin=(0.0, 0.0, spin))
    model.sensor("v", "velocity", on="disc")
    model.sensor("w", "angular velocity", on="disc")
    for quantity in ("force", "moment"):
        model.sensor(quantity, "element", on="rub", element=0, quantity=quantity)
    model.transient_step(duration, h, frames=0)
    return model


def even(eps: float) -> tuple[float, float]:
    """Return F/(mu N) and T/(mu N R) of a disc in closed form."""
    if eps <= 1.0:
        E, K = ellipe(eps**2), ellipk(min(eps**2, 1.0 - 1e-16))
        force = 4.0 / (3.0 * math.pi * eps) * ((eps**2 + 1.0) * E + (eps**2 - 1.0) * K)
        return force, 4.0 / (9.0 * math.pi) * ((4.0 - 2.0 * eps**2) * E + (eps**2 - 1.0) * K)
    E, K = ellipe(eps**-2), ellipk(eps**-2)
    force = 4.0 / (3.0 * math.pi) * ((eps**2 + 1.0) * E - (eps**2 - 1.0) * K)
    return force, 4.0 * eps / (9.0 * math.pi) * ((4.0 - 2.0 * eps**2) * E + (2.0 * eps**2 - 5.0 + 3.0 / eps**2) * K)


def ring(eps: float, hole: float) -> tuple[float, float]:
    """Return the same of a ring of the inner radius ``hole`` R: that of the disc less that of what it lacks."""
    (force, moment), (f, t) = even(eps), even(eps / hole)
    return (force - hole**2 * f) / (1.0 - hole**2), (moment - hole**3 * t) / (1.0 - hole**2)


def reference() -> dict:
    """Return the ratio v/(R w) to which a disc tends."""
    return {"ratio": float(brentq(lambda eps: even(eps)[0] - 2.0 * eps * even(eps)[1], 0.3, 0.95))}


def _speeds(step) -> tuple[np.ndarray, np.ndarray]:
    return step.series["sensor/v"][:, 0], step.series["sensor/w"].reshape(len(step.time), 3)[:, 2]


def check(f: Findings) -> None:
    N = MASS * G
    for inner in (0.0, HOLE):
        for eps in (0.1, 0.653, 2.0):
            # one short step of nearly sharp friction
            step = solve(build(eps, duration=1e-8, h=1e-8, inner=inner * RADIUS, smoothing=1e-8)).steps[0]
            force, moment = ring(eps, inner) if inner else even(eps)
            label = f"{'ring' if inner else 'disc'}, v = {eps:g} R w"
            f.row("B-SPINNING-DISC", f"friction over mu N, {label}",
                  float(step.series["sensor/force"][-1, 0]) / (MU * N), force, QUADRATURE, CLOSED_FORM,
                  tolerance=2e-5)  # fmt: skip
            f.row("B-SPINNING-DISC", f"torque over mu N R, {label}",
                  float(step.series["sensor/moment"][-1, 0]) / (MU * N * RADIUS), moment, QUADRATURE, CLOSED_FORM,
                  tolerance=2e-5)  # fmt: skip
    end = reference()["ratio"]
    curves = []
    for eps in (0.25, end, 1.6):
        step = solve(build(eps, duration=0.2)).steps[0]
        v, w = _speeds(step)

        def slow(_: float, y: np.ndarray) -> tuple[float, float]:
            force, moment = even(y[0] / y[1])
            return -MU * G * force, -2.0 * MU * G * moment

        found = solve_ivp(slow, (0.0, 0.2), (eps * RADIUS * 10.0, RADIUS * 10.0), rtol=1e-10, atol=1e-12).y[:, -1]
        f.row("B-SPINNING-DISC", f"speed after 0.2 s from v = {eps:.3g} R w [m/s]", float(v[-1]), float(found[0]),
              "scipy ODE with the closed form; quadrature, and tanh near the pole", INDEPENDENT, relative=1e-4,
              )  # fmt: skip
        f.row("B-SPINNING-DISC", f"speed of the rim after 0.2 s from v = {eps:.3g} R w [m/s]", float(RADIUS * w[-1]),
              float(found[1]), "scipy ODE with the closed form; quadrature of the element, 2e-5 of mu N", INDEPENDENT,
              relative=1e-4)  # fmt: skip
        f.zero(
            "B-SPINNING-DISC",
            f"closing error of the energy, v = {eps:.3g} R w",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
        curves.append(Curve(RADIUS * w, v, f"from v = {eps:.3g} R w"))
    step = solve(build(end, duration=0.4)).steps[0]
    v, w = _speeds(step)
    moving = v > 0.03
    f.row("B-SPINNING-DISC", "v/(R w) of a disc that comes to rest", float(v[moving][-1] / (RADIUS * w[moving][-1])),
          0.653, "three digits", quoted("Farkas et al. 2003"),
          tolerance=1e-3)  # fmt: skip
    f.zero("B-SPINNING-DISC", "speed of a disc at rest [m/s]", float(v[-1] + RADIUS * w[-1]), 1e-5,
           "both motions end together; tanh ends exponentially", CLOSED_FORM)  # fmt: skip
    f.figure("A disc that slides and spins", curves, "Speed of the rim [m/s]", "Speed of the centre [m/s]",
             "Every path bends towards the line v = 0.653 R w.")  # fmt: skip
