"""Parameters of quadratic shell elements: stiffness over their tied strains, from the section and the curved geometry.

Strains between the tying points follow from the tied ones in natural coordinates (`tying`); tensor components turn them
into the axes of a point, those of the element turned with the normal.  Then S = sum over integration
points of B^T C B with C of the section, in blocks: membrane and bending together, transverse shear, drilling.

The strains of a layer at the height z are those of its own metric: with the curvature b of the surface (b_ij the
component j of the derivative of the normal by the axis i) and k' = k - b e - e b they are, to the first order in z/R,
e + z k' - z^2 (b k' + k' b)/2, and its volume is 1 + z (b_11 + b_22) times that at z = 0.  The stiffness counts both: a
pressed tube has the strain w/(R + z), and the neutral line of a curved beam in bending lies h^2/(12 R) inside
(Winkler).  Forces and moments follow from e + z k', stresses from e + z k'/(1 + z b) (`bent_strains`).

Drilling: 2 G h/2 integral a^2 with the rotation a of the surface about the normal less that of the nodes, interpolated
between the nodes, and the shear modulus G (Hughes & Brezzi 1989, doi:10.1016/0045-7825(89)90124-2).

Where the surface is curved, by the angle phi between normals at most, the share 1/(1 + (L phi/h)^2) of this is taken,
with L the largest distance of two nodes: drilling there holds bending strains times L phi, and would lock.  So do the
changes of the membrane strains of triangles across their sides; they keep the share 1/(1 + (L phi/h)^2/48).

Quadrilaterals have the plane strains of the 2 x 2 points with the weights of these, so that constant stresses do the
exact work on all displacements of their sides.  Two further strains each, quadratic across the lines, resist the way to
deform that those do not feel; they are counted from what the mean strain makes of them.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.elements.shells.tying import (
    CELLS,
    Tying,
    cell_of,
    interpolation,
    local_axes,
    node_vectors,
    reference_strains,
    surface_normals,
    tangents,
    tying_of,
)  # fmt: skip
from fem_mbs.elements.solids.shapes import local_nodes, rule, shape_functions

__all__ = [
    "QuadraticColumns",
    "axes_at_nodes",
    "bent_strains",
    "forces_at_nodes",
    "middle_of_nodes",
    "node_curvatures",
    "quadratic_rows",
    "quadratic_stiffness",
]

_CHUNK = 512  # elements at a time, of about 100 kB each
_G = 3.0**-0.5
_REGULAR = 12  # plane strains of the quadrilateral at its 2 x 2 points, before those for stability
# Dunavant's rule of degree 4 on the triangle (1985, doi:10.1002/nme.1620210612)
_D = ((0.445948490915965, 0.223381589678011), (0.091576213509771, 0.109951743655322))
_TRIANGLE = (
    np.array([p for a, _ in _D for p in ((a, a), (1.0 - 2.0 * a, a), (a, 1.0 - 2.0 * a))]),
    np.repeat([0.5 * w for _, w in _D], 3),
)
#: points at which forces and moments are computed; those of the nodes follow by (bi)linear extrapolation
_FORCES = {"triangle6": rule("triangle6"), "quad8": rule("quad8", "reduced")}
_LINEAR = {"triangle6": "triangle", "quad8": "quad"}
_ACROSS = 1.0 / 48.0  # share of membrane strains across the sides of triangles: factor on (L phi/h)^2
#: value at the centroid, difference along a side and across it, by the tied strains along that side; the centroid has
#: 1/sqrt(3) of the height of the point opposite the side
_PARTS = np.array(((0.5 * (1.0 - _G), 0.5 * (1.0 - _G), _G), (-0.5, 0.5, 0.0), (-0.5, -0.5, 1.0)))


class QuadraticColumns:
    """Columns of the parameter table of a cell: of vectors, reference strains, initial stresses, stiffness, forces, and
    the function and the strains of temperatures.

    Vectors of the nodes in body axes: offsets o of all nodes, normals D, drilling vectors v_1 and v_2.  The stiffness
    is the upper triangles of its blocks (membrane and bending, shear, drilling), row by row.
    """

    def __init__(self, cell: str) -> None:
        tying = tying_of(cell)
        n, m = tying.nodes, tying.strains
        a, b, c, d = tying.counts
        self.blocks = a + b, c, d
        self.nodes, self.strains = n, m
        self.damping = 0
        self.vector = 1
        self.reference = self.vector + 12 * n
        self.stress = self.reference + m
        self.stiffness = self.stress + m
        self.resultants = self.stiffness + sum(k * (k + 1) // 2 for k in self.blocks)
        self.function = self.resultants + 8 * m
        self.thermal = self.function + 1
        self.count = self.thermal + m

    def names(self) -> tuple[str, ...]:
        """Return the names of the columns, units in square brackets."""
        s = range(1, self.strains + 1)
        first = np.concatenate(([0], np.cumsum(self.blocks)))
        return (
            "damping [s]",
            *(f"V{i}{c}" for i in range(1, 4 * self.nodes + 1) for c in "xyz"),
            *(f"p{i}" for i in s),
            *(f"s{i}" for i in s),
            *(
                f"S{i + 1}_{j + 1}"
                for low, high in zip(first[:-1], first[1:], strict=True)
                for i in range(low, high)
                for j in range(i, high)
            ),
            *(f"R{i}_{j}" for i in range(1, 9) for j in s),
            "function",
            *(f"T{i}" for i in s),
        )


def _to_axes(J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return matrices (e, 3, 3) and (e, 2, 2) from strains rr, ss, rs and shear in natural coordinates to those in the
    axes, of tangents with the components J (e, 2, 2)."""
    j = np.linalg.inv(J)  # [i, k]: derivative of coordinate k by axis i
    T = np.empty((len(J), 3, 3))
    for row, (a, b) in enumerate(((0, 0), (1, 1), (0, 1))):
        f = 1.0 if a == b else 2.0
        T[:, row, 0] = f * j[:, a, 0] * j[:, b, 0]
        T[:, row, 1] = f * j[:, a, 1] * j[:, b, 1]
        T[:, row, 2] = 0.5 * f * (j[:, a, 0] * j[:, b, 1] + j[:, a, 1] * j[:, b, 0])
    return T, j


