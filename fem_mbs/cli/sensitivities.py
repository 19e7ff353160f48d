"""Derivatives of a run with respect to parameters: their table, files and figure (`fem-mbs sensitivities`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fem_mbs.cli.report_stability import make_table
from fem_mbs.errors import InputError
from fem_mbs.modelfile.read import locate_error
from fem_mbs.results.folder import take

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["run_sensitivities"]

FIGURE = "sensitivities.png"


def run_sensitivities(
    model: Path, parameters: Sequence[str], quantities: Sequence[str], folder: Path | None, console: Console,
    quiet: bool,
) -> None:  # fmt: skip
    """Run a model with its derivatives, print their table, and write results, table, series and figure into a
    folder.

    Raises:
        InputError, AnalysisError: as of `fem_mbs.sensitivities`.
    """
    from fem_mbs.plot.sweep import plot_sensitivities
    from fem_mbs.sweeps.sensitivities import FILES, sensitivities

    target = folder if folder is not None else Path(f"{model.stem}-sensitivities")
    try:
        found = sensitivities(model, parameters, quantities)
    except InputError as error:
        raise locate_error(model, error) from None
    found.write_results(target, model)
    take(target, [target / name for name in (*FILES, FIGURE)])
    written = found.write(target)
    written.append(plot_sensitivities(found, target / FIGURE, quantities))
    if quiet:
        return
    heads, rows = found.table()
    table = make_table(*heads)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    for sentence in found.warnings:
        console.print(f"warning: {sentence}", markup=False, soft_wrap=True)
    names = ", ".join(path.name for path in written)
    run, making = found.seconds
    console.print(f"run with derivatives {run:.2f} s, models beside it {making:.2f} s", markup=False)
    console.print(f"{target}: {names}", markup=False, soft_wrap=True)
