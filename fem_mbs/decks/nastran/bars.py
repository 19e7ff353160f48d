"""Bars, beams and rods of a Nastran deck: CBAR, CBEAM, CROD, CONROD, CTUBE.

Bars of one property with the same offsets and pins are one part of the model; their orientation is a vector per bar.
Offsets and pins that differ make parts of their own.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from fem_mbs.decks.nastran.made import add_pins
from fem_mbs.decks.nastran.model import Conversion, Group, Isotropic, isotropic
from fem_mbs.decks.nastran.sections import BarSection, bar_section
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["Bars", "Rods", "bar_axes", "find_lines", "make_lines"]

#: A stiffness of zero becomes this of the largest one, which no result shows; AUTOSPC sees it as zero.
_NOTHING = 1e-11
#: Of the extent of the grid points: places that are nearer are one.
_POINT = 1e-12


@dataclass
class Bars:
    """Data of the bars of a part beside their nodes: vectors v (n, 3) and offsets (n, 2, 3) in the basic system, pins
    (digits at both ends), material and section."""

    v: np.ndarray
    offsets: np.ndarray
    pins: tuple[str, str]
    material: Isotropic
    section: BarSection
    #: grid points (n, 2) and offsets (n, 2, 3) that carry lumped masses, where the ends are points of their own
    carriers: tuple[np.ndarray, np.ndarray] | None = None


@dataclass(frozen=True)
class _Bar:
    """A bar: entry, nodes, orientation vector (3,), offsets (2, 3) in the basic system, pin flags, and whether its ends
    are points of their own."""

    card: Card
    nodes: list[int]
    v: np.ndarray
    offsets: np.ndarray
    pins: tuple[str, str]
    apart: bool


@dataclass
class Rods:
    """Data of the rods of a part beside their nodes: material, area, torsion constant, C of the torsional stress."""

    material: Isotropic
    A: float
    J: float
    c: float


def bar_axes(conv: Conversion, group: Group) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return places (n, 2, 3) of the ends of bars with their offsets, axes (n, 3, 3) in rows, and lengths (n,)."""
    data: Bars = group.data
    ends = conv.grids.x[group.nodes] + data.offsets
    x = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(x, axis=1)
    ex = x / length[:, None]
    ez = np.cross(ex, data.v)
    ez /= np.linalg.norm(ez, axis=1)[:, None]
    return ends, np.stack((ex, np.cross(ez, ex), ez), axis=1), length


def find_lines(conv: Conversion) -> None:
    """Sort bars, beams and rods into parts of the model.

    Raises:
        ModelError: entries that contradict each other or name what is not there, with file and line.
    """
    _bars(conv, "CBAR", ("PBAR", "PBARL"), "BAROR")
    _bars(conv, "CBEAM", ("PBEAM", "PBEAML"), "BEAMOR")
    _rods(conv)


def _default(conv: Conversion, name: str) -> Card | None:
    found = conv.deck.of(name)
    if len(found) > 1:
        raise ModelError(f"there are two {name}", place=found[1].where, remedy="remove one")
    return found[0] if found else None


