"""Parameters, outputs and kinematics of the spatial beams, and the rows and tangent of their nodes.

Ends P = x + R a with rigid offsets a, section triads [e_x e_y e_z] = R A, chord l = P_q - P_p.  A beam element is a
function of (l, spin of p, spin of q), nine components in spatial axes; dofs are (x_p, theta_p, x_q, theta_q).
"""

from __future__ import annotations

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import DISSIPATED, STRAIN, inline, inner
from fem_mbs.elements.beams.limits import STRETCH
from fem_mbs.elements.kinematics import cayley_tangent, rotate, spin
from fem_mbs.elements.registry import ElementType

__all__ = [
    "DAMPING", "FIXED", "LENGTH", "OFFSET", "OUTPUTS", "PAR", "PAR_SHARES", "REFERENCE", "SCALE", "SECOND", "SHARE",
    "STIFFNESS", "STRESS", "TRIAD", "acting_forces", "add_cross", "add_skew", "add_turned", "beam_types", "composed",
    "composition", "curvature", "decomposed", "dot", "end_rates", "matrix", "place", "prestress", "section_forces",
    "shares", "store_energy", "store_force", "store_tangent",
]  # fmt: skip

SCALE, LENGTH, SECOND, DAMPING = 0, 1, 2, 3
STIFFNESS, STRESS, REFERENCE, OFFSET, TRIAD, FIXED = 4, 25, 31, 37, 43, 61
PAR = (
    "scale",
    "length [m]",
    "second_order",
    "damping [s]",
    *(f"S{i}{j} [N/m]" for i in range(1, 7) for j in range(i, 7)),
    *(f"s{i} [N]" for i in range(1, 7)),
    *(f"e{i} [m]" for i in range(1, 7)),
    *(f"a{c}_{end} [m]" for end in "pq" for c in "xyz"),
    *(f"A{i}{j}_{end}" for end in "pq" for i in "123" for j in "123"),
    *(f"fixed{i}" for i in range(1, 7)),
)
SHARE = len(PAR)  # shares (2, 2) of bending in the shear strains of a constant shear force
PAR_SHARES = (*PAR, "share_yy", "share_yz", "share_zy", "share_zz")
OUTPUTS = (
    "N [N]", "Vy [N]", "Vz [N]", "T [N m]", "My 1 [N m]", "My 2 [N m]", "Mz 1 [N m]", "Mz 2 [N m]", "strain",
    "twist [rad]", "N 1 [N]", "N 2 [N]", "Vy 1 [N]", "Vy 2 [N]", "Vz 1 [N]", "Vz 2 [N]", "T 1 [N m]", "T 2 [N m]",
)  # fmt: skip


# --- small vectors and blocks ----------------------------------------------------------------------------------------
@inline
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def add_cross(a, b, f, out, o):
    """Add f a x b to out[o : o + 3]."""
    out[o] += f * (a[1] * b[2] - a[2] * b[1])
    out[o + 1] += f * (a[2] * b[0] - a[0] * b[2])
    out[o + 2] += f * (a[0] * b[1] - a[1] * b[0])


@inline
def add_turned(K, r, c, f, b, g):
    """Add f (b g^T - b.g I) to K[r:, c:]; this matrix maps a spin w to f (w x b) x g."""
    d = dot(b, g)
    for i in range(3):
        for j in range(3):
            K[r + i, c + j] += f * b[i] * g[j]
        K[r + i, c + i] -= f * d


@inline
def add_skew(K, r, c, f, v):
    """Add f times the skew matrix of v to K[r:, c:]."""
    x, y, z = f * v[0], f * v[1], f * v[2]
    K[r, c + 1] -= z
    K[r, c + 2] += y
    K[r + 1, c] += z
    K[r + 1, c + 2] -= x
    K[r + 2, c] -= y
    K[r + 2, c + 1] += x


@inline
def arm_columns(K, rows, c, a, sign):
    """Add sign K[:, :3] a~ to K[:, c : c + 3]: the chord moves with the spin of an end that is offset by a."""
    for i in range(rows):
        p, q, r = sign * K[i, 0], sign * K[i, 1], sign * K[i, 2]
        K[i, c] += q * a[2] - r * a[1]
        K[i, c + 1] += r * a[0] - p * a[2]
        K[i, c + 2] += p * a[1] - q * a[0]


