"""Read shapes from results: modes, buckling shapes and complex modes, and the state that they oscillate about; and the
whole wheel of which a sector holds the shapes.

Frames of modes and buckling shapes hold displacements from the start, the state's included.  Those of complex modes
hold a real and an imaginary part, small motions Re(u exp(i phi)) about the state, which has columns of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fem_mbs.declarations.steps import recorded_kind
from fem_mbs.errors import ResultsError
from fem_mbs.results.named_steps import step_named
from fem_mbs.results.reader import Results, Step

__all__ = [
    "amplitudes", "has_shapes", "is_complex", "largest_excursion", "largest_phase", "read_shape", "shape_of",
    "state_of_shapes", "whole_wheel",
]  # fmt: skip

#: Distance over the size of results below which two nodes stand at one place.
_AT_ONE_PLACE = 1e-6
#: Places of the components xx, yy, zz, xy, yz, zx of tensors.
_TENSOR = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))


def has_shapes(step: Any) -> bool:
    """Return whether the frames of a step are shapes; those of vibrations have their own size, others none."""
    return bool(recorded_kind(step.type).shapes)


def is_complex(step: Any) -> bool:
    """Return whether the shapes of a step have an imaginary part."""
    return "displacement imaginary" in step.frames


def state_of_shapes(results: Any, step: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return displacements and rotation vectors (n_nodes, 3) of the state of the shapes; None: the start.

    Complex modes store it.  Modes are about the state after the preceding nonlinear steps (linear steps leave the state
    unchanged).
    """
    if "state displacement" in step.frames:
        u = np.asarray(step.frames["state displacement"][0], float)
        has = "state rotation" in step.frames
        return u, np.asarray(step.frames["state rotation"][0], float) if has else np.zeros_like(u)
    before = [s for s in results.steps[: step.number] if not has_shapes(s) and "displacement" in s.frames]
    nonlinear = [s for s in before if not s.linear and len(s.frame_times)]
    if is_complex(step) or not nonlinear:
        return None
    u = np.asarray(nonlinear[-1].frames["displacement"][-1], float)
    has = "rotation" in nonlinear[-1].frames
    return u, np.asarray(nonlinear[-1].frames["rotation"][-1], float) if has else np.zeros_like(u)


def largest_excursion(shapes: np.ndarray) -> np.ndarray:
    """Return the largest |Re(u exp(i phi))| over the phase, for complex vectors u (..., 3): the major semi-axis of the
    elliptic orbit of a node."""
    square = np.sum(np.abs(shapes) ** 2, axis=-1)
    return np.sqrt((square + np.abs(np.sum(shapes * shapes, axis=-1))) / 2.0)


def largest_phase(step: Any, frame: int) -> float:
    """Return the phase phi [rad] in which Re(u exp(i phi)) of a complex shape is largest, by the sum of squares."""
    real, imaginary = (
        np.asarray(step.frames[name][frame], float) for name in ("displacement", "displacement imaginary")
    )
    return -0.5 * float(np.angle(np.sum((real + 1j * imaginary) ** 2)))


def amplitudes(results: Any, step: Any, frame: int) -> np.ndarray:
    """Return the displacement amplitudes of the nodes in a shape (n_nodes,), in the stored scale."""
    u = np.asarray(step.frames["displacement"][frame], float)
    if is_complex(step):
        return largest_excursion(u + 1j * np.asarray(step.frames["displacement imaginary"][frame], float))
    state = state_of_shapes(results, step)
    return np.linalg.norm(u if state is None else u - state[0], axis=1)


