"""Elements that leave the range in which they are valid: one warning per group, an error beyond the limit."""

from __future__ import annotations

import numpy as np

from fem_mbs.analysis.start.roots import Roots
from fem_mbs.elements.history_watch import HistoryWatch
from fem_mbs.elements.registry import Watch
from fem_mbs.errors import AnalysisError
from fem_mbs.system.compiled import Compiled

__all__ = ["Watcher"]


class Watcher:
    """Check the states of a run; see `fem_mbs.elements.registry.Watch`."""

    def __init__(self, compiled: Compiled):
        self.watched = [
            (block, watch, (compiled.block_history(block),) if isinstance(watch, HistoryWatch) else ())
            for block in compiled.blocks
            for watch in block.type.watches
        ]
        start = compiled.initial_state() if any(watch.from_start for _, watch, _ in self.watched) else None
        self.start = [
            0.0 if start is None or not watch.from_start
            else watch.values(block.par, block.dof, block.rot, start.Q[0], start.D[0])
            for block, watch, _ in self.watched
        ]  # fmt: skip
        self.roots = Roots(compiled)
        self.worst: dict[tuple[str, str], tuple[float, int, float, Watch]] = {}

    def look(self, Q: np.ndarray, D: np.ndarray, time: float) -> None:
        """Check the coordinates Q (N,) and directors D (nr, ..) at a time.

        Raises:
            AnalysisError: an element is beyond its limit, naming the group and the element; or a joint has moved to
                another root of its equations.
        """
        for joint in self.roots.turned(D):
            raise AnalysisError(
                f'Joint "{joint.name}": at t = {time:.6g} s it stands turned by half a turn or so, where its equations '
                "hold too but no motion leads; take smaller steps"
            )
        for (block, watch, history), start in zip(self.watched, self.start, strict=True):
            values = watch.values(block.par, block.dof, block.rot, Q, D, *history) - start
            i = int(values.argmax())
            value = float(values[i])
            if not value > watch.warn:
                continue
            name = block.label(i)
            first = next(first for group, first, last in block.groups if first <= i < last)
            if value >= watch.limit:
                raise AnalysisError(
                    f'{watch.kind} "{name}": {watch.what} of element {i - first} is {value:.3g} {watch.unit} at '
                    f"t = {time:.6g} s, the limit is {watch.limit:.3g} {watch.unit}; {watch.remedy}"
                )
            if value > self.worst.get((name, watch.what), (0.0,))[0]:
                self.worst[name, watch.what] = value, i - first, time, watch

    @property
    def warnings(self) -> list[str]:
        """Return sentences for the summary."""
        return [
            f'{watch.kind} "{name}": {what} reached {value:.3g} {watch.unit} in element {element} at t = {time:.6g} s; '
            f"{watch.remedy}"
            for (name, what), (value, element, time, watch) in self.worst.items()
        ]
