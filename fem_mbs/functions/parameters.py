"""Parameters of a model: named numbers, and expressions over them wherever a number may stand."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fem_mbs.declarations.kinds import MAX_NUMBER, shown
from fem_mbs.declarations.texts import numbers
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.expressions import CONSTANTS, FUNCTIONS, compile_expression
from fem_mbs.functions.kinds import FUNCTION_KINDS, FUNCTION_WORDS

__all__ = ["VARIABLES", "Parameters", "check_parameter_name"]

#: Names of time and coordinates, which expressions of functions and fields use.
VARIABLES = ("t", "x", "y", "z")

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_FUNCTION_KEYS = frozenset(key for keys in FUNCTION_KINDS.values() for key in keys) - FUNCTION_WORDS


def check_parameter_name(name: str, functions: Collection[str] = ()) -> None:
    """Refuse a name that expressions could not tell from something else.

    Args:
        name: of the parameter.
        functions: names of functions of time, which may stand where expressions stand.

    Raises:
        ModelError: it is no word of letters, digits and _, or means something already.
    """
    owner = Owner("Parameter", name)
    if not (name.isascii() and name.isidentifier()) or name in ("and", "or", "not", "if", "else"):
        raise ModelError(
            "the name cannot stand in expressions",
            owner=owner,
            remedy="use letters, digits and _, a letter first, and none of and, or, not, if, else",
        )
    taken = (
        "a function of expressions" if name in FUNCTIONS
        else "a constant" if name in CONSTANTS
        else "the time or a coordinate in expressions" if name in VARIABLES
        else "a function of time of this model" if name in functions
        else ""
    )  # fmt: skip
    if taken:
        raise ModelError(f"the name is that of {taken}", owner=owner, remedy="choose another")


class Parameters:
    """Named numbers, each a number or an expression of others, and what works out expressions over them.

    Args:
        given: numbers or expressions by name.
        functions: names of functions of time; a text that is one of them is no expression.

    Raises:
        ModelError: a name that expressions cannot have.

    Attributes:
        used: names of the parameters that something has used, directly or through another one.
    """

    def __init__(self, given: Mapping[str, Any] | None = None, functions: Collection[str] = ()) -> None:
        self._given = dict(given or {})
        self._values: dict[str, float | int] = {}
        self._functions = frozenset(functions)
        self.used: set[str] = set()
        for name in self._given:
            check_parameter_name(name, self._functions)

    def __contains__(self, name: object) -> bool:
        return name in self._given

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def values(self) -> dict[str, float | int]:
        """Return the numbers by name.

        Raises:
            ModelError: an expression that cannot be worked out, or parameters that depend on themselves.
        """
        return {name: self._value(name, ()) for name in self._given}

    # --- the texts of a file (`fem_mbs.declarations.texts.Texts`)
    def number(self, text: str) -> float | int:
        """Return the value of an expression of parameters.

        Raises:
            ValueError: it is none, names what there is not, or has no finite value.
            ModelError: a parameter in it has no value.
        """
        return self._worked(text, ())

    def field(self, text: str) -> str | float | int:
        """Return an expression of x, y, z or t with values instead of parameters.

        A text without parameters comes back as it is; one of nothing but parameters is a number.

        Raises:
            ValueError: it has parameters alone, and no finite value.
            ModelError: a parameter in it has no value.
        """
        names = self._names(text)
        found = [name for name in names if name in self._given]
        if not found:
            return text
        if len(found) == len(names) - sum(name in FUNCTIONS or name in CONSTANTS for name in names):
            return self.number(text)
        values = {name: self._value(name, ()) for name in found}
        self._use(found)
        return _NAME.sub(lambda m: f"({values[m[0]]!r})" if m[0] in values else m[0], text)

    def function(self, value: Any) -> Any:
        """Return a function of time, as `fem_mbs.functions.kinds.make_function` takes it, with values instead of
        parameters.

        Raises:
            ValueError, ModelError: as of `number`.
        """
        if isinstance(value, str):
            return value if value in self._functions else self.field(value)
        if isinstance(value, list):
            return [self.function(part) for part in value]
        if not isinstance(value, dict):
            return value
        found = dict(value)
        for key in value.keys() & _FUNCTION_KEYS:
            inner = key in ("function", "functions")
            if key == "expression" and isinstance(value[key], str):
                text = self.field(value[key])
                found[key] = text if isinstance(text, str) else repr(text)
            elif key != "expression":
                found[key] = self.function(value[key]) if inner else numbers(value[key], self)
        return found

    # --- inside
    def _names(self, text: str) -> list[str]:
        return [name for name in _NAME.findall(text) if name not in ("and", "or", "not", "if", "else")]

    def _use(self, names: Collection[str]) -> None:
        """Note that names are used, and those that they are made of."""
        for name in names:
            if name in self._given and name not in self.used:
                self.used.add(name)
                given = self._given[name]
                self._use(self._names(given) if isinstance(given, str) else ())

    def _value(self, name: str, above: tuple[str, ...]) -> float | int:
        """Return the number of a parameter; ``above``: those that are being worked out."""
        if name in self._values:
            return self._values[name]
        owner, given = Owner("Parameter", name), self._given[name]
        if name in above:
            loop = " -> ".join([*above[above.index(name) :], name])
            raise ModelError(f"it depends on itself ({loop})", owner=owner, remedy="give one of them a number")
        if len(above) > 100:
            raise ModelError("more than 100 parameters depend on each other", owner=owner, remedy="simplify them")
        found = given
        if isinstance(given, str):
            try:
                found = self._worked(given, (*above, name))
            except ValueError as error:
                raise ModelError(f"{shown(given)} {error}", owner=owner, key="value", value=given) from None
        elif isinstance(given, bool) or not isinstance(given, (int, float)) or not abs(given) < MAX_NUMBER:
            raise ModelError(
                f"{shown(given)} must be a finite number or an expression", owner=owner, key="value", value=given
            )
        self._values[name] = found
        return found

    def _worked(self, text: str, above: tuple[str, ...]) -> float | int:
        names = list(dict.fromkeys(self._names(text)))
        for name in names:
            if name not in self._given and name not in FUNCTIONS and name not in CONSTANTS:
                raise ValueError(self._unknown(name))
        found = [name for name in names if name in self._given]
        if not above:
            self._use(found)
        if text.strip() in self._given:
            return self._value(text.strip(), above)
        values = [float(self._value(name, above)) for name in found]
        try:
            expression = compile_expression(text, found or VARIABLES[:1])
        except ModelError as error:
            where = f" at {error.owner.part}" if error.owner.part else ""
            raise ValueError(f"this is no valid expression of parameters{where}: {error.text}") from None
        result = float(expression(*(values or [0.0])))
        if not math.isfinite(result) or abs(result) >= MAX_NUMBER:
            told = ", ".join(f"{name} = {value:g}" for name, value in zip(found, values, strict=True))
            raise ValueError(f"is {result}{f' with {told}' if told else ''}; it must be finite")
        return result

    def _unknown(self, name: str) -> str:
        close = difflib.get_close_matches(name, [*self._given, *FUNCTIONS, *CONSTANTS], n=1)
        known = f"there are {', '.join(self._given)}" if self._given else "there are none; write a number"
        return f'no parameter is called "{name}"; ' + (f'did you mean "{close[0]}"?' if close else known)
