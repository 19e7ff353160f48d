"""A blade that turns: its first frequency in the plane of rotation.

A flat steel blade stands out from a disc and turns with 50 rev/s; it bends in the plane in which it turns, where
centrifugal forces both stiffen and soften it.

      axis   |<- .15 ->|======================|   .328 m, 28 mm along the axis, 3 mm thick
                        clamp

Source: W. Carnegie, "Vibrations of rotating cantilever blading", J. Mech. Eng. Science 1 (1959), no. 3, p. 239.  The
number was read in the verification manual of ANSYS Mechanical APDL (problem VM54), which prints it after this paper.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import in_ansys_manual

CAPABILITY = "modes"
CASES = {"B-BLADE": "first frequency of a rotating blade in the plane of rotation"}
DEVIATIONS = ("Carnegie (1959): 52.75 Hz by Rayleigh's quotient; the beam has 51.70 Hz.",)

SPEED = 314.159265


def build(speed: float = SPEED, n: int = 16) -> Model:
    """Return the blade along x, which turns about z and bends along y."""
    model = Model(3, "blade")
    model.material("steel", E=217e9, nu=0.3, density=7850.0)
    model.section("flat", "rectangle", width=0.028, height=0.003)
    model.line("blade", (0.15, 0.0, 0.0), (0.478, 0.0, 0.0), n)
    model.beams("blade", "blade", "flat", "steel", orientation=(0.0, 1.0, 0.0))
    model.fix("blade:start")
    model.centrifugal("turn", speed, axis=(0.0, 0.0, 1.0))
    model.static_step()
    model.modes_step(count=1)
    return model


def reference() -> dict[str, str]:
    """Return the frequency [Hz]."""
    return {"first": "52.75"}


def frequency(speed: float) -> float:
    return solve(build(speed)).steps[-1].summary["frequencies_hz"][0]


def check(f: Findings) -> None:
    f.digits(
        "B-BLADE", "first frequency of a blade at 50 rev/s [Hz]", frequency(SPEED), reference()["first"],
        in_ansys_manual("Carnegie (1959)", "VM54"), error=0.025,
        why="Rayleigh's quotient of an assumed shape in the paper",
    )  # fmt: skip
    speeds = np.linspace(0.0, SPEED, 6)
    curves = [
        Curve(speeds, np.array([frequency(s) for s in speeds]), "fem-mbs"),
        published("Carnegie (1959)", SPEED, reference()["first"]),
    ]
    f.figure("First frequency", curves, "Speed [rad/s]", "[Hz]")
