"""Shells of a Nastran deck: CQUAD4, CQUADR, CQUAD8, CTRIA3, CTRIAR, CTRIA6 with PSHELL or PCOMP."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from fem_mbs.decks.nastran.made import add_middles, blanks_filled
from fem_mbs.decks.nastran.model import Conversion, Group, isotropic, one_of
from fem_mbs.elements.shells.surface import CELLS
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.vocabulary import Effect

__all__ = [
    "PROPERTIES", "TYPES", "find_shells", "make_shells", "material_axes", "reference_temperature", "shell_nodes",
    "takes_temperatures",
]  # fmt: skip

#: Type -> number of corners and cell.
TYPES = {
    "CQUAD4": (4, "quad"), "CQUADR": (4, "quad"), "CTRIA3": (3, "triangle"), "CTRIAR": (3, "triangle"),
    "CQUAD8": (4, "quad8"), "CTRIA6": (3, "triangle6"),
}  # fmt: skip
PROPERTIES = ("PSHELL", "PCOMP", "PCOMPG")
#: Factor on the shear stiffness that stands for none that gives way.
_RIGID = 1e4
#: Shear factor of PSHELL by default, and how near to it a value is the same.
_SHEAR, _SAME = 5.0 / 6.0, 1e-5


def find_shells(conv: Conversion) -> None:
    """Sort the shells of the deck into parts of the model.

    Raises:
        ModelError: grid points and properties that are not there, or that the model does not have.
    """
    known = {card.id: card for card in conv.deck.of(*PROPERTIES)}
    parts: dict[tuple[str, int], list[Card]] = {}
    add_middles(conv, ((card, _points(card), _edges(card)) for card in conv.deck.of("CQUAD8", "CTRIA6")))
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


def _points(card: Card) -> list[int | None]:
    """Return the grid points of a shell, corners first, None where a mid-side one is blank."""
    return [card[f"g{k + 1}"] or None for k in range(CELLS[TYPES[card.name][1]])]


def _edges(card: Card) -> list[tuple[int, int]]:
    """Return the corners at the ends of the edges of a shell with mid-side grid points."""
    corners, _ = TYPES[card.name]
    return [(k, (k + 1) % corners) for k in range(corners)]


def shell_nodes(conv: Conversion, card: Card) -> np.ndarray:
    """Return the nodes of a shell, corners first.

    Raises:
        ModelError: grid points that are not there.
    """
    points = _points(card)
    edges = _edges(card) if None in points else []
    return conv.grids.indices(blanks_filled(conv, card, points, edges), card.where)


def make_shells(conv: Conversion) -> None:
    """Create the shells of the model.

    Raises:
        ModelError: sections and materials that the model does not have.
    """
    for i, group in enumerate(conv.groups):
        if group.kind != "shell":
            continue
        make = _homogeneous if group.section.name == "PSHELL" else _laminate
        options = make(conv, group)
        mass: Literal["consistent", "lumped"] = "consistent" if conv.coupled else "lumped"
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


def takes_temperatures(conv: Conversion, group: Group) -> bool:
    """Return whether temperatures strain the shells of a part."""
    made = next(g for g in conv.model.building.shell_groups.values() if g.name == group.name)
    return bool(made.section.expansion.any())


def reference_temperature(conv: Conversion, group: Group) -> float:
    """Return the temperature without strain of shells: of a PCOMP, or of the material of a PSHELL."""
    s = group.section
    if s.name != "PSHELL":
        return float(s["tref"])
    return float(one_of(conv, ("MAT1", "MAT2", "MAT8"), s["mid1"], "material", s.where)["tref"])


def _is_membrane(section: Card) -> bool:
    """Return whether a property has no material of bending."""
    return section.name == "PSHELL" and section["mid2"] is None


def _offsets(group: Group) -> np.ndarray:
    return np.array([card["zoffs"] for card in group.data])


def _homogeneous(conv: Conversion, group: Group) -> dict[str, Any]:
    """Return arguments of shells with a PSHELL."""
    s = group.section
    if s["mid1"] is None or s["mid2"] == -1:
        what = "without a membrane" if s["mid1"] is None else "of plane strain (MID2 = -1)"
        raise UnsupportedError(f"PSHELL {s.id} {what} is not supported", place=s.where, remedy="give MID1 and MID2")
    if s["mid4"] is not None:
        raise UnsupportedError(
            f"PSHELL {s.id}: MID4, coupling of membrane and bending, is not supported", place=s.where
        )
    membrane = _is_membrane(s)
    thickness = np.array([_thickness(card, s) for card in group.data])
    nsm = s["nsm"] * conv.wtmass / float(thickness.mean())
    options: dict[str, Any] = {"thickness": thickness, "offset": _offsets(group)}
    if not membrane and abs(s["bk"] - 1.0) > _SAME:
        if not s["bk"] > 0.0:
            raise ModelError(f"PSHELL {s.id}: 12I/T**3 = {s['bk']:g} is not positive", place=s.where)
        options["bending_factor"] = s["bk"]
    if not membrane and s["mid2"] != s["mid1"]:
        options["bending_material"] = f"material {s['mid2']} of {group.name}, in bending"
        if _bending_material(conv, s, options["bending_material"]):
            options["orientation"] = material_axes(conv, group)
    plane = next((card for card in conv.deck.of("MAT2", "MAT8") if card.id == s["mid1"]), None)
    if plane is None and s["mid3"] not in (None, s["mid1"]):
        plane = one_of(conv, ("MAT1",), s["mid1"], "material", s.where)
    if plane is not None:
        options |= {"material": f"material {plane.id} of {group.name}", "orientation": material_axes(conv, group)}
        shear = _plane_material(conv, s, plane, options["material"], nsm)
        if membrane:
            return {**options, "element": "membrane"}
        return {**options, "element": "residual", "shear_correction": s["ts"] if shear else _RIGID}
    m = isotropic(conv, s["mid1"], s.where)
    if not m.E > 0.0:
        raise ModelError("shells need E > 0", place=m.where)
    options["material"] = f"material {m.number}" + (f" with {nsm:g} of PSHELL {s.id}" if nsm else "")
    if options["material"] not in conv.model.solid_materials:
        conv.model.solid_material(options["material"], E=m.E, nu=m.nu, density=m.rho + nsm, expansion=m.alpha)
    if membrane:
        return {**options, "element": "membrane"}
    options["element"] = "residual"
    if s["mid3"] is None:
        options["shear_correction"] = _RIGID
    elif abs(s["ts"] - _SHEAR) > _SAME:
        options["shear_correction"] = s["ts"]
    return options


def _plane_material(conv: Conversion, s: Card, card: Card, name: str, nsm: float) -> bool:
    """Create the material of a PSHELL whose MID1 is a MAT2 or MAT8, or differs from MID3, with the transverse shear of
    MID3 and a density ``nsm`` beside its own; return whether that shear gives way.

    Raises:
        ModelError: a stiffness that is not positive definite.
    """
    G, (a1, a2, a12) = _plane(conv, s, card)
    least = np.sqrt(G.diagonal())
    shear = _transverse(conv, s)
    if shear is not None:
        shear = shear * min(1.0, _RIGID * least[2] ** 2 / float(shear.diagonal().max()))
    conv.model.solid_material(
        name, stiffness=_in_plane_only(G, shear), density=card["rho"] * conv.wtmass + nsm,
        expansion=(a1, a2, 0.0, a12, 0.0, 0.0),
    )  # fmt: skip
    return shear is not None


def _bending_material(conv: Conversion, s: Card, name: str) -> bool:
    """Create the material of bending of a PSHELL, MID2; return whether it has axes.

    Raises:
        ModelError: a stiffness that is not positive definite.
    """
    card = one_of(conv, ("MAT1", "MAT2", "MAT8"), s["mid2"], "material", s.where)
    G, (a1, a2, a12) = _plane(conv, s, card)
    if card.name != "MAT1":
        for other in ("rho", "ge", "tref"):
            card[other]  # masses and temperatures are those of MID1
    expansion = (a1, a2, 0.0, a12, 0.0, 0.0)
    conv.model.solid_material(name, stiffness=_in_plane_only(G, None), density=0.0, expansion=expansion)
    return card.name != "MAT1"


def _in_plane_only(G: np.ndarray, shear: np.ndarray | None) -> np.ndarray:
    """Return stiffness (6, 6) of a solid with that in the plane (3, 3) and across (2, 2), None: as in the plane."""
    C = np.zeros((6, 6))
    plane = [0, 1, 3]
    C[np.ix_(plane, plane)] = G
    C[2, 2] = G.diagonal().max()  # across the plane nothing matters: shells have no stress there
    C[np.ix_([5, 4], [5, 4])] = np.eye(2) * G[2, 2] if shear is None else shear
    return C


def _plane(conv: Conversion, s: Card, card: Card) -> tuple[np.ndarray, tuple[float, float, float]]:
    """Return stiffness (3, 3) in the plane and thermal strains 11, 22, 12 of a material of a PSHELL.

    Raises:
        ModelError: a stiffness that is not positive definite.
    """
    if card.name == "MAT1":
        m = isotropic(conv, card.id, s.where)
        G = m.E / (1.0 - m.nu**2) * np.array([[1.0, m.nu, 0.0], [m.nu, 1.0, 0.0], [0.0, 0.0, 0.5 * (1.0 - m.nu)]])
        expansion = (m.alpha, m.alpha, 0.0)
    elif card.name == "MAT8":
        minor = card["nu12"] * card["e2"] / card["e1"] if card["e1"] > 0.0 else 0.0
        share = 1.0 - card["nu12"] * minor
        G = np.array([[card["e1"], minor * card["e1"], 0.0], [minor * card["e1"], card["e2"], 0.0], [0.0, 0.0, 0.0]])
        G = G / share if share else G
        G[2, 2] = card["g12"]
        for other in ("g1z", "g2z"):
            card[other]  # transverse shear is that of MID3
        expansion = (card["a1"], card["a2"], 0.0)
    else:
        G = np.array([[card[f"g{min(i, j)}{max(i, j)}"] for j in (1, 2, 3)] for i in (1, 2, 3)])
        expansion = (card["a1"], card["a2"], card["a3"])
    d = np.sqrt(np.abs(G.diagonal()))
    if not (d > 0.0).all() or not np.linalg.eigvalsh(G / np.outer(d, d))[0] > 0.0:
        raise ModelError(f"{card.name} {card.id}: its stiffness is not positive definite", place=card.where)
    return G, expansion


def _transverse(conv: Conversion, s: Card) -> np.ndarray | None:
    """Return the moduli (2, 2) of transverse shear in the planes 1-z and 2-z by MID3; None where it does not give
    way."""
    if s["mid3"] is None:
        return None
    card = one_of(conv, ("MAT1", "MAT2", "MAT8"), s["mid3"], "material", s.where)
    if card.name == "MAT1":
        found = np.eye(2) * isotropic(conv, card.id, s.where, solid=False).G
    elif card.name == "MAT8":
        found = np.diag([card["g1z"] or 0.0, card["g2z"] or 0.0])
        for other in ("e1", "e2", "nu12", "g12", "rho", "ge"):
            card[other]  # MID3 has no use for them
    else:
        found = np.array([[card["g11"], card["g12"]], [card["g12"], card["g22"]]])
    if not found.any():
        return None
    if not np.linalg.eigvalsh(found)[0] > 0.0:
        raise ModelError(
            f"{card.name} {card.id}: its transverse shear stiffness is not positive definite", place=card.where
        )
    return found


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
    words = list(s["plies"])
    layers: list[dict[str, Any]] = []
    before: tuple[Any, Any] = (None, None)
    step, skip = (8, 1) if s.name == "PCOMPG" else (4, 0)  # PCOMPG: a line per ply, its number first
    for k in range(0, len(words), step):
        mid, t, theta, _ = (*words[k + skip : k + skip + 4], None, None, None, None)[:4]
        if mid is None and t is None and theta is None:
            continue
        mid, t = mid if mid is not None else before[0], t if t is not None else before[1]
        if not isinstance(mid, int) or not isinstance(t, (int, float)) or isinstance(theta, str) or not t > 0.0:
            raise ModelError(f"PCOMP {s.id}: ply {len(layers) + 1} needs a material and a thickness", place=s.where)
        before = mid, t
        layers.append({"material": mid, "thickness": float(t), "angle": float(theta or 0.0)})
    if not layers:
        raise ModelError(f"PCOMP {s.id} has no plies", place=s.where, remedy="give some")
    if s["lam"] == "SYM":
        layers += layers[::-1]
    elif s["lam"] is not None:
        raise UnsupportedError(f"PCOMP {s.id}: LAM = {s['lam']} is not supported", place=s.where, remedy="use SYM")
    total = sum(layer["thickness"] for layer in layers)
    z0 = -0.5 * total if s["z0"] is None else s["z0"]
    nsm = s["nsm"] * conv.wtmass / total
    suffix = f" with {nsm:g} of PCOMP {s.id}" if nsm else ""
    plies = {layer["material"] for layer in layers}
    shears = [_shears(card) for card in conv.deck.of("MAT8") if card.id in plies]
    rigid = len(shears) == len(plies) and not any(shears)
    layers = [{**layer, "material": _ply(conv, layer["material"], s.where, nsm, suffix, rigid)} for layer in layers]
    options: dict[str, Any] = {"layers": layers, "offset": _offsets(group) + z0 + 0.5 * total}
    options |= {"orientation": material_axes(conv, group), "element": "residual"}
    if rigid:
        options["shear_correction"] = _RIGID
    return options


def _shears(card: Card) -> bool:
    """Return whether a MAT8 has transverse shear moduli; without them it does not give way."""
    return any((card["g1z"], card["g2z"]))


def _ply(conv: Conversion, mid: int, where: str, nsm: float, suffix: str, rigid: bool) -> str:
    """Return the name of the material of a ply, made at its first use: with a density ``nsm`` beside its own, which its
    name tells by a ``suffix``; ``rigid``: no ply shears across the plane."""
    card = next((c for c in conv.deck.of("MAT8") if c.id == mid), None)
    name = f"material {mid}{suffix}"
    if name in conv.model.solid_materials:
        return name
    if card is None:
        m = isotropic(conv, mid, where)
        conv.model.solid_material(name, E=m.E, nu=m.nu, density=m.rho + nsm, expansion=m.alpha)
        return name
    most = _RIGID * card["g12"]  # AUTOSPC would take all else for nothing beside more
    shear = [card["g12"], *(min(card[k] or card["g12"], most) for k in ("g1z", "g2z"))]
    if not rigid and not all((card["g1z"], card["g2z"])):
        conv.note(
            "MAT8: beside plies that shear, G12 stands for its transverse shear moduli, which are blank",
            Effect.DIFFERS, card.where,
        )  # fmt: skip
    try:
        # across the plane nothing matters: plies have no stress there
        conv.model.solid_material(
            name, E=[card["e1"], card["e2"], card["e2"]], nu=[card["nu12"], 0.0, 0.0], G=shear,
            density=card["rho"] * conv.wtmass + nsm, expansion=[card["a1"], card["a2"], 0.0],
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
