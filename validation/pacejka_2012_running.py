"""Running starts: spins of wheels that roll, of a gear train behind them, in a curve, and a car that runs on steadily.

        v ->   +-------- car --------+        w_i = v_i/r_e,i      wheels of two radii, tyres without slip
               |spring        spring |        w_engine = i w       gear on the axle
              (o) r_1           r_2 (o)       v_i = W (R -+ b/2)   in a curve about a point at the distance R
        ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

Source: H. B. Pacejka, "Tire and Vehicle Dynamics", 3rd edition, Butterworth-Heinemann 2012, section 1.2.1: a wheel that
rolls freely has V_x = r_e w.  The references are the closed forms of rigid kinematics, and the equations of statics of
the car on its springs and tyres, solved by scipy.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import root

from fem_mbs import Model, ModelError, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, PROPERTY

CAPABILITY = "vehicles"
CASES = {"B-RUNNING": "Spins, gear trains and steadiness of a car that runs from the start"}

G, BODY, WHEEL = 9.81, 1000.0, 45.0
LENGTH, WIDTH = (1.2, -1.3), 1.4  # places of the axles, from the mass centre of the body, and track
RADII, TYRE, SPRING, RATIO = (0.32, 0.27), 2e5, 3e4, 3.5
SPEED, TURN, CURVE = 25.0, 0.25, 60.0


def build(h: float = 0.01, steps: int = 200, turn: float = 0.0, engine: bool = False, locked: bool = False) -> Model:
    """Return the car, in statics and then in a transient; ``turn`` [rad/s] about a point to its left."""
    m = Model(3, "running car", gravity=(0.0, 0.0, -G))
    m.body("car", (0.0, 0.0, 0.6), BODY, (300.0, 1200.0, 1300.0))
    for axle, (x, r) in enumerate(zip(LENGTH, RADII, strict=True)):
        for side, y in (("left", WIDTH / 2.0), ("right", -WIDTH / 2.0)):
            at, name = (x, y, r), f"{side} {axle}"
            m.body(f"upright {name}", at, 20.0, (0.5, 0.5, 0.5))
            m.joint(f"strut {name}", "prismatic", "car", f"upright {name}", point=at, axis=(0.0, 0.0, 1.0))
            m.joint_spring(f"spring {name}", f"strut {name}", stiffness=SPRING, damping=2000.0)
            m.body(f"wheel {name}", at, WHEEL - 20.0, (0.6, 1.1, 0.6))
            hub = {"kind": "weld"} if locked else {"kind": "revolute", "axis": (0.0, 1.0, 0.0)}
            m.joint(f"hub {name}", a=f"upright {name}", b=f"wheel {name}", point=at, **hub)
            m.tyre(
                f"tyre {name}", f"wheel {name}", axis=(0.0, 1.0, 0.0), radius=r, stiffness=TYRE, damping=0.01,
                slip_stiffness=(6e4, 5e4),
            )  # fmt: skip
            m.sensor(f"spin {name}", "angular velocity", on=f"wheel {name}")
            m.sensor(f"load {name}", "tyre", on=f"tyre {name}")
    if engine:
        m.body("engine", (0.2, 0.0, 0.6), 80.0, (2.0, 2.0, 2.0))
        m.joint("shaft", "revolute", "car", "engine", point=(0.2, 0.0, 0.6), axis=(0.0, 1.0, 0.0))
        m.gear("gear", "hub left 1", "shaft", ratio=RATIO)
        m.sensor("engine", "angular velocity", on="engine")
    m.sensor("place", "position", on="car")
    m.sensor("velocity", "velocity", on="car")
    if turn:
        m.running("car", velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, turn), centre=(0.0, CURVE, 0.0))
    else:
        m.running("car", velocity=(SPEED, 0.0, 0.0))
        m.static_step()
    m.transient_step(h * steps, h, "run", frames=0)
    return m


def loads() -> np.ndarray:
    """Return the forces [N] of one tyre of each axle (2,), of the car at rest on its springs and tyres, pitched."""
    x0, r = np.array(LENGTH), np.array(RADII)

    def state(unknown: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return places along the road and loads of the wheels, and what their struts lack along their axes."""
        pitch, height, up = unknown[0], unknown[1], unknown[2:]
        across = r - 0.6 + up  # of a wheel's centre along the struts, from the mass centre of the body
        x = np.cos(pitch) * x0 + np.sin(pitch) * across
        load = TYRE * (r - height + np.sin(pitch) * x0 - np.cos(pitch) * across)
        return x, load, np.cos(pitch) * (load - WHEEL * G) - SPRING * up

    def residual(unknown: np.ndarray) -> list[float]:
        x, load, lack = state(unknown)
        return [2.0 * float(load.sum()) - (BODY + 4.0 * WHEEL) * G, float((load - WHEEL * G) @ x), *lack]

    return state(root(residual, [0.0, 0.6, 0.0, 0.0], tol=1e-13).x)[1]


