"""Reduced parts as bodies in a large motion.

Flexible parts that are reduced to their interfaces and few shapes, with the frame's large motion on top of them:

        spin-up     o===========>           a beam brought to speed by a shaft, in two bending shapes and an axial one
        robot       o==O----------O         two links, each reduced as a whole or in pieces; joint angles prescribed
        four-bar    R--S-----------U--P     crank and rod of a spatial four-bar, swinging under their weight

Shapes are linear, so a body alone knows nothing of the stiffening by its own stresses.  It comes from cutting parts
into several bodies, which conserves energy, or from geometric stiffness by the loads of the frame (the superposition
method), which has no potential: the ledger books its work.  The spin-up diverges without either, above 3.8 rad/s: that
is a property of the method, and shown.

Source: F. Melzer, "Symbolic computations in flexible multibody systems", Computer Aided Analysis of Rigid and Flexible
Mechanical Systems, NATO ASI, Troia 1993, Vol. II, 365-381, with the data of J.C. Simo, L. Vu-Quoc (1986), and of G.
Sorge, H. Bremer, F. Pfeiffer for the robot; the four-bar is that of M. Anantharaman (same volume, 383-402), with links
that bend.  References: co-rotational runs of this package, which are validated on their own; 96/pi^4, the share
that one axial shape has in the stretch of a turning beam; and the smallest deflection with two bending shapes and one
axial one, recomputed outside of the package (Melzer prints curves alone).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs import Model, reduce_part, solve
from fem_mbs.validation import meijaard_1993_spin_up as spin
from fem_mbs.validation import melzer_1993_robot as robot
from fem_mbs.validation.case import CONSERVED, Curve, Findings, constancy, energy_error
from fem_mbs.validation.kinds import RECOMPUTED, SELF

CAPABILITY = "reduction"
CASES = {
    "B-FFR": "spin-up and robot with reduced bodies against co-rotational beams, with and without stiffening",
    "B-FFR-4BAR": "four-bar with reduced links against co-rotational links",
}

DATA = "Simo & Vu-Quoc"


# --- spin-up ---------------------------------------------------------------------------------------------------------
def _blade(length: float, elements: int, stiffening: str | None = None):
    """Return the beam of the spin-up, or a piece of it, free, in all modes of its mesh."""
    d = spin.DATA[DATA]
    m = Model(2, "blade")
    m.section("beam", "stiffness", EA=d["EA"], EI=d["EI"], GA=d["GA"], rhoA=d["rhoA"], rhoI=d["rhoI"])
    m.line("beam", (0.0, 0.0), (length, 0.0), elements)
    m.beams("beam", "beam", "beam", shear=True)
    ends = {"root": "beam:start", "tip": "beam:end"}
    return reduce_part(m, ends, modes=3 * (elements - 1), stiffening=stiffening)


def build(
    case: str = "B-FFR", pieces: int = 1, stiffening: Any = "inertia", h: float = 0.005, duration: float = 20.0
) -> Model:
    """Return the spin-up in one body of two bending shapes and the first axial one, or in pieces of all their shapes;
    or the four-bar ("B-FFR-4BAR") with reduced links."""
    if case == "B-FFR-4BAR":
        return four_bar(reduced=True)
    length = spin.DATA[DATA]["L"]
    m = Model(2, "spin-up of a reduced beam")
    if pieces == 1:
        part = _blade(length, 10, "root")
        m.reduced_part("beam", part, reference="root", modes=[1, 2, _first_axial(part)], stiffening=stiffening)
        ends = "beam:root", "beam:tip"
    else:
        part = _blade(length / pieces, 4)
        for k in range(pieces):
            m.reduced_part(f"beam {k}", part, position=(k * length / pieces, 0.0))
            if k:
                m.joint(f"weld {k}", "weld", f"beam {k - 1}:tip", f"beam {k}:root")
        ends = "beam 0:root", f"beam {pieces - 1}:tip"
    m.fix(ends[0], ["x", "y"])
    law = {"kind": "spin_up", "rate": spin.DATA[DATA]["rate"], "duration": spin.SPIN_UP}
    m.motion("shaft", ends[0], "rotation", law)
    m.sensor("tip", "position", on=ends[1])
    m.transient_step(duration, h, frames=0)
    return m


def _first_axial(part) -> int:
    """Return the number of the lowest shape of the cantilever that stretches it."""
    m = Model(2)
    m.reduced_part("beam", part, reference="root")
    shapes = m.reduced_parts["beam"].part
    at_tip = shapes.boundary[shapes.interface_rows("tip")]
    return int(np.flatnonzero(np.abs(at_tip[0]) > np.abs(at_tip[1]))[0]) + 1


# --- robot -----------------------------------------------------------------------------------------------------------
def build_robot(pieces: int = 4, h: float = 1e-3, duration: float = 1.0, second_order: bool = False) -> Model:
    """Return the robot of `melzer_1993_robot`, every link in so many reduced pieces; ``second_order``: from their first
    interface, with displacements of second order at the other one."""
    m = Model(3, "robot of reduced links", gravity=(0.0, -9.81, 0.0))
    elbow = robot.LINK_1 * np.array((np.sqrt(0.5), -np.sqrt(0.5), 0.0))
    tip = elbow + (robot.LINK_2, 0.0, 0.0)
    for link, (a, b) in {"1": (np.zeros(3), elbow), "2": (elbow, tip)}.items():
        for k in range(pieces):
            start, end = a + (b - a) * k / pieces, a + (b - a) * (k + 1) / pieces
            own = Model(3, f"link {link}")
            own.material("aluminium", E=7.3e10, nu=0.3, density=2700.0)
            own.section("1", "rectangle", height=0.015, width=0.06)
            own.section("2", "rectangle", height=0.01, width=0.04)
            own.line("link", start, end, max(2, 8 // pieces))
            own.beams("link", "link", link, "aluminium", orientation=(0.0, 1.0, 0.0))
            ends = {"start": "link:start", "end": "link:end"}
            if second_order:
                part = reduce_part(own, ends, modes=6, stiffening="start")
                m.reduced_part(f"{link}.{k}", part, reference="start", stiffening="interfaces")
            else:
                m.reduced_part(f"{link}.{k}", reduce_part(own, ends, modes=6))
            if k:
                m.joint(f"weld {link}.{k}", "weld", f"{link}.{k - 1}:end", f"{link}.{k}:start")
    z, last = (0.0, 0.0, 1.0), pieces - 1
    m.joint("shoulder", "revolute", "ground", "1.0:start", point=(0.0, 0.0, 0.0), axis=z, function=robot.ANGLE)
    m.joint("elbow", "revolute", f"1.{last}:end", "2.0:start", axis=z, function=f"-({robot.ANGLE})")
    m.point_mass("elbow mass", f"1.{last}:end", 1.0)
    m.point_mass("tip mass", f"2.{last}:end", 3.0)
    m.sensor("tip", "position", on=f"2.{last}:end")
    m.static_step()
    m.transient_step(duration, h, frames=0)
    return m


# --- four-bar --------------------------------------------------------------------------------------------------------
FORK = np.array((10.0, -5.0 - np.sqrt(105.0), 2.0))
BALL = np.array((0.0, -5.0, 0.0))
LINKS = {"crank": (np.zeros(3), BALL), "rod": (BALL, FORK)}


def _add_link(m: Model, name: str, elements: int) -> None:
    """Add a link of 1.1e5 N m^2 and .69 kg/m as a co-rotational beam."""
    if "link" not in m.sections:
        m.section("link", "stiffness", EA=2e6, GJ=8e4, EIy=1.1e5, EIz=1.1e5, rhoA=0.69, rhoIy=0.02, rhoIz=0.02)
    m.line(name, *LINKS[name], elements)
    m.beams(name, name, "link", orientation=(1.0, 0.0, 0.3), strains="corotational", shear=False)


def _links(m: Model, reduced: bool, elements: int = 6) -> None:
    """Add crank and rod."""
    for name in LINKS:
        if not reduced:
            _add_link(m, name, elements)
            continue
        own = Model(3, name)
        _add_link(own, name, elements)
        m.reduced_part(name, reduce_part(own, {"start": f"{name}:start", "end": f"{name}:end"}, modes=8))


def four_bar(reduced: bool, h: float = 2e-3, duration: float = 4.0) -> Model:
    """Return the spatial four-bar at rest, its links reduced to their ends, or co-rotational beams."""
    m = Model(3, "four-bar of flexible links", gravity=(0.0, 0.0, -9.81))
    _links(m, reduced)
    m.body("slider", FORK - (0.0, 0.0, 2.0), mass=0.0, inertia=(0.0, 0.0, 0.0))
    x, y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    across = np.cross(FORK - BALL, y)
    m.joint("R", "revolute", "ground", "crank:start", point=(0.0, 0.0, 0.0), axis=x)
    m.joint("P", "prismatic", "ground", "slider", point=FORK - (0.0, 0.0, 2.0), axis=y)
    m.joint("U", "universal", "slider", "rod:end", point=FORK, axis=y, axis_b=across / np.linalg.norm(across))
    m.joint("S", "spherical", "crank:end", "rod:start")
    m.sensor("ball", "position", on="rod:start")
    m.sensor("fork", "position", on="rod:end")
    m.transient_step(duration, h, frames=0)
    return m


def flight(steps: int = 1000, h: float = 0.01) -> Model:
    """Return crank and rod, reduced, on their ball joint alone, thrown without weight."""
    m = Model(3, "two reduced links in free flight")
    _links(m, reduced=True)
    m.joint("S", "spherical", "crank:end", "rod:start")
    m.initial(velocity=(0.3, 0.1, -0.2), spin=(0.4, 1.1, 0.7))
    m.transient_step(steps * h, h, frames=0)
    return m


def reference() -> dict:
    return {
        "stretch of one axial shape": 96.0 / np.pi**4,
        "smallest deflection (recomputed)": -0.5736,
    }


# --- checks ----------------------------------------------------------------------------------------------------------
def check(f: Findings) -> None:
    _check_spin_up(f)
    _check_robot(f)
    _check_four_bar(f)


def _check_spin_up(f: Findings) -> None:
    known = reference()
    found = {}
    for name, model in (
        ("co-rotational, 8 elements", spin.build(DATA, 8)),
        ("one body, superposition", build()),
        ("8 bodies", build(pieces=8)),
        ("one body, no stiffening", build(stiffening="none", duration=12.0)),
    ):
        solution = solve(model)
        found[name] = (*spin.tip(solution, DATA), solution.steps[0])
    t, u, v, _ = found["co-rotational, 8 elements"]
    least, stretch = v.min(), u[t > 16.0].mean()
    for name, share in (("one body, superposition", known["stretch of one axial shape"]), ("8 bodies", 1.0)):
        t, u, v, step = found[name]
        f.row("B-FFR", f"{name}: smallest tip deflection [m]", v.min(), least,
            "1 % is demanded of reduced parts.", SELF,
              relative=0.01)  # fmt: skip
        f.row(
            "B-FFR", f"{name}: steady stretch over the co-rotational one", u[t > 16.0].mean() / stretch, share,
            "The mesh and the vibration that is left make .005.", SELF, tolerance=0.005,
        )  # fmt: skip
        f.zero(
            "B-FFR",
            f"{name}: energy error",
            energy_error(step),
            CONSERVED,
            "The rule conserves energy, with the work booked.",
        )
    v = found["one body, superposition"][2]
    f.row(
        "B-FFR", "smallest deflection with two bending shapes and one axial one, recomputed [m]", v.min(),
        known["smallest deflection (recomputed)"],
        "The recomputed number has a last digit of 5e-4, and no shear.", RECOMPUTED, tolerance=5e-4,
    )  # fmt: skip
    t, _, v, _ = found["one body, no stiffening"]
    f.between(
        "B-FFR", "without stiffening: growth from 9 s to 12 s", abs(v[-1] / v[t >= 9.0][0]), 1e2, 1e12,
        "Without stiffening it diverges beyond 3.8 rad/s, as linear shapes must.",
    )  # fmt: skip
    curves = [Curve(a[0], a[2], name) for name, a in found.items() if name != "one body, no stiffening"]
    t, _, v, _ = found["one body, no stiffening"]
    shown = np.abs(v) < 1.5
    curves.append(Curve(t[shown], v[shown], "one body, no stiffening", "--"))
    f.figure(
        "Tip deflection", curves, "Time [s]", "Deflection [m]", "Without stiffening the beam diverges at 3.8 rad/s"
    )


def _check_robot(f: Findings) -> None:
    beams, curves = solve(robot.build(8, 1e-3)), []
    runs = {"co-rotational": beams} | {f"{n} per link": solve(build_robot(n)) for n in (1, 4)}
    runs["1 per link, second order"] = solve(build_robot(1, second_order=True))
    for name, solution in runs.items():
        t, tip = solution.steps[1].time, solution.steps[-1].series["sensor/tip"]
        curves.append(Curve(t, tip[:, 1], name))
        if solution is beams:
            lift = np.ptp(tip[:, 1])
            wanted = tip
            continue
        for what, rows, best in (
            ("first", (t > 0.35) & (t < 0.47), np.max),
            ("second", (t > 0.5) & (t < 0.63), np.min),
        ):
            f.row(
                "B-FFR", f"robot, {name}: {what} extreme of the tip [m]", best(tip[rows, 1]), best(wanted[rows, 1]),
                "1 % of the tip's way is demanded of reduced parts.", SELF, tolerance=0.01 * lift,
            )  # fmt: skip
        f.row(
            "B-FFR", f"robot, {name}: static droop of the tip [m]", solution.steps[0].series["sensor/tip"][-1, 1],
            beams.steps[0].series["sensor/tip"][-1, 1], "Shapes are linear, which leaves 2e-5.", SELF, tolerance=2e-5,
        )  # fmt: skip
        f.zero(
            "B-FFR",
            f"robot, {name}: energy error",
            energy_error(solution.steps[1]),
            CONSERVED,
            "The value is exact; only round-off is left.",
        )
    f.figure("Tip of the robot", curves, "Time [s]", "y [m]")


def _check_four_bar(f: Findings) -> None:
    beams, links = (solve(four_bar(reduced)) for reduced in (False, True))
    curves, size = [], 5.0
    for name in ("ball", "fork"):
        a, b = beams.steps[-1].series[f"sensor/{name}"], links.steps[-1].series[f"sensor/{name}"]
        f.zero(
            "B-FFR-4BAR", f"{name}: largest distance from that of co-rotational links, over the crank",
            float(np.linalg.norm(a - b, axis=1).max()) / size, 2e-3, "Shapes are linear, beams are not.",
            SELF,
        )  # fmt: skip
        k = 2 if name == "ball" else 1
        curves += [Curve(beams.steps[0].time, a[:, k], f"{name}, co-rotational")]
        curves += [Curve(links.steps[0].time, b[:, k], f"{name}, reduced", "--")]
    step = links.steps[0]
    f.zero("B-FFR-4BAR", "energy error", energy_error(step), CONSERVED, "The value is exact; only round-off is left.")
    f.zero(
        "B-FFR-4BAR",
        "constraints",
        step.summary["constraint_error"],
        CONSERVED,
        "Constraints are satisfied at the end of each step.",
    )
    step = solve(flight()).steps[0]
    f.zero(
        "B-FFR-4BAR",
        "both links in free flight: energy error",
        energy_error(step),
        CONSERVED,
        "The value is exact; only round-off is left.",
    )
    for name in ("linear momentum", "angular momentum"):
        f.zero(
            "B-FFR-4BAR",
            f"both links in free flight: {name}",
            constancy(step, name),
            CONSERVED,
            "The value is exact; only round-off is left.",
        )
    f.figure("Links of the four-bar", curves, "Time [s]", "Position [m]")
