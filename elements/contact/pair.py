"""Contact of parts that deform: tubes and balls, `tube_pair2` (plane) and `tube_pair3` (space), with friction
`rubbing_tube_pair2` and `rubbing_tube_pair3`; faces and balls, `face_pair3`; faces and places of lines,
`face_line_pair3`, whose b is (1 - place) b1 + place b2.

Ends of two tubes are the nodes a1, a2 of one and b1, b2 of the other (a ball: one node twice), of a face its corners
a1, a2, a3 and the ball b.  With the scalar products I of u = a2 - a1, v = b2 - b1 (a3 - a1) and w = b1 - a1, the
penetrations y_k and weights W_k (`fem_mbs.elements.contact.tubes`, `fem_mbs.elements.contact.faces`), and the law N of
`fem_mbs.elements.contact.law` over a step act

    rows += SF sum_m c_m row_m,   c = sum_k (W_0 + W_1)/2 N_k gamma(y_k) + (E_0 + E_1)/2 gamma(W_k),

row_m.U = I_m1 - I_m0 exactly (x.y changes by x_m.dy + y_m.dx with the means x_m, y_m), and gamma the quotient of
O. Gonzalez (J. Nonlinear Sci. 6 (1996), 449-467, eq. 2.13) over the six variables,

    gamma(f) = g + (f1 - f0 - g.dI) dI/|dI|^2,   g the mean of both gradients;

what is below the round-off of f is left out.  So the work is the change of sum W E and what dampers take, at any step,
and since all forces act between points along their mean distances, resultant and moment vanish.

Friction of faces is in `fem_mbs.elements.contact.rubbing`, that of tubes in `fem_mbs.elements.contact.tube_rubbing`.
It adds two outputs: the friction force, a sum of sizes over the penetrations, and the sliding speed, their mean
weighted by the normal forces.

Parts that pass through each other in a step end the run (`THROUGH`).  Elements without "active" do nothing: which parts
touch changes in a run (`fem_mbs.system.pairing`).  Outputs: the normal force sum W N, the gap, two places (of tubes on
both, 0 .. 1; of faces the area coordinates l_2 and l_3 of the ball), and the numbers of both parts in their groups.
"""

from __future__ import annotations

import math

from fem_mbs.compiling.arrays import scratch
from fem_mbs.contract import (
    COMMIT,
    DISSIPATED,
    LEDGER,
    ONE_STATE,
    OUTPUT,
    RULE,
    SF,
    SK,
    STRAIN,
    TANGENT,
    WA,
    WATCH,
    WV,
    H,
    inner,
    kernel,
)
from fem_mbs.elements.common import clear
from fem_mbs.elements.contact.ball import FRICTION_COLUMNS
from fem_mbs.elements.contact.faces import (
    DEEP,
    FACE_COLUMNS,
    face_apart,
    face_depth,
    face_feet,
    face_inside,
    face_places,
    face_terms,
)
from fem_mbs.elements.contact.jets import JET, SLOPE, fixed, step_quotient
from fem_mbs.elements.contact.law import LAW_COLUMNS, decay_force, elastic_force, normal_energy, normal_force
from fem_mbs.elements.contact.rubbing import friction_of, no_friction
from fem_mbs.elements.contact.tube_rubbing import ARM_COLUMNS, friction_of_tubes
from fem_mbs.elements.contact.tubes import (
    NONE,
    TERMS,
    TUBE_COLUMNS,
    tube_apart,
    tube_inside,
    tube_lines,
    tube_places,
    tube_terms,
)
from fem_mbs.elements.registry import ElementType, Watch

__all__ = ["TYPES"]

_FIRST, _SECOND = (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)  # of u, v, w in each scalar product
# columns of par that tubes and faces have in common
_REACH, _ACTIVE = len(LAW_COLUMNS), len(LAW_COLUMNS) + 1
_ROUND_OFF = 32.0 * 2.0**-52
#: Of the ends in u, v, w: of two tubes (a1, a2, b1, b2), of a face and a ball (a1, a2, a3, b).
_TUBES = ((-1.0, 1.0, 0.0, 0.0), (0.0, 0.0, -1.0, 1.0), (-1.0, 0.0, 1.0, 0.0))
_FACE = ((-1.0, 1.0, 0.0, 0.0), (-1.0, 0.0, 1.0, 0.0), (-1.0, 0.0, 0.0, 1.0))

