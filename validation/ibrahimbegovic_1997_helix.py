"""Beam bent to a helix.

A straight cantilever under a bending moment at its tip that would roll it up ten times, and a force along the moment
that pulls the coils out of the plane.  The tip swings out, back through the plane, and ever less far as they tighten.

           z                     M = 200 pi t about z, F = 50 t along z
           |__ x                    t: 0 ... 1
      clamp|====================o   L = 10, EA = GA = 1e4, GJ = EI = 100
           moment and force keep their directions

Source: A. Ibrahimbegovic, "On the choice of finite rotation parameters", Comp. Meth. Appl. Mech. Eng. 149 (1997),
49-71, doi:10.1016/S0045-7825(97)00059-5, section 5.2: problem, 100 elements, and a figure of the path of the tip
without numbers.  The numbers here are those of the boundary-value solution (`exact`, 80 intervals).
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated
from fem_mbs.validation.exact_beam import cantilever
from fem_mbs.validation.kinds import INDEPENDENT, RECOMPUTED

CAPABILITY = "beams"
CASES = {"B-HELIX": "cantilever rolled up ten times and pulled out of the plane"}

LENGTH, EA, EI, MOMENT, FORCE = 10.0, 1.0e4, 100.0, 200.0 * np.pi, 50.0
MESHES = (10, 30, 90)


def build(n: int = 100, share: float = 1.0, increments: int = 200, strains: str | None = None) -> Model:
    """Return the beam along x up to ``share`` of the loads."""
    model = Model(3, "beam bent to a helix")
    model.section("beam", "stiffness", EA=EA, GA=EA, GJ=EI, EI=EI, rhoA=0.0)
    model.line("beam", (0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), n)
    model.beams("beam", "beam", "beam", strains=strains)
    model.fix("beam:start")
    model.moment("M", "beam:end", (0.0, 0.0, MOMENT * share))
    model.force("F", "beam:end", (0.0, 0.0, FORCE * share))
    model.sensor("tip", "position", on="beam:end")
    model.static_step(increments=increments)
    return model


def reference() -> dict:
    return {
        # share of the loads -> tip
        0.05: (0.71148103, 6.28566443, 2.75073621),
        0.1: (0.41020335, 0.05377090, -1.09172902),
        0.3: (0.05239551, 0.00259371, -0.39959276),
        0.5: (0.01910699, 0.00057398, -0.22663744),
        1.0: (0.00480325, 0.00007250, -0.07644174),
    }


def exact(shares, intervals: int = 40) -> np.ndarray:
    """Return tip (k, 3) of the exact beam at the shares of the loads."""
    flexibility = np.diag(1.0 / np.array([EA, EA, EA, EI, EI, EI]))
    states = cantilever(
        LENGTH, flexibility, (0.0, 0.0, FORCE), (0.0, 0.0, MOMENT), intervals=intervals, factors=tuple(shares)
    )
    return np.array([state.place(LENGTH) for state in states])


def check(f: Findings) -> None:
    known = reference()
    found = [solve(build(n, 0.1, 10)).sensor("tip").values[-1] for n in MESHES]
    f.zero(
        "B-HELIX",
        "limit of the tip over the length, one turn",
        np.abs(extrapolated(found, 3.0) - exact((0.1,))[0]).max() / LENGTH,
        1e-6,
        "The file solves the boundary-value problem; extrapolation of three meshes leaves the rest.",
        INDEPENDENT,
    )
    paths = []
    for n in (50, 100):
        # increments may be cut, so rows are found by their load factor
        solution = solve(build(n, 1.0))
        path, load = solution.sensor("tip").values, solution.steps[0].series["load factor"].ravel()
        paths.append([path[np.abs(load - share).argmin()] for share in known])
    limits = extrapolated(paths, 2.0, 4)
    for (share, tip), limit, fine in zip(known.items(), limits, np.array(paths[-1]), strict=True):
        f.zero(
            "B-HELIX", f"tip over the length, limit of 50 and 100 elements, {share:g} of the loads",
            np.abs(limit - tip).max() / LENGTH, (2.0 * np.abs(limit - fine).max() + 1e-8) / LENGTH,
            "Twice the distance of the limit from 100 elements, and one unit of the last digit.", RECOMPUTED,
        )  # fmt: skip
    points = np.array([[share, *tip] for share, tip in known.items()])
    f.figure(
        "Beam bent to a helix",
        [Curve(load, path[:, 2], "100 elements"), Curve(points[:, 0], points[:, 3], "exact", "o")],
        "Share of the loads", "Displacement of the tip out of the plane",
    )  # fmt: skip
