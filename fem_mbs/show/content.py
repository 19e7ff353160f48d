"""The content of a page: a model and the frames of its steps as values of JSON, which `viewer.js` reads.

Positions, displacements and rotations are arrays of 4-byte numbers in base64.  Only nodes that are drawn are in them.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np

from fem_mbs.analysis.symbols.drawing import some
from fem_mbs.analysis.symbols.symbol import LAYERS
from fem_mbs.declarations.steps import recorded_kind
from fem_mbs.errors import ResultsError
from fem_mbs.plot.glyphs import COLOURS, GLYPHS
from fem_mbs.plot.marks import marks_of
from fem_mbs.plot.model import rigid_shapes, shape_title
from fem_mbs.plot.scene import NodalQuantity, Scene, find_quantity, quantity_names, time_label
from fem_mbs.plot.style import MAP, SIGNED_MAP, colour_table
from fem_mbs.results.fields import is_continuum
from fem_mbs.results.modes.shapes import has_shapes
from fem_mbs.results.reader import Results
from fem_mbs.units import split_unit

__all__ = ["frame_title", "page_content", "scenes_of"]

_MOST_FRAMES = 400  # of a step
_ROOM = 24e6  # bytes of motions and of fields in a page, each
_MOST_SUPPORTS = 40  # drawn at full size ...
_SUPPORTS = 400  # ... and at all
_PIECES = 8  # straight pieces of a beam
_SECONDS = 8.0  # a step plays as long as it lasts, within these bounds
_SHORTEST = 1.0


def _packed(values: Any, kind: str) -> dict[str, str]:
    """Return an array as bytes in base64; kind: "f4", "f8" or "i4"."""
    return {"type": kind, "data": b64encode(np.ascontiguousarray(values, f"<{kind}").tobytes()).decode()}


def page_content(results: Results, step: int | None = None) -> dict[str, Any]:
    """Return the content of the page of results.

    Args:
        results: of a run, or a model at its start.
        step: number of the only step that is shown, from 0; None: all with frames.

    Raises:
        ResultsError: no step has frames with displacements, or that step does not exist.
    """
    return _Page(results, scenes_of(results, step)).content()


def scenes_of(results: Results, step: int | None = None) -> list[Scene]:
    """Return the drawn content of the steps that have frames, or of one; arguments and errors as `page_content`."""
    chosen = results.steps if step is None else [results.step_at(step)]
    chosen = [item for item in chosen if "displacement" in item.frames and len(item.frame_times)]
    if not chosen:
        raise ResultsError(
            f"{results.where}: no frames with displacements; steps of modes keep them, steps in time and statics with "
            "frames = n"
        )
    return [Scene(results, item) for item in chosen]


class _Page:
    """The content of one page while it is made: the nodes that are drawn, and what is left out."""

    def __init__(self, results: Results, scenes: list[Scene]) -> None:
        self.results, self.header, self.scenes = results, results.header, scenes
        self.scene = scenes[0]
        self.notes: list[str] = list(marks_of(results))
        skin = self.scene.skin
        self.triangles, self.regions, self.blocks = (
            skin.triangles() if skin is not None else (np.empty((0, 3), int), np.empty(0, int), np.empty(0, int))
        )
        symbols = [node for symbol in self.scene.symbols for node, _ in symbol.ends if node >= 0]
        symbols += [node for symbol in self.scene.symbols for node in symbol.face]
        bodies = [int(item["node"]) for item in (*self.scene.bodies, *self.scene.discs)]
        sets = [np.asarray(item["nodes"], int) for item in self.header.get("sets", [])]
        lines = [block["connectivity"].ravel() for block in self._line_blocks()]
        names = [int(node) for node in self.header["node_names"].values()]
        shown = [self.triangles.ravel(), np.array([*symbols, *bodies, *names], int), *lines, *sets]
        self.nodes = np.unique(np.concatenate(shown))
        if not len(self.nodes):
            self.nodes = np.arange(len(self.header["nodes"]))
        self.place = np.full(len(self.header["nodes"]), -1)
        self.place[self.nodes] = np.arange(len(self.nodes))
        beams = [block["connectivity"].ravel() for block in self._line_blocks() if _is_beam(block)]
        self.turning = np.unique(np.concatenate([np.array([*symbols, *bodies], int), *beams]))
        x = self.header["nodes"][self.nodes]
        self.origin = (x.min(axis=0) + x.max(axis=0)) / 2.0

    def _line_blocks(self) -> list[dict[str, Any]]:
        return [block for block in self.header["blocks"] if not is_continuum(block) and len(block["connectivity"])]

    def content(self) -> dict[str, Any]:
        """Return all of the page."""
        header, scene = self.header, self.scene
        low, high = scene.extent([None])  # type: ignore[list-item]
        steps = [self._step(item) for item in self.scenes]
        symbols = self._symbols()
        moving = [k for k, item in enumerate(self.scenes) if recorded_kind(item.step.type).passes_time]
        length = self.results.units.of("m")
        gravity = [float(v) for v in header.get("gravity", (0.0, 0.0, 0.0))]
        return {
            "title": header["title"] or "Model",
            "told": self._told(),
            "flat": scene.flat,
            "origin": self.origin.tolist(),
            "middle": ((low + high) / 2.0 - self.origin).tolist(),
            "size": float(np.max(high - low)) or 1.0,
            "gravity": gravity if any(gravity) else None,
            "length": {"unit": length.unit, "factor": length.factor},
            "nodes": {
                "x": _packed(header["nodes"][self.nodes] - self.origin, "f4"),
                "number": _packed(self.nodes, "i4"),
                "turning": _packed(self.place[self.turning], "i4"),
            },
            "names": [[name, int(self.place[int(node)])] for name, node in header["node_names"].items()],
            "sets": [
                {**item, "nodes": self.place[np.asarray(item["nodes"], int)].tolist()}
                for item in header.get("sets", [])
            ],
            "lines": [self._line(block) for block in self._line_blocks()],
            "surface": self._surface(),
            "bodies": [self._body(body) for body in scene.bodies],
            "discs": self._discs(),
            "meshes": self._meshes(),
            "symbols": symbols,
            "glyphs": {name: asdict(glyph) for name, glyph in GLYPHS.items()},
            "layers": LAYERS,
            "colours": COLOURS,
            "maps": {"plain": colour_table(MAP), "signed": colour_table(SIGNED_MAP)},
            "steps": steps,
            "first": moving[-1] if moving else 0,
            "notes": self.notes,
        }

    def _told(self) -> str:
        """Return a summary of the model in one sentence."""
        elements = sum(len(block["connectivity"]) for block in self.header["blocks"])
        counts = (
            (len(self.header["nodes"]), "nodes"),
            (elements, "elements"),
            (len(self.scene.bodies), "rigid bodies"),
        )
        return ", ".join(f"{count} {what}" for count, what in counts if count)

    # ------------------------------------------------------------------------------------------ the model

    def _line(self, block: dict[str, Any]) -> dict[str, Any]:
        cells = block["connectivity"]
        k = cells.shape[1]
        middle_last = k == 3 and block.get("cell", "line3") == "line3"
        return {
            "name": block["name"],
            "type": str(block["type"]),
            "k": k,
            "order": [0, 2, 1] if middle_last else list(range(k)),
            "beam": _is_beam(block),
            "pieces": _PIECES if len(cells) <= 2000 else 1,
            "cells": _packed(self.place[cells], "i4"),
        }

    def _surface(self) -> dict[str, Any] | None:
        skin = self.scene.skin
        if skin is None or not len(self.triangles):
            return None
        edges = self.scene.skin.edges  # type: ignore[union-attr]
        whole = np.where(edges[:, 2:] < 0, edges[:, [0, 1, 1, 1]], edges[:, [0, 2, 2, 1]]).reshape(-1, 2)
        keep = whole[:, 0] != whole[:, 1]
        sharp = np.repeat(skin.sharp, 2)[keep]
        used, part = np.unique(self.blocks, return_inverse=True)
        names = [self.header["blocks"][number] for number in used]
        return {
            "vertices": _packed(self.place[self._vertices[0]], "i4"),
            "triangles": _packed(self._vertices[2], "i4"),
            "part": _packed(part, "i4"),
            "names": [f"{block.get('group') or block['name']} ({block['type']})" for block in names],
            "edges": _packed(self.place[whole[keep]], "i4"),
            "sharp": _packed(sharp, "i4"),
        }

    @cached_property
    def _vertices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.scene.skin.vertices()  # type: ignore[union-attr]

    def _body(self, body: dict[str, Any]) -> dict[str, Any]:
        R = np.asarray(body.get("rotation", np.eye(3)), float)
        points = np.asarray(body.get("points") or np.empty((0, 3)), float).reshape(-1, 3) @ R.T
        return {
            "name": body["name"],
            "node": int(self.place[int(body["node"])]),
            "points": points.tolist(),
            "axes": R.ravel().tolist(),
            "text": body.get("text", ""),
            "mesh": bool(body.get("visual")),
        }

    def _discs(self) -> list[dict[str, Any]]:
        rings = self.scene.rings(None)
        centres = self.scene.state(None)[0]
        found = []
        for disc, ring in zip(self.scene.discs, rings, strict=True):
            node = int(disc["node"])
            told = {"name": disc.get("name", ""), "text": disc.get("text", "")}
            found.append({**told, "node": int(self.place[node]), "ring": (ring - centres[node]).tolist()})
        return found

    def _meshes(self) -> list[dict[str, Any]]:
        """Return the shapes of bodies: vertices from their node, in global axes of the start."""
        return [
            {
                "name": body["name"],
                "node": int(self.place[int(body["node"])]),
                "colour": shape["colour"],
                "vertices": _packed(np.asarray(shape["points"], float) @ np.asarray(body["rotation"], float).T, "f4"),
                "triangles": _packed(shape["triangles"], "i4"),
            }
            for body in self.scene.bodies
            for shape in body.get("visual") or []
        ]

    def _symbols(self) -> list[dict[str, Any]]:
        """Return the symbols, with nodes as numbers of this page; many supports are small, of very many some."""
        supports = [symbol for symbol in self.scene.symbols if symbol.layer == "supports"]
        shown = some(supports, _SUPPORTS)
        if len(shown) < len(supports):
            self.notes.append(f"{len(shown)} of {len(supports)} supported nodes are marked")
        found = []
        for symbol in [*shown, *(symbol for symbol in self.scene.symbols if symbol.layer != "supports")]:
            entry = symbol.to_json()
            entry["ends"] = [[-1 if node < 0 else int(self.place[node]), list(offset)] for node, offset in symbol.ends]
            entry["face"] = [int(self.place[node]) for node in symbol.face]
            if symbol.layer == "supports" and len(supports) > _MOST_SUPPORTS:
                entry["glyph"] = "held"
            found.append(entry)
        return found

    # ------------------------------------------------------------------------------------------ steps

    def _step(self, scene: Scene) -> dict[str, Any]:
        step, shapes = scene.step, has_shapes(scene.step)
        swings = shapes or recorded_kind(step.type).shapes == "vibration"
        numbers = 3 * (len(self.nodes) + (len(self.turning) if "rotation" in step.frames else 0))
        numbers *= 2 if scene.complex else 1
        most = int(np.clip(_ROOM / len(self.scenes) / (4.0 * max(numbers, 1)), 1, _MOST_FRAMES))
        frames = np.unique(np.linspace(0, scene.frames - 1, min(scene.frames, most)).round().astype(int)).tolist()
        if len(frames) < scene.frames:
            self.notes.append(f'step "{step.name}": {len(frames)} of {scene.frames} frames')
        moved = [scene.moved(frame) for frame in frames]
        u = np.array([part[0][self.nodes] for part in moved])
        found: dict[str, Any] = {"u": _packed(u, "f4")}
        if moved[0][1] is not None:
            found["turn"] = _packed([part[1][self.turning] for part in moved], "f4")  # type: ignore[index]
        size = (u**2).sum(axis=2)
        if scene.complex:
            imaginary = [scene.moved(frame, -0.5 * np.pi) for frame in frames]
            u2 = np.array([part[0][self.nodes] for part in imaginary])
            size = size + (u2**2).sum(axis=2)
            found["u_imaginary"] = _packed(u2, "f4")
            if imaginary[0][1] is not None:
                found["turn_imaginary"] = _packed([part[1][self.turning] for part in imaginary], "f4")  # type: ignore[index]
        if scene.about is not None:
            found["rest"] = _packed(scene.about[0][self.nodes], "f4")
            found["rest_turn"] = _packed(scene.about[1][self.turning], "f4")
        largest = np.sqrt(size.max(axis=1, initial=0.0))
        if not swings:
            largest[:] = largest.max(initial=0.0)
        times = np.asarray(scene.times, float)[frames]
        rigid = next((k for k, frame in enumerate(frames) if frame >= rigid_shapes(step)), 0) if shapes else 0
        still = not largest.max(initial=0.0) > 0.0
        fields, field = self._fields(scene, frames, still)
        path = recorded_kind(step.type).path
        return found | {
            "label": f"{step.name} ({step.type})" if len(self.scenes) > 1 or not still else step.name,
            "name": step.name,
            "kind": step.type,
            "shapes": swings,
            "moves": not still,
            "times": _packed(times, "f8"),
            "titles": [frame_title(scene, frame) for frame in frames],
            "even": path or swings,
            "seconds": float(np.clip(np.ptp(times), _SHORTEST, _SECONDS)) if not path else 4.0,
            "largest": largest.tolist(),
            "first": len(frames) - 1 if path else rigid,
            "scale": scene.visible_scale(frames) if scene.skin is not None and not swings else 1.0,
            "fields": fields,
            "field": field,
        }

    def _fields(self, scene: Scene, frames: list[int], still: bool) -> tuple[list[dict[str, Any]], int]:
        """Return the fields of a step with as many frames as there is room for, and the number of the first one shown:
        -1 for none, -2 for the displacement."""
        if still:
            return [], -1
        results, step = self.results, scene.step
        first = find_quantity(results, step, None)
        names = [name for name in quantity_names(results, step) if name != "displacement"]
        found: list[dict[str, Any]] = []
        room = _ROOM / len(self.scenes)
        left_out = []
        for name in dict.fromkeys(names):
            quantity = find_quantity(results, step, name)
            entry = self._field(quantity, frames)
            room -= sum(len(part["data"]) for part in [entry["surface"], *entry["lines"].values()] if part)
            if room < 0.0:
                left_out.append(name)
                continue
            found.append(entry)
        if left_out:
            self.notes.append(f'step "{step.name}": no room for {", ".join(left_out)}')
        if first is None or (isinstance(first, NodalQuantity) and first.label.startswith("Displacement")):
            return found, -2 if scene.skin is not None else -1
        labels = [entry["label"] for entry in found]
        label = None if first is None else results.units.label(first.label)
        return found, labels.index(label) if label in labels else -1

    def _field(self, quantity: Any, frames: list[int]) -> dict[str, Any]:
        """Return a field: values at the vertices of the surface, or at both ends of line elements, frame by frame."""
        surface, lines = None, {}
        label, factor = self.results.units.column(quantity.label)
        if isinstance(quantity, NodalQuantity):
            nodes, regions, _ = self._vertices
            values = np.full((len(frames), len(nodes)), np.nan)
            for k, frame in enumerate(frames):
                for region, found in quantity.at_nodes(frame).items():
                    values[k, regions == region] = found[nodes[regions == region]]
            surface = _packed(factor * values, "f4")
        else:
            for block in self._line_blocks():
                if block["name"] in quantity.blocks:
                    cells = len(block["connectivity"])
                    ends = [quantity.ends(block["name"], frame, cells) for frame in frames]
                    lines[block["name"]] = _packed(factor * np.asarray(ends), "f4")
        low, high = quantity.range
        return {
            "label": label, "range": [factor * float(low), factor * float(high)], "signed": bool(quantity.signed),
            "surface": surface, "lines": lines,
        }  # fmt: skip


def _is_beam(block: dict[str, Any]) -> bool:
    """Return whether the nodes of a block's elements say how they are curved."""
    return block["connectivity"].shape[1] == 2 and "beam" in str(block["type"]).lower()


def frame_title(scene: Scene, frame: int) -> str:
    """Return the title of a frame: its time or load factor, or the number and frequency of a shape."""
    step = scene.step
    if has_shapes(step) or recorded_kind(step.type).shapes == "vibration":
        return shape_title(step, frame, scene.results.units)
    text, unit = split_unit(time_label(step))
    shown = scene.results.units.of(unit)
    return f"{text} {shown(float(scene.times[frame])):.5g} {shown.unit.replace('-', '')}".strip()
