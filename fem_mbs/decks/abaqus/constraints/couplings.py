"""Kinematic and distributing couplings of a deck, as couplings of the model or equations of means."""

from __future__ import annotations

from operator import methodcaller

import numpy as np

from fem_mbs.decks.abaqus.constraints.table import DIRECTIONS, EquationTable
from fem_mbs.decks.abaqus.loads import surface_facets
from fem_mbs.decks.abaqus.model import Conversion, axes_at
from fem_mbs.decks.abaqus.shells import edge_lengths, edge_number, shell_areas
from fem_mbs.decks.abaqus.solids import nodal_areas
from fem_mbs.errors import UnsupportedError
from fem_mbs.meshes.abaqus.deck import Coupling, Equation, Mpc, RigidBody
from fem_mbs.meshes.vocabulary import Effect
from fem_mbs.parts.part import COMPONENTS

__all__ = ["is_mean", "make_coupling", "partial_couplings"]

#: Of the length between nodes: nodes that are beside a line by less stand on it.
_ON = 1e-6


def make_coupling(conv: Conversion, table: EquationTable, coupling: Coupling, number: int) -> None:
    ref, nodes = conv.node(coupling.ref_node), conv.nodes(coupling.nodes)
    name = f"coupling {number}" + (f" {coupling.name}" if coupling.name else "")
    conv.places[name] = coupling.where
    dofs = sorted(set(coupling.dofs))
    every = {1, 2, 6} if conv.plane else {1, 2, 3, 4, 5, 6}
    if _is_inclined(conv, coupling):
        _along_axes(conv, table, coupling, ref, nodes[nodes != ref])
        return
    if coupling.kind == "distributing" and is_mean(conv, coupling):
        # CalculiX: the displacement of the node is the weighted mean, it has no rotation
        w = np.asarray(coupling.weights, float) / np.sum(coupling.weights)
        supports = (*conv.deck.boundaries, *(b for step in conv.deck.steps for b in step.boundaries))
        held = {d - 1 for b in supports if coupling.ref_node in b.nodes for d in b.dofs}
        for k in range(3):  # where the node is held, or begins an equation of the deck, one of the others follows
            free = k not in held and (ref, k) not in table.dependent
            table.add([ref, *nodes], [k] * (1 + len(nodes)), [1.0, *-w], coupling.where, preferred=free)
        return
    if coupling.kind == "distributing":
        if conv.deck.of_abaqus and not set(dofs) >= every:
            raise UnsupportedError(
                f"a distributing coupling of the directions {', '.join(map(str, dofs))} alone is not supported",
                place=coupling.where, remedy="couple all six",
            )  # fmt: skip
        if coupling.orientation is not None and not conv.deck.of_abaqus:
            conv.note(
                f"{coupling.where}: the directions of node {coupling.ref_node} are those of the ORIENTATION, for "
                "supports, loads and prints, as in CalculiX (in Abaqus they are global)",
                Effect.DIFFERS,
            )
        weights = _areas(conv, coupling, nodes)
        components = None if conv.plane else _of_line(conv, coupling, ref, nodes[weights != 0.0])
        conv.model.coupling(name, ref, nodes, kind="distributing", weights=weights, components=components)
        return
    keep = nodes[nodes != ref]
    at_rest = _at_rest(conv, keep, dofs)
    kinds: dict[frozenset[int], list[int]] = {}
    for node in keep.tolist():
        kinds.setdefault(frozenset(at_rest.get(node, ())), []).append(node)
        for d in set(dofs) - at_rest.get(node, set()):
            if d <= 3 or conv.rotational[node]:
                table.depend(node, d - 1, coupling.where)
    for i, (still, some) in enumerate(kinds.items(), 1):
        _hold_reference(conv, table, coupling, ref, some, still)
        moving = [d for d in dofs if d in every and d not in still]
        components = None if set(moving) == every else [_component(conv, d) for d in moving]
        if moving:
            label = name if i == 1 else f"{name}, part {i}"
            conv.places[label] = coupling.where
            conv.model.coupling(label, ref, np.array(some), kind="rigid", components=components)


def _at_rest(conv: Conversion, nodes: np.ndarray, dofs: list[int]) -> dict[int, set[int]]:
    """Return the directions (of ``dofs``, from 1) in which supports hold nodes of a kinematic coupling at rest in all
    steps; in decks that only Abaqus reads, which leaves such supports to the reference, and in small motions."""
    deck = conv.deck
    found: dict[int, set[int]] = {}
    if not deck.of_abaqus or conv.nlgeom or any("BOUNDARY" in step.new for step in deck.steps):
        return found
    supports = (*deck.boundaries, *(deck.steps[0].boundaries if len(deck.steps) == 1 else ()))
    _, local = conv.transform_of(nodes)
    able = set(nodes[~local].tolist())
    for support in (s for s in supports if not s.value):
        for node in able & set(conv.nodes(support.nodes).tolist()):
            held = {d for d in support.dofs if d in dofs and (d <= 3 or conv.rotational[node])}
            if held:
                found.setdefault(node, set()).update(held)
    return found


