"""Sections of shells: homogeneous or of layers, by first-order shear deformation theory.

    N = A eps + B kappa,  M = B eps + D kappa,  Q = S gamma,     A, B, D = integral of Q (1, z, z^2) dz

with the plane-stress stiffness Q of a layer turned into the axes of the shell, z from the middle of the thickness along
the normal.  The transverse shear stiffness S takes the stresses that equilibrium gives for cylindrical bending along
either axis, tau = -integral of sigma,x dz with M,x = Q, whose energy is Q^2/(2 S) (Whitney 1973,
doi:10.1115/1.3422970): 5/6 G h of a homogeneous section.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fem_mbs.properties.solids import CellGroup, SolidMaterial

__all__ = ["Layer", "ShellGroup", "ShellSection", "make_shell_section"]

_PLANE, _SHEAR = [0, 1, 3], [5, 4]  # components 11, 22, 12 and 13, 23 of xx, yy, zz, xy, yz, zx
_POINTS = np.array((-0.7745966692414834, 0.0, 0.7745966692414834))
_WEIGHTS = np.array((5.0, 8.0, 5.0)) / 18.0


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer: material, thickness [m], angle [rad] of its first axis from that of the shell, about the normal."""

    material: SolidMaterial
    thickness: float
    angle: float = 0.0


@dataclass(frozen=True, eq=False)
class ShellSection:
    """The section of a shell of the thickness 1 m: other thicknesses h scale A, B, D with h, h^2, h^3 and S with h.

    ``matrix`` (6, 6): A, B, D [N/m]; ``shear`` (2, 2): S [N/m]; ``inertia`` (3,): integral of rho (1, z, z^2);
    ``bounds`` (k + 1,): heights of the layers' faces, -1/2 to 1/2; ``plane`` (k, 3, 3) [Pa]: stiffness of the layers in
    the axes of the shell.
    """

    matrix: np.ndarray
    shear: np.ndarray
    inertia: np.ndarray
    bounds: np.ndarray
    plane: np.ndarray

    def layer_at(self, height: float) -> np.ndarray:
        """Return the stiffness (3, 3) [Pa] of the layer at a height -1/2 to 1/2; on a border that of the upper one."""
        return self.plane[min(int(np.searchsorted(self.bounds[1:], height, side="right")), len(self.plane) - 1)]

    def stiffness(self, thickness: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the matrices (n, 6, 6) and (n, 2, 2) of thicknesses (n,)."""
        h = thickness[:, None, None]
        power = np.ones((6, 6))
        power[:3, 3:] = power[3:, :3] = 2.0
        power[3:, 3:] = 3.0
        return self.matrix * h**power, self.shear * h


@dataclass(eq=False, kw_only=True)
class ShellGroup(CellGroup):
    """Elements of one kind of cells of a shell.

    ``section``; ``thickness`` (n,) [m]; ``offset`` (n,) [m] of the middle surface from the nodes along the normal;
    ``axes`` (n, 3, 3) of the elements in rows; ``drilling`` (n,) share of the rotations about the normal in the strains
    of triangles (`fem_mbs.elements.shells.stiffness`); ``area`` (n,) [m^2], ``mass`` (n,) [kg].
    """

    section: ShellSection
    thickness: np.ndarray
    offset: np.ndarray
    axes: np.ndarray
    drilling: np.ndarray = field(default_factory=lambda: np.ones(1))
    area: np.ndarray = field(default_factory=lambda: np.zeros(0))
    mass: np.ndarray = field(default_factory=lambda: np.zeros(0))
    state: str = "shell"


def _turned(layer: Layer) -> tuple[np.ndarray, np.ndarray]:
    """Return plane-stress (3, 3) and transverse shear stiffness (2, 2) [Pa] of a layer in the axes of the shell."""
    compliance = np.linalg.inv(layer.material.stiffness)
    plane = np.linalg.inv(compliance[np.ix_(_PLANE, _PLANE)])
    shear = np.linalg.inv(compliance[np.ix_(_SHEAR, _SHEAR)])
    c, s = np.cos(layer.angle), np.sin(layer.angle)
    # strains in the layer's axes from those in the shell's
    T = np.array(((c * c, s * s, c * s), (s * s, c * c, -c * s), (-2.0 * c * s, 2.0 * c * s, c * c - s * s)))
    R = np.array(((c, s), (-s, c)))
    return T.T @ plane @ T, R.T @ shear @ R


def make_shell_section(layers: Sequence[Layer], correction: Sequence[float] | None = None) -> ShellSection:
    """Return the section of layers, from the bottom to the top along the normal, for the thickness 1 m.

    Args:
        correction: shear correction factors along both axes; None: from equilibrium.
    """
    thickness = np.array([layer.thickness for layer in layers])
    bounds = np.concatenate(((0.0,), np.cumsum(thickness))) / thickness.sum() - 0.5
    bounds[-1] = 0.5
    low, high = bounds[:-1], bounds[1:]
    moments = [high - low, (high**2 - low**2) / 2.0, (high**3 - low**3) / 3.0]
    stiffness = [_turned(layer) for layer in layers]
    plane, shear = np.array([s[0] for s in stiffness]), np.array([s[1] for s in stiffness])
    A, B, D = (np.einsum("k,kij->ij", m, plane) for m in moments)
    matrix = np.block([[A, B], [B, D]])
    density = np.array([layer.material.density for layer in layers])
    total = np.einsum("k,kij->ij", moments[0], shear)
    factors = np.array(correction) if correction is not None else _corrections(matrix, plane, shear, bounds, total)
    root = np.sqrt(factors)
    inertia = np.array([density @ m for m in moments])
    return ShellSection(matrix, total * np.outer(root, root), inertia, bounds, plane)


def _corrections(matrix, plane, shear, bounds, total) -> np.ndarray:
    """Return shear correction factors (2,) of cylindrical bending along both axes."""
    compliance = np.linalg.inv(matrix)
    factors = np.empty(2)
    for axis in range(2):
        change = compliance[:, 3 + axis]  # strains and curvatures by a unit change of the moment
        energy = flow = 0.0
        for k, (low, high) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
            constant, slope = plane[k, axis] @ change[:3], plane[k, axis] @ change[3:]
            z = 0.5 * (low + high) + 0.5 * (high - low) * _POINTS
            stress = flow - constant * (z - low) - 0.5 * slope * (z**2 - low**2)
            energy += (high - low) * _WEIGHTS @ stress**2 / shear[k, axis, axis]
            flow -= constant * (high - low) + 0.5 * slope * (high**2 - low**2)
        factors[axis] = 1.0 / (energy * total[axis, axis])
    return factors
