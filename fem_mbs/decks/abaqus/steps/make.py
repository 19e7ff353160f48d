"""Steps of a deck as steps of the model, one after the other; `PROCEDURES` has what makes each.

Nonlinear constraints (rigid bodies, most MPCs) make every step one with NLGEOM, as in CalculiX.
With PERTURBATION the state is that at the end of the last general step: after a linear one, its stresses (preload).
A DYNAMIC step goes on from where the general step before has ended, with its displacements and, after a DYNAMIC one,
velocities; a linear STATIC before a nonlinear DYNAMIC is computed as one with NLGEOM, which leaves a state to go on
from.
"""

from __future__ import annotations

from collections.abc import Callable

from fem_mbs.decks.abaqus.loads import Plan
from fem_mbs.decks.abaqus.model import Conversion
from fem_mbs.decks.abaqus.steps.dynamics import add_modal_transient, add_transient
from fem_mbs.decks.abaqus.steps.harmonic import add_vibrations
from fem_mbs.decks.abaqus.steps.matrices import add_matrices, add_substructure
from fem_mbs.decks.abaqus.steps.modes import add_buckling, add_complex_modes, add_modes
from fem_mbs.decks.abaqus.steps.sequence import Sequence, StepPlan, StepToMake
from fem_mbs.decks.abaqus.steps.statics import add_statics
from fem_mbs.decks.abaqus.substructures import SUBSTRUCTURE
from fem_mbs.decks.abaqus.time import Timeline
from fem_mbs.decks.abaqus.vibrations import VIBRATION
from fem_mbs.declarations.steps import step_kind
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.abaqus.deck import Boundary, Cload, DeckStep, Dload, Dsload, OutputRequest, ShellSection
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["PROCEDURES", "make_steps"]

#: Procedure of a deck -> what adds its step to the model.
PROCEDURES: dict[str, Callable[[StepToMake], None]] = {
    "STATIC": add_statics,
    "DYNAMIC": add_transient,
    "MODAL DYNAMIC": add_modal_transient,
    "FREQUENCY": add_modes,
    "COMPLEX FREQUENCY": add_complex_modes,
    "BUCKLE": add_buckling,
    VIBRATION: add_vibrations,
    "MATRIX GENERATE": add_matrices,
    SUBSTRUCTURE: add_substructure,
}
#: Kinds of requests of prints.  A request holds until the next one of its kind.
_PRINTS = ("node print", "el print", "section print")
#: Variables at points of elements, which prints give.
_AT_POINTS = frozenset(("S", "E", "ENER", "SOF", "SOM"))


def make_steps(conv: Conversion, timeline: Timeline, plan: Plan) -> list[StepPlan]:
    """Return the steps of the model; those that are not supported are noted.

    Raises:
        ModelError: no step can be computed, or one cannot with what went before.
    """
    deck, model = conv.deck, conv.model
    if not deck.steps:
        raise ModelError(
            "the deck has no steps",
            place=deck.end,
            remedy="add *STEP, a procedure and *END STEP (the file may have been cut off)",
        )
    before = Sequence()
    prints: dict[str, tuple[OutputRequest, ...]] = {}
    model.reserved_loads = [name for own in plan.own.values() for name in own]
    for i, step in enumerate(deck.steps):
        for kind in _PRINTS:
            mine = tuple(o for o in step.outputs if o.kind == kind)
            if mine:
                prints[kind] = mine
        _files(conv, step)
        if not step.supported or _is_left_out(step):
            conv.note(f"{step.where}: {step.procedure} is not computed yet; the step is left out")
            continue
        _masses(conv, step)
        _of_vibrations(conv, step)
        wanted = tuple(o for kind in _PRINTS for o in prints.get(kind, ()))
        item = StepToMake(conv, plan, i, f"step {step.number}", wanted, _removed(conv, step), before)
        if before.swung and (step.perturbation or step.procedure in ("FREQUENCY", "BUCKLE")):
            conv.note(
                f"{step.where}: the step is computed about the state before the linear DYNAMIC step, not about its end",
                Effect.DIFFERS,
            )
        _pressures(conv, step)
        PROCEDURES[step.procedure](item)
        end = timeline.time_of(i)
        start = end - (step.duration if i in timeline.steps else 0.0)
        before.made.append(StepPlan(i, item.name, step_kind(model.steps[-1].kind), end, wanted, start))
    printed = {v for m in before.made for o in m.prints if o.frequency for v in o.variables}
    if printed & _AT_POINTS and any(g.kind in ("solid", "shell") for g in conv.groups):
        model.field_names = tuple(dict.fromkeys((*model.field_names, "points")))
    if not before.made:
        raise ModelError(f"no step of the deck can be computed ({deck.steps[0].procedure})", place=deck.steps[0].where)
    return before.made


