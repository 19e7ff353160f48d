"""The whole mesh of reduced parts in the results of a run: fields over time, where stresses peak, results of their own.

A run keeps the coordinates q of every reduced part in its frames (in its series too, where a sensor "modal" looks at
them) and the part itself, with the shapes on its mesh, in a file beside the results.  So everything comes back without
mesh or model:

    x = x_frame + R (c - centre + Phi q),    sigma = R (S q) R^T

with the frame's place x_frame and axes R.  Recovered, a part is a block of cells like others: `recover` writes a folder
of results that figures, animations and ParaView take as they take those of a part that was never reduced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.analysis.fields import COMPONENTS, MISES, STRESS
from fem_mbs.declarations.steps import recorded_kind, step_kinds
from fem_mbs.elements.solids.recovery import von_mises
from fem_mbs.elements.solids.shapes import CELLS
from fem_mbs.errors import ResultsError
from fem_mbs.late import dataclass
from fem_mbs.parts.hdf5 import read_part, write_part
from fem_mbs.parts.part import ReducedPart
from fem_mbs.parts.recovery import (
    HotSpot,
    displacements,
    heated_by,
    hot_spots,
    need_recovery,
    peak_stresses,
    stress_regions,
    stresses,
    turned,
)
from fem_mbs.results.fields import HEAT, MODAL, field_key, is_continuum, part_file, split_key
from fem_mbs.results.folder import take
from fem_mbs.results.modes.shapes import has_shapes
from fem_mbs.results.reader import Results, Step
from fem_mbs.rotations import rotation_matrices
from fem_mbs.threads import analysis

__all__ = ["PlacedResult", "peak_results", "placed_parts", "recover", "stress_peaks", "write_parts"]

_FRAMES = 16  # at a time
_UNSIZED = ("real", "complex")  # shapes without a size of their own


def write_parts(directory: str | Path, model: Any) -> list[Path]:
    """Write those reduced parts of a model that have fields into a results folder."""
    found = []
    for number, placed in enumerate(model.reduced_parts.values()):
        if placed.part.recovery is not None:
            path = Path(directory) / part_file(number)
            take(Path(directory), [path])
            part = heated_by(placed.part, placed.heat)
            found.append(write_part(path, replace(part, name=placed.name)))
    return found


@dataclass(frozen=True)
class PlacedResult:
    """A reduced part in results: ``part`` in coordinates q, ``node`` of its frame, ``place`` (N, 3) [m] of its nodes
    and ``axes`` (3, 3) of the frame at the start, ``arm`` (N, 3) of the nodes from the frame in its axes, ``sensor``
    with its coordinates in every row ("": none)."""

    name: str
    part: ReducedPart
    node: int
    place: np.ndarray
    axes: np.ndarray
    arm: np.ndarray
    sensor: str

    def coordinates(self, step: Step) -> tuple[np.ndarray, np.ndarray]:
        """Return times (m,) [s] and coordinates (m, n) of a step: of every row, or of the frames alone, as where heat
        acts; none of shapes, which have no size."""
        if has_shapes(step):
            return np.zeros(0), np.zeros((0, self.part.size))
        key = f"sensor/{self.sensor}"
        every = self.sensor and not need_recovery(self.part).heat
        if every and key in step.series and recorded_kind(step.type).passes_time:
            return step.series["time"], step.series[key]
        key = f"{self.name}/{MODAL}"
        if key not in step.frames:
            return np.zeros(0), np.zeros((0, self.part.size))
        return step.frame_times, np.asarray(step.frames[key][:]).reshape(-1, self.part.size)

    def levels(self, step: Step, frames: slice = slice(None)) -> dict[str, np.ndarray]:
        """Return factors (m,) on the loads that heat the part in frames of a step, by name."""
        heat = need_recovery(self.part).heat
        if not heat or f"{self.name}/{HEAT}" not in step.frames:
            return {}
        table = np.asarray(step.frames[f"{self.name}/{HEAT}"][frames])
        return dict(zip(heat, table.T, strict=True))

    def positions(self, step: Step, frames: slice, linear: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (m, N, 3) [m] of the nodes and axes (m, 3, 3) of the frame in frames of a step; ``linear``:
        of a step of small motions about the start, linear in them as they are at the nodes of the model."""
        q = np.asarray(step.frames[f"{self.name}/{MODAL}"][frames])
        moved = np.asarray(step.frames["displacement"][frames])[:, self.node]
        turns = np.asarray(step.frames["rotation"][frames])[:, self.node]
        u = np.zeros((len(q), *self.arm.shape))
        u[:, :, : self.part.dimension] = displacements(self.part, q)
        origin = self.place[0] - self.axes @ self.arm[0] + moved
        if linear:
            if recorded_kind(step.type).shapes in _UNSIZED:  # stored are rotations of Cayley vectors: these are linear
                half = 0.5 * np.linalg.norm(turns, axis=1, keepdims=True)
                turns = turns * np.where(half > 0.0, np.tan(half) / np.where(half > 0.0, half, 1.0), 1.0)
            arm = self.arm @ self.axes.T
            x = origin[:, None] + arm + np.cross(turns[:, None], arm) + u @ self.axes.T
            return x, np.repeat(self.axes[None], len(q), axis=0)
        R = rotation_matrices(turns) @ self.axes
        return origin[:, None] + np.einsum("mij,mnj->mni", R, self.arm + u), R


