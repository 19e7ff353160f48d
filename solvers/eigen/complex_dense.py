"""Complex modes of small problems by QZ (Moler & Stewart 1973) on the null space of the constraints, or by QR.

The state-space pencil of each part that nothing couples to the others is solved, after rigid-body motions have been
removed; where masses are regular, as a standard eigenproblem of its inverse about a shift.  Wanted pairs with large
residuals are then improved by inverse iteration close to them on the given matrices.  This method shares with the
Lanczos method only the matrices, the factors and the judgement of pairs, so that each checks the other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import scipy.linalg

from fem_mbs.errors import AnalysisError
from fem_mbs.late import dataclass
from fem_mbs.solvers.eigen.complex_pairs import (
    BACKWARD,
    BESIDE,
    ComplexModes,
    Motions,
    Pairs,
    assemble,
    beside,
    both_residuals,
    farthest,
    improved,
)
from fem_mbs.solvers.eigen.quadratic_pencil import QuadraticPencil
from fem_mbs.solvers.linear.saddle import null_space

__all__ = ["apart", "dense_modes"]

_NULL = 2e-14  # singular values of K, over its largest norm, that are zero but for rounding
_SMALL = 1e-5  # times that frequency: its square next to zeros is beyond what the matrices resolve
#: Shift beside zero, times the same frequency, and reciprocal condition numbers from which on it is of use.
_SHIFT, _REGULAR = 1e-3, 1e-9
#: Shifts that are no eigenvalues, and the reciprocal condition number of a singular matrix there.
_GENERIC, _SINGULAR = (1e-3 + 4e-4j, 0.61 + 0.37j), 1e-18
#: Unknowns up to which parts with real modes are solved by themselves; parts and entries of K up to which these are
#: sought.
_APART, _PARTS, _ENTRIES = 200, 20, 200_000
_ROUND_OFF = 1e-14  # of the largest entry
_FULL = 150  # rows up to which the matrix next to an eigenvalue is factored as a full one
_LARGE = 1e4  # times the median frequency of single unknowns: may be an infinite eigenvalue that rounding has moved


def dense_modes(
    pencil: QuadraticPencil, count: int, near: complex, which: str, reach: float | None, tolerance: float
) -> ComplexModes:
    """Return the modes as `complex_modes` does; ``near`` and ``reach`` are scaled."""
    parts, motions = _parts(pencil), None
    if pencil.motions is not None:
        motions = Motions.of(pencil, *pencil.motions)
    else:
        parts, taken, free = _without_motions(pencil, parts)
        motions = Motions.join(free) if free else None
        if taken:
            own = Motions.join(taken)
            pencil = pencil.take_out(own.right, own.left)
    deflate = any(part.zeros for part in parts)
    try:
        return _modes(pencil, parts, motions, deflate, count, near, which, reach, tolerance)
    except AnalysisError:
        if not deflate:
            raise
    # vectors from the smaller pencils lose digits where gyroscopic forces are large: solve the whole pencil
    return _modes(pencil, parts, motions, False, count, near, which, reach, tolerance)


def _modes(
    pencil: QuadraticPencil,
    parts: list[_Part],
    motions: Motions | None,
    deflate: bool,
    count: int,
    near: complex,
    which: str,
    reach: float | None,
    tolerance: float,
) -> ComplexModes:
    """Return the modes; ``deflate``: remove the zero eigenvalues of the parts with their chains before QZ."""

    def key(p):
        return -p.real if which == "rightmost" else np.abs(p - near)

    zeros, p, x, w, regular = _all(pencil, parts, deflate)
    if motions is not None and zeros > motions.zeros:
        motions = replace(motions, zeros=zeros)
    keep = np.ones(p.size, bool)
    if which == "rightmost" and reach is not None:
        keep &= np.abs(p.imag) <= reach
    if pencil.real:
        keep &= p.imag >= 0.0
    keep[keep] = key(p[keep]) <= farthest(pencil, p[keep], key, count)
    found = _judged(pencil, p[keep], x[:, keep], w[:, keep], regular[keep], tolerance, zeros > 0)
    covered = (np.inf if reach is None else reach / pencil.time, np.inf) if which == "rightmost" else None
    return assemble(pencil, improved(pencil, found, keep=zeros > 0), motions, key, count, tolerance, [], covered)


@dataclass(frozen=True)
class _Part:
    """Unknowns that nothing couples to the others, on the null space of their constraints: x = Z r, w = W l.

    Attributes:
        places (k,): these unknowns; Z, W (k, j); M, C, K (j, j): W^T M Z and so on.
        zeros: number of eigenvalues zero of rigid-body motions that are still in it.
    """

    places: np.ndarray
    Z: np.ndarray
    W: np.ndarray
    M: np.ndarray
    C: np.ndarray
    K: np.ndarray
    zeros: int = 0

    @staticmethod
    def free(places: np.ndarray, M: np.ndarray, C: np.ndarray, K: np.ndarray) -> _Part:
        """Return unknowns without constraints."""
        one = np.eye(places.size)
        return _Part(places, one, one, M, C, K)

    def held(self, rows: np.ndarray, columns: np.ndarray) -> _Part:
        """Return this part with further constraints rows r = 0 (m, j), whose forces are columns (j, m).

        Raises:
            AnalysisError: the forces are dependent, the constraints are not.
        """
        Y, V = null_space(rows), null_space(columns.T)
        if Y.shape != V.shape:
            raise AnalysisError(
                "Complex modes: the matrices are singular at every shift; forces of constraints depend on each other"
            )
        return replace(
            self, Z=self.Z @ Y, W=self.W @ V, M=V.T @ self.M @ Y, C=V.T @ self.C @ Y, K=V.T @ self.K @ Y
        )  # fmt: skip

    def padded(self, n: int, X: np.ndarray) -> np.ndarray:
        """Return vectors (n, k) over all unknowns from those of this part."""
        out = np.zeros((n, X.shape[1]), X.dtype)
        out[self.places] = X
        return out


def _parts(pencil: QuadraticPencil) -> list[_Part]:
    """Return the parts of a pencil: QR of each takes the cube of its size."""
    M, C, K, G, H = pencil.full
    found = []
    for at, row in pencil.parts():
        square = np.ix_(at, at)
        part = _Part.free(at, M[square], C[square], K[square])
        found.append(part.held(G[np.ix_(row, at)], H[np.ix_(at, row)]) if row.size else part)
    return [part for part in found if part.K.size]


def apart(pencil: QuadraticPencil, near: complex, count: int) -> tuple[Pairs, list[Motions], np.ndarray, np.ndarray]:
    """Return the ``count`` pairs nearest to ``near``, Im p >= 0, and rigid-body motions of each small part of a pencil
    that has real modes, as torsion and extension of a shaft; and the numbers of the unknowns and constraints of all
    that is left.

    The free spin of a rotor is among these motions: what is left needs no shift beside zero then.
    """
    pairs = [Pairs.none(pencil)]
    motions: list[Motions] = []
    left, rows = np.ones(pencil.n, bool), np.arange(pencil.m)
    if not pencil.real or pencil.motions is not None or pencil.K.nnz > _ENTRIES:
        return pairs[0], [], np.flatnonzero(left), rows
    size, parts = float(np.abs(pencil.K.data).max(initial=0.0)), pencil.parts()
    for unknowns, own in parts if 1 < len(parts) <= _PARTS else []:
        found = None
        if not own.size and unknowns.size <= _APART:
            # pencils of other speeds have the same parts in given units, not in the scales of all unknowns
            key = (*pencil.given_rows(unknowns), near / pencil.time, count, np.frexp(size)[1])
            made = partial(_in_given_units, pencil, unknowns, size, near, count)
            found = pencil.repeats.result(("apart", int(unknowns[0])), key, made)
        if found is not None:
            left[unknowns] = False
            d = pencil.d[unknowns, None]
            none = np.zeros((0, found[0].size), complex)
            part = Pairs(found[0] * pencil.time, found[1] / d, none, found[2] / d, none)
            pairs.append(part.among(pencil, unknowns, own))
            motions += [a.divided(d).among(pencil, unknowns) for a in found[3]]
    if left.any() and not any(np.diff(A.indptr)[left].any() for A in (pencil.M, pencil.C)):
        return pairs[0], [], np.arange(pencil.n), rows  # only massless unknowns
    return Pairs.join(pairs), motions, np.flatnonzero(left), rows


def _in_given_units(
    pencil: QuadraticPencil, unknowns: np.ndarray, size: float, near: complex, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[Motions]] | None:
    """Return eigenvalues (j,), right and left vectors (k, j) and motions of one part without the scales of a pencil;
    None where it has no real modes."""
    found = _apart(pencil, unknowns, size, near, count)
    if found is None:
        return None
    pairs, motions = found
    d = pencil.d[unknowns, None]
    return pairs.p / pencil.time, pairs.x * d, pairs.w * d, [a.divided(1.0 / d) for a in motions]


def _apart(
    pencil: QuadraticPencil, unknowns: np.ndarray, size: float, near: complex, count: int
) -> tuple[Pairs, list[Motions]] | None:
    """Return the pairs and motions of one part as `apart` does; None where it has no real modes."""
    own = pencil.part(unknowns, np.zeros(0, int))

    def key(p):
        return np.abs(p - near)

    held, taken, motions = _without_motions(own, [_Part.free(np.arange(own.n), *own.full[:3])], size)
    if len(taken) < len(motions):
        return None
    found = Pairs.none(own)
    for part in held:
        modes = _real_modes(part)
        if modes is None:
            return None
        wanted = modes[0].imag >= 0.0
        wanted[wanted] = key(modes[0][wanted]) <= farthest(own, modes[0][wanted], key, count)
        p, x, w = (a[..., wanted] for a in modes)
        none = np.zeros((0, p.size), complex)
        found = Pairs(p, part.Z @ x, none, part.W @ w, none)
    return found, motions


def _symmetric(A: np.ndarray) -> bool:
    """Return whether a matrix is real and symmetric up to rounding."""
    return np.isrealobj(A) and bool(np.abs(A - A.T).max() <= _ROUND_OFF * np.abs(A).max())


def _real_modes(part: _Part) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return all finite eigenvalues p (k,) of a part with right and left vectors (j, k) from its real modes; None where
    it has none: M, C and K are not symmetric, K is not positive definite, or C is not diagonal in the modes."""
    M, C, K = part.M, part.C, part.K
    if not all(_symmetric(A) for A in (M, C, K)):
        return None
    try:
        mu, X = scipy.linalg.eigh(M, K, check_finite=False)  # mu: 1 / w^2, so that the lowest modes are the exact ones
    except np.linalg.LinAlgError:
        return None
    least = _ROUND_OFF * np.abs(mu).max()
    damping = X.T @ C @ X
    d = np.diag(damping)
    if mu.min() < -least or np.abs(damping - np.diag(d)).max() > _ROUND_OFF * np.abs(damping).max():
        return None
    heavy = mu > least
    # mu p^2 + d p + 1 = 0
    d1, mu1 = d[heavy], mu[heavy]
    root = np.sqrt((d1**2 - 4.0 * mu1).astype(complex))
    small = -2.0 / (d1 + np.where(d1 < 0.0, -root, root))
    # d p + 1 = 0 of modes without mass that damp: filters, dampers beside springs
    first = ~heavy & (np.abs(d) > _ROUND_OFF * np.abs(damping).max(initial=0.0))
    x = np.hstack((X[:, heavy], X[:, heavy], X[:, first])).astype(complex)
    return np.concatenate((small, 1.0 / (mu1 * small), -1.0 / d[first])), x, x


