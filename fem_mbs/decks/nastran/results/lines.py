"""Forces, stresses and strains of bars, beams and rods, as Nastran's tables have them.

With moments M1 and M2 in planes 1 and 2 the stress of bending at a point (c1, c2) of the section is

    -((M1 I2 - M2 I12) c1 + (M2 I1 - M1 I12) c2)/(I1 I2 - I12^2)

(MSC Nastran quick reference guide, entries PBAR and PBEAM).  Strains are stresses over E, of torsion over G.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fem_mbs.decks.nastran.bars import Bars, Rods
from fem_mbs.decks.nastran.model import Group
from fem_mbs.decks.nastran.results.state import ElementState, ElementTable
from fem_mbs.decks.nastran.sections import BarSection

__all__ = ["line_forces", "line_stresses"]

_BAR = (
    "moment A1 [moment]", "moment A2 [moment]", "moment B1 [moment]", "moment B2 [moment]", "shear 1 [force]",
    "shear 2 [force]", "axial [force]", "torque [moment]",
)  # fmt: skip
_BEAM = (
    "moment 1 [moment]", "moment 2 [moment]", "shear 1 [force]", "shear 2 [force]", "axial [force]", "torque [moment]",
)  # fmt: skip
_ROD = ("axial [force]", "torque [moment]")


def _lines(state: ElementState) -> Iterator[tuple[int, Group]]:
    for number, group in enumerate(state.conv.groups):
        if group.kind in ("bar", "rod"):
            yield number, group


def line_forces(state: ElementState) -> Iterator[ElementTable]:
    """Yield the forces of bars, beams (two rows each, points 1 and 2) and rods."""
    for number, group in _lines(state):
        if group.kind == "rod":
            yield ElementTable(group.type, _ROD, group.ids, _rods(state, number, group))
            continue
        ends = _ends(state, number, group)
        if group.type == "CBEAM":
            yield ElementTable(group.type, _BEAM, *_both(group, ends.reshape(-1, 6)))
        else:
            a, b = ends[:, 0], ends[:, 1]
            values = np.column_stack((a[:, 0], a[:, 1], b[:, 0], b[:, 1], a[:, 2:]))
            yield ElementTable(group.type, _BAR, group.ids, values)


def _both(group: Group, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return numbers, values and points of the two ends of beams."""
    return np.repeat(group.ids, 2), values, np.tile([1, 2], len(group.ids))


def _ends(state: ElementState, number: int, group: Group) -> np.ndarray:
    """Return moments 1 and 2, shear 1 and 2, axial force and torque (n, 2, 6) at both ends of bars."""

    def out(label: str) -> np.ndarray:
        return state.column(group.name, label)

    # forces of the rest of the model on the ends, without those of loads along the bar
    fixed = state.fixed.get(number, np.zeros((len(group.ids), 12)))
    ends = []
    for k, sign, at in ((1, 1.0, 0), (2, -1.0, 6)):
        own = sign * fixed[:, at : at + 6]
        ends.append(
            np.column_stack((
                out(f"Mz {k} [N m]") + own[:, 5], -out(f"My {k} [N m]") - own[:, 4], out(f"Vy {k} [N]") + own[:, 1],
                out(f"Vz {k} [N]") + own[:, 2], out(f"N {k} [N]") + own[:, 0], out(f"T {k} [N m]") + own[:, 3],
            ))
        )  # fmt: skip
    return np.stack(ends, axis=1)


def _rods(state: ElementState, number: int, group: Group) -> np.ndarray:
    """Return axial force and torque (n, 2) of rods."""
    data: Rods = group.data
    fixed = state.fixed.get(number, np.zeros((len(group.ids), 12)))
    N = state.column(group.name, "N [N]") if data.A and data.material.E else np.zeros(len(group.ids))
    torque = np.zeros(len(group.ids))
    if data.J and data.material.G:
        x = state.conv.grids.x[group.nodes]
        d = x[:, 1] - x[:, 0]
        length = np.linalg.norm(d, axis=1)
        turn = state.u[group.nodes][:, :, 3:]
        twist = np.einsum("ni,ni->n", turn[:, 1] - turn[:, 0], d / length[:, None])
        torque = data.material.G * data.J / length * twist
    return np.column_stack((N - fixed[:, 6], torque))


# --- stresses --------------------------------------------------------------------------------------------------------
def line_stresses(state: ElementState, strain: bool = False) -> Iterator[ElementTable]:
    """Yield the stresses, or the strains, of bars, beams and rods."""
    word, unit = ("STRAIN", "[-]") if strain else ("STRESS", "[stress]")
    for number, group in _lines(state):
        if group.kind == "rod":
            names: tuple[str, ...] = (f"axial {unit}", f"torsional {unit}")
            yield ElementTable(f"{word} {group.type}", names, group.ids, _rod_stresses(state, number, group, strain))
            continue
        data: Bars = group.data
        if any(data.section.neutral):
            continue
        scale = _inverse(data.material.E) if strain else 1.0
        ends = _ends(state, number, group)
        sections = (data.section, data.section.end or data.section)
        points = data.section.points
        other = points if data.section.points_at_b is None else data.section.points_at_b
        bending = np.stack(
            [_bending(ends[:, k], *at) for k, at in enumerate(zip(sections, (points, other), strict=True))], axis=1
        )
        axial = np.stack([ends[:, k, 4] * _inverse(section.A) for k, section in enumerate(sections)], axis=1)
        whole = bending + axial[..., None]
        extremes = np.stack((whole.max(axis=2), whole.min(axis=2)), axis=2)
        if group.type == "CBEAM":
            rows = scale * np.concatenate((whole, extremes), axis=2).reshape(-1, 6)
            names = tuple(f"{name} {unit}" for name in ("SXC", "SXD", "SXE", "SXF", "S-MAX", "S-MIN"))
            ids, values, at = _both(group, rows)
            kept = (at == 1) | data.section.recovered_at_b
            yield ElementTable(f"{word} CBEAM", names, ids[kept], values[kept], at[kept])
            continue
        names = tuple(
            f"{name} {unit}"
            for name in (
                "SA1", "SA2", "SA3", "SA4", "axial", "SA-MAX", "SA-MIN", "SB1", "SB2", "SB3", "SB4", "SB-MAX", "SB-MIN",
            )
        )  # fmt: skip
        values = np.column_stack((bending[:, 0], axial[:, 0], extremes[:, 0], bending[:, 1], extremes[:, 1]))
        yield ElementTable(f"{word} {group.type}", names, group.ids, scale * values)


def _inverse(value: float) -> float:
    return 1.0 / value if value else 0.0


def _bending(ends: np.ndarray, section: BarSection, points: np.ndarray) -> np.ndarray:
    """Return stresses of bending (n, 4) at stress points (4, 2)."""
    M1, M2 = ends[:, 0, None], ends[:, 1, None]
    c1, c2 = points.T
    det = section.I1 * section.I2 - section.I12**2
    if section.I12:
        return -((M1 * section.I2 - M2 * section.I12) * c1 + (M2 * section.I1 - M1 * section.I12) * c2) / det
    return -(M1 * c1 * _inverse(section.I1) + M2 * c2 * _inverse(section.I2))


def _rod_stresses(state: ElementState, number: int, group: Group, strain: bool) -> np.ndarray:
    data: Rods = group.data
    N, torque = _rods(state, number, group).T
    axial, torsional = N * _inverse(data.A), torque * data.c * _inverse(data.J)
    if strain:
        axial, torsional = axial * _inverse(data.material.E), torsional * _inverse(data.material.G)
    return np.column_stack((axial, torsional))
