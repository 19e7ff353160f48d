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
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, good_pairs
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY, SELF

CAPABILITY = "buckling"
CASES = {"B-SPRING": "helical spring under torque: frequency, inertia count and linear buckling find the same load"}

ELEMENTS, COILS, RADIUS, HEIGHT, SQUEEZED = 37, 5.0, 0.01, 0.1, 0.03
THICKNESS, WIDTH = 1e-3, 1.5e-3
E, NU, DENSITY = 2.1e11, 0.3, 7850.0


def build() -> Model:
    """Return the spring between its plates, and a step that brings these together."""
    model = Model(3, "helical spring under torque")
    model.material("steel", E=E, nu=NU, density=DENSITY)
    model.section("wire", "rectangle", height=THICKNESS, width=WIDTH)
    turn = np.linspace(0.0, 2.0 * np.pi * COILS, ELEMENTS + 1)
    points = np.column_stack((RADIUS * np.cos(turn), RADIUS * np.sin(turn), HEIGHT * turn / turn[-1]))
    model.polyline("wire", points.tolist(), 1)
    model.beams("wire", "wire", "wire", "steel", strains="corotational", curved=True, orientation=["x", "y", "0"])
    model.fix("wire:start")
    model.body("plate", (0.0, 0.0, HEIGHT), mass=1e-3, inertia=(5e-8, 5e-8, 1e-7))
    model.fix("plate", ["x", "y", "rotation x", "rotation y"])
    model.motion("distance", "plate", "z", f"-{SQUEEZED}")
    model.joint("end", "weld", "plate", "wire:end", point=points[-1])
    model.moment("M", "plate", (0.0, 0.0, -1.0))
    model.sensor("turn", "rotation", on="plate")
    model.static_step(increments=5, name="squeeze", vary=["distance"])
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


def reference() -> dict:
    """Return torque per angle of a close helix, 1/k = l (cos^2 a/EI + sin^2 a/GJ), and how well loads must agree."""
    length = np.hypot(2.0 * np.pi * COILS * RADIUS, HEIGHT)
    sine = (HEIGHT - SQUEEZED) / length
    bending = E * WIDTH * THICKNESS**3 / 12.0
    torsion = 0.5 * E / (1.0 + NU) * 0.19576 * WIDTH * THICKNESS**3  # St. Venant, sides 1.5 : 1
    return {"stiffness": 1.0 / (length * ((1.0 - sine**2) / bending + sine**2 / torsion)), "agreement": 0.005}


def zero(squares: np.ndarray, torques: np.ndarray) -> float:
    """Return the torque at which w^2 vanishes: there the torque has its largest value, M = M_cr + a w^4 + b w^6."""
    s = squares / squares[0]
    return float(np.linalg.lstsq(np.column_stack((np.ones_like(s), s**2, s**3)), torques, rcond=None)[0][0])


def check(f: Findings) -> None:
    known = reference()
    end = solve(path()).steps[-1]
    (critical,) = end.summary["critical_points"]
    count = critical["load_factor"]
    ratios = np.concatenate((np.linspace(0.0, 0.9, 10), (0.95, 0.98, 0.99, 0.995, 0.999)))
    torques, near = ratios * count, (14,)
    steps = solve(loaded(torques, near)).steps[1:]
    turn = -np.unwrap([step.series["sensor/turn"][-1][2] for step in steps if step.type == "static"])
    modes = [step.summary for step in steps if step.type == "complex_modes"]
    frequencies = np.array([[p[1] for p in s["eigenvalues"][:5]] for s in modes])
    factors = [min(x for x in step.summary["load_factors"] if x > 0.0) for step in steps if step.type == "buckling"]
    linear = torques[list(near)] + factors
    turn -= turn[0]
    k = torques[1] / turn[1]
    f.row(
        "B-SPRING",
        "torque per angle at the start [N m]",
        k,
        known["stiffness"],
        "The closed form is that of a close helix, 2 % off.",
        CLOSED_FORM,
        relative=0.02,
    )
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
    vanishing = zero(frequencies[-4:, 0] ** 2, torques[-4:])
    f.row(
        "B-SPRING", "torque at which the lowest frequency vanishes [N m], against the inertia count", vanishing, count,
        "The frequency is extrapolated to zero from .98 to .999 of the load, which leaves 5e-4.", SELF, relative=5e-4,
    )  # fmt: skip
    demanded = known["agreement"]
    f.row(
        "B-SPRING", "linear buckling at .999 of it [N m], against the inertia count", linear[-1], count,
        "Linear buckling takes the stresses as growing linearly; .5 % is demanded.", SELF, relative=demanded,
    )  # fmt: skip
    f.row(
        "B-SPRING", "linear buckling at .999 of it [N m], against the vanishing frequency", linear[-1], vanishing,
        "Two ways to one load must agree within .5 %.", SELF, relative=demanded,
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
