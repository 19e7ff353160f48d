"""Small motions about the present state of a run, at rest or moving: matrices, complex modes, frames of shapes.

The state is an equilibrium, an instant of a motion (its coefficients are then frozen), or, with a rotor, the state in
which the rotor turns steadily.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import lsqr

from fem_mbs.analysis.end_state import EndState
from fem_mbs.analysis.rotors.rotating import constant_frames, rotation_in_frame, rotation_of, steady_rotation
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.analysis.stability.rotation import Rotation, outside_tables
from fem_mbs.analysis.transient.watch import out_of_range
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.model.parts.rotors import Rotor
from fem_mbs.solvers.eigen.complex_modes import ComplexModes, complex_modes
from fem_mbs.solvers.eigen.modal_quantities import lost_to_rotation
from fem_mbs.solvers.stepping import layout as S

if TYPE_CHECKING:
    from fem_mbs.analysis.context import RunContext
    from fem_mbs.analysis.linear.linearised import Linearised

__all__ = [
    "Selection", "complex_frames", "find_modes", "linearised", "modes_of", "scaled_frames", "selection", "upper_rows",
]  # fmt: skip

_BALANCED = 1e-6  # of the largest force of an element: what a state may leave out of balance
_STARTS = "velocities of the start come with the first transient; the state is at rest"
_SHAPE = 0.1  # largest displacement of a shape over the model's length


# --- the state -------------------------------------------------------------------------------------------------------
def _mean_speed(system, state: S.State, rotation: Rotation) -> float:
    """Return the speed [rad/s] with which nodes turn about an axis, from their velocities weighted by squared
    distances, and from their spins."""
    dim, nodes = system.dimension, rotation.nodes
    place = system.offset[: nodes.size][nodes][:, None] + np.arange(dim)
    arm, v = np.zeros((2, len(place), 3))
    arm[:, :dim], v[:, :dim] = state.Q[0, place] - rotation.point, state.V[0, place]
    way = np.cross(rotation.axis, arm)
    work, size = np.vdot(way, v), np.vdot(way, way)
    turning = np.flatnonzero(nodes & system.nodes.rotational)
    length = system.length
    if turning.size and dim == 2:
        work += length**2 * state.V[0, system.offset[turning] + 2].sum()
        size += length**2 * turning.size
    elif turning.size:
        R = state.D[0, system.rot_row[turning]].reshape(-1, 3, 3)
        W = state.V[0, system.offset[turning][:, None] + 3 + np.arange(3)]
        work += length**2 * np.einsum("i,nij,nj->", rotation.axis, R, W)
        size += length**2 * turning.size
    return float(work / size) if size > 0.0 else 0.0


def _refuse_turning_load(end: EndState, rotor: Rotor) -> None:
    """Refuse a centrifugal load that acts while a rotor turns.

    Raises:
        ModelError: naming the load.
    """
    frame = end.compiled.model.building.rotating
    if frame is not None and end.loading.factors[frame.function] * float(frame.law(np.float64(end.time))) != 0.0:
        raise ModelError(
            f'centrifugal load "{frame.name}" would count twice, since the rotor turns here',
            owner=rotor.owner,
            remedy="remove the load, or let a transient with its spin come before",
        )


def linearised(
    end: EndState, rotor: Rotor | None = None, speed: float | None = None, frame: str = "auto", blades: bool = False
) -> tuple[Linearisation, list[str]]:
    """Return small motions about a state, in the requested frame, and sentences on them.

    Args:
        rotor: the state is the steady rotation nearest to that, with ``speed`` [rad/s] (None: as it turns there).
        frame: as of `choose_frame`, or "periodic": seen from the fixed frame, whatever the coefficients.
        blades: "multi-blade" may be chosen.

    Raises:
        ModelError, AnalysisError: the state cannot be linearised, or not with constant coefficients.
    """
    compiled, system = end.compiled, end.compiled.system
    if rotor is not None:
        _refuse_turning_load(end, rotor)
        rotation, warnings = rotation_of(compiled, rotor, speed or 0.0), []
        if speed is None:
            rotation = rotation.at(_mean_speed(system, end.state, rotation))
            if not rotation.speed and not end.started and compiled.model.starts_moving:
                warnings.append(_STARTS)
        warnings += outside_tables(system, rotation, [rotation.speed])
        if frame != "periodic":
            lin = rotation_in_frame(compiled, end.state, rotation, end.time, end.loading, frame, blades)
            return lin, warnings + out_of_range(system, lin.state)
        lin = steady_rotation(compiled, end.state, rotation, end.time, end.loading)
        if rotation.speed == 0.0:
            raise ModelError('frame = "periodic" needs a speed', owner=rotation.owner, remedy="give one, or remove it")
        constant_frames(lin)  # refuses states that do not turn with the rotor
        return lin, warnings + out_of_range(system, lin.state)
    lin = Linearisation(compiled, end.state, end.time, end.loading, acceleration=end.acceleration)
    warnings = out_of_range(system, lin.state)
    if lin.moving and (end.acceleration is None or np.any(end.acceleration)):
        warnings.append("the state moves: eigenvalues are those of its matrices held at this instant")
    model = compiled.model
    if not lin.moving and not end.started and model.starts_moving:
        warnings.append(_STARTS)
    out = _out_of_balance(lin)
    if out > _BALANCED:
        warnings.append(
            f"the state is out of balance by {out:.1e} of the largest force of an element; find its equilibrium by a "
            "static step before"
        )
    if any("centrifugal" in b.type.name for b in system.blocks):
        warnings.append("Coriolis forces of the turning frame of a centrifugal load are left out; take coriolis = true")
    if end.switched:
        warnings.append("what events have switched is not seen: functions are those of the model")
    return lin, warnings


def _out_of_balance(lin: Linearisation) -> float:
    """Return forces left over, over the largest force of an element; lengths and radians are of one size here."""
    rest, rows = lin.residual, csr_matrix(lin.system.sharing())[:, lin.dofs]
    if rows.shape[0]:
        # forces between nodes that share unknowns have no multipliers here
        rest = rest - rows.T @ lsqr(rows.T, rest, atol=1e-14, btol=1e-14)[0]
    left = float(np.abs(rest).max(initial=0.0))
    if left == 0.0:
        return 0.0
    largest = lin.tangent.largest_force
    return left / largest if largest > 0.0 else 0.0


# --- complex modes ---------------------------------------------------------------------------------------------------
class Selection(Protocol):
    """Which complex modes a step wants: `fem_mbs.analysis.steps.common.options.Sought`, or those along a step."""

    @property
    def count(self) -> int: ...
    @property
    def near(self) -> Any: ...
    @property
    def which(self) -> str: ...
    @property
    def reach(self) -> float | None: ...
    @property
    def shift(self) -> Any: ...
    @property
    def check(self) -> str: ...


def selection(options: Selection) -> dict[str, Any]:
    """Return the arguments of `fem_mbs.solvers.eigen.complex_modes.complex_modes` for the options of a step."""
    near, shift, reach = options.near, options.shift, options.reach
    return {
        "near": 2j * np.pi * near if np.ndim(near) == 0 else complex(*near),
        "which": options.which, "check": options.check,
        "shift": shift if shift is None or np.ndim(shift) == 0 else complex(*shift),
        "reach": None if reach is None else 2.0 * np.pi * reach,
    }  # fmt: skip


def upper_rows(modes: ComplexModes, count: int) -> np.ndarray:
    """Return numbers of the rigid motions and of the first ``count`` other modes: conjugate pairs by their upper
    halves."""
    rows = np.flatnonzero(modes.values.imag >= 0.0)
    return rows[: modes.rigid + count]


def find_modes(
    lin: Linearisation, options: Selection, owner: str, count: int | None = None
) -> tuple[ComplexModes, np.ndarray, np.ndarray, np.ndarray]:
    """Return complex modes as the options of a step say (``count`` of them, if given), which of them are its modes
    (k,), their shapes (N, k), and of a turning part the share (k,) of each eigenvalue that rounding of inertia forces
    may change (`lost_to_rotation`), 0 for rigid motions.

    Raises:
        ModelError: nothing moves an unknown.
        AnalysisError: they cannot be found.
    """
    count = options.count if count is None else count
    given = {**selection(options), **({"columns": lin.columns} if lin.pressed else {})}
    near = given["near"]
    M, C1, K, G, T = lin.problem()
    lin.release()
    used = np.sum([np.asarray(abs(A).sum(axis=0)).ravel() for A in (M, C1, K, G) if A is not None], axis=0)

    def name(bad: np.ndarray) -> str:
        return lin.system.name_of(int(T[:, [int(np.flatnonzero(bad)[0])]].tocsc().indices[0]))

    if not np.isfinite(used).all():
        worst = name(~np.isfinite(used))
        raise AnalysisError(f"{owner}: matrices are not finite at {worst}; check the numbers of its elements")
    if (used == 0.0).any():
        loose = name(used == 0.0)
        raise ModelError(
            f"{loose} has neither mass nor stiffness nor joint", owner=owner, remedy="give it a mass, or hold it"
        )
    # near a point of the real axis, and right-most, conjugates are as near and count as well
    wanted = count if near.imag != 0.0 and options.which == "nearest" else 2 * count
    try:
        modes = complex_modes(M, C1, K, G, wanted, **given)
        rows = upper_rows(modes, count)
        if wanted == count and rows.size < modes.rigid + count:
            modes = complex_modes(M, C1, K, G, 2 * count, **given)
            rows = upper_rows(modes, count)
    except AnalysisError as error:
        raise type(error)(str(error), owner=owner) from None
    shares = np.zeros(rows.size)
    if lin.rotation is not None:
        some = modes.values[rows] != 0.0
        vectors = (a[:, rows[some]] for a in (modes.right, modes.left))
        shares[some] = lost_to_rotation(M, C1, K, lin.rotation.speed, modes.values[rows[some]], *vectors)
    return modes, rows, T @ modes.right[:, rows], shares


def modes_of(
    lin: Linearisation, frame: str, options: Selection, harmonics: int | None, owner: str
) -> tuple[ComplexModes, np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Return complex modes of what `linearised` has returned for a frame, as `find_modes` does, and warnings.

    Args:
        harmonics: of frame = "periodic", where the shares of rounding are not known, zeros; None: as many as the modes
            need.
    """
    if frame != "periodic":
        return *find_modes(lin, options, owner), []
    from fem_mbs.analysis.rotors.periodic import periodic_modes

    modes, rows, shapes, warnings = periodic_modes(lin, options.count, harmonics, owner, **selection(options))
    return modes, rows, shapes, np.zeros(rows.size), warnings


