"""Temperatures of solid and plane parts and of shells.

Solid and plane parts have thermal strains at the integration points, shells the natural or tied strains that the free
element takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import FUNCTION, NAME, NUMBER, NUMBER_OR_EXPRESSION, PLACE
from fem_mbs.elements.shells.surface import free_strains, in_element
from fem_mbs.elements.solids import plane as solid_plane
from fem_mbs.elements.solids import shapes
from fem_mbs.elements.solids import space as solid
from fem_mbs.errors import ModelError
from fem_mbs.functions.expressions import compile_expression
from fem_mbs.late import dataclass
from fem_mbs.meshes.cells import DIMENSION
from fem_mbs.meshes.mesh import Mesh
from fem_mbs.model.building import Building
from fem_mbs.properties.shells import ShellGroup
from fem_mbs.properties.solids import CellGroup, SolidGroup, turned_strain
from fem_mbs.system.blocks import Block

__all__ = ["Temperature"]

#: Cells whose strains at the points of full integration are linear along each axis, and the cell of such functions.
_LINEAR = {"hexahedron20": "hexahedron", "quad8": "quad"}


def _heated(building: Building, owner: str, on) -> tuple[np.ndarray, list[tuple[CellGroup, np.ndarray]]]:
    """Return nodes of a place, and the elements that its temperature concerns."""
    groups = [g for g in building.cell_groups if on in (g.part, g.name)]
    if groups:
        nodes = np.unique(np.concatenate([g.nodes.ravel() for g in groups]))
        return nodes, [(g, np.arange(len(g.nodes))) for g in groups]
    nodes = building.nodes_of(on, owner)
    mesh, _, name = str(on).partition(":")
    part = building.meshes[mesh][0] if mesh in building.meshes else None
    bare = name.removesuffix("@1")
    if part is not None and (not name or name == "all" or bare in part.cell_sets) and not name.endswith("@0"):
        found = []
        runs = [
            run for dimension in _dimensions(building, part, bare) for run in part.cells_of(name or None, dimension)
        ]
        for group in building.cell_groups:
            rows = [group.elements(mesh, b, len(part.blocks[b].cells))[cells] for b, cells in runs]
            all_rows = np.concatenate(rows) if rows else np.empty(0, np.int64)
            found.append((group, np.sort(all_rows[all_rows >= 0])))
    else:
        chosen = np.zeros(building.n_nodes, bool)
        chosen[nodes] = True
        found = [(g, np.flatnonzero(chosen[g.nodes].any(axis=1))) for g in building.cell_groups]
    found = [(group, elements) for group, elements in found if len(elements)]
    if not found:
        raise ModelError(
            f'no solid or plane part and no shell stands on "{on}"', owner=owner,
            remedy="give the part before its temperature",
        )  # fmt: skip
    return nodes, found


def _dimensions(building: Building, part: Mesh, name: str) -> list[int]:
    """Return the dimensions of the cells with elements in a cell set of a mesh, "" or "all" of the whole mesh."""
    if not building.shell_groups:
        return [building.dimension]
    blocks = [b for b, _ in part.cell_sets[name]] if name in part.cell_sets else range(len(part.blocks))
    return sorted({DIMENSION[part.blocks[b].kind] for b in blocks} & {2, 3}) or [building.dimension]


def _node_values(building: Building, owner: str, key_: str, value, nodes: np.ndarray) -> np.ndarray:
    if isinstance(value, str):
        x = building.positions[nodes]
        named = {c: x[:, i] for i, c in enumerate("xyz"[: building.dimension])}
        v = np.asarray(compile_expression(value, tuple(named))(*named.values()), float)
        good = np.isfinite(v)
    else:
        try:
            v = np.asarray(value, float)
        except (TypeError, ValueError):
            v = np.empty((0, 0))
        good = np.isfinite(v) | (np.isnan(v) & (v.ndim == 1))
    if v.shape not in ((), (len(nodes),)) or not good.all():
        raise ModelError(
            f"{key_} must be a finite number, an expression, or one number per node ({len(nodes)})", owner=owner
        )
    return np.broadcast_to(v, (len(nodes),))


def _block_of(building: Building, owner: str, group: CellGroup, elements: np.ndarray, index: int) -> Block:
    """Return the block of a group's elements, which must not follow another function of time."""
    block = next(b for b in building.blocks if b.groups[0][0] == group.name and b.type.name == group.type)
    other = block.column_of(elements, block.type.column("function"))
    if ((other >= 0) & (other != index)).any():
        number = group.ids[elements[np.argmax((other >= 0) & (other != index))]]
        raise ModelError(
            f'element {number} of "{group.part}" follows another function of time already',
            owner=owner,
            remedy="name one function for all its temperatures",
        )
    return block


def _heat(
    building: Building, owner: str, group: SolidGroup, elements: np.ndarray, theta: np.ndarray, index: int
) -> None:
    """Add nodal changes theta (m, k) to the thermal strains of elements."""
    if not group.material.expansion.any():
        raise ModelError(f'material "{group.material.name}" has no expansion', owner=owner, remedy="give it one")
    t = solid_plane if group.state else solid
    block = _block_of(building, owner, group, elements, index)
    points, _ = shapes.rule(group.kind, group.rule)
    first = t.NODES + block.type.dimension * block.type.ends
    strain = turned_strain(group.material.expansion, group.axes)[..., : 4 if group.state else 6]
    block.change(elements, t.STRAIN0, strain if strain.ndim == 1 else strain[elements])
    block.change(elements, t.FUNCTION, [index])
    block.change(elements, first, theta @ _at_points(group, points).T, add=True)


