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
from scipy.special import iv, jv, kv, yv

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
    "ANSYS, verification manual, VM202: 52.176 Hz for the second frequency of the shear beam is not three times the "
    "first, 17.375 Hz; rows compare with 3 x 17.375.",
    "Blevins (1979), p. 241, in VM181 of ANSYS: 172.64 and 1505.7 Hz of the clamped plate lie 4e-4 and 3e-4 above the "
    "roots of Bessel's functions, 172.566 and 1505.16; rows compare with these.",
    "Blevins (1979), pp. 246-247: 23.381 Hz is interpolated in a table for b/a = .37; Bessel's functions give 23.124.",
    "Blevins (1979) and Leissa (1969): 4.977, 13.94 and 25.65 of the supported circular plate; Bessel's functions "
    "give 4.935, 13.898 and 25.613.",
)


def source(where: str, problem: int) -> Kind:
    return in_ansys_manual(f"Blevins (1979), {where}", f"VM{problem}")


def reference() -> dict:
    """Return frequencies [Hz]; of the supported plate the symmetries about y = 0 and x = 0."""
    return {
        "string": "322.2",
        "tube": "17.375",
        "supported": (("symmetric", "symmetric"), ("symmetric", "skew"), ("skew", "skew")),
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


def supported(diameters: int) -> float:
    """Return the lowest frequency [Hz] of the supported plate: J_n+1/J_n + I_n+1/I_n = 2 x/(1 - nu)."""
    n = diameters

    def off(x: float) -> float:
        return jv(n + 1, x) / jv(n, x) + iv(n + 1, x) / iv(n, x) - 2.0 * x / (1.0 - 0.3)

    guess = (2.2215, 3.728, 5.0609)[n]
    root = brentq(off, 0.98 * guess, 1.01 * guess)
    return root**2 / (2.0 * np.pi * 9.0) * np.sqrt(30e6 * 0.05**2 / (12.0 * (1.0 - 0.3**2) * 0.00073))


def clamped(circles: int) -> float:
    """Return the frequency [Hz] without nodal diameters of the clamped plate: J_0 I_1 + J_1 I_0 = 0."""
    guess = (3.1962, 6.3064, 9.4395)[circles]
    root = brentq(lambda x: jv(0, x) * iv(1, x) + jv(1, x) * iv(0, x), guess - 0.1, guess + 0.1)
    return root**2 / (2.0 * np.pi * 17.0**2) * np.sqrt(30e6 * 0.5**2 / (12.0 * (1.0 - 0.3**2) * 0.00073))


def annular(inner: float, outer: float) -> float:
    """Return the lowest frequency [Hz] without nodal diameters of a plate of 5 mm, free inside and supported outside.

    The deflection is w = a J_0 + b Y_0 + c I_0 + d K_0 of k r.
    """
    nu = 0.3

    def determinant(k: float) -> float:
        r = np.array([inner, outer])
        x = k * r
        # of each function: w, w' and w''; J'' = -J - J'/x and so on
        table = []
        for f, slope, sign in ((jv, -jv(1, x), -1.0), (yv, -yv(1, x), -1.0), (iv, iv(1, x), 1.0), (kv, -kv(1, x), 1.0)):
            w = f(0, x)
            moment = sign * w - (1.0 - nu) * slope / x  # w'' + nu w'/x
            table.append((moment[0], sign * slope[0], w[1], moment[1]))  # inside: moment, shear; outside: w, moment
        return float(np.linalg.det(np.array(table)))

    grid = np.linspace(1.0, 3.0, 41) / (outer - inner)
    values = [determinant(k) for k in grid]
    first = int(np.flatnonzero(np.diff(np.sign(values)))[0])
    k = brentq(determinant, grid[first], grid[first + 1])
    return k**2 / (2.0 * np.pi) * np.sqrt(70000.0 * 25.0 / (12.0 * (1.0 - nu**2) * 2.7e-9))


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
        lumped = ((2 * k + 1) * np.pi / 120.0) ** 2 / 24.0
        exact = (2 * k + 1) / 120.0 * np.sqrt(coefficient * G / rho)
        f.row("B-TAUT-STRING", f"frequency {k + 1} of a shear beam [Hz]", found, exact,
              "twice the error of 60 lumped masses, (k h)^2/24", CLOSED_FORM, relative=2.0 * lumped)  # fmt: skip
        if not k:
            f.digits("B-TAUT-STRING", "frequency 1 of a shear beam, as printed [Hz]", found, known["tube"],
                     source("shear beams", 202), error=lumped, why="60 lumped masses, (pi/120)^2/24")  # fmt: skip


def _plates(f: Findings) -> None:
    """Add rows of plates that are modelled a hundredth as thick; their frequencies are multiplied by a hundred.

    The formulas leave out shear and rotary inertia, which change frequencies by parts of (k h)^2: 1e-4 of that here.
    """
    known = reference()
    why = "A third of the change from 12 to 24 quadratic cells along the radius."
    for sides in known["supported"]:
        coarse, found = (100.0 * modes(build(3.0, 0.0005, "supported", sides, n), 1)[0] for n in (6, 12))
        diameters = sides.count("skew")
        f.row(
            "S-ROUND", f"frequency of a supported circular plate, {diameters} nodal diameters [Hz]", found,
            supported(diameters), why, CLOSED_FORM, tolerance=abs(coarse - found) / 3.0,
        )  # fmt: skip
    # of the modes that both symmetries allow, those without nodal diameters
    coarse, found = (100.0 * modes(build(17.0, 0.005, "clamped", ("symmetric", "symmetric"), n), 9) for n in (6, 12))
    for k, text in enumerate(known["clamped"]):
        one, two = (values[np.argmin(np.abs(values - float(text)))] for values in (coarse, found))
        f.row(
            "S-ROUND", f"frequency of a clamped circular plate, {k} nodal circles [Hz]", two, clamped(k), why,
            CLOSED_FORM, tolerance=abs(one - two) / 3.0,
        )  # fmt: skip

    def place(a, b):
        r, t = 185.0 + 315.0 * a, 0.5 * np.pi * b
        return r * np.cos(t), r * np.sin(t), 0.0 * a

    meshes = np.array([2, 4, 8])
    values = np.array([
        100.0 * modes(held(shell(square(place, int(n), int(n), "quad8"), 70000.0, 0.3, 0.05, 2.7e-9), "supported",
                           ("symmetric", "symmetric"), "bottom", "top", "right"), 1)[0] for n in meshes
    ])  # fmt: skip
    exact = annular(185.0, 500.0)
    f.row("S-ROUND", "first frequency of an annular plate [Hz]", values[-1], exact,
          "A third of the change from 4 to 8 quadratic cells to either side.", CLOSED_FORM,
          tolerance=abs(values[2] - values[1]) / 3.0)  # fmt: skip
    f.figure("Annular plate", [Curve(1.0 / meshes, values, "fem-mbs", "o-"),
             published("Blevins (1979)", 0.0, known["annular"]), Curve(np.zeros(1), np.array([exact]),
             "Bessel functions", "o")], "1/elements", "Frequency [Hz]")  # fmt: skip
