"""Bases of component modes whose coordinates hold the motions x of the boundary: MacNeal, Rubin, Craig-Chang, Herting.

    u = Phi eta + A alpha,   Phi = (rigid-body modes, elastic modes of the free part),   A (n, b) attachment modes

With A_b the rows of A at the boundary, alpha = A_b^-1 (x - Phi_b eta) takes the place of the forces, so that

    u = A A_b^-1 x + (Phi - A A_b^-1 Phi_b) eta

and parts couple by their boundaries as those of Craig and Bampton do.  With residual attachment modes Psi (orthogonal
to Phi in K and M, Psi^T K Psi = Psi_b) K and M of (eta, alpha) are diag(Lambda, Psi_b) and diag(1, Psi^T M Psi).

- "rubin" (Rubin 1975, doi:10.2514/3.60497): residual attachment modes with their mass.
- "macneal" (MacNeal 1971, doi:10.1016/0045-7949(71)90031-9): without it; the boundary has no mass of its own, and
  frequencies are no upper bounds.
- "craig_chang" (Craig & Chang 1976, doi:10.2514/3.7148): the boundary moves by the whole attachment modes of inertia
  relief, A = G_e F = Psi + Phi_e Lambda^-1 Phi_eb^T.  They span the same as Rubin's, so that every answer is the same.
  The modes that vanish at the boundary are Rubin's, Phi - Psi Psi_b^-1 Phi_b: made with A they would span the same too,
  but depend on each other the more, the less flexibility the modes leave.
- "herting" (Herting 1985, doi:10.1016/0168-874X(85)90003-4): constraint modes for x, the free part's modes without the
  motion of their boundary, and what inertia does to the part while rigid-body motions of its boundary accelerate.  All
  modes that vanish at the boundary are made orthonormal to each other.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix

from fem_mbs.errors import AnalysisError
from fem_mbs.late import dataclass
from fem_mbs.solvers.reduction.fixed_interface import FixedInterface, without_strain
from fem_mbs.solvers.reduction.free_interface import FreeModes

__all__ = ["FREE_METHODS", "InterfaceBasis", "free_basis", "herting_basis"]

FREE_METHODS = ("macneal", "rubin", "craig_chang")
#: Smallest eigenvalue of the attachment modes' flexibility of unit diagonal.
_FLEXIBLE = 1e-11
#: A mode that vanishes at the boundary is a sum of others if less of it is left than this.
_DEPENDENT = 1e-8
#: Smallest eigenvalue of the mass of such modes, each of unit mass: the square of what is left, with four digits.
_FLAT = 1e-12


@dataclass(frozen=True)
class InterfaceBasis:
    """T (n, b + k) of u = T (x, eta), ``stiffness`` and ``mass`` (b + k, b + k), ``rigid`` (b + k, r): rigid-body
    motions, those of the free modes."""

    T: np.ndarray
    stiffness: np.ndarray
    mass: np.ndarray
    rigid: np.ndarray


def free_basis(method: str, M: csr_matrix, boundary: np.ndarray, modes: FreeModes) -> InterfaceBasis:
    """Return the basis of a ``method`` of `FREE_METHODS`; M sparse (n, n), ``boundary`` dofs (b,), whose unit forces
    made the attachment modes.

    Raises:
        AnalysisError: the modes kept hold all that forces at the boundary can do, so that no attachment mode is left.
    """
    if method not in FREE_METHODS:
        raise ValueError(f"method must be one of {', '.join(FREE_METHODS)}, not {method!r}")
    Phi, r, b = modes.shapes, modes.rigid.shape[1], len(boundary)
    m = Phi.shape[1]
    values = np.concatenate((np.zeros(r), modes.values))
    Phi_b = Phi[boundary]
    A, flexibility = modes.attachments, modes.flexibility
    flexibility = 0.5 * (flexibility + flexibility.T)
    G = _inverse(flexibility)
    weight = A.T @ (M @ A) if method != "macneal" else np.zeros((b, b))
    K = scipy.linalg.block_diag(flexibility, np.diag(values))
    W = scipy.linalg.block_diag(weight, np.eye(m))
    # (alpha, eta) of (x, eta)
    S = np.block([[G, -G @ Phi_b], [np.zeros((m, b)), np.eye(m)]])
    AG = A @ G
    T = np.column_stack((AG, Phi - AG @ Phi_b))
    rigid = np.vstack((Phi_b[:, :r], np.eye(m, r)))
    if method == "craig_chang":
        # A A_b^-1 x + X eta = Psi Psi_b^-1 x + X (eta + N A_b^-1 x) with N = Lambda^-1 Phi_b^T of elastic modes
        N = np.vstack((np.zeros((r, b)), Phi_b[:, r:].T / modes.values[:, None]))
        whole = flexibility + Phi_b @ N
        change = np.eye(b + m)
        change[b:, :b] = N @ _inverse(0.5 * (whole + whole.T))
        S, T = S @ change, T @ change
        rigid[b:] -= change[b:, :b] @ rigid[:b]
    T[boundary, :b], T[boundary, b:] = np.eye(b), 0.0  # to the last digit
    K = S.T @ K @ S
    K = without_strain(K, rigid) if r else 0.5 * (K + K.T)
    W = S.T @ W @ S
    return InterfaceBasis(T, K, 0.5 * (W + W.T), rigid)


def _inverse(flexibility: np.ndarray) -> np.ndarray:
    """Return the inverse of the boundary motions of the attachment modes under their forces."""
    d = flexibility.diagonal()
    message = (
        "Reduction: the modes kept hold all that forces at the interfaces do to the part, so that no attachment mode "
        'is left; keep fewer modes, or take "craig_bampton"'
    )
    if not d.min(initial=1.0) > 0.0:
        raise AnalysisError(message)
    scale = 1.0 / np.sqrt(d)
    values, vectors = np.linalg.eigh(flexibility * np.outer(scale, scale))
    if not values.min(initial=1.0) > _FLEXIBLE:
        raise AnalysisError(message)
    return scale[:, None] * ((vectors / values) @ vectors.T) * scale


def herting_basis(K: csr_matrix, M: csr_matrix, fixed: FixedInterface, modes: FreeModes) -> InterfaceBasis:
    """Return Herting's basis of constraint modes (`fixed`, without modes of its own) and free modes; K, M sparse (n,
    n)."""
    b, boundary, inside = fixed.boundary.size, fixed.boundary, fixed.interior
    B = fixed.static
    n, r = len(boundary) + len(inside), modes.rigid.shape[1]
    M_ii = M[inside][:, inside]
    X = _orthonormal(modes.vectors[inside] - B @ modes.vectors[boundary], M_ii)
    if r and fixed.factors is not None:
        loads = M[inside] @ modes.rigid
        X = np.column_stack((X, _remainder(fixed.factors.solve(np.asfortranarray(loads)), X, M_ii)))
    stiffness = X.T @ (K[inside][:, inside] @ X)
    values, V = np.linalg.eigh(0.5 * (stiffness + stiffness.T))
    X = X @ V
    T = np.zeros((n, b + X.shape[1]))
    T[boundary, np.arange(b)] = 1.0
    T[inside, :b], T[inside, b:] = B, X
    side = (M[inside][:, boundary] + M_ii @ B).T @ X if b else np.zeros((0, X.shape[1]))
    mass = np.block([[fixed.guyan_mass, np.asarray(side)], [np.asarray(side).T, np.eye(X.shape[1])]])
    rigid = np.vstack((modes.rigid[boundary], np.zeros((X.shape[1], r))))
    K_B = without_strain(fixed.guyan_stiffness, rigid[:b]) if r else fixed.guyan_stiffness
    return InterfaceBasis(T, scipy.linalg.block_diag(K_B, np.diag(values)), mass, rigid)


def _orthonormal(X: np.ndarray, M) -> np.ndarray:
    """Return an M-orthonormal basis of the span of X, without vectors that depend on others or move no mass."""
    for _ in range(2):
        size = np.sqrt(np.einsum("ik,ik->k", X, M @ X))
        keep = size > _DEPENDENT * size.max(initial=0.0)
        X = X[:, keep] / size[keep]
        values, V = np.linalg.eigh(X.T @ (M @ X))
        good = values > _FLAT
        X = X @ (V[:, good] / np.sqrt(values[good]))
    return X


def _remainder(Y: np.ndarray, X: np.ndarray, M) -> np.ndarray:
    """Return an M-orthonormal basis of what Y has beside the span of X, whose columns are M-orthonormal.

    Many free modes nearly contain the deflections by inertia forces; what is left of these is small, but is what makes
    the statics exact.  It is taken twice, since the first projection leaves rounding of the size of Y (Giraud, Langou
    and Rozloznik 2005, doi:10.1016/j.camwa.2005.08.009).
    """
    for _ in range(2):
        size = np.sqrt(np.einsum("ik,ik->k", Y, M @ Y))
        Y = Y[:, size > 0.0] / size[size > 0.0]
        Y = Y - X @ (X.T @ (M @ Y))
        left = np.sqrt(np.einsum("ik,ik->k", Y, M @ Y))
        Y = Y[:, left > _DEPENDENT]
    return _orthonormal(Y, M)
