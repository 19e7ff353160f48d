"""Bricard's mechanism: five rods, six hinges, one motion that the count of constraints denies.

Five rods of 1 m and 1 kg run along edges of a cube; revolutes between them and to the ground have axes normal to both
of their rods.  The 30 constraints would hold the 30 coordinates of the rods, but one of them repeats others, and the
mechanism moves.  It is let go from rest.

          P4 +--------+ P3            y up, g = 9.81 along -y
            /        /|               P0 (0,0,0)  P1 (1,0,0)  P2 (1,-1,0)
        P5 +        / |               P3 (1,-1,1) P4 (0,-1,1) P5 (0,0,1)
           .       +  |               axes of the hinges at P0 ... P5: y, z, x, y, z, x
        P0 o------o P1                rods P0P1, P1P2, P2P3, P3P4, P4P5; hinges at P0 and P5 to the ground

Source: J. M. Jimenez, A. Avello, J. Garcia de Jalon, A. Avello, "An efficient implementation of the velocity
transformation method for real-time dynamics", NATO ASI, Troia 1993, Vol. II, 39-57, section 4.2 (5 rods, 1 m, 1 kg; its
figure is lost, and the geometry is that of the later benchmark A04 of the IFToMM library: M. Gonzalez et al.,
doi:10.1007/s11044-006-9020-8).  The numbers are a quadrature of the loop's closed form q1 = q3 = q5, q2 = q4,
sin q2 = -sin q1/(1 + sin q1), and agree with minimal coordinates to 4e-9.
"""

from __future__ import annotations

import re

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import PROPERTY, RECOMPUTED

CAPABILITY = "mechanisms"
CASES = {"B-BRICARD": "period, motion, energy and rank of an over-constrained mechanism, rods rigid and elastic"}

GRAVITY = 9.81
POINTS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
AXES = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)], float)
SIDE = 0.1  # of the square section [m]


def build(h: float = 0.01, duration: float = 5.2, side: float = 0.0, elements: int = 0, **options) -> Model:
    """Return the mechanism at rest.

    Args:
        side: of the rods' square section [m]; 0: thin rods.
        elements: of each rod; 0: rigid bodies.
    """
    model = Model(3, "Bricard's mechanism", gravity=(0.0, -GRAVITY, 0.0))
    if elements:
        model.section("rod", "stiffness", EA=1e7, GA=1e7, GJ=1e5, EI=1e5, rhoA=1.0, rhoI=1e-6)
    for i, (p, q) in enumerate(zip(POINTS[:-1], POINTS[1:], strict=True), 1):
        if elements:
            model.line(f"rod {i}", p, q, elements)
            across = (0.0, 0.0, 1.0) if abs(q - p)[2] == 0.0 else (1.0, 0.0, 0.0)
            model.beams(f"beam {i}", f"rod {i}", "rod", orientation=across)
        else:
            inertia = np.where(np.abs(q - p) > 0.5, side**2 / 6.0, (1.0 + side**2) / 12.0)
            model.body(f"rod {i}", 0.5 * (p + q), 1.0, tuple(inertia))
    for i, (point, axis) in enumerate(zip(POINTS, AXES, strict=True)):
        a = "ground" if i == 0 else f"rod {i}" + (":end" if elements else "")
        b = "ground" if i == 5 else f"rod {i + 1}" + (":start" if elements else "")
        model.joint(f"R{i + 1}", "revolute", a, b, point=point, axis=axis)
        if not elements:
            model.sensor(f"q{i + 1}", "joint", on=f"R{i + 1}")
            model.sensor(f"F{i + 1}", "reaction", on=f"R{i + 1}")
    model.sensor(
        "P3", "position", on="rod 3:end" if elements else "rod 3", **({} if elements else {"point": POINTS[3]})
    )
    model.transient_step(duration, h, frames=0, **options)
    return model


def reference() -> dict:
    """Return by section: period [s], acceleration of the joints at rest [rad/s2], P3 at 1 s and 2 s [m]."""
    return {
        "thin rods": {
            "period": 4.98630861,
            "acceleration": 1.962,
            1.0: (0.50866476, -1.64982706, 0.13903533),
            2.0: (-0.96989200, -1.21945514, 0.75646458),
        },
        "square section": {
            "period": 4.99171151,
            "acceleration": 1.95808383,
            1.0: (0.51050146, -1.64916760, 0.14012311),
            2.0: (-0.96934034, -1.22124689, 0.75427801),
        },
        "potential": -33.98283684,
        "rank": 29,
    }


def limit(coarse, fine):
    """Return two step lengths h and h/2 of a rule of second order, h -> 0."""
    return (4.0 * np.asarray(fine) - np.asarray(coarse)) / 3.0