def _heat_shells(
    building: Building, owner: str, group: ShellGroup, elements: np.ndarray, change: np.ndarray, index: int
) -> None:
    """Add changes (m, k, 2) at the nodes, in the middle [K] and along the normal [K/m], to temperatures of shells."""
    if not group.section.expansion.any():
        raise ModelError(f'the materials of "{group.part}" have no expansion', owner=owner, remedy="give them one")
    if not group.bends and change[..., 1].any():
        raise ModelError(
            f'membranes like "{group.part}" do not bend by a gradient of temperature', owner=owner, key="gradient",
            remedy="remove gradient",
        )  # fmt: skip
    block = _block_of(building, owner, group, elements, index)
    group.heat[elements] += in_element(change)
    X, axes, strains = building.positions[group.nodes[elements]], group.axes[elements], group.thermal_strains[elements]
    function = block.type.column("function")
    block.change(elements, function, [index])
    block.change(elements, function + 1, free_strains(X, group.offset[elements], axes, strains))


@dataclass(frozen=True, eq=False)
class Temperature(Declaration):
    """Temperatures of solid and plane parts and of shells; those of one element add up and follow one function. In
    solid and plane parts of nonlinear kinematics alpha dT is a Green strain: a free length grows by
    sqrt(1 + 2 alpha dT) - 1, and by alpha dT with the change dT (1 + alpha dT/2).

    Apply a change of temperature, (value - reference) * f(t) [K], of solids, plane parts or shells.

    Args:
        on: a part, or cells "mesh" or "mesh:set": these elements get it; or a set of nodes, "mesh:set": nodes get
            it, and elements what follows between these and the others, which keep the reference.
        value: [K] at the nodes: a number, an expression of x, y, z, or an array over the nodes of ``on`` (NaN: this
            node keeps the reference); of shells in the middle of the thickness.
        reference: temperature without strain [K].
        gradient: of shells, change [K/m] along the normal, times f(t) too: as ``value`` at the nodes.

    Within an element the change is interpolated from the nodes: by the shape functions; constant in a hexahedron of
    full integration and a quad, in a hexahedron20 and a quad8 of full integration linear along each axis through the
    values at 2 x 2 x 2 (2 x 2) Gauss points, where their strains could not follow more (so does CalculiX); constant in
    the surface of shells of 3 and 4 nodes.
    Several temperatures of one element add up, and share one function.

    Raises:
        ModelError: no such part, a material without expansion, values that are not finite, a second function, a
            gradient in parts that are no shells or do not bend.
    """

    owner = "Temperature"

    name: str = key(NAME, "in messages and results", shows='"temperature 1", ...')
    on: Any = key(
        PLACE,
        "solid or plane part, shell, or cells of a mesh: these elements; or a set of nodes: elements take what follows "
        "between them and the others, which keep the reference",
    )
    value: Any = key(
        NUMBER_OR_EXPRESSION, "expressions of x, y, z of the nodes; of shells in the middle of the thickness", unit="K"
    )
    reference: float = key(NUMBER, "temperature without strain", 0.0, unit="K")
    function: Any = key(FUNCTION, "factor on the change", None, shows="1.0")
    gradient: Any = key(
        NUMBER_OR_EXPRESSION, "of shells, along the normal; expressions of x, y, z of the nodes", 0.0, kw_only=True,
        unit="K/m",
    )  # fmt: skip

    def build(self, building: Building) -> None:
        reference = self.reference
        function = self.function
        owner = building.label("Temperature", self.name)
        reference = building.number(reference, owner, "reference")
        nodes, found = _heated(building, owner, self.on)
        change, gradient = np.full(building.n_nodes, np.nan), np.zeros(building.n_nodes)
        change[nodes] = _node_values(building, owner, "value", self.value, nodes) - reference
        gradient[nodes] = np.nan_to_num(_node_values(building, owner, "gradient", self.gradient, nodes))
        if gradient.any():
            other = next((group for group, _ in found if not isinstance(group, ShellGroup)), None)
            if other is not None:
                raise ModelError(
                    f'"{other.part}" is no shell, which alone has a gradient along its normal', owner=owner,
                    key="gradient", remedy="give value as an expression, or name a shell",
                )  # fmt: skip
        if function is None and building.temperatures:
            function = next(iter(building.temperatures.values()))[1]
        elif function is None:
            function = 1.0
        index = building.function_index(function, owner, load=True)
        building.temperatures[self.name] = (index, building.used_functions[index][0])
        for group, elements in found:
            theta = change[group.nodes[elements]]
            some = ~np.isnan(theta).all(axis=1)
            elements, theta = elements[some], np.nan_to_num(theta[some])
            if isinstance(group, ShellGroup):
                both = np.stack((theta, gradient[group.nodes[elements]]), axis=2)
                _heat_shells(building, owner, group, elements, both, index)
            else:
                assert isinstance(group, SolidGroup)
                _heat(building, owner, group, elements, theta, index)


def _at_points(group: SolidGroup, points: np.ndarray) -> np.ndarray:
    """Return values at the integration points from those at the nodes, (q, k)."""
    if group.kind in ("hexahedron", "quad") and group.type != "solid_hexahedron_incompatible":
        n = shapes.n_nodes(group.kind)
        return np.full((len(points), n), 1.0 / n)
    if group.kind in _LINEAR and group.rule == "full":
        # linear along each axis, through the values at two points each, where the strains are best
        cell = _LINEAR[group.kind]
        inner = shapes.local_nodes(cell) / np.sqrt(3.0)
        return shapes.shape_functions(cell, np.sqrt(3.0) * points) @ shapes.shape_functions(group.kind, inner)
    return shapes.shape_functions(group.kind, points)
