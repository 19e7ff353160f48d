"""Runs and reductions of all processes: each computes the same, the first one writes and speaks."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fem_mbs.analysis.context import RunContext, make_context
from fem_mbs.analysis.run import look_ahead, run, run_steps
from fem_mbs.errors import FemMbsError
from fem_mbs.solvers.distributed.ranks import ranks
from fem_mbs.threads import analysis
from fem_mbs.units import in_units_of_model

if TYPE_CHECKING:
    from fem_mbs.model.model import Model
    from fem_mbs.results.reader import Results

__all__ = ["agreed", "run_distributed"]

_PATIENCE = 5.0  # [s] that a rank with an error waits for the same error of the others
Found = TypeVar("Found")


class _Unwritten:
    """Takes the rows of a rank that writes nothing."""

    def begin_step(self, *_: Any) -> None:
        """Pass over the beginning of a step."""

    def append(self, *_: Any, **__: Any) -> None:
        """Pass over rows."""

    def end_step(self, report: Any = None) -> Any:
        """Return the report."""
        return report

    def close(self, *_: Any) -> None:
        """Pass over the summary."""

    def fail(self, message: str) -> None:
        """Pass over what ended the run."""


@in_units_of_model
def run_distributed(model: Model, directory: str | Path, backend: str, **options: Any) -> Results | None:
    """Run all linear steps of a model on all ranks and return the results on the first one, None on the others.

    ``options`` are those of `fem_mbs.analysis.run.run`.

    Raises:
        ModelError, AnalysisError: as of that, on all ranks; a step or a model that is not distributed.
    """
    comm = ranks().comm
    if ranks().rank == 0:
        begun = False

        def watch(context: RunContext, recorder: Any) -> Any:
            nonlocal begun
            begun = True
            comm.bcast(None)
            return recorder

        try:
            return run(model, directory, backend=backend, watch=watch, **options)
        except FemMbsError as error:
            if not begun:
                comm.bcast(error)
            raise
    failed: FemMbsError | None = None
    try:
        with analysis(options.get("threads")):
            context = make_context(model, _Unwritten(), backend=backend)  # at the same time as the first one
    except FemMbsError as error:
        failed = error
    refused = comm.bcast(None) or failed  # errors of the first rank before the first step
    if refused is not None:
        raise refused
    look_ahead(context)
    run_steps(replace(context, outcomes=list, sensors=list))
    return None


def agreed(work: Callable[[], Found], end: Callable[[BaseException], int]) -> Found:
    """Return the result of ``work``; an error of it ends all ranks with one message.

    Where all ranks come to their ends, the first one with an error says so and all exit with its code.  Where others go
    on, as after a full disk, the rank with the error says so and ends them.

    Args:
        end: says what an error is and returns the exit code.
    """
    all_ranks = ranks()
    failed: BaseException | None = None
    found: Any = None
    try:
        found = work()
    except SystemExit as exit:
        failed = exit if exit.code else None
    except BaseException as error:
        failed = error
    ended, began = all_ranks.comm.Ibarrier(), time.monotonic()
    while not ended.Test():
        time.sleep(0.01)
        if failed is not None and time.monotonic() - began > _PATIENCE:
            all_ranks.comm.Abort(end(failed))
    others = all_ranks.gathered(failed is not None)
    if not any(others):
        return found
    first = others.index(True)
    code = end(failed) if failed is not None and all_ranks.rank == first else 0
    raise SystemExit(all_ranks.comm.bcast(code, root=first))
