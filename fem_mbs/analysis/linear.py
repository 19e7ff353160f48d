"""Modes and linear buckling about a static state of a model, at rest.

The tangent at the state comes from the same kernels as every step: stiffness with its geometric part, the share of the
multipliers, and that of loads which turn with the model.  Multipliers span the constraints, on whose null space the
eigenproblems live (`fem_mbs.solvers.eigen`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, vstack

from fem_mbs import contract as C
from fem_mbs.analysis.initial import function_jets
from fem_mbs.analysis.loading import Loading, chosen
from fem_mbs.analysis.redundancy import constraint_labels, find_constraints, sentences
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.model import CompiledModel
from fem_mbs.solvers import stepper as S
from fem_mbs.solvers.eigen import Saddle, buckling_factors, symmetric_modes
from fem_mbs.solvers.linear import LinearSolveError

__all__ = ["BUCKLING_OPTIONS", "MODES_OPTIONS", "Linearised", "run_buckling", "run_modes"]

#: Options of a modal step and their defaults.
MODES_OPTIONS: dict[str, Any] = {"count": 10}
#: Options of a buckling step and their defaults.
BUCKLING_OPTIONS: dict[str, Any] = {"count": 4, "loads": "all"}

#: Of shapes in figures: largest displacement over the size of the model.
_SHAPE = 0.1
_ASYMMETRIC = 1e-6


class Linearised:
    """Stiffness, mass and constraints of a model at a state, over its free unknowns, under loads at their levels."""

    def __init__(self, compiled: CompiledModel, state: S.State, t: float, loading: Loading):
        system = compiled.system
        self.compiled, self.system, self.loading = compiled, system, loading
        first = system.first_multiplier
        self.free = np.flatnonzero(system.system.equation[:first] >= 0)
        self.multipliers = np.arange(first, system.n_dof - 1)
        self.values = function_jets(compiled, t)[:, 0]
        self.state = system.initial_state()
        self.state.Q[:], self.state.D[:] = state.Q[0], state.D[0]
        self.state.U[self.multipliers] = state.Q[0, self.multipliers]
        self.ctl = self._control(2.0, 0.0)
        self.residual, self.tangent = self._tangent(self.ctl, self._fun())
        constraints = self.tangent[self.multipliers][:, self.free]
        self.constraints = vstack((constraints, system.sharing()[:, self.free])).tocsr()
        K = self.tangent[self.free][:, self.free]
        skew = abs(K - K.T)
        self.asymmetry = float(skew.max() / max(abs(K).max(), 1e-300)) if K.nnz else 0.0
        self.stiffness = (0.5 * (K + K.T)).tocsr()

    def _control(self, stiffness: float, mass: float) -> np.ndarray:
        ctl = np.zeros(C.N_CTL)
        ctl[C.H], ctl[C.SF], ctl[C.SK], ctl[C.TWO] = 1.0, 1.0, stiffness, stiffness
        ctl[C.RULE], ctl[C.WA] = C.ONE_STATE, mass
        self.loading.gravity(ctl)
        return ctl

    def _fun(self, mask: np.ndarray | None = None) -> np.ndarray:
        """Values of the time functions as kernels take them, those of ``mask`` once more."""
        values = self.loading.factors * self.values
        if mask is not None:
            values = values + np.where(mask, self.values, 0.0)
        fun = np.zeros((max(len(values), 1), 3))
        fun[: len(values)] = values[:, None]
        return fun

    def _tangent(self, ctl, fun):
        """Residual (N,) and tangent (N, N) at the state."""
        return self.system.full_matrix(ctl, fun, self.state)

    @property
    def mass(self):
        """Mass matrix over the free unknowns."""
        fun = np.zeros((max(len(self.compiled.functions), 1), 3))
        ctl = self._control(0.0, 1.0)
        ctl[C.GX : C.GZ + 1] = 0.0  # the weight of an eccentric mass turns with it: that is stiffness
        M = self.system.full_matrix(ctl, fun, self.state)[1][self.free][:, self.free]
        return (0.5 * (M + M.T)).tocsr()

    # --- linear response -------------------------------------------------------------------------------------------
    def load(self, mask: np.ndarray, weight: bool) -> np.ndarray:
        """Force (N,) of the loads of ``mask`` (n_fun,), and of the model's weight, at the state."""
        none = self.system.full_matrix(self.ctl, self._fun(), self.state)[0]
        ctl = self.ctl.copy()
        if weight:
            gravity = self.compiled.model.gravity
            ctl[C.GX : C.GX + len(gravity)] += gravity
        return none - self.system.full_matrix(ctl, self._fun(mask), self.state)[0]

    def respond(self, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Linear displacements (N,) and increments of the multipliers' unknowns under a force (N,)."""
        try:
            u, y = Saddle(self.stiffness, self.constraints).solve(force[self.free])
        except LinearSolveError:
            raise AnalysisError(
                "Buckling: the model is loose; hold it, so that every motion strains something"
            ) from None
        whole = np.zeros(self.system.n_dof)
        whole[self.free] = u
        return whole, y[: self.multipliers.size]

    def moved(self, u: np.ndarray) -> S.State:
        """The state moved by increments u (N,): positions, and rotations by their Cayley vectors."""
        state = self.system.initial_state()
        state.Q[0], state.D[0] = self.state.Q[0], self.state.D[0]
        state.U[:] = u
        S.configure(self.system.system, state, True)
        state.Q[0], state.D[0] = state.Q[1], state.D[1]
        state.U[:] = self.state.U
        return state

    def _outputs(self, state: S.State, fun) -> dict[int, np.ndarray]:
        """OUTPUT tables of the blocks whose stresses can be given, by the number of the block."""
        tables = {}
        for i, block in enumerate(self.system.blocks):
            if block.type.prestress is None:
                continue
            n = block.size
            table = np.zeros((n, len(block.type.outputs)))
            hist = self.system.block_history(block).copy()
            block.type.report(
                C.OUTPUT, 0, n, self.ctl, block.par, block.dof, block.rot, hist, fun,
                state.Q, state.D, state.V, state.DD, state.U, table, np.zeros((0, 0, 0)),
            )  # fmt: skip
            tables[i] = table
        return tables

    def stresses(self, u: np.ndarray) -> dict[int, np.ndarray]:
        """Change of all outputs along linear displacements u, by central differences of order 4."""
        fun = self._fun()
        turns = np.abs(u[self.system.system.kind == S.ROTATION]).max(initial=0.0)
        size = max(np.abs(u[self.system.system.kind == S.POSITION]).max(initial=0.0) / self.system.length, turns)
        if size == 0.0:
            return {i: np.zeros_like(v) for i, v in self._outputs(self.state, fun).items()}
        e = 1e-3 / size
        p1, m1, p2, m2 = (self._outputs(self.moved(k * e * u), fun) for k in (1.0, -1.0, 2.0, -2.0))
        return {i: (8.0 * (p1[i] - m1[i]) - (p2[i] - m2[i])) / (12.0 * e) for i in p1}

    def geometric_stiffness(self, mask: np.ndarray, weight: bool):
        """Change of the tangent over the free unknowns per unit of the loads: by stresses, multipliers and the loads
        themselves, at the same geometry."""
        u, y = self.respond(self.load(mask, weight))
        stresses = self.stresses(u)
        kept = [block.par for block in self.system.blocks]
        U = self.state.U.copy()
        ctl = self.ctl.copy()
        if weight:
            gravity = self.compiled.model.gravity
            ctl[C.GX : C.GX + len(gravity)] += gravity
        try:
            for i, table in stresses.items():
                block = self.system.blocks[i]
                block.par = np.ascontiguousarray(block.type.prestress(block.par, table, 1.0))
            self.state.U[self.multipliers] += y
            residual, loaded = self._tangent(ctl, self._fun(mask))
        finally:
            for block, par in zip(self.system.blocks, kept, strict=True):
                block.par = par
            self.state.U[:] = U
        change = loaded - self.tangent + self._half_turn(residual - self.residual)
        return change[self.free][:, self.free].tocsr()

    def _half_turn(self, residual: np.ndarray):
        """What the tangent on the rotation group misses of a second derivative where moments (N,) are out of balance.

        Stresses of the linear solution balance the loads at the moved geometry, not quite at that of the state.
        """
        rotations = self.system.system.rotations
        shape = (self.system.n_dof, self.system.n_dof)
        if rotations.shape[1] != 3 or not len(rotations):
            return csr_matrix(shape)
        a, b, c = rotations.T
        x, y, z = 0.5 * residual[a], 0.5 * residual[b], 0.5 * residual[c]
        rows, cols = np.concatenate((c, b, a, c, b, a)), np.concatenate((b, c, c, a, a, b))
        return csr_matrix((np.concatenate((x, -x, y, -y, z, -z)), (rows, cols)), shape=shape)

    @property
    def redundancy(self) -> list[str]:
        """What is to be said of constraints that repeat others."""
        if not self.multipliers.size:
            return []
        diagonal = np.zeros(self.system.n_dof)
        diagonal[self.free] = self.mass.diagonal()
        found = find_constraints(self.system, self.tangent[self.multipliers], diagonal)
        return list(sentences(found, constraint_labels(self.system), "in this state").values()) if found.loops else []

    # --- shapes ----------------------------------------------------------------------------------------------------
    def shapes(self, vectors: np.ndarray) -> dict[str, np.ndarray]:
        """States (k, ...) displaced by mode vectors (n, k), scaled so that the largest displacement is a tenth of the
        model's size (where nothing is displaced: the largest rotation a tenth of a radian)."""
        kind = self.system.system.kind[self.free]
        Q, D = [], []
        for x in vectors.T:
            size = np.abs(x[kind == S.POSITION]).max(initial=0.0) / self.system.length
            if size < 1e-6 * np.abs(x).max(initial=0.0):
                size = np.abs(x).max()
            whole = np.zeros(self.system.n_dof)
            whole[self.free] = _SHAPE / size * x if size > 0.0 else 0.0
            state = self.moved(whole)
            Q.append(state.Q[0].copy())
            D.append(state.D[0].copy())
        k, n = len(Q), self.system.n_dof
        return {
            "Q": np.array(Q).reshape(k, n),
            "V": np.zeros((k, n)),
            "D": np.array(D),
            "out": np.zeros((k, self.state.out.size)),
            "energy": np.zeros((k, self.state.energy.size)),
        }


# --- steps -----------------------------------------------------------------------------------------------------------
def run_modes(linear: Linearised, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray], np.ndarray]:
    """Summary, series and vectors (n, k) of a modal step."""
    found = symmetric_modes(linear.stiffness, linear.mass, linear.constraints, options["count"])
    w = np.sign(found.values) * np.sqrt(np.abs(found.values))
    warnings = linear.redundancy
    unstable = int((found.values < 0.0).sum())
    if unstable:
        warnings.append(
            f"{unstable} squares of frequencies are negative: the state is unstable; such a frequency is given as a "
            "negative number, its size is the rate of growth over 2 pi"
        )
    if linear.asymmetry > _ASYMMETRIC:
        warnings.append(
            f"the stiffness is unsymmetric by {linear.asymmetry:.2g} (loads without a potential, or a state out of "
            "balance); its symmetric part was taken"
        )
    if any(b.type.name.startswith("centrifugal") for b in linear.compiled.system.blocks):
        warnings.append(
            "Coriolis forces of the turning frame are left out; they couple motions to and from the axis with those "
            "around it"
        )
    if found.expected is not None and found.expected > len(w):
        warnings.append(
            f"{found.expected} modes lie below the highest found, but only {len(w)} were found; ask for more"
        )
    summary = {
        "frequencies_hz": (w / (2.0 * np.pi)).tolist(),
        "rigid_body_modes": found.rigid,
        "residuals": found.residuals.tolist(),
        "asymmetry": linear.asymmetry,
        "warnings": warnings,
    }
    series = {"frequency": w / (2.0 * np.pi), "residual": found.residuals}
    return summary, series, found.vectors