#: Column of hist: 1 where the parts have passed through each other.
PASSED = 0
THROUGH = Watch(
    0.5, 0.5, "passing through each other (1: done)",
    "take smaller steps or increments, or a larger stiffness", kind="Contact", unit="", history=PASSED,
)  # fmt: skip


@inner
def _vectors(S, stride, q, dof, e, X):
    """Fill X (3, dim) with the vectors u, v, w made of positions, velocities or increments q (N,): each is a sum over
    the ends with the factors S (3, ends).  An end has ``stride`` dofs, its translations first."""
    dim = X.shape[1]
    for i in range(dim):
        for p in range(3):
            X[p, i] = 0.0
            for k in range(S.shape[1]):
                if S[p, k] != 0:
                    X[p, i] += S[p, k] * q[dof[e, k * stride + i]]


@inner
def _products(X, I):
    """Fill I (6,) with the scalar products of u, v, w."""
    for m in range(6):
        I[m] = 0.0
        for i in range(X.shape[1]):
            I[m] += X[_FIRST[m], i] * X[_SECOND[m], i]


@inner
def _known(size, k, Y0, Y1, dI):
    """Continue the penetration k of one state straight to the other one where it has none, and no weight; return
    whether it is known at a state."""
    if Y0[k, 0] > NONE and Y1[k, 0] > NONE:
        return True
    if Y0[k, 0] <= NONE and Y1[k, 0] <= NONE:
        return False
    total = 0.0
    source = Y1[k] if Y0[k, 0] <= NONE else Y0[k]
    for i in range(6):
        total += source[1 + i] * dI[i]
        Y0[k, 1 + i] = Y1[k, 1 + i] = source[1 + i]
    if Y0[k, 0] <= NONE:
        Y0[k, 0] = Y1[k, 0] - total
    else:
        Y1[k, 0] = Y0[k, 0] + total
        for i in range(SLOPE, size):
            Y1[k, i] = 0.0
    return True


@inner
def _noise(par, e, far, y):
    """Return the round-off of a penetration y of parts with the sum ``far`` of squares of their lengths."""
    reach = par[e, _REACH]
    return _ROUND_OFF * max(far / max(reach - y, 1e-3 * reach), reach)


@inner
def _rows(S, X, rows):
    """Fill rows (6, ends dim) with the derivatives of the scalar products at the vectors X (3, dim)."""
    dim = X.shape[1]
    for k in range(6):
        p, q = _FIRST[k], _SECOND[k]
        for n in range(S.shape[1]):
            for i in range(dim):
                rows[k, n * dim + i] = X[q, i] * S[p, n] + X[p, i] * S[q, n]


@inner
def _mixed(X, Z, k):
    """Return the change of the scalar product k of the vectors X (3, dim) by changes Z (3, dim) of them."""
    total = 0.0
    for i in range(X.shape[1]):
        total += X[_FIRST[k], i] * Z[_SECOND[k], i] + X[_SECOND[k], i] * Z[_FIRST[k], i]
    return total


@inner
def _step(S, stride, Q, V, U, dof, e, X, I, dI, rates, work):
    """Fill vectors X (3, 3, dim) at both states and their means, scalar products I (2, 6), their changes dI (6,) over
    the step and their rates (2, 6)."""
    for state in range(2):
        _vectors(S, stride, Q[state], dof, e, X[state])
        _products(X[state], I[state])
        _vectors(S, stride, V[state], dof, e, work)
        for k in range(6):
            rates[state, k] = _mixed(X[state], work, k)
    for k in range(3):
        for i in range(X.shape[2]):
            X[2, k, i] = 0.5 * (X[0, k, i] + X[1, k, i])
    _vectors(S, stride, U, dof, e, work)
    for k in range(6):
        dI[k] = _mixed(X[2], work, k)


