"""Matrices on components of a Nastran deck: DMIG by K2GG, M2GG, B2GG, K2PP, M2PP, B2PP and P2G, and shear panels.

A symmetric matrix is V diag(w) V^T.  In the model each row sqrt(|w|) V^T is a scalar s of its own, tied to the
components
The strain of a rectangular shear panel is the mean shear of its corners' displacements, with the energy
G t A gamma^2/2; F1 and F2 give its edges the areas of rods (MSC Nastran quick reference guide, entries CSHEAR and
PSHEAR).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy.sparse import block_diag, csr_matrix
from scipy.sparse.csgraph import connected_components

from fem_mbs.decks.nastran.model import Conversion, isotropic, one_of
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.nastran.deck import Command
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["Matrices", "find_matrices", "load_of_matrix", "make_matrices"]

#: Of the largest entry or eigenvalue of a matrix: less is nothing.
_NOTHING = 1e-12
#: Of the largest eigenvalue: negative ones of printed digits are nothing, and positive ones below its square.
_ROUND = 1e-6
#: Of the largest entry: how symmetric a matrix must be.
_SAME = 1e-6
#: Of a side of a panel: how rectangular and flat it must be.
_RIGHT = 1e-3
#: Commands -> which of the matrices they add to; those of PP count in dynamics alone.
_COMMANDS = {"K2GG": "K", "M2GG": "M", "B2GG": "B", "K2PP": "K", "M2PP": "M", "B2PP": "B"}
_DYNAMIC = (107, 108, 109, 110, 111, 112)
_TERM = re.compile(r"(?:([-+.\dED]+)\s*\*\s*)?([A-Z]\w*)")


@dataclass
class Matrices:
    """Stiffness, damping and mass (6 n, 6 n) along the global axes that matrices of the deck add."""

    K: csr_matrix
    B: csr_matrix
    M: csr_matrix


def find_matrices(conv: Conversion) -> Matrices:
    """Return the matrices of a deck; nodes get the rotations that they need.

    Raises:
        ModelError: matrices that are not there, or of the wrong form.
        UnsupportedError: matrices that are not symmetric or complex, panels that are no rectangles.
    """
    size = 6 * len(conv.grids.ids)
    found = {key: csr_matrix((size, size)) for key in "KBM"}
    first = conv.deck.subcases[0].commands
    for name, key in _COMMANDS.items():
        command = first.get(name)
        for other in conv.deck.subcases[1:]:
            if (other.commands.get(name) or command) is not command:
                place = (other.commands.get(name) or command).where if command else other.where
                raise UnsupportedError(f"{name} that differs between subcases is not supported", place=place)
        if command is None:
            continue
        if name.endswith("PP") and conv.deck.sol not in _DYNAMIC:
            conv.note(f"{name} has no effect on this solution", Effect.NONE, command.where)
            continue
        if name in ("K2PP", "M2PP") and conv.deck.sol in (110, 111):
            conv.note(f"{name} counts in the modes of the response, too", Effect.DIFFERS, command.where)
        for share, word in _terms(command):
            found[key] = found[key] + share * _matrix(conv, word, command)
    panels = _panels(conv)
    found = {key: csr_matrix(m + p) for (key, m), p in zip(found.items(), panels, strict=True)}
    for m in found.values():
        m.eliminate_zeros()
        dofs = np.unique(m.nonzero()[0])
        conv.used[dofs // 6] = True
        turning = np.unique(dofs[dofs % 6 > 2] // 6)
        if turning.size:
            conv.turn(turning)
    return Matrices(**found)


def _terms(command: Command) -> list[tuple[float, str]]:
    """Return factors and names of the matrices that a command adds up.

    Raises:
        ModelError: its value is no sum of matrices.
    """
    out = []
    for part in command.value.replace("(", "").replace(")", "").split(","):
        match = _TERM.fullmatch(part.strip())
        if match is None:
            raise ModelError(f"{command.name} = {command.value} names no matrix", place=command.where)
        try:
            out.append((float((match[1] or "1").replace("D", "E")), match[2]))
        except ValueError:
            raise ModelError(f"{command.name}: {match[1]} is no number", place=command.where) from None
    return out


def _columns(conv: Conversion, name: str, command: Command) -> tuple[Card, list[tuple[Card, list]]]:
    """Return the head of a matrix and its columns: entry and words behind the name."""
    cards = [card for card in conv.deck.of("DMIG") if card["name"] == name]
    heads = [card for card in cards if card["words"][:1] == [0]]
    if len(heads) != 1:
        raise ModelError(
            f"there {'is no' if not heads else 'are several'} DMIG {name} with 0 in its third field",
            place=command.where, remedy="give one",
        )  # fmt: skip
    return heads[0], [(card, card["words"]) for card in cards if card is not heads[0]]


def _entries(conv: Conversion, name: str, command: Command, rectangular: bool = False) -> tuple[Card, list[tuple]]:
    """Return the head of a matrix, and rows (card, column's component or number, row's component, value)."""
    head, columns = _columns(conv, name, command)
    words = [*head["words"], *[None] * 8]
    form, kind = words[1], words[2]
    if form not in ((2, 9) if rectangular else (1, 6)):
        raise UnsupportedError(
            f"DMIG {name} of the form {form} is not supported for {command.name}", place=head.where,
            remedy="give 9" if rectangular else "give 6, a symmetric matrix",
        )  # fmt: skip
    if kind not in (1, 2, 3, 4):
        raise ModelError(f"DMIG {name}: TIN = {kind} is none of 1 to 4", place=head.where)
    out = []
    seen: set[tuple[int, int]] = set()
    for card, given in columns:
        column = given[0] if rectangular else _component(conv, card, given[0], given[1] if len(given) > 1 else None)
        rest = given[3:]
        for k in range(0, len(rest), 4):
            g, c, a, b = (*rest[k : k + 4], None, None, None)[:4]
            if g is None and a is None:
                continue
            if isinstance(a, str) or a is None or isinstance(b, str):
                raise ModelError(f"DMIG {name}: {a} is no number", place=card.where)
            if kind > 2 and b:
                raise UnsupportedError(f"DMIG {name} is complex, which is not supported", place=card.where)
            row = _component(conv, card, g, c)
            if (column, row) in seen:
                raise ModelError(
                    f"DMIG {name}: the term in row {g}, {c or 0} of column {given[0]}, "
                    f"{given[1] if len(given) > 1 and given[1] else 0} is given twice", place=card.where,
                    remedy="remove one, or give their sum",
                )  # fmt: skip
            seen.add((column, row))
            out.append((card, column, row, float(a)))
    return head, out


def _component(conv: Conversion, card: Card, g: object, c: object) -> int:
    if not isinstance(g, int) or not isinstance(c or 0, int):
        raise ModelError(f"DMIG: {g}, {c} is no grid point and component", place=card.where)
    node = conv.grids.index(g, card.where, scalar=True)
    found = conv.grids.components(node, c if c else None, card.where)  # type: ignore[arg-type]
    if len(found) != 1:
        raise ModelError(f"DMIG: component {c} of {g} is none of 1 to 6", place=card.where)
    return 6 * node + found[0]


def _matrix(conv: Conversion, name: str, command: Command) -> csr_matrix:
    """Return a square matrix (6 n, 6 n) along the global axes."""
    head, entries = _entries(conv, name, command)
    size = 6 * len(conv.grids.ids)
    if not entries:
        return csr_matrix((size, size))
    symmetric = head["words"][1] == 6
    total: dict[tuple[int, int], float] = {}
    for card, j, i, value in entries:
        if symmetric and (j, i) in total:
            raise ModelError(f"DMIG {name}: a term is given twice, in both triangles", place=card.where,
                             remedy="give one triangle, or the form 1")  # fmt: skip
        total[i, j] = value
    if symmetric:
        total |= {(j, i): value for (i, j), value in list(total.items())}
    rows, columns = np.array(list(total)).T
    A = csr_matrix((list(total.values()), (rows, columns)), shape=(size, size))
    if abs(A - A.T).max() > _SAME * abs(A).max():
        raise UnsupportedError(
            f"DMIG {name} is not symmetric, which is not supported", place=head.where, remedy="give a symmetric one"
        )
    T = block_diag(np.repeat(conv.grids.axes, 2, axis=0), format="csr")
    return csr_matrix(T.T @ (0.5 * (A + A.T)) @ T)


def load_of_matrix(conv: Conversion, command: Command) -> np.ndarray:
    """Return the forces and moments (n, 6) along the global axes of P2G.

    Raises:
        UnsupportedError: the matrix has several columns.
    """
    n = len(conv.grids.ids)
    out = np.zeros(6 * n)
    for share, name in _terms(command):
        head, entries = _entries(conv, name, command, rectangular=True)
        if len({column for _, column, _, _ in entries}) > 1:
            raise UnsupportedError(
                f"DMIG {name} has several columns, which is not supported for P2G", place=head.where,
                remedy="give each subcase a matrix of its own",
            )  # fmt: skip
        for _, _, i, value in entries:
            out[i] += share * value
    return conv.to_basic(np.arange(n), out.reshape(-1, 6))


# --- shear panels ----------------------------------------------------------------------------------------------------
def _panels(conv: Conversion) -> list[csr_matrix]:
    """Return stiffness, damping and mass (6 n, 6 n) of shear panels."""
    size = 6 * len(conv.grids.ids)
    known = {card.id: card for card in conv.deck.of("PSHEAR")}
    rows: list[np.ndarray] = []
    mass = np.zeros(len(conv.grids.ids))
    for card in conv.deck.of("CSHEAR"):
        section = known.get(card["pid"]) or one_of(conv, ("PSHEAR",), card["pid"], "property of panels", card.where)
        material = isotropic(conv, section["mid"], section.where, solid=False)
        nodes = conv.grids.indices([card[f"g{k}"] for k in range(1, 5)], card.where)
        x = conv.grids.x[nodes]
        a, b = x[1] - x[0], x[3] - x[0]
        la, lb = np.linalg.norm(a), np.linalg.norm(b)
        off = max(np.linalg.norm(x[2] - x[1] - b), abs(a @ b) / max(la, lb, 1e-300))
        if not min(la, lb) > 0.0 or off > _RIGHT * min(la, lb):
            raise UnsupportedError(
                f"CSHEAR {card.id} is no rectangle, which is not supported", place=card.where,
                remedy="divide it into rectangles",
            )  # fmt: skip
        t = section["t"]
        if not t > 0.0:
            raise ModelError(f"PSHEAR {section.id}: T = {t:g} is not positive", place=section.where)
        row = np.zeros(size)
        for k, (sa, sb) in enumerate(((-1, -1), (1, -1), (1, 1), (-1, 1))):
            # gamma: the displacement along b by the way along a, and the other way round
            row[6 * nodes[k] : 6 * nodes[k] + 3] = sa * b / lb / (2.0 * la) + sb * a / la / (2.0 * lb)
        rows.append(np.sqrt(material.G * t * la * lb) * row)
        for f, edges, width, length in (
            (section["f1"], ((0, 1), (3, 2)), lb, la),
            (section["f2"], ((1, 2), (0, 3)), la, lb),
        ):
            if f > 1.01:
                raise UnsupportedError(
                    f"PSHEAR {section.id}: F = {f:g} above 1.01 is not supported", place=section.where
                )
            for i, j in edges if f else ():
                rod = np.zeros(size)
                d = (x[j] - x[i]) / length
                rod[6 * nodes[i] : 6 * nodes[i] + 3], rod[6 * nodes[j] : 6 * nodes[j] + 3] = -d, d
                rows.append(np.sqrt(material.E * 0.5 * f * t * width / length) * rod)
        mass[nodes] += 0.25 * la * lb * (material.rho * t + section["nsm"] * conv.wtmass)
        conv.used[nodes] = True
    C = csr_matrix(np.array(rows).reshape(-1, size))
    diagonal = np.repeat(mass, 6) * (np.arange(size) % 6 < 3)
    M = csr_matrix((diagonal, (np.arange(size), np.arange(size))), shape=(size, size))
    return [csr_matrix(C.T @ C), csr_matrix((size, size)), M]


# --- the model -------------------------------------------------------------------------------------------------------
def make_matrices(conv: Conversion, matrices: Matrices) -> None:
    """Create the scalars, their springs, dampers and masses, and the equations that tie them.

    Raises:
        UnsupportedError: a matrix with negative eigenvalues.
    """
    for name, A in (("stiffness", matrices.K), ("damping", matrices.B), ("mass", matrices.M)):
        rows = _rows(conv, name, A)
        if rows:
            _add(conv, name, rows)


def _rows(conv: Conversion, name: str, A: csr_matrix) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return rows (components, coefficients) with A = sum of c c^T.

    Raises:
        UnsupportedError: A has negative eigenvalues.
    """
    used = np.unique(A.nonzero()[0])
    out: list[tuple[np.ndarray, np.ndarray]] = []
    if not len(used):
        return out
    small = A[used][:, used]
    _, label = connected_components(small, directed=False)
    for k in np.unique(label):
        at = np.flatnonzero(label == k)
        own = small[at][:, at].toarray()
        d = np.sqrt(np.maximum(np.abs(own.diagonal()), _NOTHING * np.abs(own).max()))
        w, V = np.linalg.eigh(own / np.outer(d, d))  # of entries of the order of one, whatever their units
        if w[0] < -_ROUND * w[-1]:
            raise UnsupportedError(
                f"the matrices of {name} have negative eigenvalues, which is not supported", place=conv.deck.end,
                remedy="give positive ones, or add the elements to the matrix",
            )  # fmt: skip
        for value, v in zip(w, V.T, strict=True):
            if value > _ROUND**2 * w[-1] and value > _NOTHING:
                keep = np.abs(v) > _NOTHING
                out.append((used[at[keep]], np.sqrt(value) * (v * d)[keep]))
    return out


def _add(conv: Conversion, kind: str, rows: list[tuple[np.ndarray, np.ndarray]]) -> None:
    model, name = conv.model, f"{kind} of matrices"
    model.mesh(name, Mesh(conv.grids.x[[dofs[0] // 6 for dofs, _ in rows]], []), unused="drop")
    nodes = model.nodes_of(name)
    model.fix(nodes, ["y", "z"])
    if kind == "mass":
        model.point_mass(name, nodes, 1.0)
    else:
        law: dict[str, Any] = {kind: 1.0}
        model.nodal_spring(name, nodes, "x", **law)
    own = np.arange(len(nodes))
    number = np.concatenate([np.full(len(dofs), k) for k, (dofs, _) in enumerate(rows)])
    dofs = np.concatenate([d for d, _ in rows])
    values = np.concatenate([c for _, c in rows])
    model.equations(
        f"ties of {name}", np.concatenate((own, number)), np.concatenate((nodes, dofs // 6)),
        np.concatenate((np.zeros(len(nodes), int), dofs % 6)), np.concatenate((-np.ones(len(nodes)), values)),
    )  # fmt: skip
