"""A whirling bar: stretched by its own rotation, and steady for a hundred turns.

A straight elastic bar turns about one of its ends, across its length.  In the rotating frame its stretch follows
EA u'' = -rho A w^2 (x + u), so that the end moves outwards by tan(k L)/k - L with k = w sqrt(rho/E).  A static step
with the centrifugal load finds it; the transient after it starts from there with the velocities of the rotation, and
nothing but the rotation may be seen for a hundred turns, whether the end is driven or free to turn.

        w
       (o)===============================>  u(L) = tan(k L)/k - L
        |<-------------- L -------------->|       k L = 0.5: the bar is longer by 9 %

A second rotor in space has a blade that stands askew on a sprung flapping hinge and droops under its weight.

Source: the problem is that of P.G. Bhuta, J.P. Jones, "On axial vibrations of a whirling bar", J. Acoust. Soc. Am. 35
(1963), 217-221; the paper was not at hand, the reference is the solution of the equation above with u(0) = 0 and
u'(L) = 0, worked out here.  That the mid-point rule has exact steady rotations, with w' = 2 tan(w h/2)/h in place of w,
is shown in docs/theory.md, section 3.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY

CAPABILITY = "rotors"
CASES = {"B-TRIM": "rotors start in their steady state and stay there"}

LENGTH, SPEED, KL = 1.0, 10.0, 0.5
STEP = 2.0 * np.pi / SPEED / 60  # 60 steps per turn


def build(n: int = 8, turns: int = 100, driven: bool = True) -> Model:
    """Return the whirling bar, n elements; EA follows from k L."""
    model = Model(2, "whirling bar")
    stiffness = (SPEED * LENGTH / KL) ** 2
    model.section("bar", "stiffness", EA=stiffness, EI=1.0, rhoA=1.0)
    model.line("bar", (0.0, 0.0), (LENGTH, 0.0), n)
    model.beams("bar", "bar", "bar")
    model.fix("bar:start", ["x", "y"])
    if driven:
        model.motion("shaft", "bar:start", "rotation", f"{SPEED}*t")
    model.centrifugal("whirl", SPEED, spin=True)
    model.sensor("radius", "distance", a="bar:start", b="bar:end")
    model.static_step(increments=4)
    model.transient_step(60 * turns * STEP, STEP, frames=0)
    return model


def rotor(turns: int = 100, driven: bool = True) -> Model:
    """Return a blade in space on a hub with a flapping hinge."""
    model = Model(3, "rotor", gravity=(0.0, 0.0, -9.81))
    model.material("alloy", E=7e10, nu=0.3, density=2700.0)
    model.section("blade", "rectangle", height=0.01, width=0.02)
    model.body("hub", mass=1.0, inertia=(0.01, 0.01, 0.02), position=(0.0, 0.0, 0.0))
    model.line("blade", (0.1, 0.0, 0.0), (1.1, 0.1, 0.1), 5)
    model.beams("blade", "blade", "blade", "alloy")
    model.joint("flap", "revolute", "hub", "blade:start", axis=(0.0, 1.0, 0.0))
    model.joint_spring("root", "flap", 200.0)
    z = (0.0, 0.0, 1.0)
    law = f"{SPEED}*t" if driven else None
    model.joint("bearing", "revolute", "ground", "hub", point=(0.0, 0.0, 0.0), axis=z, function=law)
    model.centrifugal("turning", SPEED, axis=z, spin=True)
    model.sensor("radius", "distance", a="blade:end", b="hub")
    model.sensor("tip", "position", on="blade:end")
    model.static_step(increments=4)
    model.transient_step(60 * turns * STEP, STEP, frames=0)
    return model


def reference() -> dict:
    speed = 2.0 / STEP * np.tan(0.5 * SPEED * STEP)
    k = KL / LENGTH * speed / SPEED
    return {"speed": speed, "radius": np.tan(k * LENGTH) / k}


def check(f: Findings) -> None:
    known = reference()
    radii = [solve(build(n, 1)).steps[0].series["sensor/radius"][-1, 0] for n in (4, 8, 16)]
    errors = np.array(radii) - known["radius"]
    f.converged("B-TRIM", "radius of the bar's end [m]", radii, known["radius"], CLOSED_FORM)
    order = np.log2(errors[1] / errors[2])
    f.row(
        "B-TRIM",
        "order of the radius, 8 to 16 elements",
        order,
        2.0,
        "The two meshes show the order within .1.",
        PROPERTY,
        tolerance=0.1,
    )
    curves = []
    for driven in (True, False):
        how = "driven" if driven else "free"
        solution = solve(build(driven=driven))
        step, radius = solution.steps[1], solution.steps[-1].series["sensor/radius"][:, 0]
        off = np.abs(radius / radius[0] - 1.0)
        f.zero(
            "B-TRIM",
            f"{how} bar, 100 turns: change of the radius/radius",
            off.max(),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
        f.zero(
            "B-TRIM",
            f"{how} bar: closing error of the energy",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
        curves.append(Curve(step.time, np.maximum(off, 1e-17), f"bar, {how}"))
        solution = solve(rotor(driven=driven))
        tip, radius = solution.steps[-1].series["sensor/tip"][:, 2], solution.steps[-1].series["sensor/radius"][:, 0]
        off = np.maximum(np.abs(radius / radius[0] - 1.0), np.abs(tip - tip[0]))
        f.zero(
            "B-TRIM", f"{how} rotor in space, 100 turns: change of radius and height of the tip [m]", off.max(),
            CONSERVED, "Theory gives this value exactly; only round-off is left.",
        )  # fmt: skip
        curves.append(Curve(solution.steps[1].time, np.maximum(off, 1e-17), f"rotor in space, {how}"))
    f.row(
        "B-TRIM", "speed of the steps [rad/s]", step.summary["start"]["spin"]["speed_of_the_steps"], known["speed"],
        "The rule turns by 2 tan(w h/2)/h, of which the package has the formula too.", CLOSED_FORM, relative=1e-14,
    )  # fmt: skip
    f.figure("Change of the radius", curves, "Time [s]", "Relative change", "60 steps per turn.", "log")
