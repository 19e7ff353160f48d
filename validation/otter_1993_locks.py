"""Locks, latches, brakes and joints that break.

A joint's degree of freedom is locked or free: L = 1 or 0 in

    Phi^T f = lambda_a + L lambda_c,      0 = L q'' + (1 - L) lambda_c

so that a locked coordinate has a constraint force and no acceleration, a free one an acceleration and no constraint
force.  Where a lock closes on a motion, velocities jump as in a plastic blow.

    two discs      J1 = 2, w1 = 5;  J2 = 3, w2 = -1      joined: w = (J1 w1 + J2 w2)/(J1 + J2)
    pendulum       two bars of 1 kg and 1 m; the knee latches as it comes straight
    latch          x = x0 cos(w t) on a spring; caught at x = a, let go again at t = 2 s
    brake          J w' = -M until it stops, holds up to M, slips beyond
    hook           a mass on a joint that breaks at F, pulled by a spring whose end moves with c: t = F/(k c),
                   then  x = c t - (c/w) sin(w (t - t_b)) - (F/k) cos(w (t - t_b))

Source: M. Otter, H. Elmqvist, F.E. Cellier, "Modeling of multibody systems with the object-oriented modeling language
Dymola", in: Computer-Aided Analysis of Rigid and Flexible Mechanical Systems, NATO ASI, Troia 1993, vol. II, 91-110,
eqs 1f, 1g, 2d (the lock; the paper prints no numbers for it).  References: closed forms, and for the pendulum a dense
computation in this file, the 2 x 2 equations and those of the blow with the lock's multiplier, solved by scipy.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, PROPERTY

CAPABILITY = "contact"
CASES = {"B-LOCK": "clutch, latch, brake and breaking joint: impulses, losses, times, motions"}

G = 9.81
BENT, SPEEDS, FALL = -0.8, (1.0, 4.0), 0.8  # the pendulum's knee at the start, speeds of its bars, duration


def build() -> Model:
    """Return two discs in space that are joined when the first has turned by 1 rad."""
    m = Model(3, "clutch")
    for name, J, w in (("one", 2.0, 5.0), ("two", 3.0, -1.0)):
        m.body(name, (0.0, 0.0, 0.0), 1.0, (0.6 * J, 0.6 * J, J))
        m.initial(name, spin=(0.0, 0.0, w))
    m.joint("bearing", "revolute", "ground", "one", (0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.joint("clutch", "revolute", "one", "two", (0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    m.lock("pawl", "clutch", locked=False)
    m.sensor("turn", "joint", on="bearing")
    m.sensor("slip", "lock", on="pawl", quantity="speed")
    m.event("meet", "turn", 1.0, "rising", "lock", "pawl")
    m.transient_step(1.0, 0.01, frames=0)
    return m


def pendulum(h: float) -> Model:
    """Return the double pendulum in the plane, whose knee latches when it is straight."""
    m = Model(2, "latching pendulum", gravity=(0.0, -G))
    angles = (0.0, BENT)
    ends = np.cumsum([[0.0, 0.0], *([np.sin(p), -np.cos(p)] for p in angles)], axis=0)
    for i, (name, w) in enumerate(zip(("upper", "lower"), SPEEDS, strict=True)):
        m.body(name, 0.5 * (ends[i] + ends[i + 1]), 1.0, 1.0 / 12.0, angle=angles[i])
        m.initial_speed(name, "rotation", w)
    m.joint("hip", "revolute", "ground", "upper", (0.0, 0.0))
    m.joint("knee", "revolute", "upper", "lower", ends[1])
    m.lock("latch", "knee", value=-BENT)
    m.sensor("hip", "joint", on="hip")
    m.sensor("knee", "joint", on="knee")
    m.transient_step(FALL, h, frames=0)
    return m


def _bars(p: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mass and forces of the two bars over their angles from the vertical."""
    c, s = np.cos(p[1] - p[0]), np.sin(p[1] - p[0])
    M = np.array([[4.0 / 3.0, 0.5 * c], [0.5 * c, 1.0 / 3.0]])
    f = [0.5 * s * v[1] ** 2 - 1.5 * G * np.sin(p[0]), -0.5 * s * v[0] ** 2 - 0.5 * G * np.sin(p[1])]
    return M, np.array(f)


