r"""Bennett's linkage: four bars and four hinges in space that move, although they should not.

                B _______ C             opposite bars are equal, of the lengths a and b; the hinges at their ends are
                 /      /               twisted by p and q, with a sin q = b sin p
                /______/
               A        D               AD stands; AB is turned by the angle t

Three bars have 18 coordinates, four hinges 20 conditions: three too many for the motion that there is.  The angle u of
hinge B follows

    tan(t/2) tan(u/2) = sin((q + p)/2)/sin((q - p)/2).

Source: G.T. Bennett, "A new mechanism", Engineering 76 (1903) 777-778; "The skew isogram mechanism", Proc. London Math.
Soc. 13 (1914) 151-173.  The reference is the formula above.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import Model, solve
from fem_mbs.validation.case import CONSERVED, Curve, Findings, energy_error
from fem_mbs.validation.kinds import CLOSED_FORM

CAPABILITY = "mechanisms"
CASES = {"B-BENNETT": "places of an over-constrained linkage that is driven, its energy when it runs freely"}

TWISTS = np.deg2rad((30.0, 70.0))
LENGTHS = 1.0, float(np.sin(TWISTS[1]) / np.sin(TWISTS[0]))
START, TURN = np.deg2rad(60.0), np.deg2rad(240.0)
INCREMENTS = 24


def places(angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points A, B, C, D (4, 3) and directions of the hinges there (4, 3) by the angle of hinge A."""
    p, q = TWISTS
    other = 2.0 * np.arctan2(np.sin(0.5 * (q + p)), np.sin(0.5 * (q - p)) * np.tan(0.5 * angle))
    frame, at = np.eye(3), np.zeros(3)
    points, axes = [], []
    for turn, length, twist in zip((angle, other, -angle), (*LENGTHS, LENGTHS[0]), (p, q, p), strict=True):
        points.append(at)
        axes.append(frame[:, 2])
        c, s = np.cos(turn), np.sin(turn)
        frame = frame @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        at = at + length * frame[:, 0]
        c, s = np.cos(twist), np.sin(twist)
        frame = frame @ np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    return np.array([*points, at]), np.array([*axes, frame[:, 2]])


def linkage(gravity: tuple[float, float, float] | None = None) -> Model:
    """Return the linkage without a drive and a step; bars of 1 kg per metre."""
    model = Model(3, "Bennett's linkage", gravity=gravity)
    points, axes = places(START)
    names = ("AB", "BC", "CD")
    for name, a, b in zip(names, points, points[1:], strict=False):
        length = float(np.linalg.norm(b - a))
        model.body(name, 0.5 * (a + b), length, [length**3 / 12.0] * 3)
    for hinge, a, b, point, axis in zip("BCD", names, (*names[1:], "ground"), points[1:], axes[1:], strict=True):
        model.joint(hinge, "revolute", a, b, point=point, axis=axis)
    for name, bar, point in (("B", "AB", points[1]), ("C", "BC", points[2])):
        model.sensor(name, "position", on=bar, point=point)
    return model


def build() -> Model:
    """Return the linkage, hinge A driven by 240 degrees."""
    model = linkage()
    turn = f"{float(TURN)!r}*t"
    model.joint("A", "revolute", "ground", "AB", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), function=turn)
    model.static_step(increments=INCREMENTS, duration=1.0)
    return model


def free(h: float = 5e-3) -> Model:
    """Return the linkage under gravity."""
    model = linkage(gravity=(0.0, -9.81, 0.0))
    model.joint("A", "revolute", "ground", "AB", point=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
    model.transient_step(2.0, h, frames=50)
    return model


def reference(angles: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Return places of B and C (n, 3) by the angles of hinge A (n,), None: its limits."""
    path = np.array([places(angle)[0] for angle in (START + TURN * np.array((0.0, 1.0)) if angles is None else angles)])
    return {"B": path[:, 1], "C": path[:, 2]}


def check(f: Findings) -> None:
    case, solution = "B-BENNETT", solve(build())
    turned = START + TURN * solution.steps[0].time
    known, driven = reference(turned), solution.sensor("C").values
    turn = np.rad2deg(turned)
    for name, exact in known.items():
        f.zero(case, f"largest error of the place of {name} over the driven turn",
               np.abs(solution.sensor(name).values - exact).max(), 1e-11,
               "The linkage closes in closed form; only round-off is left.", CLOSED_FORM)  # fmt: skip
    solution = solve(free())
    step = solution.steps[0]
    b, c = (solution.sensor(name).values for name in "BC")
    angles = np.arctan2(b[:, 1], b[:, 0])
    exact = np.array([places(angle)[0][2] for angle in angles])
    f.zero(case, "largest error of the place of C by that of B as the linkage runs freely", np.abs(c - exact).max(),
           1e-10, "The linkage closes in closed form; only round-off is left.", CLOSED_FORM)  # fmt: skip
    f.zero(case, "energy of the free linkage", energy_error(step, constant=True), CONSERVED,
           "Theory gives this value exactly; only round-off is left.")  # fmt: skip
    f.figure(
        "Place of C as A is driven",
        [Curve(turn, driven[:, k], name) for k, name in enumerate("xyz")]
        + [Curve(turn, known["C"][:, k], f"{name}, closed form", ":") for k, name in enumerate("xyz")],
        "Angle of hinge A [deg]", "Place [m]",
    )  # fmt: skip
    f.figure("Free linkage", [Curve(step.time, np.rad2deg(np.unwrap(angles)), "A")], "Time [s]", "Angle [deg]")
