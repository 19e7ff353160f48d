"""From a model's blocks to the frozen arrays that the compiled step works on.

Numbering: each node has its position dofs and, where an element, body or joint needs it, rotation dofs; coordinates
that belong to no node (modal ones) follow, which count as positions, then multipliers; the last one is the dummy entry,
to which missing and ground dofs point.  The sparsity pattern is built once: every element matrix entry knows its place
in the value array, whether that is a band (narrow models, factored in compiled code) or compressed columns (wide
models, factored by CHOLMOD or SuperLU).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee

from fem_mbs.errors import ModelError, Owner
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.solvers.stepping.pattern import band_slots, element_slots, matrix_pattern
from fem_mbs.system.blocks import Block, Nodes, held_ranges, number_ends
from fem_mbs.system.compiled import Compiled, Driven, coordinates, joined_parameters

__all__ = ["Alone", "compile_system", "multipliers_of_name", "with_acting", "with_held"]

#: Half-bandwidth up to which the compiled banded solver serves; beyond it the sparse solvers are faster.
BAND_LIMIT = 60


class Alone:
    """One process, which has nothing in common with others; see `fem_mbs.solvers.distributed.ranks.Ranks`."""

    @staticmethod
    def made_once(make: Callable[[], Any]) -> Any:
        """Return the result of ``make``."""
        return make()


def _offsets(dimension: int, nodes: Nodes) -> tuple[np.ndarray, np.ndarray]:
    """Return the first dof (nodes + 1,) of each node, and the row (nodes,) of its directors."""
    per_node = dimension + (1 if dimension == 2 else 3) * nodes.rotational.astype(np.int64)
    offset = np.concatenate(([0], np.cumsum(per_node)))
    rot_row = np.full(len(nodes.x), int(nodes.rotational.sum()), np.int64)
    rot_row[nodes.rotational] = np.arange(nodes.rotational.sum())
    return offset, rot_row


def _number(nodes: Nodes, blocks: list[Block], offset: np.ndarray, rot_row: np.ndarray) -> int:
    """Number the dofs of blocks, and return the number N of all dofs."""
    count = int(offset[-1])
    first_scalar, count = count, count + len(nodes.scalars)
    multipliers = sum(b.n_multipliers for b in blocks)
    N = count + multipliers + 1
    dummy = N - 1
    first_element = first_output = 0
    for block in blocks:
        t = block.type
        dof = np.full((block.size, t.local_dofs), dummy, np.int32)
        rot = np.full((block.size, t.ends), int(nodes.rotational.sum()), np.int32)
        number_ends(t, block.nodes, nodes, offset, rot_row, dof, rot)
        if t.scalars and block.scalars is not None:
            own = np.where(block.scalars >= 0, first_scalar + block.scalars, dummy)  # -1: the element does without
            dof[:, t.ends * t.end_dofs : t.node_dofs] = own
        if t.multipliers:
            joint = np.arange(block.size) if block.joint is None else block.joint
            dof[:, t.node_dofs :] = count + joint[:, None] * t.multipliers + np.arange(t.multipliers)
            count += block.n_multipliers
        block.dof, block.rot = dof, rot
        block.first_element, block.first_output = first_element, first_output
        first_element += block.count
        first_output += block.count * len(t.outputs)
    for block in blocks:
        if block.type.reads:
            _link(block, blocks)
    return N


#: Constraints whose multipliers are forces between two points along unit vectors.
_FORCES = (
    "point", "position", "offset", "beam_slide", "point_on_curve", "curve_on_curve", "prismatic_slide",
    "cylindrical_slide",
)  # fmt: skip
#: Constraints whose multipliers are moments that align axes.
_MOMENTS = ("direction",)
#: Constraints of gears, ropes and screws: where a joint has one, its multiplier is what presses.
_COUPLINGS = ("coupling", "pulley")


def _link(block: Block, blocks: list[Block]) -> None:
    """Point the last local dofs of elements that read multipliers at those of their joints which no function drives."""
    first = block.type.node_dofs + block.type.multipliers
    block.owners = np.full((block.size, block.type.reads, 2), -1, np.int64)
    for element, name in enumerate(block.reads or ()):
        found = (_multipliers(name, blocks, _COUPLINGS) or _multipliers(name, blocks, _FORCES)) if name else []
        if block.type.reads_moments and name:
            found += _multipliers(name, blocks, _MOMENTS)
        if name and not 0 < len(found) <= block.type.reads:
            raise ModelError(
                f'joint "{name}" has {len(found)} constraint forces where 1 to {block.type.reads} are expected',
                owner=Owner("Friction", block.label(element)),
                remedy="use a joint that guides a point",
            )
        for k, (number, i, d) in enumerate(found):
            block.dof[element, first + k] = d
            block.owners[element, k] = number, i


def _multipliers(name: str, blocks: list[Block], kinds: tuple[str, ...]) -> list[tuple[int, int, int]]:
    """Return block, element and dof of the multipliers of a joint's constraints of these kinds which no function
    drives."""
    found = []
    for number, joint in enumerate(blocks):
        t = joint.type
        if not t.multipliers or t.name[:-1] not in kinds:
            continue
        driven = joint.par[:, t.column("function")] >= 0.0 if "function" in t.par else np.zeros(joint.size, bool)
        rows = [i for label, a, b in joint.groups if label == name for i in range(a, b) if not driven[i]]
        if joint.joint is not None:  # multipliers in common are read once
            rows = [i for k, i in enumerate(rows) if joint.joint[i] not in joint.joint[rows[:k]]]
        # the first ones are forces, others moments
        found += [(number, i, d) for i in rows for d in joint.dof[i, t.node_dofs :][: t.dimension]]
    return found


def _order(equation_of: np.ndarray, blocks: list[Block], n_eq: int):
    """Return reverse Cuthill-McKee order of the equations and the half-bandwidth it gives."""
    if not blocks or n_eq == 0:
        return np.arange(n_eq), 0
    indptr, r = matrix_pattern(n_eq, [equation_of[block.dof] for block in blocks])
    graph = csr_matrix((np.ones(r.size, np.int8), r, indptr), shape=(n_eq, n_eq))
    c = np.repeat(np.arange(n_eq, dtype=np.int32), np.diff(indptr))
    order = reverse_cuthill_mckee(graph, symmetric_mode=True)
    place = np.empty(n_eq, np.int64)
    place[order] = np.arange(n_eq)
    natural = int(np.abs(r - c).max(initial=0))
    ordered = int(np.abs(place[r] - place[c]).max(initial=0))
    return (np.arange(n_eq), natural) if natural <= ordered else (place, ordered)


def compile_system(
    dimension: int, nodes: Nodes, blocks: list[Block], fixed: np.ndarray, driven: list[tuple[int, int, int, Owner]],
    shared: np.ndarray | None = None, stepping: bool = True, silent: Collection[str] = (),
    still: bool = False, common: Any = Alone,
) -> Compiled:  # fmt: skip
    """Number the dofs, and build pattern, slots and tables.

    Args:
        fixed: (n, 2) pairs (node, component) held where they are.
        driven: (node, component, time function, what moves it) of dofs that follow reference + f(t).
        shared: (m, 3) nodes a, b and 0 (they share displacements) or 1 (rotations), all free; see `elimination`.
        stepping: order the equations and find the places of element matrices for the compiled step, which analyses
            about one state do without (`fem_mbs.system.tangent`).
        silent: names of joints and locks whose constraints do not act at the start.
        still: everything may be held, since supports can break.
        common: makes what all processes of a machine have in common, where they share elements out (`Ranks`).

    Raises:
        ModelError: nothing is free to move, or a dof is both fixed and driven.
    """
    offset, rot_row = common.made_once(lambda: _offsets(dimension, nodes))
    N = _number(nodes, blocks, offset, rot_row)
    kind, rotations, positions, states, row_scale = common.made_once(lambda: _kinds(dimension, nodes, offset, N))
    n, nrot = nodes.x.shape[0], 1 if dimension == 2 else 3
    fixed_dofs, driven_dofs = _prescribed(nodes, offset, fixed, driven)
    followers = _followers(shared, offset, dimension, nrot, N)
    quiet = np.concatenate([np.empty(0, np.int64), *(multipliers_of_name(blocks, name) for name in silent)])
    numbered = _numbered(blocks, N, (fixed_dofs, driven_dofs, quiet), followers, stepping, still, common)
    table = _table(blocks)
    links = _along(blocks, table)
    start = None if common is Alone else common.copies(lambda: coordinates(dimension, nodes, offset, N))
    whole = all(block.share is None for block in blocks)  # others are for linear steps only
    part, part_dofs = _continua(blocks if whole else [], offset, n)
    system = S.System(
        table=table,
        dof=_flat([b.dof for b in blocks if whole], np.int32),
        rot=_flat([b.rot for b in blocks if whole], np.int32),
        par=joined_parameters(blocks, table),
        hist=np.zeros(sum(block.size * block.type.hist for block in blocks)),
        slot=numbered.slots,
        equation=numbered.equation,
        unknown=numbered.unknown,
        kind=kind,
        positions=positions,
        states=states,
        rotations=rotations,
        driven=driven_dofs,
        driver=np.array([d[2] for d in driven], np.int32),
        driven_reference=coordinates(dimension, nodes, offset, N)[0, driven_dofs] if len(driven) else np.zeros(0),
        row_scale=row_scale,
        part=part,
        part_dofs=part_dofs,
        shared=followers.astype(np.int32),
        links=links,
        holding=held_ranges(blocks, numbered.equation),
        record=np.zeros((0, 2), np.int32),
    )
    return Compiled(
        dimension=dimension,
        nodes=nodes,
        blocks=blocks,
        offset=offset,
        rot_row=rot_row,
        n_dof=N,
        system=system,
        banded=numbered.banded,
        bandwidth=numbered.band,
        pattern=numbered.pattern,
        diagonal=numbered.diagonal,
        length=_length(nodes, blocks),
        driven=Driven(driven_dofs, system.driver, [d[3] for d in driven]),
        fixed=fixed_dofs,
        start=start,
    )


def with_held(compiled: Compiled, dofs: np.ndarray, moved: Driven | None = None) -> Compiled:
    """Return a model in which ``dofs`` (k,) are held too; it shares all else, and vectors over all dofs serve both.

    ``moved``: dofs that follow functions besides those of the model, behind which they stand in its list.

    Raises:
        ModelError: nothing is free to move then.
    """
    arrays = compiled.system
    fixed, driven = np.union1d(compiled.fixed, dofs), compiled.driven
    reference = arrays.driven_reference
    if moved is not None:
        driven = Driven(
            np.concatenate((driven.dofs, moved.dofs)).astype(np.int32),
            np.concatenate((driven.functions, moved.functions)).astype(np.int32), [*driven.owners, *moved.owners],
        )  # fmt: skip
        reference = np.concatenate((reference, compiled.initial_state().Q[0, moved.dofs]))
        fixed = np.setdiff1d(fixed, moved.dofs)
    arrays = arrays._replace(driven=driven.dofs, driver=driven.functions, driven_reference=reference)
    return _renumbered(replace(compiled, system=arrays, fixed=fixed, driven=driven), compiled.silent, still=False)


def with_acting(compiled: Compiled, silent: np.ndarray, released: np.ndarray) -> Compiled:
    """Return a model in which the multipliers ``silent`` (n_mult,) bool do not act, and the dofs ``released`` (k,) are
    no longer held; it shares all else, and vectors over all dofs serve both."""
    return _renumbered(replace(compiled, fixed=np.setdiff1d(compiled.fixed, released)), silent, still=True)


def _renumbered(compiled: Compiled, silent: np.ndarray, still: bool) -> Compiled:
    """Return a model with new equations, for other dofs that are held or driven, and other multipliers that are
    ``silent`` (n_mult,) bool.

    Raises:
        ModelError: nothing is free to move, without ``still``.
    """
    arrays, blocks = compiled.system, compiled.blocks
    quiet = compiled.first_multiplier + np.flatnonzero(silent)
    prescribed = compiled.fixed, compiled.driven.dofs, quiet
    followers = arrays.shared.astype(np.int64)
    numbered = _numbered(blocks, compiled.n_dof, prescribed, followers, True, still)
    system = arrays._replace(
        slot=numbered.slots, equation=numbered.equation, unknown=numbered.unknown,
        holding=held_ranges(blocks, numbered.equation),
    )  # fmt: skip
    return replace(
        compiled, system=system, banded=numbered.banded, bandwidth=numbered.band, pattern=numbered.pattern,
        diagonal=numbered.diagonal, assembler=None,
    )  # fmt: skip


def multipliers_of_name(blocks: Sequence[Block], name: str) -> np.ndarray:
    """Return the dofs (k,) of the multipliers of the elements that bear a name."""
    found = [
        block.dof[first:last, block.type.node_dofs :].ravel()
        for block in blocks if block.type.multipliers
        for label, first, last in block.groups if label == name
    ]  # fmt: skip
    return np.unique(np.concatenate([np.empty(0, np.int64), *found]))


class _Numbered(NamedTuple):
    """Equations of the dofs, and the places of their matrix: see `_equations` and `_places`."""

    equation: np.ndarray
    unknown: np.ndarray
    band: int
    banded: bool
    pattern: tuple[np.ndarray, np.ndarray] | None
    slots: np.ndarray
    diagonal: np.ndarray


def _numbered(
    blocks: list[Block], N: int, prescribed: tuple[np.ndarray, ...], followers: np.ndarray, stepping: bool,
    still: bool = False, common: Any = Alone,
) -> _Numbered:  # fmt: skip
    equation, unknown, band = common.made_once(lambda: _equations(blocks, N, prescribed, followers, stepping))
    if not unknown.size and not len(prescribed[1]) and not still:
        raise ModelError(
            "every degree of freedom is held, nothing can move", owner=Owner("Model"), remedy="remove a support"
        )
    banded = stepping and (band <= BAND_LIMIT or unknown.size <= BAND_LIMIT)
    if any(block.pairing is not None for block in blocks):  # pairs may join any nodes
        banded, band = stepping and unknown.size <= BAND_LIMIT, max(unknown.size - 1, 0)
    pattern, slots, diagonal = None, np.empty(0, np.int32), np.empty(0, np.int64)
    if stepping:
        pattern, slots, diagonal = _places([equation[b.dof] for b in blocks], unknown.size, band if banded else -1)
    return _Numbered(equation, unknown, band, banded, pattern, slots, diagonal)


def _kinds(dimension: int, nodes: Nodes, offset: np.ndarray, N: int) -> tuple[np.ndarray, ...]:
    """Return the kind (N,) of each dof, the rotation dofs (nr, 1 or 3) of the nodes that have them, the dofs of
    positions and of state variables, and scales (N,) of rows, which are one at first."""
    kind = np.full(N, S.MULTIPLIER, np.int8)
    kind[-1] = S.SINK
    n, nrot = nodes.x.shape[0], 1 if dimension == 2 else 3
    for i in range(dimension):
        kind[offset[:n] + i] = S.POSITION
    kind[offset[-1] : offset[-1] + len(nodes.scalars)] = S.POSITION
    kind[offset[-1] + np.array([*nodes.states], np.int64)] = S.STATE
    turning = np.flatnonzero(nodes.rotational)
    rotations = (offset[turning][:, None] + dimension + np.arange(nrot)).astype(np.int32).reshape(-1, nrot)
    kind[rotations] = S.ROTATION
    positions, states = (np.flatnonzero(kind == wanted).astype(np.int32) for wanted in (S.POSITION, S.STATE))
    return kind, rotations, positions, states, np.ones(N)


def _prescribed(
    nodes: Nodes, offset: np.ndarray, fixed: np.ndarray, driven: list[tuple[int, int, int, Owner]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the dofs that are fixed, ascending, and those that are driven, in the order given.

    Raises:
        ModelError: a dof is both, or driven twice.
    """
    fixed_dofs = np.unique(offset[fixed[:, 0]] + fixed[:, 1]) if len(fixed) else np.empty(0, np.int64)
    driven_dofs = np.array([offset[d[0]] + d[1] for d in driven], np.int32)
    for owner, dof in zip([d[3] for d in driven], driven_dofs, strict=True):
        if dof in fixed_dofs:
            node = int(np.searchsorted(offset, dof, side="right") - 1)
            raise ModelError(
                f'node "{nodes.names[node]}" is already held in this direction',
                owner=owner,
                remedy="remove the support or the motion",
            )
        if np.count_nonzero(driven_dofs == dof) > 1:
            node = int(np.searchsorted(offset, dof, side="right") - 1)
            raise ModelError(
                f'node "{nodes.names[node]}" is already driven in this direction by another motion',
                owner=owner,
                remedy="keep one of them",
            )
    return fixed_dofs, driven_dofs


