"""Compare the tables of Nastran decks with the listings of MSC Nastran beside them (NAME.f06).

Stresses are judged over the largest of their table.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.decks.comparison import Row
from fem_mbs.decks.nastran.bars import Bars, bar_axes
from fem_mbs.decks.nastran.shells import TYPES
from fem_mbs.elements.shells.surface import CORNERS
from fem_mbs.errors import FemMbsError, InputError
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.deck import BulkDeck, Command
from fem_mbs.meshes.nastran.f06 import ListingTable, read_f06
from fem_mbs.meshes.nastran.reader import read_bulk
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from fem_mbs.decks.nastran.model import Conversion
    from fem_mbs.decks.nastran.run import Converted
    from fem_mbs.results.report import PrintTable, StepReport

__all__ = ["compare_deck"]

#: Largest difference where the element formulations are the same.
SAME = 1e-3
#: Element or cell -> largest differences of displacements and of eigenvalues, where its formulation differs, and why.
_DIFFERENT = {
    "incompatible": (0.05, 0.1, "incompatible modes instead of bubble functions or reduced shear of CHEXA"),
    "wedge": (0.1, 0.2, "CPENTA without bubble functions"),
    "hexahedron20": (0.05, 0.1, "full integration instead of reduced shear of CHEXA with 20 grid points"),
    "shell": (0.02, 0.05, "shells of another formulation"),
}
#: Eigenvalues of shells with coupled masses: those of MSC Nastran lie between lumped and consistent ones.
_COUPLED = (0.1, "consistent masses; coupled ones of shells in MSC Nastran lie between these and lumped ones")
#: Eigenvalues of solids with mid-side grid points and lumped masses, and these cells.
_LUMPED = (0.01, "lumped masses of solids with mid-side grid points are shared out otherwise")
_QUADRATIC = ("tetra10", "wedge15", "hexahedron20")
#: Shells that are so few that one of them spans the model: their number, the margin, and why.
_FEW = (16, 0.1, "a few shells: each is of another formulation, with stiffness about its normal")
#: Forces, stresses and strains in the middle of shells and at corners of CQUAD4, and why others are not compared.
_MIDDLE, _CORNER = 0.1, 0.2
_SHELL_TABLE = "stresses of shells of another formulation"
_OTHER_CORNERS = "corners of these shells are extrapolated otherwise in MSC Nastran"
_OPEN = "edges of shells with mid-side grid points open up beside those of others, in each program in its own way"
#: Stresses and strains of single solids among a few shells: the margin, and why.
_AMONG = (0.45, "solids among a few shells take up what these let pass: stresses at corners of single elements")
#: Of the stress that the largest displacement would make in the shortest bar: round-off.
_NOISE = 1e-7
#: Bars along a few shells, which take up membrane forces with them.
_SHARED = (0.7, "bars along a few shells share membrane forces with them, which finer meshes move by a half")
#: Results and eigenvalues of shells of MYSTRAN (MIN3, MIN4).
_LOADED = (0.25, "pressure on the shells of MYSTRAN has moments at grid points, too, which count on coarse meshes")
_MIN4 = (0.35, "coarse waves of MYSTRAN's shells, whose masses lie between lumped and consistent ones")
_ROTATED = "MYSTRAN takes the speed of RFORCE in radians, MSC Nastran in revolutions"
_TWISTED = "a bar without torsional stiffness turns about its axis by any angle"
_BUCKLED = "elements in shapes of buckling, which have no size, are not printed"
#: Why elements in shapes of such models are not compared.
_SHAPES = "a few shells: their shapes differ as their eigenvalues do"
#: Why rotations and moments of such models are not compared.
_NORMALS = "a few shells: moments hang on rotations about their normals, whose stiffness is one of the formulation"
#: Modes whose eigenvalues differ by less, relatively, have no shapes of their own.
_CLUSTER = 1e-3
#: Eigenvalues over the largest one, or over one, below which they are those of rigid bodies.
_STILL = 1e-6
#: One less the length of the mean of unit normals that lie in one direction.
_FLAT = 1e-3
#: Of the largest displacement over the size of the model: rotations and forces below are round-off.
_ROUND = 1e-6
_MOVED = "DISPLACEMENT"
_Part = tuple[str, list[int], list[int]]
_FORCES = {
    "DISPLACEMENT": (("translations", range(3)), ("rotations", range(3, 6))),
    "SPCFORCES": (("forces", range(3)), ("moments", range(3, 6))),
    "CROD": (("axial force", range(1)), ("torque", range(1, 2))),
    "CBAR": (("moments", range(4)), ("shear and axial force", range(4, 7)), ("torque", range(7, 8))),
    "CBEAM": (("moments", range(2)), ("shear and axial force", range(2, 5)), ("torque", range(5, 6))),
    "CBUSH": (("forces", range(3)), ("moments", range(3, 6))),
}
_FORCES["CONROD"] = _FORCES["CROD"]
_SPRINGS = ("CELAS1", "CELAS2")
_SHELL_FORCES = (("membrane forces", range(3)), ("moments", range(3, 6)), ("shear forces", range(6, 8)))
#: Ends of the names of parts that do not follow the sign of a shape.
_EVEN = ("last", "of von Mises")
_SOLIDS = ("CHEXA", "CPENTA", "CTETRA")
#: Parts of tables that do not hang on rotations about the normals of shells.
_DIRECT = ("translations", "forces", "shear and axial force", "axial force", "axial")


def _parts(quantity: str, named: set[str]) -> list[_Part]:
    """Return the columns of a table that are judged together: a word, those of ours, and those of the listing."""
    kind, _, type_ = quantity.rpartition(" ")
    if type_ in _SPRINGS:
        return [("force" if not kind else "stress", [0], [0])]
    if not kind:
        return [(word, list(c), list(c)) for word, c in _FORCES.get(quantity, _SHELL_FORCES)]
    if type_ in ("CROD", "CONROD"):
        return [("axial", [0], [0]), ("torsional", [1], [1])]
    if type_ == "CBAR":
        ends = [*range(4), *range(7, 11)]
        return [("bending", ends, ends), ("axial", [4], [4]), ("extremes", [5, 6, 11, 12], [5, 6, 11, 12])]
    if type_ == "CBEAM":
        return [("bending", [*range(4)], [*range(4)]), ("extremes", [4, 5], [4, 5])]
    if type_ == "CBUSH":
        return [("translations", [0, 1, 2], [0, 1, 2]), ("rotations", [3, 4, 5], [3, 4, 5])]
    word = "strains" if kind.endswith("STRAIN") else "stresses"
    if kind.startswith("PLY"):
        plies: list[_Part] = [(f"{word} along fibres", [0, 1, 2], [0, 1, 2])]
        return plies if word == "strains" else [*plies, (f"{word} between plies", [3, 4], [3, 4])]
    if type_ in _SOLIDS:
        return [(f"{word}", [*range(6)], [*range(6)]), (f"{word} of von Mises", [10], [10])]
    shift = 1 if "CURVATURE" in named else 0
    out: list[_Part] = []
    for at, first, theirs in (("Z1", 1 - shift, 1), ("Z2", 9 - 2 * shift, 9)):
        label = {"Z1": "middle", "Z2": "curvature"}[at] if shift else at
        out += [
            (label, [*range(first, first + 3)], [*range(theirs, theirs + 3)]),
            (f"{label}, last", [first + 6], [theirs + 6]),
        ]
    return out


def _without(deck: str, step: int, quantity: str, why: str, status: str = "not compared") -> Row:
    return Row(deck, step, quantity, np.nan, np.nan, np.nan, np.nan, why, status)


def compare_deck(path: str | Path) -> list[Row]:
    """Return rows of one deck; one that cannot be run has one row that says why."""
    from fem_mbs.decks.nastran.run import solve_deck

    path = Path(path)
    name = path.stem
    reference = path.with_suffix(".f06")
    try:
        deck = read_bulk(path)
        if reference.exists():
            _ask_all(deck)
        converted, solution = solve_deck(deck)
    except InputError as error:
        return [_without(name, 0, "run", " ".join(str(error).split()), "refused")]
    except FemMbsError as error:
        return [_without(name, 0, "run", " ".join(str(error).split()), "missing")]
    rows = [_without(name, 0, "note", str(n)) for n in converted.notes if n.effect is not Effect.NONE]
    if not reference.exists():
        return [*rows, _without(name, 0, "run", "it ran; there is no listing beside it")]
    try:
        listing = read_f06(reference)
    except FemMbsError as error:
        return [*rows, _without(name, 0, "reference", " ".join(str(error).split()), "missing")]
    summary = solution.report
    steps = list(summary.steps) if summary is not None else []
    margin = _Margin.of(converted, listing.tables)
    if margin.mystran and deck.of("RFORCE"):
        return [*rows, _without(name, 0, "run", _ROTATED)]
    compared = [row for table in listing.tables for row in _table(name, table, steps, margin)]
    if not compared:
        compared = [_without(name, 0, "run", "it ran; the listing has no table that is read")]
    return rows + compared


def _ask_all(deck: BulkDeck) -> None:
    """Ask for all tables, with corners of shells: a listing may hold more than the deck's commands do."""
    for subcase in deck.subcases:
        for name in ("DISPLACEMENT", "SPCFORCES", "FORCE", "STRESS", "STRAIN"):
            own = subcase.commands.get(name)
            options = (*(own.options if own is not None else ()), "BILIN")
            subcase.commands[name] = Command(name, options, "ALL", subcase.where)


