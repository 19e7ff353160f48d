"""Movements of copies: what a copy is, and how points, directions and names follow it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeVar

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import ANY_TEXT, COUNT_OF_COPIES, NUMBER, VECTOR, WORDS, shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.geometry import Mirror
from fem_mbs.model.materials import CrossSection, LinearMaterial

T = TypeVar("T")

__all__ = ["Copy", "Copying", "Movement", "Turned", "reflection"]


@dataclass(frozen=True, eq=False)
class Turned(Declaration):
    """A turn about an axis."""

    owner = "Copy"

    angle: float = key(NUMBER, "by the right hand", unit="deg")
    axis: Any = key(VECTOR, "space: its direction", None, shows="z")
    point: Any = key(VECTOR, "of the axis", None, shows="the origin", unit="m")


@dataclass(frozen=True, eq=False)
class Copy(Declaration):
    """Copies of other tables: shifted, turned or mirrored things under other names.

    Tables between copied things refer to the copies; what they refer to beside these is shared with the original.
    Materials, sections and functions are shared.
    """

    owner = "Copy"

    of: Any = key(WORDS, 'names of things, all those of a name; or "TABLE.NAME", "TABLE.NUMBER"')
    prefix: str = key(ANY_TEXT, "before the names of the copies; {i} is the number of the copy", "")
    suffix: str | None = key(ANY_TEXT, "behind them", None, shows='" copy", of several " copy {i}"')
    count: int = key(COUNT_OF_COPIES, "how many copies, each moved from the one before", 1)
    mirror: Mirror | None = key(Mirror, "reflect on a plane, first", None)
    rotate: Turned | None = key(Turned, "turn about an axis, second", None)
    translate: Any = key(VECTOR, "shift, last", None, shows="none", unit="m")
    share: Any = key(
        WORDS,
        "places of one node of the originals with rotations (`mesh:set`, nodes): their copies are welded to them",
        None,
        shows="none",
    )

    def build(self, building: Building) -> None:
        """Do nothing: what a copy makes is built by itself."""


@dataclass(frozen=True)
class Movement:
    """x -> t + Q x; Q (3, 3) is a rotation or a reflection, t (3,) [m]."""

    Q: np.ndarray
    t: np.ndarray
    dimension: int

    @property
    def sign(self) -> float:
        """Return 1 of rotations, -1 of reflections."""
        return float(np.sign(np.linalg.det(self.Q)))

    @property
    def mirrors(self) -> bool:
        return self.sign < 0.0

    def after(self, other: Movement) -> Movement:
        """Return this movement after another one."""
        return Movement(self.Q @ other.Q, self.t + self.Q @ other.t, self.dimension)

    def padded(self, value: Any) -> np.ndarray:
        """Return a vector (3,) from one with the dimension of the model, with zeros appended.

        Raises:
            ModelError: it has more numbers.
        """
        if len(value) > 3:
            raise ModelError(
                f"the vector {shown(list(value))} of a copied thing has {len(value)} numbers",
                owner=Owner("Copy"), remedy=f"give {self.dimension}",
            )  # fmt: skip
        v = np.zeros(3)
        v[: len(value)] = value
        return v

    def point(self, value: Any) -> list[float]:
        return (self.t + self.Q @ self.padded(value))[: len(value)].tolist()

    def direction(self, value: Any) -> list[float]:
        return (self.Q @ self.padded(value))[: len(value)].tolist()

    def axial(self, value: Any) -> Any:
        """Return an axial vector; in the plane a number about z."""
        if np.ndim(value) == 0:
            return self.sign * value
        return (self.sign * (self.Q @ self.padded(value)))[: len(value)].tolist()


def reflection(mirror: Mirror, dimension: int) -> Movement:
    """Return the movement to the image in a mirror."""
    normal, point = mirror.plane(dimension)
    return Movement(np.eye(3) - 2.0 * np.outer(normal, normal), 2.0 * (point @ normal) * normal, dimension)


class Copying:
    """One copy: its movement, the names of what is copied with it, and what the model has."""

    def __init__(self, movement: Movement, names: Mapping[str, set[str]], rename: Callable[[str], str], owner: Owner):
        self.movement, self.names, self.rename, self.owner = movement, names, rename, owner
        self.said: list[Any] = []
        self.materials: dict[str, LinearMaterial] = {}
        self.sections: dict[str, CrossSection] = {}
        self.made: dict[str, CrossSection] = {}

    def said_of(self, kind: type[T]) -> list[T]:
        """Return the declarations of a kind that the model has."""
        return [d for d in self.said if isinstance(d, kind)]

    def refuse(self, said: Declaration, what: str, remedy: str) -> NoReturn:
        raise ModelError(f"{said.thing}: {what}", owner=self.owner, remedy=remedy)

    def reference(self, text: Any, tables: Iterable[str]) -> Any:
        """Return a place or name as the copy knows it."""
        if isinstance(text, (list, tuple)):
            return [self.reference(part, tables) for part in text]
        if not isinstance(text, str):
            return text
        bare, colon, rest = text.partition(":")
        if any(text in self.names.get(table, ()) for table in tables):
            return self.rename(text)
        if colon and any(bare in self.names.get(table, ()) for table in tables):
            return f"{self.rename(bare)}:{rest}"
        return text

    def components(self, said: Declaration, words: Any) -> Any:
        """Return names of components after the movement, which must take axes to axes."""
        Q, many = self.movement.Q, isinstance(words, (list, tuple))
        out = []
        for word in words if many else [words]:
            i = "xyz".find(word[-1]) if word[-1] in "xyz" else -1
            if i < 0:
                out.append(word)
                continue
            j = int(np.argmax(np.abs(Q[:, i])))
            if abs(abs(Q[j, i]) - 1.0) > 1e-12:
                self.refuse(
                    said, f'component "{word}" is none of the turned copy', "turn by 90 deg, or write it by hand"
                )
            out.append(word[:-1] + "xyz"[j])
        return out if many else out[0]

    def component_sign(self, word: str) -> float:
        """Return the sign of a component after the movement."""
        if word == "rotation":
            return self.movement.sign
        i = "xyz".index(word[-1])
        column = self.movement.Q[:, i]
        sign = float(np.sign(column[np.argmax(np.abs(column))]))
        return sign * self.movement.sign if len(word) > 1 else sign
