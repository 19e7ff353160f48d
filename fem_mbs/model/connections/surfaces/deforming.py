"""Contact with what deforms: lines of tubes and faces, whose near parts are found in the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fem_mbs.elements.registry import element_type
from fem_mbs.errors import ModelError, Owner
from fem_mbs.model.building import Building
from fem_mbs.model.connections.surfaces.faces import face_pairing, face_triangles
from fem_mbs.model.connections.surfaces.lines import (
    ball_pairing,
    line_of,
    names_of,
    spaced_places,
    start_overlaps,
    tube_pairing,
)
from fem_mbs.model.parts.reduced_surface import surface_nodes
from fem_mbs.system.blocks import GROUND
from fem_mbs.system.near_parts import TubePairing
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
    on_faces = said.surface == "faces"
    places = said.along and said.surface != "beams"
    for name, of in (("spacing", places), ("margin", deforms), ("pairs", deforms), ("both", on_faces)):
        if getattr(said, name) not in (None, False) and not of:
            what = "beams and faces that deform"
            if name in ("spacing", "both"):
                what = "lines on surfaces (along)" if name == "spacing" else "faces"
            raise ModelError(f"{name} is for {what}", owner=owner, key=name, remedy=f"remove {name}")
    for name, of in (("ball", said.along), ("radius", said.surface == "beams")):
        value = getattr(said, name)
        if of and value is not None and not building.number(value, owner, name, 0.0) > 0.0:
            raise ModelError(
                f"beams that touch along their length need a radius, and {name} = {value:g}", owner=owner, key=name,
                value=value, remedy=f"give {name}",
            )  # fmt: skip
    if said.approach is not None and (not deforms or said.restitution is None):
        why = "contact of rigid surfaces finds it in the run" if not deforms else "only restitution needs it"
        raise ModelError(
            f"approach = {said.approach:g}: {why}", owner=owner, key="approach", value=said.approach,
            remedy="remove approach",
        )  # fmt: skip
    if not deforms:
        return
    for name in ("point", "axis"):
        if getattr(said, name) is not None:
            raise ModelError(f"{said.surface} have no {name}", owner=owner, key=name, remedy=f"remove {name}")
    if said.inside:
        raise ModelError(f"{said.surface} have no inside", owner=owner, key="inside", remedy="remove inside")
    if said.restitution is not None and said.approach is None:
        raise ModelError(
            f"restitution of {said.surface}, whose pairs come and go, is that of blows at one speed", owner=owner,
            key="restitution", value=said.restitution, remedy="give approach, or damping instead",
        )  # fmt: skip
    if said.restitution is not None and said.restitution_model == "indentation":
        raise ModelError(
            f"{said.surface} keep no indentation", owner=owner, key="restitution_model", value="indentation",
            remedy='take "gonthier"',
        )  # fmt: skip
    if said.surface == "faces" and building.dimension == 2:
        raise ModelError("faces are for space", owner=owner, key="surface", value="faces", remedy="use beams")
    if said.both and said.along:
        raise ModelError("beams have no faces", owner=owner, key="both", value=True, remedy="remove both")
    if on_faces and said.along and said.table is not None:
        raise ModelError("lines on faces have no table", owner=owner, key="table", remedy="give stiffness and exponent")


def add_near_pairs(
    said: Any, building: Building, owner: Owner, law: dict[str, float], friction: dict[str, float], table: np.ndarray
) -> tuple[float, str]:
    """Add the elements of pairs of parts; return the smallest gap [m] at the start, and words on its parts."""
    radii = (
        0.0 if said.radius is None else building.number(said.radius, owner, "radius", 0.0),
        building.number(said.ball, owner, "ball", 0.0),
    )
    margin = None if said.margin is None else building.number(said.margin, owner, "margin", 0.0, strict=True)
    worst, words = np.inf, ""
    made = _faces if said.surface == "faces" else _beams
    for kind, pairing, columns in made(said, building, owner, radii, margin, law):
        room = _ROOM[said.surface] * (len(pairing.a) + len(pairing.b)) if said.pairs is None else said.pairs
        if room < 1:
            raise ModelError(f"pairs = {room} is no room", owner=owner, key="pairs", value=room, remedy="give more")
        count = min(room, len(pairing.a) * len(pairing.b))
        rubs = friction if "coefficient" in element_type(kind).par else {}
        nodes = np.full((count, pairing.a.shape[1] + pairing.b.shape[1]), GROUND)
        block = building.add_block(
            said.name, kind, nodes, table, **{**law, **rubs, **columns, "distance": pairing.reach}
        )
        block.pairing = pairing
        near, gaps = start_overlaps(building, pairing)
        if not len(near) or gaps.min() >= worst:
            continue
        at = int(np.argmin(gaps))
        one, two = (names_of(building, s[k]) for s, k in zip((pairing.a, pairing.b), near[at], strict=True))
        worst, words = float(gaps[at]), f"{two} overlaps with the {DEFORMING[said.surface]} {one}"
    return worst, words


#: Elements of pairs: their type, the parts, and columns of their own.
_Made = Iterator[tuple[str, Pairing, dict[str, float]]]


def _beams(
    said: Any, building: Building, owner: Owner, radii: tuple[float, float], margin: float | None, law: dict[str, float]
) -> _Made:
    """Yield the pairs of beams with balls or beams."""
    kind = f"rubbing_tube_pair{building.dimension}" if said.coefficient else f"tube_pair{building.dimension}"
    a = line_of(building, owner, "a", said.a)
    if not said.along:
        balls = _balls(said, building, owner, a.nodes, "beams")
        pairing = ball_pairing(building, owner, a, balls, radii, margin)
        _let_rub(said, building, owner, pairing, radii)
        yield kind, pairing, {"ball": 1.0}
        return
    pairing = tube_pairing(building, owner, a, line_of(building, owner, "b", said.b), radii, margin)
    _let_rub(said, building, owner, pairing, radii)
    if pairing.same and radii[0] != radii[1]:
        raise ModelError(
            f"beams that touch each other have one radius, not {radii[0]:g} and {radii[1]:g}", owner=owner,
            key="ball", value=said.ball, remedy="give ball = radius",
        )  # fmt: skip
    yield kind, pairing, {"ball": 0.0}


def _let_rub(
    said: Any, building: Building, owner: Owner, pairing: TubePairing, radii: tuple[float, float]
) -> None:  # fmt: skip
    """Set the radii of a pairing with friction, and which of its parts have rotations.

    Raises:
        ModelError: parts of both sides have none, so that nothing can bear the moment of their friction.
    """
    if not said.coefficient:
        return
    turning = np.fromiter(building.rotational, np.int64, len(building.rotational))
    turns = [np.asarray(np.isin(nodes, turning).all(axis=1)) for nodes in (pairing.a, pairing.b)]
    pairing.radii, pairing.turns_a, pairing.turns_b = radii, turns[0], turns[1]
    if turns[0].all() or turns[1].all():
        return
    a, b = (
        names_of(building, nodes[int(np.argmin(turn))])
        for nodes, turn in zip((pairing.a, pairing.b), turns, strict=True)
    )
    raise ModelError(
        f"{a} and {b} have no rotations, and friction turns at least one of both parts", owner=owner,
        key="coefficient", value=said.coefficient, remedy="make one of them of beams or bodies, or remove coefficient",
    )  # fmt: skip


def _faces(
    said: Any, building: Building, owner: Owner, radii: tuple[float, float], margin: float | None, law: dict[str, float]
) -> _Made:
    """Yield the pairs of faces with balls or beams; with ``both`` also those of the nodes of a with the faces of b."""
    reach = sum(radii)
    if not reach > 0.0:
        raise ModelError(
            "faces touch at a distance, and neither ball nor radius is given", owner=owner, key="ball", value=said.ball,
            remedy="give ball, that of nodes small beside the faces",
        )  # fmt: skip
    triangles = face_triangles(building, owner, said.a)
    if said.along:
        yield "face_line_pair3", _line_on_faces(said, building, owner, triangles, reach, margin, law), {}
        return
    if not said.both:
        balls = _balls(said, building, owner, triangles, "faces")
        yield "face_pair3", face_pairing(building, owner, triangles, balls[:, None], reach, margin), {}
        return
    if said.table is not None:
        raise ModelError("faces that touch both ways have no table", owner=owner, key="table", remedy="give stiffness")
    others = face_triangles(building, owner, said.b, "b")
    _refuse_own(said, building, owner, np.unique(others), triangles, "faces")
    for faces, nodes in ((triangles, np.unique(others)), (others, np.unique(triangles))):
        pairing = face_pairing(building, owner, faces, nodes[:, None], reach, margin)
        yield "face_pair3", pairing, {"stiffness": 0.5 * law["stiffness"]}


def _line_on_faces(
    said: Any, building: Building, owner: Owner, triangles: np.ndarray, reach: float, margin: float | None,
    law: dict[str, float],
) -> Pairing:  # fmt: skip
    """Return the pairing of faces with places of lines; the length that a place stands for, over the diameter of the
    line, is its share of the stiffness."""
    line = line_of(building, owner, "b", said.b)
    _refuse_own(said, building, owner, np.unique(line.nodes), triangles, "faces")
    spacing = 2.0 * said.ball
    if said.spacing is not None:
        spacing = building.number(said.spacing, owner, "spacing", 0.0, strict=True)
    places = spaced_places(said, owner, line, spacing)
    stiffness = law["stiffness"] * places.share / (2.0 * said.ball)
    return face_pairing(building, owner, triangles, places.nodes, reach, margin, places.at, stiffness)


def _balls(said: Any, building: Building, owner: Owner, nodes: np.ndarray, what: str) -> np.ndarray:
    """Return the nodes (n,) of b, which are none of a."""
    balls = np.unique(surface_nodes(building, owner, said.b))
    if not len(balls):
        raise ModelError("b names no nodes", owner=owner, key="b", value=said.b, remedy="name balls")
    _refuse_own(said, building, owner, balls, nodes, what)
    rubs_faces = said.coefficient and what == "faces"
    turning = {body.node for body in building.bodies.values()} if rubs_faces else set()
    for k in balls:
        if int(k) in turning:
            raise ModelError(
                f'"{building.node_name(int(k))}" is a body, which friction would turn; that of faces acts on nodes '
                "that deform with their part", owner=owner, key="b", value=said.b,
                remedy="name nodes of solids, shells or beams, or remove coefficient",
            )  # fmt: skip
    return balls


def _refuse_own(said: Any, building: Building, owner: Owner, balls: np.ndarray, nodes: np.ndarray, what: str) -> None:
    """Raise ModelError where nodes of b are nodes of a too."""
    own = np.isin(balls, nodes)
    if own.any():
        name = building.node_name(int(balls[own][0]))
        raise ModelError(
            f'node "{name}" of b is one of the {what} of a', owner=owner, key="b", value=said.b,
            remedy="name other nodes" + (", or let a touch itself by along" if what == "beams" else ""),
        )  # fmt: skip
