"""A disc that spins, clamped at its centre: the speed at which a backward wave stands still.

A saw blade of steel is clamped up to a radius of 3 in and free at 12 in.  Bending waves with n nodal diameters turn
backwards against the disc; at the critical speed, where omega_n(Omega) = n Omega, one of them stands still in space,
and a force that does not move drives it.

              .-------.
            /   .---.   \\         E = 2.03e11 Pa, 7850 kg/m^3, nu = .3, h = .12 in
           |   (|||||)   |        centrifugal forces stiffen it
            \\   '---'   /
              '-------'

Source: D.S. Dugdale, "Stiffness of a spinning disc clamped at its centre", J. Mech. Phys. Solids 14 (1966), 349-356.
The number was read in the verification manual of ANSYS Mechanical APDL (problem VM301), which prints it after this
paper.  Rows compare with Ritz's method for Kirchhoff's disc under the stresses of its rotation.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Legendre
from scipy.integrate import trapezoid
from scipy.linalg import eigh
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import INDEPENDENT
from fem_mbs.validation.shell_grids import shell, square

CAPABILITY = "rotors"
CASES = {"S-SAW": "critical speed of a spinning disc that is clamped at its centre"}

DEVIATIONS = (
    "Dugdale (1966), in VM301 of ANSYS: 2650 rpm; Ritz's method for Kirchhoff's disc gives 2630 rpm, and rows compare "
    "with this.",
)

INCH, RPM = 0.0254, np.pi / 30.0


def build(speed: float = 2650.0 * RPM, diameters: int = 2, n: int = 4) -> Model:
    """Return a quarter of the disc that turns with ``speed`` [rad/s], symmetric as n nodal diameters are."""

    def place(a, b):
        r, t = (3.0 + 9.0 * a) * INCH, 0.5 * np.pi * b
        return r * np.cos(t), r * np.sin(t), 0.0 * a

    model = shell(square(place, n, n, "quad8"), 2.03e11, 0.3, 0.12 * INCH, 7850.0)
    model.fix("s", ["rotation z"])
    model.fix("s:left")
    model.fix("s:bottom", ["y", "rotation x"])
    model.fix("s:top", ["x", "rotation y"] if diameters % 2 == 0 else ["x", "z", "rotation x"])
    model.centrifugal("turn", speed, axis=(0.0, 0.0, 1.0))
    model.static_step()
    model.modes_step(count=3)
    return model


def reference() -> dict[str, float]:
    """Return the critical speed [rpm]."""
    return {"critical": 2650.0}


def ritz(diameters: int, terms: int = 10) -> float:
    """Return the speed [rpm] at which the wave stands still, by Ritz's method with w = (r - a)^2 P_i(r) cos n t.

    The stiffness is that of bending and of the membrane stresses of the rotation.  These follow from
    u = A r + B/r - (1 - nu^2) rho Omega^2 r^3/(8 E), u(a) = 0, and no stress at the rim; Omega = 1 rad/s here.
    """
    a, b, h, n = 3.0 * INCH, 12.0 * INCH, 0.12 * INCH, diameters
    E, nu, density = 2.03e11, 0.3, 7850.0
    x, weights = np.polynomial.legendre.leggauss(2 * terms + 20)
    r, scale = 0.5 * (b - a) * x + 0.5 * (a + b), 2.0 / (b - a)
    shapes = [Legendre.basis(i) * Legendre.fromroots([-1.0, -1.0]) for i in range(terms)]
    w, w1, w2 = (scale**k * np.array([p.deriv(k)(x) if k else p(x) for p in shapes]) for k in range(3))
    c = (1.0 - nu**2) * density / (8.0 * E)
    A, B = np.linalg.solve([[a, 1.0 / a], [1.0 + nu, -(1.0 - nu) / b**2]], [c * a**3, (3.0 + nu) * c * b**2])
    size = E / (1.0 - nu**2)
    radial = size * ((1.0 + nu) * A - (1.0 - nu) * B / r**2 - (3.0 + nu) * c * r**2)
    hoop = size * ((1.0 + nu) * A + (1.0 - nu) * B / r**2 - (1.0 + 3.0 * nu) * c * r**2)
    around, twist = w1 / r - n * n * w / r**2, n * (w1 / r - w / r**2)

    def product(p: np.ndarray, q: np.ndarray, stress=1.0) -> np.ndarray:
        return (p * (weights * r * stress)) @ q.T / scale

    cross = product(w2, around)
    K = product(w2, w2) + product(around, around) + nu * (cross + cross.T) + 2.0 * (1.0 - nu) * product(twist, twist)
    K *= size * h**3 / 12.0
    T = h * (product(w1, w1, radial) + n * n * product(w / r, w / r, hoop))
    # omega^2 M = K + Omega^2 T at omega = n Omega
    largest = eigh(n * n * density * h * product(w, w) - T, K, eigvals_only=True)[-1]
    return float(1.0 / np.sqrt(largest)) / RPM


def frequency(speed: float, diameters: int, cells: int = 4) -> float:
    """Return the lowest frequency [rad/s] with this number of nodal diameters."""
    step = solve(build(speed, diameters, cells)).steps[-1]
    shapes = np.asarray(step.frames["displacement"])[-3:, :, 2]
    rim = build(0.0, n=cells).meshes["s"][0].node_sets["right"]
    t = np.linspace(0.0, 0.5 * np.pi, len(rim))
    for w, shape in zip(step.summary["frequencies_hz"], shapes[:, rim], strict=True):
        parts = np.abs([trapezoid(shape * np.cos(k * t), t) for k in range(diameters % 2, 7, 2)])
        if 2 * int(np.argmax(parts)) + diameters % 2 == diameters:
            return 2.0 * np.pi * w
    raise ValueError(f"no mode of {diameters} nodal diameters among the lowest")


def check(f: Findings) -> None:
    curves, exact = [], []
    speeds = np.array((0.0, 2000.0, 4000.0)) * RPM
    for n in (2, 3, 4):
        found = []
        for cells in (4, 6):
            # omega^2 is linear in Omega^2 but for changes of the shape: a parabola through three speeds
            squares = np.polyfit(speeds**2, np.array([frequency(s, n, cells) for s in speeds]) ** 2, 2)
            found.append(
                brentq(lambda s, n=n, c=squares: np.polyval(c, s * s) - (n * s) ** 2, 10.0, 9000.0 * RPM) / RPM
            )
        fine = np.linspace(0.0, 4000.0, 41) * RPM
        curves.append(Curve(fine / RPM, np.sqrt(np.polyval(squares, fine**2)) / RPM - n * fine / RPM, f"{n} diameters"))
        exact.append(ritz(n))
        f.row(
            "S-SAW", f"speed at which the wave of {n} diameters stands still [rpm]", found[1], exact[-1],
            "The change from 4 x 4 to 6 x 6 quadratic cells of a quarter.", INDEPENDENT,
            tolerance=abs(found[1] - found[0]),
        )  # fmt: skip
    curves.append(published("Dugdale (1966)", reference()["critical"], 0.0))
    curves.append(Curve(np.array(exact), np.zeros(3), "Ritz", "o"))
    f.figure("Backward waves in space", curves, "Speed [rpm]", "Frequency [1/min]")
