"""Friction in gears, ropes over pulleys, screws, universal and ball joints: the elements that each is made of.

All of them are pressed by their own constraint: a gear's, rope's or screw's by its force on a coordinate,
|lambda factor|, where lambda is the multiplier of p s_a + q s_b = c (`fem_mbs.elements.joints.coupled`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fem_mbs.errors import ModelError
from fem_mbs.model.building import Building
from fem_mbs.model.records import JointCoordinate, JointData

__all__ = ["add_friction", "rub_ball", "rub_gear", "rub_screw", "rub_universal"]

Law = dict[str, float]


def add_friction(building: Building, label: str, law: Law, c: JointCoordinate, joint: str) -> None:
    """Add friction on one coordinate, pressed by a joint ("": by none)."""
    kind = "angle" if c.angular else "offset"
    block = building.add_block(label, f"friction_{kind}{building.dimension}", [c.nodes], **c.columns, **law)
    block.reads = [joint]


def _add_both(building: Building, name: str, joint: str, parts: Sequence[tuple[str, JointCoordinate, Law]]) -> None:
    """Add friction on several coordinates of a joint, as elements called by the friction and the coordinate."""
    for key, c, law in parts:
        add_friction(building, building.label("Friction", f"{name}:{key}").name, law, c, joint)


def rub_gear(
    building: Building, owner: str, name: str, law: Law, joint: str, efficiency: Any, coefficient: Any, wrap: Any
) -> None:
    """Add the loss of a gear, rack or rope, on both coordinates.

    With the force L of the constraint on each coordinate, t L acts against its motion: what drives gives L (1 + t),
    what is driven gets L (1 - t).  Their ratio is the efficiency, or e^(-mu phi) of a rope (Euler 1769, Eytelwein
    1808), whichever drives.
    """
    data: JointData = building.joints[joint]
    assert data.coupled is not None
    (a, factor_a), (b, factor_b) = data.coupled
    if efficiency is not None:
        if wrap is not None:
            raise ModelError("wrap belongs to coefficient", owner=owner, remedy="remove wrap, or efficiency")
        eta = building.number(efficiency, owner, "efficiency", 0.0, strict=True)
        if eta > 1.0:
            raise ModelError(
                f"efficiency = {eta:g} must be at most 1",
                owner=owner,
                key="efficiency",
                value=efficiency,
                remedy="give power out over power in",
            )
        share = (1.0 - eta) / (1.0 + eta)
    elif a.angular or b.angular:
        raise ModelError(
            f'gear "{joint}" has an angle, whose loss no coefficient says', owner=owner, remedy="give efficiency"
        )
    elif wrap is None:
        raise ModelError(
            "the friction of a rope needs the angle by which it wraps its pulleys [rad]",
            owner=owner,
            remedy="add wrap, or give efficiency instead of coefficient",
        )
    else:
        mu = building.number(coefficient, owner, "coefficient", 0.0)
        share = math.tanh(0.5 * mu * building.number(wrap, owner, "wrap", 0.0, strict=True))
    # b moves |factor_a/factor_b| times as much as a, and the same tanh shall belong to both
    ratio = abs(factor_a / factor_b)
    _add_both(
        building, name, joint,
        [
            ("a", a, law | {"coefficient": share * abs(factor_a)}),
            ("b", b, law | {"coefficient": share * abs(factor_b), "smoothing speed": law["smoothing speed"] * ratio}),
        ],
    )  # fmt: skip


def rub_screw(building: Building, name: str, law: Law, joint: str, radius: float) -> None:
    """Add friction along a thread of the mean radius ``radius``, on the angle and on the displacement.

    With the lead angle tan(alpha) = lead/(2 pi r), the force on the slide is N cos(alpha), N normal to the thread.
    """
    data: JointData = building.joints[joint]
    assert data.coupled is not None
    (angle, by_angle), (slide, by_slide) = data.coupled
    alpha = math.atan(abs(by_angle / by_slide) / radius)
    cos, sin = math.cos(alpha), math.sin(alpha)
    share = abs(by_slide) / cos

    def along(radius: float, part: float) -> Law:
        """Return the law of a coordinate: its arm, and the part of the sliding speed that its rate times the arm is."""
        scaled = {key: law[key] * share for key in ("coefficient", "static coefficient") if key in law}
        speeds = {key: law[key] * part for key in ("smoothing speed", "Stribeck speed") if key in law}
        return law | scaled | speeds | {"radius": radius}

    _add_both(
        building,
        name,
        joint,
        [("angle", angle, along(radius * cos, cos**2)), ("displacement", slide, along(sin, sin**2))],
    )


def rub_universal(building: Building, name: str, law: Law, joint: str) -> None:
    """Add friction of the pins on both axes, each pressed by the force of the joint."""
    coordinates = building.joints[joint].coordinates
    _add_both(building, name, joint, [(key, coordinates[key], dict(law)) for key in ("angle", "angle_b")])


def rub_ball(building: Building, owner: str, name: str, law: Law, joint: str) -> None:
    """Add friction of a ball joint in space, against the relative angular velocity."""
    nodes = next(b.nodes[0] for b in building.blocks if b.groups[0][0] == joint and b.type.name == "point3")
    building.needs_rotation += [(owner, int(node)) for node in nodes if node >= 0]
    block = building.add_block(name, "friction_ball3", [nodes], **law)
    block.reads = [joint]
