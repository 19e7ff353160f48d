"""Find the free rigid-body motions of a part to be reduced, and check that its interfaces hold them."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix

from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.errors import AnalysisError
from fem_mbs.parts.part import COMPONENTS
from fem_mbs.solvers.eigen.modal_quantities import rigid_body_motions
from fem_mbs.solvers.reduction.interface_bases import FREE_METHODS

__all__ = ["check_held", "rigid_motions"]

#: What a motion violates of supports, constraints and stiffness, over the sizes involved, and is still a rigid one.
_RIGID = 1e-11
#: Parts of rigid-body motions that may be round-off.
_DUST = 1e-6


def rigid_motions(linear: Linearised, K: csr_matrix, origin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return unit motions (N, m) of the whole part and the combinations (m, r) of them that nothing resists."""
    system, dim = linear.system, linear.system.dimension
    n = system.nodes.x.shape[0]
    places = np.zeros((n, 3))
    places[:, :dim] = linear.state.Q[0][system.offset[:n][:, None] + np.arange(dim)]
    dof = np.full((n, 6), -1)
    dof[:, :dim] = system.offset[:n][:, None] + np.arange(dim)
    turning = np.flatnonzero(system.nodes.rotational)
    axes = [5] if dim == 2 else [3, 4, 5]
    for k, axis in enumerate(axes):
        dof[turning, axis] = system.offset[turning] + dim + k
    point = np.zeros(3)
    point[:dim] = origin
    R = rigid_body_motions(places, dof, system.n_dof, point)
    R = R[:, [0, 1, 5]] if dim == 2 else R
    _still(linear, R)
    # sizes: rotations by as much as moves points of the part by about one
    length = np.ones(R.shape[1])
    length[dim:] = 1.0 / max(system.length, np.abs(places - point).max())
    scaled = R[: linear.first] * length
    free = linear.elimination.free
    q = scaled[free]
    gap = scaled - linear.elimination.T @ q
    force, size = K @ q, np.abs(K.diagonal())[:, None] * np.abs(q)
    violation = np.concatenate((gap, force / max(size.max(initial=0.0), 1e-300)))
    _, values, vectors = np.linalg.svd(np.linalg.qr(violation, mode="r"))
    loose, vectors = values <= _RIGID, vectors.T
    if loose.all():
        return R, np.eye(R.shape[1])
    W = vectors[:, loose]
    unit = np.ones(W.shape[1])
    if W.shape[1]:  # a readable basis: pivots of one, and zeros for what soft supports leave of round-off
        _, _, order = scipy.linalg.qr(W.T, pivoting=True)
        W = W @ np.linalg.inv(W[order[: W.shape[1]]])
        plain = np.where(np.abs(W) < _DUST, 0.0, W)
        if np.abs(violation @ plain).max() <= _RIGID:
            W = plain
        unit = length[order[: W.shape[1]]]
    return R, length[:, None] * W / unit


def _still(linear: Linearised, R: np.ndarray) -> None:
    """Fix nodes that no element uses; they do not count as supports."""
    system = linear.system
    used = np.zeros(system.nodes.x.shape[0], bool)
    for block in system.blocks:
        nodes = block.all_nodes
        used[nodes[nodes >= 0]] = True
    at = system.offset[np.flatnonzero(~used)]
    if at.size:
        R[(at[:, None] + np.arange(system.dimension)).ravel()] = 0.0


def check_held(dimension: int, x_r: np.ndarray, combination: np.ndarray) -> None:
    """Check that fixed interfaces hold the part.

    Raises:
        AnalysisError: naming the motion that they leave.
    """
    if not x_r.shape[1]:
        return
    size = np.linalg.norm(x_r, axis=0)
    _, values, Vt = np.linalg.svd(x_r / np.where(size > 0.0, size, 1.0))
    values = np.concatenate((values, np.zeros(x_r.shape[1] - values.size)))
    if values[-1] > 1e-9 * max(values[0], 1e-300) and size.min() > 0.0:
        return
    loose = combination @ (Vt[-1] / np.where(size > 0.0, size, 1.0))
    most = COMPONENTS[dimension][int(np.abs(loose).argmax())]
    raise AnalysisError(
        f'Reduction: the part can still move (most of all in "{most}") while its '
        "interfaces are held; tie sets of nodes instead of single ones, add an interface, or take a method with free "
        f"interfaces ({', '.join(FREE_METHODS)})"
    )
