"""A shaft with damping of its material on two elastic bearings: critical speeds, and whirl that the damping drives.

A uniform round shaft runs on two isotropic bearings without damping.  Its own viscous damping calms it below its first
critical speed, and drives forward whirl above it.

      k                              k        1.27 m, 101.6 mm thick, k = 17.5 MN/m
      A=============(->==============A        E = 210 GPa, 7800 kg/m^3, beta = 2e-4 s, without shear

Source: E.S. Zorzi, H.D. Nelson, "Finite element simulation of rotor-bearing systems with internal damping", J. Eng. for
Power 99 (1977), 71-76, case 1(a).  The numbers were read in the verification manual of ANSYS Mechanical APDL (problem
VM261), which prints them after this paper; the decrements are read off its figure 3.  The bending of a shaft on springs
with rotary inertia, gyroscopic moment and internal damping is solved here by collocation as well.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs, published
from fem_mbs.validation.chebyshev import differentiation
from fem_mbs.validation.kinds import INDEPENDENT, in_ansys_manual

CAPABILITY = "rotors"
DEVIATIONS = (
    "Zorzi and Nelson (1977), as in VM261: 4950 rpm for the first critical speed, above which the whirl is unstable; "
    "the differential equation has 5000.",
    "Zorzi and Nelson (1977), as VM261 reads their figure 3: decrements of -.0010 at 5149 rpm and -.0103 at 13 789 "
    "rpm; the differential equation has -.0038 and -.0167, and no damping of its whirl at the critical speed.",
)
CASES = {"B-INNER-DAMPING": "critical speeds and logarithmic decrements of a shaft with internal damping"}

AXIS = (1.0, 0.0, 0.0)
LENGTH, DIAMETER, E, DENSITY, BEARING, BETA = 1.27, 0.1016, 210e9, 7800.0, 17.5e6, 2e-4
AREA, INERTIA = np.pi * DIAMETER**2 / 4.0, np.pi * DIAMETER**4 / 64.0
RPM = np.pi / 30.0
SPEEDS = (0.0, 261.0, 539.25, 1047.0, 1444.0)


def build(n: int = 24) -> Model:
    """Return the shaft of n elements without steps; twist and stretch are stiff."""
    model = Model(3, "shaft with internal damping")
    model.section(
        "shaft", "stiffness", EA=100.0 * E * AREA, EI=E * INERTIA, GJ=100.0 * E * INERTIA, GA=np.inf,
        rhoA=DENSITY * AREA, rhoI=DENSITY * INERTIA,
    )  # fmt: skip
    model.line("shaft", (0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), n)
    model.beams("shaft", "shaft", "shaft", damping=BETA)
    for end in ("start", "end"):
        model.bearing(end, f"shaft:{end}", stiffness=BEARING, axis=AXIS)
    model.fix("shaft:start", ["x"])
    model.rotor("shaft", axis=AXIS)
    return model


def reference() -> dict:
    """Return critical speeds of forward whirl [rpm]."""
    return {"critical": (4950.0, 10500.0)}


def exact(speed: float, n: int = 16) -> np.ndarray:
    """Return the eigenvalues [1/s] of w = y + i z(x) exp(p t), by collocation at n + 1 Chebyshev points.

    The moment is EI (1 + beta (p - i Omega)) w''; rho A p^2 w - (rho I p^2 w' - 2 i rho I Omega p w')' + M'' = 0.  At
    the ends M = 0 and M' = rho I (p^2 - 2 i Omega p) w' +- k w.
    """
    _, d = differentiation(n, LENGTH)  # the first point is at x = L
    second, eye = d @ d, np.eye(n + 1)
    rotary, spin = DENSITY * INERTIA, 2.0 * DENSITY * INERTIA * speed
    bending = E * INERTIA
    mass = DENSITY * AREA * eye - rotary * second + 0j
    damping = 1j * spin * second + BETA * bending * second @ second
    stiffness = bending * (1.0 - 1j * BETA * speed) * second @ second
    for row, end, sign in ((1, 0, -1.0), (-2, n, 1.0)):
        mass[row] = -rotary * d[end]
        damping[row] = 1j * spin * d[end] + BETA * bending * (d @ second)[end]
        stiffness[row] = bending * (1.0 - 1j * BETA * speed) * (d @ second)[end] + sign * BEARING * eye[end]
        mass[end], damping[end] = 0.0, BETA * bending * second[end]
        stiffness[end] = bending * (1.0 - 1j * BETA * speed) * second[end]
    zero = np.zeros_like(eye)
    left = np.block([[zero, eye], [-stiffness, -damping]])
    right = np.block([[eye, zero], [zero, mass]])
    p = scipy.linalg.eigvals(left, right)
    return p[np.isfinite(p) & (np.abs(p) < 1e4)]


def modes(speed: float, summaries: list[dict]) -> np.ndarray:
    """Return the four lowest eigenvalues of bending [1/s] with positive imaginary part: backward first in each pair."""
    model = build()
    model.complex_modes_step(count=4, rotor="shaft", speed=speed, frame="fixed")
    summary = solve(model).steps[-1].summary
    summaries.append(summary)
    p = np.array(summary["eigenvalues"]) @ (1.0, 1j)
    p = p[p.imag > 1.0]
    return p[np.argsort(p.imag)][:4]


def check(f: Findings) -> None:
    summaries: list[dict] = []
    found = np.array([modes(speed, summaries) for speed in SPEEDS])
    for speed, row in zip(SPEEDS, found, strict=True):
        true = exact(speed)
        for k, p in enumerate(row):
            both = np.concatenate((true, true.conj()))  # backward whirl turns the other way
            nearest = both[np.argmin(np.abs(both - p))]
            f.zero(
                "B-INNER-DAMPING", f"whirl {k + 1} at {speed:g} rad/s, relative distance", abs(p - nearest) / abs(p),
                2e-4, "24 elements: (2 pi/24)^4/720 of bending, (2 pi/24)^2 of a splitting of 3e-3.", INDEPENDENT,
            )  # fmt: skip
    good_pairs(f, "B-INNER-DAMPING", "all speeds", *summaries)
    critical = []
    for k, target in enumerate(reference()["critical"]):
        speed = target * RPM
        for _ in range(2):  # of forward whirl, which hardly changes with the speed
            p = modes(speed, [])[2 * k : 2 * k + 2]
            speed = float(p[np.argmax(p.real)].imag if speed > 1.0 else p[1].imag)
        critical.append(speed)
        if k:  # the first one is a deviation
            f.row(
                "B-INNER-DAMPING", f"critical speed {k + 1} of forward whirl [rpm]", speed / RPM, target,
                "The numbers are printed in steps of 50 rpm.",
                in_ansys_manual("Zorzi and Nelson (1977), case 1(a)", "VM261"), tolerance=50.0,
            )  # fmt: skip
        f.zero(
            "B-INNER-DAMPING", f"growth at critical speed {k + 1} over the frequency", p.real.max() / speed, 1e-5,
            "The shaft does not see a whirl that turns with it, so its damping does nothing; left by two iterations.",
        )  # fmt: skip
    speeds = np.array(SPEEDS)
    f.figure(
        "Whirl against the speed",
        [*(Curve(speeds / RPM, found[:, k].imag / RPM, f"mode {k + 1}", "o-") for k in range(4)),
         Curve(speeds / RPM, speeds / RPM, "once per turn", ":"),
         published("Zorzi, Nelson (1977)", reference()["critical"], reference()["critical"])],
        "Speed [rpm]", "Whirl [rpm]",
    )  # fmt: skip
    f.figure(
        "Growth of forward whirl",
        [Curve(speeds / RPM, found[:, 2 * k : 2 * k + 2].real.max(axis=1), f"pair {k + 1}", "o-") for k in range(2)],
        "Speed [rpm]", "Real part [1/s]",
    )  # fmt: skip
