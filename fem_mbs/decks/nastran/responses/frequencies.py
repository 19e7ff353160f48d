"""Frequencies and time steps of responses: FREQ to FREQ5, TSTEP."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from fem_mbs.decks.nastran.model import Conversion, one_of
from fem_mbs.errors import ModelError
from fem_mbs.meshes.nastran.cards import Card
from fem_mbs.meshes.nastran.deck import Subcase
from fem_mbs.meshes.vocabulary import Effect

__all__ = ["find_frequencies", "find_times"]

#: Of the range of frequencies: those that are nearer are one (PARAM,DFREQ).
_SAME_FREQUENCY = 1e-5


def find_frequencies(
    conv: Conversion, subcase: Subcase, method: Callable[[], dict[str, Any]]
) -> list[float]:  # fmt: skip
    """Return the rising frequencies [Hz] that FREQUENCY selects; ``method`` returns the modes of the subcase.

    Raises:
        ModelError: there are none, or entries whose numbers make none.
    """
    number = subcase.set("FREQUENCY")
    if not number:
        raise ModelError("the subcase has no FREQUENCY", place=subcase.where, remedy="select FREQ")
    found: list[float] = []
    natural: np.ndarray | None = None
    for card in conv.deck.of("FREQ", "FREQ1", "FREQ2", "FREQ3", "FREQ4", "FREQ5"):
        if card["sid"] != number:
            continue
        if card.name == "FREQ":
            found += card["f"]
        elif card.name == "FREQ1":
            found += (card["f1"] + card["df"] * np.arange(card["ndf"] + 1)).tolist()
        elif card.name == "FREQ2":
            if not 0.0 < card["f1"] < card["f2"]:
                raise ModelError("FREQ2 needs 0 < F1 < F2", place=card.where)
            found += np.geomspace(card["f1"], card["f2"], card["nf"] + 1).tolist()
        elif conv.deck.sol == 111:
            natural = _natural_frequencies(conv, method()) if natural is None else natural
            found += _ABOUT_MODES[card.name](card, natural)
        else:
            conv.note(f"{card.name} counts in responses by modes only", Effect.NONE, card.where)
    where = subcase.commands["FREQUENCY"].where
    if not found:
        raise ModelError(f"there are no frequencies {number}", place=where, remedy="add FREQ, FREQ1 or FREQ2")
    f = np.unique(np.array(found))
    least = conv.deck.param("DFREQ", _SAME_FREQUENCY)
    if not isinstance(least, float) or not 0.0 <= least < 1.0:
        where = conv.deck.params["DFREQ"].where
        raise ModelError(f"PARAM,DFREQ,{least} is no share of the range of frequencies", place=where)
    # of two frequencies that are nearer the lower one stays
    return f[np.concatenate(([True], np.diff(f) > max(least * (f[-1] - f[0]), 1e-9 * f[-1])))].tolist()


def _natural_frequencies(conv: Conversion, modes: dict[str, Any]) -> np.ndarray:
    """Return the natural frequencies (n,) [Hz] of the modes that a response takes."""
    from fem_mbs.analysis.run import solve

    model = copy.deepcopy(conv.model)
    model.steps.clear()
    if "cutoff" in modes:
        model.modes_step(min(200, 3 * int(conv.used.sum()) - 1), "modes", within=(0.0, modes["cutoff"]))
    else:
        model.modes_step(modes["modes"], "modes")
    report = solve(model).report
    assert report is not None
    return np.array(getattr(report.steps[0], "frequencies_hz"))  # noqa: B009


def _between_modes(card: Card, natural: np.ndarray) -> list[float]:
    """Return the frequencies of FREQ3: NEF in each interval between F1, the natural frequencies within, and F2.

    CLUSTER draws them to the ends of the intervals.

    Raises:
        ModelError: numbers that make none.
    """
    low, high, log = card["f1"], card["f2"], card["type"] == "LOG"
    if card["type"] not in ("LINEAR", "LOG") or not 0.0 < low <= high or card["nef"] < 2 or not card["cluster"] > 0.0:
        raise ModelError(
            "FREQ3 needs 0 < F1 <= F2, LINEAR or LOG, NEF of at least 2, and CLUSTER > 0", place=card.where
        )
    if low == high:
        return [low]
    ends = np.unique([low, high, *natural[(natural > low) & (natural < high)]])
    ends = ends[np.concatenate(([True], np.diff(ends) > 1e-6 * ends[1:]))]
    a, b = (np.log(ends) if log else ends)[:-1, None], (np.log(ends) if log else ends)[1:, None]
    x = np.linspace(-1.0, 1.0, card["nef"])
    f = 0.5 * (a + b) + 0.5 * (b - a) * np.sign(x) * np.abs(x) ** (1.0 / card["cluster"])
    return (np.exp(f) if log else f).ravel().tolist()


def _spread_about_modes(card: Card, natural: np.ndarray) -> list[float]:
    """Return the frequencies of FREQ4: NFM within a share FSPD about each natural frequency from F1 to F2."""
    if not 0.0 < card["fspd"] < 1.0 or card["nfm"] < 1 or not card["f2"] >= card["f1"]:
        raise ModelError("FREQ4 needs F1 <= F2, 0 < FSPD < 1, and NFM of at least 1", place=card.where)
    own = natural[(natural >= card["f1"]) & (natural <= card["f2"])]
    shares = np.linspace(1.0 - card["fspd"], 1.0 + card["fspd"], card["nfm"]) if card["nfm"] > 1 else np.ones(1)
    return (own[:, None] * shares).ravel().tolist()


def _fractions_of_modes(card: Card, natural: np.ndarray) -> list[float]:
    """Return the frequencies of FREQ5: the fractions FR of each natural frequency from F1 to F2."""
    if not card["fr"] or not min(card["fr"]) > 0.0 or not card["f2"] >= card["f1"]:
        raise ModelError("FREQ5 needs F1 <= F2 and positive fractions FR", place=card.where)
    own = natural[(natural >= card["f1"]) & (natural <= card["f2"])]
    return (own[:, None] * np.array(card["fr"])).ravel().tolist()


#: Entries that give frequencies by those of modes.
_ABOUT_MODES: dict[str, Callable[[Card, np.ndarray], list[float]]] = {
    "FREQ3": _between_modes, "FREQ4": _spread_about_modes, "FREQ5": _fractions_of_modes,
}  # fmt: skip


def find_times(conv: Conversion, subcase: Subcase) -> list[tuple[float, float, int]]:
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
