"""Andrews' squeezing mechanism: seven bodies in the plane, driven by a constant torque.

A crank K1 turns about O; its coupler K2 ends in E, where it meets K3, K4 and K6 on one pin.  K3 turns about B and has a
spring to C.  K5 and K7 turn about A and carry K4 and K6.  The crank makes about two and a half turns in 30 ms.

                     C                         O = (0, 0)            spring DC: 4530 N/m, 77.85 mm
                      \\\\ spring                A = (-69.34, -2.27)   torque on K1: 0.033 N m
               B       D                       B = (-36.35, 32.73)   no gravity, at rest at the start
                o--K3--'                       C = (14, 72) mm
          K5    |    K2
       A o--K4--E========o--K1--o O
         o--K6--'
          K7

Source: W. Schiehlen (ed.), "Multibody systems handbook", Springer 1990 (problem of the planar mechanism); E. Hairer, G.
Wanner, "Solving ordinary differential equations II", Springer 1996, section VII.7; F. Mazzia, C. Magherini, "Test set
for initial value problem solvers", release 2.4, Bari 2008, problem "andrews", whose program prints the solution at
30 ms by PSIDE with tolerances of 1e-14.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, published
from fem_mbs.validation.kinds import PROPERTY, printed

CAPABILITY = "mechanisms"
CASES = {"B-SQUEEZER": "Andrews' squeezer: angles, speeds and joint forces after 30 ms"}

TEST_SET = printed("Mazzia, Magherini (2008), problem andrews, solution printed by its program")
END, TORQUE = 0.03, 0.033
#: The angles beta, Theta, gamma, Phi, delta, Omega, epsilon of the source at the start [rad].
START = np.array(
    [
        -0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
        -0.222668390165885885, 1.23054744454982119,
    ]
)  # fmt: skip
#: Rows: angles of the bodies K1 to K7 as sums of those of the source.
SUMS = np.array(
    [
        [1, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0],
        [0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 1],
    ]
)  # fmt: skip
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)


def along(angle: float, length: float, across: float = 0.0) -> np.ndarray:
    """Return a vector of a length at an angle, and of ``across`` to the left of it."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * length - s * across, s * length + c * across])


def build(h: float = 5e-6, duration: float = END) -> Model:
    """Return the mechanism at rest."""
    q = SUMS @ START
    O, A, B, C = np.zeros(2), np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
    P1 = along(q[0], 0.007)
    E = P1 - along(q[1], 0.028)
    D = B + along(q[2], 0.020, -0.018)
    Q4, Q6 = A + along(q[4], 0.040), A + along(q[6], 0.0, -0.040)  # ends of K5 and K7
    centres = (
        along(q[0], 0.00092), P1 - along(q[1], 0.0115), B + along(q[2], 0.01043, -0.01874),
        Q4 + along(q[3], 0.0, -0.00579), A + along(q[4], 0.02308, 0.00916), Q6 + along(q[5], 0.00579),
        A + along(q[6], 0.00449, -0.01228),
    )  # fmt: skip
    model = Model(2, "Andrews' squeezer")
    for k, centre in enumerate(centres):
        model.body(f"K{k + 1}", centre, MASSES[k], INERTIAS[k], angle=float(q[k]))
    pins = (
        ("O", "ground", "K1", O), ("P1", "K1", "K2", P1), ("B", "ground", "K3", B), ("A5", "ground", "K5", A),
        ("A7", "ground", "K7", A), ("Q4", "K5", "K4", Q4), ("Q6", "K7", "K6", Q6), ("E3", "K2", "K3", E),
        ("E4", "K2", "K4", E), ("E6", "K2", "K6", E),
    )  # fmt: skip
    for name, a, b, point in pins:
        model.joint(name, "pin", a, b, point=point)
    model.node("C", C)
    model.fix("C")
    model.spring("spring", "C", "K3", stiffness=4530.0, length=0.07785, point_b=D)
    model.moment("torque", "K1", TORQUE)
    for k in range(7):
        model.sensor(f"angle {k + 1}", "rotation", on=f"K{k + 1}")
        model.sensor(f"speed {k + 1}", "angular velocity", on=f"K{k + 1}")
    for name in ("E3", "E4", "E6"):
        model.sensor(name, "reaction", on=name)
    model.transient_step(duration, h, frames=60)
    return model


