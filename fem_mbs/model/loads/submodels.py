"""Displacements of a whole model, imposed on the boundary of a detail of it.

The whole (global) model is known by its nodes, cells and displacements; those of a node of the detail (submodel) follow
by the shape functions of the cell that contains it:

    u(x) = sum_a N_a(x) u_a          off the surface: + R(theta) d - d,  theta = sum_a N_a theta_a

with the vector d from the closest point of the surface where the nodes there have rotations, as on shells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import ANY, COMPONENTS, FILE, FUNCTION, NAME, NUMBER, PLACES, TEXT
from fem_mbs.errors import ModelError
from fem_mbs.functions.kinds import make_function
from fem_mbs.functions.laws import TimeFunction
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.connections.joint_parts import component_number
from fem_mbs.model.connections.terms import add_rows
from fem_mbs.rotations import rotation_matrices
from fem_mbs.system.locating import locate
from fem_mbs.units import unit_of

__all__ = ["NEAR", "GlobalMotion", "Submodel", "interpolated"]

#: Distance up to which a point outside of all cells takes the closest one, over the size of the cell.
NEAR = 0.05
#: Interpolation over fewer times than this is linear.
_SPLINE = 4


@dataclass(frozen=True, eq=False)
class GlobalMotion:
    """Displacements of a whole model.

    where: file or folder, and step, for messages; x (n, dim) [m]; cells: kind and nodes (m, k) of solids, plane cells
    and shells, and ``numbers`` (m,) of these cells, if known; displacement (t, n, dim) [m] and rotation (t, n, 3) [rad]
    at ``times`` (t,) [s], rotation NaN at nodes that have none.  ``passes_time``: the displacements follow time; else
    they are those of one state.
    """

    where: str
    x: np.ndarray
    cells: Sequence[tuple[str, np.ndarray]]
    times: np.ndarray
    displacement: np.ndarray
    rotation: np.ndarray | None = None
    passes_time: bool = False
    numbers: Sequence[np.ndarray] = ()


def interpolated(
    motion: GlobalMotion, points: np.ndarray, tolerance: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return displacements (t, p, dim) and rotations (t, p, 3) at points (p, dim), NaN where there are none; the
    distances (p,) of the points from the cells, and the largest ones (p,) that the tolerance allows (None: 1/20 of the
    size of the cell)."""
    found = locate(points, motion.x, motion.cells)
    allowed = NEAR * found.size if tolerance is None else np.full(len(points), tolerance)
    u = np.einsum("pk,tpkd->tpd", found.weights, motion.displacement[:, found.nodes])
    if motion.rotation is None:
        return u, np.full((*u.shape[:2], 3), np.nan), found.distance, allowed
    used = found.weights != 0.0
    theta = np.where(used[..., None], motion.rotation[:, found.nodes], 0.0)
    theta = np.einsum("pk,tpkd->tpd", found.weights, theta)
    off = np.flatnonzero((found.distance > 0.0) & np.isfinite(theta).all(axis=(0, 2)))
    if off.size:
        arm = points[off] - np.einsum("pk,pkd->pd", found.weights[off], motion.x[found.nodes[off]])
        arms = np.tile(np.pad(arm, ((0, 0), (0, 3 - arm.shape[1]))), (len(u), 1, 1))
        turned = np.einsum("tpij,tpj->tpi", rotation_matrices(theta[:, off]), arms)
        u[:, off] += (turned - arms)[..., : u.shape[2]]
    return u, theta, found.distance, allowed


