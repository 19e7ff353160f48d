"""Lines of contact: beams, trusses and cables as tubes, their places against a surface, and pairs of their parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.system.near_parts import TubePairing
from fem_mbs.system.pairing import Pairing
from fem_mbs.units import unit_of

__all__ = [
    "MARGIN",
    "Line",
    "Places",
    "ball_pairing",
    "line_of",
    "names_of",
    "places_on",
    "spaced_places",
    "start_overlaps",
    "tube_pairing",
]

#: Most pieces of an element whose ends touch a surface as places of a line.
_MOST_PLACES = 64
#: Part of the shorter of two neighbours in which one takes turns with the other on either side of their node; not more
#: than the reach.
_TURN = 0.25
#: Parts of a line count as neighbours up to this distance along it, over the reach of the contact.
_NEIGHBOURS = 2.0
#: Movement until pairs are found anew, over the reach, and over half the median length of the parts.
MARGIN = 0.5


@dataclass(frozen=True)
class Line:
    """Parts (n, 2), nodes of elements that form lines, and their lengths (n,) [m]."""

    nodes: np.ndarray
    length: np.ndarray


@dataclass(frozen=True)
class Places:
    """Places of lines that touch a surface: both nodes (n, 2), ``at`` (n,) from 0 to 1 between them, and the length of
    the line (n,) that each stands for [m]."""

    nodes: np.ndarray
    at: np.ndarray
    share: np.ndarray


def line_of(building: Building, owner: Owner, key: str, given: Any) -> Line:
    """Return the parts of groups of beams, trusses or cables, or of line cells of a mesh.

    Raises:
        ModelError: there is none of this name, or it is of something else than lines.
    """
    found = []
    for name in given if isinstance(given, (list, tuple)) else [given]:
        if name in building.groups:
            nodes = building.groups[name]
            if np.ndim(nodes) != 2 or nodes.shape[1] != 2:
                raise ModelError(
                    f'{key} = "{name}" is no line', owner=owner, key=key, value=name,
                    remedy="name groups of beams, trusses or cables",
                )  # fmt: skip
            found.append(nodes)
        elif str(name).partition(":")[0] in building.meshes:
            found.append(building.line_cells(owner, name))
        else:
            known = ", ".join(f'"{k}"' for k, v in building.groups.items() if v.shape[1:] == (2,)) or "none"
            raise ModelError(
                f'{key} = "{name}" is no group of beams, trusses or cables', owner=owner, key=key, value=name,
                remedy=f"there are {known}",
            )  # fmt: skip
    nodes = np.concatenate(found) if found else np.zeros((0, 2), np.int64)
    nodes = np.unique(np.sort(nodes, axis=1), axis=0)
    if not len(nodes):
        raise ModelError(f"{key} names no elements", owner=owner, key=key, value=given, remedy="name a line")
    x = building.positions[nodes]
    return Line(nodes, np.linalg.norm(x[:, 1] - x[:, 0], axis=1))


def places_on(line: Line, spacing: float) -> Places:
    """Return places of a line, its nodes among them, no more than ``spacing`` [m] apart along it."""
    pieces = np.maximum(np.ceil(line.length / spacing * (1.0 - 1e-9)).astype(np.int64), 1)
    step = line.length / pieces
    of = np.repeat(np.arange(len(pieces)), pieces - 1)
    number = np.arange(len(of)) - np.repeat(np.cumsum(pieces - 1) - (pieces - 1), pieces - 1)
    used, first = np.unique(line.nodes.ravel(), return_index=True)
    share = np.bincount(np.searchsorted(used, line.nodes.ravel()), np.repeat(0.5 * step, 2))
    return Places(
        np.concatenate((line.nodes[first // 2], line.nodes[of])),
        np.concatenate((first % 2, (number + 1.0) / pieces[of])),
        np.concatenate((share, step[of])),
    )


def spaced_places(said: Any, owner: Owner, line: Line, spacing: float) -> Places:
    """Return `places_on`, for the declaration of a contact.

    Raises:
        ModelError: an element has too many.
    """
    longest = float(line.length.max())
    if longest / spacing > _MOST_PLACES:
        raise ModelError(
            f"an element of {longest:g} {unit_of('m')} has more than {_MOST_PLACES} places that are {spacing:g} "
            f"{unit_of('m')} apart",
            owner=owner, key="spacing", value=said.spacing, remedy="give a larger spacing, or shorter elements",
        )  # fmt: skip
    return places_on(line, spacing)


def _ends(line: Line, reach: float) -> np.ndarray:
    """Return the widths (n, 2), over the lengths, in which parts take turns at their nodes; 0 where no other part of
    the line, or more than one, ends."""
    flat = line.nodes.ravel()
    used, which = np.unique(flat, return_inverse=True)
    shortest = np.full(len(used), np.inf)
    np.minimum.at(shortest, which, np.repeat(line.length, 2))
    width = np.minimum(_TURN * shortest, reach)
    width[np.bincount(which) != 2] = 0.0
    return width[which].reshape(-1, 2) / line.length[:, None]


def _ways(line: Line) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return number of the line of each part, where its middle is along it [m], and the length around closed ones.

    Lines that branch have no such places: all their parts count as one place.
    """
    used, which = np.unique(line.nodes.ravel(), return_inverse=True)
    which = which.reshape(-1, 2)
    n = len(used)
    graph = coo_matrix((np.ones(len(which)), (which[:, 0], which[:, 1])), shape=(n, n))
    _, part = connected_components(graph, directed=False)
    degree = np.bincount(which.ravel(), minlength=n)
    of = part[which[:, 0]]
    way, around = np.zeros(len(which)), np.full(len(which), np.inf)
    graph = (graph + graph.T).tocsr()
    number = {tuple(sorted(pair)): k for k, pair in enumerate(which.tolist())}
    for k in range(part.max() + 1):
        nodes = np.flatnonzero(part == k)
        if degree[nodes].max() > 2:
            continue
        tips = nodes[degree[nodes] == 1]
        if not len(tips):
            around[of == k] = line.length[of == k].sum()
        at, before, here = 0.0, -1, int(tips[0] if len(tips) else nodes[0])
        for _ in range(int((of == k).sum())):
            other = [int(j) for j in graph.indices[graph.indptr[here] : graph.indptr[here + 1]] if j != before]
            e = number[tuple(sorted((here, other[0])))]
            way[e] = at + 0.5 * line.length[e]
            at, before, here = at + line.length[e], here, other[0]
    return of, way, around


