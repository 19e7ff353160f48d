"""Materials and cross-sections of beams, trusses and cables.

Axes: x along the beam, y and z in the section, through its centroid and along its principal directions. The *height*
of a shape lies along y and its *width* along z, so Iz = int y^2 dA is bending in the x-y plane, the plane of a model
with ``dimension = 2``, and Iy = int z^2 dA is bending in the x-z plane. J is St. Venant's torsion constant (torque =
G J twist rate), in general not the polar moment Iy + Iz.

Shear coefficients follow Cowper (1966), J. Appl. Mech. 33, 335-340, doi:10.1115/1.3625046: shear stiffness = k G A,
with k depending on Poisson's ratio; ky belongs to shear forces along y (bending by Iz), kz to those along z.

All of a section's numbers are in the model's units, in SI m, m^2, m^4; shape "stiffness" takes products with the
material's constants (N, N m^2, kg/m, kg m) as benchmarks give them, shape "matrix" whole matrices.

Beams in space take a section as :class:`SectionProperties`: a 6x6 stiffness over the strains (axial strain, shear y,
shear z, twist rate, curvature y, curvature z) of the beam's line, with the strain eps + z ky - y kz at a point (y, z),
and the inertia per length.  Axial force and bending act at the ``centroid``, shear and torsion at the ``shear_centre``,
each a point (y, z) against the line; these and the ``mass_centre`` couple the strains and velocities of the line.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np

from fem_mbs.errors import ModelError, Owner

__all__ = [
    "SECTION_PLACES",
    "SECTION_SHAPES",
    "STIFFNESS_NEEDS",
    "Material",
    "Section",
    "SectionProperties",
    "SectionStiffness",
    "couple",
    "make_section",
]

_DEFAULT_NU = 0.3


def _number(value: Any, thing: str, key: str, infinite: bool = False) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ModelError(f"{key} = {value!r} is not a number.", owner=thing, key=key, value=value)
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if math.isnan(result) or (math.isinf(result) and not (infinite and result > 0.0)):
        raise ModelError(
            f"{key} = {value!r} is not finite", owner=thing, key=key, value=value, remedy="give a finite number."
        )
    return result


def _check_sign(value: float, thing: str, key: str, zero: bool = False) -> float:
    if value < 0.0 or (value == 0.0 and not zero):
        raise ModelError(
            f"{key} = {value!r} must be {'0 or more' if zero else 'greater than 0'}.", owner=thing, key=key, value=value
        )
    return value


@dataclass(frozen=True)
class Material:
    """A linear elastic, isotropic material.

    Attributes
    ----------
    name: for messages
    E: Young's modulus [N/m^2]
    nu: Poisson's ratio; from G if that is given instead; 0.3 if neither is
    density: [kg/m^3]; 0 is allowed (a material without mass)
    G: shear modulus [N/m^2]; E / (2 (1 + nu)) if not given
    expansion: thermal, alpha [1/K]; solids use it

    Raises ModelError if a constant is not finite, E <= 0, density < 0, nu outside -1 < nu < 0.5 (also where it follows
    from E and G), or E, nu and G contradict each other.
    """

    name: str
    E: float
    nu: float = None  # type: ignore[assignment]
    density: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    G: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    expansion: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        thing = Owner("Material", self.name)
        if self.density is None:
            raise ModelError('"density" is missing', owner=thing, remedy="give it, 0 for a material without mass.")
        young = _check_sign(_number(self.E, thing, "E"), thing, "E")
        density = _check_sign(_number(self.density, thing, "density"), thing, "density", zero=True)
        nu = None if self.nu is None else _number(self.nu, thing, "nu")
        if self.G is None:
            nu = _DEFAULT_NU if nu is None else nu
            origin = f"nu = {nu!r}"
        else:
            shear = _check_sign(_number(self.G, thing, "G"), thing, "G")
            implied = young / (2.0 * shear) - 1.0
            origin = f"E = {young!r} and G = {shear!r} mean nu = {implied:.6g}, which"
            if nu is not None and abs(nu - implied) > 1e-3:
                raise ModelError(
                    f"E, G and nu = {nu!r} contradict: {origin} is not that", owner=thing, remedy="leave out G or nu."
                )
            nu = implied
        if not -1.0 < nu < 0.5:
            raise ModelError(
                f"{origin} must lie between -1 and 0.5 for a stable isotropic material (nearly incompressible: 0.499",
                owner=thing,
                remedy='stiffnesses of another kind: section shape "stiffness").',
            )
        shear = young / (2.0 * (1.0 + nu)) if self.G is None else float(self.G)
        expansion = _number(self.expansion, thing, "expansion")
        for key, value in (("E", young), ("nu", nu), ("density", density), ("G", shear), ("expansion", expansion)):
            object.__setattr__(self, key, value)


# Fields of SectionStiffness an element needs.
STIFFNESS_NEEDS: dict[str, tuple[str, ...]] = {
    "truss": ("EA", "rhoA"),
    "plane beam": ("EA", "GAy", "EIz", "rhoA", "rhoIz"),
    "beam": ("EA", "GAy", "GAz", "GJ", "EIy", "EIz", "rhoA", "rhoIy", "rhoIz"),
}


@dataclass(frozen=True)
class SectionStiffness:
    """Stiffness and mass per length from section and material; NaN where unknown.

    EA [N], GAy, GAz (with shear coefficient; infinite: no shear deformation) [N], GJ, EIy, EIz [N m^2], rhoA [kg/m],
    rhoIy, rhoIz, rhoIx [kg m] about the mass centre; rhoIx, about the beam's axis, is rhoIy + rhoIz if not given, as it
    must be of a thin slice of material.
    """

    EA: float
    GAy: float
    GAz: float
    GJ: float
    EIy: float
    EIz: float
    rhoA: float
    rhoIy: float
    rhoIz: float
    rhoIx: float = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.rhoIx is None:
            object.__setattr__(self, "rhoIx", self.rhoIy + self.rhoIz)


@dataclass(frozen=True, eq=False)
class SectionProperties:
    """Properties of one section of a spatial beam, or of many (leading axes ``...``), over the axes (ex, ey, ez).

    Attributes
    ----------
    stiffness: (..., 6, 6) over (axial strain, shear y, shear z, twist rate, curvature y, curvature z) of the line
        [N, N m, N m^2]; infinite where it is
    flexibility: (..., 6, 6), its inverse; zero where the stiffness is infinite
    rhoA: (...) mass per length [kg/m]
    mass_centre: (..., 2) its y and z [m]
    euler: (..., 3, 3) Euler tensor of the section about the mass centre, int rho r r^T dA [kg m]: with
        J = tr(E) I - E the rotary inertia per length
    """

    stiffness: np.ndarray
    flexibility: np.ndarray
    rhoA: np.ndarray
    mass_centre: np.ndarray
    euler: np.ndarray


def _transformation(centroid: np.ndarray, shear_centre: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Return T (..., 6, 6): strains at the centroid and shear centre along the principal axes = T times those of the
    line."""
    yc, zc = np.moveaxis(centroid, -1, 0)
    ys, zs = np.moveaxis(shear_centre, -1, 0)
    c, s = np.cos(angle), np.sin(angle)
    T = np.zeros((*np.shape(yc), 6, 6))
    T[..., 0, 0] = T[..., 3, 3] = 1.0
    T[..., 0, 4], T[..., 0, 5] = zc, -yc
    # shear strains of the shear centre: gy - zs kx and gz + ys kx, then along the principal axes
    T[..., 1, 1], T[..., 1, 2], T[..., 1, 3] = c, s, s * ys - c * zs
    T[..., 2, 1], T[..., 2, 2], T[..., 2, 3] = -s, c, c * ys + s * zs
    T[..., 4, 4], T[..., 4, 5] = c, s
    T[..., 5, 4], T[..., 5, 5] = -s, c
    return T


