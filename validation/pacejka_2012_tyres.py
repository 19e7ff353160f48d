"""Tyres: Magic Formula, relaxation, braking, rolling down, parking, a rough road, handling and shimmy.

Wheels with slip forces roll on an even or rough road: free ones (a quarter of a car in a straight line), a car of two
wheels in one track, and a wheel on a trailing arm.

        b        a                          V ->
     <------>|<---->                 pivot o-----(wheel)     e: trail of the arm
     (=)-----o-----(=)/ delta               |<-e->
     C_r     m, I    C_f               k, c about the pivot, mass moment I

    steady turn     r/delta = V/(L + K_us V^2),   K_us = (m/L)(b/C_f - a/C_r),   critical speed V^2 = -L/K_us
    car             eigenvalues of v, r (and of the two deflections of the tyres)
    trailing wheel  (I p^2 + c p + k)(p + V/S) + (e + t)(C/S)(V + e p) = 0; without damping it is stable for e > S

Source: H.B. Pacejka, "Tire and Vehicle Dynamics", 3rd edition (2012): the Magic Formula (section 4.3, without shifts),
the car in one track (section 1.3.2), relaxation (chapter 7), the trailing wheel (chapter 6).  All references are closed
forms, or independent computations with numpy and scipy in this file; none is a printed number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, turning_time
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT

CAPABILITY = "vehicles"
CASES = {
    "B-MAGIC": "forces of 200 slips, pure and combined, and the place of the peak against the formula",
    "B-TYRE-LAG": "side force after a step of the slip angle over the relaxation length",
    "B-WHEEL": "braked, spun up by the road, rolling down, parked on a slope, over a bump",
    "B-CAR": "car in one track: steady turn, critical speed, eigenvalues",
    "B-SHIMMY": "trailing wheel with relaxation: eigenvalues and stability",
}

G = 9.81
RADIUS, VERTICAL = 0.3, 2e5  # m, N/m
MASS, SPIN_INERTIA = 400.0, 1.2  # of a quarter of a car
MAGIC: dict[str, Any] = {"magic_x": (12.0, 1.65, -0.3), "magic_y": (9.0, 1.3, -1.0)}
MU = (1.0, 0.9)
SLIP_STIFFNESS = (8e4, 6e4)


def magic(s, B: float, C: float, E: float):
    return np.sin(C * np.arctan(B * s - E * (B * s - np.arctan(B * s))))


# --- free wheels ------------------------------------------------------------------------------------------------------
def wheels(slips: np.ndarray, speed: float = 20.0, load: float = 4000.0) -> Model:
    """Return wheels of 1e6 kg side by side, in the first microsecond, one for each of the slips (n, 2): kappa and
    tan(alpha)."""
    model = Model(3, "wheels of given slips")
    for k, (kappa, side) in enumerate(slips):
        name = f"wheel {k}"
        model.body(name, (0.0, float(k), RADIUS - load / VERTICAL), 1e6, (1e6, 1e6, 1e6))
        model.tyre(
            f"tyre {k}",
            name,
            axis=(0.0, 1.0, 0.0),
            radius=RADIUS,
            rolling_radius=RADIUS,
            stiffness=VERTICAL,
            slip_law="magic",
            friction=MU,
            **MAGIC,
        )
        model.initial(name, velocity=(speed, -speed * side, 0.0))
        # the lateral velocity of the contact is that of the centre
        model.initial(name, spin=(0.0, speed * (1.0 + kappa) / RADIUS, 0.0))
        model.sensor(f"x {k}", "tyre", on=f"tyre {k}", quantity="longitudinal force")
        model.sensor(f"y {k}", "tyre", on=f"tyre {k}", quantity="lateral force")
    model.transient_step(1e-6, 1e-6, frames=0)
    return model


def build(
    speed: float = 20.0, spin: float = 20.0 / RADIUS, *, slope: float = 0.0, inertia: float = SPIN_INERTIA, **tyre
) -> Model:
    """Return a quarter of a car in a straight line, that stands on its tyre; the wheel carries all the mass."""
    gravity = (G * np.sin(slope), 0.0, -G * np.cos(slope))
    model = Model(3, "quarter of a car", gravity=gravity)
    model.body("wheel", (0.0, 0.0, RADIUS - MASS * G * np.cos(slope) / VERTICAL), MASS, (5.0, inertia, 5.0))
    model.initial("wheel", velocity=(speed, 0.0, 0.0), spin=(0.0, spin, 0.0))
    law: dict[str, Any] = {"slip_law": "linear", "slip_stiffness": SLIP_STIFFNESS, "rolling_radius": RADIUS} | tyre
    model.tyre("tyre", "wheel", axis=(0.0, 1.0, 0.0), radius=RADIUS, stiffness=VERTICAL, **law)
    model.sensor("speed", "velocity", on="wheel")
    model.sensor("place", "position", on="wheel")
    model.sensor("spin", "angular velocity", on="wheel")
    model.sensor("force", "tyre", on="tyre", quantity="longitudinal force")
    model.sensor("side", "tyre", on="tyre", quantity="lateral force")
    model.sensor("normal", "tyre", on="tyre", quantity="normal force")
    return model


def straight(duration: float, start, torque: float, sigma: float = 0.0) -> np.ndarray:
    """Return speed, spin and place after a time of a quarter of a car on the Magic Formula, by scipy."""
    from scipy.integrate import solve_ivp

    N = MASS * G

    b = MAGIC["magic_x"][0] * MAGIC["magic_x"][1]

    def rate(t, x):
        v, w, _, u = x
        y = abs(b * u / sigma) if sigma else 0.0
        slip = u / sigma * (1.0 + y**4 / (1.0 - y)) if sigma else (w * RADIUS - v) / v
        force = MU[0] * N * magic(slip, *MAGIC["magic_x"])
        lag = w * RADIUS - v - abs(v) * slip if sigma else 0.0
        return [force / MASS, (-force * RADIUS - torque * t) / SPIN_INERTIA, v, lag]

    out = solve_ivp(rate, (0.0, duration), (*start, 0.0, 0.0), method="Radau", rtol=1e-10, atol=1e-12)
    return out.y[:3, -1]


def bump(x):
    return 0.01 * np.sin(np.pi * x / 2.0) ** 2


def hop(duration: float, speed: float, spacing: float) -> np.ndarray:
    """Return place and velocity (x, z, x', z') of a wheel without friction that rolls over a wavy road, by scipy; the
    road is the cubic spline of its heights."""
    from scipy.integrate import solve_ivp
    from scipy.interpolate import CubicSpline

    x = np.linspace(0.0, 20.0, round(20.0 / spacing) + 1)
    road = CubicSpline(x, bump(x), bc_type="clamped")

    def rate(_, y):
        N = VERTICAL * max(RADIUS + road(y[0]) - y[1], 0.0)
        return [y[2], y[3], -N * road(y[0], 1) / MASS, N / MASS - G]

    start = (0.0, RADIUS - MASS * G / VERTICAL, speed, 0.0)
    return solve_ivp(rate, (0.0, duration), start, method="DOP853", rtol=1e-11, atol=1e-12, max_step=1e-2).y[:, -1]


# --- a car in one track -----------------------------------------------------------------------------------------------
CAR = {"a": 1.2, "b": 1.5, "mass": 1200.0, "inertia": 1800.0, "wheel": 20.0, "spin": 1.0, "yaw": 0.6}
AXLES = {"under": (6e4, 9e4), "over": (1.2e5, 5e4)}


def car(speed: float, axles, steer: float = 0.0, relaxation=None) -> Model:
    """Return a car in one track that runs straight; the rear wheel is driven with a constant speed."""
    model = Model(3, "car in one track")
    height, sink = RADIUS, 0.02
    model.body("car", (0.0, 0.0, height - sink), CAR["mass"], (500.0, 1500.0, CAR["inertia"]))
    model.joint("road", "planar", "ground", "car", point=(0.0, 0.0, height - sink), axis=(0.0, 0.0, 1.0))
    for name, x, angle, stiffness in (("front", CAR["a"], steer, axles[0]), ("rear", -CAR["b"], 0.0, axles[1])):
        place, axis = (x, 0.0, height - sink), (-np.sin(angle), np.cos(angle), 0.0)
        model.body(name, place, CAR["wheel"], (CAR["yaw"], CAR["spin"], CAR["yaw"]), rotation=(0.0, 0.0, angle))
        model.joint(f"{name} hub", "revolute", "car", name, point=place, axis=axis)
        model.tyre(
            f"{name} tyre",
            name,
            axis=axis,
            radius=RADIUS,
            rolling_radius=RADIUS,
            stiffness=VERTICAL,
            friction=50.0,
            slip_stiffness=(1e5, stiffness),
            relaxation=relaxation,
        )
    model.initial("all", velocity=(speed, 0.0, 0.0))
    for name in ("front", "rear"):
        model.initial(name, spin=(0.0, speed / RADIUS, 0.0))
    model.sensor("velocity", "velocity", on="car")
    model.sensor("turn", "angular velocity", on="car")
    return model


def lateral(speed: float, axles, sigma: float = 0.0) -> np.ndarray:
    """Return the eigenvalues of v, r (and of the deflections of both tyres) of the linear car in one track."""
    m, inertia = CAR["mass"] + 2.0 * CAR["wheel"], CAR["inertia"] + 2.0 * CAR["yaw"]
    # the mass centre of car and wheels
    shift = CAR["wheel"] * (CAR["a"] - CAR["b"]) / m
    inertia += CAR["wheel"] * (CAR["a"] ** 2 + CAR["b"] ** 2) - m * shift**2
    a, b = CAR["a"] - shift, CAR["b"] + shift
    arms, C = np.array((a, -b)), np.array(axles)
    motion = np.array([np.ones(2) / m, arms / inertia])  # accelerations by forces
    turning = np.array([[0.0, -speed], [0.0, 0.0]])
    velocities = np.column_stack((np.ones(2), arms))  # of the axles
    if not sigma:
        return np.linalg.eigvals(turning - motion @ (C[:, None] / speed * velocities))
    A = np.block([[turning, motion * (C / sigma)], [-velocities, -speed / sigma * np.eye(2)]])
    return np.linalg.eigvals(A)


def understeer(axles) -> tuple[float, float]:
    """Return wheelbase and understeer gradient K_us of r/delta = V/(L + K_us V^2)."""
    m = CAR["mass"] + 2.0 * CAR["wheel"]
    shift = CAR["wheel"] * (CAR["a"] - CAR["b"]) / m
    a, b, length = CAR["a"] - shift, CAR["b"] + shift, CAR["a"] + CAR["b"]
    return length, m / length * (b / axles[0] - a / axles[1])


def reference() -> dict[str, float]:
    """Return understeer gradients [s^2/m] and the critical speed [m/s] of the car that oversteers."""
    gradients = {label: understeer(axles)[1] for label, axles in AXLES.items()}
    length, over = understeer(AXLES["over"])
    return {**gradients, "critical speed": float(np.sqrt(-length / over))}


def modes(model: Model, count: int) -> np.ndarray:
    """Return eigenvalues [1/s] about the state after a millisecond, those with positive frequency or none."""
    model.transient_step(1e-3, 1e-3, frames=0)
    model.complex_modes_step(count=count)
    return np.array(solve(model).steps[-1].summary["eigenvalues"]) @ (1.0, 1j)


def farthest(found: np.ndarray, sought: np.ndarray) -> float:
    """Return the largest distance of a sought eigenvalue from the nearest that was found, over its size."""
    sought = sought[sought.imag >= 0.0]
    return float(max(np.abs(found - p).min() / abs(p) for p in sought))


# --- a trailing wheel -------------------------------------------------------------------------------------------------
ARM = {"sigma": 0.3, "trail": 0.02, "inertia": 4.0, "mass": 10.0, "yaw": 0.4, "stiffness": 2e4, "C": 6e4}


def trailing(arm: float, damping: float, speed: float) -> Model:
    """Return a wheel on an arm behind a pivot that runs straight."""
    model = Model(3, "trailing wheel")
    height = RADIUS - 0.02
    model.body("carriage", (0.0, 0.0, 1.0), 1e5, (1e5, 1e5, 1e5))
    model.joint("track", "prismatic", "ground", "carriage", point=(0.0, 0.0, 1.0), axis=(1.0, 0.0, 0.0))
    model.body("arm", (0.0, 0.0, 1.0), 1.0, (3.0, 3.0, ARM["inertia"]))
    model.joint("pivot", "revolute", "carriage", "arm", point=(0.0, 0.0, 1.0), axis=(0.0, 0.0, 1.0))
    model.joint_spring("spring", "pivot", ARM["stiffness"], damping)
    place = (-arm, 0.0, height)
    model.body("wheel", place, ARM["mass"], (ARM["yaw"], 0.5, ARM["yaw"]))
    model.joint("hub", "revolute", "arm", "wheel", point=place, axis=(0.0, 1.0, 0.0))
    model.tyre(
        "tyre",
        "wheel",
        axis=(0.0, 1.0, 0.0),
        radius=RADIUS,
        rolling_radius=RADIUS,
        stiffness=VERTICAL,
        friction=1e5,  # so much that what is left of other slips counts for nothing
        slip_stiffness=(1e5, ARM["C"]),
        relaxation=ARM["sigma"],
        trail=ARM["trail"],
        slip_speed=1e-3,
    )
    model.initial("all", velocity=(speed, 0.0, 0.0))
    model.initial("wheel", spin=(0.0, speed / RADIUS, 0.0))
    return model


def shimmy(arm: float, damping: float, speed: float) -> np.ndarray:
    """Return the roots of the characteristic equation of the trailing wheel."""
    inertia = ARM["inertia"] + ARM["yaw"] + ARM["mass"] * arm**2
    rate = speed / ARM["sigma"]
    side = (arm + ARM["trail"]) * ARM["C"] / ARM["sigma"]
    wheel = np.polymul([inertia, damping, ARM["stiffness"]], [1.0, rate])
    return np.roots(np.polyadd(wheel, side * np.array([arm, speed])))


# --- checks -----------------------------------------------------------------------------------------------------------
def check(f: Findings) -> None:
    _magic(f)
    _lag(f)
    _wheel(f)
    _car(f)
    _shimmy(f)


def _magic(f: Findings) -> None:
    from scipy.optimize import brentq

    # fine about the peak along the wheel, then slip angles, then both
    pure = np.column_stack((np.linspace(-0.3, 0.5, 81), np.zeros(81)))
    side = np.column_stack((np.zeros(59), np.linspace(-0.5, 0.66, 59)))
    both = np.random.default_rng(3).uniform(-0.3, 0.3, (60, 2))
    slips = np.concatenate((pure, side, both))
    load = 4000.0
    step = solve(wheels(slips, load=load)).steps[0]
    found = np.array([[step.series[f"sensor/{c} {k}"][-1, 0] for c in "xy"] for k in range(len(slips))])
    B = np.array([[MAGIC[f"magic_{c}"][0] * MAGIC[f"magic_{c}"][1] for c in "xy"]])
    normalised = np.linalg.norm(B * slips, axis=1)
    known = np.empty_like(found)
    for i, c in enumerate("xy"):
        b, C, E = MAGIC[f"magic_{c}"]
        size = np.maximum(normalised, 1e-300)
        known[:, i] = MU[i] * load * magic(normalised / (b * C), b, C, E) * B[0, i] * slips[:, i] / size
    steepest = max(mu * B * C for mu, (B, C, _) in zip(MU, MAGIC.values(), strict=True))
    f.zero(
        "B-MAGIC", "forces of 200 slips over the load", np.abs(found - known).max() / load,
        steepest * max(MU) * load / 1e6 * 1e-6 / 20.0,
        "The closed form is exact; in a microsecond the force changes the slip of 1e6 kg by F t/(m V).", CLOSED_FORM,
    )  # fmt: skip
    b, C, E = MAGIC["magic_x"]
    peak = brentq(lambda s: b * s * (1.0 - E) + E * np.arctan(b * s) - np.tan(0.5 * np.pi / C), 1e-3, 1.0, xtol=1e-14)
    curve = found[:81, 0]
    place, formula = (turning_time(pure[:, 0], values) for values in (curve, known[:81, 0]))
    f.row(
        "B-MAGIC", "slip of the largest force", place, peak,
        "The closed form is exact; the polynomial through seven points of the formula misses half of the tolerance.",
        CLOSED_FORM, tolerance=2.0 * abs(formula - peak),
    )  # fmt: skip
    f.figure(
        "Longitudinal force over the slip",
        [Curve(pure[:, 0], curve, "tyre"), Curve(pure[:, 0], known[:81, 0], "formula", "o")],
        "kappa",
        "F_x [N]",
    )


def _lag(f: Findings) -> None:
    speed, sigma, angle = 10.0, 0.4, 0.01
    runs = []
    for k, h in enumerate((4e-3, 2e-3, 1e-3)):
        model = Model(3, "step of the slip angle")
        model.body("wheel", (0.0, 0.0, RADIUS - 0.02), 1e14, (1e14, 1e14, 1e14))
        model.tyre(
            "tyre",
            "wheel",
            axis=(0.0, 1.0, 0.0),
            radius=RADIUS,
            rolling_radius=RADIUS,
            stiffness=VERTICAL,
            slip_stiffness=SLIP_STIFFNESS,
            relaxation=(0.3, sigma),
            friction=50.0,
        )
        model.initial("wheel", velocity=(speed, -speed * angle, 0.0), spin=(0.0, speed / RADIUS, 0.0))
        model.sensor("deflection", "state", on="tyre", state="deflection y")
        model.transient_step(0.2, h, frames=0)
        step = solve(model).steps[0]
        runs.append(step.series["sensor/deflection"][:: 2**k, 0] / sigma)
    exact = angle * (1.0 - np.exp(-speed * step.time[:: 2**k] / sigma))
    f.converged_course("B-TYRE-LAG", "slip angle against 1 - exp(-V t/S), h -> 0, over the step", runs, exact,
                       CLOSED_FORM, scale=angle)  # fmt: skip
    coarse, fine = (np.abs(run - exact).max() for run in runs[1:])
    f.between(
        "B-TYRE-LAG",
        "error at half the time step",
        fine / coarse,
        0.24,
        0.26,
        "The rule is of second order, so that half the step leaves a quarter of the error; the next order is "
        "(h V/S)^2 of it.",
    )


def _wheel(f: Findings) -> None:
    # braking, and spinning up
    columns = (("speed", "m/s", 0), ("spin", "rad/s", 1), ("place", "m", 0))
    for label, start, torque, sigma, h in (
        ("braked", (20.0, 20.0 / RADIUS), 1100.0, 0.0, 4e-3),
        ("braked, relaxation", (20.0, 20.0 / RADIUS), 1100.0, 0.25, 4e-3),
        ("spun up by the road", (20.0, 0.0), 0.0, 0.0, 1e-3),
    ):
        law = {"slip_law": "magic", "slip_stiffness": None, "friction": MU, "relaxation": sigma or None, **MAGIC}
        duration, ends = 1.0 if torque else 0.05, []
        for k in range(3):
            # the other integration has no speed below which slips count otherwise
            model = build(start[0], start[1], slip_speed=1e-3, **law)
            if torque:
                model.moment("brake", "wheel", (0.0, -torque, 0.0), function="t")
            model.transient_step(duration, h / 2.0**k, frames=0)
            step = solve(model).steps[0]
            ends.append([step.series[f"sensor/{name}"][-1, column] for name, _, column in columns])
        exact = straight(duration, start, torque, sigma)
        for (name, unit, _), values, known in zip(columns, np.transpose(ends), exact, strict=True):
            f.converged(
                "B-WHEEL", f"{label}: {name}, h -> 0 [{unit}]", values, known, INDEPENDENT, error=1e-10,
                why="tolerance of scipy",
            )  # fmt: skip
        f.zero(
            "B-WHEEL",
            f"{label}: closing error of the energy",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
    # down a slope: the force is constant, and with it the slip
    slope, resistance, K = 0.05, 0.012, SLIP_STIFFNESS[0]
    model = build(5.0, 5.0 / RADIUS, slope=slope, rolling_resistance=resistance, slip_speed=1e-6)
    model.transient_step(4.0, 1e-2, frames=0)
    step = solve(model).steps[0]
    late = step.time >= 2.0
    speed = step.series["sensor/speed"][late, 0]
    found = (speed[-1] - speed[0]) / (step.time[-1] - step.time[late][0])
    from scipy.optimize import brentq

    N, weight = MASS * G * np.cos(slope), MASS * G * np.sin(slope)
    force = brentq(
        lambda F: (F - resistance * N) * RADIUS**2 / SPIN_INERTIA - (weight - F) / MASS * (1.0 - F / K),
        0.0,
        weight,
        xtol=1e-12,
    )
    f.row(
        "B-WHEEL",
        "acceleration down a slope [m/s^2]",
        found,
        (weight - force) / MASS,
        "The closed form is that of a state of constant slip, in which the rule has no error; round-off.",
        CLOSED_FORM,
        relative=1e-10,
    )
    # parked: the carcass holds the wheel, which cannot turn
    sigma, floor = 0.3, 1e-6  # transport of the slip at rest [m/s]
    carcass = K / sigma

    def parked(angle: float, duration: float, h: float, **tyre):
        model = build(0.0, 0.0, slope=angle, relaxation=sigma, **tyre)
        model.fix("wheel", ["rotation x", "rotation y", "rotation z"])
        model.transient_step(duration, h, frames=0)
        return solve(model).steps[0]

    weight = MASS * G * np.sin(0.1)
    # far below 1 km/s nothing carries the deflection away but the floor
    steps = [parked(0.1, 2.0, h, friction=10.0, retardation=0.0, slip_speed=1e3) for h in (4e-3, 2e-3, 1e-3)]
    swing = weight / carcass * (1.0 - np.cos(np.sqrt(carcass / MASS) * steps[0].time))
    f.converged_course(
        "B-WHEEL", "parked without damping: swing over its size, h -> 0",
        [step.series["sensor/place"][:: 2**k, 0] for k, step in enumerate(steps)], swing, CLOSED_FORM,
        scale=weight / carcass,
    )  # fmt: skip
    f.zero(
        "B-WHEEL", "parked without damping: energy lost, over that of the swing",
        steps[2].series["ledger"][-1, 3] / (weight**2 / carcass), 4.0 * floor * 2.0 / sigma,
        "The carcass keeps the energy; at rest slips go on at 1e-6 m/s, which takes F^2/K, F at most 2 m g sin(b).",
    )  # fmt: skip
    held = 0.8 * MASS * G * np.cos(0.1)
    share = brentq(lambda x: x * (1.0 + x**4 / (1.0 - x)) - weight / held, 0.0, 0.9, xtol=1e-14)
    place = parked(0.1, 10.0, 5e-3, friction=0.8, retardation=0.02, slip_speed=1e3).series["sensor/place"][-1, 0]
    f.row(
        "B-WHEEL", "parked on a slope for 10 s: displacement [m]", place, share * held / carcass,
        "The closed form is the deflection of the carcass, x (1 + x^4/(1 - x)) = F/(mu N); slips at rest go on at 1e-6 "
        "m/s for 10 s.", CLOSED_FORM, tolerance=floor * weight / K * 10.0,
    )  # fmt: skip
    step = parked(0.9, 2.0, 1e-3, friction=0.8, retardation=0.02, slip_speed=1.0)
    late = step.time >= 1.0
    speed, time = step.series["sensor/speed"][late, 0], step.time[late]
    f.row(
        "B-WHEEL", "too steep a slope: acceleration [m/s^2]", (speed[-1] - speed[0]) / (time[-1] - time[0]),
        G * (np.sin(0.9) - 0.8 * np.cos(0.9)),
        "The closed form is that of sliding, which the rule integrates exactly.", CLOSED_FORM, relative=1e-10,
    )  # fmt: skip
    # over a bump, without friction
    places = []
    for h in (2e-3, 1e-3):
        model = build(8.0, 8.0 / RADIUS, friction=1e-12, profile="0.01*sin(pi*t/2)**2", length=20.0, spacing=0.02)
        model.transient_step(2.0, h, frames=0)
        step = solve(model).steps[0]
        places.append(step.series["sensor/place"][-1, [0, 2]])
    normal = step.series["sensor/normal"][:, 0]
    f.zero(
        "B-WHEEL", "over bumps: place [m] against scipy", np.abs(places[1] - hop(2.0, 8.0, 0.02)[:2]).max(),
        2.0 / 3.0 * np.abs(places[1] - places[0]).max(),
        "scipy integrates the same equations in the file.  An error of second order is a third of what halving the "
        "step changed; twice that, since the wheel leaves the road within steps.", INDEPENDENT,
    )  # fmt: skip
    f.zero(
        "B-WHEEL",
        "over bumps: closing error of the energy",
        energy_error(step, constant=True),
        CONSERVED,
        "The rule conserves it exactly; only round-off is left.",
    )
    f.between(
        "B-WHEEL",
        "over bumps: least normal force [N]",
        float(np.nanmin(normal)),
        0.0,
        0.0,
        "The wheel must leave the road.",
    )


def _car(f: Findings) -> None:
    for label, speed in (("under", 20.0), ("over", 15.0)):
        axles = AXLES[label]
        length, gradient = understeer(axles)
        gains = []
        for steer, h in ((4e-3, 1e-2), (2e-3, 5e-3), (1e-3, 2.5e-3)):
            model = car(speed, axles, steer)
            model.motor("drive", "rear hub", speed=speed / RADIUS)
            model.transient_step(8.0, h, frames=0)
            step = solve(model).steps[0]
            turn = step.series["sensor/turn"][-1, 2]
            v = float(np.linalg.norm(step.series["sensor/velocity"][-1, :2]))
            gains.append(turn / steer * (length + gradient * v**2) / v)
        f.converged(
            "B-CAR", f"yaw rate over steering angle and over V/(L + K_us V^2), {label}steering, angle and h -> 0 [-]",
            gains, 1.0, CLOSED_FORM,
        )  # fmt: skip
    for label, sigma in (("under", 0.0), ("under", 0.5), ("over", 0.5)):
        for speed in (10.0, 30.0):
            model = car(speed, AXLES[label], relaxation=sigma or None)
            found, known = modes(model, 14), lateral(speed, AXLES[label], sigma)
            what = f"{label}steering, {speed:g} m/s{', relaxation' if sigma else ''}"
            f.zero(
                "B-CAR",
                f"eigenvalues, {what}, relative",
                farthest(found, known),
                1e-8,
                "The matrix of v and r is written by hand; pairs have residuals below 1e-8.",
                INDEPENDENT,
            )
    length, gradient = understeer(AXLES["over"])
    critical = np.sqrt(-length / gradient)
    slow, fast = (max(modes(car(critical * s, AXLES["over"]), 14).real) for s in (0.99, 1.01))
    exact = max(lateral(1.01 * critical, AXLES["over"]).real)
    f.row(
        "B-CAR",
        "growth rate 1 % above the critical speed [1/s]",
        fast,
        exact,
        "The matrix of v and r is written by hand; pairs have residuals below 1e-8, and 1 % of the speed is all of it.",
        INDEPENDENT,
        relative=1e-6,
    )
    f.zero(
        "B-CAR",
        "growth rate 1 % below the critical speed [1/s]",
        max(slow, 0.0),
        1e-6,
        "The car is stable below its critical speed.",
    )


def _shimmy(f: Findings) -> None:
    arms = np.linspace(0.1, 0.5, 9)
    growth = []
    for arm in arms:
        found, known = modes(trailing(arm, 0.0, 20.0), 12), shimmy(arm, 0.0, 20.0)
        growth.append(max(found[np.abs(found.imag) > 1.0].real, key=abs))
        if arm in arms[[1, -1]]:
            f.zero(
                "B-SHIMMY",
                f"eigenvalues, arm {arm:g} m, relative",
                farthest(found, known),
                1e-8,
                "The closed form has the roots of the cubic; pairs have residuals below 1e-8.",
                CLOSED_FORM,
            )
    found = modes(trailing(ARM["sigma"], 0.0, 20.0), 12)
    swing = found[np.abs(found.imag) > 1.0]
    f.zero(
        "B-SHIMMY",
        "growth over frequency of an arm as long as S",
        np.abs(swing.real / swing.imag).min(),
        1e-8,
        "The closed form is the boundary of stability without damping; pairs have residuals below 1e-8.",
        CLOSED_FORM,
    )
    exact = [max(p.real for p in shimmy(arm, 0.0, 20.0) if abs(p.imag) > 1.0) for arm in arms]
    f.figure(
        "Growth rate of shimmy over the length of the arm",
        [Curve(arms, np.array(exact), "cubic"), Curve(arms, np.array(growth), "tyre", "o")],
        "e [m]",
        "Re p [1/s]",
    )
