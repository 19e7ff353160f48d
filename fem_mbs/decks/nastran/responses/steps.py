"""Steps of responses over frequency and time, and their damping.

SOL 108, 111    harmonic_step, direct or by modes; RLOAD1 and RLOAD2 give spectra of the loads
SOL 109, 112    linear_transient_step over all unknowns; TLOAD1 and TLOAD2 give functions of time
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.decks.nastran.model import Conversion, one_of
from fem_mbs.decks.nastran.points import spring_losses
from fem_mbs.decks.nastran.responses.excitations import Excitation, course_of, find_excitations, spectrum_of
from fem_mbs.decks.nastran.responses.frequencies import find_frequencies, find_times
from fem_mbs.decks.nastran.responses.motions import motion_name
from fem_mbs.decks.nastran.responses.tables import pairs_of
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.functions.kinds import make_function
from fem_mbs.meshes.nastran.deck import Subcase
from fem_mbs.meshes.vocabulary import Effect

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["PARAMETERS", "add_response", "loss_factor", "note_parameters"]

#: Parameters of responses that change them, and the values that do not.
PARAMETERS: dict[str, Callable[[Any], bool]] = {
    "GFL": lambda v: v == 0, "W4": lambda v: v == 0, "ALPHA1": lambda v: v == 0, "ALPHA2": lambda v: v == 0,
    "LFREQ": lambda v: v == 0, "LMODES": lambda v: v == 0, "LMODESFL": lambda v: True, "KDAMP": lambda v: v == 1,
    "HFREQ": lambda v: isinstance(v, float) and v >= 1e30,
}  # fmt: skip
#: Parameters of damping by mass and by stiffness.
_RAYLEIGH = ("ALPHA1", "ALPHA2")


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
    values = pairs_of(card)[:, 1]
    if np.ptp(values) > 1e-12 * np.abs(values).max():
        raise UnsupportedError(
            "modal damping that changes with the frequency is not supported", place=card.where,
            remedy="give one value at all frequencies",
        )  # fmt: skip
    kinds = {"G": 0.5 * values[0], "CRIT": values[0], "Q": 0.5 / values[0] if values[0] else 0.0}
    if card["type"] not in kinds:
        raise ModelError(f"the type {card['type']} of TABDMP1 must be G, CRIT or Q", place=card.where)
    return float(kinds[card["type"]])


# --- steps ------------------------------------------------------------------------------------------------------------
def _add_loads(
    conv: Conversion, subcase: Subcase, loads: list[Excitation], course: Callable[[Excitation], dict[str, Any]]
) -> dict[str, list[Excitation]]:
    """Create the loads of a response; return them by name, with those of the supports that move."""
    names: dict[str, list[Excitation]] = {}
    for load in loads:
        for dof in load.moves:
            names.setdefault(motion_name(conv, dof), []).append(load)
    kinds: tuple[tuple[int, Any, str], ...] = ((0, conv.model.force, "forces"), (3, conv.model.moment, "moments"))
    made: list[str] = []
    for number, load in enumerate((load for load in loads if not load.moves), 1):
        for part, make, what in kinds:
            values = load.case.forces[:, part : part + 3]
            nodes = np.flatnonzero(np.abs(values).max(axis=1) > 0.0)
            if len(nodes):
                made.append(f"{what} {number} of subcase {subcase.number}")
                make(made[-1], nodes, values[nodes], function=make_function(course(load)))
                names[made[-1]] = [load]
    if not names:
        raise ModelError("the loads of the subcase are zero", place=subcase.where, remedy="mend DLOAD")
    conv.model.reserved_loads = [*conv.model.reserved_loads, *made]
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
    loads = find_excitations(conv, subcase, mass)
    if not conv.over_frequency:
        return _transient(conv, subcase, loads, name)
    f = find_frequencies(conv, subcase, method)
    loss = loss_factor(conv)
    if loss and "K2PP" in subcase.commands:
        where = subcase.commands["K2PP"].where
        conv.note(
            "K2PP with structural damping (G, GE), which MSC Nastran applies to all stiffness but it", where=where
        )
    names = _add_loads(conv, subcase, loads, lambda _: {"kind": "constant", "value": 1.0})
    spectra = {key: spectrum_of(conv, own, np.array(f)) for key, own in names.items()}
    options: dict[str, Any] = {
        "loads": list(names),
        "spectra": spectra,
        "frames": len(f),
        "structural": loss,
    }
    if sol == 108:
        model.harmonic_step(f, name, method="direct", **options)
    else:
        rayleigh = [float(conv.deck.param(key, 0.0)) for key in _RAYLEIGH]
        if any(rayleigh):
            options["rayleigh"] = rayleigh
        model.harmonic_step(f, name, method="modal", damping=_modal_damping(conv, subcase), **method(), **options)
    return [name]


def _transient(conv: Conversion, subcase: Subcase, loads: list[Excitation], name: str) -> list[str]:
    parts = find_times(conv, subcase)
    if conv.deck.param("G", 0.0) and conv.deck.param("W3", 0.0):
        conv.note("structural damping (G, W3) is not used in transients", where=conv.deck.params["W3"].where)
    if subcase.set("SDAMPING"):
        conv.note("SDAMPING is not used in transients", where=subcase.commands["SDAMPING"].where)
    if conv.deck.sol == 112:
        conv.note("all unknowns are integrated, not those of modes alone", Effect.NONE, subcase.where)
    names = _add_loads(conv, subcase, loads, lambda load: course_of(conv, load))
    made: list[str] = []
    for k, (duration, h, every) in enumerate(parts):
        own = name if k == 0 else f"{name}, part {k + 1}"
        start: dict[str, Any] = {"time": 0.0} if k == 0 else {"start": made[-1]}
        frames = round(duration / h) // every
        conv.model.linear_transient_step(duration, h, own, loads=list(names), frames=frames, **start)
        made.append(own)
    return made
