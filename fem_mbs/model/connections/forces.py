"""Bushings and dense masses of nodes of the model builder."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.kinds import (
    NAME,
    NUMBER_OR_VECTOR,
    PLACE,
    PLACES,
    SQUARE,
    TEXT,
    VECTOR,
    VECTOR_ANY,
)
from fem_mbs.errors import ModelError
from fem_mbs.late import dataclass
from fem_mbs.model.building import Building
from fem_mbs.model.parts.bodies import add_eccentric

__all__ = ["Bushing", "NodalMass", "checked_symmetric"]


def _numbers(value, n: int, owner: str, key: str) -> np.ndarray:
    try:
        v = np.asarray(value, float)
    except (TypeError, ValueError):
        v = np.empty(0)
    if v.shape != (n,) or not np.isfinite(v).all():
        raise ModelError(f"{key} = {value!r} must be {n} finite numbers", owner=owner, key=key, value=value)
    return v


def _definite(building: Building, value, owner: str, key: str, positive: bool = False) -> np.ndarray:
    """Return a symmetric matrix (n, n) without negative eigenvalues, from its diagonal or in full; None: zeros."""
    n = 3 * (building.dimension - 1)
    if value is None:
        return np.zeros((n, n))
    try:
        M = np.asarray(value, float)
    except (TypeError, ValueError):
        M = np.empty(0)
    M = np.diag(M) if M.shape == (n,) else M
    if M.shape != (n, n) or not np.isfinite(M).all():
        raise ModelError(f"{key} must be {n} numbers, a diagonal, or {n}x{n} finite numbers", owner=owner)
    return checked_symmetric(M, owner, key, positive)


def checked_symmetric(M: np.ndarray, owner: str, key: str, positive: bool = False) -> np.ndarray:
    """Return the symmetric part of a matrix (n, n) without negative eigenvalues.

    Raises:
        ModelError: it is not symmetric, or not positive semidefinite (with ``positive``: definite).
    """
    # rows have different units: judged after scaling to a unit diagonal
    d = np.sqrt(np.abs(np.diag(M)))
    scaled = M / np.where(d > 0.0, d, 1.0)[:, None] / np.where(d > 0.0, d, 1.0)
    skew = np.abs(scaled - scaled.T)
    if skew.max() > 1e-9:
        i, j = np.unravel_index(int(skew.argmax()), skew.shape)
        raise ModelError(
            f"{key} is not symmetric: entry ({i + 1}, {j + 1}) is {M[i, j]:g}, its mirror {M[j, i]:g}",
            owner=owner,
            remedy="make them equal",
        )
    lowest = float(np.linalg.eigvalsh(0.5 * (scaled + scaled.T))[0])
    if lowest < -1e-9 or (positive and lowest < 1e-12):
        what = "positive definite" if positive else "positive semidefinite"
        raise ModelError(
            f"{key} has the eigenvalue {lowest:.3g} (scaled to a unit diagonal), it must be {what}",
            owner=owner,
            remedy="check signs and coupling entries",
        )
    return 0.5 * (M + M.T)


@dataclass(frozen=True, eq=False)
class Bushing(Declaration):
    """Elastic mounts: matrices between frames of two parts.

    Add an elastic mount: stiffness and damping matrices between frames of two parts, alike at the start.

    Args:
        stiffness, damping: n diagonal entries or (n, n), symmetric, positive semidefinite; n = 6, displacements
            then rotations [N/m, N/rad, N m/rad]; in the plane 3: x, y, rotation.
        point: where both frames are, in global coordinates of the start; or point_a and point_b; None: the nodes.
        rotation: of the frame's axes at the start: plane an angle, space axis times angle, (3,) [rad]; None: the
            global axes.
        frame: of the displacements: "first", which moves with a, or "mean", half-way between both.
        preload: n forces and moments at the start, in the frame, positive as stiffness times strain.

    In space the rotations are the rotation vector of b against a; more than 4.7 rad end the analysis.  Reported
    moments act on b about its point (frame "mean": about the middle of both points).
    """

    owner = "Bushing"

    name: str = key(NAME, "in messages and results", shows='"bushing 1", ...')
    a: str | int = key(PLACE, "one part")
    b: str | int = key(PLACE, "other part", "ground")
    stiffness: Any = key(
        SQUARE,
        "diagonal or matrix over displacements and rotations, 6 or 6x6, in the plane 3 or 3x3 (x, y, rotation)",
        None,
        shows="none",
        unit="N/m, N/rad, N m/rad",
    )
    damping: Any = key(
        SQUARE,
        "damping coefficients in the same form, over the rates of displacements and rotations",
        None,
        shows="none",
        unit="N s/m, N s/rad, N m s/rad",
    )
    point: Any = key(
        VECTOR,
        "where both frames are, in global coordinates of the start",
        None,
        shows="the nodes",
        kw_only=True,
        unit="m",
    )
    point_a: Any = key(VECTOR, "where on a", None, shows="point", kw_only=True, unit="m")
    point_b: Any = key(VECTOR, "where on b", None, shows="point", kw_only=True, unit="m")
    rotation: Any = key(
        NUMBER_OR_VECTOR,
        "of the axes at the start: angle; space: axis times angle",
        None,
        shows="global axes",
        kw_only=True,
        unit="rad",
    )
    frame: str = key(
        TEXT,
        'of the displacements: "first" (moves with a) or "mean" (half-way between both)',
        "first",
        kw_only=True,
        choices=("first", "mean"),
    )
    preload: Any = key(
        VECTOR_ANY, "forces and moments at the start, in the frame", None, shows="none", kw_only=True, unit="N, N m"
    )

    def build(self, building: Building) -> None:
        owner = building.label("Bushing", self.name)
        n = 3 * (building.dimension - 1)
        S, C = (
            _definite(building, self.stiffness, owner, "stiffness"),
            _definite(building, self.damping, owner, "damping"),
        )
        if not S.any() and not C.any():
            raise ModelError("it has no force", owner=owner, remedy="give stiffness or damping")
        if self.point is not None and (self.point_a is not None or self.point_b is not None):
            raise ModelError("give either point, or point_a and point_b", owner=owner)
        nodes = [building.turning_node(p, owner) for p in (self.a, self.b)]
        if nodes[0] == nodes[1]:
            raise ModelError(f'both ends are "{self.a}"', owner=owner, remedy="take two different places")
        places = [p if p is not None else self.point for p in (self.point_a, self.point_b)]
        for i, (node, other) in enumerate((nodes, nodes[::-1])):
            if places[i] is None and node < 0:  # ground: where the other end is
                places[i] = places[1 - i] if places[1 - i] is not None else building.position(other)
        offsets = [building.point(p, x, owner)[1] for p, x in zip((self.a, self.b), places, strict=True)]
        axes = building.turned_axes(self.rotation, owner)
        turned = [building.rotation_matrix(k).T @ axes for k in nodes]  # axes in columns
        ends = [building.global_point(k, o) for k, o in zip(nodes, offsets, strict=True)]
        start = np.zeros(n)
        start[: building.dimension] = axes.T @ (ends[1] - ends[0])
        if building.dimension == 2:
            start[2] = building.start_angle(nodes[1]) - building.start_angle(nodes[0])
        names = "xyz"[: building.dimension]
        columns: dict[str, float] = {"mean frame": 0.5 if self.frame == "mean" else 0.0}
        for end, letter, offset, R in zip("ab", "ef", offsets, turned, strict=True):
            columns |= {f"a{c}_{end}": float(v) for c, v in zip(names, offset, strict=True)}
            columns |= {
                f"{letter}{i + 1}{c}": float(R[p, i]) for i in range(building.dimension) for p, c in enumerate(names)
            }
        force = np.zeros(n) if self.preload is None else _numbers(self.preload, n, owner, "preload")
        columns |= {f"start {i + 1}": float(v) for i, v in enumerate(start)}
        columns |= {f"preload {i + 1}": float(v) for i, v in enumerate(force)}
        for letter, matrix in (("S", S), ("C", C)):
            columns |= {f"{letter}{i + 1}{j + 1}": float(matrix[i, j]) for i in range(n) for j in range(i, n)}
        building.add_block(self.name, f"bushing{building.dimension}", [nodes], **columns)


@dataclass(frozen=True, eq=False)
class NodalMass(Declaration):
    """Dense mass matrices that turn with their nodes.

    Add a dense mass matrix that turns with each node of a place: T = (v, omega).M (v, omega)/2 in the node's
    axes.

    Args:
        matrix: (6, 6), in the plane (3, 3): velocity, then angular velocity; symmetric positive definite, in the
            node's body axes (the global ones at the start, unless the node is a turned body's) [kg, kg m, kg m^2].

    A matrix of a rigid body (A = m I, skew coupling, admissible inertia) is taken as that, in directors; any other,
    of added or condensed masses, by Kirchhoff's equations (`fem_mbs.elements.masses.nodal_mass`).  Where A = m I,
    gravity acts on m at the centre that the coupling's skew part says; where it is not, the matrix has no weight.
    """

    owner = "Nodal mass"

    name: str = key(NAME, "in messages and results", shows='"nodal_mass 1", ...')
    at: Any = key(PLACES, "on each node of it")
    matrix: Any = key(
        SQUARE,
        "6x6 over velocity and angular velocity in the node's axes, in the plane 3x3; symmetric, positive",
        unit="kg, kg m, kg m^2",
    )

    def build(self, building: Building) -> None:
        owner = building.label("Nodal mass", self.name)
        nodes = building.each_of(self.at, owner)
        dim = building.dimension
        M = _definite(building, self.matrix, owner, "matrix", positive=True)
        building.rotational.update(int(node) for node in nodes)
        A, B, C = M[:dim, :dim], M[:dim, dim:], M[dim:, dim:]
        m = float(np.trace(A)) / dim
        one_mass = bool(np.abs(A - m * np.eye(dim)).max() <= 1e-12 * m)
        centre = np.zeros(dim)
        if one_mass:  # B = -m c~, in the plane m (-cy, cx)
            centre = np.array([B[1, 0], -B[0, 0]]) / m if dim == 2 else 0.5 / m * np.array(
                [B[1, 2] - B[2, 1], B[2, 0] - B[0, 2], B[0, 1] - B[1, 0]]
            )  # fmt: skip
        if one_mass and dim == 2 and not B.any():
            building.add_block(self.name, "mass2", nodes, mass=m, inertia=float(C[0, 0]))
            return
        if one_mass and dim == 3 and np.abs(B + B.T).max() <= 1e-12 * (np.abs(B).max() + m):
            tilde = np.array([[0, -centre[2], centre[1]], [centre[2], 0, -centre[0]], [-centre[1], centre[0], 0.0]])
            J = C + m * tilde @ tilde  # about the centre
            euler = 0.5 * np.trace(J) * np.eye(3) - J
            if np.linalg.eigvalsh(euler)[0] >= -1e-9 * np.trace(C):
                add_eccentric(building, self.name, nodes, m, np.tile(centre, (len(nodes), 1)), J)
                return
        entries = {f"M{i + 1}{j + 1}": float(M[i, j]) for i in range(len(M)) for j in range(i, len(M))}
        entries |= {f"c{c}": float(v) for c, v in zip("xyz"[:dim], centre, strict=True)}
        building.add_block(self.name, f"nodal_mass{dim}", nodes, mass=m if one_mass else 0.0, **entries)
