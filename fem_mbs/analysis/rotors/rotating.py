"""Steady rotation of a model: the state in which it turns, and the frame in which its coefficients are constant.

A state turns steadily with Omega about an axis if every turning node has v = Omega x r, a = Omega x (Omega x r), the
spin Omega and no angular acceleration.  Its forces r(q) then depend on the place alone; with v and a moving along their
derivative is K + C P + M P^2, P = [Omega]_x on the turning nodes, which serves Newton's method.

Theory: docs/theory.md, section 10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh, qr
from scipy.sparse import csc_matrix, csr_matrix, diags, hstack, vstack

from fem_mbs.analysis.loading import Loading
from fem_mbs.analysis.rotors.steady_parts import SteadyParts
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.analysis.stability.rotation import Rotation, turn_steadily
from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import AnalysisError, ModelError, Owner
from fem_mbs.model.model import CompiledModel
from fem_mbs.model.parts.rotors import Rotor
from fem_mbs.rotations import rotation_matrices
from fem_mbs.solvers.linear.redundancy import independent_rows
from fem_mbs.solvers.linear.service import factor
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.states import instant, rotated, spatial_axes
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext

__all__ = [
    "CONSTANT", "choose_frame", "constant_frames", "rotation_in_frame", "rotation_of", "steady_rotation", "turned",
]  # fmt: skip

#: Change of coefficients by the turn of a rotor below which they count as constant.
CONSTANT = 1e-6
FRAMES = ("auto", "fixed", "rotating")
MULTI_BLADE = "multi-blade"

_ITERATIONS = 40
_CHORD = 0.05  # contraction beyond which the tangent is made anew
_SMALL = 1e-12  # of increments: over the model's length, or radians
_ROUNDING = 1e-15  # of stiffness times length
_FREE = 1e-11  # of the diagonal: holds what turns or moves freely
_NOTHING = 1e-30  # of the largest diagonal: products of rounding, where there is neither stiffness nor mass
_ANGLE = 0.7390851332  # [rad] by which the rotor is turned for comparison; no symmetry of a machine has it
_PROBES = 12  # motions along which coefficients are compared
_RANK = 1e-10  # of the largest motion: what is left of dependent ones
_NOISE = 1e-7  # of absolute values: what cancels may have rounding of 1e-9 of it


def steady_rotation(
    compiled: CompiledModel, state: S.State, rotation: Rotation, t: float = 0.0, loading: Loading | None = None,
    parts: SteadyParts | None = None,
) -> Linearisation:  # fmt: skip
    """Return the model about the state in which it turns steadily, nearest to a given one; increments in the fixed
    frame.

    Args:
        parts: of the matrices, that other speeds have too.

    Raises:
        ModelError: joints or motions do not let it turn so.
        AnalysisError: there is no such state near the given one, or Newton's method does not find it.
    """
    return _steady(compiled, state, rotation, t, loading, parts)[0]


def rotation_in_frame(
    compiled: CompiledModel, state: S.State, rotation: Rotation, t: float = 0.0, loading: Loading | None = None,
    frame: str = "auto", blades: bool = False,
) -> Linearisation:  # fmt: skip
    """Return `choose_frame` of `steady_rotation`, with shared factors."""
    return _chosen(*_steady(compiled, state, rotation, t, loading, None), frame, blades)


def _steady(
    compiled: CompiledModel, state: S.State, rotation: Rotation, t: float, loading: Loading | None,
    parts: SteadyParts | None,
) -> tuple[Linearisation, _Tangent | None]:  # fmt: skip
    """Return `steady_rotation` and the last tangent of the search, None if the state itself was steady."""
    system = compiled.system
    now, before, least, slow, pin, tangent = state, np.inf, np.inf, 0, None, None
    for _ in range(_ITERATIONS):
        lin = Linearisation(compiled, now, t, loading, rotation, parts=parts)
        if now is state:
            _check_velocities(lin)
            rounding = _rounding(lin)
        force = lin.force()
        if (np.abs(lin.summed(force)) <= rounding)[lin.dofs].all() and (
            np.abs(force[lin.first : -1]) <= rounding[lin.first : -1]
        ).all():
            if tangent is None or now is state:
                return lin, None
            step = tangent.step(force)
            if _size(system, step) > 1e-3 * before:
                return lin, tangent  # at critical speeds increments would be arbitrary
            return Linearisation(compiled, lin.moved(step), t, loading, rotation, parts=parts), tangent
        if pin is None:
            pin = _free_spin(lin, rounding)
        tangent = tangent or _Tangent(lin, pin)
        step = tangent.step(force)
        most = _size(system, step)
        # round-off of large stiffnesses may keep increments above the smallest ones
        slow = slow + 1 if most > 0.5 * least else 0
        if most <= _SMALL:
            # with it: forces left over, however small the increments, would hold or turn what spins freely
            return Linearisation(compiled, lin.moved(step), t, loading, rotation, parts=parts), tangent
        if slow >= 2 and least < 1e-8:
            return lin, tangent
        if not np.isfinite(most) or most > 1e3:
            break
        if most > _CHORD * before:
            tangent = None
        before, least = most, min(least, most)
        now = lin.moved(step)
    raise AnalysisError(
        f"{rotation.owner}: no state of steady rotation was found at {rotation.speed:g} {unit_of('rad/s')} (last step "
        f"{most:.1e}); take speeds in smaller steps, or check that nothing throws the parts out"
    )


def _rounding(lin: Linearisation) -> np.ndarray:
    """Return the residuals (N,) of forces and of constraints that round-off of positions and velocities may cause."""
    size = np.where(lin.system.system.kind == S.POSITION, lin.system.length, 1.0)
    _, damping, stiffness = lin.whole()
    return _ROUNDING * (abs(stiffness) @ size + abs(lin.steady.speed) * (abs(damping) @ size))


def _free_spin(lin: Linearisation, rounding: np.ndarray) -> int:
    """Return a dof that measures the rotation of a rotor that nothing holds or drives; -1 where something does.

    It is held while the state is sought: all angles are equivalent, and away from equilibrium centrifugal forces would
    rotate it further.
    """
    rotation, system = lin.steady, lin.system
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
    least = rounding[lin.dofs] @ np.abs(turning[lin.dofs])
    if abs(moment.sum()) > max(1e-7 * np.abs(moment).sum(), least):
        return -1  # a spring, or the weight
    # where all nodes are on the axis, their rotations tell
    part = np.abs(b[lin.dofs]) / unit[lin.dofs]
    part[system.system.kind[lin.dofs] == S.POSITION] *= 1e3
    return int(lin.dofs[part.argmax()])


class _Tangent:
    """The tangent of a steady rotation at a state, K + C P + M P^2, factored with its constraints; the dof ``pin``
    stays."""

    def __init__(self, lin: Linearisation, pin: int):
        self.lin, self.pin = lin, pin
        A = self._matrix()
        if lin.elimination is not None:
            lin.release()  # large parts need the memory
            self.A = A[: lin.first, : lin.first]
            found = lin.eliminate(None, pin) if pin >= 0 else lin.elimination
            self.factors = _Factors(found.reduce(self.A), None)
            return
        d, G, columns = lin.dofs, lin.G, lin.columns
        if pin >= 0:
            row = csr_matrix(([1.0], ([0], np.flatnonzero(d == pin))), shape=(1, d.size))
            G, columns = vstack((G, row)).tocsr(), hstack((columns, row.T))
        self.keep = independent_rows(G, np.ones(d.size))
        keep = np.flatnonzero(self.keep)
        self.factors = _Factors(A[d][:, d], csr_matrix(G[keep]), csr_matrix(columns)[:, keep])

    def _matrix(self) -> csr_matrix:
        M, C, K = self.lin.whole()
        P = self.lin.transport(self.lin.steady.nodes)
        return csr_matrix(K + C @ P + M @ (P @ P))

    def step(self, force: np.ndarray) -> np.ndarray:
        """Return increments u (N,) of A u + G^T y = -f, G u = -g with what a state leaves, (f, g) (N,)."""
        lin = self.lin
        gap = np.zeros(lin.constraints.shape[0])
        gap[: lin.system.n_dof - 1 - lin.first] = force[lin.first : -1]
        u = np.zeros(lin.system.n_dof)
        if lin.elimination is not None:
            found = lin.eliminate(-gap, self.pin)
            u[: lin.first] = found.expand(self.factors.solve(found.reduce_force(-force[: lin.first], self.A)))
            return u
        gap = np.append(gap, 0.0) if self.pin >= 0 else gap
        u[lin.dofs] = self.factors.solve(np.concatenate((-force[lin.dofs], -gap[self.keep])))
        return u

    def slow_motions(self, at: Linearisation) -> np.ndarray | None:
        """Return motions (N, k) of low frequencies, roughly, at a state nearby: by the symmetric part of the factors,
        the free spin among them; None where that has no factors."""
        if not self.factors.nearby or self.lin.elimination is None or at.elimination is None:
            return None
        T, first, size = self.lin.eliminate(None, self.pin).T, at.first, self.factors.size[:, None]
        M = at.mass[:first, :first]
        X = _iterated(lambda Y: self.factors.nearly(T.T @ (M @ (T @ (Y / size))) / size), T.shape[1], _PROBES)
        X = T @ (X / size)
        if self.pin >= 0:
            spin = at.velocity()[:first, None]
            X = np.hstack((X, spin * (np.abs(X).max() / np.abs(spin).max())))
        found = at.elimination  # the constraints of that state
        X = np.vstack((found.T @ X[found.free], np.zeros((at.system.n_dof - first, X.shape[1]))))
        MX, KX = at.mass @ X, at.tangent.K @ X
        return X @ _ritz(X, MX, KX + at.steady.speed**2 * MX)


class _Factors:
    """Factors of A (n, n) with constraints G (m, n) and columns (n, m), for solutions of A u + columns y = f, G u = g;
    what moves freely stays.

    ``size`` (n,): of the unknowns; those of the factors are size u, with forces f / size.
    """

    def __init__(self, A, G, columns=None):
        self.n = n = A.shape[0]
        size = abs(A).max(axis=1).toarray().ravel() * abs(A).max(axis=0).toarray().ravel()
        self.size = size = np.where(size > 0.0, size, size.max(initial=0.0) or 1.0) ** 0.25
        D = diags(1.0 / size)
        A = csc_matrix(D @ (A + _FREE * diags(size**2)) @ D)
        G = csr_matrix((0, n)) if G is None else G @ D
        norm = np.sqrt(np.asarray(G.power(2).sum(axis=1)).ravel())
        if norm.size:
            G, columns = csr_matrix(diags(1.0 / norm) @ G), csr_matrix(D @ columns @ diags(1.0 / norm))
        self._factors = factor(A, G, "general", columns=columns)
        self._scale = np.concatenate((size, norm))

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return u (n,) of (f, g) (n + m,)."""
        return self._factors.solve_full(right / self._scale)[: self.n] / self.size

    @property
    def nearby(self) -> bool:
        """Return whether `nearly` serves: the symmetric part has factors."""
        return self._factors.positive is not None

    def nearly(self, right: np.ndarray) -> np.ndarray:
        """Return size u (n, k) of f / size (n, k) with the symmetric part of A in place of it."""
        return self._factors.nearly(right)


