"""Vibrations of masses on springs, of a string, a rod, a beam and a drill pipe: examples of a textbook.

Chains of masses on springs and dampers, free and shaken; a mass on a torsion wire and a shaft; a car on two springs; a
string under tension, a free rod, a pinned beam, and a drill pipe that carries its collar.

      chain   |-k1-(m1)-k2-(m2)-k3-|          car   |___4.5___c.g.______5.5______|
              |-c1-    -c2-                         k1 = 2400    m, J     k2 = 2600

Source: W.T. Thomson, "Vibration theory and applications", 2nd printing, Prentice-Hall 1965.  The numbers were read in
the verification manual of ANSYS Mechanical APDL (problems VM45, 47, 48, 50, 52, 53, 57, 61, 86, 88, 89, 90; inches,
pounds and seconds, the pipe in feet), which prints them after the pages named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated, published
from fem_mbs.validation.kinds import CLOSED_FORM, Kind, in_ansys_manual

CAPABILITY = "modes"
CASES = {
    "B-MASSES": "chains of masses on springs: frequencies, shapes and harmonic responses",
    "B-TORSION": "a disc on a wire, a generator on its shaft, a drill pipe",
    "B-LINES": "a car on two springs, a string, a rod and a beam",
}
MESHES, LIMIT = (10, 20, 40), "limit of 10 to 40 elements"
DEVIATIONS = ("Thomson (1965), ex. 6.6-1, as printed in VM90: .58513 at 6.5 Hz; the exact amplitude is .585117.",)


def source(where: str, problem: int) -> Kind:
    return in_ansys_manual(f"Thomson (1965), {where}", f"VM{problem}")


def build(
    masses: Sequence[float] = (0.5, 1.0),
    springs: Sequence[float] = (200.0, 800.0, 200.0),
    dampers: Sequence[float] = (),
) -> Model:
    """Return a chain of masses along x from a wall; a last spring more than masses goes to a second wall."""
    model = Model(2, "chain of masses")
    places = ["ground", *(f"m{i}" for i in range(len(masses)))]
    for i, mass in enumerate(masses):
        model.node(f"m{i}", (1.0 + i, 0.0))
        model.point_mass(f"mass {i}", f"m{i}", mass)
        model.fix(f"m{i}", ["y"])
        model.sensor(f"x{i}", "displacement", on=f"m{i}")
    for i, stiffness in enumerate(springs):
        damping = dampers[i] if dampers else 0.0
        if i < len(masses):
            model.nodal_spring(f"k{i}", places[i + 1], "x", stiffness, damping, against=places[i])
        else:
            model.nodal_spring(f"k{i}", places[i], "x", stiffness, damping)
    return model


def reference() -> dict:
    """Return the printed numbers: frequencies [Hz], ratios of amplitudes, amplitudes [in] (without a misprint)."""
    return {
        "mass": "13.701",
        "disc": ".63333",
        "generator": "48.781",
        "beam": "28.766",
        "car": ("1.0981", "1.4406"),
        "string": ("74.708", "149.42", "224.12"),
        "pipe": (".3833", "1.260"),
        "rod": ("126.70", "253.40"),
        "two masses": ("2.5814", "8.3263"),
        "shapes": ("0.92116", "-2.1711"),
        "shaken": ".0833",
        "exciter": {5.415947: ".6", 541.5947: ".08"},
        "shaken two": {1.5: (".82272", ".46274"), 4.0: (".51145", "1.2153"), 6.5: ("", ".26966")},
    }


def frequencies(model: Model, count: int) -> np.ndarray:
    """Return the lowest frequencies [Hz] without those of rigid motions."""
    model.modes_step(count=count)
    found = solve(model).steps[-1].summary
    return np.array(found["frequencies_hz"])[found["rigid_body_modes"] :]


def responses(model: Model, force: float, at: Sequence[float], nodes: int) -> np.ndarray:
    """Return amplitudes (f, nodes) [in] under a harmonic force on the first mass."""
    model.force("push", "m0", (force, 0.0))
    model.harmonic_step(list(at), method="direct", frames=0)
    solution = solve(model)
    return np.column_stack([np.abs(solution.response(f"x{i}").values[:, 0]) for i in range(nodes)])


def beam(length: float, n: int, rho_a: float, **stiffness: Any) -> Model:
    """Return a straight beam along x in the plane, "beam", without supports."""
    model = Model(2, "beam")
    model.section("beam", "stiffness", GA=np.inf, rhoA=rho_a, rhoI=0.0, **stiffness)
    model.line("beam", (0.0, 0.0), (length, 0.0), n)
    model.beams("beam", "beam", "beam")
    return model


def turned(stiffness: float, inertia: float, length: float = 1.0, rho_i: float = 0.0, n: int = 1) -> Model:
    """Return a shaft of GJ = stiffness along x that is clamped at one end and turns an inertia about x at the other."""
    model = Model(3, "shaft")
    model.section("shaft", "stiffness", EA=1e9, EI=1e9, GJ=stiffness, GA=np.inf, rhoA=0.0, rhoIx=rho_i, rhoIy=rho_i,
                  rhoIz=rho_i)  # fmt: skip
    model.line("shaft", (0.0, 0.0, 0.0), (length, 0.0, 0.0), n)
    model.beams("shaft", "shaft", "shaft")
    model.disc("disc", "shaft:end", 1e-9, polar=inertia, diametral=inertia, axis=(1.0, 0.0, 0.0))
    model.fix("shaft:start")
    model.fix("shaft", ["x", "y", "z", "rotation y", "rotation z"])
    return model


def string(n: int) -> Model:
    """Return a string of n elements under its tension."""
    area = 306796e-8
    model = Model(2, "string")
    model.section("string", "stiffness", EA=30e6 * area, rhoA=73e-5 * area)
    model.line("string", (0.0, 0.0), (100.0, 0.0), n)
    model.trusses("string", "string", "string", prestress=500.0, mass="consistent")
    model.fix("string", ["x"])
    model.fix("string:start")
    model.fix("string:end")
    return model


def rod(n: int) -> Model:
    """Return a free rod of n elements that moves along its axis alone."""
    model = beam(800.0, n, 73e-5, EA=3e7, EI=1.0)
    model.fix("beam", ["y", "rotation"])
    return model


def limit(build_mesh: Callable[[int], Model], count: int) -> np.ndarray:
    """Return the frequencies [Hz] that three meshes of linear elements tend to."""
    return extrapolated([frequencies(build_mesh(n), count) for n in MESHES], 2.0)


def check(f: Findings) -> None:
    _masses(f)
    _torsion(f)
    _lines(f)


def _masses(f: Findings) -> None:
    known = reference()
    found = frequencies(build([0.006477], [48.0]), 1)[0]
    f.digits("B-MASSES", "frequency of a mass on a spring [Hz]", found, known["mass"], source("p. 6, ex. 1.2-2", 45))
    model = build([0.5, 1.0], [200.0, 800.0, 200.0])
    model.modes_step(count=2)
    step = solve(model).steps[-1]
    two = source("p. 163, ex. 6.2-2", 89)
    shapes = np.asarray(step.frames["displacement"])[-2:, :, 0]
    for k in range(2):
        f.digits(
            "B-MASSES", f"frequency {k + 1} of two masses [Hz]", step.summary["frequencies_hz"][k],
            known["two masses"][k], two,
        )  # fmt: skip
        f.digits(
            "B-MASSES", f"ratio of amplitudes in mode {k + 1}", shapes[k, 0] / shapes[k, 1], known["shapes"][k], two
        )
    shaken = responses(build([0.5], [200.0], [6.0]), 10.0, [10.0 / np.pi], 1)
    f.digits(
        "B-MASSES", "amplitude of a damped mass [in]", shaken[0, 0], known["shaken"], source("p. 56, ex. 3.1-2", 86)
    )
    for at, text in known["exciter"].items():
        # m e w^2 = 2.4 lb at resonance, and by the square of the speed beyond
        found = responses(build([0.02590673], [30.0], [0.11754533]), 2.4 * (at / 5.415947) ** 2, [at], 1)
        f.digits(
            "B-MASSES", f"amplitude under an eccentric exciter, {at:.2f} Hz [in]", found[0, 0], text,
            source("p. 60, ex. 3.3-1", 88),
        )  # fmt: skip
    at = list(known["shaken two"])
    found = responses(build([0.5, 0.5], [200.0] * 3), 200.0, at, 2)
    for row, (hz, texts) in zip(found, known["shaken two"].items(), strict=True):
        for k, text in enumerate(texts):
            what = f"amplitude {k + 1} of two masses at {hz:g} Hz [in]"
            if text:
                f.digits("B-MASSES", what, row[k], text, source("p. 178, ex. 6.6-1", 90))
            w2 = (2.0 * np.pi * hz) ** 2
            exact = 200.0 * abs((400.0 - 0.5 * w2, 200.0)[k] / ((400.0 - 0.5 * w2) ** 2 - 200.0**2))
            f.row("B-MASSES", f"{what}, exact", row[k], exact, "Two linear equations; only round-off is left.",
                  CLOSED_FORM, relative=1e-12)  # fmt: skip
    sweep = np.linspace(0.1, 7.5, 150).tolist()
    curve = responses(build([0.5, 0.5], [200.0] * 3), 200.0, sweep, 2)
    f.figure(
        "Two masses, shaken",
        [*(Curve(sweep, curve[:, k], f"mass {k + 1}") for k in range(2)),
         published("Thomson (1965)", at[:2], list(known["shaken two"].values())[:2])],
        "Frequency [Hz]", "Amplitude [in]", "", "log",
    )  # fmt: skip


def _torsion(f: Findings) -> None:
    known = reference()
    found = frequencies(turned(4.8, 0.30312), 1)[0]
    f.digits("B-TORSION", "frequency of a disc on a wire [Hz]", found, known["disc"], source("p. 10, ex. 1.3-2", 47))
    polar = np.pi * 0.375**4 / 32.0
    found = frequencies(turned(12e6 * polar, 31e-3, 8.0), 1)[0]
    f.digits("B-TORSION", "frequency of a generator on its shaft [Hz]", found, known["generator"],
             source("p. 10, ex. 1.3-3", 48))  # fmt: skip
    outer, inner = 4.5 / 12.0, (4.5 - 2.0 * 0.335) / 12.0
    polar = np.pi * (outer**4 - inner**4) / 32.0
    found = limit(lambda n: turned(4.4928e9 / 2.6 * polar, 29.3, 5000.0, 15.2174 * polar, n), 2)
    for k, text in enumerate(known["pipe"]):
        f.digits(
            "B-TORSION", f"frequency {k + 1} of a drill pipe, {LIMIT} [Hz]", found[k], text,
            source("p. 272, ex. 8.4-5", 57),
        )  # fmt: skip


def _lines(f: Findings) -> None:
    known = reference()
    model = Model(2, "car")
    model.body("car", (0.0, 0.0), mass=100.0, inertia=1600.0)
    for name, x, stiffness in (("front", -4.5, 2400.0), ("rear", 5.5, 2600.0)):
        model.spring(name, "ground", "car", stiffness, point_a=(x, -10.0), point_b=(x, 0.0))
    model.fix("car", ["x"])
    for k, found in enumerate(frequencies(model, 2)):
        f.digits("B-LINES", f"frequency {k + 1} of a car on two springs [Hz]", found, known["car"][k],
                 source("p. 181, ex. 6.7-1", 52))  # fmt: skip
    for k, found in enumerate(limit(string, 3)):
        f.digits("B-LINES", f"frequency {k + 1} of a string, {LIMIT} [Hz]", found, known["string"][k],
                 source("p. 264, art. 8.2", 53))  # fmt: skip
    for k, found in enumerate(limit(rod, 3)[:2]):
        f.digits("B-LINES", f"frequency {k + 1} of a free rod, {LIMIT} [Hz]", found, known["rod"][k],
                 source("p. 269, ex. 8.3-1", 61))  # fmt: skip
    model = beam(80.0, 8, 728e-6 * 4.0, EA=30e6 * 4.0, EI=30e6 * 4.0 / 3.0)
    model.fix("beam:start", ["x", "y"])
    model.fix("beam:end", ["x", "y"])
    f.digits(
        "B-LINES", "first frequency of a pinned beam [Hz]", frequencies(model, 1)[0], known["beam"],
        source("p. 18, ex. 1.5-1", 50), error=(np.pi / 8.0) ** 4 / 1440.0,
        why="8 cubic elements, (k h)^4/1440",
    )  # fmt: skip
