"""Forces of users' Python functions with state variables: families `user_states_length{2,3}_`, `_offset`, `_angle`.

As `fem_mbs.elements.actuators.user`, on a coordinate, with m state variables x of the element's own: the function
returns the force and the rates x'..  They come back in `hist` as a linear law about the arguments q*, q'*, x*,

    F = F* + Fq (q - q*) + Fv (q' - q'*) + Fx (x - x*),   x' = g* + gq (q - q*) + gv (q' - q'*) + gx (x - x*),

so kernels, tangents and ledger see the same smooth law.  The work of the force is booked as that of loads.  All m share
one compiled code; the number is the end of the type's name.
"""

from __future__ import annotations

from fem_mbs.contract import inner
from fem_mbs.elements.joints.coordinate import ANGLE, LENGTH, OFFSET, coordinate
from fem_mbs.elements.joints.state_force import StateLaw, no_power, nothing_stored, state_force
from fem_mbs.elements.registry import ElementType

__all__ = ["FORCE_AT", "make_type"]

START, CALLBACK, CLOCK = range(3)  # columns of par
#: Column of hist from which on stand F*, q*, q'*, Fq, Fv, then x* (m), Fx (m), g* (m), gq (m), gv (m), gx (m m).
FORCE_AT = 1
_PLACES = {"length": LENGTH, "offset": OFFSET, "angle": ANGLE}


@inner
def user_states_law(par, e, tail, fun, time, hist, s, rate, x, F, Fx, g, gs, gx):
    m = x.shape[0]
    a = FORCE_AT
    b = a + 5
    dq, dv = s - par[e, START] - hist[e, a + 1], rate - hist[e, a + 2]
    F[1], F[2] = hist[e, a + 3], hist[e, a + 4]
    F[0] = hist[e, a] + F[1] * dq + F[2] * dv
    for i in range(m):
        Fx[i] = hist[e, b + m + i]
        F[0] += Fx[i] * (x[i] - hist[e, b + i])
        gs[i, 0], gs[i, 1] = hist[e, b + 3 * m + i], hist[e, b + 4 * m + i]
        g[i] = hist[e, b + 2 * m + i] + gs[i, 0] * dq + gs[i, 1] * dv
        for j in range(m):
            gx[i, j] = hist[e, b + 5 * m + i * m + j]
            g[i] += gx[i, j] * (x[j] - hist[e, b + j])


_LAW = StateLaw(
    par=lambda s: (f"start [{s.unit}]", "callback", "clock"),
    names=lambda s: (),
    law=user_states_law,
    stored=nothing_stored,
    powers=no_power,
    sample=CLOCK,
    memory=lambda m: 5 + 5 * m + m * m,
)


def make_type(name: str, dimension: int, n: int) -> ElementType:
    """Return the type of a force with n state variables."""
    kind = _PLACES[name.removeprefix("user_states_").rpartition("_")[0][:-1]]
    return state_force(name, dimension, coordinate(kind, dimension), _LAW, tuple(f"state {i + 1}" for i in range(n)))
