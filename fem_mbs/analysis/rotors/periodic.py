"""Modes of a rotor whose coefficients are periodic in every frame: blades on supports that differ in two directions.

With the angle psi = Omega t of the rotor, motions are u = exp(p t) (z_0 + sum sqrt(2) (a_k cos k psi + b_k sin k psi)),
the matrices Fourier series in psi (Hill's method; Nayfeh & Mook, Nonlinear Oscillations, 1979, chapter 5).  For three
or more equal blades the solutions end after few harmonics, those of multi-blade coordinates (Coleman & Feingold 1958,
NACA report 1351), and Hill's equations have them exactly; of two blades, or unequal ones, they converge with the number
of harmonics.

Each solution appears again with p + i k Omega.  The p that is kept is the frequency that what does not turn sees most
of; where nothing of it moves, that which the rotor sees most of.

Theory: docs/theory.md, section 10, "Periodic coefficients".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, identity, kron, vstack
from scipy.sparse.linalg import lsqr

from fem_mbs.analysis.rotors.rotating import turned
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.errors import AnalysisError
from fem_mbs.late import dataclass
from fem_mbs.solvers.eigen.complex_modes import complex_modes
from fem_mbs.solvers.eigen.complex_pairs import ComplexModes
from fem_mbs.solvers.eigen.quadratic_pencil import QuadraticPencil
from fem_mbs.solvers.linear.service import factor
from fem_mbs.units import unit_of

__all__ = [
    "Motions",
    "Hill",
    "RESIDUAL",
    "PeriodicMotions",
    "forced_motion",
    "harmonics_needed",
    "periodic_modes",
    "resisted",
]

_DEGREES = (2, 4)  # of the Fourier series of the matrices, tried in this order
_PROOF = 1.7  # [rad] angle at which the series is compared
_SERIES = 1e-6  # of the largest coefficient
_FIRST, _LAST = 3, 15  # harmonics that are tried
_RESISTS = 1e-9  # of forces and constraints: what holds a motion of the rotor as a whole
_AGREE = 1e-6  # relative change of an eigenvalue or a response with two harmonics more
_SEEN = 1e-6  # share of what does not turn in a motion from which on it decides
#: Largest residual of a mode: copies of a free rotation, +-i k Omega, are double and defective.
RESIDUAL = 1e-6
_LEADS = 0.999  # of the largest harmonic, to count as the largest


@dataclass(frozen=True, eq=False)
class _Series:
    """Coefficients of 1, cos psi, sin psi, cos 2 psi ... of the matrices M, C, K and G."""

    M: list[csr_matrix]
    C: list[csr_matrix]
    K: list[csr_matrix]
    G: list[csr_matrix]


def _matrices(lin: Linearisation) -> tuple[csr_matrix, ...]:
    dofs = lin.dofs
    M, C, K = (csr_matrix(a[dofs][:, dofs]) for a in lin.whole())
    return M, C, K, csr_matrix(lin.G)


def _functions(degree: int, psi: np.ndarray) -> np.ndarray:
    """Return 1, cos psi, sin psi, cos 2 psi, ... (n, 2 degree + 1)."""
    k = np.arange(1, degree + 1)
    waves = np.stack((np.cos(psi[:, None] * k), np.sin(psi[:, None] * k)), axis=-1).reshape(len(psi), -1)
    return np.column_stack((np.ones(len(psi)), waves))


def _series(lin: Linearisation) -> _Series:
    """Return the Fourier series of the matrices in the fixed frame.

    Raises:
        AnalysisError: they have more harmonics than four.
    """
    proof = _matrices(turned(lin, _PROOF))
    for degree in _DEGREES:
        count = 2 * degree + 1
        psi = 2.0 * np.pi * np.arange(count) / count
        found = [_matrices(lin if a == 0.0 else turned(lin, float(a))) for a in psi]
        weights = _functions(degree, psi) * (2.0 / count)
        weights[:, 0] = 1.0 / count
        parts = [
            [sum((w * m[i] for w, m in zip(column, found, strict=True)), 0.0 * found[0][i]) for column in weights.T]
            for i in range(4)
        ]
        at = _functions(degree, np.array([_PROOF]))[0]
        gaps = []
        for i in range(4):
            there = sum((f * part for f, part in zip(at, parts[i], strict=True)), 0.0 * proof[i])
            gaps.append(abs(there - proof[i]).max() / max(abs(proof[i]).max(), 1e-300) if proof[i].nnz else 0.0)
        if max(gaps) <= _SERIES:
            return _Series(*parts)
    raise AnalysisError(
        f"{lin.steady.owner}: its coefficients have more than {_DEGREES[-1]} harmonics of its turn ({max(gaps):.1e} is "
        "left); compute a transient"
    )


class Hill:
    """Hill's equations (2 H + 1 times the unknowns) of a series with H harmonics; ``M, C, K, G`` as of a linearisation
    with constant coefficients."""

    def __init__(self, series: _Series, speed: float, harmonics: int):
        self.harmonics, size = harmonics, 2 * harmonics + 1
        degree = (len(series.M) - 1) // 2
        psi = 2.0 * np.pi * np.arange(4 * (harmonics + degree) + 4) / (4 * (harmonics + degree) + 4)
        own = _functions(harmonics, psi) * np.append(1.0, np.full(size - 1, np.sqrt(2.0)))
        terms = [own.T @ (f[:, None] * own) / len(psi) for f in _functions(degree, psi).T]

        def block(parts: list[csr_matrix]) -> csr_matrix:
            whole = csr_matrix((size * parts[0].shape[0], size * parts[0].shape[1]))
            for term, part in zip(terms, parts, strict=True):
                if part.nnz:
                    whole = whole + kron(csr_matrix(np.where(np.abs(term) > 1e-12, term, 0.0)), part)
            return csr_matrix(whole)

        D = np.zeros((size, size))  # derivative of the harmonics by psi
        for k in range(1, harmonics + 1):
            D[2 * k, 2 * k - 1], D[2 * k - 1, 2 * k] = -k, k
        rate = speed * kron(csr_matrix(D), identity(series.M[0].shape[1]))
        M, C, K = (block(parts) for parts in (series.M, series.C, series.K))
        self.M, self.G = M, block(series.G)
        self.C = csr_matrix(C + 2.0 * M @ rate)
        self.K = csr_matrix(K + C @ rate + M @ rate @ rate)

    def waves(self, x: np.ndarray) -> np.ndarray:
        """Return coefficients (2 H + 1, n, k) of exp(i j psi), j from -H to H, of vectors x (.., k)."""
        H = self.harmonics
        z = x.reshape(2 * H + 1, -1, x.shape[1])
        out = np.zeros(z.shape, complex)
        out[H] = z[0]
        for k in range(1, H + 1):
            a, b = z[2 * k - 1], z[2 * k]
            out[H + k], out[H - k] = (a - 1j * b) / np.sqrt(2.0), (a + 1j * b) / np.sqrt(2.0)
        return out


def _shares(lin: Linearisation, waves: np.ndarray) -> np.ndarray:
    """Return squared sizes (2 H + 1, k) of the harmonics, by the masses: of what does not turn, or, where that hardly
    moves, of the rotor seen from itself."""
    system, dofs, dim = lin.system, lin.dofs, lin.system.dimension
    nodes = np.flatnonzero(lin.steady.nodes)
    turns = nodes[system.nodes.rotational[nodes]]
    own_dofs = (system.offset[nodes][:, None] + np.arange(dim)).ravel()
    rotations = (system.offset[turns][:, None] + dim + np.arange(1 if dim == 2 else 3)).ravel()
    turning = np.isin(dofs, np.concatenate((own_dofs, rotations)))
    mass = np.abs(lin.whole()[0].diagonal())[dofs]
    scale = np.sqrt(np.where(mass > 0.0, mass, 0.0))[None, :, None]
    sizes = np.abs(scale * waves) ** 2
    still, whole = sizes[:, ~turning].sum(axis=1), sizes.sum(axis=1)
    P = lin.transport(np.ones_like(lin.steady.nodes))[dofs][:, dofs] / lin.steady.speed
    P2 = P @ P
    H = (len(waves) - 1) // 2
    seen = np.zeros_like(waves)
    for j in range(len(waves)):  # R^T(psi) = 1 - sin psi P + (1 - cos psi) P^2
        seen[j] += waves[j] + P2 @ waves[j]
        if j > 0:
            seen[j] -= P @ waves[j - 1] / 2j + 0.5 * (P2 @ waves[j - 1])
        if j < 2 * H:
            seen[j] += P @ waves[j + 1] / 2j - 0.5 * (P2 @ waves[j + 1])
    own = (np.abs(scale * seen) ** 2)[:, turning].sum(axis=1)
    return np.where(still.sum(axis=0) > _SEEN * whole.sum(axis=0), still, own)


def periodic_modes(
    lin: Linearisation, count: int, harmonics: int | None, owner: str, **given: Any
) -> tuple[ComplexModes, np.ndarray, np.ndarray, list[str]]:
    """Return complex modes of a steady rotation with periodic coefficients, as `find_modes` does.

    Args:
        lin: about the steady rotation, increments in the fixed frame.
        harmonics: of the motions; with two more the eigenvalues must be the same.  None: as many as the modes need, up
            to 15.
        given: further arguments of `complex_modes`.

    Returns:
        Modes, their rows, shapes (N, k) where the rotor stands as in the state, and warnings.

    Raises:
        AnalysisError: the modes cannot be found.
    """
    used, modes, kept, lost = _converged(lin, count, harmonics, owner, given)
    warnings = []
    if lost:
        warnings.append(
            f"{lost} of the lowest modes change with more than {used} harmonics of the turn and are left out, whether "
            "stable or not; give more harmonics"
        )
    z = modes.right[:, kept].reshape(2 * used + 1, -1, len(kept))
    start = _functions(used, np.zeros(1))[0] * np.append(1.0, np.full(2 * used, np.sqrt(2.0)))
    shapes = lin.expand(np.einsum("j,jnk->nk", start, z))
    some = {key: getattr(modes, key)[kept] for key in ("values", "residuals", "backward")}
    vectors = {key: getattr(modes, key)[:, kept] for key in ("right", "left", "multipliers")}
    chosen = replace(modes, **some, **vectors, rigid=int((kept < modes.rigid).sum()))
    return chosen, np.arange(len(kept)), shapes, warnings


def harmonics_needed(lin: Linearisation, count: int, owner: str) -> int:
    """Return with how many harmonics the ``count`` lowest modes of a steady rotation have converged, at most 15."""
    return _converged(lin, count, None, owner, {})[0]


class PeriodicMotions:
    """Hill's equations of a steady rotation, with what branches over the speed need of a linearisation.

    Attributes:
        M, C, K, G: with a number of harmonics.
        copies: how often each mode appears among the eigenvalues, with p + i k Omega; ``within``: up to ``reach``
            [rad/s] (0: anywhere).
    """

    frame = "periodic"

    def __init__(self, lin: Linearisation, harmonics: int, reach: float):
        self.about, self.steady, self.system = lin, lin.steady, lin.system
        self.hill = Hill(_series(lin), lin.steady.speed, harmonics)
        self.M, self.C, self.K, self.G = self.hill.M, self.hill.C, self.hill.K, self.hill.G
        self.copies = 2 * harmonics + 1
        turns = np.ceil(2.0 * reach / abs(lin.steady.speed)) + 2.0
        self.within = int(min(turns, self.copies)) if reach > 0.0 else self.copies

    def expand(self, x: np.ndarray) -> np.ndarray:
        """Return mean displacements (N,) or (N, k) of all dofs over a turn, which have the frequency of the mode in the
        fixed frame."""
        return self.about.expand(x[: x.shape[0] // self.copies])

    def principal(self, right: np.ndarray) -> np.ndarray:
        """Return which of vectors (n, k) are those of the frequencies that are kept, (k,) bool."""
        shares = _shares(self.about, self.hill.waves(right))
        return shares[self.hill.harmonics] >= _LEADS * shares.max(axis=0)

    def padded(self, x: np.ndarray) -> np.ndarray:
        """Return a vector of fewer harmonics among those of these equations."""
        return np.concatenate((x, np.zeros(self.M.shape[0] - x.size, x.dtype)))


def forced_motion(lin: Linearisation, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the steady response to forces Re(F exp(i psi)) that turn with the rotor, by harmonic balance.

    Args:
        lin: about the steady rotation, increments in the fixed frame.
        force: F (N,), complex.

    Returns:
        Displacements X (N,) of the first harmonic, Re(X exp(i psi)), and the largest amplitudes (N,) of the others.

    Raises:
        SingularShift: the speed is critical, and nothing damps.
        AnalysisError: 15 harmonics of the turn are too few.
    """
    series, before = _series(lin), None
    for harmonics in range(_FIRST, _LAST + 1, 2):
        hill = Hill(series, lin.steady.speed, harmonics)
        right = np.zeros((2 * harmonics + 1, lin.dofs.size))
        right[1], right[2] = force[lin.dofs].real / np.sqrt(2.0), -force[lin.dofs].imag / np.sqrt(2.0)
        # free motions would drift away
        pencil = QuadraticPencil(hill.M, hill.C, hill.K, vstack((hill.G, _free_rows(lin, hill))))
        factors = factor(pencil.shifted(0.0), pencil.rows, "general", columns=pencil.columns)
        z = factors.solve(right.ravel() * pencil.d)[0] * pencil.d
        waves = lin.expand(hill.waves(z[:, None])[..., 0].T)[:, harmonics:]
        X = 2.0 * waves[:, 1]
        if before is not None and np.abs(X - before).max() <= _AGREE * np.abs(X).max():
            rest = np.delete(2.0 * np.abs(waves), 1, axis=1)
            rest[:, 0] *= 0.5
            return X, rest.max(axis=1)
        before = X
    raise AnalysisError(
        f"{lin.steady.owner}: the response at {lin.steady.speed:g} {unit_of('rad/s')} changes with more than {_LAST} "
        "harmonics of the turn; compute a transient"
    )


