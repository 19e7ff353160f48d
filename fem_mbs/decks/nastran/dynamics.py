"""Responses over frequency and time: their loads, tables, damping and steps.

SOL 108, 111    harmonic_step, direct or by modes; RLOAD1 and RLOAD2 give spectra of the loads
SOL 109, 112    linear_transient_step over all unknowns; TLOAD1 and TLOAD2 give functions of time

The load of RLOAD1 is A (C(f) + i D(f)) exp(i (theta - 2 pi f tau)), that of RLOAD2 A B(f) exp(i (phi(f) + theta -
2 pi f tau)), of TLOAD1 A F(t - tau), of TLOAD2 A s^B exp(C s) cos(2 pi F s + P) with s = t - T1 - tau from 0 to T2 - T1
(MSC Nastran quick reference guide, bulk data entries RLOAD1, RLOAD2, TLOAD1, TLOAD2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.nastran.loads import LoadCase, find_excitation
from fem_mbs.decks.nastran.model import Conversion, one_of
from fem_mbs.decks.nastran.points import spring_losses
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.functions.kinds import make_function
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.nastran.deck import Subcase
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["PARAMETERS", "RESPONSES", "Table", "add_response", "loss_factor", "note_parameters", "table_of"]

#: Solutions that are responses.
RESPONSES = {
    108: "direct frequency response", 109: "direct transient", 111: "modal frequency response", 112: "modal transient",
}  # fmt: skip
_TABLES = ("TABLED1", "TABLED2", "TABLED3", "TABLED4")
#: Parameters of responses that change them, and the values that do not.
PARAMETERS: dict[str, Callable[[Any], bool]] = {
    "GFL": lambda v: v == 0, "W4": lambda v: v == 0, "ALPHA1": lambda v: v == 0, "ALPHA2": lambda v: v == 0,
    "LFREQ": lambda v: v == 0, "LMODES": lambda v: v == 0, "LMODESFL": lambda v: True, "KDAMP": lambda v: v == 1,
    "HFREQ": lambda v: isinstance(v, float) and v >= 1e30,
}  # fmt: skip

#: Parameters of damping by mass and by stiffness.
_RAYLEIGH = ("ALPHA1", "ALPHA2")


# --- tables ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Table:
    """A function y(x): rows (n, 2) between which ``log`` says along which axes it is linear, or the ``coefficients`` of
    a polynomial in (x - x1)/x2 for x within ``ends``; ``held`` beyond the rows, else its last lines go on."""

    rows: np.ndarray
    log: tuple[bool, bool] = (False, False)
    held: bool = False
    shift: float = 0.0
    scale: float = 1.0
    coefficients: tuple[float, ...] = ()
    ends: tuple[float, float] = (-np.inf, np.inf)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return y (n,) at x (n,)."""
        x = np.asarray(x, float)
        if self.coefficients:
            s = (np.clip(x, *self.ends) - self.shift) / self.scale
            return np.polynomial.polynomial.polyval(s, self.coefficients)
        s = (x - self.shift) / self.scale
        a, b = self.rows.T
        if self.held:
            s = np.clip(s, a[0], a[-1])
        if self.log[0]:
            a, s = np.log(a), np.log(np.where(s > 0.0, s, np.nan))  # no value where the logarithm has none
        b = np.log(b) if self.log[1] else b
        k = np.clip(np.searchsorted(a, s, side="right") - 1, 0, len(a) - 2)
        y = b[k] + (s - a[k]) * (b[k + 1] - b[k]) / (a[k + 1] - a[k])
        return np.exp(y) if self.log[1] else y

    @property
    def linear(self) -> bool:
        """Whether the function is linear between its rows."""
        return not self.coefficients and self.log == (False, False)


