"""A cable slides over a fixed drum with friction: its tension grows with the angle that it is wrapped.

              .-----.
             |       |    drum at rest, mu        T_2/T_1 = exp(mu phi)
     T_1 <---|       |---> driven slowly, T_2
             weight       |

Source: L. Euler, "Remarques sur l'effet du frottement dans l'equilibre", Mem. Acad. Sci. Berlin 18 (1769), 265-278;
J.A. Eytelwein, Handbuch der Statik fester Koerper, 1808.  The reference is the closed form.  The cable has a radius r
and bends, so friction acts at its surface, at the radius a of the drum, and its tension at a + r: the moments about the
drum's axis give T_2/T_1 = exp(mu phi a/(a + r)).  Each node of a cable of straight parts that turns by theta there has
(1 + mu tan(theta/2))/(1 - mu tan(theta/2)) = exp(mu theta) + O(theta^3).

The drum is a surface of the ground, or in space a beam of the radius a that the parts of the cable cross: friction
between the lengths of two beams.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "contact"
CASES = {
    "B-CAPSTAN": "tension of a cable that slides over a drum with Coulomb's friction",
    "B-CAPSTAN-BEAMS": "the same in space, where the drum is a beam and the cable beams that cross it",
}

DRUM, CABLE, PULL, SPEED, DURATION = 0.5, 0.01, 100.0, 0.05, 0.8


def build(mu: float = 0.15, n: int = 16, h: float = 1e-3) -> Model:
    """Return the cable, n parts around half of the drum, as much on both sides in parts of the same length."""
    model = Model(2, "capstan")
    radius = DRUM + CABLE
    part = np.pi * radius / n
    tail = max(2, round(0.4 / part))
    angle = np.pi - np.pi * np.arange(n + 1) / n
    arc = np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
    down = part * np.arange(tail, 0, -1)
    points = np.concatenate((
        np.column_stack((np.full(tail, -radius), -down)), arc, np.column_stack((np.full(tail, radius), -down[::-1])),
    ))  # fmt: skip
    model.section("cable", "stiffness", EA=1e5, EI=1e-2, GA=np.inf, rhoA=0.05, rhoI=0.0)
    model.polyline("line", points, 1)
    model.beams("cable", "line", "cable", damping=2e-3)
    model.force("weight", "line:start", (0.0, -PULL))
    model.fix("line:start", ["x"])
    model.fix("line:end", ["x"])
    model.motion("winch", "line:end", "y", f"-{SPEED}*t")
    model.contact(
        "drum", "ground", "cable", surface="cylinder", radius=DRUM, point=(0.0, 0.0), along=True, ball=CABLE,
        spacing=10.0, stiffness=1e6, exponent=1.0, damping=0.2, coefficient=mu, smoothing=1e-4 if mu else None,
        overlap=1e-3,
    )  # fmt: skip
    model.sensor("pull", "reaction", on="line:end")
    model.static_step(increments=4)
    model.transient_step(DURATION, h, frames=0)
    return model


def build_crossing(mu: float, n: int, h: float = 5e-4) -> Model:
    """Return n parts of the cable around half of a beam of the drum's radius, which they touch in their middles."""
    model = Model(3, "capstan of beams")
    radius = (DRUM + CABLE - 1e-6) / np.cos(0.5 * np.pi / n)  # (they touch from the start on)
    part = np.pi * radius / n
    tail = max(2, round(0.4 / part))
    angle = np.pi - np.pi * np.arange(n + 1) / n
    arc = np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
    down = part * np.arange(tail, 0, -1)
    points = np.concatenate((
        np.column_stack((np.full(tail, -radius), -down)), arc, np.column_stack((np.full(tail, radius), -down[::-1])),
    ))  # fmt: skip
    model.section("cable", "stiffness", EA=1e5, EI=1e-2, GA=1e4, GJ=1e-2, rhoA=0.05, rhoI=1e-6)
    model.section("drum", "stiffness", EA=1e9, EI=1e9, GA=1e9, GJ=1e9, rhoA=1.0, rhoI=0.1)
    model.line("axis", (0.0, -1.0, 0.0), (0.0, 1.0, 0.0), 1)
    model.beams("drum", "axis", "drum")
    model.fix("axis:all")
    model.polyline("line", np.insert(points, 1, 0.0, axis=1), 1)
    model.beams("cable", "line", "cable", damping=2e-3)
    model.force("weight", "line:start", (0.0, 0.0, -PULL))
    for end in ("start", "end"):
        model.fix(f"line:{end}", ["x", "y"])
    model.motion("winch", "line:end", "z", f"-{SPEED}*t**2/(t + 0.02)")
    model.contact(
        "grip", "drum", "cable", surface="beams", radius=DRUM, along=True, ball=CABLE, stiffness=1e6, exponent=1.0,
        damping=0.2, coefficient=mu, smoothing=1e-4, overlap=1e-3,
    )  # fmt: skip
    model.sensor("pull", "reaction", on="line:end")
    model.static_step(increments=4)
    model.transient_step(0.2, h, frames=0)
    return model


def reference(mu: float = 0.3) -> dict:
    return {"thin cable": float(np.exp(mu * np.pi)), "ratio": float(np.exp(mu * np.pi * DRUM / (DRUM + CABLE)))}


def check(f: Findings) -> None:
    curves = []
    for mu in (0.15, 0.3):
        known = reference(mu)["ratio"]
        means = []
        for n in (16, 32):
            step = solve(build(mu, n)).steps[1]
            ratio = -step.series["sensor/pull"][:, 1] / PULL
            late = step.time > step.time[0] + 0.5 * DURATION
            means.append(float(ratio[late].mean()))
            f.zero(
                "B-CAPSTAN", f"closing error of the energy, mu = {mu:g}, {n} parts", energy_error(step), CONSERVED,
                "Theory gives this value exactly; only round-off is left.",
            )  # fmt: skip
        f.converged(
            "B-CAPSTAN", f"ratio of the tensions, mu = {mu:g}, limit of 16 and 32 parts", means, known, CLOSED_FORM
        )
        curves += [
            Curve(step.time, ratio, f"mu = {mu:g}"),
            Curve(step.time[[0, -1]], np.full(2, known), "exp(mu phi a/(a + r))", ":"),
        ]  # fmt: skip
    known = reference()["ratio"]
    means = []
    for n in (16, 32):
        step = solve(build_crossing(0.3, n)).steps[1]
        ratio = -step.series["sensor/pull"][:, 2] / PULL
        means.append(float(ratio[step.time > 0.1].mean()))
        f.zero(
            "B-CAPSTAN-BEAMS", f"closing error of the energy, {n} parts", energy_error(step), CONSERVED,
            "Theory gives this value exactly; round-off is left, above all that of penetrations: their quotients leave "
            "out changes that are below it.",
        )  # fmt: skip
    f.converged(
        "B-CAPSTAN-BEAMS", "ratio of the tensions, mu = 0.3, limit of 16 and 32 parts", means, known, CLOSED_FORM
    )
    f.figure(
        "A cable slides over a drum", curves, "Time [s]", "T_2 / T_1 [-]",
        "The winch starts; from the moment on at which all parts slide the ratio is Euler's.",
    )  # fmt: skip
