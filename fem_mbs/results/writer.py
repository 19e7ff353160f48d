"""Write results during a run: rows go to closed segment files, which are joined to one file at the end."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from fem_mbs.errors import DiskFullError, ResultsError
from fem_mbs.late import dataclass
from fem_mbs.records import json_value
from fem_mbs.results import store
from fem_mbs.results.datasets import write_columns
from fem_mbs.results.export.xdmf import write_xdmf
from fem_mbs.results.fields import check_cell
from fem_mbs.results.folder import Folder, adopt, claim
from fem_mbs.results.report import Summary

__all__ = ["ResultsWriter", "check_header", "clear", "finish"]

# What a run writes in any case; these stand in the mark of its folder before the first of them is written.
_FIXED = (store.RESULT, store.RESULT + store.PART, store.XDMF, store.SUMMARY)
_SEGMENTS = (store.SEGMENTS, store.SEGMENTS_NEW)

# Restart points that are not to be kept are written this far apart, so that they take less than a hundredth of a run.
_SPARE_SECONDS = 5.0
_SPARE_SHARE = 0.01  # of the time that the run has taken


@dataclass(frozen=True)
class _Point:
    """A restart point, and the numbers of rows and frames of its step before it."""

    rows: int
    frames: int
    state: dict[str, Any]
    keep: bool


def _check_segments(directory: Path) -> None:
    """Raise ResultsError if the segments folders hold files that no run has written."""
    folders = [directory / name for name in _SEGMENTS if (directory / name).is_dir()]
    strange = [path for folder in folders for path in sorted(folder.iterdir()) if not store.is_ours(path.name)]
    if strange:
        names = ", ".join(f'"{path.relative_to(directory)}"' for path in strange[:3])
        raise store.folder_error(directory, f"holds {names}, not written by fem-mbs: move it away")


def _remove_products(folder: Folder) -> None:
    """Remove files derived from a result: summary, tables, figures."""
    for path in folder.removable():
        if path.name != store.RESULT or path.parent != folder.directory:
            path.unlink()


def _remove_old(folder: Folder) -> None:
    """Remove files of earlier runs in an order that never leaves a mixture of two results."""
    directory = folder.directory
    segments = directory / store.SEGMENTS
    lock = store.acquire_lock(segments) if segments.is_dir() else None
    try:
        _remove_products(folder)
        (directory / store.RESULT).unlink(missing_ok=True)
        store.remove_segments(directory / store.SEGMENTS_NEW)
        store.remove_segments(segments)
    finally:
        store.release_lock(lock)
    folder.files = set(_FIXED) | set(_SEGMENTS) | {name for name in folder.files if name.startswith("../")}
    folder.save()


def clear(
    directory: Path,
    source: str | Path | None = None,
    title: str = "",
    *,
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
) -> None:
    """Assign a folder to a model (`fem_mbs.results.folder.claim`) and remove the results of an earlier run.

    Raises ResultsError if it belongs to another model or holds foreign files, or another run writes into it.
    """
    _check_segments(directory)
    folder = claim(directory, source, title, fixed=(*_FIXED, *_SEGMENTS), inputs=inputs, overwrite=overwrite)
    _remove_old(folder)


def check_header(header: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of the header with nodes (n, 3) and all lists present. Raises ResultsError for invalid entries."""
    missing = [key for key in ("title", "version", "dimension", "nodes") if key not in header]
    if missing:
        raise ResultsError(f"Results header: {', '.join(missing)} missing: give title, version, dimension and nodes")
    full = dict(header)
    nodes = np.asarray(full["nodes"], dtype=float)
    if nodes.ndim != 2 or nodes.shape[1] not in (2, 3):
        raise ResultsError(f"Results header: nodes has the shape {nodes.shape}: give (number of nodes, 3)")
    full["nodes"] = np.hstack([nodes, np.zeros((len(nodes), 3 - nodes.shape[1]))])
    for key in ("node_names", "model"):
        full.setdefault(key, {})
    for key in ("blocks", "bodies", "sensors", "ledger", "fields"):
        full.setdefault(key, [])
    full["blocks"] = [dict(block) for block in full["blocks"]]
    for block in full["blocks"]:
        connectivity = np.atleast_2d(np.asarray(block["connectivity"], dtype=np.int64))
        if connectivity.size and (connectivity.min() < 0 or connectivity.max() >= len(nodes)):
            raise ResultsError(f'Results header: block "{block["name"]}" names a node outside 0 .. {len(nodes) - 1}')
        block["connectivity"] = connectivity
        wrong = check_cell(block)
        if wrong:
            raise ResultsError(f'Results header: block "{block["name"]}" {wrong}')
        block.setdefault("outputs", [])
    for body in full["bodies"]:
        if not 0 <= int(body["node"]) < len(nodes):
            what = f'body "{body["name"]}" names node {body["node"]}'
            raise ResultsError(f"Results header: {what}, not in 0 .. {len(nodes) - 1}")
    full["body_nodes"] = np.array([[int(body["node"])] for body in full["bodies"]], dtype=np.int64).reshape(-1, 1)
    for key in ("blocks", "sensors"):
        names = [item["name"] for item in full[key]]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ResultsError(f'Results header: two {key} are called "{twice}": give them different names')
    return full


