"""Order of the mid-point rule.

The rule is of second order for everything that moves.  Its leading error is known: what turns or vibrates with the
circular frequency w is slow by the part (w h)^2/12.  So not only the slope of the error against h is asserted, but its
level too, for a turning body and a vibrating beam; the slope for a tumbling body in space, for the spin-up beam and for
a free beam in large deformation.

      log error        o
                   o          slope 2
               o              level (w h)^2/12
                 log h

Source: O. Gonzalez, "Time integration and discrete Hamiltonian systems", J. Nonlinear Sci. 6 (1996), 449-467,
doi:10.1007/BF02440162; the phase error of the trapezoidal and mid-point rules is that of T.J.R. Hughes, "The Finite
Element Method" (1987), section 9.3.  The tumbling body is integrated to 1e-12 with Euler's equations; the others are
compared with a run of a quarter of the smallest step.  The free beam starts unstretched and ringing: its axial
vibration must be resolved before the order shows.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation import crisfield_shi_1993_beam, meijaard_1993_spin_up
from fem_mbs.validation.case import Curve, Findings, crossings, last_order
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY

CAPABILITY = "integration"
CASES = {"B-ORDER": "second order in h, slope and level, of bodies and beams"}

INERTIA, SPIN = np.array([1.0, 2.0, 2.5]), np.array([1.0, 0.8, 0.6])


def _turning(h: float, duration: float) -> Model:
    """Return a plane body that spins with 1 rad/s."""
    model = Model(2, "turning body")
    model.body("body", (0.0, 0.0), mass=1.0, inertia=1.0)
    model.initial("body", spin=1.0)
    model.sensor("angle", "rotation", on="body")
    model.transient_step(duration, h, frames=0)
    return model


def _tumbling(h: float, duration: float) -> Model:
    """Return a free asymmetric body; two of its points."""
    model = Model(3, "tumbling body")
    model.body("body", (0.0, 0.0, 0.0), mass=1.0, inertia=INERTIA)
    model.initial("body", spin=SPIN)
    model.sensor("X", "position", on="body", point=(1.0, 0.0, 0.0))
    model.sensor("Y", "position", on="body", point=(0.0, 1.0, 0.0))
    model.transient_step(duration, h, frames=0)
    return model


def _vibrating(h: float, duration: float) -> Model:
    """Return a beam on two supports, 8 elements, in its first bending mode with a small amplitude."""
    model = Model(2, "vibrating beam")
    model.section("beam", "stiffness", EA=1e6, EI=1.0, rhoA=1.0)
    model.line("beam", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 8)
    model.beams("beam", "beam", "beam")
    model.fix("beam:start", ["x", "y"])
    model.fix("beam:end", ["y"])
    model.initial("beam", velocity=(0.0, "1e-6*sin(pi*x)"), spin="1e-6*pi*cos(pi*x)")
    model.sensor("end", "rotation", on="beam:start")
    model.transient_step(duration, h, frames=0)
    return model


def build(kind: str = "turning", h: float = 0.2, duration: float = 20.0) -> Model:
    """Return the "turning", the "tumbling" or the "vibrating" problem; the beams in large motion are those of other
    files."""
    return {"turning": _turning, "tumbling": _tumbling, "vibrating": _vibrating}[kind](h, duration)


def tumbling(t: float) -> np.ndarray:
    """Return body axes X and Y (6,) in space at time t."""
    from scipy.integrate import solve_ivp

    def rate(_t, y):
        W, R = y[:3], y[3:].reshape(3, 3)
        return np.concatenate((np.cross(INERTIA * W, W) / INERTIA, (R @ np.cross(np.eye(3), W)).ravel()))

    y = solve_ivp(rate, (0.0, t), np.concatenate((SPIN, np.eye(3).ravel())), "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    return y[3:].reshape(3, 3)[:, :2].T.ravel()


def reference() -> dict:
    return {"order": 2.0, "level": 1.0 / 12.0}


def check(f: Findings) -> None:
    curves = []

    def order(label: str, sizes, errors) -> None:
        f.row(
            "B-ORDER",
            f"order, {label}, h = {sizes[-2]:g} to {sizes[-1]:g} s",
            last_order(sizes, errors),
            2.0,
            "The error is of second order; two steps show it within .1.",
            PROPERTY,
            tolerance=0.1,
        )
        curves.append(Curve(np.array(sizes), np.abs(errors), label, "o-"))

    # a turning body: angle after 20 s
    sizes = (0.2, 0.1, 0.05, 0.025)
    errors = np.array([20.0 - solve(build("turning", h, 20.0)).steps[-1].series["sensor/angle"][-1, 0] for h in sizes])
    order("turning body, angle", sizes, errors)
    f.row(
        "B-ORDER",
        "level, turning body: lag/(angle (w h)^2), h = 0.025 s",
        errors[-1] / (20.0 * sizes[-1] ** 2),
        1.0 / 12.0,
        "The next term of the series is (w h)^2/7 of the level, 1e-4.",
        CLOSED_FORM,
        relative=1e-3,
    )

    # a vibrating beam: period of its first mode
    sizes = (0.02, 0.01, 0.005, 0.0025)
    periods = []
    for h in sizes:
        solution = solve(build("vibrating", h, 13.0))
        zeros = crossings(solution.steps[0].time, solution.steps[-1].series["sensor/end"][:, 0])
        periods.append((zeros[-1] - zeros[0]) / (len(zeros) - 1))
    limit = (4.0 * periods[-1] - periods[-2]) / 3.0
    w = 2.0 * np.pi / limit
    errors = np.array(periods) / limit - 1.0
    order("vibrating beam, period", sizes[:3], errors[:3])
    f.row(
        "B-ORDER",
        "level, vibrating beam: elongation of the period/(w h)^2, h = 0.01 s",
        errors[1] / (w * sizes[1]) ** 2,
        1.0 / 12.0,
        "Zero crossings are interpolated; the next term of the series is 1e-3.",
        CLOSED_FORM,
        relative=1e-2,
    )
    f.row(
        "B-ORDER",
        "circular frequency of the first mode [rad/s], h -> 0",
        w,
        np.pi**2,
        "The mesh of 8 elements leaves 1e-4 from the slender limit.",
        CLOSED_FORM,
        relative=1e-4,
    )

    # a tumbling body: its axes after 10 s
    sizes = (0.1, 0.05, 0.025, 0.0125)
    exact = tumbling(10.0)
    errors = []
    for h in sizes:
        solution = solve(build("tumbling", h, 10.0))
        errors.append(
            np.linalg.norm(
                np.concatenate((solution.steps[-1].series["sensor/X"][-1], solution.steps[-1].series["sensor/Y"][-1]))
                - exact
            )
        )
    order("tumbling body, axes", sizes, np.array(errors))

    # beams in large motion against a finer run
    for label, sizes, run in (
        ("spin-up beam, tip at 7 s", (0.05, 0.025, 0.0125), _spin_up),
        ("free beam, left end at 2 s", (1.25e-3, 6.25e-4, 3.125e-4), _free),
    ):
        fine = run(0.25 * sizes[-1])
        errors = np.array([np.linalg.norm(run(h) - fine) for h in sizes])
        # the reference has a sixteenth of the last error itself
        order(label, sizes, errors * (1.0 + 1.0 / 16.0 / (np.array(sizes) / sizes[-1]) ** 2))
    f.figure(
        "Error against the step size",
        [*curves, Curve(np.array([0.01, 0.1]), np.array([1e-5, 1e-3]), "slope 2", ":")],
        "h [s]",
        "Error",
        scale="loglog",
    )


def _spin_up(h: float) -> np.ndarray:
    solution = solve(meijaard_1993_spin_up.build("Simo & Vu-Quoc", 4, h=h, duration=7.0))
    return solution.steps[-1].series["sensor/tip"][-1]


def _free(h: float) -> np.ndarray:
    return solve(crisfield_shi_1993_beam.build(h, duration=2.0)).steps[-1].series["sensor/x 0"][-1]