def couple(
    diagonal: np.ndarray,
    centroid: Any,
    shear_centre: Any,
    angle: Any,  # arrays, or tuples and a number
) -> tuple[np.ndarray, np.ndarray]:
    """Return stiffness and flexibility (..., 6, 6) over the strains of the line.

    Args:
        diagonal: (..., 6) EA, GAy, GAz, GJ, EIy, EIz along the principal axes; infinite ones allowed.
        centroid, shear_centre: (..., 2) y, z against the line [m].
        angle: (...) of the principal axes against (ey, ez), about ex [rad].
    """
    diagonal, angle = np.asarray(diagonal, float), np.asarray(angle, float)
    T = _transformation(np.asarray(centroid, float), np.asarray(shear_centre, float), angle)
    stiff = np.isinf(diagonal)
    C = np.einsum("...k,...ki,...kj->...ij", np.where(stiff, 0.0, diagonal), T, T)
    if stiff.any():
        signs = np.einsum("...k,...ki,...kj->...kij", stiff.astype(float), T, T)
        C = np.where((signs > 0.0).any(axis=-3), np.inf, np.where((signs < 0.0).any(axis=-3), -np.inf, C))
    inverse = np.linalg.inv(T)
    F = np.einsum("...ik,...k,...jk->...ij", inverse, 1.0 / diagonal, inverse)
    return C, F


