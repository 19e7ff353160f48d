"""Write and index the files of a results folder.

A run writes into ``DIR/segments``; each file there is written under a temporary name, synced and renamed, and never
opened for writing again, so that a file with its final name is complete::

    DIR/segments/lock          locked by the writing process; the system frees it when that process ends in any way
    DIR/segments/run.h5        the header: model, nodes, blocks, sensors
    DIR/segments/00000000.h5   rows of one step: /step/series, /step/frames, /restart
    DIR/segments/end.json      written last: {"status": "done" | "failed: ...", "summary": {...}}

At the end all segments become one ``DIR/results.h5`` (/header, /steps/0000/series, /steps/0000/frames, and the restart
points of the step in /restart/0000) and ``segments`` is removed.  If both exist, a run was killed while it
joined or split its segments, and ``results.h5`` is valid. Readers see both forms as the same list of *pieces*: a file,
a group in it, and its number of rows.

HDF5 object names hold letters, digits and ``_ + -`` only, because XDMF readers split paths at colons and blanks; the
true name is the attribute ``name``.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs import files
from fem_mbs.errors import ResultsError
from fem_mbs.files import get_text, put_text
from fem_mbs.late import dataclass
from fem_mbs.records import json_value
from fem_mbs.results.datasets import (
    SPLIT_LIMIT,
    by_name,
    copy_rows,
    create_like,
    is_split,
    make_dataset,
    row_shape,
    safe_name,
)

if TYPE_CHECKING:
    import h5py

FORMAT = "fem-mbs results"
FORMAT_VERSION = 1

RESULT = "results.h5"
XDMF = "results.xdmf"
SUMMARY = "summary.json"
SEGMENTS = "segments"
SEGMENTS_NEW = "segments.new"  # a finished result being turned into segments again, not yet valid
HEADER_FILE = "run.h5"
END_FILE = "end.json"
LOCK_FILE = "lock"
PART = files.PART  # suffix of files that are not whole yet
_FILE = "Results file"  # in messages

SEGMENT_NAME = re.compile(r"\d{8}\.h5")


def folder_error(directory: Path | str, text: str) -> ResultsError:
    """Return the error of a results folder."""
    return ResultsError(f'Results folder "{directory}": {text}')


def file_error(path: Path | str, text: str) -> ResultsError:
    """Return the error of a file of a result."""
    return ResultsError(f'{_FILE} "{path}": {text}')


# ---------------------------------------------------------------------------------------------- plain files


def write_atomic(path: Path, parts: Any) -> None:
    """Write one or several texts so that `path` holds either the old or the complete new content."""
    files.write_atomic(path, parts, _FILE)


def write_json(path: Path, value: Any) -> None:
    """Write `value` as JSON, atomically."""
    write_atomic(path, json.dumps(json_value(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file. Raises ResultsError if it is not one."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as exc:
        raise file_error(path, f"cannot be read ({exc}): run the model again") from exc


def is_there(directory: Path) -> bool:
    """Return whether a folder holds the result of a run, finished or not; the files are not read."""
    return (directory / RESULT).is_file() or (directory / SEGMENTS / HEADER_FILE).is_file()


def is_ours(name: str) -> bool:
    """Return whether a run writes files of this name into a segments folder."""
    name = name.removesuffix(PART)
    return name in (HEADER_FILE, END_FILE, LOCK_FILE) or SEGMENT_NAME.fullmatch(name) is not None


def remove_segments(directory: Path) -> None:
    """Remove a segments folder so that an interrupted removal leaves a shorter valid result, never a mixture.

    Files that no run has written stay, and so does the folder.
    """
    if not directory.is_dir():
        return
    names = [path.name for path in sorted(directory.iterdir(), reverse=True) if is_ours(path.name)]
    names.sort(key=lambda name: (name == LOCK_FILE, name == HEADER_FILE))
    for name in names:
        (directory / name).unlink(missing_ok=True)
    if not any(directory.iterdir()):
        directory.rmdir()


def acquire_lock(directory: Path, *, wait: float = 0.5) -> int:
    """Lock a segments folder for this process; return the handle (`_lock` says where nothing is locked).

    Raises ResultsError if another process holds it.
    """
    handle = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _lock(handle, directory.parent, wait)  # a reader that asks for the status holds the lock for a moment
    except ResultsError:
        os.close(handle)
        raise
    return handle


def _lock(handle: int, folder: Path, wait: float) -> None:
    """Lock an open file or folder for this process; nothing is locked where the system or the disk has no such locks.

    A running result then reads as incomplete.

    Raises:
        ResultsError: another process holds the lock of the ``folder`` of results for longer than ``wait`` [s].
    """
    try:
        import fcntl
    except ImportError:
        return
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise folder_error(folder, "another run is writing into it: wait or give another folder") from None
            time.sleep(0.01)
        except OSError:
            return


def release_lock(handle: int | None) -> None:
    """Release the handle of `acquire_lock`."""
    if handle is not None:
        os.close(handle)


@contextmanager
def held(directory: Path, *, wait: float = 0.5) -> Iterator[None]:
    """Lock a folder against other runs, from the first file of a run to its last table; make it if it does not exist.

    Where the system has no file locks, or the folder cannot be made, nothing is locked.

    Raises:
        ResultsError: another run holds the folder.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        handle = os.open(directory, os.O_RDONLY)
    except OSError:  # the first write into the folder reports what is wrong with it; Windows opens no folders
        yield
        return
    try:
        _lock(handle, directory, wait)
        yield
    finally:
        os.close(handle)
        with suppress(OSError):  # remove the empty folder of a run that wrote nothing
            directory.rmdir()


