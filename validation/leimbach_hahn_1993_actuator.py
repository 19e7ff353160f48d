"""Hydraulic actuator: a mass on a cylinder with a servo valve.

The pressure p of an actuator is a state variable of its own,

    p' = (Q_x K u - Q_p p - A v)/C,   F = A p,                                                      (eq. 16)

one actuator, Q_x K the flow per opening u of the valve, Q_p the leakage, A the area of the piston, C the capacity of
the oil.  A controller closes the valve by the way, u = kp (r - q).

                   _______________
        r --->(x)-| valve |   p   |===o M      locked valve, no leakage: stiffness A^2/C, w = A/sqrt(C M)
               |  |_______|_______|   |        closed loop: linear of third order, by the matrix exponential
               +----------------------+ q

Source: K.-D. Leimbach, H. Hahn, "Theoretical modeling, nonlinear control and sensitivity analysis of a spatial
multi-axis test facility based on computer algebra", in: Computer-Aided Analysis of Rigid and Flexible Mechanical
Systems, NATO ASI, Troia 1993, 311-329, eq. 16 (no plant parameters are printed; those here are of that kind).
The references are closed forms, eigenvalues of the 3 x 3 matrix and its exponential, all in this file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import expm

from fem_mbs import Model, linearise, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, limit_of
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, PROPERTY

CAPABILITY = "actuators"
CASES = {"B-ACTUATOR": "stiffness of locked oil, poles and step response of a hydraulic position loop, its energy"}

AREA, CAPACITY, LEAKAGE, MASS = 2e-3, 5e-13, 2e-11, 50.0
GAIN, KP, REFERENCE, DURATION = 4e-4, 20.0, 0.05, 0.4


def build(**actuator: Any) -> Model:
    """Return a mass that slides along x, held by the actuator."""
    model = Model(2, "hydraulic actuator")
    model.body("mass", (0.0, 0.0), MASS, 1.0)
    model.joint("rail", "prismatic", "ground", "mass", point=(0.0, 0.0), axis=(1.0, 0.0))
    model.hydraulic("cylinder", "rail", area=AREA, capacity=CAPACITY, **actuator)
    model.sensor("way", "joint", on="rail")
    model.sensor("pressure", "state", on="cylinder", state="pressure")
    return model


def closed_loop() -> np.ndarray:
    """Return A (3, 3) of (q, v, p) in the closed loop."""
    return np.array([
        [0.0, 1.0, 0.0], [0.0, 0.0, AREA / MASS],
        [-GAIN * KP / CAPACITY, -AREA / CAPACITY, -LEAKAGE / CAPACITY],
    ])  # fmt: skip


def step_response(t: float) -> np.ndarray:
    """Return (q, v, p) after the step of the reference."""
    whole = np.zeros((4, 4))
    whole[:3, :3] = closed_loop()
    whole[2, 3] = GAIN * KP * REFERENCE / CAPACITY
    return (expm(whole * t) @ (0.0, 0.0, 0.0, 1.0))[:3]


def reference() -> dict:
    """Return the poles [1/s] of the loop, and place, velocity and pressure after 50 ms of the step response."""
    return {"poles": np.linalg.eigvals(closed_loop()), "after 50 ms": step_response(0.05)}


def check(f: Findings) -> None:
    # a locked cylinder is a spring
    model = build()
    poles = np.linalg.eigvals(linearise(model).state_space().A)
    frequency = AREA / np.sqrt(CAPACITY * MASS)
    f.row("B-ACTUATOR", "frequency on locked oil [rad/s]", float(np.abs(poles.imag).max()), frequency,
          "The closed form is A/sqrt(C M); only round-off is left.", CLOSED_FORM, relative=1e-9)  # fmt: skip
    model.force("push", "mass", (1e3, 0.0))
    model.initial_speed("mass", "x", 0.0)
    model.transient_step(40 * np.pi / frequency, 0.01 * np.pi / frequency, frames=0)
    solution = solve(model)
    middle = float(solution.sensor("way").values[1:, 0].mean())
    f.row("B-ACTUATOR", "mean way under 1 kN on locked oil [m]", middle, 1e3 * CAPACITY / AREA**2,
          "The closed form is F C/A^2 over whole periods; the rule turns them by (w h)^2/12, 8.2e-5.", CLOSED_FORM,
          relative=1e-4)  # fmt: skip
    f.zero(
        "B-ACTUATOR",
        "closing error, locked",
        energy_error(solution.steps[0]),
        CONSERVED,
        "All energy is booked; only round-off is left.",
    )
    # the loop
    loop = {"leakage": LEAKAGE, "gain": GAIN, "kp": KP, "position": REFERENCE}
    model = build(**loop)
    model.complex_modes_step(3)
    expected = np.linalg.eigvals(closed_loop())
    for k, p in enumerate(complex(*p) for p in solve(model).summary["steps"][-1]["eigenvalues"]):
        nearest = expected[np.abs(expected - p).argmin()]
        f.row("B-ACTUATOR", f"pole {k + 1}, real part [1/s]", p.real, nearest.real,
            "The eigenvalues are those of the 3 x 3 matrix written by hand.",
              INDEPENDENT, tolerance=1e-9 * abs(nearest))  # fmt: skip
        f.row(
            "B-ACTUATOR",
            f"pole {k + 1}, imaginary part [1/s]",
            p.imag,
            nearest.imag,
            "The eigenvalues are those of the 3 x 3 matrix written by hand.",
            INDEPENDENT,
            tolerance=1e-9 * abs(nearest),
        )
    found, curves, exact = [], [], step_response(DURATION)[[0, 2]]
    for h in (4e-4, 2e-4, 1e-4):
        model = build(**loop)
        model.transient_step(DURATION, h, frames=0)
        solution = solve(model)
        found.append([float(solution.sensor(name).values[-1, 0]) for name in ("way", "pressure")])
        f.zero("B-ACTUATOR", f"closing error, loop, h = {h:g} s", energy_error(solution.steps[0]), CONSERVED,
               "What is stored, lost and fed in is booked; only round-off is left.")  # fmt: skip
    way = solution.sensor("way")
    curves.append(Curve(way.t, way.values[:, 0], "actuator"))
    t = way.t[::100]
    curves.append(Curve(t, np.array([step_response(x)[0] for x in t]), "matrix exponential", style="o"))
    limit, left = limit_of(found)
    for k, name in enumerate(("way after the step [m]", "pressure after the step [Pa]")):
        f.row("B-ACTUATOR", f"{name}, h -> 0", limit[k], exact[k],
              "The matrix exponential is exact; the longest step changes the limit by the tolerance.", CLOSED_FORM,
              tolerance=left[k])  # fmt: skip
    errors = np.abs(np.array(found)[:, 0] - exact[0])
    order = float(np.log2(errors[1] / errors[2]))
    f.row(
        "B-ACTUATOR", "order of the way", order, 2.0, "The mid-point rule is of second order.", PROPERTY, tolerance=0.1
    )
    f.figure("Step of the reference", curves, "Time [s]", "Way [m]", "The position loop of the actuator.")
