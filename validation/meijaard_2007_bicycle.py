"""The Whipple bicycle: eigenvalues, weave and capsize speed, a steady turn, and how it rights itself.

                 ______o head        v ->      rear frame with a rigid rider, front frame that turns about the head,
             ___/  B    \\                      two knife-edged wheels that roll without slip
          (  R  )      (  F  )                 w = 1.02 m, trail c = 0.08 m, head tilted by pi/10
        ~~~~~~~~~~~~~~~~~~~~~~~~

Source: J. P. Meijaard, J. M. Papadopoulos, A. Ruina & A. L. Schwab, "Linearized dynamics equations for the balance and
steer of a bicycle: a benchmark and review", Proc. R. Soc. A 463 (2007) 1955-1982, doi:10.1098/rspa.2007.1857:
parameters (table 1), eigenvalues and critical speeds (table 2), and the coefficients that it prints of

    M q'' + v C1 q' + (g K0 + v^2 K2) q = f,   q = (lean, steer),

whose eigenvalues at other speeds, steady turns and motions are computed here by numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import expm

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import INDEPENDENT, printed

CAPABILITY = "vehicles"
CASES = {"B-BICYCLE": "Whipple bicycle: eigenvalues, critical speeds, a steady turn, a motion that rights itself"}

G, WHEELBASE, TRAIL, TILT = 9.81, 1.02, 0.08, np.pi / 10.0
RADII = (0.3, 0.35)
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837
AT_5 = (-14.07838969279822, -0.77534188219585, 4.46486771378823, -0.32286642900409)
SPEEDS = (2.0, 4.0, 7.0, 10.0)
SOURCE = "Meijaard et al. (2007)"

RADIUS, TURNING = 500.0, 5.0  # of the turn and the speed in it
RATE, PUSHED, STEP = 1e-4, 4.6, 2.5e-3  # lean rate, speed and time step of the transient


def build(v: float = 5.0, radius: float = 0.0, rate: float = 0.0) -> Model:
    """Return the bicycle without steps at the speed ``v`` [m/s]: upright, in a left turn, or with a lean rate [rad/s].

    The axes of the source are (x, -y, -z) here.
    """
    m = Model(3, "bicycle", gravity=(0.0, 0.0, -G))
    m.body("rear wheel", (0.0, 0.0, RADII[0]), 2.0, (0.0603, 0.12, 0.0603))
    m.body("frame", (0.3, 0.0, 0.9), 85.0, np.array([[9.2, 0.0, -2.4], [0.0, 11.0, 0.0], [-2.4, 0.0, 2.8]]))
    m.body("fork", (0.9, 0.0, 0.7), 4.0, np.array([[0.05892, 0.0, 0.00756], [0.0, 0.06, 0.0], [0.00756, 0.0, 0.00708]]))
    m.body("front wheel", (WHEELBASE, 0.0, RADII[1]), 3.0, (0.1405, 0.28, 0.1405))
    head = (-np.sin(TILT), 0.0, np.cos(TILT))
    m.joint("head", "revolute", "frame", "fork", point=(WHEELBASE + TRAIL, 0.0, 0.0), axis=head)
    for word, holder, x, r in (("rear", "frame", 0.0, RADII[0]), ("front", "fork", WHEELBASE, RADII[1])):
        at = (x, 0.0, r)
        m.joint(f"{word} hub", "revolute", holder, f"{word} wheel", point=at, axis=(0.0, 1.0, 0.0))
        m.joint(f"{word} tread", "rolling_disc", f"{word} wheel", point=at, axis=(0.0, 1.0, 0.0), radius=r)
    m.motor("drive", joint="rear hub", force=0.0)
    m.motor("steer", joint="head", force=0.0)
    m.sensor("angle", "joint", on="head", quantity="angle")
    m.sensor("turn", "rotation", on="frame")
    m.sensor("spin", "angular velocity", on="frame")
    if radius:
        m.running("frame", velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, v / radius), centre=(0.0, radius, 0.0))
    elif rate:
        m.running("frame", velocity=(v, 0.0, 0.0), spin=(rate, 0.0, 0.0), centre=(0.3, 0.0, 0.0))
    else:
        m.running("frame", velocity=(v, 0.0, 0.0))
    return m


def roots(v: float) -> np.ndarray:
    """Return the eigenvalues (4,) [1/s] of the printed coefficients at a speed [m/s], sorted."""
    inverse = np.linalg.inv(M)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ (G * K0 + v * v * K2), -inverse @ (v * C1)]])
    return np.sort_complex(np.linalg.eigvals(A))


def measured_roots(v: float) -> np.ndarray:
    """Return those of the model, about its steady running, without the zeros of its place, heading and wheels."""
    m = build(v)
    m.steady_running_step()
    m.complex_modes_step(8)
    report: Any = solve(m).steps[-1].report
    p = np.array([complex(*pair) for pair in report.eigenvalues[report.rigid_body_modes :]])
    return np.sort_complex(np.concatenate((p, p[p.imag != 0.0].conj())))


def named(p: np.ndarray) -> dict[str, complex]:
    """Return the eigenvalues by their names, of the weave mode that with the positive imaginary part."""
    real = np.sort(p[p.imag == 0.0].real)
    return {"castering": complex(real[0]), "weave": complex(p[p.imag > 0.0][0]), "capsize": complex(real[-1])}


def critical(guess: float, name: str) -> float:
    """Return the speed [m/s] near a guess at which the real part of an eigenvalue is zero, by interpolation between
    six speeds beside it."""
    speeds = guess + np.array([-0.1, -0.06, -0.02, 0.02, 0.06, 0.1])
    growth = np.array([named(measured_roots(v))[name].real for v in speeds])
    return guess + float(np.polyfit(growth, speeds - guess, 5)[-1])


def reference() -> dict[str, float]:
    """Return lean [rad], steer angle [rad] and steer torque [N m] of the steady turn, to first order in 1/radius."""
    steer = TURNING / RADIUS * WHEELBASE / (TURNING * np.cos(TILT))
    K = G * K0 + TURNING**2 * K2
    lean = -K[0, 1] / K[0, 0] * steer
    return {"lean": lean, "steer angle": steer, "steer torque": K[1, 0] * lean + K[1, 1] * steer}


def check(f: Findings) -> None:
    case = "B-BICYCLE"
    print_ = printed(f"{SOURCE}, table 2")
    shown = []
    for v in SPEEDS:
        ours, exact = named(measured_roots(v)), named(roots(v))
        shown.append([p.real for p in ours.values()])
        for name, p in ours.items():
            off, why = abs(p - exact[name]) / abs(exact[name]), "the constraints of the wheels are exact"
            f.zero(case, f"{name}, {v:g} m/s, error over its size [-]", off, 1e-9, why, INDEPENDENT)
    ours = named(measured_roots(5.0))
    found = (ours["castering"].real, ours["weave"].real, ours["weave"].imag, ours["capsize"].real)
    words = ("castering", "weave, real part", "weave, imaginary part", "capsize")
    for word, p, q in zip(words, found, AT_5, strict=True):
        f.row(case, f"{word}, 5 m/s [1/s]", p, q, "the constraints of the wheels are exact", print_, relative=1e-10)
    why = "modes of running states, interpolated"
    f.row(case, "weave speed [m/s]", critical(4.3, "weave"), WEAVE, why, print_, tolerance=1e-8)
    f.row(case, "capsize speed [m/s]", critical(6.0, "capsize"), CAPSIZE, why, print_, tolerance=1e-8)

    speeds = np.linspace(2.0, 10.0, 81)
    exact_parts = np.array([[p.real for p in named(roots(v)).values()] for v in speeds])
    f.figure(
        "Growth of the modes",
        [Curve(speeds, exact_parts[:, k], f"{name}, printed equations") for k, name in enumerate(ours)]
        + [Curve(np.array(SPEEDS), np.array(shown)[:, k], "model" if k == 0 else "", "o") for k in range(len(ours))]
        + [published(SOURCE, [5.0, 5.0, 5.0, WEAVE, CAPSIZE], [AT_5[0], AT_5[1], AT_5[3], 0.0, 0.0])],
        "Speed [m/s]", "Real part [1/s]",
    )  # fmt: skip
    turns: list[tuple[float, float, float]] = []
    for n in (1, 2, 4):
        m = build(TURNING, radius=n * RADIUS)
        m.steady_running_step(["drive", "steer"])
        solution = solve(m)
        report: Any = solution.steps[0].report
        efforts, series = report.efforts, solution.steps[0].series
        # a turn to the left: the source counts lean and steer to the right
        turns.append((-n * series["sensor/turn"][0, 0], n * series["sensor/angle"][0, 0], -n * efforts["steer"]))
    in_turn = reference()
    linear = (in_turn["lean"], in_turn["steer angle"], -in_turn["steer torque"])
    quantities = ("lean in a turn [rad]", "steer angle [rad]", "steer torque [N m]")
    for quantity, values, small in zip(quantities, np.transpose(turns), linear, strict=True):
        f.converged(case, f"{quantity}, times R/{RADIUS:g} m, R -> infinity", values, small, INDEPENDENT)
    f.zero(case, "drive torque without losses [N m]", efforts["drive"], 1e-9, "nothing dissipates")

    steps = []
    for h in (2.0 * STEP, STEP, 0.5 * STEP):
        m = build(PUSHED, rate=RATE)
        m.transient_step(5.0, h, frames=0)
        steps.append(solve(m).steps[-1])
    step = steps[0]
    inverse = np.linalg.inv(M)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ (G * K0 + PUSHED**2 * K2), -inverse @ (PUSHED * C1)]])
    advance, x = expm(A * 2.0 * STEP), np.array([0.0, 0.0, RATE, 0.0])
    lean = np.empty(step.time.size)
    for k in range(lean.size):
        lean[k], x = x[2], advance @ x
    rates = [s.series["sensor/spin"][:: 2**k, 0] for k, s in enumerate(steps)]
    f.converged_course(case, "largest error of the lean rate in 5 s, h -> 0, over the push [-]", rates, lean,
                       INDEPENDENT, scale=RATE)  # fmt: skip
    rate = rates[-1]
    energy = step.series["ledger"][:, :3].sum(axis=1)
    f.zero(case, "change of the energy in 5 s, over its value", np.ptp(energy) / energy[0], 1e-12, "no slip, no work")
    f.figure(
        "Lean rate after a push",
        [Curve(step.time, rate / RATE, "model"), Curve(step.time, lean / RATE, "printed equations")],
        "Time [s]", "Lean rate over the push [-]", "At 4.6 m/s the bicycle rights itself.",
    )  # fmt: skip
