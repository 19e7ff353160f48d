"""Write files completely or not at all, by renaming; test foreign HDF5 files in a child process; the version they tell.

A file that libraries of C read can end the process if it is damaged: HDF5 follows addresses that it finds.  Files that
fem-mbs writes are in a form of HDF5 whose headers have checksums (`HDF5_FORM`), so that damage is an error; any other
is first read whole in a process of its own (`check_hdf5`).
"""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fem_mbs.errors import DiskFullError, ResultsError

if TYPE_CHECKING:
    import h5py

__all__ = [
    "HDF5_FORM", "PART", "check_hdf5", "file_word", "get_text", "no_room", "put_text", "read_file", "release",
    "replacing", "sync_directory", "version", "write_atomic", "write_page",
]  # fmt: skip

PART = ".part"  # suffix of files that are not whole yet
#: Options of h5py.File for files of ours: version 3 of the format, in which every header has a checksum.
HDF5_FORM: dict[str, Any] = {"libver": ("v110", "v110")}
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # disk, quota, limit of the process or of the file system
_LONGEST = 80  # characters of a name that go into a file name; most systems limit a file name to 255 bytes
_HDF5 = b"\x89HDF\r\n\x1a\n"
_SECONDS, _RATE = 15.0, 5e6  # time limit for reading a file in a child process: least [s], and bytes per second


def file_word(name: str) -> str:
    """Return a name as a part of a file name, with letters, digits and ``_ + -`` only.

    A long name is cut and ends in a digest of the whole name, so that different names stay different.
    """
    word = re.sub(r"[^A-Za-z0-9_+-]+", "_", name).strip("_")
    if len(word) <= _LONGEST:
        return word
    return f"{word[: _LONGEST - 9]}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def read_file(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: it cannot be read, or it is a folder, a pipe (reading would wait for a writer) or a device (which may
            have no end).
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no file, but a folder, a pipe or a device", str(path))
    return path.read_bytes()


def no_room(error: OSError) -> bool:
    """Return whether an error of the system says that there is no room for what is written."""
    return error.errno in _FULL


def sync_directory(directory: Path) -> None:
    """Bring the names in a folder to the disk."""
    if os.name == "posix":  # elsewhere directories cannot be opened
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def replacing(path: Path, what: str = "File") -> Iterator[Path]:
    """Give a temporary path; when the block ends well, sync what it wrote and rename it to ``path``.

    Raises:
        ResultsError: the system cannot write; ``path`` holds what it held before.  It is a DiskFullError where there is
            no room.
    """
    part = path.with_name(path.name + PART)
    try:
        yield part
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(part, path)
        sync_directory(path.parent)
    except OSError as exc:
        part.unlink(missing_ok=True)
        full = no_room(exc)
        remedy = "free space or give another folder" if full else "give another folder"
        raise (DiskFullError if full else ResultsError)(
            f'{what} "{path}": cannot be written ({exc.strerror or exc}): {remedy}'
        ) from exc
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_page(path: Path, text: str, mark: bytes, what: str) -> None:
    """Write a page that we make; what is already there must be one of ours.

    Args:
        text: of the page.
        mark: bytes that the first 1000 of such pages hold.
        what: the thing in messages.

    Raises:
        ResultsError: another file has the name, or the system cannot write.
    """
    if path.exists():
        try:
            with path.open("rb") as stream:
                ours = mark in stream.read(1000)
        except OSError:
            ours = False
        if not ours:
            raise ResultsError(f'{what} "{path}": there is another file of this name: give another path, or remove it')
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise ResultsError(f'{what} "{path}": cannot be written ({exc}): give another path') from exc
    with replacing(path, what) as part:
        part.write_text(text, encoding="utf-8")


def write_atomic(path: Path, parts: str | Iterable[str], what: str = "File", errors: str = "strict") -> None:
    """Write texts (one, or any number one after another) in UTF-8 so that ``path`` holds the old or the whole new
    content.  Errors as `replacing`."""
    with replacing(path, what) as part, part.open("w", encoding="utf-8", errors=errors, newline="") as stream:
        stream.writelines([parts] if isinstance(parts, str) else parts)


def check_hdf5(path: str | Path) -> str:
    """Return the reason why an HDF5 file cannot be read, "" if there is none.

    Files whose headers have no checksums are read whole in another process, since the library may crash or never end
    on a damaged one; the answer holds as long as the file does not change.
    """
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            return "it is no file, but a folder, a pipe or a device"
        with path.open("rb") as stream:
            head = stream.read(9)
        state = path.stat()
    except OSError as error:
        return str(error.strerror)
    if head[:8] != _HDF5:
        return "it does not begin as one"
    if head[8] >= 3:
        return ""
    return _tried(str(path.resolve()), state.st_size, state.st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _tried(path: str, size: int, _: int) -> str:
    script = Path(__file__).with_name("results") / "probe.py"
    limit = max(_SECONDS, size / _RATE)
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(script), path], capture_output=True, text=True, timeout=limit, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return f"it is damaged: reading it does not end within {limit:.0f} s"
    if done.returncode < 0:
        return "it is damaged: the library that reads it crashes"
    if done.returncode:
        said = done.stderr.strip().splitlines()
        return f"it is damaged: {said[-1] if said else 'it cannot be read'}"
    return ""


def put_text(item: h5py.HLObject, key: str, text: str) -> None:
    """Store a text as an attribute within the checked header; HDF5 keeps its own texts where no checksum is."""
    import numpy as np  # only here: `fem-mbs --help` needs this module

    item.attrs[key] = np.bytes_(text.encode() or b"\0")  # (no empty ones)


def get_text(item: h5py.HLObject, key: str) -> str:
    """Return an attribute that is a text, "" if it is not there."""
    value = item.attrs.get(key, "")
    return value.decode() if isinstance(value, bytes) else str(value)


def release(of: str | None = None) -> str:
    """Return the first two numbers of a version, None: of this one; results of others may differ."""
    return ".".join((version() if of is None else of).split(".")[:2])


@functools.cache
def version() -> str:
    """Return the version of fem-mbs that is installed, which files of results tell.

    The module that finds it takes .05 s to load, a search milliseconds.
    """
    from importlib import metadata

    try:
        return metadata.version("fem-mbs")
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        return "0+unknown"
