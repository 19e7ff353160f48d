"""Curves as joints: cams with roller, edge and flat followers, a bead on a wire, rolling and mating profiles.

      roller O  | y        ____  flat        bead o   y = f(x)          wheels that roll: on a slope,
           .-"-.            .-"-.              \\_/ \\_               in a hollow; ellipses about their foci
          ( +   ) w        ( +   ) w

- An eccentric disc (radius R, eccentricity e) drives a roller of radius r in line: y = e sin a + sqrt((R + r)^2 - (e
  cos a)^2), and a flat follower: y = R + e sin a, with the contact at e cos a along it.
- A cam with a cycloidal rise over 120 degrees, a dwell and a return drives an edge: y = r(a).
- A bead slides down a wire y = f(x): (1 + f'^2) x'' + f' f'' x'^2 + g f' = 0.
- A wheel of inertia J rolls down a slope with g sin(b)/(1 + J/(m r^2)), and in a hollow of radius R like a pendulum of
  the length (R - r)(1 + J/(m r^2)).
- Two equal ellipses that turn about foci 2 a apart touch and roll: r_1 + r_2 = 2 a.  The angles from the far apsis of
  the first and from the near one of the second have tan(b/2) = (1 + e)/(1 - e) tan(a/2).

Source: kinematics of cams and of rolling ellipses as in F. Reuleaux, "Theoretische Kinematik", Vieweg, Braunschweig
1875. The formulas above are closed forms; the bead and the hollow are integrated by scipy in this file (independent
computation).
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, constancy, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT

CAPABILITY = "mechanisms"
CASES = {
    "B-CAM": "followers of an eccentric disc and of a cycloidal cam: lift, place of contact, force",
    "B-BEAD": "a bead on a wire y = f(x) under gravity, on the ground and on a free body",
    "B-ROLLING": "wheels on a slope and in a hollow, ellipses that turn about their foci",
}

R, E, ROLLER, W = 0.05, 0.02, 0.01, 7.0  # [m], [rad/s]
FOLLOWER, STIFFNESS = 0.8, 400.0  # mass [kg] and spring [N/m]
BASE, LIFT, RISE = 0.04, 0.015, 2.0 * np.pi / 3.0
WIRE = "0.3*cos(2*x) + 0.05*x"
SEMI_AXIS, EXCENTRICITY = 0.5, 0.6
STEPS = (8e-3, 4e-3, 2e-3)  # of what converges with the step [s]
#: Curves are cubic splines within 1e-11 of their size.
FINE = 1e-11


def build(follower: str = "roller", h: float = 1e-3) -> Model:
    """Return the eccentric disc with a follower, "roller" or "flat", above it."""
    model = Model(2, f"cam with {follower}")
    model.body("cam", (E, 0.0), 1.0, 0.01)
    model.joint("shaft", "revolute", "ground", "cam", point=(0.0, 0.0), function=f"{W}*t")
    model.curve("disc", x=f"{E} + {R}*cos(t)", y=f"{R}*sin(t)", range=(0.0, 2.0 * np.pi), closed=True)
    y = np.sqrt((R + ROLLER) ** 2 - E**2) if follower == "roller" else R
    model.body("follower", (0.0, y), FOLLOWER, 0.01)
    model.joint("guide", "prismatic", "ground", "follower", point=(0.0, y), axis=(0.0, 1.0))
    if follower == "roller":
        model.joint("touch", "point_on_curve", "cam", "follower", point=(0.0, y), curve="disc", radius=ROLLER)
    else:
        model.curve("flat", points=[(-0.1, y), (0.1, y)])
        model.joint("touch", "cam", "cam", "follower", curve="disc", curve_b="flat")
        model.sensor("along", "joint", on="touch", quantity="displacement_b")
    model.joint_spring("spring", "guide", STIFFNESS)
    model.sensor("lift", "joint", on="guide")
    model.sensor("force", "reaction", on="touch")
    model.transient_step(2.0, h, frames=0)
    return model


def cycloidal(h: float = 1e-3) -> Model:
    """Return the cam with rise, dwell and return, and an edge that it drives."""
    model = Model(2, "cycloidal cam")
    model.body("cam", (0.0, 0.0), 1.0, 0.01)
    model.joint("shaft", "revolute", "ground", "cam", point=(0.0, 0.0), function=f"-{W}*t")
    u = f"t/{RISE:.15g}"
    fall = f"(2 - {u})"
    rise = f"({u} - sin(2*pi*{u})/(2*pi))"
    back = f"({fall} - sin(2*pi*{fall})/(2*pi))"
    radius = f"({BASE} + {LIFT}*({rise} if t < {RISE:.15g} else {back} if t < {2.0 * RISE:.15g} else 0))"
    model.curve(
        "profile",
        x=f"{radius}*cos(t)",
        y=f"{radius}*sin(t)",
        range=(0.0, 2.0 * np.pi),
        closed=True,
        rotation=0.5 * np.pi,
    )
    model.body("edge", (0.0, BASE), 0.1, 1e-4)
    model.joint("guide", "prismatic", "ground", "edge", point=(0.0, BASE), axis=(0.0, 1.0))
    model.joint("touch", "point_on_curve", "cam", "edge", point=(0.0, BASE), curve="profile")
    model.sensor("lift", "joint", on="guide")
    model.transient_step(1.5, h, frames=0)
    return model


def bead(free: bool, h: float) -> Model:
    """Return a bead on a wire that is fixed or (without gravity) on a free body."""
    model = Model(2, "bead on a wire", gravity=None if free else (0.0, -9.81))
    model.curve("wire", y=WIRE, range=(-5.0, 4.0))
    start = (0.2, 0.3 * np.cos(0.4) + 0.01)
    model.node("bead", start)
    model.point_mass("m", "bead", 0.5)
    if free:
        model.body("frame", (0.3, 0.1), 1.0, 0.2)
        model.initial("frame", spin=1.0)
    model.joint("bore", "point_on_curve", "frame" if free else "ground", "bead", curve="wire")
    model.initial("bead", velocity=(0.8, 0.8 * (-0.6 * np.sin(0.4) + 0.05)) if not free else (1.0, 0.0))
    model.sensor("place", "position", on="bead")
    model.transient_step(2.0, h, frames=0)
    return model


def wheel(hollow: bool, h: float) -> Model:
    """Return a wheel on a slope, or in a hollow."""
    model = Model(2, "wheel", gravity=(0.0, -9.81))
    r, big, slope = 0.1, 0.6, 0.3
    if hollow:
        place = (big - r) * np.array((np.sin(1.0), -np.cos(1.0)))
        model.curve("track", x=f"{big}*cos(t)", y=f"{big}*sin(t)", range=(-3.0, -0.1))
    else:
        normal = np.array((np.sin(slope), np.cos(slope)))
        place = r * normal
        model.curve(
            "track", points=[(-0.5 * np.cos(slope), 0.5 * np.sin(slope)), (9 * np.cos(slope), -9 * np.sin(slope))]
        )
    model.body("wheel", place, 2.0, 0.012)
    model.curve("rim", x=f"{r}*cos(t)", y=f"{r}*sin(t)", range=(0.0, 2.0 * np.pi), closed=True, position=place)
    model.joint("tread", "rolling_curves", "ground", "wheel", curve="track", curve_b="rim")
    model.sensor("place", "position", on="wheel")
    model.sensor("force", "reaction", on="tread")
    model.transient_step(2.0, h, frames=0)
    return model


def ellipses(h: float) -> Model:
    """Return two equal ellipses that turn about foci, the first driven."""
    model = Model(2, "elliptic gears")
    a, c = SEMI_AXIS, SEMI_AXIS * EXCENTRICITY
    b = np.sqrt(a**2 - c**2)
    for name, focus in (("a", 0.0), ("b", 2.0 * a)):
        centre = focus + c  # long axes on the line of the foci: at the start they touch at a + c from the first one
        model.body(name, (centre, 0.0), 1.0, 0.1)
        model.joint(f"axle {name}", "revolute", "ground", name, point=(focus, 0.0),
                    function="2*t" if name == "a" else None)  # fmt: skip
        model.curve(
            f"rim {name}", x=f"{centre:.15g} + {a}*cos(t)", y=f"{b:.15g}*sin(t)", range=(0.0, 2.0 * np.pi), closed=True
        )
        model.sensor(f"angle {name}", "joint", on=f"axle {name}")
    model.joint("teeth", "rolling_curves", "a", "b", point=(a + c, 0.0), curve="rim a", curve_b="rim b")
    model.transient_step(2.0, h, frames=0)
    return model


def cycloid(angle: np.ndarray) -> np.ndarray:
    """Return the lift (n,) [m] of the cycloidal cam."""
    u = np.mod(angle, 2.0 * np.pi) / RISE
    u = np.where(u > 1.0, np.maximum(2.0 - u, 0.0), u)
    return LIFT * (u - np.sin(2.0 * np.pi * u) / (2.0 * np.pi))


def on_wire(t: np.ndarray) -> np.ndarray:
    """Return x (n,) [m] of the bead."""
    from scipy.integrate import solve_ivp

    def rate(_: float, y: np.ndarray) -> tuple[float, float]:
        x, v = y
        d, dd = -0.6 * np.sin(2.0 * x) + 0.05, -1.2 * np.cos(2.0 * x)
        return v, -(d * dd * v**2 + 9.81 * d) / (1.0 + d**2)

    return solve_ivp(rate, (0.0, float(t[-1])), (0.2, 0.8), t_eval=t, rtol=1e-11, atol=1e-13).y[0]


def in_hollow(t: np.ndarray) -> np.ndarray:
    """Return the angle (n,) [rad] of the wheel's centre."""
    from scipy.integrate import solve_ivp

    factor = 9.81 / (0.5 * (1.0 + 0.012 / (2.0 * 0.1**2)))
    return solve_ivp(
        lambda _, y: (y[1], -factor * np.sin(y[0])), (0.0, float(t[-1])), (1.0, 0.0), t_eval=t, rtol=1e-11, atol=1e-13
    ).y[0]


