"""Surfaces of reduced parts: their outer faces, with nodes of the model that follow the recovered displacements.

A node of the surface that is an interface is there already.  Every other one becomes a node of the model without mass,
tied to the body by x + sum_a d_a (c_a + Phi_a q) with the recovered shapes Phi at its place
(`fem_mbs.elements.flexible.tie`).  What acts there acts on frame and shapes by the work that it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.meshes.cells import DIMENSION, FACETS
from fem_mbs.model.building import Building
from fem_mbs.model.parts.reduced import PlacedPart

__all__ = ["SURFACE", "reduced_faces", "reduced_of", "surface_nodes"]

#: Name of the whole surface of a reduced part, "part:surface", unless an interface has this name.
SURFACE = "surface"
#: Kinds of cells that are faces themselves, by their number of nodes.
_PLANE = {3: "triangle", 4: "quad", 6: "triangle6", 8: "quad8"}


def reduced_of(building: Building, place: Any) -> str | None:
    """Return the reduced part that a place "part:interface" or "part:surface" is of; None: it is of something else."""
    part, colon, _ = str(place).partition(":")
    return part if colon and isinstance(place, str) and part in building.reduced_parts else None


def surface_nodes(building: Building, owner: Owner, place: Any) -> np.ndarray:
    """Return the nodes (n,) of a place or a list of places, among which "part:surface" are all nodes of the outer faces
    of a reduced part.

    Raises:
        ModelError: there is no such place, or the part has no faces.
    """
    if isinstance(place, (list, tuple)):
        return np.concatenate([np.empty(0, np.int64), *(surface_nodes(building, owner, of) for of in place)])
    name = reduced_of(building, place)
    if name is None or not _whole(building.reduced_parts[name], str(place)):
        return building.nodes_of(place, owner)
    reduced_faces(building, owner, name, [str(place)])
    return building.surfaces[str(place)]


def reduced_faces(building: Building, owner: Owner, name: str, places: Sequence[str]) -> list[np.ndarray]:
    """Return the outer faces (n, k) of a reduced part between all nodes of the named places, as nodes of the model.

    Args:
        name: of the part.
        places: "part:surface" for all faces, or "part:interface" of single nodes or of sets, of which the faces are
            those with all their nodes in any of the named interfaces.

    Raises:
        ModelError: the part holds no displacements or no faces, or no face lies between the named interfaces.
    """
    placed = building.reduced_parts[name]
    recovery = placed.part.recovery
    if recovery is None:
        raise ModelError(
            f'reduced part "{name}" holds no displacements of its nodes ({placed.part.method}), and so no faces',
            owner=owner, key="a", value=list(places), remedy="reduce it from its model, with recovery",
        )  # fmt: skip
    outer = _outer(recovery.cells)
    if not outer:
        raise ModelError(
            f'reduced part "{name}" has no solids or shells, and so no faces', owner=owner, key="a",
            value=list(places), remedy="name faces of another part",
        )  # fmt: skip
    if any(_whole(placed, place) for place in places):
        chosen = outer
    else:
        chosen = _between(placed, name, owner, places, outer)
    used, which = np.unique(np.concatenate([table.ravel() for table in chosen]), return_inverse=True)
    which = _followers(building, name, placed, used)[which.ravel()]
    if chosen is outer:
        building.surfaces[f"{name}:{SURFACE}"] = np.unique(which)
    starts = np.cumsum([0, *(table.size for table in chosen)])
    return [
        which[first : first + table.size].reshape(table.shape) for first, table in zip(starts, chosen, strict=False)
    ]


def _whole(placed: PlacedPart, place: str) -> bool:
    return place == f"{placed.name}:{SURFACE}" and SURFACE not in placed.interfaces


def _outer(cells: Sequence[tuple[str, np.ndarray]]) -> list[np.ndarray]:
    """Return the faces (n, k) of shells, and those of solids that are of one cell only."""
    plane: list[np.ndarray] = []
    solid: dict[str, list[np.ndarray]] = {}
    for kind, nodes in cells:
        if DIMENSION.get(kind) == 3:
            for facet, local in FACETS[kind]:
                solid.setdefault(facet, []).append(nodes[:, list(local)])
        elif nodes.shape[1] in _PLANE:
            plane.append(np.asarray(nodes))
    for facet, tables in solid.items():
        table = np.concatenate(tables)
        corners = 3 if facet.startswith("triangle") else 4
        _, which, count = np.unique(
            np.sort(table[:, :corners], axis=1), axis=0, return_inverse=True, return_counts=True
        )
        plane.append(table[count[which.ravel()] == 1])
    return [table for table in plane if len(table)]


def _between(
    placed: PlacedPart, name: str, owner: Owner, places: Sequence[str], outer: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Return the faces between the nodes of interfaces."""
    interfaces = {interface.name: interface for interface in placed.part.interfaces}
    own: list[int] = []
    for place in places:
        interface = interfaces.get(place.partition(":")[2])
        if interface is None:
            known = ", ".join(f'"{name}:{k}"' for k in (*interfaces, SURFACE))
            raise ModelError(
                f'reduced part "{name}" has no interface "{place.partition(":")[2]}"', owner=owner, key="a",
                value=place, remedy=f"there are {known}",
            )  # fmt: skip
        own += [int(k) for k in interface.nodes]
    chosen = [table[np.isin(table, own).all(axis=1)] for table in outer]
    if any(len(table) for table in chosen):
        return [table for table in chosen if len(table)]
    best = max(outer, key=lambda table: np.isin(table, own).mean(axis=1).max())
    face = best[int(np.argmax(np.isin(best, own).sum(axis=1)))]
    recovery = placed.part.recovery
    assert recovery is not None
    names = recovery.names
    missing = ", ".join(f'"{names[int(k)]}"' for k in face if int(k) not in own)
    raise ModelError(
        f'no face of reduced part "{name}" has all its nodes in {", ".join(places)}', owner=owner, key="a",
        value=list(places), remedy=f'retain the nodes {missing} too, or name "{name}:{SURFACE}"',
    )  # fmt: skip


