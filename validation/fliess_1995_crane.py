"""Cranes whose load follows a path: winch and trolley, and a rope that carries waves.

The load of a plane crane goes from rest to rest; the forces of trolley and winch are sought.  Load and rope are a flat
system (Fliess et al.): with the load at (x, y) below the rail, y < 0,

    trolley X = x - y x''/(y'' + g),    rope r = |(X - x, y)|,    rope force S = m (y'' + g) r/(-y),
    rail M X'' + m x'',    winch -S.

Without a winch the length l of the rope is given, and its angle q obeys

    x'' cos q + (g + l (q'' sin q + q'^2 cos q)) sin q = 0;

here q(t) is chosen, and x'' = -(g + l (q'' sin q + q'^2 cos q)) tan q is integrated twice for the path.

A rope of mass rho per length under a constant force F is a string, c^2 = F/rho, and a delay is what it does (the string
with a load of Petit & Rouchon, whose tension is here that of the load alone): for small motions y(t) of the load, with
d = L/c,

    X = (y(t + d) + y(t - d))/2 + (c m/(2 F)) (y'(t + d) - y'(t - d)),
    rail = M X'' + F u',    u' = (y'(t + d) - y'(t - d))/(2 c) + (m/(2 F)) (y''(t + d) + y''(t - d)),

so that the trolley moves d before the load does, and d after it.

        ----[ M ]--------->  rail force
              \\
               \\  rope: r from the winch, or a string (rho, F, L)
                \\
                 o  load m, on its path

Source: M. Fliess, J. Levine, P. Martin, P. Rouchon, "Flatness and defect of non-linear systems: introductory theory and
examples", International Journal of Control 61 (1995) 1327-1361: the crane as an example of a flat system.  N. Petit, P.
Rouchon, "Flatness of heavy chain systems", SIAM Journal on Control and Optimization 40 (2001) 475-495: ropes with mass.
All references are the formulas above, evaluated here; no printed number is used.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from scipy.integrate import solve_ivp
from scipy.special import betainc

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM, INDEPENDENT, PROPERTY, Kind

CAPABILITY = "inverse"
CASES = {
    "B-FLAT": "forces of a crane with and without a winch for a path of its load, closed form of the flat system",
    "B-STRING": "force on a trolley whose load hangs on a string, for a path of the load: advance and delay",
}

TROLLEY, LOAD, G = 5.0, 2.0, 9.81
DURATION = 2.0
ROPE = {"length": 1.0, "density": 0.5, "force": 20.0}
SMALL = 2e-3  # way of the load on the string [m]
STEPS = (0.02, 0.01)  # 2 h and h [s]
FOLLOWED = 1e-4  # default tolerance of the step
LEAST_ORDER = 1.5  # of an error that is nearer to the second order than to the first


def smooth(k: int) -> Polynomial:
    """Return a polynomial from 0 to 1 over 0 ... 1, k derivatives of which vanish at both ends."""
    inner = (Polynomial([0.0] * k + [1.0]) * Polynomial([1.0, -1.0]) ** k).integ()
    return inner * (factorial(2 * k + 1) / factorial(k) ** 2)


def build(h: float = 0.01, winch: bool = True, law: Any = None) -> Model:
    """Return the crane with a rigid rope; ``law`` of the load's x replaces the polynomial."""
    m = Model(2, "crane", gravity=(0.0, -G))
    m.body("trolley", (0.0, 0.0), 0.8 * TROLLEY, 0.1)
    m.joint("rail", "prismatic", "ground", "trolley", point=(0.0, 0.0), axis=(1.0, 0.0))
    m.body("drum", (0.0, 0.0), 0.2 * TROLLEY, 0.0)
    m.joint("hinge", "revolute", "trolley", "drum", point=(0.0, 0.0))
    m.body("load", (0.0, -1.0), LOAD, 0.0)
    axis: dict[str, Any] = {"axis": (0.0, -1.0)} if winch else {}
    m.joint("rope", "prismatic" if winch else "weld", "drum", "load", point=(0.0, -1.0), **axis)
    m.sensor("load", "position", on="load")
    m.sensor("trolley", "position", on="trolley")
    path = {"load.x": law or _law(5, 0.5, DURATION)}
    if winch:
        path["load.y"] = _law(5, 0.3, DURATION)
    m.inverse_path_step(DURATION, h, outputs=path, efforts=["rail", "rope"] if winch else ["rail"], frames=0)
    return m


def _law(k: int, size: float, duration: float) -> dict[str, Any]:
    """Return `smooth` as a function of time: the incomplete beta function, without the round-off of powers, which the
    rope would amplify."""
    s = np.linspace(0.0, 1.0, 2001)
    return {"kind": "spline", "times": list(s * duration), "values": list(size * betainc(k + 1, k + 1, s))}


