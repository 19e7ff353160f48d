r"""Two skew bodies on a hinge of the ground, with four kinds of joints between them.

        ___________ hinge of the ground, axis (.3, 1, .4)
            |
          [ A ]        A: 2.3 kg at (.3, .1, -.2), B: 1.1 kg at (.7, .35, -.3), both with products of inertia and with
            |          axes turned against those of the model
            o          joint at (.55, .2, -.25) along (1, -.3, .5): universal, cylindrical, planar, point on a plane;
            |          all but the first with a spring and damper across it
          [ B ] P      weight along (1.3, -2.1, -9.2), from rest

Source: Exudyn 1.13.6 (J. Gerstmayr, "Exudyn - a C++-based Python package for flexible multibody systems", Multibody
System Dynamics 60 (2024) 533-561): generic joints with index 3, generalised-alpha with a spectral radius of .7.
Numbers are extrapolated from steps of 50 and 25 us; those from steps twice as long differ by 1e-10 at most.  Those of
this package are extrapolated from two steps as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import program

CAPABILITY = "mechanisms"
CASES = {
    "B-SKEW": "motion of two skew bodies with products of inertia on universal, cylindrical, planar and other joints"
}

EXUDYN = program("Exudyn 1.13.6")
DURATION, STEP = 0.4, 2e-3
AXIS = np.array((1.0, -0.3, 0.5))
ACROSS = np.cross(AXIS, (0.2, 0.9, 0.1))
INERTIA = {
    "A": [[0.05, 0.012, -0.008], [0.012, 0.07, 0.01], [-0.008, 0.01, 0.04]],
    "B": [[0.02, -0.004, 0.003], [-0.004, 0.015, 0.002], [0.003, 0.002, 0.022]],
}
POINT = (1.0, 0.5, -0.1)
SENSORS: dict[Any, str] = {"position": "m", "velocity": "m/s", "angular velocity": "rad/s"}


def reference() -> dict:
    """Return place and velocity of P and the angular velocity of B at the end, of each kind of joint, by Exudyn."""
    return {
        "universal": (
            (0.77684064, 0.21302711, -0.65954599),
            (-2.5430666, -0.51161217, -3.0126688),
            (-5.13599207, 6.96635379, 0.52925078),
        ),
        "cylindrical": (
            (0.63569594, 0.4333667, -0.70052405),
            (-2.25964157, -1.06450959, -1.80362913),
            (-4.48478922, 2.31380088, -0.41197501),
        ),
        "planar": (
            (0.6923212, 0.38600533, -0.60328308),
            (-1.66291846, -0.39386673, -2.10291788),
            (-1.55258162, 2.07018607, 0.81389822),
        ),
        "point_on_plane": (
            (0.36071658, 0.50829362, -0.55073266),
            (-0.47072175, -1.30835486, -0.43610922),
            (3.88692124, -1.00637986, -3.14812373),
        ),
    }


def build(kind: Any = "universal", h: float = STEP) -> Model:
    """Return the bodies with a kind of joint between them, and their transient."""
    model = Model(3, "skew bodies", gravity=(1.3, -2.1, -9.2))
    model.body("A", (0.3, 0.1, -0.2), 2.3, INERTIA["A"], rotation=(0.3, -0.5, 0.7))
    model.body("B", (0.7, 0.35, -0.3), 1.1, INERTIA["B"], rotation=(-0.8, 0.2, 0.4))
    model.joint("hinge", "revolute", "ground", "A", point=(0.0, 0.0, 0.05), axis=(0.3, 1.0, 0.4))
    other: dict[str, Any] = {"axis_b": ACROSS} if kind == "universal" else {}
    model.joint("joint", kind, "A", "B", point=(0.55, 0.2, -0.25), axis=AXIS, **other)
    if kind != "universal":
        model.spring("spring", "A", "B", 60.0, 1.5, 0.5, (0.2, 0.3, 0.1), (0.8, 0.3, -0.2))
    for name in SENSORS:
        place: dict[str, Any] = {} if name == "angular velocity" else {"point": POINT}
        model.sensor(name, name, on="B", **place)
    model.transient_step(DURATION, h, frames=0)
    return model


def series(kind: str, h: float) -> list[np.ndarray]:
    """Return what the sensors read, each (n, 3)."""
    step = solve(build(kind, h)).steps[0]
    return [np.asarray(step.series[f"sensor/{name}"]) for name in SENSORS]


def check(f: Findings) -> None:
    why = "Extrapolated from two steps, the error is (w h)^4, where w = 20/s is above all rates of the bodies."
    paths = []
    for kind, numbers in reference().items():
        coarse, fine = series(kind, STEP), series(kind, 0.5 * STEP)
        for (name, unit), a, b, exact in zip(SENSORS.items(), coarse, fine, numbers, strict=True):
            size = float(np.linalg.norm(exact))
            for axis, value, there in zip("xyz", (4.0 * b[-1] - a[-1]) / 3.0, exact, strict=True):
                f.row(
                    "B-SKEW", f"{kind}: {name} {axis} [{unit}]", value, there, why, EXUDYN,
                    tolerance=(20.0 * STEP) ** 4 * size,
                )  # fmt: skip
        paths.append(Curve(fine[0][:, 0], fine[0][:, 2], kind.replace("_", " ")))
        paths.append(published("Exudyn", numbers[0][0], numbers[0][2]))
    f.figure("Paths of P", paths, "x [m]", "z [m]", "The point P of B in 0.4 s, and where Exudyn has it at the end.")
