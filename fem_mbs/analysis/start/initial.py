"""Consistent starts: positions checked, velocities that joints and motions allow, accelerations for one-state rules.

Before the first step G v + g_t = 0 and d' = omega x d must hold to round-off, or the multipliers alternate for ever
with an amplitude of 2 eps/h (docs/theory.md, section 3).  Velocities come from the least strain rates, min v.K v +
eps v.M v, or from a mass-weighted projection of given ones, min (v - v*).M (v - v*), both subject to G v = -g_t.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix, diags, hstack, lil_matrix, vstack

from fem_mbs.analysis.start.given import check_effects, given_velocities
from fem_mbs.analysis.start.redundancy import constraint_labels
from fem_mbs.analysis.start.running import rolling_velocities, run_of
from fem_mbs.analysis.start.states import state_rates
from fem_mbs.errors import ModelError, Owner
from fem_mbs.functions.laws import TimeFunction
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel
from fem_mbs.results.report import SpinReport, StartReport
from fem_mbs.solvers.linear.libraries import ExactlySingular
from fem_mbs.solvers.linear.redundancy import dependencies
from fem_mbs.solvers.linear.saddle import Saddle
from fem_mbs.solvers.linear.service import factor
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.blocks import Block
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.states import at_rest, body_axes, director_velocities, moved, spatial_axes
from fem_mbs.system.tangent import Level, Tangent
from fem_mbs.units import unit_of

if TYPE_CHECKING:
    from fem_mbs.analysis.transient.rules import Weights

__all__ = [
    "Spin", "check_start", "consistent_velocities", "constrained", "constraint_error", "function_jets",
    "initial_accelerations", "multiplier_scales", "multipliers_of", "start_rule", "started", "unloaded",
]  # fmt: skip

_EPS_MASS = 1e-8  # weight of the kinetic energy among least strain rates: decides what strains do not
_PRESSED = 30  # iterations for forces that depend on the multipliers
_STILL = 1e-30  # speeds below it are what rounding leaves of none
_LEAST = 1e-4  # of the weights of unknowns in constraints (their roots), over the largest


@dataclass(frozen=True)
class Spin:
    """A steady rotation of the whole model: what asks for it, ``speed`` [rad/s], axis (dimension,; empty in the plane),
    a point of it, and the step ``h`` of the mid-point rule that shall keep it (0: another rule).

    One step of the mid-point rule turns by the angle w h if the speeds are those of w' = 2 tan(w h/2)/h; with them, and
    the centrifugal forces of w', the state repeats itself exactly.
    """

    owner: str
    speed: float
    axis: np.ndarray
    point: np.ndarray
    h: float

    def of_step(self, rate: Any) -> Any:
        """Return w' of an angular velocity w: the mid-point rule turns by the angle w h if the speeds are those of
        w'."""
        return np.tan(0.5 * self.h * rate) * 2.0 / self.h if self.h > 0.0 else rate

    @property
    def vector(self) -> np.ndarray:
        """Return the angular velocity w' (rotation dofs,)."""
        return self.of_step(self.speed) * (self.axis if self.axis.size else np.ones(1))


def function_jets(compiled: CompiledModel, t: float) -> np.ndarray:
    """Return value, first and second derivative of all time functions, (n_fun, 3); of loads the value only.

    Raises:
        ModelError: one of them is not finite, naming the load, motion or joint.
    """
    out = np.zeros((len(compiled.functions), 3))
    for i, f in enumerate(compiled.functions):
        if compiled.loads[i]:
            out[i, 0] = f(np.float64(t))
        else:
            assert isinstance(f, TimeFunction)  # steps replace functions of loads alone
            out[i] = [float(np.asarray(v)) for v in f.jet(np.float64(t))]
        if not np.isfinite(out[i]).all():
            what = ("value", "first derivative", "second derivative")[int(np.flatnonzero(~np.isfinite(out[i]))[0])]
            raise ModelError(
                f"the {what} of its function is not finite at t = {t:g} {unit_of('s')}",
                owner=compiled.system.function_owner(i),
                key="function",
                remedy="use one that is defined there",
            )
    return out