@dataclass(frozen=True)
class Section:
    """A cross-section; made by :func:`make_section`.

    Attributes
    ----------
    name, shape: as given
    A: area [m^2]
    Iy, Iz: second moments of area int z^2 dA, int y^2 dA [m^4]
    J: torsion constant [m^4]
    dimensions: the dimensions as given, with defaults filled in
    half_height, half_width: largest |y| and |z| of the section, for stresses and drawing [m]
    centroid, shear_centre, mass_centre: y and z of these points against the beam's line [m]
    rotate: angle of the principal axes, those of the shape, against (ey, ez) [deg]

    Constants that a general section leaves open are NaN; :meth:`stiffness` tells when one of them is needed. For shapes
    "stiffness" and "matrix" all of them are NaN.
    """

    name: str
    shape: str
    A: float
    Iy: float
    Iz: float
    J: float
    dimensions: Mapping[str, float]
    half_height: float
    half_width: float
    centroid: tuple[float, float] = (0.0, 0.0)
    shear_centre: tuple[float, float] = (0.0, 0.0)
    mass_centre: tuple[float, float] = (0.0, 0.0)
    rotate: float = 0.0

    def __reduce__(self) -> tuple[Any, ...]:  # a mappingproxy cannot be pickled
        given = {k: v for k, v in self.dimensions.items() if isinstance(v, tuple) or not math.isnan(v)}
        if self.shape != "matrix":
            given |= {key: getattr(self, key) for key in SECTION_PLACES}
        return (_rebuild, (self.name, self.shape, given))

    @property
    def eccentric(self) -> bool:
        """Return whether its strains or velocities are coupled, or its axes rotated; only beams in space can have
        this."""
        return self.shape == "matrix" or any((*self.centroid, *self.shear_centre, *self.mass_centre, self.rotate))

    def shear_coefficient_y(self, nu: float) -> float:
        """Return k of the shear stiffness k G A for shear forces along y (bending by Iz), Cowper (1966)."""
        return _SHAPES[self.shape].shear(self.dimensions, nu)[0]

    def shear_coefficient_z(self, nu: float) -> float:
        """Return k of the shear stiffness k G A for shear forces along z (bending by Iy), Cowper (1966)."""
        return _SHAPES[self.shape].shear(self.dimensions, nu)[1]

    def stiffness(self, material: Material | None, needs: str | None = None) -> SectionStiffness:
        """Return stiffnesses and inertias per length of this section in ``material``.

        ``needs``: a key of STIFFNESS_NEEDS, the element it is for; raises ModelError if something it needs is not
        known. The material may be None for shape "stiffness" only, which does not use it.
        """
        d = self.dimensions
        if self.shape == "matrix":
            raise ModelError(
                'shape "matrix" is for beams in space alone',
                owner=Owner("Section", self.name),
                remedy="choose another shape.",
            )
        if self.eccentric and needs not in (None, "beam"):
            raise ModelError(
                f"{', '.join(SECTION_PLACES)} are for beams in space",
                owner=Owner("Section", self.name),
                remedy=f"a {needs} has none.",
            )
        if self.shape == "stiffness":
            result = SectionStiffness(**{f.name: d[f.name] for f in fields(SectionStiffness)})
        elif material is None:
            raise ModelError(f'shape "{self.shape}" needs a material.', owner=Owner("Section", self.name))
        else:
            E, G, rho = material.E, material.G, material.density
            result = SectionStiffness(
                EA=E * self.A,
                GAy=self.shear_coefficient_y(material.nu) * G * self.A,
                GAz=self.shear_coefficient_z(material.nu) * G * self.A,
                GJ=G * self.J,
                EIy=E * self.Iy,
                EIz=E * self.Iz,
                rhoA=rho * self.A,
                rhoIy=rho * self.Iy,
                rhoIz=rho * self.Iz,
            )
        if needs is not None:
            self._check_needs(result, needs)
        return result

    def _check_needs(self, result: SectionStiffness, needs: str) -> None:
        missing = [key for key in STIFFNESS_NEEDS[needs] if math.isnan(getattr(result, key))]
        if missing:
            own = self.shape == "stiffness"
            keys = dict.fromkeys(key if own else key.removeprefix("rho").lstrip("EG") for key in missing)
            raise ModelError(
                f'a {needs} needs {", ".join(keys)} of shape "{self.shape}"',
                owner=Owner("Section", self.name),
                remedy=f"give {'it' if len(keys) == 1 else 'them'}.",
            )
        for key in STIFFNESS_NEEDS[needs]:
            value = getattr(result, key)
            if math.isinf(value) and not key.startswith("GA") and self.shape == "stiffness":
                if needs != "beam" or key.startswith("rho"):
                    raise ModelError(
                        f"{key} is infinite", owner=Owner("Section", self.name), remedy=f"a {needs} needs a finite one."
                    )
                continue
            if math.isinf(value) and not key.startswith("GA"):
                raise ModelError(
                    f"{key} overflows",
                    owner=Owner("Section", self.name),
                    remedy="check the units of section and material.",
                )
            if value == 0.0 and not key.startswith("rho"):
                raise ModelError(f"{key} underflows to 0", owner=Owner("Section", self.name), remedy="check the units.")

    def properties(self, material: Material | None) -> SectionProperties:
        """Return stiffness and inertia for beams in space, shapes (6, 6), (6, 6), (), (2,), (3, 3).

        Raises ModelError if something is missing, or if the rotary inertias belong to no distribution of mass.
        """
        if self.shape == "matrix":
            C, M = (np.array(self.dimensions[key]) for key in ("stiffness", "mass"))
            rhoA, centre, euler = _inertia_of_matrix(M, Owner("Section", self.name))
            return SectionProperties(C, np.linalg.inv(C), np.array(rhoA), centre, euler)
        s = self.stiffness(material, "beam")
        own = (
            0.5 * (s.rhoIy + s.rhoIz - s.rhoIx),
            0.5 * (s.rhoIx + s.rhoIz - s.rhoIy),
            0.5 * (s.rhoIx + s.rhoIy - s.rhoIz),
        )
        low = -1e-12 * max(s.rhoIx, s.rhoIy, s.rhoIz)
        if min(own) < low:
            raise ModelError(
                f"rotary inertias rhoIx = {s.rhoIx:g}, rhoIy = {s.rhoIy:g}, rhoIz = {s.rhoIz:g} belong to no "
                "distribution of mass: each must be at most the sum of the other two (rhoIx = rhoIy + rhoIz for "
                "a thin slice).",
                owner=Owner("Section", self.name),
            )
        angle = math.radians(self.rotate)
        diagonal = np.array([s.EA, s.GAy, s.GAz, s.GJ, s.EIy, s.EIz])
        C, F = couple(diagonal, self.centroid, self.shear_centre, angle)
        c, n = math.cos(angle), math.sin(angle)
        axes = np.array([[1.0, 0.0, 0.0], [0.0, c, -n], [0.0, n, c]])
        E = (axes * np.maximum(own, 0.0)) @ axes.T
        return SectionProperties(C, F, np.array(s.rhoA), np.array(self.mass_centre), E)


