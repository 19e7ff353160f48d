"""A line that shows the activity of a running call, on a terminal or in a notebook only.

A function that may take seconds opens the line by `waiting`, a context or the decorator of a function, and writes to it
by `say`.  Calls within the call write to the same line.  The line vanishes at the end.

Compilations of kernels are reported here and shown by this line, unless a program shows them in its own way (`told`).
`quiet`, or the environment variable FEM_MBS_QUIET, switches it off.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TextIO

from fem_mbs.late import dataclass

__all__ = ["Compiling", "quiet", "say", "showing", "tell", "told", "waiting"]

log = logging.getLogger("fem_mbs")
_DELAY = 0.5  # [s] before the line appears
_EVERY = 0.1  # [s] between two texts
_silenced = [0]


class _Line(Protocol):
    """Where a text is shown in place of the one before."""

    def show(self, text: str) -> None:
        """Show a text."""

    def close(self) -> None:
        """Remove it."""


class _Terminal:
    """The present line of a terminal."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def show(self, text: str) -> None:
        """Write a text over the line, cut at the width of the terminal."""
        width = os.get_terminal_size(self._stream.fileno()).columns or 80
        self._stream.write(f"\r\x1b[K{text[: max(width, 20) - 1]}")
        self._stream.flush()

    def close(self) -> None:
        """Clear the line."""
        self._stream.write("\r\x1b[K")
        self._stream.flush()


class _Notebook:
    """A text below the cell of a notebook."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str) -> None:
        """Show a text in place of the last one."""
        from IPython.display import Pretty, display

        if self._handle is None:
            self._handle = display(Pretty(text), display_id=True)
        else:
            self._handle.update(Pretty(text))

    def close(self) -> None:
        """Leave an empty text: a page takes no output back."""
        from IPython.display import Pretty

        if self._handle is not None:
            self._handle.update(Pretty(""))


def _line() -> _Line | None:
    """Return the line for this process, None where nobody would read it."""
    if _silenced[0] or os.environ.get("FEM_MBS_QUIET"):
        return None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ == "ZMQInteractiveShell":
        return _Notebook()
    try:
        return _Terminal(sys.stderr) if sys.stderr is not None and sys.stderr.isatty() else None
    except ValueError:  # a closed stream
        return None


class _Waiting:
    """An open line, which appears when the call has taken a while."""

    def __init__(self, line: _Line | None):
        self._target, self._shown = line, False
        self._due = time.monotonic() + _DELAY

    def __call__(self, text: str, at_once: bool = False) -> None:
        """Show a text, unless the last one is just a moment old."""
        now = time.monotonic()
        if self._target is None or (now < self._due and not at_once):
            return
        self._due, self._shown = now + _EVERY, True
        with contextlib.suppress(OSError, ValueError):  # a terminal that has gone is no reason to end
            self._target.show(text)

    def close(self) -> None:
        """Remove the line."""
        if self._target is not None and self._shown:
            with contextlib.suppress(OSError, ValueError):
                self._target.close()


_open: list[_Waiting] = []


@contextlib.contextmanager
def waiting() -> Iterator[Callable[..., None]]:
    """Open the line, or take the one that is open; the value of the context is called with texts."""
    if _open:
        yield _open[-1]
        return
    made = _Waiting(_line())
    _open.append(made)
    try:
        yield made
    finally:
        _open.remove(made)
        made.close()


def say(text: str) -> None:
    """Write a text to the line that a caller has opened, if any."""
    if _open:
        _open[-1](text)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Show no progress within the context."""
    _silenced[0] += 1
    try:
        yield
    finally:
        _silenced[0] -= 1


def showing() -> bool:
    """Return whether a line would be seen."""
    return _line() is not None


# --- compilation of kernels ------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Compiling:
    """The state of a compilation: kernels compiled of those that are known to be missing, estimated seconds left."""

    done: int
    total: int
    left: float
    kernel: str

    @property
    def text(self) -> str:
        """Return the sentence of progress lines."""
        what = f"{min(self.done + 1, self.total)} of {self.total} kernels" if self.total > 1 else "a kernel"
        return f"compiling {what}, once, about {max(round(self.left), 1)} s"

    @property
    def announcement(self) -> str:
        """Return the sentence for what shows no progress."""
        what = f"{self.total} kernels" if self.total > 1 else "a kernel"
        return f"compiling {what}, once, about {max(round(self.left), 1)} s"


Display = Callable[[Compiling | None], None]


class _Compilations:
    """Report compilations where no program does: the line of `fem_mbs.progress`, and a line of the log."""

    def __init__(self) -> None:
        self._stack: contextlib.ExitStack | None = None
        self._show: Callable[..., None] | None = None

    def __call__(self, state: Compiling | None) -> None:
        """Show a state, or the end."""
        if state is None:
            if self._stack is not None:
                self._stack.close()
            self._stack = self._show = None
            return
        if self._stack is None or self._show is None:
            log.info(state.announcement)
            self._stack = contextlib.ExitStack()
            self._show = self._stack.enter_context(waiting())
        self._show(state.text, at_once=True)


_displays: list[Display] = [_Compilations()]


@contextlib.contextmanager
def told(display: Display) -> Iterator[None]:
    """Tell a display of compilations: a `Compiling` whenever it changes, None when it ends."""
    _displays.append(display)
    try:
        yield
    finally:
        _displays.remove(display)


def tell(state: Compiling | None) -> None:
    """Tell the latest display of a compilation."""
    _displays[-1](state)
