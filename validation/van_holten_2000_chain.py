"""Chains of rigid segments in joint coordinates and conjugate momenta: pendulums and a rotor blade.

Plane and spatial pendulums swing from rest.  The energy, which is all that the equations are made from, stays
constant; the motion is compared with Lagrange's equations and with the same chains in absolute coordinates.  A blade
of rigid segments on hinges with springs turns about a hub and flaps; with the number of segments its frequencies come
to those of a beam.

            ^ z  Omega
            |    k      k      k                    k = EI/l, at the root 2 EI/l
           (o)==o======o======o======               EI = rho A = L = 1, segments of l = L/K
             hub      hinges across the plane of flapping

Source: Th. van Holten, "On the use of Hamiltonian concepts in rotordynamics", European Rotorcraft Forum (year from
memory), eqs 1-36; the paper has no example with numbers.  The references are Lagrange's two equations of the double
pendulum, integrated by scipy (independent computation), the other formulation of the package (self), and for the
blade the flapping frequencies of A.D. Wright, C.E. Smith, R.W. Thresher, J.L.C. Wang, J. Appl. Mech. 49 (1982),
197-202, as G.S. Bir prints them (AIAA 2009-1035, table 3a, read in the tests of pyBmodes).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

from fem_mbs import Model, solve
from fem_mbs.validation.case import (
    CONSERVED,
    Curve,
    Findings,
    constancy,
    energy_error,
    extrapolated,
    limit_of,
    published,
)
from fem_mbs.validation.kinds import INDEPENDENT, SELF, printed

CAPABILITY = "mechanisms"
CASES = {"B-HAMILTON": "chains in Hamiltonian form: energy, absolute coordinates, flapping frequencies of a blade"}

GRAVITY = 9.81
STEPS = (0.01, 0.005, 0.0025, 0.00125)
SPEEDS, STEP = (0.0, 6.0), 0.002  # of the blade
SEGMENTS = (6, 12, 24)
WRIGHT = printed("Wright et al. (1982), as in Bir, AIAA 2009-1035, table 3a, read in the tests of pyBmodes")
STILL = 1e6  # inertia of the hub, which keeps the speed [kg m^2]


def build(n: int = 2, h: float = 0.01, duration: float = 1.0, rule: Any = "hamiltonian", dimension: int = 3) -> Model:
    """Return a pendulum of n rods of 1 m and 1 kg, level and at rest; in space the hinges are turned against each
    other."""
    down = np.array((0.0, -GRAVITY, 0.0))[:dimension]
    model = Model(dimension, f"pendulum of {n} rods", gravity=down)
    for i in range(n):
        start, centre = np.zeros(dimension), np.zeros(dimension)
        start[0], centre[0] = float(i), i + 0.5
        model.body(f"rod {i}", centre, 1.0, 1.0 / 12.0 if dimension == 2 else (0.002, 1.0 / 12.0, 1.0 / 12.0))
        axis: dict[str, Any] = {} if dimension == 2 else {"axis": (0.3 * np.cos(2.0 * i), 0.6 * np.sin(1.5 * i), 1.0)}
        model.joint(f"hinge {i}", "revolute", f"rod {i - 1}" if i else "ground", f"rod {i}", point=start, **axis)
    end = np.zeros(dimension)
    end[0] = float(n)
    model.sensor("tip", "position", on=f"rod {n - 1}", point=end)
    model.transient_step(duration, h, rule=rule, frames=0)
    return model


def blade(k: int, speed: float, h: float, duration: float) -> Model:
    """Return a blade of k segments on a heavy hub, started with a flapping speed that grows as the square of the
    radius."""
    model = Model(3, f"blade of {k} segments")
    model.body("hub", (0.0, 0.0, 0.0), 1.0, (STILL, STILL, STILL))
    model.joint("shaft", "revolute", "ground", "hub", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    length, before = 1.0 / k, "hub"
    for i in range(k):
        m, centre = length, (i + 0.5) * length
        model.body(f"s{i}", (centre, 0.0, 0.0), m, (0.0, m * length**2 / 12.0, m * length**2 / 12.0))
        model.joint(f"h{i}", "revolute", before, f"s{i}", point=(i * length, 0.0, 0.0), axis=(0.0, -1.0, 0.0))
        model.joint_spring(f"k{i}", f"h{i}", (2.0 if i == 0 else 1.0) / length)
        before = f"s{i}"
    model.initial("all", spin=(0.0, 0.0, speed), centre=(0.0, 0.0, 0.0))
    model.initial("all", velocity=("0", "0", "1e-5*x**2"), method="projection")
    model.sensor("tip", "position", on=before, point=(1.0, 0.0, 0.0))
    model.transient_step(duration, h, rule="hamiltonian", frames=0)
    return model


def reference() -> dict:
    """Return the first two flapping frequencies [rad/s] by speed [rad/s], Wright et al. 1982, as printed."""
    return {0.0: (3.516, 22.035), 6.0: (7.360, 26.809)}


def double_pendulum(duration: float) -> np.ndarray:
    """Return the tip of two rods, which start level, by Lagrange's equations."""

    def rates(_, y):
        a, b, u, v = y
        c, s = np.cos(a - b), np.sin(a - b)
        mass = np.array([[4.0 / 3.0, 0.5 * c], [0.5 * c, 1.0 / 3.0]])
        load = (-0.5 * s * v * v - 1.5 * GRAVITY * np.sin(a), 0.5 * s * u * u - 0.5 * GRAVITY * np.sin(b))
        return [u, v, *np.linalg.solve(mass, load)]

    start = [0.5 * np.pi, 0.5 * np.pi, 0.0, 0.0]
    y = solve_ivp(rates, (0.0, duration), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return np.array([np.sin(y[0]) + np.sin(y[1]), -np.cos(y[0]) - np.cos(y[1])])


def frequencies(t: np.ndarray, u: np.ndarray, near: tuple[float, float]) -> np.ndarray:
    """Return two frequencies of u (n,) [rad/s] near given ones, by fitting these and a third motion."""

    size = np.abs(u).max()

    def basis(w):
        return np.hstack([np.column_stack([np.cos(x * t), np.sin(x * t)]) for x in w])

    def rest(w):
        columns = np.linalg.qr(basis(w))[0]
        return (columns @ (columns.T @ u) - u) / size

    return np.sort(least_squares(rest, [*near, 2.8 * near[1]], x_scale=near[0], xtol=1e-12, ftol=1e-14).x)[:2]


def check(f: Findings) -> None:
    case = "B-HAMILTON"
    _pendulums(f, case)
    curves, flaps = [], []
    for speed in SPEEDS:
        known, found = reference()[speed], []
        for k in SEGMENTS:
            step = solve(blade(k, speed, STEP, 4.0)).steps[0]
            seen = frequencies(step.time, step.series["sensor/tip"][:, 2], known)
            # the mid-point rule shows w as 2/h arctan(w h/2)
            found.append(2.0 / STEP * np.tan(0.5 * STEP * seen))
            if speed:
                about = constancy(step, "angular momentum")
                f.zero(case, f"change of the momentum about the shaft, {k} segments, Omega = {speed:g}", about, 1e-9,
                       "The coordinate is cyclic, and its momentum small beside the hub's.")  # fmt: skip
        # errors of the segments fall with the square of their length
        limit, moved = limit_of(found)
        for i in range(2):
            f.row(
                case, f"flapping frequency {i + 1} [rad/s], Omega = {speed:g}, K -> inf", limit[i], known[i],
                "Half a unit of the last digit, and the change of the limit by the coarsest of three meshes.", WRIGHT,
                tolerance=5e-4 + moved[i],
            )  # fmt: skip
            orders = np.log2(np.abs(found[0][i] - found[1][i]) / np.abs(found[1][i] - found[2][i]))
            f.between(
                case,
                f"order in 1/K of frequency {i + 1}, Omega = {speed:g}",
                orders,
                1.8,
                2.2,
                "The rule is of second order.",
            )
        sizes = 1.0 / np.array(SEGMENTS)
        flaps += [Curve(sizes, np.array(found)[:, i], f"{i + 1}, {speed:g} rad/s", "o-") for i in range(2)]
        flaps.append(published("Wright et al. (1982)" if speed == SPEEDS[0] else "", np.zeros(2), known))
        curves += [
            Curve(
                np.array(SEGMENTS, float),
                np.abs(np.array(found)[:, i] / known[i] - 1.0),
                f"{i + 1}, {speed:g} rad/s",
                "o-",
            )
            for i in range(2)
        ]
    f.figure("Flapping frequencies", flaps, "1/segments [-]", "Frequency [rad/s]")
    f.figure("Blade of rigid segments", curves, "Segments [-]", "Error of a frequency [-]", "Flapping.", "loglog")


def _pendulums(f: Findings, case: str) -> None:
    """Add rows and figures of the pendulums."""
    tips = [solve(build(2, h, 1.0, dimension=2)).sensor("tip").values[-1] for h in STEPS]
    exact = double_pendulum(1.0)
    errors = [np.linalg.norm(tip - exact) for tip in tips]
    f.between(
        case,
        "order of two rods in the plane",
        np.log2(errors[-2] / errors[-1]),
        1.95,
        2.05,
        "The rule is of second order.",
    )
    left = float(np.linalg.norm(extrapolated(tips, 2.0) - exact))
    why = "Lagrange's equations by scipy; what is left of h^8"
    f.zero(case, "place of two rods in the plane after 1 s [m], h -> 0", left, 1e-8, why, INDEPENDENT)
    runs = {}
    for n, dimension in ((4, 2), (3, 3), (6, 3)):
        limits = []
        for rule in ("midpoint", "hamiltonian"):
            runs = {h: solve(build(n, h, 0.5, rule, dimension)) for h in STEPS}
            places = [run.sensor("tip").values[:: round(STEPS[0] / h)] for h, run in runs.items()]
            limits.append(extrapolated(places, 2.0))
        f.zero(case, f"distance from absolute coordinates [m], {n} rods, dimension {dimension}, h -> 0",
               np.abs(limits[0] - limits[1]).max(), 1e-8,
               "The other formulation of the package has the same error of h^2.", SELF)  # fmt: skip
    long = solve(build(6, 0.01, 50.0)).steps[0]
    f.zero(case, "change of the energy, 6 rods in space, 5000 steps", energy_error(long, constant=True), CONSERVED,
           "The rule conserves it exactly; only round-off is left.")  # fmt: skip
    tip = runs[STEPS[0]].sensor("tip").values
    time = runs[STEPS[0]].steps[0].time
    f.figure("Tip of six rods", [Curve(time, tip[:, i], c) for i, c in enumerate("xyz")], "Time [s]", "Place [m]", "")
    f.energy_figure({"6 rods, h = 10 ms": long})
