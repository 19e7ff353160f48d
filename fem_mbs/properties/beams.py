"""Compute stiffness, mass, axes and reference strains of spatial beam elements from their sections and positions.

Everything is vectorised over the ``n`` elements of a call. An element has the ends p and q, the unstrained length L and
the coordinate xi from 0 to 1; its axes are ex along the line, ey and ez of the section. Its six strains have the
dimension of a length (Besseling; Meijaard 1993, eq. 2): elongation, L times the twist, and L times the rotations of the
end sections against the chord, -y(p), y(q), -z(p), z(q). The stresses sigma_i that belong to them are the axial force
N, and 1/L times the torque, the internal moments My(p), My(q), Mz(p) and Mz(q).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.properties.materials import Material
from fem_mbs.properties.sections import Section, SectionProperties, couple, make_section

__all__ = [
    "FIXABLE",
    "Reference",
    "SectionLine",
    "along_axis",
    "arc_length",
    "bending_shares",
    "element_mass",
    "element_stiffness",
    "fold",
    "line_positions",
    "reference_strains",
    "section_triads",
    "smooth_tangents",
    "twisted",
]

#: What a user may hold fixed -> indices of strains.
FIXABLE = {"extension": (0,), "torsion": (1,), "bending y": (2, 3), "bending z": (4, 5), "all": (0, 1, 2, 3, 4, 5)}

_STRAINS = ("extension", "torsion", "bending y", "bending y", "bending z", "bending z")
_SINGULAR = 1e-13  # smallest eigenvalue of a flexibility, scaled to a diagonal of ones, that is not a rigid direction
_NODES = 33  # Chebyshev nodes along a tapered member; moments of inertia are of degree 4 in the dimensions
_TAPER_POINTS = 12  # Gauss points of a tapered element
_CURVED_POINTS = 6  # of a prismatic one that is curved or twisted


def _gauss(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss points and weights on (0, 1)."""
    x, w = np.polynomial.legendre.leggauss(points)
    return 0.5 * (x + 1.0), 0.5 * w


# --- sections along a member -----------------------------------------------------------------------------------------
class Along(Protocol):
    """Sections along a member; a prismatic one has the same everywhere."""

    @property
    def prismatic(self) -> bool: ...

    def at(self, s: ArrayLike) -> SectionProperties: ...


@dataclass(frozen=True, eq=False)
class SectionLine:
    """The section along a member: one for all of it, or changing linearly from ``first`` to ``last``.

    Between two sections of one shape the dimensions (of shape "stiffness" the stiffnesses) are linear along the member,
    between others the matrices of stiffness and inertia. ``shear`` False: no shear strain.

    Raises ModelError from the sections themselves, and if one of two different shapes is infinitely stiff.
    """

    first: Section
    last: Section
    material: Material | None
    shear: bool = True

    @property
    def prismatic(self) -> bool:
        return self.first is self.last or self.first == self.last

    def at(self, s: ArrayLike) -> SectionProperties:
        """Return properties at s (...) in 0..1 along the member; of a prismatic one without the axes of s."""
        if self.prismatic:
            return self._unshearable(self.first.properties(self.material))
        s = np.asarray(s, float)
        a, b = self.first, self.last
        if a.computed is None and a.shape == b.shape != "matrix" and a.dimensions.keys() == b.dimensions.keys():
            where = 0.5 * (1.0 - np.cos((np.arange(_NODES) + 0.5) * math.pi / _NODES))
            nodes = [self.between(float(x)).properties(self.material) for x in where]
            parts = [_stack(nodes, name) for name in ("rhoA", "mass_centre", "euler")]
            blend = _interpolation(where, s)
            rhoA, centre, euler = (np.tensordot(blend, part, 1) for part in parts)
            diagonal = _blend(blend, np.array([self._diagonal(self.between(float(x))) for x in where]))
            angle = np.radians(a.rotate + (b.rotate - a.rotate) * s)
            C, F = couple(
                diagonal, _linear(a.centroid, b.centroid, s), _linear(a.shear_centre, b.shear_centre, s), angle
            )
            return self._unshearable(SectionProperties(C, F, rhoA, centre, euler))
        p, q = (x.properties(self.material) for x in (a, b))
        if not (np.isfinite(p.stiffness).all() and np.isfinite(q.stiffness).all()):
            raise ModelError(
                f'between the shapes of this section and of "{b.name}" the stiffness is interpolated and must be '
                "finite",
                owner=Owner("Section", a.name),
                remedy="give both the same shape, or finite shear stiffnesses",
            )
        C = _linear(p.stiffness, q.stiffness, s)
        rhoA = _linear(p.rhoA, q.rhoA, s)
        # first moments and moments about the line are linear; they give the mass centre and what is about it
        first = _linear(p.rhoA * p.mass_centre, q.rhoA * q.mass_centre, s)
        second = _linear(_about_line(p), _about_line(q), s)
        centre = first / np.where(rhoA > 0.0, rhoA, 1.0)[..., None]
        euler = second
        euler[..., 1:, 1:] -= rhoA[..., None, None] * centre[..., :, None] * centre[..., None, :]
        return self._unshearable(SectionProperties(C, np.linalg.inv(C), rhoA, centre, euler))

    def between(self, s: float) -> Section:
        """Return the section at s in (0, 1) between two of one shape."""
        a, b = self.first, self.last
        dims: dict[str, Any] = {}
        for key, u in a.dimensions.items():
            v = b.dimensions[key]
            if math.isinf(u) != math.isinf(v):
                raise ModelError(
                    f'{key} is infinite in this section or in "{b.name}" only',
                    owner=Owner("Section", a.name),
                    key=key,
                    remedy="a taper needs it finite in both or infinite in both",
                )
            dims[key] = u if math.isinf(u) else (1.0 - s) * u + s * v
        for key in ("centroid", "shear_centre", "mass_centre"):
            dims[key] = tuple((1.0 - s) * u + s * v for u, v in zip(getattr(a, key), getattr(b, key), strict=True))
        dims["rotate"] = (1.0 - s) * a.rotate + s * b.rotate
        given = {k: v for k, v in dims.items() if isinstance(v, tuple) or not math.isnan(v)}
        return make_section(f"{a.name} - {b.name}", a.shape, **given)

    def _diagonal(self, section: Section) -> tuple[float, ...]:
        s = section.stiffness(self.material, "beam")
        return s.EA, s.GAy, s.GAz, s.GJ, s.EIy, s.EIz

    def _unshearable(self, p: SectionProperties) -> SectionProperties:
        if self.shear:
            return p
        keep = np.array([0, 3, 4, 5])
        C = p.stiffness
        if np.isfinite(C).all():
            # no shear strain of the line
            F = np.zeros_like(C)
            F[..., keep[:, None], keep] = np.linalg.inv(C[..., keep[:, None], keep])
        else:
            F = p.flexibility
            # conditions on top of those that are infinite already: minimum of the energy over what remains
            W = F[..., 1:3, 1:3]
            P = np.linalg.pinv(W, rcond=1e-14, hermitian=True)
            F = F - F[..., :, 1:3] @ P @ F[..., 1:3, :]
            F[..., 1:3, :], F[..., :, 1:3] = 0.0, 0.0
        C = C.copy()
        C[..., [1, 2], [1, 2]] = np.inf
        return SectionProperties(C, F, p.rhoA, p.mass_centre, p.euler)


