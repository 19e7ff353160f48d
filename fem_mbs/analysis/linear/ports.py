"""Inputs and outputs of linear models: effects of loads and drivers on the equations, and sensors in small motions.

Derivatives are those of the compiled forces and outputs; non-linear ones are computed by differences of order 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.sparse import block_diag, csr_matrix

from fem_mbs import contract as C
from fem_mbs.analysis.linear.sensors import slope
from fem_mbs.analysis.loading import chosen, reference_rates, references, without_rates
from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.model import CompiledModel
from fem_mbs.solvers.stepping import layout as S
from fem_mbs.system.compiled import Compiled
from fem_mbs.system.states import body_axes, director_velocities
from fem_mbs.system.tangent import Tangent

__all__ = ["Inputs", "Outputs", "check_outputs", "directions", "inputs_of", "inputs_of_groups", "outputs_of"]

_STEP = 1e-3  # of differences: radians, and over the model's length


class SmallMotions(Protocol):
    """The interface of a model linear about a state, at rest or moving, that inputs and outputs use.

    ``frame``: "fixed" or "rotating", that of the increments; ``constraints`` (m, N) over all dofs.
    """

    compiled: CompiledModel
    system: Compiled
    state: S.State
    first: int
    frame: str

    @property
    def speed(self) -> float:
        """Return a scale of the angular velocities in the state [rad/s]; 1 at rest."""

    @property
    def tangent(self) -> Tangent:
        """Return the equations over all dofs, in the fixed frame."""

    @property
    def constraints(self) -> csr_matrix:
        """Return the constraints (m, N) over all dofs."""

    def force(self) -> np.ndarray:
        """Return the forces (N,) that are out of balance at the state."""

    def moved(self, u: np.ndarray) -> S.State:
        """Return the state moved by increments u (N,)."""

    def turning(self) -> csr_matrix:
        """Return P (N, N): velocities of increments that turn with the frame."""

    def whole(self) -> tuple[csr_matrix, csr_matrix, csr_matrix]:
        """Return M, C and K over all dofs (N, N), in the frame."""


# --- inputs ----------------------------------------------------------------------------------------------------------
@dataclass
class Inputs:
    """Forces (N, m), right sides ``gap`` (rows, m) of the constraints and values ``place`` (N, m) of driven dofs, per
    unit of each input; ``order`` (m,): 0 its value, 1, 2 its first and second derivative; ``shifts`` (m,): what changes
    functions and the weight by the value."""

    names: list[str]
    force: np.ndarray
    gap: np.ndarray
    place: np.ndarray
    order: np.ndarray
    shifts: list


def directions(compiled: CompiledModel, name: str) -> np.ndarray:
    """Return factors (n_fun,) of the functions by which a load or motion excites: components of a base excitation."""
    out = np.ones(len(compiled.loads))
    for base in compiled.model.building.shakings:
        if name == base.name:
            for index in base.functions.values():
                out[index] = compiled.functions[index].factor
    return out


def inputs_of(lin: SmallMotions, names: str | Sequence[str], owner: str) -> Inputs:
    system, compiled = lin.system, lin.compiled
    names = [names] if isinstance(names, str) else list(names)
    columns: list[tuple] = []
    m = lin.constraints.shape[0]
    for name in names:
        mask, weight = chosen(compiled, [name], owner, "inputs", motions=True, controlled=True)
        unit = without_rates(compiled, mask * directions(compiled, name))
        moves = unit * ~np.asarray(compiled.loads, bool)
        step = _STEP if moves.any() else 0.5  # the model is linear in loads

        def shifted(c: float, rate: float = 0.0, unit=unit, weight=weight, step=step):
            return _Shift(unit * c * step, unit * rate, c * step if weight else 0.0)

        jump = _difference(lambda c, f=shifted: _force(lin, f(c)), step)
        place = np.zeros(system.n_dof)
        if len(system.driven.dofs):
            place[np.asarray(system.driven.dofs, int)] = unit[np.asarray(system.driven.functions, int)]
        gap = np.zeros(m)
        gap[: system.n_dof - 1 - lin.first] = -jump[lin.first : -1]
        force = -jump
        force[lin.first :] = 0.0
        columns.append((name, force, gap, place, 0, shifted))
        columns += _of_rates(lin, name, unit)
        if not _driven(compiled, moves).any():
            continue
        rate = _force(lin, shifted(0.0, 0.5)) - _force(lin, shifted(0.0, -0.5))
        rate[lin.first :] = 0.0
        columns.append((f"{name}'", -rate, 0.0 * gap, 0.0 * place, 1, None))
        columns.append((f"{name}''", 0.0 * rate, 0.0 * gap, 0.0 * place, 2, None))
    if not columns:
        none = np.zeros((system.n_dof, 0))
        return Inputs([], none, np.zeros((m, 0)), none, np.zeros(0, int), [])
    names, force, gap, place, order, shifts = zip(*columns, strict=True)
    force, gap, place = (np.column_stack(a) for a in (force, gap, place))
    return Inputs(list(names), force, gap, place, np.array(order), list(shifts))


def _driven(compiled: CompiledModel, values: np.ndarray) -> np.ndarray:
    """Return changes of functions (n_fun,) without those of controllers' references, which move nothing themselves."""
    out = values.copy()
    for functions in references(compiled).values():
        out[[i for i in functions if i >= 0]] = 0.0
    return out


