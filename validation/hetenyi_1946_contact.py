"""Contact of beams with faces, of blocks that rub, and of reduced parts.

         P                                 -> v0
   ______v______  beam on faces       ____________
  |_____________| of a fixed block   |  upper, m  |   slides on faces that deform, with friction mu
  ///////////////                 ___|____________|___
                                 |____________________|  fixed below

A long beam rests along faces of a block that does not move, pressed by a line load q.  With the stiffness K of a point
and its radius r it lies on a foundation k = K/(2 r) per length, and a force P in its middle adds

    w(x) = P b/(2 k) exp(-b x) (cos b x + sin b x),   b = (k/(4 E I))^(1/4),

as long as nothing lifts off.

Source: M. Hetenyi, Beams on Elastic Foundation, University of Michigan Press 1946, chapter II (long
beams); C.A. de Coulomb 1785, a block that slides loses the speed mu g per time.  A part of the package itself: the same
part in finite elements, and reduced to all and to some of its shapes.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, reduce_part, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, constancy, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM, SELF

CAPABILITY = "contact"
CASES = {
    "B-WINKLER": "beam along faces: deflection under a force",
    "B-SLIDING-BLOCK": "block that slides on a deforming block: deceleration, momenta, energy",
    "B-REDUCED-FACES": "ball on a block, in full and reduced to its shapes",
}

K, RADIUS, EI, LINE_LOAD, FORCE = 2e4, 0.05, 200.0, 200.0, 200.0
LENGTH, WIDTH = 4.0, 0.2
MU, G = 0.25, 9.81


def build(n: int = 20, force: float = 0.0) -> Model:
    """Return the beam of n elements on the faces of a fixed block."""
    model = Model(3, "beam on faces")
    model.mesh(
        "block", box={"size": (LENGTH, WIDTH, 0.1), "n": (23, 2, 1), "start": (-0.5 * LENGTH, -0.5 * WIDTH, -0.1)}
    )
    model.solid_material("block", 1e9, 0.3, density=1000.0)
    model.solids("block", "block", "block")
    model.fix("block:all", ["x", "y", "z"])
    model.section("beam", "stiffness", EA=1e7, EI=EI, GA=np.inf, GJ=EI, rhoA=1.0, rhoI=1e-4)
    half = 0.5 * LENGTH - 0.05
    model.line("line", (-half, 0.013, RADIUS), (half, 0.013, RADIUS), n, points={"middle": 0.5})
    model.beams("beam", "line", "beam")
    model.fix("line:all", ["x", "y", "rotation x"])
    model.line_load("q", "beam", (0.0, 0.0, -LINE_LOAD))
    if force:
        model.force("P", "line:middle", (0.0, 0.0, -force))
    model.contact(
        "bed", "block:top", "beam", surface="faces", along=True, ball=RADIUS, stiffness=K, exponent=1.0,
        spacing=half / n,
    )  # fmt: skip
    model.sensor("z", "position", on="line:middle")
    model.sensor("force", "contact", on="bed")
    model.static_step(increments=2)
    return model


def sliding(h: float, both: bool) -> Model:
    """Return a block that slides on the faces of another one, which is fixed below."""
    model = Model(3, "sliding block", gravity=(0.0, 0.0, -G))
    model.solid_material("soft", 1e8, 0.0, density=1000.0)
    model.mesh("lower", box={"size": (1.0, 0.5, 0.1), "n": (10, 5, 1)})
    sag = 1000.0 * G * 0.08 / 16 / (1e6 * 0.1 * 0.1)
    model.mesh("upper", box={"size": (0.2, 0.2, 0.08), "n": (3, 3, 1), "start": (0.137, 0.121, 0.11 - sag)})
    model.solids("lower", "lower", "soft")
    model.solids("upper", "upper", "soft")
    model.fix("lower:bottom", ["x", "y", "z"])
    model.initial("upper:all", velocity=(1.5, 0.4, 0.0))
    model.contact(
        "rub", "lower:top", "upper:bottom", surface="faces", ball=0.01, stiffness=2e5, exponent=1.0, damping=50.0,
        coefficient=MU, smoothing=1e-3, both=both, overlap=0.01,
    )  # fmt: skip
    model.transient_step(0.4, h, frames=0)
    return model


def part_and_ball(part=None, modes: int | None = None) -> Model:
    """Return a ball that bounces, sliding, on a block, or on the reduced part of it."""
    model = Model(3, "ball on a block")
    model.mesh("block", box={"size": (0.4, 0.3, 0.1), "n": (4, 3, 1)})
    model.solid_material("soft", 1e7, 0.3, density=1000.0)
    if part is None:
        model.solids("block", "block", "soft")
    else:
        model = Model(3, "ball on a reduced block")
        model.reduced_part("block", part, modes=modes)
    model.body("ball", (0.09, 0.1, 0.151), mass=0.2, inertia=np.full(3, 1e-4))
    model.initial("ball", velocity=(2.0, 0.8, -1.0))
    faces = "block:top" if part is None else "block:surface"
    model.contact("touch", faces, "ball", surface="faces", ball=0.05, stiffness=1e5)
    model.sensor("force", "contact", on="touch")
    model.transient_step(0.02, 2.5e-4, frames=0)
    return model


def check(f: Findings) -> None:
    _winkler(f)
    _slides(f)
    _reduced(f)


def reference() -> dict[str, float]:
    """Return the deflection under the force [m] and the deceleration of the block [m/s^2]."""
    k = K / (2.0 * RADIUS)
    b = (k / (4.0 * EI)) ** 0.25
    return {"deflection": FORCE * b / (2.0 * k), "deceleration": MU * G}


def _winkler(f: Findings) -> None:
    known = reference()["deflection"]
    for n, relative in ((20, 3e-2), (40, 3e-3)):
        found = [solve(build(n, force)).steps[0].series for force in (0.0, FORCE)]
        z = [float(series["sensor/z"][-1, 2]) for series in found]
        f.row(
            "B-WINKLER", f"deflection under the force, {n} elements [mm]", 1e3 * (z[0] - z[1]),
            1e3 * known,
            "The closed form is that of an infinite beam; elements of the length h leave (b h)^4.",
            CLOSED_FORM, tolerance=relative * 1e3 * known,
        )  # fmt: skip
    load = LINE_LOAD * (LENGTH - 0.1) + FORCE
    force = float(found[1]["sensor/force"].ravel()[-1])
    f.row(
        "B-WINKLER",
        "force of the faces on the beam [N]",
        force,
        load,
        "The forces are in balance; only Newton's tolerance is left.",
        CLOSED_FORM,
        tolerance=1e-8 * load,
    )


def _slides(f: Findings) -> None:
    mass = 1000.0 * 0.2 * 0.2 * 0.08
    lost_speed = reference()["deceleration"]
    curves = []
    for both in (False, True):
        # a step of half the length changes the deceleration by less than 1e-3 of it, a tenth of the tolerance
        step = solve(sliding(1e-3, both)).steps[0]
        momentum = step.series["linear momentum"]
        time = step.series["time"].ravel()
        way = "both ways" if both else "one way"
        speed = np.linalg.norm(momentum[:, :2], axis=1) / mass
        curves.append(Curve(time, speed, way))
        late = time > 0.1
        lost = -np.polyfit(time[late], speed[late], 1)[0]
        f.row(
            "B-SLIDING-BLOCK", f"deceleration, nodes touch {way} [m/s^2]", lost, lost_speed,
            "The closed form is mu g; both blocks swing, and a line through .1 to .4 s is fitted.", CLOSED_FORM,
            tolerance=0.01 * lost_speed,
        )  # fmt: skip
        f.zero(
            "B-SLIDING-BLOCK",
            f"change of the energy and losses, {way}",
            energy_error(step),
            CONSERVED,
            "Theory gives this value exactly; only round-off is left.",
        )
    curves.append(Curve(time, speed[0] - lost_speed * time, "mu g", ":"))
    f.figure("Speed of the sliding block", curves, "Time [s]", "Speed [m/s]")


def _reduced(f: Findings) -> None:
    corners = {f"c{k}": f"block:{s}" for k, s in enumerate(
        ("bottom_front_left", "bottom_front_right", "bottom_back_left", "top_front_left")
    )}  # fmt: skip
    part = reduce_part(part_and_ball_alone(), corners, modes=500)
    full = float(np.nanmax(solve(part_and_ball()).steps[0].series["sensor/force"]))
    for modes, relative, reason in (
        (None, 1e-4, "independent computation, all shapes: strains of second order are left"),
        (40, 5e-3, "independent computation, 40 shapes of 114"),
    ):
        step = solve(part_and_ball(part, modes)).steps[0]
        f.row(
            "B-REDUCED-FACES", f"largest force on the ball, {modes or 'all'} shapes [N]",
            float(np.nanmax(step.series["sensor/force"])), full, reason, SELF, tolerance=relative * full,
        )  # fmt: skip
        for name in ("linear momentum", "angular momentum"):
            f.zero(
                "B-REDUCED-FACES", f"change of the {name}, {modes or 'all'} shapes", constancy(step, name), CONSERVED,
                "Theory gives this value exactly; only round-off is left.",
            )  # fmt: skip
        f.zero(
            "B-REDUCED-FACES", f"change of the energy, {modes or 'all'} shapes", energy_error(step, constant=True),
            CONSERVED, "Theory gives this value exactly; only round-off is left.",
        )  # fmt: skip


def part_and_ball_alone() -> Model:
    """Return the block alone, to be reduced."""
    model = Model(3, "block")
    model.mesh("block", box={"size": (0.4, 0.3, 0.1), "n": (4, 3, 1)})
    model.solid_material("soft", 1e7, 0.3, density=1000.0)
    model.solids("block", "block", "soft")
    return model
