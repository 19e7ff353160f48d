"""Compile a model: check the whole, number the unknowns, and make the arrays for the solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.kinds import make_function
from fem_mbs.late import dataclass
from fem_mbs.model.connections.couplings import coupling_blocks
from fem_mbs.model.connections.cyclic import check_sectors
from fem_mbs.model.connections.pretension import check_sections
from fem_mbs.model.connections.releases import Release, faded_groups, release_blocks
from fem_mbs.model.connections.surfaces.friction import check_path_ends
from fem_mbs.model.fields import check_units
from fem_mbs.model.loads.frames import centrifugal_blocks, shake
from fem_mbs.model.parts.reduced import check_bases
from fem_mbs.model.parts.solids import check_masses
from fem_mbs.model.sensors.sensor import Sensor
from fem_mbs.model.sensors.switches import Switch, kept_joints, make_switches, open_locks
from fem_mbs.system.blocks import Block, Nodes, merge_blocks
from fem_mbs.system.compile import Alone, compile_system
from fem_mbs.system.compiled import Compiled, Driven
from fem_mbs.system.elimination import shared_coordinates
from fem_mbs.units import in_units_of_model

__all__ = ["CompiledModel", "Sharing", "compile_model"]

#: What shares the elements of a model out to processes: see `compile_model`.
Sharing = Callable[[list[Block], np.ndarray, set[str]], tuple[list[Block], list[tuple[int, np.ndarray]] | None, Any]]


@dataclass
class CompiledModel:
    """A compiled model: arrays for the solvers, time functions and sensors. ``merged_joints`` holds name and one
    node of each joint that is modelled by shared unknowns of its nodes, ``step_supports`` the dofs (k,) that the groups
    of supports of single steps hold, ``step_motions`` those of them that follow functions, ``release`` the level of the
    forces of supports that static steps release, ``still`` the number of a function that is zero, ``switches`` the
    locks, joints and supports that can be switched."""

    model: Any
    system: Compiled
    functions: list[Callable[[np.ndarray], np.ndarray]]
    loads: np.ndarray
    sensors: list[Sensor]
    merged_joints: list[tuple[str, int]]
    step_supports: dict[str, np.ndarray] = field(default_factory=dict)
    step_motions: dict[str, Driven] = field(default_factory=dict)
    release: Release | None = None
    still: int = -1
    switches: list[Switch] = field(default_factory=list)


def _existing(pairs: list[tuple[int, int]], dimension: int, rotational: np.ndarray) -> list[tuple[int, int]]:
    """Return the pairs of a node and a component that the nodes have; negative components are meant where they do."""
    pairs = [(i, abs(k)) for i, k in pairs if k >= 0 or rotational[i]]
    return [(i, k) for i, k in pairs if k < dimension or rotational[i]]


def _driven(system: Compiled, entries: list[tuple[int, int, int, Owner]]) -> Driven:
    """Return the dofs that motions of a group move, of their nodes, components, functions and owners.

    Raises:
        ModelError: a dof is moved twice, or held in all steps.
    """
    dofs = np.array([system.offset[i] + k for i, k, _, _ in entries], np.int32)
    twice = np.isin(dofs, np.concatenate((system.fixed, system.driven.dofs)))
    twice[np.setdiff1d(np.arange(len(dofs)), np.unique(dofs, return_index=True)[1])] = True
    if twice.any():
        at = int(np.flatnonzero(twice)[0])
        raise ModelError(
            f"{system.name_of(int(dofs[at]))} is held or moved by something else too", owner=entries[at][3],
            remedy="keep one of them",
        )  # fmt: skip
    return Driven(dofs, np.array([e[2] for e in entries], np.int32), [e[3] for e in entries])


@in_units_of_model
def compile_model(model: Any, stepping: bool = True, sharing: Sharing | None = None) -> CompiledModel:
    """Check the whole and make the arrays; without ``stepping`` only those that linear steps need.

    Args:
        sharing: returns, of all blocks, positions of nodes (n, dim) and names of groups of cells, the blocks with the
            elements that this process has of them, and these elements (`Compiled.picks`).

    Raises:
        ModelError: no elements, nodes that nothing holds or uses, rotations that do not exist, contradictions.
    """
    b = model.building
    if not b.blocks:
        raise ModelError("it has no elements", owner=Owner("Model"), remedy="add beams, trusses, bodies or masses")
    check_path_ends(b)
    check_masses(b, model.steps)
    check_sections(b)
    check_bases(b)
    check_units(b)
    n = b.n_nodes
    rotational = np.zeros(n, bool)
    rotational[list(b.rotational)] = True
    groups = {name: _existing(pairs, b.dimension, rotational) for name, pairs in b.step_supports.items()}
    functions = [f for f, _ in b.used_functions]
    loads = np.array([load for _, load in b.used_functions], bool)
    faded = [pair for name in faded_groups(model.steps) for pair in groups.get(name, [])]
    release = Release() if faded else None
    released = release_blocks(b.dimension, faded, len(functions))
    if release is not None:
        functions.append(release)
    if groups:
        functions.append(make_function(0.0))
    loads = np.append(loads, np.zeros(len(functions) - len(loads), bool))
    blocks = merge_blocks(b.blocks + centrifugal_blocks(b, b.blocks) + coupling_blocks(b) + released)
    used = np.zeros(n, bool)
    for block in blocks:
        grounded = block.nodes.min(initial=0) < 0
        used[block.nodes[block.nodes >= 0] if grounded else block.nodes] = True
    keep = np.ones(n, bool)
    for first, last in b.droppable:
        keep[first:last] &= used[first:last]
    for mesh, spare in b.spare_nodes:
        if not any(group.on(mesh) for group in b.cell_groups):
            spare = b.meshes[mesh][1] + spare
            keep[spare] &= used[spare]
    loose = np.flatnonzero(keep & ~used)
    if loose.size:
        names = ", ".join(f'"{b.node_name(int(i))}"' for i in loose[:5])
        more = f" and {loose.size - 5} more" if loose.size > 5 else ""
        raise ModelError(
            f"no element, body or joint uses node {names}{more}",
            owner=Owner("Model"),
            remedy='connect or remove them (a mesh with unused = "drop" leaves them out)',
        )
    check_sectors(b, np.asarray(model.gravity, float), used)
    for owner, node in b.needs_rotation:
        if not rotational[node]:
            raise ModelError(
                f'node "{b.node_name(node)}" has no rotation (only trusses or point masses end there)',
                owner=owner,
                remedy="use its position, or a beam or body",
            )
    fixed = _existing(b.fixed, b.dimension, rotational)
    dropped = np.flatnonzero(~keep)
    fixed += [(i, k) for k in range(b.dimension) for i in dropped.tolist()]
    fixed, shaken = shake(b, fixed)
    rotation = np.zeros(n) if b.dimension == 2 else np.broadcast_to(np.eye(3), (n, 3, 3))
    rotation = rotation.copy() if b.rotations else rotation
    for node, value in b.rotations.items():
        rotation[node] = value
    states = {number: state.initial / state.size for number, state in b.states.items()}
    nodes = Nodes(b.positions, rotational, rotation, b.names, b.scalars, states)
    held = np.array(fixed, np.int64).reshape(-1, 2)
    driven = b.driven + shaken
    shared = None
    merged: list[Any] = []
    if model.elimination and not b.assembling:
        taken = np.zeros((n, b.dimension + (1 if b.dimension == 2 else 3)), bool)
        taken[held[:, 0], held[:, 1]] = True
        for node, component in (pair for pairs in groups.values() for pair in pairs):
            taken[node, component] = True
        for node, component, _, _ in driven:
            taken[node, component] = True
        kept = {sensor.on for sensor in b.sensors if sensor.kind in ("reaction", "joint")} | kept_joints(b)
        kept.update(name for block in blocks for name in block.reads or ())
        blocks, shared, merged = shared_coordinates(blocks, nodes, taken, kept)
    opened, still = open_locks(b), bool(b.breakings)
    picks, common = None, Alone
    if sharing is not None:
        blocks, picks, common = sharing(blocks, nodes.x, {group.name for group in b.cell_groups})
        b.keep_positions(common.made_once)
        nodes.x = b.positions
    system = compile_system(b.dimension, nodes, blocks, held, driven, shared, stepping, opened, still, common)
    system.picks = picks
    system.callbacks = list(b.callbacks)
    also = {name: np.unique([system.offset[i] + k for i, k in pairs]) for name, pairs in groups.items()}
    moved = {name: _driven(system, entries) for name, entries in b.step_motions.items()}
    compiled = CompiledModel(model, system, functions, loads, [], merged, also, moved, release, len(functions) - 1)
    record: list[Any] = []
    at_end: list[Any] = []
    for sensor in b.sensors:
        bound, own = sensor.bound(compiled, len(record))
        compiled.sensors.append(bound)
        record += own
        at_end += [not bound.mid_step] * len(own)
    compiled.switches, own, own_at_end = make_switches(b, compiled, len(record))
    record, at_end = record + own, at_end + own_at_end
    system.at_end = np.array(at_end, bool)
    system.system = system.system._replace(record=np.array(record, np.int32).reshape(-1, 2))
    return compiled
