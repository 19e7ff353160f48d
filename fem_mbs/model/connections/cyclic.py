"""Cyclic symmetry of the model builder: one sector stands for a wheel of equal ones."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import NAME, NUMBER, PLACES, VECTOR, WHOLE, shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.meshes.cells import DIMENSION, FACETS, facets_of
from fem_mbs.model.building import Building
from fem_mbs.model.connections.terms import add_rows, nodes_at, rows_of_names
from fem_mbs.system.surfaces import closest_points
from fem_mbs.units import unit_of

__all__ = ["CyclicFaces", "CyclicSymmetry", "check_sectors", "rows_of_faces"]

#: Distance up to which nodes of both faces meet, over the size of the facets, if none is given.
_NEAR = 0.05
#: Of that distance: nodes that are nearer to one of the other face are at its place.
_AT = 0.02
#: Distance from the axis over the size of the model: nodes that are nearer lie on it.
_ON = 1e-6
#: Weights below this are none.
_DUST = 1e-12


@dataclass(frozen=True, eq=False)
class CyclicFaces:
    """Two faces of a sector that meet: ``nodes`` (n,) of one are at the places of points of the other turned by
    ``turn`` = +1 or -1 sector; these points have the ``weights`` (n, k) of the nodes ``others`` (n, k).

    ``rotation`` (dim, dim) is that turn; ``turning`` (n,): the nodes have rotations; ``on_axis`` (a,): nodes of both
    faces on the axis; ``gap``: largest distance of a node from its point over the model's size.
    """

    name: str
    sectors: int
    axis: np.ndarray
    point: np.ndarray
    turn: int
    nodes: np.ndarray
    others: np.ndarray
    weights: np.ndarray
    turning: np.ndarray
    on_axis: np.ndarray
    rotation: np.ndarray
    gap: float


def _rotation(dimension: int, axis: np.ndarray, angle: float) -> np.ndarray:
    """Return the rotation (dimension, dimension) by an angle about an axis."""
    c, s = np.cos(angle), np.sin(angle)
    if dimension == 2:
        return np.array(((c, -s), (s, c)))
    x, y, z = axis
    cross = np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))
    return c * np.eye(3) + s * cross + (1.0 - c) * np.outer(axis, axis)


def _facets_on(building: Building, nodes: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Return facets (kind, nodes (m, k)) of plane and solid cells whose nodes are all among ``nodes``."""
    among = np.zeros(building.n_nodes, bool)
    among[nodes] = True
    found = []
    for mesh, start in building.meshes.values():
        for block in mesh.blocks:
            if DIMENSION[block.kind] < 2:
                continue
            cells = start + block.cells
            near = np.flatnonzero(among[cells].sum(axis=1) >= 2)
            each = len(FACETS[block.kind])
            table, numbers = cells[np.repeat(near, each)], np.tile(np.arange(each), len(near))
            for kind, _, facets in facets_of(block.kind, table, numbers):
                inside = among[facets].all(axis=1)
                if inside.any():
                    found.append((kind, facets[inside]))
    return found


@dataclass(frozen=True)
class _Match:
    """Points of a face for each of n nodes: distance (n,) [m], limit (n,) [m], nodes (n, k) and weights (n, k)."""

    distance: np.ndarray
    limit: np.ndarray
    nodes: np.ndarray
    weights: np.ndarray


