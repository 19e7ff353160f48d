"""Transients linear about a state: M u'' + C u' + K u = f(t) with constraints eliminated, one factorisation.

With u = T q + u0(t), where u0 is what supports, motions and equations prescribe, and the algorithmic acceleration a of
`fem_mbs.analysis.transient.rules`, a step from 0 to 1 solves

    (1 - am) M a1 + am M a0 + (1 - af) r1 + af r0 = 0,      r = C v + K u - f(t),      all times T^T
    u1 = u0 + h v0 + h^2 ((1/2 - beta) a0 + beta a1),       v1 = v0 + h ((1 - gamma) a0 + gamma a1)

(Chung & Hulbert 1993, doi:10.1115/1.2900803; am = 0, af = -alpha: Hilber, Hughes & Taylor 1977,
doi:10.1002/eqe.4290050306).  beta = 1/4, gamma = 1/2, am = af = 0 is Newmark's average acceleration and, for a linear
system, the mid-point rule: the ledger then closes to round-off, with other weights up to their numerical damping.

Theory: docs/theory.md, section 8.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from fem_mbs import contract as C
from fem_mbs.analysis.linear.linearised import UNSYMMETRIC, Linearised
from fem_mbs.analysis.loading import chosen
from fem_mbs.analysis.start.initial import function_jets
from fem_mbs.analysis.transient.rules import Weights
from fem_mbs.errors import AnalysisError, ModelError, Owner
from fem_mbs.solvers.linear.libraries import LinearSolveError
from fem_mbs.solvers.linear.saddle_factors import SingularShift
from fem_mbs.solvers.linear.service import factor
from fem_mbs.system.blocks import Block
from fem_mbs.units import unit_of

__all__ = ["LinearTransient"]

_SYMMETRIC = 1e-12  # difference of opposite entries, over the largest, that rounding leaves
_STAYS = 1e-9  # difference from what is prescribed, over the largest motion, below which nothing jumps
Take = Callable[[int, float, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]


class LinearTransient:
    """One transient: matrices over all dofs of nodes, unknowns q, and a step of length h.

    ``velocity`` (N,) at the start; ``start``: displacements (N,) from the state with which it begins, else none.  Of
    functions that jump at the start the later value counts, which acts from then on.  ``kept``: displacements (first,)
    from the state at which supports hold, else none.

    Raises:
        AnalysisError: something can move without mass or stiffness.
    """

    def __init__(
        self, linear: Linearised, options: Any, weights: Weights, name: str, h: float,
        velocity: np.ndarray, start: np.ndarray | None, kept: np.ndarray | None = None,
    ):  # fmt: skip
        self.kept = np.zeros(linear.first) if kept is None else kept
        self.linear, self.name, self.h, self.weights = linear, name, h, weights
        self.owner = Owner("Step", name)
        if not linear.eliminated:
            raise AnalysisError(f"{self.owner}: the mechanism is too large for a linear transient; take a transient")
        first = self.first = linear.first
        self.T = linear.elimination.T.tocsr()
        self.K, self.M, self.D = (
            csr_matrix(A[:first][:, :first])
            for A in (linear.balanced_tangent, linear.mass_matrix, linear.damping_matrix)
        )
        self.warnings = [UNSYMMETRIC] if linear.unsymmetric else []
        mask, self.weight = chosen(linear.compiled, options.loads, self.owner, "loads", motions=True, controlled=True)
        self.mask = mask | ~linear.loads if isinstance(options.loads, str) else mask
        system = linear.system
        self.loads = [b for b in system.blocks if _is_load(b)]
        self._silent = linear.force(blocks=self.loads)
        self._constant = -linear.force(linear.level(weight=self.weight))
        if (
            linear.preload is not None
        ):  # its place balances its loads only to first order: that is the state, not a load
            self._constant += linear.residual
        self._ways()
        self._prepare()
        self._store()
        self.u = np.zeros(first) if start is None else start[:first].copy()
        self.v = velocity[:first].copy()

    def _prepare(self) -> None:
        """Factor the matrix of a step."""
        linear, w, h = self.linear, self.weights, self.h
        effective = (1.0 - w.am) * self.M + (1.0 - w.af) * (w.gamma * h * self.D + w.beta * h * h * self.K)
        self._solve: Callable[[np.ndarray], np.ndarray] | None = None  # where everything is prescribed
        try:
            if linear.elimination.free.size:
                self._solve = _solver(linear.elimination.reduce(effective), linear)
        except (LinearSolveError, SingularShift) as error:
            raise AnalysisError(
                f"{self.owner}: something can move that has neither mass nor stiffness: {error}"
            ) from None

    # --- what is prescribed ----------------------------------------------------------------------------------------
    def _ways(self) -> None:
        """Find the displacements (first, k) per unit of each of k time functions of motions and equations, and those
        (first,) prescribed with all these functions at zero."""
        linear = self.linear
        arrays = linear.system.system
        users = set(np.unique(arrays.driver).tolist()) if len(arrays.driven) else set()
        for block in linear.system.blocks:
            if block.type.multipliers and "function" in block.type.par:
                column = block.par[:, block.type.column("function")].astype(int)
                users |= set(np.unique(column[column >= 0]).tolist())
        self.functions = np.array(sorted(i for i in users if self.mask[i]), np.int64)
        self.ways = np.zeros((self.first, self.functions.size))
        rows = linear.multipliers
        joints = [b for b in linear.system.blocks if b.type.multipliers]
        for k, i in enumerate(self.functions):
            unit, base = np.zeros(self.mask.size), np.zeros(self.mask.size)
            unit[i] = 1.0
            moved = np.zeros(self.first)
            moved[arrays.driven[arrays.driver == i]] = 1.0
            right = np.zeros(linear.constraints.shape[0])
            if rows.size:
                change = linear.force(linear.level(unit > 0.0, unit), joints)
                change -= linear.force(linear.level(unit > 0.0, base), joints)
                right[: rows.size] = -change[rows]
            self.ways[:, k] = linear.eliminate(right, moved).u0
        self.rest = self._at_zero(joints)

    def _at_zero(self, joints: list) -> np.ndarray:
        """Return displacements (first,) from the state to the places of supports, motions and equations with functions
        at zero.

        They are not zero where these functions have other values in the state.
        """
        linear = self.linear
        rows = linear.multipliers
        followed = np.zeros(self.mask.size, bool)
        followed[self.functions] = True
        level = linear.level(followed, np.zeros(self.mask.size))
        moved = linear.prescribed(level) + self.kept
        right = np.zeros(linear.constraints.shape[0])
        if rows.size:
            gaps = linear.force(level, joints)
            if linear.preload is not None:  # of second order there, as in `Linearised.respond`
                gaps = gaps - linear.residual
            right[: rows.size] = -gaps[rows]
        return linear.eliminate(right, moved).u0 if right.any() or moved.any() else np.zeros(self.first)

    def _prescribed(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the prescribed displacements (first,) since the state, velocities and accelerations at a time."""
        if not self.functions.size:
            return self.rest, np.zeros(self.first), np.zeros(self.first)
        jets = function_jets(self.linear.compiled, t)[self.functions]
        return self.rest + self.ways @ jets[:, 0], self.ways @ jets[:, 1], self.ways @ jets[:, 2]

    def _force(self, t: float) -> np.ndarray:
        """Return loads (first,) at a time, with the forces out of balance at the state."""
        linear = self.linear
        values = function_jets(linear.compiled, t)[:, 0]
        level = linear.level(self.mask, values)
        return (self._constant + self._silent - linear.force(level, self.loads))[: self.first]

    # --- the steps -------------------------------------------------------------------------------------------------
    def run(self, t0: float, n_steps: int, take: Take) -> None:
        """Make all steps.

        Args:
            t0: time of the start [s].
            n_steps: number of steps.
            take: ``take(step, t, u, v, a, ledger, reaction)`` gets displacements (first,) since the state, velocities,
                accelerations, the ledger (13,) and forces (first,) of supports, motions, joints and equations
                on the model.

        Raises:
            ModelError: a time function is not finite.
            AnalysisError: the steps grow beyond all bounds.
        """
        h = self.h
        a, f, wanted = self._begin(t0)
        r = self.D @ self.v + self.K @ self.u - f
        ledger = np.zeros(C.N_LEDGER + 1)
        self._book(ledger)
        start = ledger[C.KINETIC] + ledger[C.STRAIN] + ledger[C.POTENTIAL]
        pushed = yielded = 0.0  # works of the loads that change and of the stiffness
        damping = self._damping()
        forces = self.M @ a + r + damping
        stored = ledger[C.STRAIN] + ledger[C.POTENTIAL]
        take(0, t0, self.u, self.v, a, ledger, forces)
        for k in range(1, n_steps + 1):
            t = t0 + k * h
            u0, v0, f0, forces0, wanted0, damping0 = self.u, self.v, f, forces, wanted, damping
            wanted = self._prescribed(t)[0]
            f = self._force(t)
            a = self._advance(t, a, r, f, wanted)
            r = self.D @ self.v + self.K @ self.u - f
            damping = self._damping()
            forces = self.M @ a + r + damping
            du = self.u - u0
            ledger = ledger.copy()
            self._book(ledger)
            lost = 0.5 * float((self.D @ (self.v + v0) + damping + damping0) @ du)
            ledger[C.DISSIPATED] += lost
            pushed += 0.5 * float((f + f0) @ du)
            yielded += 0.5 * float((self.K @ (self.u + u0)) @ du)
            ledger[C.DRIVER_WORK] += 0.5 * float((forces + forces0) @ (wanted - wanted0))
            total = ledger[C.KINETIC] + ledger[C.STRAIN] + ledger[C.POTENTIAL]
            # energy in the stiffness that no element stores is work of loads that act in the state
            ledger[C.LOAD_WORK] = pushed + ledger[C.STRAIN] + ledger[C.POTENTIAL] - stored - yielded
            ledger[-1] = total - start + ledger[C.DISSIPATED] - ledger[C.LOAD_WORK] - ledger[C.DRIVER_WORK]
            if not np.isfinite(total):
                raise AnalysisError(
                    f"{self.owner}: the displacements are not finite at t = {t:g} {unit_of('s')}; take a smaller step"
                )
            take(k, t, self.u, self.v, a, ledger, forces)

    def _begin(self, t0: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Set the displacements and velocities of the start; return accelerations, loads and what is prescribed."""
        after = float(np.nextafter(t0, np.inf))
        wanted, rate, at = self._prescribed(after)
        self._jump(t0, wanted, rate)
        f = self._force(after)
        return self._first_acceleration(self.D @ self.v + self.K @ self.u - f, at), f, wanted

    def _jump(self, t0: float, wanted: np.ndarray, rate: np.ndarray) -> None:
        """Set displacements and velocities of the start, with the prescribed ones ``wanted`` and ``rate`` (first,).

        What is prescribed jumps.  The other displacements u are next to those before, u*, by the mass:
        min (u - u*).M (u - u*), the limit of a fast movement.  Without this the choice of the independent dofs would
        decide whether they stay or go along.  Velocities follow the same rule, unless supports and motions hold nodes
        alone: then the free nodes keep the velocities that they were given.
        """
        if t0 > 0.0 and self._away(self.u, wanted) is not None:
            self.warnings = [
                *self.warnings,
                f"at t = {t0:g} {unit_of('s')} what is prescribed is elsewhere than the model, and jumps there at "
                "once; name the step before as start, or let the functions begin at zero",
            ]
        self.u, moves = self._taken(self.u, wanted), self._away(self.v, rate)
        movable = self.linear.system.movable[: self.first]
        if moves is None or np.abs(moves[movable]).max(initial=0.0) <= _STAYS * np.abs(moves).max():
            # only dofs that are held depart from what is prescribed; the others keep their velocities
            self.v = self.T @ self.v[self.linear.elimination.free] + rate
        else:
            self.v = self._taken(self.v, rate)

    def _taken(self, old: np.ndarray, to: np.ndarray) -> np.ndarray:
        """Return the motions (first,) with the prescribed ones ``to`` that are next to the ``old`` ones by the mass."""
        new, gap = self.T @ old[self.linear.elimination.free] + to, self._away(old, to)
        return new if gap is None else new + self.T @ self._inertial(self.T.T @ (self.M @ gap))

    def _away(self, old: np.ndarray, to: np.ndarray) -> np.ndarray | None:
        """Return by how much ``old`` motions (first,) differ from the prescribed ones ``to``; None if they do not."""
        gap = old - self.T @ old[self.linear.elimination.free] - to
        size = max(np.abs(a).max(initial=0.0) for a in (old, to))
        return gap if np.abs(gap).max(initial=0.0) > _STAYS * size else None

    def _advance(self, t: float, a0: np.ndarray, r0: np.ndarray, f: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Make a step to the time t with the loads f and the prescribed displacements there; return accelerations."""
        w, h = self.weights, self.h
        u = self.u + h * self.v + h * h * (0.5 - w.beta) * a0
        v = self.v + h * (1.0 - w.gamma) * a0
        # prescribed motions fix the rest: a1 = T q + c so that u1 has its prescribed value
        moves = bool(self.functions.size or self.rest.any())
        c = self._follow(wanted, u) if moves else np.zeros(self.first)
        left = w.am * (self.M @ a0) + w.af * r0 + (1.0 - w.af) * (self.D @ v + self.K @ u - f)
        if moves:
            left = left + (1.0 - w.am) * (self.M @ c) + (1.0 - w.af) * (
                w.gamma * h * (self.D @ c) + w.beta * h * h * (self.K @ c)
            )  # fmt: skip
        a = c - self.T @ self._solve(self.T.T @ left) if self._solve is not None else c
        self.u, self.v = u + w.beta * h * h * a, v + w.gamma * h * a
        return a

    def _damping(self) -> np.ndarray:
        """Return the forces (first,) of damping other than that of the matrix D."""
        return np.zeros(self.first)

    def _follow(self, wanted: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return an acceleration (first,) with which all prescribed motions are reached: a1 - c then is compatible."""
        found = self.linear.elimination
        c = (wanted - u) / (self.weights.beta * self.h**2)
        return c - self.T @ c[found.free]

    def _first_acceleration(self, r: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Solve M a = -r for dofs with mass, compatible with prescribed motions; dofs without mass start with a = 0."""
        return self.T @ self._inertial(-(self.T.T @ (r + self.M @ at))) + at

    def _inertial(self, right: np.ndarray) -> np.ndarray:
        """Return q of T^T M T q = right of the independent dofs with mass, zero of the others."""
        found = self.linear.elimination
        Mq = found.reduce(self.M)
        massive = np.flatnonzero(Mq.diagonal() > 1e-14 * Mq.diagonal().max(initial=0.0))
        q = np.zeros(found.free.size)
        if massive.size:
            try:
                q[massive] = factor(Mq[massive][:, massive], kind="positive").solve(right[massive])
            except LinearSolveError as error:
                raise ModelError(f"the masses are not positive: {error}", owner=self.owner) from None
        return q

    def _store(self) -> None:
        """Keep the energies at the state of blocks that store energy, with gradients and second derivatives."""
        linear, first = self.linear, self.first
        with_weight = linear.reported.potential(self.weight)
        elastic = linear.reported.strain_energy()
        self._stores = [(at, g[:first], csr_matrix(H[:first][:, :first])) for at, g, H in (elastic, with_weight)]
        #: Strain energy and potential of the weight at the state [J].
        self.at_state = np.array([elastic[0], with_weight[0]])

    def _book(self, ledger: np.ndarray) -> None:
        """Write the kinetic energy, the strain energy and the potential of the weight (to second order) to a ledger."""
        ledger[C.KINETIC] = 0.5 * float(self.v @ (self.M @ self.v))
        for column, (at, g, H) in zip((C.STRAIN, C.POTENTIAL), self._stores, strict=True):
            ledger[column] = at + float(g @ self.u) + 0.5 * float(self.u @ (H @ self.u))

    @property
    def n_equations(self) -> int:
        return self.linear.elimination.free.size

    def change(
        self, t: float, u: np.ndarray, v: np.ndarray, a: np.ndarray, forces: np.ndarray, framed: bool
    ) -> dict[str, np.ndarray]:
        """Return the change of the state, as of `Reported.change`, by displacements u, velocities v, accelerations a
        and ``forces`` (first,) at a time.

        For frames it has the outputs of all elements, else of those that sensors read.
        """
        linear, found = self.linear, self.linear.elimination
        whole, rates, second, held = (np.zeros(linear.system.n_dof) for _ in range(4))
        whole[: self.first], rates[: self.first], second[: self.first] = u, v, a
        held[: self.first] = found.reactions(-forces)
        if linear.preload is None:  # the forces hold what supports exert at the state
            held -= linear.reported.base["reaction"]
        outputs = linear.reported.reporting if framed else linear.reported.watched
        y = found.multipliers(-forces)[: linear.multipliers.size] if len(outputs) else None
        values = function_jets(linear.compiled, t)[:, 0]
        return linear.reported.change(
            whole, held, self.mask, values, rates, y, outputs, energy=framed, weight=self.weight, a=second
        )


def _solver(A: csr_matrix, linear: Linearised) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that solves with the matrix of a step: L L^T, or L U where it is unsymmetric beyond rounding.

    Raises:
        LinearSolveError, SingularShift: it is singular, or symmetric and not positive definite.
    """
    skew, size = abs(A - A.T).max() if A.nnz else 0.0, abs(A).max() if A.nnz else 0.0
    if not linear.unsymmetric and skew <= _SYMMETRIC * size:
        return factor(0.5 * (A + A.T), kind="positive").solve
    factors = factor(A, kind="general")
    return lambda b: factors.solve(b)[0]


def _is_load(block: Block) -> bool:
    """Return whether a block has forces by functions of time: loads, and elements that are heated."""
    if block.type.multipliers or "function" not in block.type.par:
        return False
    return block.type.prestress is None or bool(np.any(block.par[:, block.type.column("function")] >= 0.0))
