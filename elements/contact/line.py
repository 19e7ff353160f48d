"""Contact of the length of a beam, truss or cable with a surface of a body: `line_contact2`, `line_contact3`,
`line_mesh_contact3`.

End a carries the surface, ends b and c are the nodes of an element of the line, a straight tube of the radius r between
them.  The element is the contact of one place of its axis,

    P = (1 - z) x_b + z x_c,   w = (1 - z) w_b + z w_c,

with the force of a ball of the radius r there (`fem_mbs.elements.contact.ball`), so that many places are a line that
presses.  P is linear in the nodes: what the ball gets goes to them by 1 - z and z, forces and the moments of friction
about the axis alike, and all exact quotients stay exact.  A place is a point of the material, so nothing jumps where a
surface slides over a node.

Limits: where the line has no rotations friction acts at the axis ("friction arm" 0).  The tangent of friction in
one-state rules takes the spin of P as that of one body.
"""

from __future__ import annotations

from fem_mbs.compiling.arrays import integers, scratch
from fem_mbs.contract import TANGENT, inner, kernel
from fem_mbs.elements.common import clear
from fem_mbs.elements.contact.ball import FRICTION_COLUMNS, contact_type
from fem_mbs.elements.contact.crossing import crossed_core, crossed_triangles
from fem_mbs.elements.contact.surface import (
    DEEP,
    SURFACE_COLUMNS,
    gap,
    gap_apart,
    gap_depth,
    gap_rows,
    nothing_kept,
)
from fem_mbs.elements.contact.triangles import (
    TRIANGLE,
    TRIANGLE_COLUMNS,
    mesh_apart,
    mesh_depth,
    mesh_gap,
    mesh_quotient,
    mesh_remember,
)
from fem_mbs.elements.kinematics import spin

__all__ = ["TYPES"]

#: Columns in the place of the offset of a ball's centre.
_CENTRE = {2: ("place", "friction arm"), 3: ("place", "friction arm", "unused")}


@inner
def _join(dim, e, z, dof, rot, Q, D, V, U, place, rows, Qp, Dp, Vp, Up):
    """Fill coordinates Qp, velocities Vp and increments Up of the carrier, then of the place z of the line, and the
    directors Dp; ``place`` (1, 2 n) and ``rows`` (1, 2) number them."""
    n = 3 * (dim - 1)
    w = scratch(2, 3)
    for i in range(2 * n):
        place[0, i] = i
    rows[0, 0], rows[0, 1] = 0, 1
    for state in range(2):
        for i in range(Dp.shape[2]):
            Dp[state, 0, i] = D[state, rot[e, 0], i]
            Dp[state, 1, i] = 0.0
        for i in range(dim if dim == 3 else 1):
            Dp[state, 1, 4 * i] = 1.0
        for i in range(n):
            b, c = dof[e, n + i], dof[e, 2 * n + i]
            Qp[state, i], Vp[state, i] = Q[state, dof[e, i]], V[state, dof[e, i]]
            Qp[state, n + i] = (1 - z) * Q[state, b] + z * Q[state, c]
            Vp[state, n + i] = (1 - z) * V[state, b] + z * V[state, c]
        if dim == 3:
            spin(V, D, dof, rot, state, e, 1, w[0])
            spin(V, D, dof, rot, state, e, 2, w[1])
            for i in range(3):
                Vp[state, n + 3 + i] = (1 - z) * w[0, i] + z * w[1, i]
    for i in range(n):
        Up[i] = U[dof[e, i]]
        Up[n + i] = (1 - z) * U[dof[e, n + i]] + z * U[dof[e, 2 * n + i]]


def _kernels(dim, mu, force_of, report_of):
    """Return both kernels of places along lines; see `fem_mbs.elements.contact.ball.bodies`."""
    n = 3 * (dim - 1)  # dofs of an end
    m, local = 2 * n, 3 * n
    width = 9 if dim == 3 else 2
    axes_at = mu + len(FRICTION_COLUMNS)
    place_at = axes_at + 2 * dim
    columns = 3 * dim * dim

    @inner
    def taken(par, e, frame):
        """Fill frame (1, ..) with the axes of the surface, and zeros as the offset of the ball."""
        for k in range(dim):
            for i in range(2 * dim):
                frame[0, 3 * dim * k + i] = par[e, axes_at + 3 * dim * k + i]
            for i in range(dim):
                frame[0, 3 * dim * k + 2 * dim + i] = 0.0

    @kernel
    def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        place, rows, frame = integers(1, m), integers(1, 2), scratch(1, columns)
        Qp, Vp, Up, Dp = scratch(2, m), scratch(2, m), scratch(m), scratch(2, 2, width)
        f, K, half = scratch(1, m), scratch(1, m, m), scratch(local, m)
        clear(fe, e1 - e0)
        if job == TANGENT:
            clear(ke, e1 - e0)
        for e in range(e0, e1):
            z = par[e, place_at]
            _join(dim, e, z, dof, rot, Q, D, V, U, place, rows, Qp, Dp, Vp, Up)
            taken(par, e, frame)
            clear(f, 1)
            if job == TANGENT:
                clear(K, 1)
            force_of(
                job, 0, e, ctl, par, frame, 0, par[e, place_at + 1], place, rows, hist, Qp, Dp, Vp, Up, f, K, 0
            )  # fmt: skip
            at = e - e0
            for i in range(n):
                fe[at, i] = f[0, i]
                fe[at, n + i] = (1 - z) * f[0, n + i]
                fe[at, 2 * n + i] = z * f[0, n + i]
            if job != TANGENT:
                continue
            for j in range(2 * n):
                for i in range(n):
                    half[i, j] = K[0, i, j]
                    half[n + i, j] = (1 - z) * K[0, n + i, j]
                    half[2 * n + i, j] = z * K[0, n + i, j]
            for i in range(3 * n):
                for j in range(n):
                    ke[at, i, j] = half[i, j]
                    ke[at, i, n + j] = (1 - z) * half[i, n + j]
                    ke[at, i, 2 * n + j] = z * half[i, n + j]

    @kernel
    def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        place, rows, frame = integers(1, m), integers(1, 2), scratch(1, columns)
        Qp, Vp, Up, Dp = scratch(2, m), scratch(2, m), scratch(m), scratch(2, 2, width)
        for e in range(e0, e1):
            z = par[e, place_at]
            _join(dim, e, z, dof, rot, Q, D, V, U, place, rows, Qp, Dp, Vp, Up)
            taken(par, e, frame)
            report_of(
                job, 0, e, ctl, par, frame, 0, par[e, place_at + 1], place, rows, hist, Qp, Dp, Vp, Up, fe, e - e0
            )  # fmt: skip

    return force, report


_LINE = {"kernels": _kernels, "ends": 3}
TYPES = {
    f"line_contact{dim}": contact_type(
        f"line_contact{dim}", dim, SURFACE_COLUMNS, gap, gap_rows, gap_apart, nothing_kept, gap_depth, crossed_core,
        watches=(DEEP,), centre=_CENTRE[dim], **_LINE
    )
    for dim in (2, 3)
} | {
    "line_mesh_contact3": contact_type(
        "line_mesh_contact3", 3, TRIANGLE_COLUMNS, mesh_gap, mesh_quotient, mesh_apart, mesh_remember, mesh_depth,
        crossed_triangles, centre=_CENTRE[3], hist=6, shared=TRIANGLE, **_LINE,
    )
}  # fmt: skip
