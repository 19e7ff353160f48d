"""Declarations of linear constraint equations: from names, and from arrays of terms."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import ANY, FUNCTION, NAME, NUMBER, TERMS
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.terms import add_rows, component_numbers

__all__ = ["Equation", "EquationRows"]


@dataclass(frozen=True, eq=False)
class EquationRows(Declaration):
    """Add linear equations between displacements: sum of coefficient x displacement = value x f(t), row by row.

    The terms are parallel arrays (k,), in any order; several of one node and component add up.  An equation of
    displacements alone holds exactly at any size of the motion; rotations in space count as small ones (sin of the
    angle times the axis, 1.5 % off at the limit of 0.3 rad, at which nonlinear steps refuse to go on; linear steps
    have no limit).

    Args:
        rows: (k,) number of the equation that each term belongs to, 0 .. m - 1.
        nodes: (k,) node indices, as `nodes_of` gives them.
        components: (k,) 0, 1, 2 for x, y, z, 3, 4, 5 for rotations about them; the plane has 0, 1 and 5.
        coefficients: (k,) of the displacements since the start [m] and rotations [rad].  The first term of a row is
            the dof that linear analyses prefer to make the dependent one.
        value: right side, a number or (m,).
        function: f(t) of the right side; None: 1 at all times.
        preferred: whether the first term of a row is the dependent one, else the analysis chooses; bool or (m,).

    Raises:
        ModelError: arrays that do not fit, an unknown node or component, a rotation that the node does not have (at
            `compile`), an equation without terms.
    """

    owner = "Equation"

    name: str = key(ANY, "by which reactions and messages call them")
    rows: Any = key(ANY, "number of the equation of each term (n,)")
    nodes: Any = key(ANY, "node of each term (n,)")
    components: Any = key(ANY, "its component (n,), 0 to 2 a displacement, from 3 a rotation")
    coefficients: Any = key(ANY, "its coefficient (n,)")
    value: Any = key(ANY, "right side of all, or of each equation", 0.0)
    function: Any = key(ANY, "factor on it", None)
    preferred: Any = key(ANY, "whether linear analyses make the first term the dependent one", True)

    def build(self, building: Building) -> None:
        owner = building.label("Equation", self.name)
        add_rows(
            building,
            self.name,
            owner,
            self.rows,
            self.nodes,
            self.components,
            self.coefficients,
            self.value,
            self.function,
            self.preferred,
        )


@dataclass(frozen=True, eq=False)
class Equation(Declaration):
    """Linear equations between displacements and small rotations.

    Add one linear equation between displacements, or one per node of sets, from names instead of arrays.

    Args:
        terms: each (place, component, coefficient) or a dict with the keys on, component, coefficient; component
            "x", "y", "z", "rx", "ry", "rz", in the plane "x", "y", "rotation".  Places of several nodes, all of as
            many, give an equation per node, in the order of the nodes; a place of one node stands in all of them.
        value, function: right side value x f(t), as for `equations`.
    """

    owner = "Equation"

    name: str = key(NAME, "in messages and results", shows='"equation 1", ...')
    terms: Any = key(
        TERMS,
        "each {on = place, component, coefficient}, component one of x, y, z, rx, ry, rz, in the plane x, y, "
        "rotation; places of several nodes give as many equations, node by node; linear analyses make the first "
        "term the dependent one, or another where that cannot be",
    )
    value: float = key(NUMBER, "right side", 0.0, unit="m or rad")
    function: Any = key(FUNCTION, "factor on it", None, shows="1")

    def build(self, building: Building) -> None:
        owner = building.label("Equation", self.name)
        known = component_numbers(building.dimension)
        nodes, components, coefficients = [], [], []
        for i, term in enumerate(self.terms, 1):
            try:
                keys = ("on", "component", "coefficient")
                place, component, c = (term[k] for k in keys) if isinstance(term, dict) else term
            except (KeyError, TypeError, ValueError):
                raise ModelError(
                    f"term {i} must be (place, component, coefficient), not {term!r}", owner=owner
                ) from None
            if component not in known:
                raise ModelError(
                    f"component {component!r} must be one of {', '.join(known)}",
                    owner=owner,
                    key="component",
                    value=component,
                )
            nodes.append(building.nodes_of(place, owner))
            components.append(known[component])
            coefficients.append(building.number(c, owner, "coefficient"))
        count = max((len(n) for n in nodes), default=0)
        for n, term in zip(nodes, self.terms, strict=True):
            if len(n) not in (1, count):
                place = term["on"] if isinstance(term, dict) else term[0]
                raise ModelError(
                    f'"{place}" has {len(n)} nodes and another place {count}',
                    owner=owner,
                    remedy="give places of one node, or all of as many",
                )
        k = len(nodes)
        table = np.array([np.broadcast_to(n, count) for n in nodes]).reshape(k, count).T
        add_rows(
            building,
            self.name,
            owner,
            np.repeat(np.arange(count), k),
            table.ravel(),
            np.tile(components, count),
            np.tile(coefficients, count),
            building.number(self.value, owner, "value"),
            self.function,
        )
