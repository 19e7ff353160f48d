"""Types of errors. Each message names the thing, the value and the remedy.

The command line turns an ``InputError`` into exit code 2, an ``AnalysisError`` or a ``DiskFullError`` into 1.
"""

from __future__ import annotations

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
    """The user's input cannot be used as it is (exit code 2)."""


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