def _free_rows(lin: Linearisation, hill: Hill) -> csr_matrix:
    """Return rows (r, n) that hold the rotor's rotation about its axis and its displacement along it, where nothing
    resists."""
    system, rotation, size = lin.system, lin.steady, 2 * hill.harmonics + 1
    psi = 2.0 * np.pi * np.arange(2 * size) / (2 * size)
    own = _functions(hill.harmonics, psi) * np.append(1.0, np.full(size - 1, np.sqrt(2.0)))
    spin = lin.velocity() / rotation.speed
    turning = np.array([lin.turn_matrix(a) @ spin for a in psi])
    motions = [(own.T @ turning / len(psi))[:, lin.dofs].ravel()]
    if system.dimension == 3:
        along = np.zeros((size, system.n_dof))
        n = system.nodes.x.shape[0]
        along[0, system.offset[:n][rotation.nodes][:, None] + np.arange(3)] = rotation.axis
        motions.append(along[:, lin.dofs].ravel())
    X = np.array(motions).T
    return csr_matrix((hill.M @ X[:, ~resisted(hill.K, hill.G, X)]).T)


def resisted(K: csr_matrix, G: csr_matrix, X: np.ndarray) -> np.ndarray:
    """Return which motions X (n, k) are none, or meet constraints G or forces K X that those of constraints do not
    balance, (k,) bool: joint forces turn with the rotor."""
    held = ~X.any(axis=0) | (np.abs(G @ X).max(axis=0, initial=0.0) > _RESISTS)
    for k in np.flatnonzero(~held):
        force = K @ X[:, k]
        if G.shape[0]:
            force = force - G.T @ lsqr(G.T, force, atol=1e-14, btol=1e-14)[0]
        size = float(np.linalg.norm(abs(K) @ np.abs(X[:, k])))
        held[k] = np.linalg.norm(force) > _RESISTS * max(size, 1e-300)
    return held


