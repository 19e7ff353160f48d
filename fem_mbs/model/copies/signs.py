"""Signs of coordinates in a mirror: whether that of a copy counts as the image of the original or against it."""

from __future__ import annotations

from typing import Any

from fem_mbs.model.connections.joints import Joint
from fem_mbs.model.copies.movement import Copying

__all__ = ["driven_sign", "joint_sign", "scaled"]

_ANGLES_IN_PLANE = ("pin", "spherical", "revolute", "weld", "angle")
_ALONG_AXIAL = ("cylindrical", "planar", "screw")  # axes of rotation, along which displacements count too


def scaled(function: Any, sign: float) -> Any:
    """Return a function, or its negative."""
    if function is None or sign > 0.0:
        return function
    if isinstance(function, (int, float)):
        return -function
    return {"kind": "scaled", "factor": -1.0, "function": function}


def joint_sign(c: Copying, name: str | None, coordinate: str | None) -> float:
    """Return the sign of a coordinate of a joint's copy; of a joint that is shared 1."""
    if not c.movement.mirrors or name is None:
        return 1.0
    joint = next((d for d in c.said_of(Joint) if d.name == name), None)
    kind = joint.kind if joint is not None else ""
    if c.movement.dimension == 2:
        return -1.0 if kind in _ANGLES_IN_PLANE else 1.0
    along = coordinate is not None and coordinate not in ("", "angle", "angle_b", "drive moment")
    return -1.0 if kind in _ALONG_AXIAL and along else 1.0


def driven_sign(c: Copying, joint: Joint) -> float:
    """Return the sign of the function that drives a joint's copy."""
    if not c.movement.mirrors:
        return 1.0
    if joint.displacement is not None and joint.function is None:
        return joint_sign(c, joint.name, "displacement")
    return joint_sign(c, joint.name, None)