class ResultsWriter:
    """The results of one run, in one folder, readable at any time by `fem_mbs.results.reader.Results`.

    Rows are kept in memory for at most `flush_seconds` (or one per cent of the time the run has taken, so that a long
    run does not end in a heap of small files) or `flush_bytes` and then become a closed file; a restart point is
    written at once, and with `flush_seconds` 0 every row is. A closed file survives any end of the process.

    The `header` is a dict::

        title, version (str), dimension (2 or 3), nodes (n, 3) reference positions [m],
        node_names {name: node}, model {counts}, ledger [names of the columns of the series "ledger"],
        blocks  [{name, type, connectivity (n_el, k) node numbers, outputs ["normal force [N]", ...]}, ...],
                with solid and plane cells also: cell, group, region (`fem_mbs.results.fields`),
        fields  [{name, components}, ...] values at the nodes of such blocks,
        bodies  [{name, node, points [[x, y, z], ...] in body axes [m], rotation (3, 3) reference axes}, ...],
        sensors [{name, kind, unit, columns [...], mid_step (bool)}, ...],
        supports [{node, components ["x", "y", "z", "rotation"]}, ...], joints [{name, type, node}, ...],
        symbols [`fem_mbs.analysis.symbols.symbol.Symbol`, ...], sets [{name, count, nodes}, ...]   (for figures)

    A series is a quantity with one row per recorded step: "time" always; "ledger" (n, columns) [J]; "linear momentum"
    (n, 2 or 3) [kg m/s], "angular momentum" (n, 1 or 3) [kg m2/s]; "sensor/<name>" (n, columns); "step size" (n,) [s],
    needed where not every step is recorded; and any further series of the analysis. Frames are fewer: "time" always;
    "displacement", "velocity" (m, n_nodes, 3); "rotation" (m, n_nodes, 3) rotation vectors from the reference [rad];
    "<block>/<output>" (m, n_el) or (m, n_el, components); "<field>" and "region 2/<field>" (m, n_nodes, components),
    NaN at nodes outside of the region.

    A mid-step sensor is stored as it is computed: row k holds the value in the middle of the step that ends at time k,
    and the first row, the initial state, holds NaN. Steps of type "transient" count as such, others do not; the entry
    mid_step (bool) of a step's `info` overrules this.
    """

    def __init__(
        self,
        directory: str | Path,
        header: dict[str, Any],
        *,
        flush_seconds: float = 2.0,
        flush_bytes: int = 16 << 20,
        source: str | Path | None = None,
        inputs: Iterable[Path] = (),
        overwrite: bool = False,
    ) -> None:
        """Begin a new result, replacing an old one of the same model in the folder.

        The model is that of the file `source`, or else that of the header's title; `inputs` are files that it reads.
        With `overwrite` a folder of another model, or one with files of others, is taken too; in any case nothing is
        removed but what the mark of the folder lists (`fem_mbs.results.folder`).

        Raises ResultsError if the folder is not that of the model, if another run writes into it, or if the header is
        contradictory.
        """
        full = check_header(header)
        self._prepare(Path(directory), flush_seconds, flush_bytes)
        if self.directory.exists() and not self.directory.is_dir():
            raise store.folder_error(directory, "this is a file: give another name")
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            clear(self.directory, source, str(full["title"]), inputs=inputs, overwrite=overwrite)
            self._segments.mkdir()
        except OSError as exc:
            raise store.folder_error(directory, f"cannot write there ({exc.strerror}): give another") from exc
        self._lock: int | None = store.acquire_lock(self._segments)
        self._run = uuid.uuid4().hex
        with store.create_file(self._segments / store.HEADER_FILE, self._run) as file:
            store.write_header(file, full)

    def _prepare(self, directory: Path, flush_seconds: float, flush_bytes: int) -> None:
        self.directory = directory
        self._segments = directory / store.SEGMENTS
        self._flush_seconds, self._flush_bytes = flush_seconds, flush_bytes
        self._lock: int | None = None
        self._open = True
        self._next_segment = 0
        self._began = self._flushed = time.monotonic()
        self._step = -1  # number of the step being written
        self._entry: store.StepEntry | None = None  # that step, until it ends
        self._announced = False  # whether a segment holds name, type and info of the step
        self._totals = {"series": 0, "frames": 0}  # rows of the step, written and waiting
        self._spare: _Point | None = None  # the last restart point that is not to keep and not written yet
        self._pointed = self._began  # when a restart point was written last
        self._layout: dict[str, dict[str, tuple[Any, ...]]] = {}
        self._clear()

    def _clear(self) -> None:
        self._waiting: dict[str, dict[str, list[np.ndarray]]] = {"series": {}, "frames": {}}
        self._counts = {"series": 0, "frames": 0}
        self._points: list[_Point] = []
        self._bytes = 0

    # ------------------------------------------------------------------------------------------ resuming

    @classmethod
    def resume(
        cls, directory: str | Path, restart_index: int = -1, *, flush_seconds: float = 2.0, flush_bytes: int = 16 << 20
    ) -> ResultsWriter:
        """Continue the result in `directory` from a restart point (the last one by default).

        Everything after that point is dropped; the step it lies in is open again, and `append` goes on in it. The
        final file then equals that of a run that was never interrupted. `step_index` and `rows` tell where it stands.

        Raises ResultsError if there is no such point or if another run writes into the folder.
        """
        self = cls.__new__(cls)
        self._prepare(Path(directory), flush_seconds, flush_bytes)
        index = store.read_index(self.directory)
        _check_segments(self.directory)
        if not os.access(self.directory, os.W_OK | os.X_OK):
            raise store.folder_error(directory, "cannot write there: copy it to a writable place and continue there")
        folder = adopt(self.directory, (*_FIXED, *_SEGMENTS), (store.RESULT, *_SEGMENTS))
        try:
            if not index.consolidated:
                self._lock = store.acquire_lock(self._segments)
                index = store.read_index(self.directory)  # nobody changes it any more
            if not -len(index.restarts) <= restart_index < len(index.restarts):
                count = len(index.restarts)
                remedy = f"give 0 .. {count - 1}" if count else "run the model from its start"
                raise store.folder_error(directory, f"{count} restart points, no number {restart_index}: {remedy}")
            point = index.restarts[restart_index]
            _remove_products(folder)
            self._run = index.run
            if index.consolidated:
                self._reopen(index, point)
            else:
                self._truncate(index, point)
            index = store.read_index(self.directory)
            self._next_segment = sum(1 for path in self._segments.iterdir() if store.SEGMENT_NAME.fullmatch(path.name))
            self._step = point.step
            self._entry = index.steps[point.step]
            self._announced = True
            self._totals = {"series": point.rows, "frames": point.frames}
            for kind in ("series", "frames"):
                columns = store.columns_of(self._entry, kind)
                if columns:
                    self._layout[kind] = {name: store.shape_of(parts[0]) for name, parts in columns.items()}
        except BaseException as error:
            self._unlock()
            if isinstance(error, OSError):
                raise store.folder_error(
                    directory, f"cannot write there ({error.strerror}): copy it to a writable place and continue there"
                ) from error
            raise
        return self

    def _reopen(self, index: store.StoreIndex, point: store.RestartEntry) -> None:
        """Split a finished result into segments up to `point`; remove the finished file when they are complete."""
        new = self.directory / store.SEGMENTS_NEW
        if self._segments.is_dir():  # left by a run that was killed while it tidied up
            lock = store.acquire_lock(self._segments)
            store.remove_segments(self._segments)
            store.release_lock(lock)
        if new.is_dir():
            lock = store.acquire_lock(new)
            store.remove_segments(new)
            store.release_lock(lock)
        new.mkdir()
        self._lock = store.acquire_lock(new)
        with (
            store.create_file(new / store.HEADER_FILE, self._run) as file,
            store.open_file(index.header_path) as source,
        ):
            source.copy("header", file)
        for number in range(point.step + 1):
            self._write_truncated(new / f"{number:08d}.h5", index, number, point)
        os.replace(new, self._segments)
        (self.directory / store.RESULT).unlink()

    def _truncate(self, index: store.StoreIndex, point: store.RestartEntry) -> None:
        """Drop all rows after `point` from the segments, the last ones first."""
        (self._segments / store.END_FILE).unlink(missing_ok=True)
        later = [path for path in sorted(self._segments.iterdir()) if store.SEGMENT_NAME.fullmatch(path.name)]
        for path in reversed([path for path in later if path > point.path]):
            path.unlink()
        entry = index.steps[point.step]
        there = next(k for k, piece in enumerate(entry.pieces) if piece.path == point.path)
        # A point that was written late stands in a later segment than the last rows before it.
        for position in reversed(range(there + 1)):
            before = entry.pieces[:position]
            piece = entry.pieces[position]
            rows = min(max(point.rows - sum(p.rows for p in before), 0), piece.rows)
            frames = min(max(point.frames - sum(p.frames for p in before), 0), piece.frames)
            points = [other for other in index.restarts if other.path == piece.path]
            last = piece.path != point.path or points[-1] == point
            if (rows, frames) == (piece.rows, piece.frames) and last and not store.ends_step(piece):
                continue  # as a run leaves it
            alone = store.StepEntry(entry.name, entry.type, entry.info, [piece])
            announce = alone if position == 0 else None
            with store.create_file(piece.path, self._run) as file:
                with store.step_group(file, "step", point.step, announce, rows, frames) as group:
                    store.copy_step(alone, group, rows, frames)
                self._copy_points(file, points, point)

    def _write_truncated(self, path: Path, index: store.StoreIndex, number: int, point: store.RestartEntry) -> None:
        entry = index.steps[number]
        last = number == point.step
        rows = point.rows if last else entry.count("series")
        frames = point.frames if last else entry.count("frames")
        with store.create_file(path, self._run) as file:
            with store.step_group(file, "step", number, entry, rows, frames) as group:
                store.copy_step(entry, group, rows, frames)
                if not last:
                    store.end_step_group(group, entry.summary)
            self._copy_points(file, [p for p in index.restarts if p.step == number], point)

    @staticmethod
    def _copy_points(file: Any, points: list[store.RestartEntry], last: store.RestartEntry) -> None:
        group = file.create_group("restart")
        for number, entry in enumerate(points):
            store.copy_restart(entry, group, f"{number:08d}")
            if entry == last:
                break

    # ------------------------------------------------------------------------------------------ writing

    @property
    def step_index(self) -> int:
        """Return the number of the step being written, or of the last one; -1 before the first."""
        return self._step

    @property
    def rows(self) -> int:
        """Return the number of rows of series in the present step."""
        return self._totals["series"]

    def _need(self, step: bool) -> None:
        if not self._open:
            raise store.folder_error(self.directory, "the result is closed: begin or resume one")
        if step and self._entry is None:
            raise store.folder_error(self.directory, "no step is open: call begin_step first")
        if not step and self._entry is not None:
            raise store.folder_error(self.directory, f'step "{self._entry.name}" is open: call end_step first')

    def begin_step(self, name: str, type: str, info: dict[str, Any] | None = None) -> None:
        """Open the next step of the run; `info` is kept with it (JSON types)."""
        self._need(step=False)
        self._step += 1
        self._entry = store.StepEntry(name, type, json_value(info or {}))
        self._announced = False
        self._totals = {"series": 0, "frames": 0}
        self._spare = None
        self._layout = {}
        self._flush()

    def append(
        self,
        series: Mapping[str, Any] | None = None,
        frames: Mapping[str, Any] | None = None,
        restart: Mapping[str, Any] | None = None,
        *,
        keep: bool = True,
    ) -> None:
        """Add rows to the open step, and perhaps a restart point that stands after them.

        All arrays of `series` have the same number of rows, likewise those of `frames`; names and the sizes after the
        first axis stay the same during a step. Everything is copied. `restart` is any dict of arrays, numbers and
        texts with an entry "time"; it is restored bit for bit.  A point without `keep` is written if none was for a
        while, or else when the run fails, and dropped when it ends well.

        Raises ResultsError for arrays that do not fit, or if the system cannot write.
        """
        self._need(step=True)
        checked = {kind: self._check(kind, given) for kind, given in (("series", series), ("frames", frames)) if given}
        point = None
        if restart is not None:
            if "time" not in restart:
                raise ResultsError('Restart point: no entry "time": give the time [s] of the state')
            point = {str(name): store.restart_value(name, value) for name, value in restart.items()}
        for kind, (arrays, rows) in checked.items():
            if rows:
                for name, array in arrays.items():
                    self._waiting[kind].setdefault(name, []).append(array)
                    self._bytes += array.nbytes
                self._counts[kind] += rows
                self._totals[kind] += rows
        now = time.monotonic()
        if point is not None:
            made = _Point(self._totals["series"], self._totals["frames"], point, keep)
            apart = max(_SPARE_SECONDS, _SPARE_SHARE * (now - self._began))
            write = keep or now - self._pointed >= apart
            self._spare = None if write else made
            if write:
                self._points.append(made)
                self._pointed = now
        patience = max(self._flush_seconds, min(60.0, 0.01 * (now - self._began))) if self._flush_seconds else 0.0
        due = now - self._flushed >= patience
        if self._points or due or self._bytes > self._flush_bytes:
            self._flush()

    def _check(self, kind: str, given: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], int]:
        assert self._entry is not None
        arrays = {str(name): np.array(value) for name, value in given.items()}
        where = f'Results, step "{self._entry.name}", {kind}'
        if "time" not in arrays:
            raise ResultsError(f'{where}: no "time": give the time [s] of each row')
        for name, array in arrays.items():
            if array.ndim == 0 or array.dtype.kind not in "fiub":
                raise ResultsError(f'{where}: "{name}" is not an array of real numbers with one row per time')
        rows = len(arrays["time"])
        shapes = {name: (array.shape[1:], array.dtype) for name, array in arrays.items()}
        layout = self._layout.setdefault(kind, shapes)
        for name, array in arrays.items():
            if len(array) != rows:
                raise ResultsError(f'{where}: "{name}" has {len(array)} rows, "time" has {rows}: give as many')
        if shapes != layout:
            for name in [*layout, *shapes]:
                old, new = layout.get(name), shapes.get(name)
                if old != new:
                    raise ResultsError(f'{where}: "{name}" was {old}, is now {new}: keep names and sizes in a step')
        return arrays, rows

    def _flush(self, summary: dict[str, Any] | None = None) -> None:
        """Write pending rows as the next segment; a `summary` completes the step."""
        assert self._entry is not None
        path = self._segments / f"{self._next_segment:08d}.h5"
        counts = self._counts
        with store.create_file(path, self._run) as file:
            announce = None if self._announced else self._entry
            with store.step_group(file, "step", self._step, announce, counts["series"], counts["frames"]) as group:
                for kind, columns in self._waiting.items():
                    write_columns(group.create_group(kind), columns)
                if summary is not None:
                    store.end_step_group(group, summary)
            points = file.create_group("restart")
            for number, point in enumerate(self._points):
                group = points.create_group(f"{number:08d}")
                store.write_restart(group, self._step, point.rows, point.frames, point.state, point.keep)
        self._next_segment += 1
        self._announced = True
        self._flushed = time.monotonic()
        self._clear()

    def flush(self) -> None:
        """Write all rows appended so far to the disk."""
        self._need(step=True)
        if self._bytes or self._points:
            self._flush()

    def end_step(self, report: Any = None) -> Any:
        """Close the step and return its report, which is kept with it as JSON.

        Args:
            report: a `fem_mbs.results.report.StepReport`, or the JSON object of one whose step is copied.
        """
        self._need(step=True)
        self._flush(json_value(report or {}))
        self._entry = self._spare = None
        return report

    def close(self, summary: Summary | Mapping[str, Any] | None = None) -> None:
        """End the run: one file results.h5, XDMF files for ParaView, and `summary` as summary.json.

        The summary gets the entry "status", "done". Raises ResultsError if a step is open, or if the system cannot
        write; the rows are then still in the segments, of which `fem_mbs.results.reader.export` makes one file.
        """
        self._need(step=False)
        end = {"status": "done", "summary": {**json_value(summary or {}), "status": "done"}}
        store.write_json(self._segments / store.END_FILE, end)
        self._open = False
        try:
            finish(self.directory)
        except DiskFullError as full:
            raise DiskFullError(
                f'{full}; nothing is lost: fem-mbs export "{self.directory}" joins its files once there is room'
            ) from full
        finally:
            self._unlock()

    def fail(self, message: str) -> None:
        """End the run as failed. All rows stay readable and restart points usable; summary.json holds the reason.

        Raises ResultsError if the system cannot write; what fits is written all the same.
        """
        if not self._open:
            return
        self._open = False
        try:
            if self._entry is not None and self._spare is not None:
                self._points.append(self._spare)
            if self._entry is not None and (self._bytes or self._points):
                self._flush()
        finally:
            self._end_as_failed(message)

    def _end_as_failed(self, message: str) -> None:
        try:
            status = f"failed: {message}"
            index = store.read_index(self.directory)
            with store.open_file(index.header_path) as file:
                header = store.read_header(file)
            summary = {key: header[key] for key in ("title", "version", "model")}
            ended = [{"type": entry.type, **entry.summary} for entry in index.steps if entry.ended]
            summary |= {"status": status, "steps": ended}
            store.write_json(self._segments / store.END_FILE, {"status": status, "summary": summary})
            store.write_json(self.directory / store.SUMMARY, summary)
            write_xdmf(index, header, self.directory)
        finally:
            self._unlock()

    def _unlock(self) -> None:
        store.release_lock(self._lock)
        self._lock = None

    def __enter__(self) -> ResultsWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._open:
            self.fail(f"{kind.__name__}: {error}" if kind is not None else "the run ended without closing its result")


def finish(directory: Path) -> None:
    """Join the segments of a finished run to one file, and remove them.

    Can be interrupted and called again.
    """
    with store.kept_open():
        index = store.read_index(directory)
        if not index.consolidated:
            with store.create_file(directory / store.RESULT, index.run) as file:
                with store.open_file(index.header_path) as source:
                    source.copy("header", file)
                store.write_end(file, index.end)
                file.create_group("steps")
                for number, entry in enumerate(index.steps):
                    rows, frames = entry.count("series"), entry.count("frames")
                    with store.step_group(file, f"steps/{number:04d}", number, entry, rows, frames) as group:
                        store.copy_step(entry, group, rows, frames, final=True)
                        store.end_step_group(group, entry.summary)
                    points = file.create_group(f"restart/{number:04d}")
                    for position, point in enumerate(p for p in index.restarts if p.step == number and p.keep):
                        store.copy_restart(point, points, f"{position:08d}")
            index = store.read_index(directory)
        with store.open_file(index.header_path) as file:
            header = store.read_header(file)
        write_xdmf(index, header, directory)
        store.write_json(directory / store.SUMMARY, index.end["summary"])
    store.remove_segments(directory / store.SEGMENTS_NEW)
    store.remove_segments(directory / store.SEGMENTS)
