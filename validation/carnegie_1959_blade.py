"""A blade that turns: its first frequency in the plane of rotation.

A flat steel blade stands out from a disc and turns with 50 rev/s; it bends in the plane in which it turns, where
centrifugal forces both stiffen and soften it.

      axis   |<- .15 ->|======================|   .328 m, 28 mm along the axis, 3 mm thick
                        clamp

Source: W. Carnegie, "Vibrations of rotating cantilever blading", J. Mech. Eng. Science 1 (1959), no. 3, p. 239.  The
number was read in the verification manual of ANSYS Mechanical APDL (problem VM54), which prints it after this paper.
Rows compare with Ritz's method by polynomials for the beam under its centrifugal force, which does not stretch.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import INDEPENDENT

CAPABILITY = "modes"
CASES = {"B-BLADE": "first frequency of a rotating blade in the plane of rotation"}
DEVIATIONS = ("Carnegie (1959): 52.75 Hz by Rayleigh's quotient of one shape; with ten shapes it falls to 51.70 Hz.",)

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


def frequency(speed: float, n: int = 16) -> float:
    return solve(build(speed, n)).steps[-1].summary["frequencies_hz"][0]


def ritz(speed: float, terms: int = 10) -> float:
    """Return the first frequency [Hz] in the plane of rotation by Ritz's method with the shapes x^2, x^3 ...

    The stiffness is that of bending and of the tension rho A w^2 (r_1^2 - r^2)/2, less that of the centrifugal force
    across.
    """
    x, weights = np.polynomial.legendre.leggauss(2 * terms + 4)
    length, root = 0.328, 0.15
    s, weights = 0.5 * length * (x + 1.0), 0.5 * length * weights
    k = np.arange(2, terms + 2)[:, None]
    w, w1, w2 = (
        (s / length) ** k,
        k / length * (s / length) ** (k - 1),
        k * (k - 1) / length**2 * (s / length) ** (k - 2),
    )
    line, stiffness = 7850.0 * 0.028 * 0.003, 217e9 * 0.028 * 0.003**3 / 12.0
    tension = 0.5 * line * speed**2 * ((root + length) ** 2 - (root + s) ** 2)
    M = line * (w * weights) @ w.T
    K = stiffness * (w2 * weights) @ w2.T + (w1 * weights * tension) @ w1.T - speed**2 * M
    return float(np.sqrt(eigh(K, M, eigvals_only=True)[0])) / (2.0 * np.pi)


def check(f: Findings) -> None:
    exact = ritz(SPEED)
    stretch = 7850.0 * SPEED**2 * 0.478**2 / (2.0 * 217e9)
    f.converged(
        "B-BLADE", "first frequency of a blade at 50 rev/s [Hz]", [frequency(SPEED, n) for n in (4, 8, 16)], exact,
        INDEPENDENT, error=4.0 * stretch,
        why="the reference does not stretch: twice the change of a frequency that goes with length^-2",
    )  # fmt: skip
    speeds = np.linspace(0.0, SPEED, 6)
    curves = [
        Curve(speeds, np.array([frequency(s) for s in speeds]), "fem-mbs"),
        published("Carnegie (1959)", SPEED, reference()["first"]),
        Curve(np.array([SPEED]), np.array([exact]), "Ritz, ten shapes", "o"),
    ]
    f.figure("First frequency", curves, "Speed [rad/s]", "[Hz]")
