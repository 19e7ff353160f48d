"""Orders, levels and dissipation of the integration rules.

The same problems by every rule, against solutions integrated to 1e-12: a mass on a spring, whose numerical frequency
and damping are those of the rule's amplification matrix; a plane pendulum on a pin with an elastic joint; the heavy top
of Geradin & Cardona on a spherical joint, in space; a stiff pendulum, whose axial vibration no step resolves; a free
asymmetric body, where the explicit rule drifts.

        ~~~ o            o pin + torsion spring             / /
     |--/\\/\\--(m)        |\\                                /_/  J, spin 150 rad/s
                         | \\ body                          |
                            [ ]                            o  spherical joint

Source: M. Arnold, O. Bruels, "Convergence of the generalized-alpha scheme for constrained mechanical systems",
Multibody System Dynamics 18 (2007), 185-202, doi:10.1007/s11044-007-9084-0; J. Chung, G.M. Hulbert, J. Appl. Mech. 60
(1993), 371-375, doi:10.1115/1.2900803; H.M. Hilber, T.J.R. Hughes, R.L. Taylor, Earthq. Eng. Struct. Dyn. 5 (1977),
283-292; the top is that of O. Bruels, A. Cardona, M. Arnold, Mech. Mach. Theory 48 (2012), 121-137,
doi:10.1016/j.mechmachtheory.2011.07.017; the explicit rule is that of L. Zhanal, P. Portes, "Numerical simulation of
body movements".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation import crisfield_shi_1993_pendulum as bathe
from fem_mbs.validation import gonzalez_1996_order as free_body
from fem_mbs.validation.case import CONSERVED, Curve, Findings, last_order
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY

CAPABILITY = "integration"
CASES = {"B-RULES": "orders, levels and dissipation of all integration rules; drift of the explicit one"}

#: Rules and options, with the order of the rule where forces are elastic.
RULES: dict[str, tuple[dict[str, Any], int]] = {
    "mid-point": ({"rule": "midpoint"}, 2),
    "generalised-alpha, rho_inf = 0.8": ({"rule": "generalised-alpha", "rho_inf": 0.8}, 2),
    "generalised-alpha, rho_inf = 0": ({"rule": "generalised-alpha", "rho_inf": 0.0}, 2),
    "HHT, alpha = -0.1": ({"rule": "hht", "alpha": -0.1}, 2),
    "Newmark": ({"rule": "newmark"}, 2),
    "decaying, a = 0.1": ({"rule": "decaying", "decay": 0.1}, 1),
    "explicit": ({"rule": "explicit"}, 1),
}

# the heavy top (Bruels, Cardona & Arnold 2012, section 6): mass, mass centre and inertia about it in body axes
TOP_MASS, TOP_CENTRE, TOP_INERTIA = 15.0, np.array([0.0, 1.0, 0.0]), np.array([0.234375, 0.46875, 0.234375])
TOP_SPIN = np.array([0.0, 150.0, -4.61538])
GRAVITY = 9.81
# the pendulum: mass, inertia about the mass centre, its distance from the pin, stiffness of the elastic joint
MASS, INERTIA, ARM, STIFFNESS = 2.0, 0.3, 0.8, 15.0


def _oscillator(h: float, duration: float, w: float = 1.0) -> Model:
    """Return a mass on a weightless bar of axial frequency w, let go stretched by 0.1 m."""
    model = Model(2, "oscillator")
    model.section("bar", "stiffness", EA=10.0 * w * w, rhoA=0.0)
    model.line("bar", (0.0, 0.0), (10.0, 0.0), 1)
    model.trusses("bar", "bar", "bar", prestress=0.1 * w * w)
    model.point_mass("m", "bar:end", 1.0)
    model.fix("bar:start")
    model.fix("bar:end", ["y"])
    model.sensor("u", "displacement", on="bar:end")
    model.transient_step(duration, h, frames=0)
    return model


def _pendulum(h: float, duration: float) -> Model:
    """Return a body on a pin with an elastic joint, let go horizontal with a spin."""
    model = Model(2, "elastic pendulum", gravity=(0.0, -GRAVITY))
    model.body("body", (ARM, 0.0), mass=MASS, inertia=INERTIA)
    model.joint("pin", "pin", "body", "ground", point=(0.0, 0.0))
    model.torsion_spring("elastic", "ground", "body", STIFFNESS)
    model.initial("body", spin=1.0, velocity=(0.0, ARM))
    model.sensor("angle", "rotation", on="body")
    model.sensor("x", "position", on="body")
    model.sensor("v", "velocity", on="body")
    model.sensor("R", "reaction", on="pin")
    model.transient_step(duration, h, frames=0)
    return model


def _top(h: float, duration: float) -> Model:
    """Return the heavy top on a spherical joint at the origin."""
    model = Model(3, "heavy top", gravity=(0.0, 0.0, -GRAVITY))
    model.body("top", TOP_CENTRE, mass=TOP_MASS, inertia=TOP_INERTIA)
    model.joint("pivot", "spherical", "top", "ground", point=(0.0, 0.0, 0.0))
    model.initial("top", spin=TOP_SPIN, velocity=np.cross(TOP_SPIN, TOP_CENTRE))
    model.sensor("x", "position", on="top")
    model.sensor("X", "position", on="top", point=(1.0, 1.0, 0.0))
    model.sensor("v", "velocity", on="top")
    model.sensor("R", "reaction", on="pivot")
    model.transient_step(duration, h, frames=0)
    return model


def build(kind: str = "oscillator", h: float = 0.1, duration: float = 60.0, **options) -> Model:
    """Return the "oscillator", "pendulum" or "top" in steps of h, or the "free body" of `gonzalez_1996_order`;
    ``options`` of the step: rule and its parameters."""
    if kind == "free body":
        model = free_body.build("tumbling", h, duration)
    else:
        model = {"oscillator": _oscillator, "pendulum": _pendulum, "top": _top}[kind](h, duration)
    model.steps[0].options.update(options)
    return model


def characteristic(options: dict, wh: float) -> np.ndarray:
    """Return the polynomial in z of the rule for d'' + w^2 d = 0: the eigenvalues of its amplification matrix are the
    roots."""
    rule, g = options["rule"], wh * wh
    if rule in ("midpoint", "decaying"):
        # (z - 1)^2 + (w h)^2/2 (z + 1) ((z + 1)/2 + a (z - 1)) = 0
        a = options.get("decay", 0.0)
        return np.array([1.0 + 0.5 * g * (0.5 + a), 0.5 * g - 2.0, 1.0 + 0.5 * g * (0.5 - a)])
    if rule == "explicit":
        return np.array([1.0, g - 2.0, 1.0])
    if rule == "hht":
        am, af = 0.0, -options["alpha"]
    elif rule == "newmark":
        am = af = 0.0
    else:
        r = options["rho_inf"]
        am, af = (2.0 * r - 1.0) / (r + 1.0), r / (r + 1.0)
    gamma = 0.5 - am + af
    beta = 0.25 * (gamma + 0.5) ** 2
    # Newmark's formulas, with the balance ((1 - am) z + am) a + w^2 ((1 - af) z + af) d = 0
    one = np.array([1.0, -1.0])
    moved = np.polyadd(np.array([gamma, 1.0 - gamma]), np.polymul(one, np.array([beta, 0.5 - beta])))
    left = np.polymul(np.polymul(one, one), np.array([1.0 - am, am]))
    return np.polyadd(left, g * np.polymul(np.array([1.0 - af, af]), moved))


def principal_root(options: dict, wh: float) -> complex:
    """Return the root that stands for e^(i w h)."""
    roots = np.roots(characteristic(options, wh))
    return roots[np.argmin(np.abs(roots - np.exp(1j * wh)))]


def pendulum(t: float) -> dict[str, np.ndarray]:
    """Return position and velocity of the mass centre and the force of the body on the pin at time t."""
    from scipy.integrate import solve_ivp

    J = INERTIA + MASS * ARM**2

    def turn(y):
        return (-STIFFNESS * y[0] - MASS * GRAVITY * ARM * np.cos(y[0])) / J

    y = solve_ivp(lambda _t, y: (y[1], turn(y)), (0.0, t), (0.0, 1.0), "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    r, n = ARM * np.array([np.cos(y[0]), np.sin(y[0])]), ARM * np.array([-np.sin(y[0]), np.cos(y[0])])
    force = MASS * (turn(y) * n - y[1] ** 2 * r + np.array([0.0, GRAVITY]))
    return {"positions": np.append(r, y[0]), "velocities": y[1] * n, "reaction": force}


def top(t: float) -> dict[str, np.ndarray]:
    """Return places and velocity of the mass centre and a second point, and the force on the pivot at time t."""
    from scipy.integrate import solve_ivp

    c = TOP_CENTRE
    J = np.diag(TOP_INERTIA) + TOP_MASS * ((c @ c) * np.eye(3) - np.outer(c, c))
    inverse, weight = np.linalg.inv(J), np.array([0.0, 0.0, -TOP_MASS * GRAVITY])

    def turn(W, R):
        return inverse @ (np.cross(J @ W, W) + np.cross(c, R.T @ weight))

    def rate(_t, y):
        W, R = y[:3], y[3:].reshape(3, 3)
        # the columns of R W~
        return np.concatenate((turn(W, R), (R @ np.cross(np.eye(3), W)).ravel()))

    start = np.concatenate((TOP_SPIN, np.eye(3).ravel()))
    y = solve_ivp(rate, (0.0, t), start, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    W, R = y[:3], y[3:].reshape(3, 3)
    a = np.cross(turn(W, R), c) + np.cross(W, np.cross(W, c))
    return {
        "positions": np.concatenate((R @ c, R @ (c + np.array([1.0, 0.0, 0.0])))),
        "velocities": R @ np.cross(W, c),
        "reaction": TOP_MASS * (R @ a) - weight,
    }


def reference() -> dict:
    return {"order": 2.0, "first order": 1.0, "frequency error": 1.0 / 12.0}


def check(f: Findings) -> None:
    _levels(f)
    _orders(f)
    _stiff(f)
    _drift(f)


def _measured_root(u: np.ndarray) -> complex:
    """Return the root z of u_{n+1} - 2 Re(z) u_n + |z|^2 u_{n-1} = 0, by least squares."""
    A = np.column_stack((u[1:-1], -u[:-2]))
    twice, square = np.linalg.lstsq(A, u[2:], rcond=None)[0]
    return complex(0.5 * twice, np.sqrt(square - 0.25 * twice * twice))


def _levels(f: Findings) -> None:
    wh, steps = 0.1, 600
    for label, (options, _order) in RULES.items():
        u = solve(build("oscillator", wh, steps * wh, **options)).steps[-1].series["sensor/u"][:, 0] + 0.1
        z, exact = _measured_root(u[100:]), principal_root(options, wh)  # the other roots have died out
        level, expected = (1.0 - np.angle(z) / wh) / wh**2, (1.0 - np.angle(exact) / wh) / wh**2
        why = "root of the amplification matrix; the other root has shrunk to 0.8^100 = 2e-10 before the fit begins"
        f.row(
            "B-RULES", f"{label}: lag of the frequency over w (w h)^2, w h = 0.1", level, expected, why, CLOSED_FORM,
            tolerance=1e-9,
        )  # fmt: skip
        damping, expected = -np.log(abs(z)) / wh, -np.log(abs(exact)) / wh
        f.row("B-RULES", f"{label}: damping ratio, w h = 0.1", damping, expected, why, CLOSED_FORM, tolerance=1e-9)
        if label in ("mid-point", "Newmark"):
            text = "1/12; the next term is (w h)^2/80"
            what = f"{label}: the same lag, as w h -> 0"
            f.row("B-RULES", what, level, 1.0 / 12.0, text, CLOSED_FORM, tolerance=wh**2 / 80.0)
        if label.startswith("decaying"):
            text = "a w h/2 to first order; the next term is (w h)^2 of it"
            exact = 0.5 * options["decay"] * wh
            f.row("B-RULES", f"{label}: damping ratio", damping, exact, text, CLOSED_FORM, relative=0.01)


def _orders(f: Findings) -> None:
    for kind, exact, duration, sizes, names in (
        ("pendulum", pendulum, 2.0, (0.02, 0.01, 0.005, 0.0025, 0.00125), ("x", "angle")),
        ("top", top, 1.0, (2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4), ("x", "X")),
    ):
        known = exact(duration)
        curves = []
        for label, (options, order) in RULES.items():
            if options["rule"] == "explicit" or (kind == "top" and options["rule"] in ("newmark", "decaying")):
                continue  # no joints; Newmark's accelerations grow without bound; nothing elastic that could decay
            errors: dict[str, list[Any]] = {"positions": [], "velocities": [], "reaction": []}
            for h in sizes:
                solution = solve(build(kind, h, duration, **options))
                errors["positions"].append(
                    np.linalg.norm(
                        np.concatenate([solution.steps[-1].series[f"sensor/{n}"][-1] for n in names])
                        - known["positions"]
                    )
                )
                errors["velocities"].append(
                    np.linalg.norm(solution.steps[-1].series["sensor/v"][-1] - known["velocities"])
                )
                force = solution.steps[-1].series["sensor/R"][-1][: known["reaction"].size]
                errors["reaction"].append(np.linalg.norm(force - known["reaction"]))
            curves.append(Curve(np.array(sizes), np.array(errors["positions"]), label, "o-"))
            two_state = options["rule"] in ("midpoint", "decaying")
            for quantity in ("positions", "velocities", "reaction"):
                if quantity == "reaction" and (two_state or options["rule"] == "newmark"):
                    continue  # at the middle of the step; not convergent, see below
                # rho_inf = 0 has the largest error of third order
                wide = options.get("rho_inf") == 0.0
                f.row(
                    "B-RULES",
                    f"order, {kind}, {quantity}, {label}",
                    last_order(sizes, errors[quantity]),
                    order,
                    f"A whole number, known to {0.2 if wide else 0.1} between the two smallest steps.",
                    PROPERTY,
                    tolerance=0.2 if wide else 0.1,
                )
            if kind == "pendulum" and options["rule"] == "newmark":
                f.row(
                    "B-RULES",
                    "order, pendulum, reaction, Newmark",
                    last_order(sizes, errors["reaction"]),
                    2.0,
                    "The alternating error of the accelerations (Cardona and Geradin 1989) is taken out of the rows.",
                    PROPERTY,
                    tolerance=0.1,
                )
        f.figure(
            f"Error of positions, {kind}",
            [*curves, Curve(np.array(sizes), 100.0 * np.array(sizes) ** 2, "slope 2", ":")],
            "h [s]",
            "Error [m]",
            scale="loglog",
        )


def _stiff(f: Findings) -> None:
    """Run Bathe's pendulum, unstretched at the start, at h = 0.1 s, nearly 30 times the period of its axial
    vibration."""
    kinetic = 0.5 * bathe.MASS * bathe.SPEED**2
    curves = []
    some = {"generalised-alpha, rho_inf = 0.5": ({"rule": "generalised-alpha", "rho_inf": 0.5}, 2)}
    for label, (options, _order) in {**RULES, **some}.items():
        if options["rule"] == "explicit":
            continue
        step = solve(bathe.build(0.1, 30.0, **options)).steps[0]
        energy = step.ledger("kinetic") + step.ledger("strain") + step.ledger("potential")
        energy = (energy - energy[0]) / kinetic
        curves.append(Curve(step.time, energy, label))
        if options["rule"] == "midpoint":
            f.zero(
                "B-RULES",
                "stiff pendulum, mid-point: change of the energy",
                np.abs(energy).max(),
                CONSERVED,
                "The rule conserves it exactly; only round-off is left.",
            )
            continue
        if options["rule"] == "newmark" or options.get("rho_inf") == 0.8:
            text = "gains without bound: the weights damp less per step than the nonlinear exchange feeds; chaotic"
            f.between("B-RULES", f"stiff pendulum, {label}, h = 0.1 s: gain of energy", energy.max(), 0.1, 1e3, text)
            continue
        f.between(
            "B-RULES",
            f"stiff pendulum, {label}, h = 0.1 s: largest energy in 30 s over the start, change",
            energy.max(),
            -1e-9,
            0.01,
            "Energy must not grow, where Newmark's rule locks; the swing itself is exchanged to 1 %.",
        )
        if options["rule"] == "decaying":
            total = step.ledger("closing error") / kinetic
            f.zero(
                "B-RULES",
                f"stiff pendulum, {label}: increase of energy in a step",
                np.diff(energy).max(),
                1e-11,
                "The rule may only lose energy.",
            )
            f.zero(
                "B-RULES",
                f"stiff pendulum, {label}: closing error",
                np.abs(total).max(),
                CONSERVED,
                "All work is booked exactly; only round-off is left.",
            )
    f.figure("Energy of the stiff pendulum, h = 0.1 s", curves, "Time [s]", "Change of energy / kinetic energy [-]")


def _drift(f: Findings) -> None:
    """Compare the free asymmetric body: the explicit rule against the mid-point rule."""
    duration, sizes = 10.0, (0.02, 0.01, 0.005, 0.0025)
    known = free_body.tumbling(duration)
    curves = []
    for label, order in (("explicit", 1), ("mid-point", 2)):
        errors, drifts = [], []
        for h in sizes:
            solution = solve(build("free body", h, duration, **RULES[label][0]))
            step = solution.steps[0]
            errors.append(
                np.linalg.norm(
                    np.concatenate(
                        (solution.steps[-1].series["sensor/X"][-1], solution.steps[-1].series["sensor/Y"][-1])
                    )
                    - known
                )
            )
            energy = step.ledger("kinetic") / step.ledger("kinetic")[0] - 1.0
            momentum = np.linalg.norm(step.series["angular momentum"] - step.series["angular momentum"][0], axis=1)
            drifts.append((np.abs(energy).max(), momentum.max() / np.linalg.norm(step.series["angular momentum"][0])))
            if h == sizes[0]:
                curves += [
                    Curve(step.time, np.maximum(np.abs(energy), 1e-17), f"{label}: energy"),
                    Curve(step.time, np.maximum(momentum, 1e-17), f"{label}: angular momentum", "--"),
                ]
        text = "A whole number, known to 0.05 between the two smallest steps."
        f.row(
            "B-RULES",
            f"order, free body, axes, {label}",
            last_order(sizes, errors),
            order,
            text,
            PROPERTY,
            tolerance=0.05,
        )
        for i, name in enumerate(("energy", "angular momentum")):
            drift = [d[i] for d in drifts]
            if label == "explicit":
                f.row(
                    "B-RULES",
                    f"order, free body, drift of {name}, explicit",
                    last_order(sizes, drift),
                    1,
                    text,
                    PROPERTY,
                    tolerance=0.05,
                )
            else:
                f.zero(
                    "B-RULES",
                    f"free body, drift of {name}, mid-point",
                    max(drift),
                    CONSERVED,
                    "The rule conserves it exactly; only round-off is left.",
                )
    f.figure(
        "Drift of the explicit rule, free asymmetric body, h = 0.02 s",
        curves,
        "Time [s]",
        "Relative error of energy, error of momentum [-], [N m s]",
        "Mid-point rule: round-off.",
        "log",
    )
