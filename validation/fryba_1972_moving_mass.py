"""Masses and bodies that slide along beams: a moving mass, a carriage that turns with the line, sliders on an arc.

A mass m with a constant force F on it, or a carriage with the inertia J too, is driven at the speed v over a simply
supported beam: it has the convective accelerations 2 v w_xt + v^2 w_xx, and the carriage turns with the slope w_x.
A body slides on an arc that is held (a compound pendulum), in the plane and in space.

        F | -> v                          .  R
     _____m______________              [ ]   '
     ^                  o                ' . _

Source: the moving mass of L. Fryba, "Vibration of Solids and Structures under Moving Loads", Noordhoff, Groningen 1972,
which treats the problem by the same expansion in sines.  All numbers are independent computations in this file: the
equations of the amplitudes of the sines by scipy, those of the pendulum likewise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, extrapolated
from fem_mbs.validation.kinds import INDEPENDENT

CAPABILITY = "flexible"
CASES = {
    "B-MOVING-MASS": "a mass and a turning carriage that are driven over a simply supported beam",
    "B-BAR-SLIDER": "a carriage that is thrown outwards on a free turning bar, in large rotation",
    "B-ARC-SLIDER": "bodies that slide along an arc of beams and turn with it, in the plane and in space",
}

LENGTH, EI, RHO_A = 10.0, 2e5, 20.0
MASS, FORCE, SPEED, INERTIA = 60.0, -600.0, 12.0, 150.0
BAR, CARRIAGE, PLACE, TURN = (2.0, 0.5), (0.8, 0.05), 0.3, 3.0  # length, mass per length; mass, inertia; [m], [rad/s]
DURATION = 0.83  # a little less than the passage
RADIUS, ANGLE, GRAVITY = 2.0, 0.5, 9.81
BODY, OFF = (3.0, 0.4), 0.15  # mass and inertia of the slider, distance of its centre from the line


def build(carriage: bool = False, elements: int = 16, h: float = 1e-3) -> Model:
    """Return the beam with a mass, or a carriage, that starts at its left end."""
    model = Model(2, "moving mass")
    model.section("beam", "stiffness", EA=1e9, EI=EI, rhoA=RHO_A, rhoI=0.0)
    model.line("line", (0.0, 0.0), (LENGTH, 0.0), elements)
    model.beams("beam", "line", "beam")
    model.fix("line:start", ["x", "y"])
    model.fix("line:end", ["y"])
    if carriage:
        model.body("mass", (0.0, 0.0), MASS, INERTIA)
        model.joint("wheels", "prismatic_along_beam", "beam", "mass", point=(0.0, 0.0), function=f"{SPEED}*t")
    else:
        model.node("mass", (0.0, 0.0))
        model.point_mass("m", "mass", MASS)
        model.joint("wheels", "along_beam", "beam", "mass", function=f"{SPEED}*t")
    model.force("F", "mass", (0.0, FORCE))
    model.initial("mass", velocity=(SPEED, 0.0))
    model.sensor("place", "position", on="mass")
    model.transient_step(DURATION, h, frames=0)
    return model


def slider(kind: Any, dimension: int, elements: int, h: float) -> Model:
    """Return a body on an arc that stands across gravity; ``kind`` is the joint."""
    pad = (0.0,) * (dimension - 2)
    model = Model(dimension, "slider on an arc", gravity=(0.0, -GRAVITY, *pad))
    more: dict[str, Any] = {"GJ": 1e3, "EIy": 1e3, "EIz": 1e3} if dimension == 3 else {"EI": 1e3}
    model.section("rail", "stiffness", EA=1e6, rhoA=1.0, **more)
    model.arc("rail", (0.0, 0.0, *pad), RADIUS, (-170.0, -10.0), elements)
    model.beams("rail", "rail", "rail")
    model.fix("rail")
    rotations = ["rotation"] if dimension == 2 else ["rotation x", "rotation y", "rotation z"]
    model.fix("rail", rotations)
    out = np.array((np.sin(ANGLE), -np.cos(ANGLE), *pad))
    mass, J = BODY
    model.body("body", (RADIUS - OFF) * out, mass, J if dimension == 2 else (0.5 * J, 0.8 * J, J))
    model.joint("slide", kind, "rail", "body", point=RADIUS * out)
    model.sensor("place", "position", on="body")
    model.sensor("way", "joint", on="slide")
    model.sensor("force", "reaction", on="slide")
    model.transient_step(3.0, h, frames=0)
    return model


def bar(h: float) -> Model:
    """Return a stiff bar on a pivot, which turns freely, with a carriage that slides along it and turns with it."""
    model = Model(2, "carriage on a bar")
    model.section("bar", "stiffness", EA=1e9, EI=1e8, rhoA=BAR[1], rhoI=0.0)
    model.line("bar", (0.0, 0.0), (BAR[0], 0.0), 4)
    model.beams("bar", "bar", "bar")
    model.fix("bar:start", ["x", "y"])
    model.body("carriage", (PLACE, 0.0), *CARRIAGE)
    model.joint("slide", "prismatic_along_beam", "bar", "carriage", point=(PLACE, 0.0))
    model.initial("bar", spin=TURN, centre=(0.0, 0.0))
    model.initial("carriage", velocity=(0.0, TURN * PLACE), spin=TURN)
    model.sensor("way", "joint", on="slide")
    model.sensor("place", "position", on="carriage")
    model.transient_step(0.8, h, frames=0)
    return model


def thrown(t: np.ndarray) -> np.ndarray:
    """Return place along the bar [m] and angle [rad] (n, 2) of the carriage: s'' = s w^2, (J + m s^2) w constant."""
    from scipy.integrate import solve_ivp

    mass, inertia = CARRIAGE
    whole = BAR[1] * BAR[0] ** 3 / 3.0 + inertia
    momentum = (whole + mass * PLACE**2) * TURN

    def rate(_: float, y: np.ndarray) -> tuple[float, float, float]:
        w = momentum / (whole + mass * y[0] ** 2)
        return y[1], y[0] * w**2, w

    y = solve_ivp(rate, (0.0, float(t[-1])), (PLACE, 0.0, 0.0), t_eval=t, rtol=1e-11, atol=1e-13).y
    return y[[0, 2]].T


def sines(t: np.ndarray, inertia: float, modes: int) -> np.ndarray:
    """Return the deflection [m] of the beam under the mass at times (n,), by the amplitudes of sines."""
    from scipy.integrate import solve_ivp

    k = np.arange(1, modes + 1) * np.pi / LENGTH
    M, K = RHO_A * LENGTH / 2.0, EI * k**4 * LENGTH / 2.0

    def shapes(time: float) -> tuple[np.ndarray, ...]:
        """Return the sines at the mass, their slopes, and the first two rates of both."""
        s, c = np.sin(k * SPEED * time), np.cos(k * SPEED * time)
        w = k * SPEED
        return s, k * c, w * c, -k * w * s, -(w**2) * s, -k * w**2 * c

    def rate(time: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:modes], y[modes:]
        s, p, ds, dp, dds, ddp = shapes(time)
        f = FORCE * s - K * q - MASS * s * (2.0 * ds @ v + dds @ q) - inertia * p * (2.0 * dp @ v + ddp @ q)
        # (M I + MASS s s^T + inertia p p^T) a = f by its two unknowns s.a and p.a
        ss, sp, pp, sf, pf = MASS * s @ s, s @ p, inertia * p @ p, s @ f, p @ f
        determinant = (M + ss) * (M + pp) - MASS * inertia * sp**2
        along = ((M + pp) * sf - inertia * sp * pf) / determinant
        turning = ((M + ss) * pf - MASS * sp * sf) / determinant
        return np.concatenate((v, (f - MASS * along * s - inertia * turning * p) / M))

    # the reference has seven digits; the rows compare three
    out = solve_ivp(rate, (0.0, float(t[-1])), np.zeros(2 * modes), t_eval=t, method="DOP853", rtol=1e-7, atol=1e-10)
    return np.array([shapes(time)[0] @ q for time, q in zip(out.t, out.y[:modes].T, strict=True)])


def pendulum(t: np.ndarray) -> np.ndarray:
    """Return the angle (n,) [rad] of the body about the centre of the arc."""
    from scipy.integrate import solve_ivp

    mass, J = BODY
    arm = RADIUS - OFF
    factor = mass * GRAVITY * arm / (mass * arm**2 + J)
    out = solve_ivp(
        lambda _, y: (y[1], -factor * np.sin(y[0])), (0.0, float(t[-1])), (ANGLE, 0.0), t_eval=t, rtol=1e-11, atol=1e-13
    )
    return out.y[0]


def reference() -> dict:
    t = np.linspace(0.0, DURATION, 84)
    return {"mass": sines(t, 0.0, 16).min(), "carriage": sines(t, INERTIA, 16).min()}


#: Of rows on the limit of two steps, or of two meshes and steps.
LIMIT = "Twice the largest distance of the limit from the finer one."


def check(f: Findings) -> None:
    curves = []
    for carriage in (False, True):
        # the error of the series is that of 1/modes^3 (a force) or 1/modes (a moment): extrapolated from two numbers
        power, n = (1.0, 16) if carriage else (7.0, 8)
        meshes = []
        for elements in (n, 2 * n):
            solution = solve(build(carriage, elements))
            t = solution.steps[0].time[::10]
            meshes.append(solution.sensor("place").values[::10, 1])
        w = meshes[1]
        coarse, fine = (sines(t, INERTIA if carriage else 0.0, modes) for modes in (n, 2 * n))
        ref = fine + (fine - coarse) / power
        depth = np.abs(ref).max()
        left = (2.0 / 3.0 * np.abs(w - meshes[0]).max() + np.abs(ref - fine).max()) / depth + (depth / LENGTH) ** 2
        why = "Twice what the limit of meshes, and what that of series is off the finer one; large rotation, (w/L)^2."
        name = "turning carriage" if carriage else "mass"
        f.zero(
            "B-MOVING-MASS", f"largest difference of the path of the {name} over its depth",
            np.abs(w - ref).max() / depth, left, why, INDEPENDENT,
        )  # fmt: skip
        f.row("B-MOVING-MASS", f"deepest place of the {name} [m]", w.min(), ref.min(), why, INDEPENDENT, relative=left)
        step = solution.steps[0]
        f.zero(
            "B-MOVING-MASS",
            f"closing error of the energy, {name}",
            energy_error(step),
            CONSERVED,
            "The rule conserves it exactly; only round-off is left.",
        )
        curves += [Curve(t, w, name), Curve(t, ref, f"{name}, sines", ":")]
    f.figure("Path of the mass", curves, "time [s]", "deflection [m]")
    _bar(f)
    _arc(f)


def _bar(f: Findings) -> None:
    errors, places, ways = [], [], []
    for every, h in ((1, 8e-3), (2, 4e-3)):
        solution = solve(bar(h))
        step = solution.steps[0]
        s, angle = thrown(step.time).T
        place = np.column_stack((s * np.cos(angle), s * np.sin(angle)))
        errors.append(np.abs(solution.sensor("place").values - place).max())
        places.append(solution.sensor("place").values[::every])
        ways.append(solution.sensor("way").values[::every, 0])
    for quantity, values, exact in (
        (f"largest distance from its path [m], turning by {angle[-1]:.1f} rad", places, place[::2]),
        ("largest error of the way along the bar [m]", ways, s[::2] - PLACE),
    ):
        limit = extrapolated(values, 2.0)
        f.zero("B-BAR-SLIDER", f"{quantity}, h -> 0", np.abs(limit - exact).max(),
               2.0 * np.abs(limit - values[1]).max(), LIMIT, INDEPENDENT)  # fmt: skip
    f.between(
        "B-BAR-SLIDER",
        "order of the error",
        np.log2(errors[0] / errors[1]),
        1.8,
        2.2,
        "The mid-point rule is of second order.",
    )
    f.zero(
        "B-BAR-SLIDER",
        "change of the energy",
        energy_error(step, constant=True),
        CONSERVED,
        "The rule conserves it exactly; only round-off is left.",
    )


def _arc(f: Findings) -> None:
    for dimension in (2, 3):
        label = f"prismatic_along_beam, {'plane' if dimension == 2 else 'space'}"
        places, ways = [], []
        for every, n, h in ((1, 16, 4e-3), (2, 32, 2e-3)):
            solution = solve(slider("prismatic_along_beam", dimension, n, h))
            step = solution.steps[0]
            places.append(solution.sensor("place").values[::every, :2])
            ways.append(solution.sensor("way").values[::every, 0])
        ref = pendulum(step.time[::2])
        place = (RADIUS - OFF) * np.column_stack((np.sin(ref), -np.cos(ref)))
        f.zero(
            "B-ARC-SLIDER",
            f"change of the energy, {label}",
            energy_error(step, constant=True),
            CONSERVED,
            "The rule conserves it exactly; only round-off is left.",
        )
        for quantity, values, exact in (
            ("largest distance from the compound pendulum [m]", places, place),
            ("largest error of the way along the arc [m]", ways, RADIUS * (ref - ANGLE)),
        ):
            limit = extrapolated(values, 2.0)
            f.zero("B-ARC-SLIDER", f"{quantity}, {label}, h -> 0", np.abs(limit - exact).max(),
                   2.0 * np.abs(limit - values[1]).max(), LIMIT, INDEPENDENT)  # fmt: skip
    # free to turn about the tangent: a body whose centre is on the line keeps its spin there
    model = slider("cylindrical_along_beam", 3, 8, 4e-3)
    tangent = (np.cos(ANGLE), np.sin(ANGLE), 0.0)
    model.initial("body", spin=tuple(3.0 * np.array(tangent)))
    step = solve(model).steps[0]
    f.zero("B-ARC-SLIDER", "change of the energy, cylindrical, turning about the tangent",
           energy_error(step, constant=True), CONSERVED,
           "The rule conserves it exactly; only round-off is left.")  # fmt: skip
    f.zero("B-ARC-SLIDER", "error of the constraints, cylindrical [m]", step.summary["constraint_error"], 1e-12,
           "Constraints are satisfied at the end of each step.")  # fmt: skip
