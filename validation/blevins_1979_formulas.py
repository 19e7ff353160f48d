"""Frequencies from a handbook: a string, circular and annular plates, a tube that shears.

      string   .71 m, pulled by 84 N           plates   a = 3 in, h = .05 in, supported; a = 17 in, h = .5 in, clamped;
      tube     10 x 10 x 30, .1 thick                   185 to 500 mm, 5 mm, supported outside

Source: R.D. Blevins, "Formulas for natural frequency and mode shape", Van Nostrand Reinhold 1979.  The numbers were
read in the verification manual of ANSYS Mechanical APDL (problems VM76, 151, 181, 202, 244), which prints them after
the pages and tables named.  Its factors of the supported circular plate, 4.977, 13.94 and 25.65, are those of Leissa
(1969); the equation with Bessel's functions gives 4.935, 13.898 and 25.613.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import iv, jv

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, Kind, in_ansys_manual
from fem_mbs.validation.shell_grids import quarter_disc, shell, square

CAPABILITY = "modes"
CASES = {
    "B-TAUT-STRING": "a string under tension, a tube as a shear beam",
    "S-ROUND": "modes of circular and annular plates",
}
DEVIATIONS = (
    "Blevins (1979) and Leissa (1969): 4.977, 13.94 and 25.65 of the supported circular plate; Bessel's functions "
    "give 4.935, 13.898 and 25.613.",
)


def source(where: str, problem: int) -> Kind:
    return in_ansys_manual(f"Blevins (1979), {where}", f"VM{problem}")


def reference() -> dict:
    """Return frequencies [Hz]; of plates by the symmetries about y = 0 and x = 0."""
    return {
        "string": "322.2",
        "tube": ("17.375", "52.176"),
        "supported": (
            ("symmetric", "symmetric", "269.96"),
            ("symmetric", "skew", "756.13"),
            ("skew", "skew", "1391.3"),
        ),
        "clamped": ("172.64", "671.79", "1505.7"),
        "annular": "23.381",
    }


def build(
    radius: float = 3.0, thickness: float = 0.05, rim: str = "supported",
    sides: tuple[str, str] = ("symmetric", "symmetric"), n: int = 6, density: float = 0.00073,
) -> Model:  # fmt: skip
    """Return a quarter of a circular plate of steel [in, lb] with supports, without steps."""
    return held(
        shell(quarter_disc(radius, n, "quad8"), 30e6, 0.3, thickness, density), rim, sides, "y = 0", "x = 0", "rim"
    )


def held(model: Model, rim: str, sides: tuple[str, str], along_x: str, along_y: str, outside: str) -> Model:
    """Hold a quarter of a plate at its radii, as its symmetries say, and at its rim, and return it."""
    model.fix("s", ["x", "y", "rotation z"])
    for place, kind, rotations in ((along_x, sides[0], "xy"), (along_y, sides[1], "yx")):
        model.fix(f"s:{place}", ["z", f"rotation {rotations[1]}"] if kind == "skew" else [f"rotation {rotations[0]}"])
    model.fix(f"s:{outside}", ["z"] if rim == "supported" else ["z", "rotation x", "rotation y"])
    if rim == "supported":
        _hard(model, outside)
    return model


def _hard(model: Model, rim: str) -> None:
    """Hold the slope along the rim, as Kirchhoff's plates do: no rotation about the radius."""
    mesh = model.meshes["s"][0]
    for node in mesh.node_sets[rim]:
        x, y, _ = mesh.points[node]
        if min(abs(x), abs(y)) > 1e-9 * abs(x + y):
            model.equation(
                f"slope {node}",
                [
                    {"on": f"s:#{node + 1}", "component": "rx", "coefficient": float(x)},
                    {"on": f"s:#{node + 1}", "component": "ry", "coefficient": float(y)},
                ],
            )


def modes(model: Model, count: int) -> np.ndarray:
    model.modes_step(count=count)
    return np.array(solve(model).steps[-1].summary["frequencies_hz"])


def check(f: Findings) -> None:
    _lines(f)
    _plates(f)


def square_of_kh(text: str, thickness: float) -> float:
    """Return (k h)^2 of the wave number k of a frequency [Hz]: omega = k^2 sqrt(D/(rho h))."""
    stiffness = 30e6 * thickness**2 / (12.0 * (1.0 - 0.3**2) * 0.00073)
    return 2.0 * np.pi * float(text) / np.sqrt(stiffness) * thickness**2


