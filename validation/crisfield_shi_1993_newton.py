"""Newton-Raphson with the analytic tangents of the mid-point rule.

With the exact tangent of every element the error of an iteration is squared by the next one.  The first step of several
models is made with tolerances that are met after 0, 1, 2 ... iterations; the residuals where the runs stop are the
residuals of the iterations.  Chord iterations, which keep the tangent of a step, and the unsymmetric tangent are what
makes it cheap; how many iterations a step takes is asserted too.

      log |r|  o
                o
                  o               order p of r_k+1 = C r_k^p from three consecutive residuals
                     o
                          o

Source: Crisfield & Shi 1993 (see the pendulum), eqs 22-24; the models are those of the other files.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, newton_residuals, solve, tangent_check
from fem_mbs.validation import (
    crisfield_shi_1993_escape,
    meijaard_1993_slider_crank,
    meijaard_1993_spin_up,
    simo_tarnow_1992_machine,
    simo_vuquoc_1986_flying_beam,
)
from fem_mbs.validation.case import Curve, Findings
from fem_mbs.validation.kinds import SELF

CAPABILITY = "integration"
CASES = {"B-NEWTON": "tangents against differences; quadratic convergence; iterations per step"}


def build(name: str = "bar and spring", **options) -> Model:
    """Return one long first step of a model."""
    if name == "bar and spring":
        return crisfield_shi_1993_escape.build(2.0, 2.0, **options)
    if name == "flying beam":
        return simo_vuquoc_1986_flying_beam.build("soft", 0.5, 0.5, elements=20, **options)
    if name == "cantilever under a sudden load":
        model = meijaard_1993_spin_up.build("Simo & Vu-Quoc", 4, h=0.2, duration=0.2, **options)
        model.force("load", "beam:end", (0.0, 50.0))
        return model
    make = simo_tarnow_1992_machine.build if name == "plane machine" else simo_tarnow_1992_machine.build_space
    return make(0.2, held=False, duration=0.2, **options)


MODELS = ("bar and spring", "flying beam", "cantilever under a sudden load", "plane machine", "machine in space")


def reference() -> dict:
    return {"order": 2.0}


def order(r: np.ndarray) -> float:
    """Return the order p of r_k+1 = C r_k^p from the last three consecutive residuals that are above round-off."""
    for a, b, c in zip(r[-3::-1], r[-2:0:-1], r[:1:-1], strict=True):
        if a < 0.3 and c > 1e-11:
            return float(np.log(c / b) / np.log(b / a))
    return float("nan")


def check(f: Findings) -> None:
    curves = []
    for name in MODELS:
        found = tangent_check(build(name), h=0.2, size=0.02)
        f.zero(
            "B-NEWTON",
            f"tangent against differences over its largest entry, {name}",
            found.error,
            1e-8,
            "Central differences of fourth order leave this.",
            SELF,
        )
        r = newton_residuals(build(name))
        f.between(
            "B-NEWTON",
            f"order of convergence, {name}, {len(r) - 1} iterations",
            order(r),
            1.8,
            3.5,
            "Newton's method is quadratic; its constant varies, so that more than 2 appears before the limit.",
        )
        curves.append(Curve(np.arange(len(r)), r, name, "o-"))
    chord = newton_residuals(build("flying beam"), "chord")
    curves.append(Curve(np.arange(len(chord)), chord, "flying beam, tangents kept", "--"))
    f.figure(
        "Newton-Raphson in the first step",
        curves,
        "Iteration",
        "Scaled residual [-]",
        "Each dot of a full Newton iteration doubles the number of digits, down to round-off.",
        "log",
    )
    for label, model, mean, most in (
        ("flying beam, h = 0.01 s", simo_vuquoc_1986_flying_beam.build("soft", 0.01, newton="full"), 3.5, 5),
        ("spin-up, h = 0.005 s", meijaard_1993_spin_up.build("Simo & Vu-Quoc", 4, newton="full"), 3.5, 5),
        ("slider-crank, 6400 steps", meijaard_1993_slider_crank.build(4, 124.8, 0.0, True, newton="full"), 3.5, 6),
        ("machine in space, h = 0.01 s", simo_tarnow_1992_machine.build_space(0.01, newton="full"), 4.0, 6),
    ):
        iterations = solve(model).steps[0].series["iterations"][1:]
        f.between(
            "B-NEWTON",
            f"iterations per step, mean, {label}",
            iterations.mean(),
            0.0,
            mean,
            "The iteration goes from an extrapolated start to round-off.",
        )
        f.between(
            "B-NEWTON",
            f"iterations per step, most, {label}",
            iterations.max(),
            0.0,
            most,
            "No step of this motion is difficult.",
        )
