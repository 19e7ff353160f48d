"""Recover fields of the whole mesh from the coordinates of a reduced part: displacements, rotations, stresses, peaks.

Everything is linear in p but the von Mises stress, so a field over time is a product of matrices; peaks are sought in
blocks of instants, so that a long motion of a large mesh needs no more memory than a short one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.elements.solids.recovery import von_mises
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.parts.part import Recovery, ReducedPart
from fem_mbs.threads import analysis

__all__ = [
    "HotSpot",
    "Peaks",
    "displacements",
    "heated_by",
    "hot_spots",
    "need_recovery",
    "peak_stresses",
    "rotations",
    "stress_regions",
    "stresses",
    "turned",
]

_TENSOR = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))
_BLOCK = 1 << 22  # stress components at a time


@dataclass(frozen=True)
class Peaks:
    """Largest von Mises stress of every place over time: ``mises`` (N_s,) [N/m^2], and the number of the instant
    ``frame`` (N_s,) where it is reached, at the nodes ``nodes`` (N_s,) of the part."""

    nodes: np.ndarray
    mises: np.ndarray
    frame: np.ndarray


@dataclass(frozen=True)
class HotSpot:
    """A place of high stress: ``node`` and its ``name``, ``position`` (dim,) [m] in the part's own axes, ``time`` [s]
    and ``frame`` of the peak, ``mises`` and ``stress`` (6,) there [N/m^2]."""

    part: str
    node: int
    name: str
    position: np.ndarray
    time: float
    frame: int
    mises: float
    stress: np.ndarray


def need_recovery(part: ReducedPart, stress: bool = False) -> Recovery:
    """Return the recovery of the displacements and stresses of a part.

    Raises:
        ModelError: the part has none, or with ``stress`` none of stresses.
    """
    if part.recovery is None:
        raise ModelError(
            f"it holds no displacements of its nodes ({part.method})",
            owner=Owner("Part", part.name),
            remedy="reduce it from its model, with recovery",
        )
    if stress and (part.recovery.stress is None or part.recovery.stressed is None):
        raise ModelError(
            "it holds no stresses",
            owner=Owner("Part", part.name),
            remedy='reduce it with recovery = "stress" (fem-mbs reduce --stress)',
        )
    return part.recovery


def _coordinates(part: ReducedPart, p: ArrayLike) -> np.ndarray:
    p = np.atleast_2d(np.asarray(p, float))
    if p.ndim != 2 or p.shape[1] != part.size:
        raise ModelError(
            f"p has the form {p.shape}",
            owner=Owner("Part", part.name),
            remedy=f"it has {part.size} coordinates: (m, {part.size})",
        )
    return p


def displacements(part: ReducedPart, p: ArrayLike) -> np.ndarray:
    """Return displacements (m, N, dim) [m] of all nodes at coordinates p (m, n)."""
    return np.einsum("nak,mk->mna", need_recovery(part).displacement, _coordinates(part, p), optimize=True)


def rotations(part: ReducedPart, p: ArrayLike) -> np.ndarray:
    """Return small rotations (m, N_r, 1 or 3) [rad] of the nodes ``recovery.turning`` at coordinates p (m, n)."""
    return np.einsum("nak,mk->mna", need_recovery(part).rotation, _coordinates(part, p), optimize=True)


def stresses(
    part: ReducedPart, p: ArrayLike, levels: Mapping[str, ArrayLike] | None = None, increments: bool = False
) -> np.ndarray:
    """Return stresses (m, N_s, 6) [N/m^2] at the nodes ``recovery.stressed`` at coordinates p (m, n).

    Args:
        levels: (m,) factors on the loads ``recovery.heat``, by their names; heat that is not named does not act.
        increments: without those of the state in which the part was reduced.
    """
    recovery = need_recovery(part, True)
    found = np.einsum("nak,mk->mna", recovery.stress, _coordinates(part, p), optimize=True)
    for name, level in (levels or {}).items():
        found += np.reshape(level, (-1, 1, 1)) * recovery.heat[name]
    return found if increments or recovery.rest is None else found + recovery.rest


def heated_by(part: ReducedPart, heat: Mapping[str, np.ndarray]) -> ReducedPart:
    """Return a part whose stresses count other loads that are heat, (N_s, 6) [N/m^2] by name, in place of its own."""
    return part if part.recovery is None else replace(part, recovery=replace(part.recovery, heat=heat))


def stress_regions(recovery: Recovery) -> list[tuple[slice, np.ndarray]]:
    """Return rows of the stresses of a part and their nodes, by region: stresses jump where parts of its model
    touch."""
    if recovery.stressed is None or not len(recovery.stressed):
        return []
    cuts = [0, *(np.flatnonzero(np.diff(recovery.stressed) <= 0) + 1), len(recovery.stressed)]
    return [(slice(a, b), recovery.stressed[a:b]) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]


def turned(stress: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return stresses (m, N, 6) in axes R (m, dim, dim), in global ones."""
    axes = np.tile(np.eye(3), (len(R), 1, 1))
    axes[:, : R.shape[1], : R.shape[1]] = R
    T = np.empty((*stress.shape[:2], 3, 3))
    for k, (i, j) in enumerate(_TENSOR):
        T[..., i, j] = T[..., j, i] = stress[..., k]
    T = np.einsum("mai,mnij,mbj->mnab", axes, T, axes, optimize=True)
    return np.stack([T[..., i, j] for i, j in _TENSOR], axis=-1)


