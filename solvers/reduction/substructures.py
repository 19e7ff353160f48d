"""Systems of substructures in modal amplitudes alone: interface forces are eliminated, not kept as coordinates.

    M_c u_c'' + K_c u_c = R_c^T g         every component c, under the interface forces g
    y = sum_c R_c u_c                     rows: E^T y = 0 (compatibility), the others are ends of elastic links
    g = E mu - N y                        equilibrium: constraint forces mu, links of stiffness K_s in N
    u_c = Phi_c p_c + Psi_c R_c^T g       free modes and residual attachment modes

    y = H p + Y g,  H = [R_c Phi_c],  Y = sum_c R_c Psi_c R_c^T,   W = (I + Y N)^-1
    E^T y = 0:  mu = -(E^T W Y E)^-1 E^T W H p,     g = Gamma p,     u = T p

Without links that is T = Phi - Psi A^T (A Psi_B A^T)^-1 A Phi_B (Hutton & Smith 1993, equation 3, with the signs
carried through), and the reduced problem (T^T K T - lambda T^T M T) xi = 0 (equation 2), links in it, has as many
unknowns as component modes were kept.  It is a Ritz problem in compatible displacements: its eigenvalues lie above
those of the full system.

Interface directions in which no component has residual flexibility (rigid bodies, components with all their modes, rows
that repeat others) have no mu to be eliminated: there E^T y = 0 is a condition on p, and p = Z p'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property

import numpy as np
import scipy.linalg
from scipy.sparse import csr_matrix

from fem_mbs.errors import AnalysisError
from fem_mbs.late import dataclass
from fem_mbs.solvers.linear.libraries import one_blas_thread
from fem_mbs.solvers.reduction.free_interface import FreeModes, free_interface

__all__ = ["Coupled", "Reduced", "Substructure", "couple"]

#: Residual flexibility of an interface direction, over the elastic one, that is none.
_STIFF = 1e-10
#: Motion that an interface condition asks of the amplitudes, over that of its sides, that is none.
_REPEATED = 1e-9
#: Eigenvalues over the largest that are none (1e-15 measured).
_RIGID = 1e-12


@dataclass(eq=False)
class Substructure:
    """A component: ``K``, ``M`` sparse (n, n), constraints within it eliminated; ``rows`` R sparse (b, n): its share
    of the b interface coordinates of the system."""

    name: str
    K: csr_matrix
    M: csr_matrix
    rows: csr_matrix

    @cached_property
    def touched(self) -> np.ndarray:
        """Return the interface coordinates in which the component takes part."""
        return np.flatnonzero(np.diff(csr_matrix(self.rows).indptr))

    def modes(self, count: int | None = None, cutoff: float | None = None) -> FreeModes:
        """Return the modes with free interfaces; see `free_interface`.

        Raises:
            AnalysisError: naming the component.
        """
        forces = csr_matrix(self.rows)[self.touched].T.toarray()
        try:
            return free_interface(self.K, self.M, forces, count=count, cutoff=cutoff)
        except AnalysisError as error:
            raise AnalysisError(f'Component "{self.name}": {error}') from None

    @property
    def size(self) -> int:
        return self.K.shape[0]


@dataclass(eq=False)
class Reduced:
    """A component in its own modes: ``basis`` (n, r + k + b') of free modes and residual attachment modes, stiffness
    and mass in it; all that coupling needs, so that a change of one component leaves those of the others."""

    part: Substructure
    modes: FreeModes

    @cached_property
    def basis(self) -> np.ndarray:
        return np.column_stack((self.modes.rigid, self.modes.vectors, self.modes.attachments))

    @cached_property
    def stiffness(self) -> np.ndarray:
        return self.project(self.part.K)

    @cached_property
    def mass(self) -> np.ndarray:
        return self.project(self.part.M)

    @property
    def kept(self) -> int:
        """Return the number of free modes, rigid-body ones included."""
        return self.modes.rigid.shape[1] + self.modes.vectors.shape[1]

    def project(self, A: csr_matrix) -> np.ndarray:
        """Return B^T A B of a symmetric matrix (n, n)."""
        small = self.basis.T @ (A @ self.basis)
        return 0.5 * (small + small.T)


@dataclass(eq=False)
class Coupled:
    """A system of reduced components: u_c = T_c p of modal amplitudes p (n_p,).

    ``parts``; ``local`` [(r + k + b', n_p)]: coordinates of the components' bases by p; ``interface`` (b, n_p): the
    interface coordinates y; ``K``, ``M`` (n_p, n_p); ``free``: how many interface conditions were conditions on the
    amplitudes; ``gap``: largest interface condition that p leaves open, over the motion of its sides.
    """

    parts: list[Reduced]
    local: list[np.ndarray]
    interface: np.ndarray
    K: np.ndarray
    M: np.ndarray
    free: int
    gap: float
    values: np.ndarray = field(init=False)
    vectors: np.ndarray = field(init=False)

    def __post_init__(self):
        try:
            self.values, self.vectors = scipy.linalg.eigh(self.K, self.M)
        except np.linalg.LinAlgError:
            raise AnalysisError("Components: the reduced mass is not positive; a component has no mass") from None

    @property
    def size(self) -> int:
        return self.K.shape[0]

    @property
    def rigid(self) -> np.ndarray:
        """Return which system modes (n_p,) are rigid-body motions: their values are round-off of the largest."""
        return np.abs(self.values) <= _RIGID * np.abs(self.values).max()

    @property
    def frequencies(self) -> np.ndarray:
        """Return the frequencies (n_p,) [Hz] of all system modes; negative ones of unstable systems."""
        return np.sign(self.values) * np.sqrt(np.abs(self.values)) / (2.0 * np.pi)

    def displacements(self, c: int, vectors: np.ndarray) -> np.ndarray:
        """Return T_c p (n_c, k) of component number c for amplitudes (n_p, k)."""
        return self.parts[c].basis @ (self.local[c] @ vectors)


@one_blas_thread()  # more only wait for each other in matrices this small
def couple(
    parts: Sequence[Reduced], conditions: int, links: np.ndarray | None = None, masses: np.ndarray | None = None
) -> Coupled:
    """Couple components at their interface coordinates.

    Args:
        conditions: the first so many of the b interface coordinates must vanish; the others are ends of links.
        links, masses: stiffness and mass (s, s) between these s coordinates, None: none.

    Raises:
        AnalysisError: nothing is left that can move.
        ValueError: shapes that do not fit.
    """
    parts = list(parts)
    b = parts[0].part.rows.shape[0]
    s = b - conditions
    links = np.zeros((s, s)) if links is None else np.asarray(links, float)
    masses = np.zeros((s, s)) if masses is None else np.asarray(masses, float)
    if links.shape != (s, s) or masses.shape != (s, s) or any(p.part.rows.shape[0] != b for p in parts):
        raise ValueError(f"Links must have shape ({s}, {s}) and all components {b} interface coordinates")
    first = np.concatenate(([0], np.cumsum([p.kept for p in parts])))
    n = int(first[-1])
    H, Y, motion, elastic = np.zeros((b, n)), np.zeros((b, b)), np.zeros(b), np.zeros(b)
    for i, part in enumerate(parts):
        at, modes = part.part.touched, part.modes
        rows = csr_matrix(part.part.rows)[at]
        here = rows @ modes.shapes
        H[at, first[i] : first[i + 1]] = here
        Y[np.ix_(at, at)] += rows @ modes.attachments  # with its round-off: see _forces
        motion[at] += np.linalg.norm(here, axis=1)
        r = modes.rigid.shape[1]
        elastic[at] += np.diag(modes.flexibility) + np.einsum("bk,k->b", here[:, r:] ** 2, 1.0 / modes.values)
    Z, gamma, free = _forces(H, Y, conditions, links, motion, elastic)
    if not Z.shape[1]:
        raise AnalysisError("Components: nothing is left that can move; keep more modes")
    local, K, M = [], np.zeros((Z.shape[1],) * 2), np.zeros((Z.shape[1],) * 2)
    y = np.zeros((b, Z.shape[1]))
    for i, part in enumerate(parts):
        local.append(np.vstack((Z[first[i] : first[i + 1]], gamma[part.part.touched])))
        if part.basis.shape[1] <= Z.shape[1]:
            K += local[i].T @ part.stiffness @ local[i]
            M += local[i].T @ part.mass @ local[i]
            y += (part.part.rows @ part.basis) @ local[i]
        else:  # a long interface: fewer motions are those of the system
            T = part.basis @ local[i]
            K += T.T @ (part.part.K @ T)
            M += T.T @ (part.part.M @ T)
            y += part.part.rows @ T
    K += y[conditions:].T @ links @ y[conditions:]
    M += y[conditions:].T @ masses @ y[conditions:]
    gap = float((np.abs(y[:conditions]).max(axis=1, initial=0.0) / _positive(motion[:conditions])).max(initial=0.0))
    return Coupled(parts, local, y, 0.5 * (K + K.T), 0.5 * (M + M.T), free, gap)


def _forces(H, Y, m: int, links, motion, elastic) -> tuple[np.ndarray, np.ndarray, int]:
    """Return Z (n, n'), Gamma Z (b, n') and how many conditions act on the amplitudes."""
    b, n = H.shape
    if m < b:
        N = np.zeros((b, b))
        N[m:, m:] = links
        W = np.linalg.solve(np.eye(b) + Y @ N, np.column_stack((H, Y)))
        H, Y = W[:, :n], W[:, n:]
    S, C = 0.5 * (Y[:m, :m] + Y[:m, :m].T), H[:m]
    size = np.sqrt(_positive(elastic[:m]))
    values, V = scipy.linalg.eigh(S / np.outer(size, size)) if m else (np.zeros(0), np.zeros((0, 0)))
    soft = values > _STIFF
    # directions without flexibility: V^T diag(1 / size) C p = 0
    rows = (V[:, ~soft] / size[:, None]).T @ C
    reach = np.abs(V[:, ~soft] / size[:, None]).T @ motion[:m]
    _, sigma, Qt = scipy.linalg.svd(rows / _positive(reach)[:, None])
    rank = int((sigma > _REPEATED).sum())
    Z = Qt[rank:].T if rank else np.eye(n)
    mu = np.zeros((m, Z.shape[1]))
    A = (V[:, soft] / size[:, None]) / values[soft]
    for _ in range(3):  # refined with what displacements have: the interface is to close to round-off
        mu -= A @ ((V[:, soft] / size[:, None]).T @ (C @ Z + Y[:m, :m] @ mu))
    gamma = np.zeros((b, Z.shape[1]))
    gamma[:m] = mu
    if m < b:
        gamma -= N @ (H @ Z + Y[:, :m] @ mu)
    return Z, gamma, rank


def _positive(a: np.ndarray) -> np.ndarray:
    return np.where(a > 0.0, a, 1.0)
