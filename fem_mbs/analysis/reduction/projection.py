"""Project weight, loads, damping and nodal displacements of a reduced part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fem_mbs.analysis.fields import fields_of
from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.reduction.stress_shapes import StressShapes
from fem_mbs.model.parts.reduced import PartLoad
from fem_mbs.parts.part import Recovery
from fem_mbs.solvers.distributed.matrix import compressed

__all__ = [
    "NodalLoad",
    "gravity_forces",
    "heat_among",
    "modal_damping",
    "nodal_loads",
    "own_damping",
    "recovery_of",
    "unit_loads",
]


def gravity_forces(linear: Linearised, MR: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return generalised forces (n, 3 or 6) of unit accelerations of the field, MR (first, 3 or 6) of the whole
    part."""
    return Q.T @ (linear.elimination.T.T @ MR)


class NodalLoad(NamedTuple):
    """A load of a model: its name, the number of its time function, forces (N,) on all dofs per unit of that."""

    name: str
    function: int
    forces: np.ndarray


def nodal_loads(linear: Linearised) -> list[NodalLoad]:
    """Return the loads of a model at its state.

    Loads that share a function act together, under their names joined by " + ".
    """
    compiled, system = linear.compiled, linear.system
    heated = {*compiled.model.solid_groups, *compiled.model.shell_groups}  # their functions are those of temperatures
    users: dict[int, list[str]] = {}
    for block in system.blocks:
        if "function" not in block.type.par or block.type.multipliers:
            continue
        column = block.type.column("function")
        for label, first, last in block.groups:
            for index in np.unique(block.par[first:last, column].astype(int)):
                if index >= 0 and label not in heated:
                    users.setdefault(int(index), []).append(label)
    for name, (index, _) in compiled.model.temperatures.items():
        users.setdefault(index, []).append(name)
    if not users:
        return []
    found = []
    ones = np.ones(linear.loads.size)
    blocks = [block for block in system.blocks if "function" in block.type.par and not block.type.multipliers]
    silent = linear.force(blocks=blocks)
    for index, names in sorted(users.items()):
        if not linear.loads[index]:
            continue
        mask = np.zeros(linear.loads.size, bool)
        mask[index] = True
        change = silent - linear.force(linear.level(mask, ones), blocks)
        found.append(NodalLoad(" + ".join(dict.fromkeys(names)), index, change))
    return found


def heat_among(linear: Linearised, loads: Sequence[NodalLoad]) -> dict[str, bool]:
    """Return names of the loads that are heat, of the model or of reduced parts in it, and whether they are nothing
    else."""
    model = linear.compiled.model
    pure = dict.fromkeys(model.temperatures, True)
    for load in model.specifications:
        if isinstance(load, PartLoad):
            hot = model.reduced_parts[load.part].part.info.get("heat", {})
            names = [load.load] if isinstance(load.load, str) else load.load
            if any(name in hot for name in names):
                pure[load.name] = all(hot.get(name, False) for name in names)
    among = {load.name: load.name.split(" + ") for load in loads}
    return {
        name: all(pure.get(one, False) for one in ones)
        for name, ones in among.items()
        if any(one in pure for one in ones)
    }


def unit_loads(linear: Linearised, Q: np.ndarray, loads: Sequence[NodalLoad]) -> dict[str, np.ndarray]:
    """Return generalised forces (n,) of loads per unit of their functions, by their names."""
    T = linear.elimination.T.T
    return {load.name: Q.T @ (T @ load.forces[: linear.first]) for load in loads}


def own_damping(linear: Linearised, Q: np.ndarray) -> np.ndarray | None:
    """Return damping (n, n) of the model's elements; None where there is none."""
    blocks = []
    for block in linear.system.blocks:
        if block.type.multipliers and not block.type.reads:
            continue
        damped = "damping" in block.type.parameters
        load = "function" in block.type.parameters and block.type.prestress is None and not damped
        if load or (damped and not block.damped):
            continue
        blocks.append(block)
    if not blocks:
        return None
    damping = linear.here.damping(blocks)
    if not damping.count_nonzero():
        return None
    D = compressed(linear.reduce(damping))
    D_red = Q.T @ (D @ Q)
    return 0.5 * (D_red + D_red.T)


def modal_damping(M: np.ndarray, values: np.ndarray, P: np.ndarray, ratios: np.ndarray, rigid: int) -> np.ndarray:
    """Return M P diag(2 zeta w) P^T M of modes w^2 (k,), P (n, k), the first ``rigid`` ones undamped; the last of the
    ``ratios`` (of the elastic modes) goes on."""
    k = np.arange(values.size) - rigid
    zeta = np.where(k >= 0, ratios[np.clip(k, 0, ratios.size - 1)], 0.0)
    MP = M @ P
    D = (MP * (2.0 * zeta * np.sqrt(np.maximum(values, 0.0)))) @ MP.T
    return 0.5 * (D + D.T)


def recovery_of(linear: Linearised, Q: np.ndarray, stresses: bool = False, loads: Sequence[NodalLoad] = ()) -> Recovery:
    """Return displacements and rotations of all nodes, and stresses at those of solid and plane parts, with those of
    the state and of the loads that are heat."""
    system, dim = linear.system, linear.system.dimension
    u = linear.expand(Q)
    n = system.nodes.x.shape[0]
    at = system.offset[:n]
    turning = np.flatnonzero(system.nodes.rotational)
    rows = at[turning][:, None] + dim + np.arange(system.rotation_dofs)
    x = linear.state.Q[0][at[:, None] + np.arange(dim)]
    displacement = u[at[:, None] + np.arange(dim)]
    recovery = Recovery(x, tuple(system.nodes.names), displacement, turning, u[rows], cells_of(linear))
    if not stresses:
        return recovery
    shapes = StressShapes(linear)
    rest, hot = shapes.at_rest(), heat_among(linear, loads)
    heat = {load.name: shapes.of_load(load.function) for load in loads if load.name in hot}
    return replace(
        recovery, stress=shapes.of(u), stressed=shapes.nodes, rest=rest if rest.any() else None, heat=heat
    )  # fmt: skip


def cells_of(linear: Linearised) -> tuple[tuple[str, np.ndarray], ...]:
    """Return (cell type, nodes (c, k)) of solids, plane parts, beams and trusses, to draw them."""
    compiled = linear.compiled
    fields = fields_of(compiled)
    names = {part.name for part in fields.parts}
    cells = [(part.cell, np.asarray(part.nodes)) for part in fields.parts]
    for name, nodes in compiled.model.groups.items():
        if name not in names:
            table = np.asarray(nodes)
            cells.append(("line" if table.shape[1] == 2 else f"line{table.shape[1]}", table))
    return tuple(cells)