def reference() -> dict:
    return {"lift of the disc": 2.0 * E, "slope": 9.81 * np.sin(0.3) / 1.6}


def check(f: Findings) -> None:
    _cams(f)
    _beads(f)
    _rolling(f)


def _cams(f: Findings) -> None:
    curves = []
    for follower in ("roller", "flat"):
        solution = solve(build(follower))
        step = solution.steps[0]
        a = W * step.time
        if follower == "roller":
            root = np.sqrt((R + ROLLER) ** 2 - (E * np.cos(a)) ** 2)
            y = E * np.sin(a) + root - np.sqrt((R + ROLLER) ** 2 - E**2)
        else:
            y = E * np.sin(a)
        lift = solution.sensor("lift").values[:, 0]
        f.zero("B-CAM", f"lift of the {follower} [m]", np.abs(lift - y).max(), 1e-11,
               "The closed form is exact; the curve is a spline within 1e-11 of its size.", CLOSED_FORM)  # fmt: skip
        f.zero(
            "B-CAM",
            f"closing error of the energy, {follower}",
            energy_error(step),
            CONSERVED,
            "The rule conserves it exactly; only round-off is left.",
        )
        if follower == "flat":
            # what the cam bears is what accelerates the follower and strains its spring: a mean over both steps beside
            runs = [solve(build(follower, h)).sensor("force") for h in STEPS]
            ref = (STIFFNESS - FOLLOWER * W**2) * E * np.sin(W * runs[0].t)
            f.converged_course(
                "B-CAM", "largest error of the force on the flat follower, h -> 0 [N]",
                [-run.values[2**k - 1 :: 2**k, 1] for k, run in enumerate(runs)], ref, CLOSED_FORM,
            )  # fmt: skip
            along = solution.sensor("along").values[:, 0]
            error = np.abs(np.abs(along) - np.abs(E * np.cos(a) - E)).max()
            # pieces of the angle x are x^4/384 of the radius off the circle, and sqrt(3)/216 x^3 off its direction
            angle = (384.0 * FINE * 2.0) ** 0.25
            f.zero(
                "B-CAM", "place of contact on the flat, from its start [m]", error,
                R * np.sqrt(3.0) / 216.0 * angle**3,
                "The closed form is e (cos a - 1); a cubic within 1e-11 of the diameter leaves its direction.",
                CLOSED_FORM,
            )  # fmt: skip
        curves += [Curve(step.time, lift, follower), Curve(step.time, y, f"{follower}, closed form", ":")]
    solution = solve(cycloidal())
    t = solution.steps[0].time
    lift = solution.sensor("lift").values[:, 0]
    f.zero(
        "B-CAM",
        "lift of the edge on the cycloidal cam [m]",
        np.abs(lift - cycloid(W * t)).max(),
        1e-11,
        "The closed form is exact; the curve is a spline within 1e-11 of the size of the cam.",
        CLOSED_FORM,
    )
    curves += [Curve(t, lift, "cycloidal"), Curve(t, cycloid(W * t), "cycloidal, closed form", ":")]
    f.figure("Lift of the followers", curves, "time [s]", "lift [m]")


