"""Symbols of loads, motions, initial velocities and axes of rotors.  The length of an arrow tells nothing; its text
does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fem_mbs.analysis.symbols.drawing import Drawing, some, told
from fem_mbs.analysis.symbols.symbol import Symbol
from fem_mbs.units import unit_of

__all__ = [
    "base_excitation",
    "centrifugal",
    "force",
    "initial",
    "line_load",
    "moment",
    "motion",
    "submodel",
    "part_load",
    "pressure",
    "pretension",
    "rotor",
    "start_speed",
    "traction",
]


def _size(vector: np.ndarray, unit: str) -> str:
    """Return the size of a vector and its parts in words."""
    parts, unit = ", ".join(f"{v:.4g}" for v in vector), unit_of(unit)
    return f"{np.linalg.norm(vector):.5g} {unit} = [{parts}] {unit}"


def _arrow(said: Any, kind: str, vector: np.ndarray, unit: str, ends: list, rest: str, glyph: str = "force",
           turns: bool = False, layer: str = "loads") -> Iterator[Symbol]:  # fmt: skip
    """Yield an arrow along a vector, nothing where it is zero."""
    if np.linalg.norm(vector) > 0.0:
        text = ", ".join(word for word in (_size(vector, unit), rest) if word)
        yield Symbol(layer, glyph, getattr(said, "name", ""), kind, text, ends, vector.tolist(), turns)


def force(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    rest = told(said, "on", "vector", "point")
    for block, rows in drawing.elements(said.name):
        vectors = drawing.columns(block, rows, "Fx", "Fy", "Fz")
        offsets = drawing.columns(block, rows, "ax", "ay", "az")
        for node, vector, offset in zip(block.nodes[rows, 0].tolist(), vectors, offsets, strict=True):
            F = drawing.rotation(node) @ vector if said.follower else vector
            end = drawing.local(node, offset[: drawing.dimension])
            yield from _arrow(said, "force", F, "N", [end], rest, turns=said.follower)


def moment(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    rest = told(said, "on", "value")
    for block, rows in drawing.elements(said.name):
        plane = drawing.dimension == 2
        fixed = drawing.columns(block, rows, *(("", "", "M") if plane else ("Mx", "My", "Mz")))
        turning = drawing.columns(block, rows, "Bx", "By", "Bz")
        for node, M, B in zip(block.nodes[rows, 0].tolist(), fixed, turning, strict=True):
            vector = M + drawing.rotation(node) @ B
            yield from _arrow(said, "moment", vector, "N m", [drawing.end(node)], rest, "moment", said.kind != "axial")


def line_load(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    for block, rows in drawing.elements(said.name):
        nodes = block.nodes[rows]
        if "Fx_p" in block.type.parameters:  # on beams, the forces of their ends
            for k, letter in enumerate("pq"):
                vectors = drawing.columns(block, rows, *(f"F{c}_{letter}" for c in "xyz"))
                yield from _spread(said, drawing, nodes[:, k], vectors, False)
        elif "Fx" in block.type.parameters:
            vectors = drawing.columns(block, rows, "Fx", "Fy", "Fz")
            turns = block.type.name.startswith("follower")
            if turns:
                vectors = np.array([drawing.rotation(n) @ v for n, v in zip(nodes[:, 0], vectors, strict=True)])
            yield from _spread(said, drawing, nodes[:, 0], vectors, turns)


def _spread(said: Any, drawing: Drawing, nodes: Any, vectors: np.ndarray, turns: bool) -> Iterator[Symbol]:
    """Yield arrows of a distributed load at some nodes; the text is that of the load."""
    text = told(said, "on")
    for node, vector in zip(nodes.tolist(), vectors, strict=True):
        if np.linalg.norm(vector) > 0.0:
            end = drawing.end(node)
            yield Symbol("loads", "pressure", said.name, "line load", text, [end], vector.tolist(), turns)


def pressure(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    text = told(said, "on")
    for block, rows in drawing.elements(said.name):
        for row in rows:
            nodes = block.nodes[row]
            line = "line" in block.type.name
            value = float(block.par[row, block.type.column("pressure")])
            into = -value * _normal(drawing.x[nodes], line)
            if np.linalg.norm(into) > 0.0:
                said_text = f"{value:g} {unit_of('Pa')}, {text}" if isinstance(said.value, str) else text
                yield Symbol(
                    "loads", "pressure", said.name, "pressure", said_text, [_middle(drawing, nodes)], into.tolist(),
                    turns=True, face=nodes[: 2 if line else 3].tolist(),
                )  # fmt: skip


def traction(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    text = told(said, "on")
    for block, rows in drawing.elements(said.name):
        vectors = drawing.columns(block, rows, *(f"traction {c}" for c in "xyz"))
        for row, vector in zip(rows, vectors, strict=True):
            if np.linalg.norm(vector) > 0.0:
                end = _middle(drawing, block.nodes[row])
                yield Symbol("loads", "pressure", said.name, "traction", text, [end], vector.tolist())


def _middle(drawing: Drawing, nodes: np.ndarray) -> Any:
    """Return the middle of a face, which goes with its first node."""
    middle = drawing.x[nodes].mean(axis=0)
    return drawing.end(int(nodes[0]), middle[: drawing.dimension])


def _normal(x: np.ndarray, line: bool) -> np.ndarray:
    """Return the outward unit normal of a face (k, 3) of corners and mid-side nodes, or of an edge of a plane part."""
    if line:
        along = x[1] - x[0]
        n = np.array([along[1], -along[0], 0.0])
    else:
        corners = x[: 3 if len(x) in (3, 6) else 4] - x[0]
        n = np.cross(corners[1], corners[2])
        if len(corners) == 4:
            n = n + np.cross(corners[2], corners[3])
    length = float(np.linalg.norm(n))
    return n / length if length > 0.0 else n


def pretension(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    section = next(cut for cut in drawing.building.pretensions if cut.name == said.name)
    end = _middle(drawing, section.nodes)
    axis = drawing.vector(section.direction)
    text = told(said, "on", "point", "direction")
    yield Symbol("loads", "pretension", said.name, "pre-tension section", text, [end], axis)


def part_load(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    node = drawing.building.reduced_parts[said.part].node
    yield Symbol("loads", "user_force", said.name, "part load", told(said, "part"), [drawing.end(node)])


def centrifugal(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    yield _axis(said, drawing, "loads", "centrifugal load")


def rotor(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    yield _axis(said, drawing, "rotors", "rotor")


def _axis(said: Any, drawing: Drawing, layer: str, kind: str) -> Symbol:
    axis = [0.0, 0.0, 1.0] if said.axis is None else drawing.vector(said.axis)
    point = np.zeros(drawing.dimension) if said.point is None else said.point
    return Symbol(layer, "axis", said.name, kind, told(said, "axis", "point", "on"), [drawing.end(-1, point)], axis)


def motion(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    axis = drawing.component(said.component)
    glyph = "turn" if said.component.startswith("rotation") else "motion"
    text = told(said, "on")
    yield from drawing.marks("motions", glyph, said, "motion", text, drawing.nodes(said.on), axis)


def submodel(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    text = told(said, "on", "file", "step")
    axis = drawing.vector((1.0, 0.0, 0.0)[: drawing.dimension])
    yield from drawing.marks("motions", "motion", said, "submodel", text, drawing.nodes(said.on), axis)


def base_excitation(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    nodes = drawing.held() if said.on is None else drawing.nodes(said.on)
    axis = drawing.vector(said.direction)
    text = told(said, "on")
    yield from drawing.marks("motions", "motion", said, "base excitation", text, nodes, axis)


def initial(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    if said.velocity is None and said.spin is None:
        return
    given = next(drawing.velocities)
    where = some(_largest(given.velocity))
    for k in where:
        v = np.asarray(drawing.vector(given.velocity[k]))
        end = drawing.end(int(given.nodes[k]))
        yield from _arrow(said, "initial velocity", v, "m/s", [end], "", "velocity", layer="starts")
    spins = np.atleast_2d(given.spin) if drawing.dimension == 3 else np.pad(given.spin[:, None], ((0, 0), (2, 0)))
    for k in some(np.flatnonzero(spins.any(axis=1)))[:8]:
        end = drawing.end(int(given.nodes[k]))
        yield from _arrow(said, "initial spin", spins[k], "rad/s", [end], "", "turn", layer="starts")


def _largest(vectors: np.ndarray) -> np.ndarray:
    """Return the rows that are not small against the largest."""
    size = np.linalg.norm(vectors, axis=1)
    return np.flatnonzero(size > 1e-3 * size.max(initial=0.0))


def start_speed(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    turning = said.component.startswith("rotation")
    axis = drawing.component(said.component) if said.axis is None else drawing.vector(said.axis)
    glyph = "turn" if turning else "velocity"
    text = told(said, "on", "axis")
    yield from drawing.marks("starts", glyph, said, "initial speed", text, drawing.nodes(said.on), axis)


def running(said: Any, drawing: Drawing) -> Iterator[Symbol]:
    text = told(said, "velocity", "spin", "centre")
    if np.any(said.velocity):
        yield from drawing.marks(
            "starts", "velocity", said, "running start", text, drawing.nodes(said.on), drawing.vector(said.velocity)
        )
    if said.spin is not None and np.any(said.spin):
        axis = (0.0, 0.0, said.spin) if drawing.dimension == 2 else said.spin
        yield from drawing.marks("starts", "turn", said, "running start", text, drawing.nodes(said.on), axis)
