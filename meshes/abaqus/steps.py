"""Steps of a deck: procedures, boundary conditions, loads and print requests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.meshes.abaqus.constraints import dof_of
from fem_mbs.meshes.abaqus.deck import (
    BaseMotion,
    Boundary,
    Cload,
    DeckStep,
    Dload,
    Dsload,
    OutputRequest,
    Riks,
    Temperature,
)
from fem_mbs.meshes.abaqus.submodels import driven_nodes
from fem_mbs.meshes.abaqus.text import Card, Row, label, where
from fem_mbs.meshes.texts import short
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from fem_mbs.meshes.abaqus.reader import Reading

__all__ = ["COMPUTED", "PROCEDURES", "STEP_KEYWORDS", "StepDraft"]


class StepDraft:
    """A step while its keywords are read."""

    def __init__(self, card: Card, number: int, nlgeom: bool) -> None:
        self.card, self.number = card, number
        self.procedure: Card | None = None
        self.values: dict[str, Any] = {
            "title": " ".join(" ".join(fields) for _, fields in card.rows()).strip() or card.get("NAME", ""),
            "perturbation": card.flag("PERTURBATION"),
            "nlgeom": card.flag("NLGEOM") if card.has("NLGEOM") else nlgeom,
            "max_increments": card.count("INC", 100),
            "amplitude": card.choice("AMPLITUDE", {"STEP": "STEP", "RAMP": "RAMP"}, ""),
        }
        self.defaults: dict[str, Any] = {
            "direct": False, "explicit": False, "increment": 1.0, "duration": 1.0, "min_increment": 0.0,
            "max_increment": np.inf, "alpha": -0.05, "n_modes": 0, "lower": -np.inf, "upper": np.inf, "tolerance": 0.01,
            "options": {}, "data": np.empty(0), "supported": False, "coriolis": False,
            "nodal_diameters": None,
            "retained_mass": False, "retained_modes": 0,
            "modal_damping": (), "rayleigh": (1, 0, 0.0, 0.0), "between": None, "scaled": False,
        }  # fmt: skip
        self.lists: dict[str, list[Any]] = {k: [] for k in _LISTS}
        self.of_modes: list[Boundary] = []  # supports of buckling modes, LOAD CASE=2
        self.of_modes_at: Card | None = None
        self.new: set[str] = set()

    def done(self) -> DeckStep:
        """Return the finished step."""
        if self.procedure is None:
            self.card.fail("the step has no procedure; add *STATIC, *FREQUENCY, *BUCKLE, *DYNAMIC ...")
        if not self.values["amplitude"]:
            at_once = self.procedure.keyword in ("DYNAMIC", "MODAL DYNAMIC", "STEADY STATE DYNAMICS")
            at_once &= self.procedure.get("APPLICATION", "") != "QUASI-STATIC"
            self.values["amplitude"] = "STEP" if at_once else "RAMP"
        lists: dict[str, Any] = {k: tuple(v) for k, v in self.lists.items()}
        return DeckStep(
            number=self.number,
            procedure=self.procedure.keyword,
            where=where(self.card),
            new=frozenset(self.new),
            **self.values,
            **self.defaults,
            **lists,
        )


_LISTS = ("driven", "retained", "boundaries", "cloads", "dloads", "dsloads", "temperatures", "outputs", "base_motions")


def step(deck: Reading, card: Card) -> None:
    """Begin a step: NLGEOM, PERTURBATION, INC, AMPLITUDE."""
    if deck.step is not None:
        card.fail(f"the step of {where(deck.step.card)} has no *END STEP")
    deck.step = StepDraft(card, len(deck.steps) + 1, bool(deck.steps) and deck.steps[-1].nlgeom)


def end_step(deck: Reading, card: Card) -> None:
    """End a step."""
    if deck.step is None:
        card.fail("there is no *STEP before it")
    draft = deck.step
    if draft.of_modes_at is not None and _held(draft.of_modes) != _held(draft.lists["boundaries"]):
        deck.log.add("parameter", "BOUNDARY, LOADCASE=2", draft.of_modes_at, reason="modes have other supports")
    deck.steps.append(draft.done())
    deck.step = None


def _held(boundaries: list[Boundary]) -> set[tuple[int, int, float]]:
    """Return node, direction and value of all supports."""
    return {(int(node), d, b.value) for b in boundaries for node in b.nodes for d in b.dofs}


def _inside(deck: Reading, card: Card) -> StepDraft:
    if deck.step is None:
        card.fail("it stands outside of a step; put it between *STEP and *END STEP")
    return deck.step


# ---- procedures ------------------------------------------------------------------------------------------------------


# Parameters of procedures that concern the conduct of the other program, or fields that are not there.
_HARMLESS = (
    "SOLVER", "STORAGE", "EIGENSOLVER", "NORMALIZATION", "HAFTOL", "NOHAF", "GLOBAL", "ACOUSTICCOUPLING", "SIM",
    "DIRECTUSERCONTROL", "ELEMENTBYELEMENT", "FIXEDTIMEINCREMENTATION", "IMPROVEDDTMETHOD", "SCALEFACTOR", "INITIAL",
    "PROPERTYEVALUATION", "UNSYMM", "FULLYPLASTIC",
)  # fmt: skip


# Parameters of artificial damping of statics.
_DAMPED = ("STABILIZE", "ALLSDTOL", "FACTOR", "CONTINUE")


def procedure(deck: Reading, card: Card) -> None:
    draft = _inside(deck, card)
    if draft.procedure is not None:
        card.fail(f"the step has a second procedure, after *{draft.procedure.keyword}")
    draft.procedure = card
    values = draft.defaults
    rows = list(card.rows())
    if card.keyword not in COMPUTED:
        flat: list[float] = []
        for _, fields in rows:
            for text in fields:
                try:
                    flat.append(float(text or 0.0))
                except ValueError:
                    continue
        values["data"] = np.array(flat)
        deck.log.add("keyword", card.keyword, card, reason="the procedure is not supported")
    else:
        values["supported"] = True
        row, fields = rows[0] if rows else (Row(card, card.file, card.line), [])
        for extra, _ in rows[1:]:
            extra.fail("the procedure has one data line")
        COMPUTED[card.keyword](card, row, fields, values)
        if card.keyword == "STATIC" and card.flag("RIKS"):
            _riks(deck, row, fields, values)
        if card.keyword == "DYNAMIC" and values["alpha"] < -0.3 and card.has("APPLICATION"):
            deck.log.add(
                "parameter", f"DYNAMIC, APPLICATION={card.get('APPLICATION')}", card, Effect.DIFFERS,
                "the rule is that of HHT with most damping, alpha = -1/3",
            )  # fmt: skip
        deck.surplus(row, fields, *_surplus(card, row, fields))
    values["options"] = {k: v or "" for k, v in card.params.items() if k not in card.taken}
    for name in values["options"]:
        effect = Effect.NONE if name in _HARMLESS else Effect.DIFFERS if name in _DAMPED else Effect.DROPPED
        reason = "the step is computed without artificial damping" if name in _DAMPED else ""
        deck.log.add("parameter", f"{card.keyword}, {name}", card, effect, reason)
    card.taken.update(card.params)


# Entries of a procedure's line that are read, and what the others do: a shift (Abaqus) or a time that scales masses
# (CalculiX) in FREQUENCY, the conduct of the solver in the others.
_SURPLUS = {"FREQUENCY": (3, Effect.DROPPED), "BUCKLE": (2, Effect.NONE), "COMPLEX FREQUENCY": (1, Effect.NONE)}


def _surplus(card: Card, row: Row, fields: list[str]) -> tuple[int, Effect]:
    """Return how many entries of a procedure's line are read, and what the others do: modes next to a shift that is
    not positive are the lowest."""
    if card.keyword == "FREQUENCY" and row.number(fields, 3, "shift", 0.0) <= 0.0:
        return 3, Effect.NONE
    if card.keyword == "STATIC" and card.has("RIKS"):
        return 8, Effect.NONE
    return _SURPLUS.get(card.keyword, (4, Effect.NONE))


def _times(card: Card, row: Row, fields: list[str], values: dict) -> None:
    if len(fields) > 5:
        row.fail(f"{len(fields)} entries; give increment, duration, least and greatest increment")
    values["direct"] = card.flag("DIRECT")
    values["explicit"] = card.flag("EXPLICIT")
    _span(row, fields, values)


def _span(row: Row, fields: list[str], values: dict) -> None:
    """Read increment, duration and bounds of the increments."""
    names = ("increment", "duration", "min_increment", "max_increment")
    given = [row.number(fields, i, name.replace("_", " "), 0.0) for i, name in enumerate(names)]
    for name, value in zip(names, given):
        if value < 0:
            row.fail(f"the {name.replace('_', ' ')} is {value:g}; give a positive number")
        if value > 0:
            values[name] = value
    if given[1] == 0 and given[0] > 0:
        values["duration"] = max(1.0, given[0])
    if given[0] == 0:
        values["increment"] = values["duration"]
    if values["increment"] > values["duration"] * (1 + 1e-12):
        row.fail(f"the increment {values['increment']:g} is longer than the step ({values['duration']:g})")


def _static(card: Card, row: Row, fields: list[str], values: dict) -> None:
    """Read increments of statics, linear or with NLGEOM; those of RIKS are read by `_riks`."""
    if not card.flag("RIKS"):
        _times(card, row, fields, values)


def _riks(deck: Reading, row: Row, fields: list[str], values: dict) -> None:
    """Read where a path ends: four arc lengths, of which the first two say how it begins, a load factor, and a node, a
    direction and a displacement of it."""
    if len(fields) > 8:
        row.fail(f"{len(fields)} entries; give four arc lengths, a load factor, a node, its direction and displacement")
    lengths = [row.number(fields, k, "arc length", 0.0) for k in range(4)]
    if min(lengths) < 0.0:
        row.fail(f"an arc length is {min(lengths):g}; give positive numbers")
    node = deck.mesh.one_node(row, fields[5]) if len(fields) > 5 and fields[5] else 0
    dof = row.whole(fields, 6, "direction", 0) or 0
    if node and not 1 <= dof <= 3:
        row.fail(f"the direction is {dof}; give 1 to 3")
    values["riks"] = Riks(
        (lengths[0] or 1.0) / (lengths[1] or 1.0), row.number(fields, 4, "load factor", 0.0) or np.inf, node, dof,
        row.number(fields, 7, "displacement", 0.0),
    )  # fmt: skip


#: Values of APPLICATION of motions in time: all but the first damp, the last one most.
_APPLICATIONS = ("TRANSIENTFIDELITY", "MODERATEDISSIPATION", "QUASI-STATIC")


def _dynamic(card: Card, row: Row, fields: list[str], values: dict) -> None:
    """Read increments and ALPHA of motions in time."""
    _times(card, row, fields, values)
    if fields and fields[0] and not row.number(fields, 0, "increment"):
        row.fail("the increment is 0; give a positive number")
    alpha = card.number("ALPHA", -0.05)
    if not -1 / 3 - 1e-9 <= alpha <= 0:
        card.fail(f"ALPHA={alpha:g}; give -1/3 to 0")
    values["alpha"] = alpha
    card.get("INITIAL")  # whether accelerations are computed at the beginning
    application = card.get("APPLICATION", "TRANSIENT FIDELITY").replace(" ", "")
    if application not in _APPLICATIONS:
        card.fail(f"APPLICATION={application} is not known; known are {', '.join(_APPLICATIONS)}")
    if application != "TRANSIENTFIDELITY":
        values["alpha"] = -1.0 / 3.0


def _modal_dynamic(card: Card, row: Row, fields: list[str], values: dict) -> None:
    """Read increments of linear motions in time by the modes of the last FREQUENCY step."""
    values["direct"] = card.flag("DIRECT") or not card.has("DIRECT")
    card.get("DELTMX")
    card.get("NSET")
    card.flag("CONTINUE")
    _span(row, fields, values)


def _count(row: Row, fields: list[str], values: dict) -> None:
    n = row.whole(fields, 0, "number of modes", 0)
    if n < 1:
        row.fail("the number of modes is missing; give 1 or more")
    values["n_modes"] = n


def _frequency(card: Card, row: Row, fields: list[str], values: dict) -> None:
    """Read number and bounds of natural frequencies."""
    if len(fields) > 1 or (fields and fields[0]):
        n = row.whole(fields, 0, "number of modes", 0)
        if n < 1 and not any(fields[1:3]):
            row.fail(f"the number of modes is {n}; give 1 or more")
        values["n_modes"] = max(n, 0)
    else:
        row.fail("the number of modes is missing; give 1 or more")
    values["lower"] = row.number(fields, 1, "lower bound", -np.inf)
    values["upper"] = row.number(fields, 2, "upper bound", np.inf)
    if values["lower"] >= values["upper"]:
        row.fail(f"the bounds are {values['lower']:g} and {values['upper']:g}; the upper must be greater")


def select_cyclic_symmetry_modes(deck: Reading, card: Card) -> None:
    """Read the nodal diameters of a FREQUENCY step, from NMIN to NMAX."""
    draft = _inside(deck, card)
    draft.defaults["nodal_diameters"] = (card.count("NMIN", 0), card.count("NMAX", 0) if card.has("NMAX") else None)


def _buckle(card: Card, row: Row, fields: list[str], values: dict) -> None:
    """Read number and accuracy of buckling factors."""
    _count(row, fields, values)
    values["tolerance"] = row.number(fields, 1, "accuracy", 0.01)


def _complex(card: Card, row: Row, fields: list[str], values: dict) -> None:
    """Read the number of complex frequencies, with CORIOLIS."""
    _count(row, fields, values)
    values["coriolis"] = card.flag("CORIOLIS")


def _steady(card: Card, row: Row, fields: list[str], values: dict) -> None:
    """Read the frequencies of steady vibrations: between two, or between natural ones, with a bias."""
    direct = card.flag("DIRECT")
    interval = card.choice("INTERVAL", {"RANGE": "range", "EIGENFREQUENCY": "modes"}, "range" if direct else "modes")
    if direct and interval == "modes":
        card.fail("INTERVAL=EIGENFREQUENCY is not read with DIRECT; give INTERVAL=RANGE")
    if card.has("HARMONIC") and not card.flag("HARMONIC"):
        card.fail("HARMONIC=NO is not read; give the harmonics of the loads as steps of their own")
    values["scaled"] = card.has("FREQUENCY SCALE")
    scale = card.choice("FREQUENCY SCALE", {"LOG": "log", "LIN": "linear"}, "log" if interval == "range" else "linear")
    if interval == "modes" and scale == "log":
        card.fail("FREQUENCY SCALE=LOGARITHMIC is not read between natural frequencies; give LINEAR")
    lower = row.number(fields, 0, "lowest frequency")
    upper = row.number(fields, 1, "highest frequency", 0.0) or lower
    n = row.whole(fields, 2, "number of frequencies", 20)
    bias = row.number(fields, 3, "bias", 0.0) or (1.0 if interval == "range" else 3.0)
    if not 0.0 <= lower <= upper or (scale == "log" and not lower):
        row.fail(f"the frequencies are {lower:g} and {upper:g}; give positive ones that rise")
    if bias < 1.0:
        row.fail(f"the bias is {bias:g}; give 1 or more")
    if upper > lower and n < 2:
        row.fail(f"the number of frequencies is {n}; give 2 or more, both ends are among them")
    values["direct"] = direct
    if upper <= lower:
        values["data"] = np.array([lower])
    elif interval == "modes":
        values["data"], values["between"] = np.array([lower, upper]), (n, bias)
    else:
        y = np.linspace(-1.0, 1.0, n)
        share = 0.5 * (1.0 + np.sign(y) * np.abs(y) ** (1.0 / bias))
        values["data"] = lower * (upper / lower) ** share if scale == "log" else lower + share * (upper - lower)


def _substructure(card: Card, row: Row, fields: list[str], values: dict) -> None:
    """Read that the matrices of retained displacements are sought."""
    if fields and any(fields):
        row.fail("the procedure has no data line")
    card.get("TYPE")
    card.flag("OVERWRITE")
    values["retained_mass"] = card.flag("MASS MATRIX")


def retained_nodal_dofs(deck: Reading, card: Card) -> None:
    """Read the displacements that a substructure retains; the others follow them as in statics."""
    draft = _inside(deck, card)
    if draft.procedure is None or draft.procedure.keyword != "SUBSTRUCTURE GENERATE":
        card.fail("it belongs to a step *SUBSTRUCTURE GENERATE")
    ordered = card.flag("SORTED") or not card.has("SORTED")
    for row, fields in card.rows():
        if not 1 <= len(fields) <= 3:
            row.fail(f"{len(fields)} entries; give node or set, first and last direction")
        nodes = deck.mesh.nodes(row, fields[0])
        if len(fields) > 1 and fields[1]:
            first = dof_of(row, fields, 1)
            last = dof_of(row, fields, 2) if len(fields) > 2 and fields[2] else first
        else:
            row.fail("the directions are missing; give the first and the last one")
        if last < first:
            row.fail(f"the directions are {first} to {last}; give numbers from 1 that rise")
        nodes = np.unique(nodes) if ordered else nodes
        draft.lists["retained"].append((nodes, tuple(range(first, last + 1)), where(row)))


def select_eigenmodes(deck: Reading, card: Card) -> None:
    """Read the modes with held retained displacements that a substructure has besides: the lowest ones."""
    draft = _inside(deck, card)
    if draft.procedure is None or draft.procedure.keyword != "SUBSTRUCTURE GENERATE":
        card.taken.update(card.params)
        deck.log.add("keyword", "SELECT EIGENMODES", card, reason="all modes of the FREQUENCY step are taken")
        return
    wanted: set[int] = set()
    ranges = card.flag("GENERATE")
    if (kind := card.get("DEFINITION", "MODE NUMBERS").replace(" ", "")) != "MODENUMBERS":
        card.fail(f"DEFINITION={kind} is not read; give the numbers of modes")
    for row, fields in card.rows():
        if ranges:
            first = row.whole(fields, 0, "first mode")
            last = row.whole(fields, 1, "last mode", first)
            wanted |= set(range(first, last + 1, row.whole(fields, 2, "increment", 1) or 1))
        else:
            wanted |= {row.whole(fields, i, "mode") for i in range(len(fields))}
    if wanted != set(range(1, len(wanted) + 1)) or not wanted:
        card.fail("the modes are not the lowest ones; give the numbers 1, 2, ... up to the last")
    draft.defaults["retained_modes"] = len(wanted)


def substructure_matrix_output(deck: Reading, card: Card) -> None:
    """Read which matrices of a substructure are asked for: STIFFNESS, MASS; files have the names of our own."""
    draft = _inside(deck, card)
    card.flag("STIFFNESS")
    draft.defaults["retained_mass"] |= card.flag("MASS")
    for name in ("OUTPUT FILE", "FILE NAME"):
        card.get(name)


def _matrices(card: Card, row: Row, fields: list[str], values: dict) -> None:
    """Write the matrices of mass, damping and stiffness of the model to a file of its own form."""
    for name in ("STIFFNESS", "MASS", "VISCOUS DAMPING", "STRUCTURAL DAMPING", "LOAD", "ELEMENT BY ELEMENT"):
        card.flag(name)


#: Procedures that the model computes -> what reads their line.
COMPUTED = {
    "STATIC": _static, "DYNAMIC": _dynamic, "FREQUENCY": _frequency, "BUCKLE": _buckle, "COMPLEX FREQUENCY": _complex,
    "STEADY STATE DYNAMICS": _steady, "MODAL DYNAMIC": _modal_dynamic, "MATRIX GENERATE": _matrices,
    "SUBSTRUCTURE GENERATE": _substructure,
}  # fmt: skip
PROCEDURES = (
    *COMPUTED, "HEAT TRANSFER", "VISCO", "SENSITIVITY",
    "COUPLED TEMPERATURE-DISPLACEMENT", "DYNAMIC TEMPERATURE-DISPLACEMENT", "UNCOUPLED TEMPERATURE-DISPLACEMENT",
    "ELECTROMAGNETICS", "CFD", "GREEN", "CRACK PROPAGATION", "FEASIBLE DIRECTION",
    "RANDOM RESPONSE", "RESPONSE SPECTRUM", "ROBUST DESIGN", "STEADY STATE TRANSPORT", "NO ANALYSIS",
)  # fmt: skip


def modal_damping(deck: Reading, card: Card) -> None:
    """Read damping ratios of modes, or RAYLEIGH's factors, for motions by modes."""
    draft = _inside(deck, card)
    card.choice("VISCOUS", {"FRACTION": None, "RAYLEIGH": None}, None)
    rayleigh = card.flag("RAYLEIGH") or (card.get("VISCOUS") or "").startswith("RAYLEIGH")
    found = []
    for row, fields in card.rows():
        first = row.whole(fields, 0, "lowest mode", 1) or 1
        last = row.whole(fields, 1, "highest mode", 0 if rayleigh else first)
        if first < 1 or (last and last < first):
            row.fail(f"the modes are {first} to {last}; give numbers from 1 that rise")
        numbers = [row.number(fields, k, "damping", 0.0) for k in ((2, 3) if rayleigh else (2,))]
        if min(numbers) < 0.0:
            row.fail(f"the damping is {min(numbers):g}; give 0 or more")
        deck.surplus(row, fields, 4 if rayleigh else 3)
        found.append((first, last, *numbers))
    if not found:
        card.fail("no data; give lowest and highest mode and damping")
    if not rayleigh:
        draft.defaults["modal_damping"] = tuple(found)
        return
    if len(found) > 1 or found[0][0] > 1:
        card.fail("RAYLEIGH's factors of some modes are not read; give one line for all modes, or ratios of each")
    draft.defaults["rayleigh"] = found[0]


