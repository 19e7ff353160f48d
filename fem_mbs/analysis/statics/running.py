"""Steady running: the state in which a mechanism moves steadily, under all forces that depend on velocities.

The frame of a running start translates with the velocity V, or turns with the constant angular velocity W about an axis
through c.  The mechanism rests in this frame, except for parts that spin about axes e, fixed in the part, with the
speeds s:

    v = V + W x (x - c),   a = W x v,   w = W + R e s,   alpha = W x (R e s).

Unknowns are the places q, the multipliers y, the speeds s in the span Z of those that joints and springs allow, and the
efforts p.  The equations are

    f(q, v, a, y, p) = 0   equilibrium,          g(q, p) = 0   constraints,          G v = 0   rolling discs,

and conditions that keep the place of the running body along its way and the angles of the spins.  A displacement u that
rests in the frame has the rates P u and P^2 u, P = [W]_x; a change z of the spins has the rates z and 2 P z.  So the
tangent is

    (K + C P + M P^2) u + (C + 2 M P) z,   rows of rolling discs: (H + G P) u + G z.

Theory: docs/theory.md, section 3, "Steady running".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import bmat, csr_matrix, diags, hstack, vstack

from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.start.initial import consistent_velocities, function_jets, multiplier_scales
from fem_mbs.analysis.start.redundancy import constraint_labels
from fem_mbs.analysis.start.running import ROLLING, Frame, frame_of
from fem_mbs.analysis.statics.least_solution import least_solution
from fem_mbs.errors import AnalysisError, ConvergenceError, ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compile import with_acting
from fem_mbs.system.states import director_velocities, instant, moved, spatial_axes
from fem_mbs.system.tangent import Tangent
from fem_mbs.units import unit_of

__all__ = ["SteadyState", "steady_running"]

_ITERATIONS = 60
# sizes of increments: displacements over the model's length, rotations [rad]
_SMALL = 1e-11  # at which the iteration has converged
_STUCK = 1e-5  # below which an iteration that does not converge may have forces that nothing balances
_NEAR = 1e-4  # below which pseudo-time ends: masses are left out of the tangent
_FALL = 0.01  # by which unbalanced forces move their masses in the first step of pseudo-time
_LONGEST = 0.2  # largest one; longer increments are scaled down
_WORSE = 0.3  # ratio of the residuals before and after an iteration, below which the iterate is rejected
_SHORTER = 0.2  # factor of the step of pseudo-time after that
_BALANCED = 1e-8  # residual over the largest element force that is accepted
_SPINS = 1e-6  # speed of a node in the frame over the largest, below which it is round-off
_FREE = 1e-7  # relative change of constraints and spring forces by a spin, below which the spin is free
_CUTS = (1, 4, 16)  # numbers of parts in which the speed is raised, tried in this order


@dataclass(frozen=True)
class SteadyState:
    """A steady motion.

    Attributes:
        state: places, velocities, accelerations in row 2 of V, multipliers in row 0 of Q.
        efforts: values (k,) of the functions of the efforts.
        force: [N] along the way on the running body, None where there are efforts.
        speed: [m/s] of the running body.
        iterations: number of iterations of Newton's method.
        parts: number of parts in which the speed was raised.
        out: largest unbalanced force over the largest force of an element.
    """

    state: S.State
    efforts: np.ndarray
    force: float | None
    speed: float
    iterations: int
    parts: int
    out: float


def steady_running(
    compiled: CompiledModel, state: S.State, t: float, loading: Loading, functions: Sequence[int], owner: Owner
) -> SteadyState:
    """Return the steady motion of the running starts of a model, nearest to a state.

    Args:
        functions: numbers (k,) of the time functions of the efforts that keep the motion steady, at most 3.  The first
            one balances the forces along the way, the second those across it, the third those along the normal of both.

    Raises:
        ModelError: the model has no running start, or joints, supports or motions prevent the steady motion.
        AnalysisError: there is no such motion near the state, or Newton's method does not find it.
    """
    first = _Running(compiled, state, t, loading, functions, owner)
    for parts in _CUTS:
        try:
            return first.reached(parts)
        except ConvergenceError as error:
            failed = error
    raise failed


class _Running:
    """The search for a steady motion: data of the model that do not change, and the iteration."""

    def __init__(
        self, compiled: CompiledModel, state: S.State, t: float, loading: Loading, functions: Sequence[int],
        owner: Owner,
    ):  # fmt: skip
        self.compiled, self.system, self.owner, self.functions = compiled, compiled.system, owner, list(functions)
        self.first = self.system.first_multiplier
        self.rolls = np.zeros(self.system.n_dof - 1 - self.first, bool)
        for block in self.system.blocks:
            if block.type.nonholonomic:
                self.rolls[(block.dof[:, block.type.node_dofs :] - self.first).ravel()] = True
        self.start = self._first_guess(state, t)
        self.start.U[self.first : -1] = state.Q[0, self.first : -1]
        self.jets = function_jets(compiled, t)
        self.level = loading.level(self.jets[:, 0])
        self._check_drivers()
        frame = frame_of(compiled, self.start)
        self.run = compiled.model.runnings[0]
        self.dofs = np.flatnonzero(self.system.system.equation[: self.first] >= 0)
        self.active: list[int] = []
        self.free = -1  # number of spins that are free, once it is known
        self.rows, self.axes, self.speeds = self._spinning(frame)
        self.pins = self._ways(frame)

    def _first_guess(self, state: S.State, t: float) -> S.State:
        """Return a state with the velocities of the running start.

        Discs roll in their own direction.  They may slip sideways, since in a curve they are not steered yet.
        """
        start, compiled = instant(self.system, state), self.compiled
        if self.rolls.any():
            silent = self.system.silent | self.rolls
            compiled = replace(compiled, system=with_acting(self.system, silent, np.empty(0, int)))
        consistent_velocities(compiled, start, t)
        return instant(self.system, start)

    # --- what moves ------------------------------------------------------------------------------------------------
    def _check_drivers(self) -> None:
        """Refuse functions of motions and drivers with a rate: the efforts, not they, must determine the motion."""
        moving = (np.abs(self.jets[:, 1]) > 0.0) & ~np.asarray(self.compiled.loads, bool)
        if moving.any():
            name = self.system.function_owner(int(np.flatnonzero(moving)[0]))
            raise ModelError(
                f"{name} moves by a function of time, which steady running does not allow", owner=self.owner,
                remedy="replace it by a motor whose force is an effort of the step",
            )  # fmt: skip

    def _spinning(self, frame: Frame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rotation dofs (n, 3), the axes (n, 3) in body axes and the speeds (n,) [rad/s] of the nodes that
        spin in the frame.

        Raises:
            ModelError: a node moves in the frame in another way than by a spin.
        """
        system, V = self.system, self.start.V[0]
        size = float(np.abs(V).max(initial=0.0)) or 1.0
        off = np.abs(spatial_axes(system, self.start, V)[: self.first] - frame.field)
        off[system.system.rotations.ravel()] = 0.0
        off[system.system.states] = 0.0
        off[system.offset[self.compiled.model.building.path_nodes]] = 0.0
        if off.max(initial=0.0) > _SPINS * size:
            where = system.name_of(int(off.argmax()))
            raise ModelError(
                f"{where} moves by {off.max():.4g} {unit_of('m/s')} relative to the rest of the model: in steady "
                "running a part can only spin about an axis through its node", owner=self.owner,
                remedy="put the place of a body that spins onto its axis, or let joints hold what moves",
            )  # fmt: skip
        rows = system.system.rotations
        W = V[rows] - frame.body_spins(system, self.start)
        speeds = np.linalg.norm(W, axis=1)
        some = speeds > _SPINS * speeds.max(initial=0.0)
        return rows[some], W[some] / speeds[some, None], speeds[some]

    def _ways(self, frame: Frame) -> csr_matrix:
        """Return rows (k, first) of the directions in which the place of the running body is kept: along its way,
        across it, and along the normal of both; as many as efforts, at least one."""
        run, system = self.run, self.system
        place = system.offset[run.node] + np.arange(3)
        v = frame.field[place]
        speed = float(np.linalg.norm(v))
        if speed == 0.0:
            raise ModelError(
                f'"{run.place}" does not move, so it has no direction of travel',
                owner=self.owner,
                remedy="give it a velocity",
            )
        along = v / speed
        up = run.spin / np.linalg.norm(run.spin) if np.any(run.spin) else self._upwards(along)
        across = np.cross(up, along)
        if np.linalg.norm(across) < 1e-6:
            raise ModelError(
                f'"{run.place}" moves along its spin', owner=self.owner, remedy="give a velocity across the spin"
            )
        across /= np.linalg.norm(across)
        ways = np.array([along, across, np.cross(along, across)])[: max(1, len(self.functions))]
        self.speed = speed
        return csr_matrix(
            (ways.ravel(), (np.repeat(np.arange(len(ways)), 3), np.tile(place, len(ways)))),
            shape=(len(ways), self.first),
        )

    def _upwards(self, along: np.ndarray) -> np.ndarray:
        """Return the direction (3,) against gravity; without gravity, or along it, another one that is not along the
        way."""
        gravity = np.asarray(self.level.gravity, float)
        if np.any(gravity) and np.linalg.norm(np.cross(gravity, along)) > 1e-6 * np.linalg.norm(gravity):
            return -gravity / np.linalg.norm(gravity)
        return np.eye(3)[int(np.abs(along).argmin())]

    # --- iterates --------------------------------------------------------------------------------------------------
    def moving(self, state: S.State, speeds: np.ndarray, part: float) -> tuple[S.State, Frame]:
        """Return the state with velocities and accelerations of the steady motion at ``part`` of its speed, and the
        frame.

        ``speeds`` (n,) [rad/s]: of the nodes that spin.
        """
        system = self.system
        new = instant(system, state)
        new.U[self.first : -1] = state.U[self.first : -1]
        frame = frame_of(self.compiled, new).at(part)
        v = np.zeros(system.n_dof)
        v[: self.first] = frame.field
        rows = system.system.rotations
        W = frame.body_spins(system, new)
        v[rows] = W
        own = np.zeros(system.n_dof)
        own[self.rows] = speeds[:, None] * self.axes
        new.V[:2] = v + own
        new.V[2, : self.first] = frame.transport(system)[: self.first, : self.first] @ frame.field
        new.V[2, rows] = np.cross(W, own[rows])
        director_velocities(system, new)
        return new, frame

    def reached(self, parts: int) -> SteadyState:
        """Return the steady motion, whose speed is raised from rest in ``parts`` equal parts.

        Raises:
            ConvergenceError, ModelError: it is not found.
        """
        self.active = []  # forces on the body replace the efforts at first, until wheels press on the road
        it = _Iterate(
            self.start, self.speeds / parts, np.zeros(self.pins.shape[0]), np.zeros(len(self.system.system.shared))
        )
        count = 0
        try:
            it, count = self._found(it, 1.0 / parts)
        except AnalysisError:
            if not self.functions:
                raise
        if self.functions:
            self.active = self.functions
            it, number = self._found(replace(it, efforts=self.level.values[self.functions].copy()), 1.0 / parts)
            count += number
        for k in range(2, parts + 1):
            it, number = self._found(replace(it, speeds=it.speeds * k / (k - 1)), k / parts)
            count += number
        equations = _Equations(self, it, 1.0)
        equations.check_velocities()
        out = equations.out_of_balance()
        state = equations.here.state
        state.Q[:, self.first : -1] = state.U[self.first : -1]
        force = None if self.functions else float(it.efforts[0])
        efforts = it.efforts[: len(self.functions)]
        return SteadyState(state, efforts, force, self.speed, count, parts, out)

    def _found(self, it: _Iterate, part: float) -> tuple[_Iterate, int]:
        """Return the steady motion at ``part`` of the speed, from the iterate ``it``, by Newton's method with
        pseudo-time, and the number of iterations."""
        here, size = _Equations(self, it, part), np.inf
        pseudo = slowest = here.first_step()
        for count in range(1, _ITERATIONS + 1):
            found, size = here.improved(pseudo)
            if not np.isfinite(size):
                break
            if pseudo == np.inf and size <= _SMALL:
                return found, count
            there = _Equations(self, found, part)
            gain = here.size / there.size if there.size > 0.0 else np.inf
            # the residual has grown too much, for example since tyres hit the road
            if not gain > _WORSE and size > _NEAR:
                pseudo = _SHORTER * min(pseudo, here.first_step())
                continue
            here = there
            near = size <= _NEAR * min(1.0, pseudo / slowest)
            pseudo = np.inf if near else pseudo * min(max(2.0 * gain, 0.5), 10.0)
        if size <= _STUCK:
            here.out_of_balance()
        raise ConvergenceError(
            f"{self.owner}: no steady motion was found (last increment {size:.1e} of the model's length); take a lower "
            "speed or a larger radius, or check that wheels and joints can hold the model on its way"
        )