def _slopes(X: np.ndarray, cell: str, points) -> np.ndarray:
    """Return derivatives (q, e, 2, 3) of the normals of the surface by the natural coordinates at points."""
    return np.moveaxis(tangents(cell, surface_normals(X), points), 1, 0)


def _curvature(slopes: np.ndarray, local: np.ndarray, J: np.ndarray, section: np.ndarray) -> np.ndarray:
    """Return the curvature b (e, 2, 2) [1/m] of the surface at a point with slopes (e, 2, 3) of the normals, axes
    (e, 3, 3) and tangents J (e, 2, 2).

    It is limited to one over the thickness: expansions by z/R end there, and more would make the stiffness indefinite.
    """
    b = np.linalg.solve(J, slopes @ np.swapaxes(local[:, :2], 1, 2))
    b = 0.5 * (b + np.swapaxes(b, 1, 2))
    ratio = np.sqrt(_thickness_squared(section)) * np.linalg.norm(b, axis=(1, 2))
    return b / np.maximum(ratio, 1.0)[:, None, None]


def _thickness_squared(section: np.ndarray) -> np.ndarray:
    """Return the square (e,) [m^2] of the thickness of a homogeneous section with the same moduli."""
    return 12.0 * np.trace(section[:, 3:, 3:], axis1=1, axis2=2) / np.trace(section[:, :3, :3], axis1=1, axis2=2)


