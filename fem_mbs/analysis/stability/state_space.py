"""Linear models for export, of a linearisation (`fem_mbs.analysis.stability.linearisation`): state space and descriptor
form.

    x' = A x + B u,  y = C x + D u          state space: dense, of minimal coordinates, x = (w, w')
    E x' = A x + B u,  y = C x + D u        descriptor: sparse, x = (q, v, a, multipliers), E singular

Displacements are q = T w + Q u with the constraints G q = g u solved for their dependent dofs, so that with P = T^T

    P M T w'' + P C T w' + P K T w = P [(F - K Q) u + (F' - C Q) u' - M Q u''].

About a state in motion T and Q change with time: q' = T w' + T' w, q'' = T w'' + 2 T' w' + T'' w, and likewise of Q u,
so that A is the derivative of x' = f(x) at this instant.

An input that moves supports or drives joints comes with its rate and acceleration: "name", "name'" and "name''".
Outputs are changes of sensors about their values in the state; a sensor's name with ' or '' is its derivative by time.

Theory: docs/theory.md, section 9, "Linear models".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh, lu_factor, lu_solve
from scipy.sparse import bmat, csc_matrix, csr_matrix, identity, vstack

from fem_mbs.analysis.linear.ports import Inputs, Outputs, inputs_of, outputs_of
from fem_mbs.analysis.stability.rolling import refuse_rolling
from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import ModelError
from fem_mbs.files import replacing
from fem_mbs.late import dataclass
from fem_mbs.solvers.linear.constraint_equations import Elimination, eliminate
from fem_mbs.solvers.stepping import layout as S

if TYPE_CHECKING:
    from fem_mbs.analysis.stability.linearisation import Linearisation

__all__ = ["Descriptor", "StateSpace", "descriptor", "matrices", "sparse_arrays", "state_space"]

_DENSE = 4000  # states of a dense model
_MASSLESS = 1e-12  # of the largest mass, scaled to unit diagonals


@dataclass(frozen=True)
class StateSpace:
    """A (n, n), B (n, m), C (k, n), D (k, m), dense; names of states, inputs, outputs; ``motions`` (N, n), the
    displacements and small rotations of all dofs that states bring; ``start`` (k,): outputs in the state itself."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    motions: np.ndarray
    start: np.ndarray

    def response(self, p: complex | np.ndarray) -> np.ndarray:
        """Return transfer functions C (p - A)^-1 B + D, (..., k, m), at p [1/s] (i times a frequency in rad/s)."""
        p = np.asarray(p, complex)
        unit = np.eye(len(self.A))
        return self.C @ np.linalg.solve(p[..., None, None] * unit - self.A, self.B.astype(complex)) + self.D

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays by name, as `save` writes them."""
        return _plain(self)

    def save(self, path: str | Path) -> Path:
        """Write all arrays and names to a .npz file, which `numpy.load` reads."""
        return _save(path, self.arrays())


@dataclass(frozen=True)
class Descriptor:
    """E, A (n, n), B (n, m), C (k, n), D (k, m), sparse; names of states, inputs, outputs; ``start`` (k,)."""

    E: csr_matrix
    A: csr_matrix
    B: csr_matrix
    C: csr_matrix
    D: csr_matrix
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    start: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays by name, as `save` writes them."""
        return _plain(self)

    def save(self, path: str | Path) -> Path:
        """Write all to a .npz file: of every matrix its ``_data``, ``_indices``, ``_indptr``, ``_shape`` (rows)."""
        return _save(path, self.arrays())


def _save(path: str | Path, table: dict[str, np.ndarray]) -> Path:
    """Write arrays to a .npz file, which is replaced at once or not at all; the ending is added where it is missing."""
    path = Path(path)
    path = path if path.suffix == ".npz" else path.with_name(f"{path.name}.npz")
    with replacing(path) as part, part.open("wb") as stream:
        np.savez_compressed(stream, **table)
    return path


def _plain(model) -> dict[str, np.ndarray]:
    out: dict[str, np.ndarray] = {}
    for key, value in vars(model).items():
        out |= sparse_arrays(key, value) if hasattr(value, "tocsr") else {key: np.asarray(value)}
    return out


