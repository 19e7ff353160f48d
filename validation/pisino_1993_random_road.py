"""Quarter car on a random road: transfer function H1, coherence and mean squares.

A wheel on a linear tyre and the body on a linear suspension run over a road of ISO 8608, class C, at 20 m/s.

        o  body, m_b       m_b y_b'' = -c (y_b' - y_w') - k (y_b - y_w)
        |  k, c
        o  wheel, m_w      m_w y_w'' = c (y_b' - y_w') + k (y_b - y_w) - k_t (y_w - r)
        |  k_t
        ~  road r(t)

Source: the estimate |H1| = |S_xy/S_xx| of a suspension under a random road with lines at equal distances: E. Pisino,
J. Giacomin, P. Campanile, "Numerical investigation of the influence of the shock absorber on the vertical force
transmissibility of a McPherson suspension", in: Computer-Aided Analysis of Rigid and Flexible Mechanical Systems, NATO
ASI, Troia 1993, vol. II, 485-504 (the data of its suspension cannot be read; those here are of a usual car).  The
references are the closed forms of the two-mass system, for mean squares their sums over the lines of the road.  The
trapezoidal rule, to which the mid-point rule reduces for linear systems, has exactly the transfer function H(i w') at
w' = (2/h) tan(w h/2), so that only round-off is left.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "vehicles"
CASES = {"B-ROAD": "H1, coherence and mean squares of a quarter car on a random road"}
DEVIATIONS = (
    "The suspension data of Pisino, Giacomin and Campanile (1993) cannot be read; those of a usual car are taken.",
)

BODY, WHEEL, SPRING, DAMPER, TYRE = 400.0, 40.0, 20e3, 1.5e3, 180e3
SPEED, CLASS_C = 20.0, 256e-6
PERIOD, LINES, ROWS = 10.0, 256, 4096  # the lines are multiples of 1/PERIOD, so a period has no leakage


def build() -> Model:
    """Return the quarter car over two periods to settle and two to be measured."""
    model = Model(2, "quarter car")
    for name, height in (("road", 0.0), ("wheel", 0.3), ("body", 0.6)):
        model.node(name, (0.0, height))
        model.motion(f"{name} along", name, "x", 0.0)
    model.point_mass("m_w", "wheel", WHEEL)
    model.point_mass("m_b", "body", BODY)
    model.nodal_spring("tyre", "wheel", "y", TYRE, against="road")
    model.nodal_spring("suspension", "body", "y", SPRING, DAMPER, against="wheel")
    low = 0.5 / PERIOD
    road = {
        "kind": "random", "road": "C", "speed": SPEED, "lowest": low, "highest": low + LINES / PERIOD, "lines": LINES,
        "seed": 4,
    }  # fmt: skip
    fade = {"kind": "smoothstep", "duration": 1.0}  # motions start at 0
    model.motion("profile", "road", "y", {"kind": "product", "functions": [road, fade]})
    for name in ("road", "wheel", "body"):
        model.sensor(name, "displacement", on=name)
    for name in ("settle", "measure"):  # free vibrations decay to 1e-13 in the first
        model.transient_step(2.0 * PERIOD, PERIOD / ROWS, name, frames=0)
    return model


def transfer(f: np.ndarray) -> np.ndarray:
    """Return (y_b, y_w) over r, shape (2, n), at frequencies [Hz]."""
    s = 2j * np.pi * np.asarray(f)
    link = DAMPER * s + SPRING
    body, wheel = BODY * s**2 + link, WHEEL * s**2 + link + TYRE
    determinant = body * wheel - link**2
    return np.array([link * TYRE / determinant, body * TYRE / determinant])


def mean_square(weights: np.ndarray) -> float:
    """Return the sum of |w.H|^2 S over the lines of the road [m^2], of weights of body, wheel and road.

    A line has the power of its band of 1/PERIOD; H is that of the trapezoidal rule.
    """
    f, h, half = np.arange(1, LINES + 1) / PERIOD, PERIOD / ROWS, 0.5 / PERIOD
    power = CLASS_C * 0.01 * SPEED * (1.0 / (f - half) - 1.0 / (f + half))
    total = weights[:2] @ transfer(np.tan(np.pi * f * h) / (np.pi * h)) + weights[2]
    return float(np.sum(np.abs(total) ** 2 * power))


def reference() -> dict:
    """Return mean squares [m^2] of road and body from the closed form."""
    return {"road": mean_square(np.array((0.0, 0.0, 1.0))), "body": mean_square(np.array((1.0, 0.0, 0.0)))}


def check(f: Findings) -> None:
    solution = solve(build())
    series = {name: solution.sensor(name, "measure") for name in ("road", "wheel", "body")}
    height = {name: found.values[:ROWS, 1] for name, found in series.items()}
    h, lines = PERIOD / ROWS, slice(1, LINES + 1)
    curves = []
    for k, name in enumerate(("body", "wheel")):
        h1 = series[name].transfer(series["road"], ROWS, "boxcar", "y")
        shared = series[name].coherence(series["road"], ROWS, "boxcar", "y")
        at, found = h1.t[lines], h1.values[lines, 1]
        warped = np.tan(np.pi * at * h) / (np.pi * h)
        size = np.abs(transfer(at)[k])
        error = np.abs(found - transfer(warped)[k]) / size.max()
        why = "closed form at the frequencies of the trapezoidal rule; 0 but for what is left of the start"
        f.zero("B-ROAD", f"error of H1 over its maximum, {name}", float(error.max()), 1e-11, why, CLOSED_FORM)
        lost = 1.0 - shared.values[lines, 1]
        f.zero(
            "B-ROAD",
            f"1 - coherence, {name}",
            float(np.abs(lost).max()),
            1e-11,
            "The car is linear, so that the coherence is 1 but for the length of the record.",
        )
        curves += [Curve(at, np.abs(found), f"{name}, H1"), Curve(at, size, f"{name}, closed form")]
    for label, weights in (
        ("road", (0.0, 0.0, 1.0)), ("body", (1.0, 0.0, 0.0)), ("travel of the suspension", (1.0, -1.0, 0.0)),
        ("deflection of the tyre", (0.0, 1.0, -1.0)),
    ):  # fmt: skip
        value = np.array(weights) @ np.array([height[name] for name in ("body", "wheel", "road")])
        why = "sum of |H|^2 S over the lines, H at the frequencies of the trapezoidal rule; only round-off is left"
        rms = float(np.sqrt(np.mean((value - value.mean()) ** 2)))
        exact = float(np.sqrt(mean_square(np.array(weights))))
        f.row("B-ROAD", f"root mean square, {label} [m]", rms, exact, why, CLOSED_FORM, relative=1e-9)
    f.figure("Quarter car on a random road", curves, "Frequency [Hz]", "|H1|", "Displacements over that of the road.")