def started(compiled: CompiledModel, state: S.State, values: np.ndarray | None = None) -> Tangent:
    """Return the equations of a model at a state, under its whole weight and with functions of these values (n_fun,);
    None: those at t = 0."""
    if values is None:
        values = function_jets(compiled, 0.0)[:, 0]
    return Tangent(compiled.system, state, Level(values, compiled.model.gravity))


def unloaded(compiled: CompiledModel, state: S.State) -> Tangent:
    """Return the equations of a model at rest, without weight and loads: these have tangents of their own, which strain
    nothing."""
    values = np.where(np.asarray(compiled.loads, bool), 0.0, function_jets(compiled, 0.0)[:, 0])
    return Tangent(compiled.system, at_rest(state), Level(values))


def check_start(compiled: CompiledModel, state: S.State, t: float, varied: np.ndarray | None = None) -> None:
    """Refuse open joints, and motions that do not start where the model stands; functions of ``varied`` (n_fun,) bool,
    which a static step brings in by its load factor, count as zero.

    Raises:
        ModelError: naming the joint or motion and its gap.
    """
    system = compiled.system
    jets = function_jets(compiled, t)
    if varied is not None:
        jets[varied] = 0.0
    tolerance = 1e-8
    driven = system.driven
    gap = system.system.driven_reference + jets[driven.functions, 0] - state.Q[0, driven.dofs]
    for i in np.flatnonzero(np.abs(gap) > tolerance * max(1.0, system.length)):
        raise ModelError(
            f"it asks for {gap[i]:g} at t = {t:g} {unit_of('s')}, but the model stands at 0 there",
            owner=driven.owners[i],
            key="function",
            remedy="use a function that is zero at the start, or let an assembly move the model there",
        )
    gaps = started(compiled, state, jets[:, 0]).gaps
    for block in system.blocks:
        if not block.type.multipliers:
            continue
        error = np.abs(gaps[block.dof[:, block.type.node_dofs :] - system.first_multiplier]).max(axis=1)
        unit = 1.0 if block.type.angular else system.length
        bad = np.flatnonzero(~(error <= tolerance * unit))
        if bad.size and block.type.prestress is None:  # a joint, not a strain that is held
            k = int(bad[0])
            what = "rad" if block.type.angular else unit_of("m")
            if block.type.name.startswith("equation"):
                raise ModelError(
                    f"its left side is {error[k]:g} off its right side at the start",
                    owner=Owner("Equation", block.row_label(k)),
                    remedy="let its function start at zero, or vary it in a static step",
                )
            raise ModelError(
                f"it is open by {error[k]:g} {what} at the start",
                owner=Owner("Joint", block.label(k)),
                remedy="move its parts together, let its function start at zero, or ask for an assembly",
            )


def constraint_error(compiled: CompiledModel, state: S.State, t: float) -> float:
    """Return the largest error of a constraint at the present state: lengths over the model's size, angles in
    radians."""
    system = compiled.system
    if not any(block.type.multipliers for block in system.blocks):
        return 0.0
    now = np.float64(t)
    trial = state._replace(U=np.zeros_like(state.U))
    for a in (trial.Q, trial.D):
        a[1] = a[0]
    gaps = started(compiled, trial, np.array([f(now) for f in compiled.functions])).gaps
    largest = 0.0
    for block in system.blocks:
        if block.type.multipliers:
            unit = 1.0 if block.type.angular else system.length
            own = gaps[block.dof[:, block.type.node_dofs :] - system.first_multiplier]
            largest = max(largest, float(np.abs(own).max(initial=0.0)) / unit)
    return largest


def constrained(W: csr_matrix, G: csr_matrix, columns: csr_matrix | None = None) -> Saddle:
    """Return the factors of [[W, G^T], [G, 0]], without dependent rows of G.

    Other ``columns`` (n, m) may stand for G^T.

    Raises:
        ModelError: the matrix is singular.
    """
    try:
        return factor(W, G, "saddle", columns=columns, least=_LEAST, judged=False)
    except ExactlySingular:
        raise ModelError(
            "the start is singular",
            owner=Owner("Initial velocity"),
            remedy="a node has neither mass nor stiffness, or constraints contradict",
        ) from None