def run_buckling(
    linear: Linearised, options: dict[str, Any], name: str
) -> tuple[dict[str, Any], dict[str, np.ndarray], np.ndarray]:
    """Summary, series and vectors (n, k) of a buckling step."""
    mask, weight = chosen(linear.compiled, options["loads"], f'Step "{name}"', "loads")
    if not weight and not np.any(linear.values[mask]):
        raise ModelError(f'Step "{name}": no load acts at its time; add a force, moment or gravity')
    Kg = linear.geometric_stiffness(mask, weight)
    skew = abs(Kg - Kg.T)
    asymmetry = float(skew.max() / max(abs(Kg).max(), 1e-300)) if Kg.nnz else 0.0
    warnings = linear.redundancy
    if asymmetry > _ASYMMETRIC:
        warnings.append(
            f"the geometric stiffness is unsymmetric by {asymmetry:.2g}: loads without a potential; the factors are "
            "loads of divergence, flutter may come first"
        )
    if linear.asymmetry > _ASYMMETRIC:
        warnings.append(
            f"the stiffness at the state is unsymmetric by {linear.asymmetry:.2g}; its symmetric part counts"
        )
    found = buckling_factors(linear.stiffness, Kg, linear.constraints, options["count"])
    summary = {
        "load_factors": found.factors.tolist(),
        "residuals": found.residuals.tolist(),
        "asymmetry": asymmetry,
        "warnings": warnings,
    }
    return summary, {"load factor": found.factors, "residual": found.residuals}, found.vectors
