"""Small motions of a model about any state, at rest or moving: M, C and K, inertia and joints included.

    M a + C v + K u + G^T y = f,   G u = 0

Increments u of positions and of rotations (rotation vectors phi in spatial axes), with v, a their rates.  The matrices
come from the elements' compiled forces in one-state form (`fem_mbs.contract`).  With body-fixed rates W and A = dW/dt
the exact variations on the rotation group are

    dW = R^T phi',   dA = R^T (phi'' - w x phi'),   w = R W,

so C is that of the elements, which take dA = R^T phi'' alone, less M [w]_x in the columns of rotations.  Rates of
strain of damped elements change with the place too; elements leave that out of their tangents where the model moves,
and it is added by differences of the elements' forces.

A model that turns steadily about an axis has periodic coefficients in one frame and constant ones in another: in the
rotating frame u = R_s xi, so v = R_s (xi' + P xi) with P = [Omega]_x on every node, and

    M,   C + 2 M P,   K + C P + M P^2.

`fem_mbs.analysis.rotors.rotating` looks which frame makes them constant, by turning the rotor.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, hstack, identity, vstack

from fem_mbs.analysis.linear.linearised import LARGE, MECHANISM
from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.stability.rate_stiffness import rate_stiffness
from fem_mbs.analysis.stability.rotation import Rotation, crosses, transport, turn_steadily
from fem_mbs.analysis.start.initial import director_velocities, function_jets, initial_accelerations, multipliers_of
from fem_mbs.analysis.start.redundancy import constraint_labels
from fem_mbs.errors import ModelError
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.linear.constraint_equations import Elimination, eliminate
from fem_mbs.solvers.linear.redundancy import independent_rows
from fem_mbs.solvers.linear.service import factor
from fem_mbs.solvers.stepping import stepper as S
from fem_mbs.system.compile import Block
from fem_mbs.system.tangent import control, function_table, matrices_of

__all__ = ["Linearisation"]

_BALANCED = 30  # iterations for multipliers that forces depend on
#: First parts of the names of element types that depend on velocities by damping, or spins, alone.
_CONTINUA = ("solid_", "plane_", "axisymmetric_", "beam", "strain_beam", "corotational_beam", "truss", "linear_mass")


class Linearisation:
    """The matrices of a model about a state (rows 0 of ``state``), which is not changed.

    Attributes:
        M, C, K: (n, n) sparse, unsymmetric in general, over the unknowns of nodes that supports and motions leave.
        G: (m, n) sparse: joints, equations and dofs that share an unknown; columns (n, m): the forces of their
            multipliers, G^T but for friction.
        dofs: (n,) their places among all dofs (N,) of the compiled model; ``names`` says what they are.
        residual: (n,) forces that the state leaves out of balance, inertia and multipliers included.
        frame: "fixed" or "rotating", the frame of the increments.
        notes: sentences on what limits the validity, of `fem_mbs.linearise`.
        acceleration: (N,) of the state, rotations in body axes; ``multipliers`` (M,) in the model's scales.

    Args:
        t: [s] at which functions are taken.
        loading: levels of loads; None: every load in full and the weight.
        rotation: the state turns steadily so: accelerations follow from it (velocities too), not from equations of
            motion.
        frame: of the increments; "rotating" needs a rotation.

    Raises:
        ModelError, AnalysisError: the state cannot be linearised.
    """

    def __init__(
        self, compiled: CompiledModel, state: S.State, t: float = 0.0, loading: Loading | None = None,
        rotation: Rotation | None = None, frame: str = "fixed",
    ):  # fmt: skip
        self.compiled, self.system, self.t, self.rotation, self.frame = compiled, compiled.system, t, rotation, frame
        if frame not in ("fixed", "rotating"):
            raise ModelError(f'Linearisation: frame = {frame!r} must be "fixed" or "rotating"')
        if frame == "rotating" and rotation is None:
            raise ModelError('Linearisation: frame = "rotating" needs a rotation')
        if loading is None:
            loading = Loading(compiled)
            loading.all_on()
        self.loading = loading
        self.notes: list[str] = []
        system = self.system
        self.matrices = matrices_of(system)
        self.first = system.first_multiplier
        self.state = self._copy(state)
        self._values = function_jets(compiled, t)[:, 0] * loading.factors
        if rotation is not None:
            turn_steadily(system, self.state, rotation)
            self.acceleration = self.state.V[2].copy()
        elif np.any(self.state.V[0]):
            self.acceleration = initial_accelerations(compiled, self._copy(state), t, self._values, self._gravity())
        else:
            self.acceleration = np.zeros(system.n_dof)
        self.state.V[2] = self.acceleration
        self.dofs = np.flatnonzero(system.system.equation[: self.first] >= 0)
        if self.first < system.n_dof - 1:
            self._balance()
        self.multipliers = self.state.U[self.first : -1].copy()

    def _balance(self) -> None:
        """Multipliers that leave the least out of balance; where forces depend on them, by Newton's method."""
        y = self.state.U[self.first : -1]
        pressing = [block for block in self.system.blocks if block.type.reads]
        for _ in range(_BALANCED):
            columns = None
            if pressing:
                columns = self._tangent(self.control(2.0), pressing)[: self.first, self.first : -1]
            free = self.force()[: self.first]
            change = multipliers_of(self.compiled, self.rest(), free, self._values, columns)
            y += change
            if not pressing or np.abs(change).max() <= 1e-13 * np.abs(y).max():
                return
        raise ModelError(
            "Linearisation: no forces of joints balance the friction that they cause; a joint may jam by its own "
            "friction: take a smaller coefficient"
        )

    # --- states ----------------------------------------------------------------------------------------------------
    def _copy(self, state: S.State) -> S.State:
        """Both ends at row 0 of a state, its multipliers as unknowns."""
        new = self.system.initial_state()
        new.Q[:], new.D[:], new.V[:2] = state.Q[0], state.D[0], state.V[0]
        new.V[2] = 0.0
        director_velocities(self.system, new)
        new.U[:] = 0.0
        new.U[self.first : -1] = state.Q[0, self.first : -1]
        return new

    def rest(self) -> S.State:
        """The state without its velocities and accelerations."""
        return self.state._replace(V=np.zeros_like(self.state.V), DD=np.zeros_like(self.state.DD))

    def shaken(self) -> S.State:
        """The state with random velocities, by which elements tell whether velocities matter to them."""
        state = self._copy(self.state)
        state.U[self.first : -1] = self.state.U[self.first : -1]
        state.V[:2] = self.speed * np.random.default_rng(5).uniform(-1.0, 1.0, self.system.n_dof)
        director_velocities(self.system, state)
        return state

    def _gravity(self) -> np.ndarray:
        return self.loading.weight * np.asarray(self.compiled.model.gravity, float)

    @cached_property
    def names(self) -> list[str]:
        """What the unknowns are: node and component."""
        return [self.system.name_of(int(i)) for i in self.dofs]

    @cached_property
    def spins(self) -> np.ndarray:
        """Angular velocities (nr, 3) of the nodes with rotations, in spatial axes; none in the plane."""
        rows = self.system.system.rotations
        if self.system.dimension == 2 or not rows.size:
            return np.zeros((0, 3))
        R = self.state.D[0, : len(rows)].reshape(-1, 3, 3)
        return np.einsum("nij,nj->ni", R, self.state.V[0, rows])

    @cached_property
    def speed(self) -> float:
        """Scale of the angular velocities in the state [rad/s]; 1 at rest."""
        rows = self.system.system.rotations
        turning = float(np.abs(self.state.V[0, rows]).max(initial=0.0)) if rows.size else 0.0
        moving = float(np.abs(self.state.V[0, self.system.system.positions]).max(initial=0.0)) / self.system.length
        return max(turning, moving) or 1.0

    @property
    def moving(self) -> bool:
        return bool(np.any(self.state.V[0]))

    # --- elements ---------------------------------------------------------------------------------------------------
    def control(self, stiffness=0.0, damping=0.0, mass=0.0, weight=True) -> np.ndarray:
        """Control values of elements for K (stiffness = 2), C (damping) and M (mass)."""
        ctl = control(stiffness, damping, mass)
        if weight:
            self.loading.gravity(ctl)
        return ctl

    @cached_property
    def fun(self) -> np.ndarray:
        """Values of the time functions as elements take them."""
        return function_table(self._values)

    @cached_property
    def _inertia(self) -> list[Block]:
        return [block for block in self.system.blocks if block.type.inertia]

    def velocity_dependent(self, blocks: list[Block]) -> list[Block]:
        """Those of blocks whose forces may depend on velocities: not continua and nodes that are undamped."""
        return [
            block for block in blocks
            if not (
                block.type.name.startswith(_CONTINUA)
                and not block.type.multipliers
                and ("damping" not in _columns(block) or not block.par[:, block.type.column("damping")].any())
                and not (block.type.inertia and block.type.rotational)
            )
        ]  # fmt: skip

    @cached_property
    def others(self) -> list[Block]:
        """Blocks without inertia."""
        return [block for block in self.system.blocks if not block.type.inertia]

    def _tangent(self, ctl, blocks, state: S.State | None = None) -> csr_matrix:
        return self.matrices.tangent(ctl, self.fun, self.state if state is None else state, blocks)[1]

    def force(self, state: S.State | None = None, values: np.ndarray | None = None) -> np.ndarray:
        """Forces (N,) that a state leaves out of balance, accelerations, multipliers and constraints included."""
        fun = self.fun if values is None else function_table(values)
        # with WA = 0 masses give their weight only
        return self.matrices.force(self.control(2.0, mass=1.0), fun, self.state if state is None else state)

    def summed(self, force: np.ndarray) -> np.ndarray:
        """Forces (N,) with those of dofs that share an unknown summed up at the one which the others follow."""
        follower, leader = self.system.system.shared.T
        out = force.copy()
        out[follower] = 0.0
        np.add.at(out, leader, force[follower])
        return out

    @cached_property
    def residual(self) -> np.ndarray:
        return self.summed(self.force())[self.dofs]

    # --- matrices over all dofs ------------------------------------------------------------------------------------
    @cached_property
    def mass(self) -> csr_matrix:
        """Mass (N, N) over all dofs: at rest and without weight nothing else is in the elements' tangent."""
        return self._tangent(self.control(mass=1.0, weight=False), self._inertia, self.rest())

    @cached_property
    def _inertial(self) -> tuple[csr_matrix, csr_matrix]:
        """Shares (N, N) of inertia forces and weight in C and K.

        Elements' tangents are affine in the weights of velocities and accelerations.
        """
        w, blocks = self.speed, self.velocity_dependent(self._inertia)
        plus, minus, back = (
            self._tangent(self.control(2.0, damping=a * w, mass=b * w * w), blocks)
            for a, b in ((1.0, 1.0), (-1.0, 1.0), (0.0, -1.0))
        )
        damping = (plus - minus) / (2.0 * w)
        return damping - self.mass @ self._turn(self.spins), 0.5 * (0.5 * (plus + minus) + back)

    @cached_property
    def _elastic(self) -> tuple[csr_matrix, csr_matrix]:
        """Shares (N, N) of all other elements in C and K, joints and loads included."""
        K, damped = self._tangent(self.control(2.0), self.others), self.velocity_dependent(self.others)
        plus, minus = (self._tangent(self.control(2.0, damping=a), damped) for a in (1.0, -1.0))
        C1 = 0.5 * (plus - minus)
        size = abs(C1).max()
        if size > 0.0:
            # dampers next to stiff parts: velocities of a size that leaves both their digits
            w = max(abs(plus + minus).max() / size, 1.0)
            plus, minus = (self._tangent(self.control(2.0, damping=a * w), damped) for a in (1.0, -1.0))
            C1 = (plus - minus) / (2.0 * w)
        return C1, K + rate_stiffness(self) if self.moving else K

    def _turn(self, spins: np.ndarray) -> csr_matrix:
        """[w]_x (N, N) in the rotations of nodes, spins (nr, 3)."""
        return crosses(self.system.n_dof, self.system.system.rotations, spins)

    # --- the system ------------------------------------------------------------------------------------------------
    def whole(self) -> tuple[csr_matrix, csr_matrix, csr_matrix]:
        """M, C and K over all dofs (N, N), supports and multipliers included, in the frame."""
        M = self.mass
        C1, K1 = self._inertial
        C2, K2 = self._elastic
        damping, stiffness = C1 + C2, K1 + K2
        if self.frame == "rotating":
            P = self.transport(np.ones_like(self.rotation.nodes))
            stiffness = stiffness + damping @ P + M @ P @ P
            damping = damping + 2.0 * M @ P
        return M, csr_matrix(damping), csr_matrix(stiffness)

    def transport(self, nodes: np.ndarray) -> csr_matrix:
        """P (N, N): velocities that displacements and rotations of ``nodes`` (n,) bool have by turning steadily."""
        return transport(self.system, self.rotation, nodes)

    @cached_property
    def _system(self) -> tuple[csr_matrix, csr_matrix, csr_matrix]:
        return tuple(a[self.dofs][:, self.dofs] for a in self.whole())

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
        """Constraints (m, N) over all dofs: joints and equations in the model's scales, then dofs that share an
        unknown."""
        rows = self._elastic[1][self.first : -1]
        return vstack((rows, self.system.sharing())).tocsr()

    @cached_property
    def G(self) -> csr_matrix:
        return self.constraints[:, self.dofs]

    def constraint_rates(self) -> tuple[csr_matrix, csr_matrix, csr_matrix]:
        """The constraints (m, N) and their first and second derivatives by time along the motion of the state, by
        differences of order 4."""
        system = self.system
        v, a = self.velocity(), self.state.V[2].copy()
        rows = system.system.rotations
        if system.dimension == 3 and rows.size:
            R = self.state.D[0, : len(rows)].reshape(-1, 3, 3)
            a[rows] = np.einsum("nij,nj->ni", R, a[rows])
        a[self.first :] = 0.0
        blocks = [block for block in system.blocks if block.type.multipliers]
        e = 1e-2 / max(self.speed, float(np.sqrt(np.abs(a).max(initial=0.0) / max(system.length, 1e-300))))

        def at(k: float) -> csr_matrix:
            values = function_jets(self.compiled, self.t + k * e)[:, 0] * self.loading.factors
            fun = np.zeros_like(self.fun)
            fun[: values.size] = values[:, None]
            state = self.moved(k * e * v + 0.5 * (k * e) ** 2 * a)
            return self.matrices.tangent(self.control(2.0), fun, state, blocks)[1][self.first : -1]

        m2, m1, p1, p2, here = (at(k) for k in (-2.0, -1.0, 1.0, 2.0, 0.0))
        one = (8.0 * (p1 - m1) - (p2 - m2)) / (12.0 * e)
        two = (16.0 * (p1 + m1) - (p2 + m2) - 30.0 * here) / (12.0 * e**2)
        none = csr_matrix((self.constraints.shape[0] - here.shape[0], system.n_dof))
        return self.constraints, vstack((one, none)).tocsr(), vstack((two, none)).tocsr()

    @cached_property
    def pressed(self) -> bool:
        """Whether forces depend on multipliers, as friction in joints does: ``columns`` are not G^T then."""
        return any(block.owners is not None and (block.owners >= 0).any() for block in self.system.blocks)

    @cached_property
    def columns(self) -> csr_matrix:
        """(n, m): forces of the multipliers on the unknowns, G^T, and with friction that these press what it depends on
        them: (p^2 M + p C + K) x + columns y = 0, G x = 0."""
        if not self.pressed:
            return csr_matrix(self.G.T)
        forces = self._elastic[1][: self.first, self.first : -1]
        return hstack((forces, self.system.sharing()[:, : self.first].T)).tocsr()[self.dofs]

    def unpressed(self, A) -> np.ndarray:
        """Rows A (N, k) of the equations, dense, combined so that the forces of the multipliers become G^T.

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
        """Give the memory of the matrices back, which large parts need for their factors; they are made again when they
        are asked for."""
        self.G, self.columns  # noqa: B018  small, and still wanted
        for name in ("mass", "_inertial", "_elastic", "_system"):
            self.__dict__.pop(name, None)

    def seen_from(self, frame: str) -> Linearisation:
        """The same about the same state, in another frame."""
        if frame == self.frame:
            return self
        other = copy(self)
        other.frame = frame
        other.__dict__.pop("_system", None)
        return other

    def velocity(self) -> np.ndarray:
        """Velocities (N,) of the state, rotations as spins in spatial axes."""
        v = self.state.V[0].copy()
        rows = self.system.system.rotations
        if len(self.spins):
            v[rows] = self.spins
        v[self.first :] = 0.0
        return v

    def moved(self, u: np.ndarray) -> S.State:
        """The state moved by increments u (N,): positions, and rotations by their Cayley vectors."""
        state = self.system.initial_state()
        state.Q[0], state.D[0] = self.state.Q[0], self.state.D[0]
        state.U[: self.first] = u[: self.first]
        S.configure(self.system.system, state, True)
        state.Q[0], state.D[0] = state.Q[1], state.D[1]
        state.Q[0, self.first : -1] = self.state.U[self.first : -1]
        state.U[:] = 0.0
        return state

    def turn_matrix(self, angle: float) -> csr_matrix:
        """R (N, N): increments of all nodes turned by an angle [rad] about the axis of the rotation."""
        system, N = self.system, self.system.n_dof
        P = transport(system, self.rotation.at(1.0), np.ones_like(self.rotation.nodes))
        # Rodrigues: I + sin P + (1 - cos) P^2
        return csr_matrix(identity(N) + np.sin(angle) * P + (1.0 - np.cos(angle)) * (P @ P))

    def row_name(self, row: int) -> str:
        """What a constraint belongs to, for messages."""
        labels = constraint_labels(self.system)
        return f'joint or equation "{labels[row]}"' if row < len(labels) else "a pair of coinciding nodes"

    def driven_rows(self) -> set[int]:
        """Constraints that follow a function of time."""
        found: set[int] = set()
        for block in self.system.blocks:
            if block.type.multipliers and "function" in block.type.par:
                driven = block.par[:, block.type.column("function")] >= 0
                found.update((block.dof[driven][:, block.type.node_dofs :] - self.first).ravel().tolist())
        return found

    @cached_property
    def elimination(self) -> Elimination | None:
        """u = T q + u0 over the dofs of nodes, for parts of which constraints tie a few; None for mechanisms, in which
        everything hangs together by joints, and T would be full, and where forces depend on multipliers."""
        m = self.constraints.shape[0]
        return None if self.pressed or (m > MECHANISM * self.dofs.size and self.dofs.size > LARGE) else self.eliminate()

    def eliminate(self, right: np.ndarray | None = None, pin: int = -1) -> Elimination:
        """u = T q + u0 with right sides (m,) of the constraints; what supports and motions hold stays where it is, and
        so does the dof ``pin``."""
        held = np.setdiff1d(np.arange(self.first), np.setdiff1d(self.dofs, [pin]))
        preferred = np.full(self.constraints.shape[0], -1)
        preferred[: self.system.n_dof - 1 - self.first] = self.system.preferred_dofs()
        size = np.where(self.system.system.kind[: self.first] == S.POSITION, self.system.length, 1.0)
        rows = self.constraints[:, : self.first]
        return eliminate(rows, right, preferred, held, None, strict=False, scale=size)

    def problem(self) -> tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix | None, csr_matrix]:
        """M, C, K (k, k), constraints (m, k) or None, and T (N, k), u = T q: what an eigenvalue problem is solved with.

        Constraints of large parts are eliminated: what is left can be factored by the fast supernodal L L^T.
        """
        N, n = self.system.n_dof, self.dofs.size
        if n <= LARGE or not self.G.shape[0] or self.elimination is None:
            T = csr_matrix((np.ones(n), (self.dofs, np.arange(n))), shape=(N, n))
            return self.M, self.C, self.K, self.G if self.G.shape[0] else None, T
        found = self.elimination
        M, C, K = (found.reduce(a[: self.first][:, : self.first]) for a in self.whole())
        T = vstack((found.T, csr_matrix((N - self.first, found.T.shape[1])))).tocsr()
        return M, C, K, None, T

    def expand(self, q: np.ndarray) -> np.ndarray:
        """Increments (N,) or (N, k) of all dofs from those of the unknowns (n,) or (n, k)."""
        out = np.zeros((self.system.n_dof, *q.shape[1:]), q.dtype)
        out[self.dofs] = q
        return out

    def loads(self, functions: np.ndarray) -> np.ndarray:
        """Columns (n, k) of forces per unit of time functions (k,), by differences of what is linear in them."""
        columns = []
        for i in functions:
            values = [self._values.copy(), self._values.copy()]
            values[0][i] += 0.5
            values[1][i] -= 0.5
            columns.append((self.force(values=values[1]) - self.force(values=values[0]))[self.dofs])
        return np.column_stack(columns) if columns else np.zeros((self.dofs.size, 0))

    def state_space(self, inputs=(), sensors=()):
        """x' = A x + B u, y = C x + D u, dense, from names of loads, motions, driven joints or motors to names of
        sensors; see `fem_mbs.analysis.stability.state_space`."""
        from fem_mbs.analysis.stability.state_space import state_space

        return state_space(self, inputs, sensors)

    def descriptor(self, inputs=(), sensors=()):
        """E x' = A x + B u, y = C x + D u, sparse, with constraints; see `fem_mbs.analysis.stability.state_space`."""
        from fem_mbs.analysis.stability.state_space import descriptor

        return descriptor(self, inputs, sensors)


def _columns(block: Block) -> set[str]:
    return {entry.split(" [")[0] for entry in block.type.par}
