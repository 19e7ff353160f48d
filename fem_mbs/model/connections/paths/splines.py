"""Curves as cubic splines of their arc length, from points or functions: fitting, places, crossings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

__all__ = ["Spline", "fitted", "self_crossing", "through"]

#: Distance of a spline from its curve, over the size of the curve, that is fine enough; and that nobody takes for fine.
_FINE, _COARSE = 1e-11, 1e-6
_MOST_PIECES = 4096
#: Angle [deg] between neighbouring chords above which points do not say how their curve runs.
_MOST_TURN = 60.0


@dataclass(frozen=True)
class Spline:
    """A curve by cubics of its arc length.

    Attributes:
        knots: (n + 1,) arc lengths [m] at the ends of the pieces, from 0.
        coefficients: (n, dim, 4) of 1, x, x^2, x^3, x the arc length from the start of the piece.
        closed: whether it repeats.
    """

    knots: np.ndarray
    coefficients: np.ndarray
    closed: bool

    @property
    def length(self) -> float:
        return float(self.knots[-1])

    def __call__(self, s: np.ndarray, order: int = 0) -> np.ndarray:
        """Return positions (m, dim), or derivatives, at arc lengths (m,)."""
        s = np.mod(s, self.length) if self.closed else np.asarray(s, float)
        k = np.clip(np.searchsorted(self.knots, s, side="right") - 1, 0, len(self.knots) - 2)
        c = self.coefficients[k]
        for _ in range(order):
            c = c[..., 1:] * np.arange(1, c.shape[-1])
        return np.einsum("mdj,mj->md", c, np.vander(s - self.knots[k], c.shape[-1], increasing=True))

    def moved(self, R: np.ndarray, x: np.ndarray) -> Spline:
        """Return the curve in the axes R, in columns, of a frame at x."""
        c = self.coefficients.copy()
        c[:, :, 0] -= x
        return Spline(self.knots, np.einsum("di,mdj->mij", R, c), self.closed)

    @property
    def table(self) -> np.ndarray:
        """Return the parameters of `fem_mbs.elements.paths.curve`: start and coefficients of each piece."""
        n = len(self.coefficients)
        return np.hstack((self.knots[:-1, None], self.coefficients.reshape(n, -1))).ravel()

    def samples(self, most: int = 0) -> np.ndarray:
        """Return arc lengths (m,) close enough to find places between; ``most``: about as many at most (0: any)."""
        x = np.linspace(0.0, 1.0, 5)[:-1]
        s = (self.knots[:-1, None] + np.diff(self.knots)[:, None] * x).ravel()
        s = s[:: max(1, len(s) // most)] if most else s
        return s if self.closed else np.append(s, self.length)

    def nearest(self, point: np.ndarray) -> float:
        """Return the arc length of the place nearest to a point."""
        s = self.samples()
        best = s[[np.linalg.norm(self(s) - point, axis=1).argmin()]]
        return float(self.feet(point[None], best)[0])

    def feet(self, points: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Return arc lengths (n,) of the feet of perpendiculars from points (n, dim), by Newton's rule from s (n,)."""
        for _ in range(20):
            r, d, dd = (self(s, m) for m in range(3))
            slope = (d * d).sum(axis=1) + ((r - points) * dd).sum(axis=1)
            step = ((r - points) * d).sum(axis=1) / np.where(slope > 0.1, slope, 1.0)
            s = s - step if self.closed else np.clip(s - step, 0.0, self.length)
            if np.abs(step).max() < 1e-15 * self.length:
                break
        return s

    def curvature(self, s: np.ndarray) -> np.ndarray:
        """Return the curvature (m,) of a plane curve, positive where it bends to the left."""
        d, dd = self(s, 1), self(s, 2)
        return (d[:, 0] * dd[:, 1] - d[:, 1] * dd[:, 0]) / np.linalg.norm(d, axis=1) ** 3


def _spline(s: np.ndarray, x: np.ndarray, closed: bool) -> CubicSpline:
    from scipy.interpolate import CubicSpline

    if closed:
        x = np.vstack((x[:-1], x[:1]))
        return CubicSpline(s, x, bc_type="periodic")
    return CubicSpline(s, x, bc_type="not-a-knot")


def _by_arc_length(x: np.ndarray, closed: bool) -> CubicSpline:
    """Return the spline through points (n, dim) over its own arc length, to fourth order of the spacing."""
    s = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))))
    at, weights = np.polynomial.legendre.leggauss(5)
    for _ in range(6):
        c = _spline(s, x, closed)
        h = np.diff(s)
        places = s[:-1, None] + h[:, None] * 0.5 * (1.0 + at)
        speed = np.linalg.norm(c(places, 1), axis=2)
        s = np.concatenate(([0.0], np.cumsum(0.5 * h * (speed @ weights))))
    return _spline(s, x, closed)


def _as_spline(c: CubicSpline, closed: bool) -> Spline:
    return Spline(c.x.copy(), np.ascontiguousarray(c.c[::-1].transpose(1, 2, 0)), closed)