@dataclass
class _Iterate:
    """An iterate: the state with multipliers in U, the ``speeds`` (n,) [rad/s] of the spins, the ``efforts`` (k,), and
    in ``others`` the multipliers of dofs that share an unknown."""

    state: S.State
    speeds: np.ndarray
    efforts: np.ndarray
    others: np.ndarray


class _Equations:
    """The residual of all equations at an iterate, and their tangent."""

    def __init__(self, run: _Running, it: _Iterate, part: float):
        self.run, self.it, self.part = run, it, part
        state, self.frame = run.moving(it.state, it.speeds, part)
        self.here = self._under(it.efforts, state)
        system, first = run.system, run.first
        self.sharing = csr_matrix(system.sharing())[:, :first]
        self.scales = multiplier_scales(system)
        self.force = self._force(self.here)
        self.Z = self._free_spins()

    def _under(self, efforts: np.ndarray, state: S.State) -> Tangent:
        run = self.run
        values = run.level.values.copy()
        values[run.active] = efforts[: len(run.active)]
        return Tangent(run.system, state, run.level._replace(values=values))

    def _force(self, here: Tangent) -> np.ndarray:
        """Return the residual (M,): unbalanced forces of nodes (first,), then values of constraints, rates of rolling
        discs in the rows of theirs, and zeros for dofs that share an unknown."""
        run, first = self.run, self.run.first
        r = here.force()
        nodes, gaps = r[:first] + self.sharing.T @ self.it.others, r[first:-1]
        if run.rolls.any():
            gaps = np.where(run.rolls, here.slides * self.scales, gaps)
        if not run.active:
            nodes = nodes - run.pins.T @ self.it.efforts
        return np.concatenate((nodes, gaps, np.zeros(self.sharing.shape[0])))

    def _efforts(self) -> np.ndarray:
        """Return the derivatives (M, k) of the residual by the efforts."""
        run = self.run
        if not run.active:
            out = np.zeros((self.force.size, run.pins.shape[0]))
            out[: run.first] = -run.pins.T.toarray()
            return out
        columns = []
        for k, value in enumerate(self.it.efforts):
            e = np.zeros_like(self.it.efforts)
            e[k] = 1e-4 * max(1.0, abs(value))
            ahead, back = (
                self._force(self._under(self.it.efforts + sign * e, self.here.state)) for sign in (1.0, -1.0)
            )
            columns.append((ahead - back) / (2.0 * e[k]))
        return np.column_stack(columns)

    # --- spins -----------------------------------------------------------------------------------------------------
    @property
    def spins(self) -> csr_matrix:
        """Return E (first, n): angular velocities, in spatial axes, of the nodes that spin, per unit of their
        speeds."""
        run = self.run
        own = np.zeros((run.rows.shape[0], run.system.n_dof))
        own[np.arange(len(run.rows))[:, None], run.rows] = run.axes
        E = np.array([spatial_axes(run.system, self.here.state, row) for row in own]).reshape(len(own), -1)
        return csr_matrix(E[:, : run.first].T)

    def _free_spins(self) -> np.ndarray:
        """Return an orthonormal basis Z (n, k) of the speeds of spins that joints and springs allow."""
        run = self.run
        if not len(run.rows):
            return np.zeros((0, 0))
        E, first = self.spins, run.first
        rows = csr_matrix(self.here.G[:, :first])
        rows = rows[np.flatnonzero(~np.concatenate((run.rolls, np.zeros(rows.shape[0] - run.rolls.size, bool))))]
        stiff = [b for b in run.system.blocks if b.type.name not in ROLLING and not b.type.states]
        K = self.here.of_nodes(2.0, joints=0.0, blocks=[b for b in stiff if not b.type.multipliers])
        parts = []
        for A in (rows, K):
            size = abs(A).max() if A.nnz else 0.0
            if size > 0.0:
                norm = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel())
                norm = np.maximum(norm, _FREE * size)
                parts.append((diags(1.0 / norm) @ A @ E).toarray())
        if not parts:
            return np.eye(len(run.rows))
        _, sizes, vt = np.linalg.svd(np.vstack(parts))
        if run.free < 0:  # at the start, where joints are closed
            run.free = vt.shape[0] - int((sizes > _FREE).sum())
        return vt[vt.shape[0] - run.free :].T

    def check_velocities(self) -> None:
        """Check that supports and joints allow the steady motion.

        Raises:
            ModelError: naming the first one that does not allow it.
        """
        run, system = self.run, self.run.system
        v = spatial_axes(system, self.here.state, self.here.state.V[0])
        held = np.setdiff1d(np.arange(run.first), run.dofs)
        size = float(np.abs(v).max())
        if held.size and np.abs(v[held]).max() > 1e-9 * size:
            where = system.name_of(int(held[np.abs(v[held]).argmax()]))
            raise ModelError(f"{where} is held, but would move", owner=run.owner, remedy="free it")
        rates = np.abs(self.here.G @ v)
        unit = np.where(system.system.kind == S.POSITION, system.length, 1.0)
        bad = np.flatnonzero(rates > 1e-7 * size * np.maximum(abs(self.here.G) @ unit / system.length, 1e-300))
        if bad.size:
            labels = constraint_labels(system)
            row = int(bad[0])
            name = f'joint or equation "{labels[row]}"' if row < len(labels) else "a pair of coinciding nodes"
            raise ModelError(
                f"{name} does not let the model move steadily", owner=run.owner,
                remedy="let joints, gears and springs free what spins, about axes through its places",
            )  # fmt: skip

    @property
    def size(self) -> float:
        """Return the largest unbalanced force [N]; moments are divided by the model's length."""
        run = self.run
        d = run.dofs
        unit = np.where(run.system.system.kind[d] == S.ROTATION, run.system.length, 1.0)
        return float(np.abs(self.force[d] / unit).max(initial=0.0))

    def first_step(self) -> float:
        """Return the first step of pseudo-time [s]: in it the unbalanced forces move the fastest mass by `_FALL` times
        the model's length."""
        run, diagonal = self.run, self.here.M.diagonal()
        d = run.dofs[run.system.system.kind[run.dofs] == S.POSITION]
        d = d[diagonal[d] > 0.0]
        fastest = float(np.abs(self.force[d] / diagonal[d]).max(initial=0.0))
        return float(np.sqrt(_FALL * run.system.length / fastest)) if fastest > 0.0 else np.inf

    # --- Newton's method -------------------------------------------------------------------------------------------
    def _matrix(self, pseudo: float) -> csr_matrix:
        """Return the tangent of all equations with respect to displacements, spins, efforts and multipliers.

        M/pseudo^2 is added to the stiffness, and M/pseudo to the damping of the spins: a step of ``pseudo`` [s] from
        rest (inf: nothing is added).
        """
        run, here, first = self.run, self.here, self.run.first
        d = run.dofs
        P = self.frame.transport(run.system)[:first, :first]
        M, damping, K = (csr_matrix(a) for a in (here.M, here.C, here.K))
        columns = hstack((K[:first, first:-1], self.sharing.T)).tocsr()[d]
        M, damping, K = (a[:first, :first] for a in (M, damping, K))
        G = csr_matrix(here.G[:, :first])
        Z = csr_matrix(self.spins @ self.Z) if self.Z.size else csr_matrix((first, 0))
        A = (K + damping @ P + M @ (P @ P) + M / pseudo**2)[d]
        B = (damping @ Z + 2.0 * M @ (P @ Z) + M @ Z / pseudo)[d]
        slides = csr_matrix((G.shape[0], Z.shape[1]))
        if run.rolls.any():
            rolls = diags(np.concatenate((run.rolls, np.zeros(G.shape[0] - run.rolls.size))).astype(float))
            steering = here.steering[:, :first]
            H = vstack((steering, csr_matrix((G.shape[0] - steering.shape[0], first))))
            slides = rolls @ G @ Z
            G = G - rolls @ G + rolls @ (H + G @ P)
        F = csr_matrix(self._efforts())
        k, m, n = Z.shape[1], F.shape[1], G.shape[0]
        return bmat(
            [
                [A[:, d], B, F[:first][d], columns],
                [Z.T[:, d], csr_matrix((k, k)), None, csr_matrix((k, n))],
                [run.pins[:, d], None, csr_matrix((m, m)), None],
                [G[:, d], slides, F[first:], csr_matrix((n, n))],
            ],
            format="csr",
        )

    def improved(self, pseudo: float) -> tuple[_Iterate, float]:
        """Return the next iterate and the size of the increment, over the model's length or [rad]; ``pseudo`` [s] as in
        `_matrix`."""
        run, it, first = self.run, self.it, self.run.first
        A = self._matrix(pseudo)
        k, m = self.Z.shape[1] if self.Z.size else 0, run.pins.shape[0]
        n = run.dofs.size
        right = -np.concatenate((self.force[run.dofs], np.zeros(k + m), self.force[first:]))
        unit = np.zeros(A.shape[0])
        unit[:n] = np.where(run.system.system.kind[run.dofs] == S.POSITION, run.system.length, 1.0)
        fastest = max(float(np.abs(it.speeds).max(initial=0.0)), run.speed / run.system.length)
        unit[n : n + k] = fastest
        x = least_solution(A, right, unit, [n, k, m, self.force.size - first])
        size = np.abs(x[:n] / unit[:n]).max(initial=0.0)
        largest = max(size, np.abs(x[n : n + k]).max(initial=0.0) / fastest)
        x *= min(1.0, _LONGEST / largest) if largest > 0.0 else 1.0
        u = np.zeros(run.system.n_dof)
        u[run.dofs] = x[:n]
        state = moved(run.system, self.here.state, u)
        y = x[n + k + m :]
        count = self.scales.size
        state.U[first:-1] = self.here.state.U[first:-1] + y[:count]
        state.Q[:, first:-1] = state.U[first:-1]
        speeds = it.speeds + (self.Z @ x[n : n + k] if k else 0.0)
        return _Iterate(state, speeds, it.efforts + x[n + k : n + k + m], it.others + y[count:]), float(largest)

    def out_of_balance(self) -> float:
        """Return the largest unbalanced force over the largest force of an element.

        Raises:
            AnalysisError: this is more than round-off; it names the node.
        """
        run = self.run
        left = np.abs(self.force[run.dofs])
        largest = self.here.largest_force
        out = float(left.max(initial=0.0)) / largest if largest > 0.0 else 0.0
        if out > _BALANCED:
            where = run.system.name_of(int(run.dofs[left.argmax()]))
            raise AnalysisError(
                f"{run.owner}: forces of {out:.1e} of the largest one are left over, most at {where}: nothing holds "
                "the model there, and no effort; name one more in `efforts` (the second one balances forces across the "
                "way), or give a velocity at which they vanish"
            )
        return out