def _is_locked(directory: Path) -> bool:
    try:
        import fcntl
    except ImportError:
        return False
    try:
        handle = os.open(directory / LOCK_FILE, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


# ---------------------------------------------------------------------------------------------- HDF5 files


@contextmanager
def create_file(path: Path, run: str) -> Iterator[h5py.File]:
    """Yield a new HDF5 file that gets its name `path` only when it is complete on the disk."""
    from fem_mbs.hdf5 import create_hdf5

    with create_hdf5(path, _FILE) as file:
        put_text(file, "format", FORMAT)
        file.attrs["format_version"] = FORMAT_VERSION
        put_text(file, "run", run)
        yield file


class MissingFileError(ResultsError, FileNotFoundError):
    """A file of results does not exist, or was removed meanwhile.  It is a FileNotFoundError, so that callers who
    expect this can try again."""


def _missing(path: Path) -> MissingFileError:
    return MissingFileError(f'File "{path}": missing: another run has replaced the results; open the folder again')


_MOST_KEPT = 64  # files that stay open: a system allows some hundred
_KEPT: ContextVar[tuple[ExitStack, dict[Path, h5py.File]] | None] = ContextVar("kept files", default=None)


@contextmanager
def kept_open() -> Iterator[None]:
    """Keep the files that `open_file` opens meanwhile open to the end: to read many quantities opens each once."""
    if _KEPT.get() is not None:
        yield
        return
    with ExitStack() as stack:
        token = _KEPT.set((stack, {}))
        try:
            yield
        finally:
            _KEPT.reset(token)


@contextmanager
def open_file(path: Path) -> Iterator[h5py.File]:
    """Open one of our HDF5 files for reading.

    Raises ResultsError if it is no such file, of another version, or damaged, also if the damage shows in later reads;
    MissingFileError if it does not exist.
    """
    with _told(path), ExitStack() as own:
        stack, kept = _KEPT.get() or (own, {})
        if path not in kept:
            if len(kept) >= _MOST_KEPT:
                stack, kept = own, {}
            kept[path] = stack.enter_context(_opened(path))
        yield kept[path]


def _opened(path: Path) -> h5py.File:
    """Return one of our HDF5 files, open for reading; raise as `open_file`."""
    import h5py

    wrong = files.check_hdf5(path)
    if wrong and not path.exists():
        raise _missing(path)
    if wrong:
        raise file_error(path, f"not a readable HDF5 file ({wrong}): run the model again")
    with ExitStack() as failed:
        file = failed.enter_context(h5py.File(path, "r"))
        if get_text(file, "format") != FORMAT:
            raise file_error(path, "not written by fem-mbs: give the folder of a fem-mbs run")
        version = int(file.attrs["format_version"])
        if version != FORMAT_VERSION:
            raise file_error(path, f"format {version}, this fem-mbs reads {FORMAT_VERSION}: run the model again")
        failed.pop_all()
        return file


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Raise the errors of h5py as those of `open_file`."""
    try:
        yield
    except ResultsError:
        raise
    except FileNotFoundError as exc:  # removed after the check of its end
        raise _missing(path) from exc
    except (OSError, RuntimeError, LookupError, ValueError, TypeError) as exc:  # h5py's words for damage
        raise file_error(path, f"not a readable HDF5 file ({exc}): run the model again") from exc


def _write_text(group: h5py.Group, name: str, value: Any) -> None:
    make_dataset(group, name, np.frombuffer(json.dumps(value).encode(), np.uint8))  # attributes end at 64 kB


def _read_text(group: h5py.Group, name: str) -> Any:
    value = group[name][()]
    return json.loads(value.tobytes() if isinstance(value, np.ndarray) else value)  # older files hold a text


def write_header(file: h5py.File, header: dict[str, Any]) -> None:
    """Store a header: its arrays as datasets under /header, the rest as one JSON text that points to them."""
    group = file.create_group("header")

    def strip(value: Any, path: str) -> Any:
        if isinstance(value, np.ndarray):
            while path in group:
                path += "_"
            make_dataset(group, path, value)
            return {"__array__": path}
        if isinstance(value, dict):
            pairs = [(str(key), re.sub("[^A-Za-z0-9_]", "_", str(key)), item) for key, item in value.items()]
            return {key: strip(item, f"{path}/{safe}") for key, safe, item in pairs}
        if isinstance(value, (list, tuple)):
            return [strip(item, f"{path}/{position}") for position, item in enumerate(value)]
        return json_value(value)

    _write_text(group, "json", {key: strip(value, key) for key, value in header.items()})


def read_header(file: h5py.File) -> dict[str, Any]:
    """Return the header stored by `write_header`, with its arrays."""
    group = file["header"]

    def fill(value: Any) -> Any:
        if isinstance(value, dict):
            if "__array__" in value:
                return group[value["__array__"]][()]
            return {key: fill(item) for key, item in value.items()}
        if isinstance(value, list):
            return [fill(item) for item in value]
        return value

    return fill(_read_text(group, "json"))


def write_restart(
    group: h5py.Group, step: int, rows: int, frames: int, state: dict[str, Any], keep: bool = True
) -> None:
    """Store a restart point: `state` (arrays, numbers, texts) after `rows` rows and `frames` frames of step `step`.

    A point that is not to `keep` is left out when the segments of a finished run are joined.
    """
    group.attrs["step"] = step
    group.attrs["rows"] = rows
    group.attrs["frames"] = frames
    group.attrs["time"] = float(state["time"])
    group.attrs["keep"] = keep
    for name, value in state.items():
        kind = next(name for name, made in _KINDS.items() if isinstance(value, made))
        kind = "array without axes" if kind == "array" and not value.ndim else kind
        # one-dimensional also where it is a number: only data in chunks have checksums
        stored = np.frombuffer(value.encode(), np.uint8) if kind == "str" else np.atleast_1d(value)
        dataset = make_dataset(group, safe_name(name, group), stored)
        put_text(dataset, "name", name)
        put_text(dataset, "kind", kind)


# The kinds of value in a restart point; bool is an int in Python, so it comes first.
_KINDS: dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str, "array": np.ndarray}


def restart_value(name: str, value: Any) -> Any:
    """Return a copy of one value of a restart point in the form that is stored. Raises ResultsError for other types."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            raise ResultsError(f'Restart point: "{name}" is an array of objects: give an array of numbers')
        return value.copy()
    value = value.item() if isinstance(value, np.generic) else value
    if any(isinstance(value, kind) for kind in _KINDS.values()):
        return value
    raise ResultsError(f'Restart point: "{name}" is a {type(value).__name__}: give an array, a number or a text')


def read_restart(entry: RestartEntry) -> dict[str, Any]:
    """Return the state of a restart point, bit for bit as it was stored."""
    state: dict[str, Any] = {}
    with open_file(entry.path) as file:
        group = file[entry.group]
        for dataset in (group[key] for key in group):
            value = dataset[()]
            kind = get_text(dataset, "kind")
            if kind == "str":
                value = (value.tobytes() if isinstance(value, np.ndarray) else value).decode()
            elif kind == "array without axes":
                value = np.asarray(value[0])
            elif kind == "array":
                value = np.asarray(value)  # older files: also one without axes
            else:
                value = value.item()
            state[get_text(dataset, "name")] = value
    return state


# ---------------------------------------------------------------------------------------------- the index


Part = tuple[Path, str, int]  # where some rows of a column are: file, HDF5 path, number of rows


@dataclass(frozen=True)
class Piece:
    """Rows of one step that one file holds."""

    path: Path
    group: str
    rows: int
    frames: int


@dataclass
class StepEntry:
    """One step: its pieces in order; `ended` is False while it runs and after a crash."""

    name: str
    type: str
    info: dict[str, Any]
    pieces: list[Piece] = field(default_factory=list)
    ended: bool = False
    summary: dict[str, Any] = field(default_factory=dict)

    def count(self, kind: str) -> int:
        """Return the number of rows of "series" or "frames"."""
        return sum(piece.rows if kind == "series" else piece.frames for piece in self.pieces)


@dataclass(frozen=True)
class RestartEntry:
    """Where a restart point is stored, and how many rows and frames of its step belong before it."""

    step: int
    time: float
    rows: int
    frames: int
    path: Path
    group: str
    keep: bool = True


@dataclass
class StoreIndex:
    """Index of a results folder."""

    directory: Path
    status: str
    run: str
    header_path: Path
    consolidated: bool
    steps: list[StepEntry] = field(default_factory=list)
    restarts: list[RestartEntry] = field(default_factory=list)
    end: dict[str, Any] = field(default_factory=dict)


def _run_of(path: Path) -> str | None:
    try:
        with open_file(path) as file:
            return get_text(file, "run")
    except FileNotFoundError:
        return None


def read_index(directory: Path) -> StoreIndex:
    """Return the index of the result in `directory`, finished, running or interrupted.

    Raises ResultsError if there is none.
    """
    for _ in range(50):  # a run that ends just now moves its files under the reader
        try:
            return _read_index(directory)
        except FileNotFoundError:
            time.sleep(0.02)
    raise folder_error(directory, "its files keep changing: wait for the run to end")


def _read_index(directory: Path) -> StoreIndex:
    segments = directory / SEGMENTS
    running = _run_of(segments / HEADER_FILE)
    finished = _run_of(directory / RESULT)
    if running is None and finished is None:
        if not directory.is_dir():
            raise folder_error(directory, "there is no such folder: give the folder of a fem-mbs run")
        raise folder_error(directory, "no result in it: give the folder of a fem-mbs run")
    if finished is not None:
        index = StoreIndex(directory, "done", finished, directory / RESULT, True)
        with open_file(directory / RESULT) as file:
            index.end = _read_text(file, "end")
            for number in range(len(file["steps"])):
                _add_piece(index, directory / RESULT, file, f"steps/{number:04d}", f"restart/{number:04d}")
        index.status = index.end["status"]
        return index
    assert running is not None
    # The status first: a run that ends while the segments are read must not make a shorter list look whole.
    end_path = segments / END_FILE
    locked = _is_locked(segments)
    end = read_json(end_path) if end_path.exists() else {}
    status = end.get("status") or ("running" if locked else "incomplete")
    index = StoreIndex(directory, status, running, segments / HEADER_FILE, False, end=end)
    names = sorted(path.name for path in segments.iterdir() if SEGMENT_NAME.fullmatch(path.name))
    for position, name in enumerate(names):
        if name != f"{position:08d}.h5":
            index.status = "incomplete"  # a lost file: what follows it does not continue what is before it
            break
        with open_file(segments / name) as file:
            _add_piece(index, segments / name, file, "step", "restart")
    if status == "done" and not all(entry.ended for entry in index.steps):
        index.status = "incomplete"  # the last files are lost
    return index


def _add_piece(index: StoreIndex, path: Path, file: h5py.File, group: str, restarts: str) -> None:
    step = file[group]
    if "info" in step:
        index.steps.append(StepEntry(get_text(step, "name"), get_text(step, "type"), _read_text(step, "info")))
    entry = index.steps[int(step.attrs["index"])]
    entry.pieces.append(Piece(path, group, int(step.attrs["rows"]), int(step.attrs["frames"])))
    if "summary" in step:
        entry.ended = True
        entry.summary = _read_text(step, "summary")
    for key in file[restarts]:  # always there: a default would pass over a damaged one
        name = f"{restarts}/{key}"
        attrs = file[name].attrs
        point = (int(attrs["step"]), float(attrs["time"]), int(attrs["rows"]), int(attrs["frames"]))
        index.restarts.append(RestartEntry(*point, path, name, bool(attrs.get("keep", True))))


@contextmanager
def step_group(
    file: h5py.File, group: str, number: int, entry: StepEntry | None, rows: int, frames: int
) -> Iterator[h5py.Group]:
    """Create the group of a step (without `entry`: of its continuation) with its attributes."""
    step = file.create_group(group)
    step.attrs["index"] = number
    step.attrs["rows"] = rows
    step.attrs["frames"] = frames
    if entry is not None:
        put_text(step, "name", entry.name)
        put_text(step, "type", entry.type)
        _write_text(step, "info", entry.info)
    yield step


def end_step_group(step: h5py.Group, summary: dict[str, Any]) -> None:
    """Mark in the group of a step that the step is complete."""
    _write_text(step, "summary", summary)


def write_end(file: h5py.File, end: dict[str, Any]) -> None:
    """Store status and summary of the whole run."""
    _write_text(file, "end", end)


def columns_of(entry: StepEntry, kind: str) -> dict[str, list[Part]]:
    """Return column name -> [(file, HDF5 path, rows)] of the "series" or "frames" of a step."""
    columns: dict[str, list[Part]] = {}
    for piece in entry.pieces:
        rows = piece.rows if kind == "series" else piece.frames
        if rows:
            with open_file(piece.path) as file:
                for name, key in by_name(file[f"{piece.group}/{kind}"]).items():
                    columns.setdefault(name, []).append((piece.path, f"/{piece.group}/{kind}/{key}", rows))
    return columns


def layout_of(part: Part) -> tuple[tuple[int, ...], np.dtype, bool]:
    """Return the shape of a row and the type of a column, and whether each row is a dataset, given one of its parts."""
    with open_file(part[0]) as file:
        column = file[part[1]]
        return (*row_shape(column), is_split(column))


def shape_of(part: Part) -> tuple[tuple[int, ...], np.dtype]:
    """Return the shape of a row and the type of a column, given one of its parts."""
    return layout_of(part)[:2]


def ends_step(piece: Piece) -> bool:
    """Return whether the file of a piece also says that its step is complete."""
    with open_file(piece.path) as file:
        return "summary" in file[piece.group]


def copy_step(entry: StepEntry, target: h5py.Group, rows: int, frames: int, *, final: bool = False) -> None:
    """Join the pieces of a step in the group `target`, the first `rows` and `frames` rows of them, block by block.

    In a `final` file the frames are split into a dataset for each, unless these are too many.
    """
    for kind, total in (("series", rows), ("frames", frames)):
        group = target.create_group(kind)
        names: dict[str, str] = {}
        offset = 0
        for piece in entry.pieces:
            count = min(piece.rows if kind == "series" else piece.frames, total - offset)
            if count <= 0:
                continue
            with open_file(piece.path) as file:
                source = file[f"{piece.group}/{kind}"]
                found = by_name(source)
                split = final and kind == "frames" and total * len(found) <= SPLIT_LIMIT
                for name, key in found.items():
                    if name not in names:
                        names[name] = create_like(source[key], group, name, total, split)
                    copy_rows(source[key], group[names[name]], count, offset)
            offset += count


def copy_restart(entry: RestartEntry, file: h5py.File, group: str) -> None:
    """Copy a restart point into `file` as `group`."""
    with open_file(entry.path) as source:
        source.copy(entry.group, file, name=group)
