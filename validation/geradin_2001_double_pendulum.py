"""Double pendulum of two very stiff beams with tip masses.

The first beam is horizontal, the second hangs from its end; both are let go.  The beams are so stiff that the motion is
that of rigid links; every joint that leaves the pendulum its two angles must give the same.

      o===================o  (1 kg)          each beam: 1 m, 1 kg; EA = GA = GJ = EI = 1e10
      hinge               |                  point masses of 1 kg at both ends; g = 9.81 along -z
                          |
                          o  (1 kg)

Source: M. Geradin, A. Cardona, "Flexible multibody dynamics: a finite element approach", Wiley 2001.  The reference is
the exact motion of rigid links, by a Runge-Kutta method.  The test ``test_double_pendulum_geradin`` of SHARPy
(github.com/ImperialCollegeLondon/sharpy) has the same data (g = 9.81, h = 0.01 s, Newmark's rule damped by 0.15) and
asserts the tip it computes, (1.051004, 0, -.9986984) or (1.481168, 0, .8766285) by version; no undamped pendulum of
rigid links comes within 6 cm of either in its first 6 s, so these are not compared with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, limit_of
from fem_mbs.validation.kinds import INDEPENDENT, SELF

CAPABILITY = "mechanisms"
CASES = {"B-PEND2": "double pendulum of stiff beams: hinges and spherical joints, against rigid links"}
DEVIATIONS = (
    "SHARPy's test of this pendulum asserts a tip that no undamped pendulum of rigid links comes within 6 cm of "
    "in its first 6 s; it is not used as a reference.",
)

GRAVITY = 9.81


def build(
    kind: Any = "revolute", h: float = 1e-3, duration: float = 1.0, n: int = 2, stiffness: float = 1e10, **options
) -> Model:
    """Return the pendulum in the x-z plane; ``kind`` of the joint between the beams and at the pivot."""
    model = Model(3, f"double pendulum, {kind}", gravity=(0.0, 0.0, -GRAVITY))
    model.section("beam", "stiffness", EA=stiffness, GA=stiffness, GJ=stiffness, EI=stiffness, rhoA=1.0, rhoI=1e-4)
    model.line("first", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), n)
    model.line("second", (1.0, 0.0, 0.0), (1.0, 0.0, -1.0), n)
    axis: dict[str, Any] = {"axis": (0.0, 1.0, 0.0)} if kind == "revolute" else {}
    for name in ("first", "second"):
        model.beams(name, name, "beam", orientation=(0.0, 1.0, 0.0))
        model.point_mass(f"mass {name}", f"{name}:end", 1.0)
    model.joint("pivot", kind, "ground", "first:start", point=(0.0, 0.0, 0.0), **axis)
    model.joint("elbow", kind, "first:end", "second:start", **axis)
    model.sensor("elbow", "position", on="first:end")
    model.sensor("tip", "position", on="second:end")
    model.transient_step(duration, h, frames=0, **options)
    return model


def rigid(t: np.ndarray) -> np.ndarray:
    """Return tip (n, 3) of rigid links by a Runge-Kutta method: angles from the downward vertical, rotary inertia
    included."""
    from scipy.integrate import solve_ivp

    m, tip, elbow = 1.0, 1.0, 1.0
    j = m / 3.0 + 1e-4
    a, b, c = j + elbow + m + tip, j + tip, 0.5 * m + tip
    wa, wb = (0.5 * m + elbow + m + tip) * GRAVITY, (0.5 * m + tip) * GRAVITY

    def rate(_t, y):
        p, q, u, v = y
        d = q - p
        M = np.array([[a, c * np.cos(d)], [c * np.cos(d), b]])
        r = (c * np.sin(d) * v * v - wa * np.sin(p), -c * np.sin(d) * u * u - wb * np.sin(q))
        return (u, v, *np.linalg.solve(M, r))

    y = solve_ivp(rate, (0.0, t[-1]), (0.5 * np.pi, 0.0, 0.0, 0.0), "DOP853", t, rtol=1e-12, atol=1e-12).y
    return np.column_stack((np.sin(y[0]) + np.sin(y[1]), 0.0 * t, -np.cos(y[0]) - np.cos(y[1])))


def reference() -> dict:
    """Return the times [s] of the comparison; the reference positions there come from `rigid`."""
    return {"times": (0.1, 0.5, 1.0)}


def check(f: Findings) -> None:
    known = reference()
    tips = {}
    for kind in ("revolute", "spherical"):
        limits = []
        for stiffness in (1e9, 1e10):
            runs = []
            for h in (4e-3, 2e-3, 1e-3):
                solution = solve(build(kind, h, stiffness=stiffness))
                step, tip = solution.steps[0], solution.sensor("tip").values
                runs.append(tip[:: round(4e-3 / h)])
            limit, moved = limit_of(runs)
            limits.append(limit)
        tips[kind] = tip
        exact = rigid(step.time)[::4]
        left = 2.0 * moved + 2.0 / 9.0 * np.abs(limits[1] - limits[0])  # of the stiffer links
        for when in known["times"]:
            k = round(when / 4e-3)
            f.zero(
                "B-PEND2", f"tip after {when:g} s against rigid links, {kind} joints, h -> 0 [m]",
                np.abs(limits[1][k] - exact[k]).max(), left[: k + 1].max(),
                "Twice the change of the limit by the coarsest of three steps, and twice what the bend of the links "
                "leaves: 1/9 of the change from links a tenth as stiff.",
                INDEPENDENT,
            )  # fmt: skip
        f.zero(
            "B-PEND2",
            f"change of the energy, {kind} joints",
            energy_error(step, constant=True),
            CONSERVED,
            "The value is exact; only round-off is left.",
        )
    f.zero(
        "B-PEND2", "spherical against revolute joints, largest distance of the tips [m]",
        np.abs(tips["spherical"] - tips["revolute"]).max(), 1e-9,
        "The motion is plane, where both joints do the same.", SELF,
    )  # fmt: skip
    exact = rigid(step.time)
    f.figure(
        "Path of the tip",
        [
            Curve(tips["revolute"][:, 0], tips["revolute"][:, 2], "beams"),
            Curve(exact[::50, 0], exact[::50, 2], "rigid links", "o"),
        ],
        "x [m]", "z [m]", "One second.", equal=True,
    )  # fmt: skip
