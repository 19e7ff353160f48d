"""A stepped rotor with a disc on two bearings: whirl speeds for whirl ratios 1, 2 and 4, with coupled bearings too.

A shaft of eighteen pieces, partly bored, carries a disc near its first end.  The critical speeds are those at which a
whirl frequency is a given multiple of the speed; with isotropic bearings, and with bearings whose directions are
coupled by stiffnesses outside of the diagonal.

                 disc
            __    ||     ____   ___      bearings at .1651 and .2870 m: 4.378e7 N/m,
          _|  |___||____|    |_|   |     or 3.503e7 N/m along each direction and
           |  |   ||    |    | |   |     -8.756e6 N/m between them
                  ||     A      A        E = 2.078e11 Pa, 7806 kg/m^3, without shear

Source: H.D. Nelson, J.M. McVaugh, "The dynamics of rotor-bearing systems using finite elements", J. Eng. for Industry
98 (1976), 593-600.  The numbers were read in the verification manual of ANSYS Mechanical APDL (problems VM247, 254 and
263; rpm), which prints them after this paper.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings, published
from fem_mbs.validation.kinds import in_ansys_manual

CAPABILITY = "rotors"
CASES = {"B-WHIRL": "critical speeds of a stepped rotor on isotropic and on coupled bearings"}

AXIS = (1.0, 0.0, 0.0)
PLACES = (
    0.0, 1.27, 5.08, 7.62, 8.89, 10.16, 10.67, 11.43, 12.70, 13.46, 16.51, 19.05, 22.86, 26.67, 28.70, 30.48, 31.50,
    34.54, 35.50,
)  # fmt: skip
OUTER = (
    1.02, 2.04, 1.52, 4.06, 4.06, 6.60, 6.60, 5.08, 5.08, 2.54, 2.54, 3.04, 3.04, 2.54, 2.54, 7.62, 4.06, 4.06,
)  # fmt: skip
BORES = {6: 3.04, 7: 3.56, 17: 3.04}
BEARINGS = {"isotropic": 4.378e7, "coupled": [[3.503e7, -8.756e6], [-8.756e6, 3.503e7]]}
RPM = np.pi / 30.0
WHY = "1e-2: lengths and diameters of three digits; elements by the pieces of the shaft, as in the paper"
WHIRL = ("forward", "backward")  # and not torsion


def build(bearings: str = "isotropic") -> Model:
    """Return the rotor without steps."""
    model = Model(3, "stepped rotor")
    model.material("steel", E=2.078e11, nu=0.3, density=7806.0)
    for i, x in enumerate(PLACES):
        model.node(f"n{i}", (x / 100.0, 0.0, 0.0))
    for i, outer in enumerate(OUTER):
        if i in BORES:
            model.section(f"s{i}", "tube", outer_diameter=outer / 100.0, inner_diameter=BORES[i] / 100.0)
        else:
            model.section(f"s{i}", "circle", diameter=outer / 100.0)
        model.beams(f"b{i}", [f"n{i}", f"n{i + 1}"], f"s{i}", "steel", shear=False)
    model.disc("disc", "n4", 1.401, polar=0.002, diametral=0.00136, axis=AXIS)
    stiffness: Any = BEARINGS[bearings]
    for i in (10, 14):
        model.bearing(f"bearing {i}", f"n{i}", stiffness=stiffness, axis=AXIS)
    model.fix("n0", ["x"])
    model.rotor("rotor", axis=AXIS)
    return model


def reference() -> dict:
    """Return whirl speeds [rpm] by the ratio of whirl to speed, and those on coupled bearings."""
    return {
        1.0: (15470.0, 17159.0, 46612.0, 49983.0, 64752.0, 96457.0),
        2.0: (7929.0, 8350.0, 23760.0, 24602.0, 34820.0, 42776.0),
        4.0: (4015.0, 4120.25, 11989.25, 12200.0, 18184.25, 20162.25),
        "coupled": (10747.0, 19665.0, 39077.0, 47549.0),
    }


def _crossing(speeds: np.ndarray, whirl: np.ndarray, order: float) -> float:
    """Return the speed at which the spline through a branch is ``order`` times the speed."""
    roots = CubicSpline(speeds, whirl - order * speeds).roots(extrapolate=False)
    return float(roots[0])


def check(f: Findings) -> None:
    known = reference()
    paper = "Nelson and McVaugh (1976)"
    model = build()
    model.campbell_step("rotor", {"start": 0.0, "end": 105000.0 * RPM, "n": 10}, count=7, frame="fixed")
    summary = solve(model).steps[-1].summary
    speeds = np.array(summary["speeds"]) / RPM
    branches = [b for b in summary["branches"] if set(WHIRL) & set(b["whirl"])]
    for order, problem in ((1.0, "VM247"), (2.0, "VM263"), (4.0, "VM247")):
        if order == 1.0:
            found = sorted(c["speed"] / RPM for c in summary["critical_speeds"] if c["whirl"] in WHIRL)
        else:
            found = sorted(_crossing(speeds, np.array(b["eigenvalues"])[:, 1] / RPM, order) for b in branches)
        for k, speed in enumerate(known[order]):
            f.row(
                "B-WHIRL", f"critical speed {k + 1}, whirl {order:g} times the speed [rpm]", found[k], speed, WHY,
                in_ansys_manual(f"{paper}, isotropic bearings, ratio {order:g}", problem), relative=1e-2,
            )  # fmt: skip
    model = build("coupled")
    model.complex_modes_step(count=6, rotor="rotor", speed=1e5 * RPM, frame="fixed")
    p = np.array(solve(model).steps[-1].summary["eigenvalues"])
    whirl = np.sort(p[p[:, 1] > 0.0, 1]) / RPM
    for k, speed in enumerate(known["coupled"]):
        f.row(
            "B-WHIRL", f"whirl speed {k + 1} on coupled bearings at 100 000 rpm [rpm]", whirl[k], speed, WHY,
            in_ansys_manual(f"{paper}, coupled bearings", "VM254"), relative=1e-2,
        )  # fmt: skip
    f.figure(
        "Campbell diagram, isotropic bearings",
        [Curve(speeds, np.array(b["eigenvalues"])[:, 1] / RPM, f"mode {k + 1}, {b['whirl'][-1]}")
         for k, b in enumerate(summary["branches"])] + [Curve(speeds, speeds, "once per turn", ":")]
        + [published("Nelson, McVaugh (1976)" if order == 1.0 else "", known[order], order * np.array(known[order]))
           for order in (1.0, 2.0, 4.0)],
        "Speed [rpm]", "Whirl [rpm]",
    )  # fmt: skip