def _match(
    points: np.ndarray, x: np.ndarray, face: np.ndarray, facets: list[tuple[str, np.ndarray]], tolerance: float | None
) -> _Match:
    """Return where ``points`` (n, dim) meet a face: a node of it, or else a point of one of its facets."""
    from scipy.spatial import cKDTree

    n = len(points)
    tree = cKDTree(x[face])
    distance, nearest = tree.query(points)
    spacing = tree.query(x[face], k=2)[0][:, 1] if len(face) > 1 else np.ptp(x, axis=0).max(keepdims=True)
    size = spacing[nearest]
    limit = np.full(n, tolerance) if tolerance is not None else _NEAR * size
    nodes, weights = face[nearest][:, None], np.ones((n, 1))
    if facets:
        width = max(table.shape[1] for _, table in facets)
        foot = closest_points(points, [(kind, x[table]) for kind, table in facets])
        extent, corner = np.empty(n), np.zeros((n, width), np.int64)
        for g, (_, table) in enumerate(facets):
            mine = np.flatnonzero(foot.group == g)
            extent[mine] = np.ptp(x[table[foot.facet[mine]]], axis=1).max(axis=1)
            corner[mine, : table.shape[1]] = table[foot.facet[mine]]
        if tolerance is None:
            limit = _NEAR * extent
        between = (distance > _AT * np.minimum(limit, _NEAR * extent)) & (foot.distance < distance)
        nodes, weights = np.repeat(nodes, width, axis=1), np.eye(1, width).repeat(n, axis=0)
        share = np.where(np.abs(foot.weights) > _DUST, foot.weights, 0.0)
        nodes[between], weights[between] = corner[between], share[between]
        weights /= weights.sum(axis=1, keepdims=True)
        distance = np.where(between, foot.distance, distance)
    return _Match(distance, limit, nodes, weights)


@dataclass(frozen=True, eq=False)
class CyclicSymmetry(Declaration):
    """A sector that stands for a wheel of equal ones (made after its parts).

    Let the nodes of one face of a sector follow those of the other face, as if equal sectors closed the wheel.

    Static steps and all others but `cyclic_modes` compute what is equal in all sectors (nodal diameter 0): loads act on
    every sector, and forces, masses and energies are those of one.  The equations hold exactly at any size of the
    displacements; rotations of nodes in space count as small ones, as those of `equations` do.  Nodes that are at no
    place of a node of the other face follow the shape functions of its facets.

    Args:
        face: places whose nodes follow.
        other: places of the other face, which is ``face`` turned by one sector about the axis, in either direction.
        sectors: number of sectors of the wheel.
        axis: direction of the axis; none in the plane, where it is across.
        point: (dimension,) on the axis; None: the origin.
        tolerance: [m] within which the faces must meet after the turn; None: 1/20 of the size of the nearest facet.

    What has a direction across the axis in space (weight, base excitation, another centrifugal axis) is refused.  Nodes
    on the axis should be named in a face, with their share of what the wheel has there; else each sector has its own.

    Raises:
        ModelError: the faces do not meet, or another cyclic symmetry has other sectors or another axis.
    """

    owner = "Cyclic symmetry"

    name: str = key(NAME, "in messages and results", shows='"cyclic symmetry 1", ...')
    face: Any = key(PLACES, "whose nodes follow those of the other face")
    other: Any = key(PLACES, "the other face of the sector: `face` turned by one sector, in either direction")
    sectors: int = key(WHOLE, "of the whole wheel, at least 2")
    axis: Any = key(VECTOR, "space: direction of the axis", None)
    point: Any = key(VECTOR, "of the axis", None, shows="origin", unit="m")
    tolerance: float | None = key(
        NUMBER, "within which the faces must meet", None, shows="1/20 of the nearest facet", unit="m"
    )

    def build(self, building: Building) -> None:
        owner = building.label("Cyclic symmetry", self.name)
        count = _sectors(self.sectors, owner)
        tolerance = self.tolerance
        if tolerance is not None:
            tolerance = building.number(tolerance, owner, "tolerance", 0.0)
        axis, point = self._axis(building, owner)
        _agree(building, owner, count, axis, point)
        x = building.positions
        face, other = (np.unique(nodes_at(building, owner, place)) for place in (self.face, self.other))
        away = _away(x, axis, point)
        size = float(np.ptp(x, axis=0).max()) or 1.0
        middle = away <= _ON * size
        on_axis = np.union1d(face[middle[face]], other[middle[other]])
        both = np.setdiff1d(np.intersect1d(face, other), on_axis)
        if both.size:
            raise ModelError(
                f'node "{building.node_name(int(both[0]))}" belongs to both faces and is not on the axis',
                owner=owner,
                remedy="name faces that only meet on the axis",
            )
        face, other = np.setdiff1d(face, on_axis), np.setdiff1d(other, on_axis)
        if not face.size or not other.size:
            which = "face" if not face.size else "other"
            raise ModelError(f"{which} has no nodes beside the axis", owner=owner, key=which)
        turn, match = _turn(building, owner, (face, other), point, axis, count, tolerance)
        turning = np.isin(face, np.fromiter(building.rotational, np.int64, len(building.rotational)))
        found = CyclicFaces(
            self.name, count, axis, point, turn, face, match.nodes, match.weights, turning, on_axis,
            _rotation(building.dimension, axis, turn * 2.0 * np.pi / count), float(match.distance.max()) / size,
        )  # fmt: skip
        building.cyclic.append(found)
        building.warnings.append(
            f"{owner}: steps other than cyclic_modes compute what is equal in all {count} sectors (nodal diameter 0)"
        )
        _add_equations(building, owner, found)

    def _axis(self, building: Building, owner: Owner) -> tuple[np.ndarray, np.ndarray]:
        """Return direction (3,) of the axis, in the plane (0,), and a point of it."""
        dim = building.dimension
        if dim == 2 and self.axis is not None:
            raise ModelError("in the plane the axis is across it", owner=owner, key="axis", remedy="remove axis")
        axis = building.axis(self.axis, owner) if dim == 3 else np.zeros(0)
        return axis, np.zeros(dim) if self.point is None else building.vector(self.point, owner, "point")


