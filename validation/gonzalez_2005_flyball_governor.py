"""Flyball governor whose lower links are stiff spring-dampers.

          hinge o==o hinge at .05 m from the axis, 1 m up
              ./ || \\.            rods      1 m, 30 degrees below the level at the start, with 5 kg at their ends
            ./   ||   \\.          links     from the middle of a rod to the slider, .5 m,
           o\\/\\_[__]_/\\/o                   k = 8e5 N/m, c = 4e4 N s/m
         (5 kg)  ||     (5 kg)    slider    a cube of .1 m, at s = .5 m on the shaft
                 ||  turns        density   3000 kg/m^3, rods and shaft .01 m square; 2 pi rad/s at the start

The slider rises and falls along the free turning shaft.

Source: M. Gonzalez, "Stiff flyball governor", benchmark A05 of the library of IFToMM's technical committee for
multibody dynamics, 2005.  The data were read in its version for OpenSim (RehabEngGroup, MBSbenchmarksInOpenSim), which
prints the solution as a figure alone.  The reference is an integration of the equations of the two symmetric
coordinates, with the angular momentum as a constant, in this file.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, limit_of
from fem_mbs.validation.kinds import INDEPENDENT, PROPERTY

CAPABILITY = "mechanisms"
CASES = {"B-GOVERNOR": "slider of a flyball governor on stiff links over 10 s"}

DENSITY, THICK, ARM, BALL, G = 3000.0, 0.01, 0.05, 5.0, 9.81
ROD, SLIDER = DENSITY * THICK**2, DENSITY * 0.1**3
STIFFNESS, DAMPING, FREE = 8e5, 4e4, 0.5
ANGLE, SPEED, DURATION = np.pi / 6.0, 2.0 * np.pi, 10.0
ACROSS, ALONG = ROD * (1.0 + THICK**2) / 12.0, ROD * THICK**2 / 6.0  # moments of inertia of a rod


def build(h: float = 5e-3) -> Model:
    model = Model(3, "flyball governor", gravity=(0.0, 0.0, -G))
    model.body("shaft", (0.0, 0.0, 0.5), ROD, [ACROSS, ACROSS, ALONG])
    model.body("slider", (0.0, 0.0, 0.5), SLIDER, [SLIDER * 0.1**2 / 6.0] * 3)
    model.joint("bearing", "revolute", "ground", "shaft", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    model.joint("guide", "prismatic", "shaft", "slider", point=(0.0, 0.0, 0.5), axis=(0.0, 0.0, 1.0))
    c, s = np.cos(ANGLE), np.sin(ANGLE)
    for name, side in (("left", -1.0), ("right", 1.0)):
        middle = (side * (ARM + 0.5 * c), 0.0, 1.0 - 0.5 * s)
        end = (side * (ARM + c), 0.0, 1.0 - s)
        model.body(name, middle, ROD, [ALONG, ACROSS, ACROSS], rotation=(0.0, side * ANGLE, 0.0))
        model.joint(f"hinge {name}", "revolute", "shaft", name, point=(side * ARM, 0.0, 1.0), axis=(0.0, 1.0, 0.0))
        model.node(f"ball {name}", end)
        model.point_mass(f"ball {name}", f"ball {name}", BALL)
        model.joint(f"end {name}", "spherical", name, f"ball {name}", point=end)
        model.spring(f"link {name}", name, "slider", STIFFNESS, DAMPING, FREE, point_a=middle,
                     point_b=(side * ARM, 0.0, 0.5))  # fmt: skip
    model.initial("all", spin=(0.0, 0.0, SPEED), centre=(0.0, 0.0, 0.0))
    model.sensor("slider", "position", on="slider")
    model.sensor("shaft", "angular velocity", on="shaft")
    model.transient_step(DURATION, h, frames=50)
    return model


def about_axis(angle):
    """Return the moment of inertia about the axis of the shaft by the angle of the rods [kg m^2]."""
    c, s = np.cos(angle), np.sin(angle)
    rod = ACROSS * c**2 + ALONG * s**2 + ROD * (ARM + 0.5 * c) ** 2 + BALL * (ARM + c) ** 2
    return ALONG + SLIDER * 0.1**2 / 6.0 + 2.0 * rod


def reference(times: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Return places of the slider [m] and speeds of the shaft [rad/s] by times [s], (n,)."""
    times = np.linspace(0.0, DURATION, 2001) if times is None else times
    momentum = about_axis(ANGLE) * SPEED
    swing = 2.0 * (ACROSS + 0.25 * ROD + BALL)

    def rates(_, y):
        angle, s, turn, v = y
        c, z = np.cos(angle), np.sin(angle)
        across, up = 0.5 * c, 1.0 - 0.5 * z - s
        length = np.hypot(across, up)
        dl_angle = (across * -0.5 * z + up * -0.5 * c) / length
        dl_s = -up / length
        force = 2.0 * (STIFFNESS * (length - FREE) + DAMPING * (dl_angle * turn + dl_s * v))
        slope = 2.0 * (2.0 * c * z * (ALONG - ACROSS) - ROD * (ARM + 0.5 * c) * z - 2.0 * BALL * (ARM + c) * z)
        spin = momentum / about_axis(angle)
        weight = 2.0 * G * (0.5 * ROD + BALL) * c
        return [turn, v, (0.5 * slope * spin**2 + weight - force * dl_angle) / swing, -G - force * dl_s / SLIDER]

    found = solve_ivp(rates, (0.0, DURATION), [ANGLE, 0.5, 0.0, 0.0], "Radau", times, rtol=1e-8, atol=1e-10)
    return {"slider": found.y[1], "speed": momentum / about_axis(found.y[0])}


def check(f: Findings) -> None:
    case = "B-GOVERNOR"
    steps = [solve(build(h)).steps[0] for h in (1e-2, 5e-3, 2.5e-3)]
    known = reference(steps[0].time)
    for name, sensor, unit in (("slider", "slider", "m"), ("speed", "shaft", "rad/s")):
        runs = [step.series[f"sensor/{sensor}"][:: 2**k, 2] for k, step in enumerate(steps)]
        limit, moved = limit_of(runs)
        f.zero(
            case, f"largest error of the {name} over 10 s, h -> 0 [{unit}]", np.abs(limit - known[name]).max(),
            2.0 * moved.max(),
            "Twice the change of the limit by the coarsest of three steps.", INDEPENDENT,
        )  # fmt: skip
        if name == "slider":
            f.converged(
                case, "place of the slider after 10 s, h -> 0 [m]", [run[-1] for run in runs], known[name][-1],
                INDEPENDENT, error=1e-8, why="tolerance of the other integration",
            )  # fmt: skip
            errors = [np.abs(run - known[name]).max() for run in runs]
    fine = steps[2].series["sensor/slider"][:, 2]
    order = np.log2(errors[1] / errors[2])
    f.row(case, "order of the slider's place", order, 2.0, "The rule is of second order.", PROPERTY, tolerance=0.05)
    momentum = steps[2].series["angular momentum"][:, 2]
    f.zero(case, "change of the angular momentum about the shaft", np.ptp(momentum) / momentum[0],
           CONSERVED, "Theory gives this value exactly; only round-off is left.")  # fmt: skip
    f.zero(
        case, "energy less what the dampers take", energy_error(steps[2]), CONSERVED, "The rule conserves it exactly."
    )
    f.figure(
        "Slider of the governor",
        [Curve(steps[2].time, fine, "fem-mbs"), Curve(steps[0].time, known["slider"], "two coordinates", ":")],
        "Time [s]", "s [m]", "h = 2.5 ms.",
    )  # fmt: skip
