"""Checks of step options against the model and the steps before."""

from __future__ import annotations

import difflib
import math
from typing import TYPE_CHECKING

from fem_mbs.analysis.steps.common.options import FRAMES, PERIODIC, Along, Sought, TimeSteps, Turning
from fem_mbs.analysis.steps.common.values import named
from fem_mbs.analysis.transient.rules import RULES
from fem_mbs.declarations.kinds import shown
from fem_mbs.declarations.steps import PlannedStep, step_kind
from fem_mbs.errors import ModelError
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.model.model import Model
    from fem_mbs.model.parts.rotors import Rotor
    from fem_mbs.system.compiled import Compiled

__all__ = [
    "check_friction", "check_harmonics", "check_impacts", "check_named", "check_preload", "check_rotor", "check_sought",
    "check_spin",
    "check_stiffening", "check_supports", "check_turning", "check_weight", "check_without", "count_steps",
    "rotor_of",
]  # fmt: skip

#: No run waits for more steps.
_MOST_STEPS = 1e9


def check_sought(owner: str, options: Sought | Along) -> None:
    """Refuse a choice of complex modes that makes no sense.

    Raises:
        ModelError: naming the step, the option and what it may be.
    """
    if options.reach is not None and options.which != "rightmost":
        raise ModelError(
            f'reach = {options.reach:g} belongs to which = "rightmost"',
            owner=owner,
            remedy="remove it, or ask for those",
        )
    if options.which == "rightmost":
        for key, value in options.given().items():
            if key in ("near", "shift"):
                raise ModelError(
                    f'{key} = {shown(value)} belongs to which = "nearest"', owner=owner, key=key, value=value,
                    remedy="remove it; reach limits where those of the largest growth are sought",
                )  # fmt: skip


def check_impacts(step: PlannedStep, system: Compiled) -> None:
    """Refuse options of a transient that blows exclude.

    Raises:
        ModelError: naming the impact and the option.
    """
    options, owner = step.options, step.owner
    if not RULES[options.rule].two_state:
        system.refuse_impacts(
            owner, f'is not for rule = "{options.rule}", whose accelerations a blow would have to begin anew',
            'take rule = "midpoint" or "decaying"',
        )  # fmt: skip
    if options.adaptive:
        system.refuse_impacts(owner, "makes its blows within equal steps", "remove adaptive")
    if options.energy_tolerance:
        system.refuse_impacts(owner, "finds its blows in steps that are exact to round-off", "remove energy_tolerance")
    if options.eigenvalues is not None:
        system.refuse_impacts(owner, "has no small motions", "remove eigenvalues")
    if options.supports:
        system.refuse_impacts(owner, "is not for steps with supports of their own", "remove supports")


def check_rotor(owner: str, options: Turning, model: Model) -> None:
    """Refuse an unknown rotor, and options that have no sense without one.

    Raises:
        ModelError: naming the step, the option and the choices.
    """
    if options.rotor:
        rotor_of(model, options.rotor, owner)
    elif options.speed is not None:
        raise ModelError(
            f"speed = {shown(options.speed)} needs a rotor",
            owner=owner,
            key="speed",
            value=options.speed,
            remedy="name it in rotor",
        )
    elif options.frame not in FRAMES[:2]:
        raise ModelError(f'frame = "{options.frame}" needs a rotor', owner=owner, remedy="name it in rotor")


def check_harmonics(owner: str, frame: str, harmonics: int | None) -> None:
    """Refuse a number of harmonics of another frame than that which counts them.

    Raises:
        ModelError: naming the step and the number.
    """
    if harmonics is not None and frame != PERIODIC:
        raise ModelError(
            f'harmonics = {harmonics} belongs to frame = "periodic"', owner=owner, key="harmonics",
            remedy="remove it, or take that frame",
        )  # fmt: skip