def _size(system, u: np.ndarray) -> float:
    kind = system.system.kind
    return max(
        float(np.abs(u[kind == S.POSITION]).max(initial=0.0)) / system.length,
        float(np.abs(u[kind == S.ROTATION]).max(initial=0.0)),
    )


def check_supports(context: RunContext, rotor: Rotor) -> None:
    """Check at the start of a run that no support holds what the rotation of a rotor would move.

    Raises:
        ModelError: naming the node and the component that is held.
    """
    rotation = rotation_of(context.compiled, rotor, 1.0)
    state = instant(context.system, context.state)
    turn_steadily(context.system, state, rotation)
    _check_held(context.system, spatial_axes(context.system, state, state.V[0]), rotation)


def _check_held(system: Compiled, v: np.ndarray, rotation: Rotation) -> None:
    """Refuse velocities v (N,) of a rotation at unknowns that supports hold."""
    held = np.flatnonzero(system.system.equation[: system.first_multiplier] < 0)
    off = np.abs(v[held]) > 1e-9 * float(np.abs(v).max(initial=0.0))
    off &= ~np.isin(held, system.driven.dofs)
    if off.any():
        raise ModelError(
            f"{system.name_of(int(held[off][0]))} is held, but would move by the rotation",
            owner=rotation.owner,
            remedy="leave it out of the nodes that turn, or free it",
        )