# ---- boundary conditions and loads -----------------------------------------------------------------------------------

_NAMED = {
    "XSYMM": (1, 5, 6), "YSYMM": (2, 4, 6), "ZSYMM": (3, 4, 5), "XASYMM": (2, 3, 4), "YASYMM": (1, 3, 5),
    "ZASYMM": (1, 2, 6), "PINNED": (1, 2, 3), "ENCASTRE": (1, 2, 3, 4, 5, 6), "NOWARP": (7,),
}  # fmt: skip


def _new(deck, card: Card, kind: str) -> None:
    op = card.get("OP", "MOD")
    if op not in ("MOD", "NEW"):
        card.fail(f"OP={op} is not known; known are MOD and NEW")
    if op == "NEW" and deck.step is not None:
        deck.step.new.add(kind)


def _amplitude(deck: Reading, card: Card) -> str | None:
    name, delay = card.get("AMPLITUDE"), card.number("TIME DELAY", 0.0)
    if name is None:
        return None
    name = deck.refer(card, "amplitude", name)
    if not delay:
        return name
    later = f"{name} {delay:g} later"
    deck.delays[later] = (name, delay, card)
    return later


def _imaginary(card: Card) -> bool:
    """Return whether values are imaginary parts of steady vibrations: IMAGINARY in Abaqus, LOAD CASE=2 in CalculiX."""
    card.flag("REAL")
    case = card.count("LOAD CASE", 1)
    if case not in (1, 2):
        card.fail(f"LOAD CASE={case}; give 1 or 2, the real or imaginary part of steady vibrations")
    return card.flag("IMAGINARY") or case == 2


