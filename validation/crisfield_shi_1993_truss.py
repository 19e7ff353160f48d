"""Truss element: energy identity and tangent.

Random bars are moved by random steps, through rotations of up to half a turn and stretches of tens of per cent.

         d_n                                d_n+1
      o========o     one step     o
      1        2   ---------->     \\\\         work of the mid-step force = change of the strain energy
                                    \\\\o

Source: Crisfield & Shi 1993 (see the pendulum), eqs 8-24.  With N_av the mean axial force, e_m the unit vector at
mid-step and beta = 2 l_m/(l_n + l_n+1), eqs 16-20 say  N_av beta e_m.(d_21,n+1 - d_21,n) = strain energy gained.
The tangent of the mid-step force is not symmetric (eq. 24); it is compared with central differences.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve, tangent_check
from fem_mbs.validation.case import Findings
from fem_mbs.validation.kinds import SELF

CAPABILITY = "integration"
CASES = {"C1": "energy identity of the mid-step force", "C2": "tangent against differences, not symmetric"}

BARS, STEPS, STIFFNESS = 40, 4, 10.0


def build(dimension: int = 2, seed: int = 1, speed: float = 1.0) -> Model:
    """Return free bars, each with random ends, and random velocities that carry the ends about as far as the bars are
    long."""
    rng = np.random.default_rng(seed)
    model = Model(dimension, "random bars")
    model.section("bar", "stiffness", EA=STIFFNESS, rhoA=1.0)
    for i in range(BARS):
        start = rng.uniform(-1.0, 1.0, 3)
        direction = rng.normal(size=3)
        direction[dimension:] = start[dimension:] = 0.0
        end = start + rng.uniform(0.5, 2.0) * direction / np.linalg.norm(direction)
        model.line(f"bar {i}", start, end, 1)
        model.trusses(f"bars {i}", f"bar {i}", "bar")
        for place in ("start", "end"):
            model.initial(f"bar {i}:{place}", velocity=speed * rng.normal(size=dimension))
            model.sensor(f"{place} {i}", "position", on=f"bar {i}:{place}")
        model.sensor(f"N {i}", "force", on=f"bars {i}")
    model.transient_step(float(STEPS), 1.0, frames=0)
    return model


def reference() -> dict:
    return {"identity": 0.0, "tangent": 0.0}


def check(f: Findings) -> None:
    for dimension in (2, 3):
        worst, turned = 0.0, 0.0
        solution = solve(build(dimension))
        for i in range(BARS):
            chord = solution.steps[-1].series[f"sensor/end {i}"] - solution.steps[-1].series[f"sensor/start {i}"]
            length = np.linalg.norm(chord, axis=1)
            energy = 0.5 * STIFFNESS * (length - length[0]) ** 2 / length[0]  # unstrained at the start
            for n in range(1, STEPS):  # from a strained state on
                x_m = 0.5 * (chord[n] + chord[n + 1])
                l_m = np.linalg.norm(x_m)
                beta = 2.0 * l_m / (length[n] + length[n + 1])
                work = (
                    solution.steps[-1].series[f"sensor/N {i}"][n + 1, 0]
                    * beta
                    * (x_m / l_m)
                    @ (chord[n + 1] - chord[n])
                )
                size = energy[n] + energy[n + 1]
                worst = max(worst, abs(work - (energy[n + 1] - energy[n])) / size)
                turned = max(turned, np.arccos(chord[n] @ chord[n + 1] / (length[n] * length[n + 1])))
        turned = np.degrees(turned)
        f.zero(
            "C1",
            f"{BARS} random bars in {dimension}-D, turned by up to {turned:.0f} deg: (work - energy gained)/energy",
            worst,
            1e-12,
            "The identity is exact; only round-off is left.",
        )
    for dimension in (2, 3):
        found = tangent_check(_massless(dimension), h=1.0)
        f.zero(
            "C2",
            f"tangent against differences, {dimension}-D, over its largest entry",
            found.error,
            1e-8,
            "Central differences of fourth order leave their round-off.",
            SELF,
        )
        f.between(
            "C2",
            f"asymmetry of the tangent, {dimension}-D, over its largest entry",
            found.asymmetry,
            0.01,
            2.0,
            "Eq. 24 is not symmetric; 2 is the largest possible value.",
        )


def _massless(dimension: int) -> Model:
    """Return one bar without mass, so that the tangent is that of the internal force alone."""
    model = Model(dimension, "bar")
    model.section("bar", "stiffness", EA=STIFFNESS, rhoA=0.0)
    model.line("bar", (0.0, 0.0, 0.0), (1.2, 0.5, 0.0), 1)
    model.trusses("bar", "bar", "bar", prestress=2.0)
    return model
