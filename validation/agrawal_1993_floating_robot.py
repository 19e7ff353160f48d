"""Free-floating robot with a closed chain: momenta stay zero, its base drifts by the path of its joints.

A base that floats in the plane carries two arms of two links that hold one plate.  Three joints of one arm are
driven along closed loops; nothing acts from outside, so that linear and angular momentum stay zero.  The angular
momentum is no integral of the angles: after each loop the base has turned by an angle that depends on the loop.

              plate
           o----------o          H = sum_k (m_k r_k x r_k' + I_k w_k) = 0
          /            \\         gives the rate of the base for the rates of the joints
         o              o
          \\            /         base 56 lb, 1159 lb in^2; links 4.75 and 1.63 lb, 12 in;
           o===base===o          plate 2 lb, 12.03 lb in^2, corners 60 deg apart

Source: S.K. Agrawal, R. Garimella, G. Desmier, "Free-floating closed-chain planar robots: kinematics, path planning
and control", in: Computer-Aided Analysis of Rigid and Flexible Mechanical Systems, NATO ASI, Troia 1993, vol. II,
279-297 (table 1; some of its numbers are unreadable: inertias of the links are those of slender rods).  The drift is
recomputed by quadrature of H = 0 over the path, with the loop closed by Newton's iteration.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import INDEPENDENT

CAPABILITY = "mechanisms"
CASES = {"B-FLOATING": "momenta and drift of a free-floating robot with a closed chain"}

INCH, POUND = 0.0254, 0.45359237
BASE = (56.0 * POUND, 1159.0 * POUND * INCH**2)
HALF, ARM = 6.0 * INCH, 12.0 * INCH
LINKS = ((4.75 * POUND, 1.30 * INCH), (1.63 * POUND, 3.45 * INCH))  # mass, mass centre from the inner joint
PLATE = (2.0 * POUND, 12.03 * POUND * INCH**2)
CORNER = np.deg2rad(60.0)  # between the plate's two sides, of length ARM each
START = np.deg2rad((100.0, -35.0, -50.0))  # of the driven arm: angles of its links against the one before
AMPLITUDE, PHASE = np.deg2rad((12.0, 10.0, 8.0)), np.deg2rad((0.0, 70.0, 150.0))
PERIOD = 1.0


def loop(t: float, rate: bool = False) -> np.ndarray:
    """Return what the driven joints have turned (3,) [rad] since the start, or their rates."""
    w = 2.0 * np.pi / PERIOD
    if rate:
        return AMPLITUDE * w * np.cos(w * t + PHASE)
    return AMPLITUDE * (np.sin(w * t + PHASE) - np.sin(PHASE))


def directions(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


class Robot:
    """The kinematics of the chain, with the base at the origin: absolute angles and mass centres."""

    def __init__(self):
        self.passive = self.close(START, np.deg2rad((80.0, 125.0)))

    def close(self, q: np.ndarray, guess: np.ndarray) -> np.ndarray:
        """Return the absolute angles (2,) of the passive arm, by Newton's iteration from a guess."""
        a = np.cumsum(q)
        end = -HALF * np.array([1.0, 0.0]) + ARM * (directions(a[0]) + directions(a[1]) + directions(a[2]))
        wrist = end - ARM * directions(a[2] + CORNER)
        p = np.array(guess)
        for _ in range(50):
            miss = HALF * np.array([1.0, 0.0]) + ARM * (directions(p[0]) + directions(p[1])) - wrist
            J = ARM * np.column_stack([directions(p[k] + 0.5 * np.pi) for k in range(2)])
            step = np.linalg.solve(J, miss)
            p = p - step
            if np.abs(step).max() < 1e-15:
                break
        return p

    def bodies(self, q: np.ndarray, guess: np.ndarray):
        """Return masses (6,), inertias (6,), angles (6,), mass centres (6, 2): base, arms, plate."""
        a, p = np.cumsum(q), self.close(q, guess)
        inner = [-HALF * np.array([1.0, 0.0]), HALF * np.array([1.0, 0.0])]
        masses, inertias, angles, centres = [BASE[0]], [BASE[1]], [0.0], [np.zeros(2)]
        for start, pair in zip(inner, (a[:2], p), strict=True):
            place = start
            for (m, x), angle in zip(LINKS, pair, strict=True):
                masses.append(m)
                inertias.append(m * ARM**2 / 12.0)
                angles.append(angle)
                centres.append(place + x * directions(angle))
                place = place + ARM * directions(angle)
            if start is inner[0]:
                wrist = place
        masses.append(PLATE[0])
        inertias.append(PLATE[1])
        angles.append(a[2])
        centres.append(wrist + ARM * directions(a[2]))
        return np.array(masses), np.array(inertias), np.array(angles), np.array(centres), p


