"""Show objects in notebooks: a class that derives from `Shown` gets `_repr_html_` and `show`.

What draws the pages stands above all classes that are shown.  The package `fem_mbs` registers it here (`show_by`).
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

__all__ = ["Shown", "report_by", "report_writer", "show_by"]

_makers: list[Callable[[object], str]] = []
_viewers: list[Callable[[object, int | None], Any]] = []
_reporters: list[Callable[[Any, Path], Path]] = []


def show_by(maker: Callable[[object], str], viewer: Callable[[object, int | None], Any]) -> None:
    """Let ``maker`` return the HTML of objects, and ``viewer`` their views; they take the place of those before."""
    _makers[:], _viewers[:] = [maker], [viewer]


def report_by(reporter: Callable[[Any, Path], Path]) -> None:
    """Let ``reporter`` write the reports of results; it takes the place of the one before."""
    _reporters[:] = [reporter]


def report_writer() -> Callable[[Any, Path], Path]:
    """Return what writes the report of results to a path, and returns this."""
    return _reporters[0]


class Shown:
    """Base of classes whose objects show themselves in notebooks."""

    def _repr_html_(self) -> str:
        """Return the object as HTML; where that fails, as text: a display must not end a user's session."""
        try:
            return _makers[0](self)
        except Exception:
            import logging

            logging.getLogger("fem_mbs").debug("no page of %r", type(self).__name__, exc_info=True)
            return f"<pre>{escape(repr(self))}</pre>"

    def show(self, step: int | None = None) -> Any:
        """Return a view in space that turns, zooms and plays; a notebook shows it, ``view.write("page.html")`` makes a
        file of it.

        Args:
            step: of results, the number of the only step that is shown, from 0; None: all with frames.

        Raises:
            ModelError: the model is not complete.
            ResultsError: no frames with displacements, or no such step.
        """
        return _viewers[0](self, step)