def _stack(nodes: Sequence[SectionProperties], name: str) -> np.ndarray:
    return np.array([getattr(node, name) for node in nodes])


def _linear(a, b, s: np.ndarray) -> np.ndarray:
    a, b = np.asarray(a, float), np.asarray(b, float)
    s = s.reshape(s.shape + (1,) * a.ndim)
    return (1.0 - s) * a + s * b


def _about_line(p: SectionProperties) -> np.ndarray:
    euler = p.euler.copy()
    euler[1:, 1:] += p.rhoA * np.outer(p.mass_centre, p.mass_centre)
    return euler


def _interpolation(nodes: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return (..., K) weights of values at Chebyshev nodes (K,) for the polynomial through them at s (...)
    (barycentric)."""
    k = np.arange(len(nodes))
    weight = (-1.0) ** k * np.sin((k + 0.5) * math.pi / len(nodes))
    gap = s[..., None] - nodes
    hit = gap == 0.0
    terms = weight / np.where(hit, 1.0, gap)
    terms = np.where(hit.any(axis=-1, keepdims=True), hit.astype(float), terms)
    return terms / terms.sum(axis=-1, keepdims=True)


def _blend(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Interpolate the columns of values (K, m); a column that is infinite stays so."""
    stiff = np.isinf(values).any(axis=0)
    return np.where(stiff, np.inf, weights @ np.where(stiff, 0.0, values))


def _stations(line: Along, start, end, n: int, exact: int) -> tuple[np.ndarray, np.ndarray, SectionProperties]:
    """Return Gauss points xi (g,), weights and the section there; prismatic: ``exact`` points."""
    xi, w = _gauss(exact if line.prismatic else _TAPER_POINTS)
    start, end = np.broadcast_to(start, n)[:, None], np.broadcast_to(end, n)[:, None]
    return xi, w, line.at(start + (end - start) * xi)


# --- stiffness -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Reference:
    """Places of curved or twisted elements without stress: chords (n, 3), section axes A_p, A_q (n, 3, 3) in global
    axes, and how their strains are measured (see `reference_strains`)."""

    strains: str
    chords: np.ndarray
    A_p: np.ndarray
    A_q: np.ndarray
    second_order: bool
    shares: np.ndarray | None = None

    def gradients(self, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return derivatives (n, 6, 3) of the strains by the place and by the spin of the end q, by complex steps."""
        step = 1e-30
        n = len(self.chords)
        by_place, by_spin = np.empty((n, 6, 3)), np.empty((n, 6, 3))
        for k in range(3):
            unit = np.zeros(3)
            unit[k] = step
            turned = self.A_q + 1j * np.cross(unit, self.A_q.swapaxes(1, 2)).swapaxes(1, 2)
            place, spin = (
                reference_strains(self.strains, l, self.A_p, A, length, self.second_order, self.shares)
                for l, A in ((self.chords + 1j * unit, self.A_q), (self.chords, turned))
            )
            by_place[:, :, k], by_spin[:, :, k] = place.imag / step, spin.imag / step
        return by_place, by_spin

    def sections(self, length: np.ndarray, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return arms r (n, g, 3) from the section at xi to the end q, and section axes (n, g, 3, 3).

        The line is cubic with the end tangents, the axes turn at a constant rate (exact for arcs and twisted straight
        lines).
        """
        turn = self.A_p.swapaxes(1, 2) @ self.A_q
        vector = np.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]])
        sine = 0.5 * np.linalg.norm(vector, axis=0)
        angle = np.arctan2(sine, 0.5 * (np.trace(turn, axis1=1, axis2=2) - 1.0))
        axis = vector / np.where(sine > 0.0, 2.0 * sine, 1.0)
        K = np.zeros((len(length), 3, 3))
        K[:, 2, 1], K[:, 0, 2], K[:, 1, 0] = axis
        K -= K.swapaxes(1, 2)
        a = angle[:, None] * xi
        between = (
            np.eye(3) + np.sin(a)[..., None, None] * K[:, None] + (1.0 - np.cos(a))[..., None, None] * (K @ K)[:, None]
        )
        A = self.A_p[:, None] @ between
        tp, tq = length[:, None] * self.A_p[..., 0], length[:, None] * self.A_q[..., 0]
        h1, h2, h3 = xi - 2.0 * xi**2 + xi**3, 3.0 * xi**2 - 2.0 * xi**3, xi**3 - xi**2
        place = h1[:, None] * tp[:, None] + h2[:, None] * self.chords[:, None] + h3[:, None] * tq[:, None]
        return self.chords[:, None] - place, A


