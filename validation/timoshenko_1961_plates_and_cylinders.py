"""Plates and cylinders: classical buckling loads.

Linear buckling of thin plates on simple supports under thrust along one edge and along both, and under shear, of a
clamped plate, and of a cylinder between diaphragms under axial compression.

      plates     N = k pi^2 D/b^2 on the side b: k = min over m of (m b/a + a/(m b))^2; 2 of both thrusts equal;
                 9.34 in shear (a = b); 10.07 of a clamped square
      cylinder   N = D (p^2 + q^2)^2/p^2 + E h p^2/(R^2 (p^2 + q^2)^2), p = m pi/L, q = n/R, at its least,
                 near E h^2/(R sqrt(3 (1 - nu^2)));  nu = 0, so that nothing bends before

A quarter of half the cylinder is computed, so that m is odd and n is even.

Source: S.P. Timoshenko, J.M. Gere, "Theory of elastic stability", 2nd ed., McGraw-Hill 1961, chapter 9 (plates; 9.34
and 10.07 are printed there) and chapter 11 (cylinders); the closed forms are evaluated here.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM, printed
from fem_mbs.validation.shell_grids import CELLS, on_edge, shell, square

CAPABILITY = "shells"
CASES = {
    "S-BRYAN": "plates under thrust, aspect ratios 0.7 to 3",
    "S-PANEL": "plates under shear and under two thrusts, and clamped",
    "S-TUBE": "cylinder under axial compression",
}

E, H = 200e9, 0.01
RADIUS, LENGTH = 1.0, 0.8
ASPECTS = (0.7, 1.0, 1.5, 2.0, 3.0)
MESH = "The change from elements twice as large: errors are of the first order at least."
PRINTED = printed("Timoshenko and Gere (1961), chapter 9")


def bending(nu: float) -> float:
    """Return the bending stiffness D [N m]."""
    return E * H**3 / 12.0 / (1.0 - nu**2)


def build(aspect: float = 1.0, load: str = "thrust", cell: str = "quad", n: int = 16) -> Model:
    """Return a plate of ``aspect`` by 1 m under N = pi^2 D; "clamped" is a plate under thrust."""
    mesh = square(lambda a, b: (aspect * a, b, 0.0 * a), round(n * max(aspect, 1.0)), n, cell)
    model = shell(mesh, E, 0.3, H)
    for edge, held in (("left", "x"), ("right", "x"), ("bottom", "y"), ("top", "y")):
        model.fix(f"s:{edge}", ["z", "rotation x", "rotation y"] if load == "clamped" else ["z", f"rotation {held}"])
    model.fix("s:a", ["x", "y"])
    model.fix("s:b" if load != "shear" else "s:d", ["y"] if load != "shear" else ["x"])
    N = np.pi**2 * bending(0.3)
    if load == "shear":
        for edge, force in (("right", (0, N)), ("left", (0, -N)), ("top", (N, 0)), ("bottom", (-N, 0))):
            on_edge(model, edge, (*force, 0.0))
    else:
        on_edge(model, "right", (-N, 0.0, 0.0))
        on_edge(model, "left", (N, 0.0, 0.0))
        if load == "two thrusts":
            on_edge(model, "top", (0.0, -N * aspect, 0.0))
            on_edge(model, "bottom", (0.0, N * aspect, 0.0))
    model.buckling_step(count=1, sign="positive")
    return model


def tube(cell: str, around: int = 36, along: int = 16) -> Model:
    """Return a quarter of half the cylinder under N = E h^2/(R sqrt(3)); its middle is the edge "bottom"."""

    def place(a, b):
        t = 0.5 * np.pi * a
        return RADIUS * np.sin(t), 0.5 * LENGTH * b, RADIUS * np.cos(t)

    model = shell(square(place, around, along, cell, flip=True), E, 0.0, H)
    model.fix("s:bottom", ["y", "rotation x", "rotation z"])
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    model.fix("s:right", ["z", "rotation x", "rotation y"])
    model.fix("s:top", ["x", "z"])
    on_edge(model, "top", (0.0, -E * H**2 / np.sqrt(3.0) * 0.5 * np.pi, 0.0))
    model.buckling_step(count=3, sign="positive")
    return model


def reference() -> dict:
    """Return factors k of plates, and of the cylinder the least loads over the classical one, of m odd and n even."""
    return {
        "bryan": {a: min((m / a + a / m) ** 2 / softer(m, a) for m in range(1, 9)) for a in ASPECTS},
        "shear": 9.34,
        "two thrusts": 2.0 / softer(1, 1.0),
        "clamped": 10.07,
        "tube": np.sort([tube_load(m, n) for m in range(1, 20, 2) for n in range(0, 40, 2)])[:3]
        * np.sqrt(3.0) * RADIUS / (E * H**2),
    }  # fmt: skip


def softer(m: int, aspect: float) -> float:
    """Return the factor 1 + D a^2/(5 G h/6) by which shear divides the buckling load of m half waves.

    The plate is ``aspect`` m long and 1 m wide, so that a^2 = pi^2 (m^2/aspect^2 + 1).
    """
    return 1.0 + H**2 / (5.0 * (1.0 - 0.3)) * np.pi**2 * (m**2 / aspect**2 + 1.0)


def tube_load(m: int, n: int) -> float:
    """Return the load per length [N/m] at which the cylinder buckles in m half waves along it and n waves round it.

    Shells of Koiter and Sanders, Poisson's ratio 0, u = U cos px cos nt, v = V sin px sin nt, w = W sin px cos nt; the
    thrust works on u'^2 + v'^2 + w'^2.  Donnell's equations, which leave v out of the bending, miss 1/n^2 of the load.
    """
    p, R = m * np.pi / LENGTH, RADIUS
    membrane = np.array([[p, 0.0, 0.0], [0.0, n / R, 1.0 / R], [-n / R * np.sqrt(0.5), p * np.sqrt(0.5), 0.0]])
    bent = np.array([
        [0.0, 0.0, p**2], [0.0, n / R**2, n**2 / R**2],
        np.sqrt(2.0) * np.array([0.25 * n / R**2, 0.75 * p / R, p * n / R]),
    ])  # fmt: skip
    # shear divides the bending stiffness as that of a plate
    shear = 1.0 + H**2 / 5.0 * (p**2 + (n / R) ** 2)
    stiffness = E * H * membrane.T @ membrane + bending(0.0) / shear * bent.T @ bent
    return float(np.linalg.eigvalsh(stiffness)[0] / p**2)


def factors(model: Model) -> np.ndarray:
    """Return the load factors of the only step."""
    return np.array(solve(model).steps[0].summary["load_factors"])


def check(f: Findings) -> None:
    known = reference()
    x = np.linspace(0.6, 3.2, 200)
    curves = [Curve(x, np.min([(m / x + x / m) ** 2 for m in range(1, 5)], axis=0), "closed form")]
    for cell in CELLS:
        n, around, along = {"quad8": (8, 18, 8), "triangle6": (12, 36, 16)}.get(cell, (16, 36, 16))
        found = {a: factors(build(a, cell=cell, n=n))[0] for a in ASPECTS}
        for aspect, value in found.items():
            f.row(
                "S-BRYAN", f"k under thrust, a/b = {aspect:g}, {n} across, {cell}", value, known["bryan"][aspect],
                MESH, CLOSED_FORM, tolerance=abs(value - factors(build(aspect, cell=cell, n=n // 2))[0]),
            )  # fmt: skip
        curves.append(Curve(np.array(list(found)), np.array(list(found.values())), cell, "o"))
        for load in ("shear", "two thrusts", "clamped"):
            fine, coarse = (factors(build(1.0, load, cell, k))[0] for k in (n, n // 2))
            kind = CLOSED_FORM if load == "two thrusts" else PRINTED
            f.row(
                "S-PANEL", f"k of a square, {load}, {n} x {n} {cell}", fine, known[load],
                MESH + ("" if kind is CLOSED_FORM else " One unit of the last digit, and shear, 1.4e-4 k^2."), kind,
                tolerance=abs(fine - coarse) + (0.0 if kind is CLOSED_FORM else 0.01 + 1.4e-4 * known[load] ** 2),
            )  # fmt: skip
        loads = factors(tube(cell, around, along))
        change = float(np.abs(loads - factors(tube(cell, around // 2, along // 2))).max())
        for i, (value, exact) in enumerate(zip(loads, known["tube"], strict=True), 1):
            f.row(
                "S-TUBE", f"load {i} over the classical one, {around} x {along} {cell} on an eighth", value, exact,
                MESH + " The three loads lie close together: the largest of their changes.", CLOSED_FORM,
                tolerance=change,
            )  # fmt: skip
    f.figure("Plates under thrust", curves, "a/b [-]", "k [-]")
