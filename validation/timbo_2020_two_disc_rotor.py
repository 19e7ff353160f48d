"""A rotor with two discs on two bearings: whirling frequencies and critical speeds.

A steel shaft carries two discs and runs on two bearings that are stiffer along one axis than along the other.  The
rotor is axisymmetric, so that in the fixed frame its coefficients are constant at every speed; in the rotating one they
are not.

          disc    disc                     6 elements of 0.25 m, d = 50 mm, steel
           ||      ||                      discs at 0.5 m and 1 m: 32.5897 kg, Ip = .32956, Id = .17809 kg m^2
      ===========================          bearings: 1e6 N/m along z, .8e6 N/m along y
      A    ||      ||           A

Source: R. Timbo, R. Martins, G. Bachmann, F. Rangel, J. Mota, J. Valerio, T.G. Ritto, "ROSS - Rotordynamic Open Source
Software", J. Open Source Software 5 (2020), 2120, its example rotor, which is that of M.I. Friswell et al., "Dynamics
of rotating machines", 2010, example 5.9.1, on other bearings.  The documentation of ROSS (`Rotor.run_modal`)
prints 91.79655318 and 96.28899977 rad/s at rest; the other numbers were recomputed for this project.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs
from fem_mbs.validation.kinds import PROPERTY, RECOMPUTED, SELF, program

CAPABILITY = "rotors"
CASES = {"B-ROTOR": "rotor with two discs: frequencies at rest and at 100 rad/s, critical speeds"}
DEVIATIONS = (
    "The example rotor of ROSS is that of Friswell et al. (2010), example 5.9.1, on other bearings; the book's "
    "numbers do not apply.",
)

AXIS = (1.0, 0.0, 0.0)
ROSS = program("ROSS, example rotor in the documentation of Rotor.run_modal")


def machine(elements: int = 6) -> Model:
    """Return the rotor on its bearings, without steps; elements in threes."""
    model = Model(3, "rotor with two discs")
    model.material("steel", E=211e9, G=81.2e9, density=7810.0)
    model.section("shaft", "circle", diameter=0.05)
    names = [f"{i}" for i in range(elements + 1)]
    for i, name in enumerate(names):
        model.node(name, (1.5 * i / elements, 0.0, 0.0))
    for i in range(elements):
        model.beams(f"shaft {i}", names[i : i + 2], "shaft", "steel")
    for k in (1, 2):
        model.disc(f"disc {k}", names[k * elements // 3], 32.5897, polar=0.32956, diametral=0.17809, axis=AXIS)
    for k, end in enumerate((names[0], names[-1])):
        model.bearing(f"bearing {k + 1}", end, stiffness=[0.8e6, 1.0e6], axis=AXIS)
    model.fix(names[0], ["x"])
    model.rotor("rotor", axis=AXIS, point=(0.0, 0.0, 0.0))
    return model


def build(speed: float = 0.0, elements: int = 6) -> Model:
    """Return the rotor at a speed [rad/s]."""
    model = machine(elements)
    model.complex_modes_step(count=4, rotor="rotor", speed=speed, frame="fixed")
    return model


def reference() -> dict:
    return {
        0.0: (91.79655, 96.28900, 274.566, 296.501),
        100.0: (91.787, 96.296, 274.060, 296.994),
        "critical": (91.788, 96.296, 271.252, 300.352),
    }


def frequencies(summary: dict) -> np.ndarray:
    p = np.array(summary["eigenvalues"])
    return np.sort(p[p[:, 1] > 0.0, 1])


def check(f: Findings) -> None:
    known = reference()
    summaries, fixed = [], []
    for speed in (0.0, 100.0):
        summary = solve(build(speed)).steps[-1].summary
        summaries.append(summary)
        for k, (w, exact) in enumerate(zip(frequencies(summary), known[speed], strict=False)):
            f.row(
                "B-ROTOR", f"circular frequency {k + 1} at {speed:g} rad/s", w, exact,
                "The recomputed number has three decimals.",
                ROSS if speed == 0.0 and k < 2 else RECOMPUTED, tolerance=6e-4,
            )  # fmt: skip
        f.row(
            "B-ROTOR",
            f"zeros of the free spin at {speed:g} rad/s",
            summary["zeros"],
            2,
            "It is a whole number.",
            PROPERTY,
            tolerance=0.0,
        )
    for k, exact in enumerate(known["critical"]):
        # w(Omega) = Omega; w hardly depends on Omega
        speed = exact
        for _ in range(4):
            summary = solve(build(speed)).steps[-1].summary
            speed = frequencies(summary)[k]
        summaries.append(summary)
        f.row(
            "B-ROTOR", f"critical speed {k + 1} by fixed points [rad/s]", speed, exact,
            "The recomputed speeds were iterated to 1e-5.", RECOMPUTED, relative=1e-5,
        )  # fmt: skip
        fixed.append(speed)
    good_pairs(f, "B-ROTOR", "all speeds", *summaries)
    model = machine()
    model.campbell_step("rotor", {"start": 0.0, "end": 400.0, "n": 8}, count=4)
    summary = solve(model).steps[-1].summary
    for k, (found, exact) in enumerate(zip(summary["critical_speeds"], fixed, strict=True)):
        f.row(
            "B-ROTOR", f"critical speed {k + 1} on its branch [rad/s]", found["speed"], exact,
            "The model is the same; the iteration ends at 1e-8.",
            SELF, relative=1e-8,
        )  # fmt: skip
        f.row(
            "B-ROTOR", f"critical speed {k + 1} by an eigenproblem of its own [rad/s]", found["direct"][0], exact,
            "The model is the same; the iteration ends at 1e-8.", SELF, relative=1e-8,
        )  # fmt: skip
        sense = ("backward", "forward")[k % 2]
        f.zero(
            "B-ROTOR",
            f"whirl there is not {sense}",
            found["whirl"] != sense,
            0.0,
            "Slower whirls of the pair go backward.",
        )
    f.zero(
        "B-ROTOR",
        "largest residual of the Campbell diagram",
        summary["largest_residual"],
        1e-8,
        "Every pair must have so small a residual.",
    )
    f.zero(
        "B-ROTOR",
        "bi-orthogonality in it",
        summary["biorthogonality"],
        1e-10,
        "Theory gives this value exactly; only round-off is left.",
    )
    speeds, critical = np.array(summary["speeds"]), np.array(known["critical"])
    f.figure(
        "Campbell diagram",
        [Curve(speeds, np.array(branch["eigenvalues"])[:, 1], f"mode {k + 1}, {branch['whirl'][-1]}")
         for k, branch in enumerate(summary["branches"])]
        + [Curve(speeds, speeds, "once per turn", ":"), Curve(critical, critical, "critical, recomputed", "o")],
        "Speed [rad/s]", "Circular frequency [rad/s]",
    )  # fmt: skip
