"""Compute the geometric stiffness of a reduced part per unit of its loads in motion (superposition method).

Displacements that are linear in the coordinates lose the shortening of second order, and with it the stiffening by
stresses that inertia and forces raise (a blade in a turning rotor).  These stresses are, to first order, those of the
undeformed part at rest under its inertia forces and its loads, and so linear in

    a (3), alpha (3): acceleration of the frame,    w_a w_b (6): products of its angular velocities,    forces and
    moments at the interfaces,

each of which has a geometric stiffness of its own, K_j, computed once; the motion adds sum_j lambda_j K_j q to the
elastic forces (Wallrapp, Santos & Ryu 1990; Banerjee & Dickens 1990, doi:10.2514/3.20551; Melzer 1994, table 2).

    K_j = T^T K_sigma(u_j) T,    K u_j = f_j + supports,    f_j = -M (e_a), -M (e_a x c), -M (w~ w~ c), or a unit force

Supports: where the frame of the body is tied to an interface, that takes what is not in balance; else inertia relief:
the part accelerates as a whole, and forces at the interfaces alone strain it (and the centrifugal forces).  Together
the loads are in balance in either case, so that both give the same stresses.  K_sigma is the difference of tangents of
`Linearised.geometric_stiffness`, whatever the elements.  Nodes that follow an interface rigidly add the turning of
their arms r under the forces g that hold them there, (g r^T + r g^T)/2 - (g.r) I on its rotations; inertia forces f on
directors d of nodes do the same with -f and d.

Theory: docs/theory.md, section 11, "Geometric stiffening".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import bmat, csr_matrix, diags

from fem_mbs.analysis.linear.linearised import Linearised, Response
from fem_mbs.analysis.reduction.interfaces import Boundary
from fem_mbs.analysis.reduction.invariants import InertiaCoordinates, inertia_coordinates
from fem_mbs.errors import ModelError, Owner
from fem_mbs.solvers.reduction.free_interface import InertiaRelief

__all__ = ["FREE", "stiffening"]

#: As a frame: supports, or inertia relief.
FREE = "free"
_AXES = "xyz"
_PRODUCTS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))


def stiffening(
    linear: Linearised,
    boundary: Boundary,
    Q: np.ndarray,
    rigid: np.ndarray,
    origin: np.ndarray,
    frame: str = FREE,
    forces: bool | Sequence[str] = True,
) -> dict[str, np.ndarray]:
    """Return geometric stiffness (n, n) of a part per unit of its loads in motion.

    Args:
        linear: the part at its state.
        boundary: its interfaces; the first coordinates of Q are their motions.
        Q: (n_q, n) unknowns per unit of the reduced coordinates.
        rigid: (b + n_z, r) rigid-body motions in the coordinates (x, z) of the boundary, in any combination.
        origin: (dim,) [m] where the frame stands.
        frame: name of the interface that carries the frame, or "free".
        forces: whether unit forces and moments of the interfaces are among the loads, or the names of those which.

    Returns:
        By name: "ax" ... unit accelerations of the frame [per m/s^2], "alphax" ... [per rad/s^2], "wx2", "wxwy" ...
        products of angular velocities [per (rad/s)^2], "INTERFACE.component" unit forces [per N or N m]; a load
        that raises no stress has none.

    Raises:
        ModelError: no such interface, or one that cannot hold the part; masses without a centre.
    """
    K = _whole(boundary, linear.stiffness)
    # where an interface puts loads in balance any weights will do, and lines need not resist turning about themselves
    M = _whole(boundary, linear.mass) if frame == FREE else diags(np.maximum(K.diagonal(), 1e-12 * K.diagonal().max()))
    relief = InertiaRelief(K, M, rigid)
    y = inertia_coordinates(linear)
    names, pull, applied = _loads(y, boundary, origin, frame, forces)
    loads = boundary.project(linear.elimination.T.T @ _on_dofs(y, pull, linear.first)) + applied
    if frame != FREE:
        loads += _held(boundary, frame, relief.rigid, loads)
    u = linear.expand(boundary.expand(relief.solve(loads)))
    if frame == FREE and relief.rigid.size:  # the inertia of the part that accelerates as a whole
        moving = linear.expand(boundary.expand(relief.rigid @ (relief.rigid.T @ loads)))
        size, dim = y.place.shape
        pull = pull - np.stack([y.M @ moved for moved in (y.shift @ moving).reshape(dim, size, -1)], axis=1)
    full = _on_dofs(y, pull, linear.first)
    tangent = linear.tangent[: linear.first][:, : linear.first]
    left = full - tangent @ u[: linear.first]
    shapes = linear.expand(Q)
    nothing = np.zeros(len(linear.values), bool)
    found = {}
    for k, name in enumerate(names):
        lam = linear.elimination.multipliers(left[:, k])[: linear.multipliers.size]
        response = Response(u[:, k], lam, nothing, np.zeros_like(linear.values), False, np.zeros(len(u)))
        change = linear.geometric_stiffness(response)
        own = shapes.T @ (change @ shapes)
        _add_arms(own, linear, boundary, -left[:, k])
        _add_directors(own, linear, y, pull[:, :, k], shapes)
        if own.any():
            found[name] = 0.5 * (own + own.T)
    return found


def _whole(boundary: Boundary, A: csr_matrix) -> csr_matrix:
    """Return a matrix (n_q, n_q) in the coordinates (x, z)."""
    bb, zb, zz = boundary.split(A)
    return csr_matrix(bmat([[csr_matrix(bb), zb.T], [zb, zz]]))


def _loads(
    y: InertiaCoordinates, boundary: Boundary, origin: np.ndarray, frame: str, forces: bool | Sequence[str]
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return names of loads, their forces (n_y, dim, k) on the inertia coordinates, (b + n_z, k) on those of the
    boundary."""
    dim = y.place.shape[1]
    place = y.place - y.one[:, None] * origin
    names = [f"a{c}" for c in _AXES[:dim]]
    rates = [np.outer(y.one, e) for e in np.eye(dim)]
    if dim == 2:
        names += ["alphaz", "wz2"]
        rates += [np.column_stack((-place[:, 1], place[:, 0])), -place]
    else:
        names += [f"alpha{c}" for c in _AXES]
        rates += [np.cross(e, place) for e in np.eye(3)]
        for a, b in _PRODUCTS:
            names.append(f"w{_AXES[a]}2" if a == b else f"w{_AXES[a]}w{_AXES[b]}")
            # w x (w x c) = (w w^T - w.w I) c
            C = np.zeros((3, 3))
            C[a, b] += 1.0
            C[b, a] += 1.0
            rates.append(place @ (0.5 * C - np.eye(3) if a == b else C))
    applied: list[Any] = []
    first, inertial = 0, len(names)
    known = [interface.name for interface in boundary.interfaces]
    if not isinstance(forces, bool) and set(forces) - set(known):
        unknown = sorted(set(forces) - set(known))[0]
        raise ModelError(
            f'"{unknown}" is no interface of the part', owner=Owner("Stiffening"), remedy=f"it has {', '.join(known)}"
        )
    for interface in boundary.interfaces:
        asked = forces is True or (forces and interface.name in forces)
        if asked and interface.name != frame:  # (what acts on the frame's own interface goes into its support)
            names += [f"{interface.name}.{c}" for c in interface.components]
            applied += range(first, first + len(interface.components))
        first += len(interface.components)
    pull = np.zeros((*place.shape, len(names)))
    pull[:, :, :inertial] = np.stack([-(y.M @ rate) for rate in rates], axis=-1)
    unit = np.zeros((boundary.size + boundary.inner, len(names)))
    unit[applied, inertial + np.arange(len(applied))] = 1.0
    return names, pull, unit


