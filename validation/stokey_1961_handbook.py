"""A pinned beam and square plates of a handbook: frequencies and harmonic response.

      beam    20 in, EI = 10.4e6/12 lb in^2, rho A = .2523e-3 x 21.18922; 217.9 lb at 23.4 degrees in the middle,
              1 % of critical damping at 50 Hz; the first mode alone
      plates  20 x 20 in, D = 3e7/10.92 lb in and 206.04 lb s^2/in^3, and 40 x 40 on 10 x 10 as a quarter, eight times
              as stiff and lighter, under a pressure (10 + .3 f) cos cos lb/in^2, all hinged

         |                          +--------+ hinged
         v 217.9 lb                 |        |
      =======================       |        |
      A                     A       +--------+ symmetric

Source: W.F. Stokey, "Vibration of systems having distributed mass and elasticity", chapter 7 of C.M. Harris, C.E. Crede
(eds.), "Shock and vibration handbook", McGraw-Hill 1961, as the NASTRAN demonstration problem manual, problems 3-1, 8-1
and 11-1, evaluates it; read in NASTRAN-95.  The plates are taken ten times as thin, with the same bending stiffness and
mass, since the theory leaves out shear.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated, published
from fem_mbs.validation.kinds import CLOSED_FORM, Kind, printed
from fem_mbs.validation.shell_grids import shell, square

CAPABILITY = "modes"
CASES = {
    "B-TEN-CELLS": "frequencies of a pinned beam, and its response to a force in the middle",
    "S-HINGED-SQUARE": "frequencies of a hinged square plate, and its response to a pressure that grows with them",
}
DEVIATIONS = (
    "NASTRAN demonstration problem 11-1 prints I = .083; its frequencies of 50, 200, 450 and 800 Hz belong to "
    "I = 1/12.",
)

LENGTH, LINE_MASS, BENDING = 20.0, 0.2523e-3 * 21.18922, 10.4e6 / 12.0
ROTARY = 1e-9  # a small rotary inertia per length [lb s^2]
FORCE = 200.0 + 86.6j
MASS = 206.0439  # of the plate per area [lb s^2/in^3]


def source(problem: str) -> Kind:
    return printed(f"Stokey (1961), as NASTRAN demonstration problem {problem} evaluates it")


def build(n: int = 20) -> Model:
    """Return the beam of n elements [lb, in, s] with its force, without steps."""
    model = Model(2, "pinned beam")
    model.section("bar", "stiffness", EA=1e9, EI=BENDING, GA=np.inf, rhoA=LINE_MASS, rhoI=ROTARY)
    model.line("beam", (0.0, 0.0), (LENGTH, 0.0), n)
    model.beams("beam", "beam", "bar")
    model.fix("beam:start", ["x", "y"])
    model.fix("beam:end", ["y"])
    middle = f"beam:#{n // 2 + 1}"
    model.force("push", middle, (0.0, abs(FORCE)))
    model.sensor("u", "displacement", on=middle)
    return model


def plate(sides: tuple[float, float], thickness: float, mass: float, symmetric: tuple[str, ...], n: int) -> Model:
    """Return a plate from the origin to ``sides`` [in], hinged but on the edges of symmetry, n cells along a side.

    Args:
        sides: along x and y.
        thickness: of the problem [in], ten times that of the model.
        mass: per area [lb s^2/in^3].
        symmetric: edges of symmetry.
        n: number of cells.
    """
    thin = 0.1 * thickness
    mesh = square(lambda u, v: (sides[0] * u, sides[1] * v, 0.0 * u), n, n, "quad8")
    model = shell(mesh, 3e10, 0.3, thin, mass / thin)
    model.fix("s", ["x", "y", "rotation z"])
    for edge, along, across in (("left", "x", "y"), ("right", "x", "y"), ("bottom", "y", "x"), ("top", "y", "x")):
        # hinged edges have no slope along them
        model.fix(f"s:{edge}", [f"rotation {across}"] if edge in symmetric else ["z", f"rotation {along}"])
    return model


def reference() -> dict:
    """Return frequencies [Hz], amplitude [in] and phase [degrees] by the frequency, displacements [1e-4 in]."""
    return {
        "beam": ("50", "200", "450", "800"),
        "beam response": {30.0: (".0646", "22.34"), 50.0: ("2.066", "293.42")},
        "plate": (".9069", "2.2672", "4.5345"),
        "plate response": {8.0: "6.435", 9.0: "12.489", 11.0: "-11.833"},
    }


def check(f: Findings) -> None:
    known = reference()
    meshes = []
    for n in (10, 20, 40):
        model = build(n)
        model.modes_step(count=4)
        meshes.append(solve(model).steps[-1].summary["frequencies_hz"])
    for k, (values, text) in enumerate(zip(np.transpose(meshes), known["beam"], strict=True)):
        what = f"frequency {k + 1} of the beam, h -> 0 [Hz]"
        wave = (k + 1) * np.pi / LENGTH
        exact = wave**2 / (2.0 * np.pi) * np.sqrt(BENDING / (LINE_MASS + ROTARY * wave**2))
        f.converged("B-TEN-CELLS", what, values, exact, CLOSED_FORM, order=4)
        f.converged("B-TEN-CELLS", f"{what}, as it stands there", values, float(text), source("11-1"), order=4,
                    error=1e-4, why="half of half a unit of the last digit of .2523e-3, of the mass")  # fmt: skip
    model = build()
    model.harmonic_step(
        np.linspace(30.0, 60.0, 61).tolist(), phases={"push": float(np.degrees(np.angle(FORCE)))}, method="modal",
        modes=1, damping=0.01, residual=False, frames=0,
    )  # fmt: skip
    response = solve(model).response("u")
    at, u = response.t, response.values[:, 1]
    for hz, (amplitude, phase) in known["beam response"].items():
        value = u[np.argmin(np.abs(at - hz))]
        f.digits("B-TEN-CELLS", f"amplitude of the beam at {hz:g} Hz [in]", abs(value), amplitude, source("11-1"))
        f.digits("B-TEN-CELLS", f"phase of the beam at {hz:g} Hz [degrees]", np.degrees(np.angle(value)) % 360.0,
                 phase, source("11-1"))  # fmt: skip
    f.figure(
        "Beam, first mode",
        [Curve(at, np.abs(u), "fem-mbs"),
         published("Stokey (1961)", list(known["beam response"]), [a for a, _ in known["beam response"].values()])],
        "Frequency [Hz]", "Amplitude in the middle [in]", "", "log",
    )  # fmt: skip
    _plates(f)


def impedance(wave: float, h: float, mass: float, hz: float, shear: bool) -> float:
    """Return pressure over deflection [lb/in^3] of a plate, both in a sine of lambda = k_x^2 + k_y^2.

    Args:
        wave: lambda [1/in^2].
        h: thickness of the model [in].
        mass: per area [lb s^2/in^3].
        hz: frequency [Hz].
        shear: with shear and rotary inertia (Mindlin, 1951), else of a thin plate.
    """
    D, squared = 3e10 * h**3 / (12.0 * (1.0 - 0.3**2)), (2.0 * np.pi * hz) ** 2
    if not shear:
        return D * wave**2 - mass * squared
    S = 5.0 / 6.0 * 3e10 / 2.6 * h
    return S * wave - mass * squared - S**2 * wave / (D * wave + S - mass * h**2 / 12.0 * squared)


def frequency(wave: float, h: float, mass: float, shear: bool) -> float:
    """Return the lower frequency [Hz] of a sine of lambda = ``wave``, where `impedance` is none."""
    thin = np.sqrt(3e10 * h**3 / (12.0 * (1.0 - 0.3**2)) / mass) * wave / (2.0 * np.pi)
    if not shear:
        return float(thin)
    return float(brentq(lambda hz: impedance(wave, h, mass, hz, True), 0.9 * thin, thin, xtol=1e-14))


def _plates(f: Findings) -> None:
    known = reference()
    waves = np.array([np.pi**2 * (1 + k**2) / 20.0**2 for k in (1, 2, 3)])
    meshes = []
    for n in (5, 10, 20):
        model = plate((10.0, 20.0), 1.0, MASS, ("left",), n)
        model.modes_step(count=3)
        meshes.append(solve(model).steps[-1].summary["frequencies_hz"])
    found = np.transpose(meshes)
    for k, (wave, text) in enumerate(zip(waves, known["plate"], strict=True)):
        what, (thin, thick) = f"frequency {k + 1} of the plate", (frequency(wave, 0.1, MASS, s) for s in (False, True))
        f.converged("S-HINGED-SQUARE", f"{what}, h -> 0 [Hz]", found[k], thick, CLOSED_FORM)
        f.digits("S-HINGED-SQUARE", f"{what}, h -> 0, without shear and rotary inertia [Hz]",
                 float(extrapolated(found[k], 2.0)) * thin / thick, text, source("3-1"))  # fmt: skip
    grid = np.unique(np.concatenate((np.linspace(5.0, 9.5, 10), np.linspace(10.5, 13.0, 6))))
    meshes = []
    for n in (4, 8, 16):
        model = plate((10.0, 10.0), 2.0, 13.55715, ("left", "bottom"), n)
        model.pressure("load", "s:body", value="-cos(pi*x/20)*cos(pi*y/20)")
        model.sensor("u", "displacement", on="s:a")
        model.harmonic_step(grid.tolist(), spectra={"load": [[0.0, 10.0], [20.0, 16.0]]}, method="direct", frames=0)
        response = solve(model).response("u")
        at, u = response.t, 1e4 * response.values[:, 2].real
        meshes.append(u)
    for hz, text in known["plate response"].items():
        what, values = f"displacement of the middle at {hz:g} Hz", [u[np.argmin(np.abs(at - hz))] for u in meshes]
        thin, thick = (1e4 * (10.0 + 0.3 * hz) / impedance(waves[0], 0.2, 13.55715, hz, s) for s in (False, True))
        f.converged("S-HINGED-SQUARE", f"{what}, h -> 0 [1e-4 in]", values, thick, CLOSED_FORM)
        f.digits("S-HINGED-SQUARE", f"{what}, h -> 0, without shear and rotary inertia [1e-4 in]",
                 float(extrapolated(values, 2.0)) * thin / thick, text, source("8-1"))  # fmt: skip
    f.figure(
        "Plate under a pressure",
        [Curve(at[at < 10.0], u[at < 10.0], "below the first frequency"),
         Curve(at[at > 10.0], u[at > 10.0], "beyond it"),
         published("Stokey (1961)", list(known["plate response"]), list(known["plate response"].values()))],
        "Frequency [Hz]", "Displacement of the middle [1e-4 in]",
    )  # fmt: skip
