"""Shells of a Nastran deck: CQUAD4, CQUADR, CQUAD8, CTRIA3, CTRIAR, CTRIA6 with PSHELL or PCOMP."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.decks.nastran.model import Conversion, Group, isotropic
from fem_mbs.elements.shells.surface import CELLS
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["TYPES", "find_shells", "make_shells", "material_axes", "shell_nodes"]

#: Type -> number of corners and cell.
TYPES = {
    "CQUAD4": (4, "quad"), "CQUADR": (4, "quad"), "CTRIA3": (3, "triangle"), "CTRIAR": (3, "triangle"),
    "CQUAD8": (4, "quad8"), "CTRIA6": (3, "triangle6"),
}  # fmt: skip
#: Factor on the shear stiffness that stands for none that gives way.
_RIGID = 1e4
#: Shear factor of PSHELL by default, and how near to it a value is the same.
_SHEAR, _SAME = 5.0 / 6.0, 1e-5


def find_shells(conv: Conversion) -> None:
    """Sort the shells of the deck into parts of the model.

    Raises:
        ModelError: grid points and properties that are not there, or that the model does not have.
    """
    known = {card.id: card for card in conv.deck.of("PSHELL", "PCOMP")}
    parts: dict[tuple[str, int], list[Card]] = {}
    for card in conv.deck.of(*TYPES):
        if card["pid"] not in known:
            raise ModelError(
                f"there is no property of shells {card['pid']}", place=card.where, remedy="add PSHELL or PCOMP"
            )
        parts.setdefault((TYPES[card.name][1], card["pid"]), []).append(card)
    for (cell, pid), members in parts.items():
        nodes = np.array([shell_nodes(conv, card) for card in members])
        twice = (np.diff(np.sort(nodes, axis=1), axis=1) == 0).any(axis=1)
        if twice.any():
            card = members[int(np.argmax(twice))]
            raise ModelError(f"{card.name} {card.id} names a grid point twice", place=card.where)
        ids = np.array([card.id for card in members])
        section = known[pid]
        name = f"{section.name} {pid} {cell}"
        conv.groups.append(Group(name, "shell", members[0].name, cell, "shell", ids, nodes, section, members))
        if _is_membrane(section):
            conv.used[nodes.ravel()] = True
        else:
            conv.turn(nodes.ravel())


def shell_nodes(conv: Conversion, card: Card) -> np.ndarray:
    """Return the nodes of a shell, corners first.

    Raises:
        UnsupportedError: some of the mid-side grid points are blank.
        ModelError: grid points that are not there.
    """
    corners, cell = TYPES[card.name]
    points = [card[f"g{k + 1}"] for k in range(CELLS[cell])]
    if None in points[corners:]:
        raise UnsupportedError(
            f"{card.name} {card.id} has blank mid-side grid points", place=card.where,
            remedy=f"give all of them, or C{'QUAD4' if corners == 4 else 'TRIA3'}",
        )  # fmt: skip
    return conv.grids.indices(points, card.where)


def make_shells(conv: Conversion) -> None:
    """Create the shells of the model.

    Raises:
        ModelError: sections and materials that the model does not have.
    """
    for i, group in enumerate(conv.groups):
        if group.kind != "shell":
            continue
        make = _laminate if group.section.name == "PCOMP" else _homogeneous
        options = make(conv, group)
        mass = "consistent" if conv.coupled else "lumped"
        if not _is_membrane(group.section):
            conv.note(
                f"{group.type} are shells with rotations "
                "about their normals; those of MSC Nastran have another formulation, so that coarse meshes differ",
                Effect.DIFFERS,
                group.section.where,
            )
        try:
            conv.model.shells(group.name, f"deck:part {i + 1}", mass=mass, **options)
        except ModelError as error:
            if error.key != "cell":
                raise ModelError(f"{error.text}", place=group.section.where, remedy=error.remedy) from None
            card = next((c for c in group.data if c.id == error.value), group.data[0])
            raise ModelError(f"{card.name} {card.id} has no area or folds over itself", place=card.where) from None


def _is_membrane(section: Card) -> bool:
    """Return whether a property has no material of bending."""
    return section.name == "PSHELL" and section["mid2"] is None


def _offsets(group: Group) -> np.ndarray:
    return np.array([card["zoffs"] for card in group.data])


def _homogeneous(conv: Conversion, group: Group) -> dict[str, Any]:
    """Return arguments of shells with a PSHELL."""
    s = group.section
    if s["mid1"] is None or s["mid2"] not in (None, s["mid1"]):
        what = "without a membrane" if s["mid1"] is None else "with different materials of membrane and bending"
        raise UnsupportedError(f"PSHELL {s.id} {what} is not supported", place=s.where, remedy="give MID1 = MID2")
    if s["mid4"] is not None:
        raise UnsupportedError(
            f"PSHELL {s.id}: MID4, coupling of membrane and bending, is not supported", place=s.where
        )
    membrane = _is_membrane(s)
    if not membrane and abs(s["bk"] - 1.0) > _SAME:
        conv.note(f"PSHELL: 12I/T**3 = {s['bk']:g} is not used", where=s.where)
    thickness = np.array([_thickness(card, s) for card in group.data])
    m = isotropic(conv, s["mid1"], s.where)
    if not m.E > 0.0:
        raise ModelError("shells need E > 0", place=m.where)
    nsm = s["nsm"] * conv.wtmass
    name = f"material {m.number}" + (f" with {nsm:g} per area of PSHELL {s.id}" if nsm else "")
    if name not in conv.model.solid_materials:
        density = m.rho + nsm / float(thickness.mean())
        conv.model.solid_material(name, E=m.E, nu=m.nu, density=density, expansion=m.alpha)
    options: dict[str, Any] = {"material": name, "thickness": thickness, "offset": _offsets(group)}
    if membrane:
        return {**options, "element": "membrane"}
    options["element"] = "residual"
    if s["mid3"] is None:
        options["shear_correction"] = _RIGID
    elif abs(s["ts"] - _SHEAR) > _SAME:
        options["shear_correction"] = s["ts"]
    if s["mid3"] not in (None, s["mid1"]):
        conv.note("PSHELL: MID3 is another material, which is not used", Effect.DIFFERS, s.where)
    return options


def _thickness(card: Card, s: Card) -> list[float]:
    """Return the thicknesses of an element at its nodes: its own at the corners, or that of its property; between
    them their mean."""
    count, cell = TYPES[card.name]
    given, own = [card[f"t{k + 1}"] for k in range(count)], s["t"]
    if own is None and all(t is None for t in given):
        raise ModelError(f"{card.name} {card.id} has no thickness", place=card.where, remedy="give T of PSHELL")
    own = float(own or 0.0)
    scale = own if card["tflag"] else 1.0
    found = [scale * t if t is not None else own for t in given]
    middles = [0.5 * (found[k] + found[(k + 1) % count]) for k in range(count)]
    return found + middles[: CELLS[cell] - count]


def _laminate(conv: Conversion, group: Group) -> dict[str, Any]:
    """Return arguments of shells with a PCOMP."""
    s = group.section
    if s["nsm"]:
        conv.note("PCOMP: the nonstructural mass is not used", where=s.where)
    words = list(s["plies"])
    layers: list[dict[str, Any]] = []
    before: tuple[Any, Any] = (None, None)
    for k in range(0, len(words), 4):
        mid, t, theta, _ = (*words[k : k + 4], None, None, None, None)[:4]
        if mid is None and t is None and theta is None:
            continue
        mid, t = mid if mid is not None else before[0], t if t is not None else before[1]
        if not isinstance(mid, int) or not isinstance(t, (int, float)) or isinstance(theta, str) or not t > 0.0:
            raise ModelError(f"PCOMP {s.id}: ply {len(layers) + 1} needs a material and a thickness", place=s.where)
        before = mid, t
        layers.append({"material": _ply(conv, mid, s.where), "thickness": float(t), "angle": float(theta or 0.0)})
    if not layers:
        raise ModelError(f"PCOMP {s.id} has no plies", place=s.where, remedy="give some")
    if s["lam"] == "SYM":
        layers += layers[::-1]
    elif s["lam"] is not None:
        raise UnsupportedError(f"PCOMP {s.id}: LAM = {s['lam']} is not supported", place=s.where, remedy="use SYM")
    total = sum(layer["thickness"] for layer in layers)
    z0 = -0.5 * total if s["z0"] is None else s["z0"]
    offset = _offsets(group) + z0 + 0.5 * total
    return {"layers": layers, "offset": offset, "orientation": material_axes(conv, group), "element": "residual"}


def _ply(conv: Conversion, mid: int, where: str) -> str:
    """Return the name of the material of a ply, made at its first use."""
    card = next((c for c in conv.deck.of("MAT8") if c.id == mid), None)
    name = f"material {mid}"
    if name in conv.model.solid_materials:
        return name
    if card is None:
        m = isotropic(conv, mid, where)
        conv.model.solid_material(name, E=m.E, nu=m.nu, density=m.rho, expansion=m.alpha)
        return name
    shear = [card["g12"], card["g1z"] or card["g12"], card["g2z"] or card["g12"]]
    if not card["g1z"] or not card["g2z"]:
        conv.note("MAT8: G12 stands for the transverse shear moduli, which are blank", Effect.DIFFERS, card.where)
    try:
        # across the plane nothing matters: plies have no stress there
        conv.model.solid_material(
            name, E=[card["e1"], card["e2"], card["e2"]], nu=[card["nu12"], 0.0, 0.0], G=shear,
            density=card["rho"] * conv.wtmass,
        )  # fmt: skip
    except ModelError as error:
        raise ModelError(f"MAT8 {mid}: {error.text}", place=card.where, remedy=error.remedy) from None
    return name


def material_axes(conv: Conversion, group: Group) -> np.ndarray:
    """Return first material axes (n, 3): from the side G1-G2 by the angle THETA, or along the x axis of a system."""
    x = conv.grids.x[group.nodes]
    side = x[:, 1] - x[:, 0]
    normal = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    if group.cell in ("quad", "quad8"):
        normal = np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 1])
    size = np.linalg.norm(normal, axis=1)
    flat = ~(size > 0.0)
    if flat.any():
        card = group.data[int(np.argmax(flat))]
        raise ModelError(f"{card.name} {card.id} has no area", place=card.where)
    normal /= size[:, None]
    out = np.empty_like(side)
    for k, card in enumerate(group.data):
        theta = card["theta"]
        if isinstance(theta, int) and theta:
            out[k] = conv.grids.system(theta, card.where).axes_at(x[k].mean(axis=0))[0, 0]
            continue
        angle = np.deg2rad(float(theta))
        out[k] = np.cos(angle) * side[k] + np.sin(angle) * np.cross(normal[k], side[k])
    return out
