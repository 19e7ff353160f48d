"""Nodes, elements, sets and surfaces of a deck, and the look-ups by which all other keywords name them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import field
from typing import NoReturn

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.assembly import Instance, Numbering, place
from fem_mbs.meshes.abaqus.deck import ElementBlock, Normal, Surface, Unused
from fem_mbs.meshes.abaqus.elements import MECHANICAL, AbaqusElement, element_type, faces
from fem_mbs.meshes.abaqus.generation import axes_of_system, part_coordinates
from fem_mbs.meshes.abaqus.text import MAX_ID, Card, Numbers, Row, label
from fem_mbs.meshes.texts import short
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["DeckMesh", "Log"]

_NAMES = re.compile(rb'[A-CF-Za-cf-z_"$]')  # characters of names that numbers do not have
_LETTERS = re.compile(rb'[A-Za-z_"$]')


_ORDER = list(Effect)


class Log:
    """Record of unused entries, one per kind and name."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list] = {}

    def add(
        self, kind: str, name: str, at: Card | Row, effect: Effect = Effect.DROPPED, reason: str = "", count: int = 1
    ) -> None:  # fmt: skip
        """Note it, or count it if it was noted before."""
        entry = self._entries.setdefault((kind, name), [at.file, at.line, 0, effect, reason])
        entry[2] += count
        entry[3] = max(entry[3], effect, key=_ORDER.index)

    def entries(self) -> tuple[Unused, ...]:
        """Return all notes in the order of their first place."""
        return tuple(Unused(kind, name, *entry) for (kind, name), entry in self._entries.items())


@dataclass(eq=False)
class _RawSet:
    """A set as written: ids, ranges, or names of other sets; with their place, or a function that gives each place."""

    parts: list[tuple[np.ndarray | tuple[int, int, int] | str, Row | Card | Callable[[int], Row]]] = field(
        default_factory=list
    )


@dataclass(eq=False)
class _Elements:
    """The elements of one keyword: ids (n,), nodes (n, k), files and lines (n,) for messages."""

    kind: AbaqusElement
    card: Card
    ids: np.ndarray
    nodes: np.ndarray
    rows: list[Row] | None
    lines: np.ndarray
    names: list[str]
    files: np.ndarray

    def at(self, i: int) -> Row:
        return Row(self.card, self.names[self.files[i]], int(self.lines[i]))


def _whole_lines(counts: np.ndarray, width: int) -> np.ndarray | None:
    """Return the places (n * width,) of the values of n elements that all take the same number of lines, the last with
    more values than they have; None if the lines are not so."""
    per = int(np.searchsorted(np.cumsum(counts), width)) + 1
    if len(counts) % per:
        return None
    reached = np.cumsum(counts.reshape(-1, per), axis=1)
    if (reached[:, -1] < width).any() or (per > 1 and (reached[:, -2] >= width).any()):
        return None
    first = np.concatenate([[0], np.cumsum(reached[:, -1])[:-1]])
    return (first[:, None] + np.arange(width)).ravel()


