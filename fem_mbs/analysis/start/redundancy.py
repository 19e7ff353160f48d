"""Redundant joint constraints: how they are found, named, and treated by the solvers.

Mechanisms such as Bricard's, or a plane linkage built of revolutes in space, move although they have too many
constraints: some rows of G depend on others.  The rank is found at the start of every step of a model, and again where
pivots become small during it; `fem_mbs.solvers.stepping.gauge` describes how Newton-Raphson treats them.

Which rows share a dependency changes as a mechanism moves: loops that are separate in a special configuration, such as
the one in which a model is drawn, may be one loop in all others.  So *groups* are kept over many steps: the loops among
parts that joints connect, with all rows of these joints, which no configuration can change.

Theory: docs/theory.md, section 6, "Dependent constraints".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from fem_mbs.late import dataclass
from fem_mbs.solvers.linear.redundancy import Loop, dependencies
from fem_mbs.solvers.linear.solver import LinearSolver
from fem_mbs.solvers.stepping import gauge
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.tangent import constraint_rows

__all__ = ["Constraints", "Redundancy", "constraint_labels", "find_constraints", "sentences"]

#: Ratio of a pivot to its first value at which the rank is found anew.
_SMALL = 1e-6
#: Ratio of a dependent row's share in its null vector to its first value at which rows are chosen anew: the error of a
#: solution grows with the inverse square of the share.
_SHARE = 0.1
#: Surplus constraints of a group up to which their multipliers are those of least norm; a null vector costs a solution.
MOST = 24
_SHOWN = 8  # names in a message
_GROUPS = 5  # messages


@dataclass(frozen=True)
class Constraints:
    """Constraints of a model at a state: ``free`` unknowns of the nodes, ``count`` multipliers that act, and the loops
    of dependent ones, whose rows count from the first multiplier."""

    free: int
    count: int
    loops: list[Loop]

    @property
    def redundant(self) -> int:
        """Return the number of redundant constraints."""
        return sum(len(loop.dependent) for loop in self.loops)

    @property
    def rank(self) -> int:
        """Return the number of independent constraints."""
        return self.count - self.redundant


def find_constraints(compiled: Compiled, G: csr_matrix, diagonal: np.ndarray | None = None) -> Constraints:
    """Return the rank of the multipliers' rows, the first ones of G (at least all node dofs), and their loops.

    Idle rows of unilateral constraints, which are empty, do not count.

    Args:
        diagonal: of the stiffness or mass (N,), by which unknowns of different units are weighed.
    """
    first = compiled.first_multiplier
    followers, leaders = compiled.system.shared.T
    owns = compiled.movable
    owns[followers] = False
    free = np.flatnonzero(owns)
    G = csr_matrix(G)[: compiled.silent.size]
    acting = ~compiled.silent & ~_idle(compiled, G)
    act = np.flatnonzero(acting)
    G = G[act][:, :first]
    # dofs that share an unknown count together
    fold = csr_matrix((np.ones(followers.size), (followers, leaders)), shape=(first, first))
    G = csr_matrix(G + G @ fold)
    weights = None
    if diagonal is not None:
        diagonal = diagonal[:first] + fold.T @ diagonal[:first]
        size = np.abs(diagonal[free])
        largest = size.max(initial=0.0) or 1.0
        weights = np.sqrt(np.where(size > 1e-8 * largest, size, largest))  # massless parts do not decide
    loops = dependencies(G[:, free], weights)
    if not acting.all():
        loops = [replace(loop, rows=act[loop.rows], dependent=act[loop.dependent]) for loop in loops]
    return Constraints(free.size, act.size, loops)


def _idle(compiled: Compiled, G: csr_matrix) -> np.ndarray:
    """Return the rows (m,) bool of unilateral constraints that do not act."""
    rows = np.zeros(G.shape[0], bool)
    for block in compiled.blocks:
        if block.type.unilateral:
            rows[block.dof[:, block.type.node_dofs :] - compiled.first_multiplier] = True
    if rows.any():
        rows &= np.asarray(abs(G).sum(axis=1)).ravel() == 0.0
    return rows


@dataclass(frozen=True)
class _Group:
    """Rows of multipliers of connected joints, and those of them that count as dependent (both from the first one)."""

    rows: np.ndarray
    dependent: np.ndarray

    @property
    def vectors(self) -> int:
        """Return the number of null vectors that are kept: none where the dependent multipliers are zero."""
        return len(self.dependent) if len(self.dependent) <= MOST else 0


def _connected(compiled: Compiled) -> np.ndarray:
    """Return number (m,) of the connected set of joints to which each multiplier belongs; what is held connects
    nothing."""
    free = compiled.system.equation >= 0
    followers, leaders = compiled.system.shared.T
    free[leaders] = True
    rows, cols = [followers], [leaders]
    for block in compiled.blocks:
        if block.type.multipliers:
            one = np.broadcast_to(block.dof[:, block.type.node_dofs, None], block.dof.shape)
            moves = free[block.dof] & free[one]  # (constraints that do not act connect nothing)
            rows.append(one[moves])
            cols.append(block.dof[moves])
    place = np.concatenate(rows), np.concatenate(cols)
    n = compiled.n_dof
    of = connected_components(csr_matrix((np.ones(place[0].size), place), shape=(n, n)), directed=False)[1]
    return of[compiled.first_multiplier : -1]


# --- words -----------------------------------------------------------------------------------------------------------
def constraint_labels(compiled: Compiled) -> np.ndarray:
    """Return the user's name of the joint (or part) of every multiplier, (m,) of str."""
    first = compiled.first_multiplier
    labels = np.empty(compiled.n_dof - 1 - first, object)
    for block in compiled.blocks:
        if block.type.multipliers:
            for name, start, end in block.groups:
                rows = block.dof[start:end, block.type.node_dofs :].ravel() - first
                labels[rows] = name
                if block.type.name.startswith("equation") and rows.min() < rows.max():
                    labels[rows] = [f"{name}, row {k}" for k in (rows - rows.min() + 1).tolist()]
    return labels


