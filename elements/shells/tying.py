"""Tied strains of quadratic shell elements: shape functions, tying points, and the products that make up the strains.

A triangle of 6 or a quadrilateral of 8 nodes has places P = x + R o and directors d = R D at its nodes, both
interpolated by the shape functions of the cell.  With x,r and d,r the derivatives of the interpolated places and
directors by the natural coordinates, its strains are

    membrane  x,r.x,r/2, x,s.x,s/2, x,r.x,s            bending  x,r.d,r, x,s.d,s, x,r.d,s + x,s.d,r
    shear     x,r.d, x,s.d                              drilling, at a node  x,r.(R v_1) + x,s.(R v_2)

at *tying points* only, less their values at the reference.  In between they are interpolated in spaces of their own,
which keeps the elements free of locking (`docs/theory.md`).  All are sums of products of vectors that are linear in
positions and directors.

Bending strains stretch with the middle: with the elongation e of a line and the change k of its angle per length the
energy of a section is A e^2/2 + (1 + 2 e) D k^2/2, so that a strip under the moment M bends by k = M/D (1 + 2 r^2 k^2),
r^2 = D/A = h^2/12, 0.17 % too far at h k = 0.1.

Spaces, with the tying points in brackets (g = 1/sqrt(3)):

    quad8      rr, ss, rs: 1, r, s, r s [2 x 2 Gauss points], and, for stability, parts s^2 - 1/3 of rr and r^2 - 1/3
               of ss [their means over r = -g, g at s = -1 and 1, less that at s = 0];
               shear along r: 1, r, s, r s, s^2 [r = -g, g at s = -1 and 1; the mean of both at s = 0], along s likewise
               (that of MITC8; Bathe & Dvorkin 1986, doi:10.1002/nme.1620220312)
    triangle6  the strain along each side: linear [two Gauss points of the side, one on the middle line opposite];
               the shear along r and s: linear, and (s, -r) times r and s [along the sides at their Gauss points, in
               both directions in the middle]
               (MITC6; Lee & Bathe 2004, doi:10.1016/j.compstruc.2004.02.004)
"""

from __future__ import annotations

from functools import cache

import numpy as np

from fem_mbs.elements.solids.shapes import gradients, local_nodes, shape_functions
from fem_mbs.late import dataclass

__all__ = [
    "CELLS", "Tying", "cell_of", "free_strains", "interpolation", "local_axes", "node_vectors", "reference_strains",
    "surface_normals", "tangents", "tying_of",
]  # fmt: skip

#: cell -> number of nodes
CELLS = {"triangle6": 6, "quad8": 8}

_G = 3.0**-0.5
_PLACE, _DIRECTOR, _FIRST, _SECOND = range(4)  # vectors of a node: P, d, R v_1, R v_2


@dataclass(frozen=True)
class Tying:
    """The tied strains of a cell of n nodes: membrane ones, bending ones, shear ones, drilling ones.

    ``counts`` (4,) numbers of them.  ``base`` (f,) first vector of a field among those of the nodes (P of all, d of
    all, v_1 of all, v_2 of all), ``rows`` (f, n) its coefficients; ``points`` (f, 2) where it is taken, ``along`` (f,
    2) the direction of its derivative, 0 of the vector itself.  ``products`` (k, 3): strain, left and right field;
    ``factors`` (k,).
    """

    cell: str
    counts: tuple[int, int, int, int]
    base: np.ndarray
    rows: np.ndarray
    points: np.ndarray
    along: np.ndarray
    products: np.ndarray
    factors: np.ndarray

    @property
    def nodes(self) -> int:
        return CELLS[self.cell]

    @property
    def strains(self) -> int:
        return sum(self.counts)