def element_stiffness(
    line: Along,
    length: ArrayLike,
    start: ArrayLike = 0.0,
    end: ArrayLike = 1.0,
    fixed: Sequence[int] = (),
    owner: str = "Beam",
    reference: Reference | None = None,
) -> np.ndarray:
    """Return S (n, 6, 6) [N/m] with sigma = S e, from the flexibility of the exact equilibrium solution.

    Without loads between the ends N, Vy, Vz and T are constant and moments linear, whatever the section does
    (force interpolation: Przemieniecki, Theory of Matrix Structural Analysis, 1968; Spacone, Filippou & Taucer 1996),

        (N, Vy, Vz, T, My, Mz)(xi) = H(xi) sigma,  Vy = sigma5 - sigma6,  Vz = sigma4 - sigma3,
        S^-1 = L int H^T C^-1 H dxi.

    A prismatic element, coupled or not, is exact by two Gauss points (it is eq. 6 of Meijaard 1993); a tapered one
    takes twelve. An infinite stiffness is a zero flexibility.

    Elements that are curved or twisted without stress have their own H: the end q carries the force and moment that
    sigma has there by the gradients of the strains, and the section in between carries them with its arm. A shear force
    that is not the difference of the end moments, which do not lie in the same plane, then is no shear either.

    Args:
        length: (n,) [m]
        start, end: (n,) where the ends p and q lie along the member, 0..1
        fixed: indices of strains that the element holds at zero by multipliers. They may be infinitely stiff; what a
            multiplier carries then has no part in S.
        owner: for messages
        reference: of curved or twisted elements

    Raises:
        ModelError: a strain that is not fixed is infinitely stiff.
    """
    L = np.atleast_1d(np.asarray(length, float))
    n = len(L)
    xi, w, section = _stations(line, start, end, n, 2 if reference is None else _CURVED_POINTS)
    F = section.flexibility
    if reference is not None:
        place, spin = reference.gradients(L)
        arm, A = reference.sections(L, xi)
        force = np.broadcast_to(place.swapaxes(1, 2)[:, None], (n, len(xi), 3, 6))
        moment = spin.swapaxes(1, 2)[:, None] + np.cross(arm[..., None], force, axisa=2, axisb=2, axisc=2)
        H = np.concatenate([A.swapaxes(2, 3) @ force, A.swapaxes(2, 3) @ moment], axis=2)
        flexibility = np.einsum("g,ngij->nij", w, H.swapaxes(2, 3) @ F @ H)
        return _inverse(L[:, None, None] * flexibility, sorted(set(fixed)), owner)
    H = np.zeros((len(xi), 6, 6))
    H[:, 0, 0] = H[:, 3, 1] = H[:, 1, 4] = H[:, 2, 3] = 1.0
    H[:, 1, 5] = H[:, 2, 2] = -1.0
    H[:, 4, 2] = H[:, 5, 4] = 1.0 - xi
    H[:, 4, 3] = H[:, 5, 5] = xi
    lever = np.ones((n, 6))
    lever[:, 3:] = L[:, None]
    if line.prismatic:  # sums over the Gauss points first: they are the same for all elements
        parts = np.einsum("g,gai,ab,gbj->abij", w, H, F, H)
        flexibility = np.einsum("na,nb,abij->nij", lever, lever, parts)
    else:
        F = F * lever[:, None, :, None] * lever[:, None, None, :]
        flexibility = np.einsum("g,gai,ngab,gbj->nij", w, H, F, H, optimize=True)
    return _inverse(L[:, None, None] * flexibility, sorted(set(fixed)), owner)