def reference() -> dict:
    """Return angles [rad], speeds [rad/s] of the source, and the forces of K2 on K3, K4, K6 in E [N], as printed."""
    return {
        "angles": np.array(
            [
                15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
                0.5347301163226948, 1.048080741042263,
            ]
        ),
        "speeds": np.array(
            [
                1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385, 0.5735699284790808,
                -19.29337464421385, 0.3231791658026955,
            ]
        ),
        "forces": np.array(
            [[199.1753333731910, -29.75531228015052], [23.06654119098399, 31.45271365475927],
             [22.64249232082739, 11.61740700019673]]
        ),
    }  # fmt: skip


def ends(solution) -> tuple[np.ndarray, np.ndarray]:
    """Return angles and speeds of the source at the end."""
    turned = np.array([solution.sensor(f"angle {k + 1}").values[-1].item() for k in range(7)])
    speeds = np.array([solution.sensor(f"speed {k + 1}").values[-1].item() for k in range(7)])
    return START + np.linalg.solve(SUMS, turned), np.linalg.solve(SUMS, speeds)


def forces(solution) -> np.ndarray:
    """Return the reactions of the three pins in E at the end, (3, 2) [N].

    Those that a step records are means over this step and the one before, which is the value at the start of the step.
    They are extrapolated to its end.
    """
    values = [solution.sensor(name).values[-3:, :2] for name in ("E3", "E4", "E6")]
    return -np.array([3.0 * v[2] - 3.0 * v[1] + v[0] for v in values])


def check(f: Findings) -> None:
    case, known = "B-SQUEEZER", reference()
    runs = {h: solve(build(h)) for h in (5e-6, 2.5e-6)}
    coarse, fine = (ends(solution) for solution in runs.values())
    names = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")
    for what, unit, scale, a, b in (
        ("angles", "rad", 1.0, coarse[0], fine[0]), ("speeds", "rad/s", 1e3, coarse[1], fine[1])
    ):  # fmt: skip
        limit = (4.0 * b - a) / 3.0
        for name, value, exact in zip(names, limit, known[what], strict=True):
            f.row(
                case, f"{what[:-1]} {name} after 30 ms [{unit}], h -> 0", value, exact,
                "An error of fourth order is left, for each radian 1/12 of the fourth power of the angle of a step, 6 "
                "mrad, and more by the stiff spring.", TEST_SET, tolerance=1e-7 * scale,
            )  # fmt: skip
    order = np.log2(np.abs(coarse[0] - known["angles"])[0] / np.abs(fine[0] - known["angles"])[0])
    f.row(case, "order of the angle of the crank", order, 2.0, "The rule is of second order.", PROPERTY, tolerance=0.02)
    a, b = (forces(solution) for solution in runs.values())
    for name, value, exact in zip(("K3", "K4", "K6"), (4.0 * b - a) / 3.0, known["forces"], strict=True):
        for axis, v, e in zip("xy", value, exact, strict=True):
            f.row(
                case, f"force {axis} on {name} in E after 30 ms [N], h -> 0", v, e,
                "Their extrapolation to the end of the step leaves an error of third order, 1e-6.", TEST_SET,
                relative=1e-5,
            )  # fmt: skip
    step = runs[2.5e-6].steps[0]
    f.zero(case, "energy less the work of the torque", energy_error(step), CONSERVED, "The rule conserves it exactly.")
    for k, name, where in ((0, "beta", "the crank"), (2, "gamma", "K3")):
        values = START[k] + runs[2.5e-6].sensor(f"angle {k + 1}").values[:, 0]
        f.figure(
            f"Angle of {where}",
            [Curve(step.time, values, name), published("Mazzia and Magherini (2008)", END, known["angles"][k])],
            "Time [s]", "Angle [rad]", "h = 2.5 microseconds.",
        )  # fmt: skip
