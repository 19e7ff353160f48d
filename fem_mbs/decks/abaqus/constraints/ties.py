"""Ties of a deck: surfaces that are glued together.

    slave                    master                  what is made
    solids, nodes            faces of solids         `Model.tie`, exact at any displacement
    shells                   faces of solids         equations: the point of the shell on the face moves as the face
    solids, shells, nodes    faces, edges of shells  equations of displacements, and of rotations where both have them
    any                      nodes                   equations of each node with the nearest one

A node of a shell that stands off the master, for example by half its thickness, carries the point of the face with its
rotation: u + theta x r = sum N_i u_i, with r from the node to the face.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial import cKDTree

from fem_mbs.decks.abaqus.constraints.table import EquationTable
from fem_mbs.decks.abaqus.loads import surface_facets
from fem_mbs.decks.abaqus.model import Conversion, Group
from fem_mbs.decks.abaqus.shells import edge_number
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.abaqus.deck import Tie
from fem_mbs.meshes.vocabulary import Effect
from fem_mbs.system.surfaces import Foot, closest_points

__all__ = ["make_ties", "plan_ties", "tied_nodes"]

#: Distance up to which nodes are tied, over the size of the facets, if none is given.
_NEAR = 0.05
#: Of the size of the model: a node stands on a surface that is nearer.
_ON = 1e-9
_DUST = 1e-12


def plan_ties(conv: Conversion) -> None:
    """Create facet sets of faces of solids that ties join, and move slave nodes onto them where ties say so."""
    for tie in conv.deck.ties:
        if not _has_shells(conv, tie.master) and conv.deck.surfaces[tie.master].kind == "element":
            conv.facets[f"{tie.master} (tie)"] = surface_facets(conv, tie.master, tie.where)
        if tie.adjust:
            _adjust(conv, tie)


def make_ties(conv: Conversion, table: EquationTable) -> None:
    """Create the ties of the model.

    Raises:
        ModelError: no node of a slave is near enough; UnsupportedError: surfaces of shells and other elements in one.
    """
    for tie in conv.deck.ties:
        conv.places[f"tie {tie.name}"] = tie.where
        nodes = _nodes(conv, tie.slave)
        if conv.deck.surfaces[tie.master].kind != "element":
            _pair(conv, table, tie, nodes)
        elif f"{tie.master} (tie)" in conv.facets and not conv.rotational[nodes].any():
            master = f"deck:{tie.master} (tie)"
            conv.model.tie(f"tie {tie.name}", nodes, master, tie.tolerance, False)
        else:
            _glue(conv, table, tie, nodes)


def tied_nodes(conv: Conversion, tie: Tie) -> tuple[np.ndarray, np.ndarray]:
    """Return all nodes (m,) of the slave and (k,) of the master of a tie."""
    return _nodes(conv, tie.slave), _nodes(conv, tie.master)


def _nodes(conv: Conversion, name: str) -> np.ndarray:
    """Return the nodes (m,) of the model on a surface of elements or nodes that elements use."""
    surface = conv.deck.surfaces[name]
    if surface.kind != "element":
        nodes = np.unique(conv.nodes(surface.nodes))
    elif not _has_shells(conv, name):
        from fem_mbs.elements.solids.shapes import FACES

        found = surface_facets(conv, name, "")
        nodes = np.unique(np.concatenate([
            g.nodes[row][list(FACES[g.cell][face][1])] for g, rows, faces in found
            for row, face in zip(rows.tolist(), faces.tolist(), strict=True)
        ]))  # fmt: skip
    else:
        nodes = np.unique(np.concatenate([table.ravel() for _, table in _of_shells(conv, name, "")]))
    return nodes[conv.used[nodes]]


def _groups(conv: Conversion, name: str) -> list[tuple[str, Group, np.ndarray]]:
    """Return side, group and rows (m,) of the elements of a surface."""
    surface = conv.deck.surfaces[name]
    elements, sides = np.asarray(surface.elements), np.asarray(surface.faces)
    return [(str(s), *pair) for s in np.unique(sides) for pair in conv.element_groups(elements[sides == s])]


def _has_shells(conv: Conversion, name: str) -> bool:
    surface = conv.deck.surfaces[name]
    return surface.kind == "element" and any(group.kind == "shell" for _, group, _ in _groups(conv, name))


def _of_shells(conv: Conversion, name: str, where: str) -> list[tuple[str, np.ndarray]]:
    """Return facets (kind, nodes (m, k)) of a surface of shells: their faces, or lines of their edges.

    Raises:
        UnsupportedError: other elements are among them.
    """
    found = []
    for side, group, rows in _groups(conv, name):
        if group.kind != "shell":
            raise UnsupportedError(f"surface {name} has shells and other elements, and cannot be tied", place=where,
                                   remedy="give each a surface and a tie of its own")  # fmt: skip
        if side in ("SPOS", "SNEG"):
            found.append((group.cell, group.nodes[rows]))
            continue
        corners = 3 if group.cell.startswith("triangle") else 4
        edge = edge_number(side)
        local = [edge, (edge + 1) % corners]
        if group.nodes.shape[1] > 4:
            local.append(corners + edge)
        found.append((f"line{len(local)}", group.nodes[rows][:, local]))
    return found


def _master_facets(conv: Conversion, tie: Tie) -> list[tuple[str, np.ndarray]]:
    """Return facets (kind, nodes (m, k)) of a master of elements."""
    from fem_mbs.elements.solids.shapes import FACES

    if _has_shells(conv, tie.master):
        return _of_shells(conv, tie.master, tie.where)
    found = []
    for group, rows, faces in conv.facets[f"{tie.master} (tie)"]:
        for face in np.unique(faces).tolist():
            kind, local = FACES[group.cell][face]
            found.append((kind, group.nodes[rows[faces == face]][:, list(local)]))
    return found


def _foot(conv: Conversion, tie: Tie, nodes: np.ndarray) -> tuple[np.ndarray, Foot, np.ndarray, np.ndarray]:
    """Return slave nodes (m,) near enough, their feet, and nodes (m, k) of the master with weights (m, k)."""
    facets, x = _master_facets(conv, tie), conv.deck.x
    nodes = np.setdiff1d(nodes, np.concatenate([table.ravel() for _, table in facets]))
    if not nodes.size:
        return nodes, Foot(np.empty(0, int), np.empty(0, int), np.empty(0), np.empty((0, 1))), nodes[:, None], x[:0, :1]
    dim = 2 if conv.plane else 3
    foot = closest_points(x[nodes][:, :dim], [(kind, x[table][..., :dim]) for kind, table in facets])
    width = foot.weights.shape[1]
    masters, size = np.zeros((len(nodes), width), np.int64), np.zeros(len(nodes))
    for g, (_, table) in enumerate(facets):
        mine = np.flatnonzero(foot.group == g)
        masters[mine, : table.shape[1]] = table[foot.facet[mine]]
        size[mine] = np.ptp(x[table[foot.facet[mine]]], axis=1).max(axis=1, initial=0.0)
    limit = np.full(len(nodes), tie.tolerance) if tie.tolerance is not None else _NEAR * size
    limit = np.maximum(limit, 1.001 * _half(conv, nodes)) if tie.tolerance is None else limit
    held = foot.distance <= limit
    if not held.any():
        i = int(foot.distance.argmin())
        raise ModelError(
            f"no node of {tie.slave} is within {limit[i]:g} of {tie.master}; the nearest, {conv.name_of(nodes[i])}, "
            f"stands {foot.distance[i]:.3g} away", place=tie.where, remedy="give a larger POSITION TOLERANCE",
        )  # fmt: skip
    if not held.all():
        conv.note(
            f"{tie.where}: {int((~held).sum())} of {len(held)} nodes of {tie.slave} are farther from {tie.master} than "
            "the tolerance, and stay free", Effect.NONE,
        )  # fmt: skip
    w = np.where(np.abs(foot.weights) > _DUST, foot.weights, 0.0)
    w /= w.sum(axis=1, keepdims=True)
    near = Foot(foot.group[held], foot.facet[held], foot.distance[held], foot.weights[held])
    return nodes[held], near, masters[held], w[held]


def _half(conv: Conversion, nodes: np.ndarray) -> np.ndarray:
    """Return half the thickness (m,) of the shells at nodes (m,), zero elsewhere."""
    half = np.zeros(len(conv.deck.node_ids))
    for group in conv.groups:
        if group.kind == "shell":
            np.maximum.at(half, group.nodes.ravel(), 0.5 * group.section.thickness)
    return half[nodes]


def _adjust(conv: Conversion, tie: Tie) -> None:
    """Move slave nodes onto the master, before anything is made of them; nodes of shells and beams keep their place,
    which their thickness may explain."""
    x = conv.deck.x
    nodes = _nodes(conv, tie.slave)
    if conv.rotational[nodes].any() or conv.deck.surfaces[tie.master].kind != "element":
        return
    nodes, foot, masters, w = _foot(conv, tie, nodes)
    off = foot.distance > _ON * float(np.ptp(x, axis=0).max())
    if not off.any():
        return
    moved = x.copy()
    moved[nodes[off]] = np.einsum("nk,nkd->nd", w[off], x[masters[off]])
    conv.deck = replace(conv.deck, x=moved)


def _pair(conv: Conversion, table: EquationTable, tie: Tie, nodes: np.ndarray) -> None:
    """Tie each node to the nearest one of a surface of nodes."""
    x, masters = conv.deck.x, _nodes(conv, tie.master)
    nodes = np.setdiff1d(nodes, masters)
    if not len(masters) or not len(nodes):
        raise ModelError(f"the surfaces {tie.slave} and {tie.master} have no nodes to tie", place=tie.where)
    distance, at = cKDTree(x[masters]).query(x[nodes])
    limit = tie.tolerance if tie.tolerance is not None else _NEAR * _spacing(conv, masters)
    held = distance <= limit
    if not held.any():
        raise ModelError(
            f"no node of {tie.slave} is within {limit:g} of one of {tie.master}; the nearest stands "
            f"{distance.min():.3g} away", place=tie.where, remedy="give a larger POSITION TOLERANCE",
        )  # fmt: skip
    for node, master in zip(nodes[held].tolist(), masters[at[held]].tolist(), strict=True):
        turning = not tie.free_rotation and conv.rotational[node] and conv.rotational[master]
        for k in range(6 if turning else 2 if conv.plane else 3):
            table.add([node, master], [k, k], [1.0, -1.0], tie.where, preferred=False)


def _spacing(conv: Conversion, nodes: np.ndarray) -> float:
    """Return the mean size of the elements that use nodes (m,)."""
    sizes = [np.ptp(conv.deck.x[g.nodes[np.isin(g.nodes, nodes).any(axis=1)]], axis=1).max(axis=1) for g in conv.groups]
    found = np.concatenate([*sizes, np.empty(0)])
    return float(found.mean()) if len(found) else 0.0


def _glue(conv: Conversion, table: EquationTable, tie: Tie, nodes: np.ndarray) -> None:
    """Tie nodes to faces or edges by equations."""
    x = conv.deck.x
    nodes, foot, masters, weights = _foot(conv, tie, nodes)
    near = _ON * float(np.ptp(x, axis=0).max())
    off = foot.distance > near
    if conv.nlgeom and off.any():
        conv.note(f"{tie.where}: nodes that stand off {tie.master} follow it for small rotations only", Effect.DIFFERS)
    for node, ends, w, gap in zip(nodes.tolist(), masters, weights, off.tolist(), strict=True):
        used = w != 0.0
        ends, w = ends[used], w[used]
        arm = w @ x[ends] - x[node] if gap else np.zeros(3)
        owns = bool(conv.rotational[node])
        both = owns and bool(conv.rotational[ends].all())
        # with the gap the rotation of the node carries the point on the face, or the face the node
        turning, parts = ([node], np.ones(1)) if owns else (list(ends), w)
        if gap and not owns and not conv.rotational[ends].all():
            turning = []
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            n, c, f = [node, *ends], [k] * (1 + len(ends)), [1.0, *(-w)]
            if gap and turning:
                n += 2 * turning
                c += [3 + i] * len(turning) + [3 + j] * len(turning)
                f += [*(arm[j] * parts), *(-arm[i] * parts)]
            table.add(n, c, f, tie.where, preferred=False)
        if both and not tie.free_rotation:
            for k in range(3, 6):
                table.add([node, *ends], [k] * (1 + len(ends)), [1.0, *(-w)], tie.where, preferred=False)
