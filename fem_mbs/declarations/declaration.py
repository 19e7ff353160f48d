"""Declarations: frozen, typed records of what a user says about one thing (a spring, a sensor, the options of a step).

A declaration is a frozen dataclass whose fields are made by `key`: each has a kind, a text, a unit and a default.  A
table of a model file and a call in Python make the same declaration.  The reference of the model file, its schema, the
checks and the docstrings of Python calls are made from its keys.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING
from types import FunctionType, MappingProxyType
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from fem_mbs.declarations.kinds import FLAG, Kind, shown
from fem_mbs.declarations.texts import Texts
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass

__all__ = ["Declaration", "Key", "arguments", "choose", "flag", "kept_copy", "key", "plain"]

T = TypeVar("T")


@dataclass(frozen=True)
class Key:
    """One key of a declaration.

    ``kind`` checks its value; a subclass of `Declaration` stands for a table within the table.  ``text`` says in one
    sentence what it means, without its ``unit``.  ``default`` is MISSING where a value must be given; ``shows`` is the
    default in words, where the value itself does not tell.  ``objects`` are types that Python calls may give as they
    are (functions, meshes), which no file can hold.  ``choices`` are the texts that the value must be one of (a table
    of kinds stands for its names); none: any.  ``file`` is the name of the key in model files, where it is another
    one, or None for what only Python can give; ``needed``: model files must give it, though Python has a default.
    """

    kind: Kind | type[Declaration]
    text: str
    default: Any = MISSING
    shows: str = ""
    unit: str = ""
    choices: Collection[str] = ()
    objects: tuple[type, ...] = ()
    file: str | None = ""
    needed: bool = False

    @property
    def required(self) -> bool:
        return self.default is MISSING or self.needed

    @property
    def default_text(self) -> str:
        """Return the default as the reference shows it."""
        return self.shows or ("" if self.required or self.default is None else shown(self.default))

    @property
    def meaning(self) -> str:
        """Return the text, with the unit in brackets and the choices that it does not explain."""
        head, colon, rest = self.text.partition(";")
        text = f"{head} [{self.unit}]{colon}{rest}".strip() if self.unit else self.text
        words = [f'"{choice}"' for choice in self.choices]
        return text if len(words) < 2 or all(word in text for word in words) else f"{text}: {', '.join(words)}"

    @property
    def label(self) -> str:
        """Return the kind as the reference shows it."""
        if isinstance(self.kind, Kind):
            return self.kind.label
        return f"table: {', '.join(self.kind.keys())}"


def key(
    kind: Kind | type[Declaration],
    text: str,
    default: Any = MISSING,
    *,
    shows: str = "",
    unit: str = "",
    choices: Collection[str] = (),
    objects: tuple[type, ...] = (),
    file: str | None = "",
    needed: bool = False,
    kw_only: bool = False,
) -> Any:
    """Return a dataclass field with a `Key`; the arguments are those of `Key`.

    A list as default is copied.  With ``kw_only`` Python calls give it by its name.
    """
    said = Key(kind, text, default, shows, unit, choices, objects, file, needed)
    if isinstance(default, (list, dict)):
        return dataclasses.field(
            default_factory=lambda: plain(default), metadata={"key": said}, kw_only=kw_only or MISSING
        )
    return dataclasses.field(default=default, metadata={"key": said}, kw_only=kw_only or MISSING)


def plain(value: Any) -> Any:
    """Return a value as a model file can hold it: arrays, tuples and numpy's numbers as lists and Python's numbers.

    Other objects come back as they are.
    """
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    return value


class Declaration:
    """Base of declarations; a subclass is a frozen dataclass of `key` fields.

    ``owner`` is the word that messages begin with ("Joint").  ``expressed`` are the values of keys of a model file
    that had expressions of parameters, as they stood there.  ``made``: it is a copy that another declaration made.
    """

    owner: ClassVar[str]
    expressed: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    made: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Keep copies of arrays and lists, so that what was said does not change with the caller's objects.

        A mapping for a table within the table becomes its declaration.

        Raises:
            ModelError: a text that is none of the choices of its key, what is neither True nor False of a flag; wrong
                keys of a table within the table.
        """
        for name, said in self.keys().items():
            value = getattr(self, name)
            if isinstance(value, Mapping) and not isinstance(said.kind, Kind):
                value = said.kind.read(value, self.thing, f"{said.file or name}.")
            if value is not None:
                _check_choice(said, said.file or name, value, self.thing)
            if said.kind is FLAG and value is not said.default:
                value = flag(value, self.thing, said.file or name)
            object.__setattr__(self, name, kept_copy(value))

    @property
    def thing(self) -> Owner:
        """Return the owner that messages about the declaration name."""
        name = getattr(self, "name", "")
        return Owner(self.owner, name if isinstance(name, str) else "")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(_equal(getattr(self, name), getattr(other, name)) for name in self.keys())

    __hash__ = object.__hash__

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for other processes, where functions that have no name of their own cannot follow."""
        return {k: Left(v.__qualname__) if _nameless(v) else v for k, v in self.__dict__.items()}

    def express(self, values: Mapping[str, Any]) -> None:
        """Keep the values of keys that were given as expressions."""
        object.__setattr__(self, "expressed", dict(values))

    def mark_made(self) -> None:
        """Say that another declaration made this one."""
        object.__setattr__(self, "made", True)

    @property
    def complete(self) -> bool:
        """Return whether it holds everything that the user gave: no function was left in another process."""
        return not any(isinstance(value, Left) for value in self.__dict__.values())

    @classmethod
    def purpose(cls) -> str:
        """Return the first paragraph of the docstring."""
        return " ".join((cls.__doc__ or "").split("\n\n")[0].split())

    @classmethod
    def in_file(cls) -> dict[str, tuple[str, Key]]:
        """Return the keys of model files: name there -> name of the field, key."""
        return {said.file or name: (name, said) for name, said in cls.keys().items() if said.file is not None}

    @classmethod
    def keys(cls) -> dict[str, Key]:
        """Return the keys by their names, in the order of the Python call."""
        return {f.name: f.metadata["key"] for f in dataclasses.fields(cls) if "key" in f.metadata}  # type: ignore[arg-type]

    @classmethod
    def call(cls, args: Sequence[Any], options: Mapping[str, Any]) -> Self:
        """Return the declaration of a call in Python.

        Raises:
            ModelError: an unknown argument, one that is missing or given twice, or one without its keyword.
        """
        return cls(**arguments(_signature(cls), cls.owner, args, options))

    @classmethod
    def worked(cls, given: Mapping[str, Any], texts: Texts, owner: str, inside: str = "") -> dict[str, Any]:
        """Return the values of a table of a model file with numbers instead of expressions of parameters.

        Args:
            given, owner, inside: as of `read`.
            texts: what works out expressions.

        Raises:
            ModelError: an expression that cannot be worked out.
        """
        known, found = cls.in_file(), dict(given)
        for name, value in given.items():
            kind = known[name][1].kind if name in known else None
            if isinstance(kind, Kind):
                if kind.texts is None:
                    continue
                try:
                    found[name] = kind.texts(value, texts)
                except ValueError as error:
                    text = f"{inside}{name} = {shown(value)} must be a {kind.label}: "
                    raise ModelError(f"{text}{error}", owner=owner, key=inside + name, value=value) from None
                except RecursionError:
                    text = f"{inside}{name} is nested too deeply"
                    raise ModelError(text, owner=owner, key=inside + name) from None
            elif kind is not None and isinstance(value, Mapping):
                found[name] = kind.worked(value, texts, owner, f"{inside}{name}.")
        return found

    @classmethod
    def read(cls, given: Mapping[str, Any], owner: str, inside: str = "", **own: Any) -> Self:
        """Check the keys of a table, or the arguments of a call, and return the declaration.

        Args:
            given: values by key, as model files name them.
            owner: the thing in messages, such as 'Joint "hip"'.
            inside: name and dot of the key whose table this is, "" for a table of its own.
            own: values of fields that stand in no table.

        Raises:
            ModelError: an unknown key, a missing one, or a value of the wrong kind, in this order.
        """
        known = cls.in_file()
        for name in given:
            if name not in known:
                remedy = _remedy(name, [*known])
                raise ModelError(f"unknown key {shown(inside + name)}", owner=owner, key=inside + name, remedy=remedy)
        for name, (_, said) in known.items():
            if said.required and name not in given:
                text = f'"{inside}{name}" is missing'
                raise ModelError(text, owner=owner, key=inside + name, remedy=f"add {inside}{name} = ...")
        return cls(
            **own,
            **{known[name][0]: _checked(known[name][1], inside + name, value, owner) for name, value in given.items()},
        )

    def given(self, *without: str) -> dict[str, Any]:
        """Return the keys whose values differ from their defaults, but those in ``without``."""
        found = {name: getattr(self, name) for name in self.keys() if name not in without}
        defaults = {f.name: f.default_factory() for f in dataclasses.fields(self) if f.default_factory is not MISSING}  # type: ignore[arg-type]
        keys = self.keys()
        return {k: v for k, v in found.items() if not _equal(v, defaults.get(k, keys[k].default))}

    def as_table(self) -> dict[str, Any]:
        """Return the keys that differ from their defaults as a model file holds them.

        Raises:
            ModelError: a value that no file can hold.
        """
        own = self.given()
        needed = {k: getattr(self, k) for k, said in self.keys().items() if said.required}
        found = {
            said.file or k: v.as_table() if isinstance(v, Declaration) else plain(v)
            for k, said in self.keys().items()
            for v in [needed.get(k, own.get(k))]
            if said.file is not None and v is not None
        }
        for name, value in found.items():
            if not isinstance(value, (bool, int, float, str, list, dict)):
                raise ModelError(
                    f"{name} is a {type(value).__name__}, which a model file cannot hold",
                    owner=self.owner,
                    key=name,
                    remedy="give what it is made of (a text, numbers, a file)",
                )
        return found


def _checked(said: Key, name: str, value: Any, owner: str) -> Any:
    """Return the value of a key, checked by its kind."""
    if said.objects and isinstance(value, said.objects):
        return value
    if value is None and said.default is None:
        return None
    if not isinstance(said.kind, Kind):
        if isinstance(value, said.kind):
            return value
        if not isinstance(value, Mapping):
            raise ModelError(
                f"{name} = {shown(value)} must be a table with the keys {', '.join(said.kind.keys())}",
                owner=owner,
                key=name,
                value=value,
            )
        return said.kind.read(value, owner, f"{name}.")
    try:
        found = said.kind.check(plain(value))
    except ValueError as error:
        raise ModelError(f"{name} = {shown(plain(value))} {error}", owner=owner, key=name, value=value) from None
    _check_choice(said, name, found, owner)
    return found


def flag(value: Any, owner: Owner, key: str) -> bool:
    """Return the value of a flag that was given in Python.

    Raises:
        ModelError: it is neither True nor False.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ModelError(f"{key} = {shown(value)} must be True or False", owner=owner, key=key, value=value)
    return bool(value)


