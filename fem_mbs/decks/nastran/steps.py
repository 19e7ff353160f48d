"""Subcases of a Nastran deck as steps of the model.

SOL 101      linear_static_step per subcase; it reads functions of time at its number
SOL 103      modes_step per subcase; with STATSUB about the stresses of that static subcase
SOL 108, 111 harmonic_step per subcase with a DLOAD, direct or by modes
SOL 107, 110 complex_modes_step per subcase, of 110 in the span of the shapes of a modes_step
SOL 109, 112 linear_transient_step per subcase with a DLOAD
SOL 106      static_step per subcase, one after the other, with large displacements; else as SOL 101
SOL 105      linear_static_step of the static subcases, buckling_step of the loads of the one that STATSUB names
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fem_mbs.decks.nastran.components.sets import modal_coordinates
from fem_mbs.decks.nastran.constraints.supports import Supports
from fem_mbs.decks.nastran.loads import LoadCase, thermal_reference
from fem_mbs.decks.nastran.model import RESPONSES, Conversion, Group, one_of
from fem_mbs.decks.nastran.nonlinear import check_nonlinear, increments_of, is_large
from fem_mbs.decks.nastran.responses.steps import add_response, loss_factor, note_parameters
from fem_mbs.decks.nastran.shells import takes_temperatures
from fem_mbs.declarations.steps import StepKind, step_kind
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.functions.kinds import make_function
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.nastran.deck import BulkDeck, Subcase
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["StepPlan", "make_steps", "solution_of"]

#: Solutions of complex modes: direct ones, and those in the span of real modes.
_COMPLEX = {107: "direct complex modes", 110: "modal complex modes"}
_SOLUTIONS = {101: "statics", 103: "modes", 105: "buckling", 106: "nonlinear statics", **_COMPLEX, **RESPONSES}
#: Modes that a method without a number asks for, and load factors that are looked for in a range without one.
_ONE, _RANGE = 1, 40


@dataclass(frozen=True)
class StepPlan:
    """A step of the model: the subcase that it stands for, its name and kind, its loads, and its supports."""

    subcase: Subcase
    name: str
    kind: StepKind
    loads: LoadCase
    supports: Supports
    #: number of modes beyond which those of a range are not looked for; 0: no such limit
    most: int = 0
    #: range of the roots that are asked for, and how many positive and negative ones
    bounds: tuple[float, float] = (-np.inf, np.inf)
    numbers: tuple[float, float] = (np.inf, np.inf)


def solution_of(deck: BulkDeck) -> int:
    """Return the solution of a deck.

    Raises:
        UnsupportedError: it is not computed.
    """
    if not deck.sol:
        raise ModelError(
            "the deck names no solution", place=deck.sol_where or f"{deck.files[0]}, line 1",
            remedy="add SOL 101, 103 or 105, CEND and BEGIN BULK before the bulk data",
        )  # fmt: skip
    if deck.sol not in _SOLUTIONS:
        known = ", ".join(f"{n} ({what})" for n, what in _SOLUTIONS.items())
        raise UnsupportedError(f"SOL {deck.sol} is not supported; known are {known}", place=deck.sol_where)
    return deck.sol


class _Steps:
    """Makes the steps one by one."""

    def __init__(self, conv: Conversion, loads: list[LoadCase], motions: list[str], supports: Supports) -> None:
        self.conv, self.loads, self.motions, self.supports = conv, loads, motions, supports
        self.made: list[StepPlan] = []
        self.names: dict[int, list[str]] = {}
        #: groups with temperatures -> the names of these
        self.heated: dict[str, str] = {}
        conv.model.reserved_loads = []

    def act(self, i: int) -> list[str]:
        """Create the loads of subcase i, once, and return their names."""
        if i in self.names:
            return self.names[i]
        conv, case, subcase = self.conv, self.loads[i], self.conv.deck.subcases[i]
        names: list[str] = []
        kinds: tuple[tuple[int, Any, str], ...] = ((0, conv.model.force, "forces"), (3, conv.model.moment, "moments"))
        for part, make, what in kinds:
            values = case.forces[:, part : part + 3]
            nodes = np.flatnonzero(np.abs(values).max(axis=1) > 0.0)
            if len(nodes):
                name = f"{what} of subcase {subcase.number}"
                make(name, nodes, values[nodes], function=make_function(self.course(i)))
                names.append(name)
        names += self._heat(case, subcase)
        if not is_large(conv):
            known = conv.model.reserved_loads
            conv.model.reserved_loads = [*known, *(name for name in names if name not in known)]
        self.names[i] = names
        return names

    def course(self, i: int) -> dict[str, Any]:
        """Return the function of the loads of subcase i.

        In nonlinear statics they rise to the end of their subcase, which is the time i + 1, and fall in the next one.
        """
        if not is_large(self.conv):
            return {"kind": "constant", "value": 1.0}
        return {"kind": "table", "times": [i, i + 1.0, i + 2.0], "values": [0.0, 1.0, 0.0], "extrapolate": "hold"}

    def _heat(self, case: LoadCase, subcase: Subcase) -> list[str]:
        """Create the temperatures of solids and shells, once for all subcases, and return the names of those that act.

        Raises:
            UnsupportedError: those of several subcases are not multiples of one field.
        """
        names: list[str] = []
        if case.temperatures is None:
            return names
        conv = self.conv
        for group in conv.groups:
            if group.kind not in ("solid", "shell") or not _expands(conv, group):
                continue
            changes = {
                k: c.temperatures[np.unique(group.nodes)] - self._reference(group, k)
                for k, c in enumerate(self.loads)
                if c.temperatures is not None
            }
            largest = max(changes, key=lambda k: float(np.abs(changes[k]).max()))
            field = changes[largest]
            size = float(field @ field)
            factors = {k: float(c @ field) / size if size else 0.0 for k, c in changes.items()}
            if any(np.abs(c - factors[k] * field).max() > 1e-9 * np.abs(field).max() for k, c in changes.items()):
                raise UnsupportedError(
                    "temperatures of solids or shells that are not multiples of one field in all subcases are not "
                    "supported",
                    place=subcase.where, remedy="give the subcases decks of their own",
                )  # fmt: skip
            if group.name not in self.heated:
                self.heated[group.name] = f"temperatures of {group.name}"
                course: dict[str, Any] = {"kind": "constant", "value": 1.0}
                if len(changes) > 1:
                    values = [0.0, *(factors.get(k, 0.0) for k in range(len(self.loads)))]
                    course = {"kind": "table", "times": list(range(len(values))), "values": values}
                reference = self._reference(group, largest)
                conv.model.temperature(
                    self.heated[group.name], group.name, field + reference, reference, function=make_function(course)
                )
            names.append(self.heated[group.name])
        return names

    def _reference(self, group: Group, i: int) -> float:
        """Return the temperature without strain of a part in subcase i."""
        initial = "TEMPERATURE(INITIAL)" in self.conv.deck.subcases[i].commands
        return thermal_reference(self.conv, group, initial)

    def static(self, i: int) -> str:
        """Add the linear statics of subcase i; return its name."""
        subcase = self.conv.deck.subcases[i]
        name = f"subcase {subcase.number}"
        loads = [*self.act(i), *self.motions]
        self.conv.model.linear_static_step(
            name, loads=loads, time=float(i + 1), supports=self.supports.group(subcase.set("SPC"))
        )
        self.plan(i, name)
        return name

    def nonlinear(self, i: int) -> None:
        """Add the nonlinear statics of subcase i."""
        subcase = self.conv.deck.subcases[i]
        self.act(i)
        name = f"subcase {subcase.number}"
        self.conv.model.static_step(increments_of(self.conv, subcase), name, duration=1.0)
        self.plan(i, name)

    def plan(self, i: int, name: str, most: int = 0, **roots: tuple[float, float]) -> None:
        """Keep what the last step of the model stands for."""
        kind = step_kind(self.conv.model.steps[-1].kind)
        self.made.append(StepPlan(self.conv.deck.subcases[i], name, kind, self.loads[i], self.supports, most, **roots))


def _expands(conv: Conversion, group: Group) -> bool:
    if group.kind == "shell":
        return takes_temperatures(conv, group)
    return bool(np.any(conv.model.solid_materials[f"material {group.section['mid']}"].expansion))


def make_steps(
    conv: Conversion, solution: int, loads: list[LoadCase], motions: list[str], supports: Supports,
    mass: csr_matrix | None, masters: list[list[dict[str, Any]] | None],
) -> list[StepPlan]:  # fmt: skip
    """Create the steps of the model; ``masters``: by subcase, to what its modes are reduced.

    Raises:
        ModelError: methods that are not there, or ask for what is not computed.
    """
    steps = _Steps(conv, loads, motions, supports)
    subcases = conv.deck.subcases
    check_nonlinear(conv)
    if solution in (101, 106):
        add = steps.nonlinear if is_large(conv) else steps.static
        for i in range(len(subcases)):
            add(i)
        return steps.made
    if solution in _COMPLEX:
        for i in range(len(subcases)):
            _complex_modes(conv, steps, i)
        return steps.made
    if solution in RESPONSES:
        for i in range(len(subcases)):
            _response(conv, steps, i, mass)
        return steps.made
    methods = [i for i, s in enumerate(subcases) if s.set("METHOD")]
    if not methods:
        raise ModelError("no subcase has a METHOD", place=subcases[0].where, remedy="select an EIGRL or EIGR")
    if solution == 103:
        for i in methods:
            _modes(conv, steps, i, masters[i])
        return steps.made
    own = [i for i in methods if _is_buckling(subcases[i])] or methods[-1:]
    for i in own:
        _buckling(conv, steps, i, [k for k in range(len(subcases)) if k not in own])
    return steps.made


def _is_buckling(subcase: Subcase) -> bool:
    """Return whether a subcase itself says that it is one of buckling."""
    analysis = subcase.commands.get("ANALYSIS")
    if analysis is not None:
        return analysis.value.startswith("BUCK")
    return "METHOD" in subcase.own or "STATSUB" in subcase.own


def _response(conv: Conversion, steps: _Steps, i: int, mass: csr_matrix | None) -> None:
    """Add the steps of a response over frequency or time."""
    subcase = conv.deck.subcases[i]
    if steps.supports.group(subcase.set("SPC")):
        raise UnsupportedError(
            "supports that differ between subcases of responses are not supported", place=subcase.where,
            remedy="give the subcases decks of their own",
        )  # fmt: skip
    if steps.motions:
        conv.note("enforced displacements stand still in responses", where=subcase.where)
    first = len(conv.model.steps)
    names = add_response(conv, subcase, mass, lambda: _modes_of_response(conv, subcase))
    for name, step in zip(names, conv.model.steps[first:], strict=True):
        steps.made.append(StepPlan(subcase, name, step_kind(step.kind), steps.loads[i], steps.supports))


def _complex_modes(conv: Conversion, steps: _Steps, i: int) -> None:
    """Add the complex modes that CMETHOD asks for, of SOL 110 in the span of the modes that METHOD asks for."""
    subcase = conv.deck.subcases[i]
    number = subcase.set("CMETHOD")
    if not number:
        raise ModelError("the subcase has no CMETHOD", place=subcase.where, remedy="select an EIGC")
    card = one_of(conv, ("EIGC",), number, "method of complex modes", subcase.commands["CMETHOD"].where)
    if steps.supports.group(subcase.set("SPC")):
        raise UnsupportedError(
            "supports that differ between subcases of complex modes are not supported", place=subcase.where,
            remedy="give the subcases decks of their own",
        )  # fmt: skip
    note_parameters(conv, "complex modes")
    if loss_factor(conv):
        conv.note("structural damping (G, GE) is not used in complex modes", where=subcase.where)
    for command in ("SDAMPING", "STATSUB", "TFL", "RMETHOD"):
        if command in subcase.commands:
            conv.note(f"{command} is not used in complex modes", where=subcase.commands[command].where)
    if "DISPLACEMENT" in subcase.commands:
        conv.note("shapes of complex modes are not printed", Effect.NONE, subcase.commands["DISPLACEMENT"].where)
    name = f"subcase {subcase.number}"
    options: dict[str, Any] = {}
    if conv.deck.sol == 110:
        _modes(conv, steps, i, None, f"modes of subcase {subcase.number}")
        options["basis"] = f"modes of subcase {subcase.number}"
    conv.model.complex_modes_step((_complex_count(card) + 1) // 2, name, **options)
    steps.plan(i, name)


def _complex_count(card: Card) -> int:
    """Return the number of complex roots, both of a pair counted, that an EIGC asks for.

    Raises:
        ModelError: it asks for none.
        UnsupportedError: it asks for roots near points.
    """
    count = card["nd0"]
    words = card["rows"]
    for k in range(0, len(words), 8):
        row = [*words[k : k + 8], *[None] * 8][:8]
        if any(row[j] for j in range(5)):
            raise UnsupportedError(
                "EIGC: roots near points or in regions are not supported", place=card.where,
                remedy="give ND0 alone for the roots nearest to zero",
            )  # fmt: skip
        count = count or row[6] or row[7]
    if not isinstance(count, int) or count < 1:
        raise ModelError("EIGC asks for no roots", place=card.where, remedy="give ND0")
    return count


def _modes_of_response(conv: Conversion, subcase: Subcase) -> dict[str, Any]:
    """Return the modes that a modal response takes: their number, or the frequency up to which."""
    if not subcase.set("METHOD"):
        raise ModelError("the subcase has no METHOD", place=subcase.where, remedy="select an EIGRL or EIGR")
    card = _method(conv, subcase)
    low, high, count = _range(card)
    if low is not None and low > 0.0:
        conv.note("the modes below the range of the method are taken, too", Effect.DIFFERS, card.where)
    if count:
        return {"modes": count}
    if high is None:
        return {"modes": _ONE}
    return {"cutoff": high}


def _static_of(conv: Conversion, steps: _Steps, i: int, others: list[int]) -> int:
    """Return the subcase whose loads STATSUB names for subcase i, by default the first of the others."""
    subcase = conv.deck.subcases[i]
    command = subcase.commands.get("STATSUB")
    if command is not None:
        for k, s in enumerate(conv.deck.subcases):
            if s.number == command.number:
                return k
        raise ModelError(f"STATSUB names subcase {command.value}, which is not there", place=command.where)
    if others:
        return others[0]
    raise ModelError(
        "no static subcase stands before that of buckling", place=subcase.where, remedy="add one with a LOAD"
    )


def _method(conv: Conversion, subcase: Subcase) -> Card:
    number = subcase.set("METHOD")
    for card in conv.deck.of("EIGRL", "EIGR", "EIGB"):
        if card["sid"] == number:
            return card
    raise ModelError(
        f"there is no method {number}", place=subcase.commands["METHOD"].where, remedy="add EIGRL or mend the number"
    )


def _range(card: Card) -> tuple[float | None, float | None, int | None]:
    """Return lower and upper bound and number of roots that a method asks for."""
    if card.name == "EIGRL":
        return card["v1"], card["v2"], card["nd"]
    if card.name == "EIGB":
        return card["l1"], card["l2"], card["ndp"] or (3 * card["nep"] if card["nep"] else None)
    return card["f1"], card["f2"], card["nd"]


def _modes(
    conv: Conversion, steps: _Steps, i: int, masters: list[dict[str, Any]] | None, label: str = ""
) -> None:  # fmt: skip
    subcase = conv.deck.subcases[i]
    card = _method(conv, subcase)
    if card.name == "EIGB":
        raise ModelError("EIGB is for buckling", place=card.where, remedy="give EIGRL or EIGR")
    preload = ""
    if "STATSUB" in subcase.commands:
        preload = steps.static(_static_of(conv, steps, i, []))
    low, high, count = _range(card)
    if count is not None and count < 1:
        count = None
    name = f"subcase {subcase.number}" if not (preload or label) else f"modes of subcase {subcase.number}"
    options: dict[str, Any] = {"preload": preload} if preload else {}
    options["supports"] = steps.supports.group(subcase.set("SPC"))
    if masters is not None:
        options |= {"masters": masters, "held_modes": _held_modes(conv, card)}
    if high is not None and low is not None and not high > max(low, 0.0):
        raise ModelError(f"the range {low:g} to {high:g} is empty", place=card.where)
    most = 0
    if high is not None and count is None:
        if low is None or low <= 0.0:
            most = _all(conv)
            conv.model.modes_step(most, name, within=(0.0 if low is None else low, high), **options)
        else:
            conv.model.modes_step(10, name, band=(low, high), **options)
    else:
        bounded = high is not None or (low is not None and low > 0.0)
        within: dict[str, Any] = {"within": (low or 0.0, high if high is not None else 1e30)} if bounded else {}
        conv.model.modes_step(count or _ONE, name, **within, **options)
    steps.plan(i, name, most)


def _held_modes(conv: Conversion, method: Card) -> int:
    """Return how many modes of the held masters a reduction keeps: as many as there are coordinates for them."""
    count = modal_coordinates(conv)
    number = _range(method)[2] or 0
    if count > number:
        raise UnsupportedError(
            f"QSET has {count} coordinates and the method {number} modes; MSC Nastran takes residual vectors for the "
            "rest, which is not supported",
            place=method.where, remedy="ask for as many modes (ND) as QSET has coordinates, or more",
        )  # fmt: skip
    return count


def _all(conv: Conversion) -> int:
    """Return a number of modes that is enough for a range that begins at rigid bodies."""
    return min(200, max(1, 3 * int(conv.used.sum()) - 1))


def _buckling(conv: Conversion, steps: _Steps, i: int, others: list[int]) -> None:
    subcase = conv.deck.subcases[i]
    card = _method(conv, subcase)
    k = _static_of(conv, steps, i, others)
    if not any(plan.subcase is conv.deck.subcases[k] for plan in steps.made):
        steps.static(k)
    names = steps.act(k)
    if not names:
        raise ModelError(
            "the static subcase of buckling has no loads", place=conv.deck.subcases[k].where, remedy="add LOAD"
        )
    if conv.deck.of("PLOAD", "PLOAD2", "PLOAD4"):
        conv.note("pressures keep their direction in buckling; MSC Nastran lets them follow (FOLLOWK)", Effect.DIFFERS)
    low, high, count = _range(card)
    if low is not None and high is not None and not high > low:
        raise ModelError(f"the range {low:g} to {high:g} is empty", place=card.where)
    sign: Literal["positive", "both"] = "positive" if low is not None and low >= 0.0 else "both"
    numbers = (np.inf, np.inf)
    if card.name == "EIGB":
        numbers = (count or np.inf, card["ndn"] or count or np.inf)
        if sign == "both" and count:
            count = count + int(numbers[1])
    asked = count or (_ONE if high is None else _RANGE)
    name = f"subcase {subcase.number}"
    if any(plan.name == name for plan in steps.made):
        name = f"buckling of subcase {subcase.number}"
    conv.model.buckling_step(
        asked, loads=names, name=name, sign=sign, supports=steps.supports.group(subcase.set("SPC"))
    )
    bounds = (-np.inf if low is None else low, np.inf if high is None else high)
    steps.plan(i, name, 0 if count or high is None else asked, bounds=bounds, numbers=numbers)