def _blocks(part: ReducedPart, p: np.ndarray, levels: Mapping[str, Any]) -> Iterator[tuple[int, np.ndarray]]:
    step = max(1, _BLOCK // max(1, 6 * len(need_recovery(part, True).stressed)))
    for first in range(0, len(p), step):
        some = slice(first, first + step)
        yield first, stresses(part, p[some], {name: np.asarray(level)[some] for name, level in levels.items()})


def peak_stresses(part: ReducedPart, p: ArrayLike, levels: Mapping[str, ArrayLike] | None = None) -> Peaks:
    """Return the largest von Mises stress of every node over the instants of p (m, n); ``levels`` as of `stresses`."""
    p = _coordinates(part, p)
    nodes = need_recovery(part, True).stressed
    mises, frame = np.full(len(nodes), -np.inf), np.zeros(len(nodes), np.int64)
    for first, block in _blocks(part, p, levels or {}):
        here = von_mises(block)
        at = here.argmax(axis=0)
        largest = here[at, np.arange(len(nodes))]
        better = largest > mises
        mises[better], frame[better] = largest[better], first + at[better]
    return Peaks(nodes, mises, frame)


@analysis()
def hot_spots(
    part: ReducedPart, t: ArrayLike, p: ArrayLike, count: int = 10, apart: float | None = None, name: str | None = None,
    levels: Mapping[str, ArrayLike] | None = None,
) -> list[HotSpot]:  # fmt: skip
    """Return the places of the largest von Mises stress over time, the largest first.

    Args:
        t: (m,) [s] of the instants.
        p: (m, n) coordinates.
        count: number of places at most.
        apart: least distance of two places [m], so that one peak is not named many times; None: a twentieth of the
            size of the part.
        name: what to call the part; None: its own name.
        levels: (m,) factors on loads that are heat, as of `stresses`.

    Raises:
        ModelError: the part holds no stresses, or p and t do not fit.
    """
    p, t = _coordinates(part, p), np.atleast_1d(np.asarray(t, float))
    if t.shape != (len(p),):
        raise ModelError(
            f"there are {len(p)} rows of coordinates, but times of the form {t.shape}", owner=Owner("Part", part.name)
        )
    recovery = need_recovery(part, True)
    x = recovery.x
    reach = 0.05 * float(np.linalg.norm(np.ptp(x, axis=0))) if apart is None else float(apart)
    peaks = peak_stresses(part, p, levels)
    left = peaks.mises.copy()
    found: list[Any] = []
    while len(found) < count and left.size:
        row = int(left.argmax())
        if not np.isfinite(left[row]):
            break
        node, frame = int(peaks.nodes[row]), int(peaks.frame[row])
        now = {key: np.asarray(level)[frame] for key, level in (levels or {}).items()}
        stress = stresses(part, p[frame], now)[0, row]
        found.append(
            HotSpot(
                name or part.name, node, recovery.names[node], x[node], float(t[frame]), frame, float(left[row]), stress
            )
        )
        left[np.linalg.norm(x[peaks.nodes] - x[node], axis=1) <= reach] = -np.inf
    return found
