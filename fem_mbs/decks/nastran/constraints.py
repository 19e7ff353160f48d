"""Constraints of a Nastran deck: RBE2, RBE3, RBAR, MPC, supports, and AUTOSPC.

All are linear equations between small displacements, as in Nastran.  `Rows` holds them in the numbering of the deck:
6 node + component, along the axes of the grid points.  A dependent component depends on others once, and no support
holds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.nastran.model import Conversion
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.nastran.deck import Subcase
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = [
    "Rows", "Supports", "automatic_supports", "axis_terms", "find_rows", "find_supports", "hold_singular",
    "known_nodes", "make_rows", "make_supports", "sets_of", "support_values",
]  # fmt: skip

_NAMES = ("x", "y", "z", "rotation x", "rotation y", "rotation z")
#: Of the largest stiffness of a grid point: below it a direction is singular (Nastran's EPZERO).
_SINGULAR = 1e-8
_NOTHING = 1e-12


@dataclass
class Rows:
    """Equations sum c u = 0 with a dependent component each: terms by row, component of the deck and coefficient."""

    conv: Conversion
    rows: list[np.ndarray] = field(default_factory=list)
    dofs: list[np.ndarray] = field(default_factory=list)
    coefficients: list[np.ndarray] = field(default_factory=list)
    dependent: dict[int, str] = field(default_factory=dict)

    def add(self, dependent: int, dofs: Any, coefficients: Any, where: str) -> None:
        """Add u_dependent = sum c u.

        Raises:
            ModelError: the component is dependent already.
        """
        if dependent in self.dependent:
            raise ModelError(
                f"component {dependent % 6 + 1} of grid point {self.conv.grids.ids[dependent // 6]} is dependent "
                f"already ({self.dependent[dependent]})",
                place=where, remedy="make it dependent once",
            )  # fmt: skip
        dofs, c = np.asarray(dofs, int), np.asarray(coefficients, float)
        keep = np.abs(c) > _NOTHING * max(1.0, float(np.abs(c).max(initial=0.0)))
        number = len(self.dependent)
        self.dependent[dependent] = where
        self.rows.append(np.full(1 + int(keep.sum()), number))
        self.dofs.append(np.concatenate(([dependent], dofs[keep])))
        self.coefficients.append(np.concatenate(([1.0], -c[keep])))

    @property
    def size(self) -> int:
        """Number of components of the deck."""
        return 6 * len(self.conv.grids.ids)

    @cached_property
    def matrix(self) -> csr_matrix:
        """Coefficients (equations, components)."""
        from scipy.sparse import csr_matrix

        if not self.rows:
            return csr_matrix((0, self.size))
        r, d, c = (np.concatenate(part) for part in (self.rows, self.dofs, self.coefficients))
        return csr_matrix((c, (r, d)), shape=(len(self.dependent), self.size))

    @cached_property
    def reduced(self) -> csr_matrix:
        """Coefficients (equations, components) solved for the dependent components: u_m = G u, without these.

        Raises:
            ModelError: components depend on each other in a circle.
        """
        from scipy.sparse import csc_matrix, csr_matrix, identity

        from fem_mbs.solvers.linear.libraries import LinearSolveError
        from fem_mbs.solvers.linear.service import factor

        m = np.array(list(self.dependent), int)
        if not len(m):
            return csr_matrix((0, self.size))
        R = self.matrix.tocsc()
        own = R[:, m]
        keep = identity(self.size, format="lil")
        keep[m, m] = 0.0
        rest = csc_matrix(-R @ keep.tocsc())
        if abs(own - identity(len(m), format="csc")).max() <= 0.0:
            return rest.tocsr()
        columns = np.flatnonzero(np.diff(rest.indptr))
        try:
            solved = factor(csc_matrix(own), kind="plain").solve(rest[:, columns].toarray())
        except LinearSolveError:
            raise ModelError(
                "dependent components depend on each other in a circle", place=next(iter(self.dependent.values())),
                remedy="choose other dependent components",
            ) from None  # fmt: skip
        out = csr_matrix(np.where(np.abs(solved) > _NOTHING, solved, 0.0)).tocoo()
        return csr_matrix((out.data, (out.row, columns[out.col])), shape=rest.shape)


# --- rigid elements and equations ------------------------------------------------------------------------------------
def _digits(text: str) -> list[int]:
    return [int(c) - 1 for c in text]


def find_rows(conv: Conversion, subcase: Subcase) -> Rows:
    """Return the equations of rigid elements and of the subcase's MPC set; nodes that must turn get rotations.

    Raises:
        ModelError: entries that contradict each other or name what is not there, with file and line.
    """
    rows = Rows(conv)
    for tie in conv.ties:
        if tie.dependent % 6 < 3 or conv.rotational[tie.dependent // 6]:
            rows.add(tie.dependent, tie.dofs, tie.coefficients, tie.where)
    for card in conv.deck.of("RBE2"):
        _rbe2(conv, rows, card)
    for card in conv.deck.of("RBAR"):
        _rbar(conv, rows, card)
    for card in conv.deck.of("RBE3"):
        _rbe3(conv, rows, card)
    number = conv.select(subcase, "MPC")
    if number:
        chosen = sets_of(conv, number, "MPCADD", ("MPC",), subcase)
        for card in conv.deck.of("MPC"):
            if card["sid"] in chosen:
                _mpc(conv, rows, card)
    return rows


def sets_of(conv: Conversion, number: int, add: str, names: tuple[str, ...], subcase: Subcase) -> set[int]:
    """Return the set numbers that a selected set stands for.

    Raises:
        ModelError: there is no such set.
    """
    unions = [card for card in conv.deck.of(add) if card["sid"] == number]
    chosen = {number} | {abs(s) for card in unions for s in card["sets"]}
    there = {card["sid"] for card in conv.deck.of(*names)}
    if not unions and not chosen & there:
        where = subcase.commands[names[0].rstrip("1")].where
        raise ModelError(f"there is no set {number} of {' or '.join(names)}", place=where, remedy="mend the number")
    missing = sorted(chosen - there - {number}) if unions else []
    if missing:
        raise ModelError(f"there is no set {missing[0]} of {' or '.join(names)}", place=unions[0].where)
    return chosen


def _rbe2(conv: Conversion, rows: Rows, card: Card) -> None:
    nodes = list(card["nodes"])
    if nodes and isinstance(nodes[-1], float):
        if nodes.pop():
            conv.note("RBE2: thermal expansion (ALPHA) is not used", Effect.DIFFERS, card.where)
    if not nodes:
        raise ModelError(f"RBE2 {card.id} has no dependent grid points", place=card.where, remedy="give some")
    a = conv.grids.index(card["gn"], card.where)
    members = conv.grids.indices([n for n in nodes if n], card.where)
    conv.turn(a)
    conv.used[members] = True
    for b in members.tolist():
        if a == b:
            raise ModelError(f"RBE2 {card.id}: its independent grid point depends on itself", place=card.where)
        T = conv.rigid_motion(b, conv.grids.x[a])
        T = T @ np.kron(np.eye(2), conv.grids.axes[a].T)
        for k in _digits(card["cm"]):
            rows.add(6 * b + k, 6 * a + np.arange(6), T[k], card.where)


def _rbar(conv: Conversion, rows: Rows, card: Card) -> None:
    ends = conv.grids.indices([card["ga"], card["gb"]], card.where)
    conv.turn(ends)
    free = [6 * e + k for e, key in enumerate(("cna", "cnb")) for k in _digits(card[key] or "")]
    if len(free) != 6:
        raise ModelError(f"RBAR {card.id} needs six independent components, not {len(free)}", place=card.where)
    if card["alpha"]:
        conv.note("RBAR: thermal expansion (ALPHA) is not used", Effect.DIFFERS, card.where)
    bound = [6 * e + k for e, key in enumerate(("cma", "cmb")) for k in _digits(card[key] or "")]
    if not bound:
        bound = [k for k in range(12) if k not in free]
    T = np.concatenate([conv.rigid_motion(int(n), conv.grids.x[ends[0]]) for n in ends])
    size = float(np.linalg.norm(np.diff(conv.grids.x[ends], axis=0))) or 1.0
    scale = np.diag([1.0] * 3 + [1.0 / size] * 3)
    B = T @ scale
    if np.linalg.cond(B[free]) > 1e10:
        raise ModelError(f"the independent components of RBAR {card.id} do not fix a body", place=card.where)
    C = B @ np.linalg.inv(B[free])
    number = [6 * int(ends[k // 6]) + k % 6 for k in range(12)]
    for k in bound:
        if k in free:
            raise ModelError(f"RBAR {card.id}: a component is independent and dependent", place=card.where)
        rows.add(number[k], [number[f] for f in free], C[k], card.where)


def _rbe3_terms(conv: Conversion, card: Card) -> list[tuple[float, list[int], list[int]]]:
    """Return weight, components and nodes of the groups of an RBE3."""
    out: list[tuple[float, list[int], list[int]]] = []
    words = [w for w in card["terms"] if w is not None]
    k = 0
    while k < len(words):
        word = words[k]
        if isinstance(word, str):
            if word == "ALPHA":
                if len(words) > k + 1 and words[k + 1]:
                    conv.note("RBE3: thermal expansion (ALPHA) is not used", Effect.DIFFERS, card.where)
                break
            if word == "UM":  # `_rbe3_dependent`
                k += 1
                while k < len(words) and words[k] != "ALPHA":
                    k += 1
                continue
            raise ModelError(f"RBE3 {card.id}: {word} is no weight or grid point", place=card.where)
        if isinstance(word, float):
            if k + 1 >= len(words) or not isinstance(words[k + 1], int):
                raise ModelError(f"RBE3 {card.id}: no components behind the weight {word:g}", place=card.where)
            digits = str(words[k + 1])
            if not set(digits) <= set("123456"):
                raise ModelError(f"RBE3 {card.id}: components {digits} are none of 1 to 6", place=card.where)
            out.append((word, _digits("".join(sorted(set(digits)))), []))
            k += 2
            continue
        if not out:
            raise ModelError(f"RBE3 {card.id}: a grid point stands before the first weight", place=card.where)
        out[-1][2].append(conv.grids.index(word, card.where))
        if k + 2 < len(words) and words[k + 1] == "THRU" and isinstance(words[k + 2], int):
            out[-1][2].extend(
                conv.grids.indices(range(word + 1, min(words[k + 2], word + 100000) + 1), card.where).tolist()
            )
            k += 2
        k += 1
    return out


def _rbe3(conv: Conversion, rows: Rows, card: Card) -> None:
    ref = conv.grids.index(card["refgrid"], card.where)
    terms = _rbe3_terms(conv, card)
    nodes = np.array([n for _, _, members in terms for n in members], int)
    if not len(nodes):
        raise ModelError(f"RBE3 {card.id} has no grid points", place=card.where, remedy="give some")
    if set(card["refc"]) & set("456"):
        conv.turn(ref)
    conv.used[ref] = True
    conv.used[nodes] = True
    x = conv.grids.x[ref]
    arm = np.linalg.norm(conv.grids.x[nodes] - x, axis=1)
    length = float(arm.mean()) or 1.0
    dofs, S, W = [], [], []
    for weight, components, members in terms:
        for n in members:
            T = conv.rigid_motion(n, x)
            for k in components:
                dofs.append(6 * n + k)
                S.append(T[k])
                W.append(weight * (length**2 if k > 2 else 1.0))
            if any(k > 2 for k in components):
                conv.turn(n)
    S_, w = np.array(S), np.array(W)
    scale = np.array([1.0] * 3 + [1.0 / length] * 3)
    B = S_ * scale
    M = B.T @ (w[:, None] * B)
    values, vectors = np.linalg.eigh(M)
    lost = values <= 1e-10 * np.abs(values).max()
    wanted = np.kron(np.eye(2), conv.grids.axes[ref])[_digits(card["refc"])] * scale
    if lost.any() and np.abs(wanted @ vectors[:, lost]).max() > 1e-8:
        raise ModelError(
            f"the grid points of RBE3 {card.id} do not determine the components {card['refc']} of its reference",
            place=card.where, remedy="add grid points beside their line, or leave components out",
        )  # fmt: skip
    inverse = (vectors[:, ~lost] / values[~lost]) @ vectors[:, ~lost].T
    C = wanted @ inverse @ (B * w[:, None]).T
    own = [6 * ref + k for k in _digits(card["refc"])]
    chosen = _rbe3_dependent(conv, card)
    if chosen:
        known = own + dofs
        if len(chosen) != len(own) or len(set(chosen)) != len(chosen) or not set(chosen) <= set(known):
            raise ModelError(
                f"UM of RBE3 {card.id} must name as many components as REFC, of its grid points", place=card.where
            )
        whole = np.hstack((np.eye(len(own)), -C))  # whole @ u(known) = 0, solved for the chosen components
        m = [known.index(dof) for dof in chosen]
        free = [j for j in range(len(known)) if j not in m]
        sizes = np.array([length if dof % 6 > 2 else 1.0 for dof in known])
        if np.linalg.cond(whole[:, m] * sizes[: len(own), None] / sizes[m]) > 1e10:
            raise ModelError(f"the components UM of RBE3 {card.id} do not follow from the others", place=card.where)
        C = -np.linalg.solve(whole[:, m], whole[:, free])
        own, dofs = chosen, [known[j] for j in free]
    for row, dof in zip(C, own, strict=True):
        rows.add(dof, dofs, row, card.where)


def _rbe3_dependent(conv: Conversion, card: Card) -> list[int]:
    """Return the components that UM of an RBE3 makes dependent instead of those of its reference; none without UM."""
    words = [w for w in card["terms"] if w is not None]
    if "UM" not in words:
        return []
    out: list[int] = []
    rest = words[words.index("UM") + 1 :]
    rest = rest[: rest.index("ALPHA")] if "ALPHA" in rest else rest
    for k in range(0, len(rest), 2):
        pair = rest[k : k + 2]
        if len(pair) < 2 or not all(isinstance(w, int) for w in pair):
            raise ModelError(f"UM of RBE3 {card.id} needs pairs of grid point and components", place=card.where)
        node = conv.grids.index(pair[0], card.where)
        digits = str(pair[1])
        if not set(digits) <= set("123456"):
            raise ModelError(f"RBE3 {card.id}: components {digits} are none of 1 to 6", place=card.where)
        out += [6 * node + c for c in _digits(digits)]
        if set(digits) & set("456"):
            conv.turn(node)
    return out


def _mpc(conv: Conversion, rows: Rows, card: Card) -> None:
    words = [None, *card["terms"]]
    words += [None] * (-len(words) % 8)
    terms = []
    for k in range(0, len(words), 8):
        for g, c, a in (words[k + 1 : k + 4], words[k + 4 : k + 7]):
            if g is None and c is None and a is None:
                continue
            if not isinstance(g, int) or not isinstance(c or 0, int) or isinstance(a, str):
                raise ModelError("a term of the MPC is no grid point, component and coefficient", place=card.where)
            node = conv.grids.index(g, card.where, scalar=True)
            found = conv.grids.components(node, c, card.where)
            if len(found) != 1:
                raise UnsupportedError(
                    f"component {c or 0} of {g} in an MPC is not supported", place=card.where, remedy="use 1 to 6"
                )
            terms.append((6 * node + found[0], float(a or 0.0)))
    if not terms or not terms[0][1]:
        raise ModelError("the first coefficient of the MPC is zero", place=card.where, remedy="begin with another term")
    for dof, _ in terms:
        conv.used[dof // 6] = True
        if dof % 6 > 2:
            conv.turn(dof // 6)
    first = terms[0]
    total: dict[int, float] = {}
    for dof, a in terms[1:]:
        total[dof] = total.get(dof, 0.0) - a / first[1]
    if first[0] in total:
        raise ModelError("the MPC names its first component twice", place=card.where, remedy="add the coefficients")
    rows.add(first[0], list(total), list(total.values()), card.where)


def make_rows(conv: Conversion, rows: Rows) -> None:
    """Create the equations in the model; those of rotations that no node has are left out.

    Raises:
        ModelError: components depend on each other in a circle.
    """
    if not rows.dependent:
        return
    m = np.array(list(rows.dependent), int)
    there = (m % 6 < 3) | conv.rotational[m // 6]
    R = rows.reduced[np.flatnonzero(there)].tocoo()
    kept = m[there]
    row = np.concatenate((np.arange(len(kept)), R.row))
    dof = np.concatenate((kept, R.col))
    value = np.concatenate((np.ones(len(kept)), -R.data))
    exists = (dof % 6 < 3) | conv.rotational[dof // 6]
    row, dof, value = row[exists], dof[exists], value[exists]
    order = np.argsort(row, kind="stable")  # the dependent component stays the first of its row
    row, dof, value = row[order], dof[order], value[order]
    turned = conv.grids.turned
    straight = ~turned[dof // 6]
    parts = [(row[straight], dof[straight] // 6, dof[straight] % 6, value[straight], np.flatnonzero(straight))]
    for k in range(3):
        of = ~straight
        node, c = dof[of] // 6, dof[of] % 6
        parts.append((row[of], node, c - c % 3 + k, value[of] * conv.grids.axes[node, c % 3, k], np.flatnonzero(of)))
    row, node, component, value, place = (np.concatenate(p) for p in zip(*parts, strict=True))
    keep = np.abs(value) > 0.0
    row, node, component, value, place = (p[keep] for p in (row, node, component, value, place))
    order = np.lexsort((place, row))
    conv.model.equations(
        "rigid elements", row[order], node[order], component[order], value[order], preferred=~turned[kept // 6]
    )


# --- supports --------------------------------------------------------------------------------------------------------
@dataclass
class Supports:
    """Components of the deck that supports hold in all subcases -> their entry; ``extra``: by SPC set, those that it
    holds besides; those that move -> value by subcase (index)."""

    held: dict[int, str] = field(default_factory=dict)
    extra: dict[int, dict[int, str]] = field(default_factory=dict)
    moved: dict[int, dict[int, float]] = field(default_factory=dict)
    #: components that responses move, which have equations of their own
    driven: set[int] = field(default_factory=set)

    def group(self, number: int) -> list[str]:
        """Return the groups of the model's supports that belong to an SPC set: one, or none."""
        return [f"SPC {number}"] if self.extra.get(number) else []


