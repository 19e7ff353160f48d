"""Loads of the model builder."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import FLAG, FUNCTION, NAME, NUMBER_OR_VECTOR, PLACES, TEXT, VECTOR, VELOCITY, shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.expressions import compile_expression
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.loads.edges import edge_resultants, edges_of
from fem_mbs.system.blocks import Block

__all__ = ["Force", "LineLoad", "Moment"]

#: Shares of a moment that are fixed in space and that turn with the body.
MOMENT_KINDS = {"axial": (1.0, 0.0), "follower": (0.0, 1.0), "semitangential": (0.5, 0.5)}


def _vectors(building: Building, value, owner: str, key: str, on, point=None) -> np.ndarray:
    """Return a vector (dimension,), or one for each node of a place (n, dimension)."""
    if np.ndim(value) != 2:
        return building.vector(value, owner, key)
    n = len(building.each_of(on, owner))
    v = np.asarray(value, float)
    if point is not None or v.shape != (n, building.dimension) or not np.isfinite(v).all():
        raise ModelError(
            f"{key} has the shape {v.shape}",
            owner=owner,
            remedy=(
                f"{building.dimension} finite numbers are needed, or {n} rows of them, one per node, without a point"
            ),
        )
    return v


def _turned_back(building: Building, nodes, vector: np.ndarray) -> np.ndarray:
    """Return a global vector, or one per node, in the body axes of nodes (n, dimension)."""
    values = np.tile(vector, (len(nodes), 1)) if vector.ndim == 1 else vector.copy()
    for i in building.rotations.keys() & {int(n) for n in nodes}:
        mine = np.asarray(nodes) == i
        values[mine] = values[mine] @ building.rotation_matrix(i)
    return values


def _line_values(building: Building, vector, cells, owner: str) -> np.ndarray:
    """Return the load per length (n, 2, dimension) at both ends of the cells."""
    if isinstance(vector, str) or np.ndim(vector) != 1 or len(vector) != building.dimension:
        raise ModelError(
            f"vector = {shown(vector)} must be {building.dimension} numbers or expressions",
            owner=owner,
            key="vector",
            value=vector,
        )
    x = building.positions[cells]
    named = {c: x[..., i] for i, c in enumerate("xyz"[: building.dimension])}
    values = np.empty(x.shape)
    for i, part in enumerate(vector):
        if isinstance(part, str):
            values[..., i] = compile_expression(part, tuple(named))(*named.values())
        else:
            values[..., i] = building.number(part, owner, "vector")
    if not np.isfinite(values).all():
        raise ModelError(
            f"vector = {shown(vector)} is not finite everywhere on the line", owner=owner, key="vector", value=vector
        )
    return values


def _local_line(building: Building, name: str, on: str, block: Block, index: float, positions, slopes) -> None:
    """Apply forces and moments that turn with the section's axes at both ends of each element of a group."""
    for end, letter in enumerate("pq"):
        nodes = block.nodes[:, end]
        if building.dimension == 2:
            ex, ey = _column(block, "ex"), _column(block, "ey")
            A = np.stack((np.stack((ex, -ey), 1), np.stack((ey, ex), 1)), 1)
            start = np.array([building.start_angle(int(n)) for n in nodes])
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
        first_dof = 3 * (building.dimension - 1) * end
        for kind, columns in (("follower", forces), ("moment", moment)):
            made = building.add_block(name, f"{kind}{building.dimension}", nodes, function=index, **columns)
            made.lies_along(on, first_dof)


@dataclass(frozen=True, eq=False)
class Force(Declaration):
    """Forces.

    Apply a force [N] on every node of a place, or at a point of a body: vector * f(t).

    Args:
        vector: in global axes of the start; or one per node, (n, dimension), without a point.
        follower: the force turns with its node (which must have a rotation); else its direction stays.
    """

    owner = "Force"

    name: str = key(NAME, "in messages and results", shows='"force 1", ...')
    on: str | int = key(PLACES, "on each node of it")
    vector: Any = key(VECTOR, "in global axes", unit="N")
    function: Any = key(FUNCTION, "factor on it", None, shows="1.0")
    point: Any = key(VECTOR, "of a body, in global coordinates of the start", None, shows="its node", unit="m")
    follower: bool = key(FLAG, "turns with its node; vector is that of the start", False)

    def build(self, building: Building) -> None:
        vector = self.vector
        owner = building.label("Force", self.name)
        vector = _vectors(building, vector, owner, "vector", self.on, self.point)
        index = building.function_index(self.function, owner, load=True)
        if self.point is None:
            nodes, offset = building.each_of(self.on, owner), np.zeros(building.dimension)
        else:
            node, offset = building.point(self.on, self.point, owner)
            nodes = np.array([node])
        if self.follower:
            building.needs_rotation += [(owner, int(n)) for n in nodes]
        kind = "follower" if self.follower else "force"
        values = _turned_back(building, nodes, vector) if self.follower else vector
        names = "xyz"[: building.dimension]
        building.add_block(
            self.name,
            f"{kind}{building.dimension}",
            nodes,
            function=float(index),
            **{f"F{c}": v for c, v in zip(names, values.T, strict=True)},
            **{f"a{c}": v for c, v in zip(names, offset, strict=True)},
        )


