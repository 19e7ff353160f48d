"""Materials of solids, and the builder's data of solid and plane parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from fem_mbs.elements.solids import material as solid_material
from fem_mbs.errors import ModelError, Owner
from fem_mbs.late import dataclass
from fem_mbs.properties.materials import Material

__all__ = ["CellGroup", "SolidGroup", "SolidMaterial", "make_solid_material", "solid_material_of", "turned_strain"]

COMPONENTS = ("xx", "yy", "zz", "xy", "yz", "zx")


@dataclass(frozen=True, eq=False)
class SolidMaterial:
    """A linear elastic material of solids: ``stiffness`` (6, 6) [Pa] in material axes over xx, yy, zz, xy, yz, zx with
    engineering shear strains, ``density`` [kg/m^3], ``expansion`` (6,) thermal strains per temperature [1/K]."""

    name: str
    stiffness: np.ndarray
    density: float
    expansion: np.ndarray = field(default_factory=lambda: np.zeros(6))


@dataclass(eq=False, kw_only=True)
class CellGroup:
    """Elements of one type on cells of meshes.

    ``part`` is the user's name; ``name`` that of its results, of one kind of cell (the same where the part has only
    one); ``nodes`` (n, k); ``places``: runs of its elements (mesh, block in it, cells of the block, first element of
    the run); ``ids`` (n,) their numbers in the mesh.
    """

    name: str
    part: str
    kind: str
    type: str
    nodes: np.ndarray
    places: list[tuple[str, int, np.ndarray, int]]
    ids: np.ndarray

    def elements(self, mesh: str, block: int, count: int) -> np.ndarray:
        """Return elements that stand on the ``count`` cells of a mesh's block, -1: none."""
        found = np.full(count, -1)
        for name, number, cells, first in self.places:
            if (name, number) == (mesh, block):
                found[cells] = first + np.arange(len(cells))
        return found

    def on(self, mesh: str) -> bool:
        return any(name == mesh for name, *_ in self.places)


@dataclass(eq=False, kw_only=True)
class SolidGroup(CellGroup):
    """Elements of one type in a solid or plane part: the data that loads and results need.

    ``state`` "" in space, else "stress", "strain" or "axisymmetric"; ``thickness`` (n,) [m] (angle 2 pi about an axis);
    ``axes`` (n, 3, 3) or (3, 3) material axes in rows, or None: the global ones; ``volumes`` computes `volume`;
    ``quality``: worst ratio of the smallest to the largest Jacobian of an element; ``nonlinear``: of large
    displacements.
    """

    rule: str
    material: SolidMaterial
    state: str = ""
    thickness: np.ndarray | None = None
    axes: np.ndarray | None = None
    quality: float = 1.0
    nonlinear: bool = True
    volumes: Callable[[], np.ndarray] | None = None

    @cached_property
    def volume(self) -> np.ndarray:
        """Return the volumes (n,) [m^3] of the elements."""
        return np.zeros(0) if self.volumes is None else self.volumes()

    @property
    def mass(self) -> np.ndarray:
        """Return the masses (n,) [kg] of the elements."""
        return self.volume * self.material.density


def _numbers(value, owner: str, key: str, shapes: tuple[tuple[int, ...], ...], hint: str) -> np.ndarray:
    try:
        v = np.asarray(value, float)
    except (TypeError, ValueError):
        v = np.full(7, np.nan)
    if v.shape not in shapes or not np.isfinite(v).all():
        raise ModelError(f"{key} = {value!r} must be {hint}", owner=owner, key=key, value=value)
    return v


def _expansion(value, owner: str) -> np.ndarray:
    """Return thermal strains (6,) per temperature of one, three or six coefficients."""
    v = _numbers(value, owner, "expansion", ((), (3,), (6,)), "1, 3 (along the material axes) or 6 finite numbers")
    if v.shape == (6,):
        return v * (1.0, 1.0, 1.0, 2.0, 2.0, 2.0)
    return np.concatenate((np.broadcast_to(v, (3,)), np.zeros(3)))