def _inertia_of_matrix(M: np.ndarray, thing: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Return rhoA, mass centre (2,) and Euler tensor (3, 3) about it of a 6x6 inertia per length over (v, w) of the
    line.

    M = [[m I, -m c~], [m c~, J - m c~ c~]] with c = (0, y, z).  Raises ModelError if it has not this form.
    """
    mass = M[0, 0]
    if mass == 0.0:
        if M.any():
            raise ModelError(
                "mass has no translational part, mass[0][0] = 0", owner=thing, remedy="give it, or zeros alone."
            )
        return 0.0, np.zeros(2), np.zeros((3, 3))
    y, z = M[2, 3] / mass, M[0, 4] / mass
    tilde = np.array([[0.0, -z, y], [z, 0.0, 0.0], [-y, 0.0, 0.0]])
    J = M[3:, 3:] + mass * (tilde @ tilde)
    whole = np.block([[mass * np.eye(3), -mass * tilde], [mass * tilde, M[3:, 3:]]])
    reach = max(abs(y), abs(z), math.sqrt(np.abs(J).max() / mass))
    unit = np.repeat([1.0, max(reach, 1e-300)], 3)
    error = np.abs(M - whole) / (mass * np.outer(unit, unit))
    if error.max() > 1e-9:
        i, j = np.unravel_index(int(error.argmax()), error.shape)
        raise ModelError(
            f"mass[{i}][{j}] = {M[i, j]:g} should be {whole[i, j]:g} for a mass {mass:g} per length with its "
            f"centre at (y, z) = ({y:g}, {z:g})",
            owner=thing,
            remedy="the matrix is [[m I, -m c~], [m c~, J]] over (v, w), c = (0, y, z).",
        )
    euler = 0.5 * np.trace(J) * np.eye(3) - J
    lowest = float(np.linalg.eigvalsh(euler)[0])
    if lowest < -1e-9 * mass * reach**2:
        a, b, c = np.linalg.eigvalsh(J)
        raise ModelError(
            f"principal moments of inertia ({a:g}, {b:g}, {c:g}) per length about the mass centre belong to "
            "no distribution of mass",
            owner=thing,
            remedy="each must be at most the sum of the other two.",
        )
    return float(mass), np.array([y, z]), euler


def _rebuild(name: str, shape: str, dimensions: dict[str, float]) -> Section:
    return make_section(name, shape, **dimensions)


# ----------------------------------------------------------------------------------------------------------------------
# Shapes. A dimension table D maps names to numbers; ``constants`` gives (A, Iy, Iz, J, half height, half width) and
# ``shear`` gives (ky, kz).

D = Mapping[str, float]


class _Reader:
    """The given dimensions, read with checks; what was read is collected in ``values``."""

    def __init__(self, thing: str, shape: str, given: Mapping[str, Any]) -> None:
        self.thing = thing
        self.shape = shape
        self.given = given
        self.values: dict[str, float] = {}

    def error(self, what: str) -> ModelError:
        return ModelError(what, owner=self.thing)

    def has(self, key: str) -> bool:
        return self.given.get(key) is not None

    def length(self, key: str) -> float:
        if not self.has(key):
            raise self.error(f'shape "{self.shape}" needs "{key}".')
        return self.optional(key, math.nan)

    def optional(self, key: str, default: float, zero: bool = False, infinite: bool = False) -> float:
        value = default
        if self.has(key):
            value = _check_sign(_number(self.given[key], self.thing, key, infinite), self.thing, key, zero)
        self.values[key] = value
        return value

    def pair(self, key: str, default: float, zero: bool = False, infinite: bool = False) -> None:
        """Return ``key``y and ``key``z, or ``key`` for both."""
        both = self.has(key)
        for axis in "yz":
            if both and self.has(key + axis):
                raise self.error(f'give "{key}" or "{key}{axis}", not both.')
        common = self.optional(key, default, zero, infinite)
        del self.values[key]
        for axis in "yz":
            self.optional(key + axis, common, zero, infinite)

    def matrix(self, key: str) -> np.ndarray:
        """Return a symmetric 6x6 matrix."""
        if not self.has(key):
            raise self.error(f'shape "{self.shape}" needs "{key}", a 6x6 matrix.')
        try:
            M = np.array(self.given[key], float)
        except (TypeError, ValueError):
            M = np.empty(0)
        if M.shape != (6, 6) or not np.isfinite(M).all():
            raise self.error(f"{key} must be a 6x6 matrix of finite numbers.")
        gap = np.abs(M - M.T)
        scale = np.sqrt(np.abs(np.outer(np.diag(M), np.diag(M))))
        if (gap > 1e-9 * np.maximum(scale, np.abs(M))).any():
            i, j = np.unravel_index(int(gap.argmax()), gap.shape)
            raise self.error(f"{key} must be symmetric; [{i}][{j}] = {M[i, j]:g}, but [{j}][{i}] = {M[j, i]:g}.")
        M = 0.5 * (M + M.T)
        self.values[key] = tuple(tuple(float(v) for v in row) for row in M)  # type: ignore[assignment]
        return M


def _read_rectangle(r: _Reader) -> None:
    r.length("width")
    r.length("height")


def _rectangle_constants(d: D) -> tuple[float, ...]:
    b, h = d["width"], d["height"]
    return b * h, h * b**3 / 12.0, b * h**3 / 12.0, _rectangle_torsion(b, h), 0.5 * h, 0.5 * b


def _rectangle_torsion(b: float, h: float) -> float:
    """Return st. Venant's series (Timoshenko & Goodier, Theory of Elasticity, eq. 170):

    J = a c^3 (1/3 - (64/pi^5) (c/a) sum over odd n of tanh(n pi a/(2 c))/n^5), a >= c. With tanh x = 1 - 2/(e^2x + 1)
    the slow part of the sum is (31/32) zeta(5), the rest falls by e^-pi or faster per term.
    """
    a, c = max(b, h), min(b, h)
    total = 31.0 / 32.0 * 1.0369277551433699263  # zeta(5)
    for n in range(1, 15, 2):
        total -= 2.0 / (math.expm1(min(n * math.pi * a / c, 700.0)) + 2.0) / n**5
    return a * c**3 * (1.0 / 3.0 - 64.0 / math.pi**5 * (c / a) * total)


def _rectangle_shear(d: D, nu: float) -> tuple[float, float]:
    k = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)
    return k, k


def _read_circle(r: _Reader) -> None:
    r.length("diameter")


def _round_constants(outer: float, inner: float) -> tuple[float, ...]:
    # Differences of powers as products, exact for thin walls.
    area = 0.25 * math.pi * (outer - inner) * (outer + inner)
    moment = area * (outer * outer + inner * inner) / 16.0
    return area, moment, moment, 2.0 * moment, 0.5 * outer, 0.5 * outer


def _circle_constants(d: D) -> tuple[float, ...]:
    return _round_constants(d["diameter"], 0.0)


def _round_shear(m: float, nu: float) -> tuple[float, float]:
    """Return Cowper's hollow circle, m = inner/outer diameter; m = 0: 6(1+nu)/(7+6nu), m -> 1: 2(1+nu)/(4+3nu)."""
    s = (1.0 + m * m) ** 2
    k = 6.0 * (1.0 + nu) * s / ((7.0 + 6.0 * nu) * s + (20.0 + 12.0 * nu) * m * m)
    return k, k


def _circle_shear(d: D, nu: float) -> tuple[float, float]:
    return _round_shear(0.0, nu)


def _read_tube(r: _Reader) -> None:
    outer = r.length("outer_diameter")
    if r.has("inner_diameter") == r.has("thickness"):
        raise r.error('shape "tube" needs either "inner_diameter" or "thickness".')
    if r.has("inner_diameter"):
        inner = r.length("inner_diameter")
        if inner >= outer:
            raise r.error(f"inner_diameter = {inner!r} must be smaller than outer_diameter = {outer!r}.")
        return
    thickness = r.length("thickness")
    if thickness >= 0.5 * outer:
        raise r.error(
            f"thickness = {thickness!r} must be smaller than half of outer_diameter = {outer!r}; "
            'a full section is shape "circle".'
        )


def _tube_inner(d: D) -> float:
    return d["inner_diameter"] if "inner_diameter" in d else d["outer_diameter"] - 2.0 * d["thickness"]


def _tube_constants(d: D) -> tuple[float, ...]:
    return _round_constants(d["outer_diameter"], _tube_inner(d))


def _tube_shear(d: D, nu: float) -> tuple[float, float]:
    return _round_shear(_tube_inner(d) / d["outer_diameter"], nu)


def _read_walls(r: _Reader) -> tuple[float, float, float, float]:
    h, b = r.length("height"), r.length("width")
    if r.has("thickness"):
        if r.has("web_thickness") or r.has("flange_thickness"):
            raise r.error('give "thickness" or "web_thickness" and "flange_thickness", not both.')
        t = r.length("thickness")
        del r.values["thickness"]
        r.values |= {"web_thickness": t, "flange_thickness": t}
        return h, b, t, t
    return h, b, r.length("web_thickness"), r.length("flange_thickness")


def _check_flanges(r: _Reader, h: float, tf: float) -> None:
    if 2.0 * tf >= h:
        raise r.error(f"two flanges of flange_thickness = {tf!r} do not fit into height = {h!r}.")


def _read_box(r: _Reader) -> None:
    h, b, tw, tf = _read_walls(r)
    _check_flanges(r, h, tf)
    if 2.0 * tw >= b:
        raise r.error(f"two webs of web_thickness = {tw!r} do not fit into width = {b!r}.")


def _box_constants(d: D) -> tuple[float, ...]:
    h, b, tw, tf = d["height"], d["width"], d["web_thickness"], d["flange_thickness"]
    # Two flanges and two webs (rather than the outer minus the inner rectangle: thin walls keep their digits).
    hi, bi = h - 2.0 * tf, b - 2.0 * tw
    hm, bm = h - tf, b - tw
    area = 2.0 * (b * tf + hi * tw)
    Iz = 2.0 * (b * tf**3 / 12.0 + b * tf * (0.5 * hm) ** 2 + tw * hi**3 / 12.0)
    Iy = 2.0 * (tf * b**3 / 12.0 + hi * tw**3 / 12.0 + hi * tw * (0.5 * bm) ** 2)
    return area, Iy, Iz, _box_torsion(hi, bi, tw, tf), 0.5 * h, 0.5 * b


def _box_torsion(h: float, b: float, tw: float, tf: float) -> float:
    """Return torsion constant of a box with the inner height h and width b, refined for thick walls and sharp corners.

    With Prandtl's function split into a harmonic part (constant on the hole's edge) and a part that vanishes on both
    edges, J = 4 Am^2/s + Js exactly: Bredt's second formula, with Am the hole plus the integral of the harmonic
    function, s the resistance int ds/t of the wall, and Js the torsion of the walls as open strips. The four corners
    add to what the straight inner lengths give:

    - to s: (1/pi) (2 k atan(1/k) + (2/k) atan(k) - 2 ln(4 k/(1 + k^2))), k = tw/tf, each: the conformal map of an
      L-shaped strip (0.559 for k = 1);
    - to Am: beta tw tf, to Js: gamma tw^2 tf^2, each, with constants from a numerical solution of the L at k = 1, 1/2
      and 1/4, interpolated in (ln k)^2.

    Against numerical solutions of the whole box: below 0.05 % for walls up to 0.3 of the outer width that differ by no
    more than a factor of 4; 1 % for walls of 0.45 of the width, where the corners no longer are apart.
    """
    k = tw / tf
    x = min(math.log(k) ** 2, math.log(4.0) ** 2)
    beta = 0.1448 - 0.1181 * x - 0.0143 * x * x
    gamma = 0.406 - 0.0554 * x - 0.162 * x * x
    corner = (2.0 * k * math.atan(1.0 / k) + 2.0 / k * math.atan(k) - 2.0 * math.log(4.0 * k / (1.0 + k * k))) / math.pi
    area = h * b + h * tw + b * tf + 4.0 * beta * tw * tf
    resistance = 2.0 * h / tw + 2.0 * b / tf + 4.0 * corner
    strips = 2.0 / 3.0 * (h * tw**3 + b * tf**3) + 4.0 * gamma * (tw * tf) ** 2
    return 4.0 * area * area / resistance + strips


def _walls_shear(m: float, n: float, nu: float, box: bool) -> float:
    """Return Cowper's thin-walled I and box: m = areas of flanges / areas of webs, n = width/height, on centre
    lines."""
    last = 10.0 * n * n * ((3.0 + nu) * m + 3.0 * m * m)
    if not box:
        last = 30.0 * n * n * (m + m * m) + 5.0 * nu * n * n * (8.0 * m + 9.0 * m * m)
    polynomial = 12.0 + 72.0 * m + 150.0 * m**2 + 90.0 * m**3 + nu * (11.0 + 66.0 * m + 135.0 * m**2 + 90.0 * m**3)
    return 10.0 * (1.0 + nu) * (1.0 + 3.0 * m) ** 2 / (polynomial + last)


def _box_shear(d: D, nu: float) -> tuple[float, float]:
    tw, tf = d["web_thickness"], d["flange_thickness"]
    h, b = d["height"] - tf, d["width"] - tw
    m, n = b * tf / (h * tw), b / h
    return _walls_shear(m, n, nu, box=True), _walls_shear(1.0 / m, 1.0 / n, nu, box=True)


def _read_i(r: _Reader) -> None:
    h, b, tw, tf = _read_walls(r)
    _check_flanges(r, h, tf)
    if tw >= b:
        raise r.error(f'web_thickness = {tw!r} must be smaller than width = {b!r}; else use shape "rectangle".')
    # Beyond this it is no longer made of thin walls, and the formulas below are far off.
    if tf > b or tw > h - 2.0 * tf:
        what = f"flange_thickness = {tf!r} is more than width = {b!r}"
        if tf <= b:
            what = f"web_thickness = {tw!r} is more than the height between the flanges, {h - 2.0 * tf!r}"
        raise r.error(f'{what}, which is not an I; use shape "general" with its constants.')
    radius = r.optional("root_radius", 0.0, zero=True)
    if 2.0 * radius > b - tw or 2.0 * radius > h - 2.0 * tf:
        raise r.error(f"root_radius = {radius!r} does not fit between web and flanges.")


def _i_constants(d: D) -> tuple[float, ...]:
    h, b, tw, tf, r = (d[k] for k in ("height", "width", "web_thickness", "flange_thickness", "root_radius"))
    hi, hm = h - 2.0 * tf, h - tf
    area = 2.0 * b * tf + hi * tw
    Iz = 2.0 * (b * tf**3 / 12.0 + b * tf * (0.5 * hm) ** 2) + tw * hi**3 / 12.0
    Iy = 2.0 * tf * b**3 / 12.0 + hi * tw**3 / 12.0
    # Four fillets: square minus quarter circle, with its area, centroid from the corner and own second moment.
    fillet = (1.0 - 0.25 * math.pi) * r * r
    offset = (10.0 - 3.0 * math.pi) / (12.0 - 3.0 * math.pi) * r
    own = (1.0 / 3.0 - math.pi / 16.0 - 1.0 / (9.0 * (4.0 - math.pi))) * r**4
    area += 4.0 * fillet
    Iz += 4.0 * (own + fillet * (0.5 * hi - offset) ** 2)
    Iy += 4.0 * (own + fillet * (0.5 * tw + offset) ** 2)
    return area, Iy, Iz, _i_torsion(hi, b, tw, tf, r), 0.5 * h, 0.5 * b


def _i_torsion(hi: float, b: float, tw: float, tf: float, r: float) -> float:
    """Return torsion constant of an I: the open thin-walled sum of s t^3/3, corrected for ends and junctions.

    Each of the four ends of the flanges takes away 0.105 tf^4 (St. Venant's strip). Each of the two junctions adds

    - tau tf^4 for the body where web and flange meet with sharp corners. For k = tw/tf from 1/4 to 4 tau is a fit
      (0.005) of numerical solutions of the T, around its limit for a web much thicker than the flanges, which goes
      through to the outer face and has an end itself: k^3/3 - 0.105 k^4 - k/3;
    - for fillets of radius r what they add in the formula of El Darwish & Johnston (1965), J. Struct. Div. ASCE
      91(ST1), 203-228, alpha D^4 with D the largest inscribed circle, on which the tables of rolled sections rest. It
      is meant for webs not thicker than the flanges, so k = 1 stands for those that are.

    About 1 % from numerical solutions of whole sections, rolled ones and ones with sharp corners and webs up to three
    times as thick as the flanges.
    """
    k = tw / tf
    x = k / (1.0 + k)
    tau = k**3 / 3.0 - 0.105 * k**4 + k * (((-0.866 * x + 0.656) * x + 0.02) * x)

    def el_darwish(k: float, q: float) -> float:
        alpha = -0.042 + 0.2204 * k + 0.1355 * q - 0.0865 * k * q - 0.0725 * k * k
        return alpha * (((1.0 + q) ** 2 + (q + 0.25 * k) * k) / (2.0 * q + 1.0)) ** 4

    fillets = el_darwish(min(k, 1.0), r / tf) - el_darwish(min(k, 1.0), 0.0)
    return (2.0 * b * tf**3 + hi * tw**3) / 3.0 + (2.0 * (tau + fillets) - 0.420) * tf**4


def _i_shear(d: D, nu: float) -> tuple[float, float]:
    h, b, tw, tf = (d[k] for k in ("height", "width", "web_thickness", "flange_thickness"))
    h -= tf
    ky = _walls_shear(2.0 * b * tf / (h * tw), b / h, nu, box=False)
    # Along the flanges they act as two rectangles, the web carries next to nothing; the coefficient belongs to the area
    # of the whole section. Cowper has no formula for this case. His method would add terms in nu (height/width)^2 that
    # grow without bound for narrow flanges, so they are left out; for nu = 0 both agree.
    kz = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu) * 2.0 * b * tf / _i_constants(d)[0]
    return ky, kz


