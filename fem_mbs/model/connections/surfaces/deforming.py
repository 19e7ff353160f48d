"""Contact with what deforms: lines of tubes and faces, whose near parts are found in the run."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.model.building import Building
from fem_mbs.model.connections.surfaces.faces import face_pairing, face_triangles
from fem_mbs.model.connections.surfaces.lines import (
    ball_pairing,
    line_of,
    names_of,
    start_overlaps,
    tube_pairing,
)
from fem_mbs.model.parts.reduced_surface import surface_nodes
from fem_mbs.system.blocks import GROUND
from fem_mbs.system.pairing import Pairing

__all__ = ["DEFORMING", "add_near_pairs", "check_lines"]

#: Surfaces that deform, and what messages call a part of them.
DEFORMING = {"beams": "beam", "faces": "face"}
#: Pairs that there is room for, per part.
_ROOM = {"beams": 4, "faces": 8}


def check_lines(said: Any, building: Building, owner: Owner) -> None:
    """Raise ModelError for keys of lines and faces at other surfaces, for those without a radius, and for what contact
    with what deforms does not have; ``said`` is the declaration of the contact."""
    deforms = said.surface in DEFORMING
    for name, of in (("spacing", said.along and not deforms), ("margin", deforms), ("pairs", deforms)):
        if getattr(said, name) is not None and not of:
            what = "lines on surfaces of bodies (along)" if name == "spacing" else "beams and faces that deform"
            raise ModelError(f"{name} is for {what}", owner=owner, key=name, remedy=f"remove {name}")
    for name, of in (("ball", said.along), ("radius", said.surface == "beams")):
        value = getattr(said, name)
        if of and value is not None and not building.number(value, owner, name, 0.0) > 0.0:
            raise ModelError(
                f"beams that touch along their length need a radius, and {name} = {value:g}", owner=owner, key=name,
                value=value, remedy=f"give {name}",
            )  # fmt: skip
    if not deforms:
        return
    for name in ("point", "axis", "static", "stribeck", "smoothing"):
        if getattr(said, name) is not None:
            raise ModelError(f"{said.surface} have no {name}", owner=owner, key=name, remedy=f"remove {name}")
    if said.inside:
        raise ModelError(f"{said.surface} have no inside", owner=owner, key="inside", remedy="remove inside")
    if said.coefficient:
        raise ModelError(
            f"{said.surface} that deform touch without friction", owner=owner, key="coefficient",
            value=said.coefficient, remedy="remove coefficient",
        )  # fmt: skip
    if said.restitution is not None:
        raise ModelError(
            "restitution is for surfaces of bodies", owner=owner, key="restitution", value=said.restitution,
            remedy="give damping",
        )  # fmt: skip
    if said.surface == "faces" and building.dimension == 2:
        raise ModelError("faces are for space", owner=owner, key="surface", value="faces", remedy="use beams")
    if said.surface == "faces" and said.along:
        raise ModelError(
            "faces touch balls and nodes, no lines", owner=owner, key="along", value=True, remedy="remove along"
        )


def add_near_pairs(
    said: Any, building: Building, owner: Owner, law: dict[str, float], table: np.ndarray
) -> tuple[float, str]:
    """Add the elements of pairs of parts; return the smallest gap [m] at the start, and words on its parts."""
    radii = (
        0.0 if said.radius is None else building.number(said.radius, owner, "radius", 0.0),
        building.number(said.ball, owner, "ball", 0.0),
    )
    margin = None if said.margin is None else building.number(said.margin, owner, "margin", 0.0, strict=True)
    pairing, columns = (_faces if said.surface == "faces" else _beams)(said, building, owner, radii, margin)
    room = _ROOM[said.surface] * (len(pairing.a) + len(pairing.b)) if said.pairs is None else said.pairs
    if room < 1:
        raise ModelError(f"pairs = {room} is no room", owner=owner, key="pairs", value=room, remedy="give more")
    nodes = np.full((min(room, len(pairing.a) * len(pairing.b)), 4), GROUND)
    kind = "face_pair3" if said.surface == "faces" else f"tube_pair{building.dimension}"
    block = building.add_block(said.name, kind, nodes, table, distance=pairing.reach, **columns, **law)
    block.pairing = pairing
    near, gaps = start_overlaps(building, pairing)
    if not len(near):
        return np.inf, ""
    worst = int(np.argmin(gaps))
    one, two = (names_of(building, s[k]) for s, k in zip((pairing.a, pairing.b), near[worst], strict=True))
    return float(gaps[worst]), f"{two} overlaps with the {DEFORMING[said.surface]} {one}"


def _beams(
    said: Any, building: Building, owner: Owner, radii: tuple[float, float], margin: float | None
) -> tuple[Pairing, dict[str, float]]:
    a = line_of(building, owner, "a", said.a)
    if not said.along:
        balls = _balls(said, building, owner, a.nodes, "beams")
        return ball_pairing(building, owner, a, balls, radii, margin), {"ball": 1.0}
    pairing = tube_pairing(building, owner, a, line_of(building, owner, "b", said.b), radii, margin)
    if pairing.same and radii[0] != radii[1]:
        raise ModelError(
            f"beams that touch each other have one radius, not {radii[0]:g} and {radii[1]:g}", owner=owner,
            key="ball", value=said.ball, remedy="give ball = radius",
        )  # fmt: skip
    return pairing, {"ball": 0.0}


def _faces(
    said: Any, building: Building, owner: Owner, radii: tuple[float, float], margin: float | None
) -> tuple[Pairing, dict[str, float]]:
    if not sum(radii) > 0.0:
        raise ModelError(
            "faces touch at a distance, and neither ball nor radius is given", owner=owner, key="ball", value=said.ball,
            remedy="give ball, that of nodes small beside the faces",
        )  # fmt: skip
    triangles = face_triangles(building, owner, said.a)
    return face_pairing(
        building, owner, triangles, _balls(said, building, owner, triangles, "faces"), sum(radii), margin
    ), {}


def _balls(said: Any, building: Building, owner: Owner, nodes: np.ndarray, what: str) -> np.ndarray:
    """Return the nodes (n,) of b, which are none of a."""
    balls = np.unique(surface_nodes(building, owner, said.b))
    if not len(balls):
        raise ModelError("b names no nodes", owner=owner, key="b", value=said.b, remedy="name balls")
    own = np.isin(balls, nodes)
    if own.any():
        name = building.node_name(int(balls[own][0]))
        raise ModelError(
            f'node "{name}" of b is one of the {what} of a', owner=owner, key="b", value=said.b,
            remedy="name other nodes" + (", or let a touch itself by along" if what == "beams" else ""),
        )  # fmt: skip
    return balls
