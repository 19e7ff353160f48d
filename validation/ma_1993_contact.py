"""Contact and impact of balls: restitution, indentation, a nonlinear stop, rolling, a bowl, Newton's cradle.

Balls meet balls and planes under the normal forces of Hertz, Hunt & Crossley, Lankarani & Nikravesh, and with permanent
indentation.

      o -> v        v <- o            |  o  |  v0 ->
     R = 20 mm    K = 5.50e9          ==========  friction mu: slides, then rolls at 5/7 v0

Two spheres of aluminium (R = 20 mm, +-.15 m/s, e = .7, K = 5.50e9 N/m^1.5, effective mass .046 kg): with indentation
the contact takes 75.87 + 53.11 microseconds and they leave at .21 m/s; the damper of the same nominal e gives .796.
A mass of 6 kg meets a stop of force (K + mu y') y^1.5 at three speeds: table 2.

Source: D. Ma, R. Menon, H.M. Lankarani, "Impact dynamics of multibody mechanical systems and application to crash
responses of aircraft occupant/structure", in: Computer-Aided Analysis of Rigid and Flexible Mechanical Systems, NATO
ASI, Troia 1993, vol. II, 527-551.  The departure speed .21 m/s, the duration 130 microseconds, f_m = 336 N and table 2
are printed there.  Speed and duration with the damper follow by integration of the equation of one degree of freedom in
this file, those with indentation in closed form.  Duration and force of elastic contact: H. Hertz, J. reine angew.
Math. 92 (1882), 156-171.  Rolling: closed form.
"""

from __future__ import annotations

from math import gamma

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, constancy, energy_error, published, published_level
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, printed

CAPABILITY = "contact"
CASES = {
    "B-SPHERES": "two spheres: time, force and speed of elastic, damped and indenting contact",
    "B-VIBRO": "largest deceleration at a nonlinear stop, table 2",
    "B-BALLS": "conservation of elastic contact, sliding into rolling, a bowl, Newton's cradle",
}

RADIUS, SPEED, RESTITUTION, STIFFNESS, EFFECTIVE = 0.02, 0.15, 0.7, 5.50e9, 0.046
#: Table 2: speed [m/s], K [N/m^1.5], mu [N s/m^2.5], largest deceleration [m/s^2].
TABLE_2 = ((0.5, 685.7, 9428.6, 4.22), (1.0, 2285.7, 20000.0, 16.89), (1.5, 9142.9, 24285.7, 38.41))
STOPPED = 6.0  # mass [kg] of table 2


def build(h: float = 1e-7, **law) -> Model:
    """Return the two spheres, touching at the start."""
    model = Model(3, "two spheres")
    mass = 2.0 * EFFECTIVE
    for name, side in (("left", -1.0), ("right", 1.0)):
        model.body(name, (side * RADIUS, 0.0, 0.0), mass=mass, inertia=np.full(3, 0.4 * mass * RADIUS**2))
        model.initial(name, velocity=(-side * SPEED, 0.0, 0.0))
    model.contact("blow", "left", "right", surface="sphere", radius=RADIUS, ball=RADIUS, stiffness=STIFFNESS, **law)
    model.sensor("force", "element", on="blow", quantity="normal force")
    model.sensor("gap", "element", on="blow", quantity="gap")
    model.sensor("speed", "velocity", on="right")
    model.transient_step(2e-4, h, frames=0)
    return model


def stop(speed: float, stiffness: float, damping: float, h: float) -> Model:
    """Return the mass of table 2 at its stop."""
    model = Model(3, "vibro-impact")
    model.body("mass", (0.0, 0.0, 0.0), mass=STOPPED, inertia=np.ones(3))
    model.initial("mass", velocity=(0.0, 0.0, -speed))
    model.contact(
        "stop", "ground", "mass", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), stiffness=stiffness,
        damping=damping / stiffness,
    )  # fmt: skip
    model.sensor("force", "element", on="stop", quantity="normal force")
    model.transient_step(1.0 / speed, h / speed, frames=0)
    return model


def floor(h: float, duration: float, height: float = 0.0, radius: float = 0.1, **contact) -> Model:
    """Return a ball of 1 kg over a floor, at rest on it or at a height, with 1 m/s along x."""
    model = Model(3, "ball on a floor", gravity=(0.0, 0.0, -9.81))
    sinks = 0.0 if height else (9.81 / 1e6) ** (2.0 / 3.0)
    model.body("ball", (0.0, 0.0, radius + height - sinks), mass=1.0, inertia=np.full(3, 0.4 * radius**2))
    model.initial("ball", velocity=(1.0, 0.0, 0.0))
    model.contact(
        "floor", "ground", "ball", ball=radius, point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), stiffness=1e6,
        overlap=2.0 * sinks, **contact,
    )  # fmt: skip
    model.sensor("place", "position", on="ball")
    model.sensor("speed", "velocity", on="ball")
    model.sensor("spin", "angular velocity", on="ball")
    model.transient_step(duration, h, frames=0)
    return model


