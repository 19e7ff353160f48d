"""Sections at stations along a member, linear in between."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.properties.beams import SectionLine
from fem_mbs.properties.materials import Material
from fem_mbs.properties.sections import Section, SectionProperties, make_section

__all__ = ["SectionTable", "StationLine", "section_table"]

#: Columns that are the two parts of a place in the section.
_PAIRS = ("centroid", "shear_centre", "mass_centre")


@dataclass(frozen=True, eq=False)
class SectionTable:
    """Sections (k,) at rising positions (k,), 0 at the start of the member and 1 at its end."""

    positions: np.ndarray
    sections: tuple[Section, ...]

    def line(self, material: Material | None, shear: bool) -> StationLine:
        """Return the sections along a member of a material."""
        pairs = zip(self.sections[:-1], self.sections[1:], strict=True)
        return StationLine(self.positions, tuple(SectionLine(a, b, material, shear) for a, b in pairs))


@dataclass(frozen=True, eq=False)
class StationLine:
    """Members between stations, each as of `SectionLine`."""

    positions: np.ndarray
    parts: tuple[SectionLine, ...]
    prismatic: bool = False

    @property
    def material(self) -> Material | None:
        """Return the material of all sections."""
        return self.parts[0].material

    def part(self, s: float) -> tuple[SectionLine, float]:
        """Return the member between two stations at s in 0..1, and the place in it from 0 to 1."""
        k = int(np.clip(np.searchsorted(self.positions, s, side="right") - 1, 0, len(self.parts) - 1))
        a, b = self.positions[k : k + 2]
        return self.parts[k], float((s - a) / (b - a))

    def at(self, s: ArrayLike) -> SectionProperties:
        """Return properties at s (...) in 0..1 along the member."""
        s = np.asarray(s, float)
        which = np.clip(np.searchsorted(self.positions, s, side="right") - 1, 0, len(self.parts) - 1)
        found: dict[str, np.ndarray] = {}
        for k in np.unique(which):
            here = which == k
            a, b = self.positions[k : k + 2]
            part = self.parts[int(k)].at((s[here] - a) / (b - a))
            for name in ("stiffness", "flexibility", "rhoA", "mass_centre", "euler"):
                value = np.asarray(getattr(part, name), float)
                own = value.ndim - (0 if self.parts[int(k)].prismatic else 1)
                shape = value.shape[value.ndim - own :]
                found.setdefault(name, np.empty((*s.shape, *shape)))[here] = value
        return SectionProperties(**found)


def section_table(name: str, shape: str, columns: Mapping[str, np.ndarray], position: str) -> SectionTable:
    """Return the sections of a table.

    Args:
        name: of the section.
        shape: of all sections.
        columns: dimensions of the shape by their names, each (k,); centroid_y, centroid_z and so on are the parts of
            centroid, shear_centre and mass_centre.
        position: the column of positions along the member, in any unit.

    Raises:
        ModelError: positions that do not rise, columns or dimensions that the shape does not have.
    """
    owner = Owner("Section", name)
    if position not in columns:
        known = ", ".join(columns)
        raise ModelError(f'there is no column "{position}"', owner=owner, key="position", remedy=f"there are {known}")
    where = columns[position]
    if len(where) < 2 or not (np.diff(where) > 0.0).all():
        raise ModelError(f'the column "{position}" must rise over two rows at least', owner=owner, key="position")
    sections = []
    for row in range(len(where)):
        given: dict[str, object] = {k: float(v[row]) for k, v in columns.items() if k != position}
        for pair in _PAIRS:
            parts = [given.pop(f"{pair}_{axis}", None) for axis in "yz"]
            if any(part is not None for part in parts):
                given[pair] = [0.0 if part is None else part for part in parts]
        sections.append(make_section(name, shape, **given))
    return SectionTable((where - where[0]) / (where[-1] - where[0]), tuple(sections))
