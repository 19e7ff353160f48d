"""One symbol of a model, as a results header holds it, and the list of all of a header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from fem_mbs.late import dataclass

__all__ = ["LAYERS", "End", "Symbol", "face_frame", "symbols_of"]

#: Node of an end and offset [m] from it, in global axes of the start; node -1: the ground, the offset is the place.
End = tuple[int, tuple[float, float, float]]

#: What can be shown and hidden together, with the text of the switch.
LAYERS = {
    "supports": "supports",
    "joints": "joints",
    "springs": "springs, dampers, mounts",
    "couplings": "couplings, ties, equations",
    "masses": "masses",
    "loads": "loads",
    "motions": "motions, motors",
    "rotors": "axes of rotors",
    "starts": "initial velocities",
    "sensors": "sensors",
}


@dataclass(frozen=True)
class Symbol:
    """A symbol: where it is, what it looks like, and what it says of itself.

    Args:
        layer: one of `LAYERS`.
        glyph: the look, a name of `fem_mbs.plot.glyphs.GLYPHS`.
        name: of the thing in the model.
        kind: the thing in one or two words, such as "revolute joint".
        text: its values in words.
        ends: one place, or two that it joins.
        axis: direction (3,) at the start, of any length; None: it has none.
        turns: whether the axis turns with the node of the first end.
        held: of a support, its components.
        face: nodes of a face (3 or more) or of an edge of the plane (2) that place and axis go with, as pressure does.
    """

    layer: str
    glyph: str
    name: str
    kind: str
    text: str
    ends: Sequence[End]
    axis: Sequence[float] | None = None
    turns: bool = False
    held: Sequence[str] = ()
    face: Sequence[int] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the symbol as an entry of a results header."""
        return asdict(self)

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Symbol:
        """Return the symbol of an entry of a results header."""
        ends = [(int(node), tuple(float(v) for v in offset)) for node, offset in entry["ends"]]
        return cls(**{**entry, "ends": ends})


def face_frame(x: np.ndarray) -> np.ndarray:
    """Return axes (3, 3) in columns that turn with a face: its first side, across, and the normal.

    Args:
        x: (k, 3) the first nodes of a face, or both ends (2, 3) of an edge of the plane.
    """
    along = x[1] - x[0]
    normal = np.cross(along, x[2] - x[0]) if len(x) > 2 else np.array([0.0, 0.0, 1.0])
    sizes = np.linalg.norm(along), np.linalg.norm(normal)
    if min(sizes) == 0.0:
        return np.eye(3)
    e1, e3 = along / sizes[0], normal / sizes[1]
    return np.column_stack((e1, np.cross(e3, e1), e3))


def symbols_of(header: dict[str, Any]) -> list[Symbol]:
    """Return all symbols of a results header: supports, joints and masses, which have lists of their own there, and
    the others.

    Headers of older versions hold no joint axes and none of the others.
    """
    flat = header["dimension"] == 2
    axes = {int(body["node"]): np.asarray(body.get("rotation", np.eye(3)), float) for body in header["bodies"]}

    def end(item: dict[str, Any]) -> End:
        """Return the place of an item: its node, or a `point` in the axes of that node's body."""
        point = np.asarray(item.get("point", ()), float)
        node = int(item["node"])
        offset = axes.get(node, np.eye(3)) @ np.pad(point, (0, 3 - len(point)))
        return node, (float(offset[0]), float(offset[1]), float(offset[2]))

    found = [_support(item, end(item), flat) for item in header.get("supports", [])]
    found += [_joint(item, end(item)) for item in header.get("joints", []) if item["type"] != "weld"]
    found += [
        Symbol("masses", "mass", item.get("name", ""), "point mass", item.get("text", ""), [end(item)])
        for item in header.get("masses", [])
    ]
    return found + [Symbol.from_json(entry) for entry in header.get("symbols", [])]


def _support(item: dict[str, Any], end: End, flat: bool) -> Symbol:
    """Return the symbol of a support by the components that it holds."""
    held = list(item.get("components") or ["x", "y", "z", "rotation"])
    moves = [c for c in "xyz"[: 2 if flat else 3] if c in held]
    up = [0.0, 1.0, 0.0] if flat else [0.0, 0.0, 1.0]
    text = f"holds {', '.join(dict.fromkeys(held))}"
    name = item.get("name", "")
    glyph = "held_rotation"
    if moves:
        whole = len(moves) == (2 if flat else 3)
        glyph = "roller" if not whole else "clamp" if "rotation" in held else "pinned"
    if len(moves) == 1:  # it rolls across the direction that it holds
        up = [float(c == moves[0]) for c in "xyz"]
    return Symbol("supports", glyph, name, "support", text, [end], up, held=tuple(held))


def _joint(item: dict[str, Any], end: End) -> Symbol:
    """Return the symbol of a joint; one of two places, such as a distance, has its other end in `other`."""
    ends = [end]
    if item.get("other") is not None:
        node, offset = item["other"]
        ends.append((int(node), (float(offset[0]), float(offset[1]), float(offset[2]))))
    return Symbol(
        "joints", item.get("glyph", "ball"), item.get("name", ""), f"{item['type']} joint", item.get("text", ""), ends,
        item.get("axis"), turns=True,
    )  # fmt: skip
