"""Roll-up of a cantilever by an end moment.

A straight cantilever becomes a circle, and ten.

      clamp |==================)  M = 2 pi EI/L closes one full circle, 20 pi EI/L ten of them on top of each other

The curvature is M/EI everywhere, so that the beam is an arc of any number of turns; exact and natural strains hold for
it with few elements.  Generalised strains measure the sine of the elements' turning, and change with the elements'
stretch M^2/(EA EI); they are shown in the limit of meshes, with EA = 1e8.

Source: J.C. Simo, "A finite strain beam formulation", Comp.  Meth. Appl. Mech. Eng. 49 (1985), 55-70,
doi:10.1016/0045-7825(85)90050-7; J.C. Simo, L. Vu-Quoc, ibid. 58 (1986), 79-116, doi:10.1016/0045-7825(86)90079-4.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "beams"
CASES = {"B-ROLL": "a cantilever rolled up to one and to ten circles"}


def build(
    dimension: int = 2, strains: str = "exact", turns: float = 1.0, n: int = 5, increments: int = 10, EA: float = 1e4
) -> Model:
    """Return a cantilever of length 1 along x with EI = 1; the moment acts about z."""
    model = Model(dimension, "roll-up")
    model.section("beam", "stiffness", EA=EA, EI=1.0, GA=np.inf, GJ=1.0, rhoA=0.0, rhoI=0.0)
    model.line("beam", np.zeros(dimension), np.eye(dimension)[0], n)
    moment = 2.0 * np.pi * turns
    if dimension == 2:
        model.beams("beam", "beam", "beam", strains=strains)
        model.moment("end", "beam:end", moment)
    else:
        model.beams("beam", "beam", "beam", strains=strains, orientation=(0.0, 1.0, 0.0))
        model.moment("end", "beam:end", (0.0, 0.0, moment))
    model.fix("beam:start")
    model.sensor("tip", "position", on="beam:end")
    model.static_step(increments=increments)
    return model


def reference() -> dict:
    return {"tip": 0.0}


def check(f: Findings) -> None:
    curves = []
    for dimension, strains, turns, n, increments, tolerance, why in (
        (2, "exact", 1.0, 5, 10, 1e-9, "constant strains are exact"),
        (3, "exact", 1.0, 5, 10, 1e-9, "constant strains are exact"),
        (2, "exact", 10.0, 40, 100, 1e-9, "constant strains are exact"),
        (3, "exact", 10.0, 40, 100, 1e-9, "constant strains are exact"),
        (2, "natural", 1.0, 10, 10, 1e-9, "natural strains are exact"),
        (3, "corotational", 1.0, 10, 10, 1e-9, "natural strains are exact"),
        (2, "natural", 10.0, 40, 100, 1e-9, "natural strains are exact"),
        (3, "corotational", 10.0, 40, 100, 1e-9, "natural strains are exact"),
    ):
        solution = solve(build(dimension, strains, turns, n, increments))
        tip = solution.sensor("tip").values[-1]
        where = "plane" if dimension == 2 else "space"
        label = f"{turns:g} turns, {where}, {strains} strains, {n} elements"
        f.zero(
            "B-ROLL", f"distance of the tip from the clamp / L, {label}",
            float(np.linalg.norm(tip)), tolerance, why, CLOSED_FORM,
        )  # fmt: skip
        if turns == 1.0:
            path = solution.sensor("tip").values
            curves.append(Curve(path[:, 0], path[:, 1], f"{where}, {strains}", "-"))
    for dimension, where in ((2, "plane"), (3, "space")):
        tips = [solve(build(dimension, "generalised", 1.0, n, 20, EA=1e8)).sensor("tip").values[-1]
                for n in (20, 40, 80)]  # fmt: skip
        f.converged("B-ROLL", f"distance of the tip from the clamp / L, 1 turn, {where}, generalised strains, h -> 0",
                    np.linalg.norm(tips, axis=1), 0.0, CLOSED_FORM)  # fmt: skip
    f.figure(
        "Path of the tip, one turn", curves, "x / L", "y / L", "Load increments from straight to closed.", equal=True
    )