@dataclass(frozen=True)
class _Margin:
    """Largest differences of tables and of eigenvalues, and why; size below which rotations are round-off, per
    displacement; whether there are a few shells alone, and whether edges of shells open up; the largest number of
    all tables of a quantity; and normals (3,) of the shells at grid points that only shells of one plane have, along
    the axes of the grid points; displacements of the shapes of the listing, by their numbers."""

    table: float
    eigenvalues: float
    why: str
    turn: float
    few: bool
    shells: bool
    open: bool
    scales: dict[str, float]
    normals: dict[int, np.ndarray]
    shapes: dict[int, ListingTable]
    #: whether the listing is MYSTRAN's; whether bars have no torsional stiffness; forces and stresses below which there
    #: is round-off alone
    mystran: bool
    twisted: bool
    noise: tuple[float, float]

    @classmethod
    def of(cls, converted: Converted, tables: list[ListingTable]) -> _Margin:
        conv = converted.conversion
        found = []
        for group in conv.groups:
            full = group.kind == "solid" and group.section["isop"] in ("FULL", 1)
            kind = group.element if group.element in _DIFFERENT else group.cell
            if kind in _DIFFERENT and not full:
                found.append(_DIFFERENT[kind])
        table, roots, why = max(found) if found else (SAME, SAME, "same formulation")
        curved = sum(len(group.ids) for group in conv.groups if group.cell in _QUADRATIC)
        if not conv.coupled and roots < _LUMPED[0] and curved:
            roots, why = _LUMPED if curved >= _FEW[0] else (0.5, f"a few elements: {_LUMPED[1]}")
        shells = any(group.kind == "shell" for group in conv.groups)
        if shells and conv.coupled:
            roots, why = _COUPLED
        few = shells and sum(len(group.ids) for group in conv.groups if group.kind == "shell") < _FEW[0]
        if few:
            table, why = _FEW[1:]
        mystran = any("MYSTRAN" in t.named for t in tables)
        if mystran and few and conv.deck.of("PLOAD2", "PLOAD4"):
            table, why = _LOADED
        if mystran and shells:
            roots, why = max(roots, _MIN4[0]), _MIN4[1] if not few else why
        bars = [group for group in conv.groups if isinstance(group.data, Bars)]
        twisted = any(not group.data.section.J for group in bars)
        stiff = [g.data.material.E / float(bar_axes(conv, g)[2].min()) for g in bars]
        moved = [float(np.abs(t.values[:, :3]).max(initial=0.0)) for t in tables if t.quantity == _MOVED]
        noise = _NOISE * max(stiff, default=0.0) * max(moved, default=0.0)
        noises = (noise * max((g.data.section.A for g in bars), default=0.0), noise)  # of forces, of stresses
        scales: dict[str, float] = {}
        for t in tables:
            scales[t.quantity] = max(scales.get(t.quantity, 0.0), float(np.abs(t.values).max(initial=0.0)))
        shapes = {t.mode: t for t in tables if t.mode and t.quantity == "DISPLACEMENT"}
        turn = (0.2 if shells else 10.0 * _ROUND) / max(conv.extent, 1e-300)
        return cls(
            table,
            roots,
            why,
            turn,
            few,
            shells,
            _open_edges(conv),
            scales,
            _normals(conv),
            shapes,
            mystran,
            twisted,
            noises,
        )


