"""Shapes of rigid bodies that are only looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.kinds import shapes_of
from fem_mbs.errors import MeshError, ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.meshes.formats.shapes import box, cylinder, read_shape, sphere
from fem_mbs.rotations import rotation_matrices

__all__ = ["Visual", "visuals_of"]

_COLOUR = "#8fb0cf"
_MOST_TRIANGLES = 300_000  # of one shape: a page that holds more is slow


@dataclass(frozen=True)
class Visual:
    """A surface fixed to a body: points (n, 3) [m] from its node in its axes, triangles (t, 3), colour "#rrggbb"."""

    points: np.ndarray
    triangles: np.ndarray
    colour: str


def visuals_of(given: Any, owner: Owner, key: str = "visual") -> list[Visual]:
    """Return the surfaces of a key, ``visual`` of a body.

    Raises:
        ModelError: no shape, a file that is missing or damaged, a size that is not positive.
    """
    if given is None:
        return []
    try:
        shapes = shapes_of(given)
    except ValueError as error:
        raise ModelError(f"{key} {error}", owner=owner, key=key, value=given) from None
    return [_visual(shape, owner, key) for shape in shapes]


def _visual(shape: dict[str, Any], owner: Owner, key: str) -> Visual:
    """Return the surface of one shape."""
    if "file" in shape:
        try:
            points, triangles = read_shape(shape["file"])
        except MeshError as error:
            raise ModelError(f"{key}: {error}", owner=owner, key=key, value=shape["file"]) from None
        points = float(shape.get("scale", 1.0)) * points
        if len(triangles) > _MOST_TRIANGLES:
            raise ModelError(
                f"{key}: {shape['file']} has {len(triangles)} triangles", owner=owner, key=key,
                remedy=f"reduce it to {_MOST_TRIANGLES} or less",
            )  # fmt: skip
    elif shape["shape"] == "box":
        points, triangles = box(np.asarray(shape["size"], float))
    elif shape["shape"] == "cylinder":
        points, triangles = cylinder(float(shape["radius"]), float(shape["length"]))
    else:
        points, triangles = sphere(float(shape["radius"]))
    R = rotation_matrices(shape.get("rotation", (0.0, 0.0, 0.0)))
    points = points @ R.T + np.asarray(shape.get("position", (0.0, 0.0, 0.0)), float)
    return Visual(points, triangles, shape.get("colour", _COLOUR))
