"""Coordinates on which actuators work, and functions of time that they follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.elements.joints.coordinate import ANGLE, LENGTH, OFFSET
from fem_mbs.errors import ModelError
from fem_mbs.functions.kinds import make_function
from fem_mbs.functions.laws import Derivative, TimeFunction
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_parts import joint_coordinate
from fem_mbs.model.records import JointCoordinate

__all__ = ["KINDS", "clock_index", "law_of_time", "reference_indices", "worked_on"]

#: What element types of forces on a kind of coordinate are called after.
KINDS = {LENGTH: "length", OFFSET: "offset", ANGLE: "angle"}


def worked_on(building: Building, owner: str, joint, coordinate, a, b, point_a, point_b):
    """Return kind, nodes, columns and start of the coordinate of a joint, or of the distance of two points; its
    name."""
    if (joint is None) == (a is None):
        raise ModelError("give either joint, or a and b, the ends of a distance", owner=owner)
    if joint is not None:
        if any(v is not None for v in (b, point_a, point_b)):
            raise ModelError(
                "b, point_a and point_b belong to a distance", owner=owner, remedy="with joint remove them"
            )
        key, c = joint_coordinate(building, joint, coordinate, owner)
        return ANGLE if c.angular else OFFSET, c, key
    if b is None:
        raise ModelError("a distance needs its other end", owner=owner, remedy="add b")
    if coordinate is not None:
        raise ModelError(
            f"coordinate = {coordinate!r} belongs to a joint",
            owner=owner,
            key="coordinate",
            value=coordinate,
            remedy="between two points remove it",
        )
    nodes, columns = [], {}
    for end, place, point in (("a", a, point_a), ("b", b, point_b)):
        node, offset = building.point(place, point, owner, key=f"point_{end}")
        nodes.append(node)
        columns.update({f"a{c}_{end}": float(v) for c, v in zip("xyz"[: building.dimension], offset, strict=True)})
    names = "xyz"[: building.dimension]
    ends = [
        building.global_point(n, np.array([columns[f"a{c}_{end}"] for c in names]))
        for n, end in zip(nodes, "ab", strict=True)
    ]
    length = float(np.linalg.norm(ends[1] - ends[0]))
    if length == 0.0:
        raise ModelError(
            "its two points coincide, so that their distance has no direction", owner=owner, remedy="move one"
        )
    return LENGTH, JointCoordinate(False, (nodes[0], nodes[1]), columns, length), "length"


def law_of_time(building: Building, spec, owner: str) -> TimeFunction:
    return spec if isinstance(spec, TimeFunction) else make_function(spec, owner=owner, functions=building.functions)


def clock_index(building: Building, owner: str) -> float:
    """Return the index of the function that is the time itself."""
    if building.clock is None:
        building.clock = make_function({"kind": "constant_speed", "rate": 1.0}, owner=owner)
    return float(building.function_index(building.clock, owner, load=False))


def reference_indices(building: Building, position: Any, owner: str, rate: bool) -> dict[str, int]:
    """Return the columns "reference" and "reference rate" of a controller: indices of the function ``position`` and, if
    ``rate`` is wanted, of its derivative; -1 for none."""
    if position is None:
        return {"reference": -1, "reference rate": -1}
    law = law_of_time(building, position, owner)
    reference = building.function_index(law, owner, load=False)
    return {
        "reference": reference,
        "reference rate": building.function_index(Derivative(law), owner, load=False) if rate else -1,
    }
