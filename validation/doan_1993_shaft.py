"""Bending frequencies of a shaft under torque.

A round cantilever shaft carries a semitangential end torque M; its lowest bending frequency falls with M and vanishes
at the torsional buckling load pi EI/l: buckling found by frequency.

      ||=================o >>  M           8 elements, EI = l = m = 1

Source: D.T. Doan, M. Geradin, J.M. Kill, "Eigenvalue analysis in flexible multibody dynamics by use of the
non-symmetric Lanczos algorithm", NATO ASI, Troia 1993, Vol. II, 267-274 (a helical spring; no data survive); the shaft
takes its place, its numbers were recomputed with 8 Meijaard elements.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import RECOMPUTED

CAPABILITY = "buckling"
CASES = {"D6": "frequency of a shaft against its torque, zero at the buckling load"}


def build(ratio: float = 0.0, n: int = 8, strains: str = "exact") -> Model:
    """Return the shaft under ratio times pi EI/l; stiff in torsion, so that it does not twist."""
    model = Model(3, "shaft under torque")
    model.section("shaft", "stiffness", EA=1e8, EI=1.0, GJ=1e5, GA=np.inf, rhoA=1.0, rhoI=0.0)
    model.line("shaft", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), n)
    model.beams("shaft", "shaft", "shaft", orientation=(0.0, 1.0, 0.0), strains=strains)
    model.fix("shaft:start")
    model.moment("torque", "shaft:end", (np.pi * ratio, 0.0, 0.0), kind="semitangential")
    model.static_step()
    model.modes_step(count=2)
    return model


def reference() -> dict:
    """Return M/M_cr: square of the lowest circular frequency."""
    return {0.0: 12.36241, 0.5: 9.65750, 0.9: 2.70832, 0.99: 0.29433, 1.0: 0.00097}


def squares(ratio: float, **options) -> list[float]:
    step = solve(build(ratio, **options)).steps[1]
    return [(2.0 * np.pi * x) ** 2 for x in step.summary["frequencies_hz"]]


def check(f: Findings) -> None:
    known = reference()
    ratios = np.linspace(0.0, 1.0, 21)
    for ratio, value in known.items():
        f.row(
            "D6",
            f"square of the frequency at M/M_cr = {ratio:g}",
            squares(ratio)[0],
            value,
            "One unit of the last digit.",
            RECOMPUTED,
            tolerance=1e-5,
        )
    low = [squares(r)[0] for r in ratios]
    f.figure(
        "Lowest frequency", [Curve(ratios, np.sqrt(np.maximum(low, 0.0)), "8 elements"),
                             Curve(np.array(list(known)), np.sqrt(np.array(list(known.values()))), "recomputed", "o")],
        "M / M_cr", "Circular frequency [1/s]", "EI = l = m = 1.",
    )  # fmt: skip