@dataclass(frozen=True, eq=False)
class Submodel(Declaration):
    """Nodes of a detail that move as those places of a whole model do.

    Impose displacements that the results of another, global model have at these nodes, so that a detail of it can be
    computed on a finer mesh (submodelling).

    They are interpolated by the shape functions of the solid, plane or shell cells that contain the nodes; a node
    outside of all cells takes the closest point of their surface, within ``tolerance``.  A node off a shell moves with
    the rotation there, so that solids may be cut from shells.  Results of a step that passes time are followed in
    time, by splines through the frames (linear ones through fewer than 4); their time is that of this model, and ends
    with them.

    Args:
        source: of `fem_mbs.read_global_motion`.
        components: None: the displacements, and the rotations where nodes and results have them.
        function: of results of one state, a factor over time.
        tolerance: [m] None: 1/20 of the size of the cell.

    Raises:
        ModelError: a node is farther from the cells than the tolerance, or a component is not known there.
    """

    owner = "Submodel"

    name: str = key(NAME, "in messages and results", shows='"submodel 1", ...')
    on: Any = key(PLACES, "nodes that move so, as a rule those of the cut")
    source: GlobalMotion | None = key(ANY, "displacements of the whole model", None, file=None)
    file: str | None = key(
        FILE,
        "results folder of the whole model, or results file of CalculiX (.frd); a relative path starts at the model"
        " file",
        None,
        kw_only=True,
        needed=True,
    )
    step: str = key(
        TEXT, "of these results: its name, or its number from 1 in quotes", "", kw_only=True,
        shows="the last one with displacements",
    )  # fmt: skip
    components: Sequence[str] | None = key(
        COMPONENTS, 'of "x", "y", "z", "rotation", in space "rotation x", "rotation y", "rotation z"', None,
        kw_only=True, shows="all that nodes and results have",
    )  # fmt: skip
    function: Any = key(FUNCTION, "factor over time, of results of one state", None, kw_only=True, shows="1")
    tolerance: float | None = key(
        NUMBER, "nodes farther from the cells are an error", None, kw_only=True, shows="1/20 of the size of the cell",
        unit="m",
    )  # fmt: skip

    def build(self, building: Building) -> None:
        owner = building.label("Submodel", self.name)
        motion, dim, tolerance = self.source, building.dimension, self.tolerance
        if motion is None:
            raise ModelError("it has no displacements", owner=owner, key="source",
                             remedy="give those of `fem_mbs.read_global_motion`")  # fmt: skip
        if motion.x.shape[1] != dim:
            raise ModelError(
                f"{motion.where} is a model of {motion.x.shape[1]} dimensions, this one has {dim}", owner=owner,
                key="file", remedy="give results of the same dimension",
            )  # fmt: skip
        if tolerance is not None:
            tolerance = building.number(tolerance, owner, "tolerance", 0.0)
        if self.function is not None and motion.passes_time:
            raise ModelError(f"{motion.where} passes time, and its displacements are followed", owner=owner,
                             key="function", remedy="remove the function")  # fmt: skip
        nodes = np.unique(building.nodes_of(self.on, owner))
        u, theta, distance, allowed = interpolated(motion, building.positions[nodes], tolerance)
        far = np.flatnonzero(distance > allowed)
        if far.size:
            k = far[np.argmax((distance - allowed)[far])]
            raise ModelError(
                f'node "{building.node_name(int(nodes[k]))}" is {distance[k]:.4g} {unit_of("m")} away from the '
                f"cells of {motion.where}, more than {allowed[k]:.4g} {unit_of('m')}"
                + (f", and so are {far.size - 1} others" if far.size > 1 else ""),
                owner=owner, key="tolerance", value=self.tolerance, remedy="move the meshes, or raise tolerance",
            )  # fmt: skip
        law = None if motion.passes_time else _law(building, owner, self.function)
        wanted = self._wanted(building, owner, nodes, theta)
        for k in (k for k in wanted if k < dim):
            for value, own in _courses(motion, owner, law, u[:, :, k]):
                index = building.add_function(value, load=False)
                building.driven += [(int(nodes[i]), k, index, owner) for i in own]
        for k in (k for k in wanted if k >= dim):
            self._turn(building, owner, nodes, theta[:, :, 2 if dim == 2 else k - 3], law, k)

    def _wanted(self, building: Building, owner: Any, nodes: np.ndarray, theta: np.ndarray) -> list[int]:
        """Return components from 0, those from ``dimension`` on rotations.

        Raises:
            ModelError: a rotation that the results do not have.
        """
        dim, known = building.dimension, np.isfinite(theta).all()
        turns = [2] if dim == 2 else [3, 4, 5]
        if self.components is None:
            rotational = np.zeros(building.n_nodes, bool)
            rotational[list(building.rotational)] = True
            return [*range(dim), *(turns if known and rotational[nodes].all() else ())]
        found: list[int] = []
        for name in [self.components] if isinstance(self.components, str) else self.components:
            if dim == 3 and name.startswith("rotation"):
                found += turns if name == "rotation" else [3 + "xyz".index(name[-1])]
            else:
                found.append(component_number(building, owner, name))
        if not known and any(k >= dim for k in found):
            raise ModelError(
                f"{self.source.where if self.source else ''} has no rotations at these nodes", owner=owner,
                key="components", value=self.components, remedy='name "x", "y" and "z" alone',
            )  # fmt: skip
        return list(dict.fromkeys(found))

    def _turn(
        self, building: Building, owner: Any, nodes: np.ndarray, angle: np.ndarray, law: TimeFunction | None, k: int
    ) -> None:  # fmt: skip
        """Impose the rotations ``angle`` (t, p) about one axis, as small ones in space."""
        motion = self.source
        assert motion is not None  # `build` has looked
        if building.dimension == 2:
            for value, own in _courses(motion, owner, law, angle):
                index = building.add_function(value, load=False)
                building.needs_rotation += [(owner, int(nodes[i])) for i in own]
                building.driven += [(int(nodes[i]), k, index, owner) for i in own]
            return
        for number, (value, own) in enumerate(_courses(motion, owner, law, angle)):
            name = f"{self.name}, rotation {'xyz'[k - 3]}" + (f" {number + 1}" if number else "")
            add_rows(
                building, name, building.label("Equation", name), np.arange(len(own)), nodes[own],
                np.full(len(own), k), np.ones(len(own)), 1.0, value,
            )  # fmt: skip


def _law(building: Building, owner: Any, function: Any) -> TimeFunction:
    return make_function(1.0 if function is None else function, owner=owner, functions=building.functions)


def _courses(
    motion: GlobalMotion, owner: Any, law: TimeFunction | None, values: np.ndarray
) -> list[tuple[TimeFunction, np.ndarray]]:
    """Return functions of time of values (t, p), and which of the p follow each: equal ones share one."""
    patterns, which = np.unique(values, axis=1, return_inverse=True)
    which = which.ravel()
    order = np.argsort(which, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(which[order])) + 1)
    made = []
    for p, own in enumerate(groups):
        if law is not None:
            spec: Any = {"kind": "scaled", "function": law, "factor": float(patterns[-1, p])}
        else:
            smooth = len(motion.times) >= _SPLINE
            spec = {"kind": "spline" if smooth else "table", "times": motion.times.tolist(), "extrapolate": "error"}
            spec |= {"values": patterns[:, p].tolist(), **({"ends": "not-a-knot"} if smooth else {})}
        made.append((make_function(spec, owner=owner), own))
    return made