def drift(samples: int = 100) -> float:
    """Return the angle [rad] by which the base has turned after a loop: quadrature of H = 0 by Gauss' rule."""
    robot, total, guess = Robot(), 0.0, None
    guess = robot.passive
    nodes, weights = np.polynomial.legendre.leggauss(4)
    for k in range(samples):
        for x, weight in zip(nodes, weights, strict=True):
            t = (k + 0.5 + 0.5 * x) * PERIOD / samples
            e = 1e-5

            def at(t, guess=guess):
                return robot.bodies(START + loop(t), guess)

            m, inertia, _, r, guess = at(t)
            ahead, behind = at(t + e), at(t - e)
            rate, w = (ahead[3] - behind[3]) / (2.0 * e), (ahead[2] - behind[2]) / (2.0 * e)
            centre, mean = m @ r / m.sum(), m @ rate / m.sum()
            r, rate = r - centre, rate - mean
            # about the mass centre, which rests: H_0 + J theta' = 0
            H = float(m @ (r[:, 0] * rate[:, 1] - r[:, 1] * rate[:, 0]) + inertia @ w)
            J = float(m @ (r**2).sum(axis=1) + inertia.sum())
            total -= 0.5 * weight * PERIOD / samples * H / J
    return total


def build(h: float = 0.02, loops: int = 1) -> Model:
    """Return the robot at rest but for the driven joints, whose rates begin with the loop."""
    robot = Robot()
    masses, inertias, angles, centres, passive = robot.bodies(START, robot.passive)
    names = ("base", "left 1", "left 2", "right 1", "right 2", "plate")
    model = Model(2, "floating robot")
    for k, name in enumerate(names):
        model.body(name, centres[k], mass=masses[k], inertia=inertias[k], angle=angles[k])
    a = np.cumsum(START)
    left = np.cumsum([(-HALF, 0.0), *(ARM * directions(x) for x in a[:2])], axis=0)
    right = np.cumsum([(HALF, 0.0), *(ARM * directions(x) for x in passive)], axis=0)
    chain = ("base", "left 1", "left 2", "plate")
    for k in range(3):
        law = {
            "kind": "harmonic", "amplitude": float(AMPLITUDE[k]), "frequency": 1.0 / PERIOD, "phase": float(PHASE[k]),
            "offset": float(-AMPLITUDE[k] * np.sin(PHASE[k])),
        }  # fmt: skip
        model.joint(f"joint {k + 1}", "revolute", chain[k], chain[k + 1], point=left[k], function=law)
    model.joint("right a", "revolute", "base", "right 1", point=right[0])
    model.joint("right b", "revolute", "right 1", "right 2", point=right[1])
    model.joint("right c", "revolute", "right 2", "plate", point=right[2])
    start_velocities(model, robot)
    model.sensor("base", "rotation", on="base")
    model.transient_step(loops * PERIOD, h, frames=0)
    return model


def start_velocities(model: Model, robot: Robot) -> None:
    """Give each body the velocity of the loop at its start, with both momenta zero."""
    e = 1e-5
    m, inertia, _, r, _ = robot.bodies(START, robot.passive)
    ahead, behind = (robot.bodies(START + loop(t), robot.passive) for t in (e, -e))
    rate, w = (ahead[3] - behind[3]) / (2.0 * e), (ahead[2] - behind[2]) / (2.0 * e)
    centre, mean = m @ r / m.sum(), m @ rate / m.sum()
    r, rate = r - centre, rate - mean
    H = float(m @ (r[:, 0] * rate[:, 1] - r[:, 1] * rate[:, 0]) + inertia @ w)
    turn = -H / float(m @ (r**2).sum(axis=1) + inertia.sum())
    for k, name in enumerate(("base", "left 1", "left 2", "right 1", "right 2", "plate")):
        velocity = rate[k] + turn * np.array([-r[k, 1], r[k, 0]])
        model.initial(name, velocity=velocity, spin=float(w[k] + turn))


def reference() -> dict[str, float]:
    """Return the angle [rad] by which the base has turned after a loop."""
    return {"drift": drift()}


def check(f: Findings) -> None:
    known = reference()["drift"]
    turned, curves = [], []
    for h in (0.02, 0.01, 0.005):
        step = solve(build(h)).steps[0]
        angle = step.series["sensor/base"].ravel()
        turned.append(angle[-1] - angle[0])
        curves.append(Curve(step.time, np.rad2deg(angle), f"h = {h:g} s"))
        total = sum((BASE[0], 2 * LINKS[0][0], 2 * LINKS[1][0], PLATE[0]))
        speed = float(np.abs(AMPLITUDE).max() * 2.0 * np.pi / PERIOD * ARM)
        P = np.abs(step.series["linear momentum"]).max() / (total * speed)
        H = np.abs(step.series["angular momentum"]).max() / (total * speed * ARM)
        f.zero(
            "B-FLOATING",
            f"linear momentum over its scale, h = {h:g} s",
            P,
            1e-10,
            "Differences over 1e-5 s leave 1e-16/1e-5 in the velocities of the start, which remains.",
        )
        f.zero(
            "B-FLOATING",
            f"angular momentum over its scale, h = {h:g} s",
            H,
            1e-10,
            "Differences over 1e-5 s leave 1e-16/1e-5 in the velocities of the start, which remains.",
        )
    what = "turn of the base after a loop [deg], h -> 0"
    f.converged(
        "B-FLOATING", what, np.rad2deg(turned), np.rad2deg(known), INDEPENDENT, error=1e-9,
        why="the quadrature takes rates by differences over 1e-5 s, (2 pi 1e-5)^2/6",
    )  # fmt: skip
    f.figure("Angle of the base", curves, "Time [s]", "Angle [deg]", "The joints return to their start, the base not.")
