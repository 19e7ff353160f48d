"""Describe the model in a results header: names, blocks, supports, joints; and compute its fingerprint."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.fields import fields_of
from fem_mbs.analysis.recovered import RecoveredNodes
from fem_mbs.analysis.transient.stepping import ENERGY_COLUMNS
from fem_mbs.model.model import CompiledModel, Model
from fem_mbs.results.fields import part_file
from fem_mbs.results.report import ModelCounts

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext

_MASSES = ("mass2", "mass3", "rigid3", "director_mass3")  # types of elements that point masses are
_MOST_MASSES = 200  # in figures
_MOST_DISCS = 200  # told of a kind

__all__ = ["count_model", "find_group", "fingerprint", "make_header"]


def fingerprint(context: RunContext) -> str:
    """Return a text that differs where the results of two models, or of two versions of the program, would differ."""
    compiled, system = context.compiled, context.system
    digest = hashlib.sha256(metadata.version("fem-mbs").encode())
    for block in system.blocks:
        digest.update(block.type.name.encode())
        for array in (block.nodes, block.par):
            digest.update(np.ascontiguousarray(array).tobytes())
    nodes, driven = system.nodes, system.driven
    for array in (nodes.x, nodes.rotation, system.fixed, driven.dofs, driven.functions, context.model.gravity):
        digest.update(np.ascontiguousarray(array).tobytes())
    length = sum(step.duration for step in context.plan)
    for f in compiled.functions:
        digest.update(np.asarray(f(np.linspace(0.0, length, 9)), float).tobytes())
    steps = [[step.kind, step.name, step.options] for step in context.model.steps]
    words = [
        steps,
        [s.header for s in compiled.sensors],
        list(context.model.groups),
        context.model.initial_method,
        list(context.model.field_names),
        [[r.name, r.axis.tolist(), r.point.tolist(), r.nodes.tolist()] for r in context.model.rotors.values()],
    ]
    digest.update(json.dumps(words, sort_keys=True, default=str).encode())
    for speed in context.model.initial_velocities:
        for array in (speed.nodes, speed.velocity, speed.spin):
            digest.update(np.ascontiguousarray(array).tobytes())
    told = [
        context.model.initial_speeds,
        context.model.assembling,
        [replace(e, function=None) for e in context.model.events],
    ]
    digest.update(repr(told).encode())
    for event in context.model.events:
        if event.function is not None:
            digest.update(np.asarray(event.function(np.linspace(0.0, length, 9)), float).tobytes())
    for callback in system.callbacks:
        digest.update(callback.fingerprint())
    return digest.hexdigest()


def make_header(compiled: CompiledModel) -> dict[str, Any]:
    """Return the description of the model for a results folder."""
    model, system = compiled.model, compiled.system
    names = {**model.named_nodes, **{b.name: b.node for b in model.bodies.values()}}
    for mesh_name, (mesh, first) in model.meshes.items():
        for set_name, nodes in mesh.node_sets.items():
            if len(nodes) == 1:
                names[f"{mesh_name}:{set_name}"] = int(first + nodes[0])
    fields = fields_of(compiled)
    blocks = fields.blocks
    for name, cells in model.groups.items():
        if any(part.name == name for part in fields.parts):
            continue
        block = next(b for b, _ in find_group(system, name) if b.type.outputs)
        blocks.append(
            {"name": name, "type": block.type.name, "connectivity": cells, "outputs": list(block.type.outputs)}
        )
    recovered = RecoveredNodes(compiled)
    blocks += recovered.blocks
    components = ["x", "y", "z"][: model.dimension]
    supports: dict[int, list[str]] = {}
    bases = {base.name for base in model.building.shakings}
    shaken = [dof for dof, name in zip(system.driven.dofs, system.driven.names, strict=True) if name in bases]
    for dof in [*system.fixed, *shaken]:
        node = int(np.searchsorted(system.offset, dof, side="right") - 1)
        k = int(dof - system.offset[node])
        supports.setdefault(node, []).append(components[k] if k < model.dimension else "rotation")
    joints, held = _joint_symbols(compiled)

    def padded(point) -> list[float]:
        return [*np.asarray(point, float).tolist(), *[0.0] * (3 - model.dimension)]

    bodies = []
    for body in model.bodies.values():
        R = np.eye(3)
        R[: model.dimension, : model.dimension] = model.building.rotation_matrix(body.node)
        points = [padded(p) for p in body.points]
        bodies.append({"name": body.name, "node": body.node, "points": points, "rotation": R.tolist()})
    return {
        "title": model.title,
        "version": metadata.version("fem-mbs"),
        "dimension": model.dimension,
        "nodes": np.concatenate((model.positions, recovered.x)),
        "node_names": names,
        "blocks": blocks,
        "fields": [*fields.header, *(field for field in recovered.fields if field not in fields.header)],
        "recovered_nodes": len(recovered.x),
        "bodies": bodies,
        "sensors": [s.header for s in compiled.sensors],
        "ledger": list(ENERGY_COLUMNS),
        "supports": [{"node": n, "components": c} for n, c in supports.items()] + held,
        "joints": joints,
        "discs": _discs(compiled),
        "masses": _masses(compiled),
        "reduced_parts": _reduced_parts(model),
        "model": count_model(compiled).to_json(),
        **_wheel(model),
    }


def _wheel(model: Model) -> dict[str, Any]:
    """Return sectors, axis and a point of it of the wheel of which the model is one sector; none without a cyclic
    symmetry."""
    if not model.cyclic:
        return {}
    faces = model.cyclic[0]
    axis = faces.axis.tolist() if faces.axis.size else [0.0, 0.0, 1.0]
    point = [*faces.point.tolist(), *[0.0] * (3 - model.dimension)]
    return {"cyclic": {"sectors": faces.sectors, "axis": axis, "point": point}}


def _reduced_parts(model) -> list[dict[str, Any]]:
    """Return reduced parts: node of the frame, place and axes at the start, the file with their fields ("" without),
    and the sensor that records all of their coordinates, if there is one."""
    found = []
    for number, (name, placed) in enumerate(model.reduced_parts.items()):
        sensors = (s for s in model.sensors if s.kind == "modal" and s.given.get("on") == name)
        sensor = next((s.name for s in sensors if s.given.get("mode") is None), "")
        file = "" if placed.part.recovery is None else part_file(number)
        found.append(
            {
                "name": name,
                "node": placed.node,
                "file": file,
                "sensor": sensor,
                "modes": len(placed.scalars),
                "start": placed.start,
                "rotation": placed.rotation,
                "centre": placed.centre,
            }
        )
    return found


def _discs(compiled: CompiledModel) -> list[dict[str, Any]]:
    """Return masses with the inertia of a disc, for figures: node, direction of the axis at the start, and radius [m].

    The radius is that of a thin disc with this mass and polar moment, at most half of the model.
    """
    model = compiled.model
    drawn = {body.node for body in model.bodies.values() if len(body.points) > 2}
    found: list[dict[str, Any]] = []
    for block in compiled.system.blocks:
        if block.type.name != "rigid3":
            continue
        mass = block.par[:, block.type.column("mass")]
        xx, yy, zz, xy, yz, zx = (
            block.par[:, block.type.column(f"J{c}")] for c in ("xx", "yy", "zz", "xy", "yz", "zx")
        )
        J = np.stack((xx, xy, zx, xy, yy, yz, zx, yz, zz), axis=1).reshape(-1, 3, 3)
        values, vectors = np.linalg.eigh(J)
        round_ = (values[:, 1] - values[:, 0] <= 1e-6 * values[:, 2]) & (values[:, 2] > 1.2 * values[:, 1])
        for k in np.flatnonzero(round_ & (mass > 0.0))[:_MOST_DISCS]:
            node = int(block.nodes[k, 0])
            if node not in drawn:
                normal = model.building.rotation_matrix(node) @ vectors[k, :, 2]
                radius = min(float(np.sqrt(2.0 * values[k, 2] / mass[k])), 0.5 * compiled.system.length)
                found.append({"node": node, "normal": normal.tolist(), "radius": radius})
    return found


def _masses(compiled: CompiledModel) -> list[dict[str, Any]]:
    """Return point masses, for figures: node, and the place of the mass from it in the axes of the node's body [m]."""
    model = compiled.model
    drawn = {body.node for body in model.bodies.values()} | {disc["node"] for disc in _discs(compiled)}
    found: list[dict[str, Any]] = []
    for block in compiled.system.blocks:
        if block.type.name not in _MASSES:
            continue
        mass = block.par[:, block.type.column("mass")]
        for name, first, last in block.groups:
            if name in model.groups:  # the mass of elements
                continue
            for k in range(first, last):
                node = int(block.nodes[k, 0])
                if mass[k] <= 0.0 or node in drawn or len(found) == _MOST_MASSES:
                    continue
                point = [0.0, 0.0, 0.0]
                if block.type.name == "director_mass3":
                    point = [float(block.par[k, block.type.column(f"M1{i + 1}")]) / float(mass[k]) for i in (1, 2, 3)]
                found.append({"node": node, "point": point})
    return found


