"""Eigenvalues of small motions along a transient or a load path, every few steps or points.

Where a state moves, its matrices are frozen at that instant.  From one instant to the next eigenvalues keep their
columns by the similarity of their shapes, |x_i^H M y_j|, so that a column of the results is one branch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fem_mbs.analysis.small_motions import Selection, find_modes
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.results.modes.eigenvalues import NEUTRAL
from fem_mbs.results.report import EigenvaluesAlong
from fem_mbs.system.tangent import matrices_of

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.analysis.transient.events import Events

__all__ = ["EigenvaluePath"]

_SPARE = 2  # modes beyond those wanted that may go on
_GROWS = 2.0  # weight of growth beside similarity, which is at most one


class Wanted(Selection, Protocol):
    """Which modes are wanted, and how often."""

    @property
    def every(self) -> int: ...


class EigenvaluePath:
    """Eigenvalues along one step of a run, kept by instants.

    ``every``: steps from one computation to the next; ``events``: those of the step, which know the active changes.
    """

    def __init__(self, context: RunContext, owner: str, options: Wanted, events: Events | None = None):
        self.context, self.owner, self.events = context, owner, events
        self.options = options
        self.every, self.count = options.every, options.count
        self.instants: list[dict[str, float]] = []
        self.values: list[np.ndarray] = []
        self._shapes: np.ndarray | None = None
        self._matrices = matrices_of(context.system)  # whose pattern is that of all instants

    def none(self, rows: int = 1) -> np.ndarray:
        """Return the entries (rows, count, 2) of rows without eigenvalues."""
        return np.full((rows, self.count, 2), np.nan)

    def here(self, **instant: float) -> np.ndarray:
        """Return eigenvalues (1, count, 2), real and imaginary parts [1/s], of the present state of the run; NaN beyond
        the last. ``instant``: where this is, for the summary.

        Raises:
            ModelError, AnalysisError: the state cannot be linearised, or they are not found.
        """
        context = self.context
        compiled = context.compiled if self.events is None else self.events.laws()
        # with histories of its own: elements that remember go on as if nothing had been
        compiled = replace(compiled, system=context.system.with_parameters({}))
        loading = context.loading.in_motion() if np.any(context.state.V[0]) else context.loading
        lin = Linearisation(compiled, context.state, context.time, loading)
        modes, rows, shapes, _ = find_modes(lin, self.options, self.owner, self.count + _SPARE)
        rows, shapes = rows[modes.rigid :], shapes[:, modes.rigid :]
        values = self.none()[0]
        p = modes.values[rows]
        some, place = self._places(shapes, p, lin.tangent.M)
        values[place] = np.column_stack((p.real, p.imag))[some]
        self.instants.append(instant)
        self.values.append(values)
        return values[None]

    def _places(self, shapes: np.ndarray, p: np.ndarray, mass) -> tuple[np.ndarray, np.ndarray]:
        """Return which of the shapes (N, k) with eigenvalues p (k,) are kept, and in which columns.

        The assignment has the greatest similarity to the shapes before.  It considers a few more shapes than wanted:
        where a pair becomes two real eigenvalues, the decaying one must not displace another branch.  Growing ones are
        always kept.
        """
        from scipy.optimize import linear_sum_assignment

        k = shapes.shape[1]
        size = np.sqrt(np.abs(np.einsum("ik,ik->k", shapes.conj(), mass @ shapes)))
        shapes = shapes / np.where(size > 0.0, size, 1.0)
        growing = p.real > NEUTRAL * np.abs(p)
        if self._shapes is None:
            self._shapes = np.zeros((shapes.shape[0], self.count), complex)
            some = np.sort(np.argsort(~growing, kind="stable")[: self.count])
            place = np.arange(some.size)
        else:
            like = np.abs(self._shapes.conj().T @ (mass @ shapes))
            # of two of one shape the one that grows; nearer ones first where nothing is alike
            place, some = linear_sum_assignment(-(like + growing * _GROWS - 1e-9 * np.arange(k)))
        self._shapes[:, place] = shapes[:, some]
        return some, place

    def story(self) -> dict[str, Any]:
        """Return the data of a restart point, in addition to `shapes`."""
        return {"instants": self.instants, "values": [v.tolist() for v in self.values]}

    @property
    def shapes(self) -> dict[str, np.ndarray]:
        """Return the shapes from which branches continue, for a restart point."""
        assert self._shapes is not None
        return {"shapes": np.stack((self._shapes.real, self._shapes.imag))}

    def go_on(self, story: dict[str, Any], shapes: np.ndarray) -> None:
        """Continue from a restart point."""
        self.instants = list(story["instants"])
        self.values = [np.array(v, float) for v in story["values"]]
        self._shapes = shapes[0] + 1j * shapes[1]

    def report(self) -> EigenvaluesAlong | None:
        """Return instants, values (null where there are none), and where growth begins; None without an instant."""
        if not self.instants:
            return None
        values = np.array(self.values)
        size = np.hypot(values[..., 0], values[..., 1])
        growing = (values[..., 0] > NEUTRAL * size).any(axis=1)
        first = int(np.argmax(growing))
        return EigenvaluesAlong(
            **{key: [float(i[key]) for i in self.instants] for key in self.instants[0]},
            values=[[None if np.isnan(v[0]) else v.tolist() for v in row] for row in values],
            stable=not growing.any(),
            unstable_from={k: float(v) for k, v in self.instants[first].items()} if growing.any() else None,
        )
