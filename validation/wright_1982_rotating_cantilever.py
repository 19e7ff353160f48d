"""A cantilever that turns: flapping and lagging frequencies against the speed.

A slender cantilever turns about an axis through its root, across its length.  The tension that the rotation brings
stiffens it; seen from the rotating frame its motions out of the plane of rotation (flapping) and in it (lagging) have
constant coefficients about the stretched, steadily rotating state.

            ^ z  Omega
            |                                      EI = rho A = L = 1, no hub
           (o)=========================            inextensible: EA = 1e8
                        L                          flapping: along z

Source: A.D. Wright, C.E. Smith, R.W. Thresher, J.L.C. Wang, "Vibration modes of centrifugally stiffened beams",
J. Appl. Mech. 49 (1982), 197-202 (Frobenius' method), as G.S. Bir prints them: AIAA 2009-1035, table 3a (uniform
beam), and "Verification of BModes", NREL/CP-500-47953 (2010), table 5 (with a mass of rho A L at the tip).  Both tables
were read in the tests of pyBmodes, which print them.  In the plane of rotation the centrifugal force has a share across
the bent beam, so that w_lag^2 = w_flap^2 - Omega^2 where bending is the same in both planes.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs, published
from fem_mbs.validation.chebyshev import differentiation
from fem_mbs.validation.kinds import INDEPENDENT, PROPERTY, printed

CAPABILITY = "modes"
CASES = {
    "B-FLAP": "rotating cantilever: flapping and lagging against the speed",
    "B-FLAP-MASS": "the same with a mass at its tip",
}

DEVIATIONS = (
    "Bir (2010), table 5, after Wright et al. (1982): 23.03 for the second frequency at 4 rad/s; the differential "
    "equation has 23.0228.",
)

WRIGHT = printed("Wright et al. (1982), as in Bir, AIAA 2009-1035, table 3a, read in the tests of pyBmodes")
MASS = printed("Wright et al. (1982), as in Bir, NREL/CP-500-47953 (2010), table 5, read in the tests of pyBmodes")


def build(speed: float = 0.0, n: int = 16, strains: str = "exact", mass: float = 0.0, modes: int = 3) -> Model:
    """Return the beam of n elements with a mass at its tip, turned by a motor; ``modes`` in each direction."""
    model = Model(3, "rotating cantilever")
    model.section("beam", "stiffness", EA=1e8, EI=1.0, GJ=1e4, GA=np.inf, rhoA=1.0, rhoI=1e-9)
    model.line("beam", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), n)
    model.beams("beam", "beam", "beam", strains=strains)
    axis, point = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    model.joint("motor", "revolute", "ground", "beam:start", point=point, axis=axis, function=f"{speed}*t")
    model.rotor("beam", axis=axis, point=point)
    if mass:
        model.point_mass("tip", "beam:end", mass)
    model.complex_modes_step(count=2 * modes, rotor="beam", speed=speed, frame="rotating")
    return model


def reference() -> dict:
    """Return by the case: speed: flapping frequencies, as printed."""
    return {
        "B-FLAP": {
            0.0: (3.516, 22.035, 61.697), 2.0: (4.137, 22.615, 62.273), 4.0: (5.585, 24.273, 63.967),
            6.0: (7.360, 26.809, 66.684), 8.0: (9.257, 29.995, 70.293), 10.0: (11.202, 33.640, 74.649),
            12.0: (13.170, 37.603, 79.615),
        },
        "B-FLAP-MASS": {
            0.0: (1.557, 16.25), 2.0: (2.670, 18.19), 4.0: (4.543, 23.03), 6.0: (6.509, 29.29), 8.0: (8.495, 36.21),
            10.0: (10.49, 43.45), 12.0: (12.48, 50.86),
        },
    }  # fmt: skip


def exact(speed: float, mass: float, n: int = 40) -> np.ndarray:
    """Return the three lowest flapping frequencies of (EI w'')'' - (T w')' = omega^2 w, with the tension T of the
    centrifugal forces, by collocation at n + 1 Chebyshev points.

    At the tip: w'' = 0 and w''' - T w' + mass omega^2 w = 0.  Rows of the points next to the ends carry the boundary
    conditions.
    """
    x, d = differentiation(n)  # the tip is the first point
    tension = speed**2 * (0.5 * (1.0 - x**2) + mass)
    second = d @ d
    left = second @ second - d @ (tension[:, None] * d)
    right = np.eye(n + 1)
    left[[0, 1, -2]] = second[0], (second @ d - tension[:, None] * d)[0], d[-1]
    right[[0, 1, -2]] = 0.0
    right[1, 0] = -mass
    left, right = left[:-1, :-1], right[:-1, :-1]  # the root does not move
    squares = scipy.linalg.eigvals(left, right)
    squares = squares[np.isfinite(squares) & (np.abs(squares.imag) < 1e-3) & (squares.real > 0.0)].real
    return np.sqrt(np.sort(squares)[:3])


def frequencies(summary: dict, flap: tuple[float, ...], speed: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest frequencies as flapping and lagging ones, by their nearest expectations."""
    p = np.array(summary["eigenvalues"])
    w = list(np.sort(p[p[:, 1] > 0.0, 1])[: 2 * len(flap)])
    wanted = [*flap, *np.sqrt(np.square(flap) - speed**2)]
    found = [w.pop(int(np.argmin(np.abs(np.array(w) - x)))) for x in wanted]
    return np.array(found[: len(flap)]), np.array(found[len(flap) :])


def last_place(value: float) -> float:
    """Return half a unit of the last place of a number that is printed with four digits."""
    return 0.5 * 10.0 ** -(4 - len(str(int(value))))


def check(f: Findings) -> None:
    known = reference()["B-FLAP"]
    for strains in ("exact", "generalised", "corotational"):
        summaries, flaps = [], []
        for speed, table in known.items():
            summary = solve(build(speed, strains=strains)).steps[-1].summary
            flap, lag = frequencies(summary, table, speed)
            for k, value in enumerate(flap):
                f.row(
                    "B-FLAP", f"flapping frequency {k + 1} at Omega = {speed:g}, {strains} strains, 16 elements",
                    value, table[k],
                    "The source prints three decimals; 16 elements leave 1e-5, and 1e-4 of the third frequency.",
                    WRIGHT, tolerance=5e-4 + (1e-4 if k == 2 else 1e-5) * table[k],
                )  # fmt: skip
                f.row(
                    "B-FLAP", f"lagging frequency {k + 1} at Omega = {speed:g}, {strains} strains", lag[k],
                    np.sqrt(value**2 - speed**2), "Coriolis forces stretch the beam by about Omega^2/EA, 2e-6.",
                    PROPERTY, relative=2e-6,
                )  # fmt: skip
            summaries.append(summary)
            flaps.append(flap)
        good_pairs(f, "B-FLAP", f"{strains} strains", *summaries)
    for speed, table in reference()["B-FLAP-MASS"].items():
        flap, _ = frequencies(solve(build(speed, 32, mass=1.0, modes=2)).steps[-1].summary, table, speed)
        solution = exact(speed, 1.0)
        for k, value in enumerate(flap):
            what = f"flapping frequency {k + 1} at Omega = {speed:g}, a mass of rho A L at the tip"
            misprint = (speed, k) == (4.0, 1)
            if not misprint:
                f.row(
                    "B-FLAP-MASS", what, value, table[k], "The source prints four digits.", MASS,
                    tolerance=last_place(table[k]) + 4e-6 * table[k],
                )  # fmt: skip
            f.row(
                "B-FLAP-MASS", f"{what}, against the differential equation", value, solution[k],
                "32 elements of fourth order leave 2e-6, and the beam stretches by Omega^2/EA, 1.5e-6 and less.",
                INDEPENDENT, relative=4e-6,
            )  # fmt: skip
    speeds = np.array(list(known))
    f.figure(
        "Flapping frequencies",
        [Curve(speeds, np.array(flaps)[:, k], f"mode {k + 1}, 16 elements") for k in range(3)]
        + [published("Wright et al. (1982)", speeds, np.array(list(known.values()))[:, :3])],
        "Omega", "Circular frequency", "EI = rho A = L = 1.",
    )  # fmt: skip
