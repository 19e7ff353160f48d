"""The tables of a model file: those of the registry of declarations, the top of the file, and steps.

`TABLES` lists them in the order in which they are built.  The reference `docs/model-file.md` is written from here
(`fem_mbs.modelfile.reference`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import ANY_TEXT, DIMENSION, FLAG, NAME, TEXT, VECTOR, WORDS
from fem_mbs.declarations.steps import step_names
from fem_mbs.late import dataclass
from fem_mbs.model.registry import TABLES as _DECLARED
from fem_mbs.model.registry import Table

__all__ = ["TABLES", "Document", "StepHead", "Table"]


@dataclass(frozen=True, eq=False)
class Document(Declaration):
    """The keys at the top of a model file."""

    owner = "Model"

    title: str = key(ANY_TEXT, "for reports and figures", "")
    dimension: int = key(DIMENSION, "2: x, y and one rotation; 3: space", 3)
    gravity: list[float] | None = key(VECTOR, "acceleration of gravity", None, shows="none", unit="m/s^2")
    elimination: bool = key(FLAG, "nodes that a joint makes coincide share their unknowns where that is exact", True)
    fields: str | list[str] = key(
        WORDS,
        'of solid and plane parts in frames: "stress", "strain", "shapes" (stresses of modes too), "points", "layers"; '
        "see results.md",
        ["stress"],
        shows='"stress"',
    )
    order: str | list[str] | None = key(
        WORDS,
        'all tables but steps in the order in which they are made, as "TABLE.NAME" or "TABLE.TABLE NUMBER"; nodes and '
        "elements are numbered in it. `write_model` gives it where calls in Python came in another order",
        None,
        shows="that of this page",
    )


def _alternatives(words: Iterable[str]) -> str:
    """Return words in quotes, as alternatives."""
    *first, last = (f'"{word}"' for word in words)
    return f"{', '.join(first)} or {last}"


@dataclass(frozen=True, eq=False)
class StepHead(Declaration):
    """What is computed, one after the other."""

    owner = "Step"

    type: str = key(TEXT, _alternatives(step_names()))
    name: str | None = key(NAME, "for reports", None, shows="the type")


_CHECKS = len(_DECLARED) - 1  # steps come before the checks of their results
TABLES: Sequence[Table] = (*_DECLARED[:_CHECKS], Table("step", StepHead), *_DECLARED[_CHECKS:])