def _spinning(system: Compiled, state: S.State, spin: Spin) -> np.ndarray:
    """Return velocities omega x r and spins omega, over all dofs, at the present positions."""
    v = np.zeros(system.n_dof)
    n, dim, w = len(system.nodes.x), system.dimension, spin.vector
    place = system.offset[:n, None] + np.arange(dim)
    arm = state.Q[0, place] - spin.point
    v[place] = w * np.column_stack((-arm[:, 1], arm[:, 0])) if dim == 2 else np.cross(w, arm)
    rows = system.system.rotations
    if rows.size:
        v[rows] = w
    return v


def _angular_functions(compiled: CompiledModel) -> np.ndarray:
    """Return time functions (n_fun,) bool that drive angles."""
    system = compiled.system
    out = np.zeros(len(compiled.functions), bool)
    driven = system.driven
    out[driven.functions[system.system.kind[driven.dofs] == S.ROTATION]] = True
    for block in system.blocks:
        if block.type.multipliers and block.type.angular and "function" in block.type.par:
            index = block.par[:, block.type.column("function")].astype(int)
            out[index[index >= 0]] = True
    return out


def _least_strain_rates(K, M, G, rates, c, free, held) -> np.ndarray | None:
    """Return velocities of the free dofs with the least v.K v, and among those little kinetic energy.

    Proximal-point iteration, min v.K v + (v - v_k).M (v - v_k) from v_0 = 0: each iteration reduces the weight of the
    masses against the strains, so that slender parts move as rigidly as they can.  Return None where there is no least
    value, since springs under load in a mechanism can have negative stiffness.
    """
    W = K + M
    saddle = constrained(W[free][:, free], G)
    v = np.zeros(free.size)
    first = 0.0
    for _ in range(200):
        last = v
        whole = np.zeros(K.shape[0])
        whole[free], whole[held] = v, rates[held]
        v, _ = saddle.solve((M @ whole)[free] - W[free][:, held] @ rates[held], c)
        change = np.abs(v - last).max(initial=0.0)
        first = first or change
        if not change <= 1e3 * first:
            return None
        if change <= 1e-13 * np.abs(v).max(initial=0.0):
            break
    return v


def _speed_rows(compiled: CompiledModel, first: int):
    """Return rows (n, first) and values of the speeds that the user gives, rotations as spatial spins."""
    system = compiled.system
    rows = lil_matrix((len(compiled.model.initial_speeds), first))
    values = np.zeros(rows.shape[0])
    for i, speed in enumerate(compiled.model.initial_speeds):
        values[i] = speed.value
        if speed.coordinate is not None:
            rows[i, system.offset[speed.node] + speed.coordinate] = 1.0
            continue
        for node, sign in ((speed.node, 1.0), (speed.against, -1.0)):
            if node >= 0:
                for k, c in enumerate(speed.axis):
                    rows[i, system.offset[node] + system.dimension + k] = sign * c
    return rows.tocsr(), values


