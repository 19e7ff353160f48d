"""Identify parameters of a model from the energy of a run (`fem-mbs identify`)."""

from __future__ import annotations

import json as writer
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fem_mbs.cli.report_stability import make_table
from fem_mbs.decks.formats import is_deck
from fem_mbs.errors import ModelError
from fem_mbs.files import write_atomic
from fem_mbs.results.reader import Results
from fem_mbs.sweeps.identify import Identification, identify

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["identify_file"]


def identify_file(model: Path, results: Path, parameters: Sequence[str], console: Console, json: Path | None) -> None:
    """Identify parameters, print their values with rank and condition, and write them to ``json``.

    Raises:
        InputError: as `fem_mbs.sweeps.identify.identify`.
    """
    if is_deck(model):
        raise ModelError(f"{model}: identify takes model files; decks name no parameters")
    if not parameters:
        raise ModelError("identify: say what is sought, --of PATH, any number of times")
    measured = Results.open(results)
    found = identify(model, measured, parameters)
    table = make_table("parameter", "start", "identified", "standard deviation")
    for name, start, value, deviation in found.rows:
        table.add_row(
            name, f"{start:.6g}", f"{value:.8g}", "not determined" if deviation != deviation else f"{deviation:.2g}"
        )
    console.print(table)
    for line in _lines(found, measured.units.told(base=True).of("J").unit):
        console.print(line, markup=False, soft_wrap=True)
    if json is not None:
        write_atomic(json, writer.dumps(found.to_json(), indent=1) + "\n")


def _lines(found: Identification, joule: str) -> list[str]:
    """Return rank, condition, misfit, and the combinations that are not determined."""
    lines = [
        f"{found.equations} equations of rank {found.rank} of {len(found.values)}, condition {found.condition:.3g}; "
        f"they leave {found.error:.3g} {joule} of {found.change:.3g} {joule} (root mean squares)"
    ]
    for combination in found.undetermined:
        terms = " ".join(f"{share:+.3g} {name}" for name, share in combination.items())
        lines.append(f"not determined by this run, in relative changes: {terms}")
    return lines
