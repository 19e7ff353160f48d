"""Masses, springs, dampers and bushes of a Nastran deck: CONM1, CONM2, CELAS1 to 4, CDAMP1 to 4, CVISC, CBUSH."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fem_mbs.decks.nastran.model import Conversion, one_of
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.vocabulary import Effect
from fem_mbs.rotations import rotation_vectors

__all__ = [
    "Bush",
    "bush_of",
    "make_points",
    "mass_of",
    "numbered",
    "scalar_end",
    "scalar_ends",
    "spring_losses",
    "springs",
    "turn_points",
]

_SPRINGS = ("CELAS1", "CELAS2", "CELAS3", "CELAS4")
_DAMPERS = ("CDAMP1", "CDAMP2", "CDAMP3", "CDAMP4")
_COMPONENTS = ("x", "y", "z", "rotation x", "rotation y", "rotation z")


def turn_points(conv: Conversion) -> None:
    """Mark the nodes that masses, springs and bushes use, and give rotations to those that need them."""
    for card in conv.deck.of("CONM1", "CONM2"):
        at = conv.grids.index(card["g"], card.where)
        conv.used[at] = True
        if card.name == "CONM2" and any(card[k] for k in ("x1", "x2", "x3", "i11", "i22", "i33")):
            conv.turn(at)
        if card.name == "CONM1" and any(card[f"m{i}{j}"] for i in (4, 5, 6) for j in range(1, i + 1)):
            conv.turn(at)
    for card in conv.deck.of(*_SPRINGS, *_DAMPERS):
        for node, component in scalar_ends(conv, card):
            conv.used[node] = True
            if component > 2:
                conv.turn(node)
    for card in conv.deck.of("CBUSH"):
        conv.turn(conv.grids.indices([g for g in (card["ga"], card["gb"]) if g is not None], card.where))
    viscous = numbered(conv, "PVISC", ("ce", "cr"))
    for card in conv.deck.of("CVISC"):
        ends = conv.grids.indices([card["g1"], card["g2"]], card.where)
        conv.used[ends] = True
        if viscous.get(card["pid"], (0.0, 0.0))[1]:
            conv.turn(ends)


def make_points(conv: Conversion) -> None:
    """Create masses, springs, dampers and bushes.

    Raises:
        ModelError: entries that name what is not there, or that the model does not have, with file and line.
    """
    for card in conv.deck.of("CONM2"):
        _mass(conv, card)
    for card in conv.deck.of("CONM1"):
        _mass_matrix(conv, card)
    for card, stiffness, loss, _ in springs(conv):
        if loss and not conv.complex_stiffness:
            conv.note(f"{card.name}: the structural damping GE is not used", Effect.NONE, card.where)
        if stiffness:
            _spring(conv, card, {"stiffness": stiffness})
    dampers = numbered(conv, "PDAMP", ("b",))
    for card in conv.deck.of(*_DAMPERS):
        given = card.name in ("CDAMP2", "CDAMP4")
        if not given and card["pid"] not in dampers:
            one_of(conv, ("PDAMP",), card["pid"], "property of dampers", card.where)
        b = card["b"] if given else dampers[card["pid"]][0]
        if b:
            _spring(conv, card, {"damping": b})
    viscous = numbered(conv, "PVISC", ("ce", "cr"))
    for card in conv.deck.of("CVISC"):
        _viscous(conv, card, viscous)
    for card in conv.deck.of("CBUSH"):
        _bush(conv, card)


def springs(conv: Conversion) -> Iterator[tuple[Card, float, float, float]]:
    """Yield the entries of springs with their stiffness, loss factor GE, and coefficient S of the stress."""
    known = numbered(conv, "PELAS", ("k", "ge", "s"))
    for card in conv.deck.of(*_SPRINGS):
        if card.name == "CELAS2":
            yield card, card["k"], card["ge"], card["s"]
            continue
        if card.name == "CELAS4":
            yield card, card["k"], 0.0, 0.0
            continue
        if card["pid"] not in known:
            one_of(conv, ("PELAS",), card["pid"], "property of springs", card.where)
        stiffness, loss, coefficient = known[card["pid"]]
        yield card, stiffness, loss, coefficient


def spring_losses(conv: Conversion) -> Iterator[tuple[float, str]]:
    """Yield the loss factors GE of springs and bushes with a stiffness, and where they stand; GE of bushes is not read,
    and counts as zero."""
    for card, stiffness, loss, _ in springs(conv):
        if stiffness:
            yield loss, card.where
    for card in conv.deck.of("CBUSH"):
        yield 0.0, card.where


def numbered(conv: Conversion, name: str, keys: tuple[str, ...]) -> dict[int, tuple[float, ...]]:
    """Return the values of properties of which an entry has several."""
    out: dict[int, tuple[float, ...]] = {}
    for card in conv.deck.of(name):
        k = 1
        while f"pid{k}" in card.values:
            number = card[f"pid{k}"]
            if number is not None:
                if number in out:
                    raise ModelError(f"there are two {name} {number}", place=card.where, remedy="remove one")
                out[number] = tuple(card[f"{key}{k}"] for key in keys)
            k += 1
    return out


# --- masses ----------------------------------------------------------------------------------------------------------
def mass_of(conv: Conversion, card: Card) -> tuple[int, float, np.ndarray, np.ndarray]:
    """Return node, mass, offset (3,) and inertia about the centre of gravity (3, 3) of a CONM2, in the basic system."""
    at = conv.grids.index(card["g"], card.where)
    m = card["m"] * conv.wtmass
    arm = np.array([card["x1"], card["x2"], card["x3"]])
    axes = np.eye(3)
    if card["cid"] == -1:
        arm = arm - conv.grids.x[at]
    elif card["cid"]:
        axes = conv.grids.system(card["cid"], card.where).axes_at(conv.grids.x[at])[0]
        arm = arm @ axes
    J = np.array([
        [card["i11"], -card["i21"], -card["i31"]],
        [-card["i21"], card["i22"], -card["i32"]],
        [-card["i31"], -card["i32"], card["i33"]],
    ]) * conv.wtmass  # fmt: skip
    J = axes.T @ J @ axes
    return at, m, arm, J


def _mass(conv: Conversion, card: Card) -> None:
    at, m, arm, J = mass_of(conv, card)
    if m < 0.0:
        raise UnsupportedError(f"the mass {m:g} is negative", place=card.where, remedy="give a positive one")
    if not m and not J.any():
        conv.note("CONM2 has no mass", Effect.NONE, card.where)
        return
    options: dict[str, Any] = {}
    if J.any():
        options["inertia"] = J
    if arm.any():
        options["offset"] = arm.tolist()
    try:
        conv.model.point_mass(f"CONM2 {card.id}", np.array([at]), m, **options)
    except ModelError as error:
        raise ModelError(f"CONM2 {card.id}: {error.text}", place=card.where, remedy=error.remedy) from None


def _mass_matrix(conv: Conversion, card: Card) -> None:
    at = conv.grids.index(card["g"], card.where)
    M = np.zeros((6, 6))
    for i in range(6):
        for j in range(i + 1):
            M[i, j] = M[j, i] = card[f"m{i + 1}{j + 1}"] * conv.wtmass
    if card["cid"]:
        axes = conv.grids.system(card["cid"], card.where).axes_at(conv.grids.x[at])[0]
        T = np.kron(np.eye(2), axes)
        M = T.T @ M @ T
    name = f"CONM1 {card.id}"
    m = float(np.trace(M[:3, :3])) / 3.0
    if not M[3:].any() and np.abs(M[:3, :3] - m * np.eye(3)).max() <= 1e-12 * m:
        conv.model.point_mass(name, np.array([at]), m)
        return
    try:
        conv.model.nodal_mass(name, np.array([at]), M)
    except ModelError as error:
        raise UnsupportedError(f"CONM1 {card.id}: {error.text}", place=card.where, remedy=error.remedy) from None


# --- springs and dampers ---------------------------------------------------------------------------------------------
def scalar_end(conv: Conversion, card: Card, k: str) -> tuple[int, int] | None:
    """Return node and component (0 to 5) of the end "1" or "2" of a scalar element; None where it is grounded.

    Raises:
        ModelError: a component that is none.
    """
    if not card[f"g{k}"]:
        return None
    at = conv.grids.index(card[f"g{k}"], card.where, scalar=True)
    given = card[f"c{k}"] if f"c{k}" in card.values else 0
    found = conv.grids.components(at, given, card.where)
    if len(found) != 1:
        raise ModelError(f"{card.name} {card.id}: component {given} is none of 1 to 6", place=card.where)
    return at, found[0]


def scalar_ends(conv: Conversion, card: Card) -> list[tuple[int, int]]:
    """Return nodes and components (0 to 5) of the ends of a scalar element that are not grounded.

    Raises:
        ModelError: components that are none, or no end.
    """
    out = [end for end in (scalar_end(conv, card, k) for k in "12") if end is not None]
    if not out:
        raise ModelError(f"{card.name} {card.id} has no grid point", place=card.where, remedy="give one")
    return out


def _spring(conv: Conversion, card: Card, law: dict[str, Any]) -> None:
    ends = scalar_ends(conv, card)
    name = f"{card.name} {card.id}"
    if len({c > 2 for _, c in ends}) > 1:
        raise UnsupportedError(f"{name} joins a displacement and a rotation, which is not supported", place=card.where)
    directions = [conv.grids.axes[node][c % 3] for node, c in ends]
    if len(ends) == 2 and ends[0] == ends[1]:
        raise ModelError(f"{name} has both ends at one component", place=card.where, remedy="change one")
    value = next(iter(law.values()))
    if value < 0.0:
        raise UnsupportedError(f"{name}: the coefficient {value:g} is negative", place=card.where)
    a, na = np.array([ends[0][0]]), directions[0]
    if ends[0][1] > 2:
        if len(ends) == 2 and np.abs(directions[1] - na).max() > 1e-12:
            raise UnsupportedError(
                f"{name} joins rotations about different axes, which is not supported", place=card.where
            )
        axis = int(np.abs(na).argmax())
        if abs(abs(na[axis]) - 1.0) < 1e-12:
            against: dict[str, Any] = {"against": np.array([ends[1][0]])} if len(ends) == 2 else {}
            conv.model.nodal_spring(name, a, _COMPONENTS[3 + axis], **law, **against)
            return
        M = np.zeros((6, 6))
        M[3:, 3:] = value * np.outer(na, na)
        x = conv.grids.x
        where: dict[str, Any] = {"point_a": x[ends[0][0]].tolist(), next(iter(law)): M}
        if len(ends) == 2:
            where["point_b"] = x[ends[1][0]].tolist()
        conv.model.bushing(name, ends[0][0], ends[1][0] if len(ends) == 2 else "ground", **where)
        return
    if len(ends) == 2 and ends[0][0] == ends[1][0]:
        raise UnsupportedError(
            f"{name} joins two directions of one grid point, which is not supported", place=card.where
        )
    options: dict[str, Any] = {}
    if len(ends) == 2:
        options = {"against": np.array([ends[1][0]]), "other": directions[1].tolist()}
    conv.model.nodal_spring(name, a, na.tolist(), **law, **options)


def _viscous(conv: Conversion, card: Card, known: dict[int, tuple[float, ...]]) -> None:
    if card["pid"] not in known:
        one_of(conv, ("PVISC",), card["pid"], "property of dampers", card.where)
    ce, cr = known[card["pid"]]
    a, b = conv.grids.indices([card["g1"], card["g2"]], card.where).tolist()
    if not np.linalg.norm(conv.grids.x[b] - conv.grids.x[a]) > 0.0:
        raise ModelError(f"CVISC {card.id} has no length", place=card.where, remedy="use CDAMP2")
    if ce:
        conv.model.spring(f"CVISC {card.id}", a, b, stiffness=0.0, damping=ce)
    if cr:
        from scipy.spatial.transform import Rotation

        d = conv.grids.x[b] - conv.grids.x[a]
        axes = Rotation.align_vectors([d / np.linalg.norm(d)], [[1.0, 0.0, 0.0]])[0].as_rotvec()
        conv.model.bushing(
            f"CVISC {card.id} about its line", a, b, damping=[0.0, 0.0, 0.0, cr, 0.0, 0.0], rotation=axes.tolist(),
            point_a=conv.grids.x[a].tolist(), point_b=conv.grids.x[b].tolist(),
        )  # fmt: skip


# --- bushes ----------------------------------------------------------------------------------------------------------
def _bush_values(conv: Conversion, card: Card) -> dict[str, np.ndarray]:
    """Return stiffness "K" and damping "B" (6,) of a PBUSH, and its coefficients "RCV" (4,) of stresses and strains."""
    words = [None, *card["words"]]
    out: dict[str, np.ndarray] = {"K": np.zeros(6), "B": np.zeros(6), "RCV": np.ones(4)}
    for k in range(0, len(words), 8):
        row = words[k : k + 8]
        row += [None] * (8 - len(row))
        kind = row[1]
        if kind in ("K", "B"):
            if any(isinstance(v, str) for v in row[2:]):
                raise UnsupportedError(f"PBUSH {card.id}: a stiffness that is no number", place=card.where)
            out[str(kind)] = np.array([float(v or 0.0) for v in row[2:]])
        elif kind == "GE":
            effect = Effect.DROPPED if conv.complex_stiffness else Effect.NONE
            conv.note("PBUSH: the structural damping GE is not used", effect, card.where)
        elif kind == "RCV":
            if any(isinstance(v, str) for v in row[2:6]):
                raise ModelError(f"PBUSH {card.id}: SA, ST, EA and ET must be numbers", place=card.where)
            out["RCV"] = np.array([1.0 if v is None else float(v) for v in row[2:6]])
        elif kind not in ("M", None):
            raise ModelError(f"PBUSH {card.id}: {kind} is none of K, B, GE, RCV", place=card.where)
        elif kind == "M":
            conv.note("PBUSH: its mass is not used", where=card.where)
    if (out["K"] < 0.0).any() or (out["B"] < 0.0).any():
        raise UnsupportedError(f"PBUSH {card.id} has a negative coefficient", place=card.where)
    return out


@dataclass(frozen=True)
class Bush:
    """A bush: nodes a and b (None: the ground), axes (3, 3) in rows and place (3,), stiffness and damping (6,) along
    the axes, and coefficients SA, ST, EA, ET of stresses and strains (4,)."""

    a: int
    b: int | None
    axes: np.ndarray
    place: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    recovery: np.ndarray


def bush_of(conv: Conversion, card: Card) -> Bush:
    """Return the bush of a CBUSH.

    Raises:
        ModelError: no axes, or ends at one grid point.
    """
    grids = conv.grids
    values = _bush_values(conv, one_of(conv, ("PBUSH",), card["pid"], "property of bushes", card.where))
    a = grids.index(card["ga"], card.where)
    b = None if card["gb"] is None else grids.index(card["gb"], card.where)
    if a == b:
        raise ModelError(f"CBUSH {card.id} has both ends at one grid point", place=card.where)
    chord = np.zeros(3) if b is None else grids.x[b] - grids.x[a]
    long = float(np.linalg.norm(chord)) > 1e-12 * max(1.0, float(np.abs(grids.x[a]).max()))
    if card["cid"] is not None:
        card.seen.update(("x1", "x2", "x3"))  # CID overrides them
        axes = grids.system(card["cid"], card.where).axes_at(grids.x[a])[0]
    elif not long:
        raise ModelError(f"CBUSH {card.id} has no length, so its axes are unknown", place=card.where, remedy="give CID")
    else:
        axes = _axes_along(conv, card, a, chord, values)
    place = grids.x[a] + card["s"] * chord
    if card["ocid"] != -1:
        place = grids.system(card["ocid"], card.where).place(np.array([card["s1"], card["s2"], card["s3"]]))
    return Bush(a, b, axes, place, values["K"], values["B"], values["RCV"])


def _bush(conv: Conversion, card: Card) -> None:
    bush = bush_of(conv, card)
    law: dict[str, Any] = {
        key: values.tolist()
        for key, values in (("stiffness", bush.stiffness), ("damping", bush.damping))
        if values.any()
    }
    if not law:
        conv.note("CBUSH has neither stiffness nor damping", Effect.NONE, card.where)
        return
    rotation = rotation_vectors(bush.axes.T)
    conv.model.bushing(
        f"CBUSH {card.id}", bush.a, "ground" if bush.b is None else bush.b, point=bush.place.tolist(),
        rotation=rotation.tolist(), **law,
    )  # fmt: skip


def _axes_along(conv: Conversion, card: Card, a: int, chord: np.ndarray, values: dict[str, np.ndarray]) -> np.ndarray:
    """Return axes (3, 3), in rows, of a bush along the line of its grid points."""
    ex = chord / np.linalg.norm(chord)
    if card["x1"] is None:
        if any(values[k][[1, 2, 4, 5]].any() for k in ("K", "B")):
            raise ModelError(
                f"CBUSH {card.id} has stiffness across its line, and no orientation", place=card.where,
                remedy="give X1, X2, X3, G0 or CID",
            )  # fmt: skip
        v = np.eye(3)[np.abs(ex).argmin()]
    elif isinstance(card["x1"], int) and card["x2"] is None:
        v = conv.grids.x[conv.grids.index(card["x1"], card.where)] - conv.grids.x[a]
    else:
        v = np.array([card[k] or 0.0 for k in ("x1", "x2", "x3")], float) @ conv.grids.axes[a]
    ez = np.cross(ex, v)
    size = float(np.linalg.norm(ez))
    if not size > 1e-6 * float(np.linalg.norm(v)):
        raise ModelError(f"the orientation of CBUSH {card.id} lies along it", place=card.where, remedy="give another")
    ez /= size
    return np.array([ex, np.cross(ez, ex), ez])
