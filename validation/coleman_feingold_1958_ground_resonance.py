"""Ground resonance: a rotor with hinged blades on a flexible airframe, isotropic and not.

The blades of a helicopter swing about lag hinges in the plane of the rotor.  Seen in space their whirl w - Omega is
slow, and where it meets a frequency of the airframe on its landing gear, the motion grows: the centre of mass of the
blades leaves the axis, and feeds on the rotation.

             y                  blade: mass m at a from its hinge, hinge at e from the axis,
             |   / lag            spring k_b, damper c_b
         .---o--o-----.         hub: mass M on springs k_x, k_y, dampers c
        /|\\  / hub              speed Omega
       k_y  c

Source: R.P. Coleman, A.M. Feingold, "Theory of self-excited mechanical oscillations of helicopter rotors with hinged
blades", NACA report 1351 (1958).  In multi-blade coordinates b_c, b_s of N >= 3 blades the characteristic equation is
the determinant of four rows (kind of reference: closed form, derived here from Lagrange's equations of their model):

    x: M_t p^2 + c p + k_x          with -N/2 m a p^2 b_s
    y: M_t p^2 + c p + k_y          with +N/2 m a p^2 b_c
    b_c: I (p^2 - Omega^2) + c_b p + k_b + m a e Omega^2,  +(2 I Omega p + c_b Omega) b_s,  +m a p^2 y
    b_s: the same,                                        -(2 I Omega p + c_b Omega) b_c,  -m a p^2 x

and all other motions of the blades are those of one blade on a hub at rest.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY

CAPABILITY = "rotors"
CASES = {"B-GROUND": "ground resonance of 3, 4 and 5 blades on even and uneven supports, by multi-blade coordinates"}

HUB, MASS, HINGE, ARM, SPRING, LAG = 80.0, 3.0, 0.3, 2.0, 300.0, 10.0
DAMPER = 60.0
EVEN, UNEVEN = (9e4, 9e4), (9e4, 5e4)
SPEEDS = (15.0, 30.0, 45.0)


def build(blades: int = 3, support: tuple[float, float] = (9e4, 9e4)) -> Model:
    """Return the rotor in the plane without steps; bodies of blades have no inertia of their own."""
    model = Model(2, "Ground resonance")
    model.node("hub", (0.0, 0.0))
    model.point_mass("mass", "hub", HUB)
    for axis, stiffness in zip("xy", support, strict=True):
        model.nodal_spring(f"gear {axis}", "hub", axis, stiffness, DAMPER)
    model.body("disc", mass=1e-6, inertia=1e-2, position=(0.0, 0.0))
    model.joint("axle", "pin", "hub", "disc", point=(0.0, 0.0))
    model.motion("drive", "disc", "rotation", 0.0)
    for b in range(blades):
        angle = 2.0 * np.pi * b / blades
        way = np.array([np.cos(angle), np.sin(angle)])
        model.body(f"blade {b}", mass=MASS, inertia=1e-9, position=tuple((HINGE + ARM) * way))
        model.joint(f"hinge {b}", "revolute", "disc", f"blade {b}", point=tuple(HINGE * way))
        model.torsion_spring(f"lag {b}", "disc", f"blade {b}", SPRING, LAG)
    model.rotor("rotor", on=["disc", *(f"blade {b}" for b in range(blades))])
    return model


def characteristic(blades: int, support: tuple[float, float], speed: float) -> np.ndarray:
    """Return the roots of the characteristic equation [1/s], all conjugates included."""
    static, inertia = MASS * ARM, MASS * ARM**2 + 1e-9
    M, C, K = np.zeros((3, 4, 4))  # x, y, b_c, b_s
    M[0, 0] = M[1, 1] = HUB + 1e-6 + blades * MASS
    C[0, 0] = C[1, 1] = DAMPER
    K[0, 0], K[1, 1] = support
    M[0, 3], M[1, 2] = -0.5 * blades * static, 0.5 * blades * static
    M[2, 1], M[3, 0] = static, -static
    M[2, 2] = M[3, 3] = inertia
    C[2, 2] = C[3, 3] = LAG
    C[2, 3], C[3, 2] = 2.0 * inertia * speed, -2.0 * inertia * speed
    K[2, 2] = K[3, 3] = SPRING + static * HINGE * speed**2 - inertia * speed**2
    K[2, 3], K[3, 2] = LAG * speed, -LAG * speed
    A = np.block([[np.zeros((4, 4)), np.eye(4)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    return np.linalg.eigvals(A)


def reference(blades: int = 4, support: tuple[float, float] = UNEVEN) -> dict[str, float]:
    """Return the speeds [rad/s] between which the motion grows, "onset" and "end"."""

    def growth(speed: float) -> float:
        return float(characteristic(blades, support, speed).real.max())

    speeds = np.linspace(20.0, 120.0, 401)
    grows = np.array([growth(s) for s in speeds]) > 0.0
    first, last = np.flatnonzero(grows)[[0, -1]]
    low = brentq(growth, speeds[first - 1], speeds[first], xtol=1e-10)
    end = brentq(growth, speeds[last], speeds[last + 1], xtol=1e-10)
    return {"onset": float(low), "end": float(end)}


def eigenvalues(blades: int, support: tuple[float, float], speed: float) -> tuple[np.ndarray, dict]:
    """Return the eigenvalues in multi-blade coordinates and the summary of the step."""
    model = build(blades, support)
    model.complex_modes_step(count=blades + 2, rotor="rotor", speed=speed, frame="multi-blade")
    summary = solve(model).steps[-1].summary
    return np.array(summary["eigenvalues"]) @ (1.0, 1j), summary


def check(f: Findings) -> None:
    for support, word in ((EVEN, "even"), (UNEVEN, "uneven")):
        for blades in (3, 4, 5):
            worst = 0.0
            for speed in SPEEDS:
                p, summary = eigenvalues(blades, support, speed)
                coupled = characteristic(blades, support, speed)
                found = np.concatenate((p, p.conj()))
                worst = max(worst, np.abs(coupled[:, None] - found).min(axis=1).max() / np.abs(coupled).max())
            f.zero(
                "B-GROUND",
                f"{blades} blades on {word} supports, roots of the characteristic equation, relative distance", worst,
                1e-12,
                "The closed form is exact; it holds the inertia of the disc and of the bodies too.", CLOSED_FORM,
            )  # fmt: skip
            names = [mode["name"] for mode in summary["blades"]]
            if blades != 4:  # of which the collective and the differential mode are equal
                f.row("B-GROUND", f"{blades} blades on {word} supports, collective modes", names.count("collective"), 1,
                      "The number of motions is a whole number.", PROPERTY, tolerance=0.0)  # fmt: skip
    low, high = reference().values()

    def growth(speed: float) -> float:
        return float(eigenvalues(4, UNEVEN, speed)[0].real.max())

    for what, exact in (("from", low), ("up to", high)):
        found = brentq(growth, exact - 0.5, exact + 0.5, xtol=1e-7)
        f.row("B-GROUND", f"4 blades on uneven supports, speed {what} which motions grow [rad/s]", found, exact,
              "The closed form is exact; the search ends at 1e-7 rad/s.", CLOSED_FORM, tolerance=1e-7)  # fmt: skip
    model = build(4, UNEVEN)
    model.campbell_step("rotor", np.linspace(2.0, 60.0, 30).tolist(), count=6, frame="multi-blade")
    summary = solve(model).steps[-1].summary
    speeds = np.array(summary["speeds"])
    values = np.array([b["eigenvalues"] for b in summary["branches"]]) @ (1.0, 1j)
    roots = [characteristic(4, UNEVEN, s) for s in speeds]
    off = max(
        np.abs(row[:, None] - np.concatenate((values[:, k], values[:, k].conj()))).min(axis=1).max()
        for k, row in enumerate(roots)
    )
    what = "branches of the Campbell diagram over all speeds, distance [1/s]"
    f.zero("B-GROUND", what, off, 1e-10, "The closed form is exact; only round-off is left.", CLOSED_FORM)
    dots = np.array([np.sort(row.imag[row.imag >= 0.0])[-4:] for row in roots])
    f.figure(
        "Campbell diagram of four blades on uneven supports, seen in space",
        [*(Curve(speeds, np.abs(v.imag) / (2 * np.pi), "computed" if k == 0 else "") for k, v in enumerate(values)),
         *(Curve(speeds, dot / (2 * np.pi), "closed form" if k == 0 else "", "o") for k, dot in enumerate(dots.T))],
        "Speed [rad/s]", "Frequency [Hz]",
    )  # fmt: skip
    f.figure(
        "Growth rates",
        [*(Curve(speeds, v.real, "computed" if k == 0 else "") for k, v in enumerate(values)),
         Curve(speeds, np.array([row.real.max() for row in roots]), "closed form, largest", "o")],
        "Speed [rad/s]", "Growth rate [1/s]",
    )  # fmt: skip