def placed_parts(results: Results) -> list[PlacedResult]:
    """Return the reduced parts of results whose files are there.

    Raises:
        ResultsError: the model has none, or none of them has fields.
    """
    told = results.header.get("reduced_parts", [])
    if not told:
        raise ResultsError(f"{results.where}: its model has no reduced parts")
    found = []
    for entry in told:
        if not entry["file"]:
            continue
        part = read_part(results.folder() / entry["file"])
        dim = part.dimension
        axes = np.eye(3)
        axes[:dim, :dim] = entry["rotation"]
        inside = need_recovery(part).x
        x = np.zeros((len(inside), 3))
        x[:, :dim] = inside
        centre, start = np.zeros(3), np.zeros(3)
        centre[:dim], start[:dim] = entry["centre"], entry["start"]
        found.append(
            PlacedResult(entry["name"], part, int(entry["node"]), start + x @ axes.T, axes, x - centre, entry["sensor"])
        )
    if not found:
        raise ResultsError(
            f"{results.where}: none of its reduced parts holds fields of its mesh; reduce them "
            "with recovery and run again"
        )
    return found


@analysis()
def stress_peaks(results: Results, count: int = 10, apart: float | None = None) -> list[tuple[Step, HotSpot]]:
    """Return where, when and in which step the von Mises stress of reduced parts is largest, the largest first.

    Args:
        count: number of places per part and step at most, and of all together.
        apart: least distance of two places of a part [m]; None: a twentieth of its size.

    Raises:
        ResultsError, ModelError: no reduced part has stresses.
    """
    found: list[tuple[Step, HotSpot]] = []
    for placed in _stressed(results):
        for step in _sized(results):
            t, q = placed.coordinates(step)
            if len(t):
                levels = placed.levels(step)
                spots = hot_spots(placed.part, t, q, count, apart, placed.name, levels)
                found += [(step, spot) for spot in spots]
    found.sort(key=lambda entry: -entry[1].mises)
    return found[:count]


def _sized(results: Results) -> list[Step]:
    """Return steps whose displacements have a size: shapes of modes and of buckling have none, and no stresses to
    compare.

    Raises:
        ResultsError: there are only shapes.
    """
    steps = [step for step in results.steps if recorded_kind(step.type).shapes not in _UNSIZED]
    if results.steps and not steps:
        raise ResultsError(
            f"{results.where}: it holds only shapes, whose size and stresses mean nothing; add a "
            "step of statics or a transient"
        )
    return steps


def _stressed(results: Results) -> list[PlacedResult]:
    parts = [placed for placed in placed_parts(results) if need_recovery(placed.part).stress is not None]
    if not parts:
        raise ResultsError(
            f"{results.where}: none of its reduced parts holds stresses; reduce them with "
            'recovery = "stress" (fem-mbs reduce --stress, in a model file stress = true) and run again'
        )
    return parts


# --- results of their own --------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Mesh:
    """A part among the nodes of the new results: the first of its nodes, and rows of its stresses with their nodes, by
    region."""

    placed: PlacedResult
    first: int
    regions: dict[int, tuple[slice, np.ndarray]]


