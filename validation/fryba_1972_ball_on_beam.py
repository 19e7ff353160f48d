"""A ball rolls without friction over a simply supported beam, whose inertia and that of the ball act on each other.

            o  ->  v
      ______________________
      ^                    ^      span L, the beam sags under the ball that moves over it

Source: L. Fryba, Vibration of Solids and Structures under Moving Loads, Noordhoff 1972, treats both, moving force and
moving mass.  References: the modal series of the moving force, closed form; and that of the moving mass,

    q_n'' + w_n^2 q_n = 2/(rho A L) sin(n pi v t/L) F,   F = m (g - d^2/dt^2 w(v t, t)),   w = sum_n q_n sin(n pi x/L),

independent computation of this file (scipy), in which w(v t, t) holds the terms of the speed, 2 v w'_t and v^2 w''.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT

CAPABILITY = "contact"
CASES = {"B-BALL-BEAM": "deflection of a beam under a ball that rolls over it: moving mass and moving force"}

SPAN, EI, MASS, SPEED, GRAVITY, RADIUS = 10.0, 4e4, 12.0, 12.0, 0.5, 0.05
#: (the weight is small so that deflections are: a fall of 3 mm changes the speed by 1e-5)
MODES, ELEMENTS = 30, 32


def frequencies() -> np.ndarray:
    """Return the circular frequencies (MODES,) of the beam [rad/s]."""
    return (np.arange(1, MODES + 1) * np.pi / SPAN) ** 2 * np.sqrt(EI / MASS)


def moving_force(weight: float, t: np.ndarray) -> np.ndarray:
    """Return the deflection (n,) [m] of the middle under a force that moves over the beam."""
    n = np.arange(1, MODES + 1)[:, None]
    own, forced = frequencies()[:, None], n * np.pi * SPEED / SPAN
    q = 2.0 * weight / (MASS * SPAN) * (np.sin(forced * t) - forced / own * np.sin(own * t)) / (own**2 - forced**2)
    return (np.sin(n * np.pi / 2.0) * q).sum(axis=0)


def moving_mass(mass: float, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the deflection (n,) [m] of the middle, and the force (n,) [N] between the mass and the beam."""
    n = np.arange(1, MODES + 1)
    k = n * np.pi / SPAN
    own = frequencies() ** 2

    def parts(time: float, x: np.ndarray) -> tuple[np.ndarray, float]:
        q, rate = x[:MODES], x[MODES:]
        s, c = np.sin(k * SPEED * time), np.cos(k * SPEED * time)
        convected = 2.0 * SPEED * (k * c) @ rate - SPEED**2 * (k**2 * s) @ q
        # q'' = -own q + 2/(MASS SPAN) s F, F = m (g - s.q'' - convected)
        force = mass * (GRAVITY + s @ (own * q) - convected) / (1.0 + 2.0 * mass / (MASS * SPAN) * s @ s)
        return -own * q + 2.0 / (MASS * SPAN) * s * force, force

    def rate(time: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate((x[MODES:], parts(time, x)[0]))

    # the reference has seven digits; the rows compare three
    out = solve_ivp(rate, (0.0, float(t[-1])), np.zeros(2 * MODES), t_eval=t, method="DOP853", rtol=1e-7, atol=1e-10)
    return np.sin(n * np.pi / 2.0) @ out.y[:MODES], np.array([parts(*pair)[1] for pair in zip(t, out.y.T, strict=True)])


def build(mass: float = 0.12, n: int = ELEMENTS, h: float = 1e-3) -> Model:
    """Return the ball at the left support, as it comes from rigid ground; n elements."""
    model = Model(3, "ball on a beam", gravity=(0.0, 0.0, 0.0))
    model.section("beam", "stiffness", EA=1e8, EI=EI, GA=np.inf, GJ=EI, rhoA=MASS, rhoI=0.0)
    model.line("span", (0.0, 0.0, 0.0), (SPAN, 0.0, 0.0), n, points={"middle": 0.5})
    model.beams("beam", "span", "beam")
    model.fix("span:start", ["x", "y", "z", "rotation x"])
    model.fix("span:end", ["y", "z"])
    stiffness = 1e8
    depth = mass * GRAVITY / stiffness
    model.body("ball", (0.0, 0.0, 2.0 * RADIUS - depth), mass=mass, inertia=np.full(3, 0.4 * mass * RADIUS**2))
    model.fix("ball", ["y"])
    model.initial("ball", velocity=(SPEED, 0.0, 0.0))
    model.force("weight", "ball", (0.0, 0.0, -mass * GRAVITY))
    model.contact(
        "touch", "beam", "ball", surface="beams", radius=RADIUS, ball=RADIUS, stiffness=stiffness, exponent=1.0,
        overlap=2.0 * depth,
    )  # fmt: skip
    model.sensor("middle", "displacement", on="span:middle")
    model.sensor("force", "contact", on="touch")
    model.transient_step(0.8, h, frames=0)
    return model


def reference(mass: float = 0.1 * MASS * SPAN, t: np.ndarray | None = None) -> dict:
    t = np.linspace(0.0, 0.8, 200) if t is None else t
    deflection, force = moving_mass(mass, t)
    return {"moving mass": deflection, "force": force, "moving force": moving_force(mass * GRAVITY, t)}


def check(f: Findings) -> None:
    curves = []
    for ratio in (0.001, 0.3):
        mass = ratio * MASS * SPAN
        step = solve(build(mass)).steps[0]
        known = reference(mass, step.time)
        found = -step.series["sensor/middle"][:, 2]
        largest = float(np.abs(known["moving mass"]).max())
        error = float(np.abs(found - known["moving mass"]).max()) / largest
        # a straight element is w'' L^2/(8 n^2) above the beam, with w'' = 12 w/L^2 under a force in the middle
        chord = 12.0 / (8.0 * ELEMENTS**2)
        tolerance, why = chord, "Straight elements are 12/(8 n^2) of the deflection off the beam."
        if ratio > 0.01:
            coarse = solve(build(mass, ELEMENTS // 2, 2e-3)).steps[0]
            tolerance = float(np.abs(found[::2] + coarse.series["sensor/middle"][:, 2]).max()) / largest
            why = (
                "A heavy ball bends its way, whose slope jumps at nodes, and excites the beam: an error of first order "
                "or higher is at most what elements and steps twice as long change."
            )
        f.zero("B-BALL-BEAM", f"deviation of the middle from the moving mass, m/M = {ratio:g}", error, tolerance, why,
               INDEPENDENT)  # fmt: skip
        f.zero(
            "B-BALL-BEAM",
            f"closing error of the energy, m/M = {ratio:g}",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
        if ratio == 0.001:
            error = float(np.abs(found - known["moving force"]).max()) / largest
            f.zero(
                "B-BALL-BEAM", "deviation from the moving force, m/M = 0.001", error, 2.0 * ratio + chord,
                "The inertia of the mass changes the closed form by 2 m/M, straight elements by 12/(8 n^2).",
                CLOSED_FORM,
            )  # fmt: skip
        scale = mass * GRAVITY * SPAN**3 / (48.0 * EI)
        curves += [
            Curve(step.time, found / scale, f"m/M = {ratio:g}"),
            Curve(step.time, known["moving mass"] / scale, "series", ":"),
        ]  # fmt: skip
    f.figure(
        "A ball rolls over a beam", curves, "Time [s]", "Deflection of the middle / static one [-]",
        "The heavier the ball, the later and the larger the deflection.",
    )  # fmt: skip
