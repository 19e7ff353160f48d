"""Excitation of a response: its loads and the supports that it moves, over the frequency or over time.

The load of RLOAD1 is A (C(f) + i D(f)) exp(i (theta - 2 pi f tau)), that of RLOAD2 A B(f) exp(i (phi(f) + theta -
2 pi f tau)), of TLOAD1 A F(t - tau), of TLOAD2 A s^B exp(C s) cos(2 pi F s + P) with s = t - T1 - tau from 0 to T2 - T1
(MSC Nastran quick reference guide, bulk data entries RLOAD1, RLOAD2, TLOAD1, TLOAD2).  With TYPE DISP, VELO or ACCE
they are displacements of supports, or their first or second derivatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.nastran.constraints.supports import support_values
from fem_mbs.decks.nastran.loads import LoadCase, find_excitation
from fem_mbs.decks.nastran.model import Conversion
from fem_mbs.decks.nastran.responses.tables import field_function, table_of
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.nastran.deck import Subcase
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = [
    "Excitation", "chosen_loads", "course_of", "find_excitations", "moved_by", "moving_supports", "order_of",
    "spectrum_of",
]  # fmt: skip


@dataclass(frozen=True)
class Excitation:
    """A load of a response: its entry, its factor, the forces and moments (n, 6) of the grid points, its delay [s] and
    its phase [degrees]."""

    card: Card
    factor: float
    case: LoadCase
    delay: float
    phase: float
    #: components of the deck that supports move by -> value, and how often in time this is differentiated
    moves: Mapping[int, float] = field(default_factory=dict)
    order: int = 0


def chosen_loads(conv: Conversion, subcase: Subcase, names: tuple[str, ...]) -> Iterator[tuple[Card, float]]:
    number, command = subcase.set("DLOAD"), subcase.commands["DLOAD"]
    unions = [card for card in conv.deck.of("DLOAD") if card["sid"] == number]
    factors = {number: 1.0}
    where = command.where
    if unions:
        card, where = unions[0], unions[0].where
        terms, factors = card["terms"], {}
        for k in range(0, len(terms) - len(terms) % 2, 2):
            if terms[k] is None or not isinstance(terms[k + 1], int):
                raise ModelError("DLOAD needs pairs of factor and set", place=card.where)
            factors[terms[k + 1]] = factors.get(terms[k + 1], 0.0) + card["s"] * terms[k]
    for sid, factor in factors.items():
        found = [card for card in conv.deck.of(*names) if card["sid"] == sid]
        if not found:
            raise ModelError(f"there is no {' or '.join(names)} {sid}", place=where, remedy="mend the number")
        for card in found:
            yield card, factor


def find_excitations(conv: Conversion, subcase: Subcase, mass: csr_matrix | None) -> list[Excitation]:
    """Return the loads of the response of a subcase.

    Raises:
        ModelError: there are none, or they move supports, which is not supported.
    """
    if not subcase.set("DLOAD"):
        raise ModelError("the subcase has no DLOAD", place=subcase.where, remedy="select one")
    names = ("RLOAD1", "RLOAD2") if conv.over_frequency else ("TLOAD1", "TLOAD2")
    out = []
    for card, factor in chosen_loads(conv, subcase, names):
        order = order_of(card)
        if order is not None:
            out += moving_supports(conv, card, factor, order, subcase)
            continue
        case = find_excitation(conv, card["exciteid"], subcase.set("LOADSET"), mass)
        if case is None:
            raise ModelError(
                f"there is no DAREA or load set {card['exciteid']}", place=card.where, remedy="mend the number"
            )
        if case.fixed:
            raise UnsupportedError("line loads on bars over frequency or time are not supported", place=card.where)
        if not case.forces.any():
            conv.note(f"{card.name} has no loads that act", Effect.NONE, card.where)
            for key in card.values:
                card[key]  # so nothing of it changes the answer
            continue
        for delay, phase, forces in _shifted(conv, card, case.forces):
            out.append(Excitation(card, factor, LoadCase(forces), delay, phase))
    return out


def order_of(card: Card) -> int | None:
    """Return how often the displacement of supports is differentiated that a load gives; None for forces.

    Raises:
        ModelError: a type that is none.
    """
    word = str(card["type"])
    for order, (number, name) in enumerate((("1", "DISPLACEMENT"), ("2", "VELOCITY"), ("3", "ACCELERATION"))):
        if word == number or name.startswith(word):
            return order
    if word == "0" or "LOAD".startswith(word):
        return None
    raise ModelError(
        f"{card.name}: TYPE = {word} is none of LOAD, DISP, VELO, ACCE", place=card.where, remedy="mend it"
    )


def moving_supports(conv: Conversion, card: Card, factor: float, order: int, subcase: Subcase) -> list[Excitation]:
    """Return the motions of supports by one load: one for each component and delay."""
    moves = moved_by(conv, card, subcase)
    delay = _by_components(conv, card, "delay", "DELAY").ravel()
    phase = _by_components(conv, card, "dphase", "DPHASE").ravel() if "dphase" in card.values else np.zeros_like(delay)
    none = LoadCase(np.zeros((0, 6)))
    return [
        Excitation(card, factor, none, float(delay[dof]), float(phase[dof]), {dof: value}, order)
        for dof, value in moves.items()
        if value
    ]


def _shifted(conv: Conversion, card: Card, forces: np.ndarray) -> Iterator[tuple[float, float, np.ndarray]]:
    """Yield the parts of forces (n, 6) with the same delay and phase."""
    delay = _by_components(conv, card, "delay", "DELAY")
    phase = _by_components(conv, card, "dphase", "DPHASE") if "dphase" in card.values else np.zeros_like(delay)
    pairs = np.stack((delay, phase), axis=2)
    if not np.ptp(pairs.reshape(-1, 2), axis=0).any():
        yield float(delay[0, 0]), float(phase[0, 0]), forces
        return
    nodes = np.arange(len(forces))
    along = conv.to_deck(nodes, forces)
    for a, b in np.unique(pairs[along != 0.0], axis=0).tolist():
        mine = (pairs == (a, b)).all(axis=2)
        yield a, b, conv.to_basic(nodes, np.where(mine, along, 0.0))


def _by_components(conv: Conversion, card: Card, key: str, entry: str) -> np.ndarray:
    """Return the delay or phase (n, 6) of the components of the deck: a number of the load itself, or by entries.

    Raises:
        ModelError: there are no such entries.
    """
    value = card[key]
    out = np.full((len(conv.grids.ids), 6), float(value or 0.0) if not isinstance(value, int) else 0.0)
    if not isinstance(value, int) or value == 0:
        return out
    found = [one for one in conv.deck.of(entry) if one["sid"] == value]
    if not found:
        raise ModelError(f"there is no {entry} {value}", place=card.where, remedy="add one, or give a real number")
    for one in found:
        for k in "12":
            if one[f"p{k}"] is None:
                continue
            node = conv.grids.index(one[f"p{k}"], one.where, scalar=True)
            for component in conv.grids.components(node, one[f"c{k}"], one.where):
                out[node, component] = one[f"t{k}"]
    return out


def spectrum_of(conv: Conversion, loads: list[Excitation], f: np.ndarray) -> list[list[float]]:
    """Return rows of frequency, amplitude and phase [degrees] at frequencies (n,) [Hz] of the sum of loads on the same
    places."""
    value = np.sum([_values(conv, load, f) for load in loads], axis=0)
    return np.column_stack((f, np.abs(value), np.rad2deg(np.unwrap(np.angle(value))))).tolist()


def _values(conv: Conversion, load: Excitation, f: np.ndarray) -> np.ndarray:
    """Return the complex factor of a load, of moved supports their displacement, at frequencies (n,) [Hz]."""
    card = load.card
    if card.name == "RLOAD1":
        real, imaginary = (field_function(conv, card, k, 0.0)(f) for k in ("tc", "td"))
        if card["tc"] is None and card["td"] is None:
            raise ModelError("RLOAD1 has neither TC nor TD", place=card.where, remedy="give one of them")
        value = real + 1j * imaginary
    else:
        if card["tb"] is None:
            raise ModelError("RLOAD2 has no TB", place=card.where, remedy="give it")
        size, phase = (field_function(conv, card, k, 0.0)(f) for k in ("tb", "tp"))
        value = size * np.exp(1j * np.deg2rad(phase))
    turn = np.deg2rad(load.phase) - 2.0 * np.pi * f * load.delay
    value = load.factor * value * np.exp(1j * turn)
    for amount in load.moves.values():
        if load.order and not f.min() > 0.0:
            raise ModelError(
                f"{card.name}: a velocity or acceleration at 0 Hz has no displacement", place=card.where,
                remedy="leave out the frequency 0",
            )  # fmt: skip
        value = value * amount / (2j * np.pi * f) ** load.order
    if not np.isfinite(value).all():
        raise ModelError(
            f"{card.name}: the load is not finite at {f[np.argmin(np.isfinite(value))]:g} Hz", place=card.where,
            remedy="leave out frequencies at which a table with logarithmic axes has no value",
        )  # fmt: skip
    return value


def moved_by(conv: Conversion, card: Card, subcase: Subcase) -> dict[int, float]:
    """Return the components of the deck that a load moves, with their values.

    Raises:
        ModelError: no SPCD has its number.
    """
    number, sequence = card["exciteid"], subcase.set("LOADSET")
    named = [c for c in conv.deck.of("LSEQ") if sequence and c["sid"] == sequence and c["darea"] == number]
    sets = {number, *(c["lid"] for c in named)}
    found = [c for c in conv.deck.of("SPCD") if c["sid"] in sets]
    if not found:
        raise ModelError(
            f"there is no SPCD {number}", place=card.where, remedy="add one; large masses move by TYPE = LOAD"
        )
    return {dof: value for c in found for dof, value in support_values(conv, c)}


def course_of(conv: Conversion, load: Excitation) -> dict[str, Any]:
    """Return the factor of a load over time, as a function of the model."""
    card = load.card
    if card["us0"] or card["vs0"]:
        raise UnsupportedError("initial values US0, VS0 are not supported", place=card.where)
    delay = load.delay
    if card.name == "TLOAD2":
        t1, t2 = card["t1"], card["t2"]
        if not t2 > t1:
            raise ModelError(f"TLOAD2: T2 = {t2:g} must be later than T1 = {t1:g}", place=card.where)
        s = f"(t-({t1 + delay!r}))"
        power = f"{s}**({card['b']!r})*" if card["b"] else ""
        wave = f"cos({2.0 * np.pi * card['f']!r}*{s}+({float(np.deg2rad(card['p']))!r}))"
        text = f"{load.factor!r}*{power}exp(({card['c']!r})*{s})*{wave} if 0 <= {s} <= {t2 - t1!r} else 0"
        return {"kind": "expression", "expression": text, "kinks": [t1 + delay, t2 + delay]}
    value = card["tid"]
    if isinstance(value, float):
        course: dict[str, Any] = {"kind": "constant", "value": value * load.factor}
    else:
        table = table_of(conv, value or 0, card.where)
        if not table.linear:
            raise UnsupportedError("only tables that are linear between rows are supported over time", place=card.where)
        x = table.shift + table.scale * table.rows[:, 0]
        y = load.factor * table.rows[:, 1]
        if table.scale < 0.0:
            x, y = x[::-1], y[::-1]
        beyond = "hold" if table.held else "linear"
        course = {"kind": "table", "times": x.tolist(), "values": y.tolist(), "extrapolate": beyond}
    if delay:
        course = {"kind": "scaled", "function": course, "delay": delay}
    return {"kind": "product", "functions": [course, {"kind": "step", "start": delay}]} if delay > 0.0 else course
