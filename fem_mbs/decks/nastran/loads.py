"""Loads of a Nastran deck as forces and moments of the grid points, and temperatures.

A load set becomes vectors (n, 6) along the global axes; LOAD adds sets with factors.  Weight is the mass matrix of the
model times the acceleration, as in Nastran, so lumped and offset masses count as they do in modes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.nastran.bars import Bars, Rods, bar_axes
from fem_mbs.decks.nastran.components.matrices import load_of_matrix
from fem_mbs.decks.nastran.model import Conversion, Group, isotropic
from fem_mbs.decks.nastran.points import mass_of
from fem_mbs.decks.nastran.shells import TYPES as SHELLS
from fem_mbs.decks.nastran.shells import reference_temperature, shell_nodes
from fem_mbs.decks.nastran.solids import FACES
from fem_mbs.elements.solids import shapes
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.nastran.deck import Subcase
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["LoadCase", "find_excitation", "find_loads", "needs_mass", "nodal_temperatures", "turn_loaded"]

#: Entries that a load set may consist of.
KINDS = (
    "FORCE", "FORCE1", "MOMENT", "MOMENT1", "GRAV", "RFORCE", "PLOAD", "PLOAD1", "PLOAD2", "PLOAD4", "SLOAD", "SPCD",
)  # fmt: skip


@dataclass
class LoadCase:
    """Loads of a subcase: forces and moments (n, 6) of the nodes; per bar or rod group (by its number) forces (m, 12)
    that fix its ends, along the axes of the bars; temperatures (n,) of the nodes, None for none."""

    forces: np.ndarray
    fixed: dict[int, np.ndarray] = field(default_factory=dict)
    temperatures: np.ndarray | None = None


def _sets(conv: Conversion, number: int, where: str) -> dict[int, float]:
    """Return load sets and factors that a number stands for, which is selected at a place.

    Raises:
        ModelError: there are no such loads.
    """
    unions = [card for card in conv.deck.of("LOAD") if card["sid"] == number]
    if len(unions) > 1:
        raise ModelError(f"there are two LOAD {number}", place=unions[1].where, remedy="remove one")
    there = {card["sid"] for card in conv.deck.of(*KINDS)}
    if not unions:
        if number not in there:
            known = {e.name for e in conv.deck.unknown if e.fields and e.fields[0] == str(number)}
            if known:
                return {}
            raise ModelError(f"there is no load set {number}", place=where, remedy="mend the number")
        return {number: 1.0}
    card = unions[0]
    out: dict[int, float] = {}
    terms = card["terms"]
    for k in range(0, len(terms), 2):
        pair = terms[k : k + 2]
        if pair == [None] or pair == [None, None]:
            continue
        if len(pair) < 2 or pair[0] is None or not isinstance(pair[1], int):
            raise ModelError("LOAD needs pairs of factor and set", place=card.where)
        if pair[1] not in there:
            raise ModelError(f"there is no load set {pair[1]}", place=card.where, remedy="mend the number")
        out[pair[1]] = out.get(pair[1], 0.0) + float(card["s"]) * float(pair[0])
    for moved in conv.deck.of("SPCD"):
        if moved["sid"] in out:
            conv.note(
                f"LOAD {number} combines the set {moved['sid']} of SPCD, which is not supported: some programs scale "
                "its displacements, others leave them out",
                where=moved.where,
            )
    return out


def needs_mass(conv: Conversion) -> bool:
    """Return whether loads need the mass matrix."""
    return bool(conv.deck.of("GRAV", "RFORCE"))


def turn_loaded(conv: Conversion, dependent: set[int]) -> None:
    """Give rotations to nodes with moments whose rotations depend on others."""
    for card in conv.deck.of("MOMENT", "MOMENT1"):
        node = conv.grids.index(card.values["g"], card.where)  # a set that no subcase selects stays unread
        if any(6 * node + k in dependent for k in (3, 4, 5)):
            conv.turn(node)


def find_loads(conv: Conversion, subcase: Subcase, mass: csr_matrix | None) -> LoadCase:
    """Return the loads that a subcase selects; ``mass`` (6 n, 6 n) along the global axes.

    Raises:
        ModelError: entries that name what is not there, or that the model does not have, with file and line.
    """
    number = conv.select(subcase, "LOAD")
    sets = _sets(conv, number, subcase.commands["LOAD"].where) if number else {}
    case = _loads_of_sets(conv, sets, mass)
    if "P2G" in subcase.commands:
        case.forces += load_of_matrix(conv, subcase.commands["P2G"])
    _temperatures(conv, subcase, case)
    _no_rotation(conv, case)
    return case


def find_excitation(conv: Conversion, number: int, sequence: int, mass: csr_matrix | None) -> LoadCase | None:
    """Return the loads that EXCITEID stands for: DAREA, and load sets of the same number, or those that LSEQ of the
    ``sequence`` (LOADSET; 0: none) names; None where there is none."""
    named = [card for card in conv.deck.of("LSEQ") if sequence and card["sid"] == sequence and card["darea"] == number]
    sets = {number: 1.0}
    for card in named:
        if card["tid"]:
            conv.note("LSEQ: temperatures (TID) over frequency or time are not used", where=card.where)
        sets = _sets(conv, card["lid"], card.where) if card["lid"] else {}
    case = _loads_of_sets(conv, sets, mass)
    areas = [card for card in conv.deck.of("DAREA") if card["sid"] == number]
    for card in areas:
        for k in "12":
            if card[f"p{k}"] is None:
                continue
            at = conv.grids.index(card[f"p{k}"], card.where, scalar=True)
            found = conv.grids.components(at, card[f"c{k}"], card.where)
            if len(found) != 1:
                raise ModelError(f"component {card[f'c{k}']} is none of 1 to 6", place=card.where)
            value = np.zeros((1, 6))
            value[0, found[0]] = card[f"a{k}"]
            case.forces[at] += conv.to_basic(np.array([at]), value)[0]
    if not areas and not named and not any(card["sid"] == number for card in conv.deck.of(*KINDS)):
        return None
    _no_rotation(conv, case)
    return case


def _loads_of_sets(conv: Conversion, factors: dict[int, float], mass: csr_matrix | None) -> LoadCase:
    """Return the sum of load sets times factors."""
    case = LoadCase(np.zeros((len(conv.grids.ids), 6)))
    for sid, factor in factors.items():
        for card in conv.deck.of(*KINDS):
            if card["sid"] == sid and card.name != "SPCD":
                _ADD[card.name](conv, case, card, factor, mass)
    return case


def _no_rotation(conv: Conversion, case: LoadCase) -> None:
    """Leave out what acts on components that do not exist: AUTOSPC holds them."""
    lost = (np.abs(case.forces[:, 3:]).max(axis=1) > 0.0) & ~conv.rotational
    if lost.any():
        id_ = conv.grids.ids[np.argmax(lost)]
        conv.note(
            f"a moment on grid point {id_}, which no element turns, has no effect (AUTOSPC holds it)", Effect.NONE
        )
        case.forces[lost, 3:] = 0.0
    lost = (np.abs(case.forces).max(axis=1) > 0.0) & ~conv.used
    if lost.any():
        id_ = conv.grids.ids[np.argmax(lost)]
        conv.note(f"a load on grid point {id_}, which nothing uses, has no effect (AUTOSPC holds it)", Effect.NONE)
        case.forces[lost] = 0.0


# --- grid points -----------------------------------------------------------------------------------------------------
def _point(conv: Conversion, case: LoadCase, card: Card, factor: float, mass: Any) -> None:
    node = conv.grids.index(card["g"], card.where)
    part = 3 if card.name.startswith("MOMENT") else 0
    if card.name.endswith("1"):
        a, b = conv.grids.indices([card["g1"], card["g2"]], card.where)
        v = conv.grids.x[b] - conv.grids.x[a]
        size = float(np.linalg.norm(v))
        if not size > 0.0:
            raise ModelError(f"{card.name}: G1 and G2 give no direction", place=card.where)
        v = card["f"] * v / size
    else:
        axes = conv.grids.system(card["cid"], card.where).axes_at(conv.grids.x[node])[0]
        v = card["f"] * np.array([card["n1"], card["n2"], card["n3"]]) @ axes
    case.forces[node, part : part + 3] += factor * v


def _scalar(conv: Conversion, case: LoadCase, card: Card, factor: float, mass: Any) -> None:
    for k in "123":
        if card[f"g{k}"] is None:
            continue
        at = conv.grids.index(card[f"g{k}"], card.where, scalar=True)
        case.forces[at, :3] += factor * card[f"f{k}"] * conv.grids.axes[at, 0]


# --- inertia ---------------------------------------------------------------------------------------------------------
def _gravity(conv: Conversion, case: LoadCase, card: Card, factor: float, mass: Any) -> None:
    system = conv.grids.system(card["cid"], card.where)
    if system.kind != "R":
        raise UnsupportedError("GRAV in a cylindrical or spherical system is not supported", place=card.where)
    if card["mb"]:
        conv.note(f"GRAV: MB = {card['mb']} is not used", where=card.where)
    a = np.zeros((len(conv.grids.ids), 6))
    a[~conv.grids.scalar, :3] = card["a"] * np.array([card["n1"], card["n2"], card["n3"]]) @ system.axes
    case.forces += factor * (mass @ a.ravel()).reshape(-1, 6)


def _rotation(conv: Conversion, case: LoadCase, card: Card, factor: float, mass: Any) -> None:
    for key in ("racc", "mb", "idrf"):
        if card[key] is not None:
            conv.note(f"RFORCE: {key.upper()} is not supported", where=card.where)
    system = conv.grids.system(card["cid"], card.where)
    centre = np.zeros(3) if not card["g"] else conv.grids.x[conv.grids.index(card["g"], card.where)]
    axes = system.axes if system.kind == "R" else system.axes_at(centre)[0]
    w = 2.0 * np.pi * card["a"] * np.array([card["r1"], card["r2"], card["r3"]]) @ axes
    a = np.zeros((len(conv.grids.ids), 6))
    a[:, :3] = -np.cross(w, np.cross(w, conv.grids.x - centre)) * ~conv.grids.scalar[:, None]
    case.forces += factor * (mass @ a.ravel()).reshape(-1, 6)
    for point in conv.deck.of("CONM2"):  # the mass matrix has the acceleration of the grid point alone
        node, m, arm, J = mass_of(conv, point)
        beside = -m * np.cross(w, np.cross(w, arm))
        case.forces[node, :3] += factor * beside
        case.forces[node, 3:] += factor * (np.cross(arm, beside) - np.cross(w, J @ w))
    for what in _masses_beside_nodes(conv):
        conv.note(f"RFORCE: masses of {what} have the acceleration of their grid points", Effect.DIFFERS, card.where)


def _masses_beside_nodes(conv: Conversion) -> Iterator[str]:
    """Yield the kinds of elements, CONM2 apart, whose masses have an offset from their grid points."""
    bars = (group.data for group in conv.groups if group.kind == "bar")
    if any(bar.offsets.any() or any(bar.section.neutral) for bar in bars):
        yield "bars with offsets"
    laminates = conv.deck.of("PCOMP", "PCOMPG")
    if any(shell["zoffs"] for shell in _shells(conv).values()) or any(p["z0"] is not None for p in laminates):
        yield "shells with offsets"
    if any(mass[f"m{i}{j}"] for mass in conv.deck.of("CONM1") for i in (4, 5, 6) for j in (1, 2, 3)):
        yield "CONM1 with coupling"


# --- pressures -------------------------------------------------------------------------------------------------------
def _triangle(conv: Conversion, case: LoadCase, card: Card, factor: float, mass: Any) -> None:
    """Add a PLOAD: of four points the mean of both divisions into two triangles."""
    names = [card[k] for k in ("g1", "g2", "g3", "g4") if card[k]]
    nodes = conv.grids.indices(names, card.where)
    triangles = [(0, 1, 2)] if len(nodes) == 3 else [(0, 1, 2), (0, 2, 3), (0, 1, 3), (1, 2, 3)]
    share = 1.0 if len(nodes) == 3 else 0.5
    for t in triangles:
        a, b, c = conv.grids.x[nodes[list(t)]]
        force = factor * share * card["p"] * 0.5 * np.cross(b - a, c - a) / 3.0
        case.forces[nodes[list(t)], :3] += force


def _faces_force(
    conv: Conversion, kind: str, nodes: np.ndarray, p: np.ndarray, vector: np.ndarray | None
) -> np.ndarray:
    """Return forces (k, 3) of the nodes of a face under intensities p (corners) along the normal by the right-hand rule
    of its nodes, or along a vector."""
    X = conv.grids.x[nodes][None]
    points, weights = shapes.exact_rule(kind)
    J = shapes.jacobians(kind, X, points)[0]
    normal = np.cross(J[..., 0], J[..., 1])
    corners = kind.rstrip("0123456789")
    at = shapes.shape_functions(corners, points) @ p
    N = shapes.shape_functions(kind, points)
    if vector is None:
        return N.T @ (normal * (at * weights)[:, None])
    area = np.linalg.norm(normal, axis=1)
    return (N.T @ (area * at * weights))[:, None] * vector


def _solid_face(conv: Conversion, card: Card, group: Group, row: int) -> tuple[str, np.ndarray, np.ndarray]:
    """Return kind, nodes (of the whole face, outward by the right-hand rule) and intensities (corners) of a PLOAD4."""
    nodes = group.nodes[row]
    g1, g34 = card["g1"], card["g34"]
    if not isinstance(g1, int):
        raise ModelError(f"PLOAD4 on the solid {group.ids[row]} needs G1", place=card.where, remedy="name its face")
    a = conv.grids.index(g1, card.where)
    b = None if not g34 else conv.grids.index(g34, card.where)
    found = None
    for kind, local in FACES[group.cell]:
        count = 3 if kind.startswith("triangle") else 4
        corners = nodes[list(local[:count])].tolist()
        if a not in corners:
            continue
        at = corners.index(a)
        if group.type == "CTETRA":
            hit = b is not None and b in nodes[:4].tolist() and b not in corners
        elif count == 3:
            hit = b is None
        else:
            hit = b is not None and b == corners[(at + 2) % 4]
        if hit:
            found = kind, nodes[list(local)], at, count
    if found is None:
        raise ModelError(
            f"G1 = {g1} and G3/G4 = {g34} name no face of {group.type} {group.ids[row]}", place=card.where,
            remedy="name two opposite corners of the face, of CTETRA the corner that is not on it",
        )  # fmt: skip
    kind, face, at, count = found
    p = np.array([card["p1"], card["p2"], card["p3"], card["p4"]][:count])
    return kind, face, np.roll(p, at)


def _pload4(conv: Conversion, case: LoadCase, card: Card, factor: float, mass: Any) -> None:
    if card["sorl"] != "SURF" or card["ldir"] != "NORM":
        raise UnsupportedError(f"PLOAD4 with {card['sorl']}, {card['ldir']} is not supported", place=card.where)
    vector = np.array([card["n1"], card["n2"], card["n3"]])
    along = None
    ids = [card["eid"]]
    if card["g1"] == "THRU":
        if card["g34"] is None or card["g34"] < card["eid"]:
            raise ModelError("PLOAD4 with THRU needs a larger last element", place=card.where)
        ids = list(range(card["eid"], card["g34"] + 1))
    hit = False
    for id_ in ids:
        for group in conv.groups:
            row = np.flatnonzero(group.ids == id_) if group.kind == "solid" else np.empty(0, int)
            if not row.size:
                continue
            kind, nodes, p = _solid_face(conv, card, group, int(row[0]))
            if vector.any():
                along = _direction(conv, card, nodes, vector)
            f = _faces_force(conv, kind, nodes, p, along)
            case.forces[nodes, :3] += factor * (f if along is not None else -f)
            hit = True
        if not hit or len(ids) > 1:
            hit |= _on_shell(conv, case, card, id_, factor, vector)
    if not hit:
        raise ModelError(f"there is no solid or shell {card['eid']}", place=card.where, remedy="mend the number")


def _direction(conv: Conversion, card: Card, nodes: np.ndarray, vector: np.ndarray) -> np.ndarray:
    axes = conv.grids.system(card["cid"], card.where).axes_at(conv.grids.x[nodes].mean(axis=0))[0]
    return (vector / np.linalg.norm(vector)) @ axes


def _shells(conv: Conversion) -> dict[int, Card]:
    return {card.id: card for card in conv.deck.of(*SHELLS)}


def _shell(conv: Conversion, card: Card) -> tuple[int, str, np.ndarray]:
    """Return number of corners, cell and nodes of a shell."""
    corners, cell = SHELLS[card.name]
    return corners, cell, shell_nodes(conv, card)


def _on_shell(conv: Conversion, case: LoadCase, card: Card, id_: int, factor: float, vector: np.ndarray) -> bool:
    shell = _shells(conv).get(id_)
    if shell is None:
        return False
    corners, kind, nodes = _shell(conv, shell)
    p = np.array([card["p1"], card["p2"], card["p3"], card["p4"]][:corners])
    along = _direction(conv, card, nodes, vector) if vector.any() else None
    case.forces[nodes, :3] += factor * _faces_force(conv, kind, nodes, p, along)
    return True


def _pload2(conv: Conversion, case: LoadCase, card: Card, factor: float, mass: Any) -> None:
    shells = _shells(conv)
    for id_ in card["ids"] if isinstance(card["ids"], list) else []:
        if id_ not in shells:
            raise ModelError(f"there is no shell {id_}", place=card.where, remedy="mend the number")
        corners, kind, nodes = _shell(conv, shells[id_])
        case.forces[nodes, :3] += factor * _faces_force(conv, kind, nodes, np.full(corners, card["p"]), None)


# --- bars ------------------------------------------------------------------------------------------------------------
def _pload1(conv: Conversion, case: LoadCase, card: Card, factor: float, mass: Any) -> None:
    kind, scale = card["type"], card["scale"]
    if kind not in ("FX", "FY", "FZ", "FXE", "FYE", "FZE", "MX", "MY", "MZ", "MXE", "MYE", "MZE"):
        raise ModelError(f"TYPE = {kind} of PLOAD1 is not known", place=card.where)
    if scale not in ("LE", "FR", "LEPR", "FRPR"):
        raise ModelError(f"SCALE = {scale} of PLOAD1 is not known", place=card.where)
    for number, group in enumerate(conv.groups):
        row = np.flatnonzero(group.ids == card["eid"]) if group.kind == "bar" else np.empty(0, int)
        if not row.size:
            continue
        _line_load(conv, case, card, factor, number, int(row[0]))
        return
    raise ModelError(f"there is no bar {card['eid']}", place=card.where, remedy="mend the number")


def _line_load(conv: Conversion, case: LoadCase, card: Card, factor: float, number: int, row: int) -> None:
    group = conv.groups[number]
    _, axes, length = bar_axes(conv, group)
    A, L = axes[row], float(length[row])
    x1, x2 = card["x1"], card["x2"]
    p1 = card["p1"]
    if card["scale"].startswith("LE"):
        x1, x2 = x1 / L, None if x2 is None else x2 / L
    inside = 0.0 <= x1 <= 1.0 + 1e-9 and (x2 is None or x1 <= x2 <= 1.0 + 1e-9)
    if not inside:
        raise ModelError(
            f"the load stands from {x1:g} to {x2 or x1:g} of the bar", place=card.where, remedy="give 0 to 1"
        )
    direction = np.eye(3)["XYZ".index(card["type"][1])]
    if not card["type"].endswith("E"):
        direction = A @ direction
    if card["scale"].endswith("PR") and not card["type"].endswith("E"):
        across = float(np.sqrt(max(0.0, 1.0 - direction[0] ** 2)))
    else:
        across = 1.0
    if x2 is None or x2 == x1:
        points, values = np.array([x1]), np.array([p1])
    else:
        p2 = p1 if card["p2"] is None else card["p2"]
        g, w = np.polynomial.legendre.leggauss(4)
        s = 0.5 * (g + 1.0)
        points = x1 + (x2 - x1) * s
        values = (p1 + (p2 - p1) * s) * 0.5 * w * (x2 - x1) * L * across
    f = np.zeros(12)
    for x, p in zip(points, values, strict=True):
        work = _consistent_moment if card["type"].startswith("M") else _consistent
        f += factor * p * work(group.data, L, float(x), direction)
    case.fixed.setdefault(number, np.zeros((len(group.ids), 12)))[row] += f
    _put(conv, case, group, row, A, f)


def _put(conv: Conversion, case: LoadCase, group: Group, row: int, A: np.ndarray, f: np.ndarray) -> None:
    """Add forces (12,) at the ends of a bar, along its axes, to those of its nodes."""
    for k in range(2):
        node = group.nodes[row, k]
        force, moment = f[6 * k : 6 * k + 3] @ A, f[6 * k + 3 : 6 * k + 6] @ A
        case.forces[node, :3] += force
        case.forces[node, 3:] += moment + np.cross(group.data.offsets[row, k], force)


def _consistent(data: Bars, L: float, x: float, d: np.ndarray) -> np.ndarray:
    """Return forces (12,) at the ends that do the work of a unit force along d (3,) at x (0 to 1): by the exact shapes
    of a bar with shear deformation."""
    f = np.zeros(12)
    f[0], f[6] = d[0] * (1.0 - x), d[0] * x
    s, m = data.section, data.material
    for axis, turn, sign, inertia, k in ((1, 5, 1.0, s.I1, s.k1), (2, 4, -1.0, s.I2, s.k2)):
        area = 0.0 if k is None else k * m.G * s.A
        phi = 12.0 * m.E * inertia / (area * L * L) if area else 0.0
        c = d[axis] / (1.0 + phi)
        f[axis] += c * (1.0 - 3.0 * x**2 + 2.0 * x**3 + phi * (1.0 - x))
        f[turn] += sign * c * L * (x - 2.0 * x**2 + x**3 + 0.5 * phi * (x - x**2))
        f[6 + axis] += c * (3.0 * x**2 - 2.0 * x**3 + phi * x)
        f[6 + turn] += sign * c * L * (x**3 - x**2 - 0.5 * phi * (x - x**2))
    return f


def _consistent_moment(data: Bars, L: float, x: float, d: np.ndarray) -> np.ndarray:
    """Return forces (12,) at the ends that do the work of a unit moment about d (3,) at x (0 to 1): by the rotations of
    the cross-sections in the exact shapes of a bar with shear deformation."""
    f = np.zeros(12)
    f[3], f[9] = d[0] * (1.0 - x), d[0] * x
    s, m = data.section, data.material
    for axis, turn, sign, inertia, k in ((1, 5, 1.0, s.I1, s.k1), (2, 4, -1.0, s.I2, s.k2)):
        area = 0.0 if k is None else k * m.G * s.A
        phi = 12.0 * m.E * inertia / (area * L * L) if area else 0.0
        c = d[turn - 3] / (1.0 + phi)
        f[axis] += sign * c * 6.0 * (x * x - x) / L
        f[6 + axis] -= sign * c * 6.0 * (x * x - x) / L
        f[turn] += c * (1.0 - 4.0 * x + 3.0 * x * x + phi * (1.0 - x))
        f[6 + turn] += c * (3.0 * x * x - 2.0 * x + phi * x)
    return f


# --- temperatures ----------------------------------------------------------------------------------------------------
def nodal_temperatures(conv: Conversion, number: int, where: str) -> np.ndarray:
    """Return temperatures (n,) of a set, NaN where none is given.

    Raises:
        ModelError: there is no such set.
    """
    out = np.full(len(conv.grids.ids), np.nan)
    found = False
    for card in conv.deck.of("TEMPD"):
        for k in ("", "2", "3", "4"):
            if card["sid" + k] == number:
                out[:] = card["t1" if not k else f"t{k}"]
                found = True
    for card in conv.deck.of("TEMP"):
        if card["sid"] != number:
            continue
        found = True
        for at in "123":
            if card["g" + at] is not None:
                out[conv.grids.index(card["g" + at], card.where)] = card["t" + at] or 0.0
    found |= any(card["sid"] == number for card in conv.deck.of("TEMPRB"))
    if not found:
        raise ModelError(f"there is no temperature set {number}", place=where, remedy="add TEMP or TEMPD")
    for node, parents in conv.parents.items():
        out[node] = out[parents].mean()
    return out


def _of_lines(conv: Conversion, number: int) -> dict[int, np.ndarray]:
    """Return, by element, what TEMPRB of a set give: temperatures at both ends, and gradients (2, 2) in the planes 1
    and 2 there, (6,)."""
    out: dict[int, np.ndarray] = {}
    for card in conv.deck.of("TEMPRB"):
        if card["sid"] == number:
            values = np.array([card[k] for k in ("ta", "tb", "tp1a", "tp2a", "tp1b", "tp2b")])
            more = card.values.get("ids")
            card.seen.add("ids")
            for eid in [card["eid"], *(more if isinstance(more, list) else [])]:
                out[eid] = values
    return out


def _temperatures(conv: Conversion, subcase: Subcase, case: LoadCase) -> None:
    command = subcase.commands.get("TEMPERATURE(LOAD)") or subcase.commands.get("TEMPERATURE")
    if command is None or not command.number:
        return
    case.temperatures = nodal_temperatures(conv, command.number, command.where)
    initial = subcase.commands.get("TEMPERATURE(INITIAL)")
    start = None
    if initial is not None and initial.number:
        start = nodal_temperatures(conv, initial.number, initial.where)
    own = _of_lines(conv, command.number)
    for number, group in enumerate(conv.groups):
        values = case.temperatures[group.nodes]
        gradients = np.zeros((len(group.ids), 2, 2))
        for row in np.flatnonzero(np.isin(group.ids, list(own))) if group.kind in ("bar", "rod") else ():
            values[row], gradients[row] = own[group.ids[row]][:2], own[group.ids[row]][2:].reshape(2, 2)
        if np.isnan(values).any():
            id_ = group.ids[np.argmax(np.isnan(values).any(axis=1))]
            raise ModelError(
                f"no temperature of a grid point of {group.type} {id_} is given",
                place=command.where,
                remedy="add TEMPD",
            )
        if group.kind in ("solid", "shell"):
            continue
        m = group.data.material
        change = values - (m.tref if start is None else start[group.nodes])
        if m.alpha and (change.any() or gradients.any()):
            _heat_line(conv, case, number, m.E * m.alpha * change.mean(axis=1), m.E * m.alpha * gradients)
    if start is not None:
        case.temperatures = case.temperatures - start


def _heat_line(conv: Conversion, case: LoadCase, number: int, stress: np.ndarray, slopes: np.ndarray) -> None:
    """Add the forces that held bars or rods would exert when heated: by the mean stress (n,) over their length, and by
    slopes (n, 2, 2) of the stress at ends A and B along planes 1 and 2, linear between the ends."""
    group = conv.groups[number]
    fixed = case.fixed.setdefault(number, np.zeros((len(group.ids), 12)))
    if isinstance(group.data, Rods):
        force = stress * group.data.A
        d = conv.grids.x[group.nodes[:, 1]] - conv.grids.x[group.nodes[:, 0]]
        d /= np.linalg.norm(d, axis=1)[:, None]
        np.add.at(case.forces, group.nodes[:, 0], np.pad(-force[:, None] * d, ((0, 0), (0, 3))))
        np.add.at(case.forces, group.nodes[:, 1], np.pad(force[:, None] * d, ((0, 0), (0, 3))))
        fixed[:, 0] -= force
        fixed[:, 6] += force
        return
    force = stress * group.data.section.A
    s, m = group.data.section, group.data.material
    if slopes.any() and (s.I12 or s.end is not None):
        conv.note("gradients of temperature in bars with I12 or another end are not used", where=s.where)
        slopes = np.zeros_like(slopes)
    _, axes, length = bar_axes(conv, group)
    for row in range(len(group.ids)):
        f = np.zeros(12)
        f[0], f[6] = -force[row], force[row]
        for plane, (axis, turn, sign, inertia, k) in enumerate(((1, 5, 1.0, s.I1, s.k1), (2, 4, -1.0, s.I2, s.k2))):
            area = 0.0 if k is None else k * m.G * s.A
            phi = 12.0 * m.E * inertia / (area * length[row] ** 2) if area else 0.0
            first, change = inertia * slopes[row, 0, plane], inertia * (slopes[row, 1] - slopes[row, 0])[plane]
            shear = change / (length[row] * (1.0 + phi))
            f[axis], f[6 + axis] = f[axis] - shear, f[6 + axis] + shear
            f[turn] += sign * (first + 0.5 * change * phi / (1.0 + phi))
            f[6 + turn] -= sign * (first + change * (1.0 + 0.5 * phi) / (1.0 + phi))
        fixed[row] += f
        _put(conv, case, group, row, axes[row], f)


def thermal_reference(conv: Conversion, group: Group, initial: bool) -> float:
    """Return the temperature without strain of a part; 0 where initial temperatures are subtracted already."""
    if initial:
        return 0.0
    if group.kind == "shell":
        return reference_temperature(conv, group)
    mid = group.section["mid"]
    for card in conv.deck.of("MAT9"):
        if card.id == mid:
            return float(card["tref"])
    return isotropic(conv, mid, group.section.where).tref


_ADD: dict[str, Any] = {
    "FORCE": _point, "FORCE1": _point, "MOMENT": _point, "MOMENT1": _point, "GRAV": _gravity, "RFORCE": _rotation,
    "PLOAD": _triangle, "PLOAD1": _pload1, "PLOAD2": _pload2, "PLOAD4": _pload4,
    "SLOAD": _scalar,
}  # fmt: skip
