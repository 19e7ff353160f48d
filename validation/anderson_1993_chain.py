"""Chains of rigid rods, open and closed, pinned in the plane and on spherical joints in space.

n rods of 1 m and 1 kg in a row.  The open chain is let go from the horizontal, one end held; the closed one hangs
between two points n/3 apart, as a V, which is no equilibrium.  In space gravity has a component across the plane of the
chain.

      o---o---o---o---o            A o           o B      A, B at the same height, (n - 1)/3 apart
      held                            \\         /
        |  g = 9.81 m/s2                \\     /            rods 1 m; in space J = 0.001 about their own axis
        v                                 \\ /

Source: K. S. Anderson, "Efficient modelling of general multibody dynamic systems with flexible components", NATO ASI,
Troia 1993, Vol. II, 179-196, section 3.2 (chain with fixed ends; its data are not given); U. Rein, ibid. 59-69, for the
open chain.  The data are of this project; the reference of the open chain of ten rods is an integration of its ten
angles, sum_j m_ij (phi_j'' cos(phi_i - phi_j) + phi_j'^2 sin(phi_i - phi_j)) = -g w_i cos phi_i, to 1e-12.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import INDEPENDENT

CAPABILITY = "mechanisms"
CASES = {"B-CHAIN": "constraints and energy of long chains of rods; 1e4 rods and 1e4 steps with --long"}

GRAVITY = 9.81
ACROSS = 3.0  # gravity across the plane of the chain, in space [m/s2]
SPIN_INERTIA = 1e-3  # about a rod's axis [kg m2]


def places(n: int, closed: bool) -> np.ndarray:
    """Return joints of the chain, (n + 1, 2) [m]."""
    s = np.arange(n + 1.0)
    if not closed:
        return np.column_stack((s, np.zeros(n + 1)))
    if n % 2:
        raise ValueError("A closed chain needs an even number of rods")
    cosine = (n - 1) / (3.0 * n)
    return np.column_stack((cosine * s, -np.sqrt(1.0 - cosine**2) * np.minimum(s, n - s)))


def build(
    n: int = 10, closed: bool = False, dimension: int = 2, steps: int = 1000, h: float = 0.01, **options
) -> Model:
    """Return the chain at rest."""
    space = dimension == 3
    name = f"{'closed' if closed else 'open'} chain of {n} rods"
    model = Model(dimension, name, gravity=(0.0, -GRAVITY, ACROSS)[:dimension])
    P = places(n, closed)
    for i in range(n):
        d = P[i + 1] - P[i]
        angle = float(np.arctan2(d[1], d[0]))
        middle = 0.5 * (P[i] + P[i + 1])
        if space:
            inertia = (SPIN_INERTIA, 1.0 / 12.0, 1.0 / 12.0)
            model.body(f"rod {i + 1}", (*middle, 0.0), 1.0, inertia, rotation=(0.0, 0.0, angle))
        else:
            model.body(f"rod {i + 1}", middle, 1.0, 1.0 / 12.0, angle=angle)
    for i in range(n + closed):
        a = "ground" if i == 0 else f"rod {i}"
        b = "ground" if i == n else f"rod {i + 1}"
        point = (*P[i], 0.0) if space else P[i]
        model.joint(f"joint {i}", "spherical" if space else "pin", a, b, point=point)
    tip = n // 2 if closed else n
    model.sensor("tip", "position", on=f"rod {tip}", point=(*P[tip], 0.0) if space else P[tip])
    model.transient_step(steps * h, h, **{"frames": 10, **options})
    return model


def reference(n: int = 10, t: float = 1.0) -> dict:
    """Return tip (2,) [m] of the open chain of n rods in the plane after t [s]."""
    i = np.arange(n)
    later = n - 1 - np.maximum(i[:, None], i[None, :])  # rods after both
    # both rods before the one that moves: m = 1; half of its own length; its own inertia
    mass = later + np.where(np.eye(n, dtype=bool), 1.0 / 3.0, 0.5)
    weight = n - 1 - i + 0.5

    def rates(_t, y):
        phi, w = y[:n], y[n:]
        turn = phi[:, None] - phi[None, :]
        force = -GRAVITY * weight * np.cos(phi) - (mass * np.sin(turn)) @ w**2
        return np.concatenate((w, np.linalg.solve(mass * np.cos(turn), force)))

    phi = solve_ivp(rates, (0.0, t), np.zeros(2 * n), "DOP853", rtol=1e-12, atol=1e-12).y[:n, -1]
    return {"tip": np.array([np.cos(phi).sum(), np.sin(phi).sum()])}


def gap(solution, n: int, closed: bool, dimension: int) -> float:
    """Return the largest distance of points that a joint holds together, in all frames, over the chain's length."""
    frames = solution.steps[0].frames
    P = np.column_stack((places(n, closed), np.zeros(n + 1)))
    x = 0.5 * (P[:-1] + P[1:]) + frames["displacement"]
    half = 0.5 * np.diff(P, axis=0)
    turned = np.stack([Rotation.from_rotvec(r).apply(half) for r in frames["rotation"]])
    starts, ends = x - turned, x + turned
    held = np.abs(starts[:, 0] - P[0]).max()
    if closed:
        held = max(held, np.abs(ends[:, -1] - P[-1]).max())
    return float(max(held, np.abs(ends[:, :-1] - starts[:, 1:]).max())) / n


def check(f: Findings) -> None:
    case = "B-CHAIN"
    tips = [solve(build(10, steps=round(1.0 / h), h=h, frames=0)).sensor("tip").values[-1] for h in (4e-3, 2e-3, 1e-3)]
    for axis, values, exact in zip("xy", np.transpose(tips), reference()["tip"], strict=True):
        f.converged(
            case, f"{axis} of the tip at 1 s [m], open chain of 10 in the plane, h -> 0", values, exact, INDEPENDENT
        )
    curves, runs = [], {}
    # rods, steps, h [s]: the end of an open chain whirls, ever faster with its length
    sizes = [(10, 1000, 0.01), (100, 300, 0.01), (1000, 100, 0.01)]
    if f.long:
        sizes = [(10, 10_000, 0.01), (100, 10_000, 0.002), (1000, 1000, 0.01), (10_000, 300, 0.01)]
    for n, steps, h in sizes:
        for closed in (False, True):
            for dimension in (2, 3):
                solution = solve(build(n, closed, dimension, steps, h))
                step = solution.steps[0]
                halved = step.summary["halved_steps"]
                what = f"{'closed' if closed else 'open'}, {'space' if dimension == 3 else 'plane'}, n = {n}"
                what += f", {steps} steps" + (f" ({halved} halved)" if halved else "")
                f.zero(case, f"opening of joints over the length, {what}", gap(solution, n, closed, dimension), 1e-12,
                       "Constraints are satisfied at the end of each step.")  # fmt: skip
                f.zero(case, f"change of the energy, {what}", energy_error(step, constant=True), CONSERVED,
                       "The rule conserves it exactly; only round-off is left.")  # fmt: skip
                if n == 10:
                    runs[what] = step
                    if dimension == 2:
                        curves.append(Curve(step.time, solution.sensor("tip").values[:, 1], what))
    f.figure("Height of the tip, or of the middle of the closed chain", curves, "Time [s]", "y [m]", "h = 10 ms.")
    f.energy_figure(runs)
