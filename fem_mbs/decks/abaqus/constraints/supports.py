"""Supports of a deck.

A support holds or moves a dof in all steps, or in some: then it belongs to a group that these steps name.  Supports of
transformed nodes that hold fewer than three directions become equations of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fem_mbs.decks.abaqus.constraints.free import hold_free_motions
from fem_mbs.decks.abaqus.constraints.table import DIRECTIONS, EquationTable, direction_name
from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.decks.abaqus.time import Given, Timeline, courses, is_general
from fem_mbs.decks.abaqus.vibrations import VIBRATION, shaken_supports
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.functions.kinds import make_function
from fem_mbs.meshes.abaqus.deck import Boundary, DeckStep
from fem_mbs.meshes.vocabulary import Effect
from fem_mbs.model.connections.joint_parts import drive
from fem_mbs.system.blocks import GROUND

__all__ = ["make_supports"]

#: Directions (from 0) in which lines of the x-y plane do not move.
_ACROSS = (2, 3, 4)
#: The procedure that writes matrices, in which its own supports have no meaning.
MATRICES = "MATRIX GENERATE"
#: TYPE of *BOUNDARY -> order of the derivative that is given.
_ORDERS = {"DISPLACEMENT": 0, "VELOCITY": 1, "ACCELERATION": 2}


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
        exists &= (dof < 2) | (dof == 5)
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
    keys = 6 * node + dof
    free = np.isin(keys, conv.uncoupled)
    if free.any():
        conv.note(
            f"{boundary.where}: the support of the rotation of node {conv.name_of(node[free][0])}, which *DISTRIBUTING "
            "does not couple, is left out, as in CalculiX", Effect.DIFFERS,
        )  # fmt: skip
    return keys, exists & ~free


def _entries(conv: Conversion, boundaries: Sequence[Boundary], zero: bool = False) -> list[Given]:
    out = []
    for b in boundaries:
        keys = _held(conv, b)
        if len(keys):
            value = 0.0 if zero or b.fixed else b.value
            order = 0 if zero or b.fixed else _ORDERS[b.kind]
            out.append(Given(keys, np.full(len(keys), value), b.amplitude if value else None, b.where, order))
    return out


def _move_bases(conv: Conversion, before: list[Given], per_step: list[list[Given]]) -> None:
    """Add the motions that base motions of MODAL DYNAMIC steps give to all supports of their direction."""
    for i, step in enumerate(conv.deck.steps):
        for base in step.base_motions if step.procedure == "MODAL DYNAMIC" else ():
            keys = np.unique(np.concatenate([g.keys for entries in (before, *per_step) for g in entries]))
            keys = keys[keys % 6 == base.dof - 1]
            _, local = conv.transform_of(keys // 6)
            if not len(keys) or local.any():
                what = "in the axes of a *TRANSFORM" if len(keys) else "nowhere"
                raise UnsupportedError(f"the base motion moves direction {base.dof}, which is held {what}",
                                       place=base.where, remedy="give the motion by *BOUNDARY")  # fmt: skip
            order = _ORDERS[base.kind]
            per_step[i].append(Given(keys, np.ones(len(keys)), base.amplitude, base.where, order))


def _held(conv: Conversion, boundary: Boundary) -> np.ndarray:
    """Return keys (m,) of the dofs that a support holds."""
    keys, exists = _keys(conv, boundary)
    return np.unique(keys[exists])


def make_supports(conv: Conversion, table: EquationTable, timeline: Timeline) -> None:
    deck = conv.deck
    before = _entries(conv, deck.boundaries)
    valued = [[b for b in step.boundaries if not (b.fixed and i) and step.procedure != MATRICES]
              for i, step in enumerate(deck.steps)]  # fmt: skip
    per_step = [_entries(conv, own, zero=not is_general(step)) for own, step in zip(valued, deck.steps, strict=True)]
    _keep_fixed(conv, table, before, per_step)
    _move_bases(conv, before, per_step)
    alone = _of_single_steps(conv, table, timeline, before, per_step)
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
    local = EquationTable(conv)
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
                conv.model.fix(node[mine], [direction_name(conv, d)])
            else:
                _moved(conv, course, node[mine], d, course.factors[mine], number)
        if turned.any():
            _turned(conv, local, course, node[turned], dof[turned], course.factors[turned], axes_all, moves, number)
    local.finish("supports in local axes")
    hold_free_motions(conv, conv.held)
    if conv.flat:
        conv.model.fix(np.flatnonzero(conv.used), ["z"])
        turning = np.flatnonzero(conv.rotational)
        if len(turning):
            conv.model.fix(turning, [DIRECTIONS[3], DIRECTIONS[4]])


def _keep_fixed(conv: Conversion, table: EquationTable, before: list[Given], per_step: list[list[Given]]) -> None:
    """Let FIXED supports hold the directions where the step before has left them, from their step on.

    A direction that had a value keeps it; others become groups of supports of their steps. In the first step, before
    which nothing has moved, they are supports like others.

    Raises:
        ModelError: a step that cannot have such supports, directions that depend on others or move again.
    """
    deck = conv.deck
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
        for b in (b for b in step.boundaries if b.fixed and i):
            for k in _held(conv, b).tolist():
                if k in given:
                    value = given[k].values[given[k].keys == k]
                    if given[k].amplitude is not None or given[k].order:
                        raise UnsupportedError(
                            "FIXED after a value with an AMPLITUDE, a velocity or an acceleration is not supported",
                            place=b.where,
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
        if not _takes_supports(step):
            raise UnsupportedError(
                f"FIXED supports in {step.procedure} are not supported", place=place,
                remedy=f"they hold in {', '.join(_CHANGING)}",
            )  # fmt: skip
        keys = frozenset(held)
        if keys not in groups:
            groups[keys] = group = f"fixed in step {step.number}"
            conv.places[group] = place
            nodes, directions = np.divmod(np.array(sorted(keys)), 6)
            if conv.transform_of(nodes)[1].any():
                raise UnsupportedError("FIXED supports in the axes of a *TRANSFORM are not supported", place=place)
            for d in np.unique(directions).tolist():
                conv.model.fix(nodes[directions == d], [DIRECTIONS[d]], group=group, present=True)
        conv.step_supports.setdefault(i, []).append(groups[keys])


def _without(entries: list[Given], keys: np.ndarray) -> list[Given]:
    """Return the values of entries without those of ``keys``."""
    rest = ((g, ~np.isin(g.keys, keys)) for g in entries)
    return [replace(g, keys=g.keys[k], values=g.values[k]) for g, k in rest if k.any()]


def _of_single_steps(
    conv: Conversion, table: EquationTable, timeline: Timeline, before: list[Given], per_step: list[list[Given]]
) -> np.ndarray:
    """Return keys (m,) of supports that some steps have and others, or all, lack; make them groups of the steps that
    have them.

    Raises:
        UnsupportedError: a step cannot change its supports, or such a support is none of a single direction.
    """
    deck = conv.deck
    held: dict[int, Given] = {k: g for g in before for k in g.keys.tolist()}
    sets: dict[int, dict[int, Given]] = {}
    for i, (step, entries) in enumerate(zip(deck.steps, per_step, strict=True)):
        if not step.supported or step.procedure == MATRICES:
            continue
        if "BOUNDARY" in step.new:
            held = {}
        held = {**held, **{k: g for g in entries for k in g.keys.tolist()}}
        sets[i] = held
    if not sets:
        return np.empty(0, int)
    conv.held = {i: np.array(sorted(own), int) for i, own in sets.items()}
    common = set.intersection(*map(set, sets.values()))
    of_all = {k: g for own in sets.values() for k, g in own.items()}
    ended = [k for g in before for k in g.keys.tolist() if k not in of_all]  # by OP=NEW in the first step
    alone = sorted(set(of_all) - common)
    if not alone:
        return np.array(ended, int)
    moving = {k for entries in (before, *per_step) for g in entries for k in g.keys[g.values != 0.0].tolist()}
    steps_of = {key: tuple(i for i in sets if key in sets[i]) for key in alone}
    _check_changing(conv, table, sets, of_all, steps_of, moving)
    groups: dict[tuple[int, ...], list[int]] = {}
    for key in alone:
        groups.setdefault(steps_of[key], []).append(key)
    for steps, keys in groups.items():
        name = f"supports of step {', '.join(str(deck.steps[i].number) for i in steps)}"
        still = np.array([k for k in keys if k not in moving], int)
        nodes, directions = np.divmod(still, 6)
        for d in np.unique(directions).tolist():
            conv.model.fix(nodes[directions == d], [direction_name(conv, d)], group=name)
        _move_in_steps(conv, timeline, name, before, per_step, np.array([k for k in keys if k in moving], int))
        for i in steps:
            conv.step_supports.setdefault(i, []).append(name)
    return np.array(alone + ended)


def _check_changing(
    conv: Conversion, table: EquationTable, sets: dict[int, dict[int, Given]], of_all: dict[int, Given],
    steps_of: dict[int, tuple[int, ...]], moving: set[int],
) -> None:  # fmt: skip
    """Refuse supports of some steps that cannot come and go.

    Raises:
        UnsupportedError: naming the support, the step that lacks it, and why.
    """
    deck = conv.deck
    alone = np.array(list(steps_of))
    _, has = conv.transform_of(alone // 6)
    dim = 2 if conv.plane else 3
    other = next((deck.steps[i] for i in sets if not _takes_supports(deck.steps[i])), None)
    for key, local in zip(alone.tolist(), has.tolist(), strict=True):
        node, dof = divmod(key, 6)
        lacks = next(deck.steps[i] for i in sets if key not in sets[i])
        part = [6 * node + d for d in range(3 * (dof // 3), 3 * (dof // 3) + dim)]
        whole = all(steps_of.get(k) == steps_of[key] for k in part) and not moving & set(part)
        linear = next((deck.steps[i] for i in steps_of[key] if deck.steps[i].procedure == "DYNAMIC"
                       and not conv.is_nonlinear(deck.steps[i])), None)  # fmt: skip
        why = ""
        if other is not None:
            why = f"step {other.number} with {other.procedure} needs the same supports as all others"
        elif local and not whole:
            why = (
                "it stands in the axes of a *TRANSFORM, where supports of fewer than all directions must be the same "
                "in all steps"
            )
        elif (node, dof) in table.dependent:
            why = f"the direction depends on others in {table.dependent[node, dof]}"
        elif key in moving and dof >= 3:
            why = "it turns, and what turns must do so in all steps"
        elif key in moving and linear is not None:
            why = f"it moves in step {linear.number}, a linear DYNAMIC, where what moves must do so in all steps"
        if why:
            raise UnsupportedError(
                f"the support of node {conv.name_of(node)} in direction {dof + 1} is not there in step "
                f"{lacks.number}, and {why}", place=of_all[key].where, remedy="give such steps decks of their own",
            )  # fmt: skip


def _move_in_steps(
    conv: Conversion, timeline: Timeline, group: str, before: list[Given], per_step: list[list[Given]], keys: np.ndarray
) -> None:  # fmt: skip
    """Let directions ``keys`` (m,) follow their values in the steps of a group."""
    if not keys.size:
        return
    deck = conv.deck
    given = [_only(per_step[i], keys) for i in timeline.steps]
    ended = ["BOUNDARY" in deck.steps[i].new for i in timeline.steps]
    for course in courses(deck, timeline, given, ended, _only(before, keys))[0]:
        node, dof = course.keys // 6, course.keys % 6
        number = len(conv.places)
        for d in np.unique(dof).tolist():
            mine = dof == d
            _moved(conv, course, node[mine], d, course.factors[mine], number, group)


def _only(entries: list[Given], keys: np.ndarray) -> list[Given]:
    """Return the values of entries of ``keys`` (m,)."""
    some = ((g, np.isin(g.keys, keys)) for g in entries)
    return [replace(g, keys=g.keys[k], values=g.values[k]) for g, k in some if k.any()]


#: Procedures whose steps may have supports that others lack.
_CHANGING = ("STATIC", "FREQUENCY", "BUCKLE", "DYNAMIC")


def _takes_supports(step: DeckStep) -> bool:
    return step.procedure in _CHANGING and step.nodal_diameters is None


def _moved(conv: Conversion, course, nodes, dof: int, factors, number: int, group: str = "") -> None:
    """Create nodes that follow a function, in the steps of a group or in all."""
    for i, factor in enumerate(np.unique(factors)):
        function = make_function({"kind": "scaled", "function": course.function, "factor": float(factor)})
        name = f"motion {number}.{i + 1} {DIRECTIONS[dof]}"
        conv.places[name] = course.where
        mine = nodes[factors == factor]
        if dof < 3:
            if not group:
                conv.drivers.append(name)
            conv.model.motion(name, mine, DIRECTIONS[dof], function, group=group)
            continue
        if conv.plane:
            raise UnsupportedError("rotations that are given in plane models are not supported", place=course.where,
                                   remedy="give displacements, or a moment")  # fmt: skip
        for node in mine.tolist():
            label = f"{name} of node {conv.name_of(node)}"
            owner = conv.model.building.label("Motion", label)
            turn = conv.model.building.relative_angle(owner, (GROUND, node), np.eye(3)[dof - 3])
            drive(conv.model.building, label, turn, conv.model.building.function_index(function, owner, load=False))
            conv.turned.append((label, node, dof - 3))


def _turned(
    conv: Conversion, table: EquationTable, course, nodes, dofs, factors, axes, moves: bool, number: int
) -> None:
    """Support nodes with local axes: directly if all three directions are held, else by equations."""
    for part in (0, 3):
        of = (dofs // 3) * 3 == part
        if not of.any():
            continue
        if part and conv.plane:
            if moves:
                raise UnsupportedError("rotations that are given in plane models are not supported", place=course.where)
            conv.model.fix(np.unique(nodes[of]), [direction_name(conv, 5)])
            continue
        if not moves:
            values, counts = np.unique(nodes[of], return_counts=True)
            n = 2 if conv.plane else 3
            whole = values[counts == n]
            if len(whole):
                conv.model.fix(whole, list(DIRECTIONS[part : part + n]))
            of &= ~np.isin(nodes, whole)
        rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for node, dof in zip(nodes[of].tolist(), dofs[of].tolist(), strict=True):
            direction = axes[node, dof % 3]
            order = [int(i) for i in np.argsort(-np.abs(direction), kind="stable") if abs(direction[i]) > 1e-15]
            if len(order) == 1 and not moves:
                conv.model.fix(np.array([node]), [DIRECTIONS[part + order[0]]])
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
