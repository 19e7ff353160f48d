"""Show the progress of a run: one live line on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any

from fem_mbs.errors import ResultsError
from fem_mbs.progress import showing, told
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from fem_mbs.analysis.solution import Progress
    from fem_mbs.progress import Compiling

__all__ = ["LiveProgress", "PlainProgress", "compilations", "interruptible", "kept", "make_progress", "noted"]

_PLAIN_SECONDS = 10.0  # between two plain lines, at most
_WORTH_A_LINE = 2.0  # [s] of compilation


def _without_time(p: Progress) -> bool:
    """Return whether a step counts speeds, frequencies or points instead of time steps or load levels."""
    return p.load_factor is None and p.iterations == 0.0 and p.energy_error == 0.0


def _describe(p: Progress) -> str:
    if _without_time(p):
        return f"{p.done} of {p.total}"
    if p.load_factor is not None:
        return f"load factor {p.load_factor:.5g}, {p.iterations:.1f} iterations per step"
    return f"t = {p.time:.5g} {unit_of('s')}, {p.iterations:.1f} iterations per step, energy error {p.energy_error:.1e}"


def _brief(p: Progress) -> str:
    """Shorten a text to fit beside the bar on a terminal of 80 columns."""
    if _without_time(p):
        return ""
    if p.load_factor is not None:
        return f"load factor {p.load_factor:.4g}, {p.iterations:.1f} iterations"
    return f"t = {p.time:.4g} {unit_of('s')}, {p.iterations:.1f} iterations, energy {p.energy_error:.0e}"


def _brief_compilation(state: Compiling) -> str:
    return f"kernels, once, about {max(round(state.left), 1)} s"


class LiveProgress:
    """A bar per analysis step, with time, Newton iterations, energy error and estimated time left."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self.last: Progress | None = None
        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=12),
            MofNCompleteColumn(),
            TextColumn("{task.fields[text]}", markup=False),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=False,
        )
        self._tasks: dict[str, Any] = {}
        self._waiting: Any = None
        self._compiled: Any = None

    def __enter__(self) -> LiveProgress:
        self._bars.start()
        self._waiting = self._bars.add_task("preparing", total=None, text="")
        return self

    def compiling(self, state: Compiling | None) -> None:
        """Show the kernels that are compiled, None: no more."""
        if state is None:
            if self._compiled is not None:
                self._bars.remove_task(self._compiled)
                self._compiled = None
            return
        if self._compiled is None:
            self._compiled = self._bars.add_task("compiling", total=state.total, text="")
        text = _brief_compilation(state)
        self._bars.update(self._compiled, total=state.total, completed=state.done, text=text)

    def __call__(self, p: Progress) -> None:
        if self._waiting is not None:
            self._bars.remove_task(self._waiting)
            self._waiting = None
        if p.step not in self._tasks or (self.last and self.last.step == p.step and p.done < self.last.done):
            self._tasks[p.step] = self._bars.add_task(p.step, total=p.total, text="")
        self._bars.update(self._tasks[p.step], completed=p.done, text=_brief(p))
        self.last = p

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.compiling(None)
        if self._waiting is not None:
            self._bars.remove_task(self._waiting)
        self._bars.stop()


class PlainProgress:
    """A line at each quarter of a step, and at least every ten seconds."""

    def __init__(self, console: Console | None) -> None:
        self.last: Progress | None = None
        self._console = console
        self._printed = -1
        self._began = self._when = monotonic()
        self._announced = False

    def __enter__(self) -> PlainProgress:
        return self

    def compiling(self, state: Compiling | None) -> None:
        """Print a line when a compilation begins."""
        if state is None:
            self._announced = False
        elif not self._announced and state.left >= _WORTH_A_LINE and self._console is not None:
            self._announced = True
            self._console.print(state.announcement, markup=False, soft_wrap=True)

    def __call__(self, p: Progress) -> None:
        if self.last is None or p.step != self.last.step or p.done < self.last.done:
            self._printed, self._began = -1, monotonic()
        self.last = p
        now, quarter = monotonic(), 4 * p.done // p.total
        if self._console is None or (quarter <= max(self._printed, 0) and now - self._when < _PLAIN_SECONDS):
            return
        if p.done == 0:  # the start of a step
            return
        self._printed, self._when = quarter, now
        left = (now - self._began) * (p.total - p.done) / p.done
        tail = f", {left:.0f} s left" if p.done < p.total else ""
        text = f"{p.step}: {100 * p.done // p.total:3d} %, {_describe(p)}{tail}"
        self._console.print(text, markup=False, soft_wrap=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


def make_progress(console: Console | None) -> LiveProgress | PlainProgress:
    """Return the display for a console, silent without one: a context, called with each `Progress`; its ``last`` holds
    the latest."""
    return LiveProgress(console) if console is not None and console.is_terminal else PlainProgress(console)


def kept(folder: Path) -> str:
    """Return a sentence on the location of results of a run that ended early, "" if there are none."""
    from fem_mbs.results.reader import Results

    try:
        any_rows = any(len(step.series) for step in Results.open(folder).steps)
    except ResultsError:
        return ""
    return f"; the results so far are in {folder}" if any_rows else ""


class interruptible:
    """Pass reports of a run to ``display``, and end the run at a report after Ctrl-C.

    An exception from a signal handler can land in a callback that swallows it, or half-way into writing results; so the
    handler only notes the first signal once a run has begun to report.  A second one interrupts at once.
    """

    def __init__(self, display: LiveProgress | PlainProgress) -> None:
        self.display = display
        self._wanted = False
        self._before: Callable | int | None = None
        self._told = contextlib.ExitStack()

    def _note(self, *args) -> None:
        at_once = self._wanted or self.display.last is None
        self._wanted = True
        if at_once:
            raise KeyboardInterrupt

    def __enter__(self) -> interruptible:
        self.display.__enter__()
        self._told.enter_context(told(self.display.compiling))
        # whoever started us with the signal ignored, as a shell does for background jobs, meant it
        listening = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if listening and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __call__(self, p: Progress) -> None:
        self.display(p)
        if self._wanted:
            raise KeyboardInterrupt

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        self._told.close()
        self.display.__exit__(kind, error, trace)


@contextlib.contextmanager
def compilations(console: Console, quiet: bool) -> Iterator[None]:
    """Show the kernels that are compiled, with a bar on a terminal."""
    if quiet or not console.is_terminal:
        with told(PlainProgress(None if quiet else console).compiling):
            yield
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("compiling"), BarColumn(bar_width=20), MofNCompleteColumn(), TextColumn("{task.fields[text]}"),
        TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console) as bars:
        task = bars.add_task("compiling", total=None, text="kernels")

        def show(state: Compiling | None) -> None:
            if state is not None:
                bars.update(task, total=state.total, completed=state.done, text=_brief_compilation(state))

        with told(show):
            yield
        total = bars.tasks[0].total
        bars.update(task, completed=total, text="kernels")


@contextlib.contextmanager
def noted(quiet: bool) -> Iterator[None]:
    """Say in a line of the error output, where that is no terminal, that kernels are compiled."""
    if showing():
        yield
        return
    announced = False

    def note(state: Compiling | None) -> None:
        nonlocal announced
        if state is not None and not announced and not quiet and state.left >= _WORTH_A_LINE:
            announced = True
            print(f"fem-mbs: {state.announcement}", file=sys.stderr)

    with told(note):
        yield
