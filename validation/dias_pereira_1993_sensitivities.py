"""Derivatives of transients with respect to parameters, and optima that they lead to.

A plastic hinge stops a rigid bar, an oscillator swings, a mass meets a nonlinear stop: what they reach is
differentiated by the parameters with the tangents of the time steps, in the run itself.

        theta_max = theta_l/2 + J w0^2/(2 M_l)            hinge, by theta_l, M_l, J and w0
        x = v0/w e^(-d t) sin(w t)                        oscillator, by k, m and c
        min over K, mu of max |y''|  with  y <= 5 cm      stop of 6 y'' = -(K + mu y') y^1.5

Source: J.M.P. Dias, M. Seabra Pereira, "Analysis and design for vehicle crashworthiness", in: Computer-Aided Analysis
of Rigid and Flexible Mechanical Systems, NATO ASI, Troia 1993, vol. II, 573-586 (direct differentiation, eqs 22-28; law
and numbers of the hinge).  The stop and its optima, table 2: D. Ma, R. Menon, H.M. Lankarani, same volume, 527-551,
eq. (24); the limit of 5 cm is read from the largest depths of the printed optima (.0499 m).  Its first
integral with the printed K and mu (`deepest`) gives the printed decelerations in all their digits.  Closed forms are
those above; the optimum of the stop is also found in this file, by scipy over that integral.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from fem_mbs import Model, optimise, sensitivities
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.dias_1993_plastic_hinge import INERTIA, SPEED, YIELD_ANGLE, YIELD_MOMENT
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, PROPERTY, SELF, printed
from fem_mbs.validation.ma_1993_contact import STOPPED, TABLE_2, stop

CAPABILITY = "inverse"
CASES = {
    "B-SENSITIVITY": "derivatives of a plastic hinge and an oscillator; runs that agree with differences",
    "B-STOP-OPTIMUM": "the softest nonlinear stop, table 2 of Ma, Menon and Lankarani, by gradients",
}
DEVIATIONS = (
    "Ma, Menon and Lankarani (1993), table 2: the printed optima lie .26, .32 and 1.4 % above the least "
    "decelerations, and the stiffness printed for the fastest one is three times as large as similarity demands.",
)

TABLE = printed("Ma, Menon and Lankarani (1993), table 2")
LIMIT = 0.05  # depth [m] of the stop
LAW = {"k": 50.0, "m": 2.0, "c": 0.7}  # of the oscillator [N/m], [kg], [N s/m]
START, TIME = 0.1, 2.0  # its speed [m/s], and the time [s]


def build(
    angle: float = YIELD_ANGLE, moment: float = YIELD_MOMENT, inertia: float = INERTIA, speed: float = SPEED,
    h: float = 1e-4,
) -> Model:  # fmt: skip
    """Return Dias and Pereira's hinge at a bar that turns in the plane."""
    model = Model(2, "plastic hinge")
    model.body("bar", (0.5, 0.0), mass=60.0, inertia=inertia - 60.0 * 0.25)
    model.joint("hinge", "revolute", "ground", "bar", point=(0.0, 0.0))
    model.joint_spring("spring", "hinge", moment / angle, yield_force=moment)
    model.initial("bar", velocity=(0.0, 0.5 * speed), spin=speed)
    model.sensor("angle", "joint", on="hinge")
    model.transient_step(0.1, h, frames=0)
    return model


def oscillator(k: float, m: float, c: float, h: float) -> Model:
    """Return a mass at a spring and a damper."""
    model = Model(2, "oscillator")
    model.node("mass", (0.0, 0.0))
    model.point_mass("mass", "mass", m)
    model.fix("mass", ["y"])
    model.nodal_spring("spring", "mass", "x", k, c)
    model.initial("mass", velocity=(START, 0.0))
    model.sensor("x", "displacement", on="mass")
    model.transient_step(TIME, h, frames=0)
    return model


def reference() -> dict[str, np.ndarray]:
    """Return the derivatives of the hinge's largest angle by yield angle, yield moment, inertia and speed, and of the
    oscillator's place by stiffness, mass and damping."""
    turn = INERTIA * SPEED**2 / (2.0 * YIELD_MOMENT)
    angle = np.array([0.5, -turn / YIELD_MOMENT, turn / INERTIA, 2.0 * turn / SPEED])

    def place(k: complex, m: complex, c: complex) -> complex:
        d = c / (2.0 * m)
        w = (k / m - d * d) ** 0.5
        return START / w * np.exp(-d * TIME) * np.sin(w * TIME)

    numbers = np.array([*LAW.values()], complex)
    steps = 1e-30j * np.eye(3)  # complex steps have no error of cancellation
    return {"angle": angle, "place": np.array([place(*(numbers + s)).imag / 1e-30 for s in steps])}


