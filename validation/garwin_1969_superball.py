"""A ball that gives slip back: single bounces, and a bounce from a floor to the underside of a table and back.

      v -->  o                      ======= table
              \\      ^ v', w'           /\\
               \\    /               \\  /  \\
     ___________\\__/___         _____\\/____\\/___ floor

Source: R.L. Garwin, Kinematics of an ultraelastic rough ball, Am. J. Phys. 37 (1969), 88-92; R. Cross, Grip-slip
behavior of a bouncing ball, Am. J. Phys. 70 (2002), 1093-1102.  The slip v + w r of the point that touches becomes -e_t
times itself, and the moment of momentum about this point stays: with a = J/(m r^2) (2/5 of a sphere)

    v' = v - (1 + e_t) a/(1 + a) (v + w r),   w' r = w r - (1 + e_t)/(1 + a) (v + w r),

as far as friction suffices: (1 + e_t) a/(1 + a) |v + w r| <= mu (1 + e) v_n, else v' = v - mu (1 + e) v_n.  Three
bounces without loss, floor, table and floor, take the speed v of a ball without spin to -333/343 v: it comes back.  The
reference is this closed form; e, e_t, mu and spins beyond Garwin's ideal e = e_t = 1 are in the rows as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY

CAPABILITY = "contact"
CASES = {
    "B-SUPERBALL": "velocity and spin of a ball after bounces with tangential restitution, under a table and back",
}

RADIUS, MASS, FALL, ROOM = 0.05, 0.1, 1.0, 0.1
A = 0.4
#: e, e_t, mu, v, w r
BOUNCES = (
    (1.0, 1.0, 2.0, 1.0, 0.0), (0.8, 0.6, 1.0, 1.5, -0.4), (0.5, 0.0, 0.9, 1.0, 0.5), (0.9, 1.0, 0.1, 1.0, 0.0),
)  # fmt: skip


def build(bounce: tuple = BOUNCES[0], table: bool = False, law: str = "poisson") -> Model:
    """Return a sphere between a floor and a table, without gravity."""
    e, e_t, mu, v, spin = bounce
    model = Model(3, "superball")
    model.body("ball", (0.0, 0.0, RADIUS + 0.5 * ROOM), mass=MASS, inertia=np.full(3, A * MASS * RADIUS**2))
    # the point that touches the floor moves by v + w r, w about -y
    model.initial("ball", velocity=(v, 0.0, -FALL), spin=(0.0, -spin / RADIUS, 0.0))
    blow: dict[str, Any] = {"ball": RADIUS, "restitution": e, "tangential": e_t, "coefficient": mu, "law": law}
    model.impact("floor", "ground", "ball", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), **blow)
    if table:
        top = 2.0 * RADIUS + ROOM
        model.impact("table", "ground", "ball", point=(0.0, 0.0, top), axis=(0.0, 0.0, -1.0), **blow)
    model.sensor("place", "position", on="ball")
    model.sensor("speed", "velocity", on="ball")
    model.sensor("spin", "angular velocity", on="ball")
    model.transient_step(0.3 if table else 0.1, 1e-3, frames=0)
    return model


def bounced(e: float, e_t: float, mu: float, v: float, spin: float, side: float = 1.0) -> tuple[float, float]:
    """Return v' and w' r; ``side`` -1: at the table, which sees the spin the other way round."""
    slip = v + side * spin
    given = (1.0 + e_t) * A / (1.0 + A) * slip
    most = mu * (1.0 + e) * FALL
    given = float(np.clip(given, -most, most))
    return v - given, spin - side * given / A


def reference() -> dict:
    v, spin = 1.0, 0.0
    for side in (1.0, -1.0, 1.0):
        v, spin = bounced(1.0, 1.0, 10.0, v, spin, side)
    return {"bounces": [bounced(*bounce) for bounce in BOUNCES], "table": (v, spin), "fraction": -333.0 / 343.0}


def check(f: Findings) -> None:
    known = reference()
    for bounce, (v, spin) in zip(BOUNCES, known["bounces"], strict=True):
        words = "e = {}, e_t = {}, mu = {}, v = {}, w r = {}".format(*bounce)
        for law in ("poisson", "stronge", "newton"):
            step = solve(build(bounce, law=law)).steps[0]
            for what, found, value in (
                ("v'", step.series["sensor/speed"][-1, 0], v),
                ("w' r", -RADIUS * step.series["sensor/spin"][-1, 1], spin),
            ):
                f.row(
                    "B-SUPERBALL", f"{what}, {law}, {words}", float(found), value, "closed form; round-off",
                    CLOSED_FORM, tolerance=1e-13,
                )  # fmt: skip
    step = solve(build((1.0, 1.0, 2.0, 1.0, 0.0), table=True)).steps[0]
    speed, spins = step.series["sensor/speed"][:, 0], -RADIUS * step.series["sensor/spin"][:, 1]
    for what, found, value in (
        ("v after floor, table and floor, over v", speed[-1], known["fraction"]),
        ("w r after floor, table and floor, over v", spins[-1], known["table"][1]),
    ):
        f.row("B-SUPERBALL", what, float(found), value, "closed form; round-off", CLOSED_FORM, tolerance=1e-13)
    f.zero(
        "B-SUPERBALL", "loss of three bounces with e = e_t = 1 [J]", float(step.ledger("dissipated")[-1]), 1e-12,
        "Theory gives this value exactly; only round-off is left.", PROPERTY,
    )  # fmt: skip
    x, z = step.series["sensor/place"][:, [0, 2]].T
    f.figure(
        "A superball thrown under a table", [Curve(x, z, "centre of the ball")], "x [m]", "z [m]",
        "After floor, table and floor it comes back.",
    )  # fmt: skip
