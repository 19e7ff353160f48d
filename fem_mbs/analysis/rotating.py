"""Steady rotation of a model: the state in which it turns, and the frame in which its coefficients are constant.

A state turns steadily with Omega about an axis if every turning node has v = Omega x r, a = Omega x (Omega x r), the
spin Omega and no angular acceleration.  Its forces r(q) then depend on the place alone; with v and a moving along their
derivative is K + C P + M P^2, P = [Omega]_x on the turning nodes, which serves Newton's method.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, diags, vstack

from fem_mbs.analysis.linearisation import Linearisation, Rotation, rotated
from fem_mbs.analysis.loading import Loading
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.matrices import Matrices
from fem_mbs.model import CompiledModel
from fem_mbs.solvers import stepper as S
from fem_mbs.solvers.redundancy import independent_rows
from fem_mbs.solvers.saddle_factors import Effort, SaddleFactors

__all__ = ["constant_frames", "steady_rotation", "turned"]

_ITERATIONS = 30
_SMALL = 1e-12  # of increments: over the model's length, or radians
_FREE = 1e-11  # of the diagonal: holds what turns or moves freely
_ANGLE = 0.7390851332  # [rad] by which the rotor is turned for comparison; no symmetry of a machine has it
_SAME = 1e-7  # of matrices of a rotor before and after it was turned
_PROBES = 4


def steady_rotation(
    compiled: CompiledModel, state: S.State, rotation: Rotation, t: float = 0.0, loading: Loading | None = None,
    matrices: Matrices | None = None,
) -> Linearisation:  # fmt: skip
    """The model about the state in which it turns steadily, nearest to a given one; increments in the fixed frame.

    Raises:
        ModelError: joints or motions do not let it turn so.
        AnalysisError: there is no such state near the given one, or Newton's method does not find it.
    """
    system = compiled.system
    matrices = matrices or Matrices(system)
    now, least, slow, pin = state, np.inf, 0, -1
    for _ in range(_ITERATIONS):
        lin = Linearisation(compiled, now, t, loading, rotation, matrices=matrices)
        if now is state:
            _check_velocities(lin)
            pin = _free_spin(lin)
        M, C, K = lin.whole()
        P = lin.transport(rotation.nodes)
        step = _solved(lin, csr_matrix(K + C @ P + M @ (P @ P)), lin.force(), pin)
        most = _size(system, step)
        # round-off of large stiffnesses may keep increments above the smallest ones
        slow = slow + 1 if most > 0.5 * least else 0
        if most <= _SMALL or (slow >= 2 and least < 1e-8):
            return lin
        least = min(least, most)
        if not np.isfinite(most) or most > 1e3:
            break
        now = lin.moved(step)
    raise AnalysisError(
        f"{rotation.owner}: no state of steady rotation was found at {rotation.speed:g} rad/s (last step {most:.1e})"
        "; take speeds in smaller steps, or check that nothing throws the parts out"
    )


def _free_spin(lin: Linearisation) -> int:
    """A dof that tells how far a rotor has turned which nothing holds or drives; -1 where something does.

    It is held while the state is sought: all angles are as good, and away from equilibrium centrifugal forces would
    turn it on.
    """
    rotation, system = lin.rotation, lin.system
    b = lin.velocity()
    if rotation.speed == 0.0 or np.any(b[system.driven.dofs]):
        return -1
    driven = list(lin.driven_rows())
    unit = np.where(system.system.kind == S.POSITION, system.length, 1.0) * abs(rotation.speed)
    rows = abs(lin.constraints[driven])
    if np.any(np.abs(lin.constraints[driven] @ b) > 1e-7 * (rows @ unit)):
        return -1
    there = turned(lin, _ANGLE)
    turning = lin.turn_matrix(_ANGLE) @ b
    moment = there.force()[lin.dofs] * turning[lin.dofs]
    if abs(moment.sum()) > 1e-7 * np.abs(moment).sum():
        return -1  # a spring, or the weight
    places = np.intersect1d(system.system.positions, lin.dofs)
    return int(places[np.abs(b[places]).argmax()])


def _solved(lin: Linearisation, A, force: np.ndarray, pin: int) -> np.ndarray:
    """Increments (N,) of A u + G^T y = -f, G u = -g with A (N, N) and what a state leaves, (f, g) (N,); the dof ``pin``
    stays."""
    system, d = lin.system, lin.dofs
    gap = np.zeros(lin.constraints.shape[0])
    gap[: system.n_dof - 1 - lin.first] = force[lin.first : -1]
    u = np.zeros(system.n_dof)
    if lin.elimination is not None:
        found = lin.eliminate(-gap, pin) if gap.any() or pin >= 0 else lin.elimination
        A = A[: lin.first][:, : lin.first]
        right = found.reduce_force(-force[: lin.first], A)
        q = _factored_solution(found.reduce(A), None, right)
        u[: lin.first] = found.expand(q)
        return u
    G = lin.G
    if pin >= 0:
        row = csr_matrix(([1.0], ([0], np.flatnonzero(d == pin))), shape=(1, d.size))
        G, gap = vstack((G, row)).tocsr(), np.append(gap, 0.0)
    keep = independent_rows(G, np.ones(d.size))
    right = np.concatenate((-force[d], -gap[keep]))
    u[d] = _factored_solution(A[d][:, d], csr_matrix(G[np.flatnonzero(keep)]), right)
    return u


def _factored_solution(A, G, right: np.ndarray) -> np.ndarray:
    """u (n,) of A u + G^T y = f, G u = g; what moves freely stays."""
    n = A.shape[0]
    size = np.abs(A.diagonal())
    size = np.where(size > 0.0, size, size.max(initial=1.0))
    D = diags(1.0 / np.sqrt(size))
    A = csc_matrix(D @ (A + _FREE * diags(size)) @ D)
    right = right.copy()
    right[:n] /= np.sqrt(size)
    if G is None:
        G = csr_matrix((0, n))
    else:
        G = G @ D
        norm = np.sqrt(np.asarray(G.power(2).sum(axis=1)).ravel())
        G = csr_matrix(diags(1.0 / norm) @ G)
        right[n:] /= norm
    return SaddleFactors(A, G, Effort()).solve_full(right)[:n] / np.sqrt(size)


def _size(system, u: np.ndarray) -> float:
    kind = system.system.kind
    return max(
        float(np.abs(u[kind == S.POSITION]).max(initial=0.0)) / system.length,
        float(np.abs(u[kind == S.ROTATION]).max(initial=0.0)),
    )


def _check_velocities(lin: Linearisation) -> None:
    """What holds or joins turning nodes must let them turn."""
    system, rotation = lin.system, lin.rotation
    v = lin.velocity()
    size = float(np.abs(v).max(initial=0.0))
    if size == 0.0:
        return
    held = np.setdiff1d(np.arange(lin.first), lin.dofs)
    driven = system.driven.dofs
    off = np.abs(v[held]) > 1e-9 * size
    off &= ~np.isin(held, driven)
    if off.any():
        raise ModelError(
            f"{rotation.owner}: {system.name_of(int(held[off][0]))} is held, but would move by the rotation; leave it "
            "out of the nodes that turn, or free it"
        )
    rate = lin.constraints @ v
    unit = np.where(system.system.kind == S.POSITION, system.length, 1.0)
    bad = np.flatnonzero(np.abs(rate) > 1e-7 * abs(rotation.speed) * (abs(lin.constraints) @ unit))
    names = lin.driven_rows()
    bad = [i for i in bad if i not in names]
    if bad:
        raise ModelError(
            f"{rotation.owner}: {lin.row_name(int(bad[0]))} does not let the nodes turn about this axis; choose which "
            "nodes turn (on), or join them by a joint that turns about the axis"
        )


def turned(lin: Linearisation, angle: float) -> Linearisation:
    """The same about the state in which the rotor has turned by an angle [rad] more; in the same frame."""
    system, rotation = lin.system, lin.rotation
    state = system.initial_state()
    s = lin.state
    state.Q[:], state.D[:] = s.Q[0], s.D[0]
    state.Q[:, lin.first : -1] = s.U[lin.first : -1]
    n, dim = system.nodes.x.shape[0], system.dimension
    place = system.offset[:n][rotation.nodes][:, None] + np.arange(dim)
    arm = s.Q[0, place] - rotation.point
    turning = np.flatnonzero(rotation.nodes & system.nodes.rotational)
    rows = system.rot_row[turning]
    if dim == 2:
        c, k = np.cos(angle), np.sin(angle)
        state.Q[:, place] = rotation.point + np.column_stack(
            (c * arm[:, 0] - k * arm[:, 1], k * arm[:, 0] + c * arm[:, 1])
        )
        state.Q[:, system.offset[turning] + 2] += angle
        state.D[:, rows] = rotated(s.D[0, rows], np.full((rows.size, 1), angle))
    else:
        from scipy.spatial.transform import Rotation as Turn

        theta = angle * rotation.axis
        state.Q[:, place] = rotation.point + Turn.from_rotvec(theta).apply(arm)
        state.D[:, rows] = rotated(s.D[0, rows], np.tile(theta, (rows.size, 1)))
    return Linearisation(lin.compiled, state, lin.t, lin.loading, rotation, lin.frame, lin._matrices)


def constant_frames(lin: Linearisation) -> dict[str, float]:
    """By how much, relative, the coefficients change when the rotor turns: in the "fixed" frame, and in the "rotating"
    one.  A frame serves where that is below about 1e-6.

    Bilinear forms of the matrices are compared along random motions that the constraints allow, and the constraints
    themselves.
    """
    there = turned(lin, _ANGLE)
    found = {}
    rng = np.random.default_rng(11)
    for frame in ("fixed", "rotating"):
        a, b = lin.seen_from(frame), there.seen_from(frame)
        R = lin.turn_matrix(_ANGLE) if frame == "rotating" else None
        found[frame] = _difference(a, b, R, rng)
    return found


def _difference(a: Linearisation, b: Linearisation, R: csr_matrix | None, rng) -> float:
    d = a.dofs
    X = a.tangent_motions(rng.standard_normal((d.size, _PROBES)))
    full = a.expand(X)
    moved = full if R is None else R @ full
    held = np.setdiff1d(np.arange(a.first), d)
    worst = float(np.abs(moved[held]).max(initial=0.0)) / max(float(np.abs(full).max()), 1e-300)
    if b.G.shape[0]:
        rate, size = np.abs(b.constraints @ moved), abs(b.constraints) @ np.abs(moved)
        worst = max(worst, float((rate / np.maximum(size, size.max() * 1e-12)).max(initial=0.0)))
    if worst > 1e-6:
        return worst
    for A, B in zip(a.whole(), b.whole(), strict=True):
        one, two = full.T @ (A @ full), moved.T @ (B @ moved)
        size = np.abs(full).T @ (abs(A) @ np.abs(full))
        worst = max(worst, float((np.abs(one - two) / np.maximum(size, size.max() * 1e-12)).max(initial=0.0)))
    return worst
