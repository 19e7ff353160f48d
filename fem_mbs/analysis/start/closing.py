"""Assembly: move a mechanism from approximate positions to where its joints are closed and its motions start.

The result is the least change of positions and rotations, sum m |dx|^2 + j |phi|^2 with m and j the diagonal of the
mass matrix, subject to every constraint and driven coordinate.  Parts of finite elements keep their given shape, since
their strain energy is minimised before the change.  Gauss-Newton (Nikravesh 1988, chapter 3, without the strains) makes
damped steps, each of them one saddle point

    [K + w W   G^T ] [dx]   [-f_el - w W (x - x_0)]
    [  G    -delta ] [ y] = [         -g          ]

whose delta falls with the square of the gap (Levenberg-Marquardt after Yamashita & Fukushima 2001).  delta keeps
redundant joints and passages through singular positions solvable, and the last steps quadratic.

Theory: docs/theory.md, section 3, "Assembly".
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, diags

from fem_mbs import contract as C
from fem_mbs.analysis.start.initial import constrained, function_jets, started
from fem_mbs.analysis.start.roots import Roots
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel
from fem_mbs.results.report import ClosingReport, Moved
from fem_mbs.rotations import rotation_matrices, rotation_vectors
from fem_mbs.solvers.linear.service import factor
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.tangent import Level, Tangent, control, function_table
from fem_mbs.units import unit_of

__all__ = ["assemble"]

_TURN = 0.15  # largest rotation of an iteration [rad]; larger ones would stretch what only turns
_MOVE = 0.25  # largest displacement of an iteration over the size of the model
_CLOSED = 1e-8  # gap over the size of the model, or in radians, that counts as closed: as `check_start` has it
_SMALL = 1e-9  # increments that end the search; constraints are then closed to round-off
_WEIGHT = 1e-8  # of changes against strains
_ITERATIONS = 400
_OTHERS = 6  # first guesses with joints turned round, after one that leads to wrong roots
_STRAINED = 1e-9  # strain energy that is reported, over (stiffness x size^2)


@dataclass
class _Gap:
    """The gap of a joint: ``value`` [m] or [rad], ``size`` over the length of the model or in radians."""

    name: str
    value: float
    size: float
    unit: str

    def __str__(self) -> str:
        return f'"{self.name}" by {self.value:.4g} {self.unit}'


def _semidefinite(K: np.ndarray) -> np.ndarray:
    """Return symmetric element matrices (n, m, m) without their negative eigenvalues, which would increase strains."""
    values, vectors = np.linalg.eigh(0.5 * (K + np.swapaxes(K, 1, 2)))
    return np.einsum("eij,ej,ekj->eik", vectors, np.maximum(values, 0.0), vectors)


class _Assembler:
    def __init__(self, compiled: CompiledModel, state: S.State, t: float, varied: np.ndarray | None):
        self.compiled, self.system, self.state = compiled, compiled.system, state
        system = self.system
        self.first = system.first_multiplier
        self.values = function_jets(compiled, t)[:, 0]
        if varied is not None:
            self.values[varied] = 0.0
        arrays = system.system
        still = ~system.movable
        for place in compiled.model.assembling.hold:
            for node in compiled.model.nodes_of(place, "Assembly"):
                still[system.offset[node] : system.offset[node + 1]] = True
        self.free, self.held = np.flatnonzero(~still), np.flatnonzero(still)
        self.target = np.zeros(self.first)
        self.driven = arrays.driven
        self.target[self.driven] = arrays.driven_reference + self.values[arrays.driver]
        self.parts = [
            b for b in system.blocks if any(name in compiled.model.groups for name, _, _ in b.groups)
        ]  # fmt: skip
        self.Q0, self.D0 = state.Q[0].copy(), state.D[0].copy()
        self._follow_angles()
        self.W = self._weights()
        K = self._stiffness()[1]
        stiff = float(K.diagonal().max(initial=0.0))
        self.scale = stiff * system.length**2
        self.near = 0.0
        self.w = _WEIGHT * stiff / float(self.W.max()) if stiff > 0.0 else 1.0

    def _follow_angles(self) -> None:
        """Count the full turns of relative rotations during the closing, as in the plane."""
        ctl, s = control(), self.state
        fun = function_table(self.values)
        for block in self.system.blocks:
            if block.type.turns:
                n, m = block.size, block.type.local_dofs
                fe, ke = np.zeros((n, m)), np.zeros((1, m, m))
                hist = self.system.block_history(block)
                C.runner(block.type.report, n * m * m)(
                    C.START, 0, n, ctl, block.par, block.dof, block.rot, hist, fun, s.Q, s.D, s.V, s.DD, s.U, fe, ke
                )

    def _weights(self) -> np.ndarray:
        """Return mass and mean moment of inertia of each dof (first,); small ones where a node has none."""
        system, first = self.system, self.first
        M = started(self.compiled, self.state).M.diagonal()[:first]
        W = np.zeros(first)
        dim = system.dimension
        position = system.offset[:-1, None] + np.arange(dim)
        W[position] = M[position].mean(axis=1, keepdims=True)
        least = 1e-3 * (W[position].mean() if W.any() else 0.0) or 1.0
        W[position] = np.maximum(W[position], least)
        rows = system.system.rotations
        if len(rows):
            W[rows] = np.maximum(M[rows].mean(axis=1, keepdims=True), 1e-3 * least * system.length**2)
        return W

    # --- at the present positions ----------------------------------------------------------------------------------
    def _stiffness(self) -> tuple[np.ndarray, csr_matrix]:
        """Return forces (first,) and stiffness of the parts' strains."""
        fun = function_table(0.0 * self.values)
        ctl = control(2.0, joints=0.0)
        force = np.zeros(self.system.n_dof)
        rows, cols, entries = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
        for block, fe, ke in self.system.element_arrays(C.TANGENT, ctl, fun, self.state, self.parts):
            nd = block.type.node_dofs
            dof = block.dof[:, :nd]
            np.add.at(force, dof, fe[:, :nd])
            rows.append(np.repeat(dof, nd, axis=1).ravel())
            cols.append(np.tile(dof, (1, nd)).ravel())
            entries.append(_semidefinite(ke[:, :nd, :nd]).ravel())
        n = self.system.n_dof
        K = csr_matrix((np.concatenate(entries), (np.concatenate(rows), np.concatenate(cols))), shape=(n, n))
        K = K[: self.first, : self.first]
        return force[: self.first], (0.5 * (K + K.T)).tocsr()

    def gap(self) -> np.ndarray:
        """Return constraint rows (n_mult,) [m], [rad] or without unit."""
        return started(self.compiled, self.state, self.values).gaps

    def sizes(self, g: np.ndarray) -> np.ndarray:
        """Return gaps over the size of the model, angles as they are."""
        unit = np.ones(g.size)
        for block in self.system.blocks:
            if block.type.multipliers and not block.type.angular:
                unit[block.dof[:, block.type.node_dofs :] - self.first] = self.system.length
        return np.abs(g) / unit

    def change(self) -> np.ndarray:
        """Return displacements and rotation vectors (first,) since the given positions."""
        out = (self.state.Q[0] - self.Q0)[: self.first]
        rows = self.system.system.rotations
        if self.system.dimension == 3 and len(rows):
            R, R0 = (D[: len(rows)].reshape(-1, 3, 3) for D in (self.state.D[0], self.D0))
            out[rows] = rotation_vectors(R @ np.swapaxes(R0, 1, 2))
        return out

    def move(self, d: np.ndarray) -> None:
        """Add displacements and rotation vectors (first,) to the present positions."""
        state, rows = self.state, self.system.system.rotations
        n = len(rows)
        if self.system.dimension == 2:
            state.Q[:, : self.first] += d
            state.D[:, :n, 0], state.D[:, :n, 1] = np.cos(state.Q[0, rows[:, 0]]), np.sin(state.Q[0, rows[:, 0]])
            return
        position = self.system.system.positions
        state.Q[:, position] += d[position]
        if n:
            turned = rotation_matrices(d[rows]) @ state.D[0, :n].reshape(-1, 3, 3)
            state.D[:, :n] = turned.reshape(n, 9)
        self._follow_angles()

    def limit(self, d: np.ndarray) -> float:
        """Return the share of an increment that may be made at once."""
        s = self.system.system
        turn = float(np.abs(d[s.rotations]).max(initial=0.0))
        far = float(np.abs(d[s.positions]).max(initial=0.0)) / self.system.length
        return min(1.0, _TURN / max(turn, 1e-300), _MOVE / max(far, 1e-300))

    # --- the search ------------------------------------------------------------------------------------------------
    def step(self, pull: np.ndarray) -> tuple[float, float]:
        """Make one iteration against the gradient ``pull`` (first,) of the changes.

        Returns the largest increment, and the share of it that was made.
        """
        force, K = self._stiffness()
        A = (K + diags((self.w + self.near) * self.W)).tocsr()
        G = started(self.compiled, self.state, self.values).gradients[:, : self.first]
        g = self.gap()
        d = np.zeros(self.first)
        d[self.driven] = (self.target - self.state.Q[0, : self.first])[self.driven]
        rest = self.limit(d)
        d *= rest
        free, held = self.free, self.held
        b = -(force + pull)[free] - A[free][:, held] @ d[held]
        c = -rest * g - G[:, held] @ d[held]
        worst = max(float(self.sizes(g).max(initial=0.0)), float(np.abs(d).max(initial=0.0)))
        if free.size:
            damping = float(np.clip(worst**2, 1e-13, 1e-4))
            d[free], _ = factor(A[free][:, free], G[:, free], "saddle", damping=damping, judged=False).solve(b, c)
        share = self.limit(d)
        self.move(share * d)
        # motions with hardly any resistance must not delay the others: stay nearer to the last positions for a while
        if share < 0.3:
            self.near = max(10.0 * self.near, self.w)
        elif share > 0.9:
            self.near = 0.1 * self.near if self.near > 1e-3 * self.w else 0.0
        unit = np.ones(self.first)
        unit[self.system.system.positions] = 1.0 / self.system.length
        return float(np.abs(unit * d).max(initial=0.0)) / max(rest, 1e-3), rest * share

    def search(self) -> int:
        """Close the joints by the least change, then remove strains that can be avoided; return the iterations."""
        best, stale = np.inf, 0
        count = 0
        while count < _ITERATIONS:
            count += 1
            size, share = self.step(self.w * self.W * self.change())
            if size <= _SMALL:
                break
            stale = 0 if size < 0.9 * best or share < 0.5 else stale + 1
            best = min(best, size)
            if stale > 30:  # far moves on curved ways: go on from here, which always closes what can be closed
                break
        for _ in range(40 if self.parts else 1):
            count += 1
            if self.step(np.zeros(self.first))[0] <= _SMALL:
                break
        return count

    def polish(self) -> None:
        """Iterate for the last digits of the constraints."""
        for _ in range(4):
            g = self.gap()
            if self.sizes(g).max(initial=0.0) <= 1e-15:
                return
            _force, K = self._stiffness()
            A = (K + diags(self.w * self.W)).tocsr()[self.free][:, self.free]
            G = started(self.compiled, self.state, self.values).gradients[:, self.free]
            d = np.zeros(self.first)
            d[self.free] = constrained(A, G).solve(np.zeros(self.free.size), -g)[0]
            self.move(d)
            if self.sizes(self.gap()).max(initial=0.0) > self.sizes(g).max():
                self.move(-d)
                return

    def close(self) -> int:
        """Search and polish, and return the number of iterations.

        Where joints end on wrong roots of their equations, repeat from there with a part of one rotated to the right
        root.
        """
        roots = Roots(self.system)
        closed = None
        count = 0
        for _ in range(_OTHERS + 1):
            count += self.search()
            self.polish()
            turned = roots.turned(self.state.D[0], self.values)
            if self.open_joints(_CLOSED):
                break
            if not turned:
                return count
            closed = closed or (self.state.Q.copy(), self.state.D.copy())
            joint = turned[0]  # one at a time: it changes what the others need
            row, R = (joint.a, joint.rotation.T) if self._held(joint.b) else (joint.b, joint.rotation)
            if self._held(row):
                break
            self.state.D[:, row] = (R @ self.state.D[0, row].reshape(3, 3)).ravel()
            self._follow_angles()
        if closed is not None:
            self.state.Q[:], self.state.D[:] = closed
        return count

    def _held(self, row: int) -> bool:
        """Return whether the directors of a row stay as they are."""
        rows = self.system.system.rotations
        return row >= len(rows) or bool(np.isin(rows[row], self.held).any())

    # --- reports ---------------------------------------------------------------------------------------------------
    def open_joints(self, tolerance: float) -> list[_Gap]:
        """Return joints open by more than a tolerance, the widest first."""
        g = self.gap()
        size = self.sizes(g)
        found: dict[str, _Gap] = {}
        for block in self.system.blocks:
            if not block.type.multipliers:
                continue
            rows = block.dof[:, block.type.node_dofs :] - self.first
            for e in np.flatnonzero(size[rows].max(axis=1) > tolerance):
                value, worst = float(np.abs(g[rows[e]]).max()), float(size[rows[e]].max())
                gap = _Gap(block.label(int(e)), value, worst, "rad" if block.type.angular else "m")
                if gap.name not in found or found[gap.name].size < worst:
                    found[gap.name] = gap
        return sorted(found.values(), key=lambda gap: -gap.size)

    def strain_energy(self) -> tuple[float, str]:
        """Return the energy of the strains [J], and the part with most of it."""
        total, most, name = 0.0, 0.0, ""
        unloaded = Tangent(self.system, self.state, Level(0.0 * self.values))
        for block in self.parts:
            strain = unloaded.ledger(block, 0, block.size)[:, C.STRAIN]
            total += float(strain.sum())
            for label, a, b in block.groups:
                energy = float(strain[a:b].sum())
                if energy > most:
                    most, name = energy, label
        return total, name

    def moved(self) -> list[Moved]:
        """Return the largest displacement [m] and rotation [rad] of every body, node and mesh that moved."""
        system, model = self.system, self.compiled.model
        change = self.change()
        n = len(system.nodes.x)
        shift = np.linalg.norm(change[system.offset[:n, None] + np.arange(system.dimension)], axis=1)
        turn = np.zeros(n)
        rows = system.system.rotations
        turn[system.nodes.rotational] = np.linalg.norm(change[rows], axis=1) if len(rows) else 0.0
        places = {b.name: np.array([b.node]) for b in model.bodies.values()}
        places |= {name: np.array([node]) for name, node in model.named_nodes.items()}
        places |= {name: first + np.arange(len(mesh.points)) for name, (mesh, first) in model.meshes.items()}
        out = []
        for name, nodes in places.items():
            a, b = float(shift[nodes].max(initial=0.0)), float(turn[nodes].max(initial=0.0))
            if a > 1e-12 * system.length or b > 1e-12:
                out.append(Moved(place=name, displacement=a, rotation=b))
        return sorted(out, key=lambda entry: -entry.displacement)