def find_supports(
    conv: Conversion, subcases: list[Subcase], rows: Rows, driven: Mapping[int, str]
) -> Supports:  # fmt: skip
    """Return the supports of the subcases; ``driven``: components that responses move -> where.

    Raises:
        ModelError: subcases with different MPC sets, supports of dependent components, with file and line.
    """
    first = subcases[0]
    for other in subcases[1:]:
        if other.set("MPC") != first.set("MPC"):
            raise UnsupportedError(
                f"MPC = {other.set('MPC') or 'none'} in subcase {other.number} and {first.set('MPC') or 'none'} in "
                f"subcase {first.number}: different constraints in one deck are not supported",
                place=other.where, remedy="give the subcases decks of their own",
            )  # fmt: skip
    found = {n: _set_supports(conv, n, s) for n, s in {s.set("SPC"): s for s in reversed(subcases)}.items()}
    common = set.intersection(*(set(held) for held, _ in found.values()))
    out = Supports()
    for number, (held, values) in found.items():
        out.held |= {dof: where for dof, where in held.items() if dof in common}
        out.extra[number] = {dof: where for dof, where in held.items() if dof not in common}
        lone = next((dof for dof in values if dof not in common), None)
        if lone is not None:
            raise UnsupportedError(
                f"component {lone % 6 + 1} of grid point {conv.grids.ids[lone // 6]} moves, but is not held in all "
                "subcases",
                place=held[lone], remedy="give the subcases decks of their own",
            )  # fmt: skip
    for i, subcase in enumerate(subcases):
        for dof, value in found[subcase.set("SPC")][1].items():
            out.moved.setdefault(dof, {})[i] = value
    for i, subcase in enumerate(subcases):
        for card in conv.deck.of("SPCD"):
            if card["sid"] != conv.select(subcase, "LOAD") or not card["sid"]:
                continue
            for dof, value in support_values(conv, card):
                if dof not in out.held:
                    raise ModelError(
                        f"SPCD moves component {dof % 6 + 1} of grid point {conv.grids.ids[dof // 6]}, which no SPC of "
                        "all subcases holds",
                        place=card.where, remedy="add an SPC1",
                    )  # fmt: skip
                out.moved.setdefault(dof, {})[i] = value
    for dof, where in driven.items():
        if dof not in out.held:
            raise ModelError(
                f"SPCD moves component {dof % 6 + 1} of grid point {conv.grids.ids[dof // 6]}, which no SPC of all "
                "subcases holds",
                place=where, remedy="add an SPC1",
            )  # fmt: skip
        out.moved.pop(dof, None)
    out.driven = set(driven)
    for dof, where in [*out.held.items(), *(item for extra in out.extra.values() for item in extra.items())]:
        if dof in rows.dependent:
            raise ModelError(
                f"component {dof % 6 + 1} of grid point {conv.grids.ids[dof // 6]} is held, but depends on others "
                f"({rows.dependent[dof]})",
                place=where, remedy="hold another component, or make another one dependent",
            )  # fmt: skip
    return out


