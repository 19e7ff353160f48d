"""Which parts of a contact may touch: pairs are found in a run, as the parts move.

A block of pairs has room for more elements than there are; the first of its rows hold the pairs of parts that are near
each other, the rest does nothing.  The pairs are those within reach at a state, plus a margin: they serve until a node
has moved by the margin.  Then they are found anew, and the places of the block's entries in the matrix with them.

The pairs of a step must serve its start and every iterate of its end.  They depend on the places at which they were
found alone, which restart points hold, so runs that go on from one have the same pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field
from typing import Any
from weakref import ref

import numpy as np

from fem_mbs.errors import AnalysisError, Owner
from fem_mbs.late import dataclass
from fem_mbs.solvers.distinct import distinct
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.solvers.stepping.pattern import band_slots, element_slots, matrix_pattern
from fem_mbs.system.blocks import held_ranges, number_ends

__all__ = ["Pairing", "has_pairs", "pair_up", "pairs_serve", "restore_pairs", "snapshot_pairs"]

_FAR = 10.0  # displacement in a step over the model's size, beyond which an iterate is not searched for pairs


@dataclass(eq=False, kw_only=True)
class Pairing(ABC):
    """The parts of a contact, and which of them are paired at present.

    Attributes:
        owner: what messages name.
        a, b: (n, k) nodes of both sets of parts.
        reach: sum of both radii [m].
        margin: by which a node may move until pairs are found anew [m].
        size: number of present pairs.
        dofs: (k, dim) of all nodes of the parts.
        found_at: (k, dim) where these nodes were when the pairs were found [m].
        allowed: how far they may be from there [m].
        of: weak reference to the compiled model whose matrix has places for the pairs.
    """

    owner: Owner
    a: np.ndarray
    b: np.ndarray
    reach: float
    margin: float
    size: int = 0
    dofs: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    found_at: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    allowed: float = 0.0
    of: Any = None

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """Return the data on which results depend, for a fingerprint."""
        return self.a, self.b, np.array([self.reach, self.margin])

    @abstractmethod
    def pairs(self, x: np.ndarray, y: np.ndarray, margin: float) -> np.ndarray:
        """Return pairs (m, 2) of parts that may touch while no node moves by more than the margin, in order.

        Args:
            x, y: (n_a, k, dim), (n_b, k, dim) positions of the nodes of both sets [m].
        """

    @abstractmethod
    def gaps(self, x: np.ndarray, y: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """Return the gaps (m,) [m] of pairs (m, 2), of positions as of `pairs`."""

    @abstractmethod
    def columns(self, pairs: np.ndarray) -> dict[str, np.ndarray]:
        """Return the columns of the elements of pairs (m, 2) that say their shape."""

    def centres(self, y: np.ndarray) -> np.ndarray:
        """Return the points (n_b, k, dim) of the parts b that touch, from the positions y (n_b, k, dim) of their
        nodes."""
        return y

    def distinct(self, pairs: np.ndarray) -> np.ndarray:
        """Return which pairs (m, 2) of parts can be in contact, (m,) bool: those that share no node."""
        i, j = pairs.T
        return np.asarray(~(self.a[i][:, :, None] == self.b[j][:, None, :]).any(axis=(1, 2)))

    def renumbered(self, number: Any) -> None:
        """Give the nodes other numbers, ``number(nodes)``."""
        self.a, self.b = number(self.a), number(self.b)


def has_pairs(compiled: Any) -> bool:
    """Return whether a compiled model has blocks of pairs."""
    return any(block.pairing is not None for block in compiled.blocks)


def _places(compiled: Any, Q: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return the positions (n, k, dim) of nodes (n, k)."""
    return Q[compiled.offset[nodes][:, :, None] + np.arange(compiled.dimension)]


def pairs_serve(compiled: Any, state: S.State, static: bool = False) -> bool:
    """Return whether the pairs serve the start of a step, which does not count in statics, and the present iterate of
    its end."""
    for block in compiled.blocks:
        if block.pairing is None:
            continue
        pairing = block.pairing
        if pairing.of is None or pairing.of() is not compiled:
            return False
        for row in (1,) if static else (1, 0):
            if _largest(state.Q[row], pairing.found_at, pairing.dofs) <= pairing.allowed:
                continue
            if row == 0 or _near(compiled, state, pairing):
                return False
    return True


def _largest(Q: np.ndarray, places: np.ndarray, dofs: np.ndarray) -> float:
    """Return the largest distance of nodes with ``dofs`` (k, dim) from places (k, dim)."""
    moved = Q[dofs] - places
    return float(np.sqrt(np.einsum("ni,ni->n", moved, moved).max(initial=0.0)))


def _near(compiled: Any, state: S.State, pairing: Pairing) -> bool:
    """Return whether the present iterate is near enough to the start of the step to be searched for pairs."""
    return _largest(state.Q[1], state.Q[0][pairing.dofs], pairing.dofs) < _FAR * compiled.length


