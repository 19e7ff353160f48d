"""Friction of joints whose surfaces slide and turn on each other at once: bushes on shafts, discs on planes."""

from __future__ import annotations

from typing import Any

from fem_mbs.errors import ModelError
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_parts import joint_coordinate

__all__ = ["rub_cylinder", "rub_disc"]


def rub_cylinder(building: Building, owner: str, name: str, law: dict[str, float], joint: str, length: Any) -> None:
    """Add friction of a bush on a shaft, against sliding along the axis and turning about it.

    ``length``: of the bush, both ends of which press, from the force and the moment of the joint; None: only the force
        of
    the joint presses.
    """
    bush = float("inf") if length is None else building.number(length, owner, "length", 0.0, strict=True)
    _, slide = joint_coordinate(building, joint, "displacement", owner)
    _, angle = joint_coordinate(building, joint, "angle", owner)
    columns = law | {"length": bush} | slide.columns | angle.columns
    building.add_block(name, "friction_cylinder3", [slide.nodes], **columns).reads = [joint]


def rub_disc(
    building: Building, owner: str, name: str, law: dict[str, float], joint: str, plane: dict[str, float], inner: Any
) -> None:
    """Add friction of a disc or ring on a plane, against its sliding and its spin.

    ``plane``: columns of both displacements; ``inner``: inner radius of the ring, None: a disc.

    Raises:
        ModelError: an inner radius that is not less than the outer one.
    """
    hole = 0.0 if inner is None else building.number(inner, owner, "inner_radius", 0.0)
    if hole >= law["radius"]:
        raise ModelError(
            f"inner_radius = {hole:g} must be less than radius = {law['radius']:g}",
            owner=owner,
            key="inner_radius",
            value=inner,
            remedy="give the radii of the ring that touches",
        )
    _, angle = joint_coordinate(building, joint, "angle", owner)
    columns = law | {"inner radius": hole} | plane | angle.columns
    building.add_block(name, "friction_disc3", [angle.nodes], **columns).reads = [joint]
