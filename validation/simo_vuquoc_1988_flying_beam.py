"""Spatial flying beam.

A free, very flexible beam at rest is pushed and turned at its lower end by loads that grow and fade within 5 s; then
it flies freely, tumbling about all axes, bent and twisted by more than its length, for many revolutions.

      (0, 8) o
              \\                    EA = GA = 1e4, EI = GJ = 500, rho A = 1, rho J = 10 about all three axes
                \\   L = 10        10 elements
                  \\               T: 0 at 0 s, 200 at 2.5 s, 0 from 5 s on
      (6, 0)       o -->  F_x = T/10, M_y = T/2, M_z = T

Source: J.C. Simo, L. Vu-Quoc, "On the dynamics in space of rods undergoing large motions", Comp.  Meth. Appl. Mech.
Eng. 66 (1988), 125-161, doi:10.1016/0045-7825(88)90073-4; energy and momenta after J.C. Simo, N. Tarnow, M. Doblare,
Int. J. Num. Meth. Eng. 38 (1995), 1431-1473, doi:10.1002/nme.1620380903.  After 5 s energy and both momenta must stay
constant at every step size, for every beam and every mass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, constancy, energy_error

CAPABILITY = "flexible"
CASES = {"B-SPAG3": "energy and both momenta of the free flight in space, through many revolutions; objectivity"}

ELEMENTS, LOADED = 10, 5.0
PULSE = {"kind": "table", "times": [0.0, 2.5, 5.0, 1e4], "values": [0.0, 200.0, 0.0, 0.0]}
VARIANTS = (
    ("exact", "hermite"),
    ("exact", "consistent"),
    ("generalised", "hermite"),
    ("corotational", "hermite"),
    ("generalised", "consistent"),
)


def build(
    strains: str = "exact",
    mass: Any = "hermite",
    h: float = 0.1,
    duration: float = 30.0,
    turn: Rotation | None = None,
    frames: int = 0,
    **options,
) -> Model:
    """Return the beam from (6, 0, 0) to (0, 8, 0); ``turn`` turns the whole problem."""
    Q = np.eye(3) if turn is None else turn.as_matrix()
    model = Model(3, f"flying beam, {strains} strains, {mass} mass")
    model.section("beam", "stiffness", EA=1e4, GA=1e4, GJ=500.0, EI=500.0, rhoA=1.0, rhoI=10.0, rhoIx=10.0)
    model.line("beam", Q @ (6.0, 0.0, 0.0), Q @ (0.0, 8.0, 0.0), ELEMENTS)
    model.beams("beam", "beam", "beam", mass=mass, strains=strains, orientation=Q @ (0.0, 0.0, 1.0))
    model.force("push", "beam:start", Q @ (0.1, 0.0, 0.0), function=PULSE)
    model.moment("turn", "beam:start", Q @ (0.0, 0.5, 1.0), function=PULSE)
    model.sensor("lower end", "position", on="beam:start")
    model.sensor("upper end", "position", on="beam:end")
    model.transient_step(duration, h, frames=frames, **options)
    return model


def reference() -> dict:
    """Return the linear momentum is the impulse of F_x: 0.1 x 200 x 5/2."""
    return {"momentum": np.array([50.0, 0.0, 0.0]), "turns": 10.0}


def turns(step) -> np.ndarray:
    """Return the angle through which every node has turned, in turns (n,), from frames that are less than half a turn
    apart."""
    rotation = step.frames["rotation"]
    total = np.zeros(rotation.shape[1])
    for i in range(rotation.shape[1]):
        R = Rotation.from_rotvec(rotation[:, i])
        total[i] = (R[1:] * R[:-1].inv()).magnitude().sum() / (2.0 * np.pi)
    return total


def check(f: Findings) -> None:
    known = reference()
    duration = 100.0 if f.long else 30.0
    ledgers = {}
    for strains, mass in VARIANTS:
        for h in (0.1, 0.05, 0.01):
            step = solve(build(strains, mass, h, duration)).steps[0]
            label = f"{strains} strains, {mass} mass, h = {h:g} s"
            many = f"{label}, {LOADED:g} to {duration:g} s"
            f.zero(
                "B-SPAG3",
                f"change of the energy, {many}",
                energy_error(step, LOADED, constant=True),
                CONSERVED,
                "The rule conserves it exactly; only round-off is left.",
            )
            for momentum in ("linear momentum", "angular momentum"):
                f.zero(
                    "B-SPAG3", f"change of the {momentum}, {many}", constancy(step, momentum, LOADED), CONSERVED,
                    "The rule conserves it exactly; only round-off is left.",
                )  # fmt: skip
            f.zero(
                "B-SPAG3", f"closing error of the ledger, {label}, with the loads", energy_error(step), CONSERVED,
                "The loads' work is booked; only round-off is left.",
            )  # fmt: skip
            off = np.abs(step.series["linear momentum"][-1] - known["momentum"]).max() / 50.0
            f.zero(
                "B-SPAG3",
                f"linear momentum against the impulse, {many}",
                off,
                CONSERVED,
                "The value is exact; only round-off is left.",
            )
            ledgers[label] = step
    long = solve(build(h=0.05, duration=40.0, frames=400)).steps[0]
    f.between(
        "B-SPAG3",
        "fewest turns of a node in 40 s, h = 0.05 s",
        turns(long).min(),
        known["turns"],
        100.0,
        "Every node turns more than 10 times; no branch of an angle ends a run.",
    )
    _objectivity(f)
    f.energy_figure(ledgers, "After the loads.", after=LOADED)
    shapes = long.frames["displacement"] + build().positions
    curves = [
        Curve(shapes[k, :, 0], shapes[k, :, 1], f"{long.frames['time'][k]:.1f} s", "-") for k in range(0, 101, 10)
    ]
    f.figure("Shapes of the beam, seen along z", curves, "x", "y", "Every second until 10 s.", equal=True)


def _objectivity(f: Findings) -> None:
    """Run the same problem turned by a random rotation, step by step."""
    turn = Rotation.random(random_state=5)
    for strains, mass in VARIANTS:
        plain, turned = (
            solve(build(strains, mass, 0.1, 10.0, turn=t)).sensor("upper end").values for t in (None, turn)
        )
        off = np.abs(turned - turn.apply(plain)).max() / np.ptp(plain, axis=0).max()
        f.zero(
            "B-SPAG3",
            f"tip of the turned problem against the turned tip, {strains} strains, {mass} mass, 10 s",
            off,
            1e-10,
            "The formulation is objective; 1e-10 is demanded.",
        )