def consistent_velocities(
    compiled: CompiledModel, state: S.State, t: float, spin: Spin | None = None, current: bool = False
) -> StartReport:
    """Fill V[0] and DD[0] with velocities that satisfy joints and motions; return what was done.

    ``spin``: a steady rotation on top of the given velocities; ``current``: those of the state are projected, not those
    that the model gives for its start.

    Raises:
        ModelError: joints and motions contradict each other (a mechanism that cannot move as driven), or velocities
            given "as they are", or the rotation, do not fit.
    """
    model, system = compiled.model, compiled.system
    s = system.system
    first = system.first_multiplier
    state.U[:] = 0.0  # kernels are asked at one state: no increment of an earlier static step
    for a in (state.Q, state.D):
        a[1] = a[0]
    jets = function_jets(compiled, t)
    wanted = spatial_axes(system, state, state.V[0])[:first] if current else given_velocities(compiled)[:first]
    if spin is not None:
        wanted += _spinning(system, state, spin)[:first]
        angular = _angular_functions(compiled)
        jets[angular, 1] = spin.of_step(jets[angular, 1])
    wanted[s.states] = 0.0  # they follow below
    run = None if current else run_of(compiled, started(compiled, state))
    if run is not None:
        if spin is not None:
            raise ModelError(
                "the whole model turns steadily, so nothing of it can start running",
                owner=Owner("Running", run.bodies[0]),
                remedy=f"remove it, or {spin.owner}",
            )  # fmt: skip
        wanted += run.field
    given = spin is not None or current or bool(model.initial_velocities) or run is not None
    held = ~system.movable
    rates = np.zeros(first)
    rates[system.driven.dofs] = jets[system.driven.functions, 1]
    # g_t by a symmetric difference in the function values: exact for constraints linear in them
    step, start = 1e-6, started(compiled, state)
    later, earlier = (started(compiled, state, jets[:, 0] + d * jets[:, 1]).gaps for d in (step, -step))
    g_t = (later - earlier) / (2.0 * step)
    G = start.gradients[:, :first]
    g_t = np.concatenate((g_t, np.zeros(G.shape[0] - g_t.size)))
    if model.initial_speeds and not current:
        rows, values = _speed_rows(compiled, first)
        G, g_t = vstack((G, rows)).tocsr(), np.concatenate((g_t, -values))
    if run is not None:
        G, g_t = vstack((G, run.rows)).tocsr(), np.concatenate((g_t, -run.values(wanted)))
    method = "projection" if current else model.initial_method
    moving = bool(np.any(rates) or np.any(g_t))
    if method == "auto":
        method = "projection" if given and run is None else "strain-free"
    v = wanted.copy()
    if method == "given":
        v[held] = np.where(np.abs(v[held]) > 0.0, v[held], rates[held])
        v = _with_ways(compiled, G, g_t, v)
    elif moving or given:
        v[held] = rates[held]
        if run is None:
            v, method = _solved(start, unloaded(compiled, state), model.initial_method, method, v, held, G, g_t)
        else:
            u, asked = v - wanted, model.initial_method

            def solved(rows: int) -> tuple[np.ndarray, str]:
                """Return velocities (first,) that fulfil the first rows, departing least from those wanted."""
                g = g_t[:rows] + G[:rows] @ wanted
                change, how = _solved(start, start, asked, method, u.copy(), held, G[:rows], g, run.stiff)
                return wanted + change, how

            v, method = rolling_velocities(start, run, solved, held, G, g_t)
    # (what a projection leaves of velocities is round-off of them)
    before, more = float(np.abs(wanted).max(initial=0.0)) if current else 0.0, run.names if run is not None else []
    _check_velocities(compiled, G, g_t, v, rates, held, before, more)
    if run is None and spin is None and not current:
        check_effects(compiled, v, wanted, start.M.diagonal()[:first], method)
    changed = np.abs(v - wanted)
    changed[system.offset[model.building.path_nodes]] = 0.0  # whose rates nobody gives
    change = float(changed.max(initial=0.0)) if given else 0.0
    if spin is not None and change > 1e-6 * max(float(np.abs(wanted).max()), 1e-300):
        dof = int(changed.argmax())
        raise ModelError(
            f"the model cannot turn as a whole: {system.name_of(dof)} would have the velocity "
            f"{wanted[dof]:.6g}, but joints, supports and motions allow {v[dof]:.6g}",
            owner=spin.owner,
            remedy="hold it by joints that turn about the axis, free or driven with its speed",
        )
    state.V[0, :first] = v
    state.V[1:] = 0.0
    state.V[0] = body_axes(system, state, state.V[0])
    director_velocities(system, state)
    if s.states.size:
        state.V[0, s.states] = state_rates(started(compiled, state, jets[:, 0]))[s.states]
    turning = spin and SpinReport(speed=spin.speed, speed_of_the_steps=float(spin.of_step(spin.speed)))
    missing = None if run is None else _missing_power(compiled, state, jets[:, 0])
    return StartReport(method=method, largest_change=change, spin=turning, missing_power=missing)


def _missing_power(compiled: CompiledModel, state: S.State, values: np.ndarray) -> float:
    """Return the power [W] that forces at the start take from the motion, which drives would have to give; constraints
    that do not move have none."""
    here = started(compiled, state, values)
    free = np.flatnonzero(compiled.system.movable)
    r = here.matrices.force(here.control(2.0, mass=1.0), here.functions, state)
    return float(r[free] @ spatial_axes(compiled.system, state, state.V[0])[free])


