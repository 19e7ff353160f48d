"""Row of four-bar linkages through its singular configurations, built of pins and of revolutes in space.

n parallelograms side by side share their legs.  From the upright position, the tops moving at 1 m/s, they fall, swing
through below and come up again, over and over.  Whenever all bars lie in line, n more motions are possible for a
moment, and the constraints lose as much rank.  With revolutes in space 3 n constraints repeat others all the time.

      B0      B1      B2              bars of 1 m and 1 kg, slender; g = 9.81 along -y
      o-------o-------o  -> 1 m/s     one motion: the legs turn by a common angle
      |       |       |               energy: I w^2/2 + W sin(angle), I = (n + 1)/3 + n,
      o       o       o               W = g ((n + 1)/2 + n)
      A0      A1      A2

Source: M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado, "A benchmarking system for MBS simulation software: problem
standardization and performance measurement", Multibody Syst. Dyn. 16 (2006), 179-190, doi:10.1007/s11044-006-9020-8
(problem A02).  Period by quadrature of the energy.
"""

from __future__ import annotations

import re

import numpy as np
from scipy.integrate import quad

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import INDEPENDENT, PROPERTY, SELF

CAPABILITY = "mechanisms"
CASES = {"B-4BARS": "singular configurations on the way; linkage in space with 3 n surplus constraints as in the plane"}

GRAVITY = 9.81


def build(n: int = 2, dimension: int = 3, h: float = 0.01, duration: float = 10.0, **options) -> Model:
    """Return n linkages, upright, their tops moving at 1 m/s along x."""
    space = dimension == 3
    model = Model(dimension, f"{n} four-bar linkages", gravity=(0.0, -GRAVITY, 0.0)[:dimension])
    kind = {"kind": "revolute", "axis": (0.0, 0.0, 1.0)} if space else {"kind": "pin"}

    def at(x: float, y: float) -> tuple[float, ...]:
        return (x, y, 0.0)[:dimension]

    def bar(name: str, x: float, y: float, upright: bool, spin: float) -> None:
        inertia = (1.0 / 12.0, 0.0, 1.0 / 12.0) if upright else (0.0, 1.0 / 12.0, 1.0 / 12.0)
        model.body(name, at(x, y), 1.0, inertia if space else 1.0 / 12.0)
        model.initial(name, velocity=at(y, 0.0), spin=(0.0, 0.0, spin) if space else spin)

    for i in range(n + 1):
        bar(f"leg {i}", i, 0.5, True, -1.0)
        model.joint(f"A{i}", a="ground", b=f"leg {i}", point=at(i, 0.0), **kind)
    for i in range(n):
        bar(f"coupler {i}", i + 0.5, 1.0, False, 0.0)
        model.joint(f"B{i}", a=f"leg {i}", b=f"coupler {i}", point=at(i, 1.0), **kind)
        model.joint(f"C{i}", a=f"coupler {i}", b=f"leg {i + 1}", point=at(i + 1, 1.0), **kind)
    model.sensor("B0", "position", on="leg 0", point=at(0.0, 1.0))
    model.sensor("last", "position", on=f"leg {n}", point=at(n, 1.0))
    model.transient_step(duration, h, frames=0, **options)
    return model


def reference(n: int = 2) -> dict:
    """Return the time of a whole turn [s], rank of the constraints in space."""
    inertia, weight = (n + 1) / 3.0 + n, GRAVITY * ((n + 1) / 2.0 + n)
    half, _ = quad(lambda a: 1.0 / np.sqrt(1.0 + 2.0 * weight / inertia * (1.0 - np.cos(a))), 0.0, np.pi, epsabs=1e-13)
    return {"turn": 2.0 * half, "rank": 5 * (3 * n + 1) - 3 * n}


def turn(solution) -> float:
    """Return the time after which the legs are upright again, by the cubic through four rows."""
    t, B0 = solution.steps[0].time, solution.steps[-1].series["sensor/B0"]
    angle = np.unwrap(np.arctan2(B0[:, 0], B0[:, 1])) - 2.0 * np.pi
    k = np.flatnonzero((angle[:-1] < 0.0) & (angle[1:] >= 0.0))[0]
    rows = slice(k - 1, k + 3)
    return float(np.polynomial.polynomial.polyfit(angle[rows], t[rows], 3)[0])


def check(f: Findings) -> None:
    case = "B-4BARS"
    for n in (1, 5):
        known = reference(n)
        plane = solve(build(n, 2))
        space = solve(build(n, 3))
        turns = [turn(plane), *(turn(solve(build(n, 2, h=h, duration=3.0))) for h in (0.005, 0.0025))]
        f.converged(case, f"time of a turn [s], n = {n}, h -> 0", turns, known["turn"], INDEPENDENT)
        for name, solution in (("plane", plane), ("space", space)):
            step = solution.steps[0]
            f.zero(case, f"change of the energy in 10 s, n = {n}, {name}", energy_error(step, constant=True), CONSERVED,
                   "The rule conserves energy through ten singular configurations.")  # fmt: skip
            gap = np.abs(solution.sensor("last").values[:, :2] - solution.sensor("B0").values[:, :2] - (n, 0.0)).max()
            f.zero(case, f"last leg against the first [m], n = {n}, {name}", gap, 1e-9,
                   "Round-off grows near singular configurations.")  # fmt: skip
            f.between(case, f"Newton iterations per step, n = {n}, {name}", step.summary["iterations"] / 1000.0, 1.0,
                      4.0, "Redundant constraints must not cost iterations.")  # fmt: skip
        apart = np.abs(space.sensor("B0").values[:, :2] - plane.sensor("B0").values).max()
        f.zero(
            case,
            f"linkage in space against the plane one [m], n = {n}",
            apart,
            1e-10,
            "Newton's method ends at its tolerance.",
            SELF,
        )
        rank = re.search(r"constraints of rank (\d+) on", " ".join(space.steps[0].summary["warnings"]))
        f.row(case, f"rank of {5 * (3 * n + 1)} constraints in space, as reported, n = {n}",
              float(rank[1]) if rank else 0.0, known["rank"],
              "The rank is a whole number.", PROPERTY, tolerance=0.0)  # fmt: skip
    B0 = space.sensor("B0").values
    angle = np.unwrap(np.arctan2(B0[:, 0], B0[:, 1]))
    f.figure("Angle of the legs", [Curve(space.steps[0].time, angle, "n = 5")], "Time [s]", "Angle [rad]", "h = 10 ms.")
    f.energy_figure({"plane, n = 5": plane.steps[0], "space, n = 5": space.steps[0]})
