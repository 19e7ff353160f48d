"""Derivatives of sensors as series of results, in memory and in a results folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from fem_mbs.analysis.recovery.part_results import write_parts
from fem_mbs.analysis.solution import SeriesTable, Solution
from fem_mbs.results.reader import Results
from fem_mbs.results.series import SLOPES, slopes_key
from fem_mbs.results.writer import ResultsWriter

__all__ = ["keep_slopes", "write_run"]


def keep_slopes(
    solution: Solution, results: Sequence[Solution], parameters: Mapping[str, float], sizes: np.ndarray
) -> None:
    """Add the derivatives of the sensors to the series of a run, for `fem_mbs.Results.sensitivity`.

    Args:
        solution: the run.
        results: of each parameter, the derivatives of its rows.
        parameters: their names and values.
        sizes: (n_par,) of the parameters, by which they are scaled in ``results``.
    """
    for step in solution.steps:
        slopes = {}
        for name, found, size in zip(parameters, results, sizes.tolist(), strict=True):
            own = found.steps[step.number].series
            for key in [key for key in step.series if key.startswith("sensor/") and key in own]:
                slopes[slopes_key(name, key.removeprefix("sensor/"))] = own[key] / size
        if slopes:
            step.series = SeriesTable({**step.series, **slopes})
            step.info = {**step.info, SLOPES: dict(parameters)}


def write_run(
    solution: Solution, directory: str | Path, source: str | Path | None = None, overwrite: bool = False
) -> Results:
    """Write a run that is in memory into a results folder, without restart points, and return it.

    Args:
        directory: the folder.
        source: the model file, by which the model is known in the folder; None: it is known by its title.
        overwrite: take the folder of another model, or one with other files in it, too.

    Raises:
        ResultsError: the folder cannot be used.
    """
    writer = ResultsWriter(directory, solution.header, source=source, overwrite=overwrite)
    try:
        write_parts(Path(directory), solution.compiled.model)
        for step in solution.steps:
            writer.begin_step(step.name, step.type, step.info)
            writer.append(step.series, step.frames or None)
            writer.end_step(step.report)
        writer.close(solution.report)
    except BaseException as error:
        writer.fail(str(error) or type(error).__name__)
        raise
    results = Results.open(directory)
    results.write_sensors_csv()
    results.write_response_csv()
    results.write_drives_csv()
    return results
