"""Lateral and torsional buckling with few elements.

Two cantilevers of length 1: a narrow strip under an end force in its stiff direction, which buckles sideways and
twists, and a round shaft under an end torque, which buckles into a helix; and Euler's column.  Linear buckling, K +
lambda Kg at the straight state.  What matters is whether the strains have second-order terms: without them one element
does not buckle at all, with them it is right to a few percent.

      ||=================o          ||=================o >>  M semitangential (turns with half of the rotation)
                         | F            M_th = pi EI/l
      F_th = 4.013 sqrt(EI GJ)/l^2

Source: J.P. Meijaard, "Validation of flexible beam elements in dynamics programs", NATO ASI, Troia 1993, Vol. II,
229-246 (Nonlinear Dyn. 9 (1996), 21-36, doi:10.1007/BF01833291), tables 1 (strip) and 2 (shaft).  The printed 1.2180
(strip, two plain elements) should read 1.2208, which was recomputed; so were the columns, which the paper does not
have.  Ratios do not depend on GJ/EI nor on l.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import jv

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, limit_of, published
from fem_mbs.validation.kinds import CLOSED_FORM, PROPERTY, RECOMPUTED, Kind, printed

CAPABILITY = "buckling"
CASES = {
    "M3": "lateral buckling of a strip, second-order strains, 1, 2, 4 elements",
    "M4": "the same with plain strains",
    "M5": "torsional buckling of a shaft, both strains",
    "M6": "Euler's column with second-order and plain strains",
    "M7": "orders of convergence of the buckling loads",
}
DEVIATIONS = ("Meijaard (1993), table 1: the printed ratio 1.2180 (strip, two plain elements) should read 1.2208.",)

STRIP, SHAFT, EULER = 4.013, np.pi, 0.25 * np.pi**2
STRIP_EXACT = 2.0 * brentq(lambda x: jv(-0.25, x), 1.5, 2.5)  # 4.012599


def build(case: str = "strip", n: int = 1, second_order: bool = True, strains: str = "generalised") -> Model:
    """Return a cantilever along x of n elements; ``case`` is "strip", "shaft" or "column"; EI = 1 where it buckles."""
    model = Model(3, f"buckling, {case}")
    stiff = {"strip": 1e4, "shaft": 1.0, "column": 1.0}[case]
    model.section("beam", "stiffness", EA=1e6, EIy=1.0, EIz=stiff, GJ=1.0, GA=np.inf, rhoA=0.0, rhoI=0.0)
    model.line("beam", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), n)
    model.beams(
        "beam", "beam", "beam", orientation=(0.0, 1.0, 0.0), second_order=second_order, strains=strains
    )  # fmt: skip
    model.fix("beam:start")
    if case == "strip":
        model.force("load", "beam:end", (0.0, 1.0, 0.0))
    elif case == "shaft":
        model.moment("load", "beam:end", (1.0, 0.0, 0.0), kind="semitangential")
    else:
        model.force("load", "beam:end", (-1.0, 0.0, 0.0))
    model.buckling_step(count=4)
    return model


def reference() -> dict:
    """Return ratios of load and theory by numbers of elements: of the paper's tables, or recomputed (`source`)."""
    return {
        ("strip", True): {1: 1.4951, 2: 1.0690, 4: 1.0153},
        ("strip", False): {2: 1.2208, 4: 1.0459},
        ("shaft", True): {1: 1.1027, 2: 1.0075, 4: 1.0005},
        ("shaft", False): {2: 1.2732, 4: 1.0548},
        ("column", True): {1: 1.007522, 2: 1.000512, 4: 1.000033},
        ("column", False): {1: 1.215854, 2: 1.052387, 4: 1.012916},
    }


THEORY = {"strip": STRIP, "shaft": SHAFT, "column": EULER}
ID = {("strip", True): "M3", ("strip", False): "M4", ("shaft", True): "M5", ("shaft", False): "M5",
      ("column", True): "M6", ("column", False): "M6"}  # fmt: skip


def source(case: str, n: int, second_order: bool) -> Kind:
    """Return the kind of a ratio of `reference`."""
    if case == "column" or (case, n, second_order) == ("strip", 2, False):
        return RECOMPUTED
    return printed(f"Meijaard (1993), table {1 if case == 'strip' else 2}")


def factor(case: str, n: int, second_order: bool = True, strains: str = "generalised") -> float:
    """Return the lowest positive load factor; infinite if there is none."""
    factors = solve(build(case, n, second_order, strains)).steps[0].summary["load_factors"]
    positive = [x for x in factors if 0.0 < x < 1e4]
    return min(positive, default=np.inf)


def check(f: Findings) -> None:
    known = reference()
    curves, sizes, printed_errors = [], [], []
    for (case, second), ratios in known.items():
        kind = "second-order" if second else "plain"
        tolerance = 1e-5 if case == "column" else 1e-4
        for n, ratio in ratios.items():
            f.row(
                ID[case, second], f"{case}, {kind} strains, {n} elements: load / theory",
                factor(case, n, second) / THEORY[case], ratio, "The reference has so many digits.",
                source(case, n, second), tolerance=tolerance,
            )  # fmt: skip
        meshes = np.array([2, 4, 8, 16])
        exact = {"strip": STRIP_EXACT, "shaft": SHAFT, "column": EULER}[case]
        errors = np.array([abs(factor(case, n, second) / exact - 1.0) for n in meshes])
        curves.append(Curve(1.0 / meshes, errors, f"{case}, {kind}", "-" if second else "--"))
        for n, ratio in ratios.items():
            if source(case, n, second) is not RECOMPUTED:
                sizes.append(1.0 / n)
                printed_errors.append(abs(ratio * THEORY[case] / exact - 1.0))
        order = np.log2(errors[1] / errors[2])
        expected = 4.0 if second and case != "strip" else 2.0
        f.row(
            "M7", f"order of convergence, 4 to 8 elements, {case}, {kind} strains", order, expected,
            "Two meshes show the order within .15.",
            PROPERTY, tolerance=0.15,
        )  # fmt: skip
        if not second and case != "column":
            f.row(
                "M4" if case == "strip" else "M5", f"{case}, plain strains, 1 element: 1/load",
                1.0 / factor(case, 1, False), 0.0, "One plain element does not buckle.",
                source(case, 1, False), tolerance=1e-4,
            )  # fmt: skip
        others = [factor(case, n, second, "corotational") / exact for n in (8, 16, 32)]
        limit, moved = (float(x) for x in limit_of(others))
        f.row(
            "M7", f"{case}, co-rotational strains, {kind}, limit of 8 to 32 elements: load / theory", limit, 1.0,
            "The change of the limit by the coarsest mesh, and 1e-6 of the axial stiffness EA.", CLOSED_FORM,
            tolerance=moved + 1e-6,
        )  # fmt: skip
    curves.append(published("Meijaard (1993)", sizes, printed_errors))
    f.figure(
        "Error of the buckling loads", curves, "Element length / L", "Relative error", "Generalised strains.", "loglog"
    )  # fmt: skip