def _set_supports(conv: Conversion, number: int, subcase: Subcase) -> tuple[dict[int, str], dict[int, float]]:
    """Return the components that an SPC set (0: none) and the grid points hold -> their entry, and those that it
    moves."""
    held = {6 * n + k: conv.grids.cards[n].where for n, digits in conv.grids.held.items() for k in _digits(digits)}
    values: dict[int, float] = {}
    chosen = sets_of(conv, number, "SPCADD", ("SPC", "SPC1"), subcase) if number else set()
    for card in conv.deck.of("SPC1"):
        if card["sid"] in chosen:
            ids = conv.grids.own_ids.tolist() if card["ids"] == "ALL" else card["ids"]
            for node in known_nodes(conv, card, ids):
                if card["ids"] == "ALL" and conv.grids.scalar[node]:
                    continue
                for k in conv.grids.components(node, card["c"], card.where):
                    held[6 * node + k] = card.where
    for card in conv.deck.of("SPC"):
        if card["sid"] in chosen:
            for dof, value in support_values(conv, card):
                held[dof] = card.where
                if value:
                    values[dof] = value
    return held, values


def known_nodes(conv: Conversion, card: Card, ids: list[int]) -> list[int]:
    """Return nodes of numbers; those of a range that do not exist are left out, as in Nastran."""
    ids_ = np.asarray(ids, int)
    if not len(conv.grids.ids) or not len(ids_):
        return []
    at = np.minimum(np.searchsorted(conv.grids.ids, ids_), len(conv.grids.ids) - 1)
    exists = conv.grids.ids[at] == ids_
    if not exists.all():
        missing = int(ids_[np.argmin(exists)])
        conv.note(f"{card.name} names grid point {missing}, which is not there", Effect.NONE, card.where)
    return at[exists].tolist()


