"""Masses, springs, dashpots and connectors of a deck."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from fem_mbs.decks.abaqus.model import Conversion, axes_at
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.deck import ConnectorSection, Dashpot, PointMass, RotaryInertia, Spring
from fem_mbs.meshes.vocabulary import Effect
from fem_mbs.model.connections.joint_parts import spring_on
from fem_mbs.model.connections.spring_laws import spring_law
from fem_mbs.rotations import rotation_vectors
from fem_mbs.system.blocks import GROUND

__all__ = ["make_points"]


def make_points(conv: Conversion) -> None:
    """Create point masses, rotary inertias, springs, dashpots and joints of connectors.

    Raises:
        ModelError: laws, directions and types of connections that the model does not have.
    """
    deck = conv.deck
    for block in deck.blocks:
        if block.family not in ("mass", "rotary inertia", "spring", "dashpot", "connector"):
            continue
        index = deck.section_index(block.ids)
        for s in np.unique(index[index >= 0]):
            section, rows = deck.sections[s], np.flatnonzero(index == s)
            nodes = conv.nodes(block.nodes[rows].ravel()).reshape(len(rows), -1)
            ids = block.ids[rows]
            if isinstance(section, PointMass):
                name = f"{section.elset} mass {s + 1}"
                conv.places[name] = section.where
                conv.model.point_mass(name, nodes[:, 0], section.mass)
            elif isinstance(section, RotaryInertia):
                _rotary(conv, section, nodes[:, 0], s)
            elif isinstance(section, ConnectorSection):
                _connectors(conv, section, ids, nodes)
            elif isinstance(section, (Spring, Dashpot)):
                _springs(conv, section, block.type, ids, nodes)


def _rotary(conv: Conversion, section: RotaryInertia, nodes: np.ndarray, number: int) -> None:
    xx, yy, zz, xy, xz, yz = section.inertia
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if section.orientation is not None:
        axes = axes_at(conv.orientation(section.orientation), conv.deck.x[nodes[:1]])[0]
        J = axes.T @ J @ axes
    loose = nodes[~conv.rotational[nodes]]
    if loose.size:
        conv.note(f"{section.where}: rotary inertia of node {conv.name_of(loose[0])}, which does not turn, is left out")
    nodes = nodes[conv.rotational[nodes]]
    if nodes.size:
        name = f"{section.elset} inertia {number + 1}"
        conv.places[name] = section.where
        conv.model.point_mass(name, nodes, 0.0, inertia=J)


def _law(conv: Conversion, section: Spring | Dashpot) -> dict:
    """Return keyword arguments of the model's springs."""
    law = np.asarray(section.law, float)
    if section.linear:
        if len(law) > 1:
            conv.note(f"{section.where}: the law depends on temperature; its first line is taken")
        key = "stiffness" if isinstance(section, Spring) else "damping"
        return {key: float(law[0, 0])}
    table = law[:, [1, 0]]
    if len(np.unique(law[:, 2])) > 1 and np.isfinite(law[:, 2]).all():
        conv.note(f"{section.where}: the law depends on temperature; that of the first temperature is taken")
        table = table[law[:, 2] == law[0, 2]]
    if (np.diff(table[:, 0]) <= 0.0).any():
        raise ModelError("the abscissas of the law must rise from line to line", place=section.where)
    return {"table" if isinstance(section, Spring) else "damping_table": table.tolist()}


