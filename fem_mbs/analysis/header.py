"""Describe the model in a results header: names, blocks, supports, joints; and compute its fingerprint."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.analysis.fields import fields_of
from fem_mbs.analysis.recovery.recovered import RecoveredNodes
from fem_mbs.analysis.symbols.compiled import disc_entries, joint_entries, mass_entries, support_entries
from fem_mbs.analysis.symbols.drawing import some, told
from fem_mbs.analysis.symbols.kinds import symbols_in
from fem_mbs.analysis.transient.chunk import ENERGY_COLUMNS
from fem_mbs.files import version
from fem_mbs.model.model import CompiledModel, Model
from fem_mbs.model.parts.bodies import RigidBody
from fem_mbs.results.fields import part_file
from fem_mbs.results.report import ModelCounts
from fem_mbs.units import Units, messages_in

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext

_MOST_OF_SET = 200  # nodes told of a set

__all__ = ["count_model", "find_group", "fingerprint", "make_header"]


def fingerprint(context: RunContext) -> str:
    """Return a text that differs where the results of two models, or of two versions of the program, would differ; of a
    model that processes share out it knows the elements of this one (such runs have no restart points)."""
    compiled, system = context.compiled, context.system
    digest = hashlib.sha256(version().encode())
    for block in system.blocks:
        digest.update(block.type.name.encode())
        # which parts are paired changes in a run
        for array in (block.nodes, block.par) if block.pairing is None else block.pairing.arrays:
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
        context.model.runnings,
        context.model.assembling,
        [replace(e, function=None) for e in context.model.events],
        [[lock.name, lock.locked, lock.value, lock.ready, lock.limit, lock.slip, lock.breaks_at]
         for lock in context.model.building.locks.values()],
        list(context.model.building.breakings.values()),
    ]  # fmt: skip
    digest.update(repr(told).encode())
    for event in context.model.events:
        if event.function is not None:
            digest.update(np.asarray(event.function(np.linspace(0.0, length, 9)), float).tobytes())
    for callback in system.callbacks:
        digest.update(callback.fingerprint())
    return digest.hexdigest()


def make_header(compiled: CompiledModel) -> dict[str, Any]:
    """Return the description of the model for a results folder."""
    with messages_in(compiled.model.shown_units):
        return _header(compiled)


def _header(compiled: CompiledModel) -> dict[str, Any]:
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
    joints, held = joint_entries(compiled)

    def padded(point) -> list[float]:
        return [*np.asarray(point, float).tolist(), *[0.0] * (3 - model.dimension)]

    texts = {s.name: told(s, "position", "visual") for s in model.specifications if isinstance(s, RigidBody)}
    bodies = []
    for body in model.bodies.values():
        R = np.eye(3)
        R[: model.dimension, : model.dimension] = model.building.rotation_matrix(body.node)
        points = [padded(p) for p in body.points]
        entry = {"name": body.name, "node": body.node, "points": points, "rotation": R.tolist()}
        entry["text"] = texts.get(body.name, "")
        entry["visual"] = [{"points": v.points, "triangles": v.triangles, "colour": v.colour} for v in body.visuals]
        bodies.append(entry)
    return {
        "title": model.title,
        "version": version(),
        "dimension": model.dimension,
        "nodes": np.concatenate((model.positions, recovered.x)),
        "node_names": names,
        "blocks": blocks,
        "fields": [*fields.header, *(field for field in recovered.fields if field not in fields.header)],
        "recovered_nodes": len(recovered.x),
        "bodies": bodies,
        "sensors": [s.header for s in compiled.sensors],
        "ledger": list(ENERGY_COLUMNS),
        "supports": support_entries(compiled) + held,
        "joints": joints,
        "discs": disc_entries(compiled),
        "masses": mass_entries(compiled),
        "symbols": [symbol.to_json() for symbol in symbols_in(compiled, joints)],
        "sets": _sets(model),
        "gravity": np.pad(model.gravity, (0, 3 - model.dimension)).tolist(),
        "reduced_parts": _reduced_parts(model),
        "model": count_model(compiled).to_json(),
        "departures": list(model.departures),
        "units": (model.shown_units or Units()).to_json(),
        **_wheel(model),
    }


def _wheel(model: Model) -> dict[str, Any]:
    """Return the number of sectors of the wheel, its axis and a point on this; nothing without cyclic symmetry."""
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


def _sets(model) -> list[dict[str, Any]]:
    """Return the sets of the meshes: name, number of nodes, and some of these."""
    found = []
    for mesh_name, (mesh, first) in model.meshes.items():
        for name in dict.fromkeys((*mesh.node_sets, *mesh.cell_sets, *mesh.facet_sets)):
            nodes = first + mesh.nodes_of(name)
            if len(nodes):
                shown = some(nodes, _MOST_OF_SET)
                found.append({"name": f"{mesh_name}:{name}", "count": len(nodes), "nodes": shown})
    return found


def count_model(compiled: CompiledModel) -> ModelCounts:
    """Return the numbers of nodes, unknowns and elements by type, and the solver."""
    system = compiled.system
    return ModelCounts(
        nodes=int(system.nodes.x.shape[0]),
        unknowns=int(system.n_equations),
        multipliers=sum(b.n_multipliers for b in system.blocks),
        elements={b.type.name: b.count for b in system.blocks},
        solver=f"banded (half-bandwidth {system.bandwidth})" if system.banded else "sparse",
    )


def find_group(system, name: str):
    return [(b, first) for b in system.blocks for n, first, _ in b.groups if n == name]
