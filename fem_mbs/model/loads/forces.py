"""Loads of the model builder."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.errors import ModelError
from fem_mbs.functions.expressions import compile_expression
from fem_mbs.model.building import Building
from fem_mbs.system.compile import Block

__all__ = ["Loads"]

#: Shares of a moment that are fixed in space and that turn with the body.
MOMENT_KINDS = {"axial": (1.0, 0.0), "follower": (0.0, 1.0), "semitangential": (0.5, 0.5)}


class Loads(Building):
    """Forces, moments and line loads."""

    # --- loads -----------------------------------------------------------------------------------------------------
    def force(
        self, name: str, on: str, vector: Any, function: Any = None, point: Any = None, follower: bool = False
    ) -> None:
        """Apply a force [N] on every node of a place, or at a point of a body: vector * f(t).

        Args:
            vector: in global axes of the start; or one per node, (n, dimension), without a point.
            follower: the force turns with its node (which must have a rotation); else its direction stays.
        """
        owner = self.label("Force", name)
        vector = self._vectors(vector, owner, "vector", on, point)
        index = self.function_index(function, owner, load=True)
        if point is None:
            nodes, offset = self.nodes_of(on, owner), np.zeros(self.dimension)
        else:
            node, offset = self.point(on, point, owner)
            nodes = np.array([node])
        if follower:
            self.needs_rotation += [(owner, int(n)) for n in nodes]
        kind = "follower" if follower else "force"
        values = self._turned_back(nodes, vector) if follower else vector
        names = "xyz"[: self.dimension]
        self.add_block(
            name,
            f"{kind}{self.dimension}",
            nodes,
            function=float(index),
            **{f"F{c}": v for c, v in zip(names, values.T, strict=True)},
            **{f"a{c}": v for c, v in zip(names, offset, strict=True)},
        )

    def _vectors(self, value, owner: str, key: str, on, point=None) -> np.ndarray:
        """Return a vector (dimension,), or one for each node of a place (n, dimension)."""
        if np.ndim(value) != 2:
            return self.vector(value, owner, key)
        n = len(self.nodes_of(on, owner))
        v = np.asarray(value, float)
        if point is not None or v.shape != (n, self.dimension) or not np.isfinite(v).all():
            raise ModelError(
                f"{owner}: {key} has the shape {v.shape}; {self.dimension} finite numbers are needed, or {n} rows of "
                "them, one per node, without a point"
            )
        return v

    def _turned_back(self, nodes, vector: np.ndarray) -> np.ndarray:
        """Return a global vector, or one per node, in the body axes of nodes (n, dimension)."""
        values = np.tile(vector, (len(nodes), 1)) if vector.ndim == 1 else vector.copy()
        for i in self.rotations.keys() & {int(n) for n in nodes}:
            mine = np.asarray(nodes) == i
            values[mine] = values[mine] @ self.rotation_matrix(i)
        return values

    def moment(self, name: str, on: str, value: Any, function: Any = None, kind: str = "axial") -> None:
        """Apply a moment [N m]: in the plane a number, in space a vector in global axes of the start, or one per node
        (n, 3).

        Args:
            kind: in space: "axial" (fixed in direction), "follower" (turns with the body) or "semitangential" (the mean
                of both, with a symmetric load stiffness).
        """
        owner = self.label("Moment", name)
        if kind not in MOMENT_KINDS:
            raise ModelError(f"{owner}: kind = {kind!r} must be one of {', '.join(MOMENT_KINDS)}")
        if kind != "axial" and self.dimension == 2:
            raise ModelError(f"{owner}: in the plane all moments are alike; remove kind")
        nodes = self.nodes_of(on, owner)
        self.needs_rotation += [(owner, int(n)) for n in nodes]
        index = self.function_index(function, owner, load=True)
        if self.dimension == 2:
            columns = {"M": self.number(value, owner, "value")}
        else:
            vector = self._vectors(value, owner, "value", on)
            fixed, turning = MOMENT_KINDS[kind]
            columns = {f"M{c}": fixed * v for c, v in zip("xyz", vector.T, strict=True)}
            if turning:
                body = turning * self._turned_back(nodes, vector)
                columns |= {f"B{c}": v for c, v in zip("xyz", body.T, strict=True)}
        self.add_block(name, f"moment{self.dimension}", nodes, function=float(index), **columns)

    def line_load(self, name: str, on: str, vector: Any, function: Any = None, axes: str = "global") -> None:
        """Apply a distributed load [N/m] on a group of beams or trusses, per length of the undeformed element.

        Args:
            on: name of the group, as given to `beams` or `trusses`.
            vector: (dimension,) numbers or expressions of x, y, z; between the nodes of an element it varies linearly.
            axes: "global": fixed in direction, work-equivalent to the elastic line of the beams; "local": in the
                section's axes of beams (the plane: along and across), with which it turns; lumped to the ends.
        """
        owner = self.label("Line load", name)
        if axes not in ("global", "local"):
            raise ModelError(f'{owner}: axes = {axes!r} must be "global" or "local"')
        self.find("group of beams or trusses", on, {k: v for k, v in self.groups.items() if v.shape[1] == 2}, owner)
        block = next(
            b for b in self.blocks if b.groups[0][0] == on and b.type.ends == 2 and "length" in _columns(b)
            and not b.type.inertia
        )  # fmt: skip
        cells = block.nodes
        beams = block.type.rotational
        if axes == "local" and not beams:
            raise ModelError(f'{owner}: trusses like "{on}" have no section axes; use axes = "global"')
        q = self._line_values(vector, cells, owner)
        index = float(self.function_index(function, owner, load=True))
        length = _column(block, "length")[:, None]
        # linear between the ends, cubic shape: forces on positions, and over the length on the ends' axes
        p, r = q[:, 0], q[:, 1]
        positions = (0.35 * p + 0.15 * r) * length, (0.15 * p + 0.35 * r) * length
        slopes = (p / 20.0 + r / 30.0) * length**2, -(p / 30.0 + r / 20.0) * length**2
        if not beams:
            positions = (p / 3.0 + r / 6.0) * length, (p / 6.0 + r / 3.0) * length
        if axes == "local":
            self._local_line(name, on, block, index, positions, slopes)
        elif not beams:
            for end in range(2):
                columns = {f"F{c}": v for c, v in zip("xyz", positions[end].T, strict=False)}
                self.add_block(name, f"force{self.dimension}", cells[:, end], function=index, **columns)
        elif self.dimension == 2:
            columns = {}
            for end, letter in enumerate("pq"):
                for i, c in enumerate("xy"):
                    columns[f"F{c}_{letter}"], columns[f"Fe{c}_{letter}"] = positions[end][:, i], slopes[end][:, i]
            ex, ey = _column(block, "ex"), _column(block, "ey")
            self.add_block(name, "line_load2", cells, function=index, ex=ex, ey=ey, **columns).lies_along(on)
        else:
            columns = {}
            for end, letter in enumerate("pq"):
                A, a = _frame(block, letter)
                # P = x + sum a_k d_k and ex = sum A_k1 d_k
                on_axes = positions[end][:, None, :] * a[:, :, None] + slopes[end][:, None, :] * A[:, :, :1]
                for i, c in enumerate("xyz"):
                    columns[f"F{c}_{letter}"] = positions[end][:, i]
                    for k in range(3):
                        columns[f"F{k + 1}{c}_{letter}"] = on_axes[:, k, i]
            self.add_block(name, "line_load3", cells, function=index, **columns).lies_along(on)

    def _line_values(self, vector, cells, owner: str) -> np.ndarray:
        """Return the load per length (n, 2, dimension) at both ends of the cells."""
        if isinstance(vector, str) or np.ndim(vector) != 1 or len(vector) != self.dimension:
            raise ModelError(f"{owner}: vector = {vector!r} must be {self.dimension} numbers or expressions")
        x = self.positions[cells]
        named = {c: x[..., i] for i, c in enumerate("xyz"[: self.dimension])}
        values = np.empty(x.shape)
        for i, part in enumerate(vector):
            if isinstance(part, str):
                values[..., i] = compile_expression(part, tuple(named))(*named.values())
            else:
                values[..., i] = self.number(part, owner, "vector")
        if not np.isfinite(values).all():
            raise ModelError(f"{owner}: vector = {vector!r} is not finite everywhere on the line")
        return values

    def _local_line(self, name: str, on: str, block: Block, index: float, positions, slopes) -> None:
        """Apply forces and moments that turn with the section's axes at both ends of each element of a group."""
        for end, letter in enumerate("pq"):
            nodes = block.nodes[:, end]
            if self.dimension == 2:
                ex, ey = _column(block, "ex"), _column(block, "ey")
                A = np.stack((np.stack((ex, -ey), 1), np.stack((ey, ex), 1)), 1)
                start = np.array([self.start_angle(int(n)) for n in nodes])
                c, s = np.cos(start), np.sin(start)
                back = np.stack((np.stack((c, s), 1), np.stack((-s, c), 1)), 1)
                force = np.einsum("nij,njk,nk->ni", back, A, positions[end])
                moment = {"M": slopes[end][:, 1]}
            else:
                A, a = _frame(block, letter)
                force = np.einsum("nij,nj->ni", A, positions[end])
                # ex x (slope force) in section axes: (0, -z, y)
                turn = np.column_stack((0.0 * slopes[end][:, 0], -slopes[end][:, 2], slopes[end][:, 1]))
                turned = np.einsum("nij,nj->ni", A, turn) + np.cross(a, force)
                moment = {f"B{c}": turned[:, i] for i, c in enumerate("xyz")}
            forces = {f"F{c}": v for c, v in zip("xyz", force.T, strict=False)}
            first_dof = 3 * (self.dimension - 1) * end
            for kind, columns in (("follower", forces), ("moment", moment)):
                made = self.add_block(name, f"{kind}{self.dimension}", nodes, function=index, **columns)
                made.lies_along(on, first_dof)


def _columns(block: Block) -> list[str]:
    return [name.split(" [")[0] for name in block.type.par]


def _column(block: Block, name: str) -> np.ndarray:
    return block.par[:, block.type.column(name)]


def _frame(block: Block, letter: str) -> tuple[np.ndarray, np.ndarray]:
    """Return section axes (n, 3, 3) and offset (n, 3) of spatial beams at end p or q, in the node's body axes."""
    A = np.stack([_column(block, f"A{i}{j}_{letter}") for i in "123" for j in "123"], axis=1).reshape(-1, 3, 3)
    return A, np.stack([_column(block, f"a{c}_{letter}") for c in "xyz"], axis=1)