def base_motion(deck: Reading, card: Card) -> None:
    """Move all supports in one direction by an amplitude."""
    draft = _inside(deck, card)
    dof = card.count("DOF", 0)
    if not 1 <= dof <= 3:
        card.fail(f"DOF={dof}; give a direction from 1 to 3")
    given = card.has("TYPE")
    kind = card.choice(
        "TYPE", {"DISPLACEMENT": "DISPLACEMENT", "VELOCITY": "VELOCITY", "ACCELERATION": "ACCELERATION"}, "ACCELERATION"
    )
    name = deck.refer(card, "amplitude", card.need("AMPLITUDE"))
    draft.lists["base_motions"].append(BaseMotion(dof, name, kind, given, where(card)))


def boundary(deck: Reading, card: Card) -> None:
    """Hold or move directions of nodes."""
    _new(deck, card, "BOUNDARY")
    if "SUBMODEL" in card.params:
        driven_nodes(deck, card)
        return
    if "USER" in card.params:
        card.taken.update(card.params)
        deck.log.add("keyword", "BOUNDARY, USER", card, reason="its values come from elsewhere")
        return
    amplitude, fixed, imaginary = _amplitude(deck, card), card.flag("FIXED"), _imaginary(card)
    kind = card.get("TYPE", "DISPLACEMENT")
    if kind not in ("DISPLACEMENT", "VELOCITY", "ACCELERATION"):
        card.fail(f"TYPE={kind} is not known; known are DISPLACEMENT, VELOCITY and ACCELERATION")
    case = card.get("LOAD CASE", "1")
    if case not in ("1", "2") or (case == "2" and deck.step is None):
        card.fail(f"LOAD CASE={case} is not known; known are 1 and 2, in steps")
    out = deck.boundaries if deck.step is None else deck.step.lists["boundaries"]
    if deck.step is not None and case == "2":
        out, deck.step.of_modes_at = deck.step.of_modes, card
    runs = deck.mesh.runs(card, 2, 4)
    if runs is not None and all(_directions(v[0], v[1]) for _, _, v in runs):
        for row, nodes, (first, last, value) in runs:
            dofs = tuple(range(int(first), int(last or first) + 1))
            out.append(Boundary(nodes, dofs, float(value), amplitude, kind, fixed, where(row), imaginary))
        return
    for row, fields in card.rows():
        nodes = deck.mesh.nodes(row, fields[0])
        if len(fields) < 2:
            row.fail("1 entry; give node or set, first and last direction (and a value)")
        if len(fields) > 4:
            row.fail(f"{len(fields)} entries; give node or set, first and last direction and a value")
        name = label(fields[1])
        if name in _NAMED:
            dofs, value = _NAMED[name], 0.0
        else:
            first = row.whole(fields, 1, "first direction")
            last = row.whole(fields, 2, "last direction", first) or first
            if not 0 <= first <= last or last > 11:
                row.fail(f"directions {first} to {last}; give numbers from 1 to 6")
            dofs, value = tuple(range(first, last + 1)), row.number(fields, 3, "value", 0.0)
        other = [d for d in dofs if not 1 <= d <= 6]
        if other:  # 0, 11: temperature; 8: pressure, potential; 7: warping
            deck.log.add("entry", "BOUNDARY in directions other than 1 to 6", row)
            dofs = tuple(d for d in dofs if 1 <= d <= 6)
        if dofs:
            out.append(Boundary(nodes, dofs, value, amplitude, kind, fixed, where(row), imaginary))


