"""Elements that leave the range in which they are valid: one warning per group, an error beyond the limit."""

from __future__ import annotations

import numpy as np

from fem_mbs.assembly import Compiled
from fem_mbs.errors import AnalysisError

__all__ = ["Watcher"]


def _kind(block) -> str:
    return "Bushing" if block.type.name.startswith("bushing") else "Beam"


class Watcher:
    """Looks at the states of a run; see `fem_mbs.elements.registry.Watch`."""

    def __init__(self, compiled: Compiled):
        self.blocks = [b for b in compiled.blocks if b.type.watch is not None]
        self.worst: dict[tuple[str, str], tuple[float, int, float, str]] = {}

    def look(self, D: np.ndarray, time: float) -> None:
        """Judge the directors D (nr, ..) at a time.

        Raises:
            AnalysisError: an element is beyond its limit, naming the group and the element.
        """
        for block in self.blocks:
            watch = block.type.watch
            values = watch.values(block.par, block.rot, D)
            i = int(values.argmax())
            value = float(values[i])
            if not value > watch.warn:
                continue
            name = block.label(i)
            first = next(first for group, first, last in block.groups if first <= i < last)
            if value >= watch.limit:
                raise AnalysisError(
                    f'{_kind(block)} "{name}": {watch.what} of element {i - first + 1} is {value:.3g} '
                    f"at t = {time:.6g} s, the limit is {watch.limit:.3g}; {watch.remedy}"
                )
            owner = f'{_kind(block)} "{name}"'
            if value > self.worst.get((owner, watch.what), (0.0,))[0]:
                self.worst[owner, watch.what] = value, i - first + 1, time, watch.remedy

    @property
    def warnings(self) -> list[str]:
        """Plain sentences for the summary."""
        return [
            f"{owner}: {what} reached {value:.3g} rad in element {element} at t = {time:.6g} s; {remedy}"
            for (owner, what), (value, element, time, remedy) in self.worst.items()
        ]
