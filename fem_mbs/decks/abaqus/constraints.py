"""Supports, equations, MPCs, rigid bodies, couplings and ties of a deck.

A support holds or moves a dof in all steps, or holds it in some linear ones.  Supports of transformed nodes
that hold fewer than three directions, equations and MPCs become equations of the model; rigid bodies and couplings its
couplings, exact at any rotation.  The first dof of an equation depends on the others: no two equations may have the
same one, and no support may hold it.

    BEAM, LINK   the distance of two nodes stays        PIN, TIE   two nodes move together (TIE: and turn)
    MEANROT      the mean rotation of nodes about an axis is a displacement of another one
    STRAIGHT     nodes stay on the line through the first two      PLANE   on the plane through the first three
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fem_mbs.decks.abaqus.cyclic import make_sectors
from fem_mbs.decks.abaqus.loads import surface_facets
from fem_mbs.decks.abaqus.model import Conversion, axes_at
from fem_mbs.decks.abaqus.pretension import section_equations
from fem_mbs.decks.abaqus.shells import edge_lengths, shell_areas
from fem_mbs.decks.abaqus.solids import nodal_areas
from fem_mbs.decks.abaqus.time import Given, Timeline, courses, is_general
from fem_mbs.decks.abaqus.vibrations import VIBRATION, shaken_supports
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.functions.kinds import make_function
from fem_mbs.meshes.abaqus.deck import Boundary, Coupling, DeckStep, Mpc, RigidBody
from fem_mbs.meshes.vocabulary import Effect
from fem_mbs.model.connections.joint_parts import drive
from fem_mbs.parts.part import COMPONENTS
from fem_mbs.system.blocks import GROUND

__all__ = ["make_constraints", "nodes_of_constraints", "tie_facets"]

#: Directions (from 0) in which lines of the x-y plane do not move.
_ACROSS = (2, 3, 4)
_NAMES = ("x", "y", "z", "rotation x", "rotation y", "rotation z")
#: Of the length between nodes: beside the line or plane of an MPC by less, a node lies on it.
_ON = 1e-6
#: Of the mean square distance from the axis of an MPC MEANROT: nodes nearer do not count, as in CalculiX.
_NEAR_AXIS = 1e-10


def nodes_of_constraints(conv: Conversion) -> None:
    """Mark the nodes that equations and rigid bodies bring into the model, and those that turn."""
    deck = conv.deck
    for entry in (*deck.equations, *deck.mpcs):
        conv.used[conv.nodes(entry.nodes)] = True
    for cut in conv.cuts:
        conv.used[[*cut.nodes, *cut.doubles, cut.control]] = True
    for body in deck.rigid_bodies:
        ref = conv.node(body.ref_node)
        conv.used[ref] = conv.rotational[ref] = True
        conv.used[conv.nodes(body.nodes)] = True
        if body.rotation_node:
            conv.turning[conv.node(body.rotation_node)] = ref
    for coupling in deck.couplings:
        conv.used[conv.nodes(coupling.nodes)] = True
        ref = conv.node(coupling.ref_node)
        conv.used[ref] = True
        conv.rotational[ref] |= not _is_mean(conv, coupling)
    _turn_masters(conv)


def _turn_masters(conv: Conversion) -> None:
    """Give rotations to the nodes that others follow by the MPC BEAM, if these make a body or moments act there.

    Abaqus makes such nodes rigid bodies. CalculiX, which knows no rotation of a node without elements, keeps distances.
    """
    followers: dict[int, list[int]] = {}
    for mpc in conv.deck.mpcs:
        if mpc.kind == "BEAM":
            a, b = conv.nodes(mpc.nodes)[:2].tolist()
            followers.setdefault(b, []).append(a)
    if not followers:
        return
    entries = [*conv.deck.boundaries, *(e for step in conv.deck.steps for e in (*step.boundaries, *step.cloads))]
    given = [e.nodes for e in entries if max(np.atleast_1d(e.dofs if isinstance(e, Boundary) else e.dof)) > 3]
    turned = conv.nodes(np.concatenate(given)) if given else np.empty(0, int)
    meshed = np.unique(np.concatenate([g.nodes.ravel() for g in conv.groups]))
    for b, nodes in followers.items():
        if b in meshed or conv.rotational[b]:
            continue
        arms = conv.deck.x[nodes] - conv.deck.x[b]
        size = np.linalg.svd(arms, compute_uv=False)
        if b in turned or (len(size) > 1 and size[1] > _ON * size[0]):
            conv.rotational[b] = True
            where = next(m.where for m in conv.deck.mpcs if m.kind == "BEAM" and conv.nodes(m.nodes)[1] == b)
            conv.note(
                f"{where}: nodes follow node {conv.name_of(b)} of the MPC BEAM as a rigid body, as in Abaqus "
                "(CalculiX keeps their distances only)",
                Effect.DIFFERS,
            )


def tie_facets(conv: Conversion) -> None:
    """Create facet sets of the surfaces that ties join."""
    for tie in conv.deck.ties:
        for name in (tie.slave, tie.master):
            if conv.deck.surfaces[name].kind == "element":
                conv.facets[f"{name} (tie)"] = surface_facets(conv, name, tie.where)
            elif name == tie.master:
                raise ModelError(f"the master surface {name} of a tie must be one of element faces", place=tie.where)


class _Table:
    """Terms of equations, row by row, and which dofs depend on others."""

    def __init__(self, conv: Conversion):
        self.conv = conv
        self.terms: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
        self.rows = 0
        self.preferred: list[bool] = []
        self.dependent = conv.dependent

    def depend(self, node: int, component: int, where: str) -> None:
        """Note a dependent dof.

        Raises:
            ModelError: it depends on others already.
        """
        key = (node, component)
        if key in self.dependent:
            raise ModelError(
                f"direction {component + 1} of node {self.conv.name_of(node)} is the dependent one already "
                f"in {self.dependent[key]}",
                place=where,
                remedy="begin the equation with another node or direction",
            )
        self.dependent[key] = where

    def add(self, nodes, components, coefficients, where: str, preferred: bool = True) -> None:
        """Add one equation: terms (k,) of nodes of the model, components 0..5 and coefficients."""
        n, k, c = np.asarray(nodes), np.asarray(components), np.asarray(coefficients, float)
        if preferred:
            self.depend(int(n[0]), int(k[0]), where)
        self.terms.append((np.full(len(n), self.rows), n, k, c))
        self.rows += 1
        self.preferred.append(preferred)

    def finish(self, name: str) -> None:
        if self.terms:
            rows, nodes, components, coefficients = (np.concatenate(part) for part in zip(*self.terms, strict=True))
            self.conv.equated.append((nodes, components))
            self.conv.model.equations(name, rows, nodes, components, coefficients, preferred=self.preferred)


def make_constraints(conv: Conversion, timeline: Timeline) -> None:
    """Create all constraints of the model.

    Raises:
        ModelError: constraints that contradict each other or that the model does not have, with their line.
    """
    table = _Table(conv)
    section_equations(conv, table.add)
    for equation in conv.deck.equations:
        _equation(conv, table, equation)
    for mpc in conv.deck.mpcs:
        _mpc(conv, table, mpc)
    for i, body in enumerate(conv.deck.rigid_bodies):
        _rigid_body(conv, table, body, i + 1)
    for i, coupling in enumerate(conv.deck.couplings):
        _coupling(conv, table, coupling, i + 1)
    for tie in conv.deck.ties:
        conv.places[f"tie {tie.name}"] = tie.where
        slave = f"deck:{tie.slave} (tie)" if f"{tie.slave} (tie)" in conv.facets else _surface_nodes(conv, tie.slave)
        conv.model.tie(f"tie {tie.name}", slave, f"deck:{tie.master} (tie)", tie.tolerance, tie.adjust)
    make_sectors(conv)
    table.finish("equations")
    _hold_unused(conv, table)
    _supports(conv, table, timeline)


def _hold_unused(conv: Conversion, table: _Table) -> None:
    """Hold directions of nodes that only equations use, and none of them names: they are no unknowns of the deck."""
    deck = conv.deck
    partial = _partial_couplings(conv)
    alone = np.zeros(len(deck.node_ids), bool)
    for _, nodes, _, _ in table.terms:
        alone[nodes] = True
    if not alone.any() and not partial:
        return
    for group in conv.groups:
        alone[group.nodes] = False
    for block in deck.blocks:
        alone[conv.nodes(block.nodes.ravel())] = False
    for entry in (*deck.rigid_bodies, *deck.couplings):
        alone[conv.nodes(entry.nodes)] = False
        alone[conv.node(entry.ref_node)] = False
    for mpc in deck.mpcs:
        alone[conv.nodes(mpc.nodes[:-1] if mpc.kind == "MEANROT" else mpc.nodes)] = False
    dim = 2 if conv.plane else 3
    named = np.zeros((len(alone), 6), bool)
    for ref, directions in partial.items():
        alone[ref] = True
        named[ref, directions] = True
    for _, nodes, components, _ in table.terms:
        named[nodes, components] = True
    for b in (*deck.boundaries, *(b for step in deck.steps for b in step.boundaries)):
        for dof in b.dofs:
            named[conv.nodes(b.nodes), dof - 1] = True
    for load in (load for step in deck.steps for load in step.cloads):
        named[conv.nodes(load.nodes), load.dof - 1] = True
    for k in (*range(dim), *(range(3, 6) if partial else ())):
        idle = np.flatnonzero(alone & ~named[:, k] & ((k < 3) | conv.rotational))
        if idle.size:
            conv.model.fix(idle, [_NAMES[k]])


def _partial_couplings(conv: Conversion) -> dict[int, list[int]]:
    """Return reference nodes of kinematic couplings of some directions, which nothing else uses, and the components
    (0 to 5) that these couplings have to do with: of translations also the rotations that cause them."""
    deck = conv.deck
    used = np.zeros(len(deck.node_ids), int)
    for group in conv.groups:
        used[group.nodes] = 2
    for block in deck.blocks:
        used[conv.nodes(block.nodes.ravel())] = 2
    for entry in (*deck.rigid_bodies, *deck.couplings):
        used[conv.node(entry.ref_node)] += 1
    for entry in (*deck.equations, *deck.mpcs, *deck.rigid_bodies, *deck.couplings):
        used[np.unique(conv.nodes(entry.nodes))] += 1
    found = {}
    for coupling in deck.couplings:
        ref, directions = conv.node(coupling.ref_node), {d - 1 for d in coupling.dofs}
        own = ref not in conv.nodes(coupling.nodes)
        if coupling.kind != "kinematic" or coupling.orientation is not None or used[ref] > 1 or not own:
            continue
        turning = {3 + k for k in range(3) if directions & ({0, 1, 2} - {k})}
        if len(directions | turning) < 6:
            found[ref] = sorted(directions | turning)
    return found


def _surface_nodes(conv: Conversion, name: str) -> np.ndarray:
    return conv.nodes(conv.deck.surfaces[name].nodes)


# --- equations and MPCs ----------------------------------------------------------------------------------------------
def _equation(conv: Conversion, table: _Table, equation) -> None:
    nodes, dofs = conv.nodes(equation.nodes), np.asarray(equation.dofs) - 1
    coefficients = np.asarray(equation.coefficients, float)
    if not coefficients[0]:
        raise ModelError(
            "the coefficient of the first, dependent, dof is zero", place=equation.where, remedy="begin with another"
        )
    n, k, c = _expand(conv, nodes, dofs, coefficients, equation.where)
    first = (int(nodes[0]), int(dofs[0]))
    table.depend(*first, equation.where)
    if not len(n):
        return
    table.add(n, k, c, equation.where, preferred=False)


def _expand(conv: Conversion, nodes, dofs, coefficients, where: str):
    """Return terms in global directions of terms in the axes of the nodes: those of turning nodes are rotations."""
    axes, has = conv.transform_of(nodes)
    parts = []
    for node, dof, c, A, local in zip(nodes.tolist(), dofs.tolist(), coefficients, axes, has, strict=True):
        shift = 3 * (dof // 3)
        if node in conv.turning:
            node, shift = conv.turning[node], 3
        if shift == 3 and not conv.rotational[node]:
            conv.note(
                f"{where}: the rotation of node {conv.name_of(node)}, which has none, is left out of the equation"
            )
            continue
        direction = A[dof % 3] if local else np.eye(3)[dof % 3]
        # the largest first: it is the one that can depend on the others
        order = [int(i) for i in np.argsort(-np.abs(direction), kind="stable") if abs(direction[i]) > 1e-15]
        parts += [(node, shift + i, c * direction[i]) for i in order if i < 2 or not conv.plane]
    n, k, c = (np.array(v) for v in zip(*parts, strict=True)) if parts else (np.empty(0, int),) * 3
    return n, k, c


def _mpc(conv: Conversion, table: _Table, mpc: Mpc) -> None:
    nodes, x = conv.nodes(mpc.nodes), conv.deck.x
    where, kind = mpc.where, mpc.kind
    if kind in ("BEAM", "LINK"):
        a, b = nodes[:2]
        if kind == "BEAM" and conv.rotational[b]:
            name = f"MPC {len(table.dependent) + 1}"
            conv.places[name] = where
            conv.model.coupling(name, int(b), nodes[:1], kind="rigid")
            for k in range(6 if conv.rotational[a] else 3):
                table.depend(int(a), k, where)
            return
        d = x[a] - x[b]
        if not np.linalg.norm(d) > 0.0:
            raise ModelError(f"both nodes of the MPC {kind} are at one place", place=where, remedy="use PIN or TIE")
        table.depend(int(a), int(np.abs(d).argmax()), where)
        name = f"MPC {len(table.dependent)}"
        conv.places[name] = where
        conv.model.joint(name, "distance", int(b), int(a))
    elif kind in ("PIN", "TIE"):
        a, b = nodes[:2]
        turning = kind == "TIE" and conv.rotational[a] and conv.rotational[b]
        for k in range(6 if turning else 3):
            table.add([a, b], [k, k], [1.0, -1.0], where)
    elif kind in ("STRAIGHT", "PLANE"):
        _flat(conv, table, mpc, nodes)
    elif kind == "MEANROT":
        _mean_rotation(conv, table, mpc, nodes)
    else:
        raise UnsupportedError(
            f"the MPC {kind} is not supported",
            place=where,
            remedy="known are BEAM, LINK, PIN, TIE, STRAIGHT, PLANE, MEANROT",
        )


def _mean_rotation(conv: Conversion, table: _Table, mpc: Mpc, nodes: np.ndarray) -> None:
    """Make the displacement of the last node along x the mean rotation of the others about its position vector.

    Their centre is the mean of their places; each node counts with the angle that it turns by (CalculiX,
    umpc_mean_rot.f).

    Raises:
        ModelError: the nodes define no rotation; UnsupportedError: steps with NLGEOM, plane models.
    """
    x, where = conv.deck.x, mpc.where
    if conv.nlgeom or conv.plane:
        raise UnsupportedError("the MPC MEANROT is supported for small rotations in space only", place=where,
                               remedy="remove NLGEOM")  # fmt: skip
    ref, own = int(nodes[-1]), nodes[:-1:3]
    if len(nodes) % 3 != 1 or not (nodes[:-1].reshape(-1, 3) == own[:, None]).all():
        raise ModelError("the MPC MEANROT needs every node three times, and then that with the axis", place=where)
    size = float(np.linalg.norm(x[ref]))
    if not size > 0.0:
        raise ModelError(f"node {conv.name_of(ref)} of the MPC MEANROT stands at the origin", place=where,
                         remedy="give it the vector of the axis as coordinates")  # fmt: skip
    axis = x[ref] / size
    arm = x[own] - x[own].mean(axis=0)
    arm -= np.outer(arm @ axis, axis)
    square = np.einsum("ij,ij->i", arm, arm)
    far = square > _NEAR_AXIS * square.mean()
    if far.sum() < 2:
        raise ModelError("the nodes of the MPC MEANROT lie on its axis", place=where)
    turn = np.where(far[:, None], np.cross(axis, arm) / np.where(far, square, 1.0)[:, None], 0.0)
    turn -= turn.mean(axis=0)  # the centre moves along
    node, component = np.repeat(own, 3), np.tile(np.arange(3), len(own))
    c = turn.ravel()
    kept = np.abs(c) > 1e-12 * np.abs(c).max()
    order = np.argsort(-np.abs(c[kept]), kind="stable")
    nodes, components, coefficients = (
        np.r_[v[kept][order], last] for v, last in ((node, ref), (component, 0), (c, -float(len(own))))
    )
    table.add(nodes, components, coefficients, where, preferred=False)


def _flat(conv: Conversion, table: _Table, mpc: Mpc, nodes: np.ndarray) -> None:
    """Keep nodes on the line through the first two, or on the plane through the first three."""
    x, where = conv.deck.x, mpc.where
    base = 2 if mpc.kind == "STRAIGHT" else 3
    general = [s for s in conv.deck.steps if s.procedure in ("STATIC", "DYNAMIC")]
    if general:
        large = any(s.nlgeom for s in general)
        text = f"{where}: the MPC {mpc.kind} is computed for small rotations only"
        conv.note(text, Effect.DROPPED if large else Effect.DIFFERS)
    origin = x[nodes[0]]
    arms = x[nodes[1:base]] - origin
    _, size, vt = np.linalg.svd(arms)
    if not size[-1] > _ON * size[0] or size[0] == 0.0:
        what = ("point", "line")[base - 2]
        raise ModelError(f"the first {base} nodes of the MPC {mpc.kind} lie on one {what}", place=where)
    across = vt[base - 1 :]
    for p in nodes[base:]:
        arm = x[p] - origin
        if np.abs(across @ arm).max() > _ON * max(size[0], np.linalg.norm(arm)):
            what = ("line", "plane")[base - 2]
            raise ModelError(
                f"node {conv.name_of(p)} of the MPC {mpc.kind} does not lie on the {what} of the first {base} nodes",
                place=where,
            )
        share = np.linalg.lstsq(arms.T, arm, rcond=None)[0]
        others, weights = nodes[:base], np.concatenate(([1.0 - share.sum()], share))
        taken: list[int] = []
        # reduced so that every equation has a dof of this node for its own
        rows = _echelon(across)
        for row in rows:
            pivot = int(np.argmax(np.abs(row)))
            taken.append(pivot)
            order = [pivot, *(i for i in range(3) if i != pivot and abs(row[i]) > 1e-14)]
            n = [p] * len(order) + [o for o in others for _ in order]
            k = order * (1 + base)
            c = [*row[order], *(-w * row[i] for w in weights for i in order)]
            table.add(n, k, c, where)


def _echelon(rows: np.ndarray) -> np.ndarray:
    """Return the same equations (m, 3), each with one unknown that no other one has."""
    A = rows.copy()
    pivots: list[int] = []
    for i in range(len(A)):
        free = [j for j in range(A.shape[1]) if j not in pivots]
        j = free[int(np.argmax(np.abs(A[i, free])))]
        pivots.append(j)
        A[i] /= A[i, j]
        for k in range(len(A)):
            if k != i:
                A[k] -= A[k, j] * A[i]
    return A


# --- rigid bodies and couplings --------------------------------------------------------------------------------------
def _rigid_body(conv: Conversion, table: _Table, body: RigidBody, number: int) -> None:
    ref = conv.node(body.ref_node)
    nodes = np.unique(conv.nodes(body.nodes))
    nodes = nodes[(nodes != ref) & conv.used[nodes]]
    if not len(nodes):
        conv.note(f"{body.where}: the rigid body has no nodes of elements", Effect.NONE)
        return
    for node in nodes.tolist():
        for k in range(6 if conv.rotational[node] else 3):
            table.depend(node, k, body.where)
    conv.places[f"rigid body {number}"] = body.where
    conv.model.coupling(f"rigid body {number}", ref, nodes, kind="rigid")


def _coupling(conv: Conversion, table: _Table, coupling: Coupling, number: int) -> None:
    ref, nodes = conv.node(coupling.ref_node), conv.nodes(coupling.nodes)
    name = f"coupling {number}" + (f" {coupling.name}" if coupling.name else "")
    conv.places[name] = coupling.where
    dofs = sorted(set(coupling.dofs))
    if coupling.orientation is not None and (set(dofs) & {1, 2, 3}) not in ({1, 2, 3}, set()):
        axes = axes_at(conv.deck.orientations[coupling.orientation], conv.deck.x[[ref, *nodes]])
        if coupling.kind == "kinematic" and not np.allclose(axes, np.eye(3), atol=1e-12):
            raise UnsupportedError(
                "a coupling of some directions in the axes of an orientation is not supported", place=coupling.where
            )
    if coupling.kind == "distributing" and _is_mean(conv, coupling):
        # CalculiX: the displacement of the node is the weighted mean, it has no rotation
        w = np.asarray(coupling.weights, float) / np.sum(coupling.weights)
        supports = (*conv.deck.boundaries, *(b for step in conv.deck.steps for b in step.boundaries))
        held = {d - 1 for b in supports if coupling.ref_node in b.nodes for d in b.dofs}
        for k in range(3):  # where the node is held, or begins an equation of the deck, one of the others follows
            free = k not in held and (ref, k) not in table.dependent
            table.add([ref, *nodes], [k] * (1 + len(nodes)), [1.0, *-w], coupling.where, preferred=free)
        return
    if coupling.kind == "distributing":
        if conv.deck.of_abaqus and set(dofs) < {1, 2, 3, 4, 5, 6}:
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
        components = _of_line(conv, coupling, ref, nodes[weights != 0.0])
        conv.model.coupling(name, ref, nodes, kind="distributing", weights=weights, components=components)
        return
    keep = nodes[nodes != ref]
    for node in keep.tolist():
        for d in dofs:
            if d <= 3 or conv.rotational[node]:
                table.depend(node, d - 1, coupling.where)
    components = None if set(dofs) >= {1, 2, 3, 4, 5, 6} else [COMPONENTS[3][d - 1] for d in dofs]
    conv.model.coupling(name, ref, keep, kind="rigid", components=components)


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
    conv.model.fix(np.array([ref]), [_NAMES[3 + k]])
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
            ends, shares = edge_lengths(group, rows, _edge(str(side)), conv.deck.x)
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


def _edge(side: str) -> int:
    """Return the number (from 0) of an edge of shells, which CalculiX calls S3, S4 and so on."""
    return int(side[1:]) - (1 if side.startswith("E") else 3)


def _is_mean(conv: Conversion, coupling: Coupling) -> bool:
    """Return whether a coupling is *DISTRIBUTING COUPLING with an element DCOUP3D."""
    return any(
        block.family == "distributing coupling" and np.isin(coupling.ref_node, block.nodes)
        for block in conv.deck.blocks
    )


# --- supports --------------------------------------------------------------------------------------------------------
def _keys(conv: Conversion, boundary: Boundary) -> tuple[np.ndarray, np.ndarray]:
    """Return keys (m,), six per node, of the dofs that a support holds, and those of them that exist (m,) bool."""
    nodes = conv.nodes(boundary.nodes)
    dofs = np.array(boundary.dofs) - 1
    node, dof = np.repeat(nodes, len(dofs)), np.tile(dofs, len(nodes))
    if conv.turning:
        for own, ref in conv.turning.items():
            mine = (node == own) & (dof < 3)
            node, dof = np.where(mine, ref, node), np.where(mine, dof + 3, dof)
    exists = conv.used[node] & ((dof < 3) | conv.rotational[node])
    if conv.plane:  # nothing moves across the plane
        exists &= dof < 2
    if conv.flat:  # held there as a whole
        exists &= ~np.isin(dof, _ACROSS)
    loose = np.unique(node[~conv.used[node]])
    if loose.size:
        conv.note(
            f"{boundary.where}: a support of node {conv.name_of(loose[0])}"
            f"{f' and {loose.size - 1} more' if loose.size > 1 else ''}, which no element uses, is left out",
            Effect.NONE,
        )
    stiff = np.unique(node[conv.used[node] & (dof >= 3) & ~conv.rotational[node]])
    if stiff.size:
        conv.note(
            f"{boundary.where}: directions 4 to 6 of {stiff.size} node{'s' * (stiff.size > 1)} without rotations are "
            "left out",
            Effect.NONE,
        )
    return 6 * node + dof, exists


def _entries(conv: Conversion, boundaries: Sequence[Boundary], zero: bool = False) -> list[Given]:
    out = []
    for b in boundaries:
        if b.kind != "DISPLACEMENT" and b.value:
            raise UnsupportedError(
                f"supports of TYPE={b.kind} are not supported", place=b.where, remedy="give displacements"
            )
        keys = _held(conv, b)
        if len(keys):
            value = 0.0 if zero else b.value
            out.append(Given(keys, np.full(len(keys), value), b.amplitude if value else None, b.where))
    return out


def _move_bases(conv: Conversion, before: list[Given], per_step: list[list[Given]]) -> None:
    """Add the displacements that base motions of MODAL DYNAMIC steps give to all supports of their direction."""
    for i, step in enumerate(conv.deck.steps):
        for base in step.base_motions if step.procedure == "MODAL DYNAMIC" else ():
            keys = np.unique(np.concatenate([g.keys for entries in (before, *per_step) for g in entries]))
            keys = keys[keys % 6 == base.dof - 1]
            _, local = conv.transform_of(keys // 6)
            if not len(keys) or local.any():
                what = "in the axes of a *TRANSFORM" if len(keys) else "nowhere"
                raise UnsupportedError(f"the base motion moves direction {base.dof}, which is held {what}",
                                       place=base.where, remedy="give the motion by *BOUNDARY")  # fmt: skip
            per_step[i].append(Given(keys, np.ones(len(keys)), base.amplitude, base.where))


def _held(conv: Conversion, boundary: Boundary) -> np.ndarray:
    """Return keys (m,) of the dofs that a support holds."""
    keys, exists = _keys(conv, boundary)
    return np.unique(keys[exists])


def _supports(conv: Conversion, table: _Table, timeline: Timeline) -> None:
    deck = conv.deck
    before = _entries(conv, deck.boundaries)
    valued = [[b for b in step.boundaries if not b.fixed] for step in deck.steps]
    per_step = [_entries(conv, own, zero=not is_general(step)) for own, step in zip(valued, deck.steps, strict=True)]
    _keep_fixed(conv, table, before, per_step)
    _move_bases(conv, before, per_step)
    alone = _of_single_steps(conv, table, before, per_step)
    before, *per_step = (_without(entries, alone) for entries in (before, *per_step))
    shaking = [[(b, _held(conv, b)) for b in s.boundaries if b.value] if s.procedure == VIBRATION else []
               for s in deck.steps]  # fmt: skip
    at_rest = shaken_supports(conv, (before, *(per_step[i] for i in timeline.steps)), shaking)
    before, *per_step = (_without(entries, at_rest) for entries in (before, *per_step))
    given = [per_step[i] for i in timeline.steps]
    lone = [g for i, entries in enumerate(per_step) if i not in timeline.steps for g in entries]
    start = [*lone, *before] if timeline.steps and not before else [*before, *(lone if not timeline.steps else ())]
    found, twice = courses(deck, timeline, given, ["BOUNDARY" in deck.steps[i].new for i in timeline.steps], start)
    for place in twice:
        conv.note(f"{place}: a support is given a second time in one step; the last value counts", Effect.DIFFERS)
    axes_all, has = conv.transform_of(np.arange(len(deck.node_ids)))
    local = _Table(conv)
    for number, course in enumerate(found, 1):
        node, dof = course.keys // 6, course.keys % 6
        free = [(int(n), int(d)) for n, d in zip(node, dof, strict=True) if (int(n), int(d)) in table.dependent]
        if free and not has[free[0][0]]:
            n, d = free[0]
            raise ModelError(
                f"direction {d + 1} of node {conv.name_of(n)} is held, but depends on others in "
                f"{table.dependent[free[0]]}",
                place=course.where,
                remedy="hold another dof, or begin the equation with another one",
            )
        t = np.linspace(0.0, timeline.end[-1] if timeline.end else 1.0, 257)
        moves = bool(np.any(course.function(t)) or np.any(getattr(course.function, "value", 0.0)))
        turned = has[node]
        for d in range(6):
            mine = ~turned & (dof == d)
            if not mine.any():
                continue
            if not moves:
                conv.model.fix(node[mine], [_NAMES[d]])
            else:
                _moved(conv, course, node[mine], d, course.factors[mine], number)
        if turned.any():
            _turned(conv, local, course, node[turned], dof[turned], course.factors[turned], axes_all, moves, number)
    local.finish("supports in local axes")
    if conv.flat:
        conv.model.fix(np.flatnonzero(conv.used), ["z"])
        turning = np.flatnonzero(conv.rotational)
        if len(turning):
            conv.model.fix(turning, [_NAMES[3], _NAMES[4]])


def _keep_fixed(conv: Conversion, table: _Table, before: list[Given], per_step: list[list[Given]]) -> None:
    """Let FIXED supports hold the directions where the step before has left them, from their step on.

    A direction that had a value keeps it; others become groups of supports of their steps.

    Raises:
        ModelError: a step before which nothing has moved, one that cannot have such supports, directions that depend
            on others or move again.
    """
    deck = conv.deck
    early = next((b for b in (*deck.boundaries, *(deck.steps[0].boundaries if deck.steps else ())) if b.fixed), None)
    if early is not None:
        raise ModelError(
            "FIXED holds what the step before has reached, and there is none", place=early.where, remedy="give values"
        )
    given: dict[int, Given] = {k: g for g in before for k in g.keys.tolist()}
    held: dict[int, str] = {}
    groups: dict[frozenset[int], str] = {}
    for i, step in enumerate(deck.steps):
        if "BOUNDARY" in step.new:
            held = {}
        again = next((g for g in per_step[i] if np.isin(g.keys, list(held)).any()), None)
        if again is not None:
            raise UnsupportedError("a direction that was FIXED gets a value", place=again.where,
                                   remedy="give it the value in a deck of its own")  # fmt: skip
        for b in (b for b in step.boundaries if b.fixed):
            for k in _held(conv, b).tolist():
                if k in given:
                    value = given[k].values[given[k].keys == k]
                    if given[k].amplitude is not None:
                        raise UnsupportedError(
                            "FIXED after a value with an AMPLITUDE is not supported", place=b.where,
                            remedy="let the amplitude stay constant, without FIXED",
                        )  # fmt: skip
                    per_step[i].append(Given(np.array([k]), value, None, b.where))
                elif divmod(k, 6) in table.dependent:
                    raise ModelError(
                        f"direction {k % 6 + 1} of node {conv.name_of(k // 6)} is FIXED, but depends on others in "
                        f"{table.dependent[divmod(k, 6)]}", place=b.where,
                    )  # fmt: skip
                else:
                    held[k] = b.where
        given |= {k: g for g in per_step[i] for k in g.keys.tolist()}
        if not held or not step.supported:
            continue
        place = next(iter(held.values()))
        if step.procedure not in ("STATIC", "FREQUENCY", "BUCKLE"):
            raise UnsupportedError(
                f"FIXED supports in {step.procedure} are not supported", place=place,
                remedy="they hold in STATIC, FREQUENCY and BUCKLE",
            )  # fmt: skip
        keys = frozenset(held)
        if keys not in groups:
            groups[keys] = group = f"fixed in step {step.number}"
            conv.places[group] = place
            nodes, directions = np.divmod(np.array(sorted(keys)), 6)
            if conv.transform_of(nodes)[1].any():
                raise UnsupportedError("FIXED supports in the axes of a *TRANSFORM are not supported", place=place)
            for d in np.unique(directions).tolist():
                conv.model.fix(nodes[directions == d], [_NAMES[d]], group=group, present=True)
        conv.step_supports.setdefault(i, []).append(groups[keys])


def _without(entries: list[Given], keys: np.ndarray) -> list[Given]:
    """Return the values of entries without those of ``keys``."""
    rest = ((g, ~np.isin(g.keys, keys)) for g in entries)
    return [Given(g.keys[k], g.values[k], g.amplitude, g.where) for g, k in rest if k.any()]


def _of_single_steps(conv: Conversion, table: _Table, before: list[Given], per_step: list[list[Given]]) -> np.ndarray:
    """Return keys (m,) of supports that some steps have and others, or all, lack; make them groups of the steps that
    have them.

    Raises:
        ModelError: such supports move, or a step is not linear statics, modes or buckling.
    """
    deck = conv.deck
    held: dict[int, Given] = {k: g for g in before for k in g.keys.tolist()}
    sets: dict[int, dict[int, Given]] = {}
    for i, (step, entries) in enumerate(zip(deck.steps, per_step, strict=True)):
        if not step.supported:
            continue
        if "BOUNDARY" in step.new:
            held = {}
        held = {**held, **{k: g for g in entries for k in g.keys.tolist()}}
        sets[i] = held
    if not sets:
        return np.empty(0, int)
    common = set.intersection(*map(set, sets.values()))
    of_all = {k: g for own in sets.values() for k, g in own.items()}
    ended = [k for g in before for k in g.keys.tolist() if k not in of_all]  # by OP=NEW in the first step
    alone = sorted(set(of_all) - common)
    if not alone:
        return np.array(ended, int)
    _, has = conv.transform_of(np.array(alone) // 6)
    for key, local in zip(alone, has.tolist(), strict=True):
        given = of_all[key]
        node, dof = divmod(key, 6)
        name = f"the support of node {conv.name_of(node)} in direction {dof + 1}"
        lacks = next(deck.steps[i] for i in sets if key not in sets[i])
        other = next((deck.steps[i] for i in sets if not _takes_supports(conv, deck.steps[i])), None)
        values = [v for g in (*before, *(g for e in per_step for g in e)) for v in g.values[g.keys == key]]
        why = ""
        if other is not None:
            what = "NLGEOM or nonlinear constraints" if other.procedure == "STATIC" else other.procedure
            why = f"step {other.number} with {what} needs the same supports as all others"
        elif any(values):
            why = "it moves, and what moves must do so in all steps"
        elif local:
            why = "it stands in the axes of a *TRANSFORM, where supports must be the same in all steps"
        elif (node, dof) in table.dependent:
            why = f"the direction depends on others in {table.dependent[node, dof]}"
        if why:
            raise UnsupportedError(
                f"{name} is not there in step {lacks.number}, and {why}", place=given.where,
                remedy="give such steps decks of their own",
            )  # fmt: skip
    groups: dict[frozenset[int], str] = {}
    for i, own in sets.items():
        keys = frozenset(set(own) - common)
        if not keys:
            continue
        if keys not in groups:
            groups[keys] = group = f"step {deck.steps[i].number}"
            held_nodes, directions = np.divmod(np.array(sorted(keys)), 6)
            for d in np.unique(directions).tolist():
                conv.model.fix(held_nodes[directions == d], [_NAMES[d]], group=group)
        conv.step_supports.setdefault(i, []).append(groups[keys])
    return np.array(alone + ended)


def _takes_supports(conv: Conversion, step: DeckStep) -> bool:
    """Return whether a step may have supports of its own: linear statics, modes and buckling."""
    if step.procedure == "STATIC":
        return not conv.is_nonlinear(step)
    return step.procedure in ("FREQUENCY", "BUCKLE")


def _moved(conv: Conversion, course, nodes, dof: int, factors, number: int) -> None:
    """Create nodes that follow a function."""
    for i, factor in enumerate(np.unique(factors)):
        function = make_function({"kind": "scaled", "function": course.function, "factor": float(factor)})
        name = f"motion {number}.{i + 1} {_NAMES[dof]}"
        conv.places[name] = course.where
        mine = nodes[factors == factor]
        if dof < 3:
            conv.drivers.append(name)
            conv.model.motion(name, mine, _NAMES[dof], function)
            continue
        for node in mine.tolist():
            label = f"{name} of node {conv.name_of(node)}"
            owner = conv.model.building.label("Motion", label)
            turn = conv.model.building.relative_angle(owner, (GROUND, node), np.eye(3)[dof - 3])
            drive(conv.model.building, label, turn, conv.model.building.function_index(function, owner, load=False))
            conv.turned.append((label, node, dof - 3))


def _turned(conv: Conversion, table: _Table, course, nodes, dofs, factors, axes, moves: bool, number: int) -> None:
    """Support nodes with local axes: directly if all three directions are held, else by equations."""
    for part in (0, 3):
        of = (dofs // 3) * 3 == part
        if not of.any():
            continue
        if not moves:
            values, counts = np.unique(nodes[of], return_counts=True)
            n = 2 if conv.plane else 3
            whole = values[counts == n]
            if len(whole):
                conv.model.fix(whole, list(_NAMES[part : part + n]))
            of &= ~np.isin(nodes, whole)
        rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for node, dof in zip(nodes[of].tolist(), dofs[of].tolist(), strict=True):
            direction = axes[node, dof % 3]
            order = [int(i) for i in np.argsort(-np.abs(direction), kind="stable") if abs(direction[i]) > 1e-15]
            if len(order) == 1 and not moves:
                conv.model.fix(np.array([node]), [_NAMES[part + order[0]]])
                continue
            conv.inclined.add(node)
            rows.append((np.full(len(order), node), np.array(order) + part, direction[order]))
        if not rows:
            continue
        if not moves:
            for at, component, factor in rows:
                table.add(at, component, factor, course.where, preferred=False)
            continue
        count = np.repeat(np.arange(len(rows)), [len(r[0]) for r in rows])
        nodes, components, coefficients = (np.concatenate(p) for p in zip(*rows, strict=True))
        name = f"motion {number} in local axes" + (", rotations" if part else "")
        conv.places[name] = course.where
        conv.drivers.append(name)
        conv.model.equations(
            name,
            count,
            nodes,
            components,
            coefficients,
            value=np.asarray(factors)[of],
            function=course.function,
            preferred=False,
        )
