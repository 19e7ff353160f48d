"""Linear constraint equations of the model builder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import ANY, FUNCTION, NAME, NUMBER, TERMS
from fem_mbs.errors import ModelError
from fem_mbs.model.building import Building
from fem_mbs.system.compile import Block, make_block

__all__ = ["Equation", "EquationRows", "add_rows", "checked_terms", "node_indices"]


def add_rows(
    building: Building,
    name: str,
    owner: str,
    rows,
    nodes,
    components,
    coefficients,
    value,
    function,
    first=True,
    reported=None,
) -> None:
    """Add equations from their terms; see `equations`.  Reactions are those on the nodes ``reported`` (None:
    all)."""
    r, n, k = (_whole(owner, key, a) for key, a in (("rows", rows), ("nodes", nodes), ("components", components)))
    c = _floats(owner, "coefficients", coefficients)
    if not len(r) == len(n) == len(k) == len(c):
        raise ModelError(
            f"rows, nodes, components and coefficients have {len(r)}, {len(n)}, {len(k)} and {len(c)} entries",
            owner=owner,
            remedy="give one of each per term",
        )
    if not len(r):
        raise ModelError("it has no terms", owner=owner, remedy="add some, or remove it")
    m = int(r.max()) + 1
    _check_terms(building, owner, r, n, k, m)
    v = _floats(owner, "value", value, () if np.ndim(value) == 0 else (m,))
    v = np.broadcast_to(v, m)
    if function is not None and not v.any():
        raise ModelError(
            "its function multiplies value = 0", owner=owner, remedy="give the value, or remove the function"
        )
    dim = building.dimension
    turning = k >= 3 if dim == 3 else k == 5
    building.needs_rotation += [(owner, int(i)) for i in np.unique(n[turning])]
    _, begin = np.unique(r, return_index=True)
    dof = np.where(turning & (dim == 2), 2, k)
    preferred = np.column_stack((n[begin], dof[begin]))
    preferred[~np.broadcast_to(np.asarray(first, bool), m)] = -1
    # coefficients of each equation of the order of one, so that its error is a length
    size = np.zeros(m)
    x = building.positions
    length = float(np.ptp(x, axis=0).max()) or 1.0
    np.maximum.at(size, r, np.abs(c) / np.where(turning, length, 1.0))
    if not size.all():
        raise ModelError(f"row {int(np.flatnonzero(size == 0.0)[0])}: all its coefficients are zero", owner=owner)
    # one element per equation and node
    key, term = np.unique(r * building.n_nodes + n, return_inverse=True)
    joint, node = key // building.n_nodes, key % building.n_nodes
    values = np.zeros((len(key), 6))
    np.add.at(values, (term.ravel(), k), c / size[r])
    share = np.zeros(len(key))
    share[np.flatnonzero(np.diff(joint, prepend=-1))] = v / size  # the first of each
    index = -1
    if v.any():
        index = building.function_index(1.0 if function is None else function, owner, load=False)
    turns = values[:, 5:] if dim == 2 else values[:, 3:]
    seen = 1.0 if reported is None else np.isin(node, reported).astype(float)
    terms = checked_terms(building,
        name, joint, node, values[:, :dim], turns, preferred,
        value=share, function=float(index), reported=seen,
    )  # fmt: skip
    building.blocks.append(terms)


def _check_terms(building: Building, owner: str, r: np.ndarray, n: np.ndarray, k: np.ndarray, m: int) -> None:
    missing = np.flatnonzero(np.bincount(r, minlength=m) == 0) if r.min() >= 0 else np.array([int(r.min())])
    if missing.size:
        what = "is no number of a row" if missing[0] < 0 else "has no terms"
        raise ModelError(f"row {int(missing[0])} {what}", owner=owner, remedy="rows count from 0 without gaps")
    node_indices(building, owner, n)
    allowed = (0, 1, 5) if building.dimension == 2 else range(6)
    bad = np.flatnonzero(~np.isin(k, list(allowed)))
    if bad.size:
        i = int(bad[0])
        raise ModelError(
            f"row {int(r[i])}: component {int(k[i])} must be one of {', '.join(map(str, allowed))}", owner=owner
        )


def node_indices(building: Building, owner: str, nodes) -> np.ndarray:
    """Return node indices (n,) that exist."""
    n = _whole(owner, "nodes", nodes)
    bad = np.flatnonzero((n < 0) | (n >= building.n_nodes))
    if bad.size:
        raise ModelError(
            f"node {int(n[bad[0]])} does not exist, there are {building.n_nodes}",
            owner=owner,
            remedy="take indices from nodes_of",
        )
    return n


def _whole(owner: str, key: str, values) -> np.ndarray:
    """Return whole numbers (k,)."""
    try:
        a = np.atleast_1d(np.asarray(values))
        b = a.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{key} must be whole numbers, one per term", owner=owner) from None
    if a.ndim != 1 or a.dtype.kind not in "iuf" or (a.dtype.kind == "f" and not (a == b).all()):
        raise ModelError(f"{key} must be whole numbers, one per term", owner=owner)
    return b


def checked_terms(
    building: Building,
    label: str,
    joint,
    nodes,
    n: np.ndarray,
    turns: np.ndarray,
    preferred,
    arms=None,
    small=1.0,
    **columns,
) -> Block:
    """Return elements of equations with the numbers ``joint``: coefficients n (k, dim) of the positions and turns
    (k, 1 or 3) of the rotations, or of points at the offsets ``arms`` (k, dim) in body axes."""
    dim = building.dimension
    names = "xyz"[:dim]
    x = building.positions[nodes]
    columns = {"reported": 1.0, "function": -1.0, **columns}
    columns |= {f"n{c}": n[:, i] for i, c in enumerate(names)} | {c: x[:, i] for i, c in enumerate(names)}
    own = building.rotations.keys() & set(nodes.tolist()) if building.rotations else ()
    if dim == 2:
        angle = np.zeros(len(nodes))
        for i in own:
            angle[nodes == i] = building.rotations[i]
        columns |= {"c": turns[:, 0], "angle": angle}
        if arms is not None:  # n.R a = p cos + q sin
            columns["p"] = n[:, 0] * arms[:, 0] + n[:, 1] * arms[:, 1]
            columns["q"] = n[:, 1] * arms[:, 0] - n[:, 0] * arms[:, 1]
    else:
        R = np.tile(np.eye(3), (len(nodes), 1, 1))
        for i in own:
            R[nodes == i] = building.rotations[i]
        L = 0.5 * np.swapaxes(np.cross(turns[:, None, :], np.swapaxes(R, 1, 2)), 1, 2)  # columns c x D_k / 2
        if arms is not None:
            L = L + n[:, :, None] * arms[:, None, :]
        columns["small"] = np.where(np.any(turns != 0.0, axis=1), small, 0.0)
        for i in range(3):
            for k in range(3):
                columns[f"l{i + 1}{k + 1}"], columns[f"r{i + 1}{k + 1}"] = L[:, i, k], R[:, i, k]
    block = make_block(label, f"equation{dim}", nodes, **columns)
    block.joint = np.asarray(joint, np.int64)
    block.preferred = np.asarray(preferred, np.int64)
    return block


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

    name: str = key(NAME, "", shows='"equation 1", ...')
    terms: Any = key(
        TERMS,
        "each {on = place, component, coefficient}, component one of x, y, z, rx, ry, rz, in the plane x, y, "
        "rotation; places of several nodes give as many equations, node by node; linear analyses make the first "
        "term the dependent one",
    )
    value: float = key(NUMBER, "right side", 0.0, unit="m or rad")
    function: Any = key(FUNCTION, "factor on it", None, shows="1")

    def build(self, building: Building) -> None:
        owner = building.label("Equation", self.name)
        known = {"x": 0, "y": 1, "rotation": 5}
        if building.dimension == 3:
            known = {"x": 0, "y": 1, "z": 2, "rx": 3, "ry": 4, "rz": 5}
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


def _floats(owner: str, key: str, values, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Return finite numbers (k,), or of a shape."""
    try:
        a = np.asarray(values, float)
    except (TypeError, ValueError):
        raise ModelError(f"{key} must be numbers", owner=owner) from None
    a = np.atleast_1d(a) if shape is None else a
    if (a.ndim != 1 if shape is None else a.shape != shape) or not np.isfinite(a).all():
        wanted = "finite numbers, one per term" if shape is None else f"finite, of shape {shape}"
        raise ModelError(f"{key} must be {wanted}", owner=owner)
    return a
