"""Stiffness of shell elements over their natural strains, from the section: what keeps them free of locking.

A linear element of n nodes has 6 n - 6 ways to deform, and as many natural strains p that are linear in the nodes'
displacements and vanish in rigid motions.  Every linear element with a constant stiffness K is therefore K = B^T S B
with p = B u.  S is made here, in the plane of the element; large rotations are those of p (`natural` beside it).

Quadrilateral:

- membrane: sides bulge with the rotations of their nodes, x_m = (x_i + x_j)/2 + (w_i - w_j) L/8 across the side
  (Allman 1984, doi:10.1016/0045-7949(84)90197-4), less the mean strain of the bulges (Taylor 1988; Jetteur & Frey
  1986); stresses are assumed, the five of Pian & Sumihara (1984,
  doi:10.1002/nme.1620200911), so that bending in the plane does not lock, and a quadratic one for the bulges;
- drilling: 2 G h/2 integral (curl u/2 - w)^2 with the shear modulus, the variational form of Hughes & Brezzi (1989,
  doi:10.1016/0045-7825(89)90124-2; Ibrahimbegovic, Taylor & Wilson 1990, doi:10.1002/nme.1620300302);
- bending: bilinear directors, five moments are assumed as the stresses of the membrane are (Simo, Fox & Rifai 1989,
  doi:10.1016/0045-7825(89)90098-4), coupled with them where the section couples;
- transverse shear: constant along each side (MITC4; Dvorkin & Bathe 1984, doi:10.1108/eb023562).

Triangle:

- membrane and drilling: the optimal triangle (Felippa 2003, doi:10.1016/S0045-7825(03)00253-6), whose higher-order
  strains are those of the rotations of the nodes against the element, the natural strains a;
- bending and transverse shear: DKMT (Katili 1993, doi:10.1002/nme.1620361106): directors are quadratic along the sides
  by what shear there does not take, so that it is the discrete Kirchhoff triangle where it is thin.

Membrane strains 11, 22, 12 (gamma), curvatures likewise, transverse shear 13, 23, in the axes of the element.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.elements.shells.natural import lines_of
from fem_mbs.late import dataclass

__all__ = ["Stiffness", "frames", "membrane_stiffness", "shell_stiffness", "side_bulge"]

_CHUNK = 4096  # elements at a time, of about 10 kB each
_X, _Y = np.array((-1.0, 1.0, 1.0, -1.0)), np.array((-1.0, -1.0, 1.0, 1.0))


@dataclass(frozen=True)
class Stiffness:
    """``matrix`` (e, m, m) over the natural strains; ``resultants`` (e, 1 + n, 8, m): N, M, Q by the natural strains at
    the middle and at the nodes; of membranes (e, 1 + n, 3, m): N."""

    matrix: np.ndarray
    resultants: np.ndarray

    @property
    def middle(self) -> np.ndarray:
        """The resultants (e, 8, m) at the middle; of membranes (e, 3, m)."""
        return self.resultants[:, 0]


def frames(X: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Return the axes (e, 3, 3) of elements in rows, the third along the normal, from their nodes X (e, n, 3).

    The first is the projection of ``axis`` (3,) or (e, 3); of the next one of the cyclic order of its components where
    that stands within 0.1 degrees of the normal.
    """
    n = X.shape[1]
    N = np.cross(X[:, 2] - X[:, 0], X[:, 3] - X[:, 1]) if n == 4 else np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0])
    N /= np.linalg.norm(N, axis=1)[:, None]
    axis = np.broadcast_to(np.asarray(axis, float), N.shape)
    axis = axis / np.linalg.norm(axis, axis=1)[:, None]
    upright = np.abs((axis * N).sum(axis=1)) > np.cos(np.radians(0.1))
    axis = np.where(upright[:, None], np.roll(axis, -1, axis=1), axis)
    first = axis - (axis * N).sum(axis=1)[:, None] * N
    first /= np.linalg.norm(first, axis=1)[:, None]
    return np.stack((first, np.cross(N, first), N), axis=1)


