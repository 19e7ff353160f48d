"""Jeffcott's rotor: response to unbalance, and whirl that the shaft's own damping excites.

A disc sits in the middle of a light shaft on rigid bearings.  Its centre of mass is off the axis, so that it is thrown
out, most of all at the critical speed, and falls behind by half a turn beyond it.  Damping of what stands around
always calms; damping of the turning shaft itself, which does not see the circle into which an unbalance bends it, drives
forward whirl above a threshold.

                  | |  m, off the axis by e          k = 48 EI/L^3
           ^======| |======^                         c_e: damper between disc and ground
                  | |                                c_i = beta k: damping of the shaft's material

Source: H.H. Jeffcott, "The lateral vibration of loaded shafts in the neighbourhood of a whirling speed", Phil. Mag. (6)
37 (1919), 304-314; A.L. Kimball, "Internal friction theory of shaft whirling", Gen. Electr. Rev. 27 (1924), 244-251.
With w = y + i z: m w'' + c_e w' + c_i (w' - i Omega w) + k w = m e Omega^2 exp(i Omega t); unstable from
Omega = sqrt(k/m) (1 + c_e/c_i) on.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs

CASES = {"B-JEFFCOTT": "unbalance response and internal damping of a disc on a light shaft"}

EI, LENGTH, MASS = 1e3, 1.0, 2.0
STIFFNESS = 48.0 * EI / LENGTH**3
OUTER, BETA, UNBALANCE, PHASE = 20.0, 1e-4, 2e-4, 0.7
AXIS = (1.0, 0.0, 0.0)


def build(damper: float = OUTER) -> Model:
    """The rotor without steps; inertia of the shaft is 1e-9 of the disc's."""
    model = Model(3, "Jeffcott rotor")
    model.section("shaft", "stiffness", EA=1e7, EI=EI, GJ=1e3, GA=np.inf, rhoA=1e-9, rhoI=1e-12)
    names = ["left", "middle", "right"]
    for i, name in enumerate(names):
        model.node(name, (0.5 * i * LENGTH, 0.0, 0.0))
    for i in range(2):
        model.beams(f"shaft {i}", names[i : i + 2], "shaft", damping=BETA)
    model.disc("disc", "middle", MASS, polar=0.04, axis=AXIS)
    model.bearing("damper", "middle", stiffness=0.0, damping=damper, axis=AXIS)
    model.fix("left", ["x", "y", "z"])
    model.fix("right", ["y", "z"])
    model.rotor("rotor", axis=AXIS)
    return model


def reference() -> dict:
    natural = np.sqrt(STIFFNESS / MASS)
    return {"natural": natural, "threshold": natural * (1.0 + OUTER / (BETA * STIFFNESS))}


def whirl(speed: float) -> np.ndarray:
    """Both roots of m p^2 + (c_e + c_i) p + k - i c_i Omega = 0: forward whirl, backward whirl."""
    inner = BETA * STIFFNESS
    p = np.roots([MASS, OUTER + inner, STIFFNESS - 1j * inner * speed])
    return p[np.argsort(-p.imag)]


def response(speeds: np.ndarray) -> np.ndarray:
    """Complex amplitude of w in the middle [m], against exp(i Omega t)."""
    return UNBALANCE * np.exp(1j * PHASE) * speeds**2 / (STIFFNESS - MASS * speeds**2 + 1j * OUTER * speeds)


def check(f: Findings) -> None:
    known = reference()
    summaries, growth = [], []
    ratios = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 5.0, 6.0])
    for ratio in ratios:
        speed = float(ratio * known["natural"])
        model = build()
        model.complex_modes_step(count=4, rotor="rotor", speed=speed, frame="fixed")
        summary = solve(model).steps[-1].summary
        summaries.append(summary)
        p = np.array(summary["eigenvalues"]) @ (1.0, 1j)
        exact = whirl(speed)
        wanted = np.array([exact[0], exact[1].conj()])
        off = max(np.abs(p - x).min() / abs(x) for x in wanted)
        f.zero("B-JEFFCOTT", f"whirl at {ratio:g} times the natural frequency, relative distance", off, 1e-7, "closed form")
        growth.append(p.real.max())
    print(summary)
