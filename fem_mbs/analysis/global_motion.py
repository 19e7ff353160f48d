"""Displacements of a whole model for details of it, from results folders and results files of CalculiX."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fem_mbs.declarations.steps import recorded_kind, step_kinds
from fem_mbs.elements.solids import shapes
from fem_mbs.errors import ModelError
from fem_mbs.meshes.formats.frd import read_frd
from fem_mbs.model.loads.submodels import GlobalMotion
from fem_mbs.results.fields import is_continuum
from fem_mbs.results.reader import Results, Step

__all__ = ["read_global_motion", "read_global_temperature"]


def read_global_motion(path: str | Path | Results, step: str | int = "") -> GlobalMotion:
    """Return the displacements of a whole model, to be imposed on a detail of it (`Model.submodel`).

    Args:
        path: results folder, results, or results file of CalculiX (.frd) in text.
        step: name or number from 1 of a step; "": the last one with displacements.

    Raises:
        ModelError: there is no such step, or it has no displacements.
        ResultsError, MeshError: the results cannot be read.
    """
    if not isinstance(path, Results) and Path(path).is_file():
        return _of_frd(Path(path), str(step))
    results = path if isinstance(path, Results) else Results.open(path)
    own = _step_of(results, str(step))
    header, dim = results.header, int(results.header["dimension"])
    blocks = [b for b in header["blocks"] if is_continuum(b) and shapes.dimension(b["cell"]) >= dim - 1]
    if not blocks:
        raise ModelError(f"{results.where} has no solid, plane or shell cells, in which displacements are known between"
                         " the nodes", remedy="take results of a model with a mesh of these")  # fmt: skip
    where = f'step "{own.name}" of {results.where}'
    if not len(own.frame_times):
        raise ModelError(f"{where} has no frames", remedy="run it with frames")
    passes = recorded_kind(own.type).passes_time and len(own.frame_times) > 1
    rows = slice(None) if passes else slice(-1, None)
    u = np.asarray(own.frames["displacement"][rows], float)
    rotation = None
    turning = np.zeros(u.shape[1], bool)
    for block in blocks:
        if str(block["type"]).startswith("shell"):
            turning[np.asarray(block["connectivity"])] = True
    if turning.any():
        rotation = np.where(turning[None, :, None], np.asarray(own.frames["rotation"][rows], float), np.nan)
    cells = [(str(b["cell"]), np.asarray(b["connectivity"])) for b in blocks]
    return GlobalMotion(
        where, np.asarray(header["nodes"], float)[:, :dim], cells, np.asarray(own.frame_times, float)[rows],
        u[..., :dim], rotation, passes,
    )  # fmt: skip


def _step_of(results: Results, step: str) -> Step:
    kinds = ", ".join(name for name, kind in step_kinds().items() if kind.states)
    usable = [s for s in results.steps if recorded_kind(s.type).states and s.ended]
    if not step:
        if not usable:
            raise ModelError(f"{results.where} has no step with displacements",
                             remedy=f"run one of {kinds}")  # fmt: skip
        return usable[-1]
    called = [s for s in results.steps if s.name == step]
    if len(called) > 1:
        numbers = ", ".join(f'"{number}"' for number, s in enumerate(results.steps, 1) if s.name == step)
        raise ModelError(
            f'{results.where} has {len(called)} steps "{step}"',
            key="step",
            value=step,
            remedy=f"give a number, {numbers}",
        )
    found = called[0] if called else None
    if found is None and step.isdecimal() and 1 <= int(step) <= len(results.steps):
        found = results.steps[int(step) - 1]
    if found is None:
        names = ", ".join(f'"{s.name}"' for s in results.steps)
        raise ModelError(f'{results.where} has no step "{step}"', key="step", value=step, remedy=f"there are {names}")
    if found not in usable:
        raise ModelError(
            f'step "{found.name}" ({found.type}) of {results.where} has no displacements of a state', key="step",
            value=step, remedy=f"name one of {kinds} that has ended",
        )  # fmt: skip
    return found


def read_global_temperature(path: str | Path, step: str | int = "") -> GlobalMotion:
    """Return the temperatures at the end of a step in a results file of CalculiX, in place of displacements (1, n, 1).

    Raises:
        ModelError: other results, which hold no temperatures; no such step.
        MeshError: the file cannot be read.
    """
    if Path(path).is_dir():
        raise ModelError(f"{path} holds no temperatures", remedy="give a results file of CalculiX (.frd)")
    return _of_frd(Path(path), str(step), "NDTEMP", 1)


def _of_frd(path: Path, step: str, quantity: str = "DISP", components: int = 3) -> GlobalMotion:
    """Return values at the end of a step, as CalculiX takes them."""
    file = read_frd(path, quantity)
    usable = [s for s in file.sets if s.kind != "frequency" and s.values.shape[1] == components]
    known = ", ".join(dict.fromkeys(str(s.step) for s in usable)) or "none"
    if step:
        usable = [s for s in usable if str(s.step) == step]
    if not usable:
        raise ModelError(
            f"{path.name} has no values {quantity} of {f'step {step}' if step else 'a state'}", key="step", value=step,
            remedy=f"steps with such values: {known}",
        )  # fmt: skip
    last = usable[-1]
    cells = [(kind, table) for kind, table, _ in file.cells if shapes.dimension(kind) > 1]
    numbers = [ids for kind, _, ids in file.cells if shapes.dimension(kind) > 1]
    if not cells:
        raise ModelError(f"{path.name} has no solid or shell elements", remedy="give another file")
    good = np.isfinite(last.values).all(axis=1)
    whole = [good[table].all(axis=1) for _, table in cells]  # values may be of a set of nodes
    cells = [(kind, table[k]) for (kind, table), k in zip(cells, whole, strict=True) if k.any()]
    if not cells:
        raise ModelError(f"{path.name} has {quantity} at all nodes of no element",
                         remedy="write them for all nodes of some elements")  # fmt: skip
    return GlobalMotion(
        f"step {last.step} of {path.name}", file.x, cells, np.array([last.value]), last.values[None],
        numbers=[n[k] for n, k in zip(numbers, whole, strict=True) if k.any()],
    )  # fmt: skip
