"""A slender, flexible ring falls on a floor with friction.

A ring of aluminium, a strip of 200 mm x 9 mm, turns about its axis and falls freely on a floor.  It flattens, slides,
takes up a speed along the floor and jumps off again, vibrating.

          .-""-.
        /        \\    <- turns, 1 rad/s         R = 2.3917, A = .0018, I = 1.2151e-8, E = 7e10, rho = 2690
       |          |                             mu = .6, 96 beams, balls of 4.5 mm at their nodes
        \\        /   |
    ______`-..-'_____v_g_______

Source: data of E.V. Zahariev, "Generalized Newton-Euler dynamic equations", which shows pictures of the motion
and prints no numbers of it; the height of the fall stands in a figure only and is .5 m here.  References:
free fall; Coulomb's law, C.A. Coulomb, "Theorie des machines simples", Mem. Math. Phys. Acad. Sci. 10 (1785), 161-332:
as long as all that touches slides one way, the momenta obey -p_x = mu (p_y + m g t),
and at any time |p_x| is not larger.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "contact"
CASES = {"B-RING": "energy, free fall and Coulomb's law of a flexible ring that falls on a floor"}

RADIUS, MODULUS, AREA, INERTIA, DENSITY, MU = 2.3917, 7e10, 0.0018, 1.2151e-8, 2690.0, 0.6
HALF, HEIGHT, SPIN, GRAVITY = 0.0045, 0.5, 1.0, 9.81
#: All that touches slides one way from the first touch to this time [s].
SLIDES = 0.4


def build(n: int = 48, h: float = 0.0002, duration: float = 0.8, frames: int = 0) -> Model:
    """Return the ring of n beams over the floor y = 0."""
    model = Model(2, "falling ring", gravity=(0.0, -GRAVITY))
    model.section(
        "strip", "stiffness", EA=MODULUS * AREA, EI=MODULUS * INERTIA, GA=MODULUS * AREA / 2.6 * 5.0 / 6.0,
        rhoA=DENSITY * AREA, rhoI=DENSITY * INERTIA,
    )  # fmt: skip
    middle = RADIUS + HALF + HEIGHT
    model.arc("ring", (0.0, middle), RADIUS, (-90.0, 270.0), n)
    model.beams("ring", "ring", "strip")
    model.initial("ring:all", velocity=(f"-{SPIN}*(y - {middle})", f"{SPIN}*x"), spin=SPIN)
    model.contact(
        "floor", "ground", "ring:all", ball=HALF, point=(0.0, 0.0), axis=(0.0, 1.0), stiffness=1e7, coefficient=MU,
        smoothing=1e-2,
    )  # fmt: skip
    model.transient_step(duration, h, frames=frames)
    return model


def mass(n: int) -> float:
    """Return the mass [kg] of n chords."""
    return DENSITY * AREA * 2.0 * n * RADIUS * float(np.sin(np.pi / n))


def reference(n: int = 48) -> dict:
    """Return the time [s] at which the lowest of the n balls, which fall and turn freely, gets to the floor."""
    pitch = 2.0 * np.pi / n

    def height(t: float) -> float:
        off = (SPIN * t + 0.5 * pitch) % pitch - 0.5 * pitch
        return float(HEIGHT - 0.5 * GRAVITY * t * t + RADIUS * (1.0 - np.cos(off)))

    fall = float(np.sqrt(2.0 * HEIGHT / GRAVITY))
    return {"touch": float(brentq(height, fall - 1e-6, 1.1 * fall))}


def check(f: Findings) -> None:
    curves = []
    for n in (48, 96):
        known = reference(n)
        step = solve(build(n, 2e-4)).steps[0]
        t, p = step.time, step.series["linear momentum"]
        pressed = p[:, 1] - p[0, 1] + mass(n) * GRAVITY * t  # impulse of the normal forces
        lost = np.asarray(step.ledger("dissipated"))
        touch = float(t[np.flatnonzero(pressed > 1e-6 * mass(n))[0]])
        slid = (t > known["touch"] + 0.02) & (t < SLIDES)
        error = float(np.abs(-p[slid, 0] / pressed[slid] - MU).max()) / MU
        f.zero(
            "B-RING",
            f"deviation of p_x/(p_y + m g t) from mu, {n} beams",
            error,
            1e-10,
            "Coulomb's law holds as long as all that touches slides one way.",
        )
        curves.append(Curve(t, -p[:, 0], f"{n} beams"))
        f.row(
            "B-RING", f"time of the first touch, {n} beams [s]", touch, known["touch"],
            "A time step, and one more for the springs to press.", CLOSED_FORM, tolerance=2.0 * 2e-4,
        )  # fmt: skip
        f.zero(
            "B-RING",
            f"closing error of the energy, {n} beams",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
        f.zero(
            "B-RING", f"largest loss of friction taken back, {n} beams [J]", float(-np.diff(lost).min()), 1e-12,
            "Friction never gives energy back.",
        )  # fmt: skip
        least = float((MU * pressed - np.abs(p[:, 0])).min())
        f.zero(
            "B-RING",
            f"momentum beyond the cone of friction, {n} beams [N s]",
            max(-least, 0.0),
            1e-9,
            "Coulomb's law bounds the momentum at any time.",
        )
        falls = t < known["touch"] - 5e-3
        spin = step.series["angular momentum"][falls].reshape(int(falls.sum()), -1)[:, -1]
        change = float(np.abs(spin - spin[0]).max() / abs(spin[0]))
        f.zero(
            "B-RING",
            f"change of the angular momentum in free fall, {n} beams",
            change,
            CONSERVED,
            "No moment acts in free fall.",
        )
    f.figure(
        "A ring falls on a floor", curves, "Time [s]", "Momentum along the floor [N s]",
        "It slides from the first touch at .319 s to .4 s, then parts of it stick, and it jumps off.",
    )  # fmt: skip
