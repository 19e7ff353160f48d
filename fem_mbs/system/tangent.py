"""Residual, stiffness, damping, mass and constraints of a compiled model at one state.

Whatever is not a step of the compiled loop gets its matrices here: starts, linear steps, stability, reduction, prints.
Stiffness, mass and damping are the same tangent with other weights in the control values (`control`), so all have one
pattern, found once, and element matrices are never held all at a time.  Other parameters are an overlay
(`Compiled.with_parameters`), which the pattern serves too (`Matrices.of`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from weakref import ref

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from fem_mbs import contract as C
from fem_mbs.solvers.stepping.pattern import add_entries, element_slots, matrix_pattern
from fem_mbs.solvers.stepping.stepper import State
from fem_mbs.system.callbacks import serve
from fem_mbs.system.compile import Block, Compiled

__all__ = ["Matrices", "Picked", "constraint_rows", "control", "function_table", "matrices_of"]

_TILE = 1 << 22  # entries of element matrices at a time
_ROUND_OFF = 1e-13  # of opposite entries of element matrices, over the largest entry of the matrix


def control(
    stiffness: float = 0.0,
    damping: float = 0.0,
    mass: float = 0.0,
    gravity: Sequence[float] | np.ndarray = (),
    *,
    joints: float | None = None,
    h: float = 1.0,
    factor: float = 1.0,
    rule: float = C.ONE_STATE,
    decay: float = 0.0,
) -> np.ndarray:
    """Control values (N_CTL,) with which elements give the residual and a tangent.

    At one state the tangent is stiffness/2 K + damping C + mass M: K needs ``stiffness`` = 2, since the state is both
    ends of the step (`fem_mbs.contract`).

    Args:
        gravity: (dimension,) [m/s^2].
        joints: in place of ``stiffness`` for the share of joint forces in K.
        h: length of a step [s].
        factor: of the momentum rows.
        rule: ONE_STATE or TWO_STATE.
        decay: damping [s] that the rule adds to that of elements.
    """
    ctl = np.zeros(C.N_CTL)
    ctl[C.H], ctl[C.SF], ctl[C.SK], ctl[C.RULE] = h, factor, factor * stiffness, rule
    ctl[C.TWO] = stiffness if joints is None else joints
    ctl[C.WV], ctl[C.WA], ctl[C.DECAY] = damping, mass, decay
    ctl[C.GX : C.GX + len(gravity)] = gravity
    return ctl


def function_table(values: np.ndarray) -> np.ndarray:
    """Values (n_fun,) of the time functions as kernels take them, (n_fun, 3): the same at all times of a step."""
    fun = np.zeros((max(len(values), 1), 3))
    fun[: len(values)] = values[:, None]
    return fun


def constraint_rows(compiled: Compiled, ctl, fun, state: State, scaled: bool = False) -> csr_matrix:
    """Jacobian (m, N) of the joints' constraints with respect to increments and spins at a state.

    Args:
        scaled: rows have the scales of their multipliers, as in a tangent; without, they are those of the constraints.
    """
    first = compiled.first_multiplier
    rows, cols, values = [np.empty(0, int)], [np.empty(0, int)], [np.empty(0)]
    joints = [b for b in compiled.blocks if b.type.multipliers]
    for block, _fe, ke in compiled.element_arrays(C.TANGENT, ctl, fun, state, joints):
        nd = block.type.node_dofs
        m = block.dof[:, nd:] - first
        G = ke[:, nd:, :nd]
        rows.append(np.repeat(m, nd, axis=1).ravel())
        cols.append(np.tile(block.dof[:, None, :nd], (1, m.shape[1], 1)).ravel())
        values.append((G if scaled else G / block.par[:, block.type.scale][:, None, None]).ravel())
    place = np.concatenate(rows), np.concatenate(cols)
    return csr_matrix((np.concatenate(values), place), shape=(compiled.n_dof - 1 - first, compiled.n_dof))


def matrices_of(compiled: Compiled) -> Matrices:
    """What assembles the matrices of a compiled model; as long as anybody keeps it, it is made once."""
    made = compiled.assembler() if compiled.assembler is not None else None
    if made is None:
        made = Matrices(compiled)
        compiled.assembler = ref(made)
    return made.of(compiled)


class Picked:
    """Some elements of a compiled model, as `Matrices` take them: the numbering is that of the whole.

    ``picks``: numbers of blocks with the elements (k,) of each; ``par``: parameters (k, n_par) instead of the model's
    own, for some of these.
    """

    def __init__(
        self, compiled: Compiled, picks: Sequence[tuple[int, np.ndarray]], par: dict[int, np.ndarray] | None = None
    ):
        self.n_dof, self.sink, self.callbacks = compiled.n_dof, compiled.sink, compiled.callbacks
        self.blocks: list[Block] = []
        self._histories = {}
        for number, (i, elements) in enumerate(picks):
            whole = compiled.blocks[i]
            block = copy(whole)
            block.groups, block.nodes = [(whole.type.name, 0, len(elements))], whole.nodes[elements]
            block.par = np.ascontiguousarray(whole.par[elements] if par is None or number not in par else par[number])
            block.dof, block.rot = np.ascontiguousarray(whole.dof[elements]), np.ascontiguousarray(whole.rot[elements])
            self.blocks.append(block)
            self._histories[id(block)] = compiled.block_history(whole)[elements]

    def block_history(self, block: Block) -> np.ndarray:
        return self._histories[id(block)]


class Matrices:
    """Assembles forces (N,) and tangents (N, N) over all dofs of a model, prescribed ones and multipliers included.

    The last row and column are those of the sink, and empty.
    """

    def __init__(self, compiled: Compiled | Picked):
        self.compiled = compiled
        n = compiled.n_dof
        tables = [np.where(block.dof == compiled.sink, -1, block.dof) for block in compiled.blocks]
        self._indptr, self._indices = matrix_pattern(n, tables)
        self._slot, _ = element_slots(self._indptr, self._indices, tables)
        sizes = [block.size * block.type.local_dofs**2 for block in compiled.blocks]
        self._first = np.concatenate(([0], np.cumsum(sizes)))
        #: Whether opposite entries of element matrices of the last tangent differed.
        self.skewed = False
        self._cut: tuple | None = None

    def of(self, compiled: Compiled) -> Matrices:
        """The same pattern for a compiled model of the same numbering, as `Compiled.with_parameters` makes them."""
        if compiled is self.compiled:
            return self
        other = copy(self)
        other.compiled = compiled
        return other

    def tiles(self, job: int, ctl, fun, state: State, blocks: Sequence[Block] | None = None) -> Iterator:
        """(block, first, last, fe (k, m), ke (k, m, m)) of elements first ... last - 1; the arrays are used again."""
        for block in self.compiled.blocks if blocks is None else blocks:
            m = block.type.local_dofs
            step = max(1, _TILE // (m * m))
            hist = self.compiled.block_history(block)
            if "callback" in block.type.par:
                serve(block, hist, self.compiled.callbacks, ctl, fun, state)
            fe = np.zeros((min(step, block.size), m))
            ke = np.zeros((min(step, block.size), m, m))
            for first in range(0, block.size, step):
                last = min(first + step, block.size)
                block.type.force(
                    job, first, last, ctl, block.par, block.dof, block.rot, hist, fun,
                    state.Q, state.D, state.V, state.DD, state.U, fe, ke,
                )  # fmt: skip
                yield block, first, last, fe[: last - first], ke[: last - first]

    def tangent(self, ctl, fun, state: State, blocks: Sequence[Block] | None = None) -> tuple[np.ndarray, csr_matrix]:
        """Residual (N,) and tangent (N, N) of these blocks (all, if None)."""
        n = self.compiled.n_dof
        r, values = np.zeros(n), np.zeros(self._indices.size)
        index = {id(block): i for i, block in enumerate(self.compiled.blocks)}
        skew = 0.0
        for block, first, last, fe, ke in self.tiles(C.TANGENT, ctl, fun, state, blocks):
            r += np.bincount(block.dof[first:last].ravel(), fe.ravel(), n)
            m = block.type.local_dofs
            at = self._first[index[id(block)]] + first * m * m
            skew = max(skew, add_entries(ke, self._slot[at : at + (last - first) * m * m], values))
        r[self.compiled.sink] = 0.0
        largest = max(values.max(initial=0.0), -values.min(initial=0.0))  # (no copy: there are many)
        self.skewed = skew > _ROUND_OFF * largest
        if self.skewed:
            return r, csr_matrix(csc_matrix((values, self._indices, self._indptr), shape=(n, n)))
        # opposite places exist in pairs, so that columns of a symmetric matrix are its rows
        return r, csr_matrix((values, self._indices, self._indptr), shape=(n, n))

    def submatrix(self, A: csr_matrix, dofs: np.ndarray) -> csr_matrix:
        """Rows and columns of ascending ``dofs`` of a matrix (N, N)."""
        if A.nnz != self._indices.size or not np.array_equal(A.indices, self._indices):
            return A[dofs][:, dofs]
        if self._cut is None or not np.array_equal(dofs, self._cut[0]):
            number = np.full(self.compiled.n_dof, -1, np.int32)
            number[dofs] = np.arange(dofs.size)
            rows = np.repeat(number, np.diff(self._indptr))
            keep = (rows >= 0) & (number[self._indices] >= 0)
            indptr = np.concatenate(([0], np.cumsum(np.bincount(rows[keep], minlength=dofs.size))))
            self._cut = (dofs, keep, number[self._indices[keep]], indptr)
        _, keep, indices, indptr = self._cut
        return csr_matrix((A.data[keep], indices, indptr), shape=(dofs.size, dofs.size))

    def force(self, ctl, fun, state: State, blocks: Sequence[Block] | None = None) -> np.ndarray:
        """Residual (N,) alone."""
        r = np.zeros(self.compiled.n_dof)
        for block, first, last, fe, _ in self.tiles(C.FORCE, ctl, fun, state, blocks):
            r += np.bincount(block.dof[first:last].ravel(), fe.ravel(), r.size)
        r[self.compiled.sink] = 0.0
        return r
