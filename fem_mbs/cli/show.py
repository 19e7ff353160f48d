"""`fem-mbs show`: a model before a run, or its results, as a page for a browser or a picture."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fem_mbs.decks.formats import is_deck, need_format
from fem_mbs.decks.notes import Accept
from fem_mbs.errors import InputError

if TYPE_CHECKING:
    from fem_mbs.model.model import Model

__all__ = ["show_file"]

_PICTURES = (".png", ".svg", ".pdf")


def show_file(
    path: Path, output: Path | None, picture: bool, step: int | None, browse: bool, accept: Accept, window: bool = False
) -> Path | None:
    """Write the page or the picture of a model file, a deck or a folder of results, and return its path.

    Args:
        path: what is shown.
        output: file to write; None: "view.html" in the folder of results, or MODEL-view.html here.
        picture: write a picture, which an ending .png, .svg or .pdf of ``output`` asks for too.
        step: number of the only step of results that is shown.
        browse: open the page in a browser, where there is a screen.
        accept: which content of a deck may be left unused.
        window: open a window of pyvista instead, write nothing, and return None.

    Raises:
        InputError: the first thing that is wrong in the file, by its place there.
        ResultsError: no results to show, or a file that cannot be written.
    """
    from fem_mbs.show.page import has_screen, write_page, write_picture

    picture = picture or (output is not None and output.suffix.lower() in _PICTURES)
    ending = ".png" if picture else ".html"
    write: Callable[..., Path] = write_picture if picture else write_page
    if window and (output is not None or picture):
        raise InputError(f"{path}: --window writes no file: remove -o and --png, or --window")
    if path.is_dir():
        from fem_mbs.results.folder import take
        from fem_mbs.results.reader import Results

        results = Results.open(path)
        if window:
            results.show(step, window=True)
            return None
        target = output or path / f"view{ending}"
        take(path, [target])
        written = write(results, target, step)
    else:
        if step is not None:
            raise InputError(f"{path}: --step is for results; a model is shown at its start: remove it")
        target = output or Path(f"{path.stem}-view{ending}")
        if window:
            _write_model(path, target, lambda model, _: model.show(window=True), accept)
            return None
        written = _write_model(path, target, write, accept)
    if browse and not picture and has_screen():
        webbrowser.open(written.resolve().as_uri())
    return written


def _write_model(path: Path, target: Path, write: Callable[..., Path], accept: Accept) -> Path:
    """Write what ``write`` makes of a model file or a deck."""
    if is_deck(path):
        form = need_format(path)
        return write(form.convert(form.read(path), accept=accept).model, target)
    from fem_mbs.modelfile.read import load_model, locate_error

    model: Model = load_model(path)
    try:
        return write(model, target)
    except InputError as error:
        raise locate_error(path, error) from None
