"""Forces of the mid-point rule along a motion, for a deferred correction of the collocation.

The equations of a window hold at the ends of steps (`equations`).  A forward run obeys the mid-point rule, whose forces
are those between both ends of a step.  Both differ by terms of the order h^2: those of the weights w and 1/4 of
neighbours, which linear equations have too, and the curvature of what turns and of what is not linear.
"""

from __future__ import annotations

import numpy as np

from fem_mbs import contract as C
from fem_mbs.analysis.paths.motions import Motion, midpoint_share, unweighted
from fem_mbs.rotations import rotation_vectors
from fem_mbs.solvers.many_states import States
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.dense import DenseAssembly, DenseTangents, states_of
from fem_mbs.system.tangent import Level, control

__all__ = ["midpoint_forces"]


def midpoint_forces(
    assembly: DenseAssembly, motion: Motion, multipliers: np.ndarray, levels: tuple[Level, Level], h: float,
    weight: float,
) -> np.ndarray:  # fmt: skip
    """Return forces (n + 1, N - 1) out of balance at the ends of n steps of h [s], whose means by the weight 1/4 are
    those of the forces of the mid-point rule in two steps, less those at rest at the start.

    The means are exact up to terms of the second order in the difference of the weights.  Masses that keep velocities
    in their history have forces at the ends of steps, with the rates of the rule.

    Args:
        motion: begins at rest.
        multipliers: (n + 1, N) at the ends of steps, in the places of their unknowns.
        levels: of the loads, with values (n + 1, n_fun) at the ends and (n, n_fun) in the middle of steps.
        weight: that of the compact differences.
    """
    ends, gravity = np.asarray(levels[0].values), np.asarray(levels[0].gravity, float)
    ctl = control(1.0, gravity=gravity, h=h, factor=0.5 * h * h, rule=C.TWO_STATE)
    factor = np.full(assembly.size, ctl[C.SF])
    factor[assembly.compiled.system.states] = h  # x' = g is the row h x' - h g of a step
    blocks = assembly.compiled.blocks
    kept, others = ([b for b in blocks if _keeps(b) == keeps] for keeps in (True, False))

    def stepped(own: np.ndarray, middle: np.ndarray) -> np.ndarray:
        places = motion.Q[own], motion.D[own]
        steps = _steps(assembly.compiled, places, multipliers[own], (ends[own], middle), h, weight)
        return DenseTangents(assembly, steps, gravity).force(others, ctl) / factor

    forces = stepped(np.arange(len(ends)), np.asarray(levels[1].values)) - stepped(np.zeros(2, int), ends[:1])
    found = _smooth(0.5 * (forces[1:] + forces[:-1]), weight)
    if kept:
        V, A = (a + midpoint_share(a, weight) for a in (motion.V, motion.A))
        states = states_of(assembly.compiled, motion.Q, motion.D, V, A, ends)
        more = DenseTangents(assembly, states, gravity).force(kept)
        found += more - more[0]
    return found


def _keeps(block: Block) -> bool:
    """Return whether masses keep velocities in their history, which only a run fills."""
    return block.type.inertia and block.type.hist > 0


def _steps(
    system: Compiled, places: tuple[np.ndarray, np.ndarray], multipliers: np.ndarray,
    values: tuple[np.ndarray, np.ndarray], h: float, weight: float,
) -> States:  # fmt: skip
    """Return the steps of the mid-point rule through states Q and D.

    The velocities of this rule alternate from step to step.  Those here do not: accelerations of steps are means of
    smooth ones at their ends, and the mean of two steps is that of the rule, (q[n+1] - 2 q[n] + q[n-1])/h^2.
    """
    (Q, D), first = places, system.first_multiplier
    U, turns = _unknowns(system, Q, D)
    V, DD = (_velocities(a, h, weight) for a in (turns, np.diff(D, axis=0)))
    U[:, first:-1] = 0.25 * h * h * (multipliers[1:, first:-1] + multipliers[:-1, first:-1])
    ends, middle = values
    fun = np.zeros((len(U), max(ends.shape[1], 1), 3))
    for column, now in ((C.T0, ends[:-1]), (C.T1, ends[1:]), (C.TM, middle)):
        fun[:, : ends.shape[1], column] = now
    pairs = (np.stack((a[:-1], a[1:]), axis=1) for a in (Q, D))
    three = np.concatenate((V, np.zeros_like(V[:, :1])), axis=1)
    return States(*map(np.ascontiguousarray, (*pairs, three, DD, U, fun)))


def _smooth(means: np.ndarray, weight: float) -> np.ndarray:
    """Return values (n + 1, ...) at the ends of n steps with these means (n - 1, ...) by the weight 1/4."""
    padded = np.pad(means, [(1, 1)] + [(0, 0)] * (means.ndim - 1))
    found = unweighted(padded, weight)
    return found + midpoint_share(found, weight)


def _unknowns(system: Compiled, Q: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the unknowns (n, N) of steps between states, and the same with rotations in body axes."""
    arrays = system.system
    U = np.zeros((len(Q) - 1, Q.shape[1]))
    for own in (arrays.positions, arrays.states):
        U[:, own] = np.diff(Q[:, own], axis=0)
    rows, turns = arrays.rotations, U.copy()
    if not rows.size:
        return U, turns
    if system.dimension == 2:
        U[:, rows] = turns[:, rows] = 2.0 * np.tan(0.5 * np.diff(Q[:, rows], axis=0))
        return U, turns
    R = D[:, : len(rows)].reshape(len(D), len(rows), 3, 3)
    angles = rotation_vectors((R[:-1].swapaxes(-1, -2) @ R[1:]).reshape(-1, 3, 3))
    size = np.linalg.norm(angles, axis=1, keepdims=True)
    body = angles * np.where(size > 0.0, 2.0 * np.tan(0.5 * size) / np.where(size > 0.0, size, 1.0), 1.0)
    turns[:, rows] = body.reshape(len(U), len(rows), 3)
    U[:, rows] = np.einsum("snij,snj->sni", R[:-1], turns[:, rows])
    return U, turns


def _velocities(changes: np.ndarray, h: float, weight: float) -> np.ndarray:
    """Return velocities (n, 2, ...) at both ends of steps from the changes (n, ...) in them."""
    a = _smooth(np.diff(changes, axis=0) / h**2, weight)
    half = 0.25 * h * (a[1:] + a[:-1])
    return np.stack((changes / h - half, changes / h + half), axis=1)
