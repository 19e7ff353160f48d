"""Nodes and blocks of a model: what `fem_mbs.system.compile` makes arrays of.

A block holds equal elements, with one row of parameters each.  A model adds blocks one by one; `merge_blocks` makes
one of all those of a type, so that a kernel call serves many elements.
"""

from __future__ import annotations

import copyreg
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.elements.registry import ElementType, element_type
from fem_mbs.late import dataclass

__all__ = [
    "GROUND",
    "Block",
    "Nodes",
    "Share",
    "chosen_rows",
    "deal",
    "held_ranges",
    "make_block",
    "merge_blocks",
    "number_ends",
]

#: Node index that stands for ground in connectivity tables.
GROUND = -1

#: Elements whose parameters are made at a time, where these are made when they are needed.
_TOGETHER = 1 << 16


def _by_name(element: ElementType) -> str | tuple[Any, ...]:
    """Return the data that pickle writes for an element type: its name, or all of it for an unregistered type."""
    try:
        known = element_type(element.name) is element
    except KeyError:
        known = False
    return (element_type, (element.name,)) if known else element.__reduce_ex__(2)


# A process that gets a model would compile kernels that came with it again, and ignore those on disk.
copyreg.pickle(ElementType, _by_name)


@dataclass
class Nodes:
    """Nodes of a model.

    ``x`` (n, dim) positions [m] at the start, ``rotational`` (n,) whether a node has rotation dofs, ``rotation``
    rotation at the start: the angle [rad], shape (n,), in the plane, the matrix, shape (n, 3, 3), in space.
    ``names`` says what to call a node in a message; ``scalars`` does so of coordinates that belong to no node.
    ``states`` are those of them that are state variables of elements: number -> value at the start, over its size.
    """

    x: np.ndarray
    rotational: np.ndarray
    rotation: np.ndarray
    names: Sequence[str]
    scalars: Sequence[str] = ()
    states: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Share:
    """Share of a block that one of several processes holds.

    ``elements`` (k,): the numbers of its elements, ascending, in the block of ``count`` elements; ``damped``: whether
    any element of the block, here or elsewhere, is damped; ``nodes`` (count, ends): of all elements.
    """

    elements: np.ndarray
    count: int
    damped: bool
    nodes: np.ndarray