class DeckMesh:
    """Reads *NODE, *ELEMENT, *NSET, *ELSET, *USER ELEMENT and *SURFACE of all cards; then the look-ups work."""

    def __init__(self, cards: list[Card], log: Log, instances: list[Instance] | None = None) -> None:
        self.log = log
        self.instances = {i.name: i for i in instances or ()}
        #: of "node" and "element": numbers of the model for those of instances
        self.numbering: dict[str, Numbering] = {}
        self.user: dict[str, int] = {}
        self.extra: list[tuple[_Elements, np.ndarray]] = []  # nodes that give beams a direction
        self._sets: dict[str, dict[str, _RawSet]] = {"node": {}, "element": {}}
        self._resolved: dict[tuple[str, str], np.ndarray] = {}
        self._surfaces: dict[str, Card] = {}
        systems: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # axes and origin of *SYSTEM, of each instance
        nodes: list[tuple[Card, Numbers, np.ndarray, np.ndarray]] = []
        groups: list[_Elements] = []
        for card in cards:
            if card.keyword == "USER ELEMENT":
                self.user[card.need("TYPE")] = card.count("NODES", 0)
                for name in list(card.params):  # dofs and integration points: not used, with the elements
                    card.taken.add(name)
        for card in cards:
            owner = "" if card.instance is None else card.instance.name
            if card.keyword == "SYSTEM":
                systems[owner] = axes_of_system(card)
            elif card.keyword == "NODE":
                nodes.append(self._nodes(card, systems.get(owner)))
        self._number_nodes(nodes)
        for card in cards:
            if card.keyword == "ELEMENT":
                group = self._elements(card)
                if group is not None:
                    groups.append(group)
        self._number_elements(groups)
        for card in cards:
            if card.keyword in ("NSET", "ELSET"):
                self._set(card, "node" if card.keyword == "NSET" else "element")
            elif card.keyword == "SURFACE":
                name = _key(card.instance, card.need("NAME"))
                if name in self._surfaces:
                    card.fail(f"the surface {name} is defined twice (first in line {self._surfaces[name].line})")
                self._surfaces[name] = card
        self._join_nodes(nodes)
        self._join_elements(groups)
        self.nsets = {name: self._resolve("node", name, []) for name in self._sets["node"]}
        self.elsets = {name: self._resolve("element", name, []) for name in self._sets["element"]}
        self.surfaces = {name: self._surface(name, card) for name, card in self._surfaces.items()}

    # ---- numbers and names of instances ------------------------------------------------------------------------------

    def _number_nodes(self, parts: list[tuple[Card, Numbers, np.ndarray, np.ndarray]]) -> None:
        """Give the nodes of all instances numbers of the model, and enter them in the sets of their keywords."""
        largest = max((int(ids.max()) for _, _, ids, _ in parts if len(ids)), default=0)
        self.numbering["node"] = numbers = Numbering.of(list(self.instances), largest)
        for card, _, ids, _ in parts:
            ids += numbers.offset(card.instance)
            name = card.get("NSET")
            if name is not None:
                name = _key(card.instance, name)
                self._sets["node"].setdefault(name, _RawSet()).parts.append((ids, card))

    def _number_elements(self, groups: list[_Elements]) -> None:
        largest = max((int(group.ids.max()) for group in groups), default=0)
        self.numbering["element"] = numbers = Numbering.of(list(self.instances), largest)
        for group in groups:
            group.ids = group.ids + numbers.offset(group.card.instance)
            name = group.card.get("ELSET")
            if name is not None:
                name = _key(group.card.instance, name)
                self._sets["element"].setdefault(name, _RawSet()).parts.append((group.ids, group.card))

    def label(self, what: str, number: int) -> str:
        """Return the number of a "node" or "element" as the deck has it, INSTANCE.NUMBER of instances."""
        return self.numbering[what].label(int(number))

    def _of_model(self, instance: Instance | None, item: int | str, what: str) -> int | str:
        """Return the number in the model, or the full name of the set, for what a keyword of an instance (None: of the
        assembly) says."""
        if isinstance(item, int):
            return int(self.numbering[what].place(item, instance))
        item = self._within_assembly(item)
        head, dot, tail = item.partition(".")
        if dot and instance is None and head in self.instances:
            return int(self.numbering[what].place(int(tail), self.instances[head])) if tail.isdigit() else item
        return _key(instance, item)

    # ---- nodes -------------------------------------------------------------------------------------------------------

    def _nodes(
        self, card: Card, system: tuple[np.ndarray, np.ndarray] | None
    ) -> tuple[Card, Numbers, np.ndarray, np.ndarray]:
        """Return the nodes of a keyword with their numbers in the deck, at their places in the model."""
        table = card.table()
        if table.counts.size and (table.counts.max() > 7):
            k = int(table.counts.argmax())
            table.at(card, k).fail(f"{table.counts[k]} entries; a node is its number and 3 coordinates")
        if table.counts.size and table.counts.max() > 4:
            given = table.padded(7)[:, 4:].any(axis=1)  # zeros are no direction
            if given.any():
                row = table.at(card, int(np.argmax(given)))
                self.log.add("entry", "NODE, direction of the normal", row, count=int(given.sum()))
        values = table.padded(4)
        ids = self._ids(values[:, 0], card, table, "node")
        x = part_coordinates(card, values[:, 1:], system)
        return card, table, ids, place(card, x)

    @staticmethod
    def _ids(values: np.ndarray, card: Card, table, what: str) -> np.ndarray:
        wrong = (values < 1) | (values > MAX_ID) | (values != np.floor(values))
        if wrong.any():
            k = int(np.argmax(wrong))
            table.at(card, k).fail(f"the {what} number {values[k]:.17g} is not a whole number from 1 to {MAX_ID}")
        return values.astype(np.int64)

    def _join_nodes(self, parts: list) -> None:
        ids = np.concatenate([p[2] for p in parts]) if parts else np.empty(0, np.int64)
        x = np.concatenate([p[3] for p in parts]) if parts else np.empty((0, 3))
        order = np.argsort(ids, kind="stable")
        again = np.flatnonzero(ids[order][1:] == ids[order][:-1]) + 1
        if len(again):
            moved = (x[order[again]] != x[order[again - 1]]).any(axis=1)
            if moved.any():
                twice = again[np.argmax(moved)]
                here, before = (_place_of(parts, int(order[i])) for i in (twice, twice - 1))
                here.fail(
                    f"node {self.label('node', ids[order[twice]])} is defined twice, with other coordinates before "
                    f"({before.file}, line {before.line})"
                )
            keep = np.ones(len(ids), bool)
            keep[order[again]] = False
            ids, x = ids[keep], x[keep]
            order = np.argsort(ids, kind="stable")
        self.node_ids, self.x = ids, x
        self._node_order, self._sorted_nodes = order, ids[order]

    def has_node(self, ids: np.ndarray) -> np.ndarray:
        """Return which of these node ids exist, (m,) bool."""
        return _member(ids, self._sorted_nodes)

    def position(self, ids: np.ndarray) -> np.ndarray:
        """Return coordinates (m, 3) of existing nodes."""
        return self.x[self._node_order[np.searchsorted(self._sorted_nodes, ids)]]

    # ---- elements ----------------------------------------------------------------------------------------------------

    def _elements(self, card: Card) -> _Elements | None:
        name = card.need("TYPE")
        kind = element_type(name, self.user)
        if kind is None:
            card.fail(
                f"the element type {short(name)} is not known; see fem_mbs.meshes.abaqus.elements for those that are"
            )
        named = bool(self.instances) and any(_LETTERS.search(piece.data) for piece in card.pieces)
        table = self._named_nodes(card) if named else card.table()
        numbers = Numbering() if named else self.numbering["node"]
        width = 1 + kind.n_nodes
        if not len(table.values):
            card.fail("no elements follow")
        values, extra = table.values, None
        if kind.family == "beam" and (table.counts == width + 1).all():
            values = values.reshape(-1, width + 1)
            extra, values = values[:, -1], values[:, :-1].ravel()
            starts = np.arange(len(table.counts))
        else:
            ends = np.cumsum(table.counts)
            full = np.arange(1, len(values) // width + 1) * width
            at = np.searchsorted(ends, full)
            broken = (at >= len(ends)) | (ends[np.minimum(at, len(ends) - 1)] != full)
            whole = _whole_lines(table.counts, width) if broken.any() or len(values) % width else None
            if whole is not None:
                values, starts = values[whole], np.searchsorted(ends, whole[::width], side="right")
                place = table.at(card, int(starts[0]))
                reason = f"{name} has {kind.n_nodes} nodes"
                self.log.add("entry", "ELEMENT, surplus node numbers", place, Effect.DIFFERS, reason, len(starts))
            elif broken.any() or len(values) % width:
                k = int(np.argmax(broken)) if broken.any() else len(full)
                first = int(np.searchsorted(ends, k * width, side="right"))
                table.at(card, min(first, len(ends) - 1)).fail(
                    f"wrong number of entries for element {values[k * width]:.17g}: {name} has {kind.n_nodes} nodes"
                )
            else:
                starts = np.concatenate([[0], at[:-1] + 1])
        rows = values.reshape(-1, width)
        files, lines = table.files[starts], table.lines[starts]
        wrong = (rows < 0) | (rows != np.floor(rows)) | ((rows == 0) & (np.arange(width) == 0))
        wrong |= rows > (np.inf if named else MAX_ID)  # named nodes have their numbers in the model already
        if wrong.any():
            i, j = divmod(int(np.argmax(wrong)), width)
            Row(card, table.names[files[i]], int(lines[i])).fail(
                f"{rows[i, j]:.17g} is not a {'node' if j else 'element'} number from 1 to {MAX_ID}"
            )
        rows = rows.astype(np.int64)
        at_nodes = np.where(rows[:, 1:] > 0, numbers.place(rows[:, 1:], card.instance), 0)
        group = _Elements(kind, card, rows[:, 0], at_nodes, None, lines, table.names, files)
        if extra is not None:
            self.extra.append((group, numbers.place(extra, card.instance)))
        if kind.family not in MECHANICAL:
            self.log.add(
                "element type", name, card, reason=f"{kind.family} elements are not used", count=len(group.ids)
            )
        return group

    def _named_nodes(self, card: Card) -> Numbers:
        """Return the table of elements of the assembly whose nodes may be named INSTANCE.NUMBER, with numbers of the
        model for the nodes."""
        values: list[float] = []
        counts, lines = [], []
        for row, fields in card.rows():
            values.append(row.whole(fields, 0, "element"))
            for text in fields[1:]:
                node = self._of_model(card.instance, row.identity(text), "node")
                if isinstance(node, str):
                    row.fail(f"{short(text)} is not a node; give its number, INSTANCE.NUMBER of one of an instance")
                values.append(node)
            counts.append(len(fields))
            lines.append(row.line)
        n = len(counts)
        return Numbers(
            np.array(values, float), np.array(counts, int), np.array(lines, int), np.zeros(n, int), [card.file]
        )

    def _join_elements(self, groups: list[_Elements]) -> None:
        ids = np.concatenate([g.ids for g in groups]) if groups else np.empty(0, np.int64)
        order = np.argsort(ids, kind="stable")
        again = order[1:][ids[order][1:] == ids[order][:-1]]
        if len(again):
            group, i = _find(groups, int(again.min()))
            group.at(i).fail(f"element {self.label('element', group.ids[i])} is defined twice")
        for group in groups:
            missing = ~self.has_node(group.nodes.ravel()).reshape(group.nodes.shape)
            if group.kind.family not in MECHANICAL:
                missing &= group.nodes != 0  # networks and gaps may leave a node out
            if missing.any():
                i, j = divmod(int(np.argmax(missing)), group.nodes.shape[1])
                element, node = self.label("element", group.ids[i]), self.label("node", group.nodes[i, j])
                group.at(i).fail(f"element {element} names node {node}, which is not defined")
        types: dict[str, list[_Elements]] = {}
        for group in groups:
            types.setdefault(group.kind.name, []).append(group)
        self.kinds = [parts[0].kind for parts in types.values()]
        self.blocks = tuple(
            ElementBlock(
                kind.name,
                kind.family,
                kind.shape,
                np.concatenate([p.ids for p in parts]),
                np.concatenate([p.nodes for p in parts]),
            )
            for kind, parts in zip(self.kinds, types.values())
        )
        self._groups = groups
        self._sorted_elements = np.sort(ids)
        self.element_ids = ids

    def element_place(self, element: int) -> Row:
        """Return file and line of the definition of the element."""
        for group in self._groups:
            at = np.flatnonzero(group.ids == element)
            if len(at):
                return group.at(int(at[0]))
        raise KeyError(element)

    def beam_normals(self) -> list[Normal]:
        """Return directions 1 of beams that are given by an additional node: from the first node to that one."""
        out = []
        for group, extra in self.extra:
            missing = ~self.has_node(extra)
            if missing.any():
                i = int(np.argmax(missing))
                element, node = self.label("element", group.ids[i]), self.label("node", extra[i])
                group.at(i).fail(f"element {element} names node {node}, which is not defined")
            vector = self.position(extra.astype(np.int64)) - self.position(group.nodes[:, 0])
            k = group.nodes.shape[1]
            ids = np.repeat(group.ids, k)
            where = f"{group.card.file}, line {group.card.line}"
            out.append(Normal(ids, group.nodes.ravel().copy(), np.repeat(vector, k, axis=0), where))
        return out

    # ---- sets --------------------------------------------------------------------------------------------------------

    def _set(self, card: Card, what: str) -> None:
        name = _key(card.instance, card.need("NSET" if what == "node" else "ELSET"))
        raw = self._sets[what].setdefault(name, _RawSet())
        owner = self._owner(card)  # to which the members belong
        numbers = self.numbering[what]
        card.flag("UNSORTED"), card.flag("INTERNAL")  # nothing to do for either
        if what == "node":
            source = card.get("ELSET")
            if source is not None:
                raw.parts.append((f"\0{self._of_model(owner, source, 'element')}", card))
        if card.flag("GENERATE"):
            for row, fields in card.rows():
                if len(fields) > 3 or len(fields) < 1:
                    row.fail(f"{len(fields)} entries; give first, last and increment")
                first = row.whole(fields, 0, "first")
                last, step = row.whole(fields, 1, "last", first), row.whole(fields, 2, "increment", 1)
                if step == 0:
                    row.fail("the increment is 0; give 1 or more")
                if first < 1 or step < 0 or last < first:
                    row.fail(f"cannot count from {first} to {last} in steps of {step}")
                if numbers.names and first < numbers.width:  # numbers behind those of an instance are others'
                    last = min(last, numbers.width - 1)
                bounds = numbers.place([first, last], owner).tolist()
                raw.parts.append(((bounds[0], bounds[1], step), row))
            return
        if not any(_LETTERS.search(piece.data) for piece in card.pieces):
            table = card.table()
            line = np.repeat(np.arange(len(table.counts)), table.counts)
            values = table.values
            wrong = (values < 0) | (values > MAX_ID) | (values != np.floor(values))
            if wrong.any():
                k = int(np.argmax(wrong))
                table.at(card, line[k]).fail(f"{values[k]:.17g} is not a {what} number from 1 to {MAX_ID}")
            line = line[values > 0]
            members = numbers.place(values[values > 0].astype(np.int64), owner)
            raw.parts.append((members, lambda k: table.at(card, line[k])))
            return
        for row, fields in card.rows():
            for text in fields:
                if text:
                    item = self._of_model(owner, row.identity(text), what)
                    raw.parts.append((np.array([item]) if isinstance(item, int) else item, row))

    def _owner(self, card: Card) -> Instance | None:
        """Return the instance whose nodes or elements a set holds: that of its keyword, or of the parameter."""
        if not self.instances:
            return None
        name = card.get("INSTANCE")
        if name is None:
            return card.instance
        if card.instance is not None:
            card.fail("INSTANCE belongs to sets of the assembly; this one stands in a part or an instance")
        if name not in self.instances:
            self._unknown(card, "instance", name, self.instances)
        return self.instances[name]

    def _resolve(self, what: str, name: str, above: list[str]) -> np.ndarray:
        known = self._resolved.get((what, name))
        if known is not None:
            return known
        present = self._sorted_nodes if what == "node" else self._sorted_elements
        out = []
        for part, at in self._sets[what][name].parts:
            if isinstance(part, tuple):
                a, b, step = part
                inside = present[np.searchsorted(present, a) : np.searchsorted(present, b, side="right")]
                inside = inside[(inside - a) % step == 0]
                if not len(inside):
                    ends = f"{self.label(what, a)} to {self.label(what, b)}"
                    at.fail(f"no {what} from {ends} in steps of {step} is defined")
                out.append(inside)
            elif isinstance(part, str) and part.startswith("\0"):
                elements = self._found("element", at, part[1:])
                nodes = self.nodes_of_elements(elements)
                out.append(nodes)
            elif isinstance(part, str):
                if part == name:  # both programs pass over it
                    self.log.add("set member", f"{name}: the set itself", at, Effect.NONE, "is passed over")
                    continue
                if part in above:
                    at.fail(f"the set {part} contains itself")
                if part not in self._sets[what]:
                    self._unknown(at, f"{what} set", part, self._sets[what])
                out.append(self._resolve(what, part, [*above, name]))
            else:
                here = _member(part, present)
                if not here.all():
                    gone = part[~here]
                    if callable(at):
                        at = at(int(np.argmax(~here)))
                    self.log.add(
                        "set member",
                        f"{name}: {what} {', '.join(self.label(what, g) for g in gone[:5])}"
                        f"{' ...' if len(gone) > 5 else ''}",
                        at,
                        Effect.DIFFERS,
                        reason="is not defined and was left out of the set",
                        count=len(gone),
                    )
                    if not here.any() and len(part) and len(self._sets[what][name].parts) == 1:
                        at.fail(f"the {what} set {name}: none of its {what}s is defined")
                out.append(part[here])
        ids = np.concatenate(out) if out else np.empty(0, np.int64)
        _, first = np.unique(ids, return_index=True)
        ids = ids if len(first) == len(ids) else ids[np.sort(first)]
        ids = ids.astype(np.int64, copy=True)
        ids.flags.writeable = False
        self._resolved[what, name] = ids
        return ids

    def nodes_of_elements(self, elements: np.ndarray) -> np.ndarray:
        """Return all nodes of these elements, ascending."""
        parts = [block.nodes[np.isin(block.ids, elements)].ravel() for block in self.blocks]
        nodes = np.unique(np.concatenate(parts)) if parts else np.empty(0, np.int64)
        return nodes[nodes > 0]

    def _unknown(self, at: Card | Row, what: str, name: str, known) -> NoReturn:
        near = [k for k in known if k.endswith(f".{name}")][:3] or difflib.get_close_matches(name, list(known), 3)
        hint = f"; did you mean {' or '.join(near)}?" if near else f"; define the {what} or correct the name"
        at.fail(f"the {what} {short(name)} is not defined{hint}")

    # ---- look-ups ----------------------------------------------------------------------------------------------------

    def _found(self, what: str, at: Card | Row, name: str) -> np.ndarray:
        """Return nodes or elements of the set with this full name."""
        if name not in self._sets[what]:
            self._unknown(at, f"{what} set", name, self._sets[what])
        return self._resolve(what, name, [])

    def name_of(self, at: Card | Row, name: str) -> str:
        """Return the full name of a set, surface or orientation that a keyword names."""
        name = self._within_assembly(name)
        return name if "." in name and name.partition(".")[0] in self.instances else _key(at.instance, name)

    def _within_assembly(self, name: str) -> str:
        """Return ASSEMBLY.INSTANCE.NAME without the assembly."""
        head, _, rest = name.partition(".")
        found = self.instances.get(rest.partition(".")[0])
        return rest if found is not None and found.assembly == head and head not in self.instances else name

    def nset(self, at: Card | Row, name: str) -> np.ndarray:
        """Return nodes of a set."""
        return self._found("node", at, self.name_of(at, name))

    def elset(self, at: Card | Row, name: str) -> np.ndarray:
        """Return elements of a set."""
        return self._found("element", at, self.name_of(at, name))

    def nodes(self, row: Row, text: str) -> np.ndarray:
        """Return nodes named by a field: a number or a set."""
        return self._named(row, text, "node")

    def elements(self, row: Row, text: str) -> np.ndarray:
        """Return elements named by a field: a number or a set."""
        return self._named(row, text, "element")

    def _named(self, row: Row, text: str, what: str) -> np.ndarray:
        if not text:
            row.fail(f"the first entry is empty; give a {what} or a set")
        item = self._of_model(row.instance, row.identity(text), what)
        if isinstance(item, str):
            return self._found(what, row, item)
        ids = np.array([item], np.int64)
        if not _member(ids, self._sorted_nodes if what == "node" else self._sorted_elements)[0]:
            row.fail(f"{what} {self.label(what, item)} is not defined")
        return ids

    def runs(self, card: Card, least: int, width: int) -> list[tuple[Row, np.ndarray, np.ndarray]] | None:
        """Return data lines "node, numbers" of a table without names, read at once: runs of lines with the same
        numbers.

        Each run as its first line, its nodes (m,) and the numbers after them (width - 1,), zero where left out.  None
        if there are names, other numbers of entries than least to width, nodes that do not exist or stand twice in a
        run: then the lines are to be read one by one, which finds the words for what is wrong.
        """
        if any(_NAMES.search(piece.data) for piece in card.pieces):
            return None
        try:
            table = card.table()
        except MeshError:
            return None
        if not len(table.counts) or table.counts.min() < least or table.counts.max() > width:
            return None
        values = table.padded(width)
        nodes = self.numbering["node"].place(values[:, 0], card.instance)
        if not (_member(nodes, self._sorted_nodes)).all():
            return None
        starts = np.flatnonzero(np.append(True, (np.diff(values[:, 1:], axis=0) != 0).any(axis=1)))
        out = []
        for a, b in zip(starts.tolist(), [*starts[1:].tolist(), len(nodes)]):
            part = nodes[a:b].astype(np.int64)
            if b - a > 1 and len(np.unique(part)) < b - a:
                return None
            out.append((table.at(card, a), part, values[a, 1:]))
        return out

    def one_node(self, at: Card | Row, text: str) -> int:
        """Return a single node: its number, or a set of one."""
        place = at if isinstance(at, Row) else Row(at, at.file, at.line)
        found = self.nodes(place, text)
        if len(found) != 1:
            place.fail(f"{text} has {len(found)} nodes; give one")
        return int(found[0])

    def surface(self, at: Card | Row, name: str) -> str:
        """Return the full name, if there is such a surface."""
        name = self.name_of(at, name)
        if name not in self._surfaces:
            self._unknown(at, "surface", name, self._surfaces)
        return name

    # ---- surfaces ----------------------------------------------------------------------------------------------------

    def _surface(self, name: str, card: Card) -> Surface:
        kind = card.get("TYPE", "ELEMENT")
        where = f"{card.file}, line {card.line}"
        empty = np.empty(0, np.int64)
        if kind == "NODE":
            parts = []
            for row, fields in card.rows():
                parts.append(self.nodes(row, fields[0]))
                if row.number(fields, 1, "area of a node", 1.0) != 1.0:
                    self.log.add("entry", "SURFACE, area of a node", row)
            nodes = np.unique(np.concatenate(parts)) if parts else empty
            return Surface(name, "node", empty, np.empty(0, "U4"), nodes, where)
        if kind != "ELEMENT":
            card.fail(f"TYPE={kind} is not known; known are ELEMENT and NODE")
        ids: list[np.ndarray] = []
        names: list[np.ndarray] = []
        at_faces: list[np.ndarray] = []
        for row, fields in card.rows():
            elements = self.elements(row, fields[0])
            face = label(fields[1]) if len(fields) > 1 else ""
            for block, kind_ in zip(self.blocks, self.kinds):
                at = np.flatnonzero(np.isin(block.ids, elements))
                if not len(at):
                    continue
                table = faces(kind_)
                if face not in table and (face or not table):
                    row.fail(f"{block.type} has no face {short(face)}; it has {', '.join(table) or 'none'}")
                if face:
                    ids.append(block.ids[at])
                    names.append(np.full(len(at), face, "U4"))
                    at_faces.append(block.nodes[at][:, table[face]].ravel())
                else:
                    for where_, local in _free_faces(block, at, table):
                        ids.append(block.ids[where_])
                        names.append(np.full(len(where_), local, "U4"))
                        at_faces.append(block.nodes[where_][:, table[local]].ravel())
        if not ids:
            card.fail("no element faces follow")
        return Surface(
            name, "element", np.concatenate(ids), np.concatenate(names), np.unique(np.concatenate(at_faces)), where
        )


def _free_faces(block: ElementBlock, at: np.ndarray, table: dict[str, np.ndarray]):
    """Return faces of the elements ``at`` that no other element of the block shares, as (rows, label); of shells
    SPOS."""
    if "SPOS" in table:
        return [(at, "SPOS")]
    corners = {"C3D4": 4, "C3D10": 4}.get(block.shape, 6 if block.nodes.shape[1] in (6, 15) else 8)
    keys, owner = [], []
    for name, local in table.items():
        own = local[local < corners]
        nodes = np.sort(block.nodes[:, own], axis=1)
        keys.append(np.column_stack([nodes, np.zeros((len(nodes), 4 - len(own)), np.int64)]) if len(own) < 4 else nodes)
        owner.append(name)
    _, inverse, count = np.unique(np.concatenate(keys), axis=0, return_inverse=True, return_counts=True)
    free = count[inverse.ravel()].reshape(len(keys), -1) == 1
    return [(at[free[k, at]], name) for k, name in enumerate(owner) if free[k, at].any()]


def _key(instance: Instance | None, name: str) -> str:
    """Return the full name of what an instance, or the assembly, calls so."""
    return name if instance is None else f"{instance.name}.{name}"


def _place_of(parts: list, k: int) -> Row:
    """Return file and line of the k-th node of all *NODE cards."""
    for card, table, own, _ in parts:
        if k < len(own):
            return table.at(card, k)
        k -= len(own)
    raise IndexError(k)


def _member(ids: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return which ids are in the ascending array present."""
    if not len(present):
        return np.zeros(len(ids), bool)
    at = np.minimum(np.searchsorted(present, ids), len(present) - 1)
    return present[at] == ids


def _find(groups: list[_Elements], i: int) -> tuple[_Elements, int]:
    for group in groups:
        if i < len(group.ids):
            return group, i
        i -= len(group.ids)
    raise MeshError(f"element {i} out of range")  # cannot happen: i indexes the joined groups
