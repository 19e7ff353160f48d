"""Consistent starts: positions checked, velocities that joints and motions allow, accelerations for Newmark's rule.

Before the first step G v + g_t = 0 and d' = omega x d must hold to round-off, or the multipliers alternate for ever
with an amplitude of 2 eps/h (docs/theory.md, section 3).  Velocities come from the least strain rates, min v.K v +
eps v.M v, or from a mass-weighted projection of given ones, min (v - v*).M (v - v*), both subject to G v = -g_t.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import bmat, csr_matrix, diags, lil_matrix, vstack
from scipy.sparse.linalg import splu

from fem_mbs import contract as C
from fem_mbs.errors import ModelError
from fem_mbs.model import CompiledModel
from fem_mbs.solvers import stepper as S

__all__ = ["check_start", "consistent_velocities", "function_jets", "initial_accelerations"]

_EPS_MASS = 1e-8  # weight of the kinetic energy among least strain rates: decides what strains do not
_EPS_CONSTRAINT = 1e-13  # keeps redundant constraints solvable; taken out again by refinement


def _control(gravity, stiffness: float = 0.0, mass: float = 0.0) -> np.ndarray:
    """Control values for M (mass = 1) or K (stiffness = 2) at a state."""
    ctl = np.zeros(C.N_CTL)
    ctl[C.H], ctl[C.SF], ctl[C.SK] = 1.0, 1.0, stiffness
    ctl[C.RULE], ctl[C.WA] = C.ONE_STATE, mass
    ctl[C.GX : C.GX + len(gravity)] = gravity
    return ctl


def _functions_at(compiled: CompiledModel, values: np.ndarray) -> np.ndarray:
    fun = np.zeros((max(len(values), 1), 3))
    fun[: len(values)] = values[:, None]
    return fun


def function_jets(compiled: CompiledModel, t: float) -> np.ndarray:
    """Value, first and second derivative of all time functions, (n_fun, 3); of loads the value only.

    Raises:
        ModelError: one of them is not finite, naming the load, motion or joint.
    """
    out = np.zeros((len(compiled.functions), 3))
    for i, f in enumerate(compiled.functions):
        if compiled.loads[i]:
            out[i, 0] = f(np.float64(t))
        else:
            out[i] = [float(np.asarray(v)) for v in f.jet(np.float64(t))]
        if not np.isfinite(out[i]).all():
            what = ("value", "first derivative", "second derivative")[int(np.flatnonzero(~np.isfinite(out[i]))[0])]
            raise ModelError(
                f"{compiled.system.function_owner(i)}: the {what} of its function is not finite at t = {t:g} s; use "
                "one that is defined there"
            )
    return out


def _rows(compiled: CompiledModel, state: S.State, values: np.ndarray) -> np.ndarray:
    """Constraint rows g (unscaled) for given function values, over all dofs."""
    system = compiled.system
    ctl = _control(compiled.model.gravity)
    r = np.zeros(system.n_dof)
    blocks = [b for b in system.blocks if b.type.multipliers]
    for block, fe, _ke in system.element_arrays(C.FORCE, ctl, _functions_at(compiled, values), state, blocks):
        nd = block.type.node_dofs
        r[block.dof[:, nd:]] = fe[:, nd:] / block.par[:, [block.type.scale]]
    return r


def check_start(compiled: CompiledModel, state: S.State, t: float, varied: np.ndarray | None = None) -> None:
    """Joints must be assembled and motions must start where the model stands; functions of ``varied`` (n_fun,) bool,
    which a static step brings in by its load factor, count as zero.

    Raises:
        ModelError: naming the joint or motion and its gap.
    """
    system = compiled.system
    jets = function_jets(compiled, t)
    if varied is not None:
        jets[varied] = 0.0
    tolerance = 1e-8
    driven = system.driven
    gap = system.system.driven_reference + jets[driven.functions, 0] - state.Q[0, driven.dofs]
    for i in np.flatnonzero(np.abs(gap) > tolerance * max(1.0, system.length)):
        raise ModelError(
            f"{driven.owners[i]}: it asks for {gap[i]:g} at t = {t:g} s, but the model stands at 0 there; "
            "use a function that is zero at the start"
        )
    rows = _rows(compiled, state, jets[:, 0])
    for block in system.blocks:
        if not block.type.multipliers:
            continue
        error = np.abs(rows[block.dof[:, block.type.node_dofs :]]).max(axis=1)
        unit = 1.0 if block.type.angular else system.length
        bad = np.flatnonzero(~(error <= tolerance * unit))
        if bad.size and block.type.name != "beam2_inextensible":
            k = int(bad[0])
            what = "rad" if block.type.angular else "m"
            raise ModelError(
                f'Joint "{block.label(k)}": it is open by {error[k]:g} {what} at the start; move its parts together, '
                "or let its function start at zero"
            )


def _constraints(compiled: CompiledModel, state: S.State):
    """Constraint Jacobian over all dofs (n_mult, N), unscaled, with spins for rotations."""
    system = compiled.system
    fun = _functions_at(compiled, function_jets(compiled, 0.0)[:, 0])
    ctl = _control(compiled.model.gravity)
    rows, cols, values = [], [], []
    first = system.first_multiplier
    for block, _fe, ke in system.element_arrays(
        C.TANGENT, ctl, fun, state, [b for b in system.blocks if b.type.multipliers]
    ):
        nd = block.type.node_dofs
        m = block.dof[:, nd:] - first
        G = ke[:, nd:, :nd] / block.par[:, block.type.scale][:, None, None]
        rows.append(np.repeat(m, nd, axis=1).ravel())
        cols.append(np.tile(block.dof[:, None, :nd], (1, m.shape[1], 1)).ravel())
        values.append(G.ravel())
    shape = (system.n_dof - 1 - first, system.n_dof)
    if not rows:
        return csr_matrix(shape)
    return csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(cols))), shape=shape)


def _node_part(compiled: CompiledModel, state: S.State, ctl) -> csr_matrix:
    """Symmetrised tangent over all dofs with the constraint rows left out."""
    _r, A = compiled.system.full_matrix(ctl, _functions_at(compiled, function_jets(compiled, 0.0)[:, 0]), state)
    first = compiled.system.first_multiplier
    A = A[:first, :first]
    return 0.5 * (A + A.T)


def _mass(compiled: CompiledModel, state: S.State) -> csr_matrix:
    """Mass matrix over all dofs: at rest and without weight, since moments of weight and spin turn with the nodes."""
    return _node_part(compiled, state._replace(V=np.zeros_like(state.V)), _control((), mass=1.0))


class _Saddle:
    """Factors of [[W, G^T], [G, 0]] with scaled rows; redundant constraints share their multipliers."""

    def __init__(self, W: csr_matrix, G: csr_matrix):
        d = np.sqrt(np.abs(W.diagonal()))
        d[d == 0.0] = d.max(initial=0.0) * 1e-3 or 1.0
        D = diags(1.0 / d)
        Ws, Gs = D @ W @ D, G @ D
        norm = np.sqrt(np.asarray(Gs.multiply(Gs).sum(axis=1)).ravel())
        norm[norm == 0.0] = 1.0
        Gs = diags(1.0 / norm) @ Gs
        m = G.shape[0]
        self.d, self.norm = d, norm
        self.A = bmat([[Ws, Gs.T], [Gs, None]], format="csc") if m else Ws.tocsc()
        regular = bmat([[Ws, Gs.T], [Gs, -_EPS_CONSTRAINT * diags(np.ones(m))]], format="csc") if m else self.A
        try:
            self.lu = splu(regular)
        except RuntimeError:
            raise ModelError(
                "Initial velocity: the start is singular; a node has neither mass nor stiffness, or constraints "
                "contradict"
            ) from None

    def solve(self, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """x of W x + G^T y = b, G x = c."""
        rhs = np.concatenate((b / self.d, c / self.norm))
        x = self.lu.solve(rhs)
        for _ in range(3):
            x += self.lu.solve(rhs - self.A @ x)
        return x[: self.d.size] / self.d


def _given(compiled: CompiledModel) -> np.ndarray:
    """Velocities that the model file or the builder gives, over all dofs, rotations as spatial spins."""
    model, system = compiled.model, compiled.system
    v = np.zeros(system.n_dof)
    dim, nrot = system.dimension, system.rotation_dofs
    for entry in model.initial_velocities:
        base = system.offset[entry.nodes]
        for i in range(dim):
            np.add.at(v, base + i, entry.velocity[:, i])
        turning = system.nodes.rotational[entry.nodes]
        spin = entry.spin.reshape(len(entry.nodes), -1)
        for i in range(nrot):
            np.add.at(v, base[turning] + dim + i, spin[turning, i])
    return v


def _least_strain_rates(K, M, G, rates, c, free, held) -> np.ndarray | None:
    """Velocities of the free dofs with the least v.K v, and among those little kinetic energy.

    Proximal-point iteration, min v.K v + (v - v_k).M (v - v_k) from v_0 = 0: each turn takes the weight of the masses
    out of what strains decide, so that slender parts move as rigid as they can.  None: it has no least value, since
    springs under load, seen from a mechanism, can have negative stiffness.
    """
    W = K + M
    saddle = _Saddle(W[free][:, free], G)
    v = np.zeros(free.size)
    first = 0.0
    for _ in range(200):
        last = v
        whole = np.zeros(K.shape[0])
        whole[free], whole[held] = v, rates[held]
        v = saddle.solve((M @ whole)[free] - W[free][:, held] @ rates[held], c)
        change = np.abs(v - last).max(initial=0.0)
        first = first or change
        if not change <= 1e3 * first:
            return None
        if change <= 1e-13 * np.abs(v).max(initial=0.0):
            break
    return v


def _speed_rows(compiled: CompiledModel, first: int):
    """Rows (n, first) and values of the speeds that the user gives, rotations as spatial spins."""
    system = compiled.system
    rows = lil_matrix((len(compiled.model.initial_speeds), first))
    values = np.zeros(rows.shape[0])
    for i, speed in enumerate(compiled.model.initial_speeds):
        values[i] = speed.value
        if speed.coordinate is not None:
            rows[i, system.offset[speed.node] + speed.coordinate] = 1.0
            continue
        for node, sign in ((speed.node, 1.0), (speed.against, -1.0)):
            if node >= 0:
                for k, c in enumerate(speed.axis):
                    rows[i, system.offset[node] + system.dimension + k] = sign * c
    return rows.tocsr(), values


def consistent_velocities(compiled: CompiledModel, state: S.State, t: float) -> dict[str, float]:
    """Fill V[0] and DD[0] with velocities that satisfy joints and motions; returns what was done, for the summary.

    Raises:
        ModelError: joints and motions contradict each other (a mechanism that cannot move as driven), or velocities
            given "as they are" do not fit.
    """
    model, system = compiled.model, compiled.system
    s = system.system
    first = system.first_multiplier
    jets = function_jets(compiled, t)
    wanted = _given(compiled)[:first]
    held = s.equation[:first] < 0
    rates = np.zeros(first)
    rates[system.driven.dofs] = jets[system.driven.functions, 1]
    # g_t by a symmetric difference in the function values: exact for constraints linear in them
    step = 1e-6
    g_t = (
        _rows(compiled, state, jets[:, 0] + step * jets[:, 1]) - _rows(compiled, state, jets[:, 0] - step * jets[:, 1])
    )[first:-1] / (2.0 * step)
    G = _constraints(compiled, state)[:, :first]
    if model.initial_speeds:
        rows, values = _speed_rows(compiled, first)
        G, g_t = vstack((G, rows)).tocsr(), np.concatenate((g_t, -values))
    method = model.initial_method
    moving = bool(np.any(rates) or np.any(g_t))
    if method == "auto":
        method = "projection" if model.initial_velocities else "strain-free"
    v = wanted.copy()
    if method == "given":
        v[held] = np.where(np.abs(v[held]) > 0.0, v[held], rates[held])
    elif moving or model.initial_velocities:
        free = np.flatnonzero(~held)
        Gf, c = G[:, free], -(g_t + G[:, np.flatnonzero(held)] @ rates[held])
        M = _mass(compiled, state)
        scale = M.diagonal().max(initial=0.0) or 1.0
        K = _node_part(compiled, state, _control(model.gravity, stiffness=2.0))
        stiff = K.diagonal().max(initial=0.0)
        v[held] = rates[held]
        h = np.flatnonzero(held)
        if method == "strain-free":
            weight = _EPS_MASS * (stiff / scale if stiff else 1.0)
            found = _least_strain_rates(K, weight * M, Gf, rates, c, free, h)
            if found is not None:
                v[free] = found
            elif model.initial_method == "auto":
                method = "projection"
            else:
                raise ModelError(
                    'Initial velocity: method = "strain-free" finds no least strain rates, since a part under load at '
                    'the start has negative stiffness; use "projection"'
                )
        # the projection also takes the last digits out of the least strain rates
        W = M + (1e-12 * (scale / stiff if stiff else 1.0)) * K
        saddle = _Saddle(W[free][:, free], Gf)
        for _ in range(2):
            v[free] += saddle.solve(np.zeros(free.size), c - Gf @ v[free])
    defect = np.abs(G @ v + g_t)
    size = max(float(np.abs(v).max(initial=0.0)), float(np.abs(g_t).max(initial=0.0)))
    if not np.isfinite(v).all() or np.any(defect > 1e-6 * size * np.maximum(1.0, abs(G).max() if G.nnz else 1.0)):
        row = int(np.nanargmax(defect)) if defect.size else 0
        extra = row - (G.shape[0] - len(model.initial_speeds))
        name = f'the speed of "{model.initial_speeds[extra].place}"' if extra >= 0 else system.name_of(first + row)
        raise ModelError(
            f"Initial velocity: {name} and the other given speeds contradict each other by "
            f"{defect[row]:g}; the mechanism cannot move as driven"
        )
    off = np.abs(v[held] - rates[held])
    if np.any(off > 1e-9 * size):
        dof = int(np.flatnonzero(held)[int(off.argmax())])
        raise ModelError(
            f"Initial velocity: {system.name_of(dof)} is held or driven with {rates[dof]:g}, but {v[dof]:g} is "
            "given there"
        )
    change = float(np.abs(v - wanted).max(initial=0.0)) if model.initial_velocities else 0.0
    state.V[0, :first] = v
    state.V[1:] = 0.0
    _spins_to_body(system, state.D[0], state.V[0])
    _director_velocities(system, state)
    return {"method": method, "largest_change": change}


def _spins_to_body(system, D: np.ndarray, v: np.ndarray) -> None:
    """In space W = R^T omega; nothing to do in the plane."""
    if system.dimension == 3 and system.system.rotations.size:
        rows = system.system.rotations
        R = D[: len(rows)].reshape(-1, 3, 3)
        v[rows] = np.einsum("nji,nj->ni", R, v[rows])


def _director_velocities(system, state: S.State) -> None:
    state.D[1], state.V[1] = state.D[0], state.V[0]
    S.director_velocities(system.system, state, 1.0, True)
    state.DD[0] = state.DD[1]


def initial_accelerations(compiled: CompiledModel, state: S.State, t: float) -> np.ndarray:
    """Accelerations (N,) at the start, rotations in body axes, from M a + G^T lambda = f - c(v), G a = -(G' v +
    g_tt)."""
    model, system = compiled.model, compiled.system
    s = system.system
    first = system.first_multiplier
    jets = function_jets(compiled, t)
    ctl = _control(model.gravity, mass=1.0)
    for a in (state.Q, state.D, state.V):
        a[1] = a[0]
    state.V[2] = 0.0
    state.U[:] = 0.0
    fun = _functions_at(compiled, jets[:, 0])
    r, _ = system.full_matrix(ctl, fun, state)
    M = _mass(compiled, state)
    held = s.equation[:first] < 0
    given = np.zeros(first)
    given[system.driven.dofs] = jets[system.driven.functions, 2]
    G = _constraints(compiled, state)[:, :first]
    gamma = np.zeros(G.shape[0])
    if G.shape[0]:
        speed = max(float(np.abs(state.V[0]).max()), float(np.abs(jets[:, 1]).max(initial=0.0)))
        step = 1e-4 / speed if speed > 0.0 else 1e-4
        gamma = (
            _displaced_rows(compiled, state, jets, step)
            - 2.0 * _displaced_rows(compiled, state, jets, 0.0)
            + _displaced_rows(compiled, state, jets, -step)
        )[first:-1] / step**2
    free, h = np.flatnonzero(~held), np.flatnonzero(held)
    b = -r[:first][free] - M[free][:, h] @ given[h]
    a = given.copy()
    a[free] = _Saddle(M[free][:, free], G[:, free]).solve(b, -(gamma + G[:, h] @ given[h]))
    out = np.zeros(system.n_dof)
    out[:first] = a
    _spins_to_body(system, state.D[0], out)
    return out


def _displaced_rows(compiled: CompiledModel, state: S.State, jets: np.ndarray, step: float) -> np.ndarray:
    """Constraint rows after a motion of constant velocity and spin over ``step``."""
    system = compiled.system
    trial = state._replace(Q=state.Q.copy(), D=state.D.copy(), U=np.zeros_like(state.U))
    s = system.system
    trial.U[s.positions] = step * state.V[0, s.positions]
    rows = s.rotations
    if rows.size:
        w = state.V[0, rows]
        if system.dimension == 3:
            w = np.einsum("nij,nj->ni", state.D[0, : len(rows)].reshape(-1, 3, 3), w)
        size = np.linalg.norm(w, axis=1, keepdims=True)
        half = 0.5 * step * size
        # the Cayley vector of a rotation by step * w
        trial.U[rows] = step * w * np.where(half != 0.0, np.tan(half) / np.where(half != 0.0, half, 1.0), 1.0)
    S.configure(s, trial, True)
    trial.Q[0], trial.D[0] = trial.Q[1], trial.D[1]
    trial.U[:] = 0.0
    values = jets[:, 0] + step * jets[:, 1] + 0.5 * step**2 * jets[:, 2]
    return _rows(compiled, trial, values)