def _followers(building: Building, name: str, placed: PlacedPart, nodes: np.ndarray) -> np.ndarray:
    """Return the model's nodes (n,) of nodes (n,) of a part's own model; those that are not there yet are made."""
    recovery, dim, n = placed.part.recovery, building.dimension, placed.part.size
    assert recovery is not None
    there = {
        int(interface.nodes[0]): placed.interfaces[interface.name]
        for interface in placed.part.interfaces
        if interface.kind == "node"
    }
    labels = [f"{name}:node {recovery.names[k]}" for k in nodes]
    found = np.array([
        there.get(int(k), building.named_nodes.get(label, -1)) for k, label in zip(nodes, labels, strict=True)
    ])  # fmt: skip
    new = np.flatnonzero(found < 0)
    if not len(new):
        return found
    own = nodes[new]
    found[new] = building.add_nodes(placed.start + recovery.x[own] @ placed.rotation.T) + np.arange(len(new))
    for k in new:
        building.names.add(labels[k], None, 1)
        building.named_nodes[labels[k]] = int(found[k])
    frames = np.column_stack((np.full(len(new), placed.node), found[new]))
    arms = {f"c{c}": (recovery.x[own] - placed.centre)[:, i] for i, c in enumerate("xyz"[:dim])}
    block = building.add_block(f"{name}:{SURFACE}", f"flexible_point{dim}_{n}", frames, np.zeros((dim, n)), **arms)
    block.par[:, -dim * n :] = recovery.displacement[own].reshape(len(own), -1)
    block.pressed = True
    block.scalars = np.tile(placed.scalars, (len(new), 1))
    block.preferred = np.column_stack((np.repeat(found[new], dim), np.tile(np.arange(dim), len(new))))
    return found
