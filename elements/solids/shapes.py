"""Cells of solid elements as numpy tables: nodes, shape functions, integration points, faces.

Cells have meshio's names, nodes the order that Abaqus, CalculiX and meshio share (corners, then mid-side nodes):
triangle, triangle6, quad, quad8, tetra, tetra10, hexahedron, hexahedron20, wedge, wedge15, and line, line3 as edges.
Triangles and tetrahedra have area and volume coordinates r, s, t in 0..1, squares and cubes -1..1, wedges a triangle
times -1..1.  Shape functions are the polynomials of the cell's space that are one at their node and zero at the others
(Hughes, The finite element method, 1987, chapter 3; Zienkiewicz & Taylor, vol. 1): serendipity spaces for quad8,
hexahedron20 and wedge15.

Integration points are numbered as in CalculiX: the first local coordinate runs fastest.  Compiled kernels hold these
tables as constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np

from fem_mbs.errors import ModelError

__all__ = [
    "CELLS",
    "FACES",
    "RULES",
    "check_cells",
    "determinants",
    "dimension",
    "exact_rule",
    "gradients",
    "jacobians",
    "local_nodes",
    "n_nodes",
    "rule",
    "shape_functions",
    "smallest_jacobian",
    "volumes",
]


def _midpoints(corners, edges):
    return [tuple(0.5 * (a + b) for a, b in zip(corners[i], corners[j], strict=True)) for i, j in edges]


_TRIANGLE = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]
_QUAD = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
_TETRA = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
_HEX = [(*p, z) for z in (-1.0, 1.0) for p in _QUAD]
_WEDGE = [(*p, z) for z in (-1.0, 1.0) for p in _TRIANGLE]
_EDGES3, _EDGES4 = [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)]
_TET_EDGES = [*_EDGES3, (0, 3), (1, 3), (2, 3)]
_HEX_EDGES = [*_EDGES4, *[(a + 4, b + 4) for a, b in _EDGES4], *[(i, i + 4) for i in range(4)]]
_WEDGE_EDGES = [*_EDGES3, *[(a + 3, b + 3) for a, b in _EDGES3], *[(i, i + 3) for i in range(3)]]


def _total(dim, degree):
    return [p for p in product(range(degree + 1), repeat=dim) if sum(p) <= degree]


def _serendipity(dim):
    """Return the exponents of monomials of superlinear degree two (Arnold & Awanou 2011): 8 in the plane, 20 in
    space."""
    return [p for p in product(range(3), repeat=dim) if sum(k for k in p if k > 1) <= 2]


#: cell -> (dimension, nodes in local coordinates, exponents of the monomials of its space)
CELLS = {
    "line": (1, [(-1.0,), (1.0,)], _total(1, 1)),
    "line3": (1, [(-1.0,), (1.0,), (0.0,)], _total(1, 2)),
    "triangle": (2, _TRIANGLE, _total(2, 1)),
    "triangle6": (2, _TRIANGLE + _midpoints(_TRIANGLE, _EDGES3), _total(2, 2)),
    "quad": (2, _QUAD, list(product(range(2), repeat=2))),
    "quad8": (2, _QUAD + _midpoints(_QUAD, _EDGES4), _serendipity(2)),
    "tetra": (3, _TETRA, _total(3, 1)),
    "tetra10": (3, _TETRA + _midpoints(_TETRA, _TET_EDGES), _total(3, 2)),
    "hexahedron": (3, _HEX, list(product(range(2), repeat=3))),
    "hexahedron20": (3, _HEX + _midpoints(_HEX, _HEX_EDGES), _serendipity(3)),
    "wedge": (3, _WEDGE, [(*p, k) for p in _total(2, 1) for k in range(2)]),
    "wedge15": (
        3,
        _WEDGE + _midpoints(_WEDGE, _WEDGE_EDGES),
        [(*p, k) for p in _total(2, 2) for k in range(2)] + [(*p, 2) for p in _total(2, 1)],
    ),
}

_TET_FACES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]
_HEX_FACES = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
_WEDGE_FACES = [(0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)]


def _faces(corner_faces, edges, corners):
    """Return the faces with the mid-side nodes of their edges, which come after the corners in the cell."""
    number = {frozenset(e): corners + i for i, e in enumerate(edges)}
    names = {2: ("line", "line3"), 3: ("triangle", "triangle6"), 4: ("quad", "quad8")}
    result = []
    for f in corner_faces:
        sides = [(f[i], f[(i + 1) % len(f)]) for i in range(len(f) if len(f) > 2 else 1)]
        middle = tuple(number[frozenset(s)] for s in sides) if edges else ()
        result.append((names[len(f)][bool(middle)], f + middle))
    return tuple(result)


#: cell -> its faces S1, S2, ... as Abaqus numbers them: (face cell, its nodes in the cell), ordered so that the normal
#: x,r cross x,s points outwards (edges of plane cells: the body lies to the left of an edge's direction)
FACES = {
    "triangle": _faces(_EDGES3, [], 3),
    "triangle6": _faces(_EDGES3, _EDGES3, 3),
    "quad": _faces(_EDGES4, [], 4),
    "quad8": _faces(_EDGES4, _EDGES4, 4),
    "tetra": _faces(_TET_FACES, [], 4),
    "tetra10": _faces(_TET_FACES, _TET_EDGES, 4),
    "hexahedron": _faces(_HEX_FACES, [], 8),
    "hexahedron20": _faces(_HEX_FACES, _HEX_EDGES, 8),
    "wedge": _faces(_WEDGE_FACES, [], 6),
    "wedge15": _faces(_WEDGE_FACES, _WEDGE_EDGES, 6),
}


def _known(cell: str):
    if cell not in CELLS:
        raise KeyError(f"no cell {cell!r}; there are {', '.join(CELLS)}")
    return CELLS[cell]


def dimension(cell: str) -> int:
    """Return the number of local coordinates."""
    return _known(cell)[0]


def n_nodes(cell: str) -> int:
    """Return the number of nodes."""
    return len(_known(cell)[1])


def local_nodes(cell: str) -> np.ndarray:
    """Return the local coordinates (n, dim) of the nodes."""
    return np.array(_known(cell)[1])


def _monomials(points, exponents, along=None):
    """Return the monomials at points (q, dim), or their derivatives by the coordinate ``along``: (q, n)."""
    powers = np.array(exponents)
    factor = np.ones(len(powers))
    if along is not None:
        factor = powers[:, along].astype(float)
        powers = powers.copy()
        powers[:, along] = np.maximum(powers[:, along] - 1, 0)
    return factor * np.prod(np.asarray(points)[:, None, :] ** powers, axis=2)


@cache
def _coefficients(cell: str) -> np.ndarray:
    """Return the coefficients of the shape functions in the monomials.

    They are multiples of 1/16, so rounding removes the round-off.
    """
    _, nodes, exponents = _known(cell)
    inverse = np.linalg.inv(_monomials(nodes, exponents))
    return np.round(inverse * 16.0) / 16.0


def shape_functions(cell: str, points) -> np.ndarray:
    """Return the shape functions (q, n) at local points (q, dim)."""
    return _monomials(points, _known(cell)[2]) @ _coefficients(cell)


def gradients(cell: str, points) -> np.ndarray:
    """Return the derivatives (q, dim, n) of the shape functions by the local coordinates at points (q, dim)."""
    dim, _, exponents = _known(cell)
    parts = [_monomials(points, exponents, k) @ _coefficients(cell) for k in range(dim)]
    return np.stack(parts, axis=1)


# --- integration -----------------------------------------------------------------------------------------------------
def _gauss(n, dim):
    """Return points (n**dim, dim) and weights of the Gauss product rule on -1..1, the first coordinate fastest."""
    x, w = np.polynomial.legendre.leggauss(n)
    points = np.array([p[::-1] for p in product(x, repeat=dim)])
    weights = np.array([np.prod(p) for p in product(w, repeat=dim)])
    return points, weights


def _collapsed(n, dim):
    """Return points and weights on the triangle or tetrahedron, exact to degree 2 n - dim: a collapsed product rule."""
    u, w = _gauss(n, dim)
    u, w = (u + 1.0) / 2.0, w / 2.0**dim
    if dim == 2:
        return np.column_stack((u[:, 0] * (1 - u[:, 1]), u[:, 1])), w * (1 - u[:, 1])
    a = 1 - u[:, 2]
    b = a * (1 - u[:, 1])
    return np.column_stack((u[:, 0] * b, u[:, 1] * a, u[:, 2])), w * a * b


def _times_line(flat, n):
    (p, w), (z, v) = flat, _gauss(n, 1)
    points = np.array([(*a, c) for c in z[:, 0] for a in p])
    return points, np.array([a * c for c in v for a in w])


_TRI1 = (np.full((1, 2), 1 / 3), np.full(1, 0.5))
_TRI3 = (np.array([(1 / 6, 1 / 6), (2 / 3, 1 / 6), (1 / 6, 2 / 3)]), np.full(3, 1 / 6))
_P, _R = (5 - np.sqrt(5)) / 20, (5 + 3 * np.sqrt(5)) / 20
_TET4 = (np.array([(_P, _P, _P), (_R, _P, _P), (_P, _R, _P), (_P, _P, _R)]), np.full(4, 1 / 24))

#: Integration of the stiffness: (cell, "full" or "reduced") -> points (q, dim), weights (q,).
RULES = {
    ("triangle", "full"): _TRI1,
    ("triangle6", "full"): _TRI3,
    ("quad", "full"): _gauss(2, 2),
    ("quad8", "full"): _gauss(3, 2),
    ("quad8", "reduced"): _gauss(2, 2),
    ("tetra", "full"): (np.full((1, 3), 0.25), np.full(1, 1 / 6)),
    ("tetra10", "full"): _TET4,
    ("hexahedron", "full"): _gauss(2, 3),
    ("hexahedron20", "full"): _gauss(3, 3),
    ("hexahedron20", "reduced"): _gauss(2, 3),
    ("wedge", "full"): _times_line(_TRI3, 2),
    ("wedge", "reduced"): _times_line(_TRI1, 2),
    ("wedge15", "full"): _times_line(_TRI3, 3),
}


def rule(cell: str, name: str = "full") -> tuple[np.ndarray, np.ndarray]:
    """Return points (q, dim) and weights (q,) of the stiffness of a cell; ``name`` is "full" or "reduced"."""
    if (cell, name) not in RULES:
        raise KeyError(f"cell {cell!r} has no {name!r} integration; there are {', '.join(map(str, RULES))}")
    return RULES[cell, name]


@cache
def exact_rule(cell: str) -> tuple[np.ndarray, np.ndarray]:
    """Return points and weights that integrate products of two shape functions with the Jacobian of curved sides."""
    dim, nodes, exponents = _known(cell)
    n = 2 if np.max(exponents) == 1 else 4
    corners = {1: {2}, 2: {4}, 3: {8}}[dim]
    if len(nodes) in corners or cell in ("line", "line3", "quad8", "hexahedron20"):
        return _gauss(n, dim)
    if cell in ("wedge", "wedge15"):
        return _times_line(_collapsed(n + 1, 2), n)
    return _collapsed(n + 1, dim)


def jacobians(cell: str, X, points) -> np.ndarray:
    """Return matrices dX_i/dr_k (e, q, space, dim) [m] at local points (q, dim) of cells X (e, n, space)."""
    X, dN = np.asarray(X, float), gradients(cell, points)
    q, dim, n = dN.shape
    flat = np.swapaxes(X, 1, 2).reshape(-1, n) @ dN.reshape(-1, n).T
    return np.moveaxis(flat.reshape(len(X), X.shape[2], q, dim), 2, 1)


def determinants(cell: str, X, points) -> np.ndarray:
    """Return determinants (e, q) [m^dim] of the Jacobians at local points (q, dim) of cells X (e, n, dim)."""
    X, points = np.asarray(X, float), np.asarray(points, float)
    result = np.empty((len(X), len(points)))
    chunk = max(1, 100_000 // max(1, len(points)))  # keeps the Jacobians in the processor's cache
    for first in range(0, len(X), chunk):
        J = jacobians(cell, X[first : first + chunk], points)
        if J.shape[-1] == 1:
            det = J[..., 0, 0]
        elif J.shape[-1] == 2:
            det = J[..., 0, 0] * J[..., 1, 1] - J[..., 0, 1] * J[..., 1, 0]
        else:
            det = J[..., 0, 0] * (J[..., 1, 1] * J[..., 2, 2] - J[..., 1, 2] * J[..., 2, 1])
            det -= J[..., 0, 1] * (J[..., 1, 0] * J[..., 2, 2] - J[..., 1, 2] * J[..., 2, 0])
            det += J[..., 0, 2] * (J[..., 1, 0] * J[..., 2, 1] - J[..., 1, 1] * J[..., 2, 0])
        result[first : first + chunk] = det
    return result


def smallest_jacobian(cell: str, X, name: str = "full") -> np.ndarray:
    """Return the smallest Jacobian determinant at the integration points of each cell over the largest magnitude, (e,).

    It is not positive where the nodes come in a wrong order or a cell folds over itself.
    """
    det = determinants(cell, X, rule(cell, name)[0])
    return det.min(axis=1) / np.maximum(np.abs(det).max(axis=1), 1e-300)


def volumes(cell: str, X) -> np.ndarray:
    """Return the volumes (e,) [m^3], in the plane areas [m^2], of cells X (e, n, dim)."""
    points, weights = exact_rule(cell)
    return determinants(cell, X, points) @ weights


def check_cells(cell: str, X, owner: str, names: Sequence | None = None, rule_name: str = "full", axisymmetric=False):
    """Refuse cells X (e, n, dim) that have no positive volume at an integration point.

    Args:
        owner: whose cells they are, for the message: `Solid "part"`.
        names: what to call the cells, by default 1, 2, ...
        axisymmetric: about y: then no point of a cell may lie at a negative radius.

    Raises:
        ModelError: a cell folds over itself, is flat, or counts its nodes the wrong way round.
    """
    X = np.asarray(X, float)

    def name(i):
        return i + 1 if names is None else names[i]

    det = determinants(cell, X, rule(cell, rule_name)[0])
    size = np.ptp(X, axis=1).max(axis=1) ** X.shape[2]
    bad = np.flatnonzero(~(det.min(axis=1) > 1e-9 * size))
    if bad.size:
        i = int(bad[0])
        more = f" (and {bad.size - 1} more)" if bad.size > 1 else ""
        if (det[i] < 0.0).all():
            why = "counts its nodes the wrong way round; order them as Abaqus and meshio do"
        else:
            why = "is flat or folds over itself; mend the mesh there"
        raise ModelError(
            f"{cell} {name(i)}{more} {why} (smallest Jacobian {det[i].min():.3g})",
            owner=owner,
            key="cell",
            value=name(i),
        )
    if axisymmetric and X[..., 0].min() < -1e-9 * np.ptp(X[..., 0]):
        i = int(np.argmin(X[..., 0].min(axis=1)))
        raise ModelError(
            f"{cell} {name(i)} reaches the radius x = {X[i, :, 0].min():g}",
            owner=owner,
            remedy="the axis is y, keep x >= 0",
        )