@inline
def turn_columns(K, rows, c, T):
    """Multiply K[:, c : c + 3] by T, which leads from spins at the end of the step to its Cayley vector."""
    for i in range(rows):
        p, q, r = K[i, c], K[i, c + 1], K[i, c + 2]
        for j in range(3):
            K[i, c + j] = p * T[0, j] + q * T[1, j] + r * T[2, j]


@inline
def place(par, e, dof, rot, Q, D, state, E, l, a):
    """Fill section axes E (6, 3), chord l (3,) and offset arms a (2, 3) of an element at a state, in spatial axes."""
    for k in range(2):
        n, o = rot[e, k], OFFSET + 3 * k
        rotate(D, state, n, par[e, o], par[e, o + 1], par[e, o + 2], a[k])
        o = TRIAD + 9 * k
        for j in range(3):
            rotate(D, state, n, par[e, o + j], par[e, o + 3 + j], par[e, o + 6 + j], E[3 * k + j])
    for i in range(3):
        l[i] = Q[state, dof[e, 6 + i]] - Q[state, dof[e, i]] + a[1, i] - a[0, i]


@inline
def matrix(par, e, S):
    """Fill S (6, 6), the stiffness of an element."""
    k = STIFFNESS
    for i in range(6):
        for j in range(i, 6):
            S[i, j] = S[j, i] = par[e, k]
            k += 1


@inner
def end_rates(V, D, dof, rot, e, a, x):
    """Fill x (9,) with the rates of the chord and the spins of both ends at state 1; a (2, 3) holds the arms of the
    ends."""
    s = scratch(2, 3)
    spin(V, D, dof, rot, 1, e, 0, s[0])
    spin(V, D, dof, rot, 1, e, 1, s[1])
    for i in range(3):
        x[i] = V[1, dof[e, 6 + i]] - V[1, dof[e, i]]
        x[3 + i], x[6 + i] = s[0, i], s[1, i]
    add_cross(s[1], a[1], 1.0, x, 0)
    add_cross(s[0], a[0], -1.0, x, 0)


# --- rows and tangent of the nodes -----------------------------------------------------------------------------------
@inline
def store_force(par, e, sf, fixed, f9, am, strains, f):
    """Write the rows f of the nodes and of the fixed strains.

    f9 (9,) holds the force on the chord and the moments of the ends, am (2, 3) the arms at mid-step, ``strains`` (6,)
    the strains at the end of the step.
    """
    for i in range(3):
        f[i], f[3 + i], f[6 + i], f[9 + i] = -f9[i], f9[3 + i], f9[i], f9[6 + i]
    add_cross(am[0], f9, -1.0, f, 3)
    add_cross(am[1], f9, 1.0, f, 9)
    for i in range(12):
        f[i] *= sf
    for i in range(fixed):
        k = int(par[e, FIXED + i])
        f[12 + i] = par[e, SCALE] * (strains[k] - par[e, REFERENCE + k])


