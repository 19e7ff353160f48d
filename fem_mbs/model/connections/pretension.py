"""Pre-tension sections of the model builder: cuts whose sides are drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import FUNCTION, NAME, NUMBER, TEXT, VECTOR, shown
from fem_mbs.errors import MeshError, ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.meshes.cells import DIMENSION
from fem_mbs.meshes.cuts import Facets, cut_cells, facets_across, facets_behind, mean_normal
from fem_mbs.meshes.mesh import CellBlock, Mesh
from fem_mbs.model.building import Building
from fem_mbs.model.connections.terms import add_rows

__all__ = ["Pretension", "PretensionSection", "check_sections", "section_terms"]


@dataclass(frozen=True)
class PretensionSection:
    """A cut: its name, the nodes (n,) on the side ahead and their ``doubles`` (n,) behind, the control node and the
    direction (dim,) along which it moves the doubles over the nodes."""

    name: str
    nodes: np.ndarray
    doubles: np.ndarray
    control: int
    direction: np.ndarray


def section_terms(
    nodes: np.ndarray, doubles: np.ndarray, control: int, direction: np.ndarray, turning: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, nodes, components and coefficients (k,) of the equations of a pre-tension section.

    The doubles (n,) move as the nodes (n,) and by the control node's x along the direction (dim,) in addition; those
    of ``turning`` (n,) bool turn as the nodes.  The first term of each row is that of the double.
    """
    dim, parts, row = len(direction), [], 0
    for k in range(dim):
        number = row + np.arange(len(nodes))
        parts += [(number, doubles, k, 1.0), (number, nodes, k, -1.0)]
        if direction[k] != 0.0:
            parts.append((number, np.full(len(nodes), control), 0, -direction[k]))
        row += len(nodes)
    spins = np.flatnonzero(turning)
    for k in (3, 4, 5) if dim == 3 else (5,):
        if spins.size:
            number = row + np.arange(len(spins))
            parts += [(number, doubles[spins], k, 1.0), (number, nodes[spins], k, -1.0)]
            row += len(spins)
    rows, at, component, value = (
        np.concatenate([np.broadcast_to(part[i], len(part[0])) for part in parts]) for i in range(4)
    )
    order = np.argsort(rows, kind="stable")
    return rows[order], at[order], component[order], value[order]


@dataclass(frozen=True, eq=False)
class Pretension(Declaration):
    """Bolts that are drawn together in a cut (made after its mesh, before parts).

    Cut a body of plane or solid cells, or a shell, and draw both sides over each other along one direction.

    The nodes on the cut get doubles, which the cells behind it have.  A double moves as its node, and along the
    direction by the shortening q in addition, which is positive in tension.  A node of the section's name holds q as
    its displacement x.  ``force`` acts on q, as the tension in the section; ``shortening`` prescribes q.  Without
    either q is free, or loads and motions name the node.  Steps that name the section in ``supports`` lock it: q stays
    as the step before has left it.  The direction stays fixed in space.

    Args:
        on: "mesh:set" of facets inside of the body, which may belong to cells of either side; or with ``point``
            "mesh" or "mesh:set" of cells, which the plane through the point across the direction cuts between cells.
        direction: (dimension,); None: the mean normal of the facets.
        force, shortening: times f(t).

    Raises:
        ModelError: there are parts already, the cut does not go through the body, or does so at its outside.
    """

    owner = "Pre-tension"

    name: str = key(NAME, "also of the node that holds the shortening", shows='"pretension 1", ...')
    on: str = key(TEXT, "set of faces inside of the body (in the plane: of edges); with `point` a mesh or set of cells")
    point: Any = key(
        VECTOR, "of a plane across `direction`, which cuts between cells", None, shows="on is the cut", unit="m"
    )
    direction: Any = key(VECTOR, "along which the sides are drawn over each other", None, shows="normal of the cut")
    force: float | None = key(NUMBER, "tension in the section", None, shows="none", unit="N")
    shortening: float | None = key(
        NUMBER, "by which the sides are drawn over each other", None, shows="it is free", unit="m"
    )
    function: Any = key(FUNCTION, "factor on force or shortening", None, shows="1")

    def build(self, building: Building) -> None:
        owner = building.label("Pre-tension", self.name)
        building.new_place("Pre-tension", self.name)
        known = {section.name for section in building.pretensions}
        if building.bodies or any(label not in known for block in building.blocks for label, _, _ in block.groups):
            raise ModelError(
                "parts stand on the mesh already", owner=owner, remedy="make the pre-tension section before them"
            )
        if self.force is not None and self.shortening is not None:
            raise ModelError("force and shortening exclude each other", owner=owner, remedy="remove one")
        if self.function is not None and self.force is None and self.shortening is None:
            raise ModelError("function multiplies force or shortening", owner=owner, remedy="give one of them")
        name, _, which = str(self.on).partition(":")
        mesh, _ = building.find("mesh", name, building.meshes, owner)
        direction = None if self.direction is None else building.axis(self.direction, owner, "direction")
        try:
            cut, direction = self._cut(building, owner, mesh, which, direction)
            blocks = [(block.kind, block.cells) for block in mesh.blocks]
            nodes, doubled = cut_cells(blocks, cut)
        except MeshError as error:
            raise ModelError(str(error), owner=owner, key="on", value=self.on) from None
        building.grow_mesh(name, _with_doubles(mesh, nodes, doubled))
        first = building.meshes[name][1]
        middle = mesh.points[nodes].mean(axis=0)[: building.dimension]
        control = building.named_nodes[self.name] = building.add_nodes(middle[None, :])
        building.names.add(self.name, None, 1)
        building.fixed += [(control, k) for k in range(1, building.dimension)]
        doubles, nodes = first + len(mesh.points) + np.arange(len(nodes)), first + nodes
        shell = building.dimension == 3 and max(DIMENSION[mesh.blocks[b].kind] for b, _, _ in cut) == 2
        terms = section_terms(nodes, doubles, control, direction, np.full(len(nodes), shell))
        add_rows(building, self.name, owner, *terms, 0.0, None, reported=doubles)
        building.pretensions.append(PretensionSection(self.name, nodes, doubles, control, direction))
        if self.shortening is not None:
            q = building.number(self.shortening, owner, "shortening")
            index = building.function_index(_times(q, self.function), owner, load=False)
            building.driven.append((control, 0, index, owner))
            return
        building.step_supports[self.name] = [(control, 0)]
        building.keeping.add(self.name)
        if self.force is not None:
            index = building.function_index(self.function, owner, load=True)
            names = "xyz"[: building.dimension]
            value = building.number(self.force, owner, "force")
            building.add_block(
                self.name, f"force{building.dimension}", np.array([control]), function=float(index), Fx=value,
                **{f"F{c}": 0.0 for c in names[1:]}, **{f"a{c}": 0.0 for c in names},
            )  # fmt: skip

    def _cut(
        self, building: Building, owner: Owner, mesh: Mesh, which: str, direction: np.ndarray | None
    ) -> tuple[Facets, np.ndarray]:
        """Return the facets of the cut by the cells behind it, and the direction (dim,)."""
        blocks = [(block.kind, block.cells) for block in mesh.blocks]
        dim = building.dimension
        if self.point is None:
            if not which:
                raise ModelError(
                    f'on = "{self.on}" must name a set of faces ("mesh:set")', owner=owner, key="on", value=self.on,
                    remedy="or give point and direction of a plane that cuts the cells",
                )  # fmt: skip
            cut = mesh.facets(which)
            if direction is None:
                direction = mean_normal(blocks, cut, mesh.points, one_side=False)[:dim]
        else:
            if direction is None:
                raise ModelError("a plane through point needs its direction", owner=owner, key="direction")
            point = np.zeros(3)
            point[:dim] = building.vector(self.point, owner, "point")
            picked = _picked(mesh, which, dim)
            cut = facets_across(blocks, picked, mesh.points, point, np.append(direction, np.zeros(3 - dim)))
            if not cut:
                raise ModelError(
                    f"the plane through point = {shown(self.point)} cuts no cells", owner=owner, key="point",
                    value=self.point, remedy="move it between their middles",
                )  # fmt: skip
            return cut, direction
        return facets_behind(blocks, cut, mesh.points, np.append(direction, np.zeros(3 - dim))), direction


