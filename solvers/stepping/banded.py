"""Banded LU with partial pivoting, compiled, for steps that run wholly in compiled code.

Column j of the matrix is row j of ``ab`` (n, 2 kl + ku + 1): entry (i, j) stands at ab[j, kl + ku + i - j], as in
LAPACK's gbtrf read in C order; the first kl places of a row take the fill-in of the row interchanges.

Indices are unsigned: of signed ones numba asks whether they count from the end, which keeps loops from vector
instructions and doubles their time.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import inner

__all__ = ["band_factor", "band_solve"]


_U = np.uint64


@inner
def band_factor(n, kl, ku, ab, pivot):
    """Factor in place; returns -1, or the column whose pivot is zero or not finite."""
    kv, one = _U(kl + ku), _U(1)
    last = 0  # last column touched by the interchanges so far
    for j in range(n):
        # the fill-in above the band of the column that enters
        km = min(kl, n - 1 - j)
        col, below = _U(j), _U(km)
        p, big = 0, abs(ab[col, kv])
        for i in range(below):
            a = abs(ab[col, kv + one + _U(i)])
            if a > big:
                p, big = np.int64(i) + 1, a
        pivot[col] = j + p
        if not (big > 0.0) or not np.isfinite(big):
            return j
        last = max(last, min(j + ku + p, n - 1))
        if p != 0:
            for c in range(j, last + 1):
                d = kl + ku + j - c
                a = ab[_U(c), _U(d)]
                ab[_U(c), _U(d)] = ab[_U(c), _U(d + p)]
                ab[_U(c), _U(d + p)] = a
        if km > 0:
            inv = 1.0 / ab[col, kv]
            low = kv + one
            for i in range(below):
                ab[col, low + _U(i)] *= inv
            for c in range(j + 1, last + 1):
                d = _U(kl + ku + j - c)
                f = ab[_U(c), d]
                if f != 0.0:
                    d += one
                    for i in range(below):
                        ab[_U(c), d + _U(i)] -= f * ab[col, low + _U(i)]
    return -1


@inner
def band_solve(n, kl, ku, ab, pivot, b):
    """Solve in place with the factors of `band_factor`."""
    kv, one = _U(kl + ku), _U(1)
    for j in range(n - 1):
        col = _U(j)
        p = _U(pivot[col])
        t = b[p]
        b[p] = b[col]
        b[col] = t
        if t != 0.0:
            for i in range(one, _U(min(kl, n - 1 - j) + 1)):
                b[col + _U(i)] -= t * ab[col, kv + _U(i)]
    for j in range(n - 1, -1, -1):
        col = _U(j)
        t = b[col] / ab[col, kv]
        b[col] = t
        if t != 0.0:
            first = _U(j - min(kl + ku, j))
            for k in range(first, col):
                b[_U(k)] -= t * ab[col, kv - col + _U(k)]