@inline
def store_tangent(par, e, dof, U, sf, sk, fixed, f, a1, am, K, G1, Gm, ke):
    """Write the tangent ke of the nodes from the tangent K (9, 9) by chord and spins of the ends; K is overwritten.

    ``f``: rows of `store_force`; ``a1``, ``am`` (2, 3): arms at the end and in the middle of the step; ``G1``, ``Gm``
    (6, 9): gradients of the fixed strains at the end (rows) and in the middle (columns).
    """
    w, T = scratch(3), scratch(3, 3)
    if fixed:
        arm_columns(G1, fixed, 3, a1[0], 1.0)
        arm_columns(G1, fixed, 6, a1[1], -1.0)
        arm_columns(Gm, fixed, 3, am[0], 1.0)
        arm_columns(Gm, fixed, 6, am[1], -1.0)
    for i in range(fixed):
        for j in range(3):
            g = par[e, SCALE] * G1[i, j]
            ke[12 + i, j], ke[12 + i, 6 + j] = -g, g
            ke[12 + i, 3 + j] = par[e, SCALE] * G1[i, 3 + j]
            ke[12 + i, 9 + j] = par[e, SCALE] * G1[i, 6 + j]
            g = par[e, SCALE] * Gm[i, j]
            ke[j, 12 + i], ke[6 + j, 12 + i] = -g, g
            ke[3 + j, 12 + i] = par[e, SCALE] * Gm[i, 3 + j]
            ke[9 + j, 12 + i] = par[e, SCALE] * Gm[i, 6 + j]
        for j in range(fixed):
            ke[12 + i, 12 + j] = 0.0
    # offsets: the chord moves with the spins of the ends, the force on it has a moment about the nodes
    arm_columns(K, 9, 3, a1[0], 1.0)
    arm_columns(K, 9, 6, a1[1], -1.0)
    for j in range(9):
        for i in range(3):
            w[i] = K[i, j]
        for k in range(2):
            sign = -1.0 if k == 0 else 1.0
            o = 3 + 3 * k
            K[o, j] += sign * (am[k, 1] * w[2] - am[k, 2] * w[1])
            K[o + 1, j] += sign * (am[k, 2] * w[0] - am[k, 0] * w[2])
            K[o + 2, j] += sign * (am[k, 0] * w[1] - am[k, 1] * w[0])
    for i in range(3):
        w[i] = f[6 + i] / sf
    add_turned(K, 3, 3, -0.5, a1[0], w)
    add_turned(K, 6, 6, 0.5, a1[1], w)
    for k in range(2):
        cayley_tangent(U[dof[e, 6 * k + 3]], U[dof[e, 6 * k + 4]], U[dof[e, 6 * k + 5]], T)
        turn_columns(K, 9, 3 + 3 * k, T)
        if fixed:
            turn_columns(ke[12:], fixed, 3 + 6 * k, T)
    for i in range(3):
        for j in range(3):
            t = sk * K[i, j]
            ke[i, j], ke[i, 6 + j], ke[6 + i, j], ke[6 + i, 6 + j] = t, -t, -t, t
            t, r = sk * K[i, 3 + j], sk * K[i, 6 + j]
            ke[i, 3 + j], ke[i, 9 + j], ke[6 + i, 3 + j], ke[6 + i, 9 + j] = -t, -r, t, r
            t, r = sk * K[3 + i, j], sk * K[6 + i, j]
            ke[3 + i, j], ke[3 + i, 6 + j], ke[9 + i, j], ke[9 + i, 6 + j] = -t, t, -r, r
            ke[3 + i, 3 + j], ke[3 + i, 9 + j] = sk * K[3 + i, 3 + j], sk * K[3 + i, 6 + j]
            ke[9 + i, 3 + j], ke[9 + i, 9 + j] = sk * K[6 + i, 3 + j], sk * K[6 + i, 6 + j]


# --- strains of varying bending --------------------------------------------------------------------------------------
# Over the strains d [m]: elongation, shear y and z, twist, bending y and z.
@inline
def shares(par, e, c):
    """Fill c (2, 2) with the derivatives [1/m] of the shares of bending by the shear strains d_2, d_3 of an element.

    They are zero without second-order terms.
    """
    f = par[e, SECOND] / par[e, LENGTH]
    c[0, 0], c[0, 1] = f * par[e, SHARE], f * par[e, SHARE + 1]
    c[1, 0], c[1, 1] = f * par[e, SHARE + 2], f * par[e, SHARE + 3]


@inline
def composed(d, c, g, length, e):
    """Fill e (6,) with the strains including second-order terms, from the basic strains d (6,) and the shares c of
    bending.

    g is 0 where d is the logarithm of the relative motion of the ends.  For rotations against the chord g is 1/length;
    there g = 0 together with c = 0 leaves out the second-order terms.
    """
    y, z = c[0, 0] * d[1] + c[0, 1] * d[2], c[1, 0] * d[1] + c[1, 1] * d[2]
    u, v, p, q = g * d[1] - y, g * d[2] - z, y - 0.5 * g * d[1], z - 0.5 * g * d[2]
    e[0] = d[0] + y * d[1] + z * d[2] - 0.4 * length * (y * y + z * z)
    e[0] += g * ((d[4] * d[4] + d[5] * d[5]) / 24.0 - 0.5 * (d[1] * d[1] + d[2] * d[2]))
    e[1], e[2] = d[1] + u * d[0] - g / 6.0 * d[3] * d[4], d[2] + v * d[0] - g / 6.0 * d[3] * d[5]
    e[3] = d[3] + p * d[4] + q * d[5]
    e[4], e[5] = d[4] + u * d[3], d[5] + v * d[3]