# --- shapes for other models ---------------------------------------------------------------------------------------
def shape_of(results: Any, step: str | int, number: int) -> np.ndarray:
    """Return displacements (n, 3) of a shape, or of the last state of a step; of shapes the largest component is 1.

    Args:
        results: a `Results` or a solution in memory.
        step: name, or number from 1.
        number: of the shape, from 1; of a step that has states 0 for the last one.

    Raises:
        ResultsError: there is no such step or shape, or several steps have this name.
    """
    if isinstance(step, str):
        chosen = step_named(results.where, results.steps, step, first=1)
    else:
        chosen = results.steps[step - 1] if 1 <= step <= len(results.steps) else None
    if chosen is None:
        known = ", ".join(f'"{s.name}"' for s in results.steps)
        raise ResultsError(f"{results.where}: there is no step {step}; there are {known}")
    frames = np.asarray(chosen.frames["displacement"])
    if not 0 <= number <= len(frames) or not len(frames):
        raise ResultsError(
            f'{results.where}: step "{chosen.name}" has no shape {number}; there are {len(frames)}'
        )  # fmt: skip
    u = np.array(frames[number - 1], float)
    if number == 0:
        return u
    state = state_of_shapes(results, chosen)
    if state is not None:
        u -= state[0]
    largest = u.ravel()[np.abs(u).argmax()]
    if largest == 0.0:
        raise ResultsError(f'{results.where}: shape {number} of step "{chosen.name}" moves no node')
    return u / largest


def read_shape(folder: str, step: str | int, number: int, x: np.ndarray) -> np.ndarray:
    """Return the displacements (m, 3) that a shape of a results folder has at places x (m, 2 or 3).

    Raises:
        ResultsError: the folder has no such step or shape, or no node at a place.
    """
    from scipy.spatial import cKDTree  # here, so that the look of results stays fast

    results = Results.open(folder)
    u = shape_of(results, step, number)
    known = np.asarray(results.header["nodes"], float)
    places = np.zeros((len(x), 3))
    places[:, : x.shape[1]] = x
    size = float(np.ptp(known, axis=0).max()) or 1.0
    far, at = cKDTree(known).query(places)
    if (far > _AT_ONE_PLACE * size).any():
        worst = int(far.argmax())
        raise ResultsError(
            f"{results.where}: no node stands at {places[worst].tolist()} (the next one is {far[worst]:.3g} away); the "
            "mesh must be that of the results"
        )  # fmt: skip
    return u[at]


# --- whole wheels of a sector ----------------------------------------------------------------------------------------
class WholeColumn:
    """One quantity of the frames of all sectors; indexing reads the frames that are asked for, as `Column` does.

    ``turn`` (frame, values (..., s, n, k) of s copies) gives the values of all sectors.
    """

    def __init__(self, column: Any, count: int, turn: Callable[[int, np.ndarray], np.ndarray]) -> None:
        self._column, self._turn = column, turn
        rows, entries = column.shape[:2]
        self.shape: tuple[int, ...] = (rows, count * entries, *column.shape[2:])
        self.dtype = np.dtype(float)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[row] for row in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype=dtype)

    def __getitem__(self, key: Any) -> Any:
        first, rest = (key[0], key[1:]) if isinstance(key, tuple) else (key, ())
        frames = np.arange(len(self))[first]
        if np.ndim(frames) == 0:
            return self._turn(int(frames), np.asarray(self._column[int(frames)], float))[rest]
        values = [self._turn(f, np.asarray(self._column[f], float)) for f in frames.tolist()]
        data = np.stack(values) if values else np.empty((0, *self.shape[1:]))
        return data[(slice(None), *rest)]


class WholeStep(Step):
    """A step of a sector over all sectors of the wheel; series are those of the sector."""

    def __init__(self, step: Step, frames: Mapping[str, Any]) -> None:
        self.number, self.name, self.type = step.number, step.name, step.type
        self.info, self.ended, self.summary = step.info, step.ended, step.summary
        self.series, self.frames = step.series, frames


class WholeResults(Results):
    """Results of a sector over all sectors of its wheel; see `whole_wheel`."""

    def __init__(self, results: Results, header: dict[str, Any], steps: Sequence[Step]) -> None:
        self.header, self.steps = header, steps
        self.status, self.summary, self.directory = results.status, results.summary, results.directory
        self.restart_points = []
        self.take = results.take  # type: ignore[method-assign]


