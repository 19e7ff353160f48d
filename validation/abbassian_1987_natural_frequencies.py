"""Natural frequencies: a cross of eight arms, a cantilever with masses beside its axis, a free annulus in its plane.

      test 2    eight arms of 5 m, .125 x .125 m, hinged outside, rigid in the middle; in their plane
      test 4    cantilever of 10 m, .5 m thick, with 10 t and 1 t 2 m beside its end
      test 33   free annulus of radii 1.8 and 6 m, .06 m thick, in its plane

         \\ | /                |                   o 10 t         ___
        --- ---       test 4   |==================|            /  _  \\
         / | \\                |                   o 1 t       |  (_)  |   test 33
        test 2                                                  \\ ___ /

      E = 200 GPa, nu = .3, 8000 kg/m^3

Source: F. Abbassian, D.J. Dawswell, N.C. Knowles, "Selected benchmarks for natural frequency analysis", NAFEMS 1987,
tests 2, 4 and 33.  The targets were read in the verification manual of ANSYS Mechanical APDL (problems VMP09-T2, T4
and T33), which prints them.  Beams are without shear, and the arms of the cross do not stretch and have no rotary
inertia, as in the targets.  The annulus is solved with Bessel functions, and compared with these.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import jv, jvp, yv, yvp

from fem_mbs import Mesh, Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import CLOSED_FORM, Kind, in_ansys_manual
from fem_mbs.validation.shell_grids import square

CAPABILITY = "modes"
CASES = {
    "B-CROSS": "frequencies of a cross of eight arms in its plane, with many equal ones",
    "B-BESIDE": "frequencies of a cantilever with masses beside its axis",
    "S-ANNULAR": "frequencies of a free annulus in its plane",
}

DEVIATIONS = (
    "Abbassian et al. (1987), test 33: the squares of the targets lie 870 to 950 Hz^2 above those of the annulus, "
    "by the same from 129 to 377 Hz, as if a spectral shift were left in; Bessel functions give 224.20 for 226.17 "
    "and 125.70 for 129.24, and rows compare with these. SOLIDWORKS Simulation 2025 finds 125.9 for 129.24.",
)

E, NU, DENSITY, SIDE = 200e9, 0.3, 8000.0, 0.125


def source(test: int) -> Kind:
    return in_ansys_manual(f"Abbassian et al. (1987), test {test}", f"VMP09-T{test}")


def reference() -> dict:
    """Return the targets [Hz]; of the annulus those without rigid motions."""
    return {
        2: ("11.336", *["17.709"] * 7, "45.345", *["57.390"] * 7),
        4: ("1.723", "1.727", "7.413", "9.972", "18.155", "26.957"),
        33: ("129.240", "129.240", "226.17", "234.74", "234.74", "264.66", "264.66", "336.61", "336.61", "376.79",
             "376.79"),
    }  # fmt: skip


def build(n: int = 24) -> Model:
    """Return the cross with its modes, n elements in each arm, which hardly stretches and has no rotary inertia."""
    model = Model(2, "cross")
    area, inertia = SIDE**2, SIDE**4 / 12.0
    model.section("bar", "stiffness", EA=1e4 * E * area, EI=E * inertia, GA=np.inf, rhoA=DENSITY * area,
                  rhoI=0.0)  # fmt: skip
    model.node("middle", (0.0, 0.0))
    for k in range(8):
        turn = 0.25 * np.pi * k
        names = ["middle", *(f"arm {k} {i}" for i in range(1, n + 1))]
        for i, name in enumerate(names[1:], start=1):
            model.node(name, (5.0 * i / n * np.cos(turn), 5.0 * i / n * np.sin(turn)))
        for i in range(n):
            model.beams(f"arm {k} {i}", names[i : i + 2], "bar")
        model.fix(names[-1], ["x", "y"])
    model.modes_step(count=16)
    return model


def cantilever(n: int = 40) -> Model:
    """Return the cantilever with masses beside its end, and its modes."""
    model = Model(3, "cantilever with masses")
    model.material("steel", E=E, nu=NU, density=DENSITY)
    model.section("round", "circle", diameter=0.5)
    model.line("beam", (0.0, 0.0, 0.0), (10.0, 0.0, 0.0), n)
    model.beams("beam", "beam", "round", "steel", shear=False)
    model.fix("beam:start")
    model.point_mass("heavy", "beam:end", 10e3, offset=(0.0, 2.0, 0.0))
    model.point_mass("light", "beam:end", 1e3, offset=(0.0, -2.0, 0.0))
    model.modes_step(count=6)
    return model


def annulus(about_x: str, about_y: str, nr: int = 6, n: int = 10) -> Model:
    """Return a quarter of the annulus whose motions are symmetric ("even") or skew ("odd") about its radii."""
    cells = square(lambda u, v: ((1.8 + 4.2 * u) * np.cos(0.5 * np.pi * v), (1.8 + 4.2 * u) * np.sin(0.5 * np.pi * v),
                                 0.0 * u), nr, n, "quad8")  # fmt: skip
    model = Model(2, "annulus")
    model.material("steel", E=E, nu=NU, density=DENSITY)
    model.mesh("a", Mesh(cells.points[:, :2], cells.blocks, cells.node_sets))
    model.planes("annulus", "a", "steel", thickness=0.06)
    model.fix("a:bottom", ["y" if about_x == "even" else "x"])
    model.fix("a:top", ["x" if about_y == "even" else "y"])
    model.modes_step(count=5)
    return model


def frequencies(model: Model) -> np.ndarray:
    """Return the frequencies of the last step [Hz], without those of rigid motions."""
    summary = solve(model).steps[-1].summary
    return np.array(summary["frequencies_hz"])[summary["rigid_body_modes"] :]


def determinant(w: float, n: int, radii: tuple[float, float] = (1.8, 6.0)) -> float:
    """Return the determinant that vanishes if w [rad/s] is a frequency of the annulus with n waves round it.

    Displacements are grad p + curl q.  p combines J_n(a r) and Y_n(a r), times cos; q combines J_n(b r) and Y_n(b r),
    times sin.  The four rows are the stresses across and along both rims.
    """
    shear, lame = 0.5 * E / (1.0 + NU), E * NU / (1.0 - NU**2)
    a, b = w * np.sqrt(DENSITY * (1.0 - NU**2) / E), w * np.sqrt(DENSITY / shear)
    rows = []
    for r in radii:
        across, along = [], []
        for f, d in ((jv, jvp), (yv, yvp)):
            p, p1, p2 = f(n, a * r), a * d(n, a * r), a * a * d(n, a * r, 2)
            across.append(2.0 * p2 - lame / shear * a * a * p)
            along.append(2.0 * n * (p / r**2 - p1 / r))
        for f, d in ((jv, jvp), (yv, yvp)):
            q, q1, q2 = f(n, b * r), b * d(n, b * r), b * b * d(n, b * r, 2)
            across.append(2.0 * n * (q1 / r - q / r**2))
            along.append(q1 / r - q2 - n * n * q / r**2)
        rows += [across, along]
    return float(np.linalg.det(np.array(rows)))


def exact_annulus() -> np.ndarray:
    """Return the frequencies (11,) [Hz] below 400 Hz; all but breathing (n = 0) are double."""
    grid = 2.0 * np.pi * np.linspace(20.0, 400.0, 191)
    found = []
    for n in range(6):
        values = [determinant(w, n) for w in grid]
        for k in np.flatnonzero(np.diff(np.sign(values))):
            found += [brentq(determinant, grid[k], grid[k + 1], (n,)) / (2.0 * np.pi)] * (2 if n else 1)
    return np.sort(found)


def check(f: Findings) -> None:
    known = reference()
    cross, masses = frequencies(build()), frequencies(cantilever())
    for k, text in enumerate(known[2]):
        f.digits(
            "B-CROSS", f"frequency {k + 1} of the cross [Hz]", cross[k], text, source(2), error=1e-5,
            why="24 cubic elements in each arm, (7.07/24)^4/1440",
        )  # fmt: skip
    for k, text in enumerate(known[4]):
        f.digits(
            "B-BESIDE", f"frequency {k + 1} of the cantilever with masses [Hz]", masses[k], text, source(4),
            error=6.5e-5, why="twist, linear in each of 40 elements: (pi/80)^2/24",
        )  # fmt: skip
    meshes = []
    for nr in (6, 12):
        parts = [frequencies(annulus(a, b, nr, 2 * nr)) for a in ("even", "odd") for b in ("even", "odd")]
        meshes.append(np.sort(np.concatenate(parts))[: len(known[33])])
    exact_ones = exact_annulus()
    for k, (coarse, fine, exact) in enumerate(zip(*meshes, exact_ones, strict=True)):
        f.row(
            "S-ANNULAR", f"frequency {k + 1} of the annulus [Hz]", fine, exact,
            "1/7 of the change from cells of 1/6 to cells of 1/12 of the width: the order is 3 or more", CLOSED_FORM,
            tolerance=(coarse - fine) / 7.0,
        )  # fmt: skip
    found = meshes[-1]
    for title, values, texts in (
        ("Cross of eight arms", cross, known[2]), ("Cantilever with masses", masses, known[4]),
        ("Annulus", found, known[33]),
    ):  # fmt: skip
        order = np.arange(1.0, len(texts) + 1.0)
        curves = [Curve(order, values, "fem-mbs", "bar"), published("Abbassian et al. (1987)", order, texts)]
        if title == "Annulus":
            curves.append(Curve(order, exact_ones, "Bessel functions", "o"))
        f.figure(title, curves, "Mode", "Frequency [Hz]")
