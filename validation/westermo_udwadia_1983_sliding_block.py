r"""A block on a plane that shakes: it sticks, sticks and slips, or slips all the time.

            [ m ]              acceleration of the plane A sin(w t), friction mu m g, r = mu g/A
      ================
         <--  -->

    r > 1                      the block never slips
    .53703 < r < 1             every half period it slips from sin(w t) = r on, until both speeds are the same again
    r < 1/sqrt(1 + pi^2/4)     it slips all the time: its speed is a zigzag of the slopes +-mu g, which meets that
                               of the plane at cos(w t) = +-pi r/2

Source: B. Westermo, F. Udwadia, "Periodic response of a sliding oscillator system to harmonic excitation", Earthquake
Engng. Struct. Dyn. 11 (1983) 135-146, doi:10.1002/eqe.4290110111; the same problem is SDND104 of Code_Aster
(V5.01.104), whose solution is this one.  References are the slip of a half period and the power of friction in closed
form.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "contact"
CASES = {"B-SHAKING-PLANE": "slip of a block on a plane that shakes, its limits, the power of friction"}

MASS, G, MU, OMEGA = 2.0, 10.0, 0.2, 2.0 * np.pi
RATIOS = (1.05, 0.8, 0.6, 0.45, 0.25)
PERIODS, STEPS = 12, 400
SMOOTHING = 1e-3  # of the plane's largest speed


def slip(r: float) -> tuple[float, float]:
    """Return slip per half period [m] and the part of it in which the block sticks, by mu g/A."""
    accel = MU * G / r

    def speeds(t, start, block):
        """Speed of the plane less that of the block, which has had ``block`` at ``start``."""
        return -accel / OMEGA * np.cos(OMEGA * t) - (block + MU * G * (t - start))

    if r >= 1.0 - 1e-9:
        return 0.0, 1.0
    half = np.pi / OMEGA
    if r > 1.0 / np.sqrt(1.0 + 0.25 * np.pi**2):
        start = np.arcsin(r) / OMEGA
        block = -accel / OMEGA * np.cos(OMEGA * start)
        end = brentq(speeds, start + 1e-3 * half, start + (1.0 + 1e-9) * half, args=(start, block), xtol=1e-15)
    else:
        start = np.arccos(0.5 * np.pi * r) / OMEGA
        block, end = -accel / OMEGA * np.cos(OMEGA * start), start + half
    plane = -accel / OMEGA**2 * (np.sin(OMEGA * end) - np.sin(OMEGA * start))
    moved = block * (end - start) + 0.5 * MU * G * (end - start) ** 2
    return float(plane - moved), float(1.0 - (end - start) / half)


def reference() -> dict[float, tuple[float, float]]:
    """Return slips per half period [m] and parts of the time that the block sticks, by mu g/A."""
    return {r: slip(r) for r in RATIOS}


def build(r: float = 0.6) -> Model:
    """Return the block, which stands still at the start, on a plane that runs by its speed."""
    model = Model(2, "block on a plane that shakes")
    model.node("block", (0.0, 0.0))
    model.point_mass("block", "block", MASS)
    model.fix("block", ["y"])
    speed = MU * G / r / OMEGA
    model.friction(
        "rub", a="ground", b="block", coefficient=MU, normal=MASS * G, axis=(0.0, 1.0), smoothing=SMOOTHING * speed,
        speed=f"-{float(speed)!r}*cos({OMEGA!r}*t)",
    )  # fmt: skip
    model.sensor("speed", "velocity", on="block")
    model.transient_step(PERIODS, 1.0 / STEPS, frames=0)
    return model


def check(f: Findings) -> None:
    case = "B-SHAKING-PLANE"
    curves: list[Curve] = []
    for r, (exact, sticking) in reference().items():
        step = solve(build(r)).steps[0]
        speed = MU * G / r / OMEGA
        plane, block = -speed * np.cos(OMEGA * step.time), step.series["sensor/speed"][:, 0]
        last = slice(len(plane) - STEPS - 1, None)
        relative = np.abs(plane - block)[last]
        found = 0.5 * float(np.sum(0.5 * (relative[1:] + relative[:-1]))) / STEPS
        off = 3.0 * SMOOTHING * speed * np.pi / OMEGA
        why = "Where the block sticks it creeps by up to three times the smoothing: its way in half a period."
        f.row(case, f"slip per half period, mu g = {r:g} A [m]", found, exact, why, CLOSED_FORM, tolerance=off)
        lost = step.ledger("dissipated")
        f.row(case, f"power of friction in the last period, mu g = {r:g} A [W]", (lost[-1] - lost[-STEPS - 1]),
              2.0 * MU * MASS * G * exact, why, CLOSED_FORM, tolerance=2.0 * MU * MASS * G * off)  # fmt: skip
        stuck = float(np.mean(relative < 3.0 * SMOOTHING * speed))
        # from sin(w t) = r on the relative speed grows with the square of the time until it counts as slip
        late = np.sqrt(6.0 * SMOOTHING / np.sqrt(1.0 - r**2)) / np.pi if 1e-9 < sticking < 1.0 else 0.0
        f.between(case, f"part of the time that the block sticks, mu g = {r:g} A", stuck, sticking - 4.0 / STEPS,
                  sticking + late + 4.0 / STEPS, "Sticking is a relative speed below three times the smoothing, which "
                  "slip passes late; two steps of a half period.", CLOSED_FORM)  # fmt: skip
        f.zero(case, f"energy less work of the plane and friction, mu g = {r:g} A", energy_error(step), CONSERVED,
               "The rule conserves it exactly.")  # fmt: skip
        curves.append(Curve(step.time[last], block[last] / speed, f"mu g = {r:g} A"))
    curves.append(Curve(step.time[last], plane[last] / speed, "plane", ":"))
    f.figure("Speed of the block over the largest one of the plane", curves, "Time [s]", "Speed [-]")
    ratios = np.linspace(0.05, 1.2, 116)
    f.figure(
        "Slip of the block", [Curve(ratios, np.array([slip(x)[0] * x for x in ratios]) * OMEGA**2 / (2.0 * MU * G),
        "closed form")], "mu g/A [-]", "Slip per half period over the way of the plane [-]",
    )  # fmt: skip
