"""Machines of everything: trusses, beams, rigid bodies, springs and joints together.

A loose machine tumbles freely, or hangs from ground under constant loads.  Each element conserves by itself; here they
share nodes and joints.  Nothing dissipates, so energy and, without ground and loads, both momenta must be constant at
every step size.

      plane:   [body A]--weld--beam (3 el)--pin--[body B]--pin--inextensible beam (2 el)--(m)
                   \\_______truss, cable, spring and torsion spring between A and B______/
      space:   three bodies on spherical joints, one welded, with trusses, a cable and a spring

Motions and loads are slow, so that no part turns much more than half a radian in the largest step, 0.5 s; the stiff
parts vibrate far faster than the steps can follow.

Source: the requirement of M.A. Crisfield, J. Shi 1993 (eqs 21, 43) and J.C. Simo, N. Tarnow, "The discrete
energy-momentum method", ZAMP 43 (1992), 757-792, doi:10.1007/BF00913408; the machines are of this project.
"""

from __future__ import annotations

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, constancy, energy_error, energy_scale

CAPABILITY = "integration"
CASES = {"B-MIX": "energy and momenta of machines of all element types at every step size"}

SIZES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5)
DURATION = 10.0


def build(h: float = 0.005, held: bool = False, duration: float = DURATION, **options) -> Model:
    """Return the plane machine; ``held``: on ground by a pin and a slider, with weak gravity, a dead force and
    moment."""
    model = Model(2, "plane machine", gravity=(0.0, -0.2) if held else None)
    model.section("beam", "stiffness", EA=2e4, EI=40.0, GA=8e3, rhoA=1.2, rhoI=2e-3)
    model.section("blade", "stiffness", EA=1e5, EI=15.0, rhoA=0.8, rhoI=0.0)
    model.section("rod", "stiffness", EA=500.0, rhoA=0.3)
    model.body("A", (0.0, 0.0), mass=2.0, inertia=0.3)
    model.body("B", (3.2, 0.3), mass=1.5, inertia=0.2, angle=0.4)
    model.line("beam", (0.4, 0.0, 0.0), (2.6, 0.2, 0.0), 3)
    model.beams("beam", "beam", "beam")
    model.joint("root", "weld", "A", "beam:start")
    model.joint("hinge", "pin", "B", "beam:end")
    model.line("blade", (3.6, 0.6, 0.0), (4.6, 1.4, 0.0), 2)
    model.beams("blade", "blade", "blade", inextensible=True)
    model.joint("blade root", "pin", "B", "blade:start")
    model.point_mass("tip mass", "blade:end", 0.4, inertia=0.01)
    # a chain of two trusses from A to B, and a cable that goes slack now and then
    model.node("joint", (1.5, -1.4))
    model.node("on A", (0.2, -0.5))
    model.node("on B", (3.0, -0.3))
    model.trusses("truss", ["on A", "joint"], "rod", mass="consistent")
    model.trusses("cable", ["joint", "on B"], "rod", tension_only=True, prestress=1.0)
    model.joint("eye A", "pin", "A", "on A")
    model.joint("eye B", "pin", "B", "on B")
    model.spring("spring", "A", "B", 8.0, length=3.0, point_a=(0.0, 0.5), point_b=(3.0, 0.9))
    model.torsion_spring("torsion", "A", "B", 2.0, angle=0.1)
    if held:
        model.joint("hanger", "pin", "A", "ground", point=(-0.5, 0.0))
        model.joint("guide", "slider", "blade:end", axis=(0.3, 1.0))
        model.force("load", "B", (0.1, -0.05))
        model.moment("twist", "A", 0.05)
    else:
        model.initial("all", velocity=("0.5 - 0.1*y", "0.1*sin(x)"), spin=0.3, centre=(1.0, 0.0))
    model.transient_step(duration, h, frames=0, **options)
    return model