def reference() -> dict[str, float]:
    """Return when the pendulum latches, the impulse, the loss, and the angle of the upper bar at the end."""
    C = np.array([[-1.0, 1.0]])

    def rate(t, y, locked):
        M, f = _bars(y[:2], y[2:])
        if locked:
            M, f = np.block([[M, C.T], [C, np.zeros((1, 1))]]), np.append(f, 0.0)
        return [*y[2:], *np.linalg.solve(M, f)[:2]]

    def straight(t, y, locked):
        return y[1] - y[0]

    straight.terminal = True  # type: ignore[attr-defined]
    accuracy = {"rtol": 1e-12, "atol": 1e-13}
    first = solve_ivp(rate, (0.0, FALL), [0.0, BENT, *SPEEDS], events=straight, args=(False,), **accuracy)
    t, y = float(first.t[-1]), first.y[:, -1]
    M = _bars(y[:2], y[2:])[0]
    blow = np.linalg.solve(np.block([[M, C.T], [C, np.zeros((1, 1))]]), np.append(M @ y[2:], 0.0))
    loss = 0.5 * (y[2:] @ M @ y[2:] - blow[:2] @ M @ blow[:2])
    end = solve_ivp(rate, (t, FALL), [*y[:2], *blow[:2]], args=(True,), **accuracy)
    return {"time": t, "impulse": float(-blow[2]), "loss": float(loss), "angle": float(end.y[0, -1])}


def latch(h: float) -> Model:
    """Return a mass of 2 kg on a spring of 50 N/m, let go at 0.3 m, caught at 0.1 m, let go again at 2 s."""
    m = Model(2, "latch")
    m.body("slide", (0.3, 0.0), 2.0, 1.0)
    m.joint("rail", "prismatic", "ground", "slide", (0.3, 0.0), axis=(1.0, 0.0))
    m.joint_spring("spring", "rail", 50.0, free=-0.3)
    m.body("clock", (0.0, 1.0), 1.0, 1.0)
    m.joint("hand", "prismatic", "ground", "clock", (0.0, 1.0), axis=(1.0, 0.0))
    m.initial("clock", velocity=(1.0, 0.0))
    m.lock("catch", "rail", value=-0.2)
    m.sensor("time", "joint", on="hand")
    m.sensor("way", "joint", on="rail")
    m.sensor("force", "lock", on="catch")
    m.event("let go", "time", 2.0, "rising", "release", "catch")
    m.transient_step(3.0, h, frames=0)
    return m


def brake(h: float) -> Model:
    """Return a rotor of 2 kg m^2 with 6 rad/s under a brake of 3 N m, and from 5 s on a moment of 0.5 (t - 5) N m."""
    m = Model(2, "brake")
    m.body("rotor", (0.0, 0.0), 1.0, 2.0)
    m.joint("bearing", "revolute", "ground", "rotor", (0.0, 0.0))
    m.initial("rotor", spin=6.0)
    m.lock("brake", "bearing", limit=3.0)
    m.moment("load", "rotor", 1.0, {"kind": "table", "times": [0.0, 5.0, 20.0], "values": [0.0, 0.0, 7.5]})
    m.sensor("angle", "joint", on="bearing")
    m.sensor("moment", "lock", on="brake")
    m.transient_step(14.0, h, frames=0)
    return m


def hook(h: float) -> Model:
    """Return a mass of 2 kg on a hook that breaks at 15 N, pulled by a spring of 50 N/m whose end has 0.2 m/s."""
    m = Model(2, "hook")
    m.body("weight", (0.0, 0.0), 2.0, 1.0)
    m.joint("hook", "weld", "ground", "weight", (0.0, 0.0), breaks_at=15.0)
    m.node("end", (1.0, 0.0))
    m.motion("haul", "end", "x", "0.2*t")
    m.fix("end", "y")
    m.spring("rope", "weight", "end", 50.0, point_a=(0.0, 0.0))
    m.sensor("place", "position", on="weight")
    m.transient_step(3.0, h, frames=0)
    return m