# --- frames ----------------------------------------------------------------------------------------------------------
def scaled_frames(
    context: RunContext, lin: Linearisation | Linearised, X: np.ndarray, number: np.ndarray
) -> dict[str, np.ndarray]:
    """Return columns of shapes X (N, k): real and imaginary parts of displacements and small rotations, of a phase in
    which the real part is largest, in a size for figures; see `complex_frames`."""
    system = lin.system
    where = np.flatnonzero(system.system.kind == S.POSITION)
    moved = X[where] if np.abs(X[where]).max(initial=0.0) > 0.0 else X
    # |Re(u exp(i phi))|^2 = (|u|^2 + Re(u.u exp(2 i phi)))/2
    X = X * np.exp(-0.5j * np.angle((moved * moved).sum(axis=0)))
    largest = np.abs(X.real).argmax(axis=0)
    X = X * np.where(X.real[largest, np.arange(X.shape[1])] < 0.0, -1.0, 1.0)
    size = np.abs(X[where]).max(axis=0, initial=0.0) / system.length
    most = np.abs(X).max(axis=0, initial=0.0)
    size = np.where(size < 1e-6 * most, most, size)
    X = X * np.where(size > 0.0, _SHAPE / np.where(size > 0.0, size, 1.0), 0.0)
    return complex_frames(context, lin, X, number)