def _check_velocities(lin: Linearisation) -> None:
    """Check that supports and joints of rotating nodes permit the rotation."""
    system, rotation = lin.system, lin.steady
    v = lin.velocity()
    size = float(np.abs(v).max(initial=0.0))
    if size == 0.0:
        return
    _check_held(system, v, rotation)
    if not lin.constraints.shape[0]:
        return
    rate = lin.constraints @ v
    unit = np.where(system.system.kind == S.POSITION, system.length, 1.0)
    bad = np.flatnonzero(np.abs(rate) > 1e-7 * abs(rotation.speed) * (abs(lin.constraints) @ unit))
    names = lin.driven_rows()
    bad = [i for i in bad if i not in names]
    if bad:
        raise ModelError(
            f"{lin.row_name(int(bad[0]))} does not let the nodes turn about this axis",
            owner=rotation.owner,
            remedy="choose which nodes turn (on), or join them by a joint that turns about the axis",
        )


def turned(lin: Linearisation, angle: float) -> Linearisation:
    """Return the linearisation about the state with the rotor turned by an angle [rad] more, in the same frame."""
    system, rotation = lin.system, lin.steady
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
        theta = angle * rotation.axis
        state.Q[:, place] = rotation.point + arm @ rotation_matrices(theta).T
        state.D[:, rows] = rotated(s.D[0, rows], np.tile(theta, (rows.size, 1)))
    return Linearisation(lin.compiled, state, lin.t, lin.loading, rotation, lin.frame)


