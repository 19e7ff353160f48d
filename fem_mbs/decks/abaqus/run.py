"""A deck of Abaqus or CalculiX as a model, and its run: ``fem-mbs run DECK.inp``.

    converted = convert(read_deck(path))       Converted: model, steps, notes
    results = run_deck(path, folder)           a results folder, prints in its summary

Contradictions in a deck raise a ModelError with file and line. Content that the model lacks is a note
(`fem_mbs.decks.notes`). Notes of dropped content raise an UnsupportedError, unless ``accept`` is ALLOW.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.decks.abaqus.beams import make_lines
from fem_mbs.decks.abaqus.constraints.equations import make_constraints, nodes_of_constraints
from fem_mbs.decks.abaqus.constraints.imperfections import imperfect
from fem_mbs.decks.abaqus.constraints.pretension import cut_sections, remove_beams
from fem_mbs.decks.abaqus.constraints.ties import plan_ties
from fem_mbs.decks.abaqus.loads import make_loads, plan_loads
from fem_mbs.decks.abaqus.model import Conversion, find_groups, make_mesh
from fem_mbs.decks.abaqus.points import make_points
from fem_mbs.decks.abaqus.prints import Printer
from fem_mbs.decks.abaqus.shells import make_shells
from fem_mbs.decks.abaqus.solids import make_solids
from fem_mbs.decks.abaqus.steps import StepPlan, make_steps
from fem_mbs.decks.abaqus.temperatures import sort_by_temperature
from fem_mbs.decks.abaqus.time import Timeline
from fem_mbs.decks.notes import Accept, Note, check_notes
from fem_mbs.errors import AnalysisError, LooseError, ModelError, UnsupportedError
from fem_mbs.input_files import inputs_of
from fem_mbs.meshes.abaqus.deck import Deck
from fem_mbs.meshes.abaqus.reader import read_deck
from fem_mbs.meshes.vocabulary import Effect
from fem_mbs.model.model import Model

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.results.recorder import Recorder

__all__ = ["Converted", "convert", "describe", "named_nodes", "run_deck", "solve_deck"]


@dataclass
class Converted:
    """A deck as a model: ``model`` with its steps, the deck's steps that they represent, and notes on unused
    entries."""

    deck: Deck
    model: Model
    conversion: Conversion
    steps: list[StepPlan]

    @property
    def notes(self) -> list[Note]:
        """All that the reader and the conversion did not use."""
        read = _read_notes(self.deck)
        found = [n for n in self.conversion.notes if all(n.text != r.text for r in read)]
        return read + found


def _read_notes(deck: Deck) -> list[Note]:
    """Return notes of the reader, but for procedures, of which the conversion says more."""
    return [Note(str(u), u.effect) for u in deck.unused if u.reason != "the procedure is not supported"]


def convert(deck: Deck, part: bool = False, accept: Accept = Accept.NORMAL) -> Converted:
    """Return the model of a deck, with its steps; the deck of a ``part`` may have none.

    ``accept``: what is done where the model lacks something of the deck.

    Raises:
        ModelError: what the model cannot hold and the deck needs, with file and line.
    """
    conv = Conversion(_alone(imperfect(deck, lambda other: solve_deck(other, accept=accept))))
    try:
        converted = _convert(conv, part)
    except ModelError as error:
        if accept is not Accept.ALLOW:  # what the model lacks is the cause of the error, as a rule
            check_notes(_read_notes(deck), Accept.NORMAL)
        raise _with_place(conv, error) from None
    check_notes(converted.notes, accept)
    model = converted.model
    model.departures = [n.text for n in converted.notes if n.effect is Effect.DROPPED]
    if model.departures:  # figures, tables and results.h5 show the title
        model.title += f" (not the deck's results: {len(model.departures)} not supported)"
    return converted


def _alone(deck: Deck) -> Deck:
    """Return a deck whose only step is a linear perturbation with general statics in its place, which are the same
    there, and have supports that move.

    Raises:
        UnsupportedError: a step of perturbation beside others moves its supports.
    """
    for step in deck.steps:
        moved = next((b for b in step.boundaries if b.value), None)
        if moved is None or not (step.procedure == "BUCKLE" or (step.procedure == "STATIC" and step.perturbation)):
            continue
        if len(deck.steps) > 1 or step.procedure == "BUCKLE":
            raise UnsupportedError(
                f"supports that move in a step {step.procedure} of perturbation are not supported", place=moved.where,
                remedy="give loads, or make it the only step of a deck",
            )  # fmt: skip
        return replace(deck, steps=(replace(step, perturbation=False, nlgeom=False),))
    return deck


def _convert(conv: Conversion, part: bool) -> Converted:
    deck = conv.deck
    title = " ".join(" ".join(deck.title).split()) or Path(deck.source).stem
    remove_beams(conv)
    find_groups(conv)
    sort_by_temperature(conv)
    cut_sections(conv)
    conv.model = model = Model(2 if conv.plane else 3, title=title)
    nodes_of_constraints(conv)
    plan_ties(conv)  # moves nodes, before loads look at their places
    timeline = Timeline.of(deck)
    plan = plan_loads(conv, timeline)
    make_mesh(conv)
    make_solids(conv)
    make_lines(conv)
    make_shells(conv)
    make_points(conv)
    make_constraints(conv, timeline)
    make_loads(conv, plan)
    steps = make_steps(conv, timeline, plan) if deck.steps or not part else []
    return Converted(conv.deck, model, conv, steps)


def _watch(converted: Converted) -> Callable[[RunContext, Recorder], Printer]:
    def watch(context: RunContext, recorder: Recorder) -> Printer:
        return Printer(converted.conversion, converted.steps, context, recorder)

    return watch


def _placed(converted: Converted, error: AnalysisError | ModelError) -> Exception:
    """Convert the error of an unconstrained model in a linear step to an input error with file and line."""
    if isinstance(error, LooseError):
        return _with_place(converted.conversion, ModelError(error.text, owner=error.owner))
    return error if isinstance(error, AnalysisError) else _with_place(converted.conversion, error)


def _with_place(conv: Conversion, error: ModelError) -> ModelError:
    """Return the error with file and line of the step, material or part that it is about, or with the file."""
    if error.where:
        return error
    deck, owner = conv.deck, error.owner
    places = {("Step", f"step {step.number}"): step.where for step in deck.steps}
    places |= {("Material", name): material.where for name, material in deck.materials.items()}
    place = places.get((owner.word, owner.name)) or conv.places.get(owner.name) or deck.files[0]
    return error.at(place, inside=True)


def run_deck(
    path: str | Path, directory: str | Path, progress: Callable | None = None, accept: Accept = Accept.NORMAL,
    told: Callable[[Converted], None] | None = None, overwrite: bool = False,
):  # fmt: skip
    """Run the steps of a deck into a results folder and return its `fem_mbs.results.reader.Results`.

    Args:
        overwrite: as `fem_mbs.analysis.run.run`.
        accept: what is done where the model lacks something of the deck.
        told: called with the converted deck before anything is computed.

    Raises:
        MeshError, ModelError: the deck cannot be used, with file and line.
        AnalysisError: a step has no valid result.
    """
    from fem_mbs.analysis.run import run

    converted = convert(read_deck(path), accept=accept)
    if told is not None:
        told(converted)
    try:
        results = run(
            converted.model, directory, progress=progress, skipped=lambda: [str(n) for n in converted.notes],
            watch=_watch(converted), source=path, inputs=inputs_of(path), overwrite=overwrite,
        )  # fmt: skip
    except (AnalysisError, ModelError) as error:
        raise _placed(converted, error) from None
    check_notes(converted.notes, accept)
    return results


def solve_deck(deck: Deck | str | Path, progress: Callable | None = None, accept: Accept = Accept.NORMAL):
    """Run the steps of a deck in memory.

    Returns the converted deck and its `fem_mbs.analysis.solution.Solution`, with the prints in the summaries of its
    steps; ``accept`` as `run_deck`.

    Raises:
        as `run_deck`.
    """
    from fem_mbs.analysis.run import solve

    converted = convert(deck if isinstance(deck, Deck) else read_deck(deck), accept=accept)
    try:
        return converted, solve(converted.model, progress=progress, watch=_watch(converted))
    except (AnalysisError, ModelError) as error:
        raise _placed(converted, error) from None


def describe(converted: Converted) -> list[str]:
    """Return the content of a deck and its model, line by line."""
    deck, conv = converted.deck, converted.conversion
    lines = [f"{converted.model.title}: {len(deck.node_ids)} nodes"]
    for group in conv.groups:
        how = f"{group.cell}, {group.element}" if group.kind == "solid" else group.element
        section = group.section
        made_of = section.material or getattr(section, "shape", "")
        lines.append(f"{group.name}: {len(group.ids)} elements {group.type} ({how}), {made_of}")
    points = ("mass", "rotary inertia", "spring", "dashpot", "connector")
    lines += [f"{len(b.ids)} elements {b.type} ({b.family})" for b in deck.blocks if b.family in points]
    counts = {
        "equations": len(deck.equations), "MPCs": len(deck.mpcs), "rigid bodies": len(deck.rigid_bodies),
        "couplings": len(deck.couplings), "ties": len(deck.ties), "transforms": len(deck.transforms),
    }  # fmt: skip
    found = [f"{n} {what}" for what, n in counts.items() if n]
    if found:
        lines.append("constraints: " + ", ".join(found))
    for step in converted.steps:
        own = deck.steps[step.index]
        prints = sorted({v for o in step.prints if o.frequency > 0 for v in o.variables})
        told = f", prints {', '.join(prints)}" if prints else ""
        lines.append(f"step {own.number}: {own.procedure} as {step.kind.noun}, to t = {step.time:g}{told}")
    return lines


def named_nodes(converted: Converted) -> dict[str, np.ndarray]:
    """Return the nodes of the model by the names of the deck's node sets and surfaces of nodes."""
    deck = converted.deck
    found = {name: surface.nodes for name, surface in deck.surfaces.items()} | dict(deck.nsets)
    return {name: deck.nodes_in(np.asarray(ids)) for name, ids in found.items()}
