"""Friction where two motions share one surface: a bush on a shaft, and profiles that drive each other.

         ___________                                          |  m  |
    ====|___________|====> v, w       _____                  _|_____|_
          r | l | r                  |     \\\\___ mu     mu  (         )  flat follower on an eccentric disc
                                     | wedge    \\\\___         (   o + )
                                     |______________|          (_____)

A bush slips along a screw line, by s = sqrt(v^2 + (r w)^2), so that friction mu N divides as the speeds do.  A free
bush keeps d ln v/d ln w = J/(m r^2); one that is turned by w slides at v = r w F/sqrt(mu^2 N^2 - F^2) under a force
F < mu N along the shaft.  A weight beside a bush of the length l loads its ends by W (1/2 +- c/l).

A wedge of the slope alpha lifts a weight W by W tan(alpha + rho), tan(rho) = mu, and lets it down against
W tan(alpha - rho).  A flat follower on an eccentric disc is pressed by N = k (y + y_0) + m (g + y''), slips by
w (R + y), y = e sin(w t), and takes N (e cos(w t) + mu (R + y)) of moment.

Source: C.A. Coulomb, "Theorie des machines simples", Mem. Math. Phys. Acad. Sci. 10 (1785), 161-332 (the law).  All
references are closed forms of the balance of forces, and equations of motion that scipy solves.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT

CAPABILITY = "contact"
CASES = {
    "B-BUSH": "a bush that slides and turns on a shaft: speeds, resistance, load of its ends",
    "B-WEDGE": "a wedge with a round follower: lifting and lowering",
    "B-SLIDING-CAM": "an eccentric disc under a flat follower: moment, loss, running out",
}

G, MU, SMOOTHING = 9.81, 0.3, 1e-3
MASS, INERTIA, RADIUS, LENGTH = 2.0, 0.005, 0.04, 0.2
DISC, OFFSET, FOLLOWER, STIFFNESS, PRELOAD, SPEED, WHEEL = 0.05, 0.02, 0.8, 400.0, 0.06, 7.0, 0.01


def build(overhang: float = 0.0, speed: float = 1.5, spin: float = 40.0, push: float = 0.0, h: float = 5e-4,
          duration: float = 0.2) -> Model:  # fmt: skip
    """Return a body on a level shaft, whose mass lies beside the bush by ``overhang``; ``push``: a force along the
    shaft on a bush that a drive turns."""
    model = Model(3, "bush on a shaft", gravity=(0.0, -G, 0.0))
    model.body("bush", (0.0,) * 3, MASS, (INERTIA,) * 3)
    turn: dict[str, Any] = {"function": f"{spin}*t"} if push else {}
    model.joint("shaft", "cylindrical", "ground", "bush", point=(-overhang, 0.0, 0.0), axis=(1.0, 0.0, 0.0), **turn)
    model.friction("rub", "shaft", coefficient=MU, smoothing=SMOOTHING, radius=RADIUS, length=LENGTH)
    model.initial("bush", velocity=(speed, 0.0, 0.0), spin=(spin, 0.0, 0.0))
    if push:
        model.force("push", "bush", (push, 0.0, 0.0))
    model.sensor("v", "velocity", on="bush")
    model.sensor("w", "angular velocity", on="bush")
    model.sensor("N", "element", on="rub", element=0, quantity="normal force")
    model.transient_step(duration, h, frames=0)
    return model


def _bush(f: Findings) -> None:
    power = INERTIA / (MASS * RADIUS**2)
    for overhang in (0.0, 0.05, 0.3):
        off, rates = [], []
        for h in (1e-3, 5e-4, 2.5e-4):
            step = solve(build(overhang, h=h)).steps[0]
            v, w = step.series["sensor/v"][:, 0], step.series["sensor/w"].reshape(len(step.time), 3)[:, 0]
            off.append(float(v[-1] / v[0] - (w[-1] / w[0]) ** power))
            rates.append(float(-3.0 * v[0] + 4.0 * v[1] - v[2]) / (2.0 * h))
        label = f"mass {overhang:g} m beside the bush"
        f.converged("B-BUSH", f"last speed over the first less (w/w0)^(J/(m r^2)), {label}", off, 0.0, CLOSED_FORM)
        load = abs(0.5 + overhang / LENGTH) + abs(0.5 - overhang / LENGTH)
        f.row("B-BUSH", f"sum of the forces of both ends over the weight, {label}",
              float(step.series["sensor/N"][-1, 0]) / (MASS * G), load, "closed form of the lever; round-off",
              CLOSED_FORM, relative=1e-12)  # fmt: skip
        f.zero(
            "B-BUSH",
            f"closing error of the energy, {label}",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
        if overhang:
            continue
        slip = math.hypot(v[0], RADIUS * w[0])
        slowed = -MU * G * v[0] / slip
        f.converged("B-BUSH", "axial deceleration at the start, mu g v/s [m/s^2]", rates, slowed, CLOSED_FORM)
    push = 2.0
    step = solve(build(0.0, 0.0, 100.0, push, 0.02, 30.0)).steps[0]
    creep = RADIUS * 100.0 * push / math.sqrt((MU * MASS * G) ** 2 - push**2)
    # m v' = F - mu m g v/s about the steady speed
    decay = MU * G / (RADIUS * 100.0) * (1.0 - (push / (MU * MASS * G)) ** 2) ** 1.5
    f.row("B-BUSH", "speed of a turning bush under 2 N along its shaft [m/s]", float(step.series["sensor/v"][-1, 0]),
          creep, "What is left of the start-up after 30 s, by the decay about the steady speed.", CLOSED_FORM,
          relative=math.exp(-30.0 * decay))  # fmt: skip
    f.zero(
        "B-BUSH",
        "closing error of the energy, turned",
        energy_error(step),
        CONSERVED,
        "Theory gives this value exactly; only round-off is left.",
    )


def wedge(push: float) -> tuple[Model, float]:
    """Return a wedge of 3 kg that is pushed below the round foot of a follower of 2 kg, and its slope [rad]."""
    alpha = math.atan(0.25)
    model = Model(2, "wedge", gravity=(0.0, -G))
    model.body("wedge", (0.0, -0.1), 3.0, 0.1)
    model.joint("floor", "prismatic", "ground", "wedge", point=(0.0, -0.1), axis=(1.0, 0.0))
    model.curve("slope", points=[(-2.0, -0.5), (2.0, 0.5)])
    model.curve("foot", x="0.05*cos(t)", y="0.05*sin(t)", range=(0.0, 2.0 * math.pi), closed=True,
                position=(0.0, 0.05 / math.cos(alpha)))  # fmt: skip
    model.body("follower", (0.0, 0.3), 2.0, 0.1)
    model.joint("guide", "prismatic", "ground", "follower", point=(0.0, 0.3), axis=(0.0, 1.0))
    model.joint("touch", "curve_on_curve", "wedge", "follower", curve="slope", curve_b="foot")
    model.friction("rub", "touch", coefficient=MU, smoothing=1e-4)
    model.force("push", "wedge", (-push, 0.0))
    model.sensor("v", "velocity", on="wedge")
    model.transient_step(0.2, 1e-3, frames=0)
    return model, alpha


def _wedge(f: Findings) -> None:
    # MU > tan(alpha): the weight alone does not drive the wedge back, a pull does
    for push, way in ((20.0, 1.0), (-5.0, -1.0)):
        model, alpha = wedge(push)
        step = solve(model).steps[0]
        tangent = math.tan(alpha + way * math.atan(MU))
        expected = (push - 2.0 * G * tangent) / (3.0 + 2.0 * math.tan(alpha) * tangent)
        late = step.time > 0.1
        found = -float(np.polyfit(step.time[late], step.series["sensor/v"][late, 0], 1)[0])
        f.row("B-WEDGE", f"acceleration of the wedge, {'lifting' if way > 0 else 'lowering'} [m/s^2]", found, expected,
              "closed form W tan(alpha +- rho), which the smooth law reaches; round-off", CLOSED_FORM,
              relative=1e-10)  # fmt: skip
        f.zero("B-WEDGE", f"closing error of the energy, {'lifting' if way > 0 else 'lowering'}", energy_error(step),
               CONSERVED, "Theory gives this value exactly; only round-off is left.")  # fmt: skip


def cam(driven: bool, h: float, duration: float) -> Model:
    """Return an eccentric disc under a flat follower that a spring presses; its shaft is driven, or runs out."""
    model = Model(2, "sliding cam", gravity=(0.0, -G))
    model.body("cam", (0.0, 0.0), 1.0, WHEEL)
    shaft: dict[str, Any] = {"function": f"{SPEED}*t"} if driven else {}
    model.joint("shaft", "revolute", "ground", "cam", point=(0.0, 0.0), **shaft)
    model.curve("disc", x=f"{OFFSET} + {DISC}*cos(t)", y=f"{DISC}*sin(t)", range=(0.0, 2.0 * math.pi), closed=True)
    model.body("follower", (0.0, DISC), FOLLOWER, 0.01)
    model.joint("guide", "prismatic", "ground", "follower", point=(0.0, DISC), axis=(0.0, 1.0))
    model.curve("flat", points=[(-0.1, DISC), (0.1, DISC)])
    model.joint("touch", "cam", "cam", "follower", curve="disc", curve_b="flat")
    model.joint_spring("spring", "guide", STIFFNESS, free=-PRELOAD)
    model.friction("rub", "touch", coefficient=MU, smoothing=0.02)
    if not driven:
        model.initial("cam", spin=SPEED)
        model.initial("follower", velocity=(0.0, SPEED * OFFSET))
    model.sensor("angle", "joint", on="shaft")
    model.sensor("N", "element", on="rub", element=0, quantity="normal force")
    model.transient_step(duration, h, frames=0)
    return model


def pressed(angle: np.ndarray, w: float, a: float) -> tuple[np.ndarray, np.ndarray]:
    """Return normal force [N] and moment [N m] that the follower takes, for angle, rate and angular acceleration."""
    lift = OFFSET * np.sin(angle)
    N = FOLLOWER * (G + OFFSET * np.cos(angle) * a - lift * w * w) + STIFFNESS * (lift + PRELOAD)
    return N, N * (OFFSET * np.cos(angle) + MU * np.tanh(w * (DISC + lift) / 0.02) * (DISC + lift))


def _cam(f: Findings) -> None:
    turn, off, lost = 2.0 * math.pi / SPEED, [], []
    for n in (200, 400, 800):
        step = solve(cam(True, turn / n, turn)).steps[0]
        N, moment = pressed(SPEED * (step.time[1:] - 0.5 * turn / n), SPEED, 0.0)
        found = step.series["sensor/N"][1:, 0]
        error = found - N  # it alternates with the steps, as multipliers of the rule do: means of two steps converge
        off.append(float(np.abs(0.5 * (error[1:] + error[:-1])).max() / N.max()))
        lost.append(float(step.ledger("dissipated")[-1]))
    f.converged(
        "B-SLIDING-CAM",
        "largest error of the normal force, mean of two steps, over its largest, driven",
        off,
        0.0,
        CLOSED_FORM,
    )
    f.converged("B-SLIDING-CAM", "loss per turn, driven [J]", lost, float(np.mean(moment)) * 2.0 * math.pi, CLOSED_FORM)
    f.figure("Eccentric disc under a flat follower", [
        Curve(SPEED * step.time[1:], found, "element"), Curve(SPEED * step.time[1:], N, "closed form"),
    ], "Angle [rad]", "Normal force [N]", "The spring presses; inertia and friction add.")  # fmt: skip

    def run(_: float, y: np.ndarray) -> tuple[float, float]:
        free = pressed(y[0], y[1], 0.0)[1]
        return y[1], -free / (WHEEL + pressed(y[0], y[1], 1.0)[1] - free)

    angles = []
    for h in (2e-3, 1e-3, 5e-4):
        step = solve(cam(False, h, 0.4)).steps[0]
        angles.append(float(step.series["sensor/angle"][-1, 0]))
    expected = solve_ivp(run, (0.0, 0.4), (0.0, SPEED), rtol=1e-10, atol=1e-12).y[0, -1]
    f.converged("B-SLIDING-CAM", "angle after 0.4 s without a drive [rad]", angles, float(expected), INDEPENDENT)
    f.zero(
        "B-SLIDING-CAM",
        "closing error of the energy, without a drive",
        energy_error(step),
        CONSERVED,
        "Theory gives this value exactly; only round-off is left.",
    )


def reference() -> dict:
    """Return forces on the wedge over the weight, and the exponent of the speeds of the bush."""
    alpha, rho = math.atan(0.25), math.atan(MU)
    return {
        "lifting": math.tan(alpha + rho), "lowering": math.tan(alpha - rho), "exponent": INERTIA / (MASS * RADIUS**2)
    }  # fmt: skip


def check(f: Findings) -> None:
    _bush(f)
    _wedge(f)
    _cam(f)
