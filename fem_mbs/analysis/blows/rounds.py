"""Blows at several places at one instant, in rounds: all contacts that approach get their impulses, until none does.

A round takes the contacts that approach each other then, as the generalised reflections of B. Smith, D.M. Kaufman, E.
Vouga, R. Tamstorf & E. Grinspun, ACM Trans. Graph. 31 (2012), 106:1-12.  So a blow passes through Newton's cradle from
ball to ball, while the corners of a plate that falls flat get theirs together.  A round of one contact follows the law
of this contact (`fem_mbs.analysis.blows.laws`).  In a round of several the impulses solve

    p_n >= 0,   v_n+ >= -e v_n-,   one of both an equality,   |p_t| <= mu p_n, sticking or slip against v_t-

together (the sets that act are found one change at a time), with "newton" at once and else in two phases, compression
(e = 0) and restitution, whose normal impulses are e times those of compression (F. Pfeiffer & C. Glocker, Multibody
Dynamics with Unilateral Contacts, 1996, chapter 8).  Where impulses are not unique, as under four corners, the least
ones count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fem_mbs.analysis.blows.laws import FRICTIONLESS, Blow, ending, single_blow
from fem_mbs.late import dataclass

__all__ = ["Outcome", "hold", "resolve"]

_ROUNDS = 2000
_APPROACH = 1e-10  # of the largest speed of approach: smaller ones are none
_TINY = 1e-9
_ROUND_OFF = 1e-13  # of speeds, over the largest
_RCOND = 1e-11  # of impulses that are not unique
_CHANGES = 200


@dataclass
class Outcome:
    """Outcome of the blows at one instant: impulses and speeds after (k, dim), of each contact the loss [J] and how its
    largest blow ended ("": no blow); rounds, and whether the last ones were cut short without restitution."""

    impulse: np.ndarray
    speed: np.ndarray
    loss: np.ndarray
    modes: list[str]
    rounds: int = 0
    cut: bool = False


def resolve(A: np.ndarray, v: np.ndarray, blows: Sequence[Blow], least: np.ndarray) -> Outcome:
    """Return the outcome of blows at contacts with speeds v (k, dim) before, normal first.

    Args:
        A: (k dim, k dim) changes of speeds by impulses [1/kg].
        least: (k,) speeds of separation [m/s] up to which a blow is made without restitution.

    Raises:
        ValueError: friction lets a blow never end.
    """
    k, dim = v.shape
    out = Outcome(np.zeros((k, dim)), v.copy(), np.zeros(k), [""] * k)
    largest = np.zeros(k)
    scale = float(np.linalg.norm(v, axis=1).max(initial=0.0))
    first = -v[:, 0].min(initial=0.0)
    while True:
        now = np.flatnonzero(out.speed[:, 0] < -max(_APPROACH * first, _ROUND_OFF * scale))
        if not now.size:
            return out
        slow = -np.array([blow.e for blow in blows]) * out.speed[:, 0] <= least
        laws = [replace(blows[i], e=0.0, back=0.0) if slow[i] else blows[i] for i in now.tolist()]
        out.cut = out.rounds >= _ROUNDS
        if out.cut:
            laws = [Blow("newton", 0.0, 0.0, 0.0)] * k
            now = np.arange(k)
        at = (now[:, None] * dim + np.arange(dim)).ravel()
        p, modes = _round(A[np.ix_(at, at)], out.speed[now], laws)
        before = out.speed.copy()
        out.speed = before + (A[:, at] @ p.ravel()).reshape(k, dim)
        out.impulse[now] += p
        out.loss[now] -= 0.5 * np.einsum("ki,ki->k", p, before[now] + out.speed[now])
        for i, one, mode in zip(now, p, modes, strict=True):
            if one[0] > largest[i]:
                largest[i], out.modes[i] = one[0], mode
        out.rounds += 1
        if out.cut or not p.any():  # without an impulse, every further round would be the same
            return out


def hold(A: np.ndarray, v: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the least impulses (k dim,) that take the speeds v (k dim,) of ``rows`` (k dim,) bool to zero."""
    p = np.zeros(v.size)
    if rows.any():
        p[rows] = np.linalg.lstsq(A[np.ix_(rows, rows)], -v[rows], rcond=_RCOND)[0]
    return p