def _directions(first: float, last: float) -> bool:
    """Return whether these are directions 1 to 6, or one of them and 0."""
    return first in range(1, 7) and (last == 0 or (last in range(1, 7) and first <= last))


def cload(deck: Reading, card: Card) -> None:
    """Read forces and moments at nodes."""
    draft = _inside(deck, card)
    _new(deck, card, "CLOAD")
    amplitude, follower, imaginary = _amplitude(deck, card), card.flag("FOLLOWER"), _imaginary(card)
    if card.flag("USER"):
        deck.log.add("keyword", "CLOAD, USER", card, reason="its values come from elsewhere")
        return
    runs = deck.mesh.runs(card, 3, 3)
    if runs is not None and all(_directions(v[0], 0) for _, _, v in runs):
        for row, nodes, (dof, value) in runs:
            load = Cload(nodes, int(dof), float(value), amplitude, follower, where(row), imaginary)
            draft.lists["cloads"].append(load)
        return
    for row, fields in card.rows():
        nodes = deck.mesh.nodes(row, fields[0])
        if len(fields) > 3:
            row.fail(f"{len(fields)} entries; give node or set, direction and value")
        if row.whole(fields, 1, "direction") in (0, 7, 8, 11):
            deck.log.add("entry", "CLOAD in directions other than 1 to 6", row)
            continue
        dof, value = dof_of(row, fields, 1), row.number(fields, 2, "value")
        draft.lists["cloads"].append(Cload(nodes, dof, value, amplitude, follower, where(row), imaginary))


