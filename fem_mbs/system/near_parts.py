"""Parts of lines and faces that are near each other: tubes and tubes, tubes and balls, triangles and balls.

A k-d tree over points of the parts finds them (J.L. Bentley, Commun. ACM 18 (1975), 509-517), so the work grows with
the number of parts, not of pairs.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.late import dataclass
from fem_mbs.solvers.distinct import distinct
from fem_mbs.system.pairing import Pairing

__all__ = ["FacePairing", "TubePairing"]

#: Movement of a foot beside a triangle, or of its height, over that of the nodes.
_TILT = 2.5
_BLEND = (
    0.1,
    0.5,
)  # sine of the angle times length over reach, between which the contact of lines becomes one of points


@dataclass(eq=False, kw_only=True)
class TubePairing(Pairing):
    """Tubes with tubes or balls; nodes (n, 2), of a ball the same twice.

    Attributes:
        length_a, length_b: (n,) [m] at the start; 0 of balls.
        ends_a, ends_b: (n, 2) widths over the length in which a part takes turns with its neighbours, 0: free end.
        share_a, share_b: (n,) weight of each node in the contact of lines.
        plane: the model is plane, where axes that are not parallel always cross: lines touch by their nodes.
        same: both sets are the same; each pair counts once.
        line, along, around: then (n,) number of the line of a part, where its middle is along the line [m], and the
            length of a line that is closed, else infinite: parts of a line with less than ``apart`` [m] of it between
            them are no pair.
        radii: [m] of the tubes of both sets, if there is friction; None: no friction.
        turns_a, turns_b: (n,) bool, whether the nodes of a part have rotations, so that friction gives moments on it.
    """

    length_a: np.ndarray
    length_b: np.ndarray
    ends_a: np.ndarray
    ends_b: np.ndarray
    share_a: np.ndarray
    share_b: np.ndarray
    plane: bool
    same: bool = False
    apart: float = 0.0
    line: np.ndarray | None = None
    along: np.ndarray | None = None
    around: np.ndarray | None = None
    radii: tuple[float, float] | None = None
    turns_a: np.ndarray | None = None
    turns_b: np.ndarray | None = None

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        shape = (self.length_a, self.length_b, self.ends_a, self.ends_b, self.share_a, self.share_b)
        return *super().arrays, *shape, np.array([self.apart])

    def pairs(self, x: np.ndarray, y: np.ndarray, margin: float) -> np.ndarray:
        from scipy.spatial import cKDTree

        beyond = max(
            float((self.ends_a * self.length_a[:, None]).max(initial=0.0)),
            float((self.ends_b * self.length_b[:, None]).max(initial=0.0)),
        )
        reach = self.reach + beyond + 2.0 * margin
        lengths = [np.linalg.norm(p[:, 1] - p[:, 0], axis=1) for p in (x, y)]
        spacing = max(reach, float(np.median(np.concatenate(lengths))))
        (first, of_a), (last, of_b) = (_points(p, s, spacing) for p, s in zip((x, y), lengths, strict=True))
        tree = cKDTree(first)
        distance = reach + spacing  # each point is at most half a spacing from all of its piece
        if self.same:
            found = tree.query_pairs(distance, output_type="ndarray")
            i, j = of_a[found[:, 0]], of_a[found[:, 1]]
            i, j = np.minimum(i, j), np.maximum(i, j)
        else:
            near = tree.sparse_distance_matrix(cKDTree(last), distance, output_type="ndarray")
            i, j = of_a[near["i"]], of_b[near["j"]]
        i, j = np.divmod(distinct(i.astype(np.int64) * len(y) + j), len(y))
        pairs = np.column_stack((i, j))
        pairs = pairs[self.distinct(pairs)]
        return pairs[_distances(x[pairs[:, 0]], y[pairs[:, 1]]) <= reach]

    def distinct(self, pairs: np.ndarray) -> np.ndarray:
        i, j = pairs.T
        keep = super().distinct(pairs)
        if self.same:
            keep &= i < j
        if self.line is not None and self.along is not None and self.around is not None:
            way = np.abs(self.along[i] - self.along[j])
            way = np.minimum(way, self.around[i] - way) - 0.5 * (self.length_a[i] + self.length_b[j])
            keep &= (self.line[i] != self.line[j]) | (way > self.apart)
        return keep

    def gaps(self, x: np.ndarray, y: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        return _distances(x[pairs[:, 0]], y[pairs[:, 1]]) - self.reach

    def columns(self, pairs: np.ndarray) -> dict[str, np.ndarray]:
        i, j = pairs.T
        longest = np.maximum(self.length_a[i], self.length_b[j])
        sines = [np.minimum(w * self.reach / longest, 0.5 + w) ** 2 for w in _BLEND]
        if self.plane:
            sines = [np.full(len(i), 2.0), np.full(len(i), 3.0)]
        ends = {
            f"end {side}{k + 1}": of[:, k]
            for side, of in (("a", self.ends_a[i]), ("b", self.ends_b[j]))
            for k in (0, 1)
        }
        shares = {"share a": self.share_a[i], "share b": self.share_b[j]}
        columns = ends | shares | {"lower sine": sines[0], "upper sine": sines[1]}
        if self.radii is not None and self.turns_a is not None and self.turns_b is not None:
            a, b = self.turns_a[i], self.turns_b[j]
            arm = np.where(a & b, self.radii[0] / self.reach, a.astype(float))
            columns |= {"arm a": arm, "arm b": 1.0 - arm}
        return columns


@dataclass(eq=False, kw_only=True)
class FacePairing(Pairing):
    """Triangles (n, 3) with balls (n, 1), or with places of lines (n, 2).

    Attributes:
        at: (n,) place of a line from 0 to 1 between its nodes; None: balls.
        stiffness: (n,) of the places, which stand for different lengths.
        widths: (n, 3) beyond the edge opposite to each corner, over the height there, in which a triangle takes turns
            with its neighbour.
        heights: (n, 3) of the corners above the opposite edges at the start [m].
        corners: (n, 3) 4/k - 1 of corners where k triangles meet.
    """

    widths: np.ndarray
    heights: np.ndarray
    corners: np.ndarray
    at: np.ndarray | None = None
    stiffness: np.ndarray | None = None

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        more = () if self.at is None or self.stiffness is None else (self.at, self.stiffness)
        return *super().arrays, self.widths, self.corners, *more

    def centres(self, y: np.ndarray) -> np.ndarray:
        """Return the centres (n, 1, 3) of what touches, from the places of their nodes."""
        if self.at is None:
            return y
        z = self.at[:, None]
        return ((1.0 - z) * y[:, 0] + z * y[:, 1])[:, None]

    def pairs(self, x: np.ndarray, y: np.ndarray, margin: float) -> np.ndarray:
        y = self.centres(y)
        # all that is in a triangle, or beyond it where it still touches, is no farther from its middle than this
        from scipy.spatial import cKDTree

        longest = np.linalg.norm(np.roll(x, -1, axis=1) - x, axis=2).max(axis=1)
        found = cKDTree(y[:, 0]).query_ball_point(
            x.mean(axis=1), longest + self.reach + 2.0 * margin, return_sorted=True
        )
        i = np.repeat(np.arange(len(x)), [len(near) for near in found])
        j = np.concatenate([np.empty(0, np.int64), *[np.asarray(near, np.int64) for near in found]])
        pairs = np.column_stack((i, j))
        pairs = pairs[self.distinct(pairs)]
        # the plane of a triangle turns with its corners, so what is beyond an edge moves by more than them
        height, inside = _above(x, y, pairs)
        touches = height <= self.reach + _TILT * margin
        for k in range(3):
            touches &= inside[:, k] >= -(self.widths[pairs[:, 0], k] * self.heights[pairs[:, 0], k] + _TILT * margin)
        return pairs[touches]

    def gaps(self, x: np.ndarray, y: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """Return the gaps (m,) [m] of balls above triangles; infinite of the others."""
        height, inside = _above(x, self.centres(y), pairs)
        return np.where((inside >= 0.0).all(axis=1), height - self.reach, np.inf)

    def columns(self, pairs: np.ndarray) -> dict[str, np.ndarray]:
        i, j = pairs.T
        line = {} if self.at is None or self.stiffness is None else {
            "place": self.at[j], "stiffness": self.stiffness[j]
        }  # fmt: skip
        widths = {f"width {k + 1}": self.widths[i, k] for k in range(3)}
        return line | widths | {f"corner {k + 1}": self.corners[i, k] for k in range(3)}


def _above(x: np.ndarray, y: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances (m,) of points y (n, 1, 3) from the planes of triangles x (t, 3, 3), and those (m, 3) of
    their feet from the edges opposite to the corners, positive inside."""
    corner = x[pairs[:, 0]]
    u, v, w = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0], y[pairs[:, 1], 0] - corner[:, 0]
    normal = np.cross(u, v)
    size = np.einsum("ni,ni->n", normal, normal)
    second, third = (np.einsum("ni,ni->n", normal, np.cross(*of)) / size for of in ((w, v), (u, w)))
    height = np.abs(np.einsum("ni,ni->n", normal, w)) / np.sqrt(size)
    edges = np.stack([np.linalg.norm(edge, axis=1) for edge in (v - u, v, u)], axis=1)
    inside = np.column_stack((1.0 - second - third, second, third)) * np.sqrt(size)[:, None] / edges
    return height, inside