def _springs(conv: Conversion, section: Spring | Dashpot, type_: str, ids: np.ndarray, nodes: np.ndarray) -> None:
    model, law = conv.model, _law(conv, section)
    if not np.any(np.asarray(section.law)[:, 0]):
        return  # without any force
    what = "spring" if isinstance(section, Spring) else "dashpot"
    for element, ends in zip(ids.tolist(), nodes.tolist(), strict=True):
        name = f"{section.elset} {what} {element}"
        conv.places[name] = section.where
        if len(section.dofs) == 0:
            x = conv.deck.x[ends]
            if not np.linalg.norm(x[1] - x[0]) > 0.0:
                raise ModelError(
                    f"{what} {conv.deck.element_name(element)} has no length, so no direction",
                    place=section.where,
                    remedy=f"use {what.upper()}2 with directions",
                )
            model.spring(name, ends[0], ends[1], **law)
            continue
        if len(section.dofs) == 2 and section.dofs[0] != section.dofs[1]:
            raise UnsupportedError(
                f"a {what} between direction {section.dofs[0]} and {section.dofs[1]} is not supported",
                place=section.where,
                remedy="give the same direction twice",
            )
        if conv.plane:
            raise UnsupportedError(
                f"{type_} elements of plane models are not supported",
                place=section.where,
                remedy=f"use {what.upper()}A",
            )
        dof = section.dofs[0]
        axes = np.eye(3)
        if section.orientation is not None:
            axes = axes_at(conv.orientation(section.orientation), conv.deck.x[ends[:1]])[0]
        direction = axes[(dof - 1) % 3]
        a, b = (GROUND, ends[0]) if len(ends) == 1 else (ends[1], ends[0])
        owner = model.building.label("Spring", name)
        found = spring_law(model.building, owner, **{"stiffness": None, "damping": 0.0, **law})
        if dof > 3:
            loose = [e for e in ends if not conv.rotational[e]]
            if loose:
                raise ModelError(
                    f"{what} {conv.deck.element_name(element)} acts on the rotation of node "
                    f"{conv.name_of(loose[0])}, which has none",
                    place=section.where,
                )
            spring_on(model.building, name, model.building.relative_angle(owner, (a, b), direction), found, 0.0)
            continue
        spring_on(model.building, name, model.node_displacement(a, b, direction), found, 0.0)


@dataclass(frozen=True)
class _Joint:
    """A joint for types of connections: its kind; whether the nodes stand at one "place" or on the first "axis" of the
    orientation; whether the second node turns; component of relative motion -> coordinate of the joint."""

    kind: Any  # one of those of `Model.joint`
    together: str
    turns: bool
    coordinates: Mapping[int, str] = field(default_factory=dict)


_HINGE = _Joint("revolute", "place", True, {4: "angle"})
_WELD = _Joint("weld", "place", True)
_TRANSLATOR = _Joint("prismatic", "axis", True, {1: "displacement"})
_CYLINDRICAL = _Joint("cylindrical", "axis", True, {1: "displacement", 4: "angle"})
_PLANAR = _Joint("planar", "", True, {4: "angle"})
_UNIVERSAL = _Joint("universal", "place", True, {4: "angle", 6: "angle_b"})
#: Types of connections -> joint.
_JOINTS: dict[frozenset[str], _Joint] = {
    frozenset(("JOIN",)): _Joint("spherical", "place", False),
    frozenset(("HINGE",)): _HINGE,
    frozenset(("JOIN", "REVOLUTE")): _HINGE,
    frozenset(("WELD",)): _WELD,
    frozenset(("JOIN", "ALIGN")): _WELD,
    frozenset(("BEAM",)): _Joint("rigid", "", True),
    frozenset(("LINK",)): _Joint("distance", "", False),
    frozenset(("SLOT",)): _Joint("point_on_line", "axis", False, {1: "displacement"}),
    frozenset(("TRANSLATOR",)): _TRANSLATOR,
    frozenset(("SLOT", "ALIGN")): _TRANSLATOR,
    frozenset(("CYLINDRICAL",)): _CYLINDRICAL,
    frozenset(("SLOT", "REVOLUTE")): _CYLINDRICAL,
    frozenset(("SLIDE-PLANE",)): _Joint("point_on_plane", "", False),
    frozenset(("PLANAR",)): _PLANAR,
    frozenset(("SLIDE-PLANE", "REVOLUTE")): _PLANAR,
    frozenset(("UJOINT",)): _UNIVERSAL,
    frozenset(("JOIN", "UNIVERSAL")): _UNIVERSAL,
}
_WITH_AXIS = ("revolute", "point_on_line", "prismatic", "cylindrical", "point_on_plane", "planar", "universal")
_SLIDES, _TURNS = {1, 2, 3}, {4, 5, 6}
#: Types without constraints, of which only the laws of components act -> these components.
_FREE: dict[frozenset[str], set[int]] = {
    frozenset(("AXIAL",)): {1},
    frozenset(("CARTESIAN",)): _SLIDES,
    frozenset(("PROJECTIONCARTESIAN",)): _SLIDES,
    frozenset(("CARDAN",)): _TURNS,
    frozenset(("ROTATION",)): _TURNS,
    frozenset(("CARTESIAN", "CARDAN")): _SLIDES | _TURNS,
    frozenset(("CARTESIAN", "ROTATION")): _SLIDES | _TURNS,
    frozenset(("PROJECTIONCARTESIAN", "CARDAN")): _SLIDES | _TURNS,
    frozenset(("BUSHING",)): _SLIDES | _TURNS,
    frozenset(("PROJECTIONCARTESIAN", "PROJECTIONFLEXION-TORSION")): _SLIDES | _TURNS,
    frozenset(("JOIN", "CARDAN")): _TURNS,
    frozenset(("JOIN", "ROTATION")): _TURNS,
}