def string(n: int, h: float, duration: float = 1.0) -> Model:
    """Return a trolley with a load on a string of n beams without bending stiffness."""
    m = Model(2, "string")
    m.section("rope", "stiffness", EA=1e5, GA=1e4, EI=1e-3, rhoA=ROPE["density"], rhoI=0.0)
    m.body("trolley", (0.0, 0.0), TROLLEY, 0.1)
    m.joint("rail", "prismatic", "ground", "trolley", point=(0.0, 0.0), axis=(1.0, 0.0))
    m.line("rope", (0.0, 0.0), (0.0, -ROPE["length"]), n)
    m.beams("rope", "rope", "rope")
    m.joint("hinge", "revolute", "trolley", "rope:start", point=(0.0, 0.0))
    m.point_mass("load", "rope:end", LOAD)
    m.force("pull", "rope:end", (0.0, -ROPE["force"]))
    m.sensor("load", "displacement", on="rope:end")
    m.inverse_path_step(duration, h, outputs={"load.x": _law(9, SMALL, duration)}, efforts=["rail"], frames=0)
    return m


def _along(shape: Polynomial, size: float, duration: float, t: np.ndarray, order: int) -> np.ndarray:
    """Return a derivative (n,) of a path by time, which rests before and after it."""
    s = np.clip(t / duration, 0.0, 1.0)
    value = size * shape.deriv(order)(s) / duration**order if order else size * shape(s)
    return value if order == 0 else np.where((t > 0.0) & (t < duration), value, 0.0)


def flat(t: np.ndarray) -> np.ndarray:
    """Return forces (n, 2) of rail and winch at times (n,) [s] of the path."""
    x, y = ([_along(smooth(5), a, DURATION, t, k) for k in range(5)] for a in (0.5, 0.3))
    y[0] = y[0] - 1.0
    # a = x''/(y'' + g) and its derivatives, then X'' = x'' - (y a)''
    d = y[2] + G
    a0 = x[2] / d
    a1 = (x[3] - a0 * y[3]) / d
    a2 = (x[4] - 2.0 * a1 * y[3] - a0 * y[4]) / d
    X2 = x[2] - (y[2] * a0 + 2.0 * y[1] * a1 + y[0] * a2)
    length = -y[0] * np.sqrt(1.0 + a0**2)
    return np.column_stack((TROLLEY * X2 + LOAD * x[2], -LOAD * d * length / -y[0]))


def swinging(t: np.ndarray, largest: float = 0.15) -> tuple[np.ndarray, np.ndarray]:
    """Return the path (n,) of the load on a rope of 1 m whose angle is chosen, and the force (n,) on the trolley."""
    s = Polynomial([0.0, 1.0])
    # rises, passes zero in the middle, and ends at rest: five derivatives vanish at both ends
    q = largest * 2.0**13 * (s * (1.0 - s)) ** 6 * (1.0 - 2.0 * s)
    rates = [q, q.deriv(), q.deriv(2)]

    def angle(time: Any, order: int) -> Any:
        inside = np.clip(np.asarray(time) / DURATION, 0.0, 1.0)
        return rates[order](inside) / DURATION**order

    def pull(time: Any) -> Any:
        p = angle(time, 0)
        return -(G + angle(time, 2) * np.sin(p) + angle(time, 1) ** 2 * np.cos(p)) * np.tan(p)

    found = solve_ivp(
        lambda time, z: [z[1], float(pull(time))], (0.0, DURATION), [0.0, 0.0], t_eval=np.clip(t, 0.0, DURATION),
        rtol=1e-12, atol=1e-14, max_step=0.01,
    ).y[0]  # fmt: skip
    p, w, a = (angle(t, k) for k in range(3))
    trolley = pull(t) - (a * np.cos(p) - w**2 * np.sin(p))
    return found, TROLLEY * trolley + LOAD * pull(t)


def string_force(t: np.ndarray, duration: float = 1.0) -> np.ndarray:
    """Return the force (n,) on the trolley of the string at times (n,) [s] of the path."""
    F, c = ROPE["force"], np.sqrt(ROPE["force"] / ROPE["density"])
    d = ROPE["length"] / c

    def y(order: int, shift: float) -> np.ndarray:
        return _along(smooth(9), SMALL, duration, t + shift, order)

    X2 = 0.5 * (y(2, d) + y(2, -d)) + c * LOAD / (2.0 * F) * (y(3, d) - y(3, -d))
    slope = (y(1, d) - y(1, -d)) / (2.0 * c) + LOAD / (2.0 * F) * (y(2, d) + y(2, -d))
    return TROLLEY * X2 + F * slope


def reference() -> dict:
    return {"delay": ROPE["length"] / np.sqrt(ROPE["force"] / ROPE["density"])}