@dataclass(frozen=True, eq=False)
class Moment(Declaration):
    """Moments.

    Apply a moment [N m]: in the plane a number, in space a vector in global axes of the start, or one per node
    (n, 3).

    Args:
        kind: in space: "axial" (fixed in direction), "follower" (turns with the body) or "semitangential" (the mean
            of both, with a symmetric load stiffness).
    """

    owner = "Moment"

    name: str = key(NAME, "in messages and results", shows='"moment 1", ...')
    on: str | int = key(PLACES, "on each node of it")
    value: Any = key(NUMBER_OR_VECTOR, "in space the vector of the start", unit="N m")
    function: Any = key(FUNCTION, "factor on it", None, shows="1.0")
    kind: str = key(
        TEXT,
        'space: "axial" (fixed in direction), "follower" (turns with the body), "semitangential" (half each)',
        "axial",
        choices=MOMENT_KINDS,
    )

    def build(self, building: Building) -> None:
        owner = building.label("Moment", self.name)
        if self.kind != "axial" and building.dimension == 2:
            raise ModelError("in the plane all moments are alike", owner=owner, remedy="remove kind")
        nodes = building.each_of(self.on, owner)
        building.needs_rotation += [(owner, int(n)) for n in nodes]
        index = building.function_index(self.function, owner, load=True)
        if building.dimension == 2:
            columns = {"M": building.number(self.value, owner, "value")}
        else:
            vector = _vectors(building, self.value, owner, "value", self.on)
            fixed, turning = MOMENT_KINDS[self.kind]
            columns = {f"M{c}": fixed * v for c, v in zip("xyz", vector.T, strict=True)}
            if turning:
                body = turning * _turned_back(building, nodes, vector)
                columns |= {f"B{c}": v for c, v in zip("xyz", body.T, strict=True)}
        building.add_block(self.name, f"moment{building.dimension}", nodes, function=float(index), **columns)


