"""A cantilever that turns: flapping and lagging frequencies against the speed.

A slender cantilever turns about an axis through its root, across its length.  The tension that the rotation brings
stiffens it; seen from the rotating frame its motions out of the plane of rotation (flapping) and in it (lagging) have
constant coefficients about the stretched, steadily rotating state.

            ^ z  Omega
            |                                      EI = rho A = L = 1, no hub
           (o)=========================            inextensible: EA = 1e8
                        L                          flapping: along z

Source: A.D. Wright, C.E. Smith, R.W. Thresher, J.L.C. Wang, "Vibration modes of centrifugally stiffened beams",
J. Appl. Mech. 49 (1982), 197-202, table for a uniform clamped beam without hub (Frobenius' method): flapping.  In the
plane of rotation the centrifugal force has a share across the bent beam, so that w_lag^2 = w_flap^2 - Omega^2 where
bending is the same in both planes.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs
from fem_mbs.validation.kinds import PROPERTY, printed

CAPABILITY = "modes"
CASES = {"B-FLAP": "rotating cantilever: flapping and lagging against the speed"}

WRIGHT = printed("Wright et al. (1982), table of the uniform clamped beam without hub")


def build(speed: float = 0.0, n: int = 16, strains: str = "exact") -> Model:
    """Return the beam of n elements, turned by a motor."""
    model = Model(3, "rotating cantilever")
    model.section("beam", "stiffness", EA=1e8, EI=1.0, GJ=1e4, GA=np.inf, rhoA=1.0, rhoI=1e-9)
    model.line("beam", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), n)
    model.beams("beam", "beam", "beam", strains=strains)
    axis, point = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    model.joint("motor", "revolute", "ground", "beam:start", point=point, axis=axis, function=f"{speed}*t")
    model.rotor("beam", axis=axis, point=point)
    model.complex_modes_step(count=4, rotor="beam", speed=speed, frame="rotating")
    return model


def reference() -> dict:
    """Return speed: first two flapping frequencies."""
    return {0.0: (3.5160, 22.0345), 2.0: (4.1373, 22.6149), 6.0: (7.3604, 26.809), 12.0: (13.170, 37.603)}


def frequencies(summary: dict, flap: tuple[float, float], speed: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the four lowest frequencies as flapping and lagging ones, by their nearest expectations."""
    p = np.array(summary["eigenvalues"])
    w = list(np.sort(p[p[:, 1] > 0.0, 1])[:4])
    wanted = [*flap, *np.sqrt(np.square(flap) - speed**2)]
    found = [w.pop(int(np.argmin(np.abs(np.array(w) - x)))) for x in wanted]
    return np.array(found[:2]), np.array(found[2:])


def check(f: Findings) -> None:
    known = reference()
    for strains in ("exact", "generalised", "corotational"):
        summaries, flaps = [], []
        for speed, exact in known.items():
            summary = solve(build(speed, strains=strains)).steps[-1].summary
            flap, lag = frequencies(summary, exact, speed)
            for k in range(2):
                f.row(
                    "B-FLAP", f"flapping frequency {k + 1} at Omega = {speed:g}, {strains} strains, 16 elements",
                    flap[k], exact[k], "The source prints these digits; 16 elements leave 1e-5.", WRIGHT,
                    tolerance=max(1e-5 * exact[k], 5.5e-5 if speed < 5.0 or exact[k] < 10.0 else 5.5e-4),
                )  # fmt: skip
                f.row(
                    "B-FLAP", f"lagging frequency {k + 1} at Omega = {speed:g}, {strains} strains", lag[k],
                    np.sqrt(flap[k] ** 2 - speed**2), "Coriolis forces stretch the beam by about Omega^2/EA, 2e-6.",
                    PROPERTY, relative=2e-6,
                )  # fmt: skip
            summaries.append(summary)
            flaps.append(flap)
        good_pairs(f, "B-FLAP", f"{strains} strains", *summaries)
    speeds = np.array(list(known))
    f.figure(
        "Flapping frequencies",
        [Curve(speeds, np.array(flaps)[:, k], f"mode {k + 1}, 16 elements") for k in range(2)]
        + [Curve(speeds, np.array(list(known.values()))[:, k], "published" if k == 0 else "", "o") for k in range(2)],
        "Omega", "Circular frequency", "EI = rho A = L = 1.",
    )  # fmt: skip