def support_values(conv: Conversion, card: Card) -> list[tuple[int, float]]:
    """Return the components of the deck that an SPC or SPCD names, with their displacements."""
    out = []
    for g, c, d in ((card["g1"], card["c1"], card["d1"]), (card["g2"], card["c2"], card["d2"])):
        if g is None:
            continue
        node = conv.grids.index(g, card.where, scalar=True)
        out += [(6 * node + k, d) for k in conv.grids.components(node, c, card.where)]
    return out


def automatic_supports(conv: Conversion) -> bool:
    """Return whether AUTOSPC is on: by case control, by the parameter, by default."""
    command = conv.deck.subcases[0].commands.get("AUTOSPC")
    value = str(conv.deck.param("AUTOSPC", "YES"))
    if command is not None:
        value = "NO" if command.value.startswith("NO") else "YES"
    return value != "NO"


def hold_singular(conv: Conversion, rows: Rows, supports: Supports, stiffness: csr_matrix) -> None:
    """Hold what has no stiffness: directions of grid points whose block of the stiffness (components of the deck,
    dependent ones eliminated) is singular, as AUTOSPC does.

    ``stiffness``: where AUTOSPC is off and masses hold directions, too, the sum of both.

    Raises:
        ModelError: AUTOSPC is off, and a grid point is singular.
    """
    from scipy.sparse import csr_matrix

    exists = np.zeros(rows.size, bool)
    node = np.flatnonzero(conv.used)
    exists[(6 * node[:, None] + np.arange(3)).ravel()] = True
    node = np.flatnonzero(conv.rotational)
    exists[(6 * node[:, None] + np.arange(3, 6)).ravel()] = True
    m = np.array(list(rows.dependent), int)
    K = stiffness
    if len(m):
        G = rows.reduced
        n = rows.size
        independent = np.ones(n)
        independent[m] = 0.0
        at = np.flatnonzero(independent)
        T = csr_matrix((np.ones(len(at)), (at, at)), shape=(n, n)) + csr_matrix(
            (G.tocoo().data, (m[G.tocoo().row], G.tocoo().col)), shape=(n, n)
        )
        K = csr_matrix(T.T @ stiffness @ T)
        exists[m] = False
    blocks = _diagonal_blocks(K)
    found = {n: _singular_components(blocks, exists, [*supports.held, *extra]) for n, extra in supports.extra.items()}
    common = set.intersection(*(set(dofs) for dofs in found.values()))
    supports.held |= dict.fromkeys(sorted(common), "AUTOSPC")
    every = sorted({dof for dofs in found.values() for dof in dofs})
    for n, dofs in found.items():
        supports.extra[n] |= {dof: "AUTOSPC" for dof in dofs if dof not in common}
    if not every:
        return
    # rotations that nothing at all acts on: holding them changes no result
    null = np.ones(rows.size, bool)
    null[K.indices[np.abs(K.data) > _NOTHING * np.abs(K.data).max(initial=0.0)]] = False
    left = [dof for dof in every if dof % 6 < 3 or not null[dof]]
    if left and not automatic_supports(conv):
        n, c = divmod(left[0], 6)
        raise ModelError(
            f"component {c + 1} of grid point {conv.grids.label(n)} has no stiffness, and AUTOSPC is off",
            place=conv.grids.cards[n].where, remedy="hold it, or let AUTOSPC do so",
        )  # fmt: skip
    shown = ", ".join(f"{conv.grids.label(d // 6)}-{d % 6 + 1}" for d in every[:8])
    more = f" and {len(every) - 8} more" if len(every) > 8 else ""
    conv.note(f"AUTOSPC holds components without stiffness: {shown}{more}", Effect.NONE)