def _sectors(value: Any, owner: Owner) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 2:
        raise ModelError(
            f"sectors = {value!r} must be a whole number of at least 2", owner=owner, key="sectors", value=value
        )
    return int(value)


def _agree(building: Building, owner: Owner, count: int, axis: np.ndarray, point: np.ndarray) -> None:
    """Refuse a second cyclic symmetry of other sectors or about another axis."""
    for known in building.cyclic:
        apart = point - known.point
        apart = apart - axis * (apart @ axis) if axis.size else apart
        size = float(np.ptp(building.positions, axis=0).max()) or 1.0
        same = known.sectors == count and np.abs(np.cross(known.axis, axis) if axis.size else 0.0).max() < _ON
        if not same or np.linalg.norm(apart) > _ON * size:
            raise ModelError(
                f'it has other sectors or another axis than "{known.name}"',
                owner=owner,
                remedy="give both the same sectors, axis and point",
            )


def _turn(
    building: Building, owner: Owner, faces: tuple[np.ndarray, np.ndarray], point: np.ndarray, axis: np.ndarray,
    count: int, tolerance: float | None,
) -> tuple[int, _Match]:  # fmt: skip
    """Return the turn, +1 or -1 sector, that takes the other face to the nodes of the first, and where they meet.

    Raises:
        ModelError: neither does.
    """
    x, (face, other) = building.positions, faces
    facets = _facets_on(building, other)
    found = []
    for turn in (1, -1):
        R = _rotation(building.dimension, axis, turn * 2.0 * np.pi / count)
        found.append((turn, _match(point + (x[face] - point) @ R, x, other, facets, tolerance)))
    turn, match = min(found, key=lambda pair: float((pair[1].distance / np.maximum(pair[1].limit, 1e-300)).max()))
    far = match.distance > match.limit
    if far.any():
        i = int(np.argmax(match.distance / np.maximum(match.limit, 1e-300)))
        raise ModelError(
            f"{int(far.sum())} of {len(face)} nodes of face, turned by 360/{count} degrees about the axis, do not meet "
            f'the other face: "{building.node_name(int(face[i]))}" is {match.distance[i]:.3g} {unit_of("m")} away '
            f"(tolerance {match.limit[i]:.3g} {unit_of('m')})",
            owner=owner,
            remedy="check sectors, axis and point, the two faces, or raise tolerance",
        )
    return turn, match