@inner
def _second(S, c, at, bt):
    """Return the factor of the unit matrix in the second derivative of sum_m c_m I_m by the nodes ``at`` and ``bt``,
    halved."""
    total = 0.0
    for k in range(6):
        p, q = _FIRST[k], _SECOND[k]
        total += 0.5 * c[k] * (S[p, at] * S[q, bt] + S[q, at] * S[p, bt])
    return total


def _kernels(dim, signs, tail, count, apart, terms, places, lines, inside, part, at=0, mu=0, stride=0):
    """Return both kernels of parts whose vectors have ``signs``; ``terms`` fills ``count`` penetrations and weights,
    ``tail`` is the column of tabled forces, ``part`` that of the numbers of the parts.  ``at``: the column of the place
    of b between its two nodes, 0: b is a node.  ``mu``: the first column of friction, 0: no friction.  ``stride``:
    dofs of an end."""
    ends_of = 5 if at else 4
    m = ends_of * dim
    turn = 1.0 if signs[1][2] < 0 else -1.0  # of v in the vector w - x u + z v of tubes, w - x u - z v of faces
    if not mu:
        rub, rubbed = no_friction()
    elif turn > 0:
        rub, rubbed = friction_of_tubes(dim, mu)
    else:
        rub, rubbed = friction_of(ends_of, turn, mu, places)
    place_of = tuple(k // dim * stride + k % dim for k in range(m))  # of translations among the dofs

    @inner
    def shared(par, e, S):
        """Fill S (3, ends) with the factors of the ends in u, v, w."""
        for p in range(3):
            for k in range(4):
                S[p, k] = signs[p][k]
            if at:
                S[p, ends_of - 1] = par[e, at] * S[p, 3]
                S[p, 3] *= 1 - par[e, at]

    @inner
    def law_tangent(ctl, S, C, c, left, rows, ends, whole, even, K):
        """Add the tangent of the forces c (6,) to K, from the derivatives C (6, 6) of c by the scalar products, and
        ``left`` (6, m) by the unknowns; ``whole`` (m, m) is a work array.  ``even``: it is a second derivative,
        symmetric but for the order of its sums."""
        for i in range(m):
            for j in range(m):
                total = 0.0
                for k in range(6):
                    total += rows[k, i] * left[k, j]
                K[place_of[i], place_of[j]] += ctl[SF] * total
        for k in range(6):
            for j in range(m):
                left[k, j] = 0.0
                for l in range(6):
                    left[k, j] += C[k, l] * ends[l, j]
        for i in range(m):
            for j in range(m):
                total = 0.0
                for k in range(6):
                    total += rows[k, i] * left[k, j]
                if i % dim == j % dim:
                    total += _second(S, c, i // dim, j // dim)
                whole[i, j] = ctl[SK] * total
        for i in range(m):
            for j in range(m):
                K[place_of[i], place_of[j]] += 0.5 * (whole[i, j] + whole[j, i]) if even else whole[i, j]

    @inner
    def found(size, par, e, I, Y, W):
        for k in range(count):
            fixed(size, 0.0, W[k])
            Y[k, 0] = NONE
        terms(size, par, e, I, Y, W)

    @inner
    def clear_all(c, C, left):
        for i in range(6):
            c[i] = 0.0
            for j in range(6):
                C[i, j] = 0.0
            for j in range(m):
                left[i, j] = 0.0

    @kernel
    def force(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        X, work, I, dI, rates = scratch(3, 3, dim), scratch(3, dim), scratch(2, 6), scratch(6), scratch(2, 6)
        Y0, Y1, W0, W1 = scratch(count, JET), scratch(count, JET), scratch(count, JET), scratch(count, JET)
        gy, gw, slope, c = scratch(6), scratch(6), scratch(6), scratch(6)
        by, bw, C = scratch(6, 6), scratch(6, 6), scratch(6, 6)
        rows, ends, turns, left, whole = scratch(6, m), scratch(6, m), scratch(6, m), scratch(6, m), scratch(m, m)
        S, normal = scratch(3, ends_of), scratch(m)
        one_state = ctl[RULE] == ONE_STATE
        size = JET if job == TANGENT else SLOPE
        clear(fe, e1 - e0)
        if job == TANGENT:
            clear(ke, e1 - e0)
        for e in range(e0, e1):
            if par[e, _ACTIVE] == 0:
                continue
            shared(par, e, S)
            _step(S, stride, Q, V, U, dof, e, X, I, dI, rates, work)
            if apart(par, e, I[0]) and apart(par, e, I[1]):
                continue
            found(SLOPE, par, e, I[0], Y0, W0)
            found(size, par, e, I[1], Y1, W1)
            far = I[1, 0] + I[1, 1] + I[1, 2]
            clear_all(c, C, left)
            rubs = mu > 0 and par[e, mu] > 0 and not (one_state and ctl[WV] == 0 and ctl[WA] == 0)
            touched, even = False, one_state and not rubs
            for k in range(count):
                if not _known(size, k, Y0, Y1, dI) or (
                    (W0[k, 0] <= 0 or Y0[k, 0] <= 0) and (W1[k, 0] <= 0 or Y1[k, 0] <= 0)
                ):
                    continue
                if not touched:
                    touched = True
                    _rows(S, X[2], rows)
                    if job == TANGENT:
                        _rows(S, X[1], ends)
                        _vectors(S, stride, V[1], dof, e, work)
                        _rows(S, work, turns)
                y0, y1 = Y0[k, 0], Y1[k, 0]
                dy = step_quotient(size, Y0[k], Y1[k], dI, _noise(par, e, far, y1), gy, by)
                step_quotient(size, W0[k], W1[k], dI, _ROUND_OFF, gw, bw)
                rate = 0.0
                for i in range(6):
                    rate += gy[i] * (rates[1, i] if one_state else dI[i] / ctl[H])
                N, _, by_y, by_rate = normal_force(ctl, par, e, tail, hist, y0, y1 if one_state else y0 + dy, rate, 0.0)
                # the force added by the rule presses no friction, so that it always dissipates
                pure, pure_by_y, pure_by_rate = N, by_y if one_state else by_y + by_rate / ctl[H], by_rate
                more, more_by_y = decay_force(ctl, par, e, tail, hist, y0, y0 + dy)
                N += more
                by_y += more_by_y
                if N <= 0:
                    N = by_y = by_rate = 0.0
                weight = 0.5 * (W0[k, 0] + W1[k, 0])
                energy = 0.5 * (normal_energy(par, e, tail, y0, 0.0)[0] + normal_energy(par, e, tail, y1, 0.0)[0])
                for i in range(6):
                    c[i] += weight * N * gy[i] + energy * gw[i]
                if job == TANGENT:
                    for j in range(m):
                        normal[j] = 0.0
                    if rubs:
                        by_U = 2.0 if one_state else 1.0  # both states of a one-state rule move
                        for i in range(6):
                            slope[i] = weight * pure_by_y * Y1[k, 1 + i]
                            slope[i] = by_U * (slope[i] + 0.5 * pure * W1[k, 1 + i])
                        for j in range(m):
                            for i in range(6):
                                normal[j] += slope[i] * ends[i, j]
                    pressed = 0.5 * elastic_force(par, e, tail, y1)[0]
                    if not one_state:
                        by_y += by_rate / ctl[H]
                    for i in range(6):
                        slope[i] = weight * by_y * Y1[k, 1 + i] + 0.5 * N * W1[k, 1 + i]
                    for i in range(6):
                        for j in range(6):
                            C[i, j] += weight * N * by[i, j] + gy[i] * slope[j]
                            C[i, j] += energy * bw[i, j] + gw[i] * pressed * Y1[k, 1 + j]
                    if one_state and pure_by_rate != 0:
                        even = even and rate == 0
                        for j in range(m):  # the rate of a state
                            total = 0.0
                            for i in range(6):
                                total += gy[i] * (ctl[WV] * ends[i, j] + turns[i, j])
                                for l in range(6):
                                    total += 2 * rates[1, i] * by[i, l] * ends[l, j]
                            for i in range(6):
                                left[i, j] += weight * by_rate * gy[i] * total
                            normal[j] += weight * pure_by_rate * total
                if rubs and weight * pure > 0:
                    rub(
                        job, e - e0, ctl, par, e, k, dof, rot, S, X[2], Q, D, V, U, rows, weight * pure, normal, fe, ke
                    )  # fmt: skip
            if not touched:
                continue
            for i in range(m):
                for k in range(6):
                    fe[e - e0, place_of[i]] += ctl[SF] * c[k] * rows[k, i]
            if job == TANGENT:
                law_tangent(ctl, S, C, c, left, rows, ends, whole, even, ke[e - e0])

    @inner
    def through(par, e, X, I):
        """Return whether one part has passed through the other: the vector between the nearest places of both axes (or
        of plane and ball) turns round in the step, at places inside of both parts, which are inside at one end of it,
        too.  At the other one they may be beyond the ends by the length of a part, as where increments are large."""
        x0, z0 = lines(par, e, I[0])
        x1, z1 = lines(par, e, I[1])
        if not (inside(par, e, x0, z0) or inside(par, e, x1, z1)):
            return False
        if max(abs(x0 - 0.5), abs(x1 - 0.5), abs(z0 - 0.5), abs(z1 - 0.5)) > 1.5:
            return False
        total = before = after = 0.0
        for i in range(dim):
            d0 = X[0, 2, i] - x0 * X[0, 0, i] + turn * z0 * X[0, 1, i]
            d1 = X[1, 2, i] - x1 * X[1, 0, i] + turn * z1 * X[1, 1, i]
            total += d0 * d1
            before += d0 * d0
            after += d1 * d1
        least = (1e-6 * par[e, _REACH]) ** 2
        if dim == 3 and after < least:  # in the middle
            return inside(par, e, x1, z1)
        if total >= 0 or min(before, after) < least:  # (axes in a plane meet, and have no vector between them)
            return False
        share = math.sqrt(before) / (math.sqrt(before) + math.sqrt(after))
        return inside(par, e, x0 + share * (x1 - x0), z0 + share * (z1 - z0))

    @kernel
    def report(job, e0, e1, ctl, par, dof, rot, hist, fun, Q, D, V, DD, U, fe, ke):
        X, work, I, dI, rates = scratch(3, 3, dim), scratch(3, dim), scratch(2, 6), scratch(6), scratch(2, 6)
        Y0, Y1, W0, W1 = scratch(count, JET), scratch(count, JET), scratch(count, JET), scratch(count, JET)
        gy, by, S, pressed = scratch(6), scratch(6, 6), scratch(3, ends_of), scratch(2, count)
        one_state = ctl[RULE] == ONE_STATE
        if job == WATCH:
            for e in range(e0, e1):
                fe[e - e0, 0] = 0.0
                if par[e, _ACTIVE] != 0:
                    shared(par, e, S)
                    _vectors(S, stride, Q[1], dof, e, X[1])
                    _products(X[1], I[1])
                    fe[e - e0, 0] = face_depth(par, e, I[1])
            return
        if job != LEDGER and job != OUTPUT and job != COMMIT:
            return
        for e in range(e0, e1):
            f = fe[e - e0]
            if par[e, _ACTIVE] == 0:
                if job == OUTPUT:
                    f[1] = math.inf
                continue
            shared(par, e, S)
            _step(S, stride, Q, V, U, dof, e, X, I, dI, rates, work)
            if job == COMMIT:
                if through(par, e, X, I):
                    hist[e, PASSED] = 1.0
                continue
            if job == OUTPUT:
                f[2], f[3], f[1] = places(par, e, I[1])
                f[4], f[5] = par[e, part], par[e, part + 1]
            if apart(par, e, I[0]) and apart(par, e, I[1]):
                continue
            found(SLOPE, par, e, I[0], Y0, W0)
            found(SLOPE, par, e, I[1], Y1, W1)
            far = I[1, 0] + I[1, 1] + I[1, 2]
            for k in range(count):
                pressed[0, k] = pressed[1, k] = 0.0
                if not _known(SLOPE, k, Y0, Y1, dI):
                    continue
                y0, y1, w0, w1 = Y0[k, 0], Y1[k, 0], W0[k, 0], W1[k, 0]
                if (w0 <= 0 or y0 <= 0) and (w1 <= 0 or y1 <= 0):
                    continue
                if job == LEDGER:
                    f[STRAIN] += w1 * normal_energy(par, e, tail, y1, 0.0)[0]
                if not one_state:
                    dy = step_quotient(SLOPE, Y0[k], Y1[k], dI, _noise(par, e, far, y1), gy, by)
                    N, mean, _, _ = normal_force(ctl, par, e, tail, hist, y0, y0 + dy, dy / ctl[H], 0.0)
                    pressed[1, k] = 0.5 * (w0 + w1) * N
                    N = max(N + decay_force(ctl, par, e, tail, hist, y0, y0 + dy)[0], 0.0)
                    if job == LEDGER:
                        f[DISSIPATED] += 0.5 * (w0 + w1) * (N - mean) * dy
                    else:
                        f[0] += 0.5 * (w0 + w1) * N
                    continue
                for state in range(2):
                    y, w, rate = y0 if state == 0 else y1, w0 if state == 0 else w1, 0.0
                    for i in range(6):
                        rate += (Y0[k, 1 + i] if state == 0 else Y1[k, 1 + i]) * rates[state, i]
                    N, mean, _, _ = normal_force(ctl, par, e, tail, hist, y, y, rate, 0.0)
                    pressed[state, k] = w * N
                    if job == LEDGER:
                        f[DISSIPATED] += 0.5 * w * (N - mean) * (y1 - y0)
                    elif state == 1:
                        f[0] += w * N
            if mu == 0 or par[e, mu] == 0 or (one_state and ctl[WV] == 0 and ctl[WA] == 0):
                continue
            pushed = 0.0
            for state in range(0 if one_state else 1, 2):
                for k in range(count):
                    N = pressed[state, k]
                    if N <= 0:
                        continue
                    vectors = X[state if one_state else 2]
                    force, speed = rubbed(ctl, par, e, k, dof, rot, S, state, vectors, Q, D, V, U)
                    if job == LEDGER:
                        f[DISSIPATED] += (0.5 if one_state else 1.0) * ctl[H] * N * force * speed
                    elif state == 1:
                        pushed += N
                        f[6] += N * force
                        f[7] += N * speed
            if pushed > 0:
                f[7] /= pushed

    return force, report


def _type(name, dimension, columns, signs, count, parts, more=(), place="", turns=False):
    """Return a type of pairs.

    ``parts``: the functions ``apart`` .. ``inside`` of `_kernels`; ``more``: additional columns of par; ``place``: name
    of the column with the place of b between its nodes, "": b is a node; ``turns``: the nodes may have rotations.
    """
    columns = (*LAW_COLUMNS, *columns, *more)
    at = columns.index(place) if place else 0
    rubs = FRICTION_COLUMNS[0] in more
    mu = columns.index(FRICTION_COLUMNS[0]) if rubs else 0
    stride = 3 * (dimension - 1) if turns else dimension
    force, report = _kernels(dimension, signs, len(columns), count, *parts, columns.index("part a"), at, mu, stride)
    outputs = ("normal force [N]", "gap [m]", "place 1", "place 2", "part a", "part b")
    return ElementType(
        name=name,
        dimension=dimension,
        ends=5 if place else 4,
        rotational=turns,
        par=columns,
        outputs=(*outputs, "friction force [N]", "sliding speed [m/s]") if rubs else outputs,
        force=force,
        report=report,
        hist=2,
        tables=True,
        watches=(DEEP, THROUGH) if signs is _FACE else (THROUGH,),
    )


_TUBE_PARTS = (tube_apart, tube_terms, tube_places, tube_lines, tube_inside)
_FACE_PARTS = (face_apart, face_terms, face_places, face_feet, face_inside)
_RUBBING = (*FRICTION_COLUMNS, *ARM_COLUMNS)
TYPES = {
    f"{name}{dim}": _type(f"{name}{dim}", dim, TUBE_COLUMNS, _TUBES, TERMS, _TUBE_PARTS, more, turns=bool(more))
    for dim in (2, 3)
    for name, more in (("tube_pair", ()), ("rubbing_tube_pair", _RUBBING))
} | {
    name: _type(name, 3, FACE_COLUMNS, _FACE, 1, _FACE_PARTS, (*FRICTION_COLUMNS, *((place,) if place else ())), place)
    for name, place in (("face_pair3", ""), ("face_line_pair3", "place"))
}
