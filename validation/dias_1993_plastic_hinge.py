"""Plastic hinge: a rigid bar that is stopped by a torsional spring which yields.

A bar turns about a hinge with the speed w0.  The hinge's spring is elastic up to the moment M_l at the angle theta_l,
then it flows at a constant moment; afterwards the bar swings about what is left.

        M |      ________
      M_l |    /        /        J w0^2/2 = M_l theta_l/2 + M_l (theta_max - theta_l)
          |   /        /         theta_max = theta_l/2 + J w0^2/(2 M_l)
          |  /        /          permanent angle: theta_max - theta_l
          |_/________/____ theta
          theta_l     theta_max

Source: J.M.P. Dias, M. Seabra Pereira, "Analysis and design for vehicle crashworthiness", in: Computer-Aided Analysis
of Rigid and Flexible Mechanical Systems, NATO ASI, Troia 1993, vol. II, 573-586 (the hinge's law and its start values
theta_l = .0873 rad, M_l = 4644.7 N m; the railcar's results cannot be rebuilt).  The references are the closed form
above.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, interpolated_extreme
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "contact"
CASES = {"B-HINGE": "largest and permanent angle of a plastic hinge, its loss"}

YIELD_ANGLE, YIELD_MOMENT, INERTIA, SPEED = 0.0873, 4644.7, 30.0, 10.0


def build(h: float = 0.001, hardening: float = 0.0) -> Model:
    """Return the bar, which turns in the plane."""
    model = Model(2, "plastic hinge")
    model.body("bar", (0.5, 0.0), mass=60.0, inertia=INERTIA - 60.0 * 0.25)
    model.joint("hinge", "revolute", "ground", "bar", point=(0.0, 0.0))
    model.joint_spring("spring", "hinge", YIELD_MOMENT / YIELD_ANGLE, yield_force=YIELD_MOMENT, hardening=hardening)
    model.initial("bar", velocity=(0.0, 0.5 * SPEED), spin=SPEED)
    model.sensor("angle", "joint", on="hinge")
    model.sensor("moment", "element", on="spring", quantity="moment")
    model.sensor("set", "element", on="spring", quantity="plastic angle")
    model.transient_step(1.0, h, frames=0)
    return model


def reference(hardening: float = 0.0) -> dict[str, float]:
    """Return the largest and the permanent angle [rad], "largest" and "set", from the balance of energy."""
    k, energy = YIELD_MOMENT / YIELD_ANGLE, 0.5 * INERTIA * SPEED**2
    # M_l theta_l/2 + M_l x + k_t x^2/2 = energy, x beyond theta_l
    rest = energy - 0.5 * YIELD_MOMENT * YIELD_ANGLE
    if hardening:
        x = (-YIELD_MOMENT + np.sqrt(YIELD_MOMENT**2 + 2.0 * hardening * rest)) / hardening
    else:
        x = rest / YIELD_MOMENT
    largest = YIELD_ANGLE + x
    return {"largest": float(largest), "set": float(x * (1.0 - hardening / k))}


def check(f: Findings) -> None:
    curves = []
    for hardening in (0.0, 5000.0):
        largest, left = reference(hardening).values()
        for h in (1e-3, 1e-4):
            step = solve(build(h, hardening)).steps[0]
            angle = step.series["sensor/angle"].ravel()
            label = f"hardening {hardening:g} N m/rad, h = {h:g} s"
            # the first swing only: with hardening the bar may yield again on its way back
            first = slice(0, int(np.argmax(np.diff(angle) < 0.0)) + 3)
            found = interpolated_extreme(step.time[first], angle[first], np.argmax)[1]
            why = "closed form; error of the step, which is fitted by a parabola about the largest angle"
            near = 2e-4 if h > 5e-4 else 2e-6
            f.row("B-HINGE", f"largest angle [rad], {label}", found, largest, why, CLOSED_FORM, relative=near)
            permanent = step.series["sensor/set"].ravel()[1 : first.stop].max()
            f.row("B-HINGE", f"permanent angle [rad], {label}", permanent, left, why, CLOSED_FORM, relative=near)
            f.zero(
                "B-HINGE",
                f"closing error of the energy, {label}",
                energy_error(step),
                CONSERVED,
                "Theory gives this value exactly; only round-off is left.",
            )
            if h < 5e-4:
                lost = float(step.ledger("dissipated")[first.stop - 1])
                exact = YIELD_MOMENT * left
                f.row(
                    "B-HINGE",
                    f"loss [J], {label}",
                    lost,
                    exact,
                    "The closed form is exact; the method's own error is left.",
                    CLOSED_FORM,
                    relative=2e-6,
                )
                moment = step.series["sensor/moment"].ravel()[1:]
                curves.append(Curve(np.rad2deg(angle[1:]), moment, f"hardening {hardening:g} N m/rad"))
    f.figure("Moment of the hinge", curves, "Angle [deg]", "Moment [N m]", "Loading, and swings about what is left.")