def _efforts(model: Model) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return times (n,) since the path began, efforts (n, p), and the report."""
    solution = solve(model)
    report: Any = solution.steps[-1].report
    drives = solution.drives()
    return drives.t - report.path_start, drives.values, report


def _converges(
    f: Findings, case: str, what: str, fine: tuple[np.ndarray, np.ndarray], coarse: tuple[np.ndarray, np.ndarray],
    size: float, kind: Kind,
) -> None:  # fmt: skip
    """Add rows for the error of a force and its order.

    Args:
        fine, coarse: forces and their exact values (n,) at the same times for h and, (n + 1)/2 of them, for 2 h.
        size: [N] that errors are related to.
    """
    errors = [float(np.abs(found - exact).max() / size) for found, exact in (coarse, fine)]
    change = float(np.abs(fine[0][::2] - coarse[0]).max() / size)
    f.zero(
        case, f"{what}: largest error over the largest change", errors[1], change / (2.0**LEAST_ORDER - 1.0),
        f"An error of the order {LEAST_ORDER:g} or higher is at most the change of the result from 2 h to h over "
        f"2^{LEAST_ORDER:g} - 1.", kind,
    )  # fmt: skip
    f.row(
        case, f"{what}: order of the error from 2 h to h", np.log2(errors[0] / errors[1]), 2.0,
        "The method is of second order; the order at finite h is nearer to it than to another whole number.",
        PROPERTY, tolerance=2.0 - LEAST_ORDER,
    )  # fmt: skip


def _follows(f: Findings, case: str, what: str, report: Any) -> None:
    """Add the row of the load in the first forward run."""
    f.zero(
        case, f"{what}: load off its path in the first forward run over the way", report.errors[0], FOLLOWED,
        "The step accepts a ten-thousandth of the way by default; the efforts need no correction by a second run.",
    )  # fmt: skip


def _inside(t: np.ndarray, h: float) -> slice:
    """Return the times of the path among the ends of steps t (n,)."""
    first = int(np.argmin(np.abs(t)))
    return slice(first, first + round(DURATION / h) + 1)


def check(f: Findings) -> None:
    results = []
    for h in STEPS:
        t, found, report = _efforts(build(h=h))
        own = _inside(t, h)
        results.append((t[own], found[own], flat(t[own])))
        _follows(f, "B-FLAT", f"winch and trolley, h = {1e3 * h:g} ms", report)
    (_, coarse, known), (t, found, exact) = results
    for i, name in enumerate(("rail", "winch")):
        _converges(
            f, "B-FLAT", f"force of the {name} of a crane with a winch, h = 10 ms", (found[:, i], exact[:, i]),
            (coarse[:, i], known[:, i]), float(np.abs(exact[:, i] - exact[0, i]).max()), CLOSED_FORM,
        )  # fmt: skip
    curves = [
        Curve(t, exact[:, 0], "rail, closed form"), Curve(t, found[:, 0], "rail", "o"),
        Curve(t, exact[:, 1] + LOAD * G, "winch less weight, closed form"),
        Curve(t, found[:, 1] + LOAD * G, "winch less weight", "o"),
    ]  # fmt: skip
    f.figure("Crane with trolley and winch", curves, "Time [s]", "Force [N]")
    _check_swing(f)
    _check_string(f)


def _check_swing(f: Findings) -> None:
    s = np.linspace(0.0, DURATION, 401)
    law = {"kind": "spline", "times": s, "values": swinging(s)[0]}
    results = []
    for h in STEPS:
        t, found, report = _efforts(build(h=h, winch=False, law=law))
        own = _inside(t, h)
        results.append((found[own, 0], swinging(t[own])[1]))
        _follows(f, "B-FLAT", f"rope of given length, h = {1e3 * h:g} ms", report)
    size = float(np.abs(results[1][1]).max())
    _converges(
        f, "B-FLAT", "force of the rail, rope of given length, h = 10 ms", results[1], results[0], size, INDEPENDENT
    )


def _check_string(f: Findings) -> None:
    curves, results = [], []
    for n, h in zip((4, 8), STEPS, strict=True):
        t, found, report = _efforts(string(n, h))
        exact = string_force(t)
        results.append((t, found[:, 0], exact))
        curves.append(Curve(t, found[:, 0], f"{n} beams, h = {1e3 * h:g} ms", "o"))
        _follows(f, "B-STRING", f"{n} beams, h = {1e3 * h:g} ms", report)
    (early, coarse, known), (t, found, exact) = results
    # the windows of both begin and end at times of their own
    first, last = max(early[0], t[0]) - 1e-9, min(early[-1], t[-1]) + 1e-9
    common = (early >= first) & (early <= last)
    at = round((early[common][0] - t[0]) / STEPS[1])
    own = slice(at, at + 2 * np.count_nonzero(common) - 1)
    _converges(
        f, "B-STRING", "8 beams, h = 10 ms, half of the beams for 2 h", (found[own], exact[own]),
        (coarse[common], known[common]), float(np.abs(exact).max()), CLOSED_FORM,
    )  # fmt: skip
    level = 1e-2 * np.abs(exact).max()
    fine = np.linspace(t[0], t[-1], 4001)
    begins = [float(-fine[np.argmax(np.abs(np.interp(fine, t, a)) > level)]) for a in (found, exact)]
    f.row(
        "B-STRING", "time before the path at which the force passes a hundredth of its largest [s]", begins[0],
        begins[1], f"Forces are known at the ends of steps, so that times are known up to one step; the wave takes "
        f"{reference()['delay']:.4g} s.", CLOSED_FORM, tolerance=STEPS[1],
    )  # fmt: skip
    fine = np.linspace(-0.3, 1.3, 801)
    curves.append(Curve(fine, string_force(fine), "string, closed form"))
    f.figure("Force on the trolley of a string with a load", curves, "Time since the path began [s]", "Force [N]")