def _of_rates(lin: SmallMotions, name: str, values: np.ndarray) -> list[tuple]:
    """Return the columns of the rates of controllers' references that change by ``values`` (n_fun,) per unit."""
    rates = reference_rates(lin.compiled, values)
    size = float(np.abs(rates).max(initial=0.0))
    if size == 0.0:
        return []

    def shifted(c: float) -> _Shift:
        return _Shift(rates * (c * _STEP / size), 0.0 * rates, 0.0)

    force = -_difference(lambda c: _force(lin, shifted(c)), _STEP / size)
    force[lin.first :] = 0.0
    none = np.zeros(lin.constraints.shape[0]), np.zeros(lin.system.n_dof)
    return [(f"{name}'", force, *none, 1, shifted)]


def inputs_of_groups(lin: SmallMotions, groups: list[tuple[str, np.ndarray, float]]) -> Inputs:
    """Return inputs that change several functions in proportion.

    Args:
        groups: name, changes (n_fun,) of the functions and of the factor of the weight per unit.

    Each input has its value (order 0) and, where it moves driven dofs, its rate (order 1).
    """
    loads = np.asarray(lin.compiled.loads, bool)
    driven = lin.system.driven
    columns: list[tuple] = []
    for name, values, weight in groups:
        moves = bool((values[~loads] != 0.0).any())
        step = _STEP / max(np.abs(values).max(initial=0.0), 1e-300) if moves else 0.5

        def shifted(c: float, rate: float = 0.0, values=values, weight=weight, step=step):
            return _Shift(values * c * step, values * rate, weight * c * step)

        jump = _difference(lambda c, f=shifted: _force(lin, f(c)), step)
        place = np.zeros(lin.system.n_dof)
        if len(driven.dofs):
            place[np.asarray(driven.dofs, int)] = values[np.asarray(driven.functions, int)]
        gap = np.zeros(lin.constraints.shape[0])
        gap[: lin.system.n_dof - 1 - lin.first] = -jump[lin.first : -1]
        force = -jump
        force[lin.first :] = 0.0
        columns.append((name, force, gap, place, 0, shifted))
        columns += _of_rates(lin, name, values)
        if _driven(lin.compiled, values * ~loads).any():
            rate = _force(lin, shifted(0.0, 0.5)) - _force(lin, shifted(0.0, -0.5))
            rate[lin.first :] = 0.0
            columns.append((f"{name}'", -rate, 0.0 * gap, 0.0 * place, 1, None))
    n = (lin.system.n_dof, lin.constraints.shape[0], lin.system.n_dof)
    names, force, gap, place, order, shifts = zip(*columns, strict=True) if columns else ((),) * 6
    arrays = [np.column_stack(a) if a else np.zeros((k, 0)) for a, k in zip((force, gap, place), n, strict=True)]
    return Inputs(list(names), *arrays, np.array(order, int), list(shifts))


@dataclass
class _Shift:
    """Changes of function values (n_fun,), of their rates, and of the factor of the weight."""

    values: np.ndarray
    rates: np.ndarray
    weight: float


