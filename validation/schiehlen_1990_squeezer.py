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

The mechanism has one degree of freedom and loses no energy, so the file integrates the time of the crank by quadrature,

    t = int dbeta sqrt(M(beta)/(2 W(beta))),   W = torque (beta - beta_0) - V(beta) + V(beta_0),

with closed forms of the other angles by beta, and has the forces from the balance of each body.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error, last_order, published
from fem_mbs.validation.kinds import INDEPENDENT, PROPERTY

CAPABILITY = "mechanisms"
CASES = {"B-SQUEEZER": "Andrews' squeezer: angles, speeds and joint forces after 30 ms"}

DEVIATIONS = (
    "Mazzia and Magherini (2008), problem andrews: the printed solution is that of 1e-12 s later, 1.1e-9 rad of the "
    "crank, and its forces are off by up to 1.5e-5 N, by quadrature of the one degree of freedom.",
)
END, TORQUE = 0.03, 0.033
STEPS = (1e-5, 5e-6, 2.5e-6)
EXTRAPOLATION = np.array([-1.0, 6.0, -15.0, 20.0, -15.0, 6.0])  # of the polynomial through six values
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


A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
SPRING, FREE = 4530.0, 0.07785  # stiffness [N/m] and length without force [m]
NAMES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")


def along(angle: float, length: float, across: float = 0.0) -> np.ndarray:
    """Return a vector of a length at an angle, and of ``across`` to the left of it."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * length - s * across, s * length + c * across])


# --- one degree of freedom -------------------------------------------------------------------------------------------
def _beside(u: np.ndarray, length: float, across: float = 0.0) -> np.ndarray:
    """Return `along` of unit vectors (..., 2)."""
    return length * u + across * np.stack((-u[..., 1], u[..., 0]), axis=-1)


def _meeting(p: np.ndarray, r: float, q: np.ndarray, s: float, side: int) -> np.ndarray:
    """Return where circles about p and q (..., 2) of the radii r and s meet, on a side of the way from p to q."""
    d = q - p
    square = (d * d).sum(axis=-1, keepdims=True)
    a = 0.5 * ((r**2 - s**2) / square + 1.0)
    return p + a * d + side * np.sqrt(r**2 / square - a * a) * _beside(d, 0.0, 1.0)


def posture(beta: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return directions and centres (..., 7, 2) of the bodies and the places of pins by the angle of the crank, which
    may be complex."""
    crank = np.stack((np.cos(beta), np.sin(beta)), axis=-1)
    P1 = 0.007 * crank
    E = _meeting(P1, 0.028, B, 0.035, 1)
    Q4, Q6 = _meeting(A, 0.040, E, 0.020, 1), _meeting(A, 0.040, E, 0.020, -1)
    u = (
        crank, (P1 - E) / 0.028, _beside((E - B) / 0.035, 0.0, 1.0), _beside((E - Q4) / 0.020, 0.0, 1.0),
        (Q4 - A) / 0.040, (E - Q6) / 0.020, _beside((Q6 - A) / 0.040, 0.0, 1.0),
    )  # fmt: skip
    D = B + _beside(u[2], 0.020, -0.018)
    centres = (
        0.00092 * u[0], P1 - 0.0115 * u[1], B + _beside(u[2], 0.01043, -0.01874), Q4 + _beside(u[3], 0.0, -0.00579),
        A + _beside(u[4], 0.02308, 0.00916), Q6 + 0.00579 * u[5], A + _beside(u[6], 0.00449, -0.01228),
    )  # fmt: skip
    return np.stack(u, axis=-2), np.stack(centres, axis=-2), {"P1": P1, "E": E, "Q4": Q4, "Q6": Q6, "D": D}