def reference() -> dict[str, float]:
    """Return the spins [rad/s] of a wheel of each axle at `SPEED`, by its radius, under its load at rest."""
    return {f"{r} m": SPEED / (r - load / (3.0 * TYRE)) for r, load in zip(RADII, loads(), strict=True)}


def check(f: Findings) -> None:
    known = reference()
    solution = solve(build(0.01, 200))
    values = {name: solution.sensor(name, "run").values for name in ("place", "velocity")}
    why = "V = r_e w, r_e = r - N/(3 k), N of the car at rest, which the file solves for; round-off of statics"
    for axle, r in enumerate(RADII):
        spin = solution.sensor(f"spin left {axle}", "run").values[:, 1]
        f.row(
            "B-RUNNING", f"spin of a wheel of the radius {r} m [rad/s]", float(spin[0]), known[f"{r} m"], why,
            INDEPENDENT, relative=1e-10,
        )  # fmt: skip
        f.zero(
            "B-RUNNING",
            f"its change in 2 s [rad/s], {r} m",
            float(np.ptp(spin)),
            1e-9,
            "Steady running has a constant value.",
        )
    for name, column, what in (("place", 2, "height of the car [m]"), ("velocity", 0, "speed of the car [m/s]")):
        change = float(np.ptp(values[name][:, column]))
        f.zero("B-RUNNING", f"change in 2 s, {what}", change, 1e-9, "Steady running has a constant value.")
    energy = solution.steps[-1].series["ledger"][:, :3].sum(axis=1)
    f.zero(
        "B-RUNNING",
        "change of the energy over its value",
        float(np.ptp(energy) / energy[0]),
        1e-11,
        "Steady running has a constant value.",
    )

    time = solution.steps[-1].time
    f.figure(
        "Spins of the wheels",
        [Curve(time, solution.sensor(f"spin left {k}", "run").values[:, 1], f"{r} m") for k, r in enumerate(RADII)],
        "Time [s]", "Spin [rad/s]", "Constant: the car runs steadily from the start.",
    )  # fmt: skip

    solution = solve(build(1e-3, 1, engine=True))
    wheel, engine = (solution.sensor(name, "run").values[0, 1] for name in ("spin left 1", "engine"))
    why = "the ratio of the gear"
    f.row(
        "B-RUNNING",
        "spin of the geared engine [rad/s]",
        float(engine),
        RATIO * float(wheel),
        why,
        CLOSED_FORM,
        relative=1e-10,
    )

    solution = solve(build(1e-3, 1, turn=TURN))
    why = "v = W (R - y) over the radius, no load yet"
    for side, y in (("left", WIDTH / 2.0), ("right", -WIDTH / 2.0)):
        for axle, r in enumerate(RADII):
            turning = float(solution.sensor(f"spin {side} {axle}", "run").values[0, 1])
            exact = TURN * (CURVE - y) / r
            f.row(
                "B-RUNNING", f"spin in a curve, {side}, {r} m [rad/s]", turning, exact, why, CLOSED_FORM, relative=1e-10
            )

    try:
        solve(build(1e-3, 1, locked=True))
        said = ""
    except ModelError as error:
        said = str(error)
    found = float("would slide by 25 m/s" in said)
    f.row(
        "B-RUNNING",
        "a locked wheel is refused, with its sliding speed",
        found,
        1.0,
        "The error names the sliding speed.",
        PROPERTY,
        tolerance=0.0,
    )
