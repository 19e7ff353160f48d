"""Reduction of a part to its interfaces and a few component modes: `reduce_part`.

The part is linearised once (`fem_mbs.analysis.linear.linearised`), its constraints eliminated; motions of the
interfaces take the place of unknowns (`reduction_interfaces`); a method of `fem_mbs.solvers` gives the basis, in which
interface motions are coordinates whatever the method, so that all reduced parts couple alike; everything else is
projected on it.

Accuracy is estimated with the full matrices.  For the lowest modes (w^2, u) of the reduced part with free interfaces,
u.M u = 1, r = K u - w^2 M u is the residual, G the flexibility of what the basis leaves out at rest (held interfaces:
K_zz^-1; free ones: inertia relief), and c the lowest w^2 that was left out.  To first order

    w^2 - w_exact^2 <= r.G r / (1 - w^2/c),

since the modes left out are orthogonal to the basis in K, r has parts w^2 a_k of these alone, and their answer is
a_k w^2/(w_k^2 - w^2) (cf. Kammer & Triller 1996, doi:10.1115/1.2889656, for the choice of modes by their masses).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse import bmat, csr_matrix

from fem_mbs.analysis.distributed.backends import backend_named
from fem_mbs.analysis.end_state import EndState
from fem_mbs.analysis.fields import fields_of
from fem_mbs.analysis.linear.linearised import Linearised
from fem_mbs.analysis.reduction.inner_parts import keeps_inner_stresses, with_inner_parts
from fem_mbs.analysis.reduction.interfaces import Boundary, make_boundary
from fem_mbs.analysis.reduction.load_moments import load_moments
from fem_mbs.analysis.reduction.projection import (
    NodalLoad,
    gravity_forces,
    heat_among,
    modal_damping,
    nodal_loads,
    own_damping,
    recovery_of,
    unit_loads,
)
from fem_mbs.analysis.reduction.quality import accuracy_of, effective_shares, free_modes_of, mass_properties
from fem_mbs.analysis.reduction.rigid import check_held, rigid_motions
from fem_mbs.analysis.run import run_to_end
from fem_mbs.declarations.kinds import shown
from fem_mbs.errors import AnalysisError, ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.model.model import Model
from fem_mbs.parts.part import Recovery, ReducedPart
from fem_mbs.progress import say, waiting
from fem_mbs.solvers.distributed.matrix import DistributedMatrix
from fem_mbs.solvers.eigen import CHECKS
from fem_mbs.solvers.linear.libraries import NotPositiveDefinite
from fem_mbs.solvers.reduction.fixed_interface import FixedInterface, fixed_interface_parts
from fem_mbs.solvers.reduction.free_interface import FreeModes, free_interface
from fem_mbs.solvers.reduction.interface_bases import FREE_METHODS, free_basis, herting_basis
from fem_mbs.threads import analysis
from fem_mbs.units import unit_of

__all__ = ["METHODS", "reduce_part"]

#: Methods of `reduce_part`, each with one line about it.
METHODS = {
    "guyan": "interfaces alone, the inside follows statics",
    "craig_bampton": "modes with held interfaces",
    "macneal": "modes with free interfaces, residual flexibility",
    "rubin": "modes with free interfaces, residual flexibility and mass",
    "craig_chang": "modes with free interfaces, attachment modes of inertia relief",
    "herting": "modes with free interfaces, constraint modes, inertia relief",
}
#: Component modes, where neither a number nor a cut-off is given.
_MODES = 20


@dataclass
class _Basis:
    """T (b + n_z, n) of (x, z), reduced K and M, frequencies [Hz] of the modes; how errors are estimated."""

    T: np.ndarray
    stiffness: np.ndarray
    mass: np.ndarray
    frequencies: np.ndarray
    flexibility: Any  # G of forces (b + n_z, k)
    following: float  # lowest w^2 left out
    shares: np.ndarray  # (k,) of each mode at the interfaces
    rigid_modes: int = 0
    complete: bool = False
    seconds: dict[str, float] = field(default_factory=dict)


@waiting()
@analysis()
def reduce_part(
    model: Model | Linearised,
    interfaces: Mapping[str, Any],
    method: str = "craig_bampton",
    *,
    modes: int | None = None,
    cutoff: float | None = None,
    participation: float | None = None,
    damping: float | Sequence[float] | Mapping[str, float] | None = None,
    origin: Sequence[float] | None = None,
    orthonormal: bool = False,
    accuracy: int = 6,
    check: str | None = None,
    state: str = "start",
    release: bool = False,
    recovery: bool | str = True,
    stiffening: str | None = None,
    name: str | None = None,
    backend: str = "local",
) -> ReducedPart:
    """Return a linear part in the motions of its interfaces and a few component modes.

    Args:
        model: any part: solids, beams, points, springs, with supports, equations, couplings, ties; or one that is
            linearised already.
        interfaces: name -> place, or mapping with "on", "kind" ("node", "rigid", "average"), "point", "components",
            "weights"; see `fem_mbs.analysis.reduction.interfaces.make_boundary`.  A place of one node is that node,
            of several nodes tied rigidly.
        method: "guyan", "craig_bampton" (modes with held interfaces), "macneal", "rubin", "craig_chang", "herting"
            (elastic modes of the part with free interfaces).
        modes: number of component modes, the lowest ones (default 20); with a cut-off the largest number.
        cutoff: [Hz]: all component modes up to it.
        participation: keep only modes whose share at an interface component reaches this (0 ... 1): the share of the
            effective mass (held interfaces) or of the static flexibility (free ones).
        damping: None: that of the model's own elements, if any; a ratio of critical damping for all modes of the
            reduced part with free interfaces, or one per mode (the last for all others); or
            {"alpha": [1/s], "beta": [s]}: alpha M + beta K.
        origin: (dim,) [m] of rotations and moments; None: that of the model's axes.
        orthonormal: take the modes of the reduced part with free interfaces as coordinates: M is the identity, K
            diagonal, rigid-body modes first.
        accuracy: number of elastic modes whose errors are estimated (``info["accuracy"]``); 0: none.
        check: search for modes that the iteration has missed: "none", "probe" (by random vectors) or "inertia" (by a
            count of eigenvalues); None: "inertia" below a cut-off, else "probe".
        state: about which the part is linearised: "start", or "end" of the model's steps.
        release: remove supports and motions of interface nodes.
        recovery: keep the displacements of all nodes; "stress": and the stresses at those of solid and plane parts.
        stiffening: geometric stiffness per unit of the loads of a moving part
            (`fem_mbs.analysis.reduction.stiffening`): the interface that carries the body's frame, or "free"; None:
            none.
        name: of the part; None: the model's title.
        backend: where the matrices are, "local" or "petsc": by all processes of `mpiexec`, which all make this call.

    Returns:
        The part; its coordinates are the interface components one after the other, then modes (but where
        orthonormal).  ``info`` holds "modes", "cutoff_hz", "complete", "next_hz", "mass", "center", "inertia" about it,
        "effective_mass" (share of the mass, per direction, that modes move while held interfaces accelerate),
        "shares" of each mode, "accuracy" (per mode: frequency_hz, relative_error estimated of the frequency, residual),
        "dofs", "seconds".

    Raises:
        ModelError: interfaces or options that make no sense, naming them.
        AnalysisError: the part is loose where its interfaces are held, or unstable, or modes cannot be found.
    """
    began = time.perf_counter()
    _check_options(method, modes, cutoff, participation, accuracy, check, state, recovery)
    if stiffening is not None and backend_named(backend).distributed:
        raise ModelError(
            "stiffening is not distributed", owner=Owner("Reduction"), key="stiffening", value=stiffening,
            remedy="run it without --backend",
        )  # fmt: skip
    say("reduction: matrices")
    linear = (
        model if isinstance(model, Linearised) else _linearised(model, state, interfaces if release else {}, backend)
    )
    if not linear.eliminated:
        raise ModelError(
            "too many of its unknowns are tied by joints for a part",
            owner=Owner("Reduction"),
            remedy="reduce the flexible parts of the mechanism one by one",
        )
    if recovery == "stress" and not (fields_of(linear.compiled).parts or keeps_inner_stresses(linear)):
        raise ModelError(
            "stresses are kept at the nodes of solid and plane parts, and it has none",
            owner=Owner("Reduction"),
            key="recovery",
            value=recovery,
            remedy='remove recovery = "stress" (--stress)',
        )
    start = np.zeros(linear.system.dimension) if origin is None else linear.compiled.model.building.vector(
        origin, "Reduction", "origin"
    )  # fmt: skip
    boundary = make_boundary(linear, interfaces)
    K, M = linear.stiffness, linear.mass
    assembled = time.perf_counter()
    motions, combination = rigid_motions(linear, K, start)
    rigid_q = motions[: linear.first][linear.elimination.free] @ combination
    MR = linear.mass_matrix[: linear.first][:, : linear.first] @ motions[: linear.first]
    if linear is not model:
        linear.release()  # factors take much memory
    say(f"reduction: modes of {K.shape[0]} unknowns")
    basis = _basis(linear, boundary, K, M, method, modes, cutoff, participation, check, rigid_q, combination, start)
    Q = boundary.expand(basis.T)
    rigid = _rigid_coordinates(basis, boundary, combination, start, M, Q, rigid_q)
    reduced = time.perf_counter()
    say("reduction: accuracy, loads and recovery")
    quality = _accuracy(basis, boundary, K, M, Q, rigid, accuracy) if accuracy else []
    damped = _damping(linear, damping, basis, Q, rigid)
    gravity = gravity_forces(linear, MR, Q)
    inertia = motions[: linear.first].T @ MR
    dim, masses, loads = linear.system.dimension, _moments(linear, Q, start), nodal_loads(linear)
    part = ReducedPart(
        name=name or linear.compiled.model.title or "part",
        dimension=dim,
        method=method,
        interfaces=boundary.interfaces,
        stiffness=basis.stiffness,
        mass=basis.mass,
        boundary=np.eye(boundary.size, basis.T.shape[1]),
        rigid=rigid,
        gravity=gravity[:, :dim],
        origin=start,
        frequencies=basis.frequencies,
        damping=damped,
        loads=unit_loads(linear, Q, loads),
        recovery=_recovery(linear, Q, recovery == "stress", loads) if recovery else None,
        moments=masses,
        load_moments={} if masses is None else load_moments(linear, Q, start, loads),
        stiffening=_stiffening(linear, boundary, Q, rigid_q, combination, start, stiffening),
        info={
            "modes": int(basis.frequencies.size),
            "cutoff_hz": cutoff,
            "complete": bool(basis.complete and participation is None),
            "next_hz": float(np.sqrt(basis.following) / (2.0 * np.pi)),
            **mass_properties(inertia, start),
            **_base_of(linear),
            "heat": heat_among(linear, loads),
            **({} if stiffening is None else {"stiffening_frame": stiffening}),
            "effective_mass": None
            if basis.rigid_modes or method in FREE_METHODS
            else effective_shares(gravity, inertia, basis.mass, boundary.size),
            "shares": basis.shares,
            "accuracy": quality,
            "dofs": int(K.shape[0]),
            "nodes": int(linear.system.nodes.x.shape[0]),
            "seconds": {
                "assembly": assembled - began,
                **basis.seconds,
                "whole": time.perf_counter() - began,
                "reduction": reduced - assembled,
            },
        },
    )
    return _orthonormal(part) if orthonormal else part


def _recovery(linear: Linearised, Q: np.ndarray, stress: bool, loads: Sequence[NodalLoad]) -> Recovery:
    """Return the fields of the model, and of the reduced parts in it."""
    own = recovery_of(linear, Q, stress, loads)
    return (
        with_inner_parts(own, linear, linear.expand(Q), stress, loads) if linear.compiled.model.reduced_parts else own
    )


def _base_of(linear: Linearised) -> dict[str, str]:
    """Return the base of the units of the part's model, if that tells one."""
    told = linear.compiled.model.shown_units
    return {} if told is None else {"base": told.base}