def _all(
    pencil: QuadraticPencil, parts: list[_Part], deflate: bool
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of zero eigenvalues, and all other finite ones p (k,), with right and left vectors (n, k), and
    whether (k,) they are of a part that is regular for sure.

    Args:
        deflate: remove zero eigenvalues of parts with rigid-body motions first; otherwise their number is 0.
    """
    n, zeros = pencil.n, 0
    values, right, left, sure = [np.zeros(0, complex)], [np.zeros((n, 0))], [np.zeros((n, 0))], [np.zeros(0, bool)]
    for part in parts:
        removed, regular, *raw = _eigenpairs(part, deflate and part.zeros > 0)
        zeros += removed
        # rounding has made some zeros finite: remove the eigenvalues nearest to zero
        p, x, w = (a[..., np.argsort(np.abs(raw[0]))[max(part.zeros - removed, 0) :]] for a in raw)
        values.append(p)
        right.append(part.padded(n, part.Z @ x))
        left.append(part.padded(n, part.W @ w))
        sure.append(np.full(p.size, regular))
    return zeros, np.concatenate(values), np.hstack(right), np.hstack(left), np.concatenate(sure)


def _eigenpairs(part: _Part, deflate: bool) -> list:
    """Return the number of zero eigenvalues removed, whether the part is regular for sure, and all other finite
    eigenvalues p (k,), with right and left vectors (j, k)."""
    M, C, K = part.M, part.C, part.K
    n = len(K)
    one, none = np.eye(n), np.zeros((n, n))
    A, B = np.block([[none, one], [-K, -C]]), np.block([[one, none], [none, M]])
    blocks = _zero_blocks(A, B) if deflate else []
    for block in blocks:
        A, B = block.rest
    if not blocks:
        found = _real_modes(part) or _by_inverse(M, C, K)
        if found is not None:
            return [0, True, *found]
    if all(_singular(K + s * C + s**2 * M) for s in _GENERIC):
        raise AnalysisError(
            "Complex modes: the matrices are singular at every shift; an unknown has neither stiffness nor mass"
        )
    (a, b), vl, vr = scipy.linalg.eig(A, B, left=True, right=True, homogeneous_eigvals=True)
    finite = np.abs(b) > 1e-14 * np.abs(a)
    p, vl, vr = a[finite] / b[finite], vl[:, finite], vr[:, finite]
    for block in reversed(blocks):
        vl, vr = block.expanded(p, vl, vr)
    return [sum(block.size for block in blocks), False, p, vr[:n], vl[n:].conj()]


def _by_inverse(M: np.ndarray, C: np.ndarray, K: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return all eigenvalues p (k,) with right and left vectors (n, k), by QR of the inverse of the state-space
    operator about a shift beside zero; None where the matrix there or the mass is nearly singular.

    A third of the work of QZ, which stands where eigenvalues are infinite, or zeros come in chains.
    """
    n, s = len(K), _SHIFT
    N, Cs = K + s * C + s**2 * M, C + 2.0 * s * M
    regular, lu = _regularity(N)
    if min(regular, _regularity(M)[0]) < _REGULAR:
        return None
    by_damping, by_mass = (scipy.linalg.lu_solve(lu, a, check_finite=False) for a in (Cs, M))
    unit = 1.0 / np.sqrt(np.linalg.norm(by_mass))
    A = np.block([[-by_damping, -unit * by_mass], [np.eye(n) / unit, np.zeros((n, n))]])
    theta, vl, vr = scipy.linalg.eig(A, left=True, right=True, check_finite=False)
    w = scipy.linalg.lu_solve(lu, vl[:n].conj(), trans=1, check_finite=False)
    return s + 1.0 / theta, vr[:n], w


def _regularity(A: np.ndarray) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
    """Return an estimate of the reciprocal condition number of a matrix, and its factors L U with the pivots."""
    factors, estimate = scipy.linalg.get_lapack_funcs(("getrf", "gecon"), (A,))
    lu, pivots, _ = factors(A)
    return float(estimate(lu, np.abs(A).sum(axis=0).max(initial=0.0))[0]), (lu, pivots)


def _singular(A: np.ndarray) -> bool:
    """Return whether a matrix is singular whatever the sizes of its rows and columns are."""
    for axis in (1, 0):
        size = np.abs(A).max(axis=axis, keepdims=True)
        if not size.all():
            return True
        A = A / size
    return _regularity(A)[0] < _SINGULAR


@dataclass(frozen=True)
class _ZeroBlock:
    """Zero eigenvalues of a pencil A - p B, and ``rest``: the matrices of the smaller pencil without them.

    R is a basis of the null space of A.  With orthonormal Q = [R, Q2] and P = [P1, P2], where P2^T B R = 0, the pencil
    P^T (A - p B) Q is [[-p P1^T B R, P1^T (A - p B) Q2], [0, P2^T (A - p B) Q2]]: the lower right block is ``rest``.

    Attributes:
        corner: P1^T B R; sides: P1^T A Q2 and P1^T B Q2.
    """

    R: np.ndarray
    Q2: np.ndarray
    P2: np.ndarray
    corner: np.ndarray
    sides: tuple[np.ndarray, np.ndarray]
    rest: tuple[np.ndarray, np.ndarray]

    @property
    def size(self) -> int:
        return self.R.shape[1]

    def expanded(self, p: np.ndarray, vl: np.ndarray, vr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return left and right vectors (n, k) of the pencil A - p B from those of ``rest``, for eigenvalues p (k,) !=
        0."""
        first = np.linalg.solve(self.corner, self.sides[0] @ vr / p - self.sides[1] @ vr)
        return self.P2 @ vl, self.R @ first + self.Q2 @ vr


def _zero_blocks(A: np.ndarray, B: np.ndarray) -> list[_ZeroBlock]:
    """Return blocks of zero eigenvalues, each found in the ``rest`` of the one before.

    Zeros form chains of vectors A x_1 = 0, A x_2 = B x_1, ...: the first block holds the first member of each chain,
    the second the second one, and so on.  Without this, rounding turns a chain of k zeros into p ~ eps^(1/k).
    """
    blocks: list[_ZeroBlock] = []
    # where gyroscopic forces are large, A has small singular values of the size K/C, which are not zero
    n = A.shape[0] // 2
    K, C = A[n:, :n], A[n:, n:]
    scale = float(np.linalg.norm(K, 2)) / max(1.0, float(np.linalg.norm(C, 2))) if n else 0.0
    while A.shape[0]:
        _, sizes, vt = np.linalg.svd(A)
        r = int((sizes <= _NULL * scale).sum())
        if r == 0:
            break
        R, Q2 = vt[sizes.size - r :].T.conj(), vt[: sizes.size - r].T.conj()
        P, corner = scipy.linalg.qr(B @ R)
        P1, P2, corner = P[:, :r], P[:, r:], corner[:r]
        if np.linalg.svd(corner, compute_uv=False).min() <= _NULL * np.linalg.norm(B, 2):
            break  # a singular pencil: `beside` reports it
        sides = P1.T.conj() @ A @ Q2, P1.T.conj() @ B @ Q2
        A, B = P2.T.conj() @ A @ Q2, P2.T.conj() @ B @ Q2
        blocks.append(_ZeroBlock(R, Q2, P2, corner, sides, (A, B)))
    return blocks


def _without_motions(
    pencil: QuadraticPencil, parts: list[_Part], size: float = 0.0
) -> tuple[list[_Part], list[Motions], list[Motions]]:
    """Return parts without the rigid-body motions from the null spaces of K on which C does not act, these motions,
    and all motions; ``size``: least scale of singular values."""
    norms = [float(np.abs(part.K).sum(axis=0).max()) for part in parts]
    least = _NULL * max([size, *norms])
    found: list[_Part] = []
    taken: list[Motions] = []
    motions: list[Motions] = []
    for part, norm in zip(parts, norms, strict=True):
        v, u = _null_vectors(part, norm, least)
        if not v.shape[1]:
            found.append(part)
            continue
        own = Motions.of(pencil, part.padded(pencil.n, part.Z @ v), part.padded(pencil.n, part.W @ u))
        motions.append(own)
        acting = max(np.abs(part.C @ v).max(), np.abs(u.T @ part.C).max())
        mass = np.linalg.svd(u.T @ part.M @ v, compute_uv=False)
        if acting <= 1e-11 * abs(pencil.C).max() and mass.min() > 1e-12 * abs(pencil.M).max():
            taken.append(own)
            found.append(part.held(u.T @ part.M, part.M @ v))
        else:
            found.append(replace(part, zeros=own.zeros))
    return [part for part in found if part.K.size], taken, motions


def _null_vectors(part: _Part, norm: float, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Return right and left vectors v, u (j, r) of K with singular values up to ``least``, K v = u^T K = 0; ``norm``:
    of K."""
    n = len(part.K)
    if _regularity(part.K)[0] * norm > least * np.sqrt(n):  # by bounds of the least singular value
        return np.zeros((n, 0)), np.zeros((n, 0))
    if _symmetric(part.M) and _symmetric(part.K):
        sizes, vectors = np.linalg.eigh(part.K)
        v = vectors[:, np.abs(sizes) <= least]
        return v, v
    u, sizes, vt = np.linalg.svd(part.K)
    return vt[sizes <= least].conj().T, u[:, sizes <= least].conj()


def _judged(
    pencil: QuadraticPencil, p: np.ndarray, x: np.ndarray, w: np.ndarray, regular: np.ndarray, tolerance: float,
    zeros: bool,
) -> Pairs:  # fmt: skip
    """Return pairs p (k,), x, w (n, k); `_next_to` improves or leaves out those with large residuals, and those of
    parts that may be singular, where any vector has a small one."""
    x, w = x / np.linalg.norm(x, axis=0), w / np.linalg.norm(w, axis=0)
    plain = Pairs(p, x, _reactions(pencil, p, x, False), w, _reactions(pencil, p, w, True))
    residuals, backward = both_residuals(pencil, plain)
    fair = np.minimum(residuals / (1e-2 * tolerance), backward / (1e-2 * BACKWARD)) <= 1.0
    fair &= regular & (np.abs(p) <= _LARGE)
    if fair.all():
        return plain
    out = [plain.take([i]) if fair[i] else _next_to(pencil, plain.take([i]), tolerance, zeros) for i in range(p.size)]
    return Pairs.join([Pairs.none(pencil), *(pair for pair in out if pair is not None)])


def _next_to(pencil: QuadraticPencil, plain: Pairs, tolerance: float, zeros: bool) -> Pairs | None:
    """Return one pair after inverse iteration, None for an infinite eigenvalue that rounding has made finite.

    Where the pencil has ``zeros``, its matrix close to zero may be singular to rounding: then the ``plain`` pair is
    kept if its residual is smaller than after the iteration.

    Raises:
        AnalysisError: the matrices are singular at p, whatever the vectors.
    """
    p, x, w = plain.p, plain.x, plain.w
    pair = _beside(pencil, p, x, w) if pencil.n + pencil.m <= _FULL else None
    pair = beside(pencil, p, x, w) if pair is None else pair
    large = abs(p[0]) > _LARGE
    if large:
        return None if pair is None or pencil.residuals(p, pair.x, pair.y, pencil.absolute)[0][0] > tolerance else pair
    if pair is None and not (zeros and abs(p[0]) < _SMALL):
        raise AnalysisError(f"Complex modes: the matrices are singular next to p = {p[0] / pencil.time:.6g}")
    if pair is not None and (not zeros or both_residuals(pencil, pair)[0][0] <= 1e-2 * tolerance):
        return pair
    if pair is None or both_residuals(pencil, plain)[0][0] < both_residuals(pencil, pair)[0][0]:
        return plain
    return pair


def _beside(pencil: QuadraticPencil, p: np.ndarray, x: np.ndarray, w: np.ndarray) -> Pairs | None:
    """Return what `beside` does, by factors of a full matrix; None where these find it singular."""
    n, m = pencil.n, pencil.m
    s = p[0] + BESIDE * max(abs(p[0]), 1e-6)
    q = p[0] - s
    M, C, K, G, H = pencil.full
    N = np.zeros((n + m, n + m), complex)
    N[:n, :n] = K + s * (C + s * M)
    N[:n, n:], N[n:, :n] = H, G
    lu, pivots, info = scipy.linalg.lapack.zgetrf(N)
    if info:
        return None
    found = []
    for v, transposed in ((x, 0), (w, 1)):
        for _ in range(2):
            right = np.zeros((n + m, 1), complex)
            Mv, Cv = (M.T @ v, C.T @ v) if transposed else (M @ v, C @ v)
            right[:n] = -q * (Cv + (2.0 * s + q) * Mv)
            v, y = np.split(scipy.linalg.lapack.zgetrs(lu, pivots, right, trans=transposed)[0], [n])
            size = np.linalg.norm(v)
            if not np.isfinite(size) or size == 0.0:
                return None
            v, y = v / size, y / size
        found += [v, y]
    return Pairs(p, *found)


def _reactions(pencil: QuadraticPencil, p: np.ndarray, x: np.ndarray, transposed: bool) -> np.ndarray:
    """Return the multipliers (m, k) that give the least residuals with the vectors x (n, k)."""
    columns = (pencil.rows.T if transposed else pencil.columns).toarray()
    return -np.linalg.lstsq(columns, sum(pencil.forces(p, x, transposed)), rcond=None)[0]