def complex_frames(
    context: RunContext, lin: Linearisation | Linearised, X: np.ndarray, number: np.ndarray
) -> dict[str, np.ndarray]:
    """Return frames of complex displacements X (N, k) about the state of ``lin``, in the size that they have: real and
    imaginary parts of displacements and small rotations at all nodes, those of reduced parts too, and the place of the
    state, to which Re(u exp(i phi)) is to be added; ``number`` (k,) stands for the time."""
    system, s, k = lin.system, lin.state, X.shape[1]
    here = context.rows.frames(
        {
            "Q": s.Q[:1], "V": s.V[:1], "D": s.D[:1], "out": context.state.out[None],
            "energy": context.state.energy[None],
        },
        number[:1], shapes=True,
    )  # fmt: skip
    more = np.concatenate(context.rows.recovered.small(s, X), axis=2)
    real = context.rows.recovered.extended(system.nodal(X.real), more.real)
    imaginary = context.rows.recovered.extended(system.nodal(X.imag), more.imag)
    return {
        "time": number,
        "displacement": real[:, :, :3], "rotation": real[:, :, 3:],
        "displacement imaginary": imaginary[:, :, :3], "rotation imaginary": imaginary[:, :, 3:],
        "state displacement": np.repeat(here["displacement"], k, axis=0),
        "state rotation": np.repeat(here["rotation"], k, axis=0),
    }  # fmt: skip
