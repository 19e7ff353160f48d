"""VTU files of a result, for ParaView and other programs: a folder of frames with an index (.pvd) per step.

A step of modes or buckling becomes one file, with every shape as a displacement field of its own name.  Points that
parts share are written once per region (`fem_mbs.results.fields`), so that stresses may jump there; the point data
"node" is the node number in the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from fem_mbs.declarations.steps import recorded_kind
from fem_mbs.errors import ResultsError
from fem_mbs.files import file_word
from fem_mbs.meshes.formats.vtu import write_vtu
from fem_mbs.results import store
from fem_mbs.results.fields import cell_kind, field_key, is_nodal, owner_of, split_key
from fem_mbs.results.modes.shapes import has_shapes
from fem_mbs.results.reader import Results, Step
from fem_mbs.units import Units

__all__ = ["write_vtu_files"]

FOLDER = "vtu"


class _Grid:
    """Points and cells of a model in VTU's form: blocks ordered by region, polylines cut into lines."""

    def __init__(self, header: dict[str, Any]) -> None:
        n = len(header["nodes"])
        self.blocks = [block for block in header["blocks"] if len(block["connectivity"])]
        if len(header["body_nodes"]):
            self.blocks.append({"name": "bodies", "connectivity": header["body_nodes"]})
        if not self.blocks:
            raise ResultsError("VTU: the model has neither elements nor bodies to write")
        self.region_of = [int(block.get("region") or 0) for block in self.blocks]
        self.regions = sorted(set(self.region_of))
        nodes, number = [], {}
        count = 0
        for region in self.regions:
            used = np.zeros(n, bool)
            for block, own in zip(self.blocks, self.region_of, strict=True):
                if own == region:
                    used[block["connectivity"]] = True
            where = np.flatnonzero(used)
            number[region] = np.full(n, -1)
            number[region][where] = count + np.arange(len(where))
            count += len(where)
            nodes.append(where)
        self.nodes = np.concatenate(nodes)  # (points,) node of each point
        self.slices = dict(
            zip(self.regions, np.split(np.arange(count), np.cumsum([len(w) for w in nodes])[:-1]), strict=True)
        )
        self.points = header["nodes"][self.nodes]
        self.cells: list[tuple[str, np.ndarray]] = []
        self.pieces: list[int] = []  # cells that an element becomes
        for block, region in zip(self.blocks, self.region_of, strict=True):
            own = number[region][block["connectivity"]]
            kind = cell_kind(block)
            self.pieces.append(own.shape[1] - 1 if kind == "polyline" else 1)
            if kind == "polyline":
                pairs = np.stack([own[:, :-1], own[:, 1:]], axis=2).reshape(-1, 2)
                self.cells.append(("line", pairs))
            else:
                self.cells.append((kind, own))

    def cell_values(self, name: str, values: np.ndarray) -> list[np.ndarray]:
        """Return values (n_el, ...) of the block called `name` as one array per block, NaN in all others."""
        tail = values.shape[1:]
        return [
            np.repeat(values, pieces, axis=0) if block["name"] == name else np.full((len(cells), *tail), np.nan)
            for block, pieces, (_, cells) in zip(self.blocks, self.pieces, self.cells, strict=True)
        ]


def _shape_name(step: Step, frame: int, base: Units) -> str:
    report = step.report
    hertz = f"mode {{}}: {{:.6g}} {base.of('Hz').unit}"
    for name, text in (("frequencies_hz", hertz), ("load_factors", "shape {}: factor {:.6g}")):
        values = getattr(report, name, None) or []
        if frame < len(values):
            return text.format(frame + 1, values[frame])
    if recorded_kind(step.type).shapes == "vibration":
        return f"shape {frame + 1}: {step.frame_times[frame]:.6g} {base.of('Hz').unit}"
    return f"shape {frame + 1}"


