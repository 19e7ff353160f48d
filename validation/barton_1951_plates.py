"""Square plates, clamped at one side and free: their lowest frequencies.

      |/______         _______
      |/      |       |       |       omega = lambda^2/a^2 sqrt(E h^2/(12 rho (1 - nu^2))),  nu = .3,  h/a = 1/100
      |/______|       |_______|

Source: M.V. Barton, "Vibration of rectangular and skew cantilever plates", J. Appl. Mech. 18 (1951), 129-134, as sheet
SDLS01/89 of the guide VPCS; the factors were read in the validation manual of Code_Aster (V2.03.001), which prints them
after this paper.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import printed
from fem_mbs.validation.shell_grids import shell, square

CAPABILITY = "modes"
CASES = {"S-BARTON": "factors of the frequencies of square plates, clamped at one side and free"}
DEVIATIONS = (
    "Barton (1951): the second factor of the free plate, 19.79, is a bound from above; it is 19.60 without shear.",
)

E, NU, DENSITY, SIDE, THICKNESS = 2.1e11, 0.3, 7800.0, 1.0, 0.01


def build(plate: str = "clamped", n: int = 8) -> Model:
    """Return a plate with the modes across its plane."""
    mesh = square(lambda a, b: (SIDE * a, SIDE * b, 0.0 * a), n, n, "quad8")
    model = shell(mesh, E, NU, THICKNESS, DENSITY)
    model.fix("s", ["x", "y", "rotation z"])
    if plate == "clamped":
        model.fix("s:left")
    model.modes_step(count=len(reference()[plate]) + (3 if plate == "free" else 0))
    return model


def reference() -> dict[str, tuple[str, ...]]:
    """Return lambda^2."""
    return {
        "clamped": ("3.492", "8.525", "21.43", "27.33", "31.11", "54.44"),
        "free": ("13.49", "19.79", "24.43", "35.02", "35.02"),
    }


def check(f: Findings) -> None:
    unit = np.sqrt(E * THICKNESS**2 / (12.0 * DENSITY * (1.0 - NU**2))) / (2.0 * np.pi * SIDE**2)
    curves: list[Curve] = []
    for plate, texts in reference().items():
        step = solve(build(plate)).steps[-1]
        found = np.array(step.summary["frequencies_hz"])[-len(texts) :] / unit
        for k, text in enumerate(texts):
            f.digits(
                "S-BARTON", f"factor {k + 1} of a square plate, {plate}", found[k], text,
                printed(f"Barton (1951), plate {plate}, in the validation manual of Code_Aster, V2.03.001"),
                error=0.012, why="few products of beam shapes in the paper, a bound from above",
            )  # fmt: skip
        modes = np.arange(1.0, len(texts) + 1)
        points = published("Barton (1951)" if not curves else "", modes, texts)
        curves += [Curve(modes, found, plate, "bar"), points]
    f.figure("Factors of the frequencies", curves, "Mode [-]", "lambda^2")