def sparse_arrays(key: str, A: csr_matrix) -> dict[str, np.ndarray]:
    """Return a sparse matrix as arrays of a .npz file: compressed rows."""
    A = csr_matrix(A)
    parts = {"data": A.data, "indices": A.indices, "indptr": A.indptr, "shape": np.array(A.shape)}
    return {f"{key}_{name}": value for name, value in parts.items()}


# --- models ----------------------------------------------------------------------------------------------------------
def state_space(
    lin: Linearisation, inputs: str | Sequence[str] = (), sensors: str | Sequence[str] = (), owner: str = "State space"
) -> StateSpace:
    """Return a dense state-space model of minimal coordinates.

    Args:
        inputs: names of loads ("gravity" among them), motions, driven joints and motors: factors of their vectors, or
            values of their functions, beside those of the state.
        sensors: names of the model's sensors, with ' or '' for their derivatives.

    Raises:
        ModelError: unknown names, too many states, constraints that contradict an input, unknowns without mass that
            dampers act on.
    """
    refuse_rolling(lin)
    given = inputs_of(lin, inputs, owner)
    out = outputs_of(lin, sensors, given, owner)
    if lin.frame == "multi-blade":
        _check_blades(lin, given, out, owner)
    found, Q = _minimal(lin, given, owner)
    memory = lin.system.system.states  # state variables of elements, which have equations of first order
    memory = memory[np.isin(memory, lin.dofs)]
    moving = ~np.isin(found.free, memory)
    n_states = 2 * int(moving.sum()) + memory.size
    if n_states > _DENSE:
        raise ModelError(
            f"{n_states} states are too many for dense matrices (at most {_DENSE})",
            owner=owner,
            remedy="take the descriptor form, or reduce the model",
        )
    M, C1, K = lin.whole()
    if lin.pressed:
        M, C1, K = (lin.unpressed(a) for a in (M, C1, K))
        given = replace(given, force=lin.unpressed(given.force))
    names = [lin.system.name_of(int(i)) for i in found.free[moving]]
    T = np.zeros((lin.system.n_dof, len(names)))
    T[: lin.first] = found.T.toarray()[:, moving]
    nu = len(given.names)
    given, Q = _with_memory(given, Q, memory)
    T1, T2, Q1, Q2 = _rates(lin, found, T, Q)
    W, (T, T1, T2), (Q, Q1, Q2), names = _with_mass((M, C1, K), (T, T1, T2), (Q, Q1, Q2), given, names, owner)
    k = T.shape[1]
    # displacements, velocities, accelerations by inputs, their rates and accelerations
    q_u = Q
    v_u = Q1 + _shifted(Q, given, 1)
    a_u = Q2 + 2.0 * _shifted(Q1, given, 1) + _shifted(Q, given, 2)
    F = given.force - K @ q_u - C1 @ v_u - M @ a_u
    by_place, by_rate = K @ T + C1 @ T1 + M @ T2, C1 @ T + 2.0 * (M @ T1)
    lower = np.linalg.solve(W.T @ (M @ T), W.T @ np.hstack((-by_place, -by_rate, F)))
    upper = np.hstack((np.zeros((k, k)), np.eye(k), np.zeros((k, F.shape[1]))))
    none = np.zeros_like(T)
    q = np.hstack((T, none, q_u))
    v = np.hstack((T1, T, v_u))
    a = T @ lower + np.hstack((T2, 2.0 * T1, a_u))
    Y = out.q @ q + out.v @ v + out.a @ a
    Y[:, 2 * k : 2 * k + nu] += out.u.toarray()
    if out.y.nnz:
        left = -(M @ a + C1 @ v + K @ q)
        left[:, 2 * k :] += given.force
        G = lin.G.toarray()
        Y = Y + out.y @ np.linalg.lstsq(G.T, left[lin.dofs], rcond=1e-12)[0]
    rates = given.force[memory] - C1[memory] @ v[:, 2 * k :] - K[memory] @ q[:, 2 * k :]
    rates = np.hstack((-(C1[memory] @ v[:, : 2 * k] + K[memory] @ q[:, : 2 * k]), rates))
    whole = np.vstack((upper, lower, rates))  # by displacements, velocities, inputs, state variables
    order = [*range(2 * k), *range(2 * k + nu, whole.shape[1]), *range(2 * k, 2 * k + nu)]
    n = whole.shape[1] - nu
    A, B = whole[:, order][:, :n], whole[:, order][:, n:]
    given = replace(given, names=given.names[:nu], order=given.order[:nu])
    Cx, D = _derived(out, given, A, B, Y[:, order][:, :n], Y[:, order][:, n:], owner)
    states = [*names, *(f"{name}'" for name in names), *(lin.system.name_of(int(i)) for i in memory)]
    motions = np.hstack((T, none, q[:, 2 * k + nu :]))
    return StateSpace(A, B, Cx, D, states, given.names, out.names, motions, out.start)


