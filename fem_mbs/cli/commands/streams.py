"""Let a command go on where nobody reads what it says: closed pipes, full disks, terminals without its characters.

A command is started for its results; a run of days must not end because ``| head`` has seen enough, or because a
terminal has no letter of a name.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Lost", "lasting_streams"]


class Lost:
    """Hold the first error by which output was lost; a pipe that nobody reads any more is none."""

    error: OSError | None = None


class _Lasting(io.FileIO):
    """A file that takes everything; after its first error it drops what is written."""

    def __init__(self, handle: int, lost: Lost) -> None:
        super().__init__(handle, "w", closefd=False)
        self._lost, self._works = lost, True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        done = 0
        try:
            while self._works and done < len(view):  # the system may take a part of it
                done += super().write(view[done:]) or 0
        except BrokenPipeError:
            self._works = False
        except OSError as error:
            self._works = False
            self._lost.error = self._lost.error or error
        return len(view)


def _lasting(stream: Any, lost: Lost) -> Any:
    """Return a stream over the same file that never fails; streams that are no files stay, closed ones drop all."""
    if stream is None:  # closed by whoever has started us
        return open(os.devnull, "w", encoding="utf-8")
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer, "raw", buffer)  # without a buffer in an unbuffered Python
    if type(raw) is not io.FileIO:  # a test, a notebook
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Lasting(raw.fileno(), lost)),
        encoding=stream.encoding, errors="backslashreplace",
        line_buffering=stream.line_buffering or raw.isatty() or stream is sys.stderr,
        write_through=buffer is raw,
    )  # fmt: skip


@contextmanager
def lasting_streams() -> Iterator[Lost]:
    """Replace both output streams of the process by ones that never fail; yields what was lost."""
    lost = Lost()
    before = sys.stdout, sys.stderr
    own = [_lasting(stream, lost) for stream in before]
    sys.stdout, sys.stderr = own
    try:
        yield lost
    finally:
        for stream in own:
            stream.flush()
        sys.stdout, sys.stderr = before