def _round(A: np.ndarray, v: np.ndarray, blows: Sequence[Blow]) -> tuple[np.ndarray, list[str]]:
    """Return impulses (k, dim) of contacts that all approach, and how their blows end."""
    if len(blows) == 1:
        p, mode = single_blow(A, v[0], blows[0])
        return p[None], [mode]
    k, dim = v.shape
    e = np.array([blow.e for blow in blows])
    # slip after the blow of contacts that stick: tangential restitution
    slip = -np.array([blow.back for blow in blows])[:, None] * v[:, 1:]
    none = np.zeros(k)
    rough = any(blow.mu or blow.static for blow in blows)
    if not rough or all(blow.law == "newton" for blow in blows):
        p = _Phase(A, v, blows, -e * v[:, 0], none, slip).solve()
    else:
        compression = _Phase(A, v, blows, none, none, np.zeros_like(slip))
        first = compression.solve()
        between = v + (A @ first.ravel()).reshape(k, dim)
        slip[~compression.sticks] = 0.0  # contacts that slip at the end of compression have no tangential restitution
        p = first + _Phase(A, between, blows, none, e * first[:, 0], slip).solve()
    after = v + (A @ p.ravel()).reshape(k, dim)
    size = float(np.linalg.norm(v))
    modes = [
        ending(a[1:], b[1:], size) if blow.mu or blow.static else FRICTIONLESS
        for a, b, blow in zip(v, after, blows, strict=True)
    ]
    return p, modes


class _Phase:
    """A phase of blows: normal speeds after it of at least ``speed`` (k,) or normal impulses of ``least`` (k,).

    Each contact has the greater of the impulses that its two conditions demand.  Either it sticks, and its slip
    velocity becomes ``slip`` (k, dim - 1), or it slips.
    """

    def __init__(
        self, A: np.ndarray, v: np.ndarray, blows: Sequence[Blow], speed: np.ndarray, least: np.ndarray,
        slip: np.ndarray,
    ):  # fmt: skip
        self.A, self.v, self.blows, self.speed, self.least, self.slip = A, v, blows, speed, least, slip
        k = len(blows)
        self.presses = least <= 0.0  # the speed is prescribed, else the impulse
        self.sticks = np.array([blow.mu > 0.0 or blow.static > 0.0 for blow in blows])
        self.direction = np.zeros((k, v.shape[1] - 1))  # of the friction of those that slip
        # slip may be much faster than the approach
        normal = float(np.abs(v[:, 0]).max(initial=0.0))
        self.tolerance = max(_TINY * normal, _ROUND_OFF * float(np.linalg.norm(v)))

    def solve(self) -> np.ndarray:
        """Return the impulses (k, dim)."""
        seen = set()
        p = self._impulses()
        for _ in range(_CHANGES):
            state = (self.presses.tobytes(), self.sticks.tobytes())
            if state in seen or not self._change(p):
                break
            seen.add(state)
            p = self._impulses()
        return p

    def _impulses(self) -> np.ndarray:
        k, dim = self.v.shape
        n = k * dim
        # p = T q + p0: unknown are normal impulses of those that press, and all of those that stick
        T, p0, rows, right = [], np.zeros((k, dim)), [], []
        for i, blow in enumerate(self.blows):
            slip = np.concatenate(([1.0], blow.mu * self.direction[i]))
            along = slip if not self.sticks[i] else np.eye(dim)[0]
            if self.presses[i]:
                T.append((i, along))
                rows.append(i * dim)
                right.append(self.speed[i] - self.v[i, 0])
            else:
                p0[i] = self.least[i] * along
            if self.sticks[i]:
                for j in range(1, dim):
                    T.append((i, np.eye(dim)[j]))
                    rows.append(i * dim + j)
                    right.append(self.slip[i, j - 1] - self.v[i, j])
        matrix = np.zeros((n, len(T)))
        for column, (i, vector) in enumerate(T):
            matrix[i * dim : (i + 1) * dim, column] = vector
        if len(T):
            B = self.A[rows] @ matrix
            q = np.linalg.lstsq(B, np.array(right) - self.A[rows] @ p0.ravel(), rcond=_RCOND)[0]
            p0 = p0 + (matrix @ q).reshape(k, dim)
        return p0

    def _change(self, p: np.ndarray) -> bool:
        """Change the most violated condition; return whether there was one."""
        size = float(np.abs(p).max(initial=0.0)) * _TINY
        lack = np.where(self.presses, self.least - p[:, 0], -np.inf)
        worst = int(np.argmax(lack))
        if lack[worst] > size:
            self.presses[worst] = False
            return True
        for i, blow in enumerate(self.blows):
            pull = float(np.linalg.norm(p[i, 1:]))
            if self.sticks[i] and pull > blow.static * max(p[i, 0], 0.0) + size:
                self.sticks[i] = False
                slip = float(np.linalg.norm(self.v[i, 1:]))
                moves = slip > _TINY * float(np.linalg.norm(self.v))
                self.direction[i] = -self.v[i, 1:] / slip if moves else p[i, 1:] / pull
                return True
        after = self.v + (self.A @ p.ravel()).reshape(self.v.shape)
        short = np.where(self.presses, -np.inf, self.speed - after[:, 0])
        worst = int(np.argmax(short))
        if short[worst] > self.tolerance:
            self.presses[worst] = True
            return True
        return False