def bowl(h: float, angle: float, radius: float = 0.02, hollow: float = 0.3) -> Model:
    """Return a ball that rolls to and fro in a hollow sphere."""
    model = Model(3, "ball in a bowl", gravity=(0.0, 0.0, -9.81))
    arm = hollow - radius
    model.body("ball", (arm * np.sin(angle), 0.0, -arm * np.cos(angle)), mass=0.1, inertia=np.full(3, 0.04 * radius**2))
    model.contact(
        "bowl", "ground", "ball", surface="sphere", inside=True, radius=hollow, ball=radius, point=(0.0, 0.0, 0.0),
        stiffness=1e6, coefficient=0.9, smoothing=1e-4,
    )  # fmt: skip
    model.sensor("place", "position", on="ball")
    model.transient_step(3.0, h, frames=0)
    return model


def cradle(h: float, balls: int = 5, radius: float = 0.05) -> Model:
    """Return free balls in a row, a little apart; the first comes at 1 m/s."""
    model = Model(3, "Newton's cradle")
    names = [f"ball {k + 1}" for k in range(balls)]
    for k, name in enumerate(names):
        model.body(name, (2.1 * radius * k, 0.0, 0.0), mass=1.0, inertia=np.full(3, 0.4 * radius**2))
        model.sensor(name, "velocity", on=name)
    model.initial(names[0], velocity=(1.0, 0.0, 0.0))
    model.contact("blows", names, names, surface="sphere", radius=radius, ball=radius, stiffness=1e9)
    model.transient_step(0.05, h, frames=0)
    return model


def collision(loss) -> tuple[float, float, float]:
    """Return times of compression and restitution [s], and the relative speed [m/s] after it, by scipy.

    ``loss(y, rate)`` is what multiplies K y^1.5.
    """
    from scipy.integrate import solve_ivp

    def rate(_, x):
        y = max(x[0], 0.0)
        return [x[1], -STIFFNESS * y**1.5 * loss(y, x[1]) / EFFECTIVE]

    def turned(_, x):
        return x[1]

    class Opened:
        terminal = True

        def __call__(self, _, x):
            return x[0] if x[1] < 0.0 else 1.0

    out = solve_ivp(rate, (0.0, 1e-3), (0.0, 2.0 * SPEED), events=(turned, Opened()), rtol=1e-12, atol=1e-15)
    compression = float(out.t_events[0][0])
    return compression, float(out.t_events[1][0]) - compression, -float(out.y_events[1][0][1])


def reference() -> dict:
    deepest = (2.5 * EFFECTIVE * (2.0 * SPEED) ** 2 / (2.0 * STIFFNESS)) ** 0.4
    # int dx/sqrt(1 - x^2.5) from 0 to 1, twice
    hertz = 2.0 * np.sqrt(np.pi) * gamma(1.4) / gamma(0.9) * deepest / (2.0 * SPEED)
    compression = 0.5 * hertz
    # unloading from rest: a power law over (1 - e^2 of the depth) with the same largest force
    lift = np.sqrt(1.0 - (1.0 - RESTITUTION**2))
    return {
        "deepest": deepest,
        "force": STIFFNESS * deepest**1.5,
        "elastic": hertz,
        "indented": compression * (1.0 + lift),
        "damped": collision(lambda y, v: 1.0 + 0.75 * (1.0 - RESTITUTION**2) * v / (2.0 * SPEED)),
    }


def contact_time(step) -> float:
    """Return the time over which the contact of the spheres presses; they touch at the start."""
    force = step.series["sensor/force"].ravel()
    return float(step.time[np.flatnonzero(force > 0.0)[-1]])


def check(f: Findings) -> None:
    _spheres(f)
    _vibro(f)
    _balls(f)