def shell_stiffness(X, axes, section, shear, drilling=1.0) -> Stiffness:
    """Return the stiffness of elements over their natural strains.

    Args:
        X: positions (e, n, 3) [m] of the reference surface of the section.
        axes: (e, 3, 3) axes of the elements in rows.
        section: (e, 6, 6) symmetric matrix that gives membrane forces [N/m] and moments [N] by membrane strains and
            curvatures in the axes.
        shear: (e, 2, 2) transverse shear stiffness [N/m].
        drilling: (e,) of triangles, 0 to 1: share of the strains by the rotations about the normal.
    """
    e, n, _ = X.shape
    xy = np.einsum("eac,eic->eai", X - X.mean(axis=1)[:, None], axes[:, :2])
    make = _quad if n == 4 else _triangle
    drilling = np.broadcast_to(np.asarray(drilling, float), (e,))
    parts = [
        make(xy[k], section[k], shear[k], drilling[k])
        for k in (slice(first, first + _CHUNK) for first in range(0, e, _CHUNK))
    ]
    return Stiffness(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def membrane_stiffness(X, axes, section) -> Stiffness:
    """Return the stiffness of membranes over the natural strains of their lines.

    Args:
        X: positions (e, n, 3) [m] of the nodes.
        axes: (e, 3, 3) axes of the elements in rows.
        section: (e, 3, 3) symmetric matrix that gives membrane forces [N/m] by membrane strains in the axes.
    """
    n = X.shape[1]
    xy = np.einsum("eac,eic->eai", X - X.mean(axis=1)[:, None], axes[:, :2])
    parts = [
        _membrane(xy[k], section[k], n) for k in (slice(first, first + _CHUNK) for first in range(0, len(X), _CHUNK))
    ]
    return Stiffness(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


# --- natural strains of the plane ------------------------------------------------------------------------------------
def _shapes(n: int, at) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return shape functions (n,), their derivatives (2, n) and those of the bulges of the sides (2, n) at a point."""
    if n == 3:
        L = np.array((1.0 - at[0] - at[1], at[0], at[1]))
        d = np.array(((-1.0, 1.0, 0.0), (-1.0, 0.0, 1.0)))
        return L, d, np.stack([4.0 * (d[:, i] * L[j] + d[:, j] * L[i]) for i, j in lines_of(3)], axis=1)
    x, y = at
    N = 0.25 * (1.0 + _X * x) * (1.0 + _Y * y)
    d = 0.25 * np.stack((_X * (1.0 + _Y * y), _Y * (1.0 + _X * x)))
    bulges = (
        (-x * (1.0 - y), 0.5 * (1.0 - y * y), -x * (1.0 + y), -0.5 * (1.0 - y * y)),
        (-0.5 * (1.0 - x * x), -y * (1.0 + x), 0.5 * (1.0 - x * x), -y * (1.0 - x)),
    )
    return N, d, np.array(bulges)


def _gradients(xy: np.ndarray, at):
    """Return shape functions, gradients (e, 2, n) of nodes and bulges, and the Jacobian (e, 2, 2) with determinant."""
    N, d, bulges = _shapes(xy.shape[1], at)
    J = np.einsum("ka,eac->ekc", d, xy)
    inverse = np.linalg.inv(J)
    return N, inverse @ d, inverse @ bulges, J, np.linalg.det(J)


def _linear_strains(xy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return natural strains by displacements in the plane: membrane (e, k, 3 n) by (u, v, w) of the nodes, w about the
    normal, and plate (e, k, 3 n) by the deflection and the change of the director.

    Of a quadrilateral only the difference of both diagonals counts: 9 of 10 rows are independent in the plane.
    """
    e, n, _ = xy.shape
    lines = lines_of(n)
    k = len(lines)
    membrane, plate = np.zeros((e, k + n, n, 3)), np.zeros((e, k + n, n, 3))
    for r, (i, j) in enumerate(lines):
        chord = xy[:, j] - xy[:, i]
        membrane[:, r, j, :2], membrane[:, r, i, :2] = chord, -chord
        plate[:, r, j, 1:], plate[:, r, i, 1:] = chord, -chord
        if r < n:
            plate[:, k + r, j, 0], plate[:, k + r, i, 0] = 1.0, -1.0
            plate[:, k + r, j, 1:] = plate[:, k + r, i, 1:] = 0.5 * chord
    corners = np.column_stack((_X, _Y)) if n == 4 else np.array(((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)))
    for a in range(n):
        _, g, _, _, _ = _gradients(xy, corners[a])
        membrane[:, k + a, :, 0] -= 0.5 * g[:, 1]
        membrane[:, k + a, :, 1] += 0.5 * g[:, 0]
        membrane[:, k + a, a, 2] -= 1.0
    return membrane.reshape(e, k + n, -1), plate.reshape(e, k + n, -1)


def _independent(n: int) -> np.ndarray:
    """Return the matrix of independent strains by natural ones: both diagonals count by their difference."""
    if n == 3:
        return np.eye(6)
    T = np.zeros((9, 10))
    T[range(4), range(4)] = T[range(5, 9), range(6, 10)] = 1.0
    T[4, 4:6] = 1.0, -1.0
    return T


def _displacements(B: np.ndarray) -> np.ndarray:
    """Return displacements (e, 3 n, k) that make the natural strains B (e, k, 3 n), without rigid motion."""
    scale = 1.0 / np.linalg.norm(B, axis=2)[..., None]
    B = B * scale
    Bt = np.swapaxes(B, 1, 2)
    return Bt @ np.linalg.inv(B @ Bt) * np.swapaxes(scale, 1, 2)


def _strain_rows(g: np.ndarray) -> np.ndarray:
    """Return strains 11, 22, 12 (e, 3, n, 2) by a vector at the nodes with the gradients g (e, 2, n)."""
    e, _, n = g.shape
    B = np.zeros((e, 3, n, 2))
    B[:, 0, :, 0] = B[:, 2, :, 1] = g[:, 0]
    B[:, 1, :, 1] = B[:, 2, :, 0] = g[:, 1]
    return B


def _add(S: np.ndarray, factor: np.ndarray, B: np.ndarray, C: np.ndarray) -> None:
    """S (e, m, m) += factor (e,) B^T C B with B (e, k, m) and C (e, k, k)."""
    S += factor[:, None, None] * (np.swapaxes(B, 1, 2) @ (C @ B))


def _expanded(values: np.ndarray, n: int) -> np.ndarray:
    """Return values (..., m) by independent strains as those by natural strains."""
    T = _independent(n)
    r, c = T.shape
    both = np.zeros((2 * r, 2 * c))
    both[:r, :c] = both[r:, c:] = T
    return values @ both


# --- the quadrilateral -----------------------------------------------------------------------------------------------
_PLACES, _FACTORS = np.polynomial.legendre.leggauss(3)
_GAUSS = np.array([(x, y) for y in _PLACES for x in _PLACES])
_WEIGHTS = np.outer(_FACTORS, _FACTORS).ravel()


def _assumed(J: np.ndarray, at, centre: np.ndarray) -> np.ndarray:
    """Return membrane forces and moments (e, 6, 11) of their parameters at a point: five of each, then one of forces.

    Linear terms are counted from the centre of the area (e, 2).
    """
    x, y = at[0] - centre[:, 0], at[1] - centre[:, 1]
    along, across = (np.stack((a[:, 0] ** 2, a[:, 1] ** 2, a[:, 0] * a[:, 1]), axis=1) for a in (J[:, 0], J[:, 1]))
    P = np.zeros((len(J), 6, 11))
    for row, column in ((0, 0), (3, 5)):
        P[:, range(row, row + 3), range(column, column + 3)] = 1.0
        P[:, row : row + 3, column + 3] = y[:, None] * along
        P[:, row : row + 3, column + 4] = x[:, None] * across
    # sides that bulge in turns inwards and outwards would cost no energy without this one
    P[:, :3, 10] = (1.0 / 3.0 - at[1] ** 2) * along - (1.0 / 3.0 - at[0] ** 2) * across
    return P


def _quad_shear(xy: np.ndarray, at) -> np.ndarray:
    """Return transverse shear strains (e, 2, 9) by the independent plate strains: constant along each side."""
    _, _, _, J, _ = _gradients(xy, at)
    x, y = at
    along = np.zeros((2, 9))
    along[0, 5], along[0, 7] = 0.25 * (1.0 - y), -0.25 * (1.0 + y)
    along[1, 6], along[1, 8] = 0.25 * (1.0 + x), -0.25 * (1.0 - x)
    return np.linalg.inv(J) @ along


def _quad(xy, section, shear, drilling):
    """Return matrices over natural strains and resultants of quadrilaterals."""
    e = len(xy)
    T = _independent(4)
    membrane, plate = _linear_strains(xy)
    Pm, Pb = _displacements(T @ membrane), _displacements(T @ plate)
    sides = lines_of(4)[:4]
    chord = xy[:, sides[:, 1]] - xy[:, sides[:, 0]]
    S, H, G = np.zeros((e, 18, 18)), np.zeros((e, 11, 11)), np.zeros((e, 11, 18))
    points = [_gradients(xy, at) for at in _GAUSS]
    weights = np.stack([p[4] for p in points], axis=1) * _WEIGHTS
    area = weights.sum(axis=1)
    centre = weights @ _GAUSS / area[:, None]
    mean = np.einsum("eq,eqik->eik", weights, np.stack([p[2] for p in points], axis=1)) / area[:, None, None]
    compliance = np.linalg.inv(section)
    _, _, _, J0, _ = _gradients(xy, (0.0, 0.0))
    for q, (N, g, bulge, _, _) in enumerate(points):
        w = weights[:, q]
        strains = np.zeros((e, 3, 4, 3))
        strains[..., :2] = _strain_rows(g)
        curl = np.zeros((e, 4, 3))
        curl[..., 0], curl[..., 1], curl[..., 2] = -0.5 * g[:, 1], 0.5 * g[:, 0], -N
        for k, (i, j) in enumerate(sides):
            # The side bulges by (w_i - w_j) L/8 across it.  The mean strain of this is taken off, so that a constant
            # stress does no work on the rotations, and forces on an edge need no moments about the normal.
            mx, my = -chord[:, k, 1] / 8.0, chord[:, k, 0] / 8.0
            gx, gy = bulge[:, 0, k] - mean[:, 0, k], bulge[:, 1, k] - mean[:, 1, k]
            strain = np.stack((gx * mx, gy * my, gy * mx + gx * my), axis=1)
            turn = 0.5 * (bulge[:, 0, k] * my - bulge[:, 1, k] * mx)
            strains[:, :, i, 2] += strain
            strains[:, :, j, 2] -= strain
            curl[:, i, 2] += turn
            curl[:, j, 2] -= turn
        curvatures = np.zeros((e, 3, 4, 3))
        curvatures[..., 1:] = _strain_rows(g)
        E = np.zeros((e, 6, 18))
        E[:, :3, :9] = strains.reshape(e, 3, 12) @ Pm
        E[:, 3:, 9:] = curvatures.reshape(e, 3, 12) @ Pb
        P = _assumed(J0, _GAUSS[q], centre)
        _add(H, w, P, compliance)
        G += w[:, None, None] * (np.swapaxes(P, 1, 2) @ E)
        drill = curl.reshape(e, 1, 12) @ Pm
        _add(S[:, :9, :9], 2.0 * w, drill, section[:, 2:3, 2:3])
        _add(S[:, 9:, 9:], w, _quad_shear(xy, _GAUSS[q]), shear)
    parameters = np.linalg.solve(H[:, :10, :10], G[:, :10])
    assumed = np.swapaxes(G[:, :10], 1, 2) @ parameters
    # the last one adds no more than bending would, since on curved surfaces its strain is not that of bulges
    bending = 12.0 * np.trace(section[:, 3:, 3:], axis1=1, axis2=2)
    share = bending / (bending + area * np.trace(section[:, :3, :3], axis1=1, axis2=2))
    whole = np.swapaxes(G, 1, 2) @ np.linalg.solve(H, G)
    S += assumed + share[:, None, None] * (whole - assumed)
    resultants = np.zeros((e, 5, 8, 18))
    for r, at in enumerate(((0.0, 0.0), *zip(_X, _Y, strict=True))):
        resultants[:, r, :6] = _assumed(J0, at, centre)[..., :10] @ parameters
        resultants[:, r, 6:, 9:] = shear @ _quad_shear(xy, at)
    S = np.swapaxes(_expanded(S, 4), 1, 2)
    return _expanded(S, 4), _expanded(resultants, 4)


# --- the triangle ----------------------------------------------------------------------------------------------------
_INSIDE = np.array(((1.0, 1.0), (4.0, 1.0), (1.0, 4.0))) / 6.0
# Coefficients of the optimal triangle's higher-order strains, beta_1 ... beta_9, and of its lumping of forces, alpha
_BETA, _ALPHA = (1.0, 2.0, 1.0, 0.0, 1.0, -1.0, -1.0, -1.0, -2.0), 1.5


def _optimal(xy, section, drilling):
    """Return the mean strain (e, 3, 9), the rest of it at the corners (3, e, 3, 9) and the stiffness (e, 9, 9) of the
    rest, by (u, v, w) of the nodes.

    Symbols are those of Felippa (2003): x21 = x_2 - x_1, l21 the squared length of side 12.
    """
    e = len(xy)
    (x21, y21), (x32, y32), (x13, y13) = ((xy[:, i] - xy[:, j]).T for i, j in ((1, 0), (2, 1), (0, 2)))
    x12, x23, x31, y12, y23, y31 = -x21, -x32, -x13, -y21, -y32, -y13
    area = 0.5 * (x21 * y31 - x31 * y21)
    mean, turn = np.zeros((e, 3, 9)), np.zeros((e, 3, 9))
    alpha = _ALPHA * drilling
    nodes = ((y23, x32, y13, y21, x31, x12), (y31, x13, y21, y32, x12, x23), (y12, x21, y32, y13, x23, x31))
    for i, (y, x, ya, yb, xa, xb) in enumerate(nodes):
        mean[:, 0, 3 * i] = mean[:, 2, 3 * i + 1] = y
        mean[:, 1, 3 * i + 1] = mean[:, 2, 3 * i] = x
        mean[:, 0, 3 * i + 2] = alpha / 6.0 * y * (ya - yb)
        mean[:, 1, 3 * i + 2] = alpha / 6.0 * x * (xa - xb)
        mean[:, 2, 3 * i + 2] = alpha / 3.0 * (xa * ya - xb * yb)
        turn[:, :, 3 * i], turn[:, :, 3 * i + 1] = (x / (4.0 * area))[:, None], (-y / (4.0 * area))[:, None]
        turn[:, i, 3 * i + 2] = 1.0
    mean *= (0.5 / area)[:, None, None]
    l21, l32, l13 = x21**2 + y21**2, x32**2 + y32**2, x13**2 + y13**2
    natural = (
        (y23 * y13 * l21, y31 * y21 * l32, y12 * y32 * l13),
        (x23 * x13 * l21, x31 * x21 * l32, x12 * x32 * l13),
        ((y23 * x31 + x32 * y13) * l21, (y31 * x12 + x13 * y21) * l32, (y12 * x23 + x21 * y32) * l13),
    )
    to_strains = np.moveaxis(np.array(natural), -1, 0) / (4.0 * area**2)[:, None, None]
    b1, b2, b3, b4, b5, b6, b7, b8, b9 = _BETA
    lengths = np.stack((l21, l32, l13), axis=1)[..., None]
    first, second, third = (
        2.0 * area[:, None, None] / 3.0 * np.array(rows) / lengths
        for rows in (
            ((b1, b2, b3), (b4, b5, b6), (b7, b8, b9)),
            ((b9, b7, b8), (b3, b1, b2), (b6, b4, b5)),
            ((b5, b6, b4), (b8, b9, b7), (b2, b3, b1)),
        )
    )
    coupling = section[:, 0, 1] ** 2 / (section[:, 0, 0] * section[:, 1, 1])  # Poisson's ratio squared
    factor = 1.5 * np.sqrt(drilling * np.maximum(0.5 * (1.0 - 4.0 * coupling), 0.01))
    corners = np.stack([factor[:, None, None] * (to_strains @ q @ turn) for q in (first, second, third)])
    higher = np.zeros((e, 9, 9))
    for a in range(3):
        _add(higher, area / 3.0, 0.5 * (corners[a] + corners[a - 1]), section[:, :3, :3])
    return mean, corners, higher


def _triangle(xy, section, shear, drilling):
    """Return matrices over natural strains and resultants of triangles."""
    e = len(xy)
    membrane, plate = _linear_strains(xy)
    Pm, Pb = _displacements(membrane), _displacements(plate)
    mean, bent, higher = _optimal(xy, section, drilling)
    sides = lines_of(3)
    chord = xy[:, sides[:, 1]] - xy[:, sides[:, 0]]
    length = np.linalg.norm(chord, axis=2)
    t = chord / length[..., None]
    # of a side: bending stiffness along it, shear stiffness, share that shear takes
    along = np.stack((t[..., 0] ** 2, t[..., 1] ** 2, t[..., 0] * t[..., 1]), axis=2)
    bending = np.einsum("eki,eij,ekj->ek", along, section[:, 3:, 3:], along)
    phi = 12.0 * bending / (length**2 * np.einsum("eki,eij,ekj->ek", t, shear, t))
    share = phi / (1.0 + phi)
    quadratic = -1.5 / (length * (1.0 + phi))  # change of the director at the middle of the side by its natural shear
    corner = np.zeros((e, 3, 2, 6))  # shear strains at a corner from those along both of its sides
    for a in range(3):
        inverse = np.linalg.inv(np.stack((chord[:, a], chord[:, a - 1]), axis=1))
        corner[:, a, :, 3 + a] = inverse[:, :, 0] * share[:, a, None]
        corner[:, a, :, 3 + (a - 1) % 3] = inverse[:, :, 1] * share[:, a - 1, None]

    def strains(at):
        N, g, bulge, _, det = _gradients(xy, at)
        E = np.zeros((e, 6, 12))
        curvatures = np.zeros((e, 3, 3, 3))
        curvatures[..., 1:] = _strain_rows(g)
        E[:, :3, :6] = mean @ Pm
        E[:, 3:, 6:] = curvatures.reshape(e, 3, 9) @ Pb
        E[:, 3:, 9:] += np.einsum("ecki,eki,ek->eck", _strain_rows(bulge), t, quadratic)
        return E, np.einsum("a,eaij->eij", N, corner), det

    S = np.zeros((e, 12, 12))
    S[:, :6, :6] = np.swapaxes(Pm, 1, 2) @ higher @ Pm
    for at in _INSIDE:
        E, gamma, det = strains(at)
        _add(S, det / 6.0, E, section)
        _add(S[:, 6:, 6:], det / 6.0, gamma, shear)
    resultants = np.zeros((e, 4, 8, 12))
    for r, at in enumerate(((1.0 / 3.0, 1.0 / 3.0), (0.0, 0.0), (1.0, 0.0), (0.0, 1.0))):
        E, gamma, _ = strains(at)
        if r > 0:
            E[:, :3, :6] += bent[r - 1] @ Pm
        resultants[:, r, :6] = section @ E
        resultants[:, r, 6:, 6:] = shear @ gamma
    return S, resultants


def side_bulge(cell: str, drilling: np.ndarray) -> np.ndarray:
    """Return the factor (e,) of the bulge of a side by the difference of the rotations of its ends about the normal:
    times the length of the side its height in the middle; of forces on an edge these do work.

    That of quadrilaterals has no mean strain: a constant stress does no work on it, so that forces on edges are those
    of straight sides.

    Args:
        drilling: (e,) share of the rotations about the normal.
    """
    return _ALPHA / 8.0 * drilling if cell == "triangle" else np.zeros(len(drilling))


# --- membranes -------------------------------------------------------------------------------------------------------
def _membrane(xy, section, n):
    """Return matrices over natural strains and resultants of membranes: constant strain in triangles, in quadrilaterals
    the five stresses of Pian & Sumihara."""
    e, lines = len(xy), lines_of(n)
    B = np.zeros((e, len(lines), n, 2))
    for r, (i, j) in enumerate(lines):
        B[:, r, j] = xy[:, j] - xy[:, i]
        B[:, r, i] = -B[:, r, j]
    T = np.eye(3) if n == 3 else _independent(4)[:5, :6]
    move = _displacements(T @ B.reshape(e, len(lines), -1))
    places, weights = (np.full((1, 2), 1.0 / 3.0), (0.5,)) if n == 3 else (_GAUSS, _WEIGHTS)
    points = [_gradients(xy, at) for at in places]
    strains = [_strain_rows(p[1]).reshape(e, 3, -1) @ move for p in points]
    areas = [w * p[4] for w, p in zip(weights, points, strict=True)]
    if n == 3:
        S = np.zeros((e, 3, 3))
        _add(S, areas[0], strains[0], section)
        return S, np.repeat((section @ strains[0])[:, None], 4, axis=1)
    centre = np.stack(areas, axis=1) @ _GAUSS / sum(areas)[:, None]
    _, _, _, J0, _ = _gradients(xy, (0.0, 0.0))
    H, G, compliance = np.zeros((e, 5, 5)), np.zeros((e, 5, 5)), np.linalg.inv(section)
    for at, area, strain in zip(_GAUSS, areas, strains, strict=True):
        P = _assumed(J0, at, centre)[:, :3, :5]
        _add(H, area, P, compliance)
        G += area[:, None, None] * (np.swapaxes(P, 1, 2) @ strain)
    parameters = np.linalg.solve(H, G)
    places = ((0.0, 0.0), *zip(_X, _Y, strict=True))
    resultants = np.stack([_assumed(J0, at, centre)[:, :3, :5] @ parameters for at in places], axis=1)
    return T.T @ (np.swapaxes(G, 1, 2) @ parameters) @ T, resultants @ T
