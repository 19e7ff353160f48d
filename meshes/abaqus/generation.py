"""Generated nodes and elements of a deck, written out as *NODE, *ELEMENT, *NSET and *ELSET.

    *NGEN      nodes on a line, a parabola or an arc between two nodes
    *NFILL     nodes on straight lines between the nodes of two sets
    *NCOPY     copies of the nodes of a set: moved, turned, mirrored, seen from a pole
    *ELGEN     rows and layers of elements like one
    *ELCOPY    copies of the elements of a set, over nodes with other numbers

They use what stands before them, in their own part, instance or assembly.

Source: Abaqus Keywords Guide; Abaqus Analysis User's Guide, "Node definition" and "Element definition".
"""

from __future__ import annotations

import re
from dataclasses import field

import numpy as np

from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.assembly import motion
from fem_mbs.meshes.abaqus.elements import element_type
from fem_mbs.meshes.abaqus.text import MAX_ID, Card, Numbers, Row
from fem_mbs.meshes.texts import short

__all__ = ["GENERATION_KEYWORDS", "axes_of_system", "generated", "part_coordinates"]

GENERATION_KEYWORDS = {
    "NGEN": "nodes on a line, a parabola or an arc between two nodes",
    "NFILL": "nodes on straight lines between two sets, also biased; SINGULAR and TWO STEP are refused",
    "NCOPY": "copies of nodes: moved, turned, mirrored, seen from a pole",
    "ELGEN": "rows and layers of elements like one",
    "ELCOPY": "copies of elements over nodes with other numbers; REFLECT is refused",
}
_LETTERS = re.compile(rb'[A-CF-Za-cf-z_"$]')  # of nodes that an assembly names by their instance
_ROUND = 0.01  # of the radius: both ends of an arc are as far from its centre


def axes_of_system(card: Card) -> tuple[np.ndarray, np.ndarray]:
    """Return axes (3, 3), in rows, and origin (3,) of *SYSTEM: a, a point b on the first axis, and c in the plane of
    the first two."""
    values: list[float] = []
    for k, (row, fields) in enumerate(card.rows()):
        if k > 1:
            row.fail("*SYSTEM has two data lines: a and b, and c")
        values += row.numbers(fields, "the points of a system", 3, 6 if k == 0 else 3)
    a, b, c = (np.array(values[i : i + 3]) for i in (0, 3, 6))
    if len(values) < 6:
        return np.eye(3), a if len(a) else np.zeros(3)
    e1 = b - a
    e3 = np.array([0.0, 0.0, 1.0]) if not len(c) else np.cross(e1, c - a)
    e2 = np.cross(e3, e1)
    lengths = [float(np.linalg.norm(e)) for e in (e1, e2, e3)]
    if min(lengths[0], lengths[2]) <= 0.0 or lengths[1] <= 1e-12 * lengths[0] * lengths[2]:
        card.fail("the points of the system lie on one line; give a, b on the first axis, c beside it")
    e1, e2 = e1 / lengths[0], e2 / lengths[1]
    return np.stack((e1, e2, np.cross(e1, e2))), a


