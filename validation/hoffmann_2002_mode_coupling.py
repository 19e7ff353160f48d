"""Mode coupling by friction: a mass on a belt flutters though the friction law does not fall with speed.

A mass m on two inclined springs k1, k2, pressed by P through the contact stiffness k3 onto a belt that runs; Coulomb's
friction mu N acts against the sliding, and N = k3 (way down) couples the two directions unsymmetrically.

         k1 150 deg        k2 30 deg
            \\    P |      /
              \\    v    /
                [  m   ]
                  k3
      ==========(contact)========== belt --> v

      m x'' + k11 x + (k12 - mu k3) y = ...      k11 = sum k cos^2 a,   k12 = sum k sin a cos a
      m y'' + k12 x + k22 y = ...                k22 = sum k sin^2 a + k3

The two frequencies meet at mu = (k12 + (k11 - k22)^2/(4 k12))/k3 = 0.4724, beyond which the motion grows.  Here the
contact is a shoe without mass that a joint holds on the belt: the friction depends on a multiplier.

Source: N. Hoffmann, M. Fischer, R. Allgaier, L. Gaul, "A minimal model for studying properties of the mode-coupling
type instability in friction induced oscillations", Mech. Res. Comm. 29 (2002), 197-205,
doi:10.1016/S0093-6413(02)00254-9.  The references are recomputed from the two equations.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT

CAPABILITY = "buckling"
CASES = {"B-FRICTION": "mode coupling: friction flutter of two degrees of freedom"}

MASS, K1, K2, K3 = 1.0, 11.0, 20.0, 11.0
ANGLES = np.deg2rad((150.0, 30.0))
PRESS, LENGTH, BELT = 1e-6, 1.0, 1.0


def build(coefficient: float = 0.6, damping: float = 0.0, push: float = 0.0, press: float = PRESS) -> Model:
    """Return the mass at the origin, the belt below; springs of length 1, so long beside the deflections that they are
    linear.

    ``damping`` [N s/m] of both springs; ``push``: velocity [m/s] with which a transient starts; ``press``: P [N].
    """
    model = Model(2, "mode coupling")
    model.body("mass", (0.0, 0.0), MASS, 1.0)
    model.fix("mass", ["rotation"])
    for name, k, angle in (("k1", K1, ANGLES[0]), ("k2", K2, ANGLES[1])):
        model.node(f"{name} wall", LENGTH * np.array((np.cos(angle), np.sin(angle))))
        model.fix(f"{name} wall")
        model.spring(name, f"{name} wall", "mass", stiffness=k, damping=damping)
    model.node("shoe", (0.0, 0.0))
    model.joint("belt", "point_on_line", "ground", "shoe", point=(0.0, 0.0), axis=(1.0, 0.0))
    model.joint("contact", "point_on_line", "mass", "shoe", point=(0.0, 0.0), axis=(0.0, 1.0))
    model.joint_spring("k3", "contact", K3)
    # the belt drags to the left, where the springs' coupling makes it press the mass down
    model.friction("rubbing", "belt", coefficient=coefficient, smoothing=0.02 * BELT, speed=-BELT)
    model.force("P", "mass", (0.0, -press))
    model.static_step()
    if push:
        model.initial("mass", velocity=(push, 0.0))
    return model


def matrices(coefficient: float, damping: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return C and K of the two equations, x to the side to which the belt runs, y down."""
    # seen from below and behind, x and y of the model change their signs: the springs' matrix stays
    directions = np.column_stack((np.cos(ANGLES), np.sin(ANGLES)))
    stiffness = directions.T @ np.diag((K1, K2)) @ directions
    C = damping * directions.T @ directions
    return C, stiffness + np.array([[0.0, -coefficient * K3], [0.0, K3]])


def rightmost(coefficient: float, damping: float = 0.0) -> complex:
    """Return the eigenvalue [1/s] of largest real part and positive frequency."""
    C, K = matrices(coefficient, damping)
    p = np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [-K / MASS, -C / MASS]]))
    p = p[p.imag >= 0.0]
    return complex(p[p.real.argmax()])


def reference() -> dict:
    k11, k12, k22 = (matrices(0.0)[1][i] for i in ((0, 0), (1, 0), (1, 1)))
    return {"critical": float((k12 + (k11 - k22) ** 2 / (4.0 * k12)) / K3)}


def check(f: Findings) -> None:
    known = reference()
    model = build()
    model.stability_map_step(
        [{"element": "rubbing", "number": "coefficient", "values": [0.1, 0.9]}], count=2, refine=40
    )
    found = solve(model).steps[-1].summary["boundary"]
    f.row(
        "B-FRICTION", "critical coefficient of friction", found[0][0], known["critical"],
        "Springs turn by 1e-7, which leaves 1e-6.", CLOSED_FORM, relative=1e-6,
    )  # fmt: skip

    coefficients, dampings = np.linspace(0.1, 1.2, 12), np.array([0.0, 0.2, 0.4, 0.8])
    model = build(damping=1.0)
    model.stability_map_step(
        [
            {"element": "rubbing", "number": "coefficient", "values": coefficients},
            {"element": ["k1", "k2"], "number": "damping", "values": dampings},
        ],
        count=2,
    )
    growth = np.array(solve(model).steps[-1].summary["growth"])
    exact = np.array([[rightmost(mu, d).real for d in dampings] for mu in coefficients])
    f.zero(
        "B-FRICTION", "growth rates of 48 points against the two equations [1/s]", np.abs(growth - exact).max(), 2e-6,
        "Springs turn by 1e-7.", INDEPENDENT,
    )  # fmt: skip

    mu = 0.6
    model = build(mu, push=1e-6, press=1e-2)
    model.sensor("x", "displacement", on="mass")
    model.transient_step(24.0, 0.01, frames=0)
    solution = solve(model)
    step = solution.steps[-1]
    p = rightmost(mu)
    x = solution.steps[-1].series["sensor/x"][:, 0] - solution.steps[-1].series["sensor/x"][0, 0]
    late = step.time > 8.0
    # amplitude exp(Re p t) about a shifted mean: from the second derivative of the motion, which has no mean
    swing = np.log(np.maximum.reduceat(np.abs(np.diff(x[late], 2)), np.arange(0, late.sum() - 2, 120)))
    t = step.time[late][: 120 * swing.size : 120]
    rate = float(np.polyfit(t[1:-1], swing[1:-1], 1)[0])
    f.row(
        "B-FRICTION",
        "growth rate of a transient, mu = 0.6 [1/s]",
        rate,
        p.real,
        "The rate is read from the largest values of a transient, which leaves 3 %.",
        INDEPENDENT,
        relative=3e-2,
    )
    f.zero(
        "B-FRICTION", "closing error of its ledger, relative", step.summary["energy"]["closing_error_relative"], 1e-10,
        "The rule conserves energy; losses and the work of the belt are booked.",
    )  # fmt: skip
    c = np.linspace(0.0, 1.2, 241)
    curves = [
        Curve(c, np.array([rightmost(v, d).real for v in c]), f"two equations, d = {d:g} N s/m") for d in dampings
    ]
    curves += [Curve(coefficients, growth[:, i], "stability map" if i == 0 else "", style="o") for i in range(4)]
    f.figure("Growth rate of the motion over the coefficient of friction", curves, "mu", "Re p [1/s]")