def rotation_of(compiled: CompiledModel, rotor: Rotor, speed: float) -> Rotation:
    """Return the steady rotation of a rotor of the model at a speed [rad/s], with the nodes that belong to the
    rotor."""
    n = compiled.system.nodes.x.shape[0]
    used, nodes = np.zeros(n, bool), np.zeros(n, bool)
    for block in compiled.system.blocks:
        used[block.nodes[block.nodes >= 0]] = True
    nodes[rotor.nodes] = True
    return Rotation(rotor.owner, rotor.axis, rotor.point, float(speed), nodes & used, rotor.blades)


def choose_frame(lin: Linearisation, frame: str = "auto", blades: bool = False) -> Linearisation:
    """Return the linearisation in a frame where its coefficients are constant, so that it has eigenvalues.

    Args:
        lin: about a state; where nothing turns steadily (no rotation, or one of speed zero), it is as it is.
        frame: "fixed", "rotating" or "multi-blade", or "auto": the first of these where they are constant.
        blades: "multi-blade" may be chosen.

    Raises:
        ModelError: the state does not turn with the rotor; they are not constant there; in no frame if both the rotor
            and what holds it have different properties in two directions.
    """
    frames = (*FRAMES, MULTI_BLADE) if blades else FRAMES
    if frame not in frames:
        raise ModelError(
            f"frame = {shown(frame)} must be one of {', '.join(frames)}",
            owner=Owner("Linearisation"),
            key="frame",
            value=frame,
        )
    return _chosen(lin, None, frame, blades)


