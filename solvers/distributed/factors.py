"""Factors of distributed symmetric matrices by MUMPS, and the eigenvalue iterations of SLEPc on them.

    K - s M = L D L^T,   negative eigenvalues by the inertia (Sylvester)

`DistributedPencil` and `DistributedFactors` answer as `Pencil`, `PositiveFactors` and `IndefiniteFactors` of
`fem_mbs.solvers.linear.factors` do.  Where a pencil has a mass the factors are those of SLEPc's spectral
transformation, so that the iteration of `nearest` needs no second factorisation (Hernandez, Roman & Vidal 2005,
doi:10.1145/1089014.1089019; Amestoy, Duff, L'Excellent & Koster 2001, doi:10.1137/S0895479899358194).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fem_mbs.errors import AnalysisError
from fem_mbs.solvers.distributed.matrix import DistributedMatrix
from fem_mbs.solvers.distributed.ranks import SCRATCH, libraries, scratch
from fem_mbs.solvers.linear.libraries import Effort, LinearSolveError, NotPositiveDefinite

__all__ = ["DistributedFactors", "DistributedPencil", "largest_reciprocals"]

_SEED = 11
_TOLERANCE = 1e-12  # of Krylov-Schur: of pairs (the values converge with its square)
_MANY = 300
_ACCURATE = 1e-9  # backward error of a solution, beyond which a small pivot has spoilt the factors
_PREFIX = "fem_mbs_"
#: Controls ICNTL of MUMPS: count all negative pivots (no ScaLAPACK at the root), find zero ones.
_CONTROLS = {13: 1, 24: 1}
#: Percent of room for delayed pivots (ICNTL(14)), tried one after the other; INFOG(1) where it was too little.
_ROOM, _FULL = (20, 100, 400), (-8, -9, -14, -15, -17, -20)
#: INFOG(1) where MUMPS cannot write its factors (ICNTL(22): on disk), and where it gets no memory.
_DISK, _MEMORY = -90, (-7, -13, -19)
_WEAK = 1e-14  # as `fem_mbs.solvers.linear.factors.WEAK`


class DistributedPencil:
    """K - s M for any s: symmetric distributed K, M (n, n); M may be left out."""

    def __init__(self, K: DistributedMatrix, M: DistributedMatrix | None = None):
        self.K, self.n = K, K.shape[0]
        self.M = None if M is None or not M.nnz else M.laid_out(K)
        self.mass_free = self.M is None
        self.effort = Effort()

    def release(self) -> None:
        """Free the memory of the matrices."""
        del self.K, self.M


class DistributedFactors:
    """L D L^T of K - s M, with ``negative``, the number of its negative eigenvalues.

    ``weakest``: an estimate of the smallest eigenvalue of the matrix with unit diagonal.

    Args:
        positive: refuse matrices that are not positive definite.

    Raises:
        NotPositiveDefinite: only with ``positive``.
        LinearSolveError: a small pivot has spoilt the factors.
        AnalysisError: the factors do not fit into memory, or on disk.
    """

    def __init__(self, pencil: DistributedPencil, shift: float = 0.0, positive: bool = True):
        self.pencil, self.shift = pencil, shift
        PETSc, _, _ = libraries()
        self._eps: Any = None
        PETSc.garbage_cleanup(PETSc.COMM_WORLD)  # factors that all ranks have dropped are kept until then
        self._matrices = [A.petsc() for A in (pencil.K, pencil.M) if A is not None]
        for room in _ROOM:
            try:
                self._factor(room)
            except PETSc.Error as error:
                raise LinearSolveError(_refused(error)) from None
            mumps = self._ksp.getPC().getFactorMatrix()
            if mumps.getMumpsInfog(1) not in _FULL:
                break
        pencil.effort.factorisations += 1
        if mumps.getMumpsInfog(1) < 0:
            raise _failed(mumps, positive)
        self.negative, zero = (int(number) for number in mumps.getInertia()[:2])
        if positive and self.negative:
            raise NotPositiveDefinite(f"The matrix has {self.negative} negative eigenvalues")
        if zero:
            kind = NotPositiveDefinite if positive else LinearSolveError
            raise kind(f"{zero} pivots of K - s M are zero: it is singular")
        self._check(positive)

    def _factor(self, room: int) -> None:
        """Factor with so many percent of room for delayed pivots."""
        PETSc, _, _ = libraries()
        if self.pencil.M is not None:
            K, M = self._matrices
            self._eps = _iteration(K, M, self.shift, room)
            self._ksp = self._eps.getST().getKSP()
            return
        self._ksp = PETSc.KSP().create(PETSc.COMM_WORLD)
        self._ksp.setOperators(self._matrices[0])
        _direct(self._ksp, room)
        self._ksp.setUp()

    def _check(self, positive: bool) -> None:
        """Solve once, to see whether the factors have their digits.

        Raises:
            LinearSolveError, NotPositiveDefinite: they have not; the matrix is singular.
        """
        K, M, ranks = self.pencil.K, self.pencil.M, self.pencil.K.ranks
        mine = K.layout.mine
        b = np.random.default_rng((_SEED, ranks.rank)).standard_normal(mine.size)
        diagonal = np.abs(K.own_diagonal()) if K.rows.shape[0] else np.zeros(0)
        d = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        x = self._solved((b / d)[:, None])[:, 0]
        size, grown = np.sqrt(ranks.sum([b @ b, (x / d) @ (x / d)]))
        self.weakest = float(size) / max(float(grown), 1e-300)
        A = K if M is None or not self.shift else K - M * self.shift
        rows = A.rows
        seen = ranks.whole(x, mine, self.pencil.n)[A.places[1]]
        left = np.abs(d * (rows @ seen) - b).max(initial=0.0)
        sizes = d * (abs(rows) @ np.abs(seen)) + np.abs(b)
        left, most = ranks.largest([left, sizes.max(initial=0.0)])
        error = left / most
        if not error < _ACCURATE:
            kind = NotPositiveDefinite if positive else LinearSolveError
            raise kind(f"The factors of K - s M lost their digits to a small pivot (backward error {error:.0e})")
        if positive and not self.weakest > _WEAK:
            raise NotPositiveDefinite(
                f"The matrix is singular: smallest eigenvalue {self.weakest:.1e} of unit diagonal"
            )

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return x of (K - s M) x = b, (n,) or (n, k), of a whole b."""
        return self._whole(self._solved(self._mine(b)), b)

    def refined(self, A: DistributedMatrix, b: np.ndarray, rounds: int) -> np.ndarray:
        """Return x of A x = b, (n,) or (n, k), with so many corrections by the factors, which are those of about A."""
        A, own = A.laid_out(self.pencil.K), self._mine(b)
        rows = A.rows
        x = self._solved(own)
        for _ in range(rounds):
            x += self._solved(own - rows @ self._whole(x, x)[A.places[1]])
        return self._whole(x, b)

    def _mine(self, b: np.ndarray) -> np.ndarray:
        """Return the rows (k, columns) of this rank of b (n,) or (n, columns)."""
        own = b[self.pencil.K.layout.mine]
        return own[:, None] if b.ndim == 1 else own

    def _whole(self, own: np.ndarray, like: np.ndarray) -> np.ndarray:
        """Return whole columns; each rank gives its rows of them.  The result is a vector if ``like`` is one."""
        out = self.pencil.K.ranks.whole(own, self.pencil.K.layout.mine, self.pencil.n)
        return out[:, 0] if like.ndim == 1 else out

    def _solved(self, own: np.ndarray) -> np.ndarray:
        """Return the rows (k, columns) of x of this rank, from those of b."""
        columns = own.shape[1]
        self.pencil.effort.solves += columns
        PETSc, _, _ = libraries()
        size = ((own.shape[0], self.pencil.n), (PETSc.DECIDE, columns))
        B = PETSc.Mat().createDense(size, comm=PETSc.COMM_WORLD)
        X = PETSc.Mat().createDense(size, comm=PETSc.COMM_WORLD)
        for A in (B, X):
            A.setUp()
        B.getDenseArray()[:] = own
        for A in (B, X):
            A.assemble()
        self._ksp.getPC().getFactorMatrix().matSolve(B, X)
        found = np.array(X.getDenseArray())
        B.destroy()
        X.destroy()
        return found

    def nearest(
        self, count: int, start: np.ndarray, known: np.ndarray | None = None, restarts: int | None = None
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the modes w^2 (k,), x (n, k) nearest to the shift, M-orthogonal to ``known`` (n, j) ones; None if
        they have not converged after ``restarts``.

        Raises:
            AnalysisError: not converged, without a limit of ``restarts``.
        """
        eps, n = self._eps, self.pencil.n
        eps.setDimensions(nev=count, ncv=min(n - 1, max(2 * count + 1, 20)))
        eps.setTolerances(tol=_TOLERANCE, max_it=restarts or _MANY)
        others = [] if known is None else list(known.T)
        with _vectors(self._matrices[0], self.pencil, [start, *others]) as made:
            eps.setInitialSpace(made[:1])
            if others:
                eps.setDeflationSpace(made[1:])
            found = _solved(eps, self.pencil, count)
        if found is None and restarts is None:
            raise AnalysisError(f"Modes: the iteration of SLEPc has not found {count} modes in {_MANY} restarts")
        return found


def largest_reciprocals(
    K: DistributedMatrix, Kg: DistributedMatrix, factors: DistributedFactors, start: np.ndarray, count: int, sign: str
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return 1/f (k,) and x (n, k) of (K + f Kg) x = 0, the f nearest to zero of a ``sign``; ``factors`` of K.

    Raises:
        AnalysisError: the iteration has found none of either sign.
    """
    PETSc, SLEPc, _ = libraries()
    which = {
        "both": SLEPc.EPS.Which.LARGEST_MAGNITUDE, "positive": SLEPc.EPS.Which.LARGEST_REAL,
        "negative": SLEPc.EPS.Which.SMALLEST_REAL,
    }  # fmt: skip
    A = (-Kg).laid_out(K).petsc()
    eps = SLEPc.EPS().create(PETSc.COMM_WORLD)
    eps.setOperators(A, factors._matrices[0])
    eps.setProblemType(SLEPc.EPS.ProblemType.GHEP)
    eps.setWhichEigenpairs(which[sign])
    eps.getST().setKSP(factors._ksp)
    n = K.shape[0]
    eps.setDimensions(nev=count, ncv=min(n - 1, max(2 * count + 1, 30)))
    eps.setTolerances(tol=_TOLERANCE, max_it=_MANY)
    with _vectors(A, factors.pencil, [start]) as made:
        eps.setInitialSpace(made)
        found = _solved(eps, factors.pencil, 1)
    if found is None:
        if sign == "both":
            raise AnalysisError("Buckling: the iteration of SLEPc has found no load factor")
        found = np.zeros(0), np.zeros((n, 0))
    return found


def _iteration(K: Any, M: Any, shift: float, room: int) -> Any:
    """Return SLEPc's Krylov-Schur iteration with the factors of K - s M."""
    PETSc, SLEPc, _ = libraries()
    eps = SLEPc.EPS().create(PETSc.COMM_WORLD)
    eps.setOptionsPrefix(_PREFIX)
    eps.setOperators(K, M)
    eps.setProblemType(SLEPc.EPS.ProblemType.GHEP)
    eps.setType(SLEPc.EPS.Type.KRYLOVSCHUR)
    eps.setWhichEigenpairs(SLEPc.EPS.Which.TARGET_MAGNITUDE)
    eps.setTarget(shift)
    st = eps.getST()
    st.setType(SLEPc.ST.Type.SINVERT)
    st.setShift(shift)
    _direct(st.getKSP(), room)
    eps.setDimensions(nev=1, ncv=min(K.getSize()[0] - 1, 20))
    eps.setUp()
    return eps


def _direct(ksp: Any, room: int) -> None:
    """Let a solver factor its matrix by MUMPS, L D L^T, with so many percent of ``room`` for delayed pivots."""
    PETSc, _, _ = libraries()
    ksp.setType(PETSc.KSP.Type.PREONLY)
    pc = ksp.getPC()
    pc.setType(PETSc.PC.Type.CHOLESKY)
    pc.setFactorSolverType("mumps")
    ksp.setOptionsPrefix(_PREFIX + "st_")
    options = PETSc.Options(ksp.getOptionsPrefix())
    for number, value in {**_CONTROLS, 14: room, 22: int(scratch() is not None)}.items():
        options[f"mat_mumps_icntl_{number}"] = value


@contextmanager
def _vectors(like: Any, pencil: DistributedPencil, columns: list[np.ndarray]) -> Iterator[list[Any]]:
    """Give vectors of PETSc with the values of whole vectors (n,)."""
    mine = pencil.K.layout.mine
    made = []
    for column in columns:
        v = like.createVecRight()
        v.setArray(np.ascontiguousarray(column[mine]))
        made.append(v)
    yield made
    for v in made:
        v.destroy()


def _solved(eps: Any, pencil: DistributedPencil, least: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the pairs of an iteration, None for fewer than ``least``."""
    PETSc, _, _ = libraries()
    try:
        eps.solve()
    except PETSc.Error as error:
        raise AnalysisError(f"Modes: the iteration of SLEPc failed: {_refused(error)}") from None
    layout, ranks = pencil.K.layout, pencil.K.ranks
    found = eps.getConverged()
    wanted = min(found, eps.getDimensions()[0])
    if found < least:
        return None
    v = eps.getOperators()[0].createVecRight()
    values, own = np.empty(wanted), np.empty((layout.mine.size, wanted))
    for k in range(wanted):
        values[k] = eps.getEigenpair(k, v).real
        own[:, k] = v.getArray()
    v.destroy()
    return values, ranks.whole(own, layout.mine, pencil.n)


def _failed(mumps: Any, positive: bool) -> LinearSolveError | AnalysisError:
    """Return the error of a factorisation that MUMPS gave up."""
    code, number = mumps.getMumpsInfog(1), mumps.getMumpsInfog(2)
    if code in (-6, -10):
        kind = NotPositiveDefinite if positive else LinearSolveError
        return kind("A pivot is zero: the matrix is singular")
    if code == _DISK:
        return AnalysisError(f'MUMPS cannot write its factors in "{scratch()}"; its disk may be full')
    if code in _MEMORY:
        return AnalysisError(
            f"the factors do not fit into memory; take more processes, or name a folder for them on disk in {SCRATCH}"
        )
    return LinearSolveError(f"MUMPS has not factored the matrix (INFOG(1) = {code}, INFOG(2) = {number})")


def _refused(error: Any) -> str:
    """Return the message of an error of PETSc in one line."""
    return f"PETSc has stopped with error {error.ierr}"
