"""Banded LU with partial pivoting, compiled, for steps that run wholly in compiled code.

Column j of the matrix is row j of ``ab`` (n, 2 kl + ku + 1): entry (i, j) stands at ab[j, kl + ku + i - j], as in
LAPACK's gbtrf read in C order; the first kl places of a row take the fill-in of the row interchanges.
"""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import inner

__all__ = ["band_factor", "band_solve"]


@inner
def band_factor(n, kl, ku, ab, pivot):
    """Factor in place; returns -1, or the column whose pivot is zero or not finite."""
    kv = kl + ku
    last = 0  # last column touched by the interchanges so far
    for j in range(n):
        # the fill-in above the band of the column that enters
        km = min(kl, n - 1 - j)
        col = ab[j]
        p, big = 0, abs(col[kv])
        for i in range(1, km + 1):
            a = abs(col[kv + i])
            if a > big:
                p, big = i, a
        pivot[j] = j + p
        if not (big > 0.0) or not np.isfinite(big):
            return j
        last = max(last, min(j + ku + p, n - 1))
        if p != 0:
            for c in range(j, last + 1):
                d = kv + j - c
                ab[c, d], ab[c, d + p] = ab[c, d + p], ab[c, d]
        if km > 0:
            inv = 1.0 / col[kv]
            for i in range(1, km + 1):
                col[kv + i] *= inv
            for c in range(j + 1, last + 1):
                d = kv + j - c
                f = ab[c, d]
                if f != 0.0:
                    for i in range(1, km + 1):
                        ab[c, d + i] -= f * col[kv + i]
    return -1


@inner
def band_solve(n, kl, ku, ab, pivot, b):
    """Solve in place with the factors of `band_factor`."""
    kv = kl + ku
    for j in range(n - 1):
        p = pivot[j]
        t = b[p]
        if p != j:
            b[p] = b[j]
            b[j] = t
        if t != 0.0:
            for i in range(1, min(kl, n - 1 - j) + 1):
                b[j + i] -= t * ab[j, kv + i]
    for j in range(n - 1, -1, -1):
        t = b[j] / ab[j, kv]
        b[j] = t
        if t != 0.0:
            for i in range(1, min(kv, j) + 1):
                b[j - i] -= t * ab[j, kv - i]