def _open_edges(conv: Conversion) -> bool:
    """Return whether shells with and without mid-side grid points share an edge."""
    found: dict[bool, set[tuple[int, int]]] = {False: set(), True: set()}
    for group in conv.groups:
        if group.kind != "shell":
            continue
        k = CORNERS[group.nodes.shape[1]]
        for a in range(k):
            pairs = np.sort(group.nodes[:, [a, (a + 1) % k]], axis=1)
            found[group.nodes.shape[1] > k] |= set(map(tuple, pairs.tolist()))
    return bool(found[False] & found[True])


def _normals(conv: Conversion) -> dict[int, np.ndarray]:
    """Return normals (3,) along the axes of grid points by the numbers of those that only shells of one plane have:
    rotations about them have no counterpart in MSC Nastran."""
    n = len(conv.grids.ids)
    total, length, others = np.zeros((n, 3)), np.zeros(n), np.zeros(n, bool)
    for group in conv.groups:
        if group.kind != "shell":
            others[group.nodes.ravel()] = True
            continue
        x = conv.grids.x[group.nodes]
        triangle = group.cell.startswith("triangle")
        first, second = (x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]) if triangle else (x[:, 2] - x[:, 0], x[:, 3] - x[:, 1])
        normal = np.cross(first, second)
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        for k in range(group.nodes.shape[1]):
            np.add.at(total, group.nodes[:, k], normal)
            np.add.at(length, group.nodes[:, k], 1.0)
    flat = (length > 0.0) & ~others & (np.linalg.norm(total, axis=1) > (1.0 - _FLAT) * length)
    at = np.flatnonzero(flat)
    own = np.einsum("nij,nj->ni", conv.grids.axes[at], total[at] / np.linalg.norm(total[at], axis=1)[:, None])
    return dict(zip(conv.grids.ids[at].tolist(), own, strict=True))


