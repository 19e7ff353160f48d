"""Symbols of what acts between places: springs, mounts, bearings, motors, friction, couplings, ties, equations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fem_mbs.analysis.symbols.drawing import MOST, Drawing, told
from fem_mbs.analysis.symbols.symbol import Symbol

__all__ = [
    "bearing",
    "bushing",
    "contact",
    "coupling",
    "curve",
    "cyclic_symmetry",
    "equation",
    "equation_rows",
    "friction",
    "gear",
    "joint_spring",
    "hydraulic",
    "lock",
    "mass_matrix",
    "motor",
    "nodal_spring",
    "spring",
    "tie",
    "torsion_spring",
    "tyre",
    "user_force",
]

_ENDS = ("a", "b", "point_a", "point_b")


def _spring_glyph(said: Any) -> str:
    """Return "spring", "damper" or "spring_damper" by the forces that it has."""
    pulls = any(getattr(said, key, 0.0) for key in ("stiffness", "cubic", "preload")) or any(
        getattr(said, key, None) is not None for key in ("table", "stops")
    )
    brakes = bool(said.damping) or getattr(said, "damping_table", None) is not None
    return "spring_damper" if pulls and brakes else "damper" if brakes else "spring"


def spring(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    ends = drawing.join(said.a, said.b, said.point_a, said.point_b)
    yield Symbol("springs", _spring_glyph(said), said.name, "spring", told(said, *_ENDS), ends)


def torsion_spring(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    end = drawing.at(said.b) or drawing.at(said.a)
    if end is not None:
        axis = [0.0, 0.0, 1.0] if said.axis is None else drawing.vector(said.axis)
        yield Symbol("springs", "coil", said.name, "torsion spring", told(said, *_ENDS, "axis"), [end], axis, True)


def joint_spring(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    place = drawing.joint(said.joint)
    if place is not None:
        yield Symbol("springs", "coil", said.name, "joint spring", told(said), [place[0]], place[1], True)


def lock(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    place = drawing.joint(said.joint)
    if place is not None:
        kind = "brake" if said.limit is not None else "lock" if said.value is None else "latch"
        yield Symbol("joints", "lock", said.name, kind, told(said), [place[0]], place[1], True)


def curve(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    """Yield the pieces of a curve on every part that a joint fixes it to."""
    joints = [item for item in drawing.building.joint_curves if item[0] == said.name]
    spline = drawing.building.curves[said.name]
    points = spline(np.linspace(0.0, spline.length, MOST + 1))
    for node in dict.fromkeys(node for _, node in joints):
        for start, end in zip(points[:-1], points[1:], strict=True):
            ends = [drawing.end(node, start), drawing.end(node, end)]
            yield Symbol("joints", "thread", said.name, "curve", told(said, "points", "position", "rotation"), ends)


def mass_matrix(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    yield from drawing.marks("masses", "mass", said, "mass matrix", told(said, "on", "matrix"), drawing.nodes(said.on))


def nodal_spring(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    text = told(said, "on")
    axis = drawing.component(said.component)
    turning = isinstance(said.component, str) and said.component.startswith("rotation")
    nodes = drawing.nodes(said.on)
    others = drawing.nodes(said.against)
    if not len(others) or turning:
        glyph = "coil" if turning else f"ground_{_spring_glyph(said)}"
        yield from drawing.marks("springs", glyph, said, "nodal spring", text, nodes, axis)
        return
    whole, against = (drawing.building.nodes_of(place, frames=True) for place in (said.on, said.against))
    partner = dict(zip(whole.tolist(), np.resize(against, len(whole)).tolist(), strict=True))
    for node in nodes.tolist():
        ends = [drawing.end(node), drawing.end(partner[node])]
        yield Symbol("springs", _spring_glyph(said), said.name, "nodal spring", text, ends, axis)


def bushing(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    points = [said.point if point is None else point for point in (said.point_a, said.point_b)]
    ends = drawing.join(said.a, said.b, *points)
    yield Symbol("springs", "bushing", said.name, "bushing", told(said, *_ENDS, "point"), ends)


def bearing(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    ends = drawing.join(said.a, said.b, None, None)
    axis = [0.0, 0.0, 1.0] if said.axis is None else drawing.vector(said.axis)
    yield Symbol("springs", "bearing", said.name, "bearing", told(said, *_ENDS, "axis"), ends, axis)


def motor(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    yield from _on_coordinate(said, drawing, "motions", "motor", "motor")


def hydraulic(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    yield from _on_coordinate(said, drawing, "motions", "motor", "hydraulic actuator")


def friction(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    if said.joint is not None:
        coupled = drawing.building.joints[said.joint].coupled
        if coupled is not None and drawing.joint(said.joint) is None:  # a gear, which has no place of its own
            ends = [drawing.end(max(coordinate.nodes)) for coordinate, _ in coupled]
            yield from (Symbol("joints", "friction", said.name, "friction", told(said), [end]) for end in ends)
        yield from _on_coordinate(said, drawing, "joints", "friction", "friction")
        return
    end = drawing.at(said.b, said.point)
    if end is not None:
        axis = [0.0, 0.0, 1.0] if said.axis is None else drawing.vector(said.axis)
        yield Symbol("joints", "friction", said.name, "friction", told(said, *_ENDS, "point", "axis"), [end], axis)


def contact(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    text, kind = told(said, "a", "b", "point", "axis"), said.owner.lower()
    axis = [0.0, 0.0, 1.0] if said.axis is None else drawing.vector(said.axis)
    if said.point is not None:
        end = drawing.at("ground" if np.ndim(said.a) else said.a, said.point)
        if end is not None:
            glyph = "plate" if said.surface == "plane" else "ball"
            yield Symbol("springs", glyph, said.name, f"{kind}: {said.surface}", text, [end], axis)
    if not said.has_lines:
        yield from drawing.marks("springs", "ball", said, f"{kind}: ball", text, drawing.nodes(said.b))
        return
    # b is groups of elements, which are drawn; marks say that they touch
    names = said.b if isinstance(said.b, (list, tuple)) else [said.b]
    places = [drawing.building.groups[name].ravel() if name in drawing.building.groups else name for name in names]
    for place in places:
        yield from drawing.marks("springs", "ball", said, f"{kind}: line", text, drawing.nodes(place))


def tyre(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    """Yield the rim of the unloaded wheel, in pieces, and a spoke, which turn with it."""
    node = drawing.building.node_of(said.wheel)
    axis = np.asarray(said.axis, float) / np.linalg.norm(said.axis)
    centre = drawing.x[node] if said.point is None else np.asarray(said.point, float)
    first = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    first *= said.radius / np.linalg.norm(first)
    turn = np.linspace(0.0, 2.0 * np.pi, 25)[:, None]
    rim = centre + np.cos(turn) * first + np.sin(turn) * np.cross(axis, first)
    text = told(said, "wheel", "axis", "point", "road", "normal", "along")
    for start, end in ((centre, rim[0]), *zip(rim[:-1], rim[1:], strict=True)):
        yield Symbol("springs", "thread", said.name, "tyre", text, [drawing.end(node, start), drawing.end(node, end)])


def user_force(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    if said.at is None:
        yield from _on_coordinate(said, drawing, "loads", "motor", "user force")
        return
    for node in drawing.nodes(said.at).tolist():
        ends = [drawing.end(node, said.point)]
        yield Symbol("loads", "user_force", said.name, "user force", "a Python function", ends)


def _on_coordinate(said: Any, drawing: Drawing, layer: str, glyph: str, kind: str) -> Iterator[Symbol]:
    """Yield the symbol of what acts on a coordinate of a joint, or on the distance of two points."""
    text = told(said, *_ENDS)
    if said.joint is None:
        ends = drawing.join(said.a, said.b, said.point_a, said.point_b)
        yield Symbol(layer, "actuator", said.name, kind, text, ends)
        return
    place = drawing.joint(said.joint)
    if place is not None:
        yield Symbol(layer, glyph, said.name, kind, text, [place[0]], place[1], True)


def gear(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    places = [drawing.joint(name) for name in (said.a, said.b)]
    ends = [place[0] for place in places if place is not None]
    if ends:
        yield Symbol("joints", "gear", said.name, "gear", told(said), ends)


def coupling(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    reference = drawing.building.node_of(said.reference, frames=True)
    text = told(said, "reference", "nodes", "weights")
    for node in drawing.nodes(said.nodes).tolist():
        ends = [drawing.end(reference), drawing.end(node)]
        yield Symbol("couplings", "thread", said.name, "coupling", text, ends)


def tie(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    yield from drawing.marks("couplings", "tied", said, "tie", f"to {said.master}", drawing.nodes(said.slave))


def equation(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    places, words = [], []
    for term in said.terms:
        on, component, coefficient = (
            (term["on"], term["component"], term["coefficient"]) if isinstance(term, dict) else term
        )
        places.append(drawing.nodes(on))
        words.append(f"{coefficient:+g} {component}({on})")
    text = f"{' '.join(words)} = {said.value:g}"
    for k in range(min(max(map(len, places), default=0), MOST)):
        row = [int(nodes[min(k, len(nodes) - 1)]) for nodes in places if len(nodes)]
        yield from _row(said, drawing, row, text)


def equation_rows(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    rows, nodes = np.asarray(said.rows, int), np.asarray(said.nodes, int)
    count = int(rows.max(initial=-1)) + 1
    for row in np.unique(np.linspace(0, count - 1, min(count, MOST)).round().astype(int)):
        yield from _row(said, drawing, nodes[rows == row][:MOST].tolist(), f"row {row + 1} of {count}")


def _row(said: Any, drawing: Drawing, nodes: list[int], text: str) -> Iterator[Symbol]:
    """Yield threads from the first node of an equation to the others; a mark where there are none."""
    first, *others = dict.fromkeys(nodes)
    for node in others:
        ends = [drawing.end(first), drawing.end(node)]
        yield Symbol("couplings", "thread", said.name, "equation", text, ends)
    if not others:
        yield Symbol("couplings", "tied", said.name, "equation", text, [drawing.end(first)])


def cyclic_symmetry(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    axis = [0.0, 0.0, 1.0] if said.axis is None else drawing.vector(said.axis)
    point = np.zeros(drawing.dimension) if said.point is None else said.point
    text = f"{said.sectors} sectors"
    yield Symbol("couplings", "axis", said.name, "cyclic symmetry", text, [drawing.end(-1, point)], axis)
    for side in (said.face, said.other):
        yield from drawing.marks("couplings", "tied", said, "cyclic symmetry", text, drawing.nodes(side))