def _with_memory(given: Inputs, Q: np.ndarray, memory: np.ndarray) -> tuple[Inputs, np.ndarray]:
    """Return inputs and their shares Q (N, m) with the state variables ``memory`` (k,) of elements as further inputs,
    by whose values the coordinates move; their own equations close the loop."""
    unit, none = np.zeros((len(Q), memory.size)), np.zeros((len(Q), memory.size))
    unit[memory, np.arange(memory.size)] = 1.0
    more = replace(
        given, names=[*given.names, *(f"state {i}" for i in memory)], force=np.hstack((given.force, none)),
        order=np.append(given.order, np.zeros(memory.size, int)),
    )  # fmt: skip
    return more, np.hstack((Q, unit))


def _check_blades(lin: Linearisation, given: Inputs, out: Outputs, owner: str) -> None:
    """Refuse inputs and outputs that change with the turn in multi-blade coordinates: on blades, but for forces and
    displacements that are equal on all of them, seen from each.

    Raises:
        ModelError: naming the input or output.
    """
    order, _, dofs = lin.bladed.waves(np.zeros((lin.system.n_dof, 1)))

    def constant(X: np.ndarray) -> np.ndarray:  # (N, k) -> (k,)
        _, waves, _ = lin.bladed.waves(X)
        return np.abs(waves[:, order != 0]).max(axis=(0, 1), initial=0.0) <= 1e-9 * np.abs(X).max(axis=0, initial=0.0)

    fine = constant(given.force) & ~given.place[dofs].any(axis=(0, 1))
    for name in (name for name, good in zip(given.names, fine, strict=True) if not good):
        raise ModelError(
            f'input "{name}" acts on single blades, so that it changes with the turn in multi-blade coordinates',
            owner=owner, key="inputs", value=name,
            remedy='let it act on the axis, on what does not turn, or on all blades alike; or take frame = "rotating"',
        )  # fmt: skip
    moving = sum(np.abs(a.toarray())[:, dofs].max(axis=(1, 2), initial=0.0) for a in (out.v, out.a))
    rows = [i for i, good in enumerate(constant(out.q.toarray().T) & (moving == 0.0)) if not good]
    rows += [i for i in range(out.y.shape[0]) if out.y[i].nnz and _on_blades(lin, out.y[i])]
    if rows:
        name = out.names[min(rows)]
        raise ModelError(
            f'sensor "{name}" sees single blades, so that it changes with the turn in multi-blade coordinates',
            owner=owner, key="sensors", value=name,
            remedy='take one on the axis or on what does not turn; or take frame = "rotating"',
        )  # fmt: skip


def _on_blades(lin: Linearisation, row: csr_matrix) -> bool:
    """Return whether a row of multipliers has some whose constraints are about blades."""
    _, _, dofs = lin.bladed.waves(np.zeros((lin.system.n_dof, 1)))
    return bool(lin.constraints[csr_matrix(row).indices][:, dofs.ravel()].nnz)


def _minimal(lin: Linearisation, given: Inputs, owner: str):
    """Return the dependence of dofs on independent ones, and Q (N, m), the displacements by values of inputs."""
    system, first = lin.system, lin.first
    held = np.setdiff1d(np.arange(first), lin.dofs)
    preferred = np.full(lin.constraints.shape[0], -1)
    preferred[: system.n_dof - 1 - first] = system.preferred_dofs()
    size = np.where(system.system.kind[:first] == S.POSITION, system.length, 1.0)
    rows = lin.constraints[:, :first]

    def solved(right, values):
        return eliminate(rows, right, preferred, held, values, scale=size)

    Q = np.zeros((system.n_dof, len(given.names)))
    for j, name in enumerate(given.names):
        if given.order[j] == 0 and (given.gap[:, j].any() or given.place[:, j].any()):
            try:
                Q[:first, j] = solved(given.gap[:, j], given.place[held, j]).u0
            except Exception as error:
                raise ModelError(f'the constraints do not allow the input "{name}" ({error})', owner=owner) from None
    return solved(None, None), Q


