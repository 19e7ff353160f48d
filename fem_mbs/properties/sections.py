"""Cross-sections of beams, trusses and cables.

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
from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.display import html_table
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.properties.materials import DEFAULT_NU, Material, finite_number
from fem_mbs.properties.shapes import COMPUTED_SHAPES, SHAPES, Reader, inertia_of_matrix

if TYPE_CHECKING:
    from fem_mbs.properties.computed_sections import ComputedSection

__all__ = [
    "SECTION_PLACES",
    "STIFFNESS_NEEDS",
    "Section",
    "SectionProperties",
    "SectionStiffness",
    "computed_section",
    "couple",
    "make_section",
    "to_principal",
]

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


def to_principal(centroid: np.ndarray, shear_centre: np.ndarray, angle: np.ndarray) -> np.ndarray:
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
    T = to_principal(np.asarray(centroid, float), np.asarray(shear_centre, float), angle)
    stiff = np.isinf(diagonal)
    C = np.einsum("...k,...ki,...kj->...ij", np.where(stiff, 0.0, diagonal), T, T)
    if stiff.any():
        signs = np.einsum("...k,...ki,...kj->...kij", stiff.astype(float), T, T)
        C = np.where((signs > 0.0).any(axis=-3), np.inf, np.where((signs < 0.0).any(axis=-3), -np.inf, C))
    inverse = np.linalg.inv(T)
    F = np.einsum("...ik,...k,...jk->...ij", inverse, 1.0 / diagonal, inverse)
    return C, F


def _told(value: Any) -> bool:
    """Return whether this is a number that is known."""
    return isinstance(value, int | float) and not math.isnan(value)


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
    computed: of shapes whose stiffness is computed, the section with its mesh; the constants are NaN

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
    computed: ComputedSection | None = None

    def __repr__(self) -> str:
        given = ", ".join(f"{k} = {v:.6g}" for k, v in self.dimensions.items() if _told(v))
        return f"<Section {self.name!r}: {self.shape}{f', {given}' if given else ''}>"

    def _repr_html_(self) -> str:
        """Return dimensions and constants as a table of a notebook."""
        constants = {"A [m^2]": self.A, "Iy [m^4]": self.Iy, "Iz [m^4]": self.Iz, "J [m^4]": self.J}
        rows = (
            (name, f"{value:.6g}") for name, value in [*self.dimensions.items(), *constants.items()] if _told(value)
        )
        return html_table(f"Section {self.name!r}: {self.shape}", ("constant", "value"), rows)

    def __reduce__(self) -> tuple[Any, ...]:  # a mappingproxy cannot be pickled
        if self.computed is not None:
            return (computed_section, (self.name, self.shape, self.computed))
        given = {k: v for k, v in self.dimensions.items() if isinstance(v, tuple) or not math.isnan(v)}
        if self.shape != "matrix":
            given |= {key: getattr(self, key) for key in SECTION_PLACES}
        return (_rebuild, (self.name, self.shape, given))

    @property
    def eccentric(self) -> bool:
        """Return whether its strains or velocities are coupled, or its axes rotated; only beams in space can have
        this."""
        if self.computed is not None:
            return True
        return self.shape == "matrix" or any((*self.centroid, *self.shear_centre, *self.mass_centre, self.rotate))

    def shear_coefficient_y(self, nu: float) -> float:
        """Return k of the shear stiffness k G A for shear forces along y (bending by Iz), Cowper (1966)."""
        return SHAPES[self.shape].shear(self.dimensions, nu)[0]

    def shear_coefficient_z(self, nu: float) -> float:
        """Return k of the shear stiffness k G A for shear forces along z (bending by Iy), Cowper (1966)."""
        return SHAPES[self.shape].shear(self.dimensions, nu)[1]

    def stiffness(self, material: Material | None, needs: str | None = None) -> SectionStiffness:
        """Return stiffnesses and inertias per length of this section in ``material``.

        ``needs``: a key of STIFFNESS_NEEDS, the element it is for; raises ModelError if something it needs is not
        known. The material may be None for shape "stiffness" only, which does not use it.
        """
        d = self.dimensions
        if self.computed is not None:
            return SectionStiffness(**self.computed.diagonal(material, needs or "plane beam"))
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
        if self.computed is not None:
            s = self.computed.solved(material)
            E = np.zeros((3, 3))
            E[1:, 1:] = s.second
            return SectionProperties(s.stiffness, s.flexibility, np.array(s.mass), np.array(s.mass_centre), E)
        if self.shape == "matrix":
            C, M = (np.array(self.dimensions[key]) for key in ("stiffness", "mass"))
            rhoA, centre, euler = inertia_of_matrix(M, Owner("Section", self.name))
            return SectionProperties(C, np.linalg.inv(C), np.array(rhoA), centre, euler)
        plain = self.stiffness(material, "beam")
        return self._placed(plain)

    def _placed(self, s: SectionStiffness) -> SectionProperties:
        """Return the properties of stiffnesses along the principal axes, at the section's places."""
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


def computed_section(name: str, shape: str, computed: ComputedSection) -> Section:
    """Return the section of a shape whose stiffness is computed (`fem_mbs.properties.computed_sections`)."""
    nan = math.nan
    return Section(name, shape, nan, nan, nan, nan, MappingProxyType({}), nan, nan, computed=computed)


def _rebuild(name: str, shape: str, dimensions: dict[str, float]) -> Section:
    return make_section(name, shape, **dimensions)


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
            places[key] = finite_number(value, thing, key)
            continue
        if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
            raise ModelError(f"{key} = {value!r} must be two numbers, [y, z].", owner=thing, key=key, value=value)
        places[key] = tuple(finite_number(v, thing, key) for v in value)
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
               then taken as the shear area itself; infinite: no shear deformation. With Iyz = int y z dA the section
               takes the principal moments and axes
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
    if isinstance(shape, str) and shape in COMPUTED_SHAPES:
        raise ModelError(
            f'shape "{shape}" has no dimensions, its constants are computed', owner=thing,
            remedy="read it by fem_mbs.properties.computed_sections.read_computed.",
        )  # fmt: skip
    if not isinstance(shape, str) or shape not in SHAPES:
        every = (*SHAPES, *COMPUTED_SHAPES)
        raise ModelError(
            f"unknown shape {shape!r}{_nearest(shape, every)}", owner=thing, remedy=f"shapes: {', '.join(every)}."
        )
    entry = SHAPES[shape]
    places = _read_places(dimensions, thing, shape)
    for key in dimensions:
        if key not in entry.keys:
            known = entry.keys if shape == "matrix" else (*entry.keys, *SECTION_PLACES)
            raise ModelError(
                f'unknown key "{key}" for shape "{shape}"{_nearest(key, known)}',
                owner=thing,
                remedy=f"its keys are {', '.join(known)}.",
            )
    reader = Reader(thing, shape, dimensions)
    entry.read(reader)
    try:
        A, Iy, Iz, J, half_height, half_width = entry.constants(reader.values)
        shear = entry.shear(reader.values, DEFAULT_NU)
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
    places["rotate"] += reader.turn
    return Section(name, shape, A, Iy, Iz, J, MappingProxyType(reader.values), half_height, half_width, **places)


def _nearest(word: Any, words: Any) -> str:
    by_lower = {w.lower(): w for w in words}
    close = difflib.get_close_matches(str(word).lower(), list(by_lower), n=1)
    return f' (did you mean "{by_lower[close[0]]}"?)' if close else ""
