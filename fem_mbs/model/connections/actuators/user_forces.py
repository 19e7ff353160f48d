"""Forces by Python functions of the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import ANY, shown
from fem_mbs.elements.joints.coordinate import LENGTH
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.actuators.coordinates import KINDS, clock_index, worked_on
from fem_mbs.model.records import StateVariable
from fem_mbs.system.callbacks import Callback

__all__ = ["UserForce"]


@dataclass(frozen=True, eq=False)
class UserForce(Declaration):
    """Add a force by a Python function, on a coordinate of a joint, on the distance of two points, or on points.

    Args:
        function: on a coordinate ``f(q, rate, t)`` -> force or moment in the direction of its growth; q counts from
            the start [m], [rad] (of a distance: the length itself).  On points (``at``) ``f(x, v, t)`` -> (n, dim)
            [N] with positions and velocities (n, dim) of the n points in global axes; the force on a point may
            depend on this point only.  With ``states`` ``f(q, rate, t, z)`` -> force and rates (m,) of the state
            variables z (m,); on points ``f(x, v, t, z)`` -> (n, dim) and rates (n, m) of z (n, m), those of each point.
        tangent: the same arguments -> derivatives by q and by the rate; on points two arrays (n, dim, dim), the
            last index that of the derivative; None: central differences.  With ``states`` six derivatives: of the
            force by q, rate and z (m,), of the rates by q (m,), by the rate (m,), by z (m, m); on points arrays
            (n, dim or m, dim or m).
        at: place or list of places; ``point`` of a body, in global coordinates of the start.
        states: names of m state variables of the force's own, x' = rates (sensors of the kind "state").
        initial: their values (m,) at the start; None: zero.
        sizes: sizes (m,) of their values, by which the tolerance of the iteration counts where they are small; None: 1.

    It is asked in every iteration, with the state of the middle of the step (Newmark and statics: of its end), and
    must depend on its arguments only.  Its work is booked as that of loads.  State variables take part in the rule of
    the step; static steps find their equilibrium, rates = 0.

    Raises:
        ModelError: also while running, if the function fails or returns no finite force.
    """

    owner = "User force"

    name: str = key(ANY, "of the force")
    joint: str | None = key(ANY, "name of a joint; or a and b", None)
    function: Callable[..., Any] | None = key(ANY, "force(t, x, v) of the coordinate", None)
    tangent: Callable[..., Any] | None = key(
        ANY,
        "the same arguments -> derivatives by q and by the rate; on points two arrays (n, dim, dim), the last index"
        " that of the derivative; None: central differences",
        None,
    )
    states: Any = key(ANY, "names of the force's state variables, whose rates the function returns too", None,
                      kw_only=True)  # fmt: skip
    initial: Any = key(ANY, "values of the state variables at the start; None: zero", None, kw_only=True)
    sizes: Any = key(ANY, "sizes of the values of the state variables; None: 1", None, kw_only=True)
    coordinate: str | None = key(ANY, "of the joint, as of a joint_spring", None, kw_only=True)
    at: Any = key(
        ANY, "place or list of places; ``point`` of a body, in global coordinates of the start", None, kw_only=True
    )
    point: Any = key(ANY, "where, in global coordinates of the start", None, kw_only=True, unit="m")
    a: Any = key(ANY, "instead of joint: one end", None, kw_only=True)
    b: Any = key(ANY, "its other end", None, kw_only=True)
    point_a: Any = key(ANY, "where on a", None, kw_only=True, unit="m")
    point_b: Any = key(ANY, "where on b", None, kw_only=True, unit="m")

    def build(self, building: Building) -> None:
        owner = building.label("User force", self.name)
        for word, value in (("function", self.function), ("tangent", self.tangent)):
            if not callable(value) and not (word == "tangent" and value is None):
                raise ModelError(f"{word} = {value!r} cannot be called", owner=owner, remedy="give a Python function")
        assert self.function is not None
        states = self._states(owner)
        sizes = tuple(state.size for state in states)
        columns: dict[str, float] = {"callback": len(building.callbacks), "clock": clock_index(building, owner)}
        if self.at is None:
            if self.point is not None:
                raise ModelError(
                    "point belongs to at, a place", owner=owner, remedy="use point_a, point_b for a distance"
                )
            kind, c, _ = worked_on(
                building, owner, self.joint, self.coordinate, self.a, self.b, self.point_a, self.point_b
            )
            columns |= {"start": 0.0 if kind == LENGTH else c.start, **c.columns}
            family = f"user_states_{KINDS[kind]}" if states else f"user_{KINDS[kind]}"
            name = f"{family}{building.dimension}" + (f"_{len(states)}" if states else "")
            block = building.add_block(self.name, name, [c.nodes], **columns)
            if states:
                building.add_states(block, states)
            building.callbacks.append(Callback(owner, self.function, self.tangent, 0, len(states), sizes))
            return
        if any(v is not None for v in (self.joint, self.coordinate, self.a, self.b, self.point_a, self.point_b)):
            raise ModelError(
                "at is for forces on points", owner=owner, remedy="remove joint, coordinate, a, b, point_a and point_b"
            )
        nodes = building.each_of(self.at, owner)
        if self.point is not None:
            node, offset = building.point(self.at, self.point, owner)
            nodes = np.array([node])
            columns |= {f"a{c}": float(v) for c, v in zip("xyz"[: building.dimension], offset, strict=True)}
        if len(nodes) == 0:
            raise ModelError(f"at = {self.at!r} has no nodes", owner=owner, key="at", value=self.at)
        name = f"user_states_point{building.dimension}_{len(states)}" if states else f"user_point{building.dimension}"
        block = building.add_block(self.name, name, nodes, **columns)
        if states:
            places = [f' at "{building.node_name(int(node))}"' if len(nodes) > 1 else "" for node in nodes]
            building.add_states(block, *([replace(s, name=s.name + place) for s in states] for place in places))
        building.callbacks.append(Callback(owner, self.function, self.tangent, building.dimension, len(states), sizes))

    def _states(self, owner: str) -> list[StateVariable]:
        """Return the state variables.

        Raises:
            ModelError: names that are none or occur twice, other numbers of values or sizes, values that are no
                numbers.
        """
        if self.states is None:
            for word, value in (("initial", self.initial), ("sizes", self.sizes)):
                if value is not None:
                    raise ModelError(
                        f"{word} belongs to states", owner=owner, key=word, value=value, remedy="name them in states"
                    )
            return []
        names = [self.states] if isinstance(self.states, str) else list(self.states)
        if not names or not all(isinstance(n, str) and n.strip() for n in names) or len(set(names)) < len(names):
            raise ModelError(
                f"states = {shown(self.states)} must be different names", owner=owner, key="states", value=self.states,
                remedy="give a list of texts",
            )  # fmt: skip
        values = {}
        for word, given, default in (("initial", self.initial, 0.0), ("sizes", self.sizes, 1.0)):
            try:
                found = np.full(len(names), default) if given is None else np.atleast_1d(np.asarray(given, float))
            except (TypeError, ValueError):
                found = np.empty(0)
            good = found.shape == (len(names),) and np.isfinite(found).all()
            if not good or (word == "sizes" and not (found > 0.0).all()):
                raise ModelError(
                    f"{word} = {shown(given)} must be {len(names)} finite{' positive' if word == 'sizes' else ''}"
                    " numbers, one per state", owner=owner, key=word, value=given,
                )  # fmt: skip
            values[word] = found
        return [
            StateVariable(self.name, name, "-", float(start), float(size))
            for name, start, size in zip(names, values["initial"], values["sizes"], strict=True)
        ]
