"""Component modes with free interfaces: rigid-body modes, elastic modes, residual attachment modes by inertia relief.

    K x = w^2 M x:  Phi_r (w = 0), Phi kept, Lambda = diag(w^2);  mass-normalised
    P = I - M Phi_r Phi_r^T                 takes from forces the inertia of the rigid-body motion that they cause
    G_e = P^T G_c P                         elastic flexibility; G_c: K^-1 with statically determinate supports
    Psi = (G_e - Phi Lambda^-1 Phi^T) F     what the modes left out do under forces F, statically

(MacNeal 1971, doi:10.1016/0045-7949(71)90031-9; Rubin 1975, doi:10.2514/3.60497; Craig & Chang 1976,
doi:10.2514/3.7148; Hutton & Smith 1993, equation 3).  G_e does not depend on the choice of the supports.  A held
component has no Phi_r and P = I; what holds it in part only leaves it the rigid-body modes that remain.

Supports are found by themselves: as many dofs as there are rigid-body modes, those at which these, in displacements
that are scaled to unit stiffnesses, are most independent (QR with column pivoting; Businger & Golub 1965,
doi:10.1007/BF01436084).  With them K has factors L L^T, which give rigid-body modes to round-off, and G_c F by
solutions of many right sides at a time.

Theory: docs/theory.md, section 11, "Free interfaces".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix

from fem_mbs.errors import AnalysisError
from fem_mbs.late import dataclass
from fem_mbs.solvers.distributed.matrix import compressed
from fem_mbs.solvers.eigen.modes import RealModes, real_modes
from fem_mbs.solvers.linear.libraries import LinearSolveError, NotPositiveDefinite, one_blas_thread
from fem_mbs.solvers.linear.service import factor

__all__ = ["FreeModes", "InertiaRelief", "free_interface"]

#: Right sides of one solution: their memory is that of so many vectors.
_BLOCK = 64
#: Rigid-body modes of a whole part in space; mechanisms may have more.
_USUAL = 6
#: Forces of a rigid-body motion over the sizes that they cancel from; more is no rigid-body motion.
_STRAINED = 1e-9
#: w^2 of rigid-body modes over the largest ratio of a stiffness to its mass, and what the next mode has over it.
_LEAST, _FAR = 1e-13, 1e4


class InertiaRelief:
    """G_e = P^T G_c P of a component: its elastic response to forces under which it would accelerate as a rigid body.

    ``rigid`` (n, r): rigid-body modes, r = 0 for a held one, M-orthonormal; ``supports`` (r,): the dofs that G_c holds.
    """

    def __init__(self, K, M, rigid: np.ndarray):
        """Take ``rigid``, approximate rigid-body modes (n, r), of full rank, and factor the supported stiffness.

        Raises:
            AnalysisError: a motion among them strains the component or moves no mass, or the stiffness is still
                singular although the rigid-body motions are held.
        """
        self.K, self.M = compressed(K), compressed(M)
        n, r = rigid.shape
        self.supports = _supports(self.K, self.M, rigid)
        self._free = np.setdiff1d(np.arange(n), self.supports)
        inner = self.K[self._free]
        self._factors = None
        if self._free.size:
            try:
                self._factors = factor(inner[:, self._free], kind="positive")
            except NotPositiveDefinite:
                raise AnalysisError(
                    f"Component modes: with its {r} rigid-body modes held, the stiffness is still singular or "
                    "negative; a part without mass is loose, or the state is unstable"
                ) from None
            except LinearSolveError as error:
                raise AnalysisError(f"Component modes: the stiffness cannot be factored: {error}") from None
        exact = np.zeros((n, r))
        if r:
            exact[self.supports] = np.eye(r)
            exact[self._free] = -self._inner(inner[:, self.supports].toarray())
            self._check(exact)
            exact = _orthonormal(exact, self.M)
        self.rigid = exact
        self._image = self.M @ exact

    def _check(self, rigid: np.ndarray) -> None:
        forces, size = np.abs(self.K @ rigid), abs(self.K) @ np.abs(rigid)
        worst = float((forces.max(axis=0) / np.maximum(size.max(axis=0), 1e-300)).max())
        if worst > _STRAINED:
            raise AnalysisError(
                f"Component modes: {self.supports.size} modes were taken for rigid-body ones, but one strains the "
                f"component (forces {worst:.1e} of what they cancel from); a spring that is next to nothing holds it: "
                "remove the spring or make it stiffer"
            )

    def _inner(self, b: np.ndarray) -> np.ndarray:
        """Return K_ff^-1 b, a block of columns at a time."""
        x = np.zeros_like(b)
        if self._factors is None:
            return x
        with one_blas_thread():
            for first in range(0, b.shape[1], _BLOCK):
                columns = slice(first, first + _BLOCK)
                x[:, columns] = self._factors.solve(np.asfortranarray(b[:, columns]))
        return x

    def solve(self, forces: np.ndarray) -> np.ndarray:
        """Return G_e F [displacements] of forces F (n, b)."""
        loads = forces - self._image @ (self.rigid.T @ forces)
        x = np.zeros((self.K.shape[0], forces.shape[1]))
        x[self._free] = self._inner(loads[self._free])
        return x - self.rigid @ (self._image.T @ x)


@dataclass(frozen=True)
class FreeModes:
    """Modes of a component with free interfaces; n dofs, r rigid-body modes, k elastic ones, b attachment forces.

    ``rigid`` (n, r) and ``vectors`` (n, k): M-orthonormal; ``values`` w^2 (k,) [1/s^2], ascending; ``attachments``
    Psi (n, b): residual attachment modes, M- and K-orthogonal to these [displacement per unit force]; ``forces`` F
    (n, b); ``flexibility`` F^T Psi (b, b): residual flexibility; ``supports`` (r,): dofs that hold the component
    statically determinate; ``residuals`` (k,) of the elastic modes; ``next_value``: the lowest w^2 left out if it was
    found, else infinity; ``relief``: G_e for any forces.
    """

    rigid: np.ndarray
    values: np.ndarray
    vectors: np.ndarray
    attachments: np.ndarray
    forces: np.ndarray
    flexibility: np.ndarray
    supports: np.ndarray
    residuals: np.ndarray
    next_value: float
    relief: Callable[[np.ndarray], np.ndarray]

    @property
    def shapes(self) -> np.ndarray:
        """Return Phi = (rigid, vectors), (n, r + k)."""
        return np.column_stack((self.rigid, self.vectors))

    @property
    def frequencies(self) -> np.ndarray:
        """Return the frequencies (k,) [Hz] of the elastic modes."""
        return np.sqrt(np.maximum(self.values, 0.0)) / (2.0 * np.pi)


@one_blas_thread()
def free_interface(
    K: csr_matrix,
    M: csr_matrix,
    boundary: ArrayLike,
    *,
    count: int | None = None,
    cutoff: float | None = None,
    check: str = "probe",
) -> FreeModes:
    """Return rigid-body, elastic and residual attachment modes of a component.

    Args:
        K, M: symmetric, sparse (n, n), positive semi-definite.
        boundary: dofs (b,) int at which unit forces act, or forces (n, b).
        count: number of elastic modes, the lowest; or
        cutoff: all elastic modes up to this frequency [Hz], counted by an inertia: none is missing.
        check: of a count, against missed copies of multiple modes; see `fem_mbs.solvers.eigen.modes.real_modes`.

    Raises:
        AnalysisError: the component is unstable or loose without mass, nothing has a mass, or an iteration fails.
        ValueError: neither or both of count and cutoff, or one that makes no sense; shapes that do not fit.
    """
    K, M = compressed(K), compressed(M)
    n = K.shape[0]
    if (count is None) == (cutoff is None):
        raise ValueError("Ask for a count of elastic modes or for a cut-off frequency")
    if count is not None and count < 0:
        raise ValueError(f"count must not be negative, got {count}")
    if cutoff is not None and not (cutoff > 0.0 and np.isfinite(cutoff)):
        raise ValueError(f"cutoff must be a positive frequency, got {cutoff} Hz")
    forces = _forces(boundary, n)
    modes = _complete(K, M, cutoff) if count is None else _counted(K, M, count, check)
    r = _rigid_ones(modes, _round_off(K, M))
    if modes.values[r:].size and modes.values[r] < 0.0:
        raise AnalysisError(
            f"Component modes: the component is unstable (w^2 = {modes.values[r]:.3g} 1/s^2); lower the loads of the "
            "state"
        )
    relief = InertiaRelief(K, M, modes.vectors[:, :r])
    values, vectors, residuals = modes.values[r:], modes.vectors[:, r:], modes.residuals[r:]
    following = float(values[count]) if count is not None and values.size > count else np.inf
    values, vectors, residuals = values[:count], vectors[:, :count], residuals[:count]
    rigid = relief.rigid
    if r and values.size:  # elastic modes of a Lanczos run have a little of rigid ones in them
        vectors = vectors - rigid @ (rigid.T @ (M @ vectors))
        vectors = vectors / np.sqrt(np.einsum("ik,ik->k", vectors, M @ vectors))
    attachments = relief.solve(forces)
    attachments -= vectors @ ((vectors.T @ forces) / values[:, None])
    attachments -= vectors @ (vectors.T @ (M @ attachments))  # round-off of values and vectors
    flexibility = csr_matrix(forces).T @ attachments  # unit forces are almost all zero
    return FreeModes(
        rigid, values, vectors, attachments, forces, 0.5 * (flexibility + flexibility.T), relief.supports, residuals,
        following, relief.solve,
    )  # fmt: skip


def _forces(boundary, n: int) -> np.ndarray:
    """Return force shapes (n, b): unit forces at dofs (b,), or the given shapes."""
    boundary = np.asarray(boundary)
    if boundary.ndim == 2:
        if boundary.shape[0] != n:
            raise ValueError(f"Force shapes must have {n} rows, not {boundary.shape[0]}")
        return np.asarray(boundary, dtype=float)
    if boundary.ndim != 1 or (boundary.size and not np.issubdtype(boundary.dtype, np.integer)):
        raise ValueError("boundary must be dofs (b,) or force shapes (n, b)")
    if boundary.size and (boundary.min() < 0 or boundary.max() >= n or np.unique(boundary).size < boundary.size):
        raise ValueError(f"boundary dofs must be in 0 ... {n - 1}, each once")
    forces = np.zeros((n, boundary.size))
    forces[boundary, np.arange(boundary.size)] = 1.0
    return forces


def _counted(K, M, count: int, check: str) -> RealModes:
    """Return the lowest modes: rigid ones, ``count`` elastic ones and, if there is one, the next."""
    wanted, least = count + _USUAL + 1, _round_off(K, M)
    while True:
        modes = real_modes(K, M, min(wanted, K.shape[0]), check=check)
        short = count + _rigid_ones(modes, least) + 1 - wanted
        if short <= 0 or modes.values.size < wanted:
            return modes
        wanted += short


def _complete(K, M, cutoff: float) -> RealModes:
    """Return all modes up to a frequency [Hz]; rigid ones at least."""
    most = (2.0 * np.pi * cutoff) ** 2
    return real_modes(K, M, band=(-min(_round_off(K, M), 1e-3 * most), most))


def _round_off(K, M) -> float:
    """Return the round-off of w^2 of rigid-body modes [1/s^2]."""
    mass = M.diagonal()
    some = mass > 0.0
    return _LEAST * float(np.max(K.diagonal()[some] / mass[some], initial=0.0))


def _rigid_ones(modes: RealModes, least: float) -> int:
    """Return the number of rigid-body modes.

    They are those that cause no strain, and others, as of components with constraints eliminated, whose w^2 are
    round-off of the matrices and far from all that follow.
    """
    size = np.abs(modes.values)
    for k in range(min(size.size, modes.rigid + 2 * _USUAL), modes.rigid, -1):
        largest = size[:k].max()
        if largest <= least and (k == size.size or size[k] >= _FAR * largest):
            return k
    return modes.rigid


def _supports(K, M, rigid: np.ndarray) -> np.ndarray:
    """Return dofs (r,) that hold rigid-body modes (n, r), in ascending order."""
    r = rigid.shape[1]
    if not r:
        return np.zeros(0, dtype=np.int64)
    stiff, mass = np.abs(K.diagonal()), np.abs(M.diagonal())
    # dofs without stiffness count by their masses, as if they belonged to a typical frequency
    typical = stiff.sum() / mass.sum() if mass.any() and stiff.any() else 1.0
    weight = np.sqrt(np.where(stiff > 0.0, stiff, typical * mass))
    _, _, order = scipy.linalg.qr((weight[:, None] * rigid).T, mode="economic", pivoting=True)
    # dofs in which K has nothing at all must be held, however light they are
    return np.sort(order[:r])


def _orthonormal(x: np.ndarray, M) -> np.ndarray:
    """Return a basis of the same span with x^T M x = 1.

    Raises:
        AnalysisError: a motion moves no mass.
    """
    for _ in range(2):  # once leaves the round-off of the scatter of the columns
        size = np.sqrt(np.einsum("ik,ik->k", x, M @ x))
        if not size.min() > 0.0:
            raise AnalysisError("Component modes: a rigid-body motion moves no mass; give the part a density")
        x = x / size
        try:
            L = scipy.linalg.cholesky(x.T @ (M @ x), lower=True)
        except np.linalg.LinAlgError:
            raise AnalysisError("Component modes: a rigid-body motion moves no mass; give the part a density") from None
        x = scipy.linalg.solve_triangular(L, x.T, lower=True).T
    return x