def assemble(compiled: CompiledModel, state: S.State, t: float, varied: np.ndarray | None = None) -> ClosingReport:
    """Move Q and D of ``state`` (both rows) to where joints are closed and driven coordinates at their values at ``t``;
    ``varied`` (n_fun,) bool: functions that count as zero, as `check_start` has it.

    Returns what was done: gaps at first and at last, what moved by how much, the strain energy left.

    Raises:
        ModelError: joints or motions contradict each other, or no position near the given one closes them; it names
            those that stay open, and by how much, or that are found turned, on wrong roots of their equations.
    """
    job = _Assembler(compiled, state, t, varied)
    before = job.open_joints(_CLOSED)
    start = {gap.name: gap.value for gap in before}
    off = np.abs(job.target - state.Q[0, : job.first])[job.driven]
    iterations = 0
    if before or np.any(off > _CLOSED * max(1.0, compiled.system.length)):
        iterations = job.close()
        left = job.open_joints(_CLOSED)
        if left or not np.isfinite(state.Q).all():
            names = ", ".join(str(gap) for gap in left[:3]) or "positions that are not finite"
            more = f" and {len(left) - 3} more" if len(left) > 3 else ""
            plural = "s" if len(left) > 1 else ""
            raise ModelError(
                f"{len(left)} joint{plural} cannot be closed near the given positions: {names}{more} stay open",
                owner=Owner("Assembly"),
                remedy=(
                    "their parts are too short or held, motions contradict each other, or the mechanism must be "
                    "given nearer to its place"
                ),
            )
        found = Roots(compiled.system).turned(state.D[0], job.values)
        if found:
            turned = list(dict.fromkeys(f'"{joint.name}"' for joint in found))
            names = ", ".join(turned[:3]) + (f" and {len(turned) - 3} more" if len(turned) > 3 else "")
            raise ModelError(
                f"{names} can be closed from the given positions only turned by half a turn or so, where the "
                "equations hold too",
                owner=Owner("Assembly"),
                remedy="give the parts nearer to their places, within a quarter of a turn",
            )
    energy, part = job.strain_energy()
    warnings = []
    if iterations and energy > _STRAINED * max(job.scale, 1e-300):
        warnings.append(
            f'"{part}" and others had to be strained to close the joints, {energy:.4g} {unit_of("J")} in all: elements '
            "keep the shape that the model gives them"
        )
    state.U[:] = 0.0
    return ClosingReport(
        iterations=iterations, gaps=start, largest_gap=float(np.abs(job.gap()).max(initial=0.0)), moved=job.moved(),
        strain_energy=energy, warnings=warnings,
    )  # fmt: skip
