"""Square plates, clamped at one side and free: their lowest frequencies.

      |/______         _______
      |/      |       |       |       omega = lambda^2/a^2 sqrt(E h^2/(12 rho (1 - nu^2))),  nu = .3,  h/a = 1e-4
      |/______|       |_______|

Source: M.V. Barton, "Vibration of rectangular and skew cantilever plates", J. Appl. Mech. 18 (1951), 129-134, as sheet
SDLS01/89 of the guide VPCS; the factors were read in the validation manual of Code_Aster (V2.03.001), which prints them
after this paper.  They are bounds from above: the paper takes a few products of beam shapes.  Rows compare with Ritz's
method for Kirchhoff's plate by 14 x 14 polynomials.  The plate has h/a = 1e-4 instead of the 1/100 of the sheet:
shear at free edges lowers the stiffness against twist by .63 h/a.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Legendre
from scipy.linalg import eigh

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import INDEPENDENT
from fem_mbs.validation.shell_grids import shell, square

CAPABILITY = "modes"
CASES = {"S-BARTON": "factors of the frequencies of square plates, clamped at one side and free"}
DEVIATIONS = (
    "Barton (1951): the factors are bounds from above, by up to 1 %: 19.79 for 19.596 and 21.43 for 21.285; rows "
    "compare with more terms of Ritz's method.",
)

E, NU, DENSITY, SIDE, THICKNESS = 2.1e11, 0.3, 7800.0, 1.0, 1e-4


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


def ritz(plate: str, terms: int) -> np.ndarray:
    """Return lambda^2 of Kirchhoff's square plate by products of polynomials on (-1, 1), the side being 2 there."""
    x, weights = np.polynomial.legendre.leggauss(terms + 4)

    def tables(held: bool) -> np.ndarray:
        shapes = [Legendre.basis(i) * (Legendre.fromroots([-1.0, -1.0]) if held else 1.0) for i in range(terms)]
        return np.array([[p(x), p.deriv(1)(x), p.deriv(2)(x)] for p in shapes])

    X, Y = tables(plate == "clamped"), tables(False)

    def product(a: tuple[int, int], b: tuple[int, int]) -> np.ndarray:
        """Return the integral of derivatives a = (x, y) of one function times derivatives b of the other."""
        one, two = (np.einsum("iq,jq,q->ij", T[:, k], T[:, l], weights) for T, k, l in zip((X, Y), a, b, strict=True))
        return np.kron(one, two)

    cross = product((2, 0), (0, 2))
    K = product((2, 0), (2, 0)) + product((0, 2), (0, 2)) + NU * (cross + cross.T)
    K += 2.0 * (1.0 - NU) * product((1, 1), (1, 1))
    M = product((0, 0), (0, 0))
    scale = 1.0 / np.sqrt(np.diag(M))
    values = eigh(K * np.outer(scale, scale), M * np.outer(scale, scale), eigvals_only=True, subset_by_index=(0, 9))
    return 4.0 * np.sqrt(np.maximum(values, 0.0))


def check(f: Findings) -> None:
    unit = np.sqrt(E * THICKNESS**2 / (12.0 * DENSITY * (1.0 - NU**2))) / (2.0 * np.pi * SIDE**2)
    curves: list[Curve] = []
    for plate, texts in reference().items():
        rigid = 3 if plate == "free" else 0
        coarse, found = (
            np.array(solve(build(plate, n)).steps[-1].summary["frequencies_hz"])[-len(texts) :] / unit for n in (8, 16)
        )
        fewer, exact = (ritz(plate, terms)[rigid : rigid + len(texts)] for terms in (12, 14))
        left = np.abs(coarse - found) / 3.0 + np.abs(fewer - exact) + 0.63 * THICKNESS / SIDE * exact
        for k in range(len(texts)):
            f.row(
                "S-BARTON", f"factor {k + 1} of a square plate, {plate}", found[k], exact[k],
                "A third of the change from 8 to 16 cells, the change from 12 to 14 terms, and shear, .63 h/a.",
                INDEPENDENT, tolerance=left[k],
            )  # fmt: skip
        modes = np.arange(1.0, len(texts) + 1)
        points = published("Barton (1951)" if not curves else "", modes, texts)
        curves += [Curve(modes, found, plate, "bar"), points, Curve(modes, exact, f"Ritz, {plate}", "o")]
    f.figure("Factors of the frequencies", curves, "Mode [-]", "lambda^2")
