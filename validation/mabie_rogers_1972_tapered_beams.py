"""Free vibrations of double-tapered cantilevers.

The depth of the beams falls to a quarter from the clamp to the tip, linearly, and the width to a quarter or a fifth.

      clamp   ____
             |    ----____              h0 = 4 mm, h1 = b1 = 1 mm, b0 = 4 or 5 mm
             |             ----|        L = 1 m, E = 200 GPa, 7800 kg/m^3, without shear
             |     ____----
              ----

Source: H.H. Mabie, C.B. Rogers, "Transverse vibrations of double-tapered cantilever beams", J. Acoust. Soc. America
51 (1972), 1771-1774: frequencies f = lambda h1 sqrt(E/(12 rho))/(2 pi L^2).  The factors were read in the validation
manual of Code_Aster, V2.02.009 (SDLL09, after the guide VPCS of the Societe francaise des mecaniciens, 1990), which
prints them.  (EI w'')'' = w^2 (rho A w - (rho I w')') is solved here by collocation at Chebyshev points as well; the
rotary inertia takes 5e-5 of the fifth factor and less of the others.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, limit_of, published
from fem_mbs.validation.chebyshev import differentiation
from fem_mbs.validation.kinds import INDEPENDENT, printed

CAPABILITY = "modes"
DEVIATIONS = (
    "Mabie and Rogers (1972): 23.289, 165.23 and 24.308, 75.56, 167.21; the boundary-value problem has 23.292, 165.28 "
    "and 24.311, 75.58, 167.25.",
)
CASES = {"B-DOUBLE-TAPER": "frequencies of cantilevers whose depth and width taper"}

LENGTH, E, DENSITY, TIP = 1.0, 200e9, 7800.0, 1e-3
MODES = 5
MESHES, POINTS = (40, 80, 160), 36


def build(width: float = 4.0, n: int = 80) -> Model:
    """Return the cantilever in space, of n elements, with its modes in the plane of its depth.

    Args:
        width: of the clamp over that of the tip.
        n: number of elements.
    """
    model = Model(3, "double-tapered cantilever")
    model.material("steel", E=E, nu=0.3, density=DENSITY)
    model.section("clamp", "rectangle", width=width * TIP, height=4.0 * TIP)
    model.section("tip", "rectangle", width=TIP, height=TIP)
    model.line("beam", (0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), n)
    model.beams("beam", "beam", ["clamp", "tip"], "steel", shear=False, orientation=(0.0, 1.0, 0.0))
    model.fix("beam", ["z", "rotation x", "rotation y"])
    model.fix("beam:start")
    model.modes_step(count=MODES)
    return model


def reference() -> dict:
    """Return the factors lambda by the ratio of the widths; misprints (see the deviations) are empty."""
    return {4.0: ("", "73.9", "", "299.7", "478.1"), 5.0: ("", "", "", "301.9", "480.4")}


def exact(width: float, n: int = POINTS) -> np.ndarray:
    """Return the factors by collocation at n + 1 Chebyshev points, with EI and rho A of the tip as units.

    Rows of two points at each end carry the boundary conditions.
    """
    x, d = differentiation(n)  # the tip is the first point
    h, b = 4.0 - 3.0 * x, width - (width - 1.0) * x
    moment = (b * h**3)[:, None] * (d @ d)
    rotary = TIP**2 / (12.0 * LENGTH**2) * (b * h**3)[:, None] * d
    left, right = d @ d @ moment, np.diag(b * h) - d @ rotary
    left[[0, 1, -2]] = moment[0], (d @ moment)[0], d[-1]
    right[[0, 1, -2]] = 0.0
    right[1] = -rotary[0]  # the shear force at the tip turns its section
    squares = scipy.linalg.eigvals(left[:-1, :-1], right[:-1, :-1])  # the clamp does not move
    squares = squares[np.isfinite(squares) & (np.abs(squares.imag) < 1e-3 * np.abs(squares)) & (squares.real > 1.0)]
    return np.sqrt(np.sort(squares.real)[:MODES])


def check(f: Findings) -> None:
    scale = TIP * np.sqrt(E / (12.0 * DENSITY)) / (2.0 * np.pi * LENGTH**2)
    curves: list[Curve] = []
    order = np.arange(1.0, MODES + 1.0)
    for width, texts in reference().items():
        meshes = np.array([solve(build(width, n)).steps[-1].summary["frequencies_hz"] for n in MESHES]) / scale
        found, error = limit_of(meshes)
        true = exact(width)
        where = printed("Mabie and Rogers (1972), in the validation manual of Code_Aster, V2.02.009")
        for k, text in enumerate(texts):
            what = f"factor {k + 1}, width over {width:g}, limit of {MESHES[0]} to {MESHES[-1]} elements"
            if text:
                f.digits("B-DOUBLE-TAPER", what, found[k], text, where)
            f.row(
                "B-DOUBLE-TAPER", f"{what}, against collocation", found[k], true[k],
                "The change of the limit by the coarsest mesh, and the round-off n^8 eps of fourth derivatives.",
                INDEPENDENT, tolerance=error[k] + POINTS**8 * np.finfo(float).eps / (2.0 * true[k]),
            )  # fmt: skip
        printed_ones = [k for k, text in enumerate(texts) if text]
        curves += [
            Curve(order, found, f"width over {width:g}"),
            published("" if curves else "Mabie, Rogers (1972)", order[printed_ones], [texts[k] for k in printed_ones]),
        ]
    f.figure("Factors of the frequencies", curves, "Mode", "lambda")
