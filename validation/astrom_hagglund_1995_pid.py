"""PID controllers: a rotor, and two masses with a filtered derivative and an actuator that lags.

The command of a controller, e = r - q,

    c = kp e + I + kd d,   I' = ki e,   d = e' or d = (e - z)/T_f, z' = d,   T_a a' = c - a,

moves a rotor, J q'' = c: a linear equation of third order in time, whose solution is a matrix exponential.

        r ---(+)--e--[ kp + ki/s + kd s/(1 + T_f s) ]--c--[ 1/(1 + T_a s) ]--a--[ 1/(J s^2) ]--+-- q
              |_______________________________________________________________________________|

Source: K.J. Astrom, T. Hagglund, "PID Controllers: Theory, Design, and Tuning", 2nd ed., ISA 1995, ch. 3.
The references are closed forms (matrix exponential, eigenvalues of matrices by hand), and integrations of the same
equations by scipy in this file.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, PROPERTY

CAPABILITY = "actuators"
CASES = {"B-PID": "response of a rotor with a PID controller, poles with filter and lag, a user's law with states"}

J, KP, KI, KD, REFERENCE, DURATION = 0.3, 40.0, 30.0, 5.0, 0.7, 2.0
FILTER, LAG = 0.05, 0.03
MASSES, SPRINGS = (2.0, 1.0), (300.0, 150.0)


def build() -> Model:
    """Return the rotor."""
    model = Model(2, "rotor with a controller")
    model.body("rotor", (0.0, 0.0), 1.0, J)
    model.joint("pin", "revolute", "ground", "rotor", point=(0.0, 0.0))
    model.sensor("angle", "joint", on="pin")
    return model


def response(t: float) -> np.ndarray:
    """Return angle, speed and integral after a step of the reference."""
    A = np.zeros((4, 4))
    A[0, 1] = 1.0
    A[1] = -KP / J, -KD / J, 1.0 / J, KP * REFERENCE / J
    A[2] = -KI, 0.0, 0.0, KI * REFERENCE
    return (expm(A * t) @ (0.0, 0.0, 0.0, 1.0))[:3]


def poles() -> np.ndarray:
    """Return the eigenvalues of x_1, x_1', x_2, x_2', I, z, a of the two masses, the controller on the first."""
    (m1, m2), (k1, k2) = MASSES, SPRINGS
    A = np.zeros((7, 7))
    A[0, 1] = A[2, 3] = 1.0
    A[1, [0, 2, 6]] = -(k1 + k2) / m1, k2 / m1, 1.0 / m1
    A[3, [0, 2]] = k2 / m2, -k2 / m2
    A[4, 0] = -KI
    A[5, [0, 5]] = -1.0 / FILTER
    A[6, [0, 4, 5, 6]] = np.array([-KP - KD / FILTER, 1.0, -KD / FILTER, -1.0]) / LAG
    return np.linalg.eigvals(A)


def two_masses() -> Model:
    model = Model(2, "two masses with a controller")
    for name, mass, x in (("a", MASSES[0], 1.0), ("b", MASSES[1], 2.0)):
        model.body(name, (x, 0.0), mass, 0.1)
        model.joint(f"rail {name}", "prismatic", "ground", name, point=(x, 0.0), axis=(1.0, 0.0))
    model.spring("one", "ground", "a", stiffness=SPRINGS[0], point_a=(0.0, 0.0))
    model.spring("two", "a", "b", stiffness=SPRINGS[1])
    model.motor("servo", "rail a", kp=KP, ki=KI, kd=KD, filter_time=FILTER, lag=LAG)
    model.complex_modes_step(7)
    return model


def own_law(q: float, rate: float, t: float, x: np.ndarray) -> tuple[float, list[float]]:
    """Return the moment of a user's law, and the rates of its two states: an oscillator with a cubic spring."""
    return -3.0 * q - 2.0 * x[0] + np.sin(3.0 * t), [
        x[1] + 0.3 * rate, -4.0 * x[0] - 5.0 * x[0] ** 3 - 0.5 * x[1] + 2.0 * q
    ]  # fmt: skip