def supported(diameters: int) -> float:
    """Return the lowest frequency [Hz] of the supported plate: J_n+1/J_n + I_n+1/I_n = 2 x/(1 - nu)."""
    n = diameters

    def off(x: float) -> float:
        return jv(n + 1, x) / jv(n, x) + iv(n + 1, x) / iv(n, x) - 2.0 * x / (1.0 - 0.3)

    guess = (2.2215, 3.728, 5.0609)[n]
    root = brentq(off, 0.98 * guess, 1.01 * guess)
    return root**2 / (2.0 * np.pi * 9.0) * np.sqrt(30e6 * 0.05**2 / (12.0 * (1.0 - 0.3**2) * 0.00073))


def _lines(f: Findings) -> None:
    known = reference()
    area, n = 50671e-12, 60
    model = Model(2, "string")
    model.section("string", "stiffness", EA=190e9 * area, rhoA=7920.0 * area)
    model.line("string", (0.0, 0.0), (0.71, 0.0), n)
    model.trusses("string", "string", "string", prestress=84.0)
    model.fix("string", ["x"])
    model.fix("string:start")
    model.fix("string:end")
    f.digits("B-TAUT-STRING", "first frequency of a guitar string [Hz]", modes(model, 1)[0], known["string"],
             source("table 7-1", 76), error=1.2e-4, why="60 lumped masses, (pi/60)^2/24")  # fmt: skip
    G, nu, rho = 200e9 / 2.54, 0.27, 7860.0
    area, n = 4.0, 60
    # the shear coefficient of a thin square tube, Blevins's table 8-14
    coefficient = 20.0 * (1.0 + nu) / (48.0 + 39.0 * nu)
    model = Model(2, "tube")
    model.section("tube", "stiffness", EA=1.0, EI=1e9 * G, GA=coefficient * G * area, rhoA=rho * area, rhoI=0.0)
    model.line("tube", (0.0, 0.0), (30.0, 0.0), n)
    model.beams("tube", "tube", "tube", mass="lumped")
    model.fix("tube", ["x", "rotation"])
    model.fix("tube:start")
    for k, found in enumerate(modes(model, 2)):
        f.digits(
            "B-TAUT-STRING", f"frequency {k + 1} of a shear beam [Hz]", found, known["tube"][k],
            source("shear beams", 202), error=((2 * k + 1) * np.pi / 120.0) ** 2 / 24.0 + 1e-3,
            why="60 lumped masses; the manual's rounding",
        )  # fmt: skip


def _plates(f: Findings) -> None:
    known = reference()
    why = "shear and rotary inertia, (k h)^2/4 and less; quadratic cells of a/12"
    for sides_x, sides_y, text in known["supported"]:
        found = modes(build(3.0, 0.05, "supported", (sides_x, sides_y)), 1)[0]
        f.digits("S-ROUND", f"frequency of a supported circular plate, {sides_x}, {sides_y} [Hz]", found, text,
                 source("p. 240", 151), error=9e-3, why="factors of Leissa (1969), see the row after this")  # fmt: skip
        diameters = (sides_x, sides_y).count("skew")
        f.row(
            "S-ROUND", f"the same, {diameters} nodal diameters, exact [Hz]", found, supported(diameters),
            why, CLOSED_FORM, relative=1e-3 + 0.25 * square_of_kh(text, 0.05),
        )  # fmt: skip
    # of the modes that both symmetries allow, those without nodal diameters
    found = modes(build(17.0, 0.5, "clamped", ("symmetric", "symmetric")), 9)
    for k, text in enumerate(known["clamped"]):
        nearest = found[np.argmin(np.abs(found - float(text)))]
        f.digits(
            "S-ROUND", f"frequency of a clamped circular plate, {k} nodal circles [Hz]", nearest, text,
            source("p. 241", 181), error=1e-3 + 0.25 * square_of_kh(text, 0.5), why=why,
        )  # fmt: skip

    def place(a, b):
        r, t = 185.0 + 315.0 * a, 0.5 * np.pi * b
        return r * np.cos(t), r * np.sin(t), 0.0 * a

    meshes = np.array([2, 4, 8])
    values = np.array([
        modes(held(shell(square(place, int(n), int(n), "quad8"), 70000.0, 0.3, 5.0, 2.7e-9), "supported",
                   ("symmetric", "symmetric"), "bottom", "top", "right"), 1)[0] for n in meshes
    ])  # fmt: skip
    f.digits("S-ROUND", "first frequency of an annular plate [Hz]", values[-1], known["annular"],
             source("pp. 246-247", 244), error=0.021, why="interpolated in a table for b/a = .37")  # fmt: skip
    f.figure("Annular plate", [Curve(1.0 / meshes, values, "fem-mbs", "o-"),
             published("Blevins (1979)", 0.0, known["annular"])], "1/elements", "Frequency [Hz]")  # fmt: skip
