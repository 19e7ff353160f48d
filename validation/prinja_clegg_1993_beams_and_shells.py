r"""Z-shaped cantilever, a deep cantilever that buckles sideways, a shallow shell that snaps through.

      Z         60 level, 60 up by 30, 60 level; 20 wide, 1.7 thick, E = 2e5; 4000 up at its end
      deep      100 long, 5 high, .2 thick, E = 10 000, G = 5000; a dead force at its end
      shell     E = 69, nu = .3, 100 thick, pressure; on hinges along all edges
                         ____________
                    ___/              \___      rise .00020285 (x (L - x) + y (L - y)) over a square, L = 1570
                    o                    o

Source: N.K. Prinja, R.A. Clegg, "Assembly benchmark tests for 3-D beams and shells exhibiting geometric non-linear
behaviour", NAFEMS R0029, Glasgow 1993, tests 3DNLG-1, 4 and 7.  The numbers were read in the verification manual of
ANSYS Mechanical APDL (problems VMR029-T1, T4 and T7), which prints them after these tests; the points of the shell's
path are those of a figure.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, extrapolated, limit_of, published
from fem_mbs.validation.kinds import Kind, in_ansys_manual
from fem_mbs.validation.shell_grids import shell, square

CAPABILITY = "buckling"
CASES = {
    "B-Z": "deflection of a Z-shaped cantilever that is pulled straight",
    "B-LATERAL": "lateral buckling of a deep cantilever",
    "S-SHALLOW": "path of a shallow shell that snaps through under pressure",
}
DEVIATIONS = (
    "Prinja and Clegg (1993), 3DNLG-7, as in VMR029-T7: limit pressures .06495 and .03084 stand beside a path whose "
    "points are .063 and .03; the path is the reference here.",
    "Prinja and Clegg (1993), 3DNLG-7, as in VMR029-T7: a pressure of .1012 at the deflection 303.1; meshes of 4, 8 "
    "and 16 elements of 8 nodes along a side give .1011, .1009 and .1008.  The mesh of the source is not known.",
)


def source(test: int) -> Kind:
    return in_ansys_manual(f"Prinja and Clegg (1993), test 3DNLG-{test}", f"VMR029-T{test}")


def reference() -> dict:
    """Return the deflection of the Z, the load of lateral buckling, and the pressures of the shell by the deflection of
    its middle."""
    return {
        "Z": "143.43",
        "deep": "0.01892",
        "shell": {"30": "0.042", "60": "0.06", "90": "0.063", "120": "0.056", "150": "0.048", "180": "0.037",
                  "210": "0.031", "240": "0.03", "270": "0.05", "300": "0.096"},
        "end": {"303.1": "0.1012"},
    }  # fmt: skip


def build(n: int = 18) -> Model:
    """Return the Z of 3 n elements."""
    model = Model(2, "Z-shaped cantilever")
    E, width, thickness = 2e5, 20.0, 1.7
    model.section("strip", "stiffness", EA=E * width * thickness, EI=E * width * thickness**3 / 12.0, GA=np.inf,
                  rhoA=0.0)  # fmt: skip
    model.polyline("Z", [(0.0, 0.0), (60.0, 0.0), (120.0, 30.0), (180.0, 30.0)], n)
    model.beams("Z", "Z", "strip")
    model.fix("Z:start")
    model.force("P", "Z:end", (0.0, 4000.0))
    model.sensor("end", "displacement", on="Z:end")
    model.static_step(increments=40)
    return model


def deep(n: int) -> Model:
    model = Model(3, "deep cantilever")
    E, G, h, b = 1e4, 5000.0, 5.0, 0.2
    model.section("deep", "stiffness", EA=E * b * h, EIy=E * h * b**3 / 12.0, EIz=E * b * h**3 / 12.0,
                  GJ=G * h * b**3 / 3.0, GA=np.inf, rhoA=0.0)  # fmt: skip
    model.line("beam", (0.0, 0.0, 0.0), (100.0, 0.0, 0.0), n)
    model.beams("beam", "beam", "deep")
    model.fix("beam:start")
    model.force("P", "beam:end", (0.0, 1.0, 0.0))
    model.buckling_step(count=2, sign="positive")
    return model


def shallow(n: int = 8) -> Model:
    """Return a quarter of the shell, its middle pushed down by 300 in ten increments."""
    side = 785.0

    def place(a, b):
        x, y = side * a, side * b
        return x, y, 0.00020285 * (2.0 * side**2 - x**2 - y**2)

    model = shell(square(place, n, n, "quad8"), 69.0, 0.3, 100.0)
    model.fix("s:bottom", ["y", "rotation x", "rotation z"])
    model.fix("s:left", ["x", "rotation y", "rotation z"])
    for edge in ("right", "top"):
        model.fix(f"s:{edge}", ["x", "y", "z"])
    model.pressure("p", "s:body", 1.0)
    model.sensor("middle", "displacement", on="s:a")
    model.static_step(10, "path", control="displacement", on="s:a", component="z", displacement=-300.0)
    return model


def check(f: Findings) -> None:
    known = reference()
    solution, coarse = solve(build()), solve(build(9))
    u, share = solution.sensor("end").values, solution.steps[0].series["load factor"]
    ends = [coarse.sensor("end").values[-1, 1], u[-1, 1]]
    f.digits("B-Z", "deflection of the end of the Z, h -> 0", float(extrapolated(ends, 2.0)), known["Z"], source(1))
    loads = [solve(deep(n)).steps[0].summary["load_factors"][0] for n in (8, 16, 32)]
    f.digits("B-LATERAL", "load of lateral buckling, h -> 0", float(extrapolated(loads, 2.0)), known["deep"], source(4))
    paths = [solve(shallow(n)).steps[0].series["load factor"].ravel() for n in (4, 8)]
    pressure, moved = limit_of(paths)
    down = 30.0 * np.arange(len(pressure))
    slope = np.abs(np.gradient(pressure, down))
    for (place, text), value, steep, left in zip(
        known["shell"].items(), pressure[1:], slope[1:], moved[1:], strict=True
    ):
        f.row(
            "S-SHALLOW", f"pressure at the deflection {place} of the middle, h -> 0", value, float(text),
            "Points of a figure are read to a hundredth of its axes, .1 and 300; twice the change of the limit by the "
            "coarser of two meshes.", source(7), tolerance=0.01 * 0.1 + 0.01 * 300.0 * steep + 2.0 * left,
        )  # fmt: skip
    f.figure(
        "Z-shaped cantilever",
        [Curve(u[:, 1], 4000.0 * share.ravel(), "fem-mbs"), published("Prinja and Clegg (1993)", known["Z"], "4000")],
        "Deflection of the end", "Load",
    )  # fmt: skip
    points = known["shell"] | known["end"]
    f.figure(
        "Shallow shell under pressure",
        [Curve(down, pressure, "fem-mbs", "o-"),
         published("Prinja and Clegg (1993)", list(points), list(points.values()))],
        "Deflection of the middle", "Pressure",
    )  # fmt: skip
