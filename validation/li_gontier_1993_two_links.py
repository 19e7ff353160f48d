"""Linearised dynamics of a two-link arm in motion: mass, damping and stiffness over its joint angles.

Two equal rods (1 m, 60 kg, central inertia 5.037 kg m^2) on revolute joints, at q = (30, 60) deg with the rates (1, 2)
rad/s.  Torques hold the rates for the moment: dq/dt is constant, so that M, D and K of small motions are

                    o tip
                   /
         q2 = 60  /                 q1, q2: angles of the joints
           _____o'  L = 1 m
      L  .-'
     .-'   q1 = 30
    o-------------- x

    M = [[2 I + m a^2 + m (L^2 + a^2 + 2 L a c), I + m (a^2 + L a c)], [., I + m a^2]]      a = L/2, c = cos q2
    D = [[-2 h q2', -2 h (q1' + q2')], [2 h q1', 0]]                                        h = m L a sin q2
    K = [[0, -h' (2 q1' q2' + q2'^2)], [0, h' q1'^2]]                                       h' = m L a cos q2

M, D, K are read from the transfer function of the linear model from torques to joint angles, by its values at three
complex frequencies.

Source: R. Li, C. Gontier, in: Computer-Aided Analysis of Rigid and Flexible Mechanical Systems, NATO ASI, Troia 1993,
vol. I, table II (data; its table of results is lost).  The references are the closed forms above.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, linearise
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "modes"
CASES = {"B-TWO-LINKS": "mass, damping and stiffness of a two-link arm in motion"}

MASS, LENGTH, INERTIA = 60.0, 1.0, 5.037
ANGLES, RATES = np.deg2rad((30.0, 60.0)), np.array((1.0, 2.0))


def build(gravity: float = 0.0) -> Model:
    """Return the arm at its state, with the torques that keep its rates."""
    model = Model(2, "two links", gravity=(0.0, -gravity))
    q, w = np.cumsum(ANGLES), np.cumsum(RATES)
    ends = np.cumsum([[0.0, 0.0], *([LENGTH * np.cos(a), LENGTH * np.sin(a)] for a in q)], axis=0)
    velocity = np.zeros(2)
    torque = bias() + weight(gravity)
    for k, name in enumerate(("first", "second")):
        arm = ends[k + 1] - ends[k]
        model.body(name, ends[k] + 0.5 * arm, mass=MASS, inertia=INERTIA, angle=q[k])
        across = w[k] * np.array([-arm[1], arm[0]])
        model.initial(name, velocity=velocity + 0.5 * across, spin=w[k])
        velocity = velocity + across
        other = "ground" if k == 0 else "first"
        model.joint(f"q{k + 1}", "revolute", other, name, point=ends[k])
        model.motor(f"tau{k + 1}", f"q{k + 1}", force=float(torque[k]))
        model.sensor(f"q{k + 1}", "joint", on=f"q{k + 1}")
    model.transient_step(1e-10, 1e-10, frames=0)  # velocities come with the first step over time
    return model


def bias() -> np.ndarray:
    """Return the torques of the rates at constant rates, (2,) [N m]."""
    h = MASS * LENGTH * 0.5 * LENGTH * np.sin(ANGLES[1])
    return np.array([-h * (2.0 * RATES[0] * RATES[1] + RATES[1] ** 2), h * RATES[0] ** 2])


def weight(gravity: float) -> np.ndarray:
    a, q1, q12 = 0.5 * LENGTH, ANGLES[0], ANGLES.sum()
    second = MASS * gravity * a * np.cos(q12)
    return np.array([MASS * gravity * (a + LENGTH) * np.cos(q1) + second, second])


def reference(gravity: float = 0.0) -> dict[str, np.ndarray]:
    m, L, a, s, c = MASS, LENGTH, 0.5 * LENGTH, np.sin(ANGLES[1]), np.cos(ANGLES[1])
    h, turned = m * L * a * s, m * L * a * c
    M = np.array(
        [[2.0 * INERTIA + m * a**2 + m * (L**2 + a**2 + 2.0 * L * a * c), INERTIA + m * (a**2 + L * a * c)]] * 2
    )
    M[1] = M[0, 1], INERTIA + m * a**2
    D = np.array([[-2.0 * h * RATES[1], -2.0 * h * RATES.sum()], [2.0 * h * RATES[0], 0.0]])
    K = np.array([[0.0, -turned * (2.0 * RATES[0] * RATES[1] + RATES[1] ** 2)], [0.0, turned * RATES[0] ** 2]])
    second = -m * gravity * a * np.sin(ANGLES.sum())
    K += np.array([[-m * gravity * (a + L) * np.sin(ANGLES[0]) + second, second], [second, second]])
    return {"M": M, "D": D, "K": K}


def measured(gravity: float) -> dict[str, np.ndarray]:
    """Return M, D, K of M s^2 + D s + K = G(s)^-1 at three values of s."""
    model = linearise(build(gravity)).state_space(["tau1", "tau2"], ["q1", "q2"])
    at = np.array([2.0 + 1.0j, -1.0 + 3.0j, 4.0 - 2.0j])
    n = len(model.A)
    G = [model.C @ np.linalg.solve(s * np.eye(n) - model.A, model.B) + model.D for s in at]
    inverse = np.array([np.linalg.inv(g) for g in G])
    powers = np.vander(at, 3)
    M, D, K = np.linalg.solve(powers, inverse.reshape(3, 4)).reshape(3, 2, 2)
    return {"M": M.real, "D": D.real, "K": K.real}


def check(f: Findings) -> None:
    curves = []
    for gravity in (0.0, 9.81):
        found, known = measured(gravity), reference(gravity)
        w = np.linspace(0.0, 6.0, 200)
        for label, matrices, style in (("model", found, "-"), ("closed form", known, ":")):
            inverse = [-(x**2) * matrices["M"] + 1j * x * matrices["D"] + matrices["K"] for x in w]
            curves.append(Curve(w, np.abs(np.linalg.det(inverse)), f"{label}, g = {gravity:g} m/s^2", style))
        for name in "MDK":
            for i in range(2):
                for j in range(2):
                    scale = max(1.0, float(np.abs(known[name]).max()))
                    f.row(
                        "B-TWO-LINKS",
                        f"{name}{i + 1}{j + 1}, g = {gravity:g} m/s^2",
                        found[name][i, j],
                        known[name][i, j],
                        "The closed form is exact; accelerations of a step of 1e-10 s carry a round-off of 1e-7.",
                        CLOSED_FORM,
                        tolerance=1e-7 * scale,
                    )
    f.figure(
        "Determinant of K + i w D - w^2 M", curves, "w [rad/s]", "|det| [(N m/rad)^2]",
        "Small motions about the arm in motion, without and with weight.",
    )  # fmt: skip