def _bars(conv: Conversion, type_: str, properties: tuple[str, str], defaults: str) -> None:
    default = _default(conv, defaults)
    known = {card.id: card for card in conv.deck.of(*properties)}
    sections: dict[int, tuple[BarSection, Isotropic]] = {}
    parts: dict[tuple[Any, ...], list[_Bar]] = {}
    loaded = bool(conv.deck.of("PLOAD1", "TEMP", "TEMPD", "TEMPRB"))
    for card in conv.deck.of(type_):
        pid = card["pid"]
        if pid == card["eid"] and default is not None and default["pid"] is not None and pid not in known:
            pid = default["pid"]
        if pid not in known:
            raise ModelError(
                f"there is no property of bars {pid}", place=card.where, remedy=f"add {' or '.join(properties)}"
            )
        if type_ == "CBEAM" and (card["sa"] is not None or card["sb"] is not None):
            conv.note("CBEAM: warping by scalar points SA, SB is not supported", where=card.where)
        nodes = conv.grids.indices([card["ga"], card["gb"]], card.where).tolist()
        v, offsets = _directions(conv, card, default, nodes)
        flags = (card["pa"] or "", card["pb"] or "")
        apart = any(flags) and (loaded or bool(set("".join(flags)) & set("123")))
        key: tuple[Any, ...] = (
            pid, tuple(np.round(_section_offsets(conv, nodes, v, offsets), 12).ravel()), *flags, apart,
        )  # fmt: skip
        if pid not in sections:
            section = bar_section(conv, known[pid])
            sections[pid] = section, isotropic(conv, section.mid, section.where, solid=False)
        single = any(flags) or sections[pid][0].end is not None
        if single or np.abs(offsets[0] - offsets[1]).max() > 0.0:  # data of one end need a part of its own
            key = (*key, card.id)
        parts.setdefault(key, []).append(_Bar(card, nodes, v, offsets, flags, apart))
    pinned = _pin(conv, [bar for members in parts.values() for bar in members if bar.apart])
    for number, ((pid, *_), members) in enumerate(parts.items(), 1):
        section, material = sections[pid]
        first = members[0]
        ids = np.array([bar.card.id for bar in members])
        nodes = np.array([bar.nodes for bar in members])
        offsets = np.array([bar.offsets for bar in members])
        data = Bars(np.array([bar.v for bar in members]), offsets, first.pins, material, section)
        if first.apart:
            data.carriers = nodes, offsets
            data.offsets, data.pins = np.zeros_like(offsets), ("", "")
            nodes = np.array([pinned[bar.card.id] for bar in members])
        group = Group(
            f"{known[pid].name} {pid} part {number}", "bar", type_, "line2", "beam", ids, nodes, known[pid], data
        )
        conv.groups.append(group)
        conv.turn(nodes.ravel())


def _pin(conv: Conversion, bars: list[_Bar]) -> dict[int, np.ndarray]:
    """Return, by the numbers of bars with pin flags, the points (2,) of their own at their ends: grid points where an
    end has neither pins nor an offset."""
    out, ends = {}, []
    for bar in bars:
        out[bar.card.id] = np.array(bar.nodes)
        ends += [(bar, k) for k in (0, 1) if bar.pins[k] or bar.offsets.any()]
    if not ends:
        return out
    grids = conv.grids
    x = np.array([grids.x[bar.nodes[k]] + bar.offsets[k] for bar, k in ends])
    axes = []
    for bar, _ in ends:
        ex = grids.x[bar.nodes[1]] + bar.offsets[1] - grids.x[bar.nodes[0]] - bar.offsets[0]
        ex = ex / np.linalg.norm(ex)
        ez = np.cross(ex, bar.v)
        ez = ez / np.linalg.norm(ez)
        axes.append([ex, np.cross(ez, ex), ez])
    held = np.array([bar.nodes[k] for bar, k in ends])
    conv.turn(held)
    digits, where = [bar.pins[k] for bar, k in ends], [bar.card.where for bar, _ in ends]
    nodes = add_pins(conv, held, x, np.array(axes), digits, where)
    for (bar, k), node in zip(ends, nodes.tolist(), strict=True):
        out[bar.card.id][k] = node
    return out