# --- what is asked for -----------------------------------------------------------------------------------------------
def _check_options(method, modes, cutoff, participation, accuracy, check, state, recovery) -> None:
    if method not in METHODS:
        raise ModelError(
            f"method = {shown(method)} must be one of {', '.join(METHODS)}",
            owner=Owner("Reduction"),
            key="method",
            value=method,
        )
    for key, value in (("modes", modes), ("accuracy", accuracy)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0):
            raise ModelError(
                f"{key} = {shown(value)} must be a whole number of at least 0",
                owner=Owner("Reduction"),
                key=key,
                value=value,
            )
    if method == "guyan" and (modes or cutoff is not None or participation is not None):
        raise ModelError(
            '"guyan" has no modes',
            owner=Owner("Reduction"),
            remedy="remove modes, cutoff and participation, or take another",
        )
    for key, value, most in (("cutoff", cutoff, np.inf), ("participation", participation, 1.0)):
        good = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if value is not None and not (good and 0.0 < value < np.inf and value <= most):
            bound = f"a positive frequency [{unit_of('Hz')}]" if key == "cutoff" else "a share between 0 and 1"
            raise ModelError(f"{key} = {shown(value)} must be {bound}", owner=Owner("Reduction"), key=key, value=value)
    if check is not None and check not in CHECKS:
        raise ModelError(
            f"check = {shown(check)} must be one of {', '.join(CHECKS)}",
            owner=Owner("Reduction"),
            key="check",
            value=check,
        )
    if isinstance(recovery, str) and recovery != "stress":
        raise ModelError(
            f'recovery = {shown(recovery)} must be true, false or "stress"',
            owner=Owner("Reduction"),
            key="recovery",
            value=recovery,
        )
    if state not in ("start", "end"):
        raise ModelError(
            f'state = {shown(state)} must be "start" or "end" (of the model\'s steps)',
            owner=Owner("Reduction"),
            key="state",
            value=state,
        )


