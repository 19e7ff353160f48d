"""Which results the commands of a Nastran deck ask for, and which of these are missing."""

from __future__ import annotations

import numpy as np

from fem_mbs.decks.nastran.bars import Bars
from fem_mbs.decks.nastran.model import RESPONSES, Conversion
from fem_mbs.decks.nastran.results.solids import solid_system
from fem_mbs.meshes.nastran.deck import Subcase
from fem_mbs.meshes.nastran.systems import ADDED
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["Options", "chosen", "note_results", "options_of"]

#: Commands for results that no solution gives.
_MISSING = (
    "MPCFORCES", "OLOAD", "GPFORCE", "GPSTRESS", "STRFIELD", "ESE", "EKE", "GPKE", "EFFMASS", "MEFFMASS",
    "SDISPLACEMENT", "SVECTOR", "SVELOCITY", "SACCELERATION", "BOUTPUT", "NLSTRESS", "NLLOAD", "THERMAL", "FLUX",
    "ENTHALPY", "MCFRACTION", "GPSTRAIN", "MODALSE", "MODALKE", "INTENSITY", "PRESSURE", "PLSTRN", "THSTRN", "RANDOM",
)  # fmt: skip


class Options:
    """Options in brackets of an output request: ``mises`` stresses of von Mises instead of the largest shear,
    ``corners`` of shells, ``fibres`` instead of curvatures."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.mises = not {"SHEAR", "MAXS"} & set(words)
        self.corners = bool({"CORNER", "CUBIC", "BILIN", "SGAGE"} & set(words))
        self.fibres = "FIBER" in words


def options_of(subcase: Subcase, name: str) -> Options:
    """Return the options of a command."""
    command = subcase.commands.get(name)
    return Options(() if command is None else command.options)


def chosen(conv: Conversion, subcase: Subcase, name: str, ids: np.ndarray) -> np.ndarray:
    """Return which of the numbers (n,) bool a command asks for; none of points that the deck does not have."""
    command = subcase.commands.get(name)
    if command is None or command.value == "NONE":
        return np.zeros(len(ids), bool)
    own = ids < ADDED
    if command.value == "ALL" or command.number is None:
        return own
    members = conv.deck.sets.get(command.number)
    return own if members is None else np.isin(ids, list(members))


def note_results(conv: Conversion) -> None:
    """Note the results that the deck asks for and does not get, and read the fields that say where others are."""
    asked = {name for s in conv.deck.subcases for name, c in s.commands.items() if c.value != "NONE"}
    for subcase in conv.deck.subcases:
        for name in _MISSING:
            if name in asked and name in subcase.commands:
                conv.note(f"{name}: results missing", Effect.NONE, subcase.commands[name].where)
    if {"STRESS", "STRAIN"} & asked:
        for group in conv.groups:
            if group.kind == "shell" and group.section.name == "PSHELL":
                group.section.seen.update(("z1", "z2"))
        _note_stresses(conv, "STRAIN" in asked)
    for subcase in conv.deck.subcases:
        _note_solution(conv, subcase)


def _note_stresses(conv: Conversion, strain: bool) -> None:
    for group in conv.groups:
        where = group.section.where
        if group.kind == "solid" and solid_system(group) < 0:
            conv.note(
                "PSOLID: CORDM = -1: stresses along the axes of the elements: results missing", Effect.NONE, where
            )
        if strain and group.section.name == "PCOMP":
            conv.note("PCOMP: STRAIN between plies: results missing", Effect.NONE, where)
        if isinstance(group.data, Bars) and any(group.data.section.neutral):
            conv.note("PBEAM: stresses with a neutral axis of its own: results missing", Effect.NONE, where)
    heated = any(name in s.commands for s in conv.deck.subcases for name in ("TEMPERATURE", "TEMPERATURE(LOAD)"))
    if strain and heated:
        conv.note("STRAIN in subcases with temperatures: results missing", Effect.NONE)


def _note_solution(conv: Conversion, subcase: Subcase) -> None:
    """Note what the solution does not give."""
    sol = conv.deck.sol
    shapes = sol in (103, 105) and bool(subcase.set("METHOD"))
    missing = {"SPCFORCES": shapes or sol in RESPONSES, "VELOCITY": sol in (101, 103, 105)}
    missing["ACCELERATION"] = missing["VELOCITY"]
    for name in ("STRESS", "STRAIN", "FORCE"):
        missing[name] = sol in (108, 111) or (sol == 105 and shapes)
    missing["VELOCITY"] |= sol in (109, 112)
    missing["ACCELERATION"] |= sol in (109, 112)
    dampers = conv.deck.of("CDAMP1", "CDAMP2", "CVISC")
    force = subcase.commands.get("FORCE")
    if dampers and sol in (109, 112) and force is not None and force.value != "NONE":
        conv.note("FORCE of dampers: results missing", Effect.NONE, dampers[0].where)
    for name, gone in missing.items():
        command = subcase.commands.get(name)
        if gone and command is not None and command.value != "NONE":
            what = "shapes" if shapes else f"SOL {sol}"
            conv.note(f"{name} of {what}: results missing", Effect.NONE, command.where)
