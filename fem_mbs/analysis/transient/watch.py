"""Elements that leave the range in which they are valid: one warning per group, an error beyond the limit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem_mbs.analysis.start.roots import Roots
from fem_mbs.elements.registry import Watch
from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled
from fem_mbs.units import unit_of

__all__ = ["Watcher", "out_of_range"]


def out_of_range(compiled: Compiled, state: S.State) -> list[str]:
    """Return sentences on the groups of elements that leave the range in which they are valid, at row 1 of a state."""
    found = []
    for block in compiled.blocks:
        present = [watch for watch in block.type.watches if watch.history < 0]
        if not present:
            continue
        values = compiled.watched(block, state)
        for column, watch in enumerate(present):
            i = int(values[:, column].argmax())
            if not watch.from_start and values[i, column] > watch.warn:
                name, place = _element(block, i)
                found.append(
                    f'{watch.kind} "{name}": {watch.what} is {values[i, column]:.3g} {unit_of(watch.unit)}{place}; '
                    f"{watch.remedy}"
                )
    return found


def _element(block: Block, i: int) -> tuple[str, str]:
    """Return the name of the group of element i of a block, and its place there if the group has several."""
    first, last = next((first, last) for _, first, last in block.groups if first <= i < last)
    return block.label(i), f" in element {i - first}" if last - first > 1 else ""


class _Watched(NamedTuple):
    """One quantity of the elements of a block: its values at the start (n,), and where those of the steps are.

    ``rows``: of the compiled steps' table of largest values; None: in the history (n, n_hist).
    """

    block: Block
    watch: Watch
    start: np.ndarray | float
    rows: slice | None
    history: np.ndarray


class Watcher:
    """Check the states of a run; see `fem_mbs.elements.registry.Watch`."""

    def __init__(self, compiled: Compiled):
        self.watched: list[_Watched] = []
        self.roots = Roots(compiled)
        self.worst: dict[tuple[str, str], tuple[float, str, float, Watch]] = {}
        self._size = 0
        state = None
        for block, row in zip(compiled.blocks, compiled.system.table, strict=True):
            width, first = block.type.watched, int(row[S.O_WATCH])
            self._size = first + width * block.size
            start = np.zeros((block.size, width))
            if any(watch.from_start for watch in block.type.watches):
                state = state or compiled.initial_state()
                start = compiled.watched(block, state)
            history = compiled.block_history(block) if block.type.hist else np.zeros((block.size, 0))
            column = 0
            for watch in block.type.watches:
                if watch.history >= 0:
                    self.watched.append(_Watched(block, watch, 0.0, None, history))
                    continue
                rows = slice(first + column, self._size, width)
                self.watched.append(
                    _Watched(block, watch, start[:, column] if watch.from_start else 0.0, rows, history)
                )
                column += 1

    def table(self) -> np.ndarray:
        """Return an empty table (n, 2) of largest values and their steps, which the compiled steps fill."""
        return np.tile((-np.inf, 0.0), (self._size, 1))

    def look(self, table: np.ndarray, times: np.ndarray, D: np.ndarray) -> None:
        """Check the largest values of steps that end at ``times`` (n,), and the directors D (nr, ..) at the last end.

        Args:
            table: (n, 2), as `table` returned it and the steps have filled it.

        Raises:
            AnalysisError: an element is beyond its limit, naming the group and the element; or a joint has moved to
                another root of its equations.
        """
        for joint in self.roots.turned(D):
            raise AnalysisError(
                f'Joint "{joint.name}": at t = {times[-1]:.6g} {unit_of("s")} it stands turned by half a turn or so, '
                "where its equations hold too but no motion leads; take smaller steps"
            )
        for block, watch, start, rows, history in self.watched:
            values = history[:, watch.history] if rows is None else table[rows, 0] - start
            i = int(values.argmax())
            value = float(values[i])
            if not value > watch.warn:
                continue
            time = float(times[-1] if rows is None else times[int(table[rows, 1][i])])
            name, place = _element(block, i)
            if value >= watch.limit:
                raise AnalysisError(
                    f'{watch.kind} "{name}": {watch.what} is {value:.3g} {unit_of(watch.unit)}{place} at t = '
                    f"{time:.6g} {unit_of('s')}, the limit is {watch.limit:.3g} {unit_of(watch.unit)}; {watch.remedy}"
                )
            if value > self.worst.get((name, watch.what), (0.0,))[0]:
                self.worst[name, watch.what] = value, place, time, watch

    @property
    def warnings(self) -> list[str]:
        """Return sentences for the summary."""
        return [
            f'{watch.kind} "{name}": {what} reached {value:.3g} {unit_of(watch.unit)}{place} at t = {time:.6g} '
            f"{unit_of('s')}; {watch.remedy}"
            for (name, what), (value, place, time, watch) in self.worst.items()
        ]