def whole_wheel(results: Results) -> Results:
    """Return the results of a sector over the whole wheel that it stands for (`cyclic_symmetry`).

    Sector j is the sector of the model, turned by j sectors: nodes (s n, 3) and cells of the sectors follow each other.
    Vectors and tensors turn with it; shapes of the nodal diameter n are multiplied by exp(i n j 2 pi/s).  Values of
    elements in axes of their own stay.  Nodes of faces that meet are there twice.  Names of nodes, bodies, supports and
    sensors are those of the first sector.

    Raises:
        ResultsError: the model has no cyclic symmetry.
    """
    wheel = results.header.get("cyclic")
    if not wheel:
        raise ResultsError(f"{results.where}: the model has no cyclic symmetry, so it is no sector of a wheel")
    count, n = int(wheel["sectors"]), len(results.header["nodes"])
    axis, point = np.asarray(wheel["axis"], float), np.asarray(wheel["point"], float)
    angles = 2.0 * np.pi * np.arange(count) / count
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))
    R = np.eye(3) + np.sin(angles)[:, None, None] * cross + (1.0 - np.cos(angles))[:, None, None] * (cross @ cross)
    nodes = point + np.einsum("sij,nj->sni", R, np.asarray(results.header["nodes"], float) - point)
    blocks = []
    for block in results.header["blocks"]:
        cells = np.asarray(block["connectivity"])
        every = cells + n * np.arange(count)[:, None, None]
        blocks.append({**block, "connectivity": every.reshape(-1, cells.shape[1])})
    header = {**results.header, "nodes": nodes.reshape(-1, 3), "blocks": blocks}
    return WholeResults(results, header, [WholeStep(step, _whole_frames(results, step, R)) for step in results.steps])


def _whole_frames(results: Results, step: Step, R: np.ndarray) -> dict[str, Any]:
    """Return the frames of a step over all sectors, whose rotations are R (s, 3, 3)."""
    count, n = len(R), len(results.header["nodes"])
    tensors = {field["name"] for field in results.header["fields"] if len(field["components"]) == len(_TENSOR)}
    waves = step.series.get("nodal diameter")
    phases = 2.0 * np.pi * np.arange(count) / count
    frames: dict[str, Any] = {}

    def vectors(values: np.ndarray) -> np.ndarray:
        return np.einsum("sij,snj->sni", R, values).reshape(-1, 3)

    def tensor(values: np.ndarray) -> np.ndarray:
        T = np.empty((*values.shape[:-1], 3, 3))
        for k, (i, j) in enumerate(_TENSOR):
            T[..., i, j] = T[..., j, i] = values[..., k]
        T = np.einsum("sij,snjk,slk->snil", R, T, R)
        return np.stack([T[..., i, j] for i, j in _TENSOR], axis=-1).reshape(-1, len(_TENSOR))

    def column(key: str) -> Any:
        own = step.frames[key]
        if len(own.shape) < 2:
            return own
        part = key.partition("/")[2] if key.startswith("region ") else key
        nodal = own.shape[1] == n and ("/" not in key or key.startswith("region "))
        turned = vectors if nodal and own.shape[2:] == (3,) else tensor if part in tensors else None
        imaginary = f"{key} imaginary"
        real = key.removesuffix(" imaginary")

        def turn(frame: int, values: np.ndarray) -> np.ndarray:
            copies = np.broadcast_to(values, (count, *values.shape))
            if waves is not None and turned is vectors and not key.startswith("state "):
                other = imaginary if real == key else real
                if other in step.frames:
                    w = np.exp(1j * waves[frame] * phases)[:, None, None]
                    b = np.asarray(step.frames[other][frame], float)
                    u = w * (values + 1j * b if real == key else b + 1j * values)
                    copies = u.real if real == key else u.imag
            return copies.reshape(-1, *values.shape[1:]) if turned is None else turned(copies)

        return WholeColumn(own, count, turn)

    for key in step.frames:
        frames[key] = column(key)
    return frames
