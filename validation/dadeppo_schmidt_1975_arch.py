"""Deep circular arch, clamped and hinged.

An arch of 215 degrees under a force at its crown leans over to its hinge and loses its stability in a limit point,
after displacements as large as its radius.

                 P
               __v__
             /       \\           R = 100, EI = 1e6, EA = GA = 1e8
            |         |          215 degrees from foot to foot
             \\       /
        clamp |     o hinge

Source: D.A. DaDeppo, R. Schmidt, "Instability of clamped-hinged circular arches subjected to a point load", J. Appl.
Mech. 42 (1975), 894-896, doi:10.1115/1.3423734: limit load 8.97 EI/R^2 of the inextensible arch, as quoted by all who
use it.  A. Ibrahimbegovic, "On finite element implementation of geometrically nonlinear Reissner's beam theory:
three-dimensional curved beam elements", Comp. Meth. Appl. Mech. Eng. 122 (1995), 11-26: 897 as the reference and 897.3
by 20 elements of three nodes, in a public extract of the paper.  The boundary-value solution of the arch with these
stiffnesses (`exact`) has its limit at 8.973.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated
from fem_mbs.validation.exact_beam import ExactBeam, M, Q, X, quaternion_of
from fem_mbs.validation.kinds import INDEPENDENT, quoted

CAPABILITY = "beams"
CASES = {"B-ARCH": "limit load of a deep arch, clamped at one foot and hinged at the other"}

RADIUS, EI, EA, HALF = 100.0, 1.0e6, 1.0e8, 107.5
UNIT = EI / RADIUS**2
MESHES = (20, 60, 180)


def build(n: int = 36, dimension: int = 3, strains: str | None = None) -> Model:
    """Return the arch of n elements about the origin, clamped at the left; in space curved, in the plane straight
    elements."""
    model = Model(dimension, "deep arch")
    model.section("arch", "stiffness", EA=EA, GA=EA, EI=EI, GJ=EI, rhoA=0.0)
    angles = np.radians(np.linspace(90.0 + HALF, 90.0 - HALF, n + 1))
    points = np.zeros((n + 1, dimension))
    points[:, 0], points[:, 1] = RADIUS * np.cos(angles), RADIUS * np.sin(angles)
    model.polyline("arch", points, 1)
    model.beams("arch", "arch", "arch", strains=strains, **({"curved": True} if dimension == 3 else {}))
    if dimension == 3:
        model.fix("arch", ["z"])  # the arch stays in its plane
    model.fix("arch:start")
    model.fix("arch:end", ["x", "y", "z"][:dimension])
    crown = f"arch:corner_{n // 2 + 1}"
    model.force("P", crown, -UNIT * np.eye(dimension)[1])
    model.sensor("crown", "displacement", on=crown)
    model.static_step(
        control="arc", until=20.0, on=crown, component="y", displacement=-1.2 * RADIUS, largest=0.1, points=400,
        stability=True,
    )  # fmt: skip
    return model


def reference() -> dict:
    return {"limit": 8.97, "by 20 elements": 8.973}


def exact() -> tuple[float, np.ndarray]:
    """Return limit load over EI/R^2 and path (k, 3) of the exact arch: crown moved down, aside, load."""
    half = np.radians(HALF)
    foot = RADIUS * np.array([np.sin(half), np.cos(half), 0.0])
    start = foot * (-1.0, 1.0, 1.0)
    c, s = np.cos(half), np.sin(half)
    q0 = quaternion_of(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))
    length = 2.0 * half * RADIUS

    def conditions(y, p, down):
        clamp, crown, hinge = y
        return np.concatenate(
            [clamp[X] - start, clamp[Q] - q0, hinge[X] - foot, hinge[M], [crown[1] - RADIUS + down * RADIUS]]
        )

    def load(y, p, down):
        return np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0]) * p[0] * UNIT

    arch = ExactBeam(
        length,
        np.diag(1.0 / np.array([EA, EA, EA, EI, EI, EI])),
        conditions,
        [0.5 * length],
        [load],
        (0.0, 0.0, -1.0 / RADIUS),
        parameters=1,
        intervals=48,
    )
    downs = np.array([0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0, 1.08, 1.12, 1.13, 1.135, 1.14, 1.145, 1.15])
    states = arch.solve(start, q0, downs, (0.0,))
    path = np.array(
        [
            [down, state.place(0.5 * length)[0] / RADIUS, state.parameters[0]]
            for down, state in zip(downs, states, strict=True)
        ]
    )
    # stationary load of the polynomial through the last five points
    quartic = np.polynomial.Polynomial.fit(path[-5:, 0], path[-5:, 2], 4)
    roots = quartic.deriv().roots()
    at = roots[(np.abs(roots.imag) < 1e-12) & (roots.real > 1.12) & (roots.real < 1.16)].real
    return float(quartic(at).max()), path


def check(f: Findings) -> None:
    known, (limit, path) = reference(), exact()
    source = quoted("DaDeppo and Schmidt (1975); Ibrahimbegovic (1995)")
    curves = [Curve(path[:, 0], path[:, 2], "down, exact", "o"), Curve(path[:, 1], path[:, 2], "aside, exact", "o")]
    for dimension, where in ((3, "space"), (2, "plane")):
        limits = []
        for n in MESHES:
            solution = solve(build(n, dimension))
            step = solution.steps[0]
            points = [c for c in step.summary["critical_points"] if c["kind"] == "limit"]
            limits.append(points[0]["load_factor"])
            if n == MESHES[-1]:
                u, load = solution.sensor("crown").values / RADIUS, step.series["load factor"]
                end = int(np.argmax(load)) + 3
                curves += [
                    Curve(-u[:end, 1], load[:end], f"down, {where}"),
                    Curve(u[:end, 0], load[:end], f"aside, {where}"),
                ]
        f.row(
            "B-ARCH", f"limit load over EI/R^2, {MESHES[-1]} elements, {where}", limits[-1], known["limit"],
            "The quoted number has these digits.", source, tolerance=5e-3,
        )  # fmt: skip
        f.row(
            "B-ARCH", f"limit load over EI/R^2 that the meshes tend to, {where}", extrapolated(limits, 3.0), limit,
            "The file solves the boundary-value problem; extrapolation leaves 1e-6.", INDEPENDENT, relative=1e-6,
        )  # fmt: skip
        errors = np.abs(np.array(limits) - limit)
        f.between(
            "B-ARCH", f"order of convergence of the limit load, {MESHES[1]} to {MESHES[2]} elements, {where}",
            np.log(errors[1] / errors[2]) / np.log(3.0), 1.8, 5.0, "The order is 2 at least.",
        )  # fmt: skip
    f.figure("Arch", curves, "Displacement of the crown / R", "Load R^2/EI")