def _read_general(r: _Reader) -> None:
    r.length("A")
    r.pair("I", math.nan)
    r.optional("J", math.nan)
    r.pair("k", 1.0, infinite=True)


def _general_constants(d: D) -> tuple[float, ...]:
    return d["A"], d["Iy"], d["Iz"], d["J"], math.nan, math.nan


def _general_shear(d: D, nu: float) -> tuple[float, float]:
    return d["ky"], d["kz"]


def _read_stiffness(r: _Reader) -> None:
    if not r.has("EA"):
        raise r.error('shape "stiffness" needs "EA".')
    r.optional("EA", math.nan, infinite=True)
    r.pair("EI", math.nan, infinite=True)
    r.pair("GA", math.inf, infinite=True)
    r.optional("GJ", math.nan, infinite=True)
    if not r.has("rhoA"):
        raise r.error('shape "stiffness" needs "rhoA"; 0 for a section without mass.')
    r.optional("rhoA", math.nan, zero=True)
    r.pair("rhoI", 0.0, zero=True)
    r.optional("rhoIx", r.values["rhoIy"] + r.values["rhoIz"], zero=True)


def _read_matrix(r: _Reader) -> None:
    C = r.matrix("stiffness")
    d = np.sqrt(np.maximum(np.diag(C), 0.0))
    if (d == 0.0).any():
        i = int(np.flatnonzero(d == 0.0)[0])
        raise r.error(f"stiffness[{i}][{i}] = {C[i, i]:g} must be greater than 0.")
    if np.linalg.eigvalsh(C / np.outer(d, d))[0] < 1e-12:
        raise r.error("stiffness is not positive definite: some strain would cost no energy; check its signs.")
    M = r.matrix("mass")
    _check_sign(float(M[0, 0]), r.thing, "mass[0][0]", zero=True)
    _inertia_of_matrix(M, r.thing)


