"""Numbers with their derivatives: forward differentiation in compiled code.

A number is an array (m,): its value, then its derivatives by m - 1 variables; a vector is an array (3, m).  The
functions compute the first ``w`` entries only: 1 for values alone.  Unless a docstring says otherwise, the result may
be one of the arguments.

Elements whose forces are long chains of formulas get their exact tangents in this way.

Source: Griewank & Walther, Evaluating Derivatives (2008), section 3.1.
"""

from __future__ import annotations

import math

from fem_mbs.contract import inner

__all__ = [
    "add_product", "add_scaled", "apply", "constant", "inner_product", "product", "quotient", "scaled", "unit",
    "vector_product",
]  # fmt: skip


@inner
def constant(w, value, out):
    """Fill out with a number that no variable changes."""
    out[0] = value
    for i in range(1, w):
        out[i] = 0.0


@inner
def apply(w, value, slope, a, out):
    """Fill out with f(a), for given values of f and of its slope f' at a."""
    for i in range(1, w):
        out[i] = slope * a[i]
    out[0] = value


@inner
def add_scaled(w, factor, a, out):
    """Add a plain factor times a to out."""
    for i in range(w):
        out[i] += factor * a[i]


@inner
def product(w, a, b, out):
    """Fill out with a b."""
    for i in range(1, w):
        out[i] = a[i] * b[0] + a[0] * b[i]
    out[0] = a[0] * b[0]


@inner
def add_product(w, factor, a, b, out):
    """Add a plain factor times a b to out, which is neither of them."""
    for i in range(1, w):
        out[i] += factor * (a[i] * b[0] + a[0] * b[i])
    out[0] += factor * a[0] * b[0]


@inner
def quotient(w, a, b, out):
    """Fill out with a/b."""
    value = a[0] / b[0]
    for i in range(1, w):
        out[i] = (a[i] - value * b[i]) / b[0]
    out[0] = value


# --- vectors ---------------------------------------------------------------------------------------------------------
@inner
def inner_product(w, A, B, out):
    """Fill out with A.B; it is no row of A or B."""
    for i in range(w):
        out[i] = 0.0
    for k in range(3):
        add_product(w, 1.0, A[k], B[k], out)


@inner
def vector_product(w, A, B, out):
    """Fill out with A x B; it is neither of them."""
    for k in range(3):
        p, q = (k + 1) % 3, (k + 2) % 3
        for i in range(w):
            out[k, i] = 0.0
        add_product(w, 1.0, A[p], B[q], out[k])
        add_product(w, -1.0, A[q], B[p], out[k])


@inner
def scaled(w, s, A, out):
    """Fill out with the number s times the vector A; s is no row of out."""
    for k in range(3):
        product(w, s, A[k], out[k])


@inner
def unit(w, A, length, out):
    """Fill length with |A| and out with A/|A|; return False, and nothing else, where A has no length."""
    inner_product(w, A, A, length)
    size = math.sqrt(length[0])
    if not size > 0.0:
        return False
    apply(w, size, 0.5 / size, length, length)
    for k in range(3):
        quotient(w, A[k], length, out[k])
    return True
