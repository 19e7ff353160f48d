"""Sensors of stresses in beams and trusses: at a fibre of a station, and the extremes along a part.

Theory: docs/theory.md, section 4, "Stresses in beams and trusses".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import key
from fem_mbs.declarations.kinds import FIBRES, NAME, NUMBER, NUMBERS_OR_TEXT, TEXT, WHOLE, shown
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.sensors.sensor import Sensor, SensorRequest, kind_key
from fem_mbs.properties.beams import line_positions
from fem_mbs.properties.stresses import COMPONENTS, FORCES, component, end_forces, find_fibre, outline, stress_matrix
from fem_mbs.solvers.stepping.layout import REC_OUT

__all__ = ["Stress", "StressEnvelope"]

_SIZES = ("shear", "torsion", "transverse shear", "von Mises")  # never negative, and not linear in the forces


class _LineStress(Sensor):
    """Shared part of sensors of stresses: the group, and the records of the forces at the ends of its elements."""

    unit, mid_step = "Pa", True
    elements: np.ndarray  # (m,) that are recorded

    def find_group(self, on: Any) -> None:
        groups = self.model.line_groups
        if on not in groups:
            self.model.find("group of beams or trusses", on, groups, self.owner)
        self.group = groups[on]
        self.material = self.group.line.material

    def bind(self, compiled):
        names = ("N",) if self.group.truss else FORCES[self.model.dimension]
        for block in compiled.system.blocks:
            for name, first, last in block.groups:
                if name == self.group.name and block.type.outputs and last - first == len(self.group.length):
                    compiled.system.watch(block)
                    quantities = block.type.quantities
                    rows = block.first_output + (first + self.elements) * len(quantities)
                    if self.group.truss:
                        return [(REC_OUT, int(row) + quantities.index("N")) for row in rows]
                    wanted = [quantities.index(q) for end in names for q in end if q is not None]
                    return [(REC_OUT, int(row) + k) for row in rows for k in wanted]
        raise AssertionError(f"no block of {self.group.name}")

    def forces(self, values: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return forces (n, m, s, 6) at stations (s,) of the recorded elements."""
        n, m = len(values), len(self.elements)
        ends = np.zeros((n, m, 2, 6))
        if self.group.truss:
            ends[..., 0] = values.reshape(n, m, 1)
        else:
            own = values.reshape(n, m, -1)
            start = 0
            for k, names in enumerate(FORCES[self.model.dimension]):
                columns = [c for c, name in enumerate(names) if name is not None]
                ends[:, :, k, columns] = own[..., start : start + len(columns)]
                start += len(columns)
        return end_forces(ends, self.group.length[self.elements], at)


class _Stress(_LineStress):
    def prepare(self, on, element, at, along, fibre, component):
        self.find_group(on)
        self.what, self.nonlinear = component, component in _SIZES
        number, place = self._station(element, at, along)
        self.elements, self.at = np.array([number]), np.array([place])
        section = self.group.section(number, place)
        point = find_fibre(section, self.material, fibre, self.owner, self.group.truss)
        self.rows = stress_matrix(section, self.material, point[None], component, self.owner, self.group.truss)[0]

    def _station(self, element: Any, at: Any, along: Any) -> tuple[int, float]:
        """Return the number of the element and the place in it, 0..1."""
        for word, value in (("at", at), ("along", along)):
            if value is not None and not 0.0 <= value <= 1.0:
                raise ModelError(
                    f"{word} = {shown(value)} must be from 0 to 1", owner=self.owner, key=word, value=value
                )
        if along is None:
            count = len(self.group.length)
            number = 0 if element is None else element
            if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < count:
                raise ModelError(
                    f"element = {shown(number)}", owner=self.owner, key="element", value=number,
                    remedy=f'"{self.group.name}" has elements 0 to {count - 1}',
                )  # fmt: skip
            return number, 0.5 if at is None else float(at)
        if element is not None or at is not None:
            raise ModelError("give along, or element and at, not both", owner=self.owner, key="along", value=along)
        cells = self.model.groups[self.group.name]
        start, end, _, _ = line_positions(cells, self.group.length, self.owner, "along")
        inside = np.flatnonzero((start <= along + 1e-12) & (along <= end + 1e-12))
        number = int(inside[np.argmin(end[inside])])
        share = (along - start[number]) / (end[number] - start[number])
        return number, float(np.clip(share, 0.0, 1.0))

    def evaluate(self, values, ledger):
        forces = self.forces(values, self.at)[:, 0, 0]
        return component(forces @ self.rows.T, self.what)[:, None]


