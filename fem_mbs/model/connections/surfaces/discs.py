"""Discs that roll on a plane of the ground without slip, for `Model.joint`."""

from __future__ import annotations

import numpy as np

from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import ModelError
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_parts import JointRequest

__all__ = ["rolling_disc"]

_FLAT = 1e-3  # sine between spin axis and normal below which a disc lies flat


def rolling_disc(building: Building, j: JointRequest) -> None:
    """Add the constraints of a disc on a wheel: it touches the plane and does not slip."""
    if j.b != "ground":
        raise ModelError(
            f'a disc rolls on the ground, not on "{j.b}"', owner=j.owner, key="b", value=j.b, remedy='let b be "ground"'
        )
    if j.radius is None:
        raise ModelError("a disc needs its radius", owner=j.owner, key="radius", remedy="add radius = ...")
    radius = building.number(j.radius, j.owner, "radius", 0.0, strict=True)
    crown = 0.0 if j.crown is None else building.number(j.crown, j.owner, "crown", 0.0)
    if crown > radius:
        raise ModelError(
            f"crown = {crown:g} must be at most radius = {radius:g}", owner=j.owner, key="crown", value=crown
        )
    node, centre = building.point(j.a, j.point, j.owner)
    if node < 0:
        raise ModelError('"ground" is no wheel', owner=j.owner, key="a", value=j.a, remedy="name a body")
    building.turning_node(j.a, j.owner)
    axle = building.axis(j.axis, j.owner)
    normal = building.axis([0.0, 0.0, 1.0] if j.axis_b is None else j.axis_b, j.owner, "axis_b")
    along = np.cross(axle, normal)
    if radius > crown and np.linalg.norm(along) < _FLAT:
        raise ModelError(
            f"axis {shown(j.axis)} is along the normal of the plane: the disc lies flat", owner=j.owner, key="axis",
            value=j.axis, remedy="give the axis about which it spins",
        )  # fmt: skip
    along = building.triad(j.owner, normal)[:, 0] if np.linalg.norm(along) < _FLAT else along / np.linalg.norm(along)
    sine = float(normal @ axle)
    height = (radius - crown) * np.sqrt(max(1.0 - sine * sine, 0.0)) + crown
    place = building.global_point(node, centre) - height * normal
    if j.point_b is not None:
        place = building.vector(j.point_b, j.owner, "point_b")
    columns = {"radius less crown": radius - crown, "crown radius": crown}
    own = building.rotation_matrix(node).T @ axle
    for word, vector in zip("nca", (normal, centre, own), strict=True):
        columns |= {f"{word}{c}": float(v) for c, v in zip("xyz", vector, strict=True)}
    building.add_block(j.name, "disc_touch3", [node], **columns, **_columns("p", place))
    slip = _columns("t", along) | _columns("u", np.cross(normal, along))
    building.add_block(j.name, "disc_roll3", [node], **columns, **slip)


def _columns(word: str, vector: np.ndarray) -> dict[str, float]:
    return {f"{word}{c}": float(v) for c, v in zip("xyz", vector, strict=True)}