def _names(labels: Sequence[str]) -> str:
    known = list(dict.fromkeys(labels))
    shown = ", ".join(f'"{name}"' for name in known[:_SHOWN])
    return shown + (f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else "")


def _groups(loops: list[Loop], labels: np.ndarray) -> list[tuple[list[str], int]]:
    """Return the names of joints and the number of surplus constraints, loops that share a joint together."""
    groups: list[tuple[dict[str, None], int]] = []
    for loop in loops:
        names, k = dict.fromkeys(labels[loop.rows]), len(loop.dependent)
        apart = []
        for other, count in groups:
            if names.keys().isdisjoint(other):
                apart.append((other, count))
            else:
                names, k = {**other, **names}, k + count
        groups = [*apart, (names, k)]
    return [(list(names), k) for names, k in groups]


def sentences(
    found: Constraints, labels: np.ndarray, when: str = "at the start", zero: Collection[str] = ()
) -> dict[tuple, str]:
    """Return sentences on dependent constraints, one per group of joints that share loops.

    ``when`` names the time; ``zero``: names of joints whose dependent multipliers are zero in any case.
    """
    out: dict[tuple, str] = {}
    groups = _groups([loop for loop in found.loops if len(loop.dependent)], labels)
    total = f"in all {found.count} constraints of rank {found.rank} on {found.free} free dofs"
    for names, k in groups[:_GROUPS]:
        rows = int(np.isin(labels.astype(str), names).sum())
        least = k <= MOST and not set(names) & set(zero)
        out[tuple(names), k] = (
            f"{_names(names)}: {rows} constraints of rank {rows - k} {when}, {k} {'repeats' if k == 1 else 'repeat'} "
            f"others ({total}); the motion is not affected, but how these joints share their reactions is not "
            f"determined ({'the least ones are reported' if least else 'some are taken as zero'})"
        )
    if len(groups) > _GROUPS:
        out["more", len(groups)] = f"{len(groups) - _GROUPS} more groups of joints repeat each other {when} ({total})"
    near = [loop for loop in found.loops if np.isfinite(loop.smallest)]
    for loop in near[:_GROUPS]:
        both = _names(labels[loop.rows])
        out[both, "near"] = (
            f"{both}: nearly dependent constraints {when} (singular value {loop.smallest:.1e}): near a singular "
            "configuration, or parts that do not quite fit"
        )
    return out