def bending_shares(line: Along, length: ArrayLike, start: ArrayLike = 0.0, end: ArrayLike = 1.0) -> np.ndarray:
    """Return shares (n, 2, 2) of bending in the shear strains that a constant shear force makes, over (y, z).

    A shear force V makes the shear strain F_s V and, by the moment that it changes along the length L, the deflection
    L^2/12 F_b V against the mean direction of the end sections; the share is F_b (F_b + 12/L^2 F_s)^-1, of a prismatic
    section with the axes of its symmetry 1/(1 + 12 EI/(GA L^2)).
    """
    L = np.atleast_1d(np.asarray(length, float))
    n = len(L)
    _, w, section = _stations(line, start, end, n, 2)
    F = section.flexibility
    F = np.broadcast_to(F, (n, *F.shape)) if line.prismatic else np.einsum("g,ngij->nij", w, F)
    bending = F[:, [5, 4]][:, :, [5, 4]] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    both = bending + 12.0 / L[:, None, None] ** 2 * F[:, 1:3, 1:3]
    return bending @ np.linalg.pinv(both, rcond=_SINGULAR, hermitian=True)


def _inverse(F: np.ndarray, fixed: list[int], owner: str) -> np.ndarray:
    """Return the stiffness of flexibilities F (n, 6, 6); rigid directions are allowed among the fixed strains."""
    F = 0.5 * (F + F.swapaxes(1, 2))
    diagonal = np.einsum("nii->ni", F)
    unit = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    F = F / (unit[:, :, None] * unit[:, None, :])
    free = [i for i in range(6) if i not in fixed]
    S = np.zeros_like(F)
    rigid = np.zeros((len(F), len(fixed), len(fixed)))
    if fixed:
        f, a = np.ix_(fixed, fixed), np.ix_(fixed, free)
        rigid = np.linalg.pinv(F[:, f[0], f[1]], rcond=_SINGULAR, hermitian=True)
        S[:, f[0], f[1]] = rigid
    if free:
        b = np.ix_(free, free)
        reduced = F[:, b[0], b[1]]
        if fixed:
            across = F[:, a[0], a[1]]
            reduced = reduced - across.swapaxes(1, 2) @ rigid @ across
        values, vectors = np.linalg.eigh(reduced)
        bad = np.flatnonzero(values[:, 0] < _SINGULAR)
        if bad.size:
            # the strains that the stiffest direction is made of
            share = np.abs(vectors[bad[0], :, 0])
            names = dict.fromkeys(_STRAINS[free[i]] for i in np.flatnonzero(share > 0.3 * share.max()))
            words = ", ".join(f'"{name}"' for name in names)
            raise ModelError(
                f"element {bad[0]} is infinitely stiff in {' and '.join(names)}",
                owner=owner,
                remedy=f"hold it with fixed = [{words}], or give a finite stiffness",
            )
        inner = np.linalg.inv(reduced)
        S[:, b[0], b[1]] = inner
        if fixed:
            coupling = -rigid @ across @ inner
            S[:, a[0], a[1]] = coupling
            S[:, a[1].T, a[0].T] = coupling.swapaxes(1, 2)
            S[:, f[0], f[1]] += rigid @ across @ inner @ across.swapaxes(1, 2) @ rigid
    S = S / (unit[:, :, None] * unit[:, None, :])
    return 0.5 * (S + S.swapaxes(1, 2))