def _equations(
    blocks: list[Block], N: int, prescribed: tuple[np.ndarray, ...], followers: np.ndarray, stepping: bool
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the equation (N,) of each dof, -1: none, the dof (n_eq,) of each equation, and the half-bandwidth.

    ``prescribed``: dofs that are fixed, that are driven, and multipliers that do not act.
    """
    free = np.ones(N, bool)
    free[-1] = False  # the dummy entry
    for dofs in (*prescribed, followers[:, 0]):
        free[dofs] = False
    n_eq = int(free.sum())
    equation = np.full(N, -1, np.int32)
    equation[free] = np.arange(n_eq)
    equation[followers[:, 0]] = equation[followers[:, 1]]
    place, band = _order(equation, blocks, n_eq) if stepping else (np.arange(n_eq), n_eq)
    equation[free] = place
    equation[followers[:, 0]] = equation[followers[:, 1]]
    unknown = np.empty(n_eq, np.int32)
    unknown[place] = np.flatnonzero(free)
    return equation, unknown, band


def _places(
    tables: list[np.ndarray], n_eq: int, band: int
) -> tuple[tuple[np.ndarray, np.ndarray] | None, np.ndarray, np.ndarray]:
    """Return the pattern of the step's matrix, the place of every element matrix entry, and those of the diagonal.

    Args:
        tables: equations (n, m) of the elements' dofs, one table per block.
        band: half-bandwidth of a banded matrix, which needs no pattern; -1: compressed columns.

    Raises:
        ModelError: the matrix has more entries than 32-bit indices count.
    """
    if band >= 0:
        width, pattern = 3 * band + 1, None
        entries = n_eq * width
        slots = [band_slots(eq, n_eq, band) for eq in tables]
        diagonal = np.arange(n_eq, dtype=np.int64) * width + 2 * band
    else:
        indptr, indices = matrix_pattern(n_eq, tables)
        entries = indices.size
        pattern = (indptr.astype(np.int32), indices)
        slot, diagonal = element_slots(indptr, indices, tables)
        slots = [slot]
    if entries >= 2**31 - 1:
        raise ModelError(
            f"its matrix has {entries} entries, more than 32-bit indices can count",
            owner=Owner("Model"),
            remedy="split the model",
        )
    return pattern, _flat(slots, np.int32), diagonal


def _table(blocks: list[Block]) -> np.ndarray:
    """Return sizes and places in the flat arrays (blocks, N_TABLE), except those of parameters and links."""
    table = np.zeros((len(blocks), S.N_TABLE), np.int64)
    at = dict.fromkeys((S.O_DOF, S.O_ROT, S.O_HIST, S.O_SLOT, S.O_WATCH), 0)
    for row, block in zip(table, blocks, strict=True):
        t, size = block.type, block.size
        row[S.N_EL], row[S.N_LOC], row[S.N_END] = size, t.local_dofs, t.ends
        row[S.N_HIST], row[S.N_OUT] = t.hist, len(t.outputs)
        row[S.O_OUT], row[S.O_EL], row[S.WATCHED] = block.first_output, block.first_element, block.watched
        row[S.INERTIA], row[S.O_ALONG], row[S.N_WATCH] = t.inertia, -1, t.watched
        for column, step in (
            (S.O_DOF, size * t.local_dofs),
            (S.O_ROT, size * t.ends),
            (S.O_HIST, size * t.hist),
            (S.O_SLOT, size * t.local_dofs**2),
            (S.O_WATCH, size * t.watched),
        ):
            row[column] = at[column]
            at[column] += step
    return table


def _flat(arrays: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    """Return all entries of some arrays one after the other."""
    return np.concatenate([np.empty(0, dtype), *[np.ravel(a) for a in arrays]]).astype(dtype, copy=False)


def _length(nodes: Nodes, blocks: list[Block]) -> float:
    """Return the size of a model [m]: the diagonal of its nodes' box; for a single point, the extent of its joints."""
    span = nodes.x.max(axis=0) - nodes.x.min(axis=0) if len(nodes.x) else np.zeros(1)
    length = float(np.linalg.norm(span))
    if length > 0.0:
        return length
    joints = [np.abs(b.par) for b in blocks if b.type.multipliers]
    return max([float(par[np.isfinite(par)].max(initial=0.0)) for par in joints] or [1.0])


def _along(blocks: list[Block], table: np.ndarray) -> np.ndarray:
    """Return the elements that act along beams (n, 6), and write to ``table`` where the forces on the beams of a block
    begin.

    A row holds block and first element of the beams, block, first element and number of the acting elements, and their
    first local dof.
    """
    links = []
    size = 0
    for b, block in enumerate(blocks):
        if not block.type.sections:
            continue
        places = {name: (first, last) for name, first, last in block.groups}
        found = [
            (b, places[name][0], s, first, last - first, dof)
            for s, source in enumerate(blocks) for first, last, name, dof in source.along
            if name in places and last - first == places[name][1] - places[name][0]
        ]  # fmt: skip
        if found:
            links += found
            table[b, S.O_ALONG] = size
            size += block.size * block.type.node_dofs
    return np.array(links, np.int64).reshape(-1, 6)


def _continua(blocks: list[Block], offset: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return connected parts of plane and solid elements: where the nodes of each begin, and the first dofs of all."""
    first, last = [], []
    for block in blocks:
        if block.type.prestress is not None and block.type.ends > 2 and not block.type.rotational:
            first.append(np.repeat(block.nodes[:, 0], block.type.ends - 1))
            last.append(block.nodes[:, 1:].ravel())
    if not first:
        return np.zeros(1, np.int32), np.zeros(0, np.int32)
    a, b = np.concatenate(first), np.concatenate(last)
    graph = coo_matrix((np.ones(a.size, np.int8), (a, b)), shape=(n, n))
    _, part = connected_components(graph, directed=False)
    nodes = np.unique(np.concatenate((a, b)))
    nodes = nodes[np.argsort(part[nodes], kind="stable")]
    _, begin = np.unique(part[nodes], return_index=True)
    return np.append(begin, nodes.size).astype(np.int32), offset[nodes].astype(np.int32)


def _followers(shared: np.ndarray | None, offset, dimension: int, nrot: int, N: int) -> np.ndarray:
    """Return dofs (n, 2) that share an unknown: the one without an equation, and the one that has it."""
    if shared is None or not len(shared):
        return np.zeros((0, 2), np.int64)
    a, b = [], []
    for kind, first, count in ((0, 0, dimension), (1, dimension, nrot)):
        pairs = shared[shared[:, 2] == kind]
        for i in range(first, first + count):
            a.append(offset[pairs[:, 0]] + i)
            b.append(offset[pairs[:, 1]] + i)
    rows, cols = np.concatenate(a), np.concatenate(b)
    _, part = connected_components(coo_matrix((np.ones(rows.size), (rows, cols)), shape=(N, N)), directed=False)
    touched = np.unique(np.concatenate((rows, cols)))
    leader = np.full(N, N, np.int64)
    np.minimum.at(leader, part[touched], touched)
    lead = leader[part[touched]]
    return np.column_stack((touched, lead))[touched != lead]
