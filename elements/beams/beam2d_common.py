"""Section forces of the plane beams from their nodal forces, and the layout of their rows and tangent."""

from __future__ import annotations

import numpy as np

from fem_mbs.contract import inner

__all__ = ["OUTPUTS", "constraint_tangent", "force_tangent", "section_forces"]

OUTPUTS = (
    "N [N]", "M_p [N m]", "M_q [N m]", "Q [N]", "strain [-]", "N_p [N]", "N_q [N]", "Q_p [N]", "Q_q [N]",
)  # fmt: skip


@inner
def section_forces(f, row, factor, D, first, i, j, ex, ey):
    """Write the section forces of `OUTPUTS` except the strain to ``f`` (9,).

    They are the forces that the rest of the model exerts on the ends of the element: the element's own end forces plus
    the nodal forces of loads and inertia along it.  So they balance at the nodes.  Their components are along the
    section axes of their end; N and Q are the means of both ends.  The face with the normal from p to q counts as
    positive: N > 0 is tension, Q points to the left of the beam, M = EI theta'.

    Args:
        f: on entry, in its first 6 entries, the nodal forces of loads and inertia along the element [N, N m].
        row: (1, 6 or more) the rows of the element, which ``factor`` turns into forces on (x_p, vartheta_p, x_q, ...).
        first: row of D at the start of the step; the section axes are the means over the step.
        i, j: rows of the directors of p and q; (ex, ey) is the direction of the beam in the reference state.
    """
    for end in range(2):
        k, n = 3 * end, i if end == 0 else j
        c, s = D[first, n, 0] + D[1, n, 0], D[first, n, 1] + D[1, n, 1]
        x, y = c * ex - s * ey, s * ex + c * ey
        sign = (1.0 if end == 1 else -1.0) / np.sqrt(x * x + y * y)
        x, y = sign * x, sign * y
        Fx, Fy = factor * row[0, k] + f[k], factor * row[0, k + 1] + f[k + 1]
        moment = factor * row[0, k + 2] + f[k + 2]
        if end == 0:
            N, Q, M = Fx * x + Fy * y, Fy * x - Fx * y, -moment
        else:
            f[6], f[8], f[2] = Fx * x + Fy * y, Fy * x - Fx * y, moment
    f[5], f[7], f[1] = N, Q, M
    f[0], f[3] = 0.5 * (f[5] + f[6]), 0.5 * (f[7] + f[8])


@inner
def force_tangent(sk, dF, dm, k):
    """Write the tangent of the rows (-F, m_p, F, m_q) to k (6 or 7, ..), times sk.

    dF (2, 4), dm (2, 4): derivatives of F and of (m_p, m_q) by the chord (2) and by the rotations of p and q.
    """
    for j in range(2):
        u, v, a, b = sk * dF[0, j], sk * dF[1, j], sk * dm[0, j], sk * dm[1, j]
        k[0, j], k[1, j], k[2, j], k[3, j], k[4, j], k[5, j] = u, v, -a, -u, -v, -b
        k[0, 3 + j], k[1, 3 + j], k[2, 3 + j], k[3, 3 + j], k[4, 3 + j], k[5, 3 + j] = -u, -v, a, u, v, b
        c = 2 + 3 * j
        u, v = sk * dF[0, 2 + j], sk * dF[1, 2 + j]
        k[0, c], k[1, c], k[2, c] = -u, -v, sk * dm[0, 2 + j]
        k[3, c], k[4, c], k[5, c] = u, v, sk * dm[1, 2 + j]


@inner
def constraint_tangent(scale, ex, ey, e_p, e_q, ux, uy, up, uq, k):
    """Write row and column 6 of an inextensible beam to k (7, 7).

    (ex, ey, e_p, e_q): derivatives of the strain by the chord and both rotations; (ux, uy), up, uq: F, m_p, m_q of a
    unit axial force.
    """
    k[6, 0], k[6, 1], k[6, 2] = -scale * ex, -scale * ey, scale * e_p
    k[6, 3], k[6, 4], k[6, 5], k[6, 6] = scale * ex, scale * ey, scale * e_q, 0.0
    k[0, 6], k[1, 6], k[2, 6] = -scale * ux, -scale * uy, scale * up
    k[3, 6], k[4, 6], k[5, 6] = scale * ux, scale * uy, scale * uq
