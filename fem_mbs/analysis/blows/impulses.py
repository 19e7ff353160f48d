"""Blows of a model at one instant: inverse masses at the contacts through all joints, impulses, new velocities.

With the constraints G_j of joints and the rows G_c of the contacts the velocities change by dv = X p,

    [[M, G_j^T], [G_j, 0]] [X; Y] = [G_c^T; 0],   A = G_c X,

over the free unknowns (Pereira & Nikravesh 1993, eqs 52, 53), and the joints carry the impulses Y p.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix

from fem_mbs.analysis.blows.contacts import Contacts, Rows
from fem_mbs.errors import AnalysisError
from fem_mbs.late import dataclass
from fem_mbs.solvers.linear.libraries import ExactlySingular
from fem_mbs.solvers.linear.service import factor
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.states import body_axes, director_velocities, instant, spatial_axes
from fem_mbs.system.tangent import Level, Tangent

__all__ = ["Reach"]

_LEAST = 1e-4  # of the weights of unknowns in constraints (their roots), over the largest
_DENSE = 250  # unknowns up to which equations are solved dense
_PIVOT = 1e-5  # of factors, over the largest: smaller ones leave too few digits
_RCOND = 1e-13  # of dependent constraints
_MASSLESS = "a blow finds a node without mass: its speed after the blow is not determined; give it a mass"


@dataclass
class Reach:
    """Touching contacts ``which`` (k,) of a model at a state: their rows and inverse masses.

    Attributes:
        fun: (n_fun, 3) values of the time functions at the instant of the blow.
        A: (k dim, k dim) changes of speeds by impulses [1/kg].
        speeds: (k, dim) relative speeds, normal first [m/s].
    """

    contacts: Contacts
    state: S.State
    fun: np.ndarray
    which: np.ndarray
    rows: Rows
    A: np.ndarray
    speeds: np.ndarray
    _X: np.ndarray
    _Y: np.ndarray

    @classmethod
    def at(cls, contacts: Contacts, state: S.State, fun: np.ndarray, which: np.ndarray) -> Reach:
        """Return the responses of velocities and joints to unit impulses of contacts ``which``, at row 0 of a state.

        Args:
            fun: (n_fun, 3) values of the time functions, the same for start, middle and end of a step.

        Raises:
            AnalysisError: a node has no mass.
        """
        compiled, values = contacts.compiled, fun[:, 0]
        first = compiled.first_multiplier
        rows = contacts.rows(state, values, which)
        start = Tangent(compiled, instant(compiled, state), Level(values), contacts.matrices)
        free = np.flatnonzero(compiled.system.equation[:first] >= 0)
        M = csr_matrix(start.M[:first, :first])
        G = start.gradients
        bilateral = np.ones(G.shape[0], bool)
        for block in contacts.blocks:
            bilateral[block.dof[:, block.type.node_dofs :] - first] = False
        G = csr_matrix(G)[np.flatnonzero(bilateral)][:, :first]
        of_contacts = rows.G[:, :first]
        X, Y = np.zeros((first, rows.G.shape[0])), np.zeros((len(bilateral), rows.G.shape[0]))
        right = of_contacts[:, free].toarray().T
        X[free], Y[bilateral] = _solved(M[free][:, free], G[:, free], right)
        v = spatial_axes(compiled, state, state.V[0])[:first]
        speeds = (of_contacts @ v).reshape(len(which), -1)
        A = of_contacts @ X
        return cls(contacts, state, fun, which, rows, 0.5 * (A + A.T), speeds, X, Y)

    def strike(self, impulse: np.ndarray) -> None:
        """Change the velocities of the state by impulses (k, dim) [N s]."""
        compiled = self.contacts.compiled
        first = compiled.first_multiplier
        change = np.zeros(compiled.n_dof)
        change[:first] = self._X @ impulse.ravel()
        # Rates of directors of the mid-point rule are w x d up to h^2: what they have beside that stays theirs.
        rates = self.state.DD[0].copy()
        director_velocities(compiled, self.state)
        rates -= self.state.DD[0]
        self.state.V[0] += body_axes(compiled, self.state, change)
        director_velocities(compiled, self.state)
        self.state.DD[0] += rates

    def carried(self, impulse: np.ndarray) -> dict[str, float]:
        """Return the sizes [N s] of the impulses that joints carry, by their names; those of moments do not count."""
        carried = self._Y @ impulse.ravel()
        squares: dict[str, float] = {}
        for name, row in self.contacts.joint_rows():
            squares[name] = squares.get(name, 0.0) + float(carried[row]) ** 2
        return {name: float(np.sqrt(value)) for name, value in squares.items()}


def _solved(M: csr_matrix, G: csr_matrix, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return x (n, k), y (m, k) of M x + G^T y = right (n, k), G x = 0, y the least one where G has dependent rows.

    Raises:
        AnalysisError: a node has no mass.
    """
    n, m = M.shape[0], G.shape[0]
    if n + m <= _DENSE:
        d = np.sqrt(M.diagonal())
        d = np.maximum(d, _LEAST * d.max(initial=0.0)) if d.any() else np.ones(n)
        rows = G.toarray() / d
        norm = np.linalg.norm(rows, axis=1)
        norm[norm == 0.0] = 1.0
        rows /= norm[:, None]
        masses, b = M.toarray() / np.outer(d, d), right / d[:, None]
        found = _independent(masses, rows, b)
        if found is not None:
            return found[0] / d[:, None], found[1] / norm[:, None]
        A = np.block([[masses, rows.T], [rows, np.zeros((m, m))]])
        b = np.vstack((b, np.zeros((m, right.shape[1]))))
        x = np.linalg.lstsq(A, b, rcond=_RCOND)[0]
        x += np.linalg.lstsq(A, b - A @ x, rcond=_RCOND)[0]
        if np.abs(A @ x - b).max(initial=0.0) > 1e-9 * np.abs(b).max(initial=0.0):
            raise AnalysisError(_MASSLESS)
        return x[:n] / d[:, None], x[n:] / norm[:, None]
    try:
        saddle = factor(M, G, "saddle", least=_LEAST, judged=False)
    except ExactlySingular:
        raise AnalysisError(_MASSLESS) from None
    columns = [saddle.solve(b, np.zeros(m)) for b in right.T]
    return np.column_stack([x for x, _ in columns]), np.column_stack([y for _, y in columns])


def _independent(M: np.ndarray, G: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return x and y of `_solved` by the factors of M and G M^-1 G^T; None where one of both is nearly singular."""
    try:
        masses = _factors(M)
        Z, x = cho_solve(masses, G.T), cho_solve(masses, b)
        if not G.shape[0]:
            return x, np.zeros((0, b.shape[1]))
        compliance = _factors(G @ Z)
    except np.linalg.LinAlgError:
        return None
    y = cho_solve(compliance, G @ x)
    x -= Z @ y
    dy = cho_solve(compliance, G @ x)  # once more, so that joints are kept to round-off
    return x - Z @ dy, y + dy


def _factors(A: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the Cholesky factors of a matrix (n, n).

    Raises:
        LinAlgError: it is nearly singular.
    """
    factors = cho_factor(A, lower=True)
    pivots = factors[0].diagonal()
    if pivots.size and pivots.min() < _PIVOT * pivots.max():
        raise np.linalg.LinAlgError
    return factors
