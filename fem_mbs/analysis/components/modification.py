"""Modify a model by its components: sensitivities, effect of changes, and the change that gives a frequency.

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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from time import perf_counter

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix

from fem_mbs.analysis.components.changes import Changes
from fem_mbs.analysis.components.parameters import ModelParameter, read_parameter
from fem_mbs.analysis.components.synthesis import Assembly
from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import AnalysisError, ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.solvers.linear.libraries import one_blas_thread
from fem_mbs.solvers.reduction.substructures import Reduced, Substructure, couple
from fem_mbs.units import unit_of

__all__ = ["Answer", "Combination", "Modification"]

#: Factors 1 + alpha between which answers of non-linear parameters are sought, and how many are tried.
_RANGE, _TRIED = (0.1, 10.0), 41
#: Iterations of the least change, the least part of 1 + alpha that one leaves, and the error of lambda at its end.
_ITERATIONS, _LEFT, _CLOSE = 60, 0.25, 1e-11
#: An eigenvalue of a root is the required one to this.
_HIT = 1e-6
#: Rounds of new syntheses for an answer, and the error of its frequency at the end.
_ROUNDS, _SETTLED = 15, 1e-9


@dataclass(frozen=True)
class Answer:
    """A change of one parameter that puts a mode at the required frequency.

    ``alpha``: relative change; ``value``: new value of the parameter, None where the groups have several; ``mode``: the
    number, from 1, of the mode at the frequency; ``like``: the number of the baseline's mode with the most similar
    shape; ``frequencies`` (n_p,) [Hz] of all modes after the change.
    """

    parameter: ModelParameter
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

    parameters: tuple[ModelParameter, ...]
    alphas: np.ndarray
    values: tuple[float | None, ...]
    modes: tuple[int, ...]
    iterations: int
    frequencies: np.ndarray


class Modification:
    """A baseline and parameters that may change.

    Args:
        assembly: the baseline, of `fem_mbs.analysis.components.synthesis.assemble_components`.
        parameters: `ModelParameter` or texts as "density:chopper"; see
        `fem_mbs.analysis.components.parameters.read_parameter`.

    Raises:
        ModelError: a parameter that does not exist, named twice, or that nothing has.
    """

    def __init__(self, assembly: Assembly, parameters: Sequence[ModelParameter | str]):
        model = assembly.model
        self.assembly = assembly
        self.parameters = tuple(read_parameter(model, p) if isinstance(p, str) else p for p in parameters)
        names = [p.name for p in self.parameters]
        for name in names:
            if names.count(name) > 1:
                raise ModelError("it is named twice", owner=Owner("Parameter", name), remedy="name it once")
        self.values = assembly.coupled.values
        self._changes = Changes(assembly, self.parameters)
        self._tried: dict[int, list[tuple[float, np.ndarray | None]]] = {}

    @property
    def frequencies(self) -> np.ndarray:
        """Return the frequencies (n_p,) [Hz] of the baseline."""
        return self.assembly.frequencies

    def _alphas(self, alphas: ArrayLike | Mapping[str, float]) -> np.ndarray:
        """Return changes (m,) of all parameters, given by numbers in their order or by names.

        Raises:
            ModelError: an unknown name, or a change of -1 or less, which leaves nothing of the parameter.
        """
        if isinstance(alphas, Mapping):
            names = {p.name: i for i, p in enumerate(self.parameters)}
            found = np.zeros(len(names))
            for name, value in alphas.items():
                found[self.assembly.model.building.find("parameter", name, names, "Modification")] = value
        else:
            found = np.asarray(alphas, float)
        if found.shape != (len(self.parameters),) or not np.isfinite(found).all() or (found <= -1.0).any():
            raise ModelError(
                f"changes {found.tolist()} must be {len(self.parameters)} numbers greater than -1, one per parameter",
                owner=Owner("Modification"),
            )
        return found

    # --- sensitivities and forward ---------------------------------------------------------------------------------
    @one_blas_thread()
    def sensitivities(self, normalised: bool = True) -> np.ndarray:
        """Return (r / lambda_i) d lambda_i / d r of every parameter and mode, (m, n_p).

        Not ``normalised``: r d lambda_i / d r [1/s^2].  Normalised sensitivities of rigid-body modes are nan.
        """
        slopes = [self._changes.slope(k) for k in range(len(self.parameters))]
        found = np.array([np.diag(K) - self.values * np.diag(M) for K, M in slopes]).reshape(-1, self.values.size)
        if not normalised:
            return found
        rigid = self.assembly.coupled.rigid
        return np.where(rigid, np.nan, found / np.where(rigid, 1.0, self.values))

    @one_blas_thread()
    def forward(self, alphas: ArrayLike | Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """Return frequencies [Hz] and modes (n_p, n_p), in the baseline's modes, after changes ``alphas`` of the
        parameters: numbers in their order, or by names."""
        values, vectors = self._forward(self._alphas(alphas))
        return np.sign(values) * np.sqrt(np.abs(values)) / (2.0 * np.pi), vectors

    def _forward(self, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        dK, dM = self._changes.reduced(alphas)
        try:
            return scipy.linalg.eigh(np.diag(self.values) + dK, np.eye(self.values.size) + dM)
        except np.linalg.LinAlgError:
            raise AnalysisError("Modification: the changed mass is not positive in the baseline's modes") from None

    # --- inverse ---------------------------------------------------------------------------------------------------
    @one_blas_thread()
    def answers(self, parameter: str | int, frequency: float, most: float = np.inf) -> list[Answer]:
        """Return all changes alpha of one parameter, -1 < alpha <= ``most``, that put a mode at a frequency [Hz], the
        smallest first; of non-linear parameters those between a tenth and ten times the value.

        Raises:
            ModelError: an unknown parameter, or no frequency.
        """
        return list(self._answers(self._number(parameter), self.eigenvalue_of(frequency), most))

    def _answers(self, k: int, target: float, most: float = np.inf) -> Iterator[Answer]:
        p = self.parameters[k]
        for alpha in self._linear_roots(k, target) if p.linear else self._other_roots(k, target):
            if not -1.0 < alpha <= most:
                continue
            values, vectors = self._forward(self._only(k, alpha))
            j = int(np.abs(values - target).argmin())
            if abs(values[j] - target) > _HIT * target:
                continue  # a root of round-off
            like = int(np.abs(vectors[:, j]).argmax()) + 1
            f = np.sign(values) * np.sqrt(np.abs(values)) / (2.0 * np.pi)
            yield Answer(p, float(alpha), p.changed(float(alpha)), j + 1, like, f)

    @one_blas_thread()
    def answer(self, parameter: str | int, mode: int, frequency: float, anew: bool = False) -> Answer | None:
        """Return the smallest change of one parameter that puts mode number ``mode``, from 1, at a frequency [Hz].

        After the change it is the mode of this number, or the one with the most similar shape, which has passed
        others.  None: there is no such change.  ``anew``: compute new modes of the components that change
        (`synthesis`), which then have the frequency; else stay in the modes of the baseline.

        Raises:
            ModelError: an unknown parameter, mode, or no frequency.
        """
        i, k = self.mode_index(mode), self._number(parameter)
        frequencies = np.array([self.eigenvalue_of(frequency) ** 0.5 / (2.0 * np.pi)])

        def find(targets: np.ndarray) -> Answer | None:
            found = self._answers(k, self.eigenvalue_of(targets[0]))
            return next((a for a in found if i + 1 in (a.mode, a.like)), None)

        if not anew:
            return find(frequencies)
        return self._anew(find, lambda a: self._only(k, a.alpha), lambda a: (a.mode,), frequencies)

    def _anew(self, find, alphas, modes, frequencies: np.ndarray):
        """Return an answer by adjusting the targets until a new synthesis has the frequencies."""
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
        """Return the least change of all parameters, by the norm of alpha, that puts modes at frequencies
        [Hz], ``required`` by their numbers from 1; modes are followed by their shapes.  ``anew`` as of `answer`.

        Raises:
            ModelError: no requirement, more than parameters, unknown modes.
            AnalysisError: no convergence, or no parameter moves a mode.
        """
        if anew:
            frequencies = np.array([self.eigenvalue_of(f) ** 0.5 for f in required.values()]) / (2.0 * np.pi)
            names = list(required)
            return self._anew(
                lambda targets: self.combination(dict(zip(names, targets.tolist(), strict=True))),
                lambda c: c.alphas, lambda c: c.modes, frequencies,
            )  # fmt: skip
        modes = np.array([self.mode_index(m) for m in required], int)
        targets = np.array([self.eigenvalue_of(f) for f in required.values()])
        m = len(self.parameters)
        if not 1 <= modes.size <= m:
            raise ModelError(f"{modes.size} required frequencies need 1 to {m} parameters", owner=Owner("Modification"))
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
            slopes = [self._changes.slope(k, alphas) for k in range(m)]
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
            values, vectors = self._forward(alphas)
            alike = np.abs(vectors.T @ (before + self._changes.reduced(alphas)[1] @ before))
            at = alike.argmax(axis=0)
            if np.unique(at).size < at.size:
                raise AnalysisError("Modification: two required modes became one on the way; ask for smaller changes")
            before = vectors[:, at]
        f = np.sign(values) * np.sqrt(np.abs(values)) / (2.0 * np.pi)
        new_values = tuple(p.changed(a) for p, a in zip(self.parameters, alphas, strict=True))
        return Combination(self.parameters, alphas, new_values, tuple(int(i) + 1 for i in at), iterations, f)

    def _linear_roots(self, k: int, target: float) -> list[float]:
        """Return all real alpha with det(Lambda + alpha K' - lambda (I + alpha M')) = 0, the smallest first."""
        K, M = self._changes.slope(k)
        B = K - target * M
        gap = target - self.values
        b, Q = scipy.linalg.eigh(B)
        size = np.abs(b).max(initial=0.0)
        some = np.abs(b) > 1e-13 * size
        if size == 0.0:
            return []
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
        there = [0.0] if (np.abs(gap) <= 1e-9 * target).any() else []  # no change is needed
        return sorted([*there, *roots.tolist()], key=abs)

    def _other_roots(self, k: int, target: float) -> Iterator[float]:
        """Yield alpha of a non-linear parameter: where the number of modes below the target changes, within its range;
        the smallest first, found one by one."""

        from scipy.optimize import brentq

        def value(x: float, j: int) -> float:
            # over logarithms it is nearly a straight line
            now = self._forward(self._only(k, float(np.expm1(x))))[0][j]
            return float(np.log(max(now, 1e-300) / target))

        if k not in self._tried:  # once for all targets
            self._tried[k] = [(a, self._values(k, a)) for a in np.geomspace(*_RANGE, _TRIED) - 1.0]
        brackets = [
            (min(abs(a), abs(b)), a, b, [int((v < target).sum()) for v in (before, after)])
            for (a, before), (b, after) in pairwise(self._tried[k])
            if before is not None and after is not None
        ]
        brackets = sorted((x for x in brackets if x[3][0] != x[3][1]), key=lambda x: x[0])
        waiting: list[float] = []
        for start, a, b, counts in brackets:
            waiting.sort(key=abs)
            while waiting and abs(waiting[0]) <= start:
                yield waiting.pop(0)
            ends = np.log1p([a, b])
            waiting += [float(np.expm1(brentq(value, *ends, args=(j,), xtol=1e-12))) for j in range(*sorted(counts))]
        yield from sorted(waiting, key=abs)

    def _values(self, k: int, alpha: float) -> np.ndarray | None:
        """Return eigenvalues (n_p,) at a change of one parameter; None: there is no such section, as a tube without a
        hole."""
        try:
            return self._forward(self._only(k, alpha))[0]
        except ModelError:
            return None

    def _only(self, k: int, alpha: float) -> np.ndarray:
        alphas = np.zeros(len(self.parameters))
        alphas[k] = alpha
        return alphas

    def _number(self, parameter: str | int) -> int:
        if isinstance(parameter, (int, np.integer)):
            return int(parameter)
        names = {p.name: i for i, p in enumerate(self.parameters)}
        return self.assembly.model.building.find("parameter", parameter, names, "Modification")

    def mode_index(self, mode: int) -> int:
        """Return the column of an elastic mode, counted from 1.

        Raises:
            ModelError: it is a rigid-body mode, or there is no such mode.
        """
        n = self.values.size
        if isinstance(mode, bool) or not isinstance(mode, (int, np.integer)) or not 1 <= mode <= n:
            raise ModelError(
                f"mode = {shown(mode)} must be a whole number from 1 to {n}, the modes there are",
                owner=Owner("Modification"),
                key="mode",
                value=mode,
            )
        if self.assembly.coupled.rigid[mode - 1]:
            raise ModelError(
                f"mode {mode} is a rigid-body mode, which no parameter moves",
                owner=Owner("Modification"),
                remedy="take another",
            )
        return int(mode) - 1

    @staticmethod
    def eigenvalue_of(frequency: float) -> float:
        """Return the square [1/s^2] of the angular frequency of a positive frequency [Hz].

        Raises:
            ModelError: it is not positive.
        """
        try:
            f = float(frequency)
        except (TypeError, ValueError):
            f = -1.0
        if not (f > 0.0 and np.isfinite(f)):
            raise ModelError(
                f"frequency = {shown(frequency)} must be a positive number [{unit_of('Hz')}]",
                owner=Owner("Modification"),
                key="frequency",
                value=frequency,
            )
        return (2.0 * np.pi * f) ** 2

    # --- anew ------------------------------------------------------------------------------------------------------
    @one_blas_thread()
    def synthesis(self, alphas: ArrayLike | Mapping[str, float]) -> Assembly:
        """Return the model after changes ``alphas``, with new modes of the components that change, as many as before.

        Unchanged components keep their modes; ``seconds`` of the result is the time of the computation.
        """
        assembly = self.assembly
        start = perf_counter()
        totals = self._changes.matrices(self._alphas(alphas))
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
    def full(self, alphas: ArrayLike | Mapping[str, float], count: int) -> np.ndarray:
        """Return frequencies (count,) [Hz] of the whole model after changes ``alphas``, without reduction."""
        return self.assembly.full_modes(count, self._changes.whole(self._alphas(alphas)))