def deepest(speed: float, stiffness: float, damping: float) -> tuple[float, float]:
    """Return largest deceleration [m/s^2] and depth [m] at the stop.

    With y'' = v dv/dy the equation separates: y^2.5 = 2.5 m int_v^v0 s/(K + mu s) ds.  The force (K + mu v) y^1.5 has
    its only largest value where mu y^2.5 = 1.5 m v, on the way down.
    """
    from scipy.optimize import brentq

    def power(v: float) -> float:
        """Return y^2.5 where the speed is v."""
        logarithm = np.log1p(damping * (speed - v) / (stiffness + damping * v))
        return 2.5 * STOPPED / damping * (speed - v - stiffness / damping * logarithm)

    v = brentq(lambda v: damping * power(v) - 1.5 * STOPPED * v, 0.0, speed, xtol=1e-14 * speed)
    return float((stiffness + damping * v) * power(v) ** 0.6 / STOPPED), float(power(0.0) ** 0.4)


def softest(speed: float, stiffness: float, damping: float) -> float:
    """Return the least largest deceleration [m/s^2] within the limit, by scipy's search from near numbers."""
    from scipy.optimize import minimize

    def of(u: np.ndarray) -> tuple[float, float]:
        return deepest(speed, stiffness * np.exp(u[0]), damping * np.exp(u[1]))

    first = of(np.zeros(2))[0]
    found = minimize(
        lambda u: of(u)[0] / first, np.zeros(2), method="SLSQP", bounds=[(-5.0, 5.0)] * 2, options={"ftol": 1e-10},
        constraints={"type": "ineq", "fun": lambda u: 1.0 - of(u)[1] / LIMIT},
    )  # fmt: skip
    return float(found.fun * first)


def check(f: Findings) -> None:
    _derivatives(f)
    _optima(f)


def _derivatives(f: Findings) -> None:
    case, known = "B-SENSITIVITY", reference()
    values = {"angle": YIELD_ANGLE, "moment": YIELD_MOMENT, "inertia": INERTIA, "speed": SPEED}
    found = sensitivities(partial(build, h=2e-5), values, ["transient.angle.max"])
    why = "closed form (energy balance); h = 20 microseconds: the angle of a row, not of the turning point"
    for name, own, exact in zip(values, found.gradient("transient.angle.max"), known["angle"], strict=True):
        f.row(
            case, f"derivative of the hinge's largest angle by its {name}", own, exact, why, CLOSED_FORM, relative=5e-4
        )
    coarse, fine = (
        sensitivities(partial(oscillator, h=h), LAW, [f"transient.x.x@{TIME:g}"]) for h in (4e-3, 2e-3)
    )  # fmt: skip
    limit = (4.0 * fine.gradient(f"transient.x.x@{TIME:g}") - coarse.gradient(f"transient.x.x@{TIME:g}")) / 3.0
    for name, own, exact in zip(LAW, limit, known["place"], strict=True):
        why = "closed form; in the limit of refinement"
        what = f"derivative of the oscillator's place by {name}, h -> 0"
        f.row(case, what, own, exact, why, CLOSED_FORM, relative=1e-6)
    step = 1e-3
    for name, value in LAW.items():
        ends = [
            sensitivities(partial(oscillator, h=4e-3), {**LAW, name: value * (1.0 + k * step)})
            .column("transient.x.x").values
            for k in (-2, -1, 1, 2)
        ]  # fmt: skip
        a, b, c, d = ends
        differences = (a - d + 8.0 * (c - b)) / (12.0 * step * value)
        error = np.abs(coarse.series("transient.x.x", name).values[:, 0] - differences).max()
        why = "central differences of fourth order of whole runs, step 1e-3"
        what = f"largest error of dx/d{name} over time, relative"
        f.zero(case, what, error / np.abs(differences).max(), 1e-6, why, SELF)
    curves = [
        Curve(s.t, LAW[name] * s.values[:, 0] / START, f"by {name}")
        for name in LAW
        for s in [fine.series("transient.x.x", name)]
    ]
    f.figure("Derivatives of an oscillation", curves, "Time [s]", "p dx/dp over the first speed [s]")


