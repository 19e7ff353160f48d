"""Parameters from the energy equation: a flexible pendulum, and what a beam's motion can tell apart.

A flexible rod with a body on a hinge swings; its masses and stiffnesses are found again from the energies of the run.
A clamped beam moves by the six cubic shapes of its end; of its mass, inertias, stiffnesses and p point masses the
energies tell as many combinations apart as the matrices of the shapes are independent.

        o==========o--[]              clamped |----m1----m2----m3----m4----m5   cubic shapes, 6 motions of the end
        rhoA EI EA   k  m J                   x = .2   .4    .6    .8    1

Source: P. Chedmail, Ph. Depince, F. Bennis, "Identification of minimum set parameters of flexible robots", Computer
Aided Analysis of Rigid and Flexible Mechanical Systems, NATO ASI, Troia 1993, vol. II, 331-348, eqs 17-32, theorems 1
and 2; the paper prints no numbers.  The ranks are those of the paper's matrices (32) for cubic shapes, recomputed: 4
of stiffnesses, and of rho A, rho I_x, rho I_y, rho I_z and p masses 4 + p, but 7 for p = 5.  The reason of the
loss: with five masses the products s^2, st, t^2 and the shapes s = 3 x^2 - 2 x^3, t = x^3 - x^2 are spanned, and x^2
= s + 2 t.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fem_mbs import Model, identify, measured_instants, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import PROPERTY, RECOMPUTED

CAPABILITY = "inverse"
CASES = {"B-REGRESSOR": "masses and stiffnesses from energies; rank of the regressors of a beam with point masses"}

TRUE = {"rhoA": 1.2, "EI": 35.0, "EA": 5e3, "mass": 0.4, "J": 0.02, "k": 12.0}
BEAM = {"EA": 2.0, "EIy": 1.0, "EIz": 1.5, "GJ": 0.7, "rhoA": 1.0, "rhoIx": 0.05, "rhoIy": 0.03, "rhoIz": 0.03}
SMALL = 1e-5  # displacements and rotations of the end
TOLERANCE = 1e-3  # of singular values: errors of the elements' loads and masses are 3e-4 with 5 elements


def build(values: Mapping[str, float] = TRUE, restarts: int | None = None) -> Model:
    """Return the pendulum for values of its parameters."""
    model = Model(2, "flexible pendulum", gravity=(0.0, -9.81))
    model.section("rod", "stiffness", EA=values["EA"], EI=values["EI"], rhoA=values["rhoA"])
    model.line("rod", (0.0, 0.0), (1.0, 0.0), 4)
    model.beams("rod", "rod", "rod")
    model.body("tip", (1.1, 0.0), values["mass"], values["J"])
    model.joint("hinge", "revolute", "rod:end", "tip", point=(1.0, 0.0))
    model.joint_spring("spring", "hinge", values["k"], 0.05)
    model.fix("rod:start", ["x", "y"])
    options: dict[str, Any] = {} if restarts is None else {"restarts": restarts}
    model.transient_step(1.0, 0.002, frames=0, **options)
    return model


def beam(values: Mapping[str, float], n: int) -> Model:
    """Return a clamped beam of 5 n elements with the point masses m1, m2 ... at fifths of its length."""
    model = Model(3, "beam with point masses", gravity=(0.0, 0.0, -9.81))
    stiffness: dict[str, Any] = {name: values[name] for name in BEAM}
    model.section("beam", "stiffness", GA=np.inf, **stiffness)
    model.line("beam", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 5 * n)
    model.beams("beam", "beam", "beam")
    for i in range(1, len(values) - len(BEAM) + 1):
        model.point_mass(f"m{i}", f"beam:#{1 + i * n}", values[f"m{i}"])
    model.fix("beam:start", ["x", "y", "z", "rotation"])
    return model


def reference() -> dict:
    """Return the true values of the pendulum, and the rank of the beam's regressors by number of masses."""
    return {"true": TRUE, "rank": {0: 4 + 4, 1: 4 + 5, 2: 4 + 6, 5: 4 + 7}}


def shapes(q: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return displacements and rotations (5 n + 1, 3) of the nodes for motions (6,) of the end."""
    x = np.linspace(0.0, 1.0, 5 * n + 1)
    u, v, w, a, b, c = q
    s, t, ds, dt = 3.0 * x**2 - 2.0 * x**3, x**3 - x**2, 6.0 * (x - x**2), 3.0 * x**2 - 2.0 * x
    return np.column_stack([u * x, v * s + c * t, w * s - b * t]), np.column_stack(
        [a * x, b * dt - w * ds, v * ds + c * dt]
    )


def singular_values(masses: int, n: int) -> tuple[int, np.ndarray]:
    """Return rank and singular values of the regressors, over 80 random states of the beam."""
    values = {**BEAM, **{f"m{i}": 0.5 for i in range(1, masses + 1)}}
    rng = np.random.default_rng(0)
    sizes = (SMALL, 3.0 * np.sqrt(SMALL))  # of displacements and of rates, whose energies are alike then
    rows = [[a for size in sizes for a in shapes(rng.normal(size=6) * size, n)] for _ in range(80)]
    place, turn, velocity, spin = (np.array(column) for column in zip(*rows, strict=True))
    none = np.zeros(80)
    instants = measured_instants(beam(values, n), none, place, turn, velocity, spin, none)
    found = identify(lambda v: beam(v, n), instants, values, rank_tolerance=TOLERANCE)
    return found.rank, found.singular_values


def check(f: Findings) -> None:
    case, known = "B-REGRESSOR", reference()
    wrong = {name: value * (1.3 if i % 2 else 0.75) for i, (name, value) in enumerate(TRUE.items())}
    found = identify(build, solve(build(TRUE, 60)), wrong)
    why = "all are independent"
    f.row(case, "rank of the pendulum's regressors", found.rank, len(TRUE), why, PROPERTY, tolerance=0)
    why = "the numbers that the run was made with: the energy closes to round-off; times the condition of the equations"
    for name, value in TRUE.items():
        what = f"{name} of the pendulum, from values 25 to 30 % off"
        f.row(case, what, found.values[name], value, why, PROPERTY, relative=1e-8)
    f.between(
        case,
        "condition of the pendulum's equations",
        found.condition,
        1.0,
        1e4,
        "The condition must lie well above round-off.",
    )
    curves = []
    for masses, rank in known["rank"].items():
        told, values = singular_values(masses, 1)
        f.row(case, f"rank of the beam's regressors, {masses} masses, of {len(values)}", told, rank,
              "Eq. 32 and theorems 1 and 2 give the rank, a whole number.", RECOMPUTED, tolerance=0)  # fmt: skip
        curves.append(Curve(np.arange(1.0, len(values) + 1.0), np.maximum(values, 1e-12), f"{masses} masses", "o-"))
    small = [singular_values(5, n)[1][known["rank"][5]] for n in (1, 2, 4)]
    f.between(case, "order in the element length of the largest singular value beyond the rank",
              np.log2(small[1] / small[2]), 1.9, 2.1,
              "Regressors beyond the rank vanish but for lumped loads, which are of second order.")  # fmt: skip
    f.figure("Singular values of a beam's regressors", curves, "Number [-]", "Singular value [-]", "", "log")