def _linearised(model: Model, state: str, released: Mapping[str, Any], backend: str) -> Linearised:
    """Return the model at its start without loads, or as its steps leave it; without supports at ``released``
    interfaces."""
    if not isinstance(model, Model):
        raise ModelError(f"{type(model).__name__} is no Model", owner=Owner("Reduction"))
    if released:
        if state == "end":
            raise ModelError(
                'release goes with state = "start"', owner=Owner("Reduction"), remedy="its steps need their supports"
            )
        places = [spec.get("on") if isinstance(spec, Mapping) else spec for spec in released.values()]
        nodes = set(np.concatenate([model.nodes_of(place, "Reduction") for place in places]).tolist())
        model = copy(model)
        model.building.fixed = [entry for entry in model.building.fixed if entry[0] not in nodes]
        model.building.driven = [entry for entry in model.building.driven if entry[0] not in nodes]
    if state == "end" and model.steps:
        end = run_to_end(model)
    else:
        end = EndState.at_start(model.compile(stepping=False, sharing=backend_named(backend).sharing))
    end.compiled.system.refuse_states(
        Owner("Reduction"), "reduced parts do", "leave controllers and actuators out of the part"
    )
    return backend_named(backend).make(end.compiled, end.state, end.time, end.loading)


# --- bases -----------------------------------------------------------------------------------------------------------
def _basis(linear, boundary, K, M, method, modes, cutoff, participation, check, rigid_q, combination, origin) -> _Basis:
    times = [time.perf_counter()]
    parts = boundary.split(K), boundary.split(M)
    times.append(time.perf_counter())
    x_r = boundary.rigid_motions(origin) @ combination
    if modes is None and cutoff is None and method != "guyan":
        modes = _MODES
    if method in ("guyan", "craig_bampton", "herting"):
        check_held(linear.system.dimension, x_r, combination)
        w2 = None if cutoff is None or method == "herting" else (2.0 * np.pi * cutoff) ** 2
        count = modes if method == "craig_bampton" else None
        try:
            found = fixed_interface_parts(
                *parts, count=count, cutoff=w2, check=check, rigid=(x_r, boundary.inside(rigid_q))
            )
        except NotPositiveDefinite as error:
            raise AnalysisError(f"Reduction: {_loose(linear, boundary, error)}") from None
        basis = _of_fixed(found, participation, w2)
    if method in ("herting", *FREE_METHODS):
        whole = [_joined(*part) for part in parts]
        places = np.arange(boundary.size)
        if modes is not None and modes > K.shape[0] - x_r.shape[1]:
            modes = K.shape[0] - x_r.shape[1]
        free = _free_modes(*whole, places, modes, cutoff, check, participation)
        if method == "herting":
            made, flexibility = herting_basis(*whole, found, free[0]), basis.flexibility
        else:
            made, flexibility = free_basis(method, whole[1], places, free[0]), free[0].relief
        basis = _Basis(
            made.T, made.stiffness, made.mass, free[0].frequencies, flexibility, free[1], free[2],
            free[0].rigid.shape[1] if method in FREE_METHODS else 0, cutoff is not None and modes is None,
        )  # fmt: skip
    times.append(time.perf_counter())
    basis.seconds = dict(zip(("split", "basis"), np.diff(times).tolist(), strict=True))
    return basis