def _no_constants(d: D) -> tuple[float, ...]:
    return (math.nan,) * 6


def _no_shear(d: D, nu: float) -> tuple[float, float]:
    return math.nan, math.nan


@dataclass(frozen=True)
class _Shape:
    keys: tuple[str, ...]
    read: Callable[[_Reader], Any]
    constants: Callable[[D], tuple[float, ...]]
    shear: Callable[[D, float], tuple[float, float]]


_WALLS = ("height", "width", "thickness", "web_thickness", "flange_thickness")
_SHAPES = {
    "rectangle": _Shape(("width", "height"), _read_rectangle, _rectangle_constants, _rectangle_shear),
    "circle": _Shape(("diameter",), _read_circle, _circle_constants, _circle_shear),
    "tube": _Shape(("outer_diameter", "inner_diameter", "thickness"), _read_tube, _tube_constants, _tube_shear),
    "I": _Shape((*_WALLS, "root_radius"), _read_i, _i_constants, _i_shear),
    "box": _Shape(_WALLS, _read_box, _box_constants, _box_shear),
    "general": _Shape(("A", "I", "Iy", "Iz", "J", "k", "ky", "kz"), _read_general, _general_constants, _general_shear),
    "stiffness": _Shape(
        ("EA", "EI", "EIy", "EIz", "GA", "GAy", "GAz", "GJ", "rhoA", "rhoI", "rhoIx", "rhoIy", "rhoIz"),
        _read_stiffness,
        _no_constants,
        _no_shear,
    ),
    "matrix": _Shape(("stiffness", "mass"), _read_matrix, _no_constants, _no_shear),
}

