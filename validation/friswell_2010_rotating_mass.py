"""A mass on three springs in a frame that turns: displacements, frequencies and the speed at which it flies off.

             k_y = 100 kN/m
                 |                  m = .2 kg on springs along x, y and z, twice each,
      --k_x-- ( m ) --k_x--         r0 = .2 m from the axis z, about which all turns
        20       |                  k_x = 20 kN/m, k_z = 25 kN/m
                 |  r0
                 o z

Source: M.I. Friswell, J.E.T. Penny, S.D. Garvey, A.W. Lees, "Dynamics of rotating machines", Cambridge University Press
2010, pp. 423-429.  The numbers were read in the verification manual of ANSYS Mechanical APDL (problem VM197), which
prints them after these pages.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import in_ansys_manual

CAPABILITY = "rotors"
CASES = {"B-TURNING-MASS": "displacement and frequencies of a mass on springs in a turning frame, its stability"}

RADIUS, MASS, SPRINGS, RPM = 0.2, 0.2, (20e3, 100e3, 25e3), np.pi / 30.0


def build(rpm: float = 1000.0) -> Model:
    """Return the mass in the turning frame: a radial static step, and complex modes with Coriolis forces."""
    model = Model(3, "mass in a turning frame")
    model.node("m", (0.0, RADIUS, 0.0))
    model.point_mass("mass", "m", MASS)
    for axis, k in zip("xyz", SPRINGS, strict=True):
        model.nodal_spring(f"k{axis}", "m", axis, 2.0 * k)
    if rpm:
        model.centrifugal("turn", rpm * RPM, axis=(0.0, 0.0, 1.0))
    model.sensor("u", "displacement", on="m")
    model.static_step()
    model.complex_modes_step(count=3, coriolis=rpm > 0.0)
    return model


def reference() -> dict:
    """Return displacements [m] and frequencies in the plane [Hz] by the speed [rpm], and the threshold [rpm]."""
    return {
        "displacement": {500.0: ".5498e-3", 1000.0: "2.218e-3"},
        "frequencies": {0.0: ("71.18", "159.15"), 500.0: ("70.21", "160.02"), 1000.0: ("67.4", "162.51")},
        "threshold": "4271",
    }


def plane(rpm: float) -> tuple[np.ndarray, float]:
    """Return two frequencies in the plane of rotation [Hz] and the radial displacement [m]."""
    solution = solve(build(rpm))
    p = np.array(solution.steps[-1].summary["eigenvalues"])
    w = np.sort(p[p[:, 1] >= 0.0, 1]) / (2.0 * np.pi)
    out = np.sqrt(2.0 * SPRINGS[2] / MASS) / (2.0 * np.pi)
    return np.delete(w, int(np.argmin(np.abs(w - out)))), solution.sensor("u").values[-1, 1]


def threshold(low: float = 4000.0, high: float = 4500.0) -> float:
    """Return the speed [rpm] from which the mass leaves, to .1 rpm, by halving."""
    while high - low > 0.1:
        middle = 0.5 * (low + high)
        if solve(build(middle)).steps[-1].summary["stable"]:
            low = middle
        else:
            high = middle
    return low


def check(f: Findings) -> None:
    known = reference()
    where = in_ansys_manual("Friswell et al. (2010), pp. 423-429", "VM197")
    for rpm, texts in known["frequencies"].items():
        found, out = plane(rpm)
        for k, text in enumerate(texts):
            f.digits("B-TURNING-MASS", f"frequency {k + 1} at {rpm:g} rpm [Hz]", found[k], text, where)
        if rpm:
            f.digits(
                "B-TURNING-MASS", f"radial displacement at {rpm:g} rpm [m]", out, known["displacement"][rpm], where
            )
    f.digits("B-TURNING-MASS", "speed from which it is unstable [rpm]", threshold(), known["threshold"], where)
    speeds = np.linspace(0.0, 4000.0, 17)
    curves = np.array([plane(s)[0] for s in speeds])
    f.figure("Frequencies in the frame", [Curve(speeds, curves[:, k], f"mode {k + 1}") for k in range(2)]
             + [published("Friswell et al. (2010)", list(known["frequencies"]), list(known["frequencies"].values()))],
             "Speed [rpm]", "Frequency [Hz]")  # fmt: skip
