"""Steps on small motions about the current state, at rest or moving: complex modes, export of matrices.

The state is an equilibrium, an instant of a motion (its coefficients are then held), or, with a rotor, the state in
which that turns steadily.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import lsqr

from fem_mbs.analysis.rotors.rotating import FRAMES, choose_frame, rotation_of, steady_rotation
from fem_mbs.analysis.stability.linearisation import Linearisation
from fem_mbs.analysis.stability.rotation import Rotation
from fem_mbs.analysis.stability.state_space import descriptor, sparse_arrays, state_space
from fem_mbs.analysis.stability.turning_frame import check_turning_frame, turning_modes
from fem_mbs.errors import AnalysisError, ModelError
from fem_mbs.files import replacing
from fem_mbs.results.eigenvalues import growth_rates
from fem_mbs.results.folder import take
from fem_mbs.solvers.eigen.complex_modes import CHECKS, ComplexModes, complex_modes
from fem_mbs.solvers.stepping import stepper as S

__all__ = [
    "COMPLEX_MODES_OPTIONS", "LINEARISE_OPTIONS", "NEUTRAL", "check_rotor", "check_stability", "complex_frames",
    "find_modes", "linearised", "run_complex_modes", "run_linearise", "run_turning_modes", "upper_rows",
]  # fmt: skip

#: Options of a step of complex modes and their defaults.
COMPLEX_MODES_OPTIONS: dict[str, Any] = {
    "count": 6,  # of modes; a conjugate pair is one
    "near": 0.0,  # frequency [Hz], or eigenvalue [real, imaginary] [1/s]
    "which": "nearest",  # or "rightmost": largest real parts
    "reach": None,  # frequency [Hz] up to which right-most ones are sought; None: of the 2 count + 10 lowest
    "shift": None,  # where the matrices are factored: [1/s], or [real, imaginary]; None: near ``near``
    "check": "probe",  # for missed copies of multiple eigenvalues, or "none"
    "rotor": "",  # name of the rotor that turns steadily
    "speed": None,  # its speed [rad/s]; None: the one that it has in the state
    "frame": "auto",  # of the increments: "fixed", "rotating", or the one with constant coefficients
    "coriolis": False,  # at rest in the frame of a centrifugal load: with its Coriolis forces
    "basis": "",  # modal step whose shapes span the motions
    "preload": "",  # linear static step whose stresses stiffen the model
}

#: Damping ratio that rounding may leave of none.
NEUTRAL = 1e-6
#: Options of a step that writes matrices, and their defaults.
LINEARISE_OPTIONS: dict[str, Any] = {
    "inputs": (),  # loads, motions, driven joints, motors of a state-space model
    "sensors": (),  # its outputs
    "form": "state space",  # or "descriptor"
    "rotor": "",
    "speed": None,
    "frame": "auto",
}
FORMS = ("state space", "descriptor")
_BALANCED = 1e-6  # of the largest force of an element: what a state may leave out of balance
_DOUBTFUL = 1e-3  # residual of a mode with which it has few digits
_SHAPE = 0.1  # largest displacement of a shape over the model's length


# --- options ---------------------------------------------------------------------------------------------------------
def _number(value, low: float = -np.inf) -> bool:
    ok = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return bool(ok and low <= value and abs(value) < 1e300)


def _point(value) -> bool:
    """Return whether this is a number, or two of them: real and imaginary part."""
    return _number(value) or (np.ndim(value) == 1 and len(value) == 2 and all(_number(v) for v in value))


def check_stability(owner: str, options: dict[str, Any], model) -> None:
    """Refuse options of complex modes and their like that make no sense, before anything is computed.

    Raises:
        ModelError: naming the step, the option and what it may be.
    """
    words = {"form": FORMS, "which": ("nearest", "rightmost"), "check": CHECKS, "frame": FRAMES}
    for key, known in words.items():
        if key in options and options[key] not in known:
            raise ModelError(f"{owner}: {key} = {options[key]!r} must be one of {', '.join(known)}")
    if "near" in options and not _point(options["near"]):
        raise ModelError(f"{owner}: near = {options['near']!r} must be a frequency [Hz], or [real, imaginary] [1/s]")
    if options.get("shift") is not None and not _point(options["shift"]):
        raise ModelError(f"{owner}: shift = {options['shift']!r} must be a number [1/s], or [real, imaginary]")
    for key in ("inputs", "sensors"):
        names = options.get(key, ())
        if not isinstance(names, (str, list, tuple)) or not all(isinstance(name, str) for name in names):
            raise ModelError(f"{owner}: {key} = {names!r} must be a name or a list of names")
    reach = options.get("reach")
    if reach is not None and not (_number(reach, 0.0) and reach > 0.0):
        raise ModelError(f"{owner}: reach = {reach!r} must be a positive frequency [Hz]")
    if reach is not None and options.get("which") != "rightmost":
        raise ModelError(f'{owner}: reach = {reach:g} belongs to which = "rightmost"; remove it, or ask for those')
    check_rotor(owner, options, model)
    if "coriolis" in options:
        check_turning_frame(owner, options, model)


def check_rotor(owner: str, options: dict[str, Any], model) -> None:
    """Refuse a rotor that is none, and what has no sense without one.

    Raises:
        ModelError: naming the step, the option and what it may be.
    """
    name, speed, frame = (options.get(key) for key in ("rotor", "speed", "frame"))
    if name:
        model.building.find("rotor", name, model.rotors, owner)
    elif speed is not None:
        raise ModelError(f"{owner}: speed = {speed!r} needs a rotor; name it in rotor")
    elif frame == "rotating":
        raise ModelError(f'{owner}: frame = "rotating" needs a rotor; name it in rotor')
    if speed is not None and not _number(speed):
        raise ModelError(f"{owner}: speed = {speed!r} must be a number [rad/s]")


# --- the state -------------------------------------------------------------------------------------------------------
def _mean_speed(system, state: S.State, rotation: Rotation) -> float:
    """Return speed [rad/s] with which nodes turn about an axis: mean over their squared distances from it, and their
    spins."""
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


def linearised(run, options: dict[str, Any]) -> tuple[Linearisation, list[str]]:
    """Return small motions about the present state of a run, in the frame asked for, and what is to be said of them.

    Raises:
        ModelError, AnalysisError: the state cannot be linearised, or not with constant coefficients.
    """
    name = options["rotor"]
    if name:
        rotation = rotation_of(run.compiled, run.model.rotors[name], options["speed"] or 0.0)
        if options["speed"] is None:
            rotation = rotation.at(_mean_speed(run.system, run.state, rotation))
        lin = steady_rotation(run.compiled, run.state, rotation, run.t, run.loading)
        return choose_frame(lin, options["frame"]), []
    lin = Linearisation(run.compiled, run.state, run.t, run.loading)
    warnings = []
    if lin.moving:
        warnings.append("the state moves: eigenvalues are those of its matrices held at this instant")
    model = run.model
    if not lin.moving and not getattr(run, "started", False) and (model.initial_velocities or model.initial_speeds):
        warnings.append("velocities of the start come with the first transient; the state is at rest")
    out = _out_of_balance(lin)
    if out > _BALANCED:
        warnings.append(
            f"the state is out of balance by {out:.1e} of the largest force of an element; find its equilibrium by a "
            "static step before"
        )
    if any("centrifugal" in b.type.name for b in run.system.blocks):
        warnings.append("Coriolis forces of the turning frame of a centrifugal load are left out; take coriolis = true")
    if run.events is not None and run.events.happened:
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
def upper_rows(modes: ComplexModes, count: int) -> np.ndarray:
    """Return numbers of the rigid motions and of the first ``count`` other modes: conjugate pairs by their upper
    halves."""
    rows = np.flatnonzero(modes.values.imag >= 0.0)
    return rows[: modes.rigid + count]


def find_modes(
    lin: Linearisation, options: dict[str, Any], owner: str
) -> tuple[ComplexModes, np.ndarray, np.ndarray]:  # fmt: skip
    """Return complex modes as the options of a step say, which of them are its modes (k,), and their shapes (N, k).

    Raises:
        ModelError: nothing moves an unknown.
        AnalysisError: they cannot be found.
    """
    near, count, reach = options["near"], options["count"], options.get("reach")
    near = 2j * np.pi * near if np.ndim(near) == 0 else complex(*near)
    shift = options.get("shift")
    given = {
        "near": near, "which": options["which"], "check": options.get("check", "probe"),
        "shift": shift if shift is None or np.ndim(shift) == 0 else complex(*shift),
        "reach": None if reach is None else 2.0 * np.pi * reach,
        **({"columns": lin.columns} if lin.pressed else {}),
    }  # fmt: skip
    M, C1, K, G, T = lin.problem()
    lin.release()
    used = sum(np.asarray(abs(A).sum(axis=0)).ravel() for A in (M, C1, K, G) if A is not None)

    def name(bad: np.ndarray) -> str:
        return lin.system.name_of(int(T[:, [int(np.flatnonzero(bad)[0])]].tocsc().indices[0]))

    if not np.isfinite(used).all():
        worst = name(~np.isfinite(used))
        raise AnalysisError(f"{owner}: matrices are not finite at {worst}; check the numbers of its elements")
    if (used == 0.0).any():
        loose = name(used == 0.0)
        raise ModelError(f"{owner}: {loose} has neither mass nor stiffness nor joint; give it a mass, or hold it")
    # near a point of the real axis, and right-most, conjugates are as near and count as well
    wanted = count if near.imag != 0.0 and options["which"] == "nearest" else 2 * count
    try:
        modes = complex_modes(M, C1, K, G, wanted, **given)
        rows = upper_rows(modes, count)
        if wanted == count and rows.size < modes.rigid + count:
            modes = complex_modes(M, C1, K, G, 2 * count, **given)
            rows = upper_rows(modes, count)
    except AnalysisError as error:
        raise AnalysisError(f"{owner}: {error}") from None
    return modes, rows, T @ modes.right[:, rows]


def run_complex_modes(run, step, options: dict[str, Any]) -> dict[str, Any]:
    """Make a step of complex modes of a run: its rows, one frame per mode, and its summary."""
    owner = f'Step "{step.name}"'
    lin, warnings = linearised(run, options)
    modes, rows, X = find_modes(lin, options, owner)
    run.linear.linearisation, run.linear.complex_modes = lin, modes
    p = modes.values[rows]
    about = {
        "frame": lin.frame, "rotor": options["rotor"],
        "speed": lin.rotation.speed if lin.rotation is not None else None,
        "stable": bool((growth_rates(p) <= NEUTRAL * np.abs(p)).all()), "time": float(run.t),
        **({"covered": list(modes.covered)} if modes.covered is not None else {}),
        "equations": int(lin.dofs.size), "constraints": int(lin.G.shape[0]),
    }  # fmt: skip
    return _finished(run, step, options, modes, rows, lin, X, about, warnings)


def run_turning_modes(run, step, options: dict[str, Any], linear, basis: np.ndarray | None) -> dict[str, Any]:
    """Make a step of complex modes about a state at rest, perhaps seen from the frame of a centrifugal load, perhaps in
    the span of shapes (N, r): its rows, one frame per mode, and its summary."""
    owner = f'Step "{step.name}"'
    near, reach, shift = options["near"], options["reach"], options["shift"]
    given = {
        "near": 2j * np.pi * near if np.ndim(near) == 0 else complex(*near),
        "which": options["which"], "check": options["check"],
        "shift": shift if shift is None or np.ndim(shift) == 0 else complex(*shift),
        "reach": None if reach is None else 2.0 * np.pi * reach,
    }  # fmt: skip
    modes, X, speed = turning_modes(linear, basis, options["coriolis"], 2 * options["count"], given, owner)
    rows = upper_rows(modes, options["count"])
    warnings = list(linear.redundancy)
    if basis is not None:
        warnings.append(
            f'the motions are those of the {basis.shape[1]} modes of "{options["basis"]}": what others would add is '
            "missing, most in the highest"
        )
    about = {
        "frame": "fixed" if speed is None else "rotating", "rotor": "", "speed": speed, "basis": options["basis"],
        "stable": bool((_damping_ratios(modes.values[rows]) >= -NEUTRAL).all()), "time": linear.t,
        "equations": int(linear.stiffness.shape[0]), "constraints": int(linear.rows.shape[0]),
    }  # fmt: skip
    return _finished(run, step, options, modes, rows, linear, X[:, rows], about, warnings)


def _damping_ratios(p: np.ndarray) -> np.ndarray:
    """Return -Re p / |p|, 0 for p = 0."""
    size = np.abs(p)
    return np.where(size > 0.0, -p.real / np.where(size > 0.0, size, 1.0), 0.0)


def _finished(run, step, options, modes, rows, lin, X, about: dict[str, Any], warnings: list[str]) -> dict[str, Any]:
    """Record the modes in ``rows`` with their shapes X (N, k), and summarise them with what they are ``about``."""
    p = modes.values[rows]
    if rows.size < modes.rigid + options["count"]:
        warnings.append(f"there are no more than these {rows.size} modes")
    doubtful = rows[modes.rigid :][modes.residuals[rows[modes.rigid :]] > _DOUBTFUL]
    if doubtful.size:
        warnings.append(
            f"forces of {doubtful.size} of the modes cancel to the round-off of their numbers (residuals up to "
            f"{modes.residuals[doubtful].max():.1e}, backward errors {modes.backward[doubtful].max():.1e}): as many of "
            "their digits are lost; look at speeds, stiffnesses and masses that are far larger than the others"
        )
    number = np.arange(1.0, rows.size + 1.0)
    series = {
        "time": number, "eigenvalue": np.column_stack((p.real, p.imag)), "frequency": np.abs(p.imag) / (2.0 * np.pi),
        "damping ratio": _damping_ratios(p), "residual": modes.residuals[rows],
    }  # fmt: skip
    run.recorder.append(series, _frames(run, lin, X, number) if rows.size else None)
    effort = modes.effort
    return {
        "type": "complex_modes", "name": step.name,
        "eigenvalues": np.column_stack((p.real, p.imag)).tolist(),
        "frequencies_hz": series["frequency"].tolist(),
        "damping_ratios": series["damping ratio"].tolist(),
        "residuals": modes.residuals[rows].tolist(),
        "backward_errors": modes.backward[rows].tolist(),
        "biorthogonality": modes.biorthogonality,
        "rigid_body_modes": modes.rigid, "zeros": modes.zeros,
        **about,
        "shifts": [[s.real, s.imag] for s in modes.shifts],
        "effort": {
            "factorisations": effort.factorisations, "solves": effort.solves, "steps": effort.steps,
            "breakdowns": effort.breakdowns, "corrections": effort.corrections,
        },
        "warnings": warnings,
    }  # fmt: skip


def _frames(run, lin: Linearisation, X: np.ndarray, number: np.ndarray) -> dict[str, np.ndarray]:
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
    return complex_frames(run, lin, X, number)


def complex_frames(run, lin, X: np.ndarray, number: np.ndarray) -> dict[str, np.ndarray]:
    """Return frames of complex displacements X (N, k) about the state of ``lin``, in the size that they have: real and
    imaginary parts of displacements and small rotations at all nodes, those of reduced parts too, and the place of the
    state, to which Re(u exp(i phi)) is to be added; ``number`` (k,) stands for the time."""
    system, s, k = lin.system, lin.state, X.shape[1]
    here = run.frames(
        {"Q": s.Q[:1], "V": s.V[:1], "D": s.D[:1], "out": run.state.out[None], "energy": run.state.energy[None]},
        number[:1], shapes=True,
    )  # fmt: skip
    more = np.concatenate(run.recovered.small(s, X), axis=2)
    real = run.recovered.extended(system.nodal(X.real), more.real)
    imaginary = run.recovered.extended(system.nodal(X.imag), more.imag)
    return {
        "time": number,
        "displacement": real[:, :, :3], "rotation": real[:, :, 3:],
        "displacement imaginary": imaginary[:, :, :3], "rotation imaginary": imaginary[:, :, 3:],
        "state displacement": np.repeat(here["displacement"], k, axis=0),
        "state rotation": np.repeat(here["rotation"], k, axis=0),
    }  # fmt: skip


# --- matrices to take away -------------------------------------------------------------------------------------------
def run_linearise(run, step, options: dict[str, Any]) -> dict[str, Any]:
    """Make a step that writes the matrices of small motions, and with inputs or sensors a linear model, beside the
    results; its summary."""
    owner = f'Step "{step.name}"'
    lin, warnings = linearised(run, options)
    run.linear.linearisation = lin
    label = re.sub(r"[^A-Za-z0-9_+-]+", "_", step.name).strip("_")
    tables = {f"matrices_{label}.npz": matrices(lin)}
    model = None
    if len(options["inputs"]) or len(options["sensors"]):
        make = state_space if options["form"] == "state space" else descriptor
        model = make(lin, options["inputs"], options["sensors"], owner)
        tables[f"state_space_{label}.npz"] = model.arrays()
    run.linear.model = model
    directory = getattr(run.recorder, "directory", None)
    if directory is not None:
        take(Path(directory), [Path(directory) / name for name in tables])
        for name, table in tables.items():
            with replacing(Path(directory) / name) as part, part.open("wb") as stream:
                np.savez_compressed(stream, **table)
    run.recorder.append({"time": np.array([run.t])})
    found = {} if model is None else {"states": len(model.states), "inputs": model.inputs, "outputs": model.outputs}
    return {
        "type": "linearise", "name": step.name, "time": float(run.t), "equations": int(lin.dofs.size),
        "constraints": int(lin.G.shape[0]), "frame": lin.frame, "rotor": options["rotor"],
        "speed": lin.rotation.speed if lin.rotation is not None else None,
        "asymmetry": {name: _skew(A) for name, A in (("C", lin.C), ("K", lin.K))},
        **found, "files": list(tables) if directory is not None else [], "warnings": warnings,
    }  # fmt: skip


def matrices(lin: Linearisation) -> dict[str, np.ndarray]:
    """Return M, C, K and constraints G of a linearisation as arrays of a .npz file: compressed rows, ``M_data`` and so
    on, and ``names`` of the unknowns, ``dofs``, ``multipliers``, ``residual``."""
    out: dict[str, np.ndarray] = {}
    for key, A in (("M", lin.M), ("C", lin.C), ("K", lin.K), ("G", lin.G)):
        out |= sparse_arrays(key, A)
    names = np.array(lin.names)
    return {**out, "names": names, "dofs": lin.dofs, "multipliers": lin.multipliers, "residual": lin.residual}


def _skew(A) -> float:
    """Return largest difference of opposite entries over the largest entry."""
    size = float(abs(A).max()) if A.nnz else 0.0
    return float(abs(A - A.T).max()) / size if size > 0.0 else 0.0
