"""Functions of a Nastran deck: TABLED1 to TABLED4, and fields that name one or give a constant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fem_mbs.decks.nastran.model import Conversion, one_of
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.meshes.nastran.cards import Card

__all__ = ["Table", "field_function", "pairs_of", "table_of"]

_TABLES = ("TABLED1", "TABLED2", "TABLED3", "TABLED4")


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


def pairs_of(card: Card) -> np.ndarray:
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
    rows, held = pairs_of(card), card["extrap"] == 1
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


def field_function(conv: Conversion, card: Card, key: str, blank: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return a field that is a table's number, a constant, or blank."""
    value = card[key]
    if value is None or (isinstance(value, int) and value == 0):
        return lambda x: np.full(np.shape(x), blank)
    if isinstance(value, float):
        return lambda x: np.full(np.shape(x), value)
    return table_of(conv, value, card.where)
