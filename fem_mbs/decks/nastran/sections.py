"""Sections of bars, beams and rods: PBAR, PBARL, PBEAM, PBEAML.

Plane 1 is that of the bar's axis and its orientation vector: y of the model's sections lies in it.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from fem_mbs.decks.nastran.model import Conversion
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.vocabulary import Effect
from fem_mbs.properties.sections import make_section

__all__ = ["BarSection", "SHAPES", "bar_section"]


#: Relative difference of values that are the same but for their printed digits.
_SAME = 1e-3


@dataclass(frozen=True)
class BarSection:
    """A section: material, area, second moments (I1 for bending in plane 1), torsion constant, shear factors (None: no
    shear deformation), mass per length beside the structure's, stress points (4, 2) in planes 1 and 2, and where the
    neutral axis lies beside the line (2,)."""

    mid: int
    A: float
    I1: float
    I2: float
    J: float
    where: str
    I12: float = 0.0
    k1: float | None = None
    k2: float | None = None
    nsm: float = 0.0
    points: np.ndarray = field(default_factory=lambda: np.zeros((4, 2)))
    neutral: tuple[float, float] = (0.0, 0.0)
    #: section at end B, if it differs
    end: BarSection | None = None
    #: torsional inertia per length beside the structure's
    nsi: float = 0.0
    #: stress points at end B (4, 2), if they differ, and whether the deck asks for stresses there
    points_at_b: np.ndarray | None = None
    recovered_at_b: bool = True


def _positive(card: Card, **values: float) -> None:
    for name, value in values.items():
        if value < 0.0:
            raise ModelError(f"{name} = {value:g} is negative", place=card.where)


def bar_section(conv: Conversion, card: Card) -> BarSection:
    """Return the section of a property entry.

    Raises:
        ModelError: values that make no section, shapes that are not supported.
    """
    return _READ[card.name](conv, card)


def _pbar(conv: Conversion, card: Card) -> BarSection:
    points = np.array([[card[f"{p}1"], card[f"{p}2"]] for p in "cdef"])
    _positive(card, A=card["a"], I1=card["i1"], I2=card["i2"], J=card["j"])
    # a product, since a power of large floats raises an OverflowError
    if card["i12"] * card["i12"] > card["i1"] * card["i2"]:
        raise ModelError(f"I12 = {card['i12']:g} is larger than the root of I1 I2", place=card.where)
    k1, k2 = (None if not card[k] or card["i12"] else card[k] for k in ("k1", "k2"))
    return BarSection(
        card["mid"], card["a"], card["i1"], card["i2"], card["j"], card.where, card["i12"], k1, k2, card["nsm"], points
    )


def _pbeam(conv: Conversion, card: Card) -> BarSection:
    """Return the section of a PBEAM, with that of end B if it differs."""
    words = list(card["stations"]) + [None] * 16
    rows = [words[i : i + 8] for i in range(0, len(words) - len(words) % 8, 8)]
    k, points = 0, np.zeros((4, 2))
    if not isinstance(rows[0][0], str):
        points = np.array([_real(card, v) for v in rows[0]]).reshape(4, 2)
        k = 1
    base = (card["a"], card["i1"], card["i2"], card["i12"], card["j"], card["nsm"])
    last_station, points_at_b, recovered = None, None, True
    while k < len(rows) and isinstance(rows[k][0], str):
        station = [old if v is None else _real(card, v) for v, old in zip(rows[k][2:], base, strict=True)]
        if rows[k][0] not in ("YES", "YESA", "NO"):
            raise ModelError(f"SO = {rows[k][0]} is none of YES, YESA, NO", place=card.where)
        if any(abs(a - b) > _SAME * max(abs(a), abs(b)) for a, b in zip(station, base, strict=True)):
            if _real(card, rows[k][1]) == 1.0:
                last_station = station
            else:
                conv.note("PBEAM: sections between its ends are not used", where=card.where)
        if _real(card, rows[k][1]) == 1.0:
            recovered = rows[k][0] != "NO"
            if rows[k][0] == "YES" and k + 1 < len(rows):
                points_at_b = np.array([_real(card, v) for v in rows[k + 1]]).reshape(4, 2)
        elif rows[k][0] != "NO":
            conv.note("PBEAM: forces and stresses between its ends: results missing", Effect.NONE, card.where)
        k += 2 if rows[k][0] == "YES" else 1
    shear = rows[k] if k < len(rows) else [None] * 8
    last = rows[k + 1] if k + 1 < len(rows) else [None] * 8
    k1, k2, s1, s2, nsi_a, nsi_b, cw_a, cw_b = (None if v is None else _real(card, v) for v in shear)
    if s1 or s2:
        conv.note("PBEAM: S1 and S2 are for tapered beams and not used", Effect.NONE, card.where)
    nsi = (nsi_a or 0.0, nsi_a or 0.0 if nsi_b is None else nsi_b)
    if any(nsi) and conv.coupled:
        conv.note("PBEAM: NSI is not used with coupled masses", where=card.where)
    if cw_a or cw_b:
        conv.note("PBEAM: warping (CW) has no effect without scalar points SA, SB", Effect.NONE, card.where)
    *nonstructural, n1, n2, n1b, n2b = (0.0 if v is None else _real(card, v) for v in last)
    if any(nonstructural):
        conv.note("PBEAM: the offset M1, M2 of the nonstructural mass is not used", where=card.where)
    if (last[6] is not None and n1b != n1) or (last[7] is not None and n2b != n2):
        conv.note("PBEAM: the neutral axis of end A is taken at end B, too", where=card.where)
    _positive(card, A=card["a"], I1=card["i1"], I2=card["i2"], J=card["j"])
    if not card["a"] > 0.0:
        raise ModelError("PBEAM needs A > 0", place=card.where)
    factors = [1.0 if v is None else v for v in (k1, k2)]
    end = None
    if last_station is not None:
        A, I1, I2, I12, J, nsm = last_station
        _positive(card, A=A, I1=I1, I2=I2, J=J)
        end = BarSection(
            card["mid"], A, I1, I2, J, card.where, I12, factors[0] or None, factors[1] or None, nsm, neutral=(n1, n2),
            nsi=nsi[1],
        )  # fmt: skip
        conv.note(
            "PBEAM: the stiffness of its section changes linearly from end to end; MSC Nastran interpolates otherwise",
            Effect.DIFFERS,
            card.where,
        )
    return BarSection(
        card["mid"], card["a"], card["i1"], card["i2"], card["j"], card.where, card["i12"],
        factors[0] or None, factors[1] or None, card["nsm"], points, (n1, n2), end,
        nsi[0] if end is not None else 0.5 * (nsi[0] + nsi[1]), points_at_b, recovered,
    )  # fmt: skip


def _real(card: Card, value: Any) -> float:
    if isinstance(value, str):
        raise ModelError(f"{value} stands where a number is expected", place=card.where)
    return 0.0 if value is None else float(value)


# --- shapes ----------------------------------------------------------------------------------------------------------
_Shape = tuple[str, dict[str, float], list[tuple[float, float]], tuple[float, float]]


def _rod(r: float) -> _Shape:
    return "circle", {"diameter": 2.0 * r}, [(r, 0.0), (0.0, r), (-r, 0.0), (0.0, -r)], (0.9, 0.9)


def _tube(r: float, inner: float) -> _Shape:
    points = [(r, 0.0), (0.0, r), (-r, 0.0), (0.0, -r)]
    return "tube", {"outer_diameter": 2.0 * r, "inner_diameter": 2.0 * inner}, points, (0.5, 0.5)


def _tube2(r: float, t: float) -> _Shape:
    return _tube(r, r - t)


def _bar(width: float, height: float) -> _Shape:
    y, z = 0.5 * height, 0.5 * width
    return "rectangle", {"height": height, "width": width}, [(y, z), (-y, z), (-y, -z), (y, -z)], (5.0 / 6.0, 5.0 / 6.0)


def _box(width: float, height: float, t1: float, t2: float) -> _Shape:
    y, z = 0.5 * height, 0.5 * width
    sizes = {"height": height, "width": width, "flange_thickness": t1, "web_thickness": t2}
    area = 2.0 * (width * t1 + (height - 2.0 * t1) * t2)
    return "box", sizes, [(y, z), (-y, z), (-y, -z), (y, -z)], (2.0 * height * t2 / area, 2.0 * width * t1 / area)


def _i(height: float, low: float, high: float, web: float, t_low: float, t_high: float) -> _Shape | None:
    if abs(low - high) > 1e-9 * high or abs(t_low - t_high) > 1e-9 * t_high:
        return None
    y, z = 0.5 * height, 0.5 * low
    sizes = {"height": height, "width": low, "flange_thickness": t_low, "web_thickness": web}
    area = 2.0 * low * t_low + (height - 2.0 * t_low) * web
    return "I", sizes, [(y, z), (y, -z), (-y, -z), (-y, z)], (height * web / area, 5.0 / 3.0 * low * t_low / area)


#: Shape -> number of dimensions, and what makes of them a shape of the model, its sizes, stress points and the shear
#: factors in planes 1 and 2 (areas of the walls along the plane over the whole).
SHAPES: dict[str, tuple[int, Any]] = {
    "ROD": (1, _rod), "TUBE": (2, _tube), "TUBE2": (2, _tube2), "BAR": (2, _bar), "BOX": (4, _box), "I": (6, _i),
}  # fmt: skip


def _by_shape(conv: Conversion, card: Card) -> BarSection:
    shape = card["type"]
    if card["group"] not in (None, "MSCBML0"):
        raise UnsupportedError(f"GROUP = {card['group']} is not supported", place=card.where)
    if shape not in SHAPES:
        raise UnsupportedError(
            f"the section {shape} of {card.name} is not supported", place=card.where,
            remedy=f"known are {', '.join(SHAPES)}; give its properties by {card.name[:-1]}",
        )  # fmt: skip
    count, make = SHAPES[shape]
    given = [_real(card, v) for v in card["dims"][:count]]
    rest = card["dims"][count:]
    if len(given) < count or not all(v > 0.0 for v in given[: 1 if shape == "TUBE" else count]):
        raise ModelError(f"the section {shape} needs {count} positive dimensions", place=card.where)
    if len(rest) > 1:
        conv.note(f"{card.name}: a section that changes along the beam; that of end A is taken", where=card.where)
    nsm = _real(card, rest[0]) if rest else 0.0
    made = make(*given)
    if made is None:
        raise UnsupportedError(
            f"the section {shape} of {card.name} is supported with equal flanges only", place=card.where,
            remedy=f"give its properties by {card.name[:-1]}",
        )  # fmt: skip
    name, sizes, points, (k1, k2) = made
    try:
        section = make_section(f"{card.name} {card.id}", name, **sizes)
    except ModelError as error:
        raise ModelError(f"the section {shape} is impossible: {error.text}", place=card.where) from None
    return BarSection(
        card["mid"], section.A, section.Iz, section.Iy, section.J, card.where, 0.0, k1, k2, nsm, np.array(points)
    )


_READ = {"PBAR": _pbar, "PBARL": _by_shape, "PBEAM": _pbeam, "PBEAML": _by_shape}