def _joined(bb: np.ndarray, zb: csr_matrix, zz: Any) -> Any:
    """Return the whole of a matrix in parts; of a distributed zz the first rank takes the other parts."""
    if not isinstance(zz, DistributedMatrix):
        return csr_matrix(bmat([[bb, zb.T], [zb, zz]]))
    one = 1.0 if zz.ranks.rank == 0 else 0.0
    return DistributedMatrix(csr_matrix(bmat([[one * bb, one * zb.T], [one * zb, zz.spread()]])))


def _of_fixed(found: FixedInterface, participation: float | None, cutoff: float | None) -> _Basis:
    shares = found.coupling**2 / np.maximum(found.guyan_mass.diagonal(), 1e-300)[:, None]
    shares = shares.max(axis=0, initial=0.0)
    following = float(found.values[-1]) if found.values.size else 0.0
    following = max(following, cutoff or 0.0)
    complete = found.complete
    if participation is not None:
        keep = np.flatnonzero(shares >= participation)
        left_out = np.delete(found.values, keep)
        following = float(left_out[0]) if left_out.size else following
        found, shares = found.kept(keep), shares[keep]
    if not found.interior.size:
        following = np.inf
    b = found.boundary.size

    def flexibility(forces: np.ndarray) -> np.ndarray:
        out = np.zeros_like(forces)
        if found.factors is not None:
            out[b:] = found.factors.solve(np.asfortranarray(forces[b:]))
        return out

    if following == 0.0 and found.factors is not None:  # Guyan: of the lowest mode all that is known is its flexibility
        following = np.nan
    return _Basis(
        found.basis, found.stiffness, found.mass, np.sqrt(np.maximum(found.values, 0.0)) / (2.0 * np.pi), flexibility,
        following, shares, 0, complete,
    )  # fmt: skip


