"""Springs and dashpots on single displacements or rotations of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import COMPONENT, NAME, NUMBER, PLACES
from fem_mbs.elements.registry import element_type
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.system.blocks import GROUND, Block

__all__ = ["NodalSpring"]


def _spring_direction(building: Building, owner: str, key: str, component) -> np.ndarray:
    names = "xyz"[: building.dimension]
    if isinstance(component, str):
        if component not in tuple(names):
            more = ", rotation" if building.dimension == 2 else ", rotation x, rotation y, rotation z"
            raise ModelError(
                f"{key} = {component!r} must be one of {', '.join(names)}{more}, or a direction",
                owner=owner,
                key=key,
                value=component,
            )
        return np.eye(building.dimension)[names.index(component)]
    v = building.vector(component, owner, key)
    length = float(np.linalg.norm(v))
    if length == 0.0:
        raise ModelError(
            f"{key} = {component!r} has no length", owner=owner, key=key, value=component, remedy="give a direction"
        )
    return v / length


def _rotation_springs(building: Building, name, owner, nodes, ends, component, other, k: float, c: float) -> None:
    """Add torsional springs about global axes of the start (`fem_mbs.elements.springs.linear`)."""
    known = ("rotation",) if building.dimension == 2 else ("rotation x", "rotation y", "rotation z")
    if component not in known or other not in (None, component):
        raise ModelError(f"rotations of both ends must be the same of {', '.join(known)}", owner=owner)
    axis = None if building.dimension == 2 else np.eye(3)["xyz".index(component[-1])]
    kind = f"torsion{building.dimension}"
    for node, end in zip(nodes.tolist(), ends.tolist(), strict=True):
        building.needs_rotation += [(owner, n) for n in (node, end) if n >= 0]
        turn = building.relative_angle(owner, (end, node), axis)
        building.add_block(name, kind, [turn.nodes], stiffness=k, damping=c, angle=turn.start, **turn.columns)


@dataclass(frozen=True, eq=False)
class NodalSpring(Declaration):
    """Spring-dampers on single displacements, along directions fixed in space, or on rotations of nodes.

    Add a linear spring-damper on one displacement or rotation of each node of a place, against the ground or
    against nodes: force k (u_on - u_against), [N/m], [N s/m]; of rotations [N m/rad], [N m s/rad].

    Args:
        component: "x", "y", "z", a direction (dimension,) of any length, or "rotation" (plane), in space
            "rotation x", "rotation y", "rotation z" (of nodes that rotate), about the global axes of the start.
        against: "ground", or a place of as many nodes as ``on``, or of one.
        other: component of the nodes of ``against``; None: the same.

    Raises:
        ModelError: unknown components, numbers of nodes that do not fit, a spring without a force.
    """

    owner = "Nodal spring"

    name: str = key(NAME, "in messages and results", shows='"nodal_spring 1", ...')
    on: Any = key(PLACES, "nodes, each with a spring")
    component: Any = key(
        COMPONENT,
        '"x", "y", "z", a direction [...] of any length, or "rotation", in space "rotation x", "rotation y", '
        '"rotation z"',
    )
    stiffness: float = key(NUMBER, "", 0.0, unit="N/m or N m/rad")
    damping: float = key(NUMBER, "", 0.0, unit="N s/m or N m s/rad")
    against: Any = key(PLACES, "as many nodes, or one", "ground", kw_only=True)
    other: Any = key(COMPONENT, "component of the nodes of against", None, shows="the same", kw_only=True)

    def build(self, building: Building) -> None:
        owner = building.label("Nodal spring", self.name)
        k = building.number(self.stiffness, owner, "stiffness", 0.0)
        c = building.number(self.damping, owner, "damping", 0.0)
        if k == 0.0 and c == 0.0:
            raise ModelError("it has no force", owner=owner, remedy="give stiffness or damping")
        nodes = building.each_of(self.on, owner)
        if not len(nodes):
            raise ModelError(f'"{self.on}" has no nodes', owner=owner, remedy="name another place")
        if self.against == "ground":
            if self.other is not None:
                raise ModelError("the ground has no displacement", owner=owner, remedy="remove other")
            ends = np.full(len(nodes), GROUND)
        else:
            ends = building.nodes_of(self.against, owner)
            nodes = nodes if len(ends) == 1 else building.nodes_of(self.on, owner)  # pair by pair
            ends = np.full(len(nodes), ends[0]) if len(ends) == 1 else ends
            if len(ends) != len(nodes):
                raise ModelError(
                    f"on has {len(nodes)} nodes and against {len(ends)}",
                    owner=owner,
                    remedy="they must be as many, or one",
                )
            if (ends == nodes).any():
                raise ModelError(
                    f'node "{building.node_name(int(nodes[ends == nodes][0]))}" is at both ends', owner=owner
                )
        turns = [
            isinstance(v, str) and v.startswith("rotation")
            for v in (self.component, self.component if self.other is None else self.other)
        ]
        if turns[0] != turns[1]:
            raise ModelError(
                "a spring joins two displacements or two rotations", owner=owner, remedy="mend component or other"
            )
        if turns[0]:
            _rotation_springs(building, self.name, owner, nodes, ends, self.component, self.other, k, c)
            return
        n_a = _spring_direction(building, owner, "component", self.component)
        n_b = n_a if self.other is None else _spring_direction(building, owner, "other", self.other)
        x = building.positions
        free = x[nodes] @ n_a - np.where(ends >= 0, x[ends] @ n_b, 0.0)
        m = len(nodes)
        par = np.column_stack(
            (np.full(m, k), np.full(m, c), free, np.tile(n_a, (m, 1)), np.where(ends[:, None] >= 0, n_b, 0.0))
        )
        kind = element_type(f"component_spring{building.dimension}")
        building.blocks.append(Block([(self.name, 0, m)], kind, np.column_stack((nodes, ends)), par))
