"""Small motions of a model about any state, at rest or moving: M, C and K, inertia and joints included.

    M a + C v + K u + G^T y = f,   G u = 0

Increments u of positions and of rotations (rotation vectors phi in spatial axes), with v, a their rates.  The matrices
are those of `fem_mbs.system.tangent.Tangent`; here the dofs that supports and motions hold leave them, constraints may
be eliminated, and a rotor may be seen from a frame that turns with it.

A model that turns steadily about an axis has periodic coefficients in one frame and constant ones in another: in the
rotating frame u = R_s xi, so v = R_s (xi' + P xi) with P = [Omega]_x on every node, and

    M,   C + 2 M P,   K + C P + M P^2.

`fem_mbs.analysis.rotors.rotating` looks which frame makes them constant, by turning the rotor.

Theory: docs/theory.md, section 9, "The matrices".
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, diags, hstack, identity, vstack

from fem_mbs.analysis.linear.linearised import LARGE, keeps_constraints
from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.stability.blades import Blades, find_blades
from fem_mbs.analysis.stability.rolling import rolling_problem, rolls_of
from fem_mbs.analysis.stability.rotation import Rotation, transport, turn_steadily
from fem_mbs.analysis.start.initial import function_jets, initial_accelerations, multipliers_of
from fem_mbs.analysis.start.redundancy import constraint_labels
from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import ModelError, Owner
from fem_mbs.model.connections.cyclic import rows_of_faces
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.eigen.quadratic_pencil import selected
from fem_mbs.solvers.linear.constraint_equations import Elimination, eliminate
from fem_mbs.solvers.linear.redundancy import independent_rows
from fem_mbs.solvers.linear.service import factor
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.states import at_rest, instant, moved, spatial_axes
from fem_mbs.system.tangent import Tangent, matrices_of

if TYPE_CHECKING:
    from fem_mbs.analysis.rotors.steady_parts import SteadyParts
    from fem_mbs.analysis.stability.state_space import Descriptor, StateSpace

__all__ = ["Linearisation"]

_BALANCED = 30  # iterations for multipliers that forces depend on


class Linearisation:
    """The matrices of a model about a state (rows 0 of ``state``), which is not changed.

    Attributes:
        M, C, K: (n, n) sparse, unsymmetric in general, over the unknowns of nodes that supports and motions leave.
        G: (m, n) sparse: joints, equations and dofs that share an unknown; columns (n, m): the forces of their
            multipliers, G^T but for friction.
        dofs: (n,) their places among all dofs (N,) of the compiled model; ``names`` says what they are.
        residual: (n,) forces that the state leaves out of balance, inertia and multipliers included.
        frame: "fixed", "rotating" or "multi-blade", the frame of the increments.
        notes: sentences on what limits the validity, of `fem_mbs.linearise`.
        acceleration: (N,) of the state, rotations in body axes; ``multipliers`` (M,) in the model's scales.

    Args:
        t: [s] at which functions are taken.
        loading: levels of loads; None: every load in full and the weight.
        rotation: the state turns steadily so: accelerations follow from it (velocities too), not from equations of
            motion.
        frame: of the increments; others than "fixed" need a rotation.
        acceleration: (N,) of a state in steady motion, angular ones in body axes; None: found from the equations of
            motion.
        parts: of the matrices, that other speeds of the rotation have too.

    Raises:
        ModelError, AnalysisError: the state cannot be linearised.
    """

    def __init__(
        self, compiled: CompiledModel, state: S.State, t: float = 0.0, loading: Loading | None = None,
        rotation: Rotation | None = None, frame: str = "fixed", acceleration: np.ndarray | None = None,
        parts: SteadyParts | None = None,
    ):  # fmt: skip
        self.compiled, self.system, self.t, self.rotation, self.frame = compiled, compiled.system, t, rotation, frame
        if frame not in ("fixed", "rotating", "multi-blade"):
            raise ModelError(
                f'frame = {shown(frame)} must be "fixed", "rotating" or "multi-blade"',
                owner=Owner("Linearisation"),
                key="frame",
                value=frame,
            )
        if frame != "fixed" and rotation is None:
            raise ModelError(f'frame = "{frame}" needs a rotation', owner=Owner("Linearisation"))
        if loading is None:
            loading = Loading(compiled)
            loading.all_on()
        self.loading, self.parts = loading, parts
        self.notes: list[str] = []
        system = self.system
        system.refuse_impacts(Owner("Linearisation"), "has no small motions", "take contact in place of the impact")
        self.matrices = matrices_of(system)
        self.first = system.first_multiplier
        self.state = instant(system, state)
        self.level = loading.level(function_jets(compiled, t)[:, 0])
        if rotation is not None:
            turn_steadily(system, self.state, rotation)
            self.acceleration = self.state.V[2].copy()
        elif acceleration is not None:
            self.acceleration = acceleration.copy()
        elif np.any(self.state.V[0]):
            self.acceleration = initial_accelerations(compiled, instant(system, state), t, self.level)
        else:
            self.acceleration = np.zeros(system.n_dof)
        self.state.V[2] = self.acceleration
        self.dofs = np.flatnonzero(system.system.equation[: self.first] >= 0)
        if self.first < system.n_dof - 1:
            self._balance()
        self.multipliers = self.state.U[self.first : -1].copy()

    def _balance(self) -> None:
        """Set the multipliers with the least forces out of balance; where forces depend on them, by Newton's method."""
        y = self.state.U[self.first : -1]
        pressing = [block for block in self.system.blocks if block.type.reads]
        for _ in range(_BALANCED):
            columns = None
            if pressing:
                here = self._at(self.state)
                columns = here.assemble(here.control(2.0), pressing)[1][: self.first, self.first : -1]
            free = self.force()[: self.first]
            change = multipliers_of(self._at(at_rest(self.state)), free, columns)
            y += change
            if not pressing or np.abs(change).max() <= 1e-13 * np.abs(y).max():
                return
        raise ModelError(
            "no forces of joints balance the friction that they cause",
            owner=Owner("Linearisation"),
            remedy="a joint may jam by its own friction: take a smaller coefficient",
        )

    # --- the state -------------------------------------------------------------------------------------------------
    def _at(self, state: S.State) -> Tangent:
        made = Tangent if self.parts is None else self.parts.tangent
        return made(self.system, state, self.level, self.matrices)

    @cached_property
    def tangent(self) -> Tangent:
        """Return the matrices over all dofs, in the fixed frame."""
        return self._at(self.state)

    @cached_property
    def names(self) -> list[str]:
        """Return the names of the unknowns: node and component."""
        return [self.system.name_of(int(i)) for i in self.dofs]

    @property
    def moving(self) -> bool:
        return bool(np.any(self.state.V[0]))

    @property
    def speed(self) -> float:
        """Return a scale of the angular velocities in the state [rad/s]; 1 at rest."""
        return self.tangent.speed

    # --- forces ----------------------------------------------------------------------------------------------------
    def force(self, state: S.State | None = None) -> np.ndarray:
        """Return the forces (N,) that are out of balance at a state, accelerations, multipliers and constraints
        included."""
        return self._at(self.state if state is None else state).force()

    def summed(self, force: np.ndarray) -> np.ndarray:
        """Return forces (N,) with those of dofs that share an unknown summed up at the one which the others follow."""
        follower, leader = self.system.system.shared.T
        out = force.copy()
        out[follower] = 0.0
        np.add.at(out, leader, force[follower])
        return out

    @cached_property
    def residual(self) -> np.ndarray:
        return self.summed(self.force())[self.dofs]

    # --- matrices --------------------------------------------------------------------------------------------------
    def whole(self) -> tuple[csr_matrix, csr_matrix, csr_matrix]:
        """Return M, C and K over all dofs (N, N), supports and multipliers included, in the frame."""
        here = self.tangent
        M, damping, stiffness = self.mass, here.C, here.K
        if self.frame != "fixed":
            P = self.turning()
            stiffness = stiffness + damping @ P + M @ P @ P
            damping = damping + 2.0 * M @ P
        return M, damping, stiffness

    @cached_property
    def mass(self) -> csr_matrix:
        """Return M (N, N) in all frames, without stored zeros: two of three entries of a solid's mass are zero."""
        M = self.tangent.M.copy()
        M.eliminate_zeros()
        return M

    def products(self, X: np.ndarray, absolute: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return M X, C X and K X (N, k) in the frame, X (N, k) over all dofs, without the matrices of that frame.

        ``absolute``: take the absolute values of the matrices of the tangent and of the frame.
        """
        M, C, K = self.mass, self.tangent.C, self.tangent.K
        if absolute:
            M, C, K = (csr_matrix((np.abs(A.data), A.indices, A.indptr), shape=A.shape) for A in (M, C, K))
        if self.frame == "fixed":
            return M @ X, C @ X, K @ X
        P = abs(self.turning()) if absolute else self.turning()
        rate = P @ X
        mass, by_rate, twice = np.split(M @ np.hstack((X, rate, P @ rate)), 3, axis=1)
        damping, turned = np.split(C @ np.hstack((X, rate)), 2, axis=1)
        return mass, damping + 2.0 * by_rate, K @ X + turned + twice

    @property
    def steady(self) -> Rotation:
        """Return the steady rotation of the state.

        Raises:
            ModelError: it has none.
        """
        if self.rotation is None:
            raise ModelError("this state has no steady rotation", owner=Owner("Linearisation"), remedy="name a rotor")
        return self.rotation

    def transport(self, nodes: np.ndarray) -> csr_matrix:
        """Return P (N, N): velocities that displacements and rotations of ``nodes`` (n,) bool have by turning
        steadily."""
        return transport(self.system, self.steady, nodes)

    def turning(self) -> csr_matrix:
        """Return P (N, N): velocities of increments that rest in the rotating frame, or in multi-blade coordinates."""
        if self.frame == "multi-blade":
            return self.bladed.transport()
        return self.transport(np.ones_like(self.steady.nodes))

    @cached_property
    def blades(self) -> Blades | None:
        """Return the equal blades of the rotor, None: it has no three or more.

        Raises:
            ModelError: it does not have as many as it says.
        """
        return find_blades(self.system, self.steady, self.state)

    @property
    def bladed(self) -> Blades:
        """Return the equal blades of the rotor.

        Raises:
            ModelError: it has no three or more.
        """
        if self.blades is None:
            raise ModelError(
                "no turn by a third or less takes all its nodes off the axis to one another, so it has no multi-blade "
                "coordinates",
                owner=self.steady.owner,
                remedy='make three or more equal blades, or take frame = "periodic"',
            )
        return self.blades

    @cached_property
    def _system(self) -> tuple[csr_matrix, csr_matrix, csr_matrix]:
        M, damping, stiffness = (selected(a, self.dofs) for a in self.whole())
        return M, damping, stiffness

    @property
    def M(self) -> csr_matrix:
        return self._system[0]

    @property
    def C(self) -> csr_matrix:
        return self._system[1]

    @property
    def K(self) -> csr_matrix:
        return self._system[2]

    @cached_property
    def constraints(self) -> csr_matrix:
        """Return the constraints (m, N) over all dofs: joints and equations in the model's scales, then dofs that
        share an unknown."""
        return self.tangent.G

    @cached_property
    def G(self) -> csr_matrix:
        return self.constraints[:, self.dofs]

    @cached_property
    def rolls(self) -> np.ndarray:
        """Return which constraints (m,) bool are nonholonomic, as those of discs that roll without slip."""
        return rolls_of(self)

    def constraint_rates(self) -> tuple[csr_matrix, csr_matrix, csr_matrix]:
        """Return the constraints (m, N) and their first and second derivatives by time along the motion of the state,
        by differences of order 4."""
        system = self.system
        v, a = self.velocity(), spatial_axes(self.system, self.state, self.state.V[2])
        a[self.first :] = 0.0
        blocks = [block for block in system.blocks if block.type.multipliers]
        e = 1e-2 / max(self.speed, float(np.sqrt(np.abs(a).max(initial=0.0) / max(system.length, 1e-300))))

        def at(k: float) -> csr_matrix:
            level = self.loading.level(function_jets(self.compiled, self.t + k * e)[:, 0])
            there = self._at(self.moved(k * e * v + 0.5 * (k * e) ** 2 * a)).under(level)
            return there.assemble(there.control(2.0), blocks)[1][self.first : -1]

        m2, m1, p1, p2, here = (at(k) for k in (-2.0, -1.0, 1.0, 2.0, 0.0))
        one = (8.0 * (p1 - m1) - (p2 - m2)) / (12.0 * e)
        two = (16.0 * (p1 + m1) - (p2 + m2) - 30.0 * here) / (12.0 * e**2)
        none = csr_matrix((self.constraints.shape[0] - here.shape[0], system.n_dof))
        return self.constraints, vstack((one, none)).tocsr(), vstack((two, none)).tocsr()

    @cached_property
    def pressed(self) -> bool:
        """Return whether forces depend on multipliers, as friction in joints does: ``columns`` are not G^T then."""
        return any(block.owners is not None and (block.owners >= 0).any() for block in self.system.blocks)

    @cached_property
    def columns(self) -> csr_matrix:
        """Return the forces (n, m) of the multipliers on the unknowns: G^T, with friction plus its dependence on them.

        The equations are (p^2 M + p C + K) x + columns y = 0, G x = 0.
        """
        if not self.pressed:
            return csr_matrix(self.G.T)
        forces = self.tangent.K[: self.first, self.first : -1]
        return hstack((forces, self.system.sharing()[:, : self.first].T)).tocsr()[self.dofs]

    def unpressed(self, A: csr_matrix | np.ndarray) -> np.ndarray:
        """Return rows A (N, k) of the equations, dense, combined so that the forces of the multipliers become G^T.

        With columns = (1 + E) G^T, E = (columns - G^T) (G G^T)^-1 G, these are (1 + E)^-1 A.
        """
        A = A.toarray() if hasattr(A, "toarray") else np.array(A)
        keep = np.flatnonzero(independent_rows(self.G, np.ones(self.dofs.size)))
        G = self.G[keep]
        more = csc_matrix(self.columns[:, keep] - G.T)
        some = np.flatnonzero(np.diff(more.indptr))
        more = more[:, some].toarray()
        solve = factor(G @ G.T, kind="plain").solve
        y = np.linalg.solve(np.eye(some.size) + solve(G @ more)[some], solve(G @ A[self.dofs])[some])
        A[self.dofs] -= more @ y
        return A

    def release(self) -> None:
        """Free the memory of the matrices, which large parts need for their factors; the next use makes them again."""
        self.G, self.columns  # noqa: B018  small, and still wanted
        self.tangent.release()
        for name in ("_system", "mass"):
            self.__dict__.pop(name, None)

    def seen_from(self, frame: str) -> Linearisation:
        """Return the linearisation about the same state, in another frame."""
        if frame == self.frame:
            return self
        other = copy(self)
        other.frame = frame
        other.__dict__.pop("_system", None)
        return other

    def velocity(self) -> np.ndarray:
        """Return velocities (N,) of the state, rotations as spins in spatial axes."""
        v = spatial_axes(self.system, self.state, self.state.V[0])
        v[self.first :] = 0.0
        return v

    def moved(self, u: np.ndarray) -> S.State:
        """Return the state moved by increments u (N,): positions, and rotations by their Cayley vectors."""
        return moved(self.system, self.state, u)

    def turn_matrix(self, angle: float, frame: str = "rotating") -> csr_matrix:
        """Return R (N, N): increments that rest in a frame, after an angle [rad] of the rotation; in the rotating one
        those of all nodes turned about the axis."""
        if frame == "fixed":
            return csr_matrix(identity(self.system.n_dof))
        if frame == "multi-blade":
            return self.bladed.turn_matrix(angle)
        system, N = self.system, self.system.n_dof
        P = transport(system, self.steady.at(1.0), np.ones_like(self.steady.nodes))
        # Rodrigues: I + sin P + (1 - cos) P^2
        return csr_matrix(identity(N) + np.sin(angle) * P + (1.0 - np.cos(angle)) * (P @ P))

    def row_name(self, row: int) -> str:
        """Return the owner of a constraint, for messages."""
        labels = constraint_labels(self.system)
        return f'joint or equation "{labels[row]}"' if row < len(labels) else "a pair of coinciding nodes"

    def driven_rows(self) -> set[int]:
        """Return the constraints that follow a function of time."""
        found: set[int] = set()
        for block in self.system.blocks:
            if block.type.multipliers and "function" in block.type.par:
                driven = block.par[:, block.type.column("function")] >= 0
                found.update((block.dof[driven][:, block.type.node_dofs :] - self.first).ravel().tolist())
        return found

    @cached_property
    def elimination(self) -> Elimination | None:
        """Return u = T q + u0 over the dofs of nodes, for parts with few constraints.

        Return None for mechanisms whose joints connect all parts, where T would be full, and where forces depend on
        multipliers.
        """
        explicit = rows_of_faces(self.compiled).size  # a node follows one or a few others
        keeps = self.pressed or keeps_constraints(self.constraints.shape[0] - explicit, self.dofs.size)
        return None if keeps else self.eliminate()

    def eliminate(self, right: np.ndarray | None = None, pin: int = -1, rows: np.ndarray | None = None) -> Elimination:
        """Eliminate the constraints G u = right (m,), or those chosen by ``rows`` (m,) bool: return u = T q + u0.

        Supports, motions and the dof ``pin`` stay in place.
        """
        free = np.zeros(self.first, bool)
        free[self.dofs] = True
        if pin >= 0:
            free[pin] = False
        held = np.flatnonzero(~free)
        preferred = np.full(self.constraints.shape[0], -1)
        preferred[: self.system.n_dof - 1 - self.first] = self.system.preferred_dofs()
        size = np.where(self.system.system.kind[: self.first] == S.POSITION, self.system.length, 1.0)
        G = self.constraints[:, : self.first]
        if rows is not None:
            G, preferred = G[np.flatnonzero(rows)], preferred[rows]
        return eliminate(G, right, preferred, held, None, scale=size)

    def problem(self) -> tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix | None, csr_matrix]:
        """Return M, C, K (k, k), constraints (m, k) or None, and T (N, k), u = T q, of the eigenvalue problem.

        Constraints of large parts are eliminated: the rest can be factored by the fast supernodal L L^T.
        """
        N, n = self.system.n_dof, self.dofs.size
        if self.moving and self.rolls.any():
            M, C, K, T, states = rolling_problem(self)
            M, C, K, T = self._balanced(M, C, K, T, states)
            return M, C, K, None, T
        if n <= LARGE or not self.G.shape[0] or self.elimination is None:
            T = csr_matrix((np.ones(n), (self.dofs, np.arange(n))), shape=(N, n))
            M, C, K, T = self._balanced(self.M, self.C, self.K, T)
            return M, C, K, self.G if self.G.shape[0] else None, T
        found = self.elimination
        M, C, K = (found.reduce(a[: self.first, : self.first]) for a in self.whole())
        T = vstack((found.T, csr_matrix((N - self.first, found.T.shape[1])))).tocsr()
        M, C, K, T = self._balanced(M, C, K, T)
        return M, C, K, None, T

    def _balanced(
        self, M: csr_matrix, C: csr_matrix, K: csr_matrix, T: csr_matrix, more: np.ndarray | None = None
    ) -> tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix]:
        """Return matrices and basis with other units of the state variables, in which forces by them and their rates
        by motions are of one size: eigenvalues stay, and rounding does not depend on the units; ``more`` (r,): numbers
        of further unknowns that are state variables."""
        states = self.system.system.states
        states = np.flatnonzero(np.isin(np.arange(T.shape[0]), states) @ abs(T) > 0.0) if states.size else states
        states = states if more is None else np.union1d(states, more)
        if not states.size:
            return M, C, K, T
        moving = np.ones(T.shape[1], bool)
        moving[states] = False
        if not moving.any():
            return M, C, K, T
        both = abs(K) + abs(C)
        rows = both[states][:, moving].max(axis=1).toarray().ravel()
        columns = both[moving][:, states].max(axis=0).toarray().ravel()
        size = np.ones(T.shape[1])
        some = (rows > 0.0) & (columns > 0.0)
        size[states[some]] = np.sqrt(rows[some] / columns[some])
        D, inverse = diags(size), diags(1.0 / size)
        return M, csr_matrix(inverse @ C @ D), csr_matrix(inverse @ K @ D), csr_matrix(T @ D)

    def expand(self, q: np.ndarray) -> np.ndarray:
        """Return increments (N,) or (N, k) of all dofs from those of the unknowns (n,) or (n, k)."""
        out = np.zeros((self.system.n_dof, *q.shape[1:]), q.dtype)
        out[self.dofs] = q
        return out

    def state_space(self, inputs: str | Sequence[str] = (), sensors: str | Sequence[str] = ()) -> StateSpace:
        """Return x' = A x + B u, y = C x + D u, dense, from names of loads, motions, driven joints or motors to names
        of sensors; see `fem_mbs.analysis.stability.state_space`."""
        from fem_mbs.analysis.stability.state_space import state_space

        return state_space(self, inputs, sensors)

    def descriptor(self, inputs: str | Sequence[str] = (), sensors: str | Sequence[str] = ()) -> Descriptor:
        """Return E x' = A x + B u, y = C x + D u, sparse, with constraints; see
        `fem_mbs.analysis.stability.state_space`."""
        from fem_mbs.analysis.stability.state_space import descriptor

        return descriptor(self, inputs, sensors)