def _free_modes(K, M, places, modes, cutoff, check, participation) -> tuple[FreeModes, float, np.ndarray]:
    """Return free modes, the lowest w^2 left out as far as known, and the shares of the modes in the static
    flexibility."""
    if cutoff is not None:
        found = free_interface(K, M, places, cutoff=cutoff)
        if modes is not None and modes < found.values.size:
            found = free_interface(K, M, places, count=modes, check=check or "probe")
    else:
        found = free_interface(K, M, places, count=modes, check=check or "probe")
    following = found.next_value if np.isfinite(found.next_value) else (2.0 * np.pi * cutoff) ** 2 if cutoff else np.inf
    shares = found.vectors[places] ** 2 / found.values
    flexible = found.flexibility.diagonal() + shares.sum(axis=1)
    shares = (shares / flexible[:, None]).max(axis=0, initial=0.0)
    if participation is None:
        return found, following, shares
    keep = shares >= participation
    lost = found.vectors[:, ~keep]
    # the static share of the omitted modes goes into the attachment modes
    attachments = found.attachments + (lost / found.values[~keep]) @ (lost.T @ found.forces)
    flexibility = found.forces.T @ attachments
    values = found.values[~keep]
    kept = FreeModes(
        found.rigid, found.values[keep], found.vectors[:, keep], attachments, found.forces,
        0.5 * (flexibility + flexibility.T), found.supports, found.residuals[keep], found.next_value, found.relief,
    )  # fmt: skip
    return kept, min(following, float(values[0]) if values.size else np.inf), shares[keep]


def _loose(linear: Linearised, boundary: Boundary, error: NotPositiveDefinite) -> str:
    """Describe the free motions of the part while interfaces are held."""
    text = "the part is loose or unstable while its interfaces are held"
    if error.index is not None and error.index < boundary.kept.size:
        dof = int(linear.elimination.free[boundary.kept[error.index]])
        text += f"; it shows at {linear.system.name_of(dof)}"
    return f"{text}; hold or connect what is loose (a mechanism inside?), or lower the loads of the state"


# --- what the part is ------------------------------------------------------------------------------------------------
def _rigid_coordinates(basis: _Basis, boundary: Boundary, combination, origin, M, Q, rigid_q) -> np.ndarray:
    """Return p (n, r) of the rigid-body motions."""
    n, b, r = basis.T.shape[1], boundary.size, combination.shape[1]
    p = np.zeros((n, r))
    if r == 0:
        return p
    p[:b] = boundary.rigid_motions(origin) @ combination
    if basis.rigid_modes:
        rest = rigid_q - Q[:, :b] @ p[:b]
        W = Q[:, b:]
        MW = M @ W
        p[b:] = scipy.linalg.lstsq(W.T @ MW, MW.T @ rest)[0]
    return p


