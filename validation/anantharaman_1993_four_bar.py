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
which fixes the other lengths.  Angles and period follow from the energy, written in the crank's angle alone; the first
acceleration is exact: 245.25 x 63/5450.  Turning point at phi = 3 pi/2 after half a period.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, turning_time
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, PROPERTY

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


def inertia(phi: complex) -> complex:
    """Return M of the kinetic energy M phi'^2/2: m/6 (a.a + a.b + b.b) of a slender rod, whose ends move by a and b."""
    high = 2.0 - 5.0 * np.cos(phi)
    slide = -5.0 * np.cos(phi) + high * 5.0 * np.sin(phi) / np.sqrt(109.0 - high**2)
    along = -5.0 * np.cos(phi)
    return 10.0 / 3.0 * (25.0 + slide**2 + along * slide)


def reference() -> dict:
    """Return the first acceleration, the period, and phi at three times, by M phi'' + M' phi'^2/2 = 245.25 sin phi."""

    def rates(_t, y):
        slope = inertia(y[0] + 1e-30j).imag / 1e-30
        return y[1], (245.25 * np.sin(y[0]) - 0.5 * slope * y[1] ** 2) / inertia(y[0])

    def at_rest(_t, y):
        return y[1]

    at_rest.direction = -1.0  # type: ignore[attr-defined]
    times = (0.5, 1.0, 2.0)
    run = solve_ivp(rates, (0.0, 3.0), (START, 0.0), "DOP853", times, events=at_rest, rtol=1e-12, atol=1e-12)
    return {
        "acceleration": 245.25 * 63.0 / 5450.0,
        "period": 2.0 * float(run.t_events[0][-1]),
        "phi": dict(zip(times, run.y[0], strict=True)),
    }


def crank_angle(solution) -> np.ndarray:
    ball = solution.steps[-1].series["sensor/ball"]
    return np.unwrap(np.arctan2(-ball[:, 1], ball[:, 2]))


def check(f: Findings) -> None:
    known = reference()
    angles, times = {}, {}
    for h in (0.01, 0.005, 0.0025):
        solution = solve(build(h))
        step = solution.steps[0]
        t, phi = step.time, crank_angle(solution)
        angles[h] = {when: np.interp(when, t, phi) for when in known["phi"]}
        times[h] = turning_time(t, phi)
        angles[h]["turning"] = phi.max()
        f.zero(
            "B-4BAR",
            f"change of the energy, h = {h:g} s",
            energy_error(step, constant=True),
            CONSERVED,
            "The rule conserves it exactly; only round-off is left.",
        )
    slopes = []  # over the first steps from rest: phi - pi/2 = a t^2/2 (1 + O(t^2))
    for h in (4e-3, 2e-3, 1e-3):
        first = solve(build(h, 0.048))
        t, phi = first.steps[0].time[1:], crank_angle(first)[1:]
        slopes.append(2.0 * np.polynomial.polynomial.polyfit(t**2, (phi - START) / t**2, 3)[0])
    f.converged(
        "B-4BAR", "acceleration of the crank at rest, phi = pi/2 [rad/s2], h -> 0", slopes, known["acceleration"],
        CLOSED_FORM,
    )  # fmt: skip
    for when, angle in known["phi"].items():
        values = [found[when] for found in angles.values()]
        f.converged("B-4BAR", f"phi({when:g} s) [rad], h -> 0", values, angle, INDEPENDENT)
    f.converged("B-4BAR", "period [s], h -> 0", [2.0 * time for time in times.values()], known["period"], INDEPENDENT)
    f.row(
        "B-4BAR", "turning point [rad], h = 2.5 ms", angles[0.0025]["turning"], 1.5 * np.pi,
        "Energy gives the angle; the largest of samples h apart lies up to phi'' h^2/8 below it.",
        PROPERTY, tolerance=known["acceleration"] * 0.0025**2 / 8.0,
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
        relative=1e-12,
    )
    t = solution.steps[0].time
    f.figure(
        "Crank angle and slide", [Curve(t, crank_angle(solution), "phi [rad]"), Curve(t, fork[:, 1] + 10.0, "s [m]")],
        "Time [s]", "", "h = 2.5 ms.",
    )  # fmt: skip