def _pairs(card: Card) -> np.ndarray:
    """Return the rows (n, 2) of a table; ENDT ends it, SKIP passes over a pair.

    Raises:
        ModelError: an entry is no number, a pair lacks its second number, or the first numbers do not rise.
    """
    words = card["rows"]
    if "ENDT" in words:
        words = words[: words.index("ENDT")]
    rows = []
    for k in range(0, len(words), 2):
        pair = words[k : k + 2]
        if "SKIP" in pair or pair in ([None], [None, None]):
            continue
        if len(pair) < 2 or any(not isinstance(v, (int, float)) for v in pair):
            raise ModelError(f"{card.name} {card.id} needs pairs of numbers, then ENDT", place=card.where)
        rows.append([float(v) for v in pair])
    table = np.array(rows, float).reshape(-1, 2)
    if len(table) < 2 or not np.all(np.diff(table[:, 0]) > 0.0):
        raise ModelError(
            f"{card.name} {card.id} needs two rows and more, with rising first numbers", place=card.where,
            remedy="a jump is supported as two close rows",
        )  # fmt: skip
    return table


def table_of(conv: Conversion, number: int, where: str) -> Table:
    """Return the function of a TABLED1, TABLED2, TABLED3 or TABLED4.

    Raises:
        ModelError: there is none with this number, or its rows make none.
    """
    card = one_of(conv, _TABLES, number, "table", where)
    if card.name == "TABLED4":
        words = [w for w in card["rows"] if w is not None]
        numbers = words[: words.index("ENDT")] if "ENDT" in words else words
        if not numbers or any(not isinstance(v, (int, float)) for v in numbers):
            raise ModelError(f"TABLED4 {number} needs coefficients, then ENDT", place=card.where)
        _nonzero(card)
        ends = (card["x3"], card["x4"])
        return Table(np.zeros((0, 2)), False, False, card["x1"], card["x2"], tuple(map(float, numbers)), ends)  # type: ignore[arg-type]
    rows, held = _pairs(card), card["extrap"] == 1
    if card.name == "TABLED1":
        names = ("LINEAR", "LOG")
        if card["xaxis"] not in names or card["yaxis"] not in names:
            raise ModelError("the axes of TABLED1 must be LINEAR or LOG", place=card.where)
        log = (card["xaxis"] == "LOG", card["yaxis"] == "LOG")
        for k in (0, 1):
            if log[k] and not (rows[:, k] > 0.0).all():
                raise ModelError("numbers along a logarithmic axis must be positive", place=card.where)
        return Table(rows, log, held)
    if card.name == "TABLED2":
        return Table(rows, held=held, shift=card["x1"])
    _nonzero(card)
    return Table(rows, held=held, shift=card["x1"], scale=card["x2"])


def _nonzero(card: Card) -> None:
    if card["x2"] == 0.0:
        raise ModelError(f"{card.name}: X2 = 0 divides by zero", place=card.where)


