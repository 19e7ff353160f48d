"""A helical spring under torque: three ways to its buckling load.

A spring of rectangular wire stands between two plates: it is clamped into the lower one, and squeezed by the upper one,
which keeps its distance then and can turn about the spring's axis.  A torque on the upper plate unwinds the spring.  It
first turns by an angle proportional to the torque; then its lowest frequency falls, rapidly at the end, and is zero
where the spring buckles sideways.

            M                      wire 1 x 1.5 mm, steel, 5 coils of radius 10 mm, 37 elements
        ====^====                  100 mm long, squeezed by 30 mm
         (     )
          (     )     37 beams     buckling load:  - linear buckling of the loaded state
         (     )                                   - the square of the lowest frequency
        =========                                  - the number of negative eigenvalues along the path

Source: D.T. Doan, M. Geradin, J.M. Kill, "Eigenvalue analysis in flexible multibody dynamics by use of the
non-symmetric Lanczos algorithm", NATO ASI, Troia 1993, Vol. II, 267-274, section 4: the starter spring of a turbopump,
37 beam elements, lower end clamped, axial torque on the upper end, sides on two planes at a fixed distance; frequencies
every few increments of a static analysis.  No data survive; these are our own, and what must agree are the three ways.
The stiffness of the spring before it is squeezed is an independent computation: the flexibility of its curve.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs
from fem_mbs.validation.kinds import INDEPENDENT, PROPERTY, SELF

CAPABILITY = "buckling"
CASES = {"B-SPRING": "helical spring under torque: frequency, inertia count and linear buckling find the same load"}

ELEMENTS, COILS, RADIUS, HEIGHT, SQUEEZED = 37, 5.0, 0.01, 0.1, 0.03
THICKNESS, WIDTH = 1e-3, 1.5e-3
E, NU, DENSITY = 2.1e11, 0.3, 7850.0


def build(elements: int = ELEMENTS, squeezed: float = SQUEEZED) -> Model:
    """Return the spring between its plates, and a step that brings these together by ``squeezed`` [m], if any."""
    model = Model(3, "helical spring under torque")
    model.material("steel", E=E, nu=NU, density=DENSITY)
    model.section("wire", "rectangle", height=THICKNESS, width=WIDTH)
    turn = np.linspace(0.0, 2.0 * np.pi * COILS, elements + 1)
    points = np.column_stack((RADIUS * np.cos(turn), RADIUS * np.sin(turn), HEIGHT * turn / turn[-1]))
    model.polyline("wire", points.tolist(), 1)
    model.beams("wire", "wire", "wire", "steel", strains="corotational", curved=True, orientation=["x", "y", "0"])
    model.fix("wire:start")
    model.body("plate", (0.0, 0.0, HEIGHT), mass=1e-3, inertia=(5e-8, 5e-8, 1e-7))
    model.fix("plate", ["x", "y", "rotation x", "rotation y"])
    if squeezed:
        model.motion("distance", "plate", "z", f"-{squeezed}")
    else:
        model.fix("plate", ["z"])
    model.joint("end", "weld", "plate", "wire:end", point=points[-1])
    model.moment("M", "plate", (0.0, 0.0, -1.0))
    model.sensor("turn", "rotation", on="plate")
    if squeezed:
        model.static_step(increments=5, name="squeeze", vary=["distance"])
    else:
        model.linear_static_step()
    return model


def path() -> Model:
    """Return the equilibrium path beyond the buckling load, by arc length."""
    model = build()
    model.static_step(increments=6, until=0.606, vary=["M"])
    model.static_step(
        increments=10, until=0.8, vary=["M"], control="arc", stability=True, size=0.3, largest=0.6, points=9
    )  # fmt: skip
    return model


def loaded(torques, buckling=()) -> Model:
    """Return complex modes at rising torques [N m], and linear buckling at those of them that ``buckling`` numbers."""
    model = build()
    for i, torque in enumerate(torques):
        model.static_step(increments=6 if i == 0 else 2, until=float(torque), vary=["M"])
        model.complex_modes_step(count=5)
        if i in buckling:
            model.buckling_step(count=2, loads=["M"])
    return model


def reference() -> dict[str, float]:
    """Return the torque per angle [N m] of the spring that is not squeezed, by the flexibility of its curve.

    A force F and a moment M on the plate cause the moment M + (plate - r(s)) x F in the wire at r(s).  It bends and
    twists the wire; shear and stretch of the wire are left out.  Only the turn about the axis is free.
    """
    nodes, weights = np.polynomial.legendre.leggauss(200)
    turn = np.pi * COILS * (nodes + 1.0)
    slope = HEIGHT / (2.0 * np.pi * COILS)
    c, s, zero, one = np.cos(turn), np.sin(turn), np.zeros(200), np.ones(200)
    place = np.column_stack((RADIUS * c, RADIUS * s, slope * turn))
    tangent = np.column_stack((-RADIUS * s, RADIUS * c, slope * one)) / np.hypot(RADIUS, slope)
    radial = np.column_stack((c, s, zero))
    across = np.cross(tangent, radial)
    to_plate = np.array((0.0, 0.0, HEIGHT)) - place
    by_force = np.stack([np.cross(to_plate, axis) for axis in np.eye(3)], axis=2)
    moment = np.concatenate((by_force, np.broadcast_to(np.eye(3), (200, 3, 3))), axis=2)
    flexibility = np.zeros((6, 6))
    for direction, stiffness in (
        (tangent, 0.5 * E / (1.0 + NU) * 0.19576 * WIDTH * THICKNESS**3),  # St. Venant, sides 1.5 : 1
        (radial, E * THICKNESS * WIDTH**3 / 12.0),
        (across, E * WIDTH * THICKNESS**3 / 12.0),
    ):
        part = np.einsum("qi,qij->qj", direction, moment)
        flexibility += np.einsum("q,qi,qj->ij", weights, part, part) / stiffness
    flexibility *= np.pi * COILS * np.hypot(RADIUS, slope)
    return {"stiffness": float(np.linalg.inv(flexibility)[5, 5])}


def limit(squares: np.ndarray, values: np.ndarray, first: int) -> tuple[float, float]:
    """Return where values (n,) go as w^2 (n,) vanishes, and what this moves by without the farthest of them.

    The polynomial through them has a constant, and powers of w^2 from ``first`` on.
    """
    s = squares / squares[0]
    limits = [
        np.linalg.solve(np.column_stack([s[k:] ** p for p in (0, *range(first, first + len(s) - k - 1))]), values[k:])[
            0
        ]
        for k in (0, 1)
    ]
    return float(limits[0]), float(abs(limits[1] - limits[0]))


def check(f: Findings) -> None:
    known = reference()
    end = solve(path()).steps[-1]
    (critical,) = end.summary["critical_points"]
    count = critical["load_factor"]
    ratios = np.concatenate((np.linspace(0.0, 0.9, 10), (0.95, 0.98, 0.99, 0.995, 0.999)))
    torques, near = ratios * count, (11, 12, 13, 14)
    steps = solve(loaded(torques, near)).steps[1:]
    turn = -np.unwrap([step.series["sensor/turn"][-1][2] for step in steps if step.type == "static"])
    modes = [step.summary for step in steps if step.type == "complex_modes"]
    frequencies = np.array([[p[1] for p in s["eigenvalues"][:5]] for s in modes])
    factors = [min(x for x in step.summary["load_factors"] if x > 0.0) for step in steps if step.type == "buckling"]
    linear = torques[list(near)] + factors
    turn -= turn[0]
    k = torques[1] / turn[1]
    slack = [-1.0 / solve(build(n, 0.0)).sensor("turn").values[-1, 2] for n in (37, 74, 148, 296)]
    f.converged(
        "B-SPRING", "torque per angle of the spring that is not squeezed [N m], 37 to 296 elements", slack,
        known["stiffness"], INDEPENDENT, error=WIDTH**2 / (12.0 * RADIUS**2), why="shear, stretch and a thin wire",
    )  # fmt: skip
    falls = np.diff(frequencies[:, 0]).max()
    f.between(
        "B-SPRING",
        "largest change of the first frequency per load [1/s]",
        falls,
        -1e3,
        0.0,
        "The first frequency falls only, up to the critical load.",
    )
    f.row(
        "B-SPRING", "negative eigenvalues behind the critical point of the path",
        end.series["negative eigenvalues"][-1], 1, "It is a whole number.", PROPERTY, tolerance=0.0,
    )  # fmt: skip
    squares = frequencies[list(near), 0] ** 2
    # where frequencies vanish the torque has its largest value, M = M_cr + a w^4 + b w^6 + ...
    vanishing, moved = limit(squares, torques[list(near)], 2)
    f.row(
        "B-SPRING", "torque at which the lowest frequency vanishes [N m], against the inertia count", vanishing, count,
        "Twice what the limit from .98, .99, .995 and .999 of the load moves by without .98.", SELF,
        tolerance=2.0 * moved,
    )  # fmt: skip
    # linear buckling takes the stiffness as falling linearly; it is right where that vanishes
    buckling, moved = limit(squares, linear, 1)
    f.row(
        "B-SPRING", "linear buckling where the lowest frequency vanishes [N m], against the inertia count", buckling,
        count, "Twice what the limit from .98, .99, .995 and .999 of the load moves by without .98.", SELF,
        tolerance=2.0 * moved,
    )  # fmt: skip
    good_pairs(f, "B-SPRING", "up to .99 of it", *modes[:-2])
    f.zero(
        "B-SPRING", "largest residual of a pair, .995 and .999 of it", max(max(s["residuals"]) for s in modes[-2:]),
        1e-8, "Every pair must have so small a residual.",
    )  # fmt: skip
    f.zero(
        "B-SPRING", "bi-orthogonality, .995 and .999 of it", max(s["biorthogonality"] for s in modes[-2:]), 1e-9,
        "p and -p are about to meet at zero, where w.(2 p M) x vanishes, which leaves 5e-11 here.",
    )  # fmt: skip
    f.figure(
        "First five frequencies of the spring",
        [Curve(torques, frequencies[:, i], f"mode {i + 1}") for i in range(5)]
        + [Curve(np.array([count]), np.zeros(1), "inertia count", "o"),
           Curve(np.array([linear[-1]]), np.zeros(1), "linear buckling", "o")],
        "Torque [N m]", "Circular frequency [rad/s]", "The curve of the paper's Fig. 4.5, for our data.",
    )  # fmt: skip
    f.figure(
        "Torque and angle", [Curve(turn, torques, "37 elements"),
                             Curve(turn[:12], k * turn[:12], "linear", ":")],
        "Angle of the plate [rad]", "Torque [N m]", "The curve of the paper's Fig. 4.4, for our data.",
    )  # fmt: skip
