"""Quantities of modes: participation factors, effective masses, and the similarity of two sets of shapes (MAC).

    modal mass m_k = x_k.M x_k,   participation p_kj = x_k.M r_j / m_k,   effective mass m_k p_kj^2

for rigid-body motions r_j of the whole part: over all modes the effective masses sum to r_j.M r_j (Wijker 2004, chapter
6).  MAC_ij = |a_i.W b_j|^2 / (a_i.W a_i  b_j.W b_j), W = 1 (Allemang & Brown 1982) or a mass matrix.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix

from fem_mbs.late import dataclass

__all__ = ["FEW_DIGITS", "Participation", "lost_to_rotation", "mac", "participation", "rigid_body_motions"]

#: Relative rounding of an entry of a matrix that is a sum of tens of products.
_ENTRY = 100 * np.finfo(float).eps
#: Share of an eigenvalue that rounding may change, from which on it has few digits.
FEW_DIGITS = 1e-3


@dataclass(frozen=True)
class Participation:
    """Participation of k modes in d directions.

    ``factors`` (k, d), ``effective`` masses (k, d), ``total`` masses (d,), and modal masses (k,).  For rotations the
    masses are moments of inertia.
    """

    factors: np.ndarray
    effective: np.ndarray
    total: np.ndarray
    modal: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """Return effective over total masses (k, d); zero where the total is zero."""
        return self.effective / np.where(self.total > 0.0, self.total, np.inf)

    @property
    def sum_of_shares(self) -> np.ndarray:
        """Return the sums (k, d) of the shares of all modes up to each."""
        return np.cumsum(self.share, axis=0)


def rigid_body_motions(places: ArrayLike, dof: ArrayLike, n: int, point: ArrayLike = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Return translations along x, y, z [length 1] and rotations about x, y, z through ``point`` [1 rad], (n, 6).

    Args:
        places: nodes' positions (nodes, 3).
        dof: numbers (nodes, 3) of their displacements, or (nodes, 6) with rotations; -1 where there is none.
        n: number of dofs.
        point: (3,) on the axes of rotation.

    Raises:
        ValueError: shapes that do not fit, a dof out of range.
    """
    places, dof = np.asarray(places, dtype=float), np.asarray(dof)
    if places.ndim != 2 or places.shape[1] != 3 or dof.shape not in ((len(places), 3), (len(places), 6)):
        raise ValueError("places must have shape (nodes, 3), dof (nodes, 3) or (nodes, 6)")
    if dof.size and (dof.min() < -1 or dof.max() >= n):
        raise ValueError(f"dofs must be -1 or in 0 ... {n - 1}")
    r = places - np.asarray(point, dtype=float)
    motions = np.zeros((len(places), dof.shape[1], 6))
    motions[:, :3, :3] = np.eye(3)
    for axis in range(3):
        motions[:, :3, 3 + axis] = np.cross(np.eye(3)[axis], r)
    if dof.shape[1] == 6:
        motions[:, 3:, 3:] = np.eye(3)
    R = np.zeros((n, 6))
    known = dof >= 0
    R[dof[known]] = motions[known]
    return R


def participation(M: csr_matrix, vectors: np.ndarray, directions: np.ndarray) -> Participation:
    """Return the participation of modes ``vectors`` (n, k), in any normalisation, in ``directions`` (n, d).

    Raises:
        ValueError: a mode without modal mass.
    """
    MR, MX = M @ directions, M @ vectors
    modal = np.einsum("ik,ik->k", vectors, MX)
    if not np.all(modal > 0.0):
        raise ValueError(f"Mode {int(np.flatnonzero(~(modal > 0.0))[0])} moves no mass: it has no participation")
    factors = (vectors.T @ MR) / modal[:, None]
    total = np.einsum("ij,ij->j", directions, MR)
    return Participation(factors, modal[:, None] * factors**2, total, modal)


def mac(A: np.ndarray, B: np.ndarray, weight: csr_matrix | None = None) -> np.ndarray:
    """Return the modal assurance criterion (k, l), between 0 and 1, of shapes A (n, k) and B (n, l), real or complex.

    ``weight`` is a positive semi-definite matrix (n, n), or None.

    Raises:
        ValueError: different numbers of dofs; a shape of zero size.
    """
    A, B = np.asarray(A), np.asarray(B)
    if A.ndim != 2 or B.ndim != 2 or len(A) != len(B):
        raise ValueError(f"Shapes must be (n, k) and (n, l), not {A.shape} and {B.shape}")
    WA, WB = (A, B) if weight is None else (weight @ A, weight @ B)
    a, b = (np.einsum("ik,ik->k", x.conj(), wx).real for x, wx in ((A, WA), (B, WB)))
    if not (np.all(a > 0.0) and np.all(b > 0.0)):
        raise ValueError("A shape of zero size cannot be compared")
    return np.abs(A.conj().T @ WB) ** 2 / np.outer(a, b)


def lost_to_rotation(
    M: csr_matrix, C: csr_matrix, K: csr_matrix, speed: float, values: np.ndarray, right: np.ndarray, left: np.ndarray
) -> np.ndarray:
    """Return the share (k,) of each eigenvalue that rounding in the matrices of a turning part may change.

    Stiffness and gyroscopic matrices of a part that turns at w are sums of terms of the sizes w^2 M and w C, which
    cancel: their entries are wrong by e (w^2 |M| + w |C| + |K|) and e (w |M| + |C|), whatever is left of them.  To
    first order an eigenvalue p may change by (Tisseur & Meerbergen 2001, SIAM Review 43, section 4.2, with weights per
    entry)

        |dp| <= e |v|.((|p| + w)^2 |M| + (|p| + w) |C| + |K|) |u| / |v^H (2 p M + C) u|

    Args:
        M, C, K: sparse (n, n).
        speed: w [rad/s].
        values: p (k,), none of them zero.
        right, left: u, v (n, k).
    """
    u, v = np.abs(right), np.abs(left)
    rate = np.abs(values) + abs(speed)
    wrong = sum(factor * np.einsum("ik,ik->k", v, abs(A) @ u) for A, factor in ((M, rate**2), (C, rate), (K, 1.0)))
    slope = np.abs(np.einsum("ik,ik->k", left.conj(), 2.0 * (M @ right) * values + C @ right))
    with np.errstate(divide="ignore"):
        return _ENTRY * wrong / (slope * np.abs(values))