def _control(lin: SmallMotions, shift: _Shift | None) -> tuple[np.ndarray, np.ndarray]:
    """Return control values and functions (n_fun, 3) of an evaluation with changed inputs."""
    ctl, fun = lin.tangent.control(2.0, mass=1.0), lin.tangent.functions.copy()
    if shift is not None:
        g = shift.weight * np.asarray(lin.compiled.model.gravity, float)
        ctl[C.GX : C.GX + g.size] += g
        n = shift.values.size
        fun[:n] += shift.values[:, None]
        # over the unit step of the control values a rate is a difference of both ends
        fun[:n, C.T0] -= 0.5 * shift.rates
        fun[:n, C.T1] += 0.5 * shift.rates
    return ctl, fun


def _force(lin: SmallMotions, shift: _Shift) -> np.ndarray:
    ctl, fun = _control(lin, shift)
    return lin.tangent.matrices.force(ctl, fun, lin.state)


def _difference(f, step: float) -> np.ndarray:
    """Return the derivative of f(c), by steps c = 1 of size ``step``, of order 4."""
    return (8.0 * (f(1.0) - f(-1.0)) - (f(2.0) - f(-2.0))) / (12.0 * step)


# --- outputs ---------------------------------------------------------------------------------------------------------
@dataclass
class Outputs:
    """Derivatives of outputs (k,) by displacements q, velocities v, accelerations a (k, N), multipliers y (k, rows),
    inputs (k, m) and ``force`` (k, N) of further parts on the dofs, sparse; ``start`` (k,) values; ``derivatives``
    (k,): how often they are to be derived by time; ``sizes``: one slice of rows per sensor that is the length of a
    vector; the rows are the components of the vector, and ``names`` has one name for all of them."""

    names: list[str]
    start: np.ndarray
    derivatives: np.ndarray
    q: csr_matrix
    v: csr_matrix
    a: csr_matrix
    y: csr_matrix
    u: csr_matrix
    force: csr_matrix
    sizes: list[slice]


def check_outputs(compiled: CompiledModel, names: str | Sequence[str], owner: str) -> list[tuple]:
    """Return sensor and number of time derivatives of outputs, from their names with a prime for each derivative.

    Raises:
        ModelError: there is no such sensor, it is not linear in small motions, or has too many primes.
    """
    sensors = {s.name: s for s in compiled.sensors}
    found = []
    for name in names:
        plain = name.rstrip("'")
        primes = len(name) - len(plain)
        sensor = sensors.get(plain)
        if sensor is None:
            there = f"there are {', '.join(sensors)}" if sensors else "there are none"
            raise ModelError(f'sensors: there is no sensor "{name}"', owner=owner, remedy=f"{there}")
        if sensor.nonlinear:
            raise ModelError(
                f'sensors: "{plain}": {sensor.kind} is not linear in small motions', owner=owner, remedy="remove it"
            )
        if primes > 2:
            raise ModelError(
                f"sensors: {shown(name)} is derived {primes} times", owner=owner, remedy="take at most two"
            )
        found.append((sensor, primes))
    return found


def outputs_of(
    lin: SmallMotions, names: str | Sequence[str], given: Inputs, owner: str, vectors: bool = False
) -> Outputs:
    """Return derivatives of sensors.

    The length of a vector that is zero in the state has no derivative.  With ``vectors`` such a sensor gets the
    derivatives of the vector, else it is refused.

    Raises:
        ModelError: an unknown sensor, or one without derivatives.
    """
    names = [names] if isinstance(names, str) else list(names)
    wanted, labels, derivatives, slopes, start, sizes = [], [], [], [], [], []
    record = lin.system.system.record
    for sensor, primes in check_outputs(lin.compiled, names, owner):
        rows = np.arange(sensor.first, sensor.last)
        wanted.append((sensor, rows))
        labels += [f"{column}{chr(39) * primes}" for column in sensor.columns]
        derivatives += [primes] * len(sensor.columns)
    rows = np.concatenate([r for _, r in wanted]) if wanted else np.zeros(0, int)
    rates = np.repeat([s.rate for s, _ in wanted], [len(r) for _, r in wanted]).astype(bool)
    values, by = _records(lin, record[rows], given, rates)
    at = row = 0
    length = lin.system.length
    for sensor, own in wanted:
        here = values[at : at + own.size]
        derivative, value, vanishes = slope(sensor, here, record[own], length)
        if vanishes and not vectors:
            raise ModelError(
                f'sensors: "{sensor.name}" ({sensor.kind}) is the length of a vector that is zero in this state, '
                "where it has no derivative",
                owner=owner,
                remedy="take sensors of components (displacement, rotation), or harmonic response",
            )
        if vanishes:
            sizes.append(slice(row, row + len(derivative)))
        slopes.append(csr_matrix(derivative))
        start.append(value)
        at, row = at + own.size, row + len(derivative)
    if not wanted:
        by = [a[:0] for a in by]
        return Outputs([], np.zeros(0), np.zeros(0, int), *by, [])
    J = csr_matrix(block_diag(slopes))
    return Outputs(labels, np.concatenate(start), np.array(derivatives), *(csr_matrix(J @ a) for a in by), sizes)