def _beads(f: Findings) -> None:
    errors = []
    for h in (4e-3, 2e-3):
        solution = solve(bead(False, h))
        step = solution.steps[0]
        errors.append(np.abs(solution.sensor("place").values[:, 0] - on_wire(step.time)).max())
        f.zero("B-BEAD", f"change of the energy, h = {1e3 * h:g} ms", energy_error(step, constant=True), CONSERVED,
               "The rule conserves it exactly; only round-off is left.")  # fmt: skip
    f.zero(
        "B-BEAD",
        "largest error of x [m], h = 2 ms",
        errors[1],
        2.0 / 3.0 * (errors[0] - errors[1]),
        "An error of second order is a third of what halving the step changed; twice that.",
        INDEPENDENT,
    )
    f.between(
        "B-BEAD",
        "order of the error",
        np.log2(errors[0] / errors[1]),
        1.9,
        2.1,
        "The mid-point rule is of second order.",
    )
    step = solve(bead(True, 5e-3)).steps[0]
    for name in ("linear momentum", "angular momentum"):
        f.zero(
            "B-BEAD",
            f"change of the {name}, free body",
            constancy(step, name),
            CONSERVED,
            "The rule conserves it exactly; only round-off is left.",
        )
    f.zero(
        "B-BEAD",
        "change of the energy, free body",
        energy_error(step, constant=True),
        CONSERVED,
        "The rule conserves it exactly; only round-off is left.",
    )


