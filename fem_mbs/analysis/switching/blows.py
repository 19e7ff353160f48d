"""The blow of locks that close on a motion: impulses, and the energy that is lost.

The velocities before, v0, become the nearest ones v1 that all constraints allow, in the norm of the mass:

    [M  G^T] [v1]   [M v0]
    [G   0 ] [y ] = [-g_t]

the plastic blow, with the impulses -y on the coordinates of the constraints.  The loss is (v1 - v0).M (v1 - v0)/2
(Carnot's theorem); where no driver moves it is the difference of the energies before and after.  Several locks at once
share it as y times half of the rate that each stops.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fem_mbs.analysis.start.initial import function_jets, multiplier_scales, multipliers_of, started
from fem_mbs.analysis.switching.locks import Switching
from fem_mbs.model.model import CompiledModel
from fem_mbs.results.report import EventReport
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.states import spatial_axes

__all__ = ["Blow"]


class Blow:
    """A blow that has changed the velocities of a state.

    Args:
        before: (N,) velocities before it, rotations in body axes.

    Attributes:
        loss: of kinetic energy [J], as long as drivers keep their rates.
        driven: whether something is driven, so that a part of the change of energy is the work of drivers.
    """

    def __init__(self, compiled: CompiledModel, state: S.State, t: float, before: np.ndarray):
        system = self.system = compiled.system
        first = system.first_multiplier
        jets = function_jets(compiled, t)
        here = started(compiled, state, jets[:, 0])
        was = spatial_axes(system, state, before)[:first]
        change = spatial_axes(system, state, state.V[0])[:first] - was
        momenta = here.M[:first, :first] @ change
        self.t = t
        self.loss = 0.5 * float(change @ momenta)
        self.driven = bool(np.any(jets[~np.asarray(compiled.loads, bool), 1]))
        self.impulses = -multipliers_of(here, momenta) * multiplier_scales(system)
        self.rates = here.gradients[: self.impulses.size, :first] @ was

    def book(
        self, switching: Switching, names: Sequence[str], state: S.State | None, largest: float | None, lost: float
    ) -> list[EventReport]:
        """Store the impulses of locks, take the losses from their works in a state (None: they are booked as those of
        drivers), and return their reports.

        Args:
            largest: change of a velocity.
            lost: energy [J] that all of them lose; what the steps leave of the rates of other constraints is in it too.
        """
        rows = [switching.elements(self.system, name) for name in names]
        impulses = np.array([self.impulses[row] for _, row in rows])
        shares = -0.5 * impulses * [self.rates[row] for _, row in rows]
        total = float(shares.sum())
        losses = lost * shares / total if total != 0.0 else np.full(len(names), lost / len(names))
        found = []
        for name, (element, _), impulse, loss in zip(names, rows, impulses.tolist(), losses.tolist(), strict=True):
            switching.book_impulse(self.system, name, impulse)
            if state is not None:
                state.work[element] -= loss
            told = {"velocity_change": largest, "impulse": impulse, "loss": loss}
            if switching.locks[name].said.limit is not None:
                told = {}  # a brake holds what stands: there is round-off alone
            found.append(EventReport(name=name, time=self.t, action="lock", **told))
        return found
