"""Supports, joints, discs and masses of a compiled model, as entries of a results header."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.analysis.symbols.drawing import told
from fem_mbs.analysis.symbols.kinds import JOINT_GLYPHS
from fem_mbs.model.connections.joints import Joint
from fem_mbs.model.model import CompiledModel
from fem_mbs.system.blocks import GROUND
from fem_mbs.units import unit_of

__all__ = ["disc_entries", "joint_entries", "mass_entries", "support_entries"]

_MASSES = ("mass2", "mass3", "rigid3", "director_mass3")  # types of elements that point masses are
_MOST_MASSES = 200  # in figures
_MOST_DISCS = 200  # told of a kind


def support_entries(compiled: CompiledModel) -> list[dict[str, Any]]:
    """Return the nodes that supports hold, or that shaken ones move: node, components."""
    model, system = compiled.model, compiled.system
    letters = ["x", "y", "z"][: model.dimension]
    supports: dict[int, list[str]] = {}
    bases = {base.name for base in model.building.shakings}
    shaken = [dof for dof, name in zip(system.driven.dofs, system.driven.names, strict=True) if name in bases]
    for dof in [*system.fixed, *shaken]:
        node = int(np.searchsorted(system.offset, dof, side="right") - 1)
        k = int(dof - system.offset[node])
        supports.setdefault(node, []).append(letters[k] if k < model.dimension else "rotation")
    return [{"node": n, "components": c} for n, c in supports.items()]


def disc_entries(compiled: CompiledModel) -> list[dict[str, Any]]:
    """Return masses with the inertia of a disc, for figures: node, direction of the axis at the start, radius [m],
    name, and its values in words.

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
                text = f"{mass[k]:g} {unit_of('kg')}, polar moment {values[k, 2]:g} {unit_of('kg m^2')}"
                entry = {"node": node, "normal": normal.tolist(), "radius": radius}
                found.append({**entry, "name": block.label(int(k)), "text": text})
    return found


def mass_entries(compiled: CompiledModel) -> list[dict[str, Any]]:
    """Return point masses, for figures: node, the place of the mass from it in the axes of the node's body [m], name,
    and its mass in words."""
    model = compiled.model
    drawn = {body.node for body in model.bodies.values()} | {disc["node"] for disc in disc_entries(compiled)}
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
                found.append({"node": node, "point": point, "name": name, "text": f"{mass[k]:g} {unit_of('kg')}"})
    return found


def joint_entries(compiled: CompiledModel) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return joints, and supports that consist of joints to the ground, for figures: node, and point in its body's
    axes; of joints also glyph, axis at the start, values in words, and the other end of a distance (node, and point
    from it in global axes)."""
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
            end, suffix = _place_of(block, first)
            column = [block.type.column(f"a{c}{suffix}") for c in "xyz"[:dim]]
            place = {"name": name, "type": model.joints[name].kind, "node": int(block.nodes[first, end])}
            place["point"] = block.par[first, column].tolist()
            if kind in (f"prismatic_slide{dim}", f"cylindrical_slide{dim}"):
                place["axis"] = _tangent(model, block, first)
            if kind == f"distance{dim}":
                place["other"] = _other_end(model, block, first, end)
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
    said = {item.name: item for item in model.specifications if isinstance(item, Joint)}
    for name, item in said.items():
        if name not in joints:  # it holds angles only, which have no place
            ends = [place for place in (item.b, item.a) if place != "ground"]
            joints[name] = {"name": name, "type": item.kind, "node": model.node_of(ends[0]), "point": [0.0] * dim}
    for name, entry in joints.items():
        entry["glyph"] = JOINT_GLYPHS.get(entry["type"], "ball")
        if name not in said:
            continue
        item = said[name]
        entry["text"] = ", ".join(
            word
            for word in (f"{item.a} - {item.b}", told(item, "kind", "a", "b", "point", "point_b", "axis", "axis_b"))
            if word
        )
        axis = item.axis
        if axis is None and dim == 2 and entry["type"] in ("pin", "spherical", "revolute", "angle"):
            axis = (0.0, 0.0, 1.0)
        if axis is not None:
            entry["axis"] = np.pad(np.asarray(axis, float), (0, 3 - len(axis))).tolist()
    return list(joints.values()), supports


#: Joints with a node that is no place -> the end that slides, whose point is theirs.
_SLIDING = {
    "beam_slide": 0, "prismatic_slide": 0, "cylindrical_slide": 0, "point_on_curve": 1, "curve_on_curve": 1,
}  # fmt: skip


def _place_of(block: Any, row: int) -> tuple[int, str]:
    """Return the end where an element of a joint is drawn, and the suffix of the columns of its point there."""
    if block.type.name[:-1] in _SLIDING:
        return _SLIDING[block.type.name[:-1]], "_b"
    end = int(block.nodes[row].argmax())
    return end, f"_{'ab'[end]}" if block.type.ends == 2 else ""


def _tangent(model: Any, block: Any, row: int) -> list[float]:
    """Return the direction (3,) along its line that a sliding body has at the start."""
    dim, node = block.type.dimension, int(block.nodes[row, 0])
    e = block.par[row, [block.type.column(f"e{dim}{c}_b") for c in "xyz"[:dim]]]
    found: list[float] = np.pad(e if node < 0 else model.building.rotation_matrix(node) @ e, (0, 3 - dim)).tolist()
    return found


def _other_end(model: Any, block: Any, row: int, end: int) -> list[Any]:
    """Return the other end of an element of two ends: node, and point from it in global axes [m]."""
    other = 1 - end
    node = int(block.nodes[row, other])
    dim = model.dimension
    offset = block.par[row, [block.type.column(f"a{c}_{'ab'[other]}") for c in "xyz"[:dim]]]
    if node != GROUND:
        offset = model.building.rotation_matrix(node) @ offset
    return [node, np.pad(offset, (0, 3 - dim)).tolist()]
