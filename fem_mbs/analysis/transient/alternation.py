"""The alternating error of accelerations and multipliers under Newmark's undamped rules, and its removal from rows."""

from __future__ import annotations

import numpy as np

from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled

__all__ = ["Alternation", "of_constraints"]

_KEPT = 3  # rows that `Alternation.removed` looks back


class Alternation:
    """Recorded values that alternate, and the last rows of them.

    Attributes:
        own: mask (n_record,) of the values; none unless the rule is ``undamped`` and the model has constraints.
        recent: the last three rows of them, NaN before the start.
    """

    def __init__(self, compiled: Compiled, middle_values: np.ndarray, undamped: bool) -> None:
        # without constraints accelerations are those of an ordinary differential equation, and nothing alternates
        constrained = (compiled.system.kind[compiled.system.unknown] == S.MULTIPLIER).any()
        none = np.zeros(len(middle_values), bool)
        self.own = of_constraints(compiled, middle_values) if undamped and constrained else none
        self.recent = np.full((_KEPT, np.count_nonzero(self.own)), np.nan)

    def removed(self, record: np.ndarray) -> np.ndarray:
        """Return rows (n, n_record) without the alternating error.

        Constraints at the ends of steps give the accelerations of Newmark's undamped rules an error (-1)^n (a + b n),
        of their own order at any h (Cardona & Geradin 1989, doi:10.1016/0045-7949(89)90050-9).  For values y, the
        combination y/2 + 3/4 y[-1] - y[-3]/4 removes it and is of second order.  At the start a = 0, so that the third
        row needs no fourth value; the first two are of first order and stay unchanged.
        """
        own = self.own
        if not own.any():
            return record
        y = np.vstack((self.recent, record[:, own]))
        self.recent[:] = y[-_KEPT:]
        now, last, second, third = (y[_KEPT - k : len(y) - k] for k in range(4))
        steady = 0.5 * now + 0.75 * last - 0.25 * third
        for fewer in (0.625 * now + 0.75 * last - 0.375 * second, now):
            steady = np.where(np.isnan(steady), fewer, steady)
        record = record.copy()
        record[:, own] = steady
        return record


def of_constraints(compiled: Compiled, middle_values: np.ndarray) -> np.ndarray:
    """Return a mask (n_record,) of recorded values that depend on multipliers or accelerations.

    They are those of joints, of prescribed motions, and section forces of beams with inertia along them.
    """
    source, index = compiled.system.record.T
    found = source == S.REC_REACTION
    for block, row in zip(compiled.blocks, compiled.system.table, strict=True):
        if block.type.multipliers or row[S.O_ALONG] >= 0:
            last = block.first_output + block.size * len(block.type.outputs)
            found |= (source == S.REC_OUT) & (index >= block.first_output) & (index < last)
    return found & middle_values
