"""The looks of symbols: polylines in units of the symbol's size, for figures, animations and pages alike.

A *mark* stands at one place: points (x, y, z) with z along the axis of the symbol.  A *link* joins two places: points
(s, u), s from 0 at the first place to 1 at the second, u across in units of the size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fem_mbs.analysis.symbols.symbol import Symbol
from fem_mbs.late import dataclass

__all__ = ["COLOURS", "GLYPHS", "Glyph", "across", "lines_of", "pairs", "spokes"]

Line = Sequence[tuple[float, ...]]

#: Colour of the symbols of each layer (Okabe & Ito's colours and greys, told apart with any kind of colour vision).
COLOURS = {
    "supports": "#33373d",
    "joints": "#111111",
    "springs": "#009E73",
    "couplings": "#8a6d3b",
    "masses": "#4a4f57",
    "loads": "#D55E00",
    "motions": "#CC79A7",
    "rotors": "#56B4E9",
    "starts": "#E69F00",
    "sensors": "#0072B2",
}


@dataclass(frozen=True)
class Glyph:
    """The look of a symbol: polylines at one place, and between two.

    A symbol of two places that coincide, or of one, is drawn by its mark; of one without a mark nothing is drawn.
    """

    mark: Sequence[Line] = ()
    link: Sequence[Line] = ()
    size: float = 1.0


def _ring(radius: float, z: float = 0.0, plane: str = "xy", n: int = 16) -> Line:
    """Return a circle across one of the axes."""
    turn = np.linspace(0.0, 2.0 * np.pi, n + 1)
    c, s = radius * np.cos(turn), radius * np.sin(turn)
    parts = {"xy": (c, s, 0 * c + z), "xz": (c, 0 * c + z, s), "yz": (0 * c + z, c, s)}[plane]
    return [tuple(round(float(v), 4) for v in p) for p in zip(*parts, strict=True)]


def _box(a: float, b: float, low: float, high: float) -> list[Line]:
    """Return the edges of a box about the axis, with half widths a and b."""
    corners = [(-a, -b), (a, -b), (a, b), (-a, b)]
    rings: list[Line] = [[(x, y, z) for x, y in [*corners, corners[0]]] for z in (low, high)]
    return rings + [[(x, y, low), (x, y, high)] for x, y in corners]


def _arrow(tail: float, tip: float, head: float = 0.45) -> list[Line]:
    """Return an arrow along the axis from tail to tip."""
    back = tip - head if tip > tail else tip + head
    w = 0.45 * head
    barbs: list[Line] = [[(x, y, back), (0.0, 0.0, tip)] for x, y in ((w, 0.0), (-w, 0.0), (0.0, w), (0.0, -w))]
    return [[(0.0, 0.0, tail), (0.0, 0.0, tip)], *barbs]


def _turned(radius: float, z: float = 0.0) -> list[Line]:
    """Return a circular arrow about the axis, in its positive sense."""
    turn = np.linspace(0.0, 1.6 * np.pi, 17)
    arc = [(round(float(radius * np.cos(t)), 4), round(float(radius * np.sin(t)), 4), z) for t in turn]
    x, y, _ = arc[-1]
    # the sense of rotation at the end of the arc, and across
    along, out = np.array([-np.sin(turn[-1]), np.cos(turn[-1])]), np.array([x, y]) / radius
    barbs: list[Line] = []
    for side in (0.35, -0.35):
        back = np.array([x, y]) - 0.5 * radius * along + side * radius * out
        barbs.append([(float(back[0]), float(back[1]), z), (x, y, z)])
    return [arc, *barbs]


def _pyramid(top: float, base: float, half: float) -> list[Line]:
    corners = [(-half, -half), (half, -half), (half, half), (-half, half)]
    ring: Line = [(x, y, base) for x, y in [*corners, corners[0]]]
    return [ring, *([(x, y, base), (0.0, 0.0, top)] for x, y in corners)]


def _helix(radius: float, low: float, high: float, turns: int) -> Line:
    t = np.linspace(0.0, 1.0, 10 * turns + 1)
    a = 2.0 * np.pi * turns * t
    points = np.column_stack((radius * np.cos(a), radius * np.sin(a), low + (high - low) * t))
    return [tuple(round(float(v), 4) for v in p) for p in points]


def _spiral() -> Line:
    t = np.linspace(0.0, 1.0, 33)
    a, r = 2.0 * np.pi * 2.25 * t, 0.15 + 0.75 * t
    return [(round(float(x), 4), round(float(y), 4), 0.0) for x, y in zip(r * np.cos(a), r * np.sin(a), strict=True)]


def _zigzag(low: float, high: float, u: float = 0.0, width: float = 0.45, teeth: int = 8) -> Line:
    """Return the line of a spring between two parts of its length."""
    s = low + (high - low) * (np.arange(teeth) + 0.5) / teeth
    inner = [(round(float(x), 4), u + width * (1 if k % 2 else -1)) for k, x in enumerate(s)]
    return [(low, u), *inner, (high, u)]


def _pot(low: float, high: float, u: float = 0.0, width: float = 0.4) -> list[Line]:
    """Return the lines of a damper: a pot, and a piston in it."""
    middle = 0.5 * (low + high)
    a, b = middle - 0.12, middle + 0.12
    return [
        [(low, u), (a, u)],
        [(b, u - width), (a, u - width), (a, u + width), (b, u + width)],
        [(middle, u - 0.75 * width), (middle, u + 0.75 * width)],
        [(middle, u), (high, u)],
    ]


def _standing(lines: Sequence[Line], length: float) -> list[Line]:
    """Return the lines of a link as a mark: from the place against the axis, of a length, to the ground."""
    found: list[Line] = [[(p[1], 0.0, -length * p[0]) for p in line] for line in lines]
    return [*found, [(-0.6, 0.0, -length), (0.6, 0.0, -length)], [(0.0, -0.6, -length), (0.0, 0.6, -length)]]


_BALL = [_ring(0.5), _ring(0.5, plane="xz"), _ring(0.5, plane="yz")]
_AXIS: Line = [(0.0, 0.0, -1.6), (0.0, 0.0, 1.6)]
_BAR: Line = [(0.0, 0.0), (1.0, 0.0)]
_SPRING: list[Line] = [[(0.0, 0.0), (0.2, 0.0)], _zigzag(0.2, 0.8, width=0.65, teeth=12), [(0.8, 0.0), (1.0, 0.0)]]
_DAMPER = _pot(0.0, 1.0)
_BOTH: list[Line] = [
    [(0.0, 0.0), (0.15, 0.0)],
    [(0.15, -0.55), (0.15, 0.55)],
    _zigzag(0.15, 0.85, 0.55, 0.45, 12),
    *_pot(0.15, 0.85, -0.55, 0.35),
    [(0.85, -0.55), (0.85, 0.55)],
    [(0.85, 0.0), (1.0, 0.0)],
]
_PLATE: Line = [(-1.1, -1.1, 0.0), (1.1, -1.1, 0.0), (1.1, 1.1, 0.0), (-1.1, 1.1, 0.0), (-1.1, -1.1, 0.0)]
_CUBE = _box(0.5, 0.5, -0.5, 0.5)
_SHACKLE: Line = [(round(float(0.35 * np.cos(a)), 4), 0.0, round(float(0.3 + 0.5 * np.sin(a)), 4))
                  for a in np.linspace(0.0, np.pi, 13)]  # fmt: skip

#: Name of a glyph -> its look.
GLYPHS: dict[str, Glyph] = {
    # supports: below the node, where the axis points up; a roller stands off its ground along what it holds
    "pinned": Glyph(_pyramid(0.0, -1.1, 0.65)),
    "clamp": Glyph([*_box(0.7, 0.7, -0.7, 0.0), [(-0.7, -0.7, -0.7), (0.7, 0.7, -0.7)]]),
    "roller": Glyph([*_pyramid(0.0, -0.9, 0.55), [(-0.8, 0.0, -1.2), (0.8, 0.0, -1.2)],
                     [(0.0, -0.8, -1.2), (0.0, 0.8, -1.2)]]),
    "held_rotation": Glyph([_PLATE], size=0.5),
    "held": Glyph(_pyramid(0.0, -1.1, 0.65), size=0.4),
    # joints
    "ball": Glyph(_BALL),
    "weld": Glyph(_CUBE, size=0.8),
    "hinge": Glyph([_ring(0.45, -0.6), _ring(0.45, 0.6), _AXIS, [(0.45, 0.0, -0.6), (0.45, 0.0, 0.6)],
                    [(-0.45, 0.0, -0.6), (-0.45, 0.0, 0.6)]]),
    "cross": Glyph([*_BALL[:1], _AXIS, [(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)]]),
    "sleeve": Glyph([_ring(0.45, -0.7), _ring(0.45, 0.7), *_arrow(0.0, 1.8), *_arrow(0.0, -1.8)]),
    "slide": Glyph([*_box(0.45, 0.45, -0.7, 0.7), *_arrow(0.0, 1.8), *_arrow(0.0, -1.8)]),
    "plate": Glyph([_PLATE, *_arrow(0.0, 1.0)]),
    "screw": Glyph([_helix(0.45, -0.9, 0.9, 4), _AXIS]),
    "rings": Glyph([_ring(0.5, -0.3), _ring(0.5, 0.3), _AXIS]),
    "rail": Glyph([_ring(0.4), *_arrow(0.0, 1.8), *_arrow(0.0, -1.8)]),
    "rod": Glyph(_BALL, [_BAR, [(0.0, -0.3), (0.0, 0.3)], [(1.0, -0.3), (1.0, 0.3)]]),
    "bead": Glyph([_ring(0.6, plane="xz"), _ring(0.6, plane="yz"), _ring(0.6)]),
    "gear": Glyph([_ring(0.8), _ring(0.6)], [_BAR]),
    "lock": Glyph([*_box(0.6, 0.3, -0.7, 0.3), _SHACKLE]),
    "friction": Glyph([[(-0.9, 0.9, 0.0), (-0.5, 0.5, 0.0), (-0.5, 0.9, 0.0), (-0.1, 0.5, 0.0), (-0.1, 0.9, 0.0),
                        (0.3, 0.5, 0.0), (0.3, 0.9, 0.0), (0.7, 0.5, 0.0)]]),
    # springs, dampers, mounts
    "spring": Glyph(_CUBE, _SPRING),
    "damper": Glyph(_CUBE, _DAMPER),
    "spring_damper": Glyph(_CUBE, _BOTH),
    "ground_spring": Glyph(_standing(_SPRING, 2.4)),
    "ground_damper": Glyph(_standing(_DAMPER, 2.4)),
    "ground_spring_damper": Glyph(_standing(_BOTH, 2.4)),
    "coil": Glyph([_spiral()]),
    "bushing": Glyph([_ring(0.75), _ring(0.75, plane="xz"), _ring(0.75, plane="yz"), *_CUBE],
                     [_BAR, [(0.35, -0.4), (0.65, -0.4), (0.65, 0.4), (0.35, 0.4), (0.35, -0.4)]]),
    "bearing": Glyph([_ring(0.55), *_box(0.85, 0.85, 0.0, 0.0)[:1]], [_BAR]),
    # couplings
    "thread": Glyph(link=[_BAR]),
    "tied": Glyph([[(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)], [(0.0, -1.0, 0.0), (0.0, 1.0, 0.0)],
                   [(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)]], size=0.3),
    "mass": Glyph([*_BALL, [(-0.5, 0.0, 0.0), (0.5, 0.0, 0.0)], [(0.0, -0.5, 0.0), (0.0, 0.5, 0.0)],
                   [(0.0, 0.0, -0.5), (0.0, 0.0, 0.5)]]),
    # loads, motions, starts
    "force": Glyph(_arrow(-3.0, 0.0, 0.9)),
    "pressure": Glyph(_arrow(-3.0, 0.0, 0.9), size=0.5),
    "pretension": Glyph([*_arrow(-2.4, 0.0, 0.7), *_arrow(2.4, 0.0, 0.7)]),
    "moment": Glyph([*_turned(1.1), *_arrow(-1.2, 1.2)]),
    "user_force": Glyph([[(-1.0, -1.0, 0.0), (1.0, 1.0, 0.0)], [(-1.0, 1.0, 0.0), (1.0, -1.0, 0.0)], _ring(0.5)]),
    "motor": Glyph([*_turned(1.2), _ring(0.9)]),
    "actuator": Glyph(_CUBE, [_BAR, [(0.2, -0.35), (0.6, -0.35), (0.6, 0.35), (0.2, 0.35), (0.2, -0.35)]]),
    "motion": Glyph([*_arrow(0.0, 2.6, 0.7), *_arrow(0.0, 1.9, 0.7)]),
    "turn": Glyph([*_turned(1.4), *_turned(1.1)]),
    "velocity": Glyph(_arrow(0.0, 2.6, 0.7)),
    "axis": Glyph([[(0.0, 0.0, -7.0), (0.0, 0.0, 7.0)], *_turned(0.8, 6.0)]),
    # sensors
    "sensor": Glyph([[(-0.6, 0.0, 0.0), (0.0, 0.0, 0.6), (0.6, 0.0, 0.0), (0.0, 0.0, -0.6), (-0.6, 0.0, 0.0)],
                     [(0.0, -0.6, 0.0), (0.0, 0.0, 0.6), (0.0, 0.6, 0.0), (0.0, 0.0, -0.6), (0.0, -0.6, 0.0)]],
                    size=0.8),
    "dimension": Glyph(_CUBE, [_BAR, [(0.0, -0.5), (0.0, 0.5)], [(1.0, -0.5), (1.0, 0.5)]]),
}  # fmt: skip


def across(axis: np.ndarray) -> np.ndarray:
    """Return the frame (3, 3) of a mark in columns: two directions across an axis (3,) of any length, and itself.

    The first direction lies along the next axis of coordinates, so that marks about one axis look alike.
    """
    e3 = np.asarray(axis, float) / np.linalg.norm(axis)
    e1 = np.cross(np.eye(3)[(int(np.abs(e3).argmax()) + 1) % 3], e3)
    e1 /= np.linalg.norm(e1)
    return np.column_stack((e1, np.cross(e3, e1), e3))


def lines_of(symbol: Symbol, places: np.ndarray, turn: np.ndarray, size: float, eye: np.ndarray) -> list[np.ndarray]:
    """Return the polylines (k, 3) of a symbol.

    Args:
        symbol: what is drawn.
        places: (1 or 2, 3) where its ends are now [m].
        turn: (3, 3) rotation of the node of its first end since the start.
        size: of a mark of size one [m].
        eye: direction (3,) of the view; links are flat across it.
    """
    glyph = GLYPHS[symbol.glyph]
    size = glyph.size * size
    if len(places) == 2 and glyph.link and np.linalg.norm(along := places[1] - places[0]) > 1e-3 * size:
        side = np.cross(eye, along)
        if np.linalg.norm(side) < 1e-6 * np.linalg.norm(along):
            side = across(along)[:, 0]
        side = side * (size / np.linalg.norm(side))
        return [places[0] + np.outer(p[:, 0], along) + np.outer(p[:, 1], side) for p in map(np.array, glyph.link)]
    frame = np.eye(3)
    if symbol.axis is not None and np.any(symbol.axis):
        frame = across(np.asarray(symbol.axis, float))
    if symbol.turns:
        frame = turn @ frame
    return [places[0] + size * np.array(line) @ frame.T for line in glyph.mark]


def pairs(points: np.ndarray) -> np.ndarray:
    """Return the straight pieces (n * (k - 1), 2, 3) of curves (n, k, 3)."""
    return np.stack([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 2, 3)


def spokes(centre: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return lines (n, 2, 3) from a mass centre to points; three and more points are also joined to a ring."""
    lines = np.stack([np.broadcast_to(centre, points.shape), points], axis=1)
    if len(points) < 3:
        return lines
    return np.stack([points, np.roll(points, -1, axis=0)], axis=1)