def _hold_reference(
    conv: Conversion, table: EquationTable, coupling: Coupling, ref: int, nodes: list[int], still: frozenset[int]
) -> None:
    """Let supports of coupled nodes hold the reference: its displacement and rotation bring the nodes nowhere in the
    directions ``still`` (from 1)."""
    for node in nodes:
        arm = conv.deck.x[node] - conv.deck.x[ref]
        for d in sorted(still):
            k = d - 1
            if d > 3:
                table.add([ref], [k], [1.0], coupling.where, preferred=False)
                continue
            i, j = (k + 1) % 3, (k + 2) % 3  # (theta x arm)_k = theta_i arm_j - theta_j arm_i
            terms = [(k, 1.0), (3 + i, arm[j]), (3 + j, -arm[i])]
            terms = [(c, f) for c, f in terms if f and (not conv.plane or c in (0, 1, 5))]
            components, factors = zip(*terms, strict=True)
            table.add([ref] * len(terms), components, factors, coupling.where, preferred=False)


def _is_inclined(conv: Conversion, coupling: Coupling) -> bool:
    """Return whether a kinematic coupling is one of some translations, along other axes than the global ones."""
    if coupling.kind != "kinematic" or coupling.orientation is None:
        return False
    if set(coupling.dofs) & {1, 2, 3} in ({1, 2, 3}, set()):
        return False
    places = conv.deck.x[conv.nodes(np.r_[coupling.ref_node, coupling.nodes])]
    return not np.allclose(axes_at(conv.orientation(coupling.orientation), places), np.eye(3), atol=1e-12)


def _along_axes(conv: Conversion, table: EquationTable, coupling: Coupling, ref: int, nodes: np.ndarray) -> None:
    """Couple directions of nodes (n,) in the axes that an orientation has at each: a . (u - v - w x r) = 0 with the
    displacement v and the rotation w of the reference, and r from there to the node.

    Raises:
        UnsupportedError: large rotations, or rotations of nodes.
    """
    where, x = coupling.where, conv.deck.x
    if conv.nlgeom:
        raise UnsupportedError(
            "a coupling of some directions in the axes of an orientation is supported for small rotations only",
            place=where, remedy="remove NLGEOM, or couple all three translations",
        )  # fmt: skip
    if max(coupling.dofs) > 3 and conv.rotational[nodes].any():
        raise UnsupportedError(
            "a coupling of rotations in the axes of an orientation is not supported", place=where,
            remedy="couple translations only",
        )  # fmt: skip
    axes = axes_at(conv.orientation(coupling.orientation or ""), x[nodes])
    conv.model.amend(methodcaller("turn_nodes", [ref]))
    for node, mine in zip(nodes.tolist(), axes, strict=True):
        free = [k for k in range(3) if (node, k) not in table.dependent]
        for d in sorted(d for d in set(coupling.dofs) if d <= 3):
            a = mine[d - 1]
            first = max(free, key=lambda k: abs(a[k]), default=0)
            if not free or abs(a[first]) < _ON:
                raise UnsupportedError(
                    f"direction {d} of the coupling at node {conv.name_of(node)} depends on other constraints",
                    place=where, remedy="leave the node out of one of them",
                )  # fmt: skip
            free.remove(first)
            c = np.concatenate((a, -a, -np.cross(x[node] - x[ref], a)))
            c[np.abs(c) <= 1e-12 * max(1.0, np.abs(c).max())] = 0.0
            n, k = np.repeat([node, ref, ref], 3), np.tile(np.arange(3), 3) + np.repeat([0, 0, 3], 3)
            order = [first, *(i for i in np.flatnonzero(c).tolist() if i != first)]
            table.add(n[order], k[order], c[order], where)


def _component(conv: Conversion, direction: int) -> str:
    """Return the name of a direction from 1 in couplings of the model."""
    return COMPONENTS[2][min(direction, 3) - 1] if conv.plane else COMPONENTS[3][direction - 1]


