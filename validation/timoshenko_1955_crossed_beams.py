"""Beams that touch beams and the ground: two crossed beams with a gap, and a rod that falls on one end.

            P |                                    \\
         _____v_____   upper beam                   \\  rod, falls
        ^     o     ^  gap g, lower beam across      \\
              |                                  _____\\_____

Source: S.P. Timoshenko, Strength of Materials, 3rd ed., part I, van Nostrand 1955: simply supported beams, and
statically indeterminate pairs of them.  References, closed form: with c = L^3/(48 E I) of either beam and the contact's
stiffness K,

    R = (P c_u - g)/(c_u + c_l + 1/K) from P = g/c_u on;

and the blow of a rigid rod without friction: an impulse J = 2 v m_e normal to the ground with 1/m_e = 1/m + (l cos
a)^2/J_c, l half of the length, if the blow is elastic and takes long against the vibrations of the rod.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "contact"
CASES = {
    "B-CROSSED": "force between two simply supported beams that cross with a gap",
    "B-FALLING-ROD": "a rod falls on the ground with one end: its blow, energy over 10 000 steps",
}

SPANS, EI, GAP, RADIUS, STIFFNESS = (2.0, 1.4), (900.0, 500.0), 0.004, 0.01, 1e8
LENGTH, LINE_MASS, ANGLE, SPEED = 1.0, 2.0, 0.5, 1.0


def build(load: float = 5.0, parts: tuple[int, int] = (10, 10)) -> Model:
    """Return the upper beam along x and the lower one along y, of so many elements; the load acts on the middle."""
    model = Model(3, "crossed beams")
    for k, (name, height) in enumerate((("upper", 2.0 * RADIUS + GAP), ("lower", 0.0))):
        end = np.array((0.0, 0.0, height))
        end[k] = 0.5 * SPANS[k]
        model.section(name, "stiffness", EA=1e7, EI=EI[k], GA=np.inf, GJ=EI[k], rhoA=1.0, rhoI=1e-4)
        model.line(f"{name} line", end * (-1.0, -1.0, 1.0), end, parts[k], points={"middle": 0.5} if k == 0 else None)
        model.beams(name, f"{name} line", name)
        model.fix(f"{name} line:start", ["x", "y", "z", f"rotation {'xy'[k]}"])
        model.fix(f"{name} line:end", ["xy"[1 - k], "z"])
    model.force("P", "upper line:middle", (0.0, 0.0, -load))
    model.contact(
        "cross", "upper", "lower", surface="beams", radius=RADIUS, along=True, ball=RADIUS, stiffness=STIFFNESS,
        exponent=1.0,
    )  # fmt: skip
    model.sensor("force", "contact", on="cross")
    model.static_step(increments=40)
    return model


def rod(stiffness: float, duration: float, h: float, gravity: float = 0.0, height: float = 1e-4, n: int = 4) -> Model:
    """Return a rod of n elements that falls on the ground y = 0 with one end."""
    model = Model(2, "falling rod", gravity=(0.0, -gravity))
    model.section("rod", "stiffness", EA=1e8, EI=1e6, GA=np.inf, rhoA=LINE_MASS, rhoI=0.0)
    half = 0.5 * LENGTH * np.array((np.cos(ANGLE), np.sin(ANGLE)))
    centre = half + (0.0, RADIUS + height)
    model.line("line", centre - half, centre + half, n)
    model.beams("rod", "line", "rod")
    model.initial("line:all", velocity=(0.0, -SPEED))
    model.contact(
        "ground", "ground", "rod", point=(0.0, 0.0), axis=(0.0, 1.0), along=True, ball=RADIUS, stiffness=stiffness,
        exponent=1.0,
    )  # fmt: skip
    model.transient_step(duration, h, frames=0)
    return model


def reference(load: float = 400.0) -> dict:
    """Return the force between the beams, momentum and spin of the rod after its blow."""
    c = [L**3 / (48.0 * stiffness) for L, stiffness in zip(SPANS, EI, strict=True)]
    mass, inertia, arm = LINE_MASS * LENGTH, LINE_MASS * LENGTH**3 / 12.0, 0.5 * LENGTH * np.cos(ANGLE)
    impulse = 2.0 * SPEED / (1.0 / mass + arm**2 / inertia)
    return {
        "force": max((load * c[0] - GAP) / (c[0] + c[1] + 1.0 / STIFFNESS), 0.0),
        "speed": -SPEED + impulse / mass, "spin": -impulse * arm / inertia,
    }  # fmt: skip


def upper_slope(load: float) -> float:
    """Return the slope of the upper beam at its ends, 3 w/L."""
    return (load - reference(load)["force"]) * SPANS[0] ** 2 / (16.0 * EI[0])


def check(f: Findings) -> None:
    for load in (5.0, 60.0, 400.0):
        series = solve(build(load)).steps[0].series
        measured, known = float(series["sensor/force"].ravel()[-1]), reference(load)["force"]
        slope = upper_slope(load)
        why = (
            f"the square of the upper beam's slope at its ends, {slope:.2g}"
            if known
            else "the gap is open up to 21.6 N"
        )
        f.row("B-CROSSED", f"force between the beams, P = {load:g} N, 10 elements each [N]", measured, known, why,
              CLOSED_FORM, tolerance=max(slope**2 * known, 1e-9))  # fmt: skip
        if load == 400.0:
            loads = load * series["load factor"].ravel()
            closed = np.array([reference(value)["force"] for value in loads])
            f.figure(
                "Beams that cross with a gap",
                [Curve(loads, series["sensor/force"].ravel(), "fem-mbs"), Curve(loads, closed, "closed form", "o")],
                "Load P [N]", "Force between the beams [N]",
                "The gap is open up to 21.6 N.",
            )  # fmt: skip
    # the force acts between two nodes of the lower beam
    odd = [float(solve(build(60.0, (10, n))).steps[0].series["sensor/force"].ravel()[-1]) for n in (5, 15, 45)]
    f.converged("B-CROSSED", "force between the beams, P = 60 N, between two nodes, h -> 0 [N]", odd,
                reference(60.0)["force"], CLOSED_FORM, ratio=3.0, error=upper_slope(60.0) ** 2,
                why="the square of the upper beam's slope at its ends")  # fmt: skip
    step = solve(rod(4e4, 8e-3, 2e-5)).steps[0]
    known, mass = reference(), LINE_MASS * LENGTH
    momentum = step.series["linear momentum"][-1]
    # a stiffer contact makes a shorter blow, during which the rod turns less
    longer = solve(rod(1e4, 16e-3, 4e-5)).steps[0].series["linear momentum"][-1]
    f.converged(
        "B-FALLING-ROD", "speed of the centre after the blow, its duration -> 0 [m/s]",
        [longer[1] / mass, momentum[1] / mass], known["speed"], CLOSED_FORM, order=1,
    )  # fmt: skip
    f.zero(
        "B-FALLING-ROD",
        "momentum along the ground [N s]",
        float(abs(momentum[0])),
        1e-11,
        "Nothing rubs, so that the momentum stays zero.",
    )
    step = solve(rod(4e4, 10.0, 1e-3, gravity=9.81, height=0.3)).steps[0]
    f.zero(
        "B-FALLING-ROD", "change of the energy over 10 000 steps with many blows", energy_error(step, constant=True),
        CONSERVED, "Theory gives this value exactly; only round-off is left.",
    )  # fmt: skip
    f.zero(
        "B-FALLING-ROD", "momentum along the ground then [N s]",
        float(np.abs(step.series["linear momentum"][:, 0]).max()), 1e-9,
        "Nothing rubs, so that the momentum stays zero.",
    )  # fmt: skip
