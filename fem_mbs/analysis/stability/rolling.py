"""Small motions with nonholonomic constraints G v = 0: an eigenvalue problem without their multipliers.

The holonomic constraints are eliminated first.  About a moving state the equations are then

    M u'' + C u' + K u + G^T y = 0,   G u' + H u = 0,

where H u is the change of G v by displacements u.  With u = N a + P b, G N = 0, G P = 1, the constraints are
b' + H u = 0: b are state variables, with equations of first order and no mass.  The equations of motion times N^T hold
no multipliers y, and with b'' = -H u' they are

    N^T (M N a'' + (C - M P H) u' + K u) = 0,   b' + H u = 0.

Theory: docs/theory.md, section 9, "Rolling without slip".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr
from scipy.sparse import bmat, csr_matrix, hstack, identity, vstack

from fem_mbs.errors import ModelError, Owner
from fem_mbs.solvers.linear.redundancy import independent_rows
from fem_mbs.solvers.stepping import layout as S

if TYPE_CHECKING:
    from fem_mbs.analysis.stability.linearisation import Linearisation

__all__ = ["refuse_rolling", "rolling_problem", "rolls_of"]

_SAME = 1e-7  # difference of a constraint from a combination of others, over the largest entry, that counts as none


def rolls_of(lin: Linearisation) -> np.ndarray:
    """Return which constraints (m,) bool of a linearisation are nonholonomic."""
    out = np.zeros(lin.constraints.shape[0], bool)
    for block in lin.system.blocks:
        if block.type.nonholonomic:
            out[(block.dof[:, block.type.node_dofs :] - lin.first).ravel()] = True
    return out


def refuse_rolling(lin: Linearisation) -> None:
    """Refuse a moving state with rolling discs, for analyses whose matrices have constraints G x = 0 only.

    Raises:
        ModelError: a disc rolls.
    """
    if lin.moving and lin.rolls.any():
        raise ModelError(
            "discs that roll without slip bind velocities, which matrices with constraints of places do not hold",
            owner=Owner("Linearisation"),
            remedy="take a step of complex_modes, or tyres in place of rolling discs",
        )


def rolling_problem(lin: Linearisation) -> tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix, np.ndarray]:
    """Return M, C, K (k, k) and T (N, k), u = T q, of the eigenvalue problem without constraints, and the numbers (r,)
    of the unknowns b, which replace the nonholonomic constraints.

    Raises:
        ModelError: nonholonomic constraints are linearly dependent at the state, but not next to it; or forces depend
            on multipliers.
    """
    if lin.pressed:
        raise ModelError(
            "friction that depends on joint forces is not available together with discs that roll without slip",
            owner=Owner("Linearisation"),
            remedy="set the friction to zero, or use tyres in place of rolling discs",
        )
    if lin.frame != "fixed":
        raise ModelError(
            f'frame = "{lin.frame}" is not available with discs that roll without slip', owner=Owner("Linearisation"),
            remedy='take frame = "fixed"',
        )  # fmt: skip
    found = lin.eliminate(rows=~lin.rolls)
    first = lin.first
    M, C, K = (found.reduce(a[:first][:, :first]) for a in lin.whole())
    rows = np.flatnonzero(lin.rolls)
    G = csr_matrix(lin.constraints[rows, :first] @ found.T)
    H = csr_matrix(lin.tangent.steering[rows, :first] @ found.T)
    keep = _independent(G, H)
    size = np.where(lin.system.system.kind[:first] == S.POSITION, lin.system.length, 1.0)
    N, P, H = _split(G[keep], H[keep], size[found.free])
    r, n = P.shape[1], N.shape[1]
    T = hstack((N, P)).tocsr()
    none = csr_matrix((r, n))
    mass = bmat([[N.T @ M @ N, none.T], [none, csr_matrix((r, r))]], format="csr")
    damping = vstack((N.T @ (C - M @ P @ H) @ T, hstack((none, identity(r)))))
    stiffness = vstack((N.T @ K @ T, H @ T))
    whole = vstack((found.T, csr_matrix((lin.system.n_dof - first, found.T.shape[1])))).tocsr()
    return mass, csr_matrix(damping), csr_matrix(stiffness), csr_matrix(whole @ T), np.arange(n, n + r)


def _independent(G: csr_matrix, H: csr_matrix) -> np.ndarray:
    """Return the numbers of independent rows of G.

    Raises:
        ModelError: a dependent row of G u' + H u = 0 is no combination of the independent ones, since H differs.
    """
    mask = independent_rows(G)
    keep, rest = np.flatnonzero(mask), np.flatnonzero(~mask)
    if rest.size:
        share = np.linalg.lstsq(G[keep].T.toarray(), G[rest].T.toarray(), rcond=None)[0].T
        left = np.abs(H[rest].toarray() - share @ H[keep].toarray())
        if left.max(initial=0.0) > _SAME * np.abs(H.toarray()).max(initial=0.0):
            raise ModelError(
                "constraints of rolling discs are linearly dependent at this state, but not next to it",
                owner=Owner("Linearisation"),
                remedy="take one of them away, or a state that is not singular",
            )
    return keep


def _split(G: csr_matrix, H: csr_matrix, size: np.ndarray) -> tuple[csr_matrix, csr_matrix, csr_matrix]:
    """Return N with G N = 0, P with G P = 1, and H; pivots of G are chosen with unknowns in units of ``size`` (n,)."""
    r, n = G.shape
    order = qr(G.toarray() * size, mode="r", pivoting=True)[1]
    pivots, others = order[:r], np.sort(order[r:])
    inverse = np.linalg.inv(G[:, pivots].toarray())
    place = csr_matrix((np.ones(r), (pivots, np.arange(r))), shape=(n, r))
    free = csr_matrix((np.ones(n - r), (others, np.arange(n - r))), shape=(n, n - r))
    P = csr_matrix(place @ csr_matrix(inverse))
    return csr_matrix(free - P @ G[:, others]), P, H