def _of_line(conv: Conversion, coupling: Coupling, ref: int, nodes: np.ndarray) -> list[str] | None:
    """Return the components of a distributing coupling of nodes on one line, whose mean has no rotation about it: this
    one is held if nothing else uses the node.  None: all.

    Raises:
        UnsupportedError: the line has no direction of the axes, or the node needs the rotation.
    """
    x = conv.deck.x[nodes]
    _, size, axes = np.linalg.svd(x - x.mean(axis=0))
    if len(nodes) < 2 or size[1] > _ON * size[0]:
        return None
    k = int(np.abs(axes[0]).argmax())
    turned = any(np.isin(ref, group.nodes) for group in conv.groups if conv.rotational[ref])
    entries = [e for step in conv.deck.steps for e in step.cloads if e.dof == 4 + k]
    if np.abs(axes[0, k]) < 1.0 - 1e-9 or turned or any(np.isin(ref, conv.nodes(e.nodes)).any() for e in entries):
        raise UnsupportedError(
            f"the nodes of the coupling stand on one line, so that node {conv.name_of(ref)} has no rotation about it",
            place=coupling.where, remedy="couple nodes beside the line",
        )  # fmt: skip
    conv.note(
        f"{coupling.where}: the nodes of the coupling stand on one line; the rotation of node {conv.name_of(ref)} "
        "about it is held", Effect.NONE,
    )  # fmt: skip
    conv.model.fix(np.array([ref]), [DIRECTIONS[3 + k]])
    return [c for i, c in enumerate(COMPONENTS[3]) if i != 3 + k]


def _areas(conv: Conversion, coupling: Coupling, nodes: np.ndarray) -> np.ndarray:
    """Return weights (n,) of the nodes of a distributing coupling: as given, or their shares in the area of the
    surface."""
    if not coupling.surface or conv.deck.surfaces[coupling.surface].kind != "element":
        if coupling.surface and len(nodes) > 1:
            conv.note(
                f"{coupling.where}: the surface {coupling.surface} has nodes and no faces: they have equal weights "
                "(CalculiX refuses it)",
                Effect.NONE,
            )
        return np.asarray(coupling.weights, float)
    total = np.zeros(len(conv.deck.x))
    surface = conv.deck.surfaces[coupling.surface]
    sides, elements = np.asarray(surface.faces), np.asarray(surface.elements)
    of_shells = [(s, g, rows) for s in np.unique(sides) for g, rows in conv.element_groups(elements[sides == s])
                 if g.kind == "shell"]  # fmt: skip
    for side, group, rows in of_shells:
        if side in ("SPOS", "SNEG"):
            np.add.at(total, group.nodes[rows].ravel(), shell_areas(group, rows, conv.deck.x).ravel())
        else:
            ends, shares = edge_lengths(group, rows, edge_number(str(side)), conv.deck.x)
            np.add.at(total, ends.ravel(), shares.ravel())
    if len({side in ("SPOS", "SNEG") for side, _, _ in of_shells}) > 1 or 0 < sum(
        len(rows) for _, _, rows in of_shells
    ) < len(elements):
        raise UnsupportedError(
            f"surface {coupling.surface}: faces of shells together with edges or faces of others cannot be coupled",
            place=coupling.where, remedy="give each a surface of its own",
        )  # fmt: skip
    for group, rows, faces in () if of_shells else surface_facets(conv, coupling.surface, coupling.where):
        total += nodal_areas(group, rows, faces, conv.deck.x)
    total[np.abs(total) < 1e-12 * np.abs(total).max()] = 0.0  # corners of triangles with six nodes
    return total[nodes]


def is_mean(conv: Conversion, coupling: Coupling) -> bool:
    """Return whether a coupling is *DISTRIBUTING COUPLING with an element DCOUP3D."""
    return any(
        block.family == "distributing coupling" and np.isin(coupling.ref_node, block.nodes)
        for block in conv.deck.blocks
    )


def partial_couplings(conv: Conversion) -> dict[int, list[int]]:
    """Return reference nodes of kinematic couplings of some directions, which nothing else uses, and the components
    (0 to 5) that these couplings have to do with: of translations also the rotations that cause them."""
    deck = conv.deck
    used = np.zeros(len(deck.node_ids), int)
    for group in conv.groups:
        used[group.nodes] = 2
    for block in deck.blocks:
        used[conv.nodes(block.nodes.ravel())] = 2
    bodies: tuple[RigidBody | Coupling, ...] = (*deck.rigid_bodies, *deck.couplings)
    entries: tuple[Equation | Mpc | RigidBody | Coupling, ...] = (*deck.equations, *deck.mpcs, *bodies)
    for body in bodies:
        used[conv.node(body.ref_node)] += 1
    for entry in entries:
        used[np.unique(conv.nodes(entry.nodes))] += 1
    found: dict[int, list[int]] = {}
    for coupling in deck.couplings:
        ref, directions = conv.node(coupling.ref_node), {d - 1 for d in coupling.dofs}
        own = ref not in conv.nodes(coupling.nodes)
        if coupling.kind != "kinematic" or used[ref] > 1 or not own:
            continue
        if _is_inclined(conv, coupling):  # its equations name what it has to do with
            found[ref] = []
            continue
        if coupling.orientation is not None:
            continue
        turning = {3 + k for k in range(3) if directions & ({0, 1, 2} - {k})}
        if conv.plane:
            directions, turning = directions & {0, 1, 5}, turning & {5}
        if len(directions | turning) < (3 if conv.plane else 6):
            found[ref] = sorted(directions | turning)
    return found
