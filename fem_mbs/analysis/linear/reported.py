"""Reported values of linear steps: values at the state, and their changes by small motions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import proxy

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs import contract as C
from fem_mbs.rotations import rotation_vectors
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.blocks import Block

if TYPE_CHECKING:
    from fem_mbs.analysis.linear.linearised import Linearised

__all__ = ["Reported", "apart"]

#: Of shapes in figures: largest displacement over the size of the model.
_SHAPE = 0.1


class Reported:
    """Quantities that sensors, frames and prints read, at the state of a `Linearised` and about it."""

    def __init__(self, linear: Linearised) -> None:
        # no strong reference back, by which matrices and factors would live until the collector of cycles runs
        self.linear: Linearised = proxy(linear)
        self.system, self.state = linear.system, linear.state

    def shapes(self, vectors: np.ndarray) -> dict[str, np.ndarray]:
        """Return states (k, ...) displaced by mode vectors (N, k), scaled so that the largest displacement is a tenth
        of the model's size (where nothing is displaced: the largest rotation a tenth of a radian)."""
        kind = self.system.system.kind
        Q, D, U = [], [], []
        for x in vectors.T:
            size = np.abs(x[kind == S.POSITION]).max(initial=0.0) / self.system.length
            if size < 1e-6 * np.abs(x).max(initial=0.0):
                size = np.abs(x).max()
            x = _SHAPE / size * x if size > 0.0 else 0.0 * x
            U.append(x)
            if not self.system.nodes.rotational.any():
                Q.append(self.state.Q[0] + x)
                D.append(self.state.D[0])
                continue
            state = self.linear.moved(x)
            Q.append(state.Q[0].copy())
            D.append(state.D[0].copy())
        k, n = len(Q), self.system.n_dof
        return {
            "Q": np.array(Q).reshape(k, n),
            "V": np.zeros((k, n)),
            "D": np.array(D),
            "U": np.array(U).reshape(k, n),  # the displacements themselves
            "out": np.zeros((k, self.state.out.size)),
            "energy": np.zeros((k, self.state.energy.size)),
        }

    @cached_property
    def base(self) -> dict[str, np.ndarray]:
        """Return the reported quantities at the state.

        They are ``Q`` (N,), ``D`` (nr, ...), rotation vectors ``rotation`` (nr, 3) of nodes since the start, outputs
        ``out`` and energies ``energy`` of elements, forces ``reaction`` (N,) of supports, and the ``place`` (N,) with
        which stresses have rotated.  About a preload these are linear values as well: those that the step of the
        preload has reported.
        """
        if self.linear.preload is not None:
            return self.linear.preload.totals
        system = self.system
        out, energy = np.zeros(self.state.out.size), np.zeros(self.state.energy.size)
        for i, table in self.linear.outputs(self.state, self.reporting).items():
            self._place(out, i, table)
        for i, block in self._elastic:
            stored = self.linear.here.ledger(block, 0, block.size)[:, C.STRAIN]
            whole = self.linear.whole_table(i, stored)
            energy[block.first_element : block.first_element + len(whole)] = whole
        turning = np.flatnonzero(system.nodes.rotational)
        rotation = np.zeros((turning.size, 3))
        if system.dimension == 2:
            rotation[:, 2] = self.state.Q[0, system.offset[turning] + 2] - system.nodes.rotation[turning]
        elif turning.size:
            R = self.state.D[0, : turning.size].reshape(-1, 3, 3) @ np.swapaxes(system.nodes.rotation[turning], 1, 2)
            rotation = rotation_vectors(R)
        return {
            "Q": self.state.Q[0], "D": self.state.D[0], "rotation": rotation, "out": out, "energy": energy,
            "reaction": self.linear.held(self.linear.residual), "place": self.state.Q[0],
        }  # fmt: skip

    def _place(self, out: np.ndarray, number: int, table: np.ndarray) -> None:
        """Write the outputs of the elements of a block, by its number, to their places among those of all (n_out,)."""
        first, whole = self.system.blocks[number].first_output, self.linear.whole_table(number, table)
        out[first : first + whole.size] = whole.ravel()

    @cached_property
    def reporting(self) -> list[int]:
        """Return the numbers of the blocks that have outputs."""
        return [i for i, block in enumerate(self.system.blocks) if block.type.outputs]

    @cached_property
    def watched(self) -> list[int]:
        """Return the numbers of the blocks that sensors read."""
        return [i for i in self.reporting if self.system.blocks[i].watched]

    @property
    def elastic(self) -> list[Block]:
        """Return the blocks that store energy."""
        return [block for _, block in self._elastic]

    @cached_property
    def _elastic(self) -> list[tuple[int, Block]]:
        """Return the blocks that store energy, with their numbers."""
        return [
            (i, b) for i, b in enumerate(self.system.blocks)
            if not b.type.multipliers and not b.type.inertia
            and (b.type.prestress is not None or "function" not in b.type.par)
        ]  # fmt: skip

    def change(
        self, u: np.ndarray, forces: np.ndarray, mask: np.ndarray | None = None, values: np.ndarray | None = None,
        v: np.ndarray | None = None, y: np.ndarray | None = None, outputs: Sequence[int] = (), energy: bool = False,
        weight: bool = False, a: np.ndarray | None = None,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """Return the change of `base` by small motions, linear in all of them.

        Args:
            u, v, a: displacements, velocities and accelerations (N,), spins in spatial axes.
            forces: (N,) of supports.
            mask, values: loads (n_fun,) and their values (n_fun,).
            y: (m,) multipliers' unknowns.
            weight: the weight of the model acts in addition.
            outputs: numbers of the blocks whose outputs are wanted; others stay zero.
            energy: strain energies of elements are wanted; they are quadratic in u.
        """
        system, base = self.system, self.base
        found = {"Q": u, "V": self.linear.body(np.zeros_like(u) if v is None else v), "reaction": forces}
        D, rows = np.zeros_like(base["D"]), system.system.rotations
        found["rotation"] = np.zeros_like(base["rotation"])
        if rows.size and system.dimension == 2:
            here = self.state.D[0, : len(rows)]
            D[: len(rows)] = u[rows] * np.column_stack((-here[:, 1], here[:, 0]))
            found["rotation"][:, 2] = u[rows[:, 0]]
        elif rows.size:
            R = self.state.D[0, : len(rows)].reshape(-1, 3, 3)
            D[: len(rows)] = np.cross(u[rows][:, :, None], R, axis=1).reshape(-1, 9)
            found["rotation"] = _rotation_rates(base["rotation"], u[rows])
        found["D"], out = D, np.zeros(base["out"].size)
        if len(outputs):
            changes = self.linear.output_changes(u, v=v, y=y, blocks=outputs, a=a)
            with_loads = self.linear.outputs(self.state, outputs, self.linear.level(mask, values, weight))
            without = self.linear.outputs(self.state, outputs)
            for i, table in changes.items():
                self._place(out, i, table + apart(with_loads[i], without[i]))
        found["out"], stored = out, np.zeros(base["energy"].size)
        if energy:
            plain = self.linear.here
            loaded = plain.under(self.linear.level(mask, values))
            ctl, still = loaded.control(2.0), plain.control(2.0)
            for i, block in self._elastic:
                own = np.zeros(block.size)
                # forces are those under the loads, the stiffness that of the state, by which the motion was found: the
                # stresses that loads such as temperatures bring have no geometric stiffness in it
                driven = "function" in block.type.par
                stiff = self.linear.matrices.tiles(C.TANGENT, still, plain.functions, self.state, [block] * driven)
                for _, first, last, fe, ke in self.linear.matrices.tiles(
                    C.TANGENT, ctl, loaded.functions, self.state, [block]
                ):
                    x, fe = u[block.dof[first:last]], fe.copy()
                    if driven:
                        ke = next(stiff)[4]
                    own[first:last] = (
                        loaded.ledger(block, first, last)[:, C.STRAIN] - plain.ledger(block, first, last)[:, C.STRAIN]
                        + np.einsum("ei,ei->e", fe, x) + 0.5 * np.einsum("ei,eij,ej->e", x, ke, x)
                    )  # fmt: skip
                whole = self.linear.whole_table(i, own)
                stored[block.first_element : block.first_element + len(whole)] = whole
        found["energy"] = stored
        return found

    def potential(self, weight: bool) -> tuple[float, np.ndarray, csr_matrix]:
        """Return energy [J] of the masses under the weight of the state, and with ``weight`` that of the model in
        addition: at the state, its gradient (N,) and second derivatives (N, N)."""
        blocks = [(i, block) for i, block in enumerate(self.system.blocks) if block.type.inertia]
        at = self.linear.here.under(self.linear.level(weight=weight))
        energy = sum(self.linear.total(i, float(at.ledger(b, 0, b.size)[:, C.POTENTIAL].sum())) for i, b in blocks)
        return energy, *at.assemble(at.control(2.0), [block for _, block in blocks])

    def strain_energy(self) -> tuple[float, np.ndarray, csr_matrix]:
        """Return strain energy [J] of all elements at the state, its gradient (N,) and second derivatives (N, N)."""
        return float(self.base["energy"].sum()), *self.linear.here.assemble(self.linear.here.control(2.0), self.elastic)

    @property
    def displacements(self) -> np.ndarray:
        """Return displacements and rotation vectors (nodes, 6) since the start, at the state."""
        system, dim = self.system, self.system.dimension
        out = np.zeros((len(system.nodes.x), 6))
        out[:, :dim] = self.base["Q"][system.offset[: len(out), None] + np.arange(dim)] - system.nodes.x
        out[np.flatnonzero(system.nodes.rotational), 3:] = self.base["rotation"]
        return out


def apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a - b.  It is zero where one of them is infinite: the gap of parts that are not near each other."""
    return np.subtract(a, b, out=np.zeros(a.shape), where=np.isfinite(a) & np.isfinite(b))


def _rotation_rates(turned: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Return changes (n, 3) of rotation vectors ``turned`` (n, 3) by small rotations phi (n, 3) in spatial axes."""
    angle = np.linalg.norm(turned, axis=1)[:, None]
    small = angle < 1e-3
    safe = np.where(small, 1.0, angle)
    # the inverse of the left Jacobian of the exponential map
    k = np.where(small, 1.0 / 12.0 + angle**2 / 720.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    once = np.cross(turned, phi)
    return phi - 0.5 * once + k * np.cross(turned, once)