# --- mass ------------------------------------------------------------------------------------------------------------
def element_mass(kind: str, line: Along, length: ArrayLike, start: ArrayLike = 0.0, end: ArrayLike = 1.0) -> np.ndarray:
    """Return M (n, 8, 8) over (P_p, ex_p, ey_p, ez_p, P_q, ex_q, ey_q, ez_q): T = 1/2 sum M_ij y_i'.y_j' [kg, kg m, kg
    m^2].

    Places of mass r = line + y_c ey + z_c ez, the mass centre's offset and the section's Euler tensor on directors:

    - "hermite": the line cubic in (P, L ex) (Meijaard 1993, eq. 17 without the strain), directors linear;
    - "consistent": the line and the offset linear, the Euler tensor lumped at the ends;
    - "lumped": all of it lumped at the ends.

    Of a straight element each gives mass and mass centre, and the first two the inertia of every rigid motion, exactly.
    """
    L = np.atleast_1d(np.asarray(length, float))
    n = len(L)
    xi, w, section = _stations(line, start, end, n, 4)
    shape = (n, len(xi))
    rhoA = np.broadcast_to(section.rhoA, shape)
    centre = np.broadcast_to(section.mass_centre, (*shape, 2))
    euler = np.broadcast_to(section.euler, (*shape, 3, 3))
    linear = np.stack([1.0 - xi, xi], axis=-1)  # (g, 2)
    M = np.zeros((n, 8, 8))
    if kind == "hermite":
        B = np.zeros((*shape, 2, 4))  # of the line, end by end
        B[..., 0, 0], B[..., 1, 0] = 1.0 - 3.0 * xi**2 + 2.0 * xi**3, 3.0 * xi**2 - 2.0 * xi**3
        B[..., 0, 1] = L[:, None] * (xi - 2.0 * xi**2 + xi**3)
        B[..., 1, 1] = L[:, None] * (xi**3 - xi**2)
        B[..., 2:] = linear[None, :, :, None] * centre[:, :, None, :]
        products = linear[:, :, None] * linear[:, None, :]
    else:
        B = np.zeros((*shape, 2, 4))
        B[..., 0] = linear
        B[..., 2:] = linear[None, :, :, None] * centre[:, :, None, :]
        products = linear[:, :, None] * np.eye(2)
    if kind == "lumped":
        b = np.concatenate([np.ones((*shape, 1)), np.zeros((*shape, 1)), centre], axis=-1)
        ends = np.einsum("g,ng,ge,ngi,ngj->neij", w, rhoA, linear, b, b)
        M[:, :4, :4], M[:, 4:, 4:] = ends[:, 0], ends[:, 1]
    else:
        flat = B.reshape(*shape, 8)
        M += np.einsum("g,ng,ngi,ngj->nij", w, rhoA, flat, flat)
    rotary = np.einsum("g,gef,ngij->neifj", w, products, euler)  # (n, 2, 3, 2, 3)
    M.reshape(n, 2, 4, 2, 4)[:, :, 1:, :, 1:] += rotary
    M *= L[:, None, None]
    return 0.5 * (M + M.swapaxes(1, 2))


def fold(M: np.ndarray, offsets: np.ndarray, triads: np.ndarray) -> np.ndarray:
    """Return M (n, 8, 8) over (x_p, d1_p, d2_p, d3_p, x_q, ...), d_k the directors of the nodes.

    The beam's end is P = x + R a and its axes e_j = R A_j: both are sums of directors.

    Args:
        M: (n, 8, 8) over (P_p, ex_p, ey_p, ez_p, P_q, ...)
        offsets: (n, 2, 3) a of both ends, in the node's body axes [m]
        triads: (n, 2, 3, 3) A of both ends, columns ex, ey, ez in the node's body axes
    """
    n = len(M)
    W = np.zeros((n, 2, 4, 2, 4))
    for end in range(2):
        W[:, end, 0, end, 0] = 1.0
        W[:, end, 0, end, 1:] = offsets[:, end]
        W[:, end, 1:, end, 1:] = triads[:, end].swapaxes(1, 2)
    whole = W.reshape(n, 8, 8)
    return whole.swapaxes(1, 2) @ M @ whole


