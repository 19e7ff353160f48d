"""Dense matrices of a small model at many states at once.

`DenseTangents` gives the same matrices as `fem_mbs.system.tangent.Tangent`, one for each state, as dense arrays.  One
call evaluates a block at all states, and one product with a sparse matrix of zeros and ones adds the entries of its
elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs import contract as C
from fem_mbs.solvers.many_states import States, evaluate
from fem_mbs.system.blocks import Block
from fem_mbs.system.callbacks import serve
from fem_mbs.system.compiled import Compiled, prepare
from fem_mbs.system.rate_stiffness import rate_derivatives
from fem_mbs.system.states import rates_of_directors
from fem_mbs.system.tangent import control, velocity_dependent

__all__ = ["DenseAssembly", "DenseTangents", "states_of"]


def states_of(
    compiled: Compiled, Q: np.ndarray, D: np.ndarray, V: np.ndarray, A: np.ndarray, values: np.ndarray
) -> States:
    """Return s states as element kernels take them: both ends of a step are the same instant.  Multipliers come from Q.

    Args:
        Q, V, A: (s, N) coordinates, velocities, accelerations, as in a state.
        D: (s, nr, w) directors.
        values: (s, n_fun) values of the time functions.
    """
    first = compiled.first_multiplier
    twice = [np.repeat(a[:, None], 2, axis=1) for a in (Q, D)]
    rates = np.stack((V, V, A), axis=1)
    U = np.zeros(Q.shape)
    U[:, first:-1] = Q[:, first:-1]
    fun = np.zeros((len(Q), max(values.shape[1], 1), 3))
    fun[:, : values.shape[1]] = values[:, :, None]
    found = States(twice[0], twice[1], rates, rates_of_directors(compiled, twice[1], rates), U, fun)
    return States(*map(np.ascontiguousarray, found))


class DenseAssembly:
    """Assembly of element vectors and matrices over all dofs except the dummy one, N - 1.

    Entries of constraints that do not act are left out.
    """

    def __init__(self, compiled: Compiled) -> None:
        self.compiled, self.size = compiled, compiled.n_dof - 1
        prepare(compiled.blocks, reports=True)
        place = np.arange(compiled.n_dof)
        place[compiled.dummy] = -1
        place[compiled.first_multiplier : -1][compiled.silent] = -1
        self._rows: dict[int, csr_matrix] = {}
        self._entries: dict[int, csr_matrix] = {}
        for block in compiled.blocks:
            at = place[block.dof]
            self._rows[id(block)] = _selection(at, at >= 0, self.size)
            both = at[:, :, None] * self.size + at[:, None, :]
            there = (at[:, :, None] >= 0) & (at[:, None, :] >= 0)
            self._entries[id(block)] = _selection(both, there, self.size**2)

    def vectors(self, block: Block, fe: np.ndarray) -> np.ndarray:
        """Return the assembled vectors (s, N - 1) of a block from its element vectors fe (s, n, m)."""
        return (self._rows[id(block)] @ fe.reshape(len(fe), -1).T).T

    def matrices(self, block: Block, ke: np.ndarray) -> np.ndarray:
        """Return the assembled matrices (s, N - 1, N - 1) of a block from its element matrices ke (s, n, m, m)."""
        return (self._entries[id(block)] @ ke.reshape(len(ke), -1).T).T.reshape(len(ke), self.size, self.size)


def _selection(place: np.ndarray, there: np.ndarray, size: int) -> csr_matrix:
    """Return the matrix (size, n) of zeros and ones that adds n entries to their places.

    ``place``: place of each entry; ``there``: whether the entry is assembled; both of n entries in total.
    """
    from_ = np.flatnonzero(there)
    return csr_matrix((np.ones(from_.size), (place[there], from_)), shape=(size, place.size))


class DenseTangents:
    """Forces (s, N - 1) and matrices (s, N - 1, N - 1) of a model at many states; see `Tangent`.

    Args:
        gravity: (dimension,) [m/s^2].
    """

    def __init__(self, assembly: DenseAssembly, states: States, gravity: np.ndarray) -> None:
        self.assembly, self.states, self.gravity = assembly, states, gravity
        self.compiled = assembly.compiled
        self.moving = bool(np.any(states.V))

    def under(self, states: States) -> DenseTangents:
        """Return forces and matrices of the same model at other states."""
        return DenseTangents(self.assembly, states, self.gravity)

    def control(self, stiffness: float = 0.0, damping: float = 0.0, mass: float = 0.0) -> np.ndarray:
        """Return the control values of kernels, with the gravity; see `fem_mbs.system.tangent.control`."""
        return control(stiffness, damping, mass, self.gravity)

    def force(self, blocks: Sequence[Block] | None = None, ctl: np.ndarray | None = None) -> np.ndarray:
        """Return the forces (s, N - 1) of these blocks (all, if None) that are out of balance, gaps included.

        Args:
            ctl: control values; None: those of instants.
        """
        if ctl is None:
            ctl = self.control(2.0, mass=1.0 if self.moving else 0.0)
        total = np.zeros((len(self.states.Q), self.assembly.size))
        for block in self.compiled.blocks if blocks is None else blocks:
            total += self.assembly.vectors(block, self._elements(block, ctl)[0])
        return total

    def tangent(self, ctl: np.ndarray, blocks: Sequence[Block], states: States | None = None) -> np.ndarray:
        """Return the tangents (s, N - 1, N - 1) of these blocks under control values, at ``states`` (None: the own
        ones)."""
        total = np.zeros((len(self.states.Q), self.assembly.size, self.assembly.size))
        for block in blocks:
            total += self.assembly.matrices(block, self._elements(block, ctl, True, states)[1])
        return total

    def outputs(self, number: int) -> np.ndarray:
        """Return the outputs (s, n, n_out) of the elements of the block ``number``, without forces along beams."""
        block = self.compiled.blocks[number]
        tables = (block.par, block.dof, block.rot, self.compiled.block_history(block).copy())
        width = len(block.type.outputs)
        return evaluate(block.type.report, C.OUTPUT, self.control(2.0), tables, self.states, width)[0]

    def _elements(
        self, block: Block, ctl: np.ndarray, tangent: bool = False, states: States | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        states, hist = self.states if states is None else states, self.compiled.block_history(block)
        job, m = C.TANGENT if tangent else C.FORCE, block.type.local_dofs
        tables = (block.par, block.dof, block.rot, hist)
        if "callback" not in block.type.par:
            return evaluate(block.type.force, job, ctl, tables, states, m, tangent)
        found = []
        for i in range(len(states.Q)):
            one = States(*(a[i : i + 1] for a in states))
            serve(block, hist, self.compiled.callbacks, ctl, one.fun[0], _single(self.compiled, one))
            found.append(evaluate(block.type.force, job, ctl, tables, one, m, tangent))
        return np.concatenate([fe for fe, _ in found]), np.concatenate([ke for _, ke in found])

    # --- matrices --------------------------------------------------------------------------------------------------
    @cached_property
    def M(self) -> np.ndarray:
        """Return the symmetric mass matrices (s, N - 1, N - 1)."""
        s = self.states
        resting = s._replace(V=np.zeros_like(s.V), DD=np.zeros_like(s.DD))
        M = self.tangent(control(mass=1.0), [b for b in self.compiled.blocks if b.type.inertia], resting)
        return 0.5 * (M + M.swapaxes(1, 2))

    @cached_property
    def damped(self) -> tuple[np.ndarray, np.ndarray]:
        """Return C and K (s, N - 1, N - 1); K has the constraints in the rows and columns of their multipliers."""
        blocks = self.compiled.blocks
        if not self.moving:
            return self._damping(blocks), self.tangent(self.control(2.0), blocks)
        others = [b for b in blocks if not b.type.inertia]
        C_, K = self._inertial()
        C_ += self._damping(others)
        K += self.tangent(self.control(2.0), others)
        for block in velocity_dependent(others):
            hist = self.compiled.block_history(block)
            more = rate_derivatives(self.compiled, block, self.control(2.0), self.states, hist, self._speed)
            if more is not None:
                K += self.assembly.matrices(block, more)
        return C_, K

    @cached_property
    def _speed(self) -> float:
        """Return a typical angular velocity [rad/s], one for all states; 1 at rest."""
        arrays, V = self.compiled.system, self.states.V[:, 0]
        turning = float(np.abs(V[:, arrays.rotations]).max(initial=0.0)) if arrays.rotations.size else 0.0
        return max(turning, float(np.abs(V[:, arrays.positions]).max(initial=0.0)) / self.compiled.length) or 1.0

    def _damping(self, blocks: Sequence[Block]) -> np.ndarray:
        """Return the contribution of blocks without inertia to C; see `Tangent.damping`."""
        damped = velocity_dependent(blocks)
        if not damped:
            return np.zeros((len(self.states.Q), self.assembly.size, self.assembly.size))
        plus, minus = (self.tangent(self.control(2.0, damping=a), damped) for a in (1.0, -1.0))
        found = 0.5 * (plus - minus)
        size = np.abs(found).max()
        if size > 0.0:
            w = max(np.abs(plus + minus).max() / size, 1.0)
            plus, minus = (self.tangent(self.control(2.0, damping=a * w), damped) for a in (1.0, -1.0))
            found = (plus - minus) / (2.0 * w)
        return found

    def _inertial(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the contributions of inertia forces and weight to C and K; see `Tangent`."""
        w, blocks = self._speed, velocity_dependent([b for b in self.compiled.blocks if b.type.inertia])
        plus, minus, back = (
            self.tangent(self.control(2.0, damping=a * w, mass=b * w * w), blocks)
            for a, b in ((1.0, 1.0), (-1.0, 1.0), (0.0, -1.0))
        )
        C_ = (plus - minus) / (2.0 * w)
        rows = self.compiled.system.rotations
        if self.compiled.dimension == 3 and rows.size:
            s = self.states
            R = s.D[:, 0, : len(rows)].reshape(len(s.Q), -1, 3, 3)
            x, y, z = np.moveaxis(np.einsum("snij,snj->sni", R, s.V[:, 0, rows]), 2, 0)
            none = np.zeros_like(x)
            cross = np.stack((none, -z, y, z, none, -x, -y, x, none), axis=-1).reshape(*x.shape, 3, 3)
            C_[:, :, rows.ravel()] -= np.einsum("sank,snkj->sanj", self.M[:, :, rows], cross).reshape(
                len(C_), C_.shape[1], -1
            )
        return C_, 0.5 * (0.5 * (plus + minus) + back)


def _single(compiled: Compiled, states: States):
    """Return the only state of ``states`` in the form that callbacks of users take."""
    new = compiled.initial_state()
    return new._replace(Q=states.Q[0], D=states.D[0], V=states.V[0], DD=states.DD[0], U=states.U[0])
