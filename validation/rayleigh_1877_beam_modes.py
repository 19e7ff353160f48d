"""Frequencies of straight beams, and how fast they converge.

Bending in both planes, stretching and torsion of a slender beam, clamped at one end or free, by both spatial beams with
Hermite mass.

      ||==================         and       ==================          EA = 1e6, GJ = .8e2, EIy = 1, EIz = 4
      clamped-free                           free-free                   rho A = 1, L = 1

Source: Lord Rayleigh, "The theory of sound", vol. I, 1877; roots of cos x cosh x = -+1: 1.875104, 4.694091, 7.854757
(clamped-free) and 4.730041, 7.853205, 10.995608 (free-free).  Cubic interpolation makes the error of bending
frequencies fall with the fourth power of the element length, linear interpolation of twist and stretch with the second.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY

CAPABILITY = "modes"
CASES = {"B-MODES": "frequencies of clamped and free beams in space: values, rigid modes, orders of convergence"}

EIY, EIZ, EA, GJ, ROTARY = 1.0, 4.0, 1e6, 80.0, 1e-8
# between which the roots lie: cos x + 1/cosh x and cos x - 1/cosh x change their signs
BRACKETS = {
    "clamped": (1.0, ((1.0, 3.0), (4.0, 6.0), (7.0, 9.0))),
    "free": (-1.0, ((4.0, 6.0), (7.0, 9.0), (10.0, 12.0))),
}


def build(ends: str = "clamped", n: int = 16, strains: str = "exact", count: int = 10) -> Model:
    """Return the beam of n elements; "clamped" at its start or "free"."""
    model = Model(3, f"{ends} beam")
    model.section(
        "beam", "stiffness", EA=EA, GA=np.inf, GJ=GJ, EIy=EIY, EIz=EIZ, rhoA=1.0, rhoIy=ROTARY, rhoIz=ROTARY
    )  # fmt: skip
    model.line("beam", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), n)
    model.beams("beam", "beam", "beam", strains=strains, orientation=(0.0, 1.0, 0.0))
    if ends == "clamped":
        model.fix("beam:start")
    model.modes_step(count=count)
    return model


def reference() -> dict:
    """Return circular frequencies and wave numbers (n, 2) of bending in both planes, sorted by the frequency."""
    found = {}
    for ends, (sign, brackets) in BRACKETS.items():
        roots = [brentq(lambda x, s=sign: np.cos(x) + s / np.cosh(x), a, b, xtol=1e-13) for a, b in brackets]
        both = np.concatenate([np.column_stack((np.sqrt(EI) * np.square(roots), roots)) for EI in (EIY, EIZ)])
        found[ends] = both[np.argsort(both[:, 0])]
    return found


def frequencies(ends: str, n: int, strains: str = "exact", count: int = 10):
    summary = solve(build(ends, n, strains, count)).steps[0].summary
    return 2.0 * np.pi * np.array(summary["frequencies_hz"]), summary


def mesh_error(waves: float, n: int) -> float:
    """Return the relative error of a frequency by n cubic elements: half of that of its square, (b h)^4/720."""
    return (waves / n) ** 4 / 1440.0


def check(f: Findings) -> None:
    known = reference()
    curves = []
    for strains in ("exact", "generalised", "corotational"):
        for ends, (exact, waves) in ((ends, both.T) for ends, both in known.items()):
            label = f"{ends}, {strains} strains"
            w, summary = frequencies(ends, 16, strains, 12)
            rigid = summary["rigid_body_modes"]
            wanted = 6 if ends == "free" else 0
            f.row(
                "B-MODES", f"rigid-body modes, {label}", rigid, wanted, "It is a whole number.", PROPERTY, tolerance=0.0
            )
            w = np.sort(w)[-len(w) + (rigid if len(w) == 12 else 0) :] if rigid else w
            for k in range(4):
                f.row(
                    "B-MODES", f"circular frequency {k + 1}, {label}, 16 elements", w[k], exact[k],
                    "(b h)^4/1440 of cubic elements of the length h, b the wave number, and rotary inertia.",
                    CLOSED_FORM, relative=mesh_error(waves[k], 16) + 0.5 * ROTARY * waves[k] ** 2,
                )  # fmt: skip
            f.zero(
                "B-MODES",
                f"largest residual of a pair, {label}",
                max(summary["residuals"]),
                1e-8,
                "Every pair must have so small a residual.",
            )
        meshes = np.array([2, 4, 8, 16])
        exact, waves = known["clamped"][0]
        errors = np.array([frequencies("clamped", n, strains, 4)[0][0] / exact - 1.0 for n in meshes])
        curves.append(Curve(1.0 / meshes, np.abs(errors), f"clamped, first, {strains}"))
        f.row(
            "B-MODES", f"order of the first frequency, 2 to 4 elements, {strains} strains",
            np.log2(errors[0] / errors[1]), 4.0,
            "Two coarse meshes show the order within .15.", PROPERTY, tolerance=0.15,
        )  # fmt: skip
        f.zero(
            "B-MODES",
            f"its error with 2 elements, {strains} strains",
            errors[0],
            mesh_error(waves, 2),
            "(b h)^4/1440 of cubic elements of the length h, b the wave number.",
            CLOSED_FORM,
        )
    f.figure("Error of the first frequency", curves, "Element length / L", "Relative error", "", "loglog")