def _products(b: np.ndarray) -> np.ndarray:
    """Return matrices (e, 3, 3) from strains e (shear as gamma) to b e + e b with the curvature b (e, 2, 2)."""
    W = np.zeros((len(b), 3, 3))
    W[:, 0, 0], W[:, 1, 1], W[:, 2, 2] = 2.0 * b[:, 0, 0], 2.0 * b[:, 1, 1], b[:, 0, 0] + b[:, 1, 1]
    W[:, :2, 2] = b[:, 0, 1, None]
    W[:, 2, :2] = 2.0 * b[:, 0, 1, None]
    return W


def _curved_section(section: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the section (e, 6, 6) with the volumes of its layers and their strains by the square of their heights."""
    t, D = np.trace(b, axis1=1, axis2=2)[:, None, None], section[:, 3:, 3:]
    coupling = t * D - 0.5 * D @ _products(b)
    C = section.copy()
    C[:, :3, :3] += t * section[:, :3, 3:]
    C[:, :3, 3:] += coupling
    C[:, 3:, :3] += np.swapaxes(coupling, 1, 2)
    return C


def _strains(cell: str, tying: Tying, J: np.ndarray, at) -> np.ndarray:
    """Return membrane strains, curvatures and shear strains (e, 8, m) at a point by the tied strains."""
    a, b, c, _ = tying.counts
    plane, shear = interpolation(cell, at)
    T, j = _to_axes(J)
    B = np.zeros((len(J), 8, tying.strains))
    B[:, :3, :a] = B[:, 3:6, a : a + b] = T @ plane
    B[:, 6:, a + b : a + b + c] = j @ shear
    return B


def node_curvatures(X: np.ndarray, axes: np.ndarray, section: np.ndarray) -> np.ndarray:
    """Return the curvature (e, n, 2, 2) [1/m] of the surface at the nodes, in the axes of `axes_at_nodes`; limited to
    one over the thickness.  Arguments as in `quadratic_stiffness`."""
    cell = cell_of(X)
    places = local_nodes(cell)
    found = np.empty((*X.shape[:2], 2, 2))
    at_places = np.moveaxis(tangents(cell, X, places), 1, 0)
    for a, (t, slopes) in enumerate(zip(at_places, _slopes(X, cell, places), strict=True)):
        local, J, _ = local_axes(t, axes)
        found[:, a] = _curvature(slopes, local, J, section)
    return found


def bent_strains(strain: np.ndarray, curvature: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return strains 11, 22, 12 (..., 3) at heights z (...) [m] of a curved shell, the symmetric part of
    e + z (1 + z b)^-1 k'.

    To the second order in z it is e + z k' - z^2 (b k' + k' b)/2; of a curved beam it is exact.

    Args:
        strain: (..., 6) membrane strains e and curvatures k' [1/m].
        curvature: (..., 2, 2) [1/m] b of the surface.
    """
    metric = np.linalg.inv(np.eye(2) + z[..., None, None] * curvature)
    kappa = np.empty((*strain.shape[:-1], 2, 2))
    kappa[..., 0, 0], kappa[..., 1, 1] = strain[..., 3], strain[..., 4]
    kappa[..., 0, 1] = kappa[..., 1, 0] = 0.5 * strain[..., 5]
    k = metric @ kappa
    return strain[..., :3] + z[..., None] * np.stack((k[..., 0, 0], k[..., 1, 1], k[..., 0, 1] + k[..., 1, 0]), axis=-1)


def axes_at_nodes(X: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Return axes (e, n, 3, 3) at the nodes of elements with nodes at X (e, n, 3) and axes (e, 3, 3)."""
    cell = cell_of(X)
    t = tangents(cell, X, local_nodes(cell))
    return np.stack([local_axes(t[:, a], axes)[0] for a in range(X.shape[1])], axis=1)


def quadratic_stiffness(
    X: np.ndarray, axes: np.ndarray, section: np.ndarray, shear: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the stiffness (e, m, m) over the tied strains, and membrane forces, moments and shear forces (e, 8, m) at
    the middle by these strains.

    Args:
        X: positions (e, n, 3) [m] of the reference surface of the section.
        axes: (e, 3, 3) axes of the elements in rows.
        section: (e, 6, 6) symmetric matrix that gives membrane forces [N/m] and moments [N] by membrane strains and
            curvatures in the axes.
        shear: (e, 2, 2) transverse shear stiffness [N/m].
    """
    S, released = _stiffness(X, axes, section, shear)
    cell = cell_of(X)
    middle = local_nodes(_LINEAR[cell]).mean(axis=0)[None]
    return S, _forces(X, axes, section, shear, _extrapolated(cell, middle), released)[:, 0]


def _chunks(count: int) -> list[slice]:
    return [slice(first, first + _CHUNK) for first in range(0, count, _CHUNK)]


def _stiffness(X, axes, section, shear) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the stiffness (e, m, m), and of triangles the matrices of `_released`."""
    n = X.shape[1]
    found, released = [], []
    for k in _chunks(len(X)):
        S, about = _integrals(X[k], axes[k], section[k], shear[k])
        if n == CELLS["triangle6"]:
            T = _released(X[k], section[k], S)
            S = np.swapaxes(T, 1, 2) @ S @ T
            released.append(T)
        S[:, -n:, -n:] = 2.0 * _share(X[k], section[k])[:, None, None] * section[k, 2:3, 2:3] * about
        found.append(S)
    return np.concatenate(found), np.concatenate(released) if released else None


def _released(X: np.ndarray, section: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Return matrices (e, m, m) from tied strains of triangles to those that count in the stiffness S (e, m, m).

    The membrane strain along each side has a value at the centroid, a difference along the side and one across it.
    Where the surface is curved, the three differences across give way to those along, until they are free of stress
    but for their share.  Constant strains stay as they are.
    """
    to_parts = np.eye(S.shape[1])
    to_parts[:9, :9] = np.kron(np.eye(3), _PARTS)
    back = np.linalg.inv(to_parts)
    along, across = np.array((1, 4, 7)), np.array((2, 5, 8))
    Q = back.T @ S @ back
    kept = np.sqrt(_share(X, section, _ACROSS))[:, None, None]
    T = np.broadcast_to(np.eye(S.shape[1]), S.shape).copy()
    T[:, across] *= kept
    free = np.linalg.solve(Q[:, across[:, None], across], Q[:, across[:, None], along])
    T[:, across[:, None], along] -= (1.0 - kept) * free
    return back @ T @ to_parts


def _integrals(X, axes, section, shear) -> tuple[np.ndarray, np.ndarray]:
    """Return the integral (e, m, m) of B^T C B over elements, without drilling, and (e, n, n) of the products of
    two shape functions."""
    e, n, _ = X.shape
    cell, tying = _tying(X)
    a = tying.counts[0]
    plane = 2 * a
    areas, strains, forces = [], [], []
    points, weights = _TRIANGLE if cell == "triangle6" else rule("quad8")
    mean, parts = _constant_parts(cell, tying, X, axes)
    shapes = shape_functions(cell, points)
    t_at, slopes_at = np.moveaxis(tangents(cell, X, points), 1, 0), _slopes(X, cell, points)
    for at, weight, t, slopes in zip(points, weights, t_at, slopes_at, strict=True):
        local, J, area = local_axes(t, axes)
        curvature = _curvature(slopes, local, J, section)
        B = _strains(cell, tying, J, at)
        if cell == "quad8":
            # plane strains beside those of the 2 x 2 points: what is left without constant strains
            B[:, :6, [*range(_REGULAR), *range(a, a + _REGULAR)]] = 0.0
            for low in (0, a):
                rest = B[:, 3 * (low > 0) : 3 * (low > 0) + 3, low + _REGULAR : low + a]
                rest_by_mean = rest @ parts
                B[:, 3 * (low > 0) : 3 * (low > 0) + 3, low : low + a] -= rest_by_mean @ mean
        B[:, 3:6] -= _products(curvature) @ B[:, :3]
        C = _sections(_curved_section(section, curvature), shear)
        areas.append(weight * area)
        strains.append(B)
        forces.append((weight * area)[:, None, None] * (C @ B))
    S = _summed(strains, forces)
    squares = (shapes[:, :, None] * shapes[:, None]).reshape(len(points), n * n)
    about = (np.array(areas).T @ squares).reshape(e, n, n)
    if cell == "quad8":
        points, weights = rule("quad8", "reduced")
        t_at, slopes_at = np.moveaxis(tangents(cell, X, points), 1, 0), _slopes(X, cell, points)
        strains, forces = [], []
        for at, weight, t, slopes in zip(points, weights, t_at, slopes_at, strict=True):
            local, J, area = local_axes(t, axes)
            curvature = _curvature(slopes, local, J, section)
            B = _strains(cell, tying, J, at)[:, :6, :plane]
            B[:, 3:6] -= _products(curvature) @ B[:, :3]
            strains.append(B)
            forces.append((weight * area)[:, None, None] * (_curved_section(section, curvature) @ B))
        S[:, :plane, :plane] += _summed(strains, forces)
    return S, about


def _summed(strains: list[np.ndarray], forces: list[np.ndarray]) -> np.ndarray:
    """Return the sum (e, m, m) over points of the products of strains (e, k, m) and forces (e, k, m) there."""
    return np.swapaxes(np.concatenate(strains, axis=1), 1, 2) @ np.concatenate(forces, axis=1)


def _constant_parts(cell: str, tying: Tying, X: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return of quadrilaterals the mean strains (e, 3, a) at the 2 x 2 points by the tied ones, and the quadratic
    parts (e, 2, 3) of rr and ss that constant strains have, where opposite sides are not parallel."""
    a, e = tying.counts[0], len(X)
    if cell != "quad8":
        return np.zeros((e, 3, a)), np.zeros((e, 2, 3))
    points, _ = rule("quad8", "reduced")
    at_points = np.moveaxis(tangents(cell, X, points), 1, 0)
    mean = np.mean(
        [_strains(cell, tying, local_axes(t, axes)[1], at)[:, :3, :a] for at, t in zip(points, at_points, strict=True)],
        axis=0,
    )
    # rr = x,r.E.x,r at the points whose differences make the quadratic parts
    parts = np.zeros((e, 2, 3))
    for axis, swap in ((0, 1), (1, -1)):
        for (r, s), weight in (
            *(((p, q), 0.25) for p in (-_G, _G) for q in (-1.0, 1.0)),
            *(((p, 0.0), -0.5) for p in (-_G, _G)),
        ):
            t = tangents(cell, X, [(r, s)[::swap]])[:, 0]
            x, y = np.moveaxis(local_axes(t, axes)[1][:, axis], 1, 0)
            parts[:, axis] += weight * np.stack((x * x, y * y, x * y), axis=1)
    return mean, parts


def _tying(X: np.ndarray) -> tuple[str, Tying]:
    cell = cell_of(X)
    return cell, tying_of(cell)


def _sections(section: np.ndarray, shear: np.ndarray) -> np.ndarray:
    C = np.zeros((len(section), 8, 8))
    C[:, :6, :6], C[:, 6:, 6:] = section, shear
    return C


def _forces(X, axes, section, shear, to_points: np.ndarray, released: np.ndarray | None = None) -> np.ndarray:
    """Return forces (e, p, 8, m) by tied strains as ``to_points`` (p, q) of those at the points of `_FORCES`.

    ``released``: the matrices (e, m, m) of `_released` of triangles, where they are at hand.
    """
    cell, tying = _tying(X)
    points, _ = _FORCES[cell]
    found = np.empty((len(X), len(to_points), 8, tying.strains))
    for k in _chunks(len(X)):
        C = _sections(section[k], shear[k])
        at_points = np.moveaxis(tangents(cell, X[k], points), 1, 0)
        by_strains = np.empty((len(points), len(C), 8, tying.strains))
        for i, (at, t, slopes) in enumerate(zip(points, at_points, _slopes(X[k], cell, points), strict=True)):
            local, J, _ = local_axes(t, axes[k])
            B = _strains(cell, tying, J, at)
            B[:, 3:6] -= _products(_curvature(slopes, local, J, section[k])) @ B[:, :3]
            by_strains[i] = C @ B
        if cell == "triangle6":
            by_strains = by_strains @ (
                _released(X[k], section[k], _integrals(X[k], axes[k], section[k], shear[k])[0])
                if released is None
                else released[k]
            )
        found[k] = np.moveaxis(np.tensordot(to_points, by_strains, axes=1), 0, 1)
    return found


def _extrapolated(cell: str, at: np.ndarray) -> np.ndarray:
    """Return the matrix (p, q) to values at points ``at`` from those at the points of `_FORCES`, (bi)linear between."""
    linear = _LINEAR[cell]
    return shape_functions(linear, at) @ np.linalg.inv(shape_functions(linear, _FORCES[cell][0]))


def middle_of_nodes(n: int) -> np.ndarray:
    """Return the shares (n,) of the values of n nodes in the mean over the points at which forces are computed."""
    cell = next(name for name, count in CELLS.items() if count == n)
    return shape_functions(cell, _FORCES[cell][0]).mean(axis=0)


def forces_at_nodes(X, axes, section, shear) -> np.ndarray:
    """Return membrane forces, moments and shear forces (e, n, 8, m) at the nodes by the tied strains, in the axes of
    `axes_at_nodes`; arguments as in `quadratic_stiffness`."""
    cell, _ = _tying(X)
    return _forces(X, axes, section, shear, _extrapolated(cell, local_nodes(cell)))


def _share(X: np.ndarray, section: np.ndarray, factor: float = 1.0) -> np.ndarray:
    """Return the share (e,) of stiffness that curved elements keep, 1 where they are plane."""
    N = surface_normals(X)
    phi = np.sqrt(np.maximum(1.0 - np.einsum("eac,ebc->eab", N, N).min(axis=(1, 2)) ** 2, 0.0))
    length = ((X[:, :, None] - X[:, None]) ** 2).sum(axis=3).max(axis=(1, 2))
    return 1.0 / (1.0 + factor * length * phi**2 / _thickness_squared(section))


def quadratic_rows(X, offset, stiffness, resultants, damping=0.0, rotation=None) -> np.ndarray:
    """Return parameter rows (e, n_par) of quadratic shell elements.

    Args:
        X: positions (e, n, 3) [m] of the nodes.
        offset: distance [m] of the reference surface of the stiffness from the nodes along the normals, a number, (e,)
            or (e, n).
        stiffness: (e, m, m) matrix over the tied strains, without coupling of its blocks.
        resultants: (e, 8, m) membrane forces, moments and shear forces at the middle, by the tied strains.
        damping: ratio beta [s] of damping to stiffness.
        rotation: (e, n, 3, 3) rotation matrices of the nodes at the reference; None: identities.
    """
    e, n, _ = X.shape
    cell = cell_of(X)
    c = QuadraticColumns(cell)
    spatial = node_vectors(X, offset)
    vectors = spatial.copy()
    vectors[:, :n] -= X
    if rotation is not None:
        turned = np.einsum("eaji,eaj->eai", rotation[:, np.tile(np.arange(n), 4)], vectors)
    else:
        turned = vectors
    par = np.zeros((e, c.count))
    par[:, c.damping] = damping
    par[:, c.vector : c.reference] = turned.reshape(e, -1)
    par[:, c.reference : c.stress] = reference_strains(tying_of(cell), spatial)
    at = c.stiffness
    low = 0
    for size_ in c.blocks:
        rows, columns = np.triu_indices(size_)
        par[:, at : at + len(rows)] = stiffness[:, low + rows, low + columns]
        at, low = at + len(rows), low + size_
    par[:, c.resultants : c.function] = resultants.reshape(e, -1)
    par[:, c.function] = -1.0
    return par
