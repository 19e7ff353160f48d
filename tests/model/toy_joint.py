"""A joint in one file, as a package beside fem-mbs would add one: an Oldham coupling of two parallel shafts."""

from __future__ import annotations

from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_kinds import JointKind, register_joint
from fem_mbs.model.connections.joint_parts import JointRequest, relative_rotation

NAME = "oldham"


def oldham(building: Building, j: JointRequest) -> None:
    """Two shafts turn alike, however they are displaced: the relative rotation about the axis is zero."""
    relative_rotation(building, j, j.axis, -1)


KIND = JointKind("two parallel shafts turn by the same angle", oldham, ("axis",), ())

register_joint(NAME, KIND)
