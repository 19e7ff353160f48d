"""Plane four-bar linkage: the extreme positions of its rocker.

                          o (.30, .375)
              coupler  ./ |
                   ./     |  rocker, .375
        (0, .15) o        |
           crank |        |
                 o - - - -o
              (0, 0)   (.30, 0)

The crank turns fully.  The rocker stands at its limits where crank and coupler lie on one line; with beta the angle at
its ground pivot between rocker and ground line

    cos beta = (.3^2 + .375^2 - (.375 +- .15)^2)/(2 .3 .375) = -.2, .8:   beta = 101.5370, 36.8699 deg

Source: O.I. Sivertsen, T. Rolvag, H.P. Hildre, "The multidiscipline design concept for mechanisms", in: Computer-Aided
Analysis of Rigid and Flexible Mechanical Systems, NATO ASI, Troia 1993, vol. II, 587-602, table 2 (input of the
program FEDEM, digits restored by their redundancy; no results).  The references are the closed form above.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, interpolated_extreme
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "mechanisms"
CASES = {"B-CRANK-ROCKER": "limits of the rocker of a plane four-bar linkage"}
DEVIATIONS = (
    "Sivertsen, Rolvag and Hildre (1993), table 2: digits of the input that cannot be read are restored from its "
    "redundancy.",
)

POINTS = np.array([(0.0, 0.0), (0.0, 0.15), (0.30, 0.375), (0.30, 0.0)])


def build(h: float = 1e-3) -> Model:
    """Return the linkage with rigid links of steel, the crank driven by one turn per second."""
    model = Model(2, "four-bar", gravity=(0.0, -9.81))
    for k, name in enumerate(("crank", "coupler", "rocker")):
        a, b = POINTS[k], POINTS[k + 1]
        length = float(np.linalg.norm(b - a))
        model.body(name, 0.5 * (a + b), mass=length, inertia=length**3 / 12.0)
    model.joint("drive", "revolute", "ground", "crank", point=POINTS[0], speed=2.0 * np.pi)
    model.joint("joint 2", "revolute", "crank", "coupler", point=POINTS[1])
    model.joint("joint 3", "revolute", "coupler", "rocker", point=POINTS[2])
    model.joint("joint 4", "revolute", "ground", "rocker", point=POINTS[3])
    model.sensor("pin", "position", on="rocker", point=POINTS[2])
    model.transient_step(1.0, h, frames=0)
    return model


def reference() -> dict[str, float]:
    """Return the smallest and the largest angle of the rocker [deg], "low" and "high"."""
    ground, crank, coupler, rocker = 0.3, 0.15, 0.375, 0.375
    limits = [(ground**2 + rocker**2 - (coupler + sign * crank) ** 2) / (2.0 * ground * rocker) for sign in (-1.0, 1.0)]
    low, high = np.rad2deg(np.arccos(limits))
    return {"low": float(low), "high": float(high)}


def check(f: Findings) -> None:
    low, high = reference().values()
    step = solve(build()).steps[0]
    pin = step.series["sensor/pin"]
    angle = np.rad2deg(np.arctan2(pin[:, 1], 0.3 - pin[:, 0]))
    why = "closed form; parabola through three steps of 1 ms"
    found = interpolated_extreme(step.time, angle, np.argmin)[1]
    f.row("B-CRANK-ROCKER", "smallest angle of the rocker [deg]", found, low, why, CLOSED_FORM, relative=1e-6)
    found = interpolated_extreme(step.time, angle, np.argmax)[1]
    f.row("B-CRANK-ROCKER", "largest angle of the rocker [deg]", found, high, why, CLOSED_FORM, relative=1e-6)
    length = np.linalg.norm(pin - POINTS[3], axis=1)
    f.zero(
        "B-CRANK-ROCKER",
        "change of the rocker's length [m]",
        np.ptp(length),
        1e-12,
        "The rod is rigid; only round-off is left.",
    )
    f.zero(
        "B-CRANK-ROCKER",
        "closing error of the energy",
        energy_error(step),
        CONSERVED,
        "Theory gives this value exactly; only round-off is left.",
    )
    f.figure("Angle of the rocker", [Curve(step.time, angle, "rocker")], "Time [s]", "beta [deg]", "One turn.")
