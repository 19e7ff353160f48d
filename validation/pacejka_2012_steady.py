"""Steady running: a car in a curve, its steer angle, attitude and wheel loads, and the drive force against resistances.

                       V ->                  front   a        b   rear        W = V/R about a point to the left
               (o)------------------(o)        |-----x--------|               delta, drive force: efforts
            ---------------------------------- road

Source: H. B. Pacejka, "Tire and Vehicle Dynamics", 3rd edition, Butterworth-Heinemann 2012, section 1.3.2: steady-state
cornering of the two-wheel model, delta = l/R + (m_1/C_1 - m_2/C_2) V^2/R with the masses m_i on the axles and their
cornering stiffnesses C_i.  The references are this formula, and balances of forces and moments.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY

CAPABILITY = "vehicles"
CASES = {"B-STEADY": "A car in a steady curve, and the force that keeps its speed on a straight road"}

G, MASS, HEIGHT = 9.81, 1200.0, 0.5
AXLES, TRACK, TYRE_RADIUS = {"front": 1.2, "rear": -1.3}, 1.5, 0.3
CORNERING = {"front": 6e4, "rear": 8e4}  # of a wheel [N/rad]
SPEED, RADIUS = 20.0, 500.0
RESISTANCE, DRAG = 0.012, 250.0
#: Of a wheel, times a quarter for each finer model: mass [kg] or moment of inertia [kg m^2], and flexibility [m/N]; and
#: times a half: speed [m/s] below which the resistance fades, 1 - (SLOW/V)^2/2 of it at the speed V.
LIGHT, SOFT, SLOW = 1e-3, 2e-7, 1e-3


def build(
    radius: float = 0.0, efforts: tuple[str, ...] = ("drive", "steer"), resistance: float = 0.0, finer: int = 0
) -> Model:
    """Return the car with a step of steady running, in a left turn, or with radius 0 straight ahead.

    Each ``finer`` has wheels a quarter as heavy and tyres a quarter as soft.
    """
    light = LIGHT / 4.0**finer
    m = Model(3, "car", gravity=(0.0, 0.0, -G))
    m.body("car", (0.0, 0.0, HEIGHT), MASS, (300.0, 1200.0, 1300.0))
    for axle, x in AXLES.items():
        for side, y in (("left", 0.5 * TRACK), ("right", -0.5 * TRACK)):
            name, at, holder = f"{axle} {side}", (x, y, TYRE_RADIUS), "car"
            if axle == "front":
                holder = f"{name} upright"
                m.body(holder, at, light, (light, light, light))
                m.joint(f"{name} pin", "revolute", "car", holder, point=at, axis=(0.0, 0.0, 1.0))
            m.body(f"{name} wheel", at, light, (light, light, light))
            m.joint(f"{name} hub", "revolute", holder, f"{name} wheel", point=at, axis=(0.0, 1.0, 0.0))
            m.tyre(
                f"{name} tyre", f"{name} wheel", axis=(0.0, 1.0, 0.0), radius=TYRE_RADIUS, stiffness=4.0**finer / SOFT,
                slip_stiffness=(1e5, CORNERING[axle]), rolling_resistance=resistance, slip_speed=SLOW / 2.0**finer,
            )  # fmt: skip
            m.sensor(f"{name} load", "tyre", on=f"{name} tyre")
    m.gear("track rod", "front left pin", "front right pin", ratio=1.0)
    m.motor("steer", joint="front left pin", force=0.0)
    m.force("drive", "car", (1.0, 0.0, 0.0), function=0.0, follower=True)
    m.force("drag", "car", (-DRAG if resistance else 0.0, 0.0, 0.0))
    m.sensor("steer angle", "joint", on="front left pin", quantity="angle")
    m.sensor("heading", "rotation", on="car")
    m.sensor("place", "position", on="car")
    m.sensor("velocity", "velocity", on="car")
    if radius:
        m.running("car", velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, SPEED / radius), centre=(0.0, radius, 0.0))
    else:
        m.running("car", velocity=(SPEED, 0.0, 0.0))
    m.steady_running_step(list(efforts))
    return m


def reference() -> dict[str, float]:
    """Return steer angle times radius [m], heading against the way times radius [m], and the difference of the loads of
    the right and the left wheels times radius [N m], of large radii; and the drive force straight ahead [N]."""
    front, rear = AXLES["front"], -AXLES["rear"]
    wheelbase = front + rear
    masses = {"front": MASS * rear / wheelbase, "rear": MASS * front / wheelbase}
    slips = {axle: mass * SPEED**2 / (2.0 * CORNERING[axle]) for axle, mass in masses.items()}
    return {
        "steer angle": wheelbase + slips["front"] - slips["rear"],
        "heading": slips["rear"] - rear,
        "load transfer": 2.0 * MASS * SPEED**2 * HEIGHT / TRACK,
        "drive": RESISTANCE * MASS * G + DRAG,
    }


def check(f: Findings) -> None:
    case, known = "B-STEADY", reference()
    found: dict[str, list[float]] = {"steer angle": [], "heading": [], "load transfer": []}
    sums = []
    for k in range(3):
        radius = RADIUS * 2.0**k
        series = solve(build(radius, finer=k)).steps[0].series
        found["steer angle"].append(float(series["sensor/steer angle"][0, 0]) * radius)
        found["heading"].append(float(series["sensor/heading"][0, 2]) * radius)
        loads = {side: sum(series[f"sensor/{axle} {side} load"][0, 0] for axle in AXLES) for side in ("left", "right")}
        found["load transfer"].append(float(loads["right"] - loads["left"]) * radius)
        sums.append(float(loads["left"] + loads["right"]))
    for name, values in found.items():
        unit = "N m" if name == "load transfer" else "m"
        f.converged(
            case, f"{name} times R, 1/R, masses of wheels and flexibility of tyres -> 0 [{unit}]", values, known[name],
            CLOSED_FORM,
        )  # fmt: skip
    f.converged(case, "sum of the wheels' loads, the same limit [N]", sums, MASS * G,
                CLOSED_FORM)  # fmt: skip
    curvature = 0.5 ** np.arange(3) / RADIUS
    f.figure(
        "Steer angle", [Curve(curvature, curvature * found["steer angle"], "model"),
                        Curve(curvature, curvature * known["steer angle"], "two-wheel model")],
        "Curvature [1/m]", "Steer angle [rad]", "Steady cornering at 20 m/s.",
    )  # fmt: skip

    drives, missing = [], []
    for k in range(3):
        m = build(efforts=("drive",), resistance=RESISTANCE, finer=k)
        m.transient_step(2.0, 0.01, "run", frames=0)
        solution = solve(m)
        report: Any = solution.steps[0].report
        drives.append(report.efforts["drive"])
        report = solve(build(efforts=(), resistance=RESISTANCE, finer=k)).steps[0].report
        missing.append(report.missing_power)
    f.converged(case, "drive force straight ahead, masses of wheels and flexibility of tyres -> 0 [N]", drives,
                known["drive"], CLOSED_FORM)  # fmt: skip
    f.converged(case, "missing power without it, the same limit [W]", missing, known["drive"] * SPEED,
                CLOSED_FORM)  # fmt: skip
    speed = solution.steps[-1].series["sensor/velocity"][:, 0]
    f.zero(
        case,
        "change of the speed in 2 s under it [m/s]",
        float(np.ptp(speed)),
        1e-8,
        "Steady running has a constant value.",
        PROPERTY,
    )
