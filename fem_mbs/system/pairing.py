"""Which parts of two lines may touch: the pairs of a contact are found in a run, as its parts move.

A block of pairs has room for more elements than there are; the first of its rows hold the pairs of parts that are near
each other, the rest does nothing.  The pairs are those within reach at a state, plus a margin: they serve until a node
has moved by the margin.  Then they are found anew, and the places of the block's entries in the matrix with them.  A
k-d tree over points along the parts finds them (J.L. Bentley, Commun. ACM 18 (1975), 509-517), so the work grows with the
number of parts, not of pairs.

The pairs of a step must serve its start and every iterate of its end.  They depend on the state from which they were
found alone, so runs that go on from a restart point find them anew there, as the run that wrote it did.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from weakref import ref

import numpy as np
from scipy.spatial import cKDTree

from fem_mbs.errors import AnalysisError, Owner
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.solvers.stepping.pattern import band_slots, element_slots, matrix_pattern
from fem_mbs.system.blocks import held_ranges

__all__ = ["Pairing", "has_pairs", "pair_up", "pairs_serve", "segment_distances"]

_WIDTH_OF_BLEND = (0.1, 0.5)  # sine of the angle times length over reach, between which lines become points
_FAR = 10.0  # movement over the model's size, beyond which an iterate says nothing


@dataclass(eq=False)
class Pairing:
    """The parts of a contact, and which of them are paired at present.

    Attributes:
        owner: what messages name.
        a, b: (n, 2) nodes of both sets of parts; a ball has one node twice.
        length_a, length_b: (n,) [m] at the start; 0 of balls.
        ends_a, ends_b: (n, 2) widths over the length in which a part takes turns with its neighbours, 0: free end.
        share_a, share_b: (n,) weight of each node in the contact of lines.
        reach: sum of both radii [m].
        balls: b are balls, whose gap has one term.
        margin: by which a node may move until pairs are found anew [m].
        plane: the model is plane, where axes that are not parallel always cross: lines touch by their nodes.
        same: both sets are the same; each pair counts once.
        line, along, around: then (n,) number of the line of a part, where its middle is along the line [m], and the
            length of a line that is closed, else infinite: parts of a line that are less than ``apart`` [m] from each
            other are no pair.
        size: number of present pairs.
        dofs: (k, dim) of all nodes of the parts.
        found_at: (k, dim) where these nodes were when the pairs were found [m].
        allowed: how far they may be from there [m].
        of: weak reference to the compiled model whose matrix has places for the pairs.
    """

    owner: Owner
    a: np.ndarray
    b: np.ndarray
    length_a: np.ndarray
    length_b: np.ndarray
    ends_a: np.ndarray
    ends_b: np.ndarray
    share_a: np.ndarray
    share_b: np.ndarray
    reach: float
    balls: bool
    margin: float
    plane: bool
    same: bool = False
    apart: float = 0.0
    line: np.ndarray | None = None
    along: np.ndarray | None = None
    around: np.ndarray | None = None
    size: int = 0
    dofs: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    found_at: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    allowed: float = 0.0
    of: Any = None

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """Return what the results depend on, for a fingerprint."""
        lengths, numbers = (self.length_a, self.length_b), np.array([self.reach, self.margin, self.apart])
        return self.a, self.b, *lengths, self.ends_a, self.ends_b, self.share_a, self.share_b, numbers

    def pairs(self, x: np.ndarray, y: np.ndarray, margin: float) -> np.ndarray:
        """Return pairs (m, 2) of parts that may touch while no node moves by more than the margin, in order.

        Args:
            x, y: (n_a, 2, dim), (n_b, 2, dim) positions of the nodes of both sets.
        """
        beyond = max(
            float((self.ends_a * self.length_a[:, None]).max(initial=0.0)),
            float((self.ends_b * self.length_b[:, None]).max(initial=0.0)),
        )
        reach = self.reach + beyond + 2.0 * margin
        lengths = [np.linalg.norm(p[:, 1] - p[:, 0], axis=1) for p in (x, y)]
        spacing = max(reach, float(np.median(np.concatenate(lengths))))
        (first, of_a), (last, of_b) = (_points(p, s, spacing) for p, s in zip((x, y), lengths, strict=True))
        tree = cKDTree(first)
        other = tree if self.same else cKDTree(last)
        distance = reach + spacing  # each point is at most half a spacing from all of its piece
        if self.same:
            found = tree.query_pairs(distance, output_type="ndarray")
            i, j = of_a[found[:, 0]], of_a[found[:, 1]]
            i, j = np.minimum(i, j), np.maximum(i, j)
        else:
            found = tree.sparse_distance_matrix(other, distance, output_type="ndarray")
            i, j = of_a[found["i"]], of_b[found["j"]]
        codes = np.unique(i.astype(np.int64) * len(y) + j)
        i, j = np.divmod(codes, len(y))
        keep = ~(self.a[i][:, :, None] == self.b[j][:, None, :]).any(axis=(1, 2))
        if self.line is not None and self.along is not None and self.around is not None:
            way = np.abs(self.along[i] - self.along[j])
            keep &= (self.line[i] != self.line[j]) | (np.minimum(way, self.around[i] - way) > self.apart)
        i, j = i[keep], j[keep]
        keep = segment_distances(x[i], y[j]) <= reach
        return np.column_stack((i[keep], j[keep]))

    def columns(self, pairs: np.ndarray) -> dict[str, np.ndarray]:
        """Return the columns of the elements of pairs (m, 2) that say their shape."""
        i, j = pairs.T
        longest = np.maximum(self.length_a[i], self.length_b[j])
        sines = [np.minimum(w * self.reach / longest, 0.5 + w) ** 2 for w in _WIDTH_OF_BLEND]
        if self.plane:
            sines = [np.full(len(i), 2.0), np.full(len(i), 3.0)]
        return {
            "active": np.ones(len(i)), "end a1": self.ends_a[i, 0], "end a2": self.ends_a[i, 1],
            "end b1": self.ends_b[j, 0], "end b2": self.ends_b[j, 1], "share a": self.share_a[i],
            "share b": self.share_b[j], "lower sine": sines[0], "upper sine": sines[1], "part a": i.astype(float),
            "part b": j.astype(float),
        }  # fmt: skip

    def renumbered(self, number: Any) -> None:
        """Give the nodes other numbers, ``number(nodes)``."""
        self.a, self.b = number(self.a), number(self.b)


def _points(x: np.ndarray, lengths: np.ndarray, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points along segments x (n, 2, dim), the middles of pieces no longer than ``spacing``, and their
    segments."""
    pieces = np.maximum(np.ceil(lengths / spacing).astype(np.int64), 1)
    of = np.repeat(np.arange(len(x)), pieces)
    number = np.arange(len(of)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    t = ((number + 0.5) / pieces[of])[:, None]
    return (1.0 - t) * x[of, 0] + t * x[of, 1], of


def segment_distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the distances (n,) of segments x, y (n, 2, dim), also of points (both ends alike).

    Source: C. Ericson, Real-Time Collision Detection, Morgan Kaufmann 2005, section 5.1.9.
    """
    u, v, w = x[:, 1] - x[:, 0], y[:, 1] - y[:, 0], y[:, 0] - x[:, 0]
    uu, vv, uv, uw, vw = (np.einsum("ni,ni->n", p, q) for p, q in ((u, u), (v, v), (u, v), (u, w), (v, w)))
    one, two = np.where(uu > 0.0, uu, 1.0), np.where(vv > 0.0, vv, 1.0)
    D = uu * vv - uv * uv
    slant = D > 1e-12 * uu * vv
    s = np.where(slant, np.clip((vv * uw - uv * vw) / np.where(slant, D, 1.0), 0.0, 1.0), 0.0)
    t = np.clip((s * uv - vw) / two, 0.0, 1.0)
    s = np.clip((uw + t * uv) / one, 0.0, 1.0)
    return np.linalg.norm(w + t[:, None] * v - s[:, None] * u, axis=1)


def has_pairs(compiled: Any) -> bool:
    """Return whether a compiled model has blocks of pairs."""
    return any(block.pairing is not None for block in compiled.blocks)


def _places(compiled: Any, Q: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return the positions (n, 2, dim) of nodes (n, 2)."""
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
        dofs, allowed = pairing.dofs, pairing.allowed**2
        for row in (1,) if static else (1, 0):
            moved = state.Q[row][dofs] - pairing.found_at
            largest = float(np.einsum("ni,ni->n", moved, moved).max(initial=0.0))
            if largest > allowed and np.sqrt(largest) < _FAR * compiled.length:
                return False
    return True


def pair_up(compiled: Any, state: S.State, static: bool = False) -> None:
    """Find the pairs of all blocks at the start of the step, in statics at the present iterate, and the places of the
    matrix's entries.

    Raises:
        AnalysisError: more parts are near each other than there is room for.
    """
    for number, block in enumerate(compiled.blocks):
        if block.pairing is not None:
            _fill(compiled, number, block, state, static)
    _place(compiled)


def _fill(compiled: Any, number: int, block: Any, state: S.State, static: bool) -> None:
    """Write the pairs of a block to its rows."""
    pairing: Pairing = block.pairing
    nodes = np.unique(np.concatenate((pairing.a.ravel(), pairing.b.ravel())))
    pairing.dofs = compiled.offset[nodes][:, None] + np.arange(compiled.dimension)
    Q = state.Q[1 if static else 0]
    start, end = Q[pairing.dofs], state.Q[1][pairing.dofs]
    step = float(np.linalg.norm(end - start, axis=1).max(initial=0.0))
    if not step < _FAR * compiled.length:
        step = 0.0  # a diverged iterate
    pairing.found_at, pairing.allowed = start, max(pairing.margin, 1.5 * step)
    x, y = (_places(compiled, Q, of) for of in (pairing.a, pairing.b))
    pairs = pairing.pairs(x, y, pairing.allowed)
    count = len(pairs)
    if count > block.size:
        raise AnalysisError(
            f"{pairing.owner}: {count} pairs of its parts are near each other, and it has room for {block.size}; give "
            f"it more by pairs = {2 * count}"
        )
    ends = np.hstack((pairing.a[pairs[:, 0]], pairing.b[pairs[:, 1]]))
    dim, table = compiled.dimension, compiled.system.table[number]
    block.dof[:] = compiled.dummy
    block.dof[:count] = (compiled.offset[ends][:, :, None] + np.arange(dim)).reshape(count, -1)
    at = table[S.O_DOF]
    compiled.system.dof[at : at + block.dof.size] = block.dof.ravel()
    block.par[:, block.type.column("active")] = 0.0
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
