"""Rigid motions of a whole model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.solvers.eigen.modal_quantities import rigid_body_motions

if TYPE_CHECKING:
    from fem_mbs.analysis.linear.linearised import Linearised

__all__ = ["rigid_directions"]


def rigid_directions(linear: Linearised, point: ArrayLike = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Return displacements (N, 6) of unit motions of the whole: translations along x, y, z and rotations about these
    directions through a point; zero where supports and motions hold."""
    system, dim = linear.system, linear.system.dimension
    n = system.nodes.x.shape[0]
    x = np.zeros((n, 3))
    x[:, :dim] = system.nodes.x
    dof = np.full((n, 6), -1)
    dof[:, :dim] = system.offset[:n, None] + np.arange(dim)
    turning = np.flatnonzero(system.nodes.rotational)
    columns = np.arange(5 if dim == 2 else 3, 6)
    dof[np.ix_(turning, columns)] = system.offset[turning][:, None] + dim + np.arange(columns.size)
    directions = rigid_body_motions(x, dof, system.n_dof, point)
    directions[np.setdiff1d(np.arange(linear.first), linear.owned)] = 0.0
    return directions
