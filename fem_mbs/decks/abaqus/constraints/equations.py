"""All constraints of a deck; its equations, MPCs and rigid bodies.

Equations and MPCs become equations of the model, rigid bodies its couplings, exact at any rotation.  The first dof of
an equation depends on the others: no two equations may have the same one, and no support may hold it.

    BEAM, LINK   the distance of two nodes stays        PIN, TIE   two nodes move together (TIE: and turn)
    MEANROT      the mean rotation of nodes about an axis is a displacement of another one
    STRAIGHT     nodes stay on the line through the first two      PLANE   on the plane through the first three
"""

from __future__ import annotations

import numpy as np

from fem_mbs.decks.abaqus.constraints.couplings import is_mean, make_coupling, partial_couplings
from fem_mbs.decks.abaqus.constraints.cyclic import make_sectors
from fem_mbs.decks.abaqus.constraints.pretension import section_equations
from fem_mbs.decks.abaqus.constraints.supports import make_supports
from fem_mbs.decks.abaqus.constraints.table import EquationTable, direction_name
from fem_mbs.decks.abaqus.constraints.ties import make_ties
from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.decks.abaqus.time import Timeline
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.abaqus.deck import Boundary, Mpc, RigidBody
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["make_constraints", "nodes_of_constraints"]

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
        conv.rotational[ref] |= not is_mean(conv, coupling)
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


def make_constraints(conv: Conversion, timeline: Timeline) -> None:
    """Create all constraints of the model.

    Raises:
        ModelError: constraints that contradict each other or that the model does not have, with their line.
    """
    table = EquationTable(conv)
    section_equations(conv, table.add)
    for equation in conv.deck.equations:
        _equation(conv, table, equation)
    for mpc in conv.deck.mpcs:
        _mpc(conv, table, mpc)
    for i, body in enumerate(conv.deck.rigid_bodies):
        _rigid_body(conv, table, body, i + 1)
    for i, coupling in enumerate(conv.deck.couplings):
        make_coupling(conv, table, coupling, i + 1)
    make_ties(conv, table)
    make_sectors(conv)
    table.finish("equations")
    _hold_unused(conv, table)
    make_supports(conv, table, timeline)


def _hold_unused(conv: Conversion, table: EquationTable) -> None:
    """Hold directions of nodes that only equations use, and none of them names: they are no unknowns of the deck."""
    deck = conv.deck
    partial = partial_couplings(conv)
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
    turning = (range(5, 6) if conv.plane else range(3, 6)) if partial else ()
    for k in (*range(dim), *turning):
        idle = np.flatnonzero(alone & ~named[:, k] & ((k < 3) | conv.rotational))
        if idle.size:
            conv.model.fix(idle, [direction_name(conv, k)])


# --- equations and MPCs ----------------------------------------------------------------------------------------------
def _equation(conv: Conversion, table: EquationTable, equation) -> None:
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
    table.add(n, k, c, equation.where, preferred=False, until=equation.until)


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


def _mpc(conv: Conversion, table: EquationTable, mpc: Mpc) -> None:
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
        for k in range(
            6 if turning else 2 if conv.plane else 3
        ):  # in decks of Abaqus both may be held, or follow others
            table.add([a, b], [k, k], [1.0, -1.0], where, preferred=not conv.deck.of_abaqus)
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


def _mean_rotation(conv: Conversion, table: EquationTable, mpc: Mpc, nodes: np.ndarray) -> None:
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


def _flat(conv: Conversion, table: EquationTable, mpc: Mpc, nodes: np.ndarray) -> None:
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


# --- rigid bodies -----------------------------------------------------------------------------------------------------
def _rigid_body(conv: Conversion, table: EquationTable, body: RigidBody, number: int) -> None:
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