def _chosen(lin: Linearisation, near: _Tangent | None, frame: str, blades: bool) -> Linearisation:
    """Return the result of `choose_frame`; ``near``: the tangent of a rotation nearby, None: there is none."""
    rotation = lin.steady
    if rotation is None:
        if frame not in FRAMES[:2]:
            raise ModelError(f'frame = "{frame}" needs a rotor', owner=Owner("Linearisation"))
        return lin
    if frame == MULTI_BLADE:
        lin.bladed  # noqa: B018  says what is missing
    if rotation.speed == 0.0:
        return lin.seen_from("fixed" if frame == "auto" else frame)
    if frame != "auto":
        change = dict(_changes(lin, blades, near))[frame]
        if change > CONSTANT:
            raise ModelError(
                f"the coefficients are not constant in the {frame} frame (they change by {change:.1e} as it turns)",
                owner=rotation.owner,
                remedy='take frame = "periodic"' if frame == MULTI_BLADE else 'take frame = "auto"',
            )
        return lin.seen_from(frame)
    found = {}
    for name, change in _changes(lin, blades, near):
        if change <= CONSTANT:
            return lin.seen_from(name)
        found[name] = change
    told = ""
    if blades and MULTI_BLADE in found:
        told = f"; its {lin.bladed.count} blades are not equal, {found[MULTI_BLADE]:.1e} in multi-blade coordinates"
    elif blades:
        told = "; it has no three or more equal blades, which would have multi-blade coordinates"
    raise ModelError(
        "what turns and what does not both have different properties in two directions across the axis "
        f"(the coefficients change by {found['fixed']:.1e} in the fixed frame, {found['rotating']:.1e} in "
        f"the rotating one{told}), so that they are periodic in every frame and there are no modes",
        owner=rotation.owner,
        remedy='take frame = "periodic" of steps `complex_modes`, `campbell`, `stability_map` and `unbalance` '
        "(harmonics of the turn); or make the rotor axisymmetric, its supports isotropic, or three or more "
        "blades equal",
    )


def constant_frames(lin: Linearisation, blades: bool = False) -> dict[str, float]:
    """Return the relative change of the coefficients when the rotor turns: in the "fixed" frame, in the "rotating"
    one, and with ``blades`` in "multi-blade" coordinates, where there are three or more.  A frame serves where that is
    below `CONSTANT`.

    Bilinear forms of the matrices are compared along slow motions that the constraints allow, and the constraints
    themselves; random motions would not do, since stiff deformations drown what soft supports add.
    """
    return dict(_changes(lin, blades))


def _changes(lin: Linearisation, blades: bool, near: _Tangent | None = None) -> Iterator[tuple[str, float]]:
    """Yield what `constant_frames` returns, frame by frame: the search may end at the first that serves.

    Args:
        near: the tangent of a rotation nearby, whose factors make others superfluous.
    """
    there = turned(lin, _ANGLE)
    _check_steady(lin, there)
    motions = None if near is None else near.slow_motions(lin)
    motions = _slow_motions(lin) if motions is None else motions
    for frame in ("fixed", "rotating", MULTI_BLADE):
        if frame == MULTI_BLADE:
            if not blades or lin.blades is None:
                return
            there.__dict__["blades"] = lin.blades
        a, b = lin.seen_from(frame), there.seen_from(frame)
        yield frame, _difference(a, b, motions, None if frame == "fixed" else lin.turn_matrix(_ANGLE, frame))


def _check_steady(lin: Linearisation, there: Linearisation) -> None:
    """Check that a steady rotation remains in equilibrium after some rotation.

    Raises:
        ModelError: it is not: a force that does not turn bends what turns, or an eccentric part runs in supports that
            are not the same in all directions.
    """
    off = np.abs(there.residual)
    if not off.size:
        return
    size = np.where(lin.system.system.kind == S.POSITION, lin.system.length, 1.0)
    # of elastic and of inertia forces: a body that joints hold has no stiffness of its own
    noise = 1e-12 * (abs(lin.whole()[2]) @ size + lin.steady.speed**2 * (abs(lin.mass) @ size))[lin.dofs]
    worst = int((off - noise).argmax())
    if off[worst] > noise[worst] and off[worst] > 1e-6 * lin.tangent.largest_force:
        raise ModelError(
            f"its state does not turn with it: {lin.names[worst]} is out of balance by {off[worst]:.3g} when "
            f"it has turned by {np.rad2deg(_ANGLE):.0f} degrees",
            owner=lin.steady.owner,
            remedy="leave out loads that stand in space (weight across the axis), or centre what turns",
        )


