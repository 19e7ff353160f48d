"""The libraries behind every sparse factorisation: SuperLU (scipy) and CHOLMOD (scikit-sparse, 0.4 or 0.5).

No other module calls them: only this one knows their calls, their errors and the installed interface.
`fem_mbs.solvers.linear.service.factor` chooses between them by the kind of the matrix.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csc_matrix
from scipy.sparse.linalg import splu

from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.late import dataclass
from fem_mbs.threads import one_blas_thread, renew_blas

__all__ = [
    "INSTALL_CHOLMOD", "Effort", "ExactlySingular", "LinearSolveError", "NotPositiveDefinite", "TooLarge", "analyse",
    "cholmod_status", "has_cholmod", "lower_triangle", "lu_factors", "one_blas_thread", "symmetric_lu",
]  # fmt: skip


class LinearSolveError(AnalysisError):
    """A linear system was not solved to round-off.  ``index`` is the equation concerned, or None."""

    def __init__(self, message: str, index: int | None = None):
        super().__init__(message)
        self.index = index


class ExactlySingular(LinearSolveError):
    """A factorisation has met a column without a pivot."""


class TooLarge(LinearSolveError):
    """The factors have more entries than indices of this width can count."""


class NotPositiveDefinite(LinearSolveError):
    """A matrix that was to be positive definite has a pivot that is negative, zero or round-off."""


@dataclass
class Effort:
    """Counts of the work of a solution.

    The counts are symbolic analyses, factorisations, solutions (of one right side each, real or complex) and
    corrections: further applications of factors, to correct solutions and to build the space of `positive_part`.  Of an
    iteration by solutions there are steps, restarts and replaced vectors after breakdowns.
    """

    analyses: int = 0
    factorisations: int = 0
    solves: int = 0
    corrections: int = 0
    steps: int = 0
    restarts: int = 0
    breakdowns: int = 0


# --- SuperLU ---------------------------------------------------------------------------------------------------------
def lu_factors(A: Any, order: str = "COLAMD", threshold: float = 1.0, symmetric: bool = False) -> Any:
    """Return SuperLU's factors of A (n, n), compressed columns, real or complex; scipy's object with ``solve(b,
    trans)``.

    Args:
        order: of the columns: "COLAMD", "MMD_AT_PLUS_A" (of the symmetrised pattern) or "NATURAL".
        threshold: size of a diagonal entry, over the largest of its column, from which on it is the pivot; 1: partial
            pivoting, 0: rows are exchanged only where the diagonal entry is zero.
        symmetric: SuperLU's symmetric mode, for matrices whose diagonal gives good pivots.

    Raises:
        ExactlySingular: no pivot is left.
        LinearSolveError: the factors do not fit into memory.
    """
    try:
        return splu(A, permc_spec=order, diag_pivot_thresh=threshold, options={"SymmetricMode": symmetric})
    except RuntimeError as error:  # the one reason for which scipy raises it
        raise ExactlySingular(f"SuperLU has found no pivot: {error}") from None
    except MemoryError:
        raise LinearSolveError(f"The factors of a matrix of {A.shape[0]} rows do not fit into memory") from None


def symmetric_lu(A: Any, order: str = "MMD_AT_PLUS_A") -> Any:
    """Return SuperLU's factors of a symmetric A without any exchange of rows, so that U = D L^T, and the pivots D (n,).

    Raises:
        ExactlySingular: a pivot is zero.
        LinearSolveError: the factors do not fit into memory.
    """
    lu = lu_factors(A, order, 0.0, symmetric=True)
    if not np.array_equal(lu.perm_r, lu.perm_c):
        raise ExactlySingular("A pivot on the diagonal is zero")
    return lu, lu.U.diagonal()


# --- CHOLMOD ---------------------------------------------------------------------------------------------------------
class _Cholmod04:
    """CHOLMOD by scikit-sparse 0.4: `analyze`, then `cholesky_inplace`.

    A symmetric matrix is given by its lower triangle in compressed columns, ``matrix``; 64 bit indices ask for 64 bit
    factors.
    """

    matrix = csc_matrix

    def __init__(self, A, supernodal: bool | None, order: str, quiet: bool):
        from sksparse import cholmod

        self._library, self._supernodal, self._quiet = cholmod, supernodal is not False, quiet
        mode = {True: "supernodal", False: "simplicial", None: "auto"}[supernodal]
        self._factor = self._attempt(self._analysed, A, mode, order)

    def _analysed(self, A, mode: str, order: str) -> Any:
        return self._library.analyze(A, mode=mode, ordering_method=order, use_long=A.indices.dtype == np.int64)

    def _factored(self, A) -> None:
        self._factor.cholesky_inplace(A)

    def _attempt(self, call: Callable[..., Any], A, *options) -> Any:
        """Return the result of a call of the library; raise its errors as those of this package."""
        try:
            if not self._quiet:
                return call(A, *options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", self._library.CholmodWarning)
                return call(A, *options)
        except self._library.CholmodNotPositiveDefiniteError as error:
            column = getattr(error, "column", None)
            at = int(self.order[column]) if isinstance(column, int) else None
            raise NotPositiveDefinite("The matrix is not positive definite", at) from None
        except self._library.CholmodTooLargeError:
            raise TooLarge(f"The factors of {A.shape[0]} unknowns have too many entries") from None
        except self._library.CholmodError as error:
            what = f"CHOLMOD failed for {A.shape[0]} unknowns: {error or type(error).__name__}"
            raise LinearSolveError(what) from error

    def copy(self) -> _Cholmod04:
        """Return a copy with the same analysis, which leaves the factors of this object unchanged."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._factor = self._factor.copy()
        return other

    @property
    def order(self) -> np.ndarray:
        """Return the unknown at each position in the factors, (n,)."""
        return np.array(self._factor.P(), dtype=np.int64)

    def factor(self, A) -> None:
        """Factor a matrix of the analysed pattern: L L^T (supernodal), or L D L^T.

        Raises:
            NotPositiveDefinite: a pivot is not positive (supernodal).
            LinearSolveError: a pivot is zero, or memory is short.
        """
        self._attempt(self._factored, A)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return x of A x = b, (n,) or (n, k)."""
        return self._factor.solve_A(b)

    def pivots(self) -> np.ndarray | None:
        """Return D (n,), in the order of the factors; None where the library has `weakest` only."""
        return self._factor.D()

    def weakest(self) -> float:
        """Return the smallest pivot, by magnitude, of a matrix with a unit diagonal."""
        return float(np.abs(np.asarray(self.pivots())).min())


class _Cholmod05(_Cholmod04):
    """CHOLMOD by scikit-sparse 0.5: `CholeskyFactor(...).factorize(A, ldl=...)`."""

    matrix = csc_array

    def __init__(self, A, supernodal: bool | None, order: str, quiet: bool):
        super().__init__(A, supernodal, order, quiet=True)  # it warns of every small pivot of a multiplier

    def _analysed(self, A, mode: str, order: str) -> Any:
        # (without an order it would take the unknowns as they come, and fill in)
        return self._library.CholeskyFactor(A, lower=True, order=order, supernodal_mode=mode)

    @property
    def order(self) -> np.ndarray:
        return np.array(self._factor.get_perm(), dtype=np.int64)

    def _factored(self, A) -> None:
        self._factor.factorize(A, ldl=not self._supernodal)

    def solve(self, b: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", self._library.CholmodWarning)
            return self._factor.solve(b)

    def pivots(self) -> np.ndarray | None:
        return None if self._supernodal else self._factor.get_factor("LDL")[1].diagonal()

    def weakest(self) -> float:
        return float(self._factor.rcond) if self._supernodal else super().weakest()


#: What to do where CHOLMOD is missing.  pip takes the newest scikit-sparse, 0.5, which old SuiteSparse cannot build.
INSTALL_CHOLMOD = (
    'install it: pip install "fem-mbs[cholmod]" builds it with a C compiler and the headers of SuiteSparse '
    "(libsuitesparse-dev); where these are older than 7.4, as in Debian 12 and Ubuntu 22.04: "
    'pip install "fem-mbs[cholmod]" "scikit-sparse<0.5"'
)


@cache
def _load_cholmod() -> tuple[type[_Cholmod04] | None, str]:
    """Return the class for the interface of the installed scikit-sparse, or None and the reason."""
    try:
        from sksparse import cholmod
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] == "sksparse":
            return None, "scikit-sparse is not installed"
        return None, f"scikit-sparse cannot be loaded ({error})"
    except (ImportError, OSError, ValueError) as error:  # a missing library, an extension built for another numpy
        return None, f"scikit-sparse cannot be loaded ({error})"
    renew_blas()
    version = metadata.version("scikit-sparse")
    if hasattr(cholmod, "CholeskyFactor"):
        return _Cholmod05, version
    if hasattr(cholmod, "analyze"):
        return _Cholmod04, version
    return None, f"scikit-sparse {version} has an interface that is not known here (0.4 and 0.5 are)"


def _interface() -> type[_Cholmod04]:
    interface, reason = _load_cholmod()
    if interface is None:
        raise ModelError(f'Linear solver "cholmod": {reason}; choose "superlu", or {INSTALL_CHOLMOD}')
    return interface


def lower_triangle(values: np.ndarray, rows: np.ndarray, indptr: np.ndarray) -> Any:
    """Return the lower triangle (n, n), in compressed columns, as CHOLMOD takes a symmetric matrix.

    The arrays are not copied.

    Raises:
        ModelError: CHOLMOD is not installed.
    """
    A = _interface().matrix((len(indptr) - 1,) * 2)
    A.data, A.indices, A.indptr = values, rows, indptr  # (the constructor would narrow indices of 64 bits)
    return A


def analyse(A: Any, supernodal: bool | None, order: str = "default", quiet: bool = True) -> _Cholmod04:
    """Return CHOLMOD's analysis of the pattern of a `lower_triangle`: for L L^T (``supernodal``) or for L D L^T.

    Args:
        supernodal: None: supernodes where the library expects so many operations per entry that they pay, for positive
            definite matrices alone.
        order: of the unknowns: "default", "metis", "amd".
        quiet: leave out the library's warnings of small pivots; that costs microseconds, which count in a step loop.
    """
    return _interface()(A, supernodal, order, quiet)


def has_cholmod() -> bool:
    """Return whether CHOLMOD is installed."""
    return _load_cholmod()[0] is not None


def cholmod_status() -> tuple[bool, str]:
    """Return whether CHOLMOD is installed, and one sentence for the user: version and BLAS, or the reason and the
    remedy."""
    interface, detail = _load_cholmod()
    if interface is None:
        return False, f"{detail}; SuperLU is used, which is slower. For full speed {INSTALL_CHOLMOD}"
    return True, f"CHOLMOD by scikit-sparse {detail}, {_blas_text()}"


def _blas_text(maps: str | None = None) -> str:
    """Return the name of the BLAS that CHOLMOD is linked to, from the libraries mapped into this process (Linux)."""
    if maps is None:
        try:
            maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return "BLAS not known"
    mapped = dict.fromkeys(re.findall(r"(/\S+\.(?:so|dylib)[.\d]*)$", maps, flags=re.MULTILINE))
    # Wheels carry a private BLAS (numpy.libs, scipy.libs), which CHOLMOD does not see.
    paths = [p for p in mapped if not re.search(r"\.libs/", p)]
    # On Debian libblas.so.3 is a link into the folder of the implementation chosen.
    plain = [p for p in paths if re.search(r"/libblas\.so", p)]
    for pattern, label in (("openblas", "OpenBLAS"), ("mkl", "MKL"), ("blis", "BLIS"), ("atlas", "ATLAS")):
        if any(pattern in p for p in plain or paths):
            return f"BLAS: {label}"
    if plain:
        return "reference BLAS (large parts are factored 3 times slower: install libopenblas0-pthread)"
    return "BLAS not known"
