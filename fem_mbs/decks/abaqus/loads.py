"""Loads, temperatures and initial velocities of a deck.

What general steps say of a load is one course of total time with a factor per node or element (`deck_time`); loads that
share a course are one load of the model.  Loads of the other steps (BUCKLE, FREQUENCY, PERTURBATION) act in their step
only.  Gravity and body forces become forces of the nodes, the integrals of the shape functions times force per volume,
so that they may act on some elements only and have functions of their own.

`plan_loads` looks at what the deck says before the mesh is made, since pressures need facet sets there; `make_loads`
makes the loads of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

import numpy as np

from fem_mbs.decks.abaqus.beams import beam_section
from fem_mbs.decks.abaqus.materials import density_of, expansion_of, material_of
from fem_mbs.decks.abaqus.model import Conversion, Group
from fem_mbs.decks.abaqus.shells import (
    edge_lengths,
    edge_number,
    shell_areas,
    shell_mass_per_area,
    shell_middle,
    shell_normals,
)
from fem_mbs.decks.abaqus.solids import nodal_arms, nodal_volumes
from fem_mbs.decks.abaqus.time import Course, Given, Root, Timeline, courses, is_general
from fem_mbs.decks.abaqus.vibrations import VIBRATION, Shake, load_parts
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.functions.kinds import make_function
from fem_mbs.functions.laws import TimeFunction
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.deck import (
    Cload,
    Coupling,
    DeckStep,
    Dload,
    Dsload,
    Material,
    PointMass,
    RigidBody,
    ShellSection,
)
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["Plan", "make_loads", "node_temperatures", "plan_loads", "surface_facets"]

#: Thermal strains below this are added to those of Green as they are.
_SMALL_STRETCH = 1e-3
#: Labels of *DSLOAD on edges of shells.
_OF_EDGES = ("EDNOR", "EDLD")


@dataclass
class Plan:
    """Loads to make: names of those of general steps, and of each other step (by its index); ``shakes``: how those of
    steady vibrations shake; ``make``: what makes them once the model has its parts."""

    general: list[str] = field(default_factory=list)
    own: dict[int, list[str]] = field(default_factory=dict)
    shakes: dict[str, Shake] = field(default_factory=dict)
    make: list[Callable[[], None]] = field(default_factory=list)


def plan_loads(conv: Conversion, timeline: Timeline) -> Plan:
    """Return the loads of the deck.

    Raises:
        ModelError: loads that the model does not have, with their line.
    """
    plan = Plan()
    steps = [conv.deck.steps[i] for i in timeline.steps]
    _all_kinds(conv, timeline, steps, plan, plan.general, "")
    for i, step in enumerate(conv.deck.steps):
        if i in timeline.steps or not step.supported:
            continue
        plan.own[i] = []
        if step.procedure == VIBRATION:
            for k, (part, shake) in enumerate(load_parts(step), 1):
                names: list[str] = []
                prefix = f"step {step.number} " if k == 1 else f"step {step.number}, part {k} "
                _all_kinds(conv, Timeline((i,), (0.0,), (1.0,)), [part], plan, names, prefix, once=True)
                plan.own[i] += names
                plan.shakes |= dict.fromkeys(names, shake)
            continue
        _all_kinds(conv, Timeline((i,), (0.0,), (1.0,)), [step], plan, plan.own[i], f"step {step.number} ", once=True)
    _temperatures(conv, timeline, plan)
    return plan


def make_loads(conv: Conversion, plan: Plan) -> None:
    """Make the planned loads, and initial velocities."""
    for make in plan.make:
        make()
    _initial(conv)


def _all_kinds(
    conv: Conversion, timeline: Timeline, steps: Sequence[DeckStep], plan: Plan, names: list[str], prefix: str,
    once: bool = False,
) -> None:  # fmt: skip
    """Create the time courses of all kinds of loads; ``once``: they act in full in one step without duration."""

    def found(kind: str, given: list[list[Given]]) -> Iterable[tuple[str, Course, TimeFunction | float]]:
        got, _ = courses(conv.deck, timeline, given, [kind in s.new for s in steps], sums=True)
        for k, course in enumerate(got, 1):
            if not np.any(course.factors) or not np.any(_values(course.function)):
                continue
            yield f"{prefix}{kind} {k}", course, (1.0 if once else course.function)

    for name, course, function in found("CLOAD", [_cloads(conv, s.cloads) for s in steps]):
        _forces(conv, plan, names, name, course, function)
    table = _Labels(conv)
    for name, course, function in found("DLOAD", [table.dloads(s.dloads) for s in steps]):
        _distributed(conv, plan, names, name, course, function, table)
    table = _Labels(conv)
    for name, course, function in found("DSLOAD", [table.dsloads(s.dsloads) for s in steps]):
        _surfaces(conv, plan, names, name, course, function, table)


def _values(function: TimeFunction) -> np.ndarray:
    return getattr(function, "value", np.ones(1))


def _scaled(function: TimeFunction | float, factor: float) -> TimeFunction:
    return make_function({"kind": "scaled", "function": function, "factor": float(factor)})


# --- concentrated loads ----------------------------------------------------------------------------------------------
def _cloads(conv: Conversion, entries: Iterable[Cload]) -> list[Given]:
    out = []
    for c in entries:
        nodes = conv.nodes(c.nodes)
        dof = np.full(len(nodes), c.dof - 1)
        for own, ref in conv.turning.items():
            mine = (nodes == own) & (dof < 3)
            nodes, dof = np.where(mine, ref, nodes), np.where(mine, dof + 3, dof)
        exists = conv.used[nodes] & ((dof < 3) | conv.rotational[nodes])
        if conv.plane:
            exists &= (dof < 2) | (dof == 5)
        if conv.flat:
            exists &= ~np.isin(dof, (2, 3, 4))
        if c.value and conv.nlgeom and not conv.deck.of_abaqus:
            bodies: tuple[RigidBody | Coupling, ...] = (*conv.deck.rigid_bodies, *conv.deck.couplings)
            rigid = [conv.node(body.ref_node) for body in bodies]
            if np.any((dof >= 3) & np.isin(nodes, rigid)):
                conv.note(
                    f"{c.where}: the moment keeps its axis, as in Abaqus; moments of CalculiX do work on the "
                    "components of the rotation vector, which is the same about one axis", Effect.DIFFERS,
                )  # fmt: skip
        free = np.isin(6 * nodes + dof, conv.uncoupled)
        if free.any():
            conv.note(
                f"{c.where}: the moment on direction {c.dof} of node {conv.name_of(nodes[free][0])}, which "
                "*DISTRIBUTING does not couple, is left out, as in CalculiX", Effect.DIFFERS,
            )  # fmt: skip
            nodes, dof, exists = nodes[~free], dof[~free], exists[~free]
        if not exists.all():
            lost = conv.name_of(nodes[~exists][0])
            why = "which no element uses" if not conv.used[nodes[~exists][0]] else "which has no rotation"
            conv.note(f"{c.where}: the load on direction {c.dof} of node {lost}, {why}, is left out", Effect.DIFFERS)
        if c.follower:
            told = f"{c.where}: FOLLOWER is not used; the load keeps its direction"
            conv.note(told, Effect.DROPPED if conv.nlgeom else Effect.NONE)
        keys = 6 * nodes[exists] + dof[exists]
        if len(keys) != len(np.unique(keys)):
            conv.note(f"{c.where}: a node is named twice; its load counts once", Effect.DIFFERS)
        keys = np.unique(keys)
        if len(keys):
            out.append(Given(keys, np.full(len(keys), c.value), c.amplitude, c.where))
    return out


def _forces(conv: Conversion, plan: Plan, names: list[str], name: str, course: Course, function) -> None:
    node, dof = course.keys // 6, course.keys % 6
    axes, _ = conv.transform_of(node)
    vectors = course.factors[:, None] * axes[np.arange(len(node)), dof % 3]
    for turning in (False, True):
        mine = (dof >= 3) == turning
        if not mine.any():
            continue
        where, at = np.unique(node[mine], return_inverse=True)
        total = np.zeros((len(where), 3))
        np.add.at(total, at, vectors[mine])
        label = f"{name} moments" if turning else name
        _act(conv, plan, names, label, where, total, function, moment=turning)


def _act(conv, plan, names, label, nodes, vectors, function, moment=False) -> None:
    """Apply a load of vectors (n, 3) to nodes (n,)."""
    make = conv.model.moment if moment else conv.model.force
    if moment and conv.plane:  # a number there
        for k, value in enumerate(np.unique(vectors[:, 2]).tolist(), 1):
            one, on = f"{label} {k}", nodes[vectors[:, 2] == value]
            names.append(one)
            plan.make.append(lambda n=one, at=on, v=value: make(n, at, v, function=_scaled(function, 1.0)))
        return
    # every load has a function of its own, by which steps choose it
    own = _scaled(function, 1.0)
    names.append(label)
    across = vectors[:, : conv.model.dimension] if not moment else vectors
    plan.make.append(lambda: make(label, nodes, across, function=own))


# --- distributed loads -----------------------------------------------------------------------------------------------
class _Labels:
    """Whole numbers for pairs of an element (or none) and a kind of load."""

    def __init__(self, conv: Conversion):
        self.conv = conv
        self.kinds: list[Dload | Dsload] = []
        self.numbers: dict[tuple, int] = {}
        largest = max((int(b.ids.max()) for b in conv.deck.blocks if len(b.ids)), default=0)
        self.width = largest + 1

    def _number(self, key: tuple, load) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.kinds)
            self.kinds.append(load)
        return self.numbers[key]

    def dloads(self, entries: Iterable[Dload]) -> list[Given]:
        out = []
        for d in entries:
            if d.kind == "other":
                continue  # the reader has listed it
            if d.kind in ("gravity", "centrifugal", "body"):
                key = (d.kind, d.label, *np.round(d.direction, 12).tolist(), *np.round(d.point, 12).tolist())
            else:
                key = (d.kind, d.label)
            elements = np.unique(d.elements)
            if d.kind == "centrifugal" and not self._in_parts(d):
                elements = np.zeros(1, int)
            keys = self._number(key, d) * self.width + elements
            out.append(Given(keys, np.full(len(keys), d.value), d.amplitude, d.where))
        return out

    def _in_parts(self, d: Dload) -> bool:
        """Return whether a rotation, of a part or of a plane model, becomes forces, as linear statics allow.

        Raises:
            UnsupportedError: other steps, which need the frame that turns.
        """
        conv = self.conv
        rest = (group.ids[~np.isin(group.ids, d.elements)] for group in conv.groups)
        lacks = next((ids[0] for ids in rest if len(ids)), None)
        if not conv.plane and lacks is None:
            return False
        other = next((s for s in conv.deck.steps if s.procedure != "STATIC" or conv.is_nonlinear(s)), None)
        if other is not None:
            lost = "" if lacks is None else f" ({conv.deck.element_name(lacks)} is missing)"
            why = f"a part of the model{lost}" if lost else "plane models"
            how = " with NLGEOM" if other.procedure == "STATIC" else ""
            raise UnsupportedError(
                f"CENTRIF of {why} is not supported in a deck with step {other.number}, {other.procedure}{how}",
                place=d.where, remedy="give it in linear STATIC steps",
            )  # fmt: skip
        ring = any(group.state == "axisymmetric" for group in conv.groups)
        axis = np.abs(d.direction) / np.linalg.norm(d.direction)
        if ring and (axis[1] < 1.0 - 1e-9 or np.any(d.point[[0, 2]])):
            raise UnsupportedError(
                "CENTRIF of axisymmetric elements about another axis than theirs, y, is not supported",
                place=d.where, remedy="give the direction 0, 1, 0",
            )  # fmt: skip
        return True

    def dsloads(self, entries: Iterable[Dsload]) -> list[Given]:
        out = []
        for d in entries:
            if d.label in ("P", "TRVEC", "TRSHR", *_OF_EDGES):
                if d.label != "P" and d.follows and self.conv.nlgeom:
                    self.conv.note(
                        f"{d.where}: {d.label} keeps its direction; with NLGEOM Abaqus turns it with the surface "
                        "unless FOLLOWER=NO", Effect.DIFFERS,
                    )  # fmt: skip
                key = (d.label, d.surface, *np.round(d.direction, 12).tolist())
                keys = np.array([self._number(key, d) * self.width])
                out.append(Given(keys, np.array([d.value]), d.amplitude, d.where))
        return out

    def parts(self, course: Course):
        """Yield loads of a course by kind: the first entry of the kind, its elements (m,) and factors (m,)."""
        kind, element = np.divmod(course.keys, self.width)
        for k in np.unique(kind):
            yield self.kinds[k], element[kind == k], course.factors[kind == k]


def _distributed(conv: Conversion, plan: Plan, names: list[str], name: str, course: Course, function, table) -> None:
    for i, (load, elements, factors) in enumerate(table.parts(course), 1):
        label = f"{name}.{i} {load.label}"
        if load.kind == "pressure":
            for j, factor in enumerate(np.unique(factors), 1):
                _pressure(conv, plan, names, f"{label}.{j}", load, elements[factors == factor], factor, function)
        elif load.kind == "centrifugal":
            axis = load.direction / np.linalg.norm(load.direction)
            if factors.min() < 0.0:
                raise ModelError(
                    f"the square of the speed is {factors.min():g}", place=load.where, remedy="it cannot be negative"
                )
            if elements[0]:  # of a part
                _spin(conv, plan, names, label, load, elements, factors, axis, function)
                continue
            speed = Root(_scaled(function, factors[0]))
            names.append(label)
            plan.make.append(lambda a=axis, p=load.point, s=speed, n=label: conv.model.centrifugal(n, s, a, p))
        else:
            direction = np.asarray(load.direction, float)
            if load.kind == "gravity":
                direction = direction / np.linalg.norm(direction)
            _body(conv, plan, names, label, load, elements, factors[:, None] * direction, function)


def _pressure(conv, plan, names, label, load: Dload, elements, factor, function) -> None:
    faces = []
    for group, rows in conv.element_groups(elements):
        if group.kind == "shell" and not load.face:  # P acts along the normal
            own = f"{label} {group.name}"
            conv.cells[own] = [(group, rows)]
            _press(conv, plan, names, own, -float(factor), function, "exact")
            continue
        if group.kind != "solid":
            conv.note(f"{load.where}: the load {load.label} on elements {group.type} is not used")
            continue
        _check_face(group, load.face - 1, load)
        faces.append((group, rows, np.full(len(rows), load.face - 1)))
    if faces:
        conv.facets[label] = faces
        _press(conv, plan, names, label, float(factor), function, "reduced")


def _press(conv, plan, names, label: str, value: float, function, points: str) -> None:
    own = _scaled(function, 1.0)
    names.append(label)
    plan.make.append(lambda: conv.model.pressure(label, f"deck:{label}", value, own, points))


def _check_face(group: Group, face: int, load) -> None:
    from fem_mbs.elements.solids.shapes import FACES

    count = len(FACES[group.cell])
    if not 0 <= face < count:
        raise ModelError(
            f"{group.type} has no face {load.label}", place=load.where, remedy=f"its faces are 1 to {count}"
        )


def _surfaces(conv: Conversion, plan: Plan, names: list[str], name: str, course: Course, function, table) -> None:
    for i, (load, _, factors) in enumerate(table.parts(course), 1):
        label, factor = f"{name}.{i} {load.surface}", float(factors[0])
        surface = conv.deck.surfaces[load.surface]
        if surface.kind != "element":
            raise ModelError(
                f"{load.surface} is a surface of nodes", place=load.where, remedy="loads need one of element faces"
            )
        if load.label in _OF_EDGES:
            _on_edges(conv, plan, names, label, load, factor, function)
            continue
        if _on_shell_surface(conv, plan, names, label, load, factor, function):
            continue
        facets = surface_facets(conv, load.surface, load.where)
        if load.label == "TRSHR":
            _shear(conv, plan, names, label, load, factor, function, facets)
            continue
        conv.facets[label] = facets
        if load.label == "P":
            _press(conv, plan, names, label, factor, function, "reduced")
        else:
            _pull(conv, plan, names, label, load.direction, factor, function)


def _shear(conv, plan, names, label: str, load: Dsload, factor: float, function, facets) -> None:
    """Apply a traction along the faces of solids: the direction of the load without its part along their normals."""
    number = 0
    for group, rows, faces in facets:
        for face in np.unique(faces):
            mine = rows[faces == face]
            along = _along(load, _face_normals(group, mine, int(face), conv.deck.x))
            directions, at = np.unique(np.round(along, 9), axis=0, return_inverse=True)
            for k, direction in enumerate(directions):
                number += 1
                own, some = f"{label}.{number}", mine[at.ravel() == k]
                conv.facets[own] = [(group, some, np.full(len(some), face))]
                _pull(conv, plan, names, own, direction, factor, function)


def _along(load: Dsload, normals: np.ndarray) -> np.ndarray:
    """Return unit vectors (n, 3): the direction of a load without its parts along normals (n, 3).

    Raises:
        ModelError: the direction is normal to a face.
    """
    direction = np.asarray(load.direction, float) / np.linalg.norm(load.direction)
    along = direction - (normals @ direction)[:, None] * normals
    size = np.linalg.norm(along, axis=1)[:, None]
    if (size < 1e-6).any():
        raise ModelError(
            f"the direction of TRSHR is normal to a face of {load.surface}", place=load.where, remedy="give another one"
        )
    return along / size


def _face_normals(group: Group, rows: np.ndarray, face: int, x: np.ndarray) -> np.ndarray:
    """Return unit normals (n, 3) in the middle of faces of solids, and of edges of plane elements, by their corners."""
    from fem_mbs.elements.solids.shapes import FACES

    kind, local = FACES[group.cell][face]
    X = x[group.nodes[rows]][:, list(local)]
    if group.state:
        normal = np.cross(X[:, 1] - X[:, 0], [0.0, 0.0, 1.0])
    elif kind.startswith("triangle"):
        normal = np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0])
    else:
        normal = np.cross(X[:, 2] - X[:, 0], X[:, 3] - X[:, 1])
    return normal / np.linalg.norm(normal, axis=1)[:, None]


def _pull(conv, plan, names, label: str, direction, factor: float, function) -> None:
    t = factor * np.asarray(direction) / np.linalg.norm(direction)
    vector = t[: 2 if conv.plane else 3].tolist()
    own = _scaled(function, 1.0)
    names.append(label)
    plan.make.append(lambda: conv.model.traction(label, f"deck:{label}", vector, function=own))


def _on_edges(conv, plan, names, label, load: Dsload, factor: float, function) -> None:
    """Apply a force per length to edges of shells: EDNOR in their surface, into the element, EDLD along a direction.

    Raises:
        UnsupportedError: the surface has other faces than edges of shells.
    """
    surface, x = conv.deck.surfaces[load.surface], conv.deck.x
    elements, sides = np.asarray(surface.elements), np.asarray(surface.faces)
    total = np.zeros((len(conv.deck.node_ids), 3))
    for side in np.unique(sides).tolist():
        for group, rows in conv.element_groups(elements[sides == side]):
            if group.kind != "shell" or side in ("SPOS", "SNEG"):
                raise UnsupportedError(f"{load.label} acts on edges of shells, not on face {side} of {group.type}",
                                       place=load.where, remedy="give a surface of edges E1 to E4")  # fmt: skip
            nodes, shares = edge_lengths(group, rows, edge_number(str(side)), x)
            if load.label == "EDLD":
                direction = np.asarray(load.direction) / np.linalg.norm(load.direction) * np.ones((len(rows), 1))
            else:
                direction = np.cross(shell_normals(group, rows, x), x[nodes[:, 1]] - x[nodes[:, 0]])
                direction /= np.linalg.norm(direction, axis=1)[:, None]
            np.add.at(total, nodes.ravel(), (shares[:, :, None] * direction[:, None]).reshape(-1, 3))
    loaded = np.flatnonzero(np.abs(total).max(axis=1) > 0.0)
    _act(conv, plan, names, label, loaded, factor * total[loaded], function)


def _on_shell_surface(conv, plan, names, label, load: Dsload, factor: float, function) -> bool:
    """Apply a load to a surface of shells; return whether it is one.

    Raises:
        ModelError: a surface of shells with faces other than SPOS and SNEG, or of shells and solids.
    """
    surface = conv.deck.surfaces[load.surface]
    elements, sides = np.asarray(surface.elements), np.asarray(surface.faces)
    found = [(side, *pair) for side in np.unique(sides) for pair in conv.element_groups(elements[sides == side])]
    if all(group.kind != "shell" for _, group, _ in found):
        return False
    for number, (side, group, rows) in enumerate(found, 1):
        if group.kind != "shell" or side not in ("SPOS", "SNEG"):
            raise UnsupportedError(
                f"surface {load.surface}: face {side} of {group.type} in a surface of shells cannot be loaded",
                place=load.where, remedy="give SPOS or SNEG of shells, and other elements a surface of their own",
            )  # fmt: skip
        own = f"{label} {number}"
        conv.cells[own] = [(group, rows)]
        if load.label == "P":  # against the normal of the face
            _press(conv, plan, names, own, factor if side == "SPOS" else -factor, function, "exact")
        elif load.label == "TRVEC":
            _pull(conv, plan, names, own, load.direction, factor, function)
        else:
            normal = shell_normals(group, rows, conv.deck.x)
            directions, at = np.unique(np.round(_along(load, normal), 9), axis=0, return_inverse=True)
            del conv.cells[own]
            for k, direction in enumerate(directions):
                conv.cells[f"{own}.{k + 1}"] = [(group, rows[at.ravel() == k])]
                _pull(conv, plan, names, f"{own}.{k + 1}", direction, factor, function)
    return True


def surface_facets(conv: Conversion, name: str, where: str) -> list[tuple[Group, np.ndarray, np.ndarray]]:
    """Return faces of a surface: group, rows (m,) of its elements, local faces (m,) from 0.

    Raises:
        ModelError: faces of elements other than solids.
    """
    surface = conv.deck.surfaces[name]
    elements, labels = np.asarray(surface.elements), np.asarray(surface.faces)
    out = []
    taken = np.zeros(len(elements), bool)
    for label in np.unique(labels):
        mine = labels == label
        for group, rows in conv.element_groups(elements[mine]):
            if group.kind != "solid" or not str(label)[1:].isdigit():
                raise ModelError(
                    f"surface {name}: face {label} of {group.type} cannot be loaded, tied or coupled", place=where
                )
            out.append((group, rows, np.full(len(rows), int(str(label)[1:]) - 1)))
            taken |= mine & np.isin(elements, group.ids)
    if not taken.all():
        raise ModelError(
            f"surface {name}: element {conv.deck.element_name(elements[np.argmin(taken)])} is not in the model",
            place=where,
        )
    return out


def _body(conv, plan, names, label, load: Dload, elements, vectors, function) -> None:
    """Apply gravity (vectors (m, 3) of acceleration) or forces per volume or length as nodal forces."""
    gravity, deck = load.kind == "gravity", conv.deck
    total = np.zeros((len(deck.node_ids), 3))
    order = np.argsort(elements)
    elements, vectors = elements[order], vectors[order]
    moments = np.zeros_like(total)

    def of(ids):
        return vectors[np.searchsorted(elements, ids)]

    for group, rows in conv.element_groups(elements):
        section = group.section
        v = of(group.ids[rows])
        if load.label == "BR" and group.state != "axisymmetric":
            raise UnsupportedError(f"the load BR acts on axisymmetric elements, not on {group.type}", place=load.where,
                                   remedy="give BX, BY, BZ")  # fmt: skip
        if load.label == "BZ" and group.state == "axisymmetric":
            v = v[:, [0, 2, 1]]  # along their axis, which is y
        if group.kind == "solid":
            scale = density_of(conv, material_of(conv, section.material, section.where)) if gravity else 1.0
            shares = scale * nodal_volumes(group, rows, deck.x)
            np.add.at(total, group.nodes[rows].ravel(), (shares[:, :, None] * v[:, None, :]).reshape(-1, 3))
            continue
        if group.kind == "shell":
            if load.label.startswith("P"):
                conv.note(f"{load.where}: the load {load.label} on elements {group.type} is not used")
                continue
            if section.nodal:
                raise UnsupportedError(f"the load {load.label} of shells with NODAL THICKNESS is not supported",
                                       place=load.where, remedy="give them a section of one thickness")  # fmt: skip
            scale = shell_mass_per_area(conv, group) if gravity else section.thickness
            push = (scale * shell_areas(group, rows, deck.x))[:, :, None] * v[:, None, :]
            arm = shell_middle(group, rows, deck.x)
            np.add.at(total, group.nodes[rows].ravel(), push.reshape(-1, 3))
            np.add.at(moments, group.nodes[rows].ravel(), np.cross(arm, push).reshape(-1, 3))
            continue
        per_length = _per_length(conv, group, load)
        lines = group.lines.reshape(len(group.ids), -1, 2)[rows]
        q = np.repeat(per_length * v, lines.shape[1], axis=0)
        ends = lines.reshape(-1, 2)
        d = deck.x[ends[:, 1]] - deck.x[ends[:, 0]]
        length = np.linalg.norm(d, axis=1)[:, None]
        for k in range(2):
            np.add.at(total, ends[:, k], 0.5 * length * q)
            if group.kind == "beam":
                np.add.at(moments, ends[:, k], (1.0, -1.0)[k] * length / 12.0 * np.cross(d, q))
    for block in deck.blocks if gravity else ():
        if block.family == "mass":
            hit = np.isin(block.ids, elements)
            index = deck.section_index(block.ids[hit])
            m = np.array([deck.sections[k].mass if isinstance(deck.sections[k], PointMass) else 0.0 for k in index])
            np.add.at(total, conv.nodes(block.nodes[hit, 0]), m[:, None] * of(block.ids[hit]))
    for values, moment in ((total, False), (moments, True)):
        nodes = np.flatnonzero(np.abs(values).max(axis=1) > 0.0)
        if len(nodes):
            _act(conv, plan, names, f"{label} moments" if moment else label, nodes, values[nodes], function, moment)
    if not total.any():
        conv.note(f"{load.where}: the load {load.label} acts on elements without mass or volume", Effect.NONE)


def _spin(conv, plan, names, label, load: Dload, elements, squares, axis, function) -> None:
    """Apply centrifugal forces on solids and masses at their places: squares (m,) of the speed of elements (m,)."""
    deck, total = conv.deck, np.zeros((len(conv.deck.node_ids), 3))
    square = dict(zip(elements.tolist(), squares.tolist(), strict=True))
    for group, rows in conv.element_groups(elements):
        if group.kind != "solid":
            raise UnsupportedError(f"CENTRIF of {group.type} without the rest of the model is not supported",
                                   place=load.where, remedy="give it for all elements")  # fmt: skip
        rho = density_of(conv, material_of(conv, group.section.material, group.section.where))
        of = rho * np.array([square[e] for e in group.ids[rows].tolist()])
        push = of[:, None, None] * nodal_arms(group, rows, deck.x, load.point, axis)
        np.add.at(total, group.nodes[rows].ravel(), push.reshape(-1, 3))
    for block in deck.blocks:
        hit = np.isin(block.ids, elements)
        if block.family != "mass" or not hit.any():
            continue
        sections = [deck.sections[k] for k in deck.section_index(block.ids[hit])]
        m = np.array([s.mass if isinstance(s, PointMass) else 0.0 for s in sections])
        of = m * np.array([square[e] for e in block.ids[hit].tolist()])
        arm = deck.x[conv.nodes(block.nodes[hit, 0])] - load.point
        arm -= np.outer(arm @ axis, axis)
        np.add.at(total, conv.nodes(block.nodes[hit, 0]), of[:, None] * arm)
    nodes = np.flatnonzero(np.abs(total).max(axis=1) > 0.0)
    if not len(nodes):
        conv.note(f"{load.where}: the load {load.label} acts on elements without mass", Effect.NONE)
        return
    _act(conv, plan, names, label, nodes, total[nodes], function)


def _per_length(conv: Conversion, group: Group, load: Dload) -> float:
    """Return mass, area or one, by which a load on beams or trusses becomes a force per length."""
    section = group.section
    if load.label.startswith("P"):
        return 1.0
    if group.kind == "truss":
        area, name = section.value, section.material
    elif section.general is not None:
        if load.kind == "gravity":
            return (section.density or 0.0) * float(section.dimensions[0])
        area, name = float(section.dimensions[0]), None
    else:
        from fem_mbs.properties.sections import make_section

        shape, values, _ = beam_section(section)
        area, name = make_section(group.name, shape, **values).A, section.material
    if load.kind != "gravity":
        return area
    return area * density_of(conv, material_of(conv, name, section.where))


# --- temperatures, initial velocities --------------------------------------------------------------------------------
def _temperatures(conv: Conversion, timeline: Timeline, plan: Plan) -> None:
    deck = conv.deck
    entries = [t for i in timeline.steps for t in deck.steps[i].temperatures]
    expands = any(_expands(m) for g in conv.groups for m in _materials(conv, g))
    for i, step in enumerate(deck.steps):
        if i not in timeline.steps and step.procedure in ("STATIC", "BUCKLE") and step.temperatures and expands:
            how = f"{step.procedure} with PERTURBATION" if step.perturbation else step.procedure
            conv.note(f"{step.temperatures[0].where}: temperatures of a step {how} are not used")
    if not entries:
        return
    place = entries[0].where
    if not expands:
        conv.note(f"{place}: temperatures have no effect, no material has *EXPANSION", Effect.NONE)
        return
    start = _start_temperatures(conv)
    given = [[_change(conv, t, start) for t in deck.steps[i].temperatures] for i in timeline.steps]
    nodes = len(deck.node_ids)
    if any(t.gradient for t in entries):
        for of_step, i in zip(given, timeline.steps, strict=True):
            of_step += [_gradient(conv, t, nodes) for t in deck.steps[i].temperatures]
    found, twice = courses(deck, timeline, given, ["TEMPERATURE" in deck.steps[i].new for i in timeline.steps])
    for again in twice:
        conv.note(f"{again}: a node gets a second temperature in one step; the last one counts", Effect.DIFFERS)
    for number, course in enumerate(found, 1):
        if not np.any(course.factors) or not np.any(_values(course.function)):
            continue
        change = np.full(2 * nodes, np.nan)  # temperatures, then gradients
        change[course.keys] = course.factors
        own = _scaled(course.function, 1.0)
        for group in conv.groups:
            material = next((m for m in _materials(conv, group) if _expands(m)), None)
            here = np.unique(group.nodes)
            values, slopes = change[here], np.nan_to_num(change[nodes + here])
            if slopes.any() and material is not None and (group.kind != "shell" or group.element == "membrane"):
                conv.note(f"{course.where}: gradients of temperature of {group.type} are not used")
                slopes[:] = 0.0
            if material is None or not (np.nan_to_num(values).any() or slopes.any()):
                continue
            if group.kind not in ("solid", "shell"):
                conv.note(f"{course.where}: temperatures of {group.type} are not used")
                continue
            label = f"TEMPERATURE {number} {group.name}"
            plan.general.append(label)
            bend: np.ndarray | float = 0.0
            if slopes.any():
                values, bend = np.nan_to_num(values), slopes
            uneven = np.ptp(np.nan_to_num(change[:nodes])[group.nodes], axis=1).any()
            if uneven and group.type in ("C3D8I", "C3D8R"):
                conv.note(
                    f"{course.where}: temperatures within elements {group.type} are interpolated from the nodes, "
                    "CalculiX takes the mean of the nodes", Effect.DIFFERS,
                )  # fmt: skip
            values, law = _stretched(conv, material, values, own, course.where)
            conv.places[label] = course.where
            plan.make.append(
                lambda n=label, o=group.name, v=values, f=law, g=bend:
                    conv.model.temperature(n, o, v, function=f, gradient=g)
            )  # fmt: skip


def _start_temperatures(conv: Conversion) -> np.ndarray:
    start = np.zeros(len(conv.deck.node_ids))
    for c in conv.deck.initial_conditions:
        if c.kind == "TEMPERATURE":
            start[conv.nodes(c.nodes)] = c.value
    return start


def node_temperatures(conv: Conversion, time: float) -> np.ndarray:
    """Return the temperatures (n,) that the deck gives its nodes at a total time of general steps."""
    deck, start = conv.deck, _start_temperatures(conv)
    timeline = Timeline.of(deck)
    given = [[_change(conv, t, start) for t in deck.steps[i].temperatures] for i in timeline.steps]
    found, _ = courses(deck, timeline, given, ["TEMPERATURE" in deck.steps[i].new for i in timeline.steps])
    for course in found:
        start[course.keys] += course.factors * float(course.function(np.array([time]))[0])
    return start


def _materials(conv: Conversion, group: Group) -> list[Material]:
    """Return the materials of elements, those of all layers."""
    section = group.section
    layers = section.layers if isinstance(section, ShellSection) else ()
    names: list[str | None] = [layer.material for layer in layers] or [getattr(section, "material", None)]
    return [conv.deck.materials[name] for name in names if name is not None]


def _expands(material: Material) -> bool:
    return material.expansion is not None and bool(np.any(material.expansion.coefficients))


def _stretched(
    conv: Conversion, material: Material, change: np.ndarray, function: TimeFunction, place: str
) -> tuple[np.ndarray, TimeFunction]:
    """Return changes of temperature and their function, for steps with NLGEOM those of the stretch.

    The model adds thermal strains to those of Green, of which a stretch 1 + a, a = alpha dT, is a + a^2/2. The function
    follows this exactly where all nodes have the same temperature. CalculiX also refers the mechanical strain to the
    expanded element, which the model does not.
    """
    general = [s for s in conv.deck.steps if is_general(s)]
    bent = [conv.is_nonlinear(s) for s in general]
    alpha = np.array(expansion_of(conv, material))
    a = float(np.nanmax(np.abs(change)) * np.abs(alpha).max())
    if not any(bent) or a < _SMALL_STRETCH:
        return change, function
    conv.stretch = max(conv.stretch, a)
    conv.note(
        f"{place}: thermal strains of {material.name} reach {a:.2g}; stresses are those of its elements as they were "
        f"before they expanded, and differ from CalculiX's by a part of about {2.0 * a:.1g}",
        Effect.DIFFERS,
    )
    if len(alpha) > 1 or not all(bent):
        return change, function
    peak = float(alpha[0] * change[np.nanargmax(np.abs(change))])
    square = make_function({"kind": "product", "functions": [function, function]})
    parts = [_scaled(function, 1.0 / (1.0 + 0.5 * peak)), _scaled(square, 0.5 * peak / (1.0 + 0.5 * peak))]
    return change * (1.0 + 0.5 * alpha[0] * change), make_function({"kind": "sum", "functions": parts})


def _change(conv: Conversion, t, start: np.ndarray) -> Given:
    """Return changes of temperature at the nodes of an entry."""
    nodes = np.unique(conv.nodes(t.nodes))
    if t.amplitude is not None and np.any(start[nodes]):
        raise ModelError(
            "a temperature with AMPLITUDE needs the initial temperature 0",
            place=t.where,
            remedy="give the change instead",
        )
    return Given(nodes, t.value - start[nodes], t.amplitude, t.where)


def _gradient(conv: Conversion, t, first: int) -> Given:
    """Return gradients at the nodes of an entry, whose quantities are numbered from ``first`` on."""
    nodes = np.unique(conv.nodes(t.nodes))
    return Given(first + nodes, np.full(len(nodes), t.gradient), t.amplitude, t.where)


def _initial(conv: Conversion) -> None:
    """Set initial velocities; note other initial conditions that have an effect. A STATIC step ends at rest."""
    # everything is at rest but what moves as prescribed, and what has a velocity given
    bent = any(s.procedure == "DYNAMIC" and conv.is_nonlinear(s) for s in conv.deck.steps)
    conv.model.initial_method = "projection" if bent else "given"
    first = next((s for s in conv.deck.steps if is_general(s)), None)
    rested = first is not None and first.procedure == "STATIC"
    for c in conv.deck.initial_conditions:
        if c.kind == "TEMPERATURE" or not c.value:
            continue
        if c.kind != "VELOCITY" or c.dof > 3:
            conv.note(f"{c.where}: an initial {c.kind.lower()} in direction {c.dof} is not used")
            continue
        if rested:
            conv.note(
                f"{c.where}: the initial velocity is lost in the STATIC step before, as in CalculiX", Effect.DIFFERS
            )
            continue
        nodes = conv.nodes(c.nodes)
        axes, _ = conv.transform_of(nodes)
        for direction in np.unique(axes[:, c.dof - 1], axis=0):
            mine = (axes[:, c.dof - 1] == direction).all(axis=1)
            conv.model.initial(nodes[mine], velocity=(c.value * direction)[: conv.model.dimension].tolist())