def _joint_symbols(compiled: CompiledModel) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return joints, and supports that consist of joints to the ground, for figures: node, and point in its body's
    axes."""
    model, dim = compiled.model, compiled.model.dimension
    joints: dict[str, dict[str, Any]] = {}
    supports = []
    for block in compiled.system.blocks:
        kind = block.type.name
        if not block.type.multipliers or block.type.angular:
            continue
        for name, first, _ in block.groups:
            if name not in model.joints:
                continue
            if kind == f"pulley{dim}":
                continue  # the joints that it couples have symbols
            # (the first end of a sliding joint is its point)
            end = 0 if kind == f"beam_slide{dim}" else int(block.nodes[first].argmax())
            suffix = "_b" if kind == f"beam_slide{dim}" else f"_{'ab'[end]}" if block.type.ends == 2 else ""
            column = [block.type.column(f"a{c}{suffix}") for c in "xyz"[:dim]]
            place = {"name": name, "type": model.joints[name].kind, "node": int(block.nodes[first, end])}
            place["point"] = block.par[first, column].tolist()
            joints.setdefault(name, place)  # one symbol, whatever the joint is made of
            if kind == f"point{dim}" and block.nodes[first].min() < 0:
                supports.append({**place, "components": list("xyz"[:dim])})
            elif kind == f"position{dim}" and block.par[first, block.type.column("function")] < 0.0:
                normal = np.abs(block.par[first, [block.type.column(f"n{c}") for c in "xyz"[:dim]]])
                if normal.max() > 0.999:
                    supports.append({**place, "components": ["xyz"[int(normal.argmax())]]})
    for name, node in compiled.merged_joints:
        if name not in model.joints:
            continue
        joints.setdefault(name, {"name": name, "type": model.joints[name].kind, "node": node, "point": [0.0] * dim})
    return list(joints.values()), supports


def count_model(compiled: CompiledModel) -> ModelCounts:
    """Return the numbers of nodes, unknowns and elements by type, and the solver."""
    system = compiled.system
    return ModelCounts(
        nodes=int(system.nodes.x.shape[0]),
        unknowns=int(system.n_equations),
        multipliers=sum(b.n_multipliers for b in system.blocks),
        elements={b.type.name: b.size for b in system.blocks},
        solver=f"banded (half-bandwidth {system.bandwidth})" if system.banded else "sparse",
    )


def find_group(system, name: str):
    return [(b, first) for b in system.blocks for n, first, _ in b.groups if n == name]