def fitted(
    owner: Owner, place: Callable[[np.ndarray], np.ndarray], breaks: np.ndarray, closed: bool, what: str = "curve"
) -> Spline:
    """Return the spline of a curve that is given by a parameter, refined until it lies on the curve.

    Args:
        owner: of messages.
        place: positions (n, dim) at values (n,) of the parameter.
        breaks: values of the parameter (m,), its ends and where the curve's third derivative may jump; the spline
            has knots there.
        closed: whether the end is the start.
        what: how messages call it.

    Raises:
        ModelError: it has a kink, or stands still.
    """
    pieces = max(1, -(-16 // (len(breaks) - 1)))
    spline, x, gap = None, np.empty(0), np.inf
    while True:
        p = np.concatenate(
            [
                *(a + (b - a) * np.arange(pieces) / pieces for a, b in zip(breaks[:-1], breaks[1:], strict=True)),
                breaks[-1:],
            ]
        )
        x = place(p)
        steps = np.linalg.norm(np.diff(x, axis=0), axis=1)
        size = float(np.ptp(x, axis=0).max())
        if steps.min() <= 1e-12 * size:
            k = int(steps.argmin())
            raise ModelError(f"{what} stands still at {_at(x[k])}", owner=owner, remedy="give points that differ")
        finer = _as_spline(_by_arc_length(x, closed), closed)
        if spline is not None:
            new = x[1::2]
            s = spline.feet(new, finer.knots[1::2] * spline.length / finer.length)
            off = np.linalg.norm(spline(s) - new, axis=1)
            gap = float(off.max()) / size
            if gap <= _FINE or 2 * len(p) > _MOST_PIECES:
                if gap > _COARSE:
                    raise ModelError(
                        f"{what} has a kink near {_at(new[int(off.argmax())])}", owner=owner,
                        remedy="round it, or end the curve there",
                    )  # fmt: skip
                return finer
        spline, pieces = finer, 2 * pieces


def through(owner: Owner, points: np.ndarray, closed: bool) -> Spline:
    """Return the smooth curve through points (n, dim): a cubic spline, a straight line through two.

    Raises:
        ModelError: two neighbours coincide, or the points turn too sharply to say how the curve runs.
    """
    if closed and np.linalg.norm(points[-1] - points[0]) > 1e-9 * np.ptp(points, axis=0).max():
        points = np.vstack((points, points[:1]))
    chords = np.diff(points, axis=0)
    lengths = np.linalg.norm(chords, axis=1)
    if len(lengths) == 0 or (lengths <= 1e-12 * max(float(np.ptp(points, axis=0).max()), 1e-300)).any():
        k = int(lengths.argmin()) if len(lengths) else 0
        raise ModelError(f"points {k + 1} and {k + 2} coincide", owner=owner, key="points", remedy="remove one")
    directions = chords / lengths[:, None]
    after = np.roll(directions, -1, axis=0) if closed else directions[1:]
    turns = np.degrees(np.arccos(np.clip((directions[: len(after)] * after).sum(axis=1), -1.0, 1.0)))
    if len(turns) and turns.max() > _MOST_TURN:
        k = int(turns.argmax()) + 1
        raise ModelError(
            f"it turns by {turns.max():.0f} degrees at its point {k % len(chords) + 1 if closed else k + 1}, "
            f"{_at(points[k % len(points)])}",
            owner=owner, key="points",
            remedy=f"give points not more than {_MOST_TURN:.0f} degrees apart; a curve with a kink cannot be followed",
        )  # fmt: skip
    if len(points) == 2:
        c = np.zeros((1, points.shape[1], 4))
        c[0, :, 0], c[0, :, 1] = points[0], directions[0]
        return Spline(np.array([0.0, lengths[0]]), c, False)
    s = np.concatenate(([0.0], np.cumsum(lengths)))
    return fitted(owner, _spline(s, points, closed), s, closed)


def _at(x: np.ndarray) -> str:
    return f"({', '.join(f'{v:g}' for v in x)})"


def self_crossing(spline: Spline) -> np.ndarray | None:
    """Return a point where a plane curve crosses itself; None: nowhere."""
    s = spline.samples(400)
    x = spline(np.append(s, spline.length))
    a, d = x[:-1], np.diff(x, axis=0)
    cross = d[:, None, 0] * d[None, :, 1] - d[:, None, 1] * d[None, :, 0]
    r = a[None] - a[:, None]
    with np.errstate(all="ignore"):
        t = (r[..., 0] * d[None, :, 1] - r[..., 1] * d[None, :, 0]) / cross
        u = (r[..., 0] * d[:, None, 1] - r[..., 1] * d[:, None, 0]) / cross
    n = len(a)
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    near = (apart <= 1) | ((apart >= n - 1) & spline.closed)
    hit = (cross != 0.0) & (t > 0.0) & (t < 1.0) & (u > 0.0) & (u < 1.0) & ~near
    if not hit.any():
        return None
    i, j = np.argwhere(hit)[0]
    return a[i] + t[i, j] * d[i]
