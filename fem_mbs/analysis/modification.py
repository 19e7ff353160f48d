"""Modification of a model by its components: sensitivities, changes forward, and which change gives a frequency.

A parameter r of a component or a group has the value r (1 + alpha); alpha = 0 is the baseline.  With the baseline's
system modes u_i = T xi_i, xi^T (T^T M T) xi = 1, lambda = w^2 (Hutton & Smith 1993, equations 5 to 14):

    d lambda_i / d alpha = u_i^T (dK/d alpha - lambda_i dM/d alpha) u_i               summed over components
    (Lambda + dK_r(alpha)) c = lambda (I + dM_r(alpha)) c,   dK_r = U^T dK U           forward, u = U c
    [sum alpha_j (K_j' - lambda* M_j')_r] c = (lambda* I - Lambda) c                   inverse, for a required lambda*

With one parameter that is linear (density, modulus, thickness of plane parts, springs, masses) the last is an
eigenproblem in alpha: all its roots alpha > -1 are answers, each puts another mode at lambda*.  Of several parameters
the least change is sought, by Newton's method on lambda_i(alpha) with the least norm of alpha at every iteration.
Dimensions of sections act non-linearly: the elements of their groups, and of no other, are made anew.

T is that of the baseline.  A change of the density of whole components leaves their modes as they are, and the answers
are those of a new synthesis with as many modes; other changes are answered in the baseline's space.
`Modification.synthesis` makes the modes of the changed components anew, `Modification.full` solves the whole model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
import scipy.linalg
from scipy.optimize import brentq
from scipy.sparse import csr_matrix

from fem_mbs.analysis.components import Assembly
from fem_mbs.analysis.parameters import Parameter, read_parameter
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.matrices import Picked
from fem_mbs.solvers.linear import one_blas_thread
from fem_mbs.solvers.substructures import Reduced, Substructure, couple

__all__ = ["Answer", "Combination", "Modification"]

#: Factors 1 + alpha between which answers of non-linear parameters are sought, and how many are tried.
_RANGE, _TRIED = (0.1, 10.0), 41
#: Step of differences in alpha; of fourth order, exact for polynomials of degree four.
_STEP = 0.02
#: Iterations of the least change, the least part of 1 + alpha that one leaves, and the error of lambda at its end.
_ITERATIONS, _LEFT, _CLOSE = 60, 0.25, 1e-11
#: An eigenvalue of a root is the required one to this.
_HIT = 1e-6
_RIGID = 1e-9
#: Rounds of new syntheses for an answer, and the error of its frequency at the end.
_ROUNDS, _SETTLED = 15, 1e-9


@dataclass(frozen=True)
class Answer:
    """A change of one parameter that puts a mode at the required frequency.

    ``alpha``: relative change; ``value``: new value of the parameter, None where the groups have several; ``mode``:
    the number, from 1, of the mode that is at the frequency; ``like``: that of the baseline's mode which it is most
    alike; ``frequencies`` (n_p,) [Hz] of all modes then.
    """

    parameter: Parameter
    alpha: float
    value: float | None
    mode: int
    like: int
    frequencies: np.ndarray


@dataclass(frozen=True)
class Combination:
    """The least change of several parameters that gives the required frequencies.

    ``alphas`` (m,); ``values``: new values; ``modes``: the numbers of the modes that are at the required frequencies,
    from 1; ``iterations``; ``frequencies`` (n_p,) [Hz].
    """

    parameters: tuple[Parameter, ...]
    alphas: np.ndarray
    values: tuple[float | None, ...]
    modes: tuple[int, ...]
    iterations: int
    frequencies: np.ndarray


@dataclass(eq=False)
class _Change:
    """What a parameter changes: elements by components and of links, and their matrices at alpha = 1 if linear."""

    parameter: Parameter
    picks: dict[int, list[tuple[int, np.ndarray]]]  # component number, -1: links
    unit: dict[int, tuple] = field(default_factory=dict)
    base: dict[int, tuple] = field(default_factory=dict)


class Modification:
    """A baseline and parameters that may change.

    Args:
        assembly: the baseline, of `fem_mbs.analysis.components.assemble_components`.
        parameters: `Parameter` or texts as "density:chopper"; see `fem_mbs.analysis.parameters.read_parameter`.

    Raises:
        ModelError: a parameter that does not exist, named twice, or that nothing has.
    """

    def __init__(self, assembly: Assembly, parameters: Sequence[Parameter | str]):
        model = assembly.model
        self.assembly = assembly
        self.parameters = tuple(read_parameter(model, p) if isinstance(p, str) else p for p in parameters)
        names = [p.name for p in self.parameters]
        for name in names:
            if names.count(name) > 1:
                raise ModelError(f'Parameter "{name}": it is named twice; name it once')
        coupled = assembly.coupled
        self.values = coupled.values
        self.shapes = [coupled.displacements(c, coupled.vectors) for c in range(len(assembly.parts))]
        self.ends = coupled.interface[assembly.conditions :] @ coupled.vectors
        self.seconds: dict[str, float] = {}
        self._changes = [self._change(p) for p in self.parameters]
        self._projected: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    @property
    def frequencies(self) -> np.ndarray:
        """Of the baseline (n_p,) [Hz]."""
        return self.assembly.frequencies

    # --- matrices of changes ---------------------------------------------------------------------------------------
    def _change(self, parameter: Parameter) -> _Change:
        found: dict[int, list[tuple[int, np.ndarray]]] = {}
        everything = [(c, part.picks) for c, part in enumerate(self.assembly.parts)] + [(-1, self.assembly.links)]
        for c, picks in everything:
            for i, elements in picks:
                mine = elements[np.isin(elements, parameter.elements.get(i, ()))]
                if mine.size:
                    found.setdefault(c, []).append((i, mine))
        return _Change(parameter, found)

    def _matrices(self, change: _Change, c: int, alpha: float) -> tuple:
        """Stiffness and mass of the changing elements of a component at alpha, in its independent dofs; of links over
        their ends."""
        linear, picks = self.assembly.linear, change.picks[c]
        par = change.parameter.rows(self.assembly.model, linear.system, picks, alpha)
        K, M = linear.of_elements(Picked(linear.system, picks, par))
        if c < 0:
            ends = self.assembly.ends
            return tuple(A[ends][:, ends].toarray() for A in (K, M))
        part = self.assembly.parts[c]
        return part.reduce(K), part.reduce(M)

    def changes(self, k: int, alpha: float) -> dict[int, tuple]:
        """dK, dM of parameter number k by components (-1: links), sparse (n_c, n_c), at a relative change alpha."""
        change = self._changes[k]
        found = {}
        for c in change.picks:
            if change.parameter.linear:
                if c not in change.unit:
                    K, M = self._matrices(change, c, 0.0)
                    change.unit[c] = (K * change.parameter.stiffness, M * change.parameter.mass)
                found[c] = tuple(alpha * A for A in change.unit[c])
            else:
                if c not in change.base:
                    change.base[c] = self._matrices(change, c, 0.0)
                found[c] = tuple(a - b for a, b in zip(self._matrices(change, c, alpha), change.base[c], strict=True))
        return found

    def _project(self, changes: dict[int, tuple]) -> tuple[np.ndarray, np.ndarray]:
        """U^T dK U and U^T dM U, (n_p, n_p)."""
        n = self.values.size
        small = [np.zeros((n, n)), np.zeros((n, n))]
        for c, matrices in changes.items():
            U = self.shapes[c] if c >= 0 else self.ends
            for total, A in zip(small, matrices, strict=True):
                if not isinstance(A, csr_matrix) or A.nnz:
                    total += U.T @ (A @ U)
        return tuple(0.5 * (A + A.T) for A in small)

    def _reduced(self, k: int, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """dK_r, dM_r of a parameter at alpha."""
        if not self.parameters[k].linear:
            return (
                self._project(self.changes(k, alpha))
                if alpha
                else tuple(np.zeros((self.values.size,) * 2) for _ in "KM")
            )
        if k not in self._projected:
            self._projected[k] = self._project(self.changes(k, 1.0))
        return tuple(alpha * A for A in self._projected[k])

    def _slope(self, k: int, alpha: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """d dK_r / d alpha, d dM_r / d alpha."""
        if self.parameters[k].linear:
            return self._reduced(k, 1.0)
        h = _STEP * (1.0 + alpha)
        at = {s: self._reduced(k, alpha + s * h) for s in (-2, -1, 1, 2)}
        return tuple((8.0 * (at[1][i] - at[-1][i]) - (at[2][i] - at[-2][i])) / (12.0 * h) for i in (0, 1))

    def _alphas(self, alphas) -> np.ndarray:
        """Changes (m,) of all parameters, given by numbers in their order or by names.

        Raises:
            ModelError: a name that is none, or a change that leaves nothing.
        """
        if isinstance(alphas, Mapping):
            names = {p.name: i for i, p in enumerate(self.parameters)}
            found = np.zeros(len(names))
            for name, value in alphas.items():
                found[self.assembly.model._find("parameter", name, names, "Modification")] = value
        else:
            found = np.asarray(alphas, float)
        if found.shape != (len(self.parameters),) or not np.isfinite(found).all() or (found <= -1.0).any():
            raise ModelError(
                f"Modification: changes {found.tolist()} must be {len(self.parameters)} numbers greater than -1, one "
                "per parameter"
            )
        return found

    # --- sensitivities and forward ---------------------------------------------------------------------------------
    @one_blas_thread()
    def sensitivities(self, normalised: bool = True) -> np.ndarray:
        """(r / lambda_i) d lambda_i / d r of every parameter and mode, (m, n_p); not ``normalised``: r d lambda_i / d r
        [1/s^2].  Normalised ones of rigid-body modes are not numbers (nan)."""
        slopes = [self._slope(k) for k in range(len(self.parameters))]
        found = np.array([np.diag(K) - self.values * np.diag(M) for K, M in slopes]).reshape(-1, self.values.size)
        if not normalised:
            return found
        rigid = np.abs(self.values) <= _RIGID * np.abs(self.values).max()
        return np.where(rigid, np.nan, found / np.where(rigid, 1.0, self.values))

    @one_blas_thread()
    def forward(self, alphas) -> tuple[np.ndarray, np.ndarray]:
        """Frequencies [Hz] and modes (n_p, n_p), in the baseline's modes, after changes of the parameters: numbers in
        their order, or by names."""
        values, vectors = self._forward(self._alphas(alphas))
        return np.sign(values) * np.sqrt(np.abs(values)) / (2.0 * np.pi), vectors

    def _forward(self, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        K, M = np.diag(self.values), np.eye(self.values.size)
        for k in np.flatnonzero(alphas):
            dK, dM = self._reduced(int(k), float(alphas[k]))
            K, M = K + dK, M + dM
        try:
            return scipy.linalg.eigh(K, M)
        except np.linalg.LinAlgError:
            raise AnalysisError("Modification: the changed mass is not positive in the baseline's modes") from None

    # --- inverse ---------------------------------------------------------------------------------------------------
    @one_blas_thread()
    def answers(self, parameter: str | int, frequency: float, most: float = np.inf) -> list[Answer]:
        """All changes alpha of one parameter, -1 < alpha <= ``most``, that put a mode at a frequency [Hz], the smallest
        first; of non-linear parameters those between a tenth and ten times the value.

        Raises:
            ModelError: an unknown parameter, or no frequency.
        """
        k, target = self._number(parameter), self._target(frequency)
        roots = self._linear_roots(k, target) if self.parameters[k].linear else self._other_roots(k, target)
        found = []
        for alpha in sorted((a for a in roots if -1.0 < a <= most), key=abs):
            values, vectors = self._forward(self._only(k, alpha))
            j = int(np.abs(values - target).argmin())
            if abs(values[j] - target) > _HIT * target:
                continue  # a root of round-off
            like = int(np.abs(vectors[:, j]).argmax()) + 1
            f = np.sign(values) * np.sqrt(np.abs(values)) / (2.0 * np.pi)
            p = self.parameters[k]
            found.append(Answer(p, alpha, p.changed(alpha), j + 1, like, f))
        return found

    @one_blas_thread()
    def answer(self, parameter: str | int, mode: int, frequency: float, anew: bool = False) -> Answer | None:
        """The smallest change of one parameter that puts mode number ``mode``, from 1, at a frequency [Hz]: the mode of
        this number then, or the one most like it, which has passed others; None: there is none.

        ``anew``: with new modes of the components that change (`synthesis`), whose frequencies it then gives; else in
        the modes of the baseline.

        Raises:
            ModelError: an unknown parameter, mode, or no frequency.
        """
        i, k = self._mode(mode), self._number(parameter)

        def find(targets: np.ndarray) -> Answer | None:
            return next((a for a in self.answers(k, float(targets[0])) if i + 1 in (a.mode, a.like)), None)

        if not anew:
            return find(np.array([frequency]))
        return self._anew(find, lambda a: self._only(k, a.alpha), lambda a: (a.mode,), np.array([frequency], float))

    def _anew(self, find, alphas, modes, frequencies: np.ndarray):
        """An answer to targets that are moved until a new synthesis gives the frequencies."""
        targets = frequencies.copy()
        for _ in range(_ROUNDS):
            found = find(targets)
            if found is None:
                return None
            f = self.synthesis(alphas(found)).frequencies
            there = f[np.array(modes(found)) - 1]
            if (np.abs(there / frequencies - 1.0) <= _SETTLED).all():
                return replace(found, frequencies=f)
            targets = targets * frequencies / there
        raise AnalysisError(
            "Modification: the modes of the baseline are too far from those of the changed components to find the "
            "change; keep more modes"
        )

    @one_blas_thread()
    def combination(self, required: Mapping[int, float], anew: bool = False) -> Combination:
        """The least change of all parameters, by the norm of alpha, that puts modes (numbers from 1) at frequencies
        [Hz]; modes are followed by their shapes.  ``anew`` as of `answer`.

        Raises:
            ModelError: no requirement, more than parameters, unknown modes.
            AnalysisError: no convergence, or no parameter moves a mode.
        """
        if anew:
            frequencies = np.array([self._target(f) ** 0.5 for f in required.values()]) / (2.0 * np.pi)
            names = list(required)
            return self._anew(
                lambda targets: self.combination(dict(zip(names, targets.tolist(), strict=True))),
                lambda c: c.alphas, lambda c: c.modes, frequencies,
            )  # fmt: skip
        modes = np.array([self._mode(m) for m in required], int)
        targets = np.array([self._target(f) for f in required.values()])
        m = len(self.parameters)
        if not 1 <= modes.size <= m:
            raise ModelError(f"Modification: {modes.size} required frequencies need 1 to {m} parameters")
        alphas = np.zeros(m)
        values, vectors = self.values, np.eye(self.values.size)
        at, before = modes.copy(), np.eye(self.values.size)[:, modes]
        iterations = 0
        while True:
            left = targets - values[at]
            if (np.abs(left) <= _CLOSE * targets).all():
                break
            if iterations == _ITERATIONS:
                raise AnalysisError(
                    f"Modification: no change of {', '.join(p.name for p in self.parameters)} was found in "
                    f"{_ITERATIONS} iterations that gives the required frequencies; ask for smaller changes, or allow "
                    "more parameters"
                )
            iterations += 1
            slopes = [self._slope(k, alphas[k]) for k in range(m)]
            c = vectors[:, at]
            G = np.array([np.einsum("ki,kl,li->i", c, K, c) for K, _ in slopes]).T
            G -= values[at, None] * np.array([np.einsum("ki,kl,li->i", c, M, c) for _, M in slopes]).T
            scale = targets[:, None]
            if not np.linalg.matrix_rank(G / scale, tol=1e-10) == modes.size:
                raise AnalysisError(
                    "Modification: these parameters do not move the required modes independently; take others"
                )
            # alpha of least norm with G (alpha - alphas) = left
            new = np.linalg.lstsq(G / scale, (left + G @ alphas) / targets, rcond=None)[0]
            way = new - alphas
            down = way < 0.0
            reach = ((1.0 + alphas) * (1.0 - _LEFT))[down] / -way[down]
            alphas = alphas + min(1.0, reach.min(initial=np.inf)) * way
            values, vectors, M = self._state(alphas)
            alike = np.abs(vectors.T @ (M @ before))
            at = alike.argmax(axis=0)
            if np.unique(at).size < at.size:
                raise AnalysisError("Modification: two required modes became one on the way; ask for smaller changes")
            before = vectors[:, at]
        f = np.sign(values) * np.sqrt(np.abs(values)) / (2.0 * np.pi)
        new_values = tuple(p.changed(a) for p, a in zip(self.parameters, alphas, strict=True))
        return Combination(self.parameters, alphas, new_values, tuple(int(i) + 1 for i in at), iterations, f)

    def _state(self, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        values, vectors = self._forward(alphas)
        M = np.eye(self.values.size)
        for k in np.flatnonzero(alphas):
            M = M + self._reduced(int(k), float(alphas[k]))[1]
        return values, vectors, M

    def _linear_roots(self, k: int, target: float) -> np.ndarray:
        """All real alpha with det(Lambda + alpha K' - lambda (I + alpha M')) = 0."""
        K, M = self._reduced(k, 1.0)
        B = K - target * M
        gap = target - self.values
        b, Q = scipy.linalg.eigh(B)
        size = np.abs(b).max(initial=0.0)
        some = np.abs(b) > 1e-13 * size
        if size == 0.0:
            return np.zeros(0)
        if ((b[some] > 0.0).all() or (b[some] < 0.0).all()) and (np.abs(gap) > 1e-9 * target).all():
            # B = s R R^T: 1 / alpha are the eigenvalues of s R^T diag(gap)^-1 R, symmetric: all are real
            R = Q[:, some] * np.sqrt(np.abs(b[some]))
            inverse = scipy.linalg.eigvalsh(np.sign(b[some][0]) * (R.T @ (R / gap[:, None])))
        else:
            with np.errstate(all="ignore"):
                a, d = scipy.linalg.eigvals(B, np.diag(gap), homogeneous_eigvals=True)
                inverse = a / d
            inverse = inverse[np.isfinite(inverse)]
            inverse = inverse[np.abs(inverse.imag) <= 1e-6 * np.abs(inverse)].real
            roots = 1.0 / inverse[np.abs(inverse) > 1e-12 * np.abs(inverse).max(initial=0.0)]
            return np.append(roots, 0.0) if (np.abs(gap) <= 1e-9 * target).any() else roots
        return 1.0 / inverse[np.abs(inverse) > 1e-12 * np.abs(inverse).max(initial=0.0)]

    def _other_roots(self, k: int, target: float) -> list[float]:
        """Alpha of a non-linear parameter: where the number of modes below the target changes, within its range."""

        def value(alpha: float, j: int) -> float:
            return self._forward(self._only(k, alpha))[0][j] - target

        tried = np.geomspace(*_RANGE, _TRIED) - 1.0
        counts = []
        for alpha in tried:  # a model of its own each
            try:
                counts.append(int((self._forward(self._only(k, alpha))[0] < target).sum()))
            except ModelError:
                counts.append(None)  # a section that does not exist, as a tube without a hole
        found = []
        for a, b, below, above in zip(tried, tried[1:], counts, counts[1:], strict=False):
            if below is not None and above is not None:
                found += [brentq(value, a, b, args=(j,), xtol=1e-13) for j in range(*sorted((below, above)))]
        return found

    def _only(self, k: int, alpha: float) -> np.ndarray:
        alphas = np.zeros(len(self.parameters))
        alphas[k] = alpha
        return alphas

    def _number(self, parameter: str | int) -> int:
        if isinstance(parameter, (int, np.integer)):
            return int(parameter)
        names = {p.name: i for i, p in enumerate(self.parameters)}
        return self.assembly.model._find("parameter", parameter, names, "Modification")

    def _mode(self, mode: int) -> int:
        n = self.values.size
        if isinstance(mode, bool) or not isinstance(mode, (int, np.integer)) or not 1 <= mode <= n:
            raise ModelError(f"Modification: mode = {mode!r} must be a whole number from 1 to {n}, the modes there are")
        if abs(self.values[mode - 1]) <= _RIGID * np.abs(self.values).max():
            raise ModelError(f"Modification: mode {mode} is a rigid-body mode, which no parameter moves; take another")
        return int(mode) - 1

    @staticmethod
    def _target(frequency: float) -> float:
        try:
            f = float(frequency)
        except (TypeError, ValueError):
            f = np.nan
        if not (f > 0.0 and np.isfinite(f)):
            raise ModelError(f"Modification: frequency = {frequency!r} must be a positive number [Hz]")
        return (2.0 * np.pi * f) ** 2

    # --- anew ------------------------------------------------------------------------------------------------------
    @one_blas_thread()
    def synthesis(self, alphas) -> Assembly:
        """The model after changes, with new modes of the components that change, as many as before, and those of the
        others as they are; ``seconds`` of it says what that took."""
        alphas, assembly = self._alphas(alphas), self.assembly
        start = perf_counter()
        totals: dict[int, tuple] = {}
        for k in np.flatnonzero(alphas):
            for c, (dK, dM) in self.changes(int(k), float(alphas[k])).items():
                had = totals.get(c)
                totals[c] = (dK, dM) if had is None else (had[0] + dK, had[1] + dM)
        seconds = {"matrices": perf_counter() - start}
        parts, reduced = list(assembly.parts), list(assembly.coupled.parts)
        for c in sorted(totals.keys() - {-1}):
            start = perf_counter()
            old, (dK, dM) = parts[c].substructure, totals[c]
            new = Substructure(old.name, csr_matrix(old.K + dK), csr_matrix(old.M + dM), old.rows)
            parts[c] = replace(parts[c], substructure=new)
            reduced[c] = Reduced(new, new.modes(count=reduced[c].modes.vectors.shape[1]))
            seconds[f"modes of {old.name}"] = perf_counter() - start
        links = assembly.link_matrices
        if -1 in totals:
            links = tuple(a + b for a, b in zip(links, totals[-1], strict=True))
        start = perf_counter()
        coupled = couple(reduced, assembly.conditions, *links)
        seconds["coupling"] = perf_counter() - start
        return replace(assembly, parts=parts, coupled=coupled, link_matrices=links, seconds=seconds)

    @one_blas_thread()
    def full(self, alphas, count: int) -> np.ndarray:
        """Frequencies (count,) [Hz] of the whole model after changes, without reduction."""
        alphas, linear = self._alphas(alphas), self.assembly.linear
        K = M = csr_matrix((linear.first,) * 2)
        for k in np.flatnonzero(alphas):
            parameter, alpha = self.parameters[k], float(alphas[k])
            picks = [pick for some in self._changes[k].picks.values() for pick in some]
            rows = parameter.rows(self.assembly.model, linear.system, picks, alpha)
            base = linear.of_elements(Picked(linear.system, picks))
            if rows is None:
                K, M = K + alpha * parameter.stiffness * base[0], M + alpha * parameter.mass * base[1]
            else:
                new = linear.of_elements(Picked(linear.system, picks, rows))
                K, M = K + new[0] - base[0], M + new[1] - base[1]
        return self.assembly.full_modes(count, (csr_matrix(K), csr_matrix(M)))
