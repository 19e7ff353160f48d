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
98 (1976), 593-600.  Lengths and radii are tenths of an inch, which it prints in cm, rounded.  The numbers were read
in the verification manual of ANSYS Mechanical APDL (problems VM247, 254 and 263; rpm), which prints them after this
paper.
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
INCH = 0.0254
PLACES = (
    0.0, 0.5, 2.0, 3.0, 3.5, 4.0, 4.2, 4.5, 5.0, 5.3, 6.5, 7.5, 9.0, 10.5, 11.3, 12.0, 12.4, 13.6, 14.0,
)  # fmt: skip
RADII = (0.2, 0.4, 0.3, 0.8, 0.8, 1.3, 1.3, 1.0, 1.0, 0.5, 0.5, 0.6, 0.6, 0.5, 0.5, 1.5, 0.8, 0.8)
BORES = {6: 0.6, 7: 0.7, 17: 0.6}
#: data of few digits, and half a unit of their last one: disc [kg, kg m^2], density [kg/m^3], E [Pa]
DATA = {"mass": 1.401, "polar": 0.002, "diametral": 0.00136, "density": 7806.0, "E": 2.078e11}
HALF = {"mass": 5e-4, "polar": 5e-5, "diametral": 5e-6, "density": 0.5, "E": 5e7}
BEARINGS = {"isotropic": 4.378e7, "coupled": [[3.503e7, -8.756e6], [-8.756e6, 3.503e7]]}
RPM = np.pi / 30.0
WHY = (
    "The sum of the changes by half a unit of the last digit of each datum of the disc and the steel, by half a unit "
    "of the bearings' fourth digit, and by lengths rounded to .01 cm; 1 rpm of the print; and (b h)^4/1440 of the "
    "longest piece, b h = .6 in the highest mode."
)
MESH = 0.6**4 / 1440.0
WHIRL = ("forward", "backward")  # and not torsion


def build(bearings: str = "isotropic", softer: float = 1.0, rounded: bool = False, **data: float) -> Model:
    """Return the rotor without steps, with other ``data`` than `DATA`, ``softer`` bearings, and lengths and radii
    ``rounded`` to .01 cm, as they are printed."""
    data = DATA | data

    def metres(x: float) -> float:
        return round(100.0 * INCH * x, 2) / 100.0 if rounded else INCH * x

    model = Model(3, "stepped rotor")
    model.material("steel", E=data["E"], nu=0.3, density=data["density"])
    for i, x in enumerate(PLACES):
        model.node(f"n{i}", (metres(x), 0.0, 0.0))
    for i, radius in enumerate(RADII):
        if i in BORES:
            bore = 2.0 * metres(BORES[i])
            model.section(f"s{i}", "tube", outer_diameter=2.0 * metres(radius), inner_diameter=bore)
        else:
            model.section(f"s{i}", "circle", diameter=2.0 * metres(radius))
        model.beams(f"b{i}", [f"n{i}", f"n{i + 1}"], f"s{i}", "steel", shear=False)
    model.disc("disc", "n4", data["mass"], polar=data["polar"], diametral=data["diametral"], axis=AXIS)
    stiffness: Any = np.asarray(BEARINGS[bearings]) / softer
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


def diagram(**data: Any) -> dict:
    """Return the summary of the Campbell diagram on isotropic bearings."""
    model = build(**data)
    model.campbell_step("rotor", {"start": 0.0, "end": 105000.0 * RPM, "n": 10}, count=7, frame="fixed")
    return solve(model).steps[-1].summary


def critical(summary: dict, order: float) -> np.ndarray:
    """Return the six speeds [rpm] at which a whirl is ``order`` times the speed."""
    if order == 1.0:
        return np.sort([c["speed"] / RPM for c in summary["critical_speeds"] if c["whirl"] in WHIRL])[:6]
    speeds = np.array(summary["speeds"]) / RPM
    branches = [b for b in summary["branches"] if set(WHIRL) & set(b["whirl"])]
    return np.sort([_crossing(speeds, np.array(b["eigenvalues"])[:, 1] / RPM, order) for b in branches])[:6]


def coupled(**data: Any) -> np.ndarray:
    """Return the four lowest whirl speeds [rpm] on coupled bearings at 100 000 rpm."""
    model = build("coupled", **data)
    model.complex_modes_step(count=6, rotor="rotor", speed=1e5 * RPM, frame="fixed")
    p = np.array(solve(model).steps[-1].summary["eigenvalues"])
    return np.sort(p[p[:, 1] > 0.0, 1])[:4] / RPM


def check(f: Findings) -> None:
    known = reference()
    paper = "Nelson and McVaugh (1976)"
    summary = diagram()
    speeds = np.array(summary["speeds"]) / RPM
    changes: list[dict[str, Any]] = [{name: DATA[name] + half} for name, half in HALF.items()]
    changes += [{"softer": 1.0 + 5e-4 / 3.503}, {"rounded": True}]
    others, pairs = [diagram(**change) for change in changes], [coupled(**change) for change in changes]
    for order, problem in ((1.0, "VM247"), (2.0, "VM263"), (4.0, "VM247")):
        found = critical(summary, order)
        left = sum(np.abs(critical(other, order) - found) for other in others) + 1.0 + MESH * found
        for k, speed in enumerate(known[order]):
            f.row(
                "B-WHIRL", f"critical speed {k + 1}, whirl {order:g} times the speed [rpm]", found[k], speed, WHY,
                in_ansys_manual(f"{paper}, isotropic bearings, ratio {order:g}", problem), tolerance=left[k],
            )  # fmt: skip
    whirl = coupled()
    left = sum(np.abs(pair - whirl) for pair in pairs) + 1.0 + MESH * whirl
    for k, speed in enumerate(known["coupled"]):
        f.row(
            "B-WHIRL", f"whirl speed {k + 1} on coupled bearings at 100 000 rpm [rpm]", whirl[k], speed, WHY,
            in_ansys_manual(f"{paper}, coupled bearings", "VM254"), tolerance=left[k],
        )  # fmt: skip
    f.figure(
        "Campbell diagram, isotropic bearings",
        [Curve(speeds, np.array(b["eigenvalues"])[:, 1] / RPM, f"mode {k + 1}, {b['whirl'][-1]}")
         for k, b in enumerate(summary["branches"])] + [Curve(speeds, speeds, "once per turn", ":")]
        + [published("Nelson, McVaugh (1976)" if order == 1.0 else "", known[order], order * np.array(known[order]))
           for order in (1.0, 2.0, 4.0)],
        "Speed [rpm]", "Whirl [rpm]",
    )  # fmt: skip
