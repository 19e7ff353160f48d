"""Supports and motions of single nonlinear steps: what a step holds besides all others, takes on and releases.

A step has a compiled system of its own over the same dofs (`with_held`).  What it releases is free from its start on:
in a static step the reactions there go on as dead forces and moments that fade in proportion with the step, in a
transient they are gone at once.  A release does no work.  What it takes on stays where it is (groups with ``present``),
or is brought to its place: over a static step in proportion, in the first time step of a transient.  Velocities that a
transient stops so are those of a plastic blow, whose energy counts as the work of drivers.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.rows import Rows
from fem_mbs.analysis.start.initial import consistent_velocities
from fem_mbs.analysis.steps.common.values import named
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compile import with_held
from fem_mbs.system.compiled import Compiled, Driven

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.analysis.statics.problem import Problem
    from fem_mbs.analysis.transient.stepping import Stepping
    from fem_mbs.declarations.steps import PlannedStep

__all__ = ["Switched", "changes_supports", "held_before", "start_moving", "switched"]

#: Displacement over the model's length, or rotation, at which a support is where it was at the start.
_NEAR = 1e-12


@dataclass
class Switched:
    """How the supports of a nonlinear step differ from those of the nonlinear step before.

    Attributes:
        system: the compiled system of the step.
        released, taken: dofs that are free from the step on, or held or moved from it on.
        target: places (m,) of the driven dofs where their functions are zero, gap: (m,) how far they are from what
            their functions ask for at the start of the step.
        part: of the step, 0 to 1, that has passed in statics.
    """

    compiled: CompiledModel
    released: np.ndarray
    taken: np.ndarray
    target: np.ndarray
    gap: np.ndarray
    part: float = 0.0

    @property
    def system(self) -> Compiled:
        return self.compiled.system

    @property
    def moves(self) -> bool:
        """Return whether a static step brings something to its place, or releases it."""
        return bool(self.gap.any() or self.released.size)

    def measure(self, problem: Problem, factor: float) -> None:
        """Store the forces that hold the released dofs in balance at the start of a static step."""
        self.set(0.0)
        release = self.compiled.release
        if release is None:
            return
        release.level = 0.0
        problem.residual(factor)
        forces = np.zeros(self.system.n_dof)
        forces[self.released] = problem.state.residual[self.released] / problem.stepping.ctl[C.SF]
        release.set_forces(self.system, forces)
        self.set(0.0)

    def set(self, part: float) -> None:
        """Let forces of released supports, and places of supports, be those after a part of a static step."""
        self.part = part
        self.system.system.driven_reference[:] = self.target + (1.0 - part) * self.gap
        if self.compiled.release is not None:
            self.compiled.release.level = 1.0 - part if self.released.size else 0.0

    def jumps(self) -> list[str]:
        """Return a sentence on what a transient has moved to its place within the first time step."""
        if not self.gap.any():
            return []
        i = int(np.abs(self.gap).argmax())
        return [
            f"supports that arrive have moved {self.system.name_of(int(self.system.driven.dofs[i]))} by "
            f"{-self.gap[i]:.3g} to their place in the first time step; with present = true they hold it where it is"
        ]

    def end(self, context: RunContext, held: RunContext) -> None:
        """Let the step be over in the context of the run: released supports push no more."""
        if self.compiled.release is not None:
            self.compiled.release.level = 0.0
        n = min(context.state.work.size, held.state.work.size)
        context.state.work[:n] = held.state.work[:n]
        context.linear.forget()


def held_before(step: PlannedStep, context: RunContext) -> Sequence[str]:
    """Return the groups of supports of the nonlinear step before."""
    last = None
    for earlier in context.plan[: step.number]:
        if not earlier.kind.linear and hasattr(earlier.options, "supports"):
            last = earlier
    return named(last.options.supports) if last is not None else ()


def changes_supports(step: PlannedStep, context: RunContext) -> bool:
    """Return whether a step has other groups of supports than the nonlinear step before."""
    return set(named(step.options.supports)) != set(held_before(step, context))


def switched(step: PlannedStep, context: RunContext) -> RunContext:
    """Return a context in which the groups of supports of a step hold too, about the same state; the context itself
    where there are none.

    `end` of the context's ``switched`` ends it.

    Raises:
        ModelError: a rotation in space that must turn back, or a dof that is held and moved.
    """
    names, before = named(step.options.supports), held_before(step, context)
    if not names and not before:
        return context
    whole = context.compiled
    dofs, earlier = (_dofs(whole, groups) for groups in (names, before))
    moved, gap = _moved(step, context, names)
    compiled = replace(whole, system=with_held(context.system, dofs, moved))
    system = compiled.system
    known = context.system.driven.dofs.size
    # places change during the step, so that those of the model stay as they are
    target = system.system.driven_reference.copy()
    system.system = system.system._replace(driven_reference=target.copy())
    held = np.setdiff1d(dofs, np.concatenate((context.system.fixed, context.system.driven.dofs)))
    free = np.setdiff1d(earlier, np.concatenate((dofs, context.system.fixed, context.system.driven.dofs)))
    change = Switched(compiled, free, np.setdiff1d(held, earlier), target, np.concatenate((np.zeros(known), gap)))
    events = context.events
    if events is not None:
        events = copy(events)
        events.compiled = compiled
    own = system.initial_state()
    n = min(own.work.size, context.state.work.size)
    own.work[:n] = context.state.work[:n]
    # all but work arrays over the equations are those of the run
    state = context.state._replace(values=own.values, rhs=own.rhs, pivot=own.pivot, work=own.work)
    state.reaction[:, free] = 0.0
    context.linear.forget()
    return replace(context, compiled=compiled, rows=Rows(compiled), state=state, events=events, switched=change)


def _dofs(compiled: CompiledModel, groups: Sequence[str]) -> np.ndarray:
    """Return the dofs that groups of supports hold or move."""
    return np.unique(np.concatenate([np.empty(0, np.int64), *(compiled.step_supports[g] for g in groups)]))


def _moved(step: PlannedStep, context: RunContext, groups: Sequence[str]) -> tuple[Driven, np.ndarray]:
    """Return the dofs that follow functions, or are brought back to where they were at the start, and how far (m,) they
    are from there.

    Raises:
        ModelError: a rotation in space is to be brought back, or a dof moves twice.
    """
    compiled, system, state = context.compiled, context.system, context.state
    following = [compiled.step_motions[g] for g in groups if g in compiled.step_motions]
    dofs = np.concatenate([np.empty(0, np.int32), *(m.dofs for m in following)])
    functions = np.concatenate([np.empty(0, np.int32), *(m.functions for m in following)])
    owners = [owner for m in following for owner in m.owners]
    if len(np.unique(dofs)) < len(dofs):
        at = next(i for i, dof in enumerate(dofs.tolist()) if dof in dofs[:i])
        raise ModelError(
            f"{system.name_of(int(dofs[at]))} is moved by another group of the step, too", owner=owners[at],
            remedy="name one of the groups",
        )  # fmt: skip
    t = np.array([context.time])
    asked = np.array([float(compiled.functions[f](t)[0]) for f in functions])
    start = system.initial_state()
    gap = state.Q[0, dofs] - start.Q[0, dofs] - asked
    size = np.where(system.system.kind[dofs] == S.POSITION, system.length, 1.0)
    gap[np.abs(gap) <= _NEAR * size] = 0.0
    still = [g for g in groups if g not in context.model.building.keeping]
    back = np.setdiff1d(_dofs(compiled, still), np.concatenate((dofs, system.fixed, system.driven.dofs)))
    _check_turned(step, context, back, start)
    size = np.where(system.system.kind[back] == S.POSITION, system.length, 1.0)
    way = state.Q[0, back] - start.Q[0, back]
    if system.dimension == 3:
        way[system.system.kind[back] == S.ROTATION] = 0.0
    far = np.abs(way) > _NEAR * size
    back, way = back[far], way[far]
    if back.size:  # they follow the function zero
        silent = compiled.still
        dofs = np.concatenate((dofs, back))
        functions = np.concatenate((functions, np.full(back.size, silent)))
        owners += [step.owner] * back.size
        gap = np.concatenate((gap, way))
    return Driven(dofs.astype(np.int32), functions.astype(np.int32), owners), gap


def _check_turned(step: PlannedStep, context: RunContext, dofs: np.ndarray, start: S.State) -> None:
    """Refuse to bring rotations in space back: their dofs are increments, which tell no place.

    Raises:
        ModelError: naming the dof and the angle.
    """
    system = context.system
    if system.dimension == 2:
        return
    dofs = np.setdiff1d(dofs, _dofs(context.compiled, held_before(step, context)))
    dofs = dofs[system.system.kind[dofs] == S.ROTATION]
    rows = system.rot_row[np.searchsorted(system.offset, dofs, side="right") - 1]
    turned = np.linalg.norm(context.state.D[0, rows] - start.D[0, rows], axis=1)
    bad = np.flatnonzero(turned > _NEAR)
    if bad.size:
        angle = 2.0 * np.arcsin(min(turned[bad[0]] / np.sqrt(8.0), 1.0))
        raise ModelError(
            f"supports: {system.name_of(int(dofs[bad[0]]))} has turned by {angle:.3g} rad, and in space a support that "
            "arrives holds a rotation only where it is",
            owner=step.owner, key="supports", remedy="give the support a group of its own with present = true",
        )  # fmt: skip


def start_moving(context: RunContext, stepping: Stepping) -> bool:
    """Make the velocities of a transient that goes on fit what its step holds besides the step before; return whether
    the time steps have begun with them.

    The energy that the blow takes is work of drivers.
    """
    change = context.switched
    if change is None:
        return False
    context.state.past[:] = 0.0
    if not change.taken.size:
        return False
    stepping.begin()
    before = stepping.initial_energy
    assert before is not None
    context.now.start = consistent_velocities(context.compiled, context.state, context.time, current=True)
    stepping.begin()
    stepping.book_blow(before)
    return True
