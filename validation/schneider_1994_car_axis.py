"""A car axis on springs over a bumpy road.

A massless base of length L lies between the wheels: its left end is fixed, the right one follows the road.  The axis is
a rigid massless rod of the same length with a mass at either end, on a spring over either end of the base.  Its left
mass stays above the left end, at a right angle to the base.

         m ======== L ======= m         m = M eps^2/2, M = 10, eps = 0.01; springs of stiffness 1, length L/2
         |                    |         L = 1, gravity 1
         \\\\ k                 \\\\ k      road: y = 0.1 sin 10 t, x^2 + y^2 = L^2
         |         base       |
         o====================o ~ road

Source: S. Schneider, "Integration de systemes d'equations differentielles raides et differentielles-algebriques par des
methodes de collocations et methodes generales lineaires", thesis, Geneva 1994; F. Mazzia, C. Magherini, "Test set for
initial value problem solvers", release 2.4, Bari 2008, problem "caraxis", whose program prints the solution at t = 3.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, published
from fem_mbs.validation.kinds import PROPERTY, printed

CAPABILITY = "mechanisms"
CASES = {"B-CAR-AXIS": "car axis over a road: places, speeds and constraint forces"}

TEST_SET = printed("Mazzia, Magherini (2008), problem caraxis, solution printed by its program")
MASS, END = 10.0 * 0.01**2 / 2.0, 3.0


def build(h: float = 5e-4, duration: float = END) -> Model:
    """Return the axis, which starts with the speed -1/2 of the source along x."""
    model = Model(2, "car axis", gravity=(0.0, -1.0))
    model.node("left", (0.0, 0.5))
    model.node("right", (1.0, 0.5))
    model.body("base", (0.5, 0.0), 1.0, 1.0)
    model.joint("pin", "revolute", "ground", "base", point=(0.0, 0.0), function="asin(0.1*sin(10*t))")
    for name in ("left", "right"):
        model.point_mass(f"mass {name}", name, MASS)
    model.spring("spring left", "base", "left", stiffness=1.0, length=0.5, point_a=(0.0, 0.0))
    model.spring("spring right", "base", "right", stiffness=1.0, length=0.5, point_a=(1.0, 0.0))
    model.joint("guide", "point_on_line", "base", "left", point=(0.0, 0.5), axis=(0.0, 1.0))
    model.joint("axis", "distance", "left", "right")
    model.initial("left", velocity=(-0.5, 0.0))
    model.initial("right", velocity=(-0.5, 0.0))
    for name in ("left", "right"):
        model.sensor(name, "position", on=name)
        model.sensor(f"speed {name}", "velocity", on=name)
    for name in ("guide", "axis"):
        model.sensor(name, "reaction", on=name)
    model.transient_step(duration, h, frames=60)
    return model


def reference() -> dict:
    """Return places, speeds and the multipliers of the source at t = 3, as printed."""
    return {
        "places": np.array([0.04934557842755629, 0.4969894602303324, 1.041742524885400, 0.3739110272652214]),
        "speeds": np.array([-0.07705836840321485, 0.007446866596327776, 0.01755681574942899, 0.7703410437794031]),
        "multipliers": np.array([-0.004736886750784630, -0.001104680411345730]),
    }


def ends(solution) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return places, speeds and multipliers of the source at the end.

    Joint forces are means over a step and the one before, which is the value at the start of the step.  They are
    extrapolated to its end.
    """
    places, speeds = (
        np.concatenate([solution.sensor(prefix + name).values[-1] for name in ("left", "right")])
        for prefix in ("", "speed ")
    )
    guide, axis = (
        -(3.0 * v[2] - 3.0 * v[1] + v[0])[:2] for v in (solution.sensor(n).values[-3:] for n in ("guide", "axis"))
    )
    road = 0.1 * np.sin(10.0 * END)
    base = np.array([np.sqrt(1.0 - road**2), road])
    # the forces on the left mass are lam1 base, and 2 lam2 (left - right)
    return places, speeds, np.array([guide @ base, -0.5 * axis @ (places[:2] - places[2:])])


def check(f: Findings) -> None:
    case, known = "B-CAR-AXIS", reference()
    runs = [solve(build(h)) for h in (5e-4, 2.5e-4)]
    coarse, fine = (ends(solution) for solution in runs)
    names = {
        "places": ("place x of the left mass", "place y of the left mass", "place x of the right mass",
                   "place y of the right mass"),
        "speeds": ("speed x of the left mass", "speed y of the left mass", "speed x of the right mass",
                   "speed y of the right mass"),
        "multipliers": ("multiplier of the right angle", "multiplier of the axis' length"),
    }  # fmt: skip
    tolerances = {"places": 1e-7, "speeds": 1e-5, "multipliers": 1e-7}
    for what, a, b in zip(names, coarse, fine, strict=True):
        for name, value, exact in zip(names[what], (4.0 * b - a) / 3.0, known[what], strict=True):
            f.row(
                case, f"{name} at t = 3, h -> 0", value, exact,
                "The errors of the finer run, 2e-5 of places, 1e-3 of speeds and 6e-6 of multipliers, fall by the "
                "square of the step; extrapolation leaves less than a hundredth.", TEST_SET, tolerance=tolerances[what],
            )  # fmt: skip
    errors = [np.abs(run[0] - known["places"]).max() for run in (coarse, fine)]
    f.row(case, "order of the places", np.log2(errors[0] / errors[1]), 2.0, "The rule is of second order.", PROPERTY,
          tolerance=0.02)  # fmt: skip
    step = runs[1].steps[0]
    f.zero(case, "energy less the work of the road", energy_error(step), CONSERVED, "The rule conserves it exactly.")
    right = runs[1].sensor("right").values
    f.figure(
        "Height of the right mass",
        [Curve(step.time, right[:, 1], "y"), published("Mazzia and Magherini (2008)", END, known["places"][3])],
        "Time", "y", "h = 0.25e-3.",
    )  # fmt: skip
