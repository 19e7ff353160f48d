"""A plate on a hub that turns, its plane along and across the plane of rotation: first frequencies.

      hub   |<- 100 mm ->|================|  152.4 mm long, 50.8 mm wide, 2.54 mm thick, steel
                          clamp              about an axis along its width, or along its normal

Source: C. Lawrence, R.A. Aiello, M.A. Ernst, O.G. McGee, "A NASTRAN primer for the analysis of rotating flexible
blades", NASA Technical Memorandum 89861 (1987), figure 7.  The numbers were read in the verification manual of ANSYS
Mechanical APDL (problem VM281), which takes them from this figure.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import in_ansys_manual
from fem_mbs.validation.shell_grids import shell, square

CAPABILITY = "modes"
CASES = {"S-SPINNING": "first frequency of a rotating plate, in and out of the plane of rotation"}

AXES = {"width": (0.0, 1.0, 0.0), "normal": (0.0, 0.0, 1.0)}


def build(axis: str = "normal", rpm: float = 3200.0) -> Model:
    """Return the plate along x, its width along y."""
    mesh = square(lambda a, b: (0.1 + 0.1524 * a, 0.0508 * (b - 0.5), 0.0 * a), 12, 4, "quad8")
    model = shell(mesh, 2e11, 0.3, 2.54e-3, 7850.0)
    model.fix("s:left")
    if rpm:
        model.centrifugal("turn", rpm * np.pi / 30.0, axis=AXES[axis])
        model.static_step()
    model.modes_step(count=1)
    return model


def reference() -> dict:
    """Return frequencies [Hz] by the axis and the speed [rpm]."""
    return {"width": {0.0: 90.0, 3200.0: 108.0, 9600.0: 195.0}, "normal": {3200.0: 121.0, 9600.0: 250.0}}


def check(f: Findings) -> None:
    curves = []
    for axis, speeds in reference().items():
        found = []
        for rpm, exact in speeds.items():
            found.append(solve(build(axis, rpm)).steps[-1].summary["frequencies_hz"][0])
            f.row(
                "S-SPINNING", f"first frequency at {rpm:g} rpm about its {axis} [Hz]", found[-1], exact,
                "3 Hz: read from a figure of 300 Hz", in_ansys_manual("Lawrence et al. (1987), figure 7", "VM281"),
                tolerance=3.0,
            )  # fmt: skip
        curves += [Curve(np.array(list(speeds)), np.array(found), f"about its {axis}")]
        curves.append(
            published("Lawrence et al. (1987)" if axis == "width" else "", list(speeds), list(speeds.values()))
        )
    f.figure("First frequency of a rotating plate", curves, "Speed [rpm]", "Frequency [Hz]")
