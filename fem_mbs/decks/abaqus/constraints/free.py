"""Motions of a rigid body that a deck's supports leave free in linear statics.

Abaqus warns of zero pivots there and goes on: where the loads do no work on such a motion, its displacements are right
but for the motion itself. Here single directions are held against it. After the step their reactions tell whether the
loads are in balance (`check_balance`).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space, qr
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from fem_mbs.decks.abaqus.constraints.table import DIRECTIONS
from fem_mbs.decks.abaqus.constraints.ties import tied_nodes
from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.errors import ModelError
from fem_mbs.meshes.abaqus.deck import Coupling, RigidBody
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["check_balance", "hold_free_motions"]

#: Of the largest: singular values of the supports' grip on the motions of a body below this are zero.
_LOOSE = 1e-9
#: Work of the reactions of held free motions, over the strain energy: above it loads push the free motion.
_BALANCE = 1e-6


def hold_free_motions(conv: Conversion, held: dict[int, np.ndarray]) -> None:
    """Hold rigid bodies in the linear STATIC steps of a deck of Abaqus that do not hold them.

    Args:
        held: of each step (index) the keys (m,), six per node, of the dofs that its supports hold.
    """
    deck = conv.deck
    others = (deck.equations, deck.mpcs, deck.pretensions, deck.cyclic_ties)
    jointed = any(b.family in ("connector", "distributing coupling") or b.type in ("SPRING1", "SPRING2")
                  for b in deck.blocks)  # fmt: skip
    fixed = any(b.fixed for step in deck.steps[1:] for b in step.boundaries)
    if not deck.of_abaqus or any(others) or jointed or fixed or conv.nlgeom:
        return
    steps = [i for i in held if deck.steps[i].procedure == "STATIC"]
    if not steps:
        return
    bodies, tied = _bodies(conv)
    groups: dict[bytes, str] = {}
    for i in steps:
        found = [key for nodes in bodies for key in _free(conv, nodes, held[i], tied)]
        if not found:
            continue
        keys = np.array(sorted(found))
        name = groups.setdefault(keys.tobytes(), f"free motion {len(groups) + 1}")
        nodes, directions = np.divmod(keys, 6)
        if name not in conv.free:
            conv.free[name] = keys
            for d in np.unique(directions).tolist():
                conv.model.fix(nodes[directions == d], [DIRECTIONS[d]], group=name)
        conv.step_supports.setdefault(i, []).append(name)
        shown = ", ".join(
            f"{conv.name_of(n)} in direction {d + 1}" for n, d in zip(nodes[:6], directions, strict=False)
        )
        more = f" and {len(keys) - 6} more" if len(keys) > 6 else ""
        conv.note(
            f"{deck.steps[i].where}: nothing holds the model against {len(keys)} motions of rigid bodies; node {shown}"
            f"{more} is held, so that displacements are right but for these motions (Abaqus warns of zero pivots)",
            Effect.DIFFERS,
        )


def _bodies(conv: Conversion) -> tuple[list[np.ndarray], np.ndarray]:
    """Return nodes (m,) of each connected part of the model, and which nodes (n,) bool follow others."""
    n = len(conv.deck.node_ids)
    tables = [g.nodes for g in conv.groups]
    tables += [conv.nodes(b.nodes.ravel()).reshape(b.nodes.shape) for b in conv.deck.blocks if b.type == "SPRINGA"]
    tied = np.zeros(n, bool)
    entries: tuple[RigidBody | Coupling, ...] = (*conv.deck.rigid_bodies, *conv.deck.couplings)
    for entry in entries:
        nodes = conv.nodes(entry.nodes)
        tied[nodes] = True
        tables.append(np.append(nodes, conv.node(entry.ref_node))[None])
    for tie in conv.deck.ties:
        slaves, masters = tied_nodes(conv, tie)
        tied[slaves] = True
        tables.append(np.concatenate((slaves, masters))[None])
    first = np.concatenate([np.repeat(t[:, 0], t.shape[1]) for t in tables])
    last = np.concatenate([t.ravel() for t in tables])
    _, label = connected_components(coo_matrix((np.ones(len(first)), (first, last)), (n, n)), directed=False)
    used = np.unique(last)
    order = used[np.argsort(label[used], kind="stable")]
    cuts = np.flatnonzero(np.diff(label[order])) + 1
    return np.split(order, cuts), tied


def _motions(conv: Conversion, nodes: np.ndarray) -> np.ndarray:
    """Return the motions (m, 6, k) of nodes (m,) as one rigid body, rotations times its size."""
    arm = conv.deck.x[nodes] - conv.deck.x[nodes].mean(axis=0)
    size = max(float(np.abs(arm).max()), 1e-300)
    out = np.zeros((len(nodes), 6, 6))
    out[:, range(6), range(6)] = 1.0
    for k in range(3):
        out[:, :3, 3 + k] = np.cross(np.eye(3)[k], arm) / size
    return out[:, :, [0, 1, 5]] if conv.plane or conv.flat else out


def _free(conv: Conversion, nodes: np.ndarray, held: np.ndarray, tied: np.ndarray) -> list[int]:
    """Return keys of displacements that hold a body of nodes (m,) against what supports ``held`` leave free."""
    mine = held[np.isin(held // 6, nodes)]
    motion = _motions(conv, nodes)
    at = np.searchsorted(np.sort(nodes), mine // 6)
    rows = motion[np.argsort(nodes)[at]]
    axes, _ = conv.transform_of(mine // 6)
    direction, part = axes[np.arange(len(mine)), mine % 3], 3 * (mine % 6 // 3)
    grip = np.einsum("md,mdk->mk", direction, rows[np.arange(len(mine))[:, None], part[:, None] + np.arange(3)])
    free = null_space(grip, rcond=_LOOSE) if len(mine) else np.eye(motion.shape[2])
    if not free.shape[1]:
        return []
    dim = 2 if conv.plane or conv.flat else 3
    some = np.flatnonzero(~tied[nodes])
    keys = (6 * nodes[some][:, None] + np.arange(dim)).ravel()
    value = (motion[some][:, :dim] @ free).reshape(len(keys), -1)
    open_ = ~np.isin(keys, held)
    keys, value = keys[open_], value[open_]
    if len(keys) < free.shape[1]:
        return []
    _, R, order = qr(value.T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    return [] if size[-1] < 1e-3 * size[0] else keys[order[: free.shape[1]]].tolist()


def check_balance(conv: Conversion, index: int, forces: np.ndarray, largest: float, energy: float) -> None:
    """Refuse loads that push a free motion.

    Args:
        index: of the step in the deck; forces: (n, 6) reactions at nodes; largest: displacement; energy: of strain.

    Raises:
        ModelError: the reactions of a held free motion do not vanish.
    """
    for name in conv.step_supports.get(index, []):
        if name not in conv.free:
            continue
        nodes, directions = np.divmod(conv.free[name], 6)
        force = np.abs(forces[nodes, directions])
        k = int(force.argmax())
        if force[k] * largest > _BALANCE * max(2.0 * energy, 1e-300):
            raise ModelError(
                f"the model is loose, and its loads push it where nothing holds it (node {conv.name_of(nodes[k])} in "
                f"direction {directions[k] + 1}: {force[k]:.3g})", place=conv.deck.steps[index].where,
                remedy="hold it against this motion",
            )  # fmt: skip
