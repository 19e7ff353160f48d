"""Blows with restitution and friction: double pendulum, slider-crank, bouncing and rolling balls, rod, cradle.

Rigid surfaces meet with jumps of velocities through all joints, and rest on each other afterwards.

      hip o                     slider-crank -> [block]          o  bouncing ball: heights h0 e^2n, rest at the
           \\  v- = (-2.683, -1.309) m/s                         |  time t0 (1 + e)/(1 - e)
      knee  o                                                  -----
             \\                                         \\ rod, end on the floor        o o o o o  cradle
        ------o---- floor, e, mu                        -\\--

Double pendulum (m = 1 kg, l = 1 m, absolute angles 18 and 30 degrees, relative speeds -1 rad/s): inverse masses at the
tip, impulses, and the window .289 < e < .407 of sticking.  Slider-crank (.153, .306 m) at the angle at which its
effective mass is .19 kg, with a block of 1, 5 and 10 times this mass that comes with -1.05 times its speed: e = 0 loses
100, 54 and 32 %.

Source: M.S. Pereira, P. Nikravesh, "Impact dynamics of multibody systems with frictional contact using joint
coordinates and canonical equations of motion", in: Computer-Aided Analysis of Rigid and Flexible Mechanical Systems,
NATO ASI, Troia 1993, vol. II, 505-526, eqs 38, 42, 61, 64, examples a and b.  Printed there: the losses, and the
statement that there is no sticking for small e.  Inverse masses, window and impulses are computed in this file in
minimal coordinates (m_nn is also written down to five decimals), impulses of Poisson's and Stronge's law by small steps
of the normal impulse (E.J. Routh 1905; W.J. Stronge 1990).  The spatial row of the paper is not used: its direction of
friction gains energy.  Balls, rod and cradle: closed forms.  Ball on a bowl's wall: integration of its equation of
motion with scipy.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, PROPERTY, RECOMPUTED, printed

CAPABILITY = "contact"
CASES = {
    "B-PENDULUM": "double pendulum that hits a floor: inverse masses, impulses of three laws, the window of sticking",
    "B-CRANK-BLOW": "slider-crank that hits a block: effective mass and losses",
    "B-BOUNCE": "bouncing ball: times, heights, and rest after infinitely many blows",
    "B-FRICTION-BLOW": "sliding into rolling after a blow, sliding down a bowl, parting from a sphere",
    "B-MANY": "rod that falls on its end, plate that falls flat, Newton's cradle",
}
DEVIATIONS = (
    "Pereira and Nikravesh (1993): the direction of friction in the spatial row gains energy; the row is not used "
    "as a reference.",
)

EXAMPLE_A = printed("Pereira, Nikravesh (1993), example a")
GRAVITY = 9.81
ANGLES, SPEEDS = np.radians((18.0, 30.0)), np.array((-1.0, -2.0))
CRANK, ROD, EFFECTIVE, MASSES = 0.153, 0.306, 0.19, (0.038, 0.076, 0.038)


# --- models ----------------------------------------------------------------------------------------------------------
def build(law: Any = "poisson", e: float = 0.7, mu: float = 0.4) -> Model:
    """Return the double pendulum at the blow."""
    model = Model(2, "double pendulum")
    along = np.column_stack((np.sin(ANGLES), -np.cos(ANGLES)))
    across = np.column_stack((np.cos(ANGLES), np.sin(ANGLES)))
    knee, tip = along[0], along.sum(axis=0)
    model.body("upper", 0.5 * along[0], mass=1.0, inertia=1.0 / 12.0)
    model.body("lower", knee + 0.5 * along[1], mass=1.0, inertia=1.0 / 12.0)
    model.joint("hip", "revolute", "ground", "upper", point=(0.0, 0.0))
    model.joint("knee", "revolute", "upper", "lower", point=knee)
    model.node("tip", tip)
    model.coupling("end", "lower", ["tip"])
    model.initial("upper", velocity=0.5 * SPEEDS[0] * across[0], spin=SPEEDS[0])
    model.initial("lower", velocity=SPEEDS[0] * across[0] + 0.5 * SPEEDS[1] * across[1], spin=SPEEDS[1])
    model.impact("floor", "ground", "tip", point=(0.0, tip[1]), axis=(0.0, 1.0), restitution=e, coefficient=mu, law=law)
    model.transient_step(2e-4, 1e-4, frames=0)
    return model


def crank(angle: float, ratio: float) -> Model:
    """Return the slider-crank, its slider at 1 m/s, that touches a block of ``ratio`` times its effective mass."""
    model = Model(2, "slider-crank and block")
    pin = CRANK * np.array((np.cos(angle), np.sin(angle)))
    end = np.array((pin[0] + np.sqrt(ROD**2 - pin[1] ** 2), 0.0))
    rates = _crank_rates(angle)
    for name, mass, a, b in (("crank", MASSES[0], np.zeros(2), pin), ("rod", MASSES[1], pin, end)):
        model.body(name, 0.5 * (a + b), mass=mass, inertia=mass * float((b - a) @ (b - a)) / 12.0)
        model.initial(name, velocity=rates[name][:2], spin=rates[name][2])
    model.body("slider", end, mass=MASSES[2], inertia=1e-5)
    model.initial("slider", velocity=(1.0, 0.0))
    model.joint("main", "revolute", "ground", "crank", point=(0.0, 0.0))
    model.joint("pin", "revolute", "crank", "rod", point=pin)
    model.joint("wrist", "revolute", "rod", "slider", point=end)
    model.joint("guide", "slider", "slider", "ground", axis=(1.0, 0.0), point=end)
    model.body("block", end + np.array((0.1, 0.0)), mass=ratio * EFFECTIVE, inertia=1.0)
    model.initial("block", velocity=(-1.05, 0.0))
    model.impact("blow", "slider", "block", surface="sphere", radius=0.05, ball=0.05, restitution=0.0)
    model.transient_step(2e-5, 1e-5, frames=0)
    return model


def ball(e: float, h: float, duration: float, height: float = 1.0) -> Model:
    """Return a point mass that falls from a height."""
    model = Model(2, "bouncing ball", gravity=(0.0, -GRAVITY))
    model.body("ball", (0.0, height), mass=2.0, inertia=0.1)
    model.impact("floor", "ground", "ball", point=(0.0, 0.0), axis=(0.0, 1.0), restitution=e)
    model.sensor("place", "position", on="ball")
    model.sensor("force", "element", on="floor", quantity="normal force")
    model.transient_step(duration, h, frames=0)
    return model


def thrown(e: float, mu: float, h: float) -> Model:
    """Return a sphere (R = .1 m) that falls .2 m while it flies with 1 m/s."""
    model = Model(3, "thrown sphere", gravity=(0.0, 0.0, -GRAVITY))
    model.body("ball", (0.0, 0.0, 0.3), mass=1.0, inertia=np.full(3, 0.004))
    model.initial("ball", velocity=(0.8, 0.6, 0.0))
    model.impact(
        "floor", "ground", "ball", ball=0.1, point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), restitution=e, coefficient=mu
    )
    model.sensor("speed", "velocity", on="ball")
    model.sensor("spin", "angular velocity", on="ball")
    model.transient_step(1.0, h, frames=0)
    return model


def bowl(h: float) -> Model:
    """Return a point that slides in a hollow sphere of 1 m with friction."""
    model = Model(3, "point in a bowl", gravity=(0.0, 0.0, -GRAVITY))
    model.node("point", (0.8, 0.0, -0.6))
    model.point_mass("mass", "point", 1.0)
    model.initial("point", velocity=(0.0, 1.0, 0.0))
    model.impact(
        "bowl", "ground", "point", surface="sphere", inside=True, radius=1.0, point=(0.0, 0.0, 0.0), restitution=0.5,
        coefficient=0.2,
    )  # fmt: skip
    model.sensor("place", "position", on="point")
    model.transient_step(1.2, h, frames=0)
    return model


def parting(h: float) -> Model:
    """Return a point that slides from .1 rad down a smooth sphere of 1 m."""
    model = Model(2, "point on a sphere", gravity=(0.0, -GRAVITY))
    model.node("point", (np.sin(0.1), np.cos(0.1)))
    model.point_mass("mass", "point", 1.0)
    model.impact("sphere", "ground", "point", surface="sphere", radius=1.0, point=(0.0, 0.0), restitution=0.5)
    model.sensor("speed", "velocity", on="point")
    model.transient_step(1.3, h, frames=0)
    return model


def rod(e: float, angle: float) -> Model:
    """Return a rod (1 kg, 1 m) that falls .5 m without spin at an angle to the floor."""
    model = Model(2, "falling rod", gravity=(0.0, -GRAVITY))
    x, y = 0.5 * np.cos(angle), 0.5 * np.sin(angle)
    model.body("rod", (0.0, 0.5 + y), mass=1.0, inertia=1.0 / 12.0)
    model.node("low", (-x, 0.5))
    model.node("high", (x, 0.5 + 2.0 * y))
    model.coupling("ends", "rod", ["low", "high"])
    model.impact("floor", "ground", ["low", "high"], point=(0.0, 0.0), axis=(0.0, 1.0), restitution=e)
    model.transient_step(0.35, 1e-2, frames=0)
    return model


def plate(e: float) -> Model:
    """Return a square plate on four points that falls flat with .5 m/s along x."""
    model = Model(3, "falling plate", gravity=(0.0, 0.0, -GRAVITY))
    model.body("plate", (0.0, 0.0, 0.6), mass=2.0, inertia=(0.3, 0.3, 0.6))
    names = [f"corner {k}" for k in range(4)]
    for name, (x, y) in zip(names, ((1, 1), (1, -1), (-1, 1), (-1, -1)), strict=True):
        model.node(name, (0.5 * x, 0.5 * y, 0.5))
    model.coupling("corners", "plate", names)
    model.impact("floor", "ground", names, point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), restitution=e)
    model.sensor("speed", "velocity", on="plate")
    model.sensor("spin", "angular velocity", on="plate")
    model.transient_step(0.4, 1e-2, frames=0)
    return model


def cradle(e: float, apart: float = 0.0, balls: int = 5) -> Model:
    """Return free balls in a row, the first with 1 m/s."""
    model = Model(3, "Newton's cradle")
    names = [f"ball {k + 1}" for k in range(balls)]
    for k, name in enumerate(names):
        model.body(name, ((0.1 + apart) * k + (0.03 if k else 0.0), 0.0, 0.0), mass=1.0, inertia=np.full(3, 1e-3))
        model.sensor(name, "velocity", on=name)
    model.initial(names[0], velocity=(1.0, 0.0, 0.0))
    model.impact("blows", names, names, surface="sphere", radius=0.05, ball=0.05, restitution=e)
    model.transient_step(0.2, 1e-2, frames=0)
    return model


# --- references ------------------------------------------------------------------------------------------------------
@cache
def inverse_masses() -> tuple[np.ndarray, np.ndarray, float]:
    """Return m_nn, m_nt, m_tt in a matrix, the speeds (v_n, v_t) before, and the energy, in absolute angles."""
    cross = 0.5 * np.cos(ANGLES[0] - ANGLES[1])
    M = np.array(((4.0 / 3.0, cross), (cross, 1.0 / 3.0)))
    J = np.array((np.sin(ANGLES), np.cos(ANGLES)))
    return J @ np.linalg.solve(M, J.T), J @ SPEEDS, float(0.5 * SPEEDS @ M @ SPEEDS)


def along_impulse(e: float, mu: float, law: str) -> np.ndarray:
    """Return impulses (p_n, p_t) by small steps of the normal impulse, with Coulomb's law at each of them."""
    (A, speeds, _), dp = inverse_masses(), 1e-5
    (m_nn, m_nt), (_, m_tt) = A.tolist()
    v_n, v_t = speeds.tolist()
    p_n = p_t = work = given = compressed = 0.0
    while True:
        # the friction that ends the slip within the step, or all that there is
        friction = min(max(-(v_t + m_nt * dp) / m_tt, -mu * dp), mu * dp)
        before = v_n
        v_n += m_nn * dp + m_nt * friction
        v_t += m_nt * dp + m_tt * friction
        p_n, p_t = p_n + dp, p_t + friction
        if compressed:
            given += 0.5 * (before + v_n) * dp
        else:
            work -= 0.5 * (before + v_n) * dp
            compressed = p_n if v_n >= 0.0 else 0.0
        if compressed and (p_n >= (1.0 + e) * compressed if law == "poisson" else given >= e * e * work):
            return np.array((p_n, p_t))


