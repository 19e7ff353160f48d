"""Pages of models and results: one HTML file without a network, a view in notebooks, and still pictures."""

from __future__ import annotations

import json
import os
import sys
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from fem_mbs import files
from fem_mbs.model.model import Model
from fem_mbs.plot.scene import at_start
from fem_mbs.results.reader import Results
from fem_mbs.show.content import page_content

__all__ = ["View", "has_screen", "html_page", "results_of", "write_page", "write_picture"]

_MARK = b'name="generator" content="fem-mbs"'  # of a page in its first lines
_HEIGHT = 560  # of a view in a notebook, in pixels


def results_of(thing: Model | Results) -> Results:
    """Return results as they are, of a model its start.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(thing, Results):
        return thing
    if isinstance(thing, Model):
        return at_start(thing)
    raise TypeError(f"there is no view of a {type(thing).__name__}")


def html_page(thing: Model | Results, step: int | None = None) -> str:
    """Return the page of a model at its start, or of results, as the text of an HTML file that needs no other.

    Args:
        thing: what is shown.
        step: number of the only step of results that is shown, from 0; None: all with frames.

    Raises:
        ModelError: the model is not complete.
        ResultsError: no frames with displacements, or no such step.
    """
    content = page_content(results_of(thing), step)
    room = resources.files("fem_mbs.show")
    # "</" would end the script that holds the data; "<\/" is the same in JSON
    data = json.dumps(_finite(content), separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    parts = {
        "@TITLE@": escape(content["title"]),
        "@STYLE@": room.joinpath("viewer.css").read_text(encoding="utf-8"),
        "@SCRIPT@": room.joinpath("viewer.js").read_text(encoding="utf-8"),
        "@DATA@": data,  # last: it is the user's text
    }
    page = room.joinpath("page.html").read_text(encoding="utf-8")
    for mark, text in parts.items():
        page = page.replace(mark, text, 1)
    return page


def _finite(value: Any) -> Any:
    """Return a value of JSON with None in place of numbers that JSON does not have."""
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value.item() if hasattr(value, "item") else value


def write_page(thing: Model | Results, path: str | Path, step: int | None = None) -> Path:
    """Write the page of a model or of results; arguments and errors as `html_page`.

    Raises:
        ResultsError: also where the file cannot be written, or is no page of fem-mbs.
    """
    target = Path(path)
    files.write_page(target, html_page(thing, step), _MARK, "Page")
    return target


def write_picture(thing: Model | Results, path: str | Path, step: int | None = None) -> Path:
    """Write a still picture (PNG, SVG or PDF, by the ending) of a model at its start, or of a step of results.

    Raises:
        ModelError: the model is not complete.
        ResultsError: no frames, no such step, or the file cannot be written.
    """
    from fem_mbs.plot.model import plot_deformed, plot_model

    if isinstance(thing, Model):
        return plot_model(at_start(thing), path)
    return plot_deformed(thing, path, step=step)


def has_screen() -> bool:
    """Return whether a browser or a viewer could open a window."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


class View:
    """A page in a notebook: `_repr_html_` is a frame that holds it; `write` makes a file of it.

    Args:
        thing: a model or results.
        step: as for `html_page`.
    """

    def __init__(self, thing: Model | Results, step: int | None = None) -> None:
        self._thing, self._step = thing, step
        self.html = html_page(thing, step)

    def __repr__(self) -> str:
        return f"<View of {self._thing!r}>"

    def _repr_html_(self) -> str:
        """Return the page within a frame of its own, so that it does not touch the notebook."""
        style = f"width:100%;height:{_HEIGHT}px;border:1px solid #d5d9de"
        return f'<iframe style="{style}" sandbox="allow-scripts" srcdoc="{escape(self.html, quote=True)}"></iframe>'

    def write(self, path: str | Path) -> Path:
        """Write the page to the file ``path``, and return it; errors as for `write_page`."""
        return write_page(self._thing, path, self._step)