@inline
def decomposed(s, d, c, g, length, t):
    """Fill t (6,) with the stresses conjugate to the basic strains d, from stresses s (6,) on the strains of
    `composed`."""
    y, z = c[0, 0] * d[1] + c[0, 1] * d[2], c[1, 0] * d[1] + c[1, 1] * d[2]
    u, v, p, q = g * d[1] - y, g * d[2] - z, y - 0.5 * g * d[1], z - 0.5 * g * d[2]
    # b, m are conjugate to u, v, and f, h to the shares y, z; y, z become de_1/dd_2,3 at constant shares
    b, m = s[1] * d[0] + s[4] * d[3], s[2] * d[0] + s[5] * d[3]
    y, z = y - g * d[1], z - g * d[2]
    f = s[0] * (d[1] - 0.8 * length * (y + g * d[1])) + s[3] * d[4] - b
    h = s[0] * (d[2] - 0.8 * length * (z + g * d[2])) + s[3] * d[5] - m
    t[0] = s[0] + u * s[1] + v * s[2]
    t[1] = s[1] + s[0] * y + c[0, 0] * f + c[1, 0] * h + g * (b - 0.5 * s[3] * d[4])
    t[2] = s[2] + s[0] * z + c[0, 1] * f + c[1, 1] * h + g * (m - 0.5 * s[3] * d[5])
    t[3] = s[3] + u * s[4] + v * s[5] - g / 6.0 * (s[1] * d[4] + s[2] * d[5])
    t[4] = s[4] + p * s[3] + g * (s[0] * d[4] / 12.0 - s[1] * d[3] / 6.0)
    t[5] = s[5] + q * s[3] + g * (s[0] * d[5] / 12.0 - s[2] * d[3] / 6.0)


@inline
def composition(d, c, g, length, M):
    """Fill M (6, 6) with the derivative de/dd of `composed`."""
    y, z = c[0, 0] * d[1] + c[0, 1] * d[2], c[1, 0] * d[1] + c[1, 1] * d[2]
    u, v, p, q = g * d[1] - y, g * d[2] - z, y - 0.5 * g * d[1], z - 0.5 * g * d[2]
    M[:] = 0.0
    for i in range(6):
        M[i, i] = 1.0
    M[0, 1], M[0, 2], M[0, 4], M[0, 5] = y - g * d[1], z - g * d[2], g * d[4] / 12.0, g * d[5] / 12.0
    M[1, 0], M[2, 0] = u, v
    M[1, 3], M[1, 4], M[2, 3], M[2, 5] = -g / 6.0 * d[4], -g / 6.0 * d[3], -g / 6.0 * d[5], -g / 6.0 * d[3]
    M[3, 4], M[3, 5], M[4, 3], M[5, 3] = p, q, u, v
    for j in range(2):  # derivatives by way of y and z, and of u, v, p, q that depend on them
        a, b = c[0, j], c[1, j]
        ga, gb = (g, 0.0) if j == 0 else (0.0, g)
        M[0, 1 + j] += a * d[1] + b * d[2] - 0.8 * length * (a * y + b * z)
        M[1, 1 + j] += (ga - a) * d[0]
        M[2, 1 + j] += (gb - b) * d[0]
        M[3, 1 + j] += (a - 0.5 * ga) * d[4] + (b - 0.5 * gb) * d[5]
        M[4, 1 + j] += (ga - a) * d[3]
        M[5, 1 + j] += (gb - b) * d[3]


@inline
def curvature(s, c, g, length, C):
    """Add 1/2 sum_i s_i d2e_i/dd2 of `composed` to C (6, 6): its gradient changes with the mean of the basic
    strains."""
    for j in range(2):
        a, b = c[0, j], c[1, j]
        ga, gb = (g, 0.0) if j == 0 else (0.0, g)
        f = 0.5 * (s[1] * (ga - a) + s[2] * (gb - b))
        C[0, 1 + j] += f
        C[1 + j, 0] += f
        f = 0.5 * (s[4] * (ga - a) + s[5] * (gb - b))
        C[3, 1 + j] += f
        C[1 + j, 3] += f
        f = 0.5 * s[3] * (a - 0.5 * ga)
        C[4, 1 + j] += f
        C[1 + j, 4] += f
        f = 0.5 * s[3] * (b - 0.5 * gb)
        C[5, 1 + j] += f
        C[1 + j, 5] += f
        for k in range(2):
            C[1 + j, 1 + k] += 0.5 * s[0] * (c[j, k] + c[k, j] - 0.8 * length * (a * c[0, k] + b * c[1, k]))
        f = g / 12.0 * s[1 + j]
        C[3, 4 + j] -= f
        C[4 + j, 3] -= f
        C[4 + j, 4 + j] += g / 24.0 * s[0]
        C[1 + j, 1 + j] -= 0.5 * g * s[0]


