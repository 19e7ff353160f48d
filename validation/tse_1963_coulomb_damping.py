r"""A mass on a spring with dry friction: its amplitude falls by 4 F/k a cycle.

      |--/\/\/--[ m ]          k = 10 000 lb/in, m g = 10 lb, released at -1 in
              ////////         friction of 1.875 lb: it sticks on a spring of 1e8 lb/in

Source: F.S. Tse, I.E. Morse, R.T. Hinkle, "Mechanical vibrations", Allyn & Bacon 1963, p. 175, case 1.  The numbers
were read in the verification manual of ANSYS Mechanical APDL (problem VM73).
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import in_ansys_manual

CAPABILITY = "contact"
CASES = {"B-COULOMB": "free vibration of a mass with dry friction"}


def build(h: float = 2e-5) -> Model:
    model = Model(2, "mass with friction")
    model.node("m", (9.0, 0.0))
    model.point_mass("mass", "m", 10.0 / 386.0)
    model.fix("m", ["y"])
    model.spring("k", "ground", "m", 30.0, point_a=(0.0, 0.0), length=10.0, sliders=[[1e8, 1.875]])
    model.sensor("x", "position", on="m")
    model.transient_step(0.2025, h, frames=0)
    return model


def reference() -> dict[float, str]:
    """Return displacements [in] by times [s]."""
    return {0.09: ".87208", 0.102: ".83132", 0.183: "-.74874"}


def check(f: Findings) -> None:
    step = solve(build()).steps[-1]
    x = step.series["sensor/x"][:, 0] - 10.0
    for when, text in reference().items():
        found = x[int(np.argmin(np.abs(step.time - when)))]
        f.digits("B-COULOMB", f"displacement after {when:g} s [in]", found, text,
                 in_ansys_manual("Tse, Morse and Hinkle (1963), p. 175, case 1", "VM73"))  # fmt: skip
    known = reference()
    curves = [Curve(step.time, x, "fem-mbs"), published("Tse et al. (1963)", list(known), list(known.values()))]
    f.figure("Free vibration with friction", curves, "Time [s]", "Displacement [in]")