def _points(x: np.ndarray, lengths: np.ndarray, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points along segments x (n, 2, dim), the middles of pieces no longer than ``spacing``, and their
    segments."""
    pieces = np.maximum(np.ceil(lengths / spacing).astype(np.int64), 1)
    of = np.repeat(np.arange(len(x)), pieces)
    number = np.arange(len(of)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    t = ((number + 0.5) / pieces[of])[:, None]
    return (1.0 - t) * x[of, 0] + t * x[of, 1], of


def _distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the distances (n,) of segments x, y (n, 2, dim), also of points (both ends alike).

    Source: C. Ericson, Real-Time Collision Detection, Morgan Kaufmann 2005, section 5.1.9.
    """
    u, v, w = x[:, 1] - x[:, 0], y[:, 1] - y[:, 0], y[:, 0] - x[:, 0]
    uu, vv, uv, uw, vw = (np.einsum("ni,ni->n", p, q) for p, q in ((u, u), (v, v), (u, v), (u, w), (v, w)))
    one, two = np.where(uu > 0.0, uu, 1.0), np.where(vv > 0.0, vv, 1.0)
    D = uu * vv - uv * uv
    slant = 1e-12 * uu * vv < D
    s = np.where(slant, np.clip((vv * uw - uv * vw) / np.where(slant, D, 1.0), 0.0, 1.0), 0.0)
    t = np.clip((s * uv - vw) / two, 0.0, 1.0)
    s = np.clip((uw + t * uv) / one, 0.0, 1.0)
    return np.linalg.norm(w + t[:, None] * v - s[:, None] * u, axis=1)
