"""Spatial pendulum of five rods on five hinges, a chain with five degrees of freedom.

Five uniform rods of 1 m and 1 kg hang on one another by hinges whose axes are normal to both rods.  The chain is let go
from rest along edges of a cube.

          P4 +--------+ P3            y up, g = 9.81 along -y
            /        /|               P0 (0,0,0)  P1 (1,0,0)  P2 (1,-1,0)
        P5 x        / |               P3 (1,-1,1) P4 (0,-1,1) P5 (0,0,1), free
                   +  |               axes of the hinges at P0 ... P4: y, z, x, y, z
        P0 o------o P1                rods P0P1, P1P2, P2P3, P3P4, P4P5; the hinge at P0 to the ground

Source: J. M. Jimenez, A. Avello, J. Garcia de Jalon, A. Avello, "An efficient implementation of the velocity
transformation method for real-time dynamics", NATO ASI, Troia 1993, Vol. II, 39-57, section 4.1 (5 rods, 1 m, 1 kg,
10 s; its figures with the geometry and the motion of P are lost, and the geometry is that of Bricard's mechanism of
section 4.2).  The reference is an independent computation in this file: the paper's open chain, eqs 21 to 29, in the
five angles of the hinges, integrated by scipy's DOP853.  The motion is sensitive: tolerances of 1e-9 and 1e-13 differ
by 1e-5 m at 10 s.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import INDEPENDENT

CAPABILITY = "mechanisms"
CASES = {"B-FIVEBAR": "motion and energy of a spatial pendulum of five rods"}

GRAVITY = 9.81
POINTS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
AXES = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)
TIMES = (0.5, 1.0, 2.0, 5.0)
STEPS = (0.01, 0.005, 0.0025)


def build(h: float = 0.005, duration: float = 5.0) -> Model:
    """Return the chain at rest; its rods are rigid and thin."""
    model = Model(3, "pendulum of five rods", gravity=(0.0, -GRAVITY, 0.0))
    for i, (p, q) in enumerate(zip(POINTS[:-1], POINTS[1:], strict=True), 1):
        model.body(f"rod {i}", 0.5 * (p + q), 1.0, tuple(np.where(np.abs(q - p) > 0.5, 0.0, 1.0 / 12.0)))
        model.joint(f"R{i}", "revolute", "ground" if i == 1 else f"rod {i - 1}", f"rod {i}", point=p, axis=AXES[i - 1])
    model.sensor("tip", "position", on="rod 5", point=POINTS[5])
    model.transient_step(duration, h, frames=0)
    return model


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a x b of vectors (3,), faster than numpy for one pair."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u))


def _turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """Return the rotation (3, 3) about a unit vector (Rodrigues 1840)."""
    x, y, z = axis.tolist()
    s, c = math.sin(angle), math.cos(angle)
    skew = np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))
    return np.eye(3) + s * skew + (1.0 - c) * (skew @ skew)


def _rates(_, state: np.ndarray) -> np.ndarray:
    """Return d(angles, speeds)/dt of the open chain, eqs 21-29 in inertial axes."""
    angles, speeds = state[:5].tolist(), state[5:].tolist()
    turn, start, spin, drift, acceleration = np.eye(3), POINTS[0], np.zeros(3), np.zeros(3), np.zeros(3)
    axes, hinges = np.zeros((5, 3)), np.zeros((5, 3))
    mass, load = np.zeros((5, 5)), np.zeros(5)
    for i in range(5):
        # a hinge's axis turns with the rod before; `drift` is the spin's rate for vanishing rates of the speeds
        axis = turn @ AXES[i]
        drift = drift + _cross(spin, axis) * speeds[i]
        spin = spin + axis * speeds[i]
        turn = _turn(axis, angles[i]) @ turn
        axes[i], hinges[i] = axis, start
        along = turn @ (POINTS[i + 1] - POINTS[i])
        centre = start + 0.5 * along
        curved = _cross(drift, along) + _cross(spin, _cross(spin, along))
        arms = centre - hinges[: i + 1]
        rotate = axes[: i + 1]
        move = rotate[:, [1, 2, 0]] * arms[:, [2, 0, 1]] - rotate[:, [2, 0, 1]] * arms[:, [1, 2, 0]]
        inertia = (np.eye(3) * (along @ along) - along[:, None] * along) / 12.0
        force = np.array([0.0, -GRAVITY, 0.0]) - (acceleration + 0.5 * curved)
        moment = -inertia @ drift - _cross(spin, inertia @ spin)
        mass[: i + 1, : i + 1] += move @ move.T + rotate @ inertia @ rotate.T
        load[: i + 1] += move @ force + rotate @ moment
        start, acceleration = start + along, acceleration + curved
    return np.concatenate([state[5:], np.linalg.solve(mass, load)])


def _tip(angles: np.ndarray) -> np.ndarray:
    """Return the place of P5 (3,) [m] for the angles of the hinges (5,)."""
    turn, place = np.eye(3), POINTS[0]
    for i in range(5):
        turn = _turn(turn @ AXES[i], angles[i]) @ turn
        place = place + turn @ (POINTS[i + 1] - POINTS[i])
    return place


def reference() -> dict[float, np.ndarray]:
    """Return the place of P5 (3,) [m] by time, from the five angles integrated by scipy."""
    run = solve_ivp(_rates, (0.0, TIMES[-1]), np.zeros(10), "DOP853", t_eval=TIMES, rtol=1e-12, atol=1e-12)
    return {when: _tip(run.y[:5, k]) for k, when in enumerate(TIMES)}


def check(f: Findings) -> None:
    case, known = "B-FIVEBAR", reference()
    runs = [solve(build(h)) for h in STEPS]
    for when, place in known.items():
        places = [run.sensor("tip").values[round(when / h)] for run, h in zip(runs, STEPS, strict=True)]
        errors = [float(np.linalg.norm(p - place)) for p in places]
        if when <= 2.0:
            f.between(
                case,
                f"order of the error of P5({when:g} s)",
                np.log2(errors[1] / errors[2]),
                1.9,
                2.1,
                "The rule is of second order.",
            )
        f.converged_course(case, f"error of P5({when:g} s) [m], h -> 0", places, place, INDEPENDENT)
    for run, h in zip(runs, STEPS, strict=True):
        f.zero(case, f"change of the energy, h = {1e3 * h:g} ms", energy_error(run.steps[0], constant=True), CONSERVED,
               "The rule conserves it exactly; only round-off is left.")  # fmt: skip
    tip = runs[-1].sensor("tip").values
    time = runs[-1].steps[0].time
    curves = [Curve(time, tip[:, k], name) for k, name in enumerate("xyz")]
    curves += [Curve(np.array(TIMES), np.array([known[t][k] for t in TIMES]), "", "o") for k in range(3)]
    f.figure("Free end P5", curves, "Time [s]", "Coordinates [m]", "h = 2.5 ms; points: independent computation.")