def _meshes(parts: list[PlacedResult], first: int, region: int) -> tuple[list[_Mesh], list[dict[str, Any]]]:
    """Return parts among nodes that begin at ``first``, and their blocks, with regions from ``region`` on.

    Regions of different parts share no node, so that the first of each part may have one number.
    """
    meshes, blocks = [], []
    for placed in parts:
        recovery = need_recovery(placed.part)
        own: dict[int, tuple[slice, np.ndarray]] = {}
        for k, (rows, nodes) in enumerate(stress_regions(recovery)):
            own[region + k] = (rows, first + nodes)
        for k, (cell, nodes) in enumerate(recovery.cells):
            block = {
                "name": placed.name if len(recovery.cells) == 1 else f"{placed.name} {cell} {k + 1}",
                "type": "reduced",
                "connectivity": first + np.asarray(nodes),
                "group": placed.name,
            }
            if cell in CELLS and CELLS[cell][0] > 1:
                inside = [r for r, (_, members) in own.items() if np.isin(block["connectivity"], members).all()]
                block |= {"cell": cell, "region": inside[0] if inside else region}
            blocks.append(block)
        meshes.append(_Mesh(placed, first, own))
        first += len(recovery.x)
    return meshes, blocks


def _head(results: Results, parts: list[PlacedResult]) -> tuple[dict[str, Any], list[_Mesh]]:
    """Return the header of results with the meshes of parts added, and the meshes."""
    old = results.header
    n = _own_nodes(results)
    fields = [dict(field) for field in old["fields"]]
    # (small meshes are in the run's own results already)
    kept = [block for block in old["blocks"] if not str(block["type"]).startswith("reduced ")]
    region = 1 + max((int(block.get("region") or 0) for block in kept if is_continuum(block)), default=-1)
    meshes, blocks = _meshes(parts, n, region)
    if any(mesh.regions for mesh in meshes) and not any(field["name"] == STRESS for field in fields):
        fields += [{"name": STRESS, "components": list(COMPONENTS)}, {"name": MISES, "components": [""]}]
    names = dict(old["node_names"])
    for mesh in meshes:
        names |= {f"{mesh.placed.name}:{i.name} mesh": mesh.first + int(i.nodes[0])
                  for i in mesh.placed.part.interfaces if len(i.nodes) == 1}  # fmt: skip
    kept_keys = ("title", "version", "dimension", "units", "bodies", "supports", "joints", "discs", "masses", "symbols")
    header = {key: old[key] for key in kept_keys if key in old}
    header |= {
        "nodes": np.concatenate((old["nodes"][:n], *(placed.place for placed in parts))),
        "blocks": [*kept, *blocks],
        "fields": fields,
        "node_names": names,
    }
    return header, meshes


def _own_nodes(results: Results) -> int:
    """Return the number of nodes without those of the small meshes that a run's results show."""
    return len(results.header["nodes"]) - int(results.header.get("recovered_nodes", 0))


@analysis()
def recover(results: Results, directory: str | Path | None = None, overwrite: bool = False) -> Results:
    """Write results with the whole mesh of every reduced part: a folder with the frames of all steps, read by
    everything that reads results.

    Args:
        directory: folder to write; None: that of the results with "-recovered" after it.
        overwrite: take a folder of other results, or one with other files in it, too.

    Raises:
        ResultsError: no reduced part with fields of its mesh, no frames, or a folder that belongs to others.
    """
    from fem_mbs.results.writer import ResultsWriter

    target = _beside(results, "recovered") if directory is None else Path(directory)
    header, meshes = _head(results, placed_parts(results))
    steps = [step for step in results.steps if len(step.frame_times)]
    if not steps:
        raise ResultsError(f"{results.where}: no frames to recover; store some during the run")
    writer = ResultsWriter(target, header, source=results.directory, overwrite=overwrite)
    try:
        for step in steps:
            writer.begin_step(step.name, step.type, step.info)
            for frames in _chunks(len(step.frame_times)):
                columns = _recovered(results, step, frames, meshes, len(header["nodes"]))
                writer.append({"time": columns["time"]}, columns)
            writer.end_step(step.summary)
        writer.close()
    except BaseException as error:
        writer.fail(str(error) or type(error).__name__)
        raise
    return Results.open(target)


def _beside(results: Results, word: str) -> Path:
    folder = results.folder().resolve()
    return folder.with_name(f"{folder.name}-{word}")