@dataclass(frozen=True, eq=False)
class LineLoad(Declaration):
    """Distributed loads on beams, trusses and edges of shells.

    Apply a distributed load [N/m] on a group of beams or trusses, or on edges of shells, per length of the undeformed
    element.

    Args:
        on: name of the group, as given to `beams` or `trusses`; or "mesh:set", a set of edges of shells.
        vector: (dimension,) numbers or expressions of x, y, z; between the nodes of an element it varies linearly.
        axes: "global": fixed in direction, work-equivalent to the elastic line of the beams; "local": in the
            section's axes of beams (the plane: along and across), with which it turns; lumped to the ends.  On edges
            of shells "local" is along the edge (counter-clockwise about the normal), outwards across it, and along the
            normal, and turns with the nodes.
        moment: on edges of shells, moment per length [N m/m], 3 numbers or expressions, in the same axes.

    Sides of triangles of three nodes bulge with the rotations about the normal; forces on edges have moments about it,
    which cancel but at the ends.
    """

    owner = "Line load"

    name: str = key(NAME, "in messages and results", shows='"line load 1", ...')
    on: str = key(TEXT, "name of a group of beams or trusses, or mesh:set of edges of shells")
    vector: Any = key(VELOCITY, "per undeformed length; expressions of x, y, z of the nodes", unit="N/m")
    function: Any = key(FUNCTION, "factor on it", None, shows="1.0")
    axes: str = key(
        TEXT,
        '"global" (fixed in direction) or "local" (turns with sections of beams, with nodes on edges of shells: along '
        "the edge, counter-clockwise about the normal, outwards across it, along the normal)",
        "global",
        choices=("global", "local"),
    )
    moment: Any = key(
        VELOCITY,
        "on edges of shells: moment per length, in these axes; expressions of x, y, z of the nodes",
        None,
        kw_only=True,
        unit="N m/m",
    )

    def _on_edges(self, building: Building, owner: Owner) -> None:
        """Apply the load on edges of shells."""
        index = float(building.function_index(self.function, owner, load=True))
        local = self.axes == "local"
        edges = edges_of(building, owner, self.on)
        nodes, forces, about = edge_resultants(building, owner, edges, "vector", self.vector, local)
        if local and forces.any():
            building.needs_rotation += [(owner, int(n)) for n in nodes]
            forces = _turned_back(building, nodes, forces)
        columns = {f"F{c}": v for c, v in zip("xyz", forces.T, strict=True)}
        building.add_block(self.name, "follower3" if local else "force3", nodes, function=index, **columns)
        # moments of forces that keep their direction: half each, which leaves the load stiffness symmetric
        fixed, turning = MOMENT_KINDS["follower" if local else "semitangential"]
        _put_moments(building, self.name, nodes, about, fixed, turning, index)
        if self.moment is not None:
            building.needs_rotation += [(owner, int(n)) for n in nodes]
            _, moments, _ = edge_resultants(building, owner, edges, "moment", self.moment, local)
            fixed, turning = MOMENT_KINDS["follower" if local else "axial"]
            _put_moments(building, self.name, nodes, moments, fixed, turning, index)

    def build(self, building: Building) -> None:
        owner = building.label("Line load", self.name)
        if building.shell_groups and self.on not in building.groups and ":" in self.on:
            self._on_edges(building, owner)
            return
        if self.moment is not None:
            raise ModelError(
                "moments per length are for edges of shells", owner=owner, key="moment", remedy="remove moment"
            )
        building.find(
            "group of beams or trusses", self.on, {k: v for k, v in building.groups.items() if v.shape[1] == 2}, owner
        )
        block = next(
            b
            for b in building.blocks
            if b.groups[0][0] == self.on and b.type.ends == 2 and "length" in b.type.parameters and not b.type.inertia
        )
        cells = block.nodes
        beams = block.type.rotational
        if self.axes == "local" and not beams:
            raise ModelError(
                f'trusses like "{self.on}" have no section axes', owner=owner, remedy='use axes = "global"'
            )
        q = _line_values(building, self.vector, cells, owner)
        index = float(building.function_index(self.function, owner, load=True))
        length = _column(block, "length")[:, None]
        # linear between the ends, cubic shape: forces on positions, and over the length on the ends' axes
        p, r = q[:, 0], q[:, 1]
        positions = (0.35 * p + 0.15 * r) * length, (0.15 * p + 0.35 * r) * length
        slopes = (p / 20.0 + r / 30.0) * length**2, -(p / 30.0 + r / 20.0) * length**2
        if not beams:
            positions = (p / 3.0 + r / 6.0) * length, (p / 6.0 + r / 3.0) * length
        if self.axes == "local":
            _local_line(building, self.name, self.on, block, index, positions, slopes)
        elif not beams:
            for end in range(2):
                columns = {f"F{c}": v for c, v in zip("xyz", positions[end].T, strict=False)}
                building.add_block(self.name, f"force{building.dimension}", cells[:, end], function=index, **columns)
        elif building.dimension == 2:
            columns = {}
            for end, letter in enumerate("pq"):
                for i, c in enumerate("xy"):
                    columns[f"F{c}_{letter}"], columns[f"Fe{c}_{letter}"] = positions[end][:, i], slopes[end][:, i]
            ex, ey = _column(block, "ex"), _column(block, "ey")
            building.add_block(self.name, "line_load2", cells, function=index, ex=ex, ey=ey, **columns).lies_along(
                self.on
            )
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
            building.add_block(self.name, "line_load3", cells, function=index, **columns).lies_along(self.on)


def _put_moments(
    building: Building, name: str, nodes: np.ndarray, moments: np.ndarray, fixed: float, turning: float, index: float
) -> None:
    """Add moments (n, 3) of the start on nodes (n,), of which a share turns with these."""
    mine = moments.any(axis=1)
    if not mine.any():
        return
    nodes, moments = nodes[mine], moments[mine]
    columns = {f"M{c}": fixed * v for c, v in zip("xyz", moments.T, strict=True)}
    columns |= {f"B{c}": turning * v for c, v in zip("xyz", _turned_back(building, nodes, moments).T, strict=True)}
    building.add_block(name, "moment3", nodes, function=index, **columns)


def _column(block: Block, name: str) -> np.ndarray:
    return block.par[:, block.type.column(name)]


def _frame(block: Block, letter: str) -> tuple[np.ndarray, np.ndarray]:
    """Return section axes (n, 3, 3) and offset (n, 3) of spatial beams at end p or q, in the node's body axes."""
    A = np.stack([_column(block, f"A{i}{j}_{letter}") for i in "123" for j in "123"], axis=1).reshape(-1, 3, 3)
    return A, np.stack([_column(block, f"a{c}_{letter}") for c in "xyz"], axis=1)
