"""Newmark's rules by hand: an oscillator under half a sine, elastic and elastoplastic.

A mass of 0.2533 kip s2/in on a spring of 10 kip/in with 5 % of critical damping; the force is 10 sin(pi t/0.6) kip for
0.6 s.  Ten steps of 0.1 s, a tenth of the period, so that the rules differ from the exact motion and from each other.

         |--/\\\\/\\\\--+-----+
         |    k     |  m  | --> p(t)     u' = u'' = 0 at the start
         |--[ c ]---+-----+              the elastoplastic spring yields at 7.5 kip

Source: A.K. Chopra, "Dynamics of structures", 4th ed., Prentice Hall 2012, examples 5.3 (average acceleration), 5.4
(linear acceleration) and 5.5 (elastoplastic spring, average acceleration).  The tables were read in the verification
example NewmarkIntegrator.tcl of OpenSees, which prints them.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import INDEPENDENT, printed

CAPABILITY = "integration"
DEVIATIONS = (
    "Chopra (2012), examples 5.3 and 5.4, as NewmarkIntegrator.tcl of OpenSees prints them: speeds of 4.4260 after 4 "
    "steps (average acceleration) and 2.1802 after 5 (linear acceleration) should read 4.7260 and 2.1082; the "
    "displacements beside them agree.",
)
CASES = {"B-NEWMARK": "ten steps of two rules of Newmark, as done by hand, elastic and elastoplastic"}

MASS, STIFFNESS, H = 0.2533, 10.0, 0.1
DAMPING = 2.0 * 0.05 * np.sqrt(STIFFNESS * MASS)


def build(beta: float = 0.25, yield_force: float | None = None, h: float = H, **options) -> Model:
    """Return the oscillator [kip, in, s] with steps of Newmark's rule."""
    model = Model(2, "oscillator under half a sine")
    model.node("m", (10.0, 0.0))
    model.node("wall", (0.0, 0.0))
    model.fix("wall")
    model.fix("m", ["y"])
    model.point_mass("mass", "m", MASS)
    model.spring("spring", "wall", "m", stiffness=STIFFNESS, damping=DAMPING, length=10.0, yield_force=yield_force)
    model.force("p", "m", (10.0, 0.0), function="sin(pi*t/0.6)*step(0.6 - t)")
    model.sensor("u", "displacement", on="m")
    model.sensor("v", "velocity", on="m")
    model.transient_step(1.0, h, **{"rule": "newmark", "beta": beta, "frames": 0, **options})
    return model


def reference() -> dict:
    """Return displacements [in] and speeds [in/s] after each of the steps, as printed."""
    return {
        "average acceleration": (
            "0.0437 0.2326 0.6121 1.0825 1.4309 1.4231 0.9622 0.1908 -0.6044 -1.1442",
            "0.8733 2.9057 4.6833 4.4260 2.2421 -2.3996 -6.8192 -8.6092 -7.2932 -3.5026",
        ),
        "linear acceleration": (
            "0.0300 0.2193 0.6166 1.1130 1.4782 1.4625 0.9514 0.1273 -0.6954 -1.2208",
            "0.8995 2.9819 4.7716 4.7419 2.1802 -2.6911 -7.1468 -8.7758 -7.1539 -3.0508",
        ),
        "elastoplastic": ("0.0437 0.2326 0.6121 1.1143 1.6214 1.9891 2.0951 1.9240 1.5602",),
    }


def exact() -> np.ndarray:
    """Return the exact displacement of the elastic oscillator after each of the ten steps [in]."""

    def rates(t, y):
        force = 10.0 * np.sin(np.pi * t / 0.6) if t < 0.6 else 0.0
        return [y[1], (force - DAMPING * y[1] - STIFFNESS * y[0]) / MASS]

    times = H * np.arange(1, 11)
    first = solve_ivp(rates, (0.0, 0.6), [0.0, 0.0], "DOP853", np.append(times[:5], 0.6), rtol=1e-11, atol=1e-12)
    rest = solve_ivp(rates, (0.6, 1.0), first.y[:, -1], "DOP853", np.append(times[6:9], 1.0), rtol=1e-11, atol=1e-12)
    return np.concatenate((first.y[0], rest.y[0]))


def check(f: Findings) -> None:
    case = "B-NEWMARK"
    curves: list[Curve] = []
    misprints = {("average acceleration", "v", 4), ("linear acceleration", "v", 5)}
    for what, beta, limit in (
        ("average acceleration", 0.25, None), ("linear acceleration", 1.0 / 6.0, None), ("elastoplastic", 0.25, 7.5)
    ):  # fmt: skip
        solution = solve(build(beta, limit))
        example = {"average acceleration": "5.3", "linear acceleration": "5.4", "elastoplastic": "5.5"}[what]
        where = printed(f"Chopra (2012), table of example {example}, as in NewmarkIntegrator.tcl of OpenSees")
        for name, unit, texts in zip("uv", ("in", "in/s"), reference()[what], strict=False):
            values = solution.sensor(name).values[1:, 0]
            for k, text in enumerate(texts.split()):
                if (what, name, k + 1) not in misprints:
                    f.digits(
                        case, f"{name} after {k + 1} steps, {what} [{unit}]", values[k], text, where,
                        error=3e-4 if what == "elastoplastic" else 1.2e-4,
                        why="the table rounds each step to four decimals, and ends its iterations early",
                    )  # fmt: skip
            if name == "u":
                curves += [
                    Curve(H * np.arange(11), np.concatenate(([0.0], values)), what),
                    published(
                        "" if curves else "Chopra (2012)", H * np.arange(1, len(texts.split()) + 1), texts.split()
                    ),
                ]
    coarse, fine = (
        solve(build(0.25, h=h)).sensor("u").values[round(H / h) :: round(H / h), 0] - exact() for h in (5e-3, 2.5e-3)
    )
    limit = (4.0 * fine - coarse) / 3.0
    f.zero(case, "largest error of u of the elastic oscillator, average acceleration, h -> 0 [in]", np.abs(limit).max(),
           1e-6, "Extrapolation leaves an error of fourth order, (2 pi h/T)^4/80 of 1.4 in: 1e-8.",
           INDEPENDENT)  # fmt: skip
    f.figure("Displacement", curves, "Time [s]", "u [in]")
