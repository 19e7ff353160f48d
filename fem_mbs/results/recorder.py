"""The interface to which a run hands its rows.

`fem_mbs.results.writer.ResultsWriter` and `fem_mbs.analysis.solution.Solution` implement it; a `Relay` passes rows on
to one of these and evaluates them on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fem_mbs.results.report import StepReport, Summary

__all__ = ["Recorder", "Relay"]


class Recorder(Protocol):
    """The calls of a run, in this order: for each step `begin_step`, `append` (often) and `end_step`; then `close`, or
    `fail` at any time."""

    @property
    def directory(self) -> Path | None:
        """Return the folder of the results; None in memory."""

    def begin_step(self, name: str, type: str, info: dict[str, Any] | None = None) -> None:
        """Begin a step; ``info`` is what readers must know before its rows."""

    def append(
        self,
        series: Mapping[str, np.ndarray] | None = None,
        frames: Mapping[str, np.ndarray] | None = None,
        restart: dict[str, Any] | None = None,
        *,
        keep: bool = True,
    ) -> None:
        """Take rows of series, frames, and a restart point that stands behind them.

        A point without ``keep`` serves while the run goes on; it need not be written, and is dropped at the end.
        """

    def end_step(self, report: StepReport | None = None) -> StepReport | None:
        """End the step with its report; return the report as it is kept."""

    def close(self, summary: Summary | None = None) -> None:
        """End the run with its summary."""

    def fail(self, message: str) -> None:
        """End the run as failed."""


class Relay:
    """A recorder that passes everything on to another one; a subclass reads the rows that it needs."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    @property
    def directory(self) -> Path | None:
        """Return the folder of the results; None in memory."""
        return self.recorder.directory

    def begin_step(self, name: str, type: str, info: dict[str, Any] | None = None) -> None:
        """Begin a step."""
        self.recorder.begin_step(name, type, info)

    def append(
        self,
        series: Mapping[str, np.ndarray] | None = None,
        frames: Mapping[str, np.ndarray] | None = None,
        restart: dict[str, Any] | None = None,
        *,
        keep: bool = True,
    ) -> None:
        """Take rows of series, frames, and a restart point that stands behind them."""
        self.recorder.append(series, frames, restart, keep=keep)

    def end_step(self, report: StepReport | None = None) -> StepReport | None:
        """End the step with its report; return the report as it is kept."""
        return self.recorder.end_step(report)

    def close(self, summary: Summary | None = None) -> None:
        """End the run with its summary."""
        self.recorder.close(summary)

    def fail(self, message: str) -> None:
        """End the run as failed."""
        self.recorder.fail(message)