def _solved(
    start: Tangent, strained: Tangent, asked: str, method: str, v: np.ndarray, held: np.ndarray, G: csr_matrix,
    g_t: np.ndarray, stiff: list[Block] | None = None,
) -> tuple[np.ndarray, str]:  # fmt: skip
    """Return velocities (first,) with G v = -g_t, and the method that gave them.

    Args:
        strained: equations whose stiffness tells what strains.
        asked: method of the model; "auto" takes the projection where there are no least strain rates.
        v: the given velocities; those of ``held`` dofs (first,) bool stay.
        stiff: blocks whose strain rates are least; None: all.

    Raises:
        ModelError: there are no least strain rates, though they were asked for.
    """
    first = v.size
    free, h = np.flatnonzero(~held), np.flatnonzero(held)
    Gf, c = G[:, free], -(g_t + G[:, h] @ v[h])
    M, K = start.M[:first, :first], strained.of_nodes(2.0, joints=0.0, blocks=stiff)
    scale = M.diagonal().max(initial=0.0) or 1.0
    largest = K.diagonal().max(initial=0.0)
    if method == "strain-free":
        weight = _EPS_MASS * (largest / scale if largest else 1.0)
        found = _least_strain_rates(K, weight * M, Gf, v, c, free, h)
        if found is not None:
            v[free] = found
        elif asked == "auto":
            method = "projection"
        else:
            raise ModelError(
                'method = "strain-free" finds no least strain rates, since a part under load at the start has '
                "negative stiffness",
                owner=Owner("Initial velocity"),
                remedy='use "projection"',
            )
    # the projection also takes the last digits out of the least strain rates
    W = M + (1e-12 * (scale / largest if largest else 1.0)) * K
    saddle = constrained(W[free][:, free], Gf)
    for _ in range(2):
        v[free] += saddle.solve(np.zeros(free.size), c - Gf @ v[free])[0]
    return v, method


def _check_velocities(
    compiled: CompiledModel, G: csr_matrix, g_t: np.ndarray, v: np.ndarray, rates: np.ndarray, held: np.ndarray,
    before: float, more: list[str],
) -> None:  # fmt: skip
    """Check that velocities fulfil the constraints, and the rates of what is held or driven; ``before``: size of those
    that they were made of; ``more``: names of the last rows of G.

    Raises:
        ModelError: naming the constraints that contradict each other, or the dof.
    """
    system = compiled.system
    defect = np.abs(G @ v + g_t)
    c = -(g_t + G[:, np.flatnonzero(held)] @ rates[held])
    size = max(float(np.abs(v).max(initial=0.0)), float(np.abs(g_t).max(initial=0.0)), before)
    if not np.isfinite(v).all() or np.any(defect > 1e-6 * size * np.maximum(1.0, abs(G).max() if G.nnz else 1.0)):
        row = int(np.nanargmax(defect)) if defect.size else 0
        names = _contradiction(compiled, G[:, np.flatnonzero(~held)], c, row, more)
        raise ModelError(
            f"{names} contradict each other by {defect[row]:g}",
            owner=Owner("Initial velocity"),
            remedy="the mechanism cannot move as driven",
        )
    off = np.abs(v[held] - rates[held])
    if np.any(off > 1e-9 * size):
        dof = int(np.flatnonzero(held)[int(off.argmax())])
        raise ModelError(
            f"{system.name_of(dof)} is held or driven with {rates[dof]:g}, but {v[dof]:g} is given there",
            owner=Owner("Initial velocity"),
        )


