"""The sparse orthonormal basis of what moves no mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fem_mbs.solvers.reduction.sparse_complement import sparse_complement


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), m=st.integers(1, 6), s=st.integers(1, 150), dim=st.integers(1, 3))
def test_a_basis_of_what_moves_no_mean(seed, m, s, dim):
    rng = np.random.default_rng(seed)
    s = max(s, m)
    G = rng.standard_normal((m, s)) * 10.0 ** rng.uniform(-3.0, 3.0, (m, 1))
    X, Z = sparse_complement(G, rng.uniform(size=(s, dim)))
    assert X.shape == (s, m)
    assert Z.shape == (s, s - m)
    Z = Z.toarray()
    size = np.abs(G).max(axis=1, keepdims=True)
    condition = np.linalg.cond(G / size)
    left, inner, none, across = G @ X, Z.T @ Z, (G / size) @ Z, Z.T @ (X * size.T)
    assert left == pytest.approx(np.eye(m), abs=1e-13 * condition * size.max() / size.min())
    assert inner == pytest.approx(np.eye(s - m), abs=1e-13)
    assert none == pytest.approx(np.zeros((m, s - m)), abs=1e-13)
    assert across == pytest.approx(np.zeros((s - m, m)), abs=1e-12 * condition)


def motions_of_a_face(n):
    """Mean translations and rotations of (3 n^2,) displacements of n x n points."""
    p = np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).reshape(-1, 2) / n - 0.5
    places = np.column_stack((p, np.zeros(n * n)))
    G = np.zeros((6, n * n, 3))
    for k in range(3):
        G[k, :, k] = 1.0
        G[3 + k] = np.cross(np.eye(3)[k], places)
    return G.reshape(6, -1), np.repeat(places, 3, axis=0)


def test_entries_grow_little_faster_than_unknowns():
    counts = {}
    for n in (10, 40):
        G, places = motions_of_a_face(n)
        _, Z = sparse_complement(G, places)
        counts[n] = Z.nnz / G.shape[1]
        assert np.abs(G @ Z).max() < 1e-11
    assert counts[10] < 6 * (np.log2(300 / 12) + 2)
    assert counts[40] < 6 * (np.log2(4800 / 12) + 2)


def test_low_levels_touch_neighbours():
    """Half of the columns stand on one group of twelve unknowns, which are near each other."""
    G, places = motions_of_a_face(40)
    _, Z = sparse_complement(G, places)
    Z = Z.tocsc()
    widths = []
    for k in np.flatnonzero(np.diff(Z.indptr) <= 12):
        at = places[Z.indices[Z.indptr[k] : Z.indptr[k + 1]]]
        widths.append(np.ptp(at, axis=0).max())
    assert len(widths) >= Z.shape[1] // 2
    assert np.median(widths) < 0.11


def test_too_few_unknowns():
    with pytest.raises(ValueError, match="at least as many"):
        sparse_complement(np.ones((3, 2)), np.zeros((2, 3)))
