"""Two universal joints in a row drive a slider-crank.

                            output ====o=====| arm, .5 up, and rod, 1.5 to a slide along z
                      middle  ./   joint 2
      input ===========o   ./              The middle shaft stands at 45 degrees to both others, which are parallel.
        turns         joint 1              Its cross axes lie in one plane: output and input turn by the same angle.

With the angle a of the input and the bend b = 45 degrees, the middle shaft turns by

    tan c = tan a cos b     (the cross axis of the input stands upright to the plane of the shafts at the start)

and the slide moves by  .5 sin a + sqrt(1.5^2 - .25 cos^2 a) - sqrt(2).  A force on it is held by a moment on the input
that follows from virtual work.

Source: J.E. Shigley, J.J. Uicker, "Theory of machines and mechanisms", 2nd ed., McGraw-Hill 1995, p. 115.  The
displacements of the slide were read in the verification manual of ANSYS Mechanical APDL (problem VM239), which prints
them after this page.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, in_ansys_manual

CAPABILITY = "mechanisms"
CASES = {"B-CARDAN": "two universal joints: angles, travel of a slide, moment that holds a force on it"}

BEND, ARM, ROD, FORCE = np.pi / 4.0, 0.5, 1.5, 10.0
INCREMENTS = 32


def build() -> Model:
    """Return the shafts as rigid bodies, the input turned once within 1 s."""
    model = Model(3, "two universal joints")
    c, s = np.cos(BEND), np.sin(BEND)
    points = [np.zeros(3), np.array([1.0, 0.0, 0.0]), np.array([1.0 + c, s, 0.0]), np.array([2.0 + c, s, 0.0])]
    for name, a, b in zip(("input", "middle", "output"), points, points[1:], strict=False):
        model.body(name, 0.5 * (a + b), 1.0, [1.0, 1.0, 1.0])
    across = (-s, c, 0.0)  # the cross axes of the middle shaft
    tip = points[3] + (0.0, ARM, 0.0)
    model.node("slide", (tip[0], s, np.sqrt(ROD**2 - ARM**2)))
    model.joint("drive", "revolute", "ground", "input", point=points[0], axis=(1.0, 0.0, 0.0), function="2*pi*t")
    model.joint("joint 1", "universal", "input", "middle", point=points[1], axis=(0.0, 0.0, 1.0), axis_b=across)
    model.joint("joint 2", "universal", "output", "middle", point=points[2], axis=(0.0, 0.0, 1.0), axis_b=across)
    model.joint("bearing", "cylindrical", "ground", "output", point=points[3], axis=(1.0, 0.0, 0.0))
    model.joint("rod", "distance", "output", "slide", point=tip)
    model.fix("slide", ["x", "y"])
    model.force("load", "slide", (0.0, 0.0, -FORCE))
    model.sensor("middle", "position", on="middle", point=0.5 * (points[1] + points[2]) + (0.0, 0.0, 1.0))
    model.sensor("output", "position", on="output", point=tip)
    model.sensor("slide", "displacement", on="slide")
    model.sensor("drive", "reaction", on="drive")
    model.static_step(increments=INCREMENTS, duration=1.0)
    return model


def reference() -> dict[str, str]:
    """Return displacements of the slide by the angle of the input over pi, as printed."""
    return {"1/4": "0.39708", "1/2": "0.58579", "3/4": "0.39708"}


def check(f: Findings) -> None:
    case, known = "B-CARDAN", reference()
    where = in_ansys_manual("Shigley and Uicker (1995), p. 115", "VM239")
    series = solve(build()).steps[-1].series
    slide = series["sensor/slide"][:, 2]
    for (name, text), row in zip(known.items(), (4, 8, 12), strict=True):
        f.digits(case, f"displacement of the slide at {name} pi", slide[row], text, where)
    angle = 2.0 * np.pi * np.linspace(0.0, 1.0, INCREMENTS + 1)
    sine, cosine = np.sin(angle), np.cos(angle)
    root = np.sqrt(ROD**2 - (ARM * cosine) ** 2)
    off = 1e-11
    reason = "The linkage closes in closed form; only round-off is left."
    f.zero(case, "largest error of the slide over the turn", np.abs(slide - (ARM * sine + root - root[0])).max(), off,
           reason, CLOSED_FORM)  # fmt: skip
    s = np.sin(BEND)
    output = series["sensor/output"][:, 1:] - (s, 0.0)
    turned = np.unwrap(np.arctan2(output[:, 1], output[:, 0]))
    f.zero(
        case, "largest error of the angle of the output [rad]", np.abs(turned - angle).max(), off, reason, CLOSED_FORM
    )
    middle = series["sensor/middle"] - 0.5 * np.array([2.0 + np.cos(BEND), s, 0.0])
    found = np.unwrap(np.arctan2(-middle @ (-s, np.cos(BEND), 0.0), middle[:, 2]))
    exact = np.unwrap(np.arctan2(sine * np.cos(BEND), cosine))
    f.zero(case, "largest error of the angle of the middle shaft [rad]", np.abs(found - exact).max(), off, reason,
           CLOSED_FORM)  # fmt: skip
    held = FORCE * (ARM * cosine + ARM**2 * sine * cosine / root)
    moment = series["sensor/drive"][1:, 3]
    f.zero(
        case, "largest error of the moment on the input over force times arm",
        np.abs(np.abs(moment) - np.abs(held[1:])).max() / (FORCE * ARM), 1e-9,
        "Virtual work in closed form; only Newton's tolerance is left.", CLOSED_FORM,
    )  # fmt: skip
    degrees = np.rad2deg(angle)
    f.figure(
        "Travel of the slide",
        [Curve(degrees, slide, "fem-mbs"), published("Shigley and Uicker (1995)", (45, 90, 135), list(known.values()))],
        "Angle of the input [deg]", "Displacement",
    )  # fmt: skip
    f.figure(
        "Middle shaft ahead of the input",
        [Curve(degrees, np.rad2deg(found - angle), "fem-mbs"), Curve(degrees, np.rad2deg(exact - angle), "tan c", ":")],
        "Angle of the input [deg]", "Difference of angles [deg]",
    )  # fmt: skip
