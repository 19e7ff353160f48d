"""Angles between the end sections of beams (`elements/beams/limits.py`) against those of numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from fem_mbs.elements.beams.limits import space_bending


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.3, 1.2, 2.0, 3.1])
@pytest.mark.parametrize("axis", [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.6, 0.8)])
def test_angle_between_the_normals_of_the_ends(angle, axis):
    """Bending about an axis across the beam, and twist about the beam, which does not count."""
    rng = np.random.default_rng(2)
    first = Rotation.random(random_state=rng).as_matrix()
    second = (
        first @ Rotation.from_rotvec(angle * np.array(axis)).as_matrix() @ Rotation.from_rotvec([0.7, 0, 0]).as_matrix()
    )
    E = np.vstack((first.T, second.T))  # rows: the axes of both ends
    assert space_bending(E) == pytest.approx(np.degrees(angle), rel=1e-12, abs=1e-12)