def pair_up(compiled: Any, state: S.State, static: bool = False) -> None:
    """Find the pairs of all blocks at the start of the step, in statics at the present iterate, and the places of the
    matrix's entries.

    Raises:
        AnalysisError: more parts are near each other than there is room for.
    """
    for number, block in enumerate(compiled.blocks):
        pairing: Pairing | None = block.pairing
        if pairing is None:
            continue
        nodes = distinct(np.concatenate((pairing.a.ravel(), pairing.b.ravel())))
        pairing.dofs = compiled.offset[nodes][:, None] + np.arange(compiled.dimension)
        near = _near(compiled, state, pairing)
        Q = state.Q[1 if static and near else 0]
        start = Q[pairing.dofs]
        step = _largest(state.Q[1], start, pairing.dofs) if near else 0.0
        pairing.found_at, pairing.allowed = start, max(pairing.margin, 1.5 * step)
        _fill(compiled, number, block, state, Q)
    _place(compiled)


def snapshot_pairs(compiled: Any) -> dict[str, np.ndarray]:
    """Return where the pairs were found, for a restart point."""
    found = {}
    for number, block in enumerate(compiled.blocks):
        if block.pairing is not None:
            found[f"pairs {number}"] = np.append(block.pairing.found_at.ravel(), block.pairing.allowed)
    return found


def restore_pairs(compiled: Any, state: S.State, data: dict[str, np.ndarray]) -> None:
    """Find the pairs that a run had at a restart point."""
    pair_up(compiled, state)
    for number, block in enumerate(compiled.blocks):
        if block.pairing is not None:
            pairing, Q = block.pairing, state.Q[0].copy()
            *places, pairing.allowed = data[f"pairs {number}"]
            Q[pairing.dofs] = pairing.found_at = np.reshape(places, pairing.dofs.shape)
            _fill(compiled, number, block, state, Q)
    _place(compiled)


def _fill(compiled: Any, number: int, block: Any, state: S.State, Q: np.ndarray) -> None:
    """Write the pairs of parts at the coordinates Q (N,) to the rows of a block."""
    pairing: Pairing = block.pairing
    x, y = (_places(compiled, Q, of) for of in (pairing.a, pairing.b))
    pairs = pairing.pairs(x, y, pairing.allowed)
    count = len(pairs)
    if count > block.size:
        raise AnalysisError(
            f"{pairing.owner}: {count} pairs of its parts are near each other, and it has room for {block.size}; give "
            f"it more by pairs = {2 * count}"
        )
    ends = np.hstack((pairing.a[pairs[:, 0]], pairing.b[pairs[:, 1]]))
    table, nodes = compiled.system.table[number], compiled.nodes
    block.dof[:], block.rot[:] = compiled.dummy, int(nodes.rotational.sum())
    number_ends(block.type, ends, nodes, compiled.offset, compiled.rot_row, block.dof[:count], block.rot[:count])
    for values, at, of in ((compiled.system.dof, S.O_DOF, block.dof), (compiled.system.rot, S.O_ROT, block.rot)):
        values[table[at] :][: of.size] = of.ravel()
    block.par[:, block.type.column("active")] = 0.0
    block.par[:count, block.type.column("active")] = 1.0
    block.par[:count, block.type.column("part a")] = pairs[:, 0]
    block.par[:count, block.type.column("part b")] = pairs[:, 1]
    for name, values in pairing.columns(pairs).items():
        block.par[:count, block.type.column(name)] = values
    outputs = state.out[table[S.O_OUT] :][: block.size * len(block.type.outputs)].reshape(block.size, -1)
    outputs[:] = 0.0
    outputs[count:, block.type.quantities.index("gap")] = np.inf
    state.energy[table[S.O_EL] :][: block.size] = 0.0
    table[S.N_EL] = count
    pairing.size, pairing.of = count, ref(compiled)


def _place(compiled: Any) -> None:
    """Find the places of the entries of element matrices in the matrix, with those of the present pairs."""
    system, equation = compiled.system, compiled.system.equation
    compiled.assembler = None
    compiled.system = system._replace(holding=held_ranges(compiled.blocks, equation))
    tables = [equation[b.dof if b.pairing is None else b.dof[: b.pairing.size]] for b in compiled.blocks]
    if compiled.banded:  # the band is as wide as the matrix: every entry has its place
        for block, eq, row in zip(compiled.blocks, tables, system.table, strict=True):
            if block.pairing is not None:
                slots = band_slots(eq, compiled.n_equations, compiled.bandwidth)
                system.slot[row[S.O_SLOT] : row[S.O_SLOT] + slots.size] = slots
    elif compiled.pattern is not None:
        indptr, indices = matrix_pattern(compiled.n_equations, tables)
        slots, compiled.diagonal = element_slots(indptr, indices, tables)
        compiled.pattern = (indptr.astype(np.int32), indices)
        at = 0
        for eq, row in zip(tables, system.table, strict=True):
            size = eq.size * eq.shape[1]
            system.slot[row[S.O_SLOT] : row[S.O_SLOT] + size] = slots[at : at + size]
            at += size
