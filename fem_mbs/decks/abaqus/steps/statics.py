"""Statics of a deck.

STATIC               linear_static_step, at the end of the step
STATIC with NLGEOM   static_step over the step's duration, in its increments
STATIC, RIKS         static_step along the path of equilibria, over the factor of the step's loads
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.decks.abaqus.steps.sequence import StepToMake
from fem_mbs.decks.abaqus.time import is_general
from fem_mbs.errors import UnsupportedError
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["add_statics"]


def add_statics(item: StepToMake) -> None:
    """Add a static step: linear, with large displacements, along a path, or as a perturbation.

    Raises:
        ModelError, UnsupportedError: loads are missing, or a path cannot be followed after the steps before.
    """
    conv, step = item.conv, item.step
    if step.riks is not None:
        _path(item)
    elif step.perturbation:
        _perturbation(item)
    elif conv.is_nonlinear(step) or _before_motion(conv, item.index):
        _nonlinear(item)
    else:
        _linear(item)


def _perturbation(item: StepToMake) -> None:
    """Add the linear response to the loads of the step alone, about the last general step."""
    conv, step = item.conv, item.step
    conv.model.linear_static_step(
        item.name, loads=item.need_loads("perturbation step"), preload=item.before.preload, duration=step.duration,
        report="increment", supports=item.supports, without=item.without,
    )  # fmt: skip
    later = next((s for s in conv.deck.steps[item.index + 1 :] if is_general(s)), None)
    if later is not None:
        conv.note(
            f"{later.where}: the step goes on from the last general step: loads and displacements of the PERTURBATION "
            f"step {step.number} have ended with it (CalculiX keeps them)",
            Effect.DIFFERS,
        )


def _linear(item: StepToMake) -> None:
    conv, step, plan = item.conv, item.step, item.plan
    if item.before.moved:
        conv.note(
            f"{step.where}: the linear step after a nonlinear one is computed about its deformed state", Effect.DIFFERS
        )
    if step.increment < step.duration * (1.0 - 1e-9):
        conv.note(f"{step.where}: only the end of the linear step is computed and printed", Effect.NONE)
    # motions, and equations with a right side, act beside the loads
    acting = [*plan.general, *conv.drivers] if any(plan.own.values()) else "all"
    conv.model.linear_static_step(
        item.name, loads=acting, duration=step.duration, supports=item.supports, without=item.without
    )
    item.before.after_statics(item.name)


def _nonlinear(item: StepToMake) -> None:
    conv, step = item.conv, item.step
    if not conv.is_nonlinear(step):
        conv.note(
            f"{step.where}: the step is computed as one with NLGEOM, since the nonlinear DYNAMIC step after it "
            "begins where it ends",
            Effect.DIFFERS,
        )
    elif not step.nlgeom:
        conv.note(f"{step.where}: nonlinear constraints: the step is computed as one with NLGEOM", Effect.NONE)
    increments = max(1, round(step.duration / step.increment))
    conv.model.static_step(increments, item.name, duration=step.duration, supports=item.supports)
    item.before.after_motion()


def _before_motion(conv: Conversion, index: int) -> bool:
    """Return whether the next general step other than a linear STATIC is a nonlinear DYNAMIC, so that this one must
    leave a state to go on from."""
    for step in conv.deck.steps[index + 1 :]:
        if is_general(step) and (step.procedure == "DYNAMIC" or conv.is_nonlinear(step)):
            return step.procedure == "DYNAMIC" and conv.is_nonlinear(step)
    return False


def _path(item: StepToMake) -> None:
    """Add a path of equilibria, over which a factor multiplies the loads of the step; others stay.

    Raises:
        ModelError, UnsupportedError: no loads, steps behind it, loads that take the place of others, moving supports.
    """
    conv, step, path = item.conv, item.step, item.step.riks
    assert path is not None
    _check_path(item)
    loads = item.need_loads("step with RIKS")
    if not conv.is_nonlinear(step):
        conv.note(f"{step.where}: a path is computed as with NLGEOM", Effect.DIFFERS)
    options: dict[str, Any] = {}
    if path.node:
        place = f"node {conv.deck.node_name(path.node)}"
        conv.model.named_nodes = {**conv.model.named_nodes, place: int(conv.node(path.node))}
        options = {"on": place, "component": "xyz"[path.dof - 1], "displacement": path.displacement}
    conv.note(
        f"{step.where}: the arc lengths of the path are its own; it ends where RIKS asks for it, or after INC="
        f"{step.max_increments} points", Effect.NONE,
    )  # fmt: skip
    conv.model.static_step(
        max(1, round(1.0 / path.first)) if np.isfinite(path.max_factor) else 1, item.name, control="arc", vary=loads,
        until=path.max_factor, points=step.max_increments, supports=item.supports, **options,
    )  # fmt: skip
    item.before.after_motion()


def _check_path(item: StepToMake) -> None:
    """Refuse a path where its loads are not those of the step alone, or other steps need what it leaves."""
    conv, step, index = item.conv, item.step, item.index
    steps = conv.deck.steps
    if index + 1 < len(steps):
        raise UnsupportedError("steps after one with RIKS are not supported", place=steps[index + 1].where,
                               remedy="give them a deck of their own")  # fmt: skip
    moved = next((b for b in step.boundaries if b.value and not b.fixed), None)
    if moved is not None:
        raise UnsupportedError("supports that move in a step with RIKS are not supported", place=moved.where,
                               remedy="follow the path over a load")  # fmt: skip
    for kind, lists in (("CLOAD", "cloads"), ("DLOAD", "dloads"), ("DSLOAD", "dsloads")):
        before = [s for s in steps[:index] if is_general(s) and getattr(s, lists)]
        if before and (kind in step.new or getattr(step, lists)):
            raise UnsupportedError(
                f"*{kind} in a step with RIKS after *{kind} of step {before[-1].number} is not supported: it may take "
                "its place", place=step.where, remedy="give the earlier load another kind, or the path alone",
            )  # fmt: skip
    linear = next((s for s in steps[:index] if is_general(s) and not conv.is_nonlinear(s)), None)
    if linear is not None:
        raise UnsupportedError(
            f"a step with RIKS after the linear step {linear.number}, which leaves no state, is not supported",
            place=step.where, remedy="give NLGEOM to that step, too",
        )  # fmt: skip
