"""Joints along lines of nodes: a point on the line, bodies that turn with it."""

from __future__ import annotations

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_parts import JointRequest, add_coordinate
from fem_mbs.model.connections.paths.lines import Line, find_place, line_at, line_of, smoothed
from fem_mbs.model.records import JointCoordinate
from fem_mbs.system.blocks import GROUND

__all__ = ["add_ways", "along_beam", "cylindrical_along_beam", "prismatic_along_beam"]


def add_ways(building: Building, j: JointRequest, places: tuple[float, ...], names: tuple[str, ...]) -> int:
    """Add a node whose coordinates are places [m] along lines or curves, each a coordinate of the joint.

    Drivers and springs act on them as on any slide.
    """
    dim = building.dimension
    at = np.zeros(dim)
    at[: len(places)] = places
    way = building.add_nodes(at[None, :])
    building.names.add(f"{j.name}: way", None, 1)
    building.fixed += [(way, k) for k in range(len(places), dim)]
    building.path_nodes.append(way)
    for k, (s, name) in enumerate(zip(places, names, strict=True)):
        columns = {f"e{c}": float(i == k) for i, c in enumerate("xyz"[:dim])}
        columns |= {f"a{c}_{end}": s * (end == "a" and i == k) for end in "ab" for i, c in enumerate("xyz"[:dim])}
        coordinate = JointCoordinate(False, (GROUND, way), columns)
        building.joints[j.name].coordinates[name] = coordinate
    return way


def drive_way(building: Building, j: JointRequest) -> None:
    """Let the function of a joint drive its place along the line or curve."""
    coordinate = building.joints[j.name].coordinates["displacement"]
    add_coordinate(building, j, "displacement", coordinate, j.function)


def along_beam(building: Building, j: JointRequest) -> None:
    """Add a joint of a point on a line."""
    line = line_of(building, j)
    node, offset = _sliding_point(building, j, line)
    s = find_place(building, j, line, building.global_point(node, offset), 0.0)
    _add_line(building, j, f"beam_slide{building.dimension}", line, node, s, {"b": offset})
    drive_way(building, j)


def cylindrical_along_beam(building: Building, j: JointRequest) -> None:
    """Add a joint of a body whose axis follows the tangent."""
    _oriented(building, j, "cylindrical_slide3")


def prismatic_along_beam(building: Building, j: JointRequest) -> None:
    """Add a joint of a body that turns with the tangent and, in space, with the sections."""
    _oriented(building, j, f"prismatic_slide{building.dimension}")


def _oriented(building: Building, j: JointRequest, kind: str) -> None:
    dim = building.dimension
    line = line_of(building, j)
    if isinstance(j.a, str) and j.a in building.groups:
        line = smoothed(building, j, line)
    node, offset = _sliding_point(building, j, line)
    building.turning_node(j.b, j.owner)
    s = find_place(building, j, line, building.global_point(node, offset), _sagitta(building, line))
    r, t, w = line_at(building, line, s)
    t = t / np.linalg.norm(t)
    across = [np.array([-t[1], t[0]])] if dim == 2 else [np.cross(np.cross(t, w), t), np.cross(t, w)]
    R = np.eye(dim) if node == GROUND else building.rotation_matrix(node)
    triad = [R.T @ (v / np.linalg.norm(v)) for v in (*across, t)]
    at = np.zeros(dim) if node == GROUND else building.position(node)
    vectors = {"b": R.T @ (r - at)}
    columns: dict[str, object] = {
        f"e{k + 1}{c}_b": float(v) for k, e in enumerate(triad) for c, v in zip("xyz", e, strict=False)
    }
    columns["arm"] = float(line.length.mean())
    if kind == "prismatic_slide3":
        for k, end in enumerate("pq"):
            columns |= {f"w{c}_{end}": line.sections[k, :, i] for i, c in enumerate("xyz")}
    _add_line(building, j, kind, line, node, s, vectors, **columns)
    drive_way(building, j)


def _sagitta(building: Building, line: Line) -> float:
    """Return how far the line bends away from the chords of its pieces [m], within which points count as on it."""
    x = building.positions[line.nodes]
    chord = np.linalg.norm(x[:, 1] - x[:, 0], axis=1)
    bend = np.sqrt(np.maximum(6.0 * (line.length / chord - 1.0), 0.0))  # l/chord = a/sin(a)
    return 1.05 * float((0.5 * chord * np.tan(0.5 * bend)).max())


def _sliding_point(building: Building, j: JointRequest, line: Line) -> tuple[int, np.ndarray]:
    """Return node and offset of the point of b."""
    node, offset = building.point(j.b, j.point, j.owner)
    if (line.nodes == node).any():
        raise ModelError(f'"{j.b}" is a node of the line itself', owner=j.owner, remedy="join another part")
    return node, offset


def _add_line(
    building: Building, j: JointRequest, kind: str, line: Line, node: int, s: float, vectors: dict[str, np.ndarray],
    **columns: object,
) -> None:  # fmt: skip
    """Add the elements of a line, one per piece, with the point of b in ``vectors``."""
    way = add_ways(building, j, (s,), ("displacement",))
    n = len(line.length)
    names = "xyz"[: building.dimension]
    found: dict[str, object] = {f"a{c}_b": float(v) for c, v in zip(names, vectors["b"], strict=True)}
    for k, end in enumerate("pq"):
        found.update({f"a{c}_{end}": line.offsets[k, :, i] for i, c in enumerate(names)})
        found.update({f"e{c}_{end}": line.axes[k, :, i] for i, c in enumerate(names)})
    first, last = np.zeros(n), np.zeros(n)
    first[0] = last[-1] = 1.0
    nodes = np.column_stack((np.full(n, node), line.nodes, np.full(n, way)))
    block = building.add_block(
        j.name, kind, nodes, start=line.start[:-1], length=line.length, cubic=float(line.cubic), first=first, last=last,
        **found, **columns,
    )  # fmt: skip
    block.joint = np.zeros(n, np.int64)
