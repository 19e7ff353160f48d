"""Watches over beams that stretch beyond the range of their linear elastic law."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from fem_mbs.elements.registry import Watch

__all__ = ["plane_stretch", "space_stretch"]


def _stretch(chord, angle, length):
    """Return the relative change of length (n,) of elements, as a magnitude [-].

    The elements have chords (n, dimension) [m] and are bent into arcs of ``angle`` (n,) [rad]; ``length`` (n,) [m] is
    the unstrained one.
    """
    return np.abs(np.sqrt((chord**2).sum(axis=1)) / np.sinc(np.minimum(angle, 6.0) / (2.0 * np.pi)) / length - 1.0)


def _plane(column, par, dof, rot, Q, D):
    return _stretch(Q[dof[:, 3:5]] - Q[dof[:, :2]], np.abs(Q[dof[:, 5]] - Q[dof[:, 2]]), par[:, column])


def _space(column, offset, turn, par, dof, rot, Q, D):
    R = D.reshape(-1, 3, 3)
    arms = (np.einsum("eij,ej->ei", R[rot[:, k]], par[:, offset + 3 * k : offset + 3 * k + 3]) for k in range(2))
    p, q = (Q[dof[:, 6 * k : 6 * k + 3]] + arm for k, arm in enumerate(arms))
    return _stretch(q - p, turn(par, dof, rot, Q, D), par[:, column])


def _watch(values):
    return Watch(
        values, 0.5, math.inf, "the change of length over the unstrained length",
        "the law of a beam is linear: check loads, sections and units", unit="m/m",
    )  # fmt: skip


def plane_stretch(column: int) -> Watch:
    """Return the watch of beams in the plane whose parameter ``column`` is the unstrained length [m]."""
    return _watch(partial(_plane, column))


def space_stretch(column: int, offset: int, turn) -> Watch:
    """Return the watch of beams in space.

    ``column`` as in `plane_stretch`; the parameters hold the offsets (6,) [m] of the ends from ``offset`` on;
    ``turn(par, dof, rot, Q, D)`` returns the relative rotation (n,) [rad] of the ends.
    """
    return _watch(partial(_space, column, offset, turn))
