"""Units in which results are shown: choices per quantity, and conversion from the units of the model.

A model computes in one consistent set of units, its *base*: the numbers of the model file mean what the base says, by
default SI.  All results keep the base.  `Units` says in which units people see them:

    units = Units("m kg s", {"length": "mm", "stress": "MPa"})
    units.of("m")                   # Shown(unit="mm", factor=1000.0)
    units.of("N m")                 # Shown(unit="N mm", factor=1000.0)
    units.label("stress [Pa]")      # "stress [MPa]"

Programs declare the units of their numbers in SI ("m", "N m", "rad/s").  A declared unit that is one of a quantity as a
whole ("rad/s": speed) takes the unit chosen for this quantity.  Any other is converted factor by factor: "kg m^2" takes
the units of mass and length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from functools import cache, cached_property, wraps
from typing import Any, TypeVar

import numpy as np

from fem_mbs.errors import InputError
from fem_mbs.late import dataclass

__all__ = [
    "BASES",
    "QUANTITIES",
    "Quantity",
    "Shown",
    "Units",
    "base_at_hand",
    "from_si",
    "in_units_of_model",
    "messages_in",
    "split_unit",
    "unit_of",
]

_INCH, _FOOT, _POUND, _G = 0.0254, 0.3048, 4.4482216152605, 9.80665  # [m], [m], [N], [m/s^2], exact by definition
_PSI = _POUND / _INCH**2
_TURN = 6.283185307179586
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Quantity:
    """A quantity whose unit can be chosen.

    ``declared``: its unit in SI, as results declare it.  ``choices``: name of a unit -> its size in SI.
    """

    text: str
    declared: str
    choices: Mapping[str, float]


#: Key of the table [units] -> what it chooses.
QUANTITIES: dict[str, Quantity] = {
    "length": Quantity(
        "places, displacements, distances", "m",
        {"m": 1.0, "mm": 1e-3, "um": 1e-6, "cm": 1e-2, "km": 1e3, "in": _INCH, "ft": _FOOT},
    ),
    "angle": Quantity("angles and rotations", "rad", {"rad": 1.0, "deg": _TURN / 360.0, "mrad": 1e-3, "turns": _TURN}),
    "time": Quantity("times", "s", {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0}),
    "mass": Quantity(
        "masses", "kg",
        {"kg": 1.0, "g": 1e-3, "t": 1e3, "lbf s^2/in": _POUND / _INCH, "slug": _POUND / _FOOT},
    ),
    "force": Quantity("forces", "N", {"N": 1.0, "kN": 1e3, "MN": 1e6, "mN": 1e-3, "lbf": _POUND}),
    "moment": Quantity(
        "moments", "N m",
        {"N m": 1.0, "N mm": 1e-3, "kN m": 1e3, "kN mm": 1.0, "MN m": 1e6, "lbf in": _POUND * _INCH,
         "lbf ft": _POUND * _FOOT},
    ),
    "stress": Quantity(
        "stresses and pressures", "Pa",
        {"Pa": 1.0, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9, "N/mm^2": 1e6, "bar": 1e5, "psi": _PSI, "ksi": 1e3 * _PSI,
         "lbf/ft^2": _POUND / _FOOT**2},
    ),
    "energy": Quantity(
        "energies and works", "J",
        {"J": 1.0, "mJ": 1e-3, "kJ": 1e3, "MJ": 1e6, "lbf in": _POUND * _INCH, "lbf ft": _POUND * _FOOT},
    ),
    "power": Quantity(
        "powers", "W",
        {"W": 1.0, "mW": 1e-3, "kW": 1e3, "MW": 1e6, "lbf in/s": _POUND * _INCH, "lbf ft/s": _POUND * _FOOT},
    ),
    "velocity": Quantity(
        "velocities", "m/s", {"m/s": 1.0, "mm/s": 1e-3, "km/h": 1.0 / 3.6, "in/s": _INCH, "ft/s": _FOOT}
    ),
    "acceleration": Quantity(
        "accelerations", "m/s^2", {"m/s^2": 1.0, "mm/s^2": 1e-3, "g": _G, "in/s^2": _INCH, "ft/s^2": _FOOT}
    ),
    "speed": Quantity(
        "angular velocities, speeds of rotors", "rad/s",
        {"rad/s": 1.0, "rpm": _TURN / 60.0, "deg/s": _TURN / 360.0, "Hz": _TURN},
    ),
    "frequency": Quantity("frequencies", "Hz", {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "1/min": 1.0 / 60.0}),
}  # fmt: skip

#: Name of a base -> units of length, mass and time.
BASES: dict[str, tuple[str, str, str]] = {
    "m kg s": ("m", "kg", "s"),
    "mm t s": ("mm", "t", "s"),
    "mm kg ms": ("mm", "kg", "ms"),
    "mm g ms": ("mm", "g", "ms"),
    "in lbf s": ("in", "lbf s^2/in", "s"),
    "ft lbf s": ("ft", "slug", "s"),
}

#: Factors of declared units -> exponents of length, mass and time.
_POWERS: dict[str, tuple[int, int, int]] = {
    "m": (1, 0, 0), "kg": (0, 1, 0), "s": (0, 0, 1), "rad": (0, 0, 0), "N": (1, 1, -2), "Pa": (-1, 1, -2),
    "J": (2, 1, -2), "W": (2, 1, -3), "Hz": (0, 0, -1), "K": (0, 0, 0), "1": (0, 0, 0),
}  # fmt: skip
_FIXED = ("", "-", "%", "deg", "degrees", "1")  # of no base
_DENSITY = ")^2/Hz"
_RATIO = re.compile(r"\(([^()]*)\)/\(([^()]*)\)")
_PART = re.compile(r"([A-Za-z]+|1)(?:\^?(-?\d+))?")


@dataclass(frozen=True)
class Shown:
    """A unit of display, and the factor from numbers of the base to it."""

    unit: str
    factor: float = 1.0

    def __call__(self, values: Any) -> Any:
        """Return numbers of the base in this unit; without a change the same object."""
        if self.factor == 1.0 or values is None:
            return values
        return values * self.factor if isinstance(values, (int, float)) else np.asarray(values) * self.factor


def split_unit(name: str) -> tuple[str, str]:
    """Return ("force", "N") of "force [N]"; the unit is "" where there is none."""
    if name.endswith("]") and " [" in name:
        text, unit = name[:-1].rsplit(" [", 1)
        return text, unit
    return name, ""


@cache
def _parts(unit: str) -> tuple[tuple[str, int], ...] | None:
    """Return the factors of a declared unit with their exponents ("N m/rad": N, m, rad^-1), None where it is no
    product of known factors, as "m, rad" of a quantity that may be either."""
    found = []
    upper, *lower = unit.replace("*", " ").split("/")
    for side, words in [(1, upper), *((-1, words) for words in lower)]:
        for word in words.split():
            match = _PART.fullmatch(word)
            if match is None or match[1] not in _POWERS:
                return None
            found.append((match[1], side * int(match[2] or 1)))
    return tuple(found)


def _joined(parts: list[tuple[str, int]]) -> str:
    """Return the text of a product of units with exponents; in it compound units stand in brackets."""
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]

    def one(name: str, power: int) -> str:
        if power == 1 and "/" not in name:
            return name
        name = f"({name})" if " " in name or "/" in name or "^" in name else name
        return name if power == 1 else f"{name}^{power}"

    upper = " ".join(one(name, power) for name, power in parts if power > 0 and name != "1")
    lower = " ".join(one(name, -power) for name, power in parts if power < 0 and name != "1")
    return f"{upper or '1'}/{lower}" if lower else upper


@dataclass(frozen=True)
class Units:
    """The base of a model, and the units in which its results are shown.

    Attributes:
        base: a name of `BASES`.
        chosen: key of `QUANTITIES` -> name of a unit.  What is not chosen follows from the units of length, mass, force
            and angle, or is that of the base.
    """

    base: str = "m kg s"
    chosen: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of_header(header: Mapping[str, Any]) -> Units:
        """Return the units that a header of results records; those of results without them are SI."""
        return Units.of_json(header.get("units"))

    @staticmethod
    def of_json(value: Mapping[str, Any] | None) -> Units:
        """Return the units that `to_json` has written; SI without any."""
        told = dict(value or {})
        return Units(str(told.pop("base", "m kg s")), told)

    def to_json(self) -> dict[str, str]:
        """Return a dictionary that `of_json` reads."""
        return {"base": self.base, **self.chosen}

    def told(self, base: bool) -> Units:
        """Return the units of display, or with ``base`` those of the model alone."""
        return Units(self.base) if base else self

    @cached_property
    def _sizes(self) -> tuple[float, float, float]:
        """Return the units of length, mass and time of the base in SI."""
        named = zip(("length", "mass", "time"), BASES[self.base], strict=True)
        length, mass, time = (QUANTITIES[key].choices[name] for key, name in named)
        return length, mass, time

    def _in_si(self, unit: str) -> float:
        """Return the size in SI of a declared factor in the base."""
        length, mass, time = self._sizes
        a, b, c = _POWERS[unit]
        return length**a * mass**b * time**c

    def size(self, unit: str) -> float:
        """Return the size in SI of a declared unit, a product of known factors, in the base."""
        return float(np.prod([self._in_si(part) ** power for part, power in _parts(unit) or ()]))

    def _name_in_base(self, key: str) -> str:
        """Return the name of the base's own unit of a quantity."""
        names = dict(zip(("length", "mass", "time"), BASES[self.base], strict=True))
        if key in names:
            return names[key]
        quantity = QUANTITIES[key]
        size = self._in_si(quantity.declared)
        return next(name for name, value in quantity.choices.items() if abs(value / size - 1.0) < 1e-12)

    def _factor(self, unit: str) -> Shown:
        """Return how one factor of a compound unit is shown; times in it stay in the base."""
        key = next((k for k in ("length", "angle", "time", "mass", "force", "stress", "energy", "power", "frequency")
                    if QUANTITIES[k].declared == unit), None)  # fmt: skip
        if key is None:
            return Shown(unit)
        name = self.chosen.get(key) if key != "time" else None
        if name is None:
            return Shown(self._name_in_base(key))
        return Shown(name, self._in_si(unit) / QUANTITIES[key].choices[name])

    @cached_property
    def _known(self) -> dict[str, Shown]:
        return {}

    def of(self, unit: str) -> Shown:
        """Return how numbers with a declared unit are shown.

        Units that are no product of known ones ("m, rad": either) stay as they are.
        """
        if unit not in self._known:
            self._known[unit] = self._found(unit)
        return self._known[unit]

    def _found(self, unit: str) -> Shown:
        if unit.startswith("(") and unit.endswith(_DENSITY):  # of a power spectral density
            value, rate = self.of(unit[1 : -len(_DENSITY)]), self.of("Hz")
            return Shown(f"({value.unit})^2/{rate.unit}", value.factor**2 / rate.factor)
        ratio = _RATIO.fullmatch(unit)
        if ratio:  # of a transfer function
            upper, lower = self.of(ratio[1]), self.of(ratio[2])
            return Shown(f"({upper.unit})/({lower.unit})", upper.factor / lower.factor)
        parts = None if unit in _FIXED else _parts(unit)
        if parts is None:
            return Shown(unit)
        whole = next((k for k, q in QUANTITIES.items() if _parts(q.declared) == parts), None)
        if whole is not None and whole in self.chosen:
            name = self.chosen[whole]
            return Shown(name, self.size(unit) / QUANTITIES[whole].choices[name])
        shown = [(self._factor(part), power) for part, power in parts]
        factor = float(np.prod([one.factor**power for one, power in shown]))
        if factor == 1.0 and all(one.unit == part for (one, _), (part, _) in zip(shown, parts, strict=True)):
            return Shown(unit)  # as it is written
        return Shown(_joined([(one.unit, power) for one, power in shown]), factor)

    def label(self, name: str) -> str:
        """Return a name with its declared unit, such as "force [N]", with the unit that is shown."""
        text, unit = split_unit(name)
        return f"{text} [{self.of(unit).unit}]" if unit else text

    def column(self, name: str) -> tuple[str, float]:
        """Return the label of a name with its declared unit, and the factor for its numbers."""
        return self.label(name), self.of(split_unit(name)[1]).factor


