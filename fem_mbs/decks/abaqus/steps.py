"""Steps of a deck as steps of the model.

    STATIC                         linear_static_step, at the end of the step
    STATIC with NLGEOM             static_step over the step's duration, in its increments
    STATIC, RIKS                   static_step along the path of equilibria, over the factor of the step's loads
    FREQUENCY                      modes_step; with PERTURBATION about the preloaded state
    BUCKLE                         buckling_step of the loads of the step; with PERTURBATION about the preloaded state
    COMPLEX FREQUENCY, CORIOLIS    complex_modes_step in the span of the modes of the last FREQUENCY step
    STEADY STATE DYNAMICS          harmonic_step, direct or by the modes of the last FREQUENCY step
    MATRIX GENERATE                linearise_step
    MODAL DYNAMIC                  linear_transient_step by the modes of the last FREQUENCY step
    DYNAMIC                        linear_transient_step, with NLGEOM transient_step, by HHT's rule

Nonlinear constraints (rigid bodies, most MPCs) make every step one with NLGEOM, as in CalculiX.
With PERTURBATION the state is that at the end of the last general step: after a linear one, its stresses (preload).
A DYNAMIC step goes on from where the general step before has ended, with its displacements and, after a DYNAMIC one,
velocities; a linear STATIC before a nonlinear DYNAMIC is computed as one with NLGEOM, which leaves a state to go on
from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.decks.abaqus.constraints.cyclic import make_cyclic_modes
from fem_mbs.decks.abaqus.loads import Plan
from fem_mbs.decks.abaqus.model import Conversion, density_of
from fem_mbs.decks.abaqus.substructures import SUBSTRUCTURE, check_substructure
from fem_mbs.decks.abaqus.time import Timeline, is_general
from fem_mbs.decks.abaqus.vibrations import VIBRATION, make_vibrations
from fem_mbs.declarations.steps import StepKind, step_kind
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.deck import Boundary, Cload, DeckStep, Dload, Dsload, OutputRequest, ShellSection
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["StepPlan", "make_steps"]

#: Kinds of requests of prints.  A request holds until the next one of its kind.
_PRINTS = ("node print", "el print", "section print")
#: Time steps of a DYNAMIC step without DIRECT: at least so many, if its first increment is longer.
_LEAST = 10
#: Time steps beyond which automatic increments become adaptive ones, and their tolerance over the model's length.
_MANY, _TOLERANCE = 20000, 1e-3
#: Time steps of an EXPLICIT step, whose own increments are as long as a wave needs across the smallest element: each
#: stands for so many of these, but there are so many at least and at most.
_WAVES, _FEWEST, _MOST = 5, 200, 5000


@dataclass(frozen=True)
class StepPlan:
    """A step of the model that stands for one of the deck: its index there, its name, kind, total time at its end, and
    the prints in force."""

    index: int
    name: str
    kind: StepKind
    time: float
    prints: tuple[OutputRequest, ...]
    start: float = 0.0


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
    made: list[StepPlan] = []
    prints: dict[str, tuple[OutputRequest, ...]] = {}
    # the last general step: name of a linear static one, of any linear one, and whether the state has moved
    preload, last, moved = "", "", False
    some = bool(plan.own) and any(plan.own.values())
    model.reserved_loads = [name for own in plan.own.values() for name in own]
    for i, step in enumerate(deck.steps):
        for kind in _PRINTS:
            mine = tuple(o for o in step.outputs if o.kind == kind)
            if mine:
                prints[kind] = mine
        _files(conv, step)
        name = f"step {step.number}"
        if not step.supported or _is_left_out(step):
            conv.note(f"{step.where}: {step.procedure} is not computed yet; the step is left out")
            continue
        _masses(conv, step)
        _of_vibrations(conv, step)
        wanted = tuple(o for kind in _PRINTS for o in prints.get(kind, ()))
        t = timeline.time_of(i)
        start = t - (step.duration if i in timeline.steps else 0.0)
        own = conv.step_supports.get(i, [])
        gone = _removed(conv, step)
        swung = bool(last) and not preload  # a linear transient, which leaves the state of the model where it was
        if swung and (step.perturbation or step.procedure in ("FREQUENCY", "BUCKLE")):
            conv.note(
                f"{step.where}: the step is computed about the state before the linear DYNAMIC step, not about its end",
                Effect.DIFFERS,
            )
        if step.riks is not None:
            _riks(conv, i, name, plan.own[i], own)
            preload, last, moved = "", "", True
        elif step.procedure == "STATIC" and step.perturbation:
            _own_loads(step, plan.own[i])
            model.linear_static_step(
                name, loads=plan.own[i], preload=preload, duration=step.duration, report="increment", supports=own,
                without=gone,
            )  # fmt: skip
            _ended(conv, step, i)
        elif step.procedure == "STATIC" and not conv.is_nonlinear(step) and not _before_motion(conv, i):
            _linear_after(conv, step, moved)
            if step.increment < step.duration * (1.0 - 1e-9):
                conv.note(f"{step.where}: only the end of the linear step is computed and printed", Effect.NONE)
            acting = "all" if not some else [*plan.general, *_motions(conv)]
            model.linear_static_step(name, loads=acting, duration=step.duration, supports=own, without=gone)
            preload, last = name, name
        elif step.procedure == "STATIC":
            if not conv.is_nonlinear(step):
                conv.note(
                    f"{step.where}: the step is computed as one with NLGEOM, since the nonlinear DYNAMIC step after it "
                    "begins where it ends",
                    Effect.DIFFERS,
                )
            elif not step.nlgeom:
                conv.note(f"{step.where}: nonlinear constraints: the step is computed as one with NLGEOM", Effect.NONE)
            increments = max(1, round(step.duration / step.increment))
            model.static_step(increments, name, duration=step.duration, supports=own)
            preload, last, moved = "", "", True
        elif step.procedure == "FREQUENCY":
            _modes(conv, step, name, preload, moved, own, gone)
        elif step.procedure == "COMPLEX FREQUENCY":
            _complex_modes(conv, step, name, preload, made)
        elif step.procedure == "STEADY STATE DYNAMICS":
            _harmonic(conv, i, name, preload, plan, made)
        elif step.procedure == "MATRIX GENERATE":
            conv.note(
                f"{step.where}: mass, damping, stiffness and constraints of the free directions are in "
                f"matrices_{name.replace(' ', '_')}.npz; loads and single elements have no matrices", Effect.DIFFERS,
            )  # fmt: skip
            model.linearise_step(name)
        elif step.procedure == "MODAL DYNAMIC":
            _modal_dynamic(conv, step, name, wanted, made)
            preload, last = "", name
        elif step.procedure == SUBSTRUCTURE:
            if last or moved:
                raise UnsupportedError(f"{SUBSTRUCTURE} after other general steps is not supported", place=step.where,
                                       remedy="give it a deck of its own")  # fmt: skip
            check_substructure(conv, step)
            model.linearise_step(name)
        elif step.procedure == "BUCKLE":
            loads = plan.own[i]
            if not loads:
                raise ModelError("the BUCKLE step has no loads", place=step.where, remedy="give them in the step")
            if not step.perturbation and moved:
                conv.note(
                    f"{step.where}: BUCKLE without PERTURBATION is computed about the state of the steps before",
                    Effect.DIFFERS,
                )
            about = preload if step.perturbation else ""
            model.buckling_step(step.n_modes, loads=loads, name=name, sign="positive", preload=about, supports=own)
        else:
            if any(_is_modal(conv, m) for m in made):
                raise ModelError("DYNAMIC after MODAL DYNAMIC is not supported", place=step.where,
                                 remedy="give it a deck of its own")  # fmt: skip
            _dynamic(conv, step, name, wanted, last, swung, own)
            linear = step_kind(model.steps[-1].kind).linear
            preload, last = "", name if linear else ""
            moved = moved or not linear
        made.append(StepPlan(i, name, step_kind(model.steps[-1].kind), t, wanted, start))
    points = {v for m in made for o in m.prints if o.frequency for v in o.variables} & {"S", "E", "ENER", "SOF", "SOM"}
    if points and any(g.kind in ("solid", "shell") for g in conv.groups):
        model.field_names = tuple(dict.fromkeys((*model.field_names, "points")))
    if not made:
        raise ModelError(f"no step of the deck can be computed ({deck.steps[0].procedure})", place=deck.steps[0].where)
    return made


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


def _motions(conv: Conversion) -> list[str]:
    """Return names of motions and equations with a right side."""
    return list(conv.drivers)


def _files(conv: Conversion, step: DeckStep) -> None:
    """Note requests other than prints: the results folder holds all fields anyway."""
    for request in step.outputs:
        if request.kind not in (*_PRINTS, "node file", "el file", "node output", "element output"):
            conv.note(f"{request.where}: *{request.kind.upper()} is not used", Effect.NONE)


def _own_loads(step: DeckStep, names: list[str]) -> None:
    if not names:
        raise ModelError("the perturbation step has no loads", place=step.where, remedy="give them in the step")


def _linear_after(conv: Conversion, step: DeckStep, moved: bool) -> None:
    if moved:
        conv.note(
            f"{step.where}: the linear step after a nonlinear one is computed about its deformed state", Effect.DIFFERS
        )


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


def _modes(
    conv: Conversion, step: DeckStep, name: str, preload: str, moved: bool, supports: list[str], gone: list[str]
) -> None:  # fmt: skip
    about = preload if step.perturbation else ""
    if moved and not step.perturbation:
        conv.note(
            f"{step.where}: FREQUENCY without PERTURBATION is computed about the state that the steps before have left",
            Effect.NONE,
        )
    if step.nodal_diameters is not None:
        make_cyclic_modes(conv, step, name, about, supports)
        return
    bounded = np.isfinite(step.upper) or np.isfinite(step.lower)
    if bounded and not step.n_modes:
        if not np.isfinite(step.upper):
            raise ModelError(
                "FREQUENCY with a lower bound needs an upper one, or the number of modes", place=step.where
            )
        band = (max(step.lower, 0.0) if np.isfinite(step.lower) else 0.0, step.upper)
        conv.model.modes_step(10, name, band=band, preload=about, supports=supports, without=gone)
        return
    within = (float(step.lower), float(step.upper)) if bounded else None  # of the lowest, as in CalculiX
    conv.model.modes_step(step.n_modes, name, within=within, preload=about, supports=supports, without=gone)


def _complex_modes(conv: Conversion, step: DeckStep, name: str, preload: str, made: list[StepPlan]) -> None:
    """Add complex modes with Coriolis forces; both programs compute in the span of the modes of the last FREQUENCY
    step."""
    basis = next((m.name for m in reversed(made) if "basis" in m.kind.carries), "")
    if not basis:
        raise ModelError("COMPLEX FREQUENCY needs a FREQUENCY step before it, whose modes it takes", place=step.where)
    if conv.model.building.rotating is None:
        raise ModelError("CORIOLIS needs a CENTRIF load, which says how the frame turns", place=step.where)
    about = preload if step.perturbation else ""
    conv.model.complex_modes_step(step.n_modes, name, coriolis=True, basis=basis, preload=about)


def _harmonic(conv: Conversion, index: int, name: str, preload: str, plan: Plan, made: list[StepPlan]) -> None:
    """Add steady vibrations, direct or by as many modes as the last FREQUENCY step has.

    Modes alone count, as in CalculiX and Abaqus, without the static deflections of the others.
    """
    step = conv.deck.steps[index]
    options: dict[str, Any] = {"method": "direct"}
    if not step.direct:
        modes = _modes_before(conv, step, made)
        options = {"method": "modal", "modes": modes, "residual": False, **_modal_damping(conv, step, modes)}
    loss = {m.structural for m in conv.deck.materials.values()}
    if len(loss) > 1:
        raise UnsupportedError("materials with different STRUCTURAL damping are not supported", place=step.where,
                               remedy="give all the same")  # fmt: skip
    options["structural"] = max(loss, default=0.0)
    if conv.model.building.rotating is not None and step.perturbation:
        options["coriolis"] = True
        conv.note(
            f"{step.where}: vibrations in the frame of the CENTRIF load have its Coriolis forces (Abaqus leaves them "
            "out, CalculiX multiplies by them wrongly)",
            Effect.DIFFERS,
        )
    loads = {load: plan.shakes[load] for load in plan.own[index]}
    make_vibrations(conv, index, name, preload if step.perturbation else "", loads, options)


def _modes_before(conv: Conversion, step: DeckStep, made: list[StepPlan]) -> int:
    """Return the number of modes of the last FREQUENCY step.

    Raises:
        ModelError: there is none with a number of modes.
    """
    modes = next((conv.deck.steps[m.index].n_modes for m in reversed(made) if "basis" in m.kind.carries), 0)
    if not modes:
        remedy = "add it, or give DIRECT" if step.procedure == "STEADY STATE DYNAMICS" else "add it"
        raise ModelError(
            f"{step.procedure} needs a FREQUENCY step with a number of modes before it, whose modes it takes",
            place=step.where, remedy=remedy,
        )  # fmt: skip
    return modes


def _modal_damping(conv: Conversion, step: DeckStep, modes: int) -> dict[str, Any]:
    """Return options of a step by modes that say how these are damped; modes without a ratio have none.

    Raises:
        ModelError: Rayleigh's factors of some of the modes.
    """
    if any(any(m.damping) for m in conv.deck.materials.values()):
        conv.note(f"{step.where}: the *DAMPING of materials acts as well (CalculiX leaves it out)", Effect.DIFFERS)
    options: dict[str, Any] = {}
    if step.modal_damping:
        ratios = np.zeros(modes + 1)
        for first, last, ratio in step.modal_damping:
            ratios[first - 1 : last] = ratio
        ratios[modes:] = 0.0
        options["damping"] = ratios.tolist()
    _, last, alpha, beta = step.rayleigh
    if last and last < modes:
        raise ModelError(
            f"MODAL DAMPING, RAYLEIGH is given for modes up to {last} of {modes}", place=step.where,
            remedy="give it for all, or ratios of each",
        )  # fmt: skip
    if alpha or beta:
        options["rayleigh"] = [alpha, beta]
    return options


def _modal_dynamic(
    conv: Conversion, step: DeckStep, name: str, prints: tuple[OutputRequest, ...], made: list[StepPlan]
) -> None:  # fmt: skip
    """Add a transient by modes, which goes on from the one before.

    Raises:
        ModelError: other general steps stand before it.
    """
    other = next((m for m in made if m.index in _general(conv) and not _is_modal(conv, m)), None)
    if other is not None:
        raise ModelError(
            f"MODAL DYNAMIC after step {other.index + 1} ({conv.deck.steps[other.index].procedure}) is not supported",
            place=step.where, remedy="give it a deck without that step",
        )  # fmt: skip
    modes = _modes_before(conv, step, made)
    n = max(1, round(step.duration / step.increment))
    if not step.direct:
        conv.note(f"{step.where}: the increments of MODAL DYNAMIC are all as long as the first one", Effect.NONE)
    start = next((m.name for m in reversed(made) if _is_modal(conv, m)), "")
    conv.model.linear_transient_step(
        step.duration, step.duration / n, name=name, start=start, modes=modes, frames=_every(prints, n),
        **_modal_damping(conv, step, modes),
    )  # fmt: skip


def _general(conv: Conversion) -> list[int]:
    return [i for i, step in enumerate(conv.deck.steps) if is_general(step)]


def _is_modal(conv: Conversion, plan: StepPlan) -> bool:
    return conv.deck.steps[plan.index].procedure == "MODAL DYNAMIC"


def _before_motion(conv: Conversion, index: int) -> bool:
    """Return whether the next general step other than a linear STATIC is a nonlinear DYNAMIC, so that this one must
    leave a state to go on from."""
    for step in conv.deck.steps[index + 1 :]:
        if is_general(step) and (step.procedure == "DYNAMIC" or conv.is_nonlinear(step)):
            return step.procedure == "DYNAMIC" and conv.is_nonlinear(step)
    return False


def _riks(conv: Conversion, index: int, name: str, loads: list[str], supports: list[str]) -> None:
    """Add a path of equilibria, over which a factor multiplies the loads of the step; others stay.

    Raises:
        ModelError, UnsupportedError: no loads, steps behind it, loads that take the place of others, moving supports.
    """
    deck = conv.deck
    step = deck.steps[index]
    path = step.riks
    assert path is not None
    if index + 1 < len(deck.steps):
        raise UnsupportedError("steps after one with RIKS are not supported", place=deck.steps[index + 1].where,
                               remedy="give them a deck of their own")  # fmt: skip
    moved = next((b for b in step.boundaries if b.value and not b.fixed), None)
    if moved is not None:
        raise UnsupportedError("supports that move in a step with RIKS are not supported", place=moved.where,
                               remedy="follow the path over a load")  # fmt: skip
    for kind, lists in (("CLOAD", "cloads"), ("DLOAD", "dloads"), ("DSLOAD", "dsloads")):
        before = [s for s in deck.steps[:index] if is_general(s) and getattr(s, lists)]
        if before and (kind in step.new or getattr(step, lists)):
            raise UnsupportedError(
                f"*{kind} in a step with RIKS after *{kind} of step {before[-1].number} is not supported: it may take "
                "its place", place=step.where, remedy="give the earlier load another kind, or the path alone",
            )  # fmt: skip
    linear = next((s for s in deck.steps[:index] if is_general(s) and not conv.is_nonlinear(s)), None)
    if linear is not None:
        raise UnsupportedError(
            f"a step with RIKS after the linear step {linear.number}, which leaves no state, is not supported",
            place=step.where, remedy="give NLGEOM to that step, too",
        )  # fmt: skip
    if not loads:
        raise ModelError("the step with RIKS has no loads", place=step.where, remedy="give them in the step")
    if not conv.is_nonlinear(step):
        conv.note(f"{step.where}: a path is computed as with NLGEOM", Effect.DIFFERS)
    options: dict[str, Any] = {}
    if path.node:
        place = f"node {conv.deck.node_name(path.node)}"
        conv.model.named_nodes[place] = int(conv.node(path.node))
        options = {"on": place, "component": "xyz"[path.dof - 1], "displacement": path.displacement}
    conv.note(
        f"{step.where}: the arc lengths of the path are its own; it ends where RIKS asks for it, or after INC="
        f"{step.max_increments} points", Effect.NONE,
    )  # fmt: skip
    conv.model.static_step(
        max(1, round(1.0 / path.first)) if np.isfinite(path.max_factor) else 1, name, control="arc", vary=loads,
        until=path.max_factor, points=step.max_increments,
        supports=supports, **options,
    )  # fmt: skip


def _ended(conv: Conversion, step: DeckStep, index: int) -> None:
    """Note how CalculiX treats general steps after a perturbation differently."""
    later = next((s for s in conv.deck.steps[index + 1 :] if is_general(s)), None)
    if later is not None:
        conv.note(
            f"{later.where}: the step goes on from the last general step: loads and displacements of the PERTURBATION "
            f"step {step.number} have ended with it (CalculiX keeps them)",
            Effect.DIFFERS,
        )


def _dynamic(
    conv: Conversion, step: DeckStep, name: str, prints: tuple[OutputRequest, ...], last: str, swung: bool,
    supports: list[str],
) -> None:  # fmt: skip
    """Add a transient, linear or not."""
    h = step.increment
    # explicit increments that the program chooses, or too many of them
    free = step.explicit and not step.duration / _MANY <= h < step.duration
    if step.explicit:
        if not free:
            conv.note(f"{step.where}: EXPLICIT is not used; the step is implicit", Effect.NONE)
        if step.min_increment > 0.0:
            conv.note(f"{step.where}: masses are not scaled for the least explicit increment {step.min_increment:g}")
    if free:
        h = step.duration / _explicit_steps(conv, step)
    elif not step.direct:
        h = min(h, step.duration / _LEAST)
    n = max(1, round(step.duration / h))
    frames = _every(prints, n) if step.direct else 100
    options: dict[str, Any] = {"rule": "hht", "alpha": step.alpha, "frames": frames}
    if conv.is_nonlinear(step):
        if swung:
            raise ModelError(
                "a nonlinear DYNAMIC step cannot go on from a linear one",
                place=step.where,
                remedy="give NLGEOM to the DYNAMIC steps before it, too",
            )
        if free or (not step.direct and n > _MANY):
            how = "EXPLICIT is not used: the" if free else "the"
            conv.note(
                f"{step.where}: {how} increments of DYNAMIC are adaptive, with a local error of {_TOLERANCE:g}",
                Effect.DIFFERS if free else Effect.NONE,
            )
            h = step.duration / 1000
            conv.model.transient_step(step.duration, h, name, rule="midpoint", adaptive=_TOLERANCE, supports=supports)
        else:
            conv.model.transient_step(step.duration, step.duration / n, name, supports=supports, **options)
        return
    if free:
        conv.note(
            f"{step.where}: EXPLICIT is not used: the step has {n} implicit time steps of {step.duration / n:.3g}, "
            "which damp vibrations of less than some ten of them", Effect.DIFFERS,
        )  # fmt: skip
    conv.model.linear_transient_step(
        step.duration,
        step.duration / n,
        name=name,
        start=last,
        supports=supports,
        without=_removed(conv, step),
        **options,
    )


def _explicit_steps(conv: Conversion, step: DeckStep) -> int:
    """Return the number of implicit time steps of an explicit step of the deck.

    The length of each is the time that a wave needs across the smallest element.
    """
    shortest = step.duration / _FEWEST
    for group in conv.groups:
        name = getattr(group.section, "material", None)
        material = conv.deck.materials.get(name or "")
        if material is None or material.elastic is None or material.density is None:
            continue
        x = conv.deck.x[group.nodes]
        sides = np.linalg.norm(x - np.roll(x, 1, axis=1), axis=2)
        speed = np.sqrt(float(material.elastic.constants[0, 0]) / density_of(conv, material))
        shortest = min(shortest, _WAVES * float(sides[sides > 0.0].min()) / speed)
    return int(np.clip(step.duration / shortest, _FEWEST, _MOST))


def _every(prints: tuple[OutputRequest, ...], n: int) -> int:
    """Return number of states to keep of n time steps, so that every printed one is among them."""
    every = [o.frequency for o in prints if o.frequency > 0 and o.variables]
    if not every:
        return min(n, 100)
    return max(1, n // int(np.gcd.reduce(every)))