def _records(
    lin: SmallMotions, record: np.ndarray, given: Inputs, rates: np.ndarray
) -> tuple[np.ndarray, list[csr_matrix]]:
    """Return the recorded values (r,) that sensors read, and their derivatives by q, v, a (r, N), multipliers (r,
    rows), inputs and forces of further parts (r, N); where ``rates`` (r,) is set, derivatives of the rates of places
    and velocities."""
    system, state, N = lin.system, lin.state, lin.system.n_dof
    m, nu, r = lin.constraints.shape[0], len(given.names), len(record)
    n_y = N - 1 - lin.first
    kind, index = record.reshape(-1, 2).T
    values = np.zeros(r)
    by = [np.zeros((r, n)) for n in (N, N, N, m, nu, N)]
    rotations = system.system.rotations
    # positions, and rotations of the plane
    some = np.flatnonzero(kind == S.REC_Q)
    values[some] = state.Q[0, index[some]]
    by[0][some, index[some]] = 1.0
    some = np.flatnonzero(kind == S.REC_V)
    values[some] = state.V[0, index[some]]
    R = np.zeros((0, 3, 3))
    if rotations.size and system.dimension == 3:
        R = state.D[0, : len(rotations)].reshape(-1, 3, 3)
    where = {int(dof): (i, k) for i, row in enumerate(rotations) for k, dof in enumerate(row)} if len(R) else {}
    for i in some:
        node = where.get(int(index[i]))
        if node is None:
            by[1][i, index[i]] = 1.0
        else:  # in body axes: dW = R^T phi'
            by[1][i, rotations[node[0]]] = R[node[0]][:, node[1]]
    # directors: dR = [phi]_x R
    width = state.D.shape[2]
    for i in np.flatnonzero(kind == S.REC_D):
        row, k = divmod(int(index[i]), width)
        values[i] = state.D[0, row, k]
        if width == 2:
            by[0][i, rotations[row, 0]] = -state.D[0, row, 1] if k == 0 else state.D[0, row, 0]
        else:
            unit = np.eye(3)[k // 3]
            by[0][i, rotations[row]] = np.cross(R[row][:, k % 3], unit)
    by[2][rates], by[1][rates], by[0][rates] = by[1][rates], by[0][rates], 0.0
    some = np.flatnonzero(kind == S.REC_REACTION)
    if some.size:
        values[some] = lin.force()[index[some]]
        for j, A in enumerate(reversed(lin.whole())):
            by[j][some] = A[index[some]].toarray()
        by[3][some, :n_y] = by[0][some][:, lin.first : -1]
        by[0][some, lin.first :] = 0.0
        by[4][some] = -given.force[index[some]]
        by[5][some, index[some]] = 1.0
    _element_records(lin, kind, index, given, values, by)
    if lin.frame == "rotating":
        P = lin.turning()
        free = kind != S.REC_REACTION  # whose matrices are those of the frame
        # x' = q' + P q, x'' = q'' + 2 P q' + P P q
        by[0][free] += by[1][free] @ P + by[2][free] @ P @ P
        by[1][free] += 2.0 * (by[2][free] @ P)
    return values, [csr_matrix(a) for a in by]


def _element_records(lin: SmallMotions, kind, index, given: Inputs, values: np.ndarray, by: list) -> None:
    """Fill in outputs of single elements and their derivatives, by differences."""
    wanted = np.flatnonzero(kind == S.REC_OUT)
    for number, block in enumerate(lin.system.blocks):
        width = len(block.type.outputs)
        place = index[wanted] - block.first_output
        own = (place >= 0) & (place < block.size * width)
        if own.any():
            _block_records(lin, number, wanted[own], *np.divmod(place[own], width), given, values, by)


def _block_records(
    lin: SmallMotions, number: int, rows: np.ndarray, element: np.ndarray, column: np.ndarray, given: Inputs,
    values: np.ndarray, by: list,
) -> None:  # fmt: skip
    """Fill in the rows (k,) of outputs, by their ``column``, of elements of the block with a number.

    An element depends on its own dofs alone, so all elements of a group that share none are moved at once, and all
    their outputs are taken from one evaluation.
    """
    system, N = lin.system, lin.system.n_dof
    block = system.blocks[number]
    elements, which = np.unique(element, return_inverse=True)
    positions = np.zeros(N, bool)
    positions[system.system.positions] = True

    def table(**change) -> np.ndarray:
        return _report(lin, number, elements, **change)

    values[rows] = table()[which, column]
    dofs = [np.setdiff1d(block.dof[e], system.dummy) for e in elements]

    def differentiate(slot: int, letter: str, at: np.ndarray, steps: np.ndarray, members: np.ndarray) -> None:
        """Fill in derivatives by the dofs ``at`` (m,) of the elements ``members`` (m,), with steps of differences."""

        def moved(c: float) -> np.ndarray:
            d = np.zeros(N)
            d[at] = c * steps
            return table(**{letter: d})

        slopes = _difference(moved, 1.0)[members] / steps[:, None]
        place = np.full(len(elements), -1)
        place[members] = np.arange(len(members))
        own = np.flatnonzero(place[which] >= 0)
        k = place[which[own]]
        by[slot][rows[own], at[k] - (lin.first if letter == "y" else 0)] = slopes[k, column[own]]

    for group in _apart(dofs):
        for p in range(max(len(dofs[k]) for k in group)):
            members = np.array([k for k in group if p < len(dofs[k])])
            at = np.array([dofs[k][p] for k in members])
            pressed = at >= lin.first
            if pressed.any():
                differentiate(3, "y", at[pressed], np.ones(pressed.sum()), members[pressed])
            at, members = at[~pressed], members[~pressed]
            if not at.size:
                continue
            sizes = (_STEP * np.where(positions[at], system.length, 1.0), max(lin.speed, 1.0), 1.0)
            for slot, (letter, size) in enumerate(zip("uva", sizes, strict=True)):
                if letter != "a" or block.type.sections:
                    differentiate(slot, letter, at, np.broadcast_to(size, at.shape), members)
    for j, shifted in enumerate(given.shifts):
        if shifted is not None:
            scale = np.abs(shifted(1.0).values).max(initial=0.0) or shifted(1.0).weight
            by[4][rows, j] = _difference(lambda c, f=shifted: table(shift=f(c)), scale)[which, column]


def _apart(dofs: Sequence[np.ndarray]) -> list[list[int]]:
    """Return groups of elements, by their numbers, such that no two of a group have one of their dofs in common."""
    groups: list[list[int]] = []
    taken: list[set[int]] = []
    for k, own in enumerate(dofs):
        mine = set(own.tolist())
        g = next((g for g, others in enumerate(taken) if not mine & others), len(groups))
        if g == len(groups):
            groups.append([])
            taken.append(set())
        groups[g].append(k)
        taken[g] |= mine
    return groups


def _report(lin: SmallMotions, number: int, elements: np.ndarray, u=None, v=None, a=None, y=None, shift=None):
    """Return the outputs (k, n_out) of elements (k,) of a block where the state is moved by u, velocities by v,
    accelerations by a and multipliers by y, (N,) each."""
    system = lin.system
    state = lin.state
    if u is not None or v is not None or a is not None or y is not None:
        state = lin.moved(np.zeros(system.n_dof) if u is None else u)
        if y is not None:
            state.U[:] += y
        state.V[:] = lin.state.V
        if v is not None:
            state.V[:2] += body_axes(system, lin.state, v)
        if a is not None:
            state.V[2] += body_axes(system, lin.state, a)
        director_velocities(system, state)
    ctl, fun = _control(lin, shift)
    runs = np.split(elements, np.flatnonzero(np.diff(elements) > 1) + 1)
    return np.concatenate([system.outputs(number, ctl, fun, state, int(r[0]), int(r[-1]) + 1) for r in runs])
