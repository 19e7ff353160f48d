"""Elastica: a cantilever bent far by a dead tip load.

      clamp |================o  P (stays vertical)          tip: down w, back u
            |       L, EI

Source: K.E. Bisshopp, D.C. Drucker, "Large deflection of cantilever beams", Quart.  Appl. Math. 3 (1945), 272-275,
doi:10.1090/qam/13360: their solution by elliptic integrals, evaluated below.  All beams of the
package, plane and spatial, by plain load control.  The error falls with the fourth power of the element length for
exact and natural strains and with the square for generalised ones, which measure sines.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY

CAPABILITY = "beams"
CASES = {"B-ELASTICA": "large deflection of a cantilever under a dead tip load"}

LOADS = (1.0, 2.0, 5.0, 10.0)  # P L^2/EI
EA = 1e7  # over EI/L^2
BEAMS = (
    (2, "exact"),
    (2, "natural"),
    (2, "generalised"),
    (3, "exact"),
    (3, "generalised"),
    (3, "corotational"),
)


def build(dimension: int = 2, strains: str = "exact", load: float = 1.0, n: int = 32, increments: int = 5) -> Model:
    """Return a cantilever of length 1 along x with EI = 1, practically inextensible; ``load`` is P L^2/EI."""
    model = Model(dimension, "elastica")
    model.section("beam", "stiffness", EA=EA, EI=1.0, GA=np.inf, GJ=1.0, rhoA=0.0, rhoI=0.0)
    zero, end, down = np.zeros(dimension), np.eye(dimension)[0], -load * np.eye(dimension)[1]
    model.line("beam", zero, end, n)
    if dimension == 2:
        model.beams("beam", "beam", "beam", strains=strains)
    else:
        model.beams("beam", "beam", "beam", strains=strains, orientation=(0.0, 1.0, 0.0))
    model.fix("beam:start")
    model.force("load", "beam:end", down)
    model.sensor("tip", "displacement", on="beam:end")
    model.static_step(increments=increments)
    return model


def elastica(load: float) -> tuple[float, float]:
    """Return (w/L, u/L) of an inextensible cantilever, by elliptic integrals.

    With the slope a of the tip, m = (1 + sin a)/2 and sin(p) = 1/sqrt(2 m): sqrt(P L^2/EI) = K(m) - F(p, m),
    w/L = 1 - 2 (E(m) - E(p, m))/sqrt(P L^2/EI), 1 - u/L = sqrt(2 sin a/(P L^2/EI)).
    """
    root = np.sqrt(load)

    def amplitude(m: float) -> float:
        return float(np.arcsin(min(1.0, 1.0 / np.sqrt(2.0 * m))))

    m = brentq(lambda m: ellipk(m) - ellipkinc(amplitude(m), m) - root, 0.5, 1.0 - 1e-12, xtol=1e-15)
    w = 1.0 - 2.0 * (ellipe(m) - ellipeinc(amplitude(m), m)) / root
    return float(w), float(1.0 - np.sqrt(2.0 * (2.0 * m - 1.0) / load))


def reference() -> dict:
    """Return (w/L, u/L) by P L^2/EI."""
    return {load: elastica(load) for load in LOADS}


def _tip(dimension, strains, load, n=32):
    x = solve(build(dimension, strains, load, n)).sensor("tip").values[-1]
    return -x[1], -x[0]


def check(f: Findings) -> None:
    known = reference()
    meshes = (4, 8, 16, 32, 64)
    curves = []
    for dimension, strains in BEAMS:
        label = f"{'plane' if dimension == 2 else 'space'}, {strains} strains"
        expected = 2 if strains == "generalised" else 4
        for load, exact in known.items():
            found = np.array([_tip(dimension, strains, load, n) for n in meshes[1:4]])
            for k, name in enumerate(("w/L", "u/L")):
                f.converged(
                    "B-ELASTICA", f"{name} at P L2/EI = {load:g}, {label}", found[:, k], exact[k], CLOSED_FORM,
                    order=expected, error=load / EA / exact[k], why="stretch P/EA of the model",
                )  # fmt: skip
        limit = _tip(2, "exact", 5.0, 512)[0]
        errors = [abs(_tip(dimension, strains, 5.0, n)[0] - limit) for n in meshes]
        order = np.log2(errors[1] / errors[3]) / 2.0
        f.row(
            "B-ELASTICA",
            f"order of convergence of w, P L2/EI = 5, 8 to 32 elements, {label}",
            order,
            expected,
            "Two meshes show the order within .1; sines of large turns leave the second order, angles the fourth.",
            PROPERTY,
            tolerance=0.1,
        )
        curves.append(Curve(1.0 / np.array(meshes), np.array(errors), label, "-"))
    f.figure("Elastica: convergence", curves, "Element length / L", "Error of w/L", "P L2/EI = 5.", "loglog")
