"""A shaft that turns: gyroscopic splitting of the frequencies of a pinned beam.

A pinned round shaft turns with 10 000 rad/s.  Seen from outside each frequency of bending splits into one of backward
and one of forward whirl, whose product is the square of the frequency at rest.

                     Omega
      A =============(->============= B      0.9 m, 50 mm thick
      ^                              ^       E = 200 GPa, 7800 kg/m^3, without shear

Source: R.J. Gibert, "Vibrations des structures. Interactions avec les fluides. Sources d'excitation aleatoires",
Eyrolles 1988.  The frequencies were read in the validation case SDLL141 of Code_Aster (V2.02.141), which prints them
after w/w0 = sqrt(1 + l^2) -+ l with l = Omega I_x/(2 sqrt(EI rho A)), rotary inertia left out.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs, published
from fem_mbs.validation.kinds import CLOSED_FORM, printed

CAPABILITY = "rotors"
CASES = {"B-GYROSCOPIC": "frequencies of a pinned shaft at rest and at 10 000 rad/s"}

AXIS = (1.0, 0.0, 0.0)
LENGTH, DIAMETER, E, DENSITY, SPEED = 0.9, 0.05, 200e9, 7800.0, 10000.0
AREA, INERTIA = np.pi * DIAMETER**2 / 4.0, np.pi * DIAMETER**4 / 64.0
ROTARY = "half of (k pi D/(4 L))^2, rotary inertia across the shaft, which the source leaves out, and the mesh"


def build(speed: float = SPEED, n: int = 36) -> Model:
    """Return the shaft of n elements with its complex modes at a speed [rad/s].

    It is stiff in twist and stretch, whose modes are not asked for.
    """
    model = Model(3, "turning shaft")
    model.section(
        "shaft", "stiffness", EA=100.0 * E * AREA, EI=E * INERTIA, GJ=100.0 * E * INERTIA, GA=np.inf,
        rhoA=DENSITY * AREA, rhoI=DENSITY * INERTIA,
    )  # fmt: skip
    model.line("shaft", (0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), n)
    model.beams("shaft", "shaft", "shaft")
    model.fix("shaft:start", ["x", "y", "z"])
    model.fix("shaft:end", ["y", "z"])
    model.rotor("shaft", axis=AXIS)
    model.complex_modes_step(count=8, rotor="shaft", speed=speed, frame="fixed")
    return model


def reference() -> dict:
    """Return the frequencies [Hz] at rest, and those at the speed, backward and forward."""
    return {
        0.0: ("122.7475", "490.9899", "1104.7273", "1963.9596"),
        SPEED: ("119.7548", "125.815", "479.0191", "503.2598", "1077.7931", "1132.3346", "1916.0765", "2013.0393"),
    }


def whirl(speed: float, k: int) -> tuple[float, float]:
    """Return backward and forward frequency [Hz] of mode k with rotary inertia across the shaft.

    For sin(k pi x/L) exp(i w t): (rho A + rho I a^2) w^2 - 2 rho I a^2 Omega w - EI a^4 = 0 with a = k pi/L.
    """
    a = (k * np.pi / LENGTH) ** 2
    roots = np.roots([DENSITY * (AREA + INERTIA * a), -2.0 * DENSITY * INERTIA * a * speed, -E * INERTIA * a**2])
    backward, forward = sorted(np.abs(roots) / (2.0 * np.pi))
    return backward, forward


def check(f: Findings) -> None:
    where = printed("Gibert (1988), in the validation case SDLL141 of Code_Aster")
    n, split = 36, 0.025
    summaries, curves = [], []
    speeds = np.linspace(0.0, SPEED, 3)
    for speed in speeds:
        summary = solve(build(float(speed), n)).steps[-1].summary
        p = np.array(summary["eigenvalues"])
        found = np.sort(p[p[:, 1] > 1.0, 1])[:8] / (2.0 * np.pi)
        summaries.append(summary)
        curves.append(found)
        texts = reference().get(speed)
        if texts is None:
            continue
        for i, value in enumerate(found):
            k, way = 1 + i // 2, ("backward", "forward")[i % 2]
            text = texts[i] if speed else texts[i // 2]
            label = f"frequency {k}, {way}, at {speed:g} rad/s [Hz]"
            rotary = 0.5 * (k * np.pi * DIAMETER / (4.0 * LENGTH)) ** 2
            mesh = (rotary + split * (speed > 0.0)) * (k * np.pi / n) ** 2
            mesh += 0.5 * (speed * LENGTH / n) ** 2 * DENSITY / E
            f.digits("B-GYROSCOPIC", label, value, text, where, error=rotary + mesh, why=ROTARY)
            f.row(
                "B-GYROSCOPIC", f"{label}, with rotary inertia", value, whirl(speed, k)[i % 2],
                "(k pi/36)^2 of the rotary inertia and of a splitting of 2.5 %, (Omega h)^2 rho/(2 E) of what "
                "stretches the sections: their directors are linear in an element.",
                CLOSED_FORM, relative=1e-6 + mesh,
            )  # fmt: skip
    good_pairs(f, "B-GYROSCOPIC", "all speeds", *summaries)
    table = np.array(curves)
    f.figure(
        "Frequencies against the speed",
        [*(Curve(speeds, table[:, i], f"mode {1 + i // 2}, {('backward', 'forward')[i % 2]}") for i in range(4)),
         published("Gibert (1988)", [SPEED] * 4, reference()[SPEED][:4])],
        "Speed [rad/s]", "Frequency [Hz]",
    )  # fmt: skip