def _point_fields(results: Results, step: Step, frame: int, grid: _Grid) -> Iterator[tuple[str, np.ndarray]]:
    """Yield names and values (points, ...) of the nodal fields of a frame."""
    n = len(results.header["nodes"])
    fields = {field["name"] for field in results.header["fields"]}
    for key in step.frames:
        name, region = split_key(key)
        if not (name in fields and region == 0) and (name != key or not is_nodal(key, step.frames[key].shape, n)):
            continue
        values = np.asarray(step.frames[key][frame])
        if name not in fields:
            yield name, values[grid.nodes]
            continue
        joined = np.full((len(grid.nodes), *values.shape[1:]), np.nan, values.dtype)
        for number, points in grid.slices.items():
            own = field_key(name, number)
            if own in step.frames:
                joined[points] = np.asarray(step.frames[own][frame])[grid.nodes[points]]
        yield name, joined


def _cell_fields(step: Step, frame: int, grid: _Grid) -> Iterator[tuple[str, list[np.ndarray]]]:
    sizes = {block["name"]: len(block["connectivity"]) for block in grid.blocks}
    for key in step.frames:
        owner, shape = owner_of(key, sizes), step.frames[key].shape[1:]
        if owner is not None and shape[:1] == (sizes[owner],) and len(shape) <= 2:
            yield key, grid.cell_values(owner, np.asarray(step.frames[key][frame], float))


def write_vtu_files(results: Results, directory: str | Path | None = None) -> list[Path]:
    """Write the frames of all steps as VTU files into a folder, by default "vtu" beside the results.

    Every frame is a file, ``<step>-<name>-<frame>.vtu``, and ``<step>-<name>.pvd`` lists them with their times; a step
    of modes or buckling is one file.  Points have "displacement", "node" and whatever else the frames hold; "Warp By
    Vector" shows the motion.

    Raises:
        ResultsError: no step has frames, or the model has nothing to show.
    """
    folder = Path(directory) if directory is not None else results.folder() / FOLDER
    grid, base = _Grid(results.header), results.units.told(base=True)
    node = {"node": grid.nodes}
    paths: list[Path] = []
    folder.mkdir(parents=True, exist_ok=True)
    for step in results.steps:
        count = len(step.frame_times)
        if not count:
            continue
        label = f"{step.number + 1}-" + file_word(step.name)
        if has_shapes(step):
            shapes = {}
            # an imaginary part is the displacement a quarter of a period before
            wanted = {"displacement imaginary", *(field["name"] for field in results.header["fields"])}
            for frame in range(count):
                for name, values in _point_fields(results, step, frame, grid):
                    if name == "displacement" or name in wanted:
                        title = _shape_name(step, frame, base)
                        text = name.removeprefix("displacement ")
                        shapes[title if name == "displacement" else f"{title}, {base.label(text)}"] = values
                    elif name == "state displacement" and frame == 0:
                        shapes[name] = values
            results.take(folder / f"{label}.vtu")
            paths.append(write_vtu(folder / f"{label}.vtu", grid.points, grid.cells, {**node, **shapes}, {}))
            continue
        entries = []
        files = [folder / f"{label}-{frame:05d}.vtu" for frame in range(count)]
        results.take(*files, folder / f"{label}.pvd")
        for frame, (time, path) in enumerate(zip(step.frame_times, files, strict=True)):
            points = {**node, **{base.label(key): v for key, v in _point_fields(results, step, frame, grid)}}
            cells = {base.label(key): v for key, v in _cell_fields(step, frame, grid)}
            write_vtu(path, grid.points, grid.cells, points, cells)
            entries.append(f'  <DataSet timestep="{float(time)!r}" file={quoteattr(path.name)}/>\n')
            paths.append(path)
        index = folder / f"{label}.pvd"
        head = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n <Collection>\n'
        store.write_atomic(index, iter([head, *entries, " </Collection>\n</VTKFile>\n"]))
        paths.append(index)
    if not paths:
        raise ResultsError(f"{results.where}: no frames to write as VTU: store some during the run")
    return paths