def _singular_components(blocks: np.ndarray, exists: np.ndarray, held: list[int]) -> list[int]:
    """Return the components to hold, of those that exist (6 n,) bool and are not held."""
    free = exists.copy()
    free[held] = False
    parts = free.reshape(-1, 2, 3)
    found: list[int] = []
    for n, part in np.argwhere(parts.any(axis=2) & _suspect(blocks, parts)).tolist():
        k = np.flatnonzero(parts[n, part])
        lost = _singular(blocks[n, part][np.ix_(k, k)], float(blocks[n, part].diagonal().max()))
        found += [6 * n + 3 * part + int(k[i]) for i in lost]
    return found


def _suspect(blocks: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return which blocks (n, 2, 3, 3) are singular over their free components (n, 2, 3), (n, 2) bool."""
    largest = np.einsum("npii->npi", blocks).max(axis=2)
    B = np.where(free[..., :, None] & free[..., None, :], blocks, 0.0)
    B += np.where(free, 0.0, np.maximum(largest, 1.0)[..., None])[..., None] * np.eye(3)
    return (np.linalg.eigvalsh(B)[..., 0] <= 2.0 * _SINGULAR * largest) | ~(largest > 0.0)


def _singular(B: np.ndarray, largest: float) -> list[int]:
    """Return the components of a block (k, k) to hold, so that the rest is not singular: those in which the singular
    directions are largest."""
    limit = _SINGULAR * largest
    if not largest > 0.0:
        return list(range(len(B)))
    values, vectors = np.linalg.eigh(B)
    lost: list[int] = []
    rest = vectors[:, values <= limit]
    while rest.shape[1]:
        i = int(np.linalg.norm(rest, axis=1).argmax())
        lost.append(i)
        # what of the singular directions is left when component i is held
        row = rest[i] / np.linalg.norm(rest[i])
        rest = rest @ np.linalg.svd(row[None])[2][1:].T
    return lost


def _diagonal_blocks(K: Any) -> np.ndarray:
    """Return blocks (n, 2, 3, 3) of displacements and rotations of each grid point."""
    K = K.tocoo()
    same = (K.row // 3) == (K.col // 3)
    out = np.zeros((K.shape[0] // 3, 3, 3))
    np.add.at(out, (K.row[same] // 3, K.row[same] % 3, K.col[same] % 3), K.data[same])
    return out.reshape(-1, 2, 3, 3)


def _idle(conv: Conversion, rows: Rows, supports: Supports) -> int:
    """Return a component that is held where nothing at all can move, -1 where something can."""
    exists = np.repeat(np.column_stack((conv.used, conv.rotational)), 3, axis=1).ravel()
    exists[list(rows.dependent)] = False
    held = np.zeros(rows.size, bool)
    held[list(supports.held)] = True
    if (exists & ~held).any():
        return -1
    whole = (exists & held).reshape(-1, 3).all(axis=1)
    straight = ~np.repeat(conv.grids.turned, 2)
    found = np.flatnonzero(whole | straight & exists.reshape(-1, 3).any(axis=1))
    return int(3 * found[0] + np.argmax(exists[3 * found[0] : 3 * found[0] + 3])) if found.size else -1


def make_supports(conv: Conversion, supports: Supports, count: int, rows: Rows) -> list[str]:
    """Create the supports, and motions whose value at the time k is that of subcase k (from 1); return their names.

    A node with axes of its own that is held in one or two of three directions gets equations.  Where nothing can move,
    one support becomes a motion of zero, with which statics has its reactions.

    Raises:
        UnsupportedError: such a node is not held so in all subcases.
    """
    grids = conv.grids
    idle = _idle(conv, rows, supports) if conv.deck.sol == 101 and not supports.moved else -1
    equations: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for group, held in (("", supports.held), *((f"SPC {n}", extra) for n, extra in supports.extra.items())):
        fixed: list[list[int]] = [[] for _ in range(6)]
        by_part: dict[tuple[int, int], list[int]] = {}
        for dof in held:
            node, k = divmod(dof, 6)
            if (
                dof in supports.moved
                or dof in supports.driven
                or not conv.used[node]
                or (k > 2 and not conv.rotational[node])
            ):
                continue
            if grids.turned[node]:
                by_part.setdefault((node, k // 3), []).append(k % 3)
            else:
                fixed[k].append(node)
        for (node, part), ks in by_part.items():
            if len(set(ks)) == 3:
                for k in range(3):
                    fixed[3 * part + k].append(node)
                continue
            if group:
                where = next(held[6 * node + 3 * part + k] for k in ks)
                raise UnsupportedError(
                    f"the support of grid point {grids.ids[node]} along its own axes is not in all subcases",
                    place=where,
                    remedy="give the subcases decks of their own",
                )  # fmt: skip
            equations += [axis_terms(node, part, grids.axes[node, k]) for k in sorted(set(ks))]
        if idle >= 0 and not group:
            fixed[idle % 6] = [node for node in fixed[idle % 6] if node != idle // 6]
            conv.model.motion("support that does not move", idle // 6, _NAMES[idle % 6], 0.0)
        for k, nodes in enumerate(fixed):
            if nodes:
                conv.model.fix(np.unique(nodes), [_NAMES[k]], group)
    if equations:
        row = np.repeat(np.arange(len(equations)), [len(e[0]) for e in equations])
        at, components, values = (np.concatenate(p) for p in zip(*equations, strict=True))
        conv.model.equations("supports in local axes", row, at, components, values, preferred=False)
    return _motions(conv, supports, count)


def axis_terms(node: int, part: int, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return nodes, components and coefficients of a displacement (part 0) or rotation (1) along a direction (3,)."""
    order = [i for i in np.argsort(-np.abs(direction), kind="stable").tolist() if abs(direction[i]) > 1e-14]
    return np.full(len(order), node), np.array(order) + 3 * part, direction[order]


def _motions(conv: Conversion, supports: Supports, count: int) -> list[str]:
    from fem_mbs.functions.kinds import make_function

    courses: dict[tuple[float, ...], list[int]] = {}
    for dof, values in supports.moved.items():
        node, k = divmod(dof, 6)
        if not conv.used[node] or (k > 2 and not conv.rotational[node]):
            if any(values.values()):
                conv.note(
                    f"{supports.held[dof]}: component {k + 1} of grid point {conv.grids.ids[node]} does not exist and "
                    "is not moved",
                    Effect.NONE,
                )
            continue
        courses.setdefault(tuple(values.get(i, 0.0) for i in range(count)), []).append(dof)
    names = []
    for number, (course, dofs) in enumerate(courses.items(), 1):
        size = max(abs(v) for v in course) or 1.0
        table = {
            "kind": "table", "times": [float(i) for i in range(count + 1)],
            "values": [0.0, *(v / size for v in course)], "extrapolate": "hold",
        }  # fmt: skip
        terms = [axis_terms(d // 6, d % 6 // 3, conv.grids.axes[d // 6, d % 3]) for d in dofs]
        row = np.repeat(np.arange(len(terms)), [len(t[0]) for t in terms])
        at, components, factors = (np.concatenate(p) for p in zip(*terms, strict=True))
        name = f"enforced displacements {number}"
        conv.model.equations(
            name, row, at, components, factors, value=size, function=make_function(table), preferred=False
        )
        names.append(name)
    return names