def _chunks(count: int) -> Iterator[slice]:
    for first in range(0, count, _FRAMES):
        yield slice(first, min(first + _FRAMES, count))


def _about_start(results: Results, step: Step) -> bool:
    """Return whether a step is of small motions about the start: no step before it has moved the model far."""
    before = results.steps[: [s is step for s in results.steps].index(True) + 1]
    return all(recorded_kind(s.type).linear or s.linear for s in before)


def _recovered(results: Results, step: Step, frames: slice, meshes: list[_Mesh], size: int) -> dict[str, np.ndarray]:
    """Return columns of frames of a step, of the old nodes and the new ones."""
    before, n = len(results.header["nodes"]), _own_nodes(results)
    columns: dict[str, np.ndarray] = {}
    m = frames.stop - frames.start
    fields = {field["name"] for field in results.header["fields"]}
    for name in step.frames:
        values = np.asarray(step.frames[name][frames])
        field, _ = split_key(name)
        if values.ndim > 1 and values.shape[1] == before and "/" not in field:
            whole = np.full((m, size, *values.shape[2:]), np.nan if field in fields else 0.0, values.dtype)
            whole[:, :n] = values[:, :n]
            values = whole
        columns[name] = values
    for mesh in meshes:
        placed = mesh.placed
        if f"{placed.name}/{MODAL}" not in step.frames:
            continue
        own = slice(mesh.first, mesh.first + len(placed.arm))
        x, R = placed.positions(step, frames, _about_start(results, step))
        columns["displacement"][:, own] = x - placed.place
        columns["rotation"][:, own] = columns["rotation"][:, [placed.node]]
        if not mesh.regions:
            continue
        q = np.asarray(step.frames[f"{placed.name}/{MODAL}"][frames])
        increments = bool(step.info.get("increments"))
        stress = turned(stresses(placed.part, q, placed.levels(step, frames), increments), R)
        for region, (rows, nodes) in mesh.regions.items():
            tensor, mises = field_key(STRESS, region), field_key(MISES, region)
            if tensor not in columns:
                columns[tensor] = np.full((m, size, 6), np.nan, np.float32)
                columns[mises] = np.full((m, size), np.nan, np.float32)
            columns[tensor][:, nodes] = stress[:, rows]
            columns[mises][:, nodes] = von_mises(stress[:, rows])
    return columns


@analysis()
def peak_results(results: Results, directory: str | Path) -> Results:
    """Write results of one frame in which every place of the parts has the largest von Mises stress that it sees in any
    step: what figures of peaks are made of.

    Raises:
        ResultsError: no reduced part has stresses, or no step has their coordinates.
    """
    from fem_mbs.results.writer import ResultsWriter

    parts = _stressed(results)
    meshes, blocks = _meshes(parts, 0, 0)
    size = sum(len(placed.arm) for placed in parts)
    old = results.header
    header = {
        "title": f"{old['title']}: largest over time".removeprefix(": "),
        "version": old["version"],
        "dimension": old["dimension"],
        "nodes": np.concatenate([placed.place for placed in parts]),
        "blocks": blocks,
        "fields": [{"name": MISES, "components": [""]}],
        **({"units": old["units"]} if "units" in old else {}),
    }
    columns = {"displacement": np.zeros((1, size, 3)), "time": np.zeros(1), "rotation": np.zeros((1, size, 3))}
    seen = False
    for mesh in meshes:
        for step in _sized(results):
            _, q = mesh.placed.coordinates(step)
            if not len(q):
                continue
            seen = True
            mises = peak_stresses(mesh.placed.part, q, mesh.placed.levels(step)).mises
            for region, (rows, nodes) in mesh.regions.items():
                target = columns.setdefault(field_key(MISES, region), np.full((1, size), np.nan, np.float32))
                target[0, nodes] = np.fmax(target[0, nodes], mises[rows])
    if not seen:
        raise ResultsError(f"{results.where}: no step has coordinates of a reduced part")
    writer = ResultsWriter(directory, header)
    at_rest = next(kind.name for kind in step_kinds().values() if kind.path)
    writer.begin_step("largest stress over time", at_rest)
    writer.append({"time": columns["time"]}, columns)
    writer.end_step({})
    writer.close({})
    return Results.open(directory)