def part_coordinates(card: Card, x: np.ndarray, system: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
    """Return rectangular coordinates (n, 3) in the part of those that a *NODE gives, with the *SYSTEM before it."""
    kind = card.get("SYSTEM", "R")
    if kind == "C":  # radius, angle [deg], z
        x = _from_cylindrical(x)
    elif kind not in ("R", "RECTANGULAR"):
        card.fail(f"SYSTEM={kind} is not read; give rectangular (R) or cylindrical (C) coordinates")
    return x if system is None or card.made is not None else x @ system[0] + system[1]


def _from_cylindrical(x: np.ndarray) -> np.ndarray:
    angle = np.deg2rad(x[:, 1])
    return np.column_stack([x[:, 0] * np.cos(angle), x[:, 0] * np.sin(angle), x[:, 2]])


def generated(cards: list[Card]) -> list[Card]:
    """Return the keywords with those of generation replaced by the nodes, elements and sets that they make.

    Raises:
        MeshError: nodes, elements and sets that are not defined before, numbers that do not fit.
    """
    if not any(card.keyword in GENERATION_KEYWORDS for card in cards):
        return cards
    known: dict[str, _Known] = {}
    out: list[Card] = []
    for card in cards:
        here = known.setdefault("" if card.instance is None else card.instance.name, _Known())
        if card.keyword not in GENERATION_KEYWORDS:
            here.read(card)
            out.append(card)
            continue
        made = _MAKERS[card.keyword](here, card)
        for name in card.params:
            if name not in card.taken:
                card.fail(f"parameter {name} is not read; write the nodes or elements out")
        for new in made:
            here.read(new)
        out += made
    return out


@dataclass
class _Known:
    """Nodes, elements and sets of a part so far; sets in their order."""

    nodes: dict[int, np.ndarray] = field(default_factory=dict)
    elements: dict[int, tuple[Card, list[float], int]] = field(default_factory=dict)
    sets: dict[str, dict[str, list[int]]] = field(default_factory=lambda: {"node": {}, "element": {}})
    system: tuple[np.ndarray, np.ndarray] | None = None

    def read(self, card: Card) -> None:
        """Take over what a keyword defines."""
        if card.keyword == "SYSTEM":
            self.system = axes_of_system(card)
        elif card.keyword == "NODE":
            values = card.table().padded(4)
            x = part_coordinates(card, values[:, 1:], self.system)
            ids = values[:, 0].astype(int).tolist()
            self.nodes |= zip(ids, x)
            self._join("node", card.get("NSET"), ids)
        elif card.keyword == "ELEMENT":
            kind = element_type(card.need("TYPE"))
            if kind is not None and not any(_LETTERS.search(piece.data) for piece in card.pieces):
                rows = _element_rows(card, 1 + kind.n_nodes, kind.family == "beam")
                self.elements |= {int(row[0]): (card, row, kind.n_nodes) for row in rows}
                self._join("element", card.get("ELSET"), [int(row[0]) for row in rows])
        elif card.keyword in ("NSET", "ELSET"):
            what = "node" if card.keyword == "NSET" else "element"
            ids = self._members(card, what)
            self._join(what, card.need(card.keyword), ids, not card.flag("UNSORTED"))

    def _join(self, what: str, name: str | None, ids: list[int], in_order: bool = True) -> None:
        if name is not None:
            members = list(dict.fromkeys([*self.sets[what].get(name, []), *ids]))
            self.sets[what][name] = sorted(members) if in_order else members

    def _members(self, card: Card, what: str) -> list[int]:
        out: list[int] = []
        source = card.get("ELSET") if what == "node" else None
        for element in self.sets["element"].get(source, []) if source else ():
            out += [int(n) for n in self.elements[element][1][1:]]
        if card.made is not None:
            return [*out, *card.made.values.astype(int).tolist()]
        for row, fields in card.rows():
            if card.flag("GENERATE"):
                first = row.whole(fields, 0, "first")
                last, step = row.whole(fields, 1, "last", first), row.whole(fields, 2, "increment", 1)
                present = self.nodes if what == "node" else self.elements
                out += [k for k in range(first, last + 1, max(step, 1)) if k in present]
                continue
            for text in fields:
                item = row.identity(text) if text not in ("", "0") else ""
                out += [item] if isinstance(item, int) else self.sets[what].get(item, [])
        return out

    def node(self, row: Row, fields: list[str], i: int, what: str) -> tuple[int, np.ndarray]:
        """Return number and place (3,) of a node that field i names."""
        number = row.whole(fields, i, what)
        if number not in self.nodes:
            row.fail(f"node {number} is not defined before; put its *NODE above")
        return number, self.nodes[number]

    def members(self, at: Card | Row, what: str, name: str) -> list[int]:
        """Return the numbers in a set that is defined before."""
        if name not in self.sets[what]:
            at.fail(f"the {what} set {short(name)} is not defined before; put it above")
        return self.sets[what][name]


def _element_rows(card: Card, width: int, with_direction: bool) -> list[list[float]]:
    """Return number and nodes of each element of a keyword, of beams with the node that gives their direction."""
    table = card.table()
    if with_direction and (table.counts == width + 1).all():
        width += 1
    ends = np.cumsum(table.counts)
    if len(table.values) % width or not np.isin(np.arange(1, len(table.values) // width + 1) * width, ends).all():
        card.fail(f"{card.need('TYPE')} has {width - 1} nodes; a deck with generated elements has no other entries")
    return table.values.reshape(-1, width).tolist()


def _made(card: Card, keyword: str, rows: np.ndarray, row: Row, **params: str) -> Card:
    """Return a keyword with rows (n, k) of numbers that stand for a data line."""
    n, width = rows.shape
    table = Numbers(
        rows.astype(float).ravel(), np.full(n, width), np.full(n, row.line), np.zeros(n, int), [row.file]
    )  # fmt: skip
    return Card(keyword, dict(params), row.file, row.line, instance=card.instance, made=table)


def _numbers(row: Row, ids: np.ndarray, what: str) -> np.ndarray:
    """Return the numbers if all are allowed."""
    if ids.size and (ids.min() < 1 or ids.max() > MAX_ID):
        bad = ids.min() if ids.min() < 1 else ids.max()
        row.fail(f"the {what} number {bad} is not between 1 and {MAX_ID}")
    return ids


# ---- nodes -----------------------------------------------------------------------------------------------------------
def _ngen(known: _Known, card: Card) -> list[Card]:
    """Read lines of nodes."""
    line, name, system = card.get("LINE"), card.get("NSET"), card.get("SYSTEM", "RC")
    if line not in (None, "P", "C"):
        card.fail(f"LINE={line} is not known; give P (parabola), C (arc) or nothing")
    if system not in ("RC", "R", "C"):
        card.fail(f"SYSTEM={system} is not read; give the extra point as a node")
    out = []
    for row, fields in card.rows():
        first, a = known.node(row, fields, 0, "first end")
        last, b = known.node(row, fields, 1, "second end")
        step = abs(row.whole(fields, 2, "increment", 1)) * (1 if last >= first else -1)
        if step == 0 or (last - first) % step:
            row.fail(f"nodes from {first} do not come to {last} in steps of {step}")
        n = (last - first) // step
        s = np.linspace(0.0, 1.0, max(n, 1) + 1)[1:-1, None]
        if line is None:
            x = a + s * (b - a)
        else:
            extra = _extra_point(known, row, fields, system)
            if line == "P":
                x = (2.0 * s - 1.0) * (s - 1.0) * a + 4.0 * s * (1.0 - s) * extra + s * (2.0 * s - 1.0) * b
            else:
                x = _arc(row, fields, a, b, extra, s)
        ids = _numbers(row, first + step * np.arange(1, max(n, 1)), "node")
        if len(ids):
            out.append(_made(card, "NODE", np.column_stack([ids, x]), row))
        if name is not None:
            out.append(_made(card, "NSET", np.array([[first, *ids, last]]).T, row, NSET=name))
    return out


def _extra_point(known: _Known, row: Row, fields: list[str], system: str) -> np.ndarray:
    """Return the middle of a parabola or the centre of an arc (3,): a node, or coordinates."""
    if row.whole(fields, 3, "extra node", 0):
        return known.node(row, fields, 3, "extra node")[1]
    if known.system is not None:
        row.fail("coordinates of the extra point after *SYSTEM are not read; give a node")
    x = np.array([[row.number(fields, i, "coordinate of the extra point", 0.0) for i in (4, 5, 6)]])
    return (_from_cylindrical(x) if system == "C" else x)[0]


def _arc(row: Row, fields: list[str], a: np.ndarray, b: np.ndarray, centre: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return points (n, 3) at parts s (n, 1) of the angle of an arc, which turns about its normal if it has one."""
    p, q = a - centre, b - centre
    radius, other = np.linalg.norm(p), np.linalg.norm(q)
    if not radius > 0.0 or abs(other - radius) > _ROUND * radius:
        row.fail(f"the ends of the arc are {radius:g} and {other:g} from its centre; mend the nodes or the centre")
    normal = np.array([row.number(fields, i, "normal of the arc", 0.0) for i in (7, 8, 9)])
    given = bool(normal.any())
    normal = normal if given else np.cross(p, q)
    size = np.linalg.norm(normal)
    if not size > 1e-6 * (1e-300 if given else radius * other):
        row.fail("an arc of 180 degrees or more needs its normal; give it as entries 8 to 10")
    normal = normal / size
    if abs(p @ normal) > _ROUND * radius:
        row.fail("the normal of the arc does not stand on it; correct entries 8 to 10")
    across = np.cross(normal, p)
    angle = np.arctan2(q @ across, q @ p)
    angle += 2.0 * np.pi if given and angle <= 1e-9 else 0.0
    return centre + (1.0 + s * (other / radius - 1.0)) * (np.cos(angle * s) * p + np.sin(angle * s) * across)


def _nfill(known: _Known, card: Card) -> list[Card]:
    """Read regions between two sets."""
    name, bias = card.get("NSET"), card.number("BIAS", 1.0)
    if not bias > 0.0:
        card.fail(f"BIAS={bias:g} must be greater than 0")
    out = []
    for row, fields in card.rows():
        bounds = []
        for i in (0, 1):
            text = fields[i] if i < len(fields) else ""
            item = row.identity(text) if text else row.fail(f"entry {i + 1} (node set) is missing")
            bounds.append([item] if isinstance(item, int) else known.members(row, "node", item))
        n, step = row.whole(fields, 2, "number of intervals"), row.whole(fields, 3, "increment", 1)
        if n < 1:
            row.fail(f"{n} intervals; give 1 or more")
        pairs = list(zip(*bounds, strict=False))
        for number in (number for pair in pairs for number in pair):
            if number not in known.nodes:
                row.fail(f"node {number} is not defined before; put its *NODE above")
        lengths = bias ** -np.arange(n, dtype=float)  # each is that of the one before over the bias
        s = (np.cumsum(lengths) / lengths.sum())[:-1]
        a, b = (np.array([known.nodes[k] for k in ends]).reshape(-1, 3) for ends in zip(*pairs, strict=True))
        x = a[:, None] + s[:, None] * (b - a)[:, None]
        ids = _numbers(row, np.array(pairs)[:, :1] + step * np.arange(1, n), "node")
        if ids.size:
            out.append(_made(card, "NODE", np.column_stack([ids.ravel(), x.reshape(-1, 3)]), row))
        if name is not None:
            members = np.concatenate([np.array(pairs).ravel(), ids.ravel()])
            out.append(_made(card, "NSET", members[:, None], row, NSET=name))
    return out


def _ncopy(known: _Known, card: Card) -> list[Card]:
    """Read copies of nodes."""
    old = known.members(card, "node", card.need("OLD SET"))
    if card.get("CHANGE NUMBER") is None:
        card.need("CHANGE NUMBER")
    shift, name = card.count("CHANGE NUMBER", 0), card.get("NEW SET")
    row = next((row for row, _ in card.rows()), Row(card, card.file, card.line))
    missing = [k for k in old if k not in known.nodes]
    if missing:
        card.fail(f"node {missing[0]} is not defined before; put its *NODE above")
    x = np.array([known.nodes[k] for k in old]).reshape(-1, 3)
    reflect = card.get("REFLECT")
    if known.system is not None:
        card.fail("copies after *SYSTEM are not read; write the nodes out")
    if reflect is not None:
        x = _reflected(card, row, x, reflect)
    elif card.flag("POLE"):
        fields = _lines(card, row, 1)[0]
        pole = np.array([row.number(fields, i, "coordinate of the pole", 0.0) for i in (1, 2, 3)])
        x = 2.0 * x - (known.node(row, fields, 0, "pole")[1] if row.whole(fields, 0, "pole", 0) else pole)
    elif card.flag("SHIFT"):
        R, d = motion(card, card.count("MULTIPLE", 1))
        x = x @ R.T + d
    else:
        card.fail("give SHIFT, REFLECT=... or POLE")
    ids = _numbers(row, np.array(old, int) + shift, "node")
    out = [_made(card, "NODE", np.column_stack([ids, x]), row)] if len(ids) else []
    if name is not None:
        out.append(_made(card, "NSET", ids[:, None], row, NSET=name))
    return out


def _lines(card: Card, row: Row, n: int) -> list[list[str]]:
    lines = [fields for _, fields in card.rows()]
    if len(lines) != n:
        row.fail(f"{len(lines)} data lines; give {n}")
    return lines


def _reflected(card: Card, row: Row, x: np.ndarray, kind: str) -> np.ndarray:
    """Return points (n, 3) on the other side of a point, a line or a plane."""
    wanted = {"POINT": 1, "LINE": 1, "MIRROR": 2}
    if kind not in wanted:
        card.fail(f"REFLECT={kind} is not known; known are {', '.join(wanted)}")
    size = {"POINT": 3, "LINE": 6, "MIRROR": 9}[kind]
    given = [v for fields in _lines(card, row, wanted[kind]) for v in row.numbers(fields, "points", 1)]
    if len(given) != size:
        row.fail(f"{len(given)} coordinates; give the {size} of {size // 3} point{'s' * (size > 3)}")
    a, *others = np.array(given).reshape(-1, 3)
    if kind == "POINT":
        return 2.0 * a - x
    along = others[0] - a if kind == "LINE" else np.cross(others[0] - a, others[1] - a)
    if not np.linalg.norm(along) > 0.0:
        row.fail("the points are the same, or lie on one line")
    along = along / np.linalg.norm(along)
    part = np.outer((x - a) @ along, along)
    return 2.0 * (a + part) - x if kind == "LINE" else x - 2.0 * part


# ---- elements --------------------------------------------------------------------------------------------------------
def _copied(card: Card, row: Row, source: tuple[Card, list[float], int], steps: np.ndarray, whole: bool) -> Card:
    """Return elements like one: steps (n, 2) of element and node numbers; those of a direction only if ``whole``."""
    element, nodes = np.array(source[1][:1], int), np.array(source[1][1:], int)
    moves = np.ones(len(nodes), int)
    moves[source[2] :] = whole
    rows = np.column_stack([element + steps[:, :1], nodes + steps[:, 1:] * moves])
    _numbers(row, rows[:, 0], "element")
    _numbers(row, rows[:, 1:], "node")
    return _made(card, "ELEMENT", rows, row, TYPE=source[0].need("TYPE"))


def _elgen(known: _Known, card: Card) -> list[Card]:
    """Read rows and layers of elements."""
    name, whole = card.get("ELSET"), card.flag("ALL NODES")
    out = []
    for row, fields in card.rows():
        master = row.whole(fields, 0, "master element")
        if master not in known.elements:
            row.fail(f"element {master} is not defined before; put its *ELEMENT above")
        steps = np.zeros((1, 2), int)
        for k, what in ((1, "row"), (4, "rows"), (7, "layers")):
            n = row.whole(fields, k, f"number of {'elements in a row' if k == 1 else what}", 1) or 1
            if n < 1:
                row.fail(f"entry {k + 1} is {n}; give 1 or more")
            default = 1 if k == 1 else None if n > 1 else 0
            by = [row.whole(fields, j, what, default) for j in (k + 2, k + 1)]
            steps = (steps[:, None] + np.arange(n)[:, None] * np.array(by)).reshape(-1, 2)
        made = _copied(card, row, known.elements[master], steps[1:], whole)
        if len(steps) > 1:
            out.append(made)
        if name is not None:
            out.append(_made(card, "ELSET", (master + steps[:, :1]), row, ELSET=name))
    return out


def _elcopy(known: _Known, card: Card) -> list[Card]:
    """Read copies of elements."""
    old = known.members(card, "element", card.need("OLD SET"))
    name = card.get("NEW SET")
    for needed in ("ELEMENT SHIFT", "SHIFT NODES"):
        card.need(needed)
    steps = np.array([[card.count("ELEMENT SHIFT", 0), card.count("SHIFT NODES", 0)]])
    row = Row(card, card.file, card.line)
    missing = [k for k in old if k not in known.elements]
    if missing:
        card.fail(f"element {missing[0]} is not defined before; put its *ELEMENT above")
    out = [_copied(card, row, known.elements[k], steps, True) for k in old]
    if name is not None:
        out.append(_made(card, "ELSET", np.array(old, int)[:, None] + steps[0, 0], row, ELSET=name))
    return out


_MAKERS = {"NGEN": _ngen, "NFILL": _nfill, "NCOPY": _ncopy, "ELGEN": _elgen, "ELCOPY": _elcopy}