# --- places and axes -------------------------------------------------------------------------------------------------
def line_positions(
    cells: np.ndarray, length: np.ndarray, owner: str, why: str
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Return the start and end coordinates of the elements of an unbranched line along it: s_p, s_q (n,) in 0..1, first
    and last node.

    Raises:
        ModelError: the cells do not make one line from a first to a last node, head to tail; ``why`` says what for.
    """
    n = len(cells)
    nodes, inverse = np.unique(cells, return_inverse=True)
    inverse = inverse.reshape(cells.shape)
    out, into = np.bincount(inverse[:, 0], minlength=len(nodes)), np.bincount(inverse[:, 1], minlength=len(nodes))
    first = np.flatnonzero((out == 1) & (into == 0))
    if out.max() > 1 or into.max() > 1 or len(first) != 1:
        raise ModelError(
            f"{why} needs cells that make one line, head to tail from its start to its end",
            owner=owner,
            remedy="split the set, or turn round the cells that run backwards",
        )
    # the cell before each one, then sums along the line by doubling the reach
    leaving = np.full(len(nodes), -1)
    entering = np.full(len(nodes), -1)
    leaving[inverse[:, 0]] = np.arange(n)
    entering[inverse[:, 1]] = np.arange(n)
    before = entering[inverse[:, 0]]
    total = length.astype(float).copy()
    while (before >= 0).any():
        more = before >= 0
        total[more], before[more] = total[more] + total[before[more]], before[before[more]]
    last = np.flatnonzero((into == 1) & (out == 0))[0]
    whole = total.max()
    return (total - length) / whole, total / whole, int(nodes[first[0]]), int(nodes[last])


def smooth_tangents(cells: np.ndarray, chords: np.ndarray, owner: str) -> tuple[np.ndarray, np.ndarray]:
    """Return tangents (n, 3) at p and q of a smooth line through the nodes.

    Where two elements meet it is the mean of their directions, each weighted with the length of the other, the tangent
    of the circle through the three nodes. At ends the element is an arc. ``chords`` (n, 3) [m].

    Raises:
        ModelError: two elements that both begin, or both end, at a node.
    """
    length = np.linalg.norm(chords, axis=1)
    direction = chords / length[:, None]
    nodes, inverse = np.unique(cells, return_inverse=True)
    p, q = inverse.reshape(cells.shape).T
    out, into = np.bincount(p, minlength=len(nodes)), np.bincount(q, minlength=len(nodes))
    if ((out + into == 2) & (out != 1)).any():
        raise ModelError(
            "curved beams need cells that run head to tail", owner=owner, remedy="turn round those that run backwards"
        )
    smooth = (out == 1) & (into == 1)
    # the length of the neighbour at each end
    leaving, entering = np.zeros(len(nodes)), np.zeros(len(nodes))
    leaving[p], entering[q] = length, length
    tangent = np.zeros((len(nodes), 3))
    np.add.at(tangent, p, direction * entering[p, None])
    np.add.at(tangent, q, direction * leaving[q, None])
    size = np.linalg.norm(tangent, axis=1)
    if (smooth & (size <= 1e-6 * (leaving + entering))).any():
        raise ModelError(
            "curved beams fold back onto themselves", owner=owner, remedy="set the cells in order, or curved = false"
        )
    tangent[smooth] /= size[smooth, None]
    tp, tq = tangent[p], tangent[q]
    free_p, free_q = ~smooth[p], ~smooth[q]

    def mirrored(t, d):
        return 2.0 * np.einsum("ni,ni->n", t, d)[:, None] * d - t

    tq[free_q & free_p] = tp[free_q & free_p] = direction[free_q & free_p]
    only = free_p & ~free_q
    tp[only] = mirrored(tq[only], direction[only])
    only = free_q & ~free_p
    tq[only] = mirrored(tp[only], direction[only])
    return tp, tq


def arc_length(chords: np.ndarray, tangent_p: np.ndarray, tangent_q: np.ndarray) -> np.ndarray:
    """Return length (n,) of the curves between the ends of chords (n, 3), from the end tangents.

    Between unit tangents at small angles a, b to the chord a cubic is longer by (2 a.a - a.b + 2 b.b)/30; this is
    phi^2/6 of an arc with half its angle phi, whose length chord phi/sin(phi) is exact.
    """
    length = np.linalg.norm(chords, axis=1)
    direction = chords / length[:, None]

    def angle(t):
        across = t - np.einsum("ni,ni->n", t, direction)[:, None] * direction
        s = np.linalg.norm(across, axis=1)
        a = np.arctan2(s, np.einsum("ni,ni->n", t, direction))
        return across * (a / np.where(s > 0.0, s, 1.0))[:, None]

    a, b = angle(tangent_p), angle(tangent_q)
    phi = np.sqrt((2.0 * (a * a).sum(axis=1) - (a * b).sum(axis=1) + 2.0 * (b * b).sum(axis=1)) / 5.0)
    return length / np.sinc(phi / math.pi)


def section_triads(
    ex_p: np.ndarray,
    ex_q: np.ndarray,
    orientation_p: ArrayLike | None = None,
    orientation_q: ArrayLike | None = None,
    owner: str = "Beam",
    curved: bool = False,
    default: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return axes (ex, ey, ez) in the columns of A_p, A_q (n, 3, 3), in global axes.

    ey lies in the plane of ex and the orientation vector, on its side. Without orientation ez is as near as it can be
    to the global z axis, so that a beam in the x-y plane has the axes of plane models; for beams along z (within 0.1
    deg) ey is y. A curved line takes one rule for all of it, the first of z, y and x that stays 10 deg away from its
    tangents.

    Args:
        ex_p, ex_q: (n, 3) unit tangents of the ends.
        orientation_p, orientation_q: (n, 3) or None.
        default: (3, 3) unit vectors in rows that take the place of the global axes.

    Raises:
        ModelError: an orientation vector has no length or is parallel to its beam.
    """
    if orientation_p is not None and orientation_q is not None:
        return (
            _from_vector(ex_p, np.broadcast_to(orientation_p, ex_p.shape), owner),
            _from_vector(ex_q, np.broadcast_to(orientation_q, ex_q.shape), owner),
        )
    frame = np.eye(3) if default is None else default
    both = np.stack([ex_p, ex_q]) @ frame.T  # in these axes
    across = np.sqrt(np.maximum(1.0 - both**2, 0.0))  # sines of the angles to the global axes
    if curved:
        least = across.reshape(-1, 3).min(axis=0)[[2, 1, 0]]
        clear = np.flatnonzero(least > math.sin(math.radians(10.0)))
        axis = np.array([2, 1, 0])[clear[0] if clear.size else least.argmax()]
        rule = np.full(both.shape[:2], axis)
    else:
        rule = np.where(np.hypot(both[..., 0], both[..., 1]) > math.radians(0.1), 2, 1)
    vector = frame[rule]
    # rule z: the vector is ez, hence ey = ez x ex; the others: it is ey
    towards = np.where((rule == 2)[..., None], np.cross(vector, np.stack([ex_p, ex_q])), vector)
    return _from_vector(ex_p, towards[0], owner), _from_vector(ex_q, towards[1], owner)


def _from_vector(ex: np.ndarray, vector: np.ndarray, owner: str) -> np.ndarray:
    size = np.linalg.norm(vector, axis=1)
    flat = np.flatnonzero(~(size > 0.0))
    if flat.size:
        raise ModelError(
            f"orientation of element {flat[0]} has no length", owner=owner, remedy="give a vector across the beam"
        )
    v = vector / size[:, None]
    ey = v - np.einsum("ni,ni->n", v, ex)[:, None] * ex
    across = np.linalg.norm(ey, axis=1)
    parallel = np.flatnonzero(across < 1e-6)
    if parallel.size:
        k = parallel[0]
        text = ", ".join(f"{c:.4g}" for c in vector[k])
        raise ModelError(
            f"orientation ({text}) is parallel to element {k}",
            owner=owner,
            remedy="give a vector that points across it",
        )
    ey /= across[:, None]
    ey -= np.einsum("ni,ni->n", ey, ex)[:, None] * ex  # once more: orthogonal to round-off
    ey /= np.linalg.norm(ey, axis=1)[:, None]
    return np.stack([ex, ey, np.cross(ex, ey)], axis=-1)


def twisted(A: np.ndarray, angle: ArrayLike) -> np.ndarray:
    """Return triads (n, 3, 3) turned about their first axes by ``angle`` (n,) [rad]."""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return np.stack([A[..., 0], c * A[..., 1] + s * A[..., 2], c * A[..., 2] - s * A[..., 1]], axis=-1)


# --- reference strains -----------------------------------------------------------------------------------------------
def reference_strains(
    strains: str,
    chords: np.ndarray,
    A_p: np.ndarray,
    A_q: np.ndarray,
    length: ArrayLike,
    second_order: bool = True,
    shares: np.ndarray | None = None,
) -> np.ndarray:
    """Return strains e (n, 6) [m] of elements with chords (n, 3) and section axes A_p, A_q (n, 3, 3), columns ex, ey,
    ez.

    strains "exact": the logarithm of the relative rigid motion of the ends. "corotational": natural rotations against
    the chord with the shortest rotation of the section onto it. Both have second-order terms with the ``shares``
    (n, 2, 2) of bending (see `bending_shares`; None: no shear strain), see `fem_mbs.elements.beams.beam3d_exact` and
    `fem_mbs.elements.beams.beam3d`, where they are taken as `along_axis` gives them. "generalised": Meijaard 1993, eqs
    2 and 16. Complex places give derivatives (`Reference.gradients`).
    """
    l, L = np.asarray(chords), np.asarray(length, float)
    n = np.sqrt((l * l).sum(axis=1))
    lp, lq = np.einsum("ni,nij->nj", l, A_p), np.einsum("ni,nij->nj", l, A_q)
    c = np.einsum("nij,nik->njk", A_p, A_q)
    if strains == "exact":
        d = _logarithm(0.5 * (lp + lq), c, L)
        return (_composed(d, shares, 0.0, L) if second_order else d) @ _TO_ENDS.T
    if strains == "generalised":
        e2 = 0.5 * L * (c[:, 2, 1] - c[:, 1, 2])
        e3, e4, e5, e6 = -lp[:, 2], lq[:, 2], lp[:, 1], -lq[:, 1]
    else:
        (b2p, b3p, yp, zp), (b2q, b3q, yq, zq) = (_natural(v, n) for v in (lp, lq))
        k = c[:, 0, 0] - 1.0
        C = c[:, 1, 1] + c[:, 2, 2] - b2q * c[:, 1, 0] - b2p * c[:, 0, 1] - b3q * c[:, 2, 0] - b3p * c[:, 0, 2]
        C = C + (b2p * b2q + b3p * b3q) * k
        S = c[:, 2, 1] - c[:, 1, 2] - b2q * c[:, 2, 0] - b3p * c[:, 0, 1] + b3q * c[:, 1, 0] + b2p * c[:, 0, 2]
        S = S + (b3p * b2q - b2p * b3q) * k
        e2 = L * _angle(S, C)
        e3, e4, e5, e6 = -L * yp, L * yq, -L * zp, L * zq
    e1 = n - L
    if strains == "corotational" and second_order:
        d = np.stack([e1, e2, e3, e4, e5, e6], axis=1) @ _TO_AXIS.T
        return _composed(d, shares, 1.0 / L, L) @ _TO_ENDS.T
    if second_order:
        e1 = e1 + (2.0 * (e3**2 + e4**2 + e5**2 + e6**2) + e3 * e4 + e5 * e6) / (30.0 * L)
        y, z = e2 * (e3 + e4) / (6.0 * L), e2 * (e5 + e6) / (6.0 * L)
        e2 = e2 + (e4 * e5 - e3 * e6) / L
        e3, e4, e5, e6 = e3 + z, e4 - z, e5 - y, e6 + y
    return np.stack([e1, e2, e3, e4, e5, e6], axis=1)


#: Strains of the ends (elongation, twist, -y(p), y(q), -z(p), z(q)) -> (elongation, shear y, z, twist, bending y, z).
_TO_AXIS = np.array(
    [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0.5, -0.5], [0, 0, -0.5, 0.5, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0],
     [0, 0, 0, 0, 1, 1]]
)  # fmt: skip
_TO_ENDS = np.linalg.inv(_TO_AXIS)