def _crank_rates(angle: float) -> dict[str, np.ndarray]:
    """Return velocities of the centres and spins for 1 m/s of the slider."""
    s, c = np.sin(angle), np.cos(angle)
    tilt = -np.arcsin(CRANK * s / ROD)  # of the rod
    tilt_rate = -CRANK * c / (ROD * np.cos(tilt))  # per rad/s of the crank
    spin = 1.0 / (-CRANK * s - ROD * np.sin(tilt) * tilt_rate)
    pin = CRANK * spin * np.array((-s, c))
    half = 0.5 * ROD * tilt_rate * spin * np.array((-np.sin(tilt), np.cos(tilt)))
    return {"crank": np.array((*(0.5 * pin), spin)), "rod": np.array((*(pin + half), tilt_rate * spin))}


def effective_mass(angle: float) -> float:
    """Return twice the kinetic energy of the slider-crank for 1 m/s of its slider."""
    total = MASSES[2]
    for name, mass, length in (("crank", MASSES[0], CRANK), ("rod", MASSES[1], ROD)):
        v = _crank_rates(angle)[name]
        total += mass * float(v[:2] @ v[:2]) + mass * length**2 / 12.0 * v[2] ** 2
    return total


def reference() -> dict:
    from scipy.integrate import solve_ivp
    from scipy.optimize import brentq

    def sliding(_, y):
        x, v = y[:3], y[3:]
        n, g = -x / np.linalg.norm(x), np.array((0.0, 0.0, -GRAVITY))
        pressing = float(v @ v - g @ n)
        slip = v - (v @ n) * n
        return np.concatenate((v, g + pressing * (n - 0.2 * slip / np.linalg.norm(slip))))

    angle = float(brentq(lambda a: effective_mass(a) - EFFECTIVE, np.radians(15.0), np.radians(40.0), xtol=1e-14))
    path = solve_ivp(sliding, (0.0, 1.2), (0.8, 0.0, -0.6, 0.0, 1.0, 0.0), rtol=1e-11, atol=1e-12)
    return {"angle": angle, "bowl": path.y[:3, -1]}


