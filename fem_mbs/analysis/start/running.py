"""Running starts: the rigid motion of a mechanism, and the velocities at which the tyres of its wheels roll.

Theory: docs/theory.md, section 3, "Running starts".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, vstack
from scipy.sparse.csgraph import connected_components

from fem_mbs.elements.tyres.layout import NORMAL
from fem_mbs.elements.tyres.rolling import disc_rows, rolling_rows
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel
from fem_mbs.model.records import RunningStart
from fem_mbs.solvers.linear.service import factor
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.states import crosses
from fem_mbs.system.tangent import Tangent
from fem_mbs.units import unit_of

__all__ = ["ROLLING", "Frame", "Run", "frame_of", "road_normals", "rolling_velocities", "run_of"]

#: Element types of wheels that roll: rows (n, 4, 6) of sliding speeds and velocities of centres over velocity and
#: spin of their nodes, from parameters, places (n, 3) and rotations (n, 3, 3).
ROLLING: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "tyre3": rolling_rows,
    "relaxing_tyre3": rolling_rows,
}
#: The same functions for discs that roll without slip; they are used where the constraints of the discs do not act.
_DISCS = {"disc_roll3": disc_rows}
#: First parts of the names of element types that press parts together, which does not connect them.
_PRESSING = ("contact", "impact", "surface")
_ROLLS = 1e-6  # sliding speed of a wheel that rolls, over the largest velocity
_STRAYS = 0.2  # velocity of a wheel's centre over the sliding speed that it takes away, in place of the spin
_SLIDING = 1e8  # weight of sliding speeds against masses, where not all can be zero
_LEAST = 1e-4  # of the weights of unknowns in constraints (their roots), over the largest


@dataclass(frozen=True)
class Run:
    """Conditions of a running start: the rigid motion ``field`` (first,), zero elsewhere, the rows (n, first) of the
    given velocities of bodies, whose values are those of the field, and of sliding speeds, which are zero; ``centres``
    (3 n, first) are those of the velocities of the wheels' centres.

    ``bodies`` and ``tyres`` name the rows, in this order; ``stiff`` are the blocks whose strain rates are least.
    """

    field: np.ndarray
    given: csr_matrix
    sliding: csr_matrix
    centres: csr_matrix
    bodies: list[str]
    tyres: list[str]
    stiff: list[Block]

    @property
    def names(self) -> list[str]:
        """Return the names of the rows in messages."""
        return [f'the running start of "{name}"' for name in self.bodies] + [f'tyre "{name}"' for name in self.tyres]

    @property
    def rows(self) -> csr_matrix:
        return vstack((self.given, self.sliding)).tocsr()

    def values(self, wanted: np.ndarray) -> np.ndarray:
        """Return the values of the rows, of bodies those of the velocities ``wanted`` (first,)."""
        return np.concatenate((self.given @ wanted, np.zeros(len(self.tyres))))


@dataclass(frozen=True)
class Frame:
    """The moving frames of the running starts, in which their mechanisms rest.

    Attributes:
        field: (first,) velocities of all dofs by the rigid motions of the frames, angular ones in spatial axes.
        nodes: (n,) bool, whether a node belongs to a running mechanism.
        spins: (n, rotation dofs) angular velocities [rad/s] of the frame of each node, zero for nodes at rest.
    """

    field: np.ndarray
    nodes: np.ndarray
    spins: np.ndarray

    def at(self, part: float) -> Frame:
        """Return the frames with ``part`` times their velocities."""
        return Frame(part * self.field, self.nodes, part * self.spins)

    def transport(self, system: Compiled) -> csr_matrix:
        """Return P (N, N): P u are the rates of displacements and rotations u that rest in the frames; models in
        space."""
        at = np.flatnonzero(self.nodes)
        turning = at[system.nodes.rotational[at]]
        rows = np.vstack([system.offset[k][:, None] + i + np.arange(3) for k, i in ((at, 0), (turning, 3))])
        return crosses(system.n_dof, rows, np.vstack((self.spins[at], self.spins[turning])))

    def body_spins(self, system: Compiled, state: S.State) -> np.ndarray:
        """Return the angular velocities (nr, 3) of the frames in the body axes of the nodes with rotations; models in
        space."""
        turning = np.flatnonzero(system.nodes.rotational)
        rows = system.rot_row[turning]
        out = np.zeros((len(system.system.rotations), 3))
        out[rows] = np.einsum("nji,nj->ni", state.D[0, rows].reshape(-1, 3, 3), self.spins[turning])
        return out


def frame_of(compiled: CompiledModel, state: S.State) -> Frame:
    """Return the frames of the running starts of a model at a state.

    Raises:
        ModelError: two of them move one mechanism.
    """
    model, system = compiled.model, compiled.system
    part = _mechanisms(system)
    seen: dict[int, str] = {}
    field, spins = np.zeros(system.first_multiplier), np.zeros((len(part), system.rotation_dofs))
    nodes = np.zeros(len(part), bool)
    for run in model.runnings:
        other = seen.setdefault(int(part[run.node]), run.place)
        if other != run.place:
            raise ModelError(
                f'its mechanism runs with "{other}" already', owner=Owner("Running", run.place),
                remedy="keep one, or remove what joins them",
            )  # fmt: skip
        own = part == part[run.node]
        own[model.building.path_nodes] = False  # coordinates along lines are no places
        _add_field(system, state, run, np.flatnonzero(own), field)
        nodes |= own
        spins[own] = run.spin
    return Frame(field, nodes, spins)


def run_of(compiled: CompiledModel, start: Tangent) -> Run | None:
    """Return the running starts of a model at its present positions; None without any.

    Raises:
        ModelError: two of them move one mechanism, or the method of `initial` takes velocities as they are.
    """
    model, system, state = compiled.model, compiled.system, start.state
    if not model.runnings:
        return None
    first = system.first_multiplier
    frame = frame_of(compiled, state)
    rows, bodies = [], []
    for run in model.runnings:
        if model.initial_method == "given":
            raise ModelError(
                'method = "given" of an initial velocity takes velocities as they are, without the spins of wheels',
                owner=Owner("Running", run.place),
                remedy="remove the method",
            )
        n = system.dimension + system.rotation_dofs
        rows.append(system.offset[run.node] + np.arange(n))
        bodies += [run.place] * n
    dofs = np.concatenate(rows)
    given = csr_matrix((np.ones(dofs.size), (np.arange(dofs.size), dofs)), shape=(dofs.size, first))
    sliding, centres, tyres = _wheels(system, state, frame.nodes)
    stiff = [b for b in system.blocks if b.type.name not in ROLLING and not b.type.states]
    return Run(frame.field, given, sliding, centres, bodies, tyres, stiff)


def _mechanisms(system: Compiled) -> np.ndarray:
    """Return the number (n,) of the mechanism that each node belongs to: what elements and joints connect."""
    n = len(system.nodes.x)
    links = [np.empty((0, 2), int)]
    for block in system.blocks:
        if block.pairing is not None or not block.size or block.type.name.startswith(_PRESSING):
            continue
        nodes = np.asarray(block.nodes, int)
        base = nodes[np.arange(len(nodes)), np.argmax(nodes >= 0, axis=1)]  # the first end that is not the ground
        links += [np.column_stack((base, nodes[:, k])) for k in range(nodes.shape[1])]
        if block.joint is not None:  # elements with multipliers in common
            _, at, number = np.unique(block.joint, return_index=True, return_inverse=True)
            links.append(np.column_stack((base, base[at][number])))
    shared = np.searchsorted(system.offset, system.system.shared, side="right") - 1
    pairs = np.concatenate((*links, shared.reshape(-1, 2)))
    pairs = pairs[((pairs >= 0) & (pairs < n)).all(axis=1)]
    graph = coo_matrix((np.ones(len(pairs), np.int8), tuple(pairs.T)), shape=(n, n))
    return connected_components(graph, directed=False)[1]


def _add_field(system: Compiled, state: S.State, run: RunningStart, nodes: np.ndarray, field: np.ndarray) -> None:
    """Add the rigid motion of a mechanism of these nodes, at the present positions, to ``field`` (first,)."""
    dim, w = system.dimension, run.spin
    place = system.offset[nodes][:, None] + np.arange(dim)
    x = state.Q[0, place]
    centre = state.Q[0, system.offset[run.node] + np.arange(dim)] if run.centre is None else run.centre
    arm = x - centre
    turning = w * np.column_stack((-arm[:, 1], arm[:, 0])) if dim == 2 else np.cross(w, arm)
    field[place] = run.velocity + turning
    rotational = nodes[system.nodes.rotational[nodes]]
    field[system.offset[rotational][:, None] + dim + np.arange(system.rotation_dofs)] = w


def _wheels(system: Compiled, state: S.State, runs: np.ndarray) -> tuple[csr_matrix, csr_matrix, list[str]]:
    """Return rows of sliding speeds (n, first) and of velocities of the centres (3 n, first) of wheels whose nodes
    run, (nodes,) bool, and the names of their tyres."""
    dofs, rows, names = [np.empty((0, 6), int)], [np.empty((0, 4, 6))], []
    for block in system.blocks:
        rule = ROLLING.get(block.type.name) or _DISCS.get(block.type.name)
        if rule is None:
            continue
        some = runs[block.nodes[:, 0]]
        if block.type.multipliers:
            some &= system.silent[block.dof[:, block.type.node_dofs :] - system.first_multiplier].all(axis=1)
        chosen = np.flatnonzero(some)
        dof = block.dof[chosen, :6]
        R = state.D[0].reshape(-1, 3, 3)[block.rot[chosen, 0]]
        dofs.append(dof)
        rows.append(rule(block.par[chosen], state.Q[0, dof[:, :3]], R))
        names += [block.label(int(e)) for e in chosen]
    dof, entries = np.concatenate(dofs), np.concatenate(rows)
    sliding, centres = (
        csr_matrix(
            (found.ravel(), (np.repeat(np.arange(k * len(names)), 6), np.repeat(dof, k, axis=0).ravel())),
            shape=(k * len(names), system.first_multiplier),
        )
        for k, found in ((1, entries[:, 0]), (3, entries[:, 1:]))
    )
    return sliding, centres, names


def rolling_velocities(
    start: Tangent, run: Run, solved: Callable[[int], tuple[np.ndarray, str]], held: np.ndarray, G: csr_matrix,
    g_t: np.ndarray,
) -> tuple[np.ndarray, str]:  # fmt: skip
    """Return velocities (first,) at which wheels roll, and the method that gave them.

    Args:
        solved: returns velocities that fulfil so many of the rows G v = -g_t, and the method; the last rows are the
            sliding speeds.
        held: dofs (first,) bool whose velocities are given.

    Raises:
        ModelError: a wheel slides, or what joints allow would move its centre in place of its spin.
    """
    n = len(run.tyres)
    others = G.shape[0] - n
    v, method = solved(G.shape[0])
    if not n:
        return v, method
    without, _ = solved(others)
    least = _ROLLS * float(np.abs(without).max(initial=0.0)) * float(np.abs(run.sliding).max())
    if np.any(np.abs(G[:others] @ without + g_t[:others]) > least):
        return v, method  # joints contradict each other without the wheels
    slides = run.sliding @ without
    strays = np.linalg.norm((run.centres @ (v - without)).reshape(-1, 3), axis=1)
    speed = np.where(strays > _STRAYS * np.abs(slides) + least, slides, 0.0)
    if not speed.any() and np.any(np.abs(G @ v + g_t) > least):
        speed = run.sliding @ _least_sliding(start, run, without, held, G[:others], g_t[:others])
    worst = int(np.abs(speed).argmax())
    if not abs(speed[worst]) > least:
        return v, method
    raise ModelError(
        f"it would slide by {abs(speed[worst]):.6g} {unit_of('m/s')}, since joints, motions and given speeds hold its "
        "spin",
        owner=Owner("Tyre", run.tyres[worst]),
        remedy="let its wheel turn by a joint, or two wheels of an axle turn against each other by a differential",
    )


def _least_sliding(
    start: Tangent, run: Run, v: np.ndarray, held: np.ndarray, G: csr_matrix, g_t: np.ndarray
) -> np.ndarray:
    """Return velocities (first,) near v with G v = -g_t and the least sum of squares of the sliding speeds."""
    free = np.flatnonzero(~held)
    S_f = run.sliding[:, free]
    M = start.M[: v.size, : v.size][free][:, free]
    A = M + (_SLIDING * (M.diagonal().max(initial=0.0) or 1.0)) * (S_f.T @ S_f)
    u = v.copy()
    saddle = factor(A, G[:, free], "saddle", least=_LEAST, judged=False)
    u[free] += saddle.solve((M - A) @ v[free], -(g_t + G @ v))[0]
    return u


def road_normals(system: Compiled) -> Iterator[np.ndarray]:
    """Yield normals (n, 3) of the roads of the tyres of a model."""
    for block in system.blocks:
        if block.type.name in ROLLING:
            yield block.par[:, NORMAL : NORMAL + 3]