def _pressures(conv: Conversion, step: DeckStep) -> None:
    """Note that pressures of a BUCKLE step turn with their surface."""
    if step.procedure != "BUCKLE" or conv.deck.of_abaqus:
        return
    entries: tuple[Dload | Dsload, ...] = (*step.dloads, *step.dsloads)
    loads = (d for d in entries if d.value)
    load = next((d for d in loads if (d.kind == "pressure" if isinstance(d, Dload) else d.label == "P")), None)
    if load is not None:
        conv.note(
            f"{load.where}: pressures turn with their surface, and their stiffness counts in step {step.number}, "
            "BUCKLE, as in Abaqus; CalculiX leaves it out", Effect.DIFFERS,
        )  # fmt: skip


def _is_left_out(step: DeckStep) -> bool:
    """Return whether a step is read and not computed: complex modes without CORIOLIS, motions by modes about a load."""
    if step.procedure == "MODAL DYNAMIC":
        return step.perturbation
    return step.procedure == "COMPLEX FREQUENCY" and not step.coriolis


def _of_vibrations(conv: Conversion, step: DeckStep) -> None:
    """Note what only steady vibrations know: imaginary parts, loss factors; refuse base motions of other steps.

    Raises:
        UnsupportedError: a base motion in another step than MODAL DYNAMIC.
    """
    if step.procedure == VIBRATION:
        return
    entries: tuple[Boundary | Cload | Dload | Dsload, ...] = (
        *step.boundaries, *step.cloads, *step.dloads, *step.dsloads
    )  # fmt: skip
    for entry in entries:
        if entry.imaginary:
            conv.note(f"{entry.where}: IMAGINARY or LOAD CASE=2 has no meaning in a step {step.procedure}")
    for base in step.base_motions:
        if step.procedure != "MODAL DYNAMIC":
            raise UnsupportedError(f"*BASE MOTION, TYPE={base.kind} in a step {step.procedure} is not supported",
                                   place=base.where, remedy="give the motion by *BOUNDARY")  # fmt: skip
        if not base.given and not conv.deck.of_abaqus:
            conv.note(
                f"{base.where}: *BASE MOTION without TYPE is an acceleration, as in Abaqus; CalculiX takes a "
                "displacement in MODAL DYNAMIC: give TYPE", Effect.DIFFERS,
            )  # fmt: skip
    lossy = next((m for m in conv.deck.materials.values() if m.structural), None)
    if lossy is not None and step.procedure in ("DYNAMIC", "MODAL DYNAMIC", "COMPLEX FREQUENCY"):
        conv.note(f"{lossy.where}: *DAMPING, STRUCTURAL has no effect in steps {step.procedure}")


def _masses(conv: Conversion, step: DeckStep) -> None:
    """Note materials without density if a step needs masses.

    Raises:
        ModelError: nothing has one.
    """
    turning = any(load.kind == "centrifugal" for load in step.dloads)
    if step.procedure not in ("FREQUENCY", "DYNAMIC", "MODAL DYNAMIC", "STEADY STATE DYNAMICS") and not turning:
        return
    bare, massive = [], any(b.family in ("mass", "rotary inertia") for b in conv.deck.blocks)
    for group in conv.groups:
        name = getattr(group.section, "material", None)
        if isinstance(group.section, ShellSection) and group.section.layers:
            layers = [conv.deck.materials[layer.material] for layer in group.section.layers]
            bare += [m for m in layers if m.density is None]
            massive |= any(m.density is not None for m in layers)
        elif name is None:
            massive |= (getattr(group.section, "density", None) or 0.0) > 0.0
        elif conv.deck.materials[name].density is None:
            bare.append(conv.deck.materials[name])
        else:
            massive = True
    bare = list({m.name: m for m in bare}.values())
    what = "the CENTRIF load" if turning else f"the {step.procedure} step"
    if bare and not massive:
        raise ModelError(
            f"the material {bare[0].name} has no density, and {what} of {step.where} needs masses",
            place=bare[0].where,
            remedy="add *DENSITY",
        )
    for material in bare:
        conv.note(
            f"{material.where}: the material {material.name} has no density, so that its elements have no mass",
            Effect.DIFFERS,
        )


def _files(conv: Conversion, step: DeckStep) -> None:
    """Note requests other than prints: the results folder holds all fields anyway."""
    for request in step.outputs:
        if request.kind not in (*_PRINTS, "node file", "el file", "node output", "element output"):
            conv.note(f"{request.where}: *{request.kind.upper()} is not used", Effect.NONE)


def _removed(conv: Conversion, step: DeckStep) -> list[str]:
    """Return the equations that steps have removed up to this one.

    Raises:
        UnsupportedError: the step is none of those that may lack equations.
    """
    gone = [name for name, number in conv.removed.items() if number <= step.number]
    linear = step.procedure in ("STATIC", "DYNAMIC") and not conv.is_nonlinear(step)
    if gone and not linear and not (step.procedure == "FREQUENCY" and step.nodal_diameters is None):
        raise UnsupportedError(
            "*EQUATION, REMOVE within steps is supported in linear STATIC, DYNAMIC and FREQUENCY steps only",
            place=step.where, remedy="give the step a deck of its own without the equations",
        )  # fmt: skip
    return gone