def check(f: Findings) -> None:
    _clutch(f)
    _pendulum(f)
    _latch(f)
    _brake(f)
    _hook(f)


def _events(step) -> list[dict]:
    return step.summary["events"]


def _clutch(f: Findings) -> None:
    step = solve(build()).steps[0]
    blow = _events(step)[1]
    w = 7.0 / 5.0
    why = "closed form; the angular momentum is exact in every step"
    f.row("B-LOCK", "clutch: impulse [N m s]", blow["impulse"], 3.0 * (w + 1.0), why, CLOSED_FORM, relative=1e-10)
    f.row("B-LOCK", "clutch: loss [J]", blow["loss"], 0.5 * (53.0 - 5.0 * w * w), why, CLOSED_FORM, relative=1e-10)
    final = step.summary["energy"]["final"]
    f.row("B-LOCK", "clutch: kinetic energy after it [J]", final["kinetic"], 2.5 * w * w, why, CLOSED_FORM,
          relative=1e-10)  # fmt: skip
    f.row(
        "B-LOCK", "clutch: dissipated energy [J]", final["dissipated"], blow["loss"],
        "The loss is booked exactly.", PROPERTY,
        relative=1e-10,
    )  # fmt: skip
    f.zero(
        "B-LOCK",
        "clutch: closing error of the energy",
        energy_error(step),
        CONSERVED,
        "Theory gives this value exactly; only round-off is left.",
    )
    f.zero(
        "B-LOCK",
        "clutch: speed between the discs [rad/s]",
        abs(step.series["sensor/slip"][-1, 0]),
        1e-12,
        "The value is exact; only round-off is left.",
    )


