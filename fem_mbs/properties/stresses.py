"""Stresses at points of beams and trusses, from the forces of their sections.

The forces are (N, Vy, Vz, T, My, Mz) of the beam's line in the axes of the section, as elements put them out
(docs/theory.md, section 4): N pulls, My = EIy ky and Mz = EIz kz with the strain eps + z ky - y kz.  A fibre is a point
(y, z) from the line.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fem_mbs.declarations.kinds import shown
from fem_mbs.elements.solids.recovery import von_mises
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.properties.beams import SectionLine
from fem_mbs.properties.materials import Material
from fem_mbs.properties.sections import Section, to_principal
from fem_mbs.properties.shapes import SHAPES
from fem_mbs.properties.stations import StationLine

__all__ = [
    "COMPONENTS", "FORCES", "LineGroup", "component", "end_forces", "find_fibre", "outline", "stress_matrix",
]  # fmt: skip

#: Components of stress, and what they are.
COMPONENTS = {
    "normal": "axial and bending, N/A + My z/Iy - Mz y/Iz",
    "axial": "N/A",
    "bending": "without N/A",
    "xy": "shear along y, of torque and shear forces",
    "xz": "shear along z",
    "shear": "size of the shear, sqrt(xy^2 + xz^2)",
    "torsion": "size of the shear of the torque alone",
    "transverse shear": "size of the shear of the shear forces alone",
    "von Mises": "sqrt(normal^2 + 3 shear^2)",
}
_NORMAL = ("normal", "axial", "bending")  # those that need no shear stresses

#: Outputs of elements, by dimension: (N, Vy, Vz, T, My, Mz) at both ends; None: zero.
FORCES: dict[int, tuple[tuple[str | None, ...], tuple[str | None, ...]]] = {
    2: (("N_p", "Q_p", None, None, None, "M_p"), ("N_q", "Q_q", None, None, None, "M_q")),
    3: (("N 1", "Vy 1", "Vz 1", "T 1", "My 1", "Mz 1"), ("N 2", "Vy 2", "Vz 2", "T 2", "My 2", "Mz 2")),
}
_ROUND = 72  # fibres around a round section in an envelope


@dataclass(frozen=True, eq=False)
class LineGroup:
    """The sections of a group of beams or trusses.

    Attributes:
        name: of the group.
        line: section along the member.
        start, end: (n,) where the elements begin and end along it, 0..1.
        length: (n,) of the elements [m].
        truss: there is an axial force only.
    """

    name: str
    line: SectionLine | StationLine
    start: np.ndarray
    end: np.ndarray
    length: np.ndarray
    truss: bool = False

    def section(self, element: int, at: float) -> Section:
        """Return the section at ``at`` (0..1) along an element.

        Raises:
            ModelError: between two sections of different shapes there is none with fibres.
        """
        line, s = self.line, float(self.start[element] + at * (self.end[element] - self.start[element]))
        if isinstance(line, StationLine):
            line, s = line.part(s)
        if line.prismatic:
            return line.first
        if s in (0.0, 1.0):
            return line.last if s else line.first
        if (
            line.first.computed
            or line.first.shape != line.last.shape
            or line.first.dimensions.keys() != line.last.dimensions.keys()
        ):
            raise ModelError(
                f'between the shapes "{line.first.shape}" and "{line.last.shape}" no fibres are known',
                owner=Owner("Section", line.first.name), remedy="give both ends the same shape",
            )  # fmt: skip
        return line.between(s)


def _turn(section: Section) -> np.ndarray:
    """Return R (2, 2): its columns are the axes of the shape over (ey, ez)."""
    c, s = math.cos(math.radians(section.rotate)), math.sin(math.radians(section.rotate))
    return np.array([[c, -s], [s, c]])


def _to_line(section: Section, points: np.ndarray) -> np.ndarray:
    return np.asarray(section.centroid) + points @ _turn(section).T


def _to_shape(section: Section, points: np.ndarray) -> np.ndarray:
    return (points - np.asarray(section.centroid)) @ _turn(section)


def find_fibre(
    section: Section, material: Material | None, fibre: Any, owner: Owner, truss: bool = False
) -> np.ndarray:
    """Return the fibre (2,) that a name or [y, z] from the line stands for; of a ``truss`` without one the centroid.

    Raises:
        ModelError: the shape has no fibre of this name, or no material there.
    """
    if truss and fibre is None:
        return np.array(section.centroid if section.computed is None else section.computed.fibres(material)["top"])
    shape = SHAPES.get(section.shape)
    if section.computed is not None:
        known = section.computed.fibres(material)
    else:
        known = {} if shape is None or shape.fibres is None else shape.fibres(section.dimensions)
    names = ", ".join(f'"{name}"' for name in known)
    if isinstance(fibre, str):
        if fibre not in known:
            raise ModelError(
                f'fibre = "{fibre}" is none of section "{section.name}" ({section.shape})', owner=owner, key="fibre",
                value=fibre, remedy=f"name one of {names}, or give [y, z]" if known else "give [y, z]",
            )  # fmt: skip
        point = np.array(known[fibre])
        return point if section.computed is not None else _to_line(section, point)
    if fibre is None:
        raise ModelError(
            'a beam needs "fibre"', owner=owner, key="fibre",
            remedy=f"name one of {names}, or give [y, z]" if known else "give [y, z]",
        )  # fmt: skip
    try:
        point = np.array(fibre, float)
    except (TypeError, ValueError):
        point = np.empty(0)
    if point.shape != (2,) or not np.isfinite(point).all():
        raise ModelError(
            f"fibre = {shown(fibre)} must be a name or two numbers, [y, z]", owner=owner, key="fibre", value=fibre
        )
    if shape is not None and shape.holds is not None and not shape.holds(section.dimensions, _to_shape(section, point)):
        raise ModelError(
            f'fibre = {shown(fibre)} lies outside of the material of section "{section.name}" ({section.shape})',
            owner=owner, key="fibre", value=fibre, remedy="give [y, z] from the beam's line, along ey and ez",
        )  # fmt: skip
    return point


def outline(section: Section, material: Material | None, owner: Owner) -> np.ndarray:
    """Return fibres (k, 2) of a section among which its extremes are: of round ones 72 around it, to 0.1 %.

    Raises:
        ModelError: the shape has no named fibres.
    """
    if section.computed is not None:
        return section.computed.outline(material)
    shape = SHAPES[section.shape]
    if shape.fibres is None:
        raise ModelError(
            f'shape "{section.shape}" of section "{section.name}" has no outline', owner=owner,
            key="fibres", remedy="give fibres = [[y, z], ...], or another shape",
        )  # fmt: skip
    found = np.array(list(shape.fibres(section.dimensions).values()))
    if shape.round:
        r, angle = np.hypot(*found[0]), 2.0 * math.pi * np.arange(_ROUND) / _ROUND
        found = np.vstack((r * np.column_stack((np.cos(angle), np.sin(angle))), found))
    return _to_line(section, found)


def _line_to_shape(section: Section) -> np.ndarray:
    """Return P (6, 6): forces at the centroid and shear centre in the axes of the shape, from those of the line."""
    T = to_principal(np.array(section.centroid), np.array(section.shear_centre), np.array(math.radians(section.rotate)))
    return np.linalg.inv(T).T


def stress_matrix(
    section: Section, material: Material | None, points: np.ndarray, what: str, owner: Owner, truss: bool = False
) -> np.ndarray:
    """Return W (k, 3, 6): stresses (xx, xy, xz) at fibres (k, 2), per unit of (N, Vy, Vz, T, My, Mz); of computed
    sections (k, 6, 6) with yy, zz and yz behind.

    ``what``, one of `COMPONENTS`, says which of them are needed; the others are zero.

    Raises:
        ModelError: the section lacks an area, a second moment of area or shear stresses.
    """
    if section.computed is not None:
        return _of_computed(section.computed.stresses(material, points, owner), what)
    nu = None if material is None else material.nu
    shape = SHAPES[section.shape]
    if math.isnan(section.A):
        raise ModelError(
            f'section "{section.name}" of shape "{section.shape}" has stiffnesses and no area, so no stresses',
            owner=owner, remedy="give the beam a section with dimensions",
        )  # fmt: skip
    own = np.zeros((len(points), 3, 6))
    y, z = _to_shape(section, points).T
    if what != "bending":
        own[:, 0, 0] = 1.0 / section.A
    if not truss and what not in ("axial", "torsion", "transverse shear", "shear", "xy", "xz"):
        for key, column, arm in (("Iy", 4, z), ("Iz", 5, -y)):
            moment = getattr(section, key)
            if math.isnan(moment) and arm.any():
                raise ModelError(f'section "{section.name}" has no {key}', owner=owner, remedy="give it")
            if not math.isnan(moment):
                own[:, 0, column] = arm / moment
    if not truss and what not in _NORMAL:
        if shape.shear_stress is None or nu is None:
            raise ModelError(
                f'shape "{section.shape}" of section "{section.name}" has no shear stresses, which "{what}" needs',
                owner=owner, key="component", value=what,
                remedy=f"ask for one of {', '.join(_NORMAL)}, or give the section a shape with dimensions",
            )  # fmt: skip
        shear = shape.shear_stress(section.dimensions, nu, np.column_stack((y, z)))
        if what == "torsion":
            shear[..., :2] = 0.0
        if what == "transverse shear":
            shear[..., 2] = 0.0
        own[:, 1:, 1:4] = np.einsum("ij,kjm->kim", _turn(section), shear)
    return own @ _line_to_shape(section)


def _of_computed(found: np.ndarray, what: str) -> np.ndarray:
    """Return stresses (k, 6, 6) per unit of the forces that a component is made of."""
    forces = {"axial": [0], "bending": [4, 5], "torsion": [3], "transverse shear": [1, 2]}.get(what, range(6))
    out = np.zeros_like(found)
    out[:, :, list(forces)] = found[:, :, list(forces)]
    return out


def component(stresses: np.ndarray, what: str) -> np.ndarray:
    """Return a component of stresses (..., 3), xx, xy and xz, or (..., 6) with yy, zz and yz behind."""
    xx, xy, xz, *others = np.moveaxis(stresses, -1, 0)
    if what in ("xy", "xz"):
        return xy if what == "xy" else xz
    if what in _NORMAL:
        return xx
    if what == "von Mises" and others:
        yy, zz, yz = others
        return von_mises(np.stack((xx, yy, zz, xy, yz, xz), axis=-1))
    if what == "von Mises":
        return np.sqrt(xx * xx + 3.0 * (xy * xy + xz * xz))
    return np.hypot(xy, xz)


def end_forces(values: np.ndarray, length: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return forces (..., s, 6) at stations ``at`` (s,) of elements, from those of both ends (..., 2, 6).

    Between the ends N, T and the shear forces are linear.  The moments are the parabolas that then are in balance
    (Mz' = -Vy, My' = Vz), exact under a load that is linear at most in the elements' shear forces.  ``length`` (...).
    """
    p, q = values[..., None, 0, :], values[..., None, 1, :]
    out = (1.0 - at)[:, None] * p + at[:, None] * q
    bow = 0.5 * np.asarray(length)[..., None] * at * (1.0 - at)
    change = values[..., 1, 1:3] - values[..., 0, 1:3]
    out[..., 5] += bow * change[..., None, 0]
    out[..., 4] -= bow * change[..., None, 1]
    return out
