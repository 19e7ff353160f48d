"""Sparsity patterns and slots against an assembly by coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csc_matrix

from fem_mbs.contract import plain
from fem_mbs.solvers.stepping import pattern
from fem_mbs.solvers.stepping.pattern import add_entries, element_slots, matrix_pattern


def _tables(rng, n_eq):
    """Blocks of different sizes; unknowns without an equation, and some that occur twice in an element."""
    return [rng.integers(-2, n_eq, (7, 5)).astype(np.int32), rng.integers(-1, n_eq, (11, 3)).astype(np.int32)]


@pytest.mark.parametrize("seed", range(5))
def test_slots_assemble_the_matrix(seed):
    rng, n_eq = np.random.default_rng(seed), 23
    tables = _tables(rng, n_eq)
    indptr, indices = matrix_pattern(n_eq, tables)
    slots, diagonal = element_slots(indptr, indices, tables)
    values, rows, columns, entries = np.zeros(indices.size + 1), [], [], []
    at = 0
    for eq in tables:
        n, m = eq.shape
        ke = rng.normal(size=(n, m, m))
        np.add.at(values, slots[at : at + ke.size], ke.ravel())
        at += ke.size
        r, c = np.repeat(eq, m, axis=1).ravel(), np.tile(eq, (1, m)).ravel()
        inside = (r >= 0) & (c >= 0)
        rows.append(r[inside])
        columns.append(c[inside])
        entries.append(ke.ravel()[inside])
    assert at == slots.size
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    wanted = coo_matrix((np.concatenate(entries), (rows, columns)), shape=(n_eq, n_eq)).toarray()
    matrix = csc_matrix((values[:-1], indices, indptr), shape=(n_eq, n_eq))
    assert np.allclose(matrix.toarray(), wanted, atol=1e-14)
    # nothing in the pattern but what elements fill, and the diagonal; rows in order
    filled = np.zeros((n_eq, n_eq), bool)
    filled[rows, columns] = True
    filled |= np.eye(n_eq, dtype=bool)
    assert indices.size == filled.sum()
    assert all(np.all(np.diff(indices[a:b]) > 0) for a, b in zip(indptr[:-1], indptr[1:], strict=True))
    assert np.array_equal(indices[diagonal], np.arange(n_eq))


def test_no_elements():
    indptr, indices = matrix_pattern(3, [])
    assert indptr.tolist() == [0, 1, 2, 3]
    assert indices.tolist() == [0, 1, 2]
    slots, diagonal = element_slots(indptr, indices, [])
    assert slots.size == 0
    assert diagonal.tolist() == [0, 1, 2]


def test_entries_are_added_and_their_skewness_found():
    """Entries without an equation go nowhere; the largest difference of opposite entries is returned."""
    rng, n_eq = np.random.default_rng(3), 23
    (table,) = tables = [rng.integers(-2, n_eq, (7, 5)).astype(np.int32)]
    indptr, indices = matrix_pattern(n_eq, tables)
    slots, _ = element_slots(indptr, indices, tables)
    ke = rng.normal(size=(7, 5, 5))
    ke += ke.transpose(0, 2, 1)
    wanted = np.zeros((n_eq, n_eq))
    for eq, k in zip(table, ke, strict=True):
        inside = eq >= 0
        np.add.at(wanted, np.ix_(eq[inside], eq[inside]), k[np.ix_(inside, inside)])
    values = np.zeros(indices.size)
    assert add_entries(ke, table, 0, n_eq, slots, values) == 0.0
    matrix = csc_matrix((values, indices, indptr), shape=(n_eq, n_eq)).toarray()
    assert np.allclose(matrix, wanted, atol=1e-14)
    parts = np.zeros(indices.size)
    for low, high in ((12, n_eq), (-2, 5), (5, 12)):  # ranges of rows, as several threads add them
        add_entries(ke, table, low, high, slots, parts)
    assert np.array_equal(parts, values)
    ke[4, 1, 3] += 0.25
    ke[5, 4, 0] -= 0.5
    assert add_entries(ke, table, -2, n_eq, slots, values) == pytest.approx(0.5, rel=1e-14)


@pytest.mark.parametrize("n_eq", [0, 1, 23])
def test_numpy_finds_the_same_places(n_eq, monkeypatch):
    """Where kernels run as Python, and for small models, the pattern comes from numpy."""
    monkeypatch.setattr(pattern, "SMALL", -1)
    tables = _tables(np.random.default_rng(n_eq), max(n_eq, 1)) if n_eq else [np.full((3, 2), -1, np.int32)]
    compiled = matrix_pattern(n_eq, tables)
    slots = element_slots(*compiled, tables)
    with plain():
        found = matrix_pattern(n_eq, tables)
        for a, b in zip((*compiled, *slots), (*found, *element_slots(*found, tables)), strict=True):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b)
