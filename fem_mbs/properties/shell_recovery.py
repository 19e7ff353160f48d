"""Strains and stresses at the nodes of shell elements by the outputs of their kernels."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from fem_mbs.elements.shells.stiffness import membrane_stiffness
from fem_mbs.elements.shells.surface import free_strains, node_axes, node_forces
from fem_mbs.late import dataclass
from fem_mbs.properties.shells import ShellGroup

__all__ = ["ShellRecovery"]


@dataclass
class ShellRecovery:
    """The group of elements, and the positions X (e, n, 3) [m] of their nodes at the reference."""

    group: ShellGroup
    X: np.ndarray

    @cached_property
    def _by_natural(self) -> np.ndarray:
        """Return strains and curvatures (e, n, 6, m) at the nodes by the natural strains that give stresses; of
        membranes strains (e, n, 3, m)."""
        group = self.group
        if group.bends:
            forces = node_forces(self.X, group.offset, group.axes, *group.stiffness, group.drilling)
        else:
            forces = membrane_stiffness(self.X, group.axes, group.stiffness[0]).resultants[:, 1:, :3]
        return np.linalg.inv(group.nodal_stiffness) @ forces

    @cached_property
    def _free(self) -> tuple[np.ndarray, np.ndarray]:
        """Return strains (e, n, 6) at the nodes, of membranes (e, n, 3), and strains (e, m) of the kernels of the free
        elements by their temperatures."""
        strains = self.group.thermal_strains
        return strains, free_strains(self.X, self.group.offset, self.group.axes, strains)

    @cached_property
    def _axes(self) -> np.ndarray:
        """Return the axes (e, n, 3, 3) of stresses at the nodes."""
        return node_axes(self.X, self.group.axes)

    def strains_of(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return strains and curvatures (e, n, 6) at the nodes, of membranes (e, n, 3), by the outputs (e, k) of the
        elements, and the factors (e,) on the temperatures."""
        m = self._by_natural.shape[3]
        heat, natural = table[:, -m - 1], table[:, -m:]
        if not self.group.heat.any():  # free strains are those of temperatures
            return np.einsum("enim,em->eni", self._by_natural, natural), heat
        strains, free = self._free
        found = np.einsum("enim,em->eni", self._by_natural, natural - heat[:, None] * free)
        return found + heat[:, None, None] * strains, heat

    def tensor(self, plane: np.ndarray, shear: float = 1.0) -> np.ndarray:
        """Return components (e, n, 6) in global axes of those 11, 22, 12 (e, n, 3) in the axes at the nodes; shear: 2
        where 12 is a shear angle."""
        xx, yy, xy = np.moveaxis(plane, 2, 0)
        a, b = self._axes[..., 0, :], self._axes[..., 1, :]
        off = xy / shear
        found = np.empty((*plane.shape[:2], 6))
        for c, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))):
            value = xx * a[..., i] * a[..., j] + yy * b[..., i] * b[..., j]
            value += off * (a[..., i] * b[..., j] + b[..., i] * a[..., j])
            found[..., c] = value if c < 3 else shear * value
        return found
