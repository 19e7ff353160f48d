"""Flexible links on all joints of space.

A tree of beams and rigid bodies tumbles freely, or hangs from a hinge under its weight.  Every kind of joint sits
between two flexible links, or between a link and a body; a torsion spring acts on a hinge, a spring on a slide.

    [A]--weld--beam 1--revolute--beam 2--universal--beam 3--prismatic--[B]--spherical--beam 4--cylindrical--[C]
                   \\__planar__[D]

Nothing dissipates, so energy and, without ground, both momenta must be constant for 10000 steps, and the constraints
must hold at the end of each.

Source: the requirement of P. Betsch, P. Steinmann, "A DAE approach to flexible multibody dynamics", Multibody Syst.
Dyn. 8 (2002), 365-389, doi:10.1023/A:1020934000786; the machine is of this project.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Findings, constancy, energy_error

CAPABILITY = "flexible"
CASES = {"B-LINKS": "energy, momenta and constraints of flexible links on all joints of space over 1e4 steps"}

STEPS = 10_000


def build(h: float = 0.01, steps: int = STEPS, held: bool = False, strains: str = "exact", **options) -> Model:
    """Return the machine along a bent line; ``held``: body A on a hinge to the ground, with weight."""
    model = Model(3, "flexible links", gravity=(0.0, 0.0, -0.5) if held else None)
    model.section("link", "stiffness", EA=2e4, GA=8e3, GJ=15.0, EIy=30.0, EIz=20.0, rhoA=1.1, rhoIy=4e-3, rhoIz=3e-3)
    corners = np.array(
        [(0.3, 0.0, 0.0), (1.5, 0.2, 0.1), (2.4, 1.0, 0.3), (3.0, 1.3, 1.2), (3.6, 1.5, 1.4), (4.2, 2.6, 1.5)]
    )
    for k, (start, end) in enumerate(((0, 1), (1, 2), (2, 3), (4, 5)), 1):
        model.line(f"{k}", corners[start], corners[end], 3)
        model.beams(f"link {k}", f"{k}", "link", orientation=(0.1, 0.2, 1.0), strains=strains)
    model.body("A", (0.0, 0.0, 0.0), mass=1.5, inertia=(0.1, 0.12, 0.15))
    model.body("B", (3.3, 1.4, 1.3), mass=0.8, inertia=(0.03, 0.05, 0.04), rotation=(0.2, -0.4, 0.5))
    model.body("C", (4.4, 2.8, 1.5), mass=0.5, inertia=(0.02, 0.02, 0.03))
    model.body("D", (1.6, -0.3, 0.2), mass=0.6, inertia=(0.03, 0.02, 0.04))
    model.joint("root", "weld", "A", "1:start", point=corners[0])
    model.joint("hinge", "revolute", "1:end", "2:start", axis=(0.1, -0.2, 1.0))
    model.joint("cross", "universal", "2:end", "3:start", axis=(1.0, 0.0, 0.2), axis_b=(0.0, 1.0, 0.0))
    model.joint("rail", "prismatic", "3:end", "B", point=corners[3], axis=(0.3, 0.1, 1.0))
    model.joint("ball", "spherical", "B", "4:start", point=corners[4])
    model.joint("sleeve", "cylindrical", "4:end", "C", point=corners[5], axis=(0.5, 1.0, 0.1))
    model.joint("plate", "planar", "1:end", "D", point=corners[1], axis=(0.2, 1.0, 0.0))
    model.joint_spring("hinge spring", "hinge", 4.0)
    model.joint_spring("rail spring", "rail", 30.0)
    model.joint_spring("sleeve spring", "sleeve", 20.0, coordinate="displacement")
    model.joint_spring("twist", "sleeve", 2.0, coordinate="angle")
    model.spring("tether", "D", "1:start", 15.0)
    if held:
        model.joint("hanger", "revolute", "ground", "A", point=(-0.2, 0.0, 0.1), axis=(0.0, 1.0, 0.3))
    else:
        model.initial("all", velocity=("0.3 + 0.1*y", "0.1*x", "-0.2*z"), spin=(0.1, 0.4, -0.2), centre=(2.0, 1.0, 0.5))
    for gap, a, b, point in (
        ("root", "A", "1:start", 0), ("hinge", "1:end", "2:start", 1), ("ball", "B", "4:start", 4),
    ):  # fmt: skip
        model.sensor(f"gap {gap}", "distance", a=a, b=b, point_a=corners[point], point_b=corners[point])
    model.transient_step(h * steps, h, frames=0, **options)
    return model


def reference() -> dict:
    return {"change": 0.0}


def check(f: Findings) -> None:
    ledgers = {}
    for held in (False, True):
        for strains in ("exact", "generalised", "corotational"):
            solution = solve(build(held=held, strains=strains, steps=10 * STEPS if f.long else STEPS))
            step = solution.steps[0]
            label = f"{'hung' if held else 'free'}, {strains} strains, {len(step.time) - 1} steps"
            f.zero(
                "B-LINKS",
                f"change of the energy, {label}",
                energy_error(step, constant=True),
                CONSERVED,
                "The rule conserves it exactly; only round-off is left.",
            )
            if not held:
                for momentum in ("linear momentum", "angular momentum"):
                    f.zero(
                        "B-LINKS",
                        f"change of the {momentum}, {label}",
                        constancy(step, momentum),
                        CONSERVED,
                        "The rule conserves it exactly; only round-off is left.",
                    )
            gap = max(
                float(np.abs(solution.steps[-1].series[f"sensor/gap {n}"]).max()) for n in ("root", "hinge", "ball")
            )
            f.zero(
                "B-LINKS",
                f"largest gap of the joints over the size, {label}",
                gap / 5.0,
                1e-12,
                "Constraints are satisfied at the end of each step.",
            )
            ledgers[label] = step
    f.energy_figure(ledgers, "10000 steps of 10 ms.")
