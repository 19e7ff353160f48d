"""A deck of Abaqus or CalculiX as a model, and its run: ``fem-mbs run DECK.inp``.

    converted = convert(read_deck(path))       Converted: model, steps, notes
    results = run_deck(path, folder)           a results folder, prints in its summary

Contradictions in a deck raise a ModelError with file and line. Content that the model lacks is a note
(`fem_mbs.decks.notes`). Notes of dropped content raise an UnsupportedError, unless ``accept`` is ALLOW.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.abaqus.beams import make_lines
from fem_mbs.decks.abaqus.constraints.equations import make_constraints, nodes_of_constraints
from fem_mbs.decks.abaqus.constraints.imperfections import imperfect
from fem_mbs.decks.abaqus.constraints.pretension import cut_sections, remove_beams
from fem_mbs.decks.abaqus.constraints.submodels import with_submodels
from fem_mbs.decks.abaqus.constraints.ties import plan_ties
from fem_mbs.decks.abaqus.elements import find_groups
from fem_mbs.decks.abaqus.loads import make_loads, plan_loads
from fem_mbs.decks.abaqus.model import Conversion, make_mesh
from fem_mbs.decks.abaqus.points import make_points
from fem_mbs.decks.abaqus.results.prints import Printer
from fem_mbs.decks.abaqus.shells import make_shells
from fem_mbs.decks.abaqus.solids import make_solids
from fem_mbs.decks.abaqus.steps.make import make_steps
from fem_mbs.decks.abaqus.steps.sequence import StepPlan
from fem_mbs.decks.abaqus.substructures import part_of_deck, retained_interfaces
from fem_mbs.decks.abaqus.temperatures import sort_by_temperature
from fem_mbs.decks.abaqus.time import Timeline
from fem_mbs.decks.notes import Accept, Note, check_notes
from fem_mbs.decks.running import run_converted, settle, solve_converted
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.abaqus.deck import Deck
from fem_mbs.meshes.abaqus.reader import read_deck
from fem_mbs.model.model import Model

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.analysis.solution import Solution
    from fem_mbs.results.reader import Results
    from fem_mbs.results.recorder import Recorder

__all__ = ["Converted", "convert", "describe", "named_nodes", "own_reduction", "run_deck", "solve_deck"]


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

    def watch(self, context: RunContext, recorder: Recorder) -> Printer:
        """Return the printer of the deck over a recorder."""
        return Printer(self.conversion, self.steps, context, recorder)

    def placed(self, error: ModelError) -> ModelError:
        """Return the error with file and line of the step, material or part that it is about, or with the file."""
        return _with_place(self.conversion, error)


def _read_notes(deck: Deck) -> list[Note]:
    """Return notes of the reader, but for procedures, of which the conversion says more."""
    return [Note(str(u), u.effect) for u in deck.unused if u.reason != "the procedure is not supported"]


def convert(deck: Deck, part: bool = False, accept: Accept = Accept.NORMAL) -> Converted:
    """Return the model of a deck, with its steps; the deck of a ``part`` may have none.

    ``accept``: what is done where the model lacks something of the deck.

    Raises:
        ModelError: what the model cannot hold and the deck needs, with file and line.
    """
    deck = with_submodels(deck)
    whole = part_of_deck(deck) if part else _alone(imperfect(deck, lambda other: solve_deck(other, accept=accept)))
    conv = Conversion(whole)
    try:
        converted = _convert(conv, part)
    except ModelError as error:
        if accept is not Accept.ALLOW:  # as a rule unsupported content is the cause of the error
            check_notes(_read_notes(deck), Accept.NORMAL)
        raise _with_place(conv, error) from None
    return settle(converted, accept)


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
    for step in (s for s in deck.steps if s.retained_modes and not part):
        conv.note(
            f"{step.where}: *SELECT EIGENMODES: the matrices are those of the retained displacements alone; fem-mbs "
            "reduce takes the modes too"
        )
    return Converted(conv.deck, model, conv, steps)


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
) -> Results:  # fmt: skip
    """Run the steps of a deck into a results folder, as `fem_mbs.decks.running.run_converted`, and return its results.

    Raises:
        MeshError: the deck cannot be read, with file and line.
    """
    return run_converted(convert(read_deck(path), accept=accept), path, directory, progress, accept, told, overwrite)


def solve_deck(
    deck: Deck | str | Path, progress: Callable | None = None, accept: Accept = Accept.NORMAL
) -> tuple[Converted, Solution]:  # fmt: skip
    """Run the steps of a deck in memory, as `fem_mbs.decks.running.solve_converted`; return the converted deck and its
    solution."""
    converted = convert(deck if isinstance(deck, Deck) else read_deck(deck), accept=accept)
    return converted, solve_converted(converted, progress)


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
    before = 0.0
    for step in converted.steps:
        own = deck.steps[step.index]
        until, before = f", to t = {step.time:g}" if step.time > before else "", step.time
        prints = sorted({v for o in step.prints if o.frequency > 0 for v in o.variables})
        told = f", prints {', '.join(prints)}" if prints else ""
        lines.append(f"step {own.number}: {own.procedure} as {step.kind.noun}{until}{told}")
    return lines


def own_reduction(converted: Converted) -> dict[str, Any]:
    """Return keywords of `fem_mbs.reduce_part` that a deck of a *SUBSTRUCTURE GENERATE gives; else nothing."""
    return retained_interfaces(converted.conversion)


def named_nodes(converted: Converted) -> dict[str, np.ndarray]:
    """Return the nodes of the model by the names of the deck's node sets and surfaces of nodes."""
    deck = converted.deck
    found = {name: surface.nodes for name, surface in deck.surfaces.items()} | dict(deck.nsets)
    return {name: deck.nodes_in(np.asarray(ids)) for name, ids in found.items()}