@dataclass(eq=False)
class Block:
    """Equal elements: their type, end nodes (n, ends) and parameters (n, n_par).

    The parameters of a compiled model stand once: ``par`` of its blocks are views into ``System.par``.
    ``groups`` names runs of elements as the user did: (label, first, past the last).  ``joint`` (n,): elements with the
    same number have their multipliers in common; None: each has its own.  ``preferred`` (n_multipliers, 2): node and
    component of the dof that each multiplier's row should make dependent in an elimination, node -1: any; None: all of
    them any.  ``reads`` (n,): of types that read multipliers, the names of the joints whose they are ("": none);
    ``owners`` (n, type.reads, 2): where these stand, block and element, -1: nowhere.  ``scalars`` (n, type.scalars):
    numbers of their coordinates that belong to no node, -1: a state variable that the element does without.  ``along``:
    runs of elements that act along those of a group of beams, one by one: (first, past the last, the group, local dof
    of the beams at which their own dofs begin); section forces contain them.  ``pairing``: of pairs that are found in
    a run (`fem_mbs.system.pairing`): the parts that may be paired; the first elements are the present pairs, and
    ``nodes`` tells nothing.  ``pressed``: they tie nodes without mass that contact presses.
    ``share``: the elements of which this process holds rows, where several processes share the block out
    (`fem_mbs.analysis.distributed.share`); None: all.  ``rows``: makes the parameters of elements (k,) by their
    numbers, where ``par`` was None at first; all are made when ``par`` is asked for (`rows_of` makes some).  ``lossy``:
    whether an element whose parameters are not made yet has a damping of its own.
    """

    groups: list[tuple[str, int, int]]
    type: ElementType
    nodes: np.ndarray
    par: np.ndarray
    watched: bool = False
    joint: np.ndarray | None = None
    preferred: np.ndarray | None = None
    reads: list[str] | None = None
    owners: np.ndarray | None = None
    scalars: np.ndarray | None = None
    along: list[tuple[int, int, str, int]] = field(default_factory=list)
    pairing: Any = None
    pressed: bool = False
    share: Share | None = None
    rows: Callable[[np.ndarray], np.ndarray] | None = None
    lossy: bool = True
    dof: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.int32))
    rot: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.int32))
    first_element: int = 0
    first_output: int = 0

    def __post_init__(self) -> None:
        if self.par is None:
            del self.par

    def __getattr__(self, name: str) -> Any:
        if name != "par" or self.__dict__.get("rows") is None:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        self.par, self.rows = self.rows_of(np.arange(self.size)), None
        return self.par

    @property
    def later(self) -> bool:
        """Return whether the parameters are not made yet."""
        return "par" not in self.__dict__

    def rows_of(self, elements: np.ndarray) -> np.ndarray:
        """Return the parameters (k, n_par) of some elements, by their numbers; those of others are not made."""
        if self.rows is None or not self.later:
            return chosen_rows(self.par, self.type, elements)
        first = self.rows(elements[:_TOGETHER])
        if len(elements) <= _TOGETHER:
            return first
        out = np.empty((len(elements), first.shape[1]))
        out[: len(first)] = first
        for at in range(len(first), len(elements), _TOGETHER):
            out[at : at + _TOGETHER] = self.rows(elements[at : at + _TOGETHER])
        return out

    def column_of(self, elements: np.ndarray, column: int) -> np.ndarray:
        """Return a column (k,) of the parameters of some elements; those of others are not made."""
        pieces = (elements[at : at + _TOGETHER] for at in range(0, len(elements), _TOGETHER))
        return np.concatenate([np.empty(0), *(self.rows_of(some)[:, column] for some in pieces)])

    def change(self, elements: np.ndarray, column: int, values: Any, add: bool = False) -> None:
        """Set columns from ``column`` on of the parameters of some elements to values (w,) or (k, w), or ``add`` them;
        where there are fewer columns, zeros come before.

        Args:
            elements: (k,) ascending numbers.
        """
        changed = _Changed(self.rows, elements, column, np.asarray(values, float), add)
        if self.later:
            self.rows = changed
            names = self.type.parameters[column : column + changed.values.shape[-1]]
            self.lossy = self.lossy or "damping" in names
        else:
            self.par = changed.applied(self.par, np.arange(self.size))

    @property
    def all_nodes(self) -> np.ndarray:
        """Return the end nodes (count, ends) of the elements on all processes."""
        return self.nodes if self.share is None else self.share.nodes

    @property
    def size(self) -> int:
        return self.nodes.shape[0]

    @property
    def count(self) -> int:
        """Return the number of elements on all processes."""
        return self.size if self.share is None else self.share.count

    @property
    def damped(self) -> bool:
        """Return whether an element has a damping of its own."""
        if self.share is not None:
            return self.share.damped
        if self.later:
            return self.lossy
        return "damping" in self.type.parameters and bool(self.par[:, self.type.column("damping")].any())

    @property
    def n_multipliers(self) -> int:
        joints = self.size if self.joint is None else int(self.joint.max(initial=-1)) + 1
        return joints * self.type.multipliers

    def lies_along(self, group: str, first_dof: int = 0) -> None:
        """Declare that the elements act along the beams of a group, one by one; their dofs begin there at
        ``first_dof``."""
        self.along = [(0, self.size, group, first_dof)]

    def label(self, element: int) -> str:
        """Return the user's name of the group that an element belongs to."""
        k = bisect_right(self.groups, element, key=lambda group: group[1]) - 1
        name, _, last = self.groups[k] if k >= 0 else ("", 0, 0)
        return name if element < last else self.type.name

    def row_label(self, element: int) -> str:
        """Return `label`, and which of the group's constraints with shared multipliers it is, where there are
        several."""
        label = self.label(element)
        if self.joint is not None:
            first, last = next((a, b) for name, a, b in self.groups if a <= element < b)
            numbers = self.joint[first:last]
            if numbers.max() > numbers.min():
                return f"{label}, row {self.joint[element] - numbers.min() + 1}"
        return label