def _check_choice(said: Key, name: str, value: Any, owner: str) -> None:
    """Refuse a text that is none of the choices of a key."""
    if said.choices and value not in said.choices:
        words = ", ".join(f'"{c}"' for c in said.choices)
        close = difflib.get_close_matches(str(value), list(said.choices), n=1)
        raise ModelError(
            f"{name} = {shown(value)} must be one of {words}",
            owner=owner,
            key=name,
            value=value,
            remedy=f'did you mean "{close[0]}"?' if close else "",
        )


def choose(kinds: Mapping[str, T], kind: Any, owner: Owner) -> T:
    """Return the one of several kinds that a text names.

    Raises:
        ModelError: there is none of this name.
    """
    if kind not in kinds:
        close = difflib.get_close_matches(str(kind), list(kinds), n=1)
        remedy = f'did you mean "{close[0]}"?' if close else f"there are {', '.join(kinds)}"
        raise ModelError(f"unknown kind {shown(kind)}", owner=owner, key="kind", value=kind, remedy=remedy)
    return kinds[kind]


_SIGNATURES: dict[Any, inspect.Signature] = {}  # by class


def _signature(cls: type[Declaration]) -> inspect.Signature:
    """Return the signature of a declaration: to find it takes longer than to make the declaration."""
    if cls not in _SIGNATURES:
        _SIGNATURES[cls] = inspect.signature(cls)
    return _SIGNATURES[cls]