def _accuracy(basis: _Basis, boundary: Boundary, K, M, Q, rigid: np.ndarray, count: int) -> list[dict[str, float]]:
    """Return estimated errors of the lowest elastic modes with free interfaces; none where these do not exist."""
    r = rigid.shape[1]
    try:
        values, P = free_modes_of(basis.stiffness, basis.mass, rigid, r + count)
    except np.linalg.LinAlgError:
        return []

    def flexibility(R: np.ndarray) -> np.ndarray:
        return boundary.expand(basis.flexibility(boundary.project(R)))

    return accuracy_of(K, M, Q, (values[r:], P[:, r:]), flexibility, basis.following)


def _damping(linear, damping, basis: _Basis, Q: np.ndarray, rigid: np.ndarray) -> np.ndarray | None:
    K, M = basis.stiffness, basis.mass
    if damping is None:
        return own_damping(linear, Q)
    if isinstance(damping, Mapping):
        unknown = [key for key in damping if key not in ("alpha", "beta")]
        if unknown or not all(np.isfinite(float(v)) and float(v) >= 0.0 for v in damping.values()):
            raise ModelError(
                f"damping = {shown(dict(damping))} must be alpha [{unit_of('1/s')}] and beta [{unit_of('s')}], not "
                "negative",
                owner=Owner("Reduction"),
                key="damping",
                value=dict(damping),
            )
        return float(damping.get("alpha", 0.0)) * M + float(damping.get("beta", 0.0)) * K
    ratios = np.atleast_1d(np.asarray(damping, float))
    if ratios.ndim != 1 or not ratios.size or not np.isfinite(ratios).all() or ratios.min() < 0.0:
        raise ModelError(
            f"damping = {shown(damping)} must be ratios of critical damping, not negative",
            owner=Owner("Reduction"),
            key="damping",
            value=damping,
        )
    try:
        values, P = free_modes_of(K, M, rigid)
    except np.linalg.LinAlgError:
        raise AnalysisError(
            "Reduction: ratios of damping need modes, but something moves freely without mass; give alpha and beta"
        ) from None
    return modal_damping(M, values, P, ratios, rigid.shape[1])


def _moments(linear: Linearised, Q: np.ndarray, origin: np.ndarray):
    """Return moments of the shapes, where the masses have them."""
    from fem_mbs.analysis.reduction.invariants import moments

    try:
        return moments(linear, linear.expand(Q), origin)
    except ModelError:  # of parts that cannot turn as bodies (axisymmetric ones, nodal masses)
        return None


def _stiffening(linear, boundary: Boundary, Q, rigid_q, combination, origin, frame: str | None) -> dict:
    """Return geometric stiffness per unit of loads, if it is asked for."""
    if frame is None:
        return {}
    from fem_mbs.analysis.reduction.stiffening import stiffening

    rigid = np.concatenate((boundary.rigid_motions(origin) @ combination, boundary.inside(rigid_q)))
    return stiffening(linear, boundary, Q, rigid, origin, frame)


def _orthonormal(part: ReducedPart) -> ReducedPart:
    """Return the part in its own modes with free interfaces: rigid ones first, M = 1, K diagonal.

    Raises:
        AnalysisError: coordinates without mass.
    """
    K, M = part.stiffness, part.mass
    d = M.diagonal()
    if not d.min(initial=1.0) > 0.0 or np.linalg.eigvalsh(M / np.sqrt(np.outer(d, d)))[0] < 1e-13:
        raise AnalysisError(
            f'Reduction: interfaces without mass (of "{part.method}") have no orthonormal coordinates; take another '
            "method, or leave the coordinates as they are"
        )
    r = part.rigid.shape[1]
    R = part.rigid
    if r:
        for _ in range(2):
            R = scipy.linalg.solve_triangular(np.linalg.cholesky(R.T @ M @ R), R.T, lower=True).T
    rest = scipy.linalg.null_space((M @ R).T) if r else np.eye(part.size)
    values, V = scipy.linalg.eigh(rest.T @ K @ rest, rest.T @ M @ rest)
    S = np.column_stack((R, rest @ V))
    rigid = S.T @ (M @ part.rigid)
    rigid[r:] = 0.0
    new = part.transformed(S, rigid)
    return replace(new, stiffness=np.diag(np.concatenate((np.zeros(r), values))), mass=np.eye(part.size))
