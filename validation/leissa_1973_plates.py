"""Rectangular plates, each side clamped, supported or free: lowest frequencies of all 21 combinations.

         y1
       ______
   x0 |      | x1  b    h/a = 1/10, a/b = 1.5, and h/a = 1/1000, a/b = 1,  nu = .3, shear coefficient 5/6
      |______|
         y0             sides in the order x0, y0, x1, y1:  C clamped, S supported (no slope along the side), F free
         a

Source: A.W. Leissa, "The free vibration of rectangular plates", J. Sound Vib. 31 (1973), 257-293, which names the 21
combinations so.  Its tables were not at hand; the factors that are quoted are those from memory of its exact solutions
with two opposite sides supported.  The independent computation is the method of Ritz for plates with shear and rotary
inertia (R.D. Mindlin, J. Appl. Mech. 18 (1951), 31-38): deflection and both rotations are products of Legendre
polynomials, times x/a or 1 - x/a where a side holds them.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre
from scipy.linalg import eigh

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import INDEPENDENT, quoted
from fem_mbs.validation.shell_grids import shell, square

CAPABILITY = "modes"
CASES = {"S-LEISSA": "frequencies of rectangular plates with clamped, supported and free sides, thin and with shear"}
DEVIATIONS = (
    "Leissa (1973), from memory: 3.4917, 8.5246 and 21.429 of the thin square plate with one clamped side are bounds "
    "from above, by 36 products of shapes of beams; polynomials converge to 3.471, 8.507 and 21.285.",
)

E, NU, DENSITY, SIDE = 2.1e11, 0.3, 7800.0, 1.0
SUPPORTS = (
    "SSSS", "SCSC", "SCSS", "SCSF", "SSSF", "SFSF", "CCCC", "CCCS", "CCCF", "CCSS", "CCSF", "CCFF", "CSCF", "CSSF",
    "CSFF", "CFCF", "CFSF", "CFFF", "SSFF", "SFFF", "FFFF",
)  # fmt: skip
COUNT = 3


def build(sides: str = "CCSF", ratio: float = 1.5, thickness: float = 0.1, n: int = 10) -> Model:
    """Return a plate of n by n shells of 8 nodes, with the modes across its plane; ``ratio`` is a/b."""
    mesh = square(lambda u, v: (SIDE * u, SIDE / ratio * v, 0.0 * u), n, n, "quad8")
    model = shell(mesh, E, NU, thickness * SIDE, DENSITY)
    model.fix("s", ["x", "y", "rotation z"])
    for support, edge, normal in zip(sides, ("left", "bottom", "right", "top"), "xyxy", strict=True):
        if support == "C":
            model.fix(f"s:{edge}", ["z", "rotation x", "rotation y"])
        elif support == "S":
            model.fix(f"s:{edge}", ["z", f"rotation {normal}"])
    model.modes_step(count=COUNT + rigid(sides))
    return model


def rigid(sides: str) -> int:
    """Return the number of rigid motions across the plane that the sides leave."""
    return {"FFFF": 3, "SFFF": 1}.get(sides, 0)


def reference() -> dict[str, tuple[str, ...]]:
    """Return factors omega a^2 sqrt(rho h/D) of thin square plates, from memory."""
    return {
        "SCSC": ("28.9509", "54.7431", "69.3270"),
        "SCSS": ("23.6463", "51.6743", "58.6464"),
        "SCSF": ("12.6874", "33.0651", "41.7019"),
        "SSSF": ("11.6845", "27.7563", "41.1967"),
        "SFSF": ("9.6314", "16.1348", "36.7256"),
    }


def by_shells(sides: str, ratio: float, thickness: float, n: int) -> np.ndarray:
    """Return the lowest factors omega a^2 sqrt(rho h/D) (3,) of shells, without rigid motions."""
    hertz = solve(build(sides, ratio, thickness, n)).steps[-1].summary["frequencies_hz"]
    h = thickness * SIDE
    unit = np.sqrt(E * h**2 / (12.0 * DENSITY * (1.0 - NU**2))) / SIDE**2
    return 2.0 * np.pi * np.array(hertz)[-COUNT:] / unit


def by_ritz(sides: str, ratio: float, thickness: float, degree: int = 10) -> np.ndarray:
    """Return the same factors by polynomials of a degree in x and y."""
    # lengths in a, stiffnesses in D, masses in rho h a^2
    shear = 5.0 * (1.0 - NU) / thickness**2
    w, wx, wy = _shapes(sides, ratio, "CS", "CS", degree)
    p, px, py = _shapes(sides, ratio, "C", "CS", degree)
    q, qx, qy = _shapes(sides, ratio, "CS", "C", degree)
    none = [np.zeros_like(a) for a in (w, p, q)]
    kx, ky = np.hstack((none[0], px, none[2])), np.hstack((none[0], none[1], qy))
    twist = np.hstack((none[0], py, qx))
    gx, gy = np.hstack((wx, p, none[2])), np.hstack((wy, none[1], q))
    K = kx.T @ kx + ky.T @ ky + NU * (kx.T @ ky + ky.T @ kx) + 0.5 * (1.0 - NU) * twist.T @ twist
    K += shear * (gx.T @ gx + gy.T @ gy)
    deflection = np.hstack((w, none[1], none[2]))
    M = deflection.T @ deflection
    for rotation in (np.hstack((none[0], p, none[2])), np.hstack((none[0], none[1], q))):
        M += thickness**2 / 12.0 * rotation.T @ rotation
    first = rigid(sides)
    return np.sqrt(eigh(K, M, eigvals_only=True, subset_by_index=(first, first + COUNT - 1)))


def _shapes(sides: str, ratio: float, held_x: str, held_y: str, degree: int) -> tuple[np.ndarray, ...]:
    """Return values, and derivatives in x and y, (points, shapes), of products that vanish at sides of given kinds;
    rows have the root of the weight of their point."""
    x = _lines(1.0, sides[0] in held_x, sides[2] in held_x, degree)
    y = _lines(1.0 / ratio, sides[1] in held_y, sides[3] in held_y, degree)
    return np.kron(x[0], y[0]), np.kron(x[1], y[0]), np.kron(x[0], y[1])


def _lines(length: float, start: bool, end: bool, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return polynomials and their slopes at the Gauss points of a line; they vanish at the ends that are held."""
    s, weight = legendre.leggauss(degree + 1)
    x = 0.5 * (1.0 + s)
    factor = x**start * (1.0 - x) ** end
    slope = start * (1.0 - x) ** end - end * x**start
    n = degree + 1 - start - end
    P = legendre.legvander(s, n - 1)
    dP = np.stack([2.0 * legendre.legval(s, legendre.legder(unit)) for unit in np.eye(n)], axis=1)
    root = np.sqrt(0.5 * length * weight)[:, None]
    return root * factor[:, None] * P, root / length * (slope[:, None] * P + factor[:, None] * dP)


