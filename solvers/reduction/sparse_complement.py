"""A basis of unknowns u with a few means x = G u as unknowns: u = X x + Z z with sparse Z, G X = 1, G Z = 0.

Elimination of as many of u as x has would couple all others with each other.  Instead Z is a hierarchical basis, like
the wavelets of Alpert (1993, doi:10.1137/0524016).  Unknowns form groups of neighbours.  In each group a factorisation
Q R separates the combinations that change no mean; they belong to Z.  The rest, at most m per group, go on to the next
level, where two groups become one.  The rest at the top spans X.  All columns are orthonormal, Z has about m s
log2(s/2m) entries for s unknowns, and a combination of a low level touches few neighbours.

Theory: docs/theory.md, section 11, "Interfaces".
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import block_diag, bsr_matrix, csc_matrix, csr_matrix, hstack, identity

__all__ = ["sparse_complement"]

_BITS = 10  # per axis of the curve along which neighbours are numbered


def sparse_complement(G: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, csr_matrix]:
    """Return X (s, m) and Z (s, s - m), orthonormal, orthogonal to X.

    Args:
        G: (m, s), of rank m.
        places: (s, dim): where the unknowns are; neighbours share groups.

    Raises:
        ValueError: fewer unknowns than means.
    """
    m, s = G.shape
    if s < m:
        raise ValueError(f"{m} means need at least as many unknowns, there are {s}")
    order = np.argsort(_curve(np.asarray(places, float)), kind="stable")
    means = np.asarray(G, float)[:, order]
    size = np.abs(means).max(axis=1, keepdims=True)
    means = means / np.where(size > 0.0, size, 1.0)
    count = max(s // (2 * m), 1)
    widths = np.full(count, 2 * m)
    widths[-1] += s - 2 * m * count if count > 1 or s > 2 * m else s - 2 * m
    basis: csc_matrix = identity(s, format="csc")  # of what goes on, in the unknowns
    found = []
    while True:
        rest, coarse, means, widths = _level(means, widths, m)
        found.append(basis @ rest)
        basis = csc_matrix(basis @ coarse)
        if widths.size == 1:
            break
        odd = widths.size % 2
        merged = widths[: widths.size - odd].reshape(-1, 2).sum(axis=1)
        widths = np.append(merged, widths[-1]) if odd else merged
    Z = csr_matrix(hstack(found))
    top = basis.toarray()
    X = np.linalg.solve(means.T, top.T).T
    X = X / np.where(size > 0.0, size, 1.0).T
    back = np.argsort(order)
    return X[back], Z[back]


def _level(means: np.ndarray, widths: np.ndarray, m: int):
    """Return one level of the basis for groups side by side in ``means`` (m, s).

    The values are: combinations (s, .) that change no mean, the rest (s, m per group), the means of the rest, and the
    number of the rest per group.
    """
    ends = np.concatenate(([0], np.cumsum(widths)))
    rest, coarse, left = [], [], []
    first = 0
    while first < widths.size:  # runs of equal groups, at most a few
        last = first
        while last < widths.size and widths[last] == widths[first]:
            last += 1
        w, k = int(widths[first]), last - first
        part = means[:, ends[first] : ends[last]].reshape(m, k, w).transpose(1, 2, 0)
        if w <= m:  # nothing to take out yet
            Q, R = np.broadcast_to(np.eye(w), (k, w, w)), part
            inner, outer = np.zeros((k, w, 0)), np.ascontiguousarray(Q)
            kept = R.transpose(2, 0, 1).reshape(m, -1)
        else:
            Q = np.linalg.qr(part, mode="complete")[0]
            inner, outer = np.ascontiguousarray(Q[:, :, m:]), np.ascontiguousarray(Q[:, :, :m])
            kept = np.einsum("kwm,kwo->mko", part, outer).reshape(m, -1)
        rest.append(_diagonal(inner))
        coarse.append(_diagonal(outer))
        left.append(kept)
        first = last
    counts = np.minimum(widths, m)
    return (
        csc_matrix(block_diag(rest)),
        csc_matrix(block_diag(coarse)),
        np.concatenate(left, axis=1),
        counts,
    )


def _diagonal(blocks: np.ndarray):
    """Return a matrix with blocks (k, w, v) along its diagonal."""
    k, w, v = blocks.shape
    if v == 0 or w == 0:
        return csr_matrix((k * w, k * v))
    return bsr_matrix((blocks, np.arange(k), np.arange(k + 1)), shape=(k * w, k * v)).tocsr()


def _curve(places: np.ndarray) -> np.ndarray:
    """Return numbers (s,) of places along Morton's curve."""
    low, span = places.min(axis=0), np.ptp(places, axis=0).max()
    cells = np.minimum((places - low) / (span if span > 0.0 else 1.0) * 2**_BITS, 2**_BITS - 1).astype(np.int64)
    code = np.zeros(len(places), np.int64)
    for bit in range(_BITS):
        for axis in range(places.shape[1]):
            code |= ((cells[:, axis] >> bit) & 1) << (bit * places.shape[1] + axis)
    return code