def _is_buckling(steps: list[StepReport]) -> bool:
    return any(getattr(step, "load_factors", None) is not None for step in steps)


def _without_normals(ids: list[int], values: np.ndarray, normals: dict[int, np.ndarray]) -> np.ndarray:
    """Return rows of six components without the part of the last three along normals of shells."""
    n = np.array([normals.get(i, np.zeros(3)) for i in ids]).reshape(-1, 3)
    out = values.copy()
    out[:, 3:6] -= np.einsum("ni,ni->n", out[:, 3:6], n)[:, None] * n
    return out


def _mine(table: ListingTable, steps: list[StepReport]) -> PrintTable | None:
    """Return the table of ours that belongs to one of the listing."""
    for step in steps:
        if table.subcase not in (0, step.deck_step or 0):
            continue
        for t in step.prints or ():
            if t.quantity == table.quantity and (t.mode or 0) == table.mode:
                return t
    return None


def _table(name: str, table: ListingTable, steps: list[StepReport], margin: _Margin) -> list[Row]:
    label = table.quantity + (f" of mode {table.mode}" if table.mode else "")
    if table.mode and table.quantity == "SPCFORCES":
        return [_without(name, table.subcase, label, "forces of supports of modes are not printed")]
    mine = _mine(table, steps)
    if mine is None and table.mode and table.quantity != "DISPLACEMENT" and _is_buckling(steps):
        return [_without(name, table.subcase, label, _BUCKLED)]
    if mine is None:
        return [_without(name, table.subcase, label, "not printed", "missing")]
    if table.quantity.endswith("EIGENVALUES"):
        return [_roots(name, table, mine, margin)]
    if table.mode and _clustered(table, steps):
        return [_without(name, table.subcase, label, "the eigenvalue is not apart from the next: any mix is a shape")]
    if table.mode and margin.mystran and margin.shells:
        return [_without(name, table.subcase, label, _MIN4[1])]
    ours = dict(zip(_keys(mine.ids, mine.points), mine.values, strict=True))
    theirs = table.values
    keys = _keys(table.ids, table.points if mine.points is not None else None)
    if table.quantity == "SPCFORCES":  # of ours only those that are not zero
        ours = {k: ours.get(k, [0.0] * 6) for k in keys}
    if any(k not in ours for k in keys):
        return [_without(name, table.subcase, label, "grid points or elements are missing", "missing")]
    values = np.array([ours[k] for k in keys])
    parts = _parts(table.quantity, table.named)
    if margin.few and table.mode and table.quantity != "DISPLACEMENT":
        return [_without(name, table.subcase, label, _SHAPES)]
    if table.mode:
        values = _scaled(_factor(margin, table, mine, steps), values, theirs, parts)
    if table.quantity in ("DISPLACEMENT", "SPCFORCES"):
        values, theirs = (_without_normals(table.ids, v, margin.normals) for v in (values, theirs))
    whole = float(np.abs(theirs[:, :3]).max(initial=0.0)) if table.quantity == "DISPLACEMENT" else 0.0
    least = (
        whole * margin.turn
        if whole
        else max(_ROUND * margin.scales[table.quantity], margin.noise[table.quantity.startswith("STR")])
    )
    out = []
    shell = table.quantity.rpartition(" ")[2] in TYPES
    for part, columns, of_listing in parts:
        floor = least if part != "translations" else 0.0
        label_ = f"{label}, {part}"
        if shell and not margin.few:
            own, listed = values[:, columns], theirs[:, of_listing]
            out += _shell_part(name, table, label_, own, listed, floor, margin)
            continue
        if margin.twisted and part == "rotations" and table.mode:
            out.append(_without(name, table.subcase, label_, _TWISTED))
            continue
        own_margin = margin
        if margin.few and table.quantity.endswith("CBAR") and part in _DIRECT:
            own_margin = replace(margin, table=_SHARED[0], why=_SHARED[1])
        if margin.few and table.quantity.endswith(_SOLIDS):
            own_margin = replace(margin, table=_AMONG[0], why=_AMONG[1])
        elif margin.few and part not in _DIRECT and np.any(theirs[:, of_listing]):
            out.append(_without(name, table.subcase, label_, _NORMALS))
            continue
        out.append(_worst(name, table.subcase, label_, values[:, columns], theirs[:, of_listing], floor, own_margin))
    return out


