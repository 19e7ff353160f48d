r"""Heavy top that spins fast about its axis, from rest in the level position.

             o=======[ 15 kg ] -> y       pivot at the origin, mass centre at (0, 1, 0) m
           pivot        |                 J = .234375, .46875, .234375 kg m^2 about the mass centre; gravity along -z
                        v g               angular velocity (0, 150, -4.61538) rad/s at the start

Source: Z. Terze, A. Mueller, D. Zlatar, "Singularity-free time integration of rotational quaternions using
non-redundant ordinary differential equations", Multibody System Dynamics 38 (2016) 201-225,
doi:10.1007/s11044-016-9518-7.  Angular velocities in body axes and Euler parameters by the classical method of Runge
and Kutta were read in the repository of EXUDYN (docs/verification, heavyTop.py).  Beside it the equations of Euler are
integrated in this file.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, published
from fem_mbs.validation.kinds import INDEPENDENT, program

CAPABILITY = "mechanisms"
CASES = {"B-FAST-TOP": "angular velocity in body axes and place of a fast top"}

RK4 = program("method of Runge and Kutta in MATLAB, as kept in the repository of EXUDYN")
MASS, ARM, G, DURATION = 15.0, 1.0, 9.81, 0.2
INERTIA, SPIN = np.array([0.234375, 0.46875, 0.234375]), np.array([0.0, 150.0, -4.61538])


def build(h: float = 1e-4) -> Model:
    model = Model(3, "fast top", gravity=(0.0, 0.0, -G))
    model.body("top", (0.0, ARM, 0.0), MASS, list(INERTIA))
    model.joint("pivot", "spherical", "ground", "top", point=(0.0, 0.0, 0.0))
    model.initial("top", spin=SPIN, centre=(0.0, 0.0, 0.0))
    model.sensor("centre", "position", on="top")
    model.sensor("spin", "angular velocity", on="top", axes="top")
    model.transient_step(DURATION, h, frames=50)
    return model


def centre(q: np.ndarray) -> np.ndarray:
    """Return the mass centre by the Euler parameters (..., 4), scalar first."""
    a, b, c, d = np.moveaxis(q, -1, 0)
    return ARM * np.stack([2.0 * (b * c - a * d), a * a - b * b + c * c - d * d, 2.0 * (c * d + a * b)], axis=-1)


def reference(times: np.ndarray | None = None) -> dict:
    """Return angular velocities [rad/s] by times [s] and Euler parameters after .2 s, as kept; places of the mass
    centre and angular velocities (n, 3) at ``times`` by Euler's equations."""
    times = np.array([0.0, DURATION]) if times is None else times
    about = INERTIA + MASS * ARM**2 * np.array([1.0, 0.0, 1.0])

    def rates(_, y):
        q, w = y[:4], y[4:]
        a, b, c, d = q
        up = np.array([2.0 * (b * d - a * c), 2.0 * (c * d + a * b), a * a - b * b - c * c + d * d])  # z in body axes
        moment = np.cross((0.0, ARM, 0.0), -MASS * G * up)
        dq = 0.5 * np.array([-b * w[0] - c * w[1] - d * w[2], a * w[0] + c * w[2] - d * w[1],
                             a * w[1] + d * w[0] - b * w[2], a * w[2] + b * w[1] - c * w[0]])  # fmt: skip
        return np.concatenate([dq, (moment - np.cross(w, about * w)) / about])

    found = solve_ivp(rates, (0.0, DURATION), [1.0, 0.0, 0.0, 0.0, *SPIN], "DOP853", times, rtol=1e-11, atol=1e-12)
    return {
        "spin": {0.01: ("4.5748", "-0.6347"), 0.03: ("-4.2537", "1.8644"), 0.05: ("3.6303", "-2.9772"),
                 0.06: ("3.4673", "3.216")},
        "parameters": np.array([-0.70828, 0.43878, 0.54573, 0.0894]),
        "centre": centre(found.y[:4].T), "spins": found.y[4:].T,
    }  # fmt: skip


def check(f: Findings) -> None:
    case = "B-FAST-TOP"
    steps = [solve(build(h)).steps[0] for h in (1e-4, 5e-5)]
    # every other step: at the start the rule's angular velocities begin to alternate by an error of their own, in h^2
    time = steps[0].time[::2]
    known = reference(time)
    place, spin = (
        (4.0 * steps[1].series[f"sensor/{name}"][::4] - steps[0].series[f"sensor/{name}"][::2]) / 3.0
        for name in ("centre", "spin")
    )
    for when, texts in known["spin"].items():
        row = int(np.argmin(np.abs(time - when)))
        for k, text in zip((0, 2), texts, strict=True):
            f.digits(case, f"angular velocity about the body's {'xyz'[k]} at {when:g} s, h -> 0 [rad/s]", spin[row, k],
                     text, RK4)  # fmt: skip
    f.zero(
        case, "largest error of the place of the mass centre after .2 s, h -> 0 [m]",
        np.abs(place[-1] - centre(known["parameters"])).max(), 1e-4,
        "A unit of the last digit of the Euler parameters, four of them in each coordinate.", RK4,
    )  # fmt: skip
    # the top turns by 7.5e-3 rad in a step
    why, left = "Extrapolation leaves (w h)^4 of the size.", (SPIN[1] * 5e-5) ** 4
    f.zero(case, "largest error of the mass centre over .2 s, h -> 0 [m]", np.abs(place - known["centre"]).max(), left,
           why, INDEPENDENT)  # fmt: skip
    f.zero(case, "largest error of the angular velocity over .2 s, h -> 0 [rad/s]",
           np.abs(spin - known["spins"]).max(), left * SPIN[1], why, INDEPENDENT)  # fmt: skip
    f.zero(case, "energy", energy_error(steps[1], constant=True), CONSERVED, "The rule conserves it exactly.")
    curves = [Curve(time, spin[:, k], f"about {'xyz'[k]}") for k in (0, 2)]
    curves += [published("Runge and Kutta", list(known["spin"]), list(known["spin"].values()))]
    f.figure("Angular velocity in body axes", curves, "Time [s]", "[rad/s]", "h -> 0.")
    f.figure("Mass centre", [Curve(time, place[:, k], "xyz"[k]) for k in range(3)], "Time [s]", "[m]", "h -> 0.")