def _spheres(f: Findings) -> None:
    known = reference()
    curves = []
    for label, law in (
        ("elastic", {}),
        ("indentation", {"restitution": RESTITUTION, "restitution_model": "indentation"}),
        ("damper", {"restitution": RESTITUTION, "restitution_model": "lankarani"}),
    ):
        h = 1e-7
        step = solve(build(h, **law)).steps[0]
        force, gap = step.series["sensor/force"].ravel()[1:], step.series["sensor/gap"].ravel()[1:]
        away = 2.0 * step.series["sensor/speed"][-1, 0]
        time, left = contact_time(step), (np.pi * h / known["elastic"]) ** 2
        curves.append(Curve(-gap[gap < 0.0] * 1e6, force[gap < 0.0], label))
        f.zero(
            "B-SPHERES",
            f"closing error of the energy, {label}",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
        f.zero(
            "B-SPHERES", f"change of the linear momentum, {label}",
            constancy(step, "linear momentum", scale=2.0 * EFFECTIVE * SPEED), CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )  # fmt: skip
        if label == "elastic":
            why = "closed form (Hertz); an instant is known to two steps, and (pi h/duration)^2 is left of amplitudes"
            f.row(
                "B-SPHERES", "duration of elastic contact [s]", time, known["elastic"], why, CLOSED_FORM,
                tolerance=2.0 * h,
            )  # fmt: skip
            f.row("B-SPHERES", "largest penetration [m]", -gap.min(), known["deepest"], why, CLOSED_FORM, relative=left)
            f.row(
                "B-SPHERES", "speed after elastic contact [m/s]", away, 2.0 * SPEED,
                "The rule conserves energy and momentum, which give the speeds after the blow.", CLOSED_FORM,
                relative=CONSERVED,
            )  # fmt: skip
        elif label == "indentation":
            paper = printed("Ma, Menon, Lankarani (1993), example of the aluminium spheres")
            # m^.6 K^.4 of an effective mass of two digits and a stiffness of three
            rounded = 336.0 * (0.6 * 5e-4 / EFFECTIVE + 0.4 * 5e6 / STIFFNESS) + 0.5
            data = "half a unit of the last digit, also of the mass in m^.6 and of the stiffness in K^.4"
            for name, value, digits, exact, why, tolerance, close in (
                (
                    "speed after indentation [m/s]",
                    away,
                    0.21,
                    2.0 * RESTITUTION * SPEED,
                    "two digits",
                    5e-3,
                    2.0 * RESTITUTION * SPEED * left,
                ),
                ("duration with indentation [s]", time, 130e-6, known["indented"], "two digits", 5e-6, 2.0 * h),
                ("largest force [N]", force.max(), 336.0, known["force"], data, rounded, known["force"] * left),
            ):
                f.row("B-SPHERES", f"{name}, printed", value, digits, why, paper, tolerance=tolerance)
                f.row(
                    "B-SPHERES",
                    f"{name}, closed form",
                    value,
                    exact,
                    "closed form; an instant is known to two steps, and (pi h/duration)^2 is left of amplitudes",
                    CLOSED_FORM,
                    tolerance=close,
                )
        else:
            compression, restitution, speed = known["damped"]
            why = "scipy integrates the same equation; an instant is known to three steps, a speed to (pi h/duration)^2"
            f.row(
                "B-SPHERES", "speed after the damper, nominal e = .7 [m/s]", away, speed, why, INDEPENDENT,
                relative=left,
            )  # fmt: skip
            f.row(
                "B-SPHERES", "duration with the damper [s]", time, compression + restitution, why, INDEPENDENT,
                tolerance=3.0 * h,
            )  # fmt: skip
    curves.append(published_level("Ma et al. (1993)", [0.0, max(c.x.max() for c in curves)], 336.0))
    f.figure(
        "Two spheres of aluminium", curves, "Penetration [micrometres]", "Normal force [N]",
        "The areas are what the blow loses: none, and 51 % of the energy for e = .7; the damper loses less.",
    )  # fmt: skip


def _vibro(f: Findings) -> None:
    found = []
    for speed, stiffness, damping, known in TABLE_2:
        step = solve(stop(speed, stiffness, damping, 2e-4)).steps[0]
        largest = float(step.series["sensor/force"][1:].max()) / STOPPED
        found.append(largest)
        f.row(
            "B-VIBRO", f"largest deceleration at {speed:g} m/s [m/s^2]", largest, known,
            "Half a unit of the last digit.", printed("Ma, Menon, Lankarani (1993), table 2"), tolerance=0.005,
        )  # fmt: skip
        f.zero(
            "B-VIBRO",
            f"closing error of the energy at {speed:g} m/s",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
    speeds, _, _, table = zip(*TABLE_2, strict=True)
    f.figure(
        "Nonlinear stop",
        [Curve(np.array(speeds), np.array(found), "fem-mbs"), published("Ma et al. (1993)", speeds, table)],
        "Speed [m/s]", "Largest deceleration [m/s^2]",
    )  # fmt: skip


def _balls(f: Findings) -> None:
    for h in (5e-3, 1e-4):
        step = solve(floor(h, 2.0, height=0.4)).steps[0]
        change = energy_error(step, constant=True)
        f.zero(
            "B-BALLS",
            f"change of the energy, bouncing ball, h = {h:g} s",
            change,
            CONSERVED,
            "The contact is elastic, and the rule conserves energy.",
        )
    # after t = 2 v0/(7 mu g) the ball rolls; energy before: friction has taken 2/7 of the kinetic energy
    step = solve(floor(1e-3, 0.5, coefficient=0.2, smoothing=1e-3)).steps[0]
    rolls = 2.0 / (7.0 * 0.2 * 9.81)
    place = rolls - 0.5 * 0.2 * 9.81 * rolls**2 + 5.0 / 7.0 * (0.5 - rolls)
    last = {name: step.series[f"sensor/{name}"][-1] for name in ("place", "speed", "spin")}
    why = "the angular momentum about the floor, which the rule conserves, gives the speed of rolling"
    f.row(
        "B-BALLS", "speed of the ball that slid into rolling [m/s]", last["speed"][0], 5.0 / 7.0, why, CLOSED_FORM,
        relative=CONSERVED,
    )  # fmt: skip
    f.row(
        "B-BALLS", "its circumferential speed [m/s]", 0.1 * last["spin"][1], 5.0 / 7.0, why, CLOSED_FORM,
        relative=CONSERVED,
    )  # fmt: skip
    why = (
        "Friction that fades below w = 1 mm/s puts rolling off by w/(3.5 mu g) at this speed; a step in which sliding "
        "ends has another mean force, mu g h^2/8."
    )
    f.row("B-BALLS", "its place [m]", last["place"][0], place, why, CLOSED_FORM,
          tolerance=1e-3**2 / (3.5 * 0.2 * 9.81) + 0.2 * 9.81 * 1e-3**2 / 8.0)  # fmt: skip
    f.row(
        "B-BALLS", "what friction has taken [J]", float(step.ledger("dissipated")[-1]), 1.0 / 7.0,
        "The kinetic energies of sliding and of rolling, whose difference the ledger books.",
        CLOSED_FORM, relative=CONSERVED,
    )  # fmt: skip
    step = solve(bowl(1e-3, 0.05)).steps[0]
    angle = np.arctan2(step.series["sensor/place"][:, 0], -step.series["sensor/place"][:, 2])
    k = np.flatnonzero(angle[:-1] * angle[1:] < 0.0)
    zeros = step.time[k] - angle[k] * (step.time[k + 1] - step.time[k]) / (angle[k + 1] - angle[k])
    period = 2.0 * float(np.diff(zeros).mean())
    sinks = (0.1 * 9.81 / 1e6) ** (2.0 / 3.0)
    small = 2.0 * np.pi * np.sqrt(7.0 * (0.28 + sinks) / (5.0 * 9.81)) * (1.0 + 0.05**2 / 16.0)
    f.row(
        "B-BALLS", "period of a ball that rolls in a bowl [s]", period, small,
        "closed form sqrt(7 (R - r + penetration)/(5 g)) with the first correction of the amplitude; half of the "
        "penetration over R - r, 1.8e-4, which varies with the swing", CLOSED_FORM, relative=0.5 * sinks / 0.28,
    )  # fmt: skip
    step = solve(cradle(1e-5)).steps[0]
    speeds = [float(step.series[f"sensor/ball {k + 1}"][-1, 0]) for k in range(5)]
    f.row(
        "B-BALLS", "speed of the last ball of the cradle [m/s]", speeds[-1], 1.0,
        "Blows that follow one another: energy and momentum, which the rule conserves, give the speeds.", CLOSED_FORM,
        relative=CONSERVED,
    )  # fmt: skip
    f.zero(
        "B-BALLS",
        "largest speed of the others",
        max(map(abs, speeds[:-1])),
        np.sqrt(2.0) * 1e-6,
        "The other balls stay at rest in the closed form; an error of 1e-12 of the energy is 1.4e-6 of a speed.",
        CLOSED_FORM,
    )
    f.zero(
        "B-BALLS",
        "change of the cradle's energy",
        energy_error(step, constant=True),
        CONSERVED,
        "The contact is elastic, and the rule conserves energy.",
    )