def rotor_of(model: Model, name: str, owner: str) -> Rotor:
    """Return a rotor of the model.

    Raises:
        ModelError: there is none of this name.
    """
    if name not in model.rotors:
        close = difflib.get_close_matches(name, model.rotors, n=1)
        there = f"there are {', '.join(model.rotors)}" if model.rotors else "none exists"
        raise ModelError(
            f'no rotor "{name}"', owner=owner, key="rotor", value=name,
            remedy=f'did you mean "{close[0]}"?' if close else there,
        )  # fmt: skip
    return model.rotors[name]


def check_named(step: PlannedStep, model: Model, option: str) -> str:
    """Refuse the name of a step that does not stand before this one, that several steps before it have, or that was
    made about another state; return the preload that the named step is about.

    Raises:
        ModelError: naming the step, the option and what it may be.
    """
    wanted = getattr(step.options, option)
    earlier: dict[str, str] = {}
    moved = ""
    for other in model.steps[: step.number]:
        kind = step_kind(other.kind)
        if option in kind.carries:
            if other.name == wanted and wanted in earlier:
                raise ModelError(
                    f'{option} = "{wanted}": several steps before it have this name',
                    owner=step.owner, key=option, value=wanted, remedy="give each of them a name of its own",
                )  # fmt: skip
            earlier[other.name] = other.options.get("preload", "")
        elif not kind.linear and wanted in earlier:
            moved = other.name
    if wanted not in earlier:
        what = {"start": "linear static step or linear transient", "basis": "modal step"}.get(
            option, "linear static step"
        )
        raise ModelError(
            f'{option} = "{wanted}" must be the name of a {what} before it',
            owner=step.owner,
            remedy=f"there are {', '.join(earlier) or 'none'}",
        )
    if moved and option != "basis":
        raise ModelError(
            f'{option} = "{wanted}": step "{moved}" has moved the model since',
            owner=step.owner,
            remedy="put the linear static step behind it",
        )
    return earlier[wanted]


def check_preload(step: PlannedStep, model: Model) -> None:
    """Refuse an unknown preload, one that is about another preload, or one that a reduced part does not support.

    Raises:
        ModelError: naming the step, the option and the choices.
    """
    preload = step.options.preload
    if not preload:
        return
    about = check_named(step, model, "preload")
    if about:
        raise ModelError(
            f'preload = "{preload}" is itself about the preload "{about}"',
            owner=step.owner,
            remedy="bring all loads on in one linear static step",
        )
    check_stiffening(step.owner, f'preload = "{preload}"', model)


def check_supports(step: PlannedStep, model: Model) -> None:
    """Refuse groups of supports that the model does not have.

    Raises:
        ModelError: naming the step, the group and those that there are.
    """
    for name in named(step.options.supports):
        if name not in model.building.step_supports:
            known = ", ".join(f'"{k}"' for k in model.building.step_supports) or "none"
            raise ModelError(
                f'no support has the group "{name}" (there are {known})', owner=step.owner, key="supports", value=name
            )


def check_without(step: PlannedStep, context: RunContext) -> None:
    """Refuse names of equations that the model does not have.

    Raises:
        ModelError: naming the step, the equation and those that there are.
    """
    from fem_mbs.model.connections.terms import names_of_equations

    there = names_of_equations(context.system)
    for name in named(step.options.without):
        if name not in there:
            known = ", ".join(f'"{k}"' for k in there) or "none"
            raise ModelError(
                f'no equation or tie is called "{name}" (there are {known})', owner=step.owner, key="without",
                value=name, remedy="correct the name",
            )  # fmt: skip


def check_stiffening(owner: str, what: str, model: Model) -> None:
    """Refuse stiffening by stresses of a model with a reduced part.

    Raises:
        ModelError: naming the step and the part.
    """
    if model.reduced_parts:
        raise ModelError(
            f'{what} asks for what stresses stiffen, which reduced part "{next(iter(model.reduced_parts))}" '
            "does not know",
            owner=owner,
            remedy='describe it by its elements, or reduce it at the end of a static step (state = "end")',
        )