def _optima(f: Findings) -> None:
    case = "B-STOP-OPTIMUM"
    for row in TABLE_2:
        _optimum(f, *row)
    _, stiffness, damping, deceleration = TABLE_2[0]
    ratio = damping / stiffness
    with TemporaryDirectory() as folder:
        held = optimise(
            _stop_file(folder, TABLE_2[0]), {"contact.stop.damping": (0.6 * ratio, 0.8 * ratio, 1.6 * ratio)},
            f"({{transient.force.max}}/{STOPPED} - {deceleration})**2", output=Path(folder) / "held", method="slsqp",
            tolerance=1e-5,
        )  # fmt: skip
        own = held.values["contact.stop.damping"] * stiffness
        why = "mu that gives the printed 4.22 m/s^2 with the printed K; known to its two decimals"
        f.row(case, "mu with K = 685.7 N/m^1.5 [N s/m^2.5]", own, damping, why, TABLE, relative=1e-2)


def _stop_file(folder: str, row: tuple[float, float, float, float]) -> Path:
    """Write the model of a row of table 2; return its file."""
    speed, stiffness, damping, _ = row
    model = stop(speed, stiffness, damping, 1e-3)
    model.sensor("place", "position", on="mass")
    file = Path(folder) / "stop.toml"
    model.save(file)
    return file


def _optimum(f: Findings, speed: float, stiffness: float, damping: float, deceleration: float) -> None:
    """Hold the optimum at a speed against the printed one, against scipy, and against that of another speed.

    With y = Y eta and t = Y/v tau, the numbers of the motion are K Y^2.5/v^2 and mu Y^1.5/v: at the optimum K is in
    proportion to v^2, mu to v, and the deceleration to v^2.
    """
    case, at = "B-STOP-OPTIMUM", f"at {speed:g} m/s"
    # near the optimum of the slowest, by similarity: the stiffness printed for the fastest is three times too large
    scale = speed / TABLE_2[0][0]
    first, ratio = TABLE_2[0][1] * scale**2, TABLE_2[0][2] / TABLE_2[0][1] / scale
    with TemporaryDirectory() as folder:
        found = optimise(
            _stop_file(folder, (speed, first, ratio * first, deceleration)),
            {
                "contact.stop.stiffness": (0.44 * first, 1.31 * first, 2.2 * first),
                "contact.stop.damping": (0.36 * ratio, 0.73 * ratio, 1.82 * ratio),
            },
            "transient.force.max", subject=[f"transient.place.z.min >= {-LIMIT}"], output=Path(folder) / "out",
            method="slsqp", tolerance=1e-4,
        )  # fmt: skip
    least, deep = found.objective / STOPPED, -found.row.quantities["transient.place.z.min"]
    name = f"least largest deceleration {at} [m/s^2]"
    above, share = deceleration / least - 1.0, {0.5: 4e-3, 1.0: 5e-3, 1.5: 2e-2}[speed]
    why = (
        f"K and mu of the table are sevenths of round numbers, points of a raster: {100.0 * above:.2g} % above the "
        f"least, at {100.0 * deepest(speed, stiffness, damping)[1]:.2f} cm"
    )
    f.row(case, name, least, deceleration, why, TABLE, relative=share)
    what = f"printed over least deceleration {at}"
    f.between(case, what, deceleration / least, 1.0, 1.0 + share, "No point is better than an optimum.")
    why = "scipy in this file over the first integral of the equation of motion"
    f.row(case, f"the same, {name}", least, softest(speed, first, ratio * first), why, INDEPENDENT, relative=5e-4)
    why = "similarity: in proportion to v^2; scipy in this file at the first speed"
    similar = softest(*TABLE_2[0][:3]) * scale**2
    f.row(case, f"the same by similarity, {name}", least, similar, why, INDEPENDENT, relative=5e-4)
    f.row(
        case,
        f"depth at the optimum {at} [m]",
        deep,
        LIMIT,
        "The constraint is active at the optimum.",
        PROPERTY,
        relative=1e-4,
    )
    f.between(case, f"trials of slsqp {at}", len(found.table.rows), 2, 40, "Gradients save trials of the model.")
