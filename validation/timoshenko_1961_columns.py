"""Columns, shafts and strips: classical buckling loads.

Euler's columns with four kinds of ends; Greenhill's shaft, whose ends are pinned, under a torque that stays axial and a
thrust; and the lateral buckling of a narrow cantilever.  All by linear buckling of spatial beams, the columns by the
nonlinear path too.

      Euler       clamped-free, pinned-pinned, clamped-pinned, clamped-clamped: 2.4674, 9.8696, 20.1907, 39.4784 EI/L^2
      Greenhill   (M/2 EI)^2 + P/EI = (pi/L)^2, so that M = 2 pi EI/L without thrust
      Strip       F = 4.0126 sqrt(EI GJ)/L^2, twice the first root of J_-1/4

An axial torque has no potential: its geometric stiffness is unsymmetric, and the factor is a load of divergence.  (With
a universal joint at one end, which turns the direction of its torque, the shaft buckles at two thirds of it.)

Source: S.P. Timoshenko, J.M. Gere, "Theory of elastic stability", 2nd ed., McGraw-Hill 1961, sections 2.2, 2.21, 6.3;
A.G. Greenhill, Proc. Inst. Mech. Eng. 34 (1883), 182-225.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import jv

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, limit_of
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "buckling"
CASES = {
    "B-EULER": "Euler's columns, linear and on the nonlinear path",
    "B-GREENHILL": "pinned shaft under axial torque and thrust",
    "B-STRIP": "lateral buckling of a narrow cantilever",
}

ENDS = {
    "clamped-free": 0.25 * np.pi**2,
    "pinned-pinned": np.pi**2,
    "clamped-pinned": brentq(lambda x: np.tan(x) - x, 4.4, 4.6) ** 2,
    "clamped-clamped": 4 * np.pi**2,
}
STRIP = 2.0 * brentq(lambda x: jv(-0.25, x), 1.5, 2.5)


def beam(strains: str, n: int, EIz: float = 1e4, GJ: float = 1.0) -> Model:
    """Return a beam of length 1 along x with EIy = 1."""
    model = Model(3, "column")
    model.section("beam", "stiffness", EA=1e7, EIy=1.0, EIz=EIz, GJ=GJ, GA=np.inf, rhoA=0.0, rhoI=0.0)
    model.line("beam", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), n)
    model.beams("beam", "beam", "beam", strains=strains, orientation=(0.0, 1.0, 0.0))
    return model


def build(ends: str = "clamped-free", strains: str = "exact", n: int = 16) -> Model:
    """Return a column that is soft in the x-z plane."""
    model = beam(strains, n)
    first, second = ends.split("-")
    if first == "clamped":
        model.fix("beam:start")
    else:
        axis = (0.0, 1.0, 0.0)
        model.joint("start", "revolute", "ground", "beam:start", point=(0.0, 0.0, 0.0), axis=axis)
    if second != "free":
        model.fix("beam:end", ["y", "z"])
    if second == "clamped":
        model.fix("beam:end", ["rotation"])
    model.force("P", "beam:end", (-1.0, 0.0, 0.0))
    return model


def shaft(strains: str, thrust: float = 0.0, n: int = 32) -> Model:
    """Return a shaft on pinned ends under opposite axial torques; a torsion spring without torque keeps it from
    turning."""
    model = beam(strains, n, EIz=1.0, GJ=1e4)
    model.fix("beam:start", ["x", "y", "z"])
    model.fix("beam:end", ["y", "z"])
    model.torsion_spring("hold", "ground", "beam:start", 10.0, axis=(1.0, 0.0, 0.0))
    model.force("P", "beam:end", (-thrust, 0.0, 0.0))
    for name, where, torque in (("M start", "beam:start", -1.0), ("M end", "beam:end", 1.0)):
        model.moment(name, where, (torque, 0.0, 0.0))
    if thrust:
        model.static_step(vary="P")
    model.buckling_step(count=4, loads=["M start", "M end"])
    return model


def strip(strains: str, n: int, GJ: float) -> Model:
    """Return a cantilever of n elements under an end force in its stiff plane."""
    model = beam(strains, n, GJ=GJ)
    model.fix("beam:start")
    model.force("F", "beam:end", (0.0, 1.0, 0.0))
    model.buckling_step(count=4)
    return model


def reference() -> dict:
    return {"euler": ENDS, "greenhill": 2.0 * np.pi, "strip": STRIP}


def _positive(model: Model, step: int = 0) -> float:
    return min(x for x in solve(model).steps[step].summary["load_factors"] if x > 0.0)


def check(f: Findings) -> None:
    known = reference()
    thrusts = np.array([-0.8, -0.4, 0.0, 0.4, 0.8])
    curves = [Curve(np.linspace(-1.0, 1.0, 101), 2.0 * np.sqrt(1.0 - np.linspace(-1.0, 1.0, 101)), "Greenhill")]
    for strains in ("exact", "generalised", "corotational"):
        for ends, exact in known["euler"].items():
            mesh = exact**2 / 16.0**4 / 720.0
            model = build(ends, strains)
            model.buckling_step(count=2)
            f.row(
                "B-EULER", f"{ends}, {strains} strains, linear, 16 elements", _positive(model), exact,
                "(b h)^4/720 of cubic elements of the length h, b the wave number, and 1e-7 of the axial stiffness EA.",
                CLOSED_FORM, relative=mesh + 1e-7,
            )  # fmt: skip
            model = build(ends, strains)
            model.static_step(increments=4, until=1.3 * exact, stability=True)
            found = solve(model).steps[0].summary["critical_points"]
            f.row(
                "B-EULER", f"{ends}, {strains} strains, first critical point of the path", found[0]["load_factor"],
                exact, "The mesh as before, and P/EA, by which the column is shortened.", CLOSED_FORM,
                relative=mesh + 2.0 * exact / 1e7,
            )  # fmt: skip
            f.zero(
                "B-EULER",
                f"kind of it, {ends}, {strains} strains (0: bifurcation)",
                found[0]["kind"] != "bifurcation",
                0.0,
                "The step reports the critical points and their kinds.",
            )
        half, helix = 0.5 * np.pi**2, (2.0 * np.pi / 32.0) ** 4 / 720.0 + 1e-7
        f.row(
            "B-GREENHILL", f"torque without thrust, {strains} strains, 32 elements", _positive(shaft(strains)),
            known["greenhill"],
            "(b h)^4/720 of cubic elements, b = 2 pi the wave number of the helix, and 1e-7 of the axial stiffness EA.",
            CLOSED_FORM, relative=helix,
        )  # fmt: skip
        f.row(
            "B-GREENHILL", f"torque with half of Euler's thrust, {strains} strains", _positive(shaft(strains, half), 1),
            known["greenhill"] * np.sqrt(0.5), "The mesh as before, and P/EA, by which the shaft is shortened.",
            CLOSED_FORM, relative=helix + half / 1e7,
        )  # fmt: skip
        for ratio in (0.5, 2.0):
            meshes = [_positive(strip(strains, n, ratio)) / np.sqrt(ratio) for n in (8, 16, 32)]
            limit, moved = (float(x) for x in limit_of(meshes))
            f.row(
                "B-STRIP", f"end force over sqrt(EI GJ)/L2, GJ/EI = {ratio:g}, {strains} strains, limit of 8 to 32",
                limit, known["strip"],
                "The change of the limit by the coarsest mesh, and 1e-7 of the axial stiffness EA.", CLOSED_FORM,
                tolerance=moved + 1e-7 * known["strip"],
            )  # fmt: skip
        torques = [_positive(shaft(strains, p * np.pi**2, 16), int(p != 0.0)) / np.pi for p in thrusts]
        curves.append(Curve(thrusts, np.array(torques), f"{strains} strains, 16 elements", style="o"))
    f.figure("Torque that buckles a pinned shaft under thrust", curves, "Thrust / (pi^2 EI/L^2)", "Torque / (pi EI/L)")