# Shape: its dimensions in a model file.
SECTION_SHAPES: dict[str, tuple[str, ...]] = {shape: s.keys for shape, s in _SHAPES.items()}

# Keys that every shape but "matrix" has: where its points lie against the beam's line (y, z), how its axes are turned.
SECTION_PLACES = ("centroid", "shear_centre", "mass_centre", "rotate")


def _read_places(given: dict[str, Any], thing: str, shape: str) -> dict[str, Any]:
    """Take SECTION_PLACES out of ``given``; shear and mass centre are the centroid unless they are given."""
    places = {key: given.pop(key, None) for key in SECTION_PLACES}
    for key, value in places.items():
        if value is None:
            continue
        if shape == "matrix":
            raise ModelError(f'shape "matrix" has no {key}', owner=thing, remedy="its matrices hold it already.")
        if key == "rotate":
            places[key] = _number(value, thing, key)
            continue
        if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
            raise ModelError(f"{key} = {value!r} must be two numbers, [y, z].", owner=thing, key=key, value=value)
        places[key] = tuple(_number(v, thing, key) for v in value)
    centroid = places["centroid"] or (0.0, 0.0)
    return {
        "centroid": centroid,
        "shear_centre": places["shear_centre"] or centroid,
        "mass_centre": places["mass_centre"] or centroid,
        "rotate": places["rotate"] or 0.0,
    }


