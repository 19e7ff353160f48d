"""Show and save objects by what stands above them: pages in notebooks, views, model files.

A class that derives from `Shown` gets `_repr_html_` and `show`.  The package `fem_mbs` registers here what draws
(`show_by`) and what writes models (`save_by`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

__all__ = ["Shown", "html_table", "report_by", "report_writer", "save_by", "saved", "show_by"]

_makers: list[Callable[[object], str]] = []
_viewers: list[Callable[[object, int | None, bool], Any]] = []
_reporters: list[Callable[[Any, Path], Path]] = []
_writers: list[Callable[[Any, str | Path], None]] = []


def show_by(maker: Callable[[object], str], viewer: Callable[[object, int | None, bool], Any]) -> None:
    """Let ``maker`` return the HTML of objects, and ``viewer`` their views (of a step, in a window or as a page); they
    take the place of those before."""
    _makers[:], _viewers[:] = [maker], [viewer]


def report_by(reporter: Callable[[Any, Path], Path]) -> None:
    """Let ``reporter`` write the reports of results; it takes the place of the one before."""
    _reporters[:] = [reporter]


def report_writer() -> Callable[[Any, Path], Path]:
    """Return the function that writes the report of results to a path and returns this path."""
    return _reporters[0]


def save_by(writer: Callable[[Any, str | Path], None]) -> None:
    """Let ``writer`` write models as files; what knows the format stands above the model."""
    _writers[:] = [writer]


def saved(model: Any, path: str | Path) -> None:
    """Write a model by the writer that `save_by` has named."""
    _writers[0](model, path)


_MOST_ROWS = 24  # of a table in a notebook


def html_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[Any]], gap: int | None = None) -> str:
    """Return a table with a title, "" without rows; of many rows the first ones.

    Args:
        title: above the table.
        heads: (k,) of the columns.
        rows: of k cells each.
        gap: number of rows that are left out already behind the first half.
    """
    found = list(rows)
    if not found:
        return ""
    shown = [[str(cell) for cell in row] for row in found[:_MOST_ROWS]]
    if len(found) > _MOST_ROWS:
        shown.append([f"and {len(found) - _MOST_ROWS} more", *[""] * (len(heads) - 1)])
    if gap:
        shown.insert(len(shown) // 2, [f"({gap} more)", *[""] * (len(heads) - 1)])
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in shown)
    return f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


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

    def show(self, step: int | None = None, window: bool = False) -> Any:
        """Return a view in space that turns, zooms and plays; a notebook shows it, ``view.write("page.html")`` makes a
        file of it.

        Args:
            step: of results, the number of the only step that is shown, from 0; None: all with frames.
            window: open a window of pyvista instead, and return its `fem_mbs.show.window.Window` when it is closed.

        Raises:
            ModelError: the model is not complete.
            ResultsError: no frames with displacements, or no such step; of a window no pyvista, or no screen.
        """
        return _viewers[0](self, step, window)