def _shell_part(
    name: str, table: ListingTable, label: str, values: np.ndarray, theirs: np.ndarray, floor: float,
    margin: _Margin,
) -> list[Row]:  # fmt: skip
    """Return rows of a part of a table of shells: in the middle, and at the corners."""
    if margin.open:
        return [_without(name, table.subcase, label, _OPEN)]
    middle = np.array(table.points) == 0
    if table.quantity.startswith("PLY"):
        middle[:] = True
    own = replace(margin, table=_MIDDLE, why=_SHELL_TABLE)
    out = [_worst(name, table.subcase, label, values[middle], theirs[middle], floor, own)] if middle.any() else []
    if middle.all():
        return out
    label = f"{label}, corners"
    if not table.quantity.endswith("CQUAD4"):
        return [*out, _without(name, table.subcase, label, _OTHER_CORNERS)]
    own = replace(own, table=_CORNER)
    return [*out, _worst(name, table.subcase, label, values[~middle], theirs[~middle], floor, own)]


def _factor(margin: _Margin, table: ListingTable, mine: PrintTable, steps: list[StepReport]) -> float | None:
    """Return the factor on a shape of ours that gives that of the listing; None where this has no displacements."""
    listed = margin.shapes.get(table.mode)
    own = mine if table.quantity == "DISPLACEMENT" else (None if listed is None else _mine(listed, steps))
    if listed is None or own is None:
        return None
    ours = dict(zip(own.ids, own.values, strict=True))
    u = np.array([ours.get(i, [0.0] * 6)[:3] for i in listed.ids], float)
    theirs = listed.values[:, :3]
    size = float(np.linalg.norm(theirs)) / max(float(np.linalg.norm(u)), 1e-300)
    return size if float(np.sum(u * theirs)) >= 0.0 else -size