def check(f: Findings) -> None:
    lowest = []
    for sides in SUPPORTS:
        # cells are not longer than twice the thickness: coarser ones do not resolve the boundary layer of shear at free
        # sides, and their errors have no order
        coarse, fine = (by_shells(sides, 1.5, 0.1, n) for n in (5, 10))
        exact = by_ritz(sides, 1.5, 0.1)
        for k in range(COUNT):
            f.row(
                "S-LEISSA", f"factor {k + 1} of {sides}, h/a = .1, a/b = 1.5", fine[k], exact[k],
                "a third of the change from 5 to 10 cells along a side: an error of second order", INDEPENDENT,
                tolerance=abs(fine[k] - coarse[k]) / 3.0,
            )  # fmt: skip
        lowest.append((coarse[0], fine[0], exact[0]))
    known = reference()
    for sides, texts in known.items():
        coarse, fine = (by_shells(sides, 1.0, 1e-3, n) for n in (5, 10))
        for k, text in enumerate(texts):
            mesh = abs(fine[k] - coarse[k]) / (3.0 * fine[k])
            f.digits(
                "S-LEISSA", f"factor {k + 1} of {sides}, thin and square", fine[k], text,
                quoted("Leissa (1973), exact solution, from memory"), error=1e-3 + mesh,
                why="h/a = 1e-3 at free sides, and a third of the change from 5 to 10 cells along a side",
            )  # fmt: skip
    place = np.arange(len(SUPPORTS))
    _, fine, exact = np.array(lowest).T
    f.figure(
        "Lowest factor of the 21 plates, h/a = .1, a/b = 1.5",
        [Curve(place, fine, "10 x 10 shells", "bar"), published("polynomials", place, exact)],
        "Number of the plate, SSSS to FFFF [-]", "omega a^2 sqrt(rho h/D) [-]",
    )  # fmt: skip