def make_section(name: str, shape: str, **dimensions: Any) -> Section:
    """Return a section from its shape and dimensions; keys that are None count as not given.

    ========== =========================================================================================================
    rectangle  width (along z), height (along y)
    circle     diameter
    tube       outer_diameter, and inner_diameter or thickness
    I          height, width, web_thickness and flange_thickness (or thickness for both), root_radius = 0
    box        height, width, web_thickness and flange_thickness (or thickness for all); outer dimensions
    general    A; Iy, Iz (or I for both), J where an element needs them; shear coefficients ky, kz (or k) = 1: A is
               then taken as the shear area itself; infinite: no shear deformation
    stiffness  EA, rhoA; EIy, EIz (or EI), GJ where an element needs them; GAy, GAz (or GA), with the shear
               coefficient in them, infinite if not given; rhoIy, rhoIz (or rhoI) = 0, rhoIx = rhoIy + rhoIz. No
               material is used; infinite EA, EI, GJ are for beams in space that hold the strain fixed.
    matrix     stiffness (6x6 over axial strain, shear y, z, twist rate, curvature y, z of the line) and mass (6x6
               inertia per length over velocity and angular velocity of the line). No material is used.
    ========== =========================================================================================================

    For beams in space all shapes but "matrix" also take centroid, shear_centre and mass_centre = [y, z] against the
    beam's line [m] (the line itself; shear and mass centre: the centroid) and rotate, the angle of the shape's axes
    about the line [deg].

    Raises ModelError, naming section, key, value and remedy.
    """
    thing = Owner("Section", name)
    if not isinstance(shape, str) or shape not in _SHAPES:
        raise ModelError(
            f"unknown shape {shape!r}{_nearest(shape, _SHAPES)}", owner=thing, remedy=f"shapes: {', '.join(_SHAPES)}."
        )
    entry = _SHAPES[shape]
    places = _read_places(dimensions, thing, shape)
    for key in dimensions:
        if key not in entry.keys:
            known = entry.keys if shape == "matrix" else (*entry.keys, *SECTION_PLACES)
            raise ModelError(
                f'unknown key "{key}" for shape "{shape}"{_nearest(key, known)}',
                owner=thing,
                remedy=f"its keys are {', '.join(known)}.",
            )
    reader = _Reader(thing, shape, dimensions)
    entry.read(reader)
    try:
        A, Iy, Iz, J, half_height, half_width = entry.constants(reader.values)
        shear = entry.shear(reader.values, _DEFAULT_NU)
    except (OverflowError, ZeroDivisionError, ValueError):
        raise ModelError("its constants leave the range of numbers", owner=thing, remedy="check the units.") from None
    unknown = shape in ("general", "stiffness", "matrix")  # may be NaN
    for key, value in (("A", A), ("Iy", Iy), ("Iz", Iz), ("J", J), ("ky", shear[0]), ("kz", shear[1])):
        good = 0.0 < value < math.inf or (unknown and (math.isnan(value) or key in ("ky", "kz")))
        if not good:
            raise ModelError(
                f"{key} = {value!r} follows from these dimensions",
                owner=thing,
                key=key,
                value=value,
                remedy='check them and their units (for walls too thick for these formulas use shape "general").',
            )
    return Section(name, shape, A, Iy, Iz, J, MappingProxyType(reader.values), half_height, half_width, **places)


def _nearest(word: Any, words: Any) -> str:
    by_lower = {w.lower(): w for w in words}
    close = difflib.get_close_matches(str(word).lower(), list(by_lower), n=1)
    return f' (did you mean "{by_lower[close[0]]}"?)' if close else ""