def _add_equations(building: Building, owner: Owner, faces: CyclicFaces) -> None:
    """Add the equations of motions that are equal in all sectors."""
    dim, R = building.dimension, faces.rotation
    rows, nodes, components, values = [], [], [], []
    at = 0
    groups = [(np.arange(len(faces.nodes)), 0, R)]
    spins = np.flatnonzero(faces.turning)
    if spins.size:
        groups.append((spins, 3 if dim == 3 else 5, R if dim == 3 else np.eye(1)))
    for own, first, turn in groups:
        size = len(turn)
        i, k = np.nonzero(faces.weights[own])
        for a in range(size):
            number = at + np.arange(len(own)) * size + a
            rows += [number]
            nodes += [faces.nodes[own]]
            components += [np.full(len(own), first + a)]
            values += [np.ones(len(own))]
            for b in range(size):
                if turn[a, b] != 0.0:
                    rows.append(number[i])
                    nodes.append(faces.others[own][i, k])
                    components.append(np.full(len(i), first + b))
                    values.append(-turn[a, b] * faces.weights[own][i, k])
        at += len(own) * size
    across = np.linalg.svd(faces.axis[None])[2][1:] if dim == 3 else np.eye(2)
    for node in faces.on_axis.tolist():
        for first in (0, 3) if dim == 3 and node in building.rotational else (0,):
            for direction in across:
                used = np.flatnonzero(np.abs(direction) > _DUST)
                rows.append(np.full(len(used), at))
                nodes.append(np.full(len(used), node))
                components.append(first + used)
                values.append(direction[used])
                at += 1
    row, node, component, value = (np.concatenate(part) for part in (rows, nodes, components, values))
    add_rows(building, faces.name, owner, row, node, component, value, 0.0, None, first=False)


def check_sectors(building: Building, gravity: np.ndarray, used: np.ndarray) -> None:
    """Refuse accelerations across the axis, which would turn from sector to sector.

    Warn of nodes on the axis that belong to no face: each sector has its own copy of them.

    Args:
        gravity: (dimension,) [m/s^2].
        used: (n,) bool: nodes that the model has.

    Raises:
        ModelError: naming it.
    """
    if not building.cyclic:
        return
    faces = building.cyclic[0]
    size = float(np.ptp(building.positions, axis=0).max()) or 1.0
    _refuse_across(faces, gravity, Owner("Model"), "gravity")
    for base in building.shakings:
        direction = np.zeros(building.dimension)
        for component, function in base.functions.items():
            direction[component] = getattr(building.used_functions[function][0], "factor", 1.0)
        _refuse_across(faces, direction, Owner("Base excitation", base.name), "direction")
    frame = building.rotating
    if frame is not None:
        aslant = np.abs(np.cross(frame.axis, faces.axis)).max() > _ON if faces.axis.size else frame.axis.size > 0
        if aslant or _away(frame.point[None], faces.axis, faces.point)[0] > _ON * size:
            raise ModelError(
                f'it turns about another axis than that of "{faces.name}", on which sectors would not be alike',
                owner=Owner("Centrifugal load", frame.name), key="axis", remedy="take its axis and point",
            )  # fmt: skip
    held = Counter(node for node, component in set(building.fixed) if abs(component) < building.dimension)
    middle = used & (_away(building.positions, faces.axis, faces.point) <= _ON * size)
    middle[np.concatenate([f.on_axis for f in building.cyclic])] = False
    middle[[node for node in held if held[node] >= building.dimension]] = False
    own = np.flatnonzero(middle).tolist()
    if not own:
        return
    owner, name = Owner("Cyclic symmetry", faces.name), building.node_name(own[0])
    told = (
        f'{owner}: node "{name}" is on the axis and in neither face, so that each sector has one of its own there; '
        "name it in face too, with its share of what the wheel has there"
    )
    if told not in building.warnings:
        building.warnings.append(told)


def _away(x: np.ndarray, axis: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Return distances (n,) of places (n, dimension) from an axis [m]."""
    arm = x - point
    return np.asarray(np.linalg.norm(arm - np.outer(arm @ axis, axis) if axis.size else arm, axis=1))


def _refuse_across(faces: CyclicFaces, vector: np.ndarray, owner: Owner, key: str) -> None:
    """Refuse a vector (dimension,) that is not along the axis."""
    along = (vector @ faces.axis) * faces.axis if faces.axis.size else 0.0 * vector
    if np.linalg.norm(vector - along) > _ON * np.linalg.norm(vector):
        raise ModelError(
            f"{key} = {shown(vector.tolist())} is not along the axis of \"{faces.name}\": it would turn from sector to "
            "sector",
            owner=owner, key=key, value=vector.tolist(),
            remedy="take the part along the axis, or the whole wheel",
        )  # fmt: skip


def rows_of_faces(compiled: Any) -> np.ndarray:
    """Return the constraints of a compiled model that faces of sectors have made, by their numbers among all."""
    return rows_of_names(compiled.system, {faces.name for faces in compiled.model.cyclic})