def _directions(conv: Conversion, card: Card, default: Card | None, nodes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return orientation vector (3,) and offsets (2, 3) of a bar in the basic system.

    Raises:
        ModelError: a vector along the bar, or none.
    """
    grids, a = conv.grids, nodes[0]
    source = card
    if card["x1"] is None and default is not None:
        source = default
    offt = str(card["offt"] or (default["offt"] if default is not None else None) or "GGG")
    if offt in ("1", "2"):  # an older form of the field: whether a vector or G0 follows, which the fields tell
        offt = "GGG"
    if not (len(offt) == 3 and offt[0] in "GB" and set(offt[1:]) <= set("GOE")):
        raise UnsupportedError(f"OFFT = {offt} is not supported", place=card.where, remedy="use GGG")
    length = grids.x[nodes[1]] - grids.x[a]
    size = float(np.linalg.norm(length))
    w = np.array([[card[f"w{k}{e}"] for k in (1, 2, 3)] for e in "ab"])
    whole = length + (w[1] - w[0] if not grids.turned[nodes].any() else 0.0)
    if not size > _POINT * conv.extent and not np.linalg.norm(whole) > _POINT * conv.extent:
        raise ModelError(f"{card.name} {card.id} has no length", place=card.where, remedy="move one of its ends")
    if not size > _POINT * conv.extent:
        raise UnsupportedError(
            f"{card.name} {card.id} between grid points at one place, apart by its offsets, is not supported",
            place=card.where,
        )
    if isinstance(source["x1"], int) and source["x2"] is None and source["x3"] is None:
        v = grids.x[grids.index(source["x1"], card.where)] - grids.x[a]
    elif source["x1"] is None:
        raise ModelError(f"{card.name} {card.id} has no orientation", place=card.where, remedy="give X1, X2, X3 or G0")
    else:
        v = np.array([source[k] or 0.0 for k in ("x1", "x2", "x3")], float)
        if offt[0] == "G":
            v = v @ grids.axes[a]
    ex = length / size
    if not np.linalg.norm(np.cross(ex, v)) > 1e-6 * np.linalg.norm(v):
        raise ModelError(
            f"the orientation of {card.name} {card.id} lies along it", place=card.where, remedy="give another"
        )
    ez = np.cross(ex, v)
    ez /= np.linalg.norm(ez)
    own = np.array([ex, np.cross(ez, ex), ez])
    offsets = np.array([w[k] @ (grids.axes[nodes[k]] if offt[1 + k] == "G" else own) for k in (0, 1)])
    ex = length + offsets[1] - offsets[0]
    if not np.linalg.norm(ex) > 1e-9 * size:
        raise ModelError(f"{card.name} {card.id} has no length with its offsets", place=card.where)
    if not np.linalg.norm(np.cross(ex, v)) > 1e-6 * np.linalg.norm(v) * np.linalg.norm(ex):
        raise ModelError(
            f"the orientation of {card.name} {card.id} lies along it", place=card.where, remedy="give another"
        )
    return v, offsets


def _section_offsets(conv: Conversion, nodes: list[int], v: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return offsets (2, 3) in the axes of the line between the grid points."""
    x = conv.grids.x
    ex = x[nodes[1]] - x[nodes[0]]
    ex = ex / np.linalg.norm(ex)
    ez = np.cross(ex, v)
    ez /= np.linalg.norm(ez)
    return offsets @ np.array([ex, np.cross(ez, ex), ez]).T


def _rods(conv: Conversion) -> None:
    known = {name: {card.id: card for card in conv.deck.of(name)} for name in ("PROD", "PTUBE")}
    parts: dict[tuple[str, Any], list[Card]] = {}
    for type_, kind in (("CROD", "PROD"), ("CTUBE", "PTUBE")):
        for card in conv.deck.of(type_):
            if card["pid"] not in known[kind]:
                raise ModelError(f"there is no property of rods {card['pid']}", place=card.where, remedy=f"add {kind}")
            parts.setdefault((kind, card["pid"]), []).append(card)
    for card in conv.deck.of("CONROD"):
        parts.setdefault(("CONROD", (card["mid"], card["a"], card["j"], card["c"], card["nsm"])), []).append(card)
    for number, ((kind, pid), members) in enumerate(parts.items(), 1):
        section = members[0] if kind == "CONROD" else known[kind][pid]
        material = isotropic(conv, section["mid"], section.where, solid=False)
        nodes = np.array([conv.grids.indices([c["g1"], c["g2"]], c.where) for c in members])
        length = np.linalg.norm(np.diff(conv.grids.x[nodes], axis=1)[:, 0], axis=1)
        if (length <= _POINT * conv.extent).any():
            card = members[int(np.argmin(length))]
            raise ModelError(f"{card.name} {card.id} has no length", place=card.where, remedy="move one of its ends")
        ids = np.array([card.id for card in members])
        name = f"{kind} part {number}" if kind == "CONROD" else f"{kind} {pid}"
        data = Rods(material, *(_tube(section) if kind == "PTUBE" else (section["a"], section["j"], section["c"])))
        if data.A < 0.0 or data.J < 0.0 or not (data.A or data.J):
            raise ModelError(f"A = {data.A:g}, J = {data.J:g} is no rod", place=section.where)
        conv.groups.append(Group(name, "rod", members[0].name, "line2", "truss", ids, nodes, section, data))
        conv.used[nodes.ravel()] = True
        if data.J and material.G:
            conv.turn(nodes.ravel())


def _tube(card: Card) -> tuple[float, float, float]:
    """Return area, torsion constant and outer radius of a PTUBE.

    Raises:
        ModelError: diameters and thickness that are no tube.
        UnsupportedError: another diameter at the end B.
    """
    outer, wall = card["od"], card["t"] or 0.5 * card["od"]
    if not outer > 0.0 or not 0.0 < wall <= 0.5 * outer:
        raise ModelError(f"OD = {outer:g}, T = {wall:g} is no tube", place=card.where, remedy="give 0 < T <= OD/2")
    if card["od2"] not in (None, 0.0, outer):
        raise UnsupportedError("another diameter OD2 at the end B is not supported", place=card.where)
    inner = outer - 2.0 * wall
    return np.pi / 4.0 * (outer**2 - inner**2), np.pi / 32.0 * (outer**4 - inner**4), 0.5 * outer


def make_lines(conv: Conversion) -> None:
    """Create beams and trusses of the model."""
    for i, group in enumerate(conv.groups):
        if group.kind == "bar":
            _make_bars(conv, group, f"deck:part {i + 1}")
        elif group.kind == "rod":
            _make_rods(conv, group, f"deck:part {i + 1}")


def _stiffness(conv: Conversion, group: Group, s: BarSection) -> dict[str, Any]:
    """Return arguments of a section of bars; what is zero becomes next to nothing."""
    m = group.data.material
    I1, I2, turn = s.I1, s.I2, 0.0
    if s.I12:
        # y lies in plane 1: I1 is the integral of y^2, I12 that of y z
        moments, axes = np.linalg.eigh(np.array([[s.I1, s.I12], [s.I12, s.I2]]))
        I1, I2 = float(moments[1]), float(moments[0])
        turn = float(np.rad2deg(np.arctan2(axes[1, 1], axes[0, 1])))
    values: dict[str, Any] = {"EA": m.E * s.A, "EIz": m.E * I1, "EIy": m.E * I2, "GJ": m.G * s.J}
    _, _, length = bar_axes(conv, group)
    L2 = float(np.mean(length)) ** 2
    most = max(values["EA"] * L2, values["EIz"], values["EIy"], values["GJ"])
    if not most > 0.0:
        raise ModelError("the section has no stiffness", place=s.where, remedy="give A, I1, I2 and J")
    for name, what in (("EA", "A"), ("EIz", "I1"), ("EIy", "I2"), ("GJ", "J")):
        if not values[name] > 0.0:
            values[name] = _NOTHING * most / (L2 if name == "EA" else 1.0)
            conv.note(f"{what} or its modulus is zero: the bars have no such stiffness", Effect.NONE, s.where)
    values["GAy"] = np.inf if s.k1 is None else s.k1 * m.G * s.A or np.inf
    values["GAz"] = np.inf if s.k2 is None else s.k2 * m.G * s.A or np.inf
    values["rhoA"] = m.rho * s.A + s.nsm * conv.wtmass
    if turn:
        values["rotate"] = turn
    if any(s.neutral):
        values["centroid"], values["shear_centre"], values["mass_centre"] = list(s.neutral), [0.0, 0.0], list(s.neutral)
    return values


def _make_bars(conv: Conversion, group: Group, on: str) -> None:
    data: Bars = group.data
    name = f"section of {group.name}"
    values = [_stiffness(conv, group, s) for s in (data.section, data.section.end) if s is not None]
    if data.carriers is not None and not conv.coupled:
        _carry(conv, group, [v["rhoA"] for v in values])
        values = [{**v, "rhoA": 0.0} for v in values]
    names: str | list[str] = name
    conv.model.section(name, "stiffness", **values[0])
    if len(values) > 1:
        names = [name, f"{name}, end B"]
        conv.model.section(names[1], "stiffness", **values[1])
    options: dict[str, Any] = {"orientation": data.v, "mass": "hermite" if conv.coupled else "lumped"}
    local = _section_offsets(conv, group.nodes[0].tolist(), data.v[0], data.offsets[0])
    if np.abs(local[0] - local[1]).max() > 0.0:
        options["offset_start"], options["offset_end"] = local[0].tolist(), local[1].tolist()
    elif local.any():
        options["offset"] = local[0].tolist()
    releases = {}
    for end, digits in zip(("start", "end"), data.pins, strict=True):
        if digits:
            releases[end] = [f"rotation {'xyz'[int(d) - 4]}" for d in digits]
    if releases:
        options["releases"] = releases
    conv.model.beams(group.name, on, names, **options)


def _carry(conv: Conversion, group: Group, densities: list[float]) -> None:
    """Put half of the lumped mass of each bar with pin flags, by masses per length at its ends, on its grid points."""
    data: Bars = group.data
    assert data.carriers is not None
    _, _, length = bar_axes(conv, group)
    a, b = densities[0], densities[-1]
    for row, (nodes, offsets) in enumerate(zip(*data.carriers, strict=True)):
        for end, share in enumerate((3.0 * a + b, a + 3.0 * b)):
            mass = share * length[row] / 8.0
            if mass:
                arm = {"offset": offsets[end].tolist()} if offsets[end].any() else {}
                conv.model.point_mass(f"{group.type} {group.ids[row]} end {end + 1}", nodes[end : end + 1], mass, **arm)


def _make_rods(conv: Conversion, group: Group, on: str) -> None:
    data: Rods = group.data
    m, nsm = data.material, group.section["nsm"] * conv.wtmass
    name = f"section of {group.name}"
    if data.A and m.E:
        # coupled masses are those of components (`fem_mbs.decks.nastran.components.masses`)
        mass = 0.0 if conv.coupled else m.rho * data.A + nsm
        conv.model.section(name, "stiffness", EA=m.E * data.A, rhoA=mass)
        # MSC Nastran takes the stiffness N/L of stresses across rods at their first length: Green's strain has it about
        # a preload, which the model has moved to; from the start the co-rotational one, which has no other terms
        strain: Literal["green", "corotational"] = "green" if conv.deck.sol == 103 else "corotational"
        conv.model.trusses(group.name, on, name, mass="lumped", strain=strain)
    if not (data.J and m.G):
        return
    from scipy.spatial.transform import Rotation

    for element, (a, b) in zip(group.ids.tolist(), group.nodes.tolist(), strict=True):
        d = conv.grids.x[b] - conv.grids.x[a]
        turn = Rotation.align_vectors([d / np.linalg.norm(d)], [[1.0, 0.0, 0.0]])[0].as_rotvec()
        k = m.G * data.J / float(np.linalg.norm(d))
        conv.model.bushing(
            f"{group.name} torsion {element}", a, b, [0.0, 0.0, 0.0, k, 0.0, 0.0], rotation=turn.tolist(),
            point_a=conv.grids.x[a].tolist(), point_b=conv.grids.x[b].tolist(),
        )  # fmt: skip
