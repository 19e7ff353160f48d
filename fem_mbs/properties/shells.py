"""Sections of shells: homogeneous or of layers, by first-order shear deformation theory.

    N = A eps + B kappa,  M = B eps + D kappa,  Q = S gamma,     A, B, D = integral of Q (1, z, z^2) dz

with the plane-stress stiffness Q of a layer turned into the axes of the shell, z from the middle of the thickness along
the normal.  The transverse shear stiffness S takes the stresses that equilibrium gives for cylindrical bending along
either axis, tau = -integral of sigma,x dz with M,x = Q, whose energy is Q^2/(2 S) (Whitney 1973,
doi:10.1115/1.3422970): 5/6 G h of a homogeneous section.

A change of temperature t + z g has the forces N_T, M_T = integral of Q alpha (t + z g) (1, z) dz in a clamped
section, and in a free one the strains and curvatures with which A, B, D give these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from fem_mbs.elements.shells.quadratic_stiffness import bent_strains
from fem_mbs.elements.shells.surface import middle_shares
from fem_mbs.late import dataclass
from fem_mbs.properties.solids import CellGroup, SolidMaterial

__all__ = ["Layer", "ShellGroup", "ShellSection", "make_shell_section", "residual_flexibility", "side_angles"]

_PLANE, _SHEAR = [0, 1, 3], [5, 4]  # components 11, 22, 12 and 13, 23 of xx, yy, zz, xy, yz, zx
_POINTS = np.array((-0.7745966692414834, 0.0, 0.7745966692414834))
_WEIGHTS = np.array((5.0, 8.0, 5.0)) / 18.0
#: sides whose elements stand at a larger angle are folds, not curved surfaces: square of its sine
_FOLD = np.sin(np.radians(30.0)) ** 2


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
    ``bounds`` (k + 1,): heights of the layers' faces, -1/2 to 1/2; in the axes of the shell ``plane`` (k, 3, 3) [Pa]:
    stiffness of the layers, and ``expansion`` (k, 3): their thermal strains [1/K]; ``angles`` (k,) [rad] of their first
    axes from that of the shell.  ``bent``: (3, 3) [Pa] and (3,) [1/K], the same of the material that resists the
    curvatures of one layer, where that is another one.
    """

    matrix: np.ndarray
    shear: np.ndarray
    inertia: np.ndarray
    bounds: np.ndarray
    plane: np.ndarray
    angles: np.ndarray
    expansion: np.ndarray
    bent: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def layers(self) -> int:
        """Return the number of layers."""
        return len(self.plane)

    def layer_number(self, height: float) -> int:
        """Return the number of the layer, from 0, at a height -1/2 to 1/2; on a border that of the upper one."""
        return min(int(np.searchsorted(self.bounds[1:], height, side="right")), self.layers - 1)

    def thermal_forces(self, change: np.ndarray, gradient: np.ndarray, powers: np.ndarray) -> np.ndarray:
        """Return forces [N/m] and moments [N] (..., 6) that clamped sections need against changes of temperature.

        Args:
            change: (...) [K] in the middle of the thickness.
            gradient: (...) [K/m] along the normal.
            powers: (..., 3) thickness [m], its square and its cube, or the means of these.
        """
        low, high = self.bounds[:-1], self.bounds[1:]
        flow = np.einsum("kij,kj->ki", self.plane, self.expansion)
        first, second, third = (((high**p - low**p) / p) @ flow for p in (1, 2, 3))
        if self.bent is not None:
            third = self.bent[0] @ self.bent[1] / 12.0
        h, h2, h3 = (powers[..., i, None] for i in range(3))
        t, g = change[..., None], gradient[..., None]
        return np.concatenate((t * h * first + g * h2 * second, t * h2 * second + g * h3 * third), axis=-1)

    def stiffness(self, powers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the matrices (..., 6, 6) and (..., 2, 2) of thicknesses, their squares and cubes (..., 3), or of the
        means of these."""
        power = np.zeros((6, 6), int)
        power[:3, 3:] = power[3:, :3] = 1
        power[3:, 3:] = 2
        return self.matrix * powers[..., power], self.shear * powers[..., :1, None]


@dataclass(eq=False, kw_only=True)
class ShellGroup(CellGroup):
    """Elements of one kind of cells of a shell.

    ``section``; ``corners`` (n, k) thickness [m] at the nodes, linear in the elements, with the means ``powers`` (n, 3)
    of itself, its square and its cube over an element; ``offset`` (n,) [m] of the middle surface from the nodes along
    the normal; ``axes`` (n, 3, 3) of the elements in rows; ``drilling`` (n,) share of the rotations about the normal in
    the strains of triangles (`fem_mbs.elements.shells.stiffness`); ``area`` (n,) [m^2], ``mass`` (n,) [kg]; ``heat``
    (n, k, 2) changes of temperature at the nodes, where the function of these is 1: in the middle [K] and along the
    normal [K/m], in linear elements the same at all;
    ``residual`` (n, 2, 2) [m/N] what `residual_flexibility` adds to that of transverse shear, or (0, 2, 2);
    ``curvature`` (n, k, 2, 2) [1/m] of the surface at the nodes, by which layers are longer than the middle.
    """

    section: ShellSection
    corners: np.ndarray
    powers: np.ndarray
    offset: np.ndarray
    axes: np.ndarray
    drilling: np.ndarray = field(default_factory=lambda: np.ones(1))
    area: np.ndarray = field(default_factory=lambda: np.zeros(0))
    mass: np.ndarray = field(default_factory=lambda: np.zeros(0))
    heat: np.ndarray
    residual: np.ndarray = field(default_factory=lambda: np.zeros((0, 2, 2)))
    curvature: np.ndarray
    state: str = "shell"

    def element(self, i: int) -> ShellGroup:
        """Return the group of the middle of element i alone, with its mean thickness."""
        k, shares = slice(i, i + 1), middle_shares(self.nodes.shape[1])
        return replace(
            self, nodes=self.nodes[k], ids=self.ids[k], places=[], corners=self.powers[k, :1], powers=self.powers[k],
            offset=self.offset[k], axes=self.axes[k], drilling=np.ones(1), area=self.area[k], mass=self.mass[k],
            heat=(shares @ self.heat[i])[None, None], residual=self.residual[k],
            curvature=np.einsum("k,kij->ij", shares, self.curvature[i])[None, None],
        )  # fmt: skip

    def some(self, elements: np.ndarray) -> ShellGroup:
        """Return the group of some elements alone, by their numbers (k,)."""
        known = {
            name: value[elements] for name, value in (("drilling", self.drilling), ("residual", self.residual))
            if len(value) == len(self.nodes)
        }  # fmt: skip
        return replace(
            self, nodes=self.nodes[elements], ids=self.ids[elements], places=[], corners=self.corners[elements],
            powers=self.powers[elements], offset=self.offset[elements], axes=self.axes[elements],
            area=self.area[elements], mass=self.mass[elements], heat=self.heat[elements],
            curvature=self.curvature[elements], **known,
        )  # fmt: skip

    @property
    def thickness(self) -> np.ndarray:
        """Return the mean thickness (n,) [m] of the elements."""
        return self.powers[:, 0]

    @property
    def bends(self) -> bool:
        """Return whether the elements bend; membranes do not."""
        return self.type.startswith("shell_")

    @property
    def stiffness(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the matrices (n, 6, 6) of membrane forces and moments and (n, 2, 2) of shear forces; of membranes
        (n, 3, 3) and (n, 0, 0)."""
        matrix, shear = self.section.stiffness(self.powers)
        if len(self.residual):
            shear = np.linalg.inv(np.linalg.inv(shear) + self.residual)
        return (matrix, shear) if self.bends else (matrix[:, :3, :3], shear[:, :0, :0])

    @property
    def nodal_stiffness(self) -> np.ndarray:
        """Return the matrices (n, k, 6, 6) of membrane forces and moments at the nodes, of membranes (n, k, 3, 3)."""
        matrix, _ = self.section.stiffness(self.corners[..., None] ** np.array((1, 2, 3)))
        return matrix if self.bends else matrix[..., :3, :3]

    @property
    def thermal_strains(self) -> np.ndarray:
        """Return strains and curvatures (n, k, 6) at the nodes of the free elements by their temperatures, of membranes
        strains (n, k, 3)."""
        matrix, _ = self.stiffness
        value, gradient = np.moveaxis(self.heat, 2, 0)
        forces = self.section.thermal_forces(value, gradient, self.powers[:, None])[..., : matrix.shape[1]]
        return np.swapaxes(np.linalg.solve(matrix, np.swapaxes(forces, 1, 2)), 1, 2)

    def strains_at(self, strain: np.ndarray, height: float) -> np.ndarray:
        """Return strains 11, 22, 12 (n, m, 3) at a height -1/2 to 1/2 of the thickness, in the axes of the elements.

        Args:
            strain: (n, m, 6) strains and curvatures at the nodes of each element, or at places as thick as its one
                value of ``corners``; of membranes (n, m, 3) strains.
        """
        if strain.shape[2] == 3:
            return strain
        return bent_strains(strain, self.curvature, height * self.corners)

    def stresses_at(self, strain: np.ndarray, level: np.ndarray, height: float, layer: int) -> np.ndarray:
        """Return stresses 11, 22, 12 (n, m, 3) [Pa] of a layer (from 0) at a height, in the axes of the elements.

        Args:
            strain: as for `strains_at`.
            level: (n,) factor on the temperatures.
        """
        change, bent = level[:, None] * self.heat[..., 0], level[:, None] * height * self.corners * self.heat[..., 1]
        plane, expansion = self.section.plane[layer], self.section.expansion[layer]
        if self.section.bent is None or strain.shape[2] == 3:
            return (self.strains_at(strain, height) - (change + bent)[..., None] * expansion) @ plane
        middle = self.strains_at(strain, 0.0)
        turned = self.strains_at(strain, height) - middle - bent[..., None] * self.section.bent[1]
        return (middle - change[..., None] * expansion) @ plane + turned @ self.section.bent[0]

    def layer_stresses(self, strain: np.ndarray, level: np.ndarray) -> np.ndarray:
        """Return stresses 11, 22, 12 (n, m, layers, 3, 3) [Pa] at the bottom, in the middle and on top of each layer,
        in the axes of the layer; arguments as for `stresses_at`."""
        found = np.empty((*strain.shape[:2], self.section.layers, 3, 3))
        for k, (low, high) in enumerate(zip(self.section.bounds[:-1], self.section.bounds[1:], strict=True)):
            c, s = np.cos(self.section.angles[k]), np.sin(self.section.angles[k])
            turn = np.array(((c * c, s * s, 2.0 * c * s), (s * s, c * c, -2.0 * c * s), (-c * s, c * s, c * c - s * s)))
            for i, height in enumerate((low, 0.5 * (low + high), high)):
                found[:, :, k, i] = self.stresses_at(strain, level, height, k) @ turn.T
        return found


def side_angles(groups: Sequence[ShellGroup]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pairs of sides a, b (m,) that elements of 3 and 4 nodes share, and the squares (m,) of the sines between
    the normals of these elements; 0 at folds.

    The sides of all elements of all groups are counted through: side i of an element goes from its node i to the next.
    """
    sides = [np.sort(np.stack((g.nodes, np.roll(g.nodes, -1, axis=1)), axis=2), axis=2).reshape(-1, 2) for g in groups]
    table = np.concatenate(sides)
    unit = np.concatenate([np.repeat(g.axes[:, 2], g.nodes.shape[1], axis=0) for g in groups])
    order = np.lexsort(table.T)
    same = np.flatnonzero((table[order[1:]] == table[order[:-1]]).all(axis=1))
    a, b = order[same], order[same + 1]
    sine = 1.0 - np.einsum("ij,ij->i", unit[a], unit[b]) ** 2
    return a, b, np.where(sine < _FOLD, sine, 0.0)


def residual_flexibility(X: np.ndarray, axes: np.ndarray, bending: np.ndarray) -> np.ndarray:
    """Return the residual bending flexibility (n, 2, 2) [m/N] of quadrilaterals, which makes up for their sides'
    bending like circles instead of cubic polynomials: L^2/(12 D) along each of the two mid-lines of length L.

    Args:
        X: (n, 4, 3) [m] nodes.
        axes: (n, 3, 3) of the elements in rows.
        bending: (n, 3, 3) [N m] stiffness D against curvatures 11, 22, 12 in these axes.

    Source: R. H. MacNeal, A simple quadrilateral shell element, Computers & Structures 8 (1978) 175-183.
    """
    out = np.zeros((len(X), 2, 2))
    for first, last in (((1, 2), (0, 3)), ((2, 3), (0, 1))):
        g = 0.5 * (X[:, first].sum(axis=1) - X[:, last].sum(axis=1))
        a, b = np.einsum("ni,nki->kn", g, axes[:, :2])
        along = np.stack((a * a, b * b, 2.0 * a * b), axis=-1) / (a * a + b * b)[:, None]
        D = np.einsum("ni,nij,nj->n", along, bending, along)
        plane = np.stack((a, b), axis=-1)
        out += plane[:, :, None] * plane[:, None, :] / (12.0 * D)[:, None, None]
    return out


def _turned(layer: Layer) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return plane-stress (3, 3) and transverse shear stiffness (2, 2) [Pa] and thermal strains (3,) [1/K] of a layer,
    in the axes of the shell."""
    compliance = np.linalg.inv(layer.material.stiffness)
    plane = np.linalg.inv(compliance[np.ix_(_PLANE, _PLANE)])
    shear = np.linalg.inv(compliance[np.ix_(_SHEAR, _SHEAR)])
    c, s = np.cos(layer.angle), np.sin(layer.angle)
    # strains in the layer's axes from those in the shell's
    T = np.array(((c * c, s * s, c * s), (s * s, c * c, -c * s), (-2.0 * c * s, 2.0 * c * s, c * c - s * s)))
    R = np.array(((c, s), (-s, c)))
    return T.T @ plane @ T, R.T @ shear @ R, np.linalg.solve(T, layer.material.expansion[_PLANE])


def make_shell_section(
    layers: Sequence[Layer], correction: Sequence[float] | None = None, bending_factor: float = 1.0,
    bending: SolidMaterial | None = None,
) -> ShellSection:  # fmt: skip
    """Return the section of layers, from the bottom to the top along the normal, for the thickness 1 m.

    Args:
        correction: shear correction factors along both axes; None: from equilibrium.
        bending_factor: on D, of sections whose core only holds their faces apart.
        bending: of one layer, the material that resists its curvatures, if that is another one.
    """
    thickness = np.array([layer.thickness for layer in layers])
    bounds = np.concatenate(((0.0,), np.cumsum(thickness))) / thickness.sum() - 0.5
    bounds[-1] = 0.5
    low, high = bounds[:-1], bounds[1:]
    moments = [high - low, (high**2 - low**2) / 2.0, (high**3 - low**3) / 3.0]
    stiffness = [_turned(layer) for layer in layers]
    plane, shear, expansion = (np.array(parts) for parts in zip(*stiffness, strict=True))
    A, B, D = (np.einsum("k,kij->ij", m, plane) for m in moments)
    bent = None
    if bending is not None:
        flat, _, swelling = _turned(replace(layers[0], material=bending))
        bent, D = (flat, swelling), flat / 12.0
    matrix = np.block([[A, B], [B, D]])
    density = np.array([layer.material.density for layer in layers])
    total = np.einsum("k,kij->ij", moments[0], shear)
    factors = np.array(correction) if correction is not None else _corrections(
        matrix, plane if bent is None else bent[0][None], shear, bounds, total
    )  # fmt: skip
    root = np.sqrt(factors)
    matrix[3:, 3:] *= bending_factor
    inertia = np.array([density @ m for m in moments])
    angles = np.array([layer.angle for layer in layers])
    return ShellSection(matrix, total * np.outer(root, root), inertia, bounds, plane, angles, expansion, bent)


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
