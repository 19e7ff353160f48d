r"""A beam that is lifted against another one across it.

              post, 10 long, clamped at both ends, at z = 1
                     /                                     tubes of radii .06 and .12793, E = 1e8, nu = 0
       ____________ / _____________________| clamp,        as ball and tube both have the radius .2
       free end    / x = 4            x = 14  is moved by .18 along x and 1.8 up
                  /

The tubes touch when the clamp has gone up by .6.  The stiffness of the contact is 1e4.  Friction of .1 drags the beam
in the source; it slides all the time, so that the friction force is a tenth of the normal force.

Source: G. Zavarise, P. Wriggers, "Contact with friction between beams in 3-D space", Int. J. Num. Meth. Engng. 49
(2000) 977-1006, doi:10.1002/1097-0207(20001120)49:8<977::AID-NME986>3.0.CO;2-C.  The normal forces were read in the
verification manual of ANSYS Mechanical APDL (problem VM266), which prints them after this paper.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, in_ansys_manual

CAPABILITY = "contact"
CASES = {"B-LIFTED-BEAM": "normal force between a beam that is lifted and one across it"}

INCREMENTS = 12


def build(parts: tuple[int, int] = (14, 10)) -> Model:
    """Return the beams, of so many elements, without friction: statics has none."""
    model = Model(3, "crossing beams")
    model.material("m", E=1e8, nu=0.0, density=1.0)
    model.section("tube", "tube", outer_diameter=2.0 * 0.12793, inner_diameter=0.12)
    for name, (a, b), n in (("lifted", ((0.0, 0.0, 0.0), (14.0, 0.0, 0.0)), parts[0]),
                            ("post", ((4.0, -5.0, 1.0), (4.0, 5.0, 1.0)), parts[1])):  # fmt: skip
        model.line(f"{name} line", a, b, n)
        model.beams(name, f"{name} line", "tube", "m")
    model.fix("post line:start")
    model.fix("post line:end")
    model.fix("lifted line:end", ["y", "rotation x", "rotation y", "rotation z"])
    model.motion("along", "lifted line:end", "x", "0.18*t")
    model.motion("up", "lifted line:end", "z", "1.8*t")
    model.contact("cross", "lifted", "post", surface="beams", radius=0.2, along=True, ball=0.2, stiffness=1e4,
                  exponent=1.0)  # fmt: skip
    model.sensor("N", "contact", on="cross")
    model.static_step(increments=INCREMENTS, duration=1.0)
    return model


def reference() -> dict[str, str]:
    """Return the normal forces by the displacement of the clamp upwards, as printed."""
    return {"0.9": "17.0", "1.2": "33.8", "1.5": "50.4", "1.8": "67.0"}


def check(f: Findings) -> None:
    known = reference()
    force = solve(build()).sensor("N").values.ravel()
    up = 1.8 * np.linspace(0.0, 1.0, INCREMENTS + 1)
    for height, text in known.items():
        row = int(np.argmin(np.abs(up - float(height))))
        f.digits(
            "B-LIFTED-BEAM", f"normal force with the clamp {height} up", force[row], text,
            in_ansys_manual("Zavarise and Wriggers (2000)", "VM266"), error=0.02,
            why="statics is without the friction, a tenth of this force, and the mesh of the source is not known",
        )  # fmt: skip
    first = int(np.flatnonzero(np.nan_to_num(force) > 0.0)[0])
    touching = up[first] - force[first] * (up[first + 1] - up[first]) / (force[first + 1] - force[first])
    f.row("B-LIFTED-BEAM", "height of the clamp as the tubes touch", touching, 0.6,
          "The gap is 1 less two radii; the line through the first two forces bends by a hundredth.", CLOSED_FORM,
          tolerance=0.005)  # fmt: skip
    f.figure(
        "Normal force between two beams",
        [Curve(up, np.nan_to_num(force), "fem-mbs"),
         published("Zavarise and Wriggers (2000)", list(known), list(known.values()))],
        "Height of the clamp", "Force",
    )  # fmt: skip
