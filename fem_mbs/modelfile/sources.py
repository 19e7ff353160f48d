"""Declarations whose files are read before they are built: reduced parts, and displacements of whole models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import MeshError, ModelError, Owner, ResultsError
from fem_mbs.model.loads.submodels import Submodel
from fem_mbs.model.model import Model
from fem_mbs.model.parts.reduced import MovingPart
from fem_mbs.modelfile.parts import part_of
from fem_mbs.parts.part import ReducedPart

__all__ = ["with_source"]


def with_source(said: Any, load_model: Callable[[Path], Model], parts: dict[tuple[str, str], ReducedPart]) -> Any:
    """Return a declaration with the contents of its file; others as they are.

    ``load_model`` reads model files; ``parts``: those that have been read or reduced, by their files and how, which
    copies share.

    Raises:
        ModelError, MeshError: the file cannot be used.
    """
    if isinstance(said, MovingPart) and said.part is None and said.file is not None:
        how = None if said.reduce is None else said.reduce.given()
        known = said.file, repr(how)
        if known not in parts:
            parts[known] = part_of(_path(said.file), how, load_model)
        return replace(said, part=parts[known])
    if isinstance(said, Submodel) and said.source is None and said.file is not None:
        from fem_mbs.analysis.global_motion import read_global_motion

        path = _path(said.file)
        try:
            return replace(said, source=read_global_motion(path, said.step))
        except (ResultsError, MeshError) as error:
            raise ModelError(str(error), owner=Owner("Submodel", said.name), key="file", value=said.file) from None
    return said


def _path(file: str) -> Path:
    if "\0" in file:
        raise ModelError(f"file = {shown(file)} is not a path")
    return Path(file)