def build_space(h: float, held: bool = False, duration: float = DURATION, **options) -> Model:
    """Return the machine in space; ``held``: hung from ground by a spherical joint, with gravity."""
    model = Model(3, "machine in space", gravity=(0.0, 0.0, -0.2) if held else None)
    model.section("rod", "stiffness", EA=400.0, rhoA=0.4)
    model.body("A", (0.0, 0.0, 0.0), mass=2.0, inertia=(0.2, 0.3, 0.4))
    model.body("B", (1.5, 0.2, 0.1), mass=1.0, inertia=(0.1, 0.15, 0.12), rotation=(0.2, -0.4, 0.5))
    model.body("C", (2.6, 0.8, -0.2), mass=0.8, inertia=(0.05, 0.1, 0.09), rotation=(0.0, 0.3, 0.0))
    model.body("D", (2.9, 1.2, 0.0), mass=0.3, inertia=(0.02, 0.02, 0.03))
    model.joint("ball AB", "spherical", "A", "B", point=(0.8, 0.1, 0.0))
    model.joint("ball BC", "spherical", "B", "C", point=(2.0, 0.4, 0.1))
    model.joint("bond CD", "weld", "C", "D", point=(2.8, 1.0, -0.1))
    model.node("joint", (1.0, 1.5, 0.6))
    model.node("on A", (0.1, 0.4, 0.2))
    model.node("on D", (2.8, 1.5, 0.2))
    model.trusses("truss", ["on A", "joint"], "rod")
    model.trusses("cable", ["joint", "on D"], "rod", tension_only=True, prestress=0.5)
    model.joint("eye A", "spherical", "A", "on A")
    model.joint("eye D", "spherical", "D", "on D")
    model.spring("spring", "A", "C", 25.0, length=2.0, point_a=(0.0, -0.4, 0.1), point_b=(2.6, 0.4, -0.5))
    if held:
        model.joint("hanger", "spherical", "A", "ground", point=(-0.4, 0.0, 0.3))
    else:
        model.initial(
            "all", velocity=("0.3 + 0.1*y", "0.1*sin(x)", "-0.05*z"), spin=(0.1, 0.3, -0.2), centre=(1.0, 0.0, 0.0)
        )
    model.transient_step(duration, h, frames=0, **options)
    return model


def reference() -> dict:
    return {"change": 0.0}


def check(f: Findings) -> None:
    for name, make in (("plane", build), ("space", build_space)):
        for held in (False, True):
            steps = {}
            for h in SIZES:
                duration = 10.0 * DURATION if f.long else DURATION
                solution = solve(make(h, held, duration))
                step = solution.steps[0]
                halved = step.summary["halved_steps"]
                many = f"{name}, {'hung' if held else 'free'}, {len(step.time) - 1} steps of h = {h:g} s"
                many += f" ({halved} halved)" if halved else ""
                if held:
                    # the work of dead loads is a potential too; the ledger keeps it apart
                    f.zero(
                        "B-MIX",
                        f"closing error of energy and loads' work, {many}",
                        energy_error(step),
                        CONSERVED,
                        "The rule conserves it exactly; only round-off is left.",
                    )
                else:
                    f.zero(
                        "B-MIX",
                        f"change of the energy, {many}",
                        energy_error(step, constant=True),
                        CONSERVED,
                        "The rule conserves it exactly; only round-off is left.",
                    )
                    for momentum in ("linear momentum", "angular momentum"):
                        f.zero(
                            "B-MIX",
                            f"change of the {momentum}, {many}",
                            constancy(step, momentum),
                            CONSERVED,
                            "The rule conserves it exactly; only round-off is left.",
                        )
                steps[f"h = {h:g} s"] = step
            f.energy_figure(
                steps, f"The machine in the {name}, {'hung' if held else 'free'}.".replace("the space", "space")
            )
        fine = steps["h = 0.005 s"]
        f.figure(
            f"Energies of the machine, {name}, hung",
            [
                Curve(fine.time, fine.ledger("kinetic"), "kinetic"),
                Curve(fine.time, fine.ledger("strain") - fine.ledger("strain")[0], "strain"),
                Curve(fine.time, fine.ledger("potential") - fine.ledger("potential")[0], "gravity"),
                Curve(fine.time, -fine.ledger("load work"), "loads"),
            ],
            "Time [s]",
            "Energy since the start [J]",
            f"h = 0.005 s; largest kinetic energy {energy_scale(fine):.3g} J.",
        )