_BODY = {"R": (1.0, 0.0, 0.0), "X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_READ_LOADS = ("GRAV", "CENTRIF", "BR", "BX", "BY", "BZ", "PX", "PY", "PZ")
_OTHER_LOADS = re.compile(
    r"(P|F|R|S|H|HP|FP|RP|BF|ED|PENU|P\d)\d*(NU|FC|CR|CRNU|CRNUM)?|B[XYZ]NU|P[XYZ]NU|EDNOR\d?(NU)?|EDLD|EDSHR|EDTRA|TRSHR|"
    r"TRVEC|TRVECNU|NEWTON|CENT|CORIO|ROTA|ROTDYNF|LOADNU|SBF|BFNU|FDD|WDD|PE|PI|PINU|HPE|HPI|HP[I]?|VP"
)


def dload(deck: Reading, card: Card) -> None:
    """Read P, P1 to P6, GRAV, CENTRIF, BX, BY, BZ, BR, PX, PY, PZ on elements; other labels are refused."""
    draft = _inside(deck, card)
    _new(deck, card, "DLOAD")
    amplitude, imaginary = _amplitude(deck, card), _imaginary(card)
    for row, fields in card.rows():
        if len(fields) < 2:
            row.fail("1 entry; give element or set, the kind of load and its value")
        # an empty first entry means the whole model, which Abaqus allows for gravity
        elements = deck.mesh.elements(row, fields[0]) if fields[0] else deck.mesh.element_ids
        name = label(fields[1])
        v = np.array(row.numbers(fields[2:], "a load"))
        zero = np.zeros(3)
        kind, face, direction, point = "other", 0, zero, zero
        pressure = re.fullmatch(r"P(\d?)", name)
        if not len(v) and (pressure or name in _READ_LOADS):
            row.fail("the value of the load is missing")
        if pressure:
            kind, face = "pressure", int(pressure[1] or 0)
            if face > 6:
                row.fail(f"the label {name}: there are 6 faces at most")
        elif name == "GRAV":
            kind, direction = "gravity", _direction(row, v, 1)
        elif name == "CENTRIF":
            kind, direction = "centrifugal", _direction(row, v, 4)
            point = v[1:4].copy()
        elif name in _READ_LOADS:
            kind, direction = "body", np.array(_BODY[name[1]])
        elif _OTHER_LOADS.fullmatch(name):
            deck.log.add("entry", f"DLOAD {name}", row)
        else:
            row.fail(
                f"the load {short(name)} is not known; known are P, P1 to P6, BX, BY, BZ, BR, PX, PY, PZ, GRAV, CENTRIF"
            )
        value = float(v[0]) if len(v) else 0.0
        draft.lists["dloads"].append(
            Dload(elements, name, kind, face, value, direction, point, v, amplitude, where(row), imaginary)
        )


def _direction(row: Row, v: np.ndarray, start: int) -> np.ndarray:
    if len(v) < start + 1 or not v[start : start + 3].any():
        row.fail("the direction is missing or zero")
    direction = np.zeros(3)
    direction[: len(v[start : start + 3])] = v[start : start + 3]
    return direction


def dsload(deck: Reading, card: Card) -> None:
    """Read P, TRVEC and TRSHR on surfaces, EDNOR and EDLD on edges of shells; other labels are refused."""
    draft = _inside(deck, card)
    _new(deck, card, "DSLOAD")
    amplitude, follows, imaginary = _amplitude(deck, card), _follows(card), _imaginary(card)
    for row, fields in card.rows():
        if len(fields) < 2:
            row.fail("1 entry; give the surface, the kind of load and its value")
        surface = deck.mesh.surface(row, label(fields[0]))
        name = label(fields[1])
        if not _OTHER_LOADS.fullmatch(name):
            row.fail(f"the load {short(name)} is not known; known are P, TRVEC, TRSHR, EDNOR and EDLD")
        direction = np.zeros(3)
        value = row.number(fields, 2, "value", 0.0 if name.endswith("NU") else None)
        if name in ("P", "EDNOR"):
            deck.surplus(row, fields, 3)
        if name in ("TRVEC", "TRSHR", "EDLD"):
            direction = _direction(row, np.array(row.numbers(fields[2:], "a load")), 1)
        elif name not in ("P", "EDNOR"):
            deck.log.add("entry", f"DSLOAD {name}", row)
        load = Dsload(surface, name, value, direction, amplitude, where(row), follows, imaginary)
        draft.lists["dsloads"].append(load)


def _follows(card: Card) -> bool:
    """Return whether tractions turn with their surface, as they do without FOLLOWER=NO.

    With CONSTANT RESULTANT they are per area at the start, which is the same in linear steps.
    """
    card.flag("CONSTANT RESULTANT")
    return card.get("FOLLOWER", "YES") != "NO"


def temperature(deck: Reading, card: Card) -> None:
    """Read temperatures of nodes."""
    draft = _inside(deck, card)
    _new(deck, card, "TEMPERATURE")
    if "SUBMODEL" in card.params:
        driven_nodes(deck, card)
        return
    amplitude = _amplitude(deck, card)
    if "FILE" in card.params or "USER" in card.params:
        card.taken.update(card.params)
        deck.log.add("keyword", "TEMPERATURE, FILE or USER", card, reason="its values come from elsewhere")
        return
    if card.flag("LINTEMP"):
        deck.log.add("keyword", "TEMPERATURE, LINTEMP", card, reason="temperatures linear in space are not read")
        return
    runs = deck.mesh.runs(card, 2, 2)
    for row, nodes, (value,) in runs or ():
        draft.lists["temperatures"].append(Temperature(nodes, float(value), amplitude, where(row)))
    if runs is not None:
        return
    for row, fields in card.rows():
        nodes = deck.mesh.nodes(row, fields[0])
        value = row.number(fields, 1, "temperature", 0.0)
        gradient = row.number(fields, 2, "gradient", 0.0)
        if any(fields[3:]):
            deck.log.add("entry", "TEMPERATURE, second gradient", row)
        draft.lists["temperatures"].append(Temperature(nodes, value, amplitude, where(row), gradient))


# ---- requests --------------------------------------------------------------------------------------------------------


def output(deck: Reading, card: Card) -> None:
    """Read requests of tables (PRINT); the results folder holds all fields anyway."""
    kind = card.keyword.lower()
    variables = tuple(dict.fromkeys(label(f) for _, fields in card.rows() for f in fields if f))
    nset, elset, surface = card.get("NSET"), card.get("ELSET"), card.get("SURFACE")
    element = kind.startswith("el")
    ids, name = (deck.mesh.element_ids if element else deck.mesh.node_ids), None
    if surface is not None:
        name = deck.mesh.surface(card, surface)
        ids = deck.mesh.surfaces[name].elements
    elif nset is not None:
        name, ids = deck.mesh.name_of(card, nset), deck.mesh.nset(card, nset)
    elif elset is not None:
        name, ids = deck.mesh.name_of(card, elset), deck.mesh.elset(card, elset)
    totals = card.choice("TOTALS", {"YES": "yes", "ONLY": "only", "NO": "no"}, "no") if card.has("TOTALS") else "no"
    frequency = card.count("FREQUENCY", 1)
    axes = card.flag("GLOBAL") if card.has("GLOBAL") else None
    options = {k: v or "" for k, v in card.params.items() if k not in card.taken}
    card.taken.update(card.params)
    request = OutputRequest(kind, variables, name, ids, frequency, totals, axes, options, where(card))
    if deck.step is not None:
        deck.step.lists["outputs"].append(request)
    else:
        deck.log.add("keyword", card.keyword, card, Effect.NONE, "it stands outside of a step")


STEP_KEYWORDS = {
    "STEP": step,
    "END STEP": end_step,
    **dict.fromkeys(PROCEDURES, procedure),
    "RETAINED NODAL DOFS": retained_nodal_dofs,
    "SELECT EIGENMODES": select_eigenmodes,
    "SUBSTRUCTURE MATRIX OUTPUT": substructure_matrix_output,
    "SELECT CYCLIC SYMMETRY MODES": select_cyclic_symmetry_modes,
    "MODAL DAMPING": modal_damping,
    "BASE MOTION": base_motion,
    "BOUNDARY": boundary,
    "CLOAD": cload,
    "DLOAD": dload,
    "DSLOAD": dsload,
    "TEMPERATURE": temperature,
    **dict.fromkeys(
        ("NODE PRINT", "EL PRINT", "NODE FILE", "EL FILE", "SECTION PRINT", "NODE OUTPUT", "ELEMENT OUTPUT"), output
    ),
}
