"""Materials over temperature: MATT1 at the one temperature that TEMPERATURE(MATERIAL), (INITIAL) or (BOTH) selects.

A TABLEM1 gives the constant itself, TABLEM2 to TABLEM4 a factor on that of the MAT1 (MSC Nastran quick reference
guide).  Without such a command the constants are those of the MAT1.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.decks.nastran.loads import nodal_temperatures
from fem_mbs.decks.nastran.model import Conversion, one_of
from fem_mbs.decks.nastran.responses.tables import Table, pairs_of
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["find_material_tables"]

#: Commands that select it; TEMPERATURE alone is TEMPERATURE(BOTH).
_SELECTED = ("TEMPERATURE(MATERIAL)", "TEMPERATURE(INITIAL)", "TEMPERATURE")
_FIELDS = ("e", "g", "nu", "rho", "a")
_TABLES = ("TABLEM1", "TABLEM2", "TABLEM3", "TABLEM4")


def find_material_tables(conv: Conversion) -> None:
    """Keep the constants of the MAT1 that have tables, at the temperature of the deck, in ``conv.replaced``.

    Raises:
        ModelError: tables that are not there, or make no function.
        UnsupportedError: temperatures that differ between grid points or subcases.
    """
    cards = conv.deck.of("MATT1")
    if not cards:
        return
    commands = {s.commands[name] for s in conv.deck.subcases for name in _SELECTED if name in s.commands}
    if not commands:
        conv.note("MATT1 is not used: no TEMPERATURE(INITIAL) selects a temperature", Effect.NONE, cards[0].where)
        return
    if len(commands) > 1:
        raise UnsupportedError(
            "materials at several temperatures are not supported", place=max(c.where for c in commands),
            remedy="give the subcases decks of their own",
        )  # fmt: skip
    command = commands.pop()
    found = nodal_temperatures(conv, command.number or 0, command.where)
    if np.isnan(found).any() or np.ptp(found) > 1e-9 * np.abs(found).max(initial=1.0):
        raise UnsupportedError(
            "materials over a temperature that varies are not supported", place=command.where,
            remedy="give one temperature by TEMPD",
        )  # fmt: skip
    for card in cards:
        base = one_of(conv, ("MAT1",), card["id"], "material (MAT1)", card.where)
        for field in _FIELDS:
            number = card["t" + field]
            if number:
                conv.replaced.setdefault(card.id, {})[field] = _value(conv, card, number, base[field], float(found[0]))
        if card["tge"]:
            conv.note("MATT1: GE over the temperature is not used", where=card.where)


def _value(conv: Conversion, card: Card, number: int, base: float | None, temperature: float) -> float:
    table = one_of(conv, _TABLES, number, "table of a material", card.where)
    if table.name == "TABLEM1":
        return float(Table(pairs_of(table))(np.array([temperature]))[0])
    if table.name == "TABLEM4":
        words = [w for w in table["rows"] if isinstance(w, (int, float))]
        if not words or not table["x2"]:
            raise ModelError(f"TABLEM4 {number} needs coefficients, and X2 that is not 0", place=table.where)
        ends = (table["x3"], table["x4"])
        made = Table(
            np.zeros((0, 2)), shift=table["x1"], scale=table["x2"], coefficients=tuple(map(float, words)), ends=ends
        )
    else:
        scale = table["x2"] if table.name == "TABLEM3" else 1.0
        if not scale:
            raise ModelError(f"TABLEM3 {number}: X2 = 0 divides by zero", place=table.where)
        made = Table(pairs_of(table), shift=table["x1"], scale=scale)
    return float(base or 0.0) * float(made(np.array([temperature]))[0])
