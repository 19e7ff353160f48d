"""Shared parts of commands: options with their texts, the console, complaints."""

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
    help="Change a parameter, or any key by its path: a=3, section.rod.diameter=0.01; repeat for several.",
    metavar="PATH=VALUE",
)
MODEL = typer.Argument(
    help="Model file (TOML), or a deck: Abaqus or CalculiX (.inp), Nastran (.bdf, .nas, .dat).", show_default=False
)
STRICT = typer.Option("--strict", help="Refuse a deck with content that is not used.")
ALLOW = typer.Option("--allow", help="Leave out unsupported content of a deck: the results are not those of the deck.")
UNITS = typer.Option(
    "--units",
    help="For a deck: units in which results are shown (mm,MPa,speed=rpm), and units of its numbers (base=mm t s).",
    metavar="UNITS",
    show_default="SI",
)
BACKEND = typer.Option(
    "--backend",
    help="Where linear steps are solved: local, or petsc on the processes of mpiexec -n N fem-mbs ...",
    metavar="NAME",
)
OVERWRITE = typer.Option(
    "--overwrite",
    help="Use a folder with results of another model or with other files; only files of fem-mbs are removed.",
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
    help="Number of threads; results do not depend on it.",
    metavar="N",
    callback=_use,
    show_default="FEM_MBS_THREADS, or as many as processors",
)
REPLACE = typer.Option("--overwrite", help="Replace an existing file of any kind.")
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