def arguments(
    signature: inspect.Signature, word: str, args: Sequence[Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a call by their names.

    Args:
        signature: of the function that is called, without ``self``.
        word: what the call adds, for messages.
        args, options: what was given, by place and by name.

    Raises:
        ModelError: an unknown argument, one that is missing or given twice, or one without its keyword.
    """
    known = signature.parameters
    places = [name for name, p in known.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    given = {**options, **dict(zip(places, args, strict=False))}
    name = given.get("name", known["name"].default if "name" in known else "")
    owner = Owner(word, name if isinstance(name, str) else "")
    for key_ in options:
        if key_ not in known:
            raise ModelError(f"unknown key {shown(key_)}", owner=owner, key=key_, remedy=_remedy(key_, [*known]))
        if key_ in places[: len(args)]:
            raise ModelError(f"{key_} is given twice", owner=owner, key=key_, remedy="remove one")
    if len(args) > len(places):
        rest = ", ".join(n for n in known if n not in places)
        raise ModelError(
            f"{shown(args[len(places)])} comes without its keyword",
            owner=owner,
            value=args[len(places)],
            remedy=f"say which argument it is{f': {rest}' if rest else ''}",
        )
    for key_, parameter in known.items():
        if parameter.default is parameter.empty and key_ not in given:
            raise ModelError(f'"{key_}" is missing', owner=owner, key=key_, remedy=f"add {key_} = ...")
    return given


def _remedy(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f'did you mean "{close[0]}"?' if close else f"there are {', '.join(known)}"


@dataclass(frozen=True)
class Left:
    """Stands for a Python function that was left in the process where it was given."""

    name: str


def _nameless(value: Any) -> bool:
    return isinstance(value, FunctionType) and "<" in value.__qualname__


def kept_copy(value: Any) -> Any:
    """Return a copy of an array, list or table; everything else as it is."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list):
        return [kept_copy(v) for v in value]
    if isinstance(value, dict):
        return {k: kept_copy(v) for k, v in value.items()}
    return value


def _equal(a: Any, b: Any) -> bool:
    """Return whether two values are the same, arrays included."""
    if a is b:
        return True
    a, b = plain(a), plain(b)
    return (type(a) is type(b) or {type(a), type(b)} == {int, float}) and bool(a == b)