def _laws(conv: Conversion, section: ConnectorSection, known: Collection[int], what: str) -> dict[int, dict[str, Any]]:
    """Return component -> keyword arguments of the model's springs for a connector's laws.

    Raises:
        ModelError: a behavior that is not defined, components that the connector does not have.
    """
    if section.behavior is None:
        return {}
    if section.behavior not in conv.deck.behaviors:
        raise ModelError(
            f"the behavior {section.behavior} is not defined", place=section.where,
            remedy=f"there are {', '.join(conv.deck.behaviors) or 'none'}",
        )  # fmt: skip
    found: dict[int, dict[str, Any]] = {}
    for law in conv.deck.behaviors[section.behavior]:
        if law.component not in known:
            raise UnsupportedError(
                f"component {law.component} of a connector {what} has no spring or damper here", place=law.where,
                remedy=f"known are {', '.join(map(str, sorted(known))) or 'none'}",
            )  # fmt: skip
        key = "damping" if law.damping else "stiffness"
        one = law.law.shape[1] == 1
        table = "damping_table" if law.damping else "table"
        found.setdefault(law.component, {})[key if one else table] = (
            float(law.law[0, 0]) if one else law.law.tolist()
        )  # fmt: skip
    return found


def _free_connector(
    conv: Conversion, section: ConnectorSection, name: str, a: int, b: int, axes: np.ndarray, laws: dict, what: str
) -> None:  # fmt: skip
    """Create the springs of a connector without constraints but JOIN, along axes (3, 3) of its first node."""
    model = conv.model
    if not laws:
        return
    turning = bool(set(laws) & _TURNS)
    if section.types == ("AXIAL",):
        if not np.linalg.norm(conv.deck.x[b] - conv.deck.x[a]) > 0.0:
            raise ModelError(
                f"connector {name.rsplit(' ', 1)[-1]} (AXIAL) has no length, so no direction", place=section.where,
                remedy="use CARTESIAN",
            )  # fmt: skip
        model.spring(name, a, b, **laws[1])
        return
    if not turning and not conv.rotational[a]:
        owner = model.building.label("Spring", name)
        for k, law in laws.items():
            found = spring_law(model.building, owner, **{"stiffness": None, "damping": 0.0, **law})
            spring_on(model.building, f"{name} {k}", model.node_displacement(a, b, axes[k - 1]), found, 0.0)
        return
    bare = [node for node in (a, b) if not conv.rotational[node]]
    if bare:
        raise UnsupportedError(
            f"connector {name.rsplit(' ', 1)[-1]} ({what}) needs the rotation of node {conv.name_of(bare[0])}, which "
            "has none", place=section.where, remedy="couple it to the part around it by *COUPLING",
        )  # fmt: skip
    if any("table" in key for law in laws.values() for key in law):
        raise UnsupportedError(
            f"NONLINEAR laws of a connector {what} are not supported", place=section.where, remedy="give coefficients"
        )
    if len(set(laws) & _TURNS) > 1 and conv.nlgeom and "ROTATION" not in section.types:
        conv.note(
            f"{section.where}: the rotations of {what} are components of the rotation vector here, which agrees for "
            "small ones", Effect.DIFFERS,
        )  # fmt: skip
    S, C = np.zeros(6), np.zeros(6)
    for k, law in laws.items():
        S[k - 1], C[k - 1] = law.get("stiffness", 0.0), law.get("damping", 0.0)
    if not S.any() and not C.any():
        return
    turn = rotation_vectors(axes.T)
    mean = any(t.startswith("PROJECTION") or t == "BUSHING" for t in section.types)
    x = conv.deck.x
    model.bushing(
        name, a, b, stiffness=S, damping=C, point_a=x[a], point_b=x[b], rotation=turn,
        frame="mean" if mean else "first",
    )  # fmt: skip