def _slow_motions(lin: Linearisation) -> np.ndarray:
    """Return motions (N, k) of the lowest frequencies of M and the symmetric part of K, roughly: two subspace
    iterations about the speed of the rotor."""
    M, _, K, G, T = lin.problem()
    w2 = lin.steady.speed**2
    A = 0.5 * (K + K.T) + w2 * M
    size = np.abs(A.diagonal())
    largest = size.max(initial=0.0) or 1.0
    A = A + _FREE * diags(np.where(size > _NOTHING * largest, size, largest))
    scale = diags(1.0 / np.sqrt(np.maximum(np.abs(A.diagonal()), 1e-300)))
    rows = csr_matrix((0, A.shape[0]))
    if G is not None:
        rows = csr_matrix(G[np.flatnonzero(independent_rows(G, np.ones(G.shape[1])))]) @ scale
        norm = np.sqrt(np.asarray(rows.power(2).sum(axis=1)).ravel())
        rows = csr_matrix(diags(1.0 / norm) @ rows)
    factors = factor(csc_matrix(scale @ A @ scale), rows, "general")
    # the matrix is symmetric, and one application of its factors is good enough
    solve = (lambda b: factors.solve(b)[0]) if factors.positive is None else factors.nearly
    mass, stiffness = scale @ M @ scale, scale @ A @ scale
    X = _iterated(lambda Y: solve(mass @ Y), A.shape[0], min(_PROBES, A.shape[0] - rows.shape[0]))
    return T @ (scale @ (X @ _ritz(X, mass @ X, stiffness @ X)))


def _iterated(operator: Callable[[np.ndarray], np.ndarray], n: int, count: int) -> np.ndarray:
    """Return ``count`` vectors (n, k) or fewer after some subspace iterations, orthonormal."""
    X = np.random.default_rng(11).standard_normal((n, count))
    for _ in range(3):
        X, r, _ = qr(operator(X), mode="economic", pivoting=True)
        size = np.abs(np.diag(r))
        X = X[:, size > _RANK * size.max(initial=0.0)]  # more than there are masses: nothing but rounding
    return X


def _ritz(X: np.ndarray, MX: np.ndarray, AX: np.ndarray) -> np.ndarray:
    """Return coefficients (k, j) of the Ritz vectors of A and M in the span of X (n, k).

    The vectors are orthonormal with respect to M.  Combinations without mass are left out, so that j may be below k.
    """
    values, vectors = eigh(X.T @ MX)
    turn = vectors[:, values > 1e-14 * values.max(initial=0.0)]
    small, large = (turn.T @ (X.T @ BX) @ turn for BX in (MX, AX))
    return turn @ eigh(0.5 * (large + large.T), 0.5 * (small + small.T))[1]


def _difference(a: Linearisation, b: Linearisation, full: np.ndarray, R: csr_matrix | None) -> float:
    moved = full if R is None else R @ full
    held = np.ones(a.first, bool)
    held[a.dofs] = False
    worst = float(np.abs(moved[np.flatnonzero(held)]).max(initial=0.0)) / max(float(np.abs(full).max()), 1e-300)
    if b.G.shape[0]:
        # against motions of their size, for what a constraint holds at rest has nothing but rounding
        places = (a.system.system.kind == S.POSITION)[:, None]
        largest = np.maximum(
            np.abs(moved * places).max(axis=0) / a.system.length, np.abs(moved * ~places).max(axis=0, initial=0.0)
        )
        size = abs(b.constraints) @ (np.where(places, a.system.length, 1.0) * largest)
        rate = np.abs(b.constraints @ moved)
        worst = max(worst, float((rate / np.maximum(size, 1e-300)).max(initial=0.0)))
    if worst > CONSTANT:
        return worst
    before, after = a.products(full), b.products(moved)
    kinetic, strain = (np.abs(np.einsum("ik,ik->k", full, before[i])) for i in (0, 2))
    w = np.sqrt(strain / np.maximum(kinetic, 1e-300) + a.steady.speed**2)
    energy = w * np.sqrt(kinetic)
    absolute = a.products(np.abs(full), absolute=True)
    for power, (A, B, size) in enumerate(zip(before[::-1], after[::-1], absolute[::-1], strict=True)):
        one, two = full.T @ A, moved.T @ B
        floor = _NOISE * (np.abs(full).T @ size)
        by = np.outer(w, w) ** (0.5 * power)  # K, C w, M w^2
        change = np.abs(one - two) * by / np.maximum(np.outer(energy, energy), floor * by)
        worst = max(worst, float(change.max(initial=0.0)))
    return worst
