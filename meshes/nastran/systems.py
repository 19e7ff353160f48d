"""Coordinate systems of a Nastran deck, and the places and displacement axes of its grid points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.nastran.deck import BulkDeck

__all__ = ["ADDED", "Grids", "System", "find_grids"]

#: Numbers of points that a deck does not have begin here, above all that its fields can hold.
ADDED = 10**12

_KINDS = {"R": "rectangular", "C": "cylindrical", "S": "spherical"}
#: Of the distance from the origin: points nearer to the axis than this have the axes of the angle zero.
_ON_AXIS = 1e-12


@dataclass(frozen=True)
class System:
    """A coordinate system: kind "R", "C" or "S", origin (3,) and axes (3, 3), in rows, in the basic system."""

    kind: str
    origin: np.ndarray
    axes: np.ndarray

    def place(self, p: np.ndarray) -> np.ndarray:
        """Return basic coordinates (3,) of coordinates (3,) in this system."""
        a, b, c = p
        if self.kind == "C":
            t = np.deg2rad(b)
            p = np.array([a * np.cos(t), a * np.sin(t), c])
        elif self.kind == "S":
            t, f = np.deg2rad(b), np.deg2rad(c)
            p = a * np.array([np.sin(t) * np.cos(f), np.sin(t) * np.sin(f), np.cos(t)])
        return self.origin + p @ self.axes

    def axes_at(self, x: np.ndarray) -> np.ndarray:
        """Return the directions (n, 3, 3), in rows, of components at points x (n, 3) of the basic system."""
        x = np.atleast_2d(x)
        if self.kind == "R":
            return np.broadcast_to(self.axes, (len(x), 3, 3))
        local = (x - self.origin) @ self.axes.T
        size = np.linalg.norm(local, axis=1)
        rho = np.hypot(local[:, 0], local[:, 1])
        off = rho > _ON_AXIS * np.maximum(size, np.abs(self.origin).max(initial=0.0))
        c, s = np.ones(len(x)), np.zeros(len(x))
        c[off], s[off] = local[off, 0] / rho[off], local[off, 1] / rho[off]
        zero, one = np.zeros(len(x)), np.ones(len(x))
        across = np.stack((-s, c, zero), axis=1)
        if self.kind == "C":
            R = np.stack((np.stack((c, s, zero), axis=1), across, np.stack((zero, zero, one), axis=1)), axis=1)
        else:
            far = size > 0.0
            ct, st = np.ones(len(x)), np.zeros(len(x))
            ct[far], st[far] = local[far, 2] / size[far], rho[far] / size[far]
            radial, down = np.stack((st * c, st * s, ct), axis=1), np.stack((ct * c, ct * s, -st), axis=1)
            R = np.stack((radial, down, across), axis=1)
        return R @ self.axes


_BASIC = System("R", np.zeros(3), np.eye(3))


@dataclass(frozen=True)
class Grids:
    """Grid points in the order of their numbers: ids (n,), places x (n, 3) in the basic system, axes (n, 3, 3), in
    rows, of their displacements, whether these differ from the basic ones (n,), permanent supports by index, the
    entries, the coordinate systems by number, and which are scalar points (n,).

    A scalar point is a grid point of which only the first component can move."""

    ids: np.ndarray
    x: np.ndarray
    axes: np.ndarray
    turned: np.ndarray
    held: Mapping[int, str]
    cards: list[Card]
    systems: Mapping[int, System]
    scalar: np.ndarray

    @property
    def own_ids(self) -> np.ndarray:
        """The numbers of the points that the deck itself has."""
        return self.ids[self.ids < ADDED]

    def label(self, node: int) -> str:
        """Return the number of a point for messages."""
        number = int(self.ids[node])
        return str(number) if number < ADDED else "end of a bar or middle of an edge"

    def extended(self, x: np.ndarray, axes: np.ndarray) -> Grids:
        """Return these grid points with more behind them, at places x (n, 3) with axes (n, 3, 3)."""
        count = len(x)
        first = max(ADDED, int(self.ids[-1]) + 1)
        turned = np.abs(axes - np.eye(3)).max(axis=(1, 2), initial=0.0) > 1e-14
        return replace(
            self, ids=np.append(self.ids, first + np.arange(count)), x=np.concatenate((self.x, x)),
            axes=np.concatenate((self.axes, axes)), turned=np.append(self.turned, turned),
            cards=[*self.cards, *self.cards[:1] * count], scalar=np.append(self.scalar, np.zeros(count, bool)),
        )  # fmt: skip

    def index(self, id_: int, where: str, scalar: bool = False) -> int:
        """Return the index of a grid point, with ``scalar`` also of a scalar point.

        Raises:
            ModelError: there is none with this number.
        """
        at = int(np.searchsorted(self.ids, id_))
        if at >= len(self.ids) or self.ids[at] != id_:
            raise ModelError(f"there is no grid point {id_}", place=where, remedy="add a GRID, or mend the number")
        if self.scalar[at] and not scalar:
            raise ModelError(f"{id_} is a scalar point", place=where, remedy="name a grid point")
        return at

    def components(self, at: int, digits: str | int | None, where: str) -> list[int]:
        """Return the components (0 to 5) of a grid or scalar point that digits name; of a scalar point they are blank,
        0 or 1.

        Raises:
            ModelError: components that the point does not have.
        """
        text = str(digits or "")
        if self.scalar[at]:
            if text not in ("", "1"):
                raise ModelError(
                    f"the scalar point {self.ids[at]} has no component {text}", place=where, remedy="leave it blank"
                )
            return [0]
        wrong = next((c for c in text if c not in "123456"), None)
        if wrong is not None:
            raise ModelError(f"component {wrong} is none of 1 to 6", place=where)
        return [int(c) - 1 for c in text]

    def indices(self, ids: ArrayLike, where: str) -> np.ndarray:
        """Return the indices (m,) of grid points."""
        ids = np.asarray(ids, int)
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        wrong = (self.ids[at] != ids) | self.scalar[at]
        if wrong.any():
            self.index(int(ids[np.argmax(wrong)]), where)
        return at

    def system(self, number: int, where: str) -> System:
        """Return a coordinate system.

        Raises:
            ModelError: there is none with this number.
        """
        if number not in self.systems:
            raise ModelError(
                f"there is no coordinate system {number}", place=where, remedy="add a CORD2R, or mend the number"
            )
        return self.systems[number]


def _system(kind: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, where: str) -> System:
    z, v = b - a, c - a
    y = np.cross(z, v)
    if not np.linalg.norm(y) > 1e-10 * np.linalg.norm(z) * np.linalg.norm(v) or not z.any():
        raise ModelError(
            "the three points of the coordinate system lie on one line", place=where, remedy="move the third"
        )
    z, y = z / np.linalg.norm(z), y / np.linalg.norm(y)
    return System(kind, a, np.array([np.cross(y, z), y, z]))


class _Resolver:
    """Finds systems and places, which may depend on each other."""

    def __init__(self, deck: BulkDeck) -> None:
        self.systems: dict[int, System] = {0: _BASIC}
        self.places: dict[int, np.ndarray] = {}
        default = deck.of("GRDSET")
        if len(default) > 1:
            raise ModelError("there are two GRDSET", place=default[1].where, remedy="remove one")
        self.default = default[0] if default else None
        self.cards: dict[int, tuple[Card, str]] = {}
        for card in deck.of("CORD2R", "CORD2C", "CORD2S", "CORD1R", "CORD1C", "CORD1S"):
            self._enter(card, card["id"], "")
            if card.name.startswith("CORD1") and card["id2"] is not None:
                self._enter(card, card["id2"], "2")
        self.grids = {card["id"]: card for card in deck.of("GRID")}
        self.open: set[tuple[str, int]] = set()

    def _enter(self, card: Card, number: int, suffix: str) -> None:
        if number in self.cards:
            raise ModelError(
                f"the coordinate system {number} is there already ({self.cards[number][0].where})", place=card.where
            )
        self.cards[number] = (card, suffix)

    def given(self, card: Card, name: str) -> int | str | None:
        value = card[name]
        return value if value is not None or self.default is None else self.default[name]

    def system(self, number: int, where: str) -> System:
        if number in self.systems:
            return self.systems[number]
        if number not in self.cards:
            raise ModelError(
                f"there is no coordinate system {number}", place=where, remedy="add a CORD2R, or mend the number"
            )
        card, suffix = self.cards[number]
        self._enter_cycle(("system", number), card)
        if card.name.startswith("CORD1"):
            points = [self.place(card[k + suffix], card.where) for k in "abc" if card[k + suffix] is not None]
            if len(points) < 3:
                raise ModelError("the coordinate system needs three grid points", place=card.where)
        else:
            ref = self.system(card["rid"], card.where)
            points = [ref.place(np.array([card[k + i] for i in "123"])) for k in "abc"]
        self.open.discard(("system", number))
        self.systems[number] = _system(card.name[-1], points[0], points[1], points[2], card.where)
        return self.systems[number]

    def place(self, number: int, where: str) -> np.ndarray:
        if number in self.places:
            return self.places[number]
        if number not in self.grids:
            raise ModelError(f"there is no grid point {number}", place=where, remedy="add a GRID, or mend the number")
        card = self.grids[number]
        self._enter_cycle(("grid point", number), card)
        cp = self.given(card, "cp")
        system = self.system(int(cp or 0), card.where)
        self.places[number] = system.place(np.array([card["x"], card["y"], card["z"]]))
        self.open.discard(("grid point", number))
        return self.places[number]

    def _enter_cycle(self, key: tuple[str, int], card: Card) -> None:
        if key in self.open:
            raise ModelError(f"the {key[0]} {key[1]} is defined by itself", place=card.where)
        if len(self.open) > 500:
            raise ModelError("more than 500 coordinate systems are defined one by the other", place=card.where)
        self.open.add(key)


def find_grids(deck: BulkDeck) -> Grids:
    """Return grid points and coordinate systems.

    Raises:
        ModelError: systems that are missing, undefined or defined by themselves, with file and line.
    """
    resolver = _Resolver(deck)
    for number, (card, _) in resolver.cards.items():
        if number <= 0:
            raise ModelError(f"the number {number} of the coordinate system is not positive", place=card.where)
        resolver.system(number, card.where)
    scalars = _scalar_points(deck, resolver.grids)
    ids = np.array(sorted({*resolver.grids, *scalars}), int)
    first = next(iter(resolver.grids), None)
    somewhere = np.zeros(3) if first is None else resolver.place(first, "")
    x = np.array([somewhere if i in scalars else resolver.place(i, "") for i in ids.tolist()]).reshape(-1, 3)
    axes, turned = np.tile(np.eye(3), (len(ids), 1, 1)), np.zeros(len(ids), bool)
    held: dict[int, str] = {}
    cards = [scalars.get(i) or resolver.grids[i] for i in ids.tolist()]
    by_system: dict[int, list[int]] = {}
    for k, card in enumerate(cards):
        if card.name == "SPOINT":
            held[k] = "23456"
            continue
        cd = int(resolver.given(card, "cd") or 0)
        if cd < 0:
            raise ModelError(f"CD = {cd}: fluid points are not supported", place=card.where, remedy="remove them")
        if cd:
            by_system.setdefault(cd, []).append(k)
        ps = resolver.given(card, "ps")
        if ps:
            held[k] = str(ps)
    for cd, members in by_system.items():
        system = resolver.system(cd, cards[members[0]].where)
        axes[members] = system.axes_at(x[members])
        turned[members] = np.abs(axes[members] - np.eye(3)).max(axis=(1, 2)) > 1e-14
    scalar = np.array([i in scalars for i in ids.tolist()], bool)
    return Grids(ids, x, axes, turned, held, cards, resolver.systems, scalar)


def _scalar_points(deck: BulkDeck, grids: Mapping[int, Card]) -> dict[int, Card]:
    """Return the entries of scalar points by number.

    Raises:
        ModelError: numbers of grid points.
    """
    out: dict[int, Card] = {}
    for card in deck.of("SPOINT"):
        for number in card["ids"] if isinstance(card["ids"], list) else []:
            if number in grids:
                raise ModelError(f"the scalar point {number} is a grid point, too", place=card.where)
            out[number] = card
    return out
