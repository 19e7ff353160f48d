"""Jeffcott's rotor: response to unbalance, and whirl that the shaft's own damping excites.

A disc sits in the middle of a light shaft on rigid bearings.  Its centre of mass is off the axis, so that it is thrown
out, most of all at the critical speed, and falls behind by half a turn beyond it.  Damping of what stands still always
calms; damping of the turning shaft itself, which does not see the circle into which an unbalance bends it, drives
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
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "rotors"
CASES = {"B-JEFFCOTT": "unbalance response and internal damping of a disc on a light shaft"}

EI, LENGTH, MASS = 1e3, 1.0, 2.0
STIFFNESS = 48.0 * EI / LENGTH**3
OUTER, BETA, UNBALANCE, PHASE = 20.0, 1e-4, 2e-4, 0.7
AXIS = (1.0, 0.0, 0.0)


def build(damper: float = OUTER) -> Model:
    """Return the rotor without steps; inertia of the shaft is 1e-8 of the disc's."""
    model = Model(3, "Jeffcott rotor")
    model.section("shaft", "stiffness", EA=1e7, EI=EI, GJ=1e3, GA=np.inf, rhoA=1e-8, rhoI=1e-11)
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
    """Return both roots of m p^2 + (c_e + c_i) p + k - i c_i Omega = 0: forward whirl, backward whirl."""
    inner = BETA * STIFFNESS
    p = np.roots([MASS, OUTER + inner, STIFFNESS - 1j * inner * speed])
    return p[np.argsort(-p.imag)]


def response(speeds: np.ndarray) -> np.ndarray:
    """Return complex amplitude of w in the middle [m], against exp(i Omega t)."""
    return UNBALANCE * np.exp(1j * PHASE) * speeds**2 / (STIFFNESS - MASS * speeds**2 + 1j * OUTER * speeds)


def check(f: Findings) -> None:
    known = reference()
    summaries = []
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
        f.zero(
            "B-JEFFCOTT", f"whirl at {ratio:g} times the natural frequency, relative distance", off, 1e-8,
            "The closed form is exact; the shaft has 1e-8 of the mass.", CLOSED_FORM,
        )  # fmt: skip
    good_pairs(f, "B-JEFFCOTT", "all speeds", *summaries)

    def rate(speed: float) -> float:
        """Return the growth rate of forward whirl [1/s]."""
        model = build()
        model.complex_modes_step(count=4, rotor="rotor", speed=speed)
        p = solve(model).steps[-1].summary["eigenvalues"]
        return min(p, key=lambda x: abs(complex(*x) - whirl(speed)[0]))[0]

    threshold = brentq(rate, 0.9 * known["threshold"], 1.1 * known["threshold"], xtol=1e-7)
    f.row(
        "B-JEFFCOTT", "speed from which the shaft's damping drives forward whirl [rad/s]", threshold,
        known["threshold"], "The closed form is exact; the shaft has 1e-8 of the mass.", CLOSED_FORM, relative=1e-8,
    )  # fmt: skip
    model = build()
    speeds = np.sort(np.append(np.linspace(0.1, 2.0, 39), 1.0)) * known["natural"]
    model.unbalance_step("rotor", speeds.tolist(), [{"at": "middle", "amount": UNBALANCE, "phase": PHASE}])
    found = {r["direction"]: r for r in solve(model).steps[-1].summary["response"]}
    exact = response(speeds)
    for direction, turn in (("y", 0.0), ("z", -0.5 * np.pi)):
        measured = np.array(found[direction]["amplitude"]) * np.exp(1j * np.array(found[direction]["phase"]))
        f.zero(
            "B-JEFFCOTT", f"response to unbalance along {direction}, largest distance over the largest amplitude",
            np.abs(measured - exact * np.exp(1j * turn)).max() / np.abs(exact).max(),
            1e-8 * STIFFNESS / (OUTER * known["natural"]),
            "The closed form is exact; the shaft has 1e-8 of the mass, times k/(c w) at resonance.", CLOSED_FORM,
        )  # fmt: skip
    ratios = speeds / known["natural"]
    f.figure(
        "Response to unbalance",
        [Curve(ratios, np.array(found["y"]["amplitude"]) * MASS / UNBALANCE, "computed"),
         Curve(ratios[::3], np.abs(exact[::3]) * MASS / UNBALANCE, "closed form", "o")],
        "Speed / natural frequency", "Amplitude / eccentricity",
    )  # fmt: skip
    whirls = np.linspace(0.0, 7.0, 15)
    f.figure(
        "Growth of forward whirl",
        [Curve(whirls, np.array([rate(float(r * known["natural"])) for r in whirls]), "computed"),
         Curve(whirls, np.array([whirl(r * known["natural"])[0].real for r in whirls]), "closed form", "o"),
         Curve(np.array([known["threshold"] / known["natural"]]), np.zeros(1), "threshold", "o")],
        "Speed / natural frequency", "Growth rate [1/s]",
    )  # fmt: skip