def _connectors(conv: Conversion, section: ConnectorSection, ids: np.ndarray, nodes: np.ndarray) -> None:
    what, types = ", ".join(section.types), frozenset(section.types)
    found, free = _JOINTS.get(types), _FREE.get(types)
    if conv.plane or (found is None and free is None):
        known = ", ".join(dict.fromkeys(" + ".join(sorted(types)) for types in (*_JOINTS, *_FREE)))
        where = "of plane models " if conv.plane else ""
        raise UnsupportedError(f"a connector {what} {where}is not supported", place=section.where,
                               remedy=f"known are {known}")  # fmt: skip
    laws = _laws(conv, section, free or (found.coordinates if found else ()), what)
    if found is None and "JOIN" in types:
        found = _JOINTS[frozenset(("JOIN",))]
    for element, (a, b) in zip(ids.tolist(), nodes.tolist(), strict=True):
        name = f"{section.elset} connector {element}"
        conv.places[name] = section.where
        axes = np.eye(3)
        if section.orientation is not None:
            axes = axes_at(conv.orientation(section.orientation), conv.deck.x[[a]])[0]
        if found is not None:
            _joint(conv, section, found, name, element, (a, b), axes)
        if free is not None:
            _free_connector(conv, section, f"{name} springs" if found else name, a, b, axes, laws, what)
            continue
        for k, law in laws.items():
            assert found is not None
            conv.model.joint_spring(f"{name} spring {k}", name, coordinate=found.coordinates[k], **law)


def _joint(
    conv: Conversion, section: ConnectorSection, found: _Joint, name: str, element: int, ends: tuple[int, int],
    axes: np.ndarray,
) -> None:  # fmt: skip
    """Create the joint of a connector along axes (3, 3) at its first node."""
    (a, b), x, axis, what = ends, conv.deck.x, axes[0], ", ".join(section.types)
    near = 1e-6 * float(np.ptp(x, axis=0).max())
    label = conv.deck.element_name(element)
    bare = [node for node in (ends if found.turns else (a,)) if not conv.rotational[node]]
    if bare and found.kind not in ("spherical", "distance"):
        lacks = conv.name_of(bare[0])
        raise UnsupportedError(
            f"connector {label} ({what}) needs the rotation of node {lacks}, which has none", place=section.where,
            remedy="couple it to the part around it by *COUPLING",
        )  # fmt: skip
    apart = x[b] - x[a]
    beside = apart - (apart @ axis) * axis if found.together == "axis" else apart
    if found.together and np.linalg.norm(beside) > near:
        told = "at one place" if found.together == "place" else "on its first axis"
        raise ModelError(f"the nodes of connector {label} ({what}) are not {told}", place=section.where,
                         remedy="move them there")  # fmt: skip
    if found.kind == "rigid":
        conv.model.coupling(name, a, np.array([b]), kind="rigid")
    elif found.kind == "distance":
        conv.model.joint(name, found.kind, a, b)
    else:
        other: dict[str, Any] = {"axis_b": axes[2]} if found.kind == "universal" else {}
        at = axis if found.kind in _WITH_AXIS else None
        conv.model.joint(name, found.kind, a, b, point=x[b], axis=at, **other)
