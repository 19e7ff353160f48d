"""Types of errors. Each message names the thing, the value and the remedy.

The command line turns an ``InputError`` into exit code 2, an ``AnalysisError`` or a ``DiskFullError`` into 1.
"""

from __future__ import annotations

from typing import Any, Self

__all__ = [
    "AnalysisError",
    "ConvergenceError",
    "DiskFullError",
    "FemMbsError",
    "InputError",
    "LooseError",
    "MeshError",
    "ModelError",
    "Owner",
    "ResultsError",
    "UnsupportedError",
]


class FemMbsError(Exception):
    """Base of every error that fem-mbs raises on purpose."""


class Owner(str):
    """The thing that a message is about, as text and as fields: Owner("Joint", "hip") is 'Joint "hip"'.

    Args:
        word: what it is ("Joint").
        name: its name, or the nodes that it is on; "": it has none.
        link: the preposition between word and name ("of").
        part: the part of it that is meant ("function").
    """

    word: str
    name: str
    link: str
    part: str

    def __new__(cls, word: str, name: Any = "", link: str = "", part: str = "") -> Self:
        text = name if isinstance(name, str) else str(name)
        head = f"{word} {link}".rstrip()
        self = super().__new__(cls, (f'{head} "{text}"' if text else head) + (f": {part}" if part else ""))
        self.word, self.name, self.link, self.part = word, text, link, part
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.word, self.name, self.link, self.part)

    def within(self, part: str) -> Self:
        """Return a part of the same thing."""
        inner = f"{self.part}, {part}" if self.part else part
        return type(self)(self.word, self.name, self.link, inner)


class InputError(FemMbsError):
    """The user's input cannot be used as it is (exit code 2).

    Args:
        text: what is wrong, with the value.
        owner: the thing that it is about, such as 'Joint "hip"'.
        key: the key or argument of it.
        value: what was given.
        place: where it stands, such as '[[joint]] "hip"'; it takes the owner's place in the message.
        file: the file in which the place is.
        remedy: what to do about it.
        inside: the owner is another thing than the one at the place: the message names both.
    """

    def __init__(
        self,
        text: str,
        *,
        owner: str = "",
        key: str = "",
        value: Any = None,
        place: str = "",
        file: str = "",
        remedy: str = "",
        inside: bool = False,
    ):
        super().__init__(text)
        self.text, self.key, self.value = text, key, value
        self.owner = owner if isinstance(owner, Owner) else Owner(owner)
        self.place, self.file, self.remedy, self.inside = place, file, remedy, inside

    def __str__(self) -> str:
        return ": ".join(word for word in (self.where, self._told) if word)

    @property
    def where(self) -> str:
        """File and place."""
        return ", ".join(word for word in (self.file, self.place) if word)

    @property
    def in_file(self) -> str:
        """The message without the file."""
        return ": ".join(word for word in (self.place, self._told) if word)

    @property
    def _told(self) -> str:
        named = self.inside or not (self.place or self.file)
        head = self.owner if named else self.owner.part
        message = f"{head}: {self.text}" if head else self.text
        return f"{message}; {self.remedy}" if self.remedy else message

    def at(self, place: str, file: str = "", inside: bool = False) -> Self:
        """Return the same error, in one line, with the ``place`` where its cause stands: in a ``file``, ``inside`` of
        an input file or not.

        An error that has a place already, in the file of a part, keeps it behind the new one.
        """
        text, remedy = (" ".join(words.split()) for words in (self.text, self.remedy))
        if self.where:
            place, inside = ": ".join(word for word in (place, self.where) if word), self.inside
        return type(self)(
            text, owner=self.owner, key=self.key, value=self.value, place=place, file=file, remedy=remedy, inside=inside
        )


class UncompiledError(InputError):
    """Kernels would have to be compiled by a command that compiles nothing."""


class MeshError(InputError):
    """A mesh file or a named set in it cannot be used."""


class ModelError(InputError):
    """A model is contradictory, incomplete or not computable."""


class ResultsError(InputError):
    """A results folder is missing, incomplete or of another version."""


class UnsupportedError(ModelError):
    """A deck asks for something that this program does not have."""


class AnalysisError(FemMbsError):
    """An analysis ended without a valid result (exit code 1).

    Args:
        text: what happened.
        owner: the step or part that it happened to.
    """

    def __init__(self, text: str, *, owner: str = ""):
        super().__init__(text)
        self.text = text
        self.owner = owner if isinstance(owner, Owner) else Owner(owner)

    def __str__(self) -> str:
        return f"{self.owner}: {self.text}" if self.owner else self.text


class LooseError(AnalysisError):
    """A part can move without strain (a mechanism or a rigid body) where an analysis needs a supported model."""


class ConvergenceError(AnalysisError):
    """Newton-Raphson did not converge, also after the step was halved."""


class DiskFullError(ResultsError):
    """There is no room for what is written: the disk, a quota or a limit of the process (exit code 1).

    It is no ``AnalysisError``, after which an analysis may try smaller steps.
    """
