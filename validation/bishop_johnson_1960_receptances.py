"""Receptances of beams, shaken at an end or at their base, damped by a loss factor.

A slender beam in the plane, clamped or free, is pushed across at its right end by F exp(i w t), or shaken at its clamp.
Its stiffness is complex, EI (1 + i eta).  The response passes resonances and anti-resonances.

                        | F exp(i w t)                         EI = 2, rho A = 3, L = 1.5
      ||================v     and     =================v       eta = 0.02
      ||<--- L --->                                            free-free: the same without the clamp

Source: R.E.D. Bishop & D.C. Johnson, "The mechanics of vibration", Cambridge University Press 1960, chapter 7.  With
b^4 = rho A w^2 / (EI (1 + i eta)) and x = b L the displacement and the slope at the end are, over F,

    clamped-free  (sin x cosh x - cos x sinh x) / (EI b^3 (1 + cos x cosh x)),
                  sin x sinh x / (EI b^2 (1 + cos x cosh x))
    free-free     (cos x sinh x - sin x cosh x) / (EI b^3 (1 - cos x cosh x))

and the end of the beam shaken at its clamp moves by (cos x + cosh x) / (1 + cos x cosh x) times as much.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY, SELF

CAPABILITY = "modes"
CASES = {"B-RECEPTANCE": "harmonic response of beams at an end and to a shaken clamp, directly and by modes"}

EI, RHO_A, LENGTH, ETA, FORCE = 2.0, 3.0, 1.5, 0.02, 0.7
ELEMENTS = 40


def build(ends: str = "clamped", frequencies=(0.1,), n: int = ELEMENTS, **options) -> Model:
    """Return the beam of n elements; "clamped" at its start or "free"."""
    model = Model(2, f"{ends} beam")
    model.section("beam", "stiffness", EA=1e7, EI=EI, GA=np.inf, rhoA=RHO_A, rhoI=1e-9)
    model.line("beam", (0.0, 0.0), (LENGTH, 0.0), n)
    model.beams("beam", "beam", "beam")
    if ends == "clamped":
        model.fix("beam:start")
        model.base_excitation("base", (0.0, 1.0), displacement=0.0)
    model.force("push", "beam:end", (0.0, 1.0), FORCE)
    model.sensor("end", "displacement", on="beam:end")
    model.sensor("turn", "rotation", on="beam:end")
    model.harmonic_step(frequencies, structural=ETA, frames=0, **{"loads": ["push"], **options})
    return model


def reference(at: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Return complex responses (n,) at frequencies [Hz]."""
    w = 2.0 * np.pi * (frequencies() if at is None else np.asarray(at))
    stiffness = EI * (1.0 + 1j * ETA)
    b = (RHO_A * w**2 / stiffness) ** 0.25
    x = b * LENGTH
    sin, cos, sinh, cosh = np.sin(x), np.cos(x), np.sinh(x), np.cosh(x)
    clamped = 1.0 + cos * cosh
    return {
        "clamped end": FORCE * (sin * cosh - cos * sinh) / (stiffness * b**3 * clamped),
        "clamped turn": FORCE * sin * sinh / (stiffness * b**2 * clamped),
        "free end": FORCE * (cos * sinh - sin * cosh) / (stiffness * b**3 * (1.0 - cos * cosh)),
        "shaken end": (cos + cosh) / clamped,
    }


def frequencies() -> np.ndarray:
    """Return [Hz], over the first three resonances of the clamped beam."""
    return np.linspace(0.3, 8.0, 60) ** 2 * np.sqrt(EI / RHO_A) / LENGTH**2 / (2.0 * np.pi)


def measured(f: np.ndarray, n: int = ELEMENTS, **options) -> dict[str, np.ndarray]:
    found = solve(build("clamped", f, n, **options))
    free = solve(build("free", f, n, **options))
    shaken = solve(build("clamped", f, n, loads=["base"], amplitudes={"base": 1.0}, **options))
    return {
        "clamped end": found.response("end").values[:, 1],
        "clamped turn": found.response("turn").values[:, 0],
        "free end": free.response("end").values[:, 1],
        "shaken end": shaken.response("end").values[:, 1],
    }


def distance(a: dict, b: dict) -> dict[str, float]:
    """Return the largest relative differences of a and b; values below a hundredth of the largest count as that."""
    return {k: float((np.abs(a[k] - b[k]) / np.maximum(np.abs(b[k]), 0.01 * np.abs(b[k]).max())).max()) for k in b}


def check(f: Findings) -> None:
    at = frequencies()
    exact = reference(at)
    direct, modal = measured(at, method="direct"), measured(at, method="modal")
    for name, off in distance(direct, exact).items():
        f.zero(
            "B-RECEPTANCE", f"{name}, {ELEMENTS} elements, largest relative distance", off, 2e-4,
            "Elements are .2 of 1/b long, so frequencies are 2e-6 off, which resonances divide by eta.", CLOSED_FORM,
        )  # fmt: skip
    for name, off in distance(modal, direct).items():
        f.zero(
            "B-RECEPTANCE", f"{name}, modes up to twice the highest frequency against direct solutions", off, 1e-6,
            "Residual vectors make both equal but for the rounding of the free beam's modes, 1.5e-7.", SELF,
        )  # fmt: skip
    meshes = np.array([5, 10, 20])
    errors = [distance(measured(at, int(n)), exact)["clamped end"] for n in meshes]
    f.row(
        "B-RECEPTANCE", "order of the error at the end, 10 to 20 elements", np.log2(errors[1] / errors[2]), 4.0,
        "Cubic interpolation makes the order 4; the two meshes show it within .3.", PROPERTY, tolerance=0.3,
    )  # fmt: skip
    f.figure(
        "Displacement of the end over the force, clamped-free",
        [Curve(at, np.abs(direct["clamped end"]) / FORCE, "direct"),
         Curve(at, np.abs(modal["clamped end"]) / FORCE, "modes and residual vectors"),
         Curve(at[::3], np.abs(exact["clamped end"][::3]) / FORCE, "closed form", "o")],
        "Frequency [Hz]", "Receptance [m/N]", "", "log",
    )  # fmt: skip
    f.figure(
        "Displacement of the end over that of the clamp",
        [Curve(at, np.abs(direct["shaken end"]), "direct"),
         Curve(at[::3], np.abs(exact["shaken end"][::3]), "closed form", "o")],
        "Frequency [Hz]", "Transmissibility", "", "log",
    )  # fmt: skip
