"""Output streams that never raise errors: for closed pipes, full disks, and terminals that cannot show a character.

A run of days must not end because ``| head`` has closed the pipe, or because the terminal cannot show a letter of a
name.  The command goes on for its results, without the output that cannot be written.
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
    """Holds the first error that prevented output.  A closed pipe is not an error."""

    error: OSError | None = None


class _Lasting(io.FileIO):
    """A file whose `write` never fails: after the first error it discards the data."""

    def __init__(self, handle: int, lost: Lost) -> None:
        super().__init__(handle, "w", closefd=False)
        self._lost, self._works = lost, True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        done = 0
        try:
            while self._works and done < len(view):  # one call may write only a part
                done += super().write(view[done:]) or 0
        except BrokenPipeError:
            self._works = False
        except OSError as error:
            self._works = False
            self._lost.error = self._lost.error or error
        return len(view)


def _lasting(stream: Any, lost: Lost) -> Any:
    """Return a text stream to the same file that never fails.

    A stream that is not a file is returned as it is.  A closed stream (None) is replaced by one that discards all
    output.
    """
    if stream is None:  # the parent process has closed it
        return open(os.devnull, "w", encoding="utf-8")
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer, "raw", buffer)  # an unbuffered Python has no buffer between them
    if type(raw) is not io.FileIO:  # captured by a test or a notebook
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
    """Replace stdout and stderr by streams that never fail; yield the `Lost` that holds their first error."""
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
