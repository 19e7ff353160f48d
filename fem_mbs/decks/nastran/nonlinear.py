"""Convert nonlinear statics of a Nastran deck (SOL 106), and refuse entries that this solution does not support.

Subcases follow one another: each begins where the one before has ended, and its loads take the place of the others in
NINC increments.  Without PARAM,LGDISP and without nonlinear materials the solution is that of linear statics.
"""

from __future__ import annotations

from fem_mbs.decks.nastran.model import Conversion, one_of
from fem_mbs.errors import ModelError, UnsupportedError
from fem_mbs.meshes.nastran.deck import Subcase
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["check_nonlinear", "increments_of", "is_large"]

#: Loads that turn with the model in MSC Nastran.
_FOLLOWING = ("PLOAD", "PLOAD2", "PLOAD4", "FORCE1", "MOMENT1", "RFORCE")
#: Elements that MSC Nastran keeps linear.
_LINEAR = ("CBAR", "CQUAD8", "CTRIA6", "CQUADR", "CTRIAR")
_COMMANDS = ("METHOD", "STATSUB", "TEMPERATURE", "TEMPERATURE(LOAD)")


def is_large(conv: Conversion) -> bool:
    """Return whether the solution has large displacements (SOL 106 with PARAM,LGDISP of 1 or 2)."""
    value = conv.deck.param("LGDISP", -1)
    return conv.deck.sol == 106 and isinstance(value, int) and value > 0


def increments_of(conv: Conversion, subcase: Subcase) -> int:
    """Return the number of load increments that NLPARM of a subcase asks for.

    Raises:
        ModelError: there is no NLPARM, or its number of increments is none.
    """
    number = subcase.set("NLPARM")
    if not number:
        raise ModelError("the subcase has no NLPARM", place=subcase.where, remedy="select one")
    card = one_of(conv, ("NLPARM",), number, "NLPARM", subcase.commands["NLPARM"].where)
    if not 1 <= card["ninc"] <= 1000:
        raise ModelError(f"NLPARM: NINC = {card['ninc']} is none of 1 to 1000", place=card.where)
    return int(card["ninc"])


def check_nonlinear(conv: Conversion) -> None:
    """Note what a deck of SOL 106 has and this solution does not.

    Raises:
        UnsupportedError: supports of a subcase that the others lack, with large displacements.
    """
    if conv.deck.sol != 106:
        return
    loop = conv.deck.params.get("NMLOOP")
    if loop is not None and loop.values[0]:
        conv.note("PARAM,NMLOOP: modes about the nonlinear state are not computed", where=loop.where)
    for subcase in conv.deck.subcases:
        increments_of(conv, subcase)
        for name in ("METHOD", "STATSUB"):
            if name in subcase.commands:
                conv.note(f"{name} is not used in SOL 106", where=subcase.commands[name].where)
    if not is_large(conv):
        return
    first = conv.deck.subcases[0]
    for subcase in conv.deck.subcases:
        if subcase.set("SPC") != first.set("SPC"):
            raise UnsupportedError(
                "supports that differ between subcases of nonlinear statics are not supported", place=subcase.where,
                remedy="give the subcases the same SPC",
            )  # fmt: skip
        for name in _COMMANDS:
            if name.startswith("TEMP") and name in subcase.commands:
                conv.note(f"{name} is not used with large displacements", where=subcase.commands[name].where)
    following = conv.deck.param("LGDISP", -1) == 1
    for card in conv.deck.of(*_FOLLOWING):
        if card.seen - {next(iter(card.values))} and (following or card.name == "RFORCE"):
            conv.note(f"{card.name} does not follow the deformed model, as it does with LGDISP = 1", where=card.where)
    for card in conv.deck.of(*_LINEAR)[:1]:
        conv.note(
            f"{card.name} is nonlinear here; in SOL 106 of MSC Nastran it stays linear", Effect.DIFFERS, card.where
        )
    rigid = conv.deck.of("RBE2", "RBE3", "RBAR")[:1]
    for card in rigid:
        conv.note(
            f"{card.name} is an equation between small rotations, also where they become large", Effect.NONE, card.where
        )
