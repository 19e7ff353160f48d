"""Plane frames of the verification manuals of frame programs: eigenvalues, periods, a static load.

The first frame has nine storeys and ten bays.  Its masses are lumped at its joints, half of each member at either end.
The second one has seven storeys and two bays of rolled sections.  Its floors do not stretch, and carry all mass.

      nine storeys of 10 ft              seven storeys, 2 x 13.5 ft and 5 x 13 ft
      ten bays of 20 ft                  two bays of 30 ft, 0.49 kip s2/in each floor
      +--+-- ... --+                     20 -> +-----+-----+   W24x110
      |  |         |   A = 3 ft2         15 -> +-----+-----+
      +--+-- ... --+   I = 1 ft4               :     :     :   kips
      |  |         |   E = 432000 k/ft2 2.5 -> +-----+-----+   W24x160
      #  #         #   m = 3 k s2/ft2          #     #     #   W14x246, W14x287, W14x246

Source: K.J. Bathe, E.L. Wilson, "Large eigenvalue problems in dynamic analysis", J. Eng. Mech. Div. ASCE 98 (1972)
1471-1485, doi:10.1061/JMCEA3.0001693; F.E. Peterson, "EASE2, Elastic analysis for structural engineering, Example
problem manual", Engineering Analysis Corporation, Berkeley 1981; SAP2000, verification manual, Computers and Structures
1997, examples 1 and 2; SeismoStruct, verification report, 2012, examples 10 and 11.  The numbers were read in the
verification examples of OpenSees (Eigen1.tcl, PortalFrame2d.tcl), which print them side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Mesh, Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import printed, program

CAPABILITY = "modes"
CASES = {
    "B-STOREYS": "eigenvalues of a frame of nine storeys and ten bays",
    "B-FLOORS": "periods of a frame of seven storeys with stiff floors, and its sway under lateral forces",
}

BATHE = printed("Bathe, Wilson (1972), as in Eigen1.tcl of OpenSees")
PETERSON = printed("Peterson (1981), as in Eigen1.tcl of OpenSees")
SEISMOSTRUCT = program("SeismoStruct 6, verification report, as in the examples of OpenSees")
SAP = program("SAP2000, verification manual of 1997, as in PortalFrame2d.tcl of OpenSees")

E_STEEL = 29500.0
#: Area and second moment of area of rolled sections [in2, in4].
ROLLED = {
    "W14x176": (51.7, 2150.0), "W14x211": (62.1, 2670.0), "W14x246": (72.3, 3230.0), "W14x287": (84.4, 3910.0),
    "W24x110": (32.5, 3330.0), "W24x130": (38.3, 4020.0), "W24x160": (47.1, 5120.0),
}  # fmt: skip
BEAMS = ("W24x160", "W24x160", "W24x130", "W24x130", "W24x110", "W24x110", "W24x110")
OUTER = ("W14x246", "W14x246", "W14x246", "W14x211", "W14x211", "W14x176", "W14x176")
INNER = ("W14x287", "W14x287", "W14x287", "W14x246", "W14x246", "W14x211", "W14x211")
FORCES = (2.5, 5.0, 7.5, 10.0, 12.5, 15.0, 20.0)  # kips, from the first floor upwards


def grid(columns: int, heights: np.ndarray, bay: float) -> tuple[np.ndarray, list[str], list[tuple[int, int]]]:
    """Return joints of a frame row by row, names of its members, and their joints."""
    points = np.array([(bay * i, y) for y in heights for i in range(columns)])
    members = [(f"column {i} {j}", (j * columns + i, (j + 1) * columns + i)) for j in range(len(heights) - 1)
               for i in range(columns)]  # fmt: skip
    members += [(f"beam {i} {j}", (j * columns + i, j * columns + i + 1)) for j in range(1, len(heights))
                for i in range(columns - 1)]  # fmt: skip
    return points, [name for name, _ in members], [ends for _, ends in members]


def build() -> Model:
    """Return the first frame [kip, ft, s]."""
    model = Model(2, "frame of nine storeys")
    points, _, members = grid(11, 10.0 * np.arange(10), 20.0)
    cells: list[Any] = [("line2", np.array(members))]
    model.mesh("frame", Mesh(points, cells, {"feet": np.arange(11)}))
    model.section("member", "stiffness", EA=3.0 * 432000.0, EI=432000.0, GA=np.inf, rhoA=3.0)
    model.beams("frame", "frame", "member", mass="lumped")
    model.fix("frame:feet")
    model.modes_step(count=3)
    return model


def same_x(a: int | str, b: int) -> list[dict[str, Any]]:
    """Return the terms of u_x(a) - u_x(b) = 0."""
    return [
        {"on": a, "component": "x", "coefficient": 1.0},
        {"on": b, "component": "x", "coefficient": -1.0},
    ]


def build_floors() -> Model:
    """Return the second frame [kip, in, s] with its lateral forces."""
    model = Model(2, "frame of seven storeys")
    heights = np.concatenate(([0.0], np.cumsum([162.0] * 2 + [156.0] * 5)))
    points, names, members = grid(3, heights, 360.0)
    sections = [
        BEAMS[int(floor) - 1] if what == "beam" else (INNER if column == "1" else OUTER)[int(floor)]
        for what, column, floor in (name.split() for name in names)
    ]
    for section, (A, I) in ROLLED.items():
        model.section(section, "stiffness", EA=E_STEEL * A, EI=E_STEEL * I, GA=np.inf, rhoA=0.0)
    kinds = sorted(set(sections))
    blocks: list[Any] = [
        ("line2", np.array([m for m, s in zip(members, sections, strict=True) if s == kind])) for kind in kinds
    ]
    sets = {kind: ((k, np.arange(len(block[1]))),) for k, (kind, block) in enumerate(zip(kinds, blocks, strict=True))}
    floors = {f"floor {j}": 3 * j + np.arange(3) for j in range(8)}
    model.mesh("frame", Mesh(points, blocks, floors, sets))
    for kind in kinds:
        model.beams(kind, f"frame:{kind}", kind)
    model.fix("frame:floor 0")
    for j, force in enumerate(FORCES, start=1):
        left, middle, right = floors[f"floor {j}"]
        for node in (left, right):
            model.equation(f"floor {j} {node}", same_x(int(node), int(middle)))
        # the mass moves with the floor along x, and not upwards
        model.node(f"deck {j}", (360.0, heights[j]))
        model.fix(f"deck {j}", "y")
        model.equation(f"deck {j}", same_x(f"deck {j}", int(middle)))
        model.point_mass(f"mass {j}", f"deck {j}", 0.49)
        model.force(f"force {j}", int(left), (force, 0.0))
    model.sensor("top", "displacement", on=21)
    model.sensor("foot", "reaction", on=0)
    model.linear_static_step()
    model.modes_step(count=7)
    return model


def reference() -> dict:
    """Return eigenvalues [1/s2], periods [s]; of the static load sway [in], axial force [kip] and moment [kip in]."""
    return {
        "Bathe": ("0.589541", "5.52695", "16.5878"), "Peterson": ("0.589541", "5.52696", "16.5879"),
        "SeismoStruct": ("0.58955", "5.527", "16.588"),
        "periods": ("1.2732", "0.4313", "0.2420", "0.1602", "0.1190", "0.0951", "0.0795"),
        "static": {"sway": "1.45076", "axial force": "69.99", "moment": "2324.68"},
    }  # fmt: skip


def check(f: Findings) -> None:
    known = reference()
    values = (2.0 * np.pi * np.array(solve(build()).steps[-1].summary["frequencies_hz"])[:3]) ** 2
    for source, kind in (("Bathe", BATHE), ("Peterson", PETERSON), ("SeismoStruct", SEISMOSTRUCT)):
        for k, text in enumerate(known[source]):
            f.digits(
                "B-STOREYS", f"eigenvalue {k + 1} of the frame of nine storeys [1/s2], {source}", values[k], text, kind
            )
    solution = solve(build_floors())
    periods = 1.0 / np.array(solution.steps[-1].summary["frequencies_hz"])[:7]
    for k, text in enumerate(known["periods"]):
        f.digits("B-FLOORS", f"period {k + 1} of the frame of seven storeys [s]", periods[k], text, SAP)
    numbers = np.arange(1.0, 8.0)
    f.figure(
        "Periods of the frame of seven storeys",
        [Curve(numbers, periods, "fem-mbs", "bar"), published("SAP2000", numbers, known["periods"])],
        "Mode [-]", "Period [s]",
    )  # fmt: skip
    foot = np.abs(solution.sensor("foot").values[0])
    static = {"sway": solution.sensor("top").values[0, 0], "axial force": foot[1], "moment": foot[2]}
    for what, text in known["static"].items():
        f.digits("B-FLOORS", f"{what} under lateral forces, of the top or of the left foot", static[what], text, SAP)
    shapes = solution.steps[-1].frames["displacement"][:, 0:24:3, 0]
    heights = np.concatenate(([0.0], np.cumsum([162.0] * 2 + [156.0] * 5))) / 12.0
    f.figure(
        "Sway in the three lowest modes", [Curve(shape / np.abs(shape).max(), heights, f"mode {k + 1}")
        for k, shape in enumerate(shapes[:3])], "Displacement over its largest value", "Height [ft]",
    )  # fmt: skip