def _tubes(
    building: Building, owner: Owner, a: Line, b: Line, radii: tuple[float, float], margin: float | None, **more: Any
) -> TubePairing:
    reach = sum(radii)
    lengths = np.concatenate((a.length, b.length[b.length > 0.0]))
    usual = max(MARGIN * reach, 0.5 * MARGIN * float(np.median(lengths)))
    return TubePairing(
        owner=owner, a=a.nodes, b=b.nodes, reach=reach, margin=usual if margin is None else margin, length_a=a.length,
        length_b=b.length, ends_a=_ends(a, reach), plane=building.dimension == 2, **more,
    )  # fmt: skip


def tube_pairing(
    building: Building, owner: Owner, a: Line, b: Line, radii: tuple[float, float], margin: float | None
) -> TubePairing:
    """Return the pairing of two lines of tubes with their radii [m], or of a line with itself."""
    same = np.array_equal(a.nodes, b.nodes)
    reach = sum(radii)
    line, along, around = _ways(a) if same else (None, None, None)
    # each node of a part stands for half of it, and both parts of a pair for half of the contact
    return _tubes(
        building, owner, a, b, radii, margin, ends_b=_ends(b, reach), share_a=0.25 * a.length / reach,
        share_b=0.25 * b.length / reach, same=same, apart=_NEIGHBOURS * reach, line=line, along=along, around=around,
    )  # fmt: skip


def ball_pairing(
    building: Building, owner: Owner, a: Line, balls: np.ndarray, radii: tuple[float, float], margin: float | None
) -> TubePairing:
    """Return the pairing of a line of tubes with balls at nodes (n,)."""
    n = len(balls)
    b = Line(np.column_stack((balls, balls)), np.zeros(n))
    return _tubes(
        building, owner, a, b, radii, margin, ends_b=np.zeros((n, 2)), share_a=np.zeros(len(a.nodes)),
        share_b=np.ones(n),
    )  # fmt: skip


def start_overlaps(building: Building, pairing: Pairing) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs (m, 2) of parts that are near each other at the start, and their gaps (m,) [m]."""
    x = building.positions
    one, two = x[pairing.a], x[pairing.b]
    pairs = pairing.pairs(one, two, 0.0)
    return pairs, pairing.gaps(one, two, pairs)


def names_of(building: Building, nodes: Iterable[int]) -> str:
    """Return the nodes of a part, for messages."""
    return " to ".join(dict.fromkeys(f'"{building.node_name(int(k))}"' for k in nodes))
