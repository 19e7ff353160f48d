"""Supports of a Nastran deck: SPC, SPC1 and SPCD, and the grid points that hold themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np

from fem_mbs.decks.nastran.constraints.rows import Rows, digits_of, sets_of
from fem_mbs.decks.nastran.model import Conversion
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.nastran.deck import Subcase
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["Supports", "axis_terms", "find_supports", "known_nodes", "make_supports", "support_values"]

_NAMES = ("x", "y", "z", "rotation x", "rotation y", "rotation z")


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
    held = {6 * n + k: conv.grids.cards[n].where for n, digits in conv.grids.held.items() for k in digits_of(digits)}
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