def rates(beta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the derivatives by beta of the bodies' angles (..., 7), of their centres (..., 7, 2) and of D (..., 2)."""
    u, centres, pins = posture(np.asarray(beta) + 1e-30j)  # complex step
    turns = u.real[..., 0] * u.imag[..., 1] - u.real[..., 1] * u.imag[..., 0]
    return turns / 1e-30, centres.imag / 1e-30, pins["D"].imag / 1e-30


def mass(beta: np.ndarray) -> np.ndarray:
    """Return M(beta), twice the kinetic energy over the square of the crank's speed."""
    turns, ways, _ = rates(beta)
    return (np.array(MASSES) * (ways**2).sum(axis=-1) + np.array(INERTIAS) * turns**2).sum(axis=-1)


def stretched(beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the energy of the spring, and the torque on the crank of it and the drive."""
    d = posture(beta)[2]["D"] - C
    length = np.sqrt((d * d).sum(axis=-1))
    slope = SPRING * (length - FREE) / length * (d * rates(beta)[2]).sum(axis=-1)
    return 0.5 * SPRING * (length - FREE) ** 2, TORQUE - slope


def squared_speed(beta: np.ndarray) -> np.ndarray:
    """Return the square of the crank's speed (n,) at angles (n,)."""
    turn = beta - START[0]
    work = TORQUE * turn - stretched(beta)[0] + stretched(START[0])[0]
    near = turn < 0.05  # here the difference of energies loses digits, the integral of the torque does not
    x, w = np.polynomial.legendre.leggauss(10)
    torques = stretched(START[0] + 0.5 * turn[near, None] * (x + 1.0))[1]
    work[near] = 0.5 * turn[near] * (torques @ w)
    return 2.0 * work / mass(beta)


def duration(beta: float, panels: int = 200) -> float:
    """Return the time [s] in which the crank reaches an angle, by Gauss's rule over the root of its turn."""
    x, w = np.polynomial.legendre.leggauss(10)
    width = np.sqrt(beta - START[0]) / panels
    s = (width * (np.arange(panels)[:, None] + 0.5 * (x + 1.0))).ravel()
    return float((2.0 * s / np.sqrt(squared_speed(START[0] + s * s))).reshape(panels, -1).sum(axis=0) @ w) * 0.5 * width


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def balance(beta: float, turned: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Return the forces (3, 2) on K3, K4 and K6 in E [N] from the accelerations of the bodies' angles (7,) and centres
    (7, 2)."""
    _, centres, pins = posture(np.array(beta))
    d = pins["D"] - C
    length = np.linalg.norm(d)
    pull = -SPRING * (length - FREE) / length * d
    names = ("E", "Q4", "A5"), ("E", "Q6", "A7")

    def solved(bodies: tuple[int, ...], acting: list[tuple[str, np.ndarray, dict[int, float]]], known) -> np.ndarray:
        """Return forces at pins, which act on bodies with signs, from those bodies' balances."""
        matrix, right = np.zeros((3 * len(bodies), 2 * len(acting))), np.zeros(3 * len(bodies))
        for i, body in enumerate(bodies):
            force, moment = known.get(body, (np.zeros(2), 0.0))
            right[3 * i : 3 * i + 2] = MASSES[body] * moved[body] - force
            right[3 * i + 2] = INERTIAS[body] * turned[body] - moment
            for j, (_, place, signs) in enumerate(acting):
                sign, arm = signs.get(body, 0.0), place - centres[body]
                matrix[3 * i : 3 * i + 2, 2 * j : 2 * j + 2] = sign * np.eye(2)
                matrix[3 * i + 2, 2 * j : 2 * j + 2] = sign * np.array([-arm[1], arm[0]])
        return np.linalg.solve(matrix, right).reshape(-1, 2)

    legs = [
        solved((outer, inner), [("E", pins["E"], {outer: 1.0}), (q, pins[q], {outer: -1.0, inner: 1.0}),
                                (a, A, {inner: 1.0})], {})[0]
        for (_, q, a), outer, inner in zip(names, (3, 5), (4, 6), strict=True)
    ]  # fmt: skip
    both = legs[0] + legs[1]
    known = {
        1: (-both, -cross(pins["E"] - centres[1], both)),
        2: (pull, cross(pins["D"] - centres[2], pull)),
    }
    third = solved((1, 2), [("E", pins["E"], {1: -1.0, 2: 1.0}), ("P1", pins["P1"], {1: 1.0}), ("B", B, {2: 1.0})],
                   known)[0]  # fmt: skip
    return np.array([third, *legs])


def by_quadrature() -> dict[str, np.ndarray]:
    """Return angles [rad], speeds [rad/s] and forces in E [N] at the end."""
    beta = brentq(lambda b: duration(b) - END, 15.0, 16.5, xtol=1e-14)
    u = posture(np.array(beta))[0]
    known = SUMS @ reference()["angles"]  # tells the whole turns
    angles = np.arctan2(u[:, 1], u[:, 0])
    angles += 2.0 * np.pi * np.round((known - angles) / (2.0 * np.pi))
    speed = float(np.sqrt(squared_speed(np.array([beta]))[0]))
    e, weights = 1e-3, np.array([1.0, -8.0, 8.0, -1.0]) / 12.0
    at = beta + e * np.array([-2.0, -1.0, 1.0, 2.0])
    growth = float(weights @ squared_speed(at)) / e  # of the square of the speed by the angle
    turns, ways, _ = rates(np.array(beta))
    more_turns, more_ways, _ = rates(at)
    turned = turns * 0.5 * growth + np.tensordot(weights, more_turns, 1) / e * speed**2
    moved = ways * 0.5 * growth + np.tensordot(weights, more_ways, 1) / e * speed**2
    return {
        "angles": np.linalg.solve(SUMS, angles),
        "speeds": np.linalg.solve(SUMS, turns * speed),
        "forces": balance(beta, turned, moved),
    }


# --- the model -------------------------------------------------------------------------------------------------------
def build(h: float = 5e-6, duration: float = END) -> Model:
    """Return the mechanism at rest."""
    q = SUMS @ START
    O = np.zeros(2)
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
    model.spring("spring", "C", "K3", stiffness=SPRING, length=FREE, point_b=D)
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
    return -np.array([EXTRAPOLATION @ solution.sensor(name).values[-6:, :2] for name in ("E3", "E4", "E6")])


def check(f: Findings) -> None:
    case, known = "B-SQUEEZER", reference()
    runs = {h: solve(build(h)) for h in STEPS}
    found = [ends(solution) for solution in runs.values()]
    exact = by_quadrature()
    # speeds are 2 dx/h - v of the step before: round-off of angles adds up like a random walk
    round_off = 2.0 * np.finfo(float).eps * 16.0 / STEPS[-1] * np.sqrt(END / STEPS[-1])
    for j, (what, unit) in enumerate((("angles", "rad"), ("speeds", "rad/s"))):
        for k, name in enumerate(NAMES):
            values = [pair[j][k] for pair in found]
            known_value = exact[what][k]
            noise = round_off / abs(known_value) if what == "speeds" else 1e-12 / abs(known_value)
            f.converged(
                case, f"{what[:-1]} {name} after 30 ms [{unit}], h -> 0", values, known_value, INDEPENDENT,
                error=float(noise), why="round-off of angles in 12 000 steps",
            )  # fmt: skip
    errors = [abs(pair[0][0] - known["angles"][0]) for pair in found]
    f.row(case, "order of the angle of the crank", last_order(STEPS, errors), 2.0, "The rule is of second order.",
          PROPERTY, tolerance=0.02)  # fmt: skip
    noise = float(np.linalg.norm(EXTRAPOLATION) * max(MASSES) * np.finfo(float).eps * 0.07 / STEPS[-1] ** 2)
    pins = np.array([forces(solution) for solution in runs.values()])
    for i, name in enumerate(("K3", "K4", "K6")):
        for j, axis in enumerate("xy"):
            f.converged(case, f"force {axis} on {name} in E after 30 ms [N], h -> 0", pins[:, i, j],
                        exact["forces"][i, j], INDEPENDENT, error=noise / abs(exact["forces"][i, j]),
                        why="round-off of places, times mass/h^2 and the weights of the extrapolation")  # fmt: skip
    step = runs[2.5e-6].steps[0]
    f.zero(case, "energy less the work of the torque", energy_error(step), CONSERVED, "The rule conserves it exactly.")
    for k, name, where in ((0, "beta", "the crank"), (2, "gamma", "K3")):
        values = START[k] + runs[2.5e-6].sensor(f"angle {k + 1}").values[:, 0]
        f.figure(
            f"Angle of {where}",
            [Curve(step.time, values, name), published("Mazzia and Magherini (2008)", END, known["angles"][k])],
            "Time [s]", "Angle [rad]", "h = 2.5 microseconds.",
        )  # fmt: skip