# --- what stepping keeps ---------------------------------------------------------------------------------------------
class Redundancy:
    """The rank of the constraints of a running analysis, and its arrays for the compiled step."""

    def __init__(self, compiled: Compiled):
        self.compiled = compiled
        self.rank = gauge.Rank.plain(compiled.n_equations)
        self.first = compiled.first_multiplier
        self.rows = compiled.system.equation[self.first : -1]  # equation of every multiplier
        self.found: Constraints | None = None
        self._component: np.ndarray | None = None
        self.diagonal: np.ndarray | None = None
        self.spoken: dict[tuple, str] = {}
        self.earlier: list[str] = []  # sentences from before a restart
        self.when = "at the start"  # which is when the analysis begins, for messages

    @property
    def warnings(self) -> list[str]:
        """Return sentences for the summary."""
        return list(dict.fromkeys((*self.earlier, *self.spoken.values())))

    @property
    def mode(self) -> int:
        return int(self.rank.flags[gauge.MODE])

    def start(self, diagonal: np.ndarray | None, ctl: np.ndarray, fun: np.ndarray, state: S.State) -> None:
        """Find the rank at the start of an analysis, after the scales of the constraints are set."""
        if diagonal is None:
            return
        self.diagonal = diagonal
        self.rank.limit[:] = _SMALL, _SHARE
        self.rank.flags[gauge.WATCHED] = self.compiled.banded
        for block in self.compiled.blocks:
            if block.type.multipliers:
                equation = self.compiled.system.equation[block.dof[:, block.type.node_dofs :]]
                scale = np.broadcast_to(block.par[:, [block.type.scale]], equation.shape)
                self.rank.weight[equation[equation >= 0]] = scale[equation >= 0]
        self.look(ctl, fun, state, self.when)

    def look(self, ctl: np.ndarray, fun: np.ndarray, state: S.State, when: str) -> bool:
        """Find the rank at the state in row 0, and return whether the loops differ from the known ones."""
        kept = [a[1].copy() for a in (state.Q, state.D)], state.U.copy()
        state.Q[1], state.D[1] = state.Q[0], state.D[0]
        state.U[:] = 0.0
        G = constraint_rows(self.compiled, ctl, fun, state, scaled=True)
        (state.Q[1], state.D[1]), state.U[:] = kept
        found = find_constraints(self.compiled, G, self.diagonal)
        before = self.found
        self.found = found
        self.rank.flags[gauge.SMALL] = 0
        if found.loops:
            labels = constraint_labels(self.compiled)
            zero = {name for group in self._groups(found) if not group.vectors for name in labels[group.rows]}
            for about, sentence in sentences(found, labels, when, zero).items():
                self.spoken.setdefault(about, sentence)  # said once, when it was first seen
        old, new = (set() if f is None else {i for loop in f.loops for i in loop.dependent} for f in (before, found))
        if old == new:
            self.rank.limit[:] *= 1e-2  # nothing new: do not ask again at once
            return False
        self.use(gauge.DEPENDENT if new else gauge.PLAIN)
        return True

    def use(self, mode: int) -> None:
        """Set how the matrix is treated; DEPENDENT takes the loops found last."""
        rank = self.rank
        rank.flags[gauge.MODE], rank.flags[gauge.KNOWN], rank.flags[gauge.SMALL] = mode, 0, 0
        rank.loop[:], rank.dependent[:], rank.share[:] = -1, -1, 0.0
        rank.limit[1] = _SHARE
        groups = self._groups(self.found) if mode == gauge.DEPENDENT and self.found is not None else []
        for number, group in enumerate(groups):
            rank.loop[self.rows[group.rows]] = number
            rank.dependent[self.rows[group.dependent]] = np.arange(group.vectors) if group.vectors else gauge.NONE
        self._take(rank, [group.vectors for group in groups])

    def _groups(self, found: Constraints) -> list[_Group]:
        """Return the loops among connected joints together."""
        dependent = np.sort(np.concatenate([np.empty(0, int), *(loop.dependent for loop in found.loops)]))
        if not dependent.size:
            return []
        if self._component is None:
            self._component = _connected(self.compiled)
        of = self._component
        return [_Group(np.flatnonzero(of == i), dependent[of[dependent] == i]) for i in np.unique(of[dependent])]

    def _take(self, rank: gauge.Rank, count: list[int]) -> None:
        """Take arrays, with room for so many null vectors of each group."""
        n, groups = rank.weight.size, max(len(count), 1)
        self.rank = rank._replace(
            null=np.zeros((max(count, default=0), n)), count=np.array(count, np.int32), sums=np.zeros(groups)
        )

    # --- for solvers outside of the compiled step ------------------------------------------------------------------
    @property
    def share(self) -> np.ndarray:
        """Return the values (n,) that the mode subtracts from the diagonal."""
        rank = self.rank
        if self.mode == gauge.NEAR:
            return gauge.SLIGHT * rank.weight
        return np.where(rank.dependent >= 0, rank.weight, 0.0)

    def factor(self, solver: LinearSolver, values: np.ndarray, *rotations: Any) -> None:
        """Factor the step's matrix, of ``values`` (nnz,), with the change that the mode needs.

        ``rotations`` of parts, where the solver takes them.
        """
        if self.mode != gauge.PLAIN:
            values = values.copy()
            values[self.compiled.diagonal] -= self.share
        solver.factor(values, *rotations)
        self.find_null(solver.solve)

    def find_null(self, solve: Callable[[np.ndarray], np.ndarray]) -> None:
        """Find null vectors by the factors of the regular matrix."""
        rank = self.rank
        for c in range(len(rank.null)):
            gauge.set_null(rank, c, solve(np.where(rank.dependent == c, rank.weight, 0.0)))

    def balance(self, U: np.ndarray, x: np.ndarray) -> None:
        """Remove the null vectors' share from the multipliers of U (N,) + x (n,), by changing the increment x."""
        if len(self.rank.null):
            gauge.balance_increment(self.rank, self.compiled.system.unknown, U, x)

    # --- contradictions --------------------------------------------------------------------------------------------
    def contradiction(self, residual: np.ndarray, row_scale: np.ndarray) -> str | None:
        """Return the names of joints that cannot be satisfied together; None if there are none.

        This is so if the constraint error (N,) of a failed step lies along a combination of rows that vanishes.
        """
        if self.found is None:
            return None
        rows = residual[self.first : -1]
        error = np.abs(rows) / row_scale[self.first : -1]
        labels = constraint_labels(self.compiled)
        for loop in self.found.loops:
            # Newton-Raphson satisfies all rows but the dependent ones
            others = np.setdiff1d(loop.rows, loop.dependent)
            worst = error[loop.rows].max()
            if worst > 1e-13 and worst >= 0.1 * error.max() and error[others].max(initial=0.0) <= 1e-3 * worst:
                fighting = loop.clash(rows)
                if fighting.size:
                    return _names(labels[fighting])
        return None

    # --- restart ---------------------------------------------------------------------------------------------------
    def snapshot(self) -> dict[str, np.ndarray]:
        """Return the data on which the next step depends."""
        rank = self.rank
        return {
            "rank_flags": rank.flags.copy(), "rank_limit": rank.limit.copy(), "rank_weight": rank.weight.copy(),
            "rank_loop": rank.loop.copy(), "rank_dependent": rank.dependent.copy(), "rank_pivots": rank.pivots.copy(),
            "rank_share": rank.share.copy(),
            "rank_diagonal": np.zeros(0) if self.diagonal is None else self.diagonal.copy(),
        }  # fmt: skip

    def restore(self, data: dict[str, np.ndarray]) -> None:
        """Continue from a snapshot."""
        plain = self.rank
        diagonal = data.get("rank_diagonal", np.zeros(0))  # points of earlier versions have none
        self.diagonal = np.array(diagonal) if diagonal.size else None
        for name in ("flags", "limit", "weight", "loop", "dependent", "pivots", "share"):
            getattr(plain, name)[:] = data[f"rank_{name}"]
        acts = self.rows >= 0
        loop, dependent = (np.where(acts, a[self.rows], -1) for a in (plain.loop, plain.dependent))
        loops, count = [], []
        for number in range(int(loop.max(initial=-1)) + 1):
            rows = np.flatnonzero(loop == number)
            surplus = rows[dependent[rows] >= 0]
            loops.append(Loop(rows, np.ones(len(rows)), len(rows) - len(surplus), np.zeros((0, 0)), surplus, np.inf))
            count.append(int((dependent[rows] < gauge.NONE).sum() - (dependent[rows] < 0).sum()))
        self.found = Constraints(0, len(self.rows), loops)
        self._take(plain, count)