class _Products:
    """Collects fields and products of them."""

    def __init__(self, cell: str) -> None:
        self.cell, self.strain = cell, 0
        self.fields: dict[tuple, int] = {}
        self.base: list[int] = []
        self.rows: list[np.ndarray] = []
        self.points: list[tuple[float, float]] = []
        self.along: list[tuple[float, float]] = []
        self.products: list[tuple[int, int, int]] = []
        self.factors: list[float] = []

    def field(self, vector: int, at, along) -> int:
        """Return the number of a field: a vector of the nodes at a point, or its derivative in a direction."""
        name = vector, *np.round(np.append(at, along if along is not None else (9.0, 9.0)), 12)
        if name not in self.fields:
            self.fields[name] = len(self.base)
            self.base.append(vector * CELLS[self.cell])
            self.points.append(tuple(at))
            self.along.append(tuple(along) if along is not None else (0.0, 0.0))
            if along is None:
                self.rows.append(shape_functions(self.cell, [at])[0])
            else:
                self.rows.append(np.asarray(along, float) @ gradients(self.cell, [at])[0])
        return self.fields[name]

    def add(self, factor: float, left: int, right: int) -> None:
        self.products.append((self.strain, left, right))
        self.factors.append(factor)

    def membrane(self, at, t, u, weight: float = 1.0) -> None:
        half = 0.5 if t is u else 1.0
        self.add(half * weight, self.field(_PLACE, at, t), self.field(_PLACE, at, u))

    def bending(self, at, t, u, weight: float = 1.0) -> None:
        self.add(weight, self.field(_PLACE, at, t), self.field(_DIRECTOR, at, u))
        if t is not u:
            self.add(weight, self.field(_PLACE, at, u), self.field(_DIRECTOR, at, t))

    def shear(self, at, t, weight: float = 1.0) -> None:
        self.add(weight, self.field(_PLACE, at, t), self.field(_DIRECTOR, at, None))

    def drilling(self) -> None:
        for node, at in enumerate(local_nodes(self.cell)):
            for vector, t in ((_FIRST, _R), (_SECOND, _S)):
                own = self.field(vector, at, None)
                self.rows[own] = np.eye(CELLS[self.cell])[node]
                self.add(1.0, self.field(_PLACE, at, t), own)
            self.strain += 1


_R, _S, _Q = (1.0, 0.0), (0.0, 1.0), (-1.0, 1.0)
_GAUSS = tuple((r, s) for s in (-_G, _G) for r in (-_G, _G))


def _along_quad(axis: int):
    """Return the tying points of the strain along an axis: four on the sides along it, two whose mean counts."""
    points = [(_G * a, b) for b in (-1.0, 1.0) for a in (-1.0, 1.0)]
    middle = [(_G * a, 0.0) for a in (-1.0, 1.0)]
    return [p[:: 1 - 2 * axis] for p in points], [p[:: 1 - 2 * axis] for p in middle]


def _quad(made: _Products) -> tuple[int, int, int, int]:
    for kind in (made.membrane, made.bending):
        for t, u in ((_R, _R), (_S, _S), (_R, _S)):
            for at in _GAUSS:
                kind(at, t, u)
                made.strain += 1
        for axis, t in enumerate((_R, _S)):
            points, middle = _along_quad(axis)
            for at, weight in (*((at, 0.25) for at in points), *((at, -0.5) for at in middle)):
                kind(at, t, t, weight)
            made.strain += 1
    for axis, t in enumerate((_R, _S)):
        points, middle = _along_quad(axis)
        for at in points:
            made.shear(at, t)
            made.strain += 1
        for at in middle:
            made.shear(at, t, 0.5)
        made.strain += 1
    made.drilling()
    return 14, 14, 10, 8


def _sides():
    """Return for each side of the triangle its direction, its Gauss points, and the point on the line opposite."""
    a, b, c = 0.5 - 0.5 * _G, 0.5 + 0.5 * _G, _G
    return (
        (_R, ((a, 0.0), (b, 0.0)), (a, c)),
        (_Q, ((b, a), (a, b)), (a, a)),
        (_S, ((0.0, b), (0.0, a)), (c, a)),
    )


def _triangle(made: _Products) -> tuple[int, int, int, int]:
    for kind in (made.membrane, made.bending):
        for t, points, opposite in _sides():
            for at in (*points, opposite):
                kind(at, t, t)
                made.strain += 1
    for t, at in _shear_points():
        made.shear(at, t)
        made.strain += 1
    made.drilling()
    return 9, 9, 8, 6


def _shear_points():
    """Return directions and tying points of shear of the triangle: along the sides, both directions in the middle."""
    along = [(t, at) for t, points, _ in _sides() for at in points]
    return (*along, (_R, (1.0 / 3.0, 1.0 / 3.0)), (_S, (1.0 / 3.0, 1.0 / 3.0)))


@cache
def tying_of(cell: str) -> Tying:
    """Return the tied strains of a cell of `CELLS`."""
    made = _Products(cell)
    counts = (_triangle if cell == "triangle6" else _quad)(made)
    return Tying(
        cell, counts, np.array(made.base), np.array(made.rows), np.array(made.points), np.array(made.along),
        np.array(made.products), np.array(made.factors),
    )  # fmt: skip


# --- strains between the tying points --------------------------------------------------------------------------------
def _monomials(at, powers) -> np.ndarray:
    return np.array([at[0] ** i * at[1] ** j for i, j in powers])


