"""Shells at large rotations.

Four of the eight popular benchmarks: a strip under shear at its end, the same rolled up by a moment, an annular plate
that is slit and lifted along the slit, and a hemisphere with a hole of 18 degrees under pairs of forces.

      clamped |====================> F      strip 10 (12) x 1, h = 0.1, E = 1.2e6, nu = 0
     annular plate: radii 6 and 10, h = 0.03, E = 21e6, nu = 0, 0.8 per length along the slit
     hemisphere: radius 10, h = 0.04, E = 6.825e7, nu = 0.3, forces of 400

Source: K.Y. Sze, X.H. Liu, S.H. Lo, "Popular benchmark problems for geometric nonlinear analysis of shells", Finite
Elements in Analysis and Design 40 (2004), 1551-1569, doi:10.1016/j.finel.2003.11.001: tables of ABAQUS S4R.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, printed
from fem_mbs.validation.shell_grids import CELLS, on_edge, shell, square

CAPABILITY = "shells"
CASES = {
    "S-SHEAR": "a strip under shear at its end",
    "S-ROLL": "a strip rolls up to a circle",
    "S-SLIT": "a slit annular plate is lifted",
    "S-HEMISPHERE": "a hemisphere under pairs of forces",
}

SOURCE = "Sze, Liu and Lo (2004), ABAQUS S4R, table of the"
SHEAR, SLIT = printed(f"{SOURCE} cantilever under end shear"), printed(f"{SOURCE} slit annular plate")
HEMISPHERE = printed(f"{SOURCE} hemispherical shell")


def surface(
    place: Callable, nx: int, ny: int, E: float, nu: float, thickness: float, increments: int, cell: str = "quad"
) -> Model:
    """Return a shell on the unit square that ``place(u, v)`` maps, clamped nowhere, with its edges as sets."""
    model = shell(square(place, nx, ny, cell), E, nu, thickness)
    model.field_names = ()
    model.static_step(increments=increments)
    return model


def build(length: float = 10.0, n: int = 16, cell: str = "quad") -> Model:
    """Return the strip of n elements, clamped at its left."""
    model = surface(lambda u, v: (length * u, v, 0.0 * u), n, 1, 1.2e6, 0.0, 0.1, 20, cell)
    model.fix("s:left")
    model.sensor("u", "displacement", on="s:b")
    return model


def reference() -> dict:
    """Return displacements of the tip at 5, 10, 15 and 20 twentieths of the shear, and final ones of the others."""
    return {
        "shear": {5: (0.563, 3.015), 10: (1.604, 4.933), 15: (2.541, 6.031), 20: (3.286, 6.698)},
        "slit": (13.891, 17.528),
        "hemisphere": (4.067, 8.178),
    }


def check(f: Findings) -> None:
    known = reference()
    curves = []
    for cell in CELLS:
        n = 8 if cell in ("quad8", "triangle6") else 16
        model = build(10.0, n, cell)
        on_edge(model, "right", (0.0, 0.0, 4.0))
        u = solve(model).sensor("u").values
        for k, (back, up) in known["shear"].items():
            for word, value, exact in (("back", -u[k, 0], back), ("up", u[k, 2], up)):
                label = f"tip {word} at {k}/20 of the load, {n} {cell}"
                f.row(
                    "S-SHEAR",
                    label,
                    value,
                    exact,
                    "The table has 16 elements as well; 1 % is demanded.",
                    SHEAR,
                    relative=0.01,
                )
        load = np.linspace(0.0, 4.0, len(u))
        curves += [Curve(load, -u[:, 0], f"back, {cell}"), Curve(load, u[:, 2], f"up, {cell}")]
    at = 0.2 * np.array(list(known["shear"]))
    table = np.array(list(known["shear"].values()))
    curves.append(published("Sze et al. (2004)", at, table[:, :2]))
    f.figure("Strip under shear", curves, "Force [N]", "Displacement of the tip [m]")

    rolled = []
    for n in (8, 16):
        model = build(12.0, n, "quad")
        on_edge(model, "right", (0.0, -50.0 * np.pi / 3.0, 0.0), "moment")
        rolled.append(solve(model).sensor("u").values[1:])
    phi = np.linspace(0.0, 2.0 * np.pi, 21)[1:]
    exact = np.column_stack((12.0 / phi * np.sin(phi) - 12.0, 0.0 * phi, 12.0 / phi * (1.0 - np.cos(phi))))
    f.converged_course("S-ROLL", "largest distance from the circle along an axis, h -> 0, over the length", rolled,
                       exact, CLOSED_FORM, scale=12.0, order=4)  # fmt: skip

    def slit(u, v):
        return (6.0 + 4.0 * v) * np.cos(2.0 * np.pi * u), (6.0 + 4.0 * v) * np.sin(2.0 * np.pi * u), 0.0 * u

    model = surface(slit, 80, 10, 21e6, 0.0, 0.03, 20)
    model.fix("s:right")
    on_edge(model, "left", (0.0, 0.0, 3.2))
    model.sensor("inner", "displacement", on="s:a")
    model.sensor("outer", "displacement", on="s:d")
    found = solve(model)
    for name, exact in zip(("inner", "outer"), known["slit"], strict=True):
        value = found.sensor(name).values[-1, 2]
        f.row(
            "S-SLIT", f"lift at the {name} radius, 80 x 10 quad", value, exact, "1 % is demanded.", SLIT, relative=0.01
        )

    def hemisphere(u, v):
        t, p = u * np.pi / 2.0, np.radians(72.0) * v
        return 10.0 * np.cos(t) * np.cos(p), 10.0 * np.sin(t) * np.cos(p), 10.0 * np.sin(p)

    model = surface(hemisphere, 16, 16, 6.825e7, 0.3, 0.04, 10)
    model.fix("s:d", ["z"])
    model.fix("s:left", ["y", "rotation x", "rotation z"])
    model.fix("s:right", ["x", "rotation y", "rotation z"])
    model.force("A", "s:a", (200.0, 0.0, 0.0))
    model.force("B", "s:b", (0.0, -200.0, 0.0))
    model.sensor("outwards", "displacement", on="s:a")
    model.sensor("inwards", "displacement", on="s:b")
    found = solve(model)
    outwards, inwards = found.sensor("outwards").values[-1, 0], -found.sensor("inwards").values[-1, 1]
    for word, value, exact in zip(("out", "in"), (outwards, inwards), known["hemisphere"], strict=True):
        f.row(
            "S-HEMISPHERE",
            f"{word}wards, 16 x 16 quad",
            value,
            exact,
            "The mesh leaves 2 %.",
            HEMISPHERE,
            relative=0.02,
        )