def make_block(label: str, type_name: str, nodes: ArrayLike, table: ArrayLike = (), **columns: Any) -> Block:
    """Return a block of one group from parameter columns by name (scalars are repeated); ``table`` ends each row."""
    t = element_type(type_name)
    nodes = np.asarray(nodes, np.int64).reshape(-1, t.ends)
    table = np.asarray(table, float).ravel()
    par = np.zeros((nodes.shape[0], len(t.par) + len(table)))
    for name, value in columns.items():
        par[:, t.column(name)] = value
    if t.scale >= 0:
        par[:, t.scale] = 1.0
    par[:, len(t.par) :] = table
    return Block([(label, 0, nodes.shape[0])], t, nodes, par)


def deal(par: np.ndarray, element: ElementType, table: np.ndarray) -> np.ndarray:
    """Return parameters (n, n_par + w) whose rows hold a table that all elements share, one part after the other.

    Args:
        par: (n, n_par) parameters, with tables of the elements' own after the named columns.
        table: (m,) numbers.
    """
    n, unit = len(par), element.shared
    width = -(-max(len(table), 1) // (n * unit)) * unit
    whole = np.zeros(n * width)
    whole[: len(table)] = table
    par = np.hstack((par, whole.reshape(n, width)))
    par[:, element.column("row")], par[:, element.column("width")] = np.arange(n), width
    return par


def chosen_rows(par: np.ndarray, element: ElementType, elements: np.ndarray) -> np.ndarray:
    """Return the parameters of some elements of a block; a shared table is dealt to them anew."""
    if not element.shared or len(elements) == 0:
        return par[elements]
    own = par.shape[1] - int(par[0, element.column("width")])
    return deal(par[elements, :own], element, par[:, own:].ravel())


def merge_blocks(blocks: list[Block]) -> list[Block]:
    """Return one block per element type, in the order of first appearance: a kernel call serves many elements.

    Blocks of types with shared tables, and of pairs, stay alone.
    """
    by_type: dict[tuple[str, int], list[Block]] = {}
    for block in blocks:
        # a shared table is that of one block
        alone = block.type.shared or block.pairing is not None
        key = (block.type.name, len(by_type) if alone else -1)
        by_type.setdefault(key, []).append(block)
    merged = []
    for parts in by_type.values():
        groups, along, starts, at = [], [], [], 0
        for part in parts:
            starts.append(at)
            groups += [(name, first + at, last + at) for name, first, last in part.groups]
            along += [(first + at, last + at, name, dof) for first, last, name, dof in part.along]
            at += part.size
        rows = _Joined(tuple(parts)) if any(p.later for p in parts) else None
        alone = rows is not None and len(parts) == 1
        nodes = parts[0].nodes if alone else np.concatenate([p.nodes for p in parts])
        par: Any = None
        if rows is None:
            width = max(p.par.shape[1] for p in parts)  # types with tables have rows of different lengths
            par = np.zeros((at, width))
            for first, part in zip(starts, parts, strict=True):
                par[first : first + part.size, : part.par.shape[1]] = part.par
        joint = None
        if any(p.joint is not None for p in parts):
            own = [np.arange(p.size) if p.joint is None else p.joint for p in parts]
            before = np.cumsum([0] + [int(j.max(initial=-1)) + 1 for j in own])
            joint = np.concatenate([j + first for j, first in zip(own, before, strict=False)])
        preferred = None
        if any(p.preferred is not None for p in parts):
            none = [np.full((p.n_multipliers, 2), -1) if p.preferred is None else p.preferred for p in parts]
            preferred = np.concatenate(none)
        reads = [name for p in parts for name in p.reads or [""] * p.size] if parts[0].type.reads else None
        scalars = np.concatenate([p.scalars for p in parts]) if parts[0].type.scalars else None
        merged.append(
            Block(
                groups, parts[0].type, nodes, par, joint=joint, preferred=preferred, reads=reads, scalars=scalars,
                along=along, pairing=parts[0].pairing, pressed=any(p.pressed for p in parts), rows=rows,
                lossy=rows is None or any(p.damped for p in parts),
            )
        )  # fmt: skip
    return merged


@dataclass(frozen=True, eq=False)
class _Changed:
    """Makes parameters as ``rows`` does, with other values in some columns of some elements; see `Block.change`."""

    rows: Callable[[np.ndarray], np.ndarray] | None
    elements: np.ndarray
    column: int
    values: np.ndarray
    add: bool

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        assert self.rows is not None
        return self.applied(self.rows(numbers), numbers)

    def applied(self, par: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return the parameters (k, ...) of elements by their numbers (k,), changed in place where there is room."""
        columns = slice(self.column, self.column + self.values.shape[-1])
        if par.shape[1] < columns.stop:
            par = np.pad(par, ((0, 0), (0, columns.stop - par.shape[1])))
        at = np.minimum(np.searchsorted(self.elements, numbers), max(len(self.elements) - 1, 0))
        mine = np.flatnonzero(self.elements[at] == numbers) if len(self.elements) else np.empty(0, np.int64)
        given = self.values if self.values.ndim == 1 else self.values[at[mine]]
        par[mine, columns] = par[mine, columns] + given if self.add else given
        return par


class _Joined:
    """Makes the parameters of elements of blocks that stand one after the other, as `Block.rows` does."""

    def __init__(self, parts: tuple[Block, ...]):
        self.parts = parts
        self.first = np.cumsum([0, *(part.size for part in parts)])
        self.width = max(part.rows_of(np.arange(min(part.size, 1))).shape[1] for part in parts)

    def __call__(self, elements: np.ndarray) -> np.ndarray:
        out = np.zeros((len(elements), self.width))
        for part, first in zip(self.parts, self.first, strict=False):
            mine = np.flatnonzero((elements >= first) & (elements < first + part.size))
            if mine.size:
                rows = part.rows_of(elements[mine] - first)
                out[mine, : rows.shape[1]] = rows
        return out


def number_ends(
    element: ElementType, ends: np.ndarray, nodes: Nodes, offset: np.ndarray, rot_row: np.ndarray, dof: np.ndarray,
    rot: np.ndarray,
) -> None:  # fmt: skip
    """Fill dof (n, ...) with the dofs of the end nodes, and rot (n, ends) with the rows of their directors.

    Entries of ends on the ground, and rotations of nodes without them, are not changed.

    Args:
        ends: (n, ends) numbers of the nodes, negative: the ground.
        offset: (nodes + 1,) first dof of each node.
        rot_row: (nodes,) row of the directors of each node that has rotations.
    """
    dim = element.dimension
    for a in range(element.ends):
        node, first = ends[:, a], a * element.end_dofs
        real = node >= 0
        dof[real, first : first + dim] = offset[node[real]][:, None] + np.arange(dim)
        if element.rotational:
            turning = real & nodes.rotational[np.where(real, node, 0)]
            turns = np.arange(dim, element.end_dofs)
            dof[turning, first + dim : first + element.end_dofs] = offset[node[turning]][:, None] + turns
            rot[turning, a] = rot_row[node[turning]]


def held_ranges(blocks: Sequence[Block], equation: np.ndarray) -> np.ndarray:
    """Return ranges (n, 3) of elements that act on dofs without an equation (N,): block, first, last (exclusive)."""
    prescribed = equation < 0
    prescribed[-1] = False  # the dummy entry
    ranges = [np.empty((0, 3), np.int64)]
    for b, block in enumerate(blocks):
        acts = prescribed[block.dof].any(axis=1).astype(np.int8)
        edge = np.flatnonzero(np.diff(acts, prepend=0, append=0)).reshape(-1, 2)
        ranges.append(np.column_stack((np.full(len(edge), b), edge)))
    return np.concatenate(ranges)