def _pendulum(f: Findings) -> None:
    known = reference()
    found = {}
    for h in (4e-3, 2e-3):
        step = solve(pendulum(h)).steps[0]
        (event,) = _events(step)
        angle, knee = step.series["sensor/hip"][:, 0], step.series["sensor/knee"][:, 0]
        found[h] = {"angle": angle[-1], **{key: event[key] for key in ("time", "impulse", "loss")}}
        f.zero(
            "B-LOCK",
            f"pendulum: closing error of the energy, h = {h:g} s",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
        f.zero(
            "B-LOCK", f"pendulum: play of the latch [rad], h = {h:g} s",
            float(np.abs(knee[step.time > event["time"] + 1e-9] + BENT).max()), 1e-12,
            "The latch is a constraint; only round-off is left.",
        )  # fmt: skip
    units = {"time": "s", "impulse": "N m s", "loss": "J", "angle": "rad"}
    for key, unit in units.items():
        fine, coarse = (found[h][key] for h in (2e-3, 4e-3))
        limit = fine + (fine - coarse) / 3.0
        why = "dense computation in this file; the limit of second order of two step lengths"
        f.row("B-LOCK", f"pendulum: {key} [{unit}], limit", limit, known[key], why, INDEPENDENT, relative=2e-6)
        order = np.log2(abs(coarse - known[key]) / abs(fine - known[key]))
        f.row("B-LOCK", f"pendulum: order of the error of the {key}", order, 2.0,
            "The error is of second order in h.", PROPERTY,
              tolerance=0.1)  # fmt: skip


def _latch(f: Findings) -> None:
    h, w = 1e-3, 5.0
    solution = solve(latch(h))
    step = solution.steps[0]
    caught = _events(step)[0]
    t = np.arccos(0.1 / 0.3) / w
    v = -w * np.sqrt(0.3**2 - 0.1**2)
    why = "closed form; the phase of the step, (w h)^2/12 over the way"
    f.row("B-LOCK", "latch: time [s]", caught["time"], t, why, CLOSED_FORM, relative=5e-6)
    exact = "closed form; energy is exact"
    f.row("B-LOCK", "latch: impulse [N s]", caught["impulse"], -2.0 * v, exact, CLOSED_FORM, relative=1e-10)
    f.row("B-LOCK", "latch: loss [J]", caught["loss"], v * v, exact, CLOSED_FORM, relative=1e-10)
    force = solution.sensor("force")
    held = force.values[(force.t > t + 0.01) & (force.t < 1.99), 0]
    f.row("B-LOCK", "latch: force that it holds [N]", float(np.abs(held).max()), 5.0,
        "The closed form is k a; only round-off is left.", CLOSED_FORM,
          relative=1e-9)  # fmt: skip
    f.row(
        "B-LOCK",
        "latch: place at 3 s [m]",
        step.series["sensor/way"][-1, 0] + 0.3,
        0.1 * np.cos(w),
        why,
        CLOSED_FORM,
        tolerance=2e-6,
    )
    f.zero(
        "B-LOCK",
        "latch: closing error of the energy",
        energy_error(step),
        CONSERVED,
        "Theory gives this value exactly; only round-off is left.",
    )
    f.figure(
        "Latch", [Curve(step.time, step.series["sensor/way"][:, 0] + 0.3, "slide")], "Time [s]", "Place [m]",
        "Caught at 0.1 m, let go at 2 s.",
    )  # fmt: skip


def _brake(f: Findings) -> None:
    for h in (0.01, 0.02):
        solution = solve(brake(h))
        step = solution.steps[0]
        stop, slip = _events(step)
        angle, t = step.series["sensor/angle"][:, 0], step.time
        why = "closed form; the angle is exact by the energy, the time has the phase of the step, 4 h^2 in all"
        f.row("B-LOCK", f"brake: time to rest w J/M [s], h = {h:g} s", stop["time"], 4.0, why, CLOSED_FORM,
              tolerance=4.5 * h * h)  # fmt: skip
        rest = angle[(t > 4.0 + 1e-9) & (t < 11.0)]
        f.row("B-LOCK", f"brake: angle to rest J w^2/(2 M) [rad], h = {h:g} s", rest[0], 12.0, why, CLOSED_FORM,
              relative=1e-10)  # fmt: skip
        f.zero(
            "B-LOCK",
            f"brake: motion while it holds [rad], h = {h:g} s",
            float(np.ptp(rest)),
            1e-12,
            "The brake is a constraint; only round-off is left.",
        )
        f.row("B-LOCK", f"brake: time at which it slips again [s], h = {h:g} s", slip["time"], 11.0, why, CLOSED_FORM,
              relative=1e-9)  # fmt: skip
        exact = 12.0 + 0.5 * 3.0**3 / 6.0 / 2.0
        reason = "closed form; a cubic over steps, h^2 M' T/(24 J)"
        f.row("B-LOCK", f"brake: angle at 14 s [rad], h = {h:g} s", angle[-1], exact, reason, CLOSED_FORM,
              tolerance=0.2 * h * h)  # fmt: skip
        f.zero(
            "B-LOCK",
            f"brake: closing error of the energy, h = {h:g} s",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
        if h < 0.015:
            moment = solution.sensor("moment")
            curves = [Curve(moment.t, moment.values[:, 0], "moment [N m]"), Curve(t, angle, "angle [rad]")]
            f.figure("Brake", curves, "Time [s]", "Moment [N m], angle [rad]", "Slipping, holding, slipping.")


def _hook(f: Findings) -> None:
    w, c = 5.0, 0.2
    for h in (0.01, 0.005):
        step = solve(hook(h)).steps[0]
        (event,) = _events(step)
        t = 15.0 / (50.0 * c)
        why = "closed form F/(k c); a ramp between the middles of steps is exact"
        f.row("B-LOCK", f"hook: time of breaking [s], h = {h:g} s", event["time"], t, why, CLOSED_FORM, relative=1e-9)
        left = 3.0 - t
        exact = c * 3.0 - c / w * np.sin(w * left) - 0.3 * np.cos(w * left)
        place = step.series["sensor/place"][-1, 0]
        f.row(
            "B-LOCK",
            f"hook: place at 3 s [m], h = {h:g} s",
            place,
            exact,
            "The closed form is exact; the rule leaves a phase error of (w h)^2/12.",
            CLOSED_FORM,
            tolerance=6 * h * h,
        )
        f.zero(
            "B-LOCK",
            f"hook: closing error of the energy, h = {h:g} s",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