# --- messages ------------------------------------------------------------------------------------------------------
_SI = Units()
_of_messages: ContextVar[Units] = ContextVar("units of messages", default=_SI)


@contextmanager
def messages_in(units: Units | None) -> Iterator[None]:
    """Let `unit_of` name the units of a model's base while it is built, checked or run; None: SI."""
    token = _of_messages.set(_SI if units is None else units.told(base=True))
    try:
        yield
    finally:
        _of_messages.reset(token)


def in_units_of_model(function: F) -> F:
    """Let messages of a function whose first argument is a model name the units of the model's base.

    The function raises InputError where that argument is no model.
    """

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        model: Any = args[0] if args else options.get("model")
        if not hasattr(model, "shown_units"):
            remedy = "fem_mbs.load_model reads a model file"
            raise InputError(f"{function.__name__}() takes a model, not {model!r}", remedy=remedy)
        with messages_in(model.shown_units):
            return function(*args, **options)

    return call  # type: ignore[return-value]


def unit_of(declared: str) -> str:
    """Return the name that a unit declared in SI has in the base of the model at hand.

    Messages give numbers as the model has them, so this is the unit of these numbers: "ms" for "s" in a model in
    milliseconds.  Outside of `messages_in` it is the declared unit.
    """
    return _of_messages.get().of(declared).unit


# --- numbers that are given in SI ------------------------------------------------------------------------------------
def base_at_hand() -> str:
    """Return the name of the base of the model at hand, "m kg s" outside of `messages_in`."""
    return _of_messages.get().base


def from_si(value: float, declared: str) -> float:
    """Return a number in SI, with its declared unit, in the base of the model at hand.

    It is for constants of standards and for defaults, which mean the same in all models.
    """
    return value / _of_messages.get().size(declared)
