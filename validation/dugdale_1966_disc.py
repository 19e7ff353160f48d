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
paper.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import trapezoid
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import in_ansys_manual
from fem_mbs.validation.shell_grids import shell, square

CAPABILITY = "rotors"
CASES = {"S-SAW": "critical speed of a spinning disc that is clamped at its centre"}

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


def frequency(speed: float, diameters: int) -> float:
    """Return the lowest frequency [rad/s] with this number of nodal diameters."""
    step = solve(build(speed, diameters)).steps[-1]
    shapes = np.asarray(step.frames["displacement"])[-3:, :, 2]
    rim = build(0.0).meshes["s"][0].node_sets["right"]
    t = np.linspace(0.0, 0.5 * np.pi, len(rim))
    for w, shape in zip(step.summary["frequencies_hz"], shapes[:, rim], strict=True):
        parts = np.abs([trapezoid(shape * np.cos(k * t), t) for k in range(diameters % 2, 7, 2)])
        if 2 * int(np.argmax(parts)) + diameters % 2 == diameters:
            return 2.0 * np.pi * w
    raise ValueError(f"no mode of {diameters} nodal diameters among the lowest")


def check(f: Findings) -> None:
    found, curves = {}, []
    speeds = np.array((0.0, 2000.0, 4000.0)) * RPM
    for n in (2, 3, 4):
        # omega^2 is linear in Omega^2 but for changes of the shape: a parabola through three speeds
        squares = np.polyfit(speeds**2, np.array([frequency(s, n) for s in speeds]) ** 2, 2)
        found[n] = brentq(lambda s, n=n, c=squares: np.polyval(c, s * s) - (n * s) ** 2, 10.0, 9000.0 * RPM) / RPM
        fine = np.linspace(0.0, 4000.0, 41) * RPM
        curves.append(Curve(fine / RPM, np.sqrt(np.polyval(squares, fine**2)) / RPM - n * fine / RPM, f"{n} diameters"))
    f.row(
        "S-SAW", "critical speed [rpm]", min(found.values()), reference()["critical"],
        "1 %: three digits are printed; 4 x 4 quadratic cells of a quarter", in_ansys_manual("Dugdale (1966)", "VM301"),
        relative=0.01,
    )  # fmt: skip
    curves.append(published("Dugdale (1966)", reference()["critical"], 0.0))
    f.figure("Backward waves in space", curves, "Speed [rpm]", "Frequency [1/min]")
