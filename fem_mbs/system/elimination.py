"""Joints that need no multipliers: nodes that coincide share their unknowns (Russell & Willmert 1993).

A pin or spherical joint between two nodes at one place makes their displacements equal, a weld (or what else keeps two
nodes from turning against each other) their rotations: theta_b = theta_a turns any two sets of directors alike,
whatever the angle between them.  Over every step this is the same motion as with multipliers, with fewer unknowns;
only the reaction of the joint is not known.  Eccentric points depend on the rotation and keep their multipliers; so do
joints with a sensor, those that touch a support or motion, whose nodes have no unknowns to share, and all of a model
that is assembled first.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from fem_mbs.system.blocks import Block, Nodes

__all__ = ["shared_coordinates"]

_SAME_PLACE = 1e-13  # of the size of the model
_ALIGNED = 1e-12  # [rad]


def shared_coordinates(
    blocks: list[Block], nodes: Nodes, held: np.ndarray, kept: Collection[str]
) -> tuple[list[Block], np.ndarray, list[tuple[str, int]]]:
    """Remove the joints that shared unknowns can replace.

    Args:
        blocks: merged, one per element type.
        held: (n, dim + rotations) bool: supports and motions.
        kept: names of joints that must keep their multipliers.

    Returns:
        The blocks left, pairs (m, 3) of nodes a, b and 0 (they share displacements) or 1 (rotations), and for each
        joint without elements its name and a node where it is.
    """
    dim = nodes.x.shape[1]
    found: list[tuple[int, np.ndarray]] = []  # block, rows that could go
    pairs, stays = [], []
    for number, block in enumerate(blocks):
        rows, rotation = _candidates(block, nodes)
        if rows.size:
            found.append((number, rows))
            pairs.append(np.column_stack((block.nodes[rows], np.full(rows.size, rotation))))
            stays.append(np.isin(_labels(block)[rows], list(kept)))
    if not found:
        return blocks, np.zeros((0, 3), np.int64), []
    all_pairs = np.concatenate(pairs)
    free = _free_to_share(all_pairs, np.concatenate(stays), held, dim)
    at = 0
    left = list(blocks)
    gone: dict[str, int] = {}
    for number, rows in found:
        rows_free = rows[free[at : at + rows.size]]
        at += rows.size
        block = blocks[number]
        labels = _labels(block)
        for label, node in zip(labels[rows_free], block.nodes[rows_free, 1], strict=True):
            gone.setdefault(str(label), int(node))
        keep = np.ones(block.size, bool)
        keep[rows_free] = False
        left[number] = _part(block, keep)
    left = [block for block in left if block.size]
    still = {name for block in left for name, _, _ in block.groups}
    return left, all_pairs[free], [(name, node) for name, node in gone.items() if name not in still]


def _candidates(block: Block, nodes: Nodes) -> tuple[np.ndarray, int]:
    """Return rows of a block that equal unknowns could replace, and whether these are rotations (1) or displacements
    (0).

    Open joints, which `Model.assembly` is to close, are not among them.
    """
    name, x = block.type.name, nodes.x
    if name in ("point2", "point3"):
        good = (block.nodes >= 0).all(axis=1) & (block.par[:, 1:] == 0.0).all(axis=1)
        good[good] = (block.nodes[good, 0] != block.nodes[good, 1]) & (
            np.abs(x[block.nodes[good, 1]] - x[block.nodes[good, 0]]).max(axis=1)
            <= _SAME_PLACE * np.ptp(x, axis=0).max()
        )
        return np.flatnonzero(good), 0
    if name in ("angle2", "orientation3"):
        good = (block.nodes >= 0).all(axis=1) & (block.par[:, block.type.column("function")] < 0.0)
        good[good] = nodes.rotational[block.nodes[good]].all(axis=1)
        rows = np.flatnonzero(good)
        a, b = (nodes.rotation[block.nodes[rows, k]] for k in range(2))
        if name == "angle2":
            error = np.abs(b - a - block.par[rows, block.type.column("angle")])
        else:
            triads = block.par[rows][:, 2:].reshape(-1, 2, 3, 3)
            error = np.abs(a @ triads[:, 0] - b @ triads[:, 1]).max(axis=(1, 2))
        return rows[error <= _ALIGNED], 1
    return np.zeros(0, np.int64), 0


def _free_to_share(pairs: np.ndarray, stays: np.ndarray, held: np.ndarray, dim: int) -> np.ndarray:
    """Return a mask (m,) of the pairs whose nodes may share unknowns.

    None of the nodes that a pair ties together, also by way of other pairs, may be held in these unknowns, and no joint
    between them may need its multipliers, on which shared unknowns would have no effect.
    """
    free = np.ones(len(pairs), bool)
    n = held.shape[0]
    for kind in (0, 1):
        mine = pairs[:, 2] == kind
        a, b = pairs[mine, 0], pairs[mine, 1]
        graph = coo_matrix((np.ones(a.size), (a, b)), shape=(n, n))
        _, part = connected_components(graph, directed=False)
        any_held = (held[:, :dim] if kind == 0 else held[:, dim:]).any(axis=1)
        bad = np.zeros(n, bool)
        np.logical_or.at(bad, part, any_held)
        bad[part[a[stays[mine]]]] = True
        free[mine] = ~bad[part[a]]
    return free


def _labels(block: Block) -> np.ndarray:
    """Return the name of the group of each element."""
    return np.repeat([name for name, _, _ in block.groups], [last - first for _, first, last in block.groups])


def _part(block: Block, keep: np.ndarray) -> Block:
    """Return a block with some of its elements."""
    ends = np.concatenate(([0], np.cumsum(keep)))
    groups = [(name, int(ends[first]), int(ends[last])) for name, first, last in block.groups]
    groups = [group for group in groups if group[2] > group[1]]
    preferred = block.preferred
    if preferred is not None:
        preferred = preferred.reshape(block.size, -1, 2)[keep].reshape(-1, 2)
    return replace(block, groups=groups, nodes=block.nodes[keep], par=block.par[keep], preferred=preferred)