def _times(value: float, function: Any) -> Any:
    """Return a function of time that is ``value`` times another (None: 1)."""
    return value if function is None else {"kind": "scaled", "function": function, "factor": value}


def _picked(mesh: Mesh, which: str, dimension: int) -> list[np.ndarray]:
    """Return the cells (m,) of each block that belong to a set (none: all), of solids, else of plane cells."""
    solid = any(DIMENSION[block.kind] == 3 for block in mesh.blocks) and dimension == 3
    found: list[np.ndarray] = [np.empty(0, int) for _ in mesh.blocks]
    for block, cells in mesh.cells_of(which or None, 3 if solid else 2):
        found[block] = np.asarray(cells)
    return found


def _with_doubles(mesh: Mesh, nodes: np.ndarray, doubled: Sequence[np.ndarray]) -> Mesh:
    """Return a mesh with doubles of nodes (n,) behind its points, which cells have where ``doubled`` says; node sets
    hold the doubles of their nodes too."""
    count = len(mesh.points)
    to = np.arange(count)
    to[nodes] = count + np.arange(len(nodes))
    blocks = [
        CellBlock(block.kind, np.where(mask, to[block.cells], block.cells), block.ids)
        for block, mask in zip(mesh.blocks, doubled, strict=True)
    ]
    sets = {name: np.concatenate((some, to[some[np.isin(some, nodes)]])) for name, some in mesh.node_sets.items()}
    ids = np.concatenate((mesh.point_ids, mesh.point_ids.max() + 1 + np.arange(len(nodes))))
    return replace(
        mesh, points=np.concatenate((mesh.points, mesh.points[nodes])), blocks=blocks, node_sets=sets, point_ids=ids
    )


def check_sections(building: Building) -> None:
    """Refuse pre-tension sections that supports on both sides keep from closing.

    Raises:
        ModelError: naming the section and a node.
    """
    fixed = set(building.fixed)
    for section in building.pretensions:
        for k in np.flatnonzero(np.abs(section.direction) > 1e-9).tolist():
            for node, double in zip(section.nodes.tolist(), section.doubles.tolist(), strict=True):
                if (node, k) in fixed and (double, k) in fixed:
                    raise ModelError(
                        f'node "{building.node_name(node)}" of the cut and its double "{building.node_name(double)}" '
                        f"are both held along {'xyz'[k]}, so that the cut cannot close",
                        owner=Owner("Pre-tension", section.name),
                        remedy="hold the body elsewhere",
                    )
