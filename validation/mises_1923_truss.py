r"""Two bars in a flat roof snap through under a load at their apex, alone and on a spring.

                  | P                          half span 100, rise h; EA = 1000 of a bar
               __-v-__                         P/(EA) = 2 (1 - L/L_0) (h - w)/L,  L^2 = 100^2 + (h - w)^2
          __---   |   ---__                    limit at  L^3 = L_0 100^2
       o--        z spring   --o
                  |                            a steep roof buckles sideways before it snaps

A flat truss reaches its limit where dP/dw = 0.  In a steep one the apex leaves to the side where the sideways stiffness
2 (EA/L_0 c^2 + N/L s^2), c = 100/L, s = (h - w)/L, is zero.  A spring of the stiffness k below the apex adds k w, which
takes both limits away if k exceeds the steepest fall.

Source: R. von Mises, "Ueber die Stabilitaetsprobleme der Elastizitaetstheorie", Z. angew. Math. Mech. 3 (1923) 406-422,
doi:10.1002/zamm.19230030602; J.M.T. Thompson, G.W. Hunt, "A general theory of elastic stability", Wiley 1973.  The
references are the formulas above, of bars whose force is linear in their change of length.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from fem_mbs import Model, solve
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "buckling"
CASES = {"B-MISES": "limit loads of a flat truss, a steep one that buckles sideways, a truss on a spring"}

SPAN, EA = 100.0, 1000.0
FLAT, STEEP = 20.0, 250.0


def load(w, rise: float, k: float = 0.0):
    """Return the load on the apex by its displacement downwards."""
    start, y = np.hypot(SPAN, rise), rise - w
    length = np.hypot(SPAN, y)
    return 2.0 * EA * (start - length) / start * y / length + k * w


def sideways(w: float, rise: float) -> float:
    """Return the stiffness of the apex to the side."""
    start, y = np.hypot(SPAN, rise), rise - w
    length = np.hypot(SPAN, y)
    force = EA * (length - start) / start
    return 2.0 * (EA / start * (SPAN / length) ** 2 + force / length * (y / length) ** 2)


def reference() -> dict[str, tuple[float, float]]:
    """Return displacement and load: "upper" and "lower" limits of the flat truss, buckling of the "steep" one."""
    start = np.hypot(SPAN, FLAT)
    y = np.sqrt((start * SPAN**2) ** (2.0 / 3.0) - SPAN**2)
    found = {name: (w, float(load(w, FLAT))) for name, w in (("upper", FLAT - y), ("lower", FLAT + y))}
    steep = brentq(sideways, 1.0, 0.4 * STEEP, args=(STEEP,), xtol=1e-13)
    return found | {"steep": (steep, float(load(steep, STEEP)))}


def build(rise: float = FLAT, down: float = 45.0, k: float = 0.0) -> Model:
    model = Model(2, "two-bar truss")
    model.section("bar", "stiffness", EA=EA, rhoA=0.0)
    model.polyline("roof", [(-SPAN, 0.0), (0.0, rise), (SPAN, 0.0)], 1)
    model.trusses("bars", "roof", "bar")
    for end in ("start", "end"):
        model.fix(f"roof:{end}", ["x", "y"])
    if k:
        model.nodal_spring("spring", "roof:corner_2", "y", k)
    model.force("P", "roof:corner_2", (0.0, -1.0))
    model.sensor("apex", "displacement", on="roof:corner_2")
    model.static_step(control="arc", until=np.inf, on="roof:corner_2", component="y", displacement=-down, size=0.002,
                      largest=0.01, points=300, stability=True, tolerance=1e-10)  # fmt: skip
    return model


def check(f: Findings) -> None:
    case, known = "B-MISES", reference()
    solution = solve(build())
    step = solution.steps[0]
    down, force = -solution.sensor("apex").values[:, 1], step.series["load factor"].ravel()
    exact = "closed form; the step finds critical points to 1e-10 of the load"
    points = step.summary["critical_points"]
    for name, point in zip(("upper", "lower"), points, strict=True):
        f.row(case, f"{name} limit load of the flat truss", point["load_factor"], known[name][1], exact, CLOSED_FORM,
              relative=1e-8)  # fmt: skip
    f.zero(case, "largest error of the load on the path over the limit load",
           np.abs(force - load(down, FLAT)).max() / known["upper"][1], 1e-9, "The path is in closed form.",
           CLOSED_FORM)  # fmt: skip
    steep = solve(build(STEEP, 120.0)).steps[0].summary["critical_points"][0]
    f.row(case, "load at which the steep truss buckles sideways", steep["load_factor"], known["steep"][1], exact,
          CLOSED_FORM, relative=1e-8)  # fmt: skip
    f.zero(case, "kind of its first critical point (0: bifurcation)", steep["kind"] != "bifurcation", 0.0,
           "The apex leaves to the side before the load reaches its limit.")  # fmt: skip
    fall = 2.0 * EA * (1.0 / SPAN - 1.0 / np.hypot(SPAN, FLAT))
    curves = [Curve(down, force, "fem-mbs"),
              Curve(np.array([known[n][0] for n in ("upper", "lower")]), np.array([known[n][1] for n in
                    ("upper", "lower")]), "limits, closed form", "o")]  # fmt: skip
    for share, count in ((0.98, 2), (1.02, 0)):
        solution = solve(build(k=share * fall))
        found = solution.steps[0].summary["critical_points"]
        f.zero(case, f"limit points on a spring of {share:g} times the steepest fall, less {count}", len(found) - count,
               0.0, "The spring takes the limits away when it exceeds the steepest fall.", CLOSED_FORM)  # fmt: skip
        curves.append(Curve(-solution.sensor("apex").values[:, 1], solution.steps[0].series["load factor"].ravel(),
                            f"on a spring of {share:g}", "--"))  # fmt: skip
    f.figure("Truss of von Mises", curves, "Displacement of the apex", "Load")
