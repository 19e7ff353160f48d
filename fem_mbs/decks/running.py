"""The run of a deck of any format: what its model lacks, places of errors, results in a folder or in memory."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from fem_mbs.decks.formats import AnyConverted, need_format
from fem_mbs.decks.notes import Accept, check_notes
from fem_mbs.errors import AnalysisError, LooseError, ModelError
from fem_mbs.input_files import inputs_of
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.analysis.solution import Solution
    from fem_mbs.model.model import Model
    from fem_mbs.results.reader import Results
    from fem_mbs.results.recorder import Recorder, Relay

__all__ = ["Runnable", "load_deck", "run_converted", "settle", "solve_converted"]

log = logging.getLogger("fem_mbs")


class Runnable(AnyConverted, Protocol):
    """A deck as a model with its steps."""

    def watch(self, context: RunContext, recorder: Recorder) -> Relay:
        """Return the receiver of rows that makes the deck's prints."""

    def placed(self, error: ModelError) -> ModelError:
        """Return an error with file and line of what it is about."""


C = TypeVar("C", bound=Runnable)


def settle(converted: C, accept: Accept) -> C:
    """Return a converted deck whose notes ``accept`` admits; its title tells how many entries were left out.

    Raises:
        UnsupportedError: the notes do not admit it.
    """
    check_notes(converted.notes, accept)
    model = converted.model
    model.departures = [n.text for n in converted.notes if n.effect is Effect.DROPPED]
    if model.departures:  # figures, tables and results.h5 show the title
        model.title += f" (not the deck's results: {len(model.departures)} not supported)"
    return converted


def load_deck(path: str | Path, accept: str = "normal") -> Model:
    """Return the model of a deck of Abaqus, CalculiX or Nastran with its steps, to which sensors, joints and further
    steps can be added.

    Its nodes are the mesh "deck": node 12 of the deck is the place "deck:#12".  `fem_mbs.solve` and `fem_mbs.run`
    compute its steps; they do not make the prints of the deck, as `fem-mbs run` does.  Content that the model has in
    another form is logged as a warning.

    Args:
        path: of the deck: .inp, .bdf, .nas or .dat.
        accept: "normal" refuses a deck with content that is not supported; "allow" leaves such content out, and the
            title of the model says so; "strict" also refuses a deck of which the model represents something in another
            form.

    Raises:
        MeshError: the file cannot be read, with file and line.
        ModelError: the file is no deck, ``accept`` is another word, or the deck is refused.
    """
    words = [str(word) for word in Accept]
    if accept not in words:
        raise ModelError(f"accept = {accept!r} is none of {', '.join(words)}", key="accept", value=accept)
    form = need_format(path)
    converted = form.convert(form.read(path), accept=Accept(accept))
    for note in converted.notes:
        if note.effect is not Effect.NONE:
            log.warning(note.line)
    return converted.model


def run_converted(
    converted: C, path: str | Path, directory: str | Path, progress: Callable | None = None,
    accept: Accept = Accept.NORMAL, told: Callable[[C], None] | None = None, overwrite: bool = False,
) -> Results:  # fmt: skip
    """Run the steps of a deck, read from ``path``, into a results folder.

    Args:
        overwrite: as `fem_mbs.analysis.run.run`.
        accept: what is done where the model lacks something of the deck.
        told: called with the converted deck before anything is computed.

    Raises:
        ModelError: the deck cannot be used, with file and line.
        AnalysisError: a step has no valid result.
    """
    from fem_mbs.analysis.run import run

    if told is not None:
        told(converted)
    try:
        results = run(
            converted.model, directory, progress=progress, skipped=lambda: [str(n) for n in converted.notes],
            watch=converted.watch, source=path, inputs=inputs_of(path), overwrite=overwrite,
        )  # fmt: skip
    except (AnalysisError, ModelError) as error:
        raise _placed(converted, error) from None
    check_notes(converted.notes, accept)
    return results


def solve_converted(converted: Runnable, progress: Callable | None = None) -> Solution:
    """Run the steps of a deck in memory; the prints are in the summaries of its steps.

    Raises:
        as `run_converted`.
    """
    from fem_mbs.analysis.run import solve

    try:
        return solve(converted.model, progress=progress, watch=converted.watch)
    except (AnalysisError, ModelError) as error:
        raise _placed(converted, error) from None


def _placed(converted: Runnable, error: AnalysisError | ModelError) -> Exception:
    """Convert the error of an unconstrained model in a linear step to an input error with file and line."""
    if isinstance(error, LooseError):
        return converted.placed(ModelError(error.text, owner=error.owner))
    return error if isinstance(error, AnalysisError) else converted.placed(error)