def check_friction(owner: str, system: Compiled) -> None:
    """Refuse symmetric matrices of a model whose friction depends on the force of a joint.

    Raises:
        ModelError: naming the friction and what to take.
    """
    for block in system.blocks:
        if not any(block.reads or ()):
            continue
        running = block.par[:, block.type.column("reference rate")] >= 0
        first = next((i for i, joint in enumerate(block.reads or ()) if joint and running[i]), None)
        if first is not None:
            raise ModelError(
                f'friction "{block.label(first)}" on a running surface depends on the force of its joint, which '
                "symmetric matrices do not know",
                owner=owner,
                remedy="take complex_modes, or a static or transient step",
            )


def check_weight(owner: str, context: RunContext, far: bool = False) -> None:
    """Refuse equilibria of a model that can fall freely, before looking for them.

    Args:
        owner: the step, for messages.
        context: the run.
        far: the model may fall until something catches it.

    Raises:
        ModelError: naming the directions.
    """
    import numpy as np

    from fem_mbs.analysis.start.mobility import unheld

    g = np.asarray(context.model.gravity, float)
    falls = unheld(context.compiled, context.state, far)[: g.size] & (g != 0.0)
    if falls.any():
        axes = ", ".join("xyz"[i] for i in np.flatnonzero(falls))
        raise ModelError(
            f"nothing holds the model along {axes}, so nothing can bear its weight",
            owner=owner,
            remedy="add a support or a joint to the ground, or take gravity away",
        )


def count_steps(owner: str, options: TimeSteps) -> int:
    """Return the number of steps of length h in the duration.

    Raises:
        ModelError: the duration is not a whole number of steps, or there are too many.
    """
    ratio = options.duration / options.h
    if not ratio <= _MOST_STEPS:
        raise ModelError(
            f"duration = {options.duration:g} {unit_of('s')} in steps of h = {options.h:g} {unit_of('s')} makes "
            f"{ratio:.3g} steps",
            owner=owner,
            remedy=f"at most {_MOST_STEPS:g} can be made: take a larger h",
        )
    n = round(ratio)
    if n < 1 or abs(ratio - n) > 1e-6 * max(1.0, ratio):
        whole_steps = max(1, math.ceil(ratio))
        raise ModelError(
            f"duration = {options.duration:g} {unit_of('s')} is not a whole number of steps h = {options.h:g} "
            f"{unit_of('s')}",
            owner=owner,
            remedy=f"take h = {options.duration / whole_steps:.9g}",
        )
    return n


def check_spin(owner: str, context: RunContext) -> None:
    """Refuse a centrifugal load that is not part of the motion in a step in which the model itself turns.

    Raises:
        ModelError: saying which steps such a load belongs to.
    """
    if context.turning is not None and not context.turning.spin:
        raise ModelError(
            "centrifugal loads belong to static, modal and buckling steps",
            owner=owner,
            remedy=(
                "in a transient the model itself turns (a driven joint, or initial velocities with spin): with "
                "spin = true of the load it starts from the trimmed state"
            ),
        )


def check_turning(step: PlannedStep, context: RunContext) -> None:
    """Refuse an unknown rotor, loads that would count twice or not at all while it turns, and supports in its way.

    Supports are compared here where the step begins at the start of the model, later when the step runs.

    Raises:
        ModelError: naming the step, the option and the choices.
    """
    owner, model = step.owner, context.model
    rotor = rotor_of(model, step.options.rotor, f"{owner}: rotor")
    begins = next(other for other in context.plan if other is step or not other.kind.stands) is step
    if begins and model.assembling is None:
        from fem_mbs.analysis.rotors.rotating import check_supports

        check_supports(context, rotor)
    for block in context.system.blocks:
        first = next((i for i, joint in enumerate(block.reads or ()) if joint), None)
        if first is not None:
            raise ModelError(
                f'friction "{block.label(first)}" depends on the force of its joint, which {step.kind.name} steps '
                "do not know",
                owner=owner,
                remedy="map the stability over the rotor's speed (stability_map), or take the friction between points",
            )
    if context.turning is not None:
        raise ModelError(
            f'centrifugal load "{context.turning.name}" would count twice, since the rotor turns here',
            owner=owner,
            remedy="remove the load",
        )