@cache
def _quad_values() -> np.ndarray:
    """Return the values of 1, r, s, r s, s^2 at the points of the strain along r, the last a mean, inverted."""
    points, middle = _along_quad(0)
    powers = ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2))
    rows = [_monomials(at, powers) for at in points] + [np.mean([_monomials(at, powers) for at in middle], axis=0)]
    return np.linalg.inv(np.array(rows))


def _shear_fields(at) -> np.ndarray:
    """Return the shear along r and s (2, 8) of the eight fields of the triangle at a point: linear ones, then (s, -r)
    times r and s, whose components along the sides are linear there (Raviart & Thomas 1977, turned)."""
    r, s = at
    linear = np.kron(np.eye(2), _monomials(at, ((0, 0), (1, 0), (0, 1))))
    return np.column_stack((linear, np.outer((s, -r), (r, s))))


@cache
def _triangle_values() -> tuple[np.ndarray, np.ndarray]:
    """Return the inverted values of 1, r, s at the points of each side (3, 3, 3), and of the eight shear fields (8, 8)
    at their points."""
    powers = ((0, 0), (1, 0), (0, 1))
    membrane = [[_monomials(at, powers) for at in (*points, opposite)] for _, points, opposite in _sides()]
    shear = [np.array(t) @ _shear_fields(at) for t, at in _shear_points()]
    return np.linalg.inv(np.array(membrane)), np.linalg.inv(np.array(shear))


def interpolation(cell: str, at) -> tuple[np.ndarray, np.ndarray]:
    """Return strains rr, ss, rs (3, m) by the tied ones of the membrane (or of bending), and shear strains along r and
    s (2, k) by the tied ones, at a point in natural coordinates; rs is the sum of both shear components."""
    if cell == "triangle6":
        along, sides = _triangle_values()
        at1 = _monomials(at, ((0, 0), (1, 0), (0, 1)))
        rows = np.zeros((3, 9))
        for k in range(3):
            rows[k, 3 * k : 3 * k + 3] = at1 @ along[k]
        # along (-1, 1): rr - rs + ss, with rs the sum of both components
        to = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, -1.0, 1.0)))
        # halves: strains along a direction t are t.E.t of E = (rr, rs/2; rs/2, ss)
        return to @ rows, _shear_fields(at) @ sides
    r, s = at
    inverse = _quad_values()
    first = _monomials((r, s), ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2))) @ inverse
    second = _monomials((s, r), ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2))) @ inverse
    corner = [0.25 * (1.0 + 3.0 * _G * a * r) * (1.0 + 3.0 * _G * b * s) for b in (-1.0, 1.0) for a in (-1.0, 1.0)]
    rows, shear = np.zeros((3, 14)), np.zeros((2, 10))
    rows[0, :4], rows[1, 4:8], rows[2, 8:12] = corner, corner, corner
    rows[0, 12], rows[1, 13] = s * s - 1.0 / 3.0, r * r - 1.0 / 3.0
    shear[0, :5], shear[1, 5:] = first, second
    return rows, shear


# --- geometry --------------------------------------------------------------------------------------------------------
def cell_of(X: np.ndarray) -> str:
    """Return the cell of elements with nodes at X (e, n, 3)."""
    return next(name for name, n in CELLS.items() if n == X.shape[1])


def tangents(cell: str, X: np.ndarray, points) -> np.ndarray:
    """Return derivatives (e, q, 2, 3) of the position by the natural coordinates."""
    G = gradients(cell, points)
    return (G.reshape(-1, X.shape[1]) @ X).reshape(len(X), *G.shape[:2], X.shape[2])