#: What has the matrices of small motions about a steady rotation.
Motions = Linearisation | PeriodicMotions


def _converged(
    lin: Linearisation, count: int, harmonics: int | None, owner: str, given: Mapping[str, Any]
) -> tuple[int, ComplexModes, np.ndarray, int]:
    """Return the number of harmonics, the modes, which of them are kept, and how many have not converged."""
    series, speed = _series(lin), lin.steady.speed
    tried = range(_FIRST, _LAST + 1, 2) if harmonics is None else [harmonics]
    more: tuple[Hill, ComplexModes] | None = None
    before = -1
    for used in tried:
        hill, modes = more or _solved(series, speed, used, count, owner, given)
        more = _solved(series, speed, used + 2, count, owner, given)
        kept, lost = _judged(lin, hill, modes, more[1], count)
        enough = len(kept) - int((kept < modes.rigid).sum()) >= count
        if not lost and (enough or len(kept) == before):
            break
        before = len(kept)
    return used, modes, kept, lost


def _solved(
    series: _Series, speed: float, harmonics: int, count: int, owner: str, given: Mapping[str, Any]
) -> tuple[Hill, ComplexModes]:
    """Return Hill's equations and their modes, copies with p + i k Omega included."""
    hill = Hill(series, speed, harmonics)
    some = min(2 * count * (2 * harmonics + 1), hill.M.shape[0])
    more = {**given, "check": "none", "tolerance": RESIDUAL}
    try:
        found = complex_modes(hill.M, hill.C, hill.K, hill.G if hill.G.shape[0] else None, some, **more)
    except AnalysisError as error:
        raise type(error)(str(error), owner=owner) from None
    return hill, found


def _judged(
    lin: Linearisation, hill: Hill, modes: ComplexModes, better: ComplexModes, count: int
) -> tuple[np.ndarray, int]:
    """Return numbers of the ``count`` lowest modes beside rigid motions, one of each family and pair, and how many
    below the last of them have not converged."""
    rows = np.flatnonzero(modes.values.imag >= -1e-9 * np.abs(modes.values))
    p = modes.values[rows]
    shares = _shares(lin, hill.waves(modes.right[:, rows]))
    leads = shares[hill.harmonics] >= _LEADS * shares.max(axis=0)
    gap = np.abs(p[:, None] - better.values).min(axis=1, initial=np.inf)
    same = (gap <= _AGREE * np.maximum(np.abs(p), abs(lin.steady.speed))) | (rows < modes.rigid)
    order = np.argsort(np.abs(p), kind="stable")
    rows, leads, same = rows[order], leads[order], same[order]
    kept = rows[leads & same]
    kept = kept[: int((kept < modes.rigid).sum()) + count]
    last = np.flatnonzero(leads & same)[len(kept) - 1] if len(kept) >= count else len(rows)
    return kept, int((leads & ~same)[:last].sum())