def _scaled(factor: float | None, values: np.ndarray, theirs: np.ndarray, parts: list[_Part]) -> np.ndarray:
    """Return a table of a shape with the size of the listing's, or where its displacements are not printed that of unit
    modal mass with the sign of the table."""
    if factor is None:
        straight = [(c, of) for word, c, of in parts if word != "extremes" and not word.endswith(_EVEN)]
        factor = 1.0 if sum(np.sum(values[:, c] * theirs[:, of]) for c, of in straight) >= 0.0 else -1.0
    out = factor * values
    for word, columns, _ in parts:
        if word == "extremes" and factor < 0.0:  # the largest becomes the smallest
            pairs = np.array(columns).reshape(-1, 2)
            out[:, pairs.ravel()] = out[:, pairs[:, ::-1].ravel()]
        elif word.endswith(_EVEN):
            out[:, columns] = abs(factor) * values[:, columns]
    return out


def _keys(ids: list[int], points: list[int] | None) -> list[tuple[int, int]]:
    """Return numbers with their points, or zeros."""
    return list(zip(ids, points if points is not None else [0] * len(ids), strict=True))


def _clustered(table: ListingTable, steps: list[StepReport]) -> bool:
    for step in steps:
        for t in step.prints or ():
            if t.quantity == "EIGENVALUES" and table.subcase in (0, step.deck_step or 0):
                values = np.array([v[0] for v in t.values], float)
                at = t.ids.index(table.mode) if table.mode in t.ids else -1
                near = [abs(values[k] - values[at]) for k in (at - 1, at + 1) if 0 <= k < len(values) and k != at]
                flat = abs(values[at]) <= _STILL * max(1.0, float(np.abs(values).max()))  # rigid bodies mix
                return flat or (bool(near) and min(near) <= _CLUSTER * abs(values[at]))
    return False


def _roots(name: str, table: ListingTable, mine: PrintTable, margin: _Margin) -> Row:
    complex_ = table.quantity.startswith("COMPLEX")
    label, last = ("complex eigenvalues", 2) if complex_ else ("eigenvalues", 1)
    ours = dict(zip(mine.ids, [[float(x or 0.0) for x in v[:last]] for v in mine.values], strict=True))
    if any(i not in ours for i in table.ids):
        return _without(name, table.subcase, label, f"{len(ours)} were found, {len(table.ids)} are there", "missing")
    theirs = table.values[:, :last]
    values = np.array([ours[i] for i in table.ids])
    size = np.linalg.norm(theirs, axis=1)
    off = np.linalg.norm(values - theirs, axis=1) / np.maximum(size, 1e-6 * size.max())
    k = int(off.argmax())
    j = int(np.abs(values[k] - theirs[k]).argmax())
    difference, limit = float(off[k]), margin.eigenvalues
    return Row(
        name, table.subcase, f"{label} ({len(theirs)}), worst {table.ids[k]}", float(values[k, j]),
        float(theirs[k, j]), difference, limit, margin.why, "ok" if difference <= limit else "outside",
    )  # fmt: skip


def _worst(
    name: str, step: int, label: str, ours: np.ndarray, theirs: np.ndarray, least: float, margin: _Margin
) -> Row:  # fmt: skip
    """Return the row where a table differs most, over its largest row, or over ``least``, below which all is
    round-off."""
    size = max(float(np.linalg.norm(theirs, axis=1).max()), least, 1e-30)
    off = np.linalg.norm(ours - theirs, axis=1)
    k = int(off.argmax())
    j = int(np.abs(ours[k] - theirs[k]).argmax())
    difference = float(off[k]) / size
    return Row(
        name, step, label, float(ours[k, j]), float(theirs[k, j]), difference, margin.table, margin.why,
        "ok" if difference <= margin.table else "outside",
    )  # fmt: skip
