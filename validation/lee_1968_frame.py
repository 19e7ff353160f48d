"""Lee's frame: a path that turns back in load and in displacement.

Two pinned legs under a load near their corner.  The load reaches a limit, falls, turns negative, and rises again while
the point of the load moves back: load control and displacement control both fail, the arc length does not.

             24  P
      o-----------v-------------------^         legs 120, A = 6, I = 2, E = 720
      |  corner                     pinned
      |
      | 120
      |
      ^ pinned

Source: S.L. Lee, F.S. Manuel, E.C. Rossow, "Large deflections and stability of elastic frames", J. Eng. Mech. Div.
ASCE 94 (1968), 521-547.  The numbers are not those of the paper: they were recomputed for this project outside of the
package.  Limit load 1.8659, 1.8582, 1.8563 with 10, 20, 40 elements of another kind per leg, extrapolated 1.8556 at
v = 48.8, u = 26.9; lower limit -.9465 at v = 58.2, u = 90.2 with the coarser of them.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import PROPERTY, RECOMPUTED, SELF

CAPABILITY = "beams"
CASES = {"B-LEE": "Lee's frame by arc length: both limit points"}

BEAMS = ((2, "exact"), (2, "natural"), (3, "exact"), (3, "generalised"), (3, "corotational"))


def build(n: int = 10, dimension: int = 2, strains: str = "exact", **options) -> Model:
    """Return the frame with n elements per leg in the x-y plane."""
    model = Model(dimension, "Lee's frame")
    model.section("beam", "stiffness", EA=720.0 * 6.0, EI=720.0 * 2.0, GJ=1e4, GA=np.inf, rhoA=0.0, rhoI=0.0)
    corners = np.zeros((4, dimension))
    corners[:, :2] = ((0.0, 0.0), (0.0, 120.0), (24.0, 120.0), (120.0, 120.0))
    model.polyline("frame", corners, [n, n // 5, n - n // 5])
    model.beams("frame", "frame", "beam", strains=strains)
    held = ["x", "y", "z"][:dimension]
    model.fix("frame:start", held)
    model.fix("frame:end", held)
    if dimension == 3:
        model.fix("frame", ["z"])  # the frame stays in its plane
    model.force("P", "frame:corner_3", -np.eye(dimension)[1])
    model.sensor("load point", "displacement", on="frame:corner_3")
    model.static_step(**{"control": "arc", "until": 3.0, "points": 200, "stability": True, **options})
    return model


def reference() -> dict:
    """Return the recomputed limits: loads by elements per leg, places (u, v)."""
    return {
        "limit": {10: 1.8659, 20: 1.8582, 40: 1.8563},
        "extrapolated": 1.8556,
        "at the limit": (26.9, 48.8),
        "lower": -0.9465,
        "at the lower": (90.2, 58.2),
    }


def check(f: Findings) -> None:
    known = reference()
    curves = []
    for dimension, strains in BEAMS:
        label = f"{'plane' if dimension == 2 else 'space'}, {strains} strains"
        sines = strains == "generalised"
        errors = []
        for n, coarse in known["limit"].items():
            solution = solve(build(n, dimension, strains))
            step = solution.steps[0]
            limits = [c for c in step.summary["critical_points"] if c["kind"] == "limit"]
            upper, lower = limits[0]["load_factor"], limits[1]["load_factor"]
            errors.append(abs(upper / known["extrapolated"] - 1.0))
            kinds = "".join(c["kind"][0] for c in step.summary["critical_points"])
            f.zero(
                "B-LEE", f"critical points other than the two limits, {n} elements, {label}", kinds != "ll", 0.0,
                "The step reports the critical points and their kinds."
            )  # fmt: skip
            if not sines:
                f.row(
                    "B-LEE", f"limit load, {n} elements per leg, {label}", upper, coarse,
                    "The recomputation has other elements, which makes 1 %.",
                    RECOMPUTED, relative=0.01,
                )  # fmt: skip
                f.row(
                    "B-LEE", f"lower limit load, {n} elements per leg, {label}", lower, known["lower"],
                    "The recomputation has other elements, which makes 1 %.",
                    RECOMPUTED, relative=0.01,
                )  # fmt: skip
            if n == 40:
                f.row(
                    "B-LEE", f"limit load against the extrapolated one, 40 elements, {label}", upper,
                    known["extrapolated"],
                    "Sines of large turns change the limit by up to 4e-3." if sines
                    else "The mesh of 40 elements and the digits of the reference leave less than 2e-4.",
                    RECOMPUTED, relative=4e-3 if sines else 2e-4,
                )  # fmt: skip
                load, u = step.series["load factor"], solution.sensor("load point").values
                for name, value, place, exact in (
                    ("limit", upper, int(np.argmax(load[: load.size // 2])), known["at the limit"]),
                    ("lower limit", lower, int(np.argmin(load)), known["at the lower"]),
                ):
                    for k, axis in enumerate("uv"):
                        f.row(
                            "B-LEE", f"{axis} at the {name}, 40 elements, {label}", abs(u[place, k]), exact[k],
                            "Points of the path lie 3 apart there.", RECOMPUTED, tolerance=3.0,
                        )  # fmt: skip
                    f.between(
                        "B-LEE", f"nearest point over the {name}, {label}", abs(load[place] / value), 0.99, 1.0 + 1e-9,
                        "The nearest point of the path lies next to it.", SELF,
                    )  # fmt: skip
            if n == 20:
                u = solution.sensor("load point").values
                curves.append(Curve(-u[:, 1], step.series["load factor"], label))
        if sines:
            f.row(
                "B-LEE", f"order of convergence of the limit load, 10 to 40 elements, {label}",
                0.5 * np.log2(errors[0] / errors[2]), 2.0,
                "The meshes show the order within .3.", PROPERTY, tolerance=0.3,
            )  # fmt: skip
    f.figure("Lee's frame", curves, "Displacement v under the load", "Load", "20 elements per leg.")
