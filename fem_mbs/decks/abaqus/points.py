"""Masses, springs, dashpots and connectors of a deck."""

from __future__ import annotations

import numpy as np

from fem_mbs.decks.abaqus.model import Conversion, axes_at
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.abaqus.deck import ConnectorSection, Dashpot, PointMass, RotaryInertia, Spring
from fem_mbs.model.connections.joint_parts import spring_on
from fem_mbs.model.connections.spring_laws import spring_law
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
        axes = axes_at(conv.deck.orientations[section.orientation], conv.deck.x[nodes[:1]])[0]
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
            axes = axes_at(conv.deck.orientations[section.orientation], conv.deck.x[ends[:1]])[0]
        direction = axes[(dof - 1) % 3]
        a, b = (GROUND, ends[0]) if len(ends) == 1 else (ends[1], ends[0])
        owner = model.building.label("Spring", name)
        found = spring_law(model.building, owner, **{"damping": 0.0, **law})
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


#: Types of connections -> joint, whether the nodes stand at one place or on the first axis of the orientation, and
#: whether the second node turns.
_JOINTS: dict[frozenset[str], tuple[str, str, bool]] = {
    frozenset(("JOIN",)): ("spherical", "place", False),
    frozenset(("HINGE",)): ("revolute", "place", True),
    frozenset(("JOIN", "REVOLUTE")): ("revolute", "place", True),
    frozenset(("WELD",)): ("weld", "place", True),
    frozenset(("JOIN", "ALIGN")): ("weld", "place", True),
    frozenset(("BEAM",)): ("rigid", "", True),
    frozenset(("LINK",)): ("distance", "", False),
    frozenset(("SLOT",)): ("point_on_line", "axis", False),
    frozenset(("TRANSLATOR",)): ("prismatic", "axis", True),
    frozenset(("SLOT", "ALIGN")): ("prismatic", "axis", True),
    frozenset(("CYLINDRICAL",)): ("cylindrical", "axis", True),
    frozenset(("SLOT", "REVOLUTE")): ("cylindrical", "axis", True),
    frozenset(("SLIDE-PLANE",)): ("point_on_plane", "", False),
    frozenset(("PLANAR",)): ("planar", "", True),
    frozenset(("SLIDE-PLANE", "REVOLUTE")): ("planar", "", True),
}
_WITH_AXIS = ("revolute", "point_on_line", "prismatic", "cylindrical", "point_on_plane", "planar")


def _connectors(conv: Conversion, section: ConnectorSection, ids: np.ndarray, nodes: np.ndarray) -> None:
    what = ", ".join(section.types)
    found = _JOINTS.get(frozenset(section.types))
    if conv.plane or found is None:
        known = ", ".join(dict.fromkeys(" + ".join(sorted(types)) for types in _JOINTS))
        where = "of plane models " if conv.plane else ""
        raise UnsupportedError(f"a connector {what} {where}is not supported", place=section.where,
                               remedy=f"known are {known}")  # fmt: skip
    kind, together, turns = found
    x = conv.deck.x
    near = 1e-6 * float(np.ptp(x, axis=0).max())
    for element, (a, b) in zip(ids.tolist(), nodes.tolist(), strict=True):
        name = f"{section.elset} connector {element}"
        conv.places[name] = section.where
        label = conv.deck.element_name(element)
        bare = [node for node in ((a, b) if turns else (a,)) if not conv.rotational[node]]
        if bare and kind not in ("spherical", "distance"):
            lacks = conv.name_of(bare[0])
            raise UnsupportedError(
                f"connector {label} ({what}) needs the rotation of node {lacks}, which has none", place=section.where,
                remedy="couple it to the part around it by *COUPLING",
            )  # fmt: skip
        axis = np.array([1.0, 0.0, 0.0])
        if section.orientation is not None:
            axis = axes_at(conv.deck.orientations[section.orientation], x[[a]])[0][0]
        apart = x[b] - x[a]
        beside = apart - (apart @ axis) * axis if together == "axis" else apart
        if together and np.linalg.norm(beside) > near:
            told = "at one place" if together == "place" else "on its first axis"
            raise ModelError(f"the nodes of connector {label} ({what}) are not {told}", place=section.where,
                             remedy="move them there")  # fmt: skip
        if kind == "rigid":
            conv.model.coupling(name, a, np.array([b]), kind="rigid")
        elif kind == "distance":
            conv.model.joint(name, kind, a, b)
        else:
            conv.model.joint(name, kind, a, b, point=x[b], axis=axis if kind in _WITH_AXIS else None)