def _rolling(f: Findings) -> None:
    acceleration = reference()["slope"]
    ways, forces = [], []
    for k, h in enumerate(STEPS):
        solution = solve(wheel(False, h))
        x, force = solution.sensor("place").values, solution.sensor("force")
        ways.append(float(np.linalg.norm(x[-1] - x[0])))
        along = force.values[:, :2] @ np.array((np.cos(0.3), -np.sin(0.3)))
        forces.append(along[2**k - 1 :: 2**k])
    f.converged("B-ROLLING", "way down the slope after 2 s, h -> 0 [m]", ways,
                0.5 * acceleration * solution.steps[0].time[-1] ** 2, CLOSED_FORM)  # fmt: skip
    f.converged_course("B-ROLLING", "largest error of the force along the slope, J a/r^2, h -> 0 [N]", forces,
                       0.012 / 0.1**2 * acceleration, CLOSED_FORM)  # fmt: skip
    angles = []
    for k, h in enumerate(STEPS):
        solution = solve(wheel(True, h))
        x, y = solution.sensor("place").values[:, :2].T
        angles.append(np.arctan2(x, -y)[:: 2**k])
    step = solution.steps[0]
    f.converged_course("B-ROLLING", "largest error of the angle in the hollow, h -> 0 [rad]", angles,
                       in_hollow(step.time[::4]), INDEPENDENT)  # fmt: skip
    f.zero(
        "B-ROLLING",
        "change of the energy in the hollow",
        energy_error(step, constant=True),
        CONSERVED,
        "The rule conserves it exactly; only round-off is left.",
    )
    solution = solve(ellipses(2e-3))
    e = EXCENTRICITY
    first, second = (solution.sensor(f"angle {name}").values[:, 0] for name in "ab")
    turned = 2.0 * np.arctan2((1.0 + e) * np.sin(0.5 * first), (1.0 - e) * np.cos(0.5 * first))
    f.zero(
        "B-ROLLING", "angle of the second ellipse [rad]", np.abs(np.abs(second) - turned).max(),
        2.0 * FINE * 2.0 / (1.0 - e),
        "Both curves are splines within 1e-11 of their length 2 a, which is at least a (1 - e) from the foci.",
        CLOSED_FORM,
    )  # fmt: skip