def _rates(lin: Linearisation, found: Elimination, T: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return first and second derivatives by time of T (N, k) and Q (N, m) along the motion of the state.

    From G B = const: G_d B_d' = -G' B and G_d B_d'' = -(G'' B + 2 G' B'), d the dependent dofs.
    """
    none = np.zeros_like(T), np.zeros_like(T), np.zeros_like(Q), np.zeros_like(Q)
    if not lin.moving or lin.rotation is not None or not found.dependent.size:
        return none
    first, rows, d = lin.first, found.equations, found.dependent
    G0, G1, G2 = (csr_matrix(G)[:, :first] for G in lin.constraint_rates())
    scale = np.abs(G0).max(axis=1).toarray().ravel()[rows]
    factors = lu_factor(G0[rows][:, d].toarray() / scale[:, None])
    B = np.hstack((T, Q))[:first]
    first_rate, second = np.zeros((2, lin.system.n_dof, B.shape[1]))
    first_rate[d] = -lu_solve(factors, (G1[rows] @ B) / scale[:, None])
    second[d] = -lu_solve(factors, (G2[rows] @ B + 2.0 * (G1[rows] @ first_rate[:first])) / scale[:, None])
    k = T.shape[1]
    return first_rate[:, :k], second[:, :k], first_rate[:, k:], second[:, k:]


def _with_mass(system, bases, shares, given: Inputs, names: list[str], owner: str):
    """Return the coordinates without mass in terms of the others: a left basis (N, k), right bases and shares of inputs
    with their derivatives, and names of coordinates."""
    (M, C1, K), (T, T1, T2), (Q, Q1, Q2) = system, bases, shares
    Mr = T.T @ (M @ T)
    d = np.sqrt(np.abs(np.diag(Mr)))
    d = np.where(d > 0.0, d, d.max(initial=0.0) or 1.0)
    values, vectors = eigh(0.5 * (Mr + Mr.T) / np.outer(d, d)) if d.size else (np.zeros(0), Mr)
    light = values <= _MASSLESS * values.max(initial=0.0)
    if not light.any():
        return T, bases, shares, names
    Z0, Z1 = vectors[:, light] / d[:, None], vectors[:, ~light] / d[:, None]
    Cr, Kr = T.T @ (C1 @ T + 2.0 * (M @ T1)), T.T @ (K @ T + C1 @ T1 + M @ T2)
    size = np.abs(Cr).max(initial=0.0)
    acting = max(np.abs(Z0.T @ Cr).max(initial=0.0), np.abs(Cr @ Z0).max(initial=0.0))
    K0 = Z0.T @ Kr @ Z0
    singular = np.linalg.cond(K0) > 1e14
    if singular or acting > 1e-9 * size > 0.0 or (given.order == 1).any():
        at = int(np.abs(Z0).sum(axis=1).argmax())
        why = "nor stiffness" if singular else "but a damper, or a rate of an input, acts there"
        raise ModelError(
            f"{names[at]} has no mass {why}", owner=owner, remedy="give it a mass, or take the descriptor form"
        )
    # (coordinates of inputs by their values alone: their rates and accelerations do not act on what has no mass)
    by_input = Z0 @ np.linalg.solve(K0, Z0.T @ T.T @ (given.force - K @ Q - C1 @ Q1 - M @ Q2))
    right = Z1 - Z0 @ np.linalg.solve(K0, Z0.T @ Kr @ Z1)
    left = T @ (Z1 - Z0 @ np.linalg.solve(K0.T, Z0.T @ Kr.T @ Z1))
    shares = tuple(S + B @ by_input for S, B in zip(shares, bases, strict=True))
    return left, tuple(B @ right for B in bases), shares, [f"mode of mass {i + 1}" for i in range(Z1.shape[1])]


def _shifted(Q: np.ndarray, given: Inputs, order: int, A=None) -> np.ndarray:
    """Return A Q (or Q) in the columns of the values, rates or accelerations of inputs."""
    out = np.zeros_like(Q)
    for j in np.flatnonzero(given.order == 0):
        if not Q[:, j].any():
            continue
        at = j + order
        if at < Q.shape[1] and given.order[at] == order:
            out[:, at] = Q[:, j] if A is None else A @ Q[:, j]
    return out


def _derived(out: Outputs, given: Inputs, A, B, Cx, D, owner: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of outputs that are derivatives by time: y' = C A x + C B u + D u'."""
    Cx, D = np.array(Cx), np.array(D)
    for i, times in enumerate(out.derivatives):
        for _ in range(times):
            shifted = np.zeros_like(D[i])
            size = np.abs(D[i]).max(initial=0.0)
            for j in np.flatnonzero(np.abs(D[i]) > 1e-13 * size):
                if j + 1 >= D.shape[1] or given.order[j + 1] != given.order[j] + 1:
                    raise ModelError(
                        f"sensors: {shown(out.names[i])} would need a derivative of the input "
                        f'"{given.names[j]}", on which it depends at once',
                        owner=owner,
                        remedy="take the sensor without '",
                    )
                shifted[j + 1] = D[i, j]
            D[i] = Cx[i] @ B + shifted
            Cx[i] = Cx[i] @ A
    return Cx, D


def descriptor(
    lin: Linearisation, inputs: str | Sequence[str] = (), sensors: str | Sequence[str] = (), owner: str = "Descriptor"
) -> Descriptor:
    """Return a sparse model with constraints: x = (q, v, a, multipliers) of the unknowns of the linearisation;
    arguments as of `state_space`.  In motion the constraints are held as they are.

    Raises:
        ModelError: unknown names, or derivatives of sensors, which belong to the state space.
    """
    refuse_rolling(lin)
    given = inputs_of(lin, inputs, owner)
    out = outputs_of(lin, sensors, given, owner)
    if lin.frame == "multi-blade":
        _check_blades(lin, given, out, owner)
    if out.derivatives.any():
        name = out.names[int(np.flatnonzero(out.derivatives)[0])]
        raise ModelError(
            f"sensors: {shown(name)}: derivatives by time belong to the state space", owner=owner, remedy="remove the '"
        )
    d, G = lin.dofs, lin.G
    n, m, nu = d.size, G.shape[0], len(given.names)
    M, C1, K = lin.whole()
    Q = given.place
    F = given.force - _shifted(Q, given, 0, K) - _shifted(Q, given, 1, C1) - _shifted(Q, given, 2, M)
    gap = given.gap - lin.constraints @ Q
    unit, none = identity(n, format="csr"), csr_matrix((n, n))
    E = bmat([[unit, none, None, None], [None, unit, none, None], [None, None, csr_matrix((n + m, n)), None]])
    E = csr_matrix((E.data, (E.row, E.col)), shape=(3 * n + m, 3 * n + m))
    A = bmat(
        [
            [None, unit, None, None], [None, None, unit, None], [-lin.K, -lin.C, -lin.M, -lin.columns],
            [-G, None, None, csr_matrix((m, m))],
        ]
    )  # fmt: skip
    B = vstack((csr_matrix((2 * n, nu)), csr_matrix(F[d]), csr_matrix(gap)))
    outputs = [a[:, d] for a in (out.q, out.v, out.a)]
    direct = out.u.toarray() + sum(a @ _shifted(Q, given, i) for i, a in enumerate((out.q, out.v, out.a)))
    Cx = csr_matrix(bmat([[*outputs, out.y]]))
    states = [f"{name}{prime}" for prime in ("", "'", "''") for name in lin.names]
    states += [f"{lin.row_name(i)} {i}" for i in range(m)]
    return Descriptor(
        E, csr_matrix(csc_matrix(A)), csr_matrix(B), Cx, csr_matrix(direct), states, given.names, out.names, out.start
    )


def matrices(lin: Linearisation) -> dict[str, np.ndarray]:
    """Return M, C, K and constraints G of a linearisation as arrays of a .npz file: compressed rows, ``M_data`` and so
    on, and ``names`` of the unknowns, ``dofs``, ``multipliers``, ``residual``."""
    refuse_rolling(lin)
    out: dict[str, np.ndarray] = {}
    for key, A in (("M", lin.M), ("C", lin.C), ("K", lin.K), ("G", lin.G)):
        out |= sparse_arrays(key, A)
    names = np.array(lin.names)
    return {**out, "names": names, "dofs": lin.dofs, "multipliers": lin.multipliers, "residual": lin.residual}
