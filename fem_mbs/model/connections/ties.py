"""Ties of the model builder: nodes that stay on a surface of other elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import FLAG, NAME, NUMBER, PLACES
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.meshes.cells import DIMENSION, FACETS, facets_of
from fem_mbs.model.building import Building
from fem_mbs.model.connections.terms import add_rows, nodes_at
from fem_mbs.system.surfaces import Foot, closest_points
from fem_mbs.units import unit_of

__all__ = ["Tie", "surface_of"]

#: Distance up to which nodes are tied, over the size of the facets, if none is given.
_NEAR = 0.05
#: Weights below this are none.
_DUST = 1e-12


def _left_free(building: Building, owner: str, nodes: np.ndarray, distance: np.ndarray) -> None:
    if nodes.size:
        order = np.argsort(distance)
        names = ", ".join(
            f'"{building.node_name(int(nodes[i]))}" ({distance[i]:.3g} {unit_of("m")})' for i in order[:5]
        )
        more = f" and {nodes.size - 5} more" if nodes.size > 5 else ""
        building.warnings.append(
            f"{owner}: {nodes.size} nodes are farther than the tolerance from the surface and stay free: {names}{more}"
        )


def surface_of(building: Building, owner: str, master) -> list[tuple[str, np.ndarray]]:
    """Return facets (kind, nodes (m, k)) that places name."""
    facets: list[tuple[str, np.ndarray]] = []
    for place in [master] if isinstance(master, str) else list(master):
        mesh, _, name = str(place).partition(":")
        part, start = building.find("mesh", mesh, building.meshes, owner)
        if name and name.removesuffix("@1") in part.facet_sets:
            found = part.facet_nodes(name)
        else:
            found = _outside(building, owner, place, part, name or None)
        facets += [(kind, start + nodes) for kind, nodes in found if len(nodes)]
    if not facets:
        raise ModelError(
            f'"{master}" holds no facets', owner=owner, remedy="name a facet set, lines, plane cells or solids"
        )
    return facets


def _outside(building: Building, owner: str, place, part, name: str | None) -> list[tuple[str, np.ndarray]]:
    """Return facets of cells: the cells themselves if they are lines or, in space, plane; else their outline."""
    if name is None:
        cells = [(b, np.arange(len(block.cells))) for b, block in enumerate(part.blocks)]
    else:
        part.nodes_of(name)  # an unknown name ends here
        cells = list(part.cell_sets.get(name.removesuffix("@1"), ()))
    most = max((DIMENSION[part.blocks[b].kind] for b, _ in cells), default=0)
    if most == 0:
        raise ModelError(f'"{place}" is a set of points', owner=owner, remedy="name a facet set or a set of cells")
    if most < building.dimension:
        return [
            (part.blocks[b].kind, part.blocks[b].cells[c]) for b, c in cells if DIMENSION[part.blocks[b].kind] == most
        ]
    out: dict[str, list[np.ndarray]] = {}
    for b, c in cells:
        kind = part.blocks[b].kind
        if DIMENSION[kind] == most:
            each = len(FACETS[kind])
            table = part.blocks[b].cells[np.repeat(c, each)]
            for facet, _, nodes in facets_of(kind, table, np.tile(np.arange(each), len(c))):
                out.setdefault(facet, []).append(nodes)
    result = []
    for facet, parts in out.items():
        nodes = np.concatenate(parts)
        _, first, count = np.unique(np.sort(nodes, axis=1), axis=0, return_index=True, return_counts=True)
        result.append((facet, nodes[first[count == 1]]))  # a facet of two cells lies inside
    return result


def _adjust(building: Building, owner: str, nodes: np.ndarray, x: np.ndarray) -> None:
    """Move nodes to new places."""
    used = np.zeros(building.n_nodes, bool)
    for block in building.blocks:
        used[block.nodes[block.nodes >= 0]] = True
    if used[nodes].any():
        first = building.node_name(int(nodes[used[nodes]][0]))
        raise ModelError(
            f'adjust would move node "{first}", which elements already use',
            owner=owner,
            remedy="make the tie before the part",
        )
    building.move_nodes(nodes, x)


@dataclass(frozen=True, eq=False)
class Tie(Declaration):
    """Nodes that stay on the surface of another part (made before the parts).

    Tie nodes to the nearest points of a surface: u = sum N_i u_i with its shape functions there.

    Nodes on the surface are held exactly, at any size of displacements and rotations.  One that stands off it keeps
    this gap in direction and length, while the surface turns: two forces at a distance, which resist a rotation by
    the order of the gap, also in linear steps.  ``adjust`` moves such nodes onto the surface; the parts that use
    them must be made afterwards.

    Args:
        slave: places whose nodes are tied; those of the surface itself do not count.
        master: "mesh:set" (or a list of them) of a facet set, or of lines, of plane cells (in space themselves, in
            the plane their outline), of solids (their outer faces); or "mesh".
        tolerance: [m] nodes farther away are left free, which `warnings` tells; None: 1/20 of the size of the
            nearest facet.

    Raises:
        ModelError: no node is near enough, ``adjust`` where elements already use a node.
    """

    owner = "Tie"

    name: str = key(NAME, "in messages and results", shows='"tie 1", ...')
    slave: Any = key(PLACES, "whose nodes stay on the surface")
    master: Any = key(PLACES, "the surface: a facet set, or lines, plane cells (in the plane their outline) or solids")
    tolerance: float | None = key(
        NUMBER, "nodes farther away stay free", None, shows="1/20 of the nearest facet", unit="m"
    )
    adjust: bool = key(FLAG, "move the nodes onto the surface first", False)

    def build(self, building: Building) -> None:
        tolerance = self.tolerance
        owner = building.label("Tie", self.name)
        if tolerance is not None:
            tolerance = building.number(tolerance, owner, "tolerance", 0.0)
        facets = surface_of(building, owner, self.master)
        found = nodes_at(building, owner, self.slave)
        nodes = np.setdiff1d(found, np.concatenate([table.ravel() for _, table in facets]))
        if not nodes.size:
            raise ModelError(
                "all its nodes belong to the surface itself", owner=owner, remedy="name those of the other part"
            )
        x = building.positions
        foot = closest_points(x[nodes], [(kind, x[table]) for kind, table in facets])
        limit = tolerance
        if limit is None:
            limit = _NEAR * _sizes(facets, x, foot)
        held = foot.distance <= limit
        if not held.any():
            i = int(foot.distance.argmin())
            raise ModelError(
                f"none of its {len(nodes)} nodes is within {np.broadcast_to(limit, held.shape)[i]:g} {unit_of('m')} "
                f'of "{self.master}"',
                owner=owner,
                remedy=(
                    f'the nearest, "{building.node_name(int(nodes[i]))}", is {foot.distance[i]:g} {unit_of("m")} away; '
                    "move the parts or raise tolerance"
                ),
            )
        _left_free(building, owner, nodes[~held], foot.distance[~held])
        width = foot.weights.shape[1]
        masters = np.zeros((len(nodes), width), np.int64)
        for g, (_, table) in enumerate(facets):
            mine = np.flatnonzero(foot.group == g)
            masters[mine, : table.shape[1]] = table[foot.facet[mine]]
        nodes, masters, weights = nodes[held], masters[held], foot.weights[held]
        weights = np.where(np.abs(weights) > _DUST, weights, 0.0)
        weights /= weights.sum(axis=1, keepdims=True)
        gap = foot.distance[held] > 1e-9 * max(float(np.ptp(x, axis=0).max()), 1e-300)
        if self.adjust:
            _adjust(building, owner, nodes[gap], np.einsum("nk,nkd->nd", weights[gap], x[masters[gap]]))
        elif gap.any():
            i = int(foot.distance[held].argmax())
            building.warnings.append(
                f"{owner}: {int(gap.sum())} of {len(nodes)} nodes stand off the surface, most of all "
                f'"{building.node_name(int(nodes[i]))}", by {foot.distance[held][i]:.3g} {unit_of("m")}; they resist '
                "rotations a little, adjust moves them onto it"
            )
        dim, (row, k) = building.dimension, np.nonzero(weights)
        n = len(nodes)
        term_rows = np.concatenate((np.arange(n), row))
        term_nodes = np.concatenate((nodes, masters[row, k]))
        values = np.concatenate((np.ones(n), -weights[row, k]))
        count = len(term_rows)
        add_rows(
            building,
            self.name,
            owner,
            (term_rows[:, None] * dim + np.arange(dim)).ravel(),
            np.repeat(term_nodes, dim),
            np.tile(np.arange(dim), count),
            np.repeat(values, dim),
            0.0,
            None,
            reported=nodes,
        )


def _sizes(facets, x: np.ndarray, foot: Foot) -> np.ndarray:
    """Return largest extent (n,) of the facet that each foot is on."""
    out = np.empty(len(foot.facet))
    for g, (_, table) in enumerate(facets):
        mine = foot.group == g
        out[mine] = np.ptp(x[table[foot.facet[mine]]], axis=1).max(axis=1)
    return out
