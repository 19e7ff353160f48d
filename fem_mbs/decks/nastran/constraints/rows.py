"""Equations of a Nastran deck: RBE2, RBE3, RBAR and MPC.

All are linear equations between small displacements, as in Nastran.  `Rows` holds them in the numbering of the deck:
6 node + component, along the axes of the grid points.  A dependent component depends on others once, and no support
holds it.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.nastran.model import Conversion
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.nastran.deck import Subcase
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["NOTHING", "Rows", "digits_of", "find_rows", "make_rows", "sets_of"]

#: Of the largest coefficient: below it one is round-off.
NOTHING = 1e-12


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
        keep = np.abs(c) > NOTHING * max(1.0, float(np.abs(c).max(initial=0.0)))
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
        out = csr_matrix(np.where(np.abs(solved) > NOTHING, solved, 0.0)).tocoo()
        return csr_matrix((out.data, (out.row, columns[out.col])), shape=rest.shape)


def digits_of(text: str) -> list[int]:
    """Return the components (from 0) of a text of digits."""
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
        for k in digits_of(card["cm"]):
            rows.add(6 * b + k, 6 * a + np.arange(6), T[k], card.where)


def _rbar(conv: Conversion, rows: Rows, card: Card) -> None:
    ends = conv.grids.indices([card["ga"], card["gb"]], card.where)
    conv.turn(ends)
    free = [6 * e + k for e, key in enumerate(("cna", "cnb")) for k in digits_of(card[key] or "")]
    if len(free) != 6:
        raise ModelError(f"RBAR {card.id} needs six independent components, not {len(free)}", place=card.where)
    if card["alpha"]:
        conv.note("RBAR: thermal expansion (ALPHA) is not used", Effect.DIFFERS, card.where)
    bound = [6 * e + k for e, key in enumerate(("cma", "cmb")) for k in digits_of(card[key] or "")]
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
            out.append((word, digits_of("".join(sorted(set(digits)))), []))
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
    wanted = np.kron(np.eye(2), conv.grids.axes[ref])[digits_of(card["refc"])] * scale
    if lost.any() and np.abs(wanted @ vectors[:, lost]).max() > 1e-8:
        raise ModelError(
            f"the grid points of RBE3 {card.id} do not determine the components {card['refc']} of its reference",
            place=card.where, remedy="add grid points beside their line, or leave components out",
        )  # fmt: skip
    inverse = (vectors[:, ~lost] / values[~lost]) @ vectors[:, ~lost].T
    C = wanted @ inverse @ (B * w[:, None]).T
    own = [6 * ref + k for k in digits_of(card["refc"])]
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
        out += [6 * node + c for c in digits_of(digits)]
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
