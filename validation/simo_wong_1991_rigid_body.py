"""Free rigid bodies: a thousand turns in the plane, the tennis racket in space.

A torque-free body keeps its energy and its angular momentum.  An asymmetric body that spins about its middle axis turns
over, again and again, at a period given by an elliptic integral.

         W2 = 1 rad/s                J = diag(1, 2, 3) kg m2
            ^                        W0 = (1e-3, 1, 1e-3) rad/s in body axes
        ____|____                    100 s
       /____|____/
            |

Source: J.C. Simo, K.K. Wong, "Unconditionally stable algorithms for rigid body dynamics that exactly preserve energy
and momentum", Int. J. Numer. Meth. Engng 31 (1991), 19-52, doi:10.1002/nme.1620310103; the motion after L.D.
Landau, E.M. Lifshitz, "Mechanics", paragraph 37: with J1 < J2 < J3 and L^2 > 2 T J2

    W2 ~ sn(tau, k),  tau = t sqrt((J3 - J2)(L^2 - 2 T J1)/(J1 J2 J3)),
    k^2 = (J2 - J1)(2 T J3 - L^2)/((J3 - J2)(L^2 - 2 T J1)),

so that W2 changes its sign every 2 K(k)/(tau/t): the time of a flip.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, constancy, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY

CAPABILITY = "mechanisms"
CASES = {"B-FREE": "energy, momenta, orthonormality, period of the flip; turns in the plane; the heavy top"}

INERTIA = np.array([1.0, 2.0, 3.0])
SPIN = np.array([1e-3, 1.0, 1e-3])


def build(h: float = 0.2, duration: float = 100.0, **options) -> Model:
    """Return the racket, its mass centre at the origin; sensors of the tips of its body axes."""
    model = Model(3, "tennis racket")
    model.body("racket", (0.0, 0.0, 0.0), mass=1.0, inertia=INERTIA)
    model.initial("racket", spin=SPIN)
    for i, axis in enumerate("XYZ"):
        model.sensor(axis, "position", on="racket", point=np.eye(3)[i])
    model.transient_step(duration, h, frames=0, **options)
    return model


def build_plane(h: float, turns: int, steps: int) -> Model:
    """Return a plane body that flies and spins: mass 2, inertia 0.5."""
    model = Model(2, "spinning plate")
    model.body("plate", (0.3, -0.2), mass=2.0, inertia=0.5)
    # the rule turns a body by 2 atan(w h/2) per step: this speed makes the wanted number of turns
    spin = 2.0 / h * np.tan(np.pi * turns / steps)
    model.initial("plate", velocity=(0.4, 0.1), spin=spin)
    model.sensor("angle", "rotation", on="plate")
    model.sensor("corner", "position", on="plate", point=(1.3, -0.2))
    model.sensor("centre", "position", on="plate")
    model.transient_step(steps * h, h, frames=0)
    return model


def flip_time() -> float:
    """Return the time between two zeros of W2 [s]."""
    from scipy.special import ellipk

    J1, J2, J3 = INERTIA
    T2, L2 = INERTIA @ SPIN**2, (INERTIA * SPIN) @ (INERTIA * SPIN)
    if L2 > T2 * J2:
        rate = np.sqrt((J3 - J2) * (L2 - T2 * J1) / (J1 * J2 * J3))
        k2 = (J2 - J1) * (T2 * J3 - L2) / ((J3 - J2) * (L2 - T2 * J1))
    else:
        rate = np.sqrt((J1 - J2) * (L2 - T2 * J3) / (J1 * J2 * J3))
        k2 = (J2 - J3) * (T2 * J1 - L2) / ((J1 - J2) * (L2 - T2 * J3))
    return float(2.0 * ellipk(k2) / rate)


def reference() -> dict:
    return {"flip": flip_time()}


def rotations(solution, names: str = "XYZ", centre=None) -> np.ndarray:
    """Return rotation matrices (n, 3, 3) as the run has them, from the tips of the body axes: not normalised again."""
    origin = 0.0 if centre is None else solution.steps[-1].series[f"sensor/{centre}"]
    return np.stack([solution.steps[-1].series[f"sensor/{name}"] - origin for name in names], axis=2)


def orthonormality(R: np.ndarray) -> float:
    """Return the largest entry of R^T R - I."""
    return float(np.abs(np.einsum("nki,nkj->nij", R, R) - np.eye(3)).max())


def check(f: Findings) -> None:
    known = reference()
    ledgers, periods, curves = {}, {}, []
    # the flip takes hundreds of small rotations to start: the error of its period is seen with several flips
    for h in (0.2, 0.05, 0.02, 0.01):
        solution = solve(build(h, 10000.0 if f.long and h == 0.2 else 100.0))
        step = solution.steps[0]
        R = rotations(solution)
        W2 = np.einsum("nij,ni->nj", R, step.series["angular momentum"])[:, 1] / INERTIA[1]
        many = f"tennis racket, {len(step.time) - 1} steps of h = {h:g} s"
        tolerance, why = 1e-12, "1e-12 asked for in 100 s"
        if step.time[-1] > 101.0:
            tolerance, why = CONSERVED, "round-off of 5e4 steps adds up to 1e-11"
        f.zero("B-FREE", f"change of the energy, {many}", energy_error(step, constant=True), tolerance, why)
        f.zero("B-FREE", f"change of the angular momentum, {many}", constancy(step, "angular momentum"), tolerance, why)
        f.zero(
            "B-FREE",
            f"orthonormality of the rotation, {many}",
            orthonormality(R),
            1e-13,
            "Rotations stay orthonormal; 1e-13 is demanded.",
        )
        k = np.flatnonzero(W2[:-1] * W2[1:] < 0.0)
        zeros = step.time[k] - W2[k] * (step.time[k + 1] - step.time[k]) / (W2[k + 1] - W2[k])
        periods[h] = float(np.diff(zeros).mean())
        ledgers[f"h = {h:g} s"] = step
        if h in (0.2, 0.02):
            shown = step.time <= 100.0
            curves.append(Curve(step.time[shown], W2[shown], f"h = {h:g} s", "-" if h == 0.02 else "--"))
    f.row(
        "B-FREE",
        "time of a flip of the tennis racket [s], h = 0.01 s",
        periods[0.01],
        known["flip"],
        "The elliptic integral is exact; the extrapolation leaves 1e-4.",
        CLOSED_FORM,
        relative=1e-4,
    )
    order = np.log((periods[0.2] - known["flip"]) / (periods[0.05] - known["flip"])) / np.log(4.0)
    f.row(
        "B-FREE",
        "order of the error of the time of a flip",
        order,
        2.0,
        "The error is of second order; two steps show it within .1.",
        PROPERTY,
        tolerance=0.1,
    )
    f.figure(
        "Spin about the middle axis",
        curves,
        "Time [s]",
        "W2 [rad/s]",
        f"The racket turns over every {known['flip']:.2f} s.",
    )
    f.energy_figure(ledgers)
    _plane(f)


def _plane(f: Findings) -> None:
    turns = 1000
    # (steps of more than a quarter of a turn would be made in parts)
    for h, steps in ((0.01, 8000), (0.1, 5000)):
        solution = solve(build_plane(h, turns, steps))
        step = solution.steps[0]
        many = f"plane body, {turns} turns in {steps} steps"
        f.row(
            "B-FREE",
            f"angle [turns], {many}",
            solution.sensor("angle").values[-1, 0] / (2.0 * np.pi),
            turns,
            "The rule turns by 2 atan(w h/2) per step; only round-off is left.",
            PROPERTY,
            relative=1e-11,
        )
        f.zero(
            "B-FREE",
            f"change of the energy, {many}",
            energy_error(step, constant=True),
            1e-12,
            "The rule conserves it exactly; only round-off is left.",
        )
        f.zero(
            "B-FREE",
            f"change of the linear momentum, {many}",
            constancy(step, "linear momentum"),
            1e-12,
            "The rule conserves it exactly; only round-off is left.",
        )
        f.zero(
            "B-FREE",
            f"change of the angular momentum, {many}",
            constancy(step, "angular momentum"),
            1e-12,
            "The rule conserves it exactly; only round-off is left.",
        )
        arm = np.linalg.norm(solution.sensor("corner").values - solution.sensor("centre").values, axis=1)
        # positions far from the origin have lost digits themselves
        far = max(1.0, float(np.abs(solution.sensor("centre").values).max()))
        f.zero(
            "B-FREE",
            f"length of a body-fixed arm, {many}",
            np.abs(arm - 1.0).max(),
            1e-13 * far,
            "The rounding is 1e-13 of the distance from the origin.",
        )