def _with_ways(compiled: CompiledModel, G: csr_matrix, g_t: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return given velocities with the rates of coordinates along lines, which follow from them."""
    system = compiled.system
    ways = system.offset[compiled.model.building.path_nodes]
    ways = ways[system.system.equation[ways] >= 0] if len(ways) else ways
    if not len(ways):
        return v
    v[ways] = 0.0
    v[ways] = np.linalg.lstsq(G[:, ways].toarray(), -(g_t + G @ v), rcond=None)[0]
    return v


def _contradiction(compiled: CompiledModel, G: csr_matrix, c: np.ndarray, row: int, more: list[str]) -> str:
    """Return a text for messages on the constraints that ask for contradictory speeds G v = c (m,), the worst in
    ``row``; ``more``: names of the last rows."""
    speeds = compiled.model.initial_speeds
    system = compiled.system
    equations = np.zeros(system.n_dof - 1 - system.first_multiplier, bool)
    for block in system.blocks:
        if block.type.name.startswith("equation"):
            equations[block.dof[:, block.type.node_dofs :].ravel() - system.first_multiplier] = True
    words = np.where(equations, "equation", "joint")
    names = [f'{word} "{name}"' for word, name in zip(words, constraint_labels(system), strict=True)]
    names += ["coinciding nodes"] * len(compiled.system.system.shared)
    names += [f'the speed of "{speed.place}"' for speed in speeds] + more
    for loop in dependencies(G):
        if len(loop.dependent) and row in loop.rows:
            found = list(dict.fromkeys(names[i] for i in loop.clash(c)))
            if len(found) > 1:
                return f"{', '.join(found[:-1])} and {found[-1]}"
    if row < len(equations) and not np.any(G[[row]].data):
        return f"{names[row]} and the supports or motions of its nodes"
    return f"{names[row]} and the other given speeds"


def initial_accelerations(compiled: CompiledModel, state: S.State, t: float, level: Level | None = None) -> np.ndarray:
    """Return accelerations (N,) at the start, rotations in body axes, from M a + G^T lambda = f - c(v), G a = -(G' v +
    g_tt), under a level of loads; None: the functions at t and the whole weight."""
    model, system = compiled.model, compiled.system
    first = system.first_multiplier
    jets = function_jets(compiled, t)
    level = Level(jets[:, 0].copy(), model.gravity) if level is None else level
    jets[:, 0] = level.values
    for a in (state.Q, state.D, state.V):
        a[1] = a[0]
    state.V[2] = 0.0
    state.U[:] = 0.0
    here = Tangent(system, state, level)
    r = here.matrices.force(here.control(mass=1.0), here.functions, state)
    M = here.M[:first, :first]
    held = ~system.movable
    given = np.zeros(first)
    given[system.driven.dofs] = jets[system.driven.functions, 2]
    G = started(compiled, state).gradients[:, :first]
    gamma = np.zeros(G.shape[0])
    if G.shape[0]:
        speed = max(float(np.abs(state.V[0]).max()), float(np.abs(jets[:, 1]).max(initial=0.0)))
        step = 1e-4 / speed if speed > _STILL else 1e-4
        gamma = (
            _displaced_gaps(compiled, state, jets, step)
            - 2.0 * _displaced_gaps(compiled, state, jets, 0.0)
            + _displaced_gaps(compiled, state, jets, -step)
        ) / step**2
        if any(block.type.nonholonomic for block in system.blocks):  # G' v of nonholonomic constraints
            ahead, back = (_displaced_slides(compiled, state, jets, d) for d in (step, -step))
            gamma += (ahead - back) / (2.0 * step)
        gamma = np.concatenate((gamma, np.zeros(G.shape[0] - gamma.size)))
    free, h = np.flatnonzero(~held), np.flatnonzero(held)
    b = -r[:first][free] - M[free][:, h] @ given[h]
    a = given.copy()
    c = -(gamma + G[:, h] @ given[h])
    a[free], y = constrained(M[free][:, free], G[:, free]).solve(b, c)
    if G.shape[0] and any(block.type.reads for block in system.blocks):
        a[free] = _pressed(here, M, G, b + r[:first][free], c, y, free)
    out = np.zeros(system.n_dof)
    out[:first] = a
    return body_axes(system, state, out)


def multiplier_scales(system: Compiled) -> np.ndarray:
    """Return the scales (n_mult,) of the multipliers: lambda = scale Lambda."""
    first = system.first_multiplier
    scale = np.ones(system.n_dof - 1 - first)
    for block in system.blocks:
        if block.type.multipliers:
            scale[block.dof[:, block.type.node_dofs :] - first] = block.par[:, [block.type.scale]]
    return scale


def _pressed(
    here: Tangent, M: csr_matrix, G: csr_matrix, b: np.ndarray, c: np.ndarray, y: np.ndarray, free: np.ndarray
) -> np.ndarray:
    """Return accelerations (n_free,) where forces depend on the multipliers: M a + f(y) = b, G a = c by Newton's method
    from multipliers y (m,), in their own units; those found go to row 0 of the state.

    Raises:
        ModelError: none are found; friction can hold what its own force presses.
    """
    state, first = here.state, here.compiled.first_multiplier
    scale = multiplier_scales(here.compiled)
    n = scale.size
    trial = here.at(state._replace(U=np.zeros_like(state.U)))
    for _ in range(_PRESSED):
        trial.state.U[first:-1] = y[:n] / scale
        r, A = trial.assemble(trial.control(mass=1.0))
        columns = hstack((A[:first, first:-1] @ diags(1.0 / scale), G[n:].T)).tocsr()[free]
        force = r[:first][free] + G[n:, free].T @ y[n:]
        a, change = constrained(M[free][:, free], G[:, free], columns).solve(b - force, c)
        y = y + change
        if np.abs(change).max(initial=0.0) <= 1e-12 * np.abs(y).max(initial=0.0):
            state.Q[0, first:-1] = y[:n] / scale  # one-state rules book works from both ends of their first step
            return a
    raise ModelError(
        "no accelerations balance it at the start",
        owner=Owner("Friction"),
        remedy=("a joint may jam by its own friction there: take a smaller coefficient, or begin beside this position"),
    )


def multipliers_of(here: Tangent, forces: np.ndarray, columns: csr_matrix | None = None) -> np.ndarray:
    """Return the increments of the multipliers (n_mult,), in the model's scales, that balance forces (n_node_dofs,)
    which are left at a state, where constraints can.

    The rest is least in the sum of its squares, moments over the model's length.

    Args:
        columns: (n_node_dofs, n_mult), in the model's scales: forces of multipliers besides those of the constraints.
    """
    system = here.compiled
    first = system.first_multiplier
    held = ~system.movable
    free = np.flatnonzero(~held)
    scaled = here.gradients[:, free]
    weight = np.where(system.system.kind[free] == S.ROTATION, system.length**2, 1.0)
    scale = multiplier_scales(system)
    if columns is not None:
        shared = csr_matrix((first, scaled.shape[0] - scale.size))
        columns = (scaled.T + hstack((columns @ diags(1.0 / scale), shared)).tocsr()[free]).tocsr()
    # unknowns without constraints take no part
    acted = np.bincount(scaled.indices, minlength=free.size) > 0
    if columns is not None:
        acted |= np.diff(columns.indptr) > 0
    some = np.flatnonzero(acted)
    if not some.size:
        return np.zeros(scale.size)
    scaled, columns = scaled[:, some], None if columns is None else columns[some]
    saddle = constrained(diags(weight[some]).tocsr(), scaled, columns)
    y = saddle.solve(-forces[free[some]], np.zeros(scaled.shape[0]))[1]
    return y[: scale.size] / scale


def start_rule(compiled: CompiledModel, state: S.State, t: float, h: float, weights: Weights) -> None:
    """Fill past[2:] with the memory of Newmark's family, and shift the velocities of its damped members by O(h^2).

    The algorithmic acceleration is dv/dt at a time (am - af) h later.  Constraints at the end of the steps bind the
    velocities to values that differ from true ones by the O(h^2) of Newmark's formulas.  A start with true ones makes
    the multipliers oscillate with O(h) until the rule has damped that (Arnold, Bruels & Cardona 2015,
    doi:10.1007/s00211-014-0633-1).  So the normal part of the velocities is shifted at the start, by the constraint
    error of the first step, computed from the step itself.  Nothing is shifted where the start is not smooth, that is
    where the acceleration changes by more than itself in a step (unresolved vibrations), nor for Newmark's rule itself.
    """
    system = compiled.system
    s = system.system
    first, start = system.first_multiplier, started(compiled, state)
    M = start.M[:first, :first]  # keeps the pattern for what follows
    a = initial_accelerations(compiled, state, t)
    if s.states.size:
        a[s.states] = state_accelerations(compiled, state, t, 0.05 * h, a)
    state.past[2:] = a
    if weights.am == weights.af:
        return
    tiny = 0.05 * h  # longer than the differences in which accelerations are taken
    jerk = (initial_accelerations(compiled, _displaced(compiled, state, tiny, a), t + tiny) - a) / tiny
    if not h * np.abs(jerk).max() <= np.abs(a).max():
        return
    state.past[2] += (weights.am - weights.af) * h * jerk
    u = h * state.V[0] + h * h * (0.5 * state.past[2] + weights.beta * h * jerk)
    trial = _turned(compiled, state, u)
    values = function_jets(compiled, t + h)[:, 0]
    missed = started(compiled, trial, values).gaps
    held = ~system.movable
    shift = np.zeros(first)
    driven = system.driven
    step = s.driven_reference + values[driven.functions] - state.Q[0, driven.dofs]
    step = np.where(s.kind[driven.dofs] == S.POSITION, step, 2.0 * np.tan(0.5 * step))
    shift[driven.dofs] = (step - u[driven.dofs]) / h
    free, fixed = np.flatnonzero(~held), np.flatnonzero(held)
    G = start.gradients[:, :first]
    missed = np.concatenate((missed, np.zeros(G.shape[0] - missed.size)))
    shift[free], _ = constrained(M[free][:, free], G[:, free]).solve(
        -M[free][:, fixed] @ shift[fixed], -missed / h - G[:, fixed] @ shift[fixed]
    )
    whole = np.zeros(system.n_dof)
    whole[:first] = shift
    state.V[0] += body_axes(system, state, whole)
    director_velocities(system, state)


def _turned(compiled: CompiledModel, state: S.State, u: np.ndarray) -> S.State:
    """Return a copy of a state with displacements and Cayley vectors in body axes u (N,) added."""
    trial = moved(compiled.system, state, spatial_axes(compiled.system, state, u))
    trial.V[:], trial.DD[:] = state.V, state.DD
    return trial


def _displaced(compiled: CompiledModel, state: S.State, step: float, a: np.ndarray) -> S.State:
    """Return a copy of a state after ``step`` [s] of constant accelerations a (N,), rotations in body axes."""
    rows = compiled.system.system.rotations
    u = step * (state.V[0] + 0.5 * step * a)
    if rows.size:
        half = 0.5 * np.linalg.norm(u[rows], axis=1, keepdims=True)
        # the Cayley vector of this rotation
        u[rows] *= np.where(half != 0.0, np.tan(half) / np.where(half != 0.0, half, 1.0), 1.0)
    trial = _turned(compiled, state, u)
    trial.V[0] += step * a
    return trial


def state_accelerations(compiled: CompiledModel, state: S.State, t: float, step: float, a: np.ndarray) -> np.ndarray:
    """Return second derivatives (n_states,) by time of the state variables, by a difference over ``step`` [s] of motion
    with accelerations a (N,)."""
    states = compiled.system.system.states
    later = _displaced(compiled, state, step, a)
    director_velocities(compiled.system, later)
    values = function_jets(compiled, t + step)[:, 0]
    return (state_rates(started(compiled, later, values))[states] - state.V[0, states]) / step


def _displaced_slides(compiled: CompiledModel, state: S.State, jets: np.ndarray, step: float) -> np.ndarray:
    """Return G v (n_mult,) of nonholonomic constraints after a motion of constant velocity and spin over ``step``
    [s]."""
    trial = _displaced(compiled, state, step, np.zeros(compiled.system.n_dof))
    trial.V[1] = trial.V[0]
    return started(compiled, trial, jets[:, 0] + step * jets[:, 1]).slides


def _displaced_gaps(compiled: CompiledModel, state: S.State, jets: np.ndarray, step: float) -> np.ndarray:
    """Return gaps (n_mult,) of constraints after a motion of constant velocity and spin over ``step``."""
    trial = _displaced(compiled, state, step, np.zeros(compiled.system.n_dof))
    values = jets[:, 0] + step * jets[:, 1] + 0.5 * step**2 * jets[:, 2]
    return started(compiled, trial, values).gaps
