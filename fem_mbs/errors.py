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
    "MeshError",
    "ModelError",
    "ResultsError",
]


class FemMbsError(Exception):
    """Base of every error that fem-mbs raises on purpose."""


class InputError(FemMbsError):
    """The user's input cannot be used as it is (exit code 2).

    Args:
        text: what is wrong, with the value.
        owner: the thing that it is about, such as 'Joint "hip"'.
        key: the key or argument of it.
        value: what was given.
        place: where it stands, such as 'model.toml, [[joint]] "hip"'; it takes the owner's place in the message.
        remedy: what to do about it.
    """

    def __init__(
        self, text: str, *, owner: str = "", key: str = "", value: Any = None, place: str = "", remedy: str = ""
    ):
        super().__init__(text)
        self.text, self.owner, self.key, self.value = text, owner, key, value
        self.place, self.remedy = place, remedy

    def __str__(self) -> str:
        head = self.place or self.owner
        message = f"{head}: {self.text}" if head else self.text
        return f"{message}; {self.remedy}" if self.remedy else message

    def at(self, place: str) -> Self:
        """Return the same error with the place where its cause stands."""
        return type(self)(self.text, owner=self.owner, key=self.key, value=self.value, place=place, remedy=self.remedy)


class MeshError(InputError):
    """A mesh file or a named set in it cannot be used."""


class ModelError(InputError):
    """A model is contradictory, incomplete or not computable."""


class ResultsError(InputError):
    """A results folder is missing, incomplete or of another version."""


class AnalysisError(FemMbsError):
    """An analysis ended without a valid result (exit code 1)."""


class ConvergenceError(AnalysisError):
    """Newton-Raphson did not converge, also after the step was halved."""


class DiskFullError(ResultsError):
    """There is no room for what is written: the disk, a quota or a limit of the process (exit code 1).

    It is no ``AnalysisError``, after which an analysis may try smaller steps.
    """
