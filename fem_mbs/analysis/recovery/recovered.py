"""The meshes of reduced parts in results: nodes of theirs follow those of the model, and move as their shapes say.

    x = frame + R (c + Phi q),    rotations R exp(psi), psi = Psi q (where nodes have any),

in small motions x0 + dx + dtheta x R (c + Phi q) + R Phi dq.  So figures, animations and files for ParaView show the
parts whole and deformed, and know nothing of reduction.  Large meshes would fill the results of every run; they come
back when asked for (`fem_mbs.analysis.recovery.part_results`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.analysis.fields import COMPONENTS, MISES, STRESS
from fem_mbs.elements.solids.recovery import von_mises
from fem_mbs.model.model import CompiledModel
from fem_mbs.model.parts.reduced import PlacedPart
from fem_mbs.parts.recovery import heated_by, need_recovery, stress_regions, stresses, turned
from fem_mbs.results.fields import field_key
from fem_mbs.rotations import rotation_matrices, rotation_vectors
from fem_mbs.solvers.stepping.layout import State

__all__ = ["RecoveredNodes"]


#: Nodes of the meshes of all parts that the results of a run hold beside those of the model.
_MOST_NODES = 20_000


class RecoveredNodes:
    """Nodes of the meshes of a model's reduced parts; those that keep no fields, or have very large meshes, are lines
    from the frame to the interfaces.

    ``x`` (N, dim) [m] at the start, ``parts`` with the rows of their nodes, ``blocks`` for the header of results.

    Args:
        most: number of nodes of all parts at most; larger meshes are left out (None: no limit).
    """

    def __init__(self, compiled: CompiledModel, most: int | None = _MOST_NODES):
        self.system, self.model = compiled.system, compiled.model
        self.dim, self.first = compiled.model.dimension, compiled.system.nodes.x.shape[0]
        self.parts: list[tuple[PlacedPart, slice]] = []
        self.blocks: list[dict[str, Any]] = []
        places = [np.zeros((0, self.dim))]
        at = 0
        for placed in compiled.model.reduced_parts.values():
            recovery = placed.part.recovery
            large = recovery is not None and most is not None and at + len(recovery.x) > most
            if recovery is None or not recovery.cells or large:
                ends = np.array([(placed.node, node) for node in placed.interfaces.values()], np.int64).reshape(-1, 2)
                if len(ends):
                    self._add_block(placed.name, "reduced part", "line", ends)
                continue
            for k, (cell, nodes) in enumerate(recovery.cells):
                label = placed.name if k == 0 else f"{placed.name} {k + 1}"
                regions = [k for k, (_, own) in enumerate(stress_regions(recovery)) if np.isin(nodes, own).all()]
                beam = cell == "line" and recovery.turning.size == len(recovery.x)
                kind = "reduced beam" if beam else "reduced part"
                region = regions[0] if regions else 0
                self._add_block(label, kind, cell, self.first + at + np.asarray(nodes), placed.name, region)
            places.append(placed.start + recovery.x @ placed.rotation.T)
            self.parts.append((placed, slice(at, at + len(recovery.x))))
            at += len(recovery.x)
        self.x = np.concatenate(places)

    def _add_block(self, name: str, kind: str, cell: str, nodes: np.ndarray, group: str = "", region: int = 0) -> None:
        block: dict[str, Any] = {"name": name, "type": kind, "connectivity": nodes, "outputs": []}
        if not cell.startswith("line"):
            block |= {"cell": cell, "group": group or name, "region": region}
        self.blocks.append(block)

    @property
    def fields(self) -> list[dict[str, Any]]:
        """Return the entries of the results header on fields at these nodes."""
        if not any(need_recovery(placed.part).stress is not None for placed, _ in self.parts):
            return []
        if "stress" not in self.model.field_names:
            return []
        return [{"name": STRESS, "components": list(COMPONENTS)}, {"name": MISES, "components": [""]}]

    def levels(self, placed: PlacedPart, out: np.ndarray) -> np.ndarray:
        """Return the factors (m, k) on the loads that heat a part, in outputs (m, n_out) of frames."""
        at = {label: b.first_output + first * len(b.type.outputs)
              for b in self.system.blocks for label, first, _ in b.groups if label in placed.heat}  # fmt: skip
        return out[:, [at[name] for name in placed.heat]]

    def stresses(
        self, Q: np.ndarray, D: np.ndarray, out: np.ndarray, increments: bool = False
    ) -> dict[str, np.ndarray]:
        """Return stresses in global axes and von Mises' (m, N, ...) of frames with outputs (m, n_out), where parts keep
        them, else NaN; ``increments``: without those of the state in which a part was reduced."""
        found: dict[str, np.ndarray] = {}
        for placed, rows in self.parts if self.fields else ():
            if need_recovery(placed.part).stress is None:
                continue
            heated = heated_by(placed.part, placed.heat)
            levels = dict(zip(placed.heat, self.levels(placed, out).T, strict=True))
            stress = stresses(heated, Q[:, self.scalars(placed)], levels, increments)
            stress = turned(stress, self.rotations(placed, D))
            for k, (own, nodes) in enumerate(stress_regions(need_recovery(placed.part))):
                for name, values in ((STRESS, stress[:, own]), (MISES, von_mises(stress[:, own]))):
                    empty = np.full((len(Q), len(self.x), *values.shape[2:]), np.nan, np.float32)
                    found.setdefault(field_key(name, k), empty)[:, rows.start + nodes] = values
        return found

    def scalars(self, placed: PlacedPart) -> np.ndarray:
        """Return dofs (n,) of the modal coordinates of a part."""
        return self.system.first_scalar + placed.scalars

    def extended(self, values: np.ndarray, more: np.ndarray | None = None) -> np.ndarray:
        """Return values (m, nodes, ...) with rows of these nodes behind: ``more``, or nothing (NaN in single precision,
        which only fields of other parts have)."""
        if not len(self.x):
            return values
        if more is None:
            empty = np.nan if values.dtype == np.float32 else 0.0
            more = np.full((len(values), len(self.x), *values.shape[2:]), empty, values.dtype)
        return np.concatenate((values, more), axis=1)

    def columns(self, Q: np.ndarray, V: np.ndarray, D: np.ndarray) -> dict[str, np.ndarray]:
        """Return displacement, rotation and velocity (m, N, 3) of frames of coordinates, velocities (m, n_dof) and
        directors (m, n_r, ...)."""
        m, dim = len(Q), self.dim
        displacement, rotation, velocity = (np.zeros((m, len(self.x), 3)) for _ in range(3))
        for placed, rows in self.parts:
            recovery = need_recovery(placed.part)
            dof = self.scalars(placed)
            first = self.system.offset[placed.node]
            R = self.rotations(placed, D)
            arm = recovery.x - placed.centre + np.einsum("nak,mk->mna", recovery.displacement, Q[:, dof])
            r = np.einsum("mab,mnb->mna", R, arm)
            displacement[:, rows, :dim] = Q[:, None, first : first + dim] + r - self.x[rows]
            rate = np.einsum("mab,nbk,mk->mna", R, recovery.displacement, V[:, dof], optimize=True)
            rate += V[:, None, first : first + dim]
            if dim == 2:
                rate += V[:, first + 2, None, None] * np.stack((-r[..., 1], r[..., 0]), axis=-1)
            else:
                rate += np.cross(np.einsum("mab,mb->ma", R, V[:, first + 3 : first + 6])[:, None], r)
            velocity[:, rows, :dim] = rate
            rotation[:, rows] = self._turns(placed, R, Q, len(recovery.x))
        return {"displacement": displacement, "rotation": rotation, "velocity": velocity}

    def straighten(
        self, displacement: np.ndarray, state: State, X: np.ndarray, velocity: np.ndarray | None = None, V=None
    ) -> None:
        """Make displacements (k, nodes, 3) by increments X (n_dof, k) from a state linear in them at these nodes, as
        they are at those of the model, however large the shapes are; and a ``velocity`` by rates V (n_dof, k)."""
        if len(self.x):
            if velocity is not None:
                velocity[:, self.first :] = self.small(state, V)[0]
            at_state = self.columns(state.Q[:1], np.zeros_like(state.V[:1]), state.D[:1])["displacement"]
            displacement[:, self.first :] = at_state + self.small(state, X)[0]

    def rotations(self, placed: PlacedPart, D: np.ndarray) -> np.ndarray:
        """Return rotations (m, dim, dim) of the frame."""
        d = D[:, self.system.rot_row[placed.node]]
        if self.dim == 3:
            return d.reshape(-1, 3, 3)
        c, s = d[:, 0], d[:, 1]
        return np.moveaxis(np.array(((c, -s), (s, c))), -1, 0)

    def _turns(self, placed: PlacedPart, R: np.ndarray, Q: np.ndarray, n: int) -> np.ndarray:
        """Return rotation vectors (m, n, 3) since the start."""
        recovery, q = need_recovery(placed.part), Q[:, self.scalars(placed)]
        own = np.einsum("nak,mk->mna", recovery.rotation, q)
        out = np.zeros((len(q), n, 3))
        if self.dim == 2:
            first = self.system.offset[placed.node]
            out[:, :, 2] = (Q[:, first + 2] - self.model.building.start_angle(placed.node))[:, None]
            out[:, recovery.turning, 2] += own[:, :, 0]
            return out
        whole = np.broadcast_to(R[:, None], (len(q), n, 3, 3)).copy()
        small = rotation_matrices(own.reshape(-1, 3)).reshape(*own.shape[:2], 3, 3)
        whole[:, recovery.turning] = whole[:, recovery.turning] @ small
        whole = whole @ placed.rotation.T
        return rotation_vectors(whole.reshape(-1, 3, 3)).reshape(len(q), n, 3)

    def small(self, state: State, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return displacements and rotations (k, N, 3) by increments X (n_dof, k) of all dofs (rotations in global
        axes) from a state; complex ones too."""
        k, dim = X.shape[1], self.dim
        displacement, rotation = (np.zeros((k, len(self.x), 3), X.dtype) for _ in range(2))
        for placed, rows in self.parts:
            recovery = need_recovery(placed.part)
            dof = self.scalars(placed)
            first = self.system.offset[placed.node]
            R = self.rotations(placed, state.D[:1])[0]
            arm = (recovery.x - placed.centre + recovery.displacement @ state.Q[0, dof]) @ R.T
            moved = np.einsum("ab,nbj,jk->kna", R, recovery.displacement, X[dof], optimize=True)
            moved = moved + X[first : first + dim].T[:, None]
            turn = X[first + dim : first + dim + self.system.rotation_dofs].T
            own = np.einsum("naj,jk->kna", recovery.rotation, X[dof])
            if dim == 2:
                moved += turn[:, :, None] * np.column_stack((-arm[:, 1], arm[:, 0]))
                rotation[:, rows, 2] = turn
                rotation[:, rows.start + recovery.turning, 2] += own[:, :, 0]
            else:
                moved += np.cross(turn[:, None], arm)
                rotation[:, rows] = turn[:, None]
                rotation[:, rows.start + recovery.turning] += own @ R.T
            displacement[:, rows, :dim] = moved
        return displacement, rotation
