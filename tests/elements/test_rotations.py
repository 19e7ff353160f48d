"""Rotation matrices and rotation vectors (`fem_mbs.rotations`) against those of scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from fem_mbs.rotations import rotation_matrices, rotation_vectors

ROUND_OFF = 8 * np.finfo(float).eps  # some operations with numbers up to pi


def _vectors(angle: float) -> np.ndarray:
    axes = np.random.default_rng(3).normal(size=(40, 3))
    return angle * axes / np.linalg.norm(axes, axis=1, keepdims=True)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-4, 0.7, 2.5, np.pi - 1e-9, np.pi, 5.0])
def test_both_ways(angle):
    vectors = _vectors(angle)
    R = Rotation.from_rotvec(vectors).as_matrix()
    assert rotation_matrices(vectors) == pytest.approx(R, rel=0, abs=ROUND_OFF)
    expected = Rotation.from_matrix(R).as_rotvec()
    assert rotation_vectors(R) == pytest.approx(expected, rel=0, abs=ROUND_OFF)
    if angle <= 1e-4:  # each number of a small vector to round-off of that vector
        assert rotation_vectors(rotation_matrices(vectors)) == pytest.approx(vectors, rel=0, abs=angle * 1e-12)


@pytest.mark.parametrize("axis", range(3))
def test_half_turns_about_axes(axis):
    """The trace is smallest there, and the scalar part of the quaternion is 0."""
    vector = np.pi * np.eye(3)[axis]
    assert rotation_vectors(2.0 * np.outer(np.eye(3)[axis], np.eye(3)[axis]) - np.eye(3)) == pytest.approx(vector)


def test_shapes():
    """One vector, none, and several axes of them; matrices that are orthogonal to 1e-8 give vectors as exact."""
    assert rotation_matrices([0.0, 0.0, 0.0]).tolist() == np.eye(3).tolist()
    assert rotation_matrices(np.zeros((0, 3))).shape == (0, 3, 3)
    assert rotation_vectors(np.zeros((0, 3, 3))).shape == (0, 3)
    vectors = _vectors(1.2).reshape(5, 8, 3)
    R = rotation_matrices(vectors)
    assert R[2, 3].tolist() == rotation_matrices(vectors[2, 3]).tolist()
    assert rotation_vectors(R + 1e-8) == pytest.approx(vectors, rel=0, abs=1e-7)
