"""Toggle press: a lever straightens two links, which press a spring.

      (3.2, 3.2) o  <- force          lever    4 in from its pivot at (0, .8) to its end, at 36.87 deg
              ./                      hanger   .8 in down from its middle
            o                         links    two of 2 in: from the ground at (0, 0), to the slide on y = 0
          ./ |hanger                  spring   166.6667 lb/in, from the slide to the ground
    pivot o  o
          ./   '-.__                  The lever turns until it is level.  The links are then straight,
    (0, 0) o        o--/\\/\\/--|       and the slide is at 4 in.

Source: G.H. Martin, "Kinematics and dynamics of machines", 2nd ed., McGraw-Hill 1982, p. 56, fig. 3-22.  The numbers
were read in the verification manual of ANSYS Mechanical APDL (problem VM195), which prints them after this figure.
Between the ends the loop closes in closed form, and the force at the end of the lever that holds the spring follows
from virtual work.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, in_ansys_manual

CAPABILITY = "mechanisms"
CASES = {"B-PRESS": "travel and force of a toggle press, the moment that holds it on the way"}

K, LEVER, HANGER, LINK, PIVOT = 166.6667, 4.0, 0.8, 2.0, 0.8
ANGLE = np.arctan2(2.4, 3.2)
INCREMENTS = 16


def build() -> Model:
    """Return the press with rigid links [lb, in], the lever turned down within 1 s."""
    model = Model(2, "toggle press")
    places = {"lever": ((0.0, PIVOT), (3.2, 3.2)), "hanger": ((1.6, 2.0), (1.6, 1.2)), "back": ((0.0, 0.0), (1.6, 1.2)),
              "front": ((1.6, 1.2), (3.2, 0.0))}  # fmt: skip
    for name, (a, b) in places.items():
        model.body(name, 0.5 * (np.array(a) + b), 1.0, 1.0)
    model.node("slide", (3.2, 0.0))
    model.joint("pivot", "revolute", "ground", "lever", point=(0.0, PIVOT), function=f"-{float(ANGLE)!r}*t")
    model.joint("knee 1", "pin", "lever", "hanger", point=(1.6, 2.0))
    model.joint("foot", "pin", "ground", "back", point=(0.0, 0.0))
    model.joint("knee 2", "pin", "hanger", "back", point=(1.6, 1.2))
    model.joint("knee 3", "pin", "back", "front", point=(1.6, 1.2))
    model.joint("end", "pin", "front", "slide", point=(3.2, 0.0))
    model.fix("slide", ["y"])
    model.spring("spring", "ground", "slide", K, point_a=(5.0, 0.0))
    model.sensor("lever end", "position", on="lever", point=(3.2, 3.2))
    model.sensor("slide", "displacement", on="slide")
    model.sensor("force", "element", on="spring", quantity="force")
    model.sensor("pivot", "reaction", on="pivot")
    model.static_step(increments=INCREMENTS, duration=1.0)
    return model


def reference() -> dict[str, str]:
    """Return force of the spring [lb], displacements [in] of the end of the lever down and of the slide."""
    return {"force": "-133.33", "end of the lever": "-2.4", "slide": ".8"}


def travel(angle: np.ndarray) -> np.ndarray:
    """Return the place of the slide [in] by angles of the lever (n,): two circles meet in the knee, a third one ends
    on y = 0."""
    upper = np.stack([0.5 * LEVER * np.cos(angle), PIVOT + 0.5 * LEVER * np.sin(angle)], axis=1)
    d = np.linalg.norm(upper, axis=1)
    along = (d**2 + LINK**2 - HANGER**2) / (2.0 * d)
    across = np.sqrt(LINK**2 - along**2)
    unit = upper / d[:, None]
    knee = along[:, None] * unit + across[:, None] * np.stack([unit[:, 1], -unit[:, 0]], axis=1)
    return knee[:, 0] + np.sqrt(LINK**2 - knee[:, 1] ** 2)


def check(f: Findings) -> None:
    case, known = "B-PRESS", reference()
    where = in_ansys_manual("Martin (1982), p. 56, fig. 3-22", "VM195")
    series = solve(build()).steps[-1].series
    slide, force = series["sensor/slide"][:, 0], series["sensor/force"][:, 0]
    end = series["sensor/lever end"][:, 1] - 3.2
    for name, value in (("force", force[-1]), ("end of the lever", end[-1]), ("slide", slide[-1])):
        f.digits(case, f"{name} when the links are straight [lb, in]", value, known[name], where)
    angle = ANGLE * (1.0 - np.linspace(0.0, 1.0, INCREMENTS + 1))
    exact = travel(angle) - 3.2
    f.zero(
        case, "largest error of the travel on the way [in]", np.abs(slide - exact).max(), 1e-12,
        "The loop closes in closed form; only round-off is left.", CLOSED_FORM,
    )  # fmt: skip
    e = 1e-4
    rows = slice(1, -1)  # nothing acts at first, and the links are straight at last
    gain = -(travel(angle + e) - travel(angle - e))[rows] / (2.0 * e)
    moment = np.abs(series["sensor/pivot"][rows, -1])
    held = K * exact[rows] * gain
    f.zero(
        case, "largest error of the moment on the lever, over its largest value",
        np.abs(moment - held).max() / held.max(), 1e-7,
        "Virtual work of the spring; its slope is a central difference over 2e-4.", CLOSED_FORM,
    )  # fmt: skip
    f.figure(
        "Travel of a toggle press",
        [Curve(np.rad2deg(angle), slide, "fem-mbs"), Curve(np.rad2deg(angle), exact, "closed form", ":"),
         published("Martin (1982)", "0", known["slide"])],
        "Angle of the lever [deg]", "Travel of the slide [in]",
    )  # fmt: skip
    f.figure(
        "Moment on the lever",
        [Curve(np.rad2deg(angle[rows]), moment, "fem-mbs"), Curve(np.rad2deg(angle[rows]), held, "virtual work", ":")],
        "Angle of the lever [deg]", "Moment [lb in]",
    )  # fmt: skip
