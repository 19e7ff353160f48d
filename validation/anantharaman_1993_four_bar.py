"""Spatial four-bar linkage R-P-U-S.

A crank (R, about x) carries a spherical joint (S); a rod of mass leads from there to a universal joint (U) on a slider
(P, along y).  One freedom.  Crank and slider have no mass: the constraints alone give them equations.

            z |                                      S = (0, -5 sin phi, 5 cos phi)
              |   S                                  U = (10, s - 10, 2), axes y (slider) and across it (rod)
       crank  |  /  ~ ~ rod, 14.456832 ~ ~  U        rod: 10 kg, slender; g = 9.81 along -z
        5     | / phi                       |        released at rest at phi = pi/2
              R ------> x                   P  -> y

Source: M. Anantharaman, "Flexible multibody dynamics: an object-oriented approach", NATO ASI, Troia 1993, Vol. II,
383-402 (data; no results).  It prints the rod's length, 14.456832: the root of 209 = 10^2 + 10^2 + 3^2 in all digits,
which fixes the other lengths.  Angles and period were recomputed by two independent formulations; the first
acceleration is exact: 245.25 x 63/5450.  Turning point at phi = 3 pi/2 after half a period.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY, RECOMPUTED

CAPABILITY = "mechanisms"
CASES = {"B-4BAR": "spatial four-bar with revolute, prismatic, universal and spherical joints"}

LENGTH = 209.0**0.5
START = 0.5 * np.pi


def build(h: float = 2e-3, duration: float = 5.6, start: float = START, **options) -> Model:
    """Return the linkage at phi = ``start``; without duration it gets no step."""
    model = Model(3, "four-bar", gravity=(0.0, 0.0, -9.81))
    s = 10.0 - 5.0 * np.sin(start) - np.sqrt(109.0 - (2.0 - 5.0 * np.cos(start)) ** 2)
    ball = np.array([0.0, -5.0 * np.sin(start), 5.0 * np.cos(start)])
    fork = np.array([10.0, s - 10.0, 2.0])
    along = (fork - ball) / LENGTH
    across = np.cross(along, (0.0, 1.0, 0.0))  # second axis of the universal joint: across the rod and y
    across /= np.linalg.norm(across)
    frame = Rotation.from_matrix(np.column_stack((along, np.cross(across, along), across)))
    inertia = 10.0 * LENGTH**2 / 12.0
    model.body("crank", 0.5 * ball, mass=0.0, inertia=(0.0, 0.0, 0.0))
    model.body("slider", fork - (0.0, 0.0, 2.0), mass=0.0, inertia=(0.0, 0.0, 0.0))
    model.body(
        "rod", 0.5 * (ball + fork), mass=10.0, inertia=(0.0, inertia, inertia), rotation=frame.as_rotvec()
    )  # fmt: skip
    model.joint("R", "revolute", "ground", "crank", point=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0))
    model.joint("P", "prismatic", "ground", "slider", point=fork - (0.0, 0.0, 2.0), axis=(0.0, 1.0, 0.0))
    model.joint("U", "universal", "slider", "rod", point=fork, axis=(0.0, 1.0, 0.0), axis_b=across)
    model.joint("S", "spherical", "crank", "rod", point=ball)
    model.sensor("ball", "position", on="rod", point=ball)
    model.sensor("fork", "position", on="rod", point=fork)
    if duration:
        model.transient_step(duration, h, frames=0, **options)
    return model


def reference() -> dict:
    return {
        "acceleration": 245.25 * 63.0 / 5450.0,
        "period": 5.576858,
        "phi": {0.5: (1.880717, 1.054207), 1.0: (2.445879, 1.159462), 2.0: (3.859049, 1.818980)},
    }


def crank_angle(solution) -> np.ndarray:
    ball = solution.steps[-1].series["sensor/ball"]
    return np.unwrap(np.arctan2(-ball[:, 1], ball[:, 2]))


def check(f: Findings) -> None:
    known = reference()
    angles, times = {}, {}
    for h in (4e-3, 2e-3):
        solution = solve(build(h))
        step = solution.steps[0]
        t, phi = step.time, crank_angle(solution)
        # displacement over the first steps from rest: phi - pi/2 = a t^2/2 (1 + O(t^2))
        angles[h] = {when: np.interp(when, t, phi) for when in known["phi"]}
        speed = np.gradient(phi, t)
        turn = int(np.argmax(phi))
        k = np.flatnonzero((speed[:-1] > 0.0) & (speed[1:] <= 0.0))[0]
        times[h] = t[k] + speed[k] / (speed[k] - speed[k + 1]) * h
        angles[h]["turning"] = phi[turn]
        f.zero(
            "B-4BAR",
            f"change of the energy, h = {h:g} s",
            energy_error(step, constant=True),
            CONSERVED,
            "The rule conserves it exactly; only round-off is left.",
        )
    first = solve(build(1e-3, 0.05))
    t, phi = first.steps[0].time[1:], crank_angle(first)[1:]
    slope = np.polynomial.polynomial.polyfit(t**2, (phi - START) / t**2, 2)[0]
    f.row(
        "B-4BAR", "acceleration of the crank at rest, phi = pi/2 [rad/s2]", 2.0 * slope, known["acceleration"],
        "The first 50 steps of 1 ms are fitted, which leaves 1e-5.", CLOSED_FORM, relative=1e-5,
    )  # fmt: skip
    for when, (angle, _) in known["phi"].items():
        limit = (4.0 * angles[2e-3][when] - angles[4e-3][when]) / 3.0
        f.row(
            "B-4BAR",
            f"phi({when:g} s) [rad], h -> 0",
            limit,
            angle,
            "The reference has 1e-5 of accuracy.",
            RECOMPUTED,
            tolerance=1e-5,
        )
    period = 2.0 * (4.0 * times[2e-3] - times[4e-3]) / 3.0
    f.row(
        "B-4BAR",
        "period [s], h -> 0",
        period,
        known["period"],
        "Interpolation between steps leaves 1e-5.",
        RECOMPUTED,
        relative=1e-5,
    )
    f.row(
        "B-4BAR", "turning point [rad], h = 2 ms", angles[2e-3]["turning"], 1.5 * np.pi,
        "Conservation of energy gives the angle; the step size leaves the rest.",
        PROPERTY, tolerance=1e-4,
    )  # fmt: skip
    fork = solution.sensor("fork").values
    gap = np.abs(np.linalg.norm(fork - solution.sensor("ball").values, axis=1) - LENGTH).max() / LENGTH
    f.zero(
        "B-4BAR",
        "change of the rod's length over the run / length",
        gap,
        1e-12,
        "The rod is rigid; only round-off is left.",
    )
    off = np.abs(fork[:, [0, 2]] - (10.0, 2.0)).max() / LENGTH
    f.zero(
        "B-4BAR",
        "distance of the fork from its line / rod length",
        off,
        1e-12,
        "Constraints are satisfied at the end of each step.",
    )
    hanging = build(duration=0.0, start=np.pi)
    hanging.static_step()  # forces of the joints
    hanging.modes_step(1)
    frequency = 2.0 * np.pi * solve(hanging).steps[1].summary["frequencies_hz"][0]
    f.row(
        "B-4BAR",
        "small oscillation about phi = pi [rad/s]",
        frequency,
        (245.25 / 250.0) ** 0.5,
        "The closed form has the stiffness m g 5/2 and the mass m 5^2, as the rod translates there.",
        CLOSED_FORM,
        relative=1e-8,
    )
    t = solution.steps[0].time
    f.figure(
        "Crank angle and slide", [Curve(t, crank_angle(solution), "phi [rad]"), Curve(t, fork[:, 1] + 10.0, "s [m]")],
        "Time [s]", "", "h = 2 ms.",
    )  # fmt: skip