def local_axes(t: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return axes (e, 3, 3) in rows at points with the tangents t (e, 2, 3), components (e, 2, 2) of both tangents in
    the first two, and the area (e,) per natural area.

    The axes are those of the ``middle`` (e, 3, 3) of elements, turned by the smallest rotation between both normals.
    On a cylinder they keep their angle to its axis, which projections of the first one do not.
    """
    N = np.cross(t[:, 0], t[:, 1])
    area = np.linalg.norm(N, axis=1)
    N = N / area[:, None]
    axis, normal = middle[:, 0], middle[:, 2]
    share = (axis * N).sum(axis=1) / (1.0 + (normal * N).sum(axis=1))
    first = axis - share[:, None] * (normal + N)
    first /= np.linalg.norm(first, axis=1)[:, None]
    axes = np.stack((first, np.cross(N, first), N), axis=1)
    return axes, np.einsum("ekc,eic->eki", t, axes[:, :2]), area


def surface_normals(X: np.ndarray) -> np.ndarray:
    """Return unit normals (e, n, 3) at the nodes of the surfaces through nodes at X (e, n, 3) [m]."""
    cell = cell_of(X)
    t = tangents(cell, X, local_nodes(cell))
    N = np.cross(t[:, :, 0], t[:, :, 1])
    return N / np.linalg.norm(N, axis=2)[..., None]


def node_vectors(X: np.ndarray, offset) -> np.ndarray:
    """Return the vectors P, D, v_1, v_2 of the nodes (e, 4 n, 3) in spatial axes at the reference.

    Args:
        X: positions (e, n, 3) [m] of the nodes.
        offset: distance [m] of the reference surface from the nodes along the normals, a number, (e,) or (e, n).
    """
    e, n, _ = X.shape
    D, cell = surface_normals(X), cell_of(X)
    offset = np.broadcast_to(np.asarray(offset, float).reshape(np.shape(offset) + (1,) * (2 - np.ndim(offset))), (e, n))
    P = X + offset[..., None] * D
    t = tangents(cell, P, local_nodes(cell))
    N = surface_normals(P)
    # contravariant vectors; half the curl of a field with the derivatives x,r and x,s is (g^r x x,r + g^s x x,s).N/2
    size = np.einsum("eac,eac->ea", np.cross(t[:, :, 0], t[:, :, 1]), N)[..., None]
    first, second = np.cross(t[:, :, 1], N) / size, np.cross(N, t[:, :, 0]) / size
    return np.concatenate((P, D, 0.5 * np.cross(N, first), 0.5 * np.cross(N, second)), axis=1)


def fields_of(tying: Tying, vectors: np.ndarray) -> np.ndarray:
    """Return the fields (e, f, 3) of nodes with the vectors (e, 4 n, 3) of `node_vectors`."""
    return np.einsum("fa,efac->efc", tying.rows, vectors[:, tying.base[:, None] + np.arange(tying.nodes)])


def reference_strains(tying: Tying, vectors: np.ndarray) -> np.ndarray:
    """Return the sums of products (e, m) of nodes with vectors P, d, v_1 and v_2 (e, 4 n, 3) in spatial axes."""
    fields = fields_of(tying, vectors)
    found = np.zeros((len(vectors), tying.strains))
    values = tying.factors * (fields[:, tying.products[:, 1]] * fields[:, tying.products[:, 2]]).sum(axis=2)
    np.add.at(found.T, tying.products[:, 0], values.T)
    return found


def free_strains(X: np.ndarray, offset, axes: np.ndarray, strain: np.ndarray) -> np.ndarray:
    """Return tied strains (e, m) of elements that strain and bend freely.

    Derivatives x,r stretch by the strains, along the normal by the mean of both, and d,r grow by the curvatures times
    x,r.  The offset counts as if it stretched too: bodies that expand evenly stay similar.

    Args:
        X, offset: as in `node_vectors`.
        axes: (e, 3, 3) axes of the elements in rows.
        strain: (e, n, 6) membrane strains 11, 22, 12 (gamma) and curvatures [1/m] at the nodes, in the projected axes.
    """
    cell = cell_of(X)
    tying = tying_of(cell)
    vectors = node_vectors(X, offset)
    P, fields = vectors[:, : tying.nodes], fields_of(tying, vectors)
    change = np.zeros_like(fields)
    for f, (base, at, along) in enumerate(zip(tying.base, tying.points, tying.along, strict=True)):
        if not np.any(along):
            continue
        t = tangents(cell, P, [at])[:, 0]
        local, _, _ = local_axes(t, axes)
        here = np.einsum("a,eai->ei", shape_functions(cell, [at])[0], strain)
        tensor = np.zeros((len(X), 3, 3))
        xx, yy, xy = here[:, :3].T if base == 0 else here[:, 3:].T
        tensor[:, 0, 0], tensor[:, 1, 1], tensor[:, 0, 1], tensor[:, 1, 0] = xx, yy, 0.5 * xy, 0.5 * xy
        if base == 0:
            tensor[:, 2, 2] = 0.5 * (xx + yy)
        slope = np.einsum("k,ekc->ec", along, tangents(cell, X, [at])[:, 0] if base == 0 else t)
        change[:, f] = np.einsum("eic,eij,ejd,ed->ec", local, tensor, local, slope, optimize=True)
    first, second = tying.products[:, 1], tying.products[:, 2]
    rates = (change[:, first] * fields[:, second] + fields[:, first] * change[:, second]).sum(axis=2)
    found = np.zeros((len(X), tying.strains))
    np.add.at(found.T, tying.products[:, 0], (tying.factors * rates).T)
    return found