def make_solid_material(
    name: str, E: Any, nu: Any, G: Any, stiffness: Any, density: Any, expansion: Any
) -> SolidMaterial:
    """See `fem_mbs.model.materials.LinearMaterial`."""
    owner = Owner("Material", name)
    if density is None:
        raise ModelError('"density" is missing', owner=owner, remedy="give it, 0 for a material without mass")
    rho = float(_numbers(density, owner, "density", ((),), "a finite number"))
    if rho < 0.0:
        raise ModelError(f"density = {density!r} must be 0 or more", owner=owner, key="density", value=density)
    strain = _expansion(expansion, owner)
    if stiffness is not None:
        if E is not None or nu is not None or G is not None:
            raise ModelError("stiffness is the whole matrix", owner=owner, remedy="remove E, nu and G")
        C = _numbers(stiffness, owner, "stiffness", ((6, 6), (21,)), "a 6x6 matrix or 21 numbers (upper triangle)")
        if C.shape == (21,):
            full = np.zeros((6, 6))
            full[np.triu_indices(6)] = C
            C = full + np.triu(full, 1).T
        if np.abs(C - C.T).max() > 1e-6 * np.abs(C).max():
            raise ModelError(
                "stiffness is not symmetric", owner=owner, remedy=f"mend it (components {', '.join(COMPONENTS)})"
            )
        C = 0.5 * (C + C.T)
    elif E is None:
        raise ModelError("no elasticity", owner=owner, remedy="give E and nu, or stiffness")
    elif np.ndim(E) == 0:
        plain = Material(name, E, nu, density=rho, G=G)
        C = solid_material.isotropic(plain.E, plain.nu)
    else:
        three = "3 finite numbers"
        Es, nus, Gs = (
            _numbers(value, owner, key, ((3,),), f"{three} ({parts}) where E has three")
            for key, value, parts in (("E", E, "E1, E2, E3"), ("nu", nu, "nu12, nu13, nu23"), ("G", G, "G12, G13, G23"))
        )
        if (Es <= 0.0).any() or (Gs <= 0.0).any():
            raise ModelError(f"E = {E!r} and G = {G!r} must be greater than 0", owner=owner, key="E", value=E)
        try:
            C = solid_material.orthotropic(Es, nus, Gs)
        except ValueError as error:
            raise ModelError(f"{error}", owner=owner, remedy="mend its constants") from error
    scale = 1.0 / np.sqrt(np.abs(np.diag(C)).clip(1e-300))
    if (np.diag(C) <= 0.0).any() or np.linalg.eigvalsh(C * np.outer(scale, scale))[0] <= 0.0:
        raise ModelError(
            "its stiffness is not positive (some strain costs no energy)", owner=owner, remedy="mend its constants"
        )
    return SolidMaterial(name, C, rho, strain)


def solid_material_of(material: Material | SolidMaterial) -> SolidMaterial:
    """Return a beam's isotropic material as one of solids."""
    if isinstance(material, SolidMaterial):
        return material
    C = solid_material.isotropic(material.E, material.nu)
    return SolidMaterial(material.name, C, material.density, _expansion(material.expansion, material.name))


def turned_strain(strain: np.ndarray, axes: np.ndarray | None) -> np.ndarray:
    """Return a strain (6,) of material axes, the rows of ``axes`` (..., 3, 3), in global axes: (..., 6), shear as
    gamma."""
    if axes is None:
        return strain
    xx, yy, zz, xy, yz, zx = strain * (1.0, 1.0, 1.0, 0.5, 0.5, 0.5)
    T = np.swapaxes(axes, -1, -2) @ np.array([[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]) @ axes
    pairs = ((0, 0, 1), (1, 1, 1), (2, 2, 1), (0, 1, 2), (1, 2, 2), (2, 0, 2))
    return np.stack([factor * T[..., i, j] for i, j, factor in pairs], axis=-1)