class _StressEnvelope(_LineStress):
    nonlinear = True

    def prepare(self, on, component, fibres, stations):
        self.find_group(on)
        if stations < 2:
            raise ModelError(
                f"stations = {stations} must be 2 or more: both ends of each element", owner=self.owner,
                key="stations", value=stations,
            )  # fmt: skip
        group, self.what = self.group, component
        self.elements, self.at = np.arange(len(group.length)), np.linspace(0.0, 1.0, stations)
        self._find_rows(fibres)
        where = ("element", "at", "y", "z")
        ends = ("max",) if component in _SIZES else ("max", "min")
        self.columns = [f"{self.name}.{end}{word}" for end in ends for word in ("", *(f" {w}" for w in where))]
        self.unit = ["Pa", "-", "-", "m", "m"] * len(ends)
        self.places = tuple(5 * k + i for k in range(len(ends)) for i in range(1, 5))

    def _find_rows(self, fibres: Any) -> None:
        """Find stresses (m or 1, s or 1, k, 3, 6) per unit of force, at fibres (m or 1, s or 1, k, 2)."""
        group = self.group
        many = not group.line.prismatic
        rows, points = [], []
        for element in self.elements if many else self.elements[:1]:
            for place in self.at if many else self.at[:1]:
                section = group.section(int(element), float(place))
                if fibres is None and group.truss:
                    own = find_fibre(section, self.material, None, self.owner, True)[None]
                elif fibres is None:
                    own = outline(section, self.material, self.owner)
                else:
                    own = np.array([find_fibre(section, self.material, fibre, self.owner) for fibre in fibres])
                points.append(own)
                rows.append(stress_matrix(section, self.material, own, self.what, self.owner, group.truss))
        lead = (len(self.elements), len(self.at)) if many else (1, 1)
        self.rows = np.array(rows).reshape(*lead, -1, rows[0].shape[1], 6)
        self.points = np.array(points).reshape(*lead, -1, 2)

    def evaluate(self, values, ledger):
        out = np.full((len(values), len(self.columns)), np.nan)
        for row, own in enumerate(values):  # one at a time: a table over all rows takes too much memory
            if not np.isfinite(own).all():
                continue
            forces = self.forces(own[None], self.at)[0]
            found = component(np.matmul(self.rows, forces[:, :, None, :, None])[..., 0], self.what)
            for k, pick in enumerate((np.argmax, np.argmin)[: len(self.columns) // 5]):
                e, s, f = np.unravel_index(int(pick(found)), found.shape)
                fibre = self.points[min(e, self.points.shape[0] - 1), min(s, self.points.shape[1] - 1), f]
                out[row, 5 * k : 5 * k + 5] = found[e, s, f], self.elements[e], self.at[s], *fibre
        return out


_COMPONENT = "; ".join(f'"{name}": {text}' for name, text in COMPONENTS.items())


@dataclass(frozen=True, eq=False)
class Stress(SensorRequest):
    """Stress at a fibre of one station of a beam or truss [Pa], from the forces of its section."""

    sensor = _Stress

    kind: str = kind_key("stress")
    on: Any = key(NAME, "beam or truss", kw_only=True)
    element: int | None = key(WHOLE, "number of the element in its group, from 0", None, shows="0", kw_only=True)
    at: float | None = key(NUMBER, "station along the element, from 0 to 1", None, shows="0.5", kw_only=True)
    along: float | None = key(
        NUMBER, "instead of both: station along the line of all elements, from 0 to 1", None, kw_only=True
    )
    fibre: Any = key(
        NUMBERS_OR_TEXT,
        'point of the section: a name ("top" is +y, "right" +z, "bottom", "left", "top right" ..., "centre", of an I '
        '"web top"; those of the shape are in the message of an error), or [y, z] from the beam\'s line',
        None,
        unit="m",
        shows="needed by beams",
        kw_only=True,
    )
    component: str = key(TEXT, _COMPONENT, "normal", choices=COMPONENTS, kw_only=True)


@dataclass(frozen=True, eq=False)
class StressEnvelope(SensorRequest):
    """Largest and smallest stress of a beam or truss over all elements, stations and fibres [Pa], and where: number of
    the element, station along it (0 to 1), and the fibre's y and z from the line."""

    sensor = _StressEnvelope

    kind: str = kind_key("stress envelope")
    on: Any = key(NAME, "beam or truss", kw_only=True)
    component: str = key(TEXT, _COMPONENT, "normal", choices=COMPONENTS, kw_only=True)
    fibres: Any = key(
        FIBRES,
        "list of names or [y, z] as of a stress; else all named ones of the shape, of round ones 72 around them",
        None,
        shows="all",
        kw_only=True,
    )
    stations: int = key(WHOLE, "number of stations in each element, both ends included", 3, kw_only=True)
