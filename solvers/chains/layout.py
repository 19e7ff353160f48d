"""Arrays of a tree of rigid segments, and workspaces of its kernels.

A segment turns about, or slides along, one axis of the segment before it; joints with more freedoms are made of
massless segments without length.  All axes of segments are parallel to the global ones where the coordinates are
zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem_mbs.compiling.array_records import array_record

__all__ = ["CHAIN", "Chain", "WORK", "Work", "make_work"]


class Chain(NamedTuple):
    """A tree of n segments; each stands behind the one it hangs on."""

    before: np.ndarray  # (n,) int64, the segment that it hangs on, -1: the ground
    slides: np.ndarray  # (n,) int64, 1: it slides along its axis, 0: it turns about it
    axis: np.ndarray  # (n, 3) unit vector, in axes of the segment before
    arm: np.ndarray  # (n, 3) its hinge from that of the segment before, in axes of that one [m]
    mass: np.ndarray  # (n,) [kg]
    centre: np.ndarray  # (n, 3) mass centre from the hinge, own axes [m]
    inertia: np.ndarray  # (n, 9) about the mass centre, own axes, row by row [kg m^2]
    stiffness: np.ndarray  # (n,) of the spring on the coordinate [N m/rad] or [N/m]
    free: np.ndarray  # (n,) coordinate at which the spring is free [rad] or [m]
    damping: np.ndarray  # (n,) [N m s/rad] or [N s/m]
    cyclic: np.ndarray  # (n,) int64, 1: the energy does not depend on the coordinate
    gravity: np.ndarray  # (3,) [m/s^2]


class Work(NamedTuple):
    """Quantities of the segments at one set of coordinates, in global axes, moments about the origin.

    A twist is (spin, velocity of the point of the body at the origin), a wrench (angular momentum, momentum).
    """

    turn: np.ndarray  # (n, 9) rotation matrices, row by row
    hinge: np.ndarray  # (n, 3) [m]
    place: np.ndarray  # (n, 3) mass centres [m]
    unit: np.ndarray  # (n, 6) twists of unit rates of the coordinates
    spin: np.ndarray  # (n, 6) twists of the segments
    held: np.ndarray  # (n, 6) momenta of the segments and all that hang on them
    total: np.ndarray  # (n, 10) mass, first and second moments of mass of the same
    matrix: np.ndarray  # (n, n) energy matrix A
    factor: np.ndarray  # (n, n) its Cholesky factor, lower triangle
    rate: np.ndarray  # (n,) rates of the coordinates
    slope: np.ndarray  # (n,) derivative of the energy by the coordinates


#: Types of the records in compiled code.
CHAIN = array_record(
    Chain,
    {
        "i8 1": "before slides cyclic",
        "f8 1": "mass stiffness free damping gravity",
        "f8 2": "axis arm centre inertia",
    },
)
WORK = array_record(Work, {"f8 1": "rate slope", "f8 2": "turn hinge place unit spin held total matrix factor"})


def make_work(n: int) -> Work:
    """Return workspaces of a tree of n segments."""
    shapes = ((n, 9), (n, 3), (n, 3), (n, 6), (n, 6), (n, 6), (n, 10), (n, n), (n, n), (n,), (n,))
    return Work(*(np.zeros(shape) for shape in shapes))
