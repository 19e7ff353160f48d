r"""Forced vibration of a mass with dry friction: its amplitude when it never sticks.

      |--/\/\/--[ m ] -> P cos(w t)        k = m = 1, P = 1, friction F
             /////////

Starting at rest in the turning point of the steady motion, the mass moves for ever between +-x_0, with

    (k x_0/P)^2 = V^2 - (F/P)^2 U^2,   V = 1/(1 - b^2),   U = sin(pi/b)/(b (1 + cos(pi/b))),   b = w sqrt(m/k),

and turns at every half period.

Source: J.P. den Hartog, "Forced vibrations with combined Coulomb and viscous friction", Trans. ASME 53 (1931) APM-53-9,
107-115, read before the ASME in 1930; the same in "Mechanical vibrations".  The reference is the formula above, which
follows from matching half a period of x'' + x = cos(b t + phi) + F to the next one.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "contact"
CASES = {"B-SHAKEN": "steady amplitude and reversals of a forced mass with dry friction"}

#: ratio of the frequencies, friction over force
RUNS = ((0.7, 0.3), (0.8, 0.3), (1.2, 0.4), (1.5, 0.4))
SMOOTHING, PERIODS, STEPS = 1e-4, 8, 500


def steady(ratio: float, friction: float) -> tuple[float, float]:
    """Return the amplitude x_0 of the steady motion, and the phase of the force at the turning point +x_0 [rad]."""
    V = 1.0 / (1.0 - ratio**2)
    U = np.sin(np.pi / ratio) / (ratio * (1.0 + np.cos(np.pi / ratio)))
    amplitude = np.sqrt(V**2 - (friction * U) ** 2)
    return float(amplitude), float(np.arctan2(-friction * U / V, amplitude / V))


def reference() -> dict[tuple[float, float], float]:
    """Return the amplitudes by the ratio of the frequencies and the friction."""
    return {run: steady(*run)[0] for run in RUNS}


def build(ratio: float = 0.8, friction: float = 0.3) -> Model:
    """Return the mass in its turning point, and some periods of its motion."""
    amplitude, phase = steady(ratio, friction)
    model = Model(2, "mass with friction")
    model.node("m", (amplitude, 0.0))
    model.point_mass("mass", "m", 1.0)
    model.fix("m", ["y"])
    model.spring("spring", "ground", "m", 1.0, length=4.0, point_a=(-4.0, 0.0))
    model.friction("rub", a="ground", b="m", coefficient=friction, normal=1.0, axis=(0.0, 1.0), smoothing=SMOOTHING)
    model.force("P", "m", (1.0, 0.0), function=f"cos({ratio!r}*t + {phase!r})")
    model.sensor("x", "position", on="m")
    period = 2.0 * np.pi / ratio
    model.transient_step(PERIODS * period, period / STEPS, frames=0)
    return model


def check(f: Findings) -> None:
    case = "B-SHAKEN"
    curves: list[Curve] = []
    largest: dict[float, float] = {}
    for (ratio, friction), amplitude in reference().items():
        step = solve(build(ratio, friction)).steps[0]
        x, what = step.series["sensor/x"][:, 0], f"w = {ratio:g} w_0, F = {friction:g} P"
        turns = np.arange(STEPS // 2, len(x), STEPS // 2)
        largest[ratio] = float(np.abs(x[-STEPS:]).max())
        f.zero(
            case, f"largest error of the turning points over the amplitude, {what}",
            np.abs(np.abs(x[turns]) - amplitude).max() / amplitude, 7.6e-4,
            "The step leaves (2 pi/500)^2/12 per radian, 6.6e-4 of 16 pi; smoothing begins at 1e-4 of the speed.",
            CLOSED_FORM,
        )  # fmt: skip
        inside = np.sign(np.diff(x))
        found = np.flatnonzero(inside[1:] != inside[:-1]) + 1
        late = np.abs(found - turns[: len(found)]).max() if len(found) in (len(turns), len(turns) - 1) else np.inf
        f.zero(case, f"largest error of the times of reversal over the period, {what}", late / STEPS, 1.0 / STEPS,
               "Reversals are known to a step.", CLOSED_FORM)  # fmt: skip
        f.zero(case, f"energy less work and friction, {what}", energy_error(step), CONSERVED,
               "The rule conserves it exactly.")  # fmt: skip
        curves.append(Curve(step.time[: 2 * STEPS], x[: 2 * STEPS], what))
    f.figure("Steady motion with dry friction", curves, "Time over sqrt(m/k) [-]", "k x/P [-]")
    ratios = np.concatenate([np.linspace(0.6, 0.95, 60), [np.nan], np.linspace(1.06, 1.6, 60)])
    f.figure(
        "Amplitude with dry friction",
        [Curve(ratios, np.array([np.nan if np.isnan(b) else steady(b, 0.3)[0] for b in ratios]), "F = .3 P"),
         Curve(ratios, np.array([np.nan if np.isnan(b) else steady(b, 0.4)[0] for b in ratios]), "F = .4 P", "--"),
         Curve(np.array(list(largest)), np.array(list(largest.values())), "fem-mbs, .3 P below and .4 P above", "o")],
        "w/w_0 [-]", "k x_0/P [-]",
    )  # fmt: skip