def _on_dofs(y: InertiaCoordinates, pull: np.ndarray, first: int) -> np.ndarray:
    """Return forces (first, k) on dofs of forces (n_y, dim, k) on the inertia coordinates."""
    return (y.shift.T @ pull.swapaxes(0, 1).reshape(-1, pull.shape[2]))[:first]


def _held(boundary: Boundary, frame: str, rigid: np.ndarray, loads: np.ndarray) -> np.ndarray:
    """Return forces (b + n_z, k) of the interface that carries the frame, which put loads in balance."""
    first = 0
    for interface in boundary.interfaces:
        rows = np.arange(first, first + len(interface.components))
        first += len(interface.components)
        if interface.name == frame:
            break
    else:
        names = ", ".join(interface.name for interface in boundary.interfaces)
        raise ModelError(
            f'frame = "{frame}" is no interface', owner=Owner("Stiffening"), remedy=f'take one of {names}, or "{FREE}"'
        )
    arms = rigid[rows].T  # generalised forces on rigid-body motions
    r = arms.shape[0]
    values = np.linalg.svd(arms, compute_uv=False) if r else np.ones(1)
    if r > rows.size or values[-1] <= 1e-9 * values[0]:
        raise ModelError(
            f'interface "{frame}" does not hold the part in all its {r} rigid-body motions',
            owner=Owner("Stiffening"),
            remedy=f'take another, one of several nodes with kind = "rigid", or frame = "{FREE}"',
        )
    held = np.zeros_like(loads)
    held[rows] = -np.linalg.lstsq(arms, rigid.T @ loads, rcond=None)[0]
    return held


def _add_arms(own: np.ndarray, linear: Linearised, boundary: Boundary, g: np.ndarray) -> None:
    """Add what rigid arms of interfaces turn, of forces g (first,) on their nodes, to ``own`` (n, n)."""
    system, dim, first = linear.system, linear.system.dimension, 0
    for interface in boundary.interfaces:
        if interface.kind == "rigid":
            dof = system.offset[interface.nodes][:, None] + np.arange(dim)
            r, held = linear.state.Q[0][dof] - interface.position, g[dof]
            side = held.T @ r
            turns = np.arange(first + dim, first + len(interface.components))
            own[np.ix_(turns, turns)] += (
                -np.trace(side) if dim == 2 else 0.5 * (side + side.T) - np.trace(side) * np.eye(3)
            )
        first += len(interface.components)


def _add_directors(
    own: np.ndarray, linear: Linearised, y: InertiaCoordinates, pull: np.ndarray, shapes: np.ndarray
) -> None:
    """Add what directors turn of second order under inertia forces ``pull`` (n_y, dim) to ``own`` (n, n)."""
    system, dim = linear.system, linear.system.dimension
    turning = np.flatnonzero(system.nodes.rotational)
    if not turning.size:
        return
    first = system.nodes.x.shape[0]
    last = first + dim * turning.size
    f, d = (a[first:last].reshape(-1, dim, dim) for a in (pull, y.place))
    side = np.einsum("nki,nkj->nij", f, d)
    trace = np.einsum("nii->n", side)
    turns = shapes[(system.offset[turning] + dim)[:, None] + np.arange(system.rotation_dofs)]
    if dim == 2:
        own += np.einsum("nak,n,nal->kl", turns, trace, turns, optimize=True)
        return
    G = 0.5 * (side + side.swapaxes(1, 2)) - trace[:, None, None] * np.eye(3)
    own -= np.einsum("nak,nab,nbl->kl", turns, G, turns, optimize=True)
