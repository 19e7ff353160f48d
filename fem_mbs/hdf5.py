"""Write HDF5 files through a stream that hides write errors from the library and reports them afterwards.

Once a write fails, on a full disk say, HDF5 cannot close the file any more: it tries again with every object that is
given back and may end the process by a segmentation fault.  So it writes through a Python file (`_Sink`) that notes the
first error, takes all that follows for written, and has the error raised when HDF5 has closed the file.
"""

from __future__ import annotations

import io
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py

from fem_mbs.files import HDF5_FORM, replacing

__all__ = ["create_hdf5"]


class _Sink(io.RawIOBase):
    """A stream for HDF5 whose methods never fail; `error` holds the first error.

    After an error nothing is written any more, and what is not in the file reads as zeros, which no checksum of HDF5
    lets pass.
    """

    def __init__(self, stream: io.RawIOBase) -> None:
        super().__init__()
        self.error: Exception | None = None
        self._stream = stream

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        try:
            count = self._stream.readinto(view) or 0
        except OSError as error:
            self.error, count = self.error or error, 0
        view[count:] = bytes(len(view) - count)
        return len(view)

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        done = 0
        try:
            while done < len(view) and self.error is None:  # the system may take a part of it
                done += self._stream.write(view[done:]) or 0
        except OSError as error:
            self.error = error
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        try:
            if self.error is None:
                self._stream.truncate(size)
        except OSError as error:
            self.error = error
        return size or 0


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Hold interrupts (SIGINT) back until the block ends: their exceptions could arise in a call from HDF5."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield  # Python handles signals in its main thread only
        return
    caught: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGINT, lambda *given: caught.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if caught:
            handler(*caught[0])


@contextmanager
def create_hdf5(path: Path, what: str) -> Iterator[h5py.File]:
    """Give a new HDF5 file that takes its name ``path`` only when it is whole and on the disk (`files.replacing`).

    Raises:
        ResultsError: the system cannot write; ``path`` holds what it held before.  The error comes when the block has
            ended, and takes the place of those that follow from it.
    """
    with _interrupts_wait(), replacing(path, what) as part, part.open("w+b", buffering=0) as stream:
        sink = _Sink(stream)
        try:
            with h5py.File(sink, "w", **HDF5_FORM) as file:
                yield file
        finally:
            if sink.error is not None:
                raise sink.error
