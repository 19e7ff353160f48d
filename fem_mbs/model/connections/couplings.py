"""Rigid and distributing couplings of the model builder."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import NAME, PLACE, PLACES, TEXT, VECTOR_ANY, WORDS
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.terms import component_numbers, floats, node_dofs, nodes_at, term_block
from fem_mbs.parts.part import COMPONENTS
from fem_mbs.system.blocks import Block, make_block
from fem_mbs.units import unit_of

__all__ = ["Coupling", "coupling_blocks"]

#: Second moments of the weights about an axis, over the largest, at which the nodes stand in one line.
_LINE = 1e-12


@dataclass(frozen=True)
class _Coupling:
    """Arguments of a coupling: axes 0, 1, 2 of its translations and rotations."""

    owner: str
    name: str
    kind: str
    reference: int
    nodes: np.ndarray
    weights: np.ndarray
    translations: list[int]
    rotations: list[int]
    given: bool


def _coupled(building: Building, owner: str, components) -> tuple[list[int], list[int]]:
    """Return axes of the translations and rotations that components name."""
    dim = building.dimension
    if components is None:
        return list(range(dim)), [0] if dim == 2 else [0, 1, 2]
    names = [components] if isinstance(components, str) else list(components)
    number = component_numbers(dim)
    known = dict.fromkeys([*number, "rotation"])
    translations, rotations = set(), set()
    for c in names:
        if c not in known:
            raise ModelError(f"component {c!r} must be one of {', '.join(known)}", owner=owner)
        if c == "rotation":
            rotations |= {0} if dim == 2 else {0, 1, 2}
        elif number[c] < 3:
            translations.add(number[c])
        else:
            rotations.add(number[c] - 3)
    if not translations and not rotations:
        raise ModelError("components = [] couples nothing", owner=owner, remedy="name some, or remove the key for all")
    return sorted(translations), sorted(rotations)


def coupling_blocks(building: Building) -> list[Block]:
    """Return elements of the couplings, when all parts are known."""
    blocks: list[Block] = []
    for c in building.couplings:
        blocks += _rigid(building, c) if c.kind == "rigid" else _distributing(building, c)
    return blocks


def _rigid(building: Building, c: _Coupling) -> list[Block]:
    dim, names = building.dimension, "xyz"[: building.dimension]
    R = building.rotation_matrix(c.reference)
    x = building.positions
    arms = (x[c.nodes] - x[c.reference]) @ R  # R^T r
    ends = np.column_stack((np.full(len(c.nodes), c.reference), c.nodes))
    offsets = {f"a{n}_a": arms[:, i] for i, n in enumerate(names)}
    blocks = []
    if len(c.translations) == dim:
        block = make_block(c.name, f"point{dim}", ends, **offsets)
        block.preferred = node_dofs(c.nodes, range(dim))
        blocks.append(block)
    else:
        for k in c.translations:
            direction = {f"e{n}": R[k, i] for i, n in enumerate(names)}
            block = make_block(c.name, f"offset{dim}", ends, function=-1.0, **direction, **offsets)
            block.preferred = node_dofs(c.nodes, [k])
            blocks.append(block)
    turning = np.isin(c.nodes, list(building.rotational))
    if c.rotations and turning.any():
        blocks += _rigid_rotations(building, c, ends[turning], c.nodes[turning], R)
    elif c.given and c.rotations and not c.translations:
        raise ModelError(
            "none of its nodes has a rotation", owner=c.owner, remedy="couple their positions, or remove it"
        )
    return blocks


def _rigid_rotations(building: Building, c: _Coupling, ends, nodes, R) -> list[Block]:
    if building.dimension == 2:
        angles = building.start_angles(nodes) - building.start_angles(np.array([c.reference]))
        block = make_block(c.name, "angle2", ends, function=-1.0, angle=angles)
        block.preferred = node_dofs(nodes, [2])
        return [block]
    own = building.rotation_matrices(nodes)
    if len(c.rotations) == 3:
        # the triad of the global axes at the start; in body axes the rows of R are its vectors
        triads = {f"a{i + 1}{k + 1}": R[k, i] for i in range(3) for k in range(3)}
        triads |= {f"b{i + 1}{k + 1}": own[:, k, i] for i in range(3) for k in range(3)}
        block = make_block(c.name, "orientation3", ends, function=-1.0, **triads)
        block.preferred = node_dofs(nodes, (5, 3, 4))  # a1.b2 turns about the third axis, and so on
        return [block]
    blocks = []
    for k in c.rotations:
        i, j = (k + 1) % 3, (k + 2) % 3
        columns = {f"a{n}": R[i, m] for m, n in enumerate("xyz")}
        columns |= {f"b{n}": own[:, j, m] for m, n in enumerate("xyz")}
        block = make_block(c.name, "direction3", ends, cosine=0.0, **columns)
        block.preferred = node_dofs(nodes, [3 + k])
        blocks.append(block)
    return blocks


def _distributing(building: Building, c: _Coupling) -> list[Block]:
    dim = building.dimension
    x = building.positions
    w, n = c.weights, len(c.nodes)
    # about the reference first: places far from the origin lose no digits
    r = x[c.nodes] - x[c.reference]
    mean = w @ r
    s = r - mean
    R = building.rotation_matrix(c.reference)
    blocks = []
    if c.translations:
        size = float(np.abs(r).max())
        turns = c.reference in building.rotational
        if not turns and np.abs(mean).max() > 1e-9 * size:
            raise ModelError(
                f'"{building.node_name(c.reference)}" stands {np.linalg.norm(mean):g} {unit_of("m")} off the mean '
                "of the nodes, so that it moves with their rotation",
                owner=c.owner,
                remedy="couple rotations too, or move it there",
            )
        m = len(c.translations)
        unit = np.eye(dim)[c.translations]  # one row per constraint, n nodes and the reference each
        coefficients = np.concatenate((w[None, :, None] * unit[:, None], -unit[:, None]), axis=1)
        arms = np.zeros((m, n + 1, dim))
        arms[:, n] = mean @ R if turns else 0.0
        block = term_block(
            building,
            c.name,
            np.repeat(np.arange(m), n + 1),
            np.tile(np.append(c.nodes, c.reference), m),
            coefficients.reshape(-1, dim),
            np.zeros((m * (n + 1), 1 if dim == 2 else 3)),
            node_dofs(np.array([c.reference]), c.translations),
            arms=arms.reshape(-1, dim),
            reported=np.tile(np.append(np.zeros(n), 1.0), m),
        )
        blocks.append(block)
    if c.rotations:
        blocks.append(_mean_rotation(building, c, r, s, R))
    return blocks


def _mean_rotation(building: Building, c: _Coupling, r, s, R) -> Block:
    dim = building.dimension
    w, n = c.weights, len(c.nodes)
    if dim == 2:
        moment = float(w @ (s * s).sum(axis=1))
        if moment <= _LINE * float((r * r).sum(axis=1).max()):
            raise ModelError(
                "its nodes stand at one place, which defines no rotation",
                owner=c.owner,
                remedy='name more, or couple components = ["x", "y"]',
            )
        p = (w / moment)[None, :, None] * np.column_stack((-s[:, 1], s[:, 0]))[None]
    else:
        moment = float(w @ (s * s).sum(axis=1)) * np.eye(3) - np.einsum("n,ni,nj->ij", w, s, s)
        values, axes = np.linalg.eigh(moment)
        lost = values <= _LINE * max(values[-1], float((r * r).sum(axis=1).max()))
        axis = axes[:, lost]
        free = [k for k in c.rotations if np.abs(axis[k]).max(initial=0.0) > 1e-6]
        if free:
            rest = [*c.translations, *(3 + k for k in c.rotations if k not in free)]
            keys = ", ".join(f'"{COMPONENTS[dim][k]}"' for k in rest)
            where = "at one place" if lost.all() else f"in a line along {np.round(axis[:, 0], 6).tolist()}"
            raise ModelError(
                f"its nodes stand {where}, which defines no rotation about it",
                owner=c.owner,
                remedy=f"name nodes beside it, or leave that rotation out (components = [{keys}]) and hold it",
            )
        inverse = (axes[:, ~lost] / values[~lost]) @ axes[:, ~lost].T
        p = w[None, :, None] * np.cross(inverse[c.rotations][:, None, :], s[None])
    m = len(c.rotations)
    start = np.einsum("mni,ni->mn", p, r).ravel()
    p = (p @ R).reshape(-1, dim)  # body axes
    ends = np.column_stack((np.full(m * n, c.reference), np.tile(c.nodes, m)))
    columns = {f"p{k}": p[:, i] for i, k in enumerate("xyz"[:dim])}
    block = make_block(c.name, f"mean_rotation{dim}", ends, start=start, **columns)
    block.joint = np.repeat(np.arange(m), n)
    block.preferred = node_dofs(np.array([c.reference]), [dim + k for k in c.rotations])
    return block


@dataclass(frozen=True, eq=False)
class Coupling(Declaration):
    """A reference that moves with many nodes.

    Couple a reference node to many nodes, at any size of displacements and rotations.

    Kinds:
        "rigid": the nodes move with the reference as one rigid body; nodes with rotations turn with it, others are
            points of it.
        "distributing": the reference follows the nodes, which keep their freedom: its place is that of the point
            fixed to their weighted mean, its rotation the one that fits them best
            (`fem_mbs.elements.loads.mean_rotation`).  What acts on the reference acts on the nodes as forces that
            are statically equivalent to it.

    Args:
        reference: a node or body; it gets a rotation.
        nodes: a place or a list of places; the reference does not count among them.
        components: of "x", "y", "z", "rx", "ry", "rz", in the plane "x", "y", "rotation" ("rotation" in space: all
            three), what is coupled; None: all.  Rigid: along axes that turn with the reference, rotations about
            single axes as cosines of the relative rotation.  Distributing: of the reference.
        weights: (n,) of a distributing coupling, one per node (None: equal); only their ratios matter.  Those of
            areas are negative at the corners of quadrilaterals with eight nodes.

    Raises:
        ModelError: unknown names, no nodes, weights that do not fit; at `compile`: nodes in one line, which define
            no rotation about it, or no node with a rotation that shall be coupled.
    """

    owner = "Coupling"

    name: str = key(NAME, "in messages and results", shows='"coupling 1", ...')
    reference: Any = key(PLACE, "node or body; it gets a rotation")
    nodes: Any = key(PLACES, "what moves with it, or what it follows")
    kind: str = key(
        TEXT,
        '"rigid" (one rigid body) or "distributing" (the reference follows the weighted mean of the nodes and the '
        "rotation that fits them best, and adds no stiffness)",
        "rigid",
        choices=("rigid", "distributing"),
    )
    components: Any = key(WORDS, "of x, y, z, rx, ry, rz, rotation, what is coupled", None, shows="all")
    weights: Any = key(VECTOR_ANY, "of a distributing coupling, one per node", None, shows="equal")

    def build(self, building: Building) -> None:
        owner = building.label("Coupling", self.name)
        a = int(building.nodes_of(self.reference, owner)[0]) if isinstance(self.reference, (int, np.integer)) else -1
        a = a if a >= 0 else building.node_of(self.reference, owner)
        found = nodes_at(building, owner, self.nodes)
        w = np.ones(len(found)) if self.weights is None else floats(owner, "weights", self.weights, (len(found),))
        if self.weights is not None and self.kind == "rigid":
            raise ModelError("a rigid coupling has no weights", owner=owner, remedy="remove them")
        if not w.sum() > 0.0:
            raise ModelError(f"the sum of the weights must be positive, not {w.sum():g}", owner=owner)
        keep = (found != a) & (w != 0.0)
        picked, place, times = np.unique(found[keep], return_inverse=True, return_counts=True)
        if not picked.size:
            raise ModelError("it has no nodes beside its reference", owner=owner, remedy="name some")
        # a node named twice counts with both weights that it is given, of equal ones once
        total = np.bincount(place.ravel(), weights=w[keep]) / (times if self.weights is None else 1)
        translations, rotations = _coupled(building, owner, self.components)
        if self.kind == "rigid" or rotations:
            building.rotational.add(a)
        building.couplings.append(
            _Coupling(
                owner,
                self.name,
                self.kind,
                a,
                picked,
                total / total.sum(),
                translations,
                rotations,
                self.components is not None,
            )
        )
