"""Doubts about shells that are thick against the radius of their curvature."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fem_mbs.properties.shells import ShellGroup, side_angles

__all__ = ["doubts_of_thick_shells"]

#: Thickness over radius beyond which cells of 3 and 4 nodes may miss 3 % of the energy of deformation.
_THICK = 0.1


def doubts_of_thick_shells(model: Any) -> Iterator[str]:
    """Yield a note on each shell of cells of 3 and 4 nodes whose thickness is more than a tenth of the radius.

    Such cells miss up to h/(sqrt(12) R) of the strain energy per direction of curvature (docs/theory.md, section 4).
    """
    for group in model.shell_groups.values():
        if not group.bends or group.nodes.shape[1] > 4:
            continue
        ratio = _thickness_over_radius(group, model.positions[group.nodes])
        if ratio > _THICK:
            missing = 100.0 * ratio / np.sqrt(12.0)
            yield (
                f'shell "{group.name}": its thickness is up to {ratio:.2g} of the radius of curvature; cells of 3 and '
                f"4 nodes are those of thin shells and may miss {missing:.1g} % of the strain energy: mesh with cells "
                "of 6 or 8 nodes"
            )


def _thickness_over_radius(group: ShellGroup, X: np.ndarray) -> float:
    """Return the largest thickness over the radius, by the angles between neighbours at nodes X (n, k, 3) [m]."""
    n = group.nodes.shape[1]
    a, b, sine = side_angles([group])
    if not a.size:
        return 0.0
    sides = np.linalg.norm(np.roll(X, -1, axis=1) - X, axis=2).ravel()
    # a pair of triangles turns by the angle of the quadrilateral that they make, over its whole length
    width = (0.5 if n == 4 else 1.0) * (group.area[a // n] + group.area[b // n]) / sides[a]
    thickness = np.maximum(group.thickness[a // n], group.thickness[b // n])
    return float((thickness * np.arcsin(np.sqrt(np.maximum(sine, 0.0))) / width).max())
