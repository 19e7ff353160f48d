"""Boundary-value solution of the exact beam: the independent reference of the beam benchmarks.

The beam of Reissner (1973, doi:10.1002/sapm197352287) and Simo (1985, doi:10.1016/0045-7825(85)90050-7): a line x(s)
with a section R(s) at every unstrained length s, force n and moment m in global axes,

    x' = R (e1 + gamma)          gamma, kappa - kappa0 = F(s) (R^T n, R^T m)
    R' = R [kappa]               F: flexibility (6, 6) over (axial, shear y, shear z, twist, bending y, bending z)
    n' = -f                      kappa0: curvature and twist without stress
    m' = -x' x n

Strains may be of any size.  R is a quaternion q with q' = q (0, kappa)/2.  Collocation at the Gauss points of every
interval (four stages, order 8 at the ends of the intervals, de Boor & Swartz 1973, doi:10.1137/0710052) keeps |q|.
Newton's method with derivatives by complex steps solves for all intervals at once; loads grow in steps that halve
where it does not converge.

Nothing here comes from the package that it judges: numpy and scipy alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

__all__ = [
    "ExactBeam",
    "Solution",
    "cantilever",
    "matrix_of",
    "quaternion_of",
    "turn",
]

X, Q, N, M = slice(0, 3), slice(3, 7), slice(7, 10), slice(10, 13)
_SIZE = 13
_STAGES = 4
_STEP = 1e-30  # complex step


def _cross(a, b):
    """Return np.cross without its conversions, for complex arrays (..., 3)."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), np.result_type(a, b))
    out[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return out


def matrix_of(q: np.ndarray) -> np.ndarray:
    """Return rotations (..., 3, 3) of quaternions (..., 4), scalar first; the norm does not matter."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    size = w * w + x * x + y * y + z * z
    R = np.empty((*q.shape[:-1], 3, 3), q.dtype)
    R[..., 0, 0] = w * w + x * x - y * y - z * z
    R[..., 0, 1] = 2 * (x * y - w * z)
    R[..., 0, 2] = 2 * (x * z + w * y)
    R[..., 1, 0] = 2 * (x * y + w * z)
    R[..., 1, 1] = w * w - x * x + y * y - z * z
    R[..., 1, 2] = 2 * (y * z - w * x)
    R[..., 2, 0] = 2 * (x * z - w * y)
    R[..., 2, 1] = 2 * (y * z + w * x)
    R[..., 2, 2] = w * w - x * x - y * y + z * z
    return R / size[..., None, None]


def quaternion_of(R: np.ndarray) -> np.ndarray:
    """Return quaternion (4,), scalar first, of one rotation (3, 3)."""
    values, vectors = np.linalg.eigh(
        np.array(
            [
                [R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
                [R[2, 1] - R[1, 2], R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
                [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
                [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1]],
            ]
        )
    )
    return vectors[:, np.argmax(values)]


def turn(q: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return R a of vectors a (..., 3) by quaternions (..., 4)."""
    return np.einsum("...ij,...j->...i", matrix_of(q), a)


@dataclass(frozen=True)
class Solution:
    """A state of equilibrium: s (k,), y (k, 13) = x, q, n, m behind the loads at s, and the unknown parameters."""

    s: np.ndarray
    y: np.ndarray
    parameters: np.ndarray

    def at(self, s: float) -> np.ndarray:
        """Return y (13,) at an end of an interval.

        Raises:
            ValueError: s is not one.
        """
        k = int(np.argmin(np.abs(self.s - s)))
        if abs(self.s[k] - s) > 1e-9 * self.s[-1]:
            raise ValueError(f"s = {s} is not an end of an interval")
        return self.y[k]

    def place(self, s: float) -> np.ndarray:
        return self.at(s)[X]

    def rotation(self, s: float) -> np.ndarray:
        return matrix_of(self.at(s)[Q])

    def forces(self, s: float) -> np.ndarray:
        """Return N, Vy, Vz, T, My, Mz (6,) of the section at s, in its axes."""
        y = self.at(s)
        R = matrix_of(y[Q])
        return np.concatenate([y[N] @ R, y[M] @ R])


class ExactBeam:
    """A beam of unstrained length ``length`` and the conditions on it.

    Args:
        length: [m]
        flexibility: (6, 6), or a function of s (k,) that returns (k, 6, 6)
        conditions: function of (y of the stations (m, 13), parameters, load factor) -> residuals
            (13 + number of parameters,)
        stations: s of the places that the conditions know: both ends, and where loads act
        jumps: one function of (y, parameters, load factor) -> (6,) per inner station: what n and m grow by behind it,
            so minus the force and moment that act there
        curvature: kappa0 (3,) in section axes, or a function of s (k,) that returns (k, 3) [1/m]
        line_load: f (3,) in global axes per unstrained length at load factor 1 [N/m]
        parameters: number of unknown parameters
        intervals: between the ends, spread over the pieces between stations
    """

    def __init__(
        self,
        length: float,
        flexibility,
        conditions: Callable,
        stations: Sequence[float] = (),
        jumps: Sequence[Callable] = (),
        curvature=(0.0, 0.0, 0.0),
        line_load=(0.0, 0.0, 0.0),
        parameters: int = 0,
        intervals: int = 64,
    ) -> None:
        places = np.array([0.0, *stations, length])
        pieces = [
            np.linspace(a, b, max(1, round(intervals * (b - a) / length)) + 1) for a, b in pairwise(places.tolist())
        ]
        self.s = np.concatenate([pieces[0][:1], *(piece[1:] for piece in pieces)])
        self.h = np.diff(self.s)
        self.where = np.searchsorted(self.s, places - 1e-12 * length)
        self.conditions, self.jumps, self.n_parameters = conditions, jumps, parameters
        self.line_load = np.asarray(line_load, float)
        c, w = np.polynomial.legendre.leggauss(_STAGES)
        self.c, self.b = 0.5 * (c + 1.0), 0.5 * w
        powers = np.vander(self.c, _STAGES, increasing=True)
        integrals = self.c[:, None] ** np.arange(1, _STAGES + 1) / np.arange(1, _STAGES + 1)
        self.A = integrals @ np.linalg.inv(powers)
        points = (self.s[:-1, None] + self.h[:, None] * self.c).ravel()
        shape = (len(self.h), _STAGES)
        self.F = self._along(flexibility, points, (6, 6)).reshape(*shape, 6, 6)
        self.kappa0 = self._along(curvature, points, (3,)).reshape(*shape, 3)

    @staticmethod
    def _along(value, points, shape):
        if callable(value):
            return np.asarray(value(points), float)
        return np.broadcast_to(np.asarray(value, float), (len(points), *shape))

    # --- the equations -----------------------------------------------------------------------------------------------
    def _slope(self, y, factor):
        """Return y' (..., N, stages, 13) at the Gauss points."""
        R = matrix_of(y[..., Q])
        forces = np.concatenate(
            [np.einsum("...ji,...j->...i", R, y[..., N]), np.einsum("...ji,...j->...i", R, y[..., M])], axis=-1
        )
        strains = np.einsum("nkij,...nkj->...nki", self.F, forces)
        stretch = strains[..., :3] + np.array([1.0, 0.0, 0.0])
        kappa = strains[..., 3:] + self.kappa0
        out = np.empty(y.shape, y.dtype)
        out[..., X] = np.einsum("...ij,...j->...i", R, stretch)
        w, v = y[..., 3:4], y[..., 4:7]
        out[..., 3] = -0.5 * (v * kappa).sum(axis=-1)
        out[..., 4:7] = 0.5 * (w * kappa + _cross(v, kappa))
        out[..., N] = -factor * self.line_load
        out[..., M] = -_cross(out[..., X], y[..., N])
        return out

    def _jump(self, i, y, p, factor):
        out = np.zeros(_SIZE, np.result_type(y, p))
        out[7:] = self.jumps[i](y, p, factor)
        return out

    def _newton(self, y, stage, p, factor, iterations=25):
        """Return Newton's method from nodes y (N + 1, 13), stages (N, k, 13) and parameters p; None if it fails."""
        count, size = len(self.h), (len(self.h) + 1) * _SIZE + self.n_parameters
        h = self.h
        eye = np.eye(_SIZE)
        best = np.inf
        scale = np.array([self.s[-1]] * 3 + [1.0] * 4 + [0.0] * 6)
        for _ in range(iterations):
            probes = stage[None].astype(complex) + 1j * _STEP * eye[:, None, None, :]
            with np.errstate(all="ignore"):
                slopes = self._slope(probes, factor)
                f = slopes[0].real
                J = np.moveaxis(slopes.imag / _STEP, 0, -1)  # (N, k, 13, 13)
            if not np.isfinite(f).all():
                return None
            residual = stage - y[:-1, None] - h[:, None, None] * np.einsum("ij,njk->nik", self.A, f)
            # stages follow from the start of their interval: (1 - h A J) dY = dy - residual
            block = -h[:, None, None, None, None] * np.einsum("ij,njab->niajb", self.A, J)
            block = block.reshape(count, _STAGES * _SIZE, _STAGES * _SIZE) + np.eye(_STAGES * _SIZE)
            right = np.concatenate(
                [np.broadcast_to(np.tile(eye, (_STAGES, 1)), (count, _STAGES * _SIZE, _SIZE)),
                 -residual.reshape(count, -1, 1)], axis=2,
            )  # fmt: skip
            response = np.linalg.solve(block, right).reshape(count, _STAGES, _SIZE, _SIZE + 1)
            add = h[:, None, None] * np.einsum("i,niab,nibc->nac", self.b, J, response)
            transfer = eye + add[..., :_SIZE]
            closing = y[1:] - y[:-1] - h[:, None] * np.einsum("i,nik->nk", self.b, f)

            r = np.zeros(size)
            r[: count * _SIZE] = (closing - add[..., _SIZE]).ravel()
            first = _SIZE * np.arange(count)[:, None, None]
            row, column = np.arange(_SIZE)[:, None], np.arange(_SIZE)
            entries = [
                (first + row, first + column, -transfer),
                (first + row, first + column + _SIZE, np.broadcast_to(eye, transfer.shape)),
            ]
            last = size - self.n_parameters
            steps = p + 1j * _STEP * np.eye(self.n_parameters)
            own = np.arange(_SIZE)
            for i, node in enumerate(self.where[1:-1]):
                rows = (node - 1) * _SIZE + own
                r[rows] -= self._jump(i, y[node], p, factor)
                by_y = [self._jump(i, y[node] + 1j * _STEP * unit, p, factor).imag / _STEP for unit in eye]
                by_p = [self._jump(i, y[node], step, factor).imag / _STEP for step in steps]
                for at, slope in [*zip(node * _SIZE + own, by_y, strict=True), *enumerate(by_p, last)]:
                    entries.append((rows, np.full(_SIZE, at), -slope))
            rows = np.arange(count * _SIZE, size)
            stations = y[self.where]
            r[rows] = self.conditions(stations, p, factor)
            for i, node in enumerate(self.where):
                for k in range(_SIZE):
                    probe = stations.astype(complex)
                    probe[i, k] += 1j * _STEP
                    slope = np.imag(self.conditions(probe, p, factor)) / _STEP
                    entries.append((rows, np.full(len(rows), node * _SIZE + k), slope))
            for k, step in enumerate(steps):
                slope = np.imag(self.conditions(stations, step, factor)) / _STEP
                entries.append((rows, np.full(len(rows), last + k), slope))
            rows, columns, values = (
                np.concatenate([np.broadcast_to(e[j], e[2].shape).ravel() for e in entries]) for j in range(3)
            )
            try:
                d = splu(csc_matrix((values, (rows, columns)), (size, size))).solve(-r)
            except RuntimeError:  # singular
                return None
            if not np.isfinite(d).all():
                return None
            dy = d[:last].reshape(-1, _SIZE)
            size_n, size_m = np.abs(y[:, N]).max() + 1e-12, np.abs(y[:, M]).max() + 1e-12
            scale[7:10], scale[10:] = max(size_n, size_m / self.s[-1]), max(size_m, size_n * self.s[-1])
            change = float(np.abs(dy / scale).max())
            if change > 10.0 * max(best, 1.0):
                return None
            best = min(best, change)
            stage = stage + response[..., _SIZE] + np.einsum("nkab,nb->nka", response[..., :_SIZE], dy[:-1])
            y = y + dy
            p = p + d[last:]
            if change < 1e-11:
                return y, stage, p
        return (y, stage, p) if change < 1e-9 else None

    # --- solving -----------------------------------------------------------------------------------------------------
    def start(self, x, q) -> tuple[np.ndarray, np.ndarray]:
        """Return nodes and stages of the beam without stress from x (3,) and quaternion q (4,) at its start."""
        y = np.zeros((len(self.s), _SIZE))
        stage = np.zeros((len(self.h), _STAGES, _SIZE))
        y[0, X], y[0, Q] = x, q
        e1 = np.array([1.0, 0.0, 0.0])
        for i, h in enumerate(self.h):  # exact line and sections of the unloaded beam, by fixed-point iteration
            own = np.repeat(y[i][None], _STAGES, axis=0)
            for _ in range(100):
                w, v = own[:, 3:4], own[:, 4:7]
                slope = np.zeros_like(own)
                slope[:, X] = matrix_of(own[:, Q]) @ e1
                slope[:, 3] = -0.5 * (v * self.kappa0[i]).sum(axis=1)
                slope[:, 4:7] = 0.5 * (w * self.kappa0[i] + _cross(v, self.kappa0[i]))
                new = y[i] + h * self.A @ slope
                done = np.abs(new - own).max() < 1e-14 * (1.0 + np.abs(new).max())
                own = new
                if done:
                    break
            stage[i] = own
            y[i + 1] = y[i] + h * self.b @ slope
        return y, stage

    def solve(self, x, q, factors=(1.0,), parameters=()) -> list[Solution]:
        """Return states at the load factors, one after the other, from the beam without stress.

        Raises:
            ArithmeticError: no state is found.
        """
        y, stage = self.start(np.asarray(x, float), np.asarray(q, float))
        p = np.array(parameters, float)
        states, at, before = [], 0.0, None
        for goal in factors:
            step = goal - at
            while at != goal:
                aim = goal if abs(goal - at) <= abs(step) * (1.0 + 1e-9) else at + step
                guess = (y, stage, p)
                if before is not None:  # secant predictor
                    ratio = (aim - at) / (at - before[0])
                    guess = tuple(now + ratio * (now - then) for now, then in zip(guess, before[1], strict=True))
                found = self._newton(*guess, aim)
                if found is None and before is not None:
                    found = self._newton(y, stage, p, aim)
                if found is None:
                    step *= 0.5
                    if abs(step) < 1e-5:
                        raise ArithmeticError(f"no equilibrium beyond the load factor {at:g}")
                    continue
                before = (at, (y, stage, p))
                (y, stage, p), at = found, aim
                step *= 1.5
            states.append(Solution(self.s, y.copy(), p.copy()))
        return states


def cantilever(
    length: float,
    flexibility,
    force=(0.0, 0.0, 0.0),
    moment=(0.0, 0.0, 0.0),
    x=(0.0, 0.0, 0.0),
    R=None,
    curvature=(0.0, 0.0, 0.0),
    arm=(0.0, 0.0, 0.0),
    inner: Sequence[tuple] = (),
    line_load=(0.0, 0.0, 0.0),
    intervals: int = 64,
    factors=(1.0,),
) -> list[Solution]:
    """Return beam clamped at s = 0 in x, R under dead forces and moments (moments fixed in direction), at the load
    factors.

    Args:
        force, moment: (3,) at the end, in global axes [N, N m]
        arm: (3,) from the line to where the force acts, in section axes [m]
        inner: (s, force, moment, arm) of loads inside
    """
    q0 = quaternion_of(np.eye(3) if R is None else np.asarray(R, float))
    x = np.asarray(x, float)

    def load(y, factor, f, m, a):
        f, m = factor * np.asarray(f, float), factor * np.asarray(m, float)
        return np.concatenate([f, m + _cross(turn(y[Q], np.asarray(a, float)), f)])

    def conditions(y, p, factor):
        start, end = y[0], y[-1]
        return np.concatenate([start[X] - x, start[Q] - q0, end[7:] - load(end, factor, force, moment, arm)])

    jumps = [lambda y, p, factor, last=last: -load(y, factor, *last) for _, *last in inner]
    beam = ExactBeam(
        length, flexibility, conditions, [entry[0] for entry in inner], jumps, curvature, line_load, 0, intervals
    )
    return beam.solve(x, q0, factors)