def _function(conv: Conversion, card: Card, key: str, blank: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return a field that is a table's number, a constant, or blank."""
    value = card[key]
    if value is None or (isinstance(value, int) and value == 0):
        return lambda x: np.full(np.shape(x), blank)
    if isinstance(value, float):
        return lambda x: np.full(np.shape(x), value)
    return table_of(conv, value, card.where)


# --- excitations -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Excitation:
    """A load of a response: its entry, its factor, the forces and moments (n, 6) of the grid points, its delay [s] and
    its phase [degrees]."""

    card: Card
    factor: float
    case: LoadCase
    delay: float
    phase: float


def _chosen(conv: Conversion, subcase: Subcase, names: tuple[str, ...]) -> Iterator[tuple[Card, float]]:
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


def _excitations(conv: Conversion, subcase: Subcase, mass: csr_matrix | None) -> list[_Excitation]:
    """Return the loads of the response of a subcase.

    Raises:
        ModelError: there are none, or they move supports, which is not supported.
    """
    if not subcase.set("DLOAD"):
        raise ModelError("the subcase has no DLOAD", place=subcase.where, remedy="select one")
    names = ("RLOAD1", "RLOAD2") if conv.over_frequency else ("TLOAD1", "TLOAD2")
    out = []
    for card, factor in _chosen(conv, subcase, names):
        if card["type"] not in (0, "0", "L", "LO", "LOA", "LOAD"):
            raise UnsupportedError(
                f"{card.name}: TYPE = {card['type']} (supports that move) is not supported", place=card.where,
                remedy="give forces",
            )  # fmt: skip
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
            out.append(_Excitation(card, factor, LoadCase(forces), delay, phase))
    return out


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


def _spectrum(conv: Conversion, load: _Excitation, f: np.ndarray) -> list[list[float]]:
    """Return rows of frequency, amplitude and phase [degrees] at frequencies (n,) [Hz]."""
    card = load.card
    if card.name == "RLOAD1":
        real, imaginary = (_function(conv, card, k, 0.0)(f) for k in ("tc", "td"))
        if card["tc"] is None and card["td"] is None:
            raise ModelError("RLOAD1 has neither TC nor TD", place=card.where, remedy="give one of them")
        value = real + 1j * imaginary
    else:
        if card["tb"] is None:
            raise ModelError("RLOAD2 has no TB", place=card.where, remedy="give it")
        value = _function(conv, card, "tb", 0.0)(f) * np.exp(1j * np.deg2rad(_function(conv, card, "tp", 0.0)(f)))
    turn = np.deg2rad(load.phase) - 2.0 * np.pi * f * load.delay
    value = load.factor * value * np.exp(1j * turn)
    if not np.isfinite(value).all():
        raise ModelError(
            f"{card.name}: the load is not finite at {f[np.argmin(np.isfinite(value))]:g} Hz", place=card.where,
            remedy="leave out frequencies at which a table with logarithmic axes has no value",
        )  # fmt: skip
    return np.column_stack((f, np.abs(value), np.rad2deg(np.unwrap(np.angle(value))))).tolist()


def _course(conv: Conversion, load: _Excitation) -> dict[str, Any]:
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


# --- frequencies and times -------------------------------------------------------------------------------------------
def _frequencies(conv: Conversion, subcase: Subcase) -> list[float]:
    """Return the rising frequencies [Hz] that FREQUENCY selects.

    Raises:
        ModelError: there are none, or they are spread by entries that are not supported.
    """
    number = subcase.set("FREQUENCY")
    if not number:
        raise ModelError("the subcase has no FREQUENCY", place=subcase.where, remedy="select FREQ")
    found: list[float] = []
    for card in conv.deck.of("FREQ", "FREQ1", "FREQ2"):
        if card["sid"] != number:
            continue
        if card.name == "FREQ":
            found += card["f"]
        elif card.name == "FREQ1":
            found += (card["f1"] + card["df"] * np.arange(card["ndf"] + 1)).tolist()
        else:
            if not 0.0 < card["f1"] < card["f2"]:
                raise ModelError("FREQ2 needs 0 < F1 < F2", place=card.where)
            found += np.geomspace(card["f1"], card["f2"], card["nf"] + 1).tolist()
    where = subcase.commands["FREQUENCY"].where
    for entry in conv.deck.unknown:
        if entry.name in ("FREQ3", "FREQ4", "FREQ5") and entry.fields and entry.fields[0] == str(number):
            conv.note(f"{entry.name} spreads frequencies about modes, which are not used", where=entry.where)
    if not found:
        raise ModelError(f"there are no frequencies {number}", place=where, remedy="add FREQ, FREQ1 or FREQ2")
    f = np.unique(np.array(found))
    # frequencies that differ by round-off are one
    return f[np.concatenate(([True], np.diff(f) > 1e-9 * f[-1]))].tolist()


def _times(conv: Conversion, subcase: Subcase) -> list[tuple[float, float, int]]:
    """Return parts of a transient: duration, time step, and every how many steps a state is kept.

    Raises:
        ModelError: there is no TSTEP, or its numbers make no steps.
    """
    number = subcase.set("TSTEP")
    if not number:
        raise ModelError("the subcase has no TSTEP", place=subcase.where, remedy="select one")
    card = one_of(conv, ("TSTEP",), number, "TSTEP", subcase.commands["TSTEP"].where)
    terms, out = [*card["terms"]], []
    for k in range(0, len(terms), 8):
        row = [*terms[k : k + 8], None, None, None][:3]
        if row == [None, None, None]:
            continue
        n, h, every = row[0], row[1], row[2] or 1
        if not isinstance(n, int) or n < 1 or not isinstance(h, (int, float)) or h <= 0.0 or every < 1:
            raise ModelError("TSTEP needs a number of steps, their length and NO", place=card.where)
        out.append((n * float(h), float(h), int(every)))
    if not out:
        raise ModelError("TSTEP has no steps", place=card.where)
    return out


# --- damping ---------------------------------------------------------------------------------------------------------
def _losses(conv: Conversion) -> Iterator[tuple[float, str]]:
    """Generate the loss factors GE of the elements in use, and where they stand."""
    for group in conv.groups:
        section = group.section
        if group.kind in ("bar", "rod"):
            material = group.data.material
            yield material.loss, material.where
        elif section.name in ("PCOMP", "PCOMPG"):
            yield section["ge"], section.where
        else:
            number = section["mid"] if group.kind == "solid" else section["mid1"] or section["mid2"]
            card = one_of(conv, ("MAT1", "MAT2", "MAT8", "MAT9"), number, "material", section.where)
            yield card["ge"], card.where
    yield from spring_losses(conv)


def loss_factor(conv: Conversion) -> float:
    """Return the loss factor of the whole stiffness: PARAM,G and the GE of all elements, if that is one.

    Where GE differs between elements, it is dropped content.
    """
    found = dict(_losses(conv))
    if len(found) > 1:
        where = next(place for loss, place in found.items() if loss)
        conv.note("structural damping (GE) that differs between elements is not used", where=where)
        found = {}
    return float(conv.deck.param("G", 0.0)) + next(iter(found), 0.0)


def _modal_damping(conv: Conversion, subcase: Subcase) -> float | None:
    """Return the damping ratio of all modes, None for none.

    Raises:
        UnsupportedError: it changes with the frequency.
    """
    number = subcase.set("SDAMPING")
    if not number:
        return None
    where = subcase.commands["SDAMPING"].where
    card = one_of(conv, ("TABDMP1",), number, "table of damping", where)
    values = _pairs(card)[:, 1]
    if np.ptp(values) > 1e-12 * np.abs(values).max():
        raise UnsupportedError(
            "modal damping that changes with the frequency is not supported", place=card.where,
            remedy="give one value at all frequencies",
        )  # fmt: skip
    kinds = {"G": 0.5 * values[0], "CRIT": values[0], "Q": 0.5 / values[0] if values[0] else 0.0}
    if card["type"] not in kinds:
        raise ModelError(f"the type {card['type']} of TABDMP1 must be G, CRIT or Q", place=card.where)
    return float(kinds[card["type"]])


# --- steps -----------------------------------------------------------------------------------------------------------
def _add_loads(
    conv: Conversion, subcase: Subcase, loads: list[_Excitation], course: Callable[[_Excitation], dict[str, Any]]
) -> dict[str, _Excitation]:
    """Create the loads of a response; return them by name."""
    names = {}
    kinds: tuple[tuple[int, Any, str], ...] = ((0, conv.model.force, "forces"), (3, conv.model.moment, "moments"))
    for number, load in enumerate(loads, 1):
        for part, make, what in kinds:
            values = load.case.forces[:, part : part + 3]
            nodes = np.flatnonzero(np.abs(values).max(axis=1) > 0.0)
            if len(nodes):
                name = f"{what} {number} of subcase {subcase.number}"
                make(name, nodes, values[nodes], function=make_function(course(load)))
                names[name] = load
    if not names:
        raise ModelError("the loads of the subcase are zero", place=subcase.where, remedy="mend DLOAD")
    conv.model.reserved_loads = [*conv.model.reserved_loads, *names]
    return names


def note_parameters(conv: Conversion, what: str) -> None:
    """Note the parameters that change a solution, ``what``, and are not supported in it."""
    for name, harmless in PARAMETERS.items():
        given = conv.deck.params.get(name)
        used = conv.deck.sol == 111 and name in _RAYLEIGH
        if given is not None and not used and not harmless(given.values[0]):
            conv.note(f"PARAM,{name} = {given.values[0]} is not used in {what}", where=given.where)


def _check(conv: Conversion, subcase: Subcase) -> None:
    """Note what changes a response and is not supported."""
    note_parameters(conv, "responses")
    for name in ("IC", "STATSUB", "CMETHOD", "NONLINEAR", "TFL"):
        if name in subcase.commands:
            conv.note(f"{name} is not used in responses", where=subcase.commands[name].where)
    over_time = ("VELOCITY", "ACCELERATION") if not conv.over_frequency else ()
    for name in ("SPCFORCES", "FORCE", "STRESS", "MPCFORCES", *over_time):
        if name in subcase.commands:
            conv.note(f"{name} of responses is not printed", Effect.NONE, subcase.commands[name].where)


def add_response(
    conv: Conversion, subcase: Subcase, mass: csr_matrix | None, method: Callable[[], dict[str, Any]]
) -> list[str]:
    """Add the steps of a response; ``method`` returns the modes that the subcase asks for. Return their names.

    Raises:
        ModelError: loads, frequencies or time steps that are missing or make no sense.
    """
    _check(conv, subcase)
    model, sol, name = conv.model, conv.deck.sol, f"subcase {subcase.number}"
    loads = _excitations(conv, subcase, mass)
    if not conv.over_frequency:
        return _transient(conv, subcase, loads, name)
    f = _frequencies(conv, subcase)
    names = _add_loads(conv, subcase, loads, lambda _: {"kind": "constant", "value": 1.0})
    spectra = {key: _spectrum(conv, load, np.array(f)) for key, load in names.items()}
    options: dict[str, Any] = {
        "loads": list(names),
        "spectra": spectra,
        "frames": len(f),
        "structural": loss_factor(conv),
    }
    if sol == 108:
        model.harmonic_step(f, name, method="direct", **options)
    else:
        rayleigh = [float(conv.deck.param(key, 0.0)) for key in _RAYLEIGH]
        if any(rayleigh):
            options["rayleigh"] = rayleigh
        model.harmonic_step(f, name, method="modal", damping=_modal_damping(conv, subcase), **method(), **options)
    return [name]


def _transient(conv: Conversion, subcase: Subcase, loads: list[_Excitation], name: str) -> list[str]:
    parts = _times(conv, subcase)
    if conv.deck.param("G", 0.0) and conv.deck.param("W3", 0.0):
        conv.note("structural damping (G, W3) is not used in transients", where=conv.deck.params["W3"].where)
    if subcase.set("SDAMPING"):
        conv.note("SDAMPING is not used in transients", where=subcase.commands["SDAMPING"].where)
    if conv.deck.sol == 112:
        conv.note("all unknowns are integrated, not those of modes alone", Effect.NONE, subcase.where)
    names = _add_loads(conv, subcase, loads, lambda load: _course(conv, load))
    made: list[str] = []
    for k, (duration, h, every) in enumerate(parts):
        own = name if k == 0 else f"{name}, part {k + 1}"
        start: dict[str, Any] = {"time": 0.0} if k == 0 else {"start": made[-1]}
        frames = round(duration / h) // every
        conv.model.linear_transient_step(duration, h, own, loads=list(names), frames=frames, **start)
        made.append(own)
    return made