def along_axis(S: np.ndarray, e: np.ndarray, fixed: Sequence[int]) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return stiffness S (n, 6, 6), strains e (n, 6) and indices of fixed strains over (elongation, shear y, shear z,
    twist, bending y, bending z), from those over rotations of the ends."""
    places = {0: (0,), 1: (3,), 2: (2, 4), 3: (2, 4), 4: (1, 5), 5: (1, 5)}
    return _TO_ENDS.T @ S @ _TO_ENDS, e @ _TO_AXIS.T, sorted({k for i in fixed for k in places[i]})


def _composed(d: np.ndarray, shares: np.ndarray | None, g, L: np.ndarray) -> np.ndarray:
    """Return strains (n, 6) with second-order terms; see `fem_mbs.elements.beams.beam3d_common.composed`."""
    g = np.broadcast_to(g, L.shape)
    bow = d[:, 1:3] / L[:, None]
    k = bow if shares is None else np.einsum("nij,nj->ni", shares, bow)
    shear, bend = d[:, 1:3], d[:, 4:]
    w, u = g[:, None] * shear - k, k - 0.5 * g[:, None] * shear
    e = d.copy()
    e[:, 0] += (k * shear).sum(axis=1) - 0.4 * L * (k * k).sum(axis=1)
    e[:, 0] += g * ((bend * bend).sum(axis=1) / 24.0 - 0.5 * (shear * shear).sum(axis=1))
    e[:, 1:3] += w * d[:, :1] - g[:, None] / 6.0 * d[:, 3:4] * bend
    e[:, 3] += (u * bend).sum(axis=1)
    e[:, 4:] += w * d[:, 3:4]
    return e


def _logarithm(lam: np.ndarray, c: np.ndarray, L: np.ndarray) -> np.ndarray:
    """Return basic strains d (n, 6) of `fem_mbs.elements.beams.beam3d_exact` from lambda (n, 3) and c (n, 3, 3)."""
    r = 0.5 * np.stack([c[:, 2, 1] - c[:, 1, 2], c[:, 0, 2] - c[:, 2, 0], c[:, 1, 0] - c[:, 0, 1]], axis=1)
    chi = 0.5 * (np.trace(c, axis1=1, axis2=2) - 1.0)
    t = (1.0 - chi) / (1.0 + chi)
    B = _bend(t)
    a, b = 1.0 + t * B, 0.25 * (1.0 + t) ** 2 * B
    stretch = a[:, None] * lam - (b * (r * lam).sum(axis=1))[:, None] * r
    stretch[:, 0] -= L
    return np.concatenate([stretch, (L * a)[:, None] * r], axis=1)


def _bend(t: np.ndarray) -> np.ndarray:
    """Return ((1 + t) atan(sqrt t)/sqrt t - 1)/t, with the derivative in the imaginary part of complex steps."""
    x = np.maximum(t.real, 0.0)
    small = x < 0.05
    k = np.arange(14)
    series = 2.0 * (-1.0) ** k / ((2 * k + 1) * (2 * k + 3))
    large = np.where(small, 1.0, x)
    A = np.arctan(np.sqrt(large)) / np.sqrt(large)
    slope = (1.0 / (1.0 + large) - A) / (2.0 * large)
    value = ((1.0 + large) * A - 1.0) / large
    derivative = (A + (1.0 + large) * slope - value) / large
    x = np.where(small, x, 0.0)[:, None]
    value = np.where(small, (series * x**k).sum(axis=1), value)
    derivative = np.where(small, (series[1:] * k[1:] * x ** k[:-1]).sum(axis=1), derivative)
    return value + 1j * t.imag * derivative if np.iscomplexobj(t) else value


def _natural(components: np.ndarray, n: np.ndarray):
    """Return b2, b3, theta_y, theta_z of an end from the chord's components (n, 3) along its section axes."""
    b2, b3 = (components[:, k] / (n + components[:, 0]) for k in (1, 2))
    root = np.sqrt(b2 * b2 + b3 * b3)
    A = np.where(root != 0.0, np.arctan(root) / np.where(root != 0.0, root, 1.0), 1.0)
    return b2, b3, 2.0 * b3 * A, -2.0 * b2 * A


def _angle(s: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return arctan2, with the derivative in the imaginary part of complex steps."""
    angle = np.arctan2(s.real, c.real)
    if np.iscomplexobj(s) or np.iscomplexobj(c):
        return angle + 1j * (c.real * s.imag - s.real * c.imag) / (c.real**2 + s.real**2)
    return angle