def integrated() -> np.ndarray:
    """Return angle, speed and state variables of the rotor with `own_law` at the end."""

    def rates(t: float, y: np.ndarray) -> list[float]:
        moment, own = own_law(y[0], y[1], t, y[2:])
        return [y[1], moment / J, *own]

    y0 = [0.0, 1.0, 0.2, -0.1]
    return solve_ivp(rates, (0.0, DURATION), y0, method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]


def reference() -> dict:
    """Return the poles [1/s] of the loop, and its response by an integration of the same equations."""
    return {"poles": poles(), "response": integrated()}


def check(f: Findings) -> None:
    errors: dict[str, list[float]] = {}
    curves = []
    for rule in ("midpoint", "newmark", "generalised-alpha"):
        exact, runs = response(DURATION), []
        for h in (0.02, 0.01, 0.005):
            model = build()
            model.motor("servo", "pin", position=REFERENCE, kp=KP, ki=KI, kd=KD)
            model.sensor("integral", "state", on="servo", state="integral")
            model.transient_step(DURATION, h, frames=0, rule=rule)
            solution = solve(model)
            found = [float(solution.sensor(name).values[-1, 0]) for name in ("angle", "integral")]
            runs.append(found)
            errors.setdefault(rule, []).append(abs(found[0] - exact[0]) + abs(found[1] - exact[2]) / KP)
            if rule == "midpoint":
                f.zero("B-PID", f"closing error, h = {h:g} s", energy_error(solution.steps[0]), CONSERVED,
                       "All energy is booked; only round-off is left.")  # fmt: skip
                if h < 0.01:
                    angle = solution.sensor("angle")
                    curves.append(Curve(angle.t, angle.values[:, 0], "mid-point rule, h = 0.005 s"))
        for k, name, reference in ((0, "angle [rad]", exact[0]), (1, "integral [N m]", exact[2])):
            f.converged("B-PID", f"{name}, {rule}, h -> 0", [run[k] for run in runs], reference, CLOSED_FORM)
        order = float(np.log2(errors[rule][1] / errors[rule][2]))
        f.row("B-PID", f"order, {rule}", order, 2.0, "The rule is of second order.", PROPERTY, tolerance=0.1)
    t = np.linspace(0.0, DURATION, 41)
    curves.append(Curve(t, np.array([response(x)[0] for x in t]), "matrix exponential", style="o"))
    expected = poles()
    for k, p in enumerate(complex(*p) for p in solve(two_masses()).summary["steps"][-1]["eigenvalues"]):
        nearest = expected[np.abs(expected - p).argmin()]
        for part in ("real", "imag"):
            f.row(
                "B-PID", f"pole {k + 1} with filter and lag, {part} part [1/s]", getattr(p, part),
                getattr(nearest, part), "Eigenvalues of the 7 x 7 matrix written by hand; round-off.", CLOSED_FORM,
                tolerance=1e-12 * abs(nearest),
            )  # fmt: skip
    exact = integrated()
    own, ends = [], []
    for h in (0.02, 0.01, 0.005):
        model = build()
        model.user_force("own", "pin", own_law, states=["a", "b"], initial=[0.2, -0.1])
        model.initial_speed("rotor", "rotation", 1.0)
        model.sensor("states", "state", on="own")
        model.transient_step(DURATION, h, frames=0)
        solution = solve(model)
        y = np.array([solution.sensor("angle").values[-1, 0], *solution.sensor("states").values[-1]])
        ends.append(float(y[0]))
        own.append(np.abs(y - exact[[0, 2, 3]]).max())
    f.converged("B-PID", "angle with a user's law, h -> 0 [rad]", ends, float(exact[0]), INDEPENDENT)
    order = float(np.log2(own[1] / own[2]))
    f.row("B-PID", "order with a user's law", order, 2.0, "The rule is of second order.", PROPERTY, tolerance=0.1)
    f.figure("Step of the reference", curves, "Time [s]", "Angle [rad]", "A rotor with a PID controller.")