# --- energy and section forces ---------------------------------------------------------------------------------------
@inline
def store_energy(par, e, S, loss, es, rate, f):
    """Write the strain energy of the strains es (2, 6) at the end of the step to f.

    With ``loss`` write also the energy that damping dissipates over the step: ``rate`` times the quadratic form of S on
    the change of the strains.
    """
    energy = work = 0.0
    for i in range(6):
        d = es[1, i] - par[e, REFERENCE + i]
        t = par[e, STRESS + i]
        for j in range(6):
            t += 0.5 * S[i, j] * (es[1, j] - par[e, REFERENCE + j])
        energy += t * d
    f[STRAIN] = energy
    if loss:
        for i in range(6):
            for j in range(6):
                work += (es[1, i] - es[0, i]) * S[i, j] * (es[1, j] - es[0, j])
        f[DISSIPATED] = rate * work


@inline
def acting_forces(f, acting):
    """Move the nodal forces of loads and inertia along the element from an OUTPUT row ``f`` to ``acting`` (12,)."""
    for i in range(12):
        acting[i] = f[i]
        f[i] = 0.0


@inline
def section_forces(f9, acting, E, arms, weight, f):
    """Add ``weight`` times the section forces of `OUTPUTS` to f.

    They are the forces that the rest of the model exerts on the ends of the element, so that they balance at the nodes.
    Their parts are the force on the chord and the moments of the ends f9 (9,), and the nodal forces ``acting`` (12,) of
    loads and inertia along the element; ``arms`` (2, 3) lead from the nodes to the ends.  Their components are along
    the section axes E (6, 3) of their end; N, Vy, Vz and T are means of both ends.  The face with the normal from p to
    q counts as positive.
    """
    F, m, c = scratch(3), scratch(3), scratch(3)
    for end in range(2):
        sign = weight if end == 1 else -weight
        for i in range(3):
            F[i] = acting[6 * end + i] + (f9[i] if end == 1 else -f9[i])
            m[i] = acting[6 * end + 3 + i] + f9[3 + 3 * end + i]
        # acting moments are those about the node
        c[0] = arms[end, 1] * acting[6 * end + 2] - arms[end, 2] * acting[6 * end + 1]
        c[1] = arms[end, 2] * acting[6 * end] - arms[end, 0] * acting[6 * end + 2]
        c[2] = arms[end, 0] * acting[6 * end + 1] - arms[end, 1] * acting[6 * end]
        for i in range(3):
            m[i] -= c[i]
        for j in range(3):
            v = sign * dot(F, E[3 * end + j])
            f[j] += 0.5 * v
            f[10 + 2 * j + end] += v
        v = sign * dot(m, E[3 * end])
        f[3] += 0.5 * v
        f[16 + end] += v
        f[4 + end] += sign * dot(m, E[3 * end + 1])
        f[6 + end] += sign * dot(m, E[3 * end + 2])


# --- types -----------------------------------------------------------------------------------------------------------
def prestress(par, stresses, factor):
    """Return parameters with ``factor`` times the stresses (n, 6) of the job STRESSES added to the initial stresses."""
    par = par.copy()
    par[:, STRESS : STRESS + 6] += factor * stresses
    return par


def beam_types(name, par, force, report, *watches):
    """Yield pairs of name and `ElementType`: a type without fixed strains, and one for each number of them, 1 to 6."""
    for m in range(7):
        full = name + (f"_fixed{m}" if m else "")
        yield (
            full,
            ElementType(
                full,
                3,
                2,
                True,
                par,
                force,
                report,
                multipliers=m,
                outputs=OUTPUTS,
                scale=SCALE if m else -1,
                prestress=prestress,
                watches=(*watches, STRETCH),
                stresses=6,
                sections=True,
            ),
        )