# --- checks ----------------------------------------------------------------------------------------------------------
def check(f: Findings) -> None:
    known = reference()
    _pendulum(f)
    _crank(f, known["angle"])
    _bounce(f)
    _friction(f, known["bowl"])
    _many(f)


def _report(step) -> Any:
    return step.report


def _first(model: Model):
    """Return the report and the first blow of a model."""
    report: Any = solve(model).steps[0].report
    return report, report.blows[0]


def _pendulum(f: Findings) -> None:
    A, v, energy = inverse_masses()
    case, how = "B-PENDULUM", "independent computation in minimal coordinates"
    # a frictionless blow gives m_nn, two that stick the rest
    _, smooth = _first(build("newton", 0.7, 0.0))
    f.row(case, "normal impulse without friction, e = .7 [N s]", smooth.normal_impulse, -1.7 * v[0] / A[0, 0], how,
          INDEPENDENT, relative=1e-12)  # fmt: skip
    f.row(case, "m_nn = -(1 + e) v_n/p_n [1/kg]", -1.7 * v[0] / smooth.normal_impulse, 1.04278,
          "The number was computed from the paper's data, to five decimals.", RECOMPUTED, tolerance=5e-6)  # fmt: skip
    _, stuck = _first(build("newton", 0.35, 50.0))
    p = np.linalg.solve(A, (-1.35 * v[0], -v[1]))
    f.row(case, "normal impulse of sticking, e = .35, eq. 42 [N s]", stuck.normal_impulse, p[0], how, INDEPENDENT,
          relative=1e-12)  # fmt: skip
    f.row(case, "friction impulse of sticking, eq. 42 [N s]", stuck.friction_impulse, abs(p[1]), how, INDEPENDENT,
          relative=1e-11)  # fmt: skip
    for law, impulses in (
        ("newton", -1.7 * v[0] / (A[0, 0] + 0.4 * A[0, 1]) * np.array((1.0, 0.4))),
        ("poisson", along_impulse(0.7, 0.4, "poisson")), ("stronge", along_impulse(0.7, 0.4, "stronge")),
    ):  # fmt: skip
        report, blow = _first(build(law))
        exact = law == "newton"
        why = f"{how}, eq. 38" if exact else "independent computation: steps of 1e-5 N s along the normal impulse"
        tolerance = 1e-12 if exact else 3e-5
        f.row(case, f"normal impulse, {law}, e = .7, mu = .4 [N s]", blow.normal_impulse, impulses[0], why,
              INDEPENDENT, tolerance=tolerance)  # fmt: skip
        f.row(case, f"friction impulse, {law} [N s]", blow.friction_impulse, abs(impulses[1]), why, INDEPENDENT,
              tolerance=tolerance)  # fmt: skip
        after = v + A @ impulses
        lost = (
            energy - 0.5 * float(after @ np.linalg.solve(A, after)) - (energy - 0.5 * float(v @ np.linalg.solve(A, v)))
        )
        f.row(case, f"loss, {law} [J]", blow.loss, lost, why, INDEPENDENT, tolerance=1e-11 if exact else 5e-5)
        f.zero(
            case,
            f"closing error of the energy, {law}",
            report.energy.closing_error_relative,
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
    # eq. 64: below the window sticking would pull, above it friction would act along the slip
    low, high = 0.0, 0.35
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _first(build("newton", middle, 5000.0))[1].mode == "stick" else (middle, high)
    why = f"{how}, eq. 64"
    (m_nn, m_nt), (_, m_tt) = A
    least, most = m_nt * v[1] / (m_tt * v[0]) - 1.0, m_nn * v[1] / (m_nt * v[0]) - 1.0
    f.row(case, "least e with which the blow sticks, mu = 5000", low, least, why, INDEPENDENT, tolerance=5e-4)
    one, two = (_first(build("newton", e, 50.0))[1].friction_impulse for e in (0.5, 0.6))
    f.row(case, "e at which sticking needs no friction", 0.5 - 0.1 * one / (two - one), most, why, INDEPENDENT,
          tolerance=5e-4)  # fmt: skip


def _crank(f: Findings, angle: float) -> None:
    for ratio, digits in ((1, 100.0), (5, 54.0), (10, 32.0)):
        report, blow = _first(crank(angle, ratio))
        energy = 0.5 * EFFECTIVE * (1.0 + ratio * 1.05**2)
        exact = 50.0 * EFFECTIVE * ratio / (1.0 + ratio) * 2.05**2 / energy
        lost = 100.0 * blow.loss / energy
        f.row(
            "B-CRANK-BLOW",
            f"loss at mass ratio {ratio} [%], printed",
            lost,
            digits,
            "The recomputed number has two digits.",
            EXAMPLE_A,
            tolerance=0.5,
        )
        f.row("B-CRANK-BLOW", f"loss at mass ratio {ratio} [%], closed form", lost, exact,
            "The closed form is that of two masses.", CLOSED_FORM,
              relative=1e-11)  # fmt: skip
        f.zero(
            "B-CRANK-BLOW",
            f"closing error of the energy, {ratio}",
            report.energy.closing_error_relative,
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )


def _bounce(f: Findings) -> None:
    fall = np.sqrt(2.0 / GRAVITY)
    for e in (0.5, 0.8):
        h = 1e-2
        rest = fall * (1.0 + e) / (1.0 - e)
        step = solve(ball(e, h, np.ceil(rest / h + 2) * h)).steps[0]
        report: Any = step.report
        times = fall * (1.0 + 2.0 * np.cumsum(np.concatenate(([0.0], e ** np.arange(1, 8)))))
        off = max(abs(blow.time - t) for blow, t in zip(report.blows, times, strict=False))
        f.zero(
            "B-BOUNCE",
            f"times of eight blows, e = {e:g} [s]",
            off,
            1e-12,
            "The closed form is exact; only round-off is left.",
            CLOSED_FORM,
        )
        off = max(abs(b.separation - e ** (k + 1) * np.sqrt(2.0 * GRAVITY)) for k, b in enumerate(report.blows[:8]))
        f.zero(
            "B-BOUNCE",
            f"speeds after eight blows, e = {e:g} [m/s]",
            off,
            1e-11,
            "The closed form is exact; only round-off is left.",
            CLOSED_FORM,
        )
        f.row("B-BOUNCE", f"time of rest, e = {e:g} [s]", report.impacts[0].rests_from, rest,
              "The closed form is exact; the last thousandth of a step is not followed.", CLOSED_FORM,
              tolerance=2e-3 * h)  # fmt: skip
        lost = float(step.ledger("dissipated")[-1])
        f.row("B-BOUNCE", f"loss of all blows, e = {e:g} [J]", lost, 2.0 * GRAVITY,
            "The closed form is m g h; only round-off is left.", CLOSED_FORM,
              relative=1e-12)  # fmt: skip
        f.row("B-BOUNCE", f"force at rest, e = {e:g} [N]", float(step.series["sensor/force"][-1, 0]), 2.0 * GRAVITY,
              "The closed form is m g; only round-off is left.", CLOSED_FORM, relative=1e-9)  # fmt: skip
        f.zero(
            "B-BOUNCE",
            f"closing error of the energy, e = {e:g}",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
    curves = []
    for e in (0.5, 0.8):
        step = solve(ball(e, 5e-3, 2.5)).steps[0]
        curves.append(Curve(step.time, step.series["sensor/place"][:, 1], f"e = {e:g}"))
    f.figure(
        "A ball comes to rest",
        curves,
        "Time [s]",
        "Height [m]",
        "After infinitely many blows the contact stays closed.",
    )


def _friction(f: Findings, place: np.ndarray) -> None:
    # sliding or sticking in the blow, in the end the sphere rolls with 5/7 of its speed
    step = solve(thrown(0.3, 0.1, 1e-2)).steps[0]
    first = _report(step).blows[0]
    fall = np.sqrt(2.0 * GRAVITY * 0.2)
    why = "closed form"
    f.row(
        "B-FRICTION-BLOW", "normal impulse of the thrown sphere [N s]", first.normal_impulse, 1.3 * fall, why,
        CLOSED_FORM, relative=1e-12,
    )  # fmt: skip
    f.row(
        "B-FRICTION-BLOW",
        "its friction impulse, sliding [N s]",
        first.friction_impulse,
        0.2 / 7.0 * 10.0 if 0.13 * fall > 2.0 / 7.0 else 0.13 * fall,
        why,
        CLOSED_FORM,
        relative=1e-11,
    )
    speed, spin = step.series["sensor/speed"][-1], step.series["sensor/spin"][-1]
    f.row(
        "B-FRICTION-BLOW", "speed of the sphere that rolls [m/s]", float(np.hypot(*speed[:2])), 5.0 / 7.0, why,
        CLOSED_FORM, relative=1e-9,
    )  # fmt: skip
    f.row(
        "B-FRICTION-BLOW", "its circumferential speed [m/s]", 0.1 * float(np.hypot(*spin[:2])), 5.0 / 7.0, why,
        CLOSED_FORM, relative=1e-9,
    )  # fmt: skip
    across = float(0.6 * speed[0] - 0.8 * speed[1])
    f.zero("B-FRICTION-BLOW", "its speed across the throw [m/s]", across, 1e-10, "Friction acts along the throw.")
    step = solve(thrown(0.5, 2.0, 1e-2)).steps[0]
    first = _report(step).blows[0]
    f.row(
        "B-FRICTION-BLOW",
        "friction impulse of sticking [N s]",
        first.friction_impulse,
        2.0 / 7.0,
        "The closed form is 2/7 m v; only round-off is left.",
        CLOSED_FORM,
        relative=1e-12,
    )
    errors = []
    for h in (2e-2, 1e-2, 5e-3):
        step = solve(bowl(h)).steps[0]
        errors.append(float(np.linalg.norm(step.series["sensor/place"][-1] - place)))
    why = "independent computation: scipy; second order"
    f.zero("B-FRICTION-BLOW", "place of the point in the bowl, h = 5 ms [m]", errors[-1], 3e-5, why, INDEPENDENT)
    f.row(
        "B-FRICTION-BLOW",
        "order of its error",
        float(np.log2(errors[0] / errors[2]) / 2.0),
        2.0,
        "The rule is of second order.",
        PROPERTY,
        tolerance=0.1,
    )
    f.zero(
        "B-FRICTION-BLOW",
        "closing error of its energy",
        energy_error(step),
        CONSERVED,
        "Theory gives this value exactly; only round-off is left.",
    )
    last = solve(parting(2.5e-3)).steps[0].series["sensor/speed"][-1, 0]
    top = 2.0 / 3.0 * np.cos(0.1)
    exact = float(np.sqrt(2.0 * GRAVITY * (np.cos(0.1) - top)) * top)
    f.row(
        "B-FRICTION-BLOW",
        "horizontal speed after parting from the sphere [m/s]",
        last,
        exact,
        "The closed form has cos = 2/3 of the start; the error is of second order, 3e-5.",
        CLOSED_FORM,
        tolerance=1e-4,
    )


def _many(f: Findings) -> None:
    angle, e = np.radians(40.0), 0.6
    _, blow = _first(rod(e, angle))
    fall = np.sqrt(2.0 * GRAVITY * 0.5)
    impulse = (1.0 + e) * fall / (1.0 + 3.0 * np.cos(angle) ** 2)
    f.row(
        "B-MANY",
        "impulse at the end of the rod [N s]",
        blow.normal_impulse,
        impulse,
        "The closed form is (1 + e) m v/(1 + 3 cos^2); only round-off is left.",
        CLOSED_FORM,
        relative=1e-11,
    )
    f.row(
        "B-MANY",
        "its loss [J]",
        blow.loss,
        0.5 * (1.0 - e * e) * fall**2 / (1.0 + 3.0 * np.cos(angle) ** 2),
        "Eq. 60 is a closed form; only round-off is left.",
        CLOSED_FORM,
        relative=1e-11,
    )
    f.row(
        "B-MANY",
        "time of the blow [s]",
        blow.time,
        fall / GRAVITY,
        "The closed form is exact; only round-off is left.",
        CLOSED_FORM,
        relative=1e-12,
    )
    step = solve(plate(0.5)).steps[0]
    blows = _report(step).blows
    fall = np.sqrt(2.0 * GRAVITY * 0.5)
    f.row(
        "B-MANY",
        "corners of the plate that are hit at once",
        sum(b.time == blows[0].time for b in blows),
        4,
        "The number of corners is a whole number.",
        PROPERTY,
        tolerance=0.0,
    )
    f.row(
        "B-MANY",
        "their impulses together [N s]",
        sum(b.normal_impulse for b in blows[:4]),
        3.0 * fall,
        "The closed form is (1 + e) m v; only round-off is left.",
        CLOSED_FORM,
        relative=1e-11,
    )
    f.zero(
        "B-MANY",
        "spin of the plate afterwards [rad/s]",
        float(np.abs(step.series["sensor/spin"][-1]).max()),
        1e-10,
        "The blow is symmetric, so that no spin remains.",
    )
    for apart in (0.0, 0.002):
        step = solve(cradle(1.0, apart)).steps[0]
        speeds = [float(step.series[f"sensor/ball {k + 1}"][-1, 0]) for k in range(5)]
        where = "touching balls" if apart == 0.0 else "balls 2 mm apart"
        f.row(
            "B-MANY",
            f"speed of the last ball of the cradle, {where} [m/s]",
            speeds[-1],
            1.0,
            "The closed form is exact; only round-off is left.",
            CLOSED_FORM,
            relative=1e-12,
        )
        f.zero(
            "B-MANY",
            f"largest speed of the others, {where} [m/s]",
            max(map(abs, speeds[:-1])),
            1e-12,
            "The other balls stay at rest in the closed form.",
            CLOSED_FORM,
        )
        f.zero(
            "B-MANY",
            f"change of the energy, {where}",
            energy_error(step, constant=True),
            CONSERVED,
            "Blows with e = 1 lose nothing.",
        )
    step = solve(cradle(0.0)).steps[0]
    speeds = [float(step.series[f"sensor/ball {k + 1}"][-1, 0]) for k in range(5)]
    f.zero(
        "B-MANY",
        "speeds of five balls that stay together against .2 m/s",
        float(np.abs(np.array(speeds) - 0.2).max()),
        1e-10,
        "The closed form is exact; only round-off is left.",
        CLOSED_FORM,
    )
