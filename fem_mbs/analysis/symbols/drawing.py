"""Places, directions and values of declarations in a compiled model, as symbols need them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fem_mbs.analysis.symbols.symbol import End, Symbol
from fem_mbs.declarations.declaration import Declaration
from fem_mbs.model.building import Building
from fem_mbs.system.blocks import GROUND, Block

__all__ = ["MOST", "Drawing", "some", "told"]

#: Symbols of one declaration; of more places as many are taken, spread over all.
MOST = 60


def told(said: Declaration, *without: str) -> str:
    """Return the values of a declaration in words: numbers with their units, texts, kinds of functions.

    Args:
        said: the declaration.
        without: keys that are left out, beside its name.
    """
    keys = said.keys()
    parts = (_told(name, value, keys[name].unit) for name, value in said.given("name", *without).items())
    return ", ".join(part for part in parts if part)


def _told(name: str, value: Any, unit: str) -> str:
    """Return a value as text, such as "stiffness = 1000 N/m"; "" for lists, tables and other long values."""
    unit = f" {unit}" if unit and " or " not in unit and "," not in unit else ""
    if isinstance(value, bool):
        return name.replace("_", " ") if value else ""
    if isinstance(value, (int, float)):
        return f"{name.replace('_', ' ')} = {value:g}{unit}"
    if isinstance(value, str):
        return f"{name.replace('_', ' ')} = {value}" if len(value) < 60 else ""
    if isinstance(value, Mapping):
        return f"{name.replace('_', ' ')}: {value.get('kind', 'table')}"
    if isinstance(value, (list, tuple, np.ndarray)):
        items = _items(value)
        if len(items) <= 6 and all(isinstance(v, (str, int, float)) for v in items):
            texts = [v if isinstance(v, str) else f"{v:g}" for v in items]
            return f"{name.replace('_', ' ')} = [{', '.join(texts)}]{unit}"
    return ""


def _items(value: Any) -> list[Any]:
    """Return the items of a list and of the lists in it, whatever their lengths."""
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    if isinstance(value, (list, tuple)):
        return [item for part in value for item in _items(part)]
    return [value]


class Drawing:
    """A compiled model, asked for what symbols need.

    Args:
        compiled: the model.
        joints: the entries of joints of its results header.
    """

    def __init__(self, compiled: Any, joints: Sequence[Mapping[str, Any]]) -> None:
        self.building: Building = compiled.model.building
        self.dimension = self.building.dimension
        self.fixed: np.ndarray = compiled.system.fixed
        self.offset: np.ndarray = compiled.system.offset
        self.x = np.pad(self.building.positions, ((0, 0), (0, 3 - self.dimension)))
        self.velocities = iter(self.building.initial_velocities)  # one of each declaration that gives some
        self._joints = {entry["name"]: entry for entry in joints}
        self._elements: dict[str, list[tuple[Block, int, int]]] = {}
        for block in compiled.system.blocks:
            for name, first, last in block.groups:
                self._elements.setdefault(name, []).append((block, first, last))

    # ------------------------------------------------------------------------------------------ places

    def rotation(self, node: int) -> np.ndarray:
        """Return the rotation (3, 3) of a node at the start."""
        R = np.eye(3)
        if node != GROUND:
            R[: self.dimension, : self.dimension] = self.building.rotation_matrix(node)
        return R

    def vector(self, value: Any) -> list[float]:
        """Return a vector of the model's dimension as one of space."""
        v = np.asarray(value, float)
        return np.pad(v, (0, 3 - len(v))).tolist()

    def end(self, node: int, point: Any = None) -> End:
        """Return the end at a node, or at a point in global coordinates of the start that moves with it."""
        if node == GROUND:
            x, y, z = self.vector(point)
        elif point is None:
            return int(node), (0.0, 0.0, 0.0)
        else:
            x, y, z = np.asarray(self.vector(point)) - self.x[node]
        return int(node), (float(x), float(y), float(z))

    def local(self, node: int, offset: Any) -> End:
        """Return the end at an offset in the axes of a node."""
        x, y, z = self.rotation(node) @ self.vector(offset)
        return int(node), (float(x), float(y), float(z))

    def nodes(self, place: Any) -> np.ndarray:
        """Return nodes of a place, at most `MOST`, spread over all of them; none of the ground."""
        if isinstance(place, str) and place == "ground":
            return np.empty(0, int)
        return some(np.unique(self.building.nodes_of(place, frames=True)))

    def at(self, place: Any, point: Any = None) -> End | None:
        """Return the end at a place of one node, or at a point of it; None where the ground has no point."""
        if place == "ground":
            return None if point is None else self.end(GROUND, point)
        return self.end(self.building.node_of(place, frames=True), point)

    def join(self, a: Any, b: Any, point_a: Any, point_b: Any) -> list[End]:
        """Return both ends of what joins two places; one where the other is the ground and has no point."""
        return [end for end in (self.at(a, point_a), self.at(b, point_b)) if end is not None]

    def joint(self, name: Any) -> tuple[End, list[float] | None] | None:
        """Return place and axis of a joint, None where none of its elements has a place."""
        entry = self._joints.get(name)
        if entry is None:
            return None
        return self.local(int(entry["node"]), entry.get("point") or [0.0]), entry.get("axis")

    # ------------------------------------------------------------------------------------------ elements

    def elements(self, name: str) -> Iterable[tuple[Block, np.ndarray]]:
        """Yield the blocks with elements called ``name``, and numbers of some of these."""
        for block, first, last in self._elements.get(name, ()):
            yield block, some(np.arange(first, last))

    def columns(self, block: Block, rows: np.ndarray, *names: str) -> np.ndarray:
        """Return parameters (n, 3) of elements, zero where the type has none of that name."""
        found = np.zeros((len(rows), 3))
        for k, name in enumerate(names):
            if name in block.type.parameters:
                found[:, k] = block.par[rows, block.type.column(name)]
        return found

    def component(self, name: Any) -> list[float]:
        """Return the direction of a component: "x", "rotation y", or a direction itself; of a plane's rotation z."""
        if not isinstance(name, str):
            return self.vector(name)
        letter = name[-1] if name[-1] in "xyz" else "z"
        return [float(c == letter) for c in "xyz"]

    def held(self) -> np.ndarray:
        """Return some of the nodes that supports hold."""
        return some(np.unique(np.searchsorted(self.offset, self.fixed, side="right") - 1))

    def marks(
        self, layer: str, glyph: str, said: Declaration, kind: str, text: str, nodes: Iterable[int],
        axis: Sequence[float] | None = None,
    ) -> Iterable[Symbol]:  # fmt: skip
        """Yield a symbol at each of some nodes."""
        for node in nodes:
            yield Symbol(layer, glyph, getattr(said, "name", ""), kind, text, [self.end(int(node))], axis)


def some(items: Any, most: int = MOST) -> Any:
    """Return at most ``most`` of an array or a list, spread over all of it."""
    if len(items) <= most:
        return items
    chosen = np.unique(np.linspace(0, len(items) - 1, most).round().astype(int))
    return items[chosen] if isinstance(items, np.ndarray) else [items[k] for k in chosen]