def period(t: np.ndarray, P3: np.ndarray) -> float:
    """Return P3 passes x = 0 after a quarter and, since the motion is its own mirror image in time, three quarters."""
    x = P3[:, 0]
    return sum(_root(t[k - 1 : k + 3], x[k - 1 : k + 3]) for k in np.flatnonzero(x[:-1] * x[1:] < 0.0)[:2])


def _root(t: np.ndarray, u: np.ndarray) -> float:
    """Return t at u = 0 on the polynomial t(u) through some points."""
    others = [np.delete(u, i) for i in range(len(u))]
    return float(sum(t[i] * np.prod(o / (o - u[i])) for i, o in enumerate(others)))


def check(f: Findings) -> None:
    case, known = "B-BRICARD", reference()
    curves = []
    for name, side in (("thin rods", 0.0), ("square section", SIDE)):
        runs = [solve(build(h, side=side)) for h in (0.01, 0.005)]
        times = [period(r.steps[0].time, r.sensor("P3").values) for r in runs]
        f.row(
            case,
            f"period [s], {name}, h -> 0",
            limit(*times),
            known[name]["period"],
            "The reference has so many digits.",
            RECOMPUTED,
            relative=2e-8,
        )
        for when in (1.0, 2.0):
            P3 = limit(*(r.sensor("P3").values[round(when / h)] for r, h in zip(runs, (0.01, 0.005), strict=True)))
            error = np.abs(P3 - known[name][when]).max()
            f.zero(
                case,
                f"error of P3({when:g} s) [m], {name}, h -> 0",
                error,
                1e-7,
                "The limit is extrapolated with an error of fourth order.",
                RECOMPUTED,
            )
        fine = runs[1]
        t = fine.steps[0].time[1:41]
        joints = (
            np.column_stack([fine.steps[-1].series[f"sensor/q{i}"][1:41, 0] for i in range(1, 6)]) / t[:, None] ** 2
        )
        rates = 2.0 * np.polynomial.polynomial.polyfit(t**2, joints, 3)[0]
        for what, value in (("smallest", np.abs(rates).min()), ("largest", np.abs(rates).max())):
            f.row(
                case,
                f"{what} acceleration of a joint at rest [rad/s2], {name}",
                value,
                known[name]["acceleration"],
                "The acceleration is taken from the first 40 steps of 5 ms, with an error of h^2.",
                RECOMPUTED,
                relative=1e-4,
            )
        f.zero(case, f"change of the energy, {name}, h = 5 ms", energy_error(fine.steps[0], constant=True), CONSERVED,
               "The rule conserves it exactly; only round-off is left.")  # fmt: skip
        curves += [
            Curve(fine.steps[0].time, fine.sensor("P3").values[:, i], f"{c}, {name}") for i, c in enumerate("xyz")
        ]
        iterations = fine.steps[0].summary["iterations"] / fine.steps[0].summary["n_steps"]
        f.between(
            case,
            f"Newton iterations per step, {name}, h = 5 ms",
            iterations,
            1.0,
            3.0,
            "Redundant constraints must not cost iterations.",
        )
        if side == 0.0:
            lowest = fine.steps[0].ledger("potential").min()
            f.row(
                case,
                "smallest potential energy [J], h = 5 ms",
                lowest,
                known["potential"],
                "The smallest value lies within a step.",
                RECOMPUTED,
                tolerance=1e-4,
            )
            warning = " ".join(fine.steps[0].summary["warnings"])
            rank = re.search(r"30 constraints of rank (\d+)", warning)
            f.row(
                case, "rank of the 30 constraints, as reported", float(rank[1]) if rank else 0.0, known["rank"],
                "The rank is a whole number.", PROPERTY, tolerance=0.0,
            )  # fmt: skip
    beams = [solve(build(h, elements=1, duration=4.0)) for h in (0.01, 0.005)]
    times = [period(r.steps[0].time, r.sensor("P3").values) for r in beams]
    f.row(
        case, "period [s], each rod a stiff beam, h -> 0", limit(*times), known["thin rods"]["period"],
        "The stiff beams bend by 1e-5 under their weight.", RECOMPUTED, relative=1e-4,
    )  # fmt: skip
    f.zero(
        case, "change of the energy, beams, h = 5 ms", energy_error(beams[1].steps[0], constant=True), CONSERVED,
        "The rule conserves it exactly; only round-off is left.",
    )  # fmt: skip
    f.figure("Point P3", curves[:3], "Time [s]", "Coordinates [m]", "Thin rods, h = 5 ms.")
    f.energy_figure({"thin rods": fine.steps[0], "beams": beams[1].steps[0]})
