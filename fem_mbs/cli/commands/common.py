"""What several commands share: options with their texts, the console, complaints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fem_mbs.decks.formats import is_deck
from fem_mbs.errors import ModelError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "ALLOW",
    "BACKEND",
    "FOLDER",
    "MODEL",
    "OVERWRITE",
    "REPLACE",
    "SET",
    "STRICT",
    "THREADS",
    "UNITS",
    "complain",
    "output_console",
    "refuse_set",
]

SET = typer.Option(
    "--set",
    help="Another value of a parameter, or of any key by its path: a=3, section.rod.diameter=0.01.",
    metavar="PATH=VALUE",
)
MODEL = typer.Argument(
    help="Model file (TOML), or a deck: Abaqus or CalculiX (.inp), Nastran (.bdf, .nas, .dat).", show_default=False
)
STRICT = typer.Option("--strict", help="Refuse a deck of which anything is not used.")
ALLOW = typer.Option(
    "--allow", help="Compute a deck without what is not supported of it: the results are not those of the deck."
)
UNITS = typer.Option(
    "--units",
    help="Of a deck: units in which results are shown (mm,MPa,speed=rpm), and what its numbers mean (base=mm t s).",
    metavar="UNITS",
    show_default="SI",
)
BACKEND = typer.Option(
    "--backend",
    help="Where matrices are: local, or petsc: on all processes of mpiexec -n N fem-mbs ...",
    metavar="NAME",
)
OVERWRITE = typer.Option(
    "--overwrite", help="Take a folder of another model, or with files of others; only what fem-mbs wrote is removed."
)


def _use(number: str | None) -> str | None:
    """Set the number of threads of the process, where the option gives one; refuse numbers that are none."""
    from fem_mbs.threads import thread_count, use_threads

    if number is not None:
        use_threads(number, "--threads")
    thread_count()
    return number


THREADS = typer.Option(
    "--threads",
    help="Number of threads; no result depends on it.",
    metavar="N",
    callback=_use,
    show_default="FEM_MBS_THREADS, or as many as processors",
)
REPLACE = typer.Option("--overwrite", help="Replace a file that is there, whatever it is.")
FOLDER = typer.Argument(help="Folder with the results of a run.", show_default=False)


def complain(text: str) -> None:
    """Print a sentence on standard error, in one line."""
    print("fem-mbs:", " ".join(text.split()), file=sys.stderr)


def output_console() -> Console:
    """Return a console for standard output; it is 140 characters wide where that is no terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=140)


def refuse_set(model: Path, settings: list[str] | None) -> None:
    """Refuse named values for a deck.

    Raises:
        ModelError: there are settings, and the model is a deck.
    """
    if settings and is_deck(model):
        raise ModelError(f"{model}: a deck has no named values to set; write a model file (TOML) of it")
