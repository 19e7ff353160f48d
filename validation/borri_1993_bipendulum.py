"""Driven double pendulum: the inclination of a bar on a damped hinge that turns with the first bar.

Two equal slender bars.  The first turns at a constant speed W about the vertical; the second hangs at its end on a
hinge, whose axis lies across both bars and turns with the first.  Damping brings the second bar to a constant
inclination theta below the horizontal.

        W |
          |    L        hinge
          o------------o          g
                        \\         |
                    theta \\  L    v
                            \\

    tan(theta) (1 + 2/3 cos(theta)) = g/(W^2 L):  moments about the hinge of the weight, m g L/2 cos(theta), and of the
    centrifugal forces, m W^2 L (L/2 + L/3 cos(theta)) sin(theta)

Source: M. Borri, F. Franchi, P. Mantegazza, "More than redundant coordinates formulation in rigid multibody dynamics",
in: Computer-Aided Analysis of Rigid and Flexible Mechanical Systems, NATO ASI, Troia 1993, vol. I, 13-38, example 1.2
(W = 4 rad/s, g = 32.174; lengths and results are lost).  The references are the closed form above.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY

CAPABILITY = "rotors"
CASES = {"B-BIPENDULUM": "steady inclination of a driven double pendulum"}

GRAVITY, SPEED = 32.174, 4.0


def build(length: float = 1.0, h: float = 0.01) -> Model:
    """Return both bars along -y at the start, turning about z with 4 rad/s."""
    model = Model(3, "bipendulum", gravity=(0.0, 0.0, -GRAVITY))
    inertia = length**2 / 12.0
    for k, name in enumerate(("first", "second")):
        place = -(0.5 + k) * length
        model.body(name, (0.0, place, 0.0), mass=1.0, inertia=(inertia, 0.0, inertia))
        model.initial(name, velocity=(-SPEED * place, 0.0, 0.0), spin=(0.0, 0.0, SPEED))
    model.joint(
        "drive", "revolute", "ground", "first", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0),
        speed=SPEED,
    )  # fmt: skip
    model.joint("hinge", "revolute", "first", "second", point=(0.0, -length, 0.0), axis=(1.0, 0.0, 0.0))
    # about the critical damping of the small motion
    model.joint_spring("damper", "hinge", 0.0, damping=length**2 * SPEED)
    model.sensor("centre", "position", on="second")
    model.sensor("hinge", "position", on="second", point=(0.0, -length, 0.0))
    model.transient_step(12.0, h, frames=0)
    return model


def inclination(length: float) -> float:
    """Return theta [rad]."""
    from scipy.optimize import brentq

    balance = GRAVITY / (SPEED**2 * length)
    return float(brentq(lambda a: np.tan(a) * (1.0 + 2.0 / 3.0 * np.cos(a)) - balance, 0.0, 1.57, xtol=1e-15))


def reference() -> dict[float, float]:
    """Return theta [rad] for the lengths of the bars [ft]."""
    return {length: inclination(length) for length in (1.0, 3.28, 10.0)}


def check(f: Findings) -> None:
    curves = []
    for length, exact in reference().items():
        angles = []
        for h in (0.02, 0.01, 0.005):
            step = solve(build(length, h)).steps[0]
            below = float(step.series["sensor/hinge"][-1, 2] - step.series["sensor/centre"][-1, 2])
            angles.append(np.rad2deg(np.arcsin(2.0 * below / length)))
        what = f"inclination, L = {length:g} ft [deg], h -> 0"
        known = np.rad2deg(exact)
        f.converged("B-BIPENDULUM", what, angles, known, CLOSED_FORM)
        slope = np.log2((angles[0] - known) / (angles[1] - known))
        f.row(
            "B-BIPENDULUM",
            f"order, L = {length:g} ft",
            slope,
            2.0,
            "The rule is of second order.",
            PROPERTY,
            tolerance=0.01,
        )
        what = f"closing error of the energy, L = {length:g} ft"
        f.zero(
            "B-BIPENDULUM",
            what,
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
        fall = step.series["sensor/hinge"][:, 2] - step.series["sensor/centre"][:, 2]
        curves.append(Curve(step.time, np.rad2deg(np.arcsin(2.0 * fall / length)), f"L = {length:g} ft"))
    f.figure("Inclination of the second bar", curves, "Time [s]", "theta [deg]", "h = 5 ms.")
