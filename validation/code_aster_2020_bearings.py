"""A rotor on bearings whose stiffness and damping change with the speed: frequencies and damping ratios.

A stepped shaft carries three discs, two of them overhung, on two bearings with strong damping and with coupled
directions.  Their coefficients are given at six speeds, linear in between.

         ||  ||                                   ||
      ===||==||====A=========================A====||==      .8 m, 160, 90 and 60 mm thick, partly bored
         1   2    .2 m                     .63 m   3        E = 200 GPa, nu = .3, 7800 kg/m^3

Source: the validation case SDLL129 of Code_Aster (V2.02.129), whose frequencies and damping ratios, of the full model,
are the references here; it compares them with ROTORINSA (INSA Lyon), which keeps few modes, and is up to a tenth off.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs, published
from fem_mbs.validation.kinds import program

CAPABILITY = "rotors"
CASES = {"B-SPEED-BEARINGS": "frequencies and damping of a rotor on bearings that change with the speed"}

DEVIATIONS = (
    "Code_Aster, V2.02.129, does not print its shear coefficients; its frequencies are those with Cowper's "
    "coefficients for nu = 0, 6/7 of a solid shaft, and differ by up to 2 % from those for nu = .3.",
)

AXIS = (0.0, 0.0, 1.0)
RPM = np.pi / 30.0
PLACES = (
    0.0, 0.02, 0.055, 0.09, 0.115, 0.14, 0.17, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.63, 0.67, 0.71, 0.75,
    0.775, 0.8,
)  # fmt: skip
#: outer diameter, bore [m] and number of elements of the pieces of the shaft
PIECES = ((0.16, 0.12, 5), (0.16, 0.0, 1), (0.09, 0.0, 9), (0.06, 0.0, 6))
#: node, mass [kg], polar and diametral inertia [kg m^2] of the discs
DISCS = ((1, 20.0, 0.4, 0.2), (3, 17.0, 0.34, 0.17), (19, 10.0, 0.03, 0.015))
SPEEDS = (0.0, 5000.0, 6500.0, 8000.0, 10000.0, 14000.0)
#: node, rows xx, xy, yx, yy of stiffness [N/m] and damping [N s/m] at the speeds
BEARINGS = {
    7: (
        ((5e8, 5e8, 4e8, 3.5e8, 3.3e8, 3e8), (9e4, 9e4, 1.5e5, 2e5, 3.5e5, 7e5),
         (-9e4, -9e4, -1.5e5, -2e5, -3.5e5, -7e5), (0.9e8, 0.9e8, 1e8, 1.1e8, 1.15e8, 1.2e8)),
        ((4.5e5, 4.5e5, 3.3e5, 2.6e5, 2e5, 1.5e5), (-100.0, -100.0, -100.0, -200.0, -300.0, -400.0),
         (100.0, 100.0, 100.0, 200.0, 200.0, 300.0), (1.5e5, 1.5e5, 1.3e5, 1.1e5, 1e5, 0.7e5)),
    ),
    16: (
        ((1.5e8, 1.5e8, 1.4e8, 1.4e8, 1.4e8, 1.4e8), (8e4, 8e4, 1.3e5, 2e5, 3e5, 6e5),
         (-8e4, -8e4, -1.3e5, -2e5, -3e5, -6e5), (0.6e8, 0.6e8, 0.7e8, 0.8e8, 0.9e8, 1e8)),
        ((1.9e5, 1.9e5, 1.5e5, 1.3e5, 1e5, 0.8e5), (-100.0, -100.0, -100.0, -200.0, -200.0, -300.0),
         (100.0, 100.0, 100.0, 200.0, 200.0, 300.0), (1.2e5, 1.2e5, 1e5, 0.9e5, 0.8e5, 0.6e5)),
    ),
}  # fmt: skip


def build(refined: int = 1) -> Model:
    """Return the rotor, each element of the case in so many, without steps."""
    model = Model(3, "rotor on bearings that change with the speed")
    kinds = [k for k, (_, _, count) in enumerate(PIECES) for _ in range(count)]
    for k, (outer, bore, _) in enumerate(PIECES):
        area, inertia = np.pi * (outer**2 - bore**2) / 4.0, np.pi * (outer**4 - bore**4) / 64.0
        E, G, density, a = 200e9, 200e9 / 2.6, 7800.0, bore / outer
        # Cowper's coefficient of a tube for nu = 0, see the deviations
        shear = 6.0 * (1.0 + a * a) ** 2 / (7.0 * (1.0 + a * a) ** 2 + 20.0 * a * a)
        model.section(f"piece {k}", "stiffness", EA=E * area, GA=shear * G * area, EI=E * inertia, GJ=2.0 * G * inertia,
                      rhoA=density * area, rhoI=density * inertia)  # fmt: skip
    for i, z in enumerate(PLACES):
        model.node(f"n{i}", (0.0, 0.0, z))
    for i, kind in enumerate(kinds):
        ends = [f"n{i}", *(f"n{i} {j}" for j in range(1, refined)), f"n{i + 1}"]
        for j in range(1, refined):
            model.node(ends[j], (0.0, 0.0, PLACES[i] + (PLACES[i + 1] - PLACES[i]) * j / refined))
        for j in range(refined):
            model.beams(f"b{i} {j}", ends[j : j + 2], f"piece {kind}", orientation=(1.0, 0.0, 0.0))
    for i, mass, polar, diametral in DISCS:
        model.disc(f"disc {i}", f"n{i}", mass, polar=polar, diametral=diametral, axis=AXIS)
    for i, (stiffness, damping) in BEARINGS.items():
        model.bearing(
            f"bearing {i}", f"n{i}", stiffness=np.array(stiffness).T.tolist(), damping=np.array(damping).T.tolist(),
            axis=AXIS, direction=(1.0, 0.0, 0.0), speeds=(np.array(SPEEDS) * RPM).tolist(),
        )  # fmt: skip
    model.fix("n7", ["z"])
    model.rotor("rotor", axis=AXIS)
    return model


def reference() -> dict[float, tuple[tuple[float, float], ...]]:
    """Return frequencies [Hz] and damping ratios of Code_Aster by the speed [rpm]; some modes in between are left out.

    At 20 000 rpm the coefficients are those of 14 000 rpm.
    """
    return {
        0.0: ((131.778, 0.636557), (227.486, 0.094992), (314.009, 0.227490), (373.460, 0.664365), (389.637, 0.173901),
              (1434.498, 0.156292), (1548.065, 0.112067), (1894.166, 0.297391)),
        20000.0: ((123.645, 0.124500), (200.629, 0.217256), (286.795, 0.180971), (310.105, 0.430917),
                  (369.171, 0.254338), (413.384, 0.562317), (826.699, 0.468365), (1008.153, 0.511325)),
    }  # fmt: skip


def modes(speed: float, summaries: list[dict], refined: int = 1) -> np.ndarray:
    """Return the eigenvalues [1/s] with positive imaginary part at a speed [rpm], by their imaginary part."""
    model = build(refined)
    model.complex_modes_step(count=16, rotor="rotor", speed=speed * RPM, frame="fixed")
    summary = solve(model).steps[-1].summary
    summaries.append(summary)
    p = np.array(summary["eigenvalues"]) @ (1.0, 1j)
    p = p[p.imag > 1.0]
    return p[np.argsort(p.imag)]


def _nearest(found: np.ndarray, frequency: float, ratio: float) -> tuple[float, float]:
    """Return frequency [Hz] and damping ratio of the eigenvalue next to a given pair."""
    target = 2.0 * np.pi * frequency * (1j - ratio / np.sqrt(1.0 - ratio**2))
    p = complex(found[np.argmin(np.abs(found - target))])
    return p.imag / (2.0 * np.pi), -p.real / abs(p)


def check(f: Findings) -> None:
    where = program("Code_Aster of 2020, validation case SDLL129, full model")
    summaries: list[dict] = []
    for speed, rows in reference().items():
        meshes = [modes(speed, summaries, refined) for refined in (1, 3)]
        table = np.array([[_nearest(found, *row) for row in rows] for found in meshes])
        # both programs have this mesh; the row allows what it leaves in the worst of the modes
        left = np.abs(table[0] / table[1] - 1.0).max(axis=0)
        why = "The largest change of one of these modes if elements are a third as long."
        for k, known in enumerate(rows):
            for i, what in enumerate(("frequency {} at {:g} rpm [Hz]", "damping ratio {} at {:g} rpm")):
                f.row("B-SPEED-BEARINGS", what.format(k + 1, speed), table[0, k, i], known[i], why, where,
                      relative=left[i])  # fmt: skip
    good_pairs(f, "B-SPEED-BEARINGS", "both speeds", *summaries)
    speeds = np.linspace(0.0, 20000.0, 5)
    lightest = [min((p for p in modes(float(s), []) if 60.0 < p.imag / (2.0 * np.pi) < 300.0),
                    key=lambda p: -p.real / abs(p)) for s in speeds]  # fmt: skip
    f.figure(
        "The mode below 300 Hz with the least damping",
        [Curve(speeds, np.array([-p.real / abs(p) for p in lightest]), "fem-mbs", "o-"),
         published("Code_Aster", list(reference()), [0.094992, 0.124500])],
        "Speed [rpm]", "Damping ratio [-]",
    )  # fmt: skip
