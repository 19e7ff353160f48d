"""Read decks of Abaqus and CalculiX (.inp) into a neutral description.

    from fem_mbs.meshes.abaqus.reader import read_deck
    deck = read_deck("beam.inp")          # see fem_mbs.meshes.abaqus.deck.Deck
    print(*deck.unused, sep="\\n")

Keywords may stand in any order, as in CalculiX: everything that names something else is resolved at the end of reading.
What the description does not hold is listed in `Deck.unused`; what cannot be understood is one MeshError with file and
line.  Sources: Abaqus Keywords Guide; G. Dhondt, CalculiX CrunchiX User's Manual 2.21, chapter 7.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import MeshError
from fem_mbs.meshes.abaqus.assembly import ASSEMBLY_KEYWORDS, flattened
from fem_mbs.meshes.abaqus.constraints import CONSTRAINT_KEYWORDS
from fem_mbs.meshes.abaqus.deck import Deck, DeckStep
from fem_mbs.meshes.abaqus.elements import SECTIONED
from fem_mbs.meshes.abaqus.files import read_cards
from fem_mbs.meshes.abaqus.generation import GENERATION_KEYWORDS, generated
from fem_mbs.meshes.abaqus.mesh import DeckMesh, Log
from fem_mbs.meshes.abaqus.parameters import substituted
from fem_mbs.meshes.abaqus.properties.lumped import LUMPED_KEYWORDS
from fem_mbs.meshes.abaqus.properties.materials import (
    MATERIAL_KEYWORDS,
    MaterialDraft,
    other_field_of_material,
    other_of_material,
)
from fem_mbs.meshes.abaqus.properties.orientations import ORIENTATION_KEYWORDS
from fem_mbs.meshes.abaqus.properties.sections import SECTION_KEYWORDS, section_not_used
from fem_mbs.meshes.abaqus.steps import COMPUTED, STEP_KEYWORDS, StepDraft, procedure
from fem_mbs.meshes.abaqus.submodels import submodel
from fem_mbs.meshes.abaqus.text import Card, Row, where
from fem_mbs.meshes.vocabulary import Effect, Use, Word, first_sentence

if TYPE_CHECKING:
    from fem_mbs.meshes.abaqus.assembly import Instance

__all__ = ["keywords", "read_deck", "read_deck_mesh"]

_MESH_KEYWORDS = {
    "NODE": "nodes in rectangular or cylindrical coordinates",
    "ELEMENT": "elements",
    "NSET": "node sets",
    "ELSET": "element sets",
    "SURFACE": "surfaces of element faces or of nodes",
    "USER ELEMENT": "types of elements that other programs compute; elements of these types are refused",
    "PARAMETER": "values by expressions, for <name> in the lines after it",
    "SYSTEM": "axes in which the nodes after it are given",
    "HEADING": "the title",
    "INCLUDE": "a file beside the deck",
}

# Not used, without effect on the answer: output and the conduct of the other program.
_HARMLESS = (
    "PREPRINT", "RESTART", "OUTPUT", "TIME POINTS", "CONTACT PRINT", "CONTACT FILE", "CONTACT OUTPUT", "FILE FORMAT",
    "FILE OUTPUT", "ENERGY PRINT", "ENERGY FILE", "ENERGY OUTPUT", "INTEGRATED OUTPUT", "MONITOR", "PRINT",
    "MODAL PRINT", "MODAL FILE", "MODAL OUTPUT", "SECTION FILE", "EL FILE FORMAT", "WAVEFRONT MINIMIZATION",
    "VALUES AT INFINITY", "CONTROLS", "DIAGNOSTICS", "INCREMENTATION OUTPUT", "NODE RESPONSE", "SECTION POINTS",
    "BULK VISCOSITY",
)  # fmt: skip
# Not used, without effect on the answer by themselves: properties of contact, constants of radiation and of gravity
# between masses.  Keywords that refer to them are not used either, with a note.
_DEFINITIONS = (
    "SURFACE INTERACTION", "SURFACE BEHAVIOR", "SURFACE SMOOTHING", "FRICTION", "CONTACT DAMPING", "GAP CONDUCTANCE",
    "GAP HEAT GENERATION", "PHYSICAL CONSTANTS", "DISTRIBUTION TABLE",
)  # fmt: skip
# Not used, and the answer differs: why.
_NOT_USED = {
    **dict.fromkeys(
        (
            "CONTACT PAIR", "CONTACT", "CONTACT INCLUSIONS", "CONTACT PROPERTY ASSIGNMENT", "CLEARANCE",
            "CHANGE FRICTION", "CHANGE CONTACT TYPE", "CHANGE SURFACE BEHAVIOR", "CHANGE CONTACT DAMPING",
        ),
        "contact is not computed",
    ),
    **dict.fromkeys(
        ("MODEL CHANGE", "CHANGE MATERIAL", "CHANGE PLASTIC", "CHANGE SOLID SECTION"),
        "elements and materials are the same in all steps",
    ),
    **dict.fromkeys(
        ("GLOBAL DAMPING", "COMPOSITE MODAL DAMPING", "DAMPING CONTROLS"),
        "damping comes from materials and dashpots",
    ),
    **dict.fromkeys(
        (
            "CFLUX", "DFLUX", "FILM", "RADIATE", "VIEWFACTOR", "MASS FLOW", "MASS FLOW RATE", "COUPLED THERMAL",
            "NETWORK MPC", "HYDROSTATIC FLUID", "FLUID BEHAVIOR", "FLUID CAVITY", "GEOSTATIC", "SOILS",
        ),
        "heat and flow are not computed",
    ),
    **dict.fromkeys(("FIELD", "TEMPERATURE FIELD"), "fields that materials depend on are not read"),
    **dict.fromkeys(
        (
            "DESIGN VARIABLES", "DESIGN RESPONSE", "OBJECTIVE", "CONSTRAINT", "FILTER", "GEOMETRIC TOLERANCES",
            "CORRELATION LENGTH",
        ),
        "the design of parts is not computed",
    ),
    "HOURGLASS STIFFNESS": "elements have no control of hourglass modes",
    **dict.fromkeys(
        ("BEAM SECTION OFFSET", "STIFFNESS", "NONSTRUCTURAL MASS"),
        "sections have what their own keyword gives",
    ),
    **dict.fromkeys(
        (
            "CONNECTOR MOTION", "CONNECTOR LOAD", "CONNECTOR STOP", "CONNECTOR LOCK", "CONNECTOR FRICTION",
            "CONNECTOR PLASTICITY", "CONNECTOR DAMAGE INITIATION", "CONNECTOR FAILURE",
            "CONNECTOR CONSTITUTIVE REFERENCE", "CONNECTOR DERIVED COMPONENT", "CONNECTOR POTENTIAL",
        ),
        "of connectors only springs and dampers of single components are computed",
    ),
    "RELEASE": "beams are clamped at their nodes",
    "INERTIA RELIEF": "a model in statics needs supports",
    **dict.fromkeys(("EMBEDDED ELEMENT", "REBAR", "REBAR LAYER"), "embedded elements are not computed"),
    "SHELL TO SOLID COUPLING": "edges of shells are not coupled to faces of solids",
    **dict.fromkeys(
        ("MATRIX ASSEMBLE", "MATRIX INPUT"), "matrices are not exchanged"
    ),
    **dict.fromkeys(("ADAPTIVE MESH", "REFINE MESH", "USE REFINED MESH"), "the mesh stays as it is"),
    "INITIAL STRAIN INCREASE": "initial strains are not computed",
    **dict.fromkeys(("PARTICIPATION", "FREQUENCY RANGE"), "the keyword is not read"),
}  # fmt: skip
# Requests of files that are not written, which changes no other result: why.
_NOT_WRITTEN = {
    "ELEMENT MATRIX OUTPUT": "matrices of elements are not written",
    "MATRIX OUTPUT": "matrices have files of the form of this program",
    "DESIGN PARAMETER": "sensitivities are not computed",
}
_HARMLESS_PARAMETERS = ("NAME", "UNSYMM", "DSA", "CONVERTSDI", "EXTRAPOLATION", "SOLVER", "INTERNAL", "HEADING")
# Without these the deck is not whole: it must be written in another way.
_REFUSED = {
    "NMAP": "mapped coordinates are not read; write the nodes out as *NODE",
    **dict.fromkeys(
        (
            "SUBSTRUCTURE PATH",
            "SUBSTRUCTURE PROPERTY",
            "SUBSTRUCTURE LOAD CASE",
            "SUBSTRUCTURE COPY",
            "SUBSTRUCTURE DELETE",
            "SUBSTRUCTURE DIRECTORY",
            "SUBSTRUCTURE OUTPUT",
            "SUBSTRUCTURE MODAL DAMPING",
            "SLOAD",
        ),
        "substructures of other decks are not read; write the deck with their elements, or reduce them by fem-mbs "
        "reduce and mount the parts in a model file",
    ),
}

_OF_MESH = (*_MESH_KEYWORDS, *GENERATION_KEYWORDS, *ASSEMBLY_KEYWORDS)
_HANDLERS = {
    **MATERIAL_KEYWORDS, **ORIENTATION_KEYWORDS, **SECTION_KEYWORDS, **LUMPED_KEYWORDS, **CONSTRAINT_KEYWORDS,
    "SUBMODEL": submodel, **STEP_KEYWORDS,
}  # fmt: skip
_ALL = (*_HANDLERS, *_OF_MESH, *_HARMLESS, *_DEFINITIONS, *_NOT_USED, *_NOT_WRITTEN, *_REFUSED)
_KNOWN = {name.replace(" ", ""): name for name in _ALL}
_KNOWN |= {"PRE-TENSIONSECTION": "PRE-TENSION SECTION", "ELPRINT": "EL PRINT", "ELEMENTPRINT": "EL PRINT"}
_KNOWN |= {"MODALDYNAMICS": "MODAL DYNAMIC"}  # CalculiX reads so many letters of it
_KNOWN |= {"ELEMENTFILE": "EL FILE", "ELFILE": "EL FILE", "ELOUTPUT": "ELEMENT OUTPUT", "RIGIDBODY": "RIGID BODY"}


#: Functions that only note what they read.
_NOTING = {other_of_material: Use.REFUSED, other_field_of_material: Use.PASSED, section_not_used: Use.REFUSED}


def _word(name: str, handler: Callable) -> Word:
    """Return the treatment of a keyword that a function reads."""
    if handler is procedure:
        known = COMPUTED.get(name)
        if known is None:
            return Word(name, Use.REFUSED, "the procedure is not computed")
        return Word(name, Use.USED, first_sentence(known))
    return Word(name, _NOTING.get(handler, Use.USED), first_sentence(handler))


def keywords() -> list[Word]:
    """Return all keywords that the reader knows, with what becomes of them."""
    mesh = {**_MESH_KEYWORDS, **GENERATION_KEYWORDS, **ASSEMBLY_KEYWORDS}
    found = [Word(name, Use.USED, text) for name, text in mesh.items()]
    found += [_word(name, handler) for name, handler in _HANDLERS.items()]
    found += [Word(name, Use.PASSED, "output, and the conduct of the other program") for name in _HARMLESS]
    found += [Word(name, Use.PASSED, "definitions that nothing uses without contact or heat") for name in _DEFINITIONS]
    found += [Word(name, Use.PASSED, text) for name, text in _NOT_WRITTEN.items()]
    found += [Word(name, Use.REFUSED, text) for name, text in _NOT_USED.items()]
    return found + [Word(name, Use.STOPPED, text) for name, text in _REFUSED.items()]


class Reading:
    """Data that the keyword functions fill."""

    def __init__(self, cards: list[Card], instances: list[Instance]) -> None:
        self.log = Log()
        #: whether the deck has keywords that CalculiX does not have
        self.of_abaqus = bool(instances) or any(card.made is not None for card in cards)
        self.mesh = DeckMesh(cards, self.log, instances)
        self.materials: list[MaterialDraft] = []
        self.orientations: dict = {}
        #: tables of values by elements, as they stand, for what refers to them
        self.distributions = {
            self.mesh.name_of(card, card.need("NAME")): card for card in cards if card.keyword == "DISTRIBUTION"
        }
        self.amplitudes: dict = {}
        self.delays: dict[str, tuple[str, float, Card]] = {}  # amplitudes that others are, later
        self.sections: list = []
        self.section_cards: list[Card] = []  # one for each
        self.normals: list = self.mesh.beam_normals()
        self.nodal_thickness: dict = {}
        self.transforms: list = []
        self.behaviors: dict[str, list] = {}
        self.behavior: str | None = None
        self.equations: list = []
        self.mpcs: list = []
        self.rigid_bodies: list = []
        self.couplings: list = []
        self.coupling: tuple | None = None
        self.ties: list = []
        self.cyclic_ties: list = []
        self.cyclic_models: list = []
        self.pretensions: list = []
        self.imperfections: list = []
        self.initial_conditions: list = []
        self.boundaries: list = []
        self.submodels: list = []
        self.steps: list[DeckStep] = []
        self.step: StepDraft | None = None
        self.covered: list[np.ndarray] = []  # elements of rigid bodies, which need no section
        self._cover: dict[str, list[np.ndarray]] = {}
        names = {"MATERIAL": "material", "ORIENTATION": "orientation", "AMPLITUDE": "amplitude"}
        self._names: dict[str, set[str]] = {what: set() for what in names.values()}
        for card in cards:
            if card.keyword in names and not (card.keyword == "AMPLITUDE" and "NAME" not in card.params):
                self._names[names[card.keyword]].add(self.named(card, names[card.keyword]))

    def named(self, card: Card, what: str) -> str:
        """Return the full name of the material, orientation or amplitude that a keyword defines."""
        name = card.need("NAME")
        return self.mesh.name_of(card, name) if what == "orientation" else name

    def refer(self, at: Card | Row, what: str, name: str) -> str:
        """Return the full name, if there is such a material, orientation or amplitude."""
        known = self._names[what]
        if what == "orientation":
            name = self.mesh.name_of(at, name)
        if name not in known:
            near = difflib.get_close_matches(name, known, 3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(known)) or 'none'}"
            at.fail(f"the {what} {name!r} is not defined; {hint}")
        return name

    def material(self, card: Card) -> MaterialDraft:
        """Return the material to which a keyword belongs."""
        if not self.materials:
            card.fail("it stands outside of a material; put *MATERIAL, NAME=... before it")
        return self.materials[-1]

    def cover(self, keyword: str, ids: np.ndarray) -> None:
        """Note which elements a section keyword gives properties to."""
        self._cover.setdefault(keyword, []).append(ids)

    def surplus(self, row: Row, fields: list[str], n: int, effect: Effect = Effect.DROPPED) -> None:
        """Note entries after the n-th of a line, which are not used."""
        if any(fields[n:]):
            self.log.add("entry", f"{row.card.keyword}, entries after the first {n}", row, effect)

    def only_line(self, card: Card, what: str) -> tuple[Row, list[str]]:
        """Return the first data line; an error if there is none, a note if there are more."""
        rows = list(card.rows())
        if not rows:
            card.fail(f"no data; give {what}")
        for row, _ in rows[1:]:
            self.log.add("entry", f"{card.keyword}, lines after the first", row)
        return rows[0]

    def check_sections(self) -> None:
        """Refuse structural elements without properties."""
        for block in self.mesh.blocks:
            keywords = SECTIONED.get(block.family)
            if keywords is None:
                continue
            given = [ids for k in keywords for ids in self._cover.get(k, [])] + self.covered
            bare = ~np.isin(block.ids, np.concatenate(given)) if given else np.ones(len(block.ids), bool)
            n = int(bare.sum())
            if n:
                element = int(block.ids[np.argmax(bare)])
                sets = [name for name, ids in self.mesh.elsets.items() if element in ids]
                named = f" (of the set {', '.join(sets[:3])})" if sets else ""
                self.mesh.element_place(element).fail(
                    f"{n} element{'s' * (n > 1)} of type {block.type} without properties, the "
                    f"first is {self.mesh.label('element', element)}{named}; add *{keywords[0]}, ELSET=..."
                )


def _twice(reading: Reading) -> None:
    """Note elements that several sections give properties to, of which the last counts (as in CalculiX)."""
    sections = reading.sections
    if not sections:
        return
    ids = np.concatenate([s.elements for s in sections])
    number = np.repeat(np.arange(len(sections)), [len(s.elements) for s in sections])
    order = np.lexsort((number, ids))
    ids, number = ids[order], number[order]
    again = np.flatnonzero((ids[1:] == ids[:-1]) & (number[1:] != number[:-1])) + 1
    for k in np.unique(number[again]).tolist():
        mine = again[number[again] == k]
        first, last = sections[int(number[mine[0] - 1])], sections[k]
        file, line = last.where.rsplit(", line ", 1)
        place = Row(reading.section_cards[k], file, int(line))
        same = type(first) is type(last) and _properties(first) == _properties(last)
        element = reading.mesh.label("element", ids[mine[0]])
        reading.log.add(
            "section", f"a second one of element {element}", place, Effect.NONE if same else Effect.DIFFERS,
            count=len(mine), reason=f"the last counts, another stands in {first.where}",
        )  # fmt: skip


def _delay(reading: Reading) -> None:
    """Add the amplitudes that loads follow later than they are given, by TIME DELAY."""
    for later, (name, delay, card) in reading.delays.items():
        amplitude = reading.amplitudes[name]
        if not len(amplitude.t):
            card.fail(
                f"TIME DELAY of the amplitude {name} with DEFINITION={amplitude.definition} is not read; give a table"
            )
        reading.amplitudes[later] = replace(amplitude, name=later, t=amplitude.t + delay)


def _properties(section) -> str:
    """Return the values of a section as text, without its element set."""
    values = {f.name: getattr(section, f.name) for f in fields(section) if f.name not in ("elset", "elements", "where")}
    return repr(values)


def _end(cards: list[Card]) -> str:
    """Return file and number of the last line of a deck."""
    card = cards[-1]
    if not card.pieces:
        return where(card)
    piece = card.pieces[-1]
    return f"{piece.file}, line {piece.line + max(len(piece.data.splitlines()) - 1, 0)}"


def _cards(path: Path) -> list[Card]:
    """Return the keywords of a deck, with the values of its parameters.

    Raises:
        MeshError: keywords without which the deck is not whole.
    """
    cards = substituted(read_cards(path, _KNOWN))
    for card in cards:
        reason = _REFUSED.get(card.keyword)
        if reason is not None:
            card.fail(reason)
    return cards


def _placed(cards: list[Card]) -> tuple[list[Card], list[Instance]]:
    """Return the keywords of all instances, with generated nodes and elements written out, and the instances."""
    flat, instances = flattened(cards)
    return generated(flat), instances


def element_place(path: str | Path, element: int) -> str:
    """Return file and line of an element of a deck, for messages about it; MeshError if the deck has no such
    element."""
    mesh = Reading(*_placed(_cards(Path(path)))).mesh
    return where(mesh.element_place(element))


def read_deck_mesh(path: str | Path) -> tuple[DeckMesh, list[str]]:
    """Return nodes, elements, sets and surfaces of a deck, and the keywords that are not among them.

    Raises:
        MeshError: the mesh cannot be read.
    """
    cards = _cards(Path(path))
    flat, instances = _placed(cards)
    mesh = DeckMesh(flat, Log(), instances)
    rest = dict.fromkeys(c.keyword for c in cards if c.keyword not in _OF_MESH)
    return mesh, list(rest)


def read_deck(path: str | Path) -> Deck:
    """Return the description of a deck and of the files that it includes; MeshError if it cannot be read."""
    path = Path(path)
    whole = _cards(path)
    for card in whole:
        if card.keyword == "RESTART" and "READ" in card.params:
            card.fail("the model comes from a restart file; give the deck that wrote it")
    cards, instances = _placed(whole)
    reading = Reading(cards, instances)
    title: list[str] = []
    for card in cards:
        if card.keyword == "HEADING":
            title += [", ".join(entries) for _, entries in card.rows()]
        elif card.keyword in _HANDLERS:
            before = len(reading.sections)
            if reading.coupling is not None and card.keyword not in ("KINEMATIC", "DISTRIBUTING"):
                reading.coupling[0].fail("no *KINEMATIC or *DISTRIBUTING follows")
            _HANDLERS[card.keyword](reading, card)
            reading.section_cards += [card] * (len(reading.sections) - before)
        elif card.keyword not in _MESH_KEYWORDS:
            passed = card.keyword in (*_HARMLESS, *_DEFINITIONS)
            reason = "" if passed else {**_NOT_USED, **_NOT_WRITTEN}.get(card.keyword, "the keyword is not known")
            effect = Effect.NONE if passed else Effect.DROPPED
            if card.keyword in _NOT_WRITTEN or (card.keyword == "DESIGN RESPONSE" and reading.step is not None):
                effect, reason = Effect.NONE, _NOT_WRITTEN.get(card.keyword, "sensitivities are not computed")
            reading.log.add("keyword", card.keyword, card, effect, reason)
            continue
        for name in card.params:
            if name not in card.taken:
                effect = Effect.NONE if name in _HARMLESS_PARAMETERS else Effect.DROPPED
                reading.log.add("parameter", f"{card.keyword}, {name}", card, effect)
    if reading.coupling is not None:
        reading.coupling[0].fail("no *KINEMATIC or *DISTRIBUTING follows")
    if reading.step is not None:
        reading.step.card.fail(f"the file ends before *END STEP ({_end(whole)}); it may have been cut off")
    mesh = reading.mesh
    if not len(mesh.node_ids):
        raise MeshError(f"{path.name}: the deck has no nodes")
    if reading.steps or reading.sections or reading.materials:
        reading.check_sections()
    _twice(reading)
    _delay(reading)
    return Deck(
        source=str(path),
        files=tuple(dict.fromkeys(piece.file for card in whole for piece in card.pieces)) or (path.name,),
        title=tuple(title),
        node_ids=mesh.node_ids,
        x=mesh.x,
        blocks=mesh.blocks,
        nsets=mesh.nsets,
        elsets=mesh.elsets,
        surfaces=mesh.surfaces,
        materials={draft.name: draft.done() for draft in reading.materials},
        orientations=reading.orientations,
        amplitudes=reading.amplitudes,
        sections=tuple(reading.sections),
        normals=tuple(reading.normals),
        nodal_thickness=reading.nodal_thickness,
        transforms=tuple(reading.transforms),
        equations=tuple(reading.equations),
        mpcs=tuple(reading.mpcs),
        rigid_bodies=tuple(reading.rigid_bodies),
        couplings=tuple(reading.couplings),
        ties=tuple(reading.ties),
        cyclic_ties=tuple(reading.cyclic_ties),
        cyclic_models=tuple(reading.cyclic_models),
        pretensions=tuple(reading.pretensions),
        imperfections=tuple(reading.imperfections),
        initial_conditions=tuple(reading.initial_conditions),
        boundaries=tuple(reading.boundaries),
        submodels=tuple(reading.submodels),
        steps=tuple(reading.steps),
        unused=reading.log.entries(),
        end=_end(whole),
        numbering=mesh.numbering,
        of_abaqus=reading.of_abaqus,
        behaviors={name: tuple(laws) for name, laws in reading.behaviors.items()},
    )
